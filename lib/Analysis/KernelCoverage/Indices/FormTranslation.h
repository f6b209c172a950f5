//===- FormTranslation.h - Forms of values as expressions -------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The evaluator of values has forms (Numerics/Index.h), which are cheap to
// simplify while a kernel is read; coverage has expressions, which a proof
// carries. The former become the latter here, with the sizes that a launch
// brings.

#ifndef TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_INDICES_FORMTRANSLATION_H
#define TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_INDICES_FORMTRANSLATION_H

#include "../../Numerics/Index.h"
#include "IndexContext.h"

namespace mlir::tracea {

class FormTranslation {
public:
  FormTranslation(KernelIndices &kernel, const numerics::IndexSpace &index)
      : kernel(kernel), index(index) {}

  /// Invalid where a function or a variable has no expression, with `reason`.
  cov::Expr get(const numerics::Form &form);

  /// The expressions that replace variables, or other atoms, of a form.
  std::map<unsigned, cov::Expr> values;
  std::string reason;

private:
  cov::Expr getAtom(unsigned id);
  cov::Expr getFunction(const numerics::Atom &atom);
  cov::Expr fail(const llvm::Twine &why);

  KernelIndices &kernel;
  const numerics::IndexSpace &index;
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_INDICES_FORMTRANSLATION_H
