//===- tracea-graduation.cpp - The CPU benchmark's tables ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles convolutions and matrix products for this machine, checks them
// against float64, and measures them beside OpenBLAS, BLIS, Eigen and oneDNN
// where these are installed. See benchmarks/README.md for the protocol.

#include "Measure.h"
#include "Peak.h"
#include "Worker.h"

#include "tracea/Runtime/CPU/HostCPU.h"
#include "tracea/TargetInfo/Host.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>

using namespace tracea;
using namespace tracea::bench;
using runtime::ElementType;
namespace json = llvm::json;

namespace {

/// The peaks of one number of threads; unknown ones are 0.
struct Peaks {
  double f32 = 0, bf16 = 0, i8 = 0;

  explicit Peaks(int threads)
      : f32(measurePeak(ElementType::F32, threads)),
        bf16(measurePeak(ElementType::BF16, threads)),
        i8(measurePeak(ElementType::I8, threads)) {}
  double of(ElementType type) const {
    return type == ElementType::BF16 ? bf16
           : type == ElementType::I8 ? i8
                                     : f32;
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static std::string format(const char *pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), pattern, value);
  return text;
}

static std::string errorText(const Side *side) {
  if (!side || !side->hasTime())
    return "-";
  return side->error == 0 ? "0" : format("%.0e", side->error);
}

static std::string millisText(const Side *side) {
  return side && side->hasTime() ? format("%.3f", side->median() * 1e3) : "-";
}

static std::string ratioText(double ratio) {
  return ratio > 0 ? format("%.2f", ratio) : "-";
}

static void printLine(const std::vector<std::string> &cells) {
  // Those of a case, of the others' times, and the last two.
  static const int widths[] = {-35, -20, 8, 9, 5, 9, 6};
  constexpr int timeWidth = 9, lastWidth = 7;
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    char text[512];
    int width = i < std::size(widths)   ? widths[i]
                : i + 2 >= cells.size() ? lastWidth
                                        : timeWidth;
    std::snprintf(text, sizeof(text), "%*s", width, cells[i].c_str());
    line += (i ? "  " : "") + std::string(text);
  }
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

/// Whose times stand beside Tracea's, by name and title.
static std::vector<std::pair<std::string, std::string>> columnsOf(bool gemm) {
  std::vector<std::pair<std::string, std::string>> columns;
  if (!gemm)
    columns.push_back({"separate", "separate"});
  for (const Peer &peer : kPeers)
    if (gemm || !peer.isBLAS)
      columns.push_back({peer.name, peer.title});
  return columns;
}

static void printHeading(const List &list, int threads) {
  std::printf("\n%s, %d thread%s\n", list.title.c_str(), threads,
              threads == 1 ? "" : "s");
  std::vector<std::string> cells = {"case", "variant", "error", "ms",
                                    "+-",   "GFLOP/s", "peak"};
  for (const auto &column : columnsOf(list.name == "gemm"))
    cells.push_back(column.second);
  cells.insert(cells.end(), {"error", "ratio"});
  printLine(cells);
}

static void printRow(const Row &row, double peak) {
  const Side *tracea = row.find("tracea");
  const Side *peer = row.bestPeer();
  auto isOpen = [](const Side &side) { return !side.undecided.empty(); };
  bool anyOpen = std::any_of(row.sides.begin(), row.sides.end(), isOpen);
  std::vector<std::string> cells = {row.entry->name};
  if (tracea->hasTime()) {
    double rate = row.entry->flops() / tracea->median();
    cells.insert(cells.end(),
                 {tracea->implementation + (anyOpen ? " *" : ""),
                  errorText(tracea), millisText(tracea),
                  format("%.0f%%", tracea->spread() * 100),
                  format("%.1f", rate * 1e-9),
                  peak > 0 ? format("%.0f%%", rate / peak * 100) : "-"});
  } else {
    cells.insert(cells.end(), {"-", "-", "-", "-", "-", "-"});
  }
  for (const auto &column : columnsOf(row.entry->op == Op::Gemm))
    cells.push_back(millisText(row.find(column.first)));
  cells.insert(cells.end(), {errorText(peer), ratioText(row.ratio())});
  printLine(cells);
  for (const Side &side : row.sides)
    if (!side.hasTime() && side.reason != "not installed" &&
        side.reason != kRunsAlone)
      std::printf("    %s: %s\n", side.name.c_str(), side.reason.c_str());
  for (const Side &side : row.sides)
    if (isOpen(side))
      std::printf("  * %s, not proved: %s\n", side.name.c_str(),
                  side.undecided.c_str());
  std::fflush(stdout);
}

static double geometricMean(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values)
    sum += std::log(value);
  return std::exp(sum / double(values.size()));
}

namespace {
/// Ratios to the best peer of the rows that have one, and the worst of them.
struct Ratios {
  std::vector<double> values;
  const Row *worst = nullptr;

  void add(const Row &row, double ratio) {
    if (ratio <= 0)
      return;
    if (values.empty() ||
        ratio < *std::min_element(values.begin(), values.end()))
      worst = &row;
    values.push_back(ratio);
  }
  /// "geometric mean 1.05 …; worst 0.97: gemm f32 512"
  std::string describe(size_t count) const {
    return "geometric mean " + format("%.2f", geometricMean(values)) +
           " over " + std::to_string(values.size()) + " of " +
           std::to_string(count) + " rows; worst " +
           format("%.2f", *std::min_element(values.begin(), values.end())) +
           ": " + worst->entry->name;
  }
};
} // namespace

static void printSummary(const std::vector<Row> &rows, const List &list,
                         int threads) {
  Ratios medians, fastest;
  std::vector<double> gains;
  size_t count = 0, proved = 0;
  for (const Row &row : rows) {
    if (row.entry->list != list.name || row.threads != threads)
      continue;
    ++count;
    proved +=
        std::all_of(row.sides.begin(), row.sides.end(),
                    [](const Side &side) { return side.undecided.empty(); });
    if (double gain = row.fusionGain(); gain > 0)
      gains.push_back(gain);
    medians.add(row, row.ratio());
    fastest.add(row, row.ratioOfFastest());
  }
  if (medians.worst)
    std::printf("  %s\n  fastest samples: %s\n",
                medians.describe(count).c_str(),
                fastest.describe(count).c_str());
  else
    std::printf("  no row of %zu has a peer to compare with\n", count);
  std::printf("  all proofs of all kernels in %zu of %zu rows\n", proved,
              count);
  if (!gains.empty())
    std::printf("  fused against separate kernels: geometric mean %.2f over "
                "%zu rows\n",
                geometricMean(gains), gains.size());
}

//===----------------------------------------------------------------------===//
// The head
//===----------------------------------------------------------------------===//

static std::string processorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0)
      return line.substr(std::min(line.find(':') + 2, line.size()));
  return runtime::detectHostCPU().name;
}

static double loadAverage() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

static json::Object describeMachine(const std::string &commit) {
  char date[32];
  time_t seconds = time(nullptr);
  std::strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", gmtime(&seconds));
  Worker peers{WorkerTask{}};
  json::Object machine{{"date", std::string(date)},
                       {"commit", commit},
                       {"processor", processorName()},
                       {"target", target::detectHost().name},
                       {"processors", runtime::countUsableProcessors()},
                       {"load", loadAverage()}};
  for (const Peer &peer : kPeers)
    machine[peer.name] =
        peers.greeting().getString(peer.name).value_or("?").str();
  return machine;
}

static void printHead(const json::Object &machine,
                      const std::map<int, Peaks> &peaks,
                      const Protocol &protocol) {
  auto text = [&](const char *key) {
    return machine.getString(key).value_or("").str();
  };
  std::printf("Tracea %s, %s\n", text("commit").c_str(), text("date").c_str());
  std::printf("%s (%s), %lld processors, load %.2f\n",
              text("processor").c_str(), text("target").c_str(),
              static_cast<long long>(*machine.getInteger("processors")),
              *machine.getNumber("load"));
  for (const std::pair<const int, Peaks> &entry : peaks)
    std::printf("peak of %d thread%s: f32 %.0f, bf16 %.0f GFLOP/s, i8 %.0f "
                "GOP/s\n",
                entry.first, entry.first == 1 ? "" : "s",
                entry.second.f32 * 1e-9, entry.second.bf16 * 1e-9,
                entry.second.i8 * 1e-9);
  for (const Peer &peer : kPeers)
    std::printf("%s: %s\n", peer.title, text(peer.name).c_str());
  std::printf("Medians of %d rounds in turns, %.0f ms of rest before each "
              "sample of %.0f ms or one call.\n",
              protocol.rounds, protocol.restSeconds * 1e3,
              protocol.sampleSeconds * 1e3);
  std::printf("Errors: largest difference from float64 over largest value. "
              "Ratio: time of the best peer over\nTracea's, above 1 is "
              "faster.\n");
  std::printf("Tracea's programs are compiled with their proofs demanded "
              "(require-proof); a row marked * has\na kernel that is not "
              "decided, and the reason below it.\n");
  if (*machine.getNumber("load") > 0.5)
    std::printf("The machine is not idle: times are no record of it.\n");
  if (protocol.cpuTime)
    std::printf("Times are processor time: no record either.\n");
  std::fflush(stdout);
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

namespace {

struct Options {
  bool help = false, list = false, worker = false, quick = false, full = false;
  bool cpuTime = false;
  std::string filter, json, caseName;
  std::string commit = "of an unnamed commit";
  std::vector<std::string> contenders;
  std::vector<int> threads;
  int rounds = 9;
};

} // namespace

static const char usage[] =
    "Tracea's benchmark on the CPU: tracea-graduation [options]\n"
    "\n"
    "  --quick          a short selection with shorter samples\n"
    "  --full           all cases (the default)\n"
    "  --threads=N,...  numbers of threads; default: 1 and all processors\n"
    "  --filter=TEXT    only cases whose list or name contains TEXT\n"
    "  --rounds=N       samples of each contender (9)\n"
    "  --json=FILE      write everything to FILE as well\n"
    "  --commit=TEXT    what was built, for the head\n"
    "  --cpu-time       for a busy machine: one thread, the process's own "
    "clock\n"
    "  --list           name the cases\n";

static std::vector<std::string> splitAtCommas(const std::string &text) {
  std::vector<std::string> result;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin)
      result.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

/// LLVM's own parser is of no use here: its library brings options of the same
/// names. The error on failure.
static std::string parseOptions(int argc, char **argv, Options &options) {
  std::map<std::string, bool *> flags = {
      {"--help", &options.help},     {"--list", &options.list},
      {"--worker", &options.worker}, {"--quick", &options.quick},
      {"--full", &options.full},     {"--cpu-time", &options.cpuTime}};
  std::map<std::string, std::string *> texts = {{"--filter", &options.filter},
                                                {"--json", &options.json},
                                                {"--case", &options.caseName},
                                                {"--commit", &options.commit}};
  auto parseNumber = [](const std::string &text, int &number) {
    return !llvm::StringRef(text).getAsInteger(10, number) && number >= 1 &&
           number <= 4096;
  };
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i], value;
    size_t equals = name.find('=');
    if (equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    if (auto flag = flags.find(name); flag != flags.end()) {
      if (equals != std::string::npos)
        return name + " takes no value";
      *flag->second = true;
      continue;
    }
    bool isText = texts.count(name) != 0;
    if (!isText && name != "--threads" && name != "--rounds" &&
        name != "--contenders")
      return "unknown option '" + std::string(argv[i]) + "'; see --help";
    if (equals == std::string::npos) {
      if (++i == argc)
        return name + " needs a value";
      value = argv[i];
    }
    if (isText) {
      *texts[name] = value;
    } else if (name == "--contenders") {
      options.contenders = splitAtCommas(value);
    } else if (name == "--rounds") {
      if (!parseNumber(value, options.rounds))
        return "--rounds: expected a number from 1 to 4096, found '" + value +
               "'";
    } else {
      for (const std::string &text : splitAtCommas(value)) {
        options.threads.push_back(0);
        if (!parseNumber(text, options.threads.back()))
          return "--threads: expected numbers from 1 to 4096, found '" + text +
                 "'";
      }
    }
  }
  if (options.quick && options.full)
    return "--quick and --full exclude each other";
  if (options.cpuTime && options.threads != std::vector<int>{1} &&
      !options.worker)
    return "--cpu-time needs --threads=1";
  return "";
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Options options;
  std::string error = parseOptions(argc, argv, options);
  if (!error.empty()) {
    llvm::errs() << "error: " << error << "\n";
    return 1;
  }
  if (options.help) {
    std::fputs(usage, stdout);
    return 0;
  }
  if (options.worker) {
    WorkerTask task;
    task.caseName = options.caseName;
    task.contenders = options.contenders;
    task.cpuTime = options.cpuTime;
    if (!options.threads.empty())
      task.threads = options.threads.front();
    return serve(task);
  }
  if (options.list) {
    for (const Case &entry : allCases())
      std::printf("%-8s  %s\n", entry.list.c_str(), entry.name.c_str());
    return 0;
  }
  std::vector<int> counts = options.threads;
  if (counts.empty()) {
    counts = {1};
    if (int all = runtime::countUsableProcessors(); all > 1)
      counts.push_back(all);
  }
  // A worker that died is told from its exit status.
  std::signal(SIGPIPE, SIG_IGN);

  Protocol protocol;
  protocol.rounds = options.rounds;
  protocol.cpuTime = options.cpuTime;
  if (options.quick)
    protocol.sampleSeconds = 0.004;
  auto isChosen = [&](const Case &entry, int count) {
    if (options.quick && !(count == 1 ? entry.quick : entry.quickThreads))
      return false;
    return entry.list.find(options.filter) != std::string::npos ||
           entry.name.find(options.filter) != std::string::npos;
  };

  json::Object machine = describeMachine(options.commit);
  std::map<int, Peaks> peaks;
  for (int count : counts)
    peaks.emplace(count, Peaks(count));
  printHead(machine, peaks, protocol);

  std::vector<Row> rows;
  bool failed = false;
  for (int count : counts)
    for (const List &list : allLists()) {
      bool any = false;
      for (const Case &entry : allCases()) {
        if (entry.list != list.name || !isChosen(entry, count))
          continue;
        if (!any)
          printHeading(list, count);
        any = true;
        rows.push_back(measure(entry, count, protocol));
        printRow(rows.back(), peaks.at(count).of(entry.type));
        failed |= !rows.back().find("tracea")->hasTime();
      }
      if (any)
        printSummary(rows, list, count);
    }
  if (rows.empty()) {
    llvm::errs() << "error: no case matches '" << options.filter << "'\n";
    return 1;
  }

  if (!options.json.empty()) {
    json::Array list;
    for (const Row &row : rows)
      list.push_back(toJSON(row, peaks.at(row.threads).of(row.entry->type)));
    std::error_code code;
    llvm::raw_fd_ostream stream(options.json, code);
    if (!code)
      stream << llvm::formatv(
          "{0:2}\n", json::Value(json::Object{{"machine", std::move(machine)},
                                              {"rows", std::move(list)}}));
    stream.close();
    if (code || stream.has_error()) {
      llvm::errs() << "error: cannot write '" << options.json << "'\n";
      stream.clear_error();
      return 1;
    }
  }
  return failed ? 1 : 0;
}
