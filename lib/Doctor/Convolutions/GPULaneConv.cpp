//===- GPULaneConv.cpp - Depthwise convolutions by the lanes of a GPU -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small filter waits for memory, a large one for multiply-adds. Instructions
// are counted of a lane: what it copies of the patch and of the filters, and
// for each row of the filter what it reads, converts and multiplies. Large
// tiles see little of the image twice, small ones leave room for more
// workgroups, which hide what one of them waits for.
//
//===----------------------------------------------------------------------===//
#include "../Numbers.h"
#include "../Variants.h"
#include "PatchModel.h"

#include <algorithm>
#include <cmath>

using namespace tracea::doctor;

namespace {

constexpr int64_t kVectorBytes = 16;
constexpr int64_t kMostTaps = 256, kMostSums = 96, kMostWarps = 32;
/// Pixels of a row that a lane may hold.
constexpr int64_t kPixels[] = {8, 7, 6, 5, 4, 2};

class LaneConvVariant final : public Variant {
public:
  std::string_view name() const override { return "conv2d.lanes"; }
  std::string_view summary() const override {
    return "stages a patch of the image, over whose rows lanes slide, each "
           "with pixels of a row and neighbouring channels in registers";
  }
  bool serves(OpKind op) const override { return op == OpKind::Conv2D; }
  bool runsOn(TargetKind kind) const override {
    return kind == TargetKind::CUDA;
  }
  Reason whyNot(const Problem &problem,
                const TargetDescription &target) const override;
  Plan plan(const Problem &problem,
            const TargetDescription &target) const override;
  std::vector<Plan> plans(const Problem &problem,
                          const TargetDescription &target) const override;
  double cycles(const Problem &problem, const TargetDescription &target,
                const Plan &plan) const override;
  std::string reasoning(const Problem &problem, const TargetDescription &target,
                        const Plan &plan) const override;

protected:
  Reason checkPlan(const Problem &problem, const TargetDescription &target,
                   const Plan &plan) const override;
};

/// What a plan makes of a problem.
struct Tile {
  Tile(const Problem &problem, const Plan &plan);

  double bytes() const { return patchBytes + filterBytes; }
  /// Bytes of an element of the filters as they are staged: converted where all
  /// that lanes read of a tap lies in different banks.
  int64_t heldBytesOf(const Problem &problem) const;
  /// Columns of the patch that a lane reads for a row of the filter.
  int64_t columnsOf(const Problem &problem) const;
  double registersOf(const Problem &problem) const;

  int64_t rows, columns, channels, pixels, vector, lanes, threads;
  int64_t taps, patchRows, patchColumns;
  double patchBytes, filterBytes;
};

} // namespace

Tile::Tile(const Problem &problem, const Plan &plan)
    : rows(plan.tile[0]), columns(plan.tile[1]), channels(plan.tile[2]),
      pixels(plan.registers()[0]), vector(plan.registers()[1]),
      lanes(channels / vector), threads(lanes * rows),
      taps(problem.filterHeight * problem.filterWidth),
      patchRows(patchExtent(rows, problem.strideHeight, problem.filterHeight,
                            problem.dilationHeight)),
      patchColumns(patchExtent(columns, problem.strideWidth,
                               problem.filterWidth, problem.dilationWidth) |
                   1),
      patchBytes(static_cast<double>(patchRows) *
                 static_cast<double>(patchColumns) *
                 static_cast<double>(channels * bytesOf(problem.operand))),
      filterBytes(static_cast<double>(taps) *
                  static_cast<double>(channels * heldBytesOf(problem) +
                                      kVectorBytes)) {}

int64_t Tile::heldBytesOf(const Problem &problem) const {
  constexpr int64_t bankBytes = 128;
  int64_t sum = bytesOf(problem.accumulator);
  return channels * sum <= bankBytes ? sum : bytesOf(problem.operand);
}

int64_t Tile::columnsOf(const Problem &problem) const {
  int64_t found = 0;
  for (int64_t phase = 0;
       phase < std::min(problem.strideWidth, problem.filterWidth); ++phase)
    found += pixels;
  return found + (problem.filterWidth - 1) * problem.dilationWidth /
                     problem.strideWidth;
}

/// Sums, a tap of the filter, and of a row of the patch what is read and
/// addresses, or all of it converted, as the tiles of the kernel have it.
double Tile::registersOf(const Problem &problem) const {
  constexpr int64_t others = 40;
  int64_t words = std::max<int64_t>(bytesOf(problem.accumulator) / 4, 1);
  int64_t sums = (pixels + 1) * vector * words;
  int64_t read =
      columnsOf(problem) * ceilDiv(vector * bytesOf(problem.operand), 4);
  int64_t converted = columnsOf(problem) * vector * words;
  return static_cast<double>(sums + std::max(read + others, converted));
}

Reason LaneConvVariant::whyNot(const Problem &problem,
                               const TargetDescription &) const {
  if (problem.groupChannels != 1 || problem.groupFilters != 1)
    return "the convolution is not depthwise: each group must have one input "
           "and one output channel";
  if (!problem.channelsLast)
    return "lanes have neighbouring channels, which are not neighbours in "
           "memory";
  if (problem.filterHeight == kUnknownExtent ||
      problem.filterWidth == kUnknownExtent)
    return "expected a filter whose height and width are known";
  if (problem.filterHeight < 1 || problem.filterWidth < 1 ||
      problem.filterHeight > kMostTaps ||
      problem.filterHeight * problem.filterWidth > kMostTaps)
    return "expected a filter of 1 to " + text(kMostTaps) + " taps, found " +
           text(problem.filterHeight) + " x " + text(problem.filterWidth);
  for (int64_t value : {problem.strideHeight, problem.strideWidth,
                        problem.dilationHeight, problem.dilationWidth})
    if (value > kMostTaps)
      return "strides and dilations are at most " + text(kMostTaps) +
             ", found " + text(value);
  if (problem.reductions || !problem.auxiliaries.empty())
    return "it has no results beside the convolution's";
  if (tracea::target::bitWidth(problem.operand) < 8 ||
      problem.second != problem.operand)
    return "expected both operands of one type of whole bytes";
  return "";
}

Reason LaneConvVariant::checkPlan(const Problem &problem,
                                  const TargetDescription &target,
                                  const Plan &plan) const {
  if (plan.unit != UnitKind::Vector)
    return "the unit must be vector";
  if (plan.tile.size() != 3)
    return "the tile [height, width, channels] must have 3 extents, found " +
           text(static_cast<int64_t>(plan.tile.size()));
  int64_t subgroup = target.occupancy.subgroupSize;
  auto [pixels, vector] = plan.registers();
  if (!isPowerOf2(vector) || vector * bytesOf(problem.operand) > kVectorBytes)
    return "a lane has a power of two of channels, at most " +
           text(kVectorBytes) + " bytes, found " + text(vector);
  if (pixels * vector * bytesOf(problem.accumulator) > 4 * kMostSums)
    return "the sums of a lane take more than " + text(kMostSums) +
           " registers";
  if (plan.tile[2] % vector || !isPowerOf2(plan.tile[2] / vector) ||
      plan.tile[2] / vector > subgroup)
    return "channels of the tile must be those of a lane times a power of two "
           "up to " +
           text(subgroup) + ", found " + text(plan.tile[2]);
  if (!isPowerOf2(plan.tile[0]) || plan.tile[0] > kMostWarps * subgroup)
    return "the tile's height must be a power of two, found " +
           text(plan.tile[0]);
  if (plan.tile[1] < 1 || plan.tile[1] > 1024 || plan.tile[1] % pixels)
    return "the tile's width must be a multiple of the pixels of a lane, at "
           "most 1024, found " +
           text(plan.tile[1]);
  Tile tile(problem, plan);
  if (tile.threads < subgroup || tile.threads > kMostWarps * subgroup)
    return "the tile takes " + text(tile.threads) + " lanes, expected " +
           text(subgroup) + " to " + text(kMostWarps * subgroup);
  // Rows of lanes read from different banks where they are an odd number of
  // pixels apart, or have all banks to themselves.
  int64_t row = tile.channels * bytesOf(problem.operand);
  int64_t banks =
      static_cast<int64_t>(target.shared.banks) * target.shared.bankBytes;
  if (problem.strideHeight % 2 == 0 && row < banks)
    return "with an even stride the channels of the tile must take " +
           text(banks) + " bytes, found " + text(row);
  double most = std::min<double>(
      target.occupancy.maxRegistersPerThread,
      static_cast<double>(target.occupancy.registersPerMultiprocessor) /
          static_cast<double>(tile.threads *
                              plan.as<schedule::LaneConv>().residents));
  if (most > 0 && tile.registersOf(problem) > most)
    return "a lane takes " +
           text(static_cast<int64_t>(tile.registersOf(problem))) +
           " registers, of which there are " + text(static_cast<int64_t>(most));
  if (tile.bytes() > static_cast<double>(target.shared.perWorkgroup))
    return "it takes " + text(static_cast<int64_t>(tile.bytes())) +
           " bytes of shared memory, more than " +
           text(target.shared.perWorkgroup);
  return "";
}

std::vector<Plan>
LaneConvVariant::plans(const Problem &problem,
                       const TargetDescription &target) const {
  constexpr int64_t mostTile = 32, mostThreads = 256;
  std::vector<Plan> found;
  int64_t subgroup = target.occupancy.subgroupSize;
  int64_t most = std::max<int64_t>(kVectorBytes / bytesOf(problem.operand), 1);
  // The vectors of a lane and the lanes of a pixel.
  std::vector<std::pair<int64_t, int64_t>> ways;
  for (int64_t vector = most; 4 * vector >= most && vector > 0; vector /= 2)
    for (int64_t lanes : {16, 8, 4, 2, 1})
      ways.push_back({vector, lanes});
  for (auto [vector, lanes] : ways)
    for (int64_t threads = mostThreads; threads >= subgroup; threads /= 2)
      for (int64_t pixels : kPixels)
        for (int64_t width = pixels; width <= mostTile; width *= 2) {
          Plan plan = emptyPlan();
          auto &fields = plan.as<schedule::LaneConv>();
          plan.tile = {threads / lanes, width, lanes * vector};
          fields.registers = {pixels, vector};
          if (!check(problem, target, plan).empty())
            continue;
          Tile tile(problem, plan);
          fields.residents = patchResidents(target, tile.bytes(),
                                            static_cast<double>(threads) *
                                                tile.registersOf(problem));
          found.push_back(std::move(plan));
        }
  return found;
}

Plan LaneConvVariant::plan(const Problem &problem,
                           const TargetDescription &target) const {
  Plan none = emptyPlan();
  none.tile = {target.occupancy.subgroupSize, 2, 1};
  none.registers() = {2, 1};
  return cheapestPatch(*this, problem, target, none);
}

double LaneConvVariant::cycles(const Problem &problem,
                               const TargetDescription &target,
                               const Plan &plan) const {
  // Instructions of one lane: those around a piece that it copies, an element
  // of the filters, and a tile.
  constexpr double perPiece = 19, perTap = 27, perTile = 150;
  // Of a multiprocessor, in a cycle.
  constexpr double schedulers = 4, issued = 0.82, sharedBytes = 128;
  Tile tile(problem, plan);
  auto number = [](int64_t value) { return static_cast<double>(value); };
  double vector = number(tile.vector), pixels = number(tile.pixels),
         columns = number(tile.columnsOf(problem)),
         threads = number(tile.threads), taps = number(tile.taps),
         filterRows = number(problem.filterHeight);
  double rounds = number(tile.columns) / pixels;
  bool converts = bytesOf(problem.operand) < 4;
  double operandBytes = number(bytesOf(problem.operand)),
         sumBytes = number(bytesOf(problem.accumulator));
  double pieces = tile.patchBytes / kVectorBytes / threads;
  double instructions =
      perTile + perPiece * std::ceil(pieces) +
      perTap * std::ceil(taps * number(tile.channels) / threads) +
      rounds * (filterRows * columns * (1 + (converts ? vector : 0)) +
                taps * vector * (pixels + sumBytes / kVectorBytes) +
                pixels * vector);
  PatchWork work;
  work.warps = threads / std::max(target.occupancy.subgroupSize, 1);
  work.residents = number(plan.as<schedule::LaneConv>().residents);
  work.issue = instructions * work.warps / (schedulers * issued);
  work.shared = rounds * threads *
                (filterRows * columns * vector * operandBytes +
                 taps * vector * sumBytes / 2) /
                sharedBytes;
  work.patchBytes = tile.patchBytes;
  return patchCycles(problem, target, plan.tile, work);
}

std::string LaneConvVariant::reasoning(const Problem &problem,
                                       const TargetDescription &,
                                       const Plan &plan) const {
  Tile tile(problem, plan);
  return "a workgroup stages " + text(tile.patchRows) + " x " +
         text(tile.patchColumns) + " pixels of " + text(tile.channels) +
         " channels, of which a lane reads " + text(tile.columnsOf(problem)) +
         " for each row of the filter and " + text(tile.pixels) +
         " pixels of the result";
}

void tracea::doctor::addGPULaneConvVariants(Registry &registry) {
  registry.add(std::make_unique<LaneConvVariant>());
}
