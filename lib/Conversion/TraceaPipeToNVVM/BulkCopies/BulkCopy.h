//===- BulkCopy.h - Copies that the copy unit does in bulk ------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The unit copies boxes between a tensor in global memory, which a tensor map
// describes, and dense boxes in shared memory, whose rows it swizzles.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_BULKCOPIES_BULKCOPY_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_BULKCOPIES_BULKCOPY_H

#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea_pipe {

/// The largest step between neighbours in a box.
constexpr int64_t kMostStep = 8;

/// What the launcher needs to make a tensor map. Dimensions go from the
/// contiguous one outwards.
struct TensorMapRecipe {
  /// Argument of the kernel, and the types of its elements in memory.
  int64_t argument = 0;
  Type elementType;
  /// The dimension of the argument that each dimension of the map is.
  SmallVector<int64_t> dims;
  /// Elements of a box; in im2col mode channels and pixels.
  SmallVector<int64_t> box;
  /// How far neighbours in a box are apart in memory, by dimension; none for
  /// ones.
  SmallVector<int64_t> steps;
  /// Where pixels begin and end in im2col mode, by dimension of the image.
  SmallVector<int64_t> lower, upper;
  /// Bytes of a row that is swizzled, 0 without.
  int64_t swizzle = 0;
  /// Elements of 32 bits are rounded to what the matrix unit multiplies.
  bool roundToTF32 = false;
  /// Something is written through it.
  bool isWritten = false;

  int64_t getStep(unsigned dim) const { return steps.empty() ? 1 : steps[dim]; }
  /// Ones along all dimensions are no steps.
  void simplifySteps();
  bool operator==(const TensorMapRecipe &other) const;
  TensorMapAttr getAttr() const;
};

/// One operation as boxes.
struct BulkCopy {
  unsigned tensorMap = 0;
  struct Box {
    /// Bytes from the beginning of the staged tile.
    int64_t offset = 0;
    /// What is added to the coordinates, in the map's order.
    SmallVector<int64_t> coordinates;
  };
  SmallVector<Box> boxes;
  int64_t bytes = 0;
  /// Where it is follows from numbers in memory, whatever these are.
  bool dependsOnMemory = false;
  /// Limits of a copy out that may end before the memory does, where the unit
  /// does not clip: it copies tiles that they do not cut.
  SmallVector<unsigned> wholeLimits;
};

/// Finds the dimensions, steps and corners of the tensor map along which the
/// unit does a copy whose tile walks, in im2col mode. False, and a reason,
/// where it does not go as the copy does.
bool matchWalk(CopyOp op, TensorMapRecipe &recipe, std::string &reason);

/// How the unit does a copy or copy_out, with the recipe of its tensor map.
/// Nothing, and a reason, where it cannot.
std::optional<BulkCopy> planBulkCopy(CopyOp op, TensorMapRecipe &recipe,
                                     std::string &reason);
std::optional<BulkCopy> planBulkCopy(CopyOutOp op, TensorMapRecipe &recipe,
                                     std::string &reason);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_BULKCOPIES_BULKCOPY_H
