//===- Bench.cpp - tracea bench -------------------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Commands.h"
#include "Session.h"
#include "Timing.h"

#include <nlohmann/json.hpp>

using namespace tracea::driver;
namespace rt = tracea::runtime;

namespace {
struct BenchCommand {
  SessionOptions session;
  MeasureOptions measuring;
  bool json = false;
};
} // namespace

static Status bench(const BenchCommand &command) {
  Expected<Session> session = Session::open(command.session);
  if (!session)
    return session.status();
  Expected<Timing> timing = [&] {
    Progress progress("measuring " + session->source.name);
    return measure(*session, command.measuring, session->findWork());
  }();
  if (!timing)
    return timing.status().withContext(session->source.name);
  const rt::DeviceInfo &info = session->device->info();
  if (command.json) {
    nlohmann::ordered_json json;
    json["source"] = session->source.name;
    json["entry"] = session->entryName;
    json["target"] = session->executable->manifest().target.name;
    json["device"] = info.name;
    json["threads"] = info.parallelism;
    if (session->source.module)
      json["compileSeconds"] = session->compileSeconds;
    json["inputs"] = nlohmann::ordered_json::array();
    for (const InputTensor &input : session->inputs)
      json["inputs"].push_back({{"type", rt::nameOf(input.tensor.type())},
                                {"shape", input.tensor.shape()},
                                {"from", input.origin}});
    json.update(toJSON(*timing));
    return writeJSON(json);
  }
  std::string text = session->source.name + ": " + session->entryName + " on " +
                     info.name + ", " + std::to_string(info.parallelism) +
                     (info.parallelism == 1 ? " thread" : " threads");
  if (session->source.module)
    text += ", compiled in " + describeSeconds(session->compileSeconds);
  return writeStdout(text + "\n" + formatTiming(*timing));
}

void tracea::driver::addBenchCommand(CLI::App &app, int &exitCode) {
  CLI::App *sub = app.add_subcommand(
      "bench", "Measure a module or program, whole and kernel by kernel");
  auto command = std::make_shared<BenchCommand>();
  addSessionOptions(*sub, command->session);
  sub->add_option("--seconds", command->measuring.seconds,
                  "Measure for at least this long (and three rounds)")
      ->check(CLI::Range(0.001, 3600.0))
      ->capture_default_str()
      ->type_name("S");
  addMeasureOptions(*sub, command->measuring);
  sub->add_flag("--json", command->json, "Print one JSON object");
  sub->footer(
      "After a warm-up, each round is one whole run; the kernels are timed in "
      "further rounds\nthat wait after every launch. GFLOP/s is shown for "
      "products of a module (programs do not\nsay), GB/s counts each view that "
      "a kernel is given once.\n\n"
      "Examples:\n"
      "  tracea bench gemm.mlir --random-inputs --shape 0=512x512 --threads 1\n"
      "  tracea bench model.tracea --input x.npy --seconds 5 --json");
  CLI::Option *random = sub->get_option("--random-inputs");
  sub->callback([command, random, &exitCode] {
    command->session.random = random->count() > 0;
    Status status = bench(*command);
    if (!status.ok()) {
      printError(status.message());
      exitCode = 1;
    }
  });
}
