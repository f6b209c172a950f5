//===- SharedAccess.h - Which bytes of shared memory an operation touches -===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_ANALYSIS_TARGETPROTOCOL_SHAREDACCESS_H
#define TRACEA_ANALYSIS_TARGETPROTOCOL_SHAREDACCESS_H

#include "tracea/Analysis/TargetProtocol/Values.h"

namespace mlir::tracea {

/// Bytes [address, address + length), for lanes together.
struct Footprint {
  Linear address;
  /// -1: unknown.
  int64_t length = -1;
  std::string reason;
};

/// `length` bytes at each lane's address.
/// `active` says which threads of the role touch it.
Footprint getLaneFootprint(Value address, int64_t length, ValueSymbols &values,
                           const std::vector<bool> &active);

/// Whether an address is one of shared memory.
bool isShared(const Linear &address);
/// Drops the base of shared memory from an address.
Linear getOffset(const Linear &address);

} // namespace mlir::tracea

#endif // TRACEA_ANALYSIS_TARGETPROTOCOL_SHAREDACCESS_H
