//===- ProgramFile.cpp - The container of a compiled program --------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout leaves no byte free: whatever is not covered by a checksum must
// be zero or is the checksum, so that any changed byte is noticed.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/ProgramFile.h"

#include "tracea/Runtime/File.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace tracea::runtime {

namespace {

constexpr uint8_t magic[8] = {0x89, 'T', 'R', 'A', 'C', 'E', 'A', '\n'};
constexpr uint32_t containerVersion = 1;
constexpr uint32_t signedVersion = 2;
constexpr uint64_t headerBytes = 64;
constexpr uint64_t checkedHeaderBytes = 48;
constexpr uint64_t entryBytes = 48;
constexpr uint64_t sectionAlign = 64;
constexpr uint32_t kindManifest = 1;
constexpr uint32_t kindBlob = 2;

/// What stands behind the sections of a signed program.
constexpr uint8_t signatureMagic[8] = {'e', 'd', '2', '5', '5', '1', '9', '\n'};
constexpr uint64_t signatureBytes = 128;
constexpr uint64_t signatureKeyOffset = 32;
constexpr uint64_t signatureOffset = 64;

using Checksum = XXH128_canonical_t;

uint64_t alignUp(uint64_t value) {
  return (value + sectionAlign - 1) & ~(sectionAlign - 1);
}

template <typename T>
T readLittle(const uint8_t *from) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value |= static_cast<T>(from[i]) << (8 * i);
  return value;
}

template <typename T>
void writeLittle(uint8_t *to, T value) {
  for (size_t i = 0; i < sizeof(T); ++i)
    to[i] = static_cast<uint8_t>(value >> (8 * i));
}

Checksum checksumOf(Bytes bytes) {
  Checksum sum;
  XXH128_canonicalFromHash(&sum, XXH3_128bits(bytes.data(), bytes.size()));
  return sum;
}

/// The header without its own checksum, followed by the table.
Checksum checksumOfHead(const uint8_t *header, Bytes table) {
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  XXH3_128bits_update(&state, header, checkedHeaderBytes);
  XXH3_128bits_update(&state, table.data(), table.size());
  Checksum sum;
  XXH128_canonicalFromHash(&sum, XXH3_128bits_digest(&state));
  return sum;
}

bool allZero(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](uint8_t byte) { return byte == 0; });
}

struct Section {
  uint32_t kind = 0;
  uint32_t index = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
};

/// Everything of the file but the blobs' contents: the header, the table, the
/// manifest, and where each blob stands.
struct Head {
  std::vector<uint8_t> bytes;
  std::vector<Section> sections;
  uint64_t totalSize = 0;
};

Status tooLarge() { return Status::error("program: too large"); }

Expected<Head> buildHead(const ProgramFile &program, bool isSigned) {
  TRACEA_RETURN_IF_ERROR(program.validate());
  Expected<std::string> json = toJSON(program.manifest);
  if (!json)
    return json.status();
  if (json->size() > ManifestLimits().maxJsonBytes ||
      program.blobs.size() >= ProgramLimits().maxSections)
    return tooLarge();

  Head head;
  uint64_t count = program.blobs.size() + 1;
  uint64_t tableBytes = count * entryBytes;
  uint64_t end = headerBytes + tableBytes;
  std::vector<uint8_t> table(tableBytes);
  for (uint64_t i = 0; i < count; ++i) {
    Bytes contents =
        i == 0 ? Bytes(reinterpret_cast<const unsigned char *>(json->data()),
                       json->size())
               : Bytes(program.blobs[i - 1]);
    Section section;
    section.kind = i == 0 ? kindManifest : kindBlob;
    section.index = static_cast<uint32_t>(i == 0 ? 0 : i - 1);
    section.offset = alignUp(end);
    section.size = contents.size();
    end = section.offset + section.size;
    uint8_t *entry = table.data() + i * entryBytes;
    writeLittle<uint32_t>(entry, section.kind);
    writeLittle<uint32_t>(entry + 4, section.index);
    writeLittle<uint64_t>(entry + 8, section.offset);
    writeLittle<uint64_t>(entry + 16, section.size);
    Checksum sum = checksumOf(contents);
    std::memcpy(entry + 24, sum.digest, sizeof sum.digest);
    head.sections.push_back(section);
  }
  if (isSigned)
    end = alignUp(end) + signatureBytes;
  if (end > ProgramLimits().maxBytes)
    return tooLarge();
  head.totalSize = end;

  const Section &manifest = head.sections[0];
  head.bytes.assign(manifest.offset + manifest.size, 0);
  uint8_t *header = head.bytes.data();
  std::memcpy(header, magic, sizeof magic);
  writeLittle<uint32_t>(header + 8,
                        isSigned ? signedVersion : containerVersion);
  writeLittle<uint32_t>(header + 12, static_cast<uint32_t>(count));
  writeLittle<uint64_t>(header + 16, end);
  Checksum sum = checksumOfHead(header, table);
  std::memcpy(header + checkedHeaderBytes, sum.digest, sizeof sum.digest);
  std::memcpy(header + headerBytes, table.data(), table.size());
  std::memcpy(header + manifest.offset, json->data(), json->size());
  return head;
}

Status noMagic() {
  return Status::error("program: expected the magic bytes 89 'TRACEA' 0A at "
                       "byte 0: this is no program file");
}

std::string at(uint64_t offset) { return " at byte " + std::to_string(offset); }

Status expected(const std::string &what, uint64_t wanted, uint64_t found,
                uint64_t offset) {
  return Status::error("program: expected " + what + " " +
                       std::to_string(wanted) + at(offset) + ", found " +
                       std::to_string(found));
}

/// The table's entry `i`, with its contents' place and checksum verified.
/// `end` is where the previous section ended and then where this one does.
Expected<Section> readSection(Bytes bytes, uint32_t i, uint64_t &end) {
  uint64_t where = headerBytes + i * entryBytes;
  const uint8_t *entry = bytes.data() + where;
  Section section;
  section.kind = readLittle<uint32_t>(entry);
  section.index = readLittle<uint32_t>(entry + 4);
  section.offset = readLittle<uint64_t>(entry + 8);
  section.size = readLittle<uint64_t>(entry + 16);
  std::string name = "section " + std::to_string(i);

  uint32_t kind = i == 0 ? kindManifest : kindBlob;
  uint32_t index = i == 0 ? 0 : i - 1;
  if (section.kind != kind)
    return expected(name + " to be of kind", kind, section.kind, where);
  if (section.index != index)
    return expected(name + " to have the index", index, section.index,
                    where + 4);
  if (readLittle<uint64_t>(entry + 40) != 0)
    return Status::error("program: expected zero in the reserved field of " +
                         name + at(where + 40));
  if (section.offset < end)
    return Status::error("program: " + name + " begins at byte " +
                         std::to_string(section.offset) +
                         ", inside what ends at byte " + std::to_string(end));
  if (section.offset != alignUp(end))
    return expected(name + " to begin at byte", alignUp(end), section.offset,
                    where + 8);
  if (section.offset > bytes.size() ||
      section.size > bytes.size() - section.offset)
    return Status::error("program: " + name + " takes " +
                         std::to_string(section.size) + " bytes" +
                         at(section.offset) + ", found a file of " +
                         std::to_string(bytes.size()));
  if (!allZero(bytes.subspan(end, section.offset - end)))
    return Status::error("program: expected zero bytes before " + name +
                         " from byte " + std::to_string(end));
  Checksum sum = checksumOf(bytes.subspan(section.offset, section.size));
  if (std::memcmp(sum.digest, entry + 24, sizeof sum.digest) != 0)
    return Status::error("program: the checksum of " + name +
                         at(section.offset) +
                         " does not match its contents: the file is damaged");
  end = section.offset + section.size;
  return section;
}

/// Signs a container that is complete but for the block at its end.
Status signContainer(std::vector<uint8_t> &bytes, const SigningKey &key) {
  uint8_t *block = bytes.data() + bytes.size() - signatureBytes;
  std::memcpy(block, signatureMagic, sizeof signatureMagic);
  const PublicKey &shared = key.publicKey();
  std::memcpy(block + signatureKeyOffset, shared.bytes.data(),
              shared.bytes.size());
  Expected<Signature> signature = key.sign(
      Bytes(bytes.data(), bytes.size() - signatureBytes + signatureOffset));
  if (!signature)
    return signature.status();
  std::memcpy(block + signatureOffset, signature->data(), signature->size());
  return Status::success();
}

/// Whose signature stands behind the sections, which end at `end`: moved to
/// where it ends.
Expected<PublicKey> readSignature(Bytes bytes, uint64_t &end) {
  uint64_t where = alignUp(end);
  if (where > bytes.size() || bytes.size() - where < signatureBytes)
    return Status::error("program: expected a signature of " +
                         std::to_string(signatureBytes) + " bytes" + at(where) +
                         ", found a file of " + std::to_string(bytes.size()));
  const uint8_t *block = bytes.data() + where;
  if (std::memcmp(block, signatureMagic, sizeof signatureMagic) != 0)
    return Status::error("program: expected an Ed25519 signature" + at(where) +
                         ", found something else");
  if (!allZero(bytes.subspan(end, where - end)) ||
      !allZero(bytes.subspan(where + sizeof signatureMagic,
                             signatureKeyOffset - sizeof signatureMagic)))
    return Status::error("program: expected zero bytes around the head of the "
                         "signature" +
                         at(where));
  PublicKey key;
  std::memcpy(key.bytes.data(), block + signatureKeyOffset, key.bytes.size());
  Signature signature;
  std::memcpy(signature.data(), block + signatureOffset, signature.size());
  Status verified = verifySignature(
      key, bytes.subspan(0, where + signatureOffset), signature);
  if (!verified.ok())
    return verified.withContext("program");
  end = where + signatureBytes;
  return key;
}

Expected<ProgramFile> parseContainer(Bytes bytes, const ProgramLimits &limits) {
  if (bytes.size() < headerBytes)
    return Status::error("program: expected at least " +
                         std::to_string(headerBytes) + " bytes, found " +
                         std::to_string(bytes.size()));
  if (!ProgramFile::hasMagic(bytes))
    return noMagic();
  uint32_t version = readLittle<uint32_t>(bytes.data() + 8);
  if (version != containerVersion && version != signedVersion)
    return expected("container version 1 or", signedVersion, version, 8);
  uint64_t totalSize = readLittle<uint64_t>(bytes.data() + 16);
  if (totalSize != bytes.size())
    return expected("the file's size", bytes.size(), totalSize, 16);
  if (totalSize > limits.maxBytes)
    return Status::error("program: expected at most " +
                         std::to_string(limits.maxBytes) + " bytes, found " +
                         std::to_string(totalSize));
  uint32_t count = readLittle<uint32_t>(bytes.data() + 12);
  if (count == 0 || count > limits.maxSections)
    return Status::error(
        "program: expected 1 to " + std::to_string(limits.maxSections) +
        " sections at byte 12, found " + std::to_string(count));
  if (!allZero(bytes.subspan(24, checkedHeaderBytes - 24)))
    return Status::error("program: expected zero in the reserved bytes 24 to "
                         "47");
  if (count * entryBytes > bytes.size() - headerBytes)
    return Status::error("program: a table of " + std::to_string(count) +
                         " sections does not fit into " +
                         std::to_string(bytes.size()) + " bytes");
  Checksum sum = checksumOfHead(bytes.data(),
                                bytes.subspan(headerBytes, count * entryBytes));
  if (std::memcmp(sum.digest, bytes.data() + checkedHeaderBytes,
                  sizeof sum.digest) != 0)
    return Status::error("program: the checksum at byte 48 does not match the "
                         "header and the section table: the file is damaged");

  uint64_t end = headerBytes + count * entryBytes;
  std::vector<Section> sections;
  for (uint32_t i = 0; i < count; ++i) {
    Expected<Section> section = readSection(bytes, i, end);
    if (!section)
      return section.status();
    sections.push_back(*section);
  }
  ProgramFile program;
  if (version == signedVersion) {
    Expected<PublicKey> signer = readSignature(bytes, end);
    if (!signer)
      return signer.status();
    program.signer = *signer;
  }
  if (end != bytes.size())
    return Status::error("program: expected the end of the file at byte " +
                         std::to_string(end) + ", found " +
                         std::to_string(bytes.size() - end) + " bytes more");

  if (sections[0].size > limits.manifest.maxJsonBytes)
    return expected("a manifest of at most", limits.manifest.maxJsonBytes,
                    sections[0].size, sections[0].offset);
  Expected<Manifest> manifest =
      manifestFromJSON(std::string(reinterpret_cast<const char *>(
                                       bytes.data() + sections[0].offset),
                                   sections[0].size),
                       limits.manifest);
  if (!manifest)
    return manifest.status();
  program.manifest = std::move(*manifest);
  std::vector<uint64_t> blobSizes;
  for (uint32_t i = 1; i < count; ++i)
    blobSizes.push_back(sections[i].size);
  TRACEA_RETURN_IF_ERROR(
      runtime::validate(program.manifest, blobSizes, limits.manifest));
  for (uint32_t i = 1; i < count; ++i) {
    Bytes blob = bytes.subspan(sections[i].offset, sections[i].size);
    program.blobs.emplace_back(blob.begin(), blob.end());
  }
  return program;
}

} // namespace

bool ProgramFile::hasMagic(Bytes bytes) {
  return bytes.size() >= sizeof magic &&
         std::memcmp(bytes.data(), magic, sizeof magic) == 0;
}

Status ProgramFile::validate(const ManifestLimits &limits) const {
  std::vector<uint64_t> blobSizes;
  for (const std::vector<uint8_t> &blob : blobs)
    blobSizes.push_back(blob.size());
  return runtime::validate(manifest, blobSizes, limits);
}

Expected<std::vector<uint8_t>>
ProgramFile::serialize(const SigningKey *key) const {
  try {
    Expected<Head> head = buildHead(*this, key != nullptr);
    if (!head)
      return head.status();
    std::vector<uint8_t> bytes = std::move(head->bytes);
    bytes.resize(head->totalSize);
    for (size_t i = 0; i < blobs.size(); ++i)
      std::copy(blobs[i].begin(), blobs[i].end(),
                bytes.begin() +
                    static_cast<ptrdiff_t>(head->sections[i + 1].offset));
    if (key)
      TRACEA_RETURN_IF_ERROR(signContainer(bytes, *key).withContext("program"));
    return bytes;
  } catch (const std::bad_alloc &) {
    return Status::outOfMemory("program: out of memory");
  }
}

Expected<ProgramFile> ProgramFile::parse(Bytes bytes,
                                         const ProgramLimits &limits) {
  try {
    return parseContainer(bytes, limits);
  } catch (const std::bad_alloc &) {
    return Status::outOfMemory("program: out of memory");
  }
}

ReadLimit ProgramFile::readLimit(const ProgramLimits &limits) {
  return [most = limits.maxBytes](Bytes head) -> Expected<uint64_t> {
    if (head.size() >= headerBytes && !hasMagic(head))
      return noMagic();
    return most;
  };
}

Expected<ProgramFile> ProgramFile::load(const std::string &path,
                                        const TrustPolicy &trust,
                                        const ProgramLimits &limits) {
  FileOrigin origin;
  Expected<std::vector<uint8_t>> bytes =
      readFile(path, readLimit(limits), &origin);
  if (!bytes)
    return bytes.status();
  Expected<ProgramFile> program = parse(*bytes, limits);
  if (!program)
    return program.status().withContext(path);
  TRACEA_RETURN_IF_ERROR(
      checkTrust(trust, program->signer, origin).withContext(path));
  return program;
}

Status ProgramFile::save(const std::string &path, const SigningKey *key) const {
  try {
    if (key) { // What is signed has to stand in one piece.
      Expected<std::vector<uint8_t>> bytes = serialize(key);
      if (!bytes)
        return bytes.status().withContext(path);
      return writeFileAtomic(path, {Bytes(*bytes)}, modeOfCode);
    }
    Expected<Head> head = buildHead(*this, false);
    if (!head)
      return head.status().withContext(path);
    // The blobs are written from where they are; only the gaps are made.
    static constexpr unsigned char zeros[sectionAlign] = {};
    std::vector<Bytes> pieces = {head->bytes};
    uint64_t end = head->bytes.size();
    for (size_t i = 0; i < blobs.size(); ++i) {
      const Section &section = head->sections[i + 1];
      pieces.push_back(Bytes(zeros, section.offset - end));
      pieces.push_back(blobs[i]);
      end = section.offset + section.size;
    }
    return writeFileAtomic(path, pieces, modeOfCode);
  } catch (const std::bad_alloc &) {
    return Status::outOfMemory(path + ": out of memory");
  }
}

} // namespace tracea::runtime
