//===- Frontend.cpp - The compiler behind a door without MLIR -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the passes decided is collected from their remarks and by looking at
// the module between passes; no pass knows of it.

#include "Frontend.h"

#include "Stopwatch.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "tracea/Compiler/Compiler.h"
#include "tracea/Compiler/ParseSource.h"
#include "tracea/Compiler/Remarks.h"
#include "tracea/Compiler/SourceLimits.h"
#include "tracea/Dialect/Tracea/IR/Precision.h"
#include "tracea/Dialect/Tracea/IR/TraceaOps.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Dialect/TraceaPipe/Utils/Launches.h"
#include "tracea/Doctor/Doctor.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace ::tracea::driver;
namespace tc = ::tracea::compiler;
namespace alg = ::tracea::algebra;
namespace rt = ::tracea::runtime;
namespace doctor = ::tracea::doctor;

//===----------------------------------------------------------------------===//
// Places and remarks
//===----------------------------------------------------------------------===//

std::string SourcePlace::text() const {
  if (line == 0)
    return "unknown location";
  return file + ":" + std::to_string(line) + ":" + std::to_string(column);
}

static SourcePlace toSourcePlace(const tc::Place &place) {
  return {place.file, place.line, place.column};
}

namespace {
/// What an operation is counted by.
struct Work {
  /// Floating-point operations for each element of the first result, and for
  /// each of the dimension `sumDim` of the first operand; 0 where unknown.
  double flops = 0;
  std::optional<size_t> sumDim;
  SmallVector<int64_t> result;
};

/// Sums of products; normalizations and softmax are bound by memory and not
/// counted.
Work countWork(mlir::tracea::ScheduledOpInterface op,
               const doctor::Problem &problem) {
  Work work;
  double &flops = work.flops;
  if (op->getNumResults() > 0)
    if (auto type = dyn_cast<ShapedType>(op->getResult(0).getType()))
      work.result = llvm::to_vector(type.getShape());
  auto known = [](int64_t extent) { return extent != doctor::kUnknownExtent; };
  switch (problem.kind) {
  case doctor::OpKind::Gemm:
    flops = 2;
    if (known(problem.k))
      flops *= static_cast<double>(problem.k);
    else
      work.sumDim = cast<ShapedType>(op->getOperand(0).getType()).getRank() -
                    (problem.transposeFirst ? 2 : 1);
    break;
  case doctor::OpKind::Conv2D:
    if (known(problem.groupChannels) && known(problem.filterHeight) &&
        known(problem.filterWidth))
      flops = 2.0 * static_cast<double>(problem.groupChannels) *
              static_cast<double>(problem.filterHeight) *
              static_cast<double>(problem.filterWidth);
    break;
  case doctor::OpKind::Conv2DWGrad:
    if (known(problem.images) && known(problem.outputHeight) &&
        known(problem.outputWidth))
      flops = 2.0 * static_cast<double>(problem.images) *
              static_cast<double>(problem.outputHeight) *
              static_cast<double>(problem.outputWidth);
    break;
  case doctor::OpKind::Attention:
  case doctor::OpKind::AttentionQGrad:
  case doctor::OpKind::AttentionKVGrad: {
    // What a mask leaves out is not known here.
    auto attention =
        cast<mlir::tracea::AttentionOpInterface>(op.getOperation());
    if (attention.getCausal() || attention.getWindow() ||
        attention.getBlockMask() || attention.getLengths() ||
        !known(problem.n) || !known(problem.k) || !known(problem.valueDim))
      break;
    auto pairs = static_cast<double>(problem.n);
    auto extents = static_cast<double>(problem.k + problem.valueDim);
    int64_t columns = problem.k;
    if (problem.kind == doctor::OpKind::Attention) {
      columns = problem.valueDim;
    } else if (problem.kind == doctor::OpKind::AttentionQGrad) {
      extents += static_cast<double>(problem.k);
    } else {
      extents *= 2;
      if (!known(problem.m) || !known(problem.sharedHeads))
        break;
      pairs = static_cast<double>(problem.m * problem.sharedHeads);
    }
    if (columns > 0)
      flops = 2.0 * pairs * extents / static_cast<double>(columns);
    break;
  }
  default:
    break;
  }
  return work;
}

/// The launch of several that computes the products. The others copy operands
/// before, add parts or reduce rows after.
tracea_pipe::LaunchOp findProduct(ArrayRef<tracea_pipe::LaunchOp> launches) {
  for (tracea_pipe::LaunchOp launch : launches) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<tracea_pipe::KernelOp>(
        launch, launch.getKernelAttr());
    WalkResult found = kernel->walk([](Operation *op) {
      return isa<tracea_pipe::MmaOp, tracea_pipe::MmaAsyncOp>(op)
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (found.wasInterrupted())
      return launch;
  }
  return launches.size() == 1 ? launches.front() : nullptr;
}

/// What a launch counts for that computes the products of `work`. It writes the
/// result, or as many parts of it as one more dimension has.
void noteWork(const Work &work, tracea_pipe::LaunchOp launch,
              LaunchNote &note) {
  size_t argument = 0;
  for (Value input : launch.getInputs())
    argument += isa<ShapedType>(input.getType());
  for (Value init : launch.getInits()) {
    ArrayRef<int64_t> shape = cast<ShapedType>(init.getType()).getShape();
    double parts = 0;
    if (shape == ArrayRef(work.result))
      parts = 1;
    else if (!shape.empty() && shape.drop_front() == ArrayRef(work.result) &&
             shape.front() > 0)
      parts = static_cast<double>(shape.front());
    if (parts > 0) {
      note.flopsPerElement = work.flops / parts;
      note.argument = argument;
      note.sumDim = work.sumDim;
      return;
    }
    ++argument;
  }
}

std::optional<rt::ElementType> getElementType(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return rt::parseElementType(name);
}

/// A float reduction by a linalg operation.
struct Reduction {
  FloatType type;
  double length = 1;
  bool assumed = false;
};

std::optional<Reduction> getReduction(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op->getNumResults() == 0)
    return std::nullopt;
  Reduction reduction;
  reduction.type =
      dyn_cast<FloatType>(getElementTypeOrSelf(op->getResultTypes().front()));
  if (!reduction.type)
    return std::nullopt;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (auto [extent, iterator] :
       llvm::zip(extents, op.getIteratorTypesArray())) {
    if (iterator != utils::IteratorType::reduction)
      continue;
    if (ShapedType::isDynamic(extent))
      reduction.assumed = true;
    else
      reduction.length *= static_cast<double>(extent);
  }
  if (reduction.assumed)
    reduction.length = assumedReduction;
  return reduction;
}

std::optional<alg::LaneMap> getLaneMap(tracea_pipe::LanesAttr attr) {
  auto convert = [](ArrayRef<DenseI64ArrayAttr> from) {
    std::vector<alg::TileCoord> vectors;
    for (DenseI64ArrayAttr vector : from)
      vectors.emplace_back(vector.asArrayRef().begin(),
                           vector.asArrayRef().end());
    return vectors;
  };
  alg::LaneBases bases;
  bases.reg = convert(attr.getReg());
  bases.lane = convert(attr.getLane());
  bases.warp = convert(attr.getWarp());
  alg::TileCoord linear, outer(attr.getOuter().begin(), attr.getOuter().end());
  for (auto [extent, repeats] : llvm::zip(attr.getTileShape(), outer))
    linear.push_back(extent / repeats);
  alg::Expected<alg::LaneMap> lanes = alg::LaneMap::get(linear, bases, outer);
  return lanes ? std::optional<alg::LaneMap>(*lanes) : std::nullopt;
}

/// Looks at the module after the passes that decide.
class Observer : public PassInstrumentation {
public:
  explicit Observer(CompileReport &report) : report(report) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    ModuleOp module = dyn_cast<ModuleOp>(op);
    // Launches number the operations as they stand here.
    if (module && pass->getArgument() == "convert-tracea-to-tracea-pipe")
      recordDecisions(module);
  }

  void runAfterPass(Pass *pass, Operation *op) override {
    ModuleOp module = dyn_cast<ModuleOp>(op);
    if (!module)
      return;
    StringRef argument = pass->getArgument();
    if (argument == "tracea-select-schedule")
      recordNarrowReductions(module);
    else if (argument == "tracea-deduplicate-kernels")
      recordLaunches(module);
    else if (argument == "tracea-promote-to-f64")
      recordReductions(module);
    else if (argument == "tracea-pipeline-kernels")
      recordTiles(module);
  }

private:
  void recordDecisions(ModuleOp module) {
    // A problem that cannot be stated has been reported by the pass.
    ScopedDiagnosticHandler quiet(module.getContext(),
                                  [](Diagnostic &) { return success(); });
    report.decisions.clear();
    work.clear();
    module.walk([&](mlir::tracea::ScheduledOpInterface op) {
      mlir::tracea::ScheduleAttr schedule = op.getScheduleAttr();
      if (!schedule)
        return;
      OpDecision decision;
      decision.place = toSourcePlace(tc::getPlace(op.getLoc()));
      decision.op = op->getName().getStringRef().str();
      decision.variant = schedule.getVariant().str();
      llvm::raw_string_ostream(decision.schedule) << schedule;
      FailureOr<doctor::Problem> problem = mlir::tracea::getProblem(op);
      work.push_back(succeeded(problem) ? countWork(op, *problem) : Work());
      report.decisions.push_back(std::move(decision));
    });
  }

  void recordLaunches(ModuleOp module) {
    std::vector<SmallVector<tracea_pipe::LaunchOp>> launches(
        report.decisions.size());
    module.walk([&](tracea_pipe::LaunchOp launch) {
      std::optional<int64_t> operation =
          tracea_pipe::getLaunchedOperation(launch);
      if (operation && *operation < int64_t(launches.size()))
        launches[*operation].push_back(launch);
    });
    for (auto [decision, ops, counted] :
         llvm::zip_equal(report.decisions, launches, work)) {
      decision.launches.clear();
      tracea_pipe::LaunchOp product = findProduct(ops);
      for (tracea_pipe::LaunchOp launch : ops) {
        LaunchNote &note = decision.launches.emplace_back();
        for (FlatSymbolRefAttr kernel : launch.getKernels())
          note.kernels.push_back(kernel.getValue().str());
        if (launch == product)
          noteWork(counted, launch, note);
      }
    }
  }

  void recordTiles(ModuleOp module) {
    for (auto kernel : module.getOps<tracea_pipe::KernelOp>()) {
      llvm::SetVector<tracea_pipe::LanesAttr> maps;
      kernel.walk([&](Operation *op) {
        for (Type type : op->getResultTypes())
          if (tracea_pipe::isRegisterTile(type))
            maps.insert(tracea_pipe::getLanes(type));
      });
      for (tracea_pipe::LanesAttr map : maps)
        if (std::optional<alg::LaneMap> lanes = getLaneMap(map))
          report.tiles.push_back({kernel.getSymName().str(), *lanes});
    }
  }

  /// The reference: all its sums are linalg operations.
  void recordReductions(ModuleOp module) {
    module.walk([&](linalg::LinalgOp op) {
      if (std::optional<Reduction> reduction = getReduction(op)) {
        report.reductionAssumed |= reduction->assumed;
        report.reductionLength += reduction->length;
      }
    });
  }

  /// What no variant took over before the decision level becomes plain loops
  /// with the types it has.
  void recordNarrowReductions(ModuleOp module) {
    module.walk([&](linalg::LinalgOp op) {
      std::optional<Reduction> reduction = getReduction(op);
      if (!reduction || reduction->type.getFPMantissaWidth() >= 24)
        return;
      std::optional<rt::ElementType> type = getElementType(reduction->type);
      if (!type)
        return;
      report.narrowReductionLength += reduction->length;
      if (!report.narrowReduction || *type == rt::ElementType::BF16)
        report.narrowReduction = type;
    });
  }

  CompileReport &report;
  /// By decision.
  std::vector<Work> work;
};
} // namespace

//===----------------------------------------------------------------------===//
// Frontend
//===----------------------------------------------------------------------===//

struct Frontend::Impl {
  // Declared first: the context's remark engine refers to it.
  tc::RemarkCollector remarks;
  llvm::SourceMgr sources;
  std::unique_ptr<MLIRContext> context;
  std::unique_ptr<SourceMgrDiagnosticHandler> handler;
  OwningOpRef<ModuleOp> module;
  double parseSeconds = 0;
  tc::StepTimes times;

  tc::CompileOptions begin(const CompileRequest &request,
                           CompileReport *report) {
    tc::CompileOptions options;
    options.target = request.target;
    options.entry = request.entry;
    options.reference = request.reference;
    options.requireProof = request.requireProof;
    options.bankCycles = request.bankCycles;
    options.threads = request.threads;
    options.fuse = request.fuse == "none"  ? tc::Fusion::None
                   : request.fuse == "all" ? tc::Fusion::All
                                           : tc::Fusion::Safe;
    options.assemble = request.assemble;
    times = {{{"parsing", parseSeconds}}};
    options.times = &times;
    if (report)
      options.configure = [report](PassManager &manager) {
        manager.addInstrumentation(std::make_unique<Observer>(*report));
      };
    if (report)
      remarks.start();
    return options;
  }

  void end(CompileReport *report) {
    if (!report)
      return;
    for (const auto &[step, seconds] : times.steps)
      report->times.push_back({step, seconds});
    for (tc::Remark &remark : remarks.finish())
      report->remarks.push_back(
          {toSourcePlace(remark.place), std::move(remark.kind),
           std::move(remark.category), std::move(remark.name),
           std::move(remark.text)});
  }
};

Frontend::Frontend(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Frontend::~Frontend() = default;

std::unique_ptr<Frontend> Frontend::parse(const std::string &name,
                                          rt::Bytes text) {
  Stopwatch watch;
  auto impl = std::make_unique<Impl>();
  DialectRegistry registry;
  tc::registerAllDialects(registry);
  impl->context = std::make_unique<MLIRContext>(registry);
  // Messages show the line; the operation in its generic form adds nothing.
  impl->context->printOpOnDiagnostic(false);
  impl->sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(
          StringRef(reinterpret_cast<const char *>(text.data()), text.size()),
          name),
      llvm::SMLoc());
  impl->handler = std::make_unique<SourceMgrDiagnosticHandler>(
      impl->sources, impl->context.get(), llvm::errs());
  StringRef contents =
      impl->sources.getMemoryBuffer(impl->sources.getMainFileID())->getBuffer();
  if (std::optional<tc::DeepNesting> deep = tc::findDeepNesting(contents)) {
    // Without the line itself, which is likely to be all of the file.
    llvm::errs() << name << ":" << deep->line << ":" << deep->column
                 << ": error: " << deep->message << "\n";
    return nullptr;
  }
  impl->module = tc::parseSource(impl->sources, *impl->context);
  if (!impl->module)
    return nullptr;
  if (failed(impl->remarks.attach(*impl->context)))
    return nullptr;
  impl->parseSeconds = watch.seconds();
  return std::unique_ptr<Frontend>(new Frontend(std::move(impl)));
}

std::vector<std::string> Frontend::publicFunctions() const {
  std::vector<std::string> names;
  for (func::FuncOp function : impl->module->getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      names.push_back(function.getName().str());
  return names;
}

std::optional<rt::ElementType>
Frontend::coarsestFloat(const std::string &entry) const {
  unsigned fewest = ~0u;
  std::optional<rt::ElementType> coarsest;
  auto look = [&](Type type) {
    FloatType element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
    if (!element || element.getFPMantissaWidth() >= fewest)
      return;
    if (std::optional<rt::ElementType> known = getElementType(element)) {
      fewest = element.getFPMantissaWidth();
      coarsest = known;
    }
  };
  ModuleOp module = *impl->module;
  llvm::SetVector<Operation *> functions;
  if (Operation *first = module.lookupSymbol(entry))
    functions.insert(first);
  for (size_t i = 0; i < functions.size(); ++i)
    functions[i]->walk([&](Operation *op) {
      llvm::for_each(op->getResultTypes(), look);
      // Floats of 8 bits are read; nothing is rounded to them in between.
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Type type : block.getArgumentTypes())
            if (!isa<Float8E4M3FNType, Float8E5M2Type>(
                    getElementTypeOrSelf(type)))
              look(type);
      if (func::CallOp call = dyn_cast<func::CallOp>(op))
        if (Operation *callee = module.lookupSymbol(call.getCallee()))
          functions.insert(callee);
    });
  return coarsest;
}

bool Frontend::allowsTF32() const {
  ModuleOp module = *impl->module;
  return mlir::tracea::allowsTF32(module) ||
         llvm::any_of(*module.getBody(), [](Operation &op) {
           return op.hasAttr(mlir::tracea::kAllowTF32AttrName);
         });
}

std::optional<rt::ProgramFile> Frontend::compile(const CompileRequest &request,
                                                 CompileReport *report) {
  tc::CompileOptions options = impl->begin(request, report);
  FailureOr<rt::ProgramFile> program =
      tc::compileToProgram(*impl->module, options);
  impl->end(report);
  if (failed(program))
    return std::nullopt;
  return std::move(*program);
}

bool Frontend::hasKernels() const {
  return !impl->module->getOps<tracea_pipe::KernelOp>().empty();
}

std::optional<rt::Manifest> Frontend::prove(const CompileRequest &request,
                                            CompileReport *report) {
  tc::CompileOptions options = impl->begin(request, report);
  FailureOr<std::vector<rt::KernelSpec>> kernels =
      tc::proveKernels(*impl->module, options);
  impl->end(report);
  if (failed(kernels))
    return std::nullopt;
  rt::Manifest manifest;
  manifest.kernels = std::move(*kernels);
  if (auto target =
          (*impl->module)
              ->getAttrOfType<mlir::tracea::TargetAttr>("tracea.target")) {
    manifest.target.name = target.getName().str();
    manifest.target.kind =
        mlir::tracea::stringifyTargetKind(target.getKind()).str();
  }
  return manifest;
}

std::optional<std::string> Frontend::emit(const std::string &form,
                                          const CompileRequest &request,
                                          CompileReport *report) {
  std::optional<tc::Emit> what = tc::parseEmit(form);
  if (!what) {
    emitError(UnknownLoc::get(impl->context.get()))
        << "unknown form '" << form << "'; expected one of "
        << tc::listEmitNames();
    return std::nullopt;
  }
  tc::CompileOptions options = impl->begin(request, report);
  FailureOr<std::string> text = tc::emit(*impl->module, *what, options);
  impl->end(report);
  if (failed(text))
    return std::nullopt;
  return std::move(*text);
}

std::string(::tracea::driver::loadPlugin)(const std::string &path) {
  llvm::Expected<PassPlugin> plugin = PassPlugin::load(path);
  if (!plugin)
    return llvm::toString(plugin.takeError());
  plugin->registerPassRegistryCallbacks();
  return "";
}

void ::tracea::driver::installCrashHandler(const char *program) {
  llvm::setBugReportMsg("This is a bug in tracea. Please report it with the "
                        "module, the command and the output of "
                        "'tracea doctor'.\n");
  llvm::EnablePrettyStackTrace();
  llvm::sys::PrintStackTraceOnErrorSignal(program);
}

std::string(::tracea::driver::llvmVersion)() { return LLVM_VERSION_STRING; }
