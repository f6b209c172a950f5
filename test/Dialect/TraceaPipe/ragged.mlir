// RUN: tracea-opt %s | tracea-opt | FileCheck %s
// Nothing changes the ends: numbers that nobody uses are not counted, and equal
// ones are counted once.
// RUN: tracea-opt %s --cse | FileCheck %s --check-prefix=CSE

// CHECK-LABEL: tracea_pipe.kernel @tiles(
// CSE-LABEL: tracea_pipe.kernel @tiles(
tracea_pipe.kernel @tiles(%ends: memref<16xi32>, %more: memref<?xi64>, %rows: index, %y: memref<?xindex>) {
  // CHECK: %[[ALL:.*]], %[[FULL:.*]] = ragged_count %{{.*}} rows %{{.*}} tile 128 : memref<16xi32>
  // CSE: ragged_count
  // CSE-NOT: ragged_count
  %all, %full = tracea_pipe.ragged_count %ends rows %rows tile 128 : memref<16xi32>
  %again, %other = tracea_pipe.ragged_count %ends rows %rows tile 128 : memref<16xi32>
  %unused, %too = tracea_pipe.ragged_count %more rows %rows tile 1 : memref<?xi64>
  tracea_pipe.tiles (%i) in (%all) {
    // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = tracea_pipe.ragged_tile %{{.*}} in %{{.*}} rows %{{.*}} tile 128 : memref<16xi32>
    %group, %first, %end = tracea_pipe.ragged_tile %i in %ends rows %rows tile 128 : memref<16xi32>
    memref.store %first, %y[%i] : memref<?xindex>
    memref.store %end, %y[%again] : memref<?xindex>
    memref.store %group, %y[%full] : memref<?xindex>
  }
  tracea_pipe.end
}
