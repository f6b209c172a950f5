//===- CallersTest.cpp - Callers that are wrong, many, or forked ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever can be told from the arguments themselves is a status and a message,
// never a crash. Run under valgrind and with the sanitizers as well.
//
//===----------------------------------------------------------------------===//

#include "Reference.h"
#include "gmock/gmock.h"

#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

using namespace tracea;
using namespace tracea::test;
using testing::HasSubstr;

namespace {

//===----------------------------------------------------------------------===//
// Views that are wrong
//===----------------------------------------------------------------------===//

/// A view with arrays of its own, which defects change.
struct Given {
  std::string name;
  std::vector<uint64_t> shape;
  bool isOutput = false;
  TraceaDType dtype = TRACEA_FLOAT32;

  std::vector<float> memory;
  std::vector<int64_t> stride;
  TraceaTensorView view{};

  void reset() {
    size_t count = 1;
    for (uint64_t size : shape)
      count *= size;
    // Of i64 there would be as many bytes as of two floats.
    memory.assign(2 * count + 2, 0.5f);
    if (dtype == TRACEA_INT64)
      std::fill(memory.begin(), memory.end(), 0.0f);
    stride.assign(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;)
      stride[i - 1] = stride[i] * static_cast<int64_t>(shape[i]);
    view = {memory.data(), static_cast<uint32_t>(shape.size()),
            shape.data(),  stride.data(),
            dtype,         TRACEA_CPU};
  }
};

/// An operator with operands that fit together.
struct Caller {
  std::string function;
  std::vector<Given> operands;
  std::function<TraceaStatus(std::vector<Given> &)> call;
};

std::vector<Caller> callers() {
  auto in = [](const char *name, std::vector<uint64_t> shape,
               TraceaDType dtype = TRACEA_FLOAT32) {
    Given given;
    given.name = name;
    given.shape = std::move(shape);
    given.dtype = dtype;
    return given;
  };
  auto out = [&](std::vector<uint64_t> shape, const char *name = "out") {
    Given given = in(name, std::move(shape));
    given.isOutput = true;
    return given;
  };
  std::vector<Caller> list;
  list.push_back({"tracea_gemm",
                  {in("a", {4, 4}), in("b", {4, 4}), in("bias", {4}),
                   in("residual", {4, 4}), out({4, 4})},
                  [](std::vector<Given> &g) {
                    TraceaGemmParams params = TRACEA_GEMM_PARAMS_INIT;
                    params.residual = &g[3].view;
                    return tracea_gemm(g[0].view, g[1].view, &g[2].view,
                                       &g[4].view, params);
                  }});
  list.push_back({"tracea_grouped_gemm",
                  {in("a", {4, 4}), in("b", {2, 4, 4}),
                   in("ends", {2}, TRACEA_INT64), out({4, 4})},
                  [](std::vector<Given> &g) {
                    TraceaGroupedGemmParams params =
                        TRACEA_GROUPED_GEMM_PARAMS_INIT;
                    return tracea_grouped_gemm(g[0].view, g[1].view, g[2].view,
                                               &g[3].view, params);
                  }});
  list.push_back({"tracea_conv2d",
                  {in("x", {1, 2, 4, 4}), in("w", {3, 2, 2, 2}), in("b", {3}),
                   in("residual", {1, 3, 3, 3}), out({1, 3, 3, 3})},
                  [](std::vector<Given> &g) {
                    TraceaConv2dParams params = TRACEA_CONV2D_PARAMS_INIT;
                    params.residual = &g[3].view;
                    return tracea_conv2d(g[0].view, g[1].view, &g[2].view,
                                         &g[4].view, params);
                  }});
  list.push_back(
      {"tracea_conv2d_dgrad",
       {in("grad", {1, 3, 3, 3}), in("w", {3, 2, 2, 2}), out({1, 2, 4, 4})},
       [](std::vector<Given> &g) {
         TraceaConv2dParams params = TRACEA_CONV2D_PARAMS_INIT;
         return tracea_conv2d_dgrad(g[0].view, g[1].view, &g[2].view, params);
       }});
  list.push_back(
      {"tracea_conv2d_wgrad",
       {in("x", {1, 2, 4, 4}), in("grad", {1, 3, 3, 3}), out({3, 2, 2, 2})},
       [](std::vector<Given> &g) {
         TraceaConv2dParams params = TRACEA_CONV2D_PARAMS_INIT;
         return tracea_conv2d_wgrad(g[0].view, g[1].view, &g[2].view, params);
       }});
  list.push_back(
      {"tracea_attention",
       {in("q", {1, 1, 4, 4}), in("k", {1, 1, 4, 4}), in("v", {1, 1, 4, 4}),
        out({1, 1, 4, 4}), out({1, 1, 4}, "lse")},
       [](std::vector<Given> &g) {
         TraceaAttentionParams params = TRACEA_ATTENTION_PARAMS_INIT;
         params.lse = &g[4].view;
         return tracea_attention(g[0].view, g[1].view, g[2].view, &g[3].view,
                                 params);
       }});
  list.push_back({"tracea_softmax",
                  {in("x", {4, 4}), out({4, 4})},
                  [](std::vector<Given> &g) {
                    TraceaSoftmaxParams params = TRACEA_SOFTMAX_PARAMS_INIT;
                    return tracea_softmax(g[0].view, &g[1].view, params);
                  }});
  list.push_back(
      {"tracea_layer_norm",
       {in("x", {4, 4}), in("scale", {4}), in("bias", {4}), out({4, 4})},
       [](std::vector<Given> &g) {
         TraceaNormParams params = TRACEA_NORM_PARAMS_INIT;
         return tracea_layer_norm(g[0].view, &g[1].view, &g[2].view, &g[3].view,
                                  params);
       }});
  list.push_back({"tracea_rms_norm",
                  {in("x", {4, 4}), in("scale", {4}), out({4, 4})},
                  [](std::vector<Given> &g) {
                    TraceaNormParams params = TRACEA_NORM_PARAMS_INIT;
                    return tracea_rms_norm(g[0].view, &g[1].view, &g[2].view,
                                           params);
                  }});
  return list;
}

/// A defect of one operand, and a part of the message that it has to have
/// behind the operand's name; "" where other operands may be named.
struct Defect {
  const char *name;
  std::function<void(Given &)> make;
  const char *message;
};

const uint64_t ones[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};

std::vector<Defect> defects() {
  return {
      {"no memory", [](Given &g) { g.view.ptr = nullptr; },
       ": expected memory of"},
      {"no shape", [](Given &g) { g.view.shape = nullptr; },
       ": expected a shape of"},
      {"rank 9",
       [](Given &g) {
         g.view.rank = 9;
         g.view.shape = ones;
         g.view.stride = nullptr;
       },
       ": expected at most 8 dimensions, found 9"},
      {"a rank of all bits", [](Given &g) { g.view.rank = ~uint32_t(0); },
       ": expected at most 8 dimensions"},
      {"rank 0", [](Given &g) { g.view.rank = 0; }, ""},
      {"one dimension more",
       [](Given &g) {
         ++g.view.rank;
         g.view.shape = ones;
         g.view.stride = nullptr;
       },
       ""},
      {"an unknown type",
       [](Given &g) { g.view.dtype = static_cast<TraceaDType>(11); },
       ": expected a dtype from 0 to 10, found 11"},
      {"a negative type",
       [](Given &g) { g.view.dtype = static_cast<TraceaDType>(-1); },
       ": expected a dtype from 0 to 10"},
      {"a negative stride",
       [](Given &g) {
         g.stride.back() = -1;
         g.view.ptr = g.memory.data() + g.memory.size() - 2;
       },
       ": expected strides of at least 0, found -1"},
      {"a stride beyond memory",
       [](Given &g) {
         // Of one element it would not matter.
         size_t dim = 0;
         while (g.shape[dim] == 1)
           ++dim;
         g.stride[dim] = INT64_MAX / 2;
       },
       ": expected strides that stay within 2^63 bytes"},
      {"a size beyond 2^63",
       [](Given &g) {
         g.shape.front() = ~uint64_t(0);
         g.view.shape = g.shape.data();
       },
       ": expected sizes below 2^63"},
      {"elements that cannot be counted",
       [](Given &g) {
         g.shape.front() = uint64_t(1) << 62;
         g.view.shape = g.shape.data();
       },
       ""},
      {"memory off by a byte",
       [](Given &g) {
         g.view.ptr = reinterpret_cast<char *>(g.memory.data()) + 1;
       },
       ": expected memory aligned to the"},
      {"device -2", [](Given &g) { g.view.device_id = -2; },
       ": expected a device_id of at least -1"},
      {"a GPU", [](Given &g) { g.view.device_id = 0; }, ""},
      {"a GPU that is none", [](Given &g) { g.view.device_id = INT32_MAX; },
       ""},
  };
}

TEST(Callers, EachDefectOfEachOperandIsAMessage) {
  for (Caller &caller : callers()) {
    size_t count = caller.operands.size();
    for (size_t i = 0; i < count; ++i)
      for (const Defect &defect : defects()) {
        std::vector<Given> operands = caller.operands;
        for (Given &given : operands)
          given.reset();
        SCOPED_TRACE(caller.function + ", " + operands[i].name + ": " +
                     defect.name);
        defect.make(operands[i]);
        tracea_clear_error();
        EXPECT_NE(caller.call(operands), TRACEA_SUCCESS);
        std::string text = get_last_error();
        EXPECT_THAT(text, HasSubstr(caller.function + ": "));
        if (*defect.message)
          EXPECT_THAT(text, HasSubstr(operands[i].name + defect.message));
        // Nothing is written where a call fails.
        for (const Given &given : operands)
          if (given.isOutput)
            EXPECT_EQ(
                std::count(given.memory.begin(), given.memory.end(), 0.5f),
                std::ptrdiff_t(given.memory.size()));
      }
  }
}

TEST(Callers, OutputsHaveMemoryOfTheirOwn) {
  for (Caller &caller : callers())
    for (size_t o = 0; o < caller.operands.size(); ++o)
      for (size_t i = 0; i < caller.operands.size(); ++i) {
        if (!caller.operands[o].isOutput || i == o)
          continue;
        std::vector<Given> operands = caller.operands;
        for (Given &given : operands)
          given.reset();
        SCOPED_TRACE(caller.function + ", " + operands[o].name + " in " +
                     operands[i].name);
        // The last element of the one is the first of the other.
        std::vector<float> shared(256, 0.5f);
        operands[i].view.ptr = shared.data();
        size_t elements = (operands[i].memory.size() - 2) / 2;
        operands[o].view.ptr =
            shared.data() +
            (operands[i].dtype == TRACEA_INT64 ? 2 : 1) * elements - 1;
        if (operands[i].dtype == TRACEA_INT64)
          std::fill(shared.begin(), shared.end(), 0.0f);
        EXPECT_EQ(caller.call(operands), TRACEA_INVALID_PARAMS);
        EXPECT_THAT(get_last_error(),
                    HasSubstr(": expected memory of its own"));
      }
}

TEST(Callers, OutputsDoNotRepeatElements) {
  for (Caller &caller : callers())
    for (size_t o = 0; o < caller.operands.size(); ++o) {
      std::vector<Given> operands = caller.operands;
      for (Given &given : operands)
        given.reset();
      if (!operands[o].isOutput)
        continue;
      operands[o].stride.back() = 0;
      EXPECT_EQ(caller.call(operands), TRACEA_INVALID_PARAMS);
      EXPECT_THAT(get_last_error(),
                  HasSubstr(operands[o].name +
                            ": expected elements with places of their own"));
    }
}

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

const char *const twice = R"(
  func.func @twice(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?x4xf32>
    %empty = tensor.empty(%n) : tensor<?x4xf32>
    %y = linalg.add ins(%x, %x : tensor<?x4xf32>, tensor<?x4xf32>)
                    outs(%empty : tensor<?x4xf32>) -> tensor<?x4xf32>
    return %y : tensor<?x4xf32>
  })";

/// Calls every function that takes a handle with these.
void expectRefused(TraceaProgram *program, TraceaExecution *execution,
                   TraceaGraph *graph, const char *found) {
  size_t number = 0;
  uint64_t shape[TRACEA_MAX_RANK];
  uint32_t rank = 0;
  const void *bytes = nullptr;
  TraceaValue value = 0;
  TraceaArgument argument = {};
  argument.size = sizeof argument;
  TraceaTensorView view = {};
  TraceaExecution *fresh = nullptr;
  TraceaProgram *made = nullptr;
  int64_t sizes[] = {1};
  auto refused = [&](TraceaStatus status) {
    EXPECT_EQ(status, TRACEA_INVALID_PARAMS);
    EXPECT_THAT(get_last_error(), HasSubstr(found));
    tracea_clear_error();
  };
  refused(tracea_program_save(program, "/nonexistent/file"));
  refused(tracea_program_bytes(program, &bytes, &number));
  refused(tracea_program_explain(program, nullptr, 0, &number));
  refused(tracea_program_counts(program, nullptr, &number, nullptr));
  refused(tracea_program_input(program, nullptr, 0, &argument));
  refused(tracea_program_output(program, nullptr, 0, &argument));
  refused(tracea_execution_create(program, nullptr, nullptr, &fresh));
  EXPECT_EQ(tracea_program_entry_count(program), 0u);
  EXPECT_EQ(tracea_program_entry_name(program, 0), nullptr);
  refused(tracea_execution_share(execution, &fresh));
  refused(tracea_execution_bind(execution, 0, &view));
  refused(tracea_execution_run(execution, &view, 1, &view, 1, nullptr));
  refused(tracea_execution_wait(execution, nullptr));
  refused(tracea_execution_prepare(execution, &view, 1));
  refused(tracea_execution_output_shape(execution, 0, shape, &rank));
  refused(tracea_execution_stats(execution, nullptr, 0, &number));
  refused(tracea_graph_input(graph, "x", TRACEA_FLOAT32, 1, sizes, 0, &value));
  refused(tracea_graph_output(graph, 1));
  refused(tracea_graph_softmax(graph, 1, nullptr, &value));
  refused(tracea_graph_text(graph, nullptr, 0, &number));
  refused(tracea_graph_compile(graph, nullptr, &made));
  EXPECT_EQ(fresh, nullptr);
  EXPECT_EQ(made, nullptr);
}

TEST(Callers, HandlesThatAreNone) {
  expectRefused(nullptr, nullptr, nullptr, "expected a pointer, found NULL");
  int nothing = 0;
  expectRefused(reinterpret_cast<TraceaProgram *>(&nothing),
                reinterpret_cast<TraceaExecution *>(&nothing),
                reinterpret_cast<TraceaGraph *>(&nothing),
                "expected a handle that lives");
}

TEST(Callers, HandlesThatWereFreed) {
  TraceaProgram *program = nullptr;
  TraceaExecution *execution = nullptr, *other = nullptr;
  TraceaGraph *graph = nullptr;
  check(tracea_compile(twice, strlen(twice), nullptr, &program));
  check(tracea_execution_create(program, nullptr, nullptr, &execution));
  check(tracea_execution_share(execution, &other));
  check(tracea_graph_create(&graph));
  // Executions keep what they need of their program, and of each other.
  tracea_program_free(program);
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8] = {};
  const uint64_t shape[] = {2, 4};
  TraceaTensorView in = {x, 2, shape, nullptr, TRACEA_FLOAT32, TRACEA_CPU};
  TraceaTensorView out = in;
  out.ptr = y;
  check(tracea_execution_run(execution, &in, 1, &out, 1, nullptr));
  EXPECT_EQ(y[7], 16);
  tracea_execution_free(execution);
  y[7] = 0;
  check(tracea_execution_run(other, &in, 1, &out, 1, nullptr));
  EXPECT_EQ(y[7], 16);
  tracea_execution_free(other);
  tracea_graph_free(graph);
  expectRefused(program, other, graph, "expected a handle that lives");
  // Nor are they freed twice.
  auto refused = [] {
    EXPECT_THAT(get_last_error(), HasSubstr("expected a handle that lives"));
    tracea_clear_error();
  };
  tracea_program_free(program);
  refused();
  tracea_execution_free(other);
  refused();
  tracea_graph_free(graph);
  refused();
}

TEST(Callers, RunsWithDefects) {
  Program program = Program::compile(twice);
  TraceaExecution *execution = nullptr;
  check(tracea_execution_create(program.c(), nullptr, nullptr, &execution));
  for (bool isOutput : {false, true})
    for (const Defect &defect : defects()) {
      Given operands[2];
      for (Given &given : operands) {
        given.shape = {3, 4};
        given.reset();
      }
      SCOPED_TRACE(std::string(isOutput ? "output: " : "input: ") +
                   defect.name);
      defect.make(operands[isOutput]);
      EXPECT_NE(tracea_execution_run(execution, &operands[0].view, 1,
                                     &operands[1].view, 1, nullptr),
                TRACEA_SUCCESS);
      EXPECT_THAT(get_last_error(), HasSubstr(isOutput ? "output" : "input"));
      EXPECT_EQ(std::count(operands[1].memory.begin(), operands[1].memory.end(),
                           0.5f),
                std::ptrdiff_t(operands[1].memory.size()));
    }
  Given fine;
  fine.shape = {3, 4};
  fine.reset();
  TraceaTensorView out = fine.view;
  EXPECT_EQ(tracea_execution_run(execution, nullptr, 1, &out, 1, nullptr),
            TRACEA_INVALID_PARAMS);
  EXPECT_EQ(tracea_execution_run(execution, &fine.view, 1, nullptr, 1, nullptr),
            TRACEA_INVALID_PARAMS);
  EXPECT_EQ(
      tracea_execution_run(execution, &fine.view, 1, &out, ~size_t(0), nullptr),
      TRACEA_INVALID_PARAMS);
  // An output may be an input: that is copied first.
  EXPECT_EQ(tracea_execution_run(execution, &fine.view, 1, &out, 1, nullptr),
            TRACEA_SUCCESS)
      << get_last_error();
  EXPECT_EQ(fine.memory[0], 1.0f);
  uint64_t shape[TRACEA_MAX_RANK];
  uint32_t rank = 0;
  EXPECT_EQ(tracea_execution_output_shape(execution, 7, shape, &rank),
            TRACEA_INVALID_PARAMS);
  tracea_execution_free(execution);
}

TEST(Callers, FilesThatAreNone) {
  std::string bytes(4096, '\xff');
  TraceaProgram *program = nullptr;
  for (size_t size : {size_t(0), size_t(1), size_t(64), bytes.size()})
    EXPECT_NE(tracea_program_load_bytes(bytes.data(), size, &program),
              TRACEA_SUCCESS);
  EXPECT_NE(tracea_program_load("/dev/null", &program), TRACEA_SUCCESS);
  EXPECT_NE(tracea_program_load("/", &program), TRACEA_SUCCESS);
  EXPECT_NE(tracea_compile("\xff\xfe\0\1", 4, nullptr, &program),
            TRACEA_SUCCESS);
  EXPECT_NE(tracea_compile("", 0, nullptr, &program), TRACEA_SUCCESS);
  EXPECT_EQ(program, nullptr);
}

//===----------------------------------------------------------------------===//
// Threads and processes
//===----------------------------------------------------------------------===//

/// Runs with rows of a thread's own; whether all were right.
bool runTwice(Execution &execution, float first, int times) {
  for (int i = 0; i < times; ++i) {
    uint64_t rows = 1 + static_cast<uint64_t>(i) % 37;
    std::vector<float> x(rows * 4, first + static_cast<float>(i)), y(x.size());
    execution.run({TensorView(x.data(), {rows, 4})},
                  {TensorView(y.data(), {rows, 4})});
    for (float value : y)
      if (value != 2 * x[0])
        return false;
  }
  return true;
}

TEST(Callers, SixteenThreadsOfOneProgram) {
  Program program = Program::compile(twice);
  std::vector<std::thread> threads;
  std::array<bool, 16> fine{};
  for (size_t t = 0; t < fine.size(); ++t)
    threads.emplace_back([&, t] {
      // Each makes its own and frees it while the others run.
      for (int round = 0; round < 4; ++round) {
        Execution execution(program);
        fine[t] = runTwice(execution, static_cast<float>(100 * t), 50);
        if (!fine[t])
          return;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_THAT(fine, testing::Each(true));
}

TEST(Callers, AChildGoesOnOnTheCPU) {
  Program program = Program::compile(twice);
  Execution execution(program);
  ASSERT_TRUE(runTwice(execution, 1, 10));
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // Its copy of the execution, one of its own, an operator that was compiled
    // before the fork or is now, and the freeing of them.
    alarm(300);
    bool fine = runTwice(execution, 5, 10);
    try {
      Execution own(program);
      fine = fine && runTwice(own, 7, 10);
      Strided a = Strided::make({3, 5}), b = Strided::make({5, 2}),
              out = Strided::make({3, 2});
      std::mt19937 random(1);
      a.fill(random);
      b.fill(random);
      gemm(a.view(), b.view(), nullptr, out.view());
      double sum = 0;
      for (uint64_t k = 0; k < 5; ++k)
        sum += a.get({0, k}) * b.get({k, 0});
      fine = fine && std::abs(sum - out.get({0, 0})) < 1e-5;
    } catch (const Error &) {
      fine = false;
    }
    _exit(fine ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(runTwice(execution, 9, 10));
}

} // namespace
