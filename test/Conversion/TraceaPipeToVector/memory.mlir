// Loads, stores and views of register tiles.
// RUN: tracea-opt %s --convert-tracea-pipe-to-vector --canonicalize --cse | FileCheck %s

#tile = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#rows = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 0], [0, 0]], outer = [1, 1]>
#mixed = #tracea_pipe.lanes<reg = [[0, 1], [1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#many = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [64, 0], [128, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#point = #tracea_pipe.lanes<outer = []>
#two = #tracea_pipe.lanes<reg = [[4]], lane = [[1], [2]], outer = [1]>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
                                                  cpu = "x86-64-v3", features = "+avx2,+fma", vector_bits = 128>} {

// One vector a register, at the register's coordinate through the map; no masks
// without limits.
// CHECK-LABEL: tracea_pipe.kernel @whole(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x?xf32>, %[[D:[a-z0-9]+]]: memref<?x?xf32>
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK:         tiles (%[[I:.*]], %[[J:.*]]) in
// CHECK-NEXT:      %[[X0:.*]] = vector.load %[[A]][%[[I]], %[[J]]] : memref<?x?xf32>, vector<4xf32>
// CHECK-NEXT:      %[[I1:.*]] = arith.addi %[[I]], %[[C1]]
// CHECK-NEXT:      %[[X1:.*]] = vector.load %[[A]][%[[I1]], %[[J]]]
// CHECK-NEXT:      vector.store %[[X0]], %[[D]][%[[I]], %[[J]]]
// CHECK-NEXT:      %[[I2:.*]] = arith.addi %[[I]], %[[C2]]
// CHECK-NEXT:      vector.store %[[X1]], %[[D]][%[[I2]], %[[J]]]
// CHECK-NEXT:    }
tracea_pipe.kernel @whole(%a: memref<?x?xf32>, %d: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %x = tracea_pipe.load %a[%i, %j] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<2x4xf32, #tile>
    tracea_pipe.store %x, %d[%i, %j] map affine_map<(i, j) -> (i * 2, j)> : tensor<2x4xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// A load with a padded dimension is masked always: a row of the tile lies in the memory or does not. Its
// address is the memory's nearest place, so that nobody asks for what is not mapped.
// CHECK-LABEL: tracea_pipe.kernel @padded(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<9x16xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[C9:.*]] = arith.constant 9 : index
// CHECK:         tiles (%[[I:.*]], %[[J:.*]]) in
// CHECK-NOT:       scf.if
// CHECK-DAG:       %[[MOST:.*]] = arith.minsi %[[I]], %[[C8]]
// CHECK-DAG:       %[[AT:.*]] = arith.maxsi %[[MOST]], %[[C0]]
// CHECK-DAG:       %[[IN:.*]] = arith.cmpi ult, %[[I]], %[[C9]]
// CHECK-DAG:       %[[M0:.*]] = vector.broadcast %[[IN]] : i1 to vector<4xi1>
// CHECK:           vector.maskedload %[[A]][%[[AT]], %[[J]]], %[[M0]],
// CHECK:           %[[I1:.*]] = arith.addi %[[I]], %[[C1]]
// CHECK-DAG:       %[[MOST1:.*]] = arith.minsi %[[I1]], %[[C8]]
// CHECK-DAG:       %[[AT1:.*]] = arith.maxsi %[[MOST1]], %[[C0]]
// CHECK-DAG:       %[[IN1:.*]] = arith.cmpi ult, %[[I1]], %[[C9]]
// CHECK-DAG:       %[[M1:.*]] = vector.broadcast %[[IN1]] : i1 to vector<4xi1>
// CHECK:           vector.maskedload %[[A]][%[[AT1]], %[[J]]], %[[M1]],
tracea_pipe.kernel @padded(%a: memref<9x16xf32>, %d: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %x = tracea_pipe.load %a[%i, %j] map affine_map<(i, j) -> (i, j)> padded [0] : memref<9x16xf32> -> tensor<2x4xf32, #tile>
    tracea_pipe.store %x, %d[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// With limits the lanes below them and in the memory; where lanes lie along the padded dimension each is
// asked for by itself.
// CHECK-LABEL: tracea_pipe.kernel @padded_lanes(
// CHECK:         %[[CUT:.*]] = vector.create_mask
// CHECK:         %[[IN:.*]] = vector.broadcast %{{.*}} : i1 to vector<4xi1>
// CHECK:         %[[MASK:.*]] = arith.andi %[[CUT]], %[[IN]] : vector<4xi1>
// CHECK:         vector.maskedload %{{.*}}, %[[MASK]],
// CHECK:         %[[EACH:.*]] = vector.from_elements {{.*}} : vector<4xi1>
// CHECK:         vector.maskedload %{{.*}}, %[[EACH]],
tracea_pipe.kernel @padded_lanes(%a: memref<9x16xf32>, %d: memref<?x?xf32>, %n: index, %w: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %x = tracea_pipe.load %a[%i, %j] map affine_map<(i, j) -> (i, j)> limits(%n, %w) padded [0] : memref<9x16xf32> -> tensor<2x4xf32, #tile>
    tracea_pipe.store %x, %d[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #tile>, memref<?x?xf32>
    %y = tracea_pipe.load %a[%i, %j] map affine_map<(i, j) -> (i, j)> padded [1] : memref<9x16xf32> -> tensor<2x4xf32, #tile>
    tracea_pipe.store %y, %d[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// Where limits may cut the tile: whether they do is asked once; then each row has a
// mask of the lanes below the column limit, none of them past the row limit.
// CHECK-LABEL: tracea_pipe.kernel @cut(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x?xf32>, %[[D:[a-z0-9]+]]: memref<?x?xf32>, %[[H:[a-z0-9]+]]: index, %[[W:[a-z0-9]+]]: index, %[[PAD:[a-z0-9]+]]: f32
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK:         tiles (%[[I:.*]], %[[J:.*]]) in
// CHECK-NEXT:      %[[ROWS:.*]] = arith.cmpi sge, %[[H]], %[[C2]]
// CHECK-NEXT:      %[[COLUMNS:.*]] = arith.cmpi sge, %[[W]], %[[C4]]
// CHECK-NEXT:      %[[WHOLE:.*]] = arith.andi %[[ROWS]], %[[COLUMNS]]
// CHECK-NEXT:      %[[X:.*]]:2 = scf.if %[[WHOLE]] -> (vector<4xf32>, vector<4xf32>) {
// CHECK-COUNT-2:     vector.load
// CHECK-NOT:         vector.load
// CHECK:           } else {
// CHECK-NEXT:        %[[PADS:.*]] = vector.broadcast %[[PAD]] : f32 to vector<4xf32>
// CHECK-NEXT:        %[[MOST:.*]] = arith.minsi %[[W]], %[[C4]]
// CHECK-NEXT:        %[[LIMIT:.*]] = arith.maxsi %[[MOST]], %[[C0]]
// CHECK-NEXT:        %[[IN0:.*]] = arith.cmpi sgt, %[[H]], %[[C0]]
// CHECK-NEXT:        %[[N0:.*]] = arith.select %[[IN0]], %[[LIMIT]], %[[C0]]
// CHECK-NEXT:        %[[M0:.*]] = vector.create_mask %[[N0]] : vector<4xi1>
// CHECK-NEXT:        vector.maskedload %[[A]][%[[I]], %[[J]]], %[[M0]], %[[PADS]]
// CHECK-NEXT:        %[[I1:.*]] = arith.addi %[[I]], %[[C1]]
// CHECK-NEXT:        %[[IN1:.*]] = arith.cmpi sgt, %[[H]], %[[C1]]
// CHECK-NEXT:        %[[N1:.*]] = arith.select %[[IN1]], %[[LIMIT]], %[[C0]]
// CHECK-NEXT:        %[[M1:.*]] = vector.create_mask %[[N1]]
// CHECK-NEXT:        vector.maskedload %[[A]][%[[I1]], %[[J]]], %[[M1]], %[[PADS]]
// CHECK:           scf.if %[[WHOLE]] {
// CHECK-NEXT:        vector.store %[[X]]#0
// CHECK:             vector.store %[[X]]#1
// CHECK:           } else {
// CHECK:             vector.maskedstore %[[D]][%[[I]], %[[J]]], %{{.*}}, %[[X]]#0
// CHECK:             vector.maskedstore %[[D]][%{{.*}}, %[[J]]], %{{.*}}, %[[X]]#1
tracea_pipe.kernel @cut(%a: memref<?x?xf32>, %d: memref<?x?xf32>, %h: index, %w: index, %z: f32) {
  tracea_pipe.tiles (%i, %j) in (%h, %w) {
    %x = tracea_pipe.load %a[%i, %j] map affine_map<(i, j) -> (i, j)> limits(%h, %w) padding(%z : f32)
         : memref<?x?xf32> -> tensor<2x4xf32, #tile>
    tracea_pipe.store %x, %d[%i, %j] map affine_map<(i, j) -> (i, j)> limits(%h, %w) : tensor<2x4xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// A vector that begins at column 4 has the lanes below limit - 4.
// CHECK-LABEL: tracea_pipe.kernel @cut_columns(
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<?xf32>, %[[W:[a-z0-9]+]]: index
// CHECK:         } else {
// CHECK:           %[[LIMIT:.*]] = arith.maxsi
// CHECK:           vector.create_mask %[[LIMIT]] :
// CHECK:           %[[REST:.*]] = arith.addi %[[LIMIT]], %c-4
// CHECK:           vector.create_mask %[[REST]] :
// CHECK:         vector.store
tracea_pipe.kernel @cut_columns(%a: memref<?xf32>, %w: index) {
  tracea_pipe.tiles (%i) in (%w) {
    %x = tracea_pipe.load %a[%i] map affine_map<(i) -> (i)> limits(%w) : memref<?xf32> -> tensor<8xf32, #two>
    tracea_pipe.store %x, %a[%i] map affine_map<(i) -> (i)> : tensor<8xf32, #two>, memref<?xf32>
  }
  tracea_pipe.end
}

// Limits known to lie beyond the tile are none; one that cuts is all that is asked.
// CHECK-LABEL: tracea_pipe.kernel @known
// CHECK:         tiles
// CHECK-NEXT:      vector.load
// CHECK:           vector.load
// CHECK-NEXT:      %[[WHOLE:.*]] = arith.cmpi sge, %{{.*}}, %c4
// CHECK-NEXT:      scf.if %[[WHOLE]] {
tracea_pipe.kernel @known(%a: memref<?x?xf32>, %d: memref<?x?xf32>, %w: index) {
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  tracea_pipe.tiles (%i, %j) in (%w, %w) {
    %x = tracea_pipe.load %a[%i, %j] map affine_map<(i, j) -> (i, j)> limits(%c2, %c9)
         : memref<?x?xf32> -> tensor<2x4xf32, #tile>
    tracea_pipe.store %x, %d[%i, %j] map affine_map<(i, j) -> (i, j)> limits(%c2, %w) : tensor<2x4xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// All lanes read one element: a scalar load and a broadcast. Past the limits the
// memory is not touched, and the lanes past the limit get the padding, zero.
// CHECK-LABEL: tracea_pipe.kernel @uniform(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x?xf32>,
// CHECK-DAG:     %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : vector<4xf32>
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         scf.if
// CHECK-NEXT:      %[[E0:.*]] = memref.load %[[A]]
// CHECK-NEXT:      vector.broadcast %[[E0]] : f32 to vector<4xf32>
// CHECK:           memref.load
// CHECK:         } else {
// CHECK:           %[[IN:.*]] = arith.andi
// CHECK-NEXT:      %[[E:.*]] = scf.if %[[IN]] -> (f32) {
// CHECK-NEXT:        memref.load %[[A]]
// CHECK:           } else {
// CHECK-NEXT:        scf.yield %[[ZERO]]
// CHECK:           %[[ALL:.*]] = vector.broadcast %[[E]]
// CHECK:           %[[MASK:.*]] = vector.create_mask
// CHECK:           arith.select %[[MASK]], %[[ALL]], %[[ZEROS]]
tracea_pipe.kernel @uniform(%a: memref<?x?xf32>, %d: memref<?x?xf32>, %h: index, %w: index) {
  tracea_pipe.tiles (%i, %j) in (%h, %w) {
    %x = tracea_pipe.load %a[%i, %j] map affine_map<(i, j) -> (i, 0)> limits(%h, %w)
         : memref<?x?xf32> -> tensor<2x4xf32, #tile>
    tracea_pipe.store %x, %d[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// A reduced tile: every lane holds the row's value; one of them writes it.
// CHECK-LABEL: tracea_pipe.kernel @reduced
// CHECK:         tiles
// CHECK-NEXT:      memref.load
// CHECK-NEXT:      vector.broadcast
// CHECK-NEXT:      arith.addi
// CHECK-NEXT:      memref.load
// CHECK-NEXT:      vector.broadcast
// CHECK-COUNT-2:   arith.mulf
// CHECK-NEXT:      vector.extract %{{.*}}[0]
// CHECK-NEXT:      memref.store
// CHECK-NEXT:      vector.extract %{{.*}}[0]
// CHECK-NEXT:      memref.store
// CHECK-NEXT:    }
tracea_pipe.kernel @reduced(%a: memref<?xf32>, %d: memref<?xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i] map affine_map<(i, j) -> (i)> : memref<?xf32> -> tensor<2x1xf32, #rows>
    %y = arith.mulf %x, %x : tensor<2x1xf32, #rows>
    tracea_pipe.store %y, %d[%i] map affine_map<(i, j) -> (i)> : tensor<2x1xf32, #rows>, memref<?xf32>
  }
  tracea_pipe.end
}

// Lanes along another dimension of the memory, with a step, or backwards: elements
// one by one, and at the edges only those inside.
// CHECK-LABEL: tracea_pipe.kernel @scattered
// CHECK-NOT:     vector.load
// CHECK:         tiles
// CHECK-COUNT-8:   memref.load
// CHECK-NOT:       memref.load
// CHECK-NOT:       vector.store
// CHECK:           scf.if %{{.*}} {
// CHECK-COUNT-8:     memref.store
// CHECK-NOT:         memref.store
// CHECK:           } else {
// CHECK-COUNT-8:     scf.if %{{.*}} {
// CHECK-NOT:         scf.if
// CHECK-LABEL: tracea_pipe.kernel @stepped
// CHECK:         tiles
// CHECK-NOT:       vector.load
// CHECK-NOT:       vector.store
// CHECK:         end
tracea_pipe.kernel @scattered(%a: memref<?x?xf32>, %d: memref<?x?xf32>, %h: index, %w: index) {
  tracea_pipe.tiles (%i, %j) in (%h, %w) {
    %x = tracea_pipe.load %a[%i, %j] map affine_map<(i, j) -> (j, i)> : memref<?x?xf32> -> tensor<2x4xf32, #tile>
    tracea_pipe.store %x, %d[%i, %j] map affine_map<(i, j) -> (j, i)> limits(%h, %w) : tensor<2x4xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}
tracea_pipe.kernel @stepped(%a: memref<?x?xf32>, %d: memref<?x?xf32>, %h: index, %w: index) {
  tracea_pipe.tiles (%i, %j) in (%h, %w) {
    %x = tracea_pipe.load %a[%i, %j] map affine_map<(i, j) -> (i, j * 2)> : memref<?x?xf32> -> tensor<2x4xf32, #tile>
    tracea_pipe.store %x, %d[%i, %j] map affine_map<(i, j) -> (i, 3 - j)> : tensor<2x4xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// Of many elements a loop goes through the lanes of each register, those below the limits: code for each
// would be blocks by the thousand.
// CHECK-LABEL: tracea_pipe.kernel @apart(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x?xf32>, %[[D:[a-z0-9]+]]: memref<?x?xf32>, %[[H:[a-z0-9]+]]: index, %[[W:[a-z0-9]+]]: index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK:         tiles (%[[I:.*]], %[[J:.*]]) in
// CHECK-NOT:       scf.if
// CHECK:           scf.for %[[L:.*]] = %[[C0]] to %[[C4]] step %[[C1]] iter_args(%[[V:.*]] =
// CHECK-DAG:         %[[S:.*]] = arith.muli %[[L]], %[[C2]]
// CHECK-DAG:         %[[AT:.*]] = arith.addi %[[J]], %[[S]]
// CHECK:             %[[E:.*]] = memref.load %[[A]][%[[AT]], %[[I]]]
// CHECK:             %[[N:.*]] = vector.insert %[[E]], %[[V]] [%[[L]]]
// CHECK:             scf.yield %[[N]]
// CHECK-COUNT-255: scf.for {{.*}} iter_args
// CHECK-NOT:       scf.if
// CHECK:           %[[IN:.*]] = arith.cmpi sgt, %[[H]], %[[C0]]
// CHECK:           %[[M:.*]] = arith.select %[[IN]], %{{.*}}, %[[C0]]
// CHECK:           %[[COUNT:.*]] = arith.minsi %[[M]], %[[C4]]
// CHECK:           scf.for %[[L:.*]] = %[[C0]] to %[[COUNT]] step %[[C1]] {
// CHECK:             %[[E:.*]] = vector.extract %{{.*}}[%[[L]]]
// CHECK:             memref.store %[[E]], %[[D]]
// CHECK-COUNT-255: scf.for
// CHECK-NOT:       scf.if
// CHECK:         end
tracea_pipe.kernel @apart(%a: memref<?x?xf32>, %d: memref<?x?xf32>, %h: index, %w: index) {
  tracea_pipe.tiles (%i, %j) in (%h, %w) {
    %x = tracea_pipe.load %a[%j, %i] map affine_map<(i, j) -> (j * 2, i)> : memref<?x?xf32> -> tensor<256x4xf32, #many>
    tracea_pipe.store %x, %d[%j, %i] map affine_map<(i, j) -> (j, i)> limits(%h, %w) : tensor<256x4xf32, #many>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// Register 1's lanes hold elements 1, 0, 3, 2: no run of neighbours, although
// register 0's are one.
// CHECK-LABEL: tracea_pipe.kernel @mixed(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x?xf32>
// CHECK-NOT:     vector.load
// CHECK:         end
tracea_pipe.kernel @mixed(%a: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %x = tracea_pipe.load %a[%i, %j] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<2x4xf32, #mixed>
    tracea_pipe.store %x, %a[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #mixed>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// A byte holds one i1 in memory, a vector packs eight.
// CHECK-LABEL: tracea_pipe.kernel @bits
// CHECK:         tiles
// CHECK-NOT:       vector.load
// CHECK-NOT:       vector.store
// CHECK-COUNT-8:   memref.load %{{.*}} : memref<?x?xi1>
// CHECK-COUNT-8:   memref.store %{{.*}} : memref<?x?xi1>
tracea_pipe.kernel @bits(%a: memref<?x?xi1>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %x = tracea_pipe.load %a[%i, %j] map affine_map<(i, j) -> (i, j)> : memref<?x?xi1> -> tensor<2x4xi1, #tile>
    tracea_pipe.store %x, %a[%j, %i] map affine_map<(i, j) -> (i, j)> : tensor<2x4xi1, #tile>, memref<?x?xi1>
  }
  tracea_pipe.end
}

// CHECK-LABEL: tracea_pipe.kernel @point(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<f32>
// CHECK:           %[[E:.*]] = memref.load %[[A]][] : memref<f32>
// CHECK-NEXT:      %[[V:.*]] = vector.broadcast %[[E]] : f32 to vector<1xf32>
// CHECK:           memref.store %{{.*}}, %[[A]][]
tracea_pipe.kernel @point(%a: memref<f32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[] map affine_map<() -> ()> : memref<f32> -> tensor<f32, #point>
    %y = arith.addf %x, %x : tensor<f32, #point>
    tracea_pipe.store %y, %a[] map affine_map<() -> ()> : tensor<f32, #point>, memref<f32>
  }
  tracea_pipe.end
}

// One request a cache line of each row: 32 floats are two lines, and may reach into a
// third where rows are not whole lines apart. Indices are eight bytes.
// CHECK-LABEL: tracea_pipe.kernel @prefetch
// CHECK:         tiles (%[[I:.*]], %[[J:.*]]) in
// CHECK-NEXT:      memref.prefetch %{{.*}}[%[[I]], %[[J]]], write, locality<3>, data
// CHECK-NEXT:      %[[J16:.*]] = arith.addi %[[J]], %c16
// CHECK-NEXT:      memref.prefetch %{{.*}}[%[[I]], %[[J16]]], write
// CHECK-NEXT:      %[[J31:.*]] = arith.addi %[[J]], %c31
// CHECK-NEXT:      memref.prefetch %{{.*}}[%[[I]], %[[J31]]], write
// CHECK-NEXT:      %[[I1:.*]] = arith.addi %[[I]], %c1
// CHECK-NEXT:      memref.prefetch %{{.*}}[%[[I1]], %[[J]]], write
// CHECK-NEXT:      memref.prefetch %{{.*}}[%[[I1]], %[[J16]]], write
// CHECK-NEXT:      memref.prefetch %{{.*}}[%[[I1]], %[[J31]]], write
// CHECK-NEXT:      memref.prefetch %{{.*}}[%[[I]], %[[J]]], read, locality<2>, data
// CHECK-NEXT:      memref.prefetch %{{.*}}[%[[I]], %[[J16]]], read, locality<2>, data
// CHECK-NEXT:      memref.prefetch %{{.*}}[%[[I]], %[[J]]], read, locality<3>, data
// CHECK-NEXT:      memref.prefetch %{{.*}}[%[[I]], %[[J16]]], read, locality<3>, data
// CHECK-NEXT:      memref.prefetch %{{.*}}[%[[I]], %[[J31]]], read, locality<3>, data
// CHECK-NEXT:      memref.prefetch %{{.*}}[%[[I]]], read
// CHECK-NEXT:      %[[I8:.*]] = arith.addi %[[I]], %c8
// CHECK-NEXT:      memref.prefetch %{{.*}}[%[[I8]]], read
// CHECK-NEXT:    }
tracea_pipe.kernel @prefetch(%a: memref<?x?xf32>, %b: memref<9x64xf32>, %c: memref<9x40xf32>, %x: memref<?xindex>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    tracea_pipe.prefetch %a[%i, %j] map affine_map<(i, j) -> (i, j)> limits(%n, %n) shape [2, 32] write : memref<?x?xf32>
    tracea_pipe.prefetch %b[%i, %j] map affine_map<(i, j) -> (i, j)> shape [1, 32] level 2 : memref<9x64xf32>
    tracea_pipe.prefetch %c[%i, %j] map affine_map<(i, j) -> (i, j)> shape [1, 32] : memref<9x40xf32>
    tracea_pipe.prefetch %x[%i] map affine_map<(i) -> (i)> shape [16] : memref<?xindex>
  }
  tracea_pipe.end
}

// A view adds its offsets, by the source's strides, to the source's own offset.
// CHECK-LABEL: tracea_pipe.kernel @views
// CHECK-DAG:     %[[C128:.*]] = arith.constant 128 : index
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK:         tiles (%[[I:.*]], %[[J:.*]]) in
// CHECK:           %[[S:.*]] = memref.view %{{.*}} : memref<{{.*}}xi8> to memref<4x8x16xf32>
// CHECK-NEXT:      %[[P:.*]] = arith.muli %[[I]], %[[C128]]
// CHECK-NEXT:      %[[J3:.*]] = arith.addi %[[J]], %[[C3]]
// CHECK-NEXT:      %[[Q:.*]] = arith.muli %[[J3]], %[[C16]]
// CHECK-NEXT:      %[[PQ:.*]] = arith.addi %[[P]], %[[Q]]
// CHECK-NEXT:      %[[START:.*]] = arith.addi %[[PQ]], %[[I]]
// CHECK-NEXT:      memref.reinterpret_cast %[[S]] to offset: [%[[START]]], sizes: [2, 4], strides: [1, 32] : memref<4x8x16xf32> to memref<2x4xf32, strided<[1, 32], offset: ?>>
tracea_pipe.kernel @views(%d: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %s = tracea_pipe.scratch : memref<4x8x16xf32, #tracea_pipe.staged>
    %v = tracea_pipe.view %s[%i, %j, %i] map affine_map<(i, j) -> (0, j * 2 + 3, i)>
         : memref<4x8x16xf32, #tracea_pipe.staged> -> memref<2x4xf32, strided<[1, 32], offset: ?>, #tracea_pipe.staged>
    %x = tracea_pipe.load %v[%i, %j] map affine_map<(i, j) -> (i, j)>
         : memref<2x4xf32, strided<[1, 32], offset: ?>, #tracea_pipe.staged> -> tensor<2x4xf32, #tile>
    tracea_pipe.store %x, %d[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// More lines than code is good for are a loop over the first dimension of several places.
// CHECK-LABEL: tracea_pipe.kernel @many(
// CHECK:         scf.for %[[ROW:.*]] = %c0 to %c3 step %c1 {
// CHECK:           %[[AT:.*]] = arith.addi %{{.*}}, %[[ROW]]
// CHECK-COUNT-32:  memref.prefetch %{{.*}}[%[[AT]], %{{.*}}], read, locality<2>
// CHECK-NOT:       memref.prefetch
tracea_pipe.kernel @many(%s: memref<?x512xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.prefetch %s[%i, %c0] map affine_map<(i, j) -> (i, j)> shape [3, 512] level 2 : memref<?x512xf32>
  }
  tracea_pipe.end
}
}
