//===- Export.cpp - From a module to the manifest of its program ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks the host functions in order. Buffers are numbered as they appear; all
// sizes are expressions, so that one program serves every shape.

#include "tracea/Target/Program/Export.h"
#include "tracea/Target/Program/GPULaunch.h"
#include "tracea/Target/Program/IndexCheck.h"
#include "tracea/Target/Program/SymbolicEvaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "tracea/Analysis/Certificates.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
#include "tracea/Dialect/TraceaPipe/IR/KernelInterface.h"
#include "tracea/Dialect/TraceaPipe/Utils/HostMoves.h"
#include "tracea/Dialect/TraceaPipe/Utils/HostScalars.h"
#include "tracea/Runtime/Dependencies.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/TargetParser/Triple.h"

#include <set>

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace rt = ::tracea::runtime;

namespace {

constexpr int64_t codeBlob = 0;
constexpr int64_t constantsBlob = 1;
constexpr size_t constantAlignment = 64;

/// The bytes of a tensor in row-major order, i1 as one byte.
constexpr int64_t mostConstantBytes = int64_t(1) << 33;

FailureOr<std::vector<uint8_t>> getBytes(memref::GlobalOp global,
                                         ElementsAttr attribute) {
  ShapedType type = attribute.getShapedType();
  std::optional<rt::ElementType> element =
      getRuntimeElementType(type.getElementType());
  if (!element)
    return global.emitOpError()
           << "holds elements of type " << type.getElementType()
           << ", which a program cannot hold";
  size_t elementBytes = rt::sizeOf(*element);
  // A splat is small as text, but not in a program.
  int64_t total = elementBytes;
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(total, extent, total) || total > mostConstantBytes)
      return global.emitOpError()
             << "holds a constant of type " << type << "; expected at most "
             << mostConstantBytes << " bytes";
  size_t count = type.getNumElements();
  std::vector<uint8_t> bytes;
  bytes.reserve(elementBytes * count);

  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return global.emitOpError()
             << "refers to the resource '" << resource.getRawHandle().getKey()
             << "', whose contents are not in the module";
    ArrayRef<char> data = blob->getData();
    if (data.size() != elementBytes * count)
      return global.emitOpError()
             << "refers to a resource of " << data.size() << " bytes; expected "
             << elementBytes * count;
    bytes.assign(data.begin(), data.end());
    return bytes;
  }
  auto dense = dyn_cast<DenseElementsAttr>(attribute);
  if (!dense)
    return global.emitOpError()
           << "holds a constant that is neither dense nor a resource";
  auto append = [&](const APInt &value) {
    uint64_t word = value.getZExtValue();
    for (size_t i = 0; i < elementBytes; ++i)
      bytes.push_back(uint8_t(word >> (8 * i)));
  };
  if (isa<FloatType>(type.getElementType()))
    for (APFloat value : dense.getValues<APFloat>())
      append(value.bitcastToAPInt());
  else
    for (APInt value : dense.getValues<APInt>())
      append(value);
  return bytes;
}

class Exporter {
public:
  Exporter(ModuleOp module, ModuleOp code, const ExportOptions &options)
      : module(module), code(code), options(options), symbols(module) {}

  FailureOr<rt::ProgramFile> run();

private:
  LogicalResult exportTarget();
  bool isForGPU() const { return program.manifest.target.hasGrid(); }
  FailureOr<int64_t> exportConstant(memref::GlobalOp global);
  FailureOr<int64_t> exportKernel(LaunchOp launch, FlatSymbolRefAttr name);

  friend class EntryExporter;
  ModuleOp module, code;
  ExportOptions options;
  SymbolTable symbols;
  rt::ProgramFile program;
  llvm::StringMap<int64_t> constants; // by contents
  DenseMap<Operation *, int64_t> globals, kernels;
  /// The lowered kernels, by their numbers.
  SmallVector<LLVM::LLVMFuncOp> functions;
};

/// One function.
class EntryExporter {
public:
  EntryExporter(Exporter &parent, func::FuncOp function)
      : parent(parent), function(function), exprs(entry.exprs),
        evaluator(entry.exprs, [this](int64_t expr, std::string message) {
          addCheck(expr, std::move(message));
        }) {}

  FailureOr<rt::EntrySpec> run();

private:
  using Expr = SymbolicEvaluator::Expr;
  using View = SymbolicEvaluator::View;

  LogicalResult exportInput(BlockArgument argument);
  LogicalResult exportOp(Operation &op);
  LogicalResult exportAlloc(memref::AllocOp alloc);
  LogicalResult exportGlobal(memref::GetGlobalOp get);
  LogicalResult exportAssert(cf::AssertOp check);
  LogicalResult exportLaunch(LaunchOp launch);
  FailureOr<rt::ArgSpec> exportScalar(Operation *op, Value value);
  FailureOr<rt::StepSpec> exportStep(LaunchOp launch, FlatSymbolRefAttr name);
  LogicalResult exportMove(Operation *op);
  FailureOr<View> exportWritten(Operation *op, Value memory, const Twine &what);
  LogicalResult exportTables();
  LogicalResult exportSteps();
  LogicalResult exportReturn(func::ReturnOp op);
  FailureOr<Expr> countTiles(LaunchOp launch, KernelOp kernel);
  void addCheck(int64_t expr, std::string message);
  FailureOr<rt::ElementType> elementType(Location loc, MemRefType type);

  Exporter &parent;
  func::FuncOp function;
  rt::EntrySpec entry;
  rt::ExprBuilder exprs;
  SymbolicEvaluator evaluator;
  /// By launch, a step for each kernel that may run.
  SmallVector<SmallVector<rt::StepSpec, 1>> launches;
  /// Buffers that the run makes, by number.
  SmallVector<std::pair<memref::AllocOp, int64_t>> tables;
  /// The expressions that have a check.
  llvm::DenseSet<int64_t> checked;
  /// The buffers of the constants that have one.
  DenseMap<int64_t, int64_t> constantBuffers;
};

} // namespace

//===----------------------------------------------------------------------===//
// EntryExporter
//===----------------------------------------------------------------------===//

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
  SmallVector<rt::StepSpec, 1> &steps = launches.emplace_back();
  for (FlatSymbolRefAttr name : launch.getKernels()) {
    FailureOr<rt::StepSpec> step = exportStep(launch, name);
    if (failed(step))
      return failure();
    steps.push_back(std::move(*step));
    if (!parent.isForGPU())
      break;
  }
  return success();
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
  launches.emplace_back().push_back(
      copy ? rt::StepSpec::copy(std::move(*from), std::move(*to))
           : rt::StepSpec::fill(std::move(*to), *getFillByte(fill)));
  return success();
}

/// What launches ask of their arguments names the outputs among them, which the
/// whole function tells.
LogicalResult EntryExporter::exportSteps() {
  for (SmallVector<rt::StepSpec, 1> &steps : launches) {
    if (!steps.front().isLaunch()) {
      entry.steps.push_back(std::move(steps.front()));
      continue;
    }
    if (parent.isForGPU()) {
      SmallVector<LLVM::LLVMFuncOp> functions;
      for (const rt::StepSpec &step : steps)
        functions.push_back(parent.functions[step.kernel]);
      if (failed(exportGPULaunch(entry, steps, functions,
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

//===----------------------------------------------------------------------===//
// Exporter
//===----------------------------------------------------------------------===//

LogicalResult Exporter::exportTarget() {
  auto target = module->getAttrOfType<TargetAttr>("tracea.target");
  if (!target)
    return module.emitOpError()
           << "has no attribute 'tracea.target'; expected the machine that the "
              "program is for";
  rt::TargetSpec &spec = program.manifest.target;
  spec.kind = stringifyTargetKind(target.getKind()).str();
  spec.name = target.getName().str();
  // Code for a CPU runs on its architecture, code for a GPU on its kind.
  if (target.getKind() == TargetKind::CPU)
    spec.arch = llvm::Triple::getArchTypeName(
                    llvm::Triple(target.getTriple()).getArch())
                    .str();
  else
    spec.arch = target.getCpu().str();
  SmallVector<StringRef> features;
  target.getFeatures().split(features, ',', -1, /*KeepEmpty=*/false);
  for (StringRef feature : features)
    if (feature.consume_front("+"))
      spec.features.push_back(feature.str());
  return success();
}

FailureOr<int64_t> Exporter::exportConstant(memref::GlobalOp global) {
  if (auto it = globals.find(global); it != globals.end())
    return it->second;
  auto value = dyn_cast_or_null<ElementsAttr>(
      global.getInitialValue().value_or(nullptr));
  if (!value)
    return global.emitOpError()
           << "has no initial value; expected the contents of a constant";
  FailureOr<std::vector<uint8_t>> bytes = getBytes(global, value);
  if (failed(bytes))
    return failure();
  StringRef contents(reinterpret_cast<const char *>(bytes->data()),
                     bytes->size());
  rt::Manifest &manifest = program.manifest;
  auto [known, inserted] =
      constants.try_emplace(contents, manifest.constants.size());
  if (inserted) {
    std::vector<uint8_t> &blob = program.blobs[constantsBlob];
    blob.resize(llvm::alignTo(blob.size(), constantAlignment));
    manifest.constants.push_back(
        {constantsBlob, int64_t(blob.size()), int64_t(bytes->size())});
    blob.insert(blob.end(), bytes->begin(), bytes->end());
  }
  globals[global] = known->second;
  return known->second;
}

FailureOr<int64_t> Exporter::exportKernel(LaunchOp launch,
                                          FlatSymbolRefAttr name) {
  auto kernel = symbols.lookup<KernelOp>(name.getValue());
  if (!kernel)
    return launch.emitOpError()
           << "expects a 'tracea_pipe.kernel' named " << name;
  auto [it, inserted] =
      kernels.try_emplace(kernel, program.manifest.kernels.size());
  if (!inserted)
    return it->second;
  if (options.requireProof && failed(requireCertificates(kernel)))
    return failure();
  // Without what was checked it would read and write anything.
  if (LaunchLack lack = findLaunchLack(kernel); lack.launch)
    return emitLaunchLack(kernel, lack);
  rt::KernelSpec spec = describeKernel(kernel);
  spec.blob = codeBlob;
  auto function = code.lookupSymbol<LLVM::LLVMFuncOp>(spec.symbol);
  if (!function)
    return code.emitError()
           << "the lowered module has no function '" << spec.symbol << "'";
  if (isForGPU() && failed(describeGPUKernel(spec, function)))
    return failure();
  if (auto bytes = function->getAttrOfType<IntegerAttr>(kWorkspaceAttrName))
    spec.workspace = bytes.getInt();
  functions.push_back(function);
  program.manifest.kernels.push_back(std::move(spec));
  return it->second;
}

FailureOr<rt::ProgramFile> Exporter::run() {
  program.manifest.producer = options.producer;
  program.blobs.resize(2);
  if (failed(exportTarget()))
    return failure();
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    if (function.isPrivate() || function.isExternal())
      continue;
    if (!options.entry.empty() && function.getName() != options.entry)
      continue;
    FailureOr<rt::EntrySpec> entry = EntryExporter(*this, function).run();
    if (failed(entry))
      return failure();
    program.manifest.entries.push_back(std::move(*entry));
  }
  if (program.manifest.entries.empty()) {
    InFlightDiagnostic diag = module.emitError();
    if (options.entry.empty())
      diag << "the module has no public function; expected an entry";
    else
      diag << "the module has no public function named '" << options.entry
           << "'";
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      diag.attachNote(function.getLoc())
          << "'" << function.getName() << "' is "
          << (function.isPrivate()    ? "private"
              : function.isExternal() ? "without a body"
                                      : "another entry");
    return diag;
  }
  if (program.blobs[constantsBlob].empty())
    program.blobs.pop_back();
  return std::move(program);
}

void mlir::tracea::addImage(rt::ProgramFile &program, rt::ImageKind kind,
                            std::vector<uint8_t> code, StringRef arch,
                            int64_t isa) {
  bool isFirst = program.manifest.images.empty();
  int64_t blob = codeBlob;
  if (isFirst)
    program.blobs[codeBlob] = std::move(code);
  else
    blob = program.addBlob(std::move(code));
  program.manifest.images.push_back({codeBlob, blob, kind, arch.str(), isa});
}

FailureOr<rt::ProgramFile>
mlir::tracea::exportProgram(ModuleOp module, ModuleOp code,
                            const ExportOptions &options) {
  return Exporter(module, code, options).run();
}
