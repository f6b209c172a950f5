//===- IndexValues.cpp - The forms of indices -----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an index is, as a linear form over the numbers of loops, tiles and
// sizes.
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace mlir::tracea::numerics;
using namespace mlir::tracea_pipe;

Form Evaluator::indexOf(Value value, Env env) {
  if (std::optional<int64_t> constant =
          getConstantIntValue(getAsOpFoldResult(value)))
    return Form(*constant);
  return computeIndex(value, env);
}

Form Evaluator::computeIndex(Value value, Env env) {
  if (++steps > 400000) {
    index.fail("the kernel is too large");
    return Form(0);
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (Operation *role = argument.getOwner()->getParentOp(); isa<RoleOp>(role))
      if (Env binding = find(env, role))
        return binding->iteration;
    if (auto it = grid.find(value); it != grid.end())
      return it->second;
    Operation *parent = argument.getOwner()->getParentOp();
    if (parent == kernel)
      return index.argument(argument.getArgNumber());
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (loop && argument == loop.getInductionVar()) {
      Env binding = find(env, loop);
      std::optional<int64_t> step = getConstantIntValue(loop.getStep());
      if (binding && (step || isGridLoop(loop))) {
        Form stride = indexOf(loop.getStep(), binding->parent);
        return index.add(indexOf(loop.getLowerBound(), binding->parent),
                         index.mul(binding->iteration, stride));
      }
    }
    index.fail("an index is carried from one iteration to the next");
    return Form(0);
  }
  Operation *op = value.getDefiningOp();
  auto operand = [&](unsigned i) { return indexOf(op->getOperand(i), env); };
  auto isNatural = [&](const Form &form) {
    return index.prove(form, env->ranges);
  };
  auto constantOf = [&](unsigned i) -> std::optional<int64_t> {
    Form form = operand(i);
    if (form.isConstant() && form.constant > 0)
      return form.constant;
    return std::nullopt;
  };
  auto opaque = [&]() {
    SmallVector<Form> forms;
    for (Value input : op->getOperands())
      if (input.getType().isIntOrIndex() && !input.getType().isInteger(1)) {
        forms.push_back(indexOf(input, env));
      } else {
        index.fail(("an index comes from '" + op->getName().getStringRef() +
                    "', which is not followed")
                       .str());
        return Form(0);
      }
    if (op->getNumRegions() || !isMemoryEffectFree(op))
      index.fail(("an index comes from '" + op->getName().getStringRef() +
                  "', which is not followed")
                     .str());
    return index.function((op->getName().getStringRef() + "#" +
                           Twine(cast<OpResult>(value).getResultNumber()) +
                           " " + llvm::to_string(op->getAttrDictionary()))
                              .str(),
                          forms);
  };
  return llvm::TypeSwitch<Operation *, Form>(op)
      .Case([&](arith::AddIOp) { return index.add(operand(0), operand(1)); })
      .Case([&](arith::SubIOp) { return index.sub(operand(0), operand(1)); })
      .Case([&](arith::MulIOp) { return index.mul(operand(0), operand(1)); })
      .Case<arith::IndexCastOp>([&](auto) -> Form {
        // Between indices and integers of 64 bits nothing changes.
        Type other = op->getOperand(0).getType();
        Type result = op->getResult(0).getType();
        if ((other.isIndex() || other.isInteger(64)) &&
            (result.isIndex() || result.isInteger(64)))
          return operand(0);
        return opaque();
      })
      .Case<arith::FloorDivSIOp>([&](auto) -> Form {
        if (auto divisor = constantOf(1))
          return index.floorDiv(operand(0), *divisor, env->ranges);
        return opaque();
      })
      .Case<arith::CeilDivSIOp>([&](auto) -> Form {
        if (auto divisor = constantOf(1))
          return index.floorDiv(index.add(operand(0), Form(*divisor - 1)),
                                *divisor, env->ranges);
        return opaque();
      })
      .Case<arith::DivUIOp, arith::DivSIOp>([&](auto) -> Form {
        // Divisions with and without a sign agree on natural numbers.
        auto divisor = constantOf(1);
        if (divisor && isNatural(operand(0)))
          return index.floorDiv(operand(0), *divisor, env->ranges);
        return opaque();
      })
      .Case<arith::RemUIOp, arith::RemSIOp>([&](auto) -> Form {
        auto divisor = constantOf(1);
        if (!divisor || !isNatural(operand(0)))
          return opaque();
        Form quotient = index.floorDiv(operand(0), *divisor, env->ranges);
        return index.sub(operand(0), index.scale(quotient, *divisor));
      })
      .Case<arith::XOrIOp>([&](auto) -> Form {
        // Bit by bit: one that is added where it is 0, taken where it is 1.
        auto bits = constantOf(1);
        Form form = operand(0);
        if (!bits || !isNatural(form))
          return opaque();
        for (int64_t bit = 1; bit > 0 && bit <= *bits; bit *= 2) {
          if (!(*bits & bit))
            continue;
          Form above =
              index.scale(index.floorDiv(form, 2 * bit, env->ranges), 2);
          Form own = index.sub(index.floorDiv(form, bit, env->ranges), above);
          form =
              index.add(form, index.sub(Form(bit), index.scale(own, 2 * bit)));
        }
        return form;
      })
      .Case([&](arith::MinSIOp) {
        return index.min(operand(0), operand(1), env->ranges);
      })
      .Case([&](arith::MaxSIOp) {
        return index.max(operand(0), operand(1), env->ranges);
      })
      .Case([&](ReadOp read) {
        // One place has one number for as long as the kernel runs.
        auto source = cast<BlockArgument>(read.getSource());
        SmallVector<Form> at;
        for (Value coordinate : read.getIndices())
          at.push_back(indexOf(coordinate, env));
        return index.function("read " + std::to_string(source.getArgNumber()),
                              at);
      })
      .Case([&](RasterOp) { return rasterOf(cast<OpResult>(value), env); })
      .Case([&](memref::DimOp dim) -> Form {
        std::optional<int64_t> number = dim.getConstantIndex();
        auto type = dyn_cast<MemRefType>(dim.getSource().getType());
        if (!number || !type || *number < 0 || *number >= type.getRank() ||
            !isa_and_nonnull<BlockArgument>(getObject(dim.getSource())) ||
            getPeer(dim.getSource()))
          return opaque();
        return extentOf(dim.getSource(), *number);
      })
      .Default([&](Operation *) { return opaque(); });
}

Form Evaluator::rasterOf(OpResult value, Env env) {
  auto raster = cast<RasterOp>(value.getOwner());
  Form place = indexOf(raster.getIndex(), env);
  // The only tile of a product, whose number is a remainder by one.
  if (place == Form(0))
    return place;
  Form rows = indexOf(raster.getRows(), env);
  Form columns = indexOf(raster.getColumns(), env);
  int64_t group = raster.getGroup();
  bool isRow = value == raster.getRow();
  if (auto it = rasters.find({place, rows, columns, group});
      it != rasters.end())
    return isRow ? it->second.first : it->second.second;
  return index.function((isRow ? "row" : "column") + std::to_string(group),
                        {place, rows, columns}, 0);
}
