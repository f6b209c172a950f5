//===- Executable.cpp - Loads programs ------------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nothing of a program's code is touched before everything else of it is known
// to be in order.
//
//===----------------------------------------------------------------------===//

#include "ExecutionImpl.h"

#include <exception>
#include <limits>

namespace tracea::runtime {

Executable::Executable(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Executable::~Executable() = default;
const Manifest &Executable::manifest() const { return impl->manifest; }
const std::shared_ptr<Device> &Executable::device() const {
  return impl->device;
}

/// The blob with the form of the code `blob` that suits the device.
static Expected<size_t> findImage(const Manifest &manifest, int64_t blob,
                                  const Device &device) {
  std::vector<ImageSpec> images;
  for (const ImageSpec &image : manifest.images)
    if (image.code == blob)
      images.push_back(image);
  Expected<size_t> chosen = device.chooseImage(images);
  if (!chosen)
    return chosen.status();
  return static_cast<size_t>(images[*chosen].blob);
}

/// Whether the device can run a version, and if not why.
static Status checkVersion(const Manifest &manifest, const Device &device) {
  TRACEA_RETURN_IF_ERROR(device.checkTarget(manifest.target));
  for (const KernelSpec &kernel : manifest.kernels)
    TRACEA_RETURN_IF_ERROR(findImage(manifest, kernel.blob, device).status());
  return Status::success();
}

/// Leaves the first version of a program that the device can run. The only one
/// is taken as it is: loading it says what is wrong with it.
static Status chooseVersion(ProgramFile &program, const Device &device) {
  std::vector<const Manifest *> versions = program.versions();
  if (versions.size() == 1)
    return device.checkTarget(program.manifest.target);
  std::string reasons;
  for (size_t i = 0; i < versions.size(); ++i) {
    Status fits = checkVersion(*versions[i], device);
    if (fits.ok()) {
      program.selectVersion(i);
      return Status::success();
    }
    reasons += (i ? "; for \"" : "for \"") + versions[i]->target.name +
               "\": " + fits.message();
  }
  return Status::error("the device can run none of the program's " +
                       std::to_string(versions.size()) +
                       " versions: " + reasons);
}

/// Code is loaded when all else is in order, and a blob without kernels is
/// never taken for code.
static Status loadKernels(const ProgramFile &program, Device &device,
                          std::vector<std::shared_ptr<Kernel>> &kernels) {
  const Manifest &manifest = program.manifest;
  std::vector<std::shared_ptr<Module>> modules(program.blobs.size());
  for (const KernelSpec &spec : manifest.kernels) {
    std::shared_ptr<Module> &module = modules[static_cast<size_t>(spec.blob)];
    if (!module) {
      Expected<size_t> blob = findImage(manifest, spec.blob, device);
      if (!blob)
        return blob.status().withContext("kernel \"" + spec.name + "\"");
      Expected<std::shared_ptr<Module>> loaded =
          device.loadModule(program.blobs[*blob]);
      if (!loaded)
        return loaded.status().withContext("blob " + std::to_string(*blob));
      module = std::move(*loaded);
    }
    KernelConfig config;
    config.name = spec.name;
    config.workspaceBytes = spec.workspace;
    if (spec.gpu)
      config.gpu = *spec.gpu;
    Expected<std::shared_ptr<Kernel>> kernel =
        module->kernel(spec.symbol, config);
    if (!kernel)
      return kernel.status().withContext("kernel \"" + spec.name + "\"");
    kernels.push_back(std::move(*kernel));
  }
  for (const EntrySpec &entry : manifest.entries)
    for (size_t s = 0; s < entry.steps.size(); ++s) {
      if (!entry.steps[s].isLaunch())
        continue;
      size_t k = static_cast<size_t>(entry.steps[s].kernel);
      if (!manifest.kernels[k].gpu)
        continue;
      std::vector<int64_t> bytes;
      for (const ArgSpec &arg : entry.steps[s].args)
        for (int64_t size :
             parameterBytes(entry, arg, manifest.kernels[k].gpu->indexBits / 8))
          bytes.push_back(size);
      if (!manifest.kernels[k].gpu->assertions.empty())
        bytes.push_back(sizeof(void *));
      TRACEA_RETURN_IF_ERROR(kernels[k]->checkParameters(bytes).withContext(
          "entry \"" + entry.name + "\", step " + std::to_string(s)));
    }
  return Status::success();
}

/// The buffers hold what was allocated also where this fails.
static Status loadConstants(const ProgramFile &program, Device &device,
                            Stream &stream,
                            std::vector<std::shared_ptr<Buffer>> &buffers) {
  int64_t sum = 0;
  for (const ConstantSpec &spec : program.manifest.constants)
    if (__builtin_add_overflow(sum, spec.size, &sum))
      sum = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < program.manifest.constants.size(); ++i) {
    const ConstantSpec &spec = program.manifest.constants[i];
    const std::vector<uint8_t> &blob =
        program.blobs[static_cast<size_t>(spec.blob)];
    std::string context = "constant " + std::to_string(i);
    Expected<std::shared_ptr<Buffer>> buffer = device.allocate(spec.size);
    if (!buffer)
      return Status::error(
          context + " of " + std::to_string(program.manifest.constants.size()) +
          ", together " + std::to_string(sum) + " bytes: " + buffer.message());
    buffers.push_back(std::move(*buffer));
    TRACEA_RETURN_IF_ERROR(stream
                               .copyToDevice(*buffers.back(), 0,
                                             blob.data() + spec.offset,
                                             spec.size)
                               .withContext(context));
  }
  return stream.synchronize();
}

Expected<std::shared_ptr<Executable>>
Executable::load(ProgramFile program, std::shared_ptr<Device> device) {
  if (!device)
    return Status::error("load: expected a device, found null");
  try {
    TRACEA_RETURN_IF_ERROR(program.validate());
    TRACEA_RETURN_IF_ERROR(chooseVersion(program, *device));
    auto impl = std::make_unique<Impl>();

    Expected<std::unique_ptr<Stream>> stream = device->createStream();
    if (!stream)
      return stream.status();
    Status loaded = loadConstants(program, *device, **stream, impl->constants);
    if (!loaded.ok()) {
      // Transfers that were enqueued use the memory.
      (void)device->waitIdle();
      return loaded;
    }

    TRACEA_RETURN_IF_ERROR(loadKernels(program, *device, impl->kernels));
    impl->manifest = std::move(program.manifest);
    impl->device = std::move(device);
    return std::shared_ptr<Executable>(new Executable(std::move(impl)));
  } catch (const std::exception &failure) {
    return Status::error(std::string("load: ") + failure.what());
  }
}

Expected<std::unique_ptr<Execution>>
Executable::createExecution(const std::string &name,
                            const ExecutionOptions &options) {
  try {
    const std::vector<EntrySpec> &entries = impl->manifest.entries;
    const EntrySpec *entry = impl->manifest.findEntry(name);
    if (name.empty() && entries.size() == 1)
      entry = &entries[0];
    if (!entry) {
      std::string known;
      for (const EntrySpec &candidate : entries)
        known += (known.empty() ? "" : ", ") + candidate.name;
      return Status::error(
          (name.empty() ? std::string("expected the name of an entry")
                        : "no entry \"" + name + "\"") +
          "; the program has: " + (known.empty() ? "none" : known));
    }
    if (options.graph && !impl->device->info().hasGraphs)
      return Status::error("graphs: the device \"" + impl->device->info().kind +
                           "\" has none");
    if (options.graph && options.profile)
      return Status::error("expected either graphs or the time of every "
                           "launch, found both");
    Expected<std::unique_ptr<Stream>> stream = impl->device->createStream();
    if (!stream)
      return stream.status();
    auto state = std::make_unique<Execution::Impl>();
    state->executable = shared_from_this();
    state->program = impl.get();
    state->entry = entry;
    state->options = options;
    state->stream = std::move(*stream);
    TRACEA_RETURN_IF_ERROR(state->prepare());
    return std::unique_ptr<Execution>(new Execution(std::move(state)));
  } catch (const std::exception &failure) {
    return Status::error(failure.what());
  }
}

Expected<std::vector<Tensor>> Executable::run(const std::string &entry,
                                              Span<const TensorView> inputs) {
  Expected<std::unique_ptr<Execution>> execution = createExecution(entry);
  if (!execution)
    return execution.status();
  std::vector<Tensor> outputs((*execution)->entry().outputs.size());
  TRACEA_RETURN_IF_ERROR((*execution)->run(inputs, outputs));
  return outputs;
}

} // namespace tracea::runtime
