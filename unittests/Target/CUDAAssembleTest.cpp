//===- CUDAAssembleTest.cpp - What the assembler of PTX says --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Target/CUDA/Assemble.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir::tracea;

TEST(CUDAAssemble, ReadsTheUseOfEachKernel) {
  CUDAAssembly result = readCUDAMessages(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'one' for 'sm_90a'\n"
      "ptxas info    : Function properties for one\n"
      "    192 bytes stack frame, 184 bytes spill stores, 176 bytes spill "
      "loads\n"
      "ptxas info    : Used 168 registers, used 16 barriers, 48 bytes smem\n"
      "ptxas info    : Compile time = 315.786 ms\n"
      "ptxas info    : Compiling entry function 'two' for 'sm_90a'\n"
      "ptxas info    : Used 24 registers\n");
  ASSERT_EQ(result.kernels.size(), 2u);
  EXPECT_EQ(result.kernels[0].name, "one");
  EXPECT_EQ(result.kernels[0].registers, 168);
  EXPECT_EQ(result.kernels[0].stackBytes, 192);
  EXPECT_EQ(result.kernels[0].spillStoreBytes, 184);
  EXPECT_EQ(result.kernels[0].spillLoadBytes, 176);
  EXPECT_EQ(result.kernels[0].barriers, 16);
  EXPECT_EQ(result.kernels[0].sharedBytes, 48);
  EXPECT_EQ(result.kernels[1].name, "two");
  EXPECT_EQ(result.kernels[1].registers, 24);
  EXPECT_EQ(result.kernels[1].spillStoreBytes, 0);
  EXPECT_TRUE(result.messages.empty());
}

TEST(CUDAAssemble, KeepsWhatElseIsSaid) {
  CUDAAssembly result = readCUDAMessages(
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async "
      "instructions are serialized in function 'k'\n");
  EXPECT_TRUE(result.kernels.empty());
  ASSERT_EQ(result.messages.size(), 1u);
  EXPECT_NE(result.messages[0].find("(C7510)"), std::string::npos);
}

TEST(CUDAAssemble, TextOfNothing) {
  for (const char *text : {"", "\n\n", "Used registers", "bytes spill stores"})
    EXPECT_TRUE(readCUDAMessages(text).kernels.empty());
}

static const char *const kEmptyKernel = R"(
.version 8.0
.target sm_90a
.address_size 64
.visible .entry empty() { ret; }
)";

TEST(CUDAAssemble, Assembles) {
  std::optional<std::string> assembler = findCUDAAssembler();
  if (!assembler)
    GTEST_SKIP() << "there is no ptxas here";
  std::string message;
  auto result = assembleCUDA(*assembler, kEmptyKernel, "sm_90a", message);
  ASSERT_TRUE(mlir::succeeded(result)) << message;
  EXPECT_EQ(result->code.substr(1, 3), "ELF");
  ASSERT_EQ(result->kernels.size(), 1u);
  EXPECT_EQ(result->kernels[0].name, "empty");
}

TEST(CUDAAssemble, SeveralKernelsAtOnceAreOneFile) {
  std::optional<std::string> assembler = findCUDAAssembler();
  if (!assembler)
    GTEST_SKIP() << "there is no ptxas here";
  std::string text = kEmptyKernel;
  for (int i = 0; i < 5; ++i)
    text += ".visible .entry other" + std::to_string(i) + "() { ret; }\n";
  CUDAAssembler work(*assembler, text, "sm_90a");
  std::string message;
  auto result = work.finish(message);
  ASSERT_TRUE(mlir::succeeded(result)) << message;
  EXPECT_EQ(result->code.substr(1, 3), "ELF");
  EXPECT_EQ(result->kernels.size(), 6u);
}

TEST(CUDAAssemble, NobodyNeedsToFinish) {
  std::optional<std::string> assembler = findCUDAAssembler();
  if (!assembler)
    GTEST_SKIP() << "there is no ptxas here";
  CUDAAssembler unused(*assembler, kEmptyKernel, "sm_90a");
  CUDAAssembler impossible("/no/such/ptxas", kEmptyKernel, "sm_90a");
}

/// Several kernels are compiled side by side, where there are several.
TEST(CUDAAssemble, KernelsAreCompiledSideBySide) {
  llvm::SmallString<128> path;
  int file = -1;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("ptxas", "sh", file, path));
  llvm::FileRemover remover(path);
  {
    llvm::raw_fd_ostream script(file, /*shouldClose=*/true);
    script << "#!/bin/sh\n"
              "all=\"$*\"\n"
              "for option; do\n"
              "  if [ \"$last\" = -o ]; then echo \"$all\" > \"$option\"; fi\n"
              "  last=$option\n"
              "done\n";
  }
  ASSERT_FALSE(
      llvm::sys::fs::setPermissions(path, llvm::sys::fs::perms::owner_all));
  auto saidOf = [&](const std::string &text) {
    std::string message;
    auto result = assembleCUDA(path, text, "sm_90a", message);
    EXPECT_TRUE(mlir::succeeded(result)) << message;
    return mlir::succeeded(result) ? result->code : std::string();
  };
  std::string one = kEmptyKernel;
  EXPECT_EQ(saidOf(one).find("-split-compile"), std::string::npos);
  std::string two = one + ".visible .entry other() { ret; }\n";
  EXPECT_NE(saidOf(two).find("-split-compile 0"), std::string::npos);
}

/// An assembler without the option to compile kernels side by side.
TEST(CUDAAssemble, OlderAssemblersGoKernelByKernel) {
  std::string text = kEmptyKernel;
  text += ".visible .entry other() { ret; }\n";
  llvm::SmallString<128> path;
  int file = -1;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("ptxas", "sh", file, path));
  llvm::FileRemover remover(path);
  {
    llvm::raw_fd_ostream script(file, /*shouldClose=*/true);
    script << "#!/bin/sh\n"
              "for option; do\n"
              "  if [ \"$option\" = -split-compile ]; then\n"
              "    echo \"ptxas fatal   : Unknown option '-split-compile'\"\n"
              "    exit 255\n"
              "  fi\n"
              "  if [ \"$last\" = -o ]; then echo code > \"$option\"; fi\n"
              "  last=$option\n"
              "done\n";
  }
  ASSERT_FALSE(
      llvm::sys::fs::setPermissions(path, llvm::sys::fs::perms::owner_all));
  std::string message;
  auto result = assembleCUDA(path, text, "sm_90a", message);
  ASSERT_TRUE(mlir::succeeded(result)) << message;
  EXPECT_EQ(result->code, "code\n");
}

TEST(CUDAAssemble, SaysWhatIsWrong) {
  std::optional<std::string> assembler = findCUDAAssembler();
  if (!assembler)
    GTEST_SKIP() << "there is no ptxas here";
  std::string message;
  EXPECT_TRUE(mlir::failed(
      assembleCUDA(*assembler, "no PTX at all", "sm_90a", message)));
  EXPECT_NE(message.find("the assembler failed"), std::string::npos) << message;
  message.clear();
  EXPECT_TRUE(mlir::failed(
      assembleCUDA("/no/such/ptxas", kEmptyKernel, "sm_90a", message)));
  EXPECT_FALSE(message.empty());
}
