//===- LaneMultiply.cpp - Products that each lane computes by itself ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Where the lane that holds an element of the sums also holds the row of the
// one operand and the column of the other that it is the product of, the
// multiply is a row of multiply-adds in registers. Four products of bytes that
// follow one another along k are one instruction. What is read of staged memory
// is read where it is multiplied first: it takes registers from there on.

#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"
#include "tracea/Conversion/TraceaPipeToGPU/Patterns.h"

#include <map>

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
/// Which registers of a lane's operands belong to a register of its sums.
class LaneProduct {
public:
  /// Nothing where lanes would need what others hold.
  static std::optional<LaneProduct> get(MmaOp op);

  int64_t getDepth() const { return depth; }
  int64_t getNumSums() const { return static_cast<int64_t>(sums.size()); }
  /// Registers in an order in which neighbours share an operand.
  ArrayRef<int64_t> getOrder() const { return order; }
  int64_t getLhs(int64_t sum, int64_t k) const {
    return lhs.at({sums[sum][0], k});
  }
  int64_t getRhs(int64_t sum, int64_t k) const {
    return rhs.at({k, sums[sum][1]});
  }

private:
  using Registers = std::map<std::pair<int64_t, int64_t>, int64_t>;

  static bool isAlike(LanesAttr operand, LanesAttr result, unsigned dim);
  void orderSums();

  int64_t depth = 0;
  Registers lhs, rhs;
  SmallVector<SmallVector<int64_t>> sums;
  SmallVector<int64_t> order;
};
} // namespace

/// Whether lane and warp move an operand along the result's dimension `dim`
/// as they move the result, and not along k.
bool LaneProduct::isAlike(LanesAttr operand, LanesAttr result, unsigned dim) {
  auto isSame = [&](ArrayRef<DenseI64ArrayAttr> mine,
                    ArrayRef<DenseI64ArrayAttr> other) {
    if (mine.size() != other.size())
      return false;
    for (auto [x, y] : llvm::zip(mine, other))
      if (x[dim] != y[dim] || x[1 - dim] != 0)
        return false;
    return true;
  };
  return operand.hasSeparateLanes() &&
         isSame(operand.getLane(), result.getLane()) &&
         isSame(operand.getWarp(), result.getWarp());
}

std::optional<LaneProduct> LaneProduct::get(MmaOp op) {
  auto lhsType = cast<RankedTensorType>(op.getLhs().getType());
  auto rhsType = cast<RankedTensorType>(op.getRhs().getType());
  LanesAttr left = getLanes(lhsType), right = getLanes(rhsType);
  LanesAttr result = getLanes(op.getAcc().getType());
  if (!result.hasSeparateLanes() || !isAlike(left, result, 0) ||
      !isAlike(right, result, 1))
    return std::nullopt;
  LaneProduct product;
  product.depth = lhsType.getDimSize(1);
  auto collect = [](LanesAttr lanes, Registers &registers) {
    for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg) {
      SmallVector<int64_t> at = lanes.getCoordinate(reg, 0);
      registers.try_emplace({at[0], at[1]}, reg);
    }
  };
  collect(left, product.lhs);
  collect(right, product.rhs);
  for (int64_t reg = 0; reg < result.getNumRegisters(); ++reg) {
    SmallVector<int64_t> at = result.getCoordinate(reg, 0);
    for (int64_t k = 0; k < product.depth; ++k)
      if (!product.lhs.count({at[0], k}) || !product.rhs.count({k, at[1]}))
        return std::nullopt;
    product.sums.push_back(at);
  }
  product.orderSums();
  return product;
}

/// Row by row, every other one backwards: the next multiply-add has an operand
/// of the one before.
void LaneProduct::orderSums() {
  std::map<int64_t, std::map<int64_t, int64_t>> rows;
  for (auto [reg, at] : llvm::enumerate(sums))
    rows[at[0]][at[1]] = static_cast<int64_t>(reg);
  bool isBackwards = false;
  for (auto &[row, columns] : rows) {
    SmallVector<int64_t> registers;
    for (auto &[column, reg] : columns)
      registers.push_back(reg);
    if (isBackwards)
      std::reverse(registers.begin(), registers.end());
    llvm::append_range(order, registers);
    isBackwards = !isBackwards;
  }
}

namespace {
/// The elements of an operand, each run of staged memory read where the first
/// of its elements is asked for. The reads that stood before become dead.
class LateReader {
public:
  LateReader(Emitter &b, Value vector) : b(b), vector(vector) {
    // What has been read before the team met cannot be read now.
    Operation *op = b.op;
    while (op && !b.target.isMeeting(op) && !isa<WaitOp>(op))
      op = op->getPrevNode();
    met = op;
  }

  Value get(int64_t reg) {
    Value element = b.createOrFold<vector::ExtractOp>(vector, reg);
    auto extract = element.getDefiningOp<vector::ExtractOp>();
    Operation *load = extract ? extract.getSource().getDefiningOp() : nullptr;
    if (!load || extract.getNumIndices() != 1 || !isHere(load))
      return element;
    Value &run = runs[load];
    if (!run)
      run = b.clone(*load)->getResult(0);
    return vector::ExtractOp::create(b, run, extract.getStaticPosition()[0]);
  }

private:
  bool isHere(Operation *load) const {
    return b.target.isStagedLoad(load) &&
           load->getBlock() == b.op->getBlock() &&
           (!met || met->isBeforeInBlock(load));
  }

  Emitter &b;
  Value vector;
  /// Where the team has met last; null: not in this block.
  Operation *met;
  DenseMap<Operation *, Value> runs;
};

struct LowerLaneMma : KernelPattern<MmaOp> {
  LowerLaneMma(const TypeConverter &converter, MLIRContext *mlirContext,
               KernelContext &context)
      : KernelPattern(converter, mlirContext, context, /*benefit=*/2) {}

  static bool isOperand(Type element, Type accumulator) {
    if (accumulator.isF32() || accumulator.isF64())
      return element == accumulator;
    return accumulator.isInteger(32) &&
           (element.isInteger(8) || element.isInteger(32));
  }

  /// Four bytes as a word, when they lie in four registers in a row.
  static Value getWord(Emitter &b, Value vector, ArrayRef<int64_t> registers) {
    return vector::ShuffleOp::create(b, vector, vector, registers);
  }

  /// sum += lhs · rhs at `k`.
  static Value multiply(Emitter &b, Value lhs, Value rhs, Value sum) {
    Type type = sum.getType();
    if (isa<FloatType>(type))
      return b.target.multiplyAdd(b, lhs, rhs, sum);
    if (lhs.getType() != type) {
      lhs = arith::ExtSIOp::create(b, type, lhs);
      rhs = arith::ExtSIOp::create(b, type, rhs);
    }
    return arith::AddIOp::create(b, sum, arith::MulIOp::create(b, lhs, rhs));
  }

  LogicalResult
  matchAndRewrite(MmaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isRegisterTile(op.getLhs().getType()) ||
        !isRegisterTile(op.getRhs().getType()) || op.getDepth() ||
        !op.getLimits().empty() || !op.getRows().empty() ||
        op.getPrecision() != Precision::Full)
      return failure();
    auto acc = cast<RankedTensorType>(op.getAcc().getType());
    Type element = getElementTypeOrSelf(op.getLhs().getType());
    if (element != getElementTypeOrSelf(op.getRhs().getType()) ||
        !isOperand(element, acc.getElementType()))
      return failure();
    std::optional<LaneProduct> product = LaneProduct::get(op);
    if (!product)
      return failure();
    Emitter b(op, rewriter, context);
    SmallVector<Value> sums;
    for (int64_t reg = 0; reg < product->getNumSums(); ++reg)
      sums.push_back(vector::ExtractOp::create(b, adaptor.getAcc(), reg));
    constexpr int64_t kBytes = 4;
    bool byFours = b.target.hasByteDots() && element.isInteger(8) &&
                   product->getDepth() % kBytes == 0;
    int64_t step = byFours ? kBytes : 1;
    LateReader lhs(b, adaptor.getLhs()), rhs(b, adaptor.getRhs());
    for (int64_t k = 0; k < product->getDepth(); k += step)
      for (int64_t reg : product->getOrder()) {
        Value &sum = sums[reg];
        if (byFours) {
          SmallVector<int64_t> left, right;
          for (int64_t i = 0; i < kBytes; ++i) {
            left.push_back(product->getLhs(reg, k + i));
            right.push_back(product->getRhs(reg, k + i));
          }
          sum = b.target.dotBytes(b, getWord(b, adaptor.getLhs(), left),
                                  getWord(b, adaptor.getRhs(), right), sum);
          continue;
        }
        Value left = lhs.get(product->getLhs(reg, k));
        sum = multiply(b, left, rhs.get(product->getRhs(reg, k)), sum);
      }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, getLaneVector(acc),
                                                        sums);
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateLaneMultiplyPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    KernelContext &context) {
  patterns.add<LowerLaneMma>(converter, patterns.getContext(), context);
}
