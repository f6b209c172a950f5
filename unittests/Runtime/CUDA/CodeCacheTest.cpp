//===- CodeCacheTest.cpp - Compiled PTX on disk ---------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCUDA.h"
#include "GPUPrograms.h"

#include "tracea/Runtime/CUDA/CUDADevice.h"
#include "tracea/Runtime/File.h"

#include <cstdlib>
#include <dirent.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace tracea;
using namespace tracea::runtime;
using namespace tracea::runtime::test;

namespace {
class CodeCache : public ::testing::Test {
protected:
  void SetUp() override {
    fakecuda::reset();
    folder = ::testing::TempDir() + "tracea-cache-" +
             std::to_string(::getpid()) + "-" +
             ::testing::UnitTest::GetInstance()->current_test_info()->name();
    ::setenv("TRACEA_CACHE_DIR", folder.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("TRACEA_CACHE_DIR");
    for (const std::string &name : files())
      ::unlink((folder + "/" + name).c_str());
    ::rmdir(folder.c_str());
    fakecuda::reset();
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    if (DIR *list = ::opendir(folder.c_str())) {
      while (const dirent *entry = ::readdir(list))
        if (entry->d_name[0] != '.')
          names.push_back(entry->d_name);
      ::closedir(list);
    }
    return names;
  }
  /// Loads the tests' PTX; how often it was compiled for that.
  int64_t load(const fakecuda::Machine &machine = {}) {
    fakecuda::reset(machine);
    CUDADeviceOptions options;
    options.driverLibrary = TRACEA_FAKE_CUDA;
    Expected<std::shared_ptr<Device>> device = createCUDADevice(options);
    EXPECT_TRUE(device) << device.message();
    Expected<std::shared_ptr<Module>> module = (*device)->loadModule(gpuPTX());
    EXPECT_TRUE(module) << module.message();
    EXPECT_TRUE((*module)->kernel("gpu_empty"));
    return fakecuda::countCalls("cuLinkComplete");
  }
  std::string folder;
};
} // namespace

TEST_F(CodeCache, CompilesOnce) {
  EXPECT_EQ(load(), 1);
  ASSERT_EQ(files().size(), 1u);
  EXPECT_EQ(load(), 0);
}

TEST_F(CodeCache, AnotherDriverOrDeviceCompilesAnew) {
  EXPECT_EQ(load(), 1);
  fakecuda::Machine machine;
  machine.driverVersion = 12080;
  EXPECT_EQ(load(machine), 1);
  machine.capability = 100;
  EXPECT_EQ(load(machine), 1);
  EXPECT_EQ(files().size(), 3u);
}

TEST_F(CodeCache, DamagedEntriesAreMadeAnew) {
  EXPECT_EQ(load(), 1);
  std::string path = folder + "/" + files().front();
  std::vector<uint8_t> bytes = *readFile(path, 1 << 26);
  for (size_t at : {size_t(0), bytes.size() / 2, bytes.size() - 1}) {
    std::vector<uint8_t> damaged = bytes;
    damaged[at] ^= 1;
    ASSERT_TRUE(writeFileAtomic(path, {Bytes(damaged)}).ok());
    EXPECT_EQ(load(), 1);
    EXPECT_EQ(load(), 0);
  }
  ASSERT_TRUE(writeFileAtomic(path, {Bytes(bytes.data(), 3)}).ok());
  EXPECT_EQ(load(), 1);
}

TEST_F(CodeCache, EntriesThatOthersMayWriteAreMadeAnew) {
  EXPECT_EQ(load(), 1);
  std::string path = folder + "/" + files().front();
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  EXPECT_EQ(load(), 1);
  EXPECT_EQ(load(), 0);
}

TEST_F(CodeCache, WithoutAFolderTheDriverCompiles) {
  ::unsetenv("TRACEA_CACHE_DIR");
  EXPECT_EQ(load(), 0);
  ::setenv("TRACEA_CACHE_DIR", "/proc/nothing/here", 1);
  EXPECT_EQ(load(), 1);
  EXPECT_EQ(load(), 1);
}

TEST_F(CodeCache, AFailingLinkerLeavesItToTheDriver) {
  CUDADeviceOptions options;
  options.driverLibrary = TRACEA_FAKE_CUDA;
  std::shared_ptr<Device> device = *createCUDADevice(options);
  fakecuda::failCall("cuLinkAddData", 218);
  Expected<std::shared_ptr<Module>> module = device->loadModule(gpuPTX());
  EXPECT_TRUE(module) << module.message();
  EXPECT_TRUE(files().empty());
  EXPECT_EQ(fakecuda::countCalls("cuLinkDestroy"), 1);
}
