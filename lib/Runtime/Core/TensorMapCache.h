//===- TensorMapCache.h - Tensor maps that were made before -----*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One for each Executable: the same weights come with every run, and
// activations at a few addresses.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_RUNTIME_CORE_TENSORMAPCACHE_H
#define TRACEA_LIB_RUNTIME_CORE_TENSORMAPCACHE_H

#include "tracea/Runtime/Device.h"

#include <array>
#include <list>
#include <map>
#include <mutex>

namespace tracea::runtime {

struct alignas(tensorMapAlign) TensorMapBytes {
  unsigned char bytes[tensorMapBytes];
};

/// Bounded; the map that was not asked for the longest makes room. May be used
/// by several threads.
class TensorMapCache {
public:
  explicit TensorMapCache(size_t capacity = 1024) : capacity(capacity) {}

  /// `spec` is known by its address, which must stay the same. The rank is at
  /// most 5, as `validate` demands.
  Status get(const Device &device, const TensorMapSpec &spec, void *address,
             Span<const int64_t> sizes, Span<const int64_t> strides,
             TensorMapBytes &map);
  size_t size() const;

private:
  struct Key {
    const TensorMapSpec *spec;
    void *address;
    std::array<int64_t, 10> shape;
    bool operator<(const Key &other) const {
      return std::tie(spec, address, shape) <
             std::tie(other.spec, other.address, other.shape);
    }
  };
  struct Entry {
    Key key;
    TensorMapBytes map;
  };
  size_t capacity;
  mutable std::mutex mutex;
  /// The last one used first.
  std::list<Entry> entries;
  std::map<Key, std::list<Entry>::iterator> index;
};

} // namespace tracea::runtime

#endif // TRACEA_LIB_RUNTIME_CORE_TENSORMAPCACHE_H
