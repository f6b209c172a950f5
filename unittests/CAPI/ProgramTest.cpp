//===- ProgramTest.cpp - Programs and executions from C -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reference.h"
#include "gmock/gmock.h"

#include <cstdlib>

using namespace tracea;
using namespace tracea::test;
using testing::HasSubstr;

namespace {

const char *const source = R"(
  func.func @scale(%x: tensor<?xf32>, %w: tensor<f32> {tracea.constant},
                   %n: i32) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %size = tensor.dim %x, %c0 : tensor<?xf32>
    %empty = tensor.empty(%size) : tensor<?xf32>
    %f = arith.sitofp %n : i32 to f32
    %y = linalg.generic {
        indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>,
                         affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]}
        ins(%x, %w : tensor<?xf32>, tensor<f32>) outs(%empty : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32, %old: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %0, %f : f32
      linalg.yield %1 : f32
    } -> tensor<?xf32>
    return %y : tensor<?xf32>
  })";

std::string temporaryFolder() {
  std::string name = testing::TempDir() + "traceaXXXXXX";
  return mkdtemp(&name[0]);
}

TEST(Program, CompileRunShare) {
  Program program = Program::compile(source);
  EXPECT_EQ(program.entries(), std::vector<std::string>{"scale"});
  std::vector<Argument> inputs = program.inputs("scale");
  ASSERT_EQ(inputs.size(), 3u);
  EXPECT_TRUE(inputs[1].is_constant);
  EXPECT_TRUE(inputs[2].is_scalar);
  EXPECT_EQ(program.output_count(), 1u);

  float x[] = {1, 2, 3}, w = 10, y[3] = {};
  int32_t n = 5;
  TensorView scalar(&n, {}, DType::Int32);
  Execution execution(program);
  execution.bind(1, TensorView(&w, {}));
  execution.run({TensorView(x, {3}), TensorView(), scalar},
                {TensorView(y, {3})});
  EXPECT_THAT(y, testing::ElementsAre(15, 25, 35));
  n = 6;
  execution.run({TensorView(x, {2}), TensorView(), scalar},
                {TensorView(y, {2})});
  EXPECT_THAT(y, testing::ElementsAre(16, 26, 35));
}

TEST(Program, SavesAndLoads) {
  std::string folder = temporaryFolder(), path = folder + "/scale.tracea";
  Program::compile(source).save(path);
  Program program = Program::load(path);
  EXPECT_THAT(program.explain(), HasSubstr("\"kernels\""));
  const void *bytes = nullptr;
  size_t size = 0;
  check(tracea_program_bytes(program.c(), &bytes, &size));
  TraceaProgram *copy = nullptr;
  check(tracea_program_load_bytes(bytes, size, &copy));
  EXPECT_EQ(Program(copy).entries().size(), 1u);
  EXPECT_THAT(messageOf(TRACEA_IO_ERROR,
                        [&] { Program::load(folder + "/none.tracea"); }),
              HasSubstr("none.tracea"));
  EXPECT_EQ(tracea_program_load_bytes("nothing", 7, &copy),
            TRACEA_INVALID_PARAMS);
}

TEST(Program, TheCacheFindsWhatWasCompiled) {
  size_t length = 0;
  check(tracea_cache_directory(nullptr, 0, &length));
  std::string before = detail::text(tracea_cache_directory);
  std::string folder = temporaryFolder() + "/deep/cache";
  check(tracea_cache_set_directory(folder.c_str()));
  EXPECT_THAT(Program::compile(source).explain(),
              HasSubstr("\"fromCache\": false"));
  EXPECT_THAT(Program::compile(source).explain(),
              HasSubstr("\"fromCache\": true"));
  CompileOptions options;
  options.use_cache = false;
  EXPECT_THAT(Program::compile(source, options).explain(),
              HasSubstr("\"fromCache\": false"));
  check(tracea_cache_clear());
  EXPECT_THAT(Program::compile(source).explain(),
              HasSubstr("\"fromCache\": false"));
  check(tracea_cache_set_directory(before.c_str()));
}

TEST(Program, MessagesNameTheModule) {
  std::string text = messageOf(TRACEA_INVALID_PARAMS, [] {
    Program::compile("func.func @main() {\n  nonsense\n}");
  });
  EXPECT_THAT(text, HasSubstr("<module>:2:3: "));
  CompileOptions options;
  options.target = "sm_1";
  EXPECT_THAT(messageOf(TRACEA_UNSUPPORTED_CONFIG,
                        [&] { Program::compile(source, options); }),
              HasSubstr("sm_1"));
  options.target = "cuda:x";
  EXPECT_THAT(messageOf(TRACEA_INVALID_PARAMS,
                        [&] { Program::compile(source, options); }),
              HasSubstr("target: expected cuda or cuda:N"));
  options = CompileOptions();
  options.fuse = "some";
  EXPECT_THAT(messageOf(TRACEA_INVALID_PARAMS,
                        [&] { Program::compile(source, options); }),
              HasSubstr("fuse: expected 'none', 'safe' or 'all'"));
}

TEST(Program, CompilesForGPUsWithoutOne) {
  CompileOptions options;
  options.target = "sm_90a";
  EXPECT_THAT(Program::compile(source, options).explain(),
              HasSubstr("\"arch\": \"sm_90a\""));
}

#if defined(__x86_64__)
TEST(Program, SeveralTargetsAreVersionsOfOneProgram) {
  CompileOptions options;
  options.target = "znver5,x86-64-v2";
  Program program = Program::compile(source, options);
  EXPECT_THAT(program.explain(), AllOf(HasSubstr("\"name\": \"znver5\""),
                                       HasSubstr("\"others\": ["),
                                       HasSubstr("\"name\": \"x86-64-v2\"")));
  Execution execution(program);
  float x[] = {1, 2, 3}, y[3] = {}, w = 2;
  int32_t n = 1;
  execution.run({TensorView(x, {3}), TensorView(&w, {}),
                 TensorView(&n, {}, DType::Int32)},
                {TensorView(y, {3})});
  options.target = "x86-64-v2,znver5";
  EXPECT_THAT(messageOf(TRACEA_UNSUPPORTED_CONFIG,
                        [&] { Program::compile(source, options); }),
              HasSubstr("the version for 'znver5' would never be taken"));
}
#endif

TEST(Program, RunsAreChecked) {
  Program program = Program::compile(source);
  Execution execution(program);
  float x[] = {1, 2, 3}, y[3] = {}, w = 2;
  int32_t n = 1;
  TensorView scalar(&n, {}, DType::Int32), factor(&w, {});
  auto message = [&](std::vector<TensorView> in, std::vector<TensorView> out) {
    return messageOf(TRACEA_INVALID_PARAMS, [&] { execution.run(in, out); });
  };
  EXPECT_THAT(message({TensorView(x, {3})}, {TensorView(y, {3})}),
              HasSubstr("num_inputs: expected 3, found 1"));
  EXPECT_THAT(
      message({TensorView(x, {3}), factor, scalar}, {TensorView(y, {2})}),
      HasSubstr("output 0"));
  EXPECT_THAT(message({TensorView(x, {3}, DType::Int32), factor, scalar},
                      {TensorView(y, {3})}),
              HasSubstr("input 0"));
  EXPECT_THAT(
      message({TensorView(x, {3}), TensorView(), scalar}, {TensorView(y, {3})}),
      HasSubstr("input 1"));
  EXPECT_THAT(messageOf(TRACEA_INVALID_PARAMS,
                        [&] { execution.bind(0, TensorView(x, {3})); }),
              HasSubstr("expected a constant argument"));
  EXPECT_THAT(messageOf(TRACEA_INVALID_PARAMS,
                        [&] { Execution other(program, TRACEA_CPU, "none"); }),
              HasSubstr("none"));
  TraceaExecution *none = nullptr;
  EXPECT_EQ(tracea_execution_create(nullptr, nullptr, nullptr, &none),
            TRACEA_INVALID_PARAMS);
  tracea_execution_free(nullptr);
  tracea_program_free(nullptr);
  tracea_graph_free(nullptr);
}

} // namespace
