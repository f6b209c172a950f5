//===- TraceaPipeToGPU.h - Register tiles as values of threads --*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A register tile becomes the vector of what one lane holds, and operations on
// tiles become arithmetic on it, shuffles, and trips through the workgroup's
// memory: the first of the two steps from tiles to a GPU. The second, memory
// and rings, has its interface in Target.h and Patterns.h.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_CONVERSION_TRACEAPIPETOGPU_TRACEAPIPETOGPU_H
#define TRACEA_CONVERSION_TRACEAPIPETOGPU_TRACEAPIPETOGPU_H

#include "mlir/Transforms/DialectConversion.h"
#include "tracea/Algebra/Banks.h"
#include "tracea/Algebra/LaneMap.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Dialect/TraceaPipe/Utils/LaneMaps.h"

namespace mlir::tracea_pipe {

/// What the patterns know of the machine and of the code around them, and what
/// they count.
struct GPULoweringContext {
  /// Banks, and the lanes of a subgroup.
  ::tracea::algebra::BankModel banks;
  /// How memrefs are aligned that nothing else is known of; 1: as an element.
  int64_t baseAlignment = 1;
  /// The memory of exchanges for each gpu.func, grid or role that needs one:
  /// see planExchanges.
  DenseMap<Operation *, Value> exchangeBuffers;
  /// Where in it the part begins that a reduction has to itself, and its bytes.
  /// Nobody has used it before.
  DenseMap<Operation *, std::pair<int64_t, int64_t>> ownExchanges;
  /// Whether the memory of a kernel's exchanges stays staged memory, which the
  /// second step lowers, or is cast to the gpu dialect's.
  bool keepsStagedMemory = false;

  int64_t numShuffles = 0, numSelects = 0, numExchanges = 0;

  int64_t getSubgroupSize() const { return banks.numLanes(); }
};

/// A register tile becomes a vector with an element for each register, in the
/// order of LanesAttr::getCoordinate.
void addRegisterTileConversion(TypeConverter &converter);

/// Bytes of workgroup memory that one team needs to carry out `op`, 0 for none.
/// Fails, with a reason, on what cannot be lowered.
FailureOr<int64_t> getExchangeBytes(Operation *op,
                                    const GPULoweringContext &context,
                                    std::string &reason);

/// Gives every function, grid and role below `root` the memory that its
/// exchanges need: a workgroup attribution of a gpu.func, a scratch tile of a
/// kernel. Fails with an error on operations that cannot have any.
LogicalResult planExchanges(Operation *root, GPULoweringContext &context);

/// The first step of a vendor's conversion: arithmetic on tiles, constants,
/// relayouts, reductions and what else needs no memory but that of exchanges,
/// which it plans. Operations for which `isKept` holds stay.
LogicalResult convertTileArithmetic(Operation *root,
                                    GPULoweringContext &context,
                                    function_ref<bool(Operation *)> isKept);

/// The same without a vendor, and `load` and `store` become accesses to
/// memrefs. Operations on tiles that no pattern knows stay.
LogicalResult convertRegisterTiles(Operation *root,
                                   GPULoweringContext &context);

} // namespace mlir::tracea_pipe

#endif // TRACEA_CONVERSION_TRACEAPIPETOGPU_TRACEAPIPETOGPU_H
