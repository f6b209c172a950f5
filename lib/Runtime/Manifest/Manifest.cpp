//===- Manifest.cpp - Names, lookup and the expression builder ------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler uses to fill a manifest.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/Manifest.h"

#include "tracea/Runtime/Expr.h"

namespace tracea::runtime {

const char *nameOf(ExprOp op) {
  static constexpr const char *names[numExprOps] = {
      "const",    "dim",     "value", "add",    "sub",           "mul",
      "floordiv", "ceildiv", "mod",   "min",    "max",           "eq",
      "ne",       "lt",      "le",    "select", "divmultiplier", "divshift"};
  return names[static_cast<int>(op)];
}

const char *nameOf(TempContents contents) {
  static constexpr const char *names[numTempContents] = {
      "any", "zero", "persistent", "constant"};
  return names[static_cast<int>(contents)];
}

int numOperands(ExprOp op) {
  if (op == ExprOp::Const || op == ExprOp::Value ||
      op == ExprOp::DivMultiplier || op == ExprOp::DivShift)
    return 1;
  return op == ExprOp::Select ? 3 : 2;
}

const EntrySpec *Manifest::findEntry(const std::string &name) const {
  for (const EntrySpec &entry : entries)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

std::vector<int64_t> parameterBytes(const EntrySpec &entry, const ArgSpec &arg,
                                    int64_t word) {
  std::vector<int64_t> bytes;
  switch (arg.kind) {
  case ArgKind::Index:
    bytes.push_back(word);
    break;
  case ArgKind::Value:
    bytes.push_back(sizeOf(entry.inputs[static_cast<size_t>(arg.index)].type));
    break;
  case ArgKind::TensorMap:
    bytes.push_back(tensorMapBytes);
    break;
  case ArgKind::Pointer:
    bytes.push_back(sizeof(void *));
    break;
  case ArgKind::View:
    bytes.push_back(sizeof(void *));
    bytes.insert(bytes.end(), 2 * arg.view.sizes.size(), word);
    break;
  }
  return bytes;
}

int64_t ExprBuilder::constant(int64_t value) {
  return node(ExprOp::Const, value);
}

int64_t ExprBuilder::dim(int64_t input, int64_t axis) {
  return node(ExprOp::Dim, input, axis);
}

int64_t ExprBuilder::node(ExprOp op, int64_t a, int64_t b, int64_t c) {
  auto constantOf = [&](int64_t i) -> const int64_t * {
    const Expr &expr = exprs[static_cast<size_t>(i)];
    return expr.op == ExprOp::Const ? &expr.a : nullptr;
  };
  if (op != ExprOp::Const && op != ExprOp::Dim && op != ExprOp::Value) {
    const int64_t *x = constantOf(a), *y = constantOf(b);
    if (op == ExprOp::Select) {
      if (x)
        return *x != 0 ? b : c;
      if (b == c)
        return b;
    } else if (x && y) {
      // An undefined result stays a node, so that the run reports it.
      if (std::optional<int64_t> value = applyExprOp(op, *x, *y, 0))
        return constant(*value);
    } else if (y && ((*y == 0 && (op == ExprOp::Add || op == ExprOp::Sub)) ||
                     (*y == 1 && (op == ExprOp::Mul || op == ExprOp::FloorDiv ||
                                  op == ExprOp::CeilDiv)))) {
      return a;
    } else if (x && ((*x == 0 && op == ExprOp::Add) ||
                     (*x == 1 && op == ExprOp::Mul))) {
      return b;
    } else if (a == b && (op == ExprOp::Min || op == ExprOp::Max)) {
      return a;
    }
  }
  for (size_t i = 0; i < exprs.size(); ++i)
    if (exprs[i].op == op && exprs[i].a == a && exprs[i].b == b &&
        exprs[i].c == c)
      return static_cast<int64_t>(i);
  exprs.push_back({op, a, b, c});
  return static_cast<int64_t>(exprs.size()) - 1;
}

ViewSpec ExprBuilder::rowMajorView(int64_t buffer, ElementType type,
                                   Span<const int64_t> sizes) {
  ViewSpec view;
  view.buffer = buffer;
  view.type = type;
  view.offset = constant(0);
  view.sizes.assign(sizes.begin(), sizes.end());
  view.strides.resize(sizes.size());
  int64_t step = constant(1);
  for (size_t i = sizes.size(); i-- > 0;) {
    view.strides[i] = step;
    if (i != 0)
      step = mul(step, sizes[i]);
  }
  return view;
}

int64_t ExprBuilder::rowMajorBytes(ElementType type,
                                   Span<const int64_t> sizes) {
  int64_t product = constant(sizeOf(type));
  for (int64_t size : sizes)
    product = mul(product, size);
  return product;
}

} // namespace tracea::runtime
