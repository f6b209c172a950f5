//===- CPUTarget.cpp - From the pipeline level to a CPU -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How: functions of the LLVM dialect with the kernel ABI.

#include "TargetPhases.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToFuncs/MathToFuncs.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"
#include "tracea/Conversion/Passes.h"
#include "tracea/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::tracea;

void mlir::tracea::addCPUTargetPhase(OpPassManager &manager, bool reference,
                                     CPUArithmetic arithmetic, bool several) {
  // Kernels one by one where a pass allows it: threads share them, and each
  // stays in a cache from one pass to the next. One kernel and what calls it
  // would only go from thread to thread.
  auto each = [&]() -> OpPassManager & {
    return several ? manager.nestAny() : manager;
  };
  if (!reference) {
    manager.addPass(createConvertTraceaPipeToVector());
    addCleanup(each());
    each().addPass(createLoopInvariantCodeMotionPass());
    manager.addPass(createVectorizeReductions());
    manager.addPass(createBlockTranspositions());
    manager.addPass(createPrefetchStreams());
  }
  each().addPass(createConvertLinalgToLoopsPass());
  each().addPass(createForallToForLoopPass());
  manager.addPass(createConvertTraceaPipeKernelsToFunc());

  // Halves and bytes are computed in single precision; LLVM would call helpers
  // that neither libc nor libm has.
  arith::ArithEmulateUnsupportedFloatsOptions halves;
  llvm::append_values(halves.sourceTypeStrs, std::string("bf16"),
                      std::string("f8E4M3FN"), std::string("f8E5M2"));
  halves.targetTypeStr = "f32";
  each().addPass(math::createMathExtendToSupportedTypes());
  each().addPass(arith::createArithEmulateUnsupportedFloats(halves));
  LowerMathOptions functions;
  functions.route = reference ? MathRoute::Reference : MathRoute::Kernel;
  functions.fused = arithmetic.fused;
  functions.scaled = arithmetic.scaled;
  each().addPass(createLowerMath(functions));
  manager.addPass(createConvertMathToFuncs());
  each().addPass(createExpandByteFloats());
  if (arithmetic.narrows && !reference) {
    NarrowBF16Options roundings;
    roundings.subnormals = arithmetic.narrowsAll;
    each().addPass(createNarrowBF16(roundings));
  }
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  each().addPass(arith::createArithExpandOpsPass(expand));

  each().addPass(memref::createExpandStridedMetadataPass());
  each().addPass(createLowerAffinePass());
  addCleanup(each());
  each().addPass(createConvertVectorToSCFPass());
  each().addPass(createSCFToControlFlowPass());
  // Calls of libm take vectors apart.
  each().addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertMathToLibmPass());
  each().addPass(createConvertVectorToLLVMPass());
  each().addPass(createArithToLLVMConversionPass());
  each().addPass(createConvertIndexToLLVMPass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  manager.addPass(createConvertFuncToLLVMPass());
  // Tiles pass from block to block, so that branches are converted with them.
  // A reference has none, and their dialect need not be there.
  if (arithmetic.tiles && !reference) {
    ConvertToLLVMPassOptions tiles;
    tiles.filterDialects = {"amx", "cf"};
    each().addPass(createConvertToLLVMPass(tiles));
  } else {
    manager.addPass(createConvertControlFlowToLLVMPass());
  }
  each().addPass(createUBToLLVMConversionPass());
  each().addPass(createReconcileUnrealizedCastsPass());
  addCleanup(each());
}
