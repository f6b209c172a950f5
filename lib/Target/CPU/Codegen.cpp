//===- Codegen.cpp - Machine code for the CPU's kernels -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Target/CPU/Codegen.h"

#include "HalfConversions.h"
#include "MaskedHalves.h"
#include "SingleLaneStores.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
#include "tracea/Target/Split/CompileParts.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/StandardInstrumentations.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

using namespace mlir;
using namespace mlir::tracea;

FailureOr<CPUMachine> CPUMachine::get(ModuleOp module) {
  auto target = module->getAttrOfType<TargetAttr>("tracea.target");
  if (!target)
    return module.emitOpError()
           << "has no attribute 'tracea.target'; expected the machine to "
              "generate code for";
  if (target.getKind() != TargetKind::CPU)
    return module.emitOpError()
           << "is for a target of kind '"
           << stringifyTargetKind(target.getKind()) << "'; expected 'cpu'";
  CPUMachine machine;
  machine.triple = target.getTriple().str();
  machine.cpu = target.getCpu().str();
  machine.features = target.getFeatures().str();
  machine.vectorBits = target.getVectorBits();
  return machine;
}

static void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
  });
}

static FailureOr<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(ModuleOp module, const CPUMachine &machine) {
  initializeTargets();
  llvm::Triple triple(machine.triple);
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return module.emitError()
           << "no code generator for '" << machine.triple << "': " << error;
  llvm::TargetOptions options;
  options.FunctionSections = true;
  std::unique_ptr<llvm::TargetMachine> result(target->createTargetMachine(
      triple, machine.cpu, machine.features, options, llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!result)
    return module.emitError() << "the code generator for '" << machine.triple
                              << "' has no CPU '" << machine.cpu << "'";
  return result;
}

/// Gives every function the machine's attributes: LLVM reads the CPU, the
/// features and the vector width from there.
static void annotate(llvm::Module &module, const CPUMachine &machine) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.cpu);
    if (!machine.features.empty())
      function.addFnAttr("target-features", machine.features);
    if (machine.vectorBits)
      function.addFnAttr("prefer-vector-width",
                         std::to_string(machine.vectorBits));
    function.addFnAttr(llvm::Attribute::NoUnwind);
    // Copies into slots are short rows: a call of memcpy costs more than it
    // saves.
    function.addFnAttr("no-builtins");
  }
}

/// Passes for functions whose vectors, unrolling and order of loops were chosen
/// by a schedule: what cleans up, without what looks for vectors. The full
/// pipeline takes three times as long here and finds nothing.
static constexpr llvm::StringLiteral kVectorizedPipeline =
    "function<eager-inv>("
    "sroa<modify-cfg>,early-cse<memssa>,simplifycfg,"
    "instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-instsimplify,loop-simplifycfg,licm<allowspeculation>,"
    "loop-rotate<header-duplication>,licm<allowspeculation>),"
    "simplifycfg,gvn,instcombine<no-verify-fixpoint>,"
    "loop(indvars,loop-deletion,loop-unroll-full),"
    "sroa<modify-cfg>,early-cse<memssa>,sccp,dse,adce,simplifycfg,"
    "instcombine<no-verify-fixpoint>,loop-mssa(licm<allowspeculation>),"
    "early-cse,simplifycfg)";

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  // In one block, such as that of a kernel's entry, is no loop to vectorize.
  auto isSearched = [](const llvm::Function &function) {
    return function.size() > 1 && !function.hasFnAttribute("tracea-vectorized");
  };
  auto isCleaned = [&](const llvm::Function &function) {
    return !function.isDeclaration() && !isSearched(function);
  };
  bool someSearched = llvm::any_of(module, isSearched);
  bool someCleaned = llvm::any_of(module, isCleaned);

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  // Makes passes respect `optnone`.
  llvm::PassInstrumentationCallbacks callbacks;
  llvm::StandardInstrumentations instrumentations(module.getContext(),
                                                  /*DebugLogging=*/false);
  instrumentations.registerCallbacks(callbacks, &modules);
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  tuning.LoopInterleaving = true;
  tuning.LoopUnrolling = true;
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);

  // Each pipeline passes the other one's functions by. The functions are looked
  // up each time: interprocedural passes may replace them.
  auto skip = [&](auto isSkipped, llvm::ModulePassManager passes) {
    for (llvm::Function &function : module)
      if (!function.isDeclaration() && isSkipped(function))
        function.addFnAttr(llvm::Attribute::OptimizeNone);
    passes.run(module, modules);
    for (llvm::Function &function : module)
      function.removeFnAttr(llvm::Attribute::OptimizeNone);
  };
  if (someSearched)
    skip(isCleaned,
         builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3));
  if (someCleaned) {
    llvm::ModulePassManager passes;
    llvm::cantFail(builder.parsePassPipeline(passes, kVectorizedPipeline));
    skip(isSearched, std::move(passes));
  }
}

/// Starting a part costs a twentieth of what a kernel does, and kernels that
/// take long are seldom many.
constexpr size_t kKernelsInPart = 1;

/// The code of the part, not optimized yet.
static LogicalResult translate(CodePart &part, const CPUMachine &machine) {
  FailureOr<std::unique_ptr<llvm::TargetMachine>> target =
      createTargetMachine(*part.module, machine);
  if (failed(target))
    return failure();
  part.target = std::move(*target);
  part.code = translateModuleToLLVMIR(*part.module, part.context, "kernels");
  if (!part.code)
    return failure();
  part.code->setTargetTriple(llvm::Triple(machine.triple));
  part.code->setDataLayout(part.target->createDataLayout());
  part.code->setPICLevel(llvm::PICLevel::BigPIC);
  addHalfConversions(*part.code);
  annotate(*part.code, machine);
  return success();
}

static LogicalResult compile(CodePart &part, CPUOutput output) {
  optimize(*part.code, *part.target);
  storeSingleLanes(*part.code);
  loadHalvesAsIntegers(*part.code);
  if (output == CPUOutput::LLVMIR) {
    llvm::raw_string_ostream stream(part.result);
    part.code->print(stream, nullptr);
    return success();
  }
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream bytes(buffer);
  llvm::legacy::PassManager passes;
  llvm::CodeGenFileType fileType = output == CPUOutput::Assembly
                                       ? llvm::CodeGenFileType::AssemblyFile
                                       : llvm::CodeGenFileType::ObjectFile;
  if (part.target->addPassesToEmitFile(passes, bytes, nullptr, fileType))
    return part.module->emitError()
           << "the code generator for '" << part.code->getTargetTriple().str()
           << "' cannot write this kind of file";
  passes.run(*part.code);
  part.result.assign(buffer.data(), buffer.size());
  return success();
}

static FailureOr<std::vector<std::string>> generate(ModuleOp module,
                                                    const CPUMachine &machine,
                                                    CPUOutput output,
                                                    size_t kernelsInPart) {
  MLIRContext *context = module.getContext();
  registerBuiltinDialectTranslation(*context);
  registerLLVMDialectTranslation(*context);
  return compileParts(
      module, kernelsInPart,
      [&](CodePart &part) { return translate(part, machine); },
      [&](CodePart &part) { return compile(part, output); });
}

FailureOr<std::string> mlir::tracea::generateCode(ModuleOp module,
                                                  const CPUMachine &machine,
                                                  CPUOutput output) {
  FailureOr<std::vector<std::string>> parts =
      generate(module, machine, output, kOnePart);
  if (failed(parts))
    return failure();
  return std::move(parts->front());
}

FailureOr<std::vector<std::string>>
mlir::tracea::generateObjects(ModuleOp module, const CPUMachine &machine) {
  return generate(module, machine, CPUOutput::Object, kKernelsInPart);
}
