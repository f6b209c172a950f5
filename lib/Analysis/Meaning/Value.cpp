//===- Value.cpp - Terms as sums, whatever their order --------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Value.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::tracea::meaning;
using namespace mlir::tracea::numerics;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

/// Expansion of products and choices stops here: no kernel that is compiled
/// comes near.
static constexpr size_t kMaxPieces = 512;

const Value *ValueReader::fail(StringRef why) {
  if (reason.empty())
    reason = why.str();
  return nullptr;
}

static Piece single(TermRef term) {
  Piece piece;
  piece.terms.push_back(term);
  return piece;
}

static void restrict(Piece &piece, const Condition &condition) {
  if (!llvm::is_contained(piece.domain, condition))
    piece.domain.push_back(condition);
}

/// Whether both pieces are one: the same, or with domains of which one is the
/// other but for one condition that is turned round.
static bool join(Piece &piece, const Piece &other, IndexSpace &index) {
  if (piece.terms != other.terms || piece.variables != other.variables ||
      piece.domain.size() != other.domain.size())
    return false;
  if (piece.domain == other.domain) {
    piece.factor += other.factor;
    return true;
  }
  if (piece.factor != other.factor)
    return false;
  const Condition *own = nullptr, *foreign = nullptr;
  for (const Condition &condition : piece.domain)
    if (!llvm::is_contained(other.domain, condition)) {
      if (own)
        return false;
      own = &condition;
    }
  for (const Condition &condition : other.domain)
    if (!llvm::is_contained(piece.domain, condition)) {
      if (foreign)
        return false;
      foreign = &condition;
    }
  if (!own || !foreign || own->isEquality || foreign->isEquality ||
      index.sub(Form(-1), own->form) != foreign->form)
    return false;
  Condition gone = *own;
  llvm::erase(piece.domain, gone);
  return true;
}

static void append(Value &value, const Value &more, int64_t factor,
                   IndexSpace &index) {
  for (const Piece &piece : more) {
    Piece copy = piece;
    copy.factor *= factor;
    bool isJoined = copy.factor == 0;
    for (Piece &known : value)
      isJoined = isJoined || join(known, copy, index);
    if (!isJoined)
      value.push_back(std::move(copy));
  }
  llvm::erase_if(value, [](const Piece &piece) { return piece.factor == 0; });
}

bool ValueReader::times(const Value &x, const Value &y, Value &result) {
  // A product of two sums, a square of a difference among them, is a value of
  // its own: multiplied out, its terms would not be those of one sum.
  auto isSum = [](const Value &value) {
    return value.size() > 1 ||
           (value.size() == 1 && !value.front().variables.empty());
  };
  if (isSum(x) && isSum(y))
    return false;
  for (const Piece &a : x)
    for (const Piece &b : y) {
      Piece piece = a;
      int64_t factor = 0;
      if (llvm::MulOverflow(a.factor, b.factor, factor))
        return fail("a constant leaves 64 bits");
      piece.factor = factor;
      piece.terms.append(b.terms);
      piece.variables.append(b.variables);
      for (const Condition &condition : b.domain)
        restrict(piece, condition);
      result.push_back(std::move(piece));
    }
  return true;
}

void ValueReader::addSpan(Value &value, unsigned variable, const Form &low,
                          const Form &high) {
  Form counter = index.form(variable);
  for (Piece &piece : value) {
    piece.variables.push_back(variable);
    restrict(piece, {index.sub(counter, low)});
    restrict(piece, {index.sub(index.sub(high, counter), Form(1))});
  }
}

ArrayRef<TermRef> ValueReader::getInner(TermRef term) {
  ArrayRef<TermRef> operands = term->operands;
  switch (term->kind) {
  case TermKind::Operation:
    return operands;
  case TermKind::Select:
    return operands.drop_front();
  case TermKind::Reduce:
    return operands;
  case TermKind::Fold:
    // A maximum; the others are sums.
    return operands.drop_front(term->bound.size() - 1);
  default:
    return {};
  }
}

const Value *ValueReader::read(TermRef term) {
  if (!reason.empty())
    return nullptr;
  if (auto it = done.find(term); it != done.end())
    return &it->second;
  if (++depth > 400)
    return fail("the kernel is too large");
  Value value;
  bool isRead = compute(term, value);
  --depth;
  if (!isRead)
    return fail("it is not understood");
  if (value.size() > kMaxPieces)
    return fail("a sum has too many kinds of terms");
  return &(done[term] = std::move(value));
}

/// The number that a constant is, if it is a small integer.
static std::optional<int64_t> getInteger(TermRef term) {
  StringRef text = StringRef(term->symbol).split(" : ").first;
  int64_t integer = 0;
  double number = 0;
  if (!text.getAsInteger(10, integer))
    return std::abs(integer) < (1 << 20) ? std::optional<int64_t>(integer)
                                         : std::nullopt;
  if (text.getAsDouble(number) || !(std::abs(number) < (1 << 20)))
    return std::nullopt;
  integer = static_cast<int64_t>(number);
  return static_cast<double>(integer) == number
             ? std::optional<int64_t>(integer)
             : std::nullopt;
}

bool ValueReader::compute(TermRef term, Value &result) {
  switch (term->kind) {
  case TermKind::Input:
  case TermKind::State:
  case TermKind::Integer:
  case TermKind::Condition:
    result.push_back(single(term));
    return true;
  case TermKind::Constant:
    if (std::optional<int64_t> number = getInteger(term)) {
      if (*number != 0) {
        Piece piece;
        piece.factor = *number;
        result.push_back(std::move(piece));
      }
      return true;
    }
    result.push_back(single(term));
    return true;
  case TermKind::Operation:
    return computeOperation(term, result);
  case TermKind::Select:
    return computeSelect(term, result);
  case TermKind::Fold:
    return computeFold(term, result);
  case TermKind::Reduce: {
    if (!StringRef(term->symbol).starts_with("add ")) {
      result.push_back(single(term));
      return true;
    }
    const Value *body = read(term->operands[0]);
    if (!body)
      return false;
    result = *body;
    addSpan(result, term->bound[0], Form(0), term->forms[0]);
    return true;
  }
  case TermKind::UnitStep: {
    const Value *begin = read(term->operands[0]);
    const Value *x = begin ? read(term->operands[1]) : nullptr;
    const Value *y = x ? read(term->operands[2]) : nullptr;
    Value product;
    if (!y || !times(*read(term->operands[1]), *y, product))
      return false;
    for (auto [variable, extent] : llvm::zip_equal(term->bound, term->forms))
      addSpan(product, variable, Form(0), extent);
    result = *read(term->operands[0]);
    append(result, product, 1, index);
    return true;
  }
  case TermKind::Undefined:
    return fail("memory that nothing has written is read");
  }
  return false;
}

static bool isMinusInfinity(const Piece &piece) {
  return piece.factor > 0 && piece.variables.empty() &&
         piece.terms.size() == 1 &&
         piece.terms[0]->kind == TermKind::Constant &&
         llvm::StringSwitch<bool>(piece.terms[0]->symbol)
             .Cases({"0xFFF0000000000000 : f64", "0xFF800000 : f32",
                     "0xFF80 : bf16", "0xFC00 : f16"},
                    true)
             .Default(false);
}

/// e to the power of minus infinity is zero, as masks have it: without what
/// they mask, where they ask for one coordinate. Which of several a mask lets
/// through is left to the term.
bool ValueReader::computeExponential(TermRef term, Value &result) {
  const Value *power = read(term->operands[0]);
  if (!power)
    return false;
  Piece piece = single(term);
  // Masks of masks have the conditions of the outer ones as well.
  SmallVector<std::pair<size_t, size_t>> masks;
  for (auto [number, part] : llvm::enumerate(*power))
    if (isMinusInfinity(part))
      masks.push_back({part.domain.size(), number});
  llvm::sort(masks);
  for (auto [size, number] : masks) {
    SmallVector<Condition> open;
    for (const Condition &condition : (*power)[number].domain)
      if (!llvm::is_contained(piece.domain, condition))
        open.push_back(condition);
    // Whatever has passed the masks before is masked.
    if (open.empty())
      return true;
    llvm::SmallSetVector<unsigned, 2> used;
    if (open.size() == 1 && !open[0].isEquality)
      index.forEachVariable(open[0].form,
                            [&](unsigned id) { used.insert(id); });
    if (used.size() == 1)
      restrict(piece, {index.sub(Form(-1), open[0].form)});
  }
  result.push_back(std::move(piece));
  return true;
}

bool ValueReader::computeOperation(TermRef term, Value &result) {
  enum Kind { Add, Sub, Mul, Fma, Negate, Same, Other };
  StringRef name = StringRef(term->symbol).split(' ').first;
  Kind kind = llvm::StringSwitch<Kind>(name)
                  .Cases({"arith.addf", "arith.addi", "add"}, Add)
                  .Cases({"arith.subf", "arith.subi"}, Sub)
                  .Cases({"arith.mulf", "arith.muli", "mul"}, Mul)
                  .Cases({"fma", "math.fma"}, Fma)
                  .Case("arith.negf", Negate)
                  .Cases({"arith.extf", "arith.extsi"}, Same)
                  .Default(Other);
  if (name == "math.exp" || name == "math.exp2")
    return computeExponential(term, result);
  if (kind == Other) {
    result.push_back(single(term));
    return true;
  }
  SmallVector<Value, 3> operands;
  for (TermRef operand : term->operands) {
    const Value *value = read(operand);
    if (!value)
      return false;
    operands.push_back(*value);
  }
  switch (kind) {
  case Add:
  case Sub:
    result = operands[0];
    append(result, operands[1], kind == Add ? 1 : -1, index);
    return true;
  case Negate:
    append(result, operands[0], -1, index);
    return true;
  case Same:
    result = operands[0];
    return true;
  case Mul:
  case Fma:
    if (!times(operands[0], operands[1], result)) {
      if (!reason.empty())
        return false;
      TermRef product =
          kind == Mul
              ? term
              : terms.operation(
                    "product", ArrayRef<TermRef>(term->operands).take_front(2));
      result = {single(product)};
      // Where a factor is masked, so is the product.
      for (const Value &factor : ArrayRef<Value>(operands).take_front(2))
        for (const Condition &condition : factor.front().domain)
          if (llvm::all_of(factor, [&](const Piece &piece) {
                return llvm::is_contained(piece.domain, condition) &&
                       llvm::none_of(piece.variables, [&](unsigned id) {
                         return index.uses(condition.form, id);
                       });
              }))
            restrict(result.front(), condition);
    }
    if (kind == Fma) {
      Value sum = operands[2];
      append(sum, result, 1, index);
      result = std::move(sum);
    }
    return true;
  case Other:
    break;
  }
  return false;
}

bool ValueReader::getConditions(TermRef condition,
                                SmallVectorImpl<Condition> &holds,
                                SmallVectorImpl<Condition> &fails) {
  Form form;
  bool isEquality = false, isTurned = false;
  if (condition->kind == TermKind::Condition) {
    form = condition->forms[0];
    isEquality = condition->symbol == "eq";
  } else {
    // A comparison that is not one of the two above.
    StringRef text = condition->symbol;
    if (condition->kind != TermKind::Operation ||
        !text.consume_front("arith.cmpi predicate=") ||
        condition->operands[0]->kind != TermKind::Integer ||
        condition->operands[1]->kind != TermKind::Integer)
      return false;
    const Form &x = condition->operands[0]->forms[0];
    const Form &y = condition->operands[1]->forms[0];
    unsigned predicate = 0;
    if (text.consumeInteger(10, predicate))
      return false;
    switch (predicate) {
    case 0: // eq
    case 1: // ne
      form = index.sub(x, y);
      isEquality = true;
      isTurned = predicate == 1;
      break;
    case 2: // slt
    case 5: // sge
      form = index.sub(x, y);
      isTurned = predicate == 2;
      break;
    case 3: // sle
    case 4: // sgt
      form = index.sub(y, x);
      isTurned = predicate == 4;
      break;
    default:
      return false;
    }
  }
  Form below = index.sub(Form(-1), form);
  holds.push_back({form, isEquality});
  fails.push_back({below});
  if (isEquality)
    fails.push_back({index.sub(form, Form(1))});
  if (isTurned)
    std::swap(holds, fails);
  return true;
}

bool ValueReader::computeSelect(TermRef term, Value &result) {
  SmallVector<Condition, 2> holds, fails;
  if (!getConditions(term->operands[0], holds, fails)) {
    result.push_back(single(term));
    return true;
  }
  for (bool isThen : {true, false}) {
    const Value *value = read(term->operands[isThen ? 1 : 2]);
    if (!value)
      return false;
    // Each of the conditions by itself: they exclude each other.
    for (const Condition &condition : isThen ? holds : fails) {
      Value restricted = *value;
      for (Piece &piece : restricted)
        restrict(piece, condition);
      append(result, restricted, 1, index);
    }
  }
  return true;
}

/// The larger one of a state and of something else.
static bool isMaximum(TermRef update, TermRef state) {
  return update->kind == TermKind::Operation &&
         StringRef(update->symbol).split(' ').first.contains("max") &&
         llvm::is_contained(update->operands, state);
}

/// s := s + t(k), from a: a and the sum of all t(k), where t has no state of
/// the loop, and s comes back whole and under no condition.
bool ValueReader::computeFold(TermRef term, Value &result) {
  ArrayRef<unsigned> states = ArrayRef<unsigned>(term->bound).drop_front();
  TermRef update = term->operands[states.size()];
  TermRef state = terms.state(states[0]);
  Form rounds = index.sub(term->forms[1], term->forms[0]);
  // A loop of one round is its body.
  if (rounds == Form(1)) {
    IndexSpace::Replacement first;
    first[term->bound[0]] = term->forms[0];
    llvm::DenseMap<unsigned, TermRef> begins;
    for (auto [number, id] : llvm::enumerate(states))
      begins[id] = term->operands[number];
    const Value *only = read(
        terms.substitute(update, first, begins, TermSpace::Map(), nullptr));
    if (only)
      result = *only;
    return only;
  }
  // What every round leaves alike is there after the first.
  if (rounds.isConstant() && rounds.constant > 0 &&
      llvm::none_of(term->bound,
                    [&](unsigned id) { return terms.uses(update, id); })) {
    const Value *same = read(update);
    if (same)
      result = *same;
    return same;
  }
  const Value *value = read(update);
  if (!value)
    return false;
  auto isOwn = [&](TermRef part) {
    return llvm::any_of(states,
                        [&](unsigned id) { return terms.uses(part, id); });
  };
  Value added;
  bool isKept = false;
  for (const Piece &piece : *value) {
    if (llvm::none_of(piece.terms, isOwn)) {
      added.push_back(piece);
      continue;
    }
    if (isKept || piece.factor != 1 || piece.terms.size() != 1 ||
        piece.terms[0] != state || !piece.variables.empty() ||
        !piece.domain.empty()) {
      // A maximum over all rounds is one value.
      if (isMaximum(update, state) &&
          llvm::count_if(update->operands, isOwn) == 1) {
        result = {single(term)};
        return true;
      }
      // What a round scales may be a sum in another way, as an online softmax.
      isFault = piece.terms.size() == 1 && piece.terms[0] == state;
      return fail("a loop is no sum: a round does not add to what the round "
                  "before has left");
    }
    isKept = true;
  }
  if (!isKept) {
    isFault = true;
    return fail("a loop is no sum: a round forgets what the round before has "
                "left");
  }
  addSpan(added, term->bound[0], term->forms[0], term->forms[1]);
  const Value *begin = read(term->operands[0]);
  if (!begin)
    return false;
  result = *begin;
  append(result, added, 1, index);
  return true;
}
