//===- WarpMultiply.cpp - mma.sync of fragments in registers --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The matrix instructions of a warp, mma.sync m16n8: their lane maps, and how
// one is written. Operands of f32 are rounded to tf32 in registers, or split
// into two such parts.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "tracea/Algebra/Fragments.h"
#include "tracea/Conversion/TraceaPipeToGPU/Fragments.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

constexpr int64_t kBytesOfDepth = 32, kWordBits = 32;

namespace {
/// Elements of f32 as words of tf32, to the nearest with ties away from zero,
/// and the bits of tf32 of what those leave of them.
struct SplitElements {
  SplitElements(Emitter &b, Value elements, bool hasRest) {
    SmallVector<Value> parts, rests;
    int64_t count = cast<VectorType>(elements.getType()).getNumElements();
    for (int64_t i = 0; i < count; ++i) {
      Value element = vector::ExtractOp::create(b, elements, i);
      if (!hasRest) {
        parts.push_back(NVVM::ConvertFloatToTF32Op::create(
            b, b.getI32Type(), element, NVVM::FPRoundingMode::RNA));
        continue;
      }
      // Two instructions where the conversion takes four. A NaN may become a
      // number here; the rest is NaN then.
      Value bits = LLVM::BitcastOp::create(b, b.getI32Type(), element);
      parts.push_back(clear(b, b.add(bits, kHalf)));
      Value part = LLVM::BitcastOp::create(b, b.getF32Type(), parts.back());
      Value rest = arith::SubFOp::create(b, element, part);
      rests.push_back(
          clear(b, LLVM::BitcastOp::create(b, b.getI32Type(), rest)));
    }
    auto type = VectorType::get(count, b.getI32Type());
    part = vector::FromElementsOp::create(b, type, parts);
    if (hasRest)
      rest = vector::FromElementsOp::create(b, type, rests);
  }

  Value part, rest;

private:
  /// Bits of f32 that tf32 has not, and half of the last that it has.
  static constexpr int64_t kLowBits = 13, kHalf = 1 << (kLowBits - 1);

  static Value clear(Emitter &b, Value bits) {
    return arith::AndIOp::create(b, bits, b.i32(-(1 << kLowBits)));
  }
};

/// The instruction for operands of one type.
class WarpInstruction : public MatrixInstruction {
public:
  static std::unique_ptr<MatrixInstruction>
  get(Type element, Type accumulator, Precision precision, int64_t depth);

  SmallVector<std::pair<Value, Value>> prepare(Emitter &b, Value lhs,
                                               Value rhs) const override;
  SmallVector<Value> multiply(Emitter &b, Value lhs, int64_t lhsFirst,
                              Value rhs, int64_t rhsFirst,
                              ValueRange sums) const override;

private:
  using MatrixInstruction::MatrixInstruction;

  Value createAsm(Emitter &b, Type type, ValueRange lhs, ValueRange rhs,
                  ValueRange acc) const;

  Type element;
  /// The type's name in PTX, and as the dialect names it; nothing if it has
  /// none.
  StringRef typeName;
  std::optional<NVVM::MMATypes> type;
  int64_t perWord = 1;
  Precision precision = Precision::Full;
};
} // namespace

std::unique_ptr<MatrixInstruction> WarpInstruction::get(Type element,
                                                        Type accumulator,
                                                        Precision precision,
                                                        int64_t wanted) {
  if (!element.isIntOrFloat())
    return nullptr;
  StringRef name;
  std::optional<NVVM::MMATypes> type;
  if (element.isBF16())
    name = "bf16", type = NVVM::MMATypes::bf16;
  else if (element.isF16())
    name = "f16", type = NVVM::MMATypes::f16;
  else if (element.isInteger(8))
    name = "s8", type = NVVM::MMATypes::s8;
  else if (element.isF32() && precision != Precision::Full)
    name = "tf32", type = NVVM::MMATypes::tf32;
  else if (isa<Float8E4M3FNType>(element))
    name = "e4m3";
  else if (isa<Float8E5M2Type>(element))
    name = "e5m2";
  else
    return nullptr;
  if (element.isInteger(8) ? !accumulator.isInteger(32) : !accumulator.isF32())
    return nullptr;
  unsigned bits = element.getIntOrFloatBitWidth();
  int64_t depth = kBytesOfDepth * 8 / bits;
  // Halves are multiplied eight at a time as well.
  if (wanted % depth && (element.isBF16() || element.isF16()))
    depth /= 2;
  auto fragment = [&](alg::MatrixOperand operand) {
    return *alg::mmaM16N8(operand, depth, bits);
  };
  std::unique_ptr<WarpInstruction> result(new WarpInstruction(
      "m16n8k" + std::to_string(depth), fragment(alg::MatrixOperand::A),
      fragment(alg::MatrixOperand::B), fragment(alg::MatrixOperand::D)));
  result->element = element;
  result->typeName = name;
  result->type = type;
  result->perWord = kWordBits / bits;
  result->precision = precision;
  return result;
}

SmallVector<std::pair<Value, Value>>
WarpInstruction::prepare(Emitter &b, Value lhs, Value rhs) const {
  if (!element.isF32()) {
    auto toWords = [&](Value vector) -> Value {
      int64_t count =
          cast<VectorType>(vector.getType()).getNumElements() / perWord;
      return vector::BitCastOp::create(
          b, VectorType::get(count, b.getI32Type()), vector);
    };
    Value left = toWords(lhs);
    return {{left, toWords(rhs)}};
  }
  bool hasRest = precision == Precision::TF32x3;
  SplitElements left(b, lhs, hasRest);
  SplitElements right(b, rhs, hasRest);
  if (!hasRest)
    return {{left.part, right.part}};
  return {{left.rest, right.part},
          {left.part, right.rest},
          {left.part, right.part}};
}

/// `count` registers of 32 bits that begin with word `first`.
static SmallVector<Value> getWords(Emitter &b, Value words, int64_t first,
                                   int64_t count, Type type) {
  SmallVector<Value> result;
  for (int64_t i = 0; i < count; ++i) {
    Value word = vector::ExtractOp::create(b, words, first + i);
    if (word.getType() != type)
      word = LLVM::BitcastOp::create(b, type, word);
    result.push_back(word);
  }
  return result;
}

/// The form for types that the dialect lacks.
Value WarpInstruction::createAsm(Emitter &b, Type result, ValueRange lhs,
                                 ValueRange rhs, ValueRange acc) const {
  SmallVector<Value> operands(lhs);
  llvm::append_range(operands, rhs);
  llvm::append_range(operands, acc);
  std::string text = "mma.sync.aligned." + name + ".row.col.f32." +
                     typeName.str() + "." + typeName.str() +
                     ".f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, "
                     "{$10, $11, $12, $13};";
  // It reads and writes nothing but registers; all lanes must come to it.
  return LLVM::InlineAsmOp::create(
             b, TypeRange(result), operands, text,
             "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f", /*has_side_effects=*/true,
             /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
             LLVM::AsmDialectAttr::get(b.getContext(),
                                       LLVM::AsmDialect::AD_ATT),
             /*operand_attrs=*/ArrayAttr())
      .getResult(0);
}

SmallVector<Value> WarpInstruction::multiply(Emitter &b, Value lhs,
                                             int64_t lhsFirst, Value rhs,
                                             int64_t rhsFirst,
                                             ValueRange sums) const {
  Type word = element.isF16() ? Type(VectorType::get(2, element))
                              : Type(b.getI32Type());
  SmallVector<Value> left = getWords(b, lhs, lhsFirst / perWord,
                                     this->lhs.numRegisters() / perWord, word);
  SmallVector<Value> right = getWords(b, rhs, rhsFirst / perWord,
                                      this->rhs.numRegisters() / perWord, word);
  auto result = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(sums.getTypes()));
  Value product;
  if (type) {
    std::optional<NVVM::MMAIntOverflow> overflow;
    if (element.isInteger())
      overflow = NVVM::MMAIntOverflow::wrapped;
    int64_t shape[] = {16, 8, getDepth()};
    product = NVVM::MmaOp::create(
        b, result, left, right, sums, shape, /*b1Op=*/std::nullopt, overflow,
        std::array<NVVM::MMATypes, 2>{*type, *type},
        std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                       NVVM::MMALayout::col});
  } else {
    product = createAsm(b, result, left, right, sums);
  }
  SmallVector<Value> values;
  for (size_t i = 0; i < sums.size(); ++i)
    values.push_back(LLVM::ExtractValueOp::create(b, product, i));
  return values;
}

std::unique_ptr<MatrixInstruction>
NVVMTarget::getMatrixInstruction(Type element, Type accumulator,
                                 Precision precision, int64_t depth) const {
  return WarpInstruction::get(element, accumulator, precision, depth);
}

std::string NVVMTarget::describeMatrixInstructions() const {
  return "bf16, f16, 8-bit floats and what is kept of f32 by the precision "
         "tf32 into f32, and i8 into i32";
}
