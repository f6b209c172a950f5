//===- NoPolly.cpp - Stands in for the Polly plugin in static links
//--------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Debian's LLVM is built with Polly linked into its tools, so the static
// link-time optimizer that lld stands on refers to Polly's registration. Tracea
// does not use Polly: this registration adds no pass.
//
//===----------------------------------------------------------------------===//
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo();

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "NoPolly", LLVM_VERSION_STRING,
          [](llvm::PassBuilder &) {}, nullptr};
}
