//===- Executable.h - Loads and runs programs -------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An Executable is a program with its code loaded and its constants on a
// device; it never changes and may be shared between threads. An Execution is
// one caller's way through an entry: it holds the arena and the statistics,
// and serves one thread at a time. Several Executions of one Executable may
// run at the same time.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_EXECUTABLE_H
#define TRACEA_RUNTIME_EXECUTABLE_H

#include "tracea/Runtime/Device.h"
#include "tracea/Runtime/ProgramFile.h"
#include "tracea/Runtime/Tensor.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tracea::runtime {

struct ExecutionOptions {
  /// Measure the time of every launch (waits after each one).
  bool profile = false;
  /// Refuse runs that need more temporary memory than this, in bytes; 0 is no
  /// limit.
  int64_t maxArenaBytes = 0;
  /// How many streams may work on a run: steps that need nothing of each other
  /// then go to different ones. 1 takes them in their order.
  int streams = 1;
  /// Record the work of a run that comes for the second time, with the same
  /// shapes, addresses and numbers, into a graph of the device, and launch it
  /// as a whole from then on.
  bool graph = false;
  /// Where temporary memory comes from, for work on `stream`; unset, it is the
  /// device's own. The buffer lies in the device's memory.
  std::function<Expected<std::shared_ptr<Buffer>>(
      int64_t bytes, int64_t alignment, Stream &stream)>
      allocate;
};

/// Time spent in one kernel of the program.
struct KernelTime {
  std::string kernel;
  int64_t launches = 0;
  double seconds = 0;
};

/// Sums over the runs of one Execution.
struct RunStats {
  int64_t runs = 0;
  /// Runs that took the short way: they differed from the one before in
  /// addresses alone, in memory that kernels read and write where it is.
  int64_t repeats = 0;
  int64_t launches = 0;
  int64_t tiles = 0;
  /// Inputs that could not be used in place: strided, misaligned, overlapping
  /// an output, or on a device that does not see host memory.
  int64_t inputCopies = 0;
  /// Outputs that could not be written in place.
  int64_t outputCopies = 0;
  int64_t copiedBytes = 0;
  /// Bytes of the arena now, and how often it had to grow.
  int64_t arenaBytes = 0;
  int64_t arenaGrowths = 0;
  /// How often what depends on constants alone was computed, or constants were
  /// copied.
  int64_t loads = 0;
  /// How often the work of a run was recorded into a graph, and how many runs
  /// were launches of one.
  int64_t graphRecordings = 0;
  int64_t graphLaunches = 0;
  /// In the order of the manifest's kernels; filled when profiling.
  std::vector<KernelTime> kernelTimes;
};

/// A strided tensor in a device's memory, described; owns nothing. On a device
/// that sees host memory this is host memory. A scalar is in host memory
/// always, where it is read when the run is enqueued.
struct DeviceTensor {
  /// Where it is; null where `buffer` says it.
  void *data = nullptr;
  ElementType type = ElementType::F32;
  Span<const int64_t> shape;
  /// In elements; empty is row-major.
  Span<const int64_t> strides;
  /// The buffer of the same device that it lies in, `offset` bytes from its
  /// beginning.
  Buffer *buffer = nullptr;
  int64_t offset = 0;
};

class Execution;

class Executable : public std::enable_shared_from_this<Executable> {
public:
  /// Validates the program, takes the first of its versions that `device` can
  /// run, and only then loads its code and copies its constants to the device.
  /// The code in the program gets all rights of this process: load only what
  /// you trust.
  static Expected<std::shared_ptr<Executable>>
  load(ProgramFile program, std::shared_ptr<Device> device);

  ~Executable();
  Executable(const Executable &) = delete;
  Executable &operator=(const Executable &) = delete;

  /// Of the version that was taken.
  const Manifest &manifest() const;
  const std::shared_ptr<Device> &device() const;

  /// For the entry of that name; an empty name is the only entry of a program
  /// that has one. The Execution keeps this Executable alive.
  Expected<std::unique_ptr<Execution>>
  createExecution(const std::string &entry = "",
                  const ExecutionOptions &options = {});

  /// Runs an entry once and returns newly allocated outputs. For repeated runs
  /// an Execution saves the allocations.
  Expected<std::vector<Tensor>> run(const std::string &entry,
                                    Span<const TensorView> inputs);

private:
  struct Impl;
  friend class Execution;
  explicit Executable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

class Execution {
public:
  ~Execution();
  Execution(const Execution &) = delete;
  Execution &operator=(const Execution &) = delete;

  const EntrySpec &entry() const;

  /// Runs the entry. `outputs` has one element for each output: a null tensor
  /// is replaced by a new row-major one, any other is written in place and
  /// must have the output's type and shape. Outputs may overlap inputs (the
  /// input is then copied first) but not each other.
  ///
  /// An input that is constant (`InputSpec::isConstant`) may be null in all
  /// runs but the first: it is then what it was in the run before. What the
  /// entry computes of constants alone is computed by the runs that are given
  /// one, and kept. The memory of a constant must live and stay as it is until
  /// another one is given in its place.
  ///
  /// Before anything is launched the inputs' count, types, ranks and static
  /// sizes, the entry's checks and the bounds of every view are verified; a
  /// failure names the argument, what was expected and what was found, and
  /// leaves the outputs as they were.
  Status run(Span<const TensorView> inputs, Span<Tensor> outputs);

  /// Runs the entry on memory of the device, in the order of `stream`, and
  /// returns when everything is enqueued: the memory, this Execution and the
  /// stream must live until it has run. Inputs and outputs are row-major on
  /// devices that the host does not see. Checks are those of `run`; outputs
  /// are never allocated.
  ///
  /// Where shapes, and scalars that are integers, are those of the last call,
  /// or of `prepare`, nothing is evaluated, planned, allocated or waited for,
  /// and the stream may be one that is being captured. The captured graph uses
  /// this Execution's temporary memory. Calls on different streams must be
  /// ordered by the caller. Constants are given as in `run`, where null has no
  /// shape, and before a stream is captured.
  ///
  /// What kernels find that they cannot do, an index of data that lies outside
  /// of its tensor for instance, is told by `wait`.
  Status enqueue(Stream &stream, Span<const DeviceTensor> inputs,
                 Span<const DeviceTensor> outputs);

  /// Waits for the runs that were enqueued on `stream`, and fails where a
  /// kernel of theirs, or of a graph that they were captured into, could not do
  /// what the program asks for. Each failure is told once; where several runs
  /// were enqueued since the last call it is not said which one failed.
  Status wait(Stream &stream);

  /// Does what depends on the inputs' shapes alone: checks, expressions, and
  /// temporary memory for inputs and outputs that are used in place. For an
  /// entry with scalars that are integers `scalars[i]` is the number of input
  /// i. Where all constants have been given, what depends on them alone is
  /// computed.
  Status prepare(Span<const std::vector<int64_t>> inputShapes,
                 Span<const int64_t> scalars = {});

  /// Another Execution of the entry, with the same options. It has the
  /// constants that this one has been given, and uses the memory of what was
  /// computed of them: once for both, and for all that are made of either. One
  /// that is given other constants, or other sizes of them, computes anew and
  /// has memory of its own from then on. Runs of this one are waited for; after
  /// that each may run beside the other, on streams and threads of its own.
  Expected<std::unique_ptr<Execution>> share();

  /// The shape of an output, once shapes are known: after a successful
  /// `prepare`, `enqueue` or `run`.
  Span<const int64_t> outputShape(size_t output) const;

  const RunStats &stats() const;
  void resetStats();

private:
  struct Impl;
  friend class Executable;
  explicit Execution(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_EXECUTABLE_H
