//===- GemmMemory.cpp - Kernels for memory of whole pieces, and for any ---===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Definitions.h"
#include "GemmResults.h"
#include "GemmShape.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// Asks for memory that whole pieces can be copied from and vectors stored to,
/// of every argument that `isWanted` names and whose type allows it. Asks for
/// nothing, and says so, where neither operand's type does.
static bool requireAlignment(KernelOp kernel,
                             function_ref<bool(unsigned)> isWanted) {
  constexpr int64_t kBytes = 16, kOperands = 2;
  Type i64 = IntegerType::get(kernel.getContext(), 64);
  SmallVector<int64_t> alignments;
  bool isUseful = false;
  for (auto [number, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    auto memref = cast<MemRefType>(type);
    int64_t elementBytes = llvm::divideCeil(memref.getElementTypeBitWidth(), 8);
    int64_t bytes = memref.getRank() ? kBytes : elementBytes;
    if (memref.getRank() > 1 && !memref.isDynamicDim(memref.getRank() - 1))
      bytes = std::gcd(bytes, memref.getShape().back() * elementBytes);
    alignments.push_back(bytes);
    if (isWanted && !isWanted(number))
      alignments.back() = 1;
    else
      isUseful |= number < kOperands && bytes > elementBytes;
  }
  if (!isUseful)
    return false;
  for (auto [number, bytes] : llvm::enumerate(alignments))
    if (bytes > 1)
      kernel.setArgAttr(number, kAlignedAttrName, IntegerAttr::get(i64, bytes));
  return true;
}

void mlir::tracea::buildForMemory(KernelRewriter &rewriter, GemmOp op,
                                  const GemmResults &results,
                                  function_ref<void(KernelBuilder &)> build,
                                  function_ref<bool(unsigned)> isWanted) {
  ScheduleAttr schedule = op.getScheduleAttr();
  SmallVector<Value> inputs = {op.getLhs(), op.getRhs()};
  llvm::append_range(inputs, op.getExtras());
  KernelBuilder aligned(rewriter, op, schedule, inputs, results.getInits());
  defineProduct(aligned, op, op.getLhs(), op.getRhs());
  build(aligned);
  if (!requireAlignment(aligned.getKernel(), isWanted))
    return results.finish(aligned.launch());
  KernelBuilder any(rewriter, op, schedule, inputs, results.getInits());
  defineProduct(any, op, op.getLhs(), op.getRhs());
  build(any);
  auto launch = aligned.launch()[0].getDefiningOp<LaunchOp>();
  launch.setOthersAttr(rewriter.getArrayAttr(
      FlatSymbolRefAttr::get(any.getKernel().getSymNameAttr())));
  results.finish(launch.getResults());
}
