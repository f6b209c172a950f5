//===- Recovery.cpp - The protocol of a kernel of target IR -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Operands.h"
#include "Rings/Assembler.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "tracea/Analysis/TargetProtocol/Structure.h"

using namespace mlir;
using namespace mlir::tracea;
namespace ta = ::tracea::analysis;

/// Lower bounds from assumptions at the top of the kernel: `assume(n > 0)`.
static void readAssumptions(KernelContext &context) {
  ValueSymbols values(context.symbols, context.target, {0, context.threads - 1},
                      context.demanded);
  for (Operation &op : context.kernel.getBody().front()) {
    if (!op.getNumRegions())
      values.visit(&op);
    auto assume = dyn_cast<LLVM::AssumeOp>(op);
    if (!assume)
      continue;
    Operation *compare = assume.getCond().getDefiningOp();
    StringRef predicate;
    if (auto integer = dyn_cast_or_null<arith::CmpIOp>(compare))
      predicate = arith::stringifyCmpIPredicate(integer.getPredicate());
    else if (auto integer = dyn_cast_or_null<LLVM::ICmpOp>(compare))
      predicate = LLVM::stringifyICmpPredicate(integer.getPredicate());
    else
      continue;
    const Symbol *bound = values.get(compare->getOperand(0)),
                 *constant = values.get(compare->getOperand(1));
    bool greater = predicate.ends_with("gt") || predicate.ends_with("ge");
    if (predicate.ends_with("lt") || predicate.ends_with("le")) {
      std::swap(bound, constant);
      greater = true;
    }
    bool strict = predicate.ends_with("t");
    if (predicate == "ne" && constant->isConstant(0))
      context.minimum[bound] = 1;
    if (greater && constant->isConstant() && constant->value < (1u << 30))
      context.minimum[bound] = constant->value + (strict ? 1 : 0);
  }
}

RecoveredProtocol
mlir::tracea::recoverProtocol(LLVM::LLVMFuncOp kernel,
                              const TargetEvents &target,
                              const RecoveryOptions &options) {
  RecoveredProtocol none;
  if (kernel.getBody().empty())
    return none;
  KernelContext context(kernel, target);
  bool barriers = false, isShared = false;
  kernel->walk([&](Operation *op) {
    barriers |= target.read(op).kind == TargetEvent::BarrierInit;
    isShared |= context.touchesShared(op);
  });
  if (!barriers && !isShared)
    return none;
  context.hasWarpgroups = barriers;
  auto undecided = [&](const Twine &why) {
    none.channels.push_back(kernel);
    none.reason = why.str();
    none.reasonOp = kernel;
    return none;
  };
  SmallVector<int32_t> threads = target.getBlock(kernel);
  if (threads.empty())
    return undecided("the kernel does not say how many threads a block has (" +
                     target.getBlockName() + ")");
  int64_t total = 1;
  for (int32_t extent : threads)
    total *= std::clamp<int32_t>(extent, 0, 2048);
  if (total != threads[0] || total <= 0 || total % 32 || total > 1024)
    return undecided("its block is not a row of whole warps, 32 at most");
  StructuredKernel structured;
  if (!llvm::hasSingleElement(kernel.getBody())) {
    structured = structureKernel(kernel);
    if (!structured.reason.empty()) {
      undecided(structured.reason);
      none.reasonOp = structured.reasonOp;
      return none;
    }
    context.kernel = *structured.kernel;
  }
  context.threads = static_cast<unsigned>(total);
  context.accumulators.build(context.kernel);
  findDemand(context);
  checkPeers(context);
  readAssumptions(context);
  findMessages(context);
  SmallVector<RoleProgram> programs;
  for (ThreadRange role : findRoles(context))
    programs.push_back(extractProgram(context, role));
  RecoveredProtocol result = Assembler(context, programs, options).run();
  // Rings of lanes share memory with what else lanes exchange: where that is
  // not told apart, nothing is known.
  if (!barriers && result.finding && result.reason.empty()) {
    result.reason = result.finding->message;
    if (result.finding->site >= 0)
      result.reasonOp = result.sites[result.finding->site];
  }
  if (!structured.kernel)
    return result;
  // Places are those of the kernel, not of its copy.
  auto replace = [&](Operation *&op) {
    op = op ? structured.getOrigin(op) : nullptr;
  };
  llvm::for_each(result.sites, replace);
  llvm::for_each(result.channels, replace);
  replace(result.reasonOp);
  replace(result.guessedOp);
  return result;
}

std::string mlir::tracea::describeTargetProtocol(const ta::Protocol &protocol) {
  int rings = 0;
  for (const ta::Channel &channel : protocol.channels)
    rings += !channel.initialized || channel.slots > 1;
  return std::to_string(protocol.roles.size()) + " roles, " +
         std::to_string(rings) + " rings, every trip count";
}
