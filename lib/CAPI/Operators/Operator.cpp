//===- Operator.cpp - Operations that are called one at a time ------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operators/Operator.h"

#include "Compile.h"
#include "Devices.h"
#include "Program.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tracea::capi {

namespace {

struct Counters {
  std::atomic<int64_t> calls{0}, compiled{0}, fromCache{0}, open{0};
};
Counters counters;

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

/// A program, and for which extents it is; -1 is any.
struct Variant {
  std::vector<int64_t> extents;
  std::shared_ptr<runtime::Executable> executable;
};

struct Family {
  /// Held while one of its programs is compiled.
  std::mutex mutex;
  std::vector<Variant> variants;
};

std::mutex familiesMutex;
/// Never destroyed: devices may be gone by then.
auto &families = *new std::map<std::vector<int64_t>, std::shared_ptr<Family>>();

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// All that tells calls apart, as numbers.
class Words {
public:
  void push(int64_t word) { words[count++] = word; }
  uint64_t hash() const {
    return XXH3_64bits(words.data(), count * sizeof(int64_t));
  }
  bool operator==(const std::vector<int64_t> &other) const {
    return other.size() == count && std::memcmp(words.data(), other.data(),
                                                count * sizeof(int64_t)) == 0;
  }
  std::vector<int64_t> copy() const {
    return {words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count)};
  }

private:
  static constexpr size_t most =
      4 + maxParams + maxOperands * (1 + 2 * maxRank);
  std::array<int64_t, most> words;
  size_t count = 0;
};

/// A call that has been made before: only addresses change.
struct Prepared {
  std::vector<int64_t> words;
  const OpenDevice *device = nullptr;
  std::unique_ptr<runtime::Stream> borrowed;
  runtime::Stream *stream = nullptr;
  std::unique_ptr<runtime::Execution> execution;
  /// What the tensors' shapes and strides point to.
  std::vector<std::vector<int64_t>> numbers;
  std::vector<runtime::DeviceTensor> inputs, outputs;
  std::vector<size_t> inputOperands, outputOperands;
};

/// What a thread has called. It ends with the thread.
struct ThreadCalls {
  /// More calls than that, and the thread begins anew: their temporary memory
  /// is what counts.
  static constexpr size_t most = 1024;
  std::unordered_multimap<uint64_t, std::unique_ptr<Prepared>> prepared;
};
thread_local ThreadCalls threadCalls;

} // namespace

static Words wordsOf(const OperatorCall &call) {
  Words words;
  words.push(call.kind);
  words.push(static_cast<int64_t>(reinterpret_cast<uintptr_t>(call.stream)));
  for (size_t i = 0; i < call.numParams; ++i)
    words.push(call.params[i]);
  for (size_t i = 0; i < call.numOperands; ++i) {
    const Operand &operand = call.operands[i];
    if (!operand.name) {
      words.push(-1);
      continue;
    }
    const View &view = operand.view;
    words.push(int64_t(view.device) * (1 << 16) +
               int64_t(view.rank) * (1 << 8) + int64_t(view.type));
    for (unsigned d = 0; d < view.rank; ++d)
      words.push(view.sizes[d]);
    for (unsigned d = 0; d < view.rank; ++d)
      words.push(view.strides[d]);
  }
  return words;
}

/// The size of each open extent.
static Expected<std::vector<int64_t>> openSizes(const OperatorCall &call) {
  std::vector<int64_t> sizes;
  for (size_t e = 0; e < call.numOpen; ++e) {
    int64_t size = -1;
    for (size_t i = 0; i < call.numOperands; ++i) {
      int dim = call.open[e].dims[i];
      if (dim >= 0 && size < 0)
        size = call.operands[i].view.sizes[static_cast<size_t>(dim)];
    }
    sizes.push_back(size);
  }
  return sizes;
}

/// What calls of one family have in common.
static std::vector<int64_t> familyOf(const OperatorCall &call,
                                     const OperatorModule &module) {
  std::vector<int64_t> key = {call.kind, call.operands[0].view.device};
  for (size_t i = 0; i < call.numParams; ++i)
    key.push_back(call.params[i]);
  auto add = [&](const OperatorModule::Passed &passed) {
    const View &view = call.operands[passed.operand].view;
    key.push_back(static_cast<int64_t>(passed.operand));
    key.push_back(int64_t(view.rank) << 8 | int64_t(view.type));
    key.push_back(passed.form.isIrregular);
    for (unsigned i = 0; i < view.rank; ++i) {
      unsigned dim = passed.form.order[i];
      bool isOpen = false;
      for (size_t e = 0; e < call.numOpen; ++e)
        isOpen |= call.open[e].dims[passed.operand] == static_cast<int>(dim);
      key.push_back(dim);
      key.push_back(isOpen ? -1 : view.sizes[dim]);
      // Places beyond the elements, for which the program has a slice.
      key.push_back(isOpen && passed.form.parent[i] == view.sizes[dim]
                        ? -1
                        : passed.form.parent[i]);
    }
  };
  for (const OperatorModule::Passed &passed : module.inputs)
    add(passed);
  key.push_back(-2);
  for (const OperatorModule::Passed &passed : module.outputs)
    add(passed);
  return key;
}

static Expected<std::shared_ptr<runtime::Executable>>
compileVariant(const OperatorCall &call, const OpenDevice &device,
               const std::vector<bool> &isOpen) {
  OperatorModule module(call, isOpen);
  TRACEA_RETURN_IF_ERROR(call.build(call, module));
  if (device.target.empty())
    return Status::unsupported("no target is known for the device " +
                               device.device->info().name);
  CompileRequest request;
  request.name = call.function;
  request.target = device.target;
  Expected<Compiled> compiled = compile(module.text.str(), request);
  if (!compiled)
    return compiled.status();
  ++(compiled->isFromCache ? counters.fromCache : counters.compiled);
  if (std::find(isOpen.begin(), isOpen.end(), true) != isOpen.end())
    ++counters.open;
  return runtime::Executable::load(std::move(compiled->program), device.device);
}

static Expected<std::shared_ptr<runtime::Executable>>
findExecutable(const OperatorCall &call, const OpenDevice &device,
               const OperatorModule &module) {
  std::shared_ptr<Family> family;
  {
    std::lock_guard<std::mutex> lock(familiesMutex);
    std::shared_ptr<Family> &place = families[familyOf(call, module)];
    if (!place)
      place = std::make_shared<Family>();
    family = place;
  }
  Expected<std::vector<int64_t>> sizes = openSizes(call);
  if (!sizes)
    return sizes.status();
  std::lock_guard<std::mutex> lock(family->mutex);
  auto suits = [&](const Variant &variant) {
    for (size_t i = 0; i < sizes->size(); ++i)
      if (variant.extents[i] >= 0 && variant.extents[i] != (*sizes)[i])
        return false;
    return true;
  };
  // The one for these very sizes comes first.
  for (const Variant &variant : family->variants)
    if (suits(variant))
      return variant.executable;
  // What differs from the first call is left open, and stays so. Sizes of 0 and
  // 1 have programs of their own: much is simpler there.
  Variant fresh;
  fresh.extents = *sizes;
  std::vector<bool> isOpen(sizes->size(), false);
  bool isSmall = false;
  for (int64_t size : *sizes)
    isSmall |= size <= 1;
  if (!family->variants.empty() && !isSmall)
    for (size_t i = 0; i < sizes->size(); ++i)
      for (const Variant &variant : family->variants)
        if (variant.extents[i] < 0 ||
            (variant.extents[i] > 1 && variant.extents[i] != (*sizes)[i])) {
          isOpen[i] = true;
          fresh.extents[i] = -1;
        }
  Expected<std::shared_ptr<runtime::Executable>> executable =
      compileVariant(call, device, isOpen);
  if (!executable)
    return executable.status();
  fresh.executable = *executable;
  family->variants.push_back(std::move(fresh));
  return *executable;
}

static Expected<std::unique_ptr<Prepared>> prepare(const OperatorCall &call,
                                                   const Words &words) {
  Expected<OpenDevice *> device =
      openDeviceNumber(call.operands[0].view.device);
  if (!device)
    return device.status();
  // With the call's own extents: what does not fit together is found here.
  std::vector<bool> isOpen(call.numOpen, false);
  OperatorModule module(call, isOpen);
  TRACEA_RETURN_IF_ERROR(call.build(call, module));
  Expected<std::shared_ptr<runtime::Executable>> executable =
      findExecutable(call, **device, module);
  if (!executable)
    return executable.status();

  auto prepared = std::make_unique<Prepared>();
  prepared->words = words.copy();
  prepared->device = *device;
  void *handle = nullptr;
  Expected<runtime::Stream *> stream =
      findStream(**device, call.stream, prepared->borrowed, handle);
  if (!stream)
    return stream.status();
  prepared->stream = *stream;
  runtime::ExecutionOptions options;
  options.allocate = currentAllocator(**device);
  Expected<std::unique_ptr<runtime::Execution>> execution =
      (*executable)->createExecution("main", options);
  if (!execution)
    return execution.status();
  prepared->execution = std::move(*execution);

  auto pass = [&](const OperatorModule::Passed &passed, bool isOutput,
                  std::vector<runtime::DeviceTensor> &list) {
    const View &view = call.operands[passed.operand].view;
    std::vector<int64_t> sizes, strides;
    for (unsigned i = 0; i < view.rank; ++i) {
      unsigned dim = passed.form.order[i];
      bool isWhole = isOutput || passed.form.isIrregular;
      sizes.push_back(isWhole ? view.sizes[dim] : passed.form.parent[i]);
      strides.push_back(view.strides[dim]);
    }
    bool needsStrides =
        passed.form.isIrregular || (isOutput && !passed.form.isDense);
    prepared->numbers.push_back(std::move(sizes));
    Span<const int64_t> shape = prepared->numbers.back();
    prepared->numbers.push_back(std::move(strides));
    runtime::DeviceTensor tensor;
    tensor.type = view.type;
    tensor.shape = shape;
    if (needsStrides)
      tensor.strides = prepared->numbers.back();
    list.push_back(tensor);
  };
  // The vectors' elements stay where they are when the outer one grows.
  for (const OperatorModule::Passed &passed : module.inputs) {
    pass(passed, false, prepared->inputs);
    prepared->inputOperands.push_back(passed.operand);
  }
  for (const OperatorModule::Passed &passed : module.outputs) {
    pass(passed, true, prepared->outputs);
    prepared->outputOperands.push_back(passed.operand);
  }
  return prepared;
}

static Status launch(Prepared &prepared, const OperatorCall &call) {
  for (size_t i = 0; i < prepared.inputs.size(); ++i)
    prepared.inputs[i].data =
        call.operands[prepared.inputOperands[i]].view.data;
  for (size_t i = 0; i < prepared.outputs.size(); ++i)
    prepared.outputs[i].data =
        call.operands[prepared.outputOperands[i]].view.data;
  return enqueue(*prepared.device, *prepared.execution, *prepared.stream,
                 prepared.inputs, prepared.outputs);
}

/// An output that an input lies in would be overwritten before it is read.
static Status checkOverlaps(const OperatorCall &call) {
  for (size_t i = 0; i < call.numOperands; ++i)
    for (size_t j = 0; j < call.numOperands; ++j)
      if (i != j && call.has(i) && call.has(j) && call.operands[i].isOutput &&
          (!call.operands[j].isOutput || i < j) &&
          overlap(call.operands[i].view, call.operands[j].view))
        return Status::invalid(
            std::string(call.operands[i].name) +
            ": expected memory of its own, found some that " +
            call.operands[j].name + " has too");
  return Status::success();
}

Status runOperator(const OperatorCall &call) {
  counters.calls.fetch_add(1, std::memory_order_relaxed);
  TRACEA_RETURN_IF_ERROR(checkOverlaps(call));
  Words words = wordsOf(call);
  uint64_t hash = words.hash();
  auto range = threadCalls.prepared.equal_range(hash);
  for (auto it = range.first; it != range.second; ++it)
    if (words == it->second->words)
      return launch(*it->second, call);
  Expected<std::unique_ptr<Prepared>> prepared = prepare(call, words);
  if (!prepared)
    return prepared.status();
  if (threadCalls.prepared.size() >= ThreadCalls::most)
    threadCalls.prepared.clear();
  Prepared &fresh =
      *threadCalls.prepared.emplace(hash, std::move(*prepared))->second;
  return launch(fresh, call);
}

} // namespace tracea::capi

using namespace tracea::capi;

TraceaStatus tracea_operator_counters(char *buffer, size_t size,
                                      size_t *length) {
  return guarded(__func__, TRACEA_INTERNAL_ERROR, [&]() -> Status {
    nlohmann::ordered_json json;
    json["calls"] = counters.calls.load();
    json["compiled"] = counters.compiled.load();
    json["fromCache"] = counters.fromCache.load();
    json["openExtents"] = counters.open.load();
    return copyText(json.dump(), buffer, size, length);
  });
}
