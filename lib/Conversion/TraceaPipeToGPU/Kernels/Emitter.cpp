//===- Emitter.cpp - The arithmetic of offsets ----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where an element of a window lies, as arithmetic on the coordinates of the
// access: bytes of a staged buffer with its panels and its swizzle, or
// coordinates of memory, which the target makes an address of.
//
//===----------------------------------------------------------------------===//

#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"

#include <map>

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

VectorType mlir::tracea_pipe::getLaneVector(RankedTensorType tile) {
  return VectorType::get(getLanes(tile).getNumRegisters(),
                         tile.getElementType());
}

Value Emitter::i32(int64_t value) {
  return arith::ConstantOp::create(
      *this, getI32IntegerAttr(static_cast<int32_t>(value)));
}

Value Emitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(*this, value);
}

Value Emitter::add(Value x, int64_t y) {
  if (y == 0)
    return x;
  return add(x, x.getType().isIndex() ? index(y) : i32(y));
}

Value Emitter::mul(Value x, int64_t y) {
  if (y == 1)
    return x;
  return createOrFold<arith::MulIOp>(x,
                                     x.getType().isIndex() ? index(y) : i32(y));
}

Value Emitter::toI32(Value index) {
  return createOrFold<arith::IndexCastOp>(getI32Type(), index);
}

Value Emitter::toIndex(Value number) {
  return arith::IndexCastOp::create(*this, getIndexType(), number);
}

Value Emitter::toIndexUnsigned(Value number) {
  return arith::IndexCastUIOp::create(*this, getIndexType(), number);
}

Value Emitter::remap(Value value) { return rewriter.getRemappedValue(value); }

Value Emitter::conjoin(Value condition, Value other) {
  return condition ? arith::AndIOp::create(*this, condition, other).getResult()
                   : other;
}

void Emitter::onlyIf(Value condition, function_ref<void()> then) {
  if (!condition)
    return then();
  auto ifOp = scf::IfOp::create(*this, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(ifOp.thenBlock());
  then();
}

void Emitter::either(Value condition, function_ref<void()> then,
                     function_ref<void()> otherwise) {
  if (!condition)
    return then();
  auto ifOp = scf::IfOp::create(*this, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(ifOp.thenBlock());
  then();
  setInsertionPointToStart(ifOp.elseBlock());
  otherwise();
}

Value Emitter::choose(Type type, Value condition, function_ref<Value()> then,
                      function_ref<Value()> otherwise) {
  if (!condition)
    return then();
  auto ifOp = scf::IfOp::create(*this, TypeRange(type), condition,
                                /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(ifOp.thenBlock());
  scf::YieldOp::create(*this, then());
  setInsertionPointToStart(ifOp.elseBlock());
  scf::YieldOp::create(*this, otherwise());
  return ifOp.getResult(0);
}

void Emitter::meet() {
  // A lane alone has nobody to meet.
  if (!team.singleLane)
    target.meet(*this);
}

Value Emitter::termsOf(const StagedWindow &window) {
  const StagedLayout &layout = window.layout;
  bool panels = layout.panel != layout.type.getShape().back();
  Value sum;
  for (auto [number, dim] : llvm::enumerate(window.dims)) {
    bool last = number + 1 == window.dims.size();
    for (const WindowDim::Term &term : dim.terms) {
      Value columns = mul(toI32(remap(term.value)), term.factor);
      Value bytes =
          last && panels
              ? mul(createOrFold<arith::DivSIOp>(columns, i32(layout.panel)),
                    layout.panelBytes)
              : mul(columns, layout.steps[number]);
      sum = sum ? add(sum, bytes) : bytes;
    }
  }
  return sum;
}

Value Emitter::swizzle(const alg::Swizzle &swizzle, Value offset) {
  // Bits that move by the same distance move together.
  std::map<unsigned, uint64_t> moved;
  for (auto [source, column] : llvm::enumerate(swizzle.matrix().columns()))
    for (unsigned bit = 0; bit < source; ++bit)
      if (column >> bit & 1)
        moved[source - bit] |= uint64_t(1) << bit;
  Value result = offset;
  for (auto [distance, mask] : moved) {
    Value bits = arith::ShRUIOp::create(*this, offset, i32(distance));
    bits = arith::AndIOp::create(*this, bits, i32(mask));
    result = arith::XOrIOp::create(*this, result, bits);
  }
  return result;
}

/// What the coordinates of a window are linear in, for the element `at` (i32)
/// of its tile.
static SmallVector<Value> getInputs(Emitter &b, const StagedWindow &window,
                                    ValueRange at) {
  if (window.walks.empty())
    return SmallVector<Value>(at);
  SmallVector<Value> inputs;
  for (const MapInput &input : window.inputs) {
    Value number = at[input.dim];
    if (input.walk >= 0) {
      const StagedWindow::Digits &digits = window.walks[input.walk];
      number = b.add(number, digits.first);
      for (int64_t extent : ArrayRef(digits.basis).drop_front(input.coordinate))
        number = b.createOrFold<arith::DivUIOp>(number, b.i32(extent));
      if (input.coordinate > 0)
        number = b.createOrFold<arith::RemUIOp>(
            number, b.i32(digits.basis[input.coordinate - 1]));
    }
    inputs.push_back(number);
  }
  return inputs;
}

Value Emitter::stagedOffset(const StagedWindow &window, ValueRange at) {
  const StagedLayout &layout = window.layout;
  SmallVector<Value> inputs = getInputs(*this, window, at);
  bool panels = layout.panel != layout.type.getShape().back();
  Value sum;
  auto addTo = [&](Value &total, Value x) {
    total = total ? add(total, x) : x;
  };
  for (auto [number, dim] : llvm::enumerate(window.dims)) {
    bool last = number + 1 == window.dims.size();
    Value coordinate = i32(dim.form.constant);
    for (auto [factor, x] : llvm::zip(dim.form.coefficients, inputs))
      if (factor)
        coordinate = add(coordinate, mul(x, factor));
    for (const WindowDim::Term &term : dim.terms)
      coordinate = add(coordinate, mul(toI32(remap(term.value)), term.factor));
    if (last && panels) {
      Value panel = createOrFold<arith::DivUIOp>(coordinate, i32(layout.panel));
      addTo(sum, mul(panel, layout.panelBytes));
      coordinate = createOrFold<arith::RemUIOp>(coordinate, i32(layout.panel));
    }
    addTo(sum, mul(coordinate, layout.steps[number]));
  }
  return swizzle(layout.swizzle, sum);
}

Address Emitter::staged(const StagedWindow &window, Value buffer,
                        ValueRange at) {
  return staged(window,
                add(target.getStart(*this, buffer), stagedOffset(window, at)));
}

Value Emitter::origin(const WindowDim &dim, ValueRange at) {
  Value result = index(dim.form.constant);
  for (auto [factor, x] : llvm::zip(dim.form.coefficients, at))
    if (factor)
      result = add(result, mul(x, factor));
  for (const WindowDim::Term &term : dim.terms)
    if (!term.isStep)
      result = add(result, mul(remap(term.value), term.factor));
  return result;
}

Value Emitter::step(const WindowDim &dim) {
  Value sum;
  for (const WindowDim::Term &term : dim.terms) {
    if (!term.isStep)
      continue;
    Value value = mul(remap(term.value), term.factor);
    sum = sum ? add(sum, value) : value;
  }
  return sum;
}

Value Emitter::coordinate(const WindowDim &dim, ValueRange at) {
  Value first = origin(dim, at), more = step(dim);
  return more ? add(first, more) : first;
}

Address Emitter::global(const GlobalWindow &window, ValueRange at,
                        ArrayRef<int64_t> checked, Value &inside) {
  const GlobalBuffer &buffer = context.getBuffer(window);
  Address first = target.getGlobal(*this, buffer, [&](unsigned dim) {
    return origin(window.dims[dim], at);
  });
  for (int64_t dim : checked)
    inside = conjoin(inside, isInside(window, dim, at));
  if (llvm::none_of(window.dims,
                    [](const WindowDim &dim) { return dim.hasStep(); }))
    return first;
  return target.move(*this, buffer, first,
                     [&](unsigned dim) { return step(window.dims[dim]); });
}

Value Emitter::isInside(const GlobalWindow &window, unsigned dim,
                        ValueRange at) {
  // Below zero is far above as an unsigned number.
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::ult,
                               coordinate(window.dims[dim], at),
                               context.getBuffer(window).sizes[dim]);
}

Address Emitter::global(const GlobalWindow &window, ValueRange at) {
  Value inside;
  return global(window, at, /*checked=*/{}, inside);
}
