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

TEST_F(FileTest, CreatesOnlyWhatIsNotThere) {
  std::string path = directory + "/file";
  const unsigned char x = 'x';
  ASSERT_TRUE(createFile(path, Bytes(&x, 1), modeOfSecret).ok());
  struct stat info;
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_THAT(createFile(path, Bytes(&x, 1)).message(),
              HasSubstr("File exists"));
  EXPECT_EQ(read(path), "x");
}

TEST_F(FileTest, EndlessStreamsEnd) {
  EXPECT_THAT(read("/dev/zero", 1 << 16),
              HasSubstr("/dev/zero: expected at most 65536 bytes, found more"));
  // Whatever the limit, a stream has its own.
  EXPECT_THAT(read("/dev/zero", ~uint64_t(0)),
              HasSubstr("expected at most " + std::to_string(maxStreamBytes)));
  EXPECT_EQ(read("/dev/null"), "");
}

TEST_F(FileTest, BeginningsDecideOnLimits) {
  std::string path = directory + "/file";
  ASSERT_TRUE(write(path, std::string(1000, 'a')).ok());
  size_t asked = 0;
  auto limit = [&](Bytes head) -> Expected<uint64_t> {
    ++asked;
    EXPECT_GE(head.size(), 64u);
    EXPECT_EQ(head[0], 'a');
    return 999;
  };
  EXPECT_THAT(readFile(path, limit).message(), HasSubstr("at most 999 bytes"));
  EXPECT_EQ(asked, 1u);
  auto refuse = [](Bytes) -> Expected<uint64_t> {
    return Status::error("no letters here");
  };
  EXPECT_THAT(readFile(path, refuse).message(),
              HasSubstr("file: no letters here"));
  // A sparse file of a terabyte costs nothing when it does not begin well.
  ASSERT_EQ(::truncate(path.c_str(), off_t(1) << 40), 0);
  EXPECT_THAT(readFile(path, refuse).message(), HasSubstr("no letters here"));
  EXPECT_THAT(read(path, 1 << 20), HasSubstr("at most 1048576 bytes"));
}

TEST_F(FileTest, TellsWhoseAFileIs) {
  std::string path = directory + "/file";
  ASSERT_TRUE(write(path, "x").ok());
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  FileOrigin origin;
  ASSERT_TRUE(readFile(path, 10, &origin));
  EXPECT_TRUE(origin.isFile);
  EXPECT_EQ(origin.owner, ::geteuid());
  EXPECT_EQ(origin.mode, 0640u);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "ab", 2), 2);
  ::close(ends[1]);
  origin = {};
  Expected<std::vector<uint8_t>> piped = readDescriptor(
      ends[0], "pipe", [](Bytes) -> Expected<uint64_t> { return 2; }, &origin);
  ::close(ends[0]);
  ASSERT_TRUE(piped) << piped.message();
  EXPECT_EQ(*piped, (std::vector<uint8_t>{'a', 'b'}));
  EXPECT_FALSE(origin.isFile);
}
