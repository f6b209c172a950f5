//===- TraceaGroupedOps.td - Products of groups of rows -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEA_IR_TRACEAGROUPEDOPS_TD
#define TRACEA_DIALECT_TRACEA_IR_TRACEAGROUPEDOPS_TD

// Included by TraceaOps.td, after the classes that operations derive from.

def Tracea_GroupedGemmOp : Tracea_EpilogueOp<"grouped_gemm"> {
  let summary = "Matrix products of consecutive groups of rows, with an epilogue";
  let description = [{
    `result[m, n] = epilogue(sum over k of lhs[m, k] * rhs[g(m), k, n])`

    lhs is [rows, k], rhs has a matrix [k, n] for each group, with
    `transpose_rhs` [n, k]. `ends[g]` is the row behind the last one of group g,
    i32 or i64, a number that only the run knows. `g(m)` is the first group
    whose end lies beyond row m:

        g(m) = min { g : m < ends[g] }

    Every value of `ends` has a meaning. Ends that do not decrease are those of
    consecutive groups, the first of which begins at row 0; equal ones enclose
    an empty group. An end below one before it also makes an empty group, an end
    beyond the rows stands for the last row, a negative one for row 0. The sum
    of a row that is in no group is 0: rows behind the last end hold the
    epilogue of 0. Neither their contents in lhs nor a matrix is read for them.

    `acc` is as in `tracea.gemm`. The epilogue's maps take (m, n).

    ```mlir
    %y = tracea.grouped_gemm transpose_rhs
           ins(%a, %b, %ends : tensor<?x4096xbf16>, tensor<16x4096x4096xbf16>, tensor<16xi32>)
           outs(%d : tensor<?x4096xbf16>)
    ```
  }];
  let arguments = (ins
    AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, AnyRankedTensor:$ends,
    Variadic<AnyRankedTensor>:$extras, AnyRankedTensor:$init,
    UnitAttr:$transpose_rhs, OptionalAttr<TypeAttr>:$acc,
    DefaultValuedAttr<AffineMapArrayAttr, "{}">:$epilogue_maps,
    OptionalAttr<Tracea_ScheduleAttr>:$schedule);
  let results = (outs AnyRankedTensor:$result);
  let regions = (region AnyRegion:$epilogue);
  let assemblyFormat = [{
    (`transpose_rhs` $transpose_rhs^)? (`acc` $acc^)?
    `ins` `(` $lhs `,` $rhs `,` $ends `:`
      type($lhs) `,` type($rhs) `,` type($ends) `)`
    `outs` `(` $init `:` type($init) `)`
    (`schedule` $schedule^)?
    `` custom<Epilogue>($extras, type($extras), $epilogue_maps, $epilogue)
    attr-dict
  }];
  let extraClassDeclaration = epilogueDeclarations # [{
    /// Extents; ShapedType::kDynamic where unknown.
    int64_t getRows();
    int64_t getN();
    int64_t getK();
    int64_t getNumGroups();
    /// Dimensions of k and n in rhs.
    int64_t getRhsK() { return getTransposeRhs() ? 2 : 1; }
    int64_t getRhsN() { return getTransposeRhs() ? 1 : 2; }
  }];
}

#endif
