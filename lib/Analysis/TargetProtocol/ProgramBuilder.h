//===- ProgramBuilder.h - Writes the program of one role ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_ANALYSIS_TARGETPROTOCOL_PROGRAMBUILDER_H
#define TRACEA_LIB_ANALYSIS_TARGETPROTOCOL_PROGRAMBUILDER_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tracea/Analysis/TargetProtocol/Program.h"
#include "tracea/Analysis/TargetProtocol/SharedAccess.h"

namespace mlir::tracea {

class ProgramBuilder {
public:
  ProgramBuilder(KernelContext &context, ThreadRange threads,
                 DenseSet<Value> &dropped)
      : context(context), threads(threads),
        values(context.symbols, context.target, threads, context.demanded),
        dropped(dropped) {
    program.threads = threads;
    active.assign(threads.size(), true);
  }

  RoleProgram run();
  bool assumedWrongly() const { return restart; }

private:
  // Program.cpp: control flow and variables.
  void findWalks();
  void findWalkingLoops();
  bool isWalk(Value value);
  int variableOf(Value value);
  void assign(Operation *op, ValueRange to, ArrayRef<const Symbol *> from);
  void forward(Operation *op, ValueRange to, ArrayRef<const Symbol *> from);
  void bindMessage(Value value);
  SmallVector<const Symbol *> symbolsOf(ValueRange range);
  Event &add(Event::Kind kind, Operation *op);
  void emitBlock(Block &block);
  void emitIf(scf::IfOp branch);
  void emitForSome(Block &block, const Symbol *condition, bool taken);
  void emitFor(scf::ForOp loop);
  size_t emitNext(Operation *op, int trip);
  int tripOf(const std::string &key);
  std::string shareKey(std::string key, bool isPrivate, bool varies,
                       Operation *op);
  std::string tripKey(const Symbol *lower, const Symbol *upper,
                      const Symbol *step, StringRef predicate);
  std::string continueLoop(scf::IfOp branch);
  bool isNonempty(const Symbol *lower, const Symbol *upper);
  void emitWhile(scf::WhileOp loop);

  // Whiles.cpp: what decides loops of another form.
  std::string countedLoopKey(scf::WhileOp loop, ArrayRef<const Symbol *> inits);

  // Events.cpp: single operations.
  void emitOp(Operation *op);
  void emitTargetEvent(Operation *op, const TargetEvent &event);
  void emitBarrier(Operation *op, const TargetEvent &event);
  void emitWait(Operation *op, const TargetEvent &event);
  /// A constant; `otherwise` without a value.
  int64_t numberOf(Operation *op, Value value, const char *what,
                   int64_t otherwise);

  // Accesses.cpp: what they touch.
  bool emitAccessOp(Operation *op);
  void emitMultiply(Operation *op, const TargetEvent &event);
  void emitBulkCopy(Operation *op, const TargetEvent &event);
  void emitAccess(Event::Kind kind, Operation *op, Value address,
                  int64_t length, int queue = -1);
  void emitUses(Operation *op);
  void emitTouches(Operation *op);
  bool isRelevant(Operation *op);
  bool isRelevantAlone(Operation *op);
  Linear addressOf(Operation *op, Value address);
  int64_t boxBytes(Value map);

  KernelContext &context;
  ThreadRange threads;
  ValueSymbols values;
  RoleProgram program;
  DenseSet<Value> &dropped;
  DenseSet<Value> walks;
  /// Loops that do nothing but walk a ring, past what others read.
  DenseSet<Operation *> walking;
  DenseMap<Value, int> variables;
  DenseMap<int, int> temporaries;
  DenseMap<Operation *, bool> relevant;
  /// Loops that go on with a trip count whose first decision is read.
  DenseMap<Operation *, std::string> continued;
  llvm::StringMap<Operation *> places;
  LaneSet lanes = LaneSet::All;
  /// Threads of the role that come by, where a branch leaves some out.
  std::vector<bool> active;
  const Symbol *lane = nullptr;
  /// The choices around the operation at hand, where roles see them alike.
  std::string contextKey;
  bool contextKnown = true;
  /// An assumption about walks was wrong.
  bool restart = false;
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_ANALYSIS_TARGETPROTOCOL_PROGRAMBUILDER_H
