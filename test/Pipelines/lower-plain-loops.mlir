// RUN: tracea-opt %s -tracea-lower-plain-loops | FileCheck %s

// Of a kernel that no variant made, structured operations and views become loops over elements of its arguments; its
// author's own loops are done in turn, loops over lanes stay.
// CHECK-LABEL: tracea_pipe.kernel @loops(
// CHECK-SAME:    %[[X:[^:]*]]: memref<8x16xf32>, %[[Y:[^:]*]]: memref<4xf32>
// CHECK:         scf.forall (%{{.*}}) in (1) {
// CHECK:           scf.for %[[I:.*]] = %c0 to %c4 step %c1 {
// CHECK:             %[[ROW:.*]] = arith.addi %[[I]], %{{.*}} : index
// CHECK:             memref.load %[[X]][%[[ROW]], %{{.*}}] : memref<8x16xf32>
// CHECK:             memref.store %{{.*}}, %[[Y]][%[[I]]] : memref<4xf32>
// CHECK:           scf.for
// CHECK-NOT:     scf.forall
// CHECK:         } {mapping = [#gpu.thread<linear_dim_0>]}
tracea_pipe.kernel @loops(%x: memref<8x16xf32>, %y: memref<4xf32>) attributes {variant = "linalg", warps = 1} {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  tiles (%t) in (%c1) {
    scf.forall (%l) in (1) {
      %part = memref.subview %x[2, 3] [4, 1] [1, 1] : memref<8x16xf32> to memref<4xf32, strided<[16], offset: 35>>
      linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          ins(%part : memref<4xf32, strided<[16], offset: 35>>) outs(%y : memref<4xf32>) {
      ^bb0(%a: f32, %o: f32):
        linalg.yield %a : f32
      }
      scf.forall (%i) in (4) {
        %v = memref.load %y[%i] : memref<4xf32>
        %w = arith.addf %v, %one : f32
        memref.store %w, %y[%i] : memref<4xf32>
      }
    } {mapping = [#gpu.thread<linear_dim_0>]}
  }
  end
}

// Others stay as they are.
// CHECK-LABEL: tracea_pipe.kernel @variant(
// CHECK:         linalg.fill
tracea_pipe.kernel @variant(%y: memref<4xf32>) attributes {variant = "other"} {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  tiles (%t) in (%c1) {
    linalg.fill ins(%one : f32) outs(%y : memref<4xf32>)
  }
  end
}

// Sizes of views are those that the views were made with: no view is left.
// CHECK-LABEL: tracea_pipe.kernel @sizes(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x6x?xf32>, %[[N:[^:]*]]: index, %[[Y:[^:]*]]: memref<?x2xf32>
// CHECK-NOT:     memref.{{(subview|expand_shape|collapse_shape|transpose|cast|reinterpret_cast|extract_strided_metadata)}}
// CHECK:         %[[DIM:.*]] = memref.dim %[[X]], %c0
// CHECK:         %[[JOINED:.*]] = arith.muli %[[DIM]], %c6
// CHECK:         tiles (%{{.*}}, %{{.*}}, %{{.*}}) in (%[[N]], %[[JOINED]], %[[N]])
// CHECK-NOT:     memref.{{(subview|expand_shape|collapse_shape|transpose|cast|reinterpret_cast|extract_strided_metadata)}}
// CHECK:         memref.store
tracea_pipe.kernel @sizes(%x: memref<?x6x?xf32>, %n: index, %y: memref<?x2xf32>) attributes {variant = "linalg", warps = 1} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %part = memref.subview %x[0, 2, 0] [%n, 1, 4] [1, 1, 1] : memref<?x6x?xf32> to memref<?x4xf32, strided<[?, 1], offset: ?>>
  %split = memref.expand_shape %part [[0], [1, 2]] output_shape [%n, 2, 2] : memref<?x4xf32, strided<[?, 1], offset: ?>> into memref<?x2x2xf32, strided<[?, 2, 1], offset: ?>>
  %turned = memref.transpose %split (i, j, k) -> (j, i, k) : memref<?x2x2xf32, strided<[?, 2, 1], offset: ?>> to memref<2x?x2xf32, strided<[2, ?, 1], offset: ?>>
  %cast = memref.cast %turned : memref<2x?x2xf32, strided<[2, ?, 1], offset: ?>> to memref<?x?x2xf32, strided<[?, ?, ?], offset: ?>>
  %joined = memref.collapse_shape %x [[0, 1], [2]] : memref<?x6x?xf32> into memref<?x?xf32>
  %first = memref.dim %part, %c0 : memref<?x4xf32, strided<[?, 1], offset: ?>>
  %second = memref.dim %joined, %c0 : memref<?x?xf32>
  %third = memref.dim %cast, %c1 : memref<?x?x2xf32, strided<[?, ?, ?], offset: ?>>
  tiles (%t, %u, %v) in (%first, %second, %third) {
    scf.forall (%l) in (1) {
      %e = memref.load %split[%t, %c1, %c0] : memref<?x2x2xf32, strided<[?, 2, 1], offset: ?>>
      memref.store %e, %y[%t, %c0] : memref<?x2xf32>
    } {mapping = [#gpu.thread<linear_dim_0>]}
  }
  end
}

// What is asserted stays so: whoever makes a function of the kernel says where a failure goes.
// CHECK-LABEL: tracea_pipe.kernel @asserts(
// CHECK:         cf.assert %{{.*}}, "{0}"
tracea_pipe.kernel @asserts(%y: memref<4xf32>, %n: index) attributes {variant = "linalg", source_op = "tensor.extract"} {
  %c1 = arith.constant 1 : index
  tiles (%t) in (%c1) {
    %holds = arith.cmpi slt, %n, %c1 : index
    cf.assert %holds, "{0}"
  }
  end
}
