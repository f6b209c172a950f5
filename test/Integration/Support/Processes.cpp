//===- Processes.cpp - Jobs in processes of their own ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A process writes frames to a pipe: a letter, the length of a text, and the
// text. 'B' begins a job and has its number, 'S' is said, 'F' is a field of the
// result, and 'E' ends the job.

#include "Processes.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <poll.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tracea::campaign;

void tracea::campaign::limitTime(int seconds) {
  itimerval limit = {};
  limit.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &limit, nullptr);
  // What waits forever does no work.
  alarm(static_cast<unsigned>(10 * seconds));
}

/// How a process ended; empty: well.
static std::string describeEnd(int status, int seconds) {
  if (WIFSIGNALED(status)) {
    int signal = WTERMSIG(status);
    if (signal == SIGPROF || signal == SIGALRM)
      return "takes longer than " + std::to_string(seconds) + " s";
    return std::string("ended by signal: ") + strsignal(signal);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "" : "ended by itself";
}

static void writeAll(int pipe, const std::string &text) {
  for (size_t written = 0; written < text.size();) {
    ssize_t count = write(pipe, text.data() + written, text.size() - written);
    if (count <= 0 && errno != EINTR)
      _exit(1);
    written += count > 0 ? static_cast<size_t>(count) : 0;
  }
}

/// A crash is a finding: it leaves no file, and has no handler.
static void beChild() {
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    std::signal(signal, SIG_DFL);
}

//===----------------------------------------------------------------------===//
// One result
//===----------------------------------------------------------------------===//

/// Where the result of this process goes, in a child.
static int resultPipe = -1;

void tracea::campaign::finishChild(const std::string &result) {
  writeAll(resultPipe, result);
  _exit(0);
}

std::string
tracea::campaign::inChild(int seconds,
                          const std::function<std::string()> &body) {
  int ends[2];
  if (pipe(ends) != 0)
    return "no pipe";
  pid_t process = fork();
  if (process < 0)
    return "no process";
  if (process == 0) {
    close(ends[0]);
    beChild();
    limitTime(seconds);
    resultPipe = ends[1];
    finishChild(body());
  }
  close(ends[1]);
  std::string result;
  char chunk[4096];
  while (true) {
    ssize_t count = read(ends[0], chunk, sizeof chunk);
    if (count > 0)
      result.append(chunk, static_cast<size_t>(count));
    else if (count == 0 || errno != EINTR)
      break;
  }
  close(ends[0]);
  int status = 0;
  waitpid(process, &status, 0);
  std::string end = describeEnd(status, seconds);
  return end.empty() ? result : end;
}

std::string tracea::campaign::inProgram(int seconds,
                                        const std::vector<std::string> &command,
                                        const std::string &input) {
  return inChild(seconds, [&]() -> std::string {
    // A file, so that the program may print before it has read everything.
    FILE *file = std::tmpfile();
    if (!file ||
        std::fwrite(input.data(), 1, input.size(), file) != input.size() ||
        std::fflush(file) != 0 || lseek(fileno(file), 0, SEEK_SET) != 0)
      return std::string("no file for the input: ") + strerror(errno);
    std::vector<char *> words;
    for (const std::string &word : command)
      words.push_back(const_cast<char *>(word.c_str()));
    words.push_back(nullptr);
    if (dup2(fileno(file), STDIN_FILENO) < 0 ||
        dup2(resultPipe, STDOUT_FILENO) < 0)
      return std::string("no standard streams: ") + strerror(errno);
    execvp(words[0], words.data());
    return "'" + command[0] + "' cannot be started: " + strerror(errno);
  });
}

//===----------------------------------------------------------------------===//
// Many jobs
//===----------------------------------------------------------------------===//

namespace {
struct Process {
  pid_t id = -1;
  int pipe = -1;
  std::string buffer;
  /// The job that it does, or -1, and the one that comes after.
  int64_t current = -1, next = 0;
  JobResult result;
};

class Pool {
public:
  Pool(int64_t count, const JobLimits &limits,
       const std::function<Work()> &prepare,
       const std::function<void(int64_t, const JobResult &)> &take)
      : count(count), limits(limits), prepare(prepare), take(take) {}

  int64_t run();

private:
  void start(Process &process, int64_t number);
  [[noreturn]] void work(int pipe, int64_t number);
  void read(Process &process);
  void takeFrame(Process &process, char kind, std::string text);
  void finish(Process &process);
  void showProgress();

  int64_t count;
  const JobLimits &limits;
  const std::function<Work()> &prepare;
  const std::function<void(int64_t, const JobResult &)> &take;
  std::vector<Process> processes;
  /// Results that wait for those of earlier jobs.
  std::map<int64_t, JobResult> waiting;
  int64_t taken = 0;
  int64_t badEnds = 0;
  /// Tenths of all jobs that were done when progress was last shown.
  int64_t tenthsShown = 0;
};
} // namespace

static void writeFrame(int pipe, char kind, const std::string &text) {
  uint64_t size = text.size();
  std::string frame(1, kind);
  frame.append(reinterpret_cast<const char *>(&size), sizeof size);
  writeAll(pipe, frame + text);
}

static bool isOnTerminal() { return isatty(STDERR_FILENO) != 0; }

void Pool::start(Process &process, int64_t number) {
  int ends[2];
  std::fflush(stdout);
  if (pipe(ends) != 0 || (process.id = fork()) < 0) {
    std::perror("cannot start a process");
    std::exit(1);
  }
  if (process.id == 0) {
    close(ends[0]);
    work(ends[1], number);
  }
  close(ends[1]);
  process.pipe = ends[0];
  process.buffer.clear();
  process.current = -1;
  process.next = number;
}

void Pool::work(int pipe, int64_t number) {
  beChild();
  Work doJob = prepare();
  auto step = static_cast<int64_t>(processes.size());
  for (; number < count; number += step) {
    writeFrame(pipe, 'B', std::to_string(number));
    limitTime(limits.seconds);
    std::vector<std::string> fields = doJob(
        number, [&](const std::string &text) { writeFrame(pipe, 'S', text); });
    limitTime(0);
    for (const std::string &field : fields)
      writeFrame(pipe, 'F', field);
    writeFrame(pipe, 'E', "");
  }
  std::fflush(stdout);
  _exit(0);
}

void Pool::finish(Process &process) {
  waiting[process.current] = std::move(process.result);
  process.current = -1;
  if (isOnTerminal())
    std::fputs("\r\033[K", stderr);
  for (auto first = waiting.find(taken); first != waiting.end();
       first = waiting.find(taken)) {
    take(taken++, first->second);
    waiting.erase(first);
  }
  std::fflush(stdout);
  showProgress();
}

/// A line on stderr that is written over where that is a terminal; elsewhere a
/// line for each tenth of a campaign that takes long.
void Pool::showProgress() {
  constexpr int64_t kLongCampaign = 1000;
  auto done = static_cast<long long>(taken),
       all = static_cast<long long>(count);
  if (isOnTerminal()) {
    if (done < all)
      std::fprintf(stderr, "%lld of %lld", done, all);
    return;
  }
  int64_t tenths = taken * 10 / count;
  if (count < kLongCampaign || tenths == tenthsShown)
    return;
  tenthsShown = tenths;
  std::fprintf(stderr, "%lld of %lld\n", done, all);
}

void Pool::takeFrame(Process &process, char kind, std::string text) {
  if (kind == 'B') {
    process.current = std::strtoll(text.c_str(), nullptr, 10);
    process.next = process.current + static_cast<int64_t>(processes.size());
    process.result = {};
  } else if (kind == 'S') {
    process.result.said += text;
  } else if (kind == 'F') {
    process.result.fields.push_back(std::move(text));
  } else {
    finish(process);
  }
}

void Pool::read(Process &process) {
  char chunk[4096];
  ssize_t got = ::read(process.pipe, chunk, sizeof chunk);
  if (got > 0) {
    process.buffer.append(chunk, static_cast<size_t>(got));
    uint64_t size;
    constexpr size_t kHead = 1 + sizeof size;
    while (process.buffer.size() >= kHead) {
      std::memcpy(&size, process.buffer.data() + 1, sizeof size);
      if (process.buffer.size() < kHead + size)
        break;
      std::string text = process.buffer.substr(kHead, size);
      char kind = process.buffer[0];
      process.buffer.erase(0, kHead + size);
      takeFrame(process, kind, std::move(text));
    }
    return;
  }
  if (got < 0 && errno == EINTR)
    return;
  close(process.pipe);
  process.pipe = -1;
  int status = 0;
  waitpid(process.id, &status, 0);
  std::string end = describeEnd(status, limits.seconds);
  if (process.current < 0) {
    badEnds += !end.empty();
    return;
  }
  process.result.fields.clear();
  process.result.end = end.empty() ? "ended by itself" : end;
  finish(process);
  if (process.next < count)
    start(process, process.next);
}

int64_t Pool::run() {
  int64_t wanted =
      limits.processes > 0 ? limits.processes : sysconf(_SC_NPROCESSORS_ONLN);
  processes.resize(static_cast<size_t>(std::min(wanted, count)));
  for (size_t i = 0; i < processes.size(); ++i)
    start(processes[i], static_cast<int64_t>(i));
  while (true) {
    std::vector<pollfd> polled;
    std::vector<Process *> owners;
    for (Process &process : processes)
      if (process.pipe >= 0) {
        polled.push_back({process.pipe, POLLIN, 0});
        owners.push_back(&process);
      }
    if (polled.empty())
      return badEnds;
    if (poll(polled.data(), polled.size(), -1) < 0)
      continue;
    for (size_t i = 0; i < polled.size(); ++i)
      if (polled[i].revents)
        read(*owners[i]);
  }
}

int64_t tracea::campaign::runJobs(
    int64_t count, const JobLimits &limits,
    const std::function<Work()> &prepare,
    const std::function<void(int64_t, const JobResult &)> &take) {
  return Pool(count, limits, prepare, take).run();
}
