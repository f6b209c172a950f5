//===- Target.cpp - What a vendor's lowering provides ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What targets have in common, and what those that lack something need not say.
//
//===----------------------------------------------------------------------===//

#include "tracea/Conversion/TraceaPipeToGPU/Target.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"
#include "tracea/Conversion/TraceaPipeToGPU/Fragments.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

GPUTarget::~GPUTarget() = default;

size_t GPUTarget::getNumLaneBits() const {
  return llvm::Log2_64(static_cast<uint64_t>(getSubgroupSize()));
}

const Team &GPUTarget::getTeam(Emitter &b) {
  return b.context.plan.getTeam(b.op);
}

Value GPUTarget::getNumber(Emitter &, const Address &) {
  llvm_unreachable("the target's addresses are no numbers");
}

Address GPUTarget::select(Emitter &b, Value condition, const Address &yes,
                          const Address &no) {
  assert(yes.base == no.base && "two places in one buffer");
  Address result{yes.base, {}};
  for (auto [x, y] : llvm::zip_equal(yes.indices, no.indices))
    result.indices.push_back(arith::SelectOp::create(b, condition, x, y));
  return result;
}

void GPUTarget::copyAsync(Emitter &, const Address &, const Address &, int64_t,
                          Value, bool) {
  llvm_unreachable("kernels of this target hold their copies");
}
void GPUTarget::commitCopies(Emitter &) {
  llvm_unreachable("kernels of this target hold their copies");
}
void GPUTarget::waitForCopies(Emitter &, int64_t) {
  llvm_unreachable("kernels of this target hold their copies");
}

Value GPUTarget::funnelShift(Emitter &b, Value high, Value low, Value bits) {
  Type i64 = b.getI64Type();
  Value wide = arith::ShLIOp::create(
      b, arith::ExtUIOp::create(b, i64, high),
      arith::ConstantOp::create(b, b.getI64IntegerAttr(32)));
  wide = arith::OrIOp::create(b, wide, arith::ExtUIOp::create(b, i64, low));
  wide = arith::ShRUIOp::create(b, wide, arith::ExtUIOp::create(b, i64, bits));
  return arith::TruncIOp::create(b, b.getI32Type(), wide);
}

Value GPUTarget::multiplyAdd(Emitter &b, Value x, Value y, Value z) {
  return math::FmaOp::create(b, x, y, z);
}

Value GPUTarget::dotBytes(Emitter &, Value, Value, Value) {
  llvm_unreachable("the target multiplies bytes one by one");
}

std::unique_ptr<MatrixInstruction>
GPUTarget::getMatrixInstruction(Type, Type, Precision, int64_t) const {
  return nullptr;
}
