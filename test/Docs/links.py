#!/usr/bin/env python3
"""Checks that relative links of the project's Markdown pages lead somewhere."""

import os
import re
import sys

SOURCE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(path):
    with open(path, encoding="utf-8") as file:
        titles = re.findall(r"^#+ (.*)$", file.read(), re.M)
    return {
        re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
        for title in titles
    }


def main():
    errors, links, pages = [], 0, []
    for folder, folders, names in os.walk(SOURCE):
        folders[:] = [n for n in folders if n not in ("build", "test") and n[0] != "."]
        pages += [os.path.join(folder, n) for n in sorted(names) if n.endswith(".md")]
    for page in pages:
        with open(page, encoding="utf-8") as file:
            text = re.sub(r"^```.*?^```", "", file.read(), flags=re.M | re.S)
        text = re.sub(r"`[^`\n]*`", lambda code: "x" * len(code[0]), text)
        for link in LINK.findall(text):
            if re.match(r"[a-z]+:", link):
                continue
            links += 1
            path, _, anchor = link.partition("#")
            target = os.path.join(os.path.dirname(page), path) if path else page
            where = os.path.relpath(page, SOURCE)
            if not os.path.exists(target):
                errors.append(f"{where}: no file behind '{link}'")
            elif anchor and anchor not in anchors(target):
                errors.append(f"{where}: no title behind '{link}'")
    for error in errors:
        print(error)
    print(f"{links} links in {len(pages)} pages, {len(errors)} errors")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
