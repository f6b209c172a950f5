//===- Proofs.cpp - What programs claim of their kernels ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Proofs.h"
#include "tracea/Target/Program/RecheckLaunches.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace tracea::driver;
namespace rt = tracea::runtime;
namespace ta = tracea::analysis;

static std::string whyNot(const rt::KernelSpec &kernel,
                          std::string_view check) {
  std::string reasons;
  for (const rt::RemarkSpec &remark : kernel.remarks)
    if (remark.check == check)
      reasons += (reasons.empty() ? "" : "; ") + remark.reason;
  if (!reasons.empty())
    return "not decided: " + reasons;
  return kernel.certificates.empty() ? "nothing was proved of this kernel"
                                     : "the check did not run";
}

Status tracea::driver::requireProofs(const std::string &source,
                                     const rt::Manifest &manifest) {
  for (const rt::KernelSpec &kernel : manifest.kernels)
    for (std::string_view check : ta::requiredChecks())
      if (std::none_of(kernel.certificates.begin(), kernel.certificates.end(),
                       [&](const rt::CertificateSpec &spec) {
                         return spec.check == check;
                       }))
        return Status::error(source + ": kernel '" + kernel.name +
                             "' lacks the certificate '" + std::string(check) +
                             "': " + whyNot(kernel, check));
  return Status::success();
}

std::vector<Recheck> tracea::driver::recheckAll(const rt::Manifest &manifest) {
  std::vector<Recheck> rechecks;
  for (const rt::KernelSpec &kernel : manifest.kernels)
    for (const rt::CertificateSpec &spec : kernel.certificates)
      rechecks.push_back({kernel.name, spec.check,
                          ta::recheckCertificate(spec.check, spec.claim,
                                                 spec.model, spec.digest)});
  for (ta::LaunchRecheck &recheck : ta::recheckLaunches(manifest))
    rechecks.push_back({recheck.kernel, "launches", recheck.result});
  return rechecks;
}

std::string
tracea::driver::describeRechecks(const rt::Manifest &manifest,
                                 const std::vector<Recheck> &rechecks) {
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "check", "decided again", "took", "of"}};
  for (const Recheck &recheck : rechecks)
    rows.push_back(
        {recheck.kernel, recheck.check,
         ta::recheckVerdictName(recheck.result.verdict),
         describeSeconds(recheck.result.milliseconds / 1e3),
         recheck.result.figures.empty() ? "-" : recheck.result.figures});
  std::string text = rechecks.empty() ? "" : formatTable(rows, {3});
  for (const Recheck &recheck : rechecks)
    if (!recheck.result.message.empty())
      text += recheck.kernel + ": " + recheck.check + ": " +
              recheck.result.message + "\n";
  for (const rt::KernelSpec &kernel : manifest.kernels)
    if (kernel.certificates.empty())
      text += kernel.name +
              ": no certificates; kernels are proved at the pipeline level, "
              "and this one may have entered the compiler below it\n";
  if (manifest.kernels.empty())
    text += "no kernels\n";
  return text;
}

nlohmann::ordered_json
tracea::driver::rechecksToJSON(const std::vector<Recheck> &rechecks) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Recheck &recheck : rechecks)
    list.push_back({{"kernel", recheck.kernel},
                    {"check", recheck.check},
                    {"verdict", ta::recheckVerdictName(recheck.result.verdict)},
                    {"message", recheck.result.message},
                    {"figures", recheck.result.figures},
                    {"milliseconds", recheck.result.milliseconds}});
  return list;
}

Status tracea::driver::demandConfirmed(const std::string &source,
                                       const std::vector<Recheck> &rechecks) {
  size_t others = std::count_if(
      rechecks.begin(), rechecks.end(), [](const Recheck &recheck) {
        return recheck.result.verdict != ta::RecheckVerdict::Confirmed;
      });
  if (others == 0)
    return Status::success();
  return Status::error(source + ": " + std::to_string(others) + " of " +
                       std::to_string(rechecks.size()) +
                       " certificates are not confirmed");
}
