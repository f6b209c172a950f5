//===- Views.cpp - What is proved, as tables and drawings -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything is drawn from the models that certificates carry, so that a
// program is enough. A model is not trusted: what cannot be read is said.

#include "Views.h"
#include "tracea/Analysis/Coverage/Decide.h"
#include "tracea/Analysis/Protocol/Model.h"
#include "tracea/Explain/BankView.h"
#include "tracea/Explain/CoverageView.h"
#include "tracea/Explain/LaneView.h"
#include "tracea/Explain/Timeline.h"

#include <algorithm>
#include <filesystem>

using namespace tracea::driver;
namespace rt = tracea::runtime;
namespace ex = tracea::explain;
namespace ta = tracea::analysis;
namespace alg = tracea::algebra;

namespace {
/// Collects the pictures of all kernels.
class Viewer {
public:
  Viewer(const CompileReport *report, const ViewOptions &options)
      : report(report), options(options) {}

  void show(const rt::KernelSpec &kernel);

  std::string text;
  /// File names without the folder, and their contents.
  std::vector<std::pair<std::string, std::string>> drawings;

private:
  bool wants(const char *view) const {
    return options.views.empty() ||
           std::find(options.views.begin(), options.views.end(), view) !=
               options.views.end();
  }
  void lanes(const rt::KernelSpec &kernel);
  void banks(const rt::KernelSpec &kernel);
  void pipeline(const rt::KernelSpec &kernel);
  void coverage(const rt::KernelSpec &kernel);
  void head(const rt::KernelSpec &kernel, const std::string &what) {
    text += (text.empty() ? "" : "\n") + kernel.name + ": " + what + "\n";
  }
  void draw(const rt::KernelSpec &kernel, const std::string &what,
            std::string svg);
  /// The model of a certificate; says why there is none.
  const std::string *modelOf(const rt::KernelSpec &kernel, const char *check,
                             const std::string &what);

  const CompileReport *report;
  const ViewOptions &options;
};
} // namespace

/// Names come from anywhere; a file name has no folders.
void Viewer::draw(const rt::KernelSpec &kernel, const std::string &what,
                  std::string svg) {
  constexpr size_t longest = 100;
  std::string name = kernel.name.substr(0, longest);
  for (char &c : name)
    if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
        !(c >= '0' && c <= '9') && c != '_' && c != '-')
      c = '_';
  name += "-" + what;
  std::string file = name + ".svg";
  for (int number = 2;
       std::any_of(drawings.begin(), drawings.end(),
                   [&](const auto &drawing) { return drawing.first == file; });
       ++number)
    file = name + "-" + std::to_string(number) + ".svg";
  drawings.emplace_back(std::move(file), std::move(svg));
}

const std::string *Viewer::modelOf(const rt::KernelSpec &kernel,
                                   const char *check, const std::string &what) {
  for (const rt::CertificateSpec &spec : kernel.certificates)
    if (spec.check == check && !spec.model.empty())
      return &spec.model;
  head(kernel, what);
  text += "  not known: the kernel has no certificate '" + std::string(check) +
          "' with a model\n";
  return nullptr;
}

void Viewer::lanes(const rt::KernelSpec &kernel) {
  std::vector<alg::LaneMap> maps;
  auto add = [&](const alg::LaneMap &map) {
    if (std::find(maps.begin(), maps.end(), map) == maps.end())
      maps.push_back(map);
  };
  if (report)
    for (const TileLanes &tile : report->tiles)
      if (tile.kernel == kernel.name)
        add(tile.lanes);
  // A program has the maps of accesses to banked memory.
  if (!report)
    for (const rt::CertificateSpec &spec : kernel.certificates)
      if (spec.check == "banks")
        if (alg::Expected<ta::BankProof> proof = ta::readBankProof(spec.model))
          for (const ta::BankedAccess &access : proof->accesses)
            add(access.access.lanes);
  if (maps.empty()) {
    head(kernel, "register tiles");
    text += report
                ? "  none\n"
                : "  not known; a program has the maps of accesses to banked "
                  "memory only\n";
  }
  for (size_t i = 0; i < maps.size(); ++i) {
    std::string title = "register tile " + std::to_string(i);
    head(kernel, title);
    text += ex::laneText(maps[i]);
    draw(kernel, "lanes-" + std::to_string(i),
         ex::laneSvg(maps[i], kernel.name + ": " + title));
  }
}

void Viewer::banks(const rt::KernelSpec &kernel) {
  const std::string *model = modelOf(kernel, "banks", "banks");
  if (!model)
    return;
  alg::Expected<ta::BankProof> proof = ta::readBankProof(*model);
  if (!proof || proof->accesses.empty()) {
    head(kernel, "banks");
    text += "  " +
            (proof ? ta::describeBanks({}, proof->target) : proof.message()) +
            "\n";
    return;
  }
  for (size_t i = 0; i < proof->accesses.size(); ++i) {
    head(kernel, "access " + std::to_string(i) + " to staged memory");
    alg::Expected<ex::BankPicture> picture =
        ex::pictureBanks(proof->accesses[i], proof->target);
    if (!picture) {
      text += "  " + picture.message() + "\n";
      continue;
    }
    text += ex::bankText(*picture);
    draw(kernel, "banks-" + std::to_string(i), ex::bankSvg(*picture));
  }
}

void Viewer::pipeline(const rt::KernelSpec &kernel) {
  const std::string *model = modelOf(kernel, "protocol", "pipeline");
  if (!model)
    return;
  head(kernel, "pipeline");
  alg::Expected<ta::Protocol> protocol = ta::readModel(*model);
  if (!protocol) {
    text += "  " + protocol.message() + "\n";
    return;
  }
  ex::TimelineOptions run;
  run.iterations = options.iterations;
  alg::Expected<ex::Timeline> timeline = ex::simulate(*protocol, run);
  if (!timeline) {
    text += "  " + timeline.message() + "\n";
    return;
  }
  text += ex::timelineText(*timeline);
  if (timeline->columns > 0)
    draw(kernel, "pipeline", ex::timelineSvg(*timeline));
}

void Viewer::coverage(const rt::KernelSpec &kernel) {
  const std::string *model = modelOf(kernel, "coverage", "coverage");
  if (!model)
    return;
  head(kernel, "coverage");
  alg::Expected<tracea::coverage::Problem> problem =
      tracea::coverage::readModel(*model);
  text +=
      problem ? ex::coverageText(*problem) : "  " + problem.message() + "\n";
}

void Viewer::show(const rt::KernelSpec &kernel) {
  if (wants("lanes"))
    lanes(kernel);
  if (wants("banks"))
    banks(kernel);
  if (wants("pipeline"))
    pipeline(kernel);
  if (wants("coverage"))
    coverage(kernel);
}

Status tracea::driver::showViews(const std::string &source,
                                 const rt::Manifest &manifest,
                                 const CompileReport *report,
                                 const ViewOptions &options) {
  Viewer viewer(report, options);
  bool hasFound = false;
  std::vector<std::string> names;
  for (const rt::KernelSpec &kernel : manifest.kernels) {
    names.push_back(kernel.name);
    if (!options.kernel.empty() && kernel.name != options.kernel)
      continue;
    hasFound = true;
    viewer.show(kernel);
  }
  if (!hasFound && !options.kernel.empty())
    return Status::error(source + ": no kernel is named '" + options.kernel +
                         "'; it has " + quoteList(names));
  if (options.svgFolder.empty())
    return writeStdout(viewer.text);
  std::error_code error;
  std::filesystem::create_directories(options.svgFolder, error);
  if (error)
    return Status::error("cannot make the folder '" + options.svgFolder +
                         "': " + error.message());
  OutputFiles files;
  std::string list;
  for (auto &[name, svg] : viewer.drawings) {
    std::string path = options.svgFolder + "/" + name;
    files.add(path, std::vector<uint8_t>(svg.begin(), svg.end()));
    list += path + "\n";
  }
  TRACEA_RETURN_IF_ERROR(files.commit());
  return writeStdout(list.empty() ? "nothing to draw\n" : list);
}
