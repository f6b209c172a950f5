//===- CPUQuotaTest.cpp - Processor time that a container grants ----------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/CPU/CPUQuota.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace tracea::runtime;

namespace {
class CPUQuota : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "tracea-quota-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    mount = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(mount); }

  void write(const std::string &path, const std::string &text) {
    std::filesystem::path file = mount + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::optional<int> read(const std::string &groups) {
    return readCPUQuota(groups, mount);
  }

  std::string mount;
};
} // namespace

TEST_F(CPUQuota, NoneWhereNothingIsLimited) {
  EXPECT_EQ(read(""), std::nullopt);
  EXPECT_EQ(read("0::/\n"), std::nullopt);
  write("/cpu.max", "max 100000\n");
  EXPECT_EQ(read("0::/\n"), std::nullopt);
  write("/cpu/cpu.cfs_quota_us", "-1\n");
  write("/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(read("4:cpu,cpuacct:/\n"), std::nullopt);
}

TEST_F(CPUQuota, PartsOfAProcessorAreRoundedUp) {
  write("/cpu.max", "250000 100000\n");
  EXPECT_EQ(read("0::/\n"), 3);
  write("/cpu.max", "10000 100000\n");
  EXPECT_EQ(read("0::/\n"), 1);
  write("/cpu.max", "400000 100000\n");
  EXPECT_EQ(read("0::/\n"), 4);
}

TEST_F(CPUQuota, TheLeastOfAllGroupsAround) {
  write("/a/cpu.max", "800000 100000\n");
  write("/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(read("0::/a/b\n"), 8);
  write("/a/b/cpu.max", "300000 100000\n");
  EXPECT_EQ(read("0::/a/b\n"), 3);
  write("/a/cpu.max", "200000 100000\n");
  EXPECT_EQ(read("0::/a/b\n"), 2);
  // The path of the host, of which a container sees the root alone.
  write("/cpu.max", "600000 100000\n");
  EXPECT_EQ(read("0::/docker/0123\n"), 6);
}

TEST_F(CPUQuota, Version1HasAFolderForEachController) {
  write("/cpu/job/cpu.cfs_quota_us", "150000\n");
  write("/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(read("9:name=systemd:/job\n4:cpu,cpuacct:/job\n"), 2);
  EXPECT_EQ(read("9:cpuset:/job\n"), std::nullopt);
  write("/cpuacct,cpu/cpu.cfs_quota_us", "100000\n");
  write("/cpuacct,cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(read("4:cpuacct,cpu:/job\n"), 1);
}

TEST_F(CPUQuota, WhatIsNoNumberIsNoLimit) {
  write("/cpu.max", "");
  EXPECT_EQ(read("0::/\n"), std::nullopt);
  write("/cpu.max", "100000\n");
  EXPECT_EQ(read("0::/\n"), std::nullopt);
  write("/cpu.max", "100000 0\n");
  EXPECT_EQ(read("0::/\n"), std::nullopt);
  write("/cpu.max", "words here\n");
  EXPECT_EQ(read("no colons\n0::\n0::/x/y\n"), std::nullopt);
  write("/cpu.max", "1e300 1\n");
  EXPECT_EQ(read("0::/\n"), 1 << 20);
}
