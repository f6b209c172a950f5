//===- Views.h - What is proved, as tables and drawings ---------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TOOLS_TRACEA_VIEWS_H
#define TRACEA_TOOLS_TRACEA_VIEWS_H

#include "Frontend.h"
#include "Support.h"
#include "tracea/Runtime/Manifest.h"

namespace tracea::driver {

struct ViewOptions {
  /// "lanes", "banks", "pipeline", "coverage".
  std::vector<std::string> views;
  /// Empty: all kernels.
  std::string kernel;
  int iterations = 3;
  /// Where drawings go; empty: text to the standard output.
  std::string svgFolder;

  bool isAsked() const { return !views.empty() || !svgFolder.empty(); }
};

/// Draws what the models of the certificates say, and the lane maps of the
/// compiled module where there is one.
Status showViews(const std::string &source, const runtime::Manifest &manifest,
                 const CompileReport *report, const ViewOptions &options);

} // namespace tracea::driver

#endif // TRACEA_TOOLS_TRACEA_VIEWS_H
