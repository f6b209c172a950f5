//===- Variants.h - The built-in variants -----------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TRACEA_LIB_DOCTOR_VARIANTS_H
#define TRACEA_LIB_DOCTOR_VARIANTS_H

#include "tracea/Doctor/Registry.h"

namespace tracea::doctor {

/// The cheapest of a variant's plans that fit; where none does, the first one,
/// of which the caller finds out why.
Plan cheapestPlan(const Variant &variant, const Problem &problem,
                  const TargetDescription &target);

/// All variants for CPUs, by kind of operation.
void addCPUVariants(Registry &registry);

void addCPUPackedGemmVariants(Registry &registry);
void addCPUDirectGemmVariants(Registry &registry);
void addCPUDotGemmVariants(Registry &registry);
void addCPUConvVariants(Registry &registry);
/// After those of one product.
void addCPUWGradVariants(Registry &registry);
void addCPURowVariants(Registry &registry);
void addCPUAttentionVariants(Registry &registry);

void addGPUGemmVariants(Registry &registry);
/// After those of one product.
void addGPUGroupedVariants(Registry &registry);
void addGPUWarpGemmVariants(Registry &registry);
void addGPUSimtGemmVariants(Registry &registry);
/// After those of one product.
void addGPUConvVariants(Registry &registry);
void addGPUGroupConvVariants(Registry &registry);
void addGPULaneConvVariants(Registry &registry);
void addGPUWGradVariants(Registry &registry);

void addGPURowVariants(Registry &registry);
void addGPUAttentionVariants(Registry &registry);
void addGPUSimtAttentionVariants(Registry &registry);
void addGPUAttentionGradVariants(Registry &registry);

/// Why bulk copies cannot walk through the pixels that a convolution's taps
/// see: their steps, how far taps are apart, and where the first and the last
/// tap begin and end lie in a few bits each.
Reason whyNotWalked(const Problem &problem);

/// What a CPU's products of narrow elements run as with `variant`, and at which
/// rate, where that is not the target's dot products for them; empty where it
/// is, or where nothing narrow is multiplied.
std::string findPrecisionFallback(const Problem &problem,
                                  const TargetDescription &target,
                                  const Variant &variant);

/// What runs anywhere, as loops over elements.
void addLoopVariants(Registry &registry);

} // namespace tracea::doctor

#endif // TRACEA_LIB_DOCTOR_VARIANTS_H
