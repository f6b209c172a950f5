//===- Report.cpp - What was measured beside what was predicted -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Report.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

using namespace tracea::wavefronts;

/// The fields of one line of CSV, quotes removed.
static std::vector<std::string> splitLine(const std::string &line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      fields.emplace_back();
    else if (c != '\r')
      fields.back() += c;
  }
  return fields;
}

bool tracea::wavefronts::readCounts(const std::string &path, unsigned every,
                                    unsigned issues,
                                    std::vector<Measured> &all) {
  constexpr const char *metric =
      "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
  std::ifstream file(path);
  std::string line;
  size_t column = 0, next = 0, read = 0;
  bool found = false;
  while (std::getline(file, line)) {
    std::vector<std::string> fields = splitLine(line);
    if (!found) {
      auto at = std::find(fields.begin(), fields.end(), metric);
      found = at != fields.end();
      column = at - fields.begin();
      continue;
    }
    // The second line of the header has the units, and no number.
    if (fields[0].empty() || fields.size() <= column)
      continue;
    std::string digits;
    for (char c : fields[column])
      if (c != ',')
        digits += c;
    if (next >= all.size())
      break;
    // The launch itself counts one.
    all[next].counted = (std::atof(digits.c_str()) - 1) / issues;
    next += every;
    ++read;
  }
  size_t expected = (all.size() + every - 1) / every;
  if (read == expected)
    return true;
  std::fprintf(stderr, "error: %s: expected %s of %zu launches, found %zu\n",
               path.c_str(), metric, expected, read);
  return false;
}

bool tracea::wavefronts::writeTable(const std::string &path,
                                    const std::vector<Measured> &all) {
  std::ofstream file(path);
  file << "instruction,family,active,predicted,cycles,counted,offsets\n";
  for (const Measured &m : all) {
    char numbers[96];
    std::snprintf(numbers, sizeof(numbers), "%08x,%lld,%.2f,%.2f,",
                  m.pattern.active, (long long)m.pattern.predicted, m.cycles,
                  m.counted);
    file << instructions()[m.pattern.instruction].name << ",\""
         << m.pattern.family << "\"," << numbers;
    for (uint32_t offset : m.pattern.offsets) {
      std::snprintf(numbers, sizeof(numbers), "%x ", offset);
      file << numbers;
    }
    file << '\n';
  }
  file.close();
  if (file)
    return true;
  std::fprintf(stderr, "error: %s could not be written\n", path.c_str());
  return false;
}

namespace {
/// How the patterns of one line compare.
struct Tally {
  int patterns = 0, equal = 0, fewer = 0, more = 0;
  double low = 1e9, high = 0;

  void add(double found, double predicted) {
    ++patterns;
    // Half a wavefront is noise; so are three hundredths of a long chain.
    double noise = std::max(0.5, 0.03 * predicted);
    ++(found < predicted - noise   ? fewer
       : found > predicted + noise ? more
                                   : equal);
    low = std::min(low, found / predicted);
    high = std::max(high, found / predicted);
  }
};
} // namespace

bool tracea::wavefronts::printSummary(const std::vector<Measured> &all) {
  struct Line {
    Tally cycles, counted;
  };
  std::map<std::pair<unsigned, std::string>, Line> lines;
  for (const Measured &m : all) {
    for (std::string family : {m.pattern.family, std::string("all")}) {
      Line &line = lines[{m.pattern.instruction, family}];
      line.cycles.add(m.cycles, m.pattern.predicted);
      if (m.counted >= 0)
        line.counted.add(m.counted, m.pattern.predicted);
    }
  }
  std::printf("%-18s %-22s | %29s %11s | %29s\n", "", "",
              "cycles of one instruction", "", "counted wavefronts");
  std::printf("%-18s %-22s | %8s %6s %6s %6s %11s | %8s %6s %6s %6s\n",
              "instruction", "family", "patterns", "equal", "fewer", "more",
              "over model", "patterns", "equal", "fewer", "more");
  bool bounded = true;
  for (const auto &[key, line] : lines) {
    const Tally &c = line.cycles, &w = line.counted;
    std::printf("%-18s %-22s | %8d %6d %6d %6d %5.2f-%5.2f | %8d %6d %6d %6d\n",
                instructions()[key.first].name, key.second.c_str(), c.patterns,
                c.equal, c.fewer, c.more, c.low, c.high, w.patterns, w.equal,
                w.fewer, w.more);
    bounded &= c.more == 0 && w.more == 0;
  }
  return bounded;
}
