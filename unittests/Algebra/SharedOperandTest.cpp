//===- SharedOperandTest.cpp - wgmma operands against CuTe's layouts -===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA, "Canonical Layouts" of wgmma, gives every layout as nested
// shape:stride pairs followed by Swizzle<B,4,3>. They are evaluated here with
// divisions and remainders.
//
//===----------------------------------------------------------------------===//

#include "tracea/Algebra/SharedOperand.h"
#include "gtest/gtest.h"

using namespace tracea::algebra;

/// Swizzle<B,4,3>: B bits from bit 7 on are added to those from bit 4 on.
static int64_t cuteSwizzle(int64_t offset, int bits) {
  int64_t mask = ((int64_t(1) << bits) - 1) << 7;
  return offset ^ ((offset & mask) >> 3);
}

template <typename Formula>
static void expectOffsets(const SharedOperand &operand, Formula formula) {
  Expected<F2Matrix> map = operand.toBytes();
  ASSERT_TRUE(map) << map.message();
  for (int64_t mn = 0; mn < operand.mn; ++mn)
    for (int64_t k = 0; k < operand.k; ++k)
      ASSERT_EQ(int64_t(map->apply(k + mn * operand.k)), formula(mn, k))
          << "mn " << mn << " k " << k << " mode " << int(operand.mode);
  EXPECT_TRUE(map->isInjective());
}

struct ModeBits {
  SwizzleMode mode;
  int bits;
};
static const ModeBits swizzled[] = {{SwizzleMode::Bytes32, 1},
                                    {SwizzleMode::Bytes64, 2},
                                    {SwizzleMode::Bytes128, 3}};

// ((8,m),(T,2k)) : ((2^B T,SBO),(1,T))
TEST(SharedOperand, KMajorSwizzled) {
  for (ModeBits m : swizzled)
    for (unsigned bits : {8u, 16u, 32u}) {
      int64_t size = bits / 8, t = 128 / bits, row = t << m.bits;
      for (int64_t stride : {8 * row * size, 16 * row * size})
        expectOffsets({m.mode, MajorNess::K, bits, 64, row, 0, stride},
                      [&](int64_t mn, int64_t k) {
                        return cuteSwizzle((mn % 8 * row + k) * size, m.bits) +
                               mn / 8 * stride;
                      });
    }
}

// ((8,m),(T,2k)) : ((1T,SBO),(1,LBO))
TEST(SharedOperand, KMajorPlain) {
  for (unsigned bits : {8u, 16u, 32u}) {
    int64_t size = bits / 8, t = 128 / bits;
    struct {
      int64_t leading, stride;
    } cases[] = {{128, 512}, {2048, 128}};
    for (auto c : cases)
      expectOffsets({SwizzleMode::None, MajorNess::K, bits, 64, 4 * t,
                     c.leading, c.stride},
                    [&](int64_t mn, int64_t k) {
                      return mn % 8 * 16 + k % t * size + k / t * c.leading +
                             mn / 8 * c.stride;
                    });
  }
}

// ((T,2^B,m),(8,k)) : ((1,T,LBO),(2^B T,SBO))
TEST(SharedOperand, MNMajorSwizzled) {
  for (ModeBits m : swizzled) {
    int64_t row = int64_t(8) << m.bits; // Elements.
    struct {
      int64_t leading, stride;
    } cases[] = {{32 * row, 16 * row}, {16 * row, 16 * row * 256 / row}};
    for (auto c : cases)
      expectOffsets({m.mode, MajorNess::MN, 16, 256, 16, c.leading, c.stride},
                    [&](int64_t mn, int64_t k) {
                      return cuteSwizzle((k % 8 * row + mn % row) * 2, m.bits) +
                             mn / row * c.leading + k / 8 * c.stride;
                    });
  }
}

// ((T,1,m),(8,k)) : ((1,T,SBO),(1T,LBO))
TEST(SharedOperand, MNMajorPlain) {
  expectOffsets({SwizzleMode::None, MajorNess::MN, 16, 64, 16, 1024, 128},
                [](int64_t mn, int64_t k) {
                  return k % 8 * 16 + mn % 8 * 2 + mn / 8 * 128 + k / 8 * 1024;
                });
}

// The worked examples of the document: tf32 K-major without a swizzle and with
// 32 bytes, bf16 MN-major with 64 bytes. Strides in units of 16 bytes.
TEST(SharedOperand, Descriptor) {
  auto field = [](uint64_t descriptor, unsigned low, unsigned width) {
    return descriptor >> low & ((uint64_t(1) << width) - 1);
  };
  SharedOperand plain{
      SwizzleMode::None, MajorNess::K, 32, 16, 16, 64 * 4, 32 * 4};
  uint64_t d = *plain.descriptor(0x1230);
  EXPECT_EQ(field(d, 0, 14), 0x123u);
  EXPECT_EQ(field(d, 16, 14), 16u);
  EXPECT_EQ(field(d, 32, 14), 8u);
  EXPECT_EQ(field(d, 62, 2), 0u);
  SharedOperand narrow{
      SwizzleMode::Bytes32, MajorNess::K, 32, 16, 8, 0, 64 * 4};
  d = *narrow.descriptor(0x3000);
  EXPECT_EQ(field(d, 16, 14), 1u);
  EXPECT_EQ(field(d, 32, 14), 16u);
  EXPECT_EQ(field(d, 62, 2), 3u);
  SharedOperand wide{
      SwizzleMode::Bytes64, MajorNess::MN, 16, 64, 16, 512, 1024};
  d = *wide.descriptor(0);
  EXPECT_EQ(field(d, 16, 14), 32u);
  EXPECT_EQ(field(d, 32, 14), 64u);
  EXPECT_EQ(field(d, 62, 2), 2u);
  EXPECT_EQ(field(*SharedOperand{SwizzleMode::Bytes128}.descriptor(0), 62, 2),
            1u);
  EXPECT_FALSE(wide.descriptor(256)); // Inside of a period of 512 bytes.
  EXPECT_FALSE(plain.descriptor(8));
  EXPECT_FALSE(plain.descriptor(1 << 18));
  plain.strideBytes = 24;
  EXPECT_FALSE(plain.descriptor(0));
}

TEST(SharedOperand, Rejects) {
  SharedOperand good{SwizzleMode::Bytes128, MajorNess::K, 16, 64, 64, 0, 1024};
  ASSERT_TRUE(good.toBytes());
  auto broken = [&](auto change) {
    SharedOperand operand = good;
    change(operand);
    return operand.toBytes().message();
  };
  EXPECT_EQ(broken([](SharedOperand &o) { o.k = 128; }),
            "shared operand: expected K to span at most the swizzled row of "
            "128 bytes, found 256");
  EXPECT_EQ(broken([](SharedOperand &o) {
              o.major = MajorNess::MN;
              o.elementBits = 8;
            }),
            "shared operand: expected 16-bit elements in an M/N-major operand, "
            "found 8 bits");
  EXPECT_NE(broken([](SharedOperand &o) { o.elementBits = 4; }), "");
  EXPECT_NE(broken([](SharedOperand &o) { o.mn = 48; }), "");
  EXPECT_NE(broken([](SharedOperand &o) { o.mn = 4; }), "");
  EXPECT_NE(broken([](SharedOperand &o) { o.strideBytes = 512; }), "");
  EXPECT_NE(broken([](SharedOperand &o) { o.strideBytes = 0; }), "");
  EXPECT_NE(broken([](SharedOperand &o) { o.strideBytes = 1536; }), "");
}
