//===- Export.cpp - From a module to the manifest of its program ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The target, the constants and the kernels of a program, once for all of its
// entries.
//
//===----------------------------------------------------------------------===//

#include "Exporter.h"
#include "tracea/Target/Program/GPULaunch.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "tracea/Analysis/Certificates.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
#include "tracea/Dialect/TraceaPipe/IR/KernelInterface.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

constexpr int64_t codeBlob = 0;
constexpr int64_t constantsBlob = 1;
constexpr size_t constantAlignment = 64;

constexpr int64_t mostConstantBytes = int64_t(1) << 33;

/// The bytes of a tensor in row-major order, i1 as one byte.
static FailureOr<std::vector<uint8_t>> getBytes(memref::GlobalOp global,
                                                ElementsAttr attribute) {
  ShapedType type = attribute.getShapedType();
  std::optional<rt::ElementType> element =
      getRuntimeElementType(type.getElementType());
  if (!element)
    return global.emitOpError()
           << "holds elements of type " << type.getElementType()
           << ", which a program cannot hold";
  size_t elementBytes = rt::sizeOf(*element);
  // A splat is small as text, but not in a program.
  int64_t total = elementBytes;
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(total, extent, total) || total > mostConstantBytes)
      return global.emitOpError()
             << "holds a constant of type " << type << "; expected at most "
             << mostConstantBytes << " bytes";
  size_t count = type.getNumElements();
  std::vector<uint8_t> bytes;
  bytes.reserve(elementBytes * count);

  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return global.emitOpError()
             << "refers to the resource '" << resource.getRawHandle().getKey()
             << "', whose contents are not in the module";
    ArrayRef<char> data = blob->getData();
    if (data.size() != elementBytes * count)
      return global.emitOpError()
             << "refers to a resource of " << data.size() << " bytes; expected "
             << elementBytes * count;
    bytes.assign(data.begin(), data.end());
    return bytes;
  }
  auto dense = dyn_cast<DenseElementsAttr>(attribute);
  if (!dense)
    return global.emitOpError()
           << "holds a constant that is neither dense nor a resource";
  auto append = [&](const APInt &value) {
    uint64_t word = value.getZExtValue();
    for (size_t i = 0; i < elementBytes; ++i)
      bytes.push_back(uint8_t(word >> (8 * i)));
  };
  if (isa<FloatType>(type.getElementType()))
    for (APFloat value : dense.getValues<APFloat>())
      append(value.bitcastToAPInt());
  else
    for (APInt value : dense.getValues<APInt>())
      append(value);
  return bytes;
}

LogicalResult Exporter::exportTarget() {
  auto target = module->getAttrOfType<TargetAttr>("tracea.target");
  if (!target)
    return module.emitOpError()
           << "has no attribute 'tracea.target'; expected the machine that the "
              "program is for";
  rt::TargetSpec &spec = program.manifest.target;
  spec.kind = stringifyTargetKind(target.getKind()).str();
  spec.name = target.getName().str();
  // Code for a CPU runs on its architecture, code for a GPU on its kind.
  if (target.getKind() == TargetKind::CPU)
    spec.arch = llvm::Triple::getArchTypeName(
                    llvm::Triple(target.getTriple()).getArch())
                    .str();
  else
    spec.arch = target.getCpu().str();
  SmallVector<StringRef> features;
  target.getFeatures().split(features, ',', -1, /*KeepEmpty=*/false);
  for (StringRef feature : features)
    if (feature.consume_front("+"))
      spec.features.push_back(feature.str());
  return success();
}

FailureOr<int64_t> Exporter::exportConstant(memref::GlobalOp global) {
  if (auto it = globals.find(global); it != globals.end())
    return it->second;
  auto value = dyn_cast_or_null<ElementsAttr>(
      global.getInitialValue().value_or(nullptr));
  if (!value)
    return global.emitOpError()
           << "has no initial value; expected the contents of a constant";
  FailureOr<std::vector<uint8_t>> bytes = getBytes(global, value);
  if (failed(bytes))
    return failure();
  StringRef contents(reinterpret_cast<const char *>(bytes->data()),
                     bytes->size());
  rt::Manifest &manifest = program.manifest;
  auto [known, inserted] =
      constants.try_emplace(contents, manifest.constants.size());
  if (inserted) {
    std::vector<uint8_t> &blob = program.blobs[constantsBlob];
    blob.resize(llvm::alignTo(blob.size(), constantAlignment));
    manifest.constants.push_back(
        {constantsBlob, int64_t(blob.size()), int64_t(bytes->size())});
    blob.insert(blob.end(), bytes->begin(), bytes->end());
  }
  globals[global] = known->second;
  return known->second;
}

FailureOr<int64_t> Exporter::exportKernel(LaunchOp launch,
                                          FlatSymbolRefAttr name) {
  auto kernel = symbols.lookup<KernelOp>(name.getValue());
  if (!kernel)
    return launch.emitOpError()
           << "expects a 'tracea_pipe.kernel' named " << name;
  auto [it, inserted] =
      kernels.try_emplace(kernel, program.manifest.kernels.size());
  if (!inserted)
    return it->second;
  if (options.requireProof && failed(requireCertificates(kernel)))
    return failure();
  // Without what was checked it would read and write anything.
  if (LaunchLack lack = findLaunchLack(kernel); lack.launch)
    return emitLaunchLack(kernel, lack);
  rt::KernelSpec spec = describeKernel(kernel);
  spec.blob = codeBlob;
  auto function = code.lookupSymbol<LLVM::LLVMFuncOp>(spec.symbol);
  if (!function)
    return code.emitError()
           << "the lowered module has no function '" << spec.symbol << "'";
  if (isForGPU() && failed(describeGPUKernel(spec, function)))
    return failure();
  if (auto bytes = function->getAttrOfType<IntegerAttr>(kWorkspaceAttrName))
    spec.workspace = bytes.getInt();
  functions.push_back(function);
  program.manifest.kernels.push_back(std::move(spec));
  return it->second;
}

FailureOr<rt::ProgramFile> Exporter::run() {
  program.manifest.producer = options.producer;
  program.blobs.resize(2);
  if (failed(exportTarget()))
    return failure();
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    if (function.isPrivate() || function.isExternal())
      continue;
    if (!options.entry.empty() && function.getName() != options.entry)
      continue;
    FailureOr<rt::EntrySpec> entry = EntryExporter(*this, function).run();
    if (failed(entry))
      return failure();
    program.manifest.entries.push_back(std::move(*entry));
  }
  if (program.manifest.entries.empty()) {
    InFlightDiagnostic diag = module.emitError();
    if (options.entry.empty())
      diag << "the module has no public function; expected an entry";
    else
      diag << "the module has no public function named '" << options.entry
           << "'";
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      diag.attachNote(function.getLoc())
          << "'" << function.getName() << "' is "
          << (function.isPrivate()    ? "private"
              : function.isExternal() ? "without a body"
                                      : "another entry");
    return diag;
  }
  if (program.blobs[constantsBlob].empty())
    program.blobs.pop_back();
  return std::move(program);
}

void mlir::tracea::addImage(rt::ProgramFile &program, rt::ImageKind kind,
                            std::vector<uint8_t> code, StringRef arch,
                            int64_t isa) {
  bool isFirst = program.manifest.images.empty();
  int64_t blob = codeBlob;
  if (isFirst)
    program.blobs[codeBlob] = std::move(code);
  else
    blob = program.addBlob(std::move(code));
  program.manifest.images.push_back({codeBlob, blob, kind, arch.str(), isa});
}

FailureOr<rt::ProgramFile>
mlir::tracea::exportProgram(ModuleOp module, ModuleOp code,
                            const ExportOptions &options) {
  return Exporter(module, code, options).run();
}
