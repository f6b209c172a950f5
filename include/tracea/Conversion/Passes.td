//===- Passes.td - Conversion passes -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_CONVERSION_PASSES_TD
#define TRACEA_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// TraceaToLinalg
//===----------------------------------------------------------------------===//

def ConvertTraceaToLinalg : Pass<"convert-tracea-to-linalg"> {
  let summary = "Write out the meaning of semantic operations in linalg";
  let description = [{
    Replaces every operation of the semantic dialect by its definition over
    `linalg`, `tensor`, `arith` and `math`. The result is the reference that the
    kernels are compared with: one generic per sum, every conversion to and from
    the accumulator's type explicit, the epilogue's region inlined into a last
    generic that writes the destination. Schedules are ignored.

    - A grouped convolution splits its channels into (group, channel); the image
      is padded with zeros first.
    - Real attributes (`epsilon`, `scale`) are written as f64 constants that are
      converted to the accumulator's type, so that `tracea-promote-to-f64` gets
      their full precision.
    - A row of an attention whose scores are all -inf, which is what a mask makes
      of a row without keys, gives zeros and a log-sum-exp of -inf.

    ```mlir
    %y = tracea.gemm ins(%a, %b : tensor<4x8xbf16>, tensor<8x2xbf16>)
                     outs(%d : tensor<4x2xbf16>)
    ```
    becomes
    ```mlir
    %e = tensor.empty() : tensor<4x2xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
    %s = linalg.generic {indexing_maps = [(m, n, k) -> (m, k), (m, n, k) -> (k, n),
                                          (m, n, k) -> (m, n)], …}
           ins(%a, %b : …) outs(%z : …) {…: extf, extf, mulf, addf }
    %y = linalg.generic {…} ins(%s : tensor<4x2xf32>) outs(%d : tensor<4x2xbf16>) {…: truncf }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// LinalgToTracea
//===----------------------------------------------------------------------===//

def ConvertLinalgToTracea : Pass<"convert-linalg-to-tracea"> {
  let summary = "Raise contractions, convolutions and softmax to semantic operations";
  let description = [{
    Recognises, by indexing maps and body rather than by name, linalg operations
    on tensors that are a matrix product, a two-dimensional convolution or a
    softmax, and replaces them by `tracea.gemm`, `tracea.conv2d` and
    `tracea.softmax`. What does not fit is left alone; the values computed stay
    the same.

    - The body must be `acc + cast(a) * cast(b)` in the type of the result, which
      becomes the accumulator's type.
    - A sum that starts from zero needs no more; any other start becomes an extra
      operand `c` of an epilogue `acc + c`. A broadcast start (a bias) is read
      through the map of its broadcast.
    - A `tensor.pad` with zeros on spatial dimensions, with static amounts, in
      front of a convolution becomes its `pads`.
    - Products of a matrix and a vector get a unit dimension; the group and
      multiplier dimensions of grouped convolutions are merged by reshapes.

    ```mlir
    %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {… tensor.yield %zero : f32 }
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
    %y = linalg.conv_2d_nhwc_hwcf ins(%p, %w : tensor<1x10x10x4xf32>, tensor<3x3x4x16xf32>)
           outs(%z : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
    ```
    becomes
    ```mlir
    %y = tracea.conv2d layout nhwc filter rsck pads [1, 1, 1, 1]
           ins(%x, %w : tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>)
           outs(%e : tensor<1x8x8x16xf32>)
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::tracea::TraceaDialect"
  ];
  let options = [
    Option<"widenAccumulators", "widen-accumulators", "bool", /*default=*/"false",
           "Accumulate in f32 where linalg sums in f16 or bf16; rounds less often, "
           "so results may differ in the last bits">
  ];
  let statistics = [
    Statistic<"numGemms", "gemms", "Contractions raised to tracea.gemm">,
    Statistic<"numConvolutions", "convolutions", "Convolutions raised to tracea.conv2d">,
    Statistic<"numSoftmaxes", "softmaxes", "Softmaxes raised to tracea.softmax">
  ];
}

//===----------------------------------------------------------------------===//
// TraceaToTraceaPipe
//===----------------------------------------------------------------------===//

def ConvertTraceaToTraceaPipe
    : Pass<"convert-tracea-to-tracea-pipe", "::mlir::ModuleOp"> {
  let summary = "Turn scheduled operations into kernels over tiles";
  let description = [{
    From the decision level to the tile level: every semantic operation becomes
    a `tracea_pipe.kernel` of the variant that its schedule names, and a
    `tracea_pipe.launch` in its place. Operands keep their shapes; extents that
    must agree but are known only at run time are compared by `cf.assert`.
    Variants that are not kernels of this pass (`linalg`, `elementwise`) are left
    to `convert-tracea-to-linalg`.

    ```mlir
    %y = tracea.gemm ins(%a, %b : …) outs(%d : …) schedule <variant = "gemm.packed", …>
    ```
    becomes
    ```mlir
    %y = tracea_pipe.launch @gemm_0 ins(%a, %b : …) outs(%d : …) -> tensor<?x?xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::tracea_pipe::TraceaPipeDialect"
  ];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels made">
  ];
}

//===----------------------------------------------------------------------===//
// TraceaPipeToVector
//===----------------------------------------------------------------------===//

def ConvertTraceaPipeToVector
    : Pass<"convert-tracea-pipe-to-vector", "::mlir::ModuleOp"> {
  let summary = "Lower tiles, copies and channels to vectors and workspace";
  let description = [{
    The CPU's way down from the pipeline level. A register tile becomes one
    vector per register of its lane map; a channel becomes panels of the calling
    thread's workspace; a copy becomes vector loads and stores, with transposes
    in registers where its map exchanges the contiguous dimension; a multiply
    becomes a loop over k of broadcasts and fused multiply-adds. Sums whose lane
    map is that of a tile unit (AMX) are tiles of the dialect `amx`, and their
    multiplies its instructions. Roles have no meaning on one thread and are
    refused.

    ```mlir
    %sum = tracea_pipe.mma %a, %b, %acc depth(%n) : …, tensor<2x16xf32, #lanes>
    ```
    becomes, where `#lanes` has a register for each row,
    ```mlir
    %sum:2 = scf.for %k = %c0 to %n step %c1 iter_args(%s0 = %acc0, %s1 = %acc1) … {
      %row = vector.load %b[%k, %c0] : …, vector<16xf32>
      %x0 = memref.load %a[%c0, %k] : …
      %v0 = vector.broadcast %x0 : f32 to vector<16xf32>
      %t0 = vector.fma %v0, %row, %s0 : vector<16xf32>
      …
      scf.yield %t0, %t1 : vector<16xf32>, vector<16xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::amx::AMXDialect", "::mlir::arith::ArithDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
  let statistics = [
    Statistic<"numScalarCopies", "scalar-copies",
              "Copies whose map allows neither rows nor transposes">
  ];
}

//===----------------------------------------------------------------------===//
// TraceaPipeToGPU
//===----------------------------------------------------------------------===//

def ConvertTraceaPipeToGPU
    : Pass<"convert-tracea-pipe-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Lower register tiles to what one thread of a GPU holds";
  let description = [{
    The part of every way down to a GPU that no vendor differs in. A register
    tile becomes a vector with an element for each register of a lane, in the
    order of the lane map; arith and math work on that vector. Channels, copies
    and matrix units stay for the lowering to the vendor's dialect, and so do
    grids and roles.

    A `relayout` costs what its class asks for: nothing, a renaming of registers,
    selects by lane, the proved number of `gpu.shuffle`, or a trip through the
    workgroup's memory in a layout without bank conflicts on either side. A
    `reduce` combines registers in order, lanes as a balanced tree, then warps
    through memory. `load` and `store` take the widest accesses that registers
    and known alignment allow; a tile that a limit cuts goes element by element.

    The memory is a workgroup attribution of a `gpu.func`, a
    `tracea_pipe.scratch` of a kernel. Teams of a role meet in
    `tracea_pipe.sync`, which stays; all others in `gpu.barrier`. The lanes of a
    warp and the banks are those of `tracea.target`. Remarks (`TileMoved`,
    `TileAccessed`) tell what each operation took.

    ```mlir
    %b = tracea_pipe.relayout %a : tensor<8x8xf32, #rows> -> tensor<8x8xf32, #columns>
    ```
    becomes, where lanes trade words at distance 1 and 2,
    ```mlir
    %x = arith.select %odd, %a1, %a0 : f32
    %y, %valid = gpu.shuffle xor %x, %c1, %c32 : i32
    …
    %b = vector.from_elements %b0, %b1, … : vector<8xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tracea_pipe::TraceaPipeDialect", "::mlir::vector::VectorDialect"
  ];
  let options = [
    Option<"baseAlignment", "base-alignment", "int64_t", /*default=*/"1",
           "Alignment in bytes of memory of which nothing else is known">
  ];
  let statistics = [
    Statistic<"numShuffles", "shuffles", "Shuffle instructions">,
    Statistic<"numSelects", "selects", "Selects between registers">,
    Statistic<"numExchanges", "exchanges", "Trips through the workgroup's memory">
  ];
}

//===----------------------------------------------------------------------===//
// TraceaPipeToNVVM
//===----------------------------------------------------------------------===//

def ConvertTraceaPipeToNVVM
    : Pass<"convert-tracea-pipe-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Lower kernels to functions for NVIDIA's GPUs of sm_90a";
  let description = [{
    The way down from the pipeline level for Hopper. A kernel becomes an
    `llvm.func` with `nvvm.kernel`, one workgroup for each iteration of its grid:

    - An argument that is a memref becomes a pointer and its dynamic sizes
      (i64), an index an i64. Then come tensor maps, by value.
    - Roles are branches over the number of the warp. A role that needs no lanes
      of its own runs on one elected lane. Budgets of registers are moved by
      `setmaxregister`.
    - A slot of a channel has two barriers, at `base + constant + 8 * slot`:
      `full`, with an arrival of each team that fills, and `empty`, with one of
      each that reads. A phase is a pair of i32, slot and parity.
    - A copy becomes bulk copies through a tensor map where the unit can do it;
      where it cannot, lanes do it, and a remark `lane-copy` says why.
    - `mma_async` becomes instructions of the matrix unit; swizzles, panels and
      lane maps are compared with what the unit does, and refused otherwise.

    What is left is in the dialects scf, arith, math, vector, llvm and nvvm;
    `tracea-nvvm-to-llvm` goes on from there. The function carries what a launch
    needs as `#tracea_pipe.interface`.

    ```mlir
    %next = tracea_pipe.advance %p : <4>
    ```
    becomes
    ```mlir
    %1 = arith.addi %slot, %c1 : i32
    %wraps = arith.cmpi eq, %1, %c4 : i32
    %next_slot = arith.select %wraps, %c0, %1 : i32
    %flip = arith.extui %wraps : i1 to i32
    %next_parity = arith.xori %parity, %flip : i32
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
  let options = [
    Option<"laneCopies", "lane-copies", "bool", /*default=*/"false",
           "Let lanes do all copies: memory need not be aligned then">,
    Option<"earlyStart", "early-start", "bool", /*default=*/"false",
           "The lane that starts the copies does not wait for the other roles">
  ];
  let statistics = [
    Statistic<"numLaneCopies", "lane-copies", "Copies that lanes do">
  ];
}

//===----------------------------------------------------------------------===//
// TraceaPipeToLLVM
//===----------------------------------------------------------------------===//

def ConvertTraceaPipeKernelsToFunc
    : Pass<"convert-tracea-pipe-kernels-to-func", "::mlir::ModuleOp"> {
  let summary = "Turn kernels into functions of the CPU kernel ABI";
  let description = [{
    A kernel becomes `void kernel(const int64_t *args, int64_t begin, int64_t
    end, void *workspace)`, which unpacks its arguments and calls an inner
    function whose pointers carry what the launches guarantee (`noalias`,
    `readonly`). That one runs the uniform code and a loop over the linear tiles
    [begin, end). `tracea_pipe.scratch` gets its place in the workspace, whose
    size is left in the attribute `tracea_pipe.workspace`.

    An assertion (`cf.assert`) that fails leaves its number and the two numbers
    that it compares in the last 64 bytes of the workspace; the kernel goes on.
    The constant `kernel.assertions` holds the place and the texts, in which {0}
    and {1} stand for the numbers.

    Operations on tiles must have been lowered before; loops, vectors and memrefs
    stay for the conversions to LLVM. Host functions, which the manifest has
    taken over, are erased.

    ```mlir
    tracea_pipe.kernel @k(%x: memref<?xf32>) {
      …
      tracea_pipe.tiles (%i) in (%n) { … }
      tracea_pipe.end
    }
    ```
    becomes
    ```mlir
    llvm.func internal @k.tiles(%x: !llvm.ptr, %size: i64, %begin: i64, %end: i64, %workspace: !llvm.ptr) {
      …
      scf.for %t = %begin to %end step %c1 { … }
    }
    llvm.func @k(%args: !llvm.ptr, %begin: i64, %end: i64, %workspace: !llvm.ptr)
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"
  ];
}

def LowerMath : Pass<"tracea-lower-math"> {
  let summary = "Compute functions inline";
  let description = [{
    Replaces functions of `math` by arithmetic, scalar or vector, so that loops
    around them vectorize. What is replaced depends on the `route`:

    - `kernel`: exponentials, logarithms, hyperbolic functions, erf, and sine
      and cosine of f32 become arithmetic, those of f64 where `fused` says that there is a fused
      multiply-add. For exp, tanh and erf of f32 these are polynomials of
      upstream, for all others the expansions of `lib/Conversion/MathExpansion`.
      All other functions are left to libm.
    - `reference`: functions of f64 go the other way. What a kernel expands is
      left to libm, and what it leaves to libm is expanded, so that no mistake
      is made by both.
    - `arithmetic`: all functions of f32 and f64 are expanded, as they are for
      targets without a library.

    On f16 and bf16 all functions are computed in f32. Where the target can
    (`scaled`) a product with a power of two is the intrinsic `llvm.ldexp`.

    ```mlir
    %y = math.exp %x : vector<16xf32>
    ```
    becomes a reduction of the argument by multiples of ln 2, a polynomial
    (`math.fma`), and a scaling by the power of two, all on `vector<16xf32>`.
  }];
  let options = [
    Option<"route", "route", "::mlir::tracea::MathRoute",
           "::mlir::tracea::MathRoute::Kernel", "Which functions are expanded",
           [{::llvm::cl::values(
             clEnumValN(::mlir::tracea::MathRoute::Kernel, "kernel",
                        "What is fast inline"),
             clEnumValN(::mlir::tracea::MathRoute::Reference, "reference",
                        "What kernels leave to libm"),
             clEnumValN(::mlir::tracea::MathRoute::Arithmetic, "arithmetic",
                        "All functions"))}]>,
    Option<"fused", "fused", "bool", "true",
           "The target has a fused multiply-add">,
    Option<"scaled", "scaled", "bool", "false",
           "The target multiplies by powers of two in one instruction">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def ExpandByteFloats : Pass<"tracea-expand-byte-floats"> {
  let summary = "Convert 8-bit floats by integer arithmetic";
  let description = [{
    Replaces `arith.extf` from, and `arith.truncf` to, f8E4M3FN and f8E5M2 by
    arithmetic on their bits, for targets that have no such instructions.
    Conversions round to nearest even. What is too large becomes an infinity in
    f8E5M2, and NaN in f8E4M3FN, which has no infinities.

    ```mlir
    %y = arith.truncf %x : vector<16xf32> to vector<16xf8E4M3FN>
    ```
    becomes shifts, additions and selects on `vector<16xi32>`, and a bitcast of
    `vector<16xi8>`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def NarrowBF16 : Pass<"tracea-narrow-bf16"> {
  let summary = "Leave roundings to bf16 to an instruction";
  let description = [{
    Replaces `arith.truncf` of f32 to bf16 by `llvm.fptrunc`, for targets that
    round in one instruction: what is left of the former becomes integer
    arithmetic. Where that instruction takes subnormal numbers for zeros these
    are only the roundings marked `tracea_pipe.flushes`.

    ```mlir
    %y = arith.truncf %x {tracea_pipe.flushes} : vector<16xf32> to vector<16xbf16>
    ```
    becomes
    ```mlir
    %y = llvm.fptrunc %x : vector<16xf32> to vector<16xbf16>
    ```
  }];
  let options = [
    Option<"subnormals", "subnormals", "bool", "false",
           "The instruction keeps subnormal numbers">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // TRACEA_CONVERSION_PASSES_TD
