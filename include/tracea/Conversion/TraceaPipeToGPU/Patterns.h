//===- Patterns.h - What all GPUs lower alike -------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Patterns that a vendor's conversion adds to its own. Where both know an
// operation, the vendor's has the larger benefit.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_CONVERSION_TRACEAPIPETOGPU_PATTERNS_H
#define TRACEA_CONVERSION_TRACEAPIPETOGPU_PATTERNS_H

#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"

namespace mlir::tracea_pipe {

/// `copy` and `copy_out` of any form, which all others come before.
void populateElementCopyPatterns(const TypeConverter &converter,
                                 RewritePatternSet &patterns,
                                 KernelContext &context);
/// `copy` into rings of one team, by rows, and by columns.
void populateLaneCopyPatterns(const TypeConverter &converter,
                              RewritePatternSet &patterns,
                              KernelContext &context);
void populateTransposedCopyPatterns(const TypeConverter &converter,
                                    RewritePatternSet &patterns,
                                    KernelContext &context);
/// Walks that keep coordinates in shared memory.
void populateWalkPatterns(const TypeConverter &converter,
                          RewritePatternSet &patterns, KernelContext &context);
/// `copy_out` that no unit does.
void populateLaneStorePatterns(const TypeConverter &converter,
                               RewritePatternSet &patterns,
                               KernelContext &context);
/// `mma` of what each lane holds itself.
void populateLaneMultiplyPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns,
                                  KernelContext &context);
/// Accesses to the memory through which values pass between warps.
void populateExchangeMemoryPatterns(const TypeConverter &converter,
                                    RewritePatternSet &patterns,
                                    KernelContext &context);
/// Every other `mma`, of fragments of the target's matrix instructions.
void populateFragmentMultiplyPatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns,
                                      KernelContext &context);
/// Numbers of lanes and warps, meetings, shuffles, the order of tiles.
void populatePlacePatterns(const TypeConverter &converter,
                           RewritePatternSet &patterns, KernelContext &context);
/// Slices of tiles, and casts between tiles and vectors.
void populateTilePatterns(const TypeConverter &converter,
                          RewritePatternSet &patterns, KernelContext &context);
/// The argument that memory is, or is a view of; else null.
const GlobalBuffer *findArgument(Value memory, const KernelContext &context);
/// Loops over lanes, and accesses to single elements of arguments.
void populateLaneLoopPatterns(const TypeConverter &converter,
                              RewritePatternSet &patterns,
                              KernelContext &context);
/// Rings whose lanes fill and read them: acquire, commit, wait, release.
void populateLocalRingPatterns(const TypeConverter &converter,
                               RewritePatternSet &patterns,
                               KernelContext &context);
/// Declarations of rings, their phases, scratch tiles, views and reshapes.
void populateRingPatterns(const TypeConverter &converter,
                          RewritePatternSet &patterns, KernelContext &context);
/// The walk over groups of rows whose ends are data.
void populateRaggedTilePatterns(const TypeConverter &converter,
                                RewritePatternSet &patterns,
                                KernelContext &context);
/// Numbers that memory holds while the kernel runs.
void populateReadPatterns(const TypeConverter &converter,
                          RewritePatternSet &patterns, KernelContext &context);
/// `load` and `store` of register tiles; by words where rows begin anywhere.
void populateTileMemoryPatterns(const TypeConverter &converter,
                                RewritePatternSet &patterns,
                                KernelContext &context);
void populateShiftedLoadPatterns(const TypeConverter &converter,
                                 RewritePatternSet &patterns,
                                 KernelContext &context);

} // namespace mlir::tracea_pipe

#endif // TRACEA_CONVERSION_TRACEAPIPETOGPU_PATTERNS_H
