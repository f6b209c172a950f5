//===- TypesTest.cpp - Our declarations against NVIDIA's ------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Only where the toolkit's header is found; everything is compared while this
// file is compiled.
//
//===----------------------------------------------------------------------===//

#include "CUDATypes.h"

#include <cstddef>
#include <gtest/gtest.h>

#if __has_include(<cuda.h>)
#include <cuda.h>
#if defined(CUDA_VERSION) && CUDA_VERSION >= 12000
#define TRACEA_HAS_CUDA_HEADER
#endif
#endif

#ifdef TRACEA_HAS_CUDA_HEADER
namespace t = tracea::runtime::cuda;

#define SAME(ours, theirs)                                                     \
  static_assert(static_cast<long long>(t::ours) ==                             \
                    static_cast<long long>(theirs),                            \
                #theirs)

SAME(success, CUDA_SUCCESS);
SAME(errorInvalidValue, CUDA_ERROR_INVALID_VALUE);
SAME(errorOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(errorDeinitialized, CUDA_ERROR_DEINITIALIZED);
SAME(errorStubLibrary, CUDA_ERROR_STUB_LIBRARY);
SAME(errorDeviceUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE);
SAME(errorNoDevice, CUDA_ERROR_NO_DEVICE);
SAME(errorInvalidImage, CUDA_ERROR_INVALID_IMAGE);
SAME(errorNoBinaryForGPU, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME(errorEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
SAME(errorInvalidPtx, CUDA_ERROR_INVALID_PTX);
SAME(errorNvlinkUncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE);
SAME(errorJitCompilerNotFound, CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
SAME(errorUnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SAME(errorInvalidHandle, CUDA_ERROR_INVALID_HANDLE);
SAME(errorNotFound, CUDA_ERROR_NOT_FOUND);
SAME(errorNotReady, CUDA_ERROR_NOT_READY);
SAME(errorIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME(errorLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
SAME(errorContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
SAME(errorAssert, CUDA_ERROR_ASSERT);
SAME(errorHardwareStack, CUDA_ERROR_HARDWARE_STACK_ERROR);
SAME(errorIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION);
SAME(errorMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
SAME(errorInvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE);
SAME(errorInvalidPc, CUDA_ERROR_INVALID_PC);
SAME(errorLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
SAME(errorNotSupported, CUDA_ERROR_NOT_SUPPORTED);
SAME(errorSystemDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
SAME(errorStreamCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
SAME(errorStreamCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
SAME(errorStreamCaptureImplicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
SAME(errorGraphExecUpdateFailure, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
SAME(errorUnknown, CUDA_ERROR_UNKNOWN);

SAME(maxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(maxBlockDimX, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
SAME(maxBlockDimY, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
SAME(maxBlockDimZ, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
SAME(maxGridDimX, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
SAME(maxGridDimY, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
SAME(maxGridDimZ, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
SAME(maxSharedMemoryPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
SAME(clockRateKHz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
SAME(multiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(eccEnabled, CU_DEVICE_ATTRIBUTE_ECC_ENABLED);
SAME(memoryClockRateKHz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
SAME(globalMemoryBusWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
SAME(l2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME(computeCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(computeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(maxSharedMemoryPerMultiprocessor,
     CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
SAME(maxSharedMemoryPerBlockOptin,
     CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(memoryPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
SAME(clusterLaunch, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);
SAME(tensorMapAccessSupported, CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED);

SAME(functionMaxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(functionSharedBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME(functionMaxDynamicSharedBytes,
     CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(functionNonPortableClusterSizeAllowed,
     CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
SAME(jitInfoLogBuffer, CU_JIT_INFO_LOG_BUFFER);
SAME(jitInfoLogBufferBytes, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
SAME(jitErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER);
SAME(jitErrorLogBufferBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(pointerMemoryType, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME(pointerDeviceOrdinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
SAME(pointerRangeStart, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
SAME(pointerRangeBytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE);
SAME(memoryTypeHost, CU_MEMORYTYPE_HOST);
SAME(memoryTypeDevice, CU_MEMORYTYPE_DEVICE);
SAME(streamNonBlocking, CU_STREAM_NON_BLOCKING);
SAME(eventDisableTiming, CU_EVENT_DISABLE_TIMING);
SAME(captureNone, CU_STREAM_CAPTURE_STATUS_NONE);
SAME(captureModeRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME(poolReleaseThreshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
SAME(launchClusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME(launchProgrammaticStreamSerialization,
     CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);

static_assert(sizeof(t::PoolProps) == sizeof(CUmemPoolProps));
static_assert(offsetof(t::PoolProps, locationId) ==
              offsetof(CUmemPoolProps, location.id));
static_assert(offsetof(t::PoolProps, maxSize) ==
              offsetof(CUmemPoolProps, maxSize));
static_assert(sizeof(t::LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(t::LaunchAttribute, value) ==
              offsetof(CUlaunchAttribute, value));
static_assert(sizeof(t::LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(t::LaunchConfig, stream) ==
              offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(t::LaunchConfig, attributes) ==
              offsetof(CUlaunchConfig, attrs));
static_assert(sizeof(t::GraphExecUpdateInfo) ==
              sizeof(CUgraphExecUpdateResultInfo));
static_assert(sizeof(t::TensorMapBits) == sizeof(CUtensorMap));

static_assert(CU_TENSOR_MAP_DATA_TYPE_UINT8 == 0 &&
              CU_TENSOR_MAP_DATA_TYPE_FLOAT16 == 6 &&
              CU_TENSOR_MAP_DATA_TYPE_FLOAT32 == 7 &&
              CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 == 9 &&
              CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ == 12);
static_assert(CU_TENSOR_MAP_SWIZZLE_128B == 3 &&
              CU_TENSOR_MAP_INTERLEAVE_32B == 2 &&
              CU_TENSOR_MAP_L2_PROMOTION_L2_256B == 3);
#endif

TEST(CUDATypes, AgreeWithTheToolkit) {
#ifndef TRACEA_HAS_CUDA_HEADER
  GTEST_SKIP() << "no cuda.h of CUDA 12 or newer";
#endif
}
