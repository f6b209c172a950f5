//===- Structure.cpp - Loops and branches out of blocks -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/TargetProtocol/Structure.h"

#include "CountedLoops.h"

#include "mlir/Analysis/CFGLoopInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::tracea;

namespace {
/// A loop that is left from one block only.
struct NaturalLoop {
  DenseSet<Block *> blocks;
  Block *exiting = nullptr;
};

class Structurer {
public:
  explicit Structurer(StructuredKernel &result) : result(result) {}

  void run();

private:
  bool analyze(Region &body);
  /// Moves `from` and what comes after it, as far as `stop`, to the end of
  /// `into`; returns what is handed to `stop`.
  SmallVector<Value> emitChain(Block *from, SmallVector<Value> operands,
                               Block *stop, Block *into);
  /// The loop of `header`; what is handed to the block after it.
  SmallVector<Value> emitLoop(Block *header, ArrayRef<Value> operands,
                              Block *into, Block *&next);
  SmallVector<Value> emitBranch(LLVM::CondBrOp branch, Block *join,
                                Block *into);
  /// Blocks of loops and branches stay in the kernel until they are complete,
  /// so that what fails can be thrown away.
  Block *addBlock() {
    auto *block = new Block();
    result.kernel->getBody().push_back(block);
    return block;
  }
  static void addRegion(OperationState &state, Block *block) {
    Region *region = state.addRegion();
    block->moveBefore(region, region->end());
  }
  /// Takes the operations of `from`, whose arguments are `operands`.
  void take(Block *from, ArrayRef<Value> operands, Block *into);

  SmallVector<Value> fail(Operation *op, const Twine &why) {
    if (result.reason.empty()) {
      result.reason = why.str();
      result.reasonOp = result.getOrigin(op);
    }
    return {};
  }
  bool failed() const { return !result.reason.empty(); }

  StructuredKernel &result;
  DenseMap<Block *, NaturalLoop> loops;
  DenseMap<Block *, Block *> joins;
  DenseSet<Block *> taken;
};
} // namespace

/// Blocks that only jump on are jumped over: passes merge them, so that
/// branches would share them.
static void skipEmptyBlocks(Region &body) {
  for (bool changed = true; changed;) {
    changed = false;
    for (Block &block : llvm::make_early_inc_range(llvm::drop_begin(body))) {
      auto jump = dyn_cast<LLVM::BrOp>(block.front());
      if (!jump || jump.getDest() == &block || block.getNumArguments())
        continue;
      for (BlockOperand &use : llvm::make_early_inc_range(block.getUses())) {
        auto branch = cast<BranchOpInterface>(use.getOwner());
        branch.getSuccessorOperands(use.getOperandNumber())
            .append(jump.getDestOperands());
        use.set(jump.getDest());
      }
      jump->erase();
      block.erase();
      changed = true;
    }
  }
}

/// What is known of blocks has to be asked before they are taken apart.
bool Structurer::analyze(Region &body) {
  DominanceInfo dominance(result.kernel->getOperation());
  PostDominanceInfo postDominance(result.kernel->getOperation());
  CFGLoopInfo info(dominance.getDomTree(&body));
  for (Block &block : body) {
    if (!dominance.isReachableFromEntry(&block)) {
      fail(&block.front(), "a block is never reached");
      return false;
    }
    auto *node = postDominance.getNode(&block);
    if (node && node->getIDom())
      joins[&block] = node->getIDom()->getBlock();
    CFGLoop *loop = info.getLoopFor(&block);
    if (!loop || loop->getHeader() != &block)
      continue;
    NaturalLoop &natural = loops[&block];
    natural.blocks.insert(loop->block_begin(), loop->block_end());
    natural.exiting = loop->getExitingBlock();
    if (!natural.exiting) {
      fail(block.getTerminator(), "a loop is not left from one place");
      return false;
    }
  }
  return true;
}

void Structurer::take(Block *from, ArrayRef<Value> operands, Block *into) {
  if (!taken.insert(from).second) {
    fail(*result.kernel, "branches share a block that is not where they meet");
    return;
  }
  for (auto [argument, operand] :
       llvm::zip_equal(from->getArguments(), operands))
    argument.replaceAllUsesWith(operand);
  into->getOperations().splice(into->end(), from->getOperations());
}

SmallVector<Value> Structurer::emitBranch(LLVM::CondBrOp branch, Block *join,
                                          Block *into) {
  Operation *origin = result.getOrigin(branch);
  Value condition = branch.getCondition();
  SmallVector<Value> operands[2] = {
      llvm::to_vector_of<Value>(branch.getTrueDestOperands()),
      llvm::to_vector_of<Value>(branch.getFalseDestOperands())};
  Block *sides[2] = {branch.getTrueDest(), branch.getFalseDest()};
  Location loc = branch.getLoc();
  branch->erase();
  OperationState state(loc, scf::IfOp::getOperationName());
  state.addOperands(condition);
  Block *blocks[2] = {addBlock(), addBlock()};
  SmallVector<Value> handed[2];
  for (int side : {0, 1}) {
    handed[side] = emitChain(sides[side], operands[side], join, blocks[side]);
    if (failed())
      return {};
  }
  // What is the same on both sides need not pass through.
  SmallVector<unsigned> chosen;
  for (unsigned i = 0; i < handed[0].size(); ++i)
    if (handed[0][i] != handed[1][i])
      chosen.push_back(i);
  for (int side : {0, 1}) {
    SmallVector<Value> yielded;
    for (unsigned i : chosen)
      yielded.push_back(handed[side][i]);
    OpBuilder b = OpBuilder::atBlockEnd(blocks[side]);
    result.origins[scf::YieldOp::create(b, loc, yielded)] = origin;
  }
  for (unsigned i : chosen)
    state.addTypes(handed[0][i].getType());
  for (Block *block : blocks)
    addRegion(state, block);
  OpBuilder b = OpBuilder::atBlockEnd(into);
  Operation *op = b.create(state);
  result.origins[op] = origin;
  for (auto [i, value] : llvm::zip_equal(chosen, op->getResults()))
    handed[0][i] = value;
  return handed[0];
}

SmallVector<Value> Structurer::emitLoop(Block *header, ArrayRef<Value> operands,
                                        Block *into, Block *&next) {
  NaturalLoop loop = loops.lookup(header);
  loops.erase(header);
  Location loc = header->getTerminator()->getLoc();
  OperationState state(loc, scf::WhileOp::getOperationName());
  state.addOperands(operands);
  Block *before = addBlock(), *after = addBlock();
  SmallVector<Value> arguments;
  for (BlockArgument argument : header->getArguments())
    arguments.push_back(
        before->addArgument(argument.getType(), argument.getLoc()));

  // Blocks from the header to the exit are emitted before the loop's condition.
  if (loop.exiting != header)
    arguments = emitChain(header, arguments, loop.exiting, before);
  if (failed())
    return {};
  take(loop.exiting, arguments, before);
  if (failed())
    return {};
  auto branch = dyn_cast<LLVM::CondBrOp>(before->back());
  if (!branch)
    return fail(&before->back(), "a loop is left by another operation than "
                                 "'llvm.cond_br'");
  Operation *origin = result.getOrigin(branch);
  bool staysIfTrue = loop.blocks.contains(branch.getTrueDest());
  Value condition = branch.getCondition();
  Block *inside = staysIfTrue ? branch.getTrueDest() : branch.getFalseDest();
  next = staysIfTrue ? branch.getFalseDest() : branch.getTrueDest();
  auto handed = [&](bool toTrue) {
    return llvm::to_vector_of<Value>(toTrue ? branch.getTrueDestOperands()
                                            : branch.getFalseDestOperands());
  };
  SmallVector<Value> entering = handed(staysIfTrue),
                     leaving = handed(!staysIfTrue);
  branch->erase();
  OpBuilder b = OpBuilder::atBlockEnd(before);
  if (!staysIfTrue) {
    Value one = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
    condition = arith::XOrIOp::create(b, loc, condition, one);
  }

  // The body; then what it and the rest of the kernel use of the header.
  SmallVector<Value> again = entering;
  if (inside != header)
    again = emitChain(inside, entering, header, after);
  if (failed())
    return {};
  llvm::SetVector<Value> used;
  auto isInside = [&](Operation *user) {
    for (Block *block = user->getBlock(); block;) {
      if (block == before)
        return true;
      Operation *parent = block->getParentOp();
      block = parent ? parent->getBlock() : nullptr;
    }
    return false;
  };
  auto collect = [&](ValueRange values) {
    for (Value value : values)
      if (llvm::any_of(value.getUsers(),
                       [&](Operation *user) { return !isInside(user); }))
        used.insert(value);
  };
  collect(before->getArguments());
  for (Operation &op : *before)
    collect(op.getResults());
  auto isOfHeader = [&](Value value) {
    return value.getParentBlock() == before;
  };
  for (ArrayRef<Value> values : {ArrayRef(again), ArrayRef(leaving)})
    for (Value value : values)
      if (isOfHeader(value))
        used.insert(value);
  result.origins[scf::ConditionOp::create(b, loc, condition,
                                          used.getArrayRef())] = origin;
  SmallVector<Value> arrived;
  for (Value value : used) {
    arrived.push_back(after->addArgument(value.getType(), loc));
    state.addTypes(value.getType());
  }
  addRegion(state, before);
  addRegion(state, after);
  OpBuilder outer = OpBuilder::atBlockEnd(into);
  Operation *op = outer.create(state);
  result.origins[op] = origin;
  // In the body they are its arguments, behind it the loop's results.
  Region &body = op->getRegion(1);
  for (auto [value, argument, out] :
       llvm::zip_equal(used, arrived, op->getResults())) {
    for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
      if (isInside(use.getOwner()))
        continue;
      bool inBody = body.isAncestor(use.getOwner()->getParentRegion());
      use.set(inBody ? argument : Value(out));
    }
    llvm::replace(again, value, argument);
    llvm::replace(leaving, value, Value(out));
  }
  b.setInsertionPointToEnd(after);
  result.origins[scf::YieldOp::create(b, loc, again)] = origin;
  if (Operation *counted = countLoop(cast<scf::WhileOp>(op), leaving))
    result.origins[counted] = origin;
  return leaving;
}

SmallVector<Value> Structurer::emitChain(Block *from,
                                         SmallVector<Value> operands,
                                         Block *stop, Block *into) {
  while (from != stop) {
    if (loops.contains(from)) {
      Block *next = nullptr;
      operands = emitLoop(from, operands, into, next);
      from = next;
      if (failed())
        return {};
      continue;
    }
    Block *block = from;
    take(block, operands, into);
    if (failed())
      return {};
    Operation *terminator = &into->back();
    if (auto jump = dyn_cast<LLVM::BrOp>(terminator)) {
      operands = llvm::to_vector_of<Value>(jump.getDestOperands());
      from = jump.getDest();
      jump->erase();
    } else if (auto branch = dyn_cast<LLVM::CondBrOp>(terminator)) {
      Block *join = joins.lookup(block);
      if (!join)
        return fail(branch, "its control flow is not structured");
      operands = emitBranch(branch, join, into);
      from = join;
    } else if (isa<LLVM::ReturnOp>(terminator) && !stop) {
      return {};
    } else {
      return fail(terminator, "its control flow is not structured");
    }
    if (failed())
      return {};
  }
  return operands;
}

void Structurer::run() {
  Region &body = result.kernel->getBody();
  for (Block &block : body)
    if (!isa<LLVM::BrOp, LLVM::CondBrOp, LLVM::ReturnOp>(
            block.getTerminator())) {
      fail(block.getTerminator(), "its control flow is not structured");
      return;
    }
  skipEmptyBlocks(body);
  if (!analyze(body))
    return;
  Block *entry = &body.front();
  Block *into = addBlock();
  SmallVector<Value> arguments;
  for (BlockArgument argument : entry->getArguments())
    arguments.push_back(
        into->addArgument(argument.getType(), argument.getLoc()));
  emitChain(entry, arguments, /*stop=*/nullptr, into);
  if (failed())
    return;
  // All operations have been moved, so that the blocks left behind are empty.
  for (Block &block : llvm::make_early_inc_range(body))
    if (&block != into)
      block.erase();
}

StructuredKernel mlir::tracea::structureKernel(LLVM::LLVMFuncOp kernel) {
  StructuredKernel result;
  IRMapping mapping;
  result.kernel = cast<LLVM::LLVMFuncOp>(kernel->clone(mapping));
  for (auto [original, copy] : mapping.getOperationMap())
    result.origins[copy] = original;
  result.origins[result.kernel->getOperation()] = kernel;
  Structurer(result).run();
  return result;
}
