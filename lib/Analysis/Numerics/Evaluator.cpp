//===- Evaluator.cpp - From a kernel to the terms of its elements ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Evaluator.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"

using namespace mlir;
using namespace mlir::tracea::numerics;
using namespace mlir::tracea_pipe;

Evaluator::Evaluator(KernelOp kernel, const TargetNumerics &target,
                     IndexSpace &index, TermSpace &terms)
    : kernel(kernel), tiles(kernel.getTiles()), target(target), index(index),
      terms(terms) {}

//===----------------------------------------------------------------------===//
// Environments
//===----------------------------------------------------------------------===//

Evaluator::Env Evaluator::intern(Environment environment) {
  auto [it, inserted] = knownEnvironments.try_emplace(
      {environment.parent, environment.loop, environment.iteration,
       environment.fold, environment.facts, environment.ranges},
      nullptr);
  if (inserted) {
    environments.push_back(std::move(environment));
    it->second = &environments.back();
  }
  return it->second;
}

Evaluator::Env Evaluator::bind(Env env, Operation *loop, const Form &iteration,
                               FoldContext *fold) {
  return intern({env, loop, iteration, fold, env ? env->facts : nullptr,
                 env ? env->ranges : nullptr});
}

Evaluator::Env Evaluator::know(Env env, Facts facts) {
  if (env->facts == facts)
    return env;
  return intern({env, nullptr, Form(), nullptr, facts, env->ranges});
}

Evaluator::Env Evaluator::range(Env env, const Form &notNegative) {
  return intern({env, nullptr, Form(), nullptr,
                 index.assume(env->facts, notNegative),
                 index.assume(env->ranges, notNegative)});
}

unsigned Evaluator::boundVariable(Operation *op, const Coordinates &forms,
                                  unsigned slot, const Form &count, Env env) {
  Coordinates key = forms;
  key.push_back(count);
  for (Operation *parent = op->getParentOp(); parent && parent != tiles;
       parent = parent->getParentOp())
    if (isa<scf::ForOp>(parent))
      if (Env binding = find(env, parent))
        key.push_back(binding->iteration);
  auto [it, inserted] = bound.try_emplace({op, slot, key}, 0);
  if (inserted) {
    std::optional<int64_t> most = index.interval(count).high;
    it->second = index.newVariable(
        0, most ? std::optional<int64_t>(std::max<int64_t>(*most - 1, 0))
                : std::nullopt);
  }
  return it->second;
}

/// A variable from zero to below `count`; zero where there is no other.
Form Evaluator::newIndex(const Form &count) {
  std::optional<int64_t> most = index.interval(count).high;
  if (most && *most <= 1)
    return Form(0);
  return index.form(index.newVariable(
      0, most ? std::optional<int64_t>(*most - 1) : std::nullopt));
}

Evaluator::Env Evaluator::find(Env env, Operation *loop) {
  while (env && env->loop != loop)
    env = env->parent;
  return env;
}

Evaluator::Env Evaluator::around(Env env, Operation *loop) {
  Env binding = find(env, loop);
  if (!binding)
    return env;
  // Facts about outer iterations stay true when an inner one is left.
  return intern(
      {binding->parent, nullptr, Form(), nullptr, env->facts, env->ranges});
}

Form Evaluator::tripCount(scf::ForOp loop, Env env) {
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!step || *step <= 0 || loop.getUnsignedCmp()) {
    index.fail("a loop has no constant step");
    return Form(0);
  }
  Form length = index.sub(indexOf(loop.getUpperBound(), env),
                          indexOf(loop.getLowerBound(), env));
  return index.floorDiv(index.add(length, Form(*step - 1)), *step, env->facts);
}

bool Evaluator::isGridLoop(scf::ForOp loop) {
  if (loop.getUnsignedCmp() || !isa<TilesOp, RoleOp>(loop->getParentOp()) ||
      llvm::any_of(loop.getRegionIterArgs(), [](BlockArgument carried) {
        return !isa<PhaseType>(carried.getType()) && !getOwnTurn(carried);
      }))
    return false;
  if (!getConstantIntValue(loop.getStep()))
    return true;
  // A known number of workgroups, each of which begins with its own number.
  auto tiles = loop->getParentOfType<TilesOp>();
  return llvm::any_of(llvm::zip(tiles.getIndices(), tiles.getBounds()),
                      [&](auto axis) {
                        return loop.getLowerBound() == std::get<0>(axis) &&
                               isEqualConstantIntOrValue(
                                   getAsOpFoldResult(loop.getStep()),
                                   getAsOpFoldResult(Value(std::get<1>(axis))));
                      });
}

Evaluator::Env
Evaluator::witnessGridLoop(scf::ForOp loop, Env env,
                           llvm::function_ref<Form(const Form &)> witness,
                           llvm::function_ref<void(unsigned)> addCandidate) {
  // Where a product has one tile, the number itself says which product.
  unsigned number = index.newVariable(0, std::nullopt);
  addCandidate(number);
  Form iteration = index.form(number);
  Env inner = bind(env, loop, iteration);
  Form position = indexOf(loop.getInductionVar(), inner);
  inner = range(
      inner, index.sub(index.sub(indexOf(loop.getUpperBound(), env), position),
                       Form(1)));
  // Of tiles of several products, quotients of the number say which product,
  // and what is left of them.
  auto isPart = [](Operation *op) {
    return isa_and_nonnull<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp,
                           arith::RemUIOp, arith::RemSIOp>(op);
  };
  auto isTileNumber = [&](Value value) {
    while (isPart(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    return value == loop.getInductionVar();
  };
  loop.walk([&](Operation *op) {
    if (!isPart(op) || !isTileNumber(op->getResult(0)))
      return;
    Form part = indexOf(op->getResult(0), inner);
    if (part.terms.size() == 1)
      addCandidate(part.terms.front().first);
  });
  loop.walk([&](RasterOp raster) {
    if (!isTileNumber(raster.getIndex()))
      return;
    Form place = indexOf(raster.getIndex(), inner);
    Form rows = indexOf(raster.getRows(), inner);
    Form columns = indexOf(raster.getColumns(), inner);
    auto [it, inserted] = rasters.try_emplace(
        {place, rows, columns, raster.getGroup()}, Form(), Form());
    if (!inserted)
      return;
    it->second = {witness(rows), witness(columns)};
    inner = range(inner, index.sub(index.sub(rows, it->second.first), Form(1)));
    inner =
        range(inner, index.sub(index.sub(columns, it->second.second), Form(1)));
  });
  return inner;
}

Evaluator::Env Evaluator::inLoop(scf::ForOp loop, const Form &iteration,
                                 Env env, Env inside) {
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!step)
    return inside;
  Form position = index.add(indexOf(loop.getLowerBound(), env),
                            index.scale(iteration, *step));
  Form rest = index.sub(indexOf(loop.getUpperBound(), env), position);
  return range(inside, index.sub(rest, Form(1)));
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// A tile that is cut to one row or column has no other: the coordinate says
/// nothing of where the element lies, which is the tile's alone. Where no tile
/// says it either, since there is only one, the coordinate has to.
void Evaluator::dropSingles(Operation *writer, BlockArgument object,
                            Coordinates &at, Env env) {
  auto type = cast<MemRefType>(object.getType());
  std::optional<TileTransfer> transfer = getTileTransfer(writer);
  bool isWalking = transfer && !transfer->walks.empty();
  for (size_t number = 0; number < at.size(); ++number) {
    if (at[number].isConstant() ||
        !index.prove(index.scale(at[number], -1), env->facts))
      continue;
    Coordinates without = at;
    without[number] = Form(0);
    bool isNeeded = false;
    if (!isWalking)
      for (auto [dim, with, form] : llvm::enumerate(
               written(writer, at, env), written(writer, without, env)))
        isNeeded |= form.isConstant() && !with.isConstant() &&
                    type.getDimSize(dim) != 1;
    if (!isNeeded)
      at = std::move(without);
  }
}

/// Of a single row or column there is but the first tile, and the first team of
/// a role: those of `candidates` that have to be 0 for `form` to be there are.
void Evaluator::dropSingleTiles(Form &form, ArrayRef<unsigned> candidates,
                                IndexSpace::Replacement &by, Env env) {
  IndexSpace::Replacement zero;
  index.forEachVariable(form, [&](unsigned id) {
    if (llvm::is_contained(candidates, id) &&
        index.prove(index.form(id), env->facts) &&
        index.prove(index.scale(index.form(id), -1), env->facts))
      zero[id] = Form(0);
  });
  form = index.substitute(form, zero, env->facts);
  for (auto &[id, earlier] : by)
    earlier = index.substitute(earlier, zero, env->facts);
  by.insert(zero.begin(), zero.end());
}

/// What the kernel's definition says of the extents of a result: it has no more
/// rows and columns than the factors, whose types may tell where its own does
/// not.
Evaluator::Env Evaluator::withFactors(BlockArgument object, Env env) {
  auto type = cast<MemRefType>(object.getType());
  ArrayAttr definitions = kernel.getDefinitionsAttr();
  if (!definitions)
    return env;
  for (auto definition : definitions.getAsRange<DefinitionAttr>()) {
    if (definition.getResult() != object.getArgNumber())
      continue;
    for (int64_t factor = 0; factor < definition.getFactors(); ++factor) {
      auto operand = cast<MemRefType>(
          kernel.getFunctionType().getInput(definition.getOperands()[factor]));
      for (auto [extent, expr] : llvm::zip(
               operand.getShape(), definition.getMap(factor).getResults())) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        // A result without elements has no writers to be looked at.
        if (dim && dim.getPosition() < type.getRank() &&
            type.isDynamicDim(dim.getPosition()) && extent > 0)
          env = range(env, index.sub(Form(extent),
                                     extentOf(object, dim.getPosition())));
      }
    }
  }
  return env;
}

/// The size by which `variable` is multiplied in a sum.
static std::optional<Form> getFactor(const IndexSpace &index, const Form &form,
                                     unsigned variable) {
  Form self = index.form(variable);
  for (auto [id, coefficient] : form.terms) {
    const Atom &atom = index.atom(id);
    if (coefficient != 1 || atom.kind != AtomKind::Function ||
        atom.symbol != "mul")
      continue;
    for (unsigned side : {0u, 1u})
      if (atom.forms[side] == self &&
          !index.uses(atom.forms[1 - side], variable))
        return atom.forms[1 - side];
  }
  return std::nullopt;
}

std::optional<ElementTerm> Evaluator::resultOf(Operation *writer,
                                               BlockArgument object) {
  // A witness: some tile, some iterations of the loops around the write, some
  // element of the tile that is written.
  Env env = withFactors(object, intern({}));
  grid.clear();
  rasters.clear();
  done.clear();
  bound.clear();
  carried.clear();
  sharedWrites.clear();
  SmallVector<unsigned> candidates;
  auto witness = [&](const Form &count) {
    Form form = newIndex(count);
    index.forEachVariable(form, [&](unsigned id) { candidates.push_back(id); });
    return form;
  };
  for (auto [argument, bound] :
       llvm::zip(tiles.getIndices(), tiles.getBounds())) {
    Form count = indexOf(bound, env);
    grid[argument] = witness(count);
    env = range(env, index.sub(index.sub(count, grid[argument]), Form(1)));
  }
  SmallVector<Operation *> parents;
  for (Operation *parent = writer->getParentOp(); parent != tiles;
       parent = parent->getParentOp())
    parents.push_back(parent);
  RoleOp role;
  scf::ForOp gridLoop;
  Env base = env, inner = env;
  for (Operation *parent : llvm::reverse(parents)) {
    if (auto loop = dyn_cast<scf::ForOp>(parent); loop && isGridLoop(loop)) {
      gridLoop = loop;
      base = inner = witnessGridLoop(
          loop, inner, witness, [&](unsigned id) { candidates.push_back(id); });
    } else if (loop) {
      Form iteration = witness(tripCount(loop, inner));
      inner = inLoop(loop, iteration, inner, bind(inner, loop, iteration));
    } else if (auto some = dyn_cast<RoleOp>(parent)) {
      role = some;
      for (BlockArgument team : some.getBody().getArguments())
        grid[team] = witness(Form(some.getCopies()));
    } else if (!isa<scf::IfOp, RolesOp>(parent)) {
      index.fail(("'" + parent->getName().getStringRef() +
                  "' around a store is not followed")
                     .str());
      return std::nullopt;
    }
  }
  Coordinates at;
  for (int64_t extent : extentsOf(writer))
    at.push_back(witness(Form(extent)));
  // Of a part of a tile that lies past its limits no element is written.
  for (auto [limit, coordinate] : llvm::zip(limitsOf(writer), at)) {
    Form count = indexOf(limit, inner);
    if (index.prove(index.scale(count, -1), inner->facts))
      return std::nullopt;
    inner = range(inner, index.sub(index.sub(count, coordinate), Form(1)));
  }
  if (index.prove(Form(-1), inner->facts))
    return std::nullopt;
  dropSingles(writer, object, at, inner);
  walkedNumbers.clear();
  inner = nameWalked(writer, at, inner,
                     [&](unsigned id) { candidates.push_back(id); });
  Coordinates element = written(writer, at, inner);
  if (!index.failure.empty())
    return std::nullopt;

  Env end =
      intern({base, nullptr, Form(), nullptr, inner->facts, inner->ranges});
  Block *block = gridLoop ? gridLoop.getBody()
                 : role   ? &role.getBody().front()
                          : &tiles.getBody().front();
  TermRef value = lastWrite(object, element, block,
                            block->getTerminator()->getIterator(), end);
  if (!index.failure.empty())
    return std::nullopt;

  // The number of a tile whose digits say where it lies becomes its digits.
  for (size_t number = 0; number < candidates.size(); ++number) {
    unsigned candidate = candidates[number];
    std::optional<int64_t> divisor;
    for (const Form &form : element)
      for (auto [id, factor] : form.terms)
        if (const Atom &atom = index.atom(id);
            atom.kind == AtomKind::Quotient &&
            atom.forms[0] == index.form(candidate) &&
            (!divisor || atom.divisor < *divisor))
          divisor = atom.divisor;
    std::optional<int64_t> last = index.interval(index.form(candidate)).high;
    if (!divisor || *divisor < 2 || !last)
      continue;
    unsigned high = index.newVariable(0, *last / *divisor);
    unsigned low = index.newVariable(0, *divisor - 1);
    IndexSpace::Replacement digits;
    digits[candidate] =
        index.add(index.scale(index.form(high), *divisor), index.form(low));
    for (Form &form : element)
      form = index.substitute(form, digits, nullptr);
    value = terms.substitute(value, digits, llvm::DenseMap<unsigned, TermRef>(),
                             TermSpace::Map(), nullptr);
    // The upper digits may be several numbers as well: they are next.
    candidates[number--] = high;
    candidates.push_back(low);
  }

  // Coordinates of the element take the place of where the tile lies; and the
  // number that they are digits of, that of the number.
  ElementTerm result{object.getArgNumber(), {}, value};
  IndexSpace::Replacement by;
  SmallVector<std::pair<Form, Form>> places;
  for (const Form &old : element)
    places.push_back({old, Form()});
  for (auto &[walked, coordinates] : walkedNumbers)
    places.push_back({walked.number, numberOf(walked, coordinates)});
  auto isSingle = [&](size_t dim) {
    return dim < element.size() &&
           index.prove(index.sub(Form(1), extentOf(object, dim)), inner->facts);
  };
  for (auto [dim, pair] : llvm::enumerate(places)) {
    auto &[old, place] = pair;
    Form form = index.substitute(old, by, inner->facts);
    if (result.at.size() < element.size()) {
      result.at.push_back(index.newVariable(0, std::nullopt));
      place = index.form(result.at.back());
    } else {
      place = index.substitute(place, by, inner->facts);
    }
    // The tile's own coordinate is listed last, and first to go.
    std::optional<unsigned> gone;
    for (unsigned candidate : llvm::reverse(candidates)) {
      int64_t factor = form.coefficient(candidate);
      Form rest = index.sub(form, index.scale(index.form(candidate), factor));
      if ((factor == 1 || factor == -1) && !index.uses(rest, candidate)) {
        gone = candidate;
        Form solved = index.sub(place, rest);
        if (factor == -1)
          solved = index.scale(solved, -1);
        IndexSpace::Replacement one;
        one[candidate] = solved;
        for (auto &[id, earlier] : by)
          earlier = index.substitute(earlier, one, inner->facts);
        by[candidate] = solved;
        break;
      }
    }
    if (!gone && isSingle(dim))
      dropSingleTiles(form, candidates, by, inner);
    if (!gone && !form.isConstant() && form != place) {
      index.fail("where an element lies is not a sum of tile, loops and "
                 "coordinate");
      return std::nullopt;
    }
  }
  result.term =
      terms.substitute(result.term, by, llvm::DenseMap<unsigned, TermRef>(),
                       TermSpace::Map(), nullptr);
  if (tiles.getCluster() > 1)
    index.forEachVariable(grid[tiles.getIndices().front()], [&](unsigned id) {
      if (terms.uses(result.term, id))
        result.term = withoutWorkgroup(result.term, id);
    });
  // Where the tile begins is the element's place rounded down, if the tile's
  // part of it stays below the factor; what is left over says the same of
  // smaller steps.
  IndexSpace::Replacement rounded;
  for (auto &[form, begin] : places) {
    SmallVector<std::pair<int64_t, unsigned>> steps;
    // A group's first channel is a product of sizes: those steps come first.
    SmallVector<std::pair<Form, unsigned>> order;
    for (unsigned candidate : candidates) {
      if (int64_t factor = form.coefficient(candidate); factor > 1)
        steps.push_back({factor, candidate});
      if (std::optional<Form> factor = getFactor(index, form, candidate))
        order.push_back({*factor, candidate});
    }
    llvm::sort(steps, std::greater<>());
    for (auto [factor, candidate] : steps)
      order.push_back({Form(factor), candidate});
    Form rest = form, place = begin;
    for (auto &[factor, candidate] : order) {
      rest = index.sub(rest, index.mul(index.form(candidate), factor));
      if (!index.prove(rest, inner->facts) ||
          !index.prove(index.sub(index.sub(factor, Form(1)), rest),
                       inner->facts))
        break;
      Form value = index.floorDiv(place, factor, nullptr);
      rounded.try_emplace(candidate, value);
      place = index.sub(place, index.mul(value, factor));
    }
  }
  if (!rounded.empty())
    result.term = terms.substitute(result.term, rounded,
                                   llvm::DenseMap<unsigned, TermRef>(),
                                   TermSpace::Map(), nullptr);
  for (unsigned id : terms.getFree(result.term))
    if (llvm::is_contained(candidates, id)) {
      index.fail("an element depends on the tile in which it lies");
      return std::nullopt;
    }
  if (terms.hasUndefined(result.term)) {
    index.fail("an element depends on memory that nothing has written");
    return std::nullopt;
  }
  return result;
}

/// Whether two stores write the same elements whenever they run.
static bool isSamePlace(Operation *x, Operation *y) {
  auto one = dyn_cast<StoreOp>(x), other = dyn_cast<StoreOp>(y);
  return one && other &&
         haveSamePlaces(*getTileTransfer(one), *getTileTransfer(other)) &&
         one.getLimits() == other.getLimits() &&
         one.getValue().getType() == other.getValue().getType();
}

SmallVector<ElementTerm> Evaluator::run() {
  SmallVector<ElementTerm> results;
  // Of results without elements nothing need be written.
  bool areEmpty = false;
  collectWriters();
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    auto it = writers.find(argument);
    if (it == writers.end())
      continue;
    areEmpty |=
        llvm::is_contained(cast<MemRefType>(argument.getType()).getShape(), 0);
    SmallVector<Operation *> sites;
    for (Operation *writer : it->second)
      // The same place, written on another branch, says the same.
      if (llvm::none_of(sites, [&](Operation *other) {
            return isSamePlace(writer, other);
          }))
        sites.push_back(writer);
    for (Operation *writer : sites) {
      if (!tiles->isProperAncestor(writer))
        index.fail("memory is written outside of the grid");
      if (!index.failure.empty())
        return {};
      std::optional<ElementTerm> result = resultOf(writer, argument);
      if (!index.failure.empty())
        return {};
      if (result)
        results.push_back(std::move(*result));
    }
  }
  if (results.empty() && !areEmpty)
    index.fail("nothing is written");
  return results;
}
