//===- Signing.cpp - Signatures, and tracea keygen -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Signing.h"

#include "Commands.h"

#include <CLI/CLI.hpp>

#include <unistd.h>

using namespace tracea::driver;
namespace rt = tracea::runtime;

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
