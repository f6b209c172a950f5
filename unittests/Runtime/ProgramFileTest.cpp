//===- ProgramFileTest.cpp - The container under damage -------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A container must come back as it was written, and every flipped byte, every
// truncation and every extension must be noticed.
//
//===----------------------------------------------------------------------===//

#include "TestPrograms.h"

#include "tracea/Runtime/File.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace tracea::runtime;
using ::testing::HasSubstr;

static std::vector<uint8_t>
testBytes(const ProgramFile &program = test::describedProgram()) {
  Expected<std::vector<uint8_t>> bytes = program.serialize();
  EXPECT_TRUE(bytes) << bytes.message();
  return *bytes;
}

TEST(ProgramFile, RoundTrips) {
  ProgramFile program = test::describedProgram();
  std::vector<uint8_t> bytes = testBytes();
  Expected<ProgramFile> read = ProgramFile::parse(bytes);
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(read->blobs, program.blobs);
  EXPECT_EQ(*toJSON(read->manifest), *toJSON(program.manifest));
  EXPECT_EQ(*read->serialize(), bytes);
  EXPECT_TRUE(ProgramFile::hasMagic(bytes));
  EXPECT_FALSE(ProgramFile::hasMagic(Bytes(bytes.data(), 7)));
}

TEST(ProgramFile, EmptyBlobsAndNoBlobs) {
  ProgramFile program;
  program.manifest.target = {"cpu", "x86_64", "", {}};
  Expected<ProgramFile> read = ProgramFile::parse(*program.serialize());
  ASSERT_TRUE(read) << read.message();
  EXPECT_TRUE(read->blobs.empty());
  program.addBlob({});
  program.addBlob({});
  program.addBlob({1});
  read = ProgramFile::parse(*program.serialize());
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(read->blobs, program.blobs);
}

TEST(ProgramFile, VersionsShareBlobsAndRoundTrip) {
  ProgramFile program = test::describedVersions();
  ASSERT_EQ(program.others.size(), 2u);
  ASSERT_TRUE(program.validate().ok()) << program.validate().message();
  // Code for each, and constants once.
  EXPECT_EQ(program.blobs.size(), 4u);
  EXPECT_EQ(program.manifest.kernels[0].blob, 0);
  EXPECT_EQ(program.others[0].kernels[1].blob, 2);
  EXPECT_EQ(program.others[1].images[0].code, 3);
  EXPECT_EQ(program.others[1].images[0].blob, 3);
  for (const Manifest *version : program.versions())
    EXPECT_EQ(version->constants[0].blob, 1);

  std::vector<uint8_t> bytes = testBytes(program);
  EXPECT_EQ(bytes[8], 3);
  Expected<ProgramFile> read = ProgramFile::parse(bytes);
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(read->blobs, program.blobs);
  ASSERT_EQ(read->others.size(), 2u);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(*toJSON(*read->versions()[i]), *toJSON(*program.versions()[i]));
  EXPECT_EQ(*read->serialize(), bytes);

  // Versions of versions keep their order.
  ProgramFile both = test::describedProgram();
  both.addVersions(std::move(program));
  ASSERT_EQ(both.others.size(), 3u);
  EXPECT_EQ(both.others[2].target.name, "plain");
  EXPECT_EQ(both.blobs.size(), 4u);
  EXPECT_TRUE(both.validate().ok()) << both.validate().message();
}

TEST(ProgramFile, AVersionIsSelectedByItsTarget) {
  ProgramFile program = test::describedVersions();
  EXPECT_EQ(program.selectTarget("better").message(),
            "the program holds no version for the target 'better'; it holds "
            "'best', 'good', 'plain'");
  EXPECT_EQ(program.others.size(), 2u);
  ASSERT_TRUE(program.selectTarget("good").ok());
  EXPECT_TRUE(program.others.empty());
  EXPECT_EQ(program.manifest.kernels[0].blob, 2);
  EXPECT_TRUE(program.validate().ok());
  // Of one version a container is what it always was.
  EXPECT_EQ(testBytes(program)[8], 1);
}

TEST(ProgramFile, VersionsAreTheSameForACaller) {
  auto errorOf = [](auto change) {
    ProgramFile program = test::describedVersions();
    change(program.others[1]);
    return program.validate().message();
  };
  EXPECT_EQ(errorOf([](Manifest &) {}), "");
  EXPECT_THAT(errorOf([](Manifest &m) { m.target.name = "best"; }),
              HasSubstr("manifest 2: an earlier manifest is for the target "
                        "\"best\" as well"));
  EXPECT_THAT(errorOf([](Manifest &m) { m.kernels[0].blob = 9; }),
              HasSubstr("manifest 2: manifest: $.kernels[0].blob"));
  EXPECT_THAT(errorOf([](Manifest &m) { m.entries.clear(); }),
              HasSubstr("expected 1 entries, as of the first manifest"));
  EXPECT_THAT(errorOf([](Manifest &m) { m.entries[0].name = "other"; }),
              HasSubstr("expected an entry \"main\""));
  EXPECT_THAT(
      errorOf([](Manifest &m) { m.entries[0].inputs[0].isConstant = true; }),
      HasSubstr("entry \"main\" differs from that of the first manifest: "
                "expected input 0 as it is there"));
  EXPECT_THAT(errorOf([](Manifest &m) {
                m.entries[0].inputs.push_back({"y", ElementType::F32, {4}});
              }),
              HasSubstr("expected 3 inputs, found 4"));
  EXPECT_THAT(errorOf([](Manifest &m) { m.entries[0].outputs.clear(); }),
              HasSubstr("expected 1 outputs, found 0"));
  EXPECT_THAT(errorOf([](Manifest &m) {
                m.entries[0].outputs[0].type = ElementType::I32;
                m.entries[0].outputs[0].view.type = ElementType::I32;
              }),
              HasSubstr("expected output 0 as it is there"));
  ProgramFile mixed = test::describedProgram();
  mixed.addVersions(test::describedGPUProgram());
  EXPECT_THAT(mixed.validate().message(),
              HasSubstr("manifest 1: expected a target of kind \"cpu\", as of "
                        "the first manifest, found \"cuda\""));
  EXPECT_FALSE(mixed.serialize());
}

static void expectEveryFlipNoticed(const std::vector<uint8_t> &bytes) {
  for (size_t i = 0; i < bytes.size(); ++i)
    for (uint8_t flip : {0x01, 0x80, 0xff}) {
      std::vector<uint8_t> damaged = bytes;
      damaged[i] ^= flip;
      Expected<ProgramFile> read = ProgramFile::parse(damaged);
      EXPECT_FALSE(read) << "byte " << i;
      EXPECT_FALSE(read.message().empty());
    }
}

TEST(ProgramFile, EveryFlippedByteIsNoticed) {
  expectEveryFlipNoticed(testBytes());
  expectEveryFlipNoticed(testBytes(test::describedVersions()));
}

static void expectEverySizeNoticed(const std::vector<uint8_t> &bytes) {
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(ProgramFile::parse(Bytes(bytes.data(), size))) << size;
  std::vector<uint8_t> longer = bytes;
  longer.push_back(0);
  EXPECT_THAT(ProgramFile::parse(longer).message(),
              HasSubstr("the file's size"));
}

TEST(ProgramFile, EveryTruncationAndExtensionIsNoticed) {
  expectEverySizeNoticed(testBytes());
  expectEverySizeNoticed(testBytes(test::describedVersions()));
}

/// Sets bytes of the header or the table and makes its checksum right again,
/// as an attacker would.
static std::string
errorAfterPatch(size_t at, std::vector<uint8_t> values,
                const ProgramFile &program = test::describedProgram()) {
  std::vector<uint8_t> bytes = testBytes(program);
  std::copy(values.begin(), values.end(),
            bytes.begin() + static_cast<ptrdiff_t>(at));
  std::vector<uint8_t> head(bytes.begin(), bytes.begin() + 48);
  uint32_t count = bytes[12] | uint32_t(bytes[13]) << 8;
  size_t tableEnd = std::min<size_t>(64 + 48 * size_t(count), bytes.size());
  head.insert(head.end(), bytes.begin() + 64,
              bytes.begin() + static_cast<ptrdiff_t>(tableEnd));
  XXH128_canonical_t sum;
  XXH128_canonicalFromHash(&sum, XXH3_128bits(head.data(), head.size()));
  std::copy(sum.digest, sum.digest + 16, bytes.begin() + 48);
  Expected<ProgramFile> read = ProgramFile::parse(bytes);
  return read ? "accepted" : read.message();
}

TEST(ProgramFile, LayoutIsCheckedBehindTheChecksum) {
  const std::vector<uint8_t> ff(8, 0xff);
  EXPECT_EQ(errorAfterPatch(0, {0x89}), "accepted");
  EXPECT_THAT(
      errorAfterPatch(8, {5}),
      HasSubstr("expected container version 1 to 4 at byte 8, found 5"));
  EXPECT_THAT(errorAfterPatch(8, {0}), HasSubstr("found 0"));
  EXPECT_THAT(errorAfterPatch(8, {2}), HasSubstr("expected a signature"));
  EXPECT_THAT(errorAfterPatch(12, {0}), HasSubstr("sections at byte 12"));
  EXPECT_THAT(errorAfterPatch(12, {2}),
              HasSubstr("expected section 0 to begin at byte"));
  EXPECT_THAT(errorAfterPatch(12, {0, 0x10}), HasSubstr("does not fit"));
  EXPECT_THAT(errorAfterPatch(12, {0xff, 0xff, 0xff, 0xff}),
              HasSubstr("found 4294967295"));
  EXPECT_THAT(errorAfterPatch(24, {1}), HasSubstr("reserved bytes"));
  // The entry of the manifest: kind, index, offset, size, reserved.
  EXPECT_THAT(errorAfterPatch(64, {2}),
              HasSubstr("section 0 to be of kind 1 at byte 64, found 2"));
  EXPECT_THAT(errorAfterPatch(68, {1}), HasSubstr("to have the index 0"));
  EXPECT_THAT(errorAfterPatch(72, {0, 0}),
              HasSubstr("begins at byte 0, inside"));
  EXPECT_THAT(errorAfterPatch(72, {1}),
              HasSubstr("expected section 0 to begin"));
  EXPECT_THAT(errorAfterPatch(72, ff),
              HasSubstr("expected section 0 to begin"));
  EXPECT_THAT(errorAfterPatch(80, ff), HasSubstr("found a file of"));
  EXPECT_THAT(errorAfterPatch(80, {0, 0}), HasSubstr("checksum of section 0"));
  EXPECT_THAT(errorAfterPatch(104, {1}), HasSubstr("reserved field"));
  // A second manifest, a repeated blob, a blob on top of the manifest.
  EXPECT_THAT(errorAfterPatch(112, {1}),
              HasSubstr("section 1 to be of kind 2"));
  EXPECT_THAT(errorAfterPatch(112 + 48 + 4, {0}),
              HasSubstr("section 2 to have the index 1"));
  EXPECT_THAT(errorAfterPatch(112 + 8, {0, 1}), HasSubstr("inside what ends"));
}

TEST(ProgramFile, ContainersOfSeveralManifestsAreChecked) {
  ProgramFile versions = test::describedVersions();
  EXPECT_EQ(errorAfterPatch(8, {3}, versions), "accepted");
  // One manifest where several are said to be, and several where one is.
  EXPECT_THAT(errorAfterPatch(8, {3}),
              HasSubstr("section 1 to be of kind 1 at byte 112, found 2"));
  ProgramFile lone;
  lone.manifest.target = {"cpu", "x86_64", "", {}};
  EXPECT_THAT(errorAfterPatch(8, {3}, lone),
              HasSubstr("expected 2 or more manifests in a container of "
                        "version 3, found 1"));
  EXPECT_THAT(errorAfterPatch(8, {1}, versions),
              HasSubstr("section 1 to be of kind 2 at byte 112, found 1"));
  EXPECT_THAT(errorAfterPatch(8, {4}, versions),
              HasSubstr("expected a signature"));
  // Manifests come first, and are counted as blobs are.
  size_t third = 64 + 2 * 48, blob = third + 48;
  EXPECT_THAT(errorAfterPatch(third + 4, {0}, versions),
              HasSubstr("section 2 to have the index 2"));
  EXPECT_THAT(errorAfterPatch(third, {2}, versions),
              HasSubstr("section 2 to have the index 0"));
  EXPECT_THAT(errorAfterPatch(blob, {1}, versions),
              HasSubstr("section 3 to have the index 3"));
  EXPECT_THAT(errorAfterPatch(blob + 48, {1}, versions),
              HasSubstr("section 4 to be of kind 2"));
  ProgramLimits limits;
  limits.maxVersions = 2;
  EXPECT_THAT(ProgramFile::parse(testBytes(versions), limits).message(),
              HasSubstr("expected at most 2 manifests, found 3"));
}

TEST(ProgramFile, LimitsAreKept) {
  std::vector<uint8_t> bytes = testBytes();
  ProgramLimits limits;
  limits.maxBytes = bytes.size() - 1;
  EXPECT_THAT(ProgramFile::parse(bytes, limits).message(),
              HasSubstr("expected at most"));
  limits = {};
  limits.maxSections = 2;
  EXPECT_THAT(ProgramFile::parse(bytes, limits).message(),
              HasSubstr("expected 1 to 2 sections"));
  limits = {};
  limits.manifest.maxJsonBytes = 100;
  EXPECT_THAT(ProgramFile::parse(bytes, limits).message(),
              HasSubstr("a manifest of at most 100"));
  limits = {};
  limits.manifest.maxWorkspace = 255;
  EXPECT_THAT(ProgramFile::parse(bytes, limits).message(),
              HasSubstr("expected 0 to 255 bytes, found 256"));
}

TEST(ProgramFile, SavesWhatItSerializes) {
  std::string path = ::testing::TempDir() + "program-file-test.tracea";
  ProgramFile program = test::describedProgram();
  ASSERT_TRUE(program.save(path).ok()) << program.save(path).message();
  EXPECT_EQ(*readFile(path, 1 << 20), testBytes());
  Expected<ProgramFile> read = ProgramFile::load(path);
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(read->blobs, program.blobs);
  ProgramFile versions = test::describedVersions();
  ASSERT_TRUE(versions.save(path).ok()) << versions.save(path).message();
  EXPECT_EQ(*readFile(path, 1 << 20), testBytes(versions));
  ASSERT_TRUE(program.save(path).ok());
  // A program that does not validate leaves the file alone.
  program.manifest.kernels[0].blob = 17;
  EXPECT_FALSE(program.save(path).ok());
  EXPECT_TRUE(ProgramFile::load(path));
  std::remove(path.c_str());
  EXPECT_THAT(ProgramFile::load(path).message(), HasSubstr("cannot open"));
}
