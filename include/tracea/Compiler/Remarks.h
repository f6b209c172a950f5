//===- Remarks.h - What passes said, collected ------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_COMPILER_REMARKS_H
#define TRACEA_COMPILER_REMARKS_H

#include "mlir/IR/Location.h"

#include <mutex>
#include <string>
#include <vector>

namespace tracea::compiler {

/// A place in the source; line 0 is nowhere in particular.
struct Place {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
};

/// The first place in a file that `loc` names; fused and inlined locations
/// name several.
Place getPlace(mlir::Location loc);

/// What a pass said about a decision.
struct Remark {
  Place place;
  /// "passed", "missed", "failed" or "analysis".
  std::string kind;
  std::string category;
  std::string name;
  std::string text;
};

/// Collects the remarks of a context, which it has to outlive: passes on
/// different functions run at the same time.
class RemarkCollector {
public:
  /// Once, before passes run.
  mlir::LogicalResult attach(mlir::MLIRContext &context);
  /// From now on.
  void start();
  /// All since then, in the order of the source, each once.
  std::vector<Remark> finish();

private:
  class Streamer;

  std::mutex mutex;
  bool isCollecting = false;
  std::vector<Remark> remarks;
};

} // namespace tracea::compiler

#endif // TRACEA_COMPILER_REMARKS_H
