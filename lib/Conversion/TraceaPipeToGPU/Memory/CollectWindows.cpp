//===- CollectWindows.cpp - The memory that operands look into ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Done before anything changes: views, subviews and maps of every access are
// followed to the buffer or argument that they look into, and composed into one
// map.

#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

LogicalResult mlir::tracea_pipe::collectWindow(Operation *op,
                                               OpOperand &operand,
                                               ValueRange indices,
                                               AffineMap map,
                                               KernelContext &context) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return success();
  std::optional<TileTransfer> transfer = getTileTransfer(op);
  bool walks =
      transfer && !transfer->along.empty() && transfer->memory == operand.get();
  if (!map)
    map = AffineMap::getMultiDimIdentityMap(type.getRank(), op->getContext());
  if (isa_and_nonnull<StagedAttr>(type.getMemorySpace())) {
    FailureOr<StagedWindow> window = StagedWindow::get(
        operand.get(), indices, map, [&]() { return op->emitOpError(); });
    if (failed(window))
      return failure();
    if (walks && failed(window->addWalks(*transfer,
                                         [&]() { return op->emitOpError(); })))
      return failure();
    // Lanes that access one element after the other find its panel; all others
    // count bytes from the origin.
    Value term;
    if (!isa<LoadOp, StoreOp>(op) && !window->startsPanels(&term)) {
      InFlightDiagnostic diag =
          op->emitOpError() << "expects an origin at a multiple of the panel's "
                            << window->layout.panel << " columns";
      diag.attachNote(term.getLoc()) << "which this is not known to be";
      return failure();
    }
    context.windows[&operand] = std::move(*window);
    return success();
  }
  GlobalWindow window;
  window.buffer = operand.get();
  window.dims = composeAccess(window.buffer, indices, map);
  GlobalBuffer buffer;
  if (!context.arguments.contains(window.buffer) &&
      context.target.describe(window.buffer, buffer))
    context.arguments[window.buffer] = std::move(buffer);
  if (!context.arguments.contains(window.buffer)) {
    InFlightDiagnostic diag =
        op->emitOpError() << "expects memory that is an argument of the kernel "
                             "or a view of one";
    diag.attachNote(window.buffer.getLoc()) << "the memory comes from here";
    return failure();
  }
  if (walks)
    addWalks(window, context.getBuffer(window), *transfer);
  noteSteps(window.dims, op);
  context.globalWindows[&operand] = std::move(window);
  return success();
}

LogicalResult mlir::tracea_pipe::collectWindows(Operation *root,
                                                KernelContext &context) {
  WalkResult result = root->walk([&](Operation *op) {
    auto one = [&](OpOperand &operand, ValueRange indices = {},
                   AffineMap map = {}) {
      return collectWindow(op, operand, indices, map, context);
    };
    LogicalResult found =
        TypeSwitch<Operation *, LogicalResult>(op)
            .Case([&](CopyOp copy) {
              return failure(failed(one(copy.getSourceMutable(),
                                        copy.getIndices(), copy.getMap())) ||
                             failed(one(copy.getDestMutable())));
            })
            .Case([&](CopyOutOp copy) {
              return failure(failed(one(copy.getSourceMutable())) ||
                             failed(one(copy.getDestMutable(),
                                        copy.getIndices(), copy.getMap())));
            })
            .Case([&](LoadOp load) {
              return one(load.getSourceMutable(), load.getIndices(),
                         load.getMap());
            })
            .Case([&](StoreOp store) {
              return one(store.getDestMutable(), store.getIndices(),
                         store.getMap());
            })
            .Case([&](MmaAsyncOp multiply) {
              return failure(failed(one(multiply.getLhsMutable())) ||
                             failed(one(multiply.getRhsMutable())));
            })
            .Default([](Operation *) { return success(); });
    return failed(found) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
