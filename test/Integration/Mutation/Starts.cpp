//===- Starts.cpp - Start kernels and what they mean ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Campaign.h"

#include "tracea/Compiler/Compiler.h"
#include "tracea/Runtime/CPU/CPUDevice.h"
#include "tracea/Runtime/Executable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cstdio>
#include <cstdlib>

using namespace mlir;
using namespace ::tracea;
using namespace ::tracea::mutants;
namespace mut = ::tracea::mutants;
using numerics::ElementType;

namespace rt = ::tracea::runtime;

[[noreturn]] static void fail(const std::string &path, const std::string &why) {
  std::fprintf(stderr, "tracea-mutants: %s: %s\n", path.c_str(), why.c_str());
  std::exit(2);
}

std::unique_ptr<MLIRContext> mut::makeContext() {
  DialectRegistry registry;
  compiler::registerAllDialects(registry);
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

std::string Run::describe() const {
  std::string text;
  for (const HostTensor &input : inputs)
    text += numerics::listOf(input.shape);
  return text;
}

namespace {

/// The head of a start.
struct Head {
  std::string target;
  std::vector<std::vector<Shape>> sizes, wrong;
  double tolerance = 0;
  std::map<size_t, std::vector<double>> values;
  std::vector<size_t> positive;
};

} // namespace

static std::vector<std::vector<Shape>> parseSizes(StringRef text) {
  std::vector<std::vector<Shape>> lists;
  SmallVector<StringRef> runs;
  text.split(runs, '|');
  for (StringRef run : runs) {
    lists.emplace_back();
    for (StringRef tensor : llvm::split(run.trim(), ' ')) {
      Shape shape;
      for (StringRef extent : llvm::split(tensor, 'x')) {
        int64_t value;
        if (!extent.getAsInteger(10, value))
          shape.push_back(value);
      }
      lists.back().push_back(shape);
    }
  }
  return lists;
}

static Head parseHead(const std::string &path, StringRef text) {
  Head head;
  for (StringRef line : llvm::split(text, '\n')) {
    if (!line.consume_front("// "))
      continue;
    auto [key, value] = line.split(':');
    value = value.trim();
    if (key == "target")
      head.target = value.str();
    else if (key == "sizes")
      head.sizes = parseSizes(value);
    else if (key == "wrong")
      head.wrong = parseSizes(value);
    else if (key == "tolerance")
      head.tolerance = std::atof(value.str().c_str());
    else if (key == "positive")
      head.positive.push_back(std::atoi(value.str().c_str()));
    else if (key.consume_front("values "))
      for (StringRef item : llvm::split(value, ' '))
        head.values[std::atoi(key.str().c_str())].push_back(
            std::atof(item.str().c_str()));
  }
  if (head.target.empty() || head.sizes.empty())
    fail(path, "expected '// target:' and '// sizes:'");
  return head;
}

/// Small integers have equal sums in any order; fractions are for kernels that
/// round.
static HostTensor makeInput(Random &random, ElementType type,
                            const Shape &shape, size_t number, const Head &head,
                            bool fractions) {
  HostTensor tensor{type, shape, {}};
  auto given = head.values.find(number);
  bool positive = llvm::is_contained(head.positive, number);
  int64_t count = numerics::countOf(shape);
  for (int64_t i = 0; i < count; ++i) {
    double value;
    if (given != head.values.end()) {
      value = given->second[i % given->second.size()];
    } else if (fractions && !numerics::isInteger(type)) {
      value = double(numerics::roundTo(type, random.uniform() * 2 - 1));
    } else {
      value = double(random.between(-7, 7));
      if (value == 0)
        value = 5;
    }
    tensor.values.push_back(positive ? std::abs(value) : value);
  }
  return tensor;
}

/// The outputs of the module's meaning in float64.
static std::vector<HostTensor> evaluate(const std::string &path,
                                        rt::Executable &executable,
                                        const std::vector<HostTensor> &inputs) {
  std::vector<rt::Tensor> tensors;
  for (const HostTensor &input : inputs) {
    bool wide = rt::isFloat(input.type);
    ElementType type = wide ? ElementType::F64 : input.type;
    rt::Expected<rt::Tensor> tensor =
        rt::Tensor::allocate(type, {input.shape.data(), input.shape.size()});
    if (!tensor)
      fail(path, tensor.message());
    for (size_t i = 0; i < input.values.size(); ++i) {
      if (wide) {
        tensor->dataAs<double>()[i] = input.values[i];
        continue;
      }
      auto value = static_cast<int64_t>(input.values[i]); // little-endian
      std::memcpy(static_cast<char *>(tensor->data()) + i * rt::sizeOf(type),
                  &value, rt::sizeOf(type));
    }
    tensors.push_back(*tensor);
  }
  rt::Expected<std::vector<rt::Tensor>> outputs =
      executable.run("", {tensors.data(), tensors.size()});
  if (!outputs)
    fail(path, "its meaning does not run: " + outputs.message());
  std::vector<HostTensor> result;
  for (const rt::Tensor &output : *outputs) {
    HostTensor tensor{output.type(), output.shape(), {}};
    for (int64_t i = 0; i < output.numElements(); ++i)
      tensor.values.push_back(
          rt::readAsDouble(output.type(), static_cast<char *>(output.data()) +
                                              i * rt::sizeOf(output.type())));
    result.push_back(std::move(tensor));
  }
  return result;
}

/// The types of what the entry takes and gives.
static std::pair<std::vector<ElementType>, std::vector<ElementType>>
getTypes(const std::string &path, ModuleOp module) {
  std::pair<std::vector<ElementType>, std::vector<ElementType>> types;
  auto list = [&](TypeRange from, std::vector<ElementType> &to) {
    for (Type type : from) {
      std::string name;
      llvm::raw_string_ostream(name) << cast<ShapedType>(type).getElementType();
      std::optional<ElementType> element = rt::parseElementType(name);
      if (!element)
        fail(path, "has an argument of " + name);
      to.push_back(*element);
    }
  };
  for (auto function : module.getOps<FunctionOpInterface>()) {
    list(function.getArgumentTypes(), types.first);
    list(function.getResultTypes(), types.second);
  }
  return types;
}

Start mut::readStart(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    fail(path, file.getError().message());
  Start start;
  start.name = llvm::sys::path::stem(path).str();
  start.text = (*file)->getBuffer().str();
  Head head = parseHead(path, start.text);
  start.target = head.target;
  start.onGPU = StringRef(start.target).starts_with("sm_");

  std::unique_ptr<MLIRContext> context = makeContext();
  OwningOpRef<ModuleOp> module =
      compiler::parseModule(start.text, *context, path);
  if (!module)
    fail(path, "does not parse");
  std::vector<ElementType> inputs, outputs;
  std::tie(inputs, outputs) = getTypes(path, *module);
  compiler::CompileOptions options;
  options.reference = true;
  FailureOr<rt::ProgramFile> program =
      compiler::compileToProgram(*module, options);
  if (failed(program))
    fail(path, "has no meaning");
  rt::CPUDeviceOptions one;
  one.threads = 1;
  rt::Expected<std::shared_ptr<rt::Executable>> executable =
      rt::Executable::load(std::move(*program), *rt::createCPUDevice(one));
  if (!executable)
    fail(path, executable.message());

  Random random(1);
  auto add = [&](const std::vector<Shape> &shapes, bool fractions,
                 bool refused) {
    if (shapes.size() != inputs.size())
      fail(path, "expected " + std::to_string(inputs.size()) +
                     " shapes, found " + std::to_string(shapes.size()));
    Run run;
    for (size_t i = 0; i < shapes.size(); ++i)
      run.inputs.push_back(
          makeInput(random, inputs[i], shapes[i], i, head, fractions));
    run.refused = refused;
    run.tolerance = fractions ? std::max(head.tolerance, 1e-4) : 0;
    if (fractions)
      for (ElementType type : outputs)
        run.tolerance =
            std::max(run.tolerance, 4 * double(numerics::unitRoundoff(type)));
    if (head.tolerance != 0)
      run.tolerance = head.tolerance;
    if (!refused) {
      run.expected = evaluate(path, **executable, run.inputs);
      for (size_t i = 0; i < run.expected.size(); ++i) {
        run.expected[i].type = outputs[i];
        for (double &value : run.expected[i].values)
          value = double(numerics::roundTo(outputs[i], value));
      }
    }
    start.runs.push_back(std::move(run));
  };
  for (const std::vector<Shape> &shapes : head.sizes)
    add(shapes, head.tolerance != 0, false);
  if (head.tolerance == 0)
    add(head.sizes.front(), true, false);
  for (const std::vector<Shape> &shapes : head.wrong)
    add(shapes, false, true);
  return start;
}

std::string mut::compare(const Run &run, size_t output, const Shape &shape,
                         const std::vector<double> &values) {
  const HostTensor &expected = run.expected[output];
  std::string which =
      std::string(otherValues) + "output " + std::to_string(output);
  if (shape != expected.shape)
    return which + " has shape " + numerics::listOf(shape) + " and not " +
           numerics::listOf(expected.shape);
  double scale = 0;
  for (double value : expected.values)
    scale = std::max(scale, std::abs(value));
  double allowed = run.tolerance * scale;
  int64_t wrong = 0;
  std::string first;
  for (size_t i = 0; i < values.size(); ++i) {
    double got = values[i], want = expected.values[i];
    if (got == want || std::abs(got - want) <= allowed ||
        (std::isnan(got) && std::isnan(want)))
      continue;
    if (wrong++ == 0) {
      char text[120];
      std::snprintf(text, sizeof text, " element %zu is %.9g and not %.9g", i,
                    got, want);
      first = text;
    }
  }
  if (wrong == 0)
    return "";
  return which + first + " (" + std::to_string(wrong) + " of " +
         std::to_string(values.size()) + " differ)";
}
