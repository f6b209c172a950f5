#!/usr/bin/env python3
"""Checks the table of directories in docs/Architecture.md against the sources.

Every directory has a row, includes only headers of the project that its row
allows, is plain C++ where the page says so, and has at most as many files as a
reader finds their way in.
"""

import os
import re
import sys

SOURCE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
BOTH = ["Dialect/Tracea", "Dialect/TraceaPipe"]
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)
PLAIN = re.compile(
    r"^(lib|include/tracea)/(Algebra|Analysis/Protocol|Runtime|Schedule|TargetInfo)/"
    r"|^lib/Doctor/(CPU\w*|Registry|Variants)\.(h|cpp)$"
    r"|^include/tracea/Doctor/(CPUModel|Problem|Registry)\.h$"
)

MOST_FILES = 30


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


def table():
    rows = {}
    page = read("docs/Architecture.md").split("## Directories", 1)[1]
    for name, allowed in re.findall(r"^\| `([\w/]+)` \|.*\|([^|]*)\|$", page, re.M):
        allowed = allowed.strip()
        match = re.fullmatch(r"all of the above but (\w+)", allowed)
        if match:
            rows[name] = [other for other in rows if other != match[1]]
            continue
        words = [word.strip() for word in allowed.split(",") if word.strip()]
        rows[name] = [
            directory
            for word in words
            for directory in (BOTH if word == "both dialects" else [word])
        ]
    return rows


def main():
    rows, errors, files = table(), [], 0
    if len(rows) < 10:
        raise SystemExit(f"expected the table of directories, found {len(rows)} rows")

    def row_of(path):
        names = [name for name in rows if path.startswith(name + "/")]
        return max(names, key=len, default=None)

    for root in ("lib", "include/tracea"):
        for folder, _, names in os.walk(os.path.join(SOURCE, root)):
            if len(names) > MOST_FILES:
                errors.append(f"{os.path.relpath(folder, SOURCE)}: {len(names)} files, expected at most {MOST_FILES}")
            for name in sorted(names):
                if not name.endswith((".h", ".cpp")):
                    continue
                path = os.path.relpath(os.path.join(folder, name), SOURCE)
                inner = path[len(root) + 1 :]
                if inner == "InitTracea.h":  # registers the dialects for tools
                    continue
                files += 1
                row = row_of(inner)
                if row is None:
                    errors.append(f"{path}: its directory has no row")
                    continue
                for header in INCLUDE.findall(read(path)):
                    if header.startswith("tracea/") and header != "tracea/InitTracea.h":
                        used = row_of(header[len("tracea/") :])
                        if used is None or (used != row and used not in rows[row]):
                            errors.append(f"{path}: {row} may not include {header}")
                    if PLAIN.search(path) and re.match(r"(llvm|mlir|lld)", header):
                        errors.append(f"{path}: plain C++ includes {header}")
    for error in errors:
        print(error)
    print(f"{files} files in {len(rows)} directories, {len(errors)} errors")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
