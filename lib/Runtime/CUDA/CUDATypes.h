//===- CUDATypes.h - The part of the CUDA driver API in use -----*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declarations of our own, so that no toolkit is needed to build: names,
// values and layouts are those of NVIDIA's CUDA Driver API reference manual
// ("Data types used by CUDA driver"), whose binary interface does not change.
// unittests/Runtime/CUDA/TypesTest.cpp compares them with cuda.h where one is
// found.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_RUNTIME_CUDA_CUDATYPES_H
#define TRACEA_LIB_RUNTIME_CUDA_CUDATYPES_H

#include <cstddef>
#include <cstdint>

namespace tracea::runtime::cuda {

using Result = int;                   // CUresult
using DeviceHandle = int;             // CUdevice
using DevicePtr = unsigned long long; // CUdeviceptr
using ContextHandle = struct ContextTag *;
using StreamHandle = struct StreamTag *;
using EventHandle = struct EventTag *;
using ModuleHandle = struct ModuleTag *;
using LinkHandle = struct LinkTag *; // CUlinkState
using FunctionHandle = struct FunctionTag *;
using PoolHandle = struct PoolTag *;
using GraphHandle = struct GraphTag *;         // CUgraph
using GraphExecHandle = struct GraphExecTag *; // CUgraphExec

/// The results that the driver distinguishes; all others are only reported.
enum : Result {
  success = 0,
  errorInvalidValue = 1,
  errorOutOfMemory = 2,
  errorDeinitialized = 4,
  errorStubLibrary = 34,
  errorDeviceUnavailable = 46,
  errorNoDevice = 100,
  errorInvalidImage = 200,
  errorNoBinaryForGPU = 209,
  errorEccUncorrectable = 214,
  errorInvalidPtx = 218,
  errorNvlinkUncorrectable = 220,
  errorJitCompilerNotFound = 221,
  errorUnsupportedPtxVersion = 222,
  errorContained = 226,
  errorInvalidHandle = 400,
  errorNotFound = 500,
  errorNotReady = 600,
  errorIllegalAddress = 700,
  errorLaunchTimeout = 702,
  errorContextIsDestroyed = 709,
  errorAssert = 710,
  errorHardwareStack = 714,
  errorIllegalInstruction = 715,
  errorMisalignedAddress = 716,
  errorInvalidAddressSpace = 717,
  errorInvalidPc = 718,
  errorLaunchFailed = 719,
  errorTensorMemoryLeak = 721,
  errorNotSupported = 801,
  errorSystemDriverMismatch = 803,
  errorStreamCaptureUnsupported = 900,
  errorStreamCaptureInvalidated = 901,
  errorStreamCaptureImplicit = 906,
  errorGraphExecUpdateFailure = 910,
  errorUnknown = 999,
};

enum DeviceAttribute : int { // CUdevice_attribute
  maxThreadsPerBlock = 1,
  maxBlockDimX = 2,
  maxBlockDimY = 3,
  maxBlockDimZ = 4,
  maxGridDimX = 5,
  maxGridDimY = 6,
  maxGridDimZ = 7,
  maxSharedMemoryPerBlock = 8,
  clockRateKHz = 13,
  multiprocessorCount = 16,
  eccEnabled = 32,
  memoryClockRateKHz = 36,
  globalMemoryBusWidth = 37,
  l2CacheSize = 38,
  computeCapabilityMajor = 75,
  computeCapabilityMinor = 76,
  maxSharedMemoryPerMultiprocessor = 81,
  maxSharedMemoryPerBlockOptin = 97,
  memoryPoolsSupported = 115,
  clusterLaunch = 120,
  tensorMapAccessSupported = 127,
};

enum FunctionAttribute : int { // CUfunction_attribute
  functionMaxThreadsPerBlock = 0,
  functionSharedBytes = 1,
  functionLocalBytes = 3,
  functionRegisters = 4,
  functionBinaryVersion = 6,
  functionMaxDynamicSharedBytes = 8,
  functionNonPortableClusterSizeAllowed = 14,
};

enum JitOption : int { // CUjit_option
  jitInfoLogBuffer = 3,
  jitInfoLogBufferBytes = 4,
  jitErrorLogBuffer = 5,
  jitErrorLogBufferBytes = 6,
  jitLogVerbose = 12,
};

enum JitInput : int { jitInputPtx = 1 }; // CUjitInputType

enum PointerAttribute : int { // CUpointer_attribute
  pointerMemoryType = 2,
  pointerDeviceOrdinal = 9,
  pointerRangeStart = 11,
  pointerRangeBytes = 12,
};
enum : unsigned { memoryTypeHost = 1, memoryTypeDevice = 2 }; // CUmemorytype

enum : unsigned {
  streamNonBlocking = 1,  // CU_STREAM_NON_BLOCKING
  eventDisableTiming = 2, // CU_EVENT_DISABLE_TIMING
};
enum : int { captureNone = 0, captureActive = 1 }; // CUstreamCaptureStatus
enum : int { captureModeRelaxed = 2 };             // CUstreamCaptureMode

/// CUgraphExecUpdateResultInfo; what kept a graph from being updated.
struct GraphExecUpdateInfo {
  int result = 0;
  void *errorNode = nullptr;
  void *errorFromNode = nullptr;
};

enum : int { poolReleaseThreshold = 4 }; // CUmemPool_attribute

/// CUmemPoolProps.
struct PoolProps {
  int allocType = 1; // CU_MEM_ALLOCATION_TYPE_PINNED
  int handleTypes = 0;
  int locationType = 1; // CU_MEM_LOCATION_TYPE_DEVICE
  int locationId = 0;
  void *win32SecurityAttributes = nullptr;
  size_t maxSize = 0;
  unsigned short usage = 0;
  unsigned char reserved[54] = {};
};

enum LaunchAttributeId : int { // CUlaunchAttributeID
  launchClusterDimension = 4,
  launchProgrammaticStreamSerialization = 6,
};

/// CUlaunchAttribute: an id and a union of 64 bytes.
struct LaunchAttribute {
  LaunchAttributeId id;
  char pad[4];
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
    int programmaticStreamSerialization;
    uint64_t align;
  } value;
};

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned sharedBytes;
  StreamHandle stream;
  const LaunchAttribute *attributes;
  unsigned numAttributes;
};

/// CUtensorMap: opaque, passed to kernels by value.
struct alignas(64) TensorMapBits {
  uint64_t words[16];
};

} // namespace tracea::runtime::cuda

#endif // TRACEA_LIB_RUNTIME_CUDA_CUDATYPES_H
