//===- exported.cpp - A model that PyTorch exported, without Python -------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   exported PROGRAM.tracea INPUT.bin SHAPE OUTPUT.bin      SHAPE: 1,3,12,12
//
// Runs a program of one f32 tensor on the CPU. In Python it was made by
//   exported = torch.export.export(model, (x,))
//   tracea.torch.compile_exported(exported).save("PROGRAM.tracea")
// The binary links libtracea-runtime alone: neither the compiler nor LLVM.

#include "tracea.hpp"

#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

static std::vector<uint64_t> parse_shape(const std::string &text) {
  std::vector<uint64_t> shape;
  std::istringstream stream(text);
  for (std::string size; std::getline(stream, size, ',');)
    shape.push_back(std::stoull(size));
  return shape;
}

static size_t count(const std::vector<uint64_t> &shape) {
  size_t elements = 1;
  for (uint64_t size : shape)
    elements *= size;
  return elements;
}

int main(int argc, char **argv) try {
  if (argc != 5) {
    std::cerr << "usage: exported PROGRAM.tracea INPUT.bin SHAPE OUTPUT.bin\n";
    return 2;
  }
  tracea::Program program = tracea::Program::load(argv[1]);
  std::vector<uint64_t> shape = parse_shape(argv[3]);
  std::vector<float> in(count(shape));
  std::ifstream(argv[2], std::ios::binary)
      .read(reinterpret_cast<char *>(in.data()),
            static_cast<std::streamsize>(in.size() * sizeof(float)));

  tracea::Execution execution(program);
  tracea::TensorView x(in.data(), shape);
  execution.prepare({x});
  std::vector<uint64_t> result = execution.output_shape(0);
  std::vector<float> out(count(result));
  execution.run({x}, {tracea::TensorView(out.data(), result)});

  std::cout << program.entries().front() << ": ";
  for (size_t i = 0; i < result.size(); ++i)
    std::cout << (i ? "x" : "") << result[i];
  std::cout << "\n";
  std::ofstream(argv[4], std::ios::binary)
      .write(reinterpret_cast<const char *>(out.data()),
             static_cast<std::streamsize>(out.size() * sizeof(float)));
} catch (const tracea::Error &error) {
  std::cerr << error.what() << "\n";
  return 1;
}
