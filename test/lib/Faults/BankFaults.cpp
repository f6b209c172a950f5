//===- BankFaults.cpp - Faults of layouts ---------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Faults.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace tracea::test {
namespace {

/// Another swizzle for all staged memory that registers are stored to.
bool replaceSwizzle(KernelOp kernel,
                    llvm::function_ref<StagedAttr(StagedAttr)> replace) {
  auto store = first<StoreOp>(kernel, [](StoreOp op) {
    return isa_and_nonnull<StagedAttr>(
        cast<MemRefType>(op.getDest().getType()).getMemorySpace());
  });
  if (!store)
    return false;
  auto old = cast<StagedAttr>(
      cast<MemRefType>(store.getDest().getType()).getMemorySpace());
  StagedAttr staged = replace(old);
  if (!staged || staged == old)
    return false;
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](StagedAttr attr) -> std::optional<Attribute> {
    return attr == old ? staged : attr;
  });
  replacer.recursivelyReplaceElementsIn(kernel, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  return true;
}

bool replaceTerms(KernelOp kernel, ArrayRef<int64_t> terms) {
  return replaceSwizzle(kernel, [&](StagedAttr old) {
    return StagedAttr::get(old.getContext(), terms, old.getPanel());
  });
}

/// The lane map of the tile that is stored to staged memory, changed.
bool replaceStoredLanes(KernelOp kernel,
                        llvm::function_ref<LanesAttr(LanesAttr)> replace) {
  auto store = first<StoreOp>(kernel, [](StoreOp op) {
    return isa_and_nonnull<StagedAttr>(
        cast<MemRefType>(op.getDest().getType()).getMemorySpace());
  });
  if (!store)
    return false;
  auto tile = cast<RankedTensorType>(store.getValue().getType());
  LanesAttr lanes = replace(getLanes(tile));
  if (!lanes)
    return false;
  OpBuilder builder(store);
  auto type =
      RankedTensorType::get(tile.getShape(), tile.getElementType(), lanes);
  store.getValueMutable().set(
      RelayoutOp::create(builder, store.getLoc(), type, store.getValue()));
  return true;
}

} // namespace

void addBankFaults(std::vector<Fault> &faults) {
  auto add = [&](const char *name, std::function<bool(KernelOp)> inject) {
    faults.push_back({name, "banks", std::move(inject)});
  };
  add("swizzle-missing",
      [](KernelOp kernel) { return replaceTerms(kernel, {}); });
  add("swizzle-of-two-bits",
      [](KernelOp kernel) { return replaceTerms(kernel, {4, 7, 5, 8}); });
  add("swizzle-bit-twice",
      [](KernelOp kernel) { return replaceTerms(kernel, {4, 7, 5, 8, 6, 8}); });
  add("swizzle-one-bit-too-low",
      [](KernelOp kernel) { return replaceTerms(kernel, {4, 6, 5, 7, 6, 8}); });
  add("swizzle-two-bits-too-high", [](KernelOp kernel) {
    return replaceTerms(kernel, {4, 9, 5, 10, 6, 11});
  });
  add("swizzle-of-words",
      [](KernelOp kernel) { return replaceTerms(kernel, {2, 7, 3, 8, 4, 9}); });
  add("panels-missing", [](KernelOp kernel) {
    return replaceSwizzle(kernel, [](StagedAttr old) {
      return old.getPanel()
                 ? StagedAttr::get(old.getContext(), old.getSwizzle(), 0)
                 : StagedAttr();
    });
  });
  add("lanes-and-registers-swapped", [](KernelOp kernel) {
    return replaceStoredLanes(kernel, [](LanesAttr lanes) {
      SmallVector<DenseI64ArrayAttr> reg(lanes.getReg()), lane(lanes.getLane());
      if (reg.size() < 2 || lane.empty())
        return LanesAttr();
      std::swap(reg.back(), lane.front());
      return LanesAttr::get(lanes.getContext(), reg, lane, lanes.getWarp(),
                            lanes.getOuter());
    });
  });
  add("lanes-and-warps-swapped", [](KernelOp kernel) {
    return replaceStoredLanes(kernel, [](LanesAttr lanes) {
      SmallVector<DenseI64ArrayAttr> lane(lanes.getLane()),
          warp(lanes.getWarp());
      if (lane.empty() || warp.empty())
        return LanesAttr();
      std::swap(lane.back(), warp.front());
      return LanesAttr::get(lanes.getContext(), lanes.getReg(), lane, warp,
                            lanes.getOuter());
    });
  });
}

} // namespace tracea::test
