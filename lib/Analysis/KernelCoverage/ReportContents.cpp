//===- ReportContents.cpp - Faults of sums and slots in words -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelCoverage.h"
#include <set>

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

namespace {
using Point = std::vector<std::pair<std::string, int64_t>>;

class ContentReport {
public:
  ContentReport(const KernelCoverage &coverage, const ContentClaim &content,
                const cov::Finding &finding)
      : coverage(coverage), content(content), finding(finding),
        space(coverage.problem.space), values(getValues(finding.point)) {}

  void print(InFlightDiagnostic &diag);

private:
  std::map<Term, int64_t> getValues(const Point &point) const;
  std::string list(const Point &point, bool sizes) const;
  std::string getSizes() const;
  std::string getIndices(ArrayRef<std::optional<int64_t>> found) const;
  std::vector<std::optional<int64_t>> getCoordinates() const;
  /// The coordinates of the finding.
  std::string getPlace() const;
  void printTerms(InFlightDiagnostic &diag);
  void printValues(InFlightDiagnostic &diag);
  void printPairing(InFlightDiagnostic &diag);
  void printBand(InFlightDiagnostic &diag);
  void printSlot(InFlightDiagnostic &diag);
  void noteLoops(InFlightDiagnostic &diag) const;

  const KernelCoverage &coverage;
  const ContentClaim &content;
  const cov::Finding &finding;
  const cov::Space &space;
  std::map<Term, int64_t> values;
};

} // namespace

std::map<Term, int64_t> ContentReport::getValues(const Point &point) const {
  std::map<Term, int64_t> found;
  for (const auto &[name, value] : point)
    if (std::optional<Term> term = space.find(name))
      found[*term] = value;
  return found;
}

std::string ContentReport::list(const Point &point, bool sizes) const {
  std::string text;
  for (const auto &[name, value] : point) {
    std::optional<Term> term = space.find(name);
    if (!term || (space.kind(*term) == cov::TermKind::Symbol) != sizes ||
        space.kind(*term) == cov::TermKind::Coordinate)
      continue;
    auto words = coverage.indices.names.find(*term);
    text += (text.empty() ? "" : ", ") +
            (words == coverage.indices.names.end() ? name : words->second) +
            " = " + std::to_string(value);
  }
  return text;
}

std::string ContentReport::getSizes() const {
  std::string sizes = list(finding.point, true);
  return sizes.empty() ? "" : "with " + sizes + ", ";
}

static std::string nameMemory(Value buffer) {
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    return "argument #" + std::to_string(argument.getArgNumber());
  return "the slot";
}

std::string
ContentReport::getIndices(ArrayRef<std::optional<int64_t>> found) const {
  std::string text;
  for (auto [number, dim] : llvm::enumerate(content.dims)) {
    if (number >= found.size())
      break;
    text += (text.empty() ? "index " : ", ") +
            (found[number] ? std::to_string(*found[number]) : "?") +
            " of dimension " + std::to_string(dim);
    if (number < content.buffers.size())
      text += " of " + nameMemory(content.buffers[number]);
  }
  return content.buffers.empty()
             ? text + " of " + nameMemory(content.part.buffer)
             : text;
}

std::vector<std::optional<int64_t>> ContentReport::getCoordinates() const {
  std::vector<std::optional<int64_t>> found;
  if (finding.property == cov::Property::Cover || finding.writer < 0) {
    for (Term coordinate : content.stage->coordinates)
      if (auto it = values.find(coordinate); it != values.end())
        found.push_back(it->second);
      else
        found.push_back(std::nullopt);
  } else {
    for (const Expr &index : content.stage->writers[finding.writer].map)
      found.push_back(space.evaluate(index, values));
  }
  return found;
}

std::string ContentReport::getPlace() const {
  std::vector<std::optional<int64_t>> found = getCoordinates();
  if (content.part.kind != CoveragePart::Slot)
    return getIndices(found);
  std::string text;
  for (std::optional<int64_t> value : found)
    text += (text.empty() ? "" : ", ") +
            (value ? std::to_string(*value) : std::string("?"));
  return "element [" + text + "]";
}

/// Where what the writers count is counted.
void ContentReport::noteLoops(InFlightDiagnostic &diag) const {
  std::set<Operation *> seen;
  for (const cov::Writer &writer : content.stage->writers)
    for (Term id : writer.ids)
      if (auto owner = coverage.indices.owners.find(id);
          owner != coverage.indices.owners.end() &&
          isa<scf::ForOp, TilesOp>(owner->second) &&
          seen.insert(owner->second).second)
        diag.attachNote(owner->second->getLoc())
            << "its steps are counted here";
}

void ContentReport::printTerms(InFlightDiagnostic &diag) {
  std::string operand = ("the " + content.part.verb).str();
  size_t writer = finding.writer < 0 ? 0 : finding.writer;
  if (finding.property == cov::Property::Cover) {
    diag << "loses terms of a sum: " << getSizes() << getPlace()
         << " is multiplied in no step";
  } else {
    diag << "adds a term to a sum twice: " << getSizes() << getPlace()
         << " comes where " << list(finding.point, false) << " and where "
         << list(finding.otherPoint, false);
    if (finding.otherWriter >= 0 && finding.otherWriter != finding.writer)
      diag.attachNote(content.part.ops[finding.otherWriter]->getLoc())
          << "the second time it comes from here";
  }
  if (content.part.notes[writer] != content.part.ops[writer])
    diag.attachNote(content.part.notes[writer]->getLoc())
        << "it is " << operand << " of this multiply";
  noteLoops(diag);
}

void ContentReport::printPairing(InFlightDiagnostic &diag) {
  diag << "multiplies what does not belong together: " << getSizes()
       << "its operands are at different places of the sum";
  // The difference of the two indices was claimed to be zero.
  int64_t largest = 0;
  for (const cov::Constraint &constraint : content.claim->conclusions)
    if (std::optional<int64_t> value = space.evaluate(constraint.expr, values))
      if (std::abs(*value) > std::abs(largest))
        largest = *value;
  if (largest)
    diag << ", " << std::abs(largest) << " apart";
  if (std::string where = list(finding.point, false); !where.empty())
    diag << ", where " << where;
  for (Operation *copy : content.part.notes)
    if (copy != content.part.ops.front())
      diag.attachNote(copy->getLoc()) << "one of them comes from here";
}

void ContentReport::printBand(InFlightDiagnostic &diag) {
  diag << "loses terms of a sum: " << getSizes()
       << "an element needs one that its tile does not visit, where "
       << list(finding.point, false);
  for (Operation *loop : content.part.notes)
    diag.attachNote(loop->getLoc()) << "the terms are visited here";
}

void ContentReport::printSlot(InFlightDiagnostic &diag) {
  if (finding.property == cov::Property::Cover)
    diag << "reads what nobody has written: " << getSizes() << getPlace()
         << " of the slot is written by no team";
  else
    diag << "reads what was written twice: " << getSizes() << getPlace()
         << " of the slot is written where " << list(finding.point, false)
         << " and where " << list(finding.otherPoint, false);
  for (Operation *store : content.part.notes)
    diag.attachNote(store->getLoc()) << "it is written here";
}

/// What is missing in the value, whatever is multiplied.
void ContentReport::printValues(InFlightDiagnostic &diag) {
  std::vector<std::optional<int64_t>> found = getCoordinates();
  std::string at;
  for (auto [number, dim] : llvm::enumerate(content.elementDims))
    if (std::optional<int64_t> index = found[content.dims.size() + number])
      at += (at.empty() ? " at index " : ", ") + std::to_string(*index) +
            " of dimension " + std::to_string(dim);
  if (!at.empty())
    at += " of " + nameMemory(content.part.buffer);
  if (finding.property == cov::Property::Cover)
    diag << "loses terms of a sum: " << getSizes() << getPlace()
         << " is in no step of the sum that is stored" << at;
  else
    diag << "adds a term to a sum twice: " << getSizes() << getPlace()
         << " is in the sum that is stored" << at << " where "
         << list(finding.point, false) << " and where "
         << list(finding.otherPoint, false);
}

void ContentReport::print(InFlightDiagnostic &diag) {
  if (content.part.kind == CoveragePart::Values)
    return printValues(diag);
  if (content.part.kind == CoveragePart::Terms)
    return printTerms(diag);
  if (content.part.kind == CoveragePart::Pairing)
    return printPairing(diag);
  if (content.part.kind == CoveragePart::Band)
    return printBand(diag);
  printSlot(diag);
}

void mlir::tracea::reportContent(const KernelCoverage &coverage,
                                 const ContentClaim &content,
                                 const cov::Finding &finding,
                                 InFlightDiagnostic &diag) {
  ContentReport(coverage, content, finding).print(diag);
}
