//===- run-cases.cpp - Runs tile operations on a GPU and compares ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   run-cases DIR
//
// Takes what tracea-gpu-cases wrote. The driver is found when this runs; needs
// neither a CUDA toolkit nor the compiler.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstdio>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace {
/// The driver's entry points that are used here; every result is 0 for success.
struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*deviceGet)(int *, int) = nullptr;
  int (*retainContext)(void **, int) = nullptr;
  int (*setContext)(void *) = nullptr;
  int (*loadModule)(void **, const void *) = nullptr;
  int (*unloadModule)(void *) = nullptr;
  int (*getFunction)(void **, void *, const char *) = nullptr;
  int (*allocate)(uint64_t *, size_t) = nullptr;
  int (*release)(uint64_t) = nullptr;
  int (*toDevice)(uint64_t, const void *, size_t) = nullptr;
  int (*toHost)(void *, uint64_t, size_t) = nullptr;
  int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
                unsigned, unsigned, void *, void **, void **) = nullptr;
  int (*synchronize)() = nullptr;

  bool load() {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
      return false;
    bool found = true;
    auto bind = [&](auto &function, const char *name) {
      void *symbol = dlsym(library, name);
      found &= symbol != nullptr;
      function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol);
    };
    bind(init, "cuInit");
    bind(deviceGet, "cuDeviceGet");
    bind(retainContext, "cuDevicePrimaryCtxRetain");
    bind(setContext, "cuCtxSetCurrent");
    bind(loadModule, "cuModuleLoadData");
    bind(unloadModule, "cuModuleUnload");
    bind(getFunction, "cuModuleGetFunction");
    bind(allocate, "cuMemAlloc_v2");
    bind(release, "cuMemFree_v2");
    bind(toDevice, "cuMemcpyHtoD_v2");
    bind(toHost, "cuMemcpyDtoH_v2");
    bind(launch, "cuLaunchKernel");
    bind(synchronize, "cuCtxSynchronize");
    return found;
  }
};
} // namespace

static bool readFile(const std::string &path, std::string &bytes) {
  std::ifstream file(path, std::ios::binary);
  bytes.assign(std::istreambuf_iterator<char>(file), {});
  if (file)
    return true;
  std::fprintf(stderr, "error: %s cannot be read\n", path.c_str());
  return false;
}

/// What is wrong, or nothing.
static std::string runCase(const Driver &cuda, const std::string &directory,
                           const std::string &name, unsigned threads) {
  std::string code, input, expected;
  if (!readFile(directory + "/" + name + ".ptx", code) ||
      !readFile(directory + "/" + name + ".in", input) ||
      !readFile(directory + "/" + name + ".out", expected))
    return "files are missing";
  void *module = nullptr, *function = nullptr;
  if (int error = cuda.loadModule(&module, code.c_str()))
    return "the driver does not load it, error " + std::to_string(error);
  uint64_t in = 0, out = 0;
  int error = cuda.getFunction(&function, module, name.c_str());
  error = error ? error : cuda.allocate(&in, input.size());
  error = error ? error : cuda.allocate(&out, expected.size());
  // What nobody writes must show.
  std::string found(expected.size(), '\x5a');
  error = error ? error : cuda.toDevice(in, input.data(), input.size());
  error = error ? error : cuda.toDevice(out, found.data(), found.size());
  void *arguments[] = {&in, &out};
  error = error ? error
                : cuda.launch(function, 1, 1, 1, threads, 1, 1, 0, nullptr,
                              arguments, nullptr);
  error = error ? error : cuda.synchronize();
  error = error ? error : cuda.toHost(&found[0], out, found.size());
  cuda.release(in);
  cuda.release(out);
  cuda.unloadModule(module);
  if (error)
    return "error " + std::to_string(error) + " of the driver";
  for (size_t i = 0; i < found.size(); ++i)
    if (found[i] != expected[i])
      return "byte " + std::to_string(i) + " of " +
             std::to_string(found.size()) + " differs";
  return "";
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: run-cases DIR\n");
    return 2;
  }
  Driver cuda;
  int device = 0;
  void *context = nullptr;
  if (!cuda.load() || cuda.init(0) || cuda.deviceGet(&device, 0) ||
      cuda.retainContext(&context, device) || cuda.setContext(context)) {
    std::fprintf(stderr, "error: no NVIDIA driver or GPU\n");
    return 1;
  }
  std::string list;
  if (!readFile(std::string(argv[1]) + "/cases.txt", list))
    return 1;
  std::istringstream lines(list);
  std::string line;
  int failed = 0, ran = 0;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string name;
    unsigned threads = 0;
    fields >> name >> threads;
    std::string problem = runCase(cuda, argv[1], name, threads);
    std::printf("%-24s %s\n", name.c_str(),
                problem.empty() ? "ok" : problem.c_str());
    failed += !problem.empty();
    ++ran;
  }
  std::printf("%d of %d right\n", ran - failed, ran);
  return failed || !ran ? 1 : 0;
}
