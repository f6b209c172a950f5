//===- TilingTest.cpp - Tiles at static places ----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops give tiles at dynamic places, so that what needs a static place, the
// pads of a convolution and the groups of heads, is tested here: each tile must
// read the very elements that the whole operation reads.

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::tracea;

namespace {

class TilingTest : public ::testing::Test {
protected:
  TilingTest() : builder(&context) {
    context.loadDialect<TraceaDialect, func::FuncDialect>();
  }

  template <typename OpTy>
  OpTy parse(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    OpTy found;
    if (module)
      module->walk([&](OpTy op) { found = op; });
    return found;
  }

  SmallVector<OpFoldResult> getAttrs(ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(&context, values);
  }

  /// A slice, or the value itself where none was taken.
  static int64_t getOffset(Value value, unsigned dim) {
    tensor::ExtractSliceOp slice =
        value.getDefiningOp<tensor::ExtractSliceOp>();
    return slice ? slice.getStaticOffset(dim) : 0;
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
};

constexpr int64_t kOutside = -1;

/// The row of the image that output `p` reads at tap `r`.
int64_t getRow(int64_t p, int64_t r, int64_t stride, int64_t dilation,
               int64_t padLow, int64_t extent) {
  int64_t row = p * stride + r * dilation - padLow;
  return row < 0 || row >= extent ? kOutside : row;
}

TEST_F(TilingTest, PaddedConvolutionReadsTheSameRows) {
  constexpr int64_t extent = 7, taps = 3;
  unsigned tested = 0;
  for (int64_t low = 0; low <= 5; ++low)
    for (int64_t high : {0, 1, 4})
      for (int64_t stride : {1, 2, 3})
        for (int64_t dilation : {1, 2}) {
          int64_t out =
              *getConvolvedExtent(extent, low, high, taps, stride, dilation);
          std::string text;
          llvm::raw_string_ostream(text)
              << "func.func @f(%x: tensor<1x" << extent << "x5x2xf32>, "
              << "%w: tensor<4x" << taps << "x1x2xf32>, %d: tensor<1x" << out
              << "x5x4xf32>) {\n  %0 = tracea.conv2d layout nhwc filter krsc "
              << "strides [" << stride << ", 1] pads [" << low << ", 0, "
              << high << ", 0] dilations [" << dilation
              << ", 1] ins(%x, %w : tensor<1x" << extent
              << "x5x2xf32>, tensor<4x" << taps
              << "x1x2xf32>) outs(%d : tensor<1x" << out
              << "x5x4xf32>)\n  return\n}";
          Conv2DOp conv = parse<Conv2DOp>(text);
          ASSERT_TRUE(conv) << text;
          builder.setInsertionPoint(conv);
          for (int64_t begin = 0; begin < out; ++begin)
            for (int64_t size = 0; begin + size <= out; ++size) {
              FailureOr<TilingResult> tile = conv.getTiledImplementation(
                  builder, getAttrs({0, begin, 0, 0, 0, 0, 0}),
                  getAttrs({1, size, 5, 4, 2, taps, 1}));
              ASSERT_TRUE(succeeded(tile));
              Conv2DOp tiled = cast<Conv2DOp>(tile->tiledOps.front());
              // The verifier checks the tile's extents against its pads.
              ASSERT_TRUE(succeeded(verify(tiled)))
                  << text << " tile " << begin << " + " << size;
              int64_t offset = getOffset(tiled.getImage(), 1);
              int64_t tileExtent =
                  cast<RankedTensorType>(tiled.getImage().getType())
                      .getDimSize(1);
              for (int64_t p = 0; p < size; ++p)
                for (int64_t r = 0; r < taps; ++r) {
                  int64_t row = getRow(p, r, stride, dilation,
                                       tiled.getPads()[0], tileExtent);
                  EXPECT_EQ(row == kOutside ? row : row + offset,
                            getRow(begin + p, r, stride, dilation, low, extent))
                      << text << " tile " << begin << " + " << size;
                }
              ++tested;
            }
        }
  EXPECT_GT(tested, 1000u);
}

TEST_F(TilingTest, TilesOfWholeGroups) {
  Conv2DOp conv = parse<Conv2DOp>(R"mlir(
func.func @f(%x: tensor<1x5x5x12xf32>, %w: tensor<8x3x3x3xf32>, %d: tensor<1x3x3x8xf32>) {
  %0 = tracea.conv2d layout nhwc filter krsc groups 4
       ins(%x, %w : tensor<1x5x5x12xf32>, tensor<8x3x3x3xf32>) outs(%d : tensor<1x3x3x8xf32>)
  return
})mlir");
  ASSERT_TRUE(conv);
  builder.setInsertionPoint(conv);
  FailureOr<TilingResult> tile =
      conv.getTiledImplementation(builder, getAttrs({0, 0, 0, 2, 0, 0, 0}),
                                  getAttrs({1, 3, 3, 4, 3, 3, 3}));
  ASSERT_TRUE(succeeded(tile));
  Conv2DOp tiled = cast<Conv2DOp>(tile->tiledOps.front());
  EXPECT_TRUE(succeeded(verify(tiled)));
  EXPECT_EQ(tiled.getGroups(), 2u);
  // Output channels 2 to 5 are groups 1 and 2, which read channels 3 to 8.
  EXPECT_EQ(getOffset(tiled.getImage(), 3), 3);
  EXPECT_EQ(cast<RankedTensorType>(tiled.getImage().getType()).getDimSize(3),
            6);
  EXPECT_EQ(getOffset(tiled.getFilter(), 0), 2);

  // A tile that begins within a group is refused.
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  EXPECT_TRUE(failed(
      conv.getTiledImplementation(builder, getAttrs({0, 0, 0, 1, 0, 0, 0}),
                                  getAttrs({1, 3, 3, 4, 3, 3, 3}))));
}

TEST_F(TilingTest, TilesOfWholeGroupsOfHeads) {
  AttentionOp attention = parse<AttentionOp>(R"mlir(
func.func @f(%q: tensor<1x8x4x16xf32>, %k: tensor<1x4x6x16xf32>) {
  %0 = tracea.attention ins(%q, %k, %k : tensor<1x8x4x16xf32>, tensor<1x4x6x16xf32>, tensor<1x4x6x16xf32>)
       outs(%q : tensor<1x8x4x16xf32>) -> tensor<1x8x4x16xf32>
  return
})mlir");
  ASSERT_TRUE(attention);
  builder.setInsertionPoint(attention);
  FailureOr<TilingResult> tile = attention.getTiledImplementation(
      builder, getAttrs({0, 2, 0, 0, 0, 0}), getAttrs({1, 4, 4, 16, 6, 16}));
  ASSERT_TRUE(succeeded(tile));
  AttentionOp tiled = cast<AttentionOp>(tile->tiledOps.front());
  EXPECT_TRUE(succeeded(verify(tiled)));
  EXPECT_EQ(getOffset(tiled.getQuery(), 1), 2);
  EXPECT_EQ(getOffset(tiled.getKey(), 1), 1);
  EXPECT_EQ(getOffset(tiled.getValue(), 1), 1);
  EXPECT_EQ(cast<RankedTensorType>(tiled.getKey().getType()).getDimSize(1), 2);

  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  EXPECT_TRUE(failed(attention.getTiledImplementation(
      builder, getAttrs({0, 1, 0, 0, 0, 0}), getAttrs({1, 4, 4, 16, 6, 16}))));
}

TEST_F(TilingTest, GradientsOfKeysReadTheQueryHeadsThatShareThem) {
  auto grad = parse<AttentionKVGradOp>(R"mlir(
func.func @f(%q: tensor<1x8x6x16xf32>, %k: tensor<1x4x9x16xf32>, %v: tensor<1x4x9x8xf32>, %g: tensor<1x8x6x8xf32>, %l: tensor<1x8x6xf32>) {
  %0:2 = tracea.attention_kvgrad ins(%q, %k, %v, %g, %l, %l : tensor<1x8x6x16xf32>, tensor<1x4x9x16xf32>, tensor<1x4x9x8xf32>, tensor<1x8x6x8xf32>, tensor<1x8x6xf32>, tensor<1x8x6xf32>)
       outs(%k, %v : tensor<1x4x9x16xf32>, tensor<1x4x9x8xf32>) -> tensor<1x4x9x16xf32>, tensor<1x4x9x8xf32>
  return
})mlir");
  ASSERT_TRUE(grad);
  builder.setInsertionPoint(grad);
  FailureOr<TilingResult> tile = grad.generateResultTileValue(
      builder, 1, getAttrs({0, 1, 3, 0}), getAttrs({1, 2, 4, 8}));
  ASSERT_TRUE(succeeded(tile));
  auto tiled = cast<AttentionKVGradOp>(tile->tiledOps.front());
  EXPECT_TRUE(succeeded(verify(tiled)));
  EXPECT_EQ(getOffset(tiled.getQuery(), 1), 2);
  EXPECT_EQ(cast<RankedTensorType>(tiled.getQuery().getType()).getDimSize(1),
            4);
  EXPECT_EQ(getOffset(tiled.getDelta(), 1), 2);
  EXPECT_EQ(getOffset(tiled.getGradient(), 1), 2);
  EXPECT_EQ(getOffset(tiled.getKey(), 1), 1);
  EXPECT_EQ(getOffset(tiled.getKey(), 2), 3);
  EXPECT_EQ(getOffset(tiled.getValue(), 2), 3);
  EXPECT_EQ(tile->tiledValues.front(), tiled.getValueGrad());

  // Columns of one result are summed for the other.
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  EXPECT_TRUE(failed(grad.generateResultTileValue(
      builder, 0, getAttrs({0, 0, 0, 4}), getAttrs({1, 4, 9, 4}))));
}

TEST_F(TilingTest, GradientsOfQueriesReadWholeKeys) {
  auto grad = parse<AttentionQGradOp>(R"mlir(
func.func @f(%q: tensor<1x8x6x16xf32>, %k: tensor<1x4x9x16xf32>, %g: tensor<1x8x6x16xf32>, %l: tensor<1x8x6xf32>) {
  %0 = tracea.attention_qgrad ins(%q, %k, %k, %g, %l, %l : tensor<1x8x6x16xf32>, tensor<1x4x9x16xf32>, tensor<1x4x9x16xf32>, tensor<1x8x6x16xf32>, tensor<1x8x6xf32>, tensor<1x8x6xf32>)
       outs(%q : tensor<1x8x6x16xf32>) -> tensor<1x8x6x16xf32>
  return
})mlir");
  ASSERT_TRUE(grad);
  builder.setInsertionPoint(grad);
  FailureOr<TilingResult> tile = grad.generateResultTileValue(
      builder, 0, getAttrs({0, 3, 2, 0}), getAttrs({1, 1, 4, 16}));
  ASSERT_TRUE(succeeded(tile));
  auto tiled = cast<AttentionQGradOp>(tile->tiledOps.front());
  EXPECT_TRUE(succeeded(verify(tiled)));
  EXPECT_EQ(getOffset(tiled.getQuery(), 2), 2);
  EXPECT_EQ(getOffset(tiled.getLse(), 2), 2);
  EXPECT_EQ(getOffset(tiled.getKey(), 1), 1);
  EXPECT_EQ(cast<RankedTensorType>(tiled.getKey().getType()).getDimSize(2), 9);
}

TEST_F(TilingTest, WholeTileNeedsNoSlice) {
  GemmOp gemm = parse<GemmOp>(R"mlir(
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %d: tensor<4x6xf32>) {
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x6xf32>) outs(%d : tensor<4x6xf32>)
  return
})mlir");
  ASSERT_TRUE(gemm);
  builder.setInsertionPoint(gemm);
  FailureOr<TilingResult> tile = gemm.generateResultTileValue(
      builder, 0, getAttrs({0, 2}), getAttrs({4, 3}));
  ASSERT_TRUE(succeeded(tile));
  GemmOp tiled = cast<GemmOp>(tile->tiledOps.front());
  EXPECT_EQ(tiled.getLhs(), gemm.getLhs());
  EXPECT_EQ(getOffset(tiled.getRhs(), 1), 2);
  EXPECT_EQ(tile->tiledValues.front(), tiled.getResult());
  EXPECT_TRUE(succeeded(verify(*module)));
}

} // namespace
