//===- RecheckEditsTest.cpp - Every edit of a certificate is found --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each number and each word of each claim and each model is changed, one at a
// time, and decided again.

#include "RunProgram.h"
#include "tracea/Analysis/ClaimWords.h"
#include "tracea/Analysis/Recheck.h"
#include "tracea/Target/Program/RecheckLaunches.h"

#include <cctype>
#include <gmock/gmock.h>

namespace tc = tracea::compiler;
namespace ta = tracea::analysis;
namespace rt = tracea::runtime;

namespace {

struct Edit {
  size_t begin, length;
  std::string text;
};

/// One edit for each number and each word.
std::vector<Edit> getEdits(const std::string &text) {
  auto isWord = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
  };
  auto isDigit = [](char c) {
    return std::isdigit(static_cast<unsigned char>(c));
  };
  std::vector<Edit> edits;
  std::vector<std::string> words;
  for (size_t i = 0; i < text.size();) {
    size_t begin = i;
    if (isDigit(text[i])) {
      while (i < text.size() && isDigit(text[i]))
        ++i;
      std::string digits = text.substr(begin, i - begin);
      bool isShort = digits.size() < 18;
      edits.push_back(
          {begin, i - begin,
           isShort ? std::to_string(std::stoll(digits) + 1) : digits + "1"});
    } else if (isWord(text[i])) {
      while (i < text.size() &&
             (isWord(text[i]) || isDigit(text[i]) || text[i] == '.'))
        ++i;
      words.push_back(text.substr(begin, i - begin));
      edits.push_back({begin, i - begin, words.back()});
    } else {
      ++i;
    }
  }
  // A word becomes the next other one: what is a name stays one.
  for (size_t i = 0, word = 0; i < edits.size(); ++i) {
    if (isDigit(edits[i].text[0]))
      continue;
    size_t other = word;
    while (other < words.size() && words[other] == edits[i].text)
      ++other;
    edits[i].text = other < words.size() ? words[other] : edits[i].text + "x";
    ++word;
  }
  return edits;
}

} // namespace

class RecheckEdits : public CompilerTest {
protected:
  rt::Manifest compileToManifest(const std::string &text,
                                 const std::string &target) {
    mlir::OwningOpRef<mlir::ModuleOp> module =
        tc::parseModule(text, context, "test.mlir");
    tc::CompileOptions options;
    options.target = target;
    options.threads = 2;
    options.requireProof = true;
    options.assemble = false;
    mlir::FailureOr<rt::ProgramFile> program =
        failed(mlir::success(bool(module)))
            ? mlir::FailureOr<rt::ProgramFile>()
            : tc::compileToProgram(*module, options);
    if (failed(program)) {
      ADD_FAILURE() << errors;
      return {};
    }
    return program->manifest;
  }

  static bool isConfirmed(const rt::CertificateSpec &spec) {
    return ta::recheckCertificate(spec.check, spec.claim, spec.model,
                                  spec.digest)
               .verdict == ta::RecheckVerdict::Confirmed;
  }

  static std::string recheckAll(const rt::Manifest &manifest) {
    std::string others;
    for (const rt::KernelSpec &kernel : manifest.kernels)
      for (const rt::CertificateSpec &spec : kernel.certificates) {
        ta::RecheckResult result = ta::recheckCertificate(
            spec.check, spec.claim, spec.model, spec.digest);
        if (result.verdict != ta::RecheckVerdict::Confirmed)
          others += spec.check + ": " + result.message + "\n";
      }
    for (const ta::LaunchRecheck &recheck : ta::recheckLaunches(manifest))
      if (recheck.result.verdict != ta::RecheckVerdict::Confirmed)
        others += "launches: " + recheck.result.message + "\n";
    return others;
  }

  /// With its digest no edit is accepted. Without, by what the methods find
  /// alone, `claims` of the edits of claims and `models` of those of models.
  void editAll(const std::string &text, const std::string &target) {
    rt::Manifest manifest = compileToManifest(text, target);
    ASSERT_FALSE(manifest.kernels.empty());
    ASSERT_EQ(recheckAll(manifest), "");
    int all = 0, claims = 0, accepted = 0;
    for (rt::KernelSpec &kernel : manifest.kernels)
      for (rt::CertificateSpec &spec : kernel.certificates) {
        EXPECT_TRUE(ta::hasKnownWords(spec.check, spec.claim)) << spec.claim;
        for (std::string *field : {&spec.claim, &spec.model, &spec.check}) {
          const std::string whole = *field;
          for (const Edit &edit : getEdits(whole)) {
            *field = whole;
            field->replace(edit.begin, edit.length, edit.text);
            ++all;
            accepted += isConfirmed(spec);
            // The method by itself, of a claim that somebody has signed anew.
            if (field == &spec.claim && spec.check != "numerics") {
              ta::RecheckResult result =
                  ta::recheckCertificate(spec.check, spec.claim, spec.model);
              EXPECT_NE(result.verdict, ta::RecheckVerdict::Confirmed)
                  << spec.claim;
              ++claims;
            }
          }
          *field = whole;
        }
      }
    EXPECT_EQ(accepted, 0) << "of " << all;
    EXPECT_GT(all, 300);
    EXPECT_GT(claims, 60);
  }
};

TEST_F(RecheckEdits, ProductOfAnySizes) {
  editAll(R"(
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
})",
          "x86-64-v3");
}

// Powers are not fused into rows: there are two kernels.
TEST_F(RecheckEdits, Rows) {
  editAll(R"(
func.func @main(%a: tensor<?x24xf32>, %b: tensor<?x24xf32>) -> tensor<?x24xf32> {
  %e = tensor.empty() : tensor<1x24xf32>
  %0 = linalg.powf ins(%a, %b : tensor<?x24xf32>, tensor<?x24xf32>) outs(%a : tensor<?x24xf32>) -> tensor<?x24xf32>
  %1 = linalg.softmax dimension(1) ins(%0 : tensor<?x24xf32>) outs(%a : tensor<?x24xf32>) -> tensor<?x24xf32>
  return %1 : tensor<?x24xf32>
})",
          "x86-64-v3");
}

TEST_F(RecheckEdits, ProductOnAGPU) {
  editAll(R"(
func.func @main(%a: tensor<128x256xbf16>, %b: tensor<256x128xbf16>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<128x256xbf16>, tensor<256x128xbf16>) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
})",
          "sm_90a");
}

// Launches are edited by themselves: each has to be as the models expect.
// The second kernel is for arguments that the first one cannot take: of this
// shape there are none.
TEST_F(RecheckEdits, KernelsThatNeverRun) {
  rt::Manifest manifest = compileToManifest(R"(
func.func @main(%a: tensor<?x64xf16>, %b: tensor<64x48xf16>, %c: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x64xf16>, tensor<64x48xf16>) outs(%c : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %r : tensor<?x48xf32>
})",
                                            "sm_90a");
  EXPECT_EQ(recheckAll(manifest), "");
}

TEST_F(RecheckEdits, Launches) {
  const rt::Manifest whole = compileToManifest(R"(
func.func @main(%a: tensor<?x24xf32>, %b: tensor<?x24xf32>) -> tensor<?x24xf32> {
  %0 = linalg.powf ins(%a, %b : tensor<?x24xf32>, tensor<?x24xf32>) outs(%a : tensor<?x24xf32>) -> tensor<?x24xf32>
  %1 = linalg.softmax dimension(1) ins(%0 : tensor<?x24xf32>) outs(%a : tensor<?x24xf32>) -> tensor<?x24xf32>
  return %1 : tensor<?x24xf32>
})",
                                               "x86-64-v3");
  ASSERT_EQ(recheckAll(whole), "");
  ASSERT_EQ(whole.entries.size(), 1u);
  ASSERT_EQ(whole.entries[0].steps.size(), 2u);
  auto after = [&](llvm::function_ref<void(rt::EntrySpec &)> edit) {
    rt::Manifest manifest = whole;
    edit(manifest.entries[0]);
    return recheckAll(manifest);
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(after([](rt::EntrySpec &entry) { entry.checks.clear(); }),
              HasSubstr("expects dimension 0 of argument #1 to be dim0_0"));
  EXPECT_THAT(after([](rt::EntrySpec &entry) { entry.steps.pop_back(); }),
              HasSubstr("returns output 0, which no step has written"));
  EXPECT_THAT(after([](rt::EntrySpec &entry) {
                entry.steps.erase(entry.steps.begin());
              }),
              HasSubstr("reads argument #0, which no step has written before"));
  EXPECT_THAT(after([](rt::EntrySpec &entry) {
                std::swap(entry.steps[0], entry.steps[1]);
              }),
              HasSubstr("reads argument #0, which no step has written before"));
  EXPECT_THAT(after([](rt::EntrySpec &entry) {
                entry.steps[0].tiles = rt::ExprBuilder(entry.exprs).constant(1);
              }),
              HasSubstr("expects as many tiles as its grid has"));
  EXPECT_THAT(after([](rt::EntrySpec &entry) {
                entry.steps[0].tiles = rt::ExprBuilder(entry.exprs).constant(0);
              }),
              HasSubstr("reads argument #0, which no step has written before"));
  EXPECT_THAT(after([](rt::EntrySpec &entry) {
                entry.steps[0].args.back().view.sizes[0] =
                    rt::ExprBuilder(entry.exprs).constant(7);
              }),
              HasSubstr("expects dimension 0 of argument #2 to be dim0_0"));
  EXPECT_THAT(after([](rt::EntrySpec &entry) {
                entry.steps[0].args.back().view.sizes[1] =
                    rt::ExprBuilder(entry.exprs).constant(25);
              }),
              HasSubstr("expects dimension 1 of argument #2 to be 24"));
  EXPECT_THAT(
      after([](rt::EntrySpec &entry) { entry.steps[1].writes.clear(); }),
      HasSubstr("writes argument #1, which its step does not say"));
  EXPECT_THAT(
      after([](rt::EntrySpec &entry) { entry.steps[0].args.pop_back(); }),
      HasSubstr("expects a tensor as argument #2"));
  EXPECT_THAT(after([](rt::EntrySpec &entry) {
                entry.steps[0].args.push_back(entry.steps[0].args.back());
              }),
              HasSubstr("expects 3 arguments"));
}

// What is copied was written before, by whatever step or by the run itself.
TEST_F(RecheckEdits, FillsAndCopies) {
  rt::Manifest manifest;
  rt::EntrySpec &entry = manifest.entries.emplace_back();
  entry.name = "main";
  rt::ExprBuilder e(entry.exprs);
  int64_t bytes = e.constant(32), eight = e.constant(8);
  entry.buffers = {rt::BufferSpec::temp(bytes), rt::BufferSpec::temp(bytes)};
  auto view = [&](int64_t buffer) {
    return e.rowMajorView(buffer, rt::ElementType::F32, {eight});
  };
  entry.outputs.push_back({rt::ElementType::F32, view(1)});
  auto errorOf = [&] {
    std::vector<ta::LaunchRecheck> rechecks = ta::recheckLaunches(manifest);
    return rechecks.empty() ? "" : rechecks.front().result.message;
  };
  EXPECT_EQ(errorOf(),
            "the entry 'main' returns output 0, which no step has written");
  entry.steps = {rt::StepSpec::copy(view(0), view(1))};
  EXPECT_EQ(errorOf(), "the entry 'main' copies buffer 0, which no step has "
                       "written before");
  entry.steps.insert(entry.steps.begin(), rt::StepSpec::fill(view(0), 1));
  EXPECT_EQ(errorOf(), "");
  entry.steps.erase(entry.steps.begin());
  for (rt::TempContents contents :
       {rt::TempContents::Zero, rt::TempContents::Persistent}) {
    entry.buffers[0].contents = contents;
    EXPECT_EQ(errorOf(), "");
  }
}
