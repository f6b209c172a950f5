//===- Model.cpp - A protocol as one line of text -------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/Protocol/Model.h"
#include "tracea/Analysis/Protocol/WordReader.h"

#include <algorithm>
#include <utility>

namespace tracea::analysis {
namespace {

using algebra::Error;
using algebra::Expected;

/// The word of each step, in the order of `Step`.
constexpr const char *kWords[] = {
    "init",   "acquire",  "copy",  "write", "fence", "commit",  "wait",
    "read",   "close",    "drain", "issue", "use",   "release", "start",
    "move",   "advance",  "set",   "test",  "next",  "jump",    "sync",
    "arrive", "converge", "poll",  "exit"};
constexpr int kSteps = static_cast<int>(Step::Exit) + 1;
static_assert(sizeof(kWords) / sizeof(kWords[0]) == kSteps,
              "a step has no word");

// Limits of what is read; the checker's own are below some of them.
constexpr int64_t kMaxText = int64_t(1) << 22;
constexpr int64_t kMaxName = 256;
constexpr int64_t kMaxChannels = 128;
constexpr int64_t kMaxSlots = 100;
constexpr int64_t kMaxRoles = 32;
constexpr int64_t kMaxCode = 60000;
constexpr int64_t kMaxNames = 4096;
constexpr int64_t kMaxExpressions = 512;
constexpr int64_t kMaxCount = 1 << 20;
constexpr int64_t kMaxBytes = int64_t(1) << 31;

/// A letter for each operator, in the order of `Operator`.
constexpr std::string_view kOperators = "cv+-*/%&|^lr=!<k?";
static_assert(kOperators.size() == static_cast<size_t>(Operator::Select) + 1,
              "an operator has no letter");

/// A name without spaces, one byte a character or %XX.
std::string escape(const std::string &name) {
  static const char *const digits = "0123456789ABCDEF";
  if (name.empty())
    return "%";
  std::string text;
  for (char character : name) {
    unsigned char byte = static_cast<unsigned char>(character);
    if (byte > ' ' && byte < 127 && byte != '%' && byte != '"' &&
        byte != '\\') {
      text += character;
      continue;
    }
    text += '%';
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

void writeField(std::string &text, char letter, int64_t value, int64_t usual) {
  if (value != usual)
    text += letter + std::to_string(value);
}

void writeInstruction(std::string &text, const Instruction &op) {
  text += ' ';
  text += kWords[static_cast<int>(op.step)];
  text += ':';
  if (op.elected)
    text += 'E';
  if (op.perWarp)
    text += 'W';
  if (op.async)
    text += 'A';
  if (op.collective)
    text += 'C';
  if (op.fresh)
    text += 'F';
  writeField(text, 'c', op.channel, -1);
  writeField(text, 'p', op.position, -1);
  writeField(text, 's', op.source, -1);
  writeField(text, 'o', op.offset, 0);
  writeField(text, 'm', op.parts, 0);
  writeField(text, 'b', op.bytes, 0);
  writeField(text, 't', op.trip, -1);
  writeField(text, 'j', op.target, -1);
  writeField(text, 'n', op.barrier, -1);
  writeField(text, 'q', op.queue, 0);
  writeField(text, 'v', op.value, -1);
  writeField(text, 'k', op.count, 0);
  writeField(text, 'x', op.slot, -1);
  writeField(text, 'y', op.parity, -1);
  writeField(text, 'u', op.variable, -1);
  writeField(text, 'e', op.expression, -1);
}

class Reader : WordReader {
public:
  explicit Reader(std::string_view text)
      : WordReader(text, "model of a protocol") {}

  Expected<Protocol> read();

private:
  bool expect(std::string_view keyword) {
    return next() == keyword || fail("'" + std::string(keyword) + "'");
  }
  bool nextName(std::string &name);
  bool readChannel();
  bool readRole();
  bool readPosition();
  bool readVariable();
  bool readExpression();
  bool readInstruction();
  bool check();
  bool checkInstruction(const Role &role, const Instruction &op);

  Protocol protocol;
  int64_t slots = 0, code = 0, names = 0;
};

bool Reader::nextName(std::string &name) {
  next();
  if (word.empty() || static_cast<int64_t>(word.size()) > 3 * kMaxName ||
      ++names > kMaxNames)
    return fail("a name, " + std::to_string(kMaxNames) + " at most");
  if (word == "%")
    return true;
  auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 55 : -1;
  };
  for (size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '%') {
      name += word[i];
      continue;
    }
    int high = i + 2 < word.size() ? digit(word[i + 1]) : -1;
    int low = i + 2 < word.size() ? digit(word[i + 2]) : -1;
    if (high < 0 || low < 0)
      return fail("a name with escapes '%XX'");
    name += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return true;
}

bool Reader::readChannel() {
  Channel channel;
  int64_t flags = 0;
  if (static_cast<int64_t>(protocol.channels.size()) >= kMaxChannels)
    return fail("at most " + std::to_string(kMaxChannels) + " channels");
  if (!nextName(channel.name) ||
      !nextNumber(1, kMaxSlots, channel.slots, "slots") ||
      !nextNumber(1, 32, channel.parts, "parts") ||
      !nextNumber(0, kMaxCount, channel.fullCount, "a count") ||
      !nextNumber(0, kMaxCount, channel.emptyCount, "a count") ||
      !nextNumber(0, UINT32_MAX, channel.producers, "roles as bits") ||
      !nextNumber(0, UINT32_MAX, channel.consumers, "roles as bits") ||
      !nextNumber(0, 31, flags, "flags"))
    return false;
  channel.initialized = flags & 1;
  channel.commitLast = flags & 2;
  channel.drain = flags & 4;
  channel.ahead = flags & 8;
  channel.inTurns = flags & 16;
  slots += int64_t(channel.slots) * channel.parts;
  if (slots > 4096)
    return fail("at most 4096 buffers");
  for (int part = 0; part < channel.parts; ++part) {
    uint32_t readers = 0;
    if (!nextNumber(0, UINT32_MAX, readers, "roles as bits"))
      return false;
    channel.readers.push_back(readers);
  }
  protocol.channels.push_back(std::move(channel));
  return true;
}

bool Reader::readRole() {
  Role role;
  int64_t divergent = 0;
  if (static_cast<int64_t>(protocol.roles.size()) >= kMaxRoles)
    return fail("at most " + std::to_string(kMaxRoles) + " roles");
  if (!nextName(role.name) ||
      !nextNumber(0, kMaxCount, role.threads, "threads") ||
      !nextNumber(0, kMaxCount, role.registers, "registers") ||
      !nextNumber(0, 1, divergent, "a flag"))
    return false;
  role.divergent = divergent;
  protocol.roles.push_back(std::move(role));
  return true;
}

bool Reader::readPosition() {
  std::string_view text = next();
  int64_t fields[4] = {};
  const int64_t low[4] = {1, 1, 1, 0}, high[4] = {kMaxSlots, 120, 120, 1};
  for (int i = 0; i < 4; ++i) {
    size_t end = i < 3 ? text.find('/') : text.size();
    if (end == std::string_view::npos)
      return fail("a position of four numbers");
    if (!number(text.substr(0, end), low[i], high[i], fields[i], "a number"))
      return false;
    text.remove_prefix(i < 3 ? end + 1 : end);
  }
  if (++names > kMaxNames)
    return fail("fewer positions");
  protocol.roles.back().positions.push_back(
      {static_cast<int>(fields[0]), static_cast<int>(fields[1]),
       static_cast<int>(fields[2]), static_cast<int>(fields[3])});
  return true;
}

bool Reader::readVariable() {
  Variable variable;
  if (!nextName(variable.name) ||
      !nextNumber(0, kMaxVariable, variable.initial, "a value"))
    return false;
  protocol.roles.back().variables.push_back(std::move(variable));
  return true;
}

/// The operator's letter, bits, and a constant or what it is applied to.
bool Reader::readExpression() {
  Role &role = protocol.roles.back();
  Expression expression;
  std::string_view text = next();
  size_t letter =
      text.empty() ? std::string_view::npos : kOperators.find(text.front());
  if (letter == std::string_view::npos)
    return fail("an operator");
  if (static_cast<int64_t>(role.expressions.size()) >= kMaxExpressions)
    return fail("at most " + std::to_string(kMaxExpressions) + " expressions");
  expression.op = static_cast<Operator>(letter);
  text.remove_prefix(1);
  int64_t fields[4] = {};
  int count = 1 + std::max(1, numOperands(expression.op));
  for (int i = 0; i < count; ++i) {
    size_t end = i + 1 < count ? text.find('/') : text.size();
    if (end == std::string_view::npos)
      return fail("an operator with its operands");
    int64_t high = i == 0                                ? 64
                   : expression.op == Operator::Constant ? INT64_MAX
                   : expression.op == Operator::Variable
                       ? int64_t(role.variables.size()) - 1
                       : int64_t(role.expressions.size()) - 1;
    if (!number(text.substr(0, end), i == 0 ? 1 : 0, high, fields[i],
                "an operand"))
      return false;
    text.remove_prefix(i + 1 < count ? end + 1 : end);
  }
  expression.bits = static_cast<uint8_t>(fields[0]);
  if (numOperands(expression.op) == 0)
    expression.value = fields[1];
  for (int i = 0; i < numOperands(expression.op); ++i)
    expression.operands[i] = static_cast<int>(fields[i + 1]);
  role.expressions.push_back(expression);
  return true;
}

bool Reader::readInstruction() {
  size_t colon = word.find(':');
  Instruction op;
  int step = 0;
  while (step < kSteps && word.substr(0, colon) != kWords[step])
    ++step;
  if (colon == std::string_view::npos || step == kSteps)
    return fail("a step of a role");
  if (++code > kMaxCode)
    return fail("at most " + std::to_string(kMaxCode) + " steps");
  op.step = static_cast<Step>(step);
  std::string_view fields = word.substr(colon + 1);
  while (!fields.empty()) {
    char letter = fields.front();
    fields.remove_prefix(1);
    size_t digits = fields.find_first_not_of("-0123456789");
    std::string_view text = fields.substr(0, digits);
    fields.remove_prefix(text.size());
    if (letter >= 'A' && letter <= 'Z') {
      if (!text.empty())
        return fail("a flag without a number");
      switch (letter) {
      case 'E':
        op.elected = true;
        continue;
      case 'W':
        op.perWarp = true;
        continue;
      case 'A':
        op.async = true;
        continue;
      case 'C':
        op.collective = true;
        continue;
      case 'F':
        op.fresh = true;
        continue;
      default:
        return fail("a flag of a step");
      }
    }
    int64_t value = 0;
    int64_t low = letter == 'o' ? -kMaxSlots : 0;
    int64_t high = letter == 'b'   ? kMaxBytes
                   : letter == 'm' ? int64_t(UINT32_MAX)
                   : letter == 'o' ? kMaxSlots
                                   : kMaxCount;
    if (!number(text, low, high, value, "a field"))
      return false;
    int small = static_cast<int>(letter == 'b' || letter == 'm' ? 0 : value);
    switch (letter) {
    case 'c':
      op.channel = small;
      break;
    case 'p':
      op.position = small;
      break;
    case 's':
      op.source = small;
      break;
    case 'o':
      op.offset = small;
      break;
    case 'm':
      op.parts = static_cast<uint32_t>(value);
      break;
    case 'b':
      op.bytes = value;
      break;
    case 't':
      op.trip = small;
      break;
    case 'j':
      op.target = small;
      break;
    case 'n':
      op.barrier = small;
      break;
    case 'q':
      op.queue = small;
      break;
    case 'v':
      op.value = small;
      break;
    case 'k':
      op.count = small;
      break;
    case 'x':
      op.slot = small;
      break;
    case 'y':
      op.parity = small;
      break;
    case 'u':
      op.variable = small;
      break;
    case 'e':
      op.expression = small;
      break;
    default:
      return fail("a field of a step");
    }
  }
  protocol.roles.back().code.push_back(op);
  return true;
}

/// Whether a step names only what there is.
bool Reader::checkInstruction(const Role &role, const Instruction &op) {
  auto within = [](int index, size_t size) {
    return index >= 0 && static_cast<size_t>(index) < size;
  };
  word = kWords[static_cast<int>(op.step)];
  bool ring = isRingStep(op.step);
  if ((ring || op.step == Step::Initialize) &&
      !within(op.channel, protocol.channels.size()))
    return fail("a channel");
  bool places = ring || op.step == Step::Start || op.step == Step::Move ||
                op.step == Step::Advance;
  for (int expression : {op.slot, op.parity, op.expression})
    if (expression >= 0 && !within(expression, role.expressions.size()))
      return fail("an expression");
  bool waits = op.step == Step::Wait || op.step == Step::Acquire;
  if (op.slot >= 0 && (!ring || (waits && op.parity < 0)))
    return fail("a step with a slot and its parity");
  if ((op.step == Step::Set || op.variable >= 0) &&
      !within(op.variable, role.variables.size()))
    return fail("a variable");
  if ((op.step == Step::Set || op.step == Step::Test) && op.expression < 0)
    return fail("an expression");
  places &= op.slot < 0;
  if ((places || op.position >= 0) &&
      !within(op.position, role.positions.size()))
    return fail("a position");
  if ((op.step == Step::Move || op.step == Step::Advance || op.source >= 0) &&
      !within(op.source, role.positions.size()))
    return fail("a source position");
  if (ring) {
    // Items are counted modulo twice the slots of the ring walked.
    const Channel &channel = protocol.channels[op.channel];
    if (places && role.positions[op.position].slots != channel.slots)
      return fail("a position of the ring that it is used for");
    if (channel.parts < 32 && op.parts >> channel.parts)
      return fail("parts that the channel has");
  }
  if ((op.step == Step::Move || op.step == Step::Advance) &&
      role.positions[op.position].slots != role.positions[op.source].slots)
    return fail("positions of one ring");
  if (op.step == Step::Next && !within(op.trip, protocol.trips.size()))
    return fail("a trip count");
  if ((op.step == Step::Next || op.step == Step::Jump ||
       op.step == Step::Test) &&
      !within(op.target, role.code.size()))
    return fail("a target");
  bool named = op.step == Step::Sync || op.step == Step::Arrive;
  if (named && !within(op.barrier, protocol.barriers.size()))
    return fail("a named barrier");
  bool value = op.step == Step::Issue || op.step == Step::Use;
  if (value && !within(op.value, role.values.size()))
    return fail("a value");
  return op.queue <= 64 || fail("a queue");
}

bool Reader::check() {
  for (const Role &role : protocol.roles) {
    word = role.name;
    if (role.code.empty() || (role.code.back().step != Step::Exit &&
                              role.code.back().step != Step::Jump))
      return fail("a role that exits");
    for (const Instruction &op : role.code)
      if (!checkInstruction(role, op))
        return false;
  }
  return true;
}

Expected<Protocol> Reader::read() {
  auto body = [&] {
    if (static_cast<int64_t>(rest.size()) > kMaxText)
      return fail("at most " + std::to_string(kMaxText) + " characters");
    if (!expect("protocol/1") || !nextName(protocol.name) ||
        !expect("registers") ||
        !nextNumber(0, int64_t(1) << 32, protocol.registerFile, "registers") ||
        !expect("named") ||
        !nextNumber(0, kMaxCount, protocol.maxNamedBarriers, "barriers"))
      return false;
    while (!next().empty()) {
      bool read = false;
      if (word == "channel" && protocol.roles.empty()) {
        read = readChannel();
      } else if (word == "trip") {
        protocol.trips.emplace_back();
        read = nextName(protocol.trips.back());
      } else if (word == "barrier") {
        protocol.barriers.emplace_back();
        read = nextName(protocol.barriers.back().name);
      } else if (word == "role") {
        read = readRole();
      } else if (protocol.roles.empty()) {
        return fail("a channel, trip count, barrier or role");
      } else if (word == "position") {
        read = readPosition();
      } else if (word == "variable") {
        read = readVariable();
      } else if (word == "expr") {
        read = readExpression();
      } else if (word == "value") {
        protocol.roles.back().values.emplace_back();
        read = nextName(protocol.roles.back().values.back());
      } else {
        read = readInstruction();
      }
      if (!read)
        return false;
    }
    return check();
  };
  if (!body())
    return Error{error};
  return std::move(protocol);
}

} // namespace

std::string writeModel(const Protocol &protocol) {
  std::string text = "protocol/1 " + escape(protocol.name) + " registers " +
                     std::to_string(protocol.registerFile) + " named " +
                     std::to_string(protocol.maxNamedBarriers);
  for (const Channel &channel : protocol.channels) {
    int flags = (channel.initialized ? 1 : 0) | (channel.commitLast ? 2 : 0) |
                (channel.drain ? 4 : 0) | (channel.ahead ? 8 : 0) |
                (channel.inTurns ? 16 : 0);
    text += " channel " + escape(channel.name);
    for (int64_t field :
         {int64_t(channel.slots), int64_t(channel.parts),
          int64_t(channel.fullCount), int64_t(channel.emptyCount),
          int64_t(channel.producers), int64_t(channel.consumers),
          int64_t(flags)})
      text += " " + std::to_string(field);
    for (uint32_t readers : channel.readers)
      text += " " + std::to_string(readers);
  }
  for (const std::string &trip : protocol.trips)
    text += " trip " + escape(trip);
  for (const NamedBarrier &barrier : protocol.barriers)
    text += " barrier " + escape(barrier.name);
  for (const Role &role : protocol.roles) {
    text += " role " + escape(role.name) + " " + std::to_string(role.threads) +
            " " + std::to_string(role.registers) +
            (role.divergent ? " 1" : " 0");
    for (const Position &walk : role.positions)
      text += " position " + std::to_string(walk.slots) + "/" +
              std::to_string(walk.modulus) + "/" + std::to_string(walk.flip) +
              "/" + std::to_string(walk.parity);
    for (const std::string &value : role.values)
      text += " value " + escape(value);
    for (const Variable &variable : role.variables)
      text += " variable " + escape(variable.name) + " " +
              std::to_string(variable.initial);
    for (const Expression &expression : role.expressions) {
      text += std::string(" expr ") +
              kOperators[static_cast<int>(expression.op)] +
              std::to_string(expression.bits);
      if (!numOperands(expression.op))
        text += "/" + std::to_string(expression.value);
      for (int i = 0; i < numOperands(expression.op); ++i)
        text += "/" + std::to_string(expression.operands[i]);
    }
    for (const Instruction &op : role.code)
      writeInstruction(text, op);
  }
  return text;
}

Expected<Protocol> readModel(std::string_view text) {
  return Reader(text).read();
}

} // namespace tracea::analysis
