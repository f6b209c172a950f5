//===- F2Matrix.cpp - Linear maps over F2 -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/F2Matrix.h"
#include "Bits.h"
#include "F2Elimination.h"
#include <sstream>

using namespace tracea::algebra;

static uint64_t lowMask(unsigned bits) {
  return bits >= 64 ? ~uint64_t(0) : bit(bits) - 1;
}

static F2Elimination eliminate(const F2Vectors &columns) {
  F2Elimination elimination;
  for (unsigned i = 0; i < columns.size(); ++i)
    elimination.add(columns[i], bit(i));
  return elimination;
}

Expected<F2Matrix> F2Matrix::get(unsigned numOutputs, F2Vectors columns) {
  if (numOutputs > maxBits || columns.size() > maxBits)
    return Error{"F2 matrix: expected at most 64 inputs and outputs, found " +
                 std::to_string(columns.size()) + " and " +
                 std::to_string(numOutputs)};
  for (size_t i = 0; i < columns.size(); ++i)
    if (columns[i] & ~lowMask(numOutputs))
      return Error{"F2 matrix: column " + std::to_string(i) + " = " +
                   std::to_string(columns[i]) + " does not fit " +
                   std::to_string(numOutputs) + " output bits"};
  return F2Matrix(numOutputs, std::move(columns));
}

F2Matrix F2Matrix::identity(unsigned size) {
  F2Vectors columns;
  for (unsigned i = 0; i < size && i < maxBits; ++i)
    columns.push_back(bit(i));
  unsigned outputs = columns.size();
  return F2Matrix(outputs, std::move(columns));
}

uint64_t F2Matrix::apply(uint64_t x) const {
  uint64_t result = 0;
  for (x &= lowMask(numInputs()); x; x &= x - 1)
    result ^= columns_[__builtin_ctzll(x)];
  return result;
}

Expected<F2Matrix> F2Matrix::compose(const F2Matrix &inner) const {
  if (inner.outputs != numInputs())
    return Error{"composition: expected an inner map with " +
                 std::to_string(numInputs()) + " output bits, found " +
                 std::to_string(inner.outputs)};
  F2Vectors columns;
  for (uint64_t column : inner.columns_)
    columns.push_back(apply(column));
  return F2Matrix(outputs, std::move(columns));
}

Expected<F2Matrix> F2Matrix::concat(const F2Matrix &right) const {
  if (right.outputs != outputs)
    return Error{"concatenation: expected " + std::to_string(outputs) +
                 " output bits, found " + std::to_string(right.outputs)};
  F2Vectors columns = columns_;
  columns.insert(columns.end(), right.columns_.begin(), right.columns_.end());
  return get(outputs, std::move(columns));
}

Expected<F2Matrix> F2Matrix::directSum(const F2Matrix &high) const {
  if (outputs + high.outputs > maxBits)
    return Error{"direct sum: expected at most 64 output bits, found " +
                 std::to_string(outputs + high.outputs)};
  F2Vectors columns = columns_;
  for (uint64_t column : high.columns_)
    columns.push_back(column ? column << outputs : 0);
  return get(outputs + high.outputs, std::move(columns));
}

F2Matrix F2Matrix::transpose() const {
  F2Vectors rows(outputs, 0);
  for (unsigned i = 0; i < numInputs(); ++i)
    for (unsigned o = 0; o < outputs; ++o)
      if (columns_[i] >> o & 1)
        rows[o] |= bit(i);
  return F2Matrix(numInputs(), std::move(rows));
}

unsigned F2Matrix::rank() const { return rankOf(columns_); }

F2Vectors F2Matrix::kernel() const {
  F2Elimination elimination;
  F2Vectors kernel;
  for (unsigned i = 0; i < numInputs(); ++i)
    if (std::optional<uint64_t> relation = elimination.add(columns_[i], bit(i)))
      kernel.push_back(*relation);
  return kernel;
}

std::optional<uint64_t> F2Matrix::solve(uint64_t y) const {
  return eliminate(columns_).solve(y);
}

bool F2Matrix::isIdentity() const {
  return numInputs() == outputs && *this == identity(outputs);
}

std::optional<F2Matrix> F2Matrix::rightInverse() const {
  F2Elimination elimination = eliminate(columns_);
  F2Vectors columns;
  for (unsigned o = 0; o < outputs; ++o) {
    std::optional<uint64_t> x = elimination.solve(bit(o));
    if (!x)
      return std::nullopt;
    columns.push_back(*x);
  }
  return F2Matrix(numInputs(), std::move(columns));
}

std::optional<F2Matrix> F2Matrix::leftInverse() const {
  F2Elimination elimination = eliminate(columns_);
  if (elimination.rank() != numInputs())
    return std::nullopt;
  // Completed to a basis by the unit vectors off the pivots, which the empty
  // combination sends to 0.
  for (unsigned o = 0; o < outputs; ++o)
    if (!elimination.pivot(o))
      elimination.add(bit(o), 0);
  F2Vectors columns;
  for (unsigned o = 0; o < outputs; ++o)
    columns.push_back(*elimination.solve(bit(o)));
  return F2Matrix(numInputs(), std::move(columns));
}

std::optional<F2Matrix> F2Matrix::inverse() const {
  if (!isInvertible())
    return std::nullopt;
  return rightInverse();
}

void F2Matrix::print(std::ostream &os) const {
  for (unsigned o = outputs; o-- > 0;) {
    for (unsigned i = 0; i < numInputs(); ++i)
      os << (i ? " " : "") << (columns_[i] >> o & 1);
    os << '\n';
  }
}

std::string F2Matrix::str() const {
  std::ostringstream os;
  print(os);
  return os.str();
}

std::ostream &tracea::algebra::operator<<(std::ostream &os,
                                          const F2Matrix &matrix) {
  matrix.print(os);
  return os;
}
