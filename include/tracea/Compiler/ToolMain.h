//===- ToolMain.h - What every tool does first ------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_COMPILER_TOOLMAIN_H
#define TRACEA_COMPILER_TOOLMAIN_H

namespace llvm {
class ToolOutputFile;
} // namespace llvm

namespace tracea::compiler {

/// Runs the body of a tool, and returns its exit code, so that
/// - a standard stream that was closed when the tool began is an error where it
///   is used, and is never mistaken for a file that the tool opens;
/// - a pipe that nobody reads any more is an error of the write, not a signal;
/// - all threads have stacks for what the compiler's recursive parts need.
int runTool(int argc, char **argv, int (*body)(int argc, char **argv));

/// Keeps the output when all of it was written. Returns the tool's exit code:
/// 1, with a message, where something was lost.
int finishOutput(llvm::ToolOutputFile &output);

} // namespace tracea::compiler

#endif // TRACEA_COMPILER_TOOLMAIN_H
