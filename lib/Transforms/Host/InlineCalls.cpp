//===- InlineCalls.cpp - Replace calls by the bodies of their callees -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program has no call stack, and fusion does not look through calls: every
// call of a function of the module is replaced, innermost first.

#include "tracea/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_INLINECALLS
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;

namespace {

/// Replaces calls by the bodies of their callees, innermost first.
class CallInliner {
public:
  explicit CallInliner(ModuleOp module) : symbols(module) {}

  LogicalResult run(func::FuncOp function) {
    State &state = states[function];
    if (state == State::Done)
      return success();
    state = State::Active;
    SmallVector<func::CallOp> calls;
    function.walk([&](func::CallOp call) { calls.push_back(call); });
    for (func::CallOp call : calls)
      if (failed(inlineCall(call)))
        return failure();
    states[function] = State::Done;
    return success();
  }

private:
  enum class State { New, Active, Done };

  LogicalResult inlineCall(func::CallOp call) {
    func::FuncOp callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal())
      return call.emitOpError()
             << "calls '" << call.getCallee()
             << "', which has no body; expected a function of this module";
    if (states[callee] == State::Active)
      return call.emitOpError() << "calls '" << call.getCallee()
                                << "' recursively; a program has no call stack";
    if (!llvm::hasSingleElement(callee.getBody()))
      return call.emitOpError()
             << "calls '" << call.getCallee()
             << "', whose body is not a single block; expected structured "
                "control flow";
    if (failed(run(callee)))
      return failure();
    IRMapping mapping;
    mapping.map(callee.getArguments(), call.getOperands());
    OpBuilder builder(call);
    Block &body = callee.getBody().front();
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping);
    for (auto [result, value] :
         llvm::zip(call.getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookupOrDefault(value));
    call.erase();
    return success();
  }

  SymbolTable symbols;
  DenseMap<Operation *, State> states;
};

struct InlineCalls : public mlir::tracea::impl::InlineCallsBase<InlineCalls> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    CallInliner inliner(module);
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      if (failed(inliner.run(function)))
        return signalPassFailure();
    for (func::FuncOp function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (function.isPrivate())
        function.erase();
  }
};

} // namespace
