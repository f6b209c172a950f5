//===- FakeModules.cpp - Code, kernels, launches --------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads as much of PTX as is needed to know kernels and their parameters. A
// cubin of the fake is an ELF file that has PTX inside.
//
//===----------------------------------------------------------------------===//

#include "FakeState.h"

#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <regex>
#include <utility>

namespace tracea::fakecuda {

/// The bytes of ".u64", ".b32", …; 0 for what is no type.
static size_t sizeOfType(const std::string &type) {
  if (type.size() < 3)
    return 0;
  std::string bits = type.substr(2);
  return bits == "64"   ? 8
         : bits == "32" ? 4
         : bits == "16" ? 2
         : bits == "8"  ? 1
                        : 0;
}

static void parseParameters(const std::string &list, Function &function) {
  // .param .align 64 .b8 name[128]   .param .u64 .ptr .global .align 1 name
  static const std::regex one("\\.param\\s+(\\.align\\s+(\\d+)\\s+)?\\.([a-z]"
                              "\\d+)[^,\\[]*(\\[(\\d+)\\])?");
  size_t offset = 0;
  for (auto at = std::sregex_iterator(list.begin(), list.end(), one);
       at != std::sregex_iterator(); ++at) {
    size_t bytes = sizeOfType("." + (*at)[3].str());
    size_t align = bytes;
    if ((*at)[5].matched)
      bytes *= std::stoul((*at)[5].str());
    if ((*at)[2].matched)
      align = std::stoul((*at)[2].str());
    offset = (offset + align - 1) / align * align;
    function.parameters.push_back({offset, bytes});
    offset += bytes;
  }
}

/// A complaint of the compiler, or nothing.
static std::string parsePtx(const std::string &text, Module &module) {
  for (const char *directive : {".version", ".target", ".address_size"})
    if (text.find(directive) == std::string::npos)
      return std::string("ptxas fatal : Missing ") + directive + " directive";
  static const std::regex entry(
      "\\.entry\\s+([A-Za-z0-9_$]+)\\s*\\(([^)]*)\\)([^{]*)\\{");
  static const std::regex maxThreads("\\.(max|req)ntid\\s+(\\d+)");
  for (auto at = std::sregex_iterator(text.begin(), text.end(), entry);
       at != std::sregex_iterator(); ++at) {
    auto function = std::make_unique<Function>();
    function->name = (*at)[1].str();
    parseParameters((*at)[2].str(), *function);
    std::smatch found;
    std::string directives = (*at)[3].str();
    if (std::regex_search(directives, found, maxThreads))
      function->maxThreads = std::stoi(found[2].str());
    module.functions[function->name] = std::move(function);
  }
  return module.functions.empty() ? "ptxas fatal : no kernel" : "";
}

} // namespace tracea::fakecuda

using namespace tracea::fakecuda;

FAKE_API Result cuModuleLoadDataEx(ModuleHandle *handle, const void *image,
                                   unsigned numOptions, JitOption *options,
                                   void **values) {
  FAKE_CALL(cuModuleLoadDataEx, needsContext | forbiddenInCapture);
  std::string text;
  if (std::memcmp(image, ELFMAG, SELFMAG) == 0) {
    Elf64_Ehdr header;
    std::memcpy(&header, image, sizeof header);
    text.assign(static_cast<const char *>(image) + sizeof header,
                header.e_shoff - sizeof header);
  } else {
    text = static_cast<const char *>(image);
  }
  auto module = std::make_unique<Module>();
  std::string complaint = parsePtx(text, *module);
  if (!complaint.empty()) {
    char *log = nullptr;
    size_t size = 0;
    for (unsigned i = 0; i < numOptions; ++i) {
      if (options[i] == jitErrorLogBuffer)
        log = static_cast<char *>(values[i]);
      if (options[i] == jitErrorLogBufferBytes)
        size = reinterpret_cast<size_t>(values[i]);
    }
    if (log && size)
      std::snprintf(log, size, "%s\n", complaint.c_str());
    return errorInvalidPtx;
  }
  state().modules.insert(module.get());
  *handle = reinterpret_cast<ModuleHandle>(module.release());
  return success;
}
FAKE_API Result cuModuleUnload(ModuleHandle handle) {
  FAKE_CALL(cuModuleUnload, needsContext | forbiddenInCapture);
  Module *module = reinterpret_cast<Module *>(handle);
  if (!state().modules.erase(module))
    return errorInvalidHandle;
  delete module;
  return success;
}
FAKE_API Result cuModuleGetFunction(FunctionHandle *handle, ModuleHandle from,
                                    const char *name) {
  FAKE_CALL(cuModuleGetFunction, needsContext);
  Module *module = reinterpret_cast<Module *>(from);
  auto found = module->functions.find(name);
  if (found == module->functions.end())
    return errorNotFound;
  *handle = reinterpret_cast<FunctionHandle>(found->second.get());
  return success;
}
FAKE_API Result cuFuncGetAttribute(int *value, FunctionAttribute attribute,
                                   FunctionHandle handle) {
  FAKE_CALL(cuFuncGetAttribute, needsContext);
  Function &function = *reinterpret_cast<Function *>(handle);
  *value = attribute == functionMaxThreadsPerBlock ? function.maxThreads
           : attribute == functionSharedBytes      ? function.staticShared
                                                   : 0;
  return success;
}
FAKE_API Result cuFuncSetAttribute(FunctionHandle handle,
                                   FunctionAttribute attribute, int value) {
  FAKE_CALL(cuFuncSetAttribute, needsContext);
  Function &function = *reinterpret_cast<Function *>(handle);
  if (attribute == functionMaxDynamicSharedBytes)
    function.dynamicShared = value;
  else if (attribute == functionNonPortableClusterSizeAllowed)
    function.bigClusters = value != 0;
  else
    return errorInvalidValue;
  return success;
}
FAKE_API Result cuFuncGetParamInfo(FunctionHandle handle, size_t index,
                                   size_t *offset, size_t *bytes) {
  FAKE_CALL(cuFuncGetParamInfo, needsContext);
  Function &function = *reinterpret_cast<Function *>(handle);
  if (index >= function.parameters.size())
    return errorInvalidValue;
  std::tie(*offset, *bytes) = function.parameters[index];
  return success;
}

FAKE_API Result cuLaunchKernelEx(const LaunchConfig *config,
                                 FunctionHandle handle, void **parameters,
                                 void **extra) {
  FAKE_CALL(cuLaunchKernelEx, needsContext);
  Function &function = *reinterpret_cast<Function *>(handle);
  KernelLaunch launch;
  launch.shape.kernel = function.name;
  const unsigned grid[] = {config->gridX, config->gridY, config->gridZ};
  const unsigned block[] = {config->blockX, config->blockY, config->blockZ};
  for (int i = 0; i < 3; ++i) {
    launch.shape.grid[i] = grid[i];
    launch.shape.block[i] = block[i];
  }
  launch.shape.sharedBytes = config->sharedBytes;
  for (unsigned i = 0; i < config->numAttributes; ++i) {
    const LaunchAttribute &attribute = config->attributes[i];
    if (attribute.id == launchClusterDimension) {
      launch.shape.cluster[0] = attribute.value.cluster.x;
      launch.shape.cluster[1] = attribute.value.cluster.y;
      launch.shape.cluster[2] = attribute.value.cluster.z;
    } else if (attribute.id == launchProgrammaticStreamSerialization) {
      launch.shape.programmatic =
          attribute.value.programmaticStreamSerialization != 0;
    } else {
      return errorInvalidValue;
    }
  }
  unsigned threads = block[0] * block[1] * block[2], blocks = 1;
  for (int i = 0; i < 3; ++i) {
    blocks *= launch.shape.cluster[i];
    if (grid[i] == 0 || block[i] == 0 || launch.shape.cluster[i] == 0 ||
        grid[i] % launch.shape.cluster[i] != 0)
      return errorInvalidValue;
  }
  if (threads > static_cast<unsigned>(function.maxThreads) ||
      config->sharedBytes > static_cast<unsigned>(function.dynamicShared) ||
      blocks > (function.bigClusters ? 16u : 8u) || extra)
    return errorInvalidValue;
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const unsigned char *value = static_cast<unsigned char *>(parameters[i]);
    launch.parameters.emplace_back(value,
                                   value + function.parameters[i].second);
  }
  KernelBody body = findKernel(function.name);
  return enqueue(config->stream, [launch, body] {
    state().launches.push_back(launch.shape);
    if (Result result = std::exchange(state().nextKernelFails, Result(success)))
      return result;
    if (body)
      body(launch);
    return launch.result;
  });
}

//===----------------------------------------------------------------------===//
// Linking: PTX to machine code
//===----------------------------------------------------------------------===//

namespace {
struct Link {
  std::string text;
  std::vector<char> code;
};
} // namespace

FAKE_API Result cuLinkCreate_v2(unsigned, JitOption *, void **,
                                LinkHandle *link) {
  FAKE_CALL(cuLinkCreate, needsContext);
  *link = reinterpret_cast<LinkHandle>(new Link);
  return success;
}
FAKE_API Result cuLinkAddData_v2(LinkHandle link, JitInput type, void *data,
                                 size_t, const char *, unsigned, JitOption *,
                                 void **) {
  FAKE_CALL(cuLinkAddData, needsContext);
  Module module;
  std::string text = static_cast<const char *>(data);
  if (type != jitInputPtx || !parsePtx(text, module).empty())
    return errorInvalidPtx;
  reinterpret_cast<Link *>(link)->text = text;
  return success;
}
FAKE_API Result cuLinkComplete(LinkHandle handle, void **code, size_t *bytes) {
  FAKE_CALL(cuLinkComplete, needsContext);
  Link &link = *reinterpret_cast<Link *>(handle);
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = 190;
  header.e_shoff = sizeof header + link.text.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 1;
  Elf64_Shdr section = {};
  const char *begin = reinterpret_cast<const char *>(&header);
  link.code.assign(begin, begin + sizeof header);
  link.code.insert(link.code.end(), link.text.begin(), link.text.end());
  begin = reinterpret_cast<const char *>(&section);
  link.code.insert(link.code.end(), begin, begin + sizeof section);
  *code = link.code.data();
  *bytes = link.code.size();
  return success;
}
FAKE_API Result cuLinkDestroy(LinkHandle link) {
  FAKE_CALL(cuLinkDestroy, plain);
  delete reinterpret_cast<Link *>(link);
  return success;
}
