//===- Report.cpp - Faults of coverage in words ---------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelCoverage.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

namespace {
using Point = std::vector<std::pair<std::string, int64_t>>;

/// Prints findings about one part.
class Report {
public:
  Report(const KernelCoverage &coverage, const CoveragePart &part,
         const cov::Finding &finding)
      : coverage(coverage), part(part), finding(finding),
        space(coverage.problem.space) {}

  void print(InFlightDiagnostic &diag);

private:
  std::string getBuffer() const;
  std::string list(const Point &point, bool sizes) const;
  std::string element(const cov::Writer &writer, const Point &point) const;
  std::map<Term, int64_t> getValues(const Point &point) const;
  const cov::AffineStage *getElements() const;
  void printOutput(InFlightDiagnostic &diag);
  void noteOwners(InFlightDiagnostic &diag);

  const KernelCoverage &coverage;
  const CoveragePart &part;
  const cov::Finding &finding;
  const cov::Space &space;
};
} // namespace

std::string Report::getBuffer() const {
  if (auto argument = dyn_cast_or_null<BlockArgument>(part.buffer))
    return "argument #" + std::to_string(argument.getArgNumber());
  if (!part.buffer)
    return "its buffer";
  return "what '" +
         part.buffer.getDefiningOp()->getName().getStringRef().str() +
         "' gives";
}

/// "dimension 0 of argument #2 = 130", the sizes or the others.
std::string Report::list(const Point &point, bool sizes) const {
  std::string text;
  for (const auto &[name, value] : point) {
    std::optional<Term> term = space.find(name);
    if (!term || (space.kind(*term) == cov::TermKind::Symbol) != sizes)
      continue;
    // An unused copy of a size says nothing.
    auto it = coverage.indices.names.find(*term);
    text += (text.empty() ? "" : ", ") +
            (it == coverage.indices.names.end() ? name : it->second) + " = " +
            std::to_string(value);
  }
  return text;
}

std::map<Term, int64_t> Report::getValues(const Point &point) const {
  std::map<Term, int64_t> values;
  for (const Point *source : {&finding.point, &point})
    for (const auto &[name, value] : *source)
      if (std::optional<Term> term = space.find(name))
        values[*term] = value;
  return values;
}

std::string Report::element(const cov::Writer &writer,
                            const Point &point) const {
  std::map<Term, int64_t> values = getValues(point);
  std::string text;
  for (const Expr &index : writer.map) {
    std::optional<int64_t> value = space.evaluate(index, values);
    text += (text.empty() ? "" : ", ") +
            (value ? std::to_string(*value) : std::string("?"));
  }
  return "[" + text + "]";
}

/// The stage of the elements, if the finding is about it.
const cov::AffineStage *Report::getElements() const {
  if (part.endStage == part.firstStage)
    return nullptr;
  const auto *elements = std::get_if<cov::AffineStage>(
      &coverage.problem.stages[part.endStage - 1].kind);
  if (finding.stage >= 0)
    return finding.stage + part.firstStage + 1 == part.endStage ? elements
                                                                : nullptr;
  // Found by trying: an element that nobody writes is about it.
  std::map<Term, int64_t> values = getValues({});
  bool isElement = finding.property == cov::Property::Cover && elements &&
                   llvm::all_of(elements->coordinates, [&](Term coordinate) {
                     return values.count(coordinate) > 0;
                   });
  return isElement ? elements : nullptr;
}

/// Loops and grids whose indices differ between two events.
void Report::noteOwners(InFlightDiagnostic &diag) {
  std::map<std::string, int64_t> others(finding.otherPoint.begin(),
                                        finding.otherPoint.end());
  for (const auto &[name, value] : finding.point) {
    auto other = others.find(name);
    std::optional<Term> term = space.find(name);
    if (!term || other == others.end() || other->second == value)
      continue;
    auto owner = coverage.indices.owners.find(*term);
    if (owner == coverage.indices.owners.end() ||
        llvm::is_contained(part.ops, owner->second))
      continue;
    diag.attachNote(owner->second->getLoc())
        << coverage.indices.names.at(*term) << " is made here: once it is "
        << value << ", once " << other->second;
    return;
  }
}

void Report::printOutput(InFlightDiagnostic &diag) {
  KernelOp kernel = coverage.indices.kernel;
  std::string sizes = list(finding.point, true);
  std::string with = sizes.empty() ? "" : "with " + sizes + ", ";
  const cov::AffineStage *elements = getElements();
  if (!elements || finding.property == cov::Property::Claim) {
    diag << "does not write each element of " << getBuffer()
         << " once: " << with << finding.message;
    if (std::string where = list(finding.point, false); !where.empty())
      diag << ", where " << where;
    if (std::string where = list(finding.otherPoint, false); !where.empty())
      diag << " and where " << where;
    diag.attachNote(kernel.getTiles().getLoc()) << "the tiles are made here";
    return;
  }
  switch (finding.property) {
  case cov::Property::Cover: {
    std::string at;
    std::map<Term, int64_t> values = getValues({});
    for (Term coordinate : elements->coordinates)
      at += (at.empty() ? "" : ", ") + std::to_string(values[coordinate]);
    diag << "does not write all of " << getBuffer() << ": " << with
         << "element [" << at << "] is written by no tile";
    diag.attachNote(kernel.getTiles().getLoc()) << "the tiles are made here";
    return;
  }
  case cov::Property::Unique: {
    const cov::Writer &writer = elements->writers[finding.writer];
    diag << "writes an element of " << getBuffer() << " twice: " << with
         << "element " << element(writer, {}) << " is written where "
         << list(finding.point, false) << " and where "
         << list(finding.otherPoint, false);
    if (finding.otherWriter >= 0 && finding.otherWriter != finding.writer)
      diag.attachNote(part.ops[finding.otherWriter]->getLoc())
          << "the other one is written here";
    noteOwners(diag);
    return;
  }
  default: {
    const cov::Writer &writer = elements->writers[finding.writer];
    diag << "writes out of bounds of " << getBuffer() << ": " << with
         << "element " << element(writer, {}) << " where "
         << list(finding.point, false);
    diag.attachNote(kernel.getTiles().getLoc()) << "the tiles are made here";
  }
  }
}

void Report::print(InFlightDiagnostic &diag) {
  std::string sizes = list(finding.point, true);
  std::string where = list(finding.point, false);
  std::string at = sizes.empty() ? "" : "with " + sizes + ", ";
  switch (part.kind) {
  case CoveragePart::Output:
    return printOutput(diag);
  case CoveragePart::Repetition:
    diag << "may not write " << getBuffer()
         << " at all: " << (sizes.empty() ? "" : "with " + sizes + ", ")
         << "the loop around it does not run, or its last iteration does not "
            "store";
    diag.attachNote(part.notes.front()->getLoc()) << "the loop is here";
    return;
  case CoveragePart::Owner:
    diag << "overwrites elements of " << getBuffer()
         << " that another tile has written: " << at << "where " << where;
    diag.attachNote(part.notes.front()->getLoc())
        << "they were written here before";
    return;
  case CoveragePart::Access: {
    diag << part.verb << " out of bounds of " << getBuffer() << ": " << at;
    const cov::Access &access = coverage.problem.accesses[part.access];
    std::map<Term, int64_t> values = getValues({});
    for (auto [index, bound, dim] :
         llvm::zip(access.map, access.bounds, part.dims)) {
      std::optional<int64_t> value = space.evaluate(index, values);
      std::optional<int64_t> end = space.evaluate(*bound.upper, values);
      if (!value || !end || (*value >= 0 && *value < *end))
        continue;
      if (dim < 0)
        diag << "an index of the window";
      else
        diag << "index " << dim;
      diag << " is " << *value << ", expected 0 to below " << *end;
      break;
    }
    if (!where.empty())
      diag << ", where " << where;
    for (Operation *window : part.notes)
      diag.attachNote(window->getLoc()) << "it looks through this window";
    return;
  }
  case CoveragePart::Fill:
    diag << part.verb << " where nothing was copied: " << at << "where "
         << where;
    diag.attachNote(part.notes.front()->getLoc())
        << "the copy ends at its limits";
    return;
  case CoveragePart::Terms:
  case CoveragePart::Pairing:
  case CoveragePart::Band:
  case CoveragePart::Slot:
  case CoveragePart::Values:
    // A ContentClaim each, see ReportContents.cpp.
    return;
  case CoveragePart::Obligation:
    diag << "has an operand that may be negative: " << at << "where " << where;
  }
}

void mlir::tracea::reportFinding(const KernelCoverage &coverage,
                                 const CoveragePart &part,
                                 const cov::Finding &finding,
                                 InFlightDiagnostic &diag) {
  Report(coverage, part, finding).print(diag);
}
