//===- Signature.h - Ed25519 keys and signatures ----------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ed25519 is RFC 8032's signature scheme: keys of 32 bytes, signatures of 64.
// Key files are PEM (RFC 8410), as OpenSSL writes and reads them. The
// arithmetic is libcrypto's; a runtime that was built without it
// (`TRACEA_SIGNING=OFF`) fails in every function here and refuses signed
// programs, with a message that says so.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_SIGNATURE_H
#define TRACEA_RUNTIME_SIGNATURE_H

#include "tracea/Runtime/Span.h"
#include "tracea/Runtime/Status.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace tracea::runtime {

/// Whether this runtime was built with libcrypto.
bool hasSignatures();

/// Who signs, as everybody may know it.
struct PublicKey {
  std::array<uint8_t, 32> bytes{};

  /// Base64: the last 44 characters of the key in its PEM file.
  std::string text() const;
  friend bool operator==(const PublicKey &a, const PublicKey &b) {
    return a.bytes == b.bytes;
  }

  /// Reads a PEM file with one public key ("BEGIN PUBLIC KEY").
  static Expected<PublicKey> load(const std::string &path);
  /// Writes it where no file is yet.
  Status save(const std::string &path) const;
};

using Signature = std::array<uint8_t, 64>;

/// Whether `signature` is that of `message` by the owner of `key`. A failure
/// says why.
Status verifySignature(const PublicKey &key, Bytes message,
                       const Signature &signature);

/// A private key. Copies share it; its memory is wiped with the last one.
class SigningKey {
public:
  /// From the system's random numbers.
  static Expected<SigningKey> generate();
  /// Reads a PEM file with one private key without a passphrase ("BEGIN PRIVATE
  /// KEY"). Refuses a file that others may read.
  static Expected<SigningKey> load(const std::string &path);
  /// Writes it where no file is yet, for its owner alone to read.
  Status save(const std::string &path) const;

  const PublicKey &publicKey() const { return shared; }
  Expected<Signature> sign(Bytes message) const;

private:
  /// libcrypto's key.
  std::shared_ptr<void> handle;
  PublicKey shared;
};

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_SIGNATURE_H
