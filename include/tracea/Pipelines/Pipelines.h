//===- Pipelines.h - The compiler's passes in their order -------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_PIPELINES_PIPELINES_H
#define TRACEA_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::tracea {

/// The levels that a module passes on its way; each is the result of the phase
/// of that name.
enum class Phase { Semantic, Decision, Tile, Pipeline, Target };

/// Which operations become one: none; those that cannot take longer so; also
/// those for which the cost model expects a gain.
enum class FusionLevel { None, Safe, All };

struct CompilePipelineOptions
    : public PassPipelineOptions<CompilePipelineOptions> {
  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("Machine to compile for: a name of the tables, or \"cpu\" "
                     "for this one"),
      llvm::cl::init("cpu")};
  Option<int> threads{*this, "threads",
                      llvm::cl::desc("Cores to plan for; 0 for all"),
                      llvm::cl::init(0)};
  Option<Phase> from{*this, "from", llvm::cl::desc("First phase to run"),
                     llvm::cl::init(Phase::Semantic), phases()};
  Option<Phase> to{*this, "to", llvm::cl::desc("Last phase to run"),
                   llvm::cl::init(Phase::Target), phases()};
  Option<bool> reference{
      *this, "reference",
      llvm::cl::desc("Compute the float64 meaning by stock loops"),
      llvm::cl::init(false)};
  Option<bool> requireProof{
      *this, "require-proof",
      llvm::cl::desc("A kernel that lacks a certificate is an error"),
      llvm::cl::init(false)};
  Option<int> bankCycles{
      *this, "bank-cycles",
      llvm::cl::desc("Cycles that a phase of an access to banked memory may "
                     "take; more are an error"),
      llvm::cl::init(1)};
  Option<FusionLevel> fuse{
      *this, "fuse", llvm::cl::desc("Which operations become one"),
      llvm::cl::init(FusionLevel::Safe),
      llvm::cl::values(
          clEnumValN(FusionLevel::None, "none", "As they are written"),
          clEnumValN(FusionLevel::Safe, "safe", "What cannot take longer so"),
          clEnumValN(FusionLevel::All, "all",
                     "Also where the cost model expects a gain"))};

private:
  static llvm::cl::ValuesClass phases() {
    return llvm::cl::values(
        clEnumValN(Phase::Semantic, "semantic", "What: operations, fused"),
        clEnumValN(Phase::Decision, "decision", "With what: schedules chosen"),
        clEnumValN(Phase::Tile, "tile",
                   "Where: kernels over tiles, buffers on the host"),
        clEnumValN(Phase::Pipeline, "pipeline", "When: channels"),
        clEnumValN(Phase::Target, "target", "How: the LLVM dialect"));
  }
};

/// Adds the passes of the phases `from` to `to`.
void buildCompilePipeline(OpPassManager &manager,
                          const CompilePipelineOptions &options);

/// `--tracea-compile="target=… to=…"`.
void registerCompilePipeline();

} // namespace mlir::tracea

#endif // TRACEA_PIPELINES_PIPELINES_H
