//===- Problem.cpp - Inputs, outputs and the float64 reference of a case -===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference is written from the definitions and computed in double
// precision for a sample of the output.

#include "Problem.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace tracea;
using namespace tracea::bench;
using tracea::runtime::ElementType;

//===----------------------------------------------------------------------===//
// Array
//===----------------------------------------------------------------------===//

static constexpr int64_t kGuardBytes = 4096;
static constexpr unsigned char kGuardByte = 0xA5;

Array::Array(ElementType type, std::vector<int64_t> shape)
    : elementType(type), sizes(std::move(shape)) {
  int64_t total = (bytes() + 2 * kGuardBytes + 4095) / 4096 * 4096;
  memory.reset(static_cast<unsigned char *>(std::aligned_alloc(4096, total)),
               [](unsigned char *pointer) { std::free(pointer); });
  if (!memory)
    std::abort();
  std::memset(memory.get(), kGuardByte, total);
}

int64_t Array::count() const {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

void *Array::data() const { return memory.get() + kGuardBytes; }

bool Array::guardsIntact() const {
  const unsigned char *end = memory.get() + kGuardBytes + bytes();
  auto intact = [](const unsigned char *bytes) {
    return std::all_of(bytes, bytes + kGuardBytes,
                       [](unsigned char byte) { return byte == kGuardByte; });
  };
  return intact(memory.get()) && intact(end);
}

//===----------------------------------------------------------------------===//
// Random contents
//===----------------------------------------------------------------------===//

namespace {

/// The splitmix64 generator: small, fast, and the same everywhere.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// Nearly normal, mean 0, deviation 1: a sum of four uniform numbers.
  float normal() {
    uint64_t bits = next();
    int64_t sum = int64_t(bits & 0xffff) + int64_t(bits >> 16 & 0xffff) +
                  int64_t(bits >> 32 & 0xffff) + int64_t(bits >> 48);
    return static_cast<float>(sum - 2 * 65535) * (1.7320508f / 65536);
  }
  int64_t below(int64_t limit) {
    return static_cast<int64_t>(next() % static_cast<uint64_t>(limit));
  }

private:
  uint64_t state;
};

} // namespace

static void fill(const Array &array, Random &random) {
  int64_t count = array.count();
  switch (array.type()) {
  case ElementType::F32:
    for (int64_t i = 0; i < count; ++i)
      array.as<float>()[i] = random.normal();
    return;
  case ElementType::BF16:
    for (int64_t i = 0; i < count; ++i)
      array.as<uint16_t>()[i] = runtime::floatToBFloat(random.normal());
    return;
  case ElementType::I8:
    for (int64_t i = 0; i < count; ++i)
      array.as<int8_t>()[i] = static_cast<int8_t>(random.next() >> 56);
    return;
  default:
    std::abort();
  }
}

//===----------------------------------------------------------------------===//
// Problem
//===----------------------------------------------------------------------===//

Problem::Problem(const Case &entry, int64_t rotateBytes) : entry(entry) {
  Random random(20251101);
  const GemmShape &gemm = entry.gemm;
  const ConvShape &conv = entry.conv;
  auto image = [&](int64_t channels, int64_t h, int64_t w) {
    return conv.nchw ? std::vector<int64_t>{conv.n, channels, h, w}
                     : std::vector<int64_t>{conv.n, h, w, channels};
  };
  int64_t used = 0;
  // Two at least, so that no output is still in the first cache by being the
  // only one.
  while (sets.size() < 2 || (used < rotateBytes && sets.size() < 64)) {
    BufferSet set;
    if (entry.op == Op::Gemm) {
      set.inputs = {
          Array(entry.type, gemm.transposeA ? gemm.shapeOf(gemm.k, gemm.m)
                                            : gemm.shapeOf(gemm.m, gemm.k)),
          Array(entry.type, gemm.transposeB ? gemm.shapeOf(gemm.n, gemm.k)
                                            : gemm.shapeOf(gemm.k, gemm.n))};
      set.output = Array(entry.outputType(), gemm.shapeOf(gemm.m, gemm.n));
    } else {
      std::vector<int64_t> shape =
          image(conv.k, conv.outputHeight(), conv.outputWidth());
      set.inputs = {Array(entry.type, image(conv.c, conv.h, conv.w))};
      if (conv.residual)
        set.inputs.push_back(Array(entry.outputType(), shape));
      set.output = Array(entry.outputType(), shape);
      if (entry.separate)
        set.between = {Array(entry.outputType(), shape),
                       Array(entry.outputType(), shape)};
    }
    for (const Array &input : set.inputs) {
      fill(input, random);
      used += input.bytes();
    }
    used += set.output.bytes();
    sets.push_back(std::move(set));
  }
  if (entry.op == Op::Gemm)
    return;

  int64_t channels = conv.c / conv.groups;
  filter =
      Array(entry.type,
            conv.nchw ? std::vector<int64_t>{conv.k, channels, conv.r, conv.s}
                      : std::vector<int64_t>{conv.k, conv.r, conv.s, channels});
  fill(filter, random);
  if (entry.isConvAlone())
    return;
  for (Array *array : {&scale, &shift, &mean, &variance}) {
    *array = Array(ElementType::F32, {conv.k});
    fill(*array, random);
  }
  for (int64_t i = 0; i < conv.k; ++i)
    variance.as<float>()[i] = 0.5f + std::fabs(variance.as<float>()[i]);
}

void Problem::poison(int index) const {
  const Array &output = sets[index].output;
  // The same bits are a NaN as f32.
  std::fill_n(output.as<uint32_t>(), output.count(), 0x7fc0dead);
}

static bool isPoison(const Array &output, int64_t index) {
  return output.as<uint32_t>()[index] == 0x7fc0dead;
}

double Problem::referenceGemm(int index, const std::vector<int64_t> &at,
                              double &magnitude) const {
  const GemmShape &gemm = entry.gemm;
  const Array &a = sets[index].inputs[0];
  const Array &b = sets[index].inputs[1];
  int64_t i = at[at.size() - 2], j = at.back();
  int64_t number = at.size() > 2 ? at[0] : 0;
  int64_t firstA = number * gemm.m * gemm.k;
  int64_t firstB = number * gemm.k * gemm.n;
  double sum = 0;
  for (int64_t k = 0; k < gemm.k; ++k) {
    double product =
        a.at(firstA + (gemm.transposeA ? k * gemm.m + i : i * gemm.k + k)) *
        b.at(firstB + (gemm.transposeB ? j * gemm.k + k : k * gemm.n + j));
    sum += product;
    magnitude += std::fabs(product);
  }
  return sum;
}

double Problem::referenceConv(int index, const std::vector<int64_t> &at,
                              double &magnitude) const {
  const ConvShape &conv = entry.conv;
  const Array &image = sets[index].inputs[0];
  int64_t n = at[0];
  int64_t k = conv.nchw ? at[1] : at[3];
  int64_t p = conv.nchw ? at[2] : at[1];
  int64_t q = conv.nchw ? at[3] : at[2];
  int64_t channels = conv.c / conv.groups;
  int64_t first = k / (conv.k / conv.groups) * channels;
  double sum = 0;
  for (int64_t r = 0; r < conv.r; ++r)
    for (int64_t s = 0; s < conv.s; ++s) {
      int64_t y = p * conv.stride - conv.pads[0] + r * conv.dilation;
      int64_t x = q * conv.stride - conv.pads[1] + s * conv.dilation;
      if (y < 0 || y >= conv.h || x < 0 || x >= conv.w)
        continue;
      for (int64_t c = 0; c < channels; ++c) {
        int64_t from =
            conv.nchw ? ((n * conv.c + first + c) * conv.h + y) * conv.w + x
                      : ((n * conv.h + y) * conv.w + x) * conv.c + first + c;
        int64_t by = conv.nchw ? ((k * channels + c) * conv.r + r) * conv.s + s
                               : ((k * conv.r + r) * conv.s + s) * channels + c;
        double product = image.at(from) * filter.at(by);
        sum += product;
        magnitude += std::fabs(product);
      }
    }
  if (entry.isConvAlone())
    return sum;
  double factor = scale.at(k) / std::sqrt(variance.at(k) + kBatchNormEpsilon);
  magnitude = (magnitude + std::fabs(mean.at(k))) * std::fabs(factor) +
              std::fabs(shift.at(k));
  double value = (sum - mean.at(k)) * factor + shift.at(k);
  if (conv.residual) {
    const Array &residual = sets[index].inputs[1];
    int64_t linear = 0;
    for (size_t axis = 0; axis < at.size(); ++axis)
      linear = linear * residual.shape()[axis] + at[axis];
    value += residual.at(linear);
    magnitude += std::fabs(residual.at(linear));
  }
  return std::max(0.0, value);
}

double Problem::reference(int index, const std::vector<int64_t> &at,
                          double &magnitude) const {
  magnitude = 0;
  return entry.op == Op::Gemm ? referenceGemm(index, at, magnitude)
                              : referenceConv(index, at, magnitude);
}

Check Problem::check(int index) const {
  const Array &output = sets[index].output;
  const std::vector<int64_t> &shape = output.shape();
  Check result;
  auto coordinates = [&](int64_t linear) {
    std::vector<int64_t> at(shape.size());
    for (size_t axis = shape.size(); axis-- > 0; linear /= shape[axis])
      at[axis] = linear % shape[axis];
    return at;
  };
  auto describe = [&](int64_t linear) {
    std::string text = "[";
    for (int64_t value : coordinates(linear))
      text += (text.size() == 1 ? "" : ", ") + std::to_string(value);
    return text + "]";
  };

  if (!output.guardsIntact()) {
    result.message = "memory beyond the output was written";
    return result;
  }
  bool isInteger = output.type() == ElementType::I32;
  for (int64_t i = 0; i < output.count(); ++i)
    if (isPoison(output, i) || !std::isfinite(output.at(i))) {
      result.message =
          "element " + describe(i) +
          (isPoison(output, i) ? " was not written" : " is not finite");
      return result;
    }

  std::vector<int64_t> samples;
  for (unsigned corner = 0; corner < 1u << shape.size(); ++corner) {
    int64_t linear = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      linear =
          linear * shape[axis] + (corner >> axis & 1 ? shape[axis] - 1 : 0);
    samples.push_back(linear);
  }
  Random random(index + 1);
  for (int i = 0; i < 512; ++i)
    samples.push_back(random.below(output.count()));

  // Single precision may round once for every term, in any order; what a
  // random walk of such errors reaches is far below.
  int64_t terms = entry.op == Op::Gemm ? entry.gemm.k
                                       : entry.conv.r * entry.conv.s *
                                             (entry.conv.c / entry.conv.groups);
  double unit =
      isInteger ? 0 : std::ldexp(1.0, -24) * (8 + std::sqrt(double(terms)));
  double largest = 0, worst = 0;
  for (int64_t linear : samples) {
    double magnitude = 0;
    double expected = reference(index, coordinates(linear), magnitude);
    double found = output.at(linear);
    double difference = std::fabs(found - expected);
    if (difference > unit * magnitude) {
      result.message = "element " + describe(linear) + " is " +
                       std::to_string(found) + ", expected " +
                       std::to_string(expected);
      return result;
    }
    largest = std::max(largest, std::fabs(expected));
    worst = std::max(worst, difference);
  }
  result.ok = true;
  result.error = largest > 0 ? worst / largest : worst;
  return result;
}
