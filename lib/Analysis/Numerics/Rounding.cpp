//===- Rounding.cpp - Where a normal form rounds --------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the text alone, so that who has a certificate's model, and trusts
// nobody, finds the same: definitions "%n = body", each from earlier ones.

#include "tracea/Analysis/Numerics.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::SmallVector;
using llvm::StringRef;

namespace {
class Reader {
public:
  /// Nothing where this is no normal form.
  std::optional<std::string> read(StringRef form) {
    if (!form.consume_front("numerics 1 "))
      return std::nullopt;
    SmallVector<StringRef> parts;
    form.split(parts, "; ");
    SmallVector<StringRef> results;
    for (StringRef part : llvm::drop_begin(parts)) {
      auto [name, body] = part.split(" = ");
      if (body.empty() || name.empty())
        return std::nullopt;
      if (name.starts_with("out ")) {
        if (!finish(results))
          return std::nullopt;
        types.clear();
        results.push_back(body);
        continue;
      }
      if (results.empty() || !name.starts_with("%") || !define(body) ||
          !types.try_emplace(name, typeOf(body)).second)
        return std::nullopt;
      accumulate(body);
    }
    if (results.empty() || !finish(results))
      return std::nullopt;
    return text();
  }

private:
  /// Whether all that `body` names was defined before it.
  bool define(StringRef body) {
    for (size_t at = body.find('%'); at != StringRef::npos;
         at = body.find('%', at + 1)) {
      StringRef name = body.substr(
          at, 1 + body.drop_front(at + 1)
                      .take_while([](char c) { return c >= '0' && c <= '9'; })
                      .size());
      if (!types.contains(name))
        return false;
    }
    return true;
  }

  /// Whether the value of the last result was defined; short ones stand alone.
  bool finish(SmallVector<StringRef> &results) {
    return results.empty() || !results.back().starts_with("%") ||
           types.contains(results.back());
  }

  static bool isFloat(StringRef type) {
    return llvm::StringSwitch<bool>(type)
        .Cases({"f64", "f32", "tf32", "f16", "bf16"}, true)
        .Default(type.starts_with("f8"));
  }

  /// "fma f32" of "fma f32(%0, %1, s1.0)".
  static StringRef symbolOf(StringRef body) {
    return body.take_front(body.find('('));
  }

  std::string typeOf(StringRef body) {
    StringRef name = body.split(' ').first;
    auto word = [&](size_t number) {
      SmallVector<StringRef> words;
      body.split(words, ' ');
      return number < words.size() ? words[number] : StringRef();
    };
    if (name == "in")
      return word(2).split('[').first.str();
    if (name == "fold") {
      StringRef next = body.split(" next ").second;
      next = next.take_until([](char c) { return c == ',' || c == ' '; });
      return types.lookup(next);
    }
    if (name == "reduce")
      return word(2).str();
    if (body.starts_with("select(")) {
      SmallVector<StringRef> operands;
      body.drop_front(7).split(operands, ", ");
      return operands.size() == 3 ? types.lookup(operands[1]) : "";
    }
    StringRef symbol =
        name == "unit" ? body.take_front(body.find(" with ")) : symbolOf(body);
    StringRef result = symbol.rsplit("-> ").second;
    if (result.empty())
      result = symbol.rsplit(' ').second;
    return result.split(' ').first.str();
  }

  static void add(SmallVector<std::string> &names, const std::string &name) {
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  }

  void accumulate(StringRef body) {
    StringRef name = body.split(' ').first;
    std::string type = typeOf(body);
    if (name == "fold" && isFloat(type))
      add(accumulators, type);
    if (!isFloat(type) || name == "fold" || name == "in" ||
        body.starts_with("select("))
      return;
    // Choices, signs and wider formats are exact.
    bool isExact = llvm::StringSwitch<bool>(name)
                       .Cases({"arith.maximumf", "arith.minimumf",
                               "arith.maxnumf", "arith.minnumf"},
                              true)
                       .Cases({"arith.negf", "arith.extf", "arith.select",
                               "math.absf", "math.copysign"},
                              true)
                       .Cases({"argument", "table"}, true)
                       .Default(false);
    if (isExact)
      return;
    if (name == "reduce") {
      StringRef kind = body.split(' ').second.split(' ').first;
      if (kind != "max" && kind != "min")
        add(rounded, "reduce " + kind.str() + " " + type);
      add(accumulators, type);
      return;
    }
    if (name == "unit")
      return add(rounded, "steps of the unit");
    // Subnormal numbers may be zeros to it.
    bool flushes = name == "arith.truncf" &&
                   symbolOf(body).contains(mlir::tracea_pipe::kFlushesAttrName);
    add(rounded, name.split('(').first.str() + " " + type +
                     (flushes ? " flushing" : ""));
  }

  std::string text() const {
    auto list = [](llvm::ArrayRef<std::string> names) {
      constexpr size_t kMaxNames = 12;
      std::string joined;
      for (auto [i, name] : llvm::enumerate(names)) {
        if (i == kMaxNames)
          return joined + " and " + std::to_string(names.size() - kMaxNames) +
                 " more";
        joined += (i ? ", " : "") + name;
      }
      return joined;
    };
    std::string result;
    if (!accumulators.empty())
      result += "; summed in " + list(accumulators);
    return result + (rounded.empty() ? "; no rounding"
                                     : "; rounded by " + list(rounded));
  }

  llvm::StringMap<std::string> types;
  SmallVector<std::string> accumulators, rounded;
};
} // namespace

std::optional<std::string>
mlir::tracea::describeRounding(llvm::StringRef normalForm) {
  return Reader().read(normalForm);
}
