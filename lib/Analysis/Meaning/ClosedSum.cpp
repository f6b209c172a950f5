//===- ClosedSum.cpp - What a sum walks over ------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ClosedSum.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>
#include <set>

using namespace mlir::tracea::meaning;
using namespace mlir::tracea::numerics;
using llvm::ArrayRef;
using llvm::SmallVector;

static bool isNumberOfMemory(const IndexSpace &index, unsigned id) {
  const Atom &atom = index.atom(id);
  return atom.kind == AtomKind::Function &&
         llvm::StringRef(atom.symbol).starts_with("read ");
}

static bool hasNumber(const IndexSpace &index, const Form &form) {
  return llvm::any_of(form.terms, [&](const auto &term) {
    return isNumberOfMemory(index, term.first) ||
           llvm::any_of(index.atom(term.first).forms, [&](const Form &inner) {
             return hasNumber(index, inner);
           });
  });
}

/// Adds the numbers of memory that a form depends on, each at one place.
static void addNumbers(const IndexSpace &index, const Form &form,
                       llvm::SmallVectorImpl<unsigned> &numbers) {
  for (const auto &term : form.terms) {
    const Atom &atom = index.atom(term.first);
    bool isOnePlace = llvm::all_of(
        atom.forms, [](const Form &inner) { return inner.isConstant(); });
    if (!isNumberOfMemory(index, term.first))
      for (const Form &inner : atom.forms)
        addNumbers(index, inner, numbers);
    else if (isOnePlace && !llvm::is_contained(numbers, term.first))
      numbers.push_back(term.first);
  }
}

bool SumFinder::isOf(const Form &form, const Piece &piece) const {
  bool found = false;
  index.forEachVariable(form, [&](unsigned id) {
    found |= llvm::is_contained(piece.variables, id);
  });
  return found;
}

bool SumFinder::hasOther(const Form &form, const Piece &piece) const {
  bool found = false;
  index.forEachVariable(form, [&](unsigned id) {
    found |= !llvm::is_contained(piece.variables, id);
  });
  return found;
}

bool SumFinder::isOfSizes(const Form &form) const {
  bool found = false;
  index.forEachVariable(form, [&](unsigned) { found = true; });
  return !found;
}

/// The shape of a term, which says what is computed but not where, and the
/// places. Of a piece that no loop counts nothing says by itself what would
/// change with one: all of it walks, or all but what is fixed in pieces with
/// loops, or nothing.
bool SumFinder::place(TermRef term, const Piece &piece, Walking walking,
                      std::string &shape, SmallVectorImpl<Place> &places) {
  bool isFixed = false;
  if (walking == Walking::AsOthers) {
    isFixed = fixed.count(term);
  } else if (walking == Walking::ByLoops) {
    isFixed = llvm::none_of(piece.variables,
                            [&](unsigned id) { return terms.uses(term, id); });
    if (isFixed && !piece.variables.empty())
      fixed.insert(term);
  }
  switch (term->kind) {
  case TermKind::Input: {
    int argument = std::stoi(term->symbol);
    shape += "in " + term->symbol;
    unsigned read = places.empty() ? 0 : places.back().read + 1;
    for (auto [dim, form] : llvm::enumerate(term->forms))
      places.push_back({read, argument, static_cast<unsigned>(dim), form});
    return true;
  }
  case TermKind::Operation:
  case TermKind::Select:
    if (isFixed)
      break;
    shape += term->symbol + "(";
    for (TermRef operand : term->operands) {
      if (!place(operand, piece, walking, shape, places))
        return false;
      shape += ",";
    }
    shape += ")";
    return true;
  case TermKind::Condition:
  case TermKind::Integer:
    if (isFixed)
      break;
    shape += (term->kind == TermKind::Integer ? "integer " : "condition ") +
             term->symbol;
    places.push_back(
        {places.empty() ? 0 : places.back().read + 1, -1, 0, term->forms[0]});
    return true;
  default:
    if (!isFixed)
      return false;
    break;
  }
  shape += "#" + std::to_string(reinterpret_cast<uintptr_t>(term));
  return true;
}

/// `form` >= 0 in its smallest form, as conditions have it.
static Form reduced(Form form) {
  int64_t divisor = 0;
  for (auto [id, factor] : form.terms)
    divisor = std::gcd(divisor, factor);
  if (divisor > 1) {
    for (auto &[id, factor] : form.terms)
      factor /= divisor;
    form.constant = llvm::divideFloorSigned(form.constant, divisor);
  }
  return form;
}

/// Whether the condition says that the place is in bounds on one side.
bool SumFinder::isInBounds(const Condition &condition,
                           const Place &place) const {
  if (condition.isEquality || place.argument < 0)
    return false;
  Form form = reduced(condition.form);
  if (form == reduced(place.form))
    return true;
  Form end = extent(place.argument, place.dim);
  return form == reduced(index.sub(index.sub(end, place.form), Form(1)));
}

bool SumFinder::isExplained(ArrayRef<PlacedPiece> pieces, const Forms &forms,
                            ArrayRef<WalkedDim> dims) {
  SmallVector<int64_t> factors(dims.size(), 0);
  for (auto [number, dim] : llvm::enumerate(dims)) {
    // A counter that only this dimension knows gives its factor.
    for (size_t p = 0; p < pieces.size() && !factors[number]; ++p)
      for (auto [id, factor] : dim.forms[p].terms) {
        if (!llvm::is_contained(pieces[p].piece.variables, id))
          continue;
        bool isShared = false;
        for (const WalkedDim &other : dims)
          isShared |= &other != &dim && index.uses(other.forms[p], id);
        int64_t wanted = forms[p].coefficient(id);
        if (isShared || wanted % factor)
          continue;
        factors[number] = wanted / factor;
        break;
      }
  }
  std::optional<Form> rest;
  for (auto [p, piece] : llvm::enumerate(pieces)) {
    Form left = forms[p];
    for (auto [dim, factor] : llvm::zip(dims, factors))
      left = index.sub(left, index.scale(dim.forms[p], factor));
    if (isOf(left, piece.piece) || (rest && *rest != left))
      return false;
    rest = left;
  }
  return true;
}

/// A walk that begins where the result's own coordinate says is a part of a
/// sum, if nothing else of what is read depends on that coordinate.
bool SumFinder::addSplit(ArrayRef<PlacedPiece> pieces, const Forms &forms,
                         const Place &place, ClosedSum &sum) {
  std::optional<unsigned> found;
  bool isOne = true;
  for (size_t p = 0; p < pieces.size(); ++p)
    index.forEachVariable(forms[p], [&](unsigned id) {
      if (llvm::is_contained(pieces[p].piece.variables, id))
        return;
      isOne &= llvm::is_contained(at, id) && (!found || *found == id);
      found = id;
    });
  if (!found || !isOne || (sum.split && *sum.split != *found))
    return false;
  for (auto [p, piece] : llvm::enumerate(pieces))
    for (const Place &other : piece.places)
      if (other.form != forms[p] && index.uses(other.form, *found))
        return false;
  sum.split = found;
  sum.dims.push_back({static_cast<unsigned>(place.argument), place.dim, forms});
  return true;
}

bool SumFinder::addDims(ArrayRef<PlacedPiece> pieces, ClosedSum &sum) {
  struct Walk {
    size_t number;
    Place place;
    Forms forms;
    Form end;
    bool isOwn = true;
  };
  std::vector<Walk> walks;
  for (auto [number, first] : llvm::enumerate(pieces.front().places)) {
    Walk walk{number, first, {}, Form(), true};
    bool isWalked = false;
    for (const PlacedPiece &piece : pieces) {
      const Form &form = piece.places[number].form;
      isWalked |= isOf(form, piece.piece) || form != first.form;
      walk.isOwn &= !hasOther(form, piece.piece);
      walk.forms.push_back(form);
    }
    if (!isWalked)
      continue;
    if (first.argument >= 0)
      walk.end = extent(first.argument, first.dim);
    walk.isOwn &= first.argument >= 0;
    // What is walked along twice is one walk, of the smaller end.
    auto known = llvm::find_if(
        walks, [&](const Walk &other) { return other.forms == walk.forms; });
    if (known == walks.end())
      walks.push_back(std::move(walk));
    else if (walk.isOwn && walk.end.isConstant() &&
             (!known->end.isConstant() ||
              walk.end.constant < known->end.constant))
      *known = std::move(walk);
  }
  // What one operand masks at its border the other one does not visit either:
  // terms that are zero, which a box does not tell from those that are missing.
  auto reachesBorder = [&](const Walk &walk, const Walk &other) {
    for (size_t p = 0; p < pieces.size(); ++p) {
      const Form &place = walk.forms[p], &partner = other.forms[p];
      // In other steps a partner need not begin where it does.
      bool isShared = llvm::any_of(partner.terms, [&](const auto &term) {
        return std::abs(place.coefficient(term.first)) == std::abs(term.second);
      });
      Form room = index.sub(index.sub(walk.end, place), Form(1));
      Form partnerRoom = index.sub(index.sub(other.end, partner), Form(1));
      auto has = [&](const Form &wanted) {
        return llvm::any_of(pieces[p].piece.domain,
                            [&](const Condition &condition) {
                              return !condition.isEquality &&
                                     reduced(condition.form) == reduced(wanted);
                            });
      };
      if (isShared && ((partner.constant > 0 && has(place)) ||
                       (has(room) && !has(partnerRoom))))
        return true;
    }
    return false;
  };
  for (const Walk &walk : walks)
    for (const Walk &other : walks)
      if (walk.isOwn && other.isOwn &&
          walk.place.argument != other.place.argument &&
          reachesBorder(walk, other)) {
        sum.undecided = "an operand is read past its border";
        return false;
      }
  // A window into a larger extent walks as the smaller one does.
  llvm::sort(walks, [](const Walk &a, const Walk &b) {
    auto rank = [](const Walk &walk) {
      return std::make_tuple(!walk.isOwn, !walk.end.isConstant(),
                             walk.end.isConstant() ? walk.end.constant : 0,
                             walk.number);
    };
    return rank(a) < rank(b);
  });
  for (const Walk &walk : walks) {
    if (isExplained(pieces, walk.forms, sum.dims)) {
      if (!walk.isOwn)
        continue;
      for (const WalkedDim &dim : sum.dims) {
        Form end = extent(dim.argument, dim.dim);
        bool isWindow = end.isConstant() && (!walk.end.isConstant() ||
                                             end.constant < walk.end.constant);
        SmallVector<WalkedDim> alone = {dim};
        if (!isWindow && isExplained(pieces, walk.forms, alone)) {
          sum.undecided = "its operands are at different places of the sum";
          return false;
        }
      }
      continue;
    }
    if (walk.isOwn) {
      sum.dims.push_back({static_cast<unsigned>(walk.place.argument),
                          walk.place.dim, walk.forms});
    } else if (walk.place.argument < 0 ||
               !addSplit(pieces, walk.forms, walk.place, sum)) {
      sum.undecided = "where its terms begin depends on the element";
      return false;
    }
  }
  return true;
}

/// What has to hold so that `form` >= 0: a minimum is so where both sides are.
static void splitMinima(IndexSpace &index, const Form &form,
                        llvm::SmallVectorImpl<Form> &parts) {
  for (size_t number = 0; number < form.terms.size(); ++number) {
    auto [id, factor] = form.terms[number];
    if (factor != 1 || index.atom(id).kind != AtomKind::Min)
      continue;
    Form rest = form;
    rest.terms.erase(rest.terms.begin() + number);
    for (const Form &side : index.atom(id).forms)
      splitMinima(index, index.add(rest, side), parts);
    return;
  }
  parts.push_back(form);
}

/// `condition`, which compares a number with a step, as one of the place
/// `walked` that the step is at: of a piece whose place is `place`.
std::optional<Form> SumFinder::getEnd(const Form &condition, unsigned number,
                                      const PlacedPiece &placed,
                                      const Form &walked, const Form &place) {
  Form end = index.form(number), rest = index.sub(condition, end);
  // A number of elements.
  Form left = index.add(rest, place);
  if (left.isConstant())
    return index.add(index.sub(end, walked), left);
  // One of blocks, of which a step has one.
  for (auto [id, factor] : rest.terms) {
    int64_t size = place.coefficient(id);
    left = index.add(rest, index.form(id));
    if (factor != -1 || size < 2 || !left.isConstant() ||
        !llvm::is_contained(placed.piece.variables, id))
      continue;
    Interval within =
        index.interval(index.sub(place, index.scale(index.form(id), size)));
    if (!within.low || !within.high)
      continue;
    // Blocks in front of a loop are not counted by it.
    int64_t before = llvm::divideFloorSigned(*within.low, size);
    if (llvm::divideFloorSigned(*within.high, size) != before)
      continue;
    Form block = index.sub(index.floorDiv(walked, size, nullptr), Form(before));
    return index.add(index.sub(end, block), left);
  }
  return std::nullopt;
}

void SumFinder::addEnds(ArrayRef<PlacedPiece> pieces, ClosedSum &sum) {
  if (sum.isDefined || sum.split || sum.dims.size() != 1)
    return;
  unsigned walked = index.newVariable(0, std::nullopt);
  for (auto [p, placed] : llvm::enumerate(pieces))
    for (const Condition &condition : placed.piece.domain) {
      if (condition.isEquality || !isOf(condition.form, placed.piece))
        continue;
      SmallVector<Form> parts;
      splitMinima(index, condition.form, parts);
      for (const Form &part : parts)
        for (auto [id, factor] : part.terms) {
          if (factor != 1 || !isNumberOfMemory(index, id))
            continue;
          std::optional<Form> end = getEnd(part, id, placed, index.form(walked),
                                           sum.dims[0].forms[p]);
          if (!end)
            continue;
          Condition scope{*end, false};
          if (!llvm::is_contained(sum.scope, scope))
            sum.scope.push_back(scope);
          if (!llvm::is_contained(sum.numbers, id))
            sum.numbers.push_back(id);
        }
    }
  if (!sum.scope.empty())
    sum.walked = {walked};
}

bool SumFinder::isOfElement(const Form &form, const Piece &piece,
                            const ClosedSum &sum) const {
  return llvm::any_of(form.terms, [&](const auto &term) {
    const Atom &atom = index.atom(term.first);
    if (llvm::is_contained(sum.numbers, term.first))
      return false;
    if (atom.kind == AtomKind::Variable)
      return !llvm::is_contained(piece.variables, term.first) &&
             (!sum.split || term.first != *sum.split);
    return llvm::any_of(atom.forms, [&](const Form &inner) {
      return isOfElement(inner, piece, sum);
    });
  });
}

void SumFinder::addParts(ArrayRef<PlacedPiece> pieces, ClosedSum &sum) {
  for (size_t p = 0; p < pieces.size(); ++p) {
    const PlacedPiece &placed = pieces[p];
    SumPart part;
    part.variables = placed.piece.variables;
    for (const Condition &condition : placed.piece.domain) {
      bool isMask = false, isWalk = false;
      for (const Place &place : placed.places)
        if (isInBounds(condition, place) && !isDigit(place)) {
          isMask = true;
          // Several arguments may be walked along, of which the host knows that
          // they have one extent.
          isWalk |= llvm::any_of(sum.dims, [&](const WalkedDim &dim) {
            return dim.forms[p] == place.form;
          });
        }
      // Beyond an extent an element is zero, whether it is masked or not; the
      // walked dimensions have to stay below theirs.
      if (isMask && !isWalk)
        continue;
      bool isOther = isOfElement(condition.form, placed.piece, sum);
      // A definition says of each element which terms it has.
      if (!isOther || sum.isDefined) {
        part.domain.push_back(condition);
        if (sum.isDefined)
          addNumbers(index, condition.form, sum.numbers);
      } else if (isOf(condition.form, placed.piece) ||
                 hasNumber(index, condition.form)) {
        sum.undecided = "which terms it has depends on the element";
        return;
      }
      // What is left is about the element alone, and is the same in all pieces.
    }
    IndexSpace::Replacement here;
    for (auto [variable, dim] : llvm::zip(sum.walked, sum.dims))
      here[variable] = dim.forms[p];
    // What a definition does not have is zero; where memory says the end, steps
    // behind it would be a fault.
    if (sum.isDefined || sum.numbers.empty())
      for (const Condition &condition : sum.scope)
        part.domain.push_back({index.substitute(condition.form, here, nullptr),
                               condition.isEquality});
    sum.parts.push_back(std::move(part));
  }
}

ClosedSum SumFinder::close(std::vector<PlacedPiece> pieces) {
  ClosedSum sum;
  for (const PlacedPiece &placed : pieces)
    for (const Place &place : placed.places)
      if (place.argument >= 0 && isOf(place.form, placed.piece) &&
          !llvm::is_contained(sum.arguments, unsigned(place.argument)))
        sum.arguments.push_back(place.argument);
  llvm::sort(sum.arguments);
  if (definition ? addDefinedDims(pieces, sum) : addDims(pieces, sum)) {
    addEnds(pieces, sum);
    addParts(pieces, sum);
  }
  return sum;
}

bool SumFinder::isFactor(int argument) const {
  return definition && llvm::is_contained(definition.getOperands().take_front(
                                              definition.getFactors()),
                                          argument);
}

/// A dimension of one element has one coordinate, however it is written.
Form SumFinder::withoutSingle(const Form &form) {
  IndexSpace::Replacement single;
  if (definition)
    for (auto [coordinate, id] : llvm::zip(coordinates, at))
      if (coordinate.isConstant())
        single[id] = coordinate;
  return single.empty() ? form : index.substitute(form, single, nullptr);
}

std::optional<Piece> SumFinder::simplify(const Piece &piece) {
  Piece simple = piece;
  simple.domain.clear();
  for (const Condition &condition : piece.domain) {
    Condition next{withoutSingle(condition.form), condition.isEquality};
    if (!next.form.isConstant()) {
      if (!llvm::is_contained(simple.domain, next))
        simple.domain.push_back(next);
    } else if (next.isEquality ? next.form.constant != 0
                               : next.form.constant < 0) {
      return std::nullopt;
    }
  }
  return simple;
}

/// What of a place depends on the element alone.
Form SumFinder::elementPart(Form form, const Piece &piece) const {
  form.constant = 0;
  llvm::erase_if(form.terms, [&](const auto &term) {
    Form alone;
    alone.terms.push_back({term.first, 1});
    return isOf(alone, piece);
  });
  return form;
}

auto SumFinder::place(PlacedPiece &placed, Walking walking)
    -> std::optional<Keys> {
  const Piece &piece = placed.piece;
  placed.places.clear();
  // Factors in an order that does not depend on how they were found.
  struct Factor {
    size_t number;
    std::string shape;
    SmallVector<Place, 6> places;
  };
  std::vector<Factor> factors;
  bool isPlaced = true;
  for (auto [number, term] : llvm::enumerate(piece.terms)) {
    Factor &factor = factors.emplace_back();
    factor.number = number;
    isPlaced &= place(term, piece, walking, factor.shape, factor.places);
  }
  if (!isPlaced)
    return std::nullopt;
  llvm::sort(factors, [](const Factor &a, const Factor &b) {
    return std::tie(a.shape, a.number) < std::tie(b.shape, b.number);
  });
  Keys keys;
  auto append = [&](llvm::StringRef text) {
    keys.own += text;
    keys.walks += text;
  };
  append(std::to_string(piece.factor) + "*");
  unsigned reads = 0;
  for (Factor &factor : factors) {
    append(factor.shape + "[");
    for (Place &place : factor.places) {
      place.form = withoutSingle(place.form);
      // What does not walk tells sums apart, but for factors of a definition,
      // which says where they are.
      bool isFixed = !isOf(place.form, piece) && !place.form.isConstant();
      if (isFixed && !isFactor(place.argument))
        appendKey(keys.own, place.form);
      appendKey(keys.walks, elementPart(place.form, piece));
      append(";");
      placed.places.push_back(place);
      placed.places.back().read += reads;
    }
    if (!factor.places.empty())
      reads += factor.places.back().read + 1;
    append("]");
  }
  // So does what holds of the element alone, where nothing says which elements
  // have a sum.
  SmallVector<std::string> conditions;
  for (const Condition &condition : piece.domain)
    if (!definition && !isOf(condition.form, piece) &&
        !isOfSizes(condition.form) && !hasNumber(index, condition.form) &&
        llvm::none_of(placed.places, [&](const Place &place) {
          return isInBounds(condition, place);
        })) {
      std::string &text = conditions.emplace_back();
      appendKey(text, condition.form);
      text += condition.isEquality ? "=" : "";
    }
  llvm::sort(conditions);
  for (const std::string &condition : conditions)
    append("|" + condition);
  return keys;
}

std::optional<ClosedSum>
SumFinder::closeTogether(const std::vector<PlacedPiece> &pieces) {
  for (auto [number, first] : llvm::enumerate(pieces.front().places)) {
    bool isWalked = false, isSame = true;
    for (const PlacedPiece &placed : pieces) {
      const Form &form = placed.places[number].form;
      isWalked |= isOf(form, placed.piece);
      isSame &= form == first.form;
    }
    if (!isWalked && !isSame)
      return std::nullopt;
  }
  ClosedSum sum = close(pieces);
  if (sum.undecided.empty())
    return sum;
  return std::nullopt;
}

/// How many elements apart all pieces walk there.
static int64_t getStep(ArrayRef<Form> forms) {
  int64_t step = 0;
  for (const Form &form : forms) {
    for (auto [id, factor] : form.terms)
      step = std::gcd(step, factor);
    step = std::gcd(step, form.constant - forms.front().constant);
  }
  return step;
}

/// Adds the place of a partner that says what the walk at `number`, which
/// leaves elements out, goes through: the walk is a multiple of that. So it may
/// be one that goes backwards through a part of a longer dimension.
bool SumFinder::addPartner(std::vector<PlacedPiece> &pieces, size_t number,
                           const std::vector<PlacedPiece> &partner) {
  SmallVector<Form> forms;
  for (const PlacedPiece &placed : pieces)
    forms.push_back(placed.places[number].form);
  const Place &first = pieces.front().places[number];
  WalkedDim walked{static_cast<unsigned>(first.argument), first.dim, {}};
  int64_t step = getStep(forms);
  if (first.argument < 0 || step < 1)
    return false;
  for (auto [other, place] : llvm::enumerate(partner.front().places))
    for (int64_t factor : {step, -step}) {
      SmallVector<Form> left;
      for (auto [form, beside] : llvm::zip(forms, partner))
        left.push_back(
            index.sub(form, index.scale(beside.places[other].form, factor)));
      if (place.argument < 0 || !left.front().isConstant() ||
          !llvm::all_equal(left) ||
          (step == 1 &&
           (factor > 0 || !isShorter(place.argument, place.dim, walked))))
        continue;
      addPlace(pieces, partner, other);
      return true;
    }
  return false;
}

void SumFinder::addPlace(std::vector<PlacedPiece> &pieces,
                         const std::vector<PlacedPiece> &partner,
                         size_t number) {
  for (auto [placed, beside] : llvm::zip(pieces, partner)) {
    unsigned read = placed.places.back().read + 1;
    placed.places.push_back(beside.places[number]);
    placed.places.back().read = read;
  }
}

/// Adds the places of a partner that walk where `pieces` stay: a term that is
/// added in every step of a loop is one of as many as the partner has there.
void SumFinder::addRepeats(std::vector<PlacedPiece> &pieces,
                           const std::vector<PlacedPiece> &partner) {
  auto walksAlone = [&](const PlacedPiece &placed, const Form &form) {
    return llvm::any_of(placed.piece.variables, [&](unsigned id) {
      return index.uses(form, id) &&
             llvm::none_of(placed.places, [&](const Place &place) {
               return index.uses(place.form, id);
             });
    });
  };
  for (size_t number = 0; number < partner.front().places.size(); ++number)
    if (partner.front().places[number].argument >= 0 &&
        llvm::all_of(llvm::zip(pieces, partner), [&](const auto &both) {
          return walksAlone(std::get<0>(both),
                            std::get<1>(both).places[number].form);
        }))
      addPlace(pieces, partner, number);
}

/// The terms of Σ (x + y) are those of Σ x and of Σ y: where one of them reads
/// every third element, or one element again and again, the other one says what
/// the loops walk along.
void SumFinder::addPartners(
    std::map<std::string, std::vector<PlacedPiece>> &groups) {
  auto areBeside = [](ArrayRef<PlacedPiece> pieces,
                      ArrayRef<PlacedPiece> others) {
    return llvm::equal(pieces, others,
                       [](const PlacedPiece &a, const PlacedPiece &b) {
                         return a.piece.variables == b.piece.variables &&
                                a.piece.domain == b.piece.domain;
                       });
  };
  const std::map<std::string, std::vector<PlacedPiece>> known = groups;
  for (auto &[key, pieces] : groups) {
    size_t count = pieces.front().places.size();
    for (size_t number = 0; number < count; ++number)
      for (const auto &[other, partner] : known)
        if (key != other && areBeside(pieces, partner) &&
            addPartner(pieces, number, partner))
          break;
    for (const auto &[other, partner] : known)
      if (key != other && areBeside(pieces, partner))
        addRepeats(pieces, partner);
  }
}

std::vector<ClosedSum> SumFinder::find(const Value &value) {
  std::vector<ClosedSum> sums;
  std::map<std::string, std::vector<PlacedPiece>> groups;
  // Those that would be one sum if what is fixed in some were walked along.
  struct Walk {
    std::set<std::string> groups;
    std::vector<PlacedPiece> single;
  };
  std::map<std::string, Walk> walks;
  auto addPiece = [&](PlacedPiece placed) {
    std::optional<Keys> keys = place(placed, Walking::ByLoops);
    if (keys) {
      walks[keys->walks].groups.insert(keys->own);
      return groups[keys->own].push_back(std::move(placed));
    }
    ClosedSum sum;
    sum.undecided = "what it adds up is a sum itself";
    sums.push_back(std::move(sum));
  };
  // Pieces that no loop counts: one term of what others walk over.
  std::vector<PlacedPiece> single;
  for (const Piece &known : value) {
    if (known.variables.empty() && value.size() == 1 && !definition)
      continue;
    std::optional<Piece> simplified = simplify(known);
    if (!simplified)
      continue;
    PlacedPiece placed{*simplified, {}};
    if (placed.piece.variables.empty())
      single.push_back(std::move(placed));
    else
      addPiece(std::move(placed));
  }
  // Where such a term is one of no sum as a whole, a part of it may be fixed in
  // all terms of one.
  auto joins = [&](PlacedPiece &placed, Walking walking) {
    std::optional<Keys> keys = place(placed, walking);
    if (!keys)
      return false;
    if (auto group = groups.find(keys->own); group != groups.end()) {
      group->second.push_back(std::move(placed));
      return true;
    }
    auto walk = definition ? walks.end() : walks.find(keys->walks);
    if (walk == walks.end())
      return false;
    walk->second.single.push_back(std::move(placed));
    return true;
  };
  for (PlacedPiece &placed : single)
    if (!joins(placed, Walking::All) && !joins(placed, Walking::AsOthers))
      addPiece(std::move(placed));
  // A loop of one step counts nothing: its place is fixed, beside the places of
  // the loop that it ends.
  std::vector<PlacedPiece> left;
  for (auto &[key, walk] : walks) {
    if (definition || walk.groups.size() + walk.single.size() < 2)
      continue;
    std::vector<PlacedPiece> together = walk.single;
    for (const std::string &group : walk.groups)
      llvm::append_range(together, groups[group]);
    if (std::optional<ClosedSum> sum = closeTogether(together)) {
      sums.push_back(std::move(*sum));
      for (const std::string &group : walk.groups)
        groups.erase(group);
    } else {
      llvm::append_range(left, walk.single);
    }
  }
  for (PlacedPiece &placed : left)
    addPiece(std::move(placed));
  if (!definition)
    addPartners(groups);
  for (auto &[key, together] : groups) {
    if (definition) {
      sums.push_back(close(std::move(together)));
      continue;
    }
    // Elements that are read at several places are no sum over them.
    if (llvm::all_of(together, [](const PlacedPiece &placed) {
          return placed.piece.variables.empty();
        }))
      continue;
    // Nor are sums at several places that no loop counts.
    std::map<std::string, std::vector<PlacedPiece>> apart;
    for (PlacedPiece &placed : together) {
      std::string constants;
      for (auto [number, place] : llvm::enumerate(placed.places))
        if (llvm::none_of(together, [&, number = number](const auto &other) {
              return isOf(other.places[number].form, other.piece);
            }))
          appendKey(constants, place.form);
      apart[constants].push_back(placed);
    }
    for (auto &[constants, pieces] : apart)
      sums.push_back(close(std::move(pieces)));
  }
  return sums;
}
