//===- Variants.h - The lowerings of the built-in variants ------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Those that are no contraction's; Contraction.h has the others.

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_VARIANTS_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_VARIANTS_H

#include "tracea/Conversion/TraceaToTraceaPipe/KernelBuilder.h"

namespace mlir::tracea {

LogicalResult lowerGemm(KernelRewriter &rewriter, GemmOp op);
LogicalResult lowerGemmDirect(KernelRewriter &rewriter, GemmOp op);
LogicalResult lowerGroupedGemmWarpgroup(KernelRewriter &rewriter,
                                        GroupedGemmOp op);
LogicalResult lowerConv2DPatch(KernelRewriter &rewriter, Conv2DOp op);
LogicalResult lowerConv2DDepthwise(KernelRewriter &rewriter, Conv2DOp op);
LogicalResult lowerConv2DByLanes(KernelRewriter &rewriter, Conv2DOp op);
LogicalResult lowerConv2DByGroups(KernelRewriter &rewriter, Conv2DOp op);
LogicalResult lowerAttentionFlash(KernelRewriter &rewriter, AttentionOp op);
LogicalResult lowerAttentionSimt(KernelRewriter &rewriter, AttentionOp op);
LogicalResult lowerAttentionWarp(KernelRewriter &rewriter, AttentionOp op);
LogicalResult lowerAttentionQGradWarp(KernelRewriter &rewriter,
                                      AttentionQGradOp op);
LogicalResult lowerAttentionKVGradWarp(KernelRewriter &rewriter,
                                       AttentionKVGradOp op);
LogicalResult lowerSoftmaxRows(KernelRewriter &rewriter, SoftmaxOp op);
LogicalResult lowerLayerNormRows(KernelRewriter &rewriter, LayerNormOp op);
LogicalResult lowerRMSNormRows(KernelRewriter &rewriter, RMSNormOp op);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_VARIANTS_H
