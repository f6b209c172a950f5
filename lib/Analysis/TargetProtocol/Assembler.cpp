//===- Assembler.cpp - A protocol out of the roles' events ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembler.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "tracea/Analysis/TargetProtocol/Structure.h"

using namespace mlir;
using namespace mlir::tracea;
namespace ta = ::tracea::analysis;
using ta::Property;
using ta::Step;

static bool dependsOnElection(const Symbol *symbol) {
  if (symbol->kind == Symbol::Elected)
    return true;
  for (unsigned i = 0; i < symbol->numOperands; ++i)
    if (dependsOnElection(symbol->operands[i]))
      return true;
  return false;
}

int64_t mlir::tracea::laneOf(const Symbol *condition, ThreadRange threads) {
  for (unsigned thread = threads.first; thread <= threads.last; ++thread)
    if (evaluateForThread(condition, thread, thread % 32 == 0).value_or(0))
      return dependsOnElection(condition) ? -1 - int64_t(thread / 32) : thread;
  return -1;
}

void Assembler::fault(Property property, const Twine &message, Operation *op,
                      Operation *other, StringRef note) {
  if (result.finding)
    return;
  ta::Finding finding;
  finding.property = property;
  finding.message = message.str();
  finding.site = siteOf(op);
  if (other)
    finding.notes.push_back({-1, siteOf(other), note.str()});
  result.finding = finding;
}

int Assembler::siteOf(Operation *op) {
  auto [it, inserted] = siteNumbers.try_emplace(op, result.sites.size());
  if (inserted)
    result.sites.push_back(op);
  return it->second;
}

ta::Instruction &Assembler::add(Step step, const Event &event) {
  ta::Instruction &instruction = builder->add(step);
  instruction.site = siteOf(event.op);
  instruction.elected = event.lanes == LaneSet::One;
  instruction.perWarp = event.lanes == LaneSet::OnePerWarp;
  return instruction;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

int Assembler::expressionOf(const Symbol *symbol, Operation *op) {
  auto it = expressions.find(symbol);
  if (it != expressions.end())
    return it->second;
  ta::Expression expression;
  expression.bits = static_cast<uint8_t>(std::min(symbol->bits, 64u));
  switch (symbol->kind) {
  case Symbol::Constant:
  case Symbol::Walk:
    expression.op = symbol->kind == Symbol::Walk ? ta::Operator::Variable
                                                 : ta::Operator::Constant;
    expression.value = static_cast<int64_t>(symbol->value);
    break;
  case Symbol::Apply:
    expression.op = symbol->op;
    for (unsigned i = 0; i < symbol->numOperands; ++i)
      expression.operands[i] = expressionOf(symbol->operands[i], op);
    break;
  default:
    context.undecided(op, "a slot or parity depends on data");
    break;
  }
  std::vector<ta::Expression> &all = builder->role.expressions;
  if (all.size() > 500)
    context.undecided(op, "slots and parities take too many expressions");
  all.push_back(expression);
  int number = static_cast<int>(all.size()) - 1;
  expressions[symbol] = number;
  return number;
}

/// (address - base) / stride
int Assembler::slotOf(const Linear &address, int64_t base, int64_t stride,
                      Operation *op) {
  Linear slots;
  int64_t distance = address.constant - base;
  stride = std::max<int64_t>(stride, 1);
  // Bytes within a slot do not count.
  slots.constant =
      distance >= 0 ? distance / stride : -((-distance + stride - 1) / stride);
  for (auto [symbol, coefficient] : address.terms) {
    if (coefficient % stride)
      fault(Property::SlotRange,
            "an address steps by " + Twine(coefficient) +
                " bytes, but slots are " + Twine(stride) + " bytes apart",
            op);
    slots.terms[symbol] = coefficient / stride;
  }
  return expressionOf(context.symbols.sum(slots, 32), op);
}

/// Keeps the variables that slots, parities and tests are made of.
void Assembler::pruneVariables(ta::Role &role) {
  std::vector<bool> needed(role.expressions.size()),
      variables(role.variables.size());
  bool changed = true;
  auto need = [&](int expression) {
    if (expression >= 0 && !needed[expression])
      needed[expression] = changed = true;
  };
  while (changed) {
    changed = false;
    for (const ta::Instruction &op : role.code) {
      need(op.slot);
      need(op.parity);
      if (op.step == Step::Test ||
          (op.step == Step::Set && variables[op.variable]))
        need(op.expression);
    }
    for (size_t i = role.expressions.size(); i-- > 0;) {
      const ta::Expression &expression = role.expressions[i];
      if (!needed[i])
        continue;
      if (expression.op == ta::Operator::Variable &&
          !variables[expression.value])
        variables[expression.value] = changed = true;
      for (int n = 0; n < ta::numOperands(expression.op); ++n)
        need(expression.operands[n]);
    }
  }
  std::vector<int> moved(role.code.size() + 1), numbers(variables.size(), -1);
  std::vector<ta::Instruction> code;
  for (size_t pc = 0; pc < role.code.size(); ++pc) {
    moved[pc] = static_cast<int>(code.size());
    if (role.code[pc].step != Step::Set || variables[role.code[pc].variable])
      code.push_back(role.code[pc]);
  }
  std::vector<ta::Variable> kept;
  for (size_t i = 0; i < variables.size(); ++i)
    if (variables[i]) {
      numbers[i] = static_cast<int>(kept.size());
      kept.push_back(role.variables[i]);
    }
  std::vector<int> renumbered(needed.size(), -1);
  std::vector<ta::Expression> used;
  for (size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i])
      continue;
    ta::Expression expression = role.expressions[i];
    for (int n = 0; n < ta::numOperands(expression.op); ++n)
      expression.operands[n] = renumbered[expression.operands[n]];
    if (expression.op == ta::Operator::Variable)
      expression.value = numbers[expression.value];
    renumbered[i] = static_cast<int>(used.size());
    used.push_back(expression);
  }
  for (ta::Instruction &op : code) {
    if (op.target >= 0)
      op.target = moved[op.target];
    for (int *expression : {&op.slot, &op.parity, &op.expression})
      if (*expression >= 0)
        *expression = renumbered[*expression];
    if (op.variable >= 0)
      op.variable = numbers[op.variable];
  }
  role.code = std::move(code);
  role.variables = std::move(kept);
  role.expressions = std::move(used);
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void Assembler::declareChannels() {
  for (const BarrierArray &array : arrays) {
    if (array.channel >= static_cast<int>(result.protocol.channels.size())) {
      result.protocol.channels.resize(array.channel + 1);
      result.channels.resize(array.channel + 1);
    }
    ta::Channel &channel = result.protocol.channels[array.channel];
    channel.name = "ring " + std::to_string(array.channel);
    channel.slots = array.slots;
    (array.full ? channel.producers : channel.consumers) |= array.arrivers;
    (array.full ? channel.consumers : channel.producers) |= array.waiters;
    auto it = inits.find(array.base);
    if (it != inits.end() && (array.full || !result.channels[array.channel]))
      result.channels[array.channel] = it->second.op;
  }
  for (ta::Channel &channel : result.protocol.channels) {
    channel.fullCount = llvm::popcount(channel.producers);
    channel.emptyCount = llvm::popcount(channel.consumers);
    channel.readers.clear();
    channel.parts = 0;
  }
  for (const BarrierArray &array : arrays) {
    ta::Channel &channel = result.protocol.channels[array.channel];
    (array.full ? channel.fullCount : channel.emptyCount) =
        static_cast<int>(array.count);
  }
}

/// Registers move between warpgroups within what the block got at launch.
void Assembler::budgetRegisters() {
  int64_t blocks = 1;
  for (const char *name : {"nvvm.minctasm", "nvvm.minnctapersm"})
    if (auto attribute = context.kernel->getAttrOfType<IntegerAttr>(name))
      blocks = std::max<int64_t>(1, attribute.getInt());
  int64_t launched = std::min<int64_t>(
      options.registerFile / (blocks * context.threads) / 8 * 8, 255);
  bool budgets = false;
  llvm::DenseMap<unsigned, std::pair<int64_t, Operation *>> groups;
  for (auto [number, program] : llvm::enumerate(programs)) {
    int64_t registers = launched;
    Operation *last = nullptr;
    for (const Event &event : program.events)
      if (event.kind == Event::Registers) {
        registers = event.count;
        last = event.op;
        budgets = true;
        if (registers < 24 || registers > 256 || registers % 8)
          fault(Property::Roles,
                "a budget of " + Twine(registers) +
                    " registers is not a multiple of 8 from 24 to 256",
                event.op);
      }
    auto [it, inserted] = groups.try_emplace(program.threads.first / 128,
                                             std::pair{registers, last});
    if (!inserted && it->second.first != registers)
      fault(Property::Roles, "warps of one warpgroup have different budgets",
            last ? last : it->second.second);
    result.protocol.roles[number].registers = static_cast<int>(registers);
  }
  if (!budgets)
    return;
  result.protocol.registerFile = launched * context.threads;
  int64_t sum = 0;
  Operation *most = nullptr;
  int64_t largest = 0;
  for (const ta::Role &role : result.protocol.roles)
    sum += int64_t(role.threads) * role.registers;
  for (auto &[group, budget] : groups)
    if (budget.second && budget.first > largest) {
      largest = budget.first;
      most = budget.second;
    }
  if (sum > result.protocol.registerFile)
    fault(Property::Roles,
          "the budgets of all warps are " + Twine(sum) +
              " registers, the block got " +
              Twine(result.protocol.registerFile) + " at launch",
          most);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

void Assembler::assembleAccess(const Event &event, unsigned number) {
  bool writes = event.kind != Event::Read;
  int64_t begin = event.address.constant, end = begin + event.length;
  int64_t stride = std::abs(strideOf(event.address));
  bool found = false;
  // Part by part; parts of one channel with equal slots are one step.
  struct Target {
    int channel, slot;
    uint32_t parts;
  };
  SmallVector<Target> targets;
  for (const BufferRegion &region : regions) {
    // The slots that the access touches when variables are zero.
    int first = -1, last = -1;
    for (int slot = 0; slot < region.slots; ++slot) {
      int64_t at = region.base + slot * region.stride;
      if (begin < at + region.length && at < end) {
        first = first < 0 ? slot : first;
        last = slot;
      }
    }
    if (first < 0)
      continue;
    found = true;
    if (event.kind == Event::Copy &&
        (!region.copied ||
         region.channel != arrays[arrayOf(event.barrier)].channel))
      continue; // Reported as an overlap.
    if (stride && region.stride && stride % region.stride)
      fault(Property::SlotRange,
            "its address steps by " + Twine(stride) + " bytes, but slots of '" +
                result.protocol.channels[region.channel].name + "' are " +
                Twine(region.stride) + " bytes apart",
            event.op, region.op, "they are filled here");
    if (stride && !region.stride)
      fault(Property::SlotRange,
            "its address steps by " + Twine(stride) +
                " bytes in a buffer of one slot",
            event.op, region.op, "the buffer is filled here");
    for (int at = first; at <= last; ++at) {
      Linear address = event.address;
      address.constant = region.base + at * std::max<int64_t>(region.stride, 1);
      int slot = slotOf(address, region.base,
                        std::max<int64_t>(region.stride, 1), event.op);
      auto it = llvm::find_if(targets, [&](const Target &target) {
        return target.channel == region.channel && target.slot == slot;
      });
      if (it != targets.end())
        it->parts |= 1u << region.part;
      else
        targets.push_back({region.channel, slot, 1u << region.part});
    }
  }
  if (!found && !writes)
    fault(Property::UnfilledRead,
          "bytes " + Twine(begin) + " to " + Twine(end) +
              " of shared memory are read, but nobody fills them",
          event.op);
  for (const Target &target : targets) {
    const ta::Channel &channel = result.protocol.channels[target.channel];
    if (writes && !(channel.producers >> number & 1))
      context.undecided(event.op, "it writes into a slot that others fill");
    ta::Instruction &step = add(event.kind == Event::Copy ? Step::Copy
                                : writes                  ? Step::Write
                                                          : Step::Read,
                                event);
    step.channel = target.channel;
    step.slot = target.slot;
    step.parts = target.parts;
    step.bytes = event.bytes;
    step.async = event.async;
    step.queue = event.queue;
    step.fresh = event.fresh;
  }
}

void Assembler::assembleEvent(const Event &event, unsigned number) {
  ThreadRange threads = programs[number].threads;
  // Generic writes are seen by generic readers with what orders them.
  auto publish = [&] {
    for (const BufferRegion &region : regions)
      if (!region.copied && !region.readAsync &&
          (region.writers >> number & 1)) {
        ta::Instruction &fence = add(Step::Fence, event);
        fence.channel = region.channel;
        fence.elected = !(region.wideWriters >> number & 1);
        fence.perWarp = false;
      }
  };
  // Only one lane of a role may be told from the others.
  bool ring = event.kind == Event::Arrive || event.kind == Event::Wait ||
              event.kind == Event::Copy || event.kind == Event::CloseGroup ||
              event.kind == Event::WaitGroup;
  bool stranger = event.lanes == LaneSet::One && event.lane && electedLane &&
                  laneOf(event.lane, threads) != *electedLane;
  if (ring && stranger)
    context.undecided(event.op, "two different lanes of a role are elected");
  switch (event.kind) {
  case Event::BarrierInit: {
    initialized.insert(event.barrier.constant);
    int array = arrayOf(event.barrier);
    if (array >= 0 && inits[event.barrier.constant].times > 1 &&
        fenced.contains(arrays[array].channel)) {
      ta::Instruction &again = add(Step::Initialize, event);
      again.channel = arrays[array].channel;
    }
    return;
  }
  case Event::InitFence:
    for (size_t c = 0; c < result.protocol.channels.size(); ++c) {
      bool all = true, any = false;
      for (const BarrierArray &array : arrays)
        if (array.channel == static_cast<int>(c)) {
          any = true;
          for (int slot = 0; slot < array.slots; ++slot)
            all &= initialized.contains(array.base + slot * array.stride);
        }
      if (!any || !all || !fenced.insert(c).second)
        continue;
      ta::Instruction &step = add(Step::Initialize, event);
      step.channel = static_cast<int>(c);
      // What another lane has done, the elected one does not know.
      if (stranger) {
        step.elected = false;
        step.perWarp = true;
      }
    }
    return;
  case Event::Arrive: {
    publish();
    const BarrierArray &array = arrays[arrayOf(event.barrier)];
    int slot = slotOf(event.barrier, array.base, array.stride, event.op);
    ta::Instruction &step =
        add(array.full ? Step::Commit : Step::Release, event);
    step.channel = array.channel;
    step.slot = slot;
    step.bytes = event.bytes;
    int64_t lanes = event.lanes == LaneSet::One          ? 1
                    : event.lanes == LaneSet::OnePerWarp ? threads.warps()
                                                         : threads.size();
    step.count = static_cast<int>(event.count * lanes);
    if (event.bytes && event.lanes != LaneSet::One)
      context.undecided(event.op, "several lanes expect bytes");
    return;
  }
  case Event::Wait: {
    const BarrierArray &array = arrays[arrayOf(event.barrier)];
    int slot = slotOf(event.barrier, array.base, array.stride, event.op);
    int parity = expressionOf(event.expression, event.op);
    ta::Instruction &step = add(array.full ? Step::Wait : Step::Acquire, event);
    step.channel = array.channel;
    step.slot = slot;
    step.parity = parity;
    return;
  }
  case Event::Copy:
  case Event::Read:
  case Event::Write:
    return assembleAccess(event, number);
  case Event::CloseGroup:
    add(Step::CloseGroup, event).queue = event.queue;
    return;
  case Event::WaitGroup: {
    ta::Instruction &step = add(Step::WaitGroup, event);
    step.queue = event.queue;
    step.count = static_cast<int>(event.count);
    step.collective = event.collective;
    return;
  }
  case Event::NamedSync:
  case Event::NamedArrive: {
    publish();
    auto [it, inserted] = namedBarriers.try_emplace(
        event.id, static_cast<int>(result.protocol.barriers.size()));
    if (inserted)
      result.protocol.barriers.push_back({std::to_string(event.id)});
    if (event.id > 15)
      fault(Property::NamedBarrier,
            "named barrier " + Twine(event.id) + " is beyond the last, 15",
            event.op);
    ta::Instruction &step =
        add(event.kind == Event::NamedSync ? Step::Sync : Step::Arrive, event);
    step.barrier = it->second;
    step.count = static_cast<int>(event.count);
    return;
  }
  case Event::MeetWarps: {
    publish();
    add(Step::Converge, event).perWarp = threads.warps() > 1;
    return;
  }
  case Event::ProxyFence:
    add(Step::Fence, event);
    return;
  case Event::Registers:
  case Event::TouchRegisters:
  case Event::FenceRegisters:
  case Event::FeedRegisters:
    return;
  case Event::Issue:
  case Event::Use: {
    int &value = valueNumbers[event.number];
    if (value < 0)
      value = builder->newValue(programs[number].values[event.number]);
    ta::Instruction &step =
        add(event.kind == Event::Issue ? Step::Issue : Step::Use, event);
    step.value = value;
    step.queue = event.queue;
    return;
  }
  case Event::Set: {
    int expression = expressionOf(event.expression, event.op);
    ta::Instruction &step = add(Step::Set, event);
    step.variable = event.number;
    step.expression = expression;
    return;
  }
  case Event::Test: {
    int expression = expressionOf(event.expression, event.op);
    ta::Instruction &step = add(Step::Test, event);
    step.expression = expression;
    step.target = event.target;
    return;
  }
  case Event::Next: {
    ta::Instruction &step = add(Step::Next, event);
    step.trip = event.number;
    step.target = event.target;
    return;
  }
  case Event::Jump:
    add(Step::Jump, event).target = event.target;
    return;
  case Event::Exit:
    builder->at(siteOf(event.op));
    return;
  }
}

void Assembler::assemble(unsigned number) {
  const RoleProgram &program = programs[number];
  unsigned first = program.threads.first / 32, last = program.threads.last / 32;
  std::string name = first == last ? "warp " + std::to_string(first)
                                   : "warps " + std::to_string(first) + "-" +
                                         std::to_string(last);
  ta::RoleBuilder role(result.protocol, name);
  builder = &role;
  expressions.clear();
  valueNumbers.assign(context.accumulators.size(), -1);
  role.role.threads = static_cast<int>(program.threads.size());
  role.role.divergent = true;
  role.role.variables = program.variables;
  // The lane that is elected most often is the one that is followed.
  std::map<int64_t, int> lanes;
  for (const Event &event : program.events)
    if (event.lanes == LaneSet::One && event.lane &&
        event.kind != Event::BarrierInit && event.kind != Event::InitFence)
      ++lanes[laneOf(event.lane, program.threads)];
  electedLane.reset();
  int most = 0;
  for (auto [lane, times] : lanes)
    if (times > most) {
      most = times;
      electedLane = lane;
    }
  std::vector<int> start;
  for (const Event &event : program.events) {
    start.push_back(static_cast<int>(role.role.code.size()));
    assembleEvent(event, number);
  }
  for (ta::Instruction &op : role.role.code)
    if (op.target >= 0)
      op.target = start[op.target];
  role.finish();
  pruneVariables(result.protocol.roles.back());
}

RecoveredProtocol Assembler::run() {
  result.protocol.name = context.kernel.getSymName().str();
  result.protocol.trips = context.trips.names;
  findArrays();
  auto finish = [&] {
    result.reason = context.reason;
    result.reasonOp = context.reasonOp;
    result.guessed = context.guessed;
    result.guessedOp = context.guessedOp;
    return std::move(result);
  };
  if (arrays.empty() || !context.reason.empty() || programs.size() > 32) {
    if (programs.size() > 32)
      context.undecided(context.kernel, "the kernel has more than 32 roles");
    return finish();
  }
  pairArrays();
  declareChannels();
  findRegions();
  findLooseRegions();
  // Buffers without barriers are channels of their own.
  for (BufferRegion &region : regions) {
    if (region.channel >= 0) {
      ta::Channel &channel = result.protocol.channels[region.channel];
      channel.parts = std::max(channel.parts, region.part + 1);
      channel.producers |= region.writers;
      continue;
    }
    region.channel = static_cast<int>(result.protocol.channels.size());
    ta::Channel channel;
    channel.name = "buffer at byte " + std::to_string(region.base);
    channel.slots = region.slots;
    channel.producers = region.writers;
    channel.fullCount = llvm::popcount(region.writers);
    channel.initialized = true;
    channel.parts = 1;
    result.protocol.channels.push_back(channel);
    result.channels.push_back(region.op);
  }
  checkOverlaps();
  // Who reads which part.
  for (ta::Channel &channel : result.protocol.channels) {
    channel.parts = std::max(channel.parts, 1);
    channel.readers.assign(channel.parts, 0);
  }
  for (auto [number, program] : llvm::enumerate(programs))
    for (const Event &event : program.events) {
      if (event.kind != Event::Read)
        continue;
      int64_t begin = event.address.constant, end = begin + event.length;
      for (const BufferRegion &region : regions)
        for (int slot = 0; slot < region.slots; ++slot) {
          int64_t at = region.base + slot * region.stride;
          if (begin < at + region.length && at < end)
            result.protocol.channels[region.channel].readers[region.part] |=
                1u << number;
        }
    }
  for (ta::Channel &channel : result.protocol.channels)
    if (channel.consumers == 0 && channel.initialized) {
      for (uint32_t readers : channel.readers)
        channel.consumers |= readers;
      channel.emptyCount = llvm::popcount(channel.consumers);
    }
  for (unsigned number = 0; number < programs.size(); ++number)
    assemble(number);
  budgetRegisters();
  checkRegisterFences();
  return finish();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Lower bounds from assumptions at the top of the kernel: `assume(n > 0)`.
static void readAssumptions(KernelContext &context) {
  ValueSymbols values(context.symbols, {0, context.threads - 1});
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
                              const RecoveryOptions &options) {
  KernelContext context;
  context.kernel = kernel;
  auto threads = kernel->getAttrOfType<DenseI32ArrayAttr>("nvvm.reqntid");
  RecoveredProtocol none;
  bool barriers = false;
  kernel->walk([&](NVVM::MBarrierInitOp) { barriers = true; });
  if (!barriers || kernel.getBody().empty())
    return none;
  auto undecided = [&](const Twine &why) {
    none.channels.push_back(kernel);
    none.reason = why.str();
    none.reasonOp = kernel;
    return none;
  };
  if (!threads || threads.empty())
    return undecided("the kernel does not say how many threads a block has "
                     "(nvvm.reqntid)");
  int64_t total = 1;
  for (int32_t extent : threads.asArrayRef())
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
  readAssumptions(context);
  findMessages(context);
  SmallVector<RoleProgram> programs;
  for (ThreadRange role : findRoles(context))
    programs.push_back(extractProgram(context, role));
  RecoveredProtocol result = Assembler(context, programs, options).run();
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
