//===- RaggedRows.cpp - Rows of groups that memory decides ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lemma L5 (docs/Proofs/KernelCoverage.md): let numbers 0 = e(-1) <= e(0) <= …
// <= e(G) = rows cut the rows into groups, and let each group be cut into tiles
// of t rows, the last of which may have fewer; c tiles in all, numbered group
// by group. Then the pairs (tile, i) with 0 <= tile < c, 0 <= i < t and
// first(tile) + i < end(tile) and the rows correspond one to one by
// first(tile) + i. It holds for any numbers, and the operations make them
// ascend whatever the memory holds.
//
// So the rows of a result are replaced by those of tiles, tile * t + i: if each
// of [0, c * t) is written once, up to the condition on the end, then each row
// is.

#include "Indices/IndexContext.h"
#include "KernelCoverage.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

std::optional<KernelIndices::RaggedCount>
KernelIndices::getRaggedCount(Value ends, const Expr &rows, int64_t tile) {
  auto argument = dyn_cast<BlockArgument>(ends);
  if (!argument || argument.getOwner()->getParentOp() != kernel ||
      !rows.isValid() || !math.space.isSymbolic(rows))
    return std::nullopt;
  auto [it, inserted] = raggedCounts.try_emplace(
      {argument.getArgNumber(), rows, tile}, RaggedCount());
  if (!inserted)
    return it->second;
  auto memref = cast<MemRefType>(ends.getType());
  Expr groups = memref.isDynamicDim(0) ? getSize(argument.getArgNumber(), 0)
                                       : Expr(memref.getDimSize(0));
  // Each group but one may add a tile.
  Expr most = math.ceilDiv(rows, tile) + groups;
  Term all = math.space.symbol("tiles", cov::Range(most + 1));
  names[all] = "the number of tiles of all groups";
  Term full = math.space.symbol("tiles", cov::Range(Expr(all) + 1));
  names[full] = "the number of tiles of groups";
  // Not every number can be, for the sizes at hand.
  for (Term count : {all, full})
    abstractions[count] = "how many tiles the groups in memory have";
  return it->second = {all, full};
}

Expr IndexContext::raggedTile(RaggedTileOp op, unsigned result) {
  auto [it, inserted] = raggedTiles.try_emplace(op);
  if (!inserted)
    return it->second[result];
  std::array<Expr, 3> found;
  auto giveUp = [&](const Twine &why) {
    for (unsigned number : {0, 1, 2})
      found[number] = opaque(op->getResult(number), why);
    return (raggedTiles[op] = found)[result];
  };
  Expr index = get(op.getIndex()), rows = get(op.getRows());
  std::optional<KernelIndices::RaggedCount> count =
      kernel.getRaggedCount(op.getEnds(), rows, op.getTile());
  if (!count)
    return giveUp("a tile of unknown rows");
  if (!forOutput) {
    // Any tile of any group.
    SmallVector<Term> ids;
    Expr groups = getDim(op.getEnds(), 0);
    found[0] = makeId(op, "group", "the group of the tile", groups + 1, ids);
    found[1] = makeId(op, "first", "the first row of the tile", rows + 1, ids);
    // Not before the tile's first row.
    Expr left = makeId(op, "left", "the rows of the group from the tile on",
                       rows - found[1] + 1, ids);
    found[2] = found[1] + left;
    for (Term id : ids) {
      kernel.origins[id] = math.space.variables(index);
      kernel.abstractions[id] = "which rows the groups in memory have";
    }
    return (raggedTiles[op] = found)[result];
  }
  std::optional<Term> number = getSingleTerm(index);
  if (!number || ragged)
    return giveUp("more than one ragged tile");
  const cov::Range range = math.space.range(*number);
  if (range.lower != Expr(0) || !range.upper || *range.upper != count->all)
    return giveUp("tiles that are not all of the groups'");
  Term end = math.space.id("end", cov::Range::from(0));
  describe(end, op, "the end of the tile's group");
  found[0] = opaque(op.getGroup(), "the group of a tile");
  found[1] = math.product(op.getTile(), *number);
  found[2] = end;
  ragged = RaggedRows{op, *number, end, math.product(op.getTile(), count->all)};
  return (raggedTiles[op] = found)[result];
}

std::string
mlir::tracea::replaceRaggedRows(const cov::Space &space,
                                const IndexContext::RaggedRows &rows,
                                cov::Writer &writer, unsigned &dim) {
  auto mentions = [&](const Expr &expr, Term term) {
    return llvm::is_contained(space.variables(expr), term);
  };
  std::optional<unsigned> found;
  for (auto [number, index] : llvm::enumerate(writer.map)) {
    if (mentions(index, rows.end))
      return "an index names the end of a group";
    if (!mentions(index, rows.number))
      continue;
    if (found)
      return "two indices name a ragged tile";
    found = number;
  }
  if (!found)
    return "no index names the ragged tile";
  dim = *found;
  // The one condition that leaves out what belongs to the next group.
  cov::Constraint below{Expr(rows.end) - 1 - writer.map[dim], false};
  bool isBelow = false;
  llvm::erase_if(writer.guard, [&](const cov::Constraint &constraint) {
    bool isSame = constraint == below;
    isBelow |= isSame;
    return isSame;
  });
  if (!isBelow)
    return "it is not limited by the end of its group";
  for (const cov::Constraint &constraint : writer.guard)
    if (mentions(constraint.expr, rows.end) ||
        mentions(constraint.expr, rows.number))
      return "a condition names the rows of a ragged tile";
  llvm::erase(writer.ids, rows.end);
  return "";
}
