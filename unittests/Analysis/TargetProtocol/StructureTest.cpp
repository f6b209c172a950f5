//===- StructureTest.cpp - Loops and branches out of blocks ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/TargetProtocol/Structure.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::tracea;

namespace {

class Structure : public ::testing::Test {
protected:
  Structure() {
    context.loadDialect<arith::ArithDialect, LLVM::LLVMDialect,
                        NVVM::NVVMDialect, scf::SCFDialect>();
  }

  /// Structures a function with the given body.
  StructuredKernel structure(StringRef body) {
    std::string text =
        "llvm.func @k(%n: i32, %c: i1, %p: !llvm.ptr) {\n" + body.str() + "}";
    module = parseSourceString<ModuleOp>(text, &context);
    auto kernel = *module->getOps<LLVM::LLVMFuncOp>().begin();
    StructuredKernel result = structureKernel(kernel);
    EXPECT_TRUE(succeeded(verify(*module)));
    if (result.reason.empty()) {
      EXPECT_TRUE(succeeded(verify(result.kernel->getOperation())));
      EXPECT_TRUE(llvm::hasSingleElement(result.kernel->getBody()));
      // Every place is one of the kernel's.
      result.kernel->walk([&](Operation *op) {
        Operation *origin = result.getOrigin(op);
        EXPECT_TRUE(origin && module->getOperation()->isAncestor(origin));
      });
    }
    return result;
  }

  template <typename OpTy>
  static int count(StructuredKernel &kernel) {
    int number = 0;
    kernel.kernel->walk([&](OpTy) { ++number; });
    return number;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

} // namespace

TEST_F(Structure, LoopsThatCount) {
  // Two nested loops; what the inner one carries is used behind it.
  StructuredKernel kernel = structure(R"mlir(
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^outer(%zero, %zero : i32, i32)
  ^outer(%i: i32, %a: i32):
    %more = llvm.icmp "slt" %i, %n : i32
    llvm.cond_br %more, ^enter, ^end
  ^enter:
    llvm.br ^inner(%zero, %a : i32, i32)
  ^inner(%j: i32, %b: i32):
    %again = llvm.icmp "ult" %j, %n : i32
    llvm.cond_br %again, ^body, ^latch
  ^body:
    %b1 = llvm.xor %b, %j : i32
    llvm.store %b1, %p : i32, !llvm.ptr
    %j1 = llvm.add %j, %one : i32
    llvm.br ^inner(%j1, %b1 : i32, i32)
  ^latch:
    %i1 = llvm.add %one, %i : i32
    llvm.br ^outer(%i1, %b : i32, i32)
  ^end:
    llvm.store %a, %p : i32, !llvm.ptr
    llvm.return
  )mlir");
  ASSERT_EQ(kernel.reason, "");
  EXPECT_EQ(count<scf::ForOp>(kernel), 2);
  EXPECT_EQ(count<scf::WhileOp>(kernel), 0);
  EXPECT_EQ(count<LLVM::StoreOp>(kernel), 2);
  kernel.kernel->walk([&](scf::ForOp loop) {
    EXPECT_EQ(loop.getUnsignedCmp(), loop->getParentOp() != *kernel.kernel);
  });
}

TEST_F(Structure, LoopsThatDoNot) {
  // How far it has counted is used; the step is not the same each time.
  for (StringRef after : {"llvm.store %i, %p : i32, !llvm.ptr", ""}) {
    std::string step = after.empty() ? "%i" : "%one";
    StructuredKernel kernel = structure(R"mlir(
      %one = llvm.mlir.constant(1 : i32) : i32
      llvm.br ^head(%one : i32)
    ^head(%i: i32):
      %more = llvm.icmp "slt" %i, %n : i32
      llvm.cond_br %more, ^body, ^end
    ^body:
      nvvm.barrier
      %i1 = llvm.add %i, )mlir" + step + R"mlir( : i32
      llvm.br ^head(%i1 : i32)
    ^end:
    )mlir" + after.str() + "\nllvm.return");
    ASSERT_EQ(kernel.reason, "");
    EXPECT_EQ(count<scf::ForOp>(kernel), 0);
    EXPECT_EQ(count<scf::WhileOp>(kernel), 1);
  }
}

TEST_F(Structure, LoopsThatAreLeftAtTheirEnd) {
  StructuredKernel kernel = structure(R"mlir(
    llvm.br ^body
  ^body:
    %x = llvm.load volatile %p : !llvm.ptr -> i32
    %done = llvm.icmp "eq" %x, %n : i32
    llvm.cond_br %done, ^end, ^body
  ^end:
    llvm.store %x, %p : i32, !llvm.ptr
    llvm.return
  )mlir");
  ASSERT_EQ(kernel.reason, "");
  EXPECT_EQ(count<scf::WhileOp>(kernel), 1);
  // What the loop has read comes out of it.
  kernel.kernel->walk([&](LLVM::StoreOp store) {
    EXPECT_TRUE(store.getValue().getDefiningOp<scf::WhileOp>());
  });
}

TEST_F(Structure, Branches) {
  // A branch within one side; the value that is the same on both goes around.
  StructuredKernel kernel = structure(R"mlir(
    %one = llvm.mlir.constant(1 : i32) : i32
    %x = llvm.load %p : !llvm.ptr -> i32
    llvm.cond_br %c, ^then, ^join(%x, %n : i32, i32)
  ^then:
    %d = llvm.icmp "eq" %n, %one : i32
    llvm.cond_br %d, ^inner, ^join(%one, %n : i32, i32)
  ^inner:
    nvvm.barrier
    llvm.br ^join(%x, %n : i32, i32)
  ^join(%a: i32, %b: i32):
    %sum = llvm.add %a, %b : i32
    llvm.store %sum, %p : i32, !llvm.ptr
    llvm.return
  )mlir");
  ASSERT_EQ(kernel.reason, "");
  EXPECT_EQ(count<scf::IfOp>(kernel), 2);
  kernel.kernel->walk(
      [&](scf::IfOp branch) { EXPECT_EQ(branch.getNumResults(), 1u); });
}

TEST_F(Structure, BlocksThatOnlyJumpOn) {
  // What two branches share is empty.
  StructuredKernel kernel = structure(R"mlir(
    llvm.cond_br %c, ^a, ^b
  ^a:
    nvvm.barrier
    llvm.cond_br %c, ^c, ^shared
  ^b:
    llvm.store %n, %p : i32, !llvm.ptr
    llvm.cond_br %c, ^d, ^shared
  ^c:
    nvvm.barrier
    llvm.br ^shared
  ^d:
    nvvm.barrier
    llvm.br ^shared
  ^shared:
    llvm.br ^end
  ^end:
    llvm.return
  )mlir");
  ASSERT_EQ(kernel.reason, "");
  EXPECT_EQ(count<scf::IfOp>(kernel), 3);
  EXPECT_EQ(count<NVVM::BarrierOp>(kernel), 3);
}

TEST_F(Structure, WhatHasNoStructure) {
  EXPECT_EQ(structure(R"mlir(
    llvm.cond_br %c, ^a, ^b
  ^a:
    nvvm.barrier
    llvm.cond_br %c, ^b, ^end
  ^b:
    nvvm.barrier
    llvm.cond_br %c, ^a, ^end
  ^end:
    llvm.return
  )mlir")
                .reason,
            "branches share a block that is not where they meet");
  EXPECT_EQ(structure(R"mlir(
    llvm.br ^head
  ^head:
    nvvm.barrier
    llvm.br ^head
  )mlir")
                .reason,
            "a loop is not left from one place");
  StructuredKernel shared = structure(R"mlir(
    llvm.cond_br %c, ^a, ^b
  ^a:
    nvvm.barrier
    llvm.cond_br %c, ^b, ^end
  ^b:
    nvvm.barrier
    llvm.br ^end
  ^end:
    llvm.return
  )mlir");
  EXPECT_EQ(shared.reason, "branches share a block that is not where they "
                           "meet");
  EXPECT_TRUE(shared.reasonOp);
}
