//===- DotProducts.cpp - The table of dot products ------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sources, by the short names used below:
//   [SDM]     Intel 64 and IA-32 SDM volume 2: VPDPBUSD (four products of an
//             unsigned and a signed byte, added without saturation), PMADDWD
//             (two products of signed words, added up), VDPBF16PS
//             (two fused multiply-adds a lane, the elements at odd places
//             first; rounds to nearest, takes and returns subnormal numbers as
//             zero, whatever MXCSR says); TDPBSSD, TDPBF16PS (of each sum the
//             even and the odd elements of a row are added up by fused
//             multiply-adds, each from zero, then the two, and that to the sum;
//             rounds and flushes as VDPBF16PS does); 8 tiles of 16 rows of 64
//             bytes (palette 1).
//   [ArmARM]  Arm Architecture Reference Manual for A-profile: SDOT, SMMLA, and
//             BFMMLA without FEAT_EBF16 (two pairs of products, one after the
//             other; each of a pair's products, their sum, and that with the
//             sum before are rounded to odd, subnormal numbers as zero).
//
//===----------------------------------------------------------------------===//
#include "tracea/TargetInfo/DotProducts.h"

#include <algorithm>

namespace tracea::target {

namespace {
struct Entry {
  std::string_view arch;
  DotProduct product;
};
} // namespace

static constexpr auto I8 = ElementType::I8, I16 = ElementType::I16,
                      I32 = ElementType::I32, BF16 = ElementType::BF16,
                      F32 = ElementType::F32;

constexpr TileShape amxTile = {16, 16, 8};
// Two rows by two columns, in one vector.
constexpr TileShape blocks = {2, 1, 0};

// Bytes widened to pairs of halves: two instructions for two products a lane,
// on processors whose own products of bytes saturate.
constexpr DotProduct pairs(std::string_view feature, std::string_view intrinsic,
                           int bits) {
  DotProduct product;
  product.feature = feature;
  product.intrinsic = intrinsic;
  product.vectorBits = bits;
  product.folded = 2;
  product.arithmetic = "dot";
  product.element = I16;
  product.addsToSums = false;
  return product;
}

// Of several of one unit and width the first is taken.
static constexpr Entry table[] = {
    {"x86_64",
     {"avx512vnni", "llvm.x86.avx512.vpdpbusd.512", 512, I8, I32, 4, true,
      "dot"}},
    {"x86_64",
     {"avxvnni", "llvm.x86.avx512.vpdpbusd.256", 256, I8, I32, 4, true, "dot"}},
    {"x86_64", pairs("avx512bw", "llvm.x86.avx512.pmaddw.d.512", 512)},
    {"x86_64", pairs("avx2", "llvm.x86.avx2.pmadd.wd", 256)},
    {"x86_64", pairs("sse2", "llvm.x86.sse2.pmadd.wd", 128)},
    {"x86_64",
     {"avx512bf16", "llvm.x86.avx512bf16.dpbf16ps.512", 512, BF16, F32, 2,
      false, "vdpbf16ps"}},
    {"x86_64",
     {"amx-int8", "", 512, I8, I32, 4, false, "dot", UnitKind::AMX, amxTile}},
    {"x86_64",
     {"amx-bf16", "", 512, BF16, F32, 2, false, "tdpbf16ps", UnitKind::AMX,
      amxTile, /*joinsWords=*/true}},
    {"aarch64",
     {"i8mm", "llvm.aarch64.neon.smmla.v4i32.v16i8", 128, I8, I32, 8, false,
      "dot", UnitKind::Vector, blocks}},
    {"aarch64",
     {"dotprod", "llvm.aarch64.neon.sdot.v4i32.v16i8", 128, I8, I32, 4, false,
      "dot"}},
    {"aarch64",
     {"bf16", "llvm.aarch64.neon.bfmmla", 128, BF16, F32, 4, false, "bfmmla",
      UnitKind::Vector, blocks}},
};

static const DotProduct *find(const HasFeature &hasFeature, int vectorBits,
                              UnitKind unit, ElementType DotProduct::*what,
                              ElementType type, ElementType accumulator) {
  for (const Entry &entry : table)
    if (const DotProduct &product = entry.product;
        product.unit == unit && product.vectorBits == vectorBits &&
        product.*what == type && product.accumulator == accumulator &&
        hasFeature(product.feature))
      return &product;
  return nullptr;
}

const DotProduct *findDotProduct(const HasFeature &hasFeature, int vectorBits,
                                 UnitKind unit, ElementType operand,
                                 ElementType accumulator) {
  return find(hasFeature, vectorBits, unit, &DotProduct::operand, operand,
              accumulator);
}

const DotProduct *findWordProduct(const HasFeature &hasFeature, int vectorBits,
                                  UnitKind unit, ElementType element,
                                  ElementType accumulator) {
  return find(hasFeature, vectorBits, unit, &DotProduct::element, element,
              accumulator);
}

const DotProduct *findDotProduct(const TargetDescription &target, UnitKind unit,
                                 ElementType operand, ElementType accumulator) {
  if (target.isGPU())
    return nullptr;
  return findDotProduct(
      [&](std::string_view feature) { return target.hasFeature(feature); },
      target.vector.bits, unit, operand, accumulator);
}

const DotProduct *findFastestDotProduct(const TargetDescription &target,
                                        ElementType operand,
                                        ElementType accumulator) {
  const DotProduct *best = nullptr;
  double bestRate = 0;
  for (UnitKind unit : {UnitKind::Vector, UnitKind::AMX}) {
    const DotProduct *product =
        findDotProduct(target, unit, operand, accumulator);
    double rate = target.peakFlopsPerCycle(unit, operand);
    if (!product || (best && rate <= bestRate))
      continue;
    best = product;
    bestRate = rate;
  }
  return best;
}

static std::vector<std::string_view>
collectFeatures(std::string_view arch, ElementType operand,
                ElementType accumulator, std::optional<UnitKind> unit) {
  std::vector<std::string_view> features;
  for (const Entry &entry : table)
    if (const DotProduct &product = entry.product;
        entry.arch == arch && product.operand == operand &&
        product.accumulator == accumulator && (!unit || product.unit == *unit))
      features.push_back(product.feature);
  return features;
}

std::vector<std::string_view> dotFeatures(std::string_view arch,
                                          ElementType operand,
                                          ElementType accumulator) {
  return collectFeatures(arch, operand, accumulator, std::nullopt);
}

std::vector<std::string_view> dotFeatures(std::string_view arch,
                                          ElementType operand,
                                          ElementType accumulator,
                                          UnitKind unit) {
  return collectFeatures(arch, operand, accumulator, unit);
}

} // namespace tracea::target
