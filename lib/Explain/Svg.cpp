//===- Svg.cpp - Drawings of boxes, lines and words -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Explain/Svg.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace tracea::explain;

static std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  std::string result = text;
  if (result.size() > 2 && result.compare(result.size() - 2, 2, ".0") == 0)
    result.resize(result.size() - 2);
  return result;
}

/// XML text: markup is escaped, control characters and broken UTF-8 become
/// question marks.
static std::string escape(const std::string &words) {
  std::string text;
  for (size_t i = 0; i < words.size();) {
    unsigned char byte = static_cast<unsigned char>(words[i]);
    size_t length = byte < 0x80             ? 1
                    : (byte & 0xe0) == 0xc0 ? 2
                    : (byte & 0xf0) == 0xe0 ? 3
                                            : 0;
    bool ok = length > 0 && i + length <= words.size() && byte != 0xc0 &&
              byte != 0xc1 && (length > 1 || (byte >= 0x20 && byte < 0x7f));
    for (size_t k = 1; ok && k < length; ++k)
      ok = (static_cast<unsigned char>(words[i + k]) & 0xc0) == 0x80;
    if (ok && length == 3) {
      // Neither overlong, nor half of a pair, nor the two that XML forbids.
      unsigned code = (byte & 0x0fu) << 12 |
                      (static_cast<unsigned char>(words[i + 1]) & 0x3fu) << 6 |
                      (static_cast<unsigned char>(words[i + 2]) & 0x3fu);
      ok = code >= 0x800 && (code < 0xd800 || code > 0xdfff) && code < 0xfffe;
    }
    if (!ok) {
      text += '?';
      ++i;
      continue;
    }
    std::string symbol = words.substr(i, length);
    text += symbol == "&"    ? "&amp;"
            : symbol == "<"  ? "&lt;"
            : symbol == ">"  ? "&gt;"
            : symbol == "\"" ? "&quot;"
                             : symbol;
    i += length;
  }
  return text;
}

Color tracea::explain::paleColor(size_t index, size_t count) {
  // Hues in steps of the golden ratio; rows of eight get darker.
  double hue = count <= 8 ? double(index) / double(std::max<size_t>(count, 1))
                          : std::fmod(double(index) * 0.61803398875, 1.0);
  double lightness = 0.86 - 0.05 * double(index / 8 % 3);
  double chroma = (1 - std::fabs(2 * lightness - 1)) * 0.62;
  auto channel = [&](double shift) {
    double t = std::fmod(hue + shift + 1, 1.0) * 6;
    double x = t < 1 ? t : t < 3 ? 1 : t < 4 ? 4 - t : 0;
    return static_cast<int>(
        std::lround(255 * (lightness - chroma / 2 + chroma * x)));
  };
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", channel(1.0 / 3) & 255,
                channel(0) & 255, channel(-1.0 / 3) & 255);
  return text;
}

double tracea::explain::textWidth(const std::string &words, double size) {
  return 0.56 * size * double(words.size());
}

void Svg::grow(double x, double y) {
  right = std::max(right, x);
  bottom = std::max(bottom, y);
}

void Svg::box(double x, double y, double width, double height,
              const Color &fill, const Color &line, double lineWidth) {
  body += "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" +
          number(width) + "\" height=\"" + number(height) + "\" fill=\"" +
          escape(fill) + "\" stroke=\"" + escape(line) + "\" stroke-width=\"" +
          number(lineWidth) + "\"/>\n";
  grow(x + width, y + height);
}

void Svg::line(double x1, double y1, double x2, double y2, const Color &color,
               double width, bool dashed) {
  body += "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" +
          number(x2) + "\" y2=\"" + number(y2) + "\" stroke=\"" +
          escape(color) + "\" stroke-width=\"" + number(width) + "\"" +
          (dashed ? " stroke-dasharray=\"3 3\"" : "") + "/>\n";
  grow(std::max(x1, x2), std::max(y1, y2));
}

void Svg::text(double x, double y, const std::string &words,
               const TextStyle &style) {
  body +=
      "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" font-size=\"" +
      number(style.size) + "\" fill=\"" + escape(style.color) +
      "\" text-anchor=\"" + style.anchor + "\"" +
      (style.bold ? " font-weight=\"bold\"" : "") +
      (style.fixedWidth ? " font-family=\"DejaVu Sans Mono, monospace\"" : "") +
      ">" + escape(words) + "</text>\n";
  std::string anchor = style.anchor;
  double width = textWidth(words, style.size);
  grow(anchor == "start"    ? x + width
       : anchor == "middle" ? x + width / 2
                            : x,
       y + style.size * 0.3);
}

void Svg::beginHint(const std::string &words) {
  body += "<g><title>" + escape(words) + "</title>\n";
}

void Svg::endHint() { body += "</g>\n"; }

std::string Svg::str(const std::string &title) const {
  constexpr double margin = 12;
  std::string w = number(right + margin), h = number(bottom + margin);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
         w + "\" height=\"" + h + "\" viewBox=\"0 0 " + w + " " + h +
         "\" font-family=\"DejaVu Sans, Helvetica, sans-serif\">\n<title>" +
         escape(title) +
         "</title>\n<rect width=\"100%\" height=\"100%\" "
         "fill=\"#ffffff\"/>\n" +
         body + "</svg>\n";
}
