//===- GPURows.cpp - Softmax and norms by the lanes of a GPU --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory decides the time. A row that the lanes of a workgroup can hold is read
// once; few lanes a row, each with several vectors in flight, and several
// workgroups on a multiprocessor hide what one of them waits for. Which lanes
// and vectors are best was measured on an H200.
//
//===----------------------------------------------------------------------===//
#include "Numbers.h"
#include "Variants.h"

#include <algorithm>

using namespace tracea::doctor;

namespace {

constexpr int64_t kVectorBytes = 16;
/// Elements that a lane holds of a row.
constexpr int64_t kMostElements = 64;
constexpr int64_t kMostLanes = 1024;
/// Lanes of a workgroup of a strip of rows, and of several short rows: those
/// have no barrier, and fewer workgroups are faster begun.
constexpr int64_t kUsualLanes = 128, kLanesOfShortRows = 256;
/// Lanes of a workgroup that has a part of a row.
constexpr int64_t kLanesOfPart = 256;
/// Lanes that a multiprocessor is to hold. Of short rows a lane has one vector
/// in flight, which takes all the lanes that there are.
constexpr int64_t kLanesOfMultiprocessor = 1024, kMostOfMultiprocessor = 2048;

class LaneRowsVariant final : public Variant {
public:
  std::string_view name() const override { return "row.lanes"; }
  std::string_view summary() const override {
    return "lets neighbouring lanes share a row, which they keep in registers "
           "where it fits";
  }
  bool serves(OpKind op) const override {
    return op == OpKind::Softmax || op == OpKind::LayerNorm ||
           op == OpKind::RMSNorm;
  }
  bool runsOn(TargetKind kind) const override {
    return kind == TargetKind::CUDA;
  }
  Reason whyNot(const Problem &problem,
                const TargetDescription &) const override {
    if (tracea::target::bitWidth(problem.operand) < 8)
      return "lanes do not read elements of less than a byte";
    return "";
  }
  Plan plan(const Problem &problem,
            const TargetDescription &target) const override;
  double cycles(const Problem &problem, const TargetDescription &target,
                const Plan &plan) const override;
  std::string reasoning(const Problem &problem, const TargetDescription &target,
                        const Plan &plan) const override;

protected:
  Reason checkPlan(const Problem &problem, const TargetDescription &target,
                   const Plan &plan) const override;

private:
  static bool isHeld(const Problem &problem, const Plan &plan) {
    return problem.innermost && problem.reducedDims == 1 &&
           problem.columns != kUnknownExtent && problem.columns <= plan.tile[1];
  }
};

} // namespace

/// The next power of two.
static int64_t roundUpToPower(int64_t value) {
  int64_t power = 1;
  while (power < value)
    power *= 2;
  return power;
}

Plan LaneRowsVariant::plan(const Problem &problem,
                           const TargetDescription &target) const {
  const int64_t subgroup = target.occupancy.subgroupSize;
  Plan plan = emptyPlan();
  auto &fields = plan.as<schedule::LaneRows>();
  fields.vector = std::max<int64_t>(kVectorBytes / bytesOf(problem.operand), 1);
  // Lanes lie along the last dimension; a kernel goes through the others.
  const int64_t run =
      problem.reducedDims > 1 ? problem.lastExtent : problem.columns;
  int64_t columns = extentOf(run);
  int64_t vectors = ceilDiv(columns, fields.vector);
  // A strip of rows goes by lanes, one row each element.
  constexpr int64_t kFewVectors = 32;
  const int64_t kVectorsOfLane = problem.rowInputs > 1 ? 2 : 4;
  int64_t rows = 1, held = 1, most = kLanesOfMultiprocessor;
  if (!problem.innermost) {
    fields.lanes = kUsualLanes;
  } else if (vectors <= kFewVectors) {
    fields.lanes = roundUpToPower(vectors);
    // A row without others has a warp to itself, as has one of several
    // dimensions.
    if (problem.rows == 1 || problem.reducedDims > 1)
      fields.lanes = std::max(fields.lanes, subgroup);
    rows = kLanesOfShortRows / fields.lanes;
    most = kMostOfMultiprocessor;
  } else {
    fields.lanes = roundUpToPower(ceilDiv(vectors, kVectorsOfLane));
    fields.lanes = std::clamp(fields.lanes, subgroup, kMostLanes);
    // Of longer rows a lane holds more, as far as registers go.
    held = ceilDiv(vectors, fields.lanes);
    if (run == kUnknownExtent || held * fields.vector > kMostElements)
      held = kVectorsOfLane;
    // What no workgroup holds is cut for several.
    int64_t part = kLanesOfPart * fields.vector * held;
    if (run != kUnknownExtent && !problem.hasFinish &&
        columns > fields.lanes * fields.vector * held &&
        problem.reducedDims == 1 &&
        ceilDiv(columns, part) <= schedule::LaneRows::kMostParts) {
      fields.lanes = kLanesOfPart;
      fields.split = ceilDiv(columns, part);
    }
    rows = std::max<int64_t>(2 * subgroup / fields.lanes, 1);
  }
  if (problem.reducedDims > 1)
    rows = 1;
  if (problem.rows != kUnknownExtent)
    while (rows > 1 && rows / 2 >= problem.rows &&
           fields.lanes * rows / 2 >= subgroup)
      rows /= 2;
  plan.tile = {rows, fields.lanes * fields.vector * held};
  int64_t lanes = fields.lanes * rows;
  fields.residents = std::clamp<int64_t>(most / lanes, 1, 8);
  // Scale and bias take registers beside the row.
  if (problem.kind != OpKind::Softmax)
    fields.residents = std::max<int64_t>(
        fields.residents * 3 / 4, std::min<int64_t>(fields.residents, 2));
  return plan;
}

Reason LaneRowsVariant::checkPlan(const Problem &problem,
                                  const TargetDescription &target,
                                  const Plan &plan) const {
  const auto &fields = plan.as<schedule::LaneRows>();
  if (plan.tile.size() != 2)
    return "the tile must have rows and columns, found " +
           text(static_cast<int64_t>(plan.tile.size())) + " extents";
  int64_t subgroup = target.occupancy.subgroupSize;
  int64_t lanes = fields.lanes;
  if (!isPowerOf2(plan.tile[0]) || plan.tile[0] > kMostLanes ||
      lanes * plan.tile[0] < subgroup || lanes * plan.tile[0] > kMostLanes)
    return "lanes of a row, times a power of two of rows, must be " +
           text(subgroup) + " to " + text(kMostLanes) + ", found " +
           text(lanes) + " and " + text(plan.tile[0]);
  if (plan.tile[0] > 1 && (!problem.innermost || problem.rows == 1))
    return "the tile must have one row where the operation has no others that "
           "lie along the last dimension, found " +
           text(plan.tile[0]);
  if (plan.tile[1] < 1 || plan.tile[1] % (lanes * fields.vector) ||
      plan.tile[1] / lanes > 4 * kMostElements)
    return "the tile must have a multiple of " + text(lanes * fields.vector) +
           " columns, at most " + text(4 * kMostElements) +
           " of a lane, found " + text(plan.tile[1]);
  if (fields.split > 1 &&
      (!problem.innermost || problem.reducedDims != 1 ||
       problem.columns == kUnknownExtent || plan.tile[0] != 1 ||
       ceilDiv(problem.columns, plan.tile[1]) != fields.split))
    return "rows are cut where each is the last dimension, of known length, "
           "into as many parts as tiles cover it, found " +
           text(fields.split) + " and tiles of " + text(plan.tile[1]) +
           " columns";
  if (fields.split > 1 && problem.hasFinish)
    return "rows whose results are reduced again are not cut";
  return "";
}

double LaneRowsVariant::cycles(const Problem &problem,
                               const TargetDescription &target,
                               const Plan &plan) const {
  constexpr double kUsualBytes = 16;
  double cores = std::max(target.cores, 1);
  // A row that is not held is read in each pass.
  bool isCut = plan.as<schedule::LaneRows>().split > 1;
  double passes = isHeld(problem, plan)                      ? 2
                  : problem.kind == OpKind::RMSNorm || isCut ? 3
                                                             : 4;
  if (problem.hasFinish && !isHeld(problem, plan))
    passes += 1;
  passes += problem.rowInputs - 1;
  double bytes = passes * elementsOf(problem) *
                 static_cast<double>(bytesOf(problem.operand));
  return bytes / (kUsualBytes * cores);
}

std::string LaneRowsVariant::reasoning(const Problem &problem,
                                       const TargetDescription &,
                                       const Plan &plan) const {
  const auto &fields = plan.as<schedule::LaneRows>();
  return text(fields.lanes) + " lanes share a row, " + text(plan.tile[0]) +
         (plan.tile[0] == 1 ? " row a workgroup, " : " rows a workgroup, ") +
         (isHeld(problem, plan) ? "held in registers"
          : fields.split > 1    ? "cut into " + text(fields.split) +
                                      " parts, which a second kernel combines"
                                : "read again in each pass") +
         (problem.hasFinish && !isHeld(problem, plan)
              ? ", not cut since its results are reduced again"
              : "");
}

void tracea::doctor::addGPURowVariants(Registry &registry) {
  registry.add(std::make_unique<LaneRowsVariant>());
}
