//===- MachineTiles.cpp - Arithmetic on numbers and tiles -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Machine.h"

#include "../Numerics/Numerics.h"
#include "Campaign.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Runtime/ElementType.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tracea_pipe;
using namespace ::tracea::mutants;
namespace runtime = ::tracea::runtime;
namespace mut = ::tracea::mutants;

int64_t mut::toInteger(double value) {
  if (!(std::abs(value) < 0x1p62))
    stop("uses an integer that is not defined");
  return static_cast<int64_t>(value);
}

double mut::roundToType(Type type, double value) {
  if (type.isF64() || std::isnan(value) || std::isinf(value))
    return value;
  if (type.isF32())
    return static_cast<float>(value);
  if (type.isBF16())
    return runtime::bfloatToFloat(
        runtime::floatToBFloat(static_cast<float>(value)));
  if (type.isF16())
    return runtime::halfToFloat(
        runtime::floatToHalf(static_cast<float>(value)));
  if (isa<FloatType>(type)) {
    APFloat number(value);
    bool lost;
    number.convert(cast<FloatType>(type).getFloatSemantics(),
                   APFloat::rmNearestTiesToEven, &lost);
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    return number.convertToDouble();
  }
  if (type.isIndex() || type.getIntOrFloatBitWidth() >= 64)
    return value;
  unsigned width = type.getIntOrFloatBitWidth();
  int64_t integer = toInteger(value);
  return width == 1 ? double(integer & 1)
                    : double(llvm::SignExtend64(static_cast<uint64_t>(integer),
                                                width));
}

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

static double compare(arith::CmpIPredicate predicate, double a, double b) {
  // Unsigned ones: what is negative is beyond all that is not.
  auto key = [](double x) { return x < 0 ? x + 0x1p64 : x; };
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return a < b;
  case arith::CmpIPredicate::sle:
    return a <= b;
  case arith::CmpIPredicate::sgt:
    return a > b;
  case arith::CmpIPredicate::sge:
    return a >= b;
  case arith::CmpIPredicate::ult:
    return key(a) < key(b);
  case arith::CmpIPredicate::ule:
    return key(a) <= key(b);
  case arith::CmpIPredicate::ugt:
    return key(a) > key(b);
  case arith::CmpIPredicate::uge:
    return key(a) >= key(b);
  }
  return 0;
}

static double compare(arith::CmpFPredicate predicate, double a, double b) {
  // The bits of the predicate: equal, greater, less, unordered.
  auto bits = static_cast<unsigned>(predicate);
  if (std::isnan(a) || std::isnan(b))
    return (bits & 8) != 0;
  return (a == b && (bits & 1)) || (a > b && (bits & 2)) ||
         (a < b && (bits & 4));
}

using Function = std::function<double(ArrayRef<double>)>;

static Function getIntegerFunction(Operation &op) {
  auto integers = [](int64_t (*f)(int64_t, int64_t)) -> Function {
    return [f](ArrayRef<double> x) -> double {
      return double(f(toInteger(x[0]), toInteger(x[1])));
    };
  };
  auto divide = [&](int64_t (*f)(int64_t, int64_t)) -> Function {
    // A program does not run with sizes for which its host divides by zero.
    bool onHost = isa<func::FuncOp>(op.getParentOp());
    return [f, onHost](ArrayRef<double> x) -> double {
      int64_t by = toInteger(x[1]);
      if (by == 0)
        stop((onHost ? std::string(refusedByHost) + " what " : std::string()) +
             "divides by zero");
      return double(f(toInteger(x[0]), by));
    };
  };
  return llvm::StringSwitch<Function>(op.getName().getStringRef())
      .Cases({"arith.addi", "llvm.add"},
             [](ArrayRef<double> x) { return x[0] + x[1]; })
      .Case("arith.subi", [](ArrayRef<double> x) { return x[0] - x[1]; })
      .Case("arith.muli", [](ArrayRef<double> x) { return x[0] * x[1]; })
      .Cases({"arith.minsi", "arith.minui"},
             [](ArrayRef<double> x) { return std::min(x[0], x[1]); })
      .Cases({"arith.maxsi", "arith.maxui"},
             [](ArrayRef<double> x) { return std::max(x[0], x[1]); })
      .Case("arith.andi", integers([](int64_t a, int64_t b) { return a & b; }))
      .Case("arith.ori", integers([](int64_t a, int64_t b) { return a | b; }))
      .Case("arith.xori", integers([](int64_t a, int64_t b) { return a ^ b; }))
      .Cases({"arith.divsi", "arith.divui"},
             divide([](int64_t a, int64_t b) { return a / b; }))
      .Cases({"arith.remsi", "arith.remui"},
             divide([](int64_t a, int64_t b) { return a % b; }))
      .Case("arith.ceildivsi", divide([](int64_t a, int64_t b) {
              return llvm::divideCeilSigned(a, b);
            }))
      .Case("arith.floordivsi", divide([](int64_t a, int64_t b) {
              return llvm::divideFloorSigned(a, b);
            }))
      .Default(nullptr);
}

/// Maxima and minima pass NaN on.
static double extremum(double a, double b, bool greater) {
  if (std::isnan(a) || std::isnan(b))
    return std::nan("");
  return greater ? std::max(a, b) : std::min(a, b);
}

static Function getFloatFunction(Operation &op) {
  return llvm::StringSwitch<Function>(op.getName().getStringRef())
      .Case("arith.addf", [](ArrayRef<double> x) { return x[0] + x[1]; })
      .Case("arith.subf", [](ArrayRef<double> x) { return x[0] - x[1]; })
      .Case("arith.mulf", [](ArrayRef<double> x) { return x[0] * x[1]; })
      .Case("arith.divf", [](ArrayRef<double> x) { return x[0] / x[1]; })
      .Case("arith.negf", [](ArrayRef<double> x) { return -x[0]; })
      .Case("arith.maximumf",
            [](ArrayRef<double> x) { return extremum(x[0], x[1], true); })
      .Case("arith.minimumf",
            [](ArrayRef<double> x) { return extremum(x[0], x[1], false); })
      .Case("math.exp", [](ArrayRef<double> x) { return std::exp(x[0]); })
      .Case("math.exp2", [](ArrayRef<double> x) { return std::exp2(x[0]); })
      .Case("math.log2", [](ArrayRef<double> x) { return std::log2(x[0]); })
      .Case("math.sqrt", [](ArrayRef<double> x) { return std::sqrt(x[0]); })
      .Case("math.rsqrt",
            [](ArrayRef<double> x) { return 1 / std::sqrt(x[0]); })
      .Case("math.absf", [](ArrayRef<double> x) { return std::abs(x[0]); })
      .Case("math.tanh", [](ArrayRef<double> x) { return std::tanh(x[0]); })
      .Case("math.erf", [](ArrayRef<double> x) { return std::erf(x[0]); })
      .Case("math.fma",
            [](ArrayRef<double> x) { return std::fma(x[0], x[1], x[2]); })
      .Cases({"arith.truncf", "arith.extf", "arith.extsi", "arith.trunci",
              "arith.sitofp", "arith.index_cast"},
             [](ArrayRef<double> x) { return x[0]; })
      .Case("arith.fptosi", [](ArrayRef<double> x) { return std::trunc(x[0]); })
      .Case("arith.select",
            [](ArrayRef<double> x) { return x[0] != 0 ? x[1] : x[2]; })
      .Default(nullptr);
}

/// Of unsigned readings of what is narrower than 64 bits.
static Function getUnsignedFunction(Operation &op) {
  if (!isa<arith::ExtUIOp, arith::UIToFPOp, arith::IndexCastUIOp>(op))
    return nullptr;
  Type from = getElementTypeOrSelf(op.getOperand(0).getType());
  unsigned width = from.isIndex() ? 64 : from.getIntOrFloatBitWidth();
  return [width](ArrayRef<double> x) {
    return x[0] < 0 ? x[0] + std::ldexp(1.0, static_cast<int>(width)) : x[0];
  };
}

static Function getFunction(Operation &op) {
  if (auto cmp = dyn_cast<arith::CmpIOp>(op))
    return [predicate = cmp.getPredicate()](ArrayRef<double> x) {
      return compare(predicate, x[0], x[1]);
    };
  if (auto cmp = dyn_cast<arith::CmpFOp>(op))
    return [predicate = cmp.getPredicate()](ArrayRef<double> x) {
      return compare(predicate, x[0], x[1]);
    };
  if (Function f = getIntegerFunction(op))
    return f;
  if (Function f = getUnsignedFunction(op))
    return f;
  return getFloatFunction(op);
}

/// The constant's number, or those of a tile.
static double toDouble(Attribute attribute) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return integer.getType().isInteger(1)
               ? double(!integer.getValue().isZero())
               : double(integer.getValue().getSExtValue());
  return cast<FloatAttr>(attribute).getValueAsDouble();
}

bool Machine::runElementwise(Operation &op) {
  // What a mutation adds to a number of 32 bits.
  if (auto constant = dyn_cast<LLVM::ConstantOp>(op)) {
    set(constant.getResult(), toDouble(constant.getValue()));
    return true;
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense) {
      set(constant.getResult(), toDouble(constant.getValue()));
      return true;
    }
    auto tile = std::make_shared<Tile>();
    llvm::append_range(tile->shape, dense.getType().getShape());
    for (Attribute value : dense.getValues<Attribute>())
      tile->elements.push_back(toDouble(value));
    set(constant.getResult(), TileRef(tile));
    return true;
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    SmallVector<Attribute> operands;
    Builder builder(op.getContext());
    for (Value operand : apply.getMapOperands())
      operands.push_back(builder.getIndexAttr(index(operand)));
    SmallVector<Attribute> results;
    if (failed(apply.getAffineMap().constantFold(operands, results)))
      stop("an affine map has no value");
    set(apply.getResult(), toDouble(results[0]));
    return true;
  }
  Function f = getFunction(op);
  if (!f)
    return false;
  Type type = getElementTypeOrSelf(op.getResult(0).getType());
  auto shaped = dyn_cast<RankedTensorType>(op.getResult(0).getType());
  SmallVector<double, 3> operands(op.getNumOperands());
  if (!shaped) {
    for (auto [number, operand] : llvm::enumerate(op.getOperands()))
      operands[number] = scalar(operand);
    set(op.getResult(0), roundToType(type, f(operands)));
    return true;
  }
  // A condition may be one for all elements.
  SmallVector<const Datum *> sources;
  for (Value operand : op.getOperands())
    sources.push_back(&get(operand));
  auto result = std::make_shared<Tile>();
  llvm::append_range(result->shape, shaped.getShape());
  result->elements.resize(shaped.getNumElements());
  for (size_t i = 0; i < result->elements.size(); ++i) {
    for (auto [number, source] : llvm::enumerate(sources)) {
      const TileRef *tile = std::get_if<TileRef>(source);
      operands[number] = tile ? (*tile)->elements[i] : Machine::number(*source);
    }
    result->elements[i] = roundToType(type, f(operands));
  }
  set(op.getResult(0), TileRef(result));
  return true;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

static int64_t linearize(ArrayRef<int64_t> at, ArrayRef<int64_t> shape) {
  int64_t result = 0;
  for (auto [coordinate, extent] : llvm::zip_equal(at, shape))
    result = result * extent + coordinate;
  return result;
}

TileRef Machine::multiply(const Datum &lhs, const Datum &rhs, TileRef acc,
                          int64_t depth, ArrayRef<int64_t> limits,
                          RankedTensorType type) const {
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  // All elements of an operand that count, once.
  auto gather = [&](const Datum &operand, ArrayRef<int64_t> extents) {
    std::vector<double> elements;
    if (const Window *window = std::get_if<Window>(&operand)) {
      forEach(extents, [&](ArrayRef<int64_t> at) {
        elements.push_back(window->read(window->place(at)));
      });
      return elements;
    }
    const Tile &tile = *std::get<TileRef>(operand);
    forEach(extents, [&](ArrayRef<int64_t> at) {
      elements.push_back(tile.elements[linearize(at, tile.shape)]);
    });
    return elements;
  };
  const Window *window = std::get_if<Window>(&lhs);
  ArrayRef<int64_t> shape =
      window ? window->sizes : std::get<TileRef>(lhs)->shape;
  int64_t k = depth >= 0 ? std::min(depth, shape[1]) : shape[1];
  // The elements of a word lie in a dimension of their own.
  ArrayRef<int64_t> word = shape.drop_front(2);
  int64_t length = word.empty() ? 1 : word.front();
  int64_t m = limits.empty() ? rows : std::clamp<int64_t>(limits[0], 0, rows);
  int64_t n =
      limits.empty() ? columns : std::clamp<int64_t>(limits[1], 0, columns);
  Extents left{m, k}, right{k, n};
  llvm::append_range(left, word);
  llvm::append_range(right, word);
  std::vector<double> a = gather(lhs, left), b = gather(rhs, right);
  auto result = std::make_shared<Tile>();
  result->shape = {rows, columns};
  result->elements.assign(rows * columns, std::nan(""));
  std::vector<double> sums(n);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j)
      sums[j] = acc ? acc->elements[i * columns + j] : 0.0;
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t w = 0; w < length; ++w)
          sums[j] += a[(i * k + l) * length + w] * b[(l * n + j) * length + w];
    for (int64_t j = 0; j < n; ++j)
      result->elements[i * columns + j] =
          roundToType(type.getElementType(), sums[j]);
  }
  return result;
}

/// Adds up, or what else the kind is.
static double combine(ReduceKind kind, double a, double b) {
  switch (kind) {
  case ReduceKind::Add:
    return a + b;
  case ReduceKind::Mul:
    return a * b;
  case ReduceKind::Max:
    return extremum(a, b, true);
  case ReduceKind::Min:
    return extremum(a, b, false);
  }
  return 0;
}

bool Machine::runTileOp(Operation &op) {
  // The result's elements from an operand's, at other coordinates.
  auto gather = [&](Value from, RankedTensorType type,
                    function_ref<void(SmallVectorImpl<int64_t> &)> move) {
    TileRef source = tile(from);
    auto result = std::make_shared<Tile>();
    llvm::append_range(result->shape, type.getShape());
    forEach(result->shape, [&](ArrayRef<int64_t> at) {
      Extents other(at.begin(), at.end());
      move(other);
      result->elements.push_back(
          source->elements[linearize(other, source->shape)]);
    });
    set(op.getResult(0), TileRef(result));
  };
  if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    auto result = std::make_shared<Tile>();
    llvm::append_range(result->shape, splat.getType().getShape());
    result->elements.assign(splat.getType().getNumElements(),
                            scalar(splat.getInput()));
    set(splat.getResult(), TileRef(result));
    return true;
  }
  if (auto mma = dyn_cast<MmaOp>(op)) {
    int64_t depth = mma.getDepth() ? index(mma.getDepth()) : -1;
    if (mma.getDepth())
      depth = std::max<int64_t>(depth, 0);
    set(mma.getResult(),
        multiply(get(mma.getLhs()), get(mma.getRhs()), tile(mma.getAcc()),
                 depth, indices(mma.getLimits()), mma.getAcc().getType()));
    return true;
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    TileRef source = tile(reduce.getValue());
    auto result = std::make_shared<Tile>();
    llvm::append_range(result->shape, reduce.getType().getShape());
    int64_t dim = static_cast<int64_t>(reduce.getDim());
    int64_t size = source->shape[dim] / result->shape[dim];
    forEach(result->shape, [&](ArrayRef<int64_t> at) {
      Extents other(at.begin(), at.end());
      double sum = 0;
      for (int64_t i = 0; i < size; ++i) {
        other[dim] = at[dim] * size + i;
        double element = source->elements[linearize(other, source->shape)];
        sum = i == 0 ? element : combine(reduce.getKind(), sum, element);
      }
      result->elements.push_back(
          roundToType(reduce.getType().getElementType(), sum));
    });
    set(reduce.getResult(), TileRef(result));
    return true;
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    TileRef source = tile(broadcast.getValue());
    gather(broadcast.getValue(), broadcast.getType(),
           [&](SmallVectorImpl<int64_t> &at) {
             for (auto [coordinate, extent] :
                  llvm::zip_equal(at, source->shape))
               if (extent == 1)
                 coordinate = 0;
           });
    return true;
  }
  if (auto relayout = dyn_cast<RelayoutOp>(op)) {
    set(relayout.getResult(), get(relayout.getValue()));
    return true;
  }
  if (auto slice = dyn_cast<SliceOp>(op)) {
    gather(slice.getValue(), slice.getType(),
           [&](SmallVectorImpl<int64_t> &at) {
             for (auto [coordinate, offset] :
                  llvm::zip_equal(at, slice.getOffsets()))
               coordinate += offset;
           });
    return true;
  }
  if (auto coordinate = dyn_cast<CoordinateOp>(op)) {
    auto result = std::make_shared<Tile>();
    llvm::append_range(result->shape, coordinate.getType().getShape());
    forEach(result->shape, [&](ArrayRef<int64_t> at) {
      result->elements.push_back(double(at[coordinate.getDim()]));
    });
    set(coordinate.getResult(), TileRef(result));
    return true;
  }
  if (auto any = dyn_cast<AnyOp>(op)) {
    // A warp may find more true than its own elements; a kernel must not mind.
    TileRef source = tile(any.getValue());
    set(any.getResult(), double(llvm::any_of(source->elements,
                                             [](double x) { return x != 0; })));
    return true;
  }
  if (auto raster = dyn_cast<RasterOp>(op)) {
    int64_t at = index(raster.getIndex()), rows = index(raster.getRows());
    int64_t columns = index(raster.getColumns());
    auto group = static_cast<int64_t>(raster.getGroup());
    if (group * columns == 0)
      stop("divides by zero");
    int64_t first = group * (at / (group * columns));
    int64_t height = std::min(group, rows - first);
    int64_t rest = at % (group * columns);
    if (height <= 0)
      stop("takes the raster of a tile beyond the last");
    set(raster.getRow(), double(first + rest % height));
    set(raster.getColumn(), double(rest / height));
    return true;
  }
  auto walk = [&](Value memory, int64_t rows, int64_t height, auto visit) {
    const Window &ends = window(memory);
    int64_t begin = 0, groups = ends.sizes[0];
    for (int64_t group = 0; group <= groups; ++group) {
      int64_t end = rows;
      if (group < groups)
        end = std::min(
            std::max(begin, toInteger(ends.read(ends.place({group})))), rows);
      visit(group, begin, end, llvm::divideCeilSigned(end - begin, height));
      begin = end;
    }
  };
  if (auto count = dyn_cast<RaggedCountOp>(op)) {
    int64_t all = 0, full = 0, groups = window(count.getEnds()).sizes[0];
    walk(count.getEnds(), index(count.getRows()), count.getTile(),
         [&](int64_t group, int64_t, int64_t, int64_t tiles) {
           all += tiles;
           if (group < groups)
             full += tiles;
         });
    set(count.getAll(), double(all));
    set(count.getFull(), double(full));
    return true;
  }
  if (auto ragged = dyn_cast<RaggedTileOp>(op)) {
    int64_t rows = index(ragged.getRows()), left = index(ragged.getIndex());
    auto height = static_cast<int64_t>(ragged.getTile());
    int64_t first = rows, last = rows;
    int64_t found = window(ragged.getEnds()).sizes[0];
    bool done = false;
    walk(ragged.getEnds(), rows, height,
         [&](int64_t group, int64_t begin, int64_t end, int64_t tiles) {
           if (!done && left < tiles) {
             found = group;
             first = begin + left * height;
             last = end;
             done = true;
           }
           left -= tiles;
         });
    set(ragged.getGroup(), double(found));
    set(ragged.getFirst(), double(first));
    set(ragged.getEnd(), double(last));
    return true;
  }
  return false;
}
