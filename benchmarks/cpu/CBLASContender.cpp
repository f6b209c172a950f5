//===- CBLASContender.cpp - Libraries with BLAS's C interface ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// OpenBLAS and BLIS are found at run time, through the dynamic loader: neither
// their headers nor the libraries are needed to build. Eigen is headers alone:
// EigenProducts.cpp makes libraries of it, with the same interface.

#include "Contender.h"

#include "tracea/Runtime/CPU/HostCPU.h"

#include <dlfcn.h>

#include <map>

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

struct CBLAS {
  SGemm sgemm = nullptr;
  SGemv sgemv = nullptr;
  /// Whether it runs on as many threads as it is told.
  bool hasThreads = true;
  std::string description = "not installed";
};

/// What a function of no arguments says; empty where there is none.
std::string askForText(void *handle, const char *function) {
  using Text = const char *(*)();
  auto ask = reinterpret_cast<Text>(dlsym(handle, function));
  return ask ? ask() : "";
}

std::string describe(const std::string &name, void *handle) {
  if (name == "openblas") {
    // "OpenBLAS 0.3.21 DYNAMIC_ARCH …": the first two words.
    std::string text = askForText(handle, "openblas_get_config");
    return text.substr(0, text.find(' ', text.find(' ') + 1)) + " (" +
           askForText(handle, "openblas_get_corename") + ")";
  }
  if (name == "blis") {
    auto query =
        reinterpret_cast<int (*)()>(dlsym(handle, "bli_arch_query_id"));
    auto nameOf = reinterpret_cast<const char *(*)(int)>(
        dlsym(handle, "bli_arch_string"));
    return "BLIS " + askForText(handle, "bli_info_get_version_str") +
           (query && nameOf ? std::string(" (") + nameOf(query()) + ")" : "");
  }
  return askForText(handle, "tracea_eigen_version");
}

/// The library's file, for the dynamic loader.
std::string fileOf(const std::string &name) {
  if (name == "openblas")
    return "libopenblas.so.0";
  if (name == "blis")
    return "libblis.so.4";
  bool hasWide = runtime::detectHostCPU().has("avx512f");
  return std::string("libtracea-eigen-") + (hasWide ? "avx512" : "avx2") +
         ".so";
}

CBLAS load(const std::string &name) {
  CBLAS result;
  void *handle = dlopen(fileOf(name).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return result;
  result.sgemm = reinterpret_cast<SGemm>(dlsym(handle, "cblas_sgemm"));
  result.sgemv = reinterpret_cast<SGemv>(dlsym(handle, "cblas_sgemv"));
  result.hasThreads = name != "eigen";
  result.description = describe(name, handle);
  return result;
}

const CBLAS &library(const std::string &name) {
  static std::map<std::string, CBLAS> loaded;
  auto found = loaded.find(name);
  if (found == loaded.end())
    found = loaded.emplace(name, load(name)).first;
  return found->second;
}

class CBLASContender : public Contender {
public:
  CBLASContender(const Problem &problem, const CBLAS &cblas)
      : problem(problem), cblas(cblas) {}

  bool run(int index) override {
    const GemmShape &gemm = problem.what().gemm;
    const BufferSet &set = problem.set(index);
    const float *a = set.inputs[0].as<float>();
    const float *b = set.inputs[1].as<float>();
    float *c = set.output.as<float>();
    int m = int(gemm.m), n = int(gemm.n), k = int(gemm.k);
    if (asVector)
      cblas.sgemv(RowMajor, gemm.transposeB ? NoTranspose : Transpose,
                  gemm.transposeB ? n : k, gemm.transposeB ? k : n, 1, b,
                  gemm.transposeB ? k : n, a, 1, 0, c, 1);
    else
      for (int64_t i = 0; i < gemm.batch; ++i)
        cblas.sgemm(RowMajor, gemm.transposeA ? Transpose : NoTranspose,
                    gemm.transposeB ? Transpose : NoTranspose, m, n, k, 1,
                    a + i * m * k, gemm.transposeA ? m : k, b + i * k * n,
                    gemm.transposeB ? k : n, 0, c + i * m * n, n);
    return true;
  }

  /// One row: as a product of a matrix and a vector.
  bool asVector = false;

private:
  const Problem &problem;
  const CBLAS &cblas;
};

} // namespace

std::string tracea::bench::describeCBLAS(const std::string &name) {
  return library(name).description;
}

MaybeContender tracea::bench::makeCBLAS(const std::string &name,
                                        const Problem &problem, int threads) {
  const Case &entry = problem.what();
  if (entry.op != Op::Gemm || entry.type != runtime::ElementType::F32)
    return {nullptr, "has no such operation"};
  const CBLAS &cblas = library(name);
  if (!cblas.sgemm || !cblas.sgemv)
    return {nullptr, "not installed"};
  if (threads > 1 && !cblas.hasThreads)
    return {nullptr, kRunsAlone};
  auto contender = std::make_unique<CBLASContender>(problem, cblas);
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
