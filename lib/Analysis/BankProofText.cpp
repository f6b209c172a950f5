//===- BankProofText.cpp - The accesses of a kernel as one line -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/BankProof.h"
#include "tracea/Analysis/Protocol/WordReader.h"

#include <array>
#include <charconv>
#include <map>

using namespace tracea::analysis;
using namespace tracea::algebra;

namespace {
constexpr std::string_view kHeader = "banks/1";
constexpr std::string_view kNothing = "-";
constexpr std::array<LaneDim, numLaneDims> kDims = {
    LaneDim::Reg, LaneDim::Lane, LaneDim::Warp, LaneDim::Block};

// Limits of what is read.
constexpr size_t kMaxText = size_t(1) << 20;
constexpr size_t kMaxAccesses = 4096;
constexpr size_t kMaxList = 64;
constexpr unsigned kMaxSwizzleBits = 40;
constexpr int64_t kMaxCount = int64_t(1) << 30;
/// Registers, lanes and warps of all tiles together.
constexpr int64_t kMaxLocations = int64_t(1) << 24;
} // namespace

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string writeList(const std::vector<int64_t> &list) {
  std::string text;
  for (int64_t number : list)
    text += (text.empty() ? "" : ",") + std::to_string(number);
  return text.empty() ? std::string(kNothing) : text;
}

static std::string writeBasis(const LaneMap &map, LaneDim dim) {
  std::string text;
  for (unsigned bit = 0; bit < map.numBits(dim); ++bit)
    text += (bit ? ";" : "") + writeList(map.basis(dim, bit));
  return text.empty() ? std::string(kNothing) : text;
}

static std::string writeSwizzle(const Swizzle &swizzle) {
  std::string text;
  for (uint64_t column : swizzle.matrix().columns()) {
    char digits[17];
    auto [end, code] =
        std::to_chars(digits, digits + sizeof digits, column, 16);
    (void)code;
    text += text.empty() ? "" : ",";
    text.append(digits, end);
  }
  return text.empty() ? std::string(kNothing) : text;
}

static std::string writeAccess(const BankedAccess &item) {
  const TileAccess &access = item.access;
  std::string text = access.kind == AccessKind::Read ? "read" : "write";
  text += " " + std::to_string(access.elementBytes) + " " +
          writeList(access.lanes.linearShape()) + " " +
          writeList(access.lanes.outer());
  for (LaneDim dim : kDims)
    text += " " + writeBasis(access.lanes, dim);
  return text + " " + writeList(access.byteSteps) + " " +
         std::to_string(access.offset) + " " + std::to_string(access.step) +
         " " + writeSwizzle(item.swizzle);
}

std::string tracea::analysis::writeModel(const BankProof &proof) {
  std::vector<std::pair<std::string, int64_t>> lines;
  std::map<std::string, size_t> numbers;
  for (const BankedAccess &item : proof.accesses) {
    std::string line = writeAccess(item);
    auto [at, isNew] = numbers.emplace(line, lines.size());
    if (isNew)
      lines.emplace_back(std::move(line), 0);
    lines[at->second].second += item.count;
  }
  std::string text = std::string(kHeader) + " " + proof.target;
  for (const auto &[line, count] : lines)
    text += " access " + std::to_string(count) + " " + line;
  return text;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Takes one word after the other; the first fault ends it.
class Reader : WordReader {
public:
  explicit Reader(std::string_view text) : WordReader(text, "model of banks") {}

  Expected<BankProof> read();

private:
  /// Parts of the text, at most kMaxList.
  bool split(std::string_view text, char separator,
             std::vector<std::string_view> &parts) {
    if (text == kNothing)
      return true;
    while (true) {
      size_t end = text.find(separator);
      parts.push_back(text.substr(0, end));
      if (parts.size() > kMaxList)
        return fail("at most " + std::to_string(kMaxList) + " elements");
      if (end == std::string_view::npos)
        return true;
      text.remove_prefix(end + 1);
    }
  }
  template <typename T>
  bool list(std::string_view text, std::vector<T> &into, int base = 10) {
    std::vector<std::string_view> parts;
    if (!split(text, ',', parts))
      return false;
    for (std::string_view part : parts)
      if (!parse(part, into.emplace_back(), base))
        return fail("a list of integers");
    return true;
  }
  bool basis(std::vector<TileCoord> &into) {
    std::vector<std::string_view> vectors;
    if (!split(next(), ';', vectors))
      return false;
    for (std::string_view vector : vectors)
      if (!list(vector, into.emplace_back()))
        return false;
    return true;
  }
  template <typename T>
  bool take(Expected<T> value, std::optional<T> &into) {
    if (!value) {
      if (error.empty())
        error = "model of banks: " + value.message();
      return false;
    }
    into.emplace(std::move(*value));
    return true;
  }
  bool lanes(std::optional<LaneMap> &map);
  bool swizzle(std::optional<Swizzle> &swizzle);
  bool access(BankProof &proof);

  int64_t locations = 0;
};
} // namespace

bool Reader::lanes(std::optional<LaneMap> &map) {
  TileCoord shape, outer;
  LaneBases bases;
  if (!list(next(), shape) || !list(next(), outer) || !basis(bases.reg) ||
      !basis(bases.lane) || !basis(bases.warp) || !basis(bases.block) ||
      !take(LaneMap::get(std::move(shape), bases, std::move(outer)), map))
    return false;
  // Each factor is at most 2^31.
  __int128 count = static_cast<__int128>(map->numRegisters()) *
                   map->numLanes() * map->numWarps();
  if (count > kMaxLocations - locations)
    return fail("at most " + std::to_string(kMaxLocations) +
                " locations of all tiles");
  locations += static_cast<int64_t>(count);
  return true;
}

bool Reader::swizzle(std::optional<Swizzle> &swizzle) {
  F2Vectors columns;
  std::optional<F2Matrix> map;
  if (!list(next(), columns, 16))
    return false;
  unsigned bits = columns.size();
  if (bits > kMaxSwizzleBits)
    return fail("a swizzle of at most " + std::to_string(kMaxSwizzleBits) +
                " bits");
  return take(F2Matrix::get(bits, std::move(columns)), map) &&
         take(Swizzle::get(*map), swizzle);
}

bool Reader::access(BankProof &proof) {
  if (proof.accesses.size() == kMaxAccesses)
    return fail("at most " + std::to_string(kMaxAccesses) + " accesses");
  int64_t count = 0, elementBytes = 0;
  if (!nextNumber(1, kMaxCount, count, "a count"))
    return false;
  bool isRead = next() == "read";
  if (!isRead && word != "write")
    return fail("'read' or 'write'");
  std::optional<LaneMap> map;
  std::optional<Swizzle> order;
  std::vector<int64_t> steps;
  int64_t offset = 0, step = 0;
  // Within them no address overflows.
  constexpr int64_t far = int64_t(1) << 38;
  if (!nextNumber(1, 16, elementBytes, "bytes of an element") || !lanes(map) ||
      !list(next(), steps) || !nextNumber(-far, far, offset, "an offset") ||
      !nextNumber(-far, far, step, "a step") || !swizzle(order))
    return false;
  proof.accesses.push_back(
      {TileAccess{std::move(*map), std::move(steps),
                  static_cast<unsigned>(elementBytes),
                  isRead ? AccessKind::Read : AccessKind::Write, offset, step},
       std::move(*order), count});
  return true;
}

Expected<BankProof> Reader::read() {
  BankProof proof;
  if (rest.size() > kMaxText)
    return Error{"model of banks: expected at most " +
                 std::to_string(kMaxText) + " bytes, found " +
                 std::to_string(rest.size())};
  bool ok = next() == kHeader || fail("'" + std::string(kHeader) + "'");
  if (ok) {
    proof.target = next();
    ok = !word.empty() || fail("a target");
  }
  while (ok && !next().empty())
    ok = word == "access" ? access(proof) : fail("'access'");
  if (!ok)
    return Error{error};
  return proof;
}

Expected<BankProof> tracea::analysis::readBankProof(std::string_view text) {
  return Reader(text).read();
}
