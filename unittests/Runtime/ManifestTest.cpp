//===- ManifestTest.cpp - The manifest's JSON form and its checks ---------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Round trips, and one case for each kind of thing that is refused.
//
//===----------------------------------------------------------------------===//

#include "TestPrograms.h"

#include "tracea/Runtime/Constants.h"

#include <algorithm>
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
       {"\"format\":5", "\"producer\":", "\"target\":{\"kind\":\"cpu\"",
        "[\"dim\",0,0]", "{\"dynamic\":true}", "\"kind\":\"constant\"",
        "{\"index\":", "[\"select\",", "\"workspace\":256", "[\"value\",1]",
        "{\"name\":\"factor\",\"scalar\":\"f32\"}", "{\"value\":2}",
        "\"writes\":[3],\"after\":[0]",
        "\"images\":[{\"code\":0,\"blob\":0,\"kind\":\"object\"",
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
  EXPECT_THAT(errorAfter("\"format\":5", "\"format\":6"),
              HasSubstr("expected a manifest format from 1 to 5, found 6"));
  EXPECT_THAT(errorAfter("\"format\":5", "\"format\":3.5"),
              HasSubstr("$.format: expected a 64-bit integer, found number"));
  EXPECT_THAT(errorAfter("\"format\":5", "\"format\":5,\"format\":5"),
              HasSubstr("\"format\" stands twice"));
  EXPECT_THAT(errorAfter("\"format\":5", "\"format\":5,\"extra\":1"),
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

/// The test program in the words of format 4: all inputs are tensors, steps say
/// nothing of what they write and come after, and a CPU has no images.
static std::string jsonOfFormat4() {
  Manifest manifest = test::describedProgram().manifest;
  EntrySpec &entry = manifest.entries[0];
  entry.inputs.resize(1);
  entry.steps[0].args.pop_back();
  for (Expr &expr : entry.exprs)
    if (expr.op == ExprOp::Value)
      expr = {ExprOp::Const, 1, 0, 0};
  std::string json = *toJSON(manifest);
  for (const char *list : {",\"writes\":[", ",\"after\":[", ",\"images\":["})
    for (size_t at; (at = json.find(list)) != std::string::npos;)
      json.erase(at, json.find(']', at) + 1 - at);
  return json.replace(json.find("\"format\":5"), 10, "\"format\":4");
}

TEST(Manifest, ReadsFormat4) {
  Expected<Manifest> read = manifestFromJSON(jsonOfFormat4());
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(read->format, manifestFormat);
  // Whatever temp buffer a launch is given it may write.
  const std::vector<StepSpec> &steps = read->entries[0].steps;
  EXPECT_EQ(steps[0].writes, (std::vector<int64_t>{2}));
  EXPECT_EQ(steps[1].writes, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(steps[0].after, std::vector<int64_t>());
  EXPECT_EQ(steps[1].after, std::vector<int64_t>{0});
  ASSERT_EQ(read->images.size(), 1u);
  EXPECT_EQ(read->images[0].kind, ImageKind::Object);
  const uint64_t blobSizes[] = {5, 32};
  EXPECT_EQ(validate(*read, blobSizes).message(), "");
  // What format 5 brings it does not have.
  EXPECT_THAT(errorAfter("\"format\":5", "\"format\":4"),
              HasSubstr("unknown operator \"value\""));
  auto errorIn = [](const std::string &from, const std::string &to) {
    std::string json = jsonOfFormat4();
    size_t at = json.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return manifestFromJSON(json.replace(at, from.size(), to)).message();
  };
  EXPECT_THAT(
      errorIn("{\"name\":\"x\",", "{\"name\":\"x\",\"scalar\":\"i64\","),
      HasSubstr("inputs[0]: unknown field \"scalar\""));
  EXPECT_THAT(errorIn("{\"kernel\":0,", "{\"kernel\":0,\"after\":[],"),
              HasSubstr("steps[0]: unknown field \"after\""));
  EXPECT_THAT(errorIn("\"entries\"", "\"images\":[],\"entries\""),
              HasSubstr("$: unknown field \"images\""));
  // References that are wrong are for the validation to name.
  std::string json = jsonOfFormat4();
  const std::string buffer = "{\"buffer\":2,";
  for (size_t at; (at = json.find(buffer)) != std::string::npos;)
    json.replace(at, buffer.size(), "{\"buffer\":99,");
  read = manifestFromJSON(json);
  ASSERT_TRUE(read) << read.message();
  EXPECT_THAT(validate(*read, blobSizes).message(),
              HasSubstr("steps[0].args[2].buffer: expected the number of a "
                        "buffer, one of 4, found 99"));
}

/// The test program in the words of format 3: buffers say nothing of their
/// contents.
static std::string jsonOfFormat3() {
  std::string json = jsonOfFormat4();
  const std::string field = ",\"contents\":\"any\"";
  for (size_t at; (at = json.find(field)) != std::string::npos;)
    json.erase(at, field.size());
  json.replace(json.find("\"format\":4"), 10, "\"format\":3");
  return json;
}

TEST(Manifest, ReadsFormat3) {
  Expected<Manifest> read = manifestFromJSON(jsonOfFormat3());
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(read->format, manifestFormat);
  EXPECT_EQ(read->entries[0].buffers[2].contents, TempContents::Any);
  // What format 4 brings it does not have.
  std::string json = jsonOfFormat4();
  json.replace(json.find("\"format\":4"), 10, "\"format\":3");
  EXPECT_THAT(manifestFromJSON(json).message(),
              HasSubstr("$.entries[0].buffers[2]: unknown field \"contents\""));
  json = jsonOfFormat3();
  json.replace(json.find("{\"kernel\":0"), 11, "{\"fill\":{},\"kernel\":0");
  EXPECT_THAT(manifestFromJSON(json).message(),
              HasSubstr("$.entries[0].steps[0]: unknown field \"fill\""));
}

/// The test program with a buffer of each kind, a fill and a copy.
static ProgramFile programWithMoves() {
  ProgramFile program = test::describedProgram();
  EntrySpec &entry = program.manifest.entries[0];
  entry.buffers[2].contents = TempContents::Zero;
  entry.buffers[3].contents = TempContents::Persistent;
  const ViewSpec &two = entry.steps[1].args[0].view;
  const ViewSpec &three = entry.steps[1].args[1].view;
  entry.steps.push_back(StepSpec::fill(two, 255));
  entry.steps.push_back(StepSpec::copy(two, three));
  addDependencies(entry);
  return program;
}

TEST(Manifest, ReadsFillsCopiesAndContents) {
  ProgramFile program = programWithMoves();
  Expected<std::vector<uint8_t>> bytes = program.serialize();
  ASSERT_TRUE(bytes) << bytes.message();
  Expected<ProgramFile> parsed = ProgramFile::parse(*bytes);
  ASSERT_TRUE(parsed) << parsed.message();
  const EntrySpec &entry = parsed->manifest.entries[0];
  EXPECT_EQ(entry.buffers[1].contents, TempContents::Any);
  EXPECT_EQ(entry.buffers[2].contents, TempContents::Zero);
  EXPECT_EQ(entry.buffers[3].contents, TempContents::Persistent);
  ASSERT_EQ(entry.steps.size(), 4u);
  EXPECT_TRUE(entry.steps[1].isLaunch());
  EXPECT_EQ(entry.steps[2].kind, StepKind::Fill);
  EXPECT_EQ(entry.steps[2].value, 255);
  EXPECT_EQ(entry.steps[2].args[0].view.buffer, 2);
  EXPECT_EQ(entry.steps[3].kind, StepKind::Copy);
  EXPECT_EQ(entry.steps[3].args[0].view.buffer, 2);
  EXPECT_EQ(entry.steps[3].args[1].view.buffer, 3);
  EXPECT_EQ(*toJSON(parsed->manifest), *toJSON(program.manifest));
}

TEST(Manifest, RefusesWrongFillsAndCopies) {
  auto errorOf = [](void (*change)(EntrySpec &entry)) {
    ProgramFile program = programWithMoves();
    change(program.manifest.entries[0]);
    Status status = program.validate();
    return status.ok() ? "accepted" : status.message();
  };
  EXPECT_THAT(errorOf([](EntrySpec &e) { e.steps[2].value = 256; }),
              HasSubstr("$.entries[0].steps[2].value: expected a byte, 0 to "
                        "255, found 256"));
  EXPECT_THAT(errorOf([](EntrySpec &e) { e.steps[2].args[0].view.buffer = 0; }),
              HasSubstr("steps[2].fill: expected a temp buffer to write to, "
                        "found buffer 0"));
  EXPECT_THAT(
      errorOf([](EntrySpec &e) { e.steps[3].args[1].view.buffer = 1; }),
      HasSubstr("steps[3].to: expected a temp buffer to write to, found "
                "buffer 1"));
  EXPECT_THAT(
      errorOf([](EntrySpec &e) { e.steps[3].args[0].view.buffer = 9; }),
      HasSubstr("steps[3].copy.buffer: expected the number of a buffer"));
  EXPECT_THAT(
      errorOf([](EntrySpec &e) {
        e.steps[3].args[1].view.type = ElementType::I32;
      }),
      HasSubstr("steps[3].to: expected a view of f32 with 2 axes, found "
                "one of i32 with 2"));
  EXPECT_THAT(errorOf([](EntrySpec &e) { e.steps[3].args.pop_back(); }),
              HasSubstr("steps[3]: expected a fill of one view or a copy "
                        "between two"));
  EXPECT_THAT(
      errorOf([](EntrySpec &e) { e.steps[2].args[0] = ArgSpec::fromIndex(0); }),
      HasSubstr("steps[2]: expected views to fill or copy"));
  auto errorIn = [](const std::string &from, const std::string &to) {
    std::string json = *toJSON(programWithMoves().manifest);
    size_t at = json.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return manifestFromJSON(json.replace(at, from.size(), to)).message();
  };
  EXPECT_THAT(errorIn("\"contents\":\"zero\"", "\"contents\":\"ones\""),
              HasSubstr("buffers[2].contents: expected one of any, zero, "
                        "persistent, constant, found \"ones\""));
  EXPECT_THAT(errorIn("\"value\":255", "\"value\":255,\"tiles\":0"),
              HasSubstr("steps[2]: unknown field \"tiles\""));
  EXPECT_THAT(errorIn(",\"value\":255", ""),
              HasSubstr("steps[2]: the field \"value\" is missing"));
}

/// A program whose first step computes a buffer of a constant alone: its input
/// is one, and what it took besides is gone.
static ProgramFile programWithConstants() {
  ProgramFile program = test::describedProgram();
  EntrySpec &entry = program.manifest.entries[0];
  entry.inputs[0].isConstant = true;
  entry.steps[0].args.resize(3);
  markConstants(entry);
  return program;
}

TEST(Manifest, ReadsConstants) {
  ProgramFile program = programWithConstants();
  // Both steps use nothing else.
  const EntrySpec &marked = program.manifest.entries[0];
  EXPECT_EQ(marked.buffers[2].contents, TempContents::Constant);
  EXPECT_EQ(marked.buffers[3].contents, TempContents::Constant);
  EXPECT_EQ(findConstantSteps(marked), (std::vector<char>{true, true}));
  std::string json = *toJSON(program.manifest);
  EXPECT_THAT(json, HasSubstr("\"shape\":[{\"dynamic\":true},4],"
                              "\"constant\":true}"));
  Expected<std::vector<uint8_t>> bytes = program.serialize();
  ASSERT_TRUE(bytes) << bytes.message();
  Expected<ProgramFile> parsed = ProgramFile::parse(*bytes);
  ASSERT_TRUE(parsed) << parsed.message();
  EXPECT_TRUE(parsed->manifest.entries[0].inputs[0].isConstant);
  EXPECT_FALSE(parsed->manifest.entries[0].inputs[1].isConstant);
  EXPECT_EQ(*toJSON(parsed->manifest), json);

  auto errorIn = [&](const std::string &from, const std::string &to) {
    std::string changed = json;
    size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return manifestFromJSON(changed.replace(at, from.size(), to)).message();
  };
  EXPECT_THAT(errorIn("\"constant\":true", "\"constant\":false"),
              HasSubstr("inputs[0].constant: expected true"));
  EXPECT_THAT(
      errorIn("\"scalar\":\"i64\"", "\"scalar\":\"i64\",\"constant\":true"),
      HasSubstr("inputs[1]: unknown field \"constant\""));
}

TEST(Manifest, ConstantContentsFollowFromConstants) {
  auto marksOf = [](void (*change)(EntrySpec &entry)) {
    ProgramFile program = test::describedProgram();
    EntrySpec &entry = program.manifest.entries[0];
    entry.inputs[0].isConstant = true;
    entry.steps[0].args.resize(3);
    change(entry);
    addDependencies(entry);
    markConstants(entry);
    EXPECT_TRUE(program.validate().ok());
    return std::make_pair(entry.buffers[2].contents, entry.buffers[3].contents);
  };
  constexpr TempContents any = TempContents::Any,
                         constant = TempContents::Constant;
  auto marks = [](TempContents a, TempContents b) {
    return std::make_pair(a, b);
  };
  EXPECT_EQ(marksOf([](EntrySpec &) {}), marks(constant, constant));
  // The sizes of the input are not constant either.
  EXPECT_EQ(marksOf([](EntrySpec &e) { e.inputs[0].isConstant = false; }),
            marks(any, any));
  EXPECT_EQ(marksOf([](EntrySpec &e) {
              e.steps[1].args.push_back(ArgSpec::fromValue(2));
            }),
            marks(constant, any));
  EXPECT_EQ(marksOf([](EntrySpec &e) {
              e.steps[0].args.push_back(
                  ArgSpec::fromIndex(ExprBuilder(e.exprs).value(1)));
            }),
            marks(any, any));
  // What a run writes between is another value than the one that was kept.
  EXPECT_EQ(marksOf([](EntrySpec &e) {
              e.steps[1].args.push_back(ArgSpec::fromValue(2));
              e.steps.push_back(e.steps[0]);
            }),
            marks(any, any));

  auto errorOf = [](void (*change)(EntrySpec &entry)) {
    ProgramFile program = programWithConstants();
    change(program.manifest.entries[0]);
    Status status = program.validate();
    return status.ok() ? "accepted" : status.message();
  };
  EXPECT_THAT(errorOf([](EntrySpec &e) { e.inputs[0].isConstant = false; }),
              HasSubstr("buffers[2]: expected constant contents to have a "
                        "constant size"));
  EXPECT_THAT(errorOf([](EntrySpec &e) { e.buffers[2].contents = any; }),
              HasSubstr("steps[1]: expected a step that writes the constant "
                        "contents of buffer 3 to use constants alone, found "
                        "buffer 2"));
  EXPECT_THAT(errorOf([](EntrySpec &e) {
                e.steps[0].args.push_back(ArgSpec::fromValue(2));
              }),
              HasSubstr("steps[0]: expected a step that writes the constant "
                        "contents of buffer 2 to use constants alone, found "
                        "the scalar of argument 3"));
  EXPECT_THAT(errorOf([](EntrySpec &e) {
                e.steps[1].args.push_back(ArgSpec::fromValue(2));
                e.buffers[3].contents = any;
                e.steps.push_back(e.steps[0]);
                addDependencies(e);
              }),
              HasSubstr("steps[2]: expected a step that writes the constant "
                        "contents of buffer 2 to use constants alone, found "
                        "step 1 before it, which is not"));
  EXPECT_THAT(errorOf([](EntrySpec &e) { e.inputs[1].isConstant = true; }),
              HasSubstr("inputs[1]: expected a tensor to be constant, found a "
                        "scalar"));
}

// Certificates without a digest.
TEST(Manifest, ReadsFormat2) {
  std::string json = jsonOfFormat3();
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
  std::string json = jsonOfFormat3();
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
/// The expression that takes the number of a scalar.
static Expr &valueOf(ProgramFile &p) {
  std::vector<Expr> &exprs = mainOf(p).exprs;
  return *std::find_if(exprs.begin(), exprs.end(), [](const Expr &expr) {
    return expr.op == ExprOp::Value;
  });
}
static CertificateSpec &claimOf(ProgramFile &p) {
  return p.manifest.kernels[0].certificates[0];
}

INSTANTIATE_TEST_SUITE_P(
    Manifest, InvalidManifest,
    ::testing::Values(
        InvalidCase{"Format", [](ProgramFile &p) { p.manifest.format = 0; },
                    "$.format: expected 5, found 0"},
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
                      p.manifest.kernels[1].certificates = {
                          {"banks", "a", "", ""}, {"banks", "b", "", ""}};
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
                            {"c" + std::to_string(i), "a", "", ""});
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
                    [](ProgramFile &p) { mainOf(p).exprs[0].a = 3; },
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
        InvalidCase{
            "ScalarShape",
            [](ProgramFile &p) { mainOf(p).inputs[1].shape = {1}; },
            "$.entries[0].inputs[1].shape: expected a scalar without axes"},
        InvalidCase{"ScalarBuffer",
                    [](ProgramFile &p) { mainOf(p).buffers[0].index = 1; },
                    "$.entries[0].buffers[0].index: expected an input that is "
                    "a tensor, found the scalar input 1"},
        InvalidCase{"ValueOfTensor", [](ProgramFile &p) { valueOf(p).a = 0; },
                    "expected the number of a scalar input, found the tensor "
                    "'x'"},
        InvalidCase{"ValueOfFloat", [](ProgramFile &p) { valueOf(p).a = 2; },
                    "expected an input that is an integer, found f32"},
        InvalidCase{"ValueOfNone", [](ProgramFile &p) { valueOf(p).a = 3; },
                    "expected the number of an input, one of 3, found 3"},
        InvalidCase{
            "ValueArgument",
            [](ProgramFile &p) { mainOf(p).steps[0].args[4].index = 0; },
            "$.entries[0].steps[0].args[4].value: expected the number of a "
            "scalar input, found the tensor 'x'"},
        InvalidCase{
            "IndexArgument",
            [](ProgramFile &p) {
              mainOf(p).inputs[2].type = ElementType::Index;
            },
            "$.entries[0].steps[0].args[4].value: expected a scalar with a "
            "width of its own, found an index"},
        InvalidCase{"WritesBuffer",
                    [](ProgramFile &p) { mainOf(p).steps[0].writes = {4}; },
                    "$.entries[0].steps[0].writes[0]: expected the number of a "
                    "buffer, one of 4, found 4"},
        InvalidCase{"WritesInput",
                    [](ProgramFile &p) { mainOf(p).steps[0].writes = {0}; },
                    "writes[0]: expected a temp buffer, found buffer 0"},
        InvalidCase{"WritesUnpassed",
                    [](ProgramFile &p) { mainOf(p).steps[0].writes = {3}; },
                    "writes[0]: expected a buffer of an argument, found buffer "
                    "3"},
        InvalidCase{"WritesTwice",
                    [](ProgramFile &p) { mainOf(p).steps[0].writes = {2, 2}; },
                    "writes[1]: expected buffers by number, each once"},
        InvalidCase{"AfterItself",
                    [](ProgramFile &p) { mainOf(p).steps[1].after = {0, 1}; },
                    "$.entries[0].steps[1].after[1]: expected the number of an "
                    "earlier step, one of 1, found 1"},
        InvalidCase{"AfterTwice",
                    [](ProgramFile &p) { mainOf(p).steps[1].after = {0, 0}; },
                    "after[1]: expected steps by number, each once"},
        InvalidCase{"AfterNothing",
                    [](ProgramFile &p) { mainOf(p).steps[1].after = {}; },
                    "$.entries[0].steps[1].after: expected step 0 among those "
                    "to come after: both use buffer 2, and one of them writes "
                    "it"},
        InvalidCase{"ImageMissing",
                    [](ProgramFile &p) { p.manifest.images.clear(); },
                    "$.kernels[0]: expected an image with the code 0"},
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
