//===- Values.cpp - The terms of values -----------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an element of a value is, as a term over the elements of the operands.
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Dialect/TraceaPipe/IR/Words.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace mlir::tracea::numerics;
using namespace mlir::tracea_pipe;

static Type elementOf(Value value) {
  return getElementTypeOrSelf(value.getType());
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

TermRef Evaluator::termOf(Value value, const Coordinates &at, Env env) {
  if (!index.failure.empty())
    return terms.undefined();
  auto key = std::make_tuple(value.getAsOpaquePointer(), env, at);
  if (auto it = done.find(key); it != done.end())
    return it->second;
  if (++depth > 400 || ++steps > 400000)
    index.fail("the kernel is too large");
  TermRef result =
      index.failure.empty() ? compute(value, at, env) : terms.undefined();
  --depth;
  return done[key] = result;
}

TermRef Evaluator::choose(TermRef condition, Env env,
                          llvm::function_ref<TermRef(Env)> then,
                          llvm::function_ref<TermRef(Env)> otherwise) {
  if (condition == terms.truth(true))
    return then(env);
  if (condition == terms.truth(false))
    return otherwise(env);
  TermRef yes = then(know(env, terms.assume(env->facts, condition, true)));
  TermRef no = otherwise(know(env, terms.assume(env->facts, condition, false)));
  return terms.select(condition, yes, no);
}

/// Whether one side of a branch reads what the border of an image may cut. The
/// other side may be the same without the tests.
static bool hasPaddedLoads(Region &side) {
  return side
      .walk([](LoadOp load) {
        return load.getPadded().empty() ? WalkResult::advance()
                                        : WalkResult::interrupt();
      })
      .wasInterrupted();
}

TermRef Evaluator::branched(scf::IfOp op, unsigned number,
                            const Coordinates &at, Env env) {
  auto then = [&](Env e) {
    return termOf(op.thenYield().getOperand(number), at, e);
  };
  auto otherwise = [&](Env e) {
    return termOf(op.elseYield().getOperand(number), at, e);
  };
  // A side that is the other one where the condition holds, but for tests that
  // the condition decides, is what the branch yields in any case.
  if (hasPaddedLoads(op.getElseRegion())) {
    Env inside = env;
    SmallVector<Value> conditions{op.getCondition()};
    while (!conditions.empty()) {
      Value condition = conditions.pop_back_val();
      if (auto both = condition.getDefiningOp<arith::AndIOp>())
        llvm::append_range(conditions, both->getOperands());
      else
        inside = know(inside, terms.assume(inside->facts,
                                           termOf(condition, {}, env), true));
    }
    if (then(inside) == otherwise(inside))
      return otherwise(env);
  }
  return choose(termOf(op.getCondition(), {}, env), env, then, otherwise);
}

TermRef Evaluator::computeArgument(BlockArgument argument,
                                   const Coordinates &at, Env env) {
  // Of the teams that take turns it is the one whose turn it is.
  if (getOwnTurn(argument))
    return terms.truth(true);
  Operation *parent = argument.getOwner()->getParentOp();
  if (parent == kernel)
    return terms.operation("argument " +
                               std::to_string(argument.getArgNumber()) + " " +
                               llvm::to_string(argument.getType()),
                           {});
  auto loop = dyn_cast<scf::ForOp>(parent);
  Env binding = loop ? find(env, loop) : nullptr;
  if (!binding) {
    index.fail("a value comes from a region that is not followed");
    return terms.undefined();
  }
  StateKey key{argument, at};
  if (binding->fold)
    return stateOf(*binding->fold, std::move(key));
  // A given iteration: as many rounds as lie before it.
  return foldOf(loop, binding->iteration, std::move(key), around(env, loop));
}

TermRef Evaluator::compute(Value value, const Coordinates &at, Env env) {
  Type element = elementOf(value);
  if (auto argument = dyn_cast<BlockArgument>(value); argument) {
    if (element.isIndex())
      return terms.integer(indexOf(value, env));
    return computeArgument(argument, at, env);
  }
  Operation *op = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (element.isIndex() && !isa<ShapedType>(value.getType()))
    return terms.integer(indexOf(value, env));
  return llvm::TypeSwitch<Operation *, TermRef>(op)
      .Case([&](arith::ConstantOp constant) -> TermRef {
        auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
        if (!dense || dense.isSplat()) {
          Attribute attr =
              dense ? dense.getSplatValue<Attribute>() : constant.getValue();
          if (auto integer = dyn_cast<IntegerAttr>(attr)) {
            if (element.isIndex())
              return terms.integer(Form(integer.getValue().getSExtValue()));
            if (element.isInteger(1))
              return terms.truth(!integer.getValue().isZero());
          }
          return terms.constant(llvm::to_string(attr));
        }
        SmallVector<TermRef> position;
        for (const Form &form : at)
          position.push_back(terms.integer(form));
        return terms.operation("table " + llvm::to_string(constant.getValue()),
                               position);
      })
      .Case([&](tensor::SplatOp splat) {
        return termOf(splat.getInput(), {}, env);
      })
      .Case([&](CoordinateOp coordinate) -> TermRef {
        return terms.integer(at[coordinate.getDim()]);
      })
      .Case([&](BroadcastOp broadcast) {
        Coordinates source = at;
        auto type = cast<RankedTensorType>(broadcast.getValue().getType());
        for (auto [form, extent] : llvm::zip(source, type.getShape()))
          if (extent == 1)
            form = Form(0);
        return termOf(broadcast.getValue(), source, env);
      })
      .Case([&](RelayoutOp relayout) {
        return termOf(relayout.getValue(), at, env);
      })
      .Case([&](SliceOp slice) {
        Coordinates source = at;
        for (auto [form, offset] : llvm::zip(source, slice.getOffsets()))
          form = index.add(form, Form(offset));
        return termOf(slice.getValue(), source, env);
      })
      .Case([&](ReduceOp reduction) { return reduce(reduction, at, env); })
      .Case([&](LoadOp loaded) { return load(loaded, at, env); })
      .Case([&](memref::LoadOp loaded) {
        Coordinates place;
        for (Value position : loaded.getIndices())
          place.push_back(indexOf(position, env));
        return read(loaded.getMemRef(), place, op, env);
      })
      .Case([&](MmaOp mma) {
        auto product = [&](Env e) {
          return multiply(op, mma.getLhs(), mma.getRhs(), mma.getAcc(),
                          mma.getDepth(),
                          cast<RankedTensorType>(mma.getAcc().getType()),
                          mma.getPrecision(), at, e);
        };
        if (mma.getRows().empty())
          return product(env);
        auto kept = [&](Env e) { return termOf(mma.getAcc(), at, e); };
        Form after = index.sub(at[0], indexOf(mma.getRows()[0], env));
        Form before =
            index.sub(index.sub(indexOf(mma.getRows()[1], env), at[0]), 1);
        return choose(
            terms.condition(after, false, env->facts), env,
            [&](Env e) {
              return choose(terms.condition(before, false, e->facts), e,
                            product, kept);
            },
            kept);
      })
      .Case([&](MmaAsyncOp mma) {
        return multiply(op, mma.getLhs(), mma.getRhs(), mma.getAcc(), Value(),
                        mma.getTileType(), Precision::TF32, at, env);
      })
      .Case([&](WaitGroupOp wait) {
        return termOf(wait.getInFlight()[number], at, env);
      })
      .Case([&](arith::CmpIOp compared) { return compare(compared, at, env); })
      .Case([&](arith::SelectOp select) {
        Coordinates conditionAt =
            isa<ShapedType>(select.getCondition().getType()) ? at
                                                             : Coordinates();
        return choose(
            termOf(select.getCondition(), conditionAt, env), env,
            [&](Env e) { return termOf(select.getTrueValue(), at, e); },
            [&](Env e) { return termOf(select.getFalseValue(), at, e); });
      })
      .Case([&](scf::IfOp branch) { return branched(branch, number, at, env); })
      .Case([&](scf::ForOp loop) {
        return foldOf(loop, tripCount(loop, env),
                      {loop.getRegionIterArg(number), at}, env);
      })
      .Case<arith::IndexCastOp>([&](auto) -> TermRef {
        if (element.isInteger(64) && elementOf(op->getOperand(0)).isIndex())
          return termOf(op->getOperand(0), at, env);
        return elementwise(op, at, env);
      })
      .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp>([&](auto) -> TermRef {
        if (!element.isIndex())
          return elementwise(op, at, env);
        TermRef x = termOf(op->getOperand(0), at, env);
        TermRef y = termOf(op->getOperand(1), at, env);
        if (x->kind != TermKind::Integer || y->kind != TermKind::Integer)
          return elementwise(op, at, env);
        const Form &fx = x->forms[0], &fy = y->forms[0];
        return terms.integer(isa<arith::AddIOp>(op)   ? index.add(fx, fy)
                             : isa<arith::SubIOp>(op) ? index.sub(fx, fy)
                                                      : index.mul(fx, fy));
      })
      .Default([&](Operation *) { return elementwise(op, at, env); });
}

TermRef Evaluator::compare(arith::CmpIOp op, const Coordinates &at, Env env) {
  TermRef x = termOf(op.getLhs(), at, env), y = termOf(op.getRhs(), at, env);
  if (x->kind != TermKind::Integer || y->kind != TermKind::Integer)
    return elementwise(op, at, env);
  const Form &lhs = x->forms[0], &rhs = y->forms[0];
  auto less = [&](const Form &a, const Form &b, int64_t gap) {
    return terms.condition(index.sub(index.sub(b, a), Form(gap)), false,
                           env->facts);
  };
  switch (op.getPredicate()) {
  case arith::CmpIPredicate::slt:
    return less(lhs, rhs, 1);
  case arith::CmpIPredicate::sle:
    return less(lhs, rhs, 0);
  case arith::CmpIPredicate::sgt:
    return less(rhs, lhs, 1);
  case arith::CmpIPredicate::sge:
    return less(rhs, lhs, 0);
  case arith::CmpIPredicate::eq:
    return terms.condition(index.sub(lhs, rhs), true, env->facts);
  default:
    return elementwise(op, at, env);
  }
}

TermRef Evaluator::elementwise(Operation *op, const Coordinates &at, Env env) {
  if (op->getNumResults() != 1 || op->getNumRegions() ||
      !isMemoryEffectFree(op) ||
      (!OpTrait::hasElementwiseMappableTraits(op) &&
       (isa<ShapedType>(op->getResult(0).getType()) ||
        llvm::any_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>)))) {
    index.fail(
        ("'" + op->getName().getStringRef() + "' is not followed").str());
    return terms.undefined();
  }
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(op))
    if (auto flags = fast.getFastMathFlagsAttr())
      if (flags.getValue() != arith::FastMathFlags::none) {
        index.fail(("'" + op->getName().getStringRef() +
                    "' may be computed in several ways: fastmath<" +
                    arith::stringifyFastMathFlags(flags.getValue()) + ">")
                       .str());
        return terms.undefined();
      }
  std::string symbol = op->getName().getStringRef().str();
  for (NamedAttribute attribute : op->getAttrs()) {
    if (isa<arith::FastMathFlagsAttr>(attribute.getValue()))
      continue;
    symbol += " " + attribute.getName().str() + "=" +
              llvm::to_string(attribute.getValue());
  }
  SmallVector<TermRef> operands;
  for (Value operand : op->getOperands()) {
    bool isTile = isa<ShapedType>(operand.getType());
    operands.push_back(termOf(operand, isTile ? at : Coordinates(), env));
    symbol += " " + llvm::to_string(elementOf(operand));
  }
  symbol += " -> " + llvm::to_string(elementOf(op->getResult(0)));
  return terms.operation(std::move(symbol), operands);
}

/// As the lowering converts elements on their way.
TermRef Evaluator::convert(TermRef term, Type from, Type to) {
  if (from == to)
    return term;
  auto cast = [&](StringRef name) {
    return terms.operation(
        (name + " " + llvm::to_string(from) + " -> " + llvm::to_string(to))
            .str(),
        {term});
  };
  if (!from.isIntOrFloat() || !to.isIntOrFloat()) {
    index.fail("elements that are no numbers are converted");
    return term;
  }
  bool widens = from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth();
  if (isa<FloatType>(from) && isa<FloatType>(to)) {
    if (from.getIntOrFloatBitWidth() == to.getIntOrFloatBitWidth()) {
      Type wide = Float32Type::get(from.getContext());
      return convert(convert(term, from, wide), wide, to);
    }
    return cast(widens ? "arith.extf" : "arith.truncf");
  }
  if (isa<FloatType>(to))
    return cast("arith.sitofp");
  if (isa<FloatType>(from))
    return cast("arith.fptosi");
  return cast(widens ? "arith.extsi" : "arith.trunci");
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

TermRef Evaluator::stateOf(FoldContext &fold, StateKey key) {
  // Only what is named outside of the loop is the same in every round.
  for (const Form &form : key.at)
    index.forEachVariable(form, [&](unsigned id) {
      if (id >= fold.variable)
        index.fail("what a loop carries is read at a place that changes");
    });
  for (auto [known, state] : llvm::zip(fold.keys, fold.states))
    if (known == key)
      return terms.state(state);
  auto [it, inserted] = carried.try_emplace(
      {fold.variable, key.carrier.getAsOpaquePointer(), key.at}, 0);
  if (inserted)
    it->second = index.newVariable(std::nullopt, std::nullopt);
  fold.keys.push_back(std::move(key));
  fold.states.push_back(it->second);
  return terms.state(fold.states.back());
}

TermRef Evaluator::foldOf(scf::ForOp loop, const Form &rounds, StateKey key,
                          Env env) {
  unsigned variable = boundVariable(loop, key.at, 0, rounds, env);
  folds.push_back({loop, variable, env, {}, {}});
  FoldContext &fold = folds.back();
  Form n = index.form(variable);
  Env inside = inLoop(loop, n, env, bind(env, loop, n, &fold));
  inside = range(inside, index.sub(index.sub(rounds, n), Form(1)));
  stateOf(fold, std::move(key));
  TermSpace::FoldParts parts{variable, Form(0), rounds, {}, {}};
  Block *body = loop.getBody();
  for (unsigned i = 0; i < fold.keys.size() && index.failure.empty(); ++i) {
    StateKey state = fold.keys[i];
    auto argument = dyn_cast<BlockArgument>(state.carrier);
    if (argument && argument.getOwner() == body)
      parts.updates.push_back(termOf(
          loop.getTiedLoopYieldedValue(argument)->get(), state.at, inside));
    else
      parts.updates.push_back(lastWrite(state.carrier, state.at, body,
                                        body->getTerminator()->getIterator(),
                                        inside));
  }
  if (!index.failure.empty())
    return terms.undefined();
  parts.states.assign(fold.states.begin(), fold.states.end());
  auto init = [&](unsigned i) -> TermRef {
    const StateKey &state = fold.keys[i];
    auto argument = dyn_cast<BlockArgument>(state.carrier);
    if (argument && argument.getOwner() == body)
      return termOf(loop.getTiedLoopInit(argument)->get(), state.at, env);
    return lastWrite(state.carrier, state.at, loop->getBlock(),
                     loop->getIterator(), env);
  };
  return terms.fold(std::move(parts), init, env->facts);
}

/// "0,16" or "0..496/16": coordinates in the order in which they come.
static std::string listText(ArrayRef<int64_t> values) {
  std::string text;
  if (values.size() > 3) {
    int64_t step = values[1] - values[0];
    bool even = true;
    for (size_t i = 1; i < values.size(); ++i)
      even &= values[i] - values[i - 1] == step;
    if (even)
      return std::to_string(values.front()) + ".." +
             std::to_string(values.back()) + "/" + std::to_string(step);
  }
  for (int64_t value : values)
    text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

TermRef Evaluator::reduce(ReduceOp op, const Coordinates &at, Env env) {
  auto type = cast<RankedTensorType>(op.getValue().getType());
  LanesAttr lanes = getLanes(type);
  int64_t dim = op.getDim();
  // Elements of a group, whose coordinates count from its first.
  int64_t run =
      type.getDimSize(dim) /
      cast<RankedTensorType>(op.getResult().getType()).getDimSize(dim);
  // Registers in order, each coordinate once; the same for every group.
  std::map<SmallVector<int64_t>, SmallVector<int64_t>> groups;
  DenseSet<SmallVector<int64_t>> seen;
  for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg) {
    SmallVector<int64_t> place = lanes.getCoordinate(reg, 0);
    if (!seen.insert(place).second)
      continue;
    int64_t coordinate = place[dim] % run;
    place[dim] /= run;
    groups[place].push_back(coordinate);
  }
  std::string order;
  for (auto &[group, coordinates] : groups) {
    std::string text = listText(coordinates);
    if (!order.empty() && order != text) {
      index.fail("a reduction has another order in another row");
      return terms.undefined();
    }
    order = text;
  }
  order = "registers " + order;
  auto exchanges = [&](StringRef what, ArrayRef<DenseI64ArrayAttr> bits) {
    SmallVector<int64_t> moves;
    for (DenseI64ArrayAttr bit : bits)
      if (bit[dim] % run != 0)
        moves.push_back(bit[dim] % run);
    if (!moves.empty())
      order += (" " + what + " " + listText(moves)).str();
  };
  exchanges("lanes", lanes.getLane());
  exchanges("warps", lanes.getWarp());
  unsigned variable = boundVariable(op, at, 0, Form(run), env);
  Coordinates inner = at;
  inner[dim] = run == type.getDimSize(dim)
                   ? index.form(variable)
                   : index.add(index.scale(at[dim], run), index.form(variable));
  TermRef body = termOf(op.getValue(), inner, env);
  return terms.make({TermKind::Reduce,
                     (stringifyReduceKind(op.getKind()) + " " +
                      llvm::to_string(type.getElementType()) + " " + order)
                         .str(),
                     {body},
                     {Form(run)},
                     {variable}});
}

TermRef Evaluator::readOperand(Operation *op, Value operand,
                               const Coordinates &at, Env env) {
  if (isRegisterTile(operand.getType()))
    return termOf(operand, at, env);
  return read(operand, at, op, env);
}

TermRef Evaluator::multiply(Operation *op, Value lhs, Value rhs, Value acc,
                            Value depth, RankedTensorType tile,
                            Precision precision, const Coordinates &at,
                            Env env) {
  Type accType = tile.getElementType();
  auto lhsType = cast<ShapedType>(lhs.getType());
  auto rhsType = cast<ShapedType>(rhs.getType());
  // Words of a dot product have a dimension more, which it sums as well.
  int64_t words = getWordLength(lhsType);
  unsigned rank = words > 1 ? 3 : 2;
  if (tile.getRank() != 2 || lhsType.getRank() != rank ||
      rhsType.getRank() != rank || !accType.isIntOrFloat()) {
    index.fail("a product of tiles that are no matrices");
    return terms.undefined();
  }
  int64_t extent =
      lhsType.isDynamicDim(1) ? rhsType.getDimSize(0) : lhsType.getDimSize(1);
  Form length = depth ? indexOf(depth, env) : Form(extent);
  auto begin = [&]() -> TermRef {
    if (acc)
      return termOf(acc, at, env);
    return terms.constant(
        isa<FloatType>(accType)
            ? llvm::to_string(FloatAttr::get(cast<FloatType>(accType), 0.0))
            : llvm::to_string(IntegerAttr::get(accType, 0)));
  };
  int64_t group = 1;
  bool readsMemory = !isRegisterTile(rhs.getType());
  bool byLanes = target.isCPU && words == 1;
  if (words > 1 && !target.isCPU) {
    index.fail("words of a dot product on a target that has none");
    return terms.undefined();
  }
  TargetNumerics::Dot dot;
  if (words > 1) {
    group = words;
    if (target.dot)
      dot = target.dot(rhsType.getElementType(), tile);
    // A step of several words has no rest that would be another one.
    Form steps = index.floorDiv(length, dot.words, env->facts);
    if (index.scale(steps, dot.words) != length) {
      index.fail("a unit that adds up " + std::to_string(dot.words) +
                 " words in one step, and a depth that is not known to be a "
                 "multiple of them");
      return terms.undefined();
    }
    length = steps;
  } else if (!target.isCPU) {
    // Units sum a few products at a time, in a way of their own.
    Type element = lhsType.getElementType();
    group =
        target.unitDepth ? target.unitDepth(readsMemory, element, accType) : 0;
    // Halves have an instruction that is half as deep.
    if (!readsMemory && element.getIntOrFloatBitWidth() == 16 &&
        length.isConstant() && 2 * length.constant == group)
      group /= 2;
    bool isWhole =
        group > 0 && length.isConstant() && length.constant % group == 0;
    // Lanes multiply and add in order what no unit takes as it stands.
    byLanes = !readsMemory && precision == Precision::Full &&
              (element == accType || (isa<IntegerType>(accType) && !isWhole));
    if (!byLanes && !isWhole) {
      index.fail("which unit multiplies, and in what order, is not known");
      return terms.undefined();
    }
    if (!byLanes)
      length = Form(length.constant / group);
  }
  unsigned variable = boundVariable(op, at, 0, length, env);
  Form n = index.form(variable), k = n;
  unsigned state = boundVariable(op, at, 1, length, env);
  unsigned product = 0;
  if (!byLanes) {
    product = boundVariable(op, at, 2, Form(group), env);
    if (words == 1)
      k = index.add(index.scale(n, group), index.form(product));
  }
  SmallVector<Form, 4> extents = {Form(group)};
  SmallVector<unsigned, 2> products = {product};
  if (dot.words > 1) {
    unsigned word = boundVariable(op, at, 3, Form(dot.words), env);
    k = index.add(index.scale(n, dot.words), index.form(word));
    extents.insert(extents.begin(), Form(dot.words));
    products.insert(products.begin(), word);
  }
  Env inside = range(env, index.sub(index.sub(length, n), Form(1)));
  Coordinates left{at[0], k}, right{k, at[1]};
  if (words > 1) {
    left.push_back(index.form(product));
    right.push_back(index.form(product));
  }
  TermRef x = readOperand(op, lhs, left, inside);
  TermRef y = readOperand(op, rhs, right, inside);
  TermRef sum = terms.state(state);
  if (words > 1) {
    Type element = rhsType.getElementType();
    std::string type = llvm::to_string(element);
    sum = terms.make(
        {TermKind::UnitStep,
         dot.name + " " + type + " " + type + " -> " + llvm::to_string(accType),
         {sum, x, y},
         extents,
         products});
  } else if (!byLanes) {
    bool isRounded = !readsMemory && lhsType.getElementType().isF32();
    std::string operands =
        isRounded ? "tf32 tf32"
                  : llvm::to_string(lhsType.getElementType()) + " " +
                        llvm::to_string(rhsType.getElementType());
    auto step = [&](TermRef left, TermRef right) {
      sum = terms.make({TermKind::UnitStep,
                        (readsMemory ? "" : "warp ") + operands + " -> " +
                            llvm::to_string(accType),
                        {sum, left, right},
                        {Form(group)},
                        {product}});
    };
    auto round = [&](TermRef term) {
      return terms.operation("to_nearest_away f32 -> tf32", {term});
    };
    auto roundRest = [&](TermRef term) {
      TermRef rest =
          terms.operation("arith.subf f32 tf32 -> f32", {term, round(term)});
      return terms.operation("toward_zero f32 -> tf32", {rest});
    };
    if (!isRounded) {
      step(x, y);
    } else {
      if (precision == Precision::TF32x3) {
        step(roundRest(x), round(y));
        step(round(x), roundRest(y));
      }
      step(round(x), round(y));
    }
  } else {
    x = convert(x, lhsType.getElementType(), accType);
    y = convert(y, rhsType.getElementType(), accType);
    std::string type = llvm::to_string(accType);
    if (!isa<FloatType>(accType))
      sum = terms.operation("add " + type,
                            {sum, terms.operation("mul " + type, {x, y})});
    else if (target.hasFma)
      sum = terms.operation("fma " + type, {x, y, sum});
    else
      sum = terms.operation("add " + type,
                            {sum, terms.operation("mul " + type, {x, y})});
  }
  return terms.fold(
      {variable, Form(0), length, {state}, {sum}},
      [&](unsigned) { return begin(); }, env->facts);
}
