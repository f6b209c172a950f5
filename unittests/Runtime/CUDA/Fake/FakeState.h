//===- FakeState.h - The fake driver's state --------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything is behind one lock; kernels run with it held.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_UNITTESTS_RUNTIME_CUDA_FAKE_FAKESTATE_H
#define TRACEA_UNITTESTS_RUNTIME_CUDA_FAKE_FAKESTATE_H

#include "CUDATypes.h"
#include "FakeCUDA.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>

namespace tracea::fakecuda {

using namespace tracea::runtime::cuda;

/// One piece of work; returns a result.
using Work = std::function<Result()>;

struct Graph {
  std::vector<Work> nodes;
};

struct Stream {
  ContextHandle context = nullptr;
  std::deque<Work> queue;
  /// While captured: what was recorded; broken by a forbidden call.
  std::unique_ptr<Graph> capture;
  bool broken = false;
  /// Another stream whose capture this one takes part in, and how many pieces
  /// of work it has put there.
  Stream *joined = nullptr;
  int64_t joinedWork = 0;
};

struct Event {
  /// What it stands for: the work of a stream up to a mark in its queue.
  struct Mark {
    StreamHandle stream = nullptr;
    bool reached = false;
  };
  std::shared_ptr<Mark> mark;
  /// Where it was recorded in a capture: the stream, and its work until then.
  Stream *captured = nullptr;
  int64_t capturedWork = 0;
};

struct Function {
  std::string name;
  std::vector<std::pair<size_t, size_t>> parameters; // offset, bytes
  int maxThreads = 1024;
  int staticShared = 0;
  int dynamicShared = 48 << 10;
  bool bigClusters = false;
};

struct Module {
  std::map<std::string, std::unique_ptr<Function>> functions;
};

struct Context {
  int retained = 0;
  Result poison = success;
};

/// How a kernel of FakeKernels.cpp sees a launch.
struct KernelLaunch {
  LaunchRecord shape;
  /// The values of the parameters, each in 8 bytes or more.
  std::vector<std::vector<unsigned char>> parameters;
  /// Set by a kernel that does what the hardware does not allow.
  mutable Result result = success;

  template <typename T>
  T parameter(size_t i) const {
    T value{};
    __builtin_memcpy(&value, parameters[i].data(),
                     std::min(sizeof value, parameters[i].size()));
    return value;
  }
};
using KernelBody = void (*)(const KernelLaunch &);
/// Null where there is none of that name.
KernelBody findKernel(const std::string &name);

struct State {
  Machine machine;
  bool initialised = false;
  std::map<std::string, int64_t> calls;
  std::vector<std::string> order;
  struct Failure {
    Result result;
    int skip;
  };
  std::multimap<std::string, Failure> failures;
  Result nextKernelFails = success;
  std::vector<LaunchRecord> launches;

  std::vector<Context> contexts;
  std::map<void *, size_t> memory; // of the device
  size_t memoryUsed = 0;
  std::map<void *, size_t> hostMemory;
  std::set<void *> pools;
  std::map<void *, std::unique_ptr<Stream>> streams;
  std::set<Event *> events;
  std::set<Module *> modules;
  std::set<Graph *> graphs;
  int openDoors = 0;
};

State &state();
std::recursive_mutex &lock();

/// Counts the call and gives its injected or sticky failure. A call that a
/// capture forbids breaks all captures unless the thread has said otherwise.
enum CallFlags { plain = 0, needsContext = 1, forbiddenInCapture = 2 };
Result begin(const char *name, int flags = plain);
#define FAKE_CALL(name, flags)                                                 \
  std::lock_guard<std::recursive_mutex> guard(lock());                         \
  if (Result failure = begin(#name, flags))                                    \
  return failure

Context *currentContext();
Stream *streamOf(StreamHandle handle);
/// Runs now what the stream still has to do.
Result drain(Stream &stream);
/// Into the queue, or into the graph that is being captured.
Result enqueue(StreamHandle handle, Work work);
/// Lets the host touch device memory for as long as it lives.
class Door {
public:
  Door();
  ~Door();
};

} // namespace tracea::fakecuda

#define FAKE_API extern "C" __attribute__((visibility("default")))

#endif // TRACEA_UNITTESTS_RUNTIME_CUDA_FAKE_FAKESTATE_H
