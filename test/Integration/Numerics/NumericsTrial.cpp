//===- NumericsTrial.cpp - Trials as bytes --------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fields one behind the other, lists behind their length, all little-endian. A
// number of extended precision is the sum of two doubles, which every processor
// has: 64 bits of it are exactly the nearest double and the rest.

#include "NumericsJudge.h"

#include <cmath>
#include <cstring>
#include <type_traits>

using namespace tracea;
using namespace tracea::numerics;

namespace {

/// Both ways through the fields: `field` of a writer appends, that of a reader
/// sets what it is given.
class Writer {
public:
  std::string bytes;

  template <typename T>
  void plain(const T &value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  template <typename T>
  void length(const std::vector<T> &list) {
    plain(static_cast<uint64_t>(list.size()));
  }
};

class Reader {
public:
  explicit Reader(const std::string &bytes) : bytes(bytes) {}

  template <typename T>
  void plain(T &value) {
    if (failed || bytes.size() - position < sizeof value) {
      failed = true;
      value = T();
      return;
    }
    std::memcpy(&value, bytes.data() + position, sizeof value);
    position += sizeof value;
  }
  template <typename T>
  void length(std::vector<T> &list) {
    uint64_t size = 0;
    plain(size);
    // Every element has a byte at least.
    failed |= size > bytes.size() - position;
    list.resize(failed ? 0 : size);
  }
  bool isComplete() const { return !failed && position == bytes.size(); }

private:
  const std::string &bytes;
  size_t position = 0;
  bool failed = false;
};

template <typename Stream, typename T>
void field(Stream &stream, T &value) {
  stream.plain(value);
}

void field(Writer &writer, const Approx &number) {
  for (Real part : {number.value, number.error}) {
    auto high = static_cast<double>(part);
    writer.plain(high);
    writer.plain(std::isfinite(high) ? static_cast<double>(part - high) : 0.0);
  }
}
void field(Reader &reader, Approx &number) {
  for (Real *part : {&number.value, &number.error}) {
    double high = 0, low = 0;
    reader.plain(high);
    reader.plain(low);
    *part = Real(high) + low;
  }
}

template <typename Stream, typename List>
void fields(Stream &stream, List &list) {
  stream.length(list);
  for (auto &element : list)
    field(stream, element);
}

template <typename Stream, typename Tensors>
void tensors(Stream &stream, Tensors &list) {
  stream.length(list);
  for (auto &tensor : list) {
    field(stream, tensor.type);
    fields(stream, tensor.shape);
    fields(stream, tensor.values);
  }
}

template <typename Stream, typename AnyTrial>
void all(Stream &stream, AnyTrial &trial) {
  fields(stream, trial.program);
  stream.length(trial.instances);
  for (auto &instance : trial.instances) {
    tensors(stream, instance.inputs);
    tensors(stream, instance.outputs);
    fields(stream, instance.wrong);
  }
  field(stream, trial.more);
  field(stream, trial.seed);
}

} // namespace

std::string numerics::pack(const Trial &trial) {
  Writer writer;
  all(writer, trial);
  return std::move(writer.bytes);
}

std::optional<Trial> numerics::unpack(const std::string &bytes) {
  Reader reader(bytes);
  Trial trial;
  all(reader, trial);
  if (!reader.isComplete())
    return std::nullopt;
  return trial;
}
