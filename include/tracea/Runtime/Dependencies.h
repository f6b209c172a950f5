//===- Dependencies.h - Which steps wait for which --------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps that touch the same buffer have an order where one of them writes it.
// The compiler writes that order into the manifest, loading a program compares
// it with what steps say of their buffers, and a run on several streams keeps
// it: all three by the rules here.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_DEPENDENCIES_H
#define TRACEA_RUNTIME_DEPENDENCIES_H

#include "tracea/Runtime/Manifest.h"

namespace tracea::runtime {

/// That a step has to end before a later one begins, and for which buffer.
struct Dependency {
  int64_t step = 0;
  int64_t buffer = 0;
};

/// A temp buffer that a step uses.
struct BufferUse {
  int64_t buffer = 0;
  bool isWritten = false;
};

/// The temp buffers of a step, each once, by number. All others are only read.
/// References to buffers that are not there are left out: `validate` names
/// them.
std::vector<BufferUse> getBufferUses(const EntrySpec &entry,
                                     const StepSpec &step);

/// For each step the earlier ones that it must come after, by number: a reader
/// after the last writer of a buffer, a writer after all readers since then,
/// or after the last writer where there are none. What begins with zeros is
/// written when it is first used. With steps in between, two that touch a
/// buffer are thus ordered as well. Takes time in proportion to the arguments.
std::vector<std::vector<Dependency>> findDependencies(const EntrySpec &entry);

/// Sets what each step comes after to what `findDependencies` finds.
void addDependencies(EntrySpec &entry);

/// The same of an entry that does not say what its launches write: all temp
/// buffers among their arguments.
void assumeDependencies(EntrySpec &entry);

/// For each step how many steps the longest path from it to the end of the
/// entry has, itself among them. What is done once for constants is none. The
/// entry must have passed `validate`.
std::vector<int64_t> findLongestPaths(const EntrySpec &entry);

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_DEPENDENCIES_H
