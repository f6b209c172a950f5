//===- Launches.cpp - What a launch says of its operands ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/TraceaPipe/Utils/Launches.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Longer texts are not worth their time: sizes are then known by their values.
static constexpr unsigned kMostNodes = 512;

Location mlir::tracea_pipe::getLaunchLocation(Location loc, int64_t operation) {
  Builder builder(loc.getContext());
  return FusedLoc::get({loc}, builder.getI64IntegerAttr(operation),
                       loc.getContext());
}

std::optional<int64_t>
mlir::tracea_pipe::getLaunchedOperation(LaunchOp launch) {
  auto loc = dyn_cast<FusedLocWith<IntegerAttr>>(LocationAttr(launch.getLoc()));
  return loc ? std::optional(loc.getMetadata().getInt()) : std::nullopt;
}

Value mlir::tracea_pipe::getViewRoot(Value view) {
  while (auto viewLike = view.getDefiningOp<ViewLikeOpInterface>())
    view = viewLike.getViewSource();
  return view;
}

llvm::SmallBitVector mlir::tracea_pipe::getAliasedOperands(LaunchOp launch) {
  SmallVector<Value> roots;
  for (Value operand : launch->getOperands())
    roots.push_back(getViewRoot(operand));
  unsigned numInputs = launch.getInputs().size();
  llvm::SmallBitVector aliased(roots.size());
  for (unsigned i = 0; i < roots.size(); ++i)
    for (unsigned j = 0; j < roots.size(); ++j)
      if (i != j && roots[i] == roots[j] && (i >= numInputs || j >= numInputs))
        aliased.set(i);
  return aliased;
}

//===----------------------------------------------------------------------===//
// Origins of sizes
//===----------------------------------------------------------------------===//

SizeOrigin mlir::tracea_pipe::getSizeOrigin(Value size) {
  IntegerAttr constant;
  if (matchPattern(size, m_Constant(&constant)) &&
      constant.getValue().getSignificantBits() <= 64)
    return {Value(), constant.getValue().getSExtValue()};
  if (auto dim = size.getDefiningOp<memref::DimOp>())
    if (std::optional<int64_t> index = dim.getConstantIndex())
      return getSizeOrigin(dim.getSource(), *index);
  return {size, -1};
}

SizeOrigin mlir::tracea_pipe::getSizeOrigin(Value memory, int64_t dim) {
  auto type = dyn_cast<MemRefType>(memory.getType());
  if (!type || dim < 0 || dim >= type.getRank())
    return {memory, dim};
  if (!type.isDynamicDim(dim))
    return {Value(), type.getDimSize(dim)};
  if (auto alloc = memory.getDefiningOp<memref::AllocOp>())
    return getSizeOrigin(alloc.getDynamicSizes()[type.getDynamicDimIndex(dim)]);
  if (auto cast = memory.getDefiningOp<memref::CastOp>())
    return getSizeOrigin(cast.getSource(), dim);
  if (auto collapse = memory.getDefiningOp<memref::CollapseShapeOp>()) {
    ReassociationIndices group = collapse.getReassociationIndices()[dim];
    return group.size() == 1 ? getSizeOrigin(collapse.getSrc(), group.front())
                             : SizeOrigin(memory, dim);
  }
  OpFoldResult size;
  if (auto view = memory.getDefiningOp<memref::SubViewOp>();
      view && view.getSourceType().getRank() == type.getRank())
    size = view.getMixedSizes()[dim];
  else if (auto view = memory.getDefiningOp<memref::ReinterpretCastOp>())
    size = view.getMixedSizes()[dim];
  else if (auto view = memory.getDefiningOp<memref::ExpandShapeOp>())
    size = view.getMixedOutputShape()[dim];
  if (!size)
    return {memory, dim};
  if (std::optional<int64_t> number = getConstantIntValue(size))
    return {Value(), *number};
  return getSizeOrigin(cast<Value>(size));
}

/// The product of extents that a view joins to one, if the size is that.
static memref::CollapseShapeOp getJoined(SizeOrigin origin) {
  if (!origin.first || origin.second < 0)
    return nullptr;
  auto collapse = origin.first.getDefiningOp<memref::CollapseShapeOp>();
  if (!collapse ||
      collapse.getReassociationIndices()[origin.second].size() == 1)
    return nullptr;
  return collapse;
}

/// Whether the size is computed from others, which decide it.
static bool isArithmetic(SizeOrigin origin) {
  if (getJoined(origin))
    return true;
  if (!origin.first || origin.second != -1)
    return false;
  Operation *op = origin.first.getDefiningOp();
  return op && op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         isa<arith::ArithDialect, affine::AffineDialect>(op->getDialect()) &&
         llvm::all_of(op->getOperandTypes(),
                      [](Type type) { return type.isIntOrIndex(); });
}

/// Those others.
static SmallVector<SizeOrigin> getOperands(SizeOrigin origin) {
  SmallVector<SizeOrigin> operands;
  if (memref::CollapseShapeOp collapse = getJoined(origin)) {
    ReassociationIndices joined =
        collapse.getReassociationIndices()[origin.second];
    for (int64_t dim : joined)
      operands.push_back(getSizeOrigin(collapse.getSrc(), dim));
    return operands;
  }
  for (Value operand : origin.first.getDefiningOp()->getOperands())
    operands.push_back(getSizeOrigin(operand));
  return operands;
}

//===----------------------------------------------------------------------===//
// LaunchSizes
//===----------------------------------------------------------------------===//

namespace mlir::tracea_pipe {
/// Writes expressions; classes of sizes are numbered as they appear.
class LaunchSizes::Writer {
public:
  explicit Writer(LaunchSizes &sizes) : sizes(sizes) {}

  /// Fails where the text becomes too long.
  LogicalResult add(SizeOrigin origin) {
    if (++numNodes > kMostNodes)
      return failure();
    if (!origin.first) {
      os << origin.second << ' ';
      return success();
    }
    if (!isArithmetic(origin)) {
      unsigned number = sizes.getClass(origin);
      reached.insert(number);
      os << (sizes.classes[number].isExtent ? 'd' : 'v')
         << llvm::find(reached, number) - reached.begin() << ' ';
      return success();
    }
    Operation *op = origin.first.getDefiningOp();
    os << op->getName();
    if (!getJoined(origin))
      os << op->getAttrDictionary();
    os << '(';
    for (SizeOrigin operand : getOperands(origin))
      if (failed(add(operand)))
        return failure();
    os << ')';
    return success();
  }

  llvm::SmallSetVector<unsigned, 8> reached;
  std::string text;

private:
  LaunchSizes &sizes;
  llvm::raw_string_ostream os{text};
  unsigned numNodes = 0;
};
} // namespace mlir::tracea_pipe

LaunchSizes::LaunchSizes(Operation *function) {
  DenseSet<Value> known;
  function->walk([&](cf::AssertOp check) {
    if (known.insert(check.getArg()).second)
      checks.push_back(check);
  });
}

unsigned LaunchSizes::getClass(SizeOrigin size) {
  auto [number, isNew] = numbers.try_emplace(size, classes.size());
  if (isNew) {
    classes.push_back({size.second >= 0, {}});
    equal.grow(classes.size());
  }
  return equal.findLeader(number->second);
}

void LaunchSizes::learn(Value condition) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    learn(both.getLhs());
    learn(both.getRhs());
    return;
  }
  auto isPlain = [](SizeOrigin size) {
    return size.first && !isArithmetic(size);
  };
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (compare && compare.getPredicate() == arith::CmpIPredicate::eq) {
    SizeOrigin a = getSizeOrigin(compare.getLhs());
    SizeOrigin b = getSizeOrigin(compare.getRhs());
    if (isPlain(a) && isPlain(b)) {
      unsigned x = getClass(a), y = getClass(b);
      unsigned leader = equal.join(x, y);
      if (x == y)
        return;
      Class &joined = classes[leader], &other = classes[leader == x ? y : x];
      joined.isExtent |= other.isExtent;
      joined.checks.append(other.checks);
      other = Class();
      return;
    }
  }
  Writer writer(*this);
  if (succeeded(writer.add(getSizeOrigin(condition)))) {
    for (unsigned number : writer.reached)
      writer.text += " " + std::to_string(number);
    if (!learned.insert(std::move(writer.text)).second)
      return;
  }
  llvm::SmallSetVector<SizeOrigin, 8> reached;
  reached.insert(getSizeOrigin(condition));
  for (size_t i = 0; i < reached.size(); ++i) {
    SizeOrigin next = reached[i];
    if (isArithmetic(next))
      reached.insert_range(getOperands(next));
  }
  llvm::SmallSetVector<unsigned, 4> about;
  for (SizeOrigin size : reached)
    if (isPlain(size))
      about.insert(getClass(size));
  for (unsigned number : about)
    classes[number].checks.push_back(condition);
}

bool LaunchDescription::isCoveredBy(const LaunchDescription &other) const {
  return sizes == other.sizes &&
         std::includes(facts.begin(), facts.end(), other.facts.begin(),
                       other.facts.end());
}

LaunchDescription LaunchSizes::describe(LaunchOp launch) {
  SmallVector<SizeOrigin> sizes;
  for (Value operand : launch->getOperands()) {
    if (operand.getType().isIntOrIndex())
      sizes.push_back(getSizeOrigin(operand));
    if (auto type = dyn_cast<MemRefType>(operand.getType()))
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (type.isDynamicDim(dim))
          sizes.push_back(getSizeOrigin(operand, dim));
  }
  LaunchDescription result;
  if (sizes.empty())
    return result;
  bool isWhole = true;
  for (; numPassed < checks.size(); ++numPassed) {
    // Hosts are straight code; of others sizes are known by their values.
    isWhole = checks[numPassed]->getBlock() == launch->getBlock();
    if (!isWhole || launch->isBeforeInBlock(checks[numPassed]))
      break;
    learn(checks[numPassed].getArg());
  }
  Writer writer(*this);
  for (SizeOrigin size : sizes)
    isWhole = isWhole && succeeded(writer.add(size));
  result.sizes = std::exchange(writer.text, {});
  // Assertions about these sizes, about sizes in those, and so on.
  llvm::SmallSetVector<Value, 8> conditions;
  for (size_t i = 0; isWhole && i < writer.reached.size(); ++i) {
    // Writing finds new classes.
    SmallVector<Value, 1> about = classes[writer.reached[i]].checks;
    for (Value condition : about) {
      if (!conditions.insert(condition))
        continue;
      isWhole = succeeded(writer.add(getSizeOrigin(condition)));
      if (!isWhole)
        break;
      result.facts.insert(std::exchange(writer.text, {}));
    }
  }
  if (isWhole)
    return result;
  result = {};
  llvm::raw_string_ostream os(result.sizes);
  for (SizeOrigin size : sizes)
    os << size.first.getAsOpaquePointer() << ' ' << size.second << ' ';
  return result;
}
