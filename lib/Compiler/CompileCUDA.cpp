//===- CompileCUDA.cpp - Code and programs for NVIDIA's GPUs --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CompileCUDA.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "tracea/Conversion/TraceaPipeToNVVM/TraceaPipeToNVVM.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
#include "tracea/Target/CUDA/Assemble.h"
#include "tracea/Target/CUDA/Codegen.h"
#include "tracea/Target/Program/GPULaunch.h"

using namespace mlir;
using namespace mlir::tracea;
namespace rt = ::tracea::runtime;
namespace tc = ::tracea::compiler;

static TargetAttr getTarget(ModuleOp module) {
  return module->getAttrOfType<TargetAttr>(TraceaDialect::kTargetAttrName);
}

bool tc::isForCUDA(ModuleOp module) {
  TargetAttr target = getTarget(module);
  return target && target.getKind() == TargetKind::CUDA;
}

/// Whether warps multiply 8-bit floats, which later versions of PTX know.
static bool multipliesByteFloats(ModuleOp module) {
  return module
      .walk([](LLVM::InlineAsmOp op) {
        StringRef text = op.getAsmString();
        bool found = text.starts_with("mma.sync") &&
                     (text.contains(".e4m3") || text.contains(".e5m2"));
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static CUDAMachine getMachine(ModuleOp module) {
  CUDAMachine machine;
  TargetAttr target = getTarget(module);
  if (target && !target.getCpu().empty())
    machine.chip = target.getCpu().str();
  if (multipliesByteFloats(module))
    machine.features = "+ptx84";
  // The first version of PTX that knows the generations 10 and 12.
  StringRef number = StringRef(machine.chip);
  unsigned generation;
  if (number.consume_front("sm_") && !number.consumeInteger(10, generation) &&
      generation >= 100)
    machine.features = "+ptx87";
  return machine;
}

/// Whether nothing is left but what LLVM's code generator takes.
static bool isLowered(ModuleOp module) {
  return !module
              .walk([](Operation *op) {
                bool known =
                    isa<ModuleOp>(op) ||
                    isa<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect());
                return known ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

static FailureOr<std::string> generate(ModuleOp module, CUDAOutput output) {
  if (isLowered(module))
    return generateCUDACode(module, getMachine(module), output);
  OwningOpRef<ModuleOp> copy(module.clone());
  PassManager manager(module.getContext());
  buildNVVMToLLVMPipeline(manager);
  if (failed(manager.run(*copy)))
    return failure();
  return generateCUDACode(*copy, getMachine(module), output);
}

FailureOr<std::string> tc::emitPTX(ModuleOp module) {
  return generate(module, CUDAOutput::PTX);
}

FailureOr<std::string> tc::emitCUDALLVM(ModuleOp module) {
  return generate(module, CUDAOutput::LLVMIR);
}

static FailureOr<std::string> assemble(ModuleOp module, StringRef assembler,
                                       StringRef ptx) {
  std::string message;
  FailureOr<CUDAAssembly> assembly =
      assembleCUDA(assembler, ptx, getMachine(module).chip, message);
  if (failed(assembly))
    return module.emitError() << message;
  for (const CUDAKernelUse &use : assembly->kernels)
    if (use.spillStoreBytes || use.spillLoadBytes)
      module.emitWarning() << "kernel '" << use.name << "' spills "
                           << use.spillStoreBytes << " bytes of registers";
  return std::move(assembly->code);
}

FailureOr<std::string> tc::emitCubin(ModuleOp module) {
  std::optional<std::string> assembler = findCUDAAssembler();
  if (!assembler)
    return module.emitError()
           << "no 'ptxas' was found, in CUDA_HOME or on the path; write 'ptx', "
              "which the driver assembles";
  FailureOr<std::string> ptx = emitPTX(module);
  if (failed(ptx))
    return failure();
  return assemble(module, *assembler, *ptx);
}

LogicalResult tc::addCUDACode(rt::ProgramFile &program, ModuleOp code,
                              const LaunchAlternatives &alternatives,
                              const CompileOptions &options) {
  if (failed(exportGPULaunches(program.manifest, code, alternatives)))
    return failure();
  FailureOr<std::string> ptx = emitPTX(code);
  if (failed(ptx))
    return failure();
  std::string cubin;
  std::optional<std::string> assembler;
  if (options.assemble)
    assembler = findCUDAAssembler();
  if (assembler) {
    FailureOr<std::string> bytes = assemble(code, *assembler, *ptx);
    if (failed(bytes))
      return failure();
    cubin = std::move(*bytes);
  }
  addGPUImages(program, *ptx, cubin, getMachine(code).chip);
  return success();
}
