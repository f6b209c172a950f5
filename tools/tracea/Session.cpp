//===- Session.cpp - A module or program, loaded with its inputs ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Session.h"

#include "Commands.h"
#include "Proofs.h"
#include "Signing.h"
#include "Timing.h"
#include "tracea/Runtime/Npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>

using namespace tracea::driver;
namespace rt = tracea::runtime;

void tracea::driver::addSessionOptions(CLI::App &app, SessionOptions &options) {
  app.add_option("module", options.source,
                 "A module (.mlir text or bytecode), a program (.tracea), or - "
                 "for the standard input")
      ->required()
      ->type_name("FILE");
  app.add_option("--target", options.target,
                 "Machine to compile for: cpu is this one; default: what the "
                 "device is")
      ->type_name("NAME");
  app.add_option(
         "--device", options.device,
         "Where to run: cpu, cuda, or cuda:N for GPU number N; default: "
         "what the target or the program is for")
      ->type_name("DEVICE");
  app.add_option("--entry", options.entry,
                 "The function to run; default: the only public one, else main")
      ->type_name("NAME");
  app.add_option("--threads", options.threads,
                 "Threads to use, the calling one included; default: "
                 "TRACEA_NUM_THREADS, else all processors")
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
  app.add_option("--streams", options.streams,
                 "Streams of the device that steps which need nothing of each "
                 "other may run on; default: 1")
      ->check(CLI::Range(1, 64))
      ->type_name("N");
  app.add_flag("--graph", options.graph,
               "Record the run into a graph of the device, and launch that as "
               "a whole");
  app.add_option("--input", options.inputs,
                 "NumPy file of the next argument, or its number where it is "
                 "a scalar; repeat in argument order")
      ->allow_extra_args(false)
      ->type_name("X.npy");
  app.add_flag("--random-inputs{0}", options.seed,
               "Inputs without a file get random numbers: floats in [-1, 1), "
               "integers "
               "in [-8, 8); --random-inputs=SEED for others")
      ->type_name("[=SEED]");
  app.add_option("--shape", options.shapes,
                 "Sizes of a random input, as INDEX=AxBxC; needed where the "
                 "type leaves a size open")
      ->allow_extra_args(false)
      ->type_name("I=AxB");
  addTrustOption(app, options.trust);
  addPluginOption(app);
  app.add_flag("--require-proof", options.requireProof,
               "A kernel that lacks a certificate is an error");
}

//===----------------------------------------------------------------------===//
// Source
//===----------------------------------------------------------------------===//

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Expected<Source> Source::open(const std::string &path) {
  Source source;
  Expected<std::vector<uint8_t>> bytes = readInput(path, source.origin);
  if (!bytes)
    return bytes.status();
  source.name = displayName(path);
  if (rt::ProgramFile::hasMagic(*bytes) || endsWith(path, ".tracea")) {
    Expected<rt::ProgramFile> program = rt::ProgramFile::parse(*bytes);
    if (!program)
      return program.status().withContext(source.name);
    source.program = std::move(*program);
    return source;
  }
  source.module = Frontend::parse(source.name, *bytes);
  if (!source.module)
    return Status::error("cannot parse '" + source.name + "'");
  return source;
}

Expected<std::string>
tracea::driver::chooseEntry(const std::string &source,
                            const std::vector<std::string> &names,
                            const std::string &wanted) {
  auto has = [&](const std::string &name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (names.empty())
    return Status::error(source +
                         ": expected an entry: a public function with a body, "
                         "or a program that was made of one; found none");
  if (!wanted.empty()) {
    if (has(wanted))
      return wanted;
    return Status::error(source + ": no entry is named '" + wanted +
                         "'; it has " + quoteList(names));
  }
  if (names.size() == 1)
    return names.front();
  if (has("main"))
    return std::string("main");
  return Status::error(source + ": expected --entry to say which of " +
                       quoteList(names) + " to run");
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// splitmix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number
/// Generators", 2014): the same numbers on every machine.
static uint64_t nextRandom(uint64_t &state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static void fillRandom(const rt::Tensor &tensor, uint64_t seed) {
  uint64_t state = seed;
  auto unit = [&] { // [-1, 1), exact in 24 bits
    return static_cast<float>(nextRandom(state) >> 40) * 0x1p-23f - 1.0f;
  };
  auto small = [&] {
    return static_cast<int64_t>(nextRandom(state) >> 60) - 8;
  };
  int64_t bytes = rt::sizeOf(tensor.type());
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    switch (tensor.type()) {
    case rt::ElementType::I64:
      tensor.dataAs<int64_t>()[i] = small();
      break;
    case rt::ElementType::Index:
      tensor.dataAs<int64_t>()[i] = small() + 8;
      break;
    case rt::ElementType::I32:
      tensor.dataAs<int32_t>()[i] = static_cast<int32_t>(small());
      break;
    case rt::ElementType::I16:
      tensor.dataAs<int16_t>()[i] = static_cast<int16_t>(small());
      break;
    case rt::ElementType::I8:
      tensor.dataAs<int8_t>()[i] = static_cast<int8_t>(small());
      break;
    case rt::ElementType::I1:
      tensor.dataAs<uint8_t>()[i] = static_cast<uint8_t>(small() & 1);
      break;
    default:
      // The cast to 16 bits may reach 1, which is harmless.
      rt::writeFromDouble(tensor.type(), static_cast<double>(unit()),
                          tensor.dataAs<char>() + i * bytes);
    }
}

namespace {
struct ShapeOption {
  size_t input = 0;
  std::vector<int64_t> sizes;
};
} // namespace

static bool parseInteger(const std::string &text, int64_t &value) {
  const char *end = text.data() + text.size();
  std::from_chars_result result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end && !text.empty() &&
         value >= 0;
}

static Expected<uint64_t> parseSeed(const std::string &text) {
  const char *end = text.data() + text.size();
  uint64_t seed = 0;
  std::from_chars_result result = std::from_chars(text.data(), end, seed);
  if (result.ec != std::errc() || result.ptr != end)
    return Status::error("--random-inputs=" + text +
                         ": expected a number from 0 to " +
                         std::to_string(~uint64_t(0)));
  return seed;
}

/// "0=128x256"; "2=" is a scalar.
static Expected<ShapeOption> parseShape(const std::string &text) {
  Status bad = Status::error("--shape " + text +
                             ": expected INDEX=AxBxC, for example 0=128x256");
  size_t equals = text.find('=');
  int64_t index = 0;
  if (equals == std::string::npos ||
      !parseInteger(text.substr(0, equals), index))
    return bad;
  ShapeOption option;
  option.input = static_cast<size_t>(index);
  std::string rest = text.substr(equals + 1);
  while (!rest.empty()) {
    size_t cut = rest.find('x');
    int64_t size = 0;
    if (!parseInteger(rest.substr(0, cut), size) || cut + 1 == rest.size())
      return bad;
    option.sizes.push_back(size);
    rest = cut == std::string::npos ? "" : rest.substr(cut + 1);
  }
  return option;
}

/// Whether a tensor of that type and shape may stand as the input.
static bool matches(const rt::InputSpec &spec, rt::ElementType type,
                    const std::vector<int64_t> &shape) {
  if (type != spec.type || shape.size() != spec.shape.size())
    return false;
  for (size_t i = 0; i < shape.size(); ++i)
    if (spec.shape[i] != rt::dynamicSize && spec.shape[i] != shape[i])
      return false;
  return true;
}

static std::string describeInput(const rt::EntrySpec &entry, size_t index) {
  return "input " + std::to_string(index) + " ('" + entry.inputs[index].name +
         "')";
}

/// A number that stands for itself, where the text is one that the type has.
static std::optional<rt::Tensor> parseScalar(rt::ElementType type,
                                             const std::string &text) {
  rt::Expected<rt::Tensor> tensor = rt::Tensor::allocate(type, {});
  const char *end = text.data() + text.size();
  std::from_chars_result result{};
  bool fits = true;
  if (rt::isFloat(type)) {
    double value = 0;
    result = std::from_chars(text.data(), end, value);
    if (tensor.ok())
      rt::writeFromDouble(type, value, tensor->data());
  } else {
    int64_t value = 0;
    result = std::from_chars(text.data(), end, value);
    int bits = type == rt::ElementType::I1
                   ? 1
                   : static_cast<int>(8 * rt::sizeOf(type));
    int64_t most = bits == 1 ? 1 : (int64_t(1) << (bits - 2)) * 2 - 1;
    fits = value <= most && value >= (bits == 1 ? 0 : -most - 1);
    if (tensor.ok())
      std::memcpy(tensor->data(), &value,
                  static_cast<size_t>(rt::sizeOf(type)));
  }
  bool isNumber =
      !text.empty() && result.ec == std::errc() && result.ptr == end && fits;
  if (!tensor || !isNumber)
    return std::nullopt;
  return *tensor;
}

static Expected<InputTensor> readTensor(const rt::EntrySpec &entry,
                                        size_t index, const std::string &path) {
  const rt::InputSpec &spec = entry.inputs[index];
  if (spec.isScalar)
    if (std::optional<rt::Tensor> number = parseScalar(spec.type, path))
      return InputTensor{*number, "given"};
  rt::NpyReadOptions options;
  options.expected = spec.type;
  Expected<rt::Tensor> tensor = rt::readNpy(path, options);
  if (!tensor)
    return tensor.status().withContext(
        describeInput(entry, index) +
        (spec.isScalar ? std::string(": expected a number of type ") +
                             rt::nameOf(spec.type) + " or its file"
                       : ""));
  if (!matches(spec, tensor->type(), tensor->shape()))
    return Status::error(path + ": " + describeInput(entry, index) +
                         ": expected " + describeType(spec) + ", found " +
                         tensor->describe());
  return InputTensor{*tensor, path};
}

static Expected<InputTensor>
makeRandom(const rt::EntrySpec &entry, size_t index, uint64_t seed,
           const std::vector<ShapeOption> &shapes) {
  const rt::InputSpec &spec = entry.inputs[index];
  std::vector<int64_t> shape = spec.shape;
  bool given = false;
  for (const ShapeOption &option : shapes)
    if (option.input == index) {
      shape = option.sizes;
      given = true;
    }
  if (!given &&
      std::find(shape.begin(), shape.end(), rt::dynamicSize) != shape.end())
    return Status::error(describeInput(entry, index) + " is " +
                         describeType(spec.type, spec.shape) +
                         ": expected --shape " + std::to_string(index) +
                         "=… to say the sizes left open");
  if (!matches(spec, spec.type, shape))
    return Status::error("--shape of " + describeInput(entry, index) +
                         ": expected " + rt::describeShape(spec.shape) +
                         ", found " + rt::describeShape(shape));
  Expected<rt::Tensor> tensor = rt::Tensor::allocate(spec.type, shape);
  if (!tensor)
    return tensor.status().withContext(describeInput(entry, index));
  fillRandom(*tensor, seed + index * 0x9e3779b9u);
  return InputTensor{*tensor, "random, seed " + std::to_string(seed)};
}

static Expected<std::vector<InputTensor>>
makeInputs(const rt::EntrySpec &entry, const SessionOptions &options) {
  std::vector<ShapeOption> shapes;
  for (const std::string &text : options.shapes) {
    Expected<ShapeOption> shape = parseShape(text);
    if (!shape)
      return shape.status();
    if (!options.random)
      return Status::error("--shape " + text +
                           ": expected --random-inputs with it");
    if (shape->input >= entry.inputs.size())
      return Status::error("--shape " + text + ": entry '" + entry.name +
                           "' has " + std::to_string(entry.inputs.size()) +
                           " inputs");
    if (shape->input < options.inputs.size())
      return Status::error("--shape " + text + ": input " +
                           std::to_string(shape->input) + " is read from '" +
                           options.inputs[shape->input] + "'");
    shapes.push_back(std::move(*shape));
  }
  size_t given = options.inputs.size();
  size_t wanted = entry.inputs.size();
  if (given > wanted || (given < wanted && !options.random)) {
    std::string message = "entry '" + entry.name + "' takes " +
                          std::to_string(wanted) +
                          (wanted == 1 ? " input" : " inputs") + ", found " +
                          std::to_string(given);
    if (given < wanted) {
      message += "; missing";
      for (size_t i = given; i < wanted; ++i)
        message += std::string(i == given ? " " : ", ") + "'" +
                   entry.inputs[i].name + "' " + describeType(entry.inputs[i]);
      message += " (give --input, or --random-inputs)";
    }
    return Status::error(message);
  }
  Expected<uint64_t> seed = parseSeed(options.seed);
  if (!seed)
    return seed.status();
  std::vector<InputTensor> inputs;
  for (size_t i = 0; i < wanted; ++i) {
    Expected<InputTensor> input = i < given
                                      ? readTensor(entry, i, options.inputs[i])
                                      : makeRandom(entry, i, *seed, shapes);
    if (!input)
      return input.status();
    inputs.push_back(std::move(*input));
  }
  return inputs;
}

//===----------------------------------------------------------------------===//
// Session
//===----------------------------------------------------------------------===//

namespace {
/// Where to run, and what to compile for.
struct Place {
  std::string kind;
  int ordinal = 0;
  std::string target;
};
} // namespace

/// What `--device` says; no kind where it says nothing.
static Expected<Place> parseDevice(const std::string &text) {
  Place place;
  size_t colon = text.find(':');
  place.kind = text.substr(0, colon);
  int64_t ordinal = 0;
  bool isCUDA = place.kind == "cuda";
  if ((!text.empty() && !isCUDA && text != "cpu") ||
      (colon != std::string::npos &&
       (!parseInteger(text.substr(colon + 1), ordinal) || ordinal > 1023)))
    return Status::error("--device " + text +
                         ": expected cpu, cuda, or cuda:N with the number of a "
                         "GPU");
  place.ordinal = static_cast<int>(ordinal);
  return place;
}

/// The place for a module compiled for `--target`.
static Expected<Place> choosePlace(const SessionOptions &options) {
  Expected<Place> place = parseDevice(options.device);
  if (!place)
    return place;
  if (options.target.empty()) {
    if (place->kind.empty())
      place->kind = "cpu";
    // A GPU's target is known when it has been opened.
    place->target = place->kind == "cpu" ? "cpu" : "";
    return place;
  }
  Expected<tracea::target::TargetDescription> machine =
      findTarget(options.target);
  if (!machine)
    return machine.status();
  std::string kind(tracea::target::stringify(machine->kind));
  if (machine->isGPU() && kind != "cuda")
    return Status::error("cannot run on target '" + options.target +
                         "': expected one of kind cpu or cuda, found kind " +
                         kind);
  if (!place->kind.empty() && place->kind != kind)
    return Status::error("--device " + options.device + ": target '" +
                         options.target + "' is of kind " + kind);
  place->kind = kind;
  place->target = options.target;
  return place;
}

static Expected<std::shared_ptr<rt::Device>>
openPlace(const Place &place, const SessionOptions &options) {
  rt::DeviceOptions deviceOptions;
  deviceOptions.threads = options.threads;
  deviceOptions.ordinal = place.ordinal;
  return rt::openDevice(place.kind, deviceOptions);
}

/// The table's entry for a GPU: code for one chip alone is what uses all of it.
static Expected<std::string> findTargetOf(const rt::Device &device) {
  const std::string &arch = device.info().arch;
  for (const std::string &name : {arch + "a", arch})
    if (tracea::target::lookup(name))
      return name;
  return Status::error("no target is known for the device " +
                       device.info().name + " (" + arch +
                       "); 'tracea doctor -v' lists the targets");
}

Expected<Session> Session::open(const SessionOptions &options) {
  Session session;
  Expected<Place> place = choosePlace(options);
  if (!place)
    return place.status();

  Expected<rt::TrustPolicy> trust = parseTrust(options.trust);
  if (!trust)
    return trust.status();

  Expected<Source> source = Source::open(options.source);
  if (!source)
    return source.status();
  session.source = std::move(*source);
  if (session.source.program)
    TRACEA_RETURN_IF_ERROR(requireTrust(session.source.name, *trust,
                                        *session.source.program,
                                        session.source.origin));
  else if (!options.trust.empty())
    return Status::error("--trust: expected a program, found the module '" +
                         session.source.name +
                         "': it bears no signature, and its code is made here");

  std::vector<std::string> names;
  if (session.source.module)
    names = session.source.module->publicFunctions();
  else
    for (const rt::EntrySpec &entry : session.source.program->manifest.entries)
      names.push_back(entry.name);
  if (session.source.program && names.empty())
    return Status::error(session.source.name +
                         ": expected a program with an entry, found none");
  Expected<std::string> entry =
      chooseEntry(session.source.name, names, options.entry);
  if (!entry)
    return entry.status();
  session.entryName = *entry;

  if (session.source.program) {
    const rt::TargetSpec &made = session.source.program->manifest.target;
    if (!options.target.empty() && options.target != "cpu" &&
        options.target != "host")
      return Status::error(
          "--target " + options.target + ": '" + session.source.name +
          "' is a program and already compiled for '" + made.name + "'");
    if (!options.device.empty() && place->kind != made.kind)
      return Status::error("--device " + options.device + ": '" +
                           session.source.name + "' is compiled for '" +
                           made.name + "', of kind " + made.kind);
    place->kind = made.kind;
  }
  Expected<std::shared_ptr<rt::Device>> device = openPlace(*place, options);
  if (!device)
    return device.status();
  session.device = *device;
  if (session.source.module && place->target.empty()) {
    Expected<std::string> target = findTargetOf(*session.device);
    if (!target)
      return target.status();
    place->target = *target;
  }

  rt::ProgramFile program;
  if (session.source.module) {
    Progress progress("compiling " + session.source.name);
    Stopwatch watch;
    CompileRequest request;
    request.target = place->target;
    request.entry = session.entryName;
    request.threads = options.threads;
    request.requireProof = options.requireProof;
    std::optional<rt::ProgramFile> compiled =
        session.source.module->compile(request, &session.report);
    if (!compiled) {
      progress.clear();
      return Status::error("cannot compile '" + session.source.name + "'");
    }
    session.compileSeconds = watch.seconds();
    program = std::move(*compiled);
  } else {
    program = *session.source.program;
    if (options.requireProof)
      TRACEA_RETURN_IF_ERROR(
          requireProofs(session.source.name, program.manifest));
  }

  Expected<std::shared_ptr<rt::Executable>> executable =
      rt::Executable::load(std::move(program), session.device);
  if (!executable)
    return executable.status().withContext(session.source.name);
  session.executable = *executable;
  rt::ExecutionOptions runs;
  runs.streams = options.streams;
  runs.graph = options.graph;
  Expected<std::unique_ptr<rt::Execution>> execution =
      session.executable->createExecution(session.entryName, runs);
  if (!execution)
    return execution.status().withContext(session.source.name);
  session.execution = std::move(*execution);

  Expected<std::vector<InputTensor>> inputs =
      makeInputs(session.entry(), options);
  if (!inputs)
    return inputs.status();
  session.inputs = std::move(*inputs);
  return session;
}

std::vector<rt::Tensor> Session::inputTensors() const {
  std::vector<rt::Tensor> tensors;
  for (const InputTensor &input : inputs)
    tensors.push_back(input.tensor);
  return tensors;
}

std::vector<rt::Tensor> Session::otherTensors() const {
  std::vector<rt::Tensor> tensors = inputTensors();
  for (size_t i = 0; i < tensors.size(); ++i)
    if (entry().inputs[i].isConstant)
      tensors[i] = rt::Tensor();
  return tensors;
}

const LaunchNote *Session::findLaunch(const std::string &kernel) const {
  for (const OpDecision &decision : report.decisions)
    for (const LaunchNote &launch : decision.launches)
      if (std::count(launch.kernels.begin(), launch.kernels.end(), kernel))
        return &launch;
  return nullptr;
}
