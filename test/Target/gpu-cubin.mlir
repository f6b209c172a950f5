// Where there is an assembler a program holds machine code as well, and an
// object is a cubin.

// REQUIRES: ptxas
// RUN: tracea compile %S/gpu-program.mlir --target sm_90a --emit manifest | FileCheck %s
// RUN: tracea compile %S/gpu-program.mlir --target sm_90a --emit object -o %t.cubin
// RUN: od -A n -t x1 -N 4 %t.cubin | FileCheck %s --check-prefix=ELF

// CHECK: "images":[{"code":0,"blob":0,"kind":"ptx","arch":"sm_90a","isa":80},{"code":0,"blob":1,"kind":"cubin","arch":"sm_90a","isa":0}]
// ELF: 7f 45 4c 46
