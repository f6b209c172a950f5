//===- TraceaAttributes.cpp - Verification of attributes ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"

using namespace mlir;
using namespace mlir::tracea;

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   StringRef variant, MatrixUnit unit,
                                   ArrayRef<int64_t> tile,
                                   ArrayRef<int64_t> registers, int64_t slots,
                                   int64_t producers, int64_t consumers,
                                   int64_t group, int64_t split,
                                   int64_t residents, int64_t cluster,
                                   int64_t lines, int64_t turns) {
  if (variant.empty())
    return emitError() << "expected a schedule to name a variant, found \"\"";
  for (int64_t extent : tile)
    if (extent < 1)
      return emitError() << "expected extents of 'tile' of at least 1, found "
                         << extent;
  for (int64_t extent : registers)
    if (extent < 1)
      return emitError()
             << "expected extents of 'registers' of at least 1, found "
             << extent;
  if (slots < 1)
    return emitError() << "expected 'slots' of at least 1, found " << slots;
  if (producers < 0 || consumers < 0 || (producers == 0) != (consumers == 0))
    return emitError() << "expected 'producers' and 'consumers' both 0 or both "
                          "positive, found "
                       << producers << " and " << consumers;
  if (group < 0)
    return emitError() << "expected 'group' of at least 0, found " << group;
  if (split < 1)
    return emitError() << "expected 'split' of at least 1, found " << split;
  if (residents < 1 || residents > 32)
    return emitError() << "expected 'residents' of 1 to 32, found "
                       << residents;
  if (cluster < 1 || cluster > 16 || !llvm::isPowerOf2_64(cluster))
    return emitError() << "expected a 'cluster' of 1, 2, 4, 8 or 16, found "
                       << cluster;
  if (cluster > 1 && cluster != split)
    return emitError() << "expected a 'cluster' of one workgroup for each of "
                          "the "
                       << split << " parts of 'split', found " << cluster;
  if (lines < 0 || lines > 3)
    return emitError() << "expected 'lines' of 0 to 3, found " << lines;
  if (turns < 1 || turns > 2)
    return emitError() << "expected 'turns' of 1 or 2, found " << turns;
  return success();
}
