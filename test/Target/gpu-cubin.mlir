// Where there is an assembler a program holds machine code as well, and an
// object is a cubin.

// REQUIRES: ptxas
// RUN: tracea compile %S/gpu-program.mlir --target sm_90a --emit manifest | FileCheck %s
// RUN: tracea compile %S/gpu-program.mlir --target sm_90a --emit object -o %t.cubin
// RUN: od -A n -t x1 -N 4 %t.cubin | FileCheck %s --check-prefix=ELF

// What the code takes is told of each kernel, and not without an assembler.
// RUN: tracea compile %S/gpu-program.mlir --target sm_90a --emit manifest --only-ptx | FileCheck %s --check-prefix=PTX
// RUN: tracea explain %S/gpu-program.mlir --target sm_90a | FileCheck %s --check-prefix=EXPLAIN
// RUN: tracea compile %S/gpu-program.mlir --target sm_90a -o %t.tracea --time 2>&1 | FileCheck %s --check-prefix=TIME

// CHECK: "indexBits":{{[0-9]+}},"use":{"registers":168,"sharedBytes":0,"stackBytes":0,"spillStoreBytes":0,"spillLoadBytes":0}
// PTX-NOT: "use"
// EXPLAIN: kernel {{ *}}operation {{ *}}variant {{ *}}threads {{ *}}shared memory {{ *}}registers {{ *}}spilled a thread
// EXPLAIN-NEXT: gemm_0 {{ *}}tracea.gemm {{ *}}gemm.warpgroup {{ *}}384 {{ *}}{{[0-9.]+}} KiB {{ *}}168 {{ *}}0 B
// TIME: ptxas {{ *}}{{[0-9.]+}} ms
// TIME-NEXT: all

// CHECK: "images":[{"code":0,"blob":0,"kind":"ptx","arch":"sm_90a","isa":80},{"code":0,"blob":1,"kind":"cubin","arch":"sm_90a","isa":0}]
// ELF: 7f 45 4c 46
