//===- ClaimWords.cpp - What the words of a claim mean --------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/ClaimWords.h"

#include <algorithm>
#include <cctype>

using namespace tracea::analysis;

const std::vector<CheckScope> &tracea::analysis::getCheckScopes() {
  static const std::vector<CheckScope> scopes = {
      {"protocol", "kernel", "yes",
       "copies and multiplies end when the barrier says so",
       "that the right data are in a slot; how long anybody waits"},
      {"banks", "kernel", "yes",
       "the bank model of the target, which is measured",
       "copies in bulk, descriptors of the matrix unit, memory that is not "
       "staged"},
      {"coverage", "kernel", "yes",
       "`protocol`; arguments that do not overlap; the emptiness test of MLIR",
       "which value an element gets: operands' rows and columns where no "
       "definition says them, masks, the epilogue; what is read before it is "
       "written; loaded indices"},
      {"resources", "kernel", "yes", "the table of the target",
       "registers that the code generator needs beside the tiles"},
      {"numerics", "kernel", "no",
       "`coverage`; the rounding of each operation as the target defines it",
       "that the order is the one that somebody wants; accuracy"},
      {"target-protocol", "target IR", "where it has barriers",
       "what `llvm.intr.assume` says at the top of the kernel",
       "addresses inside of a buffer; what comes after: LLVM, the assembler"},
  };
  return scopes;
}

const std::vector<ClaimWords> &tracea::analysis::getClaimWords() {
  static const std::vector<ClaimWords> words = {
      {"protocol", "nobody waits for anybody",
       "there are no roles and no channels"},
      {"protocol", "N roles",
       "so many programs run beside each other, none of which waits for ever"},
      {"protocol", "N channels",
       "no slot of these rings is overwritten while it is read or read before "
       "it is full; no phase is mistaken"},
      {"protocol", "every trip count", "of each loop, zero and one included"},
      {"banks", "the memory of a CPU has no banks", "nothing to prove"},
      {"banks", "no accesses to staged memory", "nothing to prove"},
      {"banks",
       "N accesses to staged memory take at most N cycle(s) a phase on …",
       "each instruction, for every register, warp and window"},
      {"banks", "N by rank", "so many of them by linear algebra over F2"},
      {"banks", "N by enumeration of a period",
       "so many by trying all places that can differ"},
      {"coverage", "all elements of N result(s) written exactly once",
       "each element of each argument that a launch has under `outs`, by one "
       "tile, team, iteration and element of a register tile"},
      {"coverage", "no results",
       "nobody launches the kernel, or no launch names a result"},
      {"coverage", "again by N store(s) after",
       "so many more stores in a row write all of a result, each in the same "
       "tile"},
      {"coverage", "N sum(s) in them as defined with each term once",
       "the same, of products of the very elements that the kernel's "
       "definition gives for each element of the result: rows, columns, steps "
       "and taps; elements beyond an extent are zero"},
      {"coverage", "N sum(s) in them with each term once",
       "each index of the dimensions that a sum walks along is added once to "
       "what is stored; not that the term is the one which the operation "
       "names"},
      {"coverage", "N as far as memory says",
       "so many of these sums, or of the operands of sums, end where a number "
       "says that the kernel reads from memory, whichever it is: the terms in "
       "front of that are added, those behind it are not. Where a list in "
       "memory says which blocks there are, they are the terms of its places"},
      {"coverage", "N access(es) in bounds",
       "loads, stores, copies, operands of multiplies, each in its buffer"},
      {"coverage", "N condition(s)",
       "slots are read where copies have filled them; loops around stores run; "
       "stores in a row belong to one tile; operands are not negative"},
      {"coverage", "N operand(s) of sums with each term once",
       "of sums whose value is not followed: each index of the dimensions that "
       "it walks along is copied for one step of the loops that add up; not "
       "that it is multiplied there, nor that the sum reaches the result"},
      {"coverage", "N pair(s) of operands in step",
       "both operands of a multiply have the same index there"},
      {"coverage", "N slot(s) filled from registers",
       "each element by one store, before the slot is read or copied out"},
      {"coverage", "N claim(s) about the data not decided",
       "so many of the last three are not proved; the reasons are in the "
       "model"},
      {"coverage", "for all sizes",
       "extents and integers of a launch, from 0 on"},
      {"coverage", "with …",
       "that satisfy this: sizes of arguments that are equal (`dim1_0` is "
       "dimension 0 of argument 1), and what the host has checked. A launch "
       "that is not of that kind is refused"},
      {"coverage", "that pass N check(s)", "the same, where it is long"},
      {"coverage", "no index beyond 64 bits",
       "no sum or product on the way to an address wraps"},
      {"coverage", "where … is not",
       "if this sum fits, which the program checks before a run"},
      {"resources", "no workspace", "of a thread, on a CPU"},
      {"resources", "workspace N KiB", "of a thread, on a CPU"},
      {"resources", "N of N vector registers",
       "alive together, a lower bound; more is a warning"},
      {"resources", "N vector(s) alive",
       "the same, where the target does not say how many it has"},
      {"resources", "N of N tile registers",
       "of a CPU's tile unit, sums and operands alive together; more is "
       "refused"},
      {"resources", "shared N of N KiB",
       "rings, scratch and barriers of a workgroup, against its share"},
      {"resources", "N threads", "of a workgroup, which can be launched"},
      {"resources", "registers N of N",
       "budgets by role, against the registers of a multiprocessor"},
      {"resources", "N live", "registers of tiles, by role, a lower bound"},
      {"resources", "registers N live of N a thread",
       "the same without roles, against what a thread can have"},
      {"resources", "N named barrier(s)", "no more than the target has"},
      {"numerics", "class …",
       "a digest of the order in which an element is computed and of where it "
       "is rounded, for every element; equal classes give equal bits. The "
       "words "
       "behind it explain it"},
      {"target-protocol", "N roles",
       "what `protocol` says, of the lowered function as it stands"},
      {"target-protocol", "N rings",
       "with the addresses and parities that it computes"},
      {"target-protocol", "every trip count", "of each loop"},
  };
  return words;
}

/// All ends of what `words` match at `begin`.
static std::vector<size_t> match(std::string_view words, std::string_view text,
                                 size_t begin) {
  std::vector<size_t> ends = {begin};
  auto consume = [&](std::string_view prefix) {
    if (words.substr(0, prefix.size()) != prefix)
      return false;
    words.remove_prefix(prefix.size());
    return true;
  };
  auto isFigure = [&](size_t at) {
    return at < text.size() &&
           (std::isdigit(static_cast<unsigned char>(text[at])) ||
            text[at] == '/' || text[at] == '.');
  };
  bool isWordStart = true;
  while (!words.empty()) {
    std::vector<size_t> next;
    auto optional = [&](std::string_view plural) {
      next = ends;
      for (size_t end : ends)
        if (text.substr(end, plural.size()) == plural)
          next.push_back(end + plural.size());
    };
    if (consume("(s)")) {
      optional("s");
    } else if (consume("(es)")) {
      optional("es");
    } else if (consume("…")) {
      for (size_t at = ends.front(); at <= text.size(); ++at)
        next.push_back(at);
    } else if (isWordStart && words[0] == 'N' &&
               (words.size() == 1 || words[1] == ' ')) {
      words.remove_prefix(1);
      for (size_t end : ends) {
        size_t after = end;
        while (isFigure(after))
          ++after;
        if (after > end)
          next.push_back(after);
      }
    } else {
      isWordStart = words[0] == ' ';
      for (size_t end : ends)
        if (end < text.size() && text[end] == words[0])
          next.push_back(end + 1);
      words.remove_prefix(1);
    }
    if (next.empty())
      return {};
    ends = std::move(next);
  }
  return ends;
}

bool tracea::analysis::hasKnownWords(std::string_view check,
                                     std::string_view claim) {
  // Which places words may end at, from the front on.
  std::vector<bool> isReached(claim.size() + 3);
  isReached[0] = true;
  for (size_t begin = 0; begin < claim.size(); ++begin)
    for (const ClaimWords &entry : getClaimWords()) {
      if (!isReached[begin] || entry.check != check)
        continue;
      for (size_t end : match(entry.words, claim, begin)) {
        if (end == claim.size())
          return true;
        for (std::string_view separator : {", ", " "})
          if (claim.substr(end, separator.size()) == separator)
            isReached[end + separator.size()] = true;
      }
    }
  return false;
}
