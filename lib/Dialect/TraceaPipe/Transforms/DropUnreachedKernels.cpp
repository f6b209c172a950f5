//===- DropUnreachedKernels.cpp - Kernels that no launch comes to ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of the kernels that a launch names the first one runs whose memory begins as
// it asks, and that is for results of that size. Where types say that it does,
// and it is for any size, those behind it never run.

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "tracea-drop-unreached-kernels"

namespace mlir::tracea_pipe {
#define GEN_PASS_DEF_DROPUNREACHEDKERNELS
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h.inc"
} // namespace mlir::tracea_pipe

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Whether runs of the last dimension of `type` begin at multiples of `bytes`
/// for all sizes. Buffers do; it is a matter of offsets and strides.
static bool isAligned(MemRefType type, int64_t bytes) {
  int64_t bits = type.getElementTypeBitWidth();
  auto isWhole = [&](int64_t elements) {
    return !ShapedType::isDynamic(elements) &&
           elements * bits % (8 * bytes) == 0;
  };
  ArrayRef<int64_t> shape = type.getShape();
  // Strides are multiples of the last extent then.
  if (type.getLayout().isIdentity())
    return type.getRank() < 2 || isWhole(shape.back());
  int64_t offset;
  SmallVector<int64_t> strides;
  if (failed(type.getStridesAndOffset(strides, offset)) || !isWhole(offset))
    return false;
  for (auto [extent, stride] : llvm::drop_end(llvm::zip_equal(shape, strides)))
    if (extent != 1 && !isWhole(stride))
      return false;
  return true;
}

/// Whether the memory that `launch` passes begins as `kernel` asks, whatever
/// its size.
static bool alwaysRuns(LaunchOp launch, KernelOp kernel) {
  SmallVector<Value> operands(launch.getInputs());
  llvm::append_range(operands, launch.getInits());
  for (auto [number, operand] : llvm::enumerate(operands)) {
    auto asked = kernel.getArgAttrOfType<IntegerAttr>(number, kAlignedAttrName);
    if (!asked)
      continue;
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (!type || !isAligned(type, asked.getInt()))
      return false;
  }
  return true;
}

namespace {
struct DropUnreachedKernels
    : mlir::tracea_pipe::impl::DropUnreachedKernelsBase<DropUnreachedKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    llvm::SetVector<Operation *> dropped;
    DenseSet<Operation *> launched;
    module.walk([&](LaunchOp launch) {
      SmallVector<FlatSymbolRefAttr> reached;
      SmallVector<int64_t> most;
      bool isOpen = true;
      for (auto [number, name] : llvm::enumerate(launch.getKernels())) {
        auto kernel = symbols.lookup<KernelOp>(name.getAttr());
        if (!isOpen) {
          dropped.insert(kernel);
          continue;
        }
        launched.insert(kernel);
        reached.push_back(name);
        most.push_back(launch.getMostOf(number));
        isOpen = most.back() || !alwaysRuns(launch, kernel);
      }
      if (isOpen || reached.size() == launch.getKernels().size())
        return;
      launch.setKernels(reached, most);
    });
    for (Operation *kernel : dropped)
      if (!launched.contains(kernel)) {
        symbols.erase(kernel);
        ++numDropped;
      }
  }
};
} // namespace
