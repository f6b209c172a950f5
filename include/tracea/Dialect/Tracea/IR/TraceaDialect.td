//===- TraceaDialect.td - The semantic dialect -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEA_IR_TRACEADIALECT_TD
#define TRACEA_DIALECT_TRACEA_IR_TRACEADIALECT_TD

include "mlir/IR/OpBase.td"

def Tracea_Dialect : Dialect {
  let name = "tracea";
  let cppNamespace = "::mlir::tracea";
  let summary = "What a tensor operation means, free of any target";
  let description = [{
    The semantic level of Tracea. Operations are pure, work on ranked tensors,
    and say *what* is computed: a matrix product, a convolution, an attention,
    with an optional scalar *epilogue* region. They are destination-style: the
    `outs` operand gives the result's shape and, after bufferization, its
    memory; its contents are never read.

    The *decision* level lives here too: the module carries a
    `#tracea.target`, and each operation an inherent `schedule` attribute that
    names the variant and the tile sizes which the next levels realise.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let hasOperationAttrVerify = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// Name of the module attribute that holds the `#tracea.target`.
    static constexpr ::llvm::StringLiteral kTargetAttrName = "tracea.target";
    /// Name of the attribute of an argument that stays the same in many runs.
    static constexpr ::llvm::StringLiteral kConstantAttrName =
        "tracea.constant";

    void registerAttributes();
  }];
}

class Tracea_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tracea_Dialect, mnemonic, traits>;

#endif
