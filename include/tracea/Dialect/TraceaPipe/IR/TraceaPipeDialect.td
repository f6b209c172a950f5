//===- TraceaPipeDialect.td - The pipeline dialect -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPEDIALECT_TD
#define TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPEDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"

def TraceaPipe_Dialect : Dialect {
  let name = "tracea_pipe";
  let cppNamespace = "::mlir::tracea_pipe";
  let summary = "Where the tiles of a kernel live, and when they move";
  let description = [{
    Kernels over tiles. A *register tile* is a ranked tensor whose encoding is
    its lane map (`#tracea_pipe.lanes`), so that arith and math work on it
    unchanged. A *staged tile* is a tensor whose encoding is
    `#tracea_pipe.staged` at the tile level, and a memref in that memory space
    once the pipeline level has given it a slot of a channel. Nothing here
    names an instruction of a vendor.

    What moves between a tile and memory is said by the same operands in every
    operation that does so (`load`, `store`, `prefetch`, `stage`, `copy`,
    `copy_out`):

    - Element `t` of the tile has its place at `indices + map(t)`. `map` is
      linear in the tile's coordinates, with coefficients of either sign.
    - A dimension of the tile that is listed in `along` walks through several
      coordinates: `walks` says through which, and they take its place among the
      dimensions of `map`. So the rows of a tile are pixels that follow each
      other across rows and images (the coordinate map of an implicit GEMM), or
      rows that a table lists (a gather). `load`, `store`, `stage` and `copy`
      take walks.
    - With `limits`, one for each dimension of the tile, element `t` takes part
      where `0 <= t < min(limit, extent)` in each dimension. A limit may lie
      beyond the tile, and leaves all of it; or be zero or negative, and leaves
      nothing. What does not take part is neither read nor written in memory.
    - Where a place lies outside of memory in a `padded` dimension, nothing is
      read there: the element is zero. In all other dimensions it must not: that
      each place that takes part is in bounds is for who writes the operation to
      see to, and for `tracea-verify-coverage` to prove.

    `getTileTransfer` reads these operands, for verifiers, proofs and lowerings
    alike.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
  let extraClassDeclaration = [{
    void registerAttributesAndTypes();
  }];
}

class TraceaPipe_Op<string mnemonic, list<Trait> traits = []>
    : Op<TraceaPipe_Dialect, mnemonic, traits>;
class TraceaPipe_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<TraceaPipe_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}
class TraceaPipe_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<TraceaPipe_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def TraceaPipe_LanesAttr : TraceaPipe_Attr<"Lanes", "lanes",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "Lane map of a register tile";
  let description = [{
    A linear map over F2 from the bits of the hardware index (register, lane,
    warp) to the tile's coordinates, one basis vector per bit, low bit first.
    `outer` repeats the linear tile along each dimension, so that extents need
    not be powers of two: extent = linear extent * outer; the repeats belong to
    registers, slowest first in dimension order. A zero vector is a broadcast.
    The map covers its tile: the vectors span all coordinates below the linear
    extents. The shape of a register tile is the one that its map covers.

    An 8x32 tile in sixteen 16-lane vectors:
    ```mlir
    #tracea_pipe.lanes<reg = [[0, 16], [1, 0], [2, 0], [4, 0]],
                       lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::DenseI64ArrayAttr", "register bits">:$reg,
    ArrayRefParameter<"::mlir::DenseI64ArrayAttr", "lane bits">:$lane,
    ArrayRefParameter<"::mlir::DenseI64ArrayAttr", "warp bits">:$warp,
    ArrayRefParameter<"int64_t", "repeats per dimension">:$outer
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    unsigned getRank() const { return getOuter().size(); }
    /// Extents of the tile that the map covers.
    ::llvm::SmallVector<int64_t> getTileShape() const;
    /// Registers one lane holds, lanes, and warps.
    int64_t getNumRegisters() const;
    int64_t getNumLanes() const { return int64_t(1) << getLane().size(); }
    int64_t getNumWarps() const { return int64_t(1) << getWarp().size(); }
    /// Tile coordinate held by lane `lane` of warp `warp` in register `reg`.
    ::llvm::SmallVector<int64_t> getCoordinate(int64_t reg, int64_t lane,
                                               int64_t warp = 0) const;
    /// The dimension along which consecutive lanes are consecutive elements,
    /// or nothing when lanes do not form one contiguous run.
    std::optional<unsigned> getContiguousLaneDim() const;
    /// Whether lanes and registers do not meet in a coordinate bit, so that
    /// coordinate(reg, lane) = coordinate(reg, 0) + coordinate(0, lane).
    bool hasSeparateLanes() const;
    /// A row-major tile of CPU vectors: lanes along the last dimension, then
    /// vectors along it, then rows. `shape.back()` is a multiple of `lanes`.
    /// Register i holds the i-th vector in row-major order, for every shape.
    static LanesAttr getVectorTile(::mlir::MLIRContext *context,
                                   ::llvm::ArrayRef<int64_t> shape,
                                   int64_t lanes);
    /// The map of a tile reduced along `dim` to extent `groups`: every lane and
    /// register of a reduced group holds the same value. Null where a group is
    /// neither all of the tile nor a power of two that divides the extent of
    /// the linear map.
    LanesAttr getReduced(unsigned dim, int64_t groups = 1) const;
  }];
}

def TraceaPipe_StagedAttr : TraceaPipe_Attr<"Staged", "staged",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "Memory of a workgroup, with the swizzle of a buffer in it";
  let description = [{
    Encoding of a staged tile, and memory space of the memref it becomes: the
    memory that one workgroup shares (shared memory, LDS, threadgroup memory, a
    workspace panel on a CPU). `swizzle` lists the XOR terms of the buffer's
    swizzle as pairs [bit, source bit] over the byte offset's bits; none is the
    identity. A `panel` of p elements cuts the last dimension into panels, each
    of which holds its p columns of all rows before the next one begins; offsets
    are those of this order. What is staged has a static shape of at most 2^31
    elements, which are floats or signless integers of 1, 8, 16, 32 or 64 bits.

    A 64x256 tile as four panels with rows of 128 bytes:
    ```mlir
    memref<64x256xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9], panel = 64>>
    ```
  }];
  let parameters = (ins
    OptionalArrayRefParameter<"int64_t", "flattened pairs (bit, source bit)">:$swizzle,
    DefaultValuedParameter<"int64_t", "0", "columns of a panel, or 0">:$panel
  );
  let builders = [AttrBuilder<(ins CArg<"::llvm::ArrayRef<int64_t>", "{}">:$swizzle), [{
    return $_get($_ctxt, swizzle, 0);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TraceaPipe_CertificateAttr : TraceaPipe_Attr<"Certificate", "certificate"> {
  let summary = "What a check has proved of a kernel";
  let description = [{
    `check` names the method, `claim` says in words and figures what holds, and
    `model` is the text from which the claim can be decided again without the
    IR, where the check writes one. None has line breaks. A kernel lists its
    certificates, one a check, in `tracea_pipe.certificates`;
    `tracea_pipe.certified` is the fingerprint of the kernel that they are
    about. What could not be decided is in `tracea_pipe.remarks`.
    ```mlir
    #tracea_pipe.certificate<check = "protocol",
        claim = "2 roles, 1 channels, every trip count">
    ```
  }];
  let parameters = (ins
    StringRefParameter<"the method">:$check,
    StringRefParameter<"what holds">:$claim,
    StringRefParameter<"what decides it again", [{""}]>:$model
  );
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def TraceaPipe_DefinitionAttr : TraceaPipe_Attr<"Definition", "definition"> {
  let summary = "Which elements a result of a kernel is a sum of products of";
  let description = [{
    What the operation that a kernel is a lowering of says of argument `result`:
    its element (d0, d1, ...) is computed from the sum, over all values of the
    dimensions of the maps beyond the result's rank, of the products of the
    first `factors` operands, and from one element of each of the others. Map i
    gives the element of argument `operands[i]` that is read; beyond the extents
    of an argument elements are zero. A dimension that is summed over is, by
    itself, a result of the map of some factor, whose extent there is its end.
    Maps have no symbols, or one for each extent of each factor, in order: which
    group a channel is of is a quotient by how many of them a group has. Behind
    these they may have one for each of the `tables`: the number that a kernel
    gathers along its argument `tables[i]` at place `places[i]` of (d0, d1, ...),
    as `tracea_pipe.gather` finds it.

    The kernel is compared with it (`tracea-verify-coverage`), so that a wrong
    row, column, step or tap of an operand is found. What an epilogue computes
    from the elements is not said here.
    ```mlir
    #tracea_pipe.definition<result = 2, factors = 2, operands = [0, 1],
        maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>]>
    ```
    Of rows that argument 2 lists, in factors of two extents each:
    ```mlir
    #tracea_pipe.definition<result = 3, factors = 2, operands = [0, 1],
        maps = [affine_map<(m, n, k)[x0, x1, w0, w1, row] -> (row, k)>,
                affine_map<(m, n, k) -> (k, n)>],
        tables = [2], places = [affine_map<(m, n, k) -> (m)>]>
    ```
  }];
  let parameters = (ins
    "int64_t":$result, "int64_t":$factors,
    ArrayRefParameter<"int64_t", "arguments of the kernel">:$operands,
    "::mlir::ArrayAttr":$maps,
    OptionalArrayRefParameter<"int64_t", "arguments that are gathered along">:$tables,
    OptionalParameter<"::mlir::ArrayAttr", "which of their numbers">:$places
  );
  let builders = [AttrBuilder<(ins "int64_t":$result, "int64_t":$factors,
      "::llvm::ArrayRef<int64_t>":$operands, "::mlir::ArrayAttr":$maps), [{
    return $_get($_ctxt, result, factors, operands, maps,
                 ::llvm::ArrayRef<int64_t>(), ::mlir::ArrayAttr());
  }]>];
  let assemblyFormat = "`<` `result` `=` $result `,` `factors` `=` $factors `,` `operands` `=` `[` $operands `]` `,` `maps` `=` $maps (`,` `tables` `=` `[` $tables^ `]` `,` `places` `=` $places)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::mlir::AffineMap getMap(unsigned operand) const {
      return ::llvm::cast<::mlir::AffineMapAttr>(getMaps()[operand]).getValue();
    }
    ::mlir::AffineMap getPlace(unsigned table) const {
      return ::llvm::cast<::mlir::AffineMapAttr>(getPlaces()[table]).getValue();
    }
    /// Dimensions of the result and those that are summed over.
    unsigned getNumDims() const { return getMap(0).getNumDims(); }
  }];
}

def TraceaPipe_DefinitionArrayAttr
    : TypedArrayAttrBase<TraceaPipe_DefinitionAttr, "definitions of results">;

def TraceaPipe_BandAttr : TraceaPipe_Attr<"Band", "band"> {
  let summary = "Which terms of a sum an element of a result needs";
  let description = [{
    What an operation says whose sums leave terms out that are zero. The element
    at index i along dimension `dim` of argument `result` needs of the terms
    along dimension `dims[k]` of argument `operands[k]` those at j with
    i + s - before <= j <= i + s + after, where s is how much longer the sum is
    than the result: both end at one place. A negative `before` or `after` is no
    bound.

    A kernel may leave out the others, and is compared with it
    (`tracea-verify-coverage`): each tile visits all that its elements need, and
    each of what it visits once.
    ```mlir
    #tracea_pipe.band<result = 3, dim = 2, operands = [1, 2], dims = [2, 2], after = 0>
    ```
  }];
  let parameters = (ins
    "int64_t":$result, "int64_t":$dim,
    ArrayRefParameter<"int64_t", "arguments of the kernel">:$operands,
    ArrayRefParameter<"int64_t", "their dimensions">:$dims,
    DefaultValuedParameter<"int64_t", "-1", "terms before the element's place">:$before,
    DefaultValuedParameter<"int64_t", "-1", "terms after it">:$after
  );
  let assemblyFormat = "`<` struct($result, $dim, custom<Integers>($operands), custom<Integers>($dims), $before, $after) `>`";
}

def TraceaPipe_PipelineAttr : TraceaPipe_Attr<"Pipeline", "pipeline"> {
  let summary = "How the work of a kernel is to be divided among its warps";
  let description = [{
    What a schedule says of the pipeline level, on kernels for targets with warp
    roles: `teams` of `warps` warps each multiply, beside one role that copies;
    `registers` are the budgets of both. With `workgroups`, so many at most walk
    over the tiles of the grid; with none each tile has a workgroup of its own.
    `pending` groups of multiplies may be in flight when a slot is given back.
    `residents` workgroups share a multiprocessor: while one finishes a tile,
    the others multiply. With `ping_pong` all `teams` are there so many times, and
    take tiles in turn: while some finish a tile, the others multiply.

    ```mlir
    #tracea_pipe.pipeline<teams = 2, warps = 4, registers = [40, 232],
                          workgroups = 132, pending = 1>
    ```
  }];
  let parameters = (ins
    DefaultValuedParameter<"int64_t", "1", "teams that multiply">:$teams,
    DefaultValuedParameter<"int64_t", "4", "warps of a team">:$warps,
    OptionalArrayRefParameter<"int64_t", "budgets of copier and multiplier">:$registers,
    DefaultValuedParameter<"int64_t", "0", "workgroups of the grid, or 0">:$workgroups,
    DefaultValuedParameter<"int64_t", "0", "groups in flight at a release">:$pending,
    DefaultValuedParameter<"int64_t", "1", "workgroups of a multiprocessor">:$residents,
    DefaultValuedParameter<"int64_t", "1", "teams that take tiles in turn">:$ping_pong
  );
  let assemblyFormat = "`<` struct($teams, $warps, custom<Integers>($registers), $workgroups, $pending, $residents, $ping_pong) `>`";
  let genVerifyDecl = 1;
}

def TraceaPipe_ReduceKind : I32EnumAttr<"ReduceKind", "Reduction of a tile", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Mul", 3, "mul">]> {
  let cppNamespace = "::mlir::tracea_pipe";
  let genSpecializedAttr = 0;
}
def TraceaPipe_ReduceKindAttr
    : EnumAttr<TraceaPipe_Dialect, TraceaPipe_ReduceKind, "reduce_kind"> {
  let assemblyFormat = "$value";
}

def TraceaPipe_Unit : I32EnumAttr<"Unit", "Unit that runs beside its role", [
    I32EnumAttrCase<"Mma", 0, "mma">, I32EnumAttrCase<"Copy", 1, "copy">]> {
  let cppNamespace = "::mlir::tracea_pipe";
  let genSpecializedAttr = 0;
}
def TraceaPipe_UnitAttr : EnumAttr<TraceaPipe_Dialect, TraceaPipe_Unit, "unit"> {
  let assemblyFormat = "$value";
}

def TraceaPipe_Reuse : I32EnumAttr<"Reuse", "Whether memory is read again", [
    I32EnumAttrCase<"Unknown", 0, "unknown">, I32EnumAttrCase<"Once", 1, "once">,
    I32EnumAttrCase<"Often", 2, "often">]> {
  let cppNamespace = "::mlir::tracea_pipe";
  let genSpecializedAttr = 0;
}
def TraceaPipe_ReuseAttr : EnumAttr<TraceaPipe_Dialect, TraceaPipe_Reuse, "reuse"> {
  let assemblyFormat = "$value";
}

def TraceaPipe_Precision : I32EnumAttr<"Precision", "What a product keeps of operands of f32", [
    I32EnumAttrCase<"Full", 0, "full">, I32EnumAttrCase<"TF32", 1, "tf32">,
    I32EnumAttrCase<"TF32x3", 2, "tf32x3">]> {
  let cppNamespace = "::mlir::tracea_pipe";
  let genSpecializedAttr = 0;
}
def TraceaPipe_PrecisionAttr
    : EnumAttr<TraceaPipe_Dialect, TraceaPipe_Precision, "precision"> {
  let assemblyFormat = "$value";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def TraceaPipe_PhaseType : TraceaPipe_Type<"Phase", "phase"> {
  let summary = "Position in a ring of n slots: an element of Z/2nZ";
  let description = [{
    `slot = p mod n`, `parity = p div n`. Only `tracea_pipe.start` and
    `tracea_pipe.advance` make phases, so that a wrong parity cannot be written.
  }];
  let parameters = (ins "int64_t":$slots);
  let assemblyFormat = "`<` $slots `>`";
  let genVerifyDecl = 1;
}

def TraceaPipe_ChannelType : TraceaPipe_Type<"Channel", "channel"> {
  let summary = "A ring of slots between who fills and who reads";
  let description = [{
    Each of the `slots` slots holds one buffer of every listed type; the buffers
    of a slot are filled and released together.
    ```mlir
    !tracea_pipe.channel<4 x (memref<128x64xbf16, #tracea_pipe.staged>)>
    ```
  }];
  let parameters = (ins "int64_t":$slots, ArrayRefParameter<"::mlir::Type">:$buffers);
  let assemblyFormat = "`<` $slots `x` `(` $buffers `)` `>`";
  let genVerifyDecl = 1;
}

def TraceaPipe_InFlightType : TraceaPipe_Type<"InFlight", "in_flight"> {
  let summary = "A register tile that a matrix unit is still writing";
  let description = [{
    Made by `tracea_pipe.mma_async`, turned into its `tile` by `tracea_pipe.wait_group`. Loops
    may carry it.
    ```mlir
    !tracea_pipe.in_flight<tensor<64x256xf32, #lanes>>
    ```
  }];
  let parameters = (ins "::mlir::RankedTensorType":$tile);
  let assemblyFormat = "`<` $tile `>`";
  let genVerifyDecl = 1;
}

def TraceaPipe_WalkType : TraceaPipe_Type<"Walk", "walk"> {
  let summary = "The coordinates that a dimension of a tile walks through";
  let description = [{
    For each coordinate t of the dimension, `coordinates` coordinates. What they
    are the operation says that makes it.
    ```mlir
    !tracea_pipe.walk<3>
    ```
  }];
  let parameters = (ins "int64_t":$coordinates);
  let assemblyFormat = "`<` $coordinates `>`";
  let genVerifyDecl = 1;
}

def TraceaPipe_OrderBarrierType : TraceaPipe_Type<"OrderBarrier", "order_barrier"> {
  let summary = "A barrier that orders the teams of a role";
  let parameters = (ins "int64_t":$teams);
  let assemblyFormat = "`<` $teams `>`";
  let genVerifyDecl = 1;
}

#endif
