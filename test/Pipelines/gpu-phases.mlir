// The two phases that depend on the target, by themselves: roles for a kernel
// whose schedule asks for them, and the way down that the module's target says.
// RUN: tracea-opt %s --tracea-compile="target=sm_90a to=tile" -o %t.tile
// RUN: tracea-opt %t.tile --tracea-bufferize-host --tracea-pipeline-kernels -o %t.rings
// RUN: tracea-opt %t.rings --tracea-software-pipeline -o %t.roles
// RUN: FileCheck %s --check-prefix=ROLES < %t.roles
// RUN: tracea-opt %t.roles --tracea-lower-to-target="require-proof" | FileCheck %s --check-prefix=TARGET
// RUN: sed 's/kind = cuda/kind = metal/' %t.roles > %t.metal
// RUN: not tracea-opt %t.metal --tracea-lower-to-target 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not tracea-opt %t.roles --tracea-lower-to-target="reference" 2>&1 | FileCheck %s --check-prefix=REFERENCE

// ROLES: tracea_pipe.role "producer"
// ROLES: tracea_pipe.role "consumer"
// ROLES: tracea_pipe.mma_async
// ROLES: tracea_pipe.copy_out
// TARGET: llvm.func @gemm_0(
// TARGET-SAME: #tracea_pipe.certificate<check = "target-protocol"
// TARGET: nvvm.wgmma.fence.aligned
// OTHER: error: no code generator for target 'sm_90a' of kind metal; expected kind cpu or cuda
// REFERENCE: error: no code generator for target 'sm_90a' of kind cuda; a reference is for kind cpu

func.func @main(%a: tensor<256x256xbf16>, %b: tensor<256x256xbf16>) -> tensor<256x256xbf16> {
  %d = tensor.empty() : tensor<256x256xbf16>
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<256x256xbf16>, tensor<256x256xbf16>) outs(%d : tensor<256x256xbf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 128, 64], slots = 4, producers = 1, consumers = 2, group = 16>
  return %0 : tensor<256x256xbf16>
}
