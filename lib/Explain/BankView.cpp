//===- BankView.cpp - Which banks the lanes of an access want -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Explain/BankView.h"
#include "tracea/Explain/Svg.h"

#include <algorithm>

using namespace tracea::explain;
using namespace tracea::algebra;
using tracea::analysis::BankedAccess;

/// "0-3, 16-19".
static std::string ranges(const std::vector<int64_t> &numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1)
      ++end;
    text += (text.empty() ? "" : ", ") + std::to_string(numbers[i]);
    if (end - i > 1)
      text += "-" + std::to_string(numbers[end - 1]);
    i = end;
  }
  return text;
}

static std::string shapeOf(const LaneMap &lanes) {
  std::string text;
  for (int64_t extent : lanes.tileShape())
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text.empty() ? "1" : text;
}

Expected<BankPicture> tracea::explain::pictureBanks(const BankedAccess &item,
                                                    const std::string &target) {
  Expected<BankModel> model = analysis::getBankModel(target);
  if (!model)
    return model.error();
  const TileAccess &access = item.access;
  Expected<TileAccessDegree> degree =
      tileAccessDegree(*model, access, item.swizzle);
  if (!degree)
    return degree.error();
  Expected<AccessPhases> phases =
      model->phasesOf(degree->widthBytes, access.kind);
  if (!phases)
    return phases.error();
  BankPicture picture;
  picture.title =
      std::string(access.kind == AccessKind::Read ? "read of " : "write of ") +
      shapeOf(access.lanes) + " elements of " +
      std::to_string(access.elementBytes) + " bytes, " +
      std::to_string(degree->widthBytes) + " bytes an instruction, on " +
      target;
  picture.verdict = std::to_string(degree->degree.degree) +
                    (degree->degree.degree == 1 ? " cycle" : " cycles") +
                    " a phase, " +
                    (degree->byRank ? "by rank" : "by enumeration of a period");
  picture.reg = degree->collision.reg;
  picture.warp = degree->collision.warp;
  picture.offset = access.offset;

  auto addressOf = [&](int64_t lane) {
    // High enough that nothing is negative; a multiple of every period.
    uint64_t address = uint64_t(1) << 62;
    address += static_cast<uint64_t>(access.offset);
    std::optional<TileCoord> at = access.lanes.coordinate(
        picture.reg, lane % access.lanes.numLanes(), picture.warp);
    for (size_t d = 0; at && d < at->size(); ++d)
      address += static_cast<uint64_t>((*at)[d] * access.byteSteps[d]);
    return item.swizzle.apply(address) - (uint64_t(1) << 62);
  };
  std::vector<bool> isDone(model->numLanes(), false);
  F2Vectors basis = phases->lanes;
  for (int64_t first = 0; first < model->numLanes(); ++first) {
    if (isDone[first])
      continue;
    BankPhase phase;
    phase.banks.resize(model->numBanks());
    for (uint64_t sum = 0; sum < uint64_t(1) << basis.size(); ++sum) {
      uint64_t lane = first;
      for (size_t i = 0; i < basis.size(); ++i)
        lane ^= sum >> i & 1 ? basis[i] : 0;
      isDone[lane] = true;
      phase.lanes.push_back(static_cast<int64_t>(lane));
    }
    std::sort(phase.lanes.begin(), phase.lanes.end());
    for (int64_t lane : phase.lanes) {
      uint64_t word = addressOf(lane) / model->wordBytes();
      int64_t words =
          std::max<int64_t>(1, degree->widthBytes / model->wordBytes());
      for (int64_t i = 0; i < words; ++i, ++word) {
        auto &wanted = phase.banks[word % model->numBanks()];
        wanted[word].push_back(lane);
        phase.cycles = std::max<int64_t>(phase.cycles, wanted.size());
      }
    }
    picture.phases.push_back(std::move(phase));
  }
  return picture;
}

static std::string whichInstruction(const BankPicture &picture) {
  return "register " + std::to_string(picture.reg) + ", warp " +
         std::to_string(picture.warp) + ", window at byte " +
         std::to_string(picture.offset);
}

static std::string headOf(const BankPhase &phase, size_t number) {
  return "phase " + std::to_string(number) + ", lanes " + ranges(phase.lanes) +
         ": " + std::to_string(phase.cycles) +
         (phase.cycles == 1 ? " cycle" : " cycles");
}

std::string tracea::explain::bankText(const BankPicture &picture) {
  std::string text = picture.title + ": " + picture.verdict + "\n  " +
                     whichInstruction(picture) +
                     "; in each cell the first lane that wants the word\n";
  for (size_t number = 0; number < picture.phases.size(); ++number) {
    const BankPhase &phase = picture.phases[number];
    text += "  " + headOf(phase, number) + "\n";
    // Banks in lines of 32.
    for (size_t from = 0; from < phase.banks.size(); from += 32) {
      size_t to = std::min(from + 32, phase.banks.size());
      auto row = [&](const std::string &head, auto cell) {
        std::string line = "    " + head + std::string(8 - head.size(), ' ');
        for (size_t bank = from; bank < to; ++bank) {
          std::string word = cell(bank);
          line += std::string(3 - std::min<size_t>(3, word.size()), ' ') + word;
        }
        text += line + "\n";
      };
      row("bank", [](size_t bank) { return std::to_string(bank); });
      for (int64_t cycle = 0; cycle < phase.cycles; ++cycle)
        row("cycle " + std::to_string(cycle % 100), [&](size_t bank) {
          const auto &wanted = phase.banks[bank];
          if (cycle >= static_cast<int64_t>(wanted.size()))
            return std::string(".");
          return std::to_string(
              std::next(wanted.begin(), cycle)->second.front());
        });
    }
  }
  return text;
}

std::string tracea::explain::bankSvg(const BankPicture &picture) {
  Svg svg;
  constexpr double left = 64, cell = 26, height = 18;
  svg.text(12, 24, "Banks of a " + picture.title, {15, kBlack, "start", true});
  svg.text(12, 42, picture.verdict + "; " + whichInstruction(picture),
           {11, kGray});
  svg.text(12, 56,
           "in each cell the first lane that wants a word; what waits is red",
           {11, kGray});
  size_t numLanes = 1;
  for (const BankPhase &phase : picture.phases)
    numLanes = std::max<size_t>(numLanes, phase.lanes.back() + 1);
  double y = 82;
  for (size_t number = 0; number < picture.phases.size(); ++number) {
    const BankPhase &phase = picture.phases[number];
    svg.text(12, y, headOf(phase, number),
             {11, phase.cycles > 1 ? kRed : kBlack, "start", true});
    y += 16;
    svg.text(12, y, "bank", {9, kGray});
    for (size_t bank = 0; bank < phase.banks.size(); ++bank)
      svg.text(left + (double(bank) + 0.5) * cell, y, std::to_string(bank),
               {9, kGray, "middle"});
    y += 4;
    for (int64_t cycle = 0; cycle < phase.cycles; ++cycle) {
      svg.text(12, y + double(cycle) * height + 13,
               "cycle " + std::to_string(cycle), {9, kGray});
      for (size_t bank = 0; bank < phase.banks.size(); ++bank) {
        const auto &wanted = phase.banks[bank];
        double x = left + double(bank) * cell, top = y + double(cycle) * height;
        if (cycle >= static_cast<int64_t>(wanted.size())) {
          svg.box(x, top, cell, height, kWhite, kLight);
          continue;
        }
        const auto &[word, lanes] = *std::next(wanted.begin(), cycle);
        svg.beginHint("bank " + std::to_string(bank) + ", word " +
                      std::to_string(word) + ": lanes " + ranges(lanes));
        svg.box(x + 1, top + 1, cell - 2, height - 2,
                paleColor(static_cast<size_t>(lanes.front()), numLanes),
                cycle ? kRed : kLine, cycle ? 1.5 : 0.5);
        svg.text(x + cell / 2, top + 13, std::to_string(lanes.front()),
                 {10, kBlack, "middle"});
        svg.endHint();
      }
    }
    y += double(phase.cycles) * height + 22;
  }
  return svg.str("Banks of a " + picture.title);
}
