//===- SignatureTest.cpp - Keys, and signed programs ----------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic is held to RFC 8032's test vectors, the container to the claim
// that no bit of a signed program can be changed unnoticed.
//
//===----------------------------------------------------------------------===//

#include "TestPrograms.h"

#include "tracea/Runtime/File.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace tracea::runtime;
using ::testing::HasSubstr;

namespace {
class SignatureTest : public ::testing::Test {
protected:
  void SetUp() override {
    if (!hasSignatures())
      GTEST_SKIP() << "built with TRACEA_SIGNING=OFF";
    std::string pattern = ::testing::TempDir() + "tracea-sign-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory = pattern;
  }
  void TearDown() override {
    for (const char *name : {"key", "key.pub", "other"})
      ::unlink((directory + "/" + name).c_str());
    ::rmdir(directory.c_str());
  }

  std::string write(const std::string &name, const std::string &text,
                    uint32_t mode = modeOfSecret) {
    std::string path = directory + "/" + name;
    ::unlink(path.c_str());
    Bytes bytes(reinterpret_cast<const unsigned char *>(text.data()),
                text.size());
    EXPECT_TRUE(createFile(path, bytes, mode).ok());
    return path;
  }

  std::string directory;
};
} // namespace

static std::vector<uint8_t> fromHex(const std::string &hex) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes.push_back(
        static_cast<uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

template <size_t N>
static std::array<uint8_t, N> arrayFromHex(const std::string &hex) {
  std::vector<uint8_t> bytes = fromHex(hex);
  EXPECT_EQ(bytes.size(), N);
  std::array<uint8_t, N> array{};
  std::copy_n(bytes.begin(), N, array.begin());
  return array;
}

/// RFC 8032, section 7.1, test 3; the private key as RFC 8410 wraps it.
static const char *const privateKeyPEM =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIMWqjfQ/n4N77bdELzHct7Fm04U1B28JS4XOOi4LRFj3\n"
    "-----END PRIVATE KEY-----\n";
static const char *const publicKeyHex =
    "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025";
static const char *const signatureHex =
    "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
    "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a";

TEST_F(SignatureTest, AgreesWithTheStandard) {
  Expected<SigningKey> key = SigningKey::load(write("key", privateKeyPEM));
  ASSERT_TRUE(key) << key.message();
  PublicKey shared{arrayFromHex<32>(publicKeyHex)};
  EXPECT_EQ(key->publicKey(), shared);
  std::vector<uint8_t> message = {0xaf, 0x82};
  Expected<Signature> signature = key->sign(message);
  ASSERT_TRUE(signature) << signature.message();
  EXPECT_EQ(*signature, arrayFromHex<64>(signatureHex));
  EXPECT_TRUE(verifySignature(shared, message, *signature).ok());
  message[0] ^= 1;
  EXPECT_THAT(verifySignature(shared, message, *signature).message(),
              HasSubstr("is not one of these contents"));
}

TEST_F(SignatureTest, KeysComeBackFromTheirFiles) {
  Expected<SigningKey> key = SigningKey::generate();
  ASSERT_TRUE(key) << key.message();
  std::string path = directory + "/key", sharedPath = path + ".pub";
  ASSERT_TRUE(key->save(path).ok()) << key->save(path).message();
  ASSERT_TRUE(key->publicKey().save(sharedPath).ok());
  Expected<SigningKey> again = SigningKey::load(path);
  ASSERT_TRUE(again) << again.message();
  EXPECT_EQ(again->publicKey(), key->publicKey());
  Expected<PublicKey> shared = PublicKey::load(sharedPath);
  ASSERT_TRUE(shared) << shared.message();
  EXPECT_EQ(*shared, key->publicKey());

  struct stat info;
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  // The key as text is the end of its PEM file.
  Expected<std::vector<uint8_t>> pem = readFile(sharedPath, 4096);
  EXPECT_THAT(std::string(pem->begin(), pem->end()),
              HasSubstr(shared->text() + "\n-----END"));
  // Neither file is ever written over.
  EXPECT_THAT(key->save(path).message(), HasSubstr("File exists"));
  EXPECT_THAT(key->publicKey().save(sharedPath).message(),
              HasSubstr("File exists"));
  Expected<SigningKey> other = SigningKey::generate();
  EXPECT_FALSE(other->publicKey() == key->publicKey());
}

TEST_F(SignatureTest, OtherFilesAreNoKeys) {
  std::string path = write("key", privateKeyPEM);
  EXPECT_THAT(PublicKey::load(path).message(),
              HasSubstr("key: expected an Ed25519 public key as PEM"));
  for (const char *text : {"", "nothing", "-----BEGIN PUBLIC KEY-----\n",
                           "-----BEGIN PRIVATE KEY-----\nAAAA\n"
                           "-----END PRIVATE KEY-----\n"})
    EXPECT_THAT(SigningKey::load(write("key", text)).message(),
                HasSubstr("expected an Ed25519 private key as PEM"));
  // An X25519 key: the same size, for another purpose.
  EXPECT_THAT(
      SigningKey::load(
          write("key",
                "-----BEGIN PRIVATE KEY-----\n"
                "MC4CAQAwBQYDK2VuBCIEIMWqjfQ/n4N77bdELzHct7Fm04U1B28JS4XOOi4L"
                "RFj3\n-----END PRIVATE KEY-----\n"))
          .message(),
      HasSubstr("found one of type X25519"));
  EXPECT_THAT(SigningKey::load(directory + "/none").message(),
              HasSubstr("cannot open"));
  EXPECT_THAT(SigningKey::load(write("key", privateKeyPEM, 0640)).message(),
              HasSubstr("others may read"));
  EXPECT_THAT(PublicKey::load("/dev/zero").message(),
              HasSubstr("expected at most 65536 bytes"));
}

static std::vector<uint8_t> signedBytes(const SigningKey &key) {
  Expected<std::vector<uint8_t>> bytes =
      test::describedProgram().serialize(&key);
  EXPECT_TRUE(bytes) << bytes.message();
  return *bytes;
}

TEST_F(SignatureTest, SignedProgramsTellTheirSigner) {
  SigningKey key = *SigningKey::load(write("key", privateKeyPEM));
  std::vector<uint8_t> bytes = signedBytes(key);
  Expected<ProgramFile> program = ProgramFile::parse(bytes);
  ASSERT_TRUE(program) << program.message();
  EXPECT_EQ(program->signer, key.publicKey());
  EXPECT_EQ(program->blobs, test::describedProgram().blobs);
  // Written again without the key it is what it was before.
  EXPECT_EQ(*program->serialize(), *test::describedProgram().serialize());
  EXPECT_FALSE(ProgramFile::parse(*program->serialize())->signer.has_value());
  std::string path = directory + "/other";
  ASSERT_TRUE(program->save(path, &key).ok());
  EXPECT_EQ(*readFile(path, 1 << 20), bytes);
}

TEST_F(SignatureTest, ProgramsOfSeveralVersionsAreSignedAsOne) {
  SigningKey key = *SigningKey::load(write("key", privateKeyPEM));
  ProgramFile versions = test::describedVersions();
  std::vector<uint8_t> bytes = *versions.serialize(&key);
  EXPECT_EQ(bytes[8], 4);
  Expected<ProgramFile> program = ProgramFile::parse(bytes);
  ASSERT_TRUE(program) << program.message();
  EXPECT_EQ(program->signer, key.publicKey());
  EXPECT_EQ(program->others.size(), 2u);
  EXPECT_EQ(*program->serialize(), *versions.serialize());
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::vector<uint8_t> damaged = bytes;
    damaged[i] ^= 1;
    EXPECT_FALSE(ProgramFile::parse(damaged)) << "byte " << i;
  }
}

TEST_F(SignatureTest, EveryFlippedBitIsNoticed) {
  const std::vector<uint8_t> bytes =
      signedBytes(*SigningKey::load(write("key", privateKeyPEM)));
  for (size_t i = 0; i < bytes.size(); ++i)
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::vector<uint8_t> damaged = bytes;
      damaged[i] ^= static_cast<uint8_t>(1u << bit);
      Expected<ProgramFile> read = ProgramFile::parse(damaged);
      EXPECT_FALSE(read) << "bit " << bit << " of byte " << i;
      EXPECT_FALSE(read.message().empty());
    }
}

TEST_F(SignatureTest, EveryTruncationAndExtensionIsNoticed) {
  const std::vector<uint8_t> bytes =
      signedBytes(*SigningKey::load(write("key", privateKeyPEM)));
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(ProgramFile::parse(Bytes(bytes.data(), size))) << size;
  std::vector<uint8_t> longer = bytes;
  longer.push_back(0);
  EXPECT_FALSE(ProgramFile::parse(longer));
}

/// Sets the size and the checksum of a container's head right, as whoever
/// changes it would.
static void forgeHead(std::vector<uint8_t> &bytes) {
  for (size_t i = 0; i < 8; ++i)
    bytes[16 + i] = static_cast<uint8_t>(uint64_t(bytes.size()) >> (8 * i));
  uint32_t count = bytes[12] | uint32_t(bytes[13]) << 8;
  std::vector<uint8_t> head(bytes.begin(), bytes.begin() + 48);
  head.insert(head.end(), bytes.begin() + 64, bytes.begin() + 64 + 48 * count);
  XXH128_canonical_t sum;
  XXH128_canonicalFromHash(&sum, XXH3_128bits(head.data(), head.size()));
  std::copy(sum.digest, sum.digest + 16, bytes.begin() + 48);
}

TEST_F(SignatureTest, ForgedContainersAreRefused) {
  SigningKey key = *SigningKey::load(write("key", privateKeyPEM));
  const std::vector<uint8_t> bytes = signedBytes(key);
  const size_t block = bytes.size() - 128;

  // The signature cut off, and the version left or set back: what remains is
  // well formed only as a program that nobody signed.
  std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + ptrdiff_t(block));
  forgeHead(cut);
  EXPECT_THAT(ProgramFile::parse(cut).message(),
              HasSubstr("expected a signature of 128 bytes"));
  std::vector<uint8_t> plain = *test::describedProgram().serialize();
  EXPECT_FALSE(ProgramFile::parse(plain)->signer.has_value());

  // A signed file that says it is none.
  std::vector<uint8_t> unsaid = bytes;
  unsaid[8] = 1;
  forgeHead(unsaid);
  EXPECT_THAT(ProgramFile::parse(unsaid).message(),
              HasSubstr("expected the end of the file"));

  // Another program's signature by the same key, and another key's name.
  ProgramFile other = test::describedProgram();
  other.manifest.kernels[0].workspace = 128;
  std::vector<uint8_t> mixed = *other.serialize(&key);
  ASSERT_EQ(mixed.size(), bytes.size());
  std::copy(bytes.begin() + ptrdiff_t(block), bytes.end(),
            mixed.begin() + ptrdiff_t(block));
  EXPECT_THAT(ProgramFile::parse(mixed).message(),
              HasSubstr("is not one of these contents"));
  std::vector<uint8_t> renamed = bytes;
  PublicKey stranger = SigningKey::generate()->publicKey();
  std::copy(stranger.bytes.begin(), stranger.bytes.end(),
            renamed.begin() + ptrdiff_t(block) + 32);
  EXPECT_THAT(ProgramFile::parse(renamed).message(),
              HasSubstr("is not one of these contents"));

  // S + L in place of S is the same number modulo the group's order, and no
  // signature (RFC 8032, section 5.1.7).
  const std::vector<uint8_t> order = fromHex(
      "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
  std::vector<uint8_t> shifted = bytes;
  unsigned carry = 0;
  for (size_t i = 0; i < 32; ++i) {
    carry += shifted[block + 96 + i] + order[i];
    shifted[block + 96 + i] = static_cast<uint8_t>(carry);
    carry >>= 8;
  }
  EXPECT_THAT(ProgramFile::parse(shifted).message(),
              HasSubstr("is not one of these contents"));
}
