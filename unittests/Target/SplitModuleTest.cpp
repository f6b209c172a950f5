//===- SplitModuleTest.cpp - Parts that threads compile -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Target/Split/SplitModule.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "tracea/Target/CPU/Codegen.h"
#include "llvm/TargetParser/Host.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::tracea;
using testing::ElementsAre;

namespace {

class SplitModuleTest : public testing::Test {
protected:
  SplitModuleTest() { context.loadDialect<LLVM::LLVMDialect>(); }

  OwningOpRef<ModuleOp> parse(StringRef text) {
    return parseSourceString<ModuleOp>(text, &context);
  }
  /// The symbols of each part.
  static std::vector<std::vector<std::string>>
  names(const std::vector<OwningOpRef<ModuleOp>> &parts) {
    std::vector<std::vector<std::string>> result;
    for (const OwningOpRef<ModuleOp> &part : parts) {
      EXPECT_TRUE(succeeded(verify(part.get())));
      result.emplace_back();
      for (auto symbol : part.get().getOps<SymbolOpInterface>())
        result.back().push_back(symbol.getName().str());
    }
    return result;
  }

  MLIRContext context;
};

constexpr StringLiteral kKernels = R"(
  llvm.mlir.global internal constant @table(7 : i64) : i64
  llvm.func internal @deep() -> i64 {
    %0 = llvm.mlir.addressof @table : !llvm.ptr
    %1 = llvm.load %0 : !llvm.ptr -> i64
    llvm.return %1 : i64
  }
  llvm.func internal @shared(%x: i64) -> i64 {
    %0 = llvm.call @deep() : () -> i64
    %1 = llvm.add %x, %0 : i64
    llvm.return %1 : i64
  }
  llvm.func @sinf(f32) -> f32
  llvm.func internal @nobody() { llvm.return }
  llvm.func @a(%x: i64) -> i64 {
    %0 = llvm.call @shared(%x) : (i64) -> i64
    llvm.return %0 : i64
  }
  llvm.func @b(%x: f32) -> f32 {
    %0 = llvm.call @sinf(%x) : (f32) -> f32
    llvm.return %0 : f32
  }
  llvm.func @c(%x: i64) -> i64 {
    %0 = llvm.call @shared(%x) : (i64) -> i64
    llvm.return %0 : i64
  }
)";

TEST_F(SplitModuleTest, PartsHaveWhatTheirFunctionsUse) {
  OwningOpRef<ModuleOp> module = parse(kKernels);
  EXPECT_THAT(names(splitModule(*module, 1)),
              ElementsAre(ElementsAre("table", "deep", "shared", "a"),
                          ElementsAre("sinf", "b"),
                          ElementsAre("table", "deep", "shared", "c")));
}

TEST_F(SplitModuleTest, NoPartHasFewerThanWanted) {
  OwningOpRef<ModuleOp> module = parse(kKernels);
  EXPECT_EQ(splitModule(*module, 2).size(), 1u);
  EXPECT_EQ(splitModule(*module, 3).size(), 1u);
  EXPECT_EQ(splitModule(*module, 100).size(), 1u);
  OwningOpRef<ModuleOp> empty = parse("");
  EXPECT_EQ(splitModule(*empty, 1).size(), 1u);
}

TEST_F(SplitModuleTest, WhatIsVisibleOutsideIsDefinedOnce) {
  OwningOpRef<ModuleOp> module = parse(R"(
    llvm.func @a() { llvm.return }
    llvm.func @b() { llvm.call @a() : () -> () llvm.return }
  )");
  EXPECT_THAT(names(splitModule(*module, 1)),
              ElementsAre(ElementsAre("a", "b")));
}

TEST_F(SplitModuleTest, WhatNobodyUsesIsInTheFirst) {
  OwningOpRef<ModuleOp> module = parse(R"(
    llvm.func @a() { llvm.return }
    llvm.func @b() { llvm.return }
    llvm.mlir.global external constant @text("for the caller")
  )");
  EXPECT_THAT(names(splitModule(*module, 1)),
              ElementsAre(ElementsAre("a", "text"), ElementsAre("b")));
}

TEST_F(SplitModuleTest, PartsKeepTheAttributesOfTheModule) {
  OwningOpRef<ModuleOp> module = parse(R"(
    module attributes {llvm.data_layout = "e"} {
      llvm.func @a() { llvm.return }
      llvm.func @b() { llvm.return }
    }
  )");
  for (const OwningOpRef<ModuleOp> &part : splitModule(*module, 1))
    EXPECT_TRUE(part.get()->hasAttr("llvm.data_layout"));
}

TEST_F(SplitModuleTest, ObjectsAreThoseOfOneThread) {
  CPUMachine machine;
  machine.triple = llvm::sys::getDefaultTargetTriple();
  OwningOpRef<ModuleOp> module = parse(kKernels);
  FailureOr<std::vector<std::string>> many = generateObjects(*module, machine);
  context.disableMultithreading();
  FailureOr<std::vector<std::string>> one = generateObjects(*module, machine);
  ASSERT_TRUE(succeeded(many) && succeeded(one));
  EXPECT_EQ(many->size(), 3u);
  EXPECT_EQ(*many, *one);
  std::string message;
  EXPECT_TRUE(succeeded(linkSharedObject(*many, message))) << message;
}

} // namespace
