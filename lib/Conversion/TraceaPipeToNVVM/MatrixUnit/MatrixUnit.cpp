//===- MatrixUnit.cpp - Asynchronous multiplies and their groups ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One multiply is a row of instructions of 64 rows (wgmma m64nNkK), which a
// warpgroup issues together. The accumulators of one instruction stay a struct
// from the first multiply to the wait: nothing in between touches them, and
// ptxas sees that.

#include "Lowering.h"
#include "MatrixUnit/MatrixDescriptors.h"
#include "tracea/Algebra/Fragments.h"
#include "tracea/Conversion/TraceaPipeToGPU/Fragments.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

constexpr int64_t kRows = 64;
/// Bits of a shared address that a descriptor takes; in a cluster the ones
/// above name the workgroup.
constexpr int64_t kAddressMask = 0x3FFFF;

SmallVector<Type> mlir::tracea_pipe::getInFlightTypes(InFlightType type) {
  RankedTensorType tile = type.getTile();
  int64_t blocks = std::max<int64_t>(tile.getDimSize(0) / kRows, 1);
  int64_t registers = getLanes(tile).getNumRegisters() / blocks;
  SmallVector<Type> fields(registers, tile.getElementType());
  return SmallVector<Type>(
      blocks, LLVM::LLVMStructType::getLiteral(type.getContext(), fields));
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

static SmallVector<Value> unpack(Emitter &b, Value aggregate) {
  SmallVector<Value> values;
  auto type = cast<LLVM::LLVMStructType>(aggregate.getType());
  for (size_t i = 0; i < type.getBody().size(); ++i)
    values.push_back(LLVM::ExtractValueOp::create(b, aggregate, i));
  return values;
}

static Value pack(Emitter &b, Type type, ValueRange values) {
  Value aggregate = LLVM::UndefOp::create(b, type);
  for (auto [i, value] : llvm::enumerate(values))
    aggregate = LLVM::InsertValueOp::create(b, aggregate, value, i);
  return aggregate;
}

static char getConstraint(Type type) { return type.isF32() ? 'f' : 'r'; }

static Value createAsm(Emitter &b, Type result, ValueRange operands,
                       StringRef text, StringRef constraints) {
  return LLVM::InlineAsmOp::create(
             b, TypeRange(result), operands, text, constraints,
             /*has_side_effects=*/true, /*is_align_stack=*/false,
             LLVM::tailcallkind::TailCallKind::None,
             LLVM::AsmDialectAttr::get(b.getContext(),
                                       LLVM::AsmDialect::AD_ATT),
             /*operand_attrs=*/ArrayAttr())
      .getResult(0);
}

/// An instruction without operands that `values` pass through: what uses them
/// stays behind it, and what makes them before it.
static SmallVector<Value> passThrough(Emitter &b, StringRef instruction,
                                      ValueRange values) {
  std::string outputs, inputs;
  for (auto [i, value] : llvm::enumerate(values)) {
    outputs +=
        (i ? ",=" : "=") + std::string(1, getConstraint(value.getType()));
    inputs += "," + std::to_string(i);
  }
  SmallVector<Type> types(values.getTypes());
  if (values.size() == 1)
    return {createAsm(b, types[0], values, instruction, outputs + inputs)};
  Value result =
      createAsm(b, LLVM::LLVMStructType::getLiteral(b.getContext(), types),
                values, instruction, outputs + inputs);
  return unpack(b, result);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

namespace {
/// The instruction of one multiply.
struct Instruction {
  NVVM::WGMMATypes operandType, accumulatorType;
  std::string operandName, accumulatorName;
  int64_t n, k, elementBits;
};
} // namespace

static std::optional<Instruction> getInstruction(Type element, Type accumulator,
                                                 int64_t n) {
  Instruction result;
  result.n = n;
  result.elementBits =
      element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  auto operand = [&](NVVM::WGMMATypes type, StringRef name) {
    result.operandType = type;
    result.operandName = name.str();
    result.k = 256 / result.elementBits;
  };
  if (element.isBF16())
    operand(NVVM::WGMMATypes::bf16, "bf16");
  else if (element.isF16())
    operand(NVVM::WGMMATypes::f16, "f16");
  else if (element.isF32())
    operand(NVVM::WGMMATypes::tf32, "tf32");
  else if (isa<Float8E4M3FNType>(element))
    operand(NVVM::WGMMATypes::e4m3, "e4m3");
  else if (isa<Float8E5M2Type>(element))
    operand(NVVM::WGMMATypes::e5m2, "e5m2");
  else if (element.isInteger(8))
    operand(NVVM::WGMMATypes::s8, "s8");
  else
    return std::nullopt;
  bool isInteger = element.isInteger(8);
  if (isInteger ? !accumulator.isInteger(32) : !accumulator.isF32())
    return std::nullopt;
  result.accumulatorType =
      isInteger ? NVVM::WGMMATypes::s32 : NVVM::WGMMATypes::f32;
  result.accumulatorName = isInteger ? "s32" : "f32";
  // Integers have fewer shapes.
  if (n % (isInteger && n > 32 ? 16 : 8) || n < 8 || n > 256)
    return std::nullopt;
  return result;
}

/// `lanes` as text on one line.
static std::string describe(const alg::LaneMap &map) {
  std::string text = map.str();
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  for (char &c : text)
    if (c == '\n')
      c = ';';
  return text;
}

namespace {
struct LowerMmaAsync : NVVMPattern<MmaAsyncOp> {
  using KernelPattern::KernelPattern;

  LogicalResult checkTeam(MmaAsyncOp op, const Team &team) const {
    if (team.numWarps == kWarpsOfGroup && team.firstWarp % kWarpsOfGroup == 0)
      return success();
    return op.emitOpError()
           << "is issued by a warpgroup: four warps that begin at a multiple "
              "of four, found a team of "
           << team.numWarps << " from warp " << team.firstWarp;
  }

  LogicalResult checkAccumulator(MmaAsyncOp op,
                                 const Instruction &instruction) const {
    RankedTensorType tile = op.getTileType();
    alg::Expected<alg::LaneMap> fragment = alg::wgmmaD(instruction.n);
    if (!fragment)
      return op.emitOpError() << fragment.message();
    LanesAttr lanes = getLanes(tile);
    int64_t blocks = tile.getDimSize(0) / kRows;
    bool matches = lanes.getNumRegisters() == blocks * fragment->numRegisters();
    for (int64_t block = 0; matches && block < blocks; ++block)
      matches = isFragment(lanes, block * fragment->numRegisters(), *fragment,
                           {block * kRows, 0});
    if (matches)
      return success();
    InFlightDiagnostic diag = op.emitOpError()
                              << "has an accumulator of lane map " << lanes;
    diag.attachNote() << "the matrix unit leaves its sums as "
                      << describe(*fragment);
    return diag;
  }

  /// The words of the left operand for each step, from registers.
  FailureOr<SmallVector<SmallVector<Value>>>
  getLeftRegisters(MmaAsyncOp op, Value vector, const Instruction &instruction,
                   Emitter &b) const {
    auto tile = cast<RankedTensorType>(op.getLhs().getType());
    LanesAttr lanes = getLanes(tile);
    alg::Expected<alg::LaneMap> fragment = alg::wgmmaA(instruction.elementBits);
    if (!fragment)
      return op.emitOpError() << fragment.message(), failure();
    auto mismatch = [&]() -> FailureOr<SmallVector<SmallVector<Value>>> {
      InFlightDiagnostic diag = op.emitOpError()
                                << "has a left operand of lane map " << lanes;
      diag.attachNote() << "the matrix unit takes it as "
                        << describe(*fragment);
      return failure();
    };
    if (tile.getDimSize(0) != kRows)
      return mismatch();
    int64_t perWord = 32 / instruction.elementBits;
    SmallVector<SmallVector<Value>> steps;
    auto word = VectorType::get(perWord, tile.getElementType());
    for (int64_t k = 0; k < tile.getDimSize(1); k += instruction.k) {
      // Where the tile's registers of this step begin.
      std::optional<int64_t> first;
      for (int64_t reg = 0; reg < lanes.getNumRegisters() && !first; ++reg)
        if (lanes.getCoordinate(reg, 0) == SmallVector<int64_t>{0, k})
          first = reg;
      if (!first || !isFragment(lanes, *first, *fragment, {0, k}))
        return mismatch();
      SmallVector<Value> &words = steps.emplace_back();
      for (int64_t reg = 0; reg < fragment->numRegisters(); reg += perWord) {
        SmallVector<Value> elements;
        for (int64_t i = 0; i < perWord; ++i)
          elements.push_back(
              vector::ExtractOp::create(b, vector, *first + reg + i));
        Value packed = vector::FromElementsOp::create(b, word, elements);
        Value cast = vector::BitCastOp::create(
            b, VectorType::get(1, b.getI32Type()), packed);
        words.push_back(vector::ExtractOp::create(b, cast, 0));
      }
    }
    return steps;
  }

  /// The descriptor's value without the offset of a part.
  Value getDescriptor(Emitter &b, const StagedWindow &window, Value buffer,
                      const MatrixDescriptor &descriptor) const {
    Value address = b.add(context.target.sharedAddress, buffer);
    if (Value terms = b.termsOf(window))
      address = b.add(address, terms);
    address = arith::AndIOp::create(b, address, b.i32(kAddressMask));
    address = arith::ShRUIOp::create(b, address, b.i32(4));
    Value wide = arith::ExtUIOp::create(b, b.getI64Type(), address);
    Value constant = arith::ConstantOp::create(
        b, b.getI64IntegerAttr(static_cast<int64_t>(descriptor.constant)));
    return arith::OrIOp::create(b, wide, constant);
  }

  Value moveDescriptor(Emitter &b, Value descriptor, int64_t bytes) const {
    if (bytes == 0)
      return descriptor;
    return arith::AddIOp::create(
        b, descriptor,
        arith::ConstantOp::create(b, b.getI64IntegerAttr(bytes / 16)));
  }

  Value multiply(Emitter &b, const Instruction &instruction, Value acc,
                 bool fromZero, Value left, Value right, bool leftTransposed,
                 bool rightTransposed) const {
    MLIRContext *c = b.getContext();
    auto one = NVVM::WGMMAScaleIn::one;
    return NVVM::WgmmaMmaAsyncOp::create(
        b, acc.getType(), acc, left, right,
        NVVM::MMAShapeAttr::get(c, kRows, instruction.n, instruction.k),
        instruction.operandType, instruction.operandType,
        instruction.accumulatorType,
        fromZero ? NVVM::WGMMAScaleOut::zero : NVVM::WGMMAScaleOut::one, one,
        one, leftTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
        rightTransposed ? NVVM::MMALayout::row : NVVM::MMALayout::col,
        NVVM::MMAIntOverflowAttr());
  }

  /// The form with the left operand in registers, which the dialect lacks.
  Value multiplyRegisters(Emitter &b, const Instruction &instruction, Value acc,
                          bool fromZero, ValueRange left, Value right,
                          bool rightTransposed) const {
    SmallVector<Value> operands = unpack(b, acc);
    size_t count = operands.size();
    llvm::append_range(operands, left);
    operands.push_back(right);
    std::string constraints, sums, words;
    for (size_t i = 0; i < count; ++i) {
      constraints += (i ? ",=" : "=") +
                     std::string(1, getConstraint(operands[i].getType()));
      sums += (i ? ", $" : "$") + std::to_string(i);
    }
    for (size_t i = 0; i < count; ++i)
      constraints += "," + std::to_string(i);
    for (size_t i = 0; i < left.size(); ++i) {
      constraints += ",r";
      words += (i ? ", $" : "$") + std::to_string(2 * count + i);
    }
    constraints += ",l";
    std::string shape = "m64n" + std::to_string(instruction.n) + "k" +
                        std::to_string(instruction.k);
    std::string tail = ", p";
    // Integers have neither scales nor a transposed form.
    if (instruction.accumulatorName == "f32")
      tail += ", 1, 1";
    if (instruction.elementBits == 16)
      tail += rightTransposed ? ", 1" : ", 0";
    std::string text = "{\n.reg .pred p;\nsetp.ne.b32 p, " +
                       std::string(fromZero ? "0" : "1") +
                       ", 0;\nwgmma.mma_async.sync.aligned." + shape + "." +
                       instruction.accumulatorName + "." +
                       instruction.operandName + "." + instruction.operandName +
                       " {" + sums + "}, {" + words + "}, $" +
                       std::to_string(2 * count + left.size()) + tail + ";\n}";
    return createAsm(b, acc.getType(), operands, text, constraints);
  }

  LogicalResult
  matchAndRewrite(MmaAsyncOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    NVVMEmitter b(op, rewriter, context);
    RankedTensorType tile = op.getTileType();
    auto lhs = cast<ShapedType>(op.getLhs().getType());
    auto rhs = cast<ShapedType>(op.getRhs().getType());
    if (failed(checkTeam(op, b.team)))
      return failure();
    int64_t n = tile.getDimSize(1), depth = rhs.getDimSize(0);
    std::optional<Instruction> instruction =
        getInstruction(lhs.getElementType(), tile.getElementType(), n);
    if (!instruction || lhs.getElementType() != rhs.getElementType() ||
        tile.getDimSize(0) % kRows || depth % instruction->k)
      return op.emitOpError()
             << "has no instruction of the matrix unit: it multiplies bf16, "
                "f16, f32 (as tf32) and 8-bit floats into f32 and i8 into i32, "
                "in multiples of 64 rows, 8 to 256 columns in steps of 8 (16 "
                "for i8 above 32), and 32 bytes of k; found "
             << lhs << " times " << rhs << " into " << tile;
    if (failed(checkAccumulator(op, *instruction)))
      return failure();
    if (!isa<MemRefType>(rhs))
      return op.emitOpError() << "expects its right operand in staged memory, "
                                 "found "
                              << rhs;
    bool leftInRegisters = !isa<MemRefType>(lhs);
    int64_t blocks = tile.getDimSize(0) / kRows;
    int64_t steps = depth / instruction->k;
    auto emitError = [&]() { return op.emitOpError(); };

    const StagedWindow &rightWindow = context.getWindow(op.getRhsMutable());
    FailureOr<MatrixDescriptor> right = describeOperand(
        rightWindow, /*isLhs=*/false, n, 1, instruction->k, steps, emitError);
    if (failed(right))
      return failure();
    Value rightBase =
        getDescriptor(b, rightWindow, adaptor.getRhs().front(), *right);
    MatrixDescriptor left;
    Value leftBase;
    SmallVector<SmallVector<Value>> leftWords;
    if (leftInRegisters) {
      auto words =
          getLeftRegisters(op, adaptor.getLhs().front(), *instruction, b);
      if (failed(words))
        return failure();
      leftWords = std::move(*words);
    } else {
      const StagedWindow &window = context.getWindow(op.getLhsMutable());
      FailureOr<MatrixDescriptor> found =
          describeOperand(window, /*isLhs=*/true, kRows, blocks, instruction->k,
                          steps, emitError);
      if (failed(found))
        return failure();
      left = *found;
      leftBase = getDescriptor(b, window, adaptor.getLhs().front(), left);
    }

    // What the unit will read or write in registers passes the fence with it.
    auto types = getInFlightTypes(cast<InFlightType>(op.getResult().getType()));
    SmallVector<Value> sums;
    SmallVector<Value> fenced;
    bool fromTile = op.getAcc() && isRegisterTile(op.getAcc().getType());
    if (fromTile)
      for (int64_t i = 0; i < getLanes(tile).getNumRegisters(); ++i)
        fenced.push_back(
            vector::ExtractOp::create(b, adaptor.getAcc().front(), i));
    for (SmallVector<Value> &words : leftWords)
      llvm::append_range(fenced, words);
    if (fenced.empty()) {
      NVVM::WgmmaFenceAlignedOp::create(b);
    } else {
      fenced = passThrough(b, "wgmma.fence.sync.aligned;", fenced);
      size_t next = 0;
      if (fromTile)
        for (Type type : types) {
          size_t count = cast<LLVM::LLVMStructType>(type).getBody().size();
          sums.push_back(pack(b, type, ValueRange(fenced).slice(next, count)));
          next += count;
        }
      for (SmallVector<Value> &words : leftWords)
        for (Value &word : words)
          word = fenced[next++];
    }
    if (op.getAcc() && !fromTile)
      llvm::append_range(sums, adaptor.getAcc());
    if (!op.getAcc())
      for (Type type : types)
        sums.push_back(LLVM::UndefOp::create(b, type));

    for (int64_t step = 0; step < steps; ++step) {
      Value rightPart = moveDescriptor(b, rightBase, right->getStart(0, step));
      bool fromZero = !op.getAcc() && step == 0;
      for (int64_t block = 0; block < blocks; ++block) {
        if (leftInRegisters)
          sums[block] = multiplyRegisters(b, *instruction, sums[block],
                                          fromZero, leftWords[step], rightPart,
                                          right->isTransposed);
        else
          sums[block] =
              multiply(b, *instruction, sums[block], fromZero,
                       moveDescriptor(b, leftBase, left.getStart(block, step)),
                       rightPart, left.isTransposed, right->isTransposed);
      }
    }
    rewriter.replaceOpWithMultiple(op, {ValueRange(sums)});
    return success();
  }
};

struct LowerCommitGroup : NVVMPattern<CommitGroupOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(CommitGroupOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    NVVMEmitter b(op, rewriter, context);
    if (op.getUnit() == Unit::Mma)
      NVVM::WgmmaGroupSyncAlignedOp::create(b);
    else
      b.onLeader([&]() { NVVM::CpAsyncBulkCommitGroupOp::create(b); });
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerWaitGroup : NVVMPattern<WaitGroupOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(WaitGroupOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    NVVMEmitter b(op, rewriter, context);
    int64_t pending = op.getPending();
    if (op.getUnit() == Unit::Copy) {
      // The groups are those of the lane that started them.
      b.onLeader([&]() {
        NVVM::CpAsyncBulkWaitGroupOp::create(b, pending,
                                             /*read=*/b.getUnitAttr());
      });
      b.meet();
      rewriter.eraseOp(op);
      return success();
    }
    if (op.getInFlight().empty()) {
      NVVM::WgmmaWaitGroupSyncOp::create(b, pending);
      rewriter.eraseOp(op);
      return success();
    }
    // The sums pass through the wait: no use of them can move before it.
    SmallVector<Value> values;
    for (ValueRange structs : adaptor.getInFlight())
      for (Value aggregate : structs)
        llvm::append_range(values, unpack(b, aggregate));
    values = passThrough(
        b, "wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";",
        values);
    SmallVector<Value> results;
    size_t next = 0;
    for (Value tile : op.getTiles()) {
      VectorType type = getLaneVector(cast<RankedTensorType>(tile.getType()));
      results.push_back(vector::FromElementsOp::create(
          b, type, ValueRange(values).slice(next, type.getNumElements())));
      next += type.getNumElements();
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateMatrixUnitPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    NVVMLoweringContext &context) {
  patterns.add<LowerMmaAsync, LowerCommitGroup, LowerWaitGroup>(
      converter, patterns.getContext(), context);
}
