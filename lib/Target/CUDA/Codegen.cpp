//===- Codegen.cpp - PTX for NVIDIA's GPUs --------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Target/CUDA/Codegen.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "tracea/Target/Split/CompileParts.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

using namespace mlir;
using namespace mlir::tracea;

constexpr StringLiteral kTriple = "nvptx64-nvidia-cuda";

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
createTargetMachine(ModuleOp module, const CUDAMachine &machine) {
  initializeTargets();
  llvm::Triple triple(kTriple);
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return module.emitError()
           << "no code generator for '" << kTriple << "': " << error;
  llvm::TargetOptions options;
  // Pointers of 32 bits into shared memory.
  options.MCOptions.ABIName = "shortptr";
  std::unique_ptr<llvm::TargetMachine> result(target->createTargetMachine(
      triple, machine.chip, machine.features, options, std::nullopt,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!result)
    return module.emitError() << "the code generator for '" << kTriple
                              << "' has no '" << machine.chip << "'";
  return result;
}

/// All of it: without optimization multiplies of the matrix unit would be
/// serialized.
static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
}

/// Removes from parameters what the compiler says of them to itself; the
/// translation would warn that LLVM has no such attributes.
static void dropOwnAttributes(ModuleOp module) {
  module.walk([](LLVM::LLVMFuncOp function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      for (NamedAttribute attribute :
           function_interface_impl::getArgAttrs(function, i))
        if (attribute.getName().strref().starts_with("tracea."))
          function.removeArgAttr(i, attribute.getName());
  });
}

/// So many that starting a part costs little beside them.
constexpr size_t kKernelsInPart = 8;

/// The code of the part, not optimized yet.
static LogicalResult translate(CodePart &part, const CUDAMachine &machine) {
  FailureOr<std::unique_ptr<llvm::TargetMachine>> target =
      createTargetMachine(*part.module, machine);
  if (failed(target))
    return failure();
  part.target = std::move(*target);
  dropOwnAttributes(*part.module);
  part.code = translateModuleToLLVMIR(*part.module, part.context, "kernels");
  if (!part.code)
    return failure();
  part.code->setTargetTriple(llvm::Triple(kTriple));
  part.code->setDataLayout(part.target->createDataLayout());
  for (llvm::Function &function : *part.code)
    if (!function.isDeclaration()) {
      function.addFnAttr("target-cpu", machine.chip);
      function.addFnAttr("target-features", machine.features);
    }
  return success();
}

static LogicalResult compile(CodePart &part, CUDAOutput output) {
  optimize(*part.code, *part.target);
  if (output == CUDAOutput::LLVMIR) {
    llvm::raw_string_ostream stream(part.result);
    part.code->print(stream, nullptr);
    return success();
  }
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream bytes(buffer);
  llvm::legacy::PassManager passes;
  if (part.target->addPassesToEmitFile(passes, bytes, nullptr,
                                       llvm::CodeGenFileType::AssemblyFile))
    return part.module->emitError()
           << "the code generator for '" << kTriple << "' cannot write PTX";
  passes.run(*part.code);
  part.result.assign(buffer.data(), buffer.size());
  return success();
}

/// The parts as one text: its head once, and once what several declare.
static std::string joinPTX(ArrayRef<std::string> parts) {
  constexpr StringLiteral lastOfHead = ".address_size 64\n";
  std::string text = parts.front();
  llvm::StringSet<> declared;
  // What is declared between braces is a function's own, such as a predicate of
  // inline assembly.
  int64_t depth = 0;
  auto isDeclaration = [&](StringRef line) {
    bool isOutside = depth == 0;
    depth += int64_t(line.count('{')) - int64_t(line.count('}'));
    return isOutside && line.starts_with(".") && line.ends_with(";");
  };
  for (StringRef line : llvm::split(text, '\n'))
    if (isDeclaration(line))
      declared.insert(line);
  for (const std::string &part : parts.drop_front())
    for (StringRef line :
         llvm::split(StringRef(part).split(lastOfHead).second, '\n'))
      if (!isDeclaration(line) || declared.insert(line).second)
        (text += line) += '\n';
  return text;
}

FailureOr<std::string>
mlir::tracea::generateCUDACode(ModuleOp module, const CUDAMachine &machine,
                               CUDAOutput output) {
  MLIRContext *context = module.getContext();
  registerBuiltinDialectTranslation(*context);
  registerLLVMDialectTranslation(*context);
  registerNVVMDialectTranslation(*context);
  FailureOr<std::vector<std::string>> parts = compileParts(
      module, output == CUDAOutput::PTX ? kKernelsInPart : kOnePart,
      [&](CodePart &part) { return translate(part, machine); },
      [&](CodePart &part) { return compile(part, output); });
  if (failed(parts))
    return failure();
  return joinPTX(*parts);
}
