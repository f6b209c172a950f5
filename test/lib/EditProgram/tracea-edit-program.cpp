//===- tracea-edit-program.cpp - Changes a word of a program's manifest ---===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests: what somebody could do who writes the container anew, with
// checksums that are right.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/ProgramFile.h"

#include <cstdio>

using namespace tracea::runtime;

static int fail(const std::string &message) {
  std::fprintf(stderr, "tracea-edit-program: error: %s\n", message.c_str());
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 5)
    return fail("expected IN OUT FROM TO");
  Expected<ProgramFile> program = ProgramFile::load(argv[1]);
  if (!program)
    return fail(program.message());
  Expected<std::string> json = toJSON(program->manifest);
  if (!json)
    return fail(json.message());
  std::string text = *json;
  const std::string from = argv[3];
  size_t at = text.find(from);
  if (at == std::string::npos)
    return fail("the manifest does not say '" + from + "'");
  text.replace(at, from.size(), argv[4]);
  Expected<Manifest> manifest = manifestFromJSON(text);
  if (!manifest)
    return fail(manifest.message());
  program->manifest = *manifest;
  if (Status status = program->save(argv[2]); !status.ok())
    return fail(status.message());
  return 0;
}
