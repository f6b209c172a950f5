// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-resources{require-proof=true}))" | FileCheck %s

!a = memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
!b = memref<64x256xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
!ring = !tracea_pipe.channel<4 x (!a, !b)>
!acc = tensor<64x256xf32, #tracea_pipe.lanes<
  reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]],
  lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>>
!flight = !tracea_pipe.in_flight<!acc>
#id = affine_map<(i, j) -> (i, j)>

// Four slots of 8 and 32 KiB and eight barriers; a warpgroup that copies, two
// that hold 128 accumulators a thread; the barrier of the workgroup.
// CHECK: tracea_pipe.kernel @product
// CHECK-SAME: check = "resources", claim = "shared 160.1 of 227 KiB, 384 threads, registers 40/232/232 of 65536, 0/128/128 live, 1 named barrier"
// CHECK-SAME: model = "target sm_90a; memory bytes 8192 slots 4 teams 1 align 1024 barriers 8; memory bytes 32768 slots 4 teams 1 align 1024 barriers 0;
// CHECK-SAME: role first 0 end 4 teams 1 budget 40 live 0 accumulators 0 warpgroups 0;
// CHECK-SAME: role first 4 end 12 teams 2 budget 232 live 128 accumulators 128 warpgroups 1; barriers named 1"
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
  tracea_pipe.kernel @product(%n: index, %d: memref<64x256xf32>) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      %ring = tracea_pipe.channel : !ring
      tracea_pipe.roles {
        tracea_pipe.role "producer" warps [0, 4] registers 40 {
        }
        tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 232 (%team) {
          %p = tracea_pipe.start : <4>
          %s:2 = tracea_pipe.wait %ring[%p] : !ring, <4> -> !a, !b
          %f = tracea_pipe.mma_async %s#0, %s#1 : !a, !b -> !flight
          tracea_pipe.commit_group mma
          %acc = tracea_pipe.wait_group mma pending 0 (%f : !flight)
          // What passes through register by register takes no place as a whole.
          %e = math.exp %acc : !acc
          %g = arith.addf %e, %e : !acc
          tracea_pipe.store %g, %d[%c0, %c0] map #id : !acc, memref<64x256xf32>
        }
      }
    }
    tracea_pipe.end
  }
}

// -----

// A CPU: buffers on lines of 64 bytes, one more after each. The sums of a loop
// and, at a product, a row of the right operand and an element of the left one.
// CHECK: tracea_pipe.kernel @panels
// CHECK-SAME: claim = "workspace 9.1 KiB, 11 of 32 vector registers"
!rhs = memref<64x32xf32, #tracea_pipe.staged>
!tile = tensor<4x32xf32, #tracea_pipe.lanes<reg = [[0, 16], [1, 0], [2, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>>
#id = affine_map<(i, j) -> (i, j)>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "x86-64-v4", triple = "", cpu = "x86-64-v4", vector_bits = 512, vector_registers = 32>} {
  tracea_pipe.kernel @panels(%n: index, %d: memref<4x32xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !tile
    tracea_pipe.tiles (%i) in (%n) {
      %a = tracea_pipe.scratch : memref<4x64xf32, #tracea_pipe.staged>
      %b = tracea_pipe.scratch : !rhs
      %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (!tile) {
        %next = tracea_pipe.mma %a, %b, %s depth(%n) : memref<4x64xf32, #tracea_pipe.staged>, !rhs, !tile
        scf.yield %next : !tile
      }
      tracea_pipe.store %sum, %d[%c0, %c0] map #id : !tile, memref<4x32xf32>
    }
    tracea_pipe.end
  }
}

// -----

// A tile unit: sums of a loop in four of its registers, two tiles of rows and one
// of columns beside them. Zeros are made where sums begin. What leaves the unit
// goes through the workspace, and passes through vectors one by one.
// CHECK: tracea_pipe.kernel @tiles
// CHECK-SAME: claim = "workspace 10.2 KiB, 0 of 32 vector registers, 7 of 8 tile registers"
// CHECK-SAME: model = "target sapphirerapids; cpu vectors 32 bits 512 workspace -1; tiles of 8 live 7; memory bytes 2048
// CHECK-SAME: memory bytes 4096
!words = memref<32x16x2xbf16, #tracea_pipe.staged>
!columns = memref<16x64x2xbf16, #tracea_pipe.staged>
!sums = tensor<32x32xf32, #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [2, 2]>>
!rows = tensor<32x32xf32, #tracea_pipe.lanes<reg = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>>
#id = affine_map<(i, j) -> (i, j)>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "sapphirerapids", triple = "", cpu = "sapphirerapids", features = "+avx512f,+amx-tile,+amx-bf16", vector_bits = 512, vector_registers = 32>} {
  tracea_pipe.kernel @tiles(%n: index, %d: memref<32x32xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !sums
    tracea_pipe.tiles (%i) in (%n) {
      %a = tracea_pipe.scratch : !words
      %b = tracea_pipe.scratch : !columns
      %panel = tracea_pipe.view %b[%c0, %c0, %c0] map affine_map<(k, j, g) -> (k, j, g)> : !columns -> memref<16x32x2xbf16, strided<[128, 2, 1], offset: ?>, #tracea_pipe.staged>
      %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (!sums) {
        %next = tracea_pipe.mma %a, %panel, %s : !words, memref<16x32x2xbf16, strided<[128, 2, 1], offset: ?>, #tracea_pipe.staged>, !sums
        scf.yield %next : !sums
      }
      %r = tracea_pipe.relayout %sum : !sums -> !rows
      tracea_pipe.store %r, %d[%c0, %c0] map #id : !rows, memref<32x32xf32>
    }
    tracea_pipe.end
  }
}
