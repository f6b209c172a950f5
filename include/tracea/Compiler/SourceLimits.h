//===- SourceLimits.h - What text of a module may ask for -------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's parser, printer and rewriters recurse over brackets, over the terms of
// affine expressions and over aliases that name one another. All tools read
// modules through these limits, so that no text runs them out of stack.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_COMPILER_SOURCELIMITS_H
#define TRACEA_COMPILER_SOURCELIMITS_H

#include "tracea/Runtime/Status.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace llvm {
class MemoryBuffer;
} // namespace llvm

namespace tracea::compiler {

/// Bytes of a module's file, as text or bytecode.
inline constexpr uint64_t maxModuleBytes = uint64_t(4) << 30;

/// How deep a module may nest: brackets, and within parentheses and square
/// brackets the operators of one affine expression, counted along one path.
/// An alias counts for what it stands for.
inline constexpr unsigned mostNesting = 500;

/// Whether these are the first bytes of MLIR's bytecode.
bool isBytecode(std::string_view bytes);

/// Where a text goes deeper than it may, and what to say of it.
struct DeepNesting {
  unsigned line = 1;
  unsigned column = 1;
  std::string message;
};

/// The first place where `text` nests deeper than `mostNesting`. Of bytecode
/// this looks at the text in it; the column counts its bytes. Where
/// `splitMarker` is not empty the text is several modules, each of which counts
/// by itself.
std::optional<DeepNesting> findDeepNesting(std::string_view text,
                                           std::string_view splitMarker = "");

/// A module's file, or with "-" the standard input: at most `maxModuleBytes`
/// and not too deep. Where `splitMarker` is not empty the text is several
/// modules, which such lines separate.
runtime::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readModuleText(const std::string &path, std::string_view splitMarker = "");

} // namespace tracea::compiler

#endif // TRACEA_COMPILER_SOURCELIMITS_H
