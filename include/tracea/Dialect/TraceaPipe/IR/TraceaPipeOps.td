//===- TraceaPipeOps.td - Kernels, tiles, channels, roles, phases -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPEOPS_TD
#define TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPEOPS_TD

include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.td"

/// A tensor whose encoding is a lane map: it lives in registers.
def RegisterTile : TypeConstraint<
    CPred<"::mlir::tracea_pipe::isRegisterTile($_self)">, "register tile",
    "::mlir::RankedTensorType">;
/// A tensor with the staged encoding (tile level).
def StagedTile : TypeConstraint<
    CPred<"::mlir::tracea_pipe::isStagedTile($_self)">, "staged tile",
    "::mlir::RankedTensorType">;
/// Anything addressable: a memref (global, or a slot) or a staged tile.
def TileSource : TypeConstraint<
    CPred<"::llvm::isa<::mlir::MemRefType>($_self) || ::mlir::tracea_pipe::isStagedTile($_self)">,
    "memref or staged tile", "::mlir::ShapedType">;
def StagedView : TypeConstraint<
    CPred<"::llvm::isa<::mlir::MemRefType>($_self) || ::mlir::tracea_pipe::isStagedTile($_self) || ::mlir::tracea_pipe::isRegisterTile($_self)">,
    "memref, staged tile or register tile", "::mlir::ShapedType">;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def TraceaPipe_KernelOp : TraceaPipe_Op<"kernel", [
    FunctionOpInterface, IsolatedFromAbove, AutomaticAllocationScope,
    OpAsmOpInterface]> {
  let summary = "A kernel: uniform code around one grid of tiles";
  let description = [{
    Arguments are memrefs of identity layout, indices and scalars. The body
    computes the grid's bounds and holds exactly one `tracea_pipe.tiles`, whose
    iterations are independent of each other.
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<StrAttr>:$variant,
    OptionalAttr<StrAttr>:$source_op,
    OptionalAttr<I64Attr>:$workspace_bytes,
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

    ```mlir
    tracea_pipe.tiles (%i, %j) in (%gm, %gn) { ... }
    ```
  }];
  let arguments = (ins Variadic<Index>:$bounds,
    DefaultValuedAttr<I64Attr, "0">:$group);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$bounds,
      CArg<"int64_t", "0">:$group)>];
  let extraClassDeclaration = [{
    ::mlir::Block::BlockArgListType getIndices() { return getBody().getArguments(); }
  }];
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

    ```mlir
    %r = tracea_pipe.launch @gemm_0 ins(%a, %b : tensor<?x8xf32>, tensor<8x4xf32>)
           outs(%d : tensor<?x4xf32>) -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyType>:$inputs,
    Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $kernel (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    (`outs` `(` $inits^ `:` type($inits) `)`)? attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
  }];
}

//===----------------------------------------------------------------------===//
// Register tiles
//===----------------------------------------------------------------------===//

def TraceaPipe_LoadOp : TraceaPipe_Op<"load", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Loads a register tile";
  let description = [{
    Element `t` of the tile is `source[indices + map(t)]`, with `map` linear in
    the tile's coordinates (a source dimension that uses none is a broadcast).
    With `limits`, an element whose coordinate reaches the limit of its
    dimension is not read; it is `padding`, or zero without one.

    ```mlir
    %b = tracea_pipe.load %bias[%n] map affine_map<(i, j) -> (j)> limits(%h, %w)
           : memref<?xf32> -> tensor<8x32xf32, #lanes>
    ```
  }];
  let arguments = (ins TileSource:$source, Variadic<Index>:$indices,
    Variadic<Index>:$limits, Optional<AnyType>:$padding, AffineMapAttr:$map);
  let results = (outs RegisterTile:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` `map` $map (`limits` `(` $limits^ `)`)?
    (`padding` `(` $padding^ `:` type($padding) `)`)?
    attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TraceaPipe_StoreOp : TraceaPipe_Op<"store", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Stores a register tile";
  let description = [{
    Writes element `t` of the tile to `dest[indices + map(t)]`, for the elements
    below `limits`. The map must be injective on the tile.

    ```mlir
    tracea_pipe.store %sum, %y[%m, %n] map affine_map<(i, j) -> (i, j)> limits(%h, %w)
      : tensor<8x32xf32, #lanes>, memref<?x?xf32>
    ```
  }];
  let arguments = (ins RegisterTile:$value, AnyMemRef:$dest,
    Variadic<Index>:$indices, Variadic<Index>:$limits, AffineMapAttr:$map);
  let assemblyFormat = [{
    $value `,` $dest `[` $indices `]` `map` $map (`limits` `(` $limits^ `)`)?
    attr-dict `:` type($value) `,` type($dest)
  }];
  let hasVerifier = 1;
}

def TraceaPipe_PrefetchOp : TraceaPipe_Op<"prefetch", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Asks for the memory of a tile that will be used soon";
  let description = [{
    A hint without a result: the elements of a tile of extents `shape` at
    `source[indices + map(t)]` will be read, or with `write` written, before long.
    What lies past the `limits` is not asked for.

    ```mlir
    tracea_pipe.prefetch %y[%m, %n] map affine_map<(i, j) -> (i, j)> limits(%h, %w)
      shape [8, 32] write : memref<?x?xf32>
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$indices,
    Variadic<Index>:$limits, AffineMapAttr:$map, DenseI64ArrayAttr:$shape,
    UnitAttr:$write);
  let assemblyFormat = [{
    $source `[` $indices `]` `map` $map (`limits` `(` $limits^ `)`)?
    `shape` $shape (`write` $write^)? attr-dict `:` type($source)
  }];
  let hasVerifier = 1;
}

def TraceaPipe_MmaOp : TraceaPipe_Op<"mma", [
    AttrSizedOperandSegments, AllTypesMatch<["acc", "result"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Multiplies two tiles and accumulates";
  let description = [{
    `result[i, j] = acc[i, j] + sum over k < depth of lhs[i, k] * rhs[k, j]`.
    The operands are staged (memory) or register tiles; `depth` defaults to
    their static extent. Products and sums are of the accumulator's type.

    Operands that are windows into unpadded memory give `limits`, one for the
    rows of lhs and one for the columns of rhs: elements at or beyond them are
    not read, and what the result holds there is unspecified.

    ```mlir
    %sum = tracea_pipe.mma %a, %b, %acc depth(%k)
             : tensor<8x256xf32, #tracea_pipe.staged>, tensor<256x32xf32, #tracea_pipe.staged>,
               tensor<8x32xf32, #lanes>
    ```
  }];
  let arguments = (ins StagedView:$lhs, StagedView:$rhs, RegisterTile:$acc,
    Optional<Index>:$depth, Variadic<Index>:$limits);
  let results = (outs RegisterTile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc (`depth` `(` $depth^ `)`)?
    (`limits` `(` $limits^ `)`)? attr-dict
    `:` type($lhs) `,` type($rhs) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def TraceaPipe_ReduceOp : TraceaPipe_Op<"reduce", [Pure]> {
  let summary = "Reduces a register tile along one dimension to extent one";
  let description = [{
    The lane map decides between registers, lanes and shared memory. Every lane
    of a group holds the result (its lane map has zero vectors there), so that
    `broadcast` back costs nothing. The order of the reduction is part of the
    numerics class: registers in order first, then lanes as a balanced tree.
  }];
  let arguments = (ins TraceaPipe_ReduceKindAttr:$kind, RegisterTile:$value, I64Attr:$dim);
  let results = (outs RegisterTile:$result);
  let assemblyFormat = "`` $kind $value `dim` $dim attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def TraceaPipe_BroadcastOp : TraceaPipe_Op<"broadcast", [Pure]> {
  let summary = "Repeats a register tile along its dimensions of extent one";
  let description = [{
    The other way of `tracea_pipe.reduce`: no lane reads another one, since each
    lane of a group holds the value already.

    ```mlir
    %row = tracea_pipe.reduce max %x dim 1
             : tensor<8x32xf32, #lanes> -> tensor<8x1xf32, #rows>
    %all = tracea_pipe.broadcast %row : tensor<8x1xf32, #rows> -> tensor<8x32xf32, #lanes>
    ```
  }];
  let arguments = (ins RegisterTile:$value);
  let results = (outs RegisterTile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def TraceaPipe_RelayoutOp : TraceaPipe_Op<"relayout", [Pure]> {
  let summary = "Changes the lane map of a register tile";
  let description = [{
    The same elements, elsewhere. The two lane maps decide what it takes: nothing,
    a renaming of registers, an exchange between lanes, or a trip through the
    workgroup's memory.

    ```mlir
    %b = tracea_pipe.relayout %a : tensor<8x32xf32, #from> -> tensor<8x32xf32, #to>
    ```
  }];
  let arguments = (ins RegisterTile:$value);
  let results = (outs RegisterTile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TraceaPipe_CoordinateOp : TraceaPipe_Op<"coordinate", [Pure]> {
  let summary = "The coordinate of each tile element along one dimension";
  let description = [{
    What masks compare with: element (i, j) of the result is i for `dim` 0 and j
    for `dim` 1, counted from the tile's first element.

    ```mlir
    %j = tracea_pipe.coordinate dim 1 : tensor<8x32xindex, #lanes>
    %end = tensor.splat %length : tensor<8x32xindex, #lanes>
    %inside = arith.cmpi slt, %j, %end : tensor<8x32xindex, #lanes>
    ```
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs RegisterTile:$result);
  let assemblyFormat = "`dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Staged tiles (tile level)
//===----------------------------------------------------------------------===//

def TraceaPipe_StageOp : TraceaPipe_Op<"stage", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Copies a tile into the workgroup's memory";
  let description = [{
    Element `t` of the staged tile is `source[indices + map(t)]`, converted to
    the tile's element type. It is zero where the source coordinate falls
    outside of the source in one of the `padded` dimensions (an image's border,
    the rows past the end of a matrix). Where a coordinate of `t` reaches its
    limit nothing is written, and nothing may depend on the contents. `map` is
    linear in the tile's coordinates: the coordinate map of an implicit matrix
    product.

    The pipeline level turns it into `acquire`, `copy`, `commit` and `wait` on a
    channel.

    Rows of a matrix as panels of 8, zeros below the last row:
    ```mlir
    %panels = tracea_pipe.stage %a[%m, %k] map affine_map<(p, k, i) -> (p * 8 + i, k)>
                limits(%count, %depth, %c8) padded [0]
                : memref<?x?xf32> -> tensor<4x256x8xf32, #tracea_pipe.staged>
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$indices,
    Variadic<Index>:$limits, AffineMapAttr:$map,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$padded,
    DefaultValuedAttr<I64Attr, "1">:$slots);
  let results = (outs StagedTile:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` `map` $map (`limits` `(` $limits^ `)`)?
    (`padded` $padded^)? (`slots` $slots^)? attr-dict
    `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TraceaPipe_ViewOp : TraceaPipe_Op<"view", [Pure]> {
  let summary = "A window into a staged tile or a memref";
  let description = [{
    Element `t` of the view is `source[offsets + map(t)]`, with `map` linear. No
    data moves: one staged patch serves as the operand of many multiplies.

    ```mlir
    %a = tracea_pipe.view %panel[%p, %c0, %c0] map affine_map<(i, k) -> (0, k, i)>
           : tensor<4x256x8xf32, #tracea_pipe.staged> -> tensor<8x256xf32, #tracea_pipe.staged>
    ```
  }];
  let arguments = (ins TileSource:$source, Variadic<Index>:$offsets, AffineMapAttr:$map);
  let results = (outs TileSource:$result);
  let assemblyFormat = [{
    $source `[` $offsets `]` `map` $map attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TraceaPipe_ScratchOp : TraceaPipe_Op<"scratch"> {
  let summary = "Memory of the workgroup, alive for one tile of the grid";
  let description = [{
    For values that neither fit into registers nor come from a copy: partial sums
    between blocks, the scores of an attention. Its contents are arbitrary at the
    start of each tile.

    ```mlir
    %sums = tracea_pipe.scratch : memref<96x256xf32, #tracea_pipe.staged>
    ```
  }];
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def TraceaPipe_WorkspaceOp : TraceaPipe_Op<"workspace", [Pure]> {
  let summary = "The private memory of the thread that runs the kernel";
  let description = [{
    What channels and scratch buffers become on a target without shared memory.
    The kernel's `workspace_bytes` says how much the launcher must provide.
  }];
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Channels (pipeline level)
//===----------------------------------------------------------------------===//

def TraceaPipe_ChannelOp : TraceaPipe_Op<"channel"> {
  let summary = "Declares a ring of slots";
  let description = [{
    A channel of n slots connects who fills them with who reads them. A slot holds
    one buffer of each listed type. Filling is `acquire`, copies, `commit`; reading
    is `wait`, uses, `release`; both sides go around the ring in the same order,
    each with a phase of its own.

    ```mlir
    %ring = tracea_pipe.channel : <2 x (memref<4x256x8xf32, #tracea_pipe.staged>)>
    ```
  }];
  let results = (outs TraceaPipe_ChannelType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def TraceaPipe_StartOp : TraceaPipe_Op<"start", [Pure]> {
  let summary = "The first phase of a ring";
  let description = [{
    Phase 0 of Z/2nZ, for a ring of n slots. Phase p stands for slot p mod n; p div
    n is the parity that tells one round from the next.

    ```mlir
    %p = tracea_pipe.start : <2>
    ```
  }];
  let results = (outs TraceaPipe_PhaseType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def TraceaPipe_AdvanceOp : TraceaPipe_Op<"advance", [Pure, SameOperandsAndResultType]> {
  let summary = "The next phase";
  let description = [{
    Adds one, modulo 2n.

    ```mlir
    %next = tracea_pipe.advance %p : <2>
    ```
  }];
  let arguments = (ins TraceaPipe_PhaseType:$phase);
  let results = (outs TraceaPipe_PhaseType:$result);
  let assemblyFormat = "$phase attr-dict `:` type($phase)";
}

class TraceaPipe_RingOp<string mnemonic, list<Trait> traits = []>
    : TraceaPipe_Op<mnemonic, traits> {
  let hasVerifier = 1;
}

def TraceaPipe_AcquireOp : TraceaPipe_RingOp<"acquire"> {
  let summary = "Waits until a slot is free, and owns it for filling";
  let description = [{
    Gives the buffers of the phase's slot to who fills it. In the first round every
    slot is free.

    ```mlir
    %slot = tracea_pipe.acquire %ring[%p]
              : <2 x (memref<4x256x8xf32, #tracea_pipe.staged>)>, <2>
                -> memref<4x256x8xf32, #tracea_pipe.staged>
    ```
  }];
  let arguments = (ins TraceaPipe_ChannelType:$channel, TraceaPipe_PhaseType:$phase);
  let results = (outs Variadic<AnyMemRef>:$buffers);
  let assemblyFormat = [{
    $channel `[` $phase `]` attr-dict `:` type($channel) `,` type($phase) `->` type($buffers)
  }];
}

def TraceaPipe_CopyOp : TraceaPipe_Op<"copy", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Copies a tile into a slot through a coordinate map";
  let description = [{
    `dest[t] = source[indices + map(t)]`, converted, with the limits and padded
    dimensions of `tracea_pipe.stage`. Complete only after `commit`.

    ```mlir
    tracea_pipe.copy %a[%m, %k] map affine_map<(p, k, i) -> (p * 8 + i, k)>
      limits(%panels, %depth, %c8) padded [0] to %slot
      : memref<?x?xf32>, memref<4x256x8xf32, #tracea_pipe.staged>
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$indices,
    Variadic<Index>:$limits, AnyMemRef:$dest, AffineMapAttr:$map,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$padded);
  let assemblyFormat = [{
    $source `[` $indices `]` `map` $map (`limits` `(` $limits^ `)`)?
    (`padded` $padded^)? `to` $dest attr-dict `:` type($source) `,` type($dest)
  }];
  let hasVerifier = 1;
}

def TraceaPipe_CommitOp : TraceaPipe_RingOp<"commit"> {
  let summary = "Hands a filled slot over, once its copies have landed";
  let description = [{
    After it whoever fills must not touch the slot before the next `acquire`.

    ```mlir
    tracea_pipe.commit %ring[%p] : <2 x (memref<4x256x8xf32, #tracea_pipe.staged>)>, <2>
    ```
  }];
  let arguments = (ins TraceaPipe_ChannelType:$channel, TraceaPipe_PhaseType:$phase);
  let assemblyFormat = "$channel `[` $phase `]` attr-dict `:` type($channel) `,` type($phase)";
}

def TraceaPipe_WaitOp : TraceaPipe_RingOp<"wait"> {
  let summary = "Waits until a slot is filled, and reads it";
  let description = [{
    Gives the buffers of the phase's slot to who reads it, until `release`.

    ```mlir
    %full = tracea_pipe.wait %ring[%p]
              : <2 x (memref<4x256x8xf32, #tracea_pipe.staged>)>, <2>
                -> memref<4x256x8xf32, #tracea_pipe.staged>
    ```
  }];
  let arguments = (ins TraceaPipe_ChannelType:$channel, TraceaPipe_PhaseType:$phase);
  let results = (outs Variadic<AnyMemRef>:$buffers);
  let assemblyFormat = [{
    $channel `[` $phase `]` attr-dict `:` type($channel) `,` type($phase) `->` type($buffers)
  }];
}

def TraceaPipe_ReleaseOp : TraceaPipe_RingOp<"release"> {
  let summary = "Gives a slot back after its last read";
  let description = [{
    The slot may then be acquired for the next round.

    ```mlir
    tracea_pipe.release %ring[%p] : <2 x (memref<4x256x8xf32, #tracea_pipe.staged>)>, <2>
    ```
  }];
  let arguments = (ins TraceaPipe_ChannelType:$channel, TraceaPipe_PhaseType:$phase);
  let assemblyFormat = "$channel `[` $phase `]` attr-dict `:` type($channel) `,` type($phase)";
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
    HasParent<"RolesOp">]> {
  let summary = "What the warps [first, end) do";
  let description = [{
    `copies` equal teams share the range; the region's argument is the team's
    number. `registers` is the budget a thread of this role gets (0: default).

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
