//===- EmbeddedPTX.h - Kernels that the build made --------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The .ll files of these tests as PTX, in the test's own binary.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_UNITTESTS_RUNTIME_CUDA_EMBEDDEDPTX_H
#define TRACEA_UNITTESTS_RUNTIME_CUDA_EMBEDDEDPTX_H

#include <cstdint>
#include <vector>

namespace tracea::runtime::test {

/// Conformance/CUDAKernels.ll, for sm_75 and newer.
std::vector<uint8_t> conformancePTX();
/// CUDA/GPUKernels.ll, for sm_90 and newer.
std::vector<uint8_t> gpuPTX();

} // namespace tracea::runtime::test

#endif // TRACEA_UNITTESTS_RUNTIME_CUDA_EMBEDDEDPTX_H
