//===- NumericsGather.cpp - Elements that data names ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of a table that one tensor names, or elements whose row and column two
// tensors name. All that is named is there.

#include "Numerics.h"

#include <memory>

using namespace tracea;
using namespace tracea::numerics;

namespace {
struct Gather {
  ExpectedTensor compute(const std::vector<HostTensor> &inputs) const;
  HostTensor drawNumbers(Random &random, int extent) const;

  Sizes sizes;
  ElementType type = ElementType::F32, indexType = ElementType::I32;
  /// Dimensions of the tensors of numbers.
  std::vector<int> places;
  int rows = 0, columns = 0;
  /// Whether columns are named too.
  bool namesColumns = false;
  SizedType table, result;
};
} // namespace

HostTensor Gather::drawNumbers(Random &random, int extent) const {
  HostTensor numbers{indexType, sizes.at(places), {}};
  for (int64_t i = 0, count = countOf(numbers.shape); i < count; ++i)
    numbers.values.push_back(double(random.below(sizes[extent])));
  return numbers;
}

ExpectedTensor Gather::compute(const std::vector<HostTensor> &inputs) const {
  ExpectedTensor expected{type, sizes.at(result.dims), {}};
  int64_t width = sizes[columns];
  forEachIndex(expected.shape, [&](const Shape &index, int64_t linear) {
    int64_t place = namesColumns || width == 0 ? linear : linear / width;
    auto row = static_cast<int64_t>(inputs[1].values[place]);
    int64_t column = namesColumns
                         ? static_cast<int64_t>(inputs[2].values[place])
                         : index.back();
    expected.values.push_back({inputs[0].values[row * width + column], 0});
  });
  return expected;
}

/// The operation, for tables and numbers that are arguments.
static std::string textOf(const Gather &gather, const ModuleText &text,
                          const std::vector<std::string> &names,
                          const SizedType &numbers, const std::string &init) {
  std::vector<std::string> dims, some, iterators, operands, types, block;
  for (size_t i = 0; i < gather.result.dims.size(); ++i) {
    dims.push_back("d" + std::to_string(i));
    iterators.push_back("\"parallel\"");
    if (i < gather.places.size())
      some.push_back(dims.back());
  }
  auto mapTo = [&](const std::vector<std::string> &results) {
    return "affine_map<(" + join(dims, ", ") + ") -> (" + join(results, ", ") +
           ")>";
  };
  std::vector<std::string> maps(names.size(), mapTo(some));
  maps.push_back(mapTo(dims));
  std::string index = nameOf(gather.indexType), element = nameOf(gather.type);
  for (const std::string &name : names) {
    operands.push_back("%" + name);
    types.push_back(text.textOf(numbers));
    block.push_back("%i" + name + ": " + index);
  }
  block.push_back("%o: " + element);
  std::string result = text.textOf(gather.result);
  std::string op = "%r = linalg.generic {indexing_maps = [" + join(maps, ", ") +
                   "], iterator_types = [" + join(iterators, ", ") + "]} ins(" +
                   join(operands, ", ") + " : " + join(types, ", ") +
                   ") outs(" + init + " : " + result + ") {\n  ^bb0(" +
                   join(block, ", ") + "):\n";
  op += "    %row = arith.index_cast %i" + names[0] + " : " + index +
        " to index\n";
  op += "    %column = " +
        (gather.namesColumns
             ? "arith.index_cast %i" + names[1] + " : " + index + " to index"
             : "linalg.index " + std::to_string(gather.places.size()) +
                   " : index") +
        "\n";
  op += "    %e = tensor.extract %x[%row, %column] : " +
        text.textOf(gather.table) + "\n    linalg.yield %e : " + element +
        "\n  } -> " + result;
  return op;
}

Case numerics::generateGather(Random &random, bool large) {
  auto gather = std::make_shared<Gather>();
  Sizes &sizes = gather->sizes;
  gather->type =
      random.pick({ElementType::F32, ElementType::F16, ElementType::BF16,
                   ElementType::F64, ElementType::I32, ElementType::I8});
  gather->indexType = random.pick({ElementType::I32, ElementType::I64});
  gather->namesColumns = random.chance(0.4);
  const std::vector<int64_t> others = {1, 2, 7, 33, 64, 130};
  int rank = random.chance(0.3) ? 2 : 1;
  for (int i = 0; i < rank; ++i)
    gather->places.push_back(sizes.add(
        random.pick({0, 1, 2, 7, 31, 64, large ? 1000 : 100}), {0, 1, 5, 40}));
  gather->rows = sizes.add(random.pick({1, 2, 13, 64, 300}), others);
  // What is named must be there.
  gather->columns = sizes.add(random.pick({1, 2, 8, 63, 64, 257}), others);

  ModuleText text(sizes);
  double dynamicChance = random.pick({0.0, 0.3, 0.7, 1.0});
  gather->table = text.draw(random, gather->type,
                            {gather->rows, gather->columns}, dynamicChance);
  SizedType numbers =
      text.draw(random, gather->indexType, gather->places, dynamicChance);
  std::vector<int> dims = gather->places;
  if (!gather->namesColumns)
    dims.push_back(gather->columns);
  gather->result = text.draw(random, gather->type, dims, dynamicChance);
  text.argument("x", gather->table);
  std::vector<std::string> names = {"t"};
  if (gather->namesColumns)
    names.push_back("u");
  for (const std::string &name : names)
    text.argument(name, numbers);
  std::string init = text.empty(gather->result);
  text.line(textOf(*gather, text, names, numbers, init));

  Case result;
  result.name = "gather " + std::string(nameOf(gather->type)) + " " +
                listOf(sizes.at(dims));
  result.text = text.finish({"%r"}, {gather->result});
  result.dynamic = sizes.anyFree();
  result.make = [gather](Random &random, bool first) {
    gather->sizes.reset();
    if (!first)
      gather->sizes.draw(random);
    Instance instance;
    instance.inputs.push_back(randomTensor(random, gather->type,
                                           gather->sizes.at(gather->table.dims),
                                           pickFill(random)));
    instance.inputs.push_back(gather->drawNumbers(random, gather->rows));
    if (gather->namesColumns)
      instance.inputs.push_back(gather->drawNumbers(random, gather->columns));
    instance.outputs.push_back(gather->compute(instance.inputs));
    return instance;
  };
  return result;
}
