//===- Fragments.h - Matrix instructions of a subgroup ----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matrix instruction multiplies fragments: what each lane holds of an operand
// is a lane map of the algebra. How products of tiles become instructions is
// decided once; a target names its instructions and writes one.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_CONVERSION_TRACEAPIPETOGPU_FRAGMENTS_H
#define TRACEA_CONVERSION_TRACEAPIPETOGPU_FRAGMENTS_H

#include "tracea/Algebra/LaneMap.h"
#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"

namespace mlir::tracea_pipe {

/// D += A · B of fragments in registers, by the lanes of one subgroup together.
class MatrixInstruction {
public:
  using LaneMap = ::tracea::algebra::LaneMap;

  /// The lane maps are those of A (m, k), B (k, n) and D (m, n).
  MatrixInstruction(StringRef name, LaneMap lhs, LaneMap rhs, LaneMap acc)
      : name(name), lhs(std::move(lhs)), rhs(std::move(rhs)),
        acc(std::move(acc)) {}
  virtual ~MatrixInstruction();

  int64_t getDepth() const { return lhs.tileShape()[1]; }

  /// What one lane holds of both operands, as the instruction takes it. Where a
  /// product is a sum of several, one pair for each, in their order.
  virtual SmallVector<std::pair<Value, Value>> prepare(Emitter &b, Value lhs,
                                                       Value rhs) const {
    return {{lhs, rhs}};
  }
  /// The sums of one fragment of D after one instruction. `lhs` and `rhs` are
  /// what prepare gave; their fragments begin at those registers of the tiles.
  virtual SmallVector<Value> multiply(Emitter &b, Value lhs, int64_t lhsFirst,
                                      Value rhs, int64_t rhsFirst,
                                      ValueRange sums) const = 0;

  /// As messages name it: m16n8k16.
  const std::string name;
  const LaneMap lhs, rhs, acc;
};

/// Whether register `first + i` of `lanes` is register i of `fragment`, moved
/// by `origin`, for each lane, and for each warp of a fragment of several.
bool isFragment(LanesAttr lanes, int64_t first,
                const ::tracea::algebra::LaneMap &fragment,
                ArrayRef<int64_t> origin);

} // namespace mlir::tracea_pipe

#endif // TRACEA_CONVERSION_TRACEAPIPETOGPU_FRAGMENTS_H
