//===- Im2col.cpp - Walks that the copy unit knows ------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In im2col mode the unit itself walks through pixels, row by row and image by
// image, from corner to corner of each image, and adds offsets to all of them.
// A copy along a walk does the same where one coordinate after the other of the
// walk is a dimension of the memory: strides are the map's steps, and of each
// index the least value is the corner, what it is above that the offset.
//
//===----------------------------------------------------------------------===//

#include "BulkCopies/BulkCopy.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Conversion/TraceaPipeToGPU/KnownRange.h"
#include "tracea/Dialect/TraceaPipe/IR/KernelInterface.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
class WalkMatcher {
public:
  WalkMatcher(CopyOp op, TensorMapRecipe &recipe, std::string &reason)
      : transfer(*getTileTransfer(op)), walk(getDelinearize(op.getWalks()[0])),
        type(cast<MemRefType>(op.getSource().getType())), recipe(recipe),
        reason(reason) {}

  bool run();

private:
  bool refuse(const Twine &why) {
    reason = why.str();
    return false;
  }
  bool matchTile();
  bool matchMap();
  bool matchCorners(unsigned coordinate);

  TileTransfer transfer;
  DelinearizeOp walk;
  MemRefType type;
  TensorMapRecipe &recipe;
  std::string &reason;

  /// The memory's dimension of each coordinate of the walk, with its step and
  /// the map's constant.
  struct Place {
    int64_t dim = -1, step = 0, constant = 0;
  };
  SmallVector<Place> places;
};
} // namespace

/// A column of pixels: of all dimensions of the tile only the one that walks
/// and the last one have elements.
bool WalkMatcher::matchTile() {
  int64_t last = transfer.shape.size() - 1;
  if (transfer.along.size() != 1 || transfer.along.front() == last)
    return refuse("its contiguous dimension walks, or several walk");
  for (auto [dim, extent] : llvm::enumerate(transfer.shape.drop_back()))
    if (extent != 1 && int64_t(dim) != transfer.along.front())
      return refuse("dimension " + Twine(dim) +
                    " of its tile lies beside the one that walks");
  return true;
}

bool WalkMatcher::matchMap() {
  places.resize(walk.getBasis().size() + 1);
  int64_t last = transfer.shape.size() - 1, contiguous = -1;
  SmallVector<MapInput> inputs = getMapInputs(transfer);
  for (auto [dim, expr] : llvm::enumerate(transfer.map.getResults())) {
    LinearForm form = getLinearForm(expr, transfer.map.getNumDims());
    bool taken = false;
    for (auto [input, factor] : llvm::zip_equal(inputs, form.coefficients)) {
      if (factor == 0 || (input.walk < 0 && transfer.shape[input.dim] == 1))
        continue;
      if (taken)
        return refuse("dimension " + Twine(dim) +
                      " of its memory depends on several coordinates");
      taken = true;
      if (input.walk < 0) {
        if (input.dim != last || factor != 1 || contiguous >= 0)
          return refuse("its channels are not the memory's");
        contiguous = dim;
        continue;
      }
      Place &place = places[input.coordinate];
      if (place.dim >= 0)
        return refuse("a coordinate of its walk is several dimensions");
      place = {int64_t(dim), factor, form.constant};
    }
    if (!taken)
      return refuse("its walk leaves out dimension " + Twine(dim) +
                    " of its memory");
  }
  if (contiguous != type.getRank() - 1)
    return refuse("its contiguous dimensions are not the same");
  for (auto [coordinate, place] : llvm::enumerate(places))
    if (place.dim < 0)
      return refuse("coordinate " + Twine(coordinate) +
                    " of its walk is no dimension of its memory");
  return true;
}

/// The pixels of a row are as many as the walk's basis says: the last one's
/// distance from the end of the memory is the upper corner.
bool WalkMatcher::matchCorners(unsigned coordinate) {
  const Place &place = places[coordinate];
  std::string name = "dimension " + std::to_string(place.dim);
  std::optional<int64_t> extent =
      getConstantIntValue(walk.getBasis()[coordinate - 1]);
  int64_t size = type.getDimSize(place.dim);
  if (!extent || ShapedType::isDynamic(size))
    return refuse("how far it walks along " + name +
                  " is known only when it runs");
  if (place.step < 1 || place.step > kMostStep)
    return refuse("it walks along " + name + " by steps of " +
                  Twine(place.step));
  std::optional<KnownRange> index = getKnownRange(transfer.indices[place.dim]);
  int64_t reach = getCornerReach(type.getRank() - 2);
  if (!index || index->high - index->low >= 2 * reach)
    return refuse("its index along " + name + " is not known to be one of " +
                  Twine(2 * reach) + " neighbours");
  int64_t lower = index->low + place.constant;
  int64_t upper = lower + (*extent - 1) * place.step - (size - 1);
  for (int64_t corner : {lower, upper})
    if (corner < -reach || corner >= reach)
      return refuse("it walks along " + name + " to a corner at " +
                    Twine(corner) + ", which is not from " + Twine(-reach) +
                    " to " + Twine(reach - 1));
  recipe.lower.push_back(lower);
  recipe.upper.push_back(upper);
  return true;
}

bool WalkMatcher::run() {
  if (!walk)
    return refuse("it goes along the numbers of a table");
  if (getCornerReach(type.getRank() - 2) == 0)
    return refuse("its memory has no 3 to 5 dimensions");
  if (!matchTile() || !matchMap())
    return false;
  // Images are counted from the first one, one by one.
  const Place &images = places.front();
  std::optional<KnownRange> first = getKnownRange(transfer.indices[images.dim]);
  if (images.step != 1 || !first || first->low + images.constant < 0)
    return refuse("its images do not follow each other from the first one on");
  recipe.dims = {type.getRank() - 1};
  recipe.steps = {1};
  for (unsigned coordinate = places.size() - 1; coordinate > 0; --coordinate) {
    if (!matchCorners(coordinate))
      return false;
    recipe.dims.push_back(places[coordinate].dim);
    recipe.steps.push_back(places[coordinate].step);
  }
  recipe.dims.push_back(images.dim);
  recipe.steps.push_back(1);
  recipe.simplifySteps();
  return true;
}

bool mlir::tracea_pipe::matchWalk(CopyOp op, TensorMapRecipe &recipe,
                                  std::string &reason) {
  return WalkMatcher(op, recipe, reason).run();
}
