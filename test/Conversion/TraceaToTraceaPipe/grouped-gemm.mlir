// A product of groups of rows with a bias: workgroups walk over the tiles of all
// groups, whose number and rows they find from the ends. From the operation to
// roles, each step a pass, and everything that there is to prove proved.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse | FileCheck %s --check-prefix=TILE
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --tracea-bufferize-host --tracea-pipeline-kernels \
// RUN:     -o %t.mlir
// RUN: tracea-opt %t.mlir -o %t.roles.mlir \
// RUN:     --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-join-channels,tracea-persistent-tiles,tracea-warp-specialize,tracea-async-mma,tracea-stage-epilogue,canonicalize,cse))"
// RUN: FileCheck %s --check-prefix=ROLES < %t.roles.mlir
// RUN: tracea-opt %t.roles.mlir --pass-pipeline="%kernel_proofs" | FileCheck %s --check-prefix=PROVED

// What only the run knows is checked before the launch; ends are not looked at.
// TILE-LABEL: func.func @main(
// TILE: cf.assert %{{.*}}, "tracea.grouped_gemm: expected lhs and rhs to have the same k"
// TILE: cf.assert %{{.*}}, "tracea.grouped_gemm: expected lhs and the result to have the same rows"
// TILE: cf.assert %{{.*}}, "tracea.grouped_gemm: expected rhs and the result to have the same n"
// TILE: cf.assert %{{.*}}, "tracea.grouped_gemm: expected an end for each matrix of rhs"
// TILE-NOT: cf.assert
// TILE: tracea_pipe.kernel @grouped_gemm_0(%[[A:.*]]: memref<?x?xbf16> {{.*}}, %[[B:.*]]: memref<?x?x?xbf16> {{.*}}, %[[E:.*]]: memref<?xi32> {{.*}}, %{{.*}}: memref<?xf32> {{.*}}, %[[D:.*]]: memref<?x?xbf16> {{.*}}) attributes {pipeline = #tracea_pipe.pipeline<teams = 2, registers = [40, 232], pending = 1>
// The grid is of no more workgroups than there can be tiles.
// TILE-DAG: %[[ROWS:.*]] = memref.dim %[[D]], %c0
// TILE-DAG: %[[N:.*]] = memref.dim %[[D]], %c1
// TILE-DAG: %[[G:.*]] = memref.dim %[[E]], %c0
// TILE-DAG: %[[BANDS:.*]] = arith.ceildivsi %[[ROWS]], %c128
// TILE-DAG: %[[COLUMNS:.*]] = arith.ceildivsi %[[N]], %c256
// TILE-DAG: %[[MORE:.*]] = arith.minsi %[[G]], %[[ROWS]]
// TILE: %[[SUM:.*]] = arith.addi %[[BANDS]], %[[MORE]]
// TILE: %[[MOST:.*]] = arith.muli %[[SUM]], %[[COLUMNS]]
// TILE: %[[WORKGROUPS:.*]] = arith.minsi %[[MOST]], %c132
// TILE: %[[ALL:.*]], %[[FULL:.*]] = ragged_count %[[E]] rows %[[ROWS]] tile 128
// TILE: %[[TILES:.*]] = arith.muli %[[ALL]], %[[COLUMNS]]
// TILE: tiles (%[[W:.*]]) in (%[[WORKGROUPS]])
// TILE: scf.for %[[T:.*]] = %[[W]] to %[[TILES]] step %[[WORKGROUPS]]
// TILE: %[[ROW:.*]], %[[COLUMN:.*]] = tracea_pipe.raster %[[T]] in (%[[ALL]], %[[COLUMNS]]) group 16
// TILE: %[[GROUP:.*]], %[[FIRST:.*]], %[[END:.*]] = tracea_pipe.ragged_tile %[[ROW]] in %[[E]] rows %[[ROWS]] tile 128
// TILE: %[[AT:.*]] = arith.muli %[[COLUMN]], %c256
// Rows of no group have no terms.
// TILE: %[[HAS:.*]] = arith.cmpi slt, %[[ROW]], %[[FULL]]
// TILE: %[[TERMS:.*]] = arith.select %[[HAS]], %{{.*}}, %c0
// TILE: scf.for %{{.*}} = %c0 to %[[TERMS]] step %c1
// TILE: tracea_pipe.stage %[[A]][%[[FIRST]], %{{.*}}] map {{.*}} padded [0, 1] slots 4
// TILE: tracea_pipe.stage %[[B]][%[[GROUP]], %[[AT]], %{{.*}}] map {{.*}} padded [1, 2] slots 4
// TILE: tracea_pipe.mma
// The tile ends with its group.
// TILE: %[[LEFT:.*]] = arith.subi %[[END]], %[[FIRST]]
// TILE: %[[RIGHT:.*]] = arith.subi %[[N]], %[[AT]]
// TILE: tracea_pipe.store %{{.*}}, %[[D]][%[[FIRST]], %[[AT]]] {{.*}} limits(%[[LEFT]], %[[RIGHT]])

// ROLES: tracea_pipe.kernel @grouped_gemm_0(
// ROLES: ragged_count
// ROLES-NOT: ragged_count
// ROLES: tracea_pipe.role "producer" warps [0, 4] registers 40 {
// ROLES: tracea_pipe.ragged_tile
// ROLES-COUNT-2: tracea_pipe.copy
// ROLES: tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 232 (%[[TEAM:.*]]) {
// ROLES: tracea_pipe.ragged_tile
// ROLES: tracea_pipe.mma_async
// ROLES-COUNT-4: tracea_pipe.copy_out

// PROVED: check = "protocol", claim = "3 roles, 1 channels, every trip count
// PROVED-SAME: check = "banks"
// PROVED-SAME: check = "coverage", claim = "all elements of 1 result written exactly once, {{[0-9]+}} accesses in bounds, 1 condition, 2 operands of sums with each term once, 1 pair of operands in step, 4 slots filled from registers, for all sizes with
// Rows of tiles without gaps stand for those of the result.
// PROVED-SAME: coordinate at [0, 128*tiles)
// PROVED-SAME: check = "resources"

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @main(%a: tensor<?x?xbf16>, %b: tensor<?x?x?xbf16>, %e: tensor<?xi32>, %bias: tensor<?xf32>, %d: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %0 = tracea.grouped_gemm transpose_rhs
    ins(%a, %b, %e : tensor<?x?xbf16>, tensor<?x?x?xbf16>, tensor<?xi32>) outs(%d : tensor<?x?xbf16>)
    schedule <variant = "grouped.warpgroup", unit = wgmma, tile = [128, 256, 64], slots = 4, producers = 1, consumers = 2, group = 16>
    epilogue(%bias by affine_map<(i, j) -> (j)> : tensor<?xf32>) {
    ^bb0(%acc: f32, %bi: f32):
      %s = arith.addf %acc, %bi : f32
      %t = arith.truncf %s : f32 to bf16
      tracea.yield %t : bf16
    }
  return %0 : tensor<?x?xbf16>
}
}
