//===- SymbolicEvaluatorTest.cpp - Index code as expressions --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each case is a function of two extents that is evaluated both ways: here, and
// as an expression of the runtime.

#include "tracea/Target/Program/SymbolicEvaluator.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "tracea/Runtime/Expr.h"

#include <gtest/gtest.h>

using namespace mlir;
namespace rt = ::tracea::runtime;

namespace {

class SymbolicEvaluatorTest : public ::testing::Test {
protected:
  SymbolicEvaluatorTest() {
    context.loadDialect<affine::AffineDialect, arith::ArithDialect,
                        func::FuncDialect, memref::MemRefDialect>();
    context.getDiagEngine().registerHandler(
        [this](Diagnostic &diag) { errors += diag.str() + "\n"; });
  }

  /// Parses a function of indices %a and %b and one memref %m of shape a x b.
  func::FuncOp parse(const std::string &body) {
    module = parseSourceString<ModuleOp>(
        "func.func @f(%a: index, %b: index, %m: memref<?x?xf32>) {\n" + body +
            "\nreturn\n}",
        &context);
    EXPECT_TRUE(module) << errors;
    if (!module)
      return nullptr;
    return *module->getOps<func::FuncOp>().begin();
  }

  /// The last value that `body` defines, for extents a and b.
  std::optional<int64_t> evaluate(const std::string &body, int64_t a,
                                  int64_t b) {
    func::FuncOp function = parse(body);
    if (!function)
      return std::nullopt;
    std::vector<rt::Expr> nodes;
    rt::ExprBuilder builder(nodes);
    mlir::tracea::SymbolicEvaluator evaluator(
        nodes, [this](int64_t expr, std::string message) {
          checks.emplace_back(expr, std::move(message));
        });
    evaluator.bind(function.getArgument(0), builder.dim(0, 0));
    evaluator.bind(function.getArgument(1), builder.dim(0, 1));
    int64_t sizes[] = {builder.dim(0, 0), builder.dim(0, 1)};
    evaluator.bind(function.getArgument(2),
                   builder.rowMajorView(0, rt::ElementType::F32, {sizes, 2}));
    Operation *last = function.getBody().front().getTerminator()->getPrevNode();
    FailureOr<int64_t> expr = evaluator.scalar(last->getResults().back());
    if (failed(expr))
      return std::nullopt;
    std::vector<int64_t> shape = {a, b};
    const std::vector<int64_t> *shapes[] = {&shape};
    values.evaluate({nodes.data(), nodes.size()}, {shapes, 1});
    EXPECT_TRUE(values.defined(*expr));
    return values[*expr];
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string errors;
  std::vector<std::pair<int64_t, std::string>> checks;
  rt::ExprValues values;
};

TEST_F(SymbolicEvaluatorTest, Arithmetic) {
  struct Case {
    const char *body;
    int64_t a, b, expected;
  } cases[] = {
      {"%r = arith.addi %a, %b : index", 7, 3, 10},
      {"%r = arith.subi %b, %a : index", 7, 3, -4},
      {"%r = arith.muli %a, %b : index", 7, 3, 21},
      {"%r = arith.divui %a, %b : index", 7, 3, 2},
      {"%d = arith.subi %b, %a : index\n%r = arith.divsi %d, %b : index", 7, 3,
       -1},
      {"%d = arith.subi %b, %a : index\n%r = arith.divsi %a, %d : index", 7, 3,
       -1},
      {"%d = arith.subi %b, %a : index\n%r = arith.floordivsi %d, %b : index",
       7, 3, -2},
      {"%d = arith.subi %b, %a : index\n%r = arith.remsi %d, %b : index", 7, 3,
       -1},
      {"%r = arith.ceildivsi %a, %b : index", 7, 3, 3},
      {"%r = arith.remui %a, %b : index", 7, 3, 1},
      {"%r = arith.minsi %a, %b : index", 7, 3, 3},
      {"%r = arith.maxui %a, %b : index", 7, 3, 7},
      {"%c = arith.cmpi sgt, %a, %b : index\n%r = arith.select %c, %b, %a : "
       "index",
       7, 3, 3},
      {"%c = arith.cmpi uge, %b, %a : index\n%r = arith.select %c, %b, %a : "
       "index",
       7, 3, 7},
      {"%c = arith.cmpi ne, %a, %b : index\n%t = arith.constant true\n%d = "
       "arith.xori %c, %t : i1\n%r = arith.extui %d : i1 to i32",
       7, 3, 0},
      {"%c = arith.cmpi slt, %b, %a : index\n%r = arith.extsi %c : i1 to i64",
       7, 3, -1},
      {"%c2 = arith.constant 2 : index\n%r = arith.shli %a, %c2 : index", 7, 3,
       28},
      {"%r = arith.index_cast %a : index to i64", 7, 3, 7},
      {"%r = affine.apply affine_map<(d0)[s0] -> (d0 * 2 + s0 floordiv 2 - d0 "
       "mod 4 + d0 ceildiv 2)>(%a)[%b]",
       7, 3, 16},
      {"%r = affine.min affine_map<(d0, d1) -> (d0 - 5, d1, 9)>(%a, %b)", 7, 3,
       2},
      {"%r = affine.max affine_map<(d0, d1) -> (d0 - 5, d1, 4)>(%a, %b)", 7, 3,
       4},
  };
  for (const Case &test : cases) {
    std::optional<int64_t> value = evaluate(test.body, test.a, test.b);
    ASSERT_TRUE(value) << test.body << "\n" << errors;
    EXPECT_EQ(*value, test.expected) << test.body;
  }
}

TEST_F(SymbolicEvaluatorTest, Views) {
  const char *offset = R"(
    %s = memref.subview %m[%b, 1] [2, %b] [2, 3] : memref<?x?xf32> to memref<2x?xf32, strided<[?, 3], offset: ?>>
    %t = memref.transpose %s (i, j) -> (j, i) : memref<2x?xf32, strided<[?, 3], offset: ?>> to memref<?x2xf32, strided<[3, ?], offset: ?>>
    %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %t : memref<?x2xf32, strided<[3, ?], offset: ?>> -> memref<f32>, index, index, index, index, index
    %r = arith.addi %VALUE, %ZERO : index)";
  auto value = [&](const std::string &name) {
    std::string body =
        "%zero = arith.constant 0 : index\n" + std::string(offset);
    body.replace(body.find("%VALUE"), 6, name);
    body.replace(body.find("%ZERO"), 5, "%zero");
    return evaluate(body, 100, 7).value_or(-1000);
  };
  EXPECT_EQ(value("%offset"), 7 * 7 + 1);
  EXPECT_EQ(value("%sizes#0"), 7);
  EXPECT_EQ(value("%sizes#1"), 2);
  EXPECT_EQ(value("%strides#0"), 3);
  EXPECT_EQ(value("%strides#1"), 14);
}

TEST_F(SymbolicEvaluatorTest, Reshapes) {
  EXPECT_EQ(evaluate(R"(
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %h = arith.divui %a, %c4 : index
    %e = memref.expand_shape %m [[0, 1], [2]] output_shape [%h, 4, %b] : memref<?x?xf32> into memref<?x4x?xf32>
    %c = memref.collapse_shape %e [[0], [1, 2]] : memref<?x4x?xf32> into memref<?x?xf32>
    %r = memref.dim %c, %c1 : memref<?x?xf32>)",
                     8, 5),
            20);
  // What divides only for some shapes is a condition on the run.
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_TRUE(values.defined(checks[0].first));
  EXPECT_NE(values[checks[0].first], 0);
  EXPECT_NE(checks[0].second.find("does not split"), std::string::npos);
}

TEST_F(SymbolicEvaluatorTest, SlicesAreChecked) {
  const char *body = R"(
    %c0 = arith.constant 0 : index
    %s = memref.subview %m[%b, 0] [4, 1] [1, 1] : memref<?x?xf32> to memref<4x1xf32, strided<[?, 1], offset: ?>>
    %d = memref.cast %s : memref<4x1xf32, strided<[?, 1], offset: ?>> to memref<?x1xf32, strided<[?, 1], offset: ?>>
    %r = memref.dim %d, %c0 : memref<?x1xf32, strided<[?, 1], offset: ?>>)";
  for (auto [a, b, fits] :
       {std::tuple(10, 6, true), std::tuple(10, 7, false)}) {
    checks.clear();
    EXPECT_EQ(evaluate(body, a, b), 4);
    bool holds = true;
    for (auto &[expr, message] : checks)
      holds &= values[expr] != 0;
    EXPECT_EQ(holds, fits) << a << " " << b;
  }
}

TEST_F(SymbolicEvaluatorTest, EqualExpressionsNeedNoCheck) {
  const char *body = R"(
    %c0 = arith.constant 0 : index
    %x = memref.dim %m, %c0 : memref<?x?xf32>
    %r = arith.cmpi eq, %x, %a : index)";
  EXPECT_EQ(evaluate(body, 3, 4), 1);
}

TEST_F(SymbolicEvaluatorTest, WhatHasNoExpression) {
  EXPECT_FALSE(evaluate(R"(
    %l = memref.load %m[%a, %b] : memref<?x?xf32>
    %r = arith.fptosi %l : f32 to i64)",
                        3, 4));
  EXPECT_NE(errors.find("'arith.fptosi' cannot be expressed in a program"),
            std::string::npos)
      << errors;
  errors.clear();
  EXPECT_FALSE(evaluate("%i = arith.index_cast %a : index to i64\n%c = "
                        "arith.constant 3 : i64\n%r = arith.andi %i, %c : i64",
                        3, 4));
  EXPECT_NE(errors.find("'arith.andi'"), std::string::npos) << errors;
}

} // namespace
