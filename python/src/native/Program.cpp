//===- Program.cpp - Programs and their runs ------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Runner is an entry of a program on a device. Its executions, which one
// thread at a time may use, are taken from a list for each call: the
// interpreter's lock guards the list, and is not held during the run.
//
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "Tensor.h"

#include <cstring>
#include <deque>
#include <memory>

namespace tracea::python {

namespace {

class ProgramHandle {
public:
  explicit ProgramHandle(TraceaProgram *program) : program(program) {}
  ~ProgramHandle() { tracea_program_free(program); }
  ProgramHandle(const ProgramHandle &) = delete;

  TraceaProgram *program;
};

struct Input {
  std::string name;
  TraceaDType dtype;
  Sizes shape;
  bool isConstant, isScalar;
};

/// An execution, and the shapes that it is prepared for.
struct Lane {
  ~Lane() { tracea_execution_free(execution); }
  TraceaExecution *execution = nullptr;
  Sizes signature;
  std::vector<Sizes> outputShapes;
  /// Which bindings it has seen.
  uint64_t bindings = 0;
};

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

class Runner {
public:
  Runner(const Runner &) = delete;
  Runner(std::shared_ptr<ProgramHandle> handle, std::string entryName,
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

  void bind(nb::handle which, nb::handle object) {
    size_t index = findInput(which);
    if (!inputs[index].isConstant)
      throwError(TRACEA_INVALID_PARAMS,
                 inputs[index].name + ": expected a constant argument, found "
                                      "one that each run is given");
    auto tensor = std::make_unique<Tensor>();
    tensor->read(inputs[index].name.c_str(), object);
    if (options.device_id >= 0 && !tensor->isRowMajor()) {
      nb::object dense = object.attr("contiguous")();
      tensor = std::make_unique<Tensor>();
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

  nb::object call(nb::args arguments, nb::handle out) {
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
      for (const std::unique_ptr<Tensor> &tensor : bound)
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
        if (bound[i] && boundAt[i] > lane->bindings)
          check(tracea_execution_bind(lane->execution, i, &bound[i]->view));
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

  std::string stats() {
    return readText([&](char *buffer, size_t size, size_t *length) {
      return tracea_execution_stats(first, buffer, size, length);
    });
  }

  nb::list describeInputs() const {
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

private:
  std::unique_ptr<Lane> makeLane() {
    auto lane = std::make_unique<Lane>();
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

  std::unique_ptr<Lane> takeLane() {
    if (lanes.empty())
      return makeLane();
    std::unique_ptr<Lane> lane = std::move(lanes.back());
    lanes.pop_back();
    return lane;
  }

  void prepare(Lane &lane, const std::vector<TraceaTensorView> &views) {
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

  std::vector<nb::object> readOutputs(nb::handle out) const {
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

  size_t findInput(nb::handle which) const {
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
    throwError(TRACEA_INVALID_PARAMS, "expected one of the inputs " + names +
                                          ", found '" + name + "'");
  }

  std::shared_ptr<ProgramHandle> handle;
  std::string entryName;
  TraceaExecutionOptions options = TRACEA_EXECUTION_OPTIONS_INIT;
  std::vector<Input> inputs;
  std::vector<TraceaDType> outputTypes;
  size_t numConstants = 0, numBound = 0;
  bool hasScalars = false;
  /// Of the first lane, which never goes away.
  TraceaExecution *first = nullptr;
  std::vector<std::unique_ptr<Lane>> lanes;
  std::vector<std::unique_ptr<Tensor>> bound;
  std::vector<uint64_t> boundAt;
  uint64_t bindings = 0;
};

} // namespace

nb::object wrapProgram(TraceaProgram *program) {
  return nb::cast(std::make_unique<ProgramHandle>(program).release(),
                  nb::rv_policy::take_ownership);
}

void addPrograms(nb::module_ &m) {
  using namespace nb::literals;
  nb::class_<ProgramHandle>(m, "Program")
      .def("entries",
           [](ProgramHandle &self) {
             nb::list names;
             for (size_t i = 0; i < tracea_program_entry_count(self.program);
                  ++i)
               names.append(tracea_program_entry_name(self.program, i));
             return names;
           })
      .def("explain",
           [](ProgramHandle &self) {
             return readText([&](char *buffer, size_t size, size_t *length) {
               return tracea_program_explain(self.program, buffer, size,
                                             length);
             });
           })
      .def(
          "save",
          [](ProgramHandle &self, const std::string &path) {
            check(tracea_program_save(self.program, path.c_str()));
          },
          "path"_a)
      .def("to_bytes", [](ProgramHandle &self) {
        const void *bytes = nullptr;
        size_t size = 0;
        check(tracea_program_bytes(self.program, &bytes, &size));
        return nb::bytes(static_cast<const char *>(bytes), size);
      });

  nb::class_<Runner>(m, "Runner")
      .def(
          "__init__",
          [](Runner *self, nb::handle program, std::string entry,
             int32_t device, int streams, bool graph, int64_t maxWorkspace) {
            // The program outlives the runner, which keeps its own reference.
            nb::object owner = nb::borrow(program);
            ProgramHandle *handle = nb::cast<ProgramHandle *>(program);
            std::shared_ptr<ProgramHandle> shared(
                handle, [owner](ProgramHandle *) mutable { owner.reset(); });
            new (self) Runner(shared, std::move(entry), device, streams, graph,
                              maxWorkspace);
          },
          "program"_a, "entry"_a, "device"_a = -1, "streams"_a = 1,
          "graph"_a = false, "max_workspace"_a = 0)
      .def("bind", &Runner::bind, "input"_a, "tensor"_a)
      .def("__call__",
           [](Runner &self, nb::args arguments) {
             return self.call(arguments, nb::none());
           })
      .def("run_into",
           [](Runner &self, nb::handle out, nb::args arguments) {
             return self.call(arguments, out);
           })
      .def("stats", &Runner::stats)
      .def("inputs", &Runner::describeInputs);

  m.def(
      "compile",
      [](nb::bytes module, const std::string &target,
         std::optional<std::string> entry, const std::string &fuse, int threads,
         bool requireProof, bool cache) {
        CompileArguments arguments(target, entry, fuse, threads, requireProof,
                                   cache);
        TraceaProgram *program = nullptr;
        TraceaStatus status;
        {
          nb::gil_scoped_release release;
          status = tracea_compile(module.c_str(), module.size(),
                                  arguments.get(), &program);
        }
        check(status);
        return wrapProgram(program);
      },
      "module"_a, nb::kw_only(), "target"_a, "entry"_a.none() = nb::none(),
      "fuse"_a = "safe", "threads"_a = 0, "require_proof"_a = false,
      "cache"_a = true);
  m.def(
      "load",
      [](const std::string &path) {
        TraceaProgram *program = nullptr;
        check(tracea_program_load(path.c_str(), &program));
        return wrapProgram(program);
      },
      "path"_a);
  m.def(
      "load_bytes",
      [](nb::bytes bytes) {
        TraceaProgram *program = nullptr;
        check(tracea_program_load_bytes(bytes.c_str(), bytes.size(), &program));
        return wrapProgram(program);
      },
      "bytes"_a);
}

} // namespace tracea::python
