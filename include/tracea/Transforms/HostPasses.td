//===- HostPasses.td - Passes over buffers of the host -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TRANSFORMS_HOSTPASSES_TD
#define TRACEA_TRANSFORMS_HOSTPASSES_TD

// Included by Passes.td: what becomes of operations outside of kernels.

//===----------------------------------------------------------------------===//
// BufferizeHost
//===----------------------------------------------------------------------===//

def BufferizeHost : Pass<"tracea-bufferize-host", "::mlir::ModuleOp"> {
  let summary = "Give the tensors of the host program their memory";
  let description = [{
    Bufferizes the functions of the module with one-shot bufferization; calls must
    have been inlined. Arguments are never written, the result of a launch goes
    straight to where it is needed, and functions return memrefs. The bodies of
    kernels are left alone.

    A kernel takes row-major buffers: an operand that has become a view with
    gaps is copied, with the remark `host-copy`.

    ```mlir
    %e = tensor.empty(%n) : tensor<?x4xf32>
    %r = tracea_pipe.launch @k ins(%a : tensor<?x8xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
    return %r : tensor<?x4xf32>
    ```
    becomes
    ```mlir
    %m = memref.alloc(%n) {alignment = 64 : i64} : memref<?x4xf32>
    tracea_pipe.launch @k ins(%a : memref<?x8xf32>) outs(%m : memref<?x4xf32>)
    return %m : memref<?x4xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect", "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// OutlineHost
//===----------------------------------------------------------------------===//

def OutlineHost : Pass<"tracea-outline-host", "::mlir::ModuleOp"> {
  let summary = "Move what the host program still computes into kernels";
  let description = [{
    A program's host part only allocates, takes views, computes with indices,
    checks and launches. Every other operation on memory is moved into a kernel
    of its own whose grid splits the operation's outer parallel dimensions, with
    the remark `host-op`. Stores of scalars that follow each other share one
    kernel of a single tile; the scalars are computed inside. For a GPU copies
    between memrefs of identity layout, and fills with a repeated byte, stay as
    they are: its driver does them. There a tile of the grid is an `scf.forall`
    over lanes (`#gpu.thread<linear_dim_0>` is the one whose neighbours are
    neighbouring lanes), and a lane does all iterations of the dimensions that
    are not parallel, with its sums in registers. Where neighbours in the result
    are neighbours in all that they read, or read the same, a lane takes a
    vector of them; memory that begins anywhere has a second kernel without
    vectors. What cannot be split is done by one lane.

    Extents of operands that must agree but are known only at run time are
    compared by `cf.assert`.

    What has no place in a program, such as a loop around launches, is an error.

    ```mlir
    linalg.fill ins(%zero : f32) outs(%m : memref<?x4xf32>)
    ```
    becomes
    ```mlir
    tracea_pipe.launch @linalg_fill_0 outs(%m : memref<?x4xf32>)
    …
    tracea_pipe.kernel @linalg_fill_0(%m: memref<?x4xf32>) attributes {variant = "linalg", …} {
      …
      tracea_pipe.tiles (%i) in (%tiles) {
        %tile = memref.subview %m[%offset, 0] [%size, 4] [1, 1] : …
        linalg.fill ins(%zero : f32) outs(%tile : …)
      }
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::gpu::GPUDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
    "::mlir::tracea_pipe::TraceaPipeDialect"
  ];
  let statistics = [
    Statistic<"numOutlined", "outlined", "Host operations moved into kernels">
  ];
}

//===----------------------------------------------------------------------===//
// BlockTranspositions
//===----------------------------------------------------------------------===//

def BlockTranspositions
    : Pass<"tracea-block-transpositions", "::mlir::ModuleOp"> {
  let summary = "Transpose squares of memory in registers";
  let description = [{
    A copy on memory whose result has other neighbours than its source goes
    through squares of the target's vectors: loaded by rows, transposed by
    shuffles, stored by rows. What is left at the ends is copied by elements.

    ```mlir
    linalg.transpose ins(%a : memref<?x?xf32>) outs(%b : memref<?x?xf32>) permutation = [1, 0]
    ```
    becomes
    ```mlir
    scf.for %j = … step %c16 {
      scf.for %i = … step %c16 {
        %row0 = vector.load %a[%j, %i] : memref<?x?xf32>, vector<16xf32>
        … vector.shuffle …
        vector.store %column0, %b[%i, %j] : memref<?x?xf32>, vector<16xf32>
        …
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
  let statistics = [
    Statistic<"numBlocked", "blocked", "Transpositions by squares">
  ];
}

//===----------------------------------------------------------------------===//
// PrefetchStreams
//===----------------------------------------------------------------------===//

def PrefetchStreams : Pass<"tracea-prefetch-streams", "::mlir::ModuleOp"> {
  let summary = "Ask for the memory of long rows ahead of its use";
  let description = [{
    An operation element by element on memory of more than the target's second
    level goes through its rows in pieces, and asks for what one further on
    reads and writes: processors do that by themselves, but not across pages.
    Results of more than eight times the second level are written past the
    caches, where they begin with a line, by non-temporal stores.

    ```mlir
    scf.for %j = %c0 to %c4096 step %c128 {
      memref.prefetch %a[%i, %j + 512], read, locality<3>, data : memref<4096x4096xf32>
      … and the lines behind, and those of %b
      linalg.generic … ins(%a[%i, %j] [1, 128]) outs(%b[%i, %j] [1, 128])
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
  let statistics = [
    Statistic<"numPast", "past", "Operations that write past the caches">,
    Statistic<"numPrefetched", "prefetched", "Operations that ask for memory">
  ];
}

//===----------------------------------------------------------------------===//
// VectorizeReductions
//===----------------------------------------------------------------------===//

def VectorizeReductions
    : Pass<"tracea-vectorize-reductions", "::mlir::ModuleOp"> {
  let summary = "Reduce rows to several vectors, in one order";
  let description = [{
    Of operations on memory that reduce along neighbouring elements a row is
    reduced to four vectors of the target, which do not wait for each other;
    then to one, and its lanes pairwise to a number, which is combined with what
    the destination holds. What is left of a row is a vector whose other lanes
    are neutral. The order depends on the row's length alone. Reductions have to
    be one operation with a neutral element, their terms arithmetic on elements;
    rows of known lengths below two vectors are left to plain loops.

    Other sums of more than 64 terms, or of a number that the run knows, whose
    innermost loops are those over the terms become loops over scalars that sum
    in blocks of 32 iterations: one chain would wait for each addition, and its
    rounding errors add up where terms are alike.

    ```mlir
    linalg.reduce { arith.addf } ins(%m : memref<?x4096xf32>) outs(%s : memref<?xf32>)
      dimensions = [1]
    ```
    becomes
    ```mlir
    scf.for %i = … {
      %sums:4 = scf.for %j = … step %c64 iter_args(…) -> (vector<16xf32>, …) {
        %x = vector.load %m[%i, %j] : memref<?x4096xf32>, vector<16xf32>
        %next = arith.addf %sum, %x : vector<16xf32>
        …
      }
      … vector.shuffle … arith.addf …
      memref.store %total, %s[%i] : memref<?xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
  let statistics = [
    Statistic<"numVectorized", "vectorized", "Reductions in vectors">
  ];
}

#endif // TRACEA_TRANSFORMS_HOSTPASSES_TD
