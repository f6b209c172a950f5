//===- Trust.cpp - Whose programs may run ---------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file of the user's own that others may write is theirs as well: the rule
// is that of ssh for its files. Root can replace this library itself, so
// there is nothing to be gained by not trusting it.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/Trust.h"

#include <algorithm>
#include <unistd.h>

namespace tracea::runtime {

/// What speaks against the file's owner; empty where nothing does.
static std::string objectionTo(const FileOrigin &origin, uint32_t user) {
  constexpr uint32_t writableByOthers = 022;
  if (!origin.isFile)
    return "it came from no file, and so belongs to nobody";
  if (origin.owner != user && origin.owner != 0)
    return "its file belongs to user " + std::to_string(origin.owner);
  if ((origin.mode & writableByOthers) != 0)
    return "others may write its file (chmod go-w takes that away)";
  return "";
}

Status checkTrust(const TrustPolicy &policy,
                  const std::optional<PublicKey> &signer,
                  const FileOrigin &origin) {
  if (policy.anybody)
    return Status::success();
  if (signer && std::find(policy.keys.begin(), policy.keys.end(), *signer) !=
                    policy.keys.end())
    return Status::success();
  uint32_t user = static_cast<uint32_t>(::geteuid());
  std::string objection;
  if (policy.owner) {
    objection = objectionTo(origin, user);
    if (objection.empty())
      return Status::success();
  }

  std::string expected, found;
  if (policy.owner)
    expected = "a file of user " + std::to_string(user) +
               (user == 0 ? "" : " or of root") + " that nobody else may write";
  if (!policy.keys.empty() || !policy.owner)
    expected += std::string(policy.owner ? ", or " : "") +
                "a signature by a trusted key";
  found = signer ? "it is signed by " + signer->text() : "it is not signed";
  if (!objection.empty())
    found += ", and " + objection;
  return Status::error("the program is not trusted: expected " + expected +
                       "; " + found);
}

} // namespace tracea::runtime
