//===- Numerics.h - Random numerical tests of the compiler ------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A case is a module and a way to make inputs for it together with the outputs
// that are right. What is right is computed here, by plain loops in double or
// extended precision, each number with a bound on the error that a correct
// implementation may have: the bound is carried through the computation
// (running error analysis; Higham, "Accuracy and Stability of Numerical
// Algorithms", chapter 3). An output is right when it lies between the bounds
// after they are rounded to the output's type. For small integers the bound is
// zero, and an output must agree exactly.

#ifndef TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICS_H
#define TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICS_H

#include "tracea/Runtime/ElementType.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tracea::numerics {

using runtime::ElementType;
using Shape = std::vector<int64_t>;

//===----------------------------------------------------------------------===//
// Random numbers (the same on every machine)
//===----------------------------------------------------------------------===//

class Random {
public:
  explicit Random(uint64_t seed) : state(seed) { next(); }
  uint64_t next();
  /// In [0, n).
  int64_t below(int64_t n) { return static_cast<int64_t>(next() % n); }
  /// In [low, high].
  int64_t between(int64_t low, int64_t high) {
    return low + below(high - low + 1);
  }
  /// In [0, 1).
  double uniform() { return double(next() >> 11) * 0x1p-53; }
  double normal();
  bool chance(double probability) { return uniform() < probability; }
  template <typename T>
  T pick(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<int64_t>(list.size()))];
  }
  template <typename T>
  T pick(const std::vector<T> &list) {
    return list[below(static_cast<int64_t>(list.size()))];
  }

private:
  uint64_t state;
};

//===----------------------------------------------------------------------===//
// Numbers with error bounds
//===----------------------------------------------------------------------===//

using Real = long double;

/// A number and how far from it a right result may be. With an infinite error
/// nothing is known, not even whether it is a number.
struct Approx {
  Real value = 0;
  Real error = 0;
};

/// The nearest number of `type`, ties to even; overflow gives infinity.
Real roundTo(ElementType type, Real value);
/// Half the distance from 1 to the next number.
Real unitRoundoff(ElementType type);
/// Results below this may be flushed to zero.
Real smallest(ElementType type);
bool isInteger(ElementType type);
int64_t bytesOf(ElementType type);

/// From now on functions are those of a GPU's unit, in this process.
void takeFunctionsOfUnit();
/// What functions of single precision may be off by beside their roundings
/// where what follows from them is stored as `stored`, in units of their
/// argument or of 1, whichever is larger. A GPU's unit computes tangents,
/// and with them error and logistic functions, to 2^-11 where results have no
/// more digits than bf16, and divides by an approximate reciprocal where they
/// have those of f16 (docs/Accuracy.md).
Real errorOfUnit(ElementType stored);

/// From now on, in this process, attentions on CPUs round their weights to the
/// type of their values, as GPUs do, or leave them in the accumulator's.
void takeRoundedWeights(bool areRounded);
/// What an attention's weights are off by, relatively, where they are
/// multiplied in the type of its values; and absolutely, where they are no
/// normal numbers of that type.
Real roundingOfWeights(ElementType type);
Real smallestOfWeights(ElementType type);

/// From now on sums of products of 8-bit floats have so many digits, in this
/// process, as the schedule's unit has them; 0: those of the accumulator.
void takeDigitsOfSums(int digits);
int digitsOfSums(ElementType operand);

/// The terms of a sum, and what is known of those that a unit adds.
class UnitSum {
public:
  /// In the order of the sum, of which a part may be added up apart.
  void add(Real term);
  /// A bound on what the unit cuts off with so many digits.
  Real error(int digits) const;

private:
  Real sum = 0, magnitude = 0, largest = 0, farthest = 0;
  int64_t count = 0, positive = 0, negative = 0;
};

/// How many roundings the error of a sum of `count` terms may show, in units of
/// the sum of magnitudes: the worst case for short sums, six standard
/// deviations of independent roundings for long ones (Higham and Mary, "A New
/// Approach to Probabilistic Rounding Error Analysis", 2019).
Real sumRoundings(int64_t count);

/// Arithmetic of a type as an implementation may do it: each result is off by
/// at most one rounding of this type, or less (a fused multiply-add).
class Arithmetic {
public:
  explicit Arithmetic(ElementType type) : type(type) {}
  ElementType type;

  Approx add(Approx a, Approx b) const;
  Approx mul(Approx a, Approx b) const;
  Approx div(Approx a, Approx b) const;
  /// `f(a)` where f's slope is at most `slope` and an implementation's relative
  /// error `roundings` units.
  Approx apply(Approx a, Real value, Real slope, Real roundings) const;
  /// Conversion to this type.
  Approx convert(Approx a) const;
};

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

/// Row-major; each value is one of the type.
struct HostTensor {
  ElementType type = ElementType::F32;
  Shape shape;
  std::vector<double> values;
};

struct ExpectedTensor {
  ElementType type = ElementType::F32;
  Shape shape;
  std::vector<Approx> values;
};

/// A wrong size that a run must refuse: `axis` of an input is larger by one.
struct WrongSize {
  int input;
  int axis;
};

struct Instance {
  std::vector<HostTensor> inputs;
  std::vector<ExpectedTensor> outputs;
  std::vector<WrongSize> wrong;
};

struct Case {
  /// The family and what is special, for people.
  std::string name;
  std::string text;
  /// Makes inputs and outputs; later calls may choose other dynamic sizes.
  std::function<Instance(Random &, bool first)> make;
  /// Whether a second instance differs in more than its numbers.
  bool dynamic = false;
  /// Whether the float64 meaning has the same values within the bounds (it
  /// does not round between operations).
  bool comparableToReference = true;
};

/// Draws one case. `large` allows larger sizes.
using Generator = Case (*)(Random &random, bool large);
/// A family without weight is drawn where it is asked for by its name.
struct Family {
  const char *name;
  int weight;
  Generator generate;
};
const std::vector<Family> &families();

Case generateGemm(Random &random, bool large);
Case generateGroupedGemm(Random &random, bool large);
Case generateConv2D(Random &random, bool large);
Case generateConv2DDGrad(Random &random, bool large);
Case generateConv2DWGrad(Random &random, bool large);
Case generateSoftmax(Random &random, bool large);
Case generateBatchNorm(Random &random, bool large);
Case generateLayerNorm(Random &random, bool large);
Case generateRMSNorm(Random &random, bool large);
Case generateAttention(Random &random, bool large);
Case generateAttentionGradient(Random &random, bool large);
Case generateGather(Random &random, bool large);
Case generateGraph(Random &random, bool large);
Case generateGeneric(Random &random, bool large);

/// Cases that once failed, and those that must always be there.
struct Regression {
  const char *name;
  Case (*make)();
};
const std::vector<Regression> &regressions();

//===----------------------------------------------------------------------===//
// Building modules
//===----------------------------------------------------------------------===//

/// How to fill an input.
enum class Fill { Normal, Integers, Special, Offset };
HostTensor randomTensor(Random &random, ElementType type, const Shape &shape,
                        Fill fill);
/// One fill for all inputs of a case; mostly normal.
Fill pickFill(Random &random);

int64_t countOf(const Shape &shape);
/// Calls `body(index, linear)` for all elements in row-major order.
void forEachIndex(
    const Shape &shape,
    const std::function<void(const Shape &index, int64_t linear)> &body);
int64_t linearIndex(const Shape &shape, const Shape &index);

std::string constantOf(ElementType type, double value);
std::string join(const std::vector<std::string> &parts, const char *separator);
std::string listOf(const Shape &values);

/// The sizes of a module: each has a number, and stays what it was first when
/// some type has it as a static extent.
class Sizes {
public:
  int add(int64_t value, std::vector<int64_t> others = {}) {
    list.push_back({value, value, std::move(others), false});
    return static_cast<int>(list.size()) - 1;
  }
  int64_t operator[](int size) const { return list[size].value; }
  /// For sizes that follow from others.
  void set(int size, int64_t value) { list[size].value = value; }
  void fix(int size) { list[size].fixed = true; }
  bool isFixed(int size) const { return list[size].fixed; }
  bool anyFree() const;
  /// New values for those that no type fixes.
  void draw(Random &random);
  /// What they were before `draw`.
  void reset();
  Shape at(const std::vector<int> &sizes) const;

private:
  struct Entry {
    int64_t value, initial;
    std::vector<int64_t> others;
    bool fixed;
  };
  std::vector<Entry> list;
};

/// A tensor type whose extents are sizes, each static or not.
struct SizedType {
  ElementType type = ElementType::F32;
  std::vector<int> dims;
  std::vector<bool> dynamic;

  std::string text(const Sizes &sizes) const;
};

/// Text of one function, and its arguments.
class ModuleText {
public:
  explicit ModuleText(Sizes &sizes) : sizes(sizes) {}

  /// Chooses which extents are dynamic, and fixes those that are not.
  SizedType draw(Random &random, ElementType type, std::vector<int> dims,
                 double dynamicChance);
  /// Adds an argument and returns its number; the value is %name.
  int argument(const std::string &name, SizedType type);
  /// Marks an argument as one that is the same in all runs.
  void makeConstant(int argument) { constants.insert(argument); }
  void line(const std::string &text) { body += "  " + text + "\n"; }
  /// A value of index type with the extent: a constant or a tensor.dim of the
  /// first argument that has the size.
  std::string extent(int size);
  /// A tensor.empty of the type.
  std::string empty(const SizedType &type);
  std::string fresh(const char *stem) {
    return std::string("%") + stem + std::to_string(counter++);
  }
  std::string finish(const std::vector<std::string> &results,
                     const std::vector<SizedType> &types);

  const SizedType &argumentType(int number) const { return arguments[number]; }
  const std::string &argumentName(int number) const { return names[number]; }
  int numArguments() const { return static_cast<int>(arguments.size()); }
  std::string textOf(const SizedType &type) const { return type.text(sizes); }

  /// What `extent` says for sizes that follow from others.
  std::function<std::string(int size)> derive;

private:
  Sizes &sizes;
  std::vector<std::string> names;
  std::vector<SizedType> arguments;
  std::set<int> constants;
  std::string body;
  int counter = 0;
};

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

/// A random epilogue: a chain of operations on the accumulator, some with an
/// extra operand each.
class Epilogue {
public:
  /// Draws one for a result of sizes `dims`. Extra operands become arguments of
  /// the module; `destination` may be one of them.
  static Epilogue draw(Random &random, ModuleText &text, Sizes &sizes,
                       ElementType accumulator, const SizedType &result,
                       int destination, double dynamicChance);
  /// "" when there is none, else " epilogue(...) {...}".
  std::string text;
  bool any() const { return !text.empty(); }

  /// The extra operands are among `inputs` at the arguments' numbers.
  Approx apply(Approx accumulator, const Shape &index,
               const std::vector<HostTensor> &inputs) const;
  /// Applies to all elements; the result has type `type`.
  ExpectedTensor applyAll(const std::vector<Approx> &accumulators,
                          const Shape &shape,
                          const std::vector<HostTensor> &inputs) const;

  /// Wrong sizes of the extra operands.
  void addWrong(Random &random, std::vector<WrongSize> &wrong) const;

  struct Step {
    enum Kind {
      Add,
      Multiply,
      Relu,
      LeakyRelu,
      SiLU,
      GeluErf,
      GeluTanh,
      Tanh,
      Sigmoid,
      Scale,
      Negate,
      ToFloat
    } kind;
    /// The argument, or -1.
    int argument = -1;
    /// For each dimension of the extra operand the result's, or -1.
    std::vector<int> map;
    double constant = 0;
  };
  std::vector<Step> steps;
  ElementType accumulatorType = ElementType::F32;
  /// The type that the chain is computed in.
  ElementType computeType = ElementType::F32;
  ElementType resultType = ElementType::F32;
};

//===----------------------------------------------------------------------===//
// Meanings of the operations, also for graphs
//===----------------------------------------------------------------------===//

inline bool isInteger(double x) {
  return std::isfinite(x) && x == std::trunc(x);
}

/// A dot product of `count` terms: its value and error when accumulated in
/// `type`, in a unit whose sums have so many `digits` (0: those of `type`).
/// `term(i, a, b)` gives the factors.
template <typename Term>
Approx dotProduct(ElementType type, int64_t count, Term term, int digits = 0) {
  Real magnitude = 0, sum = 0;
  bool integers = true;
  if (type == ElementType::F64) {
    for (int64_t i = 0; i < count; ++i) {
      double a, b;
      term(i, a, b);
      Real product = Real(a) * b;
      sum += product;
      magnitude += product < 0 ? -product : product;
      integers = integers && isInteger(a) && isInteger(b);
    }
  } else {
    double doubleSum = 0, doubleMagnitude = 0;
    for (int64_t i = 0; i < count; ++i) {
      double a, b;
      term(i, a, b);
      double product = a * b;
      doubleSum += product;
      doubleMagnitude += product < 0 ? -product : product;
      integers = integers && a >= -0x1p31 && a <= 0x1p31 && b >= -0x1p31 &&
                 b <= 0x1p31 && isInteger(a) && isInteger(b);
    }
    sum = doubleSum;
    magnitude = doubleMagnitude;
  }
  // Infinity and NaN come out of any order of the sum.
  Real exact = type == ElementType::F64 ? 0x1p53L : 0x1p24L;
  if (digits)
    exact = std::min(exact, std::ldexp(Real(1), digits));
  if (!std::isfinite(sum) || isInteger(type) || (integers && magnitude < exact))
    return {sum, 0};
  Real error = (sumRoundings(count) + 1) * unitRoundoff(type) * magnitude +
               Real(count + 1) * smallest(type);
  if (digits) {
    UnitSum unit;
    for (int64_t i = 0; i < count; ++i) {
      double a, b;
      term(i, a, b);
      unit.add(Real(a) * b);
    }
    error += unit.error(digits);
  }
  return {sum, error};
}

/// The accumulator's type by default.
ElementType accumulatorOf(ElementType type);

} // namespace tracea::numerics

#endif // TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICS_H
