//===- DLPackTest.cpp - Tensors to and from DLPack ------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reference.h"
#include "gmock/gmock.h"

// The part of dlpack.h that is needed here, as other libraries have it.
struct DLTensor {
  void *data;
  struct {
    int32_t device_type, device_id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(DLManagedTensor *);
};

using namespace tracea;

namespace {

TEST(DLPack, RoundTrip) {
  std::vector<float> memory(12);
  TensorView view(memory.data(), {3, 4}, std::vector<int64_t>{1, 3});
  TraceaTensorView c = view.c();
  DLManagedTensor *managed = nullptr;
  int released = 0;
  check(tracea_view_to_dlpack(
      &c, [](void *context) { ++*static_cast<int *>(context); }, &released,
      &managed));
  EXPECT_EQ(managed->dl_tensor.device.device_type, 1);
  EXPECT_EQ(managed->dl_tensor.dtype.code, 2);
  EXPECT_EQ(managed->dl_tensor.dtype.bits, 32);
  TraceaTensorView back;
  check(tracea_view_from_dlpack(&managed->dl_tensor, &back));
  EXPECT_EQ(back.ptr, memory.data());
  EXPECT_EQ(back.rank, 2u);
  EXPECT_EQ(back.shape[1], 4u);
  EXPECT_EQ(back.stride[1], 3);
  EXPECT_EQ(back.device_id, TRACEA_CPU);
  managed->deleter(managed);
  EXPECT_EQ(released, 1);
}

TEST(DLPack, OffsetsAndWhatIsNotTaken) {
  float memory[8] = {};
  int64_t shape[] = {2, 2};
  DLTensor tensor = {memory, {2, 3}, 2, {4, 16, 1}, shape, nullptr, 8};
  TraceaTensorView view;
  check(tracea_view_from_dlpack(&tensor, &view));
  EXPECT_EQ(view.ptr, memory + 2);
  EXPECT_EQ(view.dtype, TRACEA_BFLOAT16);
  EXPECT_EQ(view.device_id, 3);
  tensor.dtype = {5, 64, 1}; // complex
  EXPECT_EQ(tracea_view_from_dlpack(&tensor, &view), TRACEA_UNSUPPORTED_CONFIG);
  EXPECT_THAT(get_last_error(), testing::HasSubstr("DLPack's code 5 of 64"));
  tensor.dtype = {2, 32, 1};
  tensor.device.device_type = 8;
  EXPECT_EQ(tracea_view_from_dlpack(&tensor, &view), TRACEA_UNSUPPORTED_CONFIG);
  EXPECT_EQ(tracea_view_from_dlpack(nullptr, &view), TRACEA_INVALID_PARAMS);
}

} // namespace
