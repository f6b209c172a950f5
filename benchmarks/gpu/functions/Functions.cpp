//===- Functions.cpp - Errors of functions on a GPU -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the programs that `tracea-accuracy --write sm_90a FOLDER` makes, which
// may come from another machine, and prints the table of docs/Accuracy.md.

#include "AccuracyMeasure.h"
#include "tracea/Runtime/CUDA/CUDADevice.h"

#include <cstdio>
#include <cstdlib>

using namespace tracea::accuracy;
using namespace tracea::runtime;

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: tracea-gpu-functions FOLDER [POINTS]\n");
    return 1;
  }
  int count = argc > 2 ? std::atoi(argv[2]) : 200000;
  auto fail = [](const Status &status) {
    std::fprintf(stderr, "tracea-gpu-functions: %s\n",
                 status.message().c_str());
    return 1;
  };
  Expected<std::shared_ptr<Device>> device = openDevice("cuda");
  if (!device)
    return fail(device.status());
  std::map<std::string, std::map<std::string, Worst>> table;
  const Format *formats[] = {&f64, &f32, &f16, &bf16};
  for (const Format *format : formats) {
    std::string name = nameOf(format->type);
    Expected<ProgramFile> program =
        // Carried here from where they were compiled, perhaps by another user.
        ProgramFile::load(std::string(argv[1]) + "/" + name + ".tracea",
                          TrustPolicy::everything());
    if (!program)
      return fail(program.status());
    Expected<std::shared_ptr<Executable>> executable =
        Executable::load(std::move(*program), *device);
    if (!executable)
      return fail(executable.status());
    for (const Function &function : functions())
      if (Status status =
              measureProgram(**executable, function, *format, Form::Epilogue,
                             count, table[function.name][name]);
          !status.ok())
        return fail(status);
  }
  std::printf("| function on %s |", (*device)->info().name.c_str());
  for (const Format *format : formats)
    std::printf(" %s |", nameOf(format->type));
  std::printf("\n|---|---|---|---|---|\n");
  for (const Function &function : functions()) {
    std::printf("| `%s` |", function.name);
    for (const Format *format : formats)
      std::printf(" %s |",
                  formatUnits(table[function.name][nameOf(format->type)].units)
                      .c_str());
    std::printf("\n");
  }
  for (const Function &function : functions())
    for (const Format *format : formats) {
      const Worst &worst = table[function.name][nameOf(format->type)];
      if (worst.units > 4)
        std::fprintf(stderr, "%s, %s: %g at %.17g, %.17g\n", function.name,
                     nameOf(format->type), worst.units, worst.x, worst.y);
    }
  return 0;
}
