//===- Tables.cpp - Polynomials and constants -----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written by tables.py, which says what each of them approximates and how well.

// clang-format off
#include "Tables.h"

using namespace mlir::tracea;

static const double expDouble[] = {
    0x1.0000000000000p-1, 0x1.5555555555559p-3, 0x1.555555555555ap-5,
    0x1.111111110f671p-7, 0x1.6c16c16c143dep-10, 0x1.a01a01b000be4p-13,
    0x1.a01a01b0d9973p-16, 0x1.71ddf806da62bp-19, 0x1.27e4c5589d3a4p-22,
    0x1.af5f50791fb3fp-26, 0x1.1f95d0c2144acp-29};
static const double exp2Double[] = {
    0x1.62e42fefa39efp-1, 0x1.ebfbdff82c5a4p-3, 0x1.c6b08d7049fe7p-5,
    0x1.3b2ab6fba00fbp-7, 0x1.5d87fe78cd7acp-10, 0x1.4309130edf83ap-13,
    0x1.ffcbfba955268p-17, 0x1.62bfc78b2aea0p-20, 0x1.b5267d0e02e99p-24,
    0x1.e61b70de0378fp-28, 0x1.e79bb2993798dp-32};
static const double logDouble[] = {
    0x1.9999999999999p-2, 0x1.24924924927a9p-2, 0x1.c71c71c67668ap-3,
    0x1.745d17c417ed1p-3, 0x1.3b137df5692bap-3, 0x1.111cedbc36149p-3,
    0x1.dec0cf6d1c303p-4, 0x1.e6d61112f3660p-4};
static const double sinDouble[] = {
    -0x1.5555555555555p-3, 0x1.111111111110cp-7, -0x1.a01a01a018c59p-13,
    0x1.71de3a53426ddp-19, -0x1.ae6452902df98p-26, 0x1.6120845954b7dp-33,
    -0x1.aa9ac5dc27e9dp-41};
static const double cosDouble[] = {
    0x1.5555555555553p-5, -0x1.6c16c16c16125p-10, 0x1.a01a019e22d36p-16,
    -0x1.27e4f90210ac6p-22, 0x1.1eea87bcf3b63p-29, -0x1.8ff8e4450f9b5p-37};
static const double atanDouble[] = {
    -0x1.5555555555554p-2, 0x1.9999999999362p-3, -0x1.2492492457d3ap-3,
    0x1.c71c71a6fe199p-4, -0x1.745d124b1d26dp-4, 0x1.3b133613053c2p-4,
    -0x1.110938afee138p-4, 0x1.e133e969f1362p-5, -0x1.a9f8c210183b4p-5,
    0x1.6af63f790f690p-5, -0x1.04dd6f9f2499fp-5, 0x1.bdead7fbd4542p-7};
static const double asinDouble[] = {
    0x1.5555555555562p-3, 0x1.333333333075cp-4, 0x1.6db6db7095bdap-5,
    0x1.f1c71b0ac3557p-6, 0x1.6e8bd458e604ap-6, 0x1.1c4a8683616dfp-6,
    0x1.ca14bd59742e1p-7, 0x1.75c65214f3a2dp-7, 0x1.6047eacaa84d1p-7,
    0x1.ee25068e0cc9cp-9, 0x1.62d3886d20a95p-6, -0x1.590c49229ce5ap-6,
    0x1.0c37de51d10c0p-5};
static const double erfDouble[] = {
    0x1.06eba8214db69p-3, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b34p-4,
    -0x1.b82ce31284f38p-6, 0x1.565bcd0dbd921p-8, -0x1.c02db3db49762p-11,
    0x1.f9a321e4b84f9p-14, -0x1.f4d1e434bc0cfp-17, 0x1.b9df305cad6f7p-20,
    -0x1.5f1f40faeea79p-23, 0x1.f7b99d7c8709ap-27, -0x1.38ac2290d3965p-30,
    0x1.062759c5be8ecp-34};
static const double erfcDouble[] = {
    0x1.3ba5916e9fd7fp+0, -0x1.1df1ad154a28ep-3, 0x1.f7f5df66fd571p-7,
    0x1.16ecefcfa5349p-4, -0x1.9ddb23c3e7cc7p-4, 0x1.7fee004e132b1p-4,
    -0x1.0fb06dfe6b7f6p-4, 0x1.3079edf65dd6cp-5, -0x1.0962387d995c5p-6,
    0x1.49c67294ce6b5p-8, -0x1.8d4aa181d1f42p-11, -0x1.a1df33f563494p-13,
    0x1.3be0d73f0e34ap-13, -0x1.9956eed3a3be1p-16, -0x1.78a3e4bd751fap-17,
    0x1.7f094871b28afp-18, 0x1.41adfedd80084p-22, -0x1.b8edc239dc85cp-21,
    0x1.1fc5a3f2618f3p-24, 0x1.c1e1741d0f6ccp-24, -0x1.a3c8752a3ba14p-27,
    -0x1.5dd9526e3b5fap-27};
static const double cbrtDouble[] = {
    0x1.fdd5889e92efcp-2, 0x1.6d14b52804f92p-1, -0x1.1059bc0414df3p-2,
    0x1.f2816c0996835p-5, -0x1.679cd17206fb4p-8};
static const uint64_t twoOverPiDouble[] = {
    0x0u, 0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u,
    0xfe5163abdebbc561u, 0xb7246e3a424dd2e0u, 0x6492eea09d1921cu,
    0xfe1deb1cb129a73eu, 0xe88235f52ebb4484u, 0xe99c7026b45f7e41u,
    0x3991d639835339f4u, 0x9c845f8bbdf9283bu, 0x1ff897ffde05980fu,
    0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u, 0x4f463f669e5fea2du,
    0x7527bac7ebe5f17bu, 0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u,
    0x56033046fc7b6babu};

const MathTables mlir::tracea::kDoubleTables = {
    /*exp=*/expDouble,
    /*exp2=*/exp2Double,
    /*log=*/logDouble,
    /*sin=*/sinDouble,
    /*cos=*/cosDouble,
    /*atan=*/atanDouble,
    /*asin=*/asinDouble,
    /*erf=*/erfDouble,
    /*erfc=*/erfcDouble,
    /*cbrt=*/cbrtDouble,
    /*ln2=*/{0x1.62e42fefa3800p-1, 0x1.ef35793c76730p-45},
    /*log10of2=*/{0x1.34413509f7800p-2, 0x1.fef311f12b358p-46},
    /*log2e=*/{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56},
    /*log10e=*/{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57},
    /*halfPi=*/{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54},
    /*quarterPi=*/{0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
    /*atanHalf=*/{0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
    /*twoThirds=*/{0x1.5555555555555p-1, 0x1.5555555555555p-55},
    /*erfcShift=*/4,
    /*twoOverPi=*/twoOverPiDouble};

static const double expSingle[] = {
    0x1.0000000000000p-1, 0x1.5555560000000p-3, 0x1.5554700000000p-5,
    0x1.1110aa0000000p-7, 0x1.6da8540000000p-10, 0x1.a17ed60000000p-13};
static const double exp2Single[] = {
    0x1.62e4320000000p-1, 0x1.ebfbe00000000p-3, 0x1.c6ae2c0000000p-5,
    0x1.3b29e40000000p-7, 0x1.5f89320000000p-10, 0x1.446ca20000000p-13};
static const double logSingle[] = {
    0x1.99999a0000000p-2, 0x1.24930c0000000p-2, 0x1.c67ea40000000p-3,
    0x1.8c9e000000000p-3};
static const double sinSingle[] = {
    -0x1.5555560000000p-3, 0x1.1111080000000p-7, -0x1.a00f340000000p-13,
    0x1.6cb60a0000000p-19};
static const double cosSingle[] = {
    0x1.55554e0000000p-5, -0x1.6c0e740000000p-10, 0x1.9a6dde0000000p-16};
static const double atanSingle[] = {
    -0x1.5555540000000p-2, 0x1.9998da0000000p-3, -0x1.24763c0000000p-3,
    0x1.c377ce0000000p-4, -0x1.55cae00000000p-4, 0x1.6df2dc0000000p-5};
static const double asinSingle[] = {
    0x1.5555500000000p-3, 0x1.3337b60000000p-4, 0x1.6cbc4e0000000p-5,
    0x1.0484f20000000p-5, 0x1.d570fa0000000p-7, 0x1.35d1260000000p-5};
static const double erfSingle[] = {
    0x1.06eba80000000p-3, -0x1.81273e0000000p-2, 0x1.ce2d200000000p-4,
    -0x1.b7fbb60000000p-6, 0x1.5419fa0000000p-8, -0x1.a485f80000000p-11,
    0x1.4ae4c60000000p-14};
static const double erfcSingle[] = {
    0x1.40c5220000000p+0, -0x1.15c07c0000000p-3, -0x1.85a1640000000p-5,
    0x1.09820e0000000p-3, -0x1.e88b9e0000000p-4, 0x1.17e9c40000000p-4,
    -0x1.8555620000000p-6, 0x1.395a480000000p-9, 0x1.e0fb520000000p-10,
    -0x1.152eb00000000p-11};
static const double cbrtSingle[] = {
    0x1.fdd5880000000p-2, 0x1.6d14b60000000p-1, -0x1.1059bc0000000p-2,
    0x1.f2816c0000000p-5, -0x1.679cd20000000p-8};
static const uint64_t twoOverPiSingle[] = {
    0x0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u,
    0x3c439041u, 0xfe5163abu};

const MathTables mlir::tracea::kSingleTables = {
    /*exp=*/expSingle,
    /*exp2=*/exp2Single,
    /*log=*/logSingle,
    /*sin=*/sinSingle,
    /*cos=*/cosSingle,
    /*atan=*/atanSingle,
    /*asin=*/asinSingle,
    /*erf=*/erfSingle,
    /*erfc=*/erfcSingle,
    /*cbrt=*/cbrtSingle,
    /*ln2=*/{0x1.62e4000000000p-1, 0x1.7f7d1c0000000p-20},
    /*log10of2=*/{0x1.3440000000000p-2, 0x1.3509f80000000p-18},
    /*log2e=*/{0x1.7154760000000p+0, 0x1.4ae0c00000000p-26},
    /*log10e=*/{0x1.bcb7b20000000p-2, -0x1.5b235e0000000p-27},
    /*halfPi=*/{0x1.921fb60000000p+0, -0x1.777a5c0000000p-25},
    /*quarterPi=*/{0x1.921fb60000000p-1, -0x1.777a5c0000000p-26},
    /*atanHalf=*/{0x1.dac6700000000p-2, 0x1.586ed40000000p-28},
    /*twoThirds=*/{0x1.5555560000000p-1, -0x1.5555560000000p-26},
    /*erfcShift=*/3,
    /*twoOverPi=*/twoOverPiSingle};

static const HalfTurns halfTurns[] = {
    {0x0.0p+0, {0x1.45f306dc9c882p-2, 0x1.4a7f09d5f47d5p-55}},
    {0x1.0000000000000p+45, {0x1.b727220a94fe1p-24, 0x1.d5f47d4d37703p-79}},
    {0x1.0000000000000p+66, {0x1.1054a7f09d5f4p-43, 0x1.f534ddc0db629p-97}},
    {0x1.0000000000000p+87, {0x1.fc2757d1f534dp-65, 0x1.b81b6c52b3279p-118}},
    {0x1.0000000000000p+108, {0x1.7d1f534ddc0dbp-85, 0x1.8a5664f10e410p-139}}};
const mlir::ArrayRef<HalfTurns> mlir::tracea::kHalfTurns = halfTurns;

static const double sinOfHalfTurns[] = {
    0x1.921fb5441e324p+1, -0x1.4abbce4f101d3p+2, 0x1.466bbfbf849bbp+1,
    -0x1.32d11177ec577p-1, 0x1.500fe2720559bp-4, -0x1.cc32054b48a76p-8};
const mlir::ArrayRef<double> mlir::tracea::kSinOfHalfTurns = sinOfHalfTurns;

static const double logOfSingle[] = {
    0x1.55554a0000000p-2, -0x1.0002200000000p-2, 0x1.99a59a0000000p-3,
    -0x1.54788c0000000p-3, 0x1.226dfc0000000p-3, -0x1.0ce0380000000p-3,
    0x1.07d2ca0000000p-3, -0x1.41f38e0000000p-4};
const mlir::ArrayRef<double> mlir::tracea::kLogOfSingle = logOfSingle;

static const double erfNearZero[] = {
    0x1.06eba60000000p-3, -0x1.8127000000000p-2, 0x1.ce1ec20000000p-4,
    -0x1.b6cbb00000000p-6, 0x1.48be620000000p-8, -0x1.4068600000000p-11};
static const double erfcLog2[] = {
    -0x1.00e3820000000p-13, -0x1.a0bd4e0000000p+0, -0x1.d560ae0000000p-1,
    -0x1.39e01e0000000p-3, 0x1.1b3a180000000p-5, -0x1.66d01c0000000p-8,
    0x1.1704620000000p-11, -0x1.8c0a1e0000000p-16};
static const double erfcExp2[] = {
    0x1.62e4320000000p-1, 0x1.ebf9b20000000p-3, 0x1.c6ae620000000p-5,
    0x1.3cedba0000000p-7, 0x1.5f78a20000000p-10};
const SingleErf mlir::tracea::kSingleErf = {0x1.ccccccccccccdp-1, erfNearZero, erfcLog2, erfcExp2};
