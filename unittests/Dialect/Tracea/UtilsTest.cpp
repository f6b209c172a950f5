//===- UtilsTest.cpp - Tests of the helpers for semantic operations -------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"
#include "gtest/gtest.h"
#include <limits>

using namespace mlir;
using namespace mlir::tracea;

namespace {

class UtilsTest : public ::testing::Test {
protected:
  UtilsTest() : builder(&context) {
    context.loadDialect<TraceaDialect, func::FuncDialect>();
  }

  /// Parses a function and returns its only gemm.
  GemmOp parseGemm(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    GemmOp gemm;
    if (module)
      module->walk([&](GemmOp op) { gemm = op; });
    return gemm;
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
};

/// Output positions counted one by one.
int64_t countPositions(int64_t extent, int64_t low, int64_t high, int64_t taps,
                       int64_t stride, int64_t dilation) {
  int64_t count = 0;
  for (int64_t begin = -low; begin + (taps - 1) * dilation < extent + high;
       begin += stride)
    ++count;
  return count;
}

TEST_F(UtilsTest, ConvolvedExtentCountsPositions) {
  for (int64_t extent = 0; extent < 9; ++extent)
    for (int64_t low = 0; low < 3; ++low)
      for (int64_t high = 0; high < 3; ++high)
        for (int64_t taps = 1; taps < 5; ++taps)
          for (int64_t stride = 1; stride < 4; ++stride)
            for (int64_t dilation = 1; dilation < 4; ++dilation)
              EXPECT_EQ(
                  getConvolvedExtent(extent, low, high, taps, stride, dilation),
                  countPositions(extent, low, high, taps, stride, dilation))
                  << extent << " " << low << " " << high << " " << taps << " "
                  << stride << " " << dilation;
}

TEST_F(UtilsTest, ConvolvedExtentReportsOverflow) {
  int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(getConvolvedExtent(most, 0, 0, 1, 1, 1), most);
  EXPECT_FALSE(getConvolvedExtent(most, 1, 0, 1, 1, 1).has_value());
  EXPECT_FALSE(getConvolvedExtent(most, 0, 1, 1, 1, 1).has_value());
  EXPECT_FALSE(getConvolvedExtent(1, 0, 0, most, 1, 2).has_value());
}

TEST_F(UtilsTest, Accumulators) {
  Type f64 = builder.getF64Type(), f32 = builder.getF32Type();
  Type f16 = builder.getF16Type(), bf16 = builder.getBF16Type();
  Type i8 = builder.getI8Type(), i32 = builder.getI32Type();
  EXPECT_EQ(getDefaultAccumulatorType(f64), f64);
  for (Type type : {f32, f16, bf16}) {
    EXPECT_EQ(getDefaultAccumulatorType(type), f32);
    EXPECT_TRUE(isValidAccumulator(type, f32));
    EXPECT_TRUE(isValidAccumulator(type, f64));
    EXPECT_FALSE(isValidAccumulator(type, f16));
    EXPECT_FALSE(isValidAccumulator(type, i32));
  }
  EXPECT_EQ(getDefaultAccumulatorType(i8), i32);
  EXPECT_TRUE(isValidAccumulator(i8, i32));
  EXPECT_FALSE(isValidAccumulator(i8, f32));
  EXPECT_FALSE(isValidAccumulator(i32, i32));
  EXPECT_FALSE(isValidAccumulator(f64, f32));
}

TEST_F(UtilsTest, ConversionsAreThosePromised) {
  Type types[] = {builder.getF64Type(), builder.getF32Type(),
                  builder.getF16Type(), builder.getBF16Type(),
                  builder.getI8Type(),  builder.getI32Type(),
                  builder.getI64Type(), builder.getIndexType()};
  Location loc = builder.getUnknownLoc();
  unsigned conversions = 0;
  for (Type from : types)
    for (Type to : types) {
      bool narrows = isa<IntegerType>(from) && isa<IntegerType>(to) &&
                     to.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth();
      bool expected =
          from == to || (!from.isIndex() && !to.isIndex() && !narrows &&
                         !(isa<FloatType>(from) && isa<IntegerType>(to)));
      EXPECT_EQ(isImplicitlyConvertible(from, to), expected);
      if (!expected)
        continue;
      ++conversions;
      // Every promised conversion is built and verifies.
      Block block;
      Value value = block.addArgument(from, loc);
      builder.setInsertionPointToEnd(&block);
      EXPECT_EQ(convertScalar(builder, loc, value, to).getType(), to);
      for (Operation &op : block)
        EXPECT_TRUE(succeeded(verify(&op)));
    }
  EXPECT_EQ(conversions, 16u + 12u + 6u + 1u);
}

constexpr const char *kGemm = R"mlir(
func.func @f(%a: tensor<4x8xf16>, %b: tensor<8x6xf16>, %d: tensor<4x6xf16>,
             %c: tensor<6xf32>) -> tensor<4x6xf16> {
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf16>, tensor<8x6xf16>)
                   outs(%d : tensor<4x6xf16>)
  return %0 : tensor<4x6xf16>
})mlir";

TEST_F(UtilsTest, EpilogueIsCreatedExtendedAndInlined) {
  GemmOp gemm = parseGemm(kGemm);
  ASSERT_TRUE(gemm);
  EXPECT_FALSE(hasEpilogue(gemm));
  Block &block = getOrCreateEpilogue(builder, gemm);
  EXPECT_TRUE(hasEpilogue(gemm));
  EXPECT_EQ(&getOrCreateEpilogue(builder, gemm), &block);
  EXPECT_TRUE(succeeded(verify(gemm)));

  // acc -> acc + c, before the conversion.
  AffineMap map = AffineMap::get(2, 0, builder.getAffineDimExpr(1));
  Value c = gemm->getParentOfType<func::FuncOp>().getArgument(3);
  BlockArgument argument = appendEpilogueExtra(gemm, c, map);
  EXPECT_EQ(argument.getType(), builder.getF32Type());
  EXPECT_EQ(getEpilogueMap(gemm, 0), map);
  EXPECT_EQ(gemm.getInit(), gemm->getOperands().back());
  Operation *conversion = &block.front();
  builder.setInsertionPoint(conversion);
  Value sum = arith::AddFOp::create(builder, gemm.getLoc(),
                                    block.getArgument(0), argument);
  conversion->setOperand(0, sum);
  EXPECT_TRUE(succeeded(verify(gemm)));

  builder.setInsertionPoint(gemm);
  Value acc = arith::ConstantOp::create(builder, gemm.getLoc(),
                                        builder.getF32FloatAttr(1.0f));
  Value inlined =
      inlineEpilogue(builder, gemm.getLoc(), gemm, acc, {acc}).front();
  EXPECT_EQ(inlined.getType(), builder.getF16Type());
  arith::TruncFOp truncation = inlined.getDefiningOp<arith::TruncFOp>();
  ASSERT_TRUE(truncation);
  arith::AddFOp addition = truncation.getIn().getDefiningOp<arith::AddFOp>();
  ASSERT_TRUE(addition);
  EXPECT_EQ(addition.getLhs(), acc);
  EXPECT_EQ(addition.getRhs(), acc);
  EXPECT_EQ(addition->getBlock(), gemm->getBlock());
  EXPECT_TRUE(succeeded(verify(*module)));
}

TEST_F(UtilsTest, NoEpilogueInlinesTheConversion) {
  GemmOp gemm = parseGemm(kGemm);
  ASSERT_TRUE(gemm);
  builder.setInsertionPoint(gemm);
  Value acc = arith::ConstantOp::create(builder, gemm.getLoc(),
                                        builder.getF32FloatAttr(1.0f));
  Value inlined = inlineEpilogue(builder, gemm.getLoc(), gemm, acc, {}).front();
  arith::TruncFOp truncation = inlined.getDefiningOp<arith::TruncFOp>();
  ASSERT_TRUE(truncation);
  EXPECT_EQ(truncation.getIn(), acc);
}

TEST_F(UtilsTest, ExtentsComeFromWhoeverKnows) {
  GemmOp gemm = parseGemm(R"mlir(
func.func @f(%a: tensor<2x?x?xf32>, %b: tensor<7x9xf32>, %d: tensor<2x5x?xf32>) {
  %0 = tracea.gemm transpose_lhs ins(%a, %b : tensor<2x?x?xf32>, tensor<7x9xf32>)
                   outs(%d : tensor<2x5x?xf32>)
  return
})mlir");
  ASSERT_TRUE(gemm);
  EXPECT_EQ(gemm.getBatchRank(), 1);
  EXPECT_EQ(gemm.getM(), 5);
  EXPECT_EQ(gemm.getN(), 9);
  EXPECT_EQ(gemm.getK(), 7);
}

TEST_F(UtilsTest, AttentionScale) {
  module = parseSourceString<ModuleOp>(R"mlir(
func.func @f(%q: tensor<1x1x4x16xf32>, %k: tensor<1x1x4x?xf32>) {
  %0 = tracea.attention ins(%q, %q, %q : tensor<1x1x4x16xf32>, tensor<1x1x4x16xf32>, tensor<1x1x4x16xf32>) outs(%q : tensor<1x1x4x16xf32>) -> tensor<1x1x4x16xf32>
  %1 = tracea.attention scale 3.0 ins(%q, %q, %q : tensor<1x1x4x16xf32>, tensor<1x1x4x16xf32>, tensor<1x1x4x16xf32>) outs(%q : tensor<1x1x4x16xf32>) -> tensor<1x1x4x16xf32>
  %2 = tracea.attention ins(%k, %k, %k : tensor<1x1x4x?xf32>, tensor<1x1x4x?xf32>, tensor<1x1x4x?xf32>) outs(%q : tensor<1x1x4x16xf32>) -> tensor<1x1x4x16xf32>
  return
})mlir",
                                       &context);
  ASSERT_TRUE(module);
  SmallVector<AttentionOp> ops;
  module->walk([&](AttentionOp op) { ops.push_back(op); });
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_EQ(ops[0].getStaticScale(), 0.25);
  EXPECT_EQ(ops[1].getStaticScale(), 3.0);
  EXPECT_FALSE(ops[2].getStaticScale().has_value());
}

} // namespace
