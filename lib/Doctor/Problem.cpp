//===- Problem.cpp - Problems from operations -----------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tracea/Dialect/Tracea/IR/Constants.h"
#include "tracea/Dialect/Tracea/IR/Precision.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"
#include "tracea/Doctor/Doctor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tracea;
using ::tracea::doctor::kUnknownExtent;
using ::tracea::doctor::multiplyExtents;
using ::tracea::doctor::OpKind;
using ::tracea::doctor::Problem;
using ::tracea::target::ElementType;

/// Extents beyond any machine's memory only serve estimates: bounding them
/// keeps those free of overflow.
static constexpr int64_t kMostExtent = int64_t(1) << 40;

static int64_t toExtent(int64_t extent) {
  if (ShapedType::isDynamic(extent))
    return kUnknownExtent;
  return std::min(extent, kMostExtent);
}

static int64_t extentOf(Value value, int64_t dim) {
  return toExtent(cast<RankedTensorType>(value.getType()).getDimSize(dim));
}

static int64_t productOf(Value value, int64_t begin, int64_t end) {
  int64_t product = 1;
  for (int64_t dim = begin; dim < end; ++dim)
    product = multiplyExtents(product, extentOf(value, dim));
  return product == kUnknownExtent ? product : std::min(product, kMostExtent);
}

static std::optional<ElementType> findElementType(Type type) {
  return llvm::TypeSwitch<Type, std::optional<ElementType>>(type)
      .Case([](Float64Type) { return ElementType::F64; })
      .Case([](Float32Type) { return ElementType::F32; })
      .Case([](Float16Type) { return ElementType::F16; })
      .Case([](BFloat16Type) { return ElementType::BF16; })
      .Case([](Float8E4M3FNType) { return ElementType::F8E4M3FN; })
      .Case([](Float8E5M2Type) { return ElementType::F8E5M2; })
      .Case([](IntegerType integer) -> std::optional<ElementType> {
        if (integer.getWidth() == 32)
          return ElementType::I32;
        if (integer.getWidth() == 8)
          return ElementType::I8;
        return std::nullopt;
      })
      .Default([](Type) { return std::nullopt; });
}

static FailureOr<ElementType> toElementType(Operation *op, Type type) {
  std::optional<ElementType> found = findElementType(type);
  if (!found)
    return op->emitOpError()
           << "cannot be scheduled: no target has the element type " << type;
  return *found;
}

/// Fills in the element types.
static LogicalResult setTypes(Problem &problem, Operation *op, Value first,
                              Value second, Type accumulator, Value result) {
  FailureOr<ElementType> types[] = {
      toElementType(op, getElementTypeOrSelf(first)),
      toElementType(op, getElementTypeOrSelf(second)),
      toElementType(op, accumulator)};
  for (FailureOr<ElementType> type : types)
    if (failed(type))
      return failure();
  problem.operand = *types[0];
  problem.second = *types[1];
  problem.accumulator = *types[2];
  problem.result = findElementType(getElementTypeOrSelf(result));
  return success();
}

/// Whether rows of the epilogue's operands and of auxiliary results, for a
/// result of matrices of m by n, begin where only the run knows.
static bool hasOpenEpilogueRows(EpilogueOpInterface epilogue, int64_t m,
                                int64_t n) {
  auto result =
      cast<RankedTensorType>(epilogue.getEpilogueInit().get().getType());
  auto isOpen = [&](Value value, AffineMap map) {
    auto type = cast<RankedTensorType>(value.getType());
    int64_t last = type.getRank() - 1;
    if (last < 1 || !type.isDynamicDim(last))
      return false;
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(last));
    if (!dim)
      return true;
    unsigned position = dim.getPosition();
    int64_t rank = result.getRank();
    return ShapedType::isDynamic(position + 1 == rank ? n
                                 : position + 2 == rank
                                     ? m
                                     : result.getDimSize(position));
  };
  for (auto [value, map] :
       llvm::zip(epilogue.getExtras(), epilogue.getEpilogueMaps()))
    if (isOpen(value, cast<AffineMapAttr>(map).getValue()))
      return true;
  for (auto [init, map] :
       llvm::zip(epilogue.getAuxInitsMutable(), epilogue.getAuxMaps()))
    if (isOpen(init.get(), cast<AffineMapAttr>(map).getValue()))
      return true;
  return false;
}

static void fill(Problem &problem, GemmOp op) {
  problem.kind = OpKind::Gemm;
  problem.m = toExtent(op.getM());
  problem.n = toExtent(op.getN());
  problem.k = toExtent(op.getK());
  problem.batch = productOf(op.getResult(), 0, op.getBatchRank());
  problem.transposeFirst = op.getTransposeLhs();
  problem.transposeSecond = op.getTransposeRhs();
  auto second = cast<RankedTensorType>(op.getRhs().getType());
  problem.isSecondConstant = second.getRank() == 2 && second.hasStaticShape() &&
                             isConstant(op.getRhs());
  problem.hasOpenRows =
      problem.n == kUnknownExtent || problem.k == kUnknownExtent ||
      (problem.transposeFirst && problem.m == kUnknownExtent) ||
      hasOpenEpilogueRows(op, op.getM(), op.getN());
}

static void fill(Problem &problem, GroupedGemmOp op) {
  problem.kind = OpKind::GroupedGemm;
  problem.m = toExtent(op.getRows());
  problem.n = toExtent(op.getN());
  problem.k = toExtent(op.getK());
  problem.groups = toExtent(op.getNumGroups());
  problem.transposeSecond = op.getTransposeRhs();
  problem.hasOpenRows = problem.n == kUnknownExtent ||
                        problem.k == kUnknownExtent ||
                        hasOpenEpilogueRows(op, op.getRows(), op.getN());
}

/// A convolution, or the gradient of one: what they say of its extents.
static void fillConvolution(Problem &problem, ConvolutionOpInterface op) {
  auto [image, filter, output, imageName, filterName, outputName] =
      op.getParts();
  problem.images = extentOf(output, op.getBatchDim());
  problem.outputHeight = extentOf(output, op.getHeightDim());
  problem.outputWidth = extentOf(output, op.getWidthDim());
  problem.groups = op.getGroups();
  problem.groupChannels = extentOf(filter, op.getFilterInDim());
  int64_t filters = extentOf(filter, op.getFilterOutDim());
  problem.groupFilters =
      filters == kUnknownExtent ? filters : filters / problem.groups;
  problem.filterHeight = extentOf(filter, op.getFilterHeightDim());
  problem.filterWidth = extentOf(filter, op.getFilterWidthDim());
  problem.strideHeight = op.getStrides()[0];
  problem.strideWidth = op.getStrides()[1];
  problem.dilationHeight = op.getDilations()[0];
  problem.dilationWidth = op.getDilations()[1];
  problem.channelsLast = op.getLayout() == ImageLayout::NHWC;
  problem.filterAlongChannels = op.getFilterLayout() != FilterLayout::RSCK;
  problem.filterAlongTaps = op.getFilterLayout() == FilterLayout::KCRS;
  problem.imageHeight = extentOf(image, op.getHeightDim());
  problem.imageWidth = extentOf(image, op.getWidthDim());
  problem.padTop = op.getPads()[0];
  problem.padLeft = op.getPads()[1];
  problem.imageRow =
      problem.channelsLast ? problem.groupChannels : extentOf(image, 3);
  problem.filterRow = extentOf(filter, 3);
}

static void fill(Problem &problem, Conv2DOp op) {
  problem.kind = OpKind::Conv2D;
  problem.isFilterConstant = isConstant(op.getFilter());
  fillConvolution(problem, cast<ConvolutionOpInterface>(op.getOperation()));
}

static void fill(Problem &problem, Conv2DWGradOp op) {
  problem.kind = OpKind::Conv2DWGrad;
  fillConvolution(problem, cast<ConvolutionOpInterface>(op.getOperation()));
  // The other operand, in place of the filter.
  problem.filterRow = extentOf(op.getGradient(), 3);
  if (problem.channelsLast)
    problem.filterRow = problem.groupFilters;
}

/// Rows along the dimensions [begin, end), which lie together in memory.
static void fillRows(Problem &problem, Value input, int64_t begin, int64_t end,
                     RowOpInterface op = {}) {
  problem.hasPrologue = op && hasPrologue(op);
  problem.hasFinish = op && hasFinish(op);
  if (op)
    for (auto map : op.getPrologueMaps().getAsValueRange<AffineMapAttr>())
      problem.rowInputs += map.isIdentity();
  int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
  problem.columns = productOf(input, begin, end);
  problem.rows =
      multiplyExtents(productOf(input, 0, begin), productOf(input, end, rank));
  if (problem.rows != kUnknownExtent)
    problem.rows = std::min(problem.rows, kMostExtent);
  problem.innermost = end == rank;
  problem.reducedDims = static_cast<int>(end - begin);
  if (problem.reducedDims > 1)
    problem.lastExtent = extentOf(input, end - 1);
}

static void fill(Problem &problem, AttentionOpInterface op, OpKind kind) {
  problem.kind = kind;
  problem.batch = productOf(op.getQuery(), 0, 2);
  problem.m = extentOf(op.getQuery(), 2);
  problem.n = extentOf(op.getKey(), 2);
  problem.k = extentOf(op.getQuery(), 3);
  problem.valueDim = extentOf(op.getValue(), 3);
  problem.hasWindow = op.getWindow().has_value();
  problem.isCausal = op.getCausal();
  problem.hasLengths = static_cast<bool>(op.getLengths());
  int64_t heads = extentOf(op.getQuery(), 1),
          keyHeads = extentOf(op.getKey(), 1);
  problem.sharedHeads = heads == kUnknownExtent || keyHeads == kUnknownExtent
                            ? kUnknownExtent
                            : heads / std::max<int64_t>(keyHeads, 1);
  if (std::optional<ArrayRef<int64_t>> block = op.getBlockSize()) {
    problem.maskRows = (*block)[0];
    problem.maskColumns = (*block)[1];
  }
}

/// What the epilogue does with each element of the result.
static void fillEpilogue(Problem &problem, EpilogueOpInterface op) {
  problem.extras = static_cast<int>(op.getExtras().size());
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  for (Value extra : op.getExtras())
    if (auto type = dyn_cast<RankedTensorType>(extra.getType());
        type && result && type.getShape() == result.getShape()) {
      ++problem.addends;
      problem.addendBytes += llvm::divideCeil(
          type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth(),
          8);
    }
  constexpr int errorFunction = 3;
  op.getEpilogue().walk([&](Operation *inner) {
    if (isa<math::ErfOp>(inner))
      problem.functions += errorFunction;
    else if (isa<math::ExpOp, math::Exp2Op, math::TanhOp, math::LogOp,
                 math::SqrtOp, math::RsqrtOp, math::PowFOp, math::SinOp,
                 math::CosOp, arith::DivFOp>(inner))
      ++problem.functions;
    else if (auto narrow = dyn_cast<arith::TruncFOp>(inner);
             narrow && narrow.getType().getIntOrFloatBitWidth() == 8)
      ++problem.functions;
  });
}

FailureOr<Problem> mlir::tracea::getProblem(ScheduledOpInterface op) {
  Problem problem;
  problem.allowTF32 = allowsTF32(op);
  problem.allowTF32x3 = allowsTF32x3(op);
  if (EpilogueOpInterface epilogue =
          dyn_cast<EpilogueOpInterface>(op.getOperation())) {
    fillEpilogue(problem, epilogue);
    for (auto [index, result] : llvm::enumerate(epilogue.getAuxResults())) {
      if (getAuxKind(epilogue, index) == ReductionKind::None)
        problem.auxiliaries.push_back(
            findElementType(getElementTypeOrSelf(result.getType())));
      else
        ++problem.reductions;
    }
  }

  LogicalResult filled =
      llvm::TypeSwitch<Operation *, LogicalResult>(op.getOperation())
          .Case([&](GemmOp gemm) {
            fill(problem, gemm);
            return setTypes(problem, op, gemm.getLhs(), gemm.getRhs(),
                            gemm.getAccumulatorType(), gemm.getResult());
          })
          .Case([&](GroupedGemmOp grouped) {
            fill(problem, grouped);
            return setTypes(problem, op, grouped.getLhs(), grouped.getRhs(),
                            grouped.getAccumulatorType(), grouped.getResult());
          })
          .Case([&](Conv2DOp conv) {
            fill(problem, conv);
            return setTypes(problem, op, conv.getImage(), conv.getFilter(),
                            conv.getAccumulatorType(), conv.getResult());
          })
          .Case([&](Conv2DWGradOp grad) {
            fill(problem, grad);
            return setTypes(problem, op, grad.getImage(), grad.getGradient(),
                            grad.getAccumulatorType(), grad.getResult());
          })
          .Case([&](Conv2DDGradOp grad) {
            return grad.emitOpError("is scheduled as the convolutions that it "
                                    "becomes; run tracea-expand-dgrad first");
          })
          .Case([&](SoftmaxOp softmax) {
            problem.kind = OpKind::Softmax;
            fillRows(problem, softmax.getInput(), softmax.getDim(),
                     softmax.getDim() + 1, softmax);
            return setTypes(problem, op, softmax.getInput(), softmax.getInput(),
                            softmax.getAccumulatorType(), softmax.getResult());
          })
          .Case([&](BatchNormOp norm) {
            problem.kind = OpKind::BatchNorm;
            // Every element for itself: one long row.
            int64_t rank =
                cast<RankedTensorType>(norm.getInput().getType()).getRank();
            fillRows(problem, norm.getInput(), 0, rank);
            return setTypes(problem, op, norm.getInput(), norm.getScale(),
                            norm.getAccumulatorType(), norm.getResult());
          })
          .Case([&](LayerNormOp norm) {
            problem.kind = OpKind::LayerNorm;
            int64_t rank =
                cast<RankedTensorType>(norm.getInput().getType()).getRank();
            fillRows(problem, norm.getInput(), norm.getAxis(), rank, norm);
            return setTypes(problem, op, norm.getInput(), norm.getInput(),
                            norm.getAccumulatorType(), norm.getResult());
          })
          .Case([&](RMSNormOp norm) {
            problem.kind = OpKind::RMSNorm;
            int64_t rank =
                cast<RankedTensorType>(norm.getInput().getType()).getRank();
            fillRows(problem, norm.getInput(), norm.getAxis(), rank, norm);
            return setTypes(problem, op, norm.getInput(), norm.getInput(),
                            norm.getAccumulatorType(), norm.getResult());
          })
          .Case([&](AttentionOp attention) {
            fill(problem, attention, OpKind::Attention);
            return setTypes(problem, op, attention.getQuery(),
                            attention.getKey(), attention.getAccumulatorType(),
                            attention.getResult());
          })
          .Case([&](AttentionQGradOp grad) {
            fill(problem, grad, OpKind::AttentionQGrad);
            return setTypes(problem, op, grad.getQuery(), grad.getKey(),
                            grad.getAccumulatorType(), grad.getResult());
          })
          .Case([&](AttentionKVGradOp grad) {
            fill(problem, grad, OpKind::AttentionKVGrad);
            return setTypes(problem, op, grad.getQuery(), grad.getKey(),
                            grad.getAccumulatorType(), grad.getKeyGrad());
          })
          .Default([](Operation *other) {
            return other->emitOpError("is not known to the Doctor");
          });
  if (failed(filled))
    return failure();
  return problem;
}
