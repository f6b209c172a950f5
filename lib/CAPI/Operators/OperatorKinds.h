//===- OperatorKinds.h - Numbers of operations ------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CAPI_OPERATORKINDS_H
#define TRACEA_LIB_CAPI_OPERATORKINDS_H

#include <cstdint>
#include <cstring>

namespace tracea::capi {

enum OperatorKind : int64_t {
  kindGemm = 1,
  kindGroupedGemm,
  kindConv2D,
  kindAttention,
  kindSoftmax,
  kindLayerNorm,
  kindRMSNorm,
  kindConv2DDGrad,
  kindConv2DWGrad
};

/// A number as a part of what tells calls apart.
inline int64_t bitsOf(double number) {
  int64_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

} // namespace tracea::capi

#endif // TRACEA_LIB_CAPI_OPERATORKINDS_H
