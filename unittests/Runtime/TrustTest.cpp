//===- TrustTest.cpp - Whose programs may run -----------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPrograms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tracea::runtime;
using ::testing::HasSubstr;

static FileOrigin fileOf(uint32_t owner, uint32_t mode) {
  return {true, owner, mode};
}
static uint32_t me() { return static_cast<uint32_t>(::geteuid()); }
/// Somebody who is neither root nor the user of this process.
static uint32_t somebody() { return me() + 1; }

static PublicKey keyNumber(uint8_t number) {
  PublicKey key;
  key.bytes.fill(number);
  return key;
}

TEST(Trust, OwnersFilesAreTrustedByDefault) {
  TrustPolicy policy;
  EXPECT_TRUE(checkTrust(policy, {}, fileOf(me(), 0644)).ok());
  EXPECT_TRUE(checkTrust(policy, {}, fileOf(me(), 0400)).ok());
  EXPECT_TRUE(checkTrust(policy, {}, fileOf(0, 0755)).ok());
  std::string other =
      checkTrust(policy, {}, fileOf(somebody(), 0644)).message();
  EXPECT_THAT(other, HasSubstr("the program is not trusted"));
  EXPECT_THAT(other,
              HasSubstr("expected a file of user " + std::to_string(me())));
  EXPECT_THAT(other, HasSubstr("it is not signed, and its file belongs to "
                               "user " +
                               std::to_string(somebody())));
}

TEST(Trust, FilesThatOthersWriteAreTheirs) {
  TrustPolicy policy;
  for (uint32_t mode : {0664u, 0646u, 0666u, 0620u, 0602u})
    EXPECT_THAT(checkTrust(policy, {}, fileOf(me(), mode)).message(),
                HasSubstr("others may write its file"))
        << mode;
  // A pipe belongs to nobody, whatever fstat says.
  EXPECT_THAT(checkTrust(policy, {}, FileOrigin()).message(),
              HasSubstr("it came from no file"));
}

TEST(Trust, KeysCountInPlaceOfOwners) {
  TrustPolicy policy = TrustPolicy::nothing();
  policy.keys = {keyNumber(1), keyNumber(2)};
  EXPECT_TRUE(checkTrust(policy, keyNumber(2), fileOf(somebody(), 0666)).ok());
  EXPECT_TRUE(checkTrust(policy, keyNumber(1), FileOrigin()).ok());
  // A key that was asked for is not made up for by the file's owner.
  std::string own = checkTrust(policy, {}, fileOf(me(), 0644)).message();
  EXPECT_THAT(own, HasSubstr("expected a signature by a trusted key; it is not "
                             "signed"));
  std::string wrong =
      checkTrust(policy, keyNumber(3), fileOf(me(), 0644)).message();
  EXPECT_THAT(wrong, HasSubstr("it is signed by " + keyNumber(3).text()));
  policy.owner = true;
  EXPECT_TRUE(checkTrust(policy, keyNumber(3), fileOf(me(), 0644)).ok());
  EXPECT_FALSE(checkTrust(policy, {}, fileOf(somebody(), 0644)).ok());
  EXPECT_FALSE(
      checkTrust(TrustPolicy::nothing(), keyNumber(1), fileOf(0, 0644)).ok());
  EXPECT_TRUE(checkTrust(TrustPolicy::everything(), {}, FileOrigin()).ok());
}

TEST(Trust, IsAskedWhenAProgramIsLoaded) {
  std::string path = ::testing::TempDir() + "trust-test.tracea";
  mode_t before = ::umask(0);
  Status saved = test::describedProgram().save(path);
  ::umask(before);
  ASSERT_TRUE(saved.ok()) << saved.message();
  // Programs are written for nobody else to write, whatever the umask.
  EXPECT_TRUE(ProgramFile::load(path));
  EXPECT_THAT(ProgramFile::load(path, TrustPolicy::nothing()).message(),
              HasSubstr("trust-test.tracea: the program is not trusted"));
  ASSERT_EQ(::chmod(path.c_str(), 0664), 0);
  EXPECT_THAT(ProgramFile::load(path).message(),
              HasSubstr("others may write its file"));
  EXPECT_TRUE(ProgramFile::load(path, TrustPolicy::everything()));
  if (me() == 0) {
    ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
    ASSERT_EQ(::chown(path.c_str(), somebody(), 0), 0);
    EXPECT_THAT(
        ProgramFile::load(path).message(),
        HasSubstr("its file belongs to user " + std::to_string(somebody())));
  }
  std::remove(path.c_str());
}
