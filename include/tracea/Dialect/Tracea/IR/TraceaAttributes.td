//===- TraceaAttributes.td - Enumerations and targets -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEA_IR_TRACEAATTRIBUTES_TD
#define TRACEA_DIALECT_TRACEA_IR_TRACEAATTRIBUTES_TD

include "tracea/Dialect/Tracea/IR/TraceaSchedules.td"

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

def Tracea_ImageLayout : Tracea_I32Enum<"ImageLayout",
    "Order of batch, channel, height and width in an image tensor", [
  I32EnumAttrCase<"NHWC", 0, "nhwc">,
  I32EnumAttrCase<"NCHW", 1, "nchw">
]>;
def Tracea_ImageLayoutAttr
    : EnumAttr<Tracea_Dialect, Tracea_ImageLayout, "image_layout"> {
  let assemblyFormat = "$value";
}

def Tracea_FilterLayout : Tracea_I32Enum<"FilterLayout",
    "Order of output channel (k), height (r), width (s), input channel (c)", [
  I32EnumAttrCase<"KRSC", 0, "krsc">,
  I32EnumAttrCase<"KCRS", 1, "kcrs">,
  I32EnumAttrCase<"RSCK", 2, "rsck">
]>;
def Tracea_FilterLayoutAttr
    : EnumAttr<Tracea_Dialect, Tracea_FilterLayout, "filter_layout"> {
  let assemblyFormat = "$value";
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

def Tracea_ReductionKind : Tracea_I32Enum<"ReductionKind",
    "How values of an epilogue become one element of a result", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"Add", 1, "add">,
  I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"Min", 3, "min">
]>;
def Tracea_ReductionKindAttr
    : EnumAttr<Tracea_Dialect, Tracea_ReductionKind, "reduction_kind"> {
  let assemblyFormat = "`<` $value `>`";
}
def Tracea_ReductionKindArrayAttr
    : TypedArrayAttrBase<Tracea_ReductionKindAttr, "kinds of reductions">;

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

def Tracea_TargetKind : Tracea_I32Enum<"TargetKind", "Way out of the compiler", [
  I32EnumAttrCase<"CPU", 0, "cpu">,
  I32EnumAttrCase<"CUDA", 1, "cuda">,
  I32EnumAttrCase<"ROCm", 2, "rocm">,
  I32EnumAttrCase<"Metal", 3, "metal">
]>;

def Tracea_TargetAttr : Tracea_Attr<"Target", "target"> {
  let summary = "The machine that a module is compiled for";
  let description = [{
    The facts of a target that decisions and lowerings need, taken from the
    tables of `TargetInfo` or from the detected host. Sizes are in bytes; zero
    means "not known".

    ```mlir
    #tracea.target<kind = cpu, name = "znver4", triple = "x86_64-unknown-linux-gnu",
                   cpu = "znver4", features = "+avx2,+fma,+avx512f",
                   vector_bits = 512, vector_registers = 32, cores = 2,
                   l1 = 32768, l2 = 1048576, l3 = 33554432>
    ```
  }];
  let parameters = (ins
    EnumParameter<Tracea_TargetKind>:$kind,
    StringRefParameter<"table name">:$name,
    StringRefParameter<"LLVM triple">:$triple,
    StringRefParameter<"LLVM CPU name">:$cpu,
    StringRefParameter<"LLVM feature string", "\"\"">:$features,
    DefaultValuedParameter<"int64_t", "0", "bits of a vector register">:$vector_bits,
    DefaultValuedParameter<"int64_t", "0", "vector registers">:$vector_registers,
    DefaultValuedParameter<"int64_t", "0", "lanes of a warp, wave or simdgroup">:$subgroup,
    DefaultValuedParameter<"int64_t", "1", "cores or multiprocessors">:$cores,
    DefaultValuedParameter<"int64_t", "0", "shared memory of a workgroup">:$shared_memory,
    DefaultValuedParameter<"int64_t", "0", "first-level data cache of a core">:$l1,
    DefaultValuedParameter<"int64_t", "0", "second-level cache of a core">:$l2,
    DefaultValuedParameter<"int64_t", "0", "last-level cache">:$l3
  );
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif
