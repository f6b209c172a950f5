//===- Inputs.cpp - Tensors that a run is given ---------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Inputs.h"

#include "tracea/Runtime/Npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>

using namespace tracea::driver;
namespace rt = tracea::runtime;

/// splitmix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number
/// Generators", 2014): the same numbers on every machine.
static uint64_t nextRandom(uint64_t &state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static void fillRandom(const rt::Tensor &tensor, uint64_t seed) {
  uint64_t state = seed;
  auto unit = [&] { // [-1, 1), exact in 24 bits
    return static_cast<float>(nextRandom(state) >> 40) * 0x1p-23f - 1.0f;
  };
  auto small = [&] {
    return static_cast<int64_t>(nextRandom(state) >> 60) - 8;
  };
  int64_t bytes = rt::sizeOf(tensor.type());
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    switch (tensor.type()) {
    case rt::ElementType::I64:
      tensor.dataAs<int64_t>()[i] = small();
      break;
    case rt::ElementType::Index:
      tensor.dataAs<int64_t>()[i] = small() + 8;
      break;
    case rt::ElementType::I32:
      tensor.dataAs<int32_t>()[i] = static_cast<int32_t>(small());
      break;
    case rt::ElementType::I16:
      tensor.dataAs<int16_t>()[i] = static_cast<int16_t>(small());
      break;
    case rt::ElementType::I8:
      tensor.dataAs<int8_t>()[i] = static_cast<int8_t>(small());
      break;
    case rt::ElementType::I1:
      tensor.dataAs<uint8_t>()[i] = static_cast<uint8_t>(small() & 1);
      break;
    default:
      // The cast to 16 bits may reach 1, which is harmless.
      rt::writeFromDouble(tensor.type(), static_cast<double>(unit()),
                          tensor.dataAs<char>() + i * bytes);
    }
}

namespace {
struct ShapeOption {
  size_t input = 0;
  std::vector<int64_t> sizes;
};
} // namespace

bool tracea::driver::parseInteger(const std::string &text, int64_t &value) {
  const char *end = text.data() + text.size();
  std::from_chars_result result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end && !text.empty() &&
         value >= 0;
}

static Expected<uint64_t> parseSeed(const std::string &text) {
  const char *end = text.data() + text.size();
  uint64_t seed = 0;
  std::from_chars_result result = std::from_chars(text.data(), end, seed);
  if (result.ec != std::errc() || result.ptr != end)
    return Status::error("--random-inputs=" + text +
                         ": expected a number from 0 to " +
                         std::to_string(~uint64_t(0)));
  return seed;
}

/// "0=128x256"; "2=" is a scalar.
static Expected<ShapeOption> parseShape(const std::string &text) {
  Status bad = Status::error("--shape " + text +
                             ": expected INDEX=AxBxC, for example 0=128x256");
  size_t equals = text.find('=');
  int64_t index = 0;
  if (equals == std::string::npos ||
      !parseInteger(text.substr(0, equals), index))
    return bad;
  ShapeOption option;
  option.input = static_cast<size_t>(index);
  std::string rest = text.substr(equals + 1);
  while (!rest.empty()) {
    size_t cut = rest.find('x');
    int64_t size = 0;
    if (!parseInteger(rest.substr(0, cut), size) || cut + 1 == rest.size())
      return bad;
    option.sizes.push_back(size);
    rest = cut == std::string::npos ? "" : rest.substr(cut + 1);
  }
  return option;
}

/// Whether a tensor of that type and shape may stand as the input.
static bool matches(const rt::InputSpec &spec, rt::ElementType type,
                    const std::vector<int64_t> &shape) {
  if (type != spec.type || shape.size() != spec.shape.size())
    return false;
  for (size_t i = 0; i < shape.size(); ++i)
    if (spec.shape[i] != rt::dynamicSize && spec.shape[i] != shape[i])
      return false;
  return true;
}

static std::string describeInput(const rt::EntrySpec &entry, size_t index) {
  return "input " + std::to_string(index) + " ('" + entry.inputs[index].name +
         "')";
}

/// A number that stands for itself, where the text is one that the type has.
static std::optional<rt::Tensor> parseScalar(rt::ElementType type,
                                             const std::string &text) {
  rt::Expected<rt::Tensor> tensor = rt::Tensor::allocate(type, {});
  const char *end = text.data() + text.size();
  std::from_chars_result result{};
  bool fits = true;
  if (rt::isFloat(type)) {
    double value = 0;
    result = std::from_chars(text.data(), end, value);
    if (tensor.ok())
      rt::writeFromDouble(type, value, tensor->data());
  } else {
    int64_t value = 0;
    result = std::from_chars(text.data(), end, value);
    int bits = type == rt::ElementType::I1
                   ? 1
                   : static_cast<int>(8 * rt::sizeOf(type));
    int64_t most = bits == 1 ? 1 : (int64_t(1) << (bits - 2)) * 2 - 1;
    fits = value <= most && value >= (bits == 1 ? 0 : -most - 1);
    if (tensor.ok())
      std::memcpy(tensor->data(), &value,
                  static_cast<size_t>(rt::sizeOf(type)));
  }
  bool isNumber =
      !text.empty() && result.ec == std::errc() && result.ptr == end && fits;
  if (!tensor || !isNumber)
    return std::nullopt;
  return *tensor;
}

static Expected<InputTensor> readTensor(const rt::EntrySpec &entry,
                                        size_t index, const std::string &path) {
  const rt::InputSpec &spec = entry.inputs[index];
  if (spec.isScalar)
    if (std::optional<rt::Tensor> number = parseScalar(spec.type, path))
      return InputTensor{*number, "given"};
  rt::NpyReadOptions options;
  options.expected = spec.type;
  Expected<rt::Tensor> tensor = rt::readNpy(path, options);
  if (!tensor)
    return tensor.status().withContext(
        describeInput(entry, index) +
        (spec.isScalar ? std::string(": expected a number of type ") +
                             rt::nameOf(spec.type) + " or its file"
                       : ""));
  if (!matches(spec, tensor->type(), tensor->shape()))
    return Status::error(path + ": " + describeInput(entry, index) +
                         ": expected " + describeType(spec) + ", found " +
                         tensor->describe());
  return InputTensor{*tensor, path};
}

static Expected<InputTensor>
makeRandom(const rt::EntrySpec &entry, size_t index, uint64_t seed,
           const std::vector<ShapeOption> &shapes) {
  const rt::InputSpec &spec = entry.inputs[index];
  std::vector<int64_t> shape = spec.shape;
  bool given = false;
  for (const ShapeOption &option : shapes)
    if (option.input == index) {
      shape = option.sizes;
      given = true;
    }
  if (!given &&
      std::find(shape.begin(), shape.end(), rt::dynamicSize) != shape.end())
    return Status::error(describeInput(entry, index) + " is " +
                         describeType(spec.type, spec.shape) +
                         ": expected --shape " + std::to_string(index) +
                         "=… to say the sizes left open");
  if (!matches(spec, spec.type, shape))
    return Status::error("--shape of " + describeInput(entry, index) +
                         ": expected " + rt::describeShape(spec.shape) +
                         ", found " + rt::describeShape(shape));
  Expected<rt::Tensor> tensor = rt::Tensor::allocate(spec.type, shape);
  if (!tensor)
    return tensor.status().withContext(describeInput(entry, index));
  fillRandom(*tensor, seed + index * 0x9e3779b9u);
  return InputTensor{*tensor, "random, seed " + std::to_string(seed)};
}

Expected<std::vector<InputTensor>>
tracea::driver::makeInputs(const rt::EntrySpec &entry,
                           const InputOptions &options) {
  std::vector<ShapeOption> shapes;
  for (const std::string &text : options.shapes) {
    Expected<ShapeOption> shape = parseShape(text);
    if (!shape)
      return shape.status();
    if (!options.random)
      return Status::error("--shape " + text +
                           ": expected --random-inputs with it");
    if (shape->input >= entry.inputs.size())
      return Status::error("--shape " + text + ": entry '" + entry.name +
                           "' has " + std::to_string(entry.inputs.size()) +
                           " inputs");
    if (shape->input < options.inputs.size())
      return Status::error("--shape " + text + ": input " +
                           std::to_string(shape->input) + " is read from '" +
                           options.inputs[shape->input] + "'");
    shapes.push_back(std::move(*shape));
  }
  size_t given = options.inputs.size();
  size_t wanted = entry.inputs.size();
  if (given > wanted || (given < wanted && !options.random)) {
    std::string message = "entry '" + entry.name + "' takes " +
                          std::to_string(wanted) +
                          (wanted == 1 ? " input" : " inputs") + ", found " +
                          std::to_string(given);
    if (given < wanted) {
      message += "; missing";
      for (size_t i = given; i < wanted; ++i)
        message += std::string(i == given ? " " : ", ") + "'" +
                   entry.inputs[i].name + "' " + describeType(entry.inputs[i]);
      message += " (give --input, or --random-inputs)";
    }
    return Status::error(message);
  }
  Expected<uint64_t> seed = parseSeed(options.seed);
  if (!seed)
    return seed.status();
  std::vector<InputTensor> inputs;
  for (size_t i = 0; i < wanted; ++i) {
    Expected<InputTensor> input = i < given
                                      ? readTensor(entry, i, options.inputs[i])
                                      : makeRandom(entry, i, *seed, shapes);
    if (!input)
      return input.status();
    inputs.push_back(std::move(*input));
  }
  return inputs;
}
