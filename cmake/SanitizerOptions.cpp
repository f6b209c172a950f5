//===- SanitizerOptions.cpp - AddressSanitizer beside a plain LLVM --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's arenas mark their memory for AddressSanitizer in the code that is
// built with it, and only there. Tracea's part of LLVM's inline functions would
// find unmarked what the plain LLVM libraries took from the same arena: the
// marks are left alone.
//
//===----------------------------------------------------------------------===//

extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:use_sigaltstack=0";
}
