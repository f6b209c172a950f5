//===- LinearFormTest.cpp - Access maps as coefficients -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {

class LinearFormOf : public ::testing::Test {
protected:
  LinearFormOf() {
    context.loadDialect<TraceaPipeDialect>();
    context.getDiagEngine().registerHandler([](Diagnostic &) {});
  }

  AffineMap parse(StringRef results) {
    Attribute attr = parseAttribute(
        ("affine_map<(a, b, c) -> (" + results + ")>").str(), &context);
    return cast<AffineMapAttr>(attr).getValue();
  }
  std::optional<LinearForm> get(StringRef expr) {
    return tryGetLinearForm(parse(expr).getResult(0), 3);
  }
  void expectForm(StringRef expr, ArrayRef<int64_t> coefficients,
                  int64_t constant) {
    SCOPED_TRACE(expr.str());
    std::optional<LinearForm> form = get(expr);
    ASSERT_TRUE(form);
    EXPECT_EQ(ArrayRef<int64_t>(form->coefficients), coefficients);
    EXPECT_EQ(form->constant, constant);
  }

  MLIRContext context;
};

TEST_F(LinearFormOf, Sums) {
  expectForm("0", {0, 0, 0}, 0);
  expectForm("-7", {0, 0, 0}, -7);
  expectForm("b", {0, 1, 0}, 0);
  expectForm("a * 32 + c", {32, 0, 1}, 0);
  expectForm("a - b * 2 + 5", {1, -2, 0}, 5);
  expectForm("(a + b * 3 - 1) * 4 + a", {5, 12, 0}, -4);
  expectForm("a - a", {0, 0, 0}, 0);
}

/// The form has the value of the expression at every point.
TEST_F(LinearFormOf, AgreesWithEvaluation) {
  for (StringRef text :
       {"a * 32 + c", "(a + b * 3 - 1) * -4 + c * 7", "c", "11"}) {
    SCOPED_TRACE(text.str());
    AffineMap map = parse(text);
    LinearForm form = getLinearForm(map.getResult(0), 3);
    for (int64_t a : {0, 1, 5})
      for (int64_t b : {0, 2, 9})
        for (int64_t c : {0, 3, 1000}) {
          Builder builder(&context);
          SmallVector<Attribute> results;
          ASSERT_TRUE(succeeded(map.constantFold({builder.getIndexAttr(a),
                                                  builder.getIndexAttr(b),
                                                  builder.getIndexAttr(c)},
                                                 results)));
          EXPECT_EQ(cast<IntegerAttr>(results[0]).getInt(),
                    form.constant + form.coefficients[0] * a +
                        form.coefficients[1] * b + form.coefficients[2] * c);
        }
  }
}

TEST_F(LinearFormOf, RefusesWhatIsNotLinear) {
  EXPECT_FALSE(get("a floordiv 2"));
  EXPECT_FALSE(get("a ceildiv 2"));
  EXPECT_FALSE(get("b mod 4 + c"));
  MLIRContext *ctx = &context;
  AffineExpr a = getAffineDimExpr(0, ctx), s = getAffineSymbolExpr(0, ctx);
  EXPECT_FALSE(tryGetLinearForm(a + s, 3));
  EXPECT_FALSE(tryGetLinearForm(a * s, 3));
  // A dimension that the map does not have.
  EXPECT_FALSE(tryGetLinearForm(getAffineDimExpr(3, ctx), 3));
}

TEST_F(LinearFormOf, RefusesOverflow) {
  EXPECT_TRUE(get("a * 9223372036854775807"));
  EXPECT_FALSE(get("(a * 9223372036854775807 + b) + (a * 2 + c)"));
  EXPECT_FALSE(get("(a * 4611686018427387904 + b) * 4 + c"));
}

class ViewStrides : public LinearFormOf {};

TEST_F(ViewStrides, CombineTheSourcesStrides) {
  Builder b(&context);
  auto type = MemRefType::get({4, 8, 16}, b.getF32Type());
  auto strides = [&](StringRef map) {
    return getViewStrides(type, parse(map));
  };
  using Strides = SmallVector<int64_t>;
  EXPECT_EQ(strides("a, b, c"), (Strides{128, 16, 1}));
  EXPECT_EQ(strides("0, c, b"), (Strides{0, 1, 16}));
  EXPECT_EQ(strides("a * 2, a + b, c * 3"), (Strides{272, 16, 3}));
  // A diagonal, backwards.
  EXPECT_EQ(strides("0, 7 - a, a + b"), (Strides{-15, 1, 0}));
}

TEST_F(ViewStrides, AreDynamicOnlyWhereTheSourcesAre) {
  Builder b(&context);
  auto type = MemRefType::get({4, ShapedType::kDynamic, 16}, b.getF32Type());
  EXPECT_EQ(getViewStrides(type, parse("0, b, c")),
            (SmallVector<int64_t>{0, 16, 1}));
  EXPECT_EQ(getViewStrides(type, parse("a, b, a + c")),
            (SmallVector<int64_t>{ShapedType::kDynamic, 16, 1}));
}

TEST_F(ViewStrides, NeedStrides) {
  auto type = cast<MemRefType>(parseType(
      "memref<4x8x2xf32, affine_map<(i, j, k) -> (i, j floordiv 2, k)>>",
      &context));
  EXPECT_FALSE(getViewStrides(type, parse("a, b, c")));
}

} // namespace
