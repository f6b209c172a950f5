//===- SourceFile.cpp - Files and targets that commands name --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SourceFile.h"

#include "tracea/Compiler/SourceLimits.h"
#include "tracea/Runtime/ProgramFile.h"
#include "tracea/TargetInfo/Host.h"

#include <algorithm>

using namespace tracea::driver;
namespace rt = tracea::runtime;

Expected<std::vector<uint8_t>>
tracea::driver::readInput(const std::string &path, rt::FileOrigin &origin) {
  if (path.empty())
    return Status::error("expected the name of a file, found an empty one");
  // A program may carry constants of any size.
  rt::ReadLimit limit = [](rt::Bytes head) -> Expected<uint64_t> {
    return rt::ProgramFile::hasMagic(head) ? rt::ProgramLimits().maxBytes
                                           : compiler::maxModuleBytes;
  };
  return path == "-" ? rt::readDescriptor(0, displayName(path), limit, &origin)
                     : rt::readFile(path, limit, &origin);
}

Expected<tracea::target::TargetDescription>
tracea::driver::findTarget(const std::string &name) {
  if (std::optional<target::TargetDescription> found = target::resolve(name))
    return *found;
  return Status::error("unknown target '" + name + "'; the closest are " +
                       quoteList(target::closestNames(name)) +
                       ", and 'cpu' is this machine ('tracea doctor -v' lists "
                       "all)");
}

Expected<std::vector<tracea::target::TargetDescription>>
tracea::driver::findTargets(const std::string &names) {
  std::vector<target::TargetDescription> targets;
  for (size_t begin = 0; begin <= names.size();) {
    size_t end = std::min(names.find(',', begin), names.size());
    Expected<target::TargetDescription> found =
        findTarget(names.substr(begin, end - begin));
    if (!found)
      return found.status();
    targets.push_back(std::move(*found));
    if (targets.back().kind != targets.front().kind)
      return Status::error(
          "--target " + names + ": expected targets of one kind, found '" +
          targets.front().name + "' of kind " +
          std::string(target::stringify(targets.front().kind)) + " and '" +
          targets.back().name + "' of kind " +
          std::string(target::stringify(targets.back().kind)));
    begin = end + 1;
  }
  return targets;
}
