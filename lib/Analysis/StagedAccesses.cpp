//===- StagedAccesses.cpp - Register tiles that meet staged buffers -------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StagedAccesses.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Analysis/Banks.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"
#include "tracea/Dialect/TraceaPipe/Utils/LaneMaps.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;
namespace hardware = ::tracea::target;

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

alg::Expected<alg::BankModel>
mlir::tracea::getBankModel(const hardware::TargetDescription &target) {
  const hardware::SharedMemory &shared = target.shared;
  if (!llvm::isPowerOf2_32(shared.banks) ||
      !llvm::isPowerOf2_32(shared.bankBytes) ||
      !llvm::isPowerOf2_32(target.occupancy.subgroupSize))
    return alg::Error{"the banks of '" + target.name + "' are not known"};
  if (shared.phases.empty())
    return alg::Error{"the phases of shared-memory accesses of '" +
                      target.name + "' are not known"};
  alg::BankModel model;
  model.name = target.name;
  model.laneBits = llvm::Log2_32(target.occupancy.subgroupSize);
  model.bankBits = llvm::Log2_32(shared.banks);
  model.wordBits = llvm::Log2_32(shared.bankBytes);
  for (const hardware::AccessPhase &phase : shared.phases)
    model.phases.push_back(
        {static_cast<unsigned>(phase.bytes),
         phase.access == hardware::SharedAccessKind::Read
             ? alg::AccessKind::Read
             : alg::AccessKind::Write,
         alg::F2Vectors(phase.lanes.begin(), phase.lanes.end()),
         alg::F2Vectors(phase.pairs.begin(), phase.pairs.end()),
         alg::F2Vectors(phase.merged.begin(), phase.merged.end()),
         phase.mergingKnown});
  if (std::string problem = model.verify(); !problem.empty())
    return alg::Error{problem};
  return model;
}

FailureOr<TargetBanks> mlir::tracea::getTargetBanks(KernelOp kernel) {
  TargetBanks result;
  auto module = kernel->getParentOfType<ModuleOp>();
  auto target = module ? module->getAttrOfType<TargetAttr>("tracea.target")
                       : TargetAttr();
  if (!target)
    return kernel.emitOpError() << "needs the module attribute 'tracea.target' "
                                   "to know the banks of its staged memory";
  if (target.getKind() == TargetKind::CPU) {
    result.hasNoBanks = true;
    return result;
  }
  StringRef name = target.getName();
  std::optional<hardware::TargetDescription> description =
      hardware::lookup(std::string_view(name.data(), name.size()));
  if (!description) {
    result.reason = ("the target '" + name + "' is not known").str();
    return result;
  }
  alg::Expected<alg::BankModel> model = getBankModel(*description);
  if (model)
    result.model = *model;
  else
    result.reason = model.message();
  return result;
}

//===----------------------------------------------------------------------===//
// Index arithmetic
//===----------------------------------------------------------------------===//

namespace {
/// The integers offset + n * step; one integer when step is 0.
struct Progression {
  int64_t offset = 0, step = 0;

  static Progression any() { return {0, 1}; }
};
} // namespace

static Progression plus(Progression a, Progression b) {
  Progression sum;
  if (llvm::AddOverflow(a.offset, b.offset, sum.offset))
    return Progression::any();
  sum.step = std::gcd(a.step, b.step);
  return sum;
}

static Progression times(Progression a, Progression b) {
  Progression product;
  int64_t ab, ba, both;
  if (llvm::MulOverflow(a.offset, b.offset, product.offset) ||
      llvm::MulOverflow(a.offset, b.step, ab) ||
      llvm::MulOverflow(b.offset, a.step, ba) ||
      llvm::MulOverflow(a.step, b.step, both))
    return Progression::any();
  product.step = std::gcd(std::gcd(ab, ba), both);
  return product;
}

static Progression getProgression(Value value, unsigned depth);

static Progression getProgression(AffineExpr expr, ValueRange operands,
                                  unsigned numDims, unsigned depth) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return {constant.getValue(), 0};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return getProgression(operands[dim.getPosition()], depth);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return getProgression(operands[numDims + symbol.getPosition()], depth);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Progression lhs = getProgression(binary.getLHS(), operands, numDims, depth);
  Progression rhs = getProgression(binary.getRHS(), operands, numDims, depth);
  if (expr.getKind() == AffineExprKind::Add)
    return plus(lhs, rhs);
  if (expr.getKind() == AffineExprKind::Mul)
    return times(lhs, rhs);
  return Progression::any();
}

/// What is known of an index. Unknown values are any integer.
static Progression getProgression(Value value, unsigned depth) {
  IntegerAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant.getValue().getSignificantBits() <= 64
               ? Progression{constant.getValue().getSExtValue(), 0}
               : Progression::any();
  if (depth == 0)
    return Progression::any();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || loop.getInductionVar() != value)
      return Progression::any();
    // lower bound + n * step.
    Progression step = getProgression(loop.getStep(), depth - 1);
    return plus(getProgression(loop.getLowerBound(), depth - 1),
                times(step, Progression::any()));
  }
  auto operand = [&](unsigned i) {
    return getProgression(value.getDefiningOp()->getOperand(i), depth - 1);
  };
  if (value.getDefiningOp<arith::AddIOp>())
    return plus(operand(0), operand(1));
  if (value.getDefiningOp<arith::SubIOp>())
    return plus(operand(0), times(operand(1), {-1, 0}));
  if (value.getDefiningOp<arith::MulIOp>())
    return times(operand(0), operand(1));
  if (value.getDefiningOp<arith::ShLIOp>()) {
    Progression amount = operand(1);
    if (amount.step == 0 && amount.offset >= 0 && amount.offset < 62)
      return times(operand(0), {int64_t(1) << amount.offset, 0});
    return Progression::any();
  }
  if (value.getDefiningOp<arith::IndexCastOp>())
    return operand(0);
  if (auto apply = value.getDefiningOp<affine::AffineApplyOp>())
    return getProgression(apply.getAffineMap().getResult(0),
                          apply.getOperands(),
                          apply.getAffineMap().getNumDims(), depth - 1);
  return Progression::any();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

StagedAttr mlir::tracea::getStaged(Type type) {
  if (auto memref = dyn_cast<MemRefType>(type))
    return dyn_cast_or_null<StagedAttr>(memref.getMemorySpace());
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return dyn_cast_or_null<StagedAttr>(tensor.getEncoding());
  return {};
}

static int64_t getElementBytes(ShapedType type) {
  return llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

/// What panels do to the bits of a row-major byte offset: those of the panel's
/// number trade places with those of the row.
static FailureOr<alg::F2Matrix> getPanelOrder(StagedAttr staged,
                                              ShapedType type) {
  int64_t columns = type.getShape().back();
  int64_t rows = columns ? type.getNumElements() / columns : 0;
  if (!llvm::isPowerOf2_64(columns) || !llvm::isPowerOf2_64(rows))
    return failure();
  unsigned low = llvm::Log2_64(staged.getPanel()) +
                 llvm::Log2_64_Ceil(getElementBytes(type));
  unsigned panels = llvm::Log2_64(columns / staged.getPanel());
  unsigned height = llvm::Log2_64(rows);
  alg::F2Vectors images;
  for (unsigned bit = 0; bit < low; ++bit)
    images.push_back(uint64_t(1) << bit);
  for (unsigned bit = 0; bit < panels; ++bit)
    images.push_back(uint64_t(1) << (low + height + bit));
  for (unsigned bit = 0; bit < height; ++bit)
    images.push_back(uint64_t(1) << (low + bit));
  alg::Expected<alg::F2Matrix> order =
      alg::F2Matrix::get(low + panels + height, images);
  assert(order && "a permutation of bits");
  return *order;
}

FailureOr<alg::Swizzle> mlir::tracea::getSwizzle(StagedAttr staged,
                                                 ShapedType type) {
  ArrayRef<int64_t> terms = staged.getSwizzle();
  unsigned bits = 0;
  for (int64_t bit : terms)
    bits = std::max<unsigned>(bits, bit + 1);
  alg::F2Vectors columns = alg::F2Matrix::identity(bits).columns();
  for (size_t i = 0; i < terms.size(); i += 2)
    columns[terms[i + 1]] ^= uint64_t(1) << terms[i];
  alg::Expected<alg::F2Matrix> map = alg::F2Matrix::get(bits, columns);
  assert(map && "the verifier bounds the bits");
  alg::Expected<alg::Swizzle> swizzle = alg::Swizzle::get(*map);
  assert(swizzle && "bits are added to lower ones only");
  if (!staged.getPanel())
    return *swizzle;
  FailureOr<alg::F2Matrix> order = getPanelOrder(staged, type);
  if (failed(order))
    return failure();
  alg::Expected<alg::Swizzle> panels = alg::Swizzle::get(*order);
  assert(panels && "a permutation of bits");
  return swizzle->compose(*panels);
}

namespace {
/// The bytes of a buffer that a memref or staged tile stands for.
struct Window {
  Value buffer;
  SmallVector<int64_t> byteSteps;
  Progression offset;
};
} // namespace

/// How deep index arithmetic is followed.
static constexpr unsigned kMaxDepth = 16;

/// The window seen through a linear map at some indices. False on overflow.
static bool seeThrough(Window &window, AffineMap map, ValueRange indices) {
  SmallVector<int64_t> steps(map.getNumDims(), 0);
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    LinearForm form = getLinearForm(expr, map.getNumDims());
    int64_t bytes = window.byteSteps[dim];
    for (auto [step, coefficient] : llvm::zip(steps, form.coefficients)) {
      int64_t added;
      if (llvm::MulOverflow(bytes, coefficient, added) ||
          llvm::AddOverflow(step, added, step))
        return false;
    }
    Progression at =
        plus(getProgression(indices[dim], kMaxDepth), {form.constant, 0});
    window.offset = plus(window.offset, times(at, {bytes, 0}));
  }
  window.byteSteps = steps;
  return true;
}

static FailureOr<Window> getWindow(Value value, std::string &reason) {
  if (auto view = value.getDefiningOp<ViewOp>()) {
    FailureOr<Window> window = getWindow(view.getSource(), reason);
    if (succeeded(window) &&
        !seeThrough(*window, view.getMap(), view.getOffsets())) {
      reason = "a byte stride does not fit 64 bits";
      return failure();
    }
    return window;
  }
  // Another workgroup's memory has the same banks.
  if (auto peer = value.getDefiningOp<PeerOp>())
    return getWindow(peer.getMemory(), reason);
  auto type = cast<ShapedType>(value.getType());
  int64_t elementBytes = getElementBytes(type);
  Window window;
  window.buffer = value;
  if (auto memref = dyn_cast<MemRefType>(type)) {
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(memref.getStridesAndOffset(strides, offset))) {
      reason = "the buffer's layout is not strided";
      return failure();
    }
    for (auto [dim, stride] : llvm::enumerate(strides)) {
      int64_t bytes;
      if (ShapedType::isDynamic(stride)) {
        reason = "dimension " + std::to_string(dim) +
                 " of the buffer has a dynamic stride";
        return failure();
      }
      if (llvm::MulOverflow(stride, elementBytes, bytes)) {
        reason = "a byte stride does not fit 64 bits";
        return failure();
      }
      window.byteSteps.push_back(bytes);
    }
    window.offset = ShapedType::isDynamic(offset)
                        ? Progression{0, elementBytes}
                        : times({offset, 0}, {elementBytes, 0});
    return window;
  }
  // A staged tile is row-major; its verifier bounds the elements.
  int64_t bytes = elementBytes;
  for (int64_t extent : llvm::reverse(type.getShape())) {
    window.byteSteps.insert(window.byteSteps.begin(), bytes);
    bytes *= extent;
  }
  return window;
}

/// The lane map of a tile with each dimension that walks cut into its digits,
/// which are some of its bits where all extents are powers of two and the walk
/// begins at 0; else null.
static LanesAttr getWalkedLanes(LanesAttr lanes, const TileTransfer &transfer) {
  if (transfer.along.empty())
    return lanes;
  SmallVector<int64_t> linear = lanes.getTileShape();
  for (auto [extent, repeats] : llvm::zip_equal(linear, lanes.getOuter()))
    extent /= repeats;
  SmallVector<MapInput> inputs = getMapInputs(transfer);
  // What each input divides its dimension by, and its own extent.
  SmallVector<int64_t> divisors(inputs.size(), 1), extents, outer;
  for (auto [number, input] : llvm::enumerate(inputs)) {
    extents.push_back(linear[input.dim]);
    outer.push_back(lanes.getOuter()[input.dim]);
    if (input.walk < 0)
      continue;
    DelinearizeOp walk = getDelinearize(transfer.walks[input.walk]);
    if (!walk || getConstantIntValue(walk.getFirst()) != 0)
      return {};
    for (Value extent : walk.getBasis().drop_front(input.coordinate)) {
      std::optional<int64_t> known = getConstantIntValue(extent);
      if (!known || !llvm::isPowerOf2_64(*known) ||
          llvm::MulOverflow(divisors[number], *known, divisors[number]))
        return {};
    }
    bool isFirst = input.coordinate == 0;
    if (!isFirst) {
      std::optional<int64_t> own =
          getConstantIntValue(walk.getBasis()[input.coordinate - 1]);
      if (!own || !llvm::isPowerOf2_64(*own))
        return {};
      extents[number] = std::min(
          *own, std::max<int64_t>(linear[input.dim] / divisors[number], 1));
      outer[number] = 1;
      continue;
    }
    // Repeats count the first digit alone.
    if (outer[number] != 1 && linear[input.dim] % divisors[number])
      return {};
    extents[number] =
        std::max<int64_t>(linear[input.dim] / divisors[number], 1);
  }
  auto cut = [&](ArrayRef<DenseI64ArrayAttr> vectors) {
    return llvm::map_to_vector(vectors, [&](DenseI64ArrayAttr vector) {
      SmallVector<int64_t> digits;
      for (auto [input, divisor, extent] :
           llvm::zip_equal(inputs, divisors, extents))
        digits.push_back(vector[input.dim] / divisor % extent);
      return DenseI64ArrayAttr::get(lanes.getContext(), digits);
    });
  };
  return LanesAttr::get(lanes.getContext(), cut(lanes.getReg()),
                        cut(lanes.getLane()), cut(lanes.getWarp()), outer);
}

static StagedAccess getAccess(Operation *op, Value memory, Type tile,
                              AffineMap map, ValueRange indices, bool isMasked,
                              alg::AccessKind kind) {
  StagedAccess result;
  result.op = op;
  result.isMasked = isMasked;
  result.buffer = memory;
  while (auto view = result.buffer.getDefiningOp<ViewOp>())
    result.buffer = view.getSource();
  if (auto peer = result.buffer.getDefiningOp<PeerOp>())
    result.buffer = peer.getMemory();
  FailureOr<Window> window = getWindow(memory, result.reason);
  if (failed(window))
    return result;
  if (!seeThrough(*window, map, indices)) {
    result.reason = "a byte stride does not fit 64 bits";
    return result;
  }
  LanesAttr digits = getWalkedLanes(getLanes(tile), *getTileTransfer(op));
  if (!digits) {
    result.reason = "a dimension of the tile walks through coordinates that "
                    "are not bits of its own";
    return result;
  }
  alg::Expected<alg::LaneMap> lanes = getLaneMap(digits);
  if (!lanes) {
    result.reason = lanes.message();
    return result;
  }
  result.access = alg::TileAccess{
      *lanes,
      std::vector<int64_t>(window->byteSteps.begin(), window->byteSteps.end()),
      static_cast<unsigned>(getElementBytes(cast<ShapedType>(tile))),
      kind,
      window->offset.offset,
      window->offset.step};
  return result;
}

SmallVector<StagedAccess> mlir::tracea::collectStagedAccesses(KernelOp kernel) {
  SmallVector<StagedAccess> accesses;
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      if (getStaged(load.getSource().getType()))
        accesses.push_back(
            getAccess(op, load.getSource(), load.getResult().getType(),
                      load.getMap(), load.getIndices(),
                      !load.getLimits().empty(), alg::AccessKind::Read));
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      if (getStaged(store.getDest().getType()))
        accesses.push_back(
            getAccess(op, store.getDest(), store.getValue().getType(),
                      store.getMap(), store.getIndices(),
                      !store.getLimits().empty(), alg::AccessKind::Write));
    }
  });
  return accesses;
}
