//===- TraceaPipeTileOps.td - Register tiles and staged tiles -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPETILEOPS_TD
#define TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPETILEOPS_TD

include "tracea/Dialect/TraceaPipe/IR/TraceaPipeBase.td"

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
    An element that the `limits` leave out is `padding`, or zero without one. So
    is one whose coordinate falls outside of the source in one of the `padded`
    dimensions, as an image's border does. `reuse` is that of
    `tracea_pipe.stage`.

    ```mlir
    %b = tracea_pipe.load %bias[%n] map affine_map<(i, j) -> (j)> limits(%h, %w)
           : memref<?xf32> -> tensor<8x32xf32, #lanes>
    ```
  }];
  let arguments = (ins TileSource:$source, Variadic<Index>:$indices,
    Variadic<Index>:$limits, Optional<AnyType>:$padding,
    Variadic<TraceaPipe_WalkType>:$walks, AffineMapAttr:$map,
    DefaultValuedAttr<TraceaPipe_ReuseAttr,
                      "::mlir::tracea_pipe::Reuse::Unknown">:$reuse,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$along,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$padded);
  let results = (outs RegisterTile:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$source,
      "::mlir::ValueRange":$indices, "::mlir::ValueRange":$limits,
      "::mlir::Value":$padding, "::mlir::AffineMap":$map,
      CArg<"::mlir::tracea_pipe::Reuse", "::mlir::tracea_pipe::Reuse::Unknown">:$reuse,
      CArg<"::llvm::ArrayRef<int64_t>", "{}">:$padded), [{
    build($_builder, $_state, result, source, indices, limits, padding,
          /*walks=*/::mlir::ValueRange(), map, reuse, ::llvm::ArrayRef<int64_t>(),
          padded);
  }]>];
  let assemblyFormat = [{
    $source `[` $indices `]` `map` $map
    (`along` $along^ `(` $walks `:` type($walks) `)`)? (`limits` `(` $limits^ `)`)?
    (`padding` `(` $padding^ `:` type($padding) `)`)? (`padded` $padded^)?
    (`reuse` $reuse^)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TraceaPipe_StoreOp : TraceaPipe_Op<"store", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Stores a register tile";
  let description = [{
    Writes element `t` of the tile to `dest[indices + map(t)]`, for the elements
    that the `limits` leave. The map must be injective on the tile.

    ```mlir
    tracea_pipe.store %sum, %y[%m, %n] map affine_map<(i, j) -> (i, j)> limits(%h, %w)
      : tensor<8x32xf32, #lanes>, memref<?x?xf32>
    ```
  }];
  let arguments = (ins RegisterTile:$value, AnyMemRef:$dest,
    Variadic<Index>:$indices, Variadic<Index>:$limits,
    Variadic<TraceaPipe_WalkType>:$walks, AffineMapAttr:$map,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$along);
  let builders = [OpBuilder<(ins "::mlir::Value":$value, "::mlir::Value":$dest,
      "::mlir::ValueRange":$indices, "::mlir::ValueRange":$limits,
      "::mlir::AffineMap":$map), [{
    build($_builder, $_state, value, dest, indices, limits,
          /*walks=*/::mlir::ValueRange(), map, ::llvm::ArrayRef<int64_t>());
  }]>];
  let assemblyFormat = [{
    $value `,` $dest `[` $indices `]` `map` $map
    (`along` $along^ `(` $walks `:` type($walks) `)`)? (`limits` `(` $limits^ `)`)?
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
    What the `limits` leave out need not be asked for; a target may ask for it
    all the same where that cannot fault. `level` is the cache that is to hold
    it. The source may be a staged tile, of which any part may be asked for.

    ```mlir
    tracea_pipe.prefetch %y[%m, %n] map affine_map<(i, j) -> (i, j)> limits(%h, %w)
      shape [8, 32] write : memref<?x?xf32>
    ```
  }];
  let arguments = (ins TileSource:$source, Variadic<Index>:$indices,
    Variadic<Index>:$limits, AffineMapAttr:$map, DenseI64ArrayAttr:$shape,
    UnitAttr:$write,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntMinValue<1>, IntMaxValue<3>]>,
                      "1">:$level);
  let assemblyFormat = [{
    $source `[` $indices `]` `map` $map (`limits` `(` $limits^ `)`)?
    `shape` $shape (`write` $write^)? (`level` $level^)? attr-dict
    `:` type($source)
  }];
  let extraClassDeclaration = [{
    /// Elements that one request may ask for.
    static constexpr int64_t kMostElements = 65536;
  }];
  let hasVerifier = 1;
}

def TraceaPipe_MmaOp : TraceaPipe_Op<"mma", [
    AttrSizedOperandSegments, AllTypesMatch<["acc", "result"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Multiplies two tiles and accumulates";
  let description = [{
    `result[i, j] = acc[i, j] + sum over k < depth of lhs[i, k] * rhs[k, j]`.
    The operands are staged (memory) or register tiles. `depth` is not beyond
    the extent of k in either operand, and defaults to it; nothing is added
    where it is zero or negative. Products and sums are of the accumulator's
    type.

    Operands that are windows into unpadded memory give `limits`, one for the
    rows of lhs and one for the columns of rhs: elements at or beyond them are
    not read, and what the result holds there is unspecified. Limits mean what
    they mean in a `tracea_pipe.load`: beyond the extent they leave all rows or
    columns, and zero or negative ones leave none.

    With `rows(%first, %end)` only the rows of lhs from `first` to before `end`
    are multiplied; the others of the result are those of `acc`.

    `spans` are the pairs of a first row and an end, one behind the other, that
    are met often beside all rows: a lowering may have code of its own for each
    of them. Limits leave the rows from the first one on.

    `precision` says what a product of f32 keeps of its operands. `tf32` rounds
    them to the 10 bits of tf32's fraction, ties away from zero. `tf32x3` splits
    each into a part of tf32 and one of the rest, and adds up the products of
    rest and part, part and rest, part and part, in this order.

    ```mlir
    %sum = tracea_pipe.mma %a, %b, %acc depth(%k)
             : tensor<8x256xf32, #tracea_pipe.staged>, tensor<256x32xf32, #tracea_pipe.staged>,
               tensor<8x32xf32, #lanes>
    ```
  }];
  let arguments = (ins StagedView:$lhs, StagedView:$rhs, RegisterTile:$acc,
    Optional<Index>:$depth, Variadic<Index>:$limits, Variadic<Index>:$rows,
    OptionalAttr<DenseI64ArrayAttr>:$spans,
    DefaultValuedAttr<TraceaPipe_PrecisionAttr,
                      "::mlir::tracea_pipe::Precision::Full">:$precision);
  let results = (outs RegisterTile:$result);
  let builders = [
    OpBuilder<(ins "Value":$lhs, "Value":$rhs, "Value":$acc, "Value":$depth,
                   "ValueRange":$limits,
                   CArg<"Precision", "Precision::Full">:$precision), [{
      build($_builder, $_state, lhs, rhs, acc, depth, limits, ValueRange(),
            DenseI64ArrayAttr(), precision);
    }]>];
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc (`depth` `(` $depth^ `)`)?
    (`rows` `(` $rows^ `)`)? (`spans` $spans^)? (`limits` `(` $limits^ `)`)? (`precision` $precision^)? attr-dict
    `:` type($lhs) `,` type($rhs) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def TraceaPipe_ReduceOp : TraceaPipe_Op<"reduce", [Pure]> {
  let summary = "Reduces a register tile along one dimension";
  let description = [{
    To extent one, or to as many groups of neighbours as the result has: element
    g of e is reduced from the elements [g s, (g + 1) s) with s = extent / e, a
    power of two.

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

def TraceaPipe_SliceOp : TraceaPipe_Op<"slice", [Pure]> {
  let summary = "Some of the registers of a register tile";
  let description = [{
    The rectangle at the static `offsets` of the tile. Every lane keeps what it
    has of it: the lane maps agree in lanes and warps, and the result's
    registers are registers of the operand.

    ```mlir
    %right = tracea_pipe.slice %sum[0, 128]
               : tensor<64x256xf32, #wide> -> tensor<64x128xf32, #narrow>
    ```
  }];
  let arguments = (ins RegisterTile:$value, DenseI64ArrayAttr:$offsets);
  let results = (outs RegisterTile:$result);
  let assemblyFormat = "$value `` $offsets attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The operand's register that each register of the result is; nothing if
    /// the lane maps do not agree.
    std::optional<::llvm::SmallVector<int64_t>> getRegisters();
  }];
}

def TraceaPipe_AnyOp : TraceaPipe_Op<"any", [Pure]> {
  let summary = "Whether a condition holds for any element of a warp";
  let description = [{
    The lanes of a warp agree on the result, so that a rare case can be a branch
    around it; warps may differ. What synchronises warps must not stand in such a
    branch.

    ```mlir
    %rises = arith.cmpf ogt, %max, %bound : tensor<64x1xf32, #rows>
    %rare = tracea_pipe.any %rises : tensor<64x1xi1, #rows>
    scf.if %rare { ... }
    ```
  }];
  let arguments = (ins RegisterTile:$value);
  let results = (outs I1:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
  let hasVerifier = 1;
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
    the rows past the end of a matrix). What the `limits` leave out has
    unspecified contents, on which nothing may depend; a target may write zeros
    there. `map` is the coordinate map of an implicit matrix product.

    `reuse` is a hint to the caches: this memory is read `once` by all of the
    kernel, and need not be kept, or `often`.

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
    Variadic<Index>:$limits, Variadic<TraceaPipe_WalkType>:$walks,
    AffineMapAttr:$map,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$padded,
    DefaultValuedAttr<I64Attr, "1">:$slots,
    DefaultValuedAttr<TraceaPipe_ReuseAttr,
                      "::mlir::tracea_pipe::Reuse::Unknown">:$reuse,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$along);
  let results = (outs StagedTile:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$source,
      "::mlir::ValueRange":$indices, "::mlir::ValueRange":$limits,
      "::mlir::AffineMap":$map,
      CArg<"::llvm::ArrayRef<int64_t>", "{}">:$padded, CArg<"int64_t", "1">:$slots,
      CArg<"::mlir::tracea_pipe::Reuse", "::mlir::tracea_pipe::Reuse::Unknown">:$reuse), [{
    build($_builder, $_state, result, source, indices, limits,
          /*walks=*/::mlir::ValueRange(), map, padded, slots, reuse,
          ::llvm::ArrayRef<int64_t>());
  }]>];
  let assemblyFormat = [{
    $source `[` $indices `]` `map` $map
    (`along` $along^ `(` $walks `:` type($walks) `)`)? (`limits` `(` $limits^ `)`)?
    (`padded` $padded^)? (`slots` $slots^)? (`reuse` $reuse^)? attr-dict
    `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TraceaPipe_ViewOp : TraceaPipe_Op<"view", [Pure]> {
  let summary = "A window into a staged tile or a memref";
  let description = [{
    Element `t` of the view is `source[offsets + map(t)]`, with `map` linear. No
    data moves: one staged patch serves as the operand of many multiplies. The
    window may reach past the end of its source where nobody reads: it is the
    elements that are read which must be in bounds.

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
    between blocks, the scores of an attention, a tile on its way out of the
    registers. Its contents are arbitrary at the start of each tile. Inside of a
    role each team has its own. `tracea_pipe.sync` orders what lanes write before
    what other lanes, or a unit, read.

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

#endif
