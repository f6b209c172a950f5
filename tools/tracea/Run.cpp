//===- Run.cpp - tracea run -----------------------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Check.h"
#include "Commands.h"
#include "Session.h"
#include "Summary.h"
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
} // namespace

static Status run(const RunCommand &command) {
  if (command.tolerance &&
      !(*command.tolerance >= 0 && std::isfinite(*command.tolerance)))
    return Status::error(
        "--tolerance: expected a finite number of at least 0, found " +
        formatNumber("%g", *command.tolerance));
  TRACEA_RETURN_IF_ERROR(checkOutputOptions(command.outputs, command.json));
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
  std::optional<double> compileSeconds;
  if (session.source.module)
    compileSeconds = session.compileSeconds;
  nlohmann::ordered_json json;
  if (command.json)
    json = describeRun(session, session.source.name, outputs, command.outputs,
                       compileSeconds, seconds);
  std::string summary = formatSummary(session, session.source.name, outputs,
                                      command.outputs, compileSeconds, seconds);

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
  if (passed)
    TRACEA_RETURN_IF_ERROR(writeOutputs(outputs, command.outputs));
  if (passed && command.bench) {
    Expected<Timing> timing = measure(session, {}, session.findWork());
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
