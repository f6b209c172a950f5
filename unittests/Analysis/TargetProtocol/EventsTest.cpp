//===- EventsTest.cpp - Kernels of a vendor that there is not -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What decides a protocol knows operations by what their vendor's reader says.
// Here one reads a few words of assembly: a kernel whose lanes exchange values
// through shared memory, with barriers of the block alone, is proved, and
// refuted where a barrier is missing.

#include "tracea/Analysis/TargetProtocol/Recovery.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::tracea;
namespace ta = ::tracea::analysis;

namespace {

class OtherVendor final : public TargetEvents {
public:
  TargetEvent read(Operation *op) const override {
    TargetEvent event;
    auto assembly = dyn_cast<LLVM::InlineAsmOp>(op);
    if (!assembly)
      return event;
    StringRef text = assembly.getAsmString();
    event.kind = text == "thread"    ? TargetEvent::ThreadId
                 : text == "barrier" ? TargetEvent::Sync
                 : text == "sleep"   ? TargetEvent::Harmless
                                     : TargetEvent::Unknown;
    event.isCollective = event.kind == TargetEvent::Sync;
    return event;
  }
  bool isShared(Type type) const override {
    auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
    return pointer && pointer.getAddressSpace() == 3;
  }
  bool isOfCluster(Type) const override { return false; }
  SmallVector<int32_t> getBlock(LLVM::LLVMFuncOp) const override {
    return {128};
  }
  StringRef getBlockName() const override { return "block"; }
  int64_t getBlocksAtOnce(LLVM::LLVMFuncOp) const override { return 1; }
  FailureOr<SmallVector<Footprint>> getReads(Operation *,
                                             ValueSymbols &) const override {
    return failure();
  }
  SmallVector<Value> getFragments(Operation *) const override { return {}; }
  Value getAccumulator(Operation *) const override { return {}; }
};

class Events : public ::testing::Test {
protected:
  Events() {
    context
        .loadDialect<arith::ArithDialect, LLVM::LLVMDialect, scf::SCFDialect>();
  }

  /// A loop in which each lane writes a value and reads that of another one.
  RecoveredProtocol recover(StringRef afterWrite, StringRef afterRead) {
    auto assembly = [](StringRef text) {
      return "llvm.inline_asm has_side_effects \"" + text.str() +
             "\", \"\" : () -> ()\n";
    };
    std::string text = R"(
      llvm.mlir.global external @shared() {addr_space = 3 : i32,
          alignment = 1024 : i64} : !llvm.array<0 x i8>
      llvm.func @k(%n: i32) {
        %c0 = arith.constant 0 : i32
        %c1 = arith.constant 1 : i32
        %c127 = arith.constant 127 : i32
        %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
        %thread = llvm.inline_asm "thread", "=r" : () -> i32
        %other = arith.xori %thread, %c127 : i32
        %own = llvm.getelementptr %shared[%thread]
          : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
        %theirs = llvm.getelementptr %shared[%other]
          : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
        scf.for %i = %c0 to %n step %c1 : i32 {
          llvm.store %i, %own : i32, !llvm.ptr<3>
)" + assembly(afterWrite) +
                       R"(
          %value = llvm.load %theirs : !llvm.ptr<3> -> i32
)" + assembly(afterRead) +
                       R"(
        }
        llvm.return
      })";
    module = parseSourceString<ModuleOp>(text, &context);
    return recoverProtocol(*module->getOps<LLVM::LLVMFuncOp>().begin(),
                           OtherVendor(), RecoveryOptions());
  }

  ta::CheckResult check(const RecoveredProtocol &recovered) {
    EXPECT_EQ(recovered.reason, "");
    return ta::checkProtocol(recovered.protocol, ta::CheckOptions());
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

} // namespace

TEST_F(Events, BarriersOfTheBlockAloneAreDecided) {
  RecoveredProtocol recovered = recover("barrier", "barrier");
  EXPECT_EQ(check(recovered).verdict, ta::Verdict::Proved);
}

TEST_F(Events, ABarrierThatIsMissingIsARace) {
  EXPECT_EQ(check(recover("sleep", "barrier")).verdict, ta::Verdict::Refuted);
  // Each lane might overwrite what it alone has read.
  ta::CheckResult result = check(recover("barrier", "sleep"));
  EXPECT_EQ(result.verdict, ta::Verdict::NotDecided);
  EXPECT_NE(result.reason.find("without meeting"), std::string::npos);
}

TEST_F(Events, WhatAReaderDoesNotKnowIsNotDecided) {
  RecoveredProtocol recovered = recover("barrier", "something else");
  EXPECT_EQ(recovered.reason, "'llvm.inline_asm' is outside of the method");
}
