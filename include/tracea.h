/*===- tracea.h - Tracea for C ------------------------------------*- C -*-===*\
|*
|* Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|* One header, C99 and C++. Link libtracea-runtime; the compiler, libtracea, is
|* loaded when a call first needs one. It is looked for beside the runtime, or
|* where the environment variable TRACEA_COMPILER_LIBRARY says.
|*
|* Rules that hold for all functions:
|*   - What can fail returns a TraceaStatus; tracea_get_last_error has the
|*     message, for each thread by itself. Outputs are written on success only.
|*   - Handles are made by ..._create, _load or _compile and end with ..._free,
|*     which takes NULL. They may be used from any thread; a TraceaExecution and
|*     a TraceaGraph by one thread at a time. One that was freed is refused.
|*   - Tensors belong to the caller. On a GPU a call returns when its work is
|*     enqueued on the stream; memory must live until that has run. On the CPU
|*     it returns when the work is done.
|*   - Text comes in a buffer of the caller's: `length`, where it is not NULL,
|*     receives the text's length without the terminating zero, also where the
|*     buffer was too small, in which case as much as fits is there.
|*   - Structs grow: `size` is sizeof the struct as the caller knows it, and
|*     what is `reserved` must be zero. The initialisers below do both.
|*
\*===----------------------------------------------------------------------===*/

#ifndef TRACEA_H
#define TRACEA_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define TRACEA_API
#else
#define TRACEA_API __attribute__((visibility("default")))
#endif

/* Enumerations are ints, of which callers may give any. */
#ifdef __cplusplus
#define TRACEA_OF_INT : int
extern "C" {
#else
#define TRACEA_OF_INT
#endif

/** The interface that this header declares. A library with a greater number
 *  has all of it; tracea_abi_version tells. */
#define TRACEA_ABI_VERSION 2

/*===----------------------------------------------------------------------===*\
|* Errors
\*===----------------------------------------------------------------------===*/

typedef enum TraceaStatus TRACEA_OF_INT {
  TRACEA_SUCCESS = 0,
  /** An argument is not what it has to be; the message names it. */
  TRACEA_INVALID_PARAMS = 1,
  /** Valid, but not to be had here: a type, a target, a layout. */
  TRACEA_UNSUPPORTED_CONFIG = 2,
  TRACEA_CUDA_ERROR = 3,
  TRACEA_CPU_ERROR = 4,
  TRACEA_HIP_ERROR = 5,
  TRACEA_METAL_ERROR = 6,
  TRACEA_OUT_OF_MEMORY = 7,
  /** A file could not be read or written, or is not what it should be. */
  TRACEA_IO_ERROR = 8,
  /** The compiler's library could not be loaded. */
  TRACEA_NO_COMPILER = 9,
  TRACEA_INTERNAL_ERROR = 10
} TraceaStatus;

/** "TRACEA_SUCCESS", …; "unknown status" for other numbers. */
TRACEA_API const char *tracea_status_name(TraceaStatus status);

/** The message of the last call of this thread that failed, with its
 *  terminating zero, cut to `size` bytes. Returns its whole length without the
 *  zero; 0 where nothing failed since tracea_clear_error. */
TRACEA_API size_t tracea_get_last_error(uint8_t *buffer, size_t size);
TRACEA_API void tracea_clear_error(void);

/** "0.1.0". */
TRACEA_API const char *tracea_version(void);
/** TRACEA_ABI_VERSION of the library. */
TRACEA_API uint32_t tracea_abi_version(void);

/*===----------------------------------------------------------------------===*\
|* Tensors
\*===----------------------------------------------------------------------===*/

typedef enum TraceaDType TRACEA_OF_INT {
  TRACEA_FLOAT32 = 0,
  TRACEA_FLOAT16 = 1,
  TRACEA_BFLOAT16 = 2,
  TRACEA_FLOAT64 = 3,
  TRACEA_INT8 = 4,
  TRACEA_INT16 = 5,
  TRACEA_INT32 = 6,
  TRACEA_INT64 = 7,
  /** One byte, 0 or 1. */
  TRACEA_BOOL = 8,
  TRACEA_FLOAT8_E4M3FN = 9,
  TRACEA_FLOAT8_E5M2 = 10
} TraceaDType;

/** Device numbers: the CPU, or the number of a GPU. */
#define TRACEA_CPU (-1)
/** An extent that only the run knows, in shapes of graphs and programs. */
#define TRACEA_DYNAMIC (-1)
#define TRACEA_MAX_RANK 8

/** A tensor of the caller's. It owns nothing. */
typedef struct TraceaTensorView {
  /** The first element, in memory of the device; aligned to the element's
   *  size. NULL where the tensor has no elements. */
  void *ptr;
  /** At most TRACEA_MAX_RANK. */
  uint32_t rank;
  const uint64_t *shape;
  /** In elements, not negative; NULL is row-major. */
  const int64_t *stride;
  TraceaDType dtype;
  /** TRACEA_CPU, or the number of a GPU. */
  int32_t device_id;
} TraceaTensorView;

struct DLTensor;
struct DLManagedTensor;

/** Views the memory of a DLPack tensor, whose shape and strides the view
 *  borrows: it is valid as long as `tensor` is. */
TRACEA_API TraceaStatus tracea_view_from_dlpack(const struct DLTensor *tensor,
                                                TraceaTensorView *view);
/** A DLPack tensor over the view's memory, with a copy of its shape. `release`,
 *  where it is not NULL, is called with `context` when the consumer has
 *  finished with it. */
TRACEA_API TraceaStatus tracea_view_to_dlpack(const TraceaTensorView *view,
                                              void (*release)(void *context),
                                              void *context,
                                              struct DLManagedTensor **tensor);

/*===----------------------------------------------------------------------===*\
|* Devices and memory
\*===----------------------------------------------------------------------===*/

/** What a device is, as one JSON object: kind, name, arch, target, features,
 *  parallelism. */
TRACEA_API TraceaStatus tracea_device_describe(int32_t device_id, char *buffer,
                                               size_t size, size_t *length);
/** Waits until nothing runs on the device. */
TRACEA_API TraceaStatus tracea_device_synchronize(int32_t device_id);

/** Where temporary memory of GPU runs comes from: a framework's caching
 *  allocator for instance. */
typedef struct TraceaAllocator {
  size_t size;
  /** Memory of `bytes` bytes, aligned to `alignment`, for work on `stream`;
   *  NULL where there is none. */
  void *(*allocate)(void *context, size_t bytes, size_t alignment,
                    int32_t device_id, void *stream);
  void (*release)(void *context, void *memory, size_t bytes, int32_t device_id,
                  void *stream);
  void *context;
} TraceaAllocator;

/** For all executions that are made from now on, and for the operators; NULL is
 *  the driver's own. What was allocated ends with the allocator that gave it.
 */
TRACEA_API TraceaStatus tracea_set_allocator(const TraceaAllocator *allocator);

/*===----------------------------------------------------------------------===*\
|* Operators
|*
|* The first call for a problem compiles a program, or finds it in the cache;
|* later ones launch it. A problem that differs from an earlier one in the
|* number of images, rows or keys alone gets a program for any number of them.
|* Strided views are taken as they are: channels-last, transposed, slices.
|* `out` may not overlap an input.
\*===----------------------------------------------------------------------===*/

/** What is done to a sum before it is stored. */
typedef enum TraceaEpilogue TRACEA_OF_INT {
  TRACEA_EPILOGUE_NONE = 0,
  TRACEA_EPILOGUE_RELU = 1,
  TRACEA_EPILOGUE_RELU6 = 2,
  /** x / (1 + exp(-x)) */
  TRACEA_EPILOGUE_SILU = 3,
  /** x/2 (1 + erf(x / sqrt(2))) */
  TRACEA_EPILOGUE_GELU = 4,
  /** The approximation of GELU by tanh. */
  TRACEA_EPILOGUE_GELU_TANH = 5,
  TRACEA_EPILOGUE_SIGMOID = 6,
  TRACEA_EPILOGUE_TANH = 7
} TraceaEpilogue;

typedef enum TraceaPrecision TRACEA_OF_INT {
  /** Products of f32 as such. */
  TRACEA_PRECISION_EXACT = 0,
  /** Operands of f32 may be rounded to tf32, which has 10 bits. */
  TRACEA_PRECISION_TF32 = 1,
  /** They may be split into two parts of tf32. */
  TRACEA_PRECISION_TF32X3 = 2
} TraceaPrecision;

typedef enum TraceaLayout TRACEA_OF_INT {
  /** Images [N, C, H, W], filters [K, C/groups, R, S]. */
  TRACEA_LAYOUT_NCHW = 0,
  /** Images [N, H, W, C], filters [K, R, S, C/groups]. */
  TRACEA_LAYOUT_NHWC = 1
} TraceaLayout;

typedef struct TraceaConv2dParams {
  uint32_t stride_h, stride_w;
  uint32_t pad_top, pad_left, pad_bottom, pad_right;
  uint32_t dilation_h, dilation_w;
  uint32_t groups;
  /** The order of the dimensions in the shapes of x, w, out and residual.
   *  Strides say what lies beside what. */
  TraceaLayout layout;
  TraceaEpilogue epilogue;
  TraceaPrecision precision;
  /** NULL, or of out's shape: added before the epilogue's function. */
  const TraceaTensorView *residual;
  /** A CUstream of the device's primary context; NULL is the default stream.
   *  Not used on the CPU. */
  void *stream;
  uint64_t reserved[4];
} TraceaConv2dParams;
#define TRACEA_CONV2D_PARAMS_INIT                                              \
  {1,                                                                          \
   1,                                                                          \
   0,                                                                          \
   0,                                                                          \
   0,                                                                          \
   0,                                                                          \
   1,                                                                          \
   1,                                                                          \
   1,                                                                          \
   TRACEA_LAYOUT_NCHW,                                                         \
   TRACEA_EPILOGUE_NONE,                                                       \
   TRACEA_PRECISION_EXACT,                                                     \
   NULL,                                                                       \
   NULL,                                                                       \
   {0, 0, 0, 0}}

/** out = epilogue(convolution of x with w + b + residual). b is NULL or [K].
 *  out has ((H + pad_top + pad_bottom - dilation_h (R - 1) - 1) / stride_h) + 1
 *  rows. */
TRACEA_API TraceaStatus tracea_conv2d(TraceaTensorView x, TraceaTensorView w,
                                      const TraceaTensorView *b,
                                      TraceaTensorView *out,
                                      TraceaConv2dParams params);

/** Gradients of a convolution, whose parameters these are; `grad` is that of
 *  its sum, before an epilogue: `epilogue` is none, and there is no `residual`.
 *  out = the gradient by x, which has the shape of x. It is also the transposed
 *  convolution of `grad`. */
TRACEA_API TraceaStatus tracea_conv2d_dgrad(TraceaTensorView grad,
                                            TraceaTensorView w,
                                            TraceaTensorView *out,
                                            TraceaConv2dParams params);
/** out = the gradient by w, which has the shape of w. Its sums are the same on
 *  every run. */
TRACEA_API TraceaStatus tracea_conv2d_wgrad(TraceaTensorView x,
                                            TraceaTensorView grad,
                                            TraceaTensorView *out,
                                            TraceaConv2dParams params);

typedef struct TraceaGemmParams {
  /** Non-zero: a is [.., k, m], b is [.., n, k]. */
  int32_t transpose_a, transpose_b;
  TraceaEpilogue epilogue;
  TraceaPrecision precision;
  /** Factor of the product, before anything is added. */
  float alpha;
  uint32_t reserved0;
  /** NULL, or of out's shape: added before the epilogue's function. */
  const TraceaTensorView *residual;
  void *stream;
  uint64_t reserved[4];
} TraceaGemmParams;
#define TRACEA_GEMM_PARAMS_INIT                                                \
  {0,    0,    TRACEA_EPILOGUE_NONE, TRACEA_PRECISION_EXACT, 1.0f, 0,          \
   NULL, NULL, {0, 0, 0, 0}}

/** out = epilogue(alpha a b + bias + residual); a [.., m, k], b [.., k, n],
 *  out [.., m, n], bias NULL or [n]. Leading dimensions are a batch; an operand
 *  of rank 2 is shared by all of it. */
TRACEA_API TraceaStatus tracea_gemm(TraceaTensorView a, TraceaTensorView b,
                                    const TraceaTensorView *bias,
                                    TraceaTensorView *out,
                                    TraceaGemmParams params);

typedef struct TraceaGroupedGemmParams {
  /** Non-zero: each matrix of b is [n, k]. */
  int32_t transpose_b;
  TraceaPrecision precision;
  void *stream;
  uint64_t reserved[4];
} TraceaGroupedGemmParams;
#define TRACEA_GROUPED_GEMM_PARAMS_INIT                                        \
  {0, TRACEA_PRECISION_EXACT, NULL, {0, 0, 0, 0}}

/** Rows of a [rows, k] that lie before ends[g] and not before ends[g - 1] times
 *  b[g], b being [groups, k, n]: out [rows, n]. ends [groups] is i32 or i64, in
 *  memory of the device, and may not decrease; rows behind the last end are
 *  zero. */
TRACEA_API TraceaStatus tracea_grouped_gemm(TraceaTensorView a,
                                            TraceaTensorView b,
                                            TraceaTensorView ends,
                                            TraceaTensorView *out,
                                            TraceaGroupedGemmParams params);

typedef struct TraceaAttentionParams {
  /** Non-zero: query i sees keys up to i + (J - I). */
  int32_t causal;
  /** Keys that a query sees before and behind its own place; -1 is all. */
  int32_t window_left, window_right;
  TraceaPrecision precision;
  /** Factor of the scores; 0 is 1 / sqrt(head size). */
  double scale;
  /** NULL, or [B, H, I] in f32: log-sum-exp of the scaled scores. */
  TraceaTensorView *lse;
  void *stream;
  uint64_t reserved[4];
} TraceaAttentionParams;
#define TRACEA_ATTENTION_PARAMS_INIT                                           \
  {0, -1, -1, TRACEA_PRECISION_EXACT, 0.0, NULL, NULL, {0, 0, 0, 0}}

/** Scaled dot-product attention: q [B, H, I, D], k [B, G, J, D], v [B, G, J,
 * E], out [B, H, I, E]; G divides H. A query without any key gives zeros. */
TRACEA_API TraceaStatus tracea_attention(TraceaTensorView q, TraceaTensorView k,
                                         TraceaTensorView v,
                                         TraceaTensorView *out,
                                         TraceaAttentionParams params);

typedef struct TraceaSoftmaxParams {
  /** The dimension; negative ones count from the last. */
  int32_t dim;
  /** Non-zero: the logarithm of it. */
  int32_t log;
  void *stream;
  uint64_t reserved[4];
} TraceaSoftmaxParams;
#define TRACEA_SOFTMAX_PARAMS_INIT {-1, 0, NULL, {0, 0, 0, 0}}

TRACEA_API TraceaStatus tracea_softmax(TraceaTensorView x,
                                       TraceaTensorView *out,
                                       TraceaSoftmaxParams params);

typedef struct TraceaNormParams {
  double epsilon;
  void *stream;
  uint64_t reserved[4];
} TraceaNormParams;
#define TRACEA_NORM_PARAMS_INIT {1e-5, NULL, {0, 0, 0, 0}}

/** out = (x - mean) / sqrt(variance + epsilon) scale + bias, over the last
 *  dimensions, as many as `scale` or `bias` has; over the last one without
 *  either. Both may be NULL. */
TRACEA_API TraceaStatus tracea_layer_norm(TraceaTensorView x,
                                          const TraceaTensorView *scale,
                                          const TraceaTensorView *bias,
                                          TraceaTensorView *out,
                                          TraceaNormParams params);
/** out = x / sqrt(mean of squares + epsilon) scale, as above. */
TRACEA_API TraceaStatus tracea_rms_norm(TraceaTensorView x,
                                        const TraceaTensorView *scale,
                                        TraceaTensorView *out,
                                        TraceaNormParams params);

/** What the operators did in this process, as one JSON object: calls, programs
 *  compiled, programs found in the cache, programs for open extents. */
TRACEA_API TraceaStatus tracea_operator_counters(char *buffer, size_t size,
                                                 size_t *length);

/*===----------------------------------------------------------------------===*\
|* Programs
\*===----------------------------------------------------------------------===*/

/** Compiled code for one kind of machine. Executions keep what they need of it
 *  alive. */
typedef struct TraceaProgram TraceaProgram;
/** One caller's way through an entry of a program, with its temporary memory.
 */
typedef struct TraceaExecution TraceaExecution;

typedef struct TraceaCompileOptions {
  size_t size;
  /** "cpu" for this machine, "cuda" or "cuda:1" for a GPU of it, or a name of
   *  the target tables such as "sm_90a"; NULL is "cpu". Several names with
   *  commas between them make a version for each, of which a device takes the
   *  first that it can run. */
  const char *target;
  /** The function to compile; NULL is all public ones. */
  const char *entry;
  /** "none", "safe" or "all"; NULL is "safe". */
  const char *fuse;
  /** Cores to plan for; 0 is all. */
  int32_t threads;
  /** Non-zero: a kernel that lacks a proof is an error. */
  int32_t require_proof;
  /** Non-zero: neither look into the cache nor write to it. */
  int32_t no_cache;
  int32_t reserved;
} TraceaCompileOptions;
#define TRACEA_COMPILE_OPTIONS_INIT                                            \
  {sizeof(TraceaCompileOptions), NULL, NULL, NULL, 0, 0, 0, 0}

/** Compiles a module, MLIR as text or bytecode of `length` bytes. */
TRACEA_API TraceaStatus tracea_compile(const char *module, size_t length,
                                       const TraceaCompileOptions *options,
                                       TraceaProgram **program);
/** Reads a program file (.tracea) of this user's or of root. */
TRACEA_API TraceaStatus tracea_program_load(const char *path,
                                            TraceaProgram **program);
/** Takes a program from memory, which is copied. Its code gets all rights of
 *  this process: load only what you trust. */
TRACEA_API TraceaStatus tracea_program_load_bytes(const void *bytes,
                                                  size_t size,
                                                  TraceaProgram **program);
/** Writes the program file, atomically. */
TRACEA_API TraceaStatus tracea_program_save(const TraceaProgram *program,
                                            const char *path);
/** The program file's bytes; they live as long as the program. */
TRACEA_API TraceaStatus tracea_program_bytes(TraceaProgram *program,
                                             const void **bytes, size_t *size);
TRACEA_API void tracea_program_free(TraceaProgram *program);

/** Target, kernels with their variants and proofs, entries, and, where this
 *  process compiled the program, the decisions with their reasons, as JSON. */
TRACEA_API TraceaStatus tracea_program_explain(const TraceaProgram *program,
                                               char *buffer, size_t size,
                                               size_t *length);

TRACEA_API size_t tracea_program_entry_count(const TraceaProgram *program);
/** Lives as long as the program; NULL where there is no such entry. */
TRACEA_API const char *tracea_program_entry_name(const TraceaProgram *program,
                                                 size_t index);

/** An argument or a result of an entry. Pointers live as long as the program.
 */
typedef struct TraceaArgument {
  size_t size;
  /** "" of a result. */
  const char *name;
  TraceaDType dtype;
  uint32_t rank;
  /** TRACEA_DYNAMIC where only the run knows; NULL of a result, whose shape
   *  tracea_execution_output_shape tells. */
  const int64_t *shape;
  /** Non-zero: weights, which are given once. */
  int32_t is_constant;
  /** Non-zero: a number, given as a view of rank 0 in memory of the host. */
  int32_t is_scalar;
} TraceaArgument;

/** `entry` NULL is the only entry of a program. */
TRACEA_API TraceaStatus tracea_program_counts(const TraceaProgram *program,
                                              const char *entry, size_t *inputs,
                                              size_t *outputs);
/** The caller sets `argument->size`. */
TRACEA_API TraceaStatus tracea_program_input(const TraceaProgram *program,
                                             const char *entry, size_t index,
                                             TraceaArgument *argument);
TRACEA_API TraceaStatus tracea_program_output(const TraceaProgram *program,
                                              const char *entry, size_t index,
                                              TraceaArgument *argument);

typedef struct TraceaExecutionOptions {
  size_t size;
  /** TRACEA_CPU or a GPU's number: a device of the program's kind. */
  int32_t device_id;
  /** How many streams steps may be spread over; 0 is 1. */
  int32_t streams;
  /** Non-zero: runs that come again are launched as one graph. */
  int32_t graph;
  int32_t reserved;
  /** Most bytes of temporary memory; 0 is no limit. */
  int64_t max_workspace_bytes;
} TraceaExecutionOptions;
#define TRACEA_EXECUTION_OPTIONS_INIT                                          \
  {sizeof(TraceaExecutionOptions), TRACEA_CPU, 1, 0, 0, 0}

/** Loads the program's code where it is not loaded yet. */
TRACEA_API TraceaStatus tracea_execution_create(
    TraceaProgram *program, const char *entry,
    const TraceaExecutionOptions *options, TraceaExecution **execution);
/** Another execution for runs beside the first one; constants, and what was
 *  computed of them, are there once for both. */
TRACEA_API TraceaStatus tracea_execution_share(TraceaExecution *execution,
                                               TraceaExecution **other);
TRACEA_API void tracea_execution_free(TraceaExecution *execution);

/** Gives a constant argument, which runs then may leave out. Its memory must
 *  live and stay as it is until another one is given in its place. */
TRACEA_API TraceaStatus tracea_execution_bind(TraceaExecution *execution,
                                              size_t input,
                                              const TraceaTensorView *view);
/** Runs the entry. Constants that are bound, or were given to an earlier run,
 *  may have a NULL `ptr`. On a GPU inputs and outputs are row-major, and the
 *  call returns when the run is enqueued on `stream`, a CUstream, and may be
 *  part of a capture once it has run with the same shapes. */
TRACEA_API TraceaStatus tracea_execution_run(TraceaExecution *execution,
                                             const TraceaTensorView *inputs,
                                             size_t num_inputs,
                                             const TraceaTensorView *outputs,
                                             size_t num_outputs, void *stream);
/** Waits for runs on `stream` and fails where a kernel of theirs found that it
 *  could not do what the program asks for: an index outside of its tensor. */
TRACEA_API TraceaStatus tracea_execution_wait(TraceaExecution *execution,
                                              void *stream);
/** Does what depends on shapes alone: checks, plans, memory. Pointers may be
 *  NULL but of scalars. */
TRACEA_API TraceaStatus tracea_execution_prepare(TraceaExecution *execution,
                                                 const TraceaTensorView *inputs,
                                                 size_t num_inputs);
/** After a prepare or a run: `shape` has room for TRACEA_MAX_RANK sizes. */
TRACEA_API TraceaStatus
tracea_execution_output_shape(const TraceaExecution *execution, size_t output,
                              uint64_t *shape, uint32_t *rank);
/** Runs, launches, copies, bytes of temporary memory, as one JSON object. */
TRACEA_API TraceaStatus tracea_execution_stats(const TraceaExecution *execution,
                                               char *buffer, size_t size,
                                               size_t *length);

/*===----------------------------------------------------------------------===*\
|* Graphs: a module, built by calls
\*===----------------------------------------------------------------------===*/

typedef struct TraceaGraph TraceaGraph;
/** A tensor of a graph; 0 is none. */
typedef uint32_t TraceaValue;

typedef enum TraceaUnary TRACEA_OF_INT {
  TRACEA_UNARY_RELU = 1,
  TRACEA_UNARY_RELU6 = 2,
  TRACEA_UNARY_SILU = 3,
  TRACEA_UNARY_GELU = 4,
  TRACEA_UNARY_GELU_TANH = 5,
  TRACEA_UNARY_SIGMOID = 6,
  TRACEA_UNARY_TANH = 7,
  TRACEA_UNARY_NEGATE = 8,
  TRACEA_UNARY_ABS = 9,
  TRACEA_UNARY_EXP = 10,
  TRACEA_UNARY_LOG = 11,
  TRACEA_UNARY_SQRT = 12,
  TRACEA_UNARY_RSQRT = 13
} TraceaUnary;

typedef enum TraceaBinary TRACEA_OF_INT {
  TRACEA_BINARY_ADD = 1,
  TRACEA_BINARY_SUBTRACT = 2,
  TRACEA_BINARY_MULTIPLY = 3,
  TRACEA_BINARY_DIVIDE = 4,
  TRACEA_BINARY_MAXIMUM = 5,
  TRACEA_BINARY_MINIMUM = 6
} TraceaBinary;

TRACEA_API TraceaStatus tracea_graph_create(TraceaGraph **graph);
TRACEA_API void tracea_graph_free(TraceaGraph *graph);

/** An argument, in the order of the calls. Sizes may be TRACEA_DYNAMIC.
 *  `is_constant` marks weights: they are given once, and what depends on them
 *  alone is computed once. `name` may be NULL. */
TRACEA_API TraceaStatus tracea_graph_input(TraceaGraph *graph, const char *name,
                                           TraceaDType dtype, uint32_t rank,
                                           const int64_t *shape,
                                           int32_t is_constant,
                                           TraceaValue *value);
/** A result, in the order of the calls. */
TRACEA_API TraceaStatus tracea_graph_output(TraceaGraph *graph,
                                            TraceaValue value);

/* Operations as above; `params` NULL is the initialiser, their `stream`,
 * `residual` and `lse` are not looked at. Results have x's or a's type; those
 * of products of i8 are i32. */
TRACEA_API TraceaStatus tracea_graph_gemm(TraceaGraph *graph, TraceaValue a,
                                          TraceaValue b, TraceaValue bias,
                                          TraceaValue residual,
                                          const TraceaGemmParams *params,
                                          TraceaValue *value);
TRACEA_API TraceaStatus tracea_graph_conv2d(TraceaGraph *graph, TraceaValue x,
                                            TraceaValue w, TraceaValue bias,
                                            TraceaValue residual,
                                            const TraceaConv2dParams *params,
                                            TraceaValue *value);
TRACEA_API TraceaStatus tracea_graph_attention(
    TraceaGraph *graph, TraceaValue q, TraceaValue k, TraceaValue v,
    const TraceaAttentionParams *params, TraceaValue *value);
TRACEA_API TraceaStatus tracea_graph_softmax(TraceaGraph *graph, TraceaValue x,
                                             const TraceaSoftmaxParams *params,
                                             TraceaValue *value);
TRACEA_API TraceaStatus tracea_graph_layer_norm(
    TraceaGraph *graph, TraceaValue x, TraceaValue scale, TraceaValue bias,
    const TraceaNormParams *params, TraceaValue *value);
TRACEA_API TraceaStatus tracea_graph_rms_norm(TraceaGraph *graph, TraceaValue x,
                                              TraceaValue scale,
                                              const TraceaNormParams *params,
                                              TraceaValue *value);
TRACEA_API TraceaStatus tracea_graph_unary(TraceaGraph *graph,
                                           TraceaUnary function, TraceaValue x,
                                           TraceaValue *value);
/** Dimensions are aligned at the last one; sizes of 1, and dimensions that are
 *  not there, are repeated. Types must be the same. */
TRACEA_API TraceaStatus tracea_graph_binary(TraceaGraph *graph,
                                            TraceaBinary function,
                                            TraceaValue a, TraceaValue b,
                                            TraceaValue *value);
TRACEA_API TraceaStatus tracea_graph_cast(TraceaGraph *graph, TraceaValue x,
                                          TraceaDType dtype,
                                          TraceaValue *value);
/** Dimension i of the result is dimension order[i] of x. */
TRACEA_API TraceaStatus tracea_graph_transpose(TraceaGraph *graph,
                                               TraceaValue x,
                                               const uint32_t *order,
                                               TraceaValue *value);
/** At most one size may be TRACEA_DYNAMIC: the one that the others leave. */
TRACEA_API TraceaStatus tracea_graph_reshape(TraceaGraph *graph, TraceaValue x,
                                             uint32_t rank,
                                             const int64_t *shape,
                                             TraceaValue *value);

/** The graph as a module of one function, `main`. */
TRACEA_API TraceaStatus tracea_graph_text(const TraceaGraph *graph,
                                          char *buffer, size_t size,
                                          size_t *length);
TRACEA_API TraceaStatus tracea_graph_compile(
    const TraceaGraph *graph, const TraceaCompileOptions *options,
    TraceaProgram **program);

/*===----------------------------------------------------------------------===*\
|* The cache of compiled programs
|*
|* $TRACEA_CACHE_DIR, else $XDG_CACHE_HOME/tracea, else ~/.cache/tracea; an
|* empty TRACEA_CACHE_DIR is no cache. Files are written atomically and are the
|* user's own.
\*===----------------------------------------------------------------------===*/

/** Uses another folder from now on; NULL or "" is none. */
TRACEA_API TraceaStatus tracea_cache_set_directory(const char *path);
TRACEA_API TraceaStatus tracea_cache_directory(char *buffer, size_t size,
                                               size_t *length);
/** Deletes the programs in the folder. */
TRACEA_API TraceaStatus tracea_cache_clear(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TRACEA_H */
