//===- Remarks.cpp - What passes said, collected --------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Compiler/Remarks.h"

#include "mlir/IR/Remarks.h"

#include <numeric>

using namespace mlir;
using namespace ::tracea::compiler;

namespace tracea::compiler {
Place getPlace(Location loc) {
  Place place;
  loc->walk([&](Location inner) {
    if (FileLineColLoc file = dyn_cast<FileLineColLoc>(inner)) {
      place = {file.getFilename().str(), file.getLine(), file.getColumn()};
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return place;
}
} // namespace tracea::compiler

class RemarkCollector::Streamer
    : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit Streamer(RemarkCollector &collector) : collector(collector) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    std::lock_guard<std::mutex> lock(collector.mutex);
    if (!collector.isCollecting)
      return;
    Remark note;
    note.place = getPlace(remark.getLocation());
    note.kind = remark.getRemarkTypeString().lower();
    note.category = remark.getCombinedCategoryName().str();
    note.name = remark.getRemarkName().str();
    llvm::ListSeparator separator("; ");
    for (const remark::detail::Remark::Arg &arg : remark.getArgs()) {
      note.text += StringRef(separator).str();
      if (arg.key != "Remark" && arg.key != "Reason")
        note.text += arg.key + " = ";
      note.text += arg.val;
    }
    collector.remarks.push_back(std::move(note));
  }

private:
  RemarkCollector &collector;
};

LogicalResult RemarkCollector::attach(MLIRContext &context) {
  remark::RemarkCategories categories;
  categories.passed = categories.missed = ".*";
  categories.failed = categories.analysis = ".*";
  return remark::enableOptimizationRemarks(
      context, std::make_unique<Streamer>(*this),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
}

void RemarkCollector::start() {
  std::lock_guard<std::mutex> lock(mutex);
  isCollecting = true;
  remarks.clear();
}

std::vector<Remark> RemarkCollector::finish() {
  std::lock_guard<std::mutex> lock(mutex);
  isCollecting = false;
  std::vector<size_t> order(remarks.size());
  std::iota(order.begin(), order.end(), size_t(0));
  llvm::sort(order, [&](size_t a, size_t b) {
    const Place &first = remarks[a].place, &second = remarks[b].place;
    return std::tie(first.line, first.column, a) <
           std::tie(second.line, second.column, b);
  });
  auto isSame = [](const Remark &a, const Remark &b) {
    return a.place.file == b.place.file && a.place.line == b.place.line &&
           a.place.column == b.place.column && a.name == b.name &&
           a.text == b.text;
  };
  std::vector<Remark> sorted;
  for (size_t i : order) // passes that run twice repeat themselves
    if (sorted.empty() || !isSame(sorted.back(), remarks[i]))
      sorted.push_back(std::move(remarks[i]));
  remarks.clear();
  return sorted;
}
