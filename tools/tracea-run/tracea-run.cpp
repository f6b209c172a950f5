//===- tracea-run.cpp - Runs, checks, measures and shows programs ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runner for deployment: linked with the runtime alone. Data goes to the
// standard output, all else to stderr; the exit code is 0, or 1 on any error.

#include "Compare.h"
#include "LoadedProgram.h"
#include "Summary.h"
#include "Timing.h"
#include "Trust.h"
#include "tracea/Runtime/Npy.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <iostream>
#include <new>

using namespace tracea::driver;
namespace rt = tracea::runtime;

namespace {
struct Command {
  std::string source;
  /// Of a program with several versions: the one to run, or to show.
  std::string target;
  RunOptions run;
  std::vector<std::string> trust;
  std::vector<std::string> outputs;
  std::vector<std::string> expected;
  std::optional<double> tolerance;
  std::optional<double> benchSeconds;
  MeasureOptions measuring;
  bool show = false;
  bool json = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// --show
//===----------------------------------------------------------------------===//

static std::string describeProofs(const rt::KernelSpec &kernel) {
  std::string text;
  for (const rt::CertificateSpec &certificate : kernel.certificates)
    text += (text.empty() ? "" : ", ") + certificate.check;
  for (const rt::RemarkSpec &remark : kernel.remarks)
    text += (text.empty() ? "" : ", ") + remark.check + " open";
  return text.empty() ? "-" : text;
}

static std::string formatVersion(const std::string &name,
                                 const rt::Manifest &manifest) {
  std::string text = name + ": for " + manifest.target.name + " (" +
                     manifest.target.kind + ", " + manifest.target.arch +
                     "), by " + manifest.producer + "\n";
  for (const rt::EntrySpec &entry : manifest.entries) {
    auto launches =
        std::count_if(entry.steps.begin(), entry.steps.end(),
                      [](const rt::StepSpec &step) { return step.isLaunch(); });
    text += "entry " + entry.name + ", " + std::to_string(launches) +
            (launches == 1 ? " launch\n" : " launches\n");
    for (const rt::InputSpec &input : entry.inputs)
      text += "  input " + input.name + ": " + describeType(input) +
              (input.isConstant ? ", constant\n" : "\n");
    for (const rt::OutputSpec &output : entry.outputs)
      text += std::string("  output: ") + rt::nameOf(output.type) + " of " +
              std::to_string(output.view.sizes.size()) + " dimensions\n";
  }
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "operation", "variant", "proofs"}};
  for (const rt::KernelSpec &kernel : manifest.kernels)
    rows.push_back({kernel.name, kernel.op.empty() ? "-" : kernel.op,
                    kernel.variant.empty() ? "plain loops" : kernel.variant,
                    describeProofs(kernel)});
  return text + formatTable(rows);
}

/// All versions, in the order in which they are preferred.
static std::string formatProgram(const std::string &name,
                                 const rt::ProgramFile &program) {
  std::string text;
  for (const rt::Manifest *version : program.versions())
    text += (text.empty() ? "" : "\n") + formatVersion(name, *version);
  return text;
}

static nlohmann::ordered_json describeVersion(const std::string &name,
                                              const rt::Manifest &manifest) {
  nlohmann::ordered_json json;
  json["source"] = name;
  json["target"] = manifest.target.name;
  json["kind"] = manifest.target.kind;
  json["arch"] = manifest.target.arch;
  json["producer"] = manifest.producer;
  json["entries"] = nlohmann::ordered_json::array();
  for (const rt::EntrySpec &entry : manifest.entries) {
    nlohmann::ordered_json item;
    item["name"] = entry.name;
    item["inputs"] = nlohmann::ordered_json::array();
    for (const rt::InputSpec &input : entry.inputs)
      item["inputs"].push_back({{"name", input.name},
                                {"type", rt::nameOf(input.type)},
                                {"shape", input.shape},
                                {"constant", input.isConstant},
                                {"scalar", input.isScalar}});
    item["outputs"] = nlohmann::ordered_json::array();
    for (const rt::OutputSpec &output : entry.outputs)
      item["outputs"].push_back({{"type", rt::nameOf(output.type)},
                                 {"rank", output.view.sizes.size()}});
    json["entries"].push_back(std::move(item));
  }
  json["kernels"] = nlohmann::ordered_json::array();
  for (const rt::KernelSpec &kernel : manifest.kernels) {
    nlohmann::ordered_json item = {
        {"name", kernel.name}, {"op", kernel.op}, {"variant", kernel.variant}};
    item["proofs"] = nlohmann::ordered_json::array();
    for (const rt::CertificateSpec &certificate : kernel.certificates)
      item["proofs"].push_back(certificate.check);
    item["open"] = nlohmann::ordered_json::array();
    for (const rt::RemarkSpec &remark : kernel.remarks)
      item["open"].push_back(remark.check);
    json["kernels"].push_back(std::move(item));
  }
  return json;
}

static nlohmann::ordered_json describeProgram(const std::string &name,
                                              const rt::ProgramFile &program) {
  nlohmann::ordered_json json = describeVersion(name, program.manifest);
  for (const rt::Manifest &other : program.others)
    json["others"].push_back(describeVersion(name, other));
  return json;
}

//===----------------------------------------------------------------------===//
// --expect
//===----------------------------------------------------------------------===//

/// The file's tensor, which has to be like the output.
static Expected<rt::Tensor> readExpected(const std::string &path, size_t number,
                                         const rt::Tensor &output) {
  rt::NpyReadOptions options;
  options.expected = output.type();
  Expected<rt::Tensor> tensor = rt::readNpy(path, options);
  if (!tensor)
    return tensor.status().withContext("--expect " + path);
  if (tensor->type() != output.type() || tensor->shape() != output.shape())
    return Status::error("--expect " + path + ": expected " +
                         output.describe() + ", as output " +
                         std::to_string(number) + " is, found " +
                         tensor->describe());
  return widen(*tensor);
}

static Expected<std::vector<OutputCheck>>
compareOutputs(const Command &command, const std::vector<rt::Tensor> &outputs) {
  std::vector<OutputCheck> checks;
  for (size_t i = 0; i < command.expected.size(); ++i) {
    Expected<rt::Tensor> expected =
        readExpected(command.expected[i], i, outputs[i]);
    if (!expected)
      return expected.status();
    constexpr double roundings = 8;
    double bound = command.tolerance.value_or(
        roundings * getFacts(outputs[i].type()).epsilon);
    checks.push_back(compareTensors(outputs[i], *expected, bound));
  }
  return checks;
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

static Status checkOptions(const Command &command) {
  if (command.tolerance &&
      !(*command.tolerance >= 0 && std::isfinite(*command.tolerance)))
    return Status::error(
        "--tolerance: expected a finite number of at least 0, found " +
        formatNumber("%g", *command.tolerance));
  return checkOutputOptions(command.outputs, command.json);
}

static Status checkCount(const char *option, const rt::EntrySpec &entry,
                         size_t given) {
  size_t results = entry.outputs.size();
  if (given == 0 || given == results)
    return Status::success();
  return Status::error(
      "entry '" + entry.name + "' has " + std::to_string(results) +
      (results == 1 ? " result" : " results") + ": expected as many " + option +
      " or none, found " + std::to_string(given));
}

static Expected<LoadedProgram> load(const Command &command,
                                    rt::ProgramFile program) {
  const rt::Manifest &manifest = program.manifest;
  std::vector<std::string> names;
  for (const rt::EntrySpec &entry : manifest.entries)
    names.push_back(entry.name);
  Expected<std::string> entry =
      chooseEntry(command.source, names, command.run.entry);
  if (!entry)
    return entry.status();
  Expected<DeviceName> device = parseDevice(command.run.device);
  if (!device)
    return device.status();
  const rt::TargetSpec &made = manifest.target;
  if (!device->kind.empty() && device->kind != made.kind)
    return Status::error("--device " + command.run.device + ": '" +
                         command.source + "' is compiled for '" + made.name +
                         "', of kind " + made.kind);
  device->kind = made.kind;
  LoadedProgram loaded;
  loaded.entryName = *entry;
  Expected<std::shared_ptr<rt::Device>> opened =
      openDevice(*device, command.run.threads);
  if (!opened)
    return opened.status();
  loaded.device = *opened;
  TRACEA_RETURN_IF_ERROR(
      loaded.load(std::move(program), command.source, command.run));
  return loaded;
}

static Status run(const Command &command) {
  TRACEA_RETURN_IF_ERROR(checkOptions(command));
  rt::FileOrigin origin;
  std::string name = displayName(command.source);
  Expected<std::vector<uint8_t>> bytes =
      command.source == "-"
          ? rt::readDescriptor(0, name, rt::ProgramFile::readLimit(), &origin)
          : rt::readFile(command.source, rt::ProgramFile::readLimit(), &origin);
  if (!bytes)
    return bytes.status();
  Expected<rt::ProgramFile> program = rt::ProgramFile::parse(*bytes);
  if (!program)
    return program.status().withContext(name);
  if (!command.target.empty())
    TRACEA_RETURN_IF_ERROR(
        program->selectTarget(command.target).withContext("--target: " + name));
  if (command.show)
    return command.json ? writeJSON(describeProgram(name, *program))
                        : writeStdout(formatProgram(name, *program));
  Expected<rt::TrustPolicy> trust = parseTrust(command.trust);
  if (!trust)
    return trust.status();
  TRACEA_RETURN_IF_ERROR(requireTrust(name, *trust, *program, origin));

  Expected<LoadedProgram> loaded = load(command, std::move(*program));
  if (!loaded)
    return loaded.status();
  const rt::EntrySpec &entry = loaded->entry();
  TRACEA_RETURN_IF_ERROR(checkCount("--output", entry, command.outputs.size()));
  TRACEA_RETURN_IF_ERROR(
      checkCount("--expect", entry, command.expected.size()));

  std::vector<rt::Tensor> outputs(entry.outputs.size());
  Stopwatch watch;
  TRACEA_RETURN_IF_ERROR(loaded->execution->run(loaded->inputTensors(), outputs)
                             .withContext(name));
  double seconds = watch.seconds();
  std::string summary = formatSummary(*loaded, name, outputs, command.outputs,
                                      std::nullopt, seconds);
  nlohmann::ordered_json json = describeRun(
      *loaded, name, outputs, command.outputs, std::nullopt, seconds);

  Expected<std::vector<OutputCheck>> checks = compareOutputs(command, outputs);
  if (!checks)
    return checks.status();
  bool passed = true;
  for (size_t i = 0; i < checks->size(); ++i) {
    passed &= (*checks)[i].passed;
    summary += formatOutput(i, (*checks)[i]);
    json["checks"].push_back(toJSON((*checks)[i]));
  }
  if (passed)
    TRACEA_RETURN_IF_ERROR(writeOutputs(outputs, command.outputs));
  if (passed && command.benchSeconds) {
    Expected<Timing> timing = [&] {
      Progress progress("measuring " + name);
      MeasureOptions options = command.measuring;
      options.seconds = *command.benchSeconds;
      return measure(*loaded, options);
    }();
    if (!timing)
      return timing.status().withContext(name);
    json["bench"] = toJSON(*timing);
    summary += formatTiming(*timing);
  }
  if (command.json)
    TRACEA_RETURN_IF_ERROR(writeJSON(json));
  else if (std::count(command.outputs.begin(), command.outputs.end(), "-"))
    std::fputs(summary.c_str(), stderr);
  else
    TRACEA_RETURN_IF_ERROR(writeStdout(summary));
  return passed ? Status::success()
                : Status::error("the results differ from what is expected" +
                                std::string(command.outputs.empty()
                                                ? ""
                                                : "; no output was written"));
}

static void addOptions(CLI::App &app, Command &command) {
  app.add_option("program", command.source,
                 "A program (.tracea), or - for the standard input")
      ->required()
      ->type_name("FILE");
  app.add_option("--target", command.target,
                 "Which of the program's versions to run or to show; default: "
                 "the first that the device can run, and all")
      ->type_name("NAME");
  addRunOptions(app, command.run);
  addTrustOption(app, command.trust);
  app.add_option("--output", command.outputs,
                 "NumPy file for the next result (- is the standard output); "
                 "repeat in result order, or leave out to only run")
      ->allow_extra_args(false)
      ->type_name("Y.npy");
  app.add_option("--expect", command.expected,
                 "NumPy file that the next result is compared with; repeat in "
                 "result order")
      ->allow_extra_args(false)
      ->type_name("Y.npy");
  app.add_option("--tolerance", command.tolerance,
                 "Bound of --expect, relative to the largest element expected; "
                 "default: 8 times the distance of 1 to the next number of the "
                 "type")
      ->needs("--expect")
      ->type_name("X");
  app.add_option("--bench", command.benchSeconds,
                 "Measure for at least this long, whole and kernel by kernel")
      ->check(CLI::Range(0.001, 3600.0))
      ->type_name("S");
  addMeasureOptions(app, command.measuring);
  for (const char *option : {"--copies", "--rest"})
    app.get_option(option)->needs("--bench");
  app.add_flag("--show", command.show,
               "Show what the program holds, and run nothing");
  app.add_flag("--json", command.json,
               "Print one JSON object in place of the summary");
  app.set_version_flag("--version", "tracea-run " TRACEA_VERSION,
                       "Print the version");
  app.footer("Examples:\n"
             "  tracea-run model.tracea --show\n"
             "  tracea-run model.tracea --input x.npy --output y.npy\n"
             "  tracea-run model.tracea --input x.npy --expect y.npy\n"
             "  tracea-run model.tracea --random-inputs --bench 1 --json");
}

static int parseAndRun(int argc, char **argv) {
  CLI::App app("Runs compiled programs, checks and measures them.",
               "tracea-run");
  Command command;
  addOptions(app, command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &success) { // help and version
    return app.exit(success, std::cout, std::cerr);
  } catch (const CLI::ParseError &error) {
    printError(std::string(error.what()) + "; see 'tracea-run --help'");
    return 1;
  }
  command.run.random = app.get_option("--random-inputs")->count() > 0;
  Status status = run(command);
  if (status.ok())
    return 0;
  printError(status.message());
  return 1;
}

int main(int argc, char **argv) {
  setToolName("tracea-run");
  try {
    return parseAndRun(argc, argv);
  } catch (const std::bad_alloc &) {
    printError("out of memory");
  } catch (const std::exception &error) {
    printError(error.what());
  }
  return 1;
}
