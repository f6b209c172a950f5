//===- Walks.cpp - Coordinates that a dimension walks through -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A number that is walked has quotients as coordinates. Where a store walks,
// its element is known by them: they are symbols, the same for whatever else
// walks through this number along the same basis, and the number is found from
// them again. Memory of which dimensions are collapsed is walked through alike.
// A number of a table is a function of its place, of which nothing else is
// known.

#include "Evaluator.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"

using namespace mlir;
using namespace mlir::tracea::numerics;
using namespace mlir::tracea_pipe;

Evaluator::Walked Evaluator::walkedBy(Value walk, const Form &at, Env env) {
  DelinearizeOp op = getDelinearize(walk);
  Walked result{index.add(indexOf(op.getFirst(), env), at), {}};
  for (Value extent : op.getBasis())
    result.basis.push_back(indexOf(extent, env));
  return result;
}

Form Evaluator::gatheredBy(GatherOp op, const Form &at, Env env) {
  SmallVector<Form> place;
  for (Value position : op.getIndices())
    place.push_back(indexOf(position, env));
  place.back() = index.add(place.back(), at);
  return index.gathered(cast<BlockArgument>(op.getTable()).getArgNumber(),
                        place);
}

Evaluator::Coordinates Evaluator::coordinatesOf(const Walked &number, Env env) {
  for (auto &[known, coordinates] : walkedNumbers)
    if (known.number == number.number && known.basis == number.basis)
      return coordinates;
  // Numbers that are walked are not negative. Quotients by constants are those
  // of the number itself, as a definition has them.
  Coordinates coordinates;
  Form rest = number.number, below(1);
  for (const Form &extent : llvm::reverse(number.basis)) {
    below = index.mul(below, extent);
    Form quotient =
        below.isConstant() && below.constant > 0
            ? index.floorDiv(number.number, below.constant, env->ranges)
            : index.floorDiv(rest, extent, env->ranges);
    coordinates.push_back(index.sub(rest, index.mul(quotient, extent)));
    rest = quotient;
  }
  coordinates.push_back(rest);
  std::reverse(coordinates.begin(), coordinates.end());
  return coordinates;
}

Form Evaluator::numberOf(const Walked &walked, const Coordinates &coordinates) {
  Form number = coordinates.front();
  for (auto [extent, coordinate] :
       llvm::zip_equal(walked.basis, ArrayRef(coordinates).drop_front()))
    number = index.add(index.mul(number, extent), coordinate);
  return number;
}

Evaluator::Coordinates Evaluator::place(Operation *op, const Coordinates &at,
                                        Env env) {
  TileTransfer transfer = *getTileTransfer(op);
  SmallVector<Form> inputs =
      getMapInputs<Form>(transfer, at, [&](Value walk, const Form &one) {
        if (GatherOp gather = getGather(walk))
          return Coordinates{gatheredBy(gather, one, env)};
        return coordinatesOf(walkedBy(walk, one, env), env);
      });
  return address(transfer.indices, transfer.map,
                 Coordinates(inputs.begin(), inputs.end()), env);
}

Form Evaluator::extentOf(Value memory, int64_t dim) {
  auto type = cast<MemRefType>(memory.getType());
  if (!type.isDynamicDim(dim))
    return Form(type.getDimSize(dim));
  if (auto argument = dyn_cast<BlockArgument>(memory))
    if (argument.getOwner()->getParentOp() == kernel)
      return index.extent(argument.getArgNumber(), dim);
  Form product(1);
  auto collapse = memory.getDefiningOp<memref::CollapseShapeOp>();
  if (!collapse) {
    index.fail("an extent of memory that is no argument");
    return product;
  }
  const ReassociationIndices group = collapse.getReassociationIndices()[dim];
  for (int64_t source : group)
    product = index.mul(product, extentOf(collapse.getSrc(), source));
  return product;
}

Evaluator::Walked Evaluator::collapsedBy(memref::CollapseShapeOp op,
                                         ArrayRef<int64_t> group,
                                         const Form &number) {
  Walked result{number, {}};
  for (int64_t dim : group.drop_front())
    result.basis.push_back(extentOf(op.getSrc(), dim));
  return result;
}

Evaluator::Coordinates Evaluator::inSource(memref::CollapseShapeOp op,
                                           const Coordinates &at, Env env) {
  Coordinates result;
  for (auto [number, group] : llvm::zip_equal(at, op.getReassociationIndices()))
    llvm::append_range(result,
                       coordinatesOf(collapsedBy(op, group, number), env));
  return result;
}

Evaluator::Env
Evaluator::nameWalked(Operation *op, const Coordinates &at, Env env,
                      llvm::function_ref<void(unsigned)> addCandidate) {
  std::optional<TileTransfer> transfer = getTileTransfer(op);
  if (!transfer)
    return env;
  auto name = [&](const Walked &number) {
    Coordinates coordinates;
    for (size_t i = 0; i <= number.basis.size(); ++i) {
      std::optional<int64_t> last;
      if (i > 0)
        if (std::optional<int64_t> most =
                index.interval(number.basis[i - 1]).high)
          last = *most - 1;
      unsigned variable = index.newVariable(0, last);
      addCandidate(variable);
      coordinates.push_back(index.form(variable));
      if (i > 0)
        env = range(
            env, index.sub(index.sub(number.basis[i - 1], coordinates.back()),
                           Form(1)));
    }
    walkedNumbers.push_back({number, coordinates});
  };
  for (auto [dim, walk] : llvm::zip_equal(transfer->along, transfer->walks))
    name(walkedBy(walk, at[dim], env));
  Coordinates place = this->place(op, at, env);
  for (Value memory = transfer->memory;;) {
    auto collapse = memory.getDefiningOp<memref::CollapseShapeOp>();
    if (!collapse)
      return env;
    for (auto [number, group] :
         llvm::zip_equal(place, collapse.getReassociationIndices()))
      if (group.size() > 1)
        name(collapsedBy(collapse, group, number));
    place = inSource(collapse, place, env);
    memory = collapse.getSrc();
  }
}

std::optional<Evaluator::Coordinates>
Evaluator::inCollapsed(Value memory, const Coordinates &wanted) {
  auto collapse = memory.getDefiningOp<memref::CollapseShapeOp>();
  if (!collapse)
    return getObject(memory) == memory ? std::optional(wanted) : std::nullopt;
  std::optional<Coordinates> inner = inCollapsed(collapse.getSrc(), wanted);
  if (!inner)
    return std::nullopt;
  Coordinates result;
  for (const ReassociationIndices &group : collapse.getReassociationIndices()) {
    Coordinates own;
    for (int64_t dim : group)
      own.push_back((*inner)[dim]);
    Walked walked = collapsedBy(collapse, group, Form(0));
    const auto *known = findWalked(walked.basis, own);
    result.push_back(known ? known->number : numberOf(walked, own));
  }
  return result;
}

const Evaluator::Walked *
Evaluator::findWalked(const Coordinates &basis,
                      const Coordinates &coordinates) const {
  for (const auto &[walked, known] : walkedNumbers)
    if (known == coordinates && walked.basis == basis)
      return &walked;
  return nullptr;
}

bool Evaluator::areDigits(const Coordinates &basis,
                          const Coordinates &coordinates, Env env) {
  return llvm::all_of_zip(basis, ArrayRef(coordinates).drop_front(),
                          [&](const Form &extent, const Form &coordinate) {
                            Form room = index.sub(index.sub(extent, coordinate),
                                                  Form(1));
                            return index.prove(coordinate, env->facts) &&
                                   index.prove(room, env->facts);
                          });
}

std::optional<std::pair<Evaluator::Coordinates, Evaluator::Coordinates>>
Evaluator::equations(Operation *op, const Coordinates &element,
                     const Coordinates &at, Env env) {
  std::optional<TileTransfer> transfer = getTileTransfer(op);
  bool isCollapsed =
      transfer && transfer->memory.getDefiningOp<memref::CollapseShapeOp>();
  if (!transfer || (transfer->along.empty() && !isCollapsed) ||
      transfer->kind != TileTransfer::Kind::Out)
    return std::pair{element, written(op, at, env)};
  std::optional<Coordinates> inMemory = inCollapsed(transfer->memory, element);
  if (!inMemory)
    return std::nullopt;
  const Coordinates &wanted = *inMemory;
  SmallVector<MapInput> inputs = getMapInputs(*transfer);
  // The coordinates of the walks, each by itself an index of the element.
  std::vector<Coordinates> found;
  for (Value walk : transfer->walks)
    found.push_back(
        Coordinates(cast<WalkType>(walk.getType()).getCoordinates(), Form(-1)));
  std::pair<Coordinates, Coordinates> result;
  for (auto [dim, expr] : llvm::enumerate(transfer->map.getResults())) {
    LinearForm form = getLinearForm(expr, inputs.size());
    const MapInput *walked = nullptr;
    for (auto [input, factor] : llvm::zip_equal(inputs, form.coefficients))
      if (factor != 0 && input.walk >= 0)
        walked = &input;
    Form begin =
        index.add(indexOf(transfer->indices[dim], env), Form(form.constant));
    if (!walked) {
      Form own = begin;
      for (auto [input, factor] : llvm::zip_equal(inputs, form.coefficients))
        if (factor)
          own = index.add(own, index.scale(at[input.dim], factor));
      result.first.push_back(wanted[dim]);
      result.second.push_back(own);
      continue;
    }
    for (auto [input, factor] : llvm::zip_equal(inputs, form.coefficients))
      if (factor != 0 && (factor != 1 || &input != walked))
        return std::nullopt;
    found[walked->walk][walked->coordinate] = index.sub(wanted[dim], begin);
  }
  for (size_t i = 0; i < found.size(); ++i) {
    Walked own = walkedBy(transfer->walks[i], at[transfer->along[i]], env);
    const Walked *known = findWalked(own.basis, found[i]);
    if (!known && !areDigits(own.basis, found[i], env))
      return std::nullopt;
    result.first.push_back(known ? known->number : numberOf(own, found[i]));
    result.second.push_back(own.number);
  }
  return result;
}
