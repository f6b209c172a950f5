// Arithmetic, reductions and changes of layout on register tiles.
// RUN: tracea-opt %s --convert-tracea-pipe-to-vector --canonicalize --cse | FileCheck %s

#tile = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#turned = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 2], [0, 1]], outer = [1, 1]>
#blocks = #tracea_pipe.lanes<reg = [[0, 2]], lane = [[0, 1], [1, 0]], outer = [1, 1]>
#wide = #tracea_pipe.lanes<reg = [[0, 4]], lane = [[0, 1], [0, 2]], outer = [3, 1]>
#wide_rows = #tracea_pipe.lanes<lane = [[0, 0], [0, 0]], outer = [3, 1]>
#wide_columns = #tracea_pipe.lanes<reg = [[0, 4]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#swapped = #tracea_pipe.lanes<reg = [[1, 0], [0, 4]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#straight = #tracea_pipe.lanes<reg = [[0, 4], [1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#half = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#twice = #tracea_pipe.lanes<reg = [[0, 0], [0, 4]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#twice_row = #tracea_pipe.lanes<lane = [[0, 0], [0, 0]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
                                                  cpu = "x86-64-v3", features = "+avx2,+fma", vector_bits = 128>} {

// Every operation of arith and math, once a register; a constant serves all
// registers, a scalar condition too, and attributes stay.
// CHECK-LABEL: tracea_pipe.kernel @elementwise(
// CHECK-SAME:    %[[FLAG:[a-z0-9]*]]: i1, %[[S:[a-z0-9]*]]: f32)
// CHECK-DAG:     %[[TWO:.*]] = arith.constant dense<2.000000e+00> : vector<4xf32>
// CHECK-DAG:     %[[R0:.*]] = arith.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00]> : vector<4xf32>
// CHECK-DAG:     %[[R1:.*]] = arith.constant dense<[4.000000e+00, 5.000000e+00, 6.000000e+00, 7.000000e+00]> : vector<4xf32>
// CHECK:           %[[X0:.*]] = vector.load
// CHECK:           %[[X1:.*]] = vector.load
// CHECK-NEXT:      %[[Y0:.*]] = arith.mulf %[[X0]], %[[TWO]] fastmath<contract>
// CHECK-NEXT:      %[[Y1:.*]] = arith.mulf %[[X1]], %[[TWO]] fastmath<contract>
// CHECK-NEXT:      %[[Z0:.*]] = arith.addf %[[Y0]], %[[R0]]
// CHECK-NEXT:      %[[Z1:.*]] = arith.addf %[[Y1]], %[[R1]]
// CHECK-NEXT:      %[[E0:.*]] = math.exp %[[Z0]] : vector<4xf32>
// CHECK-NEXT:      %[[E1:.*]] = math.exp %[[Z1]]
// CHECK-NEXT:      %[[B:.*]] = vector.broadcast %[[S]] : f32 to vector<4xf32>
// CHECK-NEXT:      %[[P0:.*]] = arith.cmpf ogt, %[[E0]], %[[B]]
// CHECK-NEXT:      %[[P1:.*]] = arith.cmpf ogt, %[[E1]], %[[B]]
// CHECK-NEXT:      %[[W0:.*]] = arith.select %[[P0]], %[[X0]], %[[E0]] : vector<4xi1>, vector<4xf32>
// CHECK-NEXT:      %[[W1:.*]] = arith.select %[[P1]], %[[X1]], %[[E1]]
// CHECK-NEXT:      %[[V0:.*]] = arith.select %[[FLAG]], %[[W0]], %[[Y0]] : vector<4xf32>
// CHECK-NEXT:      %[[V1:.*]] = arith.select %[[FLAG]], %[[W1]], %[[Y1]]
// CHECK-NEXT:      %[[T0:.*]] = arith.truncf %[[V0]] : vector<4xf32> to vector<4xbf16>
// CHECK-NEXT:      %[[T1:.*]] = arith.truncf %[[V1]]
// CHECK-NEXT:      vector.store %[[T0]]
// CHECK:           vector.store %[[T1]]
tracea_pipe.kernel @elementwise(%a: memref<?x?xf32>, %d: memref<?x?xbf16>, %n: index, %flag: i1, %s: f32) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %two = arith.constant dense<2.0> : tensor<2x4xf32, #tile>
    %ramp = arith.constant dense<[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]> : tensor<2x4xf32, #tile>
    %x = tracea_pipe.load %a[%i, %j] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<2x4xf32, #tile>
    %y = arith.mulf %x, %two fastmath<contract> : tensor<2x4xf32, #tile>
    %z = arith.addf %y, %ramp : tensor<2x4xf32, #tile>
    %e = math.exp %z : tensor<2x4xf32, #tile>
    %b = tensor.splat %s : tensor<2x4xf32, #tile>
    %p = arith.cmpf ogt, %e, %b : tensor<2x4xf32, #tile>
    %w = arith.select %p, %x, %e : tensor<2x4xi1, #tile>, tensor<2x4xf32, #tile>
    %v = arith.select %flag, %w, %y : tensor<2x4xf32, #tile>
    %t = arith.truncf %v : tensor<2x4xf32, #tile> to tensor<2x4xbf16, #tile>
    tracea_pipe.store %t, %d[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x4xbf16, #tile>, memref<?x?xbf16>
  }
  tracea_pipe.end
}

// Tiles carried by loops and branches are their registers.
// CHECK-LABEL: tracea_pipe.kernel @control
// CHECK:         scf.for {{.*}} -> (vector<4xf32>, vector<4xf32>)
// CHECK:           scf.if {{.*}} -> (vector<4xf32>, vector<4xf32>)
tracea_pipe.kernel @control(%a: memref<?x?xf32>, %n: index, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %zero = arith.constant dense<0.0> : tensor<2x4xf32, #tile>
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> tensor<2x4xf32, #tile> {
      %x = scf.if %flag -> tensor<2x4xf32, #tile> {
        %l = tracea_pipe.load %a[%i, %k] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<2x4xf32, #tile>
        scf.yield %l : tensor<2x4xf32, #tile>
      } else {
        %l = tracea_pipe.load %a[%k, %i] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<2x4xf32, #tile>
        scf.yield %l : tensor<2x4xf32, #tile>
      }
      %s = arith.addf %acc, %x : tensor<2x4xf32, #tile>
      scf.yield %s : tensor<2x4xf32, #tile>
    }
    tracea_pipe.store %r, %a[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// Coordinates are constants: a column number differs by lane, a row number by
// register.
// CHECK-LABEL: tracea_pipe.kernel @coordinates
// CHECK-DAG:     arith.constant dense<[0, 1, 2, 3]> : vector<4xindex>
// CHECK-DAG:     arith.constant dense<0> : vector<4xi32>
// CHECK-DAG:     arith.constant dense<1> : vector<4xi32>
tracea_pipe.kernel @coordinates(%a: memref<?x?xindex>, %b: memref<?x?xi32>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %c = tracea_pipe.coordinate dim 1 : tensor<2x4xindex, #tile>
    tracea_pipe.store %c, %a[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x4xindex, #tile>, memref<?x?xindex>
    %r = tracea_pipe.coordinate dim 0 : tensor<2x4xi32, #tile>
    tracea_pipe.store %r, %b[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x4xi32, #tile>, memref<?x?xi32>
  }
  tracea_pipe.end
}

// 3x8 along the columns: the two registers of a row first, then the lanes as a
// butterfly, after which every lane holds the row's sum.
// CHECK-LABEL: tracea_pipe.kernel @reduce_lanes
// CHECK-COUNT-6: vector.load
// CHECK-NOT:     vector.load
// CHECK:         %[[S0:.*]] = arith.addf %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK-NEXT:    %[[S1:.*]] = arith.addf
// CHECK-NEXT:    %[[S2:.*]] = arith.addf
// CHECK-NEXT:    %[[O0:.*]] = vector.shuffle %[[S0]], %[[S0]] [1, 0, 3, 2]
// CHECK-NEXT:    %[[T0:.*]] = arith.addf %[[S0]], %[[O0]]
// CHECK-NEXT:    %[[O1:.*]] = vector.shuffle %[[S1]], %[[S1]] [1, 0, 3, 2]
// CHECK-NEXT:    arith.addf %[[S1]], %[[O1]]
// CHECK-NEXT:    vector.shuffle %[[S2]], %[[S2]] [1, 0, 3, 2]
// CHECK-NEXT:    arith.addf
// CHECK-NEXT:    %[[P0:.*]] = vector.shuffle %[[T0]], %[[T0]] [2, 3, 0, 1]
// CHECK-NEXT:    arith.addf %[[T0]], %[[P0]]
// CHECK-COUNT-2: vector.shuffle
// CHECK-NOT:     vector.shuffle
tracea_pipe.kernel @reduce_lanes(%a: memref<?x?xf32>, %d: memref<?xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %i] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<3x8xf32, #wide>
    %r = tracea_pipe.reduce add %x dim 1 : tensor<3x8xf32, #wide> -> tensor<3x1xf32, #wide_rows>
    tracea_pipe.store %r, %d[%i] map affine_map<(i, j) -> (i)> : tensor<3x1xf32, #wide_rows>, memref<?xf32>
  }
  tracea_pipe.end
}

// Along the rows nothing crosses lanes. NaN wins a float maximum; integers are
// signed.
// CHECK-LABEL: tracea_pipe.kernel @reduce_registers
// CHECK:         %[[A:.*]] = arith.maximumf %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK-NEXT:    %[[B:.*]] = arith.maximumf
// CHECK-NEXT:    arith.maximumf %[[A]], %{{.*}}
// CHECK-NEXT:    arith.maximumf %[[B]], %{{.*}}
// CHECK-NOT:     vector.shuffle
// CHECK:         arith.minsi
// CHECK-NOT:     vector.shuffle
// CHECK:         end
tracea_pipe.kernel @reduce_registers(%a: memref<?x?xf32>, %b: memref<?x?xi32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %i] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<3x8xf32, #wide>
    %r = tracea_pipe.reduce max %x dim 0 : tensor<3x8xf32, #wide> -> tensor<1x8xf32, #wide_columns>
    tracea_pipe.store %r, %a[%i, %i] map affine_map<(i, j) -> (i, j)> : tensor<1x8xf32, #wide_columns>, memref<?x?xf32>
    %y = tracea_pipe.load %b[%i, %i] map affine_map<(i, j) -> (i, j)> : memref<?x?xi32> -> tensor<3x8xi32, #wide>
    %s = tracea_pipe.reduce min %y dim 0 : tensor<3x8xi32, #wide> -> tensor<1x8xi32, #wide_columns>
    tracea_pipe.store %s, %b[%i, %i] map affine_map<(i, j) -> (i, j)> : tensor<1x8xi32, #wide_columns>, memref<?x?xi32>
  }
  tracea_pipe.end
}

// Two registers hold the same elements: each element is counted once.
// CHECK-LABEL: tracea_pipe.kernel @reduce_replicas
// CHECK:         arith.muli
// CHECK-NOT:     arith.muli
// CHECK:         vector.shuffle
// CHECK-NEXT:    arith.muli
// CHECK-NEXT:    vector.shuffle
// CHECK-NEXT:    arith.muli
// CHECK-NOT:     arith.muli
// CHECK:         end
tracea_pipe.kernel @reduce_replicas(%a: memref<?x?xi32>, %d: memref<?xi32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %i] map affine_map<(i, j) -> (i, j)> : memref<?x?xi32> -> tensor<1x8xi32, #twice>
    %r = tracea_pipe.reduce mul %x dim 1 : tensor<1x8xi32, #twice> -> tensor<1x1xi32, #twice_row>
    tracea_pipe.store %r, %d[%i] map affine_map<(i, j) -> (i)> : tensor<1x1xi32, #twice_row>, memref<?xi32>
  }
  tracea_pipe.end
}

// Spreading a row's value costs nothing: its register is used again.
// CHECK-LABEL: tracea_pipe.kernel @broadcast
// CHECK:         %[[R0:.*]] = vector.broadcast
// CHECK:         %[[R1:.*]] = vector.broadcast
// CHECK:         %[[R2:.*]] = vector.broadcast
// CHECK-COUNT-2: vector.store %[[R0]],
// CHECK-COUNT-2: vector.store %[[R1]],
// CHECK-COUNT-2: vector.store %[[R2]],
tracea_pipe.kernel @broadcast(%a: memref<?xf32>, %d: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i] map affine_map<(i, j) -> (i)> : memref<?xf32> -> tensor<3x1xf32, #wide_rows>
    %y = tracea_pipe.broadcast %x : tensor<3x1xf32, #wide_rows> -> tensor<3x8xf32, #wide>
    tracea_pipe.store %y, %d[%i, %i] map affine_map<(i, j) -> (i, j)> : tensor<3x8xf32, #wide>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// The right half of each row: registers 1 and 3 of four.
// CHECK-LABEL: tracea_pipe.kernel @slice
// CHECK:         %[[C4:.*]] = arith.addi %[[I:.*]], %c4
// CHECK:         %[[X04:.*]] = vector.load %[[A:.*]][%[[I]], %[[C4]]]
// CHECK:         %[[I1:.*]] = arith.addi %[[I]], %c1
// CHECK:         %[[X14:.*]] = vector.load %[[A]][%[[I1]], %[[C4]]]
// CHECK:         vector.store %[[X04]], %[[D:.*]][%[[I]], %[[I]]]
// CHECK:         vector.store %[[X14]], %[[D]][%[[I1]], %[[I]]]
tracea_pipe.kernel @slice(%a: memref<?x?xf32>, %d: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %i] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<2x8xf32, #straight>
    %y = tracea_pipe.slice %x[0, 4] : tensor<2x8xf32, #straight> -> tensor<2x4xf32, #half>
    tracea_pipe.store %y, %d[%i, %i] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #half>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// Registers get other numbers, elements stay where they are: element (1, 0) is
// register 2 of one map and register 1 of the other.
// CHECK-LABEL: tracea_pipe.kernel @relayout
// CHECK:         %[[X00:.*]] = vector.load
// CHECK:         %[[X04:.*]] = vector.load
// CHECK:         %[[X10:.*]] = vector.load
// CHECK:         %[[X14:.*]] = vector.load
// CHECK:         vector.store %[[X00]], %[[D:.*]][%[[I:.*]], %[[J:.*]]] :
// CHECK:         vector.store %[[X10]], %[[D]][%[[I1:.*]], %[[J]]] :
// CHECK:         vector.store %[[X04]], %[[D]][%[[I]], %[[J4:.*]]] :
// CHECK:         vector.store %[[X14]], %[[D]][%[[I1]], %[[J4]]] :
tracea_pipe.kernel @relayout(%a: memref<?x?xf32>, %d: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %x = tracea_pipe.load %a[%i, %j] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<2x8xf32, #straight>
    %y = tracea_pipe.relayout %x : tensor<2x8xf32, #straight> -> tensor<2x8xf32, #swapped>
    tracea_pipe.store %y, %d[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x8xf32, #swapped>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// Lanes that move within a register, and a vector of two others: a shuffle each,
// there and back.
// CHECK-LABEL: tracea_pipe.kernel @lanes
// CHECK:         %[[X0:.*]] = vector.load
// CHECK:         %[[X1:.*]] = vector.load
// CHECK:         %[[T0:.*]] = vector.shuffle %[[X0]], %[[X0]] [0, 2, 1, 3]
// CHECK:         %[[T1:.*]] = vector.shuffle %[[X1]], %[[X1]] [0, 2, 1, 3]
// CHECK:         %[[E0:.*]] = math.exp %[[T0]]
// CHECK:         %[[E1:.*]] = math.exp %[[T1]]
// CHECK:         %[[B0:.*]] = vector.shuffle %[[E0]], %[[E0]] [0, 2, 1, 3]
// CHECK:         %[[B1:.*]] = vector.shuffle %[[E1]], %[[E1]] [0, 2, 1, 3]
// CHECK:         %[[P0:.*]] = vector.shuffle %[[B0]], %[[B1]] [0, 1, 4, 5]
// CHECK:         %[[P1:.*]] = vector.shuffle %[[B0]], %[[B1]] [2, 3, 6, 7]
// CHECK:         %[[F0:.*]] = math.exp %[[P0]]
// CHECK:         %[[F1:.*]] = math.exp %[[P1]]
// CHECK:         vector.shuffle %[[F0]], %[[F1]] [0, 1, 4, 5]
// CHECK:         vector.shuffle %[[F0]], %[[F1]] [2, 3, 6, 7]
tracea_pipe.kernel @lanes(%m: memref<?x?xf32>, %d: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %m[%i, %i] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<2x4xf32, #tile>
    %t = tracea_pipe.relayout %x : tensor<2x4xf32, #tile> -> tensor<2x4xf32, #turned>
    %e = math.exp %t : tensor<2x4xf32, #turned>
    %b = tracea_pipe.relayout %e : tensor<2x4xf32, #turned> -> tensor<2x4xf32, #tile>
    %p = tracea_pipe.relayout %b : tensor<2x4xf32, #tile> -> tensor<2x4xf32, #blocks>
    %f = math.exp %p : tensor<2x4xf32, #blocks>
    %y = tracea_pipe.relayout %f : tensor<2x4xf32, #blocks> -> tensor<2x4xf32, #tile>
    tracea_pipe.store %y, %d[%i, %i] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}
}
