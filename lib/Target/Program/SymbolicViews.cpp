//===- SymbolicViews.cpp - Views of buffers as expressions ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a view of a buffer begins, and its sizes and strides, in terms of the
// shapes of a launch; slices that leave their source are checks.
//
//===----------------------------------------------------------------------===//

#include "tracea/Target/Program/SymbolicEvaluator.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tracea;

FailureOr<SymbolicEvaluator::View> SymbolicEvaluator::computeView(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    emitError(value.getLoc())
        << "a buffer of type " << value.getType() << " is not known here";
    return failure();
  }
  using Result = FailureOr<View>;
  Expr zero = exprs.constant(0), one = exprs.constant(1);

  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](memref::CastOp cast) -> Result {
        FailureOr<View> source = view(cast.getSource());
        auto type = dyn_cast<MemRefType>(cast.getType());
        if (failed(source))
          return failure();
        if (!type)
          return cast.emitOpError("to an unranked memref has no place in a "
                                  "program; expected a ranked one");
        for (auto [dim, size] : llvm::enumerate(type.getShape()))
          if (!ShapedType::isDynamic(size))
            require(equal(source->sizes[dim], exprs.constant(size)), op,
                    "dimension " + Twine(dim) + " is expected to be " +
                        Twine(size));
        return *source;
      })
      .Case([&](memref::ExtractStridedMetadataOp metadata) -> Result {
        FailureOr<View> source = view(metadata.getSource());
        if (failed(source))
          return failure();
        View base = *source;
        base.offset = zero;
        base.sizes.clear();
        base.strides.clear();
        return base;
      })
      .Case([&](memref::ReinterpretCastOp cast) -> Result {
        FailureOr<View> source = view(cast.getSource());
        if (failed(source))
          return failure();
        FailureOr<SmallVector<Expr>> offsets = list(cast.getMixedOffsets());
        FailureOr<SmallVector<Expr>> sizes = list(cast.getMixedSizes());
        FailureOr<SmallVector<Expr>> strides = list(cast.getMixedStrides());
        if (failed(offsets) || failed(sizes) || failed(strides))
          return failure();
        View result = *source;
        result.offset = offsets->front();
        result.sizes.assign(sizes->begin(), sizes->end());
        result.strides.assign(strides->begin(), strides->end());
        return result;
      })
      .Case([&](memref::SubViewOp subview) -> Result {
        FailureOr<View> source = view(subview.getSource());
        FailureOr<SmallVector<Expr>> offsets = list(subview.getMixedOffsets());
        FailureOr<SmallVector<Expr>> sizes = list(subview.getMixedSizes());
        FailureOr<SmallVector<Expr>> strides = list(subview.getMixedStrides());
        if (failed(source) || failed(offsets) || failed(sizes) ||
            failed(strides))
          return failure();
        llvm::SmallBitVector dropped = subview.getDroppedDims();
        View result = *source;
        result.sizes.clear();
        result.strides.clear();
        for (size_t dim = 0; dim < sizes->size(); ++dim) {
          Expr offset = (*offsets)[dim], size = (*sizes)[dim];
          Expr stride = (*strides)[dim];
          // An empty slice may begin anywhere up to the end.
          Expr last =
              exprs.add(offset, exprs.mul(exprs.sub(size, one), stride));
          Expr fits = exprs.select(equal(size, zero),
                                   exprs.le(offset, source->sizes[dim]),
                                   exprs.lt(last, source->sizes[dim]));
          bool whole =
              offset == zero && stride == one && size == source->sizes[dim];
          if (!whole) {
            require(exprs.le(zero, offset), op,
                    "the slice begins before dimension " + Twine(dim));
            require(exprs.le(zero, size), op,
                    "the slice has a negative size in dimension " + Twine(dim));
            require(fits, op,
                    "the slice reaches beyond dimension " + Twine(dim));
          }
          result.offset =
              exprs.add(result.offset, exprs.mul(offset, source->strides[dim]));
          if (dropped.test(dim))
            continue;
          result.sizes.push_back(size);
          result.strides.push_back(exprs.mul(stride, source->strides[dim]));
        }
        return result;
      })
      .Case([&](memref::ExpandShapeOp expand) -> Result {
        FailureOr<View> source = view(expand.getSrc());
        FailureOr<SmallVector<Expr>> sizes = list(expand.getMixedOutputShape());
        if (failed(source) || failed(sizes))
          return failure();
        View result = *source;
        result.sizes.assign(sizes->begin(), sizes->end());
        result.strides.assign(sizes->size(), one);
        for (auto [dim, group] :
             llvm::enumerate(expand.getReassociationIndices())) {
          Expr stride = source->strides[dim], product = one;
          for (int64_t target : llvm::reverse(group)) {
            result.strides[target] = stride;
            stride = exprs.mul(stride, (*sizes)[target]);
            product = exprs.mul(product, (*sizes)[target]);
          }
          require(equal(product, source->sizes[dim]), op,
                  "dimension " + Twine(dim) +
                      " does not split into the sizes asked for");
        }
        return result;
      })
      .Case([&](memref::CollapseShapeOp collapse) -> Result {
        FailureOr<View> source = view(collapse.getSrc());
        if (failed(source))
          return failure();
        ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
        View result = *source;
        result.sizes.clear();
        result.strides.clear();
        for (ArrayRef<int64_t> group : collapse.getReassociationIndices()) {
          Expr size = one;
          // Dimensions of extent one have strides of no meaning.
          Expr stride = source->strides[group.back()];
          bool found = false;
          for (int64_t dim : llvm::reverse(group)) {
            size = exprs.mul(source->sizes[dim], size);
            if (!found && shape[dim] != 1) {
              stride = source->strides[dim];
              found = true;
            }
          }
          result.sizes.push_back(size);
          result.strides.push_back(stride);
        }
        return result;
      })
      .Case([&](memref::TransposeOp transpose) -> Result {
        FailureOr<View> source = view(transpose.getIn());
        if (failed(source))
          return failure();
        View result = *source;
        AffineMap map = transpose.getPermutation();
        for (unsigned dim = 0; dim < map.getNumResults(); ++dim) {
          unsigned from = map.getDimPosition(dim);
          result.sizes[dim] = source->sizes[from];
          result.strides[dim] = source->strides[from];
        }
        return result;
      })
      .Default([&](Operation *) -> Result {
        op->emitError() << "'" << op->getName()
                        << "' cannot be expressed in a program; expected a "
                           "buffer or a view of one";
        return failure();
      });
}
