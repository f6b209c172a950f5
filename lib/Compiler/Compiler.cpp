//===- Compiler.cpp - Compile modules from C++ ----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Compiler/Compiler.h"

#include "CompileCUDA.h"
#include "StepTimer.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "tracea/Compiler/ParseSource.h"
#include "tracea/Compiler/SourceLimits.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
#include "tracea/Dialect/TraceaPipe/IR/KernelInterface.h"
#include "tracea/Pipelines/NextSchedule.h"
#include "tracea/Pipelines/Passes.h"
#include "tracea/Pipelines/Pipelines.h"
#include "tracea/Target/CPU/Codegen.h"
#include "tracea/Target/Program/Export.h"
#include "tracea/TargetInfo/Host.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace ::tracea::compiler;
namespace rt = ::tracea::runtime;
namespace tc = ::tracea::compiler;
namespace hardware = ::tracea::target;

static constexpr std::pair<llvm::StringLiteral, Emit> emitNames[] = {
    {"semantic", Emit::Semantic},
    {"decision", Emit::Decision},
    {"tile", Emit::Tile},
    {"pipeline", Emit::Pipeline},
    {"llvm-dialect", Emit::LLVMDialect},
    {"llvm", Emit::LLVMIR},
    {"asm", Emit::Assembly},
    {"object", Emit::Object},
    {"ptx", Emit::PTX},
    {"cubin", Emit::Cubin},
    {"program-manifest", Emit::Manifest},
    {"program", Emit::Program}};

std::optional<Emit> tc::parseEmit(StringRef name) {
  for (const auto &[text, value] : emitNames)
    if (text == name)
      return value;
  return std::nullopt;
}

std::string tc::listEmitNames() {
  std::string list;
  llvm::ListSeparator separator;
  for (const auto &[text, value] : emitNames)
    (list += separator) += text;
  return list;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

OwningOpRef<ModuleOp> tc::parseModule(StringRef text, MLIRContext &context,
                                      StringRef name) {
  if (std::optional<DeepNesting> deep = findDeepNesting(text)) {
    emitError(FileLineColLoc::get(&context, name, deep->line, deep->column))
        << deep->message;
    return nullptr;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name),
                             llvm::SMLoc());
  return parseSource(sources, context);
}

OwningOpRef<ModuleOp> tc::parseModuleFile(StringRef path,
                                          MLIRContext &context) {
  ::tracea::runtime::Expected<std::unique_ptr<llvm::MemoryBuffer>> file =
      readModuleText(path.str());
  if (!file) {
    emitError(UnknownLoc::get(&context)) << file.message();
    return nullptr;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  return parseSource(sources, context);
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

static FusionLevel getFusionLevel(Fusion fuse) {
  switch (fuse) {
  case Fusion::None:
    return FusionLevel::None;
  case Fusion::Safe:
    return FusionLevel::Safe;
  case Fusion::All:
    return FusionLevel::All;
  }
  llvm_unreachable("all levels are listed");
}

/// Runs the phases `from` to `to` on `module`.
static LogicalResult runPhases(ModuleOp module, Phase from, Phase to,
                               const CompileOptions &options) {
  PassManager manager(module.getContext());
  CompilePipelineOptions pipeline;
  pipeline.target = options.target;
  pipeline.threads = options.threads;
  pipeline.reference = options.reference;
  pipeline.requireProof = options.requireProof;
  pipeline.bankCycles = options.bankCycles;
  pipeline.fuse = getFusionLevel(options.fuse);
  pipeline.from = from;
  pipeline.to = to;
  buildCompilePipeline(manager, pipeline);
  if (options.configure)
    options.configure(manager);
  return runTimed(manager, module, options.times);
}

/// Makes all functions but the entry private, so that they are inlined or
/// dropped.
static LogicalResult selectEntry(ModuleOp module,
                                 const CompileOptions &options) {
  if (options.entry.empty())
    return success();
  bool found = false;
  SmallVector<StringRef> names;
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (!function.isPublic() || isa<tracea_pipe::KernelOp>(function))
      continue;
    names.push_back(function.getName());
    if (function.getName() == options.entry)
      found = true;
    else
      function.setPrivate();
  }
  if (found)
    return success();
  InFlightDiagnostic diag = module.emitError()
                            << "no public function is named '" << options.entry
                            << "'; expected one of";
  llvm::ListSeparator separator(",");
  for (StringRef name : names)
    diag << StringRef(separator) << " '" << name << "'";
  return diag;
}

/// Lowers the kernels of `module` in place, to the LLVM dialect. What is proved
/// is the module that this one is a copy of; what is checked of lowered kernels
/// is left to the caller.
static LogicalResult lowerKernels(ModuleOp module,
                                  const CompileOptions &options) {
  PassManager manager(module.getContext());
  LowerToTargetOptions lower;
  lower.reference = options.reference;
  lower.verify = false;
  manager.addPass(createLowerToTarget(lower));
  if (options.configure)
    options.configure(manager);
  return runTimed(manager, module, options.times);
}

/// Adds the code of a CPU's kernels.
static LogicalResult addCPUCode(rt::ProgramFile &program, ModuleOp code,
                                const CompileOptions &options) {
  FailureOr<CPUMachine> machine = CPUMachine::get(code);
  if (failed(machine))
    return failure();
  FailureOr<std::vector<std::string>> objects = failure();
  {
    StepTimer timer(options.times, "code generation");
    objects = generateObjects(code, *machine);
  }
  if (failed(objects))
    return failure();
  std::string message;
  StepTimer timer(options.times, "linking");
  FailureOr<std::vector<uint8_t>> linked = linkSharedObject(*objects, message);
  if (failed(linked))
    return code.emitError() << "linking the kernels failed: " << message;
  addImage(program, rt::ImageKind::Object, std::move(*linked),
           program.manifest.target.arch);
  return success();
}

FailureOr<rt::ProgramFile>
tc::translateToProgram(ModuleOp module, const CompileOptions &options) {
  OwningOpRef<ModuleOp> code(module.clone());
  if (!module.getOps<tracea_pipe::KernelOp>().empty() &&
      failed(lowerKernels(*code, options)))
    return failure();
  auto describe = [&] {
    ExportOptions exportOptions;
    exportOptions.entry = options.entry;
    exportOptions.requireProof = options.requireProof;
    StepTimer timer(options.times, "manifest");
    return exportProgram(module, *code, exportOptions);
  };
  FailureOr<rt::ProgramFile> program =
      isForCUDA(module) ? makeCUDAProgram(*code, describe, options)
                        : describe();
  // With nothing to run there is no code: kernels refer to the first blob in
  // every program.
  if (failed(program) || program->manifest.kernels.empty())
    return program;
  if (!isForCUDA(module) && failed(addCPUCode(*program, *code, options)))
    return failure();
  if (rt::Status status = program->validate(); !status.ok())
    return module.emitError()
           << "the program is not well formed: " << status.message();
  return program;
}

/// From the text to the phase `last`, then `finish`: what either says against a
/// schedule that was chosen, the next one answers.
static LogicalResult lowerAll(ModuleOp module, Phase last,
                              const CompileOptions &options,
                              function_ref<LogicalResult(ModuleOp)> finish) {
  if (failed(selectEntry(module, options)) ||
      failed(runPhases(module, Phase::Semantic, Phase::Semantic, options)))
    return failure();
  if (last < Phase::Tile) {
    if (last == Phase::Decision &&
        failed(runPhases(module, Phase::Decision, last, options)))
      return failure();
    return finish(module);
  }
  return lowerWithNextSchedules(
      module,
      [&](ModuleOp copy) {
        return runPhases(copy, Phase::Decision, Phase::Decision, options);
      },
      [&](ModuleOp copy) {
        return success(succeeded(runPhases(copy, Phase::Tile, last, options)) &&
                       succeeded(finish(copy)));
      });
}

/// Compiles for one target.
static FailureOr<rt::ProgramFile>
compileVersion(ModuleOp module, const CompileOptions &options) {
  OwningOpRef<ModuleOp> copy(module.clone());
  FailureOr<rt::ProgramFile> program = failure();
  if (failed(lowerAll(*copy, Phase::Pipeline, options, [&](ModuleOp lowered) {
        program = translateToProgram(lowered, options);
        return LogicalResult(program);
      })))
    return failure();
  return program;
}

/// A processor that runs code for the second target runs code for the first.
static bool runsWhereverRuns(const hardware::TargetDescription &first,
                             const hardware::TargetDescription &second) {
  return first.kind == hardware::TargetKind::CPU && second.kind == first.kind &&
         second.arch == first.arch &&
         llvm::all_of(first.features, [&](const std::string &feature) {
           return llvm::is_contained(second.features, feature);
         });
}

/// Each of the targets that a program has versions for can be taken.
static LogicalResult checkTargets(ModuleOp module,
                                  ArrayRef<StringRef> targets) {
  if (module->hasAttr(TraceaDialect::kTargetAttrName))
    return module.emitError() << "the module is for one target already; "
                                 "expected one without to compile for several";
  std::vector<hardware::TargetDescription> before;
  for (StringRef target : targets) {
    std::optional<hardware::TargetDescription> found =
        hardware::resolve(std::string_view(target.data(), target.size()));
    // Compiling for it says so.
    if (!found)
      return success();
    for (const hardware::TargetDescription &other : before) {
      if (other.name == found->name)
        return module.emitError() << "expected different targets, found '"
                                  << found->name << "' twice";
      if (runsWhereverRuns(other, *found))
        return module.emitError() << "the version for '" << found->name
                                  << "' would never be taken: a machine that "
                                     "runs it runs that for '"
                                  << other.name
                                  << "' too, which stands before it; expected "
                                     "the target that asks "
                                     "for more first";
    }
    before.push_back(*found);
  }
  return success();
}

FailureOr<rt::ProgramFile> tc::compileToProgram(ModuleOp module,
                                                const CompileOptions &options) {
  SmallVector<StringRef> targets;
  StringRef(options.target).split(targets, ',');
  if (targets.size() == 1)
    return compileVersion(module, options);
  if (failed(checkTargets(module, targets)))
    return failure();
  std::optional<rt::ProgramFile> program;
  for (StringRef target : targets) {
    CompileOptions version = options;
    version.target = target.str();
    FailureOr<rt::ProgramFile> compiled = compileVersion(module, version);
    if (failed(compiled))
      return failure();
    if (program)
      program->addVersions(std::move(*compiled));
    else
      program = std::move(*compiled);
  }
  if (rt::Status status = program->validate(); !status.ok())
    return module.emitError()
           << "the program is not well formed: " << status.message();
  return std::move(*program);
}

FailureOr<std::vector<rt::KernelSpec>>
tc::proveKernels(ModuleOp module, const CompileOptions &options) {
  OwningOpRef<ModuleOp> copy(module.clone());
  if (failed(runPhases(*copy, Phase::Pipeline, Phase::Pipeline, options)))
    return failure();
  std::vector<rt::KernelSpec> kernels;
  for (auto kernel : copy->getOps<tracea_pipe::KernelOp>())
    kernels.push_back(describeKernel(kernel));
  return kernels;
}

/// The last phase before `what` can be written.
static Phase getLastPhase(Emit what) {
  switch (what) {
  case Emit::Semantic:
    return Phase::Semantic;
  case Emit::Decision:
    return Phase::Decision;
  case Emit::Tile:
    return Phase::Tile;
  case Emit::Pipeline:
  case Emit::Manifest:
  case Emit::Program:
    return Phase::Pipeline;
  case Emit::LLVMDialect:
  case Emit::LLVMIR:
  case Emit::Assembly:
  case Emit::Object:
  case Emit::PTX:
  case Emit::Cubin:
    return Phase::Target;
  }
  llvm_unreachable("an unknown form");
}

/// A program's bytes, or its manifest.
static FailureOr<std::string>
writeProgram(ModuleOp module, const rt::ProgramFile &program, Emit what) {
  if (what == Emit::Manifest) {
    if (!program.others.empty())
      return module.emitError()
             << "a manifest is for one target, found "
             << program.versions().size() << "; expected one, or a program";
    rt::Expected<std::string> json = rt::toJSON(program.manifest);
    if (!json)
      return module.emitError() << json.message();
    return *json;
  }
  rt::Expected<std::vector<uint8_t>> bytes = program.serialize();
  if (!bytes)
    return module.emitError() << bytes.message();
  return std::string(bytes->begin(), bytes->end());
}

FailureOr<std::string> tc::emit(ModuleOp module, Emit what,
                                const CompileOptions &options) {
  if (what == Emit::Manifest || what == Emit::Program) {
    FailureOr<rt::ProgramFile> program = compileToProgram(module, options);
    if (failed(program))
      return failure();
    return writeProgram(module, *program, what);
  }
  OwningOpRef<ModuleOp> copy(module.clone());
  FailureOr<std::string> text = failure();
  if (failed(
          lowerAll(*copy, getLastPhase(what), options, [&](ModuleOp lowered) {
            text = emitLowered(lowered, what, options);
            return LogicalResult(text);
          })))
    return failure();
  return text;
}

FailureOr<std::string> tc::emitLowered(ModuleOp module, Emit what,
                                       const CompileOptions &options) {
  std::string text;
  switch (what) {
  case Emit::Semantic:
  case Emit::Decision:
  case Emit::Tile:
  case Emit::Pipeline:
  case Emit::LLVMDialect: {
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    stream << "\n";
    return text;
  }
  case Emit::LLVMIR:
  case Emit::Assembly:
  case Emit::Object: {
    if (isForCUDA(module))
      return what == Emit::LLVMIR     ? emitCUDALLVM(module, options)
             : what == Emit::Assembly ? emitPTX(module, options)
                                      : emitCubin(module, options);
    FailureOr<CPUMachine> machine = CPUMachine::get(module);
    if (failed(machine))
      return failure();
    StepTimer timer(options.times, "code generation");
    return generateCode(module, *machine,
                        what == Emit::LLVMIR     ? CPUOutput::LLVMIR
                        : what == Emit::Assembly ? CPUOutput::Assembly
                                                 : CPUOutput::Object);
  }
  case Emit::PTX:
    return emitPTX(module, options);
  case Emit::Cubin:
    return emitCubin(module, options);
  case Emit::Manifest:
  case Emit::Program: {
    FailureOr<rt::ProgramFile> program = translateToProgram(module, options);
    if (failed(program))
      return failure();
    return writeProgram(module, *program, what);
  }
  }
  llvm_unreachable("an unknown form");
}
