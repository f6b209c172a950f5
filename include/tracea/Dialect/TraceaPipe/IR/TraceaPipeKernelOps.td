//===- TraceaPipeKernelOps.td - Kernels, grids, roles -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPEKERNELOPS_TD
#define TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPEKERNELOPS_TD

include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "tracea/Dialect/TraceaPipe/IR/TraceaPipeBase.td"

def TraceaPipe_KernelOp : TraceaPipe_Op<"kernel", [
    FunctionOpInterface, IsolatedFromAbove, AutomaticAllocationScope,
    OpAsmOpInterface]> {
  let summary = "A kernel: uniform code around one grid of tiles";
  let description = [{
    Arguments are memrefs of identity layout, or whose rows lie at known
    distances from their beginning on, as those of a window of a larger one do;
    indices and scalars. The body computes the grid's bounds and holds exactly one `tracea_pipe.tiles`, whose
    iterations are independent of each other. `warps` says how many warps a
    workgroup has; with roles their ranges say it. `definitions` and
    `band` are what the operation that the kernel was made for says of its
    results.
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<StrAttr>:$variant,
    OptionalAttr<StrAttr>:$source_op,
    OptionalAttr<I64Attr>:$workspace_bytes,
    OptionalAttr<I64Attr>:$warps,
    OptionalAttr<TraceaPipe_PipelineAttr>:$pipeline,
    OptionalAttr<TraceaPipe_DefinitionArrayAttr>:$definitions,
    OptionalAttr<TraceaPipe_BandAttr>:$band,
    OptionalAttr<DictArrayAttr>:$arg_attrs,
    OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
      "::mlir::FunctionType":$type, CArg<"::llvm::StringRef", "{}">:$variant,
      CArg<"::llvm::StringRef", "{}">:$sourceOp)>];
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    static ::llvm::StringRef getDefaultDialect() { return "tracea_pipe"; }
    /// The grid; the verifier guarantees exactly one.
    ::mlir::tracea_pipe::TilesOp getTiles();
    /// The roles of its warps; null where all do the same.
    ::mlir::tracea_pipe::RolesOp getRoles();
    /// Warps of a workgroup.
    int64_t getNumWarps();
  }];
}

// No effects are declared: a kernel keeps its grid even when nothing in it can be
// observed.
def TraceaPipe_TilesOp : TraceaPipe_Op<"tiles", [
    SingleBlockImplicitTerminator<"EndOp">, HasParent<"KernelOp">]> {
  let summary = "The grid of a kernel: one iteration a workgroup tile";
  let description = [{
    Runs its body once for every index tuple below `bounds`; iterations are
    independent and may run in any order and place. A `group` g > 0 walks the
    last two dimensions in groups of g rows, so that neighbouring tiles share
    operands in the cache.

    With a `cluster` of c workgroups the first bound is the constant c. The
    iterations that differ in the first index alone run at the same time, and
    may read one another's memory: they are the workgroups of one cluster, the
    first index is a workgroup's number in it, and clusters are independent.

    ```mlir
    tracea_pipe.tiles (%i, %j) in (%gm, %gn) { ... }
    tracea_pipe.tiles (%part, %i, %j) in (%c4, %gm, %gn) cluster 4 { ... }
    ```
  }];
  let arguments = (ins Variadic<Index>:$bounds,
    DefaultValuedAttr<I64Attr, "0">:$group,
    DefaultValuedAttr<I64Attr, "1">:$cluster);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$bounds,
      CArg<"int64_t", "0">:$group, CArg<"int64_t", "1">:$cluster)>];
  let extraClassDeclaration = [{
    ::mlir::Block::BlockArgListType getIndices() { return getBody().getArguments(); }
  }];
}

def TraceaPipe_RasterOp : TraceaPipe_Op<"raster", [Pure]> {
  let summary = "The row and column of a tile in grouped order";
  let description = [{
    Tile `index` of `rows * columns` in groups of `group` rows: within a group
    columns follow one another, and within a column its rows. Neighbours in this
    order share operands in the cache.

        first = group * (index div (group * columns)),  height = min(group, rows - first)
        rest = index mod (group * columns),  row = first + rest mod height,  column = rest div height

    For a grid whose workgroups walk over many tiles:
    ```mlir
    scf.for %t = %workgroup to %count step %workgroups {
      %i, %j = tracea_pipe.raster %t in (%rows, %columns) group 16
    ```
  }];
  let arguments = (ins Index:$index, Index:$rows, Index:$columns, I64Attr:$group);
  let results = (outs Index:$row, Index:$column);
  let assemblyFormat = "$index `in` ` ` `(` $rows `,` $columns `)` `group` $group attr-dict";
  let hasVerifier = 1;
}

def TraceaPipe_EndOp : TraceaPipe_Op<"end", [Pure, Terminator]> {
  let summary = "Ends a grid, a role or a kernel";
  let assemblyFormat = "attr-dict";
}

def TraceaPipe_LaunchOp : TraceaPipe_Op<"launch", [
    DestinationStyleOpInterface, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Runs a kernel from the host program";
  let description = [{
    On tensors it is destination-style: `outs` give the memory of the results
    and are not read. On memrefs it has no results. The kernel's arguments are
    `ins` followed by `outs`.

    A kernel may need more of its arguments than their types say: memory that
    begins at a multiple of 16 bytes, say. The first of the kernel and those
    after `else` that can run on the arguments at hand is run. `most` has a
    number for each of them: of how many elements the first of `outs` may be at
    most for the kernel to be run, or 0 where it is for any.

    ```mlir
    %r = tracea_pipe.launch @gemm_0 ins(%a, %b : tensor<?x8xf32>, tensor<8x4xf32>)
           outs(%d : tensor<?x4xf32>) -> tensor<?x4xf32>
    %s = tracea_pipe.launch @gemm_1 else [@gemm_0] most [4096, 0]
           ins(%a, %b : tensor<?x8xf32>, tensor<8x4xf32>)
           outs(%d : tensor<?x4xf32>) -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel,
    OptionalAttr<FlatSymbolRefArrayAttr>:$others,
    OptionalAttr<DenseI64ArrayAttr>:$most,
    Variadic<AnyType>:$inputs, Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $kernel (`else` $others^)? (`most` $most^)? (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    (`outs` `(` $inits^ `:` type($inits) `)`)? attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
    /// The kernel and those that may run instead of it, in their order.
    ::llvm::SmallVector<::mlir::FlatSymbolRefAttr> getKernels();
    /// Elements of the first of `outs` that the kernel of this number is for at
    /// most; 0 where it is for any.
    int64_t getMostOf(unsigned kernel);
    /// Names kernels in place of those before, and what each is for.
    void setKernels(::llvm::ArrayRef<::mlir::FlatSymbolRefAttr> kernels,
                    ::llvm::ArrayRef<int64_t> most);
  }];
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

def TraceaPipe_RolesOp : TraceaPipe_Op<"roles", [
    SingleBlockImplicitTerminator<"EndOp">, NoRegionArguments,
    RecursiveMemoryEffects]> {
  let summary = "Splits the warps of a workgroup into roles, once";
  let description = [{
    Each `tracea_pipe.role` inside runs on its own range of warps; ranges are
    disjoint and a warp's role never changes (Rule B).
  }];
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def TraceaPipe_RoleOp : TraceaPipe_Op<"role", [
    SingleBlockImplicitTerminator<"EndOp">, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    HasParent<"RolesOp">]> {
  let summary = "What the warps [first, end) do";
  let description = [{
    `copies` equal teams share the range; the region's argument is the team's
    number. `registers` is the budget a thread of this role gets (0: default).
    A role with a budget stays where nothing is left to do in it: other roles
    may wait for the registers that it gives back.

    ```mlir
    tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 232 (%team) { ... }
    ```
  }];
  let arguments = (ins StrAttr:$name, DenseI64ArrayAttr:$warps,
    DefaultValuedAttr<I64Attr, "1">:$copies,
    DefaultValuedAttr<I64Attr, "0">:$registers);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif
