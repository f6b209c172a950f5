//===- FileTest.cpp - Atomic writes under failure -------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A write that fails in the middle must leave the old file and no other.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/File.h"

#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tracea::runtime;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {
class FileTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "tracea-file-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory = pattern;
  }
  void TearDown() override {
    for (const std::string &name : list())
      ::unlink((directory + "/" + name).c_str());
    ::rmdir(directory.c_str());
  }
  std::vector<std::string> list() {
    std::vector<std::string> names;
    DIR *folder = ::opendir(directory.c_str());
    while (dirent *entry = ::readdir(folder))
      if (entry->d_name[0] != '.')
        names.push_back(entry->d_name);
    ::closedir(folder);
    return names;
  }
  std::string directory;
};
} // namespace

static Status write(const std::string &path, const std::string &text) {
  Bytes piece(reinterpret_cast<const unsigned char *>(text.data()),
              text.size());
  return writeFileAtomic(path, {piece});
}

static std::string read(const std::string &path, uint64_t limit = 1 << 30) {
  Expected<std::vector<uint8_t>> bytes = readFile(path, limit);
  return bytes ? std::string(bytes->begin(), bytes->end())
               : "error: " + bytes.message();
}

TEST_F(FileTest, WritesAndReplaces) {
  std::string path = directory + "/file";
  ASSERT_TRUE(write(path, "one").ok());
  EXPECT_EQ(read(path), "one");
  std::string large(100000, 'x');
  ASSERT_TRUE(write(path, large).ok());
  EXPECT_EQ(read(path), large);
  EXPECT_EQ(read(path, 100000), large);
  EXPECT_THAT(read(path, 99999), HasSubstr("expected at most 99999 bytes"));
  EXPECT_THAT(list(), ElementsAre("file"));
}

TEST_F(FileTest, FailureLeavesTheOldFileAndNoOther) {
  std::string path = directory + "/file";
  ASSERT_TRUE(write(path, "old").ok());
  // A write beyond the limit on file sizes fails as on a full disk.
  struct rlimit before, tight;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  tight = before;
  tight.rlim_cur = 4096;
  void (*handler)(int) = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  Status status = write(path, std::string(20000, 'y'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr("cannot write"));
  EXPECT_EQ(read(path), "old");
  EXPECT_THAT(list(), ElementsAre("file"));
}

TEST_F(FileTest, RefusesDirectoriesAndMissingPlaces) {
  EXPECT_THAT(write(directory, "x").message(), HasSubstr("found a directory"));
  EXPECT_THAT(read(directory), HasSubstr("found a directory"));
  EXPECT_THAT(write(directory + "/none/file", "x").message(),
              HasSubstr("cannot create"));
  EXPECT_THAT(read(directory + "/none"), HasSubstr("cannot open"));
}

TEST_F(FileTest, WritesThroughDevices) {
  EXPECT_TRUE(write("/dev/null", "x").ok());
  struct stat info;
  ASSERT_EQ(::stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
}

TEST_F(FileTest, HonoursTheUmask) {
  mode_t before = ::umask(027);
  std::string path = directory + "/file";
  Status status = write(path, "x");
  ::umask(before);
  ASSERT_TRUE(status.ok());
  struct stat info;
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}
