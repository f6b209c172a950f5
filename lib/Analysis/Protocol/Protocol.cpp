//===- Protocol.cpp - Programs of roles, built and printed ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/Protocol/Protocol.h"

#include <utility>

namespace tracea::analysis {

const char *stepName(Step step) {
  switch (step) {
  case Step::Initialize:
    return "initialize";
  case Step::Acquire:
    return "acquire";
  case Step::Copy:
    return "copy";
  case Step::Write:
    return "write";
  case Step::Fence:
    return "fence";
  case Step::Commit:
    return "commit";
  case Step::Wait:
    return "wait";
  case Step::Read:
    return "read";
  case Step::CloseGroup:
    return "close group";
  case Step::WaitGroup:
    return "wait group";
  case Step::Issue:
    return "issue";
  case Step::Use:
    return "use";
  case Step::Release:
    return "release";
  case Step::Start:
    return "start";
  case Step::Move:
    return "move";
  case Step::Advance:
    return "advance";
  case Step::Set:
    return "set";
  case Step::Test:
    return "test";
  case Step::Next:
    return "next";
  case Step::Jump:
    return "jump";
  case Step::Sync:
    return "sync";
  case Step::Arrive:
    return "arrive";
  case Step::Converge:
    return "converge";
  case Step::Poll:
    return "poll";
  case Step::Exit:
    return "exit";
  }
  return "";
}

bool isRingStep(Step step) {
  switch (step) {
  case Step::Acquire:
  case Step::Copy:
  case Step::Write:
  case Step::Commit:
  case Step::Wait:
  case Step::Read:
  case Step::Release:
    return true;
  default:
    return false;
  }
}

bool isFillStep(Step step) {
  return step == Step::Acquire || step == Step::Copy || step == Step::Write ||
         step == Step::Commit;
}

int numOperands(Operator op) {
  return op == Operator::Constant || op == Operator::Variable ? 0
         : op == Operator::Select                             ? 3
                                                              : 2;
}

bool applyOperator(Operator op, unsigned bits, const uint64_t *operands,
                   uint64_t &result) {
  uint64_t mask = bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  uint64_t a = operands[0] & mask, b = operands[1] & mask;
  switch (op) {
  case Operator::Constant:
  case Operator::Variable:
    return false;
  case Operator::Add:
    result = a + b;
    break;
  case Operator::Sub:
    result = a - b;
    break;
  case Operator::Mul:
    result = a * b;
    break;
  case Operator::Div:
  case Operator::Rem:
    if (!b)
      return false;
    result = op == Operator::Div ? a / b : a % b;
    break;
  case Operator::And:
    result = a & b;
    break;
  case Operator::Or:
    result = a | b;
    break;
  case Operator::Xor:
    result = a ^ b;
    break;
  case Operator::ShiftLeft:
  case Operator::ShiftRight:
    if (b >= bits)
      return false;
    result = op == Operator::ShiftLeft ? a << b : a >> b;
    break;
  case Operator::Equal:
    result = a == b;
    break;
  case Operator::NotEqual:
    result = a != b;
    break;
  case Operator::Less:
    result = a < b;
    break;
  case Operator::LessEqual:
    result = a <= b;
    break;
  case Operator::Select:
    result = operands[0] ? operands[1] : operands[2];
    break;
  }
  result &= mask;
  return true;
}

RoleBuilder::RoleBuilder(Protocol &protocol, std::string name)
    : protocol(protocol), ringPositions(protocol.channels.size(), -1) {
  role.name = std::move(name);
}

int RoleBuilder::newPosition(int slots) {
  role.positions.push_back({slots, slots, slots, 0});
  return static_cast<int>(role.positions.size()) - 1;
}

int RoleBuilder::newValue(std::string name) {
  role.values.push_back(std::move(name));
  return static_cast<int>(role.values.size()) - 1;
}

Slot RoleBuilder::ring(int channel) {
  if (ringPositions[channel] < 0)
    ringPositions[channel] = newPosition(protocol.channels[channel].slots);
  return {channel, ringPositions[channel], 0};
}

Instruction &RoleBuilder::add(Step step) {
  Instruction instruction;
  instruction.step = step;
  instruction.elected = elected;
  instruction.site = site;
  role.code.push_back(instruction);
  return role.code.back();
}

Instruction &RoleBuilder::addSlot(Step step, Slot slot) {
  Instruction &instruction = add(step);
  instruction.channel = slot.channel;
  instruction.position = slot.position;
  instruction.offset = slot.offset;
  return instruction;
}

RoleBuilder &RoleBuilder::initialize(int channel) {
  add(Step::Initialize).channel = channel;
  return *this;
}

RoleBuilder &RoleBuilder::acquire(Slot slot) {
  addSlot(Step::Acquire, slot);
  return *this;
}

RoleBuilder &RoleBuilder::copy(Slot slot, uint32_t parts, int64_t bytes) {
  Instruction &instruction = addSlot(Step::Copy, slot);
  instruction.parts = parts;
  instruction.bytes = bytes;
  return *this;
}

RoleBuilder &RoleBuilder::write(Slot slot, uint32_t parts) {
  addSlot(Step::Write, slot).parts = parts;
  return *this;
}

RoleBuilder &RoleBuilder::writeAsync(Slot slot, uint32_t parts, int queue) {
  Instruction &instruction = addSlot(Step::Write, slot);
  instruction.parts = parts;
  instruction.async = true;
  instruction.queue = queue;
  return *this;
}

RoleBuilder &RoleBuilder::fence() {
  add(Step::Fence);
  return *this;
}

RoleBuilder &RoleBuilder::commit(Slot slot, int64_t bytes, int arrivals) {
  Instruction &instruction = addSlot(Step::Commit, slot);
  instruction.bytes = bytes;
  instruction.count = arrivals;
  return *this;
}

RoleBuilder &RoleBuilder::wait(Slot slot) {
  addSlot(Step::Wait, slot);
  return *this;
}

RoleBuilder &RoleBuilder::read(Slot slot, uint32_t parts) {
  addSlot(Step::Read, slot).parts = parts;
  return *this;
}

RoleBuilder &RoleBuilder::readAsync(Slot slot, uint32_t parts, int queue) {
  Instruction &instruction = addSlot(Step::Read, slot);
  instruction.parts = parts;
  instruction.async = true;
  instruction.queue = queue;
  return *this;
}

RoleBuilder &RoleBuilder::issue(int value, int queue) {
  Instruction &instruction = add(Step::Issue);
  instruction.value = value;
  instruction.queue = queue;
  return *this;
}

RoleBuilder &RoleBuilder::use(int value) {
  add(Step::Use).value = value;
  return *this;
}

RoleBuilder &RoleBuilder::closeGroup(int queue) {
  add(Step::CloseGroup).queue = queue;
  return *this;
}

RoleBuilder &RoleBuilder::waitGroup(int pending, int queue) {
  Instruction &instruction = add(Step::WaitGroup);
  instruction.count = pending;
  instruction.queue = queue;
  return *this;
}

RoleBuilder &RoleBuilder::release(Slot slot, int arrivals) {
  addSlot(Step::Release, slot).count = arrivals;
  return *this;
}

RoleBuilder &RoleBuilder::advance(Slot slot) {
  Instruction &instruction = addSlot(Step::Advance, slot);
  instruction.source = slot.position;
  return *this;
}

RoleBuilder &RoleBuilder::sync(int barrier, int count) {
  Instruction &instruction = add(Step::Sync);
  instruction.barrier = barrier;
  instruction.count = count;
  return *this;
}

RoleBuilder &RoleBuilder::arrive(int barrier, int count) {
  Instruction &instruction = add(Step::Arrive);
  instruction.barrier = barrier;
  instruction.count = count;
  return *this;
}

RoleBuilder &RoleBuilder::converge() {
  add(Step::Converge);
  return *this;
}

RoleBuilder &RoleBuilder::elect(bool on) {
  elected = on;
  return *this;
}

RoleBuilder &RoleBuilder::at(Site place) {
  site = place;
  return *this;
}

RoleBuilder &RoleBuilder::loop(int trip, const std::function<void()> &body) {
  size_t head = role.code.size();
  add(Step::Next).trip = trip;
  body();
  add(Step::Jump).target = static_cast<int>(head);
  role.code[head].target = static_cast<int>(role.code.size());
  return *this;
}

RoleBuilder &RoleBuilder::peel(int trip, const std::function<void()> &body) {
  size_t head = role.code.size();
  add(Step::Next).trip = trip;
  body();
  role.code[head].target = static_cast<int>(role.code.size());
  return *this;
}

RoleBuilder &RoleBuilder::repeat(int times, const std::function<void()> &body) {
  for (int i = 0; i < times; ++i)
    body();
  return *this;
}

int RoleBuilder::finish() {
  elected = false;
  add(Step::Exit);
  protocol.roles.push_back(role);
  return static_cast<int>(protocol.roles.size()) - 1;
}

std::string printInstruction(const Protocol &protocol,
                             const Instruction &instruction) {
  std::string text = stepName(instruction.step);
  if (instruction.async)
    text += " async";
  if (instruction.channel >= 0)
    text += " '" + protocol.channels[instruction.channel].name + "'";
  if (instruction.position >= 0)
    text += " p" + std::to_string(instruction.position);
  if (instruction.source >= 0 && instruction.source != instruction.position)
    text += " from p" + std::to_string(instruction.source);
  if (instruction.slot >= 0)
    text += " slot x" + std::to_string(instruction.slot);
  if (instruction.parity >= 0)
    text += " parity x" + std::to_string(instruction.parity);
  if (instruction.variable >= 0)
    text += " y" + std::to_string(instruction.variable);
  if (instruction.expression >= 0)
    text += " x" + std::to_string(instruction.expression);
  if (instruction.offset)
    text += (instruction.offset > 0 ? "+" : "") +
            std::to_string(instruction.offset);
  if (instruction.parts)
    text += " parts " + std::to_string(instruction.parts);
  if (instruction.bytes)
    text += " bytes " + std::to_string(instruction.bytes);
  if (instruction.barrier >= 0)
    text += " '" + protocol.barriers[instruction.barrier].name + "'";
  if (instruction.value >= 0)
    text += " v" + std::to_string(instruction.value);
  if (instruction.queue)
    text += " queue " + std::to_string(instruction.queue);
  if (instruction.count)
    text += " count " + std::to_string(instruction.count);
  if (instruction.trip >= 0)
    text += " " + protocol.trips[instruction.trip];
  if (instruction.target >= 0)
    text += " -> " + std::to_string(instruction.target);
  if (instruction.elected)
    text += " elected";
  if (instruction.perWarp)
    text += " per warp";
  if (instruction.collective)
    text += " collective";
  return text;
}

std::string printRole(const Protocol &protocol, const Role &role) {
  std::string text = role.name + ":\n";
  for (size_t pc = 0; pc < role.code.size(); ++pc)
    text += "  " + std::to_string(pc) + ": " +
            printInstruction(protocol, role.code[pc]) + "\n";
  return text;
}

} // namespace tracea::analysis
