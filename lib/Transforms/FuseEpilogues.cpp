//===- FuseEpilogues.cpp - Fuses elementwise consumers into epilogues -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The unit of fusion is a cone: every operation between a result and the one
// elementwise operation, the sink, in which all its uses meet again. A cone of
// one operation is the plain case.

#include "EpilogueUtils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tracea/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "tracea-fuse-epilogues"

namespace mlir::tracea {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

namespace {

/// The elementwise operations between a result and the sink in which all its
/// uses meet, and how each reads and writes, in dimensions of the result.
class Cone {
public:
  static std::optional<Cone> find(EpilogueOpInterface op,
                                  unsigned maxOperations, std::string &reason);

  Operation *getSink() const { return sink; }
  unsigned getNumOps() const { return members.size(); }
  /// Every operation but the sink, casts included, users after operands.
  SmallVector<Operation *> getInnerOps() const;
  /// True if a value that the cone reads comes from `other`.
  bool reads(Operation *other) const;
  /// Creates the scalar computation in the editor's epilogue.
  Value emit(EpilogueEditor &editor) const;

private:
  struct Member {
    ElementwiseOp elementwise;
    /// From the result's dimensions to those of the member's own result.
    AffineMap map;
  };

  LogicalResult collect(std::string &reason);
  LogicalResult place(Operation *op, AffineMap map, std::string &reason);

  mutable EpilogueOpInterface producer;
  Operation *sink = nullptr;
  llvm::SetVector<Operation *> casts;
  llvm::MapVector<Operation *, ElementwiseOp> matched;
  /// In an order in which operands come before their users.
  llvm::MapVector<Operation *, Member> members;
};

} // namespace

/// Adds the operations that use a tensor, casts looked through.
static void collectUsers(Value tensor, llvm::SetVector<Operation *> &users,
                         llvm::SetVector<Operation *> &casts) {
  for (Operation *user : tensor.getUsers()) {
    tensor::CastOp cast = dyn_cast<tensor::CastOp>(user);
    if (cast && isa<RankedTensorType>(cast.getType())) {
      casts.insert(cast);
      collectUsers(cast.getResult(), users, casts);
    } else {
      users.insert(user);
    }
  }
}

SmallVector<Operation *> Cone::getInnerOps() const {
  SmallVector<Operation *> inner(casts.begin(), casts.end());
  for (auto &[member, elementwise] : matched)
    if (member != sink)
      inner.push_back(member);
  llvm::sort(inner,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return inner;
}

LogicalResult Cone::collect(std::string &reason) {
  llvm::SetVector<Operation *> open;
  collectUsers(producer.getEpilogueResult(), open, casts);
  if (open.empty()) {
    reason = "the result has no user";
    return failure();
  }
  while (true) {
    for (Operation *op : open) {
      if (matched.contains(op))
        continue;
      if (op->getBlock() != producer->getBlock()) {
        reason = "the result is used in another block";
        return failure();
      }
      std::string why;
      std::optional<ElementwiseOp> elementwise = ElementwiseOp::match(op, why);
      if (!elementwise) {
        reason = open.size() == 1
                     ? why
                     : "the result has several users that do not meet again "
                       "in one elementwise operation";
        return failure();
      }
      matched.insert({op, *elementwise});
    }
    if (open.size() == 1)
      break;
    // The earliest cannot be the sink: go on with its users.
    Operation *earliest = open.front();
    for (Operation *op : open)
      if (op->isBeforeInBlock(earliest))
        earliest = op;
    open.remove(earliest);
    collectUsers(earliest->getResult(0), open, casts);
  }
  sink = open.front();
  for (Operation *cast : casts) {
    if (cast->getBlock() != producer->getBlock()) {
      reason = "the result is used in another block";
      return failure();
    }
  }
  return success();
}

LogicalResult Cone::place(Operation *op, AffineMap map, std::string &reason) {
  auto known = members.find(op);
  if (known != members.end()) {
    if (known->second.map == map)
      return success();
    reason = "the consumer reads one tensor in two ways";
    return failure();
  }
  const ElementwiseOp &elementwise = matched.find(op)->second;
  for (const ElementwiseOp::Input &input : elementwise.getInputs()) {
    Value source = peelCasts(input.operand->get());
    AffineMap inputMap = input.map.compose(map);
    bool isResult = source == producer.getEpilogueResult();
    Operation *inner = source.getDefiningOp();
    bool isInner = inner && matched.contains(inner);
    if (!isResult && !isInner)
      continue;
    // Values of the cone exist one element at a time, in the result's order.
    if (!inputMap.isPermutation() || (isResult && !inputMap.isIdentity())) {
      reason = "the consumer '" + op->getName().getStringRef().str() +
               "' reads the result in another order than it writes";
      return failure();
    }
    if (isInner && failed(place(inner, inputMap, reason)))
      return failure();
  }
  members.insert({op, Member{elementwise, map}});
  return success();
}

std::optional<Cone> Cone::find(EpilogueOpInterface op, unsigned maxOperations,
                               std::string &reason) {
  if (!isUndecided(op)) {
    reason = "the operation carries a schedule already";
    return std::nullopt;
  }
  Cone cone;
  cone.producer = op;
  if (failed(cone.collect(reason)))
    return std::nullopt;
  unsigned rank = getEpilogueRank(op);
  RankedTensorType sinkType =
      cast<RankedTensorType>(cone.sink->getResult(0).getType());
  if (sinkType.getRank() != rank) {
    reason = "the consumer's result has another rank";
    return std::nullopt;
  }
  Type stored = sinkType.getElementType();
  if (!isa<FloatType>(stored) &&
      !(stored.isInteger() && stored.getIntOrFloatBitWidth() >= 8)) {
    // Flags and indices have no store of their own in kernels.
    reason = "the consumer stores neither floats nor integers of whole bytes";
    return std::nullopt;
  }
  if (failed(cone.place(
          cone.sink, AffineMap::getMultiDimIdentityMap(rank, op.getContext()),
          reason)))
    return std::nullopt;

  bool readsResult = false;
  unsigned size = 0;
  for (auto &[member, info] : cone.members) {
    size += info.elementwise.getSize();
    for (const ElementwiseOp::Input &input : info.elementwise.getInputs())
      readsResult |= peelCasts(input.operand->get()) == op.getEpilogueResult();
  }
  if (!readsResult) {
    reason = "the consumer takes the result as a destination only";
    return std::nullopt;
  }
  if (hasEpilogue(op))
    size += op.getEpilogue().front().getOperations().size() - 1;
  if (size > maxOperations) {
    reason = "the epilogue would hold " + std::to_string(size) +
             " operations, more than the " + std::to_string(maxOperations) +
             " allowed";
    return std::nullopt;
  }
  return cone;
}

bool Cone::reads(Operation *other) const {
  for (auto &[member, info] : members)
    for (const ElementwiseOp::Input &input : info.elementwise.getInputs())
      if (peelCasts(input.operand->get()).getDefiningOp() == other)
        return true;
  return false;
}

Value Cone::emit(EpilogueEditor &editor) const {
  Value result = editor.getStored();
  DenseMap<Operation *, Value> emitted;
  for (auto &[member, info] : members) {
    SmallVector<Value> scalars;
    for (const ElementwiseOp::Input &input : info.elementwise.getInputs()) {
      Value operand = input.operand->get();
      if (!isa<RankedTensorType>(operand.getType())) {
        scalars.push_back(editor.readScalar(operand));
        continue;
      }
      Value source = peelCasts(operand);
      Operation *inner = source.getDefiningOp();
      if (source == producer.getEpilogueResult())
        scalars.push_back(editor.getStored());
      else if (inner && emitted.contains(inner))
        scalars.push_back(emitted.lookup(inner));
      else
        scalars.push_back(editor.read(source, input.map.compose(info.map)));
    }
    SmallVector<Value> captured;
    for (Value capture : info.elementwise.getCaptures())
      captured.push_back(editor.readScalar(capture));
    result = info.elementwise.emit(editor.getBuilder(), scalars, captured);
    emitted[member] = result;
  }
  return result;
}

namespace {

struct FuseCone : public OpInterfaceRewritePattern<EpilogueOpInterface> {
  FuseCone(MLIRContext *context, unsigned maxOperations,
           std::function<void(unsigned, unsigned)> onFuse)
      : OpInterfaceRewritePattern(context), maxOperations(maxOperations),
        onFuse(std::move(onFuse)) {}

  LogicalResult matchAndRewrite(EpilogueOpInterface op,
                                PatternRewriter &rewriter) const override {
    std::string reason;
    std::optional<Cone> cone = Cone::find(op, maxOperations, reason);
    if (!cone || belongsToLater(op, *cone))
      return failure();

    Operation *sink = cone->getSink();
    // Down to the sink: there every operand of the cone is defined, and
    // nothing in between reads the result.
    rewriter.moveOpBefore(op, sink);
    EpilogueEditor editor(rewriter, op);
    Value stored = cone->emit(editor);

    remark::passed(
        sink->getLoc(),
        remark::RemarkOpts::name("EpilogueFused").category(DEBUG_TYPE))
        << remark::metric("Operation", op->getName().getStringRef())
        << remark::metric("Fused", cone->getNumOps());
    SmallVector<Operation *> inner = cone->getInnerOps();
    editor.finish(stored, findInit(op, sink), sink);
    // The operands of what was inside have changed their types by now.
    for (Operation *dead : llvm::reverse(inner))
      rewriter.eraseOp(dead);
    onFuse(cone->getNumOps(), editor.getNumAdded());
    return success();
  }

private:
  /// Of two producers the later one takes the consumer: its operands need not
  /// wait, and the earlier result is complete when the epilogue reads it.
  bool belongsToLater(EpilogueOpInterface op, const Cone &cone) const {
    for (Operation *next = op->getNextNode(); next && next != cone.getSink();
         next = next->getNextNode()) {
      EpilogueOpInterface other = dyn_cast<EpilogueOpInterface>(next);
      if (!other || !cone.reads(other))
        continue;
      std::string ignored;
      std::optional<Cone> otherCone = Cone::find(other, maxOperations, ignored);
      if (otherCone && otherCone->getSink() == cone.getSink())
        return true;
    }
    return false;
  }

  /// The destination that the sink was given, unless it is a value computed
  /// for another purpose.
  static Value findInit(EpilogueOpInterface op, Operation *sink) {
    linalg::LinalgOp linalgOp = dyn_cast<linalg::LinalgOp>(sink);
    if (!linalgOp)
      return {};
    Value init = linalgOp.getDpsInitOperand(0)->get();
    Operation *definition = init.getDefiningOp();
    if (definition && !isa<tensor::EmptyOp>(definition))
      return {};
    return init;
  }

  unsigned maxOperations;
  std::function<void(unsigned, unsigned)> onFuse;
};

/// An extent of a result is that of its destination, and in the end a size of
/// an empty tensor: neither keeps the result alive.
struct DimOfDestination : public OpRewritePattern<tensor::DimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::DimOp op,
                                PatternRewriter &rewriter) const override {
    OpResult result = dyn_cast<OpResult>(op.getSource());
    if (!result)
      return failure();
    tensor::EmptyOp empty = dyn_cast<tensor::EmptyOp>(result.getOwner());
    std::optional<int64_t> dim = op.getConstantIndex();
    if (empty && dim && *dim < empty.getType().getRank() &&
        empty.getType().isDynamicDim(*dim)) {
      rewriter.replaceOp(op, empty.getDynamicSize(*dim));
      return success();
    }
    DestinationStyleOpInterface producer =
        dyn_cast<DestinationStyleOpInterface>(result.getOwner());
    if (!producer)
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getSourceMutable().set(producer.getTiedOpOperand(result)->get());
    });
    return success();
  }
};

struct FuseEpiloguesPass
    : public tracea::impl::FuseEpiloguesBase<FuseEpiloguesPass> {
  using FuseEpiloguesBase::FuseEpiloguesBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<FuseCone>(context, maxOperations,
                           [this](unsigned ops, unsigned extras) {
                             numFused += ops;
                             numExtras += extras;
                           });
    patterns.add<DimOfDestination>(context);
    populateComposeExtrasPatterns(patterns, {});
    GreedyRewriteConfig config;
    config.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    getOperation()->walk([&](EpilogueOpInterface op) { reportMissed(op); });
  }

  /// Says why the consumers that are left were left.
  void reportMissed(EpilogueOpInterface op) {
    llvm::SetVector<Operation *> users;
    llvm::SetVector<Operation *> casts;
    collectUsers(op.getEpilogueResult(), users, casts);
    if (llvm::none_of(users, [](Operation *user) {
          return isa<linalg::LinalgOp>(user) ||
                 OpTrait::hasElementwiseMappableTraits(user);
        }))
      return;
    std::string reason;
    if (Cone::find(op, maxOperations, reason))
      return;
    ++numMissed;
    remark::missed(
        op.getLoc(),
        remark::RemarkOpts::name("EpilogueNotFused").category(DEBUG_TYPE))
        << remark::metric("Operation", op->getName().getStringRef())
        << remark::reason("{0}", reason);
  }
};

} // namespace
