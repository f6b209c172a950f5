//===- NpyTest.cpp - NumPy array files ------------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files as NumPy writes them, byte for byte, and files that nobody should
// believe.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/Npy.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

using namespace tracea::runtime;
using ::testing::HasSubstr;

/// A file of the given version, header text and body.
static std::vector<uint8_t> npy(int version, std::string header,
                                const std::string &body) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  header += '\n';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  if (version > 1)
    bytes += std::string(2, '\0');
  bytes += header + body;
  return std::vector<uint8_t>(bytes.begin(), bytes.end());
}

static std::vector<uint8_t> npy(const std::string &descr,
                                const std::string &shape,
                                const std::string &body, bool fortran = false) {
  return npy(1,
             "{'descr': '" + descr + "', 'fortran_order': " +
                 (fortran ? "True" : "False") + ", 'shape': " + shape + ", }",
             body);
}

static NpyReadOptions expecting(ElementType type) {
  NpyReadOptions options;
  options.expected = type;
  return options;
}

TEST(Npy, EveryTypeRoundTrips) {
  for (int i = 0; i < numElementTypes; ++i) {
    ElementType type = static_cast<ElementType>(i);
    for (std::vector<int64_t> shape :
         {std::vector<int64_t>{}, {5}, {2, 3}, {4, 0, 2}, {1, 2, 3, 4}}) {
      Tensor tensor = *Tensor::allocate(type, shape);
      for (int64_t b = 0; b < tensor.byteSize(); ++b)
        tensor.dataAs<uint8_t>()[b] =
            static_cast<uint8_t>(type == ElementType::I1 ? b % 2 : b * 37);
      Expected<std::vector<uint8_t>> bytes = serializeNpy(tensor);
      ASSERT_TRUE(bytes) << bytes.message();
      EXPECT_EQ((bytes->size() - static_cast<size_t>(tensor.byteSize())) % 64,
                0u);
      Expected<Tensor> read = parseNpy(*bytes, expecting(type));
      ASSERT_TRUE(read) << nameOf(type) << ": " << read.message();
      EXPECT_EQ(read->type(), type);
      EXPECT_EQ(read->shape(), shape);
      EXPECT_EQ(std::memcmp(read->data(), tensor.data(),
                            static_cast<size_t>(tensor.byteSize())),
                0);
    }
  }
}

TEST(Npy, WritesTheHeaderThatNumPyWrites) {
  Tensor tensor = *Tensor::allocate(ElementType::F32, {3});
  std::vector<uint8_t> bytes = *serializeNpy(tensor);
  std::string expected = "\x93NUMPY";
  expected += std::string("\1\0\x76\0", 4);
  expected += "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
  EXPECT_EQ(std::string(bytes.begin(),
                        bytes.begin() + static_cast<long>(expected.size())),
            expected);
  EXPECT_EQ(bytes.size(), 128u + 12u);
  EXPECT_EQ(bytes[127], '\n');
  EXPECT_EQ(bytes[126], ' ');
}

TEST(Npy, WritesStridedTensorsInRowMajorOrder) {
  std::vector<int32_t> data(6);
  std::iota(data.begin(), data.end(), 0);
  void *p = data.data();
  Tensor transposed = *Tensor::borrow(p, ElementType::I32, {3, 2}, {1, 3});
  Expected<Tensor> read = parseNpy(*serializeNpy(transposed));
  ASSERT_TRUE(read);
  const int32_t expected[] = {0, 3, 1, 4, 2, 5};
  EXPECT_EQ(std::memcmp(read->data(), expected, sizeof expected), 0);
  std::string path = ::testing::TempDir() + "npy-test-strided.npy";
  ASSERT_TRUE(writeNpy(path, transposed).ok());
  read = readNpy(path);
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(std::memcmp(read->data(), expected, sizeof expected), 0);
  std::remove(path.c_str());
  EXPECT_THAT(readNpy(path).message(), HasSubstr(path));
}

TEST(Npy, FortranOrderIsTransposed) {
  std::string body;
  for (char c = 0; c < 6; ++c)
    body += std::string(1, c) + std::string(1, '\0');
  Expected<Tensor> read = parseNpy(npy("<i2", "(2, 3)", body, true));
  ASSERT_TRUE(read) << read.message();
  const int16_t expected[] = {0, 2, 4, 1, 3, 5};
  EXPECT_EQ(std::memcmp(read->data(), expected, sizeof expected), 0);
}

TEST(Npy, BigEndianIsSwapped) {
  Expected<Tensor> read =
      parseNpy(npy(">i4", "(2,)", std::string("\0\0\1\2\xff\xff\xff\xfe", 8)));
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(read->dataAs<int32_t>()[0], 258);
  EXPECT_EQ(read->dataAs<int32_t>()[1], -2);
}

TEST(Npy, Versions2And3) {
  std::string header =
      "{\"shape\": (1,), 'fortran_order': False, 'descr': '|i1'}";
  for (int version : {1, 2, 3}) {
    Expected<Tensor> read = parseNpy(npy(version, header, "\x05"));
    ASSERT_TRUE(read) << read.message();
    EXPECT_EQ(*read->dataAs<int8_t>(), 5);
  }
  EXPECT_THAT(parseNpy(npy(4, header, "\x05")).message(),
              HasSubstr("found 4.0"));
}

TEST(Npy, BFloatBits) {
  std::string body("\x80\x3f", 2);
  EXPECT_EQ(parseNpy(npy("<V2", "(1,)", body))->type(), ElementType::BF16);
  EXPECT_EQ(parseNpy(npy("|V2", "(1,)", body))->type(), ElementType::BF16);
  EXPECT_FALSE(parseNpy(npy("<u2", "(1,)", body)));
  Expected<Tensor> read =
      parseNpy(npy("<u2", "(1,)", body), expecting(ElementType::BF16));
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(readAsDouble(read->type(), read->data()), 1.0);
}

TEST(Npy, FloatsOfEightBits) {
  std::string body("\x38", 1);
  for (const char *descr : {"|V1", "<V1", "|u1", "<f1"}) {
    EXPECT_FALSE(parseNpy(npy(descr, "(1,)", body))) << descr;
    EXPECT_FALSE(
        parseNpy(npy(descr, "(1,)", body), expecting(ElementType::F16)));
    for (ElementType type : {ElementType::F8E4M3FN, ElementType::F8E5M2}) {
      Expected<Tensor> read =
          parseNpy(npy(descr, "(1,)", body), expecting(type));
      ASSERT_TRUE(read) << read.message();
      EXPECT_EQ(read->type(), type);
      EXPECT_EQ(readAsDouble(type, read->data()),
                type == ElementType::F8E4M3FN ? 1.0 : 0.5);
    }
  }
  // Signed bytes are integers.
  EXPECT_EQ(parseNpy(npy("|i1", "(1,)", body), expecting(ElementType::F8E5M2))
                ->type(),
            ElementType::I8);
}

TEST(Npy, UnsignedBytesAndBooleans) {
  std::string good("\0\1", 2), bad("\0\2", 2);
  EXPECT_TRUE(parseNpy(npy("|b1", "(2,)", good)));
  EXPECT_THAT(parseNpy(npy("|b1", "(2,)", bad)).message(),
              HasSubstr("expected booleans to be 0 or 1, found 2"));
  EXPECT_FALSE(parseNpy(npy("|u1", "(2,)", good)));
  EXPECT_TRUE(parseNpy(npy("|u1", "(2,)", good), expecting(ElementType::I1)));
  EXPECT_FALSE(parseNpy(npy("|u1", "(2,)", bad), expecting(ElementType::I1)));
  EXPECT_EQ(parseNpy(npy("<i8", "()", std::string(8, '\0')),
                     expecting(ElementType::Index))
                ->type(),
            ElementType::Index);
}

TEST(Npy, RefusesWhatItCannotBelieve) {
  auto error = [](const std::vector<uint8_t> &bytes) {
    Expected<Tensor> read = parseNpy(bytes);
    return read ? "accepted " + read->describe() : read.message();
  };
  EXPECT_THAT(error({}), HasSubstr("expected at least 10 bytes, found 0"));
  EXPECT_THAT(error(std::vector<uint8_t>(100)), HasSubstr("magic"));
  EXPECT_THAT(error(npy("<f4", "(2,)", "1234567")),
              HasSubstr("takes 8 bytes, found 7 after byte"));
  EXPECT_THAT(error(npy("<f4", "(2,)", "123456789")), HasSubstr("found 9"));
  EXPECT_THAT(error(npy("<f4", "(4611686018427387904, 4)", "")),
              HasSubstr("does not fit into 64 bits"));
  EXPECT_THAT(error(npy("<f4", "(0, 4611686018427387904, 4)", "")),
              HasSubstr("does not fit into 64 bits"));
  EXPECT_THAT(error(npy("<f4", "(1099511627776,)", "")),
              HasSubstr("takes 4398046511104 bytes, found 0"));
  EXPECT_THAT(error(npy("<f4", "(99999999999999999999,)", "")),
              HasSubstr("a size does not fit"));
  EXPECT_THAT(error(npy("<f4", "(-1,)", "")),
              HasSubstr("expected a size, found '-'"));
  EXPECT_THAT(error(npy("<f4", "(1)", "1234")), HasSubstr("expected a tuple"));
  EXPECT_THAT(error(npy("<f4", "1", "1234")), HasSubstr("expected '('"));
  EXPECT_THAT(error(npy("<f4", "(1,,)", "1234")), HasSubstr("expected a size"));
  EXPECT_THAT(error(npy("<f4", "(1 1)", "1234")),
              HasSubstr("expected ',' or ')'"));
  std::string many = "(";
  for (int i = 0; i < 33; ++i)
    many += "1, ";
  EXPECT_THAT(error(npy("<f4", many + ")", "1234")),
              HasSubstr("at most 32 axes"));
  for (const char *descr : {"<c8", "|O", "<U4", "|S4", "<u4", "<f1", "f4", ""})
    EXPECT_THAT(error(npy(descr, "(0,)", "")), HasSubstr("no counterpart"))
        << descr;
  EXPECT_THAT(error(npy(1, "{'descr': [('a', '<f4')]}", "")),
              HasSubstr("expected a string"));
  EXPECT_THAT(error(npy(1, "{'descr': '<f4'}", "")),
              HasSubstr("expected the keys"));
  EXPECT_THAT(error(npy(1, "{'descr': '<f4', 'descr': '<f4'}", "")),
              HasSubstr("stands twice"));
  EXPECT_THAT(error(npy(1, "{'evil': 1}", "")), HasSubstr("found 'evil'"));
  EXPECT_THAT(error(npy(1, "{'fortran_order': 1}", "")),
              HasSubstr("expected True or False"));
  EXPECT_THAT(error(npy(1, "", "")), HasSubstr("expected '{'"));
  EXPECT_THAT(error(npy(1, "{} x", "")), HasSubstr("expected the end"));
  std::vector<uint8_t> longHeader = npy(2, "{", "");
  longHeader[10] = 0xff;
  EXPECT_THAT(error(longHeader), HasSubstr("expected a header of at most"));
}

TEST(Npy, EveryTruncationIsRefused) {
  std::vector<uint8_t> bytes =
      *serializeNpy(*Tensor::allocate(ElementType::F32, {3, 2}));
  ASSERT_TRUE(parseNpy(bytes));
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(parseNpy(Bytes(bytes.data(), size))) << size;
}

TEST(Npy, RefusesNullTensors) {
  EXPECT_FALSE(serializeNpy(Tensor()));
  EXPECT_FALSE(writeNpy(::testing::TempDir() + "never.npy", Tensor()).ok());
}
