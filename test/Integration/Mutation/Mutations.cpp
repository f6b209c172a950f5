//===- Mutations.cpp - Small random changes of kernels --------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Mutations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
using namespace ::tracea::mutants;
namespace mut = ::tracea::mutants;

namespace {

/// The operations of a module in the order of its text.
std::vector<Operation *> listOperations(ModuleOp module) {
  std::vector<Operation *> list;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != module.getOperation())
      list.push_back(op);
  });
  return list;
}

/// What `op` could have in the place of a value of this type.
SmallVector<Value> getVisible(Operation *op, Type type) {
  SmallVector<Value> values;
  for (Operation *at = op; at; at = at->getBlock()->getParentOp()) {
    Block *block = at->getBlock();
    if (!block)
      break;
    for (Value argument : block->getArguments())
      if (argument.getType() == type)
        values.push_back(argument);
    for (Operation &before : *block) {
      if (&before == at)
        break;
      for (Value result : before.getResults())
        if (result.getType() == type)
          values.push_back(result);
    }
    Operation *parent = block->getParentOp();
    if (!parent || parent->hasTrait<OpTrait::IsIsolatedFromAbove>())
      break;
  }
  return values;
}

std::string describe(Value value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  value.printAsOperand(stream, OpPrintingFlags());
  return text;
}

/// One line of an operation, without its regions.
std::string describe(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream, OpPrintingFlags().skipRegions().useLocalScope());
  return text.substr(0, text.find('\n'));
}

/// Changes one operation.
class Mutation {
public:
  Mutation(Operation *op, Random &random)
      : op(op), random(random), builder(op) {}

  /// Says what it did; empty where the dice came to nothing.
  std::string run();
  /// The operation that is gone, if one is.
  Operation *erased = nullptr;

private:
  bool changeOperand();
  bool exchangeOperands();
  bool dropOptionalOperands();
  bool changeAttribute();
  bool changeKind();
  bool erase();
  bool repeat();
  bool move();
  bool changeRegions();
  bool isTerminator() const { return op->hasTrait<OpTrait::IsTerminator>(); }
  /// What is whole only with its contents: kernels, functions, grids, roles.
  bool isFrame() const {
    return isa<KernelOp, TilesOp, RolesOp, FunctionOpInterface>(op) ||
           isa<LLVM::GlobalOp>(op);
  }
  Value makeOther(Value value);
  void eraseOp() {
    erased = op;
    op->erase();
  }

  Operation *op;
  Random &random;
  OpBuilder builder;
  std::string done;
};

} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// A value of the same type that stands close to `value` in meaning.
Value Mutation::makeOther(Value value) {
  Type type = value.getType();
  Location loc = op->getLoc();
  if (type.isIndex()) {
    int64_t by = random.pick({1, 1, 1, 2, 3, 4, 8, 16, 32, 64});
    Value number = arith::ConstantIndexOp::create(builder, loc, by);
    switch (random.below(6)) {
    case 0:
    case 1:
      done = "plus " + std::to_string(by);
      return arith::AddIOp::create(builder, loc, value, number);
    case 2:
    case 3:
      done = "minus " + std::to_string(by);
      return arith::SubIOp::create(builder, loc, value, number);
    case 4:
      done = "times " + std::to_string(by + 1);
      number = arith::ConstantIndexOp::create(builder, loc, by + 1);
      return arith::MulIOp::create(builder, loc, value, number);
    default: {
      int64_t constant = random.pick({0, 0, 1, 2, 8});
      done = "is " + std::to_string(constant);
      return arith::ConstantIndexOp::create(builder, loc, constant);
    }
    }
  }
  // Numbers of the target's IR.
  if (type.isInteger(32) || type.isInteger(64)) {
    int64_t by = random.pick({-16, -8, -2, -1, 1, 1, 2, 8, 16, 128});
    Value number = LLVM::ConstantOp::create(builder, loc, type,
                                            builder.getIntegerAttr(type, by));
    bool isSum = random.chance(0.7);
    done = (isSum ? "plus " : "is ") + std::to_string(by);
    if (!isSum)
      return number;
    return LLVM::AddOp::create(builder, loc, value, number);
  }
  if (type.isInteger(1)) {
    bool constant = random.chance(0.5);
    done = constant ? "is true" : "is false";
    return arith::ConstantIntOp::create(builder, loc, constant, 1);
  }
  if (isa<PhaseType>(type)) {
    done = "advanced";
    return AdvanceOp::create(builder, loc, value);
  }
  return {};
}

bool Mutation::changeOperand() {
  if (op->getNumOperands() == 0)
    return false;
  OpOperand &operand = op->getOpOperand(random.below(op->getNumOperands()));
  Value value = operand.get();
  Value other;
  // Upstream folds extents of computed dimensions without looking at them.
  if (isa<ShapedDimOpInterface>(op) && value.getType().isIndex()) {
    int64_t dim = random.pick({-1, 0, 1, 2});
    other = arith::ConstantIndexOp::create(builder, op->getLoc(), dim);
    done = "is " + std::to_string(dim);
  } else if (random.chance(0.5)) {
    other = makeOther(value);
  }
  if (!other) {
    SmallVector<Value> visible = getVisible(op, value.getType());
    llvm::erase(visible, value);
    if (visible.empty())
      return false;
    other = visible[random.below(visible.size())];
    done = "is another value, " + describe(other);
  }
  operand.set(other);
  done = "operand " + std::to_string(operand.getOperandNumber()) + " " + done;
  return true;
}

bool Mutation::exchangeOperands() {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    for (unsigned j = i + 1; j < op->getNumOperands(); ++j)
      if (op->getOperand(i).getType() == op->getOperand(j).getType() &&
          op->getOperand(i) != op->getOperand(j))
        pairs.push_back({i, j});
  if (pairs.empty())
    return false;
  auto [i, j] = pairs[random.below(pairs.size())];
  Value first = op->getOperand(i), second = op->getOperand(j);
  op->setOperand(i, second);
  op->setOperand(j, first);
  done = "operands " + std::to_string(i) + " and " + std::to_string(j) +
         " exchanged";
  return true;
}

/// Without its limits, depth or padding, or without one of several limits.
bool Mutation::dropOptionalOperands() {
  auto drop = [&](MutableOperandRange range, const char *what) {
    if (range.empty())
      return false;
    range.clear();
    done = std::string("without ") + what;
    return true;
  };
  if (auto load = dyn_cast<LoadOp>(op))
    return random.chance(0.7) ? drop(load.getLimitsMutable(), "limits")
                              : drop(load.getPaddingMutable(), "padding");
  if (auto store = dyn_cast<StoreOp>(op))
    return drop(store.getLimitsMutable(), "limits");
  if (auto copy = dyn_cast<CopyOp>(op))
    return drop(copy.getLimitsMutable(), "limits");
  if (auto copy = dyn_cast<CopyOutOp>(op))
    return drop(copy.getLimitsMutable(), "limits");
  if (auto stage = dyn_cast<StageOp>(op))
    return drop(stage.getLimitsMutable(), "limits");
  if (auto mma = dyn_cast<MmaOp>(op))
    return random.chance(0.5) ? drop(mma.getLimitsMutable(), "limits")
                              : drop(mma.getDepthMutable(), "depth");
  if (auto mma = dyn_cast<MmaAsyncOp>(op))
    return drop(mma.getAccMutable(), "accumulator");
  return false;
}

//===----------------------------------------------------------------------===//
// Attributes and kinds
//===----------------------------------------------------------------------===//

bool Mutation::changeAttribute() {
  SmallVector<NamedAttribute> attributes(op->getAttrDictionary().getValue());
  if (attributes.empty())
    return false;
  NamedAttribute attribute = attributes[random.below(attributes.size())];
  StringRef name = attribute.getName();
  if (isa<mlir::UnitAttr>(attribute.getValue())) {
    op->removeAttr(name);
    done = "without '" + name.str() + "'";
    return true;
  }
  Attribute changed = mutateAttribute(op, name, attribute.getValue(), random);
  if (!changed || changed == attribute.getValue())
    return false;
  op->setAttr(name, changed);
  // Numbers of enumerations that have no such case are not taken.
  if (op->getAttr(name) != changed) {
    op->setAttr(name, attribute.getValue());
    return false;
  }
  std::string text;
  llvm::raw_string_ostream(text) << changed;
  done = "'" + name.str() + "' is " + text;
  return true;
}

/// An operation of the same operands and result.
bool Mutation::changeKind() {
  static const std::vector<std::vector<StringRef>> groups = {
      {"arith.addi", "arith.subi", "arith.muli", "arith.minsi", "arith.maxsi"},
      {"arith.ceildivsi", "arith.divui", "arith.divsi", "arith.remui",
       "arith.minsi"},
      {"arith.addf", "arith.subf", "arith.mulf", "arith.maximumf",
       "arith.minimumf", "arith.divf"},
      {"arith.andi", "arith.ori", "arith.xori"},
      {"math.exp", "math.exp2", "math.sqrt", "math.absf", "arith.negf"},
      {"arith.extsi", "arith.extui"},
      {"arith.sitofp", "arith.uitofp"},
      {"llvm.add", "llvm.sub", "llvm.mul"},
      {"llvm.and", "llvm.or", "llvm.xor"},
      {"llvm.lshr", "llvm.shl", "llvm.ashr"}};
  StringRef name = op->getName().getStringRef();
  for (const std::vector<StringRef> &group : groups) {
    if (!llvm::is_contained(group, name))
      continue;
    StringRef other = random.pick(group);
    if (other == name)
      return false;
    OperationState state(op->getLoc(), other, op->getOperands(),
                         op->getResultTypes(), {});
    Operation *made = builder.create(state);
    op->replaceAllUsesWith(made->getResults());
    eraseOp();
    done = "is " + other.str();
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Operations that are missing, repeated or elsewhere
//===----------------------------------------------------------------------===//

bool Mutation::erase() {
  if (isTerminator() || isFrame())
    return false;
  SmallVector<Value> replacements;
  for (Value result : op->getResults()) {
    if (result.use_empty()) {
      replacements.push_back({});
      continue;
    }
    SmallVector<Value> others;
    for (Value operand : op->getOperands())
      if (operand.getType() == result.getType())
        others.push_back(operand);
    if (others.empty())
      others = getVisible(op, result.getType());
    if (others.empty())
      return false;
    replacements.push_back(others[random.below(others.size())]);
  }
  for (auto [result, other] : llvm::zip_equal(op->getResults(), replacements))
    if (other)
      result.replaceAllUsesWith(other);
  eraseOp();
  done = "is gone";
  return true;
}

bool Mutation::repeat() {
  if (isTerminator() || isFrame() || isa<RoleOp>(op))
    return false;
  builder.setInsertionPointAfter(op);
  Operation *copy = builder.clone(*op);
  // Of a pure operation only what uses the copy can tell.
  if (op->getNumResults() != 0 && random.chance(0.5))
    for (auto [first, second] :
         llvm::zip_equal(op->getResults(), copy->getResults()))
      first.replaceUsesWithIf(second, [&](OpOperand &use) {
        return use.getOwner() != copy && random.chance(0.5);
      });
  done = "is there twice";
  return true;
}

bool Mutation::move() {
  if (isTerminator() || isFrame() || isa<RoleOp>(op))
    return false;
  Operation *parent = op->getParentOp();
  bool leaves = isa<scf::ForOp, scf::IfOp>(parent) && random.chance(0.3);
  if (leaves) {
    bool before = random.chance(0.5);
    if (before)
      op->moveBefore(parent);
    else
      op->moveAfter(parent);
    done =
        before ? "stands before what holds it" : "stands after what holds it";
    return true;
  }
  bool down = random.chance(0.5);
  Operation *other = op;
  int64_t steps = random.pick({1, 1, 2, 3, 5});
  for (; steps > 0; --steps) {
    Operation *next = down ? other->getNextNode() : other->getPrevNode();
    if (!next || next->hasTrait<OpTrait::IsTerminator>())
      break;
    other = next;
  }
  if (other == op)
    return false;
  done =
      std::string("stands ") + (down ? "after " : "before ") + describe(other);
  if (down)
    op->moveAfter(other);
  else
    op->moveBefore(other);
  return true;
}

bool Mutation::changeRegions() {
  if (op->getNumSuccessors() == 2) {
    Block *first = op->getSuccessor(0);
    op->setSuccessor(op->getSuccessor(1), 0);
    op->setSuccessor(first, 1);
    done = "successors exchanged";
    return true;
  }
  auto branch = dyn_cast<scf::IfOp>(op);
  if (!branch || branch.getElseRegion().empty())
    return false;
  Region &first = branch.getThenRegion(), &second = branch.getElseRegion();
  switch (random.below(3)) {
  case 0: {
    Region kept;
    kept.takeBody(first);
    first.takeBody(second);
    second.takeBody(kept);
    done = "branches exchanged";
    return true;
  }
  case 1: {
    IRMapping mapping;
    second.getBlocks().clear();
    first.cloneInto(&second, mapping);
    done = "the first branch in both";
    return true;
  }
  default: {
    IRMapping mapping;
    first.getBlocks().clear();
    second.cloneInto(&first, mapping);
    done = "the second branch in both";
    return true;
  }
  }
}

std::string Mutation::run() {
  using Kind = bool (Mutation::*)();
  static const Kind kinds[] = {&Mutation::changeOperand,
                               &Mutation::changeOperand,
                               &Mutation::changeOperand,
                               &Mutation::changeAttribute,
                               &Mutation::changeAttribute,
                               &Mutation::exchangeOperands,
                               &Mutation::dropOptionalOperands,
                               &Mutation::changeKind,
                               &Mutation::erase,
                               &Mutation::repeat,
                               &Mutation::move,
                               &Mutation::changeRegions};
  std::string before = describe(op);
  for (int attempt = 0; attempt < 12; ++attempt)
    if ((this->*kinds[random.below(std::size(kinds))])())
      return before + ": " + done;
  return "";
}

//===----------------------------------------------------------------------===//
// Edits
//===----------------------------------------------------------------------===//

std::vector<Edit> mut::drawEdits(Random &random, ModuleOp module) {
  std::vector<Operation *> operations = listOperations(module);
  auto count = static_cast<int64_t>(operations.size());
  // On the target IR, what synchronises is rare among arithmetic.
  std::vector<int64_t> ofTarget;
  for (auto [number, op] : llvm::enumerate(operations))
    if (isa<LLVM::InlineAsmOp>(op) || isa<NVVM::NVVMDialect>(op->getDialect()))
      ofTarget.push_back(static_cast<int64_t>(number));
  std::vector<Edit> edits;
  int64_t number = random.chance(0.75) ? 1 : random.chance(0.7) ? 2 : 3;
  while (static_cast<int64_t>(edits.size()) < number) {
    bool picked = !ofTarget.empty() && random.chance(0.6);
    int64_t operation = picked ? random.pick(ofTarget) : random.below(count);
    edits.push_back({operation, random.next()});
  }
  return edits;
}

std::vector<Change> mut::applyEdits(ModuleOp module, ArrayRef<Edit> edits) {
  std::vector<Operation *> operations = listOperations(module);
  std::vector<Change> done;
  for (const Edit &edit : edits) {
    Operation *op = operations[edit.operation];
    if (!op) {
      done.emplace_back();
      continue;
    }
    Random random(edit.seed);
    // What goes takes its contents along.
    std::vector<Operation *> inside;
    op->walk([&](Operation *inner) { inside.push_back(inner); });
    bool isBranch = isa<scf::IfOp>(op);
    bool onHost = op->getParentOfType<func::FuncOp>() || isa<func::FuncOp>(op);
    Mutation mutation(op, random);
    done.push_back({mutation.run(), onHost});
    // The bodies of branches may be copies, and the originals gone.
    bool replaced = isBranch && !mutation.erased;
    for (Operation *&other : operations)
      if ((mutation.erased && llvm::is_contained(inside, other)) ||
          (replaced && other != op && llvm::is_contained(inside, other)))
        other = nullptr;
  }
  return done;
}
