//===- Signing.cpp - Keys and trust, and tracea keygen --------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Signing.h"

#include "Commands.h"

#include <unistd.h>

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

Expected<std::vector<uint8_t>>
tracea::driver::signProgram(const std::vector<uint8_t> &bytes,
                            const rt::SigningKey &key) {
  Expected<rt::ProgramFile> program = rt::ProgramFile::parse(bytes);
  if (!program)
    return program.status();
  return program->serialize(&key);
}

//===----------------------------------------------------------------------===//
// tracea keygen
//===----------------------------------------------------------------------===//

static Status generateKeys(const std::string &path) {
  if (path == "-" || path.empty())
    return Status::error("expected -o with the name of a file for the private "
                         "key, found '" +
                         path + "'");
  TRACEA_RETURN_IF_ERROR(checkWritable(path));
  Expected<rt::SigningKey> key = rt::SigningKey::generate();
  if (!key)
    return key.status();
  std::string sharedPath = path + ".pub";
  TRACEA_RETURN_IF_ERROR(key->save(path));
  Status saved = key->publicKey().save(sharedPath);
  if (!saved.ok()) {
    ::unlink(path.c_str());
    return saved;
  }
  return writeStdout("private key " + path +
                     ": keep it to yourself; it signs "
                     "with 'tracea compile --sign " +
                     path + "'\n" + "public key " + sharedPath +
                     ": give it away; it is "
                     "trusted with 'tracea run --trust " +
                     sharedPath + "'\n" + "signer " + key->publicKey().text() +
                     "\n");
}

void tracea::driver::addKeygenCommand(CLI::App &app, int &exitCode) {
  CLI::App *sub =
      app.add_subcommand("keygen", "Make a pair of keys to sign programs with");
  auto path = std::make_shared<std::string>();
  sub->add_option("-o", *path,
                  "Where to write the private key; the public one gets the "
                  "same name with .pub. No file is written over")
      ->required()
      ->type_name("FILE");
  sub->footer("The keys are Ed25519 in PEM files, as OpenSSL makes them too:\n"
              "  openssl genpkey -algorithm ed25519 -out key.pem\n"
              "  openssl pkey -in key.pem -pubout -out key.pem.pub\n\n"
              "Example:\n"
              "  tracea keygen -o key.pem");
  sub->callback([path, &exitCode] {
    Status status = generateKeys(*path);
    if (!status.ok()) {
      printError(status.message());
      exitCode = 1;
    }
  });
}
