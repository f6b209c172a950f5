//===- NumericsMain.cpp - Random numerical tests of the compiler ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cases run in child processes: code that reads beyond its buffers meets a
// guard page, and the parent says which case it was and goes on.

#include "Numerics.h"
#include "NumericsRun.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <poll.h>
#include <set>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace tracea;
using namespace tracea::numerics;

const std::vector<Family> &numerics::families() {
  static const std::vector<Family> list = {
      {"gemm", 30, generateGemm},
      {"conv2d", 30, generateConv2D},
      {"softmax", 8, generateSoftmax},
      {"batch_norm", 5, generateBatchNorm},
      {"layer_norm", 6, generateLayerNorm},
      {"rms_norm", 5, generateRMSNorm},
      {"attention", 12, generateAttention},
      {"graph", 10, generateGraph},
      {"generic", 14, generateGeneric},
  };
  return list;
}

namespace {

struct Options {
  uint64_t seed = 1;
  int64_t cases = 300;
  std::string filter;
  std::string family;
  std::string writeTo;
  std::string target = "host";
  bool prove = false;
  int64_t repro = -1;
  bool large = false;
  bool print = false;
  bool random = true;
  bool regressions = true;
  int jobs = 0;
  int timeout = 120;
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
  --target NAME    the target of --prove (default host)
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
attention, graph and generic. The last line is "N passed, N failed".
)";

[[noreturn]] void fail(const std::string &message) {
  std::fprintf(stderr, "tracea-numerics: %s\n", message.c_str());
  std::exit(1);
}

Options parse(int argc, char **argv) {
  Options options;
  bool seedGiven = false, casesGiven = false;
  for (int i = 1; i < argc; ++i) {
    std::string flag = argv[i];
    auto text = [&]() -> std::string {
      if (i + 1 == argc)
        fail("expected a value after " + flag);
      return argv[++i];
    };
    auto number = [&]() -> uint64_t {
      std::string value = text();
      char *end;
      uint64_t result = std::strtoull(value.c_str(), &end, 10);
      if (value.empty() || *end || value[0] == '-')
        fail("expected a number after " + flag + ", found '" + value + "'");
      return result;
    };
    if (flag == "--seed")
      options.seed = number(), seedGiven = true;
    else if (flag == "--cases")
      options.cases = static_cast<int64_t>(number()), casesGiven = true;
    else if (flag == "--filter")
      options.filter = text();
    else if (flag == "--family")
      options.family = text();
    else if (flag == "--prove")
      options.prove = true;
    else if (flag == "--target")
      options.target = text();
    else if (flag == "--write")
      options.writeTo = text();
    else if (flag == "--repro")
      options.repro = static_cast<int64_t>(number());
    else if (flag == "--long")
      options.large = true;
    else if (flag == "--regressions")
      options.random = false;
    else if (flag == "--no-regressions")
      options.regressions = false;
    else if (flag == "--jobs")
      options.jobs = static_cast<int>(number());
    else if (flag == "--timeout")
      options.timeout = static_cast<int>(number());
    else if (flag == "--print")
      options.print = true;
    else if (flag == "--help") {
      std::fputs(help, stdout);
      std::exit(0);
    } else
      fail("unknown option '" + flag + "'; see --help");
  }
  if (!options.family.empty() &&
      std::none_of(
          families().begin(), families().end(),
          [&](const Family &family) { return family.name == options.family; }))
    fail("no family is named '" + options.family + "'; see --help");
  if (options.target != "host" && !options.prove)
    fail("--target is of use with --prove only");
  // What is proved is what the random cases show.
  if (options.prove || !options.writeTo.empty())
    options.regressions = false;
  if (options.large && !casesGiven)
    options.cases = 5000;
  if (options.large && !seedGiven)
    options.seed = static_cast<uint64_t>(std::time(nullptr));
  if (options.jobs <= 0)
    options.jobs = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  if (options.repro >= 0) {
    options.regressions = false;
    options.print = true;
    options.jobs = 1;
  }
  return options;
}

/// What there is to do: a random case by its number, or a fixed one.
struct Job {
  int64_t number;
  bool fixed;
};

Random randomOf(const Options &options, int64_t number) {
  Random seeds(options.seed);
  return Random(seeds.next() ^
                (static_cast<uint64_t>(number) * 0xd1342543de82ef95));
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

std::string describe(const Options &options, const Job &job) {
  if (job.fixed)
    return std::string("fixed case ") + regressions()[job.number].name;
  return "case " + std::to_string(job.number);
}

std::string reproCommand(const Options &options, const Job &job) {
  if (job.fixed)
    return std::string("tracea-numerics --regressions --filter ") +
           regressions()[job.number].name;
  return "tracea-numerics --seed " + std::to_string(options.seed) +
         (options.large ? " --long" : "") +
         (options.family.empty() ? "" : " --family " + options.family) +
         (options.prove ? " --prove --target " + options.target : "") +
         " --repro " + std::to_string(job.number);
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

/// In a child: runs a job and returns what is wrong. `name` gets the case's.
std::string runJob(const Options &options, const Job &job, Runner &runner,
                   std::string &name) {
  if (job.fixed) {
    const Regression &regression = regressions()[job.number];
    Case test = regression.make();
    name = test.name;
    if (options.print)
      std::printf("%s\n", test.text.c_str());
    Random random(job.number);
    return runner.run(test, random, /*allTargets=*/true);
  }
  Random random = randomOf(options, job.number);
  const Family &family = pickFamily(options, random);
  Case test = family.generate(random, options.large);
  name = test.name;
  if (options.print) {
    std::printf("// %s\n%s\n", test.name.c_str(), test.text.c_str());
    std::fflush(stdout);
  }
  if (!options.writeTo.empty())
    return write(test,
                 options.writeTo + "/" + std::to_string(job.number) + ".mlir");
  if (options.prove)
    return runner.prove(test, options.target);
  return runner.run(test, random, options.repro >= 0);
}

struct Worker {
  pid_t process = -1;
  int pipe = -1;
  std::string buffer;
  int64_t current = -1; // the position in the list of jobs
  int64_t next = 0;
};

class Pool {
public:
  Pool(const Options &options, std::vector<Job> jobs)
      : options(options), jobs(std::move(jobs)) {}

  /// Runs everything; the number of failures.
  int64_t run();

private:
  void start(Worker &worker, int64_t position);
  [[noreturn]] void child(int pipe, int64_t position);
  void read(Worker &worker);
  void report(int64_t position, const std::string &name,
              const std::string &error);

  const Options &options;
  std::vector<Job> jobs;
  std::vector<Worker> workers;
  int64_t failures = 0;
  int64_t unsupported = 0;
  std::map<std::string, int64_t> reasons;
};

void Pool::start(Worker &worker, int64_t position) {
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

void Pool::child(int out, int64_t position) {
  FILE *stream = fdopen(out, "w");
  Runner runner;
  int64_t step = static_cast<int64_t>(workers.size());
  for (; position < static_cast<int64_t>(jobs.size()); position += step) {
    std::fprintf(stream, "B%lld\n", static_cast<long long>(position));
    std::fflush(stream);
    alarm(options.timeout);
    std::string name;
    std::string error = runJob(options, jobs[position], runner, name);
    alarm(0);
    for (char &c : error)
      if (c == '\n')
        c = '\x01';
    std::fprintf(stream, "%c%s\x02%s\n", error.empty() ? 'P' : 'F',
                 name.c_str(), error.c_str());
    std::fflush(stream);
  }
  std::fclose(stream);
  std::fflush(stdout);
  _exit(0);
}

void Pool::report(int64_t position, const std::string &name,
                  const std::string &error) {
  if (options.prove &&
      error.find("has no variant for target") != std::string::npos) {
    ++unsupported;
    return;
  }
  ++failures;
  if (options.prove)
    ++reasons[reasonOf(error)];
  std::printf("FAILED: %s (%s)\n  %s\n  %s\n",
              describe(options, jobs[position]).c_str(), name.c_str(),
              error.c_str(), reproCommand(options, jobs[position]).c_str());
  std::fflush(stdout);
}

void Pool::read(Worker &worker) {
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
      size_t split = line.find('\x02');
      std::string error = line.substr(split + 1);
      for (char &c : error)
        if (c == '\x01')
          c = '\n';
      if (line[0] == 'F')
        report(worker.current, line.substr(1, split - 1), error);
      worker.current = -1;
    }
    return;
  }
  close(worker.pipe);
  worker.pipe = -1;
  int status = 0;
  waitpid(worker.process, &status, 0);
  if (worker.current >= 0) {
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    report(worker.current, "crash",
           signal == SIGALRM
               ? "takes longer than " + std::to_string(options.timeout) + " s"
           : signal ? std::string("ended by signal: ") + strsignal(signal)
                    : std::string("ended by itself"));
  } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::printf("FAILED: a process ended between cases\n");
    ++failures;
  }
  if (worker.next < static_cast<int64_t>(jobs.size()) && (worker.current >= 0))
    start(worker, worker.next);
}

int64_t Pool::run() {
  workers.resize(options.jobs);
  for (int i = 0; i < options.jobs; ++i)
    if (i < static_cast<int64_t>(jobs.size()))
      start(workers[i], i);
  while (true) {
    std::vector<pollfd> polled;
    std::vector<Worker *> owners;
    for (Worker &worker : workers)
      if (worker.pipe >= 0) {
        polled.push_back({worker.pipe, POLLIN, 0});
        owners.push_back(&worker);
      }
    if (polled.empty()) {
      if (unsupported)
        std::printf("%lld have no variant for %s\n",
                    static_cast<long long>(unsupported),
                    options.target.c_str());
      for (const auto &[reason, count] : reasons)
        std::printf("%lld refused: %s\n", static_cast<long long>(count),
                    reason.c_str());
      return failures;
    }
    if (poll(polled.data(), polled.size(), -1) < 0)
      continue;
    for (size_t i = 0; i < polled.size(); ++i)
      if (polled[i].revents)
        read(*owners[i]);
  }
}

} // namespace

int main(int argc, char **argv) {
  Options options = parse(argc, argv);
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
    fail("no case matches '" + options.filter + "'");
  int64_t count = static_cast<int64_t>(jobs.size());
  std::printf("seed %llu, %lld cases\n",
              static_cast<unsigned long long>(options.seed),
              static_cast<long long>(count));
  int64_t failures = Pool(options, std::move(jobs)).run();
  std::printf("%lld passed, %lld failed\n",
              static_cast<long long>(std::max<int64_t>(0, count - failures)),
              static_cast<long long>(failures));
  return failures ? 1 : 0;
}
