//===- ManifestReader.h - Takes values out of a JSON document ---*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the readers of the manifest's parts share. The first error wins and
// carries its JSON path.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_RUNTIME_CORE_MANIFESTREADER_H
#define TRACEA_LIB_RUNTIME_CORE_MANIFESTREADER_H

#include "tracea/Runtime/Manifest.h"

#include <nlohmann/json.hpp>

#include <limits>

namespace tracea::runtime::manifest {

// Objects keep the order in which fields are added: a manifest reads in the
// order of its documentation.
using Json = nlohmann::ordered_json;

/// Takes values out of the document. Every `read` returns false after the
/// first failure, which is then in `error`.
class Reader {
public:
  std::string error;
  /// The manifest's, once it is known.
  int64_t format = manifestFormat;
  /// Whether the target has a grid, once it is known.
  bool hasGrid = false;

  bool fail(const std::string &what) {
    if (error.empty())
      error = path() + ": " + what;
    return false;
  }

  /// An object with exactly these fields: name, a function that reads it, and
  /// whether it is one of them here.
  template <typename... Fields>
  bool object(const Json &value, Fields &&...fields) {
    if (!value.is_object())
      return wrong(value, "an object");
    size_t known = 0;
    bool ok = (field(value, known, fields) && ...);
    if (!ok)
      return false;
    if (known == value.size())
      return true;
    for (const auto &item : value.items())
      if (!(... || (fields.wanted && item.key() == fields.name)))
        return fail("unknown field \"" + item.key().substr(0, 64) + "\"");
    return true;
  }

  /// An array whose elements `read` appends to `out`.
  template <typename T, typename Read>
  bool array(const Json &value, std::vector<T> &out, Read &&read) {
    if (!value.is_array())
      return wrong(value, "an array");
    out.resize(value.size());
    for (size_t i = 0; i < value.size(); ++i) {
      places.push_back({nullptr, i});
      if (!read(value[i], out[i]))
        return false;
      places.pop_back();
    }
    return true;
  }

  bool integer(const Json &value, int64_t &out) {
    if (!value.is_number_integer() ||
        (value.is_number_unsigned() &&
         value.get<uint64_t>() >
             static_cast<uint64_t>(std::numeric_limits<int64_t>::max())))
      return wrong(value, "a 64-bit integer");
    out = value.get<int64_t>();
    return true;
  }

  bool string(const Json &value, std::string &out) {
    if (!value.is_string())
      return wrong(value, "a string");
    out = value.get<std::string>();
    return true;
  }

  bool strings(const Json &value, std::vector<std::string> &out) {
    return array(value, out, [this](const Json &element, std::string &text) {
      return string(element, text);
    });
  }

  bool integers(const Json &value, std::vector<int64_t> &out) {
    return array(value, out, [this](const Json &element, int64_t &number) {
      return integer(element, number);
    });
  }

  bool type(const Json &value, ElementType &out) {
    std::string name;
    if (!string(value, name))
      return false;
    std::optional<ElementType> parsed = parseElementType(name);
    if (!parsed)
      return fail("expected an element type, found \"" + name.substr(0, 64) +
                  "\"");
    out = *parsed;
    return true;
  }

  bool wrong(const Json &value, const char *expected) {
    return fail(std::string("expected ") + expected + ", found " +
                value.type_name());
  }

private:
  struct Place {
    const char *name; // Null for an element of an array.
    size_t index;
  };

  template <typename OneField>
  bool field(const Json &value, size_t &known, OneField &one) {
    if (!one.wanted)
      return true;
    auto found = value.find(one.name);
    if (found == value.end())
      return fail(std::string("the field \"") + one.name + "\" is missing");
    ++known;
    places.push_back({one.name, 0});
    if (!one.read(*found))
      return false;
    places.pop_back();
    return true;
  }

  std::string path() const {
    std::string text = "$";
    for (const Place &place : places)
      text += place.name ? std::string(".") + place.name
                         : "[" + std::to_string(place.index) + "]";
    return text;
  }

  std::vector<Place> places;
};

template <typename Read>
struct Field {
  const char *name;
  Read read;
  bool wanted;
  Field(const char *name, Read read, bool wanted = true)
      : name(name), read(read), wanted(wanted) {}
};

/// The field where `wanted`, else none.
template <typename Read>
Field<Read> onlyIf(bool wanted, Field<Read> field) {
  field.wanted = wanted;
  return field;
}

/// The usual fields: a name and the member it goes to.
inline auto text(Reader &r, const char *name, std::string &out) {
  return Field{name, [&](const Json &v) { return r.string(v, out); }};
}
inline auto texts(Reader &r, const char *name, std::vector<std::string> &out) {
  return Field{name, [&](const Json &v) { return r.strings(v, out); }};
}
inline auto number(Reader &r, const char *name, int64_t &out) {
  return Field{name, [&](const Json &v) { return r.integer(v, out); }};
}
inline auto numbers(Reader &r, const char *name, std::vector<int64_t> &out) {
  return Field{name, [&](const Json &v) { return r.integers(v, out); }};
}
inline auto elementType(Reader &r, const char *name, ElementType &out) {
  return Field{name, [&](const Json &v) { return r.type(v, out); }};
}
template <typename T>
auto list(Reader &r, const char *name, std::vector<T> &out,
          bool (*read)(Reader &, const Json &, T &)) {
  return Field{name, [&r, &out, read](const Json &v) {
                 return r.array(v, out, [&r, read](const Json &e, T &item) {
                   return read(r, e, item);
                 });
               }};
}

/// A value by its name out of `count` ones.
template <typename T>
bool readName(Reader &r, const Json &value, int count, T &out) {
  std::string name;
  if (!r.string(value, name))
    return false;
  std::string known;
  for (int i = 0; i < count; ++i) {
    T candidate = static_cast<T>(i);
    if (name == nameOf(candidate)) {
      out = candidate;
      return true;
    }
    known += (i ? ", " : "") + std::string(nameOf(candidate));
  }
  return r.fail("expected one of " + known + ", found \"" + name.substr(0, 64) +
                "\"");
}

bool readView(Reader &r, const Json &value, ViewSpec &view);
Json writeView(const ViewSpec &view);

/// The parts that only targets with a grid have (ManifestGPU.cpp).
bool readGPUKernel(Reader &r, const Json &value, GPUKernelSpec &gpu);
bool readImage(Reader &r, const Json &value, ImageSpec &image);
bool readTensorMap(Reader &r, const Json &value, ArgSpec &arg);
Json writeGPUKernel(const GPUKernelSpec &gpu);
Json writeImage(const ImageSpec &image);
Json writeTensorMap(const ArgSpec &arg);

} // namespace tracea::runtime::manifest

#endif // TRACEA_LIB_RUNTIME_CORE_MANIFESTREADER_H
