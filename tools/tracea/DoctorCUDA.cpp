//===- DoctorCUDA.cpp - tracea doctor on NVIDIA's GPUs --------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says which devices there are, moves data to the first and back, and compiles
// a product, which needs no device, and runs it on one.

#include "Findings.h"
#include "Frontend.h"
#include "Support.h"
#include "Timing.h"
#include "tracea/Runtime/CUDA/CUDADevice.h"
#include "tracea/Runtime/Executable.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace tracea::driver;
namespace rt = tracea::runtime;

static constexpr const char section[] = "cuda";

/// The path of NVIDIA's assembler, or nothing.
static std::string findPtxas() {
  std::string folders;
  for (const char *name : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *folder = std::getenv(name))
      folders += std::string(folder) + "/bin:";
  if (const char *path = std::getenv("PATH"))
    folders += std::string(path) + ":";
  folders += "/usr/local/cuda/bin";
  for (size_t at = 0; at <= folders.size();) {
    size_t end = std::min(folders.find(':', at), folders.size());
    std::string file = folders.substr(at, end - at) + "/ptxas";
    if (::access(file.c_str(), X_OK) == 0)
      return file;
    at = end + 1;
  }
  return "";
}

/// "13.0" of "Cuda compilation tools, release 13.0, V13.0.88".
static std::string versionOf(const std::string &ptxas) {
  if (ptxas.find('\'') != std::string::npos)
    return "";
  std::FILE *pipe = ::popen(("'" + ptxas + "' --version").c_str(), "r");
  if (!pipe)
    return "";
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), pipe));
  ::pclose(pipe);
  const char key[] = "release ";
  size_t at = text.find(key);
  if (at == std::string::npos)
    return "";
  at += std::strlen(key);
  return text.substr(at, text.find_first_of(", \n", at) - at);
}

static void describeDevice(Findings &findings,
                           const rt::CUDADeviceProperties &p) {
  std::string text = "device " + std::to_string(p.ordinal) + ", " + p.name +
                     ": " + p.arch() + ", " +
                     std::to_string(p.multiprocessors) + " multiprocessors";
  if (p.clockKHz > 0)
    text += formatNumber(" at up to %.3g GHz", p.clockKHz / 1e6);
  text += ", " + describeBytes(static_cast<double>(p.memoryBytes)) + " memory";
  // Two transfers a clock.
  double bandwidth = 2e3 * p.memoryClockKHz * p.memoryBusBits / 8;
  if (bandwidth > 0)
    text += formatNumber(" at %.3g GB/s", bandwidth / 1e9);
  text += std::string(p.ecc ? " with" : " without") + " ECC, " +
          describeBytes(p.l2Bytes) + " L2, " +
          describeBytes(p.sharedBytesOptin) + " shared memory for a block";
  if (10 * p.major + p.minor < rt::minCUDACapability)
    warn(findings, section, text,
         "this device is too old for Tracea: compute capability 7.0 is the "
         "oldest");
  else
    good(findings, section, text);
}

/// Moves data to the device, fills a part of it there, and takes it back.
static Expected<std::string> tryDevice(rt::Device &device) {
  constexpr int64_t bytes = 16 << 20, filled = 1 << 20;
  std::vector<unsigned char> sent(bytes), back(bytes);
  uint32_t state = 1;
  for (unsigned char &byte : sent) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<unsigned char>(state >> 24);
  }
  Expected<std::shared_ptr<rt::Buffer>> buffer = device.allocate(bytes);
  if (!buffer)
    return buffer.status();
  Expected<std::unique_ptr<rt::Stream>> stream = device.createStream();
  if (!stream)
    return stream.status();
  double up = 1e9, down = 1e9;
  for (int round = 0; round < 4; ++round) {
    Stopwatch watch;
    TRACEA_RETURN_IF_ERROR(
        (*stream)->copyToDevice(**buffer, 0, sent.data(), bytes));
    TRACEA_RETURN_IF_ERROR((*stream)->synchronize());
    up = std::min(up, watch.seconds());
    TRACEA_RETURN_IF_ERROR((*stream)->fill(**buffer, 0, filled, 0xa5));
    Stopwatch other;
    TRACEA_RETURN_IF_ERROR(
        (*stream)->copyToHost(back.data(), **buffer, 0, bytes));
    TRACEA_RETURN_IF_ERROR((*stream)->synchronize());
    down = std::min(down, other.seconds());
  }
  for (int64_t i = 0; i < bytes; ++i)
    if (back[static_cast<size_t>(i)] !=
        (i < filled ? 0xa5 : sent[static_cast<size_t>(i)]))
      return Status::error("byte " + std::to_string(i) + " came back changed");
  return describeBytes(bytes) +
         " to the device and back: " + formatNumber("%.1f", bytes / up / 1e9) +
         " and " + formatNumber("%.1f", bytes / down / 1e9) + " GB/s";
}

/// The table's name of the devices that Tracea has variants for.
static constexpr const char productTarget[] = "sm_90a";
static constexpr int productCapability = 90;

/// Awkward sizes, and an epilogue.
static constexpr const char productModule[] = R"(
func.func @main(%a: tensor<?x200xbf16>, %b: tensor<200x152xbf16>, %c: tensor<152xf32>) -> tensor<?x152xf32> {
  %i0 = arith.constant 0 : index
  %m = tensor.dim %a, %i0 : tensor<?x200xbf16>
  %e = tensor.empty(%m) : tensor<?x152xf32>
  %g = tracea.gemm ins(%a, %b : tensor<?x200xbf16>, tensor<200x152xbf16>) outs(%e : tensor<?x152xf32>)
    epilogue(%c by affine_map<(i, j) -> (j)> : tensor<152xf32>) {
    ^bb0(%x: f32, %y: f32):
      %s = arith.addf %x, %y : f32
      tracea.yield %s : f32
  }
  return %g : tensor<?x152xf32>
}
)";

static Expected<rt::ProgramFile> compileProduct() {
  std::unique_ptr<Frontend> module = Frontend::parse(
      "<doctor>",
      rt::Bytes(reinterpret_cast<const unsigned char *>(productModule),
                std::strlen(productModule)));
  if (!module)
    return Status::error("the module does not parse");
  CompileRequest request;
  request.target = productTarget;
  std::optional<rt::ProgramFile> program = module->compile(request);
  if (!program)
    return Status::error("the module does not compile");
  return std::move(*program);
}

/// Runs the product and compares it with one that is computed here. Numbers are
/// eighths, whose sums are exact.
static Expected<std::string>
runProduct(rt::ProgramFile program, const std::shared_ptr<rt::Device> &device) {
  constexpr int64_t m = 1111, k = 200, n = 152;
  Stopwatch loadWatch;
  Expected<std::shared_ptr<rt::Executable>> executable =
      rt::Executable::load(std::move(program), device);
  if (!executable)
    return executable.status();
  double loadSeconds = loadWatch.seconds();
  std::vector<rt::Tensor> inputs;
  std::vector<float> values[3];
  const std::vector<int64_t> shapes[] = {{m, k}, {k, n}, {n}};
  for (size_t i = 0; i < 3; ++i) {
    rt::ElementType type =
        i == 2 ? rt::ElementType::F32 : rt::ElementType::BF16;
    Expected<rt::Tensor> tensor = rt::Tensor::allocate(type, shapes[i]);
    if (!tensor)
      return tensor.status();
    int64_t state = static_cast<int64_t>(i) + 1;
    for (int64_t at = 0; at < tensor->numElements(); ++at) {
      state = (state * 4711 + 12345) % 65521;
      float value = static_cast<float>(state % 33 - 16) / 8;
      values[i].push_back(value);
      if (i == 2)
        tensor->dataAs<float>()[at] = value;
      else
        tensor->dataAs<uint16_t>()[at] = rt::floatToBFloat(value);
    }
    inputs.push_back(*tensor);
  }
  Expected<std::vector<rt::Tensor>> outputs =
      (*executable)->run("main", inputs);
  if (!outputs)
    return outputs.status();
  const float *found = (*outputs)[0].dataAs<float>();
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = values[2][static_cast<size_t>(j)];
      for (int64_t l = 0; l < k; ++l)
        sum += values[0][static_cast<size_t>(i * k + l)] *
               values[1][static_cast<size_t>(l * n + j)];
      if (!(found[i * n + j] == sum))
        return Status::error("element [" + std::to_string(i) + ", " +
                             std::to_string(j) + "] of a product is " +
                             formatNumber("%g", found[i * n + j]) +
                             ", expected " + formatNumber("%g", sum));
    }
  return "loaded in " + describeSeconds(loadSeconds) +
         " and run: [1111, 200] x [200, 152] is right in every element";
}

/// Compiles a product, and runs it where there is a device for it.
static void checkProduct(Findings &findings,
                         const std::shared_ptr<rt::Device> &device,
                         int capability) {
  Stopwatch watch;
  Expected<rt::ProgramFile> program = compileProduct();
  if (!program) {
    bad(findings, section,
        std::string("compiling a product for ") + productTarget +
            " failed: " + program.message(),
        "this is a bug; please report it with this output");
    return;
  }
  bool hasCode = false;
  for (const rt::ImageSpec &image : program->manifest.images)
    hasCode |= image.kind == rt::ImageKind::Cubin;
  good(findings, section,
       std::string("a product for ") + productTarget + ": compiled in " +
           describeSeconds(watch.seconds()) +
           (hasCode ? ", to PTX and machine code" : ", to PTX"));
  if (!device)
    return;
  if (capability != productCapability) {
    warn(findings, section,
         "the first device runs no code for " + std::string(productTarget),
         "programs for it cannot be compiled yet; those for the host can");
    return;
  }
  Expected<std::string> result = runProduct(std::move(*program), device);
  if (result)
    good(findings, section, *result);
  else
    bad(findings, section, "running a product failed: " + result.message(),
        "this is a bug, or the driver does not take this code; please report "
        "it with this output");
}

static void describeAssembler(Findings &findings) {
  std::string ptxas = findPtxas();
  if (ptxas.empty())
    good(findings, section,
         "no ptxas; the driver compiles PTX when a program is loaded");
  else
    good(findings, section, "ptxas " + versionOf(ptxas) + " (" + ptxas + ")");
}

void tracea::driver::checkCUDA(Findings &findings) {
  const char *chosen = std::getenv("TRACEA_CUDA_DRIVER");
  if (!(chosen && *chosen) && !rt::hasCUDADriver()) {
    good(findings, section,
         "no NVIDIA driver (libcuda.so.1 is not found); nothing of it is "
         "needed to compile");
    describeAssembler(findings);
    checkProduct(findings, nullptr, 0);
    return;
  }
  Expected<std::vector<rt::CUDADeviceProperties>> devices =
      rt::listCUDADevices();
  if (!devices) {
    warn(findings, section, devices.message(),
         "GPUs cannot be used until this is put right; everything else works");
    describeAssembler(findings);
    checkProduct(findings, nullptr, 0);
    return;
  }
  const rt::CUDADeviceProperties &first = devices->front();
  good(findings, section,
       "driver for CUDA " + std::to_string(first.driverVersion / 1000) + "." +
           std::to_string(first.driverVersion % 1000 / 10) + " (" +
           first.driverLibrary + ")");
  for (const rt::CUDADeviceProperties &device : *devices)
    describeDevice(findings, device);
  describeAssembler(findings);
  if (10 * first.major + first.minor < rt::minCUDACapability)
    return;
  Expected<std::shared_ptr<rt::Device>> device = rt::createCUDADevice();
  Expected<std::string> result =
      device ? tryDevice(**device) : Expected<std::string>(device.status());
  if (!result) {
    bad(findings, section,
        "the first device does not work: " + result.message(),
        "the driver may need a restart; nvidia-smi may say more");
    return;
  }
  good(findings, section, *result);
  checkProduct(findings, *device, 10 * first.major + first.minor);
}
