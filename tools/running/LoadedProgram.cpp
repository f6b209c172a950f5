//===- LoadedProgram.cpp - A program with its inputs, on a device ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LoadedProgram.h"

#include <algorithm>

using namespace tracea::driver;
namespace rt = tracea::runtime;

void tracea::driver::addRunOptions(CLI::App &app, RunOptions &options) {
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

Expected<DeviceName> tracea::driver::parseDevice(const std::string &text) {
  DeviceName place;
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

Expected<std::shared_ptr<rt::Device>>
tracea::driver::openDevice(const DeviceName &name, int threads) {
  rt::DeviceOptions options;
  options.threads = threads;
  options.ordinal = name.ordinal;
  return rt::openDevice(name.kind, options);
}

Status LoadedProgram::load(rt::ProgramFile program, const std::string &name,
                           const RunOptions &options) {
  Expected<std::shared_ptr<rt::Executable>> loaded =
      rt::Executable::load(std::move(program), device);
  if (!loaded)
    return loaded.status().withContext(name);
  executable = *loaded;
  rt::ExecutionOptions runs;
  runs.streams = options.streams;
  runs.graph = options.graph;
  Expected<std::unique_ptr<rt::Execution>> made =
      executable->createExecution(entryName, runs);
  if (!made)
    return made.status().withContext(name);
  execution = std::move(*made);

  Expected<std::vector<InputTensor>> tensors = makeInputs(entry(), options);
  if (!tensors)
    return tensors.status();
  inputs = std::move(*tensors);
  return Status::success();
}

std::vector<rt::Tensor> LoadedProgram::inputTensors() const {
  std::vector<rt::Tensor> tensors;
  for (const InputTensor &input : inputs)
    tensors.push_back(input.tensor);
  return tensors;
}

std::vector<rt::Tensor> LoadedProgram::otherTensors() const {
  std::vector<rt::Tensor> tensors = inputTensors();
  for (size_t i = 0; i < tensors.size(); ++i)
    if (entry().inputs[i].isConstant)
      tensors[i] = rt::Tensor();
  return tensors;
}
