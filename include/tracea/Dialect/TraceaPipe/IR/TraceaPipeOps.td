//===- TraceaPipeOps.td - Operations of the pipeline dialect -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPEOPS_TD
#define TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPEOPS_TD

include "tracea/Dialect/TraceaPipe/IR/TraceaPipeAsyncOps.td"
include "tracea/Dialect/TraceaPipe/IR/TraceaPipeChannelOps.td"
include "tracea/Dialect/TraceaPipe/IR/TraceaPipeClusterOps.td"
include "tracea/Dialect/TraceaPipe/IR/TraceaPipeInterface.td"
include "tracea/Dialect/TraceaPipe/IR/TraceaPipeKernelOps.td"
include "tracea/Dialect/TraceaPipe/IR/TraceaPipeRaggedOps.td"
include "tracea/Dialect/TraceaPipe/IR/TraceaPipeReadOps.td"
include "tracea/Dialect/TraceaPipe/IR/TraceaPipeTileOps.td"
include "tracea/Dialect/TraceaPipe/IR/TraceaPipeWalkOps.td"

#endif
