// RUN: tracea-opt %s --split-input-file --tracea-bufferize-host | FileCheck %s
// RUN: tracea-opt %s --split-input-file --tracea-bufferize-host --remarks-filter=tracea --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

tracea_pipe.kernel @k(%a: memref<?x8xf32>, %d: memref<?x4xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// The result of a launch lies where its out does; out's contents are not read.
// CHECK-LABEL: func.func @straight(
// CHECK-SAME:    %[[A:.*]]: memref<?x8xf32>, %[[N:.*]]: index) -> memref<?x4xf32>
// CHECK-NEXT:    %[[M:.*]] = memref.alloc(%[[N]]) {alignment = 64 : i64} : memref<?x4xf32>
// CHECK-NEXT:    tracea_pipe.launch @k ins(%[[A]] : memref<?x8xf32>) outs(%[[M]] : memref<?x4xf32>)
// CHECK-NEXT:    return %[[M]]
func.func @straight(%a: tensor<?x8xf32>, %n: index) -> tensor<?x4xf32> {
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %r = tracea_pipe.launch @k ins(%a : tensor<?x8xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// Arguments belong to the caller: the out gets memory of its own, without a
// copy, for the kernel does not read it.
// CHECK-LABEL: func.func @argument_as_out(
// CHECK-SAME:    %[[A:.*]]: memref<?x8xf32>, %[[D:.*]]: memref<?x4xf32>)
// CHECK:         %[[M:.*]] = memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         tracea_pipe.launch @k ins(%[[A]] : memref<?x8xf32>) outs(%[[M]] : memref<?x4xf32>)
// CHECK-NEXT:    return %[[M]]
func.func @argument_as_out(%a: tensor<?x8xf32>, %d: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %r = tracea_pipe.launch @k ins(%a : tensor<?x8xf32>) outs(%d : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// A launch whose result is inserted into a slice writes the slice.
// CHECK-LABEL: func.func @into_slice(
// CHECK:         %[[M:.*]] = memref.alloc() {{.*}} : memref<10x4xf32>
// CHECK:         %[[V:.*]] = memref.subview %[[M]][2, 0] [%{{.*}}, 4] [1, 1]
// CHECK:         tracea_pipe.launch @k ins({{.*}}) outs(%[[V]] : memref<?x4xf32, strided<[4, 1], offset: 8>>)
// CHECK-NOT:     memref.copy
// CHECK:         return %[[M]]
func.func @into_slice(%a: tensor<?x8xf32>, %n: index) -> tensor<10x4xf32> {
  %big = tensor.empty() : tensor<10x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %r = tracea_pipe.launch @k ins(%a : tensor<?x8xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %s = tensor.insert_slice %r into %big[2, 0] [%n, 4] [1, 1] : tensor<?x4xf32> into tensor<10x4xf32>
  return %s : tensor<10x4xf32>
}

tracea_pipe.kernel @s(%a: memref<5x8xf32>, %b: memref<5x16xf32>, %d: memref<5x4xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// Views without gaps are passed as they are, views with gaps are copied; a
// result that lands in a view with gaps is copied there afterwards.
// CHECK-LABEL: func.func @views(
// CHECK-SAME:    %[[A:.*]]: memref<20x16xf32>) -> memref<20x6xf32>
// CHECK-DAG:     %[[BIG:.*]] = memref.alloc() {{.*}} : memref<20x6xf32>
// CHECK-DAG:     %[[OUT:.*]] = memref.subview %[[BIG]][0, 1] [5, 4] [1, 1]
// CHECK-DAG:     %[[GAPS:.*]] = memref.subview %[[A]][0, 4] [5, 8] [1, 1]
// CHECK-DAG:     %[[ROWS:.*]] = memref.subview %[[A]][3, 0] [5, 16] [1, 1]
// CHECK:         %[[COPY:.*]] = memref.alloc() {{.*}} : memref<5x8xf32>
// CHECK:         memref.copy %[[GAPS]], %[[COPY]]
// CHECK:         %[[D:.*]] = memref.alloc() {{.*}} : memref<5x4xf32>
// CHECK:         tracea_pipe.launch @s ins(%[[COPY]], %[[ROWS]] : memref<5x8xf32>, memref<5x16xf32, strided<[16, 1], offset: 48>>) outs(%[[D]] : memref<5x4xf32>)
// CHECK-NEXT:    memref.copy %[[D]], %[[OUT]]
// CHECK-NEXT:    return %[[BIG]]
// REMARK:        remark: [Missed] host-copy
// REMARK-SAME:   operand #0 is a view with gaps
// REMARK:        remark: [Missed] host-copy
// REMARK-SAME:   operand #2 is a view with gaps
func.func @views(%a: tensor<20x16xf32>) -> tensor<20x6xf32> {
  %gaps = tensor.extract_slice %a[0, 4] [5, 8] [1, 1] : tensor<20x16xf32> to tensor<5x8xf32>
  %rows = tensor.extract_slice %a[3, 0] [5, 16] [1, 1] : tensor<20x16xf32> to tensor<5x16xf32>
  %big = tensor.empty() : tensor<20x6xf32>
  %e = tensor.empty() : tensor<5x4xf32>
  %r = tracea_pipe.launch @s ins(%gaps, %rows : tensor<5x8xf32>, tensor<5x16xf32>) outs(%e : tensor<5x4xf32>) -> tensor<5x4xf32>
  %s = tensor.insert_slice %r into %big[0, 1] [5, 4] [1, 1] : tensor<5x4xf32> into tensor<20x6xf32>
  return %s : tensor<20x6xf32>
}

// -----

// Tiles inside of a kernel are no business of this pass.
#lanes = #tracea_pipe.lanes<reg = [], lane = [[1], [2], [4]], outer = [1]>
// CHECK-LABEL: tracea_pipe.kernel @tiles
// CHECK:         tracea_pipe.load {{.*}} : memref<?xf32> -> tensor<8xf32
// CHECK:         arith.addf {{.*}} : tensor<8xf32
tracea_pipe.kernel @tiles(%a: memref<?xf32>, %d: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
    %v = tracea_pipe.load %a[%c0] map affine_map<(i) -> (i)> : memref<?xf32> -> tensor<8xf32, #lanes>
    %s = arith.addf %v, %v : tensor<8xf32, #lanes>
    tracea_pipe.store %s, %d[%c0] map affine_map<(i) -> (i)> : tensor<8xf32, #lanes>, memref<?xf32>
  }
  tracea_pipe.end
}

// Concatenation, softmax and padding are taken apart.
// CHECK-LABEL: func.func @aggregates(
// CHECK-NOT:     tensor
// CHECK-NOT:     linalg.softmax
// CHECK:         return
func.func @aggregates(%x: tensor<4x6xf32>) -> (tensor<8x6xf32>, tensor<4x6xf32>) {
  %c = tensor.concat dim(0) %x, %x : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %e = tensor.empty() : tensor<4x6xf32>
  %s = linalg.softmax dimension(1) ins(%x : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %c, %s : tensor<8x6xf32>, tensor<4x6xf32>
}

// -----

// CHECK: func.func private @declared(memref<64x64xf32
func.func private @declared(tensor<64x64xf32>)
