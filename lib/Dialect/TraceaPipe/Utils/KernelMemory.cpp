//===- KernelMemory.cpp - What kernels ask of memory ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/TraceaPipe/Utils/KernelMemory.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::tracea_pipe;

static int64_t getElementBytes(MemRefType type) {
  return llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

/// The bytes, up to 16, at multiples of which the rows of an argument can
/// begin. Only a type whose rows are known to begin elsewhere allows less.
static int64_t getAllowedAlignment(MemRefType type) {
  if (type.getRank() == 0)
    return getElementBytes(type);
  int64_t row = type.getShape().back();
  if (!type.getLayout().isIdentity()) {
    int64_t alignment = kAlignedBytes;
    auto [strides, offset] = type.getStridesAndOffset();
    for (int64_t stride : ArrayRef(strides).drop_back())
      alignment = std::gcd(alignment, stride * getElementBytes(type));
    return alignment;
  }
  if (type.getRank() == 1 || ShapedType::isDynamic(row))
    return kAlignedBytes;
  return std::gcd(kAlignedBytes, row * getElementBytes(type));
}

static void setAlignment(KernelOp kernel, unsigned argument, int64_t bytes) {
  Type i64 = IntegerType::get(kernel.getContext(), 64);
  kernel.setArgAttr(argument, kAlignedAttrName, IntegerAttr::get(i64, bytes));
}

void mlir::tracea_pipe::requireAlignment(KernelOp kernel) {
  for (auto [number, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    auto memref = cast<MemRefType>(type);
    if (memref.getRank() && getAllowedAlignment(memref) == kAlignedBytes)
      setAlignment(kernel, number, kAlignedBytes);
  }
}

bool mlir::tracea_pipe::requirePieces(KernelOp kernel, unsigned numOperands,
                                      function_ref<bool(unsigned)> isWanted) {
  SmallVector<int64_t> alignments;
  bool isUseful = false;
  for (auto [number, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    auto memref = dyn_cast<MemRefType>(type);
    bool isAsked = memref && (!isWanted || isWanted(number));
    alignments.push_back(isAsked ? getAllowedAlignment(memref) : 1);
    if (isAsked)
      isUseful |=
          number < numOperands && alignments.back() > getElementBytes(memref);
  }
  if (!isUseful)
    return false;
  for (auto [number, bytes] : llvm::enumerate(alignments))
    if (bytes > 1)
      setAlignment(kernel, number, bytes);
  return true;
}
