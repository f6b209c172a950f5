//===- Print.cpp - Normal forms as text -----------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One definition for each term, numbered as they are needed; what is bound is
// named by how deep it is bound. The numbers that this process gave to atoms
// and variables do not occur, so that equal terms of two kernels have one text.

#include "Evaluator.h"

using namespace mlir;
using namespace mlir::tracea::numerics;

namespace {
class Printer {
public:
  explicit Printer(IndexSpace &index) : index(index) { done.emplace_back(); }

  std::string print(const ElementTerm &result) {
    std::string coordinates;
    for (auto [i, id] : llvm::enumerate(result.at)) {
      names[id] = "r" + std::to_string(i);
      coordinates += (i ? "," : "") + names[id];
    }
    std::string value = visit(result.term);
    return "out " + std::to_string(result.argument) + "[" + coordinates +
           "] = " + value + text;
  }

  std::string formText(const Form &form);
  void name(unsigned id, std::string text) { names[id] = std::move(text); }
  bool isNamed(unsigned id) const { return names.contains(id); }

private:
  std::string atomText(unsigned id);
  std::string visit(TermRef term);
  std::string define(TermRef term);

  IndexSpace &index;
  llvm::DenseMap<unsigned, std::string> names;
  llvm::StringMap<std::string> numbers;
  std::string text;
  unsigned depth = 0;
  /// Terms that were printed under the names of this depth, which need no
  /// second text.
  SmallVector<llvm::DenseMap<TermRef, std::string>> done;
};
} // namespace

std::string Printer::atomText(unsigned id) {
  const Atom &atom = index.atom(id);
  auto operands = [&](bool sorted) {
    SmallVector<std::string> parts;
    for (const Form &form : atom.forms)
      parts.push_back(formText(form));
    if (sorted)
      llvm::sort(parts);
    std::string joined;
    for (const std::string &part : parts)
      joined += (joined.empty() ? "" : ",") + part;
    return joined;
  };
  switch (atom.kind) {
  case AtomKind::Variable: {
    auto it = names.find(id);
    if (it == names.end()) {
      index.fail("a normal form with a variable that nothing binds");
      return "?";
    }
    return it->second;
  }
  case AtomKind::Extent:
    return "dim" + atom.symbol;
  case AtomKind::Argument:
    return "arg" + atom.symbol;
  case AtomKind::Quotient:
    return "(" + operands(false) + ")/" + std::to_string(atom.divisor);
  case AtomKind::Min:
    return "min(" + operands(true) + ")";
  case AtomKind::Max:
    return "max(" + operands(true) + ")";
  case AtomKind::Function:
    return atom.symbol + "(" + operands(atom.symbol == "mul") + ")";
  }
  return "";
}

std::string Printer::formText(const Form &form) {
  SmallVector<std::string> parts;
  for (auto [id, factor] : form.terms) {
    std::string part = atomText(id);
    if (factor == -1)
      part = "-" + part;
    else if (factor != 1)
      part = std::to_string(factor) + "*" + part;
    parts.push_back(std::move(part));
  }
  llvm::sort(parts);
  if (form.constant != 0 || parts.empty())
    parts.push_back(std::to_string(form.constant));
  std::string joined;
  for (const std::string &part : parts)
    joined += (joined.empty() || part.front() == '-' ? "" : "+") + part;
  return joined;
}

std::string Printer::visit(TermRef term) {
  if (auto it = done.back().find(term); it != done.back().end())
    return it->second;
  std::string definition = define(term);
  // A short term is written out where it is used, and gets no name.
  bool isShort = term->kind == TermKind::State ||
                 term->kind == TermKind::Constant ||
                 term->kind == TermKind::Integer;
  std::string name = definition;
  if (!isShort) {
    auto [it, inserted] = numbers.try_emplace(definition, "");
    if (inserted) {
      it->second = "%" + std::to_string(numbers.size() - 1);
      text += "; " + it->second + " = " + definition;
    }
    name = it->second;
  }
  return done.back()[term] = name;
}

std::string Printer::define(TermRef term) {
  auto list = [&](ArrayRef<TermRef> operands) {
    std::string joined;
    for (TermRef operand : operands)
      joined += (joined.empty() ? "" : ", ") + visit(operand);
    return joined;
  };
  auto inside = [&](llvm::function_ref<void()> body) {
    ++depth;
    done.emplace_back();
    body();
    done.pop_back();
    --depth;
  };
  auto bound = [&] { return "k" + std::to_string(depth); };
  switch (term->kind) {
  case TermKind::Input: {
    std::string at;
    for (const Form &form : term->forms)
      at += (at.empty() ? "" : ", ") + formText(form);
    return "in " + term->symbol + "[" + at + "]";
  }
  case TermKind::Constant:
    return term->symbol;
  case TermKind::Operation:
    return term->symbol + "(" + list(term->operands) + ")";
  case TermKind::Select:
    return "select(" + list(term->operands) + ")";
  case TermKind::Condition:
    return formText(term->forms[0]) +
           (term->symbol == "eq" ? " == 0" : " >= 0");
  case TermKind::Integer:
    return "<" + formText(term->forms[0]) + ">";
  case TermKind::State:
    if (auto it = names.find(term->bound[0]); it != names.end())
      return it->second;
    index.fail("a normal form with a state of no fold");
    return "?";
  case TermKind::Undefined:
    return "undefined";
  case TermKind::Reduce:
  case TermKind::UnitStep: {
    std::string result = term->kind == TermKind::Reduce
                             ? "reduce " + term->symbol
                             : "unit " + term->symbol;
    ArrayRef<TermRef> operands = term->operands;
    if (term->kind == TermKind::UnitStep) {
      result += " " + visit(operands.front()) + " with";
      operands = operands.drop_front();
    }
    inside([&] {
      // A step of several words counts these and what is in them.
      for (auto [number, variable] : llvm::enumerate(term->bound)) {
        std::string text =
            bound() + (number ? "." + std::to_string(number) : std::string());
        name(variable, text);
        result += (number ? ", " : " ") + text + " < " +
                  formText(term->forms[number]);
      }
      result += ": " + list(operands);
    });
    return result;
  }
  case TermKind::Fold: {
    size_t states = term->bound.size() - 1;
    std::string range =
        formText(term->forms[0]) + " to " + formText(term->forms[1]);
    SmallVector<std::string> begins;
    for (TermRef init : ArrayRef<TermRef>(term->operands).take_front(states))
      begins.push_back(visit(init));
    std::string result;
    inside([&] {
      name(term->bound[0], bound());
      result = "fold " + bound() + " " + range;
      for (size_t i = 0; i < states; ++i)
        name(term->bound[i + 1],
             "s" + std::to_string(depth) + "." + std::to_string(i));
      for (size_t i = 0; i < states; ++i)
        result += ", s" + std::to_string(depth) + "." + std::to_string(i) +
                  " from " + begins[i] + " next " +
                  visit(term->operands[states + i]);
    });
    return result;
  }
  }
  return "";
}

std::string
mlir::tracea::numerics::printNormalForm(const TargetNumerics &target,
                                        ArrayRef<ElementTerm> results,
                                        IndexSpace &index, TermSpace &terms) {
  std::string text = "numerics 1 " + target.name;
  std::map<unsigned, std::string> byArgument;
  for (const ElementTerm &result : results) {
    std::string own = Printer(index).print(result);
    std::string &slot = byArgument[result.argument];
    if (!slot.empty() && slot != own)
      index.fail("elements of argument " + std::to_string(result.argument) +
                 " are computed in several ways");
    slot = std::move(own);
  }
  for (auto &[argument, own] : byArgument)
    text += "; " + own;
  // The text travels as one line.
  for (char &c : text)
    if (c == '\n' || c == '\r')
      c = ' ';
  return text;
}

std::string mlir::tracea::numerics::describeForm(const Form &form,
                                                 IndexSpace &index,
                                                 ArrayRef<unsigned> at) {
  Printer printer(index);
  for (auto [number, id] : llvm::enumerate(at))
    printer.name(id, "r" + std::to_string(number));
  unsigned others = 0;
  index.forEachVariable(form, [&](unsigned id) {
    if (!printer.isNamed(id))
      printer.name(id, "k" + std::to_string(++others));
  });
  return printer.formText(form);
}
