//===- Operators.h - What operators have in common --------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_PYTHON_OPERATORS_H
#define TRACEA_PYTHON_OPERATORS_H

#include "Parts.h"
#include "Tensor.h"

#include <initializer_list>

namespace tracea::python {

/// The type of products of factors.
inline TraceaDType resultType(TraceaDType factor) {
  return factor == TRACEA_INT8 ? TRACEA_INT32 : factor;
}

/// A result: the caller's tensor, or a new one.
class Result {
public:
  /// `producer` is whose library a new one comes from.
  Result(nb::handle out, const Tensor &producer) : producer(producer) {
    if (out.is_none())
      return;
    tensor.read("out", out, true);
    isGiven = true;
  }

  void make(const Sizes &sizes, TraceaDType dtype) {
    if (!isGiven)
      set(producer.makeEmpty(sizes, dtype));
  }

  /// Of this shape, in memory in another order: dimension i of the result is
  /// dimension order[i] of `stored`.
  void makeOrdered(const Sizes &stored, const std::array<int, 4> &order,
                   TraceaDType dtype) {
    if (isGiven)
      return;
    nb::object made = producer.makeEmpty(stored, dtype);
    const char *method = nb::hasattr(made, "permute") ? "permute" : "transpose";
    set(made.attr(method)(order[0], order[1], order[2], order[3]));
  }

  Tensor tensor;
  bool isGiven = false;

  nb::object take() const {
    return isGiven ? tensor.object : producer.finish(tensor.object);
  }

private:
  void set(nb::object made) { tensor.read("out", made, true); }
  const Tensor &producer;
};

/// Runs the call without the interpreter's lock: the first one compiles.
template <typename Function>
void launch(Function &&function) {
  TraceaStatus status;
  {
    nb::gil_scoped_release release;
    status = function();
  }
  check(status);
}

/// Where a gradient is asked for, the operator that torch knows does the call.
/// A result of the caller's has none.
bool wantsGradient(std::initializer_list<const Tensor *> tensors,
                   nb::handle out);
nb::object torchOperator(const char *name);

void addProducts(nb::module_ &m);
void addRows(nb::module_ &m);

} // namespace tracea::python

#endif // TRACEA_PYTHON_OPERATORS_H
