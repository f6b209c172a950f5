//===- JudgeMain.cpp - Judges one trial -----------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a trial from the standard input and prints what is wrong, or that all
// is right. `tracea-numerics --judge` starts it, built for another processor,
// under emulation.

#include "NumericsJudge.h"

#include <cstdio>

using namespace tracea::numerics;

int main() {
  std::string bytes;
  char chunk[65536];
  while (size_t count = std::fread(chunk, 1, sizeof chunk, stdin))
    bytes.append(chunk, count);
  std::optional<Trial> trial = unpack(bytes);
  std::string wrong = trial ? judge(*trial, openCPUDevices())
                            : "the standard input holds no trial";
  if (wrong.empty())
    wrong = kRight;
  std::fwrite(wrong.data(), 1, wrong.size(), stdout);
  return 0;
}
