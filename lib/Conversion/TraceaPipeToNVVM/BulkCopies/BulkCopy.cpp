//===- BulkCopy.cpp - Copies that the copy unit does in bulk --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BulkCopies/BulkCopy.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "tracea/Conversion/TraceaPipeToGPU/Windows.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

/// Elements of a box along one dimension, and dimensions of a tensor map.
constexpr int64_t kMostBoxElements = 256;
constexpr int64_t kMostRank = 5;
/// Pixels of a column in im2col mode.
constexpr int64_t kMostPixels = 1024;

bool TensorMapRecipe::operator==(const TensorMapRecipe &other) const {
  return argument == other.argument && elementType == other.elementType &&
         dims == other.dims && box == other.box && steps == other.steps &&
         lower == other.lower && upper == other.upper &&
         swizzle == other.swizzle && roundToTF32 == other.roundToTF32;
}

void TensorMapRecipe::simplifySteps() {
  if (llvm::all_of(steps, [](int64_t step) { return step == 1; }))
    steps.clear();
}

TensorMapAttr TensorMapRecipe::getAttr() const {
  return TensorMapAttr::get(elementType.getContext(), argument, elementType,
                            dims, box, steps, lower, upper, swizzle,
                            roundToTF32, isWritten);
}

namespace {
/// Finds the boxes of a tensor map that copy between a staged tile and an
/// argument.
class BulkCopyPlanner {
public:
  BulkCopyPlanner(Value memory, Value staged, AffineMap map,
                  TensorMapRecipe &recipe, std::string &reason)
      : memory(memory), staged(staged), map(map), recipe(recipe),
        reason(reason) {}

  /// Of a tile whose dimensions run along dimensions of the memory.
  std::optional<BulkCopy> run();
  /// Of a tile whose rows walk.
  std::optional<BulkCopy> runAlong(CopyOp op);

private:
  std::nullopt_t refuse(const Twine &why) {
    reason = why.str();
    return std::nullopt;
  }
  bool matchMemory();
  bool matchStaged();
  bool matchMap();
  bool matchLayout();
  bool addBox(BulkCopy &copy, BulkCopy::Box box);

  Value memory, staged;
  AffineMap map;
  TensorMapRecipe &recipe;
  std::string &reason;

  MemRefType type;
  StagedWindow window;
  ArrayRef<int64_t> shape;
  /// The memory's dimension of each dimension of the tile; -1 for extent one.
  SmallVector<int64_t> sourceOf;
  /// The steps along them.
  SmallVector<int64_t> stepOf;
};
} // namespace

static bool isUnitElement(Type type) {
  if (!type.isIntOrFloat())
    return false;
  unsigned bits = type.getIntOrFloatBitWidth();
  return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

bool BulkCopyPlanner::matchMemory() {
  type = cast<MemRefType>(memory.getType());
  auto argument = dyn_cast<BlockArgument>(memory);
  if (!argument || !isa<KernelOp>(argument.getOwner()->getParentOp()))
    return refuse("its memory is not an argument of the kernel"), false;
  if (!type.getLayout().isIdentity() || type.getRank() < 1 ||
      type.getRank() > kMostRank)
    return refuse("its memory is not row-major of 1 to 5 dimensions"), false;
  if (type.getElementType() !=
          cast<MemRefType>(staged.getType()).getElementType() ||
      !isUnitElement(type.getElementType()))
    return refuse("its elements are converted, or are no whole bytes"), false;
  // Distances in memory must be multiples of 16 bytes. Those that are known
  // only at run time are for the launcher to look at.
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  for (int64_t extent : llvm::reverse(type.getShape().drop_front())) {
    if (ShapedType::isDynamic(extent))
      break;
    if (llvm::MulOverflow(bytes, extent, bytes) || bytes % 16)
      return refuse("rows of its memory are no multiples of 16 bytes"), false;
  }
  recipe.argument = argument.getArgNumber();
  recipe.elementType = type.getElementType();
  return true;
}

bool BulkCopyPlanner::matchMap() {
  sourceOf.assign(shape.size(), -1);
  stepOf.assign(shape.size(), 1);
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    LinearForm form = getLinearForm(expr, map.getNumDims());
    bool taken = false;
    for (auto [t, factor] : llvm::enumerate(form.coefficients)) {
      if (factor == 0 || shape[t] == 1)
        continue;
      if (factor < 1 || factor > kMostStep || taken || sourceOf[t] >= 0)
        return refuse("its map is no choice of dimensions with steps of 1 to " +
                      Twine(kMostStep)),
               false;
      taken = true;
      sourceOf[t] = dim;
      stepOf[t] = factor;
    }
  }
  for (auto [t, extent] : llvm::enumerate(shape))
    if (extent != 1 && sourceOf[t] < 0)
      return refuse("its map repeats elements"), false;
  if (sourceOf.back() != type.getRank() - 1 || stepOf.back() != 1)
    return refuse("its contiguous dimensions are not the same"), false;
  return true;
}

bool BulkCopyPlanner::matchLayout() {
  const StagedLayout &layout = window.layout;
  if (!layout.mode)
    return refuse("its swizzle is none of the unit's"), false;
  recipe.swizzle = static_cast<int64_t>(*layout.mode);
  int64_t row = layout.getRowBytes();
  if (recipe.swizzle && row != recipe.swizzle)
    return refuse("rows of " + Twine(row) + " bytes are not the " +
                  Twine(recipe.swizzle) + " that its swizzle permutes"),
           false;
  if (row % 16)
    return refuse("its staged rows are no multiples of 16 bytes"), false;
  if (layout.panel > kMostBoxElements)
    return refuse("its staged rows are longer than 256 elements"), false;
  return true;
}

/// The largest part of `extent` that a box can have; it counts what lies
/// between its elements.
static int64_t getBoxExtent(int64_t extent, int64_t step) {
  for (int64_t part = std::min(extent, kMostBoxElements / step);; --part)
    if (extent % part == 0)
      return part;
}

bool BulkCopyPlanner::matchStaged() {
  FailureOr<StagedWindow> found = StagedWindow::get(
      staged, [&]() { return mlir::emitError(staged.getLoc()); });
  if (failed(found))
    return refuse("its staged memory is not known"), false;
  window = *found;
  shape = window.layout.type.getShape();
  // A whole buffer: dense boxes have no other rows between theirs.
  if (staged != window.buffer)
    return refuse("its staged memory is a part of a buffer"), false;
  return true;
}

bool BulkCopyPlanner::addBox(BulkCopy &copy, BulkCopy::Box box) {
  const StagedLayout &layout = window.layout;
  if (box.offset % layout.getAlignment())
    return refuse("a box begins at byte " + Twine(box.offset) +
                  ", which is no multiple of " + Twine(layout.getAlignment())),
           false;
  copy.boxes.push_back(std::move(box));
  return true;
}

std::optional<BulkCopy> BulkCopyPlanner::run() {
  if (!matchMemory() || !matchStaged() || !matchMap() || !matchLayout())
    return std::nullopt;

  const StagedLayout &layout = window.layout;
  int64_t rank = shape.size();
  // Contiguous first: columns of a panel, then the other dimensions.
  SmallVector<int64_t> tileDims = {rank - 1};
  recipe.dims = {sourceOf.back()};
  recipe.box = {layout.panel};
  recipe.steps = {1};
  for (int64_t t = rank - 2; t >= 0; --t) {
    if (sourceOf[t] < 0)
      continue;
    tileDims.push_back(t);
    recipe.dims.push_back(sourceOf[t]);
    recipe.box.push_back(getBoxExtent(shape[t], stepOf[t]));
    recipe.steps.push_back(stepOf[t]);
  }
  // A box that is cut must be cut in its outermost dimension: the parts are
  // dense then.
  for (size_t i = 1; i + 1 < tileDims.size(); ++i)
    if (recipe.box[i] != shape[tileDims[i]])
      return refuse("an inner extent is larger than a box");
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim)
    if (!llvm::is_contained(recipe.dims, dim)) {
      recipe.dims.push_back(dim);
      recipe.box.push_back(1);
      recipe.steps.push_back(1);
    }
  recipe.simplifySteps();

  BulkCopy copy;
  int64_t boxBytes = recipe.getAttr().getBoxBytes();
  int64_t panels = shape.back() / layout.panel;
  int64_t parts = 1;
  if (tileDims.size() > 1)
    parts = shape[tileDims.back()] / recipe.box[tileDims.size() - 1];
  for (int64_t panel = 0; panel < panels; ++panel)
    for (int64_t part = 0; part < parts; ++part) {
      BulkCopy::Box box;
      box.coordinates.assign(recipe.dims.size(), 0);
      box.coordinates[0] = panel * layout.panel;
      size_t outermost = tileDims.size() - 1;
      box.coordinates[outermost] +=
          part * recipe.box[outermost] * recipe.getStep(outermost);
      box.offset = panel * layout.panelBytes + part * boxBytes;
      if (!addBox(copy, std::move(box)))
        return std::nullopt;
    }
  if (copy.boxes.size() > 64)
    return refuse("it takes more than 64 boxes");
  copy.bytes = layout.getBytes();
  return copy;
}

/// A column of pixels for each panel of channels. What the unit does not find
/// it fills with zeros: a box has all its bytes at the end of the images, too.
std::optional<BulkCopy> BulkCopyPlanner::runAlong(CopyOp op) {
  if (!matchMemory() || !matchStaged() || !matchLayout() ||
      !matchWalk(op, recipe, reason))
    return std::nullopt;
  const StagedLayout &layout = window.layout;
  int64_t pixels = ShapedType::getNumElements(shape.drop_back());
  if (pixels > kMostPixels)
    return refuse("it walks through more than 1024 pixels");
  recipe.box = {layout.panel, pixels};
  BulkCopy copy;
  for (int64_t column = 0; column < shape.back(); column += layout.panel) {
    BulkCopy::Box box;
    box.coordinates.assign(recipe.dims.size(), 0);
    box.coordinates[0] = column;
    box.offset = column / layout.panel * layout.panelBytes;
    if (!addBox(copy, std::move(box)))
      return std::nullopt;
  }
  copy.bytes = layout.getBytes();
  return copy;
}

/// Whether numbers in memory decide what one of `values` is, or how far a loop
/// comes that counts it.
static bool dependOnMemory(ValueRange values) {
  llvm::SetVector<Value> origins(values.begin(), values.end());
  for (size_t i = 0; i < origins.size(); ++i) {
    Operation *op = origins[i].getDefiningOp();
    if (isa_and_nonnull<ReadOp>(op))
      return true;
    if (!op)
      op = scf::getForInductionVarOwner(origins[i]);
    if (op)
      origins.insert_range(op->getOperands());
  }
  return false;
}

std::optional<BulkCopy> mlir::tracea_pipe::planBulkCopy(CopyOp op,
                                                        TensorMapRecipe &recipe,
                                                        std::string &reason) {
  BulkCopyPlanner planner(op.getSource(), op.getDest(), op.getMap(), recipe,
                          reason);
  std::optional<BulkCopy> copy =
      op.getAlong().empty() ? planner.run() : planner.runAlong(op);
  if (copy)
    copy->dependsOnMemory =
        dependOnMemory(op.getIndices()) || dependOnMemory(op.getWalks());
  return copy;
}

namespace {
/// A sum of values with factors, and a constant. Numbers wrap like the
/// arithmetic that they stand for.
class LinearSum {
public:
  /// Adds factor · value.
  void add(Value value, uint64_t factor) {
    APInt known;
    if (matchPattern(value, m_ConstantInt(&known))) {
      constant += factor * static_cast<uint64_t>(known.getSExtValue());
      return;
    }
    Operation *op = numSteps < kMostSteps ? value.getDefiningOp() : nullptr;
    ++numSteps;
    if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op)) {
      add(op->getOperand(0), factor);
      return add(op->getOperand(1),
                 isa<arith::SubIOp>(op) ? 0 - factor : factor);
    }
    if (isa_and_nonnull<arith::MulIOp>(op))
      for (int side : {0, 1})
        if (matchPattern(op->getOperand(side), m_ConstantInt(&known)))
          return add(op->getOperand(1 - side),
                     factor * static_cast<uint64_t>(known.getSExtValue()));
    factors[value] += factor;
  }

  llvm::MapVector<Value, uint64_t> factors;
  uint64_t constant = 0;

private:
  /// A value that is used many times over is looked at as often.
  static constexpr unsigned kMostSteps = 256;
  unsigned numSteps = 0;
};
} // namespace

/// Whether `limit` is what is left of the memory's dimension at `index`: both
/// together are its extent.
static bool endsWithMemory(Value limit, Value memory, int64_t dim,
                           Value index) {
  LinearSum sum;
  sum.add(limit, 1);
  sum.add(index, 1);
  int64_t extent = cast<MemRefType>(memory.getType()).getDimSize(dim);
  bool isDynamic = ShapedType::isDynamic(extent);
  for (auto [value, factor] : sum.factors) {
    if (factor == 0)
      continue;
    auto dimOp = value.getDefiningOp<memref::DimOp>();
    if (!isDynamic || factor != 1 || !dimOp || dimOp.getSource() != memory ||
        getConstantIntValue(dimOp.getIndex()) != dim)
      return false;
    isDynamic = false;
    extent = 0;
  }
  return !isDynamic && sum.constant == static_cast<uint64_t>(extent);
}

std::optional<BulkCopy> mlir::tracea_pipe::planBulkCopy(CopyOutOp op,
                                                        TensorMapRecipe &recipe,
                                                        std::string &reason) {
  std::optional<BulkCopy> copy =
      BulkCopyPlanner(op.getDest(), op.getSource(), op.getMap(), recipe, reason)
          .run();
  if (!copy)
    return std::nullopt;
  if (!recipe.steps.empty()) {
    reason = "it leaves out elements of its memory";
    return std::nullopt;
  }
  recipe.isWritten = true;
  copy->dependsOnMemory = dependOnMemory(op.getIndices());
  // Along the contiguous dimension the unit writes 16 bytes at a time. Rows of
  // memory that has several end where the next one begins, at a multiple of
  // them; a single one may end anywhere.
  auto type = cast<MemRefType>(op.getDest().getType());
  int64_t extent = type.getShape().back();
  if (type.getRank() == 1 &&
      (ShapedType::isDynamic(extent) ||
       extent * type.getElementTypeBitWidth() % 128 != 0)) {
    reason = "its memory is not known to end at a multiple of 16 bytes";
    return std::nullopt;
  }
  // It clips at the ends of the memory, and nowhere else.
  ArrayRef<int64_t> shape =
      cast<MemRefType>(op.getSource().getType()).getShape();
  for (auto [t, limit] : llvm::enumerate(op.getLimits())) {
    std::optional<int64_t> known = getConstantIntValue(limit);
    if (known && *known >= shape[t])
      continue;
    bool ends = false;
    for (auto [dim, expr] : llvm::enumerate(op.getMap().getResults())) {
      LinearForm form = getLinearForm(expr, op.getMap().getNumDims());
      if (form.coefficients[t] == 1 && form.constant == 0)
        ends |= endsWithMemory(limit, op.getDest(), dim, op.getIndices()[dim]);
    }
    if (ends)
      continue;
    reason = "limit #" + std::to_string(t) +
             " is not known to be the end of the memory";
    // No tile would be whole.
    if (known)
      return std::nullopt;
    copy->wholeLimits.push_back(t);
  }
  return copy;
}
