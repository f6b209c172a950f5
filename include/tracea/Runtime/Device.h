//===- Device.h - What a driver offers --------------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A driver is a Device and the Buffers, Streams, Modules and Kernels that come
// from it. Programs run through this interface alone, and the conformance
// suite (unittests/Runtime/Conformance) is what an implementation must pass.
//
// The public functions check their arguments and call the virtual `do…`
// functions, so a driver sees only ranges that are in bounds.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_DEVICE_H
#define TRACEA_RUNTIME_DEVICE_H

#include "tracea/Runtime/GPU.h"
#include "tracea/Runtime/Manifest.h"
#include "tracea/Runtime/Span.h"
#include "tracea/Runtime/Status.h"

#include <memory>
#include <string>
#include <vector>

namespace tracea::runtime {

struct DeviceInfo {
  /// As in a manifest's target: "cpu", …; "x86_64", ….
  std::string kind;
  std::string arch;
  /// The product's name, for people.
  std::string name;
  /// What this device has, by the names that manifests use; sorted.
  std::vector<std::string> features;
  /// The kinds of code that may be loaded, the preferred one first.
  std::vector<ImageKind> imageKinds;
  /// How many tiles run at the same time.
  int64_t parallelism = 1;
  /// Whether device addresses are host addresses: kernels may then read and
  /// write the caller's memory in place.
  bool hostAccessible = false;
  /// Whether kernels run on a grid of blocks; a manifest says for each of them
  /// how (KernelSpec::gpu), and for each step on which grid.
  bool hasGrid = false;
  /// Whether streams record graphs.
  bool hasGraphs = false;
};

/// Something that the interface offers and this driver does not.
struct Unsupported {
  std::string what;
  std::string reason;
};

/// Device memory; freed with the last share. Keeps its device's resources. The
/// runtime names memory by a buffer and an offset; drivers whose kernels take
/// addresses make one of the two.
class Buffer {
public:
  virtual ~Buffer();
  /// Where it lies among the buffers of its device; not to be read by the host
  /// unless the device is host-accessible. A driver whose kernels take handles
  /// may give each buffer any range that no other one has.
  void *address() const { return where; }
  int64_t bytes() const { return size; }

protected:
  Buffer(void *where, int64_t size) : where(where), size(size) {}

private:
  void *where;
  int64_t size;
};

/// Memory of a device that somebody else keeps alive.
class BorrowedBuffer final : public Buffer {
public:
  BorrowedBuffer(void *where, int64_t size) : Buffer(where, size) {}
};

/// How a kernel is to be launched.
struct KernelConfig {
  /// What the kernel is called in messages; empty is its symbol.
  std::string name;
  /// Scratch memory of each thread that runs tiles. On a GPU it is the
  /// dynamic shared memory of a block.
  int64_t workspaceBytes = 0;
  /// For devices with a grid.
  GPUKernelSpec gpu;
};

/// A buffer that a kernel gets, and where in it the argument begins.
struct BufferArgument {
  /// Its place among the slots.
  size_t slot = 0;
  const Buffer *buffer = nullptr;
  int64_t offset = 0;
};

/// What a kernel is launched with. A driver may write to the slots of buffers,
/// and takes nothing from there: they hold what the last launch left.
struct LaunchArguments {
  /// As ArgPacker packs them.
  Span<int64_t> slots;
  Span<const BufferArgument> buffers;
  /// For devices with a grid: where the value of each parameter stands, in
  /// slots or elsewhere.
  Span<void *const> parameters;

  /// For drivers whose kernels take addresses: puts them where they belong.
  void writeAddresses() const {
    for (const BufferArgument &argument : buffers)
      slots[argument.slot] = static_cast<int64_t>(
          reinterpret_cast<uintptr_t>(argument.buffer->address()) +
          static_cast<uintptr_t>(argument.offset));
  }
};

/// The blocks of a launch.
struct Grid {
  int64_t x = 1;
  int64_t y = 1;
  int64_t z = 1;
};

/// A function of a module. Keeps the module loaded.
class Kernel {
public:
  virtual ~Kernel();
  const std::string &symbol() const { return name; }
  /// Whether the code takes parameters of these sizes, in bytes. Succeeds where
  /// the driver cannot tell.
  virtual Status checkParameters(Span<const int64_t> bytes) const;
  /// Whether the device runs such a grid, and on how many blocks a kernel
  /// that takes tiles in a loop is launched in its place.
  virtual Expected<Grid> fitGrid(const Grid &grid) const;

protected:
  explicit Kernel(std::string name) : name(std::move(name)) {}

private:
  std::string name;
};

/// Loaded code.
class Module {
public:
  virtual ~Module();
  /// The kernel of that symbol; each thread (or block) that runs tiles gets
  /// `workspaceBytes` of scratch memory.
  Expected<std::shared_ptr<Kernel>> kernel(const std::string &symbol,
                                           int64_t workspaceBytes = 0);
  Expected<std::shared_ptr<Kernel>> kernel(const std::string &symbol,
                                           const KernelConfig &config);

protected:
  virtual Expected<std::shared_ptr<Kernel>>
  doKernel(const std::string &symbol, const KernelConfig &config) = 0;
};

/// Tiles of one launch. A tile is a call's worth of work: more of them never
/// end, and sums of their numbers keep far from 2^63.
inline constexpr int64_t maxTiles = int64_t(1) << 40;

/// Fails, with what was expected and found, when a launch cannot have so many.
Status checkTiles(int64_t tiles);

/// A point in the work of a stream, which others can wait for.
class Event {
public:
  virtual ~Event();
};

/// An ordered queue of work. What is enqueued runs in order; memory that it
/// uses must stay alive until `synchronize` returns. Errors of earlier work
/// may be reported by any later call. One thread at a time may use a stream;
/// different streams may be used by different threads.
/// Work that a stream has recorded, to be launched as a whole.
class Graph {
public:
  virtual ~Graph();
};

class Stream {
public:
  virtual ~Stream();
  Status copyToDevice(Buffer &to, int64_t offset, const void *from,
                      int64_t bytes);
  Status copyToHost(void *to, const Buffer &from, int64_t offset,
                    int64_t bytes);
  /// Between buffers of the same device. The ranges may not overlap.
  Status copy(Buffer &to, int64_t toOffset, const Buffer &from,
              int64_t fromOffset, int64_t bytes);
  /// Sets bytes to `value`.
  Status fill(Buffer &to, int64_t offset, int64_t bytes, uint8_t value);
  /// Runs all tiles of [0, tiles), at most `maxTiles`. The arguments are copied
  /// before the call returns. No tiles is no work.
  Status launch(const std::shared_ptr<Kernel> &kernel, int64_t tiles,
                const LaunchArguments &arguments);
  /// Runs a grid that `Kernel::fitGrid` has accepted. The arguments are copied
  /// before the call returns. Allocates nothing and waits for nothing, so that
  /// it may be part of a capture.
  Status launch(const std::shared_ptr<Kernel> &kernel, const Grid &grid,
                const LaunchArguments &arguments);
  /// Lets the event stand for everything that has been enqueued here; what it
  /// stood for before is forgotten.
  Status record(Event &event);
  /// What is enqueued here from now on runs after what the event, of the same
  /// device, stands for; at once where it was never recorded. The host does
  /// not wait.
  Status wait(const Event &event);
  /// Waits until everything enqueued has run.
  Status synchronize();
  /// The driver's own handle, as `Device::borrowStream` takes it; null where
  /// there is none.
  virtual void *native() const { return nullptr; }
  /// Whether what is enqueued is recorded into a graph in place of being run.
  virtual Expected<bool> isCapturing() const;
  /// From here on what is enqueued is recorded in place of being run, also on
  /// streams that wait for an event of this one, which must be waited for
  /// before the end. Only where the device has graphs.
  Status beginCapture();
  /// Ends that. A graph of this device that is given is updated where what was
  /// recorded has its structure, else another one takes its place, when all
  /// work of the device has ended.
  Status endCapture(std::unique_ptr<Graph> &graph);
  /// Runs what was recorded. The memory and kernels that it uses must live.
  Status launch(Graph &graph);

protected:
  virtual Status doBeginCapture();
  virtual Status doEndCapture(std::unique_ptr<Graph> &graph);
  virtual Status doLaunchGraph(Graph &graph);
  virtual Status doCopyToDevice(Buffer &to, int64_t offset, const void *from,
                                int64_t bytes) = 0;
  virtual Status doCopyToHost(void *to, const Buffer &from, int64_t offset,
                              int64_t bytes) = 0;
  virtual Status doCopy(Buffer &to, int64_t toOffset, const Buffer &from,
                        int64_t fromOffset, int64_t bytes) = 0;
  virtual Status doFill(Buffer &to, int64_t offset, int64_t bytes,
                        uint8_t value) = 0;
  virtual Status doLaunch(const std::shared_ptr<Kernel> &kernel, int64_t tiles,
                          const LaunchArguments &arguments) = 0;
  virtual Status doLaunchGrid(const std::shared_ptr<Kernel> &kernel,
                              const Grid &grid,
                              const LaunchArguments &arguments);
  virtual Status doRecord(Event &event) = 0;
  virtual Status doWait(const Event &event) = 0;
  virtual Status doSynchronize() = 0;
};

/// One device of one driver. All functions may be called from any thread.
class Device {
public:
  virtual ~Device();
  virtual const DeviceInfo &info() const = 0;
  virtual std::vector<Unsupported> unsupported() const = 0;

  /// Whether code for `target` may be loaded: kind, architecture and every
  /// feature are compared. Nothing of a program is loaded before this.
  virtual Status checkTarget(const TargetSpec &target) const;
  /// The number of the image that suits the device best. Code of kinds that the
  /// device does not take is refused by their names.
  Expected<size_t> chooseImage(Span<const ImageSpec> images) const;
  /// Success, or what made the device unusable for the rest of the process.
  virtual Status status() const;

  /// Memory with arbitrary contents; zero bytes is a valid size. `alignment`
  /// is a power of two; at least 64 is used.
  Expected<std::shared_ptr<Buffer>> allocate(int64_t bytes,
                                             int64_t alignment = 64);
  Expected<std::unique_ptr<Stream>> createStream();
  Expected<std::unique_ptr<Event>> createEvent();
  /// A stream of the driver's interface that the caller keeps alive, e.g. a
  /// CUstream.
  Expected<std::unique_ptr<Stream>> borrowStream(void *native);
  /// Whether `bytes` bytes at `address` are memory of this device, as far as
  /// the driver can tell.
  virtual Status checkMemory(const void *address, int64_t bytes) const;
  /// Waits until nothing runs on the device.
  virtual Status waitIdle();
  /// Loads native code. The code gets all rights of the process.
  Expected<std::shared_ptr<Module>> loadModule(Bytes code);
  /// Makes a tensor map of a view (strides in elements) in `map`,
  /// tensorMapBytes aligned to tensorMapAlign. The view may be empty.
  virtual Status encodeTensorMap(const TensorMapSpec &spec, void *address,
                                 Span<const int64_t> sizes,
                                 Span<const int64_t> strides, void *map) const;

protected:
  virtual Expected<std::shared_ptr<Buffer>> doAllocate(int64_t bytes,
                                                       int64_t alignment) = 0;
  virtual Expected<std::unique_ptr<Stream>> doCreateStream() = 0;
  virtual Expected<std::unique_ptr<Event>> doCreateEvent() = 0;
  /// Of images of which one at least is of a kind that the device takes; by
  /// default the first of the kind that it prefers.
  virtual Expected<size_t> doChooseImage(Span<const ImageSpec> images) const;
  virtual Expected<std::unique_ptr<Stream>> doBorrowStream(void *native);
  virtual Expected<std::shared_ptr<Module>> doLoadModule(Bytes code) = 0;
};

/// Packs kernel arguments into 64-bit slots: a memref of rank r takes 1 + 2r
/// slots (its first element, r sizes, r strides in elements), an integer or
/// index one, a float one with its bits zero-extended.
class ArgPacker {
public:
  void clear() {
    slots.clear();
    buffers.clear();
  }
  /// A memref whose first element is `offset` bytes into the buffer.
  void memref(const Buffer &buffer, int64_t offset, Span<const int64_t> sizes,
              Span<const int64_t> strides) {
    buffers.push_back({slots.size(), &buffer, offset});
    memref(sizes, strides);
  }
  /// A memref without memory.
  void memref(Span<const int64_t> sizes, Span<const int64_t> strides) {
    slots.push_back(0);
    slots.insert(slots.end(), sizes.begin(), sizes.end());
    slots.insert(slots.end(), strides.begin(), strides.end());
  }
  void index(int64_t value) { slots.push_back(value); }
  void f32(float value);
  void f64(double value);
  /// Valid until the next change.
  LaunchArguments packed() { return {slots, buffers, {}}; }

private:
  std::vector<int64_t> slots;
  std::vector<BufferArgument> buffers;
};

struct DeviceOptions {
  /// Threads of the CPU driver, the calling one included. 0: TRACEA_NUM_THREADS
  /// where it is set, else the processors that this process may use.
  int threads = 0;
  /// Which device of a kind that may have several.
  int ordinal = 0;
  /// The library of a GPU's driver where it is not the usual one.
  std::string driverLibrary;
};

/// Opens a device of a kind ("cpu", "cuda").
Expected<std::shared_ptr<Device>> openDevice(const std::string &kind,
                                             const DeviceOptions &options = {});

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_DEVICE_H
