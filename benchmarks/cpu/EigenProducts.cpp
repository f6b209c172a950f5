//===- EigenProducts.cpp - Eigen's products with BLAS's C interface ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A peer of the CPU benchmark. Eigen is made of templates, which are as fast as
// what they are compiled for: one library each for AVX2 and AVX-512, for one
// thread. Of the interface there is what the benchmark calls: row-major, with
// alpha = 1 and beta = 0.

#include <Eigen/Core>

#define TRACEA_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using Matrix =
    Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstView =
    Eigen::Map<const Matrix, Eigen::Unaligned, Eigen::OuterStride<>>;
using View = Eigen::Map<Matrix, Eigen::Unaligned, Eigen::OuterStride<>>;
using ConstVector = Eigen::Map<const Eigen::VectorXf>;
using Vector = Eigen::Map<Eigen::VectorXf>;

constexpr int kTranspose = 112;

ConstView view(const float *data, int rows, int columns, int stride) {
  return ConstView(data, rows, columns, Eigen::OuterStride<>(stride));
}

} // namespace

// NOLINTBEGIN(readability-identifier-naming): a C interface has its own names.
TRACEA_EXPORT const char *tracea_eigen_version() {
#define TRACEA_TEXT_OF(x) #x
#define TRACEA_TEXT(x) TRACEA_TEXT_OF(x)
  return "Eigen " TRACEA_TEXT(EIGEN_WORLD_VERSION) "." TRACEA_TEXT(
      EIGEN_MAJOR_VERSION) "." TRACEA_TEXT(EIGEN_MINOR_VERSION)
#ifdef EIGEN_VECTORIZE_AVX512
      " (AVX-512)";
#else
      " (AVX2)";
#endif
}

TRACEA_EXPORT void cblas_sgemm(int, int transposeA, int transposeB, int m,
                               int n, int k, float, const float *a, int lda,
                               const float *b, int ldb, float, float *c,
                               int ldc) {
  View result(c, m, n, Eigen::OuterStride<>(ldc));
  bool turnsA = transposeA == kTranspose, turnsB = transposeB == kTranspose;
  ConstView left = turnsA ? view(a, k, m, lda) : view(a, m, k, lda);
  ConstView right = turnsB ? view(b, n, k, ldb) : view(b, k, n, ldb);
  if (turnsA && turnsB)
    result.noalias() = left.transpose() * right.transpose();
  else if (turnsA)
    result.noalias() = left.transpose() * right;
  else if (turnsB)
    result.noalias() = left * right.transpose();
  else
    result.noalias() = left * right;
}

TRACEA_EXPORT void cblas_sgemv(int, int transpose, int m, int n, float,
                               const float *a, int lda, const float *x, int,
                               float, float *y, int) {
  ConstView matrix = view(a, m, n, lda);
  if (transpose == kTranspose)
    Vector(y, n).noalias() = matrix.transpose() * ConstVector(x, m);
  else
    Vector(y, m).noalias() = matrix * ConstVector(x, n);
}
// NOLINTEND(readability-identifier-naming)
