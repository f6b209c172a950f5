//===- CompileCUDA.cpp - Code and programs for NVIDIA's GPUs --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CompileCUDA.h"

#include "StepTimer.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "tracea/Analysis/Passes.h"
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

/// Whether lanes convert 8-bit floats by instructions.
static bool convertsByteFloats(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return isa<NVVM::ConvertF32x2ToF8x2Op, NVVM::ConvertF8x2ToF16x2Op>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
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
  // Generation 9 has these from the start, 8.9 from a later version of PTX on.
  else if (machine.chip == "sm_89" && convertsByteFloats(module))
    machine.features = "+ptx81";
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

static FailureOr<std::string> generate(ModuleOp module, CUDAOutput output,
                                       const tc::CompileOptions &options) {
  tc::StepTimer timer(options.times, "code generation");
  if (isLowered(module))
    return generateCUDACode(module, getMachine(module), output);
  OwningOpRef<ModuleOp> copy(module.clone());
  PassManager manager(module.getContext());
  buildNVVMToLLVMPipeline(manager);
  if (failed(manager.run(*copy)))
    return failure();
  return generateCUDACode(*copy, getMachine(module), output);
}

FailureOr<std::string> tc::emitPTX(ModuleOp module,
                                   const CompileOptions &options) {
  return generate(module, CUDAOutput::PTX, options);
}

FailureOr<std::string> tc::emitCUDALLVM(ModuleOp module,
                                        const CompileOptions &options) {
  return generate(module, CUDAOutput::LLVMIR, options);
}

/// Waits for the assembler, and warns of what it says.
static FailureOr<CUDAAssembly> finish(CUDAAssembler &assembler,
                                      ModuleOp module) {
  std::string message;
  FailureOr<CUDAAssembly> assembly = assembler.finish(message);
  if (failed(assembly))
    return module.emitError() << message;
  for (const CUDAKernelUse &use : assembly->kernels)
    if (use.spillStoreBytes || use.spillLoadBytes)
      module.emitWarning() << "kernel '" << use.name << "' spills "
                           << use.spillStoreBytes << " bytes of registers";
  return assembly;
}

FailureOr<std::string> tc::emitCubin(ModuleOp module,
                                     const CompileOptions &options) {
  std::optional<std::string> path = findCUDAAssembler();
  if (!path)
    return module.emitError()
           << "no 'ptxas' was found, in CUDA_HOME or on the path; write 'ptx', "
              "which the driver assembles";
  FailureOr<std::string> ptx = emitPTX(module, options);
  if (failed(ptx))
    return failure();
  tc::StepTimer timer(options.times, "ptxas");
  CUDAAssembler assembler(*path, *ptx, getMachine(module).chip);
  FailureOr<CUDAAssembly> assembly = finish(assembler, module);
  if (failed(assembly))
    return failure();
  return std::move(assembly->code);
}

/// Checks lowered kernels once more.
static LogicalResult proveLowered(ModuleOp code,
                                  const tc::CompileOptions &options) {
  PassManager manager(code.getContext());
  VerifyTargetProtocolOptions protocol;
  protocol.requireProof = options.requireProof;
  manager.addNestedPass<LLVM::LLVMFuncOp>(createVerifyTargetProtocol(protocol));
  if (options.configure)
    options.configure(manager);
  return tc::runTimed(manager, code, options.times);
}

/// What the assembler says of kernels, in the manifest.
static void describeUse(rt::Manifest &manifest, const CUDAAssembly &assembly) {
  for (const CUDAKernelUse &use : assembly.kernels)
    for (rt::KernelSpec &kernel : manifest.kernels)
      if (kernel.symbol == use.name && kernel.gpu)
        kernel.gpu->use = {use.registers, use.sharedBytes, use.stackBytes,
                           use.spillStoreBytes, use.spillLoadBytes};
}

FailureOr<rt::ProgramFile>
tc::makeCUDAProgram(ModuleOp code,
                    function_ref<FailureOr<rt::ProgramFile>()> describe,
                    const CompileOptions &options) {
  // Without kernels there is no code.
  if (code.getOps<LLVM::LLVMFuncOp>().empty())
    return describe();
  FailureOr<std::string> ptx = emitPTX(code, options);
  if (failed(ptx))
    return failure();
  std::optional<std::string> path;
  if (options.assemble)
    path = findCUDAAssembler();
  // The assembler runs in a process of its own while the next kernel is
  // compiled.
  std::optional<tc::StepTimer> timer;
  std::unique_ptr<CUDAAssembler> assembler;
  if (path) {
    timer.emplace(options.times, "ptxas");
    assembler =
        std::make_unique<CUDAAssembler>(*path, *ptx, getMachine(code).chip);
  }
  if (failed(proveLowered(code, options)))
    return failure();
  FailureOr<rt::ProgramFile> program = describe();
  if (failed(program))
    return failure();
  std::string cubin;
  if (assembler) {
    FailureOr<CUDAAssembly> assembly = finish(*assembler, code);
    if (failed(assembly))
      return failure();
    describeUse(program->manifest, *assembly);
    cubin = std::move(assembly->code);
  }
  if (!program->manifest.kernels.empty())
    addGPUImages(*program, *ptx, cubin, getMachine(code).chip);
  return program;
}
