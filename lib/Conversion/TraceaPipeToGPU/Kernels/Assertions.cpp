//===- Assertions.cpp - What a kernel cannot do is written down -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel cannot end a run. Lanes for which an assertion fails leave in a
// record what they found, and go on without what it asked for; whoever waits
// for the results looks there. Many lanes may fail at once: each word takes the
// greatest of what they leave, so that the same run always says the same.

#include "Kernels/Assertions.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "tracea/Conversion/TraceaPipeToGPU/KernelBuilder.h"
#include "tracea/Dialect/TraceaPipe/Utils/Assertions.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Whether it failed, the number that was found, and the complement of what it
/// was compared with.
static constexpr int64_t kWords = 3;

SmallVector<StringAttr> mlir::tracea_pipe::getAssertedTexts(KernelOp kernel) {
  SmallVector<StringAttr> texts;
  kernel.walk([&](cf::AssertOp op) {
    texts.push_back(op.getMsg().empty()
                        ? StringAttr::get(op.getContext(), "an assertion")
                        : op.getMsgAttr());
  });
  return texts;
}

MemRefType mlir::tracea_pipe::getRecordType(KernelOp kernel) {
  auto count = static_cast<int64_t>(getAssertedTexts(kernel).size());
  return MemRefType::get({count, kWords},
                         IntegerType::get(kernel.getContext(), 64));
}

/// Leaves the record's words where the assertion fails.
static void lowerAssertion(cf::AssertOp op, int64_t number, Value record) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value isTrue = arith::ConstantIntOp::create(b, 1, 1);
  Value fails = arith::XOrIOp::create(b, op.getArg(), isTrue);
  auto branch = scf::IfOp::create(b, fails, /*withElseRegion=*/false);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  auto [found, expected] = getCompared(op.getArg());
  Value one = arith::ConstantOp::create(b, b.getI64IntegerAttr(1));
  Value all = arith::ConstantOp::create(b, b.getI64IntegerAttr(-1));
  Value least =
      arith::XOrIOp::create(b, getAssertedWord(b, op.getLoc(), expected), all);
  Value row = arith::ConstantIndexOp::create(b, number);
  int64_t column = 0;
  for (Value word : {one, getAssertedWord(b, op.getLoc(), found), least})
    memref::AtomicRMWOp::create(
        b, arith::AtomicRMWKind::maxu, word, record,
        ValueRange{row, arith::ConstantIndexOp::create(b, column++)});
  op.erase();
}

void mlir::tracea_pipe::lowerAssertions(KernelOp kernel, Value record) {
  SmallVector<cf::AssertOp> assertions;
  kernel.walk([&](cf::AssertOp op) { assertions.push_back(op); });
  for (auto [number, assertion] : llvm::enumerate(assertions))
    lowerAssertion(assertion, static_cast<int64_t>(number), record);
}
