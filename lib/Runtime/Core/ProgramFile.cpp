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
#include <set>

namespace tracea::runtime {

namespace {

constexpr uint8_t programMagic[8] = {0x89, 'T', 'R', 'A', 'C', 'E', 'A', '\n'};
/// Of one manifest and of several; one more is a signed program.
constexpr uint32_t containerVersion = 1;
constexpr uint32_t containerVersionOfSeveral = 3;
constexpr uint32_t lastContainerVersion = 4;
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
/// manifests, and where each blob stands.
struct Head {
  std::vector<uint8_t> bytes;
  std::vector<Section> sections;
  uint64_t totalSize = 0;
};

Status tooLarge() { return Status::error("program: too large"); }

Bytes bytesOf(const std::string &text) {
  return Bytes(reinterpret_cast<const unsigned char *>(text.data()),
               text.size());
}

Expected<Head> buildHead(const ProgramFile &program, bool isSigned) {
  TRACEA_RETURN_IF_ERROR(program.validate());
  std::vector<std::string> manifests;
  for (const Manifest *manifest : program.versions()) {
    Expected<std::string> json = toJSON(*manifest);
    if (!json)
      return json.status();
    if (json->size() > ManifestLimits().maxJsonBytes)
      return tooLarge();
    manifests.push_back(std::move(*json));
  }
  uint64_t count = manifests.size() + program.blobs.size();
  if (count > ProgramLimits().maxSections)
    return tooLarge();

  Head head;
  uint64_t tableBytes = count * entryBytes;
  uint64_t end = headerBytes + tableBytes;
  std::vector<uint8_t> table(tableBytes);
  for (uint64_t i = 0; i < count; ++i) {
    bool isManifest = i < manifests.size();
    uint64_t index = isManifest ? i : i - manifests.size();
    Bytes contents =
        isManifest ? bytesOf(manifests[index]) : Bytes(program.blobs[index]);
    Section section;
    section.kind = isManifest ? kindManifest : kindBlob;
    section.index = static_cast<uint32_t>(index);
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

  const Section &last = head.sections[manifests.size() - 1];
  head.bytes.assign(last.offset + last.size, 0);
  uint8_t *header = head.bytes.data();
  std::memcpy(header, programMagic, sizeof programMagic);
  writeLittle<uint32_t>(
      header + 8,
      (manifests.size() > 1 ? containerVersionOfSeveral : containerVersion) +
          (isSigned ? 1 : 0));
  writeLittle<uint32_t>(header + 12, static_cast<uint32_t>(count));
  writeLittle<uint64_t>(header + 16, end);
  Checksum sum = checksumOfHead(header, table);
  std::memcpy(header + checkedHeaderBytes, sum.digest, sizeof sum.digest);
  std::memcpy(header + headerBytes, table.data(), table.size());
  for (size_t i = 0; i < manifests.size(); ++i)
    std::memcpy(header + head.sections[i].offset, manifests[i].data(),
                manifests[i].size());
  return head;
}

Status noProgramMagic() {
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
/// `end` is where the previous section ended and then where this one does;
/// `numManifests` counts those before it and then this one, too. All of them
/// come first, and there are two or more where there are `several`.
Expected<Section> readSection(Bytes bytes, uint32_t i, bool several,
                              uint32_t &numManifests, uint64_t &end) {
  uint64_t where = headerBytes + i * entryBytes;
  const uint8_t *entry = bytes.data() + where;
  Section section;
  section.kind = readLittle<uint32_t>(entry);
  section.index = readLittle<uint32_t>(entry + 4);
  section.offset = readLittle<uint64_t>(entry + 8);
  section.size = readLittle<uint64_t>(entry + 16);
  std::string name = "section " + std::to_string(i);

  bool mayBeManifest = several && i == numManifests;
  bool isManifest =
      i < (several ? 2 : 1) || (mayBeManifest && section.kind == kindManifest);
  numManifests += isManifest;
  uint32_t kind = isManifest ? kindManifest : kindBlob;
  uint32_t index = isManifest ? i : i - numManifests;
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

bool isSame(const InputSpec &a, const InputSpec &b) {
  return a.name == b.name && a.type == b.type && a.shape == b.shape &&
         a.isScalar == b.isScalar && a.isConstant == b.isConstant;
}

/// How entries differ for a caller, "" where they do not.
std::string findDifference(const EntrySpec &entry, const EntrySpec &other) {
  if (entry.inputs.size() != other.inputs.size())
    return std::to_string(entry.inputs.size()) + " inputs, found " +
           std::to_string(other.inputs.size());
  for (size_t i = 0; i < entry.inputs.size(); ++i)
    if (!isSame(entry.inputs[i], other.inputs[i]))
      return "input " + std::to_string(i) + " as it is there";
  if (entry.outputs.size() != other.outputs.size())
    return std::to_string(entry.outputs.size()) + " outputs, found " +
           std::to_string(other.outputs.size());
  for (size_t i = 0; i < entry.outputs.size(); ++i)
    if (entry.outputs[i].type != other.outputs[i].type ||
        entry.outputs[i].view.sizes.size() !=
            other.outputs[i].view.sizes.size())
      return "output " + std::to_string(i) + " as it is there";
  return "";
}

/// That whoever calls the program need not know which version runs.
Status compareVersions(const Manifest &first, const Manifest &other) {
  if (other.target.kind != first.target.kind)
    return Status::error("expected a target of kind \"" + first.target.kind +
                         "\", as of the first manifest, found \"" +
                         other.target.kind + "\"");
  if (other.entries.size() != first.entries.size())
    return Status::error("expected " + std::to_string(first.entries.size()) +
                         " entries, as of the first manifest, found " +
                         std::to_string(other.entries.size()));
  for (const EntrySpec &entry : first.entries) {
    const EntrySpec *same = other.findEntry(entry.name);
    if (!same)
      return Status::error("expected an entry \"" + entry.name +
                           "\", as the first manifest has it, found none");
    std::string difference = findDifference(entry, *same);
    if (!difference.empty())
      return Status::error("entry \"" + entry.name +
                           "\" differs from that of the first manifest: "
                           "expected " +
                           difference);
  }
  return Status::success();
}

Status validateVersions(const ProgramFile &program,
                        const std::vector<uint64_t> &blobSizes,
                        const ManifestLimits &limits) {
  TRACEA_RETURN_IF_ERROR(
      runtime::validate(program.manifest, blobSizes, limits));
  std::set<std::string> names = {program.manifest.target.name};
  for (size_t i = 0; i < program.others.size(); ++i) {
    const Manifest &other = program.others[i];
    std::string context = "manifest " + std::to_string(i + 1);
    TRACEA_RETURN_IF_ERROR(
        runtime::validate(other, blobSizes, limits).withContext(context));
    TRACEA_RETURN_IF_ERROR(
        compareVersions(program.manifest, other).withContext(context));
    if (!names.insert(other.target.name).second)
      return Status::error(context +
                           ": an earlier manifest is for the target \"" +
                           other.target.name + "\" as well");
  }
  return Status::success();
}

Expected<ProgramFile> parseContainer(Bytes bytes, const ProgramLimits &limits) {
  if (bytes.size() < headerBytes)
    return Status::error("program: expected at least " +
                         std::to_string(headerBytes) + " bytes, found " +
                         std::to_string(bytes.size()));
  if (!ProgramFile::hasMagic(bytes))
    return noProgramMagic();
  uint32_t version = readLittle<uint32_t>(bytes.data() + 8);
  if (version < containerVersion || version > lastContainerVersion)
    return expected("container version 1 to", lastContainerVersion, version, 8);
  bool hasSeveral = version >= containerVersionOfSeveral;
  bool isSigned = version % 2 == 0;
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
  uint32_t numManifests = 0;
  std::vector<Section> sections;
  for (uint32_t i = 0; i < count; ++i) {
    Expected<Section> section =
        readSection(bytes, i, hasSeveral, numManifests, end);
    if (!section)
      return section.status();
    sections.push_back(*section);
  }
  ProgramFile program;
  if (isSigned) {
    Expected<PublicKey> signer = readSignature(bytes, end);
    if (!signer)
      return signer.status();
    program.signer = *signer;
  }
  if (end != bytes.size())
    return Status::error("program: expected the end of the file at byte " +
                         std::to_string(end) + ", found " +
                         std::to_string(bytes.size() - end) + " bytes more");

  if (hasSeveral && numManifests < 2)
    return Status::error("program: expected 2 or more manifests in a container "
                         "of version " +
                         std::to_string(version) + ", found " +
                         std::to_string(numManifests));
  if (numManifests > limits.maxVersions)
    return Status::error("program: expected at most " +
                         std::to_string(limits.maxVersions) +
                         " manifests, found " + std::to_string(numManifests));
  for (uint32_t i = 0; i < numManifests; ++i) {
    if (sections[i].size > limits.manifest.maxJsonBytes)
      return expected("a manifest of at most", limits.manifest.maxJsonBytes,
                      sections[i].size, sections[i].offset);
    Expected<Manifest> manifest =
        manifestFromJSON(std::string(reinterpret_cast<const char *>(
                                         bytes.data() + sections[i].offset),
                                     sections[i].size),
                         limits.manifest);
    if (!manifest)
      return i == 0 ? manifest.status()
                    : manifest.status().withContext("manifest " +
                                                    std::to_string(i));
    (i == 0 ? program.manifest : program.others.emplace_back()) =
        std::move(*manifest);
  }
  std::vector<uint64_t> blobSizes;
  for (uint32_t i = numManifests; i < count; ++i)
    blobSizes.push_back(sections[i].size);
  TRACEA_RETURN_IF_ERROR(validateVersions(program, blobSizes, limits.manifest));
  for (uint32_t i = numManifests; i < count; ++i) {
    Bytes blob = bytes.subspan(sections[i].offset, sections[i].size);
    program.blobs.emplace_back(blob.begin(), blob.end());
  }
  return program;
}

} // namespace

bool ProgramFile::hasMagic(Bytes bytes) {
  return bytes.size() >= sizeof programMagic &&
         std::memcmp(bytes.data(), programMagic, sizeof programMagic) == 0;
}

Status ProgramFile::validate(const ManifestLimits &limits) const {
  std::vector<uint64_t> blobSizes;
  for (const std::vector<uint8_t> &blob : blobs)
    blobSizes.push_back(blob.size());
  return validateVersions(*this, blobSizes, limits);
}

std::vector<const Manifest *> ProgramFile::versions() const {
  std::vector<const Manifest *> all = {&manifest};
  for (const Manifest &other : others)
    all.push_back(&other);
  return all;
}

void ProgramFile::addVersions(ProgramFile program) {
  std::vector<int64_t> numbers;
  for (std::vector<uint8_t> &blob : program.blobs) {
    auto same = std::find(blobs.begin(), blobs.end(), blob);
    numbers.push_back(same == blobs.end() ? addBlob(std::move(blob))
                                          : same - blobs.begin());
  }
  // What names no blob is for `validate` to find.
  auto renumber = [&](int64_t &blob) {
    bool isThere = blob >= 0 && blob < static_cast<int64_t>(numbers.size());
    blob = isThere ? numbers[static_cast<size_t>(blob)] : -1;
  };
  others.push_back(std::move(program.manifest));
  for (Manifest &other : program.others)
    others.push_back(std::move(other));
  for (size_t i = others.size() - 1 - program.others.size(); i < others.size();
       ++i) {
    for (KernelSpec &kernel : others[i].kernels)
      renumber(kernel.blob);
    for (ConstantSpec &constant : others[i].constants)
      renumber(constant.blob);
    for (ImageSpec &image : others[i].images) {
      renumber(image.code);
      renumber(image.blob);
    }
  }
}

void ProgramFile::selectVersion(size_t index) {
  if (index > 0)
    manifest = std::move(others[index - 1]);
  others.clear();
}

Status ProgramFile::selectTarget(const std::string &name) {
  std::string known;
  std::vector<const Manifest *> all = versions();
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i]->target.name == name) {
      selectVersion(i);
      return Status::success();
    }
    known += (i ? ", '" : "'") + all[i]->target.name + "'";
  }
  return Status::error("the program holds no version for the target '" + name +
                       "'; it holds " + known);
}

Expected<std::vector<uint8_t>>
ProgramFile::serialize(const SigningKey *key) const {
  try {
    Expected<Head> head = buildHead(*this, key != nullptr);
    if (!head)
      return head.status();
    std::vector<uint8_t> bytes = std::move(head->bytes);
    bytes.resize(head->totalSize);
    size_t numManifests = head->sections.size() - blobs.size();
    for (size_t i = 0; i < blobs.size(); ++i)
      std::copy(blobs[i].begin(), blobs[i].end(),
                bytes.begin() + static_cast<ptrdiff_t>(
                                    head->sections[numManifests + i].offset));
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
      return noProgramMagic();
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
    size_t numManifests = head->sections.size() - blobs.size();
    for (size_t i = 0; i < blobs.size(); ++i) {
      const Section &section = head->sections[numManifests + i];
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
