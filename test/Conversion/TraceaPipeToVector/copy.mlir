// Copies into slots: rows, transposes in registers, alternating rows, single
// elements.
// RUN: tracea-opt %s --convert-tracea-pipe-to-vector --canonicalize --cse | FileCheck %s

#s = #tracea_pipe.staged
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
                                                  cpu = "x86-64-v3", features = "+fma,+avx2", vector_bits = 128>} {

// Rows of full vectors: no masks, no zeros.
// CHECK-LABEL: tracea_pipe.kernel @rows(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x?xf32>
// CHECK:         tiles (%[[I:.*]], %[[J:.*]]) in
// CHECK:           scf.for %[[R:.*]] = %{{.*}} to %c4
// CHECK:             scf.for %[[C:.*]] = %{{.*}} to %c8{{.*}} step %c4
// CHECK-DAG:           %[[SR:.*]] = arith.addi %[[I]], %[[R]]
// CHECK-DAG:           %[[SC:.*]] = arith.addi %[[J]], %[[C]]
// CHECK:               %[[X:.*]] = vector.load %[[A]][%[[SR]], %[[SC]]]
// CHECK-NEXT:          vector.store %[[X]], %{{.*}}[%[[R]], %[[C]]] : memref<4x8xf32>
// CHECK-NOT:       masked
// CHECK:         end
tracea_pipe.kernel @rows(%a: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %s = tracea_pipe.scratch : memref<4x8xf32, #s>
    tracea_pipe.copy %a[%i, %j] map affine_map<(i, k) -> (i, k)> to %s : memref<?x?xf32>, memref<4x8xf32, #s>
  }
  tracea_pipe.end
}

// Limits leave what is below them and in the slot, and nothing if they are negative.
// A row cut by a limit ends in one masked vector, which reads only what it may; one
// that begins before the image or ends behind it is filled with zeros at its head
// and tail; a row outside is zeros from end to end, and nothing of it is read.
// CHECK-LABEL: tracea_pipe.kernel @padded(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x?xbf16>, %[[LIMIT0:[a-z0-9]+]]: index, %[[LIMIT1:[a-z0-9]+]]: index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : vector<4xf32>
// CHECK:         tiles (%[[I:.*]], %[[J:.*]]) in
// CHECK-DAG:       %[[MOST0:.*]] = arith.minsi %[[LIMIT0]], %[[C4]]
// CHECK-DAG:       %[[N:.*]] = arith.maxsi %[[MOST0]], %[[C0]]
// CHECK-DAG:       %[[MOST1:.*]] = arith.minsi %[[LIMIT1]], %[[C8]]
// CHECK-DAG:       %[[LEN:.*]] = arith.maxsi %[[MOST1]], %[[C0]]
// CHECK-DAG:       %[[H:.*]] = memref.dim %[[A]], %c0
// CHECK-DAG:       %[[W:.*]] = memref.dim %[[A]], %c1
// CHECK:           scf.for %[[R:.*]] = %[[C0]] to %[[N]]
// CHECK-DAG:         %[[AHEAD:.*]] = arith.subi %[[C0]], %[[J]]
// CHECK-DAG:         %[[SPACE:.*]] = arith.subi %[[W]], %[[J]]
// CHECK-DAG:         %[[A0:.*]] = arith.maxsi %[[AHEAD]], %[[C0]]
// CHECK-DAG:         %[[LOW:.*]] = arith.minsi %[[A0]], %[[LEN]]
// CHECK-DAG:         %[[S0:.*]] = arith.minsi %[[SPACE]], %[[LEN]]
// CHECK-DAG:         %[[HIGH:.*]] = arith.maxsi %[[S0]], %[[LOW]]
// CHECK-DAG:         %[[ROW:.*]] = arith.addi %[[I]], %[[R]]
// CHECK-DAG:         %[[IN0:.*]] = arith.cmpi sge, %[[ROW]], %[[C0]]
// CHECK-DAG:         %[[IN1:.*]] = arith.cmpi slt, %[[ROW]], %[[H]]
// CHECK:             %[[IN:.*]] = arith.andi %[[IN0]], %[[IN1]]
// CHECK-DAG:         %[[BEGIN:.*]] = arith.select %[[IN]], %[[LOW]], %[[LEN]]
// CHECK-DAG:         %[[END:.*]] = arith.select %[[IN]], %[[HIGH]], %[[LEN]]
// CHECK:             scf.for %[[C:.*]] = %[[C0]] to %[[BEGIN]] step %[[C4]] {
// CHECK:               %[[MASK:.*]] = vector.create_mask
// CHECK-NEXT:          vector.maskedstore %{{.*}}[%[[R]], %[[C]]], %[[MASK]], %[[ZEROS]]
// CHECK:             scf.for %{{.*}} = %[[BEGIN]] to %[[WHOLE:.*]] step %[[C4]] {
// CHECK:               %[[X:.*]] = vector.load %[[A]]{{.*}} vector<4xbf16>
// CHECK-NEXT:          %[[WIDE:.*]] = arith.extf %[[X]] : vector<4xbf16> to vector<4xf32>
// CHECK-NEXT:          vector.store %[[WIDE]]
// CHECK:             scf.if
// CHECK:               %[[M:.*]] = vector.create_mask %[[REST:.*]] :
// CHECK:               vector.maskedload %[[A]]{{.*}}, %[[M]], %{{.*}} into vector<4xbf16>
// CHECK:               arith.extf
// CHECK:               vector.maskedstore %{{.*}}[%[[R]], %[[WHOLE]]], %[[M]]
// CHECK:             scf.for %{{.*}} = %[[END]] to %[[LEN]] step %[[C4]] {
// CHECK:               vector.maskedstore %{{.*}}, %{{.*}}, %[[ZEROS]]
tracea_pipe.kernel @padded(%a: memref<?x?xbf16>, %n: index, %length: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %s = tracea_pipe.scratch : memref<4x8xf32, #s>
    tracea_pipe.copy %a[%i, %j] map affine_map<(i, k) -> (i, k)> limits(%n, %length) padded [0, 1] to %s
        : memref<?x?xbf16>, memref<4x8xf32, #s>
  }
  tracea_pipe.end
}

// Rows of pixels of one channel run along the dimension before it; numbers in offset
// form have their sign bits inverted, and zeros are 128.
// CHECK-LABEL: tracea_pipe.kernel @one_channel(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x?x1xi8>
// CHECK-DAG:     %[[NONE:.*]] = arith.constant dense<-128> : vector<16xi8>
// CHECK:         scf.for
// CHECK:           vector.maskedstore %{{.*}}, %[[NONE]]
// CHECK:           %[[X:.*]] = vector.load %[[A]][%{{.*}}, %{{.*}}, %c0] : memref<?x?x1xi8>, vector<16xi8>
// CHECK:           %[[Y:.*]] = arith.xori %[[X]], %[[NONE]]
// CHECK:           vector.store %[[Y]]
// CHECK:           %[[Z:.*]] = vector.maskedload %[[A]]
// CHECK:           %[[V:.*]] = arith.xori %[[Z]], %[[NONE]]
// CHECK:           vector.maskedstore %{{.*}}, %[[V]]
// CHECK:         end
tracea_pipe.kernel @one_channel(%a: memref<?x?x1xi8>, %n: index, %w: index) {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %s = tracea_pipe.scratch : memref<4x32xui8, #s>
    tracea_pipe.copy %a[%i, %j, %c0] map affine_map<(i, k) -> (i, k, 0)> limits(%n, %w) padded [0, 1] to %s : memref<?x?x1xi8>, memref<4x32xui8, #s>
  }
  tracea_pipe.end
}

// The slot's rows run across the source's: blocks of 4x4 go through registers, in
// two rounds of shuffles; blocks at the edges element by element. A limit of one
// makes no loop.
// CHECK-LABEL: tracea_pipe.kernel @transposed(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x?xf32>, %[[K:[a-z0-9]+]]: index
// CHECK:         tiles
// CHECK-COUNT-2:   scf.for
// CHECK-NOT:       scf.for
// CHECK:           scf.if %{{.*}} {
// CHECK-COUNT-4:     vector.load %[[A]]
// CHECK-COUNT-2:     vector.shuffle %{{.*}} [0, 4, 2, 6]
// CHECK-COUNT-2:     vector.shuffle %{{.*}} [{{0, 1, 4, 5|2, 3, 6, 7}}]
// CHECK-COUNT-4:     vector.store
// CHECK-NOT:         vector.store
// CHECK:           } else {
// CHECK:             scf.for
// CHECK:               scf.for
// CHECK:                 %[[E:.*]] = scf.if
// CHECK:                   memref.load %[[A]]
// CHECK:                 memref.store %[[E]]
tracea_pipe.kernel @transposed(%a: memref<?x?xf32>, %k: index, %w: index) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i, %j) in (%k, %k) {
    %s = tracea_pipe.scratch : memref<2x8x4xf32, #s>
    tracea_pipe.copy %a[%i, %j] map affine_map<(p, k, i) -> (p * 4 + i, k)> limits(%c1, %k, %w) padded [0] to %s
        : memref<?x?xf32>, memref<2x8x4xf32, #s>
  }
  tracea_pipe.end
}

// A slot of three columns: blocks of four places of three rows, of which the first row
// stands in for the fourth, and is not stored. Where it runs along the source's rows
// each of its rows is one vector.
// CHECK-LABEL: tracea_pipe.kernel @three_columns(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x?xf32>
// CHECK:         scf.for %[[K:.*]] = %{{.*}} to %c8{{.*}} step %c4
// CHECK-COUNT-3:   vector.load %[[A]]{{.*}} vector<4xf32>
// CHECK-NOT:       vector.load
// CHECK:           vector.shuffle %{{.*}} [0, 1, 2] : vector<4xf32>
// CHECK-COUNT-4:   vector.store %{{.*}} : memref<8x3xf32>, vector<3xf32>
// CHECK-NOT:       vector.store
// CHECK:         scf.for
// CHECK:           vector.load %[[A]]{{.*}} vector<3xf32>
// CHECK-NEXT:      vector.store
// CHECK-NOT:       masked
// CHECK:         end
tracea_pipe.kernel @three_columns(%a: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %s0 = tracea_pipe.scratch : memref<8x3xf32, #s>
    tracea_pipe.copy %a[%i, %j] map affine_map<(k, i) -> (i, k)> to %s0 : memref<?x?xf32>, memref<8x3xf32, #s>
    %s1 = tracea_pipe.scratch : memref<8x3xf32, #s>
    tracea_pipe.copy %a[%i, %j] map affine_map<(k, i) -> (k, i)> to %s1 : memref<?x?xf32>, memref<8x3xf32, #s>
  }
  tracea_pipe.end
}

// Neither: every second element; a slot of five columns, more than lanes; memory without
// neighbours; elements below a byte.
// CHECK-LABEL: tracea_pipe.kernel @elements
// CHECK-NOT:     vector.
// CHECK:         memref.load %{{.*}} : memref<?x?xf32>
// CHECK-NEXT:    memref.store %{{.*}} : memref<4x8xf32>
// CHECK-NOT:     vector.
// CHECK:         memref.load %{{.*}} : memref<?x?xf32>
// CHECK-NEXT:    memref.store %{{.*}} : memref<8x5xf32>
// CHECK-NOT:     vector.
// CHECK:         memref.load %{{.*}} : memref<8x8xf32, strided<[1, 8], offset: ?>>
// CHECK-NEXT:    memref.store %{{.*}} : memref<4x8xf32>
// CHECK-NOT:     vector.
// CHECK:         memref.load %{{.*}} : memref<?x?xi1>
// CHECK-NEXT:    memref.store %{{.*}} : memref<4x8xi1>
// CHECK-NOT:     vector.
// CHECK:         end
tracea_pipe.kernel @elements(%a: memref<?x?xf32>, %b: memref<?x?xi1>, %m: memref<8x8xf32>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %s0 = tracea_pipe.scratch : memref<4x8xf32, #s>
    tracea_pipe.copy %a[%i, %j] map affine_map<(i, k) -> (i, k * 2)> to %s0 : memref<?x?xf32>, memref<4x8xf32, #s>
    %s1 = tracea_pipe.scratch : memref<8x5xf32, #s>
    tracea_pipe.copy %a[%i, %j] map affine_map<(k, i) -> (i, k)> to %s1 : memref<?x?xf32>, memref<8x5xf32, #s>
    %v = tracea_pipe.view %m[%i, %j] map affine_map<(i, j) -> (j, i)> : memref<8x8xf32> -> memref<8x8xf32, strided<[1, 8], offset: ?>>
    %s2 = tracea_pipe.scratch : memref<4x8xf32, #s>
    tracea_pipe.copy %v[%i, %j] map affine_map<(i, k) -> (i, k)> to %s2
        : memref<8x8xf32, strided<[1, 8], offset: ?>>, memref<4x8xf32, #s>
    %s3 = tracea_pipe.scratch : memref<4x8xi1, #s>
    tracea_pipe.copy %b[%i, %j] map affine_map<(i, k) -> (i, k)> to %s3 : memref<?x?xi1>, memref<4x8xi1, #s>
  }
  tracea_pipe.end
}

// Neighbours of a row alternate between two rows of the slot: the columns of an
// image by their remainder by a stride of two. Two vectors are loaded and taken
// apart; where the row begins or ends under masks from the border on.
// CHECK-LABEL: tracea_pipe.kernel @every_other(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x?xf32>
// CHECK-NOT:     memref.load
// CHECK:         scf.for %[[H:.*]] = %{{.*}} to %{{.*}} step
// CHECK:           scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step
// CHECK:             scf.if
// CHECK:               %[[X:.*]] = vector.load %[[A]]
// CHECK:               %[[Y:.*]] = vector.load %[[A]]
// CHECK:               %[[EVEN:.*]] = vector.shuffle %[[X]], %[[Y]] [0, 2, 4, 6]
// CHECK:               vector.store %[[EVEN]], %[[S:.*]][%[[H]], %c0, %[[J]]]
// CHECK:               %[[ODD:.*]] = vector.shuffle %[[X]], %[[Y]] [1, 3, 5, 7]
// CHECK:               vector.store %[[ODD]], %[[S]][%[[H]], %c1, %[[J]]]
// CHECK:             } else {
// CHECK:               %[[END:.*]] = vector.create_mask
// CHECK:               %[[BEGIN:.*]] = vector.create_mask
// CHECK:               %[[NOT:.*]] = arith.xori %[[BEGIN]],
// CHECK:               %[[MASK:.*]] = arith.andi %[[END]], %[[NOT]]
// CHECK:               vector.maskedload %[[A]][{{.*}}], %[[MASK]]
// CHECK:               vector.maskedload %[[A]]
// CHECK:               vector.maskedstore %[[S]][%[[H]], %c0, %[[J]]]
// CHECK:               vector.maskedstore %[[S]][%[[H]], %c1, %[[J]]]
tracea_pipe.kernel @every_other(%a: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %s = tracea_pipe.scratch : memref<3x2x9xf32, #s>
    tracea_pipe.copy %a[%i, %j] map affine_map<(h, r, w) -> (h, w * 2 + r - 1)> padded [0, 1] to %s : memref<?x?xf32>, memref<3x2x9xf32, #s>
  }
  tracea_pipe.end
}

// One element, and a slot of rank 0.
// CHECK-LABEL: tracea_pipe.kernel @point
// CHECK:         %[[E:.*]] = memref.load %{{.*}} : memref<?xf64>
// CHECK-NEXT:    %[[T:.*]] = arith.truncf %[[E]] : f64 to f32
// CHECK-NEXT:    memref.store %[[T]], %{{.*}}[] : memref<f32>
tracea_pipe.kernel @point(%a: memref<?xf64>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %s = tracea_pipe.scratch : memref<f32, #s>
    tracea_pipe.copy %a[%i] map affine_map<() -> (0)> to %s : memref<?xf64>, memref<f32, #s>
  }
  tracea_pipe.end
}

// Panels of a matrix whose rows run across them: four rows at a time for all panels, so that the lines of
// a row are read once.
// CHECK-LABEL: tracea_pipe.kernel @panels(
// CHECK-SAME:    %[[B:[a-z0-9]+]]: memref<64x64xf32>
// CHECK:         scf.for %[[K0:[a-z0-9]+]] = %c0 to %c6 step %c4 {
// CHECK:           %[[REST:.*]] = arith.addi %[[K0]], %c4
// CHECK:           %[[END:.*]] = arith.minsi %[[REST]], %c6
// CHECK:           scf.for %[[P:[a-z0-9]+]] = %c0 to %c3 step %c1 {
// CHECK:             scf.for %[[K:[a-z0-9]+]] = %[[K0]] to %[[END]] step %c1 {
// CHECK-NOT:           mask
// CHECK:               vector.load %[[B]]{{.*}} : memref<64x64xf32>, vector<4xf32>
// CHECK:               vector.store %{{.*}}[%[[P]], %[[K]], %{{.*}}] : memref<3x6x4xf32>, vector<4xf32>
// CHECK-NOT:         mask
// CHECK:         end
tracea_pipe.kernel @panels(%b: memref<64x64xf32>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %s = tracea_pipe.scratch : memref<3x6x4xf32, #s>
    tracea_pipe.copy %b[%i, %j] map affine_map<(p, k, j) -> (k, p * 4 + j)> to %s : memref<64x64xf32>, memref<3x6x4xf32, #s>
  }
  tracea_pipe.end
}

// Conversions: narrower and wider floats, halves of two kinds by way of f32,
// integers.
// CHECK-LABEL: tracea_pipe.kernel @conversions
// CHECK:         arith.extf %{{.*}} : vector<8xbf16> to vector<8xf32>
// CHECK-NEXT:    arith.truncf %{{.*}} : vector<8xf32> to vector<8xf16>
// CHECK:         arith.truncf %{{.*}} : vector<4xf64> to vector<4xf32>
// CHECK:         arith.sitofp %{{.*}} : vector<4xi8> to vector<4xf32>
// CHECK:         arith.extsi %{{.*}} : vector<4xi8> to vector<4xi32>
tracea_pipe.kernel @conversions(%h: memref<?xbf16>, %d: memref<?xf64>, %c: memref<?xi8>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %s0 = tracea_pipe.scratch : memref<8xf16, #s>
    tracea_pipe.copy %h[%i] map affine_map<(i) -> (i)> to %s0 : memref<?xbf16>, memref<8xf16, #s>
    %s1 = tracea_pipe.scratch : memref<8xf32, #s>
    tracea_pipe.copy %d[%i] map affine_map<(i) -> (i)> to %s1 : memref<?xf64>, memref<8xf32, #s>
    %s2 = tracea_pipe.scratch : memref<8xf32, #s>
    tracea_pipe.copy %c[%i] map affine_map<(i) -> (i)> to %s2 : memref<?xi8>, memref<8xf32, #s>
    %s3 = tracea_pipe.scratch : memref<8xi32, #s>
    tracea_pipe.copy %c[%i] map affine_map<(i) -> (i)> to %s3 : memref<?xi8>, memref<8xi32, #s>
  }
  tracea_pipe.end
}
}
