//===- CUDADriver.cpp - The CUDA driver library ---------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The library is never closed again: its threads and exit handlers would
// outlive it.
//
//===----------------------------------------------------------------------===//

#include "CUDADriver.h"

#include <cstdlib>
#include <dlfcn.h>

namespace tracea::runtime::cuda {

std::string describeVersion(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

int ptxVersionOf(int driverVersion) {
  // From the release notes of the PTX ISA manual.
  static constexpr struct {
    int cuda, ptx;
  } table[] = {{13010, 91}, {13000, 90}, {12090, 88}, {12080, 87},
               {12070, 86}, {12050, 85}, {12040, 84}, {12030, 83},
               {12020, 82}, {12010, 81}, {12000, 80}};
  for (const auto &row : table)
    if (driverVersion >= row.cuda)
      return row.ptx;
  return 78;
}

bool isSticky(Result result) {
  switch (result) {
  case errorDeinitialized:
  case errorDeviceUnavailable:
  case errorEccUncorrectable:
  case errorNvlinkUncorrectable:
  case errorContained:
  case errorIllegalAddress:
  case errorLaunchTimeout:
  case errorContextIsDestroyed:
  case errorAssert:
  case errorHardwareStack:
  case errorIllegalInstruction:
  case errorMisalignedAddress:
  case errorInvalidAddressSpace:
  case errorInvalidPc:
  case errorLaunchFailed:
  case errorTensorMemoryLeak:
    return true;
  default:
    return false;
  }
}

std::string Driver::describe(Result result) const {
  const char *name = nullptr, *text = nullptr;
  if (!api.cuGetErrorName || api.cuGetErrorName(result, &name) != success ||
      !name)
    return "CUDA error " + std::to_string(result);
  std::string description =
      std::string(name) + " (" + std::to_string(result) + ")";
  if (api.cuGetErrorString(result, &text) == success && text)
    description += std::string(": ") + text;
  return description;
}

Status Driver::error(Result result, const char *call,
                     const std::string &subject) const {
  return Status::error(call + (subject.empty() ? "" : " of " + subject) + ": " +
                       describe(result));
}

/// What to do about a library that does not initialise.
static std::string hintFor(Result result) {
  switch (result) {
  case errorNoDevice:
    return "; the driver is there, but it has no device that this process may "
           "use (CUDA_VISIBLE_DEVICES, device files, permissions)";
  case errorStubLibrary:
    return "; this is the toolkit's stub, which only serves linking: the "
           "driver's own libcuda.so.1 must be found first";
  case errorSystemDriverMismatch:
    return "; the library and the kernel module are of different versions: "
           "restart the machine, or reload the module";
  case errorUnknown:
    return "; the kernel module may not be loaded";
  default:
    return "";
  }
}

static constexpr const char usualPath[] = "libcuda.so.1";

static std::string choosePath(const std::string &path) {
  const char *variable = std::getenv("TRACEA_CUDA_DRIVER");
  return !path.empty() ? path : variable && *variable ? variable : usualPath;
}

static void *openLibrary(const std::string &path) {
  return ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

bool Driver::isPresent(const std::string &path) {
  return openLibrary(choosePath(path)) != nullptr;
}

Expected<std::shared_ptr<const Driver>> Driver::open(const std::string &path) {
  auto driver = std::make_shared<Driver>();
  driver->path = choosePath(path);
  void *library = openLibrary(driver->path);
  if (!library) {
    bool chosen = driver->path != usualPath;
    const char *reason = ::dlerror();
    return Status::error(
        "no CUDA driver: cannot open " + driver->path + ": " +
        (reason ? reason : "the loader gave no reason") +
        (chosen ? ""
                : "; install NVIDIA's driver, or name its library in "
                  "TRACEA_CUDA_DRIVER"));
  }

  // The version first: it explains missing entry points.
  API &api = driver->api;
  auto find = [&](auto &entry, const char *symbol) {
    entry = reinterpret_cast<std::decay_t<decltype(entry)>>(
        ::dlsym(library, symbol));
    return entry != nullptr;
  };
  if (!find(api.cuDriverGetVersion, "cuDriverGetVersion"))
    return Status::error(driver->path +
                         " is no CUDA driver: it has no cuDriverGetVersion");
  (void)find(api.cuGetErrorName, "cuGetErrorName");
  (void)find(api.cuGetErrorString, "cuGetErrorString");
  if (!api.cuGetErrorString)
    api.cuGetErrorName = nullptr;
  if (Result result = api.cuDriverGetVersion(&driver->version))
    return Status::error(driver->path + ": " +
                         driver->error(result, "cuDriverGetVersion").message() +
                         hintFor(result));
  std::string found =
      driver->path + " supports CUDA " + describeVersion(driver->version);
  if (driver->version < minVersion)
    return Status::error("the CUDA driver is too old: " + found +
                         ", expected " + describeVersion(minVersion) +
                         " or newer");
  const char *missing = nullptr;
#define TRACEA_CUDA_SYMBOL(name, symbol, parameters)                           \
  if (!find(api.name, #symbol) && !missing)                                    \
    missing = #symbol;
#define TRACEA_CUDA_OPTIONAL(name, symbol, parameters)                         \
  (void)find(api.name, #symbol);
#include "CUDASymbols.def"
  if (missing)
    return Status::error("the CUDA driver is incomplete: " + found +
                         ", but has no " + missing);
  if (Result result = api.cuInit(0))
    return Status::error(driver->path + ": " +
                         driver->error(result, "cuInit").message() +
                         hintFor(result));
  return std::shared_ptr<const Driver>(std::move(driver));
}

} // namespace tracea::runtime::cuda
