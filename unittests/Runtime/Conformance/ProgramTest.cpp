//===- ProgramTest.cpp - Programs on every driver -------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole programs, built as the compiler builds them, packed into a container,
// parsed again and run.
//
//===----------------------------------------------------------------------===//

#include "ProgramConformance.h"

#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

using namespace tracea::runtime;
using namespace tracea::runtime::test;
using ::testing::Each;
using ::testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(Drivers, ProgramConformance,
                         ::testing::ValuesIn(conformanceDrivers()), nameOfCase);

TEST_P(ProgramConformance, RunsAChainForManyShapes) {
  std::unique_ptr<Execution> execution = start(chain());
  const int64_t sizes[][2] = {{1, 1}, {3, 5}, {17, 33},  {64, 64}, {0, 5},
                              {5, 0}, {0, 0}, {1, 1000}, {101, 7}};
  for (const auto &[m, k] : sizes) {
    Tensor x = ramp({m, k}), y = ramp({m * k}, 0.5f);
    std::vector<Tensor> outputs(2);
    Status status = execution->run({x, y}, outputs);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(outputs[0].shape(), (std::vector<int64_t>{m, k}));
    EXPECT_EQ(outputs[1].shape(), (std::vector<int64_t>{m}));
    std::vector<float> z = valuesOf(outputs[0]), sums = valuesOf(outputs[1]);
    for (int64_t i = 0; i < m; ++i) {
      float sum = 0;
      for (int64_t j = 0; j < k; ++j) {
        int64_t at = i * k + j;
        float expected =
            3 * static_cast<float>(at) + (static_cast<float>(at) + 0.5f);
        ASSERT_EQ(z[static_cast<size_t>(at)], expected);
        sum += expected;
      }
      ASSERT_EQ(sums[static_cast<size_t>(i)], sum);
    }
  }
  EXPECT_EQ(execution->stats().runs, 9);
}

TEST_P(ProgramConformance, TakesTheFirstVersionThatTheDeviceCanRun) {
  auto version = [&](const char *name, int steps,
                     std::vector<std::string> features = {}) {
    ProgramFile program = copies(steps);
    complete(program);
    program.manifest.target.name = name;
    program.manifest.target.features = std::move(features);
    return program;
  };
  ProgramFile program = version("best", 1, {"abacus"});
  // No device takes all kinds of code.
  ProgramFile foreign = version("foreign", 2);
  foreign.manifest.images[0].kind = ImageKind::SPIRV;
  program.addVersions(foreign);
  program.addVersions(version("good", 3));
  program.addVersions(version("plain", 4));
  EXPECT_EQ(program.blobs.size(), 1u);

  Expected<std::shared_ptr<Executable>> taken = loadComplete(program);
  ASSERT_TRUE(taken) << taken.message();
  EXPECT_EQ((*taken)->manifest().target.name, "good");
  std::unique_ptr<Execution> execution =
      std::move(*(*taken)->createExecution());
  Tensor x = ramp({4, 9});
  std::vector<Tensor> outputs(1);
  ASSERT_TRUE(execution->run({x}, outputs).ok());
  EXPECT_EQ(valuesOf(outputs[0]), valuesOf(x));
  EXPECT_EQ(execution->stats().launches, 3);

  ProgramFile forced = program;
  ASSERT_TRUE(forced.selectTarget("plain").ok());
  taken = loadComplete(forced);
  ASSERT_TRUE(taken) << taken.message();
  EXPECT_EQ((*taken)->manifest().target.name, "plain");
  // One that cannot run does not give way when it is asked for.
  forced = program;
  ASSERT_TRUE(forced.selectTarget("best").ok());
  EXPECT_THAT(loadComplete(forced).message(),
              HasSubstr("the program (for \"best\") needs abacus"));

  ProgramFile none = version("best", 1, {"abacus"});
  none.addVersions(foreign);
  EXPECT_THAT(loadComplete(none).message(),
              ::testing::AllOf(
                  HasSubstr("the device can run none of the program's 2 "
                            "versions: for \"best\": "),
                  HasSubstr("needs abacus"), HasSubstr("; for \"foreign\": ")));
}

TEST_P(ProgramConformance, RepeatedRunsReuseMemoryAndAreBitwiseEqual) {
  std::unique_ptr<Execution> execution = start(copies(6));
  Tensor x = ramp({4, 999}, 0.125f);
  std::vector<Tensor> outputs(1);
  ASSERT_TRUE(execution->run({x}, outputs).ok());
  EXPECT_EQ(valuesOf(outputs[0]), valuesOf(x));
  for (int i = 0; i < 30; ++i) {
    std::memset(outputs[0].data(), 0xff,
                static_cast<size_t>(outputs[0].byteSize()));
    ASSERT_TRUE(execution->run({x}, outputs).ok());
    ASSERT_EQ(std::memcmp(outputs[0].data(), x.data(),
                          static_cast<size_t>(x.byteSize())),
              0);
  }
  const RunStats &stats = execution->stats();
  EXPECT_EQ(stats.runs, 31);
  EXPECT_EQ(stats.launches, 31 * 6);
  EXPECT_EQ(stats.tiles, 31 * 6 * 4);
  EXPECT_EQ(stats.arenaGrowths, 1);
  // Two neighbours of the chain are alive at a time.
  int64_t tensorBytes = (4 * 999 * 4 + 63) / 64 * 64;
  EXPECT_LE(stats.arenaBytes, 2 * tensorBytes);
  EXPECT_EQ(stats.inputCopies, shared() ? 0 : 31);
  EXPECT_EQ(stats.outputCopies, shared() ? 0 : 31);
  // Smaller shapes fit into what is there; larger ones grow it once.
  std::vector<Tensor> other(1);
  ASSERT_TRUE(execution->run({ramp({4, 10})}, other).ok());
  EXPECT_EQ(execution->stats().arenaGrowths, 1);
  other[0] = Tensor();
  ASSERT_TRUE(execution->run({ramp({4, 5000})}, other).ok());
  EXPECT_EQ(execution->stats().arenaGrowths, 2);
  EXPECT_EQ(valuesOf(other[0]), valuesOf(ramp({4, 5000})));
  execution->resetStats();
  EXPECT_EQ(execution->stats().runs, 0);
  EXPECT_GT(execution->stats().arenaBytes, 0);
}

TEST_P(ProgramConformance, StridedInputsAndOutputs) {
  std::unique_ptr<Execution> execution = start(copies(1));
  Tensor storage = ramp({30, 4});
  void *data = storage.data();
  Tensor x = *Tensor::borrow(data, ElementType::F32, {4, 30}, {1, 4});
  Tensor target = ramp({4, 60}, 1000);
  void *targetData = target.data();
  std::vector<Tensor> outputs = {
      *Tensor::borrow(targetData, ElementType::F32, {4, 30}, {60, 2})};
  ASSERT_TRUE(execution->run({x}, outputs).ok());
  EXPECT_EQ(valuesOf(outputs[0]), valuesOf(x));
  EXPECT_EQ(outputs[0].data(), targetData);
  for (int64_t i = 1; i < 240; i += 2)
    EXPECT_EQ(target.dataAs<float>()[i], 1000 + static_cast<float>(i));
  EXPECT_EQ(execution->stats().inputCopies, 1);
  EXPECT_EQ(execution->stats().outputCopies, 1);
  EXPECT_EQ(execution->stats().copiedBytes, 2 * 480);
}

TEST_P(ProgramConformance, MisalignedMemoryIsCopied) {
  std::unique_ptr<Execution> execution = start(copies(1));
  std::vector<char> in(500, 0), out(500, 0);
  for (int i = 0; i < 40; ++i) {
    float value = static_cast<float>(i);
    std::memcpy(in.data() + 1 + 4 * i, &value, 4);
  }
  void *from = in.data() + 1, *to = out.data() + 3;
  Tensor x = *Tensor::borrow(from, ElementType::F32, {4, 10});
  std::vector<Tensor> outputs = {
      *Tensor::borrow(to, ElementType::F32, {4, 10})};
  ASSERT_TRUE(execution->run({x}, outputs).ok());
  EXPECT_EQ(std::memcmp(from, to, 160), 0);
  EXPECT_EQ(execution->stats().inputCopies, 1);
  EXPECT_EQ(execution->stats().outputCopies, 1);
}

TEST_P(ProgramConformance, OutputsMayOverlapInputs) {
  std::unique_ptr<Execution> execution = start(chain());
  Tensor x = ramp({40, 25}), y = ramp({1000});
  std::vector<Tensor> outputs = {x, Tensor()};
  ASSERT_TRUE(execution->run({x, y}, outputs).ok());
  for (int64_t i = 0; i < 1000; ++i)
    ASSERT_EQ(x.dataAs<float>()[i], 4 * static_cast<float>(i));
  // Shifted by a part: the copy of x must be made before z is written.
  Tensor block = ramp({1100});
  float *base = block.dataAs<float>();
  void *late = base + 64, *early = base;
  Tensor shifted = *Tensor::borrow(late, ElementType::F32, {40, 25});
  outputs = {*Tensor::borrow(early, ElementType::F32, {40, 25}), Tensor()};
  ASSERT_TRUE(execution->run({shifted, y}, outputs).ok());
  for (int64_t i = 0; i < 1000; ++i)
    ASSERT_EQ(base[i], 3 * static_cast<float>(i + 64) + static_cast<float>(i));
}

TEST_P(ProgramConformance, OverlappingOutputsAreRefused) {
  std::unique_ptr<Execution> execution = start(chain());
  Tensor z = ramp({4, 4});
  void *inside = z.dataAs<float>() + 12;
  std::vector<Tensor> outputs = {
      z, *Tensor::borrow(inside, ElementType::F32, {4})};
  Status status = execution->run({ramp({4, 4}), ramp({16})}, outputs);
  EXPECT_THAT(status.message(), HasSubstr("output 1 overlaps output 0"));
}

TEST_P(ProgramConformance, InputsAreChecked) {
  ProgramFile program = copies(1);
  Tensor good = ramp({4, 3});
  EXPECT_THAT(errorOf(program, {}), HasSubstr("main: expected 1 inputs, found "
                                              "0"));
  EXPECT_THAT(errorOf(program, {good, good}), HasSubstr("found 2"));
  EXPECT_THAT(errorOf(program, {Tensor()}),
              HasSubstr("input 0 'x': expected f32[4, ?], found null tensor"));
  EXPECT_EQ(errorOf(program, {*Tensor::allocate(ElementType::F64, {4, 3})}),
            "main: input 0 'x': expected f32[4, ?], found f64[4, 3]");
  EXPECT_EQ(errorOf(program, {ramp({4})}),
            "main: input 0 'x': expected f32[4, ?], found f32[4], which has "
            "rank 1 instead of 2");
  EXPECT_EQ(errorOf(program, {ramp({3, 4})}),
            "main: input 0 'x': expected f32[4, ?], found f32[3, 4], which "
            "differs in axis 0");
}

TEST_P(ProgramConformance, OutputsAreChecked) {
  std::unique_ptr<Execution> execution = start(copies(1));
  Tensor x = ramp({4, 3});
  auto error = [&](std::vector<Tensor> outputs) {
    Status status = execution->run({x}, outputs);
    return status.ok() ? "accepted" : status.message();
  };
  EXPECT_THAT(error({}), HasSubstr("expected 1 outputs, found 0"));
  EXPECT_THAT(error({ramp({4, 4})}),
              HasSubstr("output 0: expected f32[4, 3], found f32[4, 4]"));
  EXPECT_THAT(error({*Tensor::allocate(ElementType::I32, {4, 3})}),
              HasSubstr("found i32[4, 3]"));
  const void *constant = x.data();
  EXPECT_THAT(error({*Tensor::borrow(constant, ElementType::F32, {4, 3})}),
              HasSubstr("read-only"));
}

TEST_P(ProgramConformance, ProgramChecksRefuseShapes) {
  EXPECT_EQ(errorOf(chain(), {ramp({4, 4}), ramp({15})}),
            "main: the program refuses these shapes: y has x's number of "
            "elements");
}

/// What does not fit into 64 bits has no value, and is refused by name.
TEST_P(ProgramConformance, IndicesMustFit) {
  ProgramFile program = chain();
  EntrySpec &entry = program.manifest.entries[0];
  ExprBuilder e(entry.exprs);
  int64_t size = e.mul(e.constant(int64_t(1) << 60), e.dim(0, 0));
  entry.checks.push_back(
      {e.le(size, e.constant(INT64_MAX)), "the indices of kernel 'k' fit"});
  EXPECT_THAT(errorOf(program, {ramp({8, 2}), ramp({16})}),
              AllOf(HasSubstr("the indices of kernel 'k' fit"),
                    HasSubstr("of 1152921504606846976 and 8, does not fit into "
                              "64 bits"),
                    HasSubstr("input 0 'x' is f32[8, 2], input 1 'y' is "
                              "f32[16]")));
  std::vector<Tensor> outputs(2);
  EXPECT_TRUE(start(program)->run({ramp({4, 4}), ramp({16})}, outputs).ok());
}

/// Sizes that no memory has are refused, also where another one is zero.
TEST_P(ProgramConformance, SizesAreThoseOfMemory) {
  int64_t most = int64_t(1) << 48;
  auto of = [](int64_t rows, int64_t columns) {
    return *Tensor::allocate(ElementType::F32, {rows, columns});
  };
  EXPECT_THAT(
      errorOf(chain(), {of(0, most + 1), ramp({0})}),
      HasSubstr("expected at most 2^48 elements, found [0, 281474976710657]"));
  std::vector<Tensor> outputs(2);
  EXPECT_TRUE(start(chain())->run({of(0, most), ramp({0})}, outputs).ok());
}

TEST_P(ProgramConformance, ViewsAreBoundsChecked) {
  Tensor x = ramp({4, 8});
  // Replaces an expression of the only step's first view.
  auto with = [&](auto change) {
    ProgramFile program = copies(1);
    EntrySpec &entry = program.manifest.entries[0];
    ExprBuilder e(entry.exprs);
    change(e, entry, entry.steps[0].args[0].view);
    return errorOf(program, {x});
  };
  EXPECT_THAT(with([](ExprBuilder &e, EntrySpec &, ViewSpec &view) {
                view.offset = e.constant(1);
              }),
              HasSubstr("step 0 (kernel \"conf_copy\"), argument 0: the view "
                        "of f32[4, 8] at element 1 goes beyond buffer 0 of 128 "
                        "bytes"));
  EXPECT_THAT(with([](ExprBuilder &e, EntrySpec &, ViewSpec &view) {
                view.offset = e.constant(-1);
              }),
              HasSubstr("goes beyond buffer"));
  EXPECT_THAT(with([](ExprBuilder &e, EntrySpec &, ViewSpec &view) {
                view.sizes[0] = e.constant(5);
              }),
              HasSubstr("goes beyond buffer"));
  EXPECT_THAT(with([](ExprBuilder &e, EntrySpec &, ViewSpec &view) {
                view.strides[0] = e.constant(-8);
              }),
              HasSubstr("goes beyond buffer"));
  EXPECT_THAT(with([](ExprBuilder &e, EntrySpec &, ViewSpec &view) {
                view.strides[0] = e.constant(int64_t(1) << 62);
              }),
              HasSubstr("goes beyond buffer"));
  EXPECT_THAT(with([](ExprBuilder &, EntrySpec &, ViewSpec &view) {
                view.type = ElementType::F64;
              }),
              HasSubstr("goes beyond buffer"));
  EXPECT_THAT(with([](ExprBuilder &e, EntrySpec &, ViewSpec &view) {
                view.sizes[0] = e.constant(-4);
              }),
              HasSubstr("expected sizes of at least 0"));
  EXPECT_THAT(with([](ExprBuilder &e, EntrySpec &entry, ViewSpec &) {
                entry.steps[0].tiles = e.constant(-1);
              }),
              HasSubstr("expected at least 0 tiles, found -1"));
  EXPECT_THAT(with([](ExprBuilder &e, EntrySpec &entry, ViewSpec &) {
                entry.steps[0].tiles = e.constant(int64_t(1) << 62);
              }),
              HasSubstr("expected at most 1099511627776 tiles, found "
                        "4611686018427387904"));
  EXPECT_THAT(with([](ExprBuilder &e, EntrySpec &entry, ViewSpec &) {
                entry.buffers[1].bytes = e.constant(-1);
              }),
              HasSubstr("buffer 1: expected a size of at least 0 bytes"));
  EXPECT_THAT(with([](ExprBuilder &e, EntrySpec &entry, ViewSpec &) {
                entry.outputs[0].view.offset = e.constant(1);
              }),
              HasSubstr("output 0: the view"));
  EXPECT_THAT(with([](ExprBuilder &e, EntrySpec &entry, ViewSpec &) {
                entry.steps[0].tiles = e.floorDiv(e.constant(1), e.constant(0));
              }),
              HasSubstr("divides by zero"));
  EXPECT_THAT(with([](ExprBuilder &e, EntrySpec &entry, ViewSpec &) {
                entry.buffers[1].bytes = e.constant(int64_t(1) << 60);
              }),
              HasSubstr("out of memory"));
}

TEST_P(ProgramConformance, EmptyViewsMayLieAnywhere) {
  ProgramFile program = copies(1);
  EntrySpec &entry = program.manifest.entries[0];
  ExprBuilder e(entry.exprs);
  entry.steps[0].args[0].view.offset = e.constant(int64_t(1) << 62);
  std::unique_ptr<Execution> execution = start(program);
  std::vector<Tensor> outputs(1);
  Status status = execution->run({ramp({4, 0})}, outputs);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(outputs[0].numElements(), 0);
}

TEST_P(ProgramConformance, OutputsFromInputsConstantsAndSharedBuffers) {
  ProgramFile program = copies(1);
  std::vector<float> weights = {1, 2, 3, 4, 5, 6};
  std::vector<uint8_t> blob(8 + 24);
  std::memcpy(blob.data() + 8, weights.data(), 24);
  program.manifest.constants.push_back({program.addBlob(blob), 8, 24});
  EntrySpec &entry = program.manifest.entries[0];
  ExprBuilder e(entry.exprs);
  entry.buffers.push_back(BufferSpec::constant(0));
  int64_t two = e.constant(2), three = e.constant(3);
  // The constant transposed, the input as it is, the copy a second time and
  // its last row alone.
  ViewSpec transposed = e.rowMajorView(2, ElementType::F32, {three, two});
  transposed.strides = {e.constant(1), three};
  ViewSpec same = entry.steps[0].args[0].view;
  ViewSpec again = entry.outputs[0].view, last = again;
  last.sizes.erase(last.sizes.begin());
  last.strides.erase(last.strides.begin());
  last.offset = e.mul(e.constant(3), e.dim(0, 1));
  for (const ViewSpec &view : {transposed, same, again, last})
    entry.outputs.push_back({ElementType::F32, view});
  std::unique_ptr<Execution> execution = start(program);
  Tensor x = ramp({4, 5});
  std::vector<Tensor> outputs(5);
  // In place of the input, too: output 2 is x itself.
  outputs[2] = x;
  std::vector<float> before = valuesOf(x);
  Status status = execution->run({x}, outputs);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(valuesOf(outputs[0]), before);
  EXPECT_EQ(valuesOf(outputs[1]), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(valuesOf(outputs[2]), before);
  EXPECT_EQ(valuesOf(outputs[3]), before);
  EXPECT_EQ(valuesOf(outputs[4]), (std::vector<float>{15, 16, 17, 18, 19}));
}

TEST_P(ProgramConformance, WorkspaceComesFromTheManifest) {
  ProgramFile program = emptyProgram();
  EntrySpec entry;
  entry.name = "scratch";
  ExprBuilder e(entry.exprs);
  int64_t n = e.constant(77);
  entry.buffers = {BufferSpec::temp(e.rowMajorBytes(ElementType::I64, {n}))};
  StepSpec step;
  step.kernel = Scratch;
  step.tiles = n;
  step.args = {ArgSpec::fromView(e.rowMajorView(0, ElementType::I64, {n})),
               ArgSpec::fromIndex(e.constant(1000))};
  entry.steps = {step};
  entry.outputs = {
      {ElementType::I64, e.rowMajorView(0, ElementType::I64, {n})}};
  program.manifest.entries = {entry};
  Expected<std::shared_ptr<Executable>> executable = load(program);
  ASSERT_TRUE(executable) << executable.message();
  Expected<std::vector<Tensor>> outputs = (*executable)->run("scratch", {});
  ASSERT_TRUE(outputs) << outputs.message();
  for (int64_t i = 0; i < 77; ++i)
    EXPECT_EQ((*outputs)[0].dataAs<int64_t>()[i], 1);
}

TEST_P(ProgramConformance, LoadingRefusesWhatDoesNotFit) {
  // The code is garbage: features are compared before anybody looks at it.
  ProgramFile program = copies(1);
  program.blobs[0].assign(100, 0x5a);
  program.manifest.target.features = {"quantum"};
  EXPECT_THAT(load(program).message(), HasSubstr("needs quantum"));
  program.manifest.target.features.clear();
  EXPECT_THAT(load(program).message(), HasSubstr("blob 0: native code"));
  program = copies(1);
  program.manifest.target.arch = "z80";
  EXPECT_THAT(load(program).message(), HasSubstr("z80"));
  program = copies(1);
  program.manifest.kernels[1].symbol = "conf_absent";
  EXPECT_THAT(load(program).message(), HasSubstr("conf_absent"));
  EXPECT_FALSE(Executable::load(copies(1), nullptr));
  program = copies(1);
  program.manifest.entries[0].steps[0].kernel = 99;
  EXPECT_FALSE(Executable::load(program, device));
}

TEST_P(ProgramConformance, EntriesAreFoundByName) {
  ProgramFile program = copies(1);
  program.manifest.entries.push_back(program.manifest.entries[0]);
  program.manifest.entries[1].name = "second";
  Expected<std::shared_ptr<Executable>> executable = load(program);
  ASSERT_TRUE(executable) << executable.message();
  EXPECT_TRUE((*executable)->createExecution("second"));
  EXPECT_THAT((*executable)->createExecution("").message(),
              HasSubstr("the program has: main, second"));
  EXPECT_THAT((*executable)->createExecution("third").message(),
              HasSubstr("no entry \"third\""));
}

TEST_P(ProgramConformance, ProfilesKernels) {
  ExecutionOptions options;
  options.profile = true;
  std::unique_ptr<Execution> execution = start(chain(), options);
  std::vector<Tensor> outputs(2);
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(execution->run({ramp({64, 64}), ramp({4096})}, outputs).ok());
  const std::vector<KernelTime> &times = execution->stats().kernelTimes;
  ASSERT_EQ(times.size(), 5u);
  EXPECT_EQ(times[RowSum].kernel, "conf_row_sum");
  EXPECT_EQ(times[RowSum].launches, 3);
  EXPECT_GT(times[RowSum].seconds, 0);
  EXPECT_EQ(times[Copy].launches, 0);
}

// x: f32[?, 4] goes to a temp, of which one row is set to bytes of 255 and what
// is before it and after it goes to the output.
TEST_P(ProgramConformance, FillsAndCopies) {
  ProgramFile program = emptyProgram();
  EntrySpec entry;
  entry.name = "main";
  entry.inputs = {{"x", ElementType::F32, {dynamicSize, 4}}};
  ExprBuilder e(entry.exprs);
  int64_t m = e.dim(0, 0), four = e.constant(4), one = e.constant(1);
  std::vector<int64_t> shape = {m, four}, row = {one, four};
  int64_t bytes = e.rowMajorBytes(ElementType::F32, shape);
  entry.buffers = {BufferSpec::input(0), BufferSpec::temp(bytes),
                   BufferSpec::temp(bytes), BufferSpec::temp(bytes)};
  auto view = [&](int64_t buffer) {
    return e.rowMajorView(buffer, ElementType::F32, shape);
  };
  ViewSpec second = e.rowMajorView(1, ElementType::F32, row);
  second.offset = four;
  StepSpec launch;
  launch.kernel = Copy;
  launch.tiles = m;
  launch.args = {ArgSpec::fromView(view(1)), ArgSpec::fromView(view(2))};
  entry.steps = {StepSpec::copy(view(0), view(1)), StepSpec::fill(second, 255),
                 launch, StepSpec::copy(view(2), view(3)),
                 StepSpec::fill(view(2), 0)};
  entry.outputs = {{ElementType::F32, view(3)}, {ElementType::F32, view(2)}};
  program.manifest.entries = {entry};
  std::unique_ptr<Execution> execution = start(program);
  for (int64_t rows : {2, 1000, 3}) {
    Tensor x = ramp({rows, 4}, 1);
    std::vector<Tensor> outputs(2);
    Status status = execution->run({x}, outputs);
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<float> values = valuesOf(outputs[0]);
    for (size_t i = 0; i < values.size(); ++i) {
      if (i / 4 == 1)
        ASSERT_TRUE(std::isnan(values[i])) << i;
      else
        ASSERT_EQ(values[i], static_cast<float>(i + 1));
    }
    EXPECT_THAT(valuesOf(outputs[1]), Each(0.0f));
    EXPECT_EQ(valuesOf(x), valuesOf(ramp({rows, 4}, 1)));
  }
  EXPECT_EQ(execution->stats().launches, 3);

  // The row does not exist.
  EXPECT_THAT(
      errorOf(program, {ramp({1, 4})}),
      HasSubstr("step 1 (fill): the view of f32[1, 4] at element 4 goes "
                "beyond buffer 1 of 16 bytes"));
  // Columns are no piece of memory.
  ProgramFile columns = program;
  ViewSpec &column = columns.manifest.entries[0].steps[1].args[0].view;
  column.offset = view(1).offset;
  column.sizes = {m, one};
  column.strides = {four, one};
  EXPECT_THAT(errorOf(columns, {ramp({3, 4})}),
              HasSubstr("step 1 (fill): expected a view in one piece, found "
                        "[3, 1] with strides [4, 1]"));
  ProgramFile onto = program;
  ViewSpec &target = onto.manifest.entries[0].steps[0].args[1].view;
  target.sizes = row;
  EXPECT_THAT(errorOf(onto, {ramp({3, 4})}),
              HasSubstr("step 0 (copy): expected two views of the same sizes, "
                        "found [3, 4] and [1, 4]"));
  ProgramFile overlapping = program;
  EntrySpec &shifted = overlapping.manifest.entries[0];
  shifted.steps[3].args[0].view = shifted.steps[3].args[1].view = second;
  EXPECT_THAT(errorOf(overlapping, {ramp({3, 4})}),
              HasSubstr("step 3 (copy): expected parts of buffer 1 that do not "
                        "overlap"));
}

// counts: i64[?] is one more at each launch of conf_count.
TEST_P(ProgramConformance, TemporariesBeginWithZerosOrPersist) {
  ProgramFile program = emptyProgram();
  EntrySpec entry;
  entry.name = "main";
  entry.inputs = {{"x", ElementType::F32, {dynamicSize}}};
  ExprBuilder e(entry.exprs);
  int64_t n = e.dim(0, 0);
  int64_t bytes = e.rowMajorBytes(ElementType::I64, {n});
  entry.buffers = {
      BufferSpec::temp(bytes, 64, TempContents::Zero),
      BufferSpec::temp(bytes, 64, TempContents::Persistent),
      // What nobody writes, and what lies in the arena before the counts.
      BufferSpec::temp(bytes, 64, TempContents::Zero), BufferSpec::temp(bytes)};
  auto view = [&](int64_t buffer) {
    return e.rowMajorView(buffer, ElementType::I64, {n});
  };
  auto count = [&](int64_t buffer) {
    StepSpec step;
    step.kernel = Count;
    step.tiles = n;
    step.args = {ArgSpec::fromView(view(buffer))};
    return step;
  };
  entry.steps = {StepSpec::fill(view(3), 170), count(0), count(0), count(1)};
  for (int64_t buffer : {0, 1, 2})
    entry.outputs.push_back({ElementType::I64, view(buffer)});
  program.manifest.entries = {entry};
  std::unique_ptr<Execution> execution = start(program);
  auto expectCounts = [&](int64_t size, int64_t runs) {
    std::vector<Tensor> outputs(3);
    // Memory of the caller's that is not zero.
    outputs[0] = *Tensor::allocate(ElementType::I64, {size});
    std::memset(outputs[0].data(), 85, static_cast<size_t>(8 * size));
    Status status = execution->run({ramp({size})}, outputs);
    ASSERT_TRUE(status.ok()) << status.message();
    int64_t expected[] = {2, runs, 0};
    for (size_t i = 0; i < 3; ++i)
      for (int64_t at = 0; at < size; ++at)
        ASSERT_EQ(outputs[i].dataAs<int64_t>()[at], expected[i])
            << "output " << i << " at " << at;
  };
  for (int64_t run : {1, 2, 3})
    expectCounts(100, run);
  // Of another size there is nothing to keep.
  expectCounts(5000, 1);
  expectCounts(5000, 2);
  expectCounts(100, 1);
  expectCounts(0, 1);

  // Each Execution has its own.
  execution = start(program);
  expectCounts(100, 1);
  ExecutionOptions options;
  options.maxArenaBytes = 2000;
  execution = start(program, options);
  std::vector<Tensor> outputs(3);
  EXPECT_THAT(execution->run({ramp({300})}, outputs).message(),
              HasSubstr("expected to need at most 2000 bytes of temporary "
                        "memory"));
}

/// main(x: f32[?], n: i64, factor: i64) -> f32[n]: factor x + x, of the first
/// n.
static void addScaledPrefix(ProgramFile &program, int64_t kernel) {
  EntrySpec entry;
  entry.name = "main";
  entry.inputs = {{"x", ElementType::F32, {dynamicSize}},
                  {"n", ElementType::I64, {}, true},
                  {"factor", ElementType::I64, {}, true}};
  ExprBuilder e(entry.exprs);
  int64_t n = e.value(1);
  entry.checks = {{e.le(n, e.dim(0, 0)), "x has n elements"}};
  entry.buffers = {BufferSpec::input(0),
                   BufferSpec::temp(e.rowMajorBytes(ElementType::F32, {n}))};
  StepSpec step;
  step.kernel = kernel;
  step.tiles = e.ceilDiv(n, e.constant(16));
  step.args = {ArgSpec::fromView(e.rowMajorView(0, ElementType::F32, {n})),
               ArgSpec::fromView(e.rowMajorView(0, ElementType::F32, {n})),
               ArgSpec::fromView(e.rowMajorView(1, ElementType::F32, {n})),
               ArgSpec::fromValue(2), ArgSpec::fromIndex(e.constant(16))};
  entry.steps = {step};
  entry.outputs = {
      {ElementType::F32, e.rowMajorView(1, ElementType::F32, {n})}};
  program.manifest.entries = {entry};
}

template <typename T>
static Tensor scalar(ElementType type, T value) {
  Tensor tensor = *Tensor::allocate(type, {});
  *tensor.dataAs<T>() = value;
  return tensor;
}
static Tensor number(int64_t value) { return scalar(ElementType::I64, value); }

TEST_P(ProgramConformance, ScalarsAreSizesAndArguments) {
  ProgramFile program = emptyProgram();
  addScaledPrefix(program, ScaleAdd);
  std::unique_ptr<Execution> execution = start(program);
  Tensor x = ramp({100}, 1);
  for (auto [n, factor] : {std::pair<int64_t, int64_t>(7, 3),
                           {7, 4},
                           {100, -1},
                           {0, 5},
                           {33, -5}}) {
    std::vector<Tensor> outputs(1);
    Status status = execution->run({x, number(n), number(factor)}, outputs);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(outputs[0].shape(), std::vector<int64_t>{n});
    for (int64_t i = 0; i < n; ++i)
      EXPECT_EQ(outputs[0].dataAs<float>()[i],
                static_cast<float>((factor + 1) * (i + 1)));
  }
  auto errorWith = [&](const Tensor &n) {
    std::vector<Tensor> outputs(1);
    return execution->run({x, n, number(1)}, outputs).message();
  };
  EXPECT_THAT(errorWith(number(101)),
              HasSubstr("the program refuses these shapes: x has n elements"));
  EXPECT_THAT(errorWith(number(-1)),
              HasSubstr("buffer 1: expected a size of at least 0 bytes"));
  EXPECT_THAT(errorWith(scalar<float>(ElementType::F32, 1)),
              HasSubstr("input 1 'n': expected i64[], found f32[]"));
  EXPECT_THAT(errorWith(*Tensor::allocate(ElementType::I64, {1})),
              HasSubstr("found i64[1], which is no scalar"));
  EXPECT_THAT(errorWith(Tensor()), HasSubstr("found null tensor"));
  EXPECT_EQ(errorWith(number(5)), "");
}

// Enqueued runs read scalars at once; the caller may change them afterwards.
TEST_P(ProgramConformance, EnqueuedRunsTakeScalarsFromTheHost) {
  ProgramFile program = emptyProgram();
  addScaledPrefix(program, ScaleAdd);
  std::unique_ptr<Execution> execution = start(program);
  constexpr int64_t n = 20, runs = 5;
  std::vector<float> ones(n, 1.0f);
  std::shared_ptr<Buffer> x = upload(ones), all = allocate(runs * 4 * 64);
  std::vector<int64_t> shape = {n};
  int64_t size = n, factor = 0;
  EXPECT_THAT(execution->prepare({shape, std::vector<int64_t>(), {}}).message(),
              HasSubstr("input 1 'n': expected its number beside the shapes"));
  ASSERT_TRUE(
      execution->prepare({shape, std::vector<int64_t>(), {}}, {0, n, 0}).ok());
  EXPECT_EQ(execution->outputShape(0)[0], n);
  for (int64_t run = 0; run < runs; ++run) {
    factor = run;
    // The memory by its handle, from the second run on with an offset.
    DeviceTensor in{nullptr, ElementType::F32, shape, {}, x.get(), 0};
    DeviceTensor out{nullptr, ElementType::F32, shape,
                     {},      all.get(),        run * 4 * 64};
    Status status = execution->enqueue(*stream,
                                       {in,
                                        {&size, ElementType::I64, {}, {}},
                                        {&factor, ElementType::I64, {}, {}}},
                                       {out});
    ASSERT_TRUE(status.ok()) << status.message();
  }
  factor = size = -100;
  std::vector<float> values = download<float>(*all);
  for (int64_t run = 0; run < runs; ++run)
    for (int64_t i = 0; i < n; ++i)
      EXPECT_EQ(values[static_cast<size_t>(run * 64 + i)],
                static_cast<float>(run + 1));
  DeviceTensor in{nullptr, ElementType::F32, shape, {}, x.get(), 4};
  size = n;
  DeviceTensor number{&size, ElementType::I64, {}, {}};
  DeviceTensor out{nullptr, ElementType::F32, shape, {}, all.get(), 0};
  EXPECT_THAT(
      execution->enqueue(*stream, {in, number, number}, {out}).message(),
      HasSubstr("input 0 'x': expected a part of a buffer of 80 bytes, found "
                "80 bytes at 4"));
  in.offset = 0;
  number.buffer = x.get();
  EXPECT_THAT(
      execution->enqueue(*stream, {in, number, number}, {out}).message(),
      HasSubstr("input 1 'n': expected a scalar in host memory"));
}

// main(s: f32, k: i64, x: f32[?]) -> f32[3, 1]: s, the bits of 2.0 and those of
// x's extent times k.
TEST_P(ProgramConformance, TablesHoldNumbersOfTheRun) {
  ProgramFile program = emptyProgram();
  EntrySpec entry;
  entry.name = "main";
  entry.inputs = {{"s", ElementType::F32, {}, true},
                  {"k", ElementType::I64, {}, true},
                  {"x", ElementType::F32, {dynamicSize}}};
  ExprBuilder e(entry.exprs);
  int64_t three = e.constant(3), one = e.constant(1);
  std::vector<int64_t> shape = {three, one};
  entry.buffers = {BufferSpec::table(ElementType::F32,
                                     {{true, 0},
                                      {false, e.constant(0x40000000)},
                                      {false, e.mul(e.dim(2, 0), e.value(1))}}),
                   BufferSpec::temp(e.rowMajorBytes(ElementType::F32, shape))};
  StepSpec step;
  step.kernel = Copy;
  step.tiles = three;
  step.args = {ArgSpec::fromView(e.rowMajorView(0, ElementType::F32, shape)),
               ArgSpec::fromView(e.rowMajorView(1, ElementType::F32, shape))};
  entry.steps = {step};
  entry.outputs = {
      {ElementType::F32, e.rowMajorView(1, ElementType::F32, shape)},
      {ElementType::F32, e.rowMajorView(0, ElementType::F32, shape)}};
  program.manifest.entries = {entry};
  std::unique_ptr<Execution> execution = start(program);
  auto bitsOf = [](float value) {
    int32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  };
  for (auto [s, k, extent] : {std::tuple<float, int64_t, int64_t>(1.5f, 3, 7),
                              {1.5f, 3, 7},
                              {-2.5f, 3, 7},
                              {-2.5f, 4, 7},
                              {0.0f, 4, 1000}}) {
    std::vector<Tensor> outputs(2);
    Status status = execution->run(
        {scalar(ElementType::F32, s), number(k), ramp({extent})}, outputs);
    ASSERT_TRUE(status.ok()) << status.message();
    for (const Tensor &output : outputs) {
      const float *values = output.dataAs<float>();
      EXPECT_EQ(values[0], s);
      EXPECT_EQ(values[1], 2.0f);
      EXPECT_EQ(bitsOf(values[2]), k * extent);
    }
  }
  // Runs that are still to come keep what they were given.
  constexpr int64_t runs = 600;
  std::shared_ptr<Buffer> all = allocate(runs * 64), x = allocate(28);
  std::vector<int64_t> xs = {7}, out = {3, 1};
  float s = 0;
  int64_t k = 1;
  for (int64_t run = 0; run < runs; ++run) {
    s = static_cast<float>(run);
    Status status = execution->enqueue(
        *stream,
        {{&s, ElementType::F32, {}, {}},
         {&k, ElementType::I64, {}, {}},
         {nullptr, ElementType::F32, xs, {}, x.get(), 0}},
        {{nullptr, ElementType::F32, out, {}, all.get(), run * 64},
         {nullptr, ElementType::F32, out, {}, all.get(), run * 64 + 32}});
    ASSERT_TRUE(status.ok()) << status.message();
  }
  std::vector<float> values = download<float>(*all);
  for (int64_t run = 0; run < runs; ++run) {
    EXPECT_EQ(values[static_cast<size_t>(16 * run)], static_cast<float>(run));
    EXPECT_EQ(values[static_cast<size_t>(16 * run + 8)],
              static_cast<float>(run));
  }
}

// Shapes are prepared for while a run of others is under way.
TEST_P(ProgramConformance, TablesArePreparedAfterRunsThatReadThem) {
  ProgramFile program = emptyProgram();
  EntrySpec entry;
  entry.name = "main";
  entry.inputs = {{"k", ElementType::I64, {}, true},
                  {"x", ElementType::F32, {dynamicSize}}};
  ExprBuilder e(entry.exprs);
  int64_t one = e.constant(1);
  entry.buffers = {BufferSpec::table(ElementType::F32, {{false, e.dim(1, 0)}}),
                   BufferSpec::table(ElementType::I64, {{true, 0}}),
                   BufferSpec::temp(e.rowMajorBytes(ElementType::F32, {one}))};
  ViewSpec result = e.rowMajorView(2, ElementType::F32, {one});
  StepSpec step;
  step.kernel = Copy;
  step.tiles = one;
  step.args = {
      ArgSpec::fromView(e.rowMajorView(0, ElementType::F32, {one, one})),
      ArgSpec::fromView(e.rowMajorView(2, ElementType::F32, {one, one}))};
  step.writes = {2};
  entry.steps = {step};
  entry.outputs = {
      {ElementType::F32, result},
      {ElementType::I64, e.rowMajorView(1, ElementType::I64, {one})}};
  program.manifest.entries = {entry};
  std::unique_ptr<Execution> execution = start(program);
  std::shared_ptr<Buffer> x = allocate(400), out = allocate(192);
  std::vector<int64_t> extent = {7}, shape = {1};
  int64_t k = 3;
  auto enqueue = [&](int64_t offset) {
    Status status = execution->enqueue(
        *stream,
        {{&k, ElementType::I64, {}, {}},
         {nullptr, ElementType::F32, extent, {}, x.get(), 0}},
        {{nullptr, ElementType::F32, shape, {}, out.get(), offset},
         {nullptr, ElementType::I64, shape, {}, out.get(), offset + 32}});
    ASSERT_TRUE(status.ok()) << status.message();
  };
  enqueue(0);
  Status status =
      execution->prepare({std::vector<int64_t>{}, std::vector<int64_t>{100}},
                         std::vector<int64_t>{5, 0});
  ASSERT_TRUE(status.ok()) << status.message();
  extent = {100};
  k = 5;
  enqueue(64);
  std::vector<int64_t> numbers = download<int64_t>(*out);
  EXPECT_EQ(static_cast<int32_t>(numbers[0]), 7);
  EXPECT_EQ(numbers[4], 3);
  EXPECT_EQ(static_cast<int32_t>(numbers[8]), 100);
  EXPECT_EQ(numbers[12], 5);
}

// main(x: f32[4, ?]) -> f32[?]: the sum of branches that copy x `depth` times.
TEST_P(ProgramConformance, BranchesRunOnSeveralStreams) {
  constexpr int64_t branches = 6, depth = 3;
  ProgramFile program = emptyProgram();
  EntrySpec entry;
  entry.name = "main";
  entry.inputs = {{"x", ElementType::F32, {4, dynamicSize}}};
  ExprBuilder e(entry.exprs);
  std::vector<int64_t> shape = {e.constant(4), e.dim(0, 1)};
  int64_t n = e.mul(shape[0], shape[1]);
  int64_t bytes = e.rowMajorBytes(ElementType::F32, shape);
  entry.buffers = {BufferSpec::input(0)};
  auto newTemp = [&](TempContents contents = TempContents::Any) {
    entry.buffers.push_back(BufferSpec::temp(bytes, 64, contents));
    return static_cast<int64_t>(entry.buffers.size()) - 1;
  };
  // Branch by branch and, in another program, level by level.
  for (bool byBranch : {true, false}) {
    entry.buffers.resize(1);
    entry.steps.clear();
    std::vector<int64_t> ends(branches, 0);
    auto extend = [&](int64_t branch) {
      StepSpec step;
      step.kernel = Copy;
      step.tiles = shape[0];
      int64_t to = newTemp();
      step.args = {
          ArgSpec::fromView(
              e.rowMajorView(ends[branch], ElementType::F32, shape)),
          ArgSpec::fromView(e.rowMajorView(to, ElementType::F32, shape))};
      step.writes = {to};
      ends[branch] = to;
      entry.steps.push_back(step);
    };
    for (int64_t i = 0; i < branches * depth; ++i)
      extend(byBranch ? i / depth : i % branches);
    int64_t sum = newTemp(TempContents::Zero);
    for (int64_t end : ends) {
      StepSpec step;
      step.kernel = ScaleAdd;
      step.tiles = e.ceilDiv(n, e.constant(16));
      int64_t next = newTemp();
      step.args = {
          ArgSpec::fromView(e.rowMajorView(end, ElementType::F32, {n})),
          ArgSpec::fromView(e.rowMajorView(sum, ElementType::F32, {n})),
          ArgSpec::fromView(e.rowMajorView(next, ElementType::F32, {n})),
          ArgSpec::fromIndex(e.constant(2)),
          ArgSpec::fromIndex(e.constant(16))};
      step.writes = {next};
      sum = next;
      entry.steps.push_back(step);
    }
    entry.outputs = {
        {ElementType::F32, e.rowMajorView(sum, ElementType::F32, {n})}};
    addDependencies(entry);
    program.manifest.entries = {entry};
    for (int streams : {1, 2, 3, 16}) {
      ExecutionOptions options;
      options.streams = streams;
      std::unique_ptr<Execution> execution = start(program, options);
      for (int64_t columns : {50, 500, 500}) {
        Tensor x = ramp({4, columns}, static_cast<float>(streams));
        std::vector<Tensor> outputs(1);
        Status status = execution->run({x}, outputs);
        ASSERT_TRUE(status.ok()) << status.message();
        std::vector<float> sums = valuesOf(outputs[0]), xs = valuesOf(x);
        for (size_t i = 0; i < sums.size(); ++i)
          ASSERT_EQ(sums[i], 2 * branches * xs[i])
              << "element " << i << " on " << streams << " streams";
      }
      // A failure leaves nothing under way.
      std::vector<Tensor> outputs(1);
      EXPECT_FALSE(execution->run({ramp({3, 3})}, outputs).ok());
    }
  }
}

TEST_P(ProgramConformance, TemporaryMemoryHasALimit) {
  ExecutionOptions options;
  options.maxArenaBytes = 1000;
  std::unique_ptr<Execution> execution = start(copies(3), options);
  std::vector<Tensor> outputs(1);
  EXPECT_TRUE(execution->run({ramp({4, 4})}, outputs).ok());
  outputs[0] = Tensor();
  EXPECT_THAT(execution->run({ramp({4, 400})}, outputs).message(),
              HasSubstr("expected to need at most 1000 bytes of temporary "
                        "memory"));
}

TEST_P(ProgramConformance, ExecutionsRunConcurrently) {
  Expected<std::shared_ptr<Executable>> executable = load(chain());
  ASSERT_TRUE(executable) << executable.message();
  constexpr int numThreads = 4;
  std::vector<std::string> errors(numThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < numThreads; ++t)
    threads.emplace_back([&, t] {
      Expected<std::unique_ptr<Execution>> execution =
          (*executable)->createExecution();
      if (!execution) {
        errors[t] = execution.message();
        return;
      }
      for (int i = 0; i < 20 && errors[t].empty(); ++i) {
        int64_t m = 5 + t, k = 30 + i;
        Tensor x = ramp({m, k}), y = ramp({m * k}, static_cast<float>(t));
        std::vector<Tensor> outputs(2);
        Status status = (*execution)->run({x, y}, outputs);
        if (!status.ok())
          errors[t] = status.message();
        for (int64_t at = 0; at < m * k && errors[t].empty(); ++at)
          if (outputs[0].dataAs<float>()[at] !=
              4 * static_cast<float>(at) + static_cast<float>(t))
            errors[t] = "wrong value at " + std::to_string(at);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_THAT(errors, Each(std::string()));
}
