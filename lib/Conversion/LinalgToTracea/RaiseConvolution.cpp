//===- RaiseConvolution.cpp - linalg convolutions to tracea.conv2d --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every loop gets a role from the operands that it indexes; an operand's roles
// in order spell its layout. Named operations and generics are one case.
//
//   n  batch: image and result          g  group: image, filter and result
//   k  output channel: filter, result   c  input channel: image and filter
//   h, w  p*stride + r*dilation in the image; p, q in the result; r, s in the
//         filter

#include "ProductSum.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"

#include <limits>

using namespace mlir;
using namespace mlir::tracea;

namespace {
/// image index = out * stride + tap * dilation.
struct Window {
  unsigned out = 0, tap = 0;
  int64_t stride = 1, dilation = 1;
};

/// The layouts of the three operands, one letter for each dimension.
struct ConvolutionRoles {
  std::string image, filter, result;
  Window windows[2];

  unsigned imageDim(char role) const { return image.find(role); }
  unsigned filterDim(char role) const { return filter.find(role); }
  unsigned resultDim(char role) const { return result.find(role); }
};
} // namespace

/// `loop` or `loop * factor`.
static bool matchTerm(AffineExpr expr, unsigned &loop, int64_t &factor) {
  factor = 1;
  if (AffineBinaryOpExpr product = dyn_cast<AffineBinaryOpExpr>(expr);
      product && product.getKind() == AffineExprKind::Mul) {
    AffineConstantExpr constant =
        dyn_cast<AffineConstantExpr>(product.getRHS());
    if (!constant)
      return false;
    factor = constant.getValue();
    expr = product.getLHS();
  }
  AffineDimExpr dim = dyn_cast<AffineDimExpr>(expr);
  if (!dim || factor < 1 || factor > std::numeric_limits<int32_t>::max())
    return false;
  loop = dim.getPosition();
  return true;
}

static FailureOr<Window> matchWindow(AffineExpr expr, const ProductSum &match) {
  AffineBinaryOpExpr sum = dyn_cast<AffineBinaryOpExpr>(expr);
  Window window;
  if (!sum || sum.getKind() != AffineExprKind::Add ||
      !matchTerm(sum.getLHS(), window.out, window.stride) ||
      !matchTerm(sum.getRHS(), window.tap, window.dilation))
    return failure();
  if (match.rhsMap.isFunctionOfDim(window.out)) {
    std::swap(window.out, window.tap);
    std::swap(window.stride, window.dilation);
  }
  bool isPair = match.resultMap.isFunctionOfDim(window.out) &&
                !match.rhsMap.isFunctionOfDim(window.out) &&
                match.rhsMap.isFunctionOfDim(window.tap) &&
                !match.resultMap.isFunctionOfDim(window.tap);
  if (!isPair)
    return failure();
  return window;
}

/// Spells the layouts, the factors already in the order image, filter.
static FailureOr<ConvolutionRoles> matchRoles(const ProductSum &match) {
  if (!match.rhsMap.isProjectedPermutation() ||
      !match.resultMap.isProjectedPermutation())
    return failure();
  ConvolutionRoles roles;
  SmallVector<char> roleOfLoop(match.lhsMap.getNumDims(), 0);
  unsigned numWindows = 0;
  for (AffineExpr expr : match.lhsMap.getResults()) {
    if (AffineDimExpr dim = dyn_cast<AffineDimExpr>(expr)) {
      unsigned loop = dim.getPosition();
      bool inFilter = match.rhsMap.isFunctionOfDim(loop);
      bool inResult = match.resultMap.isFunctionOfDim(loop);
      char role = inFilter ? (inResult ? 'g' : 'c') : (inResult ? 'n' : 0);
      if (!role || roleOfLoop[loop])
        return failure();
      roleOfLoop[loop] = role;
      roles.image += role;
      continue;
    }
    FailureOr<Window> window = matchWindow(expr, match);
    if (failed(window) || numWindows == 2 || roleOfLoop[window->out] ||
        roleOfLoop[window->tap])
      return failure();
    roleOfLoop[window->out] = numWindows == 0 ? 'p' : 'q';
    roleOfLoop[window->tap] = numWindows == 0 ? 'r' : 's';
    roles.image += numWindows == 0 ? 'h' : 'w';
    roles.windows[numWindows++] = *window;
  }
  if (numWindows != 2)
    return failure();
  for (unsigned loop = 0; loop < roleOfLoop.size(); ++loop) {
    if (roleOfLoop[loop])
      continue;
    if (!match.rhsMap.isFunctionOfDim(loop) ||
        !match.resultMap.isFunctionOfDim(loop))
      return failure();
    roleOfLoop[loop] = 'k';
  }
  auto spell = [&](AffineMap map) {
    std::string letters;
    for (AffineExpr expr : map.getResults())
      letters += roleOfLoop[cast<AffineDimExpr>(expr).getPosition()];
    return letters;
  };
  roles.filter = spell(match.rhsMap);
  roles.result = spell(match.resultMap);
  return roles;
}

/// The layout of `spatial` letters with the channels first or last; channels
/// are a letter of `one`, or the group and then the channel.
static std::optional<ImageLayout> matchLayout(StringRef roles,
                                              StringRef spatial, char channel) {
  SmallVector<std::string> forms = {"g", std::string(1, channel),
                                    std::string("g") + channel};
  for (const std::string &channels : forms) {
    if (roles == "n" + spatial.str() + channels)
      return ImageLayout::NHWC;
    if (roles == "n" + channels + spatial.str())
      return ImageLayout::NCHW;
  }
  return std::nullopt;
}

/// The pad in front of `image` that `pads` can say: static amounts of zeros on
/// the spatial dimensions.
static tensor::PadOp matchZeroPad(Value image, const ConvolutionRoles &roles,
                                  SmallVectorImpl<int64_t> &pads) {
  pads.assign(4, 0);
  tensor::PadOp pad = image.getDefiningOp<tensor::PadOp>();
  if (!pad || pad.getNofold())
    return nullptr;
  Value value = pad.getConstantPaddingValue();
  if (!value || !isZero(value))
    return nullptr;
  ArrayRef<int64_t> low = pad.getStaticLow(), high = pad.getStaticHigh();
  for (auto [dim, role] : llvm::enumerate(roles.image)) {
    bool isSpatial = role == 'h' || role == 'w';
    for (int64_t amount : {low[dim], high[dim]}) {
      int64_t limit = isSpatial ? std::numeric_limits<int32_t>::max() : 0;
      // ShapedType::kDynamic is negative.
      if (amount < 0 || amount > limit)
        return nullptr;
    }
  }
  pads[0] = low[roles.imageDim('h')];
  pads[1] = low[roles.imageDim('w')];
  pads[2] = high[roles.imageDim('h')];
  pads[3] = high[roles.imageDim('w')];
  return pad;
}

/// Reorders and reshapes the filter to one of the dialect's layouts: the group
/// becomes the outer part of the output channel, a missing input channel an
/// extent of one.
static FailureOr<FilterLayout> matchFilter(StringRef roles, bool isNCHW) {
  std::string letters = roles.str();
  size_t group = letters.find('g');
  if (group != std::string::npos) {
    if (roles.contains('k'))
      letters.erase(group, 1);
    else // without multiplier the group is the output channel
      letters[group] = 'k';
  }
  if (letters == "krsc" || (letters == "krs" && !isNCHW))
    return FilterLayout::KRSC;
  if (letters == "kcrs" || letters == "krs")
    return FilterLayout::KCRS;
  if (letters == "rsck" || letters == "rsk")
    return FilterLayout::RSCK;
  return failure();
}

static Value buildFilter(RewriterBase &rewriter, Location loc, Value filter,
                         std::string roles, FilterLayout layout) {
  size_t g = roles.find('g'), k = roles.find('k');
  if (g != std::string::npos && k != std::string::npos) {
    // The group goes right before the output channel of the group.
    std::string wanted = roles;
    wanted.erase(g, 1);
    wanted.insert(wanted.find('k'), 1, 'g');
    if (wanted != roles) {
      SmallVector<int64_t> permutation;
      RankedTensorType type = cast<RankedTensorType>(filter.getType());
      SmallVector<OpFoldResult> sizes =
          tensor::getMixedSizes(rewriter, loc, filter);
      SmallVector<OpFoldResult> transposed;
      for (char role : wanted) {
        permutation.push_back(roles.find(role));
        transposed.push_back(sizes[permutation.back()]);
      }
      Value empty = tensor::EmptyOp::create(rewriter, loc, transposed,
                                            type.getElementType());
      filter =
          linalg::TransposeOp::create(rewriter, loc, filter, empty, permutation)
              ->getResult(0);
    }
    filter = mergeDims(rewriter, loc, filter, wanted.find('g'));
  }
  if (roles.find('c') == std::string::npos)
    filter = insertUnitDim(rewriter, loc, filter,
                           layout == FilterLayout::KRSC   ? 3
                           : layout == FilterLayout::KCRS ? 1
                                                          : 2);
  return filter;
}

/// Whether a static result has just the extents that the image and the filter
/// imply; linalg also allows fewer.
static bool hasImpliedExtents(Value image, Value filter, Value init,
                              const ConvolutionRoles &roles,
                              ArrayRef<int64_t> pads) {
  auto extent = [](Value value, unsigned dim) {
    return cast<RankedTensorType>(value.getType()).getDimSize(dim);
  };
  for (unsigned axis : {0u, 1u}) {
    int64_t in = extent(image, roles.imageDim("hw"[axis]));
    int64_t taps = extent(filter, roles.filterDim("rs"[axis]));
    int64_t out = extent(init, roles.resultDim("pq"[axis]));
    if (taps == 0)
      return false;
    if (ShapedType::isDynamic(in) || ShapedType::isDynamic(taps) ||
        ShapedType::isDynamic(out))
      continue;
    const Window &window = roles.windows[axis];
    if (getConvolvedExtent(in, pads[axis], pads[axis + 2], taps, window.stride,
                           window.dilation) != out)
      return false;
  }
  return true;
}

LogicalResult mlir::tracea::raiseConvolution(RewriterBase &rewriter,
                                             linalg::LinalgOp op,
                                             const RaisingOptions &options) {
  FailureOr<ProductSum> match = matchProductSum(rewriter, op, options);
  if (failed(match))
    return failure();
  if (match->lhsMap.isProjectedPermutation())
    match->swap();
  FailureOr<ConvolutionRoles> roles = matchRoles(*match);
  if (failed(roles))
    return rewriter.notifyMatchFailure(op, "the maps are no convolution's");

  std::optional<ImageLayout> layout = matchLayout(roles->image, "hw", 'c');
  if (!layout || matchLayout(roles->result, "pq", 'k') != layout)
    return rewriter.notifyMatchFailure(op, "no layout of image and result");
  FailureOr<FilterLayout> filterLayout =
      matchFilter(roles->filter, *layout == ImageLayout::NCHW);
  if (failed(filterLayout))
    return rewriter.notifyMatchFailure(op, "no layout of a filter");

  int64_t groups = 1;
  bool isGrouped = roles->filter.find('g') != std::string::npos;
  if (isGrouped) {
    for (auto [value, dim] : {std::pair(match->lhs, roles->imageDim('g')),
                              std::pair(match->rhs, roles->filterDim('g')),
                              std::pair(match->init, roles->resultDim('g'))}) {
      groups = cast<RankedTensorType>(value.getType()).getDimSize(dim);
      if (ShapedType::isStatic(groups))
        break;
    }
    if (groups < 1) // dynamic or empty
      return rewriter.notifyMatchFailure(op, "the number of groups is unknown");
  }

  SmallVector<int64_t> pads;
  Value image = match->lhs;
  tensor::PadOp pad = matchZeroPad(image, *roles, pads);
  if (pad)
    image = pad.getSource();
  if (!hasImpliedExtents(image, match->rhs, match->init, *roles, pads))
    return rewriter.notifyMatchFailure(op, "the result is cut");

  // Everything has been checked: from here on the IR changes.
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  bool mergesImage = roles->image.find("gc") != std::string::npos;
  bool mergesResult = roles->result.find("gk") != std::string::npos;
  SumStart start = matchSumStart(rewriter, loc, match->init,
                                 /*readThroughBroadcasts=*/!mergesResult);
  if (mergesImage)
    image = mergeDims(rewriter, loc, image, roles->imageDim('g'));
  Value filter =
      buildFilter(rewriter, loc, match->rhs, roles->filter, *filterLayout);
  unsigned resultGroup = mergesResult ? roles->resultDim('g') : 0;
  if (mergesResult) {
    start.destination =
        mergeDims(rewriter, loc, start.destination, resultGroup);
    if (start.addend) {
      start.addend = mergeDims(rewriter, loc, start.addend, resultGroup);
      start.addendMap = rewriter.getMultiDimIdentityMap(4);
    }
  }
  int64_t strides[] = {roles->windows[0].stride, roles->windows[1].stride};
  int64_t dilations[] = {roles->windows[0].dilation,
                         roles->windows[1].dilation};
  Conv2DOp conv = Conv2DOp::create(
      rewriter, loc, start.destination.getType(), image, filter,
      /*extras=*/ValueRange(), start.destination, *layout, *filterLayout,
      strides, pads, dilations, groups, match->getAccumulatorAttr(),
      /*epilogue_maps=*/rewriter.getArrayAttr({}), /*schedule=*/ScheduleAttr());
  addStart(rewriter, conv, start);
  Value value = conv.getResult();
  if (mergesResult)
    value = reshapeLike(rewriter, loc, value, match->init, resultGroup);
  replaceAndClean(rewriter, op, value);
  return success();
}
