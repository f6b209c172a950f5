// RUN: split-file %s %t
// RUN: not tracea-translate %t/target.mlir --emit=program-manifest 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not tracea-translate %t/host-op.mlir --emit=program-manifest 2>&1 | FileCheck %s --check-prefix=HOSTOP
// RUN: not tracea-translate %t/grid.mlir --emit=program-manifest 2>&1 | FileCheck %s --check-prefix=GRID
// RUN: not tracea-translate %t/input.mlir --emit=program-manifest 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not tracea-translate %t/element.mlir --emit=program-manifest 2>&1 | FileCheck %s --check-prefix=ELEMENT
// RUN: not tracea-translate %t/scalar.mlir --emit=program-manifest 2>&1 | FileCheck %s --check-prefix=SCALAR
// RUN: not tracea-translate %t/marked.mlir --emit=program-manifest 2>&1 | FileCheck %s --check-prefix=MARKED
// RUN: not tracea-translate %t/valued.mlir --emit=program-manifest 2>&1 | FileCheck %s --check-prefix=VALUED
// RUN: not tracea-translate %t/element.mlir --emit=nonsense 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not tracea-translate %t/element.mlir --emit=program --entry=other 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not tracea-translate %t/constant.mlir --emit=program-manifest 2>&1 | FileCheck %s --check-prefix=CONSTANT

// TARGET: error: {{.*}}has no attribute 'tracea.target'; expected the machine that the program is for
// HOSTOP: host-op.mlir:5:3: error: host op 'memref.store' has no place in a program
// GRID: grid.mlir:5:{{[0-9]+}}: error: 'memref.load' cannot be expressed in a program; expected sizes to be index arithmetic on the shapes of the inputs
// ELEMENT: error: elements of type 'complex<f32>' cannot be held by a program
// SCALAR: error: argument #0 of 'main' has type 'complex<f32>'; expected a number, or a memref of identity layout
// MARKED: error: argument #0 of 'main' has type 'f32' and is marked 'tracea.constant'; expected a tensor
// VALUED: error: argument #0 of 'main' is marked 'tracea.constant' = false; expected no value
// FORM: error: unknown form 'nonsense'; expected one of semantic, decision
// ENTRY: error: the module has no public function named 'other'

// INPUT: input.mlir:10:3: error: 'tracea_pipe.launch' op writes to operand #0, which is memory of an input or a constant of 'main'; expected memory that the function allocates

// CONSTANT: holds a constant of type 'tensor<4611686018427387904xf32>'; expected at most 8589934592 bytes

//--- target.mlir
func.func @main() {
  return
}

//--- host-op.mlir
module attributes {tracea.target = #tracea.target<kind = cpu, name = "x", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64">} {
func.func @main(%x: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %f = arith.constant 0.0 : f32
  memref.store %f, %x[%c0] : memref<4xf32>
  return
}
}

//--- grid.mlir
module attributes {tracea.target = #tracea.target<kind = cpu, name = "x", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64">} {
tracea_pipe.kernel @k(%x: memref<4xindex>) {
  %c0 = arith.constant 0 : index
  // The number of tiles would depend on data.
  %tiles = memref.load %x[%c0] : memref<4xindex>
  tracea_pipe.tiles (%i) in (%tiles) {
  }
  tracea_pipe.end
}
func.func @main(%x: memref<4xindex>) {
  tracea_pipe.launch @k ins(%x : memref<4xindex>)
  return
}
}

//--- input.mlir
module attributes {tracea.target = #tracea.target<kind = cpu, name = "x", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64">} {
tracea_pipe.kernel @k(%x: memref<4xindex>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
    memref.store %i, %x[%i] : memref<4xindex>
  }
  tracea_pipe.end
}
func.func @main(%x: memref<4xindex>) {
  tracea_pipe.launch @k outs(%x : memref<4xindex>)
  return
}
}

//--- element.mlir
module attributes {tracea.target = #tracea.target<kind = cpu, name = "x", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64">} {
func.func @main(%x: memref<4xcomplex<f32>>) {
  return
}
}

//--- scalar.mlir
module attributes {tracea.target = #tracea.target<kind = cpu, name = "x", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64">} {
func.func @main(%x: complex<f32>) {
  return
}
}

//--- marked.mlir
module attributes {tracea.target = #tracea.target<kind = cpu, name = "x", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64">} {
func.func @main(%x: f32 {tracea.constant}) {
  return
}
}

//--- valued.mlir
module attributes {tracea.target = #tracea.target<kind = cpu, name = "x", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64">} {
func.func @main(%x: f32 {tracea.constant = false}) {
  return
}
}

//--- constant.mlir
module attributes {tracea.target = #tracea.target<kind = cpu, name = "x", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64">} {
memref.global "private" constant @huge : memref<4611686018427387904xf32> = dense<0.0>
func.func @main() -> memref<4611686018427387904xf32> {
  %0 = memref.get_global @huge : memref<4611686018427387904xf32>
  return %0 : memref<4611686018427387904xf32>
}
}
