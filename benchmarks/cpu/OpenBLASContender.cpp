//===- OpenBLASContender.cpp - OpenBLAS, found at run time ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Only the C interface is used, and only through the dynamic loader: neither
// its headers nor the library are needed to build.

#include "Contender.h"

#include <dlfcn.h>

using namespace tracea;
using namespace tracea::bench;

namespace {

enum { RowMajor = 101, NoTranspose = 111, Transpose = 112 };

using SGemm = void (*)(int order, int transposeA, int transposeB, int m, int n,
                       int k, float alpha, const float *a, int lda,
                       const float *b, int ldb, float beta, float *c, int ldc);
using SGemv = void (*)(int order, int transpose, int m, int n, float alpha,
                       const float *a, int lda, const float *x, int incX,
                       float beta, float *y, int incY);

struct Library {
  SGemm sgemm = nullptr;
  SGemv sgemv = nullptr;
  std::string description = "not installed";
};

const Library &library() {
  static const Library loaded = [] {
    Library result;
    void *handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      return result;
    result.sgemm = reinterpret_cast<SGemm>(dlsym(handle, "cblas_sgemm"));
    result.sgemv = reinterpret_cast<SGemv>(dlsym(handle, "cblas_sgemv"));
    using Text = char *(*)();
    Text config = reinterpret_cast<Text>(dlsym(handle, "openblas_get_config"));
    Text core = reinterpret_cast<Text>(dlsym(handle, "openblas_get_corename"));
    // "OpenBLAS 0.3.21 DYNAMIC_ARCH …": the first two words.
    std::string text = config ? config() : "OpenBLAS";
    size_t end = text.find(' ', text.find(' ') + 1);
    result.description = text.substr(0, end);
    if (core)
      result.description += std::string(" (") + core() + ")";
    return result;
  }();
  return loaded;
}

class OpenBLASContender : public Contender {
public:
  explicit OpenBLASContender(const Problem &problem) : problem(problem) {}

  bool run(int index) override {
    const GemmShape &gemm = problem.what().gemm;
    const BufferSet &set = problem.set(index);
    const float *a = set.inputs[0].as<float>();
    const float *b = set.inputs[1].as<float>();
    float *c = set.output.as<float>();
    int m = int(gemm.m), n = int(gemm.n), k = int(gemm.k);
    if (asVector)
      library().sgemv(RowMajor, gemm.transposeB ? NoTranspose : Transpose,
                      gemm.transposeB ? n : k, gemm.transposeB ? k : n, 1, b,
                      gemm.transposeB ? k : n, a, 1, 0, c, 1);
    else
      for (int64_t i = 0; i < gemm.batch; ++i)
        library().sgemm(RowMajor, gemm.transposeA ? Transpose : NoTranspose,
                        gemm.transposeB ? Transpose : NoTranspose, m, n, k, 1,
                        a + i * m * k, gemm.transposeA ? m : k, b + i * k * n,
                        gemm.transposeB ? k : n, 0, c + i * m * n, n);
    return true;
  }

  /// One row: as a product of a matrix and a vector.
  bool asVector = false;

private:
  const Problem &problem;
};

} // namespace

std::string tracea::bench::describeOpenBLAS() { return library().description; }

MaybeContender tracea::bench::makeOpenBLAS(const Problem &problem) {
  const Case &entry = problem.what();
  if (entry.op != Op::Gemm || entry.type != runtime::ElementType::F32)
    return {nullptr, "has no such operation"};
  if (!library().sgemm || !library().sgemv)
    return {nullptr, "not installed"};
  auto contender = std::make_unique<OpenBLASContender>(problem);
  contender->implementation = "sgemm";
  if (entry.gemm.m == 1) {
    // The faster of its two ways.
    double asMatrix = quickSeconds(*contender, problem.numSets());
    contender->asVector = true;
    if (quickSeconds(*contender, problem.numSets()) < asMatrix)
      contender->implementation = "sgemv";
    else
      contender->asVector = false;
  }
  return {std::move(contender), ""};
}
