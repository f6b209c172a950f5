//===- Describe.cpp - A normal form in some words -------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Evaluator.h"

using namespace mlir;
using namespace mlir::tracea::numerics;

static bool hasSum(TermRef term, llvm::DenseSet<TermRef> &seen) {
  if (!seen.insert(term).second)
    return false;
  return term->kind == TermKind::Fold || term->kind == TermKind::Reduce ||
         llvm::any_of(term->operands,
                      [&](TermRef inner) { return hasSum(inner, seen); });
}
static bool hasSum(TermRef term) {
  llvm::DenseSet<TermRef> seen;
  return hasSum(term, seen);
}

/// "arith.addf" of "arith.addf f32 f32 -> f32".
static StringRef getName(TermRef term) {
  return StringRef(term->symbol).split(' ').first;
}

static std::string roundsText(TermRef fold, IndexSpace &index) {
  Form rounds = index.sub(fold->forms[1], fold->forms[0]);
  if (rounds.isConstant())
    return std::to_string(rounds.constant);
  std::optional<int64_t> most = index.interval(rounds).high;
  return most ? "at most " + std::to_string(*most) : "";
}

/// "fused f32 products", or nothing for another fold.
static std::string productText(TermRef update) {
  if (update->kind == TermKind::UnitStep) {
    int64_t products = 1;
    for (const Form &extent : update->forms)
      products *= extent.constant;
    return "products of " + update->symbol + " in steps of " +
           std::to_string(products);
  }
  if (update->kind != TermKind::Operation)
    return "";
  StringRef name = getName(update);
  if (name == "fma")
    return "fused " + update->symbol.substr(4) + " products";
  if ((name == "add" || name == "arith.addf") && update->operands.size() == 2)
    for (TermRef side : update->operands)
      if (side->kind == TermKind::Operation &&
          (getName(side) == "mul" || getName(side) == "arith.mulf"))
        return "rounded products";
  return "";
}

static std::string beginText(TermRef begin) {
  if (begin->kind == TermKind::State)
    return "carried on";
  if (begin->kind == TermKind::Fold)
    return "from the first";
  if (begin->kind == TermKind::Constant &&
      StringRef(begin->symbol).starts_with("0"))
    return "from zero";
  return "from a value";
}

/// The loops of a sum from the inside out.
static std::string sumText(TermRef fold, IndexSpace &index) {
  size_t states = fold->bound.size() - 1;
  TermRef update = fold->operands[states];
  std::string rounds = roundsText(fold, index);
  if (states == 1) {
    if (std::string products = productText(update); !products.empty())
      return products + (rounds.empty() ? "" : ", " + rounds + " in a row") +
             ", " + beginText(fold->operands[0]);
    if (update->kind == TermKind::Fold)
      return sumText(update, index) + ", " +
             (rounds.empty() ? "" : rounds + " times ") +
             beginText(fold->operands[0]);
    if (update->kind == TermKind::Operation && update->operands.size() == 2)
      for (TermRef side : update->operands)
        if (side->kind == TermKind::Fold)
          return sumText(side, index) + "; " +
                 (rounds.empty() ? "" : rounds + " more ") + "blocks by " +
                 getName(update).str() + " " + beginText(fold->operands[0]);
  }
  return std::to_string(states) + " values carried through " +
         (rounds.empty() ? "" : rounds + " ") + "rounds";
}

std::string mlir::tracea::numerics::describeNormalForm(
    const TargetNumerics &target, ArrayRef<ElementTerm> results,
    IndexSpace &index, TermSpace &terms) {
  std::string text;
  SmallVector<unsigned> described;
  for (const ElementTerm &result : results) {
    if (llvm::is_contained(described, result.argument))
      continue;
    described.push_back(result.argument);
    // Operations after the sum, outermost last.
    SmallVector<std::string> after;
    TermRef term = result.term;
    while (term->kind == TermKind::Operation ||
           term->kind == TermKind::Select) {
      TermRef inner = nullptr;
      for (TermRef operand : term->operands)
        if (!inner && hasSum(operand))
          inner = operand;
      after.push_back(term->kind == TermKind::Select ? "select"
                                                     : getName(term).str());
      if (!inner) {
        for (TermRef operand : term->operands)
          if (!inner && operand->kind == TermKind::Operation)
            inner = operand;
        if (!inner)
          break;
      }
      term = inner;
    }
    std::string own;
    if (term->kind == TermKind::Fold)
      own = sumText(term, index);
    else if (term->kind == TermKind::Reduce)
      own = "reduction " + term->symbol;
    else
      own = "element by element";
    if (!after.empty()) {
      own += "; then";
      size_t count = 0;
      for (const std::string &name : llvm::reverse(after)) {
        if (++count > 8) {
          own += " and " + std::to_string(after.size() - 8) + " more";
          break;
        }
        own += (count == 1 ? " " : ", ") + name;
      }
    }
    text += (text.empty() ? "" : " | ") + own;
  }
  return text;
}
