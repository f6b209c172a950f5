//===- KernelCoverage.cpp - Accesses of a kernel as claims ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelCoverage.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Dominance.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"
#include <set>

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

KernelCoverage::KernelCoverage(KernelOp kernel)
    : indices(kernel, problem.space), kernel(kernel),
      context(indices, choices, /*forOutput=*/false) {
  problem.name = kernel.getSymName().str();
}

void KernelCoverage::gap(Operation *op, const Twine &reason) {
  std::string text = reason.str();
  for (const CoverageGap &known : gaps)
    if (known.op == op && known.reason == text)
      return;
  gaps.push_back({op, text});
}

std::vector<Term>
KernelCoverage::getIds(ArrayRef<Expr> exprs,
                       ArrayRef<cov::Constraint> guard) const {
  const cov::Space &space = problem.space;
  std::set<Term> ids;
  std::vector<Term> open;
  auto add = [&](const Expr &expr) {
    for (Term term : space.variables(expr))
      if (space.kind(term) != cov::TermKind::Symbol && ids.insert(term).second)
        open.push_back(term);
  };
  for (const Expr &expr : exprs)
    add(expr);
  for (const cov::Constraint &constraint : guard)
    add(constraint.expr);
  while (!open.empty()) {
    const cov::Range range = space.range(open.back());
    open.pop_back();
    add(range.lower);
    if (range.upper)
      add(*range.upper);
  }
  return {ids.begin(), ids.end()};
}

std::string KernelCoverage::getDoubt(ArrayRef<Expr> exprs,
                                     ArrayRef<cov::Constraint> guard,
                                     const IndexScope &scope) const {
  if (!scope.overestimate.empty())
    return scope.overestimate;
  const cov::Space &space = problem.space;
  std::set<Term> seen;
  std::vector<Term> open;
  auto add = [&](const Expr &expr) {
    for (Term term : space.variables(expr))
      if (seen.insert(term).second)
        open.push_back(term);
  };
  for (const Expr &expr : exprs)
    add(expr);
  for (const cov::Constraint &constraint : guard)
    add(constraint.expr);
  std::set<unsigned> arguments;
  while (!open.empty()) {
    Term term = open.back();
    open.pop_back();
    if (auto it = indices.abstractions.find(term);
        it != indices.abstractions.end())
      return "it depends on " + it->second;
    if (auto it = indices.symbolArguments.find(term);
        it != indices.symbolArguments.end())
      arguments.insert(it->second);
    const cov::Range range = space.range(term);
    add(range.lower);
    if (range.upper)
      add(*range.upper);
  }
  if (!indices.facts.isComplete && !arguments.empty())
    return "it depends on more than the extents that the host compares";
  bool hasIntegers = llvm::any_of(arguments, [&](unsigned argument) {
    return !isa<MemRefType>(indices.type.getInput(argument));
  });
  if (!indices.facts.isLaunched && hasIntegers)
    return "no launch says what the integer arguments are";
  if (hasIntegers && !indices.facts.computed.empty())
    return "it depends on an integer argument that the host computes";
  if (!indices.facts.isLaunched && arguments.size() > 1)
    return "no launch compares the extents of the arguments";
  return "";
}

/// A problem names all ids of its space: an id that nothing names might write
/// everything again. The ids of other parts, and those that no address names,
/// make no difference.
void mlir::tracea::addOtherIds(cov::Problem &problem) {
  std::set<Term> used;
  for (const cov::Stage &stage : problem.stages)
    if (const auto *affine = std::get_if<cov::AffineStage>(&stage.kind)) {
      for (const cov::Writer &writer : affine->writers)
        used.insert(writer.ids.begin(), writer.ids.end());
    } else if (const auto *euclid =
                   std::get_if<cov::EuclidStage>(&stage.kind)) {
      used.insert({euclid->whole, euclid->quotient, euclid->remainder});
    } else if (const auto *raster =
                   std::get_if<cov::RasterStage>(&stage.kind)) {
      used.insert(raster->linear);
    }
  for (const cov::Access &access : problem.accesses)
    used.insert(access.ids.begin(), access.ids.end());
  for (const cov::Claim &claim : problem.claims)
    used.insert(claim.forAll.begin(), claim.forAll.end());
  cov::Claim others;
  others.name = "ids that no address names";
  for (uint32_t index = 0; index < problem.space.size(); ++index) {
    Term term{index};
    if (problem.space.isVariable(term) &&
        problem.space.kind(term) == cov::TermKind::Id && !used.count(term))
      others.forAll.push_back(term);
  }
  if (!others.forAll.empty())
    problem.claims.push_back(others);
}

cov::Problem KernelCoverage::getProblem(const CoveragePart &part) const {
  cov::Problem single;
  single.name = problem.name;
  single.space = problem.space;
  single.assumptions = problem.assumptions;
  single.stages.assign(problem.stages.begin() + part.firstStage,
                       problem.stages.begin() + part.endStage);
  single.outputs.assign(problem.outputs.begin() + part.firstOutput,
                        problem.outputs.begin() + part.endOutput);
  if (part.access >= 0)
    single.accesses = {problem.accesses[part.access]};
  if (part.claim >= 0)
    single.claims = {problem.claims[part.claim]};
  addOtherIds(single);
  return single;
}

cov::Problem KernelCoverage::getFirstOf(const CoveragePart &part) const {
  cov::Problem single = getProblem(part);
  cov::Claim &claim = single.claims.front();
  std::map<Term, Expr> first;
  for (Term id : part.freeIds)
    first[id] = 0;
  for (std::vector<cov::Constraint> *constraints :
       {&claim.premises, &claim.conclusions})
    for (cov::Constraint &constraint : *constraints)
      constraint = single.space.substitute(constraint, first);
  return single;
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

static std::string nameBuffer(Value buffer) {
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    return "argument " + std::to_string(argument.getArgNumber());
  return buffer.getDefiningOp()->getName().stripDialect().str();
}

void KernelCoverage::addAccess(const TileAccess &access,
                               const IndexScope &scope) {
  Place place = resolve(access.memory, access.indices, context);
  if (!place.unknown.empty())
    return gap(access.op, place.unknown);
  SmallVector<cov::Constraint> guard(scope.guard);
  for (const cov::Constraint &constraint : access.guard)
    if (!llvm::is_contained(guard, constraint))
      guard.push_back(constraint);

  cov::Access claim;
  claim.name = (access.op->getName().stripDialect() + " " + access.verb + " " +
                nameBuffer(place.buffer))
                   .str();
  CoveragePart part;
  auto bound = [&](const Expr &index, const Expr &extent, int64_t dim) {
    // A window's coordinates are mostly in bounds by their ranges.
    if (dim < 0 && indices.math.isNonNegative(index) &&
        indices.math.isNonNegative(extent - 1 - index))
      return;
    for (const Expr &upper : indices.math.splitMinima(extent)) {
      claim.map.push_back(index);
      claim.bounds.push_back(cov::Range(upper));
      part.dims.push_back(dim);
    }
  };
  for (auto &[index, extent] : place.windowBounds)
    bound(index, extent, -1);
  for (auto [dim, index] : llvm::enumerate(place.indices))
    bound(index, context.getDim(place.buffer, dim), dim);
  SmallVector<Expr> exprs(claim.map.begin(), claim.map.end());
  for (const cov::Range &range : claim.bounds)
    exprs.push_back(*range.upper);
  for (const Expr &expr : exprs)
    if (!expr.isValid())
      return gap(access.op, "an index has no expression");
  indices.requireDivisors(exprs, guard);
  claim.ids = getIds(exprs, guard);
  claim.guard.assign(guard.begin(), guard.end());

  part.kind = CoveragePart::Access;
  part.access = problem.accesses.size();
  part.ops = {access.op};
  part.verb = access.verb;
  part.buffer = place.buffer;
  part.notes = place.windows;
  part.doubt = getDoubt(exprs, guard, scope);
  problem.accesses.push_back(std::move(claim));
  parts.push_back(std::move(part));
  if (!access.isWrite && !access.isHint)
    addFill(access, place, scope);
}

void KernelCoverage::addClaim(CoveragePart part, cov::Claim claim) {
  part.claim = problem.claims.size();
  problem.claims.push_back(std::move(claim));
  parts.push_back(std::move(part));
}

void KernelCoverage::addObligations(IndexContext &from) {
  for (const IndexObligation &obligation : from.obligations) {
    IndexScope scope = from.getScope(obligation.op);
    cov::Claim claim;
    claim.name = "operand of " + obligation.op->getName().stripDialect().str();
    claim.premises.assign(scope.guard.begin(), scope.guard.end());
    indices.math.require(obligation.nonNegative,
                         scope.guard); // as pieces without minima
    claim.conclusions.assign(scope.guard.begin() + claim.premises.size(),
                             scope.guard.end());
    claim.forAll = getIds({}, scope.guard);
    CoveragePart part;
    part.kind = CoveragePart::Obligation;
    part.ops = {obligation.op};
    part.doubt = "an operand of it is taken not to be negative";
    addClaim(std::move(part), std::move(claim));
  }
  from.obligations.clear();
}

//===----------------------------------------------------------------------===//
// Fills
//===----------------------------------------------------------------------===//

void KernelCoverage::addFill(const TileAccess &access, const Place &place,
                             const IndexScope &scope) {
  if (!access.isNeeded)
    return;
  // The copies that fill the slot which is read: of the same ring and phase.
  Operation *source = place.buffer.getDefiningOp();
  SmallVector<Operation *> fills;
  unsigned number = 0;
  bool isFilledInParts = false;
  if (isa_and_nonnull<StageOp>(source)) {
    fills.push_back(source);
  } else if (auto wait = dyn_cast_or_null<WaitOp>(source)) {
    number = cast<OpResult>(place.buffer).getResultNumber();
    kernel.walk([&](AcquireOp acquire) {
      if (acquire.getChannel() != wait.getChannel() ||
          number >= acquire.getNumResults())
        return;
      for (Operation *user : acquire.getResult(number).getUsers()) {
        if (isa<CopyOp>(user) &&
            cast<CopyOp>(user).getDest() == acquire.getResult(number))
          fills.push_back(user);
        if (isa<ViewOp, memref::SubViewOp>(user) &&
            llvm::any_of(user->getUsers(), llvm::IsaPred<CopyOp>))
          isFilledInParts = true;
      }
    });
  }
  if (isFilledInParts)
    return gap(access.op, "what it reads is copied in parts");
  for (Operation *fill : fills) {
    ValueRange limits = getTileTransfer(fill)->limits;
    if (limits.empty())
      continue;
    bool isSame = isa<StageOp>(fill);
    if (auto wait = dyn_cast<WaitOp>(source))
      if (auto acquire =
              cast<CopyOp>(fill).getDest().getDefiningOp<AcquireOp>())
        isSame = acquire.getPhase() == wait.getPhase() && fills.size() == 1 &&
                 fill->getBlock()->findAncestorOpInBlock(*access.op) &&
                 fill->isBeforeInBlock(
                     fill->getBlock()->findAncestorOpInBlock(*access.op));
    cov::Claim claim;
    claim.name = (access.op->getName().stripDialect() + " " + access.verb +
                  " where it was copied")
                     .str();
    SmallVector<cov::Constraint> guard(scope.guard);
    for (const cov::Constraint &constraint : access.guard)
      if (!llvm::is_contained(guard, constraint))
        guard.push_back(constraint);
    SmallVector<cov::Constraint> conclusions;
    for (auto [index, limit, extent] :
         llvm::zip(place.indices, limits,
                   cast<ShapedType>(place.buffer.getType()).getShape())) {
      Expr end = context.get(limit);
      if (!indices.math.isNonNegative(end - extent))
        indices.math.require(end - 1 - index, conclusions);
    }
    if (conclusions.empty())
      continue;
    if (!isSame) {
      gap(access.op, "what it reads is copied up to limits at another place");
      continue;
    }
    indices.requireDivisors(place.indices, guard);
    claim.premises.assign(guard.begin(), guard.end());
    claim.conclusions.assign(conclusions.begin(), conclusions.end());
    llvm::append_range(guard, conclusions);
    claim.forAll = getIds({}, guard);
    CoveragePart part;
    part.kind = CoveragePart::Fill;
    part.ops = {access.op};
    part.verb = access.verb;
    part.buffer = place.buffer;
    part.notes = {fill};
    part.freeIds = access.freeIds;
    part.doubt = getDoubt({}, guard, scope);
    addClaim(std::move(part), std::move(claim));
  }
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Of an empty grid, as what the host compares may make it, nothing runs.
bool KernelCoverage::hasTiles() {
  return llvm::none_of(kernel.getTiles().getBounds(), [&](Value bound) {
    return context.get(bound) == Expr(0);
  });
}

void KernelCoverage::extractAccesses(Operation *op) {
  hasUnknown |= hasUnknownAccess(op);
  if (hasUnknownAccess(op))
    return gap(op, "how it reads and writes memory is not known");
  bool isFirst = true;
  do {
    std::vector<TileAccess> accesses = getAccesses(op, context);
    if (accesses.empty())
      break;
    IndexScope scope = context.getScope(op);
    for (auto [number, access] : llvm::enumerate(accesses)) {
      if (hasTiles())
        addAccess(access, scope);
      Value buffer = getBuffer(access.memory);
      if (!access.isWrite || !isFirst)
        continue;
      if (auto view = buffer.getDefiningOp<memref::ReinterpretCastOp>())
        buffer = view.getSource();
      if (!isa<BlockArgument>(buffer))
        continue;
      Site site{op, static_cast<unsigned>(number), buffer, scope.loops, {}};
      // A loop that the address does not name writes everything again.
      Place place = resolve(access.memory, access.indices, context);
      std::set<Term> named;
      std::vector<Term> open = getIds(place.indices, {});
      while (!open.empty()) {
        Term term = open.back();
        open.pop_back();
        if (!named.insert(term).second)
          continue;
        if (auto it = indices.origins.find(term); it != indices.origins.end())
          llvm::append_range(open, it->second);
      }
      for (Operation *outer : scope.loops) {
        auto loop = dyn_cast<scf::ForOp>(outer);
        if (!loop)
          continue;
        Expr iv = context.get(loop.getInductionVar());
        // Only its own counter counts, not where it starts.
        Expr counter = iv - context.get(loop.getLowerBound());
        bool isNamed = false;
        for (Term term : problem.space.variables(iv))
          if (auto it = indices.owners.find(term);
              it != indices.owners.end() && it->second == outer)
            isNamed |= named.count(term) > 0;
        if (!isNamed && !counter.isConstant())
          site.repeated.push_back(outer);
      }
      sites.push_back(site);
    }
    isFirst = false;
  } while (choices.advance());
  choices = Choices();
}

/// A loop that steps by 0 never ends, and what follows it never happens. Inside
/// of the grid its extents are at least 1.
void KernelCoverage::checkStep(scf::ForOp loop) {
  Value step = loop.getStep();
  if (!llvm::is_contained(kernel.getTiles().getBounds(), step) &&
      context.math.getInterval(context.get(step)).lower.value_or(0) < 1)
    gap(loop, "its step may be 0");
}

/// Extents are looked up where they lie in memory.
void KernelCoverage::checkDimension(memref::DimOp op) {
  auto interval = context.math.getInterval(context.get(op.getIndex()));
  auto type = cast<ShapedType>(op.getSource().getType());
  if (!type.hasRank() || interval.lower.value_or(-1) < 0 ||
      interval.upper.value_or(type.getRank()) >= type.getRank())
    gap(op, "it may take a dimension that is not there");
}

/// What no access needs is divided, too. The host stops at sizes that are 0;
/// what changes while the kernel runs has to be something else.
void KernelCoverage::checkDivision(Operation *op) {
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp,
           arith::CeilDivSIOp, arith::CeilDivUIOp, arith::RemSIOp,
           arith::RemUIOp>(op) ||
      !op->getResult(0).getType().isIndex())
    return;
  Expr divisor = context.get(op->getOperand(1));
  if (divisor.isValid() && !problem.space.isSymbolic(divisor) &&
      !indices.math.isNonNegative(divisor - 1))
    context.get(op->getResult(0)); // which asks for it
}

void KernelCoverage::extract() {
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      checkStep(loop);
    if (auto dim = dyn_cast<memref::DimOp>(op))
      checkDimension(dim);
    if (op != kernel)
      extractAccesses(op);
  });
  extractResults();
  extractOutputs();
  extractValues();
  extractSums();
  extractSlots();
  extractClusterMemory();
  kernel.walk([&](Operation *op) { checkDivision(op); });
  addObligations(context);
  extractGrid();
  problem.assumptions = indices.getAssumptions();
  problem.numGranted = indices.getRequired().size();
  addOtherIds(problem);
}
