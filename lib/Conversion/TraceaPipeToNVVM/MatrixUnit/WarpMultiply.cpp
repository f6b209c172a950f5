//===- WarpMultiply.cpp - Products of fragments in registers --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A multiply of register tiles is a row of mma.sync m16n8: which registers are
// the fragments of one is read off the lane maps, and compared with the lane
// maps of the instruction for each warp. Operands of f32 are rounded to tf32 in
// registers, or split into two such parts.

#include "Lowering.h"
#include "tracea/Algebra/Fragments.h"

#include <map>

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

constexpr int64_t kBytesOfDepth = 32;

namespace {
/// The instruction for operands of one type.
struct WarpInstruction {
  int64_t depth;
  unsigned bits;
  /// The type's name in PTX.
  StringRef name;
  /// As the dialect names it; nothing if it has none.
  std::optional<NVVM::MMATypes> type;

  static std::optional<WarpInstruction> get(Type element, Type accumulator,
                                            Precision precision);
};
} // namespace

std::optional<WarpInstruction>
WarpInstruction::get(Type element, Type accumulator, Precision precision) {
  if (!element.isIntOrFloat())
    return std::nullopt;
  WarpInstruction result;
  result.bits = element.getIntOrFloatBitWidth();
  if (element.isBF16())
    result.name = "bf16", result.type = NVVM::MMATypes::bf16;
  else if (element.isF16())
    result.name = "f16", result.type = NVVM::MMATypes::f16;
  else if (element.isInteger(8))
    result.name = "s8", result.type = NVVM::MMATypes::s8;
  else if (element.isF32() && precision != Precision::Full)
    result.name = "tf32", result.type = NVVM::MMATypes::tf32;
  else if (isa<Float8E4M3FNType>(element))
    result.name = "e4m3";
  else if (isa<Float8E5M2Type>(element))
    result.name = "e5m2";
  else
    return std::nullopt;
  if (element.isInteger(8) ? !accumulator.isInteger(32) : !accumulator.isF32())
    return std::nullopt;
  result.depth = kBytesOfDepth * 8 / result.bits;
  return result;
}

namespace {
/// The registers of a tile as fragments of an instruction.
class FragmentList {
public:
  /// Fails if the tile's lanes hold something else than the instruction's.
  static std::optional<FragmentList> get(RankedTensorType tile,
                                         const alg::LaneMap &fragment) {
    FragmentList list;
    list.lanes = getLanes(tile);
    list.size = fragment.numRegisters();
    if (list.lanes.getNumLanes() != fragment.numLanes() ||
        list.lanes.getNumRegisters() % list.size)
      return std::nullopt;
    for (int64_t first = 0; first < list.lanes.getNumRegisters();
         first += list.size) {
      SmallVector<int64_t> origin = list.lanes.getCoordinate(first, 0);
      auto same = [&](int64_t reg, int64_t lane) {
        alg::TileCoord expected = *fragment.coordinate(reg, lane);
        SmallVector<int64_t> found =
            list.lanes.getCoordinate(first + reg, lane);
        return found[0] == origin[0] + expected[0] &&
               found[1] == origin[1] + expected[1];
      };
      for (int64_t reg = 0; reg < list.size; ++reg)
        if (!same(reg, 0))
          return std::nullopt;
      for (int64_t lane = 1; lane < fragment.numLanes(); lane *= 2)
        if (!same(0, lane))
          return std::nullopt;
      list.fragments[{origin[0], origin[1]}] = first;
    }
    return list;
  }

  /// Where the fragment begins for a warp.
  SmallVector<int64_t> getOrigin(int64_t first, int64_t warp) const {
    return lanes.getCoordinate(first, 0, warp);
  }
  /// The first register of the fragment at an origin, for warp 0.
  std::optional<int64_t> find(int64_t row, int64_t column) const {
    auto it = fragments.find({row, column});
    return it == fragments.end() ? std::nullopt : std::optional(it->second);
  }

  LanesAttr lanes;
  int64_t size = 0;
  std::map<std::pair<int64_t, int64_t>, int64_t> fragments;
};

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

/// One instruction: the first registers of its fragments.
struct Step {
  int64_t lhs, rhs, acc;
};

struct LowerMma : NVVMPattern<MmaOp> {
  using KernelPattern::KernelPattern;

  /// The instructions of a product; nothing where the tiles do not fit them.
  std::optional<SmallVector<Step>>
  plan(MmaOp op, const WarpInstruction &instruction, int64_t warps) const {
    auto list = [&](Value tile, alg::MatrixOperand operand) {
      alg::Expected<alg::LaneMap> fragment =
          alg::mmaM16N8(operand, instruction.depth, instruction.bits);
      auto type = cast<RankedTensorType>(tile.getType());
      return fragment ? FragmentList::get(type, *fragment) : std::nullopt;
    };
    auto lhs = list(op.getLhs(), alg::MatrixOperand::A);
    auto rhs = list(op.getRhs(), alg::MatrixOperand::B);
    auto acc = list(op.getAcc(), alg::MatrixOperand::D);
    if (!lhs || !rhs || !acc)
      return std::nullopt;
    for (const FragmentList &operand : {*lhs, *rhs, *acc})
      if (operand.lanes.getNumWarps() != warps)
        return std::nullopt;
    int64_t depth = cast<RankedTensorType>(op.getLhs().getType()).getDimSize(1);
    SmallVector<Step> steps;
    for (int64_t k = 0; k < depth; k += instruction.depth)
      for (auto [origin, first] : acc->fragments) {
        std::optional<int64_t> a = lhs->find(origin.first, k);
        std::optional<int64_t> b = rhs->find(k, origin.second);
        if (!a || !b)
          return std::nullopt;
        for (int64_t warp = 0; warp < warps; ++warp) {
          SmallVector<int64_t> at = acc->getOrigin(first, warp);
          if (lhs->getOrigin(*a, warp) != SmallVector<int64_t>{at[0], k} ||
              rhs->getOrigin(*b, warp) != SmallVector<int64_t>{k, at[1]})
            return std::nullopt;
        }
        steps.push_back({*a, *b, first});
      }
    return steps;
  }

  /// `count` registers of 32 bits that begin with element `first`.
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
  static Value createAsm(Emitter &b, Type type, StringRef name, int64_t depth,
                         ValueRange lhs, ValueRange rhs, ValueRange acc) {
    SmallVector<Value> operands(lhs);
    llvm::append_range(operands, rhs);
    llvm::append_range(operands, acc);
    std::string text = "mma.sync.aligned.m16n8k" + std::to_string(depth) +
                       ".row.col.f32." + name.str() + "." + name.str() +
                       ".f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, "
                       "{$10, $11, $12, $13};";
    // It reads and writes nothing but registers; all lanes must come to it.
    return LLVM::InlineAsmOp::create(
               b, TypeRange(type), operands, text,
               "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f", /*has_side_effects=*/true,
               /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
               LLVM::AsmDialectAttr::get(b.getContext(),
                                         LLVM::AsmDialect::AD_ATT),
               /*operand_attrs=*/ArrayAttr())
        .getResult(0);
  }

  LogicalResult
  matchAndRewrite(MmaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    NVVMEmitter b(op, rewriter, context);
    auto acc = cast<RankedTensorType>(op.getAcc().getType());
    Type element = getElementTypeOrSelf(op.getLhs().getType());
    auto isTile = [](Value value) { return isRegisterTile(value.getType()); };
    if (!isTile(op.getLhs()) || !isTile(op.getRhs()) || op.getDepth() ||
        !op.getLimits().empty())
      return op.emitOpError()
             << "expects whole operands in registers for this target";
    std::optional<WarpInstruction> instruction =
        WarpInstruction::get(element, acc.getElementType(), op.getPrecision());
    if (!instruction)
      return op.emitOpError()
             << "has no instruction of warps: they multiply bf16, f16, 8-bit "
                "floats and what is kept of f32 by the precision tf32 into "
                "f32, and i8 into i32, found "
             << element << " into " << acc.getElementType();
    std::optional<SmallVector<Step>> steps =
        plan(op, *instruction, b.team.numWarps);
    if (!steps)
      return op.emitOpError()
             << "has operands whose lane maps are not those of m16n8k"
             << instruction->depth << " for " << b.team.numWarps << " warps";

    int64_t perWord = 32 / instruction->bits;
    auto toWords = [&](Value vector) -> Value {
      int64_t count =
          cast<VectorType>(vector.getType()).getNumElements() / perWord;
      return vector::BitCastOp::create(
          b, VectorType::get(count, b.getI32Type()), vector);
    };
    // The operands of each round of instructions.
    SmallVector<std::pair<Value, Value>> rounds;
    if (element.isF32()) {
      bool hasRest = op.getPrecision() == Precision::TF32x3;
      SplitElements left(b, adaptor.getLhs(), hasRest);
      SplitElements right(b, adaptor.getRhs(), hasRest);
      if (hasRest) {
        rounds.push_back({left.rest, right.part});
        rounds.push_back({left.part, right.rest});
      }
      rounds.push_back({left.part, right.part});
    } else {
      rounds.push_back({toWords(adaptor.getLhs()), toWords(adaptor.getRhs())});
    }
    int64_t registers = getLanes(acc).getNumRegisters();
    SmallVector<Value> sums;
    for (int64_t reg = 0; reg < registers; ++reg)
      sums.push_back(vector::ExtractOp::create(b, adaptor.getAcc(), reg));
    Type word = element.isF16() ? Type(VectorType::get(2, element))
                                : Type(b.getI32Type());
    auto type = LLVM::LLVMStructType::getLiteral(
        b.getContext(), SmallVector<Type>(4, acc.getElementType()));
    int64_t shape[] = {16, 8, instruction->depth};
    for (auto [lhs, rhs] : rounds)
      for (const Step &step : *steps) {
        SmallVector<Value> left = getWords(b, lhs, step.lhs / perWord, 4, word);
        SmallVector<Value> right =
            getWords(b, rhs, step.rhs / perWord, 2, word);
        MutableArrayRef<Value> sum =
            MutableArrayRef<Value>(sums).slice(step.acc, 4);
        Value product;
        if (instruction->type) {
          std::optional<NVVM::MMAIntOverflow> overflow;
          if (element.isInteger())
            overflow = NVVM::MMAIntOverflow::wrapped;
          product = NVVM::MmaOp::create(
              b, type, left, right, ValueRange(sum), shape,
              /*b1Op=*/std::nullopt, overflow,
              std::array<NVVM::MMATypes, 2>{*instruction->type,
                                            *instruction->type},
              std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                             NVVM::MMALayout::col});
        } else {
          product = createAsm(b, type, instruction->name, instruction->depth,
                              left, right, ValueRange(sum));
        }
        for (auto [i, value] : llvm::enumerate(sum))
          value = LLVM::ExtractValueOp::create(b, product, i);
      }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, getLaneVector(acc),
                                                        sums);
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateWarpMultiplyPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    NVVMLoweringContext &context) {
  patterns.add<LowerMma>(converter, patterns.getContext(), context);
}
