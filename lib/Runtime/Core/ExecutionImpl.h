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

#include "TensorMapCache.h"

#include "tracea/Runtime/Arena.h"
#include "tracea/Runtime/Executable.h"
#include "tracea/Runtime/Expr.h"

namespace tracea::runtime {

struct Executable::Impl {
  Manifest manifest;
  std::shared_ptr<Device> device;
  std::vector<std::shared_ptr<Kernel>> kernels;
  std::vector<std::shared_ptr<Buffer>> constants;
  TensorMapCache tensorMaps;
};

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

/// A buffer of the entry during one run.
struct BoundBuffer {
  int64_t bytes = 0;
  /// Where kernels find it; null until memory is planned.
  char *address = nullptr;
  /// Whether it lives in the arena, and where there.
  bool inArena = false;
  int64_t arenaOffset = 0;

  /// All of it, once memory is planned.
  BorrowedBuffer memory() const { return {address, bytes}; }
};

/// A step with everything in its place but the addresses.
struct BoundStep {
  int64_t tiles = 0;
  Grid grid;
  /// Addresses, sizes, strides and indices as ArgPacker packs them. Values of
  /// 32 bits are in the low half of their slot.
  std::vector<int64_t> slots;
  std::vector<TensorMapBytes> maps;
  /// Where the value of each parameter of a kernel on a grid stands.
  std::vector<void *> parameters;
  struct AddressPatch {
    size_t slot;
    size_t buffer;
    int64_t offset;
  };
  std::vector<AddressPatch> addresses;
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

  bool isContiguous() const;
  int64_t bytes() const;
  /// As Tensor::extent.
  std::pair<const char *, const char *> extent() const;
  std::string describe() const;
  static Operand of(const Tensor &tensor);
};

struct Execution::Impl {
  std::shared_ptr<Executable> executable;
  Executable::Impl *program = nullptr;
  const EntrySpec *entry = nullptr;
  ExecutionOptions options;
  std::unique_ptr<Stream> stream;
  RunStats stats;

  /// The steps that use each buffer: from `firstUse` to `lastUse`; outputs
  /// count as one step more than there are. Unused where first > last.
  std::vector<int64_t> firstUse;
  std::vector<int64_t> lastUse;
  /// The buffers that are set to zero before each step, and after the last.
  std::vector<std::vector<size_t>> zeroedBefore;
  /// What kernels demand of an input's address.
  std::vector<int64_t> inputAlign;

  // Bound to shapes.
  bool bound = false;
  std::vector<std::vector<int64_t>> boundShapes;
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
  /// By buffer, the memory of those that persist.
  std::vector<std::shared_ptr<Buffer>> kept;
  /// Whether work may be under way that uses the arena.
  bool inFlight = false;

  // Of one run.
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  std::vector<const std::vector<int64_t> *> shapePointers;

  ~Impl();
  void prepare();
  Status run(Span<const TensorView> inputs, Span<Tensor> outputs);
  Status enqueue(Stream &on, Span<const DeviceTensor> inputs,
                 Span<const DeviceTensor> outputs);
  Status prepareShapes(Span<const std::vector<int64_t>> shapes);

  // ExecutionBind.cpp
  std::string nameOfInput(size_t i) const;
  std::string nameOfStep(size_t s) const;
  Status checkInput(size_t i) const;
  bool isBoundTo(Span<const Operand> tensors) const;
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
  Status growArena(Stream &on);
  /// Gives the buffer `b` memory that lasts beyond the run.
  Status keep(size_t b, Stream &on);
  /// Whether so many bytes may be had beside those that persist.
  Status checkLimit(int64_t bytes) const;
  /// Fails where memory cannot be allocated now, for `what`.
  Status checkGrowth(const char *what, int64_t bytes, int64_t found,
                     Stream &on) const;
  /// Waits for work that uses the arena.
  Status settle();

  // Execution.cpp
  Status stageInputs(Span<const TensorView> tensors);
  Status stageOnDevice(Stream &on);
  Status launchSteps(Stream &on);
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
