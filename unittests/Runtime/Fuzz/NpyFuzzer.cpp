//===- NpyFuzzer.cpp - Arbitrary bytes as a NumPy file --------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever is accepted must survive being written and read again. Half of the
// inputs get a valid beginning, so that the header's dictionary and the body
// are reached without a corpus.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/Npy.h"

#include <cstdlib>
#include <cstring>
#include <string>

using namespace tracea::runtime;

static void parseAndCheck(Bytes bytes, const NpyReadOptions &options) {
  Expected<Tensor> tensor = parseNpy(bytes, options);
  if (!tensor) {
    if (tensor.message().empty())
      std::abort();
    return;
  }
  Expected<std::vector<uint8_t>> written = serializeNpy(*tensor);
  if (!written)
    std::abort();
  NpyReadOptions same;
  same.expected = tensor->type();
  Expected<Tensor> again = parseNpy(*written, same);
  if (!again || again->type() != tensor->type() ||
      again->shape() != tensor->shape() ||
      (tensor->byteSize() != 0 &&
       std::memcmp(again->data(), tensor->data(),
                   static_cast<size_t>(tensor->byteSize())) != 0))
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  NpyReadOptions options;
  if (size > 0 && data[0] % 16 < numElementTypes)
    options.expected = static_cast<ElementType>(data[0] % 16);
  parseAndCheck(Bytes(data, size), options);

  // A header from the input's text with a body of the rest.
  if (size < 4)
    return 0;
  static const char *const types[] = {"<f8", "<f4", "<f2", "<i8", "<i4", "<i2",
                                      "|i1", "|b1", "<V2", "<u2", "|u1", ">f4"};
  size_t shapeBytes = std::min<size_t>(data[2] % 24, size - 4);
  std::string dictionary =
      std::string("{'descr': '") + types[data[1] % 12] +
      "', 'fortran_order': " + (data[3] % 2 ? "True" : "False") +
      ", 'shape': (" +
      std::string(reinterpret_cast<const char *>(data) + 4, shapeBytes) +
      "), }\n";
  std::string file("\x93NUMPY\1\0", 8);
  file += static_cast<char>(dictionary.size() & 0xff);
  file += static_cast<char>(dictionary.size() >> 8);
  file += dictionary;
  file.append(reinterpret_cast<const char *>(data) + 4 + shapeBytes,
              size - 4 - shapeBytes);
  parseAndCheck(
      Bytes(reinterpret_cast<const unsigned char *>(file.data()), file.size()),
      options);
  return 0;
}
