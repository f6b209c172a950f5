//===- Worker.cpp - Contenders in processes of their own -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Requests are lines "check I", "calibrate I SECONDS" and "sample I N"; replies
// are JSON objects, one a line.

#include "Worker.h"

#include "tracea/Runtime/CPU/HostCPU.h"
#include "tracea/TargetInfo/Host.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace tracea;
using namespace tracea::bench;
namespace json = llvm::json;

extern char **environ;

static json::Object failureObject(std::string message) {
  return json::Object{{"failure", std::move(message)}};
}

//===----------------------------------------------------------------------===//
// The worker's side
//===----------------------------------------------------------------------===//

namespace {

class Server {
public:
  explicit Server(const Problem &problem) : problem(problem) {}

  json::Object greet(const WorkerTask &task) {
    json::Array all;
    for (const std::string &name : task.contenders) {
      MaybeContender made = makeContender(name, problem, task.threads);
      if (made.contender)
        all.push_back(
            json::Object{{"implementation", made.contender->implementation},
                         {"undecided", made.contender->undecided},
                         {"compileSeconds", made.contender->compileSeconds}});
      else
        all.push_back(json::Object{{"reason", made.reason}});
      contenders.push_back(std::move(made.contender));
    }
    return json::Object{{"contenders", std::move(all)},
                        {"sets", problem.numSets()}};
  }

  json::Object answer(const std::string &request) {
    std::istringstream words(request);
    std::string verb;
    size_t which = 0;
    double number = 0;
    words >> verb >> which;
    if (verb != "check")
      words >> number;
    if (!words || which >= contenders.size() || !contenders[which])
      return failureObject("no such request: " + request);
    Contender &contender = *contenders[which];
    if (verb == "check")
      return check(contender);
    if (verb == "calibrate")
      return calibrate(contender, number);
    if (verb == "sample")
      return sample(contender, static_cast<int64_t>(number));
    return failureObject("no such request: " + request);
  }

private:
  json::Object check(Contender &contender) {
    Check worst;
    worst.ok = true;
    // The first run also is the one that sets up memory; a second one with
    // other inputs finds what depends on that.
    for (int set : {0, problem.numSets() - 1}) {
      problem.poison(set);
      if (!contender.run(set))
        return json::Object{
            {"ok", false}, {"error", 0.0}, {"message", "the run failed"}};
      Check check = problem.check(set);
      worst.error = std::max(worst.error, check.error);
      if (!check.ok && worst.ok) {
        worst.ok = false;
        worst.message = check.message;
      }
    }
    return json::Object{
        {"ok", worst.ok}, {"error", worst.error}, {"message", worst.message}};
  }

  json::Object calibrate(Contender &contender, double target) {
    // Of one call that was made in rest the rate cannot be told: the memory's
    // first passes are slow and threads sleep.
    for (int64_t calls = 1;; calls *= 2) {
      double begin = now();
      for (int64_t i = 0; i < calls; ++i)
        if (!contender.run(next()))
          return failureObject("a run failed");
      double seconds = now() - begin;
      if (seconds >= target)
        return json::Object{
            {"iterations", static_cast<int64_t>(
                               std::ceil(double(calls) * target / seconds))}};
    }
  }

  json::Object sample(Contender &contender, int64_t iterations) {
    // Wakes the threads and the clock.
    if (iterations > 1)
      contender.run(next());
    double begin = now();
    for (int64_t i = 0; i < iterations; ++i)
      if (!contender.run(next()))
        return failureObject("a run failed");
    return json::Object{{"seconds", (now() - begin) / double(iterations)}};
  }

  int next() { return rotation = (rotation + 1) % problem.numSets(); }

  const Problem &problem;
  std::vector<std::unique_ptr<Contender>> contenders;
  int rotation = 0;
};

} // namespace

static bool writeAll(int file, const std::string &text) {
  for (size_t done = 0; done < text.size();) {
    ssize_t count = write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

static std::string lineOf(json::Object object) {
  std::string line;
  llvm::raw_string_ostream stream(line);
  stream << json::Value(std::move(object)) << "\n";
  return line;
}

int tracea::bench::serve(const WorkerTask &task) {
  // What a library prints must not stand between the replies.
  int replies = dup(STDOUT_FILENO);
  if (replies < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    return 1;
  if (task.caseName.empty()) {
    json::Object peers;
    for (const Peer &peer : kPeers)
      peers[peer.name] = describePeer(peer.name);
    return !writeAll(replies, lineOf(std::move(peers)));
  }
  if (task.cpuTime)
    useProcessorTime();
  const Case *entry = findCase(task.caseName);
  if (!entry)
    return 1;
  int64_t secondCache = target::detectHost().cacheBytes(2);
  Problem problem(*entry, std::max<int64_t>(8 << 20, 4 * secondCache));
  Server server(problem);
  if (!writeAll(replies, lineOf(server.greet(task))))
    return 1;
  for (std::string request; std::getline(std::cin, request);)
    if (!writeAll(replies, lineOf(server.answer(request))))
      return 1;
  return 0;
}

//===----------------------------------------------------------------------===//
// The other side
//===----------------------------------------------------------------------===//

/// The environment in which every peer is at its best.
static std::vector<std::string> makeEnvironment(int threads) {
  std::vector<std::string> result;
  std::string count = std::to_string(threads);
  std::vector<std::pair<std::string, std::string>> wanted = {
      {"OPENBLAS_NUM_THREADS", count},
      {"OMP_NUM_THREADS", count},
      {"BLIS_NUM_THREADS", count},
      // Idle threads of OpenBLAS spin for 2^n cycles: about 10 ms, so that they
      // sleep before another worker is measured.
      {"OPENBLAS_THREAD_TIMEOUT", "25"}};
  // OpenBLAS takes processors that it does not know for lesser ones.
  if (runtime::detectHostCPU().has("avx512f") && !getenv("OPENBLAS_CORETYPE"))
    wanted.push_back({"OPENBLAS_CORETYPE", "SkylakeX"});
  for (char **variable = environ; *variable; ++variable) {
    std::string text = *variable;
    bool replaced = false;
    for (const std::pair<std::string, std::string> &entry : wanted)
      replaced |=
          text.compare(0, entry.first.size() + 1, entry.first + "=") == 0;
    if (!replaced)
      result.push_back(text);
  }
  for (const std::pair<std::string, std::string> &entry : wanted)
    result.push_back(entry.first + "=" + entry.second);
  return result;
}

Worker::Worker(const WorkerTask &task) {
  int down[2], up[2];
  if (pipe2(down, O_CLOEXEC) != 0) {
    hello = failureObject("no pipe to a worker");
    return;
  }
  toWorker = down[1];
  if (pipe2(up, O_CLOEXEC) != 0) {
    close(down[0]);
    hello = failureObject("no pipe to a worker");
    return;
  }
  fromWorker = up[0];

  std::string names;
  for (const std::string &name : task.contenders)
    names += (names.empty() ? "" : ",") + name;
  std::vector<std::string> arguments = {
      "tracea-graduation", "--worker", "--case=" + task.caseName,
      "--contenders=" + names, "--threads=" + std::to_string(task.threads)};
  if (task.cpuTime)
    arguments.push_back("--cpu-time");
  std::vector<std::string> environment = makeEnvironment(task.threads);
  auto pointers = [](std::vector<std::string> &strings) {
    std::vector<char *> result;
    for (std::string &text : strings)
      result.push_back(text.data());
    result.push_back(nullptr);
    return result;
  };
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, down[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, up[1], STDOUT_FILENO);
  int error =
      posix_spawn(&process, "/proc/self/exe", &actions, nullptr,
                  pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(down[0]);
  close(up[1]);
  if (error != 0) {
    process = -1;
    hello = failureObject(std::string("no worker: ") + std::strerror(error));
    return;
  }
  hello = readReply();
}

Worker::~Worker() {
  // The end of its input ends a worker.
  if (toWorker >= 0)
    close(toWorker);
  if (fromWorker >= 0)
    close(fromWorker);
  if (process > 0)
    waitpid(process, nullptr, 0);
}

std::string Worker::describeEnd() {
  int status = 0;
  if (process <= 0 || waitpid(process, &status, 0) != process)
    return "the worker is gone";
  process = -1;
  if (WIFSIGNALED(status))
    return std::string("crashed: ") + strsignal(WTERMSIG(status));
  return "the worker ended with status " + std::to_string(WEXITSTATUS(status));
}

json::Object Worker::readReply() {
  size_t end;
  while ((end = unread.find('\n')) == std::string::npos) {
    char bytes[4096];
    ssize_t count = read(fromWorker, bytes, sizeof(bytes));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return failureObject(describeEnd());
    unread.append(bytes, static_cast<size_t>(count));
  }
  llvm::Expected<json::Value> value = json::parse(unread.substr(0, end));
  unread.erase(0, end + 1);
  if (!value)
    return failureObject("bad reply: " + llvm::toString(value.takeError()));
  if (json::Object *object = value->getAsObject())
    return std::move(*object);
  return failureObject("bad reply");
}

json::Object Worker::ask(const std::string &request) {
  if (process <= 0 || !writeAll(toWorker, request + "\n"))
    return failureObject(describeEnd());
  return readReply();
}

json::Object Worker::check(int contender) {
  return ask("check " + std::to_string(contender));
}
json::Object Worker::calibrate(int contender, double seconds) {
  return ask("calibrate " + std::to_string(contender) + " " +
             std::to_string(seconds));
}
json::Object Worker::sample(int contender, int64_t iterations) {
  return ask("sample " + std::to_string(contender) + " " +
             std::to_string(iterations));
}
