//===- Outputs.cpp - Who writes which element of a result -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores into one buffer that exclude each other (the branches of a condition,
// different roles), or write pieces of one tile, share the elements between
// them. Stores in a row each write
// all elements, and what one has written the next one may only overwrite in the
// same tile. A loop that the address does not name writes everything again in
// each of its iterations: its counter is any number, and it has to run.

#include "KernelCoverage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"
#include <set>

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

/// Whether at most one of two operations runs, or they run in different roles.
static bool areAlternatives(Operation *a, Operation *b) {
  for (Region *region = a->getParentRegion(); region;
       region = region->getParentRegion()) {
    Operation *parent = region->getParentOp();
    if (!parent->isProperAncestor(b))
      continue;
    if (isa<scf::IfOp>(parent))
      return !region->isAncestor(b->getParentRegion());
    return isa<RolesOp>(parent);
  }
  return false;
}

/// The constant by which `b` is more than `a`; nothing if that is not known.
static std::optional<int64_t> getDistance(Value a, Value b) {
  if (a == b)
    return 0;
  std::optional<int64_t> from = getConstantIntValue(a);
  std::optional<int64_t> to = getConstantIntValue(b);
  int64_t distance = 0;
  if (from && to && !llvm::SubOverflow(*to, *from, distance))
    return distance;
  auto offset = [](Value sum, Value base) -> std::optional<int64_t> {
    auto add = sum.getDefiningOp<arith::AddIOp>();
    if (!add)
      return std::nullopt;
    if (add.getLhs() == base)
      return getConstantIntValue(add.getRhs());
    if (add.getRhs() == base)
      return getConstantIntValue(add.getLhs());
    return std::nullopt;
  };
  if (std::optional<int64_t> more = offset(b, a))
    return more;
  if (std::optional<int64_t> more = offset(a, b); more && *more != INT64_MIN)
    return -*more;
  return std::nullopt;
}

/// Whether places are a constant apart; into `differ`, if that is not zero.
static bool areApart(ValueRange a, ValueRange b, bool &differ) {
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    std::optional<int64_t> distance = getDistance(x, y);
    if (!distance)
      return false;
    differ |= *distance != 0;
  }
  return true;
}

/// Whether a store is in no loop but those whose iterations are lanes: where
/// two of these write one element, that is a race.
static bool isOfLanes(Operation *store) {
  Operation *loop = store->getParentOfType<LoopLikeOpInterface>();
  while (isa_and_nonnull<scf::ForallOp>(loop))
    loop = loop->getParentOfType<LoopLikeOpInterface>();
  return !loop;
}

/// Whether two stores in a row write pieces of one tile, or of what one lane
/// has: at places that are a constant apart.
static bool arePieces(Operation *a, Operation *b) {
  if (a->getBlock() != b->getBlock() || a->getName() != b->getName())
    return false;
  if (auto first = dyn_cast<memref::StoreOp>(a)) {
    auto second = cast<memref::StoreOp>(b);
    bool differ = false;
    return isOfLanes(a) && first.getMemRef() == second.getMemRef() &&
           areApart(first.getIndices(), second.getIndices(), differ) && differ;
  }
  if (auto first = dyn_cast<vector::StoreOp>(a)) {
    auto second = cast<vector::StoreOp>(b);
    bool differ = false;
    return first.getBase() == second.getBase() &&
           areApart(first.getIndices(), second.getIndices(), differ) && differ;
  }
  if (!isa<CopyOutOp, StoreOp>(a))
    return false;
  TileTransfer first = *getTileTransfer(a), second = *getTileTransfer(b);
  if (first.memory != second.memory || first.map != second.map ||
      first.along != second.along)
    return false;
  bool differ = false;
  for (auto [x, y] : llvm::zip_equal(first.walks, second.walks)) {
    DelinearizeOp one = getDelinearize(x), other = getDelinearize(y);
    if (!one || !other)
      return false;
    std::optional<int64_t> distance =
        getDistance(one.getFirst(), other.getFirst());
    if (!distance || one.getBasis() != other.getBasis())
      return false;
    differ |= *distance != 0;
  }
  return areApart(first.indices, second.indices, differ) && differ;
}

/// Whether a store adds to what its element held: it reads the same element in
/// the same iteration. Without iterations the element keeps its value, which is
/// what a sum of no terms onto it is.
static bool addsToElement(Operation *op) {
  auto isSame = [](Value a, Value b) {
    Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
    return a == b || (x && y && isPure(x) &&
                      OperationEquivalence::isEquivalentTo(
                          x, y, OperationEquivalence::IgnoreLocations));
  };
  auto isRead = [&](Value memory, ValueRange indices, auto load) {
    return load && load->getOperand(0) == memory && load->isBeforeInBlock(op) &&
           llvm::all_of_zip(load.getIndices(), indices, isSame);
  };
  return llvm::any_of(*op->getBlock(), [&](Operation &other) {
    if (auto store = dyn_cast<memref::StoreOp>(op))
      return isRead(store.getMemRef(), store.getIndices(),
                    dyn_cast<memref::LoadOp>(other));
    auto store = dyn_cast<vector::StoreOp>(op);
    auto load = dyn_cast<vector::LoadOp>(other);
    return store && load && load.getVectorType() == store.getVectorType() &&
           isRead(store.getBase(), store.getIndices(), load);
  });
}

static bool mentions(const cov::Space &space, const Expr &expr, Term term) {
  return llvm::is_contained(space.variables(expr), term);
}

/// Loops that sum over elements write the same ones again and again.
static void dropReductions(linalg::LinalgOp op, IndexContext &context,
                           const Place &place, IndexScope &scope) {
  const cov::Space &space = context.math.space;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (auto [iterator, loop] : llvm::zip(iterators, context.getLoops(op))) {
    if (iterator != utils::IteratorType::reduction || loop.terms().size() != 1)
      continue;
    Term id = loop.terms().front().first;
    if (llvm::any_of(place.indices, [&](const Expr &index) {
          return mentions(space, index, id);
        }))
      continue;
    llvm::erase(scope.ids, id);
    llvm::erase_if(scope.guard, [&](const cov::Constraint &constraint) {
      return mentions(space, constraint.expr, id);
    });
  }
}

void KernelCoverage::extractOutputs() {
  llvm::MapVector<Value, std::vector<Site>> outputs;
  for (const Site &site : sites)
    outputs[site.buffer].push_back(site);
  for (auto &[buffer, writers] : outputs) {
    std::vector<std::vector<Site>> classes;
    for (const Site &site : writers) {
      auto joins = [&](const Site &other) {
        return areAlternatives(site.op, other.op) ||
               arePieces(site.op, other.op);
      };
      if (!classes.empty() && llvm::any_of(classes.back(), joins))
        classes.back().push_back(site);
      else
        classes.push_back({site});
    }
    for (size_t number = 0; number < classes.size(); ++number) {
      extractOutput(buffer, classes[number]);
      for (size_t before = 0; before < number; ++before)
        addOwners(classes[before], classes[number]);
    }
  }
}

/// Stores that walk make numbers: those take the place of the dimensions that
/// the coordinates of the numbers lie in, which are in `along`. Why that is not
/// known, or nothing.
static std::string makeNumbers(const cov::Space &space, IndexContext &context,
                               cov::Writer &writer,
                               std::map<size_t, Expr> &along) {
  auto isWalked = [&](Term term) {
    return llvm::any_of(context.walked, [&](const auto &walked) {
      return llvm::is_contained(walked.coordinates, Expr(term));
    });
  };
  std::vector<Expr> map;
  for (IndexContext::Walked &walked : context.walked) {
    if (!walked.number)
      return "stores walk through different numbers";
    map.push_back(*std::exchange(walked.number, std::nullopt));
  }
  bool isFirst = along.empty();
  std::map<size_t, Expr> own;
  for (auto [dim, index] : llvm::enumerate(writer.map)) {
    std::vector<Term> terms = space.variables(index);
    if (llvm::none_of(terms, isWalked))
      map.push_back(index);
    else if (llvm::all_of(terms, isWalked))
      own[dim] = index;
    else
      return "an index has more than a coordinate of what it walks through";
  }
  for (const cov::Constraint &constraint : writer.guard)
    if (llvm::any_of(space.variables(constraint.expr), isWalked))
      return "a condition names a coordinate of what it walks through";
  if (!isFirst && own != along)
    return "stores walk through different dimensions";
  along = std::move(own);
  writer.map = std::move(map);
  return "";
}

/// What stores make that walk: numbers, which stages take apart, and indices of
/// other dimensions. The stage of the elements puts all of these together.
cov::AffineStage
KernelCoverage::addNumbers(cov::AffineStage stage, const IndexContext &context,
                           const std::map<size_t, Expr> &along) {
  cov::AffineStage numbers{{}, std::move(stage.writers)};
  cov::Writer writer{"walk", {}, {}, {}, {}};
  for (const IndexContext::Walked &walked : context.walked) {
    numbers.coordinates.push_back(walked.whole);
    for (const Expr &coordinate : walked.coordinates)
      llvm::append_range(writer.ids, problem.space.variables(coordinate));
  }
  for (auto [dim, coordinate] : llvm::enumerate(stage.coordinates)) {
    if (auto it = along.find(dim); it != along.end()) {
      writer.map.push_back(it->second);
      continue;
    }
    Term other =
        problem.space.coordinate("other", problem.space.range(coordinate));
    indices.names[other] = "index " + std::to_string(dim);
    numbers.coordinates.push_back(other);
    writer.ids.push_back(other);
    writer.map.push_back(other);
  }
  problem.stages.push_back({"numbers", std::move(numbers)});
  for (const IndexContext::Walked &walked : context.walked)
    llvm::append_range(problem.stages, walked.stages);
  stage.writers = {std::move(writer)};
  return stage;
}

/// A result without elements, whatever stores to it: that no store writes one
/// is what is claimed of its bounds.
bool KernelCoverage::extractEmptyOutput(Value buffer, ArrayRef<Site> sites) {
  SmallVector<Expr> extents;
  for (int64_t dim = 0, rank = cast<MemRefType>(buffer.getType()).getRank();
       dim < rank; ++dim)
    extents.push_back(context.getDim(buffer, dim));
  if (!llvm::is_contained(extents, Expr(0)))
    return false;
  cov::AffineStage stage;
  for (const Expr &extent : extents)
    stage.coordinates.push_back(
        problem.space.coordinate("at", cov::Range(extent)));
  CoveragePart part;
  part.kind = CoveragePart::Output;
  part.buffer = buffer;
  part.verb = "writes";
  for (const Site &site : sites)
    part.ops.push_back(site.op);
  part.firstStage = problem.stages.size();
  part.firstOutput = problem.outputs.size();
  llvm::append_range(problem.outputs, stage.coordinates);
  problem.stages.push_back({"no elements", std::move(stage)});
  part.endStage = problem.stages.size();
  part.endOutput = problem.outputs.size();
  parts.push_back(part);
  return true;
}

void KernelCoverage::extractOutput(Value buffer, ArrayRef<Site> sites) {
  if (extractEmptyOutput(buffer, sites))
    return;
  llvm::DenseSet<Operation *> repeated;
  for (const Site &site : sites)
    repeated.insert(site.repeated.begin(), site.repeated.end());
  for (const Site &site : sites)
    for (Operation *loop : site.loops)
      if (!llvm::is_contained(site.repeated, loop))
        repeated.erase(loop);

  Choices alternatives;
  IndexContext out(indices, alternatives, /*forOutput=*/true, repeated);
  CoveragePart part;
  part.kind = CoveragePart::Output;
  part.buffer = buffer;
  part.verb = "writes";
  part.mayBePartial = true;
  cov::AffineStage stage;
  Value object = buffer;
  struct Pending {
    Operation *op;
    cov::Writer writer;
  };
  std::vector<Pending> pending;
  std::map<size_t, Expr> along;
  for (const Site &site : sites) {
    std::vector<TileAccess> accesses = getAccesses(site.op, out);
    if (site.number >= accesses.size())
      return gap(site.op, "which elements it writes is not known");
    const TileAccess &access = accesses[site.number];
    Place place = resolve(access.memory, access.indices, out);
    IndexScope scope = out.getScope(site.op);
    if (!scope.overestimate.empty())
      return gap(site.op, "which elements it writes is not known: " +
                              scope.overestimate);
    object = place.buffer;
    if (object != buffer)
      return gap(site.op,
                 "which elements it writes is not known: " + place.unknown);
    if (auto linalg = dyn_cast<linalg::LinalgOp>(site.op))
      dropReductions(linalg, out, place, scope);
    cov::Writer writer;
    writer.name = site.op->getName().stripDialect().str();
    for (Term id : llvm::concat<const Term>(scope.ids, access.ids))
      if (!llvm::is_contained(writer.ids, id))
        writer.ids.push_back(id);
    indices.requireDivisors(place.indices, scope.guard);
    writer.guard.assign(scope.guard.begin(), scope.guard.end());
    for (const cov::Constraint &constraint : access.guard)
      if (!llvm::is_contained(writer.guard, constraint))
        writer.guard.push_back(constraint);
    writer.map.assign(place.indices.begin(), place.indices.end());
    for (const Expr &index : writer.map)
      if (!index.isValid())
        return gap(site.op, "an index has no expression");
    if (std::string reason = makeNumbers(problem.space, out, writer, along);
        !reason.empty())
      return gap(site.op, "which elements it writes is not known: " + reason);
    for (Term id : getIds(writer.map, writer.guard))
      if (auto it = indices.abstractions.find(id);
          it != indices.abstractions.end())
        return gap(site.op,
                   "which elements it writes depends on " + it->second);
    part.ops.push_back(site.op);
    part.mayBePartial &= isa<memref::StoreOp, vector::StoreOp>(site.op);
    std::string doubt = getDoubt(writer.map, writer.guard, scope);
    if (part.doubt.empty())
      part.doubt = doubt;
    pending.push_back({site.op, std::move(writer)});
  }
  if (!alternatives.isEmpty())
    return gap(sites.front().op,
               "which elements it writes depends on a choice of cases");
  // What the stages make is part of each write.
  std::vector<Term> made;
  for (const cov::Stage &before : out.stages)
    if (const auto *euclid = std::get_if<cov::EuclidStage>(&before.kind)) {
      if (euclid->direction == cov::EuclidStage::Split)
        llvm::append_range(made,
                           std::array{euclid->quotient, euclid->remainder});
    } else if (const auto *raster =
                   std::get_if<cov::RasterStage>(&before.kind)) {
      llvm::append_range(made, std::array{raster->row, raster->column});
    }
  for (Pending &next : pending) {
    for (Term term : made)
      if (!llvm::is_contained(next.writer.ids, term))
        next.writer.ids.push_back(term);
    llvm::erase_if(next.writer.ids, [&](Term id) {
      return llvm::is_contained(out.consumed, id);
    });
    stage.writers.push_back(std::move(next.writer));
  }
  std::optional<unsigned> raggedDim;
  if (out.ragged && !along.empty())
    return gap(sites.front().op, "which elements it writes is not known: it "
                                 "walks through ragged tiles");
  if (out.ragged)
    for (cov::Writer &writer : stage.writers) {
      unsigned dim = 0;
      std::string reason =
          replaceRaggedRows(problem.space, *out.ragged, writer, dim);
      if (reason.empty() && raggedDim && *raggedDim != dim)
        reason = "ragged rows are rows of several dimensions";
      if (!reason.empty())
        return gap(sites.front().op,
                   "which elements it writes is not known: " + reason);
      raggedDim = dim;
    }
  std::vector<Expr> extents;
  for (int64_t dim = 0, rank = cast<MemRefType>(object.getType()).getRank();
       dim < rank; ++dim) {
    extents.push_back(out.getDim(object, dim));
    if (raggedDim == dim) {
      if (extents.back() != out.get(out.ragged->op.getRows()))
        return gap(sites.front().op, "which elements it writes is not known: "
                                     "ragged tiles are not of all rows");
      extents.back() = out.ragged->extent;
    }
    Term coordinate =
        problem.space.coordinate("at", cov::Range(extents.back()));
    indices.names[coordinate] = "coordinate " + std::to_string(dim);
    stage.coordinates.push_back(coordinate);
  }
  if (part.doubt.empty())
    part.doubt = getDoubt(extents, {}, IndexScope());
  // Extents of several arguments meet in the grid and the box.
  if (part.doubt.empty()) {
    SmallVector<Expr> all(extents.begin(), extents.end());
    for (const cov::Writer &writer : stage.writers)
      for (Term id : writer.ids)
        if (problem.space.range(id).upper)
          all.push_back(*problem.space.range(id).upper);
    part.doubt = getDoubt(all, {}, IndexScope());
  }

  // A store that only some of the repetitions make, say the last one.
  std::vector<cov::Constraint> conditions;
  if (stage.writers.size() == 1)
    llvm::erase_if(
        stage.writers.front().guard, [&](const cov::Constraint &constraint) {
          bool isCondition =
              problem.space.isSymbolic(constraint.expr) &&
              llvm::any_of(out.repetitions, [&](const auto &loop) {
                return loop.symbol &&
                       mentions(problem.space, constraint.expr, *loop.symbol);
              });
          if (isCondition)
            conditions.push_back(constraint);
          return isCondition;
        });

  part.firstStage = problem.stages.size();
  part.firstOutput = problem.outputs.size();
  llvm::append_range(problem.stages, out.stages);
  llvm::append_range(problem.outputs, stage.coordinates);
  std::string name = "elements";
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    name += " of argument " + std::to_string(argument.getArgNumber());
  if (!along.empty())
    stage = addNumbers(std::move(stage), out, along);
  problem.stages.push_back({name, std::move(stage)});
  part.endStage = problem.stages.size();
  part.endOutput = problem.outputs.size();
  parts.push_back(part);

  // Unless there is nothing to write, each repetition happens, and the last one
  // stores.
  std::map<Term, Expr> last;
  for (const IndexContext::Repetition &repetition : out.repetitions)
    if (repetition.symbol)
      last[*repetition.symbol] = repetition.trips - 1;
  for (const IndexContext::Repetition &repetition : out.repetitions) {
    if (llvm::all_of(part.ops, addsToElement))
      break;
    cov::Claim claim;
    claim.name = "the loop around the store runs";
    SmallVector<cov::Constraint> premises, conclusions;
    for (const Expr &extent : extents)
      indices.math.require(extent - 1, premises);
    indices.math.require(repetition.upper - repetition.lower - 1, conclusions);
    for (const cov::Constraint &condition : conditions)
      if (repetition.symbol &&
          mentions(problem.space, condition.expr, *repetition.symbol))
        conclusions.push_back(problem.space.substitute(condition, last));
    if (conclusions.empty())
      continue;
    claim.premises.assign(premises.begin(), premises.end());
    claim.conclusions.assign(conclusions.begin(), conclusions.end());
    CoveragePart loop;
    loop.kind = CoveragePart::Repetition;
    loop.ops = {sites.front().op};
    loop.buffer = buffer;
    loop.notes = {repetition.loop};
    llvm::append_range(premises, conclusions);
    loop.doubt = getDoubt(extents, premises, IndexScope());
    addClaim(std::move(loop), std::move(claim));
  }
}

void KernelCoverage::addOwners(ArrayRef<Site> first, ArrayRef<Site> second) {
  for (const Site &a : first)
    for (const Site &b : second) {
      Choices alternatives;
      IndexContext before(indices, alternatives, /*forOutput=*/false);
      IndexContext after(indices, alternatives, /*forOutput=*/false);
      cov::Claim claim;
      claim.name = "stores in a row belong to one tile";
      SmallVector<cov::Constraint> all, conclusions;
      SmallVector<Expr> elements[2];
      std::string doubt;
      for (unsigned number : {0, 1}) {
        const Site &site = number == 0 ? a : b;
        IndexContext &own = number == 0 ? before : after;
        std::vector<TileAccess> accesses = getAccesses(site.op, own);
        if (site.number >= accesses.size())
          return;
        const TileAccess &access = accesses[site.number];
        Place place = resolve(access.memory, access.indices, own);
        IndexScope scope = own.getScope(site.op);
        elements[number] = place.indices;
        llvm::append_range(all, scope.guard);
        llvm::append_range(all, access.guard);
        if (doubt.empty())
          doubt = getDoubt(place.indices, all, scope);
      }
      for (auto [x, y] : llvm::zip(elements[0], elements[1]))
        indices.math.requireZero(x - y, all);
      claim.premises.assign(all.begin(), all.end());
      for (Value index : kernel.getTiles().getIndices())
        indices.math.requireZero(before.get(index) - after.get(index),
                                 conclusions);
      if (!alternatives.isEmpty())
        doubt = "it depends on a choice of cases";
      if (conclusions.empty())
        continue;
      claim.conclusions.assign(conclusions.begin(), conclusions.end());
      llvm::append_range(all, conclusions);
      claim.forAll = getIds({}, all);
      CoveragePart part;
      part.kind = CoveragePart::Owner;
      part.ops = {b.op};
      part.notes = {a.op};
      part.buffer = a.buffer;
      part.doubt = doubt;
      addClaim(std::move(part), std::move(claim));
    }
}
