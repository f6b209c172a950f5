//===- Runner.h - An entry of a program on a device -------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Its executions, which one thread at a time may use, are taken from a list for
// each call: the interpreter's lock guards the list, and is not held during the
// run.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_PYTHON_RUNNER_H
#define TRACEA_PYTHON_RUNNER_H

#include "Parts.h"
#include "Tensor.h"

#include <memory>

namespace tracea::python {

class ProgramHandle {
public:
  explicit ProgramHandle(TraceaProgram *program) : program(program) {}
  ~ProgramHandle() { tracea_program_free(program); }
  ProgramHandle(const ProgramHandle &) = delete;

  TraceaProgram *program;
};

struct Input {
  std::string name;
  TraceaDType dtype;
  Sizes shape;
  bool isConstant, isScalar;
};

/// An execution, and the shapes that it is prepared for.
struct Lane {
  ~Lane() {
    // Its memory may go back by a call into the interpreter.
    nb::gil_scoped_release release;
    tracea_execution_free(execution);
  }
  TraceaExecution *execution = nullptr;
  Sizes signature;
  std::vector<Sizes> outputShapes;
  /// Which bindings it has seen, and the constants, which it uses until others
  /// take their place.
  uint64_t bindings = 0;
  std::vector<std::shared_ptr<Tensor>> constants;
};

class Runner {
public:
  Runner(const Runner &) = delete;
  Runner(std::shared_ptr<ProgramHandle> handle, std::string entryName,
         int32_t device, int streams, bool graph, int64_t maxWorkspace);

  void bind(nb::handle which, nb::handle object);

  nb::object call(nb::args arguments, nb::handle out);

  std::string stats();

  nb::list describeInputs() const;

private:
  std::unique_ptr<Lane> makeLane();

  std::unique_ptr<Lane> takeLane();

  void prepare(Lane &lane, const std::vector<TraceaTensorView> &views);

  std::vector<nb::object> readOutputs(nb::handle out) const;

  size_t findInput(nb::handle which) const;

  std::shared_ptr<ProgramHandle> handle;
  std::string entryName;
  TraceaExecutionOptions options = TRACEA_EXECUTION_OPTIONS_INIT;
  std::vector<Input> inputs;
  std::vector<TraceaDType> outputTypes;
  size_t numConstants = 0, numBound = 0;
  bool hasScalars = false;
  /// Of the first lane, which never goes away.
  TraceaExecution *first = nullptr;
  std::vector<std::unique_ptr<Lane>> lanes;
  std::vector<std::shared_ptr<Tensor>> bound;
  std::vector<uint64_t> boundAt;
  uint64_t bindings = 0;
};

} // namespace tracea::python

#endif // TRACEA_PYTHON_RUNNER_H
