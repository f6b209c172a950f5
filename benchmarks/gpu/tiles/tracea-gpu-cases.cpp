//===- tracea-gpu-cases.cpp - Operations on tiles as PTX, with answers ----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   tracea-gpu-cases DIR
//
// Lowers a list of relayouts, reductions and round trips through global memory
// for sm_90a and writes, into DIR, NAME.ptx, the bytes NAME.in and NAME.out
// that go in and must come out, and cases.txt with one line for each:
//   NAME threads class shuffles memory-cycles
// The answers come from LanesAttr::getCoordinate. run-cases runs them on a
// machine that need not have the compiler.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/GPU/IR/CompilationInterfaces.h"
#include "mlir/Dialect/GPU/Pipelines/Passes.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "tracea/Algebra/Conversion.h"
#include "tracea/Algebra/Fragments.h"
#include "tracea/Conversion/TraceaPipeToGPU/TraceaPipeToGPU.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;
using alg::MatrixOperand;

namespace {
enum class Kind {
  /// Registers in, registers out: thread by thread.
  Relayout,
  /// A matrix from and to global memory, through both lane maps.
  RoundTrip,
  /// Sums of 32-bit integers along a dimension.
  SumRows,
  SumColumns
};

struct Case {
  std::string name;
  Kind kind;
  std::string element;
  alg::LaneMap from, to;
};

class Writer {
public:
  Writer(std::string directory, MLIRContext &context)
      : directory(std::move(directory)), context(context) {
    lowering.banks = *alg::bankModel("nvidia");
  }

  LogicalResult write(const Case &c);
  LogicalResult writeList() { return writeFile("cases.txt", list); }

private:
  LogicalResult writeFile(const std::string &name, StringRef bytes) {
    std::error_code error;
    llvm::ToolOutputFile file(directory + "/" + name, error,
                              llvm::sys::fs::OF_None);
    if (error) {
      llvm::errs() << "error: " << directory << "/" << name << ": "
                   << error.message() << "\n";
      return failure();
    }
    file.os() << bytes;
    file.keep();
    return success();
  }
  LanesAttr getLanes(const alg::LaneMap &map);
  std::string getTile(LanesAttr lanes, const std::string &element);
  FailureOr<std::string> compile(const std::string &text);

  std::string directory, list;
  MLIRContext &context;
  GPULoweringContext lowering;
};
} // namespace

LanesAttr Writer::getLanes(const alg::LaneMap &map) {
  auto bases = [&](alg::LaneDim dim) {
    SmallVector<DenseI64ArrayAttr> result;
    for (unsigned bit = 0; bit < map.numBits(dim); ++bit)
      result.push_back(DenseI64ArrayAttr::get(&context, map.basis(dim, bit)));
    return result;
  };
  return LanesAttr::get(&context, bases(alg::LaneDim::Reg),
                        bases(alg::LaneDim::Lane), bases(alg::LaneDim::Warp),
                        map.outer());
}

std::string Writer::getTile(LanesAttr lanes, const std::string &element) {
  std::string text = "tensor<";
  for (int64_t extent : lanes.getTileShape())
    text += std::to_string(extent) + "x";
  text += element + ", ";
  llvm::raw_string_ostream(text) << lanes;
  return text + ">";
}

FailureOr<std::string> Writer::compile(const std::string &text) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (!module)
    return failure();
  lowering.exchangeBuffers.clear();
  lowering.numShuffles = lowering.numSelects = lowering.numExchanges = 0;
  if (failed(convertRegisterTiles(*module, lowering)))
    return failure();
  RewritePatternSet patterns(&context);
  populateGpuSubgroupIdPatterns(patterns);
  if (failed(applyPatternsGreedily(*module, std::move(patterns))))
    return failure();
  // NVIDIA's conversion knows the lanes of a warp, but not this operation.
  module->walk([&](gpu::SubgroupSizeOp op) {
    OpBuilder b(op);
    op.replaceAllUsesWith(arith::ConstantIndexOp::create(
                              b, op.getLoc(), lowering.getSubgroupSize())
                              .getResult());
    op.erase();
  });
  PassManager pm(&context);
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  gpu::GPUToNVVMPipelineOptions options;
  options.cubinChip = "sm_90a";
  options.cubinFeatures = "+ptx80";
  options.cubinFormat = "isa";
  options.optLevel = 3;
  options.kernelUseBarePtrCallConv = true;
  gpu::buildLowerToNVVMPassPipeline(pm, options);
  if (failed(pm.run(*module)))
    return failure();
  std::string ptx;
  module->walk([&](gpu::BinaryOp binary) {
    if (auto object = dyn_cast<gpu::ObjectAttr>(binary.getObjects()[0]))
      ptx = object.getObject().getValue().str();
  });
  return ptx;
}

/// Bytes of an element of a tile, as a number that tells it from others.
static uint64_t getValue(ArrayRef<int64_t> at, ArrayRef<int64_t> shape,
                         unsigned bits, Kind kind) {
  uint64_t flat = 0;
  for (auto [coordinate, extent] : llvm::zip(at, shape))
    flat = flat * extent + coordinate;
  if (kind == Kind::SumRows || kind == Kind::SumColumns)
    return flat * 2654435761u % 100003;
  uint64_t value = (flat + 1) * (bits > 16 ? 0x9E3779B97F4A7C15u : 1);
  return bits >= 64 ? value : value & ((uint64_t(1) << bits) - 1);
}

LogicalResult Writer::write(const Case &c) {
  LanesAttr from = getLanes(c.from), to = getLanes(c.to);
  int64_t warps = std::max(from.getNumWarps(), to.getNumWarps()),
          threads = 32 * warps;
  std::string x = getTile(from, c.element), y = getTile(to, c.element);
  unsigned bits = unsigned(std::stoul(
               c.element.substr(c.element.find_first_of("0123456789")))),
           bytes = bits / 8;
  SmallVector<int64_t> shape = from.getTileShape();
  auto raw = [&](LanesAttr lanes) {
    return "memref<" + std::to_string(threads) + "x" +
           std::to_string(lanes.getNumRegisters()) + "x" + c.element + ">";
  };
  auto registers = [&](LanesAttr lanes) {
    return "vector<" + std::to_string(lanes.getNumRegisters()) + "x" +
           c.element + ">";
  };
  bool isMatrix = c.kind == Kind::RoundTrip;
  std::string matrix = "memref<";
  for (int64_t extent : shape)
    matrix += std::to_string(extent) + "x";
  matrix += c.element + ">";
  std::string in = isMatrix ? matrix : raw(from),
              out = isMatrix ? matrix : raw(to), body;
  if (isMatrix)
    body = "%x = tracea_pipe.load %in[%c0, %c0] map affine_map<(i, j) -> (i, "
           "j)> : " +
           in + " -> " + x + "\n";
  else
    body = "%v = vector.load %in[%t, %c0] : " + in + ", " + registers(from) +
           "\n%x = builtin.unrealized_conversion_cast %v : " + registers(from) +
           " to " + x + "\n";
  switch (c.kind) {
  case Kind::Relayout:
  case Kind::RoundTrip:
    body += "%y = tracea_pipe.relayout %x : " + x + " -> " + y + "\n";
    break;
  case Kind::SumRows:
  case Kind::SumColumns:
    body += "%y = tracea_pipe.reduce add %x dim " +
            std::string(c.kind == Kind::SumRows ? "1" : "0") + " : " + x +
            " -> " + y + "\n";
    break;
  }
  if (isMatrix)
    body += "tracea_pipe.store %y, %out[%c0, %c0] map affine_map<(i, j) -> "
            "(i, j)> : " +
            y + ", " + out + "\n";
  else
    body += "%w = builtin.unrealized_conversion_cast %y : " + y + " to " +
            registers(to) + "\nvector.store %w, %out[%t, %c0] : " + out + ", " +
            registers(to) + "\n";
  std::string block = std::to_string(threads) + ", 1, 1>";
  FailureOr<std::string> ptx = compile(
      "module attributes {gpu.container_module} {\ngpu.module @m {\n"
      "gpu.func @" +
      c.name + "(%in: " + in + " {llvm.align = 16 : i64}, %out: " + out +
      " {llvm.align = 16 : i64}) kernel attributes {known_block_size = "
      "array<i32: " +
      block + "} {\n%c0 = arith.constant 0 : index\n%t = gpu.thread_id x\n" +
      body + "gpu.return\n}\n}\n}\n");
  if (failed(ptx) || ptx->empty()) {
    llvm::errs() << "error: " << c.name << " does not compile\n";
    return failure();
  }

  // What goes in, and what must come out.
  std::string input, output;
  auto add = [&](std::string &to, uint64_t value) {
    to.append(reinterpret_cast<const char *>(&value), bytes);
  };
  auto valueAt = [&](ArrayRef<int64_t> at) {
    return getValue(at, shape, bits, c.kind);
  };
  auto answerAt = [&](SmallVector<int64_t> at) {
    if (c.kind == Kind::Relayout)
      return valueAt(at);
    unsigned dim = c.kind == Kind::SumRows ? 1 : 0;
    uint64_t sum = 0;
    for (at[dim] = 0; at[dim] < shape[dim]; ++at[dim])
      sum += valueAt(at);
    return sum & 0xffffffffu;
  };
  if (isMatrix) {
    for (int64_t i = 0; i < shape[0]; ++i)
      for (int64_t j = 0; j < shape[1]; ++j)
        add(input, valueAt({i, j}));
    output = input;
  } else {
    auto forEach = [&](LanesAttr lanes, auto visit) {
      for (int64_t thread = 0; thread < threads; ++thread)
        for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg)
          visit(lanes.getCoordinate(reg, thread % 32 % lanes.getNumLanes(),
                                    thread / 32 % lanes.getNumWarps()));
    };
    forEach(from, [&](ArrayRef<int64_t> at) { add(input, valueAt(at)); });
    forEach(to, [&](SmallVector<int64_t> at) { add(output, answerAt(at)); });
  }
  std::string cls = "reduce";
  if (c.kind == Kind::Relayout || c.kind == Kind::RoundTrip)
    if (alg::Expected<alg::Conversion> conversion =
            alg::Conversion::get(c.from, c.to))
      cls = alg::conversionClassName(conversion->conversionClass());
  std::replace(cls.begin(), cls.end(), ' ', '-');
  list += c.name + " " + std::to_string(threads) + " " + cls + " " +
          std::to_string(lowering.numShuffles) + " " +
          std::to_string(lowering.numExchanges) + "\n";
  return failure(failed(writeFile(c.name + ".ptx", *ptx)) ||
                 failed(writeFile(c.name + ".in", input)) ||
                 failed(writeFile(c.name + ".out", output)));
}

static alg::LaneMap makeMap(alg::TileCoord shape, alg::LaneBases bases,
                            alg::TileCoord outer = {}) {
  return *alg::LaneMap::get(shape, bases, outer);
}

/// The map of a tile reduced along `dim`.
static alg::LaneMap reduced(const alg::LaneMap &map, unsigned dim) {
  alg::LaneBases bases;
  auto project = [&](alg::LaneDim place, std::vector<alg::TileCoord> &part) {
    for (unsigned bit = 0; bit < map.numBits(place); ++bit) {
      alg::TileCoord vector = map.basis(place, bit);
      vector[dim] = 0;
      bool isZero = llvm::all_of(vector, [](int64_t c) { return c == 0; });
      if (place != alg::LaneDim::Reg || !isZero)
        part.push_back(vector);
    }
  };
  project(alg::LaneDim::Reg, bases.reg);
  project(alg::LaneDim::Lane, bases.lane);
  project(alg::LaneDim::Warp, bases.warp);
  alg::TileCoord linear = map.linearShape(), outer = map.outer();
  linear[dim] = outer[dim] = 1;
  return makeMap(linear, bases, outer);
}

static std::vector<Case> getCases() {
  alg::LaneMap mmaD = *alg::mmaM16N8(MatrixOperand::D, 16, 16)
                           ->product(makeMap({1, 2}, {{{0, 1}}, {}, {}, {}}));
  std::vector<alg::TileCoord> columns32{
      {0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}},
      rows32{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}};
  alg::LaneMap square = makeMap({32, 32}, {columns32, rows32, {}, {}}),
               transposed = makeMap({32, 32}, {rows32, columns32, {}, {}});
  // 16 bytes a thread, by rows of 64 16-bit elements.
  alg::LaneMap rows =
      makeMap({64, 64}, {{{0, 1}, {0, 2}, {0, 4}, {16, 0}, {32, 0}},
                         {{0, 8}, {0, 16}, {0, 32}, {1, 0}, {2, 0}},
                         {{4, 0}, {8, 0}},
                         {}});
  // 24 columns: three times 8.
  alg::LaneMap rows24 = makeMap({64, 8},
                                {{{0, 1}, {0, 2}, {0, 4}},
                                 {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}},
                                 {{32, 0}, {0, 0}},
                                 {}},
                                {1, 3});
  alg::LaneMap skewed =
      makeMap({32, 32},
              {columns32, {{1, 1}, {2, 2}, {4, 4}, {8, 8}, {16, 16}}, {}, {}});
  alg::LaneMap swapped = makeMap(
      {32, 32}, {{{0, 4}, {0, 1}, {0, 16}, {0, 8}, {0, 2}}, rows32, {}, {}});
  return {
      {"mma_c_to_a", Kind::Relayout, "bf16", mmaD,
       *alg::mmaM16N8(MatrixOperand::A, 16, 16)},
      {"registers", Kind::Relayout, "f32", square, swapped},
      {"registers_by_lane", Kind::Relayout, "f32", square, skewed},
      {"wgmma_d_to_fp8_a", Kind::Relayout, "i8", *alg::wgmmaD(32),
       *alg::wgmmaA(8)},
      {"transpose_f32", Kind::Relayout, "f32", square, transposed},
      {"transpose_bf16", Kind::Relayout, "bf16", square, transposed},
      {"transpose_f64", Kind::Relayout, "f64", transposed, square},
      {"wgmma_d_to_rows", Kind::Relayout, "bf16", *alg::wgmmaD(64), rows},
      {"rows_to_wgmma_d", Kind::Relayout, "f32", rows, *alg::wgmmaD(64)},
      {"wgmma_d24_to_rows", Kind::Relayout, "f32", *alg::wgmmaD(24), rows24},
      {"matrix_through_wgmma_d", Kind::RoundTrip, "bf16", rows,
       *alg::wgmmaD(64)},
      {"matrix_transposed", Kind::RoundTrip, "f32", square, transposed},
      {"sum_rows", Kind::SumRows, "i32", *alg::wgmmaD(64),
       reduced(*alg::wgmmaD(64), 1)},
      {"sum_columns", Kind::SumColumns, "i32", *alg::wgmmaD(24),
       reduced(*alg::wgmmaD(24), 0)},
  };
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  if (argc != 2) {
    llvm::errs() << "usage: tracea-gpu-cases DIR\n";
    return 2;
  }
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
  registry.insert<TraceaPipeDialect>();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  if (std::error_code error = llvm::sys::fs::create_directories(argv[1])) {
    llvm::errs() << "error: " << argv[1] << ": " << error.message() << "\n";
    return 1;
  }
  Writer writer(argv[1], context);
  for (const Case &c : getCases())
    if (failed(writer.write(c)))
      return 1;
  return failed(writer.writeList());
}
