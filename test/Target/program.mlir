// RUN: tracea-translate %s --emit=program-manifest | FileCheck %s
// RUN: tracea-translate %s --emit=program-manifest --entry=small | FileCheck %s --check-prefix=SMALL
// RUN: tracea-translate %s --emit=program -o %t && grep -c TRACEA %t

module attributes {tracea.target = #tracea.target<kind = cpu, name = "x86-64-v3", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "+avx2,-avx512f,+fma", vector_bits = 256>} {

// CHECK:      "target":{"kind":"cpu","arch":"x86_64","name":"x86-64-v3","features":["avx2","fma"]}
// CHECK-SAME: "kernels":[{"name":"k","symbol":"k","blob":0,"workspace":128,"variant":"v","op":"tracea.gemm","certificates":[],"remarks":[]}]
// One copy of equal constants, whose bytes are aligned.
// CHECK-SAME: "constants":[{"blob":1,"offset":0,"size":8},{"blob":1,"offset":64,"size":3}]
// CHECK-SAME: "name":"main"
// Equal expressions are one node.
// CHECK-SAME: "exprs":{{\[\[}}"dim",0,0],["const",4],["const",0],["const",1]
// CHECK-SAME: "inputs":[{"name":"x","type":"f32","shape":[{"dynamic":true},4]},{"name":"arg1","type":"i1","shape":[3]}]
// CHECK-SAME: "message":"{{.*}}program.mlir:[[# @LINE + 32]]:{{.*}}at least one row"
// CHECK-SAME: "buffers":[{"kind":"input","index":0},{"kind":"input","index":1},{"kind":"constant","index":0},{"kind":"constant","index":1},{"kind":"temp","bytes":{{[0-9]+}},"align":64,"contents":"any"}
// CHECK-SAME: "steps":[{"kernel":0,
// CHECK-SAME: "args":[{"buffer":0,"type":"f32","offset":{{[0-9]+}},"sizes":[{{[0-9]+}},1],"strides":[1,3]},{"buffer":2,
// CHECK-SAME: {"index":
// CHECK-SAME: "outputs":[{"type":"f32","view":{"buffer":4,

// SMALL:      "name":"small"
// SMALL-SAME: "steps":[]
// SMALL-NOT:  "name":"main"
memref.global "private" constant @one : memref<2xf32> = dense<[1.0, 2.0]>
memref.global "private" constant @same : memref<2x1xf32> = dense<[[1.0], [2.0]]>
memref.global "private" constant @bits : memref<3xi1> = dense<[true, false, true]>

tracea_pipe.kernel @k(%x: memref<?x4xf32>, %w: memref<2xf32>, %n: index, %y: memref<?x4xf32>) attributes {variant = "v", source_op = "tracea.gemm"} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %rows = memref.dim %x, %c0 : memref<?x4xf32>
  %tiles = arith.ceildivui %rows, %c16 : index
  tracea_pipe.tiles (%i) in (%tiles) {
    %s = tracea_pipe.scratch : memref<5xf32, #tracea_pipe.staged>
    %v = memref.load %w[%c0] : memref<2xf32>
    memref.store %v, %y[%i, %c0] : memref<?x4xf32>
  }
  tracea_pipe.end
}

func.func @main(%x: memref<?x4xf32> {tracea.name = "x"}, %flags: memref<3xi1>) -> (memref<?x4xf32>, memref<2x1xf32>, memref<3xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  %some = arith.cmpi sge, %n, %c1 : index
  cf.assert %some, "at least one row"
  %w = memref.get_global @one : memref<2xf32>
  %same = memref.get_global @same : memref<2x1xf32>
  %bits = memref.get_global @bits : memref<3xi1>
  %less = arith.subi %n, %c1 : index
  %tail = memref.subview %x[1, 0] [%less, 4] [1, 1] : memref<?x4xf32> to memref<?x4xf32, strided<[4, 1], offset: 4>>
  %y = memref.alloc(%less) : memref<?x4xf32>
  %double = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%n]
  tracea_pipe.launch @k ins(%tail, %w, %double : memref<?x4xf32, strided<[4, 1], offset: 4>>, memref<2xf32>, index) outs(%y : memref<?x4xf32>)
  return %y, %same, %bits : memref<?x4xf32>, memref<2x1xf32>, memref<3xi1>
}

func.func @small(%x: memref<4xf64>) -> memref<4xf64> {
  return %x : memref<4xf64>
}
}
