//===- TraceaContender.cpp - Compiled programs as contenders -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the module of a case as text, compiles it for this machine, and calls
// the program through the runtime as any user would.

#include "Contender.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "tracea/Compiler/Compiler.h"
#include "tracea/Runtime/Constants.h"
#include "tracea/Runtime/Executable.h"

using namespace tracea;
using namespace tracea::bench;

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

static std::string tensorType(const Array &array) {
  std::string text = "tensor<";
  for (int64_t size : array.shape())
    text += std::to_string(size) + "x";
  return text + runtime::nameOf(array.type()) + ">";
}

static std::string gemmModule(const Problem &problem) {
  const GemmShape &gemm = problem.what().gemm;
  const BufferSet &set = problem.set(0);
  std::string a = tensorType(set.inputs[0]), b = tensorType(set.inputs[1]);
  std::string c = tensorType(set.output);
  return "func.func @main(%a: " + a + ", %b: " + b + ") -> " + c +
         " {\n"
         "  %d = tensor.empty() : " +
         c +
         "\n"
         "  %c = tracea.gemm " +
         (gemm.transposeA ? "transpose_lhs " : "") +
         (gemm.transposeB ? "transpose_rhs " : "") + "ins(%a, %b : " + a +
         ", " + b + ") outs(%d : " + c +
         ")\n"
         "  return %c : " +
         c +
         "\n"
         "}\n";
}

namespace {

/// The three operations of a convolution case, each "%y" from "%x".
struct LayerText {
  explicit LayerText(const Problem &problem) {
    const ConvShape &conv = problem.what().conv;
    image = tensorType(problem.set(0).inputs[0]);
    filter = tensorType(problem.filter);
    channel = tensorType(problem.scale);
    output = tensorType(problem.set(0).output);

    auto pair = [](int64_t value) {
      return "[" + std::to_string(value) + ", " + std::to_string(value) + "]";
    };
    convolution = "tracea.conv2d layout ";
    convolution += conv.nchw ? "nchw filter kcrs" : "nhwc filter krsc";
    if (conv.stride != 1)
      convolution += " strides " + pair(conv.stride);
    if (conv.pads != std::array<int64_t, 4>{}) {
      convolution += " pads [";
      for (size_t i = 0; i < 4; ++i)
        convolution += (i ? ", " : "") + std::to_string(conv.pads[i]);
      convolution += "]";
    }
    if (conv.dilation != 1)
      convolution += " dilations " + pair(conv.dilation);
    if (conv.groups != 1)
      convolution += " groups " + std::to_string(conv.groups);
    axis = conv.nchw ? "1" : "3";
    residual = conv.residual;
  }

  std::string conv(const std::string &y, const std::string &x) const {
    return "  " + y + " = " + convolution + " ins(" + x + ", %w : " + image +
           ", " + filter + ") outs(%d : " + output + ")\n";
  }
  std::string batchNorm(const std::string &y, const std::string &x) const {
    return "  " + y + " = tracea.batch_norm axis " + axis +
           " epsilon 1.0e-5 ins(" + x +
           ", %scale, %shift, %mean, %variance : " + output + ", " + channel +
           ", " + channel + ", " + channel + ", " + channel +
           ") outs(%d : " + output + ")\n";
  }
  /// Of "%z" added, where there is a residual.
  std::string relu(const std::string &y, const std::string &x) const {
    std::string maps = residual ? "#id, #id, #id" : "#id, #id";
    std::string inputs = x + (residual ? ", %z" : "") + " : " + output +
                         (residual ? ", " + output : "");
    std::string scalars = residual ? "%in: f32, %other: f32" : "%in: f32";
    std::string sum =
        residual ? "    %sum = arith.addf %in, %other : f32\n" : "";
    return "  %zero = arith.constant 0.0 : f32\n"
           "  " +
           y + " = linalg.generic {indexing_maps = [" + maps +
           "], iterator_types = "
           "[\"parallel\", \"parallel\", \"parallel\", \"parallel\"]} ins(" +
           inputs + ") outs(%d : " + output +
           ") {\n"
           "  ^bb0(" +
           scalars + ", %out: f32):\n" + sum + "    %max = arith.maximumf " +
           (residual ? "%sum" : "%in") +
           ", %zero : f32\n"
           "    linalg.yield %max : f32\n"
           "  } -> " +
           output + "\n";
  }

  std::string function(const std::string &inputs,
                       const std::string &body) const {
    return "#id = affine_map<(a, b, c, d) -> (a, b, c, d)>\n"
           "func.func @main(" +
           inputs + ") -> " + output +
           " {\n"
           "  %d = tensor.empty() : " +
           output + "\n" + body + "  return %y : " + output + "\n}\n";
  }
  std::string channelInputs() const {
    std::string type = ": " + channel + " {tracea.constant}";
    return ", %scale" + type + ", %shift" + type + ", %mean" + type +
           ", %variance" + type;
  }

  /// Weights are the same in all runs: what depends on them alone is made once,
  /// as oneDNN's reorders of weights are.
  std::string weights() const {
    return ", %w: " + filter + " {tracea.constant}";
  }
  std::string fused() const {
    return function("%x: " + image + (residual ? ", %z: " + output : "") +
                        weights() + channelInputs(),
                    conv("%0", "%x") + batchNorm("%1", "%0") +
                        relu("%y", "%1"));
  }
  std::string convAlone() const {
    return function("%x: " + image + weights(), conv("%y", "%x"));
  }
  std::string batchNormAlone() const {
    return function("%x: " + output + channelInputs(), batchNorm("%y", "%x"));
  }
  std::string reluAlone() const {
    return function("%x: " + output, relu("%y", "%x"));
  }

  std::string image, filter, channel, output, convolution, axis;
  bool residual = false;
};

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// One program, its tensors bound for every buffer set.
struct Stage {
  std::unique_ptr<runtime::Execution> execution;
  std::string implementation, undecided;
  /// By set.
  std::vector<std::vector<runtime::Tensor>> inputs;
  std::vector<std::vector<runtime::Tensor>> outputs;
  /// Whether a run has been given them: others find them there.
  bool hasConstants = false;

  void keepConstants() {
    hasConstants = true;
    const std::vector<runtime::InputSpec> &specs = execution->entry().inputs;
    for (std::vector<runtime::Tensor> &set : inputs)
      for (size_t i = 0; i < set.size(); ++i)
        if (specs[i].isConstant)
          set[i] = runtime::Tensor();
  }
};

class TraceaContender : public Contender {
public:
  bool run(int set) override {
    for (Stage &stage : stages) {
      if (!stage.execution->run(stage.inputs[set], stage.outputs[set]).ok())
        return false;
      if (!stage.hasConstants)
        stage.keepConstants();
    }
    return true;
  }

  std::vector<Stage> stages;
};

} // namespace

static runtime::Tensor borrow(const Array &array) {
  // The array's own shape fits its memory: this cannot fail.
  return *runtime::Tensor::borrow(array.data(), array.type(), array.shape());
}

/// The variant of the operation's own kernel, and how many others each run
/// launches beside it.
static std::string describeKernels(const runtime::Manifest &manifest,
                                   const runtime::EntrySpec &entry) {
  std::string variant;
  std::vector<char> once = runtime::findConstantSteps(entry);
  size_t launches = 0;
  for (size_t i = 0; i < entry.steps.size(); ++i) {
    if (once[i])
      continue;
    ++launches;
    const runtime::KernelSpec &kernel = manifest.kernels[entry.steps[i].kernel];
    if (variant.empty() || kernel.op.rfind("tracea.", 0) == 0)
      variant = kernel.variant;
  }
  size_t others = launches - 1;
  return others ? variant + " +" + std::to_string(others) : variant;
}

/// With all proofs. The messages on failure.
static mlir::FailureOr<runtime::ProgramFile>
compileProved(const std::string &text, mlir::MLIRContext &context, int threads,
              bool requireProof, std::string &messages) {
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
          messages += (messages.empty() ? "" : "; ") + diagnostic.str();
        return mlir::success();
      });
  mlir::OwningOpRef<mlir::ModuleOp> module =
      compiler::parseModule(text, context, "benchmark");
  if (!module)
    return mlir::failure();
  compiler::CompileOptions options;
  options.threads = threads;
  options.requireProof = requireProof;
  return compiler::compileToProgram(*module, options);
}

/// Compiles and loads; the reason on failure.
static std::string loadStage(const std::string &text,
                             const std::shared_ptr<runtime::Device> &device,
                             int threads, Stage &stage) {
  mlir::DialectRegistry registry;
  compiler::registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::string messages, others;
  mlir::FailureOr<runtime::ProgramFile> program =
      compileProved(text, context, threads, /*requireProof=*/true, messages);
  if (failed(program)) {
    // A kernel that is not decided is measured, and the table says so.
    program =
        compileProved(text, context, threads, /*requireProof=*/false, others);
    if (failed(program))
      return others.empty() ? "the compiler failed" : others;
    stage.undecided = messages;
  }
  runtime::Expected<std::shared_ptr<runtime::Executable>> executable =
      runtime::Executable::load(std::move(*program), device);
  if (!executable)
    return executable.message();
  runtime::Expected<std::unique_ptr<runtime::Execution>> execution =
      (*executable)->createExecution("main");
  if (!execution)
    return execution.message();
  stage.implementation =
      describeKernels((*executable)->manifest(), (*execution)->entry());
  stage.execution = std::move(*execution);
  return "";
}

MaybeContender tracea::bench::makeTracea(const Problem &problem, int threads,
                                         bool separate) {
  const Case &entry = problem.what();
  if (separate && !entry.separate)
    return {nullptr, "this case is not run as separate kernels"};
  runtime::DeviceOptions options;
  options.threads = threads;
  runtime::Expected<std::shared_ptr<runtime::Device>> device =
      runtime::openDevice("cpu", options);
  if (!device)
    return {nullptr, device.message()};

  auto contender = std::make_unique<TraceaContender>();
  std::vector<std::string> texts;
  if (entry.op == Op::Gemm) {
    texts = {gemmModule(problem)};
  } else {
    LayerText layer(problem);
    if (entry.isConvAlone())
      texts = {layer.convAlone()};
    else if (separate)
      texts = {layer.convAlone(), layer.batchNormAlone(), layer.reluAlone()};
    else
      texts = {layer.fused()};
  }
  for (const std::string &text : texts) {
    Stage stage;
    double begin = now();
    std::string reason = loadStage(text, *device, threads, stage);
    if (!reason.empty())
      return {nullptr, reason};
    contender->compileSeconds += now() - begin;
    contender->implementation +=
        (contender->stages.empty() ? "" : ", ") + stage.implementation;
    if (!stage.undecided.empty())
      contender->undecided +=
          (contender->undecided.empty() ? "" : "; ") + stage.undecided;
    contender->stages.push_back(std::move(stage));
  }

  std::vector<runtime::Tensor> layerInputs, channelInputs;
  if (entry.op == Op::Conv) {
    layerInputs = {borrow(problem.filter)};
    if (!entry.isConvAlone())
      for (const Array *array :
           {&problem.scale, &problem.shift, &problem.mean, &problem.variance})
        channelInputs.push_back(borrow(*array));
  }
  auto bind = [](Stage &stage, const std::vector<runtime::Tensor> &first,
                 const std::vector<runtime::Tensor> &second,
                 const std::vector<runtime::Tensor> &third,
                 const Array &output) {
    std::vector<runtime::Tensor> inputs = first;
    inputs.insert(inputs.end(), second.begin(), second.end());
    inputs.insert(inputs.end(), third.begin(), third.end());
    stage.inputs.push_back(std::move(inputs));
    stage.outputs.push_back({borrow(output)});
  };
  for (int i = 0; i < problem.numSets(); ++i) {
    const BufferSet &set = problem.set(i);
    std::vector<runtime::Tensor> inputs;
    for (const Array &input : set.inputs)
      inputs.push_back(borrow(input));
    if (!separate) {
      bind(contender->stages[0], inputs, layerInputs, channelInputs,
           set.output);
      continue;
    }
    bind(contender->stages[0], inputs, layerInputs, {}, set.between[0]);
    bind(contender->stages[1], {borrow(set.between[0])}, channelInputs, {},
         set.between[1]);
    bind(contender->stages[2], {borrow(set.between[1])}, {}, {}, set.output);
  }
  return {std::move(contender), ""};
}
