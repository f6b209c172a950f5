// What a lowered kernel says to who launches it, as it is written and read.
// RUN: tracea-opt %s | tracea-opt | FileCheck %s

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

// What is as usual is not printed.
// CHECK-LABEL: @plain
// CHECK-SAME: tracea_pipe.interface = #tracea_pipe.interface<(), threads = 32>
func.func private @plain() attributes {
  tracea_pipe.interface = #tracea_pipe.interface<(), threads = 32, cluster = 1, shared = 0, waits = false>}
