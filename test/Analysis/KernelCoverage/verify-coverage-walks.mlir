// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage{require-proof=true}))" | FileCheck %s

// Stores that walk through coordinates, or through collapsed dimensions, in pieces
// of one tile: whichever of the extents only the run knows.

// CHECK: @walked0({{.*}}claim = "all elements of 1 result written exactly once, 2 accesses in bounds,
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(n, p, q, k) -> (n, p, q, k)>
tracea_pipe.kernel @walked0(%y: memref<?x?x?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %n = memref.dim %y, %c0 : memref<?x?x?x16xf32>
  %p = memref.dim %y, %c1 : memref<?x?x?x16xf32>
  %q = memref.dim %y, %c2 : memref<?x?x?x16xf32>
  %np = arith.muli %n, %p : index
  %all = arith.muli %np, %q : index
  %count = arith.ceildivsi %all, %c16 : index
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    %walk = tracea_pipe.delinearize %first into(%p, %q) : <3>
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%walk : !tracea_pipe.walk<3>) limits(%left, %c16)
      : tensor<8x16xf32, #lanes>, memref<?x?x?x16xf32>
    %second = arith.addi %first, %c8 : index
    %more = arith.subi %all, %second : index
    %next = tracea_pipe.delinearize %second into(%p, %q) : <3>
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%next : !tracea_pipe.walk<3>) limits(%more, %c16)
      : tensor<8x16xf32, #lanes>, memref<?x?x?x16xf32>
  }
  tracea_pipe.end
}

// -----

// CHECK: @collapsed0({{.*}}claim = "all elements of 1 result written exactly once, 2 accesses in bounds,
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(m, k) -> (m, k)>
tracea_pipe.kernel @collapsed0(%y: memref<?x?x?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %flat = memref.collapse_shape %y [[0, 1, 2], [3]] : memref<?x?x?x16xf32> into memref<?x16xf32>
  %all = memref.dim %flat, %c0 : memref<?x16xf32>
  %count = arith.ceildivsi %all, %c16 : index
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    tracea_pipe.store %zero, %flat[%first, %c0] map #result limits(%left, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
    %second = arith.addi %first, %c8 : index
    %more = arith.subi %all, %second : index
    tracea_pipe.store %zero, %flat[%second, %c0] map #result limits(%more, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
  }
  tracea_pipe.end
}

// -----

// CHECK: @walked1({{.*}}claim = "all elements of 1 result written exactly once, 2 accesses in bounds,
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(n, p, q, k) -> (n, p, q, k)>
tracea_pipe.kernel @walked1(%y: memref<3x?x?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %n = memref.dim %y, %c0 : memref<3x?x?x16xf32>
  %p = memref.dim %y, %c1 : memref<3x?x?x16xf32>
  %q = memref.dim %y, %c2 : memref<3x?x?x16xf32>
  %np = arith.muli %n, %p : index
  %all = arith.muli %np, %q : index
  %count = arith.ceildivsi %all, %c16 : index
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    %walk = tracea_pipe.delinearize %first into(%p, %q) : <3>
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%walk : !tracea_pipe.walk<3>) limits(%left, %c16)
      : tensor<8x16xf32, #lanes>, memref<3x?x?x16xf32>
    %second = arith.addi %first, %c8 : index
    %more = arith.subi %all, %second : index
    %next = tracea_pipe.delinearize %second into(%p, %q) : <3>
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%next : !tracea_pipe.walk<3>) limits(%more, %c16)
      : tensor<8x16xf32, #lanes>, memref<3x?x?x16xf32>
  }
  tracea_pipe.end
}

// -----

// CHECK: @collapsed1({{.*}}claim = "all elements of 1 result written exactly once, 2 accesses in bounds,
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(m, k) -> (m, k)>
tracea_pipe.kernel @collapsed1(%y: memref<3x?x?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %flat = memref.collapse_shape %y [[0, 1, 2], [3]] : memref<3x?x?x16xf32> into memref<?x16xf32>
  %all = memref.dim %flat, %c0 : memref<?x16xf32>
  %count = arith.ceildivsi %all, %c16 : index
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    tracea_pipe.store %zero, %flat[%first, %c0] map #result limits(%left, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
    %second = arith.addi %first, %c8 : index
    %more = arith.subi %all, %second : index
    tracea_pipe.store %zero, %flat[%second, %c0] map #result limits(%more, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
  }
  tracea_pipe.end
}

// -----

// CHECK: @walked2({{.*}}claim = "all elements of 1 result written exactly once, 2 accesses in bounds,
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(n, p, q, k) -> (n, p, q, k)>
tracea_pipe.kernel @walked2(%y: memref<?x28x?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %n = memref.dim %y, %c0 : memref<?x28x?x16xf32>
  %p = memref.dim %y, %c1 : memref<?x28x?x16xf32>
  %q = memref.dim %y, %c2 : memref<?x28x?x16xf32>
  %np = arith.muli %n, %p : index
  %all = arith.muli %np, %q : index
  %count = arith.ceildivsi %all, %c16 : index
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    %walk = tracea_pipe.delinearize %first into(%p, %q) : <3>
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%walk : !tracea_pipe.walk<3>) limits(%left, %c16)
      : tensor<8x16xf32, #lanes>, memref<?x28x?x16xf32>
    %second = arith.addi %first, %c8 : index
    %more = arith.subi %all, %second : index
    %next = tracea_pipe.delinearize %second into(%p, %q) : <3>
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%next : !tracea_pipe.walk<3>) limits(%more, %c16)
      : tensor<8x16xf32, #lanes>, memref<?x28x?x16xf32>
  }
  tracea_pipe.end
}

// -----

// CHECK: @collapsed2({{.*}}claim = "all elements of 1 result written exactly once, 2 accesses in bounds,
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(m, k) -> (m, k)>
tracea_pipe.kernel @collapsed2(%y: memref<?x28x?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %flat = memref.collapse_shape %y [[0, 1, 2], [3]] : memref<?x28x?x16xf32> into memref<?x16xf32>
  %all = memref.dim %flat, %c0 : memref<?x16xf32>
  %count = arith.ceildivsi %all, %c16 : index
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    tracea_pipe.store %zero, %flat[%first, %c0] map #result limits(%left, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
    %second = arith.addi %first, %c8 : index
    %more = arith.subi %all, %second : index
    tracea_pipe.store %zero, %flat[%second, %c0] map #result limits(%more, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
  }
  tracea_pipe.end
}

// -----

// CHECK: @walked3({{.*}}claim = "all elements of 1 result written exactly once, 2 accesses in bounds,
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(n, p, q, k) -> (n, p, q, k)>
tracea_pipe.kernel @walked3(%y: memref<?x?x20x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %n = memref.dim %y, %c0 : memref<?x?x20x16xf32>
  %p = memref.dim %y, %c1 : memref<?x?x20x16xf32>
  %q = memref.dim %y, %c2 : memref<?x?x20x16xf32>
  %np = arith.muli %n, %p : index
  %all = arith.muli %np, %q : index
  %count = arith.ceildivsi %all, %c16 : index
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    %walk = tracea_pipe.delinearize %first into(%p, %q) : <3>
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%walk : !tracea_pipe.walk<3>) limits(%left, %c16)
      : tensor<8x16xf32, #lanes>, memref<?x?x20x16xf32>
    %second = arith.addi %first, %c8 : index
    %more = arith.subi %all, %second : index
    %next = tracea_pipe.delinearize %second into(%p, %q) : <3>
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%next : !tracea_pipe.walk<3>) limits(%more, %c16)
      : tensor<8x16xf32, #lanes>, memref<?x?x20x16xf32>
  }
  tracea_pipe.end
}

// -----

// CHECK: @collapsed3({{.*}}claim = "all elements of 1 result written exactly once, 2 accesses in bounds,
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(m, k) -> (m, k)>
tracea_pipe.kernel @collapsed3(%y: memref<?x?x20x16xf32>) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %flat = memref.collapse_shape %y [[0, 1, 2], [3]] : memref<?x?x20x16xf32> into memref<?x16xf32>
  %all = memref.dim %flat, %c0 : memref<?x16xf32>
  %count = arith.ceildivsi %all, %c16 : index
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    tracea_pipe.store %zero, %flat[%first, %c0] map #result limits(%left, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
    %second = arith.addi %first, %c8 : index
    %more = arith.subi %all, %second : index
    tracea_pipe.store %zero, %flat[%second, %c0] map #result limits(%more, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
  }
  tracea_pipe.end
}

// -----

// CHECK: @walked4({{.*}}claim = "all elements of 1 result written exactly once, 2 accesses in bounds,
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(n, p, q, k) -> (n, p, q, k)>
tracea_pipe.kernel @walked4(%y: memref<3x28x?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %n = memref.dim %y, %c0 : memref<3x28x?x16xf32>
  %p = memref.dim %y, %c1 : memref<3x28x?x16xf32>
  %q = memref.dim %y, %c2 : memref<3x28x?x16xf32>
  %np = arith.muli %n, %p : index
  %all = arith.muli %np, %q : index
  %count = arith.ceildivsi %all, %c16 : index
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    %walk = tracea_pipe.delinearize %first into(%p, %q) : <3>
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%walk : !tracea_pipe.walk<3>) limits(%left, %c16)
      : tensor<8x16xf32, #lanes>, memref<3x28x?x16xf32>
    %second = arith.addi %first, %c8 : index
    %more = arith.subi %all, %second : index
    %next = tracea_pipe.delinearize %second into(%p, %q) : <3>
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%next : !tracea_pipe.walk<3>) limits(%more, %c16)
      : tensor<8x16xf32, #lanes>, memref<3x28x?x16xf32>
  }
  tracea_pipe.end
}

// -----

// CHECK: @collapsed4({{.*}}claim = "all elements of 1 result written exactly once, 2 accesses in bounds,
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(m, k) -> (m, k)>
tracea_pipe.kernel @collapsed4(%y: memref<3x28x?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %flat = memref.collapse_shape %y [[0, 1, 2], [3]] : memref<3x28x?x16xf32> into memref<?x16xf32>
  %all = memref.dim %flat, %c0 : memref<?x16xf32>
  %count = arith.ceildivsi %all, %c16 : index
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    tracea_pipe.store %zero, %flat[%first, %c0] map #result limits(%left, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
    %second = arith.addi %first, %c8 : index
    %more = arith.subi %all, %second : index
    tracea_pipe.store %zero, %flat[%second, %c0] map #result limits(%more, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
  }
  tracea_pipe.end
}

// -----

// CHECK: @walked5({{.*}}claim = "all elements of 1 result written exactly once, 2 accesses in bounds,
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(n, p, q, k) -> (n, p, q, k)>
tracea_pipe.kernel @walked5(%y: memref<3x?x20x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %n = memref.dim %y, %c0 : memref<3x?x20x16xf32>
  %p = memref.dim %y, %c1 : memref<3x?x20x16xf32>
  %q = memref.dim %y, %c2 : memref<3x?x20x16xf32>
  %np = arith.muli %n, %p : index
  %all = arith.muli %np, %q : index
  %count = arith.ceildivsi %all, %c16 : index
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    %walk = tracea_pipe.delinearize %first into(%p, %q) : <3>
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%walk : !tracea_pipe.walk<3>) limits(%left, %c16)
      : tensor<8x16xf32, #lanes>, memref<3x?x20x16xf32>
    %second = arith.addi %first, %c8 : index
    %more = arith.subi %all, %second : index
    %next = tracea_pipe.delinearize %second into(%p, %q) : <3>
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%next : !tracea_pipe.walk<3>) limits(%more, %c16)
      : tensor<8x16xf32, #lanes>, memref<3x?x20x16xf32>
  }
  tracea_pipe.end
}

// -----

// CHECK: @collapsed5({{.*}}claim = "all elements of 1 result written exactly once, 2 accesses in bounds,
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(m, k) -> (m, k)>
tracea_pipe.kernel @collapsed5(%y: memref<3x?x20x16xf32>) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %flat = memref.collapse_shape %y [[0, 1, 2], [3]] : memref<3x?x20x16xf32> into memref<?x16xf32>
  %all = memref.dim %flat, %c0 : memref<?x16xf32>
  %count = arith.ceildivsi %all, %c16 : index
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    tracea_pipe.store %zero, %flat[%first, %c0] map #result limits(%left, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
    %second = arith.addi %first, %c8 : index
    %more = arith.subi %all, %second : index
    tracea_pipe.store %zero, %flat[%second, %c0] map #result limits(%more, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
  }
  tracea_pipe.end
}

// -----

// CHECK: @walked6({{.*}}claim = "all elements of 1 result written exactly once, 2 accesses in bounds,
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(n, p, q, k) -> (n, p, q, k)>
tracea_pipe.kernel @walked6(%y: memref<?x28x20x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %n = memref.dim %y, %c0 : memref<?x28x20x16xf32>
  %p = memref.dim %y, %c1 : memref<?x28x20x16xf32>
  %q = memref.dim %y, %c2 : memref<?x28x20x16xf32>
  %np = arith.muli %n, %p : index
  %all = arith.muli %np, %q : index
  %count = arith.ceildivsi %all, %c16 : index
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    %walk = tracea_pipe.delinearize %first into(%p, %q) : <3>
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%walk : !tracea_pipe.walk<3>) limits(%left, %c16)
      : tensor<8x16xf32, #lanes>, memref<?x28x20x16xf32>
    %second = arith.addi %first, %c8 : index
    %more = arith.subi %all, %second : index
    %next = tracea_pipe.delinearize %second into(%p, %q) : <3>
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%next : !tracea_pipe.walk<3>) limits(%more, %c16)
      : tensor<8x16xf32, #lanes>, memref<?x28x20x16xf32>
  }
  tracea_pipe.end
}

// -----

// CHECK: @collapsed6({{.*}}claim = "all elements of 1 result written exactly once, 2 accesses in bounds,
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(m, k) -> (m, k)>
tracea_pipe.kernel @collapsed6(%y: memref<?x28x20x16xf32>) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %flat = memref.collapse_shape %y [[0, 1, 2], [3]] : memref<?x28x20x16xf32> into memref<?x16xf32>
  %all = memref.dim %flat, %c0 : memref<?x16xf32>
  %count = arith.ceildivsi %all, %c16 : index
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    tracea_pipe.store %zero, %flat[%first, %c0] map #result limits(%left, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
    %second = arith.addi %first, %c8 : index
    %more = arith.subi %all, %second : index
    tracea_pipe.store %zero, %flat[%second, %c0] map #result limits(%more, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
  }
  tracea_pipe.end
}

// -----

// CHECK: @walked7({{.*}}claim = "all elements of 1 result written exactly once, 2 accesses in bounds,
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(n, p, q, k) -> (n, p, q, k)>
tracea_pipe.kernel @walked7(%y: memref<3x28x20x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %n = memref.dim %y, %c0 : memref<3x28x20x16xf32>
  %p = memref.dim %y, %c1 : memref<3x28x20x16xf32>
  %q = memref.dim %y, %c2 : memref<3x28x20x16xf32>
  %np = arith.muli %n, %p : index
  %all = arith.muli %np, %q : index
  %count = arith.ceildivsi %all, %c16 : index
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    %walk = tracea_pipe.delinearize %first into(%p, %q) : <3>
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%walk : !tracea_pipe.walk<3>) limits(%left, %c16)
      : tensor<8x16xf32, #lanes>, memref<3x28x20x16xf32>
    %second = arith.addi %first, %c8 : index
    %more = arith.subi %all, %second : index
    %next = tracea_pipe.delinearize %second into(%p, %q) : <3>
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%next : !tracea_pipe.walk<3>) limits(%more, %c16)
      : tensor<8x16xf32, #lanes>, memref<3x28x20x16xf32>
  }
  tracea_pipe.end
}

// -----

// CHECK: @collapsed7({{.*}}claim = "all elements of 1 result written exactly once, 2 accesses in bounds,
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(m, k) -> (m, k)>
tracea_pipe.kernel @collapsed7(%y: memref<3x28x20x16xf32>) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %flat = memref.collapse_shape %y [[0, 1, 2], [3]] : memref<3x28x20x16xf32> into memref<1680x16xf32>
  %all = memref.dim %flat, %c0 : memref<1680x16xf32>
  %count = arith.ceildivsi %all, %c16 : index
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    tracea_pipe.store %zero, %flat[%first, %c0] map #result limits(%left, %c16) : tensor<8x16xf32, #lanes>, memref<1680x16xf32>
    %second = arith.addi %first, %c8 : index
    %more = arith.subi %all, %second : index
    tracea_pipe.store %zero, %flat[%second, %c0] map #result limits(%more, %c16) : tensor<8x16xf32, #lanes>, memref<1680x16xf32>
  }
  tracea_pipe.end
}
