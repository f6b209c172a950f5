//===- PropagateTransposes.cpp - Turns transpositions into flags ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel reads a matrix along either dimension and an image in any known
// layout; a transposition in memory is then a copy for nothing. A map always
// goes from the dimensions of the transposed tensor to those of its source.

#include "EpilogueUtils.h"
#include "Layout/Transposition.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tracea/Transforms/Passes.h"

#define DEBUG_TYPE "tracea-propagate-transposes"

namespace mlir::tracea {
#define GEN_PASS_DEF_PROPAGATETRANSPOSES
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

namespace {
/// A pattern that counts what it changes.
template <typename Pattern>
struct Counting : public Pattern {
  Counting(MLIRContext *context, TranspositionCounter count)
      : Pattern(context), count(std::move(count)) {}

  TranspositionCounter count;
};
} // namespace

/// The transposition that is the only user of the operation's result.
static Operation *getTransposingUser(EpilogueOpInterface op) {
  Value result = op.getEpilogueResult();
  if (!result.hasOneUse())
    return nullptr;
  Operation *user = *result.user_begin();
  std::optional<Transposition> transposition = matchTransposition(user);
  if (!transposition || transposition->source != result ||
      user->getBlock() != op->getBlock() || !canMoveTo(op, user))
    return nullptr;
  return user;
}

/// Puts the operation in the place of the transposition of its result. What
/// else that takes is the caller's part.
static void replaceTransposingUser(PatternRewriter &rewriter,
                                   EpilogueOpInterface op, Operation *user,
                                   AffineMap map) {
  rewriter.moveOpBefore(op, user);
  rewriter.modifyOpInPlace(op, [&] {
    SmallVector<Attribute> maps;
    for (unsigned index = 0, e = op.getExtras().size(); index < e; ++index)
      maps.push_back(
          AffineMapAttr::get(getEpilogueMap(op, index).compose(map)));
    op.setEpilogueMapsAttr(rewriter.getArrayAttr(maps));
    if (auto gemm = dyn_cast<GemmOp>(op.getOperation())) {
      SmallVector<Attribute> auxMaps;
      for (unsigned index = 0, e = op.getAuxResults().size(); index < e;
           ++index)
        auxMaps.push_back(
            AffineMapAttr::get(getAuxMap(op, index).compose(map)));
      gemm.setAuxMapsAttr(rewriter.getArrayAttr(auxMaps));
    }
    op.getEpilogueInit().set(
        cast<linalg::LinalgOp>(user).getDpsInitOperand(0)->get());
    op.getEpilogueResult().setType(
        cast<RankedTensorType>(user->getResult(0).getType()));
  });
  rewriter.replaceOp(user, op.getEpilogueResult());
}

/// True if the map swaps the last two dimensions and nothing else.
static bool swapsMatrix(AffineMap map) {
  unsigned rank = map.getNumDims();
  if (rank < 2)
    return false;
  SmallVector<unsigned> swapped = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  std::swap(swapped[rank - 2], swapped[rank - 1]);
  return map == AffineMap::getPermutationMap(swapped, map.getContext());
}

/// The filter layout that `isWanted` asks for, if there is one.
static std::optional<FilterLayout>
findFilterLayout(llvm::function_ref<bool(FilterLayout)> isWanted) {
  for (FilterLayout layout :
       {FilterLayout::KRSC, FilterLayout::KCRS, FilterLayout::RSCK})
    if (isWanted(layout))
      return layout;
  return std::nullopt;
}

namespace {

/// A transposed operand of a gemm: the flag.
struct TransposeGemmOperand : public Counting<OpRewritePattern<GemmOp>> {
  using Counting::Counting;

  LogicalResult matchAndRewrite(GemmOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getScheduleAttr())
      return failure();
    std::optional<Transposition> lhs = matchTransposition(op.getLhs());
    if (lhs && swapsMatrix(lhs->map)) {
      rewriter.modifyOpInPlace(op, [&] {
        op.getLhsMutable().set(lhs->source);
        op.setTransposeLhs(!op.getTransposeLhs());
      });
      count();
      return success();
    }
    std::optional<Transposition> rhs = matchTransposition(op.getRhs());
    if (!rhs || !swapsMatrix(rhs->map))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getRhsMutable().set(rhs->source);
      op.setTransposeRhs(!op.getTransposeRhs());
    });
    count();
    return success();
  }
};

/// (A B)^T = B^T A^T.
struct TransposeGemmResult : public Counting<OpRewritePattern<GemmOp>> {
  using Counting::Counting;

  LogicalResult matchAndRewrite(GemmOp op,
                                PatternRewriter &rewriter) const override {
    EpilogueOpInterface epilogue = cast<EpilogueOpInterface>(op.getOperation());
    Operation *user = getTransposingUser(epilogue);
    if (!user || op.getScheduleAttr())
      return failure();
    AffineMap map = matchTransposition(user)->map;
    if (!swapsMatrix(map))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      Value lhs = op.getLhs();
      bool transposeLhs = op.getTransposeLhs();
      op.getLhsMutable().set(op.getRhs());
      op.setTransposeLhs(!op.getTransposeRhs());
      op.getRhsMutable().set(lhs);
      op.setTransposeRhs(!transposeLhs);
    });
    replaceTransposingUser(rewriter, epilogue, user, map);
    count();
    return success();
  }
};

/// A transposed filter: another layout.
template <typename OpTy>
struct TransposeFilter : public Counting<OpRewritePattern<OpTy>> {
  using Counting<OpRewritePattern<OpTy>>::Counting;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    std::optional<Transposition> filter = matchTransposition(op.getFilter());
    if (!filter || op.getScheduleAttr())
      return failure();
    std::string dims = permuteDims(getDims(op.getFilterLayout()), filter->map);
    std::optional<FilterLayout> layout = findFilterLayout(
        [&](FilterLayout other) { return getDims(other) == dims; });
    if (!layout)
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getFilterMutable().set(filter->source);
      op.setFilterLayout(*layout);
    });
    this->count();
    return success();
  }
};

/// A transposed gradient of a filter: another layout. It stays where it is,
/// close to what has made its operands.
struct TransposeFilterGradient
    : public Counting<OpRewritePattern<Conv2DWGradOp>> {
  using Counting::Counting;

  LogicalResult matchAndRewrite(Conv2DWGradOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getResult().hasOneUse() || op.getScheduleAttr())
      return failure();
    Operation *user = *op.getResult().user_begin();
    std::optional<Transposition> turned = matchTransposition(user);
    if (!turned || turned->source != op.getResult())
      return failure();
    StringRef dims = getDims(op.getFilterLayout());
    std::optional<FilterLayout> layout =
        findFilterLayout([&](FilterLayout other) {
          return permuteDims(getDims(other), turned->map) == dims;
        });
    if (!layout)
      return failure();
    Location loc = op.getLoc();
    SmallVector<OpFoldResult> old =
        tensor::getMixedSizes(rewriter, loc, op.getInit());
    SmallVector<OpFoldResult> sizes(old.size());
    for (auto [dim, size] : llvm::enumerate(old))
      sizes[turned->map.getDimPosition(dim)] = size;
    Value init = tensor::EmptyOp::create(rewriter, loc, sizes,
                                         getElementTypeOrSelf(op.getInit()));
    rewriter.modifyOpInPlace(op, [&] {
      SmallVector<Attribute> maps;
      for (Attribute extra : op.getEpilogueMaps())
        maps.push_back(AffineMapAttr::get(
            cast<AffineMapAttr>(extra).getValue().compose(turned->map)));
      op.setEpilogueMapsAttr(rewriter.getArrayAttr(maps));
      op.setFilterLayout(*layout);
      op.getInitMutable().set(init);
      op.getResult().setType(cast<RankedTensorType>(init.getType()));
    });
    Value result = op.getResult();
    Type type = user->getResult(0).getType();
    if (type != result.getType()) {
      rewriter.setInsertionPoint(user);
      result = tensor::CastOp::create(rewriter, loc, type, result);
    }
    rewriter.replaceOp(user, result);
    count();
    return success();
  }
};

/// Transposed before and transposed back after: the other image layout.
struct TransposeImageAndResult : public Counting<OpRewritePattern<Conv2DOp>> {
  using Counting::Counting;

  LogicalResult matchAndRewrite(Conv2DOp op,
                                PatternRewriter &rewriter) const override {
    EpilogueOpInterface epilogue = cast<EpilogueOpInterface>(op.getOperation());
    std::optional<Transposition> image = matchTransposition(op.getImage());
    Operation *user = getTransposingUser(epilogue);
    if (!image || !user || op.getScheduleAttr())
      return failure();
    AffineMap resultMap = matchTransposition(user)->map;
    ImageLayout layout = op.getLayout() == ImageLayout::NHWC
                             ? ImageLayout::NCHW
                             : ImageLayout::NHWC;
    // The user's map goes the other way: from the new result to the old one.
    if (permuteDims(getDims(op.getLayout()), image->map) != getDims(layout) ||
        permuteDims(getDims(layout), resultMap) != getDims(op.getLayout()))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getImageMutable().set(image->source);
      op.setLayout(layout);
    });
    replaceTransposingUser(rewriter, epilogue, user, resultMap);
    count();
    count();
    return success();
  }
};

/// A transposition of a transposition is one, or none.
struct MergeTranspositions
    : public OpInterfaceRewritePattern<linalg::LinalgOp> {
  MergeTranspositions(MLIRContext *context, TranspositionCounter count)
      : OpInterfaceRewritePattern(context), count(std::move(count)) {}

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Transposition> outer = matchTransposition(op);
    if (!outer)
      return failure();
    Value source = outer->source;
    AffineMap map = outer->map;
    if (std::optional<Transposition> inner = matchTransposition(source)) {
      source = inner->source;
      map = inner->map.compose(map);
    } else if (!map.isIdentity()) {
      return failure();
    }
    Type type = op->getResult(0).getType();
    if (map.isIdentity()) {
      if (source.getType() != type)
        source = tensor::CastOp::create(rewriter, op.getLoc(), type, source);
      rewriter.replaceOp(op, source);
    } else {
      rewriter.replaceOpWithNewOp<linalg::TransposeOp>(
          op, source, op.getDpsInitOperand(0)->get(), getPermutation(map));
    }
    count();
    return success();
  }

private:
  TranspositionCounter count;
};

struct PropagateTransposesPass
    : public mlir::tracea::impl::PropagateTransposesBase<
          PropagateTransposesPass> {
  using PropagateTransposesBase::PropagateTransposesBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populatePropagateTransposesPatterns(patterns, [this] { ++numFolded; });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

void mlir::tracea::populatePropagateTransposesPatterns(
    RewritePatternSet &patterns, const TranspositionCounter &count) {
  patterns
      .add<TransposeGemmOperand, TransposeGemmResult, TransposeFilter<Conv2DOp>,
           TransposeFilter<Conv2DDGradOp>, TransposeFilterGradient,
           TransposeImageAndResult, MergeTranspositions>(patterns.getContext(),
                                                         count);
  populateComposeExtrasPatterns(patterns, count);
}
