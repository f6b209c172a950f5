//===- FusePrologues.cpp - Fuses elementwise producers of rows ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel of rows is memory's: what computes its input on the way costs
// nothing beside reading. A value that others read as well, the sum of a
// residual connection say, is stored on the way, too.

#include "AuxResults.h"
#include "Cone.h"
#include "EpilogueUtils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "tracea/Transforms/Passes.h"

#define DEBUG_TYPE "tracea-fuse-prologues"

namespace mlir::tracea {
#define GEN_PASS_DEF_FUSEPROLOGUES
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

/// Whether a kernel reads and stores elements of the type one by one.
static bool isMovable(Type type) {
  return (isa<FloatType>(type) || type.isInteger()) &&
         type.getIntOrFloatBitWidth() >= 8;
}

/// Whether neighbours of a row are read as neighbours, or as one.
static bool keepsOrder(AffineMap map) {
  int64_t last = -1;
  for (AffineExpr expr : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      if (static_cast<int64_t>(dim.getPosition()) < last)
        return false;
      last = dim.getPosition();
    }
  // A row read down a column takes a piece of memory for each element.
  unsigned results = map.getNumResults();
  bool readsLast = map.isFunctionOfDim(map.getNumDims() - 1);
  return !readsLast ||
         map.getResult(results - 1) ==
             getAffineDimExpr(map.getNumDims() - 1, map.getContext());
}

namespace {
/// An elementwise operation and the operation that reduces its rows.
class Fusion {
public:
  static std::optional<Fusion> find(RowOpInterface op, int64_t maxColumns,
                                    unsigned maxOperations,
                                    std::string &reason);

  /// Moves the computation into the prologue; the operation that has it then.
  RowOpInterface apply(IRRewriter &rewriter);

private:
  LogicalResult checkBody(unsigned maxOperations, std::string &reason);
  LogicalResult findInput(std::string &reason);
  LogicalResult checkUsers(std::string &reason);
  /// Gives the operation one more result, which is the prologue's value.
  RowOpInterface keep(IRRewriter &rewriter, Value scalar);

  Value getComputed() const { return producer->getOperation()->getResult(0); }

  RowOpInterface op;
  std::optional<ElementwiseOp> producer;
  /// The operand of the producer that becomes the input.
  OpOperand *input = nullptr;
  /// Whether others read the value, extents apart.
  bool isKept = false;
};
} // namespace

/// What is computed again where a row is read in several passes must be cheap.
LogicalResult Fusion::checkBody(unsigned maxOperations, std::string &reason) {
  unsigned size = producer->getSize();
  if (hasPrologue(op))
    size += op.getPrologue().front().getOperations().size() - 1;
  if (size > maxOperations) {
    reason = "the prologue would hold " + std::to_string(size) +
             " operations, more than the " + std::to_string(maxOperations) +
             " allowed";
    return failure();
  }
  bool isCheap = true;
  producer->getOperation()->walk([&](Operation *inner) {
    isCheap &=
        !isa_and_present<math::MathDialect>(inner->getDialect()) ||
        isa<math::AbsFOp, math::AbsIOp, math::CopySignOp, math::FmaOp>(inner);
  });
  if (!isCheap)
    reason = "the producer computes functions, which passes over a row would "
             "repeat";
  return success(isCheap);
}

LogicalResult Fusion::findInput(std::string &reason) {
  for (const ElementwiseOp::Input &read : producer->getInputs()) {
    auto type = dyn_cast<RankedTensorType>(read.operand->get().getType());
    if (!type)
      continue;
    if (!isMovable(type.getElementType())) {
      reason = "the producer reads neither floats nor integers of whole bytes";
      return failure();
    }
    if (!keepsOrder(read.map)) {
      reason = "the producer reads an operand in another order";
      return failure();
    }
    if (!input && read.map.isIdentity() &&
        isa<FloatType>(type.getElementType()))
      input = read.operand;
  }
  if (!input)
    reason = "no operand of the producer has its shape and floats";
  return success(input);
}

LogicalResult Fusion::checkUsers(std::string &reason) {
  llvm::SetVector<Operation *> users, casts;
  collectUsers(getComputed(), users, casts);
  for (Operation *user : users) {
    if (user == op.getOperation() || isa<tensor::DimOp>(user))
      continue;
    isKept = true;
    Operation *place = op->getBlock()->findAncestorOpInBlock(*user);
    if (!place || place->isBeforeInBlock(op)) {
      reason = "the producer's result is read before the rows are";
      return failure();
    }
  }
  for (Operation *cast : casts)
    if (isKept && cast->getBlock() == op->getBlock() &&
        cast->isBeforeInBlock(op) &&
        llvm::any_of(cast->getUsers(), [&](Operation *user) {
          return user != op.getOperation() && !isa<tensor::CastOp>(user);
        })) {
      reason = "the producer's result is cast for others before the rows are "
               "read";
      return failure();
    }
  for (OpOperand &operand : op->getOpOperands())
    if (&operand != &op.getInputMutable() &&
        peelCasts(operand.get()) == getComputed()) {
      reason = "the operation reads the producer's result twice";
      return failure();
    }
  if (isKept && !isMovable(getElementTypeOrSelf(getComputed().getType()))) {
    reason = "the producer stores neither floats nor integers of whole bytes";
    return failure();
  }
  return success();
}

std::optional<Fusion> Fusion::find(RowOpInterface op, int64_t maxColumns,
                                   unsigned maxOperations,
                                   std::string &reason) {
  Operation *definition = peelCasts(op.getInput()).getDefiningOp();
  if (!definition || definition->getBlock() != op->getBlock() ||
      isa<linalg::FillOp>(definition) ||
      !isUndecided(cast<EpilogueOpInterface>(op.getOperation())))
    return std::nullopt;
  Fusion fusion;
  fusion.op = op;
  std::string ignored;
  fusion.producer = ElementwiseOp::match(definition, ignored);
  if (!fusion.producer || failed(expectShortRows(op, maxColumns, reason)) ||
      failed(fusion.checkBody(maxOperations, reason)) ||
      failed(fusion.findInput(reason)) || failed(fusion.checkUsers(reason)))
    return std::nullopt;
  return fusion;
}

RowOpInterface Fusion::keep(IRRewriter &rewriter, Value scalar) {
  rewriter.setInsertionPoint(op);
  auto type = cast<RankedTensorType>(getComputed().getType());
  Value init = createEmptyLike(rewriter, op.getLoc(), op.getInput(), type);
  auto yield = cast<YieldOp>(op.getPrologue().front().getTerminator());
  yield.getValuesMutable().append(scalar);
  // Behind what is kept already, before results of rows.
  size_t place = 1 + op.getKept().size();
  SmallVector<Type> types(op->getResultTypes());
  types.insert(types.begin() + place, type);
  op.getKeptInitsMutable().append(init);
  RowOpInterface larger = moveToResults(rewriter, op, types);
  SmallVector<Value> results(larger->getResults());
  results.erase(results.begin() + place);
  rewriter.replaceOp(op, results);
  return larger;
}

RowOpInterface Fusion::apply(IRRewriter &rewriter) {
  Value computed = getComputed();
  Operation *dead = op.getInput().getDefiningOp();
  PrologueEditor editor(rewriter, op, *input);
  SmallVector<Value> scalars, captured;
  for (const ElementwiseOp::Input &read : producer->getInputs()) {
    Value operand = read.operand->get();
    scalars.push_back(isa<RankedTensorType>(operand.getType())
                          ? editor.read(operand, read.map)
                          : editor.readScalar(operand));
  }
  for (Value capture : producer->getCaptures())
    captured.push_back(editor.readScalar(capture));
  Value scalar = producer->emit(editor.getBuilder(), scalars, captured);
  editor.finish(scalar);
  if (isKept) {
    op = keep(rewriter, scalar);
    rewriter.replaceUsesWithIf(computed, op.getKept().back(),
                               [&](OpOperand &use) {
                                 Operation *user = use.getOwner();
                                 return !isa<tensor::DimOp>(user) &&
                                        !(isa<tensor::CastOp>(user) &&
                                          user->getBlock() == op->getBlock() &&
                                          user->isBeforeInBlock(op));
                               });
  }
  // Extents are those of the input, too.
  rewriter.replaceUsesWithIf(computed, input->get(), [](OpOperand &use) {
    return isa<tensor::DimOp>(use.getOwner());
  });
  // The producer and casts of its result.
  while (dead && isOpTriviallyDead(dead)) {
    auto cast = dyn_cast<tensor::CastOp>(dead);
    Operation *next = cast ? cast.getSource().getDefiningOp() : nullptr;
    rewriter.eraseOp(dead);
    dead = next;
  }
  return op;
}

namespace {
struct FusePrologues
    : public mlir::tracea::impl::FuseProloguesBase<FusePrologues> {
  using FuseProloguesBase::FuseProloguesBase;

  void runOnOperation() override {
    SmallVector<RowOpInterface> ops;
    getOperation()->walk([&](RowOpInterface op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (RowOpInterface op : ops)
      fuse(rewriter, op);
  }

  void fuse(IRRewriter &rewriter, RowOpInterface op) {
    while (true) {
      std::string reason;
      std::optional<Fusion> fusion =
          Fusion::find(op, maxColumns, maxOperations, reason);
      if (!fusion) {
        if (!reason.empty()) {
          ++numMissed;
          remark::missed(
              op.getLoc(),
              remark::RemarkOpts::name("PrologueNotFused").category(DEBUG_TYPE))
              << remark::metric("Operation", op->getName().getStringRef())
              << remark::reason("{0}", reason);
        }
        return;
      }
      op = fusion->apply(rewriter);
      ++numFused;
      remark::passed(
          op.getLoc(),
          remark::RemarkOpts::name("PrologueFused").category(DEBUG_TYPE))
          << remark::metric("Operation", op->getName().getStringRef())
          << remark::metric("Kept", op.getKept().size());
    }
  }
};
} // namespace
