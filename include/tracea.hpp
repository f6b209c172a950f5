//===- tracea.hpp - Tracea for C++17 ----------------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Header-only, over tracea.h, whose rules hold here too. What fails throws
// tracea::Error. Tensors belong to the caller; handles close themselves.
//
//     tracea::conv2d(tracea::TensorView(x, {1, 64, 56, 56}),
//                    tracea::TensorView(w, {64, 64, 3, 3}), nullptr, out,
//                    tracea::Conv2dParams().pad(1));
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_HPP
#define TRACEA_HPP

#include "tracea.h"

#include <array>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tracea {

enum class DType : int32_t {
  Float32 = TRACEA_FLOAT32,
  Float16 = TRACEA_FLOAT16,
  BFloat16 = TRACEA_BFLOAT16,
  Float64 = TRACEA_FLOAT64,
  Int8 = TRACEA_INT8,
  Int16 = TRACEA_INT16,
  Int32 = TRACEA_INT32,
  Int64 = TRACEA_INT64,
  Bool = TRACEA_BOOL,
  Float8E4M3FN = TRACEA_FLOAT8_E4M3FN,
  Float8E5M2 = TRACEA_FLOAT8_E5M2
};

enum class Layout : int32_t {
  NCHW = TRACEA_LAYOUT_NCHW,
  NHWC = TRACEA_LAYOUT_NHWC
};

enum class Epilogue : int32_t {
  None = TRACEA_EPILOGUE_NONE,
  ReLU = TRACEA_EPILOGUE_RELU,
  ReLU6 = TRACEA_EPILOGUE_RELU6,
  SiLU = TRACEA_EPILOGUE_SILU,
  GELU = TRACEA_EPILOGUE_GELU,
  GELUTanh = TRACEA_EPILOGUE_GELU_TANH,
  Sigmoid = TRACEA_EPILOGUE_SIGMOID,
  Tanh = TRACEA_EPILOGUE_TANH
};

enum class Precision : int32_t {
  Exact = TRACEA_PRECISION_EXACT,
  TF32 = TRACEA_PRECISION_TF32,
  TF32x3 = TRACEA_PRECISION_TF32X3
};

/// The message of this thread's last failure; "" without one.
inline std::string get_last_error() {
  std::string text(tracea_get_last_error(nullptr, 0), '\0');
  if (!text.empty())
    tracea_get_last_error(reinterpret_cast<uint8_t *>(&text[0]),
                          text.size() + 1);
  return text;
}

/// "0.1.0"
inline std::string version() { return tracea_version(); }

class Error : public std::runtime_error {
public:
  Error(TraceaStatus status, const std::string &message)
      : std::runtime_error(message), code(status) {}
  TraceaStatus status() const noexcept { return code; }

private:
  TraceaStatus code;
};

/// Throws where the call failed.
inline void check(TraceaStatus status) {
  if (status != TRACEA_SUCCESS)
    throw Error(status, get_last_error());
}

namespace detail {
/// The text that a function of tracea.h gives into a buffer.
template <typename Function>
std::string text(Function &&give) {
  size_t length = 0;
  check(give(static_cast<char *>(nullptr), size_t(0), &length));
  std::string result(length, '\0');
  check(give(&result[0], length + 1, &length));
  return result;
}
} // namespace detail

/// Waits until nothing runs on the device.
inline void synchronize(int32_t device = TRACEA_CPU) {
  check(tracea_device_synchronize(device));
}

/// What the device is, as JSON.
inline std::string describe_device(int32_t device = TRACEA_CPU) {
  return detail::text([&](char *buffer, size_t size, size_t *length) {
    return tracea_device_describe(device, buffer, size, length);
  });
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// A tensor of the caller's: its memory is only pointed to; its shape is here.
class TensorView {
public:
  /// Row-major. `shape` in elements; `device` is TRACEA_CPU or a GPU's number.
  TensorView(void *ptr, std::initializer_list<uint64_t> shape,
             DType dtype = DType::Float32, int32_t device = TRACEA_CPU)
      : TensorView(ptr, shape.begin(), shape.size(), nullptr, dtype, device) {}
  TensorView(void *ptr, const std::vector<uint64_t> &shape,
             DType dtype = DType::Float32, int32_t device = TRACEA_CPU)
      : TensorView(ptr, shape.data(), shape.size(), nullptr, dtype, device) {}
  /// `stride` in elements, one for each dimension.
  TensorView(void *ptr, const std::vector<uint64_t> &shape,
             const std::vector<int64_t> &stride, DType dtype = DType::Float32,
             int32_t device = TRACEA_CPU)
      : TensorView(ptr, shape.data(), shape.size(), stride.data(), dtype,
                   device) {
    if (stride.size() != shape.size())
      throw Error(TRACEA_INVALID_PARAMS,
                  "TensorView: expected " + std::to_string(shape.size()) +
                      " strides, found " + std::to_string(stride.size()));
  }
  /// Of memory that is read only; not for results.
  TensorView(const void *ptr, std::initializer_list<uint64_t> shape,
             DType dtype = DType::Float32, int32_t device = TRACEA_CPU)
      : TensorView(const_cast<void *>(ptr), shape, dtype, device) {}
  /// No tensor: the place of a constant that was given before.
  TensorView() : TensorView(static_cast<void *>(nullptr), {}) {}

  /// What tracea.h takes; valid as long as this is, and where it is.
  TraceaTensorView c() const {
    return {pointer,
            dims,
            sizes.data(),
            hasStrides ? steps.data() : nullptr,
            static_cast<TraceaDType>(type),
            device};
  }

  void *data() const { return pointer; }
  uint32_t rank() const { return dims; }
  uint64_t size(uint32_t dim) const { return sizes.at(dim); }
  DType dtype() const { return type; }
  int32_t device_id() const { return device; }

private:
  TensorView(void *ptr, const uint64_t *shape, size_t rank,
             const int64_t *stride, DType dtype, int32_t device)
      : pointer(ptr), dims(static_cast<uint32_t>(rank)),
        hasStrides(stride != nullptr), type(dtype), device(device) {
    if (rank > TRACEA_MAX_RANK)
      throw Error(TRACEA_INVALID_PARAMS, "TensorView: expected at most " +
                                             std::to_string(TRACEA_MAX_RANK) +
                                             " dimensions, found " +
                                             std::to_string(rank));
    for (size_t i = 0; i < rank; ++i) {
      sizes[i] = shape[i];
      steps[i] = stride ? stride[i] : 0;
    }
  }

  void *pointer;
  uint32_t dims;
  bool hasStrides;
  std::array<uint64_t, TRACEA_MAX_RANK> sizes{};
  std::array<int64_t, TRACEA_MAX_RANK> steps{};
  DType type;
  int32_t device;
};

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

struct Conv2dParams {
  std::array<uint32_t, 2> stride{1, 1};
  /// Top, left, bottom, right.
  std::array<uint32_t, 4> padding{0, 0, 0, 0};
  std::array<uint32_t, 2> dilation{1, 1};
  uint32_t groups = 1;
  Layout layout = Layout::NCHW;
  Epilogue epilogue = Epilogue::None;
  Precision precision = Precision::Exact;
  const TensorView *residual = nullptr;
  void *stream = nullptr;

  /// The same on all sides.
  Conv2dParams &pad(uint32_t all) {
    padding = {all, all, all, all};
    return *this;
  }
  TraceaConv2dParams c() const {
    TraceaConv2dParams params = TRACEA_CONV2D_PARAMS_INIT;
    params.stride_h = stride[0];
    params.stride_w = stride[1];
    params.pad_top = padding[0];
    params.pad_left = padding[1];
    params.pad_bottom = padding[2];
    params.pad_right = padding[3];
    params.dilation_h = dilation[0];
    params.dilation_w = dilation[1];
    params.groups = groups;
    params.layout = static_cast<TraceaLayout>(layout);
    params.epilogue = static_cast<TraceaEpilogue>(epilogue);
    params.precision = static_cast<TraceaPrecision>(precision);
    params.stream = stream;
    return params;
  }
};

struct GemmParams {
  bool transpose_a = false, transpose_b = false;
  Epilogue epilogue = Epilogue::None;
  Precision precision = Precision::Exact;
  float alpha = 1;
  const TensorView *residual = nullptr;
  void *stream = nullptr;

  TraceaGemmParams c() const {
    TraceaGemmParams params = TRACEA_GEMM_PARAMS_INIT;
    params.transpose_a = transpose_a;
    params.transpose_b = transpose_b;
    params.epilogue = static_cast<TraceaEpilogue>(epilogue);
    params.precision = static_cast<TraceaPrecision>(precision);
    params.alpha = alpha;
    params.stream = stream;
    return params;
  }
};

struct AttentionParams {
  bool causal = false;
  /// Keys before and behind a query's place; -1 is all.
  int32_t window_left = -1, window_right = -1;
  Precision precision = Precision::Exact;
  /// 0 is 1 / sqrt(head size).
  double scale = 0;
  TensorView *lse = nullptr;
  void *stream = nullptr;

  TraceaAttentionParams c() const {
    TraceaAttentionParams params = TRACEA_ATTENTION_PARAMS_INIT;
    params.causal = causal;
    params.window_left = window_left;
    params.window_right = window_right;
    params.precision = static_cast<TraceaPrecision>(precision);
    params.scale = scale;
    params.stream = stream;
    return params;
  }
};

namespace detail {
/// A view that may be missing, as tracea.h takes it.
class Optional {
public:
  explicit Optional(const TensorView *view) : isThere(view != nullptr) {
    if (view)
      value = view->c();
  }
  TraceaTensorView *get() { return isThere ? &value : nullptr; }

private:
  bool isThere;
  TraceaTensorView value{};
};

/// Parameters of tracea.h with what is added to each element of the result.
template <typename Params>
Params with(Params params, Optional &residual) {
  params.residual = residual.get();
  return params;
}
} // namespace detail

/// As tracea_conv2d.
inline void conv2d(const TensorView &x, const TensorView &w,
                   const TensorView *b, const TensorView &out,
                   const Conv2dParams &params = {}) {
  detail::Optional bias(b), residual(params.residual);
  TraceaTensorView result = out.c();
  check(tracea_conv2d(x.c(), w.c(), bias.get(), &result,
                      detail::with(params.c(), residual)));
}

/// As tracea_conv2d_dgrad: the gradient by x of a convolution with `params`.
inline void conv2d_dgrad(const TensorView &grad, const TensorView &w,
                         const TensorView &out,
                         const Conv2dParams &params = {}) {
  detail::Optional residual(params.residual);
  TraceaTensorView result = out.c();
  check(tracea_conv2d_dgrad(grad.c(), w.c(), &result,
                            detail::with(params.c(), residual)));
}

/// As tracea_conv2d_wgrad: the gradient by w.
inline void conv2d_wgrad(const TensorView &x, const TensorView &grad,
                         const TensorView &out,
                         const Conv2dParams &params = {}) {
  detail::Optional residual(params.residual);
  TraceaTensorView result = out.c();
  check(tracea_conv2d_wgrad(x.c(), grad.c(), &result,
                            detail::with(params.c(), residual)));
}

/// As tracea_gemm.
inline void gemm(const TensorView &a, const TensorView &b,
                 const TensorView *bias, const TensorView &out,
                 const GemmParams &params = {}) {
  detail::Optional added(bias), residual(params.residual);
  TraceaTensorView result = out.c();
  check(tracea_gemm(a.c(), b.c(), added.get(), &result,
                    detail::with(params.c(), residual)));
}

/// As tracea_grouped_gemm.
inline void grouped_gemm(const TensorView &a, const TensorView &b,
                         const TensorView &ends, const TensorView &out,
                         bool transpose_b = false,
                         Precision precision = Precision::Exact,
                         void *stream = nullptr) {
  TraceaGroupedGemmParams c = TRACEA_GROUPED_GEMM_PARAMS_INIT;
  c.transpose_b = transpose_b;
  c.precision = static_cast<TraceaPrecision>(precision);
  c.stream = stream;
  TraceaTensorView result = out.c();
  check(tracea_grouped_gemm(a.c(), b.c(), ends.c(), &result, c));
}

/// As tracea_attention.
inline void attention(const TensorView &q, const TensorView &k,
                      const TensorView &v, const TensorView &out,
                      const AttentionParams &params = {}) {
  detail::Optional lse(params.lse);
  TraceaAttentionParams c = params.c();
  c.lse = lse.get();
  TraceaTensorView result = out.c();
  check(tracea_attention(q.c(), k.c(), v.c(), &result, c));
}

/// As tracea_softmax; with `log` its logarithm.
inline void softmax(const TensorView &x, const TensorView &out,
                    int32_t dim = -1, bool log = false,
                    void *stream = nullptr) {
  TraceaSoftmaxParams c = TRACEA_SOFTMAX_PARAMS_INIT;
  c.dim = dim;
  c.log = log;
  c.stream = stream;
  TraceaTensorView result = out.c();
  check(tracea_softmax(x.c(), &result, c));
}

/// As tracea_layer_norm.
inline void layer_norm(const TensorView &x, const TensorView *scale,
                       const TensorView *bias, const TensorView &out,
                       double epsilon = 1e-5, void *stream = nullptr) {
  detail::Optional factors(scale), added(bias);
  TraceaNormParams c = TRACEA_NORM_PARAMS_INIT;
  c.epsilon = epsilon;
  c.stream = stream;
  TraceaTensorView result = out.c();
  check(tracea_layer_norm(x.c(), factors.get(), added.get(), &result, c));
}

/// As tracea_rms_norm.
inline void rms_norm(const TensorView &x, const TensorView *scale,
                     const TensorView &out, double epsilon = 1e-5,
                     void *stream = nullptr) {
  detail::Optional factors(scale);
  TraceaNormParams c = TRACEA_NORM_PARAMS_INIT;
  c.epsilon = epsilon;
  c.stream = stream;
  TraceaTensorView result = out.c();
  check(tracea_rms_norm(x.c(), factors.get(), &result, c));
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

struct CompileOptions {
  /// "cpu", "cuda", "cuda:1" or a name of the target tables.
  std::string target = "cpu";
  std::string entry;
  /// "none", "safe" or "all".
  std::string fuse = "safe";
  int32_t threads = 0;
  bool require_proof = false;
  bool use_cache = true;

  TraceaCompileOptions c() const {
    TraceaCompileOptions options = TRACEA_COMPILE_OPTIONS_INIT;
    options.target = target.c_str();
    options.entry = entry.c_str();
    options.fuse = fuse.c_str();
    options.threads = threads;
    options.require_proof = require_proof;
    options.no_cache = !use_cache;
    return options;
  }
};

/// An argument or a result of a program's entry.
struct Argument {
  std::string name;
  DType dtype = DType::Float32;
  /// TRACEA_DYNAMIC where only the run knows; empty of a result.
  std::vector<int64_t> shape;
  bool is_constant = false;
  bool is_scalar = false;
};

/// Compiled code; copies share it.
class Program {
public:
  /// Compiles MLIR, text or bytecode.
  static Program compile(const std::string &module,
                         const CompileOptions &options = {}) {
    TraceaCompileOptions c = options.c();
    TraceaProgram *program = nullptr;
    check(tracea_compile(module.data(), module.size(), &c, &program));
    return Program(program);
  }
  static Program load(const std::string &path) {
    TraceaProgram *program = nullptr;
    check(tracea_program_load(path.c_str(), &program));
    return Program(program);
  }
  /// Takes over a handle.
  explicit Program(TraceaProgram *program)
      : handle(program, &tracea_program_free) {}

  void save(const std::string &path) const {
    check(tracea_program_save(handle.get(), path.c_str()));
  }
  /// Kernels, proofs and decisions, as JSON.
  std::string explain() const {
    return detail::text([&](char *buffer, size_t size, size_t *length) {
      return tracea_program_explain(handle.get(), buffer, size, length);
    });
  }
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < tracea_program_entry_count(handle.get()); ++i)
      names.push_back(tracea_program_entry_name(handle.get(), i));
    return names;
  }
  std::vector<Argument> inputs(const std::string &entry = "") const {
    size_t count = 0;
    check(tracea_program_counts(handle.get(), entry.c_str(), &count, nullptr));
    std::vector<Argument> list;
    for (size_t i = 0; i < count; ++i) {
      TraceaArgument c = {};
      c.size = sizeof c;
      check(tracea_program_input(handle.get(), entry.c_str(), i, &c));
      list.push_back({c.name, static_cast<DType>(c.dtype),
                      std::vector<int64_t>(c.shape, c.shape + c.rank),
                      c.is_constant != 0, c.is_scalar != 0});
    }
    return list;
  }
  size_t output_count(const std::string &entry = "") const {
    size_t count = 0;
    check(tracea_program_counts(handle.get(), entry.c_str(), nullptr, &count));
    return count;
  }

  TraceaProgram *c() const { return handle.get(); }

private:
  std::shared_ptr<TraceaProgram> handle;
};

/// One caller's runs of an entry. Serves one thread at a time.
class Execution {
public:
  explicit Execution(const Program &program, int32_t device = TRACEA_CPU,
                     const std::string &entry = "", bool graph = false)
      : handle(nullptr, &tracea_execution_free) {
    TraceaExecutionOptions options = TRACEA_EXECUTION_OPTIONS_INIT;
    options.device_id = device;
    options.graph = graph;
    TraceaExecution *execution = nullptr;
    check(tracea_execution_create(program.c(), entry.c_str(), &options,
                                  &execution));
    handle.reset(execution);
  }

  /// Gives a constant argument to the runs from now on.
  void bind(size_t input, const TensorView &view) {
    TraceaTensorView c = view.c();
    check(tracea_execution_bind(handle.get(), input, &c));
  }
  /// On a GPU it returns when the run is enqueued.
  void run(const std::vector<TensorView> &inputs,
           const std::vector<TensorView> &outputs, void *stream = nullptr) {
    std::vector<TraceaTensorView> in = views(inputs), out = views(outputs);
    check(tracea_execution_run(handle.get(), in.data(), in.size(), out.data(),
                               out.size(), stream));
  }
  void wait(void *stream = nullptr) {
    check(tracea_execution_wait(handle.get(), stream));
  }
  void prepare(const std::vector<TensorView> &inputs) {
    std::vector<TraceaTensorView> in = views(inputs);
    check(tracea_execution_prepare(handle.get(), in.data(), in.size()));
  }
  /// After a prepare or a run.
  std::vector<uint64_t> output_shape(size_t output) const {
    uint64_t shape[TRACEA_MAX_RANK];
    uint32_t rank = 0;
    check(tracea_execution_output_shape(handle.get(), output, shape, &rank));
    return std::vector<uint64_t>(shape, shape + rank);
  }
  std::string stats() const {
    return detail::text([&](char *buffer, size_t size, size_t *length) {
      return tracea_execution_stats(handle.get(), buffer, size, length);
    });
  }

private:
  static std::vector<TraceaTensorView>
  views(const std::vector<TensorView> &list) {
    std::vector<TraceaTensorView> result;
    for (const TensorView &view : list)
      result.push_back(view.c());
    return result;
  }

  std::unique_ptr<TraceaExecution, void (*)(TraceaExecution *)> handle;
};

/// A module, built by calls. Values are numbers of this graph.
class Graph {
public:
  using Value = TraceaValue;
  static constexpr int64_t dynamic = TRACEA_DYNAMIC;

  Graph() : handle(nullptr, &tracea_graph_free) {
    TraceaGraph *graph = nullptr;
    check(tracea_graph_create(&graph));
    handle.reset(graph);
  }

  /// An argument; sizes may be `dynamic`. Constants are weights.
  Value input(const std::string &name, const std::vector<int64_t> &shape,
              DType dtype = DType::Float32, bool is_constant = false) {
    return made([&](Value *value) {
      return tracea_graph_input(handle.get(), name.c_str(),
                                static_cast<TraceaDType>(dtype),
                                static_cast<uint32_t>(shape.size()),
                                shape.data(), is_constant, value);
    });
  }
  void output(Value value) { check(tracea_graph_output(handle.get(), value)); }

  Value gemm(Value a, Value b, Value bias = 0, const GemmParams &params = {},
             Value residual = 0) {
    TraceaGemmParams c = params.c();
    return made([&](Value *value) {
      return tracea_graph_gemm(handle.get(), a, b, bias, residual, &c, value);
    });
  }
  Value conv2d(Value x, Value w, Value bias = 0,
               const Conv2dParams &params = {}, Value residual = 0) {
    TraceaConv2dParams c = params.c();
    return made([&](Value *value) {
      return tracea_graph_conv2d(handle.get(), x, w, bias, residual, &c, value);
    });
  }
  Value attention(Value q, Value k, Value v,
                  const AttentionParams &params = {}) {
    TraceaAttentionParams c = params.c();
    return made([&](Value *value) {
      return tracea_graph_attention(handle.get(), q, k, v, &c, value);
    });
  }
  Value softmax(Value x, int32_t dim = -1, bool log = false) {
    TraceaSoftmaxParams c = TRACEA_SOFTMAX_PARAMS_INIT;
    c.dim = dim;
    c.log = log;
    return made([&](Value *value) {
      return tracea_graph_softmax(handle.get(), x, &c, value);
    });
  }
  Value layer_norm(Value x, Value scale = 0, Value bias = 0,
                   double epsilon = 1e-5) {
    TraceaNormParams c = TRACEA_NORM_PARAMS_INIT;
    c.epsilon = epsilon;
    return made([&](Value *value) {
      return tracea_graph_layer_norm(handle.get(), x, scale, bias, &c, value);
    });
  }
  Value rms_norm(Value x, Value scale = 0, double epsilon = 1e-5) {
    TraceaNormParams c = TRACEA_NORM_PARAMS_INIT;
    c.epsilon = epsilon;
    return made([&](Value *value) {
      return tracea_graph_rms_norm(handle.get(), x, scale, &c, value);
    });
  }
  Value unary(TraceaUnary function, Value x) {
    return made([&](Value *value) {
      return tracea_graph_unary(handle.get(), function, x, value);
    });
  }
  Value binary(TraceaBinary function, Value a, Value b) {
    return made([&](Value *value) {
      return tracea_graph_binary(handle.get(), function, a, b, value);
    });
  }
  Value cast(Value x, DType dtype) {
    return made([&](Value *value) {
      return tracea_graph_cast(handle.get(), x, static_cast<TraceaDType>(dtype),
                               value);
    });
  }
  /// `order` has an element for each dimension of x.
  Value transpose(Value x, const std::vector<uint32_t> &order) {
    return made([&](Value *value) {
      return tracea_graph_transpose(handle.get(), x, order.data(), value);
    });
  }
  Value reshape(Value x, const std::vector<int64_t> &shape) {
    return made([&](Value *value) {
      return tracea_graph_reshape(handle.get(), x,
                                  static_cast<uint32_t>(shape.size()),
                                  shape.data(), value);
    });
  }

  /// The module's text.
  std::string text() const {
    return detail::text([&](char *buffer, size_t size, size_t *length) {
      return tracea_graph_text(handle.get(), buffer, size, length);
    });
  }
  Program compile(const CompileOptions &options = {}) const {
    TraceaCompileOptions c = options.c();
    TraceaProgram *program = nullptr;
    check(tracea_graph_compile(handle.get(), &c, &program));
    return Program(program);
  }

private:
  template <typename Make>
  static Value made(Make &&make) {
    Value value = 0;
    check(make(&value));
    return value;
  }

  std::unique_ptr<TraceaGraph, void (*)(TraceaGraph *)> handle;
};

} // namespace tracea

#endif // TRACEA_HPP
