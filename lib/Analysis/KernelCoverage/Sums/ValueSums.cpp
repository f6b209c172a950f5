//===- ValueSums.cpp - Sums that reach the results ------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a result *is* is followed from its stores back to the arguments
// (Numerics/), and read as sums (Meaning/). Each sum has to visit each point
// of what it walks along once. A product that nobody uses, a sum that begins
// again, or one that is overwritten is not in the value, so that its terms are
// missing here, whatever the kernel multiplies.

#include "../../Meaning/ClosedSum.h"
#include "../../Numerics/Evaluator.h"
#include "../Indices/FormTranslation.h"
#include "../KernelCoverage.h"
#include "tracea/Dialect/Tracea/IR/TraceaOps.h"
#include "llvm/ADT/SetVector.h"
#include <set>

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;
using numerics::Form;

namespace {
class ValueSums {
public:
  ValueSums(KernelCoverage &coverage, KernelOp kernel)
      : coverage(coverage), kernel(kernel), indices(coverage.indices),
        space(coverage.problem.space), terms(index) {}

  /// Why the values are not known; empty: their sums are among the claims.
  std::string run();
  bool isFault = false;
  /// How a result is not what the kernel's operation says, beyond doubt.
  std::string fault;
  /// Whether a sum of products has no definition, though an operation has one.
  bool lacksDefinition = false;
  /// How a result seems to differ from what its operation says, where that is
  /// not beyond doubt.
  std::string mismatch;

private:
  std::string addValue(numerics::TermRef term, ArrayRef<unsigned> at,
                       std::set<numerics::TermRef> &seen);
  void addSum(const meaning::ClosedSum &sum, ArrayRef<unsigned> at);
  Term addNumber(unsigned number, cov::AffineStage &stage);
  /// The coordinates of the element that say which terms a sum has.
  SmallVector<unsigned> getElement(const meaning::ClosedSum &sum,
                                   ArrayRef<unsigned> at);
  /// An expression, or why there is none.
  Expr translate(FormTranslation &forms, const Form &form,
                 std::string &undecided);
  void require(FormTranslation &forms, const meaning::Condition &condition,
               SmallVectorImpl<cov::Constraint> &guard, std::string &undecided);
  /// `element` are ids for coordinates of the element.
  cov::Writer getWriter(const meaning::ClosedSum &sum, size_t number,
                        ArrayRef<unsigned> at,
                        ArrayRef<std::pair<unsigned, Term>> element,
                        std::string &undecided);
  /// Writers of the terms that the definition has not.
  void addNone(const meaning::ClosedSum &sum,
               ArrayRef<std::pair<unsigned, Term>> element,
               cov::AffineStage &stage, std::string &undecided);
  meaning::SumFinder getFinder(ArrayRef<unsigned> at) {
    return {index, terms, at, coordinates, definition, extent};
  }
  Form getExtent(unsigned argument, unsigned dim);
  /// Whether the result has no elements, or one coordinate in a dimension, as
  /// far as types tell.
  bool hasNoElements(DefinitionAttr definition);
  bool hasOne(unsigned dim);

  KernelCoverage &coverage;
  KernelOp kernel;
  KernelIndices &indices;
  cov::Space &space;
  numerics::IndexSpace index;
  numerics::TermSpace terms;
  const std::function<Form(unsigned, unsigned)> extent =
      [this](unsigned argument, unsigned dim) {
        return getExtent(argument, dim);
      };
  unsigned result = 0;
  DefinitionAttr definition;
  /// Coordinates of the element, as a definition has them.
  SmallVector<Form> coordinates;
  /// Whether some sum was that of the definition.
  bool isDefined = false;
  /// Whether some sum may be.
  bool isUnclear = false;
  /// The sums of this result that are claimed already.
  std::set<std::string> stated;
  Operation *place = nullptr;
};
} // namespace

Form ValueSums::getExtent(unsigned argument, unsigned dim) {
  auto type = cast<MemRefType>(kernel.getFunctionType().getInput(argument));
  return type.isDynamicDim(dim) ? index.extent(argument, dim)
                                : Form(type.getDimSize(dim));
}

/// Whether a factor's type says that it has `extent` rows or columns of those
/// of the result, of which dimension `dim` is one. Then the result has no more,
/// though its own type may not tell.
static bool hasFactor(KernelOp kernel, DefinitionAttr definition, unsigned dim,
                      int64_t extent) {
  for (int64_t factor = 0; factor < definition.getFactors(); ++factor) {
    auto type = cast<MemRefType>(
        kernel.getFunctionType().getInput(definition.getOperands()[factor]));
    for (auto [size, expr] :
         llvm::zip(type.getShape(), definition.getMap(factor).getResults()))
      if (auto own = dyn_cast<AffineDimExpr>(expr);
          own && own.getPosition() == dim && size == extent)
        return true;
  }
  return false;
}

bool ValueSums::hasNoElements(DefinitionAttr definition) {
  return llvm::any_of(
      llvm::seq<unsigned>(coordinates.size()),
      [&](unsigned dim) { return hasFactor(kernel, definition, dim, 0); });
}

bool ValueSums::hasOne(unsigned dim) {
  return getExtent(result, dim) == Form(1) ||
         (definition && hasFactor(kernel, definition, dim, 1));
}

/// Whether the operation that the kernel was made for has its kernels say which
/// elements they multiply.
static bool definesSums(KernelOp kernel) {
  std::optional<StringRef> name = kernel.getSourceOp();
  std::optional<RegisteredOperationName> source;
  if (name)
    source = RegisteredOperationName::lookup(*name, kernel.getContext());
  return source && source->hasTrait<DefinesSums>();
}

std::string ValueSums::run() {
  // In which order a unit adds makes no difference here.
  numerics::TargetNumerics target;
  numerics::Evaluator evaluator(kernel, target, index, terms);
  SmallVector<numerics::ElementTerm> results = evaluator.run();
  if (!index.failure.empty())
    return index.failure;
  // A fault is shown at the first multiply, or where the result is stored.
  kernel.walk([&](Operation *op) {
    if (isa<MmaOp, MmaAsyncOp>(op) &&
        !isa_and_nonnull<MmaOp, MmaAsyncOp>(place))
      place = op;
    else if (isa<StoreOp>(op) && !place)
      place = op;
  });
  if (!place)
    place = kernel;
  // Stores of the parts of a tile mostly store one value.
  std::set<std::string> done;
  for (const numerics::ElementTerm &element : results) {
    // A result without elements has no sums.
    auto type =
        cast<MemRefType>(kernel.getFunctionType().getInput(element.argument));
    if (llvm::is_contained(type.getShape(), 0))
      continue;
    if (!done.insert(numerics::printNormalForm(target, element, index, terms))
             .second)
      continue;
    result = element.argument;
    stated.clear();
    isDefined = isUnclear = false;
    definition = DefinitionAttr();
    if (ArrayAttr definitions = kernel.getDefinitionsAttr())
      for (auto attr : definitions.getAsRange<DefinitionAttr>())
        if (attr.getResult() == result)
          definition = attr;
    // A dimension of one element has no other coordinate.
    coordinates.clear();
    for (auto [dim, coordinate] : llvm::enumerate(element.at))
      coordinates.push_back(hasOne(dim) ? Form(0) : index.form(coordinate));
    std::set<numerics::TermRef> seen;
    if (std::string reason = addValue(element.term, element.at, seen);
        !reason.empty())
      return reason;
    lacksDefinition |= !stated.empty() && isa<MmaOp, MmaAsyncOp>(place) &&
                       !kernel.getDefinitionsAttr() && definesSums(kernel);
    if (definition && !isDefined && !isUnclear && fault.empty() &&
        !hasNoElements(definition)) {
      meaning::ClosedSum nothing = getFinder(element.at).findNothing();
      // Of an image all may be border, and a sum may go over nothing.
      if (!nothing.scope.empty() ||
          llvm::any_of(nothing.dims, [&](const meaning::WalkedDim &dim) {
            Form end = getExtent(dim.argument, dim.dim);
            return !end.isConstant() || end == Form(0);
          }))
        addSum(nothing, element.at);
      else
        fault = "argument " + std::to_string(result) +
                " has nothing of the sum that the operation defines";
    }
  }
  return index.failure;
}

std::string ValueSums::addValue(numerics::TermRef term, ArrayRef<unsigned> at,
                                std::set<numerics::TermRef> &seen) {
  if (!seen.insert(term).second)
    return "";
  meaning::ValueReader reader(index, terms);
  const meaning::Value *value = reader.read(term);
  if (!value) {
    isFault |= reader.isFault;
    return reader.reason;
  }
  for (const meaning::ClosedSum &sum : getFinder(at).find(*value))
    addSum(sum, at);
  // Operands of other operations are values of their own; those that change
  // with the steps of a sum have been compared as parts of its terms.
  for (const meaning::Piece &piece : *value)
    for (numerics::TermRef factor : piece.terms)
      if (!definition || llvm::none_of(piece.variables, [&](unsigned id) {
            return terms.uses(factor, id);
          }))
        for (numerics::TermRef inner : meaning::ValueReader::getInner(factor))
          if (std::string reason = addValue(inner, at, seen); !reason.empty())
            return reason;
  return "";
}

SmallVector<unsigned> ValueSums::getElement(const meaning::ClosedSum &sum,
                                            ArrayRef<unsigned> at) {
  llvm::SmallSetVector<unsigned, 4> used;
  auto add = [&](const Form &form) {
    index.forEachVariable(form, [&](unsigned id) {
      if (llvm::is_contained(at, id) && id != sum.split)
        used.insert(id);
    });
  };
  for (const meaning::Condition &condition : sum.scope)
    add(condition.form);
  for (const meaning::WalkedDim &dim : sum.dims)
    llvm::for_each(dim.forms, add);
  for (const meaning::SumPart &part : sum.parts)
    for (const meaning::Condition &condition : part.domain)
      add(condition.form);
  return used.takeVector();
}

Expr ValueSums::translate(FormTranslation &forms, const Form &form,
                          std::string &undecided) {
  Expr expr = forms.get(form);
  if (!expr.isValid() && undecided.empty())
    undecided =
        forms.reason.empty() ? "an index has no expression" : forms.reason;
  return expr;
}

void ValueSums::require(FormTranslation &forms,
                        const meaning::Condition &condition,
                        SmallVectorImpl<cov::Constraint> &guard,
                        std::string &undecided) {
  Expr expr = translate(forms, condition.form, undecided);
  if (condition.isEquality)
    indices.math.requireZero(expr, guard);
  else
    indices.math.require(expr, guard);
}

cov::Writer ValueSums::getWriter(const meaning::ClosedSum &sum, size_t number,
                                 ArrayRef<unsigned> at,
                                 ArrayRef<std::pair<unsigned, Term>> element,
                                 std::string &undecided) {
  const meaning::SumPart &part = sum.parts[number];
  cov::Writer writer;
  writer.name = "loop";
  FormTranslation forms(indices, index);
  SmallVector<cov::Constraint> guard;
  ArrayRef<meaning::Condition> open = part.domain;
  for (auto [coordinate, id] : element) {
    forms.values[coordinate] = id;
    writer.ids.push_back(id);
  }
  // Loops are written from the inside to the outside.
  for (unsigned variable : llvm::reverse(part.variables)) {
    cov::Range range = cov::Range::from(0);
    for (const meaning::Condition &condition : open) {
      if (condition.isEquality || condition.form.coefficient(variable) != -1)
        continue;
      Form end = index.add(condition.form, index.form(variable));
      bool isOuter = false;
      index.forEachVariable(end, [&](unsigned) { isOuter = true; });
      // Of several ends one that is the same in all rounds will do: a constant
      // if there is one. The others are conditions.
      SmallVector<Form> ends = {end};
      if (isOuter || !end.isConstant())
        if (end.terms.size() == 1 && end.terms[0].second == 1) {
          const numerics::Atom &atom = index.atom(end.terms[0].first);
          if (atom.kind == numerics::AtomKind::Min)
            for (const Form &side : atom.forms)
              ends.push_back(index.add(side, Form(end.constant)));
        }
      for (const Form &candidate : ends) {
        bool hasVariable = false;
        index.forEachVariable(candidate, [&](unsigned) { hasVariable = true; });
        if (hasVariable || (range.upper && !candidate.isConstant()))
          continue;
        range.upper =
            translate(forms, index.add(candidate, Form(1)), undecided);
      }
      // Of what differs from round to round there may be a most.
      if (!range.upper)
        if (std::optional<int64_t> most = index.interval(end).high)
          range.upper = Expr(*most) + 1;
    }
    Term id = space.id("step", range);
    indices.names[id] = "step " + std::to_string(writer.ids.size());
    forms.values[variable] = id;
    writer.ids.push_back(id);
  }
  if (sum.split) {
    size_t dim = llvm::find(at, *sum.split) - at.begin();
    Term id = space.id("part", cov::Range(translate(
                                   forms, getExtent(result, dim), undecided)));
    indices.names[id] = "the part of the sum";
    forms.values[*sum.split] = id;
    writer.ids.push_back(id);
  }
  for (const meaning::Condition &condition : open)
    require(forms, condition, guard, undecided);
  // Constraints that only repeat the range of an id are dropped.
  llvm::erase_if(guard, [&](const cov::Constraint &constraint) {
    return !constraint.equality && llvm::any_of(writer.ids, [&](Term id) {
      const cov::Range &range = space.range(id);
      return constraint.expr == Expr(id) - range.lower ||
             (range.upper && constraint.expr == *range.upper - Expr(id) - 1);
    });
  });
  for (const meaning::WalkedDim &dim : sum.dims)
    writer.map.push_back(translate(forms, dim.forms[number], undecided));
  for (auto [coordinate, id] : element)
    writer.map.push_back(id);
  indices.requireDivisors(writer.map, guard);
  writer.guard.assign(guard.begin(), guard.end());
  return writer;
}

void ValueSums::addNone(const meaning::ClosedSum &sum,
                        ArrayRef<std::pair<unsigned, Term>> element,
                        cov::AffineStage &stage, std::string &undecided) {
  FormTranslation forms(indices, index);
  cov::Writer none;
  none.name = "border";
  for (auto [variable, dim] : llvm::zip(sum.walked, sum.dims)) {
    Expr end = translate(forms, getExtent(dim.argument, dim.dim), undecided);
    Term id = space.id("place", cov::Range(end));
    indices.names[id] = "index of dimension " + std::to_string(dim.dim);
    forms.values[variable] = id;
    none.ids.push_back(id);
    none.map.push_back(id);
  }
  for (auto [coordinate, id] : element) {
    forms.values[coordinate] = id;
    none.ids.push_back(id);
    none.map.push_back(id);
  }
  // What fails the first of the conditions, what only fails the second, ...
  SmallVector<cov::Constraint> before;
  for (const meaning::Condition &condition : sum.scope) {
    cov::Writer writer = none;
    SmallVector<cov::Constraint> guard = before;
    require(forms, {index.sub(Form(-1), condition.form)}, guard, undecided);
    indices.requireDivisors(writer.map, guard);
    writer.guard.assign(guard.begin(), guard.end());
    stage.writers.push_back(std::move(writer));
    require(forms, condition, before, undecided);
  }
}

static std::string getKey(const meaning::ClosedSum &sum) {
  std::string key = sum.undecided;
  auto add = [&](const Form &form) { numerics::appendKey(key, form); };
  for (const meaning::WalkedDim &dim : sum.dims) {
    key += std::to_string(dim.argument) + "." + std::to_string(dim.dim) + ":";
    llvm::for_each(dim.forms, add);
  }
  for (const meaning::SumPart &part : sum.parts) {
    key += ";";
    for (unsigned variable : part.variables)
      key += std::to_string(variable) + ",";
    for (const meaning::Condition &condition : part.domain)
      add(condition.form);
  }
  return key;
}

/// Whether one loop walks along several dimensions: keys, and the blocks of
/// them that a mask has. It need not visit all pairs of their places.
static bool isAlongTogether(const meaning::ClosedSum &sum,
                            const numerics::IndexSpace &index) {
  for (auto [number, dim] : llvm::enumerate(sum.dims))
    for (const meaning::WalkedDim &other :
         ArrayRef(sum.dims).take_front(number))
      for (auto [p, part] : llvm::enumerate(sum.parts))
        for (unsigned variable : part.variables)
          if (index.uses(dim.forms[p], variable) &&
              index.uses(other.forms[p], variable))
            return true;
  return false;
}

/// A number that memory holds is any number of its type: one that the claim is
/// about, as it is about each element. Returns what writers call it.
Term ValueSums::addNumber(unsigned number, cov::AffineStage &stage) {
  StringRef symbol = index.atom(number).symbol;
  unsigned argument = 0;
  symbol.consume_front("read ");
  symbol.getAsInteger(10, argument);
  auto type = cast<MemRefType>(kernel.getFunctionType().getInput(argument));
  cov::Range range = IndexContext::getNumberRange(type);
  Term coordinate = space.coordinate("number", range);
  Term id = space.id("held", range);
  for (Term term : {coordinate, id})
    indices.names[term] = "a number of argument " + std::to_string(argument);
  stage.coordinates.push_back(coordinate);
  return id;
}

void ValueSums::addSum(const meaning::ClosedSum &sum, ArrayRef<unsigned> at) {
  ContentClaim content;
  content.part.kind = CoveragePart::Values;
  content.part.verb = "value";
  content.part.buffer = kernel.getBody().getArgument(result);
  content.name = "sum in argument " + std::to_string(result) + " of ";
  for (auto [number, argument] : llvm::enumerate(sum.arguments))
    content.name += (number ? " and " : "") + std::to_string(argument);
  content.undecided = sum.undecided;
  isUnclear |= !sum.mismatch.empty() || !sum.undecided.empty();
  if (!sum.mismatch.empty()) {
    (sum.isRefuted ? fault : mismatch) =
        "reads what its operation does not: " + sum.mismatch;
    return;
  }
  // What an epilogue adds is no sum of the definition.
  if (definition && !sum.isDefined && sum.undecided.empty())
    return;
  isDefined |= sum.isDefined;
  if (sum.isDefined) {
    content.name += ", as its operation defines it";
    // Without a dimension to walk along there is one term.
    if (sum.dims.empty() && sum.undecided.empty() && sum.parts.size() == 1 &&
        sum.parts[0].variables.empty() && sum.parts[0].domain.empty())
      return;
  }
  SmallVector<unsigned> used = getElement(sum, at);
  if (sum.dims.empty() && used.empty() && content.undecided.empty()) {
    // Nothing that is read says which step it is.
    content.undecided = "what it walks along is not known";
    if (sum.isDefined)
      mismatch = "it is not known to be one element of an argument";
  }
  for (auto [number, id] : llvm::enumerate(used)) {
    unsigned dim = llvm::find(at, id) - at.begin();
    content.name += number ? " and " : ", for each element along ";
    content.name += std::to_string(dim);
  }
  content.part.ops = {place};
  content.part.notes = {place};
  // A sum that is used several times, as in x * sigmoid(x), is one claim.
  if (!stated.insert(getKey(sum)).second)
    return;
  cov::AffineStage stage;
  for (const meaning::WalkedDim &dim : sum.dims) {
    Expr end =
        FormTranslation(indices, index).get(getExtent(dim.argument, dim.dim));
    Term coordinate = space.coordinate("term", cov::Range(end));
    indices.names[coordinate] = "index of dimension " + std::to_string(dim.dim);
    stage.coordinates.push_back(coordinate);
    content.dims.push_back(dim.dim);
    content.buffers.push_back(kernel.getBody().getArgument(dim.argument));
  }
  SmallVector<std::pair<unsigned, Term>> element;
  for (unsigned id : used) {
    unsigned dim = llvm::find(at, id) - at.begin();
    std::string words = "index " + std::to_string(dim) + " of the element";
    Expr end = FormTranslation(indices, index).get(getExtent(result, dim));
    Term coordinate = space.coordinate("element", cov::Range(end));
    indices.names[coordinate] = words;
    stage.coordinates.push_back(coordinate);
    element.push_back({id, space.id("at", cov::Range(end))});
    indices.names[element.back().second] = words;
    content.elementDims.push_back(dim);
  }
  for (unsigned number : sum.numbers)
    element.push_back({number, addNumber(number, stage)});
  if (!sum.numbers.empty())
    content.name += sum.isDefined ? ", whatever number memory holds"
                                  : ", as far as memory says";
  for (size_t number = 0; number < sum.parts.size(); ++number)
    stage.writers.push_back(
        getWriter(sum, number, at, element, content.undecided));
  addNone(sum, element, stage, content.undecided);
  size_t writers = std::max<size_t>(stage.writers.size(), 1);
  content.part.ops.resize(writers, place);
  content.part.notes.resize(writers, place);
  if (content.undecided.empty())
    content.stage = std::move(stage);
  coverage.finish(content);
  if (content.part.doubt.empty() && isAlongTogether(sum, index))
    content.part.doubt = "it walks along several dimensions at once";
  // Where it ends is what the kernel does, and nobody's demand; and of numbers
  // that a sum is not right for, memory may have none.
  if (content.part.doubt.empty() && !sum.numbers.empty())
    content.part.doubt = sum.isDefined ? "memory may hold no such number"
                                       : "memory says where it ends";
  coverage.contents.push_back(std::move(content));
}

void KernelCoverage::extractValues() {
  size_t first = contents.size();
  // Without a store to an argument that has elements there is no result to
  // speak of.
  if (llvm::all_of(sites, [](const Site &site) {
        auto type = cast<MemRefType>(site.buffer.getType());
        return llvm::is_contained(type.getShape(), 0);
      }))
    return;
  ValueSums values(*this, kernel);
  valuesUndecided = values.run();
  areValuesFaulty = values.isFault;
  valuesFault = values.fault;
  lacksDefinition = values.lacksDefinition;
  if (valuesUndecided.empty() && !values.mismatch.empty()) {
    valuesUndecided = values.mismatch;
    areValuesFaulty = true;
  }
  if (!valuesUndecided.empty())
    contents.resize(first);
}
