// A result leaves in parts whose rows copies can swizzle, through buffers that take
// turns; what is computed from the tile element by element is computed for each part.
// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-stage-epilogue,canonicalize,cse))" | FileCheck %s
// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-stage-epilogue{columns=128 buffers=1},canonicalize,cse))" | FileCheck %s --check-prefix=WIDE

// CHECK-DAG: #[[ID:map[0-9]*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[SWAP:map[0-9]*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[WIDE64:lanes[0-9]*]] = #tracea_pipe.lanes<reg = {{\[}}[0, 1], [0, 2], [0, 4], [8, 0]], lane = {{\[}}[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = {{\[}}[16, 0], [32, 0]], outer = [1, 2]>
#id = affine_map<(i, j) -> (i, j)>
#acc256 = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>
#acc192 = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 3]>
#acc144 = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 9]>
#acc160 = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 5]>
#acc96 = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 3]>
#acc16 = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>
#acc24 = #tracea_pipe.lanes<reg = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 3]>

// Four parts in two buffers: one copy may be reading when the other buffer is written.
// CHECK-LABEL: kernel @columns_256(
// CHECK: %[[B0:.*]] = tracea_pipe.scratch : memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
// CHECK: %[[B1:.*]] = tracea_pipe.scratch : memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
// CHECK-NOT: tracea_pipe.scratch
// CHECK: scf.for
// CHECK: tracea_pipe.wait_group copy pending 1
// CHECK-NEXT: tracea_pipe.store %{{.*}}, %[[B0]][%c0, %c0] map #{{.*}} : tensor<64x64xbf16
// CHECK-NEXT: tracea_pipe.sync
// CHECK-NEXT: tracea_pipe.copy_out %[[B0]] to
// CHECK-NEXT: tracea_pipe.commit_group copy
// CHECK: tracea_pipe.wait_group copy pending 1
// CHECK-NEXT: tracea_pipe.store %{{.*}}, %[[B1]][%c0, %c0] map #{{.*}} : tensor<64x64xbf16
// CHECK-NEXT: tracea_pipe.sync
// CHECK-NEXT: tracea_pipe.copy_out %[[B1]] to
// CHECK-NEXT: tracea_pipe.commit_group copy
// CHECK: tracea_pipe.wait_group copy pending 1
// CHECK-NEXT: tracea_pipe.store %{{.*}}, %[[B0]][%c0, %c0] map #{{.*}} : tensor<64x64xbf16
// CHECK-NEXT: tracea_pipe.sync
// CHECK-NEXT: tracea_pipe.copy_out %[[B0]] to
// CHECK-NEXT: tracea_pipe.commit_group copy
// CHECK: tracea_pipe.wait_group copy pending 1
// CHECK-NEXT: tracea_pipe.store %{{.*}}, %[[B1]][%c0, %c0] map #{{.*}} : tensor<64x64xbf16
// CHECK-NEXT: tracea_pipe.sync
// CHECK-NEXT: tracea_pipe.copy_out %[[B1]] to
// CHECK-NEXT: tracea_pipe.commit_group copy
// CHECK-NOT: tracea_pipe.copy_out
// Before the role ends all copies are done.
// CHECK: tracea_pipe.wait_group copy pending 0
// Wider parts are panels of 128 bytes, and one buffer has one copy.
// WIDE-LABEL: kernel @columns_256(
// WIDE: %[[B:.*]] = tracea_pipe.scratch : memref<64x128xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9], panel = 64>>
// WIDE-NOT: tracea_pipe.scratch
// WIDE: tracea_pipe.wait_group copy pending 0
// WIDE: tracea_pipe.copy_out %[[B]]
// WIDE: tracea_pipe.wait_group copy pending 0
// WIDE: tracea_pipe.copy_out %[[B]]
// WIDE-NOT: tracea_pipe.copy_out
// WIDE:   end
tracea_pipe.kernel @columns_256(%n: index, %d: memref<?x?xbf16>) attributes {pipeline = #tracea_pipe.pipeline<>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant dense<1.0> : tensor<64x256xbf16, #acc256>
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 4] {
        scf.for %k = %c0 to %n step %c1 {
          tracea_pipe.store %v, %d[%k, %c0] map #id limits(%n, %n) : tensor<64x256xbf16, #acc256>, memref<?x?xbf16>
        }
      }
    }
  }
  tracea_pipe.end
}

// An odd number of parts: between the last use of a buffer in one round and its first in
// the next there is no other group, and the second buffer is used once a round.
// CHECK-LABEL: kernel @columns_192(
// CHECK: %[[B0:.*]] = tracea_pipe.scratch : memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
// CHECK: %[[B1:.*]] = tracea_pipe.scratch : memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
// CHECK-NOT: tracea_pipe.scratch
// CHECK: scf.for
// CHECK: tracea_pipe.wait_group copy pending 0
// CHECK-NEXT: tracea_pipe.store %{{.*}}, %[[B0]][%c0, %c0] map #{{.*}} : tensor<64x64xbf16
// CHECK-NEXT: tracea_pipe.sync
// CHECK-NEXT: tracea_pipe.copy_out %[[B0]] to
// CHECK-NEXT: tracea_pipe.commit_group copy
// CHECK: tracea_pipe.wait_group copy pending 2
// CHECK-NEXT: tracea_pipe.store %{{.*}}, %[[B1]][%c0, %c0] map #{{.*}} : tensor<64x64xbf16
// CHECK-NEXT: tracea_pipe.sync
// CHECK-NEXT: tracea_pipe.copy_out %[[B1]] to
// CHECK-NEXT: tracea_pipe.commit_group copy
// CHECK: tracea_pipe.wait_group copy pending 1
// CHECK-NEXT: tracea_pipe.store %{{.*}}, %[[B0]][%c0, %c0] map #{{.*}} : tensor<64x64xbf16
// CHECK-NEXT: tracea_pipe.sync
// CHECK-NEXT: tracea_pipe.copy_out %[[B0]] to
// CHECK-NEXT: tracea_pipe.commit_group copy
// CHECK-NOT: tracea_pipe.copy_out
// Before the role ends all copies are done.
// CHECK: tracea_pipe.wait_group copy pending 0
tracea_pipe.kernel @columns_192(%n: index, %d: memref<?x?xbf16>) attributes {pipeline = #tracea_pipe.pipeline<>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant dense<1.0> : tensor<64x192xbf16, #acc192>
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 4] {
        scf.for %k = %c0 to %n step %c1 {
          tracea_pipe.store %v, %d[%k, %c0] map #id limits(%n, %n) : tensor<64x192xbf16, #acc192>, memref<?x?xbf16>
        }
      }
    }
  }
  tracea_pipe.end
}

// The rest has rows of 32 bytes, and a buffer of its own: the two groups before it may
// be pending when it is written.
// CHECK-LABEL: kernel @columns_144(
// CHECK: %[[B0:.*]] = tracea_pipe.scratch : memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
// CHECK: %[[B1:.*]] = tracea_pipe.scratch : memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
// CHECK: %[[B2:.*]] = tracea_pipe.scratch : memref<64x16xbf16, #tracea_pipe.staged<swizzle = [4, 7]>>
// CHECK-NOT: tracea_pipe.scratch
// CHECK: scf.for
// CHECK: tracea_pipe.wait_group copy pending 2
// CHECK-NEXT: tracea_pipe.store %{{.*}}, %[[B0]][%c0, %c0] map #{{.*}} : tensor<64x64xbf16
// CHECK-NEXT: tracea_pipe.sync
// CHECK-NEXT: tracea_pipe.copy_out %[[B0]] to
// CHECK-NEXT: tracea_pipe.commit_group copy
// CHECK: tracea_pipe.wait_group copy pending 2
// CHECK-NEXT: tracea_pipe.store %{{.*}}, %[[B1]][%c0, %c0] map #{{.*}} : tensor<64x64xbf16
// CHECK-NEXT: tracea_pipe.sync
// CHECK-NEXT: tracea_pipe.copy_out %[[B1]] to
// CHECK-NEXT: tracea_pipe.commit_group copy
// CHECK: tracea_pipe.wait_group copy pending 2
// CHECK-NEXT: tracea_pipe.store %{{.*}}, %[[B2]][%c0, %c0] map #{{.*}} : tensor<64x16xbf16
// CHECK-NEXT: tracea_pipe.sync
// CHECK-NEXT: tracea_pipe.copy_out %[[B2]] to
// CHECK-NEXT: tracea_pipe.commit_group copy
// CHECK-NOT: tracea_pipe.copy_out
// Before the role ends all copies are done.
// CHECK: tracea_pipe.wait_group copy pending 0
tracea_pipe.kernel @columns_144(%n: index, %d: memref<?x?xbf16>) attributes {pipeline = #tracea_pipe.pipeline<>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant dense<1.0> : tensor<64x144xbf16, #acc144>
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 4] {
        scf.for %k = %c0 to %n step %c1 {
          tracea_pipe.store %v, %d[%k, %c0] map #id limits(%n, %n) : tensor<64x144xbf16, #acc144>, memref<?x?xbf16>
        }
      }
    }
  }
  tracea_pipe.end
}

// The rest has rows of 64 bytes.
// CHECK-LABEL: kernel @columns_160(
// CHECK: %[[B0:.*]] = tracea_pipe.scratch : memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
// CHECK: %[[B1:.*]] = tracea_pipe.scratch : memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
// CHECK: %[[B2:.*]] = tracea_pipe.scratch : memref<64x32xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8]>>
// CHECK-NOT: tracea_pipe.scratch
// CHECK: scf.for
// CHECK: tracea_pipe.wait_group copy pending 2
// CHECK-NEXT: tracea_pipe.store %{{.*}}, %[[B0]][%c0, %c0] map #{{.*}} : tensor<64x64xbf16
// CHECK-NEXT: tracea_pipe.sync
// CHECK-NEXT: tracea_pipe.copy_out %[[B0]] to
// CHECK-NEXT: tracea_pipe.commit_group copy
// CHECK: tracea_pipe.wait_group copy pending 2
// CHECK-NEXT: tracea_pipe.store %{{.*}}, %[[B1]][%c0, %c0] map #{{.*}} : tensor<64x64xbf16
// CHECK-NEXT: tracea_pipe.sync
// CHECK-NEXT: tracea_pipe.copy_out %[[B1]] to
// CHECK-NEXT: tracea_pipe.commit_group copy
// CHECK: tracea_pipe.wait_group copy pending 2
// CHECK-NEXT: tracea_pipe.store %{{.*}}, %[[B2]][%c0, %c0] map #{{.*}} : tensor<64x32xbf16
// CHECK-NEXT: tracea_pipe.sync
// CHECK-NEXT: tracea_pipe.copy_out %[[B2]] to
// CHECK-NEXT: tracea_pipe.commit_group copy
// CHECK-NOT: tracea_pipe.copy_out
// Before the role ends all copies are done.
// CHECK: tracea_pipe.wait_group copy pending 0
tracea_pipe.kernel @columns_160(%n: index, %d: memref<?x?xbf16>) attributes {pipeline = #tracea_pipe.pipeline<>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant dense<1.0> : tensor<64x160xbf16, #acc160>
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 4] {
        scf.for %k = %c0 to %n step %c1 {
          tracea_pipe.store %v, %d[%k, %c0] map #id limits(%n, %n) : tensor<64x160xbf16, #acc160>, memref<?x?xbf16>
        }
      }
    }
  }
  tracea_pipe.end
}

// One part of each size: one group is pending at most.
// CHECK-LABEL: kernel @columns_96(
// CHECK: %[[B0:.*]] = tracea_pipe.scratch : memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
// CHECK: %[[B1:.*]] = tracea_pipe.scratch : memref<64x32xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8]>>
// CHECK-NOT: tracea_pipe.scratch
// CHECK: scf.for
// CHECK: tracea_pipe.wait_group copy pending 1
// CHECK-NEXT: tracea_pipe.store %{{.*}}, %[[B0]][%c0, %c0] map #{{.*}} : tensor<64x64xbf16
// CHECK-NEXT: tracea_pipe.sync
// CHECK-NEXT: tracea_pipe.copy_out %[[B0]] to
// CHECK-NEXT: tracea_pipe.commit_group copy
// CHECK: tracea_pipe.wait_group copy pending 1
// CHECK-NEXT: tracea_pipe.store %{{.*}}, %[[B1]][%c0, %c0] map #{{.*}} : tensor<64x32xbf16
// CHECK-NEXT: tracea_pipe.sync
// CHECK-NEXT: tracea_pipe.copy_out %[[B1]] to
// CHECK-NEXT: tracea_pipe.commit_group copy
// CHECK-NOT: tracea_pipe.copy_out
// Before the role ends all copies are done.
// CHECK: tracea_pipe.wait_group copy pending 0
tracea_pipe.kernel @columns_96(%n: index, %d: memref<?x?xbf16>) attributes {pipeline = #tracea_pipe.pipeline<>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant dense<1.0> : tensor<64x96xbf16, #acc96>
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 4] {
        scf.for %k = %c0 to %n step %c1 {
          tracea_pipe.store %v, %d[%k, %c0] map #id limits(%n, %n) : tensor<64x96xbf16, #acc96>, memref<?x?xbf16>
        }
      }
    }
  }
  tracea_pipe.end
}

// Of two parts the second lies past the end of every row of the result.
// CHECK-LABEL: kernel @narrow_result(
// CHECK: %[[B0:.*]] = tracea_pipe.scratch : memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
// CHECK-NOT: tracea_pipe.scratch
// CHECK: tracea_pipe.wait_group copy pending 0
// CHECK-NEXT: tracea_pipe.store %{{.*}}, %[[B0]]
// CHECK: tracea_pipe.copy_out %[[B0]] to
// CHECK-NOT: tracea_pipe.copy_out
// One element more, and it has one.
// CHECK-LABEL: kernel @wider_result(
// CHECK-COUNT-2: tracea_pipe.copy_out
tracea_pipe.kernel @narrow_result(%n: index, %d: memref<?x64xbf16>) attributes {pipeline = #tracea_pipe.pipeline<>} {
  %c0 = arith.constant 0 : index
  %v = arith.constant dense<1.0> : tensor<64x96xbf16, #acc96>
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 4] {
        tracea_pipe.store %v, %d[%i, %c0] map #id limits(%n, %n) : tensor<64x96xbf16, #acc96>, memref<?x64xbf16>
      }
    }
  }
  tracea_pipe.end
}
tracea_pipe.kernel @wider_result(%n: index, %d: memref<?x65xbf16>) attributes {pipeline = #tracea_pipe.pipeline<>} {
  %c0 = arith.constant 0 : index
  %v = arith.constant dense<1.0> : tensor<64x96xbf16, #acc96>
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 4] {
        tracea_pipe.store %v, %d[%i, %c0] map #id limits(%n, %n) : tensor<64x96xbf16, #acc96>, memref<?x65xbf16>
      }
    }
  }
  tracea_pipe.end
}

// One part: its own copy, a round ago, must be done.
// CHECK-LABEL: kernel @columns_16(
// CHECK: %[[B0:.*]] = tracea_pipe.scratch : memref<64x16xbf16, #tracea_pipe.staged<swizzle = [4, 7]>>
// CHECK-NOT: tracea_pipe.scratch
// CHECK: scf.for
// CHECK: tracea_pipe.wait_group copy pending 0
// CHECK-NEXT: tracea_pipe.store %{{.*}}, %[[B0]][%c0, %c0] map #{{.*}} : tensor<64x16xbf16
// CHECK-NEXT: tracea_pipe.sync
// CHECK-NEXT: tracea_pipe.copy_out %[[B0]] to
// CHECK-NEXT: tracea_pipe.commit_group copy
// CHECK-NOT: tracea_pipe.copy_out
// Before the role ends all copies are done.
// CHECK: tracea_pipe.wait_group copy pending 0
tracea_pipe.kernel @columns_16(%n: index, %d: memref<?x?xbf16>) attributes {pipeline = #tracea_pipe.pipeline<>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant dense<1.0> : tensor<64x16xbf16, #acc16>
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 4] {
        scf.for %k = %c0 to %n step %c1 {
          tracea_pipe.store %v, %d[%k, %c0] map #id limits(%n, %n) : tensor<64x16xbf16, #acc16>, memref<?x?xbf16>
        }
      }
    }
  }
  tracea_pipe.end
}

// A rest of 16 bytes is no row that a copy swizzles: the store stays.
// CHECK-LABEL: kernel @columns_24(
// CHECK-NOT: tracea_pipe.scratch
// CHECK: tracea_pipe.store {{.*}} : tensor<64x24xbf16, #{{.*}}>, memref<?x?xbf16>
// CHECK-NOT: tracea_pipe.wait_group
// CHECK: end
tracea_pipe.kernel @columns_24(%n: index, %d: memref<?x?xbf16>) attributes {pipeline = #tracea_pipe.pipeline<>} {
  %c0 = arith.constant 0 : index
  %v = arith.constant dense<1.0> : tensor<64x24xbf16, #acc24>
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 4] {
        tracea_pipe.store %v, %d[%n, %c0] map #id : tensor<64x24xbf16, #acc24>, memref<?x?xbf16>
      }
    }
  }
  tracea_pipe.end
}

// Lanes that write whole sectors of 32 bytes, eight neighbours of single precision
// here, need no buffer; the parts are still parts, cut by their own limits.
// CHECK-LABEL: kernel @single(
// CHECK-SAME:    %[[N:.*]]: index, %[[D:.*]]: memref<?x?xf32>)
// CHECK-NOT: tracea_pipe.scratch
// CHECK: tracea_pipe.store %{{.*}}, %[[D]][%[[N]], %c0] map #{{.*}} limits(%[[N]], %[[N]]) : tensor<64x64xf32, #[[PART:.*]]>, memref
// CHECK: %[[LEFT:.*]] = arith.subi %[[N]], %c64
// CHECK-NEXT: tracea_pipe.store %{{.*}}, %[[D]][%[[N]], %c64] map #{{.*}} limits(%[[N]], %[[LEFT]]) : tensor<64x32xf32
// CHECK-NOT: tracea_pipe.wait_group
// CHECK: end
tracea_pipe.kernel @single(%n: index, %d: memref<?x?xf32>) attributes {pipeline = #tracea_pipe.pipeline<>} {
  %c0 = arith.constant 0 : index
  %v = arith.constant dense<1.0> : tensor<64x96xf32, #acc96>
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 4] {
        tracea_pipe.store %v, %d[%n, %c0] map #id limits(%n, %n) : tensor<64x96xf32, #acc96>, memref<?x?xf32>
      }
    }
  }
  tracea_pipe.end
}

// Two results of one role share the buffers and leave together, part by part;
// parts of both count as groups.
// CHECK-LABEL: kernel @two(
// CHECK: %[[B0:.*]] = tracea_pipe.scratch : memref<64x64xbf16
// CHECK: %[[B1:.*]] = tracea_pipe.scratch : memref<64x64xbf16
// CHECK: %[[B2:.*]] = tracea_pipe.scratch : memref<64x32xbf16
// CHECK: %[[B3:.*]] = tracea_pipe.scratch : memref<64x32xbf16
// CHECK-NOT: tracea_pipe.scratch
// CHECK: wait_group copy pending 3
// CHECK: copy_out %[[B0]] to %[[D:[a-z0-9]+]][
// CHECK: wait_group copy pending 3
// CHECK: copy_out %[[B1]] to %[[E:[a-z0-9]+]][
// CHECK: wait_group copy pending 3
// CHECK: copy_out %[[B2]] to %[[D]][
// CHECK: wait_group copy pending 3
// CHECK: copy_out %[[B3]] to %[[E]][
// With one buffer of a size two groups take turns.
// WIDE-LABEL: kernel @two(
// WIDE: tracea_pipe.scratch : memref<64x64xbf16
// WIDE: tracea_pipe.scratch : memref<64x32xbf16
// WIDE-NOT: tracea_pipe.scratch
// WIDE: wait_group copy pending 2
// WIDE: wait_group copy pending 0
// WIDE: wait_group copy pending 2
// WIDE: wait_group copy pending 0
tracea_pipe.kernel @two(%n: index, %d: memref<?x?xbf16>, %e: memref<?x?xbf16>) attributes {pipeline = #tracea_pipe.pipeline<>} {
  %c0 = arith.constant 0 : index
  %v = arith.constant dense<1.0> : tensor<64x96xbf16, #acc96>
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 4] {
        tracea_pipe.store %v, %d[%n, %c0] map #id limits(%n, %n) : tensor<64x96xbf16, #acc96>, memref<?x?xbf16>
        tracea_pipe.store %v, %e[%n, %c0] map #id limits(%n, %n) : tensor<64x96xbf16, #acc96>, memref<?x?xbf16>
      }
    }
  }
  tracea_pipe.end
}

// Stores of two blocks are in no known order: each waits for all copies.
// CHECK-LABEL: kernel @branch(
// CHECK: scf.if
// CHECK: wait_group copy pending 0
// CHECK: copy_out
// CHECK: }
// CHECK: wait_group copy pending 0
// CHECK: copy_out
// CHECK: wait_group copy pending 0
tracea_pipe.kernel @branch(%n: index, %b: i1, %d: memref<?x?xbf16>, %e: memref<?x?xbf16>) attributes {pipeline = #tracea_pipe.pipeline<>} {
  %c0 = arith.constant 0 : index
  %v = arith.constant dense<1.0> : tensor<64x16xbf16, #acc16>
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 4] {
        scf.if %b {
          tracea_pipe.store %v, %d[%n, %c0] map #id : tensor<64x16xbf16, #acc16>, memref<?x?xbf16>
        }
        tracea_pipe.store %v, %e[%n, %c0] map #id : tensor<64x16xbf16, #acc16>, memref<?x?xbf16>
      }
    }
  }
  tracea_pipe.end
}

// A transposed store: the tile's rows are neighbours in memory. A buffer has memory's
// order; limits and maps follow.
// CHECK-LABEL: kernel @transposed(
// CHECK-SAME:    %[[N:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index, %[[D:.*]]: memref<?x?xbf16>)
// CHECK: %[[B:.*]] = tracea_pipe.scratch : memref<16x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
// CHECK: tracea_pipe.store %{{.*}}, %[[B]][%c0, %c0] map #[[SWAP]] : tensor<64x16xbf16
// CHECK: tracea_pipe.copy_out %[[B]] to %[[D]][%[[N]], %c0] map #[[ID]] limits(%[[M]], %[[N]])
tracea_pipe.kernel @transposed(%n: index, %m: index, %d: memref<?x?xbf16>) attributes {pipeline = #tracea_pipe.pipeline<>} {
  %c0 = arith.constant 0 : index
  %v = arith.constant dense<1.0> : tensor<64x16xbf16, #acc16>
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 4] {
        tracea_pipe.store %v, %d[%n, %c0] map affine_map<(i, j) -> (j, i)> limits(%n, %m) : tensor<64x16xbf16, #acc16>, memref<?x?xbf16>
      }
    }
  }
  tracea_pipe.end
}

// The sum takes its time: what the first part of the epilogue loads comes ahead of it,
// and what another loads ahead of the part before it. Every part has its own slice of
// the sum, and its own arithmetic. A lane loads 16 bytes of a row: lanes 1 and 2 count
// columns from 8 on, and what registers hold is exchanged where it is used.
// CHECK-LABEL: kernel @epilogue(
// CHECK-SAME:    %[[N:[a-z0-9]+]]: index, %[[X:[a-z0-9]+]]: memref<?x?xbf16>, %[[BIAS:[a-z0-9]+]]: memref<?xf32>, %[[D:.*]]: memref<?x?xbf16>)
// CHECK: role "consumer"
// CHECK: %[[AT:.*]] = arith.muli
// CHECK-DAG: %[[X0:.*]] = tracea_pipe.load %[[X]][%[[AT]], %c0] {{.*}} limits(%[[N]], %[[N]]) : {{.*}} -> tensor<64x64xbf16, #[[WIDE64]]>
// CHECK-DAG: %[[B0:.*]] = tracea_pipe.load %[[BIAS]][%c0] {{.*}} -> tensor<64x64xf32
// CHECK-NOT: tracea_pipe.load
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: }
// CHECK: %[[S0:.*]] = tracea_pipe.slice %[[SUM]][0, 0]
// CHECK-DAG: %[[E0:.*]] = tracea_pipe.relayout %[[X0]] : tensor<64x64xbf16, #[[WIDE64]]> -> tensor<64x64xbf16, #{{.*}}>
// CHECK-DAG: %[[W0:.*]] = arith.extf %[[E0]]
// CHECK-DAG: %[[Y0:.*]] = arith.addf %[[S0]], %[[B0]]
// CHECK: arith.mulf %[[Y0]], %[[W0]] : tensor<64x64xf32
// CHECK: arith.truncf
// CHECK: %[[LEFT:.*]] = arith.subi %[[N]], %c64
// CHECK-DAG: %[[X1:.*]] = tracea_pipe.load %[[X]][%[[AT]], %c64] {{.*}} limits(%[[N]], %[[LEFT]]) : {{.*}} -> tensor<64x32xbf16
// CHECK-DAG: %[[B1:.*]] = tracea_pipe.load %[[BIAS]][%c64] {{.*}} -> tensor<64x32xf32
// CHECK: tracea_pipe.copy_out
// CHECK: %[[S1:.*]] = tracea_pipe.slice %[[SUM]][0, 64]
// CHECK-DAG: %[[E1:.*]] = tracea_pipe.relayout %[[X1]]
// CHECK-DAG: %[[W1:.*]] = arith.extf %[[E1]]
// CHECK-DAG: %[[Y1:.*]] = arith.addf %[[S1]], %[[B1]]
// CHECK: arith.mulf %[[Y1]], %[[W1]] : tensor<64x32xf32
// CHECK-NOT: tracea_pipe.load
// CHECK: tracea_pipe.copy_out %{{.*}} to %[[D]][%[[AT]], %c64] {{.*}} limits(%[[N]], %[[LEFT]])
tracea_pipe.kernel @epilogue(%n: index, %x: memref<?x?xbf16>, %bias: memref<?xf32>, %d: memref<?x?xbf16>) attributes {pipeline = #tracea_pipe.pipeline<>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x96xf32, #acc96>
  %one = arith.constant dense<1.0> : tensor<64x96xf32, #acc96>
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 4] {
        %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<64x96xf32, #acc96>) {
          %next = arith.addf %s, %one : tensor<64x96xf32, #acc96>
          scf.yield %next : tensor<64x96xf32, #acc96>
        }
        %at = arith.muli %i, %c64 : index
        %b = tracea_pipe.load %bias[%c0] map affine_map<(i, j) -> (j)> limits(%c64, %n) : memref<?xf32> -> tensor<64x96xf32, #acc96>
        %r = tracea_pipe.load %x[%at, %c0] map #id limits(%n, %n) : memref<?x?xbf16> -> tensor<64x96xbf16, #acc96>
        %y = arith.addf %sum, %b : tensor<64x96xf32, #acc96>
        %w = arith.extf %r : tensor<64x96xbf16, #acc96> to tensor<64x96xf32, #acc96>
        %z = arith.mulf %y, %w : tensor<64x96xf32, #acc96>
        %t = arith.truncf %z : tensor<64x96xf32, #acc96> to tensor<64x96xbf16, #acc96>
        tracea_pipe.store %t, %d[%at, %c0] map #id limits(%n, %n) : tensor<64x96xbf16, #acc96>, memref<?x?xbf16>
      }
    }
  }
  tracea_pipe.end
}

// Without registers for an exchange lanes load what they hold.
// CHECK-LABEL: kernel @few_registers(
// CHECK: role "consumer"
// CHECK-NOT: tracea_pipe.relayout
// CHECK:   end
tracea_pipe.kernel @few_registers(%n: index, %x: memref<?x?xbf16>, %d: memref<?x?xbf16>) attributes {pipeline = #tracea_pipe.pipeline<>} {
  %c0 = arith.constant 0 : index
  %s = arith.constant dense<1.0> : tensor<64x96xbf16, #acc96>
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 4] registers 104 {
        %r = tracea_pipe.load %x[%i, %c0] map #id limits(%n, %n) : memref<?x?xbf16> -> tensor<64x96xbf16, #acc96>
        %z = arith.mulf %s, %r : tensor<64x96xbf16, #acc96>
        tracea_pipe.store %z, %d[%i, %c0] map #id limits(%n, %n) : tensor<64x96xbf16, #acc96>, memref<?x?xbf16>
      }
    }
  }
  tracea_pipe.end
}

// A tile that leaves whole: its load comes ahead of the sum, once.
// CHECK-LABEL: kernel @whole(
// CHECK: role "consumer"
// CHECK: %[[B:.*]] = tracea_pipe.load
// CHECK: %[[SUM:.*]] = scf.for
// CHECK-NOT: tracea_pipe.load
// CHECK: arith.addf %[[SUM]], %[[B]]
// CHECK: tracea_pipe.copy_out
tracea_pipe.kernel @whole(%n: index, %bias: memref<?xf32>, %d: memref<?x?xbf16>) attributes {pipeline = #tracea_pipe.pipeline<>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x16xf32, #acc16>
  %one = arith.constant dense<1.0> : tensor<64x16xf32, #acc16>
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 4] {
        %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<64x16xf32, #acc16>) {
          %next = arith.addf %s, %one : tensor<64x16xf32, #acc16>
          scf.yield %next : tensor<64x16xf32, #acc16>
        }
        %b = tracea_pipe.load %bias[%c0] map affine_map<(i, j) -> (j)> : memref<?xf32> -> tensor<64x16xf32, #acc16>
        %y = arith.addf %sum, %b : tensor<64x16xf32, #acc16>
        %t = arith.truncf %y : tensor<64x16xf32, #acc16> to tensor<64x16xbf16, #acc16>
        tracea_pipe.store %t, %d[%n, %c0] map #id : tensor<64x16xbf16, #acc16>, memref<?x?xbf16>
      }
    }
  }
  tracea_pipe.end
}

// What loads depend on is not there before the sum: they stay.
// CHECK-LABEL: kernel @dependent(
// CHECK: role "consumer"
// CHECK-NOT: tracea_pipe.load
// CHECK: scf.for
// CHECK: memref.load
// CHECK: tracea_pipe.load
tracea_pipe.kernel @dependent(%n: index, %where: memref<?xindex>, %bias: memref<?xf32>, %d: memref<?x?xbf16>) attributes {pipeline = #tracea_pipe.pipeline<>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x16xf32, #acc16>
  %one = arith.constant dense<1.0> : tensor<64x16xf32, #acc16>
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 4] {
        %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<64x16xf32, #acc16>) {
          %next = arith.addf %s, %one : tensor<64x16xf32, #acc16>
          scf.yield %next : tensor<64x16xf32, #acc16>
        }
        %at = memref.load %where[%c0] : memref<?xindex>
        %b = tracea_pipe.load %bias[%at] map affine_map<(i, j) -> (j)> : memref<?xf32> -> tensor<64x16xf32, #acc16>
        %y = arith.addf %sum, %b : tensor<64x16xf32, #acc16>
        %t = arith.truncf %y : tensor<64x16xf32, #acc16> to tensor<64x16xbf16, #acc16>
        tracea_pipe.store %t, %d[%n, %c0] map #id : tensor<64x16xbf16, #acc16>, memref<?x?xbf16>
      }
    }
  }
  tracea_pipe.end
}

// A tile that is used many times over is followed once.
// CHECK-LABEL: kernel @powers(
// CHECK-COUNT-60: arith.mulf {{.*}} : tensor<64x64xf32
// CHECK: tracea_pipe.copy_out
tracea_pipe.kernel @powers(%n: index, %x: memref<?xf32>, %d: memref<?x?xbf16>) attributes {pipeline = #tracea_pipe.pipeline<>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x96xf32, #acc96>
  %one = arith.constant dense<1.0> : tensor<64x96xf32, #acc96>
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 4] {
        %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<64x96xf32, #acc96>) {
          %next = arith.addf %s, %one : tensor<64x96xf32, #acc96>
          scf.yield %next : tensor<64x96xf32, #acc96>
        }
        %b = tracea_pipe.load %x[%c0] map affine_map<(i, j) -> (j)> : memref<?xf32> -> tensor<64x96xf32, #acc96>
        %p0 = arith.addf %sum, %b : tensor<64x96xf32, #acc96>
        %p1 = arith.mulf %p0, %p0 : tensor<64x96xf32, #acc96>
        %p2 = arith.mulf %p1, %p1 : tensor<64x96xf32, #acc96>
        %p3 = arith.mulf %p2, %p2 : tensor<64x96xf32, #acc96>
        %p4 = arith.mulf %p3, %p3 : tensor<64x96xf32, #acc96>
        %p5 = arith.mulf %p4, %p4 : tensor<64x96xf32, #acc96>
        %p6 = arith.mulf %p5, %p5 : tensor<64x96xf32, #acc96>
        %p7 = arith.mulf %p6, %p6 : tensor<64x96xf32, #acc96>
        %p8 = arith.mulf %p7, %p7 : tensor<64x96xf32, #acc96>
        %p9 = arith.mulf %p8, %p8 : tensor<64x96xf32, #acc96>
        %p10 = arith.mulf %p9, %p9 : tensor<64x96xf32, #acc96>
        %p11 = arith.mulf %p10, %p10 : tensor<64x96xf32, #acc96>
        %p12 = arith.mulf %p11, %p11 : tensor<64x96xf32, #acc96>
        %p13 = arith.mulf %p12, %p12 : tensor<64x96xf32, #acc96>
        %p14 = arith.mulf %p13, %p13 : tensor<64x96xf32, #acc96>
        %p15 = arith.mulf %p14, %p14 : tensor<64x96xf32, #acc96>
        %p16 = arith.mulf %p15, %p15 : tensor<64x96xf32, #acc96>
        %p17 = arith.mulf %p16, %p16 : tensor<64x96xf32, #acc96>
        %p18 = arith.mulf %p17, %p17 : tensor<64x96xf32, #acc96>
        %p19 = arith.mulf %p18, %p18 : tensor<64x96xf32, #acc96>
        %p20 = arith.mulf %p19, %p19 : tensor<64x96xf32, #acc96>
        %p21 = arith.mulf %p20, %p20 : tensor<64x96xf32, #acc96>
        %p22 = arith.mulf %p21, %p21 : tensor<64x96xf32, #acc96>
        %p23 = arith.mulf %p22, %p22 : tensor<64x96xf32, #acc96>
        %p24 = arith.mulf %p23, %p23 : tensor<64x96xf32, #acc96>
        %p25 = arith.mulf %p24, %p24 : tensor<64x96xf32, #acc96>
        %p26 = arith.mulf %p25, %p25 : tensor<64x96xf32, #acc96>
        %p27 = arith.mulf %p26, %p26 : tensor<64x96xf32, #acc96>
        %p28 = arith.mulf %p27, %p27 : tensor<64x96xf32, #acc96>
        %p29 = arith.mulf %p28, %p28 : tensor<64x96xf32, #acc96>
        %p30 = arith.mulf %p29, %p29 : tensor<64x96xf32, #acc96>
        %p31 = arith.mulf %p30, %p30 : tensor<64x96xf32, #acc96>
        %p32 = arith.mulf %p31, %p31 : tensor<64x96xf32, #acc96>
        %p33 = arith.mulf %p32, %p32 : tensor<64x96xf32, #acc96>
        %p34 = arith.mulf %p33, %p33 : tensor<64x96xf32, #acc96>
        %p35 = arith.mulf %p34, %p34 : tensor<64x96xf32, #acc96>
        %p36 = arith.mulf %p35, %p35 : tensor<64x96xf32, #acc96>
        %p37 = arith.mulf %p36, %p36 : tensor<64x96xf32, #acc96>
        %p38 = arith.mulf %p37, %p37 : tensor<64x96xf32, #acc96>
        %p39 = arith.mulf %p38, %p38 : tensor<64x96xf32, #acc96>
        %p40 = arith.mulf %p39, %p39 : tensor<64x96xf32, #acc96>
        %p41 = arith.mulf %p40, %p40 : tensor<64x96xf32, #acc96>
        %p42 = arith.mulf %p41, %p41 : tensor<64x96xf32, #acc96>
        %p43 = arith.mulf %p42, %p42 : tensor<64x96xf32, #acc96>
        %p44 = arith.mulf %p43, %p43 : tensor<64x96xf32, #acc96>
        %p45 = arith.mulf %p44, %p44 : tensor<64x96xf32, #acc96>
        %p46 = arith.mulf %p45, %p45 : tensor<64x96xf32, #acc96>
        %p47 = arith.mulf %p46, %p46 : tensor<64x96xf32, #acc96>
        %p48 = arith.mulf %p47, %p47 : tensor<64x96xf32, #acc96>
        %p49 = arith.mulf %p48, %p48 : tensor<64x96xf32, #acc96>
        %p50 = arith.mulf %p49, %p49 : tensor<64x96xf32, #acc96>
        %p51 = arith.mulf %p50, %p50 : tensor<64x96xf32, #acc96>
        %p52 = arith.mulf %p51, %p51 : tensor<64x96xf32, #acc96>
        %p53 = arith.mulf %p52, %p52 : tensor<64x96xf32, #acc96>
        %p54 = arith.mulf %p53, %p53 : tensor<64x96xf32, #acc96>
        %p55 = arith.mulf %p54, %p54 : tensor<64x96xf32, #acc96>
        %p56 = arith.mulf %p55, %p55 : tensor<64x96xf32, #acc96>
        %p57 = arith.mulf %p56, %p56 : tensor<64x96xf32, #acc96>
        %p58 = arith.mulf %p57, %p57 : tensor<64x96xf32, #acc96>
        %p59 = arith.mulf %p58, %p58 : tensor<64x96xf32, #acc96>
        %p60 = arith.mulf %p59, %p59 : tensor<64x96xf32, #acc96>
        %t = arith.truncf %p60 : tensor<64x96xf32, #acc96> to tensor<64x96xbf16, #acc96>
        tracea_pipe.store %t, %d[%n, %c0] map #id : tensor<64x96xbf16, #acc96>, memref<?x?xbf16>
      }
    }
  }
  tracea_pipe.end
}
