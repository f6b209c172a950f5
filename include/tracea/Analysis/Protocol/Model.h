//===- Model.h - A protocol as one line of text ---------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a certificate carries, so that its claim can be decided again without
// the kernel. Words are separated by spaces:
//
//   protocol/1 NAME registers N named N
//   channel NAME SLOTS PARTS FULL EMPTY PRODUCERS CONSUMERS FLAGS READERS...
//   trip NAME, barrier NAME
//   role NAME THREADS REGISTERS FLAGS, then of it:
//   position SLOTS/MODULUS/FLIP/PARITY, value NAME, variable NAME INITIAL,
//   expr OPERATOR BITS/OPERANDS, and a word a step: its name, a colon, then a
//   letter and a number for each field that is set.
//
// Places in the source are not part of it.

#ifndef TRACEA_ANALYSIS_PROTOCOL_MODEL_H
#define TRACEA_ANALYSIS_PROTOCOL_MODEL_H

#include "tracea/Algebra/Expected.h"
#include "tracea/Analysis/Protocol/Protocol.h"

#include <string>
#include <string_view>

namespace tracea::analysis {

std::string writeModel(const Protocol &protocol);

/// Reads what `writeModel` wrote. The text may come from anywhere: what is not
/// a protocol within the checker's limits is an error that names the word.
algebra::Expected<Protocol> readModel(std::string_view text);

} // namespace tracea::analysis

#endif // TRACEA_ANALYSIS_PROTOCOL_MODEL_H
