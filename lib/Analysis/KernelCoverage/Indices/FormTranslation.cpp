//===- FormTranslation.cpp - Forms of values as expressions ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FormTranslation.h"

using namespace mlir;
using namespace mlir::tracea;
using cov::Expr;
using numerics::Atom;
using numerics::AtomKind;
using numerics::Form;

Expr FormTranslation::fail(const Twine &why) {
  if (reason.empty())
    reason = why.str();
  return Expr::invalid();
}

Expr FormTranslation::get(const Form &form) {
  Expr sum = form.constant;
  for (auto [id, factor] : form.terms)
    sum += factor * getAtom(id);
  return sum;
}

Expr FormTranslation::getAtom(unsigned id) {
  const Atom &atom = index.atom(id);
  if (auto it = values.find(id); it != values.end())
    return it->second;
  switch (atom.kind) {
  case AtomKind::Variable:
    return fail("it depends on the element");
  case AtomKind::Extent: {
    auto [argument, dim] = StringRef(atom.symbol).split('.');
    unsigned number = 0, position = 0;
    if (argument.getAsInteger(10, number) || dim.getAsInteger(10, position))
      return fail("an extent has no name");
    return kernel.getSize(number, position);
  }
  case AtomKind::Argument: {
    unsigned number = 0;
    if (StringRef(atom.symbol).getAsInteger(10, number))
      return fail("an argument has no number");
    Expr size = kernel.getSize(number, -1);
    return size.isValid() ? size : fail("it depends on an argument");
  }
  case AtomKind::Quotient:
    return kernel.math.floorDiv(get(atom.forms[0]), Expr(atom.divisor));
  case AtomKind::Min:
    return kernel.math.min(get(atom.forms[0]), get(atom.forms[1]));
  case AtomKind::Max:
    return kernel.math.max(get(atom.forms[0]), get(atom.forms[1]));
  case AtomKind::Function:
    return getFunction(atom);
  }
  return Expr::invalid();
}

Expr FormTranslation::getFunction(const Atom &atom) {
  StringRef name = StringRef(atom.symbol).split('#').first;
  if (atom.forms.size() == 2) {
    Expr x = get(atom.forms[0]), y = get(atom.forms[1]);
    if (!x.isValid() || !y.isValid())
      return Expr::invalid();
    if (name == "mul")
      return kernel.math.product(x, y);
    // Divisions that round down, up to zero or without a sign agree on natural
    // numbers.
    bool isNatural = kernel.math.isNonNegative(x);
    if (name == "arith.ceildivsi" || (name == "arith.ceildivui" && isNatural))
      return kernel.math.ceilDiv(x, kernel.atLeastOne(y));
    if (name == "arith.floordivsi" ||
        ((name == "arith.divsi" || name == "arith.divui") && isNatural))
      return kernel.getRatio(x, y).value_or(
          kernel.math.floorDiv(x, kernel.atLeastOne(y)));
    if ((name == "arith.remsi" || name == "arith.remui") && isNatural)
      return kernel.math.mod(x, kernel.atLeastOne(y));
  }
  return fail("it depends on '" + name + "'");
}
