//===- Codegen.cpp - PTX for NVIDIA's GPUs --------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Target/CUDA/Codegen.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
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

FailureOr<std::string>
mlir::tracea::generateCUDACode(ModuleOp module, const CUDAMachine &machine,
                               CUDAOutput output) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  registerNVVMDialectTranslation(*module.getContext());
  FailureOr<std::unique_ptr<llvm::TargetMachine>> target =
      createTargetMachine(module, machine);
  if (failed(target))
    return failure();
  OwningOpRef<ModuleOp> copy(module.clone());
  dropOwnAttributes(*copy);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(*copy, context, "kernels");
  if (!code)
    return failure();
  code->setTargetTriple(llvm::Triple(kTriple));
  code->setDataLayout((*target)->createDataLayout());
  for (llvm::Function &function : *code)
    if (!function.isDeclaration()) {
      function.addFnAttr("target-cpu", machine.chip);
      function.addFnAttr("target-features", machine.features);
    }
  optimize(*code, **target);

  std::string text;
  if (output == CUDAOutput::LLVMIR) {
    llvm::raw_string_ostream stream(text);
    code->print(stream, nullptr);
    return text;
  }
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream bytes(buffer);
  llvm::legacy::PassManager passes;
  if ((*target)->addPassesToEmitFile(passes, bytes, nullptr,
                                     llvm::CodeGenFileType::AssemblyFile))
    return module.emitError()
           << "the code generator for '" << kTriple << "' cannot write PTX";
  passes.run(*code);
  return std::string(buffer.data(), buffer.size());
}
