//===- run-program.cpp - Runs a compiled program from C++ -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   run-program scale.tracea
//
// Loads the program that compile-and-run wrote and calls it. Links only
// Tracea::Runtime: there is no compiler here, and no LLVM.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/Executable.h"

#include <cstdio>

using namespace tracea::runtime;

static int fail(const Status &status) {
  std::fprintf(stderr, "error: %s\n", status.message().c_str());
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s PROGRAM.tracea\n", argv[0]);
    return 1;
  }

  Expected<ProgramFile> program = ProgramFile::load(argv[1]);
  if (!program)
    return fail(program.status());
  Expected<std::shared_ptr<Device>> device = openDevice("cpu");
  if (!device)
    return fail(device.status());
  // The file is this user's own (`TrustPolicy` has other rules). Checks that
  // this machine has what the program was compiled for, then loads its code.
  Expected<std::shared_ptr<Executable>> executable =
      Executable::load(std::move(*program), *device);
  if (!executable)
    return fail(executable.status());

  // The input borrows this array; the output is allocated by the run.
  const float x[] = {1, 2, 3};
  Expected<Tensor> input = Tensor::borrow(x, ElementType::F32, {1, 3});
  if (!input)
    return fail(input.status());
  Expected<std::vector<Tensor>> outputs = (*executable)->run("main", {*input});
  if (!outputs)
    return fail(outputs.status());

  const Tensor &y = outputs->front();
  std::printf("y =");
  for (int64_t i = 0; i < y.numElements(); ++i)
    std::printf(" %g", y.dataAs<float>()[i]);
  std::printf("\n");
  return 0;
}
