//===- NumericsProducts.h - What random products have in common -*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSPRODUCTS_H
#define TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSPRODUCTS_H

#include "Numerics.h"

namespace tracea::numerics {

/// Sums of products of two operands, and an epilogue.
struct Product {
  Sizes sizes;
  ElementType type = ElementType::F32;
  ElementType accumulator = ElementType::F32;
  Fill fill = Fill::Normal;
  std::vector<SizedType> arguments;
  SizedType result;
  Epilogue epilogue;
  int destination = -1;

  void drawTypes(Random &random, bool withByteFloats);
  std::vector<HostTensor> drawInputs(Random &random) const;
};

} // namespace tracea::numerics

#endif // TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSPRODUCTS_H
