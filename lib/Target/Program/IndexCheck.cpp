//===- IndexCheck.cpp - Whether indices of a launch fit -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Target/Program/IndexCheck.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "tracea/Analysis/Certificates.h"

#include <limits>

using namespace mlir;
using namespace mlir::tracea;
namespace rt = ::tracea::runtime;

int64_t mlir::tracea::buildIndexCheck(const std::vector<IndexSummand> &summands,
                                      std::vector<rt::Expr> &nodes) {
  rt::ExprBuilder exprs(nodes);
  int64_t sum = exprs.constant(0);
  for (const IndexSummand &summand : summands) {
    int64_t product = exprs.constant(summand.factor);
    for (IndexSummand::Size size : summand.sizes)
      product = exprs.mul(
          product,
          size.isInteger
              ? exprs.max(size.expr, exprs.sub(exprs.constant(0), size.expr))
              : size.expr);
    sum = exprs.add(sum, product);
  }
  // What does not fit has no value, and a check without a value fails.
  return exprs.le(sum, exprs.constant(std::numeric_limits<int64_t>::max()));
}

std::optional<rt::CheckSpec>
mlir::tracea::getIndexCheck(Operation *kernel, const rt::StepSpec &step,
                            std::vector<rt::Expr> &nodes) {
  auto summands = kernel->getAttrOfType<ArrayAttr>(kIndexLimit);
  if (!summands || hasStaleCertificates(kernel))
    return std::nullopt;
  std::vector<IndexSummand> sum;
  std::string text;
  for (Attribute entry : summands) {
    auto words = dyn_cast<DenseI64ArrayAttr>(entry);
    if (!words || words.size() % 2 != 1)
      return std::nullopt;
    ArrayRef<int64_t> rest = words.asArrayRef();
    IndexSummand &summand = sum.emplace_back();
    summand.factor = rest.front();
    std::string name;
    if (rest.front() != 1 || rest.size() == 1)
      name = std::to_string(rest.front());
    for (rest = rest.drop_front(); !rest.empty(); rest = rest.drop_front(2)) {
      int64_t argument = rest[0], dim = rest[1];
      if (argument < 0 || argument >= static_cast<int64_t>(step.args.size()))
        return std::nullopt;
      const rt::ArgSpec &arg = step.args[argument];
      if (arg.hasView() != (dim >= 0) ||
          (dim >= 0 && dim >= static_cast<int64_t>(arg.view.sizes.size())))
        return std::nullopt;
      if (dim >= 0) {
        summand.sizes.push_back({arg.view.sizes[dim], false});
        name += std::string(name.empty() ? "" : " * ") + "dimension " +
                std::to_string(dim) + " of argument #" +
                std::to_string(argument);
      } else {
        summand.sizes.push_back({arg.index, true});
        name += std::string(name.empty() ? "" : " * ") + "|argument #" +
                std::to_string(argument) + "|";
      }
    }
    text += (text.empty() ? "" : " + ") + name;
  }
  rt::CheckSpec check;
  check.expr = buildIndexCheck(sum, nodes);
  auto name = kernel->getAttrOfType<StringAttr>("sym_name");
  check.message = "the indices of kernel '" + (name ? name.str() : "") +
                  "' fit into 64 bits, so does " + text;
  return check;
}
