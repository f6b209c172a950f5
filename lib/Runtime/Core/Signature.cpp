//===- Signature.cpp - Ed25519 by libcrypto -------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one file that sees OpenSSL. Its errors are kept in a queue for each
// thread; it is emptied here, so that no embedder finds our leavings in it.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/Signature.h"

#include "tracea/Runtime/File.h"

#if TRACEA_SIGNING
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#endif

#include <string>

namespace tracea::runtime {

std::string PublicKey::text() const {
  static constexpr char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j)
      group = group << 8 | (i + j < bytes.size() ? bytes[i + j] : 0u);
    for (size_t j = 0; j < 4; ++j)
      text += i + j > bytes.size() ? '=' : digits[group >> (18 - 6 * j) & 63];
  }
  return text;
}

#if TRACEA_SIGNING

namespace {

constexpr uint64_t maxKeyFileBytes = 64 << 10;

template <typename T, void (*destroy)(T *)>
struct Destroy {
  void operator()(T *object) const { destroy(object); }
};
void freeBIO(BIO *bio) { BIO_free(bio); }
using OwnedKey = std::unique_ptr<EVP_PKEY, Destroy<EVP_PKEY, EVP_PKEY_free>>;
using OwnedBIO = std::unique_ptr<BIO, Destroy<BIO, freeBIO>>;
using OwnedContext =
    std::unique_ptr<EVP_MD_CTX, Destroy<EVP_MD_CTX, EVP_MD_CTX_free>>;

/// Leaves the thread's queue of errors as it was.
struct ErrorMark {
  ErrorMark() { ERR_set_mark(); }
  ~ErrorMark() { ERR_pop_to_mark(); }
};

/// The failure of one of libcrypto's functions, with its reason.
Status cryptoError(const std::string &what) {
  unsigned long code = ERR_peek_last_error();
  const char *reason = code ? ERR_reason_error_string(code) : nullptr;
  return Status::error(what + (reason ? std::string(": ") + reason : ""));
}

Expected<PublicKey> publicPartOf(const EVP_PKEY *key) {
  PublicKey result;
  size_t size = result.bytes.size();
  if (EVP_PKEY_get_raw_public_key(key, result.bytes.data(), &size) != 1 ||
      size != result.bytes.size())
    return cryptoError("signature: cannot get the public key");
  return result;
}

OwnedKey keyFrom(const PublicKey &key) {
  return OwnedKey(EVP_PKEY_new_raw_public_key(
      EVP_PKEY_ED25519, nullptr, key.bytes.data(), key.bytes.size()));
}

/// Gives no passphrase; libcrypto would ask for one at the terminal.
int noPassphrase(char *, int, int, void *) { return -1; }

/// The key in a PEM file, of the type that is wanted.
template <typename Read>
Expected<OwnedKey> readKey(const std::string &path, const char *what,
                           FileOrigin &origin, Read &&read) {
  Expected<std::vector<uint8_t>> text =
      readFile(path, maxKeyFileBytes, &origin);
  if (!text)
    return text.status();
  OwnedBIO bio(BIO_new_mem_buf(text->data(), static_cast<int>(text->size())));
  OwnedKey key(bio ? read(bio.get()) : nullptr);
  OPENSSL_cleanse(text->data(), text->size());
  if (!key)
    return cryptoError(path + ": expected " + what);
  if (EVP_PKEY_get_id(key.get()) != EVP_PKEY_ED25519) {
    const char *name = EVP_PKEY_get0_type_name(key.get());
    return Status::error(path + ": expected " + what + ", found one of type " +
                         (name ? name : "unknown"));
  }
  return key;
}

/// Writes what `put` puts into a piece of memory to a new file.
template <typename Put>
Status saveKey(const std::string &path, uint32_t mode, Put &&put) {
  OwnedBIO bio(BIO_new(BIO_s_secmem()));
  if (!bio || put(bio.get()) != 1)
    return cryptoError(path + ": cannot write the key");
  char *data = nullptr;
  long size = BIO_get_mem_data(bio.get(), &data);
  return createFile(path,
                    Bytes(reinterpret_cast<const unsigned char *>(data),
                          static_cast<size_t>(size)),
                    mode);
}

EVP_PKEY *keyOf(const std::shared_ptr<void> &handle) {
  return static_cast<EVP_PKEY *>(handle.get());
}

} // namespace

bool hasSignatures() { return true; }

Expected<PublicKey> PublicKey::load(const std::string &path) {
  ErrorMark mark;
  FileOrigin origin;
  Expected<OwnedKey> key =
      readKey(path, "an Ed25519 public key as PEM (\"BEGIN PUBLIC KEY\")",
              origin, [](BIO *bio) {
                return PEM_read_bio_PUBKEY(bio, nullptr, noPassphrase, nullptr);
              });
  if (!key)
    return key.status();
  return publicPartOf(key->get());
}

Status PublicKey::save(const std::string &path) const {
  ErrorMark mark;
  OwnedKey key = keyFrom(*this);
  if (!key)
    return cryptoError(path + ": cannot write the key");
  return saveKey(path, modeOfCode, [&](BIO *bio) {
    return PEM_write_bio_PUBKEY(bio, key.get());
  });
}

Status verifySignature(const PublicKey &key, Bytes message,
                       const Signature &signature) {
  ErrorMark mark;
  OwnedKey verifier = keyFrom(key);
  OwnedContext context(EVP_MD_CTX_new());
  if (!verifier || !context ||
      EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr,
                           verifier.get()) != 1)
    return cryptoError("signature: cannot verify");
  if (EVP_DigestVerify(context.get(), signature.data(), signature.size(),
                       message.data(), message.size()) != 1)
    return Status::error("the signature by " + key.text() +
                         " is not one of these contents");
  return Status::success();
}

Expected<SigningKey> SigningKey::generate() {
  ErrorMark mark;
  OwnedKey key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  if (!key)
    return cryptoError("cannot generate a key");
  Expected<PublicKey> shared = publicPartOf(key.get());
  if (!shared)
    return shared.status();
  SigningKey result;
  result.shared = *shared;
  result.handle = std::shared_ptr<EVP_PKEY>(key.release(), EVP_PKEY_free);
  return result;
}

Expected<SigningKey> SigningKey::load(const std::string &path) {
  ErrorMark mark;
  FileOrigin origin;
  Expected<OwnedKey> key = readKey(
      path,
      "an Ed25519 private key as PEM, without a passphrase (\"BEGIN "
      "PRIVATE KEY\")",
      origin, [](BIO *bio) {
        return PEM_read_bio_PrivateKey(bio, nullptr, noPassphrase, nullptr);
      });
  if (!key)
    return key.status();
  if (origin.isFile && (origin.mode & 077) != 0)
    return Status::error(path + ": expected a private key that its owner alone "
                                "may read, found one that others may read or "
                                "write; chmod 600 mends it");
  Expected<PublicKey> shared = publicPartOf(key->get());
  if (!shared)
    return shared.status();
  SigningKey result;
  result.shared = *shared;
  result.handle = std::shared_ptr<EVP_PKEY>(key->release(), EVP_PKEY_free);
  return result;
}

Status SigningKey::save(const std::string &path) const {
  ErrorMark mark;
  return saveKey(path, modeOfSecret, [&](BIO *bio) {
    return PEM_write_bio_PKCS8PrivateKey(bio, keyOf(handle), nullptr, nullptr,
                                         0, nullptr, nullptr);
  });
}

Expected<Signature> SigningKey::sign(Bytes message) const {
  ErrorMark mark;
  Signature signature;
  size_t size = signature.size();
  OwnedContext context(EVP_MD_CTX_new());
  if (!context ||
      EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr,
                         keyOf(handle)) != 1 ||
      EVP_DigestSign(context.get(), signature.data(), &size, message.data(),
                     message.size()) != 1 ||
      size != signature.size())
    return cryptoError("cannot sign");
  return signature;
}

#else

static Status notBuilt() {
  return Status::error("signatures: this runtime was built without them "
                       "(TRACEA_SIGNING=OFF)");
}

bool hasSignatures() { return false; }
Expected<PublicKey> PublicKey::load(const std::string &path) {
  return notBuilt().withContext(path);
}
Status PublicKey::save(const std::string &path) const {
  return notBuilt().withContext(path);
}
Status verifySignature(const PublicKey &, Bytes, const Signature &) {
  return notBuilt();
}
Expected<SigningKey> SigningKey::generate() { return notBuilt(); }
Expected<SigningKey> SigningKey::load(const std::string &path) {
  return notBuilt().withContext(path);
}
Status SigningKey::save(const std::string &path) const {
  return notBuilt().withContext(path);
}
Expected<Signature> SigningKey::sign(Bytes) const { return notBuilt(); }

#endif

} // namespace tracea::runtime
