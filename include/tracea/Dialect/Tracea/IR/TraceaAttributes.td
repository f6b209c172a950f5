//===- TraceaAttributes.td - Enumerations, targets and schedules -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEA_IR_TRACEAATTRIBUTES_TD
#define TRACEA_DIALECT_TRACEA_IR_TRACEAATTRIBUTES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "tracea/Dialect/Tracea/IR/TraceaDialect.td"

class Tracea_I32Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::tracea";
  let genSpecializedAttr = 0;
}

class Tracea_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Tracea_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

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

def Tracea_MatrixUnit : Tracea_I32Enum<"MatrixUnit",
    "Hardware unit that multiplies tiles", [
  I32EnumAttrCase<"Vector", 0, "vector">,
  I32EnumAttrCase<"MmaSync", 1, "mma_sync">,
  I32EnumAttrCase<"Wgmma", 2, "wgmma">,
  I32EnumAttrCase<"Mfma", 3, "mfma">,
  I32EnumAttrCase<"Wmma", 4, "wmma">,
  I32EnumAttrCase<"Simdgroup", 5, "simdgroup">
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

def Tracea_ScheduleAttr : Tracea_Attr<"Schedule", "schedule"> {
  let summary = "How one operation is to be realised";
  let description = [{
    Written by the Doctor, by the tuner or by hand; the same verifier for all.

    - `variant` names an entry of the registry, e.g. `"gemm.packed"`.
    - `tile` is the tile of one workgroup in the variant's own dimensions
      (m, n, k for a gemm), `registers` the tile held in registers at a time.
    - `slots` is the depth of the rings between copies and multiplies,
      `producers` and `consumers` the roles (0, 0: one role does both).
    - `residents` is the number of workgroups that share a core: while one
      finishes its tile, the others multiply.
    - `turns` is the number of teams of one workgroup that take tiles in turn,
      out of one ring: while one finishes its tile, another multiplies.
    - `group` is the height of a raster group (0: row-major order of tiles).
    - `lines` names the operands whose rows are copied first, to begin at
      multiples of a cache line: 1 the first, 2 the second, 3 both, 0 none.
    - `split` is the number of parts that the sum over k is cut into; another
      kernel adds them up (1: the sum is whole). With a `cluster` of as many
      workgroups they add their parts up themselves, in their memories.

    ```mlir
    #tracea.schedule<variant = "gemm.packed", unit = vector,
                     tile = [96, 1024, 256], registers = [8, 32]>
    ```
  }];
  let parameters = (ins
    StringRefParameter<"registry name of the variant">:$variant,
    EnumParameter<Tracea_MatrixUnit>:$unit,
    OptionalArrayRefParameter<"int64_t", "workgroup tile">:$tile,
    OptionalArrayRefParameter<"int64_t", "register tile">:$registers,
    DefaultValuedParameter<"int64_t", "1", "slots of each ring">:$slots,
    DefaultValuedParameter<"int64_t", "0", "producer roles">:$producers,
    DefaultValuedParameter<"int64_t", "0", "consumer roles">:$consumers,
    DefaultValuedParameter<"int64_t", "0", "raster group height">:$group,
    DefaultValuedParameter<"int64_t", "1", "parts of the sum">:$split,
    DefaultValuedParameter<"int64_t", "1", "workgroups of a core">:$residents,
    DefaultValuedParameter<"int64_t", "1", "workgroups that share a sum">:$cluster,
    DefaultValuedParameter<"int64_t", "0", "operands copied to whole lines">:$lines,
    DefaultValuedParameter<"int64_t", "1", "teams that take tiles in turn">:$turns
  );
  let assemblyFormat = [{
    `<` struct($variant, $unit, custom<Extents>($tile),
               custom<Extents>($registers), $slots, $producers, $consumers,
               $group, $split, $residents, $cluster, $lines, $turns) `>`
  }];
  let genVerifyDecl = 1;
}

#endif
