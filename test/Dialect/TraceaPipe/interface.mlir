// What a lowered kernel says to who launches it, as it is written and read.
// RUN: tracea-opt %s | tracea-opt | FileCheck %s

// CHECK: #[[DIVISORS:.+]] = affine_map<()[s0, s1, s2, s3] -> (s1, s1 * s2)>
// CHECK-LABEL: @product
// CHECK-SAME: tracea_pipe.interface = #tracea_pipe.interface<(memref<?x8xbf16> aligned 16, f32, index), threads = 384, cluster = 2, shared = 1024, maps = [<argument = 0, element = bf16, dims = [1, 0], box = [8, 128], swizzle = 32, written = true>], waits = true>
func.func private @product(!llvm.ptr<1>, i64, f32, i64, !llvm.ptr) attributes {
  tracea_pipe.interface = #tracea_pipe.interface<(memref<?x8xbf16> aligned 16, f32, index),
      threads = 384, cluster = 2, shared = 1024, waits = true,
      maps = [<argument = 0, element = bf16, dims = [1, 0], box = [8, 128], swizzle = 32, written = true>]>}

// CHECK-LABEL: @asserting
// CHECK-SAME: tracea_pipe.interface = #tracea_pipe.interface<(index), threads = 32, assertions = ["index {0}", "size {0} of {1}"]>
func.func private @asserting(i64, !llvm.ptr<1>) attributes {
  tracea_pipe.interface = #tracea_pipe.interface<(index), threads = 32, assertions = ["index {0}", "size {0} of {1}"]>}

// Two numbers of each divisor stand before the record.
// CHECK-LABEL: @dividing
// CHECK-SAME: divisors = #[[DIVISORS]]>
func.func private @dividing(!llvm.ptr<1>, i64, i64, !llvm.ptr, i64, i64, i64, i64, !llvm.ptr<1>) attributes {
  tracea_pipe.interface = #tracea_pipe.interface<(memref<?x?xbf16> aligned 16), threads = 32,
      maps = [<argument = 0, element = bf16, dims = [1, 0], box = [8, 128]>],
      assertions = ["index {0}"], divisors = affine_map<()[s0, s1, s2, s3] -> (s1, s2 * s1)>>}

// What is as usual is not printed.
// CHECK-LABEL: @plain
// CHECK-SAME: tracea_pipe.interface = #tracea_pipe.interface<(), threads = 32>
func.func private @plain() attributes {
  tracea_pipe.interface = #tracea_pipe.interface<(), threads = 32, cluster = 1, shared = 0, waits = false>}
