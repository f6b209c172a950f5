//===- OneDNNContender.cpp - oneDNN, found at run time -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written against the C interface of version 3, whose header must be there when
// this is built; the library is loaded when it runs: the file that
// TRACEA_ONEDNN names, else the system's, else build/venv's. Every case is set
// up in several ways (plain layouts, layouts of oneDNN's choice with the
// reorders counted, the algorithm of its choice), and the fastest one competes.
// Filters are in oneDNN's own layout beforehand, with batch norm folded into
// them, and ReLU is a post-operation.

#include "Contender.h"

#if __has_include(<oneapi/dnnl/dnnl.h>)
#include <oneapi/dnnl/dnnl.h>
#if DNNL_VERSION_MAJOR == 3
#define TRACEA_HAVE_ONEDNN 1
#endif
#endif

#ifndef TRACEA_HAVE_ONEDNN

std::string tracea::bench::describeOneDNN() {
  return "not installed (built without the header of version 3)";
}

tracea::bench::MaybeContender
tracea::bench::makeOneDNN(const Problem &problem) {
  return {nullptr, "not installed"};
}

#else

#include <dlfcn.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <vector>

using namespace tracea;
using namespace tracea::bench;
using tracea::runtime::ElementType;

namespace {

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

#define TRACEA_DNNL_FUNCTIONS(X)                                               \
  X(dnnl_version)                                                              \
  X(dnnl_engine_create)                                                        \
  X(dnnl_stream_create)                                                        \
  X(dnnl_stream_wait)                                                          \
  X(dnnl_memory_desc_create_with_strides)                                      \
  X(dnnl_memory_desc_create_with_tag)                                          \
  X(dnnl_memory_desc_equal)                                                    \
  X(dnnl_memory_create)                                                        \
  X(dnnl_matmul_primitive_desc_create)                                         \
  X(dnnl_convolution_forward_primitive_desc_create)                            \
  X(dnnl_primitive_attr_create)                                                \
  X(dnnl_primitive_attr_destroy)                                               \
  X(dnnl_primitive_attr_set_post_ops)                                          \
  X(dnnl_post_ops_create)                                                      \
  X(dnnl_post_ops_destroy)                                                     \
  X(dnnl_post_ops_append_eltwise)                                              \
  X(dnnl_post_ops_append_binary)                                               \
  X(dnnl_post_ops_append_sum)                                                  \
  X(dnnl_primitive_desc_destroy)                                               \
  X(dnnl_primitive_desc_query)                                                 \
  X(dnnl_primitive_desc_query_md)                                              \
  X(dnnl_reorder_primitive_desc_create)                                        \
  X(dnnl_primitive_create)                                                     \
  X(dnnl_primitive_execute)

// Its functions keep their names.
// NOLINTBEGIN(readability-identifier-naming,bugprone-macro-parentheses)
struct Library {
#define X(name) decltype(&::name) name = nullptr;
  TRACEA_DNNL_FUNCTIONS(X)
#undef X
  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr;
  std::string description = "not installed";
  bool loaded = false;
};
// NOLINTEND(readability-identifier-naming,bugprone-macro-parentheses)

// `makeOneDNN` asks whether all of them are there before any is called.
// NOLINTBEGIN(clang-analyzer-core.CallAndMessage)

const Library &library() {
  static const Library opened = [] {
    Library result;
    const char *wanted = std::getenv("TRACEA_ONEDNN");
    void *handle =
        dlopen(wanted ? wanted : "libdnnl.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      return result;
    bool complete = true;
#define X(name)                                                                \
  result.name = reinterpret_cast<decltype(&::name)>(dlsym(handle, #name));     \
  complete &= result.name != nullptr;
    TRACEA_DNNL_FUNCTIONS(X)
#undef X
    if (!complete ||
        result.dnnl_engine_create(&result.engine, dnnl_cpu, 0) !=
            dnnl_success ||
        result.dnnl_stream_create(&result.stream, result.engine,
                                  dnnl_stream_default_flags) != dnnl_success)
      return result;
    const dnnl_version_t *version = result.dnnl_version();
    result.description = "oneDNN " + std::to_string(version->major) + "." +
                         std::to_string(version->minor) + "." +
                         std::to_string(version->patch);
    result.loaded = true;
    return result;
  }();
  return opened;
}

dnnl_data_type_t dataType(ElementType type) {
  switch (type) {
  case ElementType::BF16:
    return dnnl_bf16;
  case ElementType::I8:
    return dnnl_s8;
  case ElementType::I32:
    return dnnl_s32;
  default:
    return dnnl_f32;
  }
}

/// What an array is to oneDNN. Its descriptors live as long as the process.
struct Layout {
  std::vector<int64_t> dims;
  dnnl_data_type_t type = dnnl_f32;
  dnnl_memory_desc_t desc = nullptr;

  /// The same elements in a layout that is left to oneDNN.
  dnnl_memory_desc_t any() const {
    dnnl_memory_desc_t result = nullptr;
    library().dnnl_memory_desc_create_with_tag(
        &result, static_cast<int>(dims.size()), dims.data(), type,
        dnnl_format_tag_any);
    return result;
  }
};

/// Row-major but for the permutation: axis i of the descriptor is axis
/// `order[i]` of the array.
Layout describe(ElementType type, const std::vector<int64_t> &shape,
                const std::vector<int> &order) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  Layout result;
  result.type = dataType(type);
  std::vector<int64_t> steps;
  for (int axis : order) {
    result.dims.push_back(shape[axis]);
    steps.push_back(strides[axis]);
  }
  // The interface takes arrays of DNNL_MAX_NDIMS, of which it reads as many as
  // there are axes.
  result.dims.resize(DNNL_MAX_NDIMS);
  steps.resize(DNNL_MAX_NDIMS);
  library().dnnl_memory_desc_create_with_strides(
      &result.desc, static_cast<int>(order.size()), result.dims.data(),
      result.type, steps.data());
  result.dims.resize(order.size());
  return result;
}

/// Memory of the caller, or of oneDNN where `data` is null.
dnnl_memory_t makeMemory(const_dnnl_memory_desc_t desc, void *data) {
  dnnl_memory_t memory = nullptr;
  library().dnnl_memory_create(&memory, desc, library().engine,
                               data ? data : DNNL_MEMORY_ALLOCATE);
  return memory;
}

/// A primitive and its arguments by buffer set.
struct Step {
  dnnl_primitive_t primitive = nullptr;
  std::vector<std::vector<dnnl_exec_arg_t>> arguments;
};

//===----------------------------------------------------------------------===//
// The contender
//===----------------------------------------------------------------------===//

// What is made here lives as long as the process, which serves one case.
class OneDNNContender : public Contender {
public:
  bool run(int set) override {
    for (const Step &step : steps) {
      const std::vector<dnnl_exec_arg_t> &arguments = step.arguments[set];
      if (library().dnnl_primitive_execute(step.primitive, library().stream,
                                           static_cast<int>(arguments.size()),
                                           arguments.data()) != dnnl_success)
        return false;
    }
    return library().dnnl_stream_wait(library().stream) == dnnl_success;
  }

  /// Adds a step from one layout to another; false where there is none.
  bool addReorder(const_dnnl_memory_desc_t from,
                  const std::vector<dnnl_memory_t> &source,
                  const_dnnl_memory_desc_t to,
                  const std::vector<dnnl_memory_t> &target) {
    const Library &lib = library();
    dnnl_primitive_desc_t desc = nullptr;
    if (lib.dnnl_reorder_primitive_desc_create(
            &desc, from, lib.engine, to, lib.engine, nullptr) != dnnl_success)
      return false;
    Step step;
    dnnl_status_t status = lib.dnnl_primitive_create(&step.primitive, desc);
    lib.dnnl_primitive_desc_destroy(desc);
    if (status != dnnl_success)
      return false;
    for (size_t i = 0; i < source.size(); ++i)
      step.arguments.push_back(
          {{DNNL_ARG_FROM, source[i]}, {DNNL_ARG_TO, target[i]}});
    steps.push_back(std::move(step));
    return true;
  }

  std::vector<Step> steps;
};

/// An argument of the main primitive.
struct Operand {
  int argument = 0;
  dnnl_query_t query = dnnl_query_src_md;
  int index = 0;
  /// How the caller has it, by set; one element: the same for all sets.
  const_dnnl_memory_desc_t plain = nullptr;
  std::vector<void *> data;
  /// Whether a reorder belongs to every call, or was done once before.
  bool constant = false;
  /// What it holds before the primitive runs, by set; copied in every call.
  /// Most leave it out.
  // NOLINTNEXTLINE(readability-redundant-member-init)
  std::vector<void *> before = {};
};

} // namespace

/// The steps around a primitive: reorders in, itself, a reorder out. Destroys
/// its descriptor.
static std::unique_ptr<OneDNNContender>
assemble(dnnl_primitive_desc_t primitive, const std::vector<Operand> &operands,
         int numSets) {
  const Library &lib = library();
  auto contender = std::make_unique<OneDNNContender>();
  const char *name = nullptr;
  lib.dnnl_primitive_desc_query(primitive, dnnl_query_impl_info_str, 0,
                                static_cast<void *>(&name));
  contender->implementation = name ? name : "";

  Step main;
  main.arguments.resize(numSets);
  std::unique_ptr<OneDNNContender> once = std::make_unique<OneDNNContender>();
  std::unique_ptr<OneDNNContender> after = std::make_unique<OneDNNContender>();
  bool ok = true;
  for (const Operand &operand : operands) {
    // It lives as long as the primitive.
    const_dnnl_memory_desc_t wanted = lib.dnnl_primitive_desc_query_md(
        primitive, operand.query, operand.index);
    std::vector<dnnl_memory_t> plain, inside;
    for (void *data : operand.data)
      plain.push_back(makeMemory(operand.plain, data));
    if (lib.dnnl_memory_desc_equal(wanted, operand.plain)) {
      inside = plain;
    } else {
      for (size_t i = 0; i < plain.size(); ++i)
        inside.push_back(makeMemory(wanted, nullptr));
      if (operand.query == dnnl_query_dst_md)
        ok &= after->addReorder(wanted, inside, operand.plain, plain);
      else if (operand.constant)
        ok &= once->addReorder(operand.plain, plain, wanted, inside);
      else
        ok &= contender->addReorder(operand.plain, plain, wanted, inside);
      if (!operand.constant)
        contender->implementation += " +reorder";
    }
    if (!operand.before.empty()) {
      std::vector<dnnl_memory_t> held;
      for (void *data : operand.before)
        held.push_back(makeMemory(operand.plain, data));
      ok &= contender->addReorder(operand.plain, held, wanted, inside);
      contender->implementation += " +copy";
    }
    for (int set = 0; set < numSets; ++set)
      main.arguments[set].push_back(
          {operand.argument, inside[inside.size() == 1 ? 0 : set]});
  }
  ok &= lib.dnnl_primitive_create(&main.primitive, primitive) == dnnl_success;
  lib.dnnl_primitive_desc_destroy(primitive);
  if (!ok || !once->run(0))
    return nullptr;
  contender->steps.push_back(std::move(main));
  for (Step &step : after->steps)
    contender->steps.push_back(std::move(step));
  return contender;
}

static std::vector<void *> inputsOf(const Problem &problem, size_t which) {
  std::vector<void *> result;
  for (int i = 0; i < problem.numSets(); ++i)
    result.push_back(problem.set(i).inputs[which].data());
  return result;
}

static std::vector<void *> outputsOf(const Problem &problem) {
  std::vector<void *> result;
  for (int i = 0; i < problem.numSets(); ++i)
    result.push_back(problem.set(i).output.data());
  return result;
}

static std::vector<std::unique_ptr<OneDNNContender>>
makeProducts(const Problem &problem) {
  const Case &entry = problem.what();
  const BufferSet &set = problem.set(0);
  std::vector<int> straight = {0, 1}, swapped = {1, 0};
  if (entry.gemm.batch != 1)
    straight = {0, 1, 2}, swapped = {0, 2, 1};
  Layout a = describe(entry.type, set.inputs[0].shape(),
                      entry.gemm.transposeA ? swapped : straight);
  Layout b = describe(entry.type, set.inputs[1].shape(),
                      entry.gemm.transposeB ? swapped : straight);
  Layout c = describe(entry.outputType(), set.output.shape(), straight);
  std::vector<Operand> operands = {
      {DNNL_ARG_SRC, dnnl_query_src_md, 0, a.desc, inputsOf(problem, 0), false},
      {DNNL_ARG_WEIGHTS, dnnl_query_weights_md, 0, b.desc, inputsOf(problem, 1),
       false},
      {DNNL_ARG_DST, dnnl_query_dst_md, 0, c.desc, outputsOf(problem), false}};

  std::vector<std::unique_ptr<OneDNNContender>> ways;
  for (bool ownB : {false, true}) {
    dnnl_primitive_desc_t desc = nullptr;
    if (library().dnnl_matmul_primitive_desc_create(
            &desc, library().engine, a.desc, ownB ? b.any() : b.desc, nullptr,
            c.desc, nullptr) == dnnl_success)
      ways.push_back(assemble(desc, operands, problem.numSets()));
  }
  return ways;
}

static std::vector<std::unique_ptr<OneDNNContender>>
makeConvolutions(const Problem &problem) {
  const Library &lib = library();
  const Case &entry = problem.what();
  const ConvShape &conv = entry.conv;
  const BufferSet &set = problem.set(0);
  bool isAlone = entry.isConvAlone();

  static Array filter, bias;
  bias = Array(ElementType::F32, {conv.k});
  if (isAlone) {
    filter = problem.filter;
  } else {
    // Batch norm folded: w' = w f, b' = shift - mean f.
    filter = Array(ElementType::F32, problem.filter.shape());
    int64_t perFilter = filter.count() / conv.k;
    for (int64_t k = 0; k < conv.k; ++k) {
      double factor = problem.scale.at(k) /
                      std::sqrt(problem.variance.at(k) + kBatchNormEpsilon);
      for (int64_t i = k * perFilter; i < (k + 1) * perFilter; ++i)
        filter.as<float>()[i] = float(problem.filter.at(i) * factor);
      bias.as<float>()[k] =
          float(problem.shift.at(k) - problem.mean.at(k) * factor);
    }
  }

  std::vector<int> order =
      conv.nchw ? std::vector<int>{0, 1, 2, 3} : std::vector<int>{0, 3, 1, 2};
  Layout x = describe(entry.type, set.inputs[0].shape(), order);
  Layout y = describe(entry.outputType(), set.output.shape(), order);
  Layout b = describe(ElementType::F32, bias.shape(), {0});
  Layout w;
  if (conv.groups == 1) {
    w = describe(entry.type, filter.shape(), order);
  } else {
    std::vector<int64_t> shape = filter.shape();
    shape[0] /= conv.groups;
    shape.insert(shape.begin(), conv.groups);
    w = describe(entry.type, shape,
                 conv.nchw ? std::vector<int>{0, 1, 2, 3, 4}
                           : std::vector<int>{0, 1, 4, 2, 3});
  }
  std::vector<Operand> operands = {
      {DNNL_ARG_SRC, dnnl_query_src_md, 0, x.desc, inputsOf(problem, 0), false},
      {DNNL_ARG_WEIGHTS,
       dnnl_query_weights_md,
       0,
       w.desc,
       {filter.data()},
       true},
      {DNNL_ARG_DST, dnnl_query_dst_md, 0, y.desc, outputsOf(problem), false}};
  if (!isAlone)
    operands.insert(
        operands.begin() + 2,
        {DNNL_ARG_BIAS, dnnl_query_weights_md, 1, b.desc, {bias.data()}, true});

  dnnl_dims_t strides = {conv.stride, conv.stride};
  dnnl_dims_t dilates = {conv.dilation - 1, conv.dilation - 1};
  dnnl_dims_t before = {conv.pads[0], conv.pads[1]};
  dnnl_dims_t after = {conv.pads[2], conv.pads[3]};
  std::vector<std::unique_ptr<OneDNNContender>> ways;
  auto addWays = [&](const_dnnl_primitive_attr_t attributes,
                     const std::vector<Operand> &arguments) {
    for (dnnl_alg_kind_t algorithm :
         {dnnl_convolution_direct, dnnl_convolution_auto})
      for (bool own : {false, true}) {
        dnnl_primitive_desc_t desc = nullptr;
        if (lib.dnnl_convolution_forward_primitive_desc_create(
                &desc, lib.engine, dnnl_forward_inference, algorithm,
                own ? x.any() : x.desc, w.any(), isAlone ? nullptr : b.desc,
                own ? y.any() : y.desc, strides, dilates, before, after,
                attributes) == dnnl_success)
          ways.push_back(assemble(desc, arguments, problem.numSets()));
      }
  };
  if (isAlone) {
    addWays(nullptr, operands);
    return ways;
  }
  // A residual is another operand, or rests where the result goes.
  for (bool inPlace : {false, true}) {
    if (inPlace && !conv.residual)
      continue;
    dnnl_post_ops_t postOps = nullptr;
    dnnl_primitive_attr_t attributes = nullptr;
    std::vector<Operand> arguments = operands;
    lib.dnnl_post_ops_create(&postOps);
    if (inPlace) {
      lib.dnnl_post_ops_append_sum(postOps, 1, 0, dnnl_data_type_undef);
      arguments.back().before = inputsOf(problem, 1);
    } else if (conv.residual) {
      lib.dnnl_post_ops_append_binary(postOps, dnnl_binary_add, y.desc);
      int argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1;
      arguments.push_back({argument, dnnl_query_exec_arg_md, argument, y.desc,
                           inputsOf(problem, 1), false});
    }
    lib.dnnl_post_ops_append_eltwise(postOps, dnnl_eltwise_relu, 0, 0);
    lib.dnnl_primitive_attr_create(&attributes);
    lib.dnnl_primitive_attr_set_post_ops(attributes, postOps);
    addWays(attributes, arguments);
    lib.dnnl_primitive_attr_destroy(attributes);
    lib.dnnl_post_ops_destroy(postOps);
  }
  return ways;
}

std::string tracea::bench::describeOneDNN() { return library().description; }

MaybeContender tracea::bench::makeOneDNN(const Problem &problem) {
  if (!library().loaded)
    return {nullptr, "not installed"};
  std::vector<std::unique_ptr<OneDNNContender>> ways =
      problem.what().op == Op::Gemm ? makeProducts(problem)
                                    : makeConvolutions(problem);
  std::unique_ptr<OneDNNContender> best;
  double bestSeconds = 0;
  for (std::unique_ptr<OneDNNContender> &way : ways) {
    if (!way)
      continue;
    double seconds = quickSeconds(*way, problem.numSets());
    if (best && seconds >= bestSeconds)
      continue;
    best = std::move(way);
    bestSeconds = seconds;
  }
  if (!best)
    return {nullptr, "has no such operation"};
  return {std::move(best), ""};
}

// NOLINTEND(clang-analyzer-core.CallAndMessage)

#endif // TRACEA_HAVE_ONEDNN
