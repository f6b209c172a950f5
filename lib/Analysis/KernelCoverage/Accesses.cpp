//===- Accesses.cpp - What a kernel reads and writes ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Accesses.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"
#include "tracea/Dialect/TraceaPipe/IR/Words.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

/// Elements of a tile, numbered by `group` within an operation.
static SmallVector<Expr> getElements(Operation *op, unsigned group,
                                     ArrayRef<int64_t> shape, ValueRange limits,
                                     IndexContext &context,
                                     TileAccess &access) {
  SmallVector<Expr> elements;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    Expr element = context.getElement(op, group, dim, extent, "e");
    elements.push_back(element);
    if (!element.isConstant())
      access.ids.push_back(element.terms().front().first);
    if (dim < limits.size())
      context.math.require(context.get(limits[dim]) - 1 - element,
                           access.guard);
  }
  return elements;
}

/// base + map(elements), the map being linear.
static SmallVector<Expr> applyMap(AffineMap map, ArrayRef<Expr> elements,
                                  ArrayRef<Expr> base) {
  SmallVector<Expr> result(base);
  for (auto [number, expr] : llvm::enumerate(map.getResults())) {
    std::optional<LinearForm> form = tryGetLinearForm(expr, map.getNumDims());
    if (number >= result.size())
      break;
    if (!form) {
      result[number] = Expr::invalid();
      continue;
    }
    result[number] += form->constant;
    for (auto [element, coefficient] : llvm::zip(elements, form->coefficients))
      result[number] += coefficient * element;
  }
  return result;
}

static SmallVector<Expr> getAll(ValueRange values, IndexContext &context) {
  return llvm::map_to_vector(values,
                             [&](Value value) { return context.get(value); });
}

/// What moves between a tile and memory: the elements below the limits. Source
/// coordinates outside of padded dimensions are not read.
static void getTransferAccesses(Operation *op, const TileTransfer &transfer,
                                IndexContext &context,
                                std::vector<TileAccess> &accesses) {
  TileAccess access;
  access.op = op;
  access.memory = transfer.memory;
  SmallVector<Expr> elements =
      getElements(op, 0, transfer.shape, transfer.limits, context, access);
  std::optional<TileAccess> tile;
  if (transfer.tile) {
    tile = access;
    tile->memory = transfer.tile;
    tile->indices = elements;
  }
  auto limitOf = [&](Value walk) -> std::optional<Expr> {
    if (transfer.limits.empty())
      return std::nullopt;
    size_t number = llvm::find(transfer.walks, walk) - transfer.walks.begin();
    return context.get(transfer.limits[transfer.along[number]]);
  };
  SmallVector<Expr> inputs = getMapInputs<Expr>(
      transfer, elements, [&](Value walk, const Expr &element) {
        return context.getWalk(walk, element, limitOf(walk));
      });
  access.indices =
      applyMap(transfer.map, inputs, getAll(transfer.indices, context));
  for (int64_t dim : transfer.padded) {
    const Expr index = access.indices[dim];
    context.math.require(index, access.guard);
    context.math.require(context.getDim(access.memory, dim) - 1 - index,
                         access.guard);
  }
  switch (transfer.kind) {
  case TileTransfer::Kind::In:
    access.verb = "reads";
    accesses.push_back(access);
    if (tile) {
      tile->verb = "writes";
      tile->isWrite = true;
      accesses.push_back(*tile);
    }
    break;
  case TileTransfer::Kind::Out:
    if (tile) {
      tile->verb = "reads";
      accesses.push_back(*tile);
    }
    access.verb = "writes";
    access.isWrite = true;
    accesses.push_back(access);
    break;
  case TileTransfer::Kind::Hint:
    access.verb = "asks for";
    access.isHint = true;
    accesses.push_back(access);
    break;
  }
}

/// An operand of a multiply. Element (i, j) is row i of lhs or column j of rhs;
/// the other dimension is summed.
static std::optional<TileAccess>
getOperandAccess(Operation *op, StringRef verb, Value operand, unsigned number,
                 Value depth, Value limit, IndexContext &context) {
  auto type = dyn_cast<ShapedType>(operand.getType());
  if (isRegisterTile(operand.getType()) || !type || !type.hasStaticShape() ||
      (type.getRank() != 2 && getWordLength(type) == 1))
    return std::nullopt;
  TileAccess access;
  access.op = op;
  access.verb = verb;
  access.memory = operand;
  access.isNeeded = true;
  SmallVector<Expr> elements;
  for (int64_t dim = 0; dim < 2; ++dim) {
    bool isSummed = dim == (number == 0 ? 1 : 0);
    // Both operands walk along one depth, which may be more than they have: one
    // element past the end tells of a depth without a known end.
    Expr extent = type.getDimSize(dim);
    if (isSummed && depth)
      extent = std::max<int64_t>(context.math.getInterval(context.get(depth))
                                     .upper.value_or(type.getDimSize(dim) + 1),
                                 type.getDimSize(dim));
    Expr element = context.getElement(op, isSummed ? 2 : number, 0, extent,
                                      isSummed      ? "k"
                                      : number == 0 ? "row"
                                                    : "column");
    elements.push_back(element);
    if (!element.isConstant()) {
      access.ids.push_back(element.terms().front().first);
      if (!isSummed)
        access.freeIds.push_back(access.ids.back());
    }
    Value bound = isSummed ? depth : limit;
    if (bound)
      context.math.require(context.get(bound) - 1 - element, access.guard);
  }
  // All of a word is multiplied.
  if (int64_t length = getWordLength(type); length > 1) {
    elements.push_back(context.getElement(op, 2, 1, length, "place in a word"));
    access.ids.push_back(elements.back().terms().front().first);
  }
  access.indices = elements;
  return access;
}

Expr mlir::tracea::getContracted(Operation *product, IndexContext &context) {
  auto type = cast<ShapedType>(product->getOperand(0).getType());
  Expr step = context.getElement(product, 2, 0, 1, "k");
  int64_t length = getWordLength(type);
  if (length == 1)
    return step;
  return length * step +
         context.getElement(product, 2, 1, length, "place in a word");
}

static void getLinalgAccesses(linalg::LinalgOp op, IndexContext &context,
                              std::vector<TileAccess> &accesses) {
  ArrayRef<Expr> loops = context.getLoops(op);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    auto add = [&](StringRef verb, bool isWrite) {
      TileAccess access;
      access.op = op;
      access.verb = verb;
      access.isWrite = isWrite;
      access.memory = operand.get();
      for (AffineExpr result :
           op.getMatchingIndexingMap(&operand).getResults()) {
        std::optional<LinearForm> form =
            tryGetLinearForm(result, op.getNumLoops());
        Expr index = form ? Expr(form->constant) : Expr::invalid();
        if (form)
          for (auto [loop, coefficient] : llvm::zip(loops, form->coefficients))
            if (coefficient)
              index += coefficient * loop;
        access.indices.push_back(index);
      }
      accesses.push_back(access);
    };
    if (op.isDpsInit(&operand))
      add("writes", true);
    else if (op.payloadUsesValueFromOperand(&operand))
      add("reads", false);
  }
}

std::vector<TileAccess> mlir::tracea::getAccesses(Operation *op,
                                                  IndexContext &context) {
  std::vector<TileAccess> accesses;
  auto shapeOf = [](Value value) {
    return cast<ShapedType>(value.getType()).getShape();
  };
  auto addWhole = [&](StringRef verb, Value memory, bool isWrite) {
    TileAccess access;
    access.op = op;
    access.verb = verb;
    access.memory = memory;
    access.isWrite = isWrite;
    for (int64_t dim = 0, e = shapeOf(memory).size(); dim < e; ++dim) {
      Expr element =
          context.getElement(op, 0, dim, context.getDim(memory, dim), "e");
      access.indices.push_back(element);
      if (!element.isConstant())
        access.ids.push_back(element.terms().front().first);
    }
    accesses.push_back(access);
  };
  // Neighbours along the last dimension.
  auto addVector = [&](StringRef verb, auto vector, bool isWrite) {
    TileAccess access;
    access.op = op;
    access.verb = verb;
    access.memory = vector.getBase();
    access.isWrite = isWrite;
    access.indices = getAll(vector.getIndices(), context);
    VectorType type = vector.getVectorType();
    if (type.getRank() != 1 || type.isScalable() || access.indices.empty()) {
      access.indices.assign(access.indices.size(), Expr::invalid());
    } else {
      Expr element = context.getElement(op, 0, 0, type.getNumElements(), "e");
      access.indices.back() += element;
      if (!element.isConstant())
        access.ids.push_back(element.terms().front().first);
    }
    accesses.push_back(access);
  };
  if (std::optional<TileTransfer> transfer = getTileTransfer(op))
    getTransferAccesses(op, *transfer, context, accesses);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](MmaOp mma) {
        ValueRange limits = mma.getLimits();
        if (auto lhs = getOperandAccess(
                op, "reads its lhs", mma.getLhs(), 0, mma.getDepth(),
                limits.size() == 2 ? limits[0] : Value(), context))
          accesses.push_back(*lhs);
        if (auto rhs = getOperandAccess(
                op, "reads its rhs", mma.getRhs(), 1, mma.getDepth(),
                limits.size() == 2 ? limits[1] : Value(), context))
          accesses.push_back(*rhs);
      })
      .Case([&](MmaAsyncOp mma) {
        if (auto lhs = getOperandAccess(op, "reads its lhs", mma.getLhs(), 0,
                                        Value(), Value(), context))
          accesses.push_back(*lhs);
        if (auto rhs = getOperandAccess(op, "reads its rhs", mma.getRhs(), 1,
                                        Value(), Value(), context))
          accesses.push_back(*rhs);
      })
      .Case([&](vector::LoadOp load) { addVector("reads", load, false); })
      .Case([&](vector::StoreOp store) { addVector("writes", store, true); })
      .Case<memref::LoadOp, ReadOp>([&](auto load) {
        TileAccess access;
        access.op = op;
        access.verb = "reads";
        access.memory = load->getOperand(0);
        access.indices = getAll(load.getIndices(), context);
        accesses.push_back(access);
      })
      .Case([&](memref::StoreOp store) {
        TileAccess access;
        access.op = op;
        access.verb = "writes";
        access.isWrite = true;
        access.memory = store.getMemRef();
        access.indices = getAll(store.getIndices(), context);
        accesses.push_back(access);
      })
      .Case([&](memref::CopyOp copy) {
        addWhole("reads", copy.getSource(), false);
        addWhole("writes", copy.getTarget(), true);
      })
      .Case([&](linalg::LinalgOp linalg) {
        getLinalgAccesses(linalg, context, accesses);
      });
  return accesses;
}

bool mlir::tracea::hasUnknownAccess(Operation *op) {
  if (isa<MmaOp, MmaAsyncOp, memref::LoadOp, memref::StoreOp, memref::CopyOp,
          vector::LoadOp, vector::StoreOp, linalg::LinalgOp>(op) ||
      getTileTransfer(op))
    return false;
  // What makes or looks at buffers; rings and roles touch no element.
  if (isa<memref::DimOp, memref::AllocOp, memref::AllocaOp, memref::DeallocOp,
          memref::SubViewOp, memref::CastOp, memref::ReinterpretCastOp,
          memref::ExpandShapeOp, memref::CollapseShapeOp, memref::TransposeOp,
          memref::GetGlobalOp, memref::ExtractStridedMetadataOp, ViewOp,
          ScratchOp, WorkspaceOp, memref::ViewOp>(op))
    return false;
  if (isa<TraceaPipeDialect>(op->getDialect()))
    return false;
  return llvm::any_of(op->getOperandTypes(), llvm::IsaPred<BaseMemRefType>);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

Value mlir::tracea::getBuffer(Value memory) {
  while (Operation *op = memory.getDefiningOp()) {
    if (!isa<ViewOp, memref::SubViewOp, memref::CastOp, memref::ExpandShapeOp,
             memref::CollapseShapeOp, memref::TransposeOp>(op))
      break;
    memory = op->getOperand(0);
  }
  return memory;
}

/// Follows one window; false where the buffer begins.
static bool follow(Place &place, IndexContext &context) {
  Operation *op = place.buffer.getDefiningOp();
  if (!op)
    return false;
  SmallVector<Expr> &indices = place.indices;
  auto bound = [&]() {
    for (auto [dim, index] : llvm::enumerate(indices))
      place.windowBounds.push_back({index, context.getDim(place.buffer, dim)});
  };
  bool isWindow =
      llvm::TypeSwitch<Operation *, bool>(op)
          .Case([&](ViewOp view) {
            bound();
            indices = applyMap(view.getMap(), indices,
                               getAll(view.getOffsets(), context));
            return true;
          })
          .Case([&](memref::CastOp) { return true; })
          .Case([&](memref::SubViewOp view) {
            bound();
            llvm::SmallBitVector dropped = view.getDroppedDims();
            SmallVector<Expr> outer;
            unsigned next = 0;
            for (auto [dim, offset, stride] : llvm::enumerate(
                     view.getMixedOffsets(), view.getMixedStrides())) {
              Expr index = context.get(offset);
              if (!dropped.test(dim) && next < indices.size())
                index +=
                    context.math.product(context.get(stride), indices[next++]);
              outer.push_back(index);
            }
            indices = outer;
            return true;
          })
          .Case([&](memref::TransposeOp view) {
            SmallVector<Expr> outer(indices.size());
            for (auto [number, expr] :
                 llvm::enumerate(view.getPermutation().getResults()))
              outer[cast<AffineDimExpr>(expr).getPosition()] = indices[number];
            indices = outer;
            return true;
          })
          .Case([&](memref::ExpandShapeOp view) {
            bound();
            SmallVector<Expr> outer;
            for (const ReassociationIndices &group :
                 view.getReassociationIndices()) {
              Expr index;
              for (int64_t dim : group)
                index = context.math.product(
                            index, context.getDim(place.buffer, dim)) +
                        indices[dim];
              outer.push_back(index);
            }
            indices = outer;
            return true;
          })
          .Case([&](memref::CollapseShapeOp view) {
            bound();
            SmallVector<Expr> outer(
                cast<MemRefType>(view.getSrc().getType()).getRank());
            for (auto [number, group] :
                 llvm::enumerate(view.getReassociationIndices())) {
              SmallVector<Expr> basis;
              for (int64_t dim : ArrayRef(group).drop_front()) {
                basis.push_back(context.getDim(view.getSrc(), dim));
                context.kernel.atLeastOne(basis.back());
              }
              llvm::copy(
                  context.delinearize(view, indices[number], basis,
                                      context.getDim(place.buffer, number)),
                  outer.begin() + group.front());
            }
            indices = outer;
            return true;
          })
          .Default([](Operation *) { return false; });
  if (!isWindow)
    return false;
  place.windows.push_back(op);
  place.buffer = op->getOperand(0);
  return true;
}

Place mlir::tracea::resolve(Value memory, ArrayRef<Expr> indices,
                            IndexContext &context) {
  Place place;
  place.buffer = memory;
  place.indices.assign(indices.begin(), indices.end());
  while (follow(place, context)) {
  }
  if (isa_and_nonnull<memref::ReinterpretCastOp>(place.buffer.getDefiningOp()))
    place.unknown = "it looks into its buffer through "
                    "'memref.reinterpret_cast'";
  return place;
}
