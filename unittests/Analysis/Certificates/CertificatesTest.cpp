//===- CertificatesTest.cpp - Certificates and what they are about --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/Certificates.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::tracea;

namespace {

constexpr const char *kernelText = R"(
module attributes {tracea.target = #tracea.target<kind = cpu, name = "a", triple = "x86_64", cpu = "a">} {
tracea_pipe.kernel @k(%m: memref<?xf32>, %n: index) attributes {variant = "v"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    scf.for %j = %c0 to %n step %c1 {
      %x = memref.load %m[%j] : memref<?xf32>
      %y = arith.addf %x, %x : f32
      memref.store %y, %m[%i] : memref<?xf32>
    }
  }
  tracea_pipe.end
}
})";

class Certificates : public ::testing::Test {
protected:
  Certificates() : context(getDialects()) {
    context.loadAllAvailableDialects();
  }

  static const DialectRegistry &getDialects() {
    static const DialectRegistry *registry = [] {
      auto *dialects = new DialectRegistry();
      dialects
          ->insert<arith::ArithDialect, memref::MemRefDialect, scf::SCFDialect,
                   TraceaDialect, tracea_pipe::TraceaPipeDialect>();
      return dialects;
    }();
    return *registry;
  }

  OwningOpRef<ModuleOp> parse(const std::string &text) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, ParserConfig(&context));
    EXPECT_TRUE(module);
    return module;
  }
  static Operation *kernelOf(ModuleOp module) {
    return *module.getOps<tracea_pipe::KernelOp>().begin();
  }
  /// Of the kernel above with one part of its text replaced.
  std::string fingerprintWith(const std::string &from, const std::string &to) {
    std::string text = kernelText;
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    OwningOpRef<ModuleOp> module = parse(text);
    return getFingerprint(kernelOf(*module));
  }
  static std::vector<std::string> checksOf(Operation *kernel) {
    std::vector<std::string> checks;
    if (auto list =
            kernel->getAttrOfType<ArrayAttr>("tracea_pipe.certificates"))
      for (Attribute entry : list)
        checks.push_back(
            cast<tracea_pipe::CertificateAttr>(entry).getCheck().str());
    return checks;
  }

  MLIRContext context;
};

TEST_F(Certificates, StandInOneOrder) {
  OwningOpRef<ModuleOp> module = parse(kernelText);
  Operation *kernel = kernelOf(*module);
  for (const char *check : {"zeta", "numerics", "banks", "alpha", "coverage",
                            "protocol", "resources", "banks"})
    setCertificate(kernel, check, std::string("claim of ") + check);
  EXPECT_EQ(checksOf(kernel), (std::vector<std::string>{
                                  "protocol", "banks", "coverage", "resources",
                                  "numerics", "alpha", "zeta"}));
  EXPECT_EQ(getCertificate(kernel, "banks").getClaim(), "claim of banks");
  EXPECT_EQ(getCertificate(kernel, "banks").getModel(), "");
  EXPECT_FALSE(getCertificate(kernel, "other"));
}

TEST_F(Certificates, ReplaceEachOther) {
  OwningOpRef<ModuleOp> module = parse(kernelText);
  Operation *kernel = kernelOf(*module);
  setCertificate(kernel, "protocol", "p");
  setCertificate(kernel, "banks", "one", "1");
  setCertificate(kernel, "banks", "two", "2");
  EXPECT_EQ(checksOf(kernel), (std::vector<std::string>{"protocol", "banks"}));
  EXPECT_EQ(getCertificate(kernel, "banks").getModel(), "2");
  // What is no longer proved is not claimed, and what is proved is no longer
  // undecided.
  setUndecided(kernel, "banks", {"z", "a", "z"});
  EXPECT_EQ(checksOf(kernel), (std::vector<std::string>{"protocol"}));
  auto remarks = kernel->getAttrOfType<ArrayAttr>("tracea_pipe.remarks");
  ASSERT_TRUE(remarks);
  ASSERT_EQ(remarks.size(), 2u);
  EXPECT_EQ(cast<DictionaryAttr>(remarks[0]).getAs<StringAttr>("reason").str(),
            "a");
  setCertificate(kernel, "banks", "three");
  EXPECT_FALSE(kernel->hasAttr("tracea_pipe.remarks"));
  clearCertificate(kernel, "banks");
  clearCertificate(kernel, "protocol");
  EXPECT_TRUE(checksOf(kernel).empty());
  EXPECT_FALSE(kernel->hasAttr("tracea_pipe.certified"));
}

TEST_F(Certificates, AreLostWithTheKernelThatTheyAreAbout) {
  OwningOpRef<ModuleOp> module = parse(kernelText);
  Operation *kernel = kernelOf(*module);
  setCertificate(kernel, "protocol", "p");
  setCertificate(kernel, "banks", "b");
  EXPECT_FALSE(hasStaleCertificates(kernel));
  kernel->walk([](arith::AddFOp add) {
    add->setAttr("fastmath", arith::FastMathFlagsAttr::get(
                                 add.getContext(), arith::FastMathFlags::nnan));
  });
  EXPECT_TRUE(hasStaleCertificates(kernel));
  EXPECT_FALSE(getCertificate(kernel, "banks"));
  // The next check starts afresh.
  setCertificate(kernel, "banks", "b");
  EXPECT_EQ(checksOf(kernel), (std::vector<std::string>{"banks"}));
  EXPECT_FALSE(hasStaleCertificates(kernel));
  // Without a fingerprint nobody knows what they are about.
  kernel->removeAttr("tracea_pipe.certified");
  EXPECT_TRUE(hasStaleCertificates(kernel));
  clearCertificate(kernel, "banks");
  EXPECT_FALSE(hasStaleCertificates(kernel));
}

TEST_F(Certificates, FingerprintIsOfText) {
  OwningOpRef<ModuleOp> module = parse(kernelText);
  std::string first = getFingerprint(kernelOf(*module));
  EXPECT_EQ(first.size(), 16u);
  // A fixed value: equal in every process and on every machine.
  EXPECT_EQ(first, "6fc29fef769350fd");
  // Printed and read again, in all three forms.
  std::string text, generic, bytes;
  llvm::raw_string_ostream(text) << *module;
  llvm::raw_string_ostream genericStream(generic);
  module->print(genericStream, OpPrintingFlags().printGenericOpForm());
  llvm::raw_string_ostream byteStream(bytes);
  ASSERT_TRUE(succeeded(writeBytecodeToFile(*module, byteStream)));
  for (const std::string &form : {text, generic, bytes}) {
    OwningOpRef<ModuleOp> again = parse(form);
    EXPECT_EQ(getFingerprint(kernelOf(*again)), first);
  }
  setCertificate(kernelOf(*module), "banks", "b");
  setUndecided(kernelOf(*module), "coverage", {"c"});
  EXPECT_EQ(getFingerprint(kernelOf(*module)), first);
}

TEST_F(Certificates, FingerprintSeesWhatMatters) {
  std::string first = fingerprintWith("@k", "@k");
  // Names, comments and lines do not.
  EXPECT_EQ(fingerprintWith("@k", "@other"), first);
  EXPECT_EQ(fingerprintWith("\"v\"", "\"w\", source_op = \"s\""), first);
  EXPECT_EQ(fingerprintWith("%c0 =", "\n\n // comment\n%c0 ="), first);
  const char *changes[][2] = {
      {"constant 0", "constant 2"},
      {"%n step %c1", "%n step %c0"},
      {"store %y", "store %x"},
      {"%m[%j]", "%m[%i]"},
      {"arith.addf", "arith.mulf"},
      {"name = \"a\"", "name = \"b\""},
      {"variant = \"v\"", "variant = \"v\", workspace_bytes = 64"},
      {"variant = \"v\"", "variant = \"v\", note = 1"},
      {"%x, %x : f32", "%x, %x fastmath<nnan> : f32"},
  };
  std::set<std::string> seen = {first};
  for (auto [from, to] : changes)
    EXPECT_TRUE(seen.insert(fingerprintWith(from, to)).second)
        << from << " -> " << to;
}

} // namespace

// What is written beside a kernel is sealed: an edit by hand is nobody's claim.
TEST_F(Certificates, TextIsSealed) {
  OwningOpRef<ModuleOp> module = parse(kernelText);
  Operation *kernel = kernelOf(*module);
  Builder builder(&context);
  auto edit = [&](StringRef name, Attribute value) {
    Attribute before = kernel->getAttr(name);
    if (value)
      kernel->setAttr(name, value);
    else
      kernel->removeAttr(name);
    bool isStale = hasStaleCertificates(kernel);
    if (before)
      kernel->setAttr(name, before);
    else
      kernel->removeAttr(name);
    EXPECT_FALSE(hasStaleCertificates(kernel));
    return isStale;
  };
  setCertificate(kernel, "banks", "b", "model of b");
  setUndecided(kernel, "coverage", {"c"});
  for (auto [claim, model] : {std::pair("c", "model of b"),
                              std::pair("b", "model of c"), std::pair("b", "")})
    EXPECT_TRUE(edit("tracea_pipe.certificates",
                     builder.getArrayAttr(tracea_pipe::CertificateAttr::get(
                         &context, "banks", claim, model))));
  EXPECT_TRUE(edit("tracea_pipe.remarks", nullptr));
  EXPECT_TRUE(edit(kIndexLimit, builder.getArrayAttr({})));
  setIndexLimit(kernel, builder.getArrayAttr({}));
  EXPECT_FALSE(hasStaleCertificates(kernel));
  EXPECT_TRUE(edit(kIndexLimit, nullptr));
  // Another check may still say something.
  setCertificate(kernel, "protocol", "p");
  EXPECT_FALSE(hasStaleCertificates(kernel));
  EXPECT_TRUE(getCertificate(kernel, "banks"));
}
