// Every operation, attribute and type in all of its forms: what is printed parses
// back to the same, as text and as bytecode.
// RUN: tracea-opt %s | FileCheck %s
// RUN: tracea-opt %s --verify-roundtrip -o /dev/null
// RUN: tracea-opt %s --mlir-print-op-generic | tracea-opt | FileCheck %s
// RUN: tracea-opt %s --emit-bytecode | tracea-opt | FileCheck %s
// RUN: tracea-opt %s --mlir-print-local-scope | FileCheck %s --check-prefix=LOCAL

// Lane maps have names.
// CHECK-DAG: #[[TILE:lanes[0-9]*]] = #tracea_pipe.lanes<reg = {{\[\[}}0, 16], [1, 0], [2, 0], [4, 0]], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
// CHECK-DAG: #[[WARPS:lanes[0-9]*]] = #tracea_pipe.lanes<lane = {{\[\[}}0, 1], [0, 2]], warp = {{\[\[}}1, 0]], outer = [3, 1]>
// CHECK-DAG: #[[POINT:lanes[0-9]*]] = #tracea_pipe.lanes<outer = []>
#tile = #tracea_pipe.lanes<reg = [[0, 16], [1, 0], [2, 0], [4, 0]],
                           lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
// The keys may come in any order.
#swapped = #tracea_pipe.lanes<outer = [1, 1], lane = [[0, 1], [0, 2], [0, 4], [0, 8]],
                              reg = [[1, 0], [0, 16], [2, 0], [4, 0]]>
#row = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]],
                          lane = [[0, 0], [0, 0], [0, 0], [0, 0]], outer = [1, 1]>
#point = #tracea_pipe.lanes<outer = []>
#warps = #tracea_pipe.lanes<lane = [[0, 1], [0, 2]], warp = [[1, 0]], outer = [3, 1]>
#odd = #tracea_pipe.lanes<reg = [], lane = [[1], [2]], outer = [5]>
#staged = #tracea_pipe.staged
#swizzled = #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>

// CHECK-LABEL: func.func private @types(
// CHECK-SAME:    tensor<8x32xf32, #[[TILE]]>
// CHECK-SAME:    tensor<6x4xi8, #[[WARPS]]>
// CHECK-SAME:    tensor<f64, #[[POINT]]>
// CHECK-SAME:    tensor<4x8xf32, #tracea_pipe.staged>
// CHECK-SAME:    tensor<4x8xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
// CHECK-SAME:    !tracea_pipe.phase<1>, !tracea_pipe.phase<64>
// CHECK-SAME:    !tracea_pipe.channel<4 x(memref<2xf16, #tracea_pipe.staged>, memref<i1, #tracea_pipe.staged>)>
func.func private @types(tensor<8x32xf32, #tile>, tensor<6x4xi8, #warps>, tensor<f64, #point>,
                         tensor<4x8xf32, #staged>, tensor<4x8xbf16, #swizzled>,
                         !tracea_pipe.phase<1>, !tracea_pipe.phase<64>,
                         !tracea_pipe.channel<4 x (memref<2xf16, #staged>, memref<i1, #staged>)>)

// Without aliases a map stands in the type.
// LOCAL-LABEL: func.func private @repeats(tensor<20xf32, #tracea_pipe.lanes<lane = {{\[\[}}1], [2]], outer = [5]>>)
func.func private @repeats(tensor<20xf32, #odd>)

// CHECK-LABEL: tracea_pipe.kernel @smallest()
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1
// CHECK-NEXT:    tiles (%{{.*}}) in (%[[ONE]]) {
// CHECK-NEXT:    }
// CHECK-NEXT:    end
tracea_pipe.kernel @smallest() {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// CHECK-LABEL: tracea_pipe.kernel private @grouped
// CHECK-SAME:    (%{{.*}}: memref<?xf32> {test.what = "weights"}, %[[N:.*]]: index, %{{.*}}: f32, %{{.*}}: i1)
// CHECK-SAME:    attributes {source_op = "tracea.gemm", variant = "gemm.packed", workspace_bytes = 4096 : i64}
// CHECK:         tiles (%{{.*}}, %{{.*}}, %{{.*}}) in (%[[N]], %[[N]], %[[N]]) group 4 attributes {test.order = "grouped"} {
tracea_pipe.kernel private @grouped(%a: memref<?xf32> {test.what = "weights"}, %n: index, %x: f32, %b: i1)
    attributes {variant = "gemm.packed", source_op = "tracea.gemm", workspace_bytes = 4096 : i64} {
  tracea_pipe.tiles (%i, %j, %k) in (%n, %n, %n) group 4 attributes {test.order = "grouped"} {
    tracea_pipe.end
  }
  tracea_pipe.end
}

// CHECK-LABEL: tracea_pipe.kernel @unary
tracea_pipe.kernel @unary(%a: memref<?x8xf32>, %n: index, %d: memref<?x8xf32>) {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// CHECK-LABEL: tracea_pipe.kernel @aligned(
// CHECK-SAME:    %{{.*}}: memref<?x8xf32> {tracea_pipe.aligned = 16 : i64}, %{{.*}}: index, %{{.*}}: memref<?x8xf32> {tracea_pipe.aligned = 1 : i64})
tracea_pipe.kernel @aligned(%a: memref<?x8xf32> {tracea_pipe.aligned = 16 : i64}, %n: index,
                            %d: memref<?x8xf32> {tracea_pipe.aligned = 1 : i64}) {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// CHECK-LABEL: tracea_pipe.kernel @warped() attributes {warps = 2 : i64}
tracea_pipe.kernel @warped() attributes {warps = 2 : i64} {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// CHECK-LABEL: func.func @launches
func.func @launches(%t: tensor<?x8xf32>, %n: index, %d: tensor<?x8xf32>,
                    %m: memref<?x8xf32>, %s: memref<?x8xf32, strided<[16, 1], offset: ?>>) -> tensor<?x8xf32> {
  // CHECK: tracea_pipe.launch @smallest{{$}}
  tracea_pipe.launch @smallest
  // CHECK: tracea_pipe.launch @unary ins(%{{.*}}, %{{.*}} : memref<?x8xf32>, index) outs(%{{.*}} : memref<?x8xf32, strided<[16, 1], offset: ?>>){{$}}
  tracea_pipe.launch @unary ins(%m, %n : memref<?x8xf32>, index)
                            outs(%s : memref<?x8xf32, strided<[16, 1], offset: ?>>)
  // Others that may run instead, in their order.
  // CHECK: tracea_pipe.launch @smallest else [@warped, @smallest]{{$}}
  tracea_pipe.launch @smallest else [@warped, @smallest]
  // CHECK: tracea_pipe.launch @aligned else [@unary] ins(%{{.*}}, %{{.*}} : memref<?x8xf32>, index) outs(%{{.*}} : memref<?x8xf32, strided<[16, 1], offset: ?>>){{$}}
  tracea_pipe.launch @aligned else [@unary] ins(%m, %n : memref<?x8xf32>, index)
                              outs(%s : memref<?x8xf32, strided<[16, 1], offset: ?>>)
  // CHECK: tracea_pipe.launch @unary ins(%{{.*}}, %{{.*}} : tensor<?x8xf32>, index) outs(%{{.*}} : tensor<?x8xf32>) {test.note} -> tensor<?x8xf32>
  %r = tracea_pipe.launch @unary ins(%t, %n : tensor<?x8xf32>, index)
                                 outs(%d : tensor<?x8xf32>) {test.note} -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// CHECK-LABEL: tracea_pipe.kernel @registers
tracea_pipe.kernel @registers(%m: memref<?x?xf32>, %v: memref<?xf32>, %s: memref<f32>, %n: index, %z: f32) {
  tracea_pipe.tiles (%i) in (%n) {
    // CHECK: %[[X:.*]] = tracea_pipe.load %{{.*}}[%{{.*}}, %{{.*}}] map #{{.*}} : memref<?x?xf32> -> tensor<8x32xf32, #[[TILE]]>
    %x = tracea_pipe.load %m[%i, %i] map affine_map<(i, j) -> (i, j)>
         : memref<?x?xf32> -> tensor<8x32xf32, #tile>
    // CHECK: tracea_pipe.load %{{.*}}[%{{.*}}] map #{{.*}} limits(%{{.*}}, %{{.*}}) : memref<?xf32>
    %y = tracea_pipe.load %v[%i] map affine_map<(i, j) -> (j)> limits(%n, %n)
         : memref<?xf32> -> tensor<8x32xf32, #tile>
    // CHECK: tracea_pipe.load %{{.*}}[%{{.*}}] map #{{.*}} limits(%{{.*}}, %{{.*}}) padding(%{{.*}} : f32)
    %w = tracea_pipe.load %v[%i] map affine_map<(i, j) -> (i * -2 + j * 3 + 7)> limits(%n, %n) padding(%z : f32)
         : memref<?xf32> -> tensor<8x32xf32, #tile>
    // CHECK: tracea_pipe.load %{{.*}}[%{{.*}}, %{{.*}}] map #{{.*}} limits(%{{.*}}, %{{.*}}) padding(%{{.*}} : f32) padded [1, 0] : memref<?x?xf32>
    %p = tracea_pipe.load %m[%i, %i] map affine_map<(i, j) -> (i, j)> limits(%n, %n) padding(%z : f32) padded [1, 0]
           : memref<?x?xf32> -> tensor<8x32xf32, #tile>
    // CHECK: tracea_pipe.load %{{.*}}[] map #{{.*}} : memref<f32> -> tensor<f32, #[[POINT]]>
    %u = tracea_pipe.load %s[] map affine_map<() -> ()> : memref<f32> -> tensor<f32, #point>
    // Arithmetic on tiles is arith's own.
    // CHECK: arith.addf %[[X]], %{{.*}} : tensor<8x32xf32, #[[TILE]]>
    %sum = arith.addf %x, %y : tensor<8x32xf32, #tile>
    // CHECK: tracea_pipe.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] map #{{.*}} limits(%{{.*}}, %{{.*}}) : tensor<8x32xf32, #[[TILE]]>, memref<?x?xf32>
    tracea_pipe.store %sum, %m[%i, %i] map affine_map<(i, j) -> (i, j)> limits(%n, %n)
        : tensor<8x32xf32, #tile>, memref<?x?xf32>
    // Injective although the coordinates share a dimension of the memory.
    // CHECK: tracea_pipe.store
    tracea_pipe.store %w, %v[%i] map affine_map<(i, j) -> (i * 32 + j)> : tensor<8x32xf32, #tile>, memref<?xf32>
    // CHECK: tracea_pipe.store
    tracea_pipe.store %u, %s[] map affine_map<() -> ()> : tensor<f32, #point>, memref<f32>
    // CHECK: tracea_pipe.prefetch %{{.*}}[%{{.*}}, %{{.*}}] map #{{.*}} limits(%{{.*}}, %{{.*}}) shape [8, 32] write : memref<?x?xf32>
    tracea_pipe.prefetch %m[%i, %i] map affine_map<(i, j) -> (i, j)> limits(%n, %n) shape [8, 32] write : memref<?x?xf32>
    // CHECK: tracea_pipe.prefetch %{{.*}}[%{{.*}}] map #{{.*}} shape [4] : memref<?xf32>
    tracea_pipe.prefetch %v[%i] map affine_map<(i) -> (i)> shape [4] : memref<?xf32>
    // CHECK: %[[R:.*]] = tracea_pipe.reduce add %{{.*}} dim 1 : tensor<8x32xf32, #[[TILE]]> -> tensor<8x1xf32, #[[ROW:lanes[0-9]*]]>
    %r = tracea_pipe.reduce add %sum dim 1 : tensor<8x32xf32, #tile> -> tensor<8x1xf32, #row>
    // CHECK: tracea_pipe.reduce max
    %r1 = tracea_pipe.reduce max %sum dim 1 : tensor<8x32xf32, #tile> -> tensor<8x1xf32, #row>
    // CHECK: tracea_pipe.reduce min
    %r2 = tracea_pipe.reduce min %sum dim 1 : tensor<8x32xf32, #tile> -> tensor<8x1xf32, #row>
    // CHECK: tracea_pipe.reduce mul
    %r3 = tracea_pipe.reduce mul %sum dim 1 : tensor<8x32xf32, #tile> -> tensor<8x1xf32, #row>
    // CHECK: tracea_pipe.broadcast %[[R]] : tensor<8x1xf32, #[[ROW]]> -> tensor<8x32xf32, #[[TILE]]>
    %b = tracea_pipe.broadcast %r : tensor<8x1xf32, #row> -> tensor<8x32xf32, #tile>
    // CHECK: tracea_pipe.relayout %{{.*}} : tensor<8x32xf32, #[[TILE]]> -> tensor<8x32xf32, #{{lanes[0-9]*}}>
    %l = tracea_pipe.relayout %b : tensor<8x32xf32, #tile> -> tensor<8x32xf32, #swapped>
    // CHECK: tracea_pipe.coordinate dim 0 : tensor<8x32xindex, #[[TILE]]>
    %c = tracea_pipe.coordinate dim 0 : tensor<8x32xindex, #tile>
    // CHECK: tracea_pipe.coordinate dim 1 : tensor<8x32xi8, #[[TILE]]>
    %c8 = tracea_pipe.coordinate dim 1 : tensor<8x32xi8, #tile>
  }
  tracea_pipe.end
}

// CHECK-LABEL: tracea_pipe.kernel @staging
tracea_pipe.kernel @staging(%m: memref<?x?xbf16>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %zero = arith.constant dense<0.0> : tensor<8x32xf32, #tile>
    // CHECK: tracea_pipe.stage %{{.*}}[%{{.*}}, %{{.*}}] map #{{[a-z0-9]*}} : memref<?x?xbf16> -> tensor<8x16xf32, #tracea_pipe.staged>
    %a = tracea_pipe.stage %m[%i, %i] map affine_map<(i, k) -> (i, k)>
         : memref<?x?xbf16> -> tensor<8x16xf32, #staged>
    // CHECK: tracea_pipe.stage %{{.*}}[%{{.*}}, %{{.*}}] map #{{.*}} limits(%{{.*}}, %{{.*}}, %{{.*}}) padded [0, 1] slots 3 : memref<?x?xbf16> -> tensor<2x16x32xf32, #tracea_pipe.staged>
    %b = tracea_pipe.stage %m[%i, %i] map affine_map<(p, k, j) -> (k, p * 32 + j)> limits(%n, %n, %n)
         padded [0, 1] slots 3 : memref<?x?xbf16> -> tensor<2x16x32xf32, #staged>
    // CHECK: tracea_pipe.stage {{.*}} slots 3 reuse once : memref<?x?xbf16>
    %once = tracea_pipe.stage %m[%i, %i] map affine_map<(i, k) -> (i, k)> slots 3 reuse once
            : memref<?x?xbf16> -> tensor<8x16xf32, #staged>
    // CHECK: tracea_pipe.load {{.*}} reuse often : memref<?x?xbf16>
    %often = tracea_pipe.load %m[%i, %i] map affine_map<(i, k) -> (i, k)> reuse often : memref<?x?xbf16> -> tensor<8x32xbf16, #tile>
    // What is not known is not printed.
    // CHECK: tracea_pipe.load %{{.*}}[%{{.*}}, %{{.*}}] map #{{[a-z0-9]*}} : memref<?x?xbf16>
    %unknown = tracea_pipe.load %m[%i, %i] map affine_map<(i, k) -> (i, k)> reuse unknown : memref<?x?xbf16> -> tensor<8x32xbf16, #tile>
    // CHECK: tracea_pipe.prefetch %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] map #{{.*}} shape [1, 4, 32] level 2 : tensor<2x16x32xf32, #tracea_pipe.staged>
    tracea_pipe.prefetch %b[%i, %i, %i] map affine_map<(p, k, j) -> (p, k, j)> shape [1, 4, 32] level 2
        : tensor<2x16x32xf32, #staged>
    // CHECK: tracea_pipe.view %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] map #{{.*}} : tensor<2x16x32xf32, #tracea_pipe.staged> -> tensor<16x32xf32, #tracea_pipe.staged>
    %v = tracea_pipe.view %b[%i, %i, %i] map affine_map<(k, j) -> (0, k, j)>
         : tensor<2x16x32xf32, #staged> -> tensor<16x32xf32, #staged>
    // CHECK: tracea_pipe.mma %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x16xf32, #tracea_pipe.staged>, tensor<16x32xf32, #tracea_pipe.staged>, tensor<8x32xf32, #[[TILE]]>
    %d = tracea_pipe.mma %a, %v, %zero
         : tensor<8x16xf32, #staged>, tensor<16x32xf32, #staged>, tensor<8x32xf32, #tile>
    // CHECK: tracea_pipe.mma %{{.*}}, %{{.*}}, %{{.*}} depth(%{{.*}})
    %e = tracea_pipe.mma %a, %v, %d depth(%n)
         : tensor<8x16xf32, #staged>, tensor<16x32xf32, #staged>, tensor<8x32xf32, #tile>
    // CHECK: tracea_pipe.mma %{{.*}}, %{{.*}}, %{{.*}} depth(%{{.*}}) limits(%{{.*}}, %{{.*}}) :
    %g = tracea_pipe.mma %a, %v, %e depth(%n) limits(%n, %n)
         : tensor<8x16xf32, #staged>, tensor<16x32xf32, #staged>, tensor<8x32xf32, #tile>
    // CHECK: tracea_pipe.mma %{{.*}}, %{{.*}}, %{{.*}} depth(%{{.*}}) rows(%{{.*}}, %{{.*}}) spans [1, 2] :
    %rows = tracea_pipe.mma %a, %v, %g depth(%n) rows(%n, %n) spans [1, 2]
         : tensor<8x16xf32, #staged>, tensor<16x32xf32, #staged>, tensor<8x32xf32, #tile>
    // A window into memory whose rows lie apart by what only the run knows.
    // CHECK: tracea_pipe.view %{{.*}} : memref<?x?xbf16> -> memref<8x16xbf16, strided<[?, 1], offset: ?>>
    %h = tracea_pipe.view %m[%i, %i] map affine_map<(i, k) -> (i, k)>
         : memref<?x?xbf16> -> memref<8x16xbf16, strided<[?, 1], offset: ?>>
    // Memory without elements has any strides.
    // CHECK: tracea_pipe.view %{{.*}} : memref<5x0xbf16> -> memref<5x1xbf16, strided<[0, 1], offset: ?>>
    %none = memref.alloca() : memref<5x0xbf16>
    %o = tracea_pipe.view %none[%i, %i] map affine_map<(i, k) -> (i, k)>
         : memref<5x0xbf16> -> memref<5x1xbf16, strided<[0, 1], offset: ?>>
    // CHECK: %[[S:.*]] = tracea_pipe.scratch : memref<8x16xf32, #tracea_pipe.staged>
    %s = tracea_pipe.scratch : memref<8x16xf32, #staged>
    // CHECK: tracea_pipe.view %[[S]]
    %w = tracea_pipe.view %s[%i, %i] map affine_map<(k, i) -> (i * 2, k)>
         : memref<8x16xf32, #staged> -> memref<16x4xf32, strided<[1, 32], offset: ?>, #staged>
    // CHECK: tracea_pipe.workspace : memref<4096xi8>
    %x = tracea_pipe.workspace : memref<4096xi8>
  }
  tracea_pipe.end
}

// CHECK-LABEL: tracea_pipe.kernel @pipeline
tracea_pipe.kernel @pipeline(%m: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    // CHECK: %[[CH:.*]] = tracea_pipe.channel : <3 x(memref<8x16xf32, #tracea_pipe.staged>, memref<4xf32, #tracea_pipe.staged>)>
    %ch = tracea_pipe.channel : !tracea_pipe.channel<3 x (memref<8x16xf32, #staged>, memref<4xf32, #staged>)>
    // CHECK: %[[P:.*]] = tracea_pipe.start : <3>
    %p = tracea_pipe.start : !tracea_pipe.phase<3>
    // CHECK: %[[B:.*]]:2 = tracea_pipe.acquire %[[CH]][%[[P]]] : <3 x({{.*}})>, <3> -> memref<8x16xf32, #tracea_pipe.staged>, memref<4xf32, #tracea_pipe.staged>
    %b:2 = tracea_pipe.acquire %ch[%p] : !tracea_pipe.channel<3 x (memref<8x16xf32, #staged>, memref<4xf32, #staged>)>,
           !tracea_pipe.phase<3> -> memref<8x16xf32, #staged>, memref<4xf32, #staged>
    // CHECK: tracea_pipe.copy %{{.*}}[%{{.*}}, %{{.*}}] map #{{.*}} limits(%{{.*}}, %{{.*}}) padded [0] to %[[B]]#0 : memref<?x?xf32>, memref<8x16xf32, #tracea_pipe.staged>
    tracea_pipe.copy %m[%i, %i] map affine_map<(i, k) -> (i, k)> limits(%n, %n) padded [0] to %b#0
        : memref<?x?xf32>, memref<8x16xf32, #staged>
    // CHECK: tracea_pipe.copy %{{.*}}[%{{.*}}, %{{.*}}] map #{{[a-z0-9]*}} to %[[B]]#1
    tracea_pipe.copy %m[%i, %i] map affine_map<(i) -> (0, i)> to %b#1 : memref<?x?xf32>, memref<4xf32, #staged>
    // CHECK: tracea_pipe.commit %[[CH]][%[[P]]]
    tracea_pipe.commit %ch[%p] : !tracea_pipe.channel<3 x (memref<8x16xf32, #staged>, memref<4xf32, #staged>)>,
        !tracea_pipe.phase<3>
    // CHECK: tracea_pipe.wait %[[CH]][%[[P]]]
    %f:2 = tracea_pipe.wait %ch[%p] : !tracea_pipe.channel<3 x (memref<8x16xf32, #staged>, memref<4xf32, #staged>)>,
           !tracea_pipe.phase<3> -> memref<8x16xf32, #staged>, memref<4xf32, #staged>
    // CHECK: tracea_pipe.release %[[CH]][%[[P]]]
    tracea_pipe.release %ch[%p] : !tracea_pipe.channel<3 x (memref<8x16xf32, #staged>, memref<4xf32, #staged>)>,
        !tracea_pipe.phase<3>
    // CHECK: tracea_pipe.advance %[[P]] : <3>
    %q = tracea_pipe.advance %p : !tracea_pipe.phase<3>
    // CHECK: tracea_pipe.roles {
    // CHECK-NEXT: tracea_pipe.role "producer" warps [0, 4] registers 40 {
    // CHECK:      tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 232 (%[[TEAM:.*]]) attributes {test.note} {
    // CHECK-NEXT:   arith.addi %[[TEAM]], %[[TEAM]]
    // CHECK:      tracea_pipe.role "store" warps [12, 13] {
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] registers 40 {
      }
      tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 232 (%team) attributes {test.note} {
        %t = arith.addi %team, %team : index
      }
      tracea_pipe.role "store" warps [12, 13] {
        tracea_pipe.end
      }
    }
    // CHECK: tracea_pipe.roles attributes {test.empty} {
    tracea_pipe.roles attributes {test.empty} {
    }
  }
  tracea_pipe.end
}

// What runs beside its role.
// CHECK-LABEL: tracea_pipe.kernel @async
// CHECK-SAME: attributes {warps = 8 : i64}
!a = memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
!b = memref<64x128xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9], panel = 64>>
!acc = tensor<64x128xf32, #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>>
!cond = tensor<64x128xi1, #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>>
tracea_pipe.kernel @async(%c: memref<?x?xbf16>, %n: index) attributes {warps = 8} {
  tracea_pipe.tiles (%t) in (%n) {
    // CHECK: %[[I:.*]], %[[J:.*]] = tracea_pipe.raster %{{.*}} in (%{{.*}}, %{{.*}}) group 16
    %i, %j = tracea_pipe.raster %t in (%n, %n) group 16
    // CHECK: %[[A:.*]] = tracea_pipe.scratch : memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
    %a = tracea_pipe.scratch : !a
    // CHECK: %[[B:.*]] = tracea_pipe.scratch : memref<64x128xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9], panel = 64>>
    %b = tracea_pipe.scratch : !b
    // CHECK: tracea_pipe.scratch : memref<8x8xf32, #tracea_pipe.staged<panel = 4>>
    %p = tracea_pipe.scratch : memref<8x8xf32, #tracea_pipe.staged<panel = 4>>
    // CHECK: tracea_pipe.sync
    tracea_pipe.sync
    // CHECK: %[[D0:.*]] = tracea_pipe.mma_async %[[A]], %[[B]] : memref<{{.*}}>, memref<{{.*}}> -> !tracea_pipe.in_flight<tensor<64x128xf32, #{{.*}}>>
    %d0 = tracea_pipe.mma_async %a, %b : !a, !b -> !tracea_pipe.in_flight<!acc>
    // CHECK: %[[D1:.*]] = tracea_pipe.mma_async %[[A]], %[[B]] onto %[[D0]] : memref<{{.*}}>, memref<{{.*}}>, !tracea_pipe.in_flight<tensor<64x128xf32, #{{.*}}>> -> !tracea_pipe.in_flight<tensor<64x128xf32, #{{.*}}>>
    %d1 = tracea_pipe.mma_async %a, %b onto %d0 : !a, !b, !tracea_pipe.in_flight<!acc> -> !tracea_pipe.in_flight<!acc>
    // CHECK: tracea_pipe.commit_group mma
    tracea_pipe.commit_group mma
    // CHECK: tracea_pipe.wait_group mma pending 1{{$}}
    tracea_pipe.wait_group mma pending 1
    // CHECK: %[[D:.*]] = tracea_pipe.wait_group mma pending 0 (%[[D1]] : !tracea_pipe.in_flight<tensor<64x128xf32, #{{.*}}>>) {test.note}
    %d = tracea_pipe.wait_group mma pending 0 (%d1 : !tracea_pipe.in_flight<!acc>) {test.note}
    // CHECK: tracea_pipe.mma_async %[[A]], %[[B]] onto %[[D]] : memref<{{.*}}>, memref<{{.*}}>, tensor<64x128xf32, #{{.*}}> ->
    %e = tracea_pipe.mma_async %a, %b onto %d : !a, !b, !acc -> !tracea_pipe.in_flight<!acc>
    // CHECK: tracea_pipe.copy_out %[[B]] to %{{.*}}[%[[I]], %[[J]]] map #{{.*}} limits(%{{.*}}, %{{.*}}) : memref<{{.*}}>, memref<?x?xbf16>
    tracea_pipe.copy_out %b to %c[%i, %j] map affine_map<(i, j) -> (i, j)> limits(%n, %n) : !b, memref<?x?xbf16>
    // CHECK: tracea_pipe.copy_out %[[A]] to %{{.*}}[%[[I]], %[[J]]] map #{{[a-z0-9]*}} : memref
    tracea_pipe.copy_out %a to %c[%i, %j] map affine_map<(i, j) -> (i, j)> : !a, memref<?x?xbf16>
    // CHECK: tracea_pipe.commit_group copy
    tracea_pipe.commit_group copy
    // CHECK: tracea_pipe.wait_group copy pending 0
    tracea_pipe.wait_group copy pending 0
    // CHECK: tracea_pipe.slice %[[D]][0, 64] : tensor<64x128xf32, #{{.*}}> -> tensor<64x64xf32, #{{.*}}>
    %right = tracea_pipe.slice %d[0, 64] : !acc -> tensor<64x64xf32, #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>>
    // CHECK: %[[TURNS:.*]] = tracea_pipe.order_barrier : <2>
    %turns = tracea_pipe.order_barrier : !tracea_pipe.order_barrier<2>
    // CHECK: tracea_pipe.order_wait %[[TURNS]][%[[I]]] : <2>
    tracea_pipe.order_wait %turns[%i] : !tracea_pipe.order_barrier<2>
    // CHECK: tracea_pipe.order_arrive %[[TURNS]][%[[I]]] : <2>
    tracea_pipe.order_arrive %turns[%i] : !tracea_pipe.order_barrier<2>
    // CHECK: tracea_pipe.any %{{.*}} : tensor<64x128xi1, #{{.*}}>
    %true = arith.constant dense<true> : !cond
    %any = tracea_pipe.any %true : !cond
  }
  tracea_pipe.end
}
