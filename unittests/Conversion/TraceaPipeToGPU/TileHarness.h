//===- TileHarness.h - Lowers operations on tiles and runs them -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_UNITTESTS_CONVERSION_TRACEAPIPETOGPU_TILEHARNESS_H
#define TRACEA_UNITTESTS_CONVERSION_TRACEAPIPETOGPU_TILEHARNESS_H

#include "Interpreter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tracea/Conversion/TraceaPipeToGPU/TraceaPipeToGPU.h"
#include <functional>
#include <random>

namespace mlir::tracea_pipe {

class TileHarness {
public:
  TileHarness();

  /// A function of one tile: `body` in terms of %x, a tile of `from`, giving
  /// %y, a tile of `to`. Null, with a failed expectation, if it does not parse
  /// or lower.
  OwningOpRef<ModuleOp> lower(LanesAttr from, const std::string &fromElement,
                              LanesAttr to, const std::string &toElement,
                              const std::string &body);
  /// The same for a module's text.
  OwningOpRef<ModuleOp> lower(const std::string &text);
  static gpu::GPUFuncOp getFunction(ModuleOp module);

  LanesAttr getLanes(const ::tracea::algebra::LaneMap &map);
  std::string getTileText(LanesAttr lanes, const std::string &element);

  /// The tile's values in the registers of each thread.
  static ThreadValues
  distribute(LanesAttr lanes, int64_t threads, int64_t subgroup,
             function_ref<uint64_t(ArrayRef<int64_t>)> valueAt);
  /// What is wrong with the registers of some thread, or nothing.
  static std::string compare(LanesAttr lanes, const ThreadValues &found,
                             int64_t subgroup,
                             function_ref<uint64_t(ArrayRef<int64_t>)> valueAt);

  MLIRContext context;
  GPULoweringContext lowering;
};

/// Distinct values for the elements of a tile of up to 2^16 elements, as far as
/// `bits` go; `salt` chooses other bits for narrow types.
uint64_t getElementId(ArrayRef<int64_t> at, ArrayRef<int64_t> shape,
                      unsigned bits, unsigned salt);

/// A random lane map over a tile of 2^`bits` elements times `outer`: unit
/// vectors or an arbitrary basis, over at most 5 lane and 2 warp bits, with
/// some replicas.
::tracea::algebra::LaneMap getRandomMap(std::mt19937_64 &random,
                                        std::vector<int64_t> linearShape,
                                        std::vector<int64_t> outer,
                                        unsigned warpBits);

} // namespace mlir::tracea_pipe

#endif // TRACEA_UNITTESTS_CONVERSION_TRACEAPIPETOGPU_TILEHARNESS_H
