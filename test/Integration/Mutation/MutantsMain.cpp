//===- MutantsMain.cpp - Mutates kernels and asks who finds it ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mutants are numbered; the seed and the number say which start is changed, at
// which level and how. They are judged in child processes, so that a crash of
// the compiler is one mutant's.

#include "../Support/Arguments.h"
#include "Campaign.h"
#include "Mutant.h"
#include "tracea/Runtime/CPU/HostCPU.h"

#include <cstdio>
#include <map>
#include <memory>

using namespace tracea;
using namespace tracea::mutants;

namespace {

const char *help =
    R"(usage: tracea-mutants [options] START.mlir...

Changes kernels at random, asks all checks, with proofs demanded, and runs what
they accept. A mutant that is accepted and computes something else is a failure.

  --seed N         the seed (default 1)
  --mutants N      how many (default 300)
  --first N        the number of the first one (default 0)
  --level L        tile, pipeline, target or all (default all)
  --jobs N         processes at the same time (default: one per processor)
  --timeout N      seconds of work that one mutant may take (default 60)
  --unproved       asks the verifier alone, and interprets: starts for GPUs, at
                   the level pipeline
  --repro N        only mutant N, with its module and all that is known of it
  --list           also tell of other values and protocols that nobody claims
  --out DIR        where to write the modules of failures

The table says what became of the mutants; the last line is "N passed, N failed".
)";

struct Options : campaign::CommonOptions {
  int64_t first = 0;
  std::string level = "all", out;
  bool listAll = false, proofs = true;
  std::vector<std::string> paths;
};

Options parse(campaign::Arguments &arguments) {
  Options options;
  while (arguments.next()) {
    const std::string &flag = arguments.flag;
    if (arguments.take(options, "--mutants"))
      continue;
    if (flag == "--first")
      options.first = arguments.number();
    else if (flag == "--level")
      options.level = arguments.text();
    else if (flag == "--list")
      options.listAll = true;
    else if (flag == "--unproved")
      options.proofs = false, options.level = "pipeline";
    else if (flag == "--out")
      options.out = arguments.text();
    else if (flag[0] == '-')
      arguments.fail("unknown option '" + flag + "'; see --help");
    else
      options.paths.push_back(flag);
  }
  if (options.level != "all" && options.level != "tile" &&
      options.level != "pipeline" && options.level != "target")
    arguments.fail("expected --level tile, pipeline, target or all, found '" +
                   options.level + "'");
  if (options.paths.empty())
    arguments.fail("expected start modules; see --help");
  return options;
}

/// Which mutant it is, and whose.
Draw draw(const Options &options, const std::vector<Start> &starts,
          int64_t number) {
  Draw draw;
  draw.seed = campaign::getSeed(options.seed, number);
  Random random(draw.seed);
  draw.start = random.below(static_cast<int64_t>(starts.size()));
  using mlir::tracea::Phase;
  double die = random.uniform();
  draw.level = die < 0.3 ? Phase::Tile : Phase::Pipeline;
  // The code of a CPU makes no claims below its kernels.
  bool onGPU = starts[draw.start].onGPU;
  if (onGPU && die > 0.8)
    draw.level = Phase::Target;
  if (options.level == "tile")
    draw.level = Phase::Tile;
  else if (options.level == "pipeline" || (!onGPU && options.level == "target"))
    draw.level = Phase::Pipeline;
  else if (options.level == "target")
    draw.level = Phase::Target;
  return draw;
}

/// What becomes of all mutants.
class Summary {
public:
  Summary(const Options &options, const std::vector<Start> &starts)
      : options(options), starts(starts) {}

  void take(int64_t position, const campaign::JobResult &result);
  void print() const;
  int64_t failures = 0;

private:
  const Options &options;
  const std::vector<Start> &starts;
  /// By level and outcome, then by check.
  std::map<std::string, std::map<std::string, std::map<std::string, int64_t>>>
      table;
};

void Summary::take(int64_t position, const campaign::JobResult &result) {
  int64_t number = options.first + position;
  Draw drawn = draw(options, starts, number);
  std::string level =
      std::string(starts[drawn.start].onGPU ? "GPU " : "CPU ") +
      (drawn.level == mlir::tracea::Phase::Tile       ? "tile"
       : drawn.level == mlir::tracea::Phase::Pipeline ? "pipeline"
                                                      : "target");
  bool isEnded = !result.end.empty();
  std::string outcome = isEnded ? nameOf(OutcomeKind::Crash) : result.fields[0];
  std::string check = isEnded ? "compiler" : result.fields[1];
  std::string message = isEnded ? "  " + result.end : result.fields[3];
  if (!isEnded && !result.fields[2].empty())
    level = result.fields[2];
  ++table[level][outcome][check];
  bool listed =
      options.listAll && (outcome == nameOf(OutcomeKind::NotClaimed) ||
                          outcome == nameOf(OutcomeKind::OtherProtocol));
  bool failed = outcome == nameOf(OutcomeKind::Different) ||
                outcome == nameOf(OutcomeKind::Crash);
  if (!failed && !listed)
    return;
  failures += failed;
  std::printf("%s: mutant %lld of %s, %s: %s\n%s\n",
              failed ? "FAILED" : "NOTED", static_cast<long long>(number),
              starts[drawn.start].name.c_str(), level.c_str(), outcome.c_str(),
              message.c_str());
  std::printf("  --seed %llu --level %s --repro %lld\n",
              static_cast<unsigned long long>(options.seed),
              options.level.c_str(), static_cast<long long>(number));
  if (options.out.empty() || outcome == nameOf(OutcomeKind::Crash))
    return;
  std::string path = options.out + "/" + starts[drawn.start].name + "-" +
                     std::to_string(options.seed) + "-" +
                     std::to_string(number) + ".mlir";
  Judge judge(starts);
  if (FILE *file = std::fopen(path.c_str(), "w")) {
    std::fputs(judge.print(drawn).c_str(), file);
    std::fclose(file);
  }
}

void Summary::print() const {
  for (const auto &[level, outcomes] : table) {
    int64_t all = 0;
    for (const auto &[outcome, checks] : outcomes)
      for (const auto &[check, count] : checks)
        all += count;
    std::printf("%s: %lld mutants\n", level.c_str(),
                static_cast<long long>(all));
    for (const auto &[outcome, checks] : outcomes)
      for (const auto &[check, count] : checks)
        std::printf("  %-12s %-28s %lld\n", outcome.c_str(), check.c_str(),
                    static_cast<long long>(count));
  }
}

/// Everything about one mutant.
int64_t reproduce(const Options &options, const std::vector<Start> &starts) {
  Draw drawn = draw(options, starts, options.repro);
  Judge judge(starts, options.proofs);
  std::printf("%s", judge.print(drawn).c_str());
  std::fflush(stdout);
  Outcome outcome = judge.judge(drawn);
  std::printf("// %s %s\n%s\n", nameOf(outcome.kind), outcome.check.c_str(),
              outcome.message.c_str());
  return outcome.kind == OutcomeKind::Different;
}

/// Starts for CPUs are compiled for one that all recent machines can stand for.
bool canRunStarts() {
  runtime::HostCPU host = runtime::detectHostCPU();
  return host.arch == "x86_64" && host.has("avx2") && host.has("fma");
}

} // namespace

int main(int argc, char **argv) {
  campaign::Arguments arguments("tracea-mutants", help, argc, argv);
  Options options = parse(arguments);
  if (!canRunStarts()) {
    std::printf("skipped: no processor of x86-64-v3\n");
    return 77; // what CTest takes for skipped
  }
  std::vector<Start> starts;
  for (const std::string &path : options.paths)
    starts.push_back(readStart(path));
  // What is right must be found right, or nothing below means anything.
  {
    Judge judge(starts);
    for (size_t i = 0; i < starts.size(); ++i) {
      Outcome outcome = judge.judgeStart(i);
      if (outcome.kind != OutcomeKind::Equal)
        arguments.fail(starts[i].name + " itself: " + nameOf(outcome.kind) +
                       " " + outcome.check + " " + outcome.message);
    }
  }
  if (options.repro >= 0)
    return reproduce(options, starts) ? 1 : 0;
  std::printf("seed %llu, %lld mutants of %zu starts\n",
              static_cast<unsigned long long>(options.seed),
              static_cast<long long>(options.cases), starts.size());
  Summary summary(options, starts);
  auto prepare = [&]() -> campaign::Work {
    auto judge = std::make_shared<Judge>(starts, options.proofs);
    return [&, judge](int64_t position, const campaign::Say &) {
      Outcome outcome =
          judge->judge(draw(options, starts, options.first + position));
      return std::vector<std::string>{nameOf(outcome.kind), outcome.check,
                                      outcome.onHost ? "host" : "",
                                      outcome.message};
    };
  };
  int64_t badEnds = campaign::runJobs(
      options.cases, options.limits, prepare,
      [&](int64_t position, const campaign::JobResult &result) {
        summary.take(position, result);
      });
  summary.print();
  if (badEnds)
    std::printf("FAILED: %lld processes ended between mutants\n",
                static_cast<long long>(badEnds));
  return campaign::finish(options.cases, summary.failures + badEnds);
}
