//===- Summary.cpp - What a run says, and where its results go ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Summary.h"

#include "tracea/Runtime/Npy.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

using namespace tracea::driver;
namespace rt = tracea::runtime;

namespace {
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

Status tracea::driver::checkOutputOptions(const std::vector<std::string> &paths,
                                          bool json) {
  for (size_t i = 0; i < paths.size(); ++i) {
    const std::string &path = paths[i];
    TRACEA_RETURN_IF_ERROR(checkWritable(path));
    if (path == "-" && json)
      return Status::error("--output - and --json both write to the standard "
                           "output; expected one of them");
    if (std::count(paths.begin(), paths.end(), path) > 1)
      return Status::error("--output " + path + " is given twice");
  }
  return Status::success();
}

Status tracea::driver::writeOutputs(const std::vector<rt::Tensor> &outputs,
                                    const std::vector<std::string> &paths) {
  OutputFiles files;
  for (size_t i = 0; i < paths.size(); ++i) {
    Expected<std::vector<uint8_t>> bytes = rt::serializeNpy(outputs[i]);
    if (!bytes)
      return bytes.status();
    files.add(paths[i], std::move(*bytes));
  }
  return files.commit();
}

std::string tracea::driver::formatSummary(
    const LoadedProgram &program, const std::string &source,
    const std::vector<rt::Tensor> &outputs,
    const std::vector<std::string> &paths, std::optional<double> compileSeconds,
    double seconds) {
  const rt::DeviceInfo &info = program.device->info();
  std::string text = source + ": " + program.entryName + " on " + info.name +
                     ", " + std::to_string(info.parallelism) +
                     (info.hasGrid ? " multiprocessor" : " thread") +
                     (info.parallelism == 1 ? "" : "s");
  if (compileSeconds)
    text += ", compiled in " + describeSeconds(*compileSeconds);
  text += ", ran in " + describeSeconds(seconds) + "\n";
  for (size_t i = 0; i < program.inputs.size(); ++i)
    text += "  input " + std::to_string(i) + ": " +
            program.inputs[i].tensor.describe() + " (" +
            program.inputs[i].origin + ")\n";
  for (size_t i = 0; i < outputs.size(); ++i) {
    Range range = getRange(outputs[i]);
    text += "  output " + std::to_string(i) + ": " + outputs[i].describe();
    if (outputs[i].numElements() > range.nans)
      text += " from " + formatNumber("%.6g", range.least) + " to " +
              formatNumber("%.6g", range.most);
    if (range.nans)
      text += ", " + std::to_string(range.nans) + " NaN";
    if (!paths.empty())
      text += " (" + paths[i] + ")";
    text += "\n";
  }
  return text;
}

nlohmann::ordered_json tracea::driver::describeRun(
    const LoadedProgram &program, const std::string &source,
    const std::vector<rt::Tensor> &outputs,
    const std::vector<std::string> &paths, std::optional<double> compileSeconds,
    double seconds) {
  const rt::DeviceInfo &info = program.device->info();
  nlohmann::ordered_json json;
  json["source"] = source;
  json["entry"] = program.entryName;
  json["target"] = program.executable->manifest().target.name;
  json["device"] = info.name;
  json[info.hasGrid ? "multiprocessors" : "threads"] = info.parallelism;
  if (compileSeconds)
    json["compileSeconds"] = *compileSeconds;
  json["runSeconds"] = seconds;
  json["inputs"] = nlohmann::ordered_json::array();
  for (const InputTensor &input : program.inputs)
    json["inputs"].push_back({{"type", rt::nameOf(input.tensor.type())},
                              {"shape", input.tensor.shape()},
                              {"from", input.origin}});
  json["outputs"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < outputs.size(); ++i) {
    nlohmann::ordered_json entry = {{"type", rt::nameOf(outputs[i].type())},
                                    {"shape", outputs[i].shape()}};
    if (!paths.empty())
      entry["to"] = paths[i];
    json["outputs"].push_back(std::move(entry));
  }
  const rt::RunStats &stats = program.execution->stats();
  json["launches"] = stats.launches;
  json["arenaBytes"] = stats.arenaBytes;
  json["copiedBytes"] = stats.copiedBytes;
  return json;
}
