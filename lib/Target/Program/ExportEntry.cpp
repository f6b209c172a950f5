//===- ExportEntry.cpp - From a host function to an entry -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks a host function in order. Buffers are numbered as they appear; all
// sizes are expressions, so that one program serves every shape.
//
//===----------------------------------------------------------------------===//

#include "Exporter.h"
#include "tracea/Target/Program/GPULaunch.h"
#include "tracea/Target/Program/IndexCheck.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "tracea/Analysis/Certificates.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
#include "tracea/Dialect/TraceaPipe/IR/KernelInterface.h"
#include "tracea/Dialect/TraceaPipe/Utils/HostMoves.h"
#include "tracea/Dialect/TraceaPipe/Utils/HostScalars.h"
#include "tracea/Runtime/Constants.h"
#include "tracea/Runtime/Dependencies.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <set>

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

void EntryExporter::addCheck(int64_t expr, std::string message) {
  if (checked.insert(expr).second)
    entry.checks.push_back({expr, std::move(message)});
}

FailureOr<rt::ElementType> EntryExporter::elementType(Location loc,
                                                      MemRefType type) {
  std::optional<rt::ElementType> element =
      getRuntimeElementType(type.getElementType());
  if (!element)
    return emitError(loc) << "elements of type " << type.getElementType()
                          << " cannot be held by a program; expected f64, f32, "
                             "f16, bf16, f8E4M3FN, f8E5M2, i64, i32, i16, i8, "
                             "i1 or index";
  return *element;
}

LogicalResult EntryExporter::exportInput(BlockArgument argument) {
  unsigned number = argument.getArgNumber();
  rt::InputSpec input;
  input.name = llvm::formatv("arg{0}", number);
  if (auto name = function.getArgAttrOfType<StringAttr>(number, "tracea.name"))
    input.name = name.str();
  Attribute mark =
      function.getArgAttr(number, TraceaDialect::kConstantAttrName);
  if (mark && !isa<UnitAttr>(mark))
    return emitError(argument.getLoc())
           << "argument #" << number << " of '" << function.getName()
           << "' is marked '" << TraceaDialect::kConstantAttrName
           << "' = " << mark << "; expected no value";
  input.isConstant = mark != nullptr;
  if (input.isConstant && !isa<MemRefType>(argument.getType()))
    return emitError(argument.getLoc())
           << "argument #" << number << " of '" << function.getName()
           << "' has type " << argument.getType() << " and is marked '"
           << TraceaDialect::kConstantAttrName << "'; expected a tensor";
  if (std::optional<rt::ElementType> scalar =
          getRuntimeElementType(argument.getType())) {
    input.type = *scalar;
    input.isScalar = true;
    if (!rt::isFloat(*scalar))
      evaluator.bind(argument, exprs.value(number));
    entry.inputs.push_back(std::move(input));
    return success();
  }
  auto type = dyn_cast<MemRefType>(argument.getType());
  if (!type || !type.getLayout().isIdentity())
    return emitError(argument.getLoc())
           << "argument #" << number << " of '" << function.getName()
           << "' has type " << argument.getType()
           << "; expected a number, or a memref of identity layout, from a "
              "ranked tensor";
  FailureOr<rt::ElementType> element = elementType(argument.getLoc(), type);
  if (failed(element))
    return failure();
  input.type = *element;
  SmallVector<int64_t> sizes;
  for (auto [axis, size] : llvm::enumerate(type.getShape())) {
    bool dynamic = ShapedType::isDynamic(size);
    input.shape.push_back(dynamic ? rt::dynamicSize : size);
    sizes.push_back(dynamic ? exprs.dim(number, axis) : exprs.constant(size));
  }
  entry.inputs.push_back(std::move(input));
  int64_t buffer = entry.buffers.size();
  entry.buffers.push_back(rt::BufferSpec::input(number));
  evaluator.bind(argument, exprs.rowMajorView(buffer, *element,
                                              {sizes.data(), sizes.size()}));
  return success();
}

LogicalResult EntryExporter::exportAlloc(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  FailureOr<rt::ElementType> element = elementType(alloc.getLoc(), type);
  if (failed(element))
    return failure();
  if (!type.getLayout().isIdentity())
    return alloc.emitOpError() << "expects the identity layout, found " << type;
  FailureOr<SmallVector<Expr>> sizes = evaluator.list(alloc.getMixedSizes());
  if (failed(sizes))
    return failure();
  int64_t buffer = entry.buffers.size();
  if (!getTable(alloc).empty()) {
    tables.emplace_back(alloc, buffer);
    entry.buffers.push_back(rt::BufferSpec::table(*element, {}));
    evaluator.bind(
        alloc.getResult(),
        exprs.rowMajorView(buffer, *element, {sizes->data(), sizes->size()}));
    return success();
  }
  int64_t align = std::max<int64_t>(64, alloc.getAlignment().value_or(64));
  rt::Span<const int64_t> span(sizes->data(), sizes->size());
  for (Expr size : *sizes)
    evaluator.require(exprs.le(exprs.constant(0), size), alloc,
                      "a tensor has a negative size");
  entry.buffers.push_back(
      rt::BufferSpec::temp(exprs.rowMajorBytes(*element, span), align));
  evaluator.bind(alloc.getResult(), exprs.rowMajorView(buffer, *element, span));
  return success();
}

LogicalResult EntryExporter::exportGlobal(memref::GetGlobalOp get) {
  auto global = parent.symbols.lookup<memref::GlobalOp>(get.getName());
  if (!global)
    return get.emitOpError()
           << "expects a 'memref.global' named " << get.getNameAttr();
  FailureOr<int64_t> constant = parent.exportConstant(global);
  if (failed(constant))
    return failure();
  MemRefType type = get.getType();
  SmallVector<int64_t> sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(exprs.constant(size));
  int64_t buffer = -1;
  for (auto [index, spec] : llvm::enumerate(entry.buffers))
    if (spec.kind == rt::BufferKind::Constant && spec.index == *constant)
      buffer = index;
  if (buffer < 0) {
    buffer = entry.buffers.size();
    entry.buffers.push_back(rt::BufferSpec::constant(*constant));
  }
  evaluator.bind(
      get.getResult(),
      exprs.rowMajorView(buffer, *getRuntimeElementType(type.getElementType()),
                         {sizes.data(), sizes.size()}));
  return success();
}

LogicalResult EntryExporter::exportAssert(cf::AssertOp check) {
  FailureOr<Expr> expr = evaluator.scalar(check.getArg());
  if (failed(expr))
    return failure();
  evaluator.require(*expr, check, check.getMsg());
  return success();
}

/// The product of the grid's bounds, for the shapes of this launch.
FailureOr<EntryExporter::Expr> EntryExporter::countTiles(LaunchOp launch,
                                                         KernelOp kernel) {
  SymbolicEvaluator inKernel(entry.exprs,
                             [this](int64_t expr, std::string message) {
                               addCheck(expr, std::move(message));
                             });
  for (auto [argument, operand] :
       llvm::zip(kernel.getBody().getArguments(), launch->getOperands())) {
    if (isa<MemRefType>(operand.getType())) {
      FailureOr<View> view = evaluator.view(operand);
      if (failed(view))
        return failure();
      // A kernel sees a row-major buffer that begins where its pointer points.
      inKernel.bind(argument,
                    exprs.rowMajorView(view->buffer, view->type, view->sizes));
    } else if (isa<IndexType, IntegerType>(operand.getType())) {
      FailureOr<Expr> expr = evaluator.scalar(operand);
      if (failed(expr))
        return failure();
      inKernel.bind(argument, *expr);
    }
  }
  Expr product = exprs.constant(1);
  for (Value bound : kernel.getTiles().getBounds()) {
    FailureOr<Expr> expr = inKernel.scalar(bound);
    if (failed(expr)) {
      launch.emitRemark() << "in the grid of the kernel launched here";
      return failure();
    }
    product = exprs.mul(product, *expr);
  }
  return product;
}

LogicalResult EntryExporter::exportLaunch(LaunchOp launch) {
  if (launch.getMost() && !parent.isForGPU())
    return launch.emitOpError() << "has kernels for results of several sizes, "
                                   "of which only programs for GPUs choose";
  Launch &exported = launches.emplace_back();
  for (auto [number, name] : llvm::enumerate(launch.getKernels())) {
    FailureOr<rt::StepSpec> step = exportStep(launch, name);
    FailureOr<Expr> fits = exportFit(launch, number);
    if (failed(step) || failed(fits))
      return failure();
    exported.steps.push_back(std::move(*step));
    exported.fits.push_back(*fits);
    if (!parent.isForGPU())
      break;
  }
  return success();
}

/// Whether the result of a launch has so few elements as its kernel `number` is
/// for.
FailureOr<EntryExporter::Expr> EntryExporter::exportFit(LaunchOp launch,
                                                        unsigned number) {
  int64_t most = launch.getMostOf(number);
  if (!most)
    return exprs.constant(1);
  FailureOr<View> view = evaluator.view(launch.getInits().front());
  if (failed(view))
    return failure();
  Expr elements = exprs.constant(1);
  for (Expr size : view->sizes)
    elements = exprs.mul(elements, size);
  return exprs.le(elements, exprs.constant(most));
}

/// What tables hold may follow from sizes that come after them.
LogicalResult EntryExporter::exportTables() {
  for (auto [alloc, buffer] : tables)
    for (Value value : getTable(alloc)) {
      FailureOr<rt::ArgSpec> arg = exportScalar(alloc, value);
      if (failed(arg))
        return failure();
      entry.buffers[buffer].values.push_back(
          {arg->kind == rt::ArgKind::Value, arg->index});
    }
  return success();
}

/// A number that the run knows.
FailureOr<rt::ArgSpec> EntryExporter::exportScalar(Operation *op, Value value) {
  Type type = value.getType();
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && isa<FloatType>(type))
    return rt::ArgSpec::fromValue(argument.getArgNumber());
  FloatAttr number;
  if (isa<FloatType>(type) && matchPattern(value, m_Constant(&number))) {
    APInt bits = number.getValue().bitcastToAPInt();
    return rt::ArgSpec::fromIndex(exprs.constant(bits.getZExtValue()));
  }
  if (!isa<IndexType, IntegerType>(type))
    return op->emitOpError() << "operand of type " << type
                             << " cannot be passed to a kernel; expected a "
                                "memref, an index, an integer, a constant or "
                                "an argument of the function";
  FailureOr<Expr> expr = evaluator.scalar(value);
  if (failed(expr))
    return failure();
  return rt::ArgSpec::fromIndex(*expr);
}

FailureOr<rt::StepSpec> EntryExporter::exportStep(LaunchOp launch,
                                                  FlatSymbolRefAttr name) {
  FailureOr<int64_t> kernel = parent.exportKernel(launch, name);
  if (failed(kernel))
    return failure();
  rt::StepSpec step;
  step.kernel = *kernel;
  std::set<int64_t> written;
  for (auto [position, operand] : llvm::enumerate(launch->getOperands())) {
    Type type = operand.getType();
    if (isa<MemRefType>(type)) {
      FailureOr<View> view =
          position < launch.getInputs().size()
              ? evaluator.view(operand)
              : exportWritten(launch, operand, "operand #" + Twine(position));
      if (failed(view))
        return failure();
      if (position >= launch.getInputs().size())
        written.insert(view->buffer);
      step.args.push_back(rt::ArgSpec::fromView(*view));
      continue;
    }
    FailureOr<rt::ArgSpec> arg = exportScalar(launch, operand);
    if (failed(arg))
      return failure();
    step.args.push_back(std::move(*arg));
  }
  step.writes.assign(written.begin(), written.end());
  FailureOr<Expr> tiles =
      countTiles(launch, parent.symbols.lookup<KernelOp>(name.getValue()));
  if (failed(tiles))
    return failure();
  step.tiles = *tiles;
  if (std::optional<rt::CheckSpec> check = getIndexCheck(
          parent.symbols.lookup(name.getValue()), step, entry.exprs))
    addCheck(check->expr, check->message);
  return step;
}

/// Runs get inputs to read: they may be memory that cannot be written.
FailureOr<EntryExporter::View>
EntryExporter::exportWritten(Operation *op, Value memory, const Twine &what) {
  FailureOr<View> view = evaluator.view(memory);
  if (succeeded(view) &&
      entry.buffers[view->buffer].kind != rt::BufferKind::Temp)
    return op->emitOpError()
           << "writes to " << what
           << ", which is memory of an input or a constant of '"
           << function.getName()
           << "'; expected memory that the function allocates";
  return view;
}

/// A fill or copy that the driver does.
LogicalResult EntryExporter::exportMove(Operation *op) {
  auto copy = dyn_cast<memref::CopyOp>(op);
  auto fill = dyn_cast<linalg::FillOp>(op);
  FailureOr<View> to = exportWritten(
      op, copy ? copy.getTarget() : fill.getOutputs().front(), "its target");
  FailureOr<View> from =
      copy ? evaluator.view(copy.getSource()) : FailureOr<View>(View());
  if (failed(to) || failed(from))
    return failure();
  launches.emplace_back().steps.push_back(
      copy ? rt::StepSpec::copy(std::move(*from), std::move(*to))
           : rt::StepSpec::fill(std::move(*to), *getFillByte(fill)));
  return success();
}

/// What launches ask of their arguments names the outputs among them, which the
/// whole function tells.
LogicalResult EntryExporter::exportSteps() {
  for (Launch &launch : launches) {
    SmallVector<rt::StepSpec, 1> &steps = launch.steps;
    if (!steps.front().isLaunch()) {
      entry.steps.push_back(std::move(steps.front()));
      continue;
    }
    if (parent.isForGPU()) {
      SmallVector<LLVM::LLVMFuncOp> functions;
      for (const rt::StepSpec &step : steps)
        functions.push_back(parent.functions[step.kernel]);
      if (failed(exportGPULaunch(entry, steps, functions, launch.fits,
                                 [this](int64_t expr, std::string message) {
                                   addCheck(expr, std::move(message));
                                 })))
        return failure();
    }
    for (rt::StepSpec &step : steps) {
      // A later launch may begin before the one before it has ended, where the
      // kernel waits for that itself.
      if (parent.isForGPU() && !entry.steps.empty() &&
          getKernelInterface(parent.functions[step.kernel]).getWaits())
        parent.program.manifest.kernels[step.kernel].gpu->overlaps = true;
      entry.steps.push_back(std::move(step));
    }
  }
  rt::addDependencies(entry);
  rt::markConstants(entry);
  return success();
}

LogicalResult EntryExporter::exportReturn(func::ReturnOp op) {
  for (auto [number, operand] : llvm::enumerate(op.getOperands())) {
    std::optional<rt::ElementType> scalar =
        getRuntimeElementType(operand.getType());
    if (scalar && isKnownScalar(operand)) {
      FailureOr<rt::ArgSpec> arg = exportScalar(op, operand);
      if (failed(arg))
        return failure();
      int64_t buffer = entry.buffers.size();
      entry.buffers.push_back(rt::BufferSpec::table(
          *scalar, {{arg->kind == rt::ArgKind::Value, arg->index}}));
      entry.outputs.push_back(
          {*scalar, exprs.rowMajorView(buffer, *scalar, {})});
      continue;
    }
    if (!isa<MemRefType>(operand.getType()))
      return op.emitError()
             << "result #" << number << " of '" << function.getName()
             << "' has type " << operand.getType()
             << "; expected a ranked tensor or memref, or a number that the "
                "run knows";
    FailureOr<View> view = evaluator.view(operand);
    if (failed(view))
      return failure();
    entry.outputs.push_back({view->type, *view});
  }
  return success();
}

LogicalResult EntryExporter::exportOp(Operation &op) {
  if (auto alloc = dyn_cast<memref::AllocOp>(op))
    return exportAlloc(alloc);
  if (auto get = dyn_cast<memref::GetGlobalOp>(op))
    return exportGlobal(get);
  if (auto check = dyn_cast<cf::AssertOp>(op))
    return exportAssert(check);
  if (auto launch = dyn_cast<LaunchOp>(op))
    return exportLaunch(launch);
  if (auto returnOp = dyn_cast<func::ReturnOp>(op))
    return exportReturn(returnOp);
  if (isHostMove(&op))
    return exportMove(&op);
  // It is part of what its buffer is.
  if (isTableStore(&op))
    return success();
  // Views and index arithmetic are looked at when something needs them.
  // Divisions are not free of effects: they must not divide by zero.
  if (isMemoryEffectFree(&op) || isa<arith::ArithDialect>(op.getDialect()))
    return success();
  return op.emitError() << "host op '" << op.getName()
                        << "' has no place in a program; expected an "
                           "allocation, a view, arithmetic on indices, an "
                           "assertion, a launch or a return";
}

FailureOr<rt::EntrySpec> EntryExporter::run() {
  entry.name = function.getName().str();
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitOpError()
           << "has a body of " << function.getBody().getBlocks().size()
           << " blocks; expected one";
  for (BlockArgument argument : function.getArguments())
    if (failed(exportInput(argument)))
      return failure();
  for (Operation &op : function.getBody().front())
    if (failed(exportOp(op)))
      return failure();
  if (failed(exportTables()) || failed(exportSteps()))
    return failure();
  return std::move(entry);
}
