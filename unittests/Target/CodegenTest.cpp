//===- CodegenTest.cpp - Objects and their linking ------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Target/CPU/Codegen.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/TargetParser/Host.h"

#include <gtest/gtest.h>
#include <thread>

using namespace mlir;
using namespace mlir::tracea;

namespace {

std::string compileObject(MLIRContext &context, const CPUMachine &machine) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      "llvm.func @f(%x: i64) -> i64 { llvm.return %x : i64 }", &context);
  FailureOr<std::string> object =
      generateCode(*module, machine, CPUOutput::Object);
  return succeeded(object) ? *object : std::string();
}

CPUMachine baseline() {
  CPUMachine machine;
  machine.triple = llvm::sys::getDefaultTargetTriple();
  return machine;
}

TEST(CodegenTest, LinksFromSeveralThreads) {
  MLIRContext context;
  context.loadDialect<LLVM::LLVMDialect>();
  std::string object = compileObject(context, baseline());
  ASSERT_FALSE(object.empty());
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      std::string message;
      FailureOr<std::vector<uint8_t>> linked =
          linkSharedObject({object}, message);
      good += succeeded(linked) && linked->size() > 64 && (*linked)[1] == 'E';
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(good, 4);
}

TEST(CodegenTest, LinkerErrorsAreReturned) {
  std::string message;
  EXPECT_TRUE(failed(linkSharedObject({"no object at all"}, message)));
  EXPECT_NE(message.find("kernels0.o"), std::string::npos) << message;
}

TEST(CodegenTest, UnknownTargetsAreErrors) {
  MLIRContext context;
  context.loadDialect<LLVM::LLVMDialect>();
  std::string errors;
  context.getDiagEngine().registerHandler(
      [&](Diagnostic &diag) { errors += diag.str(); });
  CPUMachine machine;
  machine.triple = "nothing-unknown-none";
  EXPECT_TRUE(compileObject(context, machine).empty());
  EXPECT_NE(errors.find("nothing-unknown-none"), std::string::npos) << errors;
}

} // namespace
