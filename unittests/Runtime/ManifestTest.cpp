//===- ManifestTest.cpp - The manifest's JSON form and its checks ---------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Round trips, and one case for each kind of thing that is refused.
//
//===----------------------------------------------------------------------===//

#include "TestPrograms.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

using namespace tracea::runtime;
using ::testing::HasSubstr;

static std::string jsonOfTestProgram() {
  Expected<std::string> json = toJSON(test::describedProgram().manifest);
  EXPECT_TRUE(json) << json.message();
  return json ? *json : std::string();
}

TEST(Manifest, RoundTrips) {
  std::string json = jsonOfTestProgram();
  Expected<Manifest> read = manifestFromJSON(json);
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(*toJSON(*read), json);
  ASSERT_EQ(read->kernels[0].certificates.size(), 1u);
  EXPECT_EQ(read->kernels[0].certificates[0].check, "coverage");
  EXPECT_EQ(read->kernels[0].certificates[0].claim, "covers every element");
  EXPECT_EQ(read->kernels[0].certificates[0].model, "1 2 3");
  ASSERT_EQ(read->kernels[0].remarks.size(), 1u);
  EXPECT_EQ(read->kernels[0].remarks[0].check, "banks");
  EXPECT_EQ(read->kernels[0].remarks[0].reason, "nobody knows the banks");
  EXPECT_EQ(read->findEntry("main")->inputs[0].shape,
            (std::vector<int64_t>{dynamicSize, 4}));
  EXPECT_EQ(read->findEntry("other"), nullptr);
}

TEST(Manifest, HasTheFieldsOfTheFormat) {
  std::string json = jsonOfTestProgram();
  for (const char *part :
       {"\"format\":3", "\"producer\":", "\"target\":{\"kind\":\"cpu\"",
        "[\"dim\",0,0]", "{\"dynamic\":true}", "\"kind\":\"constant\"",
        "{\"index\":", "[\"select\",", "\"workspace\":256",
        "\"view\":{\"buffer\":3,\"type\":\"f32\""})
    EXPECT_THAT(json, HasSubstr(part));
}

/// Replaces the first `from` in the test program's JSON and reads the result.
static std::string errorAfter(const std::string &from, const std::string &to) {
  std::string json = jsonOfTestProgram();
  size_t at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in " << json;
  if (at == std::string::npos)
    return "";
  json.replace(at, from.size(), to);
  Expected<Manifest> read = manifestFromJSON(json);
  return read ? "accepted" : read.message();
}

TEST(Manifest, RefusesMalformedText) {
  EXPECT_THAT(errorAfter("\"format\":3", "\"format\":4"),
              HasSubstr("expected a manifest format from 1 to 3, found 4"));
  EXPECT_THAT(errorAfter("\"format\":3", "\"format\":3.5"),
              HasSubstr("$.format: expected a 64-bit integer, found number"));
  EXPECT_THAT(errorAfter("\"format\":3", "\"format\":3,\"format\":3"),
              HasSubstr("\"format\" stands twice"));
  EXPECT_THAT(errorAfter("\"format\":3", "\"format\":3,\"extra\":1"),
              HasSubstr("$: unknown field \"extra\""));
  EXPECT_THAT(errorAfter("\"blob\":0,", ""),
              HasSubstr("$.kernels[0]: the field \"blob\" is missing"));
  EXPECT_THAT(errorAfter("\"workspace\":256", "\"workspace\":\"big\""),
              HasSubstr("$.kernels[0].workspace: expected a 64-bit integer, "
                        "found string"));
  EXPECT_THAT(
      errorAfter("\"workspace\":256", "\"workspace\":18446744073709551615"),
      HasSubstr("expected a 64-bit integer"));
  EXPECT_THAT(errorAfter("[\"dim\",0,0]", "[\"dim\",0]"),
              HasSubstr("$.entries[0].exprs[0]: expected 2 operands"));
  EXPECT_THAT(errorAfter("[\"dim\",0,0]", "[\"pow\",0,0]"),
              HasSubstr("unknown operator \"pow\""));
  EXPECT_THAT(errorAfter("[\"dim\",0,0]", "7"),
              HasSubstr("expected an array that begins with an operator"));
  EXPECT_THAT(errorAfter("{\"dynamic\":true}", "{\"dynamic\":false}"),
              HasSubstr("$.entries[0].inputs[0].shape[0].dynamic"));
  EXPECT_THAT(errorAfter("{\"dynamic\":true}", "-1"),
              HasSubstr("expected a size of at least 0, found -1"));
  EXPECT_THAT(errorAfter("\"type\":\"f32\"", "\"type\":\"f31\""),
              HasSubstr("expected an element type, found \"f31\""));
  EXPECT_THAT(errorAfter("\"kind\":\"input\"", "\"kind\":\"output\""),
              HasSubstr("$.entries[0].buffers[0]"));
  EXPECT_THAT(errorAfter("\"cpu\"", "\"cp\xff\""),
              HasSubstr("syntax error at byte"));
  EXPECT_THAT(errorAfter("}", ""), HasSubstr("syntax error"));
}

// Certificates without a digest.
TEST(Manifest, ReadsFormat2) {
  std::string json = jsonOfTestProgram();
  size_t at = json.find("\"format\":3");
  json.replace(at, 10, "\"format\":2");
  EXPECT_THAT(manifestFromJSON(json).message(),
              HasSubstr("certificates[0]: unknown field \"digest\""));
  at = json.find(",\"digest\":\"\"");
  ASSERT_NE(at, std::string::npos);
  Expected<Manifest> read = manifestFromJSON(json.erase(at, 12));
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(read->format, manifestFormat);
  EXPECT_EQ(read->kernels[0].certificates[0].digest, "");
}

TEST(Manifest, ReadsFormat1) {
  std::string json = jsonOfTestProgram();
  auto replace = [&](const std::string &from, const std::string &to) {
    size_t at = json.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    json.replace(at, from.size(), to);
  };
  replace("\"format\":3", "\"format\":1");
  // Objects belong to later formats.
  EXPECT_THAT(manifestFromJSON(json).message(),
              HasSubstr("$.kernels[0].certificates[0]: expected a string, "
                        "found object"));
  replace("{\"check\":\"coverage\",\"claim\":\"covers every element\","
          "\"model\":\"1 2 3\",\"digest\":\"\"}",
          "\"banks: at most 1 cycle: proved\",\"odd\"");
  replace("{\"check\":\"banks\",\"reason\":\"nobody knows the banks\"}",
          "\"vectorized by 8\"");
  Expected<Manifest> read = manifestFromJSON(json);
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(read->format, manifestFormat);
  const KernelSpec &kernel = read->kernels[0];
  ASSERT_EQ(kernel.certificates.size(), 2u);
  EXPECT_EQ(kernel.certificates[0].check, "banks");
  EXPECT_EQ(kernel.certificates[0].claim, "at most 1 cycle: proved");
  EXPECT_EQ(kernel.certificates[0].model, "");
  EXPECT_EQ(kernel.certificates[1].check, "unnamed");
  EXPECT_EQ(kernel.certificates[1].claim, "odd");
  ASSERT_EQ(kernel.remarks.size(), 1u);
  EXPECT_EQ(kernel.remarks[0].reason, "vectorized by 8");
}

TEST(Manifest, RefusesDeepNestingWithoutRecursion) {
  std::string deep(2000000, '[');
  Expected<Manifest> read = manifestFromJSON(deep);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.message(), HasSubstr("levels of nesting"));
  ManifestLimits limits;
  limits.maxJsonBytes = 10;
  EXPECT_THAT(manifestFromJSON(deep, limits).message(),
              HasSubstr("expected at most 10 bytes, found 2000000"));
}

TEST(Manifest, EveryTruncationIsRefused) {
  std::string json = jsonOfTestProgram();
  for (size_t i = 0; i < json.size(); ++i)
    EXPECT_FALSE(manifestFromJSON(json.substr(0, i))) << i;
}

TEST(Manifest, RefusesStringsThatAreNotUtf8) {
  Manifest manifest = test::describedProgram().manifest;
  manifest.producer = "\xff\xfe";
  Expected<std::string> json = toJSON(manifest);
  ASSERT_FALSE(json);
  EXPECT_THAT(json.message(), HasSubstr("UTF-8"));
}

namespace {
struct InvalidCase {
  const char *name;
  std::function<void(ProgramFile &)> spoil;
  const char *message;
};
class InvalidManifest : public ::testing::TestWithParam<InvalidCase> {};
} // namespace

TEST_P(InvalidManifest, IsRefused) {
  ProgramFile program = test::describedProgram();
  ASSERT_TRUE(program.validate().ok()) << program.validate().message();
  GetParam().spoil(program);
  EXPECT_THAT(program.validate().message(), HasSubstr(GetParam().message));
  EXPECT_FALSE(program.serialize());
}

static EntrySpec &mainOf(ProgramFile &p) { return p.manifest.entries[0]; }
static CertificateSpec &claimOf(ProgramFile &p) {
  return p.manifest.kernels[0].certificates[0];
}

INSTANTIATE_TEST_SUITE_P(
    Manifest, InvalidManifest,
    ::testing::Values(
        InvalidCase{"Format", [](ProgramFile &p) { p.manifest.format = 0; },
                    "$.format: expected 3, found 0"},
        InvalidCase{"Kind", [](ProgramFile &p) { p.manifest.target.kind = ""; },
                    "$.target.kind: expected a name"},
        InvalidCase{"KernelBlob",
                    [](ProgramFile &p) { p.manifest.kernels[1].blob = 2; },
                    "$.kernels[1].blob: expected the number of a blob, one of "
                    "2, found 2"},
        InvalidCase{
            "KernelName",
            [](ProgramFile &p) { p.manifest.kernels[1].name = "first"; },
            "belongs to an earlier kernel"},
        InvalidCase{"KernelSymbol",
                    [](ProgramFile &p) {
                      p.manifest.kernels[0].symbol = std::string("a\0b", 3);
                    },
                    "control characters"},
        InvalidCase{
            "Workspace",
            [](ProgramFile &p) { p.manifest.kernels[0].workspace = -1; },
            "$.kernels[0].workspace"},
        InvalidCase{"TwoCertificates",
                    [](ProgramFile &p) {
                      p.manifest.kernels[1].certificates = {{"banks", "a", ""},
                                                            {"banks", "b", ""}};
                    },
                    "$.kernels[1].certificates[1].check: the check \"banks\" "
                    "has an earlier certificate"},
        InvalidCase{"Claim", [](ProgramFile &p) { claimOf(p).claim = ""; },
                    "$.kernels[0].certificates[0].claim: expected a name"},
        InvalidCase{"ClaimLine",
                    [](ProgramFile &p) { claimOf(p).claim = "a\nb"; },
                    "certificates[0].claim: expected a name without control "
                    "characters"},
        InvalidCase{"ClaimLength",
                    [](ProgramFile &p) { claimOf(p).claim.assign(4097, 'a'); },
                    "claim: expected at most 4096 bytes, found 4097"},
        InvalidCase{"ModelLine",
                    [](ProgramFile &p) { claimOf(p).model = "1\n2"; },
                    "certificates[0].model: expected a name without control "
                    "characters"},
        InvalidCase{
            "ModelLength",
            [](ProgramFile &p) { claimOf(p).model.assign(1048577, '1'); },
            "model: expected at most 1048576 bytes, found 1048577"},
        InvalidCase{"Certificates",
                    [](ProgramFile &p) {
                      for (int i = 0; i < 65; ++i)
                        p.manifest.kernels[1].certificates.push_back(
                            {"c" + std::to_string(i), "a", ""});
                    },
                    "$.kernels[1].certificates: expected at most 64 elements, "
                    "found 65"},
        InvalidCase{
            "RemarkCheck",
            [](ProgramFile &p) { p.manifest.kernels[0].remarks[0].check = ""; },
            "$.kernels[0].remarks[0].check: expected a name"},
        InvalidCase{"Remarks",
                    [](ProgramFile &p) {
                      p.manifest.kernels[0].remarks.assign(4097, {"a", "b"});
                    },
                    "$.kernels[0].remarks: expected at most 4096 elements"},
        InvalidCase{"ConstantBlob",
                    [](ProgramFile &p) { p.manifest.constants[0].blob = -1; },
                    "$.constants[0].blob"},
        InvalidCase{"ConstantEnd",
                    [](ProgramFile &p) { p.manifest.constants[0].size = 17; },
                    "expected a part of blob 1 of 32 bytes, found 17 bytes at "
                    "16"},
        InvalidCase{"ConstantWrap",
                    [](ProgramFile &p) {
                      p.manifest.constants[0].size =
                          std::numeric_limits<int64_t>::max();
                    },
                    "expected a part of blob"},
        InvalidCase{
            "EntryName",
            [](ProgramFile &p) { p.manifest.entries.push_back(mainOf(p)); },
            "belongs to an earlier entry"},
        InvalidCase{"ForwardReference",
                    [](ProgramFile &p) { mainOf(p).exprs[3].a = 3; },
                    "$.entries[0].exprs[3]: expected the number of an earlier "
                    "expression, one of 3, found 3"},
        InvalidCase{"DimInput",
                    [](ProgramFile &p) { mainOf(p).exprs[0].a = 1; },
                    "expected the number of an input"},
        InvalidCase{"DimAxis", [](ProgramFile &p) { mainOf(p).exprs[0].b = 2; },
                    "expected the number of an axis of the input"},
        InvalidCase{"Check",
                    [](ProgramFile &p) { mainOf(p).checks[0].expr = 99; },
                    "$.entries[0].checks[0].expr"},
        InvalidCase{"InputShape",
                    [](ProgramFile &p) { mainOf(p).inputs[0].shape[0] = -2; },
                    "$.entries[0].inputs[0].shape"},
        InvalidCase{
            "InputRank",
            [](ProgramFile &p) { mainOf(p).inputs[0].shape.assign(33, 1); },
            "expected at most 32 axes, found 33"},
        InvalidCase{"BufferInput",
                    [](ProgramFile &p) { mainOf(p).buffers[0].index = 1; },
                    "$.entries[0].buffers[0].index"},
        InvalidCase{"BufferConstant",
                    [](ProgramFile &p) { mainOf(p).buffers[1].index = 1; },
                    "$.entries[0].buffers[1].index"},
        InvalidCase{"BufferBytes",
                    [](ProgramFile &p) { mainOf(p).buffers[2].bytes = -1; },
                    "$.entries[0].buffers[2].bytes"},
        InvalidCase{"BufferAlign",
                    [](ProgramFile &p) { mainOf(p).buffers[2].align = 48; },
                    "expected a power of two"},
        InvalidCase{"StepKernel",
                    [](ProgramFile &p) { mainOf(p).steps[1].kernel = 2; },
                    "$.entries[0].steps[1].kernel"},
        InvalidCase{"StepTiles",
                    [](ProgramFile &p) { mainOf(p).steps[1].tiles = 1000; },
                    "$.entries[0].steps[1].tiles"},
        InvalidCase{
            "ViewBuffer",
            [](ProgramFile &p) { mainOf(p).steps[0].args[1].view.buffer = 4; },
            "$.entries[0].steps[0].args[1].buffer"},
        InvalidCase{
            "ViewOffset",
            [](ProgramFile &p) { mainOf(p).steps[0].args[1].view.offset = -5; },
            "$.entries[0].steps[0].args[1].offset"},
        InvalidCase{"ViewSize",
                    [](ProgramFile &p) {
                      mainOf(p).steps[0].args[0].view.sizes[1] = 77;
                    },
                    "$.entries[0].steps[0].args[0].sizes[1]"},
        InvalidCase{"ViewRank",
                    [](ProgramFile &p) {
                      mainOf(p).steps[0].args[0].view.strides.pop_back();
                    },
                    "expected 2 strides, one for each size, found 1"},
        InvalidCase{
            "Scalar",
            [](ProgramFile &p) { mainOf(p).steps[0].args[3].index = 77; },
            "$.entries[0].steps[0].args[3].index"},
        InvalidCase{"OutputType",
                    [](ProgramFile &p) {
                      mainOf(p).outputs[0].type = ElementType::F64;
                    },
                    "$.entries[0].outputs[0]: expected the view's type f32, "
                    "found f64"},
        InvalidCase{
            "OutputView",
            [](ProgramFile &p) { mainOf(p).outputs[0].view.buffer = -1; },
            "$.entries[0].outputs[0].view.buffer"}),
    [](const ::testing::TestParamInfo<InvalidCase> &info) {
      return std::string(info.param.name);
    });
