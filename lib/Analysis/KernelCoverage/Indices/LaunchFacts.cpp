//===- LaunchFacts.cpp - Which extents the host has compared --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LaunchFacts.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "tracea/Dialect/TraceaPipe/Utils/Launches.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/TypeSwitch.h"
#include <map>

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;

namespace {

/// The sizes that one function computes, as expressions in what it is given.
class HostSizes {
public:
  HostSizes() : math(*space) {}

  Expr get(Value value);
  Expr get(OpFoldResult size);
  Expr getDim(Value memory, int64_t dim);

  /// Learns what holds after `condition` has been checked.
  void learn(Value condition);

  /// Sizes that are equal have one number.
  unsigned getClass(const Expr &size);
  /// The expression with one symbol for all that are equal, or their number.
  Expr settle(const Expr &size);
  /// How the sizes of a class are computed: invalid, or more than a symbol.
  Expr getSize(unsigned number) const;
  /// Whether a size of the class comes from something that is not understood.
  bool isOpaque(unsigned number) const;
  std::optional<int64_t> getConstant(unsigned number) {
    auto it = constants.find(classes.findLeader(number));
    if (it == constants.end())
      return std::nullopt;
    return it->second;
  }
  /// Whether everything that was learnt is in the classes and the checks.
  bool isComplete = true;
  std::shared_ptr<cov::Space> space = std::make_shared<cov::Space>();
  cov::IndexArithmetic math;
  std::vector<cov::Constraint> checks;
  std::vector<LaunchFacts::Ratio> ratios;

private:
  bool learnRatio(arith::CmpIOp compare);
  std::optional<cov::Constraint> getConstraint(arith::CmpIOp compare);
  Expr getTruth(Value condition);
  bool isSymbol(const Expr &size) const;
  std::optional<Expr> getRatio(const Expr &a, const Expr &b);
  Expr unknown(Value value, int64_t dim);
  Expr computed(Value value);
  unsigned numberOf(const Expr &size);
  void unite(const Expr &a, const Expr &b);

  std::map<std::pair<void *, int64_t>, Expr> symbols;
  std::map<Expr, unsigned> numbers;
  std::vector<Expr> opaque;
  llvm::IntEqClasses classes;
  std::map<unsigned, int64_t> constants;
};

} // namespace

Expr HostSizes::unknown(Value value, int64_t dim) {
  auto [it, inserted] =
      symbols.try_emplace({value.getAsOpaquePointer(), dim}, Expr());
  if (!inserted) {
    // What has been compared with a number is that number from there on.
    std::optional<int64_t> known = getConstant(getClass(it->second));
    return known ? Expr(*known) : it->second;
  }
  it->second = space->symbol("s", dim < 0 ? cov::Range::from(INT64_MIN / 4)
                                          : cov::Range());
  if (value.getDefiningOp())
    opaque.push_back(it->second);
  return it->second;
}

/// A number that the host computes in a way that is not followed: it may depend
/// on other sizes.
Expr HostSizes::computed(Value value) {
  isComplete = false;
  return unknown(value, -1);
}

Expr HostSizes::get(OpFoldResult size) {
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return *constant;
  return get(cast<Value>(size));
}

Expr HostSizes::get(Value value) {
  IntegerAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant.getValue().getSignificantBits() <= 64
               ? Expr(constant.getValue().getSExtValue())
               : unknown(value, -1);
  Operation *op = value.getDefiningOp();
  if (!op)
    return unknown(value, -1);
  auto operand = [&](unsigned i) { return get(op->getOperand(i)); };
  return llvm::TypeSwitch<Operation *, Expr>(op)
      .Case([&](memref::DimOp dim) -> Expr {
        std::optional<int64_t> index = dim.getConstantIndex();
        return index ? getDim(dim.getSource(), *index) : unknown(value, -1);
      })
      .Case([&](arith::AddIOp) { return operand(0) + operand(1); })
      .Case([&](arith::SubIOp) { return operand(0) - operand(1); })
      .Case([&](arith::MulIOp) { return math.product(operand(0), operand(1)); })
      .Case([&](arith::MinSIOp) { return math.min(operand(0), operand(1)); })
      .Case([&](arith::MaxSIOp) { return math.max(operand(0), operand(1)); })
      .Case([&](affine::AffineApplyOp apply) -> Expr {
        AffineMap map = apply.getAffineMap();
        bool isDivided = false;
        Expr result = applyMap(map.getResult(0), map.getNumDims(), math,
                               operand, [&](AffineExprKind, Expr, Expr) {
                                 isDivided = true;
                                 return Expr::invalid();
                               });
        return isDivided ? computed(value) : result;
      })
      .Case<arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
            arith::DivUIOp, arith::DivSIOp, arith::RemUIOp, arith::RemSIOp>(
          [&](auto) -> Expr {
            Expr a = operand(0), b = operand(1);
            // Rounding down is what all of them do for numbers from 0.
            if (math.getInterval(b).lower.value_or(0) < 1 ||
                (!isa<arith::FloorDivSIOp, arith::CeilDivSIOp>(op) &&
                 !math.isNonNegative(a)))
              return computed(value);
            if (isa<arith::RemUIOp, arith::RemSIOp>(op))
              return math.mod(a, b);
            if (std::optional<Expr> ratio = getRatio(a, b))
              return *ratio;
            return isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op)
                       ? math.ceilDiv(a, b)
                       : math.floorDiv(a, b);
          })
      .Default([&](Operation *) { return computed(value); });
}

Expr HostSizes::getDim(Value memory, int64_t dim) {
  auto [value, number] = getSizeOrigin(memory, dim);
  if (!value)
    return number;
  if (number < 0)
    return get(value);
  // What a view joins has one extent, the same for the same extents.
  if (auto collapse = value.getDefiningOp<memref::CollapseShapeOp>()) {
    Expr product = 1;
    ReassociationIndices joined = collapse.getReassociationIndices()[number];
    for (int64_t each : joined)
      product = math.product(product, getDim(collapse.getSrc(), each));
    return product;
  }
  return unknown(value, number);
}

unsigned HostSizes::numberOf(const Expr &size) {
  auto [it, inserted] = numbers.try_emplace(size, numbers.size());
  if (inserted) {
    classes.grow(numbers.size());
    if (size.isValid() && size.isConstant())
      constants[it->second] = size.constant();
  }
  return it->second;
}

unsigned HostSizes::getClass(const Expr &size) {
  return classes.findLeader(numberOf(size));
}

bool HostSizes::isSymbol(const Expr &size) const {
  return size.terms().size() == 1 && size == Expr(size.terms().front().first) &&
         space->isVariable(size.terms().front().first);
}

Expr HostSizes::getSize(unsigned number) const {
  for (const auto &[size, other] : numbers)
    if (classes.findLeader(other) == number && size.isValid() &&
        !isSymbol(size))
      return size;
  return Expr::invalid();
}

bool HostSizes::isOpaque(unsigned number) const {
  return llvm::any_of(opaque, [&](const Expr &size) {
    auto it = numbers.find(size);
    return it != numbers.end() && classes.findLeader(it->second) == number;
  });
}

void HostSizes::unite(const Expr &a, const Expr &b) {
  unsigned x = getClass(a), y = getClass(b);
  if (x == y)
    return;
  std::optional<int64_t> constant = getConstant(x);
  if (!constant)
    constant = getConstant(y);
  unsigned leader = classes.join(x, y);
  if (constant)
    constants[leader] = *constant;
}

/// a mod b = 0: a is b times another size. Of b = max(y, 1) this is y, if y is
/// at least 1 where a is.
bool HostSizes::learnRatio(arith::CmpIOp compare) {
  Operation *rest = compare.getLhs().getDefiningOp();
  if (compare.getPredicate() != arith::CmpIPredicate::eq ||
      !isa_and_nonnull<arith::RemUIOp, arith::RemSIOp>(rest) ||
      !matchPattern(compare.getRhs(), m_Zero()))
    return false;
  Expr a = get(rest->getOperand(0)), b = get(rest->getOperand(1));
  if (!math.isNonNegative(a) || math.getInterval(b).lower.value_or(0) < 1)
    return false;
  if (auto most = rest->getOperand(1).getDefiningOp<arith::MaxSIOp>();
      most && matchPattern(most.getRhs(), m_One())) {
    Expr y = get(most.getLhs());
    Expr holds = settle(cov::atMost(math.min(a, 1), y).expr);
    if (llvm::any_of(checks, [&](const cov::Constraint &check) {
          return !check.equality && settle(check.expr) == holds;
        }))
      b = y;
  }
  if (b.isConstant())
    return false;
  cov::Term ratio = space->symbol("ratio", cov::Range());
  checks.push_back(cov::equal(math.product(ratio, b), a));
  checks.push_back(cov::atLeast(ratio, 0));
  ratios.push_back({a, b, ratio});
  return true;
}

Expr HostSizes::settle(const Expr &size) {
  std::map<cov::Term, Expr> values;
  for (cov::Term symbol : space->variables(size)) {
    unsigned number = getClass(symbol);
    if (std::optional<int64_t> known = getConstant(number)) {
      values[symbol] = *known;
      continue;
    }
    for (const auto &[other, otherNumber] : numbers)
      if (isSymbol(other) && classes.findLeader(otherNumber) == number) {
        values[symbol] = other;
        break;
      }
  }
  return space->substitute(size, values);
}

std::optional<Expr> HostSizes::getRatio(const Expr &a, const Expr &b) {
  // Two sizes that have been compared are one: the heads of keys and values.
  Expr numerator = settle(a), divisor = settle(b);
  for (const LaunchFacts::Ratio &ratio : ratios)
    if (settle(ratio.numerator) == numerator &&
        (settle(ratio.divisor) == divisor ||
         settle(math.max(ratio.divisor, 1)) == divisor))
      return Expr(ratio.symbol);
  return std::nullopt;
}

/// What a comparison says; nothing where it is not understood.
std::optional<cov::Constraint> HostSizes::getConstraint(arith::CmpIOp compare) {
  Expr a = get(compare.getLhs()), b = get(compare.getRhs());
  if (!a.isValid() || !b.isValid())
    return std::nullopt;
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::eq:
    return cov::equal(a, b);
  case arith::CmpIPredicate::slt:
    return cov::less(a, b);
  case arith::CmpIPredicate::sle:
    return cov::atMost(a, b);
  case arith::CmpIPredicate::sgt:
    return cov::less(b, a);
  case arith::CmpIPredicate::sge:
    return cov::atLeast(a, b);
  default:
    return std::nullopt;
  }
}

/// An expression that is at least 0 where the condition holds; invalid where it
/// is not understood.
Expr HostSizes::getTruth(Value condition) {
  if (matchPattern(condition, m_One()))
    return 0;
  if (matchPattern(condition, m_Zero()))
    return -1;
  Operation *op = condition.getDefiningOp();
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op)) {
    Expr a = getTruth(op->getOperand(0)), b = getTruth(op->getOperand(1));
    if (!a.isValid() || !b.isValid())
      return Expr::invalid();
    // What never holds is no alternative, and what always does no condition.
    bool isBoth = isa<arith::AndIOp>(op);
    for (auto [one, other] : {std::pair(a, b), std::pair(b, a)}) {
      cov::IndexInterval interval = math.getInterval(one);
      if (isBoth ? interval.lower.value_or(-1) >= 0
                 : interval.upper.value_or(0) < 0)
        return other;
    }
    return isBoth ? math.min(a, b) : math.max(a, b);
  }
  auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
  std::optional<cov::Constraint> constraint;
  if (compare)
    constraint = getConstraint(compare);
  return constraint ? space->truth(*constraint) : Expr::invalid();
}

void HostSizes::learn(Value condition) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    learn(both.getLhs());
    learn(both.getRhs());
    return;
  }
  if (matchPattern(condition, m_One()))
    return;
  if (condition.getDefiningOp<arith::OrIOp>()) {
    Expr truth = getTruth(condition);
    if (truth.isValid())
      checks.push_back({truth, false});
    else
      isComplete = false;
    return;
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (compare && learnRatio(compare))
    return;
  std::optional<cov::Constraint> constraint;
  if (compare)
    constraint = getConstraint(compare);
  if (!constraint) {
    isComplete = false;
    return;
  }
  if (constraint->equality)
    unite(get(compare.getLhs()), get(compare.getRhs()));
  checks.push_back(*constraint);
}

/// The checks that are passed before `launch` runs.
static void learnChecks(HostSizes &sizes, LaunchOp launch) {
  Operation *next = launch;
  while (next && !isa<ModuleOp>(next)) {
    Block *block = next->getBlock();
    if (!block)
      return;
    for (Operation &op : llvm::make_range(block->begin(), next->getIterator()))
      if (auto check = dyn_cast<cf::AssertOp>(op))
        sizes.learn(check.getArg());
    next = next->getParentOp();
  }
}

std::optional<SmallVector<LaunchOp>>
mlir::tracea::findLaunches(KernelOp kernel) {
  SmallVector<LaunchOp> launches;
  auto module = kernel->getParentOfType<ModuleOp>();
  if (!module)
    return launches;
  auto name = FlatSymbolRefAttr::get(kernel);
  // By how many operands are inputs, and by their sizes. What is an input of
  // one launch may be a result of another.
  std::map<std::pair<size_t, std::string>, std::vector<LaunchDescription>>
      known;
  for (auto function : module.getOps<func::FuncOp>()) {
    std::optional<LaunchSizes> sizes;
    function.walk([&](LaunchOp launch) {
      if (!llvm::is_contained(launch.getKernels(), name))
        return;
      if (!sizes)
        sizes.emplace(function);
      LaunchDescription description = sizes->describe(launch);
      auto &others = known[{launch.getInputs().size(), description.sizes}];
      if (llvm::any_of(others, [&](const LaunchDescription &other) {
            return description.isCoveredBy(other);
          }))
        return;
      others.push_back(std::move(description));
      launches.push_back(launch);
    });
  }
  // Another operation with a body may launch the kernel as well, behind checks
  // that are not read here.
  for (Operation &other : module.getBodyRegion().getOps())
    if (other.getNumRegions() > 0 && !isa<KernelOp, func::FuncOp>(other))
      return std::nullopt;
  return launches;
}

LaunchFacts mlir::tracea::getLaunchFacts(KernelOp kernel) {
  std::optional<SmallVector<LaunchOp>> launches = findLaunches(kernel);
  LaunchFacts facts =
      getLaunchFacts(kernel, launches.value_or(SmallVector<LaunchOp>()));
  facts.isComplete &= launches.has_value();
  return facts;
}

LaunchFacts mlir::tracea::getLaunchFacts(KernelOp kernel,
                                         ArrayRef<LaunchOp> launches) {
  LaunchFacts facts;
  facts.isLaunched = !launches.empty();

  std::vector<SizeKey> keys;
  for (auto [number, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    if (type.isIntOrIndex())
      keys.push_back({number, -1});
    if (auto memref = dyn_cast<MemRefType>(type))
      for (int64_t dim = 0; dim < memref.getRank(); ++dim)
        if (memref.isDynamicDim(dim))
          keys.push_back({number, dim});
  }
  // Equal are sizes that are equal in every launch.
  std::vector<std::vector<unsigned>> signatures(keys.size());
  std::vector<std::optional<int64_t>> constants(keys.size());
  std::unique_ptr<HostSizes> last;
  for (LaunchOp launch : launches) {
    auto sizesOfLaunch = std::make_unique<HostSizes>();
    HostSizes &sizes = *sizesOfLaunch;
    learnChecks(sizes, launch);
    SmallVector<Value> operands(launch.getInputs());
    llvm::append_range(operands, launch.getInits());
    unsigned numInputs = launch.getInputs().size();
    for (unsigned argument = 0; argument < operands.size(); ++argument)
      if (isa<MemRefType>(operands[argument].getType()))
        (argument < numInputs ? facts.inputs : facts.results)
            .try_emplace(argument, launch);
    for (auto [key, signature, constant] :
         llvm::zip(keys, signatures, constants)) {
      if (key.first >= operands.size())
        return LaunchFacts();
      Value operand = operands[key.first];
      Expr size = key.second < 0 ? sizes.get(operand)
                                 : sizes.getDim(operand, key.second);
      // Computed from equal sizes in one way, sizes are equal.
      unsigned number =
          sizes.getClass(size.isValid() ? sizes.settle(size) : size);
      signature.push_back(number);
      std::optional<int64_t> known = sizes.getConstant(number);
      if (launch == launches.front())
        constant = known;
      else if (constant != known)
        constant = std::nullopt;
    }
    facts.isComplete &= sizes.isComplete;
    if (launches.size() == 1)
      last = std::move(sizesOfLaunch);
  }
  std::map<std::vector<unsigned>, unsigned> numbers;
  for (auto [key, signature, constant] :
       llvm::zip(keys, signatures, constants)) {
    // Without launches every size is its own.
    unsigned number =
        launches.empty()
            ? facts.classes.size()
            : numbers.try_emplace(signature, numbers.size()).first->second;
    facts.classes[key] = number;
    if (constant)
      facts.constants[number] = *constant;
  }
  if (!last) {
    facts.isComplete &= launches.empty();
    return facts;
  }
  facts.host = last->space;
  facts.checks = last->checks;
  facts.ratios = last->ratios;
  for (uint32_t index = 0; index < last->space->size(); ++index) {
    cov::Term term{index};
    if (!last->space->isVariable(term))
      continue;
    auto known = numbers.find({last->getClass(term)});
    if (known != numbers.end())
      facts.symbols[term] = known->second;
    if (std::optional<int64_t> value = last->getConstant(last->getClass(term)))
      facts.values[term] = *value;
  }
  // Sizes that the host has computed from others.
  for (auto [key, signature] : llvm::zip(keys, signatures)) {
    facts.isComplete &= !last->isOpaque(signature.front());
    Expr size = last->getSize(signature.front());
    if (!size.isValid() || size.isConstant())
      continue;
    facts.computed.push_back({numbers[signature], size});
    auto [term, sign] = size.terms().front();
    if (size.terms().size() == 1 && (sign == 1 || sign == -1) &&
        !facts.symbols.count(term) && !facts.values.count(term))
      facts.inverses.insert(
          {term, {numbers[signature], sign, size.constant()}});
  }
  return facts;
}

std::optional<Expr> LaunchFacts::get(
    cov::Term hostTerm,
    llvm::function_ref<std::optional<Expr>(unsigned)> ofClass) const {
  if (auto value = values.find(hostTerm); value != values.end())
    return Expr(value->second);
  if (auto known = symbols.find(hostTerm); known != symbols.end())
    return ofClass(known->second);
  auto inverse = inverses.find(hostTerm);
  if (inverse == inverses.end())
    return std::nullopt;
  std::optional<Expr> size = ofClass(inverse->second.number);
  if (!size)
    return std::nullopt;
  return inverse->second.sign * (*size - inverse->second.offset);
}

Expr mlir::tracea::applyMap(
    AffineExpr expr, unsigned numDims, cov::IndexArithmetic &math,
    llvm::function_ref<Expr(unsigned)> operand,
    llvm::function_ref<Expr(AffineExprKind, Expr, Expr)> divide) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return operand(dim.getPosition());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return operand(numDims + symbol.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Expr lhs = applyMap(binary.getLHS(), numDims, math, operand, divide);
  Expr rhs = applyMap(binary.getRHS(), numDims, math, operand, divide);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return math.product(lhs, rhs);
  default:
    return divide(expr.getKind(), lhs, rhs);
  }
}
