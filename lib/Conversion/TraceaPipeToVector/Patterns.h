//===- Patterns.h - Shared by the patterns of TraceaPipeToVector ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETOVECTOR_PATTERNS_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETOVECTOR_PATTERNS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"

namespace mlir::tracea_pipe {

/// Facts of the machine and of the kernels that the patterns need.
struct VectorLoweringContext {
  /// Bits of a vector register.
  int64_t vectorBits = 512;
  /// Whether fused multiply-add is an instruction.
  bool hasFma = true;
  /// What the module is compiled for; null where it does not say.
  tracea::TargetAttr target;
  /// Byte offset of every channel's and scratch's buffers in the workspace.
  DenseMap<Operation *, SmallVector<int64_t>> workspaceOffsets;
  /// Workspace bytes of each kernel.
  DenseMap<Operation *, int64_t> workspaceBytes;
  /// Stores to results that go past the caches, and what asks for their lines.
  DenseSet<Operation *> pastCaches;
  /// Copies that fell back to single elements.
  int64_t numScalarCopies = 0;
};

/// The vector that one register of a tile becomes.
VectorType getRegisterType(RankedTensorType tile);

/// The tile of a unit that one register of a tile becomes, where its lane map
/// is that of a tile unit.
std::optional<Type> getUnitRegisterType(const VectorLoweringContext &context,
                                        RankedTensorType tile);

/// The memory through which such a tile becomes vectors; null for others.
MemRefType getUnitTripType(const VectorLoweringContext &context,
                           RankedTensorType tile);

/// Makes the zeros of a unit's tiles where sums begin with them: a register
/// that holds zeros all along would have to be copied, which the unit cannot.
void sinkUnitZeros(KernelOp kernel);

/// Makes one loop of multiplies on a tile unit that stand side by side and go
/// through the same panel, whose tiles are loaded once for all of them.
void joinUnitLoops(KernelOp kernel);

/// Stores the tiles of a unit as they are where they become vectors for nothing
/// else.
void storeUnitTiles(KernelOp kernel, const VectorLoweringContext &context);

/// The bytes of the workspace from `offset` on as one typed buffer.
Value getWorkspaceBuffer(ImplicitLocOpBuilder &b, KernelOp kernel,
                         VectorLoweringContext &context, int64_t offset,
                         MemRefType type);

/// The type without the staged memory space.
MemRefType getPlainMemRef(MemRefType type);

/// Bytes of one buffer in the workspace, rounded up to cache lines, so that
/// every buffer of every slot begins on one.
int64_t getSlotBytes(MemRefType buffer);

/// `x + y` and `x * y` on indices, folded.
Value addIndex(ImplicitLocOpBuilder &b, Value x, int64_t y);
Value addIndex(ImplicitLocOpBuilder &b, Value x, Value y);
Value mulIndex(ImplicitLocOpBuilder &b, Value x, int64_t y);

/// Indices of the memory element for the tile coordinate `at`: indices + map.
SmallVector<Value> getElementIndices(ImplicitLocOpBuilder &b,
                                     ValueRange indices, AffineMap map,
                                     ArrayRef<int64_t> at);

/// The same of an element of a transfer, some of whose dimensions may walk.
SmallVector<Value> getElementIndices(ImplicitLocOpBuilder &b,
                                     const TileTransfer &transfer,
                                     ArrayRef<int64_t> at);

/// The coordinates of element `at` of a dimension that walks.
SmallVector<Value> getWalkCoordinates(ImplicitLocOpBuilder &b, Value walk,
                                      Value at);

/// Converts scalars or vectors between numeric element types.
Value convertElements(ImplicitLocOpBuilder &b, Value value, Type elementType);

/// A zero scalar or vector of `type`.
Value getZero(ImplicitLocOpBuilder &b, Type type);

/// Computes iterations side by side where loops say so.
void unrollAndJamLoops(Operation *root);

/// Shares the requests right before long multiplies among their steps.
void spreadRequests(Operation *root, tracea::TargetAttr target);

void populateMemoryPatterns(const TypeConverter &converter,
                            RewritePatternSet &patterns,
                            VectorLoweringContext &context);
void populateMmaPatterns(const TypeConverter &converter,
                         RewritePatternSet &patterns,
                         VectorLoweringContext &context);
void populateTileUnitPatterns(const TypeConverter &converter,
                              RewritePatternSet &patterns,
                              VectorLoweringContext &context);
void populateUnitStorePatterns(const TypeConverter &converter,
                               RewritePatternSet &patterns,
                               VectorLoweringContext &context);
void populateElementwisePatterns(const TypeConverter &converter,
                                 RewritePatternSet &patterns,
                                 VectorLoweringContext &context);
void populateCopyPatterns(const TypeConverter &converter,
                          RewritePatternSet &patterns,
                          VectorLoweringContext &context);
void populateChannelPatterns(const TypeConverter &converter,
                             RewritePatternSet &patterns,
                             VectorLoweringContext &context);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETOVECTOR_PATTERNS_H
