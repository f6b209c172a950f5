//===- CPUQuota.cpp - Processor time that a container grants --------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/CPU/CPUQuota.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <vector>

namespace tracea::runtime {

/// Processors of a quota and a period in microseconds; nothing for "max", -1,
/// and what is no number.
static std::optional<double> divide(const std::string &quota,
                                    const std::string &period) {
  std::istringstream first(quota), second(period);
  double time = 0, length = 0;
  if (!(first >> time) || !(second >> length) || time <= 0 || length <= 0)
    return std::nullopt;
  return time / length;
}

static std::string readWord(std::istream &stream) {
  std::string word;
  stream >> word;
  return word;
}

static std::optional<double> readVersion2(const std::string &folder) {
  std::ifstream file(folder + "/cpu.max");
  std::string quota = readWord(file), period = readWord(file);
  return divide(quota, period);
}

static std::optional<double> readVersion1(const std::string &folder) {
  std::ifstream quota(folder + "/cpu.cfs_quota_us");
  std::ifstream period(folder + "/cpu.cfs_period_us");
  return divide(readWord(quota), readWord(period));
}

/// Whether `list`, separated by commas, has the controller of processor time.
static bool controlsCPU(const std::string &list) {
  std::istringstream stream(list);
  for (std::string name; std::getline(stream, name, ',');)
    if (name == "cpu")
      return true;
  return false;
}

std::optional<int> readCPUQuota(const std::string &groups,
                                const std::string &mount) {
  std::optional<double> least;
  auto consider = [&](std::optional<double> processors) {
    if (processors && (!least || *processors < *least))
      least = processors;
  };
  std::istringstream lines(groups);
  // "ID:CONTROLLERS:/PATH"; version 2 has no controllers there.
  for (std::string line; std::getline(lines, line);) {
    size_t first = line.find(':');
    size_t second =
        first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    bool isVersion2 = controllers.empty();
    if (!isVersion2 && !controlsCPU(controllers))
      continue;
    std::vector<std::string> roots = {mount};
    if (!isVersion2)
      roots = {mount + "/cpu", mount + "/" + controllers};
    // A group has no more than those around it, up to the root, which a
    // container may see alone.
    while (true) {
      while (!path.empty() && path.back() == '/')
        path.pop_back();
      for (const std::string &root : roots)
        consider(isVersion2 ? readVersion2(root + path)
                            : readVersion1(root + path));
      if (path.empty())
        break;
      size_t slash = path.rfind('/');
      path.resize(slash == std::string::npos ? 0 : slash);
    }
  }
  if (!least)
    return std::nullopt;
  constexpr double most = 1 << 20;
  return static_cast<int>(std::ceil(std::min(*least, most)));
}

} // namespace tracea::runtime
