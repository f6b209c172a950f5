//===- conv2d.cpp - A convolution from C++ --------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea.hpp"

#include <iostream>
#include <vector>

int main() {
  std::vector<float> x(1 * 64 * 56 * 56, 1.0f), w(64 * 64 * 3 * 3, 0.5f),
      y(x.size());
  try {
    tracea::conv2d(tracea::TensorView(x.data(), {1, 64, 56, 56}),
                   tracea::TensorView(w.data(), {64, 64, 3, 3}), nullptr,
                   tracea::TensorView(y.data(), {1, 64, 56, 56}),
                   tracea::Conv2dParams().pad(1));
    std::cout << "corner " << y[0] << ", inside " << y[57] << "\n";
    // A filter that is larger than the image says so.
    tracea::conv2d(tracea::TensorView(x.data(), {1, 64, 2, 2}),
                   tracea::TensorView(w.data(), {64, 64, 3, 3}), nullptr,
                   tracea::TensorView(y.data(), {1, 64, 1, 1}));
  } catch (const tracea::Error &error) {
    std::cout << error.what() << "\n";
  }
}
