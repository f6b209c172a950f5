//===- CPUDots.cpp - What variants by dot products share ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CPUDots.h"
#include "../Variants.h"
#include "tracea/TargetInfo/DotProducts.h"

#include <algorithm>

using namespace tracea::doctor;
using tracea::target::dotFeatures;
using tracea::target::DotProduct;
using tracea::target::findDotProduct;
using tracea::target::findFastestDotProduct;

/// That the target has no instruction for the problem's products, though its
/// architecture has one.
static std::string lacksDots(const Problem &problem,
                             const TargetDescription &target) {
  std::string features;
  for (std::string_view feature :
       dotFeatures(target.arch, problem.operand, problem.accumulator))
    features += (features.empty() ? "'" : " or '") + std::string(feature) + "'";
  return "the target has no dot products of " +
         std::string(stringify(problem.operand)) + " (" + features + ")";
}

/// That the target lacks a unit for tiles of the problem's words, which its
/// architecture has.
static std::string missingTiles(const Problem &problem,
                                const TargetDescription &target) {
  for (std::string_view feature : dotFeatures(
           target.arch, problem.operand, problem.accumulator, UnitKind::AMX))
    if (!target.hasFeature(feature))
      return "the target has no products of tiles of " +
             std::string(stringify(problem.operand)) + " ('" +
             std::string(feature) + "')";
  return "";
}

Reason tracea::doctor::whyNoDots(const Problem &problem,
                                 const TargetDescription &target) {
  ElementType operand = problem.operand;
  if (problem.second != operand ||
      dotFeatures(target.arch, operand, problem.accumulator).empty())
    return "dot products take operands of one type, i8 into i32 or bf16 into "
           "f32, found " +
           std::string(stringify(operand)) + " and " +
           std::string(stringify(problem.second)) + " into " +
           std::string(stringify(problem.accumulator));
  if (!findFastestDotProduct(target, operand, problem.accumulator))
    return lacksDots(problem, target);
  return "";
}

int64_t tracea::doctor::dotWordLength(const Problem &problem,
                                      const TargetDescription &target) {
  const DotProduct *dot =
      findFastestDotProduct(target, problem.operand, problem.accumulator);
  return dot ? dot->folded : 1;
}

std::vector<UnitKind>
tracea::doctor::dotUnits(const Problem &problem,
                         const TargetDescription &target) {
  std::vector<UnitKind> units;
  for (UnitKind unit : {UnitKind::Vector, UnitKind::AMX})
    if (findDotProduct(target, unit, problem.operand, problem.accumulator))
      units.push_back(unit);
  return units;
}

bool tracea::doctor::multipliesDots(UnitKind unit, const Problem &problem,
                                    const TargetDescription &target) {
  std::vector<UnitKind> units = dotUnits(problem, target);
  return units.empty() || std::count(units.begin(), units.end(), unit) > 0;
}

bool tracea::doctor::packsConstants(const Problem &problem,
                                    const TargetDescription &target,
                                    UnitKind unit) {
  const DotProduct *dot =
      findDotProduct(target, unit, problem.operand, problem.accumulator);
  return dot && !dot->isFirstUnsigned;
}

CPUModel tracea::doctor::dotModel(const Problem &problem,
                                  const TargetDescription &target,
                                  UnitKind unit) {
  const DotProduct *dot =
      findDotProduct(target, unit, problem.operand, problem.accumulator);
  if (!dot)
    return CPUModel(target, problem.accumulator);
  double perCycle = target.peakFlopsPerCycle(unit, problem.operand) /
                    (2.0 * dot->lanes() * dot->folded);
  CPUModel model(target, problem.accumulator, perCycle, dot->tile);
  model.productRegisters = dot->addsToSums ? 0 : 1;
  return model;
}

int64_t tracea::doctor::dotStepLength(const Problem &problem,
                                      const TargetDescription &target,
                                      UnitKind unit) {
  const DotProduct *dot =
      findDotProduct(target, unit, problem.operand, problem.accumulator);
  return dot ? dot->folded * dot->tile.words : 1;
}

Reason tracea::doctor::checkWords(const Plan &plan, size_t extent,
                                  std::string_view name, int64_t length) {
  // How many extents there are the base says.
  if (plan.tile.size() <= extent)
    return "";
  return checkMultiple(plan.tile[extent], length,
                       "tile extent " + std::string(name));
}

std::string
tracea::doctor::findPrecisionFallback(const Problem &problem,
                                      const TargetDescription &target,
                                      const Variant &variant) {
  auto operand = problem.operand, accumulator = problem.accumulator;
  std::string_view name = variant.name(), suffix = ".dot";
  bool isDot = name.size() > suffix.size() &&
               name.substr(name.size() - suffix.size()) == suffix;
  bool isProduct =
      problem.kind == OpKind::Gemm || problem.kind == OpKind::Conv2D ||
      problem.kind == OpKind::Conv2DWGrad || problem.kind == OpKind::Attention;
  if (target.isGPU() || !isProduct || variant.isFallback() || isDot ||
      operand == accumulator || bitWidth(operand) >= bitWidth(accumulator))
    return "";
  double wide = target.peakFlopsPerCycle(UnitKind::Vector, ElementType::F32);
  double narrow = target.bestFlopsPerCycle(operand);
  std::string tiles = missingTiles(problem, target);
  // Nothing is lost where dot products are no faster, and none would be.
  if (narrow > 0 && narrow <= wide && tiles.empty())
    return "";
  auto text = [](ElementType type) { return std::string(stringify(type)); };
  std::string found = "products of " + text(operand) + " into " +
                      text(accumulator) + " are asked for, and run as " +
                      text(accumulator) + " multiply-adds";
  const DotProduct *dot = findFastestDotProduct(target, operand, accumulator);
  if (wide > 0)
    found += ", at most " + std::to_string(static_cast<int64_t>(wide)) +
             " operations a cycle a core";
  if (dot && narrow > 0)
    found += " where dot products do " +
             std::to_string(static_cast<int64_t>(narrow));
  if (dot && narrow > 0 && narrow <= wide)
    return found + ": " + tiles;
  if (dot)
    return found + ": '" + std::string(variant.name()) +
           "' does not multiply by dot products";
  if (dotFeatures(target.arch, operand, accumulator).empty())
    return found + ": no target of this architecture multiplies them otherwise";
  return found + ": " + lacksDots(problem, target);
}
