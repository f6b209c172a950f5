// Lanes that load their operands byte by byte: of thousands of loads in a row the
// protocol has the slots that they read, once.
// RUN: tracea-opt %s --tracea-compile="target=sm_80 require-proof=true" | FileCheck %s
// CHECK: check = "target-protocol", claim = "1 roles, 32 rings, every trip count"
// A step has a tile of each operand in 16 pieces: what lanes store at once is a buffer.
// CHECK-NOT: {{(read:[^ ]+ ){33}.}}

func.func @bytes(%a: tensor<?x5x700xi8>, %b: tensor<3x63x700xi8>, %e: tensor<3x5x63xi64>) -> tensor<3x5x63xi64> {
  %r = tracea.gemm transpose_rhs ins(%a, %b : tensor<?x5x700xi8>, tensor<3x63x700xi8>) outs(%e : tensor<3x5x63xi64>)
         schedule <variant = "gemm.simt", unit = vector, tile = [128, 128, 128], registers = [8, 8], slots = 2, group = 16>
  return %r : tensor<3x5x63xi64>
}
