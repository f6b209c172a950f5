//===- Operator.h - Operations that are called one at a time ----*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call is looked up by everything but its addresses. What a thread has called
// before it finds without a lock; else the program is found among those of the
// operation's family, or compiled. A family is all calls that differ in *open*
// extents alone, batch sizes for instance: its first program is for the extents
// of the first call, the next one for any sizes of those that have differed.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CAPI_OPERATOR_H
#define TRACEA_LIB_CAPI_OPERATOR_H

#include "Text/ModuleText.h"
#include "View.h"

namespace tracea::capi {

constexpr size_t maxOperands = 6;
constexpr size_t maxParams = 16;
constexpr size_t maxOpen = 4;

struct Operand {
  const char *name = nullptr;
  View view;
  bool isOutput = false;
};

/// An extent that programs may leave open: dimension `dim` of all operands that
/// `dims` names, -1 where an operand does not have it.
struct OpenExtent {
  std::array<int8_t, maxOperands> dims{-1, -1, -1, -1, -1, -1};
};

struct OperatorCall;

/// A tensor in the order of its memory: dimension i of `value` is dimension
/// order[i] of what the caller named.
struct Stored {
  Value value;
  std::array<uint8_t, maxRank> order{};
};

/// What builds a module: arguments and results by the call's operands, with
/// extents open as the program wants them.
class OperatorModule {
public:
  /// `isOpen` has an element for each open extent of the call.
  OperatorModule(const OperatorCall &call, const std::vector<bool> &isOpen)
      : call(call), isOpen(isOpen) {}

  /// The argument of an operand, in the first of these orders that its memory
  /// is in, else in that of its memory.
  Expected<Stored>
  argument(size_t operand,
           const std::vector<std::array<uint8_t, maxRank>> &preferred = {});
  /// The same in the caller's order, moved where it is not.
  Expected<Value> inOrder(size_t operand);
  /// Moved to the caller's order where it is not.
  Expected<Value> toOrder(const Stored &stored);
  /// What is added to each element of `out`, where there is such an operand:
  /// dimension i of the module's result is dimension order[i] of the caller's.
  Status addResidual(size_t operand, size_t out,
                     const std::array<uint8_t, maxRank> &order,
                     Epilogue &epilogue);
  /// Sets the result: dimension i of `value` is dimension order[i] of the
  /// output.
  Status result(size_t operand, const Value &value,
                const std::array<uint8_t, maxRank> &order);

  ModuleText text;
  /// How operands are passed: the forms that were chosen.
  struct Passed {
    size_t operand = 0;
    MemoryForm form;
  };
  std::vector<Passed> inputs, outputs;

private:
  const OperatorCall &call;
  const std::vector<bool> &isOpen;
};

struct OperatorCall {
  /// What messages call it.
  const char *function = nullptr;
  /// Which operation, and what tells its calls apart beside the operands.
  int64_t kind = 0;
  std::array<int64_t, maxParams> params{};
  size_t numParams = 0;
  std::array<Operand, maxOperands> operands{};
  size_t numOperands = 0;
  std::array<OpenExtent, maxOpen> open{};
  size_t numOpen = 0;
  void *stream = nullptr;
  /// Writes the module. `context` is the caller's parameters.
  Status (*build)(const OperatorCall &call, OperatorModule &module) = nullptr;
  const void *context = nullptr;

  void param(int64_t value) { params[numParams++] = value; }
  /// The number of the operand; checks it.
  Status add(const char *name, const TraceaTensorView &view, bool isOutput);
  Status addOptional(const char *name, const TraceaTensorView *view);
  bool has(size_t operand) const { return operands[operand].name != nullptr; }
  /// Names an open extent by (operand, dimension).
  void openExtent(std::initializer_list<std::pair<size_t, int>> dims);
};

/// Runs a call: everything of it has been checked that its operands by
/// themselves can tell.
Status runOperator(const OperatorCall &call);

} // namespace tracea::capi

#endif // TRACEA_LIB_CAPI_OPERATOR_H
