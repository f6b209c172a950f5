//===- NumericsCompare.h - Results against what is right --------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSCOMPARE_H
#define TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSCOMPARE_H

#include "Numerics.h"

namespace tracea::numerics {

/// The first wrong element, and how many there are; empty: all are right.
/// `read` gives the result's element at an index.
std::string compare(const ExpectedTensor &expected,
                    const std::function<double(const Shape &index)> &read);

} // namespace tracea::numerics

#endif // TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSCOMPARE_H
