//===- Trust.cpp - Whose programs a tool runs -----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Trust.h"

using namespace tracea::driver;
namespace rt = tracea::runtime;

void tracea::driver::addTrustOption(CLI::App &app,
                                    std::vector<std::string> &words) {
  app.add_option("--trust", words,
                 "Whose programs may run: those signed by the key in this "
                 "file, owner (files of this user or root that nobody else may "
                 "write; the default), or any; repeatable, and one is enough")
      ->allow_extra_args(false)
      ->type_name("KEY|owner|any");
}

Expected<rt::TrustPolicy>
tracea::driver::parseTrust(const std::vector<std::string> &words) {
  if (words.empty())
    return rt::TrustPolicy();
  rt::TrustPolicy policy = rt::TrustPolicy::nothing();
  for (const std::string &word : words) {
    if (word == "owner") {
      policy.owner = true;
    } else if (word == "any") {
      policy.anybody = true;
    } else {
      Expected<rt::PublicKey> key = rt::PublicKey::load(word);
      if (!key)
        return key.status().withContext("--trust");
      policy.keys.push_back(*key);
    }
  }
  return policy;
}

Status tracea::driver::requireTrust(const std::string &name,
                                    const rt::TrustPolicy &policy,
                                    const rt::ProgramFile &program,
                                    const rt::FileOrigin &origin) {
  Status status =
      rt::checkTrust(policy, program.signer, origin).withContext(name);
  if (status.ok())
    return status;
  return Status::error(status.message() +
                       "; --trust FILE names the key of a signer, --trust any "
                       "runs it with all of your rights");
}
