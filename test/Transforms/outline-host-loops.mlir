// RUN: tracea-opt %s -split-input-file -tracea-outline-host | FileCheck %s

// Iterations of a loop that its author says may run beside each other are a GPU's lanes: sums of prefixes, a row a lane.
// CHECK-LABEL: tracea_pipe.kernel @scf_forall_0(
// CHECK-SAME:    warps = 1
// CHECK-DAG:     %[[ROWS:.*]] = arith.constant 32 : index
// CHECK:         tiles (%[[T:.*]]) in (%[[ROWS]]) {
// CHECK:           scf.forall (%[[LANE:.*]]) in (32) {
// CHECK:             %[[FIRST:.*]] = arith.muli %[[T]], %{{.*}} : index
// CHECK:             %[[ROW:.*]] = arith.addi %[[FIRST]], %[[LANE]] : index
// CHECK:             %[[BELOW:.*]] = arith.cmpi slt, %[[ROW]], %c1000{{.*}} : index
// CHECK:             scf.if %[[BELOW]] {
// CHECK:               scf.for
// CHECK:                 memref.load %{{.*}}[%[[ROW]], %{{.*}}]
// CHECK:                 memref.store %{{.*}}[%[[ROW]], %{{.*}}]
// CHECK:         } {mapping = [#gpu.thread<linear_dim_0>]}
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @prefixes(%x: memref<1000x64xf32>, %y: memref<1000x64xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    scf.forall (%i) in (1000) {
      scf.for %j = %c0 to %c64 step %c1 iter_args(%s = %zero) -> (f32) {
        %v = memref.load %x[%i, %j] : memref<1000x64xf32>
        %t = arith.addf %s, %v : f32
        memref.store %t, %y[%i, %j] : memref<1000x64xf32>
        scf.yield %t : f32
      }
    }
    return
  }
}

// -----

// Bounds and steps of each dimension count; the last one's neighbours are neighbouring lanes.
// CHECK-LABEL: tracea_pipe.kernel @scf_forall_0(
// CHECK:         tiles (%[[I:.*]], %[[T:.*]]) in (%c4{{.*}}, %c3{{.*}}) {
// CHECK:           scf.forall (%{{.*}}, %[[LANE:.*]]) in (1, 32) {
// CHECK:             %[[NUMBER:.*]] = arith.addi %{{.*}}, %[[LANE]] : index
// CHECK:             %[[TWICE:.*]] = arith.muli %[[I]], %c2{{.*}} : index
// CHECK:             %[[ROW:.*]] = arith.addi %[[TWICE]], %c1{{.*}} : index
// CHECK:             memref.store %{{.*}}[%[[ROW]], %[[NUMBER]]] : memref<8x96xf32>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @steps(%y: memref<8x96xf32>) {
    %zero = arith.constant 0.0 : f32
    scf.forall (%i, %j) = (1, 0) to (8, 96) step (2, 1) {
      memref.store %zero, %y[%i, %j] : memref<8x96xf32>
    }
    return
  }
}

// -----

// What the launch does not know one lane does in turn: a bound that memory holds.
// CHECK-LABEL: tracea_pipe.kernel @scf_forall_0(
// CHECK:         tiles (%{{.*}}) in (%c1{{.*}}) {
// CHECK:           scf.forall (%{{.*}}) in (1) {
// CHECK:             scf.forall (%{{.*}}) in (%{{.*}}) {
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @data(%n: memref<i32>, %y: memref<96xf32>) {
    %zero = arith.constant 0.0 : f32
    %v = memref.load %n[] : memref<i32>
    %end = arith.index_cast %v : i32 to index
    scf.forall (%i) in (%end) {
      memref.store %zero, %y[%i] : memref<96xf32>
    }
    return
  }
}
