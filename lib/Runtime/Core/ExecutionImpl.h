//===- ExecutionImpl.h - The state of an Execution --------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A run has three parts. What depends on shapes alone (checks, expressions,
// views, argument blocks) is bound when shapes change. What depends on where
// tensors lie (staging, the arena) is planned when that changes. The rest is
// done by every run: addresses go into the argument blocks, and kernels are
// launched.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_RUNTIME_CORE_EXECUTIONIMPL_H
#define TRACEA_LIB_RUNTIME_CORE_EXECUTIONIMPL_H

#include "StreamPlan.h"
#include "TensorMapCache.h"

#include "tracea/Runtime/Arena.h"
#include "tracea/Runtime/Executable.h"
#include "tracea/Runtime/Expr.h"

#include <array>

namespace tracea::runtime {

struct Executable::Impl {
  Manifest manifest;
  std::shared_ptr<Device> device;
  std::vector<std::shared_ptr<Kernel>> kernels;
  std::vector<std::shared_ptr<Buffer>> constants;
  TensorMapCache tensorMaps;
};

/// Whether such memory is one piece in row-major order.
bool isRowMajor(Span<const int64_t> sizes, Span<const int64_t> strides);

/// A view with its expressions evaluated.
struct BoundView {
  const ViewSpec *spec = nullptr;
  int64_t offset = 0;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  /// The elements it may touch, relative to the buffer's beginning; both 0
  /// where it is empty.
  int64_t low = 0;
  int64_t high = 0;

  bool isEmpty() const { return low == high; }
  /// The offset of an empty view may lie anywhere; nothing is read there.
  int64_t byteOffset() const {
    return isEmpty() ? 0 : offset * sizeOf(spec->type);
  }
  bool isRowMajor() const;
};

/// A buffer of the entry during one run. Where it is is known once memory has
/// been planned.
struct BoundBuffer {
  int64_t bytes = 0;
  /// Memory of the device that it is a part of; null where it is the caller's
  /// by its address.
  Buffer *owner = nullptr;
  BorrowedBuffer caller = {nullptr, 0};
  /// Where it begins there.
  int64_t offset = 0;
  bool inArena = false;

  Buffer &memory() { return owner ? *owner : caller; }
  char *address() { return static_cast<char *>(memory().address()) + offset; }
};

/// A step with everything in its place but the addresses.
struct BoundStep {
  int64_t tiles = 0;
  Grid grid;
  /// Buffers, sizes, strides and numbers as ArgPacker packs them. Values of 32
  /// bits are in the low half of their slot.
  std::vector<int64_t> slots;
  std::vector<BufferArgument> buffers;
  std::vector<TensorMapBytes> maps;
  /// Where the value of each parameter of a kernel on a grid stands.
  std::vector<void *> parameters;
  /// The buffer of an argument, and where the argument begins in it; by
  /// `buffers`.
  struct BufferPatch {
    size_t buffer;
    int64_t offset;
  };
  std::vector<BufferPatch> bufferPatches;
  /// Scalar inputs.
  struct ValuePatch {
    size_t slot;
    size_t input;
  };
  std::vector<ValuePatch> valuePatches;
  struct MapPatch {
    const ArgSpec *arg;
    const BoundView *view;
    /// The address that the map was made for.
    char *madeFor;
  };
  std::vector<MapPatch> mapPatches;
  std::vector<BoundView> views;

  bool isEmpty() const {
    return tiles == 0 || grid.x == 0 || grid.y == 0 || grid.z == 0;
  }
};

/// Memory and shape of an input or output.
struct Operand : DeviceTensor {
  bool isNull = false;
  bool readOnly = false;
  /// A constant that an earlier run was given.
  bool isRemembered = false;
  /// Of a scalar: its value as an argument of a kernel.
  int64_t scalar = 0;

  bool isContiguous() const;
  int64_t bytes() const;
  /// As Tensor::extent.
  std::pair<const char *, const char *> extent() const;
  std::string describe() const;
  static Operand of(const Tensor &tensor);
};

/// An input that is constant, as it was last given.
struct BoundConstant {
  bool isGiven = false;
  Operand operand;
  /// What the operand refers to.
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  /// Null where it was given in memory of the device.
  Tensor tensor;
};

/// A run's work as the device recorded it.
struct RecordedRun {
  /// What it was recorded for: shapes, places, addresses, numbers.
  std::vector<int64_t> key;
  std::unique_ptr<Graph> graph;
  /// What a run of it adds to the statistics: see `counters`.
  std::array<int64_t, 5> counts = {};
  /// The run that used it last.
  int64_t lastUse = 0;
};

/// What the last run used, for one that differs in addresses alone.
struct RepeatedRun {
  /// Inputs, then outputs.
  struct Operand {
    ElementType type = ElementType::F32;
    bool isOutput = false;
    /// Was given before and is not given again.
    bool isConstant = false;
    int64_t align = 1;
    int64_t bytes = 0;
    std::vector<int64_t> shape;
    /// Whose memory it is; null where no kernel uses it.
    BoundBuffer *buffer = nullptr;
    /// Where a constant lies.
    void *remembered = nullptr;
    /// In this run.
    void *data = nullptr;
  };
  /// Whether there can be one: `mayRepeat`.
  bool isPossible = false;
  bool isReady = false;
  std::vector<Operand> operands;
  /// Those that launch something, in their order.
  std::vector<size_t> steps;
};

struct Execution::Impl {
  std::shared_ptr<Executable> executable;
  Executable::Impl *program = nullptr;
  const EntrySpec *entry = nullptr;
  ExecutionOptions options;
  std::unique_ptr<Stream> stream;
  RunStats stats;

  /// Which stream runs which step. The first stream is the run's own.
  StreamPlan streamPlan;
  std::vector<std::unique_ptr<Stream>> sideStreams;
  /// By step, for those that another stream waits for.
  std::vector<std::unique_ptr<Event>> stepEvents;
  /// All that goes before the first step.
  std::unique_ptr<Event> beginning;

  /// Of the steps that use each buffer the first and last of every stream, in
  /// ascending order; outputs count as one step more than there are.
  std::vector<std::vector<int64_t>> uses;
  /// The buffers that are set to zero before each step, and after the last.
  std::vector<std::vector<size_t>> zeroedBefore;
  /// What kernels demand of an input's address.
  std::vector<int64_t> inputAlign;

  /// What kernels found that they could not do, in words of the device: where
  /// the record of each step begins, or -1. Null where no kernel has any. They
  /// are kept until somebody looks, over any number of runs.
  std::shared_ptr<Buffer> records;
  std::vector<int64_t> recordOffsets;
  std::vector<int64_t> recordWords;
  /// Whether runs were enqueued: they, and graphs that they are part of, may
  /// leave something at any time.
  bool hasUnread = false;
  /// By step, whether it is done once for all runs with the same constants.
  std::vector<char> isConstantStep;
  /// By buffer, whether other steps use it, or a result does.
  std::vector<char> isUsedByRuns;
  /// By input.
  std::vector<BoundConstant> constants;
  /// Whether those steps have been done, and whether this run does them.
  bool isLoaded = false;
  bool isLoading = false;

  // Bound to shapes.
  bool bound = false;
  std::vector<std::vector<int64_t>> boundShapes;
  /// The numbers of scalar inputs that are integers, by input.
  std::vector<int64_t> boundScalars;
  ExprValues values;
  std::vector<BoundBuffer> buffers;
  std::vector<BoundStep> steps;
  std::vector<BoundView> outputViews;
  /// By output: whether its view is all of a temp buffer, in its order.
  std::vector<char> isWholeBuffer;

  // Planned for a placement: by input whether its elements are copied before
  // the first step, by output whether kernels write the caller's memory.
  bool planned = false;
  std::vector<char> staged;
  std::vector<char> inPlace;
  std::vector<char> plannedStaged;
  std::vector<char> plannedInPlace;
  /// By buffer: whether an output's memory stands for it.
  std::vector<char> claimed;
  std::shared_ptr<Buffer> arena;
  int64_t arenaAlign = 0;
  ArenaPlan plan;
  std::vector<ArenaRegion> regions;
  /// Of the regions, the buffer.
  std::vector<size_t> regionOwners;
  /// By buffer, the memory of those that persist.
  std::vector<std::shared_ptr<Buffer>> kept;
  /// By buffer, what tables hold on the device, and earlier contents that may
  /// still be on their way there.
  std::vector<std::vector<unsigned char>> tables;
  std::vector<std::vector<unsigned char>> oldTables;
  /// Whether work may be under way that uses the arena.
  bool inFlight = false;

  /// How often shapes were bound and memory was planned.
  int64_t numBound = 0;
  int64_t numPlanned = 0;
  std::vector<RecordedRun> recorded;
  /// Of the last run, if runs are recorded at all.
  std::vector<int64_t> lastKey;

  RepeatedRun repeated;

  // Of one run.
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  std::vector<const std::vector<int64_t> *> shapePointers;

  ~Impl();
  Status prepare();
  Status prepareStreams();
  Status run(Span<const TensorView> inputs, Span<Tensor> outputs);
  Status enqueue(Stream &on, Span<const DeviceTensor> inputs,
                 Span<const DeviceTensor> outputs);
  Status prepareShapes(Span<const std::vector<int64_t>> shapes,
                       Span<const int64_t> scalars);
  /// Waits for all streams of a run.
  Status synchronize(Stream &on);

  // ExecutionBind.cpp
  std::string nameOfInput(size_t i) const;
  std::string nameOfStep(size_t s) const;
  Status checkInput(size_t i) const;
  Status readScalars();
  bool isBoundTo(Span<const Operand> tensors) const;
  /// Whether the input is a scalar that expressions may take.
  bool isNumber(size_t input) const {
    return entry->inputs[input].isScalar && !isFloat(entry->inputs[input].type);
  }
  Status bind();
  Status evaluate();
  Status bindView(const ViewSpec &spec, BoundView &view) const;
  Status bindStep(size_t s);
  Status bindMove(size_t s);
  Status bindArguments(size_t s);
  Status checkOutputs() const;

  // ExecutionMemory.cpp
  void choosePlaces(bool onDevice);
  /// Gives every buffer that is used its address.
  Status place(Stream &on);
  Status planPlaces(Stream &on);
  /// Whether the run gives the buffer memory: it has none of the caller's.
  bool needsMemory(size_t buffer) const;
  /// Whether two buffers may be in use at the same time.
  bool mayOverlap(size_t a, size_t b) const;
  bool endsBefore(size_t a, size_t b) const;
  Status growArena(Stream &on);
  /// Gives the buffer `b` memory that lasts beyond the run, with zeros.
  Expected<std::shared_ptr<Buffer>> allocate(int64_t bytes, int64_t alignment,
                                             Stream &on) const;
  Status keep(size_t b, Stream &on);
  /// Makes the tables whose numbers have changed. Before a run, in `prepare`,
  /// those whose numbers follow from what is known then; they are waited for.
  Status writeTables(Stream &on, bool isPrepared = false);
  /// So many bytes and those that persist.
  int64_t addKept(int64_t bytes) const;
  std::string nameOfBuffer(size_t buffer) const;
  /// The sum and the largest of the buffers, for a message.
  std::string describeNeeds() const;
  /// Whether so many bytes may be had beside those that persist.
  Status checkLimit(int64_t bytes) const;
  /// Fails where memory cannot be allocated now, for `what`.
  Status checkGrowth(const char *what, int64_t bytes, int64_t found,
                     Stream &on) const;
  /// Waits for work that uses the arena.
  Status settle();
  void giveUp(std::shared_ptr<Buffer> memory) const;

  // ExecutionRecords.cpp
  Status makeRecords();
  /// Enqueues the transfer of the records to the host.
  Status fetchRecords(Stream &on);
  /// Fails, once, with the first step whose kernel could not do something. The
  /// transfer has been waited for.
  Status checkRecords(Stream &on);
  /// Waits for what was enqueued before.
  Status waitFor(Stream &on);
  // ExecutionConstants.cpp
  /// What does not change between runs.
  void prepareConstants();
  bool isConstantInput(size_t buffer) const;
  /// Whether the buffer has memory that lasts beyond the run.
  bool isKept(size_t buffer) const;
  Status takeConstants();
  Status checkConstants() const;
  /// Remembers the constants that the run was given, by their tensors where
  /// they are in host memory.
  void keepConstants(Span<const TensorView> tensors);
  /// Finds out whether the run does the steps that depend on constants alone,
  /// and puts constants where they read them.
  Status load(Stream &on);
  /// Does these steps before all runs, if what they need is there.
  Status loadBeforehand(Stream &on);
  /// Takes over the constants of another Execution of the entry, and what was
  /// computed of them.
  void shareConstants(const Impl &other);
  /// Lets go of memory for what is computed of constants that other Executions
  /// use too: this one is about to write there. Whether there was any.
  Expected<bool> dropShared(Stream &on);

  // ExecutionRepeat.cpp
  /// Whether runs of the entry are launches alone, from and to the caller's
  /// memory where that allows it.
  bool mayRepeat() const;
  /// After a run: what the next one needs if it is like this one.
  void prepareRepeat();
  /// Whether a run with these differs from the last one in addresses alone,
  /// which then are in their places.
  bool isRepeated(Span<const TensorView> from, Span<Tensor> to);
  bool isRepeated(Span<const DeviceTensor> from, Span<const DeviceTensor> to);
  template <typename Input, typename Output>
  bool takeRepeated(Span<const Input> from, Span<const Output> to);
  /// Enqueues what `isRepeated` has accepted.
  Status repeat(Stream &on);

  // ExecutionGraph.cpp
  /// Enqueues the run's work, as a graph where that is asked for.
  Status enqueueWork(Stream &on, bool onDevice);
  Status record(RecordedRun &run, Stream &on, bool onDevice);
  RecordedRun &chooseRecord();
  std::vector<int64_t> getKey(bool onDevice) const;
  std::array<int64_t *, 5> counters();

  // Execution.cpp
  /// What of it does not move between host and device.
  Status enqueueDirectly(Stream &on, bool onDevice);
  Status stageInput(const Tensor &input, BoundBuffer &buffer, Stream &on);
  Status stageOnDevice(const Operand &input, BoundBuffer &buffer, Stream &on);
  Status stageInputs(Span<const TensorView> tensors);
  Status stageOnDevice(Stream &on);
  /// All steps of the run, or those alone that are done once for all runs.
  Status launchSteps(Stream &on, bool onlyConstant = false);
  Status launchStep(size_t s, Stream &on);
  Status runMove(size_t s, Stream &on);
  Status zero(size_t s, Stream &on);
  Status patch(BoundStep &step);
  Status copyOutput(const BoundView &view, const Tensor &output);
  Status copyOutputs(Span<Tensor> tensors);
  Status checkCopiesOnDevice() const;
  Status copyOnDevice(Stream &on);
};

bool overlap(std::pair<const char *, const char *> a,
             std::pair<const char *, const char *> b);

} // namespace tracea::runtime

#endif // TRACEA_LIB_RUNTIME_CORE_EXECUTIONIMPL_H
