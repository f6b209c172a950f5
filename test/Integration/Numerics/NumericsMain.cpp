//===- NumericsMain.cpp - Random numerical tests of the compiler ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cases run in processes of their own: code that reads beyond its buffers meets
// a guard page, and the other cases go on.

#include "../Support/Arguments.h"
#include "Numerics.h"
#include "NumericsRun.h"
#include "NumericsSchedules.h"
#include "tracea/Runtime/CUDA/CUDADevice.h"
#include "tracea/TargetInfo/TargetInfo.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using namespace tracea;
using namespace tracea::numerics;

const std::vector<Family> &numerics::families() {
  static const std::vector<Family> list = {
      {"gemm", 30, generateGemm},
      {"grouped_gemm", 0, generateGroupedGemm},
      {"gather", 0, generateGather},
      {"conv2d", 30, generateConv2D},
      {"conv2d_dgrad", 0, generateConv2DDGrad},
      {"conv2d_wgrad", 0, generateConv2DWGrad},
      {"softmax", 8, generateSoftmax},
      {"batch_norm", 5, generateBatchNorm},
      {"layer_norm", 6, generateLayerNorm},
      {"rms_norm", 5, generateRMSNorm},
      {"attention", 12, generateAttention},
      {"attention_grad", 0, generateAttentionGradient},
      {"graph", 10, generateGraph},
      {"generic", 14, generateGeneric},
  };
  return list;
}

namespace {

struct Options : campaign::CommonOptions {
  std::string filter;
  std::string family;
  std::string writeTo;
  std::string target = "host";
  std::string variant;
  std::vector<std::string> judge;
  bool prove = false;
  bool large = false;
  bool print = false;
  bool random = true;
  bool regressions = true;
};

const char *help =
    R"(usage: tracea-numerics [options]

Compiles random modules for this machine and compares what they compute with
plain loops, within bounds on the rounding error.

  --seed N         the seed of the random cases (default 1)
  --cases N        how many random cases (default 300)
  --filter TEXT    only random cases of families, and fixed cases, whose name
                   contains TEXT
  --family NAME    draws all random cases from this family
  --prove          compiles only, and demands all proofs: what is refused is
                   counted by reason; what the target has no variant for is
                   counted apart
  --target NAME    the target of --prove (default host); without it a GPU, on
                   which all cases run: what it has no variant for is counted
                   apart
  --judge COMMAND  with --target, a processor: compiles for it, and COMMAND,
                   split at blanks, runs the programs and judges them
                   (tracea-numerics-judge under an emulator)
  --variant NAME   with --prove, some plan of this variant in place of the
                   Doctor's schedule, which gives way to no other; what it does
                   not serve is counted apart
  --repro N        only random case N of the seed, on all targets, printing its
                   module (keep --long, --family and --prove as they were)
  --long           5000 cases of larger sizes and a new seed, unless given
  --regressions    only the fixed cases
  --no-regressions only the random cases
  --jobs N         processes at the same time (default: one per processor)
  --timeout N      seconds that one case may take (default 120)
  --print          print the modules
  --write DIR      writes each module to DIR/N.mlir, and does nothing else

The families are gemm, conv2d, softmax, batch_norm, layer_norm, rms_norm,
attention, graph and generic; grouped_gemm, gather, conv2d_dgrad and
conv2d_wgrad are drawn by --family alone. The last line is "N passed, N failed".
)";

Options parse(campaign::Arguments &arguments) {
  Options options;
  options.limits.seconds = 120;
  while (arguments.next()) {
    const std::string &flag = arguments.flag;
    if (arguments.take(options, "--cases"))
      continue;
    if (flag == "--filter")
      options.filter = arguments.text();
    else if (flag == "--family")
      options.family = arguments.text();
    else if (flag == "--prove")
      options.prove = true;
    else if (flag == "--target")
      options.target = arguments.text();
    else if (flag == "--judge") {
      std::istringstream words(arguments.text());
      for (std::string word; words >> word;)
        options.judge.push_back(word);
    } else if (flag == "--variant")
      options.variant = arguments.text();
    else if (flag == "--write")
      options.writeTo = arguments.text();
    else if (flag == "--long")
      options.large = true;
    else if (flag == "--regressions")
      options.random = false;
    else if (flag == "--no-regressions")
      options.regressions = false;
    else if (flag == "--print")
      options.print = true;
    else
      arguments.fail("unknown option '" + flag + "'; see --help");
  }
  if (!options.family.empty() &&
      std::none_of(
          families().begin(), families().end(),
          [&](const Family &family) { return family.name == options.family; }))
    arguments.fail("no family is named '" + options.family + "'; see --help");
  if (!options.judge.empty()) {
    std::optional<target::TargetDescription> found =
        target::lookup(options.target);
    if (options.prove || (options.target != "host" && !found) ||
        (found && found->isGPU()))
      arguments.fail("--judge: expected a processor as --target and no "
                     "--prove, found '" +
                     options.target + "'");
  } else if (options.target != "host" && !options.prove) {
    std::optional<target::TargetDescription> found =
        target::lookup(options.target);
    if (!found || !found->isGPU())
      arguments.fail("--target without --prove or --judge: expected a GPU, "
                     "found '" +
                     options.target + "'");
    // Devices are opened by the processes that use them.
    if (!runtime::hasCUDADriver())
      arguments.fail("--target " + options.target +
                     " without --prove: this machine has no CUDA driver");
  }
  if (!options.variant.empty() && !options.prove)
    arguments.fail("--variant is of use with --prove only");
  if (!options.variant.empty() && !hasVariant(options.variant))
    arguments.fail("no variant is named '" + options.variant + "'");
  // What is proved is what the random cases show.
  if (options.prove || !options.writeTo.empty())
    options.regressions = false;
  if (options.large && !options.isNumberGiven)
    options.cases = 5000;
  if (options.large && !options.isSeedGiven)
    options.seed = static_cast<uint64_t>(std::time(nullptr));
  if (options.repro >= 0) {
    options.regressions = false;
    options.print = true;
  }
  return options;
}

/// What there is to do: a random case by its number, or a fixed one.
struct Job {
  int64_t number;
  bool fixed;
};

Random randomOf(const Options &options, int64_t number) {
  return Random(campaign::getSeed(options.seed, number));
}

const Family &pickFamily(const Options &options, Random &random) {
  if (!options.family.empty())
    for (const Family &family : families())
      if (family.name == options.family)
        return family;
  int64_t total = 0;
  for (const Family &family : families())
    total += family.weight;
  int64_t choice = random.below(total);
  for (const Family &family : families())
    if ((choice -= family.weight) < 0)
      return family;
  return families().back();
}

std::string describe(const Job &job) {
  if (job.fixed)
    return std::string("fixed case ") + regressions()[job.number].name;
  return "case " + std::to_string(job.number);
}

std::string judgeOption(const Options &options) {
  if (options.judge.empty())
    return "";
  return " --judge '" + join(options.judge, " ") + "'";
}

std::string reproCommand(const Options &options, const Job &job) {
  if (job.fixed)
    return std::string("tracea-numerics --regressions --filter ") +
           regressions()[job.number].name +
           (options.judge.empty() ? "" : " --target " + options.target) +
           judgeOption(options);
  return "tracea-numerics --seed " + std::to_string(options.seed) +
         (options.large ? " --long" : "") +
         (options.family.empty() ? "" : " --family " + options.family) +
         (options.prove ? " --prove" : "") +
         (options.target == "host" ? "" : " --target " + options.target) +
         (options.variant.empty() ? "" : " --variant " + options.variant) +
         judgeOption(options) + " --repro " + std::to_string(job.number);
}

/// Empty, or why the file cannot be written.
std::string write(const Case &test, const std::string &path) {
  std::string text = "// " + test.name + "\n" + test.text;
  FILE *file = std::fopen(path.c_str(), "w");
  if (!file)
    return "cannot write " + path + ": " + std::strerror(errno);
  bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written ? "" : "cannot write " + path;
}

/// What the compiler says without its numbers and where it was: cases that are
/// refused for one reason.
std::string reasonOf(const std::string &error) {
  std::string reason;
  size_t end = std::min({error.find('\n'), error.find(", where"),
                         error.find("' (", error.find(" is "))});
  for (char c : error.substr(0, end)) {
    bool isDigit = c >= '0' && c <= '9';
    if (!isDigit || reason.empty() || reason.back() != '#')
      reason += isDigit ? '#' : c;
  }
  return reason;
}

/// Runs a job: the name of its case, and what is wrong.
std::vector<std::string> runJob(const Options &options, const Job &job,
                                Runner &runner, const campaign::Say &say) {
  auto show = [&](const Case &test) {
    if (options.print)
      say("// " + test.name + "\n" + test.text + "\n");
  };
  if (job.fixed) {
    Case test = regressions()[job.number].make();
    show(test);
    Random random(job.number);
    return {test.name, runner.run(test, random, /*allTargets=*/true)};
  }
  Random random = randomOf(options, job.number);
  const Family &family = pickFamily(options, random);
  Case test = family.generate(random, options.large);
  show(test);
  if (!options.writeTo.empty())
    return {test.name, write(test, options.writeTo + "/" +
                                       std::to_string(job.number) + ".mlir")};
  return {test.name,
          options.prove
              ? runner.prove(test, options.target, options.variant, random)
              : runner.run(test, random, options.repro >= 0)};
}

/// What becomes of all jobs.
class Summary {
public:
  Summary(const Options &options, const std::vector<Job> &jobs)
      : options(options), jobs(jobs) {}

  void take(int64_t position, const campaign::JobResult &result);
  void print() const;
  int64_t failures = 0;
  /// Programs that ran nothing, which pass nothing either.
  int64_t refused = 0;

private:
  const Options &options;
  const std::vector<Job> &jobs;
  int64_t unsupported = 0;
  std::map<std::string, int64_t> reasons;
};

void Summary::take(int64_t position, const campaign::JobResult &result) {
  std::fputs(result.said.c_str(), stdout);
  std::string name = result.end.empty() ? result.fields[0] : "crash";
  std::string error = result.end.empty() ? result.fields[1] : result.end;
  if (error.empty())
    return;
  if (error.find("has no variant for target") != std::string::npos) {
    ++unsupported;
    return;
  }
  // Kernels that ask more of memory than the shapes give; no wrong number.
  if (error.find("the program refuses these shapes: kernel '") !=
      std::string::npos) {
    ++refused;
    return;
  }
  ++failures;
  if (options.prove)
    ++reasons[reasonOf(error)];
  std::printf("FAILED: %s (%s)\n  %s\n  %s\n", describe(jobs[position]).c_str(),
              name.c_str(), error.c_str(),
              reproCommand(options, jobs[position]).c_str());
}

void Summary::print() const {
  if (unsupported)
    std::printf("%lld have no variant for %s\n",
                static_cast<long long>(unsupported), options.target.c_str());
  if (refused)
    std::printf("%lld programs refuse their shapes\n",
                static_cast<long long>(refused));
  for (const auto &[reason, count] : reasons)
    std::printf("%lld refused: %s\n", static_cast<long long>(count),
                reason.c_str());
}

} // namespace

int main(int argc, char **argv) {
  campaign::Arguments arguments("tracea-numerics", help, argc, argv);
  Options options = parse(arguments);
  std::vector<Job> jobs;
  auto matches = [&](const char *name) {
    return options.filter.empty() ||
           std::strstr(name, options.filter.c_str()) != nullptr;
  };
  if (options.regressions)
    for (size_t i = 0; i < regressions().size(); ++i)
      if (matches(regressions()[i].name))
        jobs.push_back({static_cast<int64_t>(i), true});
  if (options.repro >= 0)
    jobs.push_back({options.repro, false});
  else if (options.random)
    for (int64_t i = 0; i < options.cases; ++i) {
      Random random = randomOf(options, i);
      if (matches(pickFamily(options, random).name))
        jobs.push_back({i, false});
    }
  if (jobs.empty())
    arguments.fail("no case matches '" + options.filter + "'");
  auto count = static_cast<int64_t>(jobs.size());
  std::printf("seed %llu, %lld cases\n",
              static_cast<unsigned long long>(options.seed),
              static_cast<long long>(count));
  Summary summary(options, jobs);
  auto prepare = [&]() -> campaign::Work {
    Place place;
    place.target = options.target;
    place.judge = options.judge;
    place.seconds = options.limits.seconds;
    place.isGPU =
        !options.prove && options.judge.empty() && options.target != "host";
    if (place.isGPU)
      takeFunctionsOfUnit();
    auto runner = std::make_shared<Runner>(place);
    return [&, runner](int64_t position, const campaign::Say &say) {
      return runJob(options, jobs[position], *runner, say);
    };
  };
  int64_t badEnds = campaign::runJobs(
      count, options.limits, prepare,
      [&](int64_t position, const campaign::JobResult &result) {
        summary.take(position, result);
      });
  summary.print();
  if (badEnds)
    std::printf("FAILED: %lld processes ended between cases\n",
                static_cast<long long>(badEnds));
  return campaign::finish(count - summary.refused, summary.failures + badEnds);
}
