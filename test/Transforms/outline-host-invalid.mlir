// RUN: tracea-opt %s --split-input-file --verify-diagnostics --tracea-outline-host

func.func @branch(%x: memref<4xf32>) {
  // expected-error @-1 {{has a body of several blocks; expected structured control flow that ends before the program is made}}
  cf.br ^next
^next:
  return
}

// -----

func.func @call_like(%x: memref<4xf32>) {
  %f = arith.constant 1.0 : f32
  // expected-error @below {{host op 'vector.print' has no place in a program; expected an allocation, a view, arithmetic on indices, an assertion, a launch or a return}}
  vector.print %f : f32
  return
}

// -----

tracea_pipe.kernel @k(%a: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}
func.func @loop_of_launches(%x: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    // expected-error @below {{stands inside of 'scf.for'; a program has no loops or branches around allocations and launches}}
    tracea_pipe.launch @k outs(%x : memref<4xf32>)
  }
  return
}

// -----

// The element is overwritten before the kernel that needs it.
func.func @overwritten(%x: memref<4xf32>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  // expected-note @below {{the element is read here}}
  %a = memref.load %x[%c0] : memref<4xf32>
  linalg.add ins(%y, %y : memref<4xf32>, memref<4xf32>) outs(%x : memref<4xf32>)
  // expected-error @below {{uses an element that is overwritten in between; expected its tensor to stay as it was}}
  linalg.fill ins(%a : f32) outs(%y : memref<4xf32>)
  return
}

// -----

// A size that depends on data.
func.func @data_dependent(%x: memref<4xindex>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{host op 'memref.load' has no place in a program}}
  %n = memref.load %x[%c0] : memref<4xindex>
  %m = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%m : memref<?xf32>)
  return
}
