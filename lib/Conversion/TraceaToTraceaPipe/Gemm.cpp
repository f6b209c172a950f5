//===- Gemm.cpp - tracea.gemm as a packed, blocked kernel -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Variants "gemm.packed" and "gemm.dot": the loops of Goto and van de Geijn
// ("Anatomy of High-Performance Matrix Multiplication", 2008) in the tile
// vocabulary. One grid tile of TM x TN walks k in blocks of KC; a block of B is
// staged as panels of NR columns, MC rows of A at a time as panels of MR rows,
// and one register tile of MR x NR accumulates over a block. Between blocks the
// sums rest in the result when it has the accumulator's type, else in a scratch
// tile. Panels of a constant B are made once, and read where they lie.
// "gemm.dot" packs neighbours along k in words, for the target's dot products.
// Where the schedule splits the sum, a grid tile walks through its part of k.

#include "Contraction/ContractionResults.h"
#include "Contraction/Panels.h"
#include "Variants.h"
#include "tracea/Dialect/TraceaPipe/Utils/Requests.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

namespace {
/// The elements of k that a grid tile sums over: all, or those of its part.
struct SumRange {
  Value begin, size;
  /// How many there are at most, where that is known.
  std::optional<int64_t> most;
};

/// Opens the grid of the schedule's tiles, and of the parts of its sums.
ResultTile openTiles(KernelBuilder &kb, GemmContraction &contraction) {
  const auto &fields = contraction.getSchedule().getFields<schedule::CPUGemm>();
  ArrayRef<int64_t> tile = contraction.getSchedule().getTile();
  if (fields.split == 1)
    return contraction.beginTiles(kb, tile.take_front(2), fields.group);
  return contraction.beginTiles(kb, tile.take_front(3), fields.group,
                                fields.split);
}

/// What a tile of the grid sums over of `sizeK` elements.
SumRange getRange(KernelBuilder &kb, GemmContraction &contraction,
                  const ResultTile &grid, Value sizeK) {
  IndexMath &ix = kb.index();
  std::optional<int64_t> known = getStatic(sizeK);
  if (!grid.part)
    return {ix.constant(0), sizeK, known};
  int64_t split =
      contraction.getSchedule().getFields<schedule::CPUGemm>().split;
  int64_t depth = contraction.getSchedule().getTile()[2];
  Value begin = ix.mul(grid.first, depth);
  // Parts that are all alike have a known length; of the others the last may be
  // shorter, or empty.
  if (known && *known % (split * depth) == 0)
    return {begin, ix.constant(*known / split), *known / split};
  Value share = ix.mul(
      ix.ceilDiv(contraction.getLhs().getSteps(kb, depth), split), depth);
  return {begin, ix.max(ix.min(ix.sub(sizeK, begin), share), 0),
          getStatic(share)};
}

/// The sums of a grid tile between blocks of k. They rest in what the kernel
/// stores to where that has the accumulator's type, else in a scratch tile.
class RestingSums {
public:
  RestingSums(KernelBuilder &kb, GemmContraction &contraction,
              StoreVectors storeSums, const SumRange &range,
              ArrayRef<int64_t> tile, const WordOperands &words = {})
      : kb(kb), contraction(contraction), storeSums(storeSums), words(words),
        range(range), depth(tile[2]) {
    Type type = contraction.getAccumulatorType();
    if (hasOneBlock() || getElementTypeOrSelf(kb.getDest(0u).getType()) == type)
      return;
    MLIRContext *context = kb.builder().getContext();
    scratch = ScratchOp::create(
        kb.builder(),
        MemRefType::get(tile.take_front(2), type, AffineMap(),
                        StagedAttr::get(context, ArrayRef<int64_t>())));
  }

  /// Emits a loop over blocks of k, of which `body` gets the first element and
  /// the length. An empty sum still writes the epilogue of zero.
  void loop(function_ref<void(Value, Value)> body) {
    IndexMath &ix = kb.index();
    Value end = hasOneBlock() ? ix.constant(1) : ix.max(range.size, 1);
    kb.loop(end, depth, [&](Value k) {
      first = ix.equal(k, ix.constant(0));
      last =
          hasOneBlock() ? first : ix.lessOrEqual(range.size, ix.add(k, depth));
      body(ix.add(range.begin, k), ix.min(ix.sub(range.size, k), depth));
    });
  }

  /// The register tile from row `i` and column `j` of the grid tile, which
  /// `part` is in the result: adds to its sums those that `multiply` gives of
  /// the block.
  void add(const ResultTile &part, Value i, Value j, ValueRange limits,
           RankedTensorType type, function_ref<Value()> multiply) {
    ImplicitLocOpBuilder &b = kb.builder();
    TileAddress address = contraction.getAddress(kb, part);
    TileAddress rest = address;
    if (scratch)
      rest = {scratch, {i, j}, kb.matrixMap(0)};
    PrefetchOp::create(b, rest.memory, rest.indices, limits, rest.map,
                       type.getShape(), /*write=*/true);
    // A block's sum starts from zero and is added to the others at its end:
    // that keeps rounding errors to those of a block.
    Value block = multiply();
    words.addAndStore(
        kb, first, last, /*isApart=*/static_cast<bool>(scratch), block,
        [&](RankedTensorType tile) -> Value {
          return LoadOp::create(b, tile, rest.memory, rest.indices, limits,
                                Value(), rest.map);
        },
        [&](Value sum) { storeSums(sum, address, limits); },
        [&](Value sum) {
          StoreOp::create(b, sum, rest.memory, rest.indices, limits, rest.map);
        });
  }

private:
  bool hasOneBlock() const { return range.most && *range.most <= depth; }

  KernelBuilder &kb;
  GemmContraction &contraction;
  StoreVectors storeSums;
  WordOperands words;
  SumRange range;
  int64_t depth;
  Value scratch;
  /// Whether the block is the first one, and the last.
  Value first, last;
};
} // namespace

/// Whether the right operand is packed once for many runs: one matrix, whose
/// elements are multiplied as they are.
static bool packsRhsOnce(GemmOp op, const WordOperands &words) {
  return words.readsPanels() &&
         cast<RankedTensorType>(op.getRhs().getType()).getRank() == 2 &&
         hasConstantPanels(op.getRhs(), words.packed);
}

/// Asks the second level for a part of what a block of k reads of an operand:
/// `extent` of its rows or columns and `steps` along k, as far as the limits of
/// both go.
static void prefetchPart(KernelBuilder &kb, const MatrixOperand &operand,
                         const ResultTile &grid, Value outer, Value k,
                         SmallVector<Value> limits, int64_t extent,
                         int64_t steps) {
  // The tile's last dimension is that of the operand's rows.
  bool isAlongK = operand.getDimK() > operand.getOuterDim();
  SmallVector<AffineExpr> batch(operand.getBatchRank(), kb.zero());
  SmallVector<int64_t> shape = {extent, steps};
  if (!isAlongK) {
    std::swap(shape[0], shape[1]);
    std::swap(limits[0], limits[1]);
  }
  AffineMap map = kb.map(
      2, operand.at(batch, kb.dim(isAlongK ? 0 : 1), kb.dim(isAlongK ? 1 : 0)));
  PrefetchOp::create(kb.builder(), kb.getMemRef(operand.getTensor()),
                     operand.at(grid, outer, k), limits, map, shape,
                     /*write=*/false, /*level=*/2);
}

namespace {
/// What the register tiles of a block of k ask for of the next block of a right
/// operand that is about to be packed: each for an equal share, in the order
/// in which memory has it. Packing alone waits for memory, and products leave
/// it idle. Where shares exceed what one request may be their rest is not asked
/// for.
class NextBlock {
public:
  /// Of blocks of `columns` and `depth` elements along k, which `tiles`
  /// register tiles share.
  NextBlock(KernelBuilder &kb, const MatrixOperand &operand, int64_t columns,
            int64_t depth, int64_t tiles)
      : kb(kb), operand(operand),
        isAlongK(operand.getDimK() > operand.getOuterDim()) {
    int64_t rows = isAlongK ? columns : depth;
    int64_t length = isAlongK ? depth : columns;
    int64_t line = getLineElements(kb.getMemRef(operand.getTensor()));
    partsOfRow =
        std::clamp<int64_t>(tiles / rows, 1, llvm::divideCeil(length, line));
    int64_t part = llvm::alignTo(llvm::divideCeil(length, partsOfRow), line);
    part = std::min(part, PrefetchOp::kMostElements);
    int64_t count = llvm::divideCeil(rows * partsOfRow, tiles);
    count = std::min(count, PrefetchOp::kMostElements / part);
    extent = isAlongK ? count : part;
    steps = isAlongK ? part : count;
  }

  /// The share of a register tile, of the block from column `grid.n` and `k` on
  /// that has `sizeN` columns and `sizeK` elements along k.
  void prefetch(const ResultTile &grid, Value tile, Value k, Value sizeN,
                Value sizeK) const {
    IndexMath &ix = kb.index();
    Value row = ix.floorDiv(tile, partsOfRow);
    Value part = ix.sub(tile, ix.mul(row, partsOfRow));
    Value column = ix.mul(isAlongK ? row : part, extent);
    Value step = ix.mul(isAlongK ? part : row, steps);
    prefetchPart(kb, operand, grid, ix.add(grid.n, column), ix.add(k, step),
                 {ix.sub(sizeN, column), ix.sub(sizeK, step)}, extent, steps);
  }

private:
  KernelBuilder &kb;
  const MatrixOperand &operand;
  /// Whether rows in memory run along k.
  bool isAlongK;
  /// Shares of a row, and columns and elements along k of a share.
  int64_t partsOfRow, extent, steps;
};
} // namespace

/// The kernel of packed operands, or of words of dot products.
static void buildPacked(KernelBuilder &kb, GemmContraction &contraction,
                        const WordOperands &words, StoreVectors store) {
  ScheduleAttr schedule = contraction.getSchedule();
  const auto &fields = schedule.getFields<schedule::CPUGemm>();
  ArrayRef<int64_t> tile = schedule.getTile();
  int64_t tileM = tile[0], tileN = tile[1], tileK = tile[2], stageM = tile[3];
  int64_t regM = fields.registers[0], regN = fields.registers[1];
  Type accType = contraction.getAccumulatorType();
  const MatrixOperand &lhs = contraction.getLhs(), &rhs = contraction.getRhs();
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  Value sizeK = lhs.getSizeK(kb);
  ResultTile grid = openTiles(kb, contraction);
  SumRange range = getRange(kb, contraction, grid, sizeK);
  Value lengthM = ix.min(ix.sub(grid.sizeM, grid.m), tileM);
  Value lengthN = ix.min(ix.sub(grid.sizeN, grid.n), tileN);

  RankedTensorType accTile = words.getSumsType(kb, {regM, regN}, accType);
  // Operands of dot products stay as narrow as they are, in words; others are
  // converted as they are packed.
  Panels lhsPanels{kb, lhs, regM, words, /*isLhs=*/true};
  Panels rhsPanels{kb, rhs, regN, words, /*isLhs=*/false};
  RankedTensorType lhsType =
      lhsPanels.getType(llvm::divideCeil(stageM, regM), tileK, words.lhs);
  RankedTensorType rhsType =
      rhsPanels.getType(llvm::divideCeil(tileN, regN), tileK, words.rhs);

  // The register tiles of a panel of B ask for the next one together, each for
  // a share; more requests than one in so many steps cost more than they hide.
  constexpr int64_t stepsOfRequest = 8;
  int64_t nextSteps = 0;
  if (words.length == 1 && tileN > regN)
    nextSteps = std::min<int64_t>(
        {static_cast<int64_t>(
             llvm::divideCeil(tileK, llvm::divideCeil(stageM, regM))),
         tileK / stepsOfRequest, PrefetchOp::kMostElements / regN});

  int64_t tilesM = llvm::divideCeil(tileM, regM), tilesN = tileN / regN;
  std::optional<NextBlock> nextBlock;
  if (fields.prefetch && !rhs.hasPanels())
    nextBlock.emplace(kb, rhs, tileN, tileK, tilesM * tilesN);

  RestingSums sums(kb, contraction, store, range, {tileM, tileN, tileK}, words);
  sums.loop([&](Value k0, Value lengthK) {
    Value depth = words.getSteps(kb, lengthK);

    // Panels of B, and where those of the tile and of the block begin in them.
    Value rhsMemory, firstColumn = grid.n, firstK = k0;
    if (rhs.hasPanels()) {
      rhsMemory = kb.getMemRef(rhs.getTensor());
    } else {
      rhsMemory = rhsPanels.stage(rhsType, rhs.at(grid, grid.n, k0), lengthN,
                                  lengthK, fields.slots);
      firstColumn = firstK = ix.constant(0);
    }

    kb.loop(lengthM, stageM, [&](Value ms) {
      Value rows = ix.min(ix.sub(lengthM, ms), stageM);
      Value mBase = ix.add(grid.m, ms);
      Value lhsStaged;
      if (fields.staged)
        lhsStaged = lhsPanels.stage(lhsType, lhs.at(grid, mBase, k0), rows,
                                    lengthK, fields.slots);

      kb.loop(lengthN, regN, [&](Value j) {
        Value column = ix.add(firstColumn, j);
        Value rhsPanel = rhs.hasPanels()
                             ? rhsPanels.viewPacked(column, k0, tileK)
                             : rhsPanels.view(rhsMemory, column);
        kb.loop(rows, regM, [&](Value i) {
          Value lhsPanel =
              fields.staged
                  ? lhsPanels.view(lhsStaged, i)
                  : lhsPanels.viewRows(grid, ix.add(mBase, i), k0, tileK);
          ResultTile part = grid;
          part.m = ix.add(mBase, i);
          part.n = ix.add(grid.n, j);
          sums.add(
              part, ix.add(ms, i), j, {ix.sub(rows, i), ix.sub(lengthN, j)},
              accTile, [&]() -> Value {
                if (nextBlock) {
                  Value next = ix.add(k0, tileK);
                  Value tile = ix.add(ix.mul(ix.floorDiv(j, regN), tilesM),
                                      ix.floorDiv(ix.add(ms, i), regM));
                  nextBlock->prefetch(grid, tile, next, lengthN,
                                      ix.sub(sizeK, next));
                }
                if (nextSteps > 0)
                  rhsPanels.prefetchNext(
                      rhsMemory, column,
                      ix.add(firstK, ix.mul(ix.floorDiv(i, regM), nextSteps)),
                      nextSteps);
                return MmaOp::create(b, lhsPanel, rhsPanel,
                                     kb.splat(accTile, 0), depth, ValueRange());
              });
        });
      });
    });
  });
}

/// The kernel that reads operands where they lie.
static void buildDirect(KernelBuilder &kb, GemmContraction &contraction,
                        StoreVectors store) {
  ScheduleAttr schedule = contraction.getSchedule();
  const auto &fields = schedule.getFields<schedule::CPUGemm>();
  ArrayRef<int64_t> tile = schedule.getTile();
  int64_t tileM = tile[0], tileN = tile[1], tileK = tile[2];
  int64_t regM = fields.registers[0], regN = fields.registers[1];
  const MatrixOperand &lhs = contraction.getLhs(), &rhs = contraction.getRhs();
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  Value sizeK = lhs.getSizeK(kb);
  ResultTile grid = openTiles(kb, contraction);
  SumRange range = getRange(kb, contraction, grid, sizeK);
  Value lengthM = ix.min(ix.sub(grid.sizeM, grid.m), tileM);
  Value lengthN = ix.min(ix.sub(grid.sizeN, grid.n), tileN);

  RankedTensorType accTile =
      kb.getTileType({regM, regN}, contraction.getAccumulatorType());

  // The sums of a block of k where the operands lie.
  auto multiply = [&](const ResultTile &part, Value k, Value depth,
                      ValueRange limits) -> Value {
    Value left =
        kb.window(kb.getMemRef(lhs.getTensor()), lhs.at(part, part.m, k),
                  {regM, tileK}, lhs.getOuterDim(), lhs.getDimK());
    Value right =
        kb.window(kb.getMemRef(rhs.getTensor()), rhs.at(part, part.n, k),
                  {tileK, regN}, rhs.getDimK(), rhs.getOuterDim());
    return MmaOp::create(b, left, right, kb.splat(accTile, 0), depth, limits);
  };
  auto getPart = [&](Value i, Value j) {
    ResultTile part = grid;
    part.m = ix.add(grid.m, i);
    part.n = ix.add(grid.n, j);
    return part;
  };
  auto getLimits = [&](Value i, Value j) -> SmallVector<Value> {
    return {ix.sub(lengthM, i), ix.sub(lengthN, j)};
  };

  auto prefetch = [&](const MatrixOperand &operand, Value outer, Value k,
                      Value outerLimit, int64_t extent, int64_t steps) {
    prefetchPart(kb, operand, grid, outer, k, {outerLimit, ix.sub(sizeK, k)},
                 extent, steps);
  };
  int64_t tilesM = tileM / regM, tilesN = tileN / regN;
  int64_t nextRows = llvm::divideCeil(regM, tilesN);
  int64_t nextSteps = llvm::divideCeil(tileK, tilesM);

  // Several panels of columns: blocks of rows of B are read from end to end, as
  // memory likes it, while the sums rest where they are small.
  if (tileN > regN) {
    RestingSums sums(kb, contraction, store, range, {tileM, tileN, tileK});
    sums.loop([&](Value k, Value depth) {
      kb.loop(lengthN, regN, [&](Value j) {
        kb.loop(lengthM, regM, [&](Value i) {
          SmallVector<Value> limits = getLimits(i, j);
          ResultTile part = getPart(i, j);
          if (fields.prefetch) {
            // Each register tile asks for its share of the next block.
            Value next = ix.add(k, tileK);
            Value row = ix.mul(ix.floorDiv(j, regN), nextRows);
            Value step = ix.mul(ix.floorDiv(i, regM), nextSteps);
            prefetch(lhs, ix.add(part.m, row), next, ix.sub(limits[0], row),
                     nextRows, tileK);
            prefetch(rhs, part.n, ix.add(next, step), limits[1], regN,
                     nextSteps);
          }
          sums.add(part, i, j, limits, accTile,
                   [&] { return multiply(part, k, depth, limits); });
        });
      });
    });
    return;
  }

  // One panel: the sums stay in registers. Those of blocks of k are added up:
  // the error is that of one block.
  kb.loop(lengthM, regM, [&](Value i) {
    Value j = ix.constant(0);
    ResultTile part = getPart(i, j);
    SmallVector<Value> limits = getLimits(i, j);
    Value sum = kb.loop(
        range.size, tileK, kb.splat(accTile, 0), [&](Value k, Value others) {
          Value depth = ix.min(ix.sub(range.size, k), tileK);
          return kb.addTiles(
              others, multiply(part, ix.add(range.begin, k), depth, limits));
        });
    store(sum, contraction.getAddress(kb, part), limits);
  });
}

/// Checks that the grid's tiles are whole register tiles.
static LogicalResult verifyTile(GemmOp op) {
  ScheduleAttr schedule = op.getScheduleAttr();
  ArrayRef<int64_t> tile = schedule.getTile();
  ArrayRef<int64_t> registers =
      schedule.getFields<schedule::CPUGemm>().registers;
  bool isWhole = tile[0] % registers[0] == 0 && tile[1] % registers[1] == 0 &&
                 (tile.size() < 4 || tile[3] % registers[0] == 0);
  if (!isWhole)
    return op.emitOpError() << "expects a schedule whose tile is a multiple of "
                               "its register tile, found "
                            << schedule;
  return success();
}

/// Whether rows of A are whole tiles of a unit where they lie.
static bool canReadRows(GemmOp op, const WordOperands &words) {
  auto type = cast<RankedTensorType>(op.getLhs().getType());
  ScheduleAttr schedule = op.getScheduleAttr();
  int64_t rows = schedule.getFields<schedule::CPUGemm>().registers[0];
  ArrayRef<int64_t> matrix = type.getShape().take_back(2);
  return words.hasUnit() && words.lhs == type.getElementType() &&
         !op.getTransposeLhs() && !ShapedType::isDynamic(matrix[0]) &&
         !ShapedType::isDynamic(matrix[1]) && matrix[0] % rows == 0 &&
         schedule.getTile()[2] <= matrix[1] &&
         matrix[1] % schedule.getTile()[2] == 0;
}

LogicalResult mlir::tracea::lowerGemm(KernelRewriter &rewriter, GemmOp op) {
  if (failed(verifyTile(op)))
    return failure();
  ScheduleAttr schedule = op.getScheduleAttr();
  FailureOr<WordOperands> words = getWordOperands(
      op, "gemm.dot", op.getLhs(), op.getRhs(), op.getAccumulatorType(),
      schedule.getTile()[2], schedule.getFields<schedule::CPUGemm>().registers);
  if (failed(words))
    return failure();
  if (!schedule.getFields<schedule::CPUGemm>().staged &&
      !canReadRows(op, *words))
    return op.emitOpError()
           << "reads rows of lhs where they lie (staged = 0), which have to be "
              "whole tiles of a unit, and blocks of k, found "
           << op.getLhs().getType() << " and " << schedule;
  GemmContraction contraction(op);
  contraction.emitChecks(rewriter);
  if (packsRhsOnce(op, *words)) {
    PanelForm form = contraction.getRhs().getPanels(
        schedule.getFields<schedule::CPUGemm>().registers[1]);
    form.setWords(words->length, words->getWhole(form.getSteps()), words->rhs);
    contraction.getRhs().setPanels(packPanels(rewriter, op, op.getRhs(), form),
                                   form);
  }
  lowerForVectors(rewriter, contraction,
                  [&](KernelBuilder &kb, StoreVectors store) {
                    buildPacked(kb, contraction, *words, store);
                    words->markRoundings(kb);
                  });
  return success();
}

LogicalResult mlir::tracea::lowerGemmDirect(KernelRewriter &rewriter,
                                            GemmOp op) {
  if (failed(verifyTile(op)))
    return failure();
  if (op.getTransposeRhs())
    return op.emitOpError() << "expects rows of rhs to be contiguous along n "
                               "for the variant 'gemm.direct', found "
                               "transpose_rhs";
  GemmContraction contraction(op);
  contraction.emitChecks(rewriter);
  lowerForVectors(rewriter, contraction,
                  [&](KernelBuilder &kb, StoreVectors store) {
                    buildDirect(kb, contraction, store);
                  });
  return success();
}
