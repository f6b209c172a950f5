//===- Doctor.cpp - tracea doctor -----------------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tries everything that the compiler and the runtime need of a machine, and
// says what to do where something is missing.

#include "Commands.h"
#include "Findings.h"
#include "Session.h"
#include "SourceFile.h"
#include "Timing.h"
#include "tracea/Runtime/CPU/CPUDevice.h"
#include "tracea/Runtime/CPU/HostCPU.h"
#include "tracea/Runtime/File.h"
#include "tracea/TargetInfo/Host.h"

#include <nlohmann/json.hpp>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

using namespace tracea::driver;
namespace rt = tracea::runtime;

namespace {
struct DoctorCommand {
  bool verbose = false;
  bool json = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Host
//===----------------------------------------------------------------------===//

static void checkHost(Findings &findings,
                      const tracea::target::TargetDescription &host) {
  rt::HostCPU cpu = rt::detectHostCPU();
  std::string caches;
  for (const tracea::target::CacheLevel &cache : host.caches)
    caches += (caches.empty() ? "" : ", ") + std::string("L") +
              std::to_string(cache.level) + " " +
              describeBytes(static_cast<double>(cache.bytes));
  good(findings, "host",
       (cpu.name.empty() ? cpu.arch : cpu.name) + ", " +
           std::to_string(host.cores) + " cores, " +
           std::to_string(host.hardwareThreads) + " hardware threads" +
           (caches.empty() ? "" : ", " + caches));
  if (!tracea::target::lookup(host.name)) {
    bad(findings, "host",
        "no table entry for this processor (architecture " + cpu.arch + ")",
        "Tracea generates code for x86-64 and AArch64; programs for other "
        "machines can still be compiled with --target");
    return;
  }
  std::string text = "compiled for as '" + host.name +
                     "': " + std::to_string(host.vector.bits) +
                     "-bit vectors, " + std::to_string(host.vector.registers) +
                     " registers";
  if (host.vector.bits == 0)
    warn(findings, "host", "compiled for as '" + host.name + "'",
         "the vector width is unknown; expect slow code");
  else if (host.disabledFeatures.empty())
    good(findings, "host", text);
  else {
    std::string missing;
    for (const std::string &feature : host.disabledFeatures)
      missing += " " + feature;
    warn(findings, "host", text + "; without" + missing,
         "this machine, or the virtual machine it is, hides features that its "
         "processor usually has");
  }
}

//===----------------------------------------------------------------------===//
// Memory and files
//===----------------------------------------------------------------------===//

static void checkSystem(Findings &findings) {
  double page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  double total = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * page;
  double available = static_cast<double>(::sysconf(_SC_AVPHYS_PAGES)) * page;
  std::ifstream info("/proc/meminfo");
  std::string key;
  for (std::string line; std::getline(info, line);)
    if (line.rfind("MemAvailable:", 0) == 0)
      available = std::atof(line.c_str() + std::strlen("MemAvailable:")) * 1024;
  std::string text = describeBytes(available) + " of " + describeBytes(total) +
                     " memory available";
  if (available < 256.0 * 1024 * 1024)
    warn(findings, "system", text,
         "compiling may need some hundred MiB; end other programs");
  else
    good(findings, "system", text);

  const char *variable = std::getenv("TMPDIR");
  std::string directory = variable && *variable ? variable : "/tmp";
  std::string probe =
      directory + "/tracea-doctor-" + std::to_string(::getpid());
  unsigned char byte = 1;
  bool writable = rt::writeFileAtomic(probe, {rt::Bytes(&byte, 1)}).ok();
  ::unlink(probe.c_str());

#ifdef MFD_CLOEXEC
  int memory = ::memfd_create("tracea-doctor", MFD_CLOEXEC);
#else
  int memory = -1;
#endif
  if (memory >= 0) {
    ::close(memory);
    good(findings, "system", "code is loaded from anonymous memory files");
  } else if (writable) {
    warn(findings, "system",
         "no anonymous memory files; code is loaded through " + directory,
         "the directory must not be mounted noexec");
  } else {
    bad(findings, "system",
        "no anonymous memory files, and " + directory + " cannot be written",
        "set TMPDIR to a directory that can be written and executed from");
  }
  if (writable)
    good(findings, "system", "temporary directory " + directory);
  else
    bad(findings, "system",
        "temporary directory " + directory +
            " cannot be written; the linker needs it",
        "set TMPDIR to one that can be written");
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

static std::shared_ptr<rt::Device> checkThreads(Findings &findings) {
  Expected<std::shared_ptr<rt::Device>> device = rt::openDevice("cpu");
  if (!device) {
    bad(findings, "threads", device.message(),
        "unset TRACEA_NUM_THREADS, or set it to a number of threads");
    return nullptr;
  }
  int64_t threads = (*device)->info().parallelism;
  const char *variable = std::getenv("TRACEA_NUM_THREADS");
  int usable = rt::countUsableProcessors();
  std::string text = std::to_string(threads) + " threads on " +
                     std::to_string(usable) + " usable processors" +
                     (variable ? std::string(", TRACEA_NUM_THREADS=") + variable
                               : ", TRACEA_NUM_THREADS is not set");
  if (threads > usable)
    warn(findings, "threads", text,
         "more threads than processors, or than control groups grant the time "
         "of, are slower, not faster");
  else
    good(findings, "threads", text);
  return *device;
}

//===----------------------------------------------------------------------===//
// Compiler
//===----------------------------------------------------------------------===//

/// Awkward sizes, an epilogue, and more tiles than threads.
static constexpr const char smokeModule[] = R"(
func.func @main(%a: tensor<?x203xf32>, %b: tensor<203x157xf32>, %c: tensor<157xf32>) -> tensor<?x157xf32> {
  %zero = arith.constant 0.0 : f32
  %i0 = arith.constant 0 : index
  %m = tensor.dim %a, %i0 : tensor<?x203xf32>
  %e = tensor.empty(%m) : tensor<?x157xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x157xf32>) -> tensor<?x157xf32>
  %g = linalg.matmul ins(%a, %b : tensor<?x203xf32>, tensor<203x157xf32>) outs(%f : tensor<?x157xf32>) -> tensor<?x157xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%g, %c : tensor<?x157xf32>, tensor<157xf32>) outs(%e : tensor<?x157xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %s = arith.addf %x, %y : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<?x157xf32>
  return %h : tensor<?x157xf32>
}
)";

/// Compiles, links, loads and runs a product, and compares it with one that is
/// computed here.
static Expected<std::string>
runSmokeTest(const std::shared_ptr<rt::Device> &device) {
  constexpr int64_t m = 1111, k = 203, n = 157;
  Stopwatch compileWatch;
  std::unique_ptr<Frontend> module = Frontend::parse(
      "<doctor>",
      rt::Bytes(reinterpret_cast<const unsigned char *>(smokeModule),
                std::strlen(smokeModule)));
  if (!module)
    return Status::error("the module does not parse");
  std::optional<rt::ProgramFile> program = module->compile({});
  if (!program)
    return Status::error("the module does not compile");
  double compileSeconds = compileWatch.seconds();
  Expected<std::shared_ptr<rt::Executable>> executable =
      rt::Executable::load(std::move(*program), device);
  if (!executable)
    return executable.status();
  Expected<std::unique_ptr<rt::Execution>> execution =
      (*executable)->createExecution();
  if (!execution)
    return execution.status();

  std::vector<float> a(m * k), b(k * n), c(n);
  auto fill = [](std::vector<float> &values, int64_t step) {
    int64_t state = 1;
    for (float &value : values) {
      state = (state * step + 12345) % 65521;
      value = static_cast<float>(state) / 32760.5f - 1.0f;
    }
  };
  fill(a, 75);
  fill(b, 4711);
  fill(c, 171);
  std::vector<rt::Tensor> inputs;
  for (auto &[values, shape] :
       {std::pair<std::vector<float> *, std::vector<int64_t>>{&a, {m, k}},
        {&b, {k, n}},
        {&c, {n}}}) {
    Expected<rt::Tensor> tensor = rt::Tensor::borrow(
        static_cast<void *>(values->data()), rt::ElementType::F32, shape);
    if (!tensor)
      return tensor.status();
    inputs.push_back(*tensor);
  }
  std::vector<rt::Tensor> outputs(1);
  double fastest = INFINITY;
  for (int round = 0; round < 10; ++round) {
    Stopwatch watch;
    TRACEA_RETURN_IF_ERROR((*execution)->run(inputs, outputs));
    fastest = std::min(fastest, watch.seconds());
  }
  double error = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = static_cast<double>(c[static_cast<size_t>(j)]);
      for (int64_t l = 0; l < k; ++l)
        sum += static_cast<double>(a[static_cast<size_t>(i * k + l)]) *
               static_cast<double>(b[static_cast<size_t>(l * n + j)]);
      double found = static_cast<double>(outputs[0].dataAs<float>()[i * n + j]);
      // A NaN is no number at most anything.
      double distance = std::fabs(found - std::max(sum, 0.0));
      if (!(distance <= error))
        error = distance;
    }
  if (!(error <= 1e-3))
    return Status::error("a product is wrong by " +
                         formatNumber("%.3g", error));
  double flops = 2.0 * m * n * k;
  return "a product of [1111, 203] x [203, 157]: compiled in " +
         describeSeconds(compileSeconds) + ", ran in " +
         describeSeconds(fastest) + " (" +
         formatNumber("%.1f", flops / fastest / 1e9) +
         " GFLOP/s), max abs error " + formatNumber("%.2g", error);
}

static void checkCompiler(Findings &findings,
                          const std::shared_ptr<rt::Device> &device) {
  std::string sanitizers = TRACEA_SANITIZERS;
  std::string text = "tracea " TRACEA_VERSION ", LLVM " + llvmVersion() +
                     ", " TRACEA_BUILD_TYPE " build";
  if (sanitizers.empty())
    good(findings, "compiler", text);
  else
    warn(findings, "compiler", text + " with " + sanitizers + " sanitizers",
         "for finding bugs, not for speed");
  if (!device) {
    bad(findings, "compiler", "nothing can be run without a device",
        "see threads");
    return;
  }
  Expected<std::string> smoke = runSmokeTest(device);
  if (smoke)
    good(findings, "compiler", *smoke);
  else
    bad(findings, "compiler",
        "compiling, linking, loading and running a product failed: " +
            smoke.message(),
        "this is a bug, or code may not be executed here (a noexec mount or a "
        "security module); please report it with this output");
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static const char *signOf(Verdict verdict) {
  switch (verdict) {
  case Verdict::Good:
    return "✓";
  case Verdict::Warning:
    return "!";
  case Verdict::Bad:
    return "✗";
  }
  return "";
}

static std::string format(const Findings &findings) {
  std::string text, section;
  for (const Finding &finding : findings) {
    if (finding.section != section)
      text += (section = finding.section) + "\n";
    text +=
        std::string("  ") + signOf(finding.verdict) + " " + finding.text + "\n";
    if (!finding.hint.empty())
      text += "      hint: " + finding.hint + "\n";
  }
  return text;
}

/// Facts for a bug report, one line each.
static std::vector<std::pair<std::string, std::string>>
getReport(const tracea::target::TargetDescription &host,
          const Findings &findings) {
  struct utsname name;
  std::string system = "unknown";
  if (::uname(&name) == 0)
    system =
        std::string(name.sysname) + " " + name.release + " " + name.machine;
  rt::HostCPU cpu = rt::detectHostCPU();
  std::string features;
  for (const std::string &feature : host.features)
    features += (features.empty() ? "" : " ") + feature;
  std::string failures;
  for (const Finding &finding : findings)
    if (finding.verdict == Verdict::Bad)
      failures += (failures.empty() ? "" : "; ") + finding.section + ": " +
                  finding.text;
  return {{"tracea", std::string(TRACEA_VERSION " ") + TRACEA_BUILD_TYPE +
                         ", LLVM " + llvmVersion()},
          {"system", system},
          {"processor", cpu.name},
          {"target", host.name},
          {"features", features},
          {"failures", failures.empty() ? "none" : failures}};
}

static int runDoctor(const DoctorCommand &command) {
  Findings findings;
  tracea::target::TargetDescription host = tracea::target::detectHost();
  checkHost(findings, host);
  checkSystem(findings);
  std::shared_ptr<rt::Device> device = checkThreads(findings);
  {
    Progress progress("compiling and running a product");
    checkCompiler(findings, device);
    checkCUDA(findings);
  }
  bool failed = false;
  for (const Finding &finding : findings)
    failed |= finding.verdict == Verdict::Bad;
  auto report = getReport(host, findings);

  Status written;
  if (command.json) {
    nlohmann::ordered_json json;
    json["ok"] = !failed;
    json["findings"] = nlohmann::ordered_json::array();
    for (const Finding &finding : findings) {
      nlohmann::ordered_json entry = {
          {"section", finding.section},
          {"verdict", finding.verdict == Verdict::Good      ? "ok"
                      : finding.verdict == Verdict::Warning ? "warning"
                                                            : "error"},
          {"text", finding.text}};
      if (!finding.hint.empty())
        entry["hint"] = finding.hint;
      json["findings"].push_back(std::move(entry));
    }
    for (const auto &[key, value] : report)
      json["report"][key] = value;
    json["features"] = host.features;
    if (command.verbose)
      for (const tracea::target::TargetDescription &target :
           tracea::target::all())
        json["targets"].push_back(
            {{"name", target.name},
             {"kind", std::string(tracea::target::stringify(target.kind))},
             {"arch", target.arch},
             {"product", target.product}});
    written = writeJSON(json);
  } else {
    std::string text = format(findings);
    if (command.verbose) {
      text += "\nthis machine\n" + tracea::target::describe(host);
      std::vector<std::vector<std::string>> rows = {
          {"target", "kind", "arch", "product"}};
      for (const tracea::target::TargetDescription &target :
           tracea::target::all())
        rows.push_back({target.name,
                        std::string(tracea::target::stringify(target.kind)),
                        target.arch, target.product});
      text += "\nknown targets\n" + formatTable(rows);
    }
    text += "\nfor a bug report\n";
    for (const auto &[key, value] : report)
      text += "  " + key + ": " + value + "\n";
    written = writeStdout(text);
  }
  if (!written.ok()) {
    printError(written.message());
    return 1;
  }
  return failed ? 1 : 0;
}

void tracea::driver::addDoctorCommand(CLI::App &app, int &exitCode) {
  CLI::App *sub = app.add_subcommand(
      "doctor", "Check that this machine can compile and run, and how well");
  auto command = std::make_shared<DoctorCommand>();
  sub->add_flag("-v,--verbose", command->verbose,
                "Also all that is known of this machine, and the known "
                "targets");
  sub->add_flag("--json", command->json, "Print one JSON object");
  sub->footer("✓ is well, ! works with a loss, ✗ does not work (exit code 1); "
              "each of the latter two\ncomes with a hint. Include the last "
              "block in bug reports.\n\n"
              "Example:\n"
              "  tracea doctor -v");
  sub->callback([command, &exitCode] { exitCode = runDoctor(*command); });
}
