//===- Run.cpp - tracea run -----------------------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Check.h"
#include "Commands.h"
#include "Session.h"
#include "Timing.h"
#include "tracea/Runtime/Npy.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

using namespace tracea::driver;
namespace rt = tracea::runtime;

namespace {
struct RunCommand {
  SessionOptions session;
  std::vector<std::string> outputs;
  bool check = false;
  std::optional<double> tolerance;
  bool bench = false;
  bool json = false;
};

/// What a summary says about a tensor.
struct Range {
  double least = 0;
  double most = 0;
  int64_t nans = 0;
};
} // namespace

static Range getRange(const rt::Tensor &tensor) {
  Range range;
  bool first = true;
  int64_t size = rt::sizeOf(tensor.type());
  for (int64_t i = 0; i < tensor.numElements(); ++i) {
    double value =
        rt::readAsDouble(tensor.type(), tensor.dataAs<char>() + i * size);
    if (std::isnan(value)) {
      ++range.nans;
      continue;
    }
    range.least = first ? value : std::min(range.least, value);
    range.most = first ? value : std::max(range.most, value);
    first = false;
  }
  return range;
}

static Status checkOutputOptions(const RunCommand &command) {
  for (size_t i = 0; i < command.outputs.size(); ++i) {
    const std::string &path = command.outputs[i];
    TRACEA_RETURN_IF_ERROR(checkWritable(path));
    if (path == "-" && command.json)
      return Status::error("--output - and --json both write to the standard "
                           "output; expected one of them");
    if (std::count(command.outputs.begin(), command.outputs.end(), path) > 1)
      return Status::error("--output " + path + " is given twice");
  }
  return Status::success();
}

static std::string formatSummary(const Session &session,
                                 const std::vector<rt::Tensor> &outputs,
                                 const RunCommand &command, double seconds) {
  const rt::DeviceInfo &info = session.device->info();
  std::string text = session.source.name + ": " + session.entryName + " on " +
                     info.name + ", " + std::to_string(info.parallelism) +
                     (info.hasGrid ? " multiprocessor" : " thread") +
                     (info.parallelism == 1 ? "" : "s");
  if (session.source.module)
    text += ", compiled in " + describeSeconds(session.compileSeconds);
  text += ", ran in " + describeSeconds(seconds) + "\n";
  for (size_t i = 0; i < session.inputs.size(); ++i)
    text += "  input " + std::to_string(i) + ": " +
            session.inputs[i].tensor.describe() + " (" +
            session.inputs[i].origin + ")\n";
  for (size_t i = 0; i < outputs.size(); ++i) {
    Range range = getRange(outputs[i]);
    text += "  output " + std::to_string(i) + ": " + outputs[i].describe();
    if (outputs[i].numElements() > range.nans)
      text += " from " + formatNumber("%.6g", range.least) + " to " +
              formatNumber("%.6g", range.most);
    if (range.nans)
      text += ", " + std::to_string(range.nans) + " NaN";
    if (!command.outputs.empty())
      text += " (" + command.outputs[i] + ")";
    text += "\n";
  }
  return text;
}

static nlohmann::ordered_json
describeRun(const Session &session, const std::vector<rt::Tensor> &outputs,
            const RunCommand &command, double seconds) {
  const rt::DeviceInfo &info = session.device->info();
  nlohmann::ordered_json json;
  json["source"] = session.source.name;
  json["entry"] = session.entryName;
  json["target"] = session.executable->manifest().target.name;
  json["device"] = info.name;
  json[info.hasGrid ? "multiprocessors" : "threads"] = info.parallelism;
  if (session.source.module)
    json["compileSeconds"] = session.compileSeconds;
  json["runSeconds"] = seconds;
  json["inputs"] = nlohmann::ordered_json::array();
  for (const InputTensor &input : session.inputs)
    json["inputs"].push_back({{"type", rt::nameOf(input.tensor.type())},
                              {"shape", input.tensor.shape()},
                              {"from", input.origin}});
  json["outputs"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < outputs.size(); ++i) {
    nlohmann::ordered_json entry = {{"type", rt::nameOf(outputs[i].type())},
                                    {"shape", outputs[i].shape()}};
    if (!command.outputs.empty())
      entry["to"] = command.outputs[i];
    json["outputs"].push_back(std::move(entry));
  }
  const rt::RunStats &stats = session.execution->stats();
  json["launches"] = stats.launches;
  json["arenaBytes"] = stats.arenaBytes;
  json["copiedBytes"] = stats.copiedBytes;
  return json;
}

static Status run(const RunCommand &command) {
  if (command.tolerance &&
      !(*command.tolerance >= 0 && std::isfinite(*command.tolerance)))
    return Status::error(
        "--tolerance: expected a finite number of at least 0, found " +
        formatNumber("%g", *command.tolerance));
  TRACEA_RETURN_IF_ERROR(checkOutputOptions(command));
  Expected<Session> opened = Session::open(command.session);
  if (!opened)
    return opened.status();
  Session &session = *opened;
  size_t results = session.entry().outputs.size();
  if (!command.outputs.empty() && command.outputs.size() != results)
    return Status::error("entry '" + session.entryName + "' has " +
                         std::to_string(results) +
                         (results == 1 ? " result" : " results") +
                         ": expected as many --output or none, found " +
                         std::to_string(command.outputs.size()));
  if (command.check && !session.source.module)
    return Status::error(
        "--check: expected a module, found the program '" +
        session.source.name +
        "', which no longer holds the meaning to compare with; give the .mlir");

  std::vector<rt::Tensor> outputs(results);
  Stopwatch watch;
  TRACEA_RETURN_IF_ERROR(session.execution->run(session.inputTensors(), outputs)
                             .withContext(session.source.name));
  double seconds = watch.seconds();
  // A run is recorded when it comes again.
  if (command.session.graph) {
    watch = Stopwatch();
    TRACEA_RETURN_IF_ERROR(
        session.execution->run(session.otherTensors(), outputs)
            .withContext(session.source.name));
    seconds = watch.seconds();
  }
  nlohmann::ordered_json json;
  if (command.json)
    json = describeRun(session, outputs, command, seconds);
  std::string summary = formatSummary(session, outputs, command, seconds);

  bool passed = true;
  if (command.check) {
    Expected<CheckResult> result =
        checkOutputs(session, outputs, command.tolerance.value_or(-1));
    if (!result)
      return result.status();
    passed = result->passed;
    if (command.json)
      json["check"] = toJSON(*result);
    summary += formatCheck(*result);
  }
  if (passed) {
    OutputFiles files;
    for (size_t i = 0; i < command.outputs.size(); ++i) {
      Expected<std::vector<uint8_t>> bytes = rt::serializeNpy(outputs[i]);
      if (!bytes)
        return bytes.status();
      files.add(command.outputs[i], std::move(*bytes));
    }
    TRACEA_RETURN_IF_ERROR(files.commit());
  }
  if (passed && command.bench) {
    Expected<Timing> timing = measure(session, 1.0);
    if (!timing)
      return timing.status();
    if (command.json)
      json["bench"] = toJSON(*timing);
    summary += formatTiming(*timing);
  }
  if (command.json)
    TRACEA_RETURN_IF_ERROR(writeJSON(json));
  else if (std::count(command.outputs.begin(), command.outputs.end(), "-"))
    std::fputs(summary.c_str(), stderr);
  else
    TRACEA_RETURN_IF_ERROR(writeStdout(summary));
  if (!passed)
    return Status::error(
        "the results differ from the float64 reference by "
        "more than the bound" +
        std::string(command.outputs.empty() ? "" : "; no output was written"));
  return Status::success();
}

void tracea::driver::addRunCommand(CLI::App &app, int &exitCode) {
  CLI::App *sub = app.add_subcommand(
      "run", "Run a module or program on NumPy files, and check the results");
  auto command = std::make_shared<RunCommand>();
  addSessionOptions(*sub, command->session);
  sub->add_option("--output", command->outputs,
                  "NumPy file for the next result (- is the standard output); "
                  "repeat in result order, or leave out to only run")
      ->allow_extra_args(false)
      ->type_name("Y.npy");
  sub->add_flag("--check", command->check,
                "Compare with the module's meaning in float64 and fail above "
                "the bound (which is printed)");
  sub->add_option("--tolerance", command->tolerance,
                  "Bound of --check, relative to the largest element of the "
                  "reference, in place of the computed one")
      ->needs("--check")
      ->type_name("X");
  sub->add_flag("--bench", command->bench,
                "Measure as 'tracea bench' does, for one second");
  sub->add_flag("--json", command->json,
                "Print one JSON object in place of the summary");
  sub->footer(
      "bf16 arrays are read and written as '<V2' (and read as '<u2'), f16 as "
      "'<f2'.\nResults are written when all of them are there, and not at all "
      "when --check fails.\n\n"
      "Examples:\n"
      "  tracea run model.mlir --input x.npy --output y.npy --check\n"
      "  tracea run model.tracea --input x.npy --output y.npy --json\n"
      "  tracea run theirs.tracea --trust their-key.pem.pub --input x.npy\n"
      "  tracea run gemm.mlir --random-inputs --shape 0=128x64 --check");
  CLI::Option *random = sub->get_option("--random-inputs");
  sub->callback([command, random, &exitCode] {
    command->session.random = random->count() > 0;
    Status status = run(*command);
    if (!status.ok()) {
      printError(status.message());
      exitCode = 1;
    }
  });
}
