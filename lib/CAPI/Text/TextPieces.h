//===- TextPieces.h - What the writers of operations share ------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CAPI_TEXT_TEXTPIECES_H
#define TRACEA_LIB_CAPI_TEXT_TEXTPIECES_H

#include "Text/ModuleText.h"

namespace tracea::capi {

/// An error that names an argument, what was expected and what it is.
Status mismatch(const char *name, const std::string &expected,
                const Value &found);
/// Whether the two may be equal; the run compares what is open.
bool mayAgree(const Extent &a, const Extent &b);
/// A size, or "?" where it is open.
std::string sizeText(const Extent &extent);
/// "affine_map<(d0, d1) -> (d1)>"
std::string mapText(size_t rank, const std::vector<unsigned> &dims);
/// 0, 1, … below `rank`.
std::vector<unsigned> allDims(size_t rank);
/// An error where a value's shape cannot be the expected one.
Status checkShape(const char *name, const Value &value,
                  const std::vector<Extent> &expected);
/// An error where the two are not what products take.
Status checkFactors(const char *nameA, const Value &a, const char *nameB,
                    const Value &b);
Status checkEpilogue(TraceaEpilogue function);

} // namespace tracea::capi

#endif // TRACEA_LIB_CAPI_TEXT_TEXTPIECES_H
