//===- perceptron.cpp - A program of several operations, from C++ ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph becomes a program for any number of rows; weights are given once.

#include "tracea.hpp"

#include <iostream>
#include <vector>

int main() {
  tracea::Graph graph;
  auto x = graph.input("x", {tracea::Graph::dynamic, 4});
  auto w = graph.input("w", {4, 3}, tracea::DType::Float32, true);
  graph.output(graph.softmax(graph.gemm(x, w)));
  tracea::Program program = graph.compile();

  std::vector<float> weights = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
  tracea::Execution execution(program);
  execution.bind(1, tracea::TensorView(weights.data(), {4, 3}));
  for (uint64_t rows : {1, 3}) {
    std::vector<float> in(rows * 4, 1.0f), out(rows * 3);
    execution.run(
        {tracea::TensorView(in.data(), {rows, 4}), tracea::TensorView()},
        {tracea::TensorView(out.data(), {rows, 3})});
    std::cout << rows << (rows == 1 ? " row: " : " rows: ") << out.back()
              << "\n";
  }
}
