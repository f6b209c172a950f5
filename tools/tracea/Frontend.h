//===- Frontend.h - The compiler behind a door without MLIR -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver's subcommands use third-party headers that throw; the compiler is
// built without exceptions. This is all they see of it. Diagnostics go to
// stderr with the line they are about; functions then return nothing.

#ifndef TRACEA_TOOLS_TRACEA_FRONTEND_H
#define TRACEA_TOOLS_TRACEA_FRONTEND_H

#include "tracea/Algebra/LaneMap.h"
#include "tracea/Runtime/ProgramFile.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tracea::driver {

/// Where something stands in the source; line 0 is nowhere in particular.
struct SourcePlace {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
  /// "model.mlir:7:8", or "unknown location".
  std::string text() const;
};

/// What a pass said about a decision.
struct RemarkNote {
  SourcePlace place;
  /// "passed", "missed", "failed" or "analysis".
  std::string kind;
  std::string category;
  std::string name;
  std::string text;
};

/// A launch that an operation became.
struct LaunchNote {
  /// Of them the first one that can run is run.
  std::vector<std::string> kernels;
  /// Floating-point operations for each element of the tensor `argument`, and,
  /// where `sumDim` names a dimension of the first tensor, for each of its
  /// elements too; a multiply-add is two. 0 where unknown, and in launches that
  /// only prepare or finish what another one computes.
  double flopsPerElement = 0;
  size_t argument = 0;
  std::optional<size_t> sumDim;
};

/// An operation of the decision level.
struct OpDecision {
  SourcePlace place;
  /// "tracea.gemm"
  std::string op;
  std::string variant;
  /// The attribute as it is written in IR.
  std::string schedule;
  /// Empty where it is left to plain loops.
  std::vector<LaunchNote> launches;
};

struct CompileRequest {
  std::string target = "cpu";
  /// Empty: all public functions.
  std::string entry;
  bool reference = false;
  /// A kernel that lacks a certificate is an error.
  bool requireProof = false;
  /// Cycles that a phase of an access to banked memory may take.
  int bankCycles = 1;
  int threads = 0;
  /// Which operations become one: "none", "safe" or "all".
  std::string fuse = "safe";
  /// For GPUs: machine code as well as PTX, where there is an assembler.
  bool assemble = true;
};

/// The length that a reduction of unknown length counts as.
constexpr double assumedReduction = 4096;

/// A lane map of register tiles of a kernel.
struct TileLanes {
  std::string kernel;
  algebra::LaneMap lanes;
};

/// A step of a compilation, and its wall time.
struct StepTime {
  std::string step;
  double seconds = 0;
};

/// What was learned on the way; asking for it costs little.
struct CompileReport {
  /// Steps in the order in which they began; some run side by side.
  std::vector<StepTime> times;
  /// Of the kernels at the pipeline level, each map once for each kernel.
  std::vector<TileLanes> tiles;
  std::vector<OpDecision> decisions;
  /// Remarks in the order of the source.
  std::vector<RemarkNote> remarks;
  /// Of a reference: the lengths of all float reductions, added; one of
  /// unknown length counts `assumedReduction`.
  double reductionLength = 0;
  bool reductionAssumed = false;
  /// Of a module: the same for the sums that are kept in fewer bits than f32,
  /// as plain loops do where the module says so, and the coarsest of their
  /// types.
  double narrowReductionLength = 0;
  std::optional<runtime::ElementType> narrowReduction;
};

/// A parsed module.
class Frontend {
public:
  ~Frontend();
  Frontend(const Frontend &) = delete;
  Frontend &operator=(const Frontend &) = delete;

  /// Textual MLIR or bytecode; `name` stands for it in messages.
  static std::unique_ptr<Frontend> parse(const std::string &name,
                                         runtime::Bytes text);

  /// Names of the functions that may be entries.
  std::vector<std::string> publicFunctions() const;
  /// The float type with the fewest significant bits that any value of `entry`,
  /// and of what it calls, has. Floats of 8 bits count where they are results.
  std::optional<runtime::ElementType>
  coarsestFloat(const std::string &entry) const;
  /// Whether products of f32 may round their operands to tf32 somewhere.
  bool allowsTF32() const;

  std::optional<runtime::ProgramFile> compile(const CompileRequest &request,
                                              CompileReport *report = nullptr);
  /// Whether the module stands at the tile or the pipeline level.
  bool hasKernels() const;
  /// Proves the kernels of such a module, for any target: a manifest of kernels
  /// and a target, without code and entries.
  std::optional<runtime::Manifest> prove(const CompileRequest &request,
                                         CompileReport *report = nullptr);
  /// The module in another form, by its name; `formNames` lists them.
  std::optional<std::string> emit(const std::string &form,
                                  const CompileRequest &request,
                                  CompileReport *report = nullptr);

private:
  struct Impl;
  explicit Frontend(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

/// Loads a plugin of MLIR's kind, which adds variants; what went wrong, ""
/// where all is well. To be called before the first module is compiled.
std::string loadPlugin(const std::string &path);
/// Prints a stack trace and where to report it should the compiler crash.
void installCrashHandler(const char *program);
/// "22.1.0"
std::string llvmVersion();

} // namespace tracea::driver

#endif // TRACEA_TOOLS_TRACEA_FRONTEND_H
