//===- CUDAModule.cpp - Code and kernels ----------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel is resolved completely before it is first launched: the driver's
// lazy loading would otherwise allocate within a capture.
//
//===----------------------------------------------------------------------===//

#include "CUDAModule.h"
#include "CUDACodeCache.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace tracea::runtime::cuda {

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// A log of the driver's compiler, without trailing space.
static std::string trimmed(const std::vector<char> &log) {
  std::string text(log.data(), ::strnlen(log.data(), log.size()));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.pop_back();
  return text;
}

Expected<std::shared_ptr<Module>>
CUDAModule::load(std::shared_ptr<Context> context, Bytes code) {
  TRACEA_RETURN_IF_ERROR(checkImage(code).withContext("native code"));
  std::shared_ptr<CUDAModule> module(new CUDAModule(std::move(context)));
  module->parameterCounts = countParameters(code);
  const Context &owner = *module->context;
  Current current(owner);
  TRACEA_RETURN_IF_ERROR(current.status);
  RelaxedCapture relaxed(owner.api());

  bool isText =
      code.size() < SELFMAG || std::memcmp(code.data(), ELFMAG, SELFMAG) != 0;
  if (isText) {
    std::vector<uint8_t> compiled = findCompiled(owner, code);
    if (!compiled.empty() &&
        owner.api().cuModuleLoadDataEx(&module->handle, compiled.data(), 0,
                                       nullptr, nullptr) == success)
      return std::shared_ptr<Module>(module);
    module->handle = nullptr;
  }
  // PTX must end with a zero byte.
  std::vector<unsigned char> image(code.begin(), code.end());
  image.push_back(0);
  std::vector<char> info(8192, 0), errors(8192, 0);
  JitOption options[] = {jitInfoLogBuffer, jitInfoLogBufferBytes,
                         jitErrorLogBuffer, jitErrorLogBufferBytes};
  void *values[] = {info.data(), reinterpret_cast<void *>(info.size() - 1),
                    errors.data(), reinterpret_cast<void *>(errors.size() - 1)};
  Result result = owner.api().cuModuleLoadDataEx(&module->handle, image.data(),
                                                 4, options, values);
  if (result == success)
    return std::shared_ptr<Module>(module);
  module->handle = nullptr;
  std::string text = owner.check(result, "cuModuleLoadDataEx").message();
  for (const auto &[name, log] :
       {std::pair("errors", &errors), std::pair("notes", &info)})
    if (std::string lines = trimmed(*log); !lines.empty())
      text += std::string("; the driver's ") + name + ": " + lines;
  return Status::error("native code: " + text);
}

CUDAModule::~CUDAModule() {
  if (!handle)
    return;
  Current current(*context);
  if (!current.status.ok())
    return;
  RelaxedCapture relaxed(context->api());
  (void)context->check(context->api().cuModuleUnload(handle), "cuModuleUnload");
}

Expected<std::shared_ptr<Kernel>>
CUDAModule::doKernel(const std::string &symbol, const KernelConfig &config) {
  auto kernel =
      std::make_shared<CUDAKernel>(context, shared_from_this(), symbol, config);
  Current current(*context);
  TRACEA_RETURN_IF_ERROR(current.status);
  RelaxedCapture relaxed(context->api());
  auto count = parameterCounts.find(symbol);
  TRACEA_RETURN_IF_ERROR(kernel->prepare(
      handle, count == parameterCounts.end() ? std::nullopt
                                             : std::optional(count->second)));
  return std::shared_ptr<Kernel>(std::move(kernel));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

CUDAKernel::CUDAKernel(std::shared_ptr<Context> context,
                       std::shared_ptr<Module> module,
                       const std::string &symbol, const KernelConfig &config)
    : Kernel(symbol), context(std::move(context)), module(std::move(module)),
      name("'" + (config.name.empty() ? symbol : config.name) + "'"),
      config(config) {}

Status CUDAKernel::fail(const std::string &what) const {
  return Status::error("kernel " + name + ": " + what);
}

static std::string describe3(const std::vector<int64_t> &v) {
  return std::to_string(v[0]) + " x " + std::to_string(v[1]) + " x " +
         std::to_string(v[2]);
}

/// What does not depend on the code.
Status CUDAKernel::checkLimits() const {
  const CUDADeviceProperties &info = context->properties();
  const std::vector<int64_t> &block = config.gpu.block;
  const std::vector<int64_t> &cluster = config.gpu.cluster;
  if (block.size() != 3 || cluster.size() != 3)
    return fail("expected three sizes of a block and of a cluster");
  for (size_t i = 0; i < 3; ++i)
    if (block[i] < 1 || block[i] > info.maxBlock[i])
      return fail("expected blocks of 1 to " +
                  std::to_string(info.maxBlock[i]) + " threads along axis " +
                  std::to_string(i) + ", found " + describe3(block));
  if (block[0] * block[1] * block[2] > info.maxThreadsPerBlock)
    return fail("expected at most " + std::to_string(info.maxThreadsPerBlock) +
                " threads in a block, found " + describe3(block));
  // 16 is the most that any device allows, in a mode that is not portable.
  for (size_t i = 0; i < 3; ++i)
    if (cluster[i] < 1 || cluster[i] > 16)
      return fail("expected clusters of 1 to 16 blocks, found " +
                  describe3(cluster));
  int64_t blocks = cluster[0] * cluster[1] * cluster[2];
  if (blocks > 16)
    return fail("expected clusters of 1 to 16 blocks, found " +
                describe3(cluster));
  if (blocks > 1 && !info.clusters)
    return fail("this device (" + info.name + ", " + info.arch() +
                ") has no clusters");
  if (config.gpu.overlaps && 10 * info.major + info.minor < 90)
    return fail("this device (" + info.name + ", " + info.arch() +
                ") starts no kernel before the one before it ends");
  return Status::success();
}

Status CUDAKernel::prepare(ModuleHandle from,
                           std::optional<size_t> parameters) {
  const API &api = context->api();
  const CUDADeviceProperties &info = context->properties();
  Result result = api.cuModuleGetFunction(&function, from, symbol().c_str());
  if (result == errorNotFound)
    return Status::error("the code defines no kernel \"" + symbol() + "\"");
  TRACEA_RETURN_IF_ERROR(context->check(result, "cuModuleGetFunction", name));
  TRACEA_RETURN_IF_ERROR(checkLimits());

  auto get = [&](FunctionAttribute attribute, int &value) {
    return context->check(api.cuFuncGetAttribute(&value, attribute, function),
                          "cuFuncGetAttribute", name);
  };
  int staticShared = 0, maxThreads = 0;
  TRACEA_RETURN_IF_ERROR(get(functionSharedBytes, staticShared));
  TRACEA_RETURN_IF_ERROR(get(functionMaxThreadsPerBlock, maxThreads));
  const std::vector<int64_t> &block = config.gpu.block;
  int64_t threads = block[0] * block[1] * block[2];
  if (threads > maxThreads)
    return fail("expected blocks of at most " + std::to_string(maxThreads) +
                " threads, for which it was compiled, found " +
                describe3(block));
  int64_t shared = config.workspaceBytes;
  if (shared > info.sharedBytesOptin - staticShared)
    return fail("expected at most " +
                std::to_string(info.sharedBytesOptin - staticShared) +
                " bytes of shared memory beside " +
                std::to_string(staticShared) + " static ones, found " +
                std::to_string(shared));
  // Beyond what every device has a kernel must ask.
  if (shared + staticShared > info.sharedBytes)
    TRACEA_RETURN_IF_ERROR(context->check(
        api.cuFuncSetAttribute(function, functionMaxDynamicSharedBytes,
                               static_cast<int>(shared)),
        "cuFuncSetAttribute", name));
  const std::vector<int64_t> &cluster = config.gpu.cluster;
  int64_t blocks = cluster[0] * cluster[1] * cluster[2];
  constexpr int64_t portableClusterBlocks = 8;
  if (blocks > portableClusterBlocks)
    TRACEA_RETURN_IF_ERROR(
        context->check(api.cuFuncSetAttribute(
                           function, functionNonPortableClusterSizeAllowed, 1),
                       "cuFuncSetAttribute", name));

  // No more than there are: to look for the last one would be an error of its
  // own, which tools report.
  if (api.cuFuncGetParamInfo && parameters) {
    for (size_t i = 0; i < *parameters; ++i) {
      size_t offset = 0, bytes = 0;
      TRACEA_RETURN_IF_ERROR(
          context->check(api.cuFuncGetParamInfo(function, i, &offset, &bytes),
                         "cuFuncGetParamInfo", name));
      parameterBytes.push_back(static_cast<int64_t>(bytes));
    }
    parametersKnown = true;
  }

  auto small = [](int64_t value) { return static_cast<unsigned>(value); };
  prototype.blockX = small(block[0]);
  prototype.blockY = small(block[1]);
  prototype.blockZ = small(block[2]);
  prototype.sharedBytes = small(shared);
  unsigned count = 0;
  if (blocks > 1) {
    attributes[count].id = launchClusterDimension;
    attributes[count].value.cluster.x = small(cluster[0]);
    attributes[count].value.cluster.y = small(cluster[1]);
    attributes[count].value.cluster.z = small(cluster[2]);
    ++count;
  }
  // Older drivers cannot capture such a launch; it needs not overlap.
  constexpr int capturesOverlap = 12030;
  if (config.gpu.overlaps && info.driverVersion >= capturesOverlap) {
    attributes[count].id = launchProgrammaticStreamSerialization;
    attributes[count].value.programmaticStreamSerialization = 1;
    ++count;
  }
  prototype.attributes = count ? attributes : nullptr;
  prototype.numAttributes = count;
  return Status::success();
}

Status CUDAKernel::checkParameters(Span<const int64_t> bytes) const {
  if (!parametersKnown)
    return Status::success();
  if (bytes.size() != parameterBytes.size())
    return fail("the code takes " + std::to_string(parameterBytes.size()) +
                " parameters, the program passes " +
                std::to_string(bytes.size()));
  for (size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != parameterBytes[i])
      return fail("parameter " + std::to_string(i) + " of the code has " +
                  std::to_string(parameterBytes[i]) +
                  " bytes, the program passes " + std::to_string(bytes[i]));
  return Status::success();
}

Expected<Grid> CUDAKernel::fitGrid(const Grid &grid) const {
  const CUDADeviceProperties &info = context->properties();
  const std::vector<int64_t> &cluster = config.gpu.cluster;
  Grid fitted = grid;
  if (config.gpu.persistent > 0) {
    // The product fits: both are small.
    int64_t most = config.gpu.persistent * info.multiprocessors;
    most = std::max(most / cluster[0], int64_t(1)) * cluster[0];
    fitted.x = std::min(fitted.x, most);
  }
  const int64_t sizes[] = {fitted.x, fitted.y, fitted.z};
  static constexpr const char *names[] = {"x", "y", "z"};
  for (size_t i = 0; i < 3; ++i) {
    if (sizes[i] < 0 || sizes[i] > info.maxGrid[i])
      return fail("expected a grid of at most " +
                  std::to_string(info.maxGrid[i]) + " blocks along " +
                  names[i] + ", found " + std::to_string(sizes[i]));
    if (sizes[i] % cluster[i] != 0)
      return fail("expected a grid of whole clusters of " +
                  std::to_string(cluster[i]) + " blocks along " + names[i] +
                  ", found " + std::to_string(sizes[i]));
  }
  return fitted;
}

Status CUDAKernel::launch(StreamHandle stream, unsigned x, unsigned y,
                          unsigned z, void **parameters) const {
  LaunchConfig launch = prototype;
  launch.gridX = x;
  launch.gridY = y;
  launch.gridZ = z;
  launch.stream = stream;
  Result result =
      context->api().cuLaunchKernelEx(&launch, function, parameters, nullptr);
  if (result == success)
    return Status::success();
  return context->check(result, "cuLaunchKernelEx", name);
}

} // namespace tracea::runtime::cuda
