//===- Program.cpp - What one role of a target kernel does --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks the kernel as one role runs it: branches that its threads decide are
// followed, loops are unrolled or read a trip count.

#include "ProgramBuilder.h"

using namespace mlir;
using namespace mlir::tracea;

/// Events of one role.
static constexpr size_t kMaxEvents = 20000;

RoleProgram mlir::tracea::extractProgram(KernelContext &context,
                                         ThreadRange threads) {
  // An assumption that turns out wrong while the program is written is dropped,
  // and the program written again.
  DenseSet<Value> dropped;
  for (;;) {
    ProgramBuilder builder(context, threads, dropped);
    RoleProgram program = builder.run();
    if (!builder.assumedWrongly())
      return program;
  }
}

RoleProgram ProgramBuilder::run() {
  for (unsigned i = 0; i < context.accumulators.size(); ++i)
    program.values.push_back("accumulator " + std::to_string(i));
  findWalks();
  findWalkingLoops();
  emitBlock(context.kernel.getBody().front());
  add(Event::Exit, context.kernel.getBody().front().getTerminator());
  if (program.events.size() > kMaxEvents)
    context.undecided(context.kernel, "the program of a role is too long");
  return std::move(program);
}

Event &ProgramBuilder::add(Event::Kind kind, Operation *op) {
  Event event;
  event.kind = kind;
  event.op = op;
  event.lanes = lanes;
  event.lane = lane;
  program.events.push_back(event);
  return program.events.back();
}

void ProgramBuilder::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (program.events.size() > kMaxEvents)
      return;
    if (auto branch = dyn_cast<scf::IfOp>(op))
      emitIf(branch);
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      emitFor(loop);
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      emitWhile(loop);
    else if (op.getNumRegions() && isRelevant(&op))
      context.undecided(&op, "'" + op.getName().getStringRef() +
                                 "' holds operations that synchronise");
    else
      emitOp(&op);
  }
}

int ProgramBuilder::tripOf(const std::string &key) {
  TripTable &trips = context.trips;
  auto [it, inserted] =
      trips.numbers.try_emplace(key, static_cast<int>(trips.names.size()));
  if (inserted)
    trips.names.push_back("loop " + std::to_string(it->second));
  return it->second;
}

size_t ProgramBuilder::emitNext(Operation *op, int trip) {
  add(Event::Next, op).number = trip;
  return program.events.size() - 1;
}

/// The name of a choice that other roles make alike, or one that only this
/// place of this role makes.
std::string ProgramBuilder::shareKey(std::string key, bool isPrivate,
                                     bool varies, Operation *op) {
  if (!isPrivate && varies) {
    // Roles must come by equally often: in the same loops, at one place.
    if (contextKnown)
      key += " in " + contextKey;
    auto [it, inserted] = places.try_emplace(key, op);
    isPrivate = !contextKnown || (!inserted && it->second != op);
  }
  if (!isPrivate)
    return key;
  context.guess(op, "it depends on data that other roles do not see");
  return "private " + std::to_string(threads.first) + " " +
         std::to_string(reinterpret_cast<uintptr_t>(op));
}
