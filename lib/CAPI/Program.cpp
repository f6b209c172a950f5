//===- Program.cpp - Programs: compiled, loaded, described ----------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "Handles.h"
#include "View.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>

namespace tracea::capi {

Expected<CompileRequest> readOptions(const TraceaCompileOptions *given) {
  TraceaCompileOptions options = TRACEA_COMPILE_OPTIONS_INIT;
  if (given) {
    if (given->size < offsetof(TraceaCompileOptions, reserved) ||
        given->size > sizeof options)
      return Status::invalid("options: expected size " +
                             std::to_string(sizeof options) + ", found " +
                             std::to_string(given->size));
    std::memcpy(&options, given, given->size);
  }
  if (options.threads < 0 || options.threads > 4096)
    return Status::invalid("threads: expected a number from 0 to 4096, found " +
                           std::to_string(options.threads));
  CompileRequest request;
  request.target = options.target ? options.target : "cpu";
  request.entry = options.entry ? options.entry : "";
  request.fuse = options.fuse ? options.fuse : "safe";
  request.threads = options.threads;
  request.requireProof = options.require_proof != 0;
  request.useCache = options.no_cache == 0;
  if (request.fuse != "none" && request.fuse != "safe" && request.fuse != "all")
    return Status::invalid("fuse: expected 'none', 'safe' or 'all', found '" +
                           request.fuse + "'");
  Expected<std::optional<int32_t>> number = parseDeviceName(request.target);
  if (!number)
    return number.status();
  if (*number && **number >= 0) {
    Expected<OpenDevice *> device = openDeviceNumber(**number);
    if (!device)
      return device.status();
    if ((*device)->target.empty())
      return Status::unsupported("no target is known for the device " +
                                 (*device)->device->info().name + " (" +
                                 (*device)->device->info().arch + ")");
    request.target = (*device)->target;
  }
  return request;
}

Expected<std::shared_ptr<runtime::Executable>>
loadOn(TraceaProgram &program, const OpenDevice &device) {
  std::lock_guard<std::mutex> lock(program.mutex);
  std::weak_ptr<runtime::Executable> &place = program.loaded[device.number];
  if (std::shared_ptr<runtime::Executable> executable = place.lock())
    return executable;
  Expected<std::shared_ptr<runtime::Executable>> executable =
      runtime::Executable::load(program.compiled.program, device.device);
  if (executable)
    place = *executable;
  return executable;
}

static Expected<const runtime::EntrySpec *>
findEntry(const TraceaProgram *program, const char *name) {
  TRACEA_RETURN_IF_ERROR(requireHandle(program, "program"));
  const std::vector<runtime::EntrySpec> &entries =
      program->compiled.program.manifest.entries;
  if (!name || !*name) {
    if (entries.size() == 1)
      return &entries.front();
    return Status::invalid("entry: expected the name of one of " +
                           std::to_string(entries.size()) +
                           " entries, found none");
  }
  std::string names;
  for (const runtime::EntrySpec &entry : entries) {
    if (entry.name == name)
      return &entry;
    names += (names.empty() ? "'" : ", '") + entry.name + "'";
  }
  return Status::invalid("entry: expected one of " + names + ", found '" +
                         name + "'");
}

static Status checkIndex(const char *what, size_t index, size_t count) {
  return index < count
             ? Status::success()
             : Status::invalid("index: expected the number of one of " +
                               std::to_string(count) + " " + what + ", found " +
                               std::to_string(index));
}

/// Copies as much of the description as the caller knows of.
static Status giveArgument(TraceaArgument full, TraceaArgument *argument) {
  TRACEA_RETURN_IF_ERROR(requirePointer(argument, "argument"));
  if (argument->size < sizeof full)
    return Status::invalid("argument: expected size " +
                           std::to_string(sizeof full) + ", found " +
                           std::to_string(argument->size));
  full.size = sizeof full;
  *argument = full;
  return Status::success();
}

static nlohmann::ordered_json describeEntry(const runtime::EntrySpec &entry) {
  nlohmann::ordered_json json;
  json["name"] = entry.name;
  json["inputs"] = nlohmann::ordered_json::array();
  for (const runtime::InputSpec &input : entry.inputs) {
    nlohmann::ordered_json item = {{"name", input.name},
                                   {"type", runtime::nameOf(input.type)}};
    if (input.isScalar)
      item["scalar"] = true;
    else
      item["shape"] = input.shape;
    if (input.isConstant)
      item["constant"] = true;
    json["inputs"].push_back(std::move(item));
  }
  json["outputs"] = nlohmann::ordered_json::array();
  for (const runtime::OutputSpec &output : entry.outputs)
    json["outputs"].push_back({{"type", runtime::nameOf(output.type)}});
  json["launches"] = std::count_if(
      entry.steps.begin(), entry.steps.end(),
      [](const runtime::StepSpec &step) { return step.isLaunch(); });
  return json;
}

static nlohmann::ordered_json describeTarget(const runtime::Manifest &version) {
  return {{"kind", version.target.kind},
          {"arch", version.target.arch},
          {"name", version.target.name}};
}

static std::string explain(const TraceaProgram &program) {
  const runtime::Manifest &manifest = program.compiled.program.manifest;
  nlohmann::ordered_json json;
  json["target"] = describeTarget(manifest);
  for (const runtime::Manifest &other : program.compiled.program.others)
    json["others"].push_back(describeTarget(other));
  json["producer"] = manifest.producer;
  json["fromCache"] = program.compiled.isFromCache;
  json["kernels"] = nlohmann::ordered_json::array();
  for (const runtime::KernelSpec &kernel : manifest.kernels) {
    nlohmann::ordered_json item = {
        {"name", kernel.name}, {"op", kernel.op}, {"variant", kernel.variant}};
    item["plainLoops"] = kernel.variant.empty() || kernel.variant == "linalg";
    item["proofs"] = nlohmann::ordered_json::array();
    for (const runtime::CertificateSpec &certificate : kernel.certificates)
      item["proofs"].push_back(
          {{"check", certificate.check}, {"claim", certificate.claim}});
    item["open"] = nlohmann::ordered_json::array();
    for (const runtime::RemarkSpec &remark : kernel.remarks)
      item["open"].push_back(
          {{"check", remark.check}, {"reason", remark.reason}});
    json["kernels"].push_back(std::move(item));
  }
  json["entries"] = nlohmann::ordered_json::array();
  for (const runtime::EntrySpec &entry : manifest.entries)
    json["entries"].push_back(describeEntry(entry));
  if (!program.compiled.remarks.empty())
    json["decisions"] =
        nlohmann::ordered_json::parse(program.compiled.remarks, nullptr, false);
  return json.dump(2, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace tracea::capi

using namespace tracea;
using namespace tracea::capi;

TraceaStatus tracea_compile(const char *module, size_t length,
                            const TraceaCompileOptions *options,
                            TraceaProgram **program) {
  return guarded(__func__, TRACEA_INTERNAL_ERROR, [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requirePointer(module, "module"));
    TRACEA_RETURN_IF_ERROR(requirePointer(program, "program"));
    Expected<CompileRequest> request = readOptions(options);
    if (!request)
      return request.status();
    Expected<Compiled> compiled =
        capi::compile(std::string(module, length), *request);
    if (!compiled)
      return compiled.status();
    give(std::make_unique<TraceaProgram>(std::move(*compiled)), program);
    return Status::success();
  });
}

TraceaStatus tracea_program_load(const char *path, TraceaProgram **program) {
  return guarded(__func__, TRACEA_IO_ERROR, [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requirePointer(path, "path"));
    TRACEA_RETURN_IF_ERROR(requirePointer(program, "program"));
    Expected<runtime::ProgramFile> file = runtime::ProgramFile::load(path);
    if (!file)
      return file.status();
    give(std::make_unique<TraceaProgram>(Compiled{std::move(*file), "", false}),
         program);
    return Status::success();
  });
}

TraceaStatus tracea_program_load_bytes(const void *bytes, size_t size,
                                       TraceaProgram **program) {
  return guarded(__func__, TRACEA_INVALID_PARAMS, [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requirePointer(bytes, "bytes"));
    TRACEA_RETURN_IF_ERROR(requirePointer(program, "program"));
    Expected<runtime::ProgramFile> file = runtime::ProgramFile::parse(
        runtime::Bytes(static_cast<const uint8_t *>(bytes), size));
    if (!file)
      return file.status();
    give(std::make_unique<TraceaProgram>(Compiled{std::move(*file), "", false}),
         program);
    return Status::success();
  });
}

TraceaStatus tracea_program_save(const TraceaProgram *program,
                                 const char *path) {
  return guarded(__func__, TRACEA_IO_ERROR, [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requireHandle(program, "program"));
    TRACEA_RETURN_IF_ERROR(requirePointer(path, "path"));
    return program->compiled.program.save(path);
  });
}

TraceaStatus tracea_program_bytes(TraceaProgram *program, const void **bytes,
                                  size_t *size) {
  return guarded(__func__, TRACEA_INTERNAL_ERROR, [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requireHandle(program, "program"));
    TRACEA_RETURN_IF_ERROR(requirePointer(bytes, "bytes"));
    TRACEA_RETURN_IF_ERROR(requirePointer(size, "size"));
    std::lock_guard<std::mutex> lock(program->mutex);
    if (program->bytes.empty()) {
      Expected<std::vector<uint8_t>> container =
          program->compiled.program.serialize();
      if (!container)
        return container.status();
      program->bytes = std::move(*container);
    }
    *bytes = program->bytes.data();
    *size = program->bytes.size();
    return Status::success();
  });
}

void tracea_program_free(TraceaProgram *program) {
  freeHandle(__func__, program);
}

TraceaStatus tracea_program_explain(const TraceaProgram *program, char *buffer,
                                    size_t size, size_t *length) {
  return guarded(__func__, TRACEA_INTERNAL_ERROR, [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requireHandle(program, "program"));
    return copyText(explain(*program), buffer, size, length);
  });
}

size_t tracea_program_entry_count(const TraceaProgram *program) {
  return requireHandle(program, "program").ok()
             ? program->compiled.program.manifest.entries.size()
             : 0;
}

const char *tracea_program_entry_name(const TraceaProgram *program,
                                      size_t index) {
  return index < tracea_program_entry_count(program)
             ? program->compiled.program.manifest.entries[index].name.c_str()
             : nullptr;
}

TraceaStatus tracea_program_counts(const TraceaProgram *program,
                                   const char *entry, size_t *inputs,
                                   size_t *outputs) {
  return guarded(__func__, TRACEA_INTERNAL_ERROR, [&]() -> Status {
    Expected<const runtime::EntrySpec *> spec = findEntry(program, entry);
    if (!spec)
      return spec.status();
    if (inputs)
      *inputs = (*spec)->inputs.size();
    if (outputs)
      *outputs = (*spec)->outputs.size();
    return Status::success();
  });
}

TraceaStatus tracea_program_input(const TraceaProgram *program,
                                  const char *entry, size_t index,
                                  TraceaArgument *argument) {
  return guarded(__func__, TRACEA_INTERNAL_ERROR, [&]() -> Status {
    Expected<const runtime::EntrySpec *> spec = findEntry(program, entry);
    if (!spec)
      return spec.status();
    TRACEA_RETURN_IF_ERROR(checkIndex("inputs", index, (*spec)->inputs.size()));
    const runtime::InputSpec &input = (*spec)->inputs[index];
    TraceaArgument full = {};
    full.name = input.name.c_str();
    full.dtype = toDType(input.type);
    full.rank = static_cast<uint32_t>(input.shape.size());
    full.shape = input.shape.data();
    full.is_constant = input.isConstant;
    full.is_scalar = input.isScalar;
    return giveArgument(full, argument);
  });
}

TraceaStatus tracea_program_output(const TraceaProgram *program,
                                   const char *entry, size_t index,
                                   TraceaArgument *argument) {
  return guarded(__func__, TRACEA_INTERNAL_ERROR, [&]() -> Status {
    Expected<const runtime::EntrySpec *> spec = findEntry(program, entry);
    if (!spec)
      return spec.status();
    TRACEA_RETURN_IF_ERROR(
        checkIndex("outputs", index, (*spec)->outputs.size()));
    const runtime::OutputSpec &output = (*spec)->outputs[index];
    TraceaArgument full = {};
    full.name = "";
    full.dtype = toDType(output.type);
    full.rank = static_cast<uint32_t>(output.view.sizes.size());
    return giveArgument(full, argument);
  });
}
