//===- ManifestJSON.cpp - The manifest as JSON text -----------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading is strict and in two passes: the first looks at the text alone
// (syntax, depth, repeated keys), the second takes each field with its type.
// The first error wins and carries its JSON path.
//
//===----------------------------------------------------------------------===//

#include "ManifestReader.h"

#include "tracea/Runtime/Dependencies.h"

#include <set>

namespace tracea::runtime {

using namespace manifest;

namespace {

//===----------------------------------------------------------------------===//
// The text alone
//===----------------------------------------------------------------------===//

/// Follows the parser's events to find what the document model would hide:
/// too deep nesting and repeated keys.
class TextChecker : public nlohmann::json_sax<Json> {
public:
  explicit TextChecker(uint64_t maxDepth) : maxDepth(maxDepth) {}
  std::string error;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_array(size_t) override { return push(); }
  bool end_array() override { return pop(); }
  bool start_object(size_t) override { return push(); }
  bool end_object() override { return pop(); }
  bool key(string_t &name) override {
    if (keys.back().insert(name).second)
      return true;
    error = "the key \"" + name + "\" stands twice in one object";
    return false;
  }
  bool parse_error(size_t position, const std::string &,
                   const nlohmann::detail::exception &) override {
    error = "syntax error at byte " + std::to_string(position);
    return false;
  }

private:
  bool push() {
    if (keys.size() >= maxDepth) {
      error = "expected at most " + std::to_string(maxDepth) +
              " levels of nesting, found more";
      return false;
    }
    keys.emplace_back();
    return true;
  }
  bool pop() {
    keys.pop_back();
    return true;
  }

  uint64_t maxDepth;
  std::vector<std::set<std::string>> keys;
};

//===----------------------------------------------------------------------===//
// JSON to structs
//===----------------------------------------------------------------------===//

bool readExpr(Reader &r, const Json &value, Expr &expr) {
  if (!value.is_array() || value.empty() || !value[0].is_string())
    return r.fail("expected an array that begins with an operator");
  const std::string &name = value[0].get_ref<const std::string &>();
  for (int i = 0; i < numExprOps; ++i) {
    ExprOp op = static_cast<ExprOp>(i);
    if (name != nameOf(op) || (op == ExprOp::Value && r.format < 5))
      continue;
    if (value.size() != static_cast<size_t>(numOperands(op)) + 1)
      return r.fail("expected " + std::to_string(numOperands(op)) +
                    " operands of \"" + name + "\", found " +
                    std::to_string(value.size() - 1));
    expr.op = op;
    if (!r.integer(value[1], expr.a))
      return false;
    // A node that is the only operand stands for both.
    if (numOperands(op) == 1 && op != ExprOp::Const && op != ExprOp::Value)
      expr.b = expr.a;
    return (value.size() < 3 || r.integer(value[2], expr.b)) &&
           (value.size() < 4 || r.integer(value[3], expr.c));
  }
  return r.fail("unknown operator \"" + name.substr(0, 64) + "\"");
}

/// A field that is there where it is true.
auto isTrue(Reader &r) {
  return [&r](const Json &v) {
    return (v.is_boolean() && v.get<bool>()) || r.fail("expected true");
  };
}

bool readSize(Reader &r, const Json &value, int64_t &size) {
  if (value.is_object()) {
    size = dynamicSize;
    return r.object(value, Field("dynamic", isTrue(r)));
  }
  if (!r.integer(value, size))
    return false;
  return size >= 0 ||
         r.fail("expected a size of at least 0, found " + std::to_string(size));
}

bool readInput(Reader &r, const Json &value, InputSpec &input) {
  input.isScalar =
      r.format > 4 && value.is_object() && value.contains("scalar");
  if (input.isScalar)
    return r.object(value, text(r, "name", input.name),
                    elementType(r, "scalar", input.type));
  input.isConstant =
      r.format > 4 && value.is_object() && value.contains("constant");
  return r.object(value, text(r, "name", input.name),
                  elementType(r, "type", input.type),
                  list<int64_t>(r, "shape", input.shape, readSize),
                  onlyIf(input.isConstant, Field("constant", isTrue(r))));
}

bool readCheck(Reader &r, const Json &value, CheckSpec &check) {
  return r.object(value, number(r, "expr", check.expr),
                  text(r, "message", check.message));
}

bool readTableValue(Reader &r, const Json &value, TableValue &out) {
  out.isInput = value.is_object() && value.contains("value");
  return r.object(value, number(r, out.isInput ? "value" : "index", out.index));
}

bool readBuffer(Reader &r, const Json &value, BufferSpec &buffer) {
  if (!value.is_object())
    return r.wrong(value, "an object");
  std::string kind;
  auto found = value.find("kind");
  if (found != value.end() && found->is_string())
    kind = found->get<std::string>();
  if (kind == "temp") {
    buffer.kind = BufferKind::Temp;
    return r.object(
        value, text(r, "kind", kind), number(r, "bytes", buffer.bytes),
        number(r, "align", buffer.align),
        onlyIf(r.format > 3, Field("contents", [&](const Json &v) {
                 // Format 4 knew nothing of constants, the last of them.
                 return readName(r, v, numTempContents - (r.format < 5),
                                 buffer.contents);
               })));
  }
  if (kind == "table" && r.format > 4) {
    buffer.kind = BufferKind::Table;
    return r.object(
        value, text(r, "kind", kind), elementType(r, "type", buffer.type),
        list<TableValue>(r, "values", buffer.values, readTableValue));
  }
  if (kind != "input" && kind != "constant")
    return r.fail(std::string("expected \"kind\" to be \"input\", "
                              "\"constant\"") +
                  (r.format > 4 ? ", \"temp\" or \"table\"" : " or \"temp\""));
  buffer.kind = kind == "input" ? BufferKind::Input : BufferKind::Constant;
  return r.object(value, text(r, "kind", kind),
                  number(r, "index", buffer.index));
}

} // namespace

bool manifest::readView(Reader &r, const Json &value, ViewSpec &view) {
  return r.object(
      value, number(r, "buffer", view.buffer),
      elementType(r, "type", view.type), number(r, "offset", view.offset),
      numbers(r, "sizes", view.sizes), numbers(r, "strides", view.strides));
}

namespace {

/// A field that is a view.
auto viewField(Reader &r, const char *name, ViewSpec &view) {
  return Field(name, [&](const Json &v) { return readView(r, v, view); });
}

bool readArg(Reader &r, const Json &value, ArgSpec &arg) {
  auto has = [&](const char *name) {
    return value.is_object() && value.contains(name);
  };
  if (has("index")) {
    arg.kind = ArgKind::Index;
    return r.object(value, number(r, "index", arg.index));
  }
  if (r.format > 4 && has("value")) {
    arg.kind = ArgKind::Value;
    return r.object(value, number(r, "value", arg.index));
  }
  if (r.hasGrid && has("pointer")) {
    arg.kind = ArgKind::Pointer;
    return r.object(value, viewField(r, "pointer", arg.view));
  }
  if (r.hasGrid && has("tensorMap")) {
    arg.kind = ArgKind::TensorMap;
    return r.object(value, Field("tensorMap", [&](const Json &v) {
                      return readTensorMap(r, v, arg);
                    }));
  }
  arg.kind = ArgKind::View;
  return readView(r, value, arg.view);
}

bool readStep(Reader &r, const Json &value, StepSpec &step) {
  // Before format 4 all steps were launches.
  auto has = [&](const char *name) {
    return r.format > 3 && value.is_object() && value.contains(name);
  };
  ViewSpec from, to;
  std::vector<int64_t> after;
  bool hasOrder = r.format > 4;
  bool isRead = false;
  if (has("fill")) {
    isRead = r.object(value, viewField(r, "fill", to),
                      number(r, "value", step.value),
                      onlyIf(hasOrder, numbers(r, "after", after)));
    step = StepSpec::fill(std::move(to), step.value);
  } else if (has("copy")) {
    isRead = r.object(value, viewField(r, "copy", from), viewField(r, "to", to),
                      onlyIf(hasOrder, numbers(r, "after", after)));
    step = StepSpec::copy(std::move(from), std::move(to));
  } else {
    isRead = r.object(value, number(r, "kernel", step.kernel),
                      number(r, "tiles", step.tiles),
                      onlyIf(r.hasGrid, numbers(r, "grid", step.grid)),
                      list<ArgSpec>(r, "args", step.args, readArg),
                      onlyIf(hasOrder, numbers(r, "writes", step.writes)),
                      onlyIf(hasOrder, numbers(r, "after", after)));
  }
  step.after = std::move(after);
  return isRead;
}

bool readOutput(Reader &r, const Json &value, OutputSpec &output) {
  return r.object(value, elementType(r, "type", output.type),
                  viewField(r, "view", output.view));
}

bool readEntry(Reader &r, const Json &value, EntrySpec &entry) {
  bool isRead =
      r.object(value, text(r, "name", entry.name),
               list<Expr>(r, "exprs", entry.exprs, readExpr),
               list<InputSpec>(r, "inputs", entry.inputs, readInput),
               list<CheckSpec>(r, "checks", entry.checks, readCheck),
               list<BufferSpec>(r, "buffers", entry.buffers, readBuffer),
               list<StepSpec>(r, "steps", entry.steps, readStep),
               list<OutputSpec>(r, "outputs", entry.outputs, readOutput));
  if (isRead && r.format < 5)
    assumeDependencies(entry);
  return isRead;
}

/// Format 1 said "banks: 2 accesses ...".
bool readCertificate(Reader &r, const Json &value, CertificateSpec &spec) {
  if (r.format > 1)
    return r.object(value, text(r, "check", spec.check),
                    text(r, "claim", spec.claim), text(r, "model", spec.model),
                    onlyIf(r.format > 2, text(r, "digest", spec.digest)));
  std::string line;
  if (!r.string(value, line))
    return false;
  size_t colon = line.find(": ");
  bool isNamed = colon != std::string::npos && colon > 0;
  spec.check = isNamed ? line.substr(0, colon) : "unnamed";
  spec.claim = isNamed ? line.substr(colon + 2) : line;
  return true;
}

bool readRemark(Reader &r, const Json &value, RemarkSpec &remark) {
  if (r.format > 1)
    return r.object(value, text(r, "check", remark.check),
                    text(r, "reason", remark.reason));
  remark.check = "unnamed";
  return r.string(value, remark.reason);
}

bool readKernel(Reader &r, const Json &value, KernelSpec &kernel) {
  return r.object(
      value, text(r, "name", kernel.name), text(r, "symbol", kernel.symbol),
      number(r, "blob", kernel.blob), number(r, "workspace", kernel.workspace),
      text(r, "variant", kernel.variant), text(r, "op", kernel.op),
      list<CertificateSpec>(r, "certificates", kernel.certificates,
                            readCertificate),
      list<RemarkSpec>(r, "remarks", kernel.remarks, readRemark),
      onlyIf(r.hasGrid, Field("gpu", [&](const Json &v) {
               return readGPUKernel(r, v, kernel.gpu.emplace());
             })));
}

bool readConstant(Reader &r, const Json &value, ConstantSpec &constant) {
  return r.object(value, number(r, "blob", constant.blob),
                  number(r, "offset", constant.offset),
                  number(r, "size", constant.size));
}

bool readTarget(Reader &r, const Json &value, TargetSpec &target) {
  return r.object(value, text(r, "kind", target.kind),
                  text(r, "arch", target.arch), text(r, "name", target.name),
                  texts(r, "features", target.features));
}

bool readManifest(Reader &r, const Json &value, Manifest &manifest) {
  // The format first: a newer one may have other fields.
  if (value.is_object() && value.contains("format") &&
      value["format"].is_number_integer()) {
    const Json &format = value["format"];
    if (format < 1 || format > manifestFormat)
      return r.fail("expected a manifest format from 1 to " +
                    std::to_string(manifestFormat) + ", found " +
                    format.dump());
    r.format = format.get<int64_t>();
  }
  // So does the target: kernels on a grid have fields of their own.
  if (value.is_object() && r.format > 1) {
    auto target = value.find("target");
    if (target != value.end() && target->is_object()) {
      auto kind = target->find("kind");
      r.hasGrid = kind != target->end() && kind->is_string() && *kind != "cpu";
    }
  }
  bool isRead = r.object(
      value, number(r, "format", manifest.format),
      text(r, "producer", manifest.producer),
      Field{"target",
            [&](const Json &v) { return readTarget(r, v, manifest.target); }},
      list<KernelSpec>(r, "kernels", manifest.kernels, readKernel),
      list<ConstantSpec>(r, "constants", manifest.constants, readConstant),
      list<EntrySpec>(r, "entries", manifest.entries, readEntry),
      onlyIf(r.hasGrid || r.format > 4,
             list<ImageSpec>(r, "images", manifest.images, readImage)));
  // Before format 5 the code of a CPU's kernels was known for what it is.
  if (isRead && r.format < 5 && !r.hasGrid) {
    std::set<int64_t> blobs;
    for (const KernelSpec &kernel : manifest.kernels)
      if (blobs.insert(kernel.blob).second)
        manifest.images.push_back({kernel.blob, kernel.blob, ImageKind::Object,
                                   manifest.target.arch, 0});
  }
  manifest.format = manifestFormat;
  return isRead;
}

//===----------------------------------------------------------------------===//
// Structs to JSON
//===----------------------------------------------------------------------===//

template <typename T, typename Write>
Json writeList(const std::vector<T> &items, Write write) {
  Json array = Json::array();
  for (const T &item : items)
    array.push_back(write(item));
  return array;
}

} // namespace

Json manifest::writeView(const ViewSpec &view) {
  Json object;
  object["buffer"] = view.buffer;
  object["type"] = nameOf(view.type);
  object["offset"] = view.offset;
  object["sizes"] = view.sizes;
  object["strides"] = view.strides;
  return object;
}

namespace {

Json writeExpr(const Expr &expr) {
  Json array = Json::array({nameOf(expr.op), expr.a});
  if (numOperands(expr.op) > 1)
    array.push_back(expr.b);
  if (numOperands(expr.op) > 2)
    array.push_back(expr.c);
  return array;
}

Json writeInput(const InputSpec &input) {
  Json object;
  object["name"] = input.name;
  if (input.isScalar) {
    object["scalar"] = nameOf(input.type);
    return object;
  }
  object["type"] = nameOf(input.type);
  object["shape"] = writeList(input.shape, [](int64_t size) {
    Json value = size;
    if (size == dynamicSize) {
      value = Json::object();
      value["dynamic"] = true;
    }
    return value;
  });
  if (input.isConstant)
    object["constant"] = true;
  return object;
}

Json writeBuffer(const BufferSpec &buffer) {
  Json object;
  if (buffer.kind == BufferKind::Temp) {
    object["kind"] = "temp";
    object["bytes"] = buffer.bytes;
    object["align"] = buffer.align;
    object["contents"] = nameOf(buffer.contents);
  } else if (buffer.kind == BufferKind::Table) {
    object["kind"] = "table";
    object["type"] = nameOf(buffer.type);
    object["values"] = writeList(buffer.values, [](const TableValue &value) {
      Json item;
      item[value.isInput ? "value" : "index"] = value.index;
      return item;
    });
  } else {
    object["kind"] = buffer.kind == BufferKind::Input ? "input" : "constant";
    object["index"] = buffer.index;
  }
  return object;
}

Json writeArg(const ArgSpec &arg) {
  Json object;
  switch (arg.kind) {
  case ArgKind::View:
    return writeView(arg.view);
  case ArgKind::Index:
    object["index"] = arg.index;
    break;
  case ArgKind::Value:
    object["value"] = arg.index;
    break;
  case ArgKind::Pointer:
    object["pointer"] = writeView(arg.view);
    break;
  case ArgKind::TensorMap:
    object["tensorMap"] = writeTensorMap(arg);
    break;
  }
  return object;
}

Json writeStep(const StepSpec &step) {
  Json object;
  if (step.kind == StepKind::Fill) {
    object["fill"] = writeView(step.args[0].view);
    object["value"] = step.value;
  } else if (step.kind == StepKind::Copy) {
    object["copy"] = writeView(step.args[0].view);
    object["to"] = writeView(step.args[1].view);
  } else {
    object["kernel"] = step.kernel;
    object["tiles"] = step.tiles;
    if (!step.grid.empty())
      object["grid"] = step.grid;
    object["args"] = writeList(step.args, writeArg);
    object["writes"] = step.writes;
  }
  object["after"] = step.after;
  return object;
}

Json writeEntry(const EntrySpec &entry) {
  Json object;
  object["name"] = entry.name;
  object["exprs"] = writeList(entry.exprs, writeExpr);
  object["inputs"] = writeList(entry.inputs, writeInput);
  object["checks"] = writeList(entry.checks, [](const CheckSpec &check) {
    Json item;
    item["expr"] = check.expr;
    item["message"] = check.message;
    return item;
  });
  object["buffers"] = writeList(entry.buffers, writeBuffer);
  object["steps"] = writeList(entry.steps, writeStep);
  object["outputs"] = writeList(entry.outputs, [](const OutputSpec &output) {
    Json item;
    item["type"] = nameOf(output.type);
    item["view"] = writeView(output.view);
    return item;
  });
  return object;
}

Json writeKernel(const KernelSpec &kernel) {
  Json object;
  object["name"] = kernel.name;
  object["symbol"] = kernel.symbol;
  object["blob"] = kernel.blob;
  object["workspace"] = kernel.workspace;
  object["variant"] = kernel.variant;
  object["op"] = kernel.op;
  object["certificates"] =
      writeList(kernel.certificates, [](const CertificateSpec &spec) {
        Json item;
        item["check"] = spec.check;
        item["claim"] = spec.claim;
        item["model"] = spec.model;
        item["digest"] = spec.digest;
        return item;
      });
  object["remarks"] = writeList(kernel.remarks, [](const RemarkSpec &remark) {
    Json item;
    item["check"] = remark.check;
    item["reason"] = remark.reason;
    return item;
  });
  if (kernel.gpu)
    object["gpu"] = writeGPUKernel(*kernel.gpu);
  return object;
}

Json writeManifest(const Manifest &manifest) {
  Json object;
  object["format"] = manifest.format;
  object["producer"] = manifest.producer;
  Json target;
  target["kind"] = manifest.target.kind;
  target["arch"] = manifest.target.arch;
  target["name"] = manifest.target.name;
  target["features"] = manifest.target.features;
  object["target"] = std::move(target);
  object["kernels"] = writeList(manifest.kernels, writeKernel);
  object["constants"] =
      writeList(manifest.constants, [](const ConstantSpec &constant) {
        Json item;
        item["blob"] = constant.blob;
        item["offset"] = constant.offset;
        item["size"] = constant.size;
        return item;
      });
  object["entries"] = writeList(manifest.entries, writeEntry);
  object["images"] = writeList(manifest.images, writeImage);
  return object;
}

} // namespace

Expected<std::string> toJSON(const Manifest &manifest) {
  try {
    return writeManifest(manifest).dump();
  } catch (const nlohmann::json::exception &) {
    return Status::error("manifest: a string is not UTF-8");
  } catch (const std::bad_alloc &) {
    return Status::error("manifest: out of memory");
  }
}

Expected<Manifest> manifestFromJSON(const std::string &text,
                                    const ManifestLimits &limits) {
  if (text.size() > limits.maxJsonBytes)
    return Status::error("manifest: expected at most " +
                         std::to_string(limits.maxJsonBytes) +
                         " bytes, found " + std::to_string(text.size()));
  try {
    TextChecker checker(limits.maxJsonDepth);
    if (!Json::sax_parse(text, &checker))
      return Status::error("manifest: " + checker.error);
    Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    Manifest manifest;
    Reader reader;
    if (!readManifest(reader, document, manifest))
      return Status::error("manifest: " + reader.error);
    return manifest;
  } catch (const std::bad_alloc &) {
    return Status::error("manifest: out of memory");
  } catch (const std::exception &failure) {
    return Status::error(std::string("manifest: ") + failure.what());
  }
}

} // namespace tracea::runtime
