//===- MatrixDescriptors.cpp - Operands of wgmma in shared memory ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The unit reads atoms of eight rows, each as wide as the swizzle mode (16
// bytes without one), at two strides; see SharedOperand.h for which stride is
// which. Its swizzle is one of the address, so that an operand may begin inside
// of an atom.

#include "MatrixUnit/MatrixDescriptors.h"
#include "tracea/Algebra/SharedOperand.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

namespace {
struct Operand {
  const StagedWindow &window;
  bool isLhs;

  int64_t at(int64_t mn, int64_t k) const {
    return isLhs ? window.getOffset({mn, k}) : window.getOffset({k, mn});
  }
};
} // namespace

/// Bytes from the start of an operand to element (mn, k), as the unit counts.
static int64_t getUnitOffset(const alg::SharedOperand &operand, int64_t mn,
                             int64_t k) {
  int64_t bytes = operand.elementBits / 8;
  int64_t row = operand.mode == alg::SwizzleMode::None
                    ? 16
                    : static_cast<int64_t>(operand.mode);
  bool isK = operand.major == alg::MajorNess::K;
  int64_t along = (isK ? k : mn) * bytes, across = isK ? mn : k;
  int64_t alongStride = operand.leadingBytes,
          acrossStride = operand.strideBytes;
  if (!isK && operand.mode == alg::SwizzleMode::None)
    std::swap(alongStride, acrossStride);
  return along % row + along / row * alongStride + across % 8 * row +
         across / 8 * acrossStride;
}

FailureOr<MatrixDescriptor> mlir::tracea_pipe::describeOperand(
    const StagedWindow &window, bool isLhs, int64_t extent, int64_t blocks,
    int64_t k, int64_t steps, function_ref<InFlightDiagnostic()> emitError) {
  StringRef side = isLhs ? "left" : "right";
  const StagedLayout &layout = window.layout;
  auto refuse = [&](const Twine &why) {
    InFlightDiagnostic diag = emitError();
    diag << "has a " << side
         << " operand that the matrix unit cannot read: " << why.str();
    diag.attachNote(window.buffer.getLoc())
        << "its buffer is a " << layout.type;
    return failure();
  };
  if (!layout.mode)
    return refuse("its swizzle is none of the unit's");
  if (window.getTermsAlignment() % 16)
    return refuse("its origin is not known to be a multiple of 16 bytes");

  Operand operand{window, isLhs};
  int64_t bytes = layout.elementBytes;
  alg::SharedOperand shared;
  shared.mode = *layout.mode;
  shared.elementBits = bytes * 8;
  int64_t origin = operand.at(0, 0);
  auto step = [&](int64_t mn, int64_t k) { return operand.at(mn, k) - origin; };
  if (step(0, 1) == bytes)
    shared.major = alg::MajorNess::K;
  else if (step(1, 0) == bytes)
    shared.major = alg::MajorNess::MN;
  else
    return refuse("neither dimension is contiguous");
  bool isK = shared.major == alg::MajorNess::K;
  if (!isK && bytes != 2)
    return refuse("only elements of 16 bits may be contiguous along " +
                  Twine(isLhs ? "m" : "n"));
  int64_t row = shared.mode == alg::SwizzleMode::None
                    ? 16
                    : static_cast<int64_t>(shared.mode);
  // Strides of what repeats; the rest is compared below.
  int64_t inRow = row / bytes;
  int64_t along = 0, across = 0;
  if ((isK ? k : extent) > inRow)
    along = isK ? step(0, inRow) : step(inRow, 0);
  if ((isK ? extent : k) > 8)
    across = isK ? step(8, 0) : step(0, 8);
  shared.leadingBytes = along;
  shared.strideBytes = across;
  if (!isK && shared.mode == alg::SwizzleMode::None)
    std::swap(shared.leadingBytes, shared.strideBytes);
  alg::Expected<uint64_t> constant = shared.descriptor(0);
  if (!constant)
    return refuse(constant.message());

  MatrixDescriptor result;
  result.constant = *constant;
  result.isTransposed = !isK;
  result.steps = steps;
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t number = 0; number < steps; ++number) {
      int64_t start = operand.at(block * extent, number * k);
      if (start % 16)
        return refuse("a part begins at byte " + Twine(start) +
                      ", which is no multiple of 16");
      // A row that the unit reads must lie in one row of the swizzle.
      for (int64_t i = 0; i < extent; ++i)
        for (int64_t j = 0; j < k; ++j)
          if (operand.at(block * extent + i, number * k + j) !=
              start + getUnitOffset(shared, i, j))
            return refuse(
                "element (" +
                Twine(isLhs ? block * extent + i : number * k + j) + ", " +
                Twine(isLhs ? number * k + j : block * extent + i) +
                ") lies at byte " +
                Twine(operand.at(block * extent + i, number * k + j)) +
                ", where rows of " + Twine(row) + " bytes would have it at " +
                Twine(start + getUnitOffset(shared, i, j)));
      result.starts.push_back(start);
    }
  return result;
}
