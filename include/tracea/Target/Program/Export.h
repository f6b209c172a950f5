//===- Export.h - From a module to the manifest of its program --*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TARGET_PROGRAM_EXPORT_H
#define TRACEA_TARGET_PROGRAM_EXPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Runtime/ProgramFile.h"

#include <string>

namespace mlir::tracea {

struct ExportOptions {
  /// The function to export; empty: all public ones.
  std::string entry;
  /// A kernel that lacks a certificate is an error.
  bool requireProof = false;
  /// Recorded in the manifest.
  std::string producer = "tracea 0.1.0";
};

/// Describes the bufferized and outlined functions of `module` as a program:
/// inputs, sizes as expressions, buffers, launches and outputs, and the
/// constants in a blob. Kernels are listed by symbol; their blob (number 0) is
/// empty until the code has been made. What only the lowered kernels know
/// stands in the functions of `code`, a copy of the module that went on to its
/// target: workspaces, threads, parameters, tensor maps, certificates.
///
/// An operation that a program cannot express is an error at its location.
///
/// Of a launch with several kernels a CPU's program has the first one, for
/// nothing but a GPU asks more of its arguments than their types say.
FailureOr<::tracea::runtime::ProgramFile>
exportProgram(ModuleOp module, ModuleOp code,
              const ExportOptions &options = {});

/// Adds a form of the code of all kernels, which is for `arch`; the first one
/// fills the blob that kernels name. `isa` is the version of a text.
void addImage(::tracea::runtime::ProgramFile &program,
              ::tracea::runtime::ImageKind kind, std::vector<uint8_t> code,
              StringRef arch, int64_t isa = 0);

/// Text as one line that a manifest takes.
std::string cutLine(StringRef text);

/// A certificate of a manifest, with the digest of its text.
::tracea::runtime::CertificateSpec
makeCertificate(StringRef check, StringRef claim, StringRef model);

/// What a kernel says of itself: names, certificates, what was not decided.
/// Warns where it has changed since it was proved.
::tracea::runtime::KernelSpec describeKernel(tracea_pipe::KernelOp kernel);

} // namespace mlir::tracea

#endif // TRACEA_TARGET_PROGRAM_EXPORT_H
