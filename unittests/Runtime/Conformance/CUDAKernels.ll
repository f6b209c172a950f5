;===- CUDAKernels.ll - The conformance kernels for NVIDIA's GPUs -----------===;
;
; Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; Conformance.h says what each of them does. A block runs one tile, its number
; is blockIdx.x; every argument is a 64-bit slot, pointers among them.
;
;===------------------------------------------------------------------------===;

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

@workspace = external addrspace(3) global [0 x i8], align 128

define internal i64 @tile() alwaysinline {
  %narrow = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %wide = zext i32 %narrow to i64
  ret i64 %wide
}

define ptx_kernel void @conf_count(ptr addrspace(1) %out, i64 %n, i64 %step) {
  %t = call i64 @tile()
  %offset = mul i64 %t, %step
  %at = getelementptr i64, ptr addrspace(1) %out, i64 %offset
  %old = load i64, ptr addrspace(1) %at
  %new = add i64 %old, 1
  store i64 %new, ptr addrspace(1) %at
  ret void
}

define ptx_kernel void @conf_scale_add(ptr addrspace(1) %x, i64 %nx, i64 %sx, ptr addrspace(1) %y, i64 %ny, i64 %sy, ptr addrspace(1) %out, i64 %n, i64 %so, i64 %factor, i64 %perTile) {
entry:
  %t = call i64 @tile()
  %begin = mul i64 %t, %perTile
  %wanted = add i64 %begin, %perTile
  %end = call i64 @llvm.smin.i64(i64 %wanted, i64 %n)
  %scale = sitofp i64 %factor to float
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [ %begin, %entry ], [ %next, %loop ]
  %ox = mul i64 %i, %sx
  %px = getelementptr float, ptr addrspace(1) %x, i64 %ox
  %vx = load float, ptr addrspace(1) %px
  %oy = mul i64 %i, %sy
  %py = getelementptr float, ptr addrspace(1) %y, i64 %oy
  %vy = load float, ptr addrspace(1) %py
  %scaled = fmul float %scale, %vx
  %sum = fadd float %scaled, %vy
  %oo = mul i64 %i, %so
  %po = getelementptr float, ptr addrspace(1) %out, i64 %oo
  store float %sum, ptr addrspace(1) %po
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %end
  br i1 %more, label %loop, label %done
done:
  ret void
}

define ptx_kernel void @conf_slots(ptr addrspace(1) %out, i64 %n, i64 %step, i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4, i64 %a5, i64 %a6, i64 %a7, i64 %a8, i64 %a9, i64 %a10, i64 %a11, i64 %a12) {
  store i64 %a0, ptr addrspace(1) %out
  %p1 = getelementptr i64, ptr addrspace(1) %out, i64 %step
  store i64 %a1, ptr addrspace(1) %p1
  %p2 = getelementptr i64, ptr addrspace(1) %p1, i64 %step
  store i64 %a2, ptr addrspace(1) %p2
  %p3 = getelementptr i64, ptr addrspace(1) %p2, i64 %step
  store i64 %a3, ptr addrspace(1) %p3
  %p4 = getelementptr i64, ptr addrspace(1) %p3, i64 %step
  store i64 %a4, ptr addrspace(1) %p4
  %p5 = getelementptr i64, ptr addrspace(1) %p4, i64 %step
  store i64 %a5, ptr addrspace(1) %p5
  %p6 = getelementptr i64, ptr addrspace(1) %p5, i64 %step
  store i64 %a6, ptr addrspace(1) %p6
  %p7 = getelementptr i64, ptr addrspace(1) %p6, i64 %step
  store i64 %a7, ptr addrspace(1) %p7
  %p8 = getelementptr i64, ptr addrspace(1) %p7, i64 %step
  store i64 %a8, ptr addrspace(1) %p8
  %p9 = getelementptr i64, ptr addrspace(1) %p8, i64 %step
  store i64 %a9, ptr addrspace(1) %p9
  %p10 = getelementptr i64, ptr addrspace(1) %p9, i64 %step
  store i64 %a10, ptr addrspace(1) %p10
  %p11 = getelementptr i64, ptr addrspace(1) %p10, i64 %step
  store i64 %a11, ptr addrspace(1) %p11
  %p12 = getelementptr i64, ptr addrspace(1) %p11, i64 %step
  store i64 %a12, ptr addrspace(1) %p12
  ret void
}

define ptx_kernel void @conf_row_sum(ptr addrspace(1) %x, i64 %m, i64 %k, i64 %rows, i64 %columns, ptr addrspace(1) %out, i64 %n, i64 %step) {
entry:
  %t = call i64 @tile()
  %offset = mul i64 %t, %rows
  %row = getelementptr float, ptr addrspace(1) %x, i64 %offset
  %some = icmp sgt i64 %k, 0
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %added, %loop ]
  %oi = mul i64 %i, %columns
  %pi = getelementptr float, ptr addrspace(1) %row, i64 %oi
  %v = load float, ptr addrspace(1) %pi
  %added = fadd float %sum, %v
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %k
  br i1 %more, label %loop, label %done
done:
  %total = phi float [ 0.0, %entry ], [ %added, %loop ]
  %oo = mul i64 %t, %step
  %po = getelementptr float, ptr addrspace(1) %out, i64 %oo
  store float %total, ptr addrspace(1) %po
  ret void
}

define ptx_kernel void @conf_copy(ptr addrspace(1) %x, i64 %m, i64 %k, i64 %xRows, i64 %xColumns, ptr addrspace(1) %out, i64 %mo, i64 %ko, i64 %oRows, i64 %oColumns) {
entry:
  %t = call i64 @tile()
  %ox = mul i64 %t, %xRows
  %from = getelementptr float, ptr addrspace(1) %x, i64 %ox
  %oo = mul i64 %t, %oRows
  %to = getelementptr float, ptr addrspace(1) %out, i64 %oo
  %some = icmp sgt i64 %k, 0
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %fi = mul i64 %i, %xColumns
  %pf = getelementptr float, ptr addrspace(1) %from, i64 %fi
  %v = load float, ptr addrspace(1) %pf
  %ti = mul i64 %i, %oColumns
  %pt = getelementptr float, ptr addrspace(1) %to, i64 %ti
  store float %v, ptr addrspace(1) %pt
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %k
  br i1 %more, label %loop, label %done
done:
  ret void
}

; The volatile accesses are what is tested.
define ptx_kernel void @conf_workspace(ptr addrspace(1) %out, i64 %n, i64 %step, i64 %bytes) {
entry:
  %t = call i64 @tile()
  %seed = mul i64 %t, 31
  %address = ptrtoint ptr addrspace(3) @workspace to i64
  %low = and i64 %address, 63
  %aligned = icmp eq i64 %low, 0
  %some = icmp sgt i64 %bytes, 0
  br i1 %some, label %write, label %done
write:
  %i = phi i64 [ 0, %entry ], [ %inext, %write ]
  %iv = add i64 %seed, %i
  %ib = trunc i64 %iv to i8
  %ip = getelementptr i8, ptr addrspace(3) @workspace, i64 %i
  store volatile i8 %ib, ptr addrspace(3) %ip
  %inext = add i64 %i, 1
  %imore = icmp slt i64 %inext, %bytes
  br i1 %imore, label %write, label %read
read:
  %j = phi i64 [ 0, %write ], [ %jnext, %read ]
  %good = phi i1 [ %aligned, %write ], [ %still, %read ]
  %jv = add i64 %seed, %j
  %jb = trunc i64 %jv to i8
  %jp = getelementptr i8, ptr addrspace(3) @workspace, i64 %j
  %found = load volatile i8, ptr addrspace(3) %jp
  %same = icmp eq i8 %found, %jb
  %still = and i1 %good, %same
  %jnext = add i64 %j, 1
  %jmore = icmp slt i64 %jnext, %bytes
  br i1 %jmore, label %read, label %done
done:
  %fine = phi i1 [ %aligned, %entry ], [ %still, %read ]
  %result = zext i1 %fine to i64
  %offset = mul i64 %t, %step
  %at = getelementptr i64, ptr addrspace(1) %out, i64 %offset
  store i64 %result, ptr addrspace(1) %at
  ret void
}

declare i64 @llvm.smin.i64(i64, i64)
