//===- SourceLimitsTest.cpp - Text that goes too deep ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Compiler/SourceLimits.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Builders.h"
#include "tracea/Compiler/Compiler.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tracea::compiler;
using ::testing::HasSubstr;

/// `count` times `piece`, with its number in place of each `@`.
static std::string repeat(const std::string &piece, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    for (char c : piece)
      text += c == '@' ? std::to_string(i) : std::string(1, c);
  return text;
}

static std::string place(const std::string &text) {
  std::optional<DeepNesting> deep = findDeepNesting(text);
  return deep ? std::to_string(deep->line) + ":" + std::to_string(deep->column)
              : "none";
}

TEST(SourceLimits, BracketsOfAllKinds) {
  for (const char *open : {"(", "[", "{", "<"}) {
    EXPECT_EQ(place(repeat(open, 500)), "none");
    EXPECT_EQ(place(repeat(open, 501)), "1:501");
  }
  EXPECT_EQ(place(repeat("({\n", 251)), "251:1");
  EXPECT_EQ(place(repeat("()[]{}<>", 10000)), "none");
  EXPECT_EQ(place(repeat("(", 499) + repeat("()", 1000)), "none");
}

TEST(SourceLimits, WhatIsNoBracket) {
  EXPECT_EQ(place("\"" + repeat("(", 1000) + "\""), "none");
  EXPECT_EQ(place("\"\\\"" + repeat("(", 1000) + "\""), "none");
  EXPECT_EQ(place("// " + repeat("(", 1000) + "\n"), "none");
  EXPECT_EQ(place(repeat("(a) -> (b)\n", 1000)), "none");
  EXPECT_EQ(place(repeat("a <= b\n", 1000)), "none");
  // What is closed too often hides nothing of what follows.
  EXPECT_EQ(place(repeat(")", 1000) + repeat("(", 501)), "1:1501");
  // A string ends with its line, as it does for MLIR's lexer.
  EXPECT_EQ(place("\"\n" + repeat("(", 501)), "2:501");
}

TEST(SourceLimits, OperatorsOfAffineExpressions) {
  for (const char *operation :
       {" + d@", " - d@", " * d@", " floordiv @", " ceildiv @", " mod @"}) {
    EXPECT_EQ(place("(d" + repeat(operation, 499) + ")"), "none") << operation;
    EXPECT_NE(place("(d" + repeat(operation, 500) + ")"), "none") << operation;
    EXPECT_NE(place("[%i" + repeat(operation, 500) + "]"), "none") << operation;
  }
  // Each expression of a list counts by itself, and brackets beside it.
  EXPECT_EQ(place("(d" + repeat("+ 1 + 2 + 3, ", 1000) + ")"), "none");
  EXPECT_NE(place("(" + repeat("1 + (", 250) + "1"), "none");
  EXPECT_EQ(place("(" + repeat("1 + (2 + 3) ", 240) + ")"), "none");
  // Names are none, and outside of lists these are signs.
  EXPECT_EQ(place("(" + repeat("%mod ^floordiv linalg.mod ", 1000) + ")"),
            "none");
  EXPECT_EQ(place("{" + repeat("arith.constant -1 : index\n", 1000) + "}"),
            "none");
  EXPECT_NE(place(repeat("- ", 501)), "none");
}

TEST(SourceLimits, AliasesCountForWhatTheyStandFor) {
  // MLIR names an alias before it is used.
  std::string chain = "#a0 = [1]\n" + repeat("#b@ = [#a@, #b@]\n", 1);
  EXPECT_EQ(place(chain), "none");
  auto nested = [](int count) {
    std::string text = "!t0 = tuple<i32>\n";
    for (int i = 1; i < count; ++i)
      text += "!t" + std::to_string(i) + " = tuple\n<!t" +
              std::to_string(i - 1) + ">\n";
    return text;
  };
  EXPECT_EQ(place(nested(500)), "none");
  EXPECT_EQ(place(nested(501)), "1001:2");
  // An alias in a deep place.
  EXPECT_EQ(place(nested(250) + "#e = 1\n" + repeat("(", 250) + "!t249"),
            "none");
  EXPECT_NE(place(nested(250) + "#e = 1\n" + repeat("(", 251) + "!t249"),
            "none");
  // Many aliases side by side are not deep, and dialects' own names are none.
  EXPECT_EQ(place(repeat("#m@ = affine_map<(d0) -> (d0 + @)>\n", 5000)),
            "none");
  EXPECT_EQ(place(repeat("#loc@ = loc(\"f\":@:1)\n", 5000)), "none");
  EXPECT_EQ(place(repeat("#tracea.x @\n", 5000)), "none");
}

TEST(SourceLimits, TheParserRefusesWithAPlace) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  std::string said;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        llvm::raw_string_ostream(said)
            << diagnostic.getLocation() << ": " << diagnostic.str();
      });
  EXPECT_FALSE(parseModule(repeat("module {\n", 100000), context, "deep.mlir"));
  EXPECT_THAT(said, HasSubstr("\"deep.mlir\":501:8"));
  EXPECT_THAT(said, HasSubstr("expected at most 500 nested"));
  EXPECT_TRUE(parseModule(repeat("module {\n", 200) + repeat("}", 200), context,
                          "fine.mlir"));
}

/// Bytecode of modules within modules, or of arrays within arrays. The writer
/// recurses, so it gets a stack of its own.
static std::string nestedBytecode(int regions, int arrays) {
  std::string bytes;
  llvm::thread writer(std::optional<unsigned>(1u << 30), [&] {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    mlir::OpBuilder builder(&context);
    mlir::Location location = builder.getUnknownLoc();
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(location);
    mlir::ModuleOp inner = *module;
    for (int i = 0; i < regions; ++i) {
      builder.setInsertionPointToStart(inner.getBody());
      inner = mlir::ModuleOp::create(builder, location);
    }
    mlir::Attribute array = builder.getUnitAttr();
    for (int i = 0; i < arrays; ++i)
      array = builder.getArrayAttr({array});
    inner->setAttr("test.array", array);
    llvm::raw_string_ostream stream(bytes);
    EXPECT_TRUE(mlir::succeeded(mlir::writeBytecodeToFile(*module, stream)));
  });
  writer.join();
  return bytes;
}

TEST(SourceLimits, BytecodeNestsNoDeeperThanText) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  context.allowUnregisteredDialects();
  auto errorOf = [&](int regions, int arrays) {
    std::string said;
    mlir::ScopedDiagnosticHandler handler(
        &context,
        [&](mlir::Diagnostic &diagnostic) { said += diagnostic.str(); });
    bool parsed = static_cast<bool>(
        parseModule(nestedBytecode(regions, arrays), context));
    EXPECT_EQ(parsed, said.empty());
    return said;
  };
  EXPECT_EQ(errorOf(0, 0), "");
  EXPECT_EQ(errorOf(400, 400), "");
  EXPECT_THAT(errorOf(5000, 1),
              HasSubstr("at most 500 nested regions in bytecode, found more at "
                        "an operation 'builtin.module'"));
  EXPECT_THAT(errorOf(1, 2000),
              HasSubstr("at most 500 nested attributes, types or locations in "
                        "bytecode"));
}

TEST(SourceLimits, TextInBytecodeKeepsToThem) {
  // As the bytecode of `affine_map` holds it.
  std::string bytes("ML\xefR\x0dwriter\0", 12);
  EXPECT_FALSE(findDeepNesting(bytes + "(d0 + 1)" + std::string(1, '\0')));
  EXPECT_TRUE(findDeepNesting(bytes + "(d" + repeat(" + d@", 500) + ")"));
  // Bytes of tensors are no text.
  EXPECT_FALSE(findDeepNesting(bytes + repeat(std::string("((\0", 3), 1000)));
}
