// What is outside of the method is said with its reason, and never proved.
// RUN: tracea-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline="builtin.module(llvm.func(tracea-verify-target-protocol))" \
// RUN:   | FileCheck %s

// CHECK-NOT: tracea_pipe.certificate

llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// What was proved of it before it changed is gone.
// expected-warning @+1 {{protocol not decided: the kernel does not say how many threads a block has (nvvm.reqntid)}}
llvm.func @block_size() attributes {nvvm.kernel, tracea_pipe.certificates = [#tracea_pipe.certificate<check = "target-protocol", claim = "old", model = "old">]} {
  %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
  %one = arith.constant 1 : i32
  nvvm.mbarrier.init %shared, %one : !llvm.ptr<3>, i32
  llvm.return
}

// -----

llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

llvm.func @barrier_count(%count: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
  // expected-warning @+1 {{protocol not decided: the count of a barrier is not constant}}
  nvvm.mbarrier.init %shared, %count : !llvm.ptr<3>, i32
  llvm.return
}

// -----

llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// A loop that is entered in two places.
// expected-warning @+1 {{protocol not decided: branches share a block that is not where they meet}}
llvm.func @blocks(%n: i32, %c: i1) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
  %one = arith.constant 1 : i32
  nvvm.mbarrier.init %shared, %one : !llvm.ptr<3>, i32
  llvm.cond_br %c, ^a, ^b
^a:
  nvvm.barrier
  llvm.cond_br %c, ^b, ^end
^b:
  nvvm.barrier
  llvm.cond_br %c, ^a, ^end
^end:
  llvm.return
}

// -----

llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

llvm.func @two_exits(%n: i32, %c: i1) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
  %one = arith.constant 1 : i32
  nvvm.mbarrier.init %shared, %one : !llvm.ptr<3>, i32
  llvm.br ^head
^head:
  nvvm.barrier
  // expected-warning @+1 {{protocol not decided: a loop is not left from one place}}
  llvm.cond_br %c, ^body, ^end
^body:
  nvvm.barrier
  llvm.cond_br %c, ^head, ^end
^end:
  llvm.return
}

// -----

llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

llvm.func @switch(%n: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
  %one = arith.constant 1 : i32
  nvvm.mbarrier.init %shared, %one : !llvm.ptr<3>, i32
  // expected-warning @+1 {{protocol not decided: its control flow is not structured}}
  llvm.switch %n : i32, ^end [
    1: ^one
  ]
^one:
  nvvm.barrier
  llvm.br ^end
^end:
  llvm.return
}

// -----

llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

llvm.func @two_returns(%c: i1) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
  %one = arith.constant 1 : i32
  nvvm.mbarrier.init %shared, %one : !llvm.ptr<3>, i32
  // expected-warning @+1 {{protocol not decided: its control flow is not structured}}
  llvm.cond_br %c, ^one, ^two
^one:
  nvvm.barrier
  llvm.return
^two:
  llvm.return
}

// -----

llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

llvm.func @address(%slot: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
  %one = arith.constant 1 : i32
  %barrier = llvm.getelementptr %shared[%slot] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
  // expected-warning @+1 {{protocol not decided: the address of its barrier is not understood}}
  nvvm.mbarrier.init %barrier, %one : !llvm.ptr<3>, i32
  llvm.return
}

// -----

llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

llvm.func @box(%map: !llvm.ptr) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  scf.if %first {
    nvvm.mbarrier.init %shared, %one : !llvm.ptr<3>, i32
    %slot = llvm.getelementptr %shared[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %to = llvm.addrspacecast %slot : !llvm.ptr<3> to !llvm.ptr<7>
    // expected-warning @+1 {{how many bytes it copies is not known; the kernel's interface has no such tensor map}}
    nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map, %shared, box [%zero] : !llvm.ptr<7>, !llvm.ptr
  }
  llvm.return
}

// -----

llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// The map is one of boxes, and the copy goes along pixels.
llvm.func @mode(%x: !llvm.ptr<1>, %map: !llvm.ptr) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>,
    tracea_pipe.interface = #tracea_pipe.interface<(memref<4x8x8x64xbf16>), threads = 32,
        maps = [<argument = 0, element = bf16, dims = [3, 2, 1, 0], box = [64, 8, 1, 1]>]>} {
  %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %offset = arith.constant 1 : i16
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  scf.if %first {
    nvvm.mbarrier.init %shared, %one : !llvm.ptr<3>, i32
    %slot = llvm.getelementptr %shared[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %to = llvm.addrspacecast %slot : !llvm.ptr<3> to !llvm.ptr<7>
    // expected-warning @+1 {{its mode is not the one that its tensor map is for}}
    nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map, %shared, box [%zero, %zero, %zero, %zero] im2col [%offset, %offset] {mode = #nvvm.tma_load_mode<im2col>} : !llvm.ptr<7>, !llvm.ptr
  }
  llvm.return
}

// -----

llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// Half a warp waits.
llvm.func @half(%n: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %first = arith.cmpi eq, %tid, %c0 : i32
  scf.if %first {
    nvvm.mbarrier.init %shared, %c1 : !llvm.ptr<3>, i32
  }
  %half = arith.cmpi ult, %tid, %c16 : i32
  scf.if %half {
    // expected-warning @+1 {{protocol not decided: lanes of one warp do not agree on a branch around it}}
    nvvm.mbarrier.try_wait.parity %shared, %c0, %c1 : !llvm.ptr<3>, i32, i32
  }
  llvm.return
}

// -----

llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// What assemblers refuse.
llvm.func @pending(%n: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %first = arith.cmpi eq, %tid, %c0 : i32
  scf.if %first {
    nvvm.mbarrier.init %shared, %c1 : !llvm.ptr<3>, i32
  }
  nvvm.wgmma.commit.group.sync.aligned
  // expected-warning @+1 {{protocol not decided: it waits until -1 groups are pending}}
  nvvm.wgmma.wait.group.sync.aligned -1
  llvm.return
}

// -----

// Without barriers in shared memory there is nothing to prove.
llvm.func @nothing() attributes {nvvm.kernel} {
  llvm.return
}
