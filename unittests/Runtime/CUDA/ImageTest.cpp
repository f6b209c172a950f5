//===- ImageTest.cpp - Images of code and recipes of maps -----------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the CUDA driver that need no driver library.
//
//===----------------------------------------------------------------------===//

#include "CUDAModule.h"
#include "CUDATensorMap.h"
#include "EmbeddedPTX.h"
#include "Ptxas.h"

#include <cstring>
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

using namespace tracea::runtime;
using namespace tracea::runtime::cuda;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(CUDAImage, ArchitecturesAreParsed) {
  EXPECT_EQ(parseArch("sm_90")->capability, 90);
  EXPECT_EQ(parseArch("sm_90a")->suffix, 'a');
  EXPECT_EQ(parseArch("sm_120f")->capability, 120);
  EXPECT_EQ(parseArch("sm_120f")->suffix, 'f');
  for (const char *bad : {"", "sm_", "sm_9", "sm_90b", "sm_90aa", "gfx942",
                          "sm_99999999999", "compute_90", "sm_-90", "z80"})
    EXPECT_FALSE(parseArch(bad)) << bad;
}

static ImageSpec image(ImageKind kind, const char *arch, int64_t isa = 0) {
  return {0, 0, kind, arch, isa};
}

TEST(CUDAImage, TheBestOneIsChosen) {
  std::vector<ImageSpec> images = {
      image(ImageKind::PTX, "sm_75", 70),  image(ImageKind::PTX, "sm_90", 80),
      image(ImageKind::PTX, "sm_90a", 80), image(ImageKind::Cubin, "sm_80"),
      image(ImageKind::Cubin, "sm_86"),    image(ImageKind::Cubin, "sm_90"),
      image(ImageKind::Cubin, "sm_90a"),   image(ImageKind::Cubin, "sm_100f"),
      image(ImageKind::PTX, "sm_80", 90)};
  auto choose = [&](int capability, int ptx = 90) {
    Expected<size_t> chosen = chooseImage(images, capability, ptx);
    return chosen ? nameOf(images[*chosen].kind) + images[*chosen].arch
                  : chosen.message();
  };
  EXPECT_EQ(choose(90), "cubinsm_90a");
  EXPECT_EQ(choose(80), "cubinsm_80");
  EXPECT_EQ(choose(86), "cubinsm_86");
  EXPECT_EQ(choose(89), "cubinsm_86");
  EXPECT_EQ(choose(75), "ptxsm_75");
  EXPECT_EQ(choose(100), "cubinsm_100f");
  EXPECT_EQ(choose(103), "cubinsm_100f");
  // Newer than all machine code; code for one chip alone does not serve.
  EXPECT_EQ(choose(120), "ptxsm_90");
  EXPECT_EQ(choose(120, 70), "ptxsm_75");
  EXPECT_THAT(choose(70), HasSubstr("the program has no code for sm_70: ptx "
                                    "for sm_75 needs a newer device"));
  images = {image(ImageKind::PTX, "sm_80", 85),
            image(ImageKind::Cubin, "sm_90a"), image(ImageKind::SPIRV, "sm_80"),
            image(ImageKind::PTX, "gfx90", 80)};
  EXPECT_THAT(choose(86, 80),
              HasSubstr("is PTX 8.5, the driver compiles up to 8.0; cubin for "
                        "sm_90a runs on that capability alone; spirv for sm_80 "
                        "is no kind of code that this driver knows; ptx for "
                        "gfx90 is for no NVIDIA architecture"));
  images.clear();
  EXPECT_THAT(choose(90), HasSubstr("no image at all"));
}

TEST(CUDAImage, CodeThatIsCutOffIsRefused) {
  std::vector<uint8_t> ptx = test::gpuPTX();
  EXPECT_TRUE(checkImage(ptx).ok());
  std::string text(ptx.begin(), ptx.end());
  auto check = [](const std::string &code) {
    return checkImage(
               Bytes(reinterpret_cast<const unsigned char *>(code.data()),
                     code.size()))
        .message();
  };
  EXPECT_EQ(check(text + std::string(3, '\0')), "");
  EXPECT_THAT(check(std::string(1, '\0') + text), HasSubstr("a zero byte"));
  EXPECT_THAT(check(text.substr(0, text.rfind('}'))),
              HasSubstr("do not close"));
  EXPECT_THAT(check(text.substr(0, text.find(".entry"))),
              HasSubstr("with a kernel (.entry)"));
  EXPECT_THAT(check(""), HasSubstr("expected a cubin or PTX"));
  EXPECT_EQ(check(".version 8.0 // }\n/* { */ .entry k() {}"), "");
}

TEST(CUDAImage, MachineCodeIsCheckedBeforeTheDriverSeesIt) {
  // The least that is an ELF file for CUDA: a header and one section.
  struct {
    Elf64_Ehdr header = {};
    char text[64] = {};
    Elf64_Shdr sections[2] = {};
  } file;
  std::memcpy(file.header.e_ident, ELFMAG, SELFMAG);
  file.header.e_ident[EI_CLASS] = ELFCLASS64;
  file.header.e_ident[EI_DATA] = ELFDATA2LSB;
  file.header.e_machine = 190;
  file.header.e_shentsize = sizeof(Elf64_Shdr);
  file.header.e_shnum = 2;
  file.header.e_shoff = offsetof(decltype(file), sections);
  file.sections[1].sh_type = SHT_PROGBITS;
  file.sections[1].sh_offset = offsetof(decltype(file), text);
  file.sections[1].sh_size = 64;
  auto check = [&](size_t size = sizeof file) {
    return checkImage(Bytes(reinterpret_cast<unsigned char *>(&file), size))
        .message();
  };
  EXPECT_EQ(check(), "");
  for (size_t size = 4; size < sizeof file; ++size)
    EXPECT_NE(check(size), "") << size;
  file.sections[1].sh_size = ~uint64_t(0);
  EXPECT_THAT(check(), HasSubstr("ELF section 1 goes beyond the end"));
  file.sections[1].sh_size = 64;
  file.header.e_shoff = ~uint64_t(0) - 8;
  EXPECT_THAT(check(), HasSubstr("tables are not in the file"));
  file.header.e_machine = EM_X86_64;
  EXPECT_THAT(check(), HasSubstr("expected a 64-bit ELF file for CUDA"));
}

TEST(CUDAImage, RealMachineCodeIsAccepted) {
  std::string ptxas = test::findPtxas();
  if (ptxas.empty())
    GTEST_SKIP() << "no ptxas";
  std::vector<uint8_t> code = test::assemble(ptxas, test::gpuPTX(), "sm_90");
  ASSERT_FALSE(code.empty());
  Status status = checkImage(code);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_FALSE(checkImage(Bytes(code.data(), code.size() / 2)).ok());
}

static ParameterCounts countIn(const std::string &text) {
  return countParameters(
      Bytes(reinterpret_cast<const unsigned char *>(text.data()), text.size()));
}

TEST(CUDAImage, ParametersAreCountedInText) {
  ParameterCounts counts = countIn(
      ".version 8.0\n.visible .entry one(\n\t.param .u64 .ptr .global .align 1 "
      "p\n)\n.reqntid 32, 1, 1\n{\n\tld.param.u64 %rd1, [p];\n}\n"
      ".entry three(.param .u32 a, .param .align 64 .b8 m[128], .param .f32 x)"
      "{}\n.entry none() {}\n.entry bare\n{\n}\n");
  EXPECT_THAT(counts, UnorderedElementsAre(Pair("one", 1), Pair("three", 3),
                                           Pair("none", 0), Pair("bare", 0)));
  // What is cut off says nothing, and harms nobody.
  for (const char *text : {"", ".entry", ".entry ", ".entry k", ".entry k(",
                           ".entry k(.param .u32 a", ".entry k  "})
    EXPECT_TRUE(countIn(text).empty()) << text;
}

TEST(CUDAImage, ParametersAreCountedInMachineCode) {
  std::string ptxas = test::findPtxas();
  if (ptxas.empty())
    GTEST_SKIP() << "no ptxas";
  std::vector<uint8_t> ptx = test::gpuPTX();
  std::vector<uint8_t> code = test::assemble(ptxas, ptx, "sm_90");
  ASSERT_FALSE(code.empty());
  ParameterCounts expected = countParameters(ptx);
  // Machine code does not say that there are none.
  EXPECT_EQ(expected.erase("gpu_empty") + expected.erase("gpu_trap"), 2u);
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(countParameters(code), expected);
  // Any code that passes the check is read without harm.
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::vector<uint8_t> broken = code;
    for (int j = 0; j < 20; ++j)
      broken[random() % broken.size()] = static_cast<uint8_t>(random());
    if (checkImage(broken).ok())
      countParameters(broken);
  }
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

static TensorMapSpec bf16Tile() {
  TensorMapSpec spec;
  spec.element = MapElement::BF16;
  spec.box = {128, 64};
  spec.elementStrides = {1, 1};
  spec.swizzle = MapSwizzle::B128;
  spec.promotion = MapPromotion::B256;
  return spec;
}
static void *const somewhere = reinterpret_cast<void *>(uintptr_t(0x10000));
static void *const blank = reinterpret_cast<void *>(uintptr_t(0x20000));

TEST(CUDATensorMap, AxesAreTurnedAround) {
  Expected<TensorMapArguments> made = makeTensorMapArguments(
      bf16Tile(), somewhere, {4096, 1000}, {1024, 1}, blank);
  ASSERT_TRUE(made) << made.message();
  EXPECT_EQ(made->dataType, 9);
  EXPECT_EQ(made->rank, 2u);
  EXPECT_EQ(made->address, somewhere);
  EXPECT_EQ(made->sizes[0], 1000u);
  EXPECT_EQ(made->sizes[1], 4096u);
  EXPECT_EQ(made->strides[0], 2048u);
  EXPECT_EQ(made->box[0], 64u);
  EXPECT_EQ(made->box[1], 128u);
  EXPECT_EQ(made->swizzle, 3);
  EXPECT_EQ(made->promotion, 3);
  EXPECT_FALSE(made->im2col);
}

TEST(CUDATensorMap, Im2colCornersAreTurnedAround) {
  TensorMapSpec spec = bf16Tile();
  spec.box.clear();
  spec.im2col = Im2colSpec{{-1, -2}, {-3, -4}, 64, 128};
  spec.elementStrides = {1, 2, 3, 1};
  Expected<TensorMapArguments> made = makeTensorMapArguments(
      spec, somewhere, {8, 28, 30, 64}, {28 * 30 * 64, 30 * 64, 64, 1}, blank);
  ASSERT_TRUE(made) << made.message();
  EXPECT_TRUE(made->im2col);
  EXPECT_EQ(made->sizes[0], 64u);
  EXPECT_EQ(made->sizes[1], 30u);
  EXPECT_EQ(made->lower[0], -2);
  EXPECT_EQ(made->lower[1], -1);
  EXPECT_EQ(made->upper[0], -4);
  EXPECT_EQ(made->elementStrides[1], 3u);
  EXPECT_EQ(made->elementStrides[2], 2u);
}

TEST(CUDATensorMap, WhatTheDriverWouldRefuseIsExplained) {
  auto error = [](const TensorMapSpec &spec, std::vector<int64_t> sizes,
                  std::vector<int64_t> strides, void *address = somewhere) {
    Expected<TensorMapArguments> made =
        makeTensorMapArguments(spec, address, sizes, strides, blank);
    return made ? "accepted" : made.message();
  };
  TensorMapSpec spec = bf16Tile();
  EXPECT_EQ(error(spec, {8, 64}, {64, 1}), "accepted");
  EXPECT_THAT(error(spec, {8, 64}, {64, 2}), HasSubstr("found stride 2"));
  EXPECT_THAT(error(spec, {8, 64}, {60, 1}), HasSubstr("multiple of 16 bytes"));
  EXPECT_THAT(error(spec, {8, 64}, {-64, 1}), HasSubstr("found -64 elements"));
  EXPECT_THAT(error(spec, {8, 64}, {int64_t(1) << 62, 1}), HasSubstr("2^40"));
  // Nobody steps along an axis of one element.
  EXPECT_EQ(error(spec, {1, 64}, {61, 1}), "accepted");
  EXPECT_THAT(error(spec, {(int64_t(1) << 32) + 1, 64}, {64, 1}),
              HasSubstr("2^32"));
  EXPECT_THAT(error(spec, {64}, {1}),
              HasSubstr("expected 1 element strides, found 2"));
  EXPECT_THAT(error(spec, {8, 64}, {64, 1},
                    reinterpret_cast<void *>(uintptr_t(0x10008))),
              HasSubstr("aligned to 16 bytes"));
  spec.box = {128, 128};
  EXPECT_THAT(error(spec, {8, 64}, {64, 1}),
              HasSubstr("at most 128 bytes with the swizzle 128B, found 256"));
  spec.box = {128, 60};
  EXPECT_THAT(error(spec, {8, 64}, {64, 1}), HasSubstr("found 120"));
  spec.box = {257, 64};
  EXPECT_THAT(error(spec, {8, 64}, {64, 1}), HasSubstr("found 257"));
  spec = bf16Tile();
  spec.element = MapElement::U16;
  spec.fill = MapFill::NaN;
  EXPECT_THAT(error(spec, {8, 64}, {64, 1}), HasSubstr("zero as fill"));
  spec = bf16Tile();
  spec.interleave = MapInterleave::B32;
  EXPECT_THAT(error(spec, {8, 64}, {64, 1}), HasSubstr("rank 3 to 5"));
}

TEST(CUDATensorMap, EmptyViewsPointToZeros) {
  Expected<TensorMapArguments> made =
      makeTensorMapArguments(bf16Tile(), nullptr, {0, 64}, {64, 1}, blank);
  ASSERT_TRUE(made) << made.message();
  EXPECT_EQ(made->address, blank);
  EXPECT_EQ(made->sizes[1], 1u);
}
