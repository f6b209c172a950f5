//===- MutantsMain.cpp - Mutates kernels and asks who finds it ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mutants are numbered; the seed and the number say which start is changed, at
// which level and how. They are judged in child processes, so that a crash of
// the compiler is one mutant's.

#include "Campaign.h"
#include "Mutant.h"
#include "tracea/Runtime/CPU/HostCPU.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

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

struct Options {
  uint64_t seed = 1;
  int64_t mutants = 300, first = 0, repro = -1;
  std::string level = "all", out;
  int jobs = 0, timeout = 60;
  bool listAll = false, proofs = true;
  std::vector<std::string> paths;
};

[[noreturn]] void fail(const std::string &message) {
  std::fprintf(stderr, "tracea-mutants: %s\n", message.c_str());
  std::exit(2);
}

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string flag = argv[i];
    auto text = [&]() -> std::string {
      if (i + 1 == argc)
        fail("expected a value after " + flag);
      return argv[++i];
    };
    auto number = [&]() -> int64_t {
      std::string value = text();
      char *end;
      long long result = std::strtoll(value.c_str(), &end, 10);
      if (value.empty() || *end || result < 0)
        fail("expected a number after " + flag + ", found '" + value + "'");
      return result;
    };
    if (flag == "--seed")
      options.seed = static_cast<uint64_t>(number());
    else if (flag == "--mutants")
      options.mutants = number();
    else if (flag == "--first")
      options.first = number();
    else if (flag == "--level")
      options.level = text();
    else if (flag == "--jobs")
      options.jobs = static_cast<int>(number());
    else if (flag == "--timeout")
      options.timeout = static_cast<int>(number());
    else if (flag == "--repro")
      options.repro = number();
    else if (flag == "--list")
      options.listAll = true;
    else if (flag == "--unproved")
      options.proofs = false, options.level = "pipeline";
    else if (flag == "--out")
      options.out = text();
    else if (flag == "--help") {
      std::fputs(help, stdout);
      std::exit(0);
    } else if (flag[0] == '-')
      fail("unknown option '" + flag + "'; see --help");
    else
      options.paths.push_back(flag);
  }
  if (options.level != "all" && options.level != "tile" &&
      options.level != "pipeline" && options.level != "target")
    fail("expected --level tile, pipeline, target or all, found '" +
         options.level + "'");
  if (options.paths.empty())
    fail("expected start modules; see --help");
  if (options.jobs <= 0)
    options.jobs = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  return options;
}

/// Which mutant it is, and whose.
Draw draw(const Options &options, const std::vector<Start> &starts,
          int64_t number) {
  Random seeds(options.seed);
  Draw draw;
  draw.seed =
      seeds.next() ^ (static_cast<uint64_t>(number) * 0xd1342543de82ef95u);
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

struct Worker {
  pid_t process = -1;
  int pipe = -1;
  std::string buffer;
  int64_t current = -1, next = 0;
};

class Campaign {
public:
  Campaign(const Options &options, const std::vector<Start> &starts)
      : options(options), starts(starts) {}
  int64_t run();

private:
  void start(Worker &worker, int64_t position);
  [[noreturn]] void child(int pipe, int64_t position);
  void read(Worker &worker);
  void take(int64_t number, const std::string &outcome,
            const std::string &check, std::string message);
  void print() const;

  const Options &options;
  const std::vector<Start> &starts;
  std::vector<Worker> workers;
  /// By level and outcome, then by check.
  std::map<std::string, std::map<std::string, std::map<std::string, int64_t>>>
      table;
  int64_t failures = 0;
};

void Campaign::start(Worker &worker, int64_t position) {
  int ends[2];
  if (pipe(ends) != 0)
    fail("no pipe");
  std::fflush(stdout);
  worker.process = fork();
  if (worker.process < 0)
    fail("no process");
  if (worker.process == 0) {
    close(ends[0]);
    child(ends[1], position);
  }
  close(ends[1]);
  worker.pipe = ends[0];
  worker.buffer.clear();
  worker.current = -1;
  worker.next = position;
}

std::string onOneLine(std::string text) {
  for (char &c : text)
    if (c == '\n')
      c = '\x01';
  return text;
}

void Campaign::child(int out, int64_t position) {
  FILE *stream = fdopen(out, "w");
  Judge judge(starts, options.proofs);
  auto step = static_cast<int64_t>(workers.size());
  for (; position < options.mutants; position += step) {
    std::fprintf(stream, "B%lld\n", static_cast<long long>(position));
    std::fflush(stream);
    limitTime(options.timeout);
    Outcome outcome =
        judge.judge(draw(options, starts, options.first + position));
    limitTime(0);
    std::fprintf(stream, "R%s\x02%s\x02%s%s\n", nameOf(outcome.kind),
                 outcome.check.c_str(), outcome.onHost ? "H" : "K",
                 onOneLine(outcome.message).c_str());
    std::fflush(stream);
  }
  std::fclose(stream);
  _exit(0);
}

void Campaign::take(int64_t position, const std::string &outcome,
                    const std::string &check, std::string message) {
  int64_t number = options.first + position;
  Draw drawn = draw(options, starts, number);
  std::string level =
      std::string(starts[drawn.start].onGPU ? "GPU " : "CPU ") +
      (drawn.level == mlir::tracea::Phase::Tile       ? "tile"
       : drawn.level == mlir::tracea::Phase::Pipeline ? "pipeline"
                                                      : "target");
  if (message[0] == 'H')
    level = "host";
  message.erase(0, 1);
  ++table[level][outcome][check];
  bool listed =
      options.listAll && (outcome == nameOf(OutcomeKind::NotClaimed) ||
                          outcome == nameOf(OutcomeKind::OtherProtocol));
  bool failed = outcome == nameOf(OutcomeKind::Different) ||
                outcome == nameOf(OutcomeKind::Crash);
  if (!failed && !listed)
    return;
  failures += failed;
  for (char &c : message)
    if (c == '\x01')
      c = '\n';
  std::printf("%s: mutant %lld of %s, %s: %s\n%s\n",
              failed ? "FAILED" : "NOTED", static_cast<long long>(number),
              starts[drawn.start].name.c_str(), level.c_str(), outcome.c_str(),
              message.c_str());
  std::printf("  --seed %llu --level %s --repro %lld\n",
              static_cast<unsigned long long>(options.seed),
              options.level.c_str(), static_cast<long long>(number));
  std::fflush(stdout);
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

void Campaign::read(Worker &worker) {
  char chunk[4096];
  ssize_t got = ::read(worker.pipe, chunk, sizeof chunk);
  if (got > 0) {
    worker.buffer.append(chunk, static_cast<size_t>(got));
    size_t end;
    while ((end = worker.buffer.find('\n')) != std::string::npos) {
      std::string line = worker.buffer.substr(0, end);
      worker.buffer.erase(0, end + 1);
      if (line[0] == 'B') {
        worker.current = std::strtoll(line.c_str() + 1, nullptr, 10);
        worker.next = worker.current + static_cast<int64_t>(workers.size());
        continue;
      }
      size_t first = line.find('\x02'), second = line.find('\x02', first + 1);
      take(worker.current, line.substr(1, first - 1),
           line.substr(first + 1, second - first - 1), line.substr(second + 1));
      worker.current = -1;
    }
    return;
  }
  close(worker.pipe);
  worker.pipe = -1;
  int status = 0;
  waitpid(worker.process, &status, 0);
  if (worker.current < 0)
    return;
  int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  take(worker.current, nameOf(OutcomeKind::Crash), "compiler",
       signal == SIGPROF
           ? "  takes longer than " + std::to_string(options.timeout) + " s"
       : signal ? std::string("K  ended by signal: ") + strsignal(signal)
                : std::string("K  ended by itself"));
  if (worker.next < options.mutants)
    start(worker, worker.next);
}

void Campaign::print() const {
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

int64_t Campaign::run() {
  workers.resize(std::min<int64_t>(options.jobs, options.mutants));
  for (size_t i = 0; i < workers.size(); ++i)
    start(workers[i], static_cast<int64_t>(i));
  while (true) {
    std::vector<pollfd> polled;
    std::vector<Worker *> owners;
    for (Worker &worker : workers)
      if (worker.pipe >= 0) {
        polled.push_back({worker.pipe, POLLIN, 0});
        owners.push_back(&worker);
      }
    if (polled.empty())
      break;
    if (poll(polled.data(), polled.size(), -1) < 0)
      continue;
    for (size_t i = 0; i < polled.size(); ++i)
      if (polled[i].revents)
        read(*owners[i]);
  }
  print();
  return failures;
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
  Options options = parse(argc, argv);
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
        fail(starts[i].name + " itself: " + nameOf(outcome.kind) + " " +
             outcome.check + " " + outcome.message);
    }
  }
  if (options.repro >= 0)
    return reproduce(options, starts) ? 1 : 0;
  std::printf("seed %llu, %lld mutants of %zu starts\n",
              static_cast<unsigned long long>(options.seed),
              static_cast<long long>(options.mutants), starts.size());
  int64_t failures = Campaign(options, starts).run();
  std::printf("%lld passed, %lld failed\n",
              static_cast<long long>(options.mutants - failures),
              static_cast<long long>(failures));
  return failures ? 1 : 0;
}
