//===- Operators.cpp - tracea.ops ---------------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each function reads its tensors, makes the result where none is given, and
// calls its counterpart of tracea.h, which checks all that is not Python's.
//
//===----------------------------------------------------------------------===//

#include "Operators.h"

namespace tracea::python {

bool wantsGradient(std::initializer_list<const Tensor *> tensors,
                   nb::handle out) {
  for (const Tensor *tensor : tensors)
    if (tensor->requiresGrad()) {
      nb::object torch = nb::module_::import_("torch");
      if (!nb::cast<bool>(torch.attr("is_grad_enabled")()))
        return false;
      if (!out.is_none())
        throwError(TRACEA_UNSUPPORTED_CONFIG,
                   "out: expected none where a gradient is asked for; call it "
                   "under torch.no_grad()");
      return true;
    }
  return false;
}

nb::object torchOperator(const char *name) {
  return nb::module_::import_("tracea.torch.ops").attr(name);
}

void addOperators(nb::module_ &m) {
  addProducts(m);
  addRows(m);
  m.def("operator_counters", [] {
    return readText([](char *buffer, size_t size, size_t *length) {
      return tracea_operator_counters(buffer, size, length);
    });
  });
}

} // namespace tracea::python
