// RUN: split-file %s %t
// RUN: tracea-opt %t/rows.mlir -tracea-outline-host | FileCheck %s --check-prefix=ROWS
// RUN: tracea-opt %t/columns.mlir -tracea-outline-host | FileCheck %s --check-prefix=COLUMNS
// RUN: tracea-opt %t/short.mlir -tracea-outline-host | FileCheck %s --check-prefix=SHORT
// RUN: tracea-opt %t/whole.mlir -tracea-outline-host | FileCheck %s --check-prefix=WHOLE
// RUN: tracea-opt %t/others.mlir -tracea-outline-host | FileCheck %s --check-prefix=OTHERS

// Sums so far along rows: the sum of each block of 16, which neighbouring lanes have; of the blocks before each; and the
// rows again, from those on. A lane reads and stores vectors, where memory begins at multiples of them.
// ROWS-LABEL: func.func @rows(
// ROWS-SAME:    %[[X:[^:]*]]: memref<100x256xf32>, %[[Y:[^:]*]]: memref<100x256xf32>
// ROWS-DAG:     %[[S:.*]] = memref.alloc() : memref<100x16xf32>
// ROWS-DAG:     %[[T:.*]] = memref.alloc() : memref<100x16xf32>
// ROWS:         tracea_pipe.launch @scf_forall_0 else [@scf_forall_1] ins(%[[X]] : {{.*}}) outs(%[[S]]
// ROWS:         tracea_pipe.launch @scf_forall_2 else [@scf_forall_3] ins(%[[S]] : {{.*}}) outs(%[[T]]
// ROWS:         tracea_pipe.launch @scf_forall_4 else [@scf_forall_5] ins({{.*}}%[[T]]{{.*}}) outs(%[[Y]]
// ROWS-NOT:     tracea_pipe.launch
// ROWS-LABEL: tracea_pipe.kernel @scf_forall_0(
// ROWS-SAME:    tracea_pipe.aligned = 16
// ROWS-SAME:    variant = "linalg.vectors"
// ROWS-COUNT-4: vector.load {{.*}} vector<4xf32>
// ROWS-COUNT-16: arith.addf {{.*}} : f32
// ROWS:         memref.store
// ROWS-LABEL: tracea_pipe.kernel @scf_forall_1(
// ROWS-SAME:    variant = "linalg"
// ROWS-NOT:     vector.load
// ROWS-LABEL: tracea_pipe.kernel @scf_forall_2(
// ROWS-LABEL: tracea_pipe.kernel @scf_forall_4(
// ROWS:         %[[BEFORE:.*]] = memref.load %{{.*}} : memref<100x16xf32>
// ROWS-COUNT-4: vector.load
// ROWS:         arith.addf %[[BEFORE]]
// ROWS-COUNT-4: vector.store

// Columns: neighbouring lanes have neighbouring columns, blocks are as many as lanes fill the machine. What is stored is not
// what is carried, but what was carried before: the sums are exclusive.
// COLUMNS-LABEL: func.func @columns(
// COLUMNS:         memref.alloc() : memref<32x4096xf32>
// COLUMNS-LABEL: tracea_pipe.kernel @{{.*}}(%{{.*}}: memref<32x4096xf32>{{.*}}, %{{.*}}: memref<1024x4096xf32>{{.*}}, %{{.*}}: memref<1024x4096xf32>
// COLUMNS:         scf.for {{.*}} iter_args(%[[SUM:.*]] = %
// COLUMNS:           %[[E:.*]] = memref.load
// COLUMNS:           memref.store %[[SUM]]
// COLUMNS:           arith.addf %[[SUM]], %[[E]]

// A few elements are one lane's, which reads all before it stores one.
// SHORT:         tracea_pipe.launch
// SHORT-NOT:     tracea_pipe.launch
// SHORT-LABEL: tracea_pipe.kernel @scf_forall_0(
// SHORT-COUNT-5: vector.load
// SHORT-COUNT-5: vector.store

// A loop over a whole tensor carries its sum out of it: it is part of a loop of one iteration. Its scan is split until
// few blocks are left; a maximum of integers begins with the least one.
// WHOLE-LABEL: func.func @whole(
// WHOLE-COUNT-5: tracea_pipe.launch
// WHOLE-NOT:     tracea_pipe.launch
// WHOLE:         arith.constant -2147483648 : i32
// WHOLE:         arith.maxsi

// What is no sum of what there is beforehand stays in turn: a term that depends on what is carried, a result that is read,
// two numbers that are carried, and the sum that is used behind the loop, where it is read from memory.
// OTHERS-LABEL: func.func @others(
// OTHERS-COUNT-5: tracea_pipe.launch
// OTHERS-NOT:     tracea_pipe.launch
// OTHERS-NOT:     vector.

//--- rows.mlir
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @rows(%x: memref<100x256xf32>, %y: memref<100x256xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c100 = arith.constant 100 : index
    %c256 = arith.constant 256 : index
    %zero = arith.constant 0.0 : f32
    scf.for %i = %c0 to %c100 step %c1 {
      %s = scf.for %j = %c0 to %c256 step %c1 iter_args(%sum = %zero) -> (f32) {
        %a = memref.load %x[%i, %j] : memref<100x256xf32>
        %b = arith.addf %sum, %a : f32
        memref.store %b, %y[%i, %j] : memref<100x256xf32>
        scf.yield %b : f32
      }
    }
    return
  }
}

//--- columns.mlir
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @columns(%x: memref<1024x4096xf32>, %y: memref<1024x4096xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c1024 = arith.constant 1024 : index
    %c4096 = arith.constant 4096 : index
    %zero = arith.constant 0.0 : f32
    scf.for %i = %c0 to %c4096 step %c1 {
      %s = scf.for %j = %c0 to %c1024 step %c1 iter_args(%sum = %zero) -> (f32) {
        %a = memref.load %x[%j, %i] : memref<1024x4096xf32>
        memref.store %sum, %y[%j, %i] : memref<1024x4096xf32>
        %b = arith.addf %sum, %a : f32
        scf.yield %b : f32
      }
    }
    return
  }
}

//--- short.mlir
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @short(%x: memref<100x20xf32>, %y: memref<100x20xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c100 = arith.constant 100 : index
    %c20 = arith.constant 20 : index
    %one = arith.constant 1.0 : f32
    scf.for %i = %c0 to %c100 step %c1 {
      %s = scf.for %j = %c0 to %c20 step %c1 iter_args(%product = %one) -> (f32) {
        %a = memref.load %x[%i, %j] : memref<100x20xf32>
        %b = arith.mulf %product, %a : f32
        memref.store %b, %y[%i, %j] : memref<100x20xf32>
        scf.yield %b : f32
      }
    }
    return
  }
}

//--- whole.mlir
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @whole(%x: memref<4096xi32>, %y: memref<4096xi32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4096 = arith.constant 4096 : index
    %zero = arith.constant 0 : i32
    %s = scf.for %j = %c0 to %c4096 step %c1 iter_args(%most = %zero) -> (i32) {
      %a = memref.load %x[%j] : memref<4096xi32>
      %b = arith.maxsi %most, %a : i32
      memref.store %b, %y[%j] : memref<4096xi32>
      scf.yield %b : i32
    }
    return
  }
}

//--- others.mlir
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @others(%x: memref<4096xf32>, %y: memref<4096xf32>, %z: memref<4097xf32>) -> f32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4096 = arith.constant 4096 : index
    %zero = arith.constant 0.0 : f32
    %0 = scf.for %j = %c0 to %c4096 step %c1 iter_args(%sum = %zero) -> (f32) {
      %a = memref.load %x[%j] : memref<4096xf32>
      %b = arith.mulf %a, %sum : f32
      %c = arith.addf %sum, %b : f32
      memref.store %c, %y[%j] : memref<4096xf32>
      scf.yield %c : f32
    }
    %1 = scf.for %j = %c0 to %c4096 step %c1 iter_args(%sum = %zero) -> (f32) {
      %k = arith.addi %j, %c1 : index
      %a = memref.load %z[%j] : memref<4097xf32>
      %b = arith.addf %a, %sum : f32
      memref.store %b, %z[%k] : memref<4097xf32>
      scf.yield %b : f32
    }
    %2:2 = scf.for %j = %c0 to %c4096 step %c1 iter_args(%sum = %zero, %last = %zero) -> (f32, f32) {
      %a = memref.load %x[%j] : memref<4096xf32>
      %b = arith.addf %a, %sum : f32
      memref.store %last, %y[%j] : memref<4096xf32>
      scf.yield %b, %a : f32, f32
    }
    %3 = scf.for %j = %c0 to %c4096 step %c1 iter_args(%sum = %zero) -> (f32) {
      %a = memref.load %x[%j] : memref<4096xf32>
      %b = arith.addf %a, %sum : f32
      memref.store %b, %y[%j] : memref<4096xf32>
      scf.yield %b : f32
    }
    return %3 : f32
  }
}
