;===- GPUKernels.ll - Kernels for the tests of the CUDA driver -------------===;
;
; Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; They show what a launch brought them; Fake/FakeKernels.cpp has the same for
; the host. All are for one thread of a block unless said otherwise.
;
;===------------------------------------------------------------------------===;

target triple = "nvptx64-nvidia-cuda"

@dynamic = external addrspace(3) global [0 x i8], align 128
@barrier = internal addrspace(3) global i64 undef, align 8

; Does nothing.
define ptx_kernel void @gpu_empty() {
  ret void
}

; Nothing with two views, and with two tensor maps: for measuring launches.
define ptx_kernel void @gpu_nothing(ptr addrspace(1) %x, i32 %m, i32 %k, i32 %sm, i32 %sk, ptr addrspace(1) %y, i32 %n, i32 %l, i32 %sn, i32 %sl) {
  ret void
}
define ptx_kernel void @gpu_tiled_nothing(ptr byval([128 x i8]) align 64 "nvvm.grid_constant" %x, ptr byval([128 x i8]) align 64 "nvvm.grid_constant" %y) {
  ret void
}

; out[4 b + …] of block b, counted along x first: threads along x, y, z in ten
; bits each; rank and size of the cluster in eight bits each; bytes of dynamic
; shared memory; `narrow`.
define ptx_kernel void @gpu_shape(ptr addrspace(1) %out, i32 %narrow) {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ty = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %tz = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %txy = or i32 %tx, %ty
  %any = or i32 %txy, %tz
  %first = icmp eq i32 %any, 0
  br i1 %first, label %write, label %done
write:
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %by = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %bz = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  %gx = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %gy = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
  %zy = mul i32 %bz, %gy
  %y = add i32 %zy, %by
  %yx = mul i32 %y, %gx
  %b = add i32 %yx, %bx
  %b4 = mul i32 %b, 4
  %at = getelementptr i64, ptr addrspace(1) %out, i32 %b4
  %nx = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %ny = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %nz = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %ny10 = shl i32 %ny, 10
  %nz20 = shl i32 %nz, 20
  %nxy = or i32 %nx, %ny10
  %threads = or i32 %nxy, %nz20
  %threads64 = zext i32 %threads to i64
  store i64 %threads64, ptr addrspace(1) %at
  %rank = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.cluster.nctarank()
  %size8 = shl i32 %size, 8
  %cluster = or i32 %rank, %size8
  %cluster64 = zext i32 %cluster to i64
  %at1 = getelementptr i64, ptr addrspace(1) %at, i32 1
  store i64 %cluster64, ptr addrspace(1) %at1
  %bytes = call i32 @llvm.nvvm.read.ptx.sreg.dynamic_smem_size()
  %bytes64 = zext i32 %bytes to i64
  %at2 = getelementptr i64, ptr addrspace(1) %at, i32 2
  store i64 %bytes64, ptr addrspace(1) %at2
  %narrow64 = sext i32 %narrow to i64
  %at3 = getelementptr i64, ptr addrspace(1) %at, i32 3
  store i64 %narrow64, ptr addrspace(1) %at3
  br label %done
done:
  ret void
}

; out[t] += 1 for the tiles t of [0, tiles), in a loop over the grid; block 0
; stores the number of blocks in out[tiles].
define ptx_kernel void @gpu_persistent(ptr addrspace(1) %out, i32 %tiles) {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %first = icmp eq i32 %b, 0
  br i1 %first, label %head, label %check
head:
  %end = getelementptr i64, ptr addrspace(1) %out, i32 %tiles
  %blocks64 = zext i32 %blocks to i64
  store i64 %blocks64, ptr addrspace(1) %end
  br label %check
check:
  %t = phi i32 [ %b, %entry ], [ %b, %head ], [ %next, %loop ]
  %more = icmp slt i32 %t, %tiles
  br i1 %more, label %loop, label %done
loop:
  %at = getelementptr i64, ptr addrspace(1) %out, i32 %t
  %old = load i64, ptr addrspace(1) %at
  %new = add i64 %old, 1
  store i64 %new, ptr addrspace(1) %at
  %next = add i32 %t, %blocks
  br label %check
done:
  ret void
}

; Lets the next kernel begin, waits for the one before, then
; out[0] = 3 out[0] + add, which shows an order that is wrong.
define ptx_kernel void @gpu_overlap(ptr addrspace(1) %out, i32 %add) {
  call void @llvm.nvvm.griddepcontrol.launch.dependents()
  call void @llvm.nvvm.griddepcontrol.wait()
  %old = load volatile i64, ptr addrspace(1) %out
  %three = mul i64 %old, 3
  %add64 = sext i32 %add to i64
  %new = add i64 %three, %add64
  store volatile i64 %new, ptr addrspace(1) %out
  ret void
}

; out[0] = index, unless that is one of the numbers from `limit` on, of which
; every block counts one more: these stay in the second assertion of the record.
define ptx_kernel void @gpu_asserts(ptr addrspace(1) %out, i64 %index, i64 %limit, ptr addrspace(1) %record) {
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %number = zext i32 %block to i64
  %mine = add i64 %index, %number
  %holds = icmp slt i64 %mine, %limit
  br i1 %holds, label %store, label %fail
store:
  store i64 %mine, ptr addrspace(1) %out
  ret void
fail:
  %failed = getelementptr i64, ptr addrspace(1) %record, i64 3
  %found = getelementptr i64, ptr addrspace(1) %record, i64 4
  %expected = getelementptr i64, ptr addrspace(1) %record, i64 5
  %least = xor i64 %limit, -1
  %1 = atomicrmw umax ptr addrspace(1) %failed, i64 1 syncscope("device") monotonic
  %2 = atomicrmw umax ptr addrspace(1) %found, i64 %mine syncscope("device") monotonic
  %3 = atomicrmw umax ptr addrspace(1) %expected, i64 %least syncscope("device") monotonic
  ret void
}

; Copies the box of f32 at row y, column x of the map's tensor to `out`, which
; has `count` elements.
define ptx_kernel void @gpu_tiled(ptr byval([128 x i8]) align 64 "nvvm.grid_constant" %map, ptr addrspace(1) %out, i32 %y, i32 %x, i32 %count) {
  %target = addrspacecast ptr addrspace(3) @dynamic to ptr addrspace(7)
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @barrier, i32 1)
  call void @llvm.nvvm.fence.mbarrier_init.release.cluster()
  %bytes = mul i32 %count, 4
  %state = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) @barrier, i32 %bytes)
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7) %target, ptr addrspace(3) @barrier, ptr %map, i32 %x, i32 %y, i16 0, i64 0, i1 0, i1 0, i32 0)
  call void @land(i64 %state, ptr addrspace(1) %out, i32 %count)
  ret void
}

; The same in im2col mode: pixels of an NHWC image from (n, h, w) on, shifted by
; the offset (oh, ow) of a filter's tap, channels from c on.
define ptx_kernel void @gpu_im2col(ptr byval([128 x i8]) align 64 "nvvm.grid_constant" %map, ptr addrspace(1) %out, i32 %n, i32 %h, i32 %w, i32 %c, i32 %oh, i32 %ow, i32 %count) {
  %target = addrspacecast ptr addrspace(3) @dynamic to ptr addrspace(7)
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @barrier, i32 1)
  call void @llvm.nvvm.fence.mbarrier_init.release.cluster()
  %bytes = mul i32 %count, 4
  %oh16 = trunc i32 %oh to i16
  %ow16 = trunc i32 %ow to i16
  %state = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) @barrier, i32 %bytes)
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.im2col.4d(ptr addrspace(7) %target, ptr addrspace(3) @barrier, ptr %map, i32 %c, i32 %w, i32 %h, i32 %n, i16 %ow16, i16 %oh16, i16 0, i64 0, i1 0, i1 0, i32 0)
  call void @land(i64 %state, ptr addrspace(1) %out, i32 %count)
  ret void
}

; Waits for the copy and takes `count` words to `out`.
define internal void @land(i64 %state, ptr addrspace(1) %out, i32 %count) alwaysinline {
entry:
  br label %wait
wait:
  %arrived = call i1 @llvm.nvvm.mbarrier.test.wait.shared(ptr addrspace(3) @barrier, i64 %state)
  br i1 %arrived, label %check, label %wait
check:
  %i = phi i32 [ 0, %wait ], [ %next, %loop ]
  %more = icmp slt i32 %i, %count
  br i1 %more, label %loop, label %done
loop:
  %from = getelementptr i32, ptr addrspace(3) @dynamic, i32 %i
  %word = load volatile i32, ptr addrspace(3) %from
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %word, ptr addrspace(1) %to
  %next = add i32 %i, 1
  br label %check
done:
  ret void
}

; Ends the context.
define ptx_kernel void @gpu_trap() {
  call void @llvm.trap()
  ret void
}


declare void @llvm.trap()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
declare i32 @llvm.nvvm.read.ptx.sreg.cluster.nctarank()
declare i32 @llvm.nvvm.read.ptx.sreg.dynamic_smem_size()
declare void @llvm.nvvm.griddepcontrol.launch.dependents()
declare void @llvm.nvvm.griddepcontrol.wait()
declare void @llvm.nvvm.fence.mbarrier_init.release.cluster()
declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)
declare i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3), i32)
declare i1 @llvm.nvvm.mbarrier.test.wait.shared(ptr addrspace(3), i64)
declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7), ptr addrspace(3), ptr, i32, i32, i16, i64, i1, i1, i32)
declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.im2col.4d(ptr addrspace(7), ptr addrspace(3), ptr, i32, i32, i32, i32, i16, i16, i16, i64, i1, i1, i32)
