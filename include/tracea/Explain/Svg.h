//===- Svg.h - Drawings of boxes, lines and words ---------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_EXPLAIN_SVG_H
#define TRACEA_EXPLAIN_SVG_H

#include <string>

namespace tracea::explain {

/// "#rrggbb".
using Color = std::string;

constexpr const char *kBlack = "#1f2430";
constexpr const char *kGray = "#6b7280";
constexpr const char *kLine = "#9aa3b2";
constexpr const char *kLight = "#eef1f5";
constexpr const char *kWhite = "#ffffff";
constexpr const char *kRed = "#d62839";

/// One of `count` colours that are far apart, pale enough for dark words.
Color paleColor(size_t index, size_t count);

struct TextStyle {
  double size = 11;
  Color color = kBlack;
  /// "start", "middle" or "end".
  const char *anchor = "start";
  bool bold = false;
  bool fixedWidth = false;
};

/// Grows with what is drawn on it. Text is escaped: any bytes give XML.
class Svg {
public:
  void box(double x, double y, double width, double height, const Color &fill,
           const Color &line = kLine, double lineWidth = 0.5);
  void line(double x1, double y1, double x2, double y2, const Color &color,
            double width = 1, bool dashed = false);
  void text(double x, double y, const std::string &words,
            const TextStyle &style = {});
  /// A hint for what was drawn last between `beginHint` and `endHint`.
  void beginHint(const std::string &words);
  void endHint();

  double width() const { return right; }
  double height() const { return bottom; }
  /// The whole document.
  std::string str(const std::string &title) const;

private:
  void grow(double x, double y);

  std::string body;
  double right = 0, bottom = 0;
};

/// Approximate width of words in the sans-serif face.
double textWidth(const std::string &words, double size = 11);

} // namespace tracea::explain

#endif // TRACEA_EXPLAIN_SVG_H
