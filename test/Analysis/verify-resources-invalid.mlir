// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-resources))" -verify-diagnostics

!big = memref<256x256xf32, #tracea_pipe.staged>
!small = memref<64x64xf32, #tracea_pipe.staged>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
  // expected-error@+1 {{does not fit: needs 278528 bytes of shared memory, 'sm_90a' has 232448 a workgroup}}
  tracea_pipe.kernel @memory(%n: index) {
    tracea_pipe.tiles (%i) in (%n) {
      // expected-note@+1 {{this scratch tile takes 262144 bytes}}
      %s = tracea_pipe.scratch : !big
      // expected-note@+1 {{this scratch tile takes 16384 bytes}}
      %t = tracea_pipe.scratch : !small
    }
    tracea_pipe.end
  }

  // expected-error@+1 {{does not fit: needs 1056 threads, 'sm_90a' has 1024 a workgroup}}
  tracea_pipe.kernel @threads(%n: index) {
    tracea_pipe.tiles (%i) in (%n) {
      tracea_pipe.roles {
        tracea_pipe.role "all" warps [0, 33] {
        }
      }
    }
    tracea_pipe.end
  }

  // 512 threads are launched with 128 registers each.
  // expected-error@+1 {{does not fit: its roles draw 73728 registers, the launch leaves 65536: 512 threads of 128}}
  tracea_pipe.kernel @pool(%n: index) {
    tracea_pipe.tiles (%i) in (%n) {
      tracea_pipe.roles {
        // expected-note@+2 {{role 'some' draws 21504 for warps 0 to 3: 128 threads of 168}}
        // expected-note@+1 {{role 'some' draws 21504 for warps 4 to 7: 128 threads of 168}}
        tracea_pipe.role "some" warps [0, 8] registers 168 {
        }
        // expected-note@+2 {{role 'others' draws 15360 for warps 8 to 11: 128 threads of 120}}
        // expected-note@+1 {{role 'others' draws 15360 for warps 12 to 15: 128 threads of 120}}
        tracea_pipe.role "others" warps [8, 16] registers 120 {
        }
      }
    }
    tracea_pipe.end
  }

  tracea_pipe.kernel @budget(%n: index) {
    tracea_pipe.tiles (%i) in (%n) {
      tracea_pipe.roles {
        // expected-error@+1 {{does not fit: role 'odd' has a budget that is no multiple of 8 from 24 to 256: 44}}
        tracea_pipe.role "odd" warps [0, 4] registers 44 {
        }
        // expected-note@+1 {{the other role is here}}
        tracea_pipe.role "first" warps [4, 6] registers 64 {
        }
        // expected-error@+1 {{does not fit: role 'second' has a budget of 48, role 'first' of the same warpgroup one of 64: four warps move their registers as one}}
        tracea_pipe.role "second" warps [6, 8] registers 48 {
        }
      }
    }
    tracea_pipe.end
  }

  // expected-error@+1 {{does not fit: needs 17 named barriers, 'sm_90a' has 16}}
  tracea_pipe.kernel @barriers(%n: index) {
    tracea_pipe.tiles (%i) in (%n) {
      %t0 = tracea_pipe.order_barrier : <8>
      %t1 = tracea_pipe.order_barrier : <8>
    }
    tracea_pipe.end
  }
}

// -----

// Two tiles of 128 registers that a loop carries, for a budget of 232.
!acc = tensor<64x256xf32, #tracea_pipe.lanes<
  reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]],
  lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>>
#id = affine_map<(i, j) -> (i, j)>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
  tracea_pipe.kernel @live(%n: index, %d: memref<64x256xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !acc
    tracea_pipe.tiles (%i) in (%n) {
      tracea_pipe.roles {
        // expected-error@+1 {{does not fit: role 'one' keeps 256 registers of tiles alive, its budget is 232}}
        tracea_pipe.role "one" warps [0, 4] registers 232 {
          %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%x = %zero, %y = %zero) -> (!acc, !acc) {
            scf.yield %y, %x : !acc, !acc
          }
          // expected-note@+1 {{most are live here}}
          tracea_pipe.store %r#0, %d[%c0, %c0] map #id : !acc, memref<64x256xf32>
          tracea_pipe.store %r#1, %d[%c0, %c0] map #id : !acc, memref<64x256xf32>
        }
      }
    }
    tracea_pipe.end
  }
}

// -----

// Registers cannot be moved here.
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
  // expected-error@+1 {{does not fit: has roles with register budgets, but 'sm_80' cannot move registers between warps}}
  tracea_pipe.kernel @fixed(%n: index) {
    tracea_pipe.tiles (%i) in (%n) {
      tracea_pipe.roles {
        tracea_pipe.role "all" warps [0, 4] registers 64 {
        }
      }
    }
    tracea_pipe.end
  }
}

// -----

// What nobody publishes is not decided.
module attributes {tracea.target = #tracea.target<kind = metal, name = "apple-m1", triple = "", cpu = "">} {
  // expected-remark@+1 {{resources not decided: the register file of 'apple-m1' is not known}}
  tracea_pipe.kernel @unknown(%n: index) {
    tracea_pipe.tiles (%i) in (%n) {
    }
    tracea_pipe.end
  }
}

// -----

// expected-remark@+1 {{resources not decided: the module has no attribute 'tracea.target'}}
tracea_pipe.kernel @nowhere(%n: index) {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// -----

// A warpgroup multiplies from a warp that is a multiple of four.
!a = memref<64x64xbf16, #tracea_pipe.staged>
!acc = tensor<64x64xf32, #tracea_pipe.lanes<
  reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]],
  lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>>
!flight = !tracea_pipe.in_flight<!acc>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
  tracea_pipe.kernel @warpgroup(%n: index) {
    tracea_pipe.tiles (%i) in (%n) {
      %s = tracea_pipe.scratch : !a
      tracea_pipe.roles {
        // expected-error@+1 {{does not fit: role 'late' has teams of 4 warps from warp 2, but its multiplies are issued by warpgroups: four warps that begin at a multiple of four}}
        tracea_pipe.role "late" warps [2, 6] {
          %f = tracea_pipe.mma_async %s, %s : !a, !a -> !flight
        }
      }
    }
    tracea_pipe.end
  }
}

// -----

// Eight tiles of sums leave no register of the unit for their operands, and a
// workspace without the way out of it is too small.
!words = memref<64x16x2xbf16, #tracea_pipe.staged>
!columns = memref<16x32x2xbf16, #tracea_pipe.staged>
!sums = tensor<64x32xf32, #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [4, 2]>>
!rows = tensor<64x32xf32, #tracea_pipe.lanes<reg = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>>
#id = affine_map<(i, j) -> (i, j)>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "sapphirerapids", triple = "", cpu = "sapphirerapids", features = "+avx512f,+amx-tile,+amx-bf16", vector_bits = 512, vector_registers = 32>} {
  // expected-error @below {{does not fit: needs 14528 bytes of workspace, but declares 6336}}
  tracea_pipe.kernel @tiles(%n: index, %d: memref<64x32xf32>) attributes {workspace_bytes = 6336 : i64} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : !sums
    tracea_pipe.tiles (%i) in (%n) {
      // expected-note @below {{this scratch tile takes 4096 bytes}}
      %a = tracea_pipe.scratch : !words
      // expected-note @below {{this scratch tile takes 2048 bytes}}
      %b = tracea_pipe.scratch : !columns
      // expected-error @below {{does not fit: keeps 11 tiles of a unit alive, 'sapphirerapids' has 8}}
      %sum = tracea_pipe.mma %a, %b, %zero : !words, !columns, !sums
      // expected-note @below {{the trip of 'tracea_pipe.relayout' takes 8192 bytes}}
      %r = tracea_pipe.relayout %sum : !sums -> !rows
      tracea_pipe.store %r, %d[%c0, %c0] map #id : !rows, memref<64x32xf32>
    }
    tracea_pipe.end
  }
}

// -----

// Three rows of two tiles of sums that are computed side by side are too many,
// though each of them is not.
!words = memref<16x16x2xbf16, #tracea_pipe.staged>
!columns = memref<16x32x2xbf16, #tracea_pipe.staged>
!sums = tensor<16x32xf32, #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [1, 2]>>
!rows = tensor<16x32xf32, #tracea_pipe.lanes<reg = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>>
#id = affine_map<(i, j) -> (0, i, j)>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "sapphirerapids", triple = "", cpu = "sapphirerapids", features = "+avx512f,+amx-tile,+amx-bf16", vector_bits = 512, vector_registers = 32>} {
  tracea_pipe.kernel @together(%n: index, %d: memref<6x16x32xf32>) attributes {workspace_bytes = 8192 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c6 = arith.constant 6 : index
    %zero = arith.constant dense<0.0> : !sums
    tracea_pipe.tiles (%t) in (%n) {
      %a = tracea_pipe.scratch : !words
      %b = tracea_pipe.scratch : !columns
      scf.for %i = %c0 to %c6 step %c1 {
        // expected-error @below {{does not fit: keeps 9 tiles of a unit alive, 'sapphirerapids' has 8}}
        %sum = tracea_pipe.mma %a, %b, %zero : !words, !columns, !sums
        %r = tracea_pipe.relayout %sum : !sums -> !rows
        tracea_pipe.store %r, %d[%i, %c0, %c0] map #id : !rows, memref<6x16x32xf32>
      } {tracea_pipe.unroll_and_jam = 3 : i64}
    }
    tracea_pipe.end
  }
}
