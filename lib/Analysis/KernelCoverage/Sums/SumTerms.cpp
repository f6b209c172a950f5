//===- SumTerms.cpp - Each term of a sum once ----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SumExtraction.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

bool SumExtraction::isContracted(const SumSource &source, Term term) const {
  return llvm::any_of(
      source.operand->contracted.terms(),
      [&](const Expr::Summand &summand) { return summand.first == term; });
}

void SumExtraction::rename(const Expr &contracted, const Expr &other,
                           std::map<Term, Expr> &names) {
  for (auto [mine, its] : llvm::zip(contracted.terms(), other.terms()))
    if (mine.first != its.first)
      names[mine.first] = its.first;
}

/// Whether `term` counts terms of the sum.
bool SumExtraction::isTerm(const SumSource &source, Term term) const {
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
std::vector<int64_t> SumExtraction::getDims(const SumSource &source,
                                            std::string &undecided) {
  std::vector<int64_t> dims;
  for (auto [dim, index] : llvm::enumerate(source.indices)) {
    bool hasTerm = false, hasContracted = false;
    std::optional<Term> foreign;
    for (Term term : getVariables(index)) {
      // A part alone chooses; it counts nothing.
      hasTerm |= isTerm(source, term) && !splits.count(term);
      hasContracted |= isContracted(source, term);
      // Where a band begins may depend on the tile.
      if (!isTerm(source, term) && !(isBandDim(source, dim) && isTile(term)))
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

TermPlace SumExtraction::getTermPlace(const SumSource &source) {
  TermPlace place;
  std::string ignored;
  for (int64_t dim : getDims(source, ignored)) {
    const Expr &index = source.indices[dim];
    if (llvm::none_of(getVariables(index),
                      [&](Term term) { return isContracted(source, term); }))
      continue;
    Expr extent = context.getDim(source.buffer, dim);
    bool isFirst = place.dims.empty();
    place.dims.push_back(dim);
    if (isFirst) {
      place.index = index;
      place.extent = extent;
    } else if (!extent.isConstant()) {
      place.extent = std::nullopt;
      return place;
    } else {
      place.index = place.index * extent.constant() + index;
      place.extent = *place.extent * extent.constant();
    }
  }
  return place;
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
bool SumExtraction::addGuard(const SumSource &source, const std::set<Term> &ids,
                             SmallVectorImpl<cov::Constraint> &guard,
                             std::vector<cov::Constraint> &sizes,
                             std::string &undecided) {
  auto mixes = [&](const Expr &expr) {
    bool hasOwn = false, hasTile = false;
    std::optional<Term> foreign;
    for (Term term : getVariables(expr)) {
      bool ofTile = isTile(term) || isHeld(term);
      hasOwn |= ids.count(term) > 0 && !ofTile;
      hasTile |= ids.count(term) > 0 && ofTile;
      if (!ids.count(term))
        foreign = term;
    }
    // Which elements a tile has says nothing of the terms of one that it has.
    if (!foreign)
      hasOwn |= hasTile;
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
std::set<size_t> SumExtraction::getNamedDepths(const SumSide &side) {
  std::set<size_t> named;
  for (const SumSource &source : side.sources) {
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
  if (k.terms().size() == other.terms().size())
    rename(k, other, names);
  else if (!k.isConstant())
    names[k.terms().front().first] = other;
  bool same = a.guard.size() == b.guard.size();
  for (auto [x, y] : llvm::zip(a.map, b.map))
    same &= space.substitute(x, names) == y;
  for (const cov::Constraint &constraint : a.guard)
    same &= llvm::is_contained(b.guard, space.substitute(constraint, names));
  return same;
}

/// Whether what is outside of the argument's dimension is taken for zero.
static bool isPadded(const SumSource &source, int64_t dim) {
  std::optional<TileTransfer> transfer = getTileTransfer(source.op);
  return transfer && transfer->memory == source.buffer &&
         llvm::is_contained(transfer->padded, dim);
}

/// Whether the sum looks through a window at dimension `dim`: what it counts
/// there walks along all of a smaller dimension of the other operand, or past
/// the border of this one. Of two extents that only the run knows either may be
/// the window.
bool SumExtraction::isWindow(const SumSource &source, int64_t dim,
                             const SumSide &other, std::string &undecided) {
  Expr extent = context.getDim(source.buffer, dim);
  std::vector<Term> terms = getVariables(source.indices[dim]);
  for (const SumSource &partner : other.sources)
    for (auto [number, index] : llvm::enumerate(partner.indices)) {
      Expr counted = context.getDim(partner.buffer, number);
      bool isShared = llvm::any_of(getVariables(index), [&](Term term) {
        return llvm::is_contained(terms, term) && isTerm(partner, term);
      });
      if (!isShared)
        continue;
      // Terms beyond a border are zeros: the other operand has them all.
      if (isPadded(source, dim) != isPadded(partner, number)) {
        if (isPadded(source, dim))
          return true;
        continue;
      }
      if (counted == extent)
        continue;
      if (counted.isConstant() &&
          (!extent.isConstant() || counted.constant() < extent.constant()))
        return true;
      if (!counted.isConstant() && !extent.isConstant() && undecided.empty())
        undecided = "its operands count it along extents that are not known to "
                    "be equal";
    }
  return false;
}

void SumExtraction::addTerms(const SumSide &side, const SumSide &other,
                             ArrayRef<const SumSource *> sources,
                             const std::set<size_t> &unnamed) {
  ContentClaim content;
  const SumSource &first = *sources.front();
  content.part.kind = CoveragePart::Terms;
  content.part.buffer = first.buffer;
  content.part.verb = first.operand->verb;
  std::string undecided = side.undecided;
  // Which taps a pixel meets is a matter of definitions.
  for (const SumSource *source : sources)
    if (std::optional<TileTransfer> transfer = getTileTransfer(source->op);
        transfer && !transfer->along.empty() && undecided.empty())
      undecided = "its elements are walked through";
  std::vector<int64_t> dims = getDims(first, undecided);
  std::vector<int64_t> all = dims;
  llvm::erase_if(dims, [&](int64_t dim) {
    return isWindow(first, dim, other, undecided);
  });
  if (dims.empty() && undecided.empty())
    return;
  content.name =
      "terms along argument " + std::to_string(first.buffer.getArgNumber());
  content.dims.assign(dims.begin(), dims.end());
  cov::AffineStage stage;
  SmallVector<const SumSource *> kept;
  std::optional<SumBand> band = getBand(first, dims);
  std::vector<Term> tiles;
  for (const SumSource *source : sources) {
    bool isListed = llvm::any_of(dims, [&](int64_t dim) {
      return isListDim(first, dim) || isListDim(*source, dim);
    });
    if (source->buffer != first.buffer || getDims(*source, undecided) != all ||
        (isListed && !(source->list == first.list)))
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
    if (band) {
      std::vector<Term> found = getTiles(*band, ids);
      if (source != sources.front() && found != tiles)
        undecided = "its copies visit different terms";
      tiles = found;
      addIds(tiles);
    }
    cov::Writer writer;
    writer.name = source->op->getName().stripDialect().str();
    SmallVector<cov::Constraint> guard;
    addGuard(*source, ids, guard, content.context, undecided);
    for (int64_t dim : dims) {
      const Expr &index = source->indices[dim];
      writer.map.push_back(index);
      indices.math.require(index, guard);
      // Places of a list end where the list does.
      if (!isListDim(*source, dim))
        indices.math.require(context.getDim(source->buffer, dim) - 1 - index,
                             guard);
    }
    if (band) {
      // What a tile does not visit another has no need for, either.
      indices.math.require(band->end - 1 - writer.map[band->number], guard);
      for (Term tile : tiles)
        writer.map.push_back(tile);
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
  // Of a band the terms depend on the tile.
  std::map<Term, Expr> own;
  SmallVector<Term> coordinates;
  for (Term tile : tiles) {
    Term coordinate = space.coordinate("of", space.range(tile));
    indices.names[coordinate] = nameOf(tile);
    own[tile] = coordinate;
    coordinates.push_back(coordinate);
  }
  for (auto [number, dim] : llvm::enumerate(dims)) {
    cov::Range range(context.getDim(first.buffer, dim));
    if (band && band->number == number)
      range = cov::Range(space.substitute(band->begin, own),
                         space.substitute(band->end, own));
    Term coordinate = space.coordinate("term", range);
    indices.names[coordinate] = "index of dimension " + std::to_string(dim);
    stage.coordinates.push_back(coordinate);
  }
  llvm::append_range(stage.coordinates, coordinates);
  if (llvm::any_of(tiles, [&](Term tile) { return isHeld(tile); }))
    content.name += ", as far as memory says";
  content.stage = std::move(stage);
  content.undecided = undecided;
  coverage.finish(content);
  coverage.contents.push_back(std::move(content));
  if (band && isBandDim(first, dims[band->number]))
    addBandClaims(first, *band);
  addListClaims(first, dims, band ? band->loop : scf::ForOp());
}
