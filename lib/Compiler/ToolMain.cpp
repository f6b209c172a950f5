//===- ToolMain.cpp - What every tool does first --------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Compiler/ToolMain.h"

#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

namespace tc = ::tracea::compiler;

/// Memory is taken from the system as a stack grows into it. Chains of
/// operations have no limit as brackets have (`SourceLimits.h`), and some of
/// MLIR's analyses recurse over them.
static constexpr size_t stackBytes = size_t(256) << 20;

/// The lowest free number goes to the next file that is opened. In place of
/// each closed stream stands one that can be neither read nor written.
static void occupyStandardStreams() {
  for (int fd = 0; fd <= 2; ++fd)
    if (::fcntl(fd, F_GETFD) < 0)
      (void)::open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

namespace {
struct Call {
  int argc;
  char **argv;
  int (*body)(int, char **);
  int result = 1;
};
} // namespace

static void *runCall(void *argument) {
  Call *call = static_cast<Call *>(argument);
  call->result = call->body(call->argc, call->argv);
  return nullptr;
}

int tc::runTool(int argc, char **argv, int (*body)(int, char **)) {
  occupyStandardStreams();
  std::signal(SIGPIPE, SIG_IGN);

  Call call{argc, argv, body};
  pthread_attr_t attributes;
  pthread_t thread;
  bool hasAttributes =
      ::pthread_attr_init(&attributes) == 0 &&
      ::pthread_attr_setstacksize(&attributes, stackBytes) == 0;
#ifdef __GLIBC__
  // The threads of MLIR's pool are made with the defaults.
  if (hasAttributes)
    (void)::pthread_setattr_default_np(&attributes);
#endif
  // Where address space is too scarce for such a stack, the one there is has to
  // do.
  if (!hasAttributes ||
      ::pthread_create(&thread, &attributes, runCall, &call) != 0)
    return body(argc, argv);
  ::pthread_join(thread, nullptr);
  ::pthread_attr_destroy(&attributes);
  return call.result;
}

int tc::finishOutput(llvm::ToolOutputFile &output) {
  llvm::raw_fd_ostream &stream = output.os();
  stream.flush();
  if (std::error_code error = stream.error()) {
    stream.clear_error(); // else it is fatal when the stream goes
    llvm::errs() << "error: "
                 << (output.getFilename() == "-"
                         ? llvm::StringRef("the standard output")
                         : output.getFilename())
                 << ": cannot write: " << error.message() << "\n";
    return 1;
  }
  output.keep();
  return 0;
}
