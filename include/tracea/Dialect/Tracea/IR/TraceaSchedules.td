//===- TraceaSchedules.td - Schedules, by family of variants -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEA_IR_TRACEASCHEDULES_TD
#define TRACEA_DIALECT_TRACEA_IR_TRACEASCHEDULES_TD

include "tracea/Dialect/Tracea/IR/TraceaAttributeBase.td"

def Tracea_ScheduleParamsAttrInterface
    : AttrInterface<"ScheduleParamsAttrInterface"> {
  let cppNamespace = "::mlir::tracea";
  let description = [{
    The fields of one family of variants. Which these are, their defaults and
    ranges stand in the family's structure (`tracea/Schedule`), which the cost
    models fill and lowerings read.
  }];
  let methods = [
    InterfaceMethod<"The family's structure.",
      "const ::mlir::tracea::schedule::Params &", "getParams">
  ];
}

def Tracea_ParamsParameter
    : AttrParameter<"::mlir::tracea::schedule::Params", "structure of the family"> {
  let cppAccessorType = "const ::mlir::tracea::schedule::Params &";
}

/// A family whose structure is `::mlir::tracea::schedule::<name>`.
class Tracea_FamilyAttr<string name, string mnemonic>
    : Tracea_Attr<name, mnemonic, [Tracea_ScheduleParamsAttrInterface]> {
  let parameters = (ins Tracea_ParamsParameter:$params);
  let assemblyFormat = "`` custom<Fields>($params, \"" #
      "::mlir::tracea::schedule::" # name # "()\")";
  let genVerifyDecl = 1;
  let extraClassDeclaration = "using Family = ::mlir::tracea::schedule::" # name # ";";
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify(
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError,
        ::mlir::tracea::schedule::Params params) {
      return verifyFields(emitError, params, Family());
    }
  }];
}

def Tracea_UntiledAttr : Tracea_FamilyAttr<"Untiled", "untiled"> {
  let summary = "Fields of variants that take a shape as it comes";
}
def Tracea_CPURowsAttr : Tracea_FamilyAttr<"CPURows", "cpu_rows"> {
  let summary = "Fields of row-wise variants for CPUs";
}
def Tracea_CPUGemmAttr : Tracea_FamilyAttr<"CPUGemm", "cpu_gemm"> {
  let summary = "Fields of matrix products for CPUs";
}
def Tracea_CPUConvAttr : Tracea_FamilyAttr<"CPUConv", "cpu_conv"> {
  let summary = "Fields of convolutions for CPUs";
}
def Tracea_CPUAttentionAttr
    : Tracea_FamilyAttr<"CPUAttention", "cpu_attention"> {
  let summary = "Fields of attention for CPUs";
}
def Tracea_WarpGemmAttr : Tracea_FamilyAttr<"WarpGemm", "warp_gemm"> {
  let summary = "Fields of matrix products by the units of warps";
}
def Tracea_SimtGemmAttr : Tracea_FamilyAttr<"SimtGemm", "simt_gemm"> {
  let summary = "Fields of matrix products by the lanes of a GPU";
}
def Tracea_LaneConvAttr : Tracea_FamilyAttr<"LaneConv", "lane_conv"> {
  let summary = "Fields of convolutions in groups, which slide over a patch";
}
def Tracea_WarpAttentionAttr
    : Tracea_FamilyAttr<"WarpAttention", "warp_attention"> {
  let summary = "Fields of attention by the units of warps";
}
def Tracea_WarpAttentionGradAttr
    : Tracea_FamilyAttr<"WarpAttentionGrad", "warp_attention_grad"> {
  let summary = "Fields of the gradients of attention by the units of warps";
}
def Tracea_SimtAttentionAttr
    : Tracea_FamilyAttr<"SimtAttention", "simt_attention"> {
  let summary = "Fields of attention by the lanes of a GPU";
}
def Tracea_LaneRowsAttr : Tracea_FamilyAttr<"LaneRows", "lane_rows"> {
  let summary = "Fields of row-wise variants for the lanes of a GPU";
}
def Tracea_WarpgroupGemmAttr
    : Tracea_FamilyAttr<"WarpgroupGemm", "warpgroup_gemm"> {
  let summary = "Fields of matrix products by warpgroups";
}
def Tracea_WarpgroupGroupedAttr
    : Tracea_FamilyAttr<"WarpgroupGrouped", "warpgroup_grouped"> {
  let summary = "Fields of products of groups of rows by warpgroups";
}

def Tracea_ScheduleAttr : Tracea_Attr<"Schedule", "schedule"> {
  let summary = "How one operation is to be realised";
  let description = [{
    Written by the Doctor, by the tuner or by hand; the same verifier for all.

    - `variant` names an entry of the registry, e.g. `"gemm.packed"`.
    - `unit` is the hardware that multiplies tiles.
    - `tile` is the tile of one workgroup in the variant's own dimensions
      (m, n, k for a gemm).

    What follows are the fields of the variant's family: those that have not
    their default, in any order. They are an attribute of their own.

    A kernel whose rows must begin at multiples of some bytes cannot run on all
    shapes where only the run knows extents. `otherwise` is the schedule of the
    kernel that runs on the others.

    What is fast for few rows is slow for many. Where only the run knows how
    many there are, `most` says for how large a result, in elements, the
    schedule is meant; larger ones are left to `otherwise`, which may be meant
    for results up to a greater size in turn. The last such schedule takes all
    sizes; its `otherwise`, if any, has no further one.

    ```mlir
    #tracea.schedule<variant = "gemm.packed", unit = vector,
                     tile = [96, 1024, 256, 96], registers = [8, 32]>
    #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma,
                     tile = [128, 128, 64], slots = 4, producers = 1,
                     consumers = 2,
                     otherwise = <variant = "gemm.warp", unit = mma_sync,
                                  tile = [128, 128, 32], registers = [64, 64],
                                  slots = 4>>
    #tracea.schedule<variant = "gemm.warp", unit = mma_sync,
                     tile = [16, 64, 64], registers = [16, 16], slots = 6,
                     most = 131072,
                     otherwise = <variant = "gemm.warp", unit = mma_sync,
                                  tile = [128, 128, 32], registers = [64, 64],
                                  slots = 4>>
    ```
  }];
  let parameters = (ins
    StringRefParameter<"registry name of the variant">:$variant,
    EnumParameter<Tracea_MatrixUnit>:$unit,
    OptionalArrayRefParameter<"int64_t", "workgroup tile">:$tile,
    "::mlir::tracea::ScheduleParamsAttrInterface":$params,
    OptionalParameter<"::mlir::tracea::ScheduleAttr">:$otherwise,
    DefaultValuedParameter<"int64_t", "0",
        "elements of the largest result that it is for; 0: any">:$most
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The structure of the family, or what families derived from `T` share,
    /// of a schedule whose variant is of such a family.
    template <typename T>
    const T &getFields() const {
      return getParams().getParams().as<T>();
    }
    /// The same; null where the family is another one.
    template <typename T>
    const T *getFieldsIf() const {
      return getParams().getParams().getIf<T>();
    }
  }];
}

#endif
