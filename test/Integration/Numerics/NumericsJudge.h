//===- NumericsJudge.h - Runs programs and judges them ----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What becomes of a case when it has been compiled. Nothing here needs the
// compiler: a program for another processor is judged by the same code, built
// for that processor, in a process of its own (JudgeMain.cpp), which is told
// the case as a text of bytes.

#ifndef TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSJUDGE_H
#define TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSJUDGE_H

#include "Numerics.h"
#include "NumericsMemory.h"
#include "tracea/Runtime/Executable.h"

#include <array>
#include <memory>

namespace tracea::numerics {

/// A compiled case, with inputs and what is right.
struct Trial {
  std::vector<uint8_t> program;
  std::vector<Instance> instances;
  /// Whether the other number of threads is tried in any case.
  bool more = false;
  /// Of the places in memory and the ways of running.
  uint64_t seed = 0;
};

/// A trial for another process, and back: none if the bytes are no trial.
std::string pack(const Trial &trial);
std::optional<Trial> unpack(const std::string &bytes);

/// What the other process prints where all is right. One that prints nothing
/// has judged nothing.
inline constexpr const char *kRight = "right";

/// Of 1 and 2 threads.
using CPUDevices = std::array<std::shared_ptr<runtime::Device>, 2>;
CPUDevices openCPUDevices();

/// Runs a program in several ways. Empty when all is right, else what is wrong.
std::string judge(const Trial &trial, const CPUDevices &devices);

/// A way through the program's entry on a device; null with an error.
std::unique_ptr<runtime::Execution>
loadProgram(const std::vector<uint8_t> &bytes,
            const std::shared_ptr<runtime::Device> &device, std::string &error);

/// Everything about an instance on one executable; `bits` gets the outputs.
std::string judgeRun(runtime::Execution &execution, Random &random,
                     const Instance &instance, Placement placement,
                     std::vector<std::vector<uint8_t>> &bits);

/// A size that does not fit must be refused, and nothing written.
std::string judgeWrong(runtime::Execution &execution, Random &random,
                       const Instance &instance);

/// The program with some of its inputs constant: they are given once, and then
/// in another version.
std::string judgeConstants(const std::vector<uint8_t> &bytes,
                           const std::shared_ptr<runtime::Device> &device,
                           Random &random, const Instance &instance,
                           const std::vector<std::vector<uint8_t>> &expected);

} // namespace tracea::numerics

#endif // TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSJUDGE_H
