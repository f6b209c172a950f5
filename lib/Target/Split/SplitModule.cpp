//===- SplitModule.cpp - Parts that threads compile -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Target/Split/SplitModule.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::tracea;

static bool isVisible(LLVM::Linkage linkage) {
  return linkage != LLVM::Linkage::Internal &&
         linkage != LLVM::Linkage::Private;
}

/// Whether the operation defines what others may find by its name.
static bool isVisibleOutside(Operation *op) {
  if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op))
    return !function.isExternal() && isVisible(function.getLinkage());
  if (auto global = dyn_cast<LLVM::GlobalOp>(op))
    return (global.getValueOrNull() || global.getInitializerBlock()) &&
           isVisible(global.getLinkage());
  return false;
}

namespace {
/// What the symbols of a module use.
class Uses {
public:
  explicit Uses(ModuleOp module) : table(module) {}

  /// Adds to `needed` what `op`, and what that, uses. Fails where the uses are
  /// not known, or one is of what is visible outside.
  LogicalResult collect(Operation *op, SetVector<Operation *> &needed) {
    SmallVector<Operation *> open = {op};
    while (!open.empty()) {
      std::optional<SymbolTable::UseRange> uses =
          SymbolTable::getSymbolUses(open.pop_back_val());
      if (!uses)
        return failure();
      for (const SymbolTable::SymbolUse &use : *uses) {
        Operation *used =
            table.lookup(use.getSymbolRef().getRootReference().getValue());
        if (!used)
          continue;
        if (isVisibleOutside(used))
          return failure();
        if (needed.insert(used))
          open.push_back(used);
      }
    }
    return success();
  }

private:
  SymbolTable table;
};
} // namespace

std::vector<OwningOpRef<ModuleOp>>
mlir::tracea::splitModule(ModuleOp module, size_t functionsInPart) {
  // What no function uses, such as a text that the caller reads, goes with the
  // first of them.
  SmallVector<Operation *> roots, others;
  for (Operation &op : *module.getBody())
    if (isVisibleOutside(&op))
      (isa<LLVM::LLVMFuncOp>(op) ? roots : others).push_back(&op);
  size_t numParts = std::max<size_t>(roots.size() / functionsInPart, 1);
  std::vector<OwningOpRef<ModuleOp>> parts;
  if (numParts == 1) {
    parts.emplace_back(module.clone());
    return parts;
  }
  Uses uses(module);
  for (size_t part = 0; part < numParts; ++part) {
    size_t begin = roots.size() * part / numParts;
    size_t end = roots.size() * (part + 1) / numParts;
    SmallVector<Operation *> defined(ArrayRef(roots).slice(begin, end - begin));
    if (part == 0)
      defined.append(others);
    SetVector<Operation *> needed(defined.begin(), defined.end());
    for (Operation *op : defined)
      if (failed(uses.collect(op, needed))) {
        parts.clear();
        parts.emplace_back(module.clone());
        return parts;
      }
    auto copy = ModuleOp::create(module.getLoc(), module.getSymName());
    copy->setAttrs(module->getAttrs());
    for (Operation &op : *module.getBody())
      if (!isa<SymbolOpInterface>(op) || needed.contains(&op))
        copy.push_back(op.clone());
    parts.emplace_back(copy);
  }
  return parts;
}
