//===- Constants.h - What depends on constants alone ------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs that an entry takes for constant, and the constants of the program,
// stay between runs, and so does what steps compute of nothing else: buffers
// whose contents are constant. The compiler marks them, loading a program
// checks the marks, and an Execution does such steps once: all three by the
// rules here.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_CONSTANTS_H
#define TRACEA_RUNTIME_CONSTANTS_H

#include "tracea/Runtime/Manifest.h"

namespace tracea::runtime {

/// Marks the temp buffers whose contents no run changes: of a size that follows
/// from constants, and written by steps that use nothing but constants and each
/// other, before any other step reads them. Marks that there are already are
/// kept.
void markConstants(EntrySpec &entry);

/// By step, whether it writes buffers whose contents are constant. It is done
/// once, before all runs.
std::vector<char> findConstantSteps(const EntrySpec &entry);

/// A constant buffer whose contents, or size, follow from something else.
struct ConstantError {
  /// The step that writes it; -1 where it is the size.
  int64_t step = -1;
  int64_t buffer = 0;
  /// "the scalar of argument 2", say; empty where there is no error.
  std::string takes;
};
ConstantError findConstantError(const EntrySpec &entry);

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_CONSTANTS_H
