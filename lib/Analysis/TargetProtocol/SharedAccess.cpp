//===- SharedAccess.cpp - Which bytes of shared memory are touched --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/TargetProtocol/SharedAccess.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;

bool mlir::tracea::isShared(const Linear &address) {
  return llvm::any_of(address.terms, [](const auto &term) {
    return term.first->kind == Symbol::Base && term.second == 1;
  });
}

Linear mlir::tracea::getOffset(const Linear &address) {
  Linear offset = address;
  offset.terms.remove_if(
      [](const auto &term) { return term.first->kind == Symbol::Base; });
  return offset;
}

Footprint mlir::tracea::getLaneFootprint(Value address, int64_t length,
                                         ValueSymbols &values,
                                         const std::vector<bool> &active) {
  Footprint footprint;
  Linear linear = values.table.linearize(values.get(address));
  footprint.address.constant = linear.constant;
  footprint.length = length;
  // What threads alone decide is added up for each.
  std::vector<int64_t> offsets(values.threads.size());
  linear.terms.remove_if([&](const auto &term) {
    const std::vector<uint64_t> *each = values.getPerThread(term.first);
    if (!each ||
        llvm::any_of(*each, [](uint64_t v) { return v > (1u << 30); }) ||
        std::abs(term.second) > (1 << 26))
      return false;
    for (auto [offset, value] : llvm::zip_equal(offsets, *each))
      offset += term.second * static_cast<int64_t>(value);
    return true;
  });
  int64_t least = INT64_MAX, most = INT64_MIN;
  for (auto [offset, touches] : llvm::zip_equal(offsets, active)) {
    if (!touches)
      continue;
    least = std::min(least, offset);
    most = std::max(most, offset);
  }
  if (least <= most) {
    footprint.address.constant += least;
    footprint.length += most - least;
  }
  for (auto [symbol, coefficient] : linear.terms) {
    bool exact = symbol->kind == Symbol::Base ||
                 (symbol->onWalk && !symbol->onThread && !symbol->onOpaque);
    if (exact) {
      footprint.address.terms[symbol] = coefficient;
      continue;
    }
    // What differs between lanes, or is not known, takes its range.
    int64_t span = 0, low = 0;
    uint64_t width = symbol->high - symbol->low;
    if (width > (1u << 20) || symbol->low > (1u << 30) ||
        llvm::MulOverflow(coefficient, static_cast<int64_t>(width), span) ||
        llvm::MulOverflow(coefficient, static_cast<int64_t>(symbol->low),
                          low)) {
      footprint.length = -1;
      footprint.reason = "an address of shared memory has no known bounds";
      return footprint;
    }
    footprint.address.constant += low + std::min<int64_t>(0, span);
    footprint.length += std::abs(span);
  }
  return footprint;
}
