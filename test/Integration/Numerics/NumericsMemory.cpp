//===- NumericsMemory.cpp - Tensors between guard pages -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NumericsMemory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace tracea;
using namespace tracea::numerics;

static constexpr uint8_t canary = 0xA5;

void numerics::encode(ElementType type, double value, uint8_t *to) {
  switch (type) {
  case ElementType::F64:
    std::memcpy(to, &value, 8);
    return;
  case ElementType::F32: {
    float number = static_cast<float>(value);
    std::memcpy(to, &number, 4);
    return;
  }
  case ElementType::F16: {
    uint16_t bits = runtime::floatToHalf(static_cast<float>(value));
    std::memcpy(to, &bits, 2);
    return;
  }
  case ElementType::BF16: {
    uint16_t bits = runtime::floatToBFloat(static_cast<float>(value));
    std::memcpy(to, &bits, 2);
    return;
  }
  case ElementType::F8E4M3FN:
    *to = runtime::floatToF8E4M3FN(static_cast<float>(value));
    return;
  case ElementType::F8E5M2:
    *to = runtime::floatToF8E5M2(static_cast<float>(value));
    return;
  default: {
    int64_t number = static_cast<int64_t>(value);
    std::memcpy(to, &number, runtime::sizeOf(type)); // little-endian
  }
  }
}

GuardedTensor::GuardedTensor(Random &random, ElementType type,
                             const Shape &shape, Placement placement)
    : type(type), shape(shape), strides(shape.size()) {
  int64_t element = runtime::sizeOf(type);
  int rank = static_cast<int>(shape.size());

  // Strides, in elements, and how far the first element lies from the lowest.
  std::vector<int> order(rank);
  for (int dim = 0; dim < rank; ++dim)
    order[dim] = rank - 1 - dim;
  int64_t step = 1;
  bool gaps = false, reversed = false;
  if (placement == Placement::Strided) {
    switch (random.below(4)) {
    case 0:
      std::reverse(order.begin(), order.end());
      break;
    case 1:
      step = 2;
      break;
    case 2:
      reversed = true;
      break;
    default:
      gaps = true;
    }
  }
  int64_t before = 0, extent = 1;
  for (int dim : order) {
    strides[dim] = step;
    int64_t reach = step * std::max<int64_t>(shape[dim] - 1, 0);
    extent += reach;
    if (reversed && dim == rank - 1) {
      strides[dim] = -step;
      before = reach;
    }
    step *= std::max<int64_t>(shape[dim], 1);
    if (gaps)
      step += random.between(1, 3);
  }
  if (countOf(shape) == 0)
    extent = 0, before = 0;

  int64_t page = sysconf(_SC_PAGESIZE);
  int64_t lead = placement == Placement::Misaligned ? 64 + element : 0;
  int64_t needed = lead + extent * element;
  usableBytes = (needed + page - 1) / page * page;
  mappedBytes = usableBytes + 2 * page;
  void *memory =
      mmap(nullptr, mappedBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mapping = static_cast<uint8_t *>(memory);
  usable = mapping + page;
  if (memory == MAP_FAILED ||
      (usableBytes &&
       mprotect(usable, usableBytes, PROT_READ | PROT_WRITE) != 0)) {
    std::perror("mmap");
    std::abort();
  }
  std::memset(usable, canary, usableBytes);
  bool atEnd = placement == Placement::End || placement == Placement::Strided;
  uint8_t *low = atEnd ? usable + usableBytes - needed : usable + lead;
  first = low + before * element;
  runtime::Expected<runtime::Tensor> borrowed =
      runtime::Tensor::borrow(static_cast<void *>(first), type, shape, strides);
  if (!borrowed) {
    std::fprintf(stderr, "borrow: %s\n", borrowed.message().c_str());
    std::abort();
  }
  view = *borrowed;
}

GuardedTensor::GuardedTensor(GuardedTensor &&other) noexcept
    : mapping(std::exchange(other.mapping, nullptr)),
      mappedBytes(other.mappedBytes), usable(other.usable),
      usableBytes(other.usableBytes), first(other.first), type(other.type),
      shape(std::move(other.shape)), strides(std::move(other.strides)),
      view(std::move(other.view)) {}

GuardedTensor::~GuardedTensor() {
  if (mapping)
    munmap(mapping, mappedBytes);
}

uint8_t *GuardedTensor::at(const Shape &index) const {
  int64_t offset = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    offset += index[dim] * strides[dim];
  return first + offset * runtime::sizeOf(type);
}

void GuardedTensor::poison() {
  forEachIndex(shape, [&](const Shape &index, int64_t) {
    std::memset(at(index), 0xFF, runtime::sizeOf(type));
  });
}

void GuardedTensor::write(const HostTensor &values) {
  forEachIndex(shape, [&](const Shape &index, int64_t linear) {
    encode(type, values.values[linear], at(index));
  });
}

double GuardedTensor::read(const Shape &index) const {
  return runtime::readAsDouble(type, at(index));
}

std::vector<uint8_t> GuardedTensor::bytes() const {
  int64_t element = runtime::sizeOf(type);
  std::vector<uint8_t> result(countOf(shape) * element);
  forEachIndex(shape, [&](const Shape &index, int64_t linear) {
    std::memcpy(result.data() + linear * element, at(index), element);
  });
  return result;
}

bool GuardedTensor::surroundingsIntact() const {
  std::vector<bool> covered(usableBytes, false);
  int64_t element = runtime::sizeOf(type);
  forEachIndex(shape, [&](const Shape &index, int64_t) {
    int64_t offset = at(index) - usable;
    std::fill_n(covered.begin() + offset, element, true);
  });
  for (int64_t i = 0; i < usableBytes; ++i)
    if (!covered[i] && usable[i] != canary)
      return false;
  return true;
}
