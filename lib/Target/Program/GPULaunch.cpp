//===- GPULaunch.cpp - How a program launches kernels on a GPU ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel's function takes a pointer and the dynamic sizes of each buffer,
// then the tensor maps by value, then what the host makes of divisors. What it
// takes for granted of its arguments is asked of the shapes before anything is
// launched.

#include "tracea/Target/Program/GPULaunch.h"

#include "tracea/Analysis/Certificates.h"
#include "tracea/Dialect/TraceaPipe/IR/KernelInterface.h"
#include "tracea/Target/Program/SymbolicEvaluator.h"

#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace rt = ::tracea::runtime;

/// Bytes that rows in memory must be multiples of for a copy in bulk.
static constexpr int64_t kMapGranule = 16;

namespace {
/// One launch.
class StepExporter {
public:
  StepExporter(rt::EntrySpec &entry, rt::StepSpec &step,
               LLVM::LLVMFuncOp function)
      : entry(entry), step(step), function(function), exprs(entry.exprs) {}

  LogicalResult run(KernelInterfaceAttr interface);

  /// What must hold for the kernel to run on the arguments at hand.
  struct Condition {
    int64_t expr;
    std::string message;
  };
  SmallVector<Condition> conditions;

private:
  void addBuffer(const rt::ViewSpec &view, MemRefType type, int64_t alignment);
  LogicalResult addTensorMap(TensorMapAttr recipe, const rt::ViewSpec &view);
  void addDivisors(AffineMap divisors);
  int64_t getNumber(AffineExpr expr);
  void require(int64_t expr, std::string message);
  /// Of two truth values.
  int64_t either(int64_t a, int64_t b);
  /// Whether a distance in elements is a multiple of `granule` bytes.
  int64_t isWhole(const rt::ViewSpec &view, int64_t elements, int64_t granule);
  std::string nameOf(const rt::ViewSpec &view) const;
  /// That rows begin at multiples of `granule` bytes.
  std::string describeRows(const rt::ViewSpec &view, int64_t granule);

  rt::EntrySpec &entry;
  rt::StepSpec &step;
  LLVM::LLVMFuncOp function;
  rt::ExprBuilder exprs;
  std::vector<rt::ArgSpec> args;
};
} // namespace

std::string StepExporter::nameOf(const rt::ViewSpec &view) const {
  const rt::BufferSpec &buffer = entry.buffers[view.buffer];
  switch (buffer.kind) {
  case rt::BufferKind::Input:
    return "input " + std::to_string(buffer.index) + " ('" +
           entry.inputs[buffer.index].name + "')";
  case rt::BufferKind::Constant:
    return "constant " + std::to_string(buffer.index);
  case rt::BufferKind::Table:
  case rt::BufferKind::Temp:
    break;
  }
  for (size_t i = 0; i < entry.outputs.size(); ++i)
    if (entry.outputs[i].view.buffer == view.buffer)
      return "output " + std::to_string(i);
  return "a temporary tensor";
}

std::string StepExporter::describeRows(const rt::ViewSpec &view,
                                       int64_t granule) {
  return "kernel '" + function.getName().str() + "' expects rows of " +
         nameOf(view) + " to begin at multiples of " +
         std::to_string(granule / rt::sizeOf(view.type)) + " elements of " +
         rt::nameOf(view.type);
}

void StepExporter::require(int64_t expr, std::string message) {
  const rt::Expr &node = entry.exprs[expr];
  bool holds = node.op == rt::ExprOp::Const && node.a != 0;
  bool known = llvm::any_of(
      conditions, [&](const Condition &other) { return other.expr == expr; });
  if (!holds && !known)
    conditions.push_back({expr, std::move(message)});
}

int64_t StepExporter::either(int64_t a, int64_t b) {
  auto isConstant = [&](int64_t expr, bool value) {
    const rt::Expr &node = entry.exprs[expr];
    return node.op == rt::ExprOp::Const && (node.a != 0) == value;
  };
  if (isConstant(a, true) || isConstant(b, false))
    return a;
  if (isConstant(b, true) || isConstant(a, false))
    return b;
  return exprs.max(a, b);
}

/// A number that every value of the expression is a multiple of; zero where
/// it is zero.
static int64_t getFactor(const std::vector<rt::Expr> &exprs, int64_t number) {
  const rt::Expr &expr = exprs[number];
  if (expr.op == rt::ExprOp::Const)
    return expr.a;
  if (expr.op == rt::ExprOp::Add || expr.op == rt::ExprOp::Sub)
    return std::gcd(getFactor(exprs, expr.a), getFactor(exprs, expr.b));
  if (expr.op != rt::ExprOp::Mul)
    return 1;
  // Of what does not fit, one factor.
  int64_t first = getFactor(exprs, expr.a), both = 0;
  return llvm::MulOverflow(first, getFactor(exprs, expr.b), both) ? first
                                                                  : both;
}

int64_t StepExporter::isWhole(const rt::ViewSpec &view, int64_t elements,
                              int64_t granule) {
  int64_t factor = 0;
  if (!llvm::MulOverflow(getFactor(entry.exprs, elements),
                         rt::sizeOf(view.type), factor) &&
      factor % granule == 0)
    return exprs.constant(1);
  int64_t bytes = exprs.mul(elements, exprs.constant(rt::sizeOf(view.type)));
  return exprs.eq(exprs.mod(bytes, exprs.constant(granule)), exprs.constant(0));
}

void StepExporter::addBuffer(const rt::ViewSpec &view, MemRefType type,
                             int64_t alignment) {
  args.push_back(rt::ArgSpec::fromPointer(view));
  int64_t stride = exprs.constant(1), one = stride;
  SmallVector<int64_t> gaps;
  if (!type.getLayout().isIdentity())
    gaps = type.getStridesAndOffset().first;
  for (size_t i = view.sizes.size(); i-- > 0;) {
    if (!gaps.empty())
      stride = exprs.constant(gaps[i]);
    if (view.strides[i] != stride)
      require(either(exprs.le(view.sizes[i], one),
                     exprs.eq(view.strides[i], stride)),
              "kernel '" + function.getName().str() + "' expects " +
                  nameOf(view) +
                  (gaps.empty() ? " in row-major order"
                                : " with rows at other distances"));
    stride = exprs.mul(stride, view.sizes[i]);
  }
  for (auto [size, extent] : llvm::zip_equal(view.sizes, type.getShape()))
    if (ShapedType::isDynamic(extent))
      args.push_back(rt::ArgSpec::fromIndex(size));
  int64_t bytes = rt::sizeOf(view.type);
  if (alignment <= bytes)
    return;
  std::string message = describeRows(view, alignment);
  require(isWhole(view, view.offset, alignment), message);
  for (size_t i = 0; i + 1 < view.sizes.size(); ++i)
    require(either(exprs.le(view.sizes[i], one),
                   isWhole(view, view.strides[i], alignment)),
            message);
}

static std::optional<rt::MapElement> getMapElement(Type type, bool tf32) {
  if (type.isBF16())
    return rt::MapElement::BF16;
  if (type.isF16())
    return rt::MapElement::F16;
  if (type.isF32())
    return tf32 ? rt::MapElement::TF32 : rt::MapElement::F32;
  if (type.isF64())
    return rt::MapElement::F64;
  // Copies look into no element: a float of 8 bits is a byte.
  if (type.isInteger(8) || isa<Float8E4M3FNType, Float8E5M2Type>(type))
    return rt::MapElement::U8;
  if (type.isInteger(16))
    return rt::MapElement::U16;
  if (type.isInteger(32))
    return rt::MapElement::I32;
  if (type.isInteger(64))
    return rt::MapElement::I64;
  return std::nullopt;
}

static std::optional<rt::MapSwizzle> getMapSwizzle(int64_t bytes) {
  switch (bytes) {
  case 0:
    return rt::MapSwizzle::None;
  case 32:
    return rt::MapSwizzle::B32;
  case 64:
    return rt::MapSwizzle::B64;
  case 128:
    return rt::MapSwizzle::B128;
  default:
    return std::nullopt;
  }
}

LogicalResult StepExporter::addTensorMap(TensorMapAttr recipe,
                                         const rt::ViewSpec &view) {
  std::optional<rt::MapElement> type =
      getMapElement(recipe.getElement(), recipe.getTf32());
  std::optional<rt::MapSwizzle> mode = getMapSwizzle(recipe.getSwizzle());
  if (!type || !mode)
    return function.emitError()
           << "has a tensor map that no program can hold: " << recipe;
  rt::TensorMapSpec map;
  map.element = *type;
  map.swizzle = *mode;
  // Rows of a box are swizzled as 128 bytes: more would be fetched for others,
  // and where rows begin anywhere in a line, twice.
  map.promotion = rt::MapPromotion::B128;
  rt::ViewSpec axes = view;
  axes.sizes.clear();
  axes.strides.clear();
  // A recipe begins with the contiguous dimension.
  for (size_t i = recipe.getDims().size(); i-- > 0;) {
    int64_t dim = recipe.getDims()[i];
    axes.sizes.push_back(view.sizes[dim]);
    axes.strides.push_back(view.strides[dim]);
    map.elementStrides.push_back(recipe.getStep(i));
    // A program's box counts what lies between its elements.
    if (!recipe.isIm2col())
      map.box.push_back(recipe.getBox()[i] * recipe.getStep(i));
  }
  auto reversed = [](ArrayRef<int64_t> values) {
    return std::vector<int64_t>(values.rbegin(), values.rend());
  };
  if (recipe.isIm2col())
    map.im2col =
        rt::Im2colSpec{reversed(recipe.getLower()), reversed(recipe.getUpper()),
                       recipe.getBox()[0], recipe.getBox()[1]};

  int64_t zero = exprs.constant(0), one = exprs.constant(1);
  std::string message = describeRows(view, kMapGranule);
  require(isWhole(view, view.offset, kMapGranule), message);
  for (size_t i = 0; i + 1 < axes.sizes.size(); ++i)
    require(either(exprs.le(axes.sizes[i], one),
                   isWhole(view, axes.strides[i], kMapGranule)),
            message);
  // What is written goes out in whole granules, even where nothing follows.
  if (recipe.getWritten() && axes.sizes.size() > 1) {
    int64_t least = axes.sizes.front();
    for (int64_t size : axes.sizes)
      least = exprs.min(least, size);
    require(either(exprs.le(least, zero),
                   isWhole(view, axes.sizes.back(), kMapGranule)),
            message);
  }
  args.push_back(rt::ArgSpec::fromMap(std::move(map), std::move(axes)));
  return success();
}

/// A number that the arguments so far, which are parameters one by one, bring.
int64_t StepExporter::getNumber(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return exprs.constant(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    const rt::ArgSpec &arg = args[symbol.getPosition()];
    return arg.kind == rt::ArgKind::Value ? exprs.value(arg.index) : arg.index;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t a = getNumber(binary.getLHS()), b = getNumber(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return exprs.add(a, b);
  case AffineExprKind::Mul:
    return exprs.mul(a, b);
  case AffineExprKind::Mod:
    return exprs.mod(a, b);
  case AffineExprKind::FloorDiv:
    return exprs.floorDiv(a, b);
  case AffineExprKind::CeilDiv:
    return exprs.ceilDiv(a, b);
  default:
    llvm_unreachable("divisors are of symbols");
  }
}

void StepExporter::addDivisors(AffineMap divisors) {
  SmallVector<int64_t> numbers;
  for (AffineExpr divisor : divisors.getResults())
    numbers.push_back(getNumber(divisor));
  for (int64_t number : numbers) {
    args.push_back(rt::ArgSpec::fromIndex(exprs.divMultiplier(number)));
    args.push_back(rt::ArgSpec::fromIndex(exprs.divShift(number)));
  }
}

LogicalResult StepExporter::run(KernelInterfaceAttr interface) {
  ArrayRef<Type> types = interface.getArguments();
  if (types.size() != step.args.size())
    return function.emitError()
           << "was lowered from " << types.size()
           << " arguments; its launch has " << step.args.size();
  for (auto [type, aligned, arg] :
       llvm::zip_equal(types, interface.getAligned(), step.args)) {
    if (auto memref = dyn_cast<MemRefType>(type)) {
      addBuffer(arg.view, memref, aligned);
      continue;
    }
    if (arg.kind == rt::ArgKind::Value || type.isIndex() ||
        type.isInteger(64)) {
      args.push_back(arg);
      continue;
    }
    // What has another width has to be passed as it came.
    const rt::Expr &number = entry.exprs[arg.index];
    if (number.op != rt::ExprOp::Value ||
        getRuntimeElementType(type) != entry.inputs[number.a].type)
      return function.emitError()
             << "takes a scalar of type " << type
             << ", which a program cannot pass to a GPU; expected index, i64 "
                "or an argument of the function";
    args.push_back(rt::ArgSpec::fromValue(number.a));
  }
  for (TensorMapAttr map : interface.getMaps())
    if (failed(addTensorMap(map, step.args[map.getArgument()].view)))
      return failure();
  if (AffineMapAttr divisors = interface.getDivisors())
    addDivisors(divisors.getValue());
  step.args = std::move(args);
  int64_t one = exprs.constant(1);
  step.grid = {step.tiles, one, one};
  return success();
}

LogicalResult mlir::tracea::describeGPUKernel(rt::KernelSpec &kernel,
                                              LLVM::LLVMFuncOp function) {
  KernelInterfaceAttr interface = getKernelInterface(function);
  if (!interface)
    return function.emitError() << "does not say how it is launched; expected '"
                                << kInterfaceAttrName << "'";
  rt::GPUKernelSpec gpu;
  gpu.block.front() = interface.getThreads();
  gpu.cluster.front() = interface.getCluster();
  gpu.indexBits = 64;
  kernel.gpu = gpu;
  kernel.workspace = interface.getShared();
  if (interface.getAssertions().size() > rt::ManifestLimits().maxAssertions)
    return function.emitError() << "has " << interface.getAssertions().size()
                                << " assertions; a program holds "
                                << rt::ManifestLimits().maxAssertions;
  for (StringAttr text : interface.getAssertions())
    kernel.gpu->assertions.push_back(cutLine(text));
  if (CertificateAttr proof = getCertificate(function, "target-protocol"))
    kernel.certificates.push_back(
        makeCertificate(proof.getCheck(), proof.getClaim(), proof.getModel()));
  return success();
}

LogicalResult mlir::tracea::exportGPULaunch(
    rt::EntrySpec &entry, MutableArrayRef<rt::StepSpec> steps,
    ArrayRef<LLVM::LLVMFuncOp> functions, ArrayRef<int64_t> fits,
    function_ref<void(int64_t, std::string)> addCheck) {
  rt::ExprBuilder exprs(entry.exprs);
  int64_t zero = exprs.constant(0), one = exprs.constant(1);
  auto both = [&](int64_t a, int64_t b) {
    if (a == zero || b == zero)
      return zero;
    return a == one ? b : b == one ? a : exprs.min(a, b);
  };
  int64_t open = one;
  std::string why;
  for (auto [step, function, fit] : llvm::zip_equal(steps, functions, fits)) {
    StepExporter exporter(entry, step, function);
    if (failed(exporter.run(getKernelInterface(function))))
      return failure();
    int64_t runs = fit;
    for (const StepExporter::Condition &condition : exporter.conditions) {
      if (why.empty())
        why = condition.message;
      // With no other kernel to run, each condition has its own message.
      if (steps.size() == 1)
        addCheck(condition.expr, condition.message);
      else
        runs = both(runs, condition.expr);
    }
    step.tiles = exprs.select(both(open, runs), step.tiles, zero);
    step.grid.front() = step.tiles;
    open = both(open, exprs.sub(one, runs));
  }
  if (steps.size() > 1 && open != zero)
    addCheck(exprs.sub(one, open), why);
  return success();
}

/// 80 of ".version 8.0".
static int64_t getVersion(StringRef ptx) {
  StringRef rest = ptx.split(".version ").second;
  int64_t major = 0, minor = 0;
  if (rest.consumeInteger(10, major) || !rest.consume_front(".") ||
      rest.consumeInteger(10, minor))
    return 0;
  return 10 * major + minor;
}

void mlir::tracea::addGPUImages(rt::ProgramFile &program, StringRef ptx,
                                StringRef cubin, StringRef chip) {
  auto bytesOf = [](StringRef code) {
    return std::vector<uint8_t>(code.bytes_begin(), code.bytes_end());
  };
  addImage(program, rt::ImageKind::PTX, bytesOf(ptx), chip, getVersion(ptx));
  if (!cubin.empty())
    addImage(program, rt::ImageKind::Cubin, bytesOf(cubin), chip);
}
