// A program for a GPU: PTX always, how each kernel is launched, parameters in
// the order of the code, tensor maps, and what they ask of shapes.

// RUN: tracea-opt %s --tracea-compile="target=sm_90a to=pipeline" -o %t.mlir
// RUN: tracea-translate %t.mlir --emit=program-manifest -o %t.json
// RUN: FileCheck %s < %t.json
// RUN: tracea-translate %t.mlir --emit=program -o %t.tracea
// RUN: tracea explain %t.tracea | FileCheck %s --check-prefix=EXPLAIN
// RUN: tracea-opt %t.mlir --tracea-compile="from=target" | tracea-translate --emit=asm | FileCheck %s --check-prefix=PTX

// CHECK:      "target":{"kind":"cuda","arch":"sm_90a","name":"sm_90a","features":[]}
// Dynamic shared memory; one dimension of threads.
// CHECK-SAME: {"name":"gemm_0","symbol":"gemm_0","blob":0,"workspace":{{[1-9][0-9]+}},"variant":"gemm.warpgroup","op":"tracea.gemm"
// CHECK-SAME: {"check":"target-protocol","claim":"{{[0-9]+}} roles, {{[0-9]+}} rings, every trip count"
// CHECK-SAME: "gpu":{"block":[384,1,1],"cluster":[1,1,1],"persistent":0,"overlaps":false,"indexBits":64{{[,}]}}
// CHECK-SAME: "message":"kernel 'gemm_0' expects rows of input 0 ('arg0') to begin at multiples of 8 elements of bf16"}],"buffers"
// The grid is as many blocks as there are tiles to begin with.
// CHECK-SAME: "steps":[{"kernel":0,"tiles":[[TILES:[0-9]+]],"grid":{{\[}}[[TILES]],[[ONE:[0-9]+]],[[ONE]]],"args":[
// Pointers with dynamic sizes, then tensor maps by value.
// CHECK-SAME: {"pointer":{"buffer":0,"type":"bf16",{{[^}]*}}}},{"index":{{[0-9]+}}},{"index":{{[0-9]+}}},{"pointer":{"buffer":1,
// CHECK-SAME: {"pointer":{"buffer":2,"type":"f32",{{[^}]*}}}},{"pointer":{"buffer":3,"type":"bf16",{{[^}]*}}}},{"index":{{[0-9]+}}},
// CHECK-SAME: {"tensorMap":{"view":{"buffer":0,{{[^}]*}}},"element":"bf16","box":[128,64],"elementStrides":[1,1],"interleave":"none","swizzle":"128B","promotion":"128B","fill":"zero"}
// CHECK-SAME: {"tensorMap":{"view":{"buffer":1,{{[^}]*}}},"element":"bf16","box":[64,64]
// CHECK-SAME: {"tensorMap":{"view":{"buffer":3,
// CHECK-SAME: "images":[{"code":0,"blob":0,"kind":"ptx","arch":"sm_90a","isa":80}

// EXPLAIN: requires {{.*}}(mod((dim(arg0, 1) * 2), 16) == 0)
// EXPLAIN: launch gemm_0, min((ceildiv(dim(arg0, 0), 128) * 16), 132) tiles

// PTX: .target sm_90a
// PTX: .entry gemm_0(
func.func @main(%a: tensor<?x?xbf16>, %b: tensor<?x4096xbf16>, %bias: tensor<4096xf32>) -> tensor<?x4096xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xbf16>
  %d = tensor.empty(%m) : tensor<?x4096xbf16>
  %0 = tracea.gemm ins(%a, %b : tensor<?x?xbf16>, tensor<?x4096xbf16>) outs(%d : tensor<?x4096xbf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 256, 64], slots = 4, producers = 1, consumers = 2, group = 16>
    epilogue(%bias by affine_map<(i, j) -> (j)> : tensor<4096xf32>) {
    ^bb0(%acc: f32, %s: f32):
      %t = arith.addf %acc, %s : f32
      %u = arith.truncf %t : f32 to bf16
      tracea.yield %u : bf16
  }
  return %0 : tensor<?x4096xbf16>
}
