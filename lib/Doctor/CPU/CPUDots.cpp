//===- CPUDots.cpp - What variants by dot products share ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CPUDots.h"
#include "../Variants.h"
#include "tracea/TargetInfo/DotProducts.h"

using namespace tracea::doctor;
using tracea::target::dotFeatures;
using tracea::target::findDotProduct;

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
  if (!findDotProduct(target, operand, problem.accumulator))
    return lacksDots(problem, target);
  return "";
}

int64_t tracea::doctor::dotWordLength(const Problem &problem,
                                      const TargetDescription &target) {
  const auto *dot =
      findDotProduct(target, problem.operand, problem.accumulator);
  return dot ? dot->folded : 1;
}

CPUModel tracea::doctor::dotModel(const Problem &problem,
                                  const TargetDescription &target) {
  return CPUModel(target, problem.accumulator,
                  problem.operand == ElementType::I8
                      ? target.vector.int8DotPerCycle
                      : target.vector.bf16DotPerCycle);
}

Reason tracea::doctor::checkWords(const Plan &plan, size_t extent,
                                  std::string_view name, int64_t length) {
  if (plan.tile.size() > extent && plan.tile[extent] % length != 0)
    return "tile extent " + std::string(name) + " must be a multiple of " +
           std::to_string(length) + ", found " +
           std::to_string(plan.tile[extent]);
  return "";
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
  double narrow = target.peakFlopsPerCycle(UnitKind::Vector, operand);
  // Nothing is lost where dot products are no faster.
  if (narrow > 0 && narrow <= wide)
    return "";
  auto text = [](ElementType type) { return std::string(stringify(type)); };
  std::string found = "products of " + text(operand) + " into " +
                      text(accumulator) + " are asked for, and run as " +
                      text(accumulator) + " multiply-adds";
  const target::DotProduct *dot = findDotProduct(target, operand, accumulator);
  if (wide > 0)
    found += ", at most " + std::to_string(static_cast<int64_t>(wide)) +
             " operations a cycle a core";
  if (dot && narrow > 0)
    found += " where dot products do " +
             std::to_string(static_cast<int64_t>(narrow));
  if (dot)
    return found + ": '" + std::string(variant.name()) +
           "' does not multiply by dot products";
  if (dotFeatures(target.arch, operand, accumulator).empty())
    return found + ": no target of this architecture multiplies them otherwise";
  return found + ": " + lacksDots(problem, target);
}
