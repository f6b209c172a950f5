//===- Compare.cpp - Results against what they should be ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compare.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <limits>

using namespace tracea::driver;
namespace rt = tracea::runtime;
using rt::ElementType;

FloatFacts tracea::driver::getFacts(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return {0x1p-10, 0x1p-14, 65504};
  case ElementType::BF16:
    return {0x1p-7, 0x1p-126, 0x1.fep127};
  case ElementType::F8E4M3FN:
    return {0x1p-3, 0x1p-6, 448};
  case ElementType::F8E5M2:
    return {0x1p-2, 0x1p-14, 57344};
  case ElementType::F32:
    return {0x1p-23, 0x1p-126, std::numeric_limits<float>::max()};
  default:
    return {0x1p-52, 0x1p-1022, std::numeric_limits<double>::max()};
  }
}

static double roundTo(ElementType type, double value) {
  if (!rt::isFloat(type))
    return value;
  char bits[sizeof(double)];
  rt::writeFromDouble(type, value, bits);
  double rounded = rt::readAsDouble(type, bits);
  // Where there are no infinities, NaN stands for what is too large.
  return type == ElementType::F8E4M3FN && std::isnan(rounded) &&
                 !std::isnan(value)
             ? std::copysign(std::numeric_limits<double>::infinity(), value)
             : rounded;
}

static std::vector<int64_t> indicesOf(const rt::Tensor &tensor,
                                      int64_t linear) {
  std::vector<int64_t> indices(tensor.shape().size());
  for (size_t i = indices.size(); i-- > 0;) {
    indices[i] = linear % tensor.shape()[i];
    linear /= tensor.shape()[i];
  }
  return indices;
}

/// Integers: what differs. Doubles hold no 64-bit integer exactly, so bytes
/// are compared.
static OutputCheck compareIntegers(const rt::Tensor &found,
                                   const rt::Tensor &reference) {
  OutputCheck check;
  check.exact = true;
  int64_t size = rt::sizeOf(found.type());
  for (int64_t i = 0; i < found.numElements(); ++i) {
    const char *y = found.dataAs<char>() + i * size;
    const char *r = reference.dataAs<char>() + i * size;
    if (std::memcmp(y, r, static_cast<size_t>(size)) == 0)
      continue;
    double yValue = rt::readAsDouble(found.type(), y);
    double rValue = rt::readAsDouble(found.type(), r);
    double error = std::fabs(yValue - rValue);
    if (check.mismatches++ == 0 || error > check.maxAbsError) {
      check.maxAbsError = error;
      check.worst = indicesOf(found, i);
      check.found = yValue;
      check.expected = rValue;
    }
  }
  check.passed = check.mismatches == 0;
  return check;
}

OutputCheck tracea::driver::compareTensors(const rt::Tensor &found,
                                           const rt::Tensor &reference,
                                           double bound) {
  ElementType type = found.type();
  if (!rt::isFloat(type))
    return compareIntegers(found, reference);

  OutputCheck check;
  check.bound = bound;
  FloatFacts facts = getFacts(type);
  double largestReference = 0;
  bool worstIsMismatch = false;
  auto note = [&](int64_t i, double y, double r) {
    check.worst = indicesOf(found, i);
    check.found = y;
    check.expected = r;
  };
  // Finite and so close to the largest number that rounding may decide.
  auto nearLargest = [&](double value, double infinity) {
    return std::isfinite(value) &&
           std::signbit(value) == std::signbit(infinity) &&
           std::fabs(value) >= facts.largest * (1 - std::min(bound, 0.5));
  };
  int64_t size = rt::sizeOf(type);
  for (int64_t i = 0; i < found.numElements(); ++i) {
    double y = rt::readAsDouble(type, found.dataAs<char>() + i * size);
    double r = reference.dataAs<double>()[i];
    double rounded = roundTo(type, r);
    bool agrees = true;
    if (type == ElementType::F8E4M3FN && std::isnan(y) && !std::isnan(r))
      y = std::copysign(std::numeric_limits<double>::infinity(), r);
    if (std::isnan(y) || std::isnan(r))
      agrees = std::isnan(y) && std::isnan(r);
    else if (std::isinf(y) && std::isinf(rounded))
      agrees = y == rounded;
    else if (std::isinf(y))
      agrees = nearLargest(r, y);
    else if (std::isinf(rounded))
      agrees = std::isfinite(r) && nearLargest(y, rounded);
    else {
      double error = std::fabs(y - r);
      if (error > check.maxAbsError) {
        check.maxAbsError = error;
        if (!worstIsMismatch)
          note(i, y, r);
      }
      if (r != 0)
        check.maxRelError = std::max(check.maxRelError, error / std::fabs(r));
      largestReference = std::max(largestReference, std::fabs(r));
    }
    if (!agrees && check.mismatches++ == 0) {
      worstIsMismatch = true;
      note(i, y, r);
    }
  }
  check.scale = largestReference;
  check.error = check.maxAbsError /
                std::max(largestReference, facts.smallest / facts.epsilon);
  check.passed = check.mismatches == 0 && check.error <= bound;
  return check;
}

Expected<rt::Tensor> tracea::driver::widen(const rt::Tensor &tensor) {
  if (!rt::isFloat(tensor.type()) || tensor.type() == ElementType::F64)
    return tensor;
  Expected<rt::Tensor> dense =
      tensor.isContiguous() ? Expected<rt::Tensor>(tensor) : tensor.clone();
  if (!dense)
    return dense;
  Expected<rt::Tensor> wide =
      rt::Tensor::allocate(ElementType::F64, tensor.shape());
  if (!wide)
    return wide;
  int64_t size = rt::sizeOf(tensor.type());
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    wide->dataAs<double>()[i] =
        rt::readAsDouble(tensor.type(), dense->dataAs<char>() + i * size);
  return wide;
}

std::string tracea::driver::formatOutput(size_t number,
                                         const OutputCheck &check) {
  std::string text = "  output " + std::to_string(number) + ": " +
                     (check.passed ? "passed" : "FAILED");
  if (check.exact) {
    text += check.passed ? ", all elements equal\n"
                         : ", " + std::to_string(check.mismatches) +
                               " elements differ\n";
  } else {
    text += ", max abs error " + formatNumber("%.3g", check.maxAbsError) +
            ", max rel error " + formatNumber("%.3g", check.maxRelError) +
            ", relative to max |reference| " +
            formatNumber("%.3g", check.scale) + ": " +
            formatNumber("%.3g", check.error) + "\n";
    if (check.mismatches > 0)
      text += "    " + std::to_string(check.mismatches) +
              " elements are NaN or infinite on one side only\n";
  }
  if (check.passed)
    return text;
  text += "    element " + rt::describeShape(check.worst) + ": expected " +
          formatNumber("%.9g", check.expected) + ", found " +
          formatNumber("%.9g", check.found) + "\n";
  return text;
}

/// JSON has neither NaN nor infinities: they become strings.
static nlohmann::ordered_json number(double value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

nlohmann::ordered_json tracea::driver::toJSON(const OutputCheck &check) {
  nlohmann::ordered_json entry;
  entry["passed"] = check.passed;
  entry["maxAbsError"] = number(check.maxAbsError);
  entry["maxRelError"] = number(check.maxRelError);
  entry["maxReference"] = number(check.scale);
  entry["error"] = number(check.error);
  entry["bound"] = check.bound;
  entry["mismatches"] = check.mismatches;
  if (!check.passed) {
    entry["worst"] = check.worst;
    entry["found"] = number(check.found);
    entry["expected"] = number(check.expected);
  }
  return entry;
}
