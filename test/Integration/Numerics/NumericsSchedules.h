//===- NumericsSchedules.h - Schedules by chance ----------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSSCHEDULES_H
#define TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSSCHEDULES_H

#include "Numerics.h"

#include "mlir/IR/BuiltinOps.h"

namespace tracea::numerics {

/// Gives each operation of a module at the decision level that `variant` can
/// serve one of the variant's plans, which `random` chooses: the Doctor would
/// take the cheapest one, of the cheapest variant. The number of operations
/// that have one now; a given schedule does not give way to another.
int giveSchedules(mlir::ModuleOp module, std::string_view variant,
                  Random &random);

/// Digits of the sums of a module at the decision level, the fewest that the
/// units of its schedules and of those beside them have; 0: the accumulators'.
int getSumDigits(mlir::ModuleOp module);

/// Whether an attention of a module at the decision level may run by a CPU's
/// dot products, which take weights in the type of values.
bool roundsWeights(mlir::ModuleOp module);

/// Whether the compiler has a variant of this name.
bool hasVariant(std::string_view variant);

} // namespace tracea::numerics

#endif // TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSSCHEDULES_H
