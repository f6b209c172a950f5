//===- TraceaAttributeBase.td - Classes of attributes, units -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEA_IR_TRACEAATTRIBUTEBASE_TD
#define TRACEA_DIALECT_TRACEA_IR_TRACEAATTRIBUTEBASE_TD

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

def Tracea_MatrixUnit : Tracea_I32Enum<"MatrixUnit",
    "Hardware unit that multiplies tiles", [
  I32EnumAttrCase<"Vector", 0, "vector">,
  I32EnumAttrCase<"MmaSync", 1, "mma_sync">,
  I32EnumAttrCase<"Wgmma", 2, "wgmma">,
  I32EnumAttrCase<"Mfma", 3, "mfma">,
  I32EnumAttrCase<"Wmma", 4, "wmma">,
  I32EnumAttrCase<"Simdgroup", 5, "simdgroup">,
  I32EnumAttrCase<"Amx", 6, "amx">
]>;

#endif
