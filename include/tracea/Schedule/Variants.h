//===- Variants.h - Variants from outside, and their families ---*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_SCHEDULE_VARIANTS_H
#define TRACEA_SCHEDULE_VARIANTS_H

#include "tracea/Schedule/Params.h"

namespace mlir::tracea::schedule {

/// Adds a variant to the table that says of which family schedules are; false,
/// and nothing added, where the name is taken. To be called before the first
/// schedule is read.
bool addVariant(std::string_view variant, const Params &fields);

} // namespace mlir::tracea::schedule

#endif // TRACEA_SCHEDULE_VARIANTS_H
