//===- Session.cpp - A module or program, loaded with its inputs ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Session.h"

#include "Commands.h"
#include "Proofs.h"
#include "SourceFile.h"
#include "Stopwatch.h"
#include "Trust.h"

#include <algorithm>

using namespace tracea::driver;
namespace rt = tracea::runtime;

void tracea::driver::addSessionOptions(CLI::App &app, SessionOptions &options) {
  app.add_option("module", options.source,
                 "A module (.mlir text or bytecode), a program (.tracea), or - "
                 "for the standard input")
      ->required()
      ->type_name("FILE");
  app.add_option("--target", options.target,
                 "Machine to compile for: cpu is this one; default: what the "
                 "device is. Of a program: the version to run")
      ->type_name("NAME");
  addRunOptions(app, options);
  addTrustOption(app, options.trust);
  addPluginOption(app);
  app.add_flag("--require-proof", options.requireProof,
               "A kernel that lacks a certificate is an error");
}

//===----------------------------------------------------------------------===//
// Source
//===----------------------------------------------------------------------===//

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Expected<Source> Source::open(const std::string &path) {
  Source source;
  Expected<std::vector<uint8_t>> bytes = readInput(path, source.origin);
  if (!bytes)
    return bytes.status();
  source.name = displayName(path);
  if (rt::ProgramFile::hasMagic(*bytes) || endsWith(path, ".tracea")) {
    Expected<rt::ProgramFile> program = rt::ProgramFile::parse(*bytes);
    if (!program)
      return program.status().withContext(source.name);
    source.program = std::move(*program);
    return source;
  }
  source.module = Frontend::parse(source.name, *bytes);
  if (!source.module)
    return Status::error("cannot parse '" + source.name + "'");
  return source;
}

//===----------------------------------------------------------------------===//
// Session
//===----------------------------------------------------------------------===//

namespace {
/// Where to run, and what to compile for.
struct Place {
  DeviceName device;
  std::string target;
};
} // namespace

/// The place for a module compiled for `--target`.
static Expected<Place> choosePlace(const SessionOptions &options) {
  Expected<DeviceName> device = parseDevice(options.device);
  if (!device)
    return device.status();
  Place place{*device, ""};
  if (options.target.empty()) {
    if (place.device.kind.empty())
      place.device.kind = "cpu";
    // A GPU's target is known when it has been opened.
    place.target = place.device.kind == "cpu" ? "cpu" : "";
    return place;
  }
  Expected<tracea::target::TargetDescription> machine =
      findTarget(options.target);
  if (!machine)
    return machine.status();
  std::string kind(tracea::target::stringify(machine->kind));
  if (machine->isGPU() && kind != "cuda")
    return Status::error("cannot run on target '" + options.target +
                         "': expected one of kind cpu or cuda, found kind " +
                         kind);
  if (!place.device.kind.empty() && place.device.kind != kind)
    return Status::error("--device " + options.device + ": target '" +
                         options.target + "' is of kind " + kind);
  place.device.kind = kind;
  place.target = options.target;
  return place;
}

/// The table's entry for a GPU: code for one chip alone is what uses all of it.
static Expected<std::string> findTargetOf(const rt::Device &device) {
  const std::string &arch = device.info().arch;
  for (const std::string &name : {arch + "a", arch})
    if (tracea::target::lookup(name))
      return name;
  return Status::error("no target is known for the device " +
                       device.info().name + " (" + arch +
                       "); 'tracea doctor -v' lists the targets");
}

Expected<Session> Session::open(const SessionOptions &options) {
  Session session;
  Expected<Place> place = choosePlace(options);
  if (!place)
    return place.status();

  Expected<rt::TrustPolicy> trust = parseTrust(options.trust);
  if (!trust)
    return trust.status();

  Expected<Source> source = Source::open(options.source);
  if (!source)
    return source.status();
  session.source = std::move(*source);
  if (session.source.program)
    TRACEA_RETURN_IF_ERROR(requireTrust(session.source.name, *trust,
                                        *session.source.program,
                                        session.source.origin));
  else if (!options.trust.empty())
    return Status::error("--trust: expected a program, found the module '" +
                         session.source.name +
                         "': it bears no signature, and its code is made here");

  std::vector<std::string> names;
  if (session.source.module)
    names = session.source.module->publicFunctions();
  else
    for (const rt::EntrySpec &entry : session.source.program->manifest.entries)
      names.push_back(entry.name);
  if (session.source.program && names.empty())
    return Status::error(session.source.name +
                         ": expected a program with an entry, found none");
  Expected<std::string> entry =
      chooseEntry(session.source.name, names, options.entry);
  if (!entry)
    return entry.status();
  session.entryName = *entry;

  if (session.source.program) {
    if (!options.target.empty() && options.target != "cpu" &&
        options.target != "host")
      TRACEA_RETURN_IF_ERROR(
          session.source.program->selectTarget(options.target)
              .withContext("--target: " + session.source.name));
    const rt::TargetSpec &made = session.source.program->manifest.target;
    if (!options.device.empty() && place->device.kind != made.kind)
      return Status::error("--device " + options.device + ": '" +
                           session.source.name + "' is compiled for '" +
                           made.name + "', of kind " + made.kind);
    place->device.kind = made.kind;
  }
  Expected<std::shared_ptr<rt::Device>> device =
      openDevice(place->device, options.threads);
  if (!device)
    return device.status();
  session.device = *device;
  if (session.source.module && place->target.empty()) {
    Expected<std::string> target = findTargetOf(*session.device);
    if (!target)
      return target.status();
    place->target = *target;
  }

  rt::ProgramFile program;
  if (session.source.module) {
    Progress progress("compiling " + session.source.name);
    Stopwatch watch;
    CompileRequest request;
    request.target = place->target;
    request.entry = session.entryName;
    request.threads = options.threads;
    request.requireProof = options.requireProof;
    std::optional<rt::ProgramFile> compiled =
        session.source.module->compile(request, &session.report);
    if (!compiled) {
      progress.clear();
      return Status::error("cannot compile '" + session.source.name + "'");
    }
    session.compileSeconds = watch.seconds();
    program = std::move(*compiled);
  } else {
    program = *session.source.program;
    if (options.requireProof)
      for (const rt::Manifest *version : program.versions())
        TRACEA_RETURN_IF_ERROR(requireProofs(session.source.name, *version));
  }

  TRACEA_RETURN_IF_ERROR(
      session.load(std::move(program), session.source.name, options));
  return session;
}

FindWork Session::findWork() const {
  return [this](const std::string &kernel) -> std::optional<KernelWork> {
    for (const OpDecision &decision : report.decisions)
      for (const LaunchNote &launch : decision.launches)
        if (std::count(launch.kernels.begin(), launch.kernels.end(), kernel))
          return KernelWork{launch.flopsPerElement, launch.argument,
                            launch.sumDim};
    return std::nullopt;
  };
}
