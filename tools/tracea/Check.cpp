//===- Check.cpp - Results against the float64 meaning --------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Check.h"

#include "Session.h"

#include <nlohmann/json.hpp>

#include <cmath>

using namespace tracea::driver;
namespace rt = tracea::runtime;
using rt::ElementType;

Expected<CheckResult>
tracea::driver::checkOutputs(Session &session,
                             const std::vector<rt::Tensor> &outputs,
                             double tolerance) {
  Frontend &module = *session.source.module;
  CompileRequest request;
  request.entry = session.entryName;
  request.reference = true;
  CompileReport report;
  std::vector<rt::Tensor> references(outputs.size());
  {
    Progress progress("computing the reference");
    std::optional<rt::ProgramFile> program = module.compile(request, &report);
    if (!program) {
      progress.clear();
      return Status::error("cannot compile the reference of '" +
                           session.source.name + "'");
    }
    // The reference is for this machine, wherever the program ran.
    std::shared_ptr<rt::Device> host = session.device;
    if (host->info().kind != "cpu") {
      Expected<std::shared_ptr<rt::Device>> opened = rt::openDevice("cpu");
      if (!opened)
        return opened.status().withContext("reference");
      host = *opened;
    }
    Expected<std::shared_ptr<rt::Executable>> executable =
        rt::Executable::load(std::move(*program), host);
    if (!executable)
      return executable.status().withContext("reference");
    Expected<std::unique_ptr<rt::Execution>> execution =
        (*executable)->createExecution(session.entryName);
    if (!execution)
      return execution.status().withContext("reference");
    std::vector<rt::Tensor> inputs;
    for (const InputTensor &input : session.inputs) {
      Expected<rt::Tensor> wide = widen(input.tensor);
      if (!wide)
        return wide.status();
      inputs.push_back(*wide);
    }
    TRACEA_RETURN_IF_ERROR(
        (*execution)->run(inputs, references).withContext("reference"));
  }

  CheckResult result;
  ElementType storage =
      module.coarsestFloat(session.entryName).value_or(ElementType::F64);
  ElementType sums =
      storage == ElementType::F64 ? ElementType::F64 : ElementType::F32;
  double length = std::max(1.0, report.reductionLength);
  double bound = tolerance;
  if (tolerance < 0) {
    bound = 4 * getFacts(storage).epsilon +
            32 * getFacts(sums).epsilon * std::sqrt(length);
    std::string terms = std::string("4 eps(") + rt::nameOf(storage) +
                        ") + 32 eps(" + rt::nameOf(sums) + ") sqrt(" +
                        formatNumber("%.0f", length) + ")";
    // Where products may round their operands and the device has a unit for it.
    constexpr double tf32Epsilon = 0x1p-10;
    if (storage == ElementType::F32 && module.allowsTF32() &&
        session.device->info().kind != "cpu") {
      bound += 4 * tf32Epsilon;
      terms += " + 4 eps(tf32)";
    }
    if (std::optional<ElementType> narrow = session.report.narrowReduction) {
      double narrowLength = session.report.narrowReductionLength;
      bound += 2 * getFacts(*narrow).epsilon * std::sqrt(narrowLength);
      terms += std::string(" + 2 eps(") + rt::nameOf(*narrow) + ") sqrt(" +
               formatNumber("%.0f", narrowLength) + ")";
    }
    result.boundText = formatNumber("%.3g", bound) + " = " + terms;
    if (report.reductionAssumed)
      result.boundText += ", where a reduction of unknown length counts " +
                          formatNumber("%.0f", assumedReduction);
  } else {
    result.boundText = formatNumber("%.3g", bound) + ", as given";
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const rt::Tensor &y = outputs[i];
    const rt::Tensor &r = references[i];
    ElementType wanted = rt::isFloat(y.type()) ? ElementType::F64 : y.type();
    if (r.type() != wanted || r.shape() != y.shape())
      return Status::error("output " + std::to_string(i) + " is " +
                           y.describe() + ", the reference's is " +
                           r.describe());
    Expected<rt::Tensor> dense =
        y.isContiguous() ? Expected<rt::Tensor>(y) : y.clone();
    if (!dense)
      return dense.status();
    result.outputs.push_back(compareTensors(*dense, r, bound));
    result.passed &= result.outputs.back().passed;
  }
  return result;
}

std::string tracea::driver::formatCheck(const CheckResult &result) {
  std::string text = "check against float64: bound " + result.boundText + "\n";
  for (size_t i = 0; i < result.outputs.size(); ++i)
    text += formatOutput(i, result.outputs[i]);
  return text;
}

nlohmann::ordered_json tracea::driver::toJSON(const CheckResult &result) {
  nlohmann::ordered_json json;
  json["passed"] = result.passed;
  json["bound"] = result.boundText;
  json["outputs"] = nlohmann::ordered_json::array();
  for (const OutputCheck &check : result.outputs)
    json["outputs"].push_back(toJSON(check));
  return json;
}
