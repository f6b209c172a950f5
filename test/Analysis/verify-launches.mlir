// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(tracea-verify-launches{require-proof=true}))" -verify-diagnostics

// What a function reads or returns was written before.

func.func @good(%a: memref<8xf32>) -> memref<8xf32> {
  %t = memref.alloc() : memref<2x8xf32>
  %r = memref.alloc() : memref<8xf32>
  %w = memref.subview %t[1, 0] [1, 8] [1, 1] : memref<2x8xf32> to memref<8xf32, strided<[1], offset: 8>>
  tracea_pipe.launch @k ins(%a : memref<8xf32>) outs(%w : memref<8xf32, strided<[1], offset: 8>>)
  tracea_pipe.launch @k2 ins(%t : memref<2x8xf32>) outs(%r : memref<8xf32>)
  return %r : memref<8xf32>
}
// The size of a view is no memory that a kernel reads.
func.func @size(%a: memref<8xf32>, %n: index) -> memref<8xf32> {
  %r = memref.alloc() : memref<8xf32>
  %part = memref.subview %r[2] [%n] [1] : memref<8xf32> to memref<?xf32, strided<[1], offset: 2>>
  %base, %offset, %size, %stride = memref.extract_strided_metadata %part : memref<?xf32, strided<[1], offset: 2>> -> memref<f32>, index, index, index
  tracea_pipe.launch @k3 ins(%a, %size : memref<8xf32>, index) outs(%r : memref<8xf32>)
  return %r : memref<8xf32>
}
func.func @copied(%a: memref<8xf32>) -> (memref<8xf32>, memref<0xf32>) {
  %r = memref.alloc() : memref<8xf32>
  %nothing = memref.alloc() : memref<0xf32>
  memref.copy %a, %r : memref<8xf32> to memref<8xf32>
  return %r, %nothing : memref<8xf32>, memref<0xf32>
}
func.func @never(%a: memref<8xf32>) -> memref<8xf32> {
  // expected-note@+1 {{the memory is allocated here}}
  %r = memref.alloc() : memref<8xf32>
  // expected-error@+1 {{returns result #0, which nothing has written before; expected a launch that has it under 'outs'}}
  return %r : memref<8xf32>
}
func.func @later(%a: memref<8xf32>) -> memref<8xf32> {
  // expected-note@+1 {{the memory is allocated here}}
  %t = memref.alloc() : memref<2x8xf32>
  %r = memref.alloc() : memref<8xf32>
  // expected-error@+1 {{reads argument #0, which nothing has written before}}
  tracea_pipe.launch @k2 ins(%t : memref<2x8xf32>) outs(%r : memref<8xf32>)
  %w = memref.subview %t[1, 0] [1, 8] [1, 1] : memref<2x8xf32> to memref<8xf32, strided<[1], offset: 8>>
  tracea_pipe.launch @k ins(%a : memref<8xf32>) outs(%w : memref<8xf32, strided<[1], offset: 8>>)
  return %r : memref<8xf32>
}
tracea_pipe.kernel @k(%a: memref<8xf32>, %r: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @k3(%a: memref<8xf32>, %n: index, %r: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @k2(%a: memref<2x8xf32>, %r: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}
