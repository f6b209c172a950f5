//===- StepMasks.cpp - The steps in which a row lies in memory ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop over taps asks for each row and each of its steps whether the pixel
// lies in the image: two sums and two comparisons, in numbers of 64 bits. How
// the answer depends on the step is known before the loop, and fits a register.
//
//===----------------------------------------------------------------------===//

#include "Copies/StepMasks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Bits of a mask: one above those of its fields is shifted into as well.
static constexpr int64_t kMostBits = 31;

/// What the steps of a dimension add altogether; nothing where that is not
/// known, or where no step adds anything.
static std::optional<KnownRange> getStepRange(const WindowDim &dim) {
  std::optional<KnownRange> sum;
  for (const WindowDim::Term &term : dim.terms) {
    if (!term.isStep)
      continue;
    int64_t low, high;
    if (!term.range || llvm::MulOverflow(term.range->low, term.factor, low) ||
        llvm::MulOverflow(term.range->high, term.factor, high))
      return std::nullopt;
    if (term.factor < 0)
      std::swap(low, high);
    KnownRange before = sum.value_or(KnownRange{0, 0});
    if (llvm::AddOverflow(before.low, low, low) ||
        llvm::AddOverflow(before.high, high, high))
      return std::nullopt;
    sum = KnownRange{low, high};
  }
  return sum;
}

StepMasks::StepMasks(Emitter &b, const GlobalWindow &window,
                     ArrayRef<int64_t> checked)
    : b(b), window(window) {
  for (int64_t number : checked) {
    const WindowDim &dim = window.dims[number];
    std::optional<KnownRange> range = getStepRange(dim);
    int64_t length;
    if (!dim.hasStep()) {
      fixed.push_back(number);
      continue;
    }
    if (!range || llvm::SubOverflow(range->high, range->low, length) ||
        length >= kMostBits) {
      others.push_back(number);
      continue;
    }
    ++length;
    if (masks.empty() || masks.back().length + length > kMostBits)
      masks.emplace_back();
    Mask &mask = masks.back();
    Field field{static_cast<unsigned>(number), range->low, length, mask.length};
    mask.length += length;
    mask.fields.push_back(field);
    Value at = b.toI32(b.add(b.step(dim), field.bit - field.low));
    Value bit = arith::ShLIOp::create(b, b.i32(1), at);
    mask.own =
        mask.own ? arith::OrIOp::create(b, mask.own, bit).getResult() : bit;
  }
}

/// The bits of the steps in which a row is outside.
Value StepMasks::getMissing(const Mask &mask, ValueRange at) const {
  Value missing = b.i32((int64_t(1) << mask.length) - 1);
  for (const Field &field : mask.fields) {
    // A number s of the step lies inside from -first to below size - first.
    Value first = b.add(b.origin(window.dims[field.dim], at), field.low);
    auto getEnd = [&](Value from) {
      Value inside = arith::SubIOp::create(b, from, first);
      inside = arith::MaxSIOp::create(b, inside, b.index(0));
      inside = arith::MinSIOp::create(b, inside, b.index(field.length));
      return arith::ShLIOp::create(b, b.i32(1),
                                   b.add(b.toI32(inside), field.bit));
    };
    Value begin = getEnd(b.index(0));
    Value end = getEnd(b.context.getBuffer(window).sizes[field.dim]);
    Value inside = arith::SubIOp::create(b, end, begin);
    missing = arith::XOrIOp::create(b, missing, inside);
  }
  return missing;
}

Value StepMasks::isInside(ValueRange at) const {
  Value always;
  for (unsigned dim : fixed)
    always = b.conjoin(always, b.isInside(window, dim, at));
  Value inside = masks.empty() ? always : Value();
  for (const Mask &mask : masks) {
    Value missing = getMissing(mask, at);
    // One question less in each step.
    if (always && &mask == &masks.front())
      missing = arith::SelectOp::create(b, always, missing,
                                        b.i32((int64_t(1) << mask.length) - 1));
    missing = arith::AndIOp::create(b, missing, mask.own);
    inside =
        b.conjoin(inside, arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                                missing, b.i32(0)));
  }
  for (unsigned dim : others)
    inside = b.conjoin(inside, b.isInside(window, dim, at));
  return inside;
}
