//===- BufferizableOpInterfaceImpl.cpp - Bufferization of launches --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch reads its ins and writes its outs, whose contents it never reads.
// Kernels take row-major buffers: an operand that bufferization has made a view
// with gaps is copied to a buffer of its own before the launch, or after it.

#include "tracea/Dialect/TraceaPipe/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Remarks.h"
#include "tracea/Dialect/TraceaPipe/IR/Dimensions.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace mlir::tracea_pipe;

bool mlir::tracea_pipe::isPassableToKernel(MemRefType type) {
  return type.getLayout().isIdentity() ||
         type.areTrailingDimsContiguous(type.getRank());
}

namespace {

/// A row-major buffer of the shape of `buffer`.
FailureOr<Value> allocateLike(RewriterBase &rewriter, Location loc,
                              Value buffer, MemRefType type,
                              const BufferizationOptions &options) {
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(rewriter, loc, buffer, dim));
  MemRefType compact = MemRefType::get(type.getShape(), type.getElementType());
  return options.createAlloc(rewriter, loc, compact, sizes);
}

/// Whether the kernels of a launch are made for rows that lie as far apart as
/// those of a view do.
bool takesGaps(LaunchOp launch, OpOperand &operand, MemRefType view) {
  auto module = launch->getParentOfType<ModuleOp>();
  return llvm::all_of(launch.getKernels(), [&](FlatSymbolRefAttr name) {
    auto kernel = module.lookupSymbol<KernelOp>(name.getAttr());
    auto type = dyn_cast<MemRefType>(
        kernel.getArgumentTypes()[operand.getOperandNumber()]);
    return type && !type.getLayout().isIdentity() &&
           haveSameStrides(type, view);
  });
}

struct LaunchModel
    : public DstBufferizableOpInterfaceExternalModel<LaunchModel, LaunchOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return cast<LaunchOp>(op).isDpsInput(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    LaunchOp launch = cast<LaunchOp>(op);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(launch);
    Location loc = launch.getLoc();

    SmallVector<Value> inputs, inits, results;
    /// Buffers that are filled from a compact one after the launch.
    SmallVector<std::pair<Value, Value>> copiesBack;
    for (OpOperand &operand : launch->getOpOperands()) {
      bool isInit = launch.isDpsInit(&operand);
      SmallVector<Value> &list = isInit ? inits : inputs;
      if (!isa<TensorType>(operand.get().getType())) {
        list.push_back(operand.get());
        if (isInit)
          return launch.emitOpError()
                 << "mixes tensors and memrefs in its outs";
        continue;
      }
      FailureOr<Value> buffer =
          getBuffer(rewriter, operand.get(), options, state);
      if (failed(buffer))
        return failure();
      if (isInit)
        results.push_back(*buffer);
      auto type = dyn_cast<MemRefType>(buffer->getType());
      if (!type)
        return launch.emitOpError()
               << "expects ranked operands, found " << operand.get().getType();
      if (isPassableToKernel(type) || takesGaps(launch, operand, type)) {
        list.push_back(*buffer);
        continue;
      }
      remark::missed(loc, remark::RemarkOpts::name("host-copy")
                              .category("tracea")
                              .function(launch.getKernel()))
          << remark::reason("operand #{0} is a view with gaps ({1})",
                            operand.getOperandNumber(), type);
      FailureOr<Value> compact =
          allocateLike(rewriter, loc, *buffer, type, options);
      if (failed(compact))
        return failure();
      if (isInit)
        copiesBack.emplace_back(*compact, *buffer);
      else if (failed(options.createMemCpy(rewriter, loc, *buffer, *compact)))
        return failure();
      list.push_back(*compact);
    }

    LaunchOp onBuffers = LaunchOp::create(
        rewriter, loc, TypeRange{}, launch.getKernelAttr(),
        launch.getOthersAttr(), launch.getMostAttr(), inputs, inits);
    onBuffers->setDiscardableAttrs(launch->getDiscardableAttrDictionary());
    for (auto [compact, view] : copiesBack)
      if (failed(options.createMemCpy(rewriter, loc, compact, view)))
        return failure();
    replaceOpWithBufferizedValues(rewriter, launch, results);
    return success();
  }
};

} // namespace

void mlir::tracea_pipe::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TraceaPipeDialect *) {
    LaunchOp::attachInterface<LaunchModel>(*context);
  });
}
