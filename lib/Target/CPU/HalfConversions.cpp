//===- HalfConversions.cpp - Half-precision helpers in the kernels' code --===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where an x86-64 processor has no instructions for a 16-bit format, LLVM calls
// helpers of the compiler's runtime library, even to move such values about.
// Not every C library's loader finds them, so the code carries its own; the
// linker keeps one of each, and drops those that nothing calls.

#include "HalfConversions.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/TargetParser/Triple.h"

// Doubles go to single precision rounded to odd first: the second rounding is
// then the only one that counts.
static constexpr llvm::StringLiteral helpers = R"(
define weak_odr hidden bfloat @__truncsfbf2(float %x) {
  %bits = bitcast float %x to i32
  %shifted = lshr i32 %bits, 16
  %low = and i32 %shifted, 1
  %half = add i32 %low, 32767
  %sum = add i32 %bits, %half
  %rounded = lshr i32 %sum, 16
  %quiet = or i32 %shifted, 64
  %nan = fcmp uno float %x, %x
  %result = select i1 %nan, i32 %quiet, i32 %rounded
  %narrow = trunc i32 %result to i16
  %value = bitcast i16 %narrow to bfloat
  ret bfloat %value
}

define weak_odr hidden half @__truncsfhf2(float %x) {
  %bits = bitcast float %x to i32
  %magnitude = and i32 %bits, 2147483647
  %sign32 = lshr i32 %bits, 16
  %sign = and i32 %sign32, 32768

  %odd32 = lshr i32 %magnitude, 13
  %odd = and i32 %odd32, 1
  %rebiased = add i32 %magnitude, -939520001
  %sum = add i32 %rebiased, %odd
  %normal = lshr i32 %sum, 13

  %absolute = bitcast i32 %magnitude to float
  %aligned = fadd float %absolute, 5.0e-01
  %alignedBits = bitcast float %aligned to i32
  %subnormal = sub i32 %alignedBits, 1056964608

  %small = icmp ult i32 %magnitude, 947912704
  %finite = select i1 %small, i32 %subnormal, i32 %normal
  %large = icmp uge i32 %magnitude, 1199570944
  %clamped = select i1 %large, i32 31744, i32 %finite
  %nan = fcmp uno float %x, %x
  %payload32 = lshr i32 %bits, 13
  %payload = and i32 %payload32, 511
  %quiet = or i32 %payload, 32256
  %unsigned = select i1 %nan, i32 %quiet, i32 %clamped
  %result = or i32 %unsigned, %sign
  %narrow = trunc i32 %result to i16
  %value = bitcast i16 %narrow to half
  ret half %value
}

define weak_odr hidden float @__extendhfsf2(half %x) {
  %narrow = bitcast half %x to i16
  %bits = zext i16 %narrow to i32
  %magnitude = and i32 %bits, 32767
  %sign16 = and i32 %bits, 32768
  %sign = shl i32 %sign16, 16
  %aligned = shl i32 %magnitude, 13
  %scaled = bitcast i32 %aligned to float
  %finite = fmul float %scaled, 0x46F0000000000000
  %finiteBits = bitcast float %finite to i32
  %top = or i32 %aligned, 2139095040
  %special = icmp uge i32 %magnitude, 31744
  %unsigned = select i1 %special, i32 %top, i32 %finiteBits
  %result = or i32 %unsigned, %sign
  %value = bitcast i32 %result to float
  ret float %value
}

define internal float @tracea.round_to_odd(double %x) alwaysinline {
  %near = fptrunc double %x to float
  %back = fpext float %near to double
  %bits = bitcast float %near to i32
  %xBits = bitcast double %x to i64
  %backBits = bitcast double %back to i64
  %xMagnitude = and i64 %xBits, 9223372036854775807
  %backMagnitude = and i64 %backBits, 9223372036854775807
  %away = icmp ugt i64 %backMagnitude, %xMagnitude
  %one = zext i1 %away to i32
  %toZero = sub i32 %bits, %one
  %odd = or i32 %toZero, 1
  %inexact = fcmp one double %back, %x
  %result = select i1 %inexact, i32 %odd, i32 %bits
  %value = bitcast i32 %result to float
  ret float %value
}

define weak_odr hidden bfloat @__truncdfbf2(double %x) {
  %single = call float @tracea.round_to_odd(double %x)
  %value = call bfloat @__truncsfbf2(float %single)
  ret bfloat %value
}

define weak_odr hidden half @__truncdfhf2(double %x) {
  %single = call float @tracea.round_to_odd(double %x)
  %value = call half @__truncsfhf2(float %single)
  ret half %value
}
)";

static bool usesHalves(const llvm::Module &module) {
  auto isHalf = [](const llvm::Type *type) {
    const llvm::Type *scalar = type->getScalarType();
    return scalar->isHalfTy() || scalar->isBFloatTy();
  };
  for (const llvm::Function &function : module)
    for (const llvm::Instruction &instruction : llvm::instructions(function)) {
      if (isHalf(instruction.getType()))
        return true;
      for (const llvm::Use &operand : instruction.operands())
        if (isHalf(operand->getType()))
          return true;
    }
  return false;
}

void mlir::tracea::addHalfConversions(llvm::Module &module) {
  if (module.getTargetTriple().getArch() != llvm::Triple::x86_64 ||
      !usesHalves(module))
    return;
  llvm::SMDiagnostic error;
  if (llvm::parseAssemblyInto(
          llvm::MemoryBufferRef(helpers, "half conversions"), &module,
          /*Index=*/nullptr, error))
    llvm::report_fatal_error(error.getMessage());
}
