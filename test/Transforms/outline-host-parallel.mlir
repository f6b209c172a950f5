// RUN: tracea-opt %s -split-input-file -tracea-outline-host | FileCheck %s

// What follows from the element before it along rows: a lane has a row, whose elements it goes through in their order.
// CHECK-LABEL: func.func @rows(
// CHECK:       tracea_pipe.kernel @scf_forall_0(
// CHECK-SAME:    %[[X:[^:]*]]: memref<512x40xf32>, %[[Y:[^:]*]]: memref<512x40xf32>
// CHECK:         tiles (%[[T:.*]]) in (%c16
// CHECK:         scf.forall (%[[L:.*]]) in (32)
// CHECK:           %[[BEGIN:.*]] = arith.muli %[[T]], %c32
// CHECK:           %[[I:.*]] = arith.addi %[[BEGIN]], %[[L]]
// CHECK:           scf.for %[[J:.*]] = {{.*}} iter_args(
// CHECK:             memref.load %[[X]][%[[I]], %[[J]]]
// CHECK:             memref.store %{{.*}}, %[[Y]][%[[I]], %[[J]]]
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @rows(%x: memref<512x40xf32>, %y: memref<512x40xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c512 = arith.constant 512 : index
    %c40 = arith.constant 40 : index
    %zero = arith.constant 0.0 : f32
    scf.for %i = %c0 to %c512 step %c1 {
      %s = scf.for %j = %c0 to %c40 step %c1 iter_args(%sum = %zero) -> (f32) {
        %a = memref.load %x[%i, %j] : memref<512x40xf32>
        %b = arith.subf %a, %sum : f32
        memref.store %b, %y[%i, %j] : memref<512x40xf32>
        scf.yield %b : f32
      }
    }
    return
  }
}

// -----

// Additions to rows that data names are made in the order of the module, by a lane for each column; with few iterations each
// makes all of a column.
// CHECK-LABEL: func.func @scatter(
// CHECK:       tracea_pipe.kernel @scf_forall_0(
// CHECK:         scf.forall (%[[L:.*]]) in (32)
// CHECK:           %[[J:.*]] = arith.addi %{{.*}}, %[[L]]
// CHECK:           scf.for %[[I:.*]] = {{.*}} {
// CHECK-NOT:         scf.for
// CHECK:             memref.load %{{.*}}[%[[I]], %[[J]]]
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @scatter(%x: memref<100x64xf32>, %n: memref<100xi32>, %y: memref<9x64xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c100 = arith.constant 100 : index
    %c64 = arith.constant 64 : index
    scf.for %i = %c0 to %c100 step %c1 {
      %k = memref.load %n[%i] : memref<100xi32>
      %r = arith.index_cast %k : i32 to index
      scf.for %j = %c0 to %c64 step %c1 {
        %a = memref.load %x[%i, %j] : memref<100x64xf32>
        %b = memref.load %y[%r, %j] : memref<9x64xf32>
        %s = arith.addf %b, %a : f32
        memref.store %s, %y[%r, %j] : memref<9x64xf32>
      }
    }
    return
  }
}

// -----

// With more, rows are dealt out to 64 lanes of each column, or to 1024 where there is no column: each goes through all
// iterations and makes those of its rows. What comes before a number is known is done by all.
// CHECK-LABEL: func.func @dealt(
// CHECK:       tracea_pipe.kernel @scf_forall_0(
// CHECK:         tiles (%[[S:.*]], %{{.*}}) in (%c64, %c2)
// CHECK:           scf.for %[[I:.*]] = {{.*}} {
// CHECK:             %[[K:.*]] = memref.load %{{.*}}[%[[I]]]
// CHECK:             %[[R:.*]] = arith.index_cast %[[K]]
// CHECK:             %[[SHARE:.*]] = arith.remui %[[R]], %c64
// CHECK:             %[[OWN:.*]] = arith.cmpi eq, %[[SHARE]], %[[S]]
// CHECK:             scf.if %[[OWN]] {
// CHECK:               memref.load %{{.*}}[%[[I]], %[[J:.*]]]
// CHECK:               cf.assert
// CHECK:               memref.store %{{.*}}[%[[R]], %[[J]]]
// CHECK:       tracea_pipe.kernel @scf_forall_1(
// CHECK:         tiles (%{{.*}}) in (%c32{{.*}})
// CHECK:             arith.remui %{{.*}}, %c1024
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @dealt(%x: memref<300x64xf32>, %n: memref<300xi32>, %y: memref<9x64xf32>, %z: memref<9xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c300 = arith.constant 300 : index
    %c64 = arith.constant 64 : index
    scf.for %i = %c0 to %c300 step %c1 {
      %k = memref.load %n[%i] : memref<300xi32>
      %r = arith.index_cast %k : i32 to index
      scf.for %j = %c0 to %c64 step %c1 {
        %a = memref.load %x[%i, %j] : memref<300x64xf32>
        %b = memref.load %y[%r, %j] : memref<9x64xf32>
        %s = arith.addf %b, %a : f32
        memref.store %s, %y[%r, %j] : memref<9x64xf32>
      }
    }
    scf.for %i = %c0 to %c300 step %c1 {
      %k = memref.load %n[%i] : memref<300xi32>
      %r = arith.index_cast %k : i32 to index
      %a = memref.load %x[%i, %c0] : memref<300x64xf32>
      %b = memref.load %z[%r] : memref<9xf32>
      %s = arith.addf %b, %a : f32
      memref.store %s, %z[%r] : memref<9xf32>
    }
    return
  }
}

// -----

// Structured operations and slices in a loop: columns are read and added up in turn, rows by lanes, in two dimensions.
// CHECK-LABEL: func.func @slices(
// CHECK:       tracea_pipe.kernel @scf_forall_0(
// CHECK:         scf.forall (%{{.*}}, %[[L:.*]]) in (1, 32)
// CHECK:           scf.for %[[J:.*]] = {{.*}} {
// CHECK-NOT:         scf.for
// CHECK:             memref.store %{{.*}}[%[[I:.*]], %[[K:.*]]] : memref<6x50xf32>
// CHECK:             memref.store %{{.*}}[%[[I]], %[[K]], %[[J]]] : memref<6x50x40xf32>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @slices(%x: memref<6x50x40xf32>, %sum: memref<6x50xf32>, %y: memref<6x50x40xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c40 = arith.constant 40 : index
    scf.for %j = %c0 to %c40 step %c1 {
      %a = memref.subview %x[0, 0, %j] [6, 50, 1] [1, 1, 1] : memref<6x50x40xf32> to memref<6x50xf32, strided<[2000, 40], offset: ?>>
      linalg.add ins(%sum, %a : memref<6x50xf32>, memref<6x50xf32, strided<[2000, 40], offset: ?>>) outs(%sum : memref<6x50xf32>)
      %b = memref.subview %y[0, 0, %j] [6, 50, 1] [1, 1, 1] : memref<6x50x40xf32> to memref<6x50xf32, strided<[2000, 40], offset: ?>>
      memref.copy %sum, %b : memref<6x50xf32> to memref<6x50xf32, strided<[2000, 40], offset: ?>>
    }
    return
  }
}

// -----

// One lane does in turn what is not known to be independent: elements that another iteration reads or that data places,
// a buffer seen in two ways, and iterations of other bounds.
// CHECK-LABEL: func.func @turns(
// CHECK-COUNT-4: tracea_pipe.launch @scf_for_
// CHECK-NOT:     scf_forall
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @turns(%x: memref<64xf32>, %n: memref<64xi32>, %y: memref<65xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    scf.for %i = %c0 to %c64 step %c1 {
      %k = arith.addi %i, %c1 : index
      %a = memref.load %y[%i] : memref<65xf32>
      memref.store %a, %y[%k] : memref<65xf32>
    }
    scf.for %i = %c0 to %c64 step %c1 {
      %k = memref.load %n[%i] : memref<64xi32>
      %r = arith.index_cast %k : i32 to index
      %a = memref.load %x[%i] : memref<64xf32>
      memref.store %a, %y[%r] : memref<65xf32>
    }
    %w = memref.reinterpret_cast %y to offset: [1], sizes: [64], strides: [1] : memref<65xf32> to memref<64xf32, strided<[1], offset: 1>>
    scf.for %i = %c0 to %c64 step %c1 {
      %a = memref.load %w[%i] : memref<64xf32, strided<[1], offset: 1>>
      memref.store %a, %y[%i] : memref<65xf32>
    }
    scf.for %t = %c0 to %c8 step %c1 {
      scf.for %i = %c0 to %c64 step %c1 {
        %a = memref.load %y[%i] : memref<65xf32>
        %b = arith.addf %a, %a : f32
        memref.store %b, %y[%i] : memref<65xf32>
      }
      scf.for %i = %c1 to %c64 step %c1 {
        %a = memref.load %y[%i] : memref<65xf32>
        %b = arith.addf %a, %a : f32
        memref.store %b, %y[%i] : memref<65xf32>
      }
    }
    return
  }
}
