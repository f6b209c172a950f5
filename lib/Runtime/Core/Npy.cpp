//===- Npy.cpp - NumPy array files ----------------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header of a .npy file is a Python dictionary literal with three keys; a
// small scanner reads exactly that and nothing else of Python.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/Npy.h"

#include "tracea/Runtime/File.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace tracea::runtime {

namespace {

constexpr size_t maxRank = 32;
constexpr uint64_t maxHeaderBytes = uint64_t(1) << 20;
constexpr char npyMagic[] = "\x93NUMPY";

struct Header {
  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

/// Reads the dictionary literal `{'descr': '<f4', 'fortran_order': False,
/// 'shape': (3, 4), }`.
class HeaderScanner {
public:
  HeaderScanner(const char *text, size_t size, size_t fileOffset)
      : text(text), size(size), fileOffset(fileOffset) {}

  Status read(Header &header) {
    bool seenDescr = false, seenOrder = false, seenShape = false;
    TRACEA_RETURN_IF_ERROR(expect('{'));
    while (!accept('}')) {
      std::string key;
      TRACEA_RETURN_IF_ERROR(string(key));
      TRACEA_RETURN_IF_ERROR(expect(':'));
      bool *seen = key == "descr"           ? &seenDescr
                   : key == "fortran_order" ? &seenOrder
                   : key == "shape"         ? &seenShape
                                            : nullptr;
      if (!seen)
        return fail("expected the key 'descr', 'fortran_order' or 'shape', "
                    "found '" +
                    key + "'");
      if (*seen)
        return fail("the key '" + key + "' stands twice");
      *seen = true;
      if (key == "descr")
        TRACEA_RETURN_IF_ERROR(string(header.descr));
      else if (key == "shape")
        TRACEA_RETURN_IF_ERROR(tuple(header.shape));
      else
        TRACEA_RETURN_IF_ERROR(boolean(header.fortranOrder));
      if (accept('}'))
        break;
      TRACEA_RETURN_IF_ERROR(expect(','));
    }
    skipSpace();
    if (at != size)
      return fail("expected the end of the header");
    if (!seenDescr || !seenOrder || !seenShape)
      return fail("expected the keys 'descr', 'fortran_order' and 'shape'");
    return Status::success();
  }

private:
  void skipSpace() {
    while (at < size && (text[at] == ' ' || text[at] == '\n' ||
                         text[at] == '\t' || text[at] == '\r'))
      ++at;
  }
  bool accept(char c) {
    skipSpace();
    if (at >= size || text[at] != c)
      return false;
    ++at;
    return true;
  }
  Status fail(const std::string &what) const {
    return Status::error("npy header at byte " +
                         std::to_string(fileOffset + at) + ": " + what);
  }
  std::string found() const {
    if (at >= size)
      return "the end";
    unsigned char c = static_cast<unsigned char>(text[at]);
    return c >= 32 && c < 127 ? std::string("'") + text[at] + "'"
                              : "byte " + std::to_string(c);
  }
  Status expect(char c) {
    if (accept(c))
      return Status::success();
    return fail(std::string("expected '") + c + "', found " + found());
  }
  Status string(std::string &value) {
    skipSpace();
    if (at >= size || (text[at] != '\'' && text[at] != '"'))
      return fail("expected a string, found " + found());
    char quote = text[at++];
    while (at < size && text[at] != quote) {
      unsigned char c = static_cast<unsigned char>(text[at]);
      if (c < 32 || c >= 127 || c == '\\')
        return fail("expected a plain character in a string, found " + found());
      value += text[at++];
      if (value.size() > 64)
        return fail("expected a string of at most 64 characters");
    }
    return expect(quote);
  }
  Status boolean(bool &value) {
    skipSpace();
    for (const char *word : {"True", "False"}) {
      size_t length = std::strlen(word);
      if (size - at >= length && std::memcmp(text + at, word, length) == 0) {
        at += length;
        value = word[0] == 'T';
        return Status::success();
      }
    }
    return fail("expected True or False, found " + found());
  }
  Status tuple(std::vector<int64_t> &values) {
    TRACEA_RETURN_IF_ERROR(expect('('));
    while (!accept(')')) {
      int64_t value = 0;
      size_t first = at;
      while (at < size && text[at] >= '0' && text[at] <= '9') {
        if (__builtin_mul_overflow(value, int64_t(10), &value) ||
            __builtin_add_overflow(value, int64_t(text[at] - '0'), &value))
          return fail("a size does not fit into 64 bits");
        ++at;
      }
      if (at == first)
        return fail("expected a size, found " + found());
      if (at < size && text[at] == 'L') // Python 2 wrote long integers so.
        ++at;
      values.push_back(value);
      if (values.size() > maxRank)
        return fail("expected at most " + std::to_string(maxRank) + " axes");
      bool comma = accept(',');
      if (accept(')')) {
        if (values.size() == 1 && !comma)
          return fail("expected a tuple, found an integer in parentheses");
        return Status::success();
      }
      if (!comma)
        return fail("expected ',' or ')', found " + found());
    }
    return Status::success();
  }

  const char *text;
  size_t size;
  size_t fileOffset;
  size_t at = 0;
};

/// The element type that `descr` means; `swap` where the bytes of an element
/// stand in the other order.
Expected<ElementType> typeOfDescr(const std::string &descr,
                                  const NpyReadOptions &options, bool &swap) {
  Status unknown = Status::error(
      "npy: the dtype '" + descr +
      "' has no counterpart; expected '<f8', '<f4', '<f2', '<i8', '<i4', "
      "'<i2', '|i1', '|b1', '<V2' for bf16, or '|V1' where an 8-bit float is "
      "expected" +
      (options.expected ? std::string(" (the expected type is ") +
                              nameOf(*options.expected) + ")"
                        : std::string()));
  if (descr.size() != 3)
    return unknown;
  char order = descr[0];
  std::string kind = descr.substr(1);
  if (order != '<' && order != '>' && order != '|' && order != '=')
    return unknown;
  // Only opaque and single-byte elements have no order.
  if (order == '|' && kind != "V2" && kind[1] != '1')
    return unknown;
  swap = order == '>' && kind[1] != '1';
  if (kind == "f8")
    return ElementType::F64;
  if (kind == "f4")
    return ElementType::F32;
  if (kind == "f2")
    return ElementType::F16;
  if (kind == "i8")
    return options.expected == ElementType::Index ? ElementType::Index
                                                  : ElementType::I64;
  if (kind == "i4")
    return ElementType::I32;
  if (kind == "i2")
    return ElementType::I16;
  if (kind == "i1")
    return ElementType::I8;
  // An opaque byte does not say which format it has.
  if ((kind == "V1" || kind == "u1" || kind == "f1") &&
      (options.expected == ElementType::F8E4M3FN ||
       options.expected == ElementType::F8E5M2))
    return *options.expected;
  if (kind == "b1" || (kind == "u1" && options.expected == ElementType::I1))
    return ElementType::I1;
  if (kind == "V2" || (kind == "u2" && options.expected == ElementType::BF16))
    return ElementType::BF16;
  return unknown;
}

const char *descrOf(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return "<f8";
  case ElementType::F32:
    return "<f4";
  case ElementType::F16:
    return "<f2";
  case ElementType::BF16:
    return "<V2";
  case ElementType::I64:
  case ElementType::Index:
    return "<i8";
  case ElementType::I32:
    return "<i4";
  case ElementType::I16:
    return "<i2";
  case ElementType::I8:
    return "|i1";
  case ElementType::I1:
    return "|b1";
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
    return "|V1";
  }
  return "";
}

std::string headerText(const Tensor &tensor) {
  std::string dictionary = std::string("{'descr': '") + descrOf(tensor.type()) +
                           "', 'fortran_order': False, 'shape': (";
  for (int64_t size : tensor.shape())
    dictionary += std::to_string(size) + (tensor.rank() == 1 ? "," : ", ");
  if (tensor.rank() > 1)
    dictionary.resize(dictionary.size() - 2);
  dictionary += "), }";
  // The elements begin at a multiple of 64 bytes; the header ends in newline.
  while ((10 + dictionary.size() + 1) % 64 != 0)
    dictionary += ' ';
  dictionary += '\n';
  std::string header(npyMagic, 6);
  header += '\1';
  header += '\0';
  header += static_cast<char>(dictionary.size() & 0xff);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

Status checkWritable(const Tensor &tensor) {
  if (tensor.isNull())
    return Status::error("npy: a null tensor cannot be written");
  if (tensor.rank() > static_cast<int64_t>(maxRank))
    return Status::error("npy: expected at most " + std::to_string(maxRank) +
                         " axes, found " + std::to_string(tensor.rank()));
  return Status::success();
}

bool hasNpyMagic(Bytes bytes) {
  return std::memcmp(bytes.data(), npyMagic, 6) == 0;
}

Status noNpyMagic() {
  return Status::error("npy: expected the magic bytes 93 'NUMPY' at byte 0");
}

Expected<Tensor> parse(Bytes bytes, const NpyReadOptions &options) {
  if (bytes.size() < 10)
    return Status::error("npy: expected at least 10 bytes, found " +
                         std::to_string(bytes.size()));
  if (!hasNpyMagic(bytes))
    return noNpyMagic();
  unsigned major = bytes[6], minor = bytes[7];
  if (major < 1 || major > 3 || minor != 0)
    return Status::error("npy: expected version 1.0, 2.0 or 3.0 at byte 6, "
                         "found " +
                         std::to_string(major) + "." + std::to_string(minor));
  size_t prefix = major == 1 ? 10 : 12;
  if (bytes.size() < prefix)
    return Status::error("npy: the file ends inside the header's length");
  uint64_t headerBytes = uint64_t(bytes[8]) | uint64_t(bytes[9]) << 8;
  if (major > 1)
    headerBytes |= uint64_t(bytes[10]) << 16 | uint64_t(bytes[11]) << 24;
  if (headerBytes > maxHeaderBytes)
    return Status::error("npy: expected a header of at most " +
                         std::to_string(maxHeaderBytes) + " bytes, found " +
                         std::to_string(headerBytes) + " at byte 8");
  if (headerBytes > bytes.size() - prefix)
    return Status::error("npy: the header at byte 8 takes " +
                         std::to_string(headerBytes) + " bytes, found " +
                         std::to_string(bytes.size() - prefix));

  Header header;
  TRACEA_RETURN_IF_ERROR(
      HeaderScanner(reinterpret_cast<const char *>(bytes.data()) + prefix,
                    headerBytes, prefix)
          .read(header));
  bool swap = false;
  Expected<ElementType> type = typeOfDescr(header.descr, options, swap);
  if (!type)
    return type.status();

  int64_t elementSize = sizeOf(*type);
  std::optional<int64_t> count = countElements(header.shape);
  int64_t expectedBytes = 0;
  if (!count || __builtin_mul_overflow(*count, elementSize, &expectedBytes))
    return Status::error("npy: an array of shape " +
                         describeShape(header.shape) +
                         " does not fit into 64 bits");
  Bytes body =
      bytes.subspan(prefix + headerBytes, bytes.size() - prefix - headerBytes);
  if (static_cast<uint64_t>(expectedBytes) != body.size())
    return Status::error("npy: an array of shape " +
                         describeShape(header.shape) + " of '" + header.descr +
                         "' takes " + std::to_string(expectedBytes) +
                         " bytes, found " + std::to_string(body.size()) +
                         " after byte " + std::to_string(prefix + headerBytes));
  if (*type == ElementType::I1)
    for (size_t i = 0; i < body.size(); ++i)
      if (body[i] > 1)
        return Status::error("npy: expected booleans to be 0 or 1, found " +
                             std::to_string(body[i]) + " at byte " +
                             std::to_string(prefix + headerBytes + i));

  Expected<Tensor> tensor = Tensor::allocate(*type, header.shape);
  if (!tensor || *count == 0)
    return tensor;
  char *data = tensor->dataAs<char>();
  if (!header.fortranOrder) {
    std::memcpy(data, body.data(), body.size());
  } else {
    std::vector<int64_t> columnMajor(header.shape.size());
    int64_t step = 1;
    for (size_t i = 0; i < columnMajor.size(); ++i) {
      columnMajor[i] = step;
      step *= header.shape[i];
    }
    copyStrided(reinterpret_cast<const char *>(body.data()), columnMajor, data,
                tensor->strides(), header.shape, elementSize);
  }
  if (swap)
    for (int64_t i = 0; i < *count; ++i)
      std::reverse(data + i * elementSize, data + (i + 1) * elementSize);
  return tensor;
}

} // namespace

Expected<Tensor> parseNpy(Bytes bytes, const NpyReadOptions &options) {
  try {
    return parse(bytes, options);
  } catch (const std::bad_alloc &) {
    return Status::outOfMemory("npy: out of memory");
  }
}

Expected<Tensor> readNpy(const std::string &path,
                         const NpyReadOptions &options) {
  ReadLimit limit = [&](Bytes head) -> Expected<uint64_t> {
    if (head.size() >= sizeof npyMagic && !hasNpyMagic(head))
      return noNpyMagic();
    return options.maxBytes;
  };
  Expected<std::vector<uint8_t>> bytes = readFile(path, limit);
  if (!bytes)
    return bytes.status();
  Expected<Tensor> tensor = parseNpy(*bytes, options);
  if (!tensor)
    return tensor.status().withContext(path);
  return tensor;
}

Expected<std::vector<uint8_t>> serializeNpy(const Tensor &tensor) {
  TRACEA_RETURN_IF_ERROR(checkWritable(tensor));
  try {
    std::string header = headerText(tensor);
    std::vector<uint8_t> bytes(header.begin(), header.end());
    bytes.resize(header.size() + static_cast<size_t>(tensor.byteSize()));
    if (tensor.numElements() != 0)
      copyStrided(static_cast<const char *>(tensor.data()), tensor.strides(),
                  reinterpret_cast<char *>(bytes.data()) + header.size(),
                  rowMajorStrides(tensor.shape()), tensor.shape(),
                  sizeOf(tensor.type()));
    return bytes;
  } catch (const std::bad_alloc &) {
    return Status::outOfMemory("npy: out of memory");
  }
}

Status writeNpy(const std::string &path, const Tensor &tensor) {
  TRACEA_RETURN_IF_ERROR(checkWritable(tensor));
  Tensor contiguous = tensor;
  if (!tensor.isContiguous()) {
    Expected<Tensor> copy = tensor.clone();
    if (!copy)
      return copy.status().withContext(path);
    contiguous = *copy;
  }
  std::string header = headerText(contiguous);
  Bytes pieces[] = {
      Bytes(reinterpret_cast<const unsigned char *>(header.data()),
            header.size()),
      Bytes(contiguous.dataAs<const unsigned char>(),
            static_cast<size_t>(contiguous.byteSize()))};
  return writeFileAtomic(path, pieces);
}

} // namespace tracea::runtime
