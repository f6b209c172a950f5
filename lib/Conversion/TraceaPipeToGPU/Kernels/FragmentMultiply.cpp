//===- FragmentMultiply.cpp - Products of fragments in registers ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a multiply of register tiles to matrix instructions of a subgroup: which
// registers are the fragments of one is read off the lane maps, and compared
// with those of the instruction for each warp.
//
//===----------------------------------------------------------------------===//

#include "tracea/Conversion/TraceaPipeToGPU/Fragments.h"
#include "tracea/Conversion/TraceaPipeToGPU/Patterns.h"

#include <map>

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

MatrixInstruction::~MatrixInstruction() = default;

bool mlir::tracea_pipe::isFragment(LanesAttr lanes, int64_t first,
                                   const alg::LaneMap &fragment,
                                   ArrayRef<int64_t> origin) {
  if (lanes.getNumLanes() != fragment.numLanes() ||
      first + fragment.numRegisters() > lanes.getNumRegisters() ||
      (fragment.numWarps() > 1 && lanes.getNumWarps() != fragment.numWarps()))
    return false;
  auto same = [&](int64_t reg, int64_t lane, int64_t warp) {
    alg::TileCoord expected = *fragment.coordinate(reg, lane, warp);
    SmallVector<int64_t> found = lanes.getCoordinate(first + reg, lane, warp);
    for (auto [x, y, o] : llvm::zip(found, expected, origin))
      if (x != y + o)
        return false;
    return true;
  };
  // Both are linear: registers, lanes and warps can be compared one by one.
  for (int64_t reg = 0; reg < fragment.numRegisters(); ++reg)
    if (!same(reg, 0, 0))
      return false;
  for (int64_t lane = 1; lane < fragment.numLanes(); lane *= 2)
    if (!same(0, lane, 0))
      return false;
  for (int64_t warp = 1; warp < fragment.numWarps(); warp *= 2)
    if (!same(0, 0, warp))
      return false;
  return true;
}

namespace {
/// The registers of a tile as fragments of an instruction.
class FragmentList {
public:
  /// Fails if the tile's lanes hold something else than the instruction's.
  static std::optional<FragmentList> get(Value tile,
                                         const alg::LaneMap &fragment) {
    FragmentList list;
    list.lanes = getLanes(cast<RankedTensorType>(tile.getType()));
    int64_t size = fragment.numRegisters();
    if (list.lanes.getNumRegisters() % size)
      return std::nullopt;
    for (int64_t first = 0; first < list.lanes.getNumRegisters();
         first += size) {
      SmallVector<int64_t> origin = list.lanes.getCoordinate(first, 0);
      if (!isFragment(list.lanes, first, fragment, origin))
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
  std::map<std::pair<int64_t, int64_t>, int64_t> fragments;
};

/// One instruction: the first registers of its fragments.
struct Step {
  int64_t lhs, rhs, acc;
};

struct LowerFragmentMma : KernelPattern<MmaOp> {
  using KernelPattern::KernelPattern;

  /// The instructions of a product; nothing where the tiles do not fit them.
  static std::optional<SmallVector<Step>>
  plan(MmaOp op, const MatrixInstruction &instruction, int64_t warps) {
    auto lhs = FragmentList::get(op.getLhs(), instruction.lhs);
    auto rhs = FragmentList::get(op.getRhs(), instruction.rhs);
    auto acc = FragmentList::get(op.getAcc(), instruction.acc);
    if (!lhs || !rhs || !acc)
      return std::nullopt;
    for (const FragmentList &operand : {*lhs, *rhs, *acc})
      if (operand.lanes.getNumWarps() != warps)
        return std::nullopt;
    int64_t depth = cast<RankedTensorType>(op.getLhs().getType()).getDimSize(1);
    SmallVector<Step> steps;
    for (int64_t k = 0; k < depth; k += instruction.getDepth())
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

  LogicalResult
  matchAndRewrite(MmaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    auto acc = cast<RankedTensorType>(op.getAcc().getType());
    Type element = getElementTypeOrSelf(op.getLhs().getType());
    auto isTile = [](Value value) { return isRegisterTile(value.getType()); };
    if (!isTile(op.getLhs()) || !isTile(op.getRhs()) || op.getDepth() ||
        !op.getLimits().empty() || !op.getRows().empty())
      return op.emitOpError()
             << "expects whole operands in registers for this target";
    std::unique_ptr<MatrixInstruction> instruction =
        b.target.getMatrixInstruction(
            element, acc.getElementType(), op.getPrecision(),
            cast<RankedTensorType>(op.getLhs().getType()).getDimSize(1));
    if (!instruction)
      return op.emitOpError()
             << "has no instruction of warps: they multiply "
             << b.target.describeMatrixInstructions() << ", found " << element
             << " into " << acc.getElementType();
    std::optional<SmallVector<Step>> steps =
        plan(op, *instruction, b.team.numWarps);
    if (!steps)
      return op.emitOpError()
             << "has operands whose lane maps are not those of "
             << instruction->name << " for " << b.team.numWarps << " warps";

    auto rounds = instruction->prepare(b, adaptor.getLhs(), adaptor.getRhs());
    int64_t registers = getLanes(acc).getNumRegisters();
    int64_t size = instruction->acc.numRegisters();
    SmallVector<Value> sums;
    for (int64_t reg = 0; reg < registers; ++reg)
      sums.push_back(vector::ExtractOp::create(b, adaptor.getAcc(), reg));
    for (auto [lhs, rhs] : rounds)
      for (const Step &step : *steps) {
        auto sum = MutableArrayRef<Value>(sums).slice(step.acc, size);
        llvm::copy(instruction->multiply(b, lhs, step.lhs, rhs, step.rhs,
                                         ValueRange(sum)),
                   sum.begin());
      }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, getLaneVector(acc),
                                                        sums);
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateFragmentMultiplyPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    KernelContext &context) {
  patterns.add<LowerFragmentMma>(converter, patterns.getContext(), context);
}
