//===- Runner.cpp - An entry of a program on a device ---------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runner.h"

#include <cstring>
#include <deque>

namespace tracea::python {

namespace {
/// A number in memory of the host.
struct Scalar {
  alignas(8) char bytes[8] = {};
  TraceaTensorView view{};

  void read(const std::string &name, TraceaDType dtype, nb::handle object) {
    view = {bytes, 0, nullptr, nullptr, dtype, TRACEA_CPU};
    auto put = [&](auto value) { std::memcpy(bytes, &value, sizeof value); };
    nb::object number = nb::borrow(object);
    if (nb::hasattr(number, "item"))
      number = number.attr("item")();
    switch (dtype) {
    case TRACEA_FLOAT32:
      return put(static_cast<float>(nb::cast<double>(number)));
    case TRACEA_FLOAT64:
      return put(nb::cast<double>(number));
    case TRACEA_INT8:
      return put(nb::cast<int8_t>(number));
    case TRACEA_INT16:
      return put(nb::cast<int16_t>(number));
    case TRACEA_INT32:
      return put(nb::cast<int32_t>(number));
    case TRACEA_INT64:
      return put(nb::cast<int64_t>(number));
    case TRACEA_BOOL:
      return put(static_cast<uint8_t>(nb::cast<bool>(number)));
    default:
      throwError(TRACEA_UNSUPPORTED_CONFIG, name + ": numbers of type " +
                                                dtypeName(dtype) +
                                                " cannot be given");
    }
  }
};

} // namespace

Runner::Runner(std::shared_ptr<ProgramHandle> handle, std::string entryName,
               int32_t device, int streams, bool graph, int64_t maxWorkspace)
    : handle(std::move(handle)), entryName(std::move(entryName)) {
  options.device_id = device;
  options.streams = streams;
  options.graph = graph;
  options.max_workspace_bytes = maxWorkspace;
  const char *name = this->entryName.c_str();
  TraceaProgram *program = this->handle->program;
  size_t numInputs = 0, numOutputs = 0;
  check(tracea_program_counts(program, name, &numInputs, &numOutputs));
  for (size_t i = 0; i < numInputs; ++i) {
    TraceaArgument argument = {};
    argument.size = sizeof argument;
    check(tracea_program_input(program, name, i, &argument));
    inputs.push_back({argument.name, argument.dtype,
                      Sizes(argument.shape, argument.shape + argument.rank),
                      argument.is_constant != 0, argument.is_scalar != 0});
    numConstants += argument.is_constant != 0;
    hasScalars |= argument.is_scalar != 0;
  }
  for (size_t i = 0; i < numOutputs; ++i) {
    TraceaArgument argument = {};
    argument.size = sizeof argument;
    check(tracea_program_output(program, name, i, &argument));
    outputTypes.push_back(argument.dtype);
  }
  bound.resize(numInputs);
  boundAt.resize(numInputs);
  lanes.push_back(makeLane());
}

void Runner::bind(nb::handle which, nb::handle object) {
  size_t index = findInput(which);
  if (!inputs[index].isConstant)
    throwError(TRACEA_INVALID_PARAMS,
               inputs[index].name + ": expected a constant argument, found "
                                    "one that each run is given");
  auto tensor = std::make_shared<Tensor>();
  tensor->read(inputs[index].name.c_str(), object);
  if (options.device_id >= 0 && !tensor->isRowMajor()) {
    nb::object dense = object.attr("contiguous")();
    tensor = std::make_shared<Tensor>();
    tensor->read(inputs[index].name.c_str(), dense);
  }
  if (tensor->view.device_id != options.device_id)
    throwError(TRACEA_INVALID_PARAMS,
               inputs[index].name + ": expected a tensor of device " +
                   std::to_string(options.device_id) + ", found one of " +
                   std::to_string(tensor->view.device_id));
  // Executions see it at their next run.
  numBound += !bound[index];
  bound[index] = std::move(tensor);
  boundAt[index] = ++bindings;
}

nb::object Runner::call(nb::args arguments, nb::handle out) {
  size_t count = nb::len(arguments);
  bool leavesOut = count != inputs.size();
  if (leavesOut &&
      (numBound != numConstants || count + numConstants != inputs.size()))
    throwError(TRACEA_INVALID_PARAMS,
               "expected " + std::to_string(inputs.size()) + " tensors" +
                   (numConstants == 0
                        ? ""
                        : ", or, once its " + std::to_string(numConstants) +
                              " constants are bound, " +
                              std::to_string(inputs.size() - numConstants)) +
                   "; found " + std::to_string(count));

  std::deque<Tensor> tensors;
  std::deque<Scalar> scalars;
  std::vector<TraceaTensorView> views(inputs.size());
  Sizes signature;
  const Tensor *producer = nullptr;
  for (size_t i = 0, next = 0; i < inputs.size(); ++i) {
    const Input &input = inputs[i];
    if (input.isConstant && leavesOut) {
      views[i] = bound[i]->view;
      continue;
    }
    nb::handle object = arguments[next++];
    if (input.isScalar) {
      scalars.emplace_back().read(input.name, input.dtype, object);
      views[i] = scalars.back().view;
      continue;
    }
    Tensor &tensor = tensors.emplace_back();
    tensor.read(input.name.c_str(), object);
    if (options.device_id >= 0 && !tensor.isRowMajor()) {
      nb::object dense = object.attr("contiguous")();
      Tensor &copy = tensors.emplace_back();
      copy.read(input.name.c_str(), dense);
    }
    const Tensor &given = tensors.back();
    views[i] = given.view;
    if (!producer)
      producer = &given;
    signature.push_back(given.rank());
    for (uint32_t d = 0; d < given.rank(); ++d)
      signature.push_back(given.size(d));
  }
  // A program of constants alone: their library is as good as another.
  Tensor none;
  none.object = nb::none();
  if (!producer)
    for (const std::shared_ptr<Tensor> &tensor : bound)
      if (tensor && !producer)
        producer = tensor.get();
  if (!producer)
    producer = &none;

  std::unique_ptr<Lane> lane = takeLane();
  struct Return {
    Runner &runner;
    std::unique_ptr<Lane> &lane;
    ~Return() { runner.lanes.push_back(std::move(lane)); }
  } giveBack{*this, lane};

  // What was bound since this execution's last run.
  if (leavesOut && lane->bindings != bindings) {
    for (size_t i = 0; i < bound.size(); ++i)
      if (bound[i] && boundAt[i] > lane->bindings) {
        check(tracea_execution_bind(lane->execution, i, &bound[i]->view));
        lane->constants[i] = bound[i];
      }
    lane->bindings = bindings;
  }
  if (hasScalars || lane->outputShapes.size() != outputTypes.size() ||
      lane->signature != signature) {
    prepare(*lane, views);
    lane->signature = std::move(signature);
  }

  std::deque<Tensor> outputs;
  std::vector<TraceaTensorView> outputViews;
  std::vector<nb::object> given = readOutputs(out);
  for (size_t i = 0; i < outputTypes.size(); ++i) {
    Tensor &tensor = outputs.emplace_back();
    std::string name = "output " + std::to_string(i);
    if (!given.empty())
      tensor.read(name.c_str(), given[i], true);
    else
      tensor.read(name.c_str(),
                  producer->makeEmpty(lane->outputShapes[i], outputTypes[i]),
                  true);
    outputViews.push_back(tensor.view);
  }
  // No tensor at all stands for the one that is bound.
  if (leavesOut)
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].isConstant)
        views[i] = {nullptr,          0, nullptr, nullptr, inputs[i].dtype,
                    options.device_id};
  void *stream = options.device_id < 0 ? nullptr : producer->currentStream();
  TraceaStatus status;
  {
    nb::gil_scoped_release release;
    status =
        tracea_execution_run(lane->execution, views.data(), views.size(),
                             outputViews.data(), outputViews.size(), stream);
  }
  check(status);
  auto take = [&](Tensor &tensor) {
    return given.empty() ? producer->finish(tensor.object) : tensor.object;
  };
  if (outputs.size() == 1)
    return take(outputs.front());
  nb::list results;
  for (Tensor &tensor : outputs)
    results.append(take(tensor));
  return nb::tuple(results);
}

std::string Runner::stats() {
  return readText([&](char *buffer, size_t size, size_t *length) {
    return tracea_execution_stats(first, buffer, size, length);
  });
}

nb::list Runner::describeInputs() const {
  nb::list list;
  for (const Input &input : inputs) {
    nb::dict item;
    item["name"] = input.name;
    item["dtype"] = dtypeName(input.dtype);
    nb::list shape;
    for (int64_t size : input.shape)
      shape.append(size < 0 ? nb::object(nb::none())
                            : nb::object(nb::int_(size)));
    item["shape"] = nb::tuple(shape);
    item["constant"] = input.isConstant;
    item["scalar"] = input.isScalar;
    list.append(item);
  }
  return list;
}

std::unique_ptr<Lane> Runner::makeLane() {
  auto lane = std::make_unique<Lane>();
  lane->constants.resize(inputs.size());
  if (first) {
    check(tracea_execution_share(first, &lane->execution));
  } else {
    TraceaStatus status;
    {
      nb::gil_scoped_release release;
      status = tracea_execution_create(handle->program, entryName.c_str(),
                                       &options, &lane->execution);
    }
    check(status);
    first = lane->execution;
  }
  return lane;
}

std::unique_ptr<Lane> Runner::takeLane() {
  if (lanes.empty())
    return makeLane();
  std::unique_ptr<Lane> lane = std::move(lanes.back());
  lanes.pop_back();
  return lane;
}

void Runner::prepare(Lane &lane, const std::vector<TraceaTensorView> &views) {
  lane.outputShapes.clear();
  TraceaStatus status;
  {
    nb::gil_scoped_release release;
    status =
        tracea_execution_prepare(lane.execution, views.data(), views.size());
  }
  check(status);
  for (size_t i = 0; i < outputTypes.size(); ++i) {
    uint64_t shape[TRACEA_MAX_RANK];
    uint32_t rank = 0;
    check(tracea_execution_output_shape(lane.execution, i, shape, &rank));
    lane.outputShapes.emplace_back(shape, shape + rank);
  }
}

std::vector<nb::object> Runner::readOutputs(nb::handle out) const {
  if (out.is_none())
    return {};
  std::vector<nb::object> list;
  if (nb::isinstance<nb::tuple>(out) || nb::isinstance<nb::list>(out))
    for (nb::handle item : out)
      list.push_back(nb::borrow(item));
  else
    list.push_back(nb::borrow(out));
  if (list.size() != outputTypes.size())
    throwError(TRACEA_INVALID_PARAMS,
               "out: expected " + std::to_string(outputTypes.size()) +
                   " tensors, found " + std::to_string(list.size()));
  return list;
}

size_t Runner::findInput(nb::handle which) const {
  if (!nb::isinstance<nb::str>(which)) {
    size_t index = nb::cast<size_t>(which);
    if (index >= inputs.size())
      throwError(TRACEA_INVALID_PARAMS, "expected the number of one of " +
                                            std::to_string(inputs.size()) +
                                            " inputs, found " +
                                            std::to_string(index));
    return index;
  }
  std::string name = nb::cast<std::string>(nb::str(which)), names;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].name == name)
      return i;
    names += (names.empty() ? "'" : ", '") + inputs[i].name + "'";
  }
  throwError(TRACEA_INVALID_PARAMS,
             "expected one of the inputs " + names + ", found '" + name + "'");
}

} // namespace tracea::python
