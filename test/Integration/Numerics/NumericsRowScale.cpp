//===- NumericsRowScale.cpp - Rows by a scale of their own ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NumericsRowScale.h"

#include <algorithm>
#include <cmath>

using namespace tracea;
using namespace tracea::numerics;

/// Smaller maxima count as this, which all types have.
static constexpr double kLeast = 0.0625;
/// The greatest number of E4M3FN.
static constexpr double kMostByte = 448;

/// What lies between two bounds of a number that is known to `x.error`.
static Approx clamp(Approx x, Real most) {
  if (!std::isfinite(x.error) || std::isnan(x.value))
    return x;
  Real low = std::clamp<Real>(x.value - x.error, -most, most),
       high = std::clamp<Real>(x.value + x.error, -most, most);
  return {low + (high - low) / 2, (high - low) / 2};
}

RowScale RowScale::draw(Random &random, ModuleText &text,
                        const SizedType &input, std::vector<bool> isReduced) {
  RowScale scale;
  scale.type = input.type;
  scale.isReduced = std::move(isReduced);
  scale.most = random.pick({448.0, 127.0, 1.0});
  scale.elements = scale.rows = input;
  scale.rows.dims.clear();
  scale.rows.dynamic.clear();
  bool isByte = input.type != ElementType::F64 && random.chance(0.5);
  if (isByte)
    scale.elements.type = ElementType::F8E4M3FN;

  std::vector<std::string> all, kept, kinds, rowKinds;
  for (size_t dim = 0; dim < input.dims.size(); ++dim) {
    all.push_back("d" + std::to_string(dim));
    kinds.push_back(scale.isReduced[dim] ? "\"reduction\"" : "\"parallel\"");
    if (scale.isReduced[dim])
      continue;
    kept.push_back(all.back());
    rowKinds.push_back("\"parallel\"");
    scale.rows.dims.push_back(input.dims[dim]);
    scale.rows.dynamic.push_back(input.dynamic[dim]);
  }
  std::vector<std::string> allKinds(all.size(), "\"parallel\"");
  auto map = [](const std::vector<std::string> &from,
                const std::vector<std::string> &to) {
    return "affine_map<(" + join(from, ", ") + ") -> (" + join(to, ", ") + ")>";
  };
  auto generic = [&](const std::string &result,
                     const std::vector<std::string> &maps,
                     const std::vector<std::string> &iterators,
                     const std::string &operands, const std::string &init,
                     const std::string &kind, const std::string &body) {
    text.line(result + " = linalg.generic {indexing_maps = [" +
              join(maps, ", ") + "], iterator_types = [" +
              join(iterators, ", ") + "]} ins(" + operands + ") outs(" + init +
              " : " + kind + ") {\n" + body + "  } -> " + kind);
  };
  std::string element = nameOf(input.type), own = text.textOf(input),
              row = text.textOf(scale.rows), empty = text.empty(scale.rows);
  text.line("%start = " + constantOf(input.type, 0));
  text.line("%from = linalg.fill ins(%start : " + element + ") outs(" + empty +
            " : " + row + ") -> " + row);
  generic("%greatest", {map(all, all), map(all, kept)}, kinds, "%y : " + own,
          "%from", row,
          "  ^bb0(%in0: " + element + ", %out: " + element +
              "):\n    %in1 = math.absf %in0 : " + element +
              "\n    %in2 = arith.maximumf %in1, %out : " + element +
              "\n    linalg.yield %in2 : " + element + "\n");
  generic("%s", {map(kept, kept), map(kept, kept)}, rowKinds,
          "%greatest : " + row, empty, row,
          "  ^bb0(%in0: " + element + ", %out: " + element +
              "):\n    %in3 = " + constantOf(input.type, kLeast) +
              "\n    %in1 = arith.maximumf %in0, %in3 : " + element +
              "\n    %in4 = " + constantOf(input.type, scale.most) +
              "\n    %in2 = arith.divf %in1, %in4 : " + element +
              "\n    linalg.yield %in2 : " + element + "\n");
  std::string stored = nameOf(scale.elements.type), quotient = "%in3";
  std::string body = "  ^bb0(%in0: " + element + ", %in1: " + element +
                     ", %out: " + stored +
                     "):\n    %in3 = arith.divf %in0, %in1 : " + element + "\n";
  if (isByte && input.type != ElementType::F32) {
    body += "    %in4 = arith.extf %in3 : " + element + " to f32\n";
    quotient = "%in4";
  }
  if (isByte) {
    // What rounding leaves beyond the format's numbers would be NaN.
    body += "    %in5 = " + constantOf(ElementType::F32, kMostByte) +
            "\n    %in6 = " + constantOf(ElementType::F32, -kMostByte) +
            "\n    %in7 = arith.minimumf " + quotient +
            ", %in5 : f32\n    %in8 = arith.maximumf %in7, %in6 : f32\n" +
            "    %in9 = arith.truncf %in8 : f32 to " + stored + "\n";
    quotient = "%in9";
  }
  generic("%q", {map(all, all), map(all, kept), map(all, all)}, allKinds,
          "%y, %s : " + own + ", " + row, text.empty(scale.elements),
          text.textOf(scale.elements),
          body + "    linalg.yield " + quotient + " : " + stored + "\n");
  return scale;
}

std::vector<ExpectedTensor> RowScale::apply(const ExpectedTensor &y,
                                            const Sizes &sizes) const {
  Arithmetic math(type);
  ExpectedTensor quotients{elements.type, y.shape, {}},
      scales{rows.type, sizes.at(rows.dims), {}};
  scales.values.assign(countOf(scales.shape), {kLeast, 0});
  auto rowOf = [&](const Shape &index) {
    Shape row;
    for (size_t dim = 0; dim < index.size(); ++dim)
      if (!isReduced[dim])
        row.push_back(index[dim]);
    return linearIndex(scales.shape, row);
  };
  std::vector<Approx> stored;
  for (const Approx &value : y.values)
    stored.push_back(math.convert(value));
  // NaN wins, as it does in the program.
  forEachIndex(y.shape, [&](const Shape &index, int64_t linear) {
    Approx &greatest = scales.values[rowOf(index)];
    Real value = std::fabs(stored[linear].value);
    if (std::isnan(value) || value > greatest.value)
      greatest.value = value;
    greatest.error = std::max(greatest.error, stored[linear].error);
  });
  for (Approx &scale : scales.values)
    scale = math.div(scale, {roundTo(type, most), 0});
  forEachIndex(y.shape, [&](const Shape &index, int64_t linear) {
    Approx quotient = math.div(stored[linear], scales.values[rowOf(index)]);
    // A GPU divides by an approximate reciprocal.
    if (std::isfinite(quotient.value))
      quotient.error += errorOfUnit(elements.type) * std::fabs(quotient.value);
    if (elements.type == ElementType::F8E4M3FN)
      quotient = clamp(quotient, kMostByte);
    quotients.values.push_back(quotient);
  });
  return {quotients, scales};
}
