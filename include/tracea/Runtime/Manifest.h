//===- Manifest.h - What a compiled program says about itself ---*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The manifest names the target, the kernels, the constants, and for every
// entry the launches in order with all sizes as integer expressions of the
// input shapes. These structs are filled by the compiler and read by the
// runtime; their JSON form has the same fields under the same names.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_MANIFEST_H
#define TRACEA_RUNTIME_MANIFEST_H

#include "tracea/Runtime/ElementType.h"
#include "tracea/Runtime/GPU.h"
#include "tracea/Runtime/Span.h"
#include "tracea/Runtime/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracea::runtime {

/// The manifest format that this runtime writes. It reads earlier ones as well:
/// format 1, whose certificates and remarks were plain text, format 2, whose
/// certificates have no digest, format 3, whose steps were all launches and
/// whose temp buffers held anything, and format 4, whose inputs were all
/// tensors, whose steps did not say what they write and come after, and which
/// named no image of a CPU's code.
inline constexpr int64_t manifestFormat = 5;

/// A size that is known only when the program runs.
inline constexpr int64_t dynamicSize = -1;

/// Operators of shape expressions, on int64; see Expr.h for their meaning.
enum class ExprOp : uint8_t {
  Const,
  Dim,
  Value,
  Add,
  Sub,
  Mul,
  FloorDiv,
  CeilDiv,
  Mod,
  Min,
  Max,
  Eq,
  Ne,
  Lt,
  Le,
  Select,
  DivMultiplier,
  DivShift
};
inline constexpr int numExprOps = 18;

/// The operator's name in the manifest: "const", "floordiv", ….
const char *nameOf(ExprOp op);
/// How many operands stand after the name: 1 for const, value, divmultiplier
/// and divshift, 3 for select, else 2.
int numOperands(ExprOp op);

/// One node. `const` has its value in `a`; `dim` has the input in `a` and the
/// axis in `b`; `value` has an input in `a` that is an integer; all others
/// refer to earlier nodes of the same entry by number, those of one operand to
/// it in `b` as well.
struct Expr {
  ExprOp op = ExprOp::Const;
  int64_t a = 0;
  int64_t b = 0;
  int64_t c = 0;
};

/// Where a program runs. `features` are LLVM's names of instruction set
/// extensions without a sign; all of them must be present.
struct TargetSpec {
  std::string kind;
  std::string arch;
  std::string name;
  std::vector<std::string> features;

  /// Whether kernels run on a grid of blocks, with all that the manifest says
  /// of it: every kind of target but "cpu".
  bool hasGrid() const { return kind != "cpu"; }
};

/// What a check of the compiler proved of a kernel. `check` names the method,
/// `claim` says what holds; from `model` the claim can be decided again without
/// the compiler's IR. It is empty where the check writes none. `digest` is of
/// these three, as the compiler wrote them.
struct CertificateSpec {
  std::string check;
  std::string claim;
  std::string model;
  std::string digest;
};

/// What a check could not decide, and why.
struct RemarkSpec {
  std::string check;
  std::string reason;
};

struct KernelSpec {
  std::string name;
  std::string symbol;
  /// The blob whose code defines `symbol`.
  int64_t blob = 0;
  /// Bytes of scratch memory for each thread that runs tiles.
  int64_t workspace = 0;
  /// Which variant the compiler chose and for which op; for people.
  std::string variant;
  std::string op;
  std::vector<CertificateSpec> certificates;
  std::vector<RemarkSpec> remarks;
  /// How it is launched; exactly where the target has a grid.
  std::optional<GPUKernelSpec> gpu = std::nullopt;
};

/// `size` bytes at `offset` of a blob.
struct ConstantSpec {
  int64_t blob = 0;
  int64_t offset = 0;
  int64_t size = 0;
};

struct InputSpec {
  std::string name;
  ElementType type = ElementType::F32;
  /// `dynamicSize` where only the run knows.
  std::vector<int64_t> shape;
  /// One number that the host knows when it launches, and no memory of a
  /// device; its shape is empty.
  bool isScalar = false;
  /// A tensor that is the same in many runs, a weight for instance: an
  /// Execution keeps it, and what depends on such inputs alone, until it is
  /// given another one.
  bool isConstant = false;
};

/// The run is refused with `message` where `expr` is zero.
struct CheckSpec {
  int64_t expr = 0;
  std::string message;
};

enum class BufferKind : uint8_t { Input, Constant, Temp, Table };

/// What a temp buffer holds before the first step that uses it.
enum class TempContents : uint8_t {
  /// Anything; it may share its memory with others.
  Any,
  /// Zeros, in every run.
  Zero,
  /// What the Execution's last run left there; zeros at first, and where its
  /// size has changed.
  Persistent,
  /// What steps computed of constants alone, before all runs; see Constants.h.
  Constant
};
inline constexpr int numTempContents = 4;
/// "any", "zero", "persistent", "constant".
const char *nameOf(TempContents contents);

/// A number of a table: the value of an expression, or of a scalar input of the
/// table's type.
struct TableValue {
  bool isInput = false;
  int64_t index = 0;
};

struct BufferSpec {
  BufferKind kind = BufferKind::Temp;
  /// Which input or constant.
  int64_t index = 0;
  /// For temp: the expression of its size in bytes, and its alignment.
  int64_t bytes = 0;
  int64_t align = 64;
  TempContents contents = TempContents::Any;
  /// For a table, which the run makes before its first step: the type and
  /// values of its elements. Of an expression an element takes the lowest bits.
  ElementType type = ElementType::Index;
  std::vector<TableValue> values;

  static BufferSpec input(int64_t index) {
    BufferSpec buffer;
    buffer.kind = BufferKind::Input;
    buffer.index = index;
    return buffer;
  }
  static BufferSpec constant(int64_t index) {
    BufferSpec buffer;
    buffer.kind = BufferKind::Constant;
    buffer.index = index;
    return buffer;
  }
  static BufferSpec temp(int64_t bytesExpr, int64_t align = 64,
                         TempContents contents = TempContents::Any) {
    BufferSpec buffer;
    buffer.bytes = bytesExpr;
    buffer.align = align;
    buffer.contents = contents;
    return buffer;
  }
  static BufferSpec table(ElementType type, std::vector<TableValue> values) {
    BufferSpec buffer;
    buffer.kind = BufferKind::Table;
    buffer.type = type;
    buffer.values = std::move(values);
    return buffer;
  }
};

/// A strided view of a buffer. Offset, sizes and strides are expressions whose
/// values count elements of `type`.
struct ViewSpec {
  int64_t buffer = 0;
  ElementType type = ElementType::F32;
  int64_t offset = 0;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

/// What a kernel gets of an argument.
enum class ArgKind : uint8_t {
  /// A view's address, sizes and strides.
  View,
  /// The value of an expression.
  Index,
  /// The value of a scalar input, of the input's type.
  Value,
  /// A view's address alone; for targets with a grid.
  Pointer,
  /// A tensor map of a view, by value; for targets with a grid.
  TensorMap
};

struct ArgSpec {
  ArgKind kind = ArgKind::Index;
  ViewSpec view;
  /// The number of an expression, or of a scalar input.
  int64_t index = 0;
  TensorMapSpec map;

  bool hasView() const {
    return kind != ArgKind::Index && kind != ArgKind::Value;
  }
  static ArgSpec fromView(ViewSpec view) {
    return make(ArgKind::View, std::move(view));
  }
  static ArgSpec fromPointer(ViewSpec view) {
    return make(ArgKind::Pointer, std::move(view));
  }
  static ArgSpec fromMap(TensorMapSpec map, ViewSpec view) {
    ArgSpec arg = make(ArgKind::TensorMap, std::move(view));
    arg.map = std::move(map);
    return arg;
  }
  static ArgSpec fromIndex(int64_t expr) {
    ArgSpec arg;
    arg.index = expr;
    return arg;
  }
  static ArgSpec fromValue(int64_t input) {
    ArgSpec arg;
    arg.kind = ArgKind::Value;
    arg.index = input;
    return arg;
  }

private:
  static ArgSpec make(ArgKind kind, ViewSpec view) {
    ArgSpec arg;
    arg.kind = kind;
    arg.view = std::move(view);
    return arg;
  }
};

enum class StepKind : uint8_t { Launch, Fill, Copy };

/// One launch: kernel number, expression of the number of tiles, arguments. Or
/// a fill of the view that is its one argument, or a copy from the first to the
/// second of two: each one piece of memory, of a temp buffer where it is
/// written.
struct StepSpec {
  int64_t kernel = 0;
  int64_t tiles = 0;
  std::vector<ArgSpec> args;
  /// For targets with a grid: expressions of the blocks along x, y, z.
  std::vector<int64_t> grid;
  StepKind kind = StepKind::Launch;
  /// Of a fill: what all bytes are set to.
  int64_t value = 0;
  /// Of a launch: the temp buffers that it may write; it only reads the others.
  std::vector<int64_t> writes;
  /// The earlier steps that have to end before this one begins: at least those
  /// of `findDependencies`.
  std::vector<int64_t> after;

  bool isLaunch() const { return kind == StepKind::Launch; }
  static StepSpec fill(ViewSpec view, int64_t value) {
    StepSpec step;
    step.kind = StepKind::Fill;
    step.args.push_back(ArgSpec::fromView(std::move(view)));
    step.value = value;
    return step;
  }
  static StepSpec copy(ViewSpec from, ViewSpec to) {
    StepSpec step;
    step.kind = StepKind::Copy;
    step.args.push_back(ArgSpec::fromView(std::move(from)));
    step.args.push_back(ArgSpec::fromView(std::move(to)));
    return step;
  }
};

struct OutputSpec {
  ElementType type = ElementType::F32;
  ViewSpec view;
};

struct EntrySpec {
  std::string name;
  std::vector<Expr> exprs;
  std::vector<InputSpec> inputs;
  std::vector<CheckSpec> checks;
  std::vector<BufferSpec> buffers;
  std::vector<StepSpec> steps;
  std::vector<OutputSpec> outputs;
};

struct Manifest {
  int64_t format = manifestFormat;
  std::string producer;
  TargetSpec target;
  std::vector<KernelSpec> kernels;
  std::vector<ConstantSpec> constants;
  std::vector<EntrySpec> entries;
  /// What stands in the blobs of code.
  std::vector<ImageSpec> images;

  /// The entry of that name, or null.
  const EntrySpec *findEntry(const std::string &name) const;
};

/// Bytes of the parameters of a kernel on a grid that stand for an argument, in
/// their order, where sizes, strides and indices take `word` bytes.
std::vector<int64_t> parameterBytes(const EntrySpec &entry, const ArgSpec &arg,
                                    int64_t word);

/// Bounds on what is accepted as a manifest. They keep a hostile file from
/// costing more than its size; no program of use comes near them.
struct ManifestLimits {
  uint64_t maxJsonBytes = uint64_t(64) << 20;
  uint64_t maxJsonDepth = 16;
  int64_t maxRank = 32;
  uint64_t maxTempBuffers = 16384;
  int64_t maxWorkspace = int64_t(1) << 32;
  int64_t maxAlign = 1 << 21;
  /// Of a kernel on a grid: what all devices take.
  int64_t maxParameterBytes = 4096;
  uint64_t maxCertificates = 64;
  uint64_t maxRemarks = 4096;
  uint64_t maxAssertions = 4096;
  uint64_t maxClaimBytes = 4096;
  uint64_t maxModelBytes = 1 << 20;
};

/// The manifest as JSON text. Fails when a string is not UTF-8.
Expected<std::string> toJSON(const Manifest &manifest);

/// Reads JSON text; unknown, missing and repeated fields are errors, with the
/// JSON path (`$.entries[0].exprs[3]`) or the byte offset of a syntax error.
/// References are not looked at: `validate` does that.
Expected<Manifest> manifestFromJSON(const std::string &text,
                                    const ManifestLimits &limits = {});

/// Checks every reference of the manifest against what it refers to: blobs of
/// these sizes, kernels, constants, inputs, axes, earlier expressions, buffers;
/// that names are unique, ranks agree and alignments are powers of two; and
/// that a kernel has one certificate a check. What they claim is not looked at.
Status validate(const Manifest &manifest, Span<const uint64_t> blobSizes,
                const ManifestLimits &limits = {});

/// Builds the expressions of an entry. Equal nodes are shared and operators on
/// constants are folded where the result is defined; every function returns
/// the number of the node. Borrows the vector it appends to.
class ExprBuilder {
public:
  explicit ExprBuilder(std::vector<Expr> &exprs) : exprs(exprs) {}

  int64_t constant(int64_t value);
  int64_t dim(int64_t input, int64_t axis);
  int64_t value(int64_t input) { return node(ExprOp::Value, input); }
  int64_t add(int64_t a, int64_t b) { return node(ExprOp::Add, a, b); }
  int64_t sub(int64_t a, int64_t b) { return node(ExprOp::Sub, a, b); }
  int64_t mul(int64_t a, int64_t b) { return node(ExprOp::Mul, a, b); }
  int64_t floorDiv(int64_t a, int64_t b) {
    return node(ExprOp::FloorDiv, a, b);
  }
  int64_t ceilDiv(int64_t a, int64_t b) { return node(ExprOp::CeilDiv, a, b); }
  int64_t mod(int64_t a, int64_t b) { return node(ExprOp::Mod, a, b); }
  int64_t min(int64_t a, int64_t b) { return node(ExprOp::Min, a, b); }
  int64_t max(int64_t a, int64_t b) { return node(ExprOp::Max, a, b); }
  int64_t eq(int64_t a, int64_t b) { return node(ExprOp::Eq, a, b); }
  int64_t ne(int64_t a, int64_t b) { return node(ExprOp::Ne, a, b); }
  int64_t lt(int64_t a, int64_t b) { return node(ExprOp::Lt, a, b); }
  int64_t le(int64_t a, int64_t b) { return node(ExprOp::Le, a, b); }
  int64_t select(int64_t c, int64_t a, int64_t b) {
    return node(ExprOp::Select, c, a, b);
  }
  int64_t divMultiplier(int64_t a) { return node(ExprOp::DivMultiplier, a, a); }
  int64_t divShift(int64_t a) { return node(ExprOp::DivShift, a, a); }
  int64_t node(ExprOp op, int64_t a, int64_t b = 0, int64_t c = 0);

  /// A row-major view of `sizes` (expressions) at offset 0.
  ViewSpec rowMajorView(int64_t buffer, ElementType type,
                        Span<const int64_t> sizes);
  /// The bytes of a row-major tensor of `sizes`.
  int64_t rowMajorBytes(ElementType type, Span<const int64_t> sizes);

private:
  std::vector<Expr> &exprs;
};

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_MANIFEST_H
