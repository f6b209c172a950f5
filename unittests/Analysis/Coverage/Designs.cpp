//===- Designs.cpp - Index maps of kernels, right and wrong ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Designs.h"

using namespace tracea::coverage;
using tracea::algebra::Expected;
using tracea::algebra::LaneBases;
using tracea::algebra::LaneDim;
using tracea::algebra::LaneMap;

namespace tracea::coverage::designs {

Problem tiles(const std::vector<Tiles> &dimensions, bool aligned) {
  Problem p;
  Space &s = p.space;
  AffineStage stage;
  Writer writer{"store", {}, {}, {}, {}};
  for (size_t d = 0; d < dimensions.size(); ++d) {
    const Tiles &tile = dimensions[d];
    std::string number = std::to_string(d);
    Term size = s.symbol("N" + number);
    if (aligned)
      p.assumptions.push_back(equal(s.mod(size, tile.tile), 0));
    Expr grid = tile.grid == Tiles::Floor ? s.floorDiv(size, tile.tile)
                                          : s.ceilDiv(size, tile.tile);
    grid += tile.grid == Tiles::OneMore   ? 1
            : tile.grid == Tiles::OneLess ? -1
                                          : 0;
    Term t = s.id("t" + number, grid), i = s.id("i" + number, tile.tile);
    Expr x = tile.stride * t + i;
    if (tile.mask == Tiles::Less)
      writer.guard.push_back(less(x, size));
    if (tile.mask == Tiles::AtMost)
      writer.guard.push_back(atMost(x, size));
    writer.ids.insert(writer.ids.end(), {t, i});
    writer.map.push_back(x);
    stage.coordinates.push_back(s.coordinate("x" + number, size));
  }
  p.outputs = stage.coordinates;
  stage.writers = {writer};
  p.stages.push_back({"tiles", stage});
  return p;
}

Problem symbolicTiles(bool byLemma, bool masked, int64_t extra) {
  Problem p;
  Space &s = p.space;
  Term m = s.symbol("M"), tile = s.symbol("TM", Range::from(1));
  Term t = s.id("t", s.ceilDiv(m, tile) - extra), i = s.id("i", tile);
  Term row = s.coordinate("row", m);
  if (byLemma) {
    p.stages.push_back(
        {"tiles", EuclidStage{EuclidStage::Join, row, t, i, tile, masked}});
  } else {
    Expr x = s.product(tile, t) + Expr(i);
    Writer writer{"store", {t, i}, {}, {x}, {}};
    if (masked)
      writer.guard.push_back(less(x, m));
    p.stages.push_back({"tiles", AffineStage{{row}, {writer}}});
  }
  p.outputs = {row};
  return p;
}

Problem rasterByCases(int64_t group, RasterFault fault) {
  Problem p;
  Space &s = p.space;
  Term rows = s.symbol("nM"), columns = s.symbol("nN");
  Term g = s.id("g", Range::from(0)), r = s.id("r", Range::from(0));
  Term m = s.coordinate("m", rows), n = s.coordinate("n", columns);
  AffineStage stage{{m, n}, {}};
  Expr left = Expr(rows) - group * g;
  for (int64_t height = 1; height <= group; ++height) {
    if (fault == RasterFault::NoLastGroup && height < group)
      continue;
    int64_t divisor = fault == RasterFault::FullGroups ? group : height;
    Writer writer{"rows " + std::to_string(height), {g, r}, {}, {}, {}};
    writer.guard.push_back(height == group ? atLeast(left, group)
                                           : equal(left, height));
    writer.guard.push_back(less(r, height * Expr(columns)));
    Expr quotient = s.floorDiv(r, divisor), remainder = s.mod(r, divisor);
    if (fault == RasterFault::Swapped)
      std::swap(quotient, remainder);
    int64_t step = fault == RasterFault::Overlap ? group - 1 : group;
    writer.map = {step * g + remainder, quotient};
    stage.writers.push_back(writer);
  }
  p.stages.push_back({"raster", stage});
  p.outputs = {m, n};
  return p;
}

Problem raster(bool symbolicGroup, int64_t extra) {
  Problem p;
  Space &s = p.space;
  Term rows = s.symbol("nM"), columns = s.symbol("nN");
  Expr group = symbolicGroup ? Expr(s.symbol("G", Range::from(1))) : Expr(16);
  Term t = s.id("t", s.product(rows, columns) + extra);
  Term m = s.coordinate("m", rows), n = s.coordinate("n", columns);
  p.stages.push_back({"raster", RasterStage{t, m, n, group}});
  p.outputs = {m, n};
  return p;
}

Problem persistent(const Persistent &design) {
  Problem p;
  Space &s = p.space;
  Term total = s.symbol("T");
  Term cta = s.id("cta", design.ctas), k = s.id("k", Range::from(0));
  Term t = s.coordinate("t", total);
  Expr at = Expr(cta) + design.stride * k + design.start;
  Writer writer{"step", {cta, k}, {}, {at}, {}};
  writer.guard.push_back(design.atMost ? atMost(at, total) : less(at, total));
  p.stages.push_back({"loop", AffineStage{{t}, {writer}}});
  p.outputs = {t};
  return p;
}

Problem persistentSymbolic(bool byLemma) {
  Problem p;
  Space &s = p.space;
  Term total = s.symbol("T"), ctas = s.symbol("G", Range::from(1));
  Term cta = s.id("cta", ctas), k = s.id("k", Range::from(0));
  Term t = s.coordinate("t", total);
  if (byLemma) {
    p.stages.push_back(
        {"loop", EuclidStage{EuclidStage::Join, t, k, cta, ctas, true}});
  } else {
    Expr at = Expr(cta) + s.product(ctas, k);
    p.stages.push_back(
        {"loop",
         AffineStage{{t}, {{"step", {cta, k}, {less(at, total)}, {at}, {}}}}});
  }
  p.outputs = {t};
  return p;
}

Problem splitK(int64_t splits, SplitFault fault) {
  Problem p;
  Space &s = p.space;
  Term size = s.symbol("K");
  Expr blocks = fault == SplitFault::LostTail ? s.floorDiv(size, 64)
                                              : s.ceilDiv(size, 64);
  Expr chunk = fault == SplitFault::FloorChunk ? s.floorDiv(blocks, splits)
                                               : s.ceilDiv(blocks, splits);
  Term block = s.id("block", Range::from(0)), i = s.id("i", 64);
  Term k = s.coordinate("k", size);
  AffineStage stage{{k}, {}};
  for (int64_t split = 0; split < splits; ++split) {
    Expr at = 64 * block + i;
    Writer writer{"split " + std::to_string(split), {block, i}, {}, {at}, {}};
    writer.guard.push_back(atLeast(block, split * chunk));
    writer.guard.push_back(fault == SplitFault::InclusiveEnd
                               ? atMost(block, (split + 1) * chunk)
                               : less(block, (split + 1) * chunk));
    if (fault != SplitFault::NoClip) {
      writer.guard.push_back(less(block, blocks));
      writer.guard.push_back(less(at, size));
    }
    stage.writers.push_back(writer);
  }
  p.stages.push_back({"split", stage});
  p.outputs = {k};
  return p;
}

Problem splitKSymbolic() {
  Problem p;
  Space &s = p.space;
  Term blocks = s.symbol("nK"), splits = s.symbol("S", Range::from(1));
  // A chunk of nothing would divide by zero: launches skip an empty k.
  p.assumptions.push_back(atLeast(blocks, 1));
  Expr chunk = s.ceilDiv(blocks, splits);
  Term split = s.id("split", splits), i = s.id("i", chunk);
  Term k = s.coordinate("k", blocks);
  Expr at = s.product(chunk, split) + Expr(i);
  p.stages.push_back(
      {"split",
       AffineStage{{k},
                   {{"block", {split, i}, {less(at, blocks)}, {at}, {}}}}});
  p.outputs = {k};
  return p;
}

Problem pixels(int64_t height, int64_t width, PixelFault fault) {
  Problem p;
  Space &s = p.space;
  Term images = s.symbol("N");
  Expr total = height * width * Expr(images);
  Term t = s.id("t", s.ceilDiv(total, 128)), i = s.id("i", 128);
  Expr pixel = (fault == PixelFault::Stride ? 127 : 128) * t + i;
  int64_t divisor = fault == PixelFault::Divisor ? width - 1 : width;
  Expr line = s.floorDiv(pixel, divisor);
  Writer writer{"store", {t, i}, {}, {}, {}};
  if (fault != PixelFault::NoMask)
    writer.guard.push_back(less(pixel, total));
  writer.map = {s.floorDiv(line, height), s.mod(line, height),
                s.mod(pixel, divisor)};
  Term n = s.coordinate("n", images), y = s.coordinate("p", height),
       x = s.coordinate("q", width);
  p.stages.push_back({"pixels", AffineStage{{n, y, x}, {writer}}});
  p.outputs = {n, y, x};
  return p;
}

Problem pixelsSymbolic(bool swapped) {
  Problem p;
  Space &s = p.space;
  Term images = s.symbol("N"), height = s.symbol("P", Range::from(1)),
       width = s.symbol("Q", Range::from(1));
  Expr lines = s.product(images, height), total = s.product(lines, width);
  Term t = s.id("t", s.ceilDiv(total, 128)), i = s.id("i", 128);
  Term pixel = s.coordinate("pixel", total), line = s.coordinate("line", lines);
  Term n = s.coordinate("n", images), y = s.coordinate("p", height),
       x = s.coordinate("q", width);
  Expr at = 128 * t + i;
  p.stages.push_back(
      {"tiles",
       AffineStage{{pixel}, {{"tile", {t, i}, {less(at, total)}, {at}, {}}}}});
  p.stages.push_back({"columns", EuclidStage{EuclidStage::Split, pixel, line, x,
                                             swapped ? height : width, false}});
  p.stages.push_back(
      {"lines", EuclidStage{EuclidStage::Split, line, n, y, height, false}});
  p.outputs = {n, y, x};
  return p;
}

Problem convInput(const ConvInput &design) {
  Problem p;
  Space &s = p.space;
  Term height = s.symbol("H");
  Expr outputs = s.floorDiv(Expr(height) + 2 * design.pad -
                                design.dilation * (design.taps - 1) - 1,
                            design.stride) +
                 1 + design.extraOutputs;
  Term y = s.id("p", outputs), r = s.id("r", design.taps);
  Expr h = design.stride * y + (design.dilation + design.wrongDilation) * r -
           design.pad;
  p.accesses.push_back({"input",
                        {y, r},
                        {},
                        {h},
                        {Range(-design.pad, Expr(height) + design.pad)}});
  return p;
}

Problem convInputSymbolic(int64_t extra) {
  Problem p;
  Space &s = p.space;
  Term height = s.symbol("H"), pad = s.symbol("pad"),
       stride = s.symbol("stride", Range::from(1)),
       dilation = s.symbol("dilation", Range::from(1));
  Expr outputs = s.floorDiv(height + 2 * pad - 2 * dilation - 1, stride) + 1;
  Term y = s.id("p", outputs + extra), r = s.id("r", 3);
  Expr h = s.product(stride, y) + s.product(dilation, r) - pad;
  p.accesses.push_back({"input", {y, r}, {}, {h}, {Range(-pad, height + pad)}});
  return p;
}

Problem rowMajor(int64_t slack, int64_t missing) {
  Problem p;
  Space &s = p.space;
  Term rows = s.symbol("M"), columns = s.symbol("K"), leading = s.symbol("ld");
  p.assumptions.push_back(atLeast(leading, columns + slack));
  Term m = s.id("m", rows), k = s.id("k", columns);
  Expr offset = s.product(leading, m) + k;
  p.accesses.push_back(
      {"element", {m, k}, {}, {offset}, {s.product(leading, rows - missing)}});
  return p;
}

Problem halo(const Halo &design) {
  Problem p;
  Space &s = p.space;
  Term height = s.symbol("H");
  Expr outputs =
      s.floorDiv(Expr(height) + 2 * design.pad - design.taps, design.stride) +
      1;
  Term t = s.id("t", s.ceilDiv(outputs, design.tile));
  Term i = s.id("i", design.tile), r = s.id("r", design.taps),
       w = s.id("w", design.window);
  Expr y = design.tile * t + i;
  Expr first = design.tileStride * design.stride * t - design.pad;
  Expr h = design.stride * y + r - design.pad;
  p.accesses.push_back({"tap in the window",
                        {t, i, r},
                        {less(y, outputs), atLeast(h, 0), less(h, height)},
                        {h - first},
                        {design.window}});
  Expr loaded = first + w;
  Access load{"load of the window", {t, w}, {}, {loaded}, {height}};
  if (design.mask != Halo::None) {
    load.guard.push_back(atLeast(loaded, 0));
    load.guard.push_back(design.mask == Halo::Exact ? less(loaded, height)
                                                    : atMost(loaded, height));
  }
  p.accesses.push_back(load);
  return p;
}

Problem attention(AttentionFault fault) {
  using F = AttentionFault;
  Problem p;
  Space &s = p.space;
  Term queries = s.symbol("Sq"), keys = s.symbol("Sk"),
       window = s.symbol("W", Range::from(1));
  Term i = s.id("i", queries), j = s.id("j", keys);
  Expr offset = fault == F::OffsetSign ? queries - keys : keys - queries;
  Expr shift = keys - queries;
  auto visible = [&](Expr row, Expr column) {
    return std::vector<Constraint>{atMost(column, row + shift),
                                   less(row + shift - window, column)};
  };
  // The list of a query tile: keys from `low` to below `high`, in tiles of 64.
  auto listed = [&](Expr tile, Expr key) {
    Expr low = s.floorDiv(
        128 * tile + offset - window + (fault == F::WindowEnd ? 65 : 1), 64);
    Expr high = s.floorDiv(128 * tile + 127 + offset, 64);
    Expr last = s.floorDiv(queries - 1 + offset, 64);
    int64_t end = fault == F::NoLastTile ? 0 : fault == F::OneMore ? 2 : 1;
    return std::vector<Constraint>{
        atLeast(key, 0), less(key, s.ceilDiv(keys, 64)), atLeast(key, low),
        less(key, high + end), less(key, last + end)};
  };
  p.claims.push_back({"list contains the mask",
                      {i, j},
                      visible(i, j),
                      listed(s.floorDiv(i, 128), s.floorDiv(j, 64)),
                      {},
                      {}});
  Term t = s.id("t", s.ceilDiv(queries, 128)),
       kt = s.id("kt", s.ceilDiv(keys, 64));
  // Some element of each listed tile is visible: among the last row and column
  // of the tile, or where its diagonal leaves it.
  Term row = s.id("row", queries), column = s.id("column", keys);
  Expr lastRow = s.min(128 * t + 127, queries - 1),
       lastColumn = s.min(64 * kt + 63, keys - 1);
  std::vector<Constraint> inTile = visible(row, column);
  for (const Constraint &c :
       {atLeast(row, 128 * t), atMost(row, 128 * t + 127),
        atLeast(column, 64 * kt), atMost(column, 64 * kt + 63)})
    inTile.push_back(c);
  p.claims.push_back({"no listed tile is masked",
                      {t, kt},
                      listed(t, kt),
                      inTile,
                      {row, column},
                      {{lastRow, lastColumn},
                       {lastRow, lastRow + shift},
                       {lastColumn - shift + window - 1, lastColumn}}});
  Expr end = fault == F::FreeByEnd ? 128 * t + 127 : Expr(128 * t);
  std::vector<Constraint> free = {atMost(64 * kt + 63, end + shift),
                                  less(128 * t + 127 + shift - window, 64 * kt),
                                  equal(t, s.floorDiv(i, 128)),
                                  equal(kt, s.floorDiv(j, 64))};
  p.claims.push_back({"tiles without a mask are visible",
                      {i, j, t, kt},
                      free,
                      visible(i, j),
                      {},
                      {}});
  return p;
}

Problem vectorStores(VectorFault fault) {
  using F = VectorFault;
  Problem p;
  Space &s = p.space;
  Term size = s.symbol("N"), offset = s.symbol("a", 8);
  Term x = s.coordinate("x", size);
  Expr head = fault == F::Head ? Expr(offset) : s.mod(Expr(8) - offset, 8);
  Term l = s.id("l", head), v = s.id("v", Range::from(0)), e = s.id("e", 8),
       u = s.id("u", Range::from(0));
  AffineStage stage{{x}, {}};
  Writer scalar{"head", {l}, {less(l, size)}, {l}, {}};
  if (fault == F::HeadUnclipped)
    scalar.guard.clear();
  stage.writers.push_back(scalar);
  Expr start = head + 8 * v;
  stage.writers.push_back(
      {"body",
       {v, e},
       {fault == F::BodyEnd ? less(start, size) : atMost(start + 8, size)},
       {start + e},
       {}});
  Expr rest =
      head + 8 * s.floorDiv(size - head, 8) + (fault == F::TailStart ? 1 : 0);
  stage.writers.push_back(
      {"tail",
       {u},
       {atLeast(size, head), atLeast(u, rest), less(u, size)},
       {u},
       {}});
  p.stages.push_back({"row", stage});
  p.outputs = {x};
  p.claims.push_back({"stores of 8 are aligned",
                      {v},
                      {atMost(start + 8, size)},
                      {equal(s.mod(start + offset, 8), 0)},
                      {},
                      {}});
  return p;
}

/// Rows 64, columns 8 of a matrix unit's accumulator: 2 bits of registers, 5 of
/// lanes, 2 of warps.
static LaneMap fragment(FragmentFault fault) {
  using F = FragmentFault;
  LaneBases bases;
  bases.reg = {{0, 1}, {8, 0}};
  bases.lane = {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}};
  bases.warp = {{16, 0}, {32, 0}};
  if (fault == F::DoubledRegister)
    bases.reg[1] = {4, 0};
  if (fault == F::SwappedBasis)
    bases.warp[0] = {0, 1};
  if (fault == F::UnguardedReplicas || fault == F::GuardTooTight ||
      fault == F::GuardedReplicas)
    bases.warp.push_back({0, 0});
  Expected<LaneMap> map = LaneMap::get({64, 8}, bases, {1, 4});
  return *map;
}

Problem fragments(FragmentFault fault) {
  Problem p;
  Space &s = p.space;
  LaneMap map = fragment(fault);
  Term m = s.symbol("M"), n = s.symbol("N");
  Term reg = s.id("reg", map.numRegisters()), lane = s.id("lane", 32),
       warp = s.id("warp", map.numWarps());
  Term tm = s.id("tm", s.ceilDiv(m, 128)), tn = s.id("tn", s.ceilDiv(n, 32)),
       group = s.id("group", 2);
  Term rho = s.coordinate("rho", 64), gamma = s.coordinate("gamma", 32);
  Term row = s.coordinate("row", m), column = s.coordinate("column", n);
  LaneStage lanes{map, {reg, lane, warp, std::nullopt}, {rho, gamma}, {}};
  if (fault == FragmentFault::GuardTooTight)
    lanes.guard.push_back({LaneDim::Warp, 6, 0});
  if (fault == FragmentFault::GuardedReplicas)
    lanes.guard.push_back({LaneDim::Warp, 4, 0});
  p.stages.push_back({"fragment", lanes});
  Expr y = 128 * tm + 64 * group + rho, x = 32 * tn + gamma;
  p.stages.push_back({"tile", AffineStage{{row, column},
                                          {{"store",
                                            {tm, tn, group, rho, gamma},
                                            {less(y, m), less(x, n)},
                                            {y, x},
                                            {}}}}});
  p.outputs = {row, column};
  return p;
}

Problem fragmentByDivision(int64_t columns, int64_t rowStep,
                           int64_t columnStep) {
  Problem p;
  Space &s = p.space;
  Term lane = s.id("lane", 32), warp = s.id("warp", 4),
       reg = s.id("reg", columns / 2);
  Expr y =
      16 * warp + s.floorDiv(lane, 4) + rowStep * s.mod(s.floorDiv(reg, 2), 2);
  Expr x = 8 * s.floorDiv(reg, 4) + columnStep * s.mod(lane, 4) + s.mod(reg, 2);
  Term row = s.coordinate("row", 64), column = s.coordinate("column", columns);
  p.stages.push_back(
      {"fragment",
       AffineStage{{row, column},
                   {{"store", {lane, warp, reg}, {}, {y, x}, {}}}}});
  p.outputs = {row, column};
  return p;
}

Problem wholeGemm(int64_t rowTile, bool maskRows, bool clipLoop) {
  Problem p;
  p.name = "gemm";
  Space &s = p.space;
  LaneMap map = fragment(FragmentFault::None);
  Term m = s.symbol("M"), n = s.symbol("N"),
       ctas = s.symbol("ctas", Range::from(1));
  Expr rows = s.ceilDiv(m, 128), columns = s.ceilDiv(n, 32);
  Expr total = s.product(rows, columns);
  Term cta = s.id("cta", ctas), step = s.id("step", s.ceilDiv(total, ctas));
  Term reg = s.id("reg", map.numRegisters()), lane = s.id("lane", 32),
       warp = s.id("warp", 4), group = s.id("group", 2);
  Term t = s.coordinate("t", total), tm = s.coordinate("tm", rows),
       tn = s.coordinate("tn", columns), rho = s.coordinate("rho", 64),
       gamma = s.coordinate("gamma", 32), row = s.coordinate("row", m),
       column = s.coordinate("column", n);
  p.stages.push_back(
      {"loop", EuclidStage{EuclidStage::Join, t, step, cta, ctas, clipLoop}});
  p.stages.push_back({"raster", RasterStage{t, tm, tn, 16}});
  p.stages.push_back(
      {"fragment",
       LaneStage{map, {reg, lane, warp, std::nullopt}, {rho, gamma}, {}}});
  Expr y = rowTile * tm + 64 * group + rho, x = 32 * tn + gamma;
  Writer writer{"store", {tm, tn, group, rho, gamma}, {less(x, n)}, {y, x}, {}};
  if (maskRows)
    writer.guard.push_back(less(y, m));
  p.stages.push_back({"tile", AffineStage{{row, column}, {writer}}});
  p.outputs = {row, column};
  p.accesses.push_back(
      {"A", {tm, s.id("k", 64)}, {}, {128 * tm}, {s.ceilDiv(m, 128) * 128}});
  return p;
}

} // namespace tracea::coverage::designs
