//===- Sums.cpp - Each term of a sum once ---------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A multiply adds up what its operands hold along k, and loops add up
// multiplies. The dimensions of an argument that are walked along by doing so
// are coordinates, which the loops and k write: each one once, if the sum has
// each of its terms once. What copies put into a ring a multiply takes out in
// the same order, so that their loops stand for those of the multiply.

#include "KernelCoverage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <set>

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

namespace {

/// An operand of a multiply, element by element of what was staged.
struct Operand {
  Operation *product = nullptr;
  StringRef verb;
  Place place;
  SmallVector<cov::Constraint> guard;
  /// The index along k.
  Expr contracted;
  /// The ring or stage that holds it; null: an argument.
  Operation *staged = nullptr;
};

/// Where an operand comes from.
struct Source {
  const Operand *operand = nullptr;
  /// The copy; the multiply itself where nothing is staged.
  Operation *op = nullptr;
  BlockArgument buffer;
  SmallVector<Expr> indices;
  SmallVector<cov::Constraint> guard;
  /// Loops that count its steps, by depth.
  SmallVector<Operation *> loops;
  /// Copied by another role, or at another place.
  bool isRemote = false;
};

/// All sources of one operand of the multiplies of a sum.
struct Side {
  std::vector<Operand> operands;
  std::vector<Source> sources;
  std::string undecided;
  /// No memory that could be covered.
  bool isComputed = false;
};

class SumExtraction {
public:
  SumExtraction(KernelCoverage &coverage, KernelOp kernel, const Sum &sum)
      : coverage(coverage), kernel(kernel), sum(sum),
        context(coverage.getContext()), indices(coverage.indices),
        space(coverage.problem.space) {
    for (Operation *product : sum.products)
      for (auto [depth, loop] : llvm::enumerate(getLoopsAround(product)))
        if (sum.loops.contains(loop))
          depths.insert(depth);
    for (Operation *product : sum.products)
      for (Operation *outer = product->getParentOp(); outer != kernel;
           outer = outer->getParentOp())
        if (auto branch = dyn_cast<scf::IfOp>(outer))
          for (Region &region : branch->getRegions())
            if (!region.isAncestor(product->getParentRegion()))
              region.walk([&](Operation *op) {
                hasAlternatives |= isa<MmaOp, MmaAsyncOp>(op);
              });
  }

  void run();

private:
  std::optional<Operand> getOperand(Operation *product, unsigned number,
                                    Side &side);
  void addSources(const Operand &operand, Side &side);
  std::optional<Source> getSource(const Operand &operand, Operation *fill,
                                  bool isRemote, Side &side);
  bool isTerm(const Source &source, Term term) const;
  bool isContracted(const Source &source, Term term) const;
  std::vector<int64_t> getDims(const Source &source, std::string &undecided);
  std::set<size_t> getNamedDepths(const Side &side);
  bool isOfResult(const cov::Constraint &constraint);
  bool isSame(const cov::Writer &a, const Expr &k, const cov::Writer &b,
              const Expr &other);
  void addTerms(const Side &side, ArrayRef<const Source *> sources,
                const std::set<size_t> &unnamed);
  void addPairs(const Side &lhs, const Side &rhs);
  void addPair(const Source &a, const Source &b);
  std::vector<Term> getVariables(const Expr &expr) const;
  bool addGuard(const Source &source, const std::set<Term> &ids,
                SmallVectorImpl<cov::Constraint> &guard,
                std::vector<cov::Constraint> &sizes, std::string &undecided);
  std::string nameOf(Term term) const;

  KernelCoverage &coverage;
  KernelOp kernel;
  const Sum &sum;
  IndexContext &context;
  KernelIndices &indices;
  cov::Space &space;
  /// Depths of loops that add up.
  std::set<size_t> depths;
  /// Grid indices that say which part of the sum it is.
  std::set<Term> splits;
  /// Another multiply runs where this one does not.
  bool hasAlternatives = false;
};

} // namespace

/// Rounding does not change which elements a tile has.
static Value skipRounding(Value tile) {
  while (Operation *op = tile.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      break;
    tile = op->getOperand(0);
  }
  return tile;
}

std::vector<Term> SumExtraction::getVariables(const Expr &expr) const {
  std::vector<Term> found;
  for (Term term : space.variables(expr))
    if (space.kind(term) != cov::TermKind::Symbol)
      found.push_back(term);
  return found;
}

std::string SumExtraction::nameOf(Term term) const {
  auto it = indices.names.find(term);
  return it == indices.names.end() ? space.name(term) : it->second;
}

//===----------------------------------------------------------------------===//
// Operands and where they come from
//===----------------------------------------------------------------------===//

std::optional<Operand> SumExtraction::getOperand(Operation *product,
                                                 unsigned number, Side &side) {
  Operand operand;
  operand.product = product;
  operand.verb = number == 0 ? "lhs" : "rhs";
  Value value = product->getOperand(number);
  int64_t dim = number == 0 ? 1 : 0;
  TileAccess access;
  if (isRegisterTile(value.getType())) {
    auto load = skipRounding(value).getDefiningOp<LoadOp>();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!load || !type || type.getRank() != 2) {
      side.isComputed = true;
      return std::nullopt;
    }
    access = getAccesses(load, context).front();
    operand.contracted =
        context.getElement(load, 0, dim, type.getDimSize(dim), "e");
    if (auto mma = dyn_cast<MmaOp>(product); mma && mma.getDepth())
      indices.math.require(context.get(mma.getDepth()) - 1 - operand.contracted,
                           access.guard);
  } else {
    std::string verb = ("reads its " + operand.verb).str();
    bool isFound = false;
    for (TileAccess &next : getAccesses(product, context))
      if (next.verb == verb) {
        access = std::move(next);
        isFound = true;
      }
    if (!isFound) {
      side.undecided = "an operand has a shape that is not known";
      return std::nullopt;
    }
    operand.contracted = context.getElement(product, 2, 0, 1, "k");
  }
  operand.place = resolve(access.memory, access.indices, context);
  operand.guard = access.guard;
  if (!operand.place.unknown.empty()) {
    side.undecided = operand.place.unknown;
    return std::nullopt;
  }
  operand.staged = operand.place.buffer.getDefiningOp();
  return operand;
}

std::optional<Source> SumExtraction::getSource(const Operand &operand,
                                               Operation *fill, bool isRemote,
                                               Side &side) {
  Source source;
  source.operand = &operand;
  source.isRemote = isRemote;
  source.op = fill ? fill : operand.product;
  source.guard = operand.guard;
  Place place = operand.place;
  IndexScope inner = context.getScope(operand.product);
  // The loops of a copy elsewhere stand for those of the multiply.
  for (const cov::Constraint &constraint : inner.guard)
    if (!isRemote || space.isSymbolic(constraint.expr))
      source.guard.push_back(constraint);
  std::string overestimate = inner.overestimate;
  if (fill) {
    TileAccess access = getAccesses(fill, context).front();
    place = resolve(access.memory, access.indices, context);
    // The copy's element is the one that the multiply reads.
    std::map<Term, Expr> elements;
    for (auto [dim, index] : llvm::enumerate(operand.place.indices)) {
      Expr element = context.getElement(fill, 0, dim, 1, "e");
      if (!element.isConstant())
        elements[element.terms().front().first] = index;
    }
    for (Expr &index : place.indices)
      index = space.substitute(index, elements);
    for (const cov::Constraint &constraint : access.guard)
      source.guard.push_back(space.substitute(constraint, elements));
    IndexScope outer = context.getScope(fill);
    llvm::append_range(source.guard, outer.guard);
    if (overestimate.empty())
      overestimate = outer.overestimate;
  }
  if (!place.unknown.empty() || !overestimate.empty()) {
    side.undecided = place.unknown.empty() ? overestimate : place.unknown;
    return std::nullopt;
  }
  source.buffer = dyn_cast<BlockArgument>(place.buffer);
  if (!source.buffer ||
      !isa<KernelOp>(source.buffer.getOwner()->getParentOp())) {
    side.isComputed = true;
    return std::nullopt;
  }
  source.indices = place.indices;
  for (const Expr &index : source.indices)
    if (!index.isValid()) {
      side.undecided = "an index has no expression";
      return std::nullopt;
    }
  source.loops = getLoopsAround(isRemote ? fill : operand.product);
  return source;
}

void SumExtraction::addSources(const Operand &operand, Side &side) {
  auto add = [&](Operation *fill, bool isRemote) {
    if (std::optional<Source> source = getSource(operand, fill, isRemote, side))
      side.sources.push_back(std::move(*source));
  };
  if (!operand.staged || isa<StageOp>(operand.staged))
    return add(operand.staged, /*isRemote=*/false);
  auto wait = dyn_cast<WaitOp>(operand.staged);
  if (!wait) {
    side.isComputed = true;
    return;
  }
  unsigned number = cast<OpResult>(operand.place.buffer).getResultNumber();
  SmallVector<CopyOp> copies;
  bool isInParts = false;
  kernel.walk([&](AcquireOp acquire) {
    if (acquire.getChannel() != wait.getChannel() ||
        number >= acquire.getNumResults())
      return;
    for (Operation *user : acquire.getResult(number).getUsers()) {
      auto copy = dyn_cast<CopyOp>(user);
      if (copy && copy.getDest() == acquire.getResult(number))
        copies.push_back(copy);
      isInParts |= isa<ViewOp, memref::SubViewOp>(user);
    }
  });
  if (copies.empty() || isInParts) {
    side.isComputed |= copies.empty();
    if (isInParts && !copies.empty())
      side.undecided = "an operand is copied in parts";
    return;
  }
  for (CopyOp copy : copies) {
    // What is filled and read at one place has the loops of the multiply.
    Operation *inside =
        copy->getBlock()->findAncestorOpInBlock(*operand.product);
    auto acquire = copy.getDest().getDefiningOp<AcquireOp>();
    bool isHere = copies.size() == 1 && inside &&
                  copy->isBeforeInBlock(inside) &&
                  acquire.getPhase() == wait.getPhase();
    add(copy, !isHere);
  }
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

bool SumExtraction::isContracted(const Source &source, Term term) const {
  const Expr &contracted = source.operand->contracted;
  return !contracted.isConstant() && contracted.terms().front().first == term;
}

/// Whether `term` counts terms of the sum.
bool SumExtraction::isTerm(const Source &source, Term term) const {
  if (isContracted(source, term) || splits.count(term))
    return true;
  auto owner = indices.owners.find(term);
  if (owner == indices.owners.end())
    return false;
  if (sum.loops.contains(owner->second))
    return true;
  if (!source.isRemote)
    return false;
  const auto *loop = llvm::find(source.loops, owner->second);
  return loop != source.loops.end() &&
         depths.count(loop - source.loops.begin());
}

/// Dimensions of the argument that only the sum walks along.
std::vector<int64_t> SumExtraction::getDims(const Source &source,
                                            std::string &undecided) {
  std::vector<int64_t> dims;
  for (auto [dim, index] : llvm::enumerate(source.indices)) {
    bool hasTerm = false, hasContracted = false;
    std::optional<Term> foreign;
    for (Term term : getVariables(index)) {
      // A part alone chooses; it counts nothing.
      hasTerm |= isTerm(source, term) && !splits.count(term);
      hasContracted |= isContracted(source, term);
      if (!isTerm(source, term))
        foreign = term;
    }
    if (!hasTerm)
      continue;
    if (!foreign)
      dims.push_back(dim);
    else if (hasContracted)
      undecided = "where its terms begin depends on " + nameOf(*foreign);
  }
  return dims;
}

/// Whether a condition on sizes is one of the stores of the sum, or says which
/// one of several multiplies runs.
bool SumExtraction::isOfResult(const cov::Constraint &constraint) {
  if (sum.stores.empty() || hasAlternatives)
    return true;
  for (Operation *store : sum.stores)
    if (llvm::is_contained(context.getScope(store).guard, constraint))
      return true;
  return false;
}

/// Keeps what is about `ids`, and about sizes alone; what other ids must
/// satisfy says nothing of the terms.
bool SumExtraction::addGuard(const Source &source, const std::set<Term> &ids,
                             SmallVectorImpl<cov::Constraint> &guard,
                             std::vector<cov::Constraint> &sizes,
                             std::string &undecided) {
  auto mixes = [&](const Expr &expr) {
    bool hasOwn = false;
    std::optional<Term> foreign;
    for (Term term : getVariables(expr)) {
      hasOwn |= ids.count(term) > 0;
      if (!ids.count(term))
        foreign = term;
    }
    if (hasOwn && foreign)
      undecided = "which terms it has depends on " + nameOf(*foreign);
    return hasOwn;
  };
  for (const cov::Constraint &constraint : source.guard) {
    std::vector<Term> variables = getVariables(constraint.expr);
    // Where the result is stored without having been computed, terms are lost.
    if (variables.empty() && isOfResult(constraint))
      sizes.push_back(constraint);
    else if (variables.empty() && !llvm::is_contained(guard, constraint))
      guard.push_back(constraint);
    else if (mixes(constraint.expr) && !llvm::is_contained(guard, constraint))
      guard.push_back(constraint);
  }
  for (Term id : ids) {
    const cov::Range range = space.range(id);
    for (const Expr &end : {range.lower, range.upper.value_or(Expr(0))})
      for (Term term : getVariables(end))
        if (!ids.count(term))
          undecided = "which terms it has depends on " + nameOf(term);
  }
  return undecided.empty();
}

/// Depths of the sum's loops that a side's addresses name.
std::set<size_t> SumExtraction::getNamedDepths(const Side &side) {
  std::set<size_t> named;
  for (const Source &source : side.sources) {
    std::string ignored;
    for (int64_t dim : getDims(source, ignored))
      for (Term term : getVariables(source.indices[dim])) {
        auto owner = indices.owners.find(term);
        if (owner == indices.owners.end())
          continue;
        SmallVector<Operation *> own = getLoopsAround(source.operand->product);
        for (ArrayRef<Operation *> loops :
             {ArrayRef<Operation *>(source.loops), ArrayRef<Operation *>(own)})
          for (auto [depth, loop] : llvm::enumerate(loops))
            if (loop == owner->second)
              named.insert(depth);
      }
  }
  return named;
}

/// Whether two writers are one but for the name of k.
bool SumExtraction::isSame(const cov::Writer &a, const Expr &k,
                           const cov::Writer &b, const Expr &other) {
  std::map<Term, Expr> names;
  if (!k.isConstant())
    names[k.terms().front().first] = other;
  bool same = a.guard.size() == b.guard.size();
  for (auto [x, y] : llvm::zip(a.map, b.map))
    same &= space.substitute(x, names) == y;
  for (const cov::Constraint &constraint : a.guard)
    same &= llvm::is_contained(b.guard, space.substitute(constraint, names));
  return same;
}

void SumExtraction::addTerms(const Side &side, ArrayRef<const Source *> sources,
                             const std::set<size_t> &unnamed) {
  ContentClaim content;
  const Source &first = *sources.front();
  content.part.kind = CoveragePart::Terms;
  content.part.buffer = first.buffer;
  content.part.verb = first.operand->verb;
  std::string undecided = side.undecided;
  std::vector<int64_t> dims = getDims(first, undecided);
  if (dims.empty() && undecided.empty())
    return;
  content.name =
      "terms along argument " + std::to_string(first.buffer.getArgNumber());
  content.dims.assign(dims.begin(), dims.end());
  cov::AffineStage stage;
  SmallVector<const Source *> kept;
  for (const Source *source : sources) {
    if (source->buffer != first.buffer || getDims(*source, undecided) != dims)
      undecided = "its terms come from several places";
    std::set<Term> ids;
    auto addIds = [&](ArrayRef<Term> terms) {
      ids.insert(terms.begin(), terms.end());
    };
    for (int64_t dim : dims)
      addIds(getVariables(source->indices[dim]));
    // A loop that no address names adds the same terms again.
    for (auto [depth, loop] : llvm::enumerate(source->loops))
      if (auto counted = dyn_cast<scf::ForOp>(loop);
          counted && unnamed.count(depth))
        for (Term term : getVariables(context.get(counted.getInductionVar())))
          if (auto it = indices.owners.find(term);
              it != indices.owners.end() && it->second == loop)
            ids.insert(term);
    cov::Writer writer;
    writer.name = source->op->getName().stripDialect().str();
    SmallVector<cov::Constraint> guard;
    addGuard(*source, ids, guard, content.context, undecided);
    for (int64_t dim : dims) {
      const Expr &index = source->indices[dim];
      writer.map.push_back(index);
      indices.math.require(index, guard);
      indices.math.require(context.getDim(source->buffer, dim) - 1 - index,
                           guard);
    }
    indices.requireDivisors(writer.map, guard);
    writer.ids.assign(ids.begin(), ids.end());
    writer.guard.assign(guard.begin(), guard.end());
    for (Term id : ids)
      if (auto it = indices.abstractions.find(id);
          it != indices.abstractions.end())
        undecided = "which terms it has depends on " + it->second;
    // A multiply that was peeled off takes from the same copies.
    bool isKnown = false, isElsewhere = false;
    for (auto [known, other] : llvm::zip(stage.writers, kept)) {
      if (!source->isRemote || other->op != source->op ||
          other->operand->staged == source->operand->staged)
        continue;
      isElsewhere = true;
      isKnown |= isSame(writer, source->operand->contracted, known,
                        other->operand->contracted);
    }
    if (isKnown)
      continue;
    if (isElsewhere)
      undecided = "its multiplies take different parts of what is copied";
    kept.push_back(source);
    stage.writers.push_back(std::move(writer));
    content.part.ops.push_back(source->op);
    content.part.notes.push_back(source->operand->product);
  }
  for (int64_t dim : dims) {
    Term coordinate =
        space.coordinate("term", cov::Range(context.getDim(first.buffer, dim)));
    indices.names[coordinate] = "index of dimension " + std::to_string(dim);
    stage.coordinates.push_back(coordinate);
  }
  content.stage = std::move(stage);
  content.undecided = undecided;
  coverage.finish(content);
  coverage.contents.push_back(std::move(content));
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

void SumExtraction::addPair(const Source &a, const Source &b) {
  std::string undecided;
  auto getIndex = [&](const Source &source) -> std::optional<int64_t> {
    for (int64_t dim : getDims(source, undecided))
      for (Term term : getVariables(source.indices[dim]))
        if (isContracted(source, term))
          return dim;
    return std::nullopt;
  };
  std::optional<int64_t> dimA = getIndex(a), dimB = getIndex(b);
  if (!dimA || !dimB)
    return;
  // Loops of two roles are one if they are as deep and run as often.
  std::map<Term, Expr> same;
  if (a.operand->contracted != b.operand->contracted &&
      !b.operand->contracted.isConstant())
    same[b.operand->contracted.terms().front().first] = a.operand->contracted;
  for (auto [mine, other] : llvm::zip(a.loops, b.loops)) {
    if (mine == other)
      continue;
    auto x = dyn_cast<scf::ForOp>(mine), y = dyn_cast<scf::ForOp>(other);
    if (!x || !y)
      return;
    auto counter = [&](scf::ForOp loop) -> std::optional<Term> {
      for (Term term : getVariables(context.get(loop.getInductionVar())))
        if (auto it = indices.owners.find(term);
            it != indices.owners.end() && it->second == loop)
          return term;
      return std::nullopt;
    };
    std::optional<Term> s = counter(x), t = counter(y);
    if (s && t && space.range(*s).upper && space.range(*t).upper &&
        *space.range(*s).upper == *space.range(*t).upper)
      same[*t] = *s;
  }
  Expr indexA = a.indices[*dimA];
  Expr indexB = space.substitute(b.indices[*dimB], same);
  std::set<Term> ids;
  for (const Expr &index : {indexA, indexB})
    for (Term term : getVariables(index))
      ids.insert(term);
  ContentClaim content;
  content.part.kind = CoveragePart::Pairing;
  content.name = "operands have the same terms";
  content.part.ops = {a.operand->product};
  content.part.notes = {a.op, b.op};
  content.part.buffer = a.buffer;
  content.dims = {*dimA, *dimB};
  cov::Claim claim;
  claim.name = content.name;
  SmallVector<cov::Constraint> premises, conclusions;
  Source renamed = b;
  for (cov::Constraint &constraint : renamed.guard)
    constraint = space.substitute(constraint, same);
  if (!addGuard(a, ids, premises, content.context, undecided) ||
      !addGuard(renamed, ids, premises, content.context, undecided))
    content.undecided = undecided;
  conclusions.push_back(cov::equal(indexA, indexB));
  // Past the end both are zero.
  indices.math.require(context.getDim(a.buffer, *dimA) - 1 - indexA, premises);
  claim.forAll.assign(ids.begin(), ids.end());
  claim.premises.assign(premises.begin(), premises.end());
  claim.conclusions.assign(conclusions.begin(), conclusions.end());
  content.claim = std::move(claim);
  coverage.finish(content);
  coverage.contents.push_back(std::move(content));
}

void SumExtraction::addPairs(const Side &lhs, const Side &rhs) {
  std::set<std::pair<Operation *, Operation *>> seen;
  auto namesLoop = [&](const Source &source) {
    std::string ignored;
    for (int64_t dim : getDims(source, ignored))
      for (Term term : getVariables(source.indices[dim]))
        if (!isContracted(source, term))
          return true;
    return false;
  };
  for (const Source &a : lhs.sources)
    for (const Source &b : rhs.sources) {
      if (a.operand->product != b.operand->product)
        continue;
      auto acquired = [](const Source &source) -> Operation * {
        auto copy = dyn_cast<CopyOp>(source.op);
        return copy ? copy.getDest().getDefiningOp() : nullptr;
      };
      // What is copied into one slot meets; so do the only copies of two rings.
      bool isSlot = acquired(a) && acquired(a) == acquired(b);
      bool isOnly = lhs.sources.size() == lhs.operands.size() &&
                    rhs.sources.size() == rhs.operands.size();
      bool isLocal = !a.isRemote && !b.isRemote;
      bool isAny = !namesLoop(a) && !namesLoop(b);
      if (!isSlot && !isOnly && !isLocal && !isAny)
        continue;
      if (seen.insert({a.op, b.op}).second)
        addPair(a, b);
    }
}

//===----------------------------------------------------------------------===//
// A sum
//===----------------------------------------------------------------------===//

void SumExtraction::run() {
  Side sides[2];
  for (unsigned number : {0, 1}) {
    Side &side = sides[number];
    for (Operation *product : sum.products)
      if (std::optional<Operand> operand = getOperand(product, number, side))
        side.operands.push_back(std::move(*operand));
    for (const Operand &operand : side.operands)
      addSources(operand, side);
  }
  // Both operands of a part begin where it does.
  for (Term id : coverage.getSplitIds()) {
    bool isNamed = !sides[0].sources.empty() && !sides[1].sources.empty();
    for (const Side &side : sides)
      for (const Source &source : side.sources)
        isNamed &= llvm::any_of(source.indices, [&](const Expr &index) {
          std::vector<Term> terms = getVariables(index);
          return llvm::is_contained(terms, id) &&
                 llvm::any_of(terms, [&](Term term) {
                   return isContracted(source, term);
                 });
        });
    if (isNamed)
      splits.insert(id);
  }
  // Multiplies of which only one runs would count twice.
  std::string alternatives;
  for (Operation *a : sum.products)
    for (Operation *b : sum.products)
      if (a != b && a->getBlock() != b->getBlock())
        for (Operation *outer = a->getParentOp(); outer;
             outer = outer->getParentOp())
          if (auto branch = dyn_cast<scf::IfOp>(outer);
              branch && branch->isProperAncestor(b) &&
              branch.getThenRegion().findAncestorBlockInRegion(
                  *a->getBlock()) &&
              !branch.getThenRegion().findAncestorBlockInRegion(*b->getBlock()))
            alternatives = "a condition chooses between its multiplies";
  std::set<size_t> unnamed = depths;
  for (const Side &side : sides)
    for (size_t depth : getNamedDepths(side))
      unnamed.erase(depth);
  for (Side &side : sides) {
    if (side.sources.empty())
      continue;
    // Part of it is computed: which part is not known.
    if (side.isComputed)
      side.undecided = "some of its terms are computed";
    if (side.undecided.empty())
      side.undecided = alternatives;
    bool isRemote = side.sources.front().isRemote;
    for (const Source &source : side.sources)
      if (source.isRemote != isRemote && side.undecided.empty())
        side.undecided = "some of its terms are copied at another place";
    SmallVector<const Source *> all;
    for (const Source &source : side.sources)
      all.push_back(&source);
    // Without a loop that adds, or multiplies in a row, each copy is a sum.
    if (isRemote && depths.empty() && sum.products.size() == 1) {
      for (const Source *source : all)
        addTerms(side, source, unnamed);
      continue;
    }
    addTerms(side, all, unnamed);
  }
  addPairs(sides[0], sides[1]);
}

void KernelCoverage::extractSums() {
  // A grid index that is an index of the result by itself: a part of its own.
  for (Value value : kernel.getTiles().getIndices()) {
    Expr index = context.get(value);
    if (index.isConstant() || index.terms().size() != 1)
      continue;
    Term term = index.terms().front().first;
    for (const Site &site : sites) {
      std::vector<TileAccess> accesses = getAccesses(site.op, context);
      if (site.number >= accesses.size())
        continue;
      Place place = resolve(accesses[site.number].memory,
                            accesses[site.number].indices, context);
      if (llvm::is_contained(place.indices, index) &&
          !llvm::is_contained(splitIds, term))
        splitIds.push_back(term);
    }
  }
  for (const Sum &sum : getSums(kernel)) {
    SumExtraction(*this, kernel, sum).run();
    if (!choices.isEmpty())
      for (ContentClaim &content : contents)
        if (content.undecided.empty() &&
            llvm::is_contained(content.part.notes, sum.products.front()))
          content.undecided = "it depends on a choice of cases";
    choices = Choices();
  }
}
