//===- SplitModule.cpp - Parts that threads compile -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Target/Split/SplitModule.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::tracea;

static bool isVisibleOutside(LLVM::LLVMFuncOp function) {
  return !function.isExternal() &&
         function.getLinkage() != LLVM::Linkage::Internal &&
         function.getLinkage() != LLVM::Linkage::Private;
}

namespace {
/// What the symbols of a module use.
class Uses {
public:
  explicit Uses(ModuleOp module) : table(module) {}

  /// Adds to `needed` what `op`, and what that, uses. Fails where the uses are
  /// not known, or one is of a function that is visible outside.
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
        auto function = dyn_cast<LLVM::LLVMFuncOp>(used);
        if (function && isVisibleOutside(function))
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
  SmallVector<LLVM::LLVMFuncOp> roots;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (isVisibleOutside(function))
      roots.push_back(function);
  size_t numParts = std::max<size_t>(roots.size() / functionsInPart, 1);
  std::vector<OwningOpRef<ModuleOp>> parts;
  if (numParts == 1) {
    parts.emplace_back(module.clone());
    return parts;
  }
  Uses uses(module);
  for (size_t part = 0; part < numParts; ++part) {
    SetVector<Operation *> needed;
    for (size_t i = roots.size() * part / numParts,
                e = roots.size() * (part + 1) / numParts;
         i < e; ++i) {
      needed.insert(roots[i]);
      if (failed(uses.collect(roots[i], needed))) {
        parts.clear();
        parts.emplace_back(module.clone());
        return parts;
      }
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
