"""Prints a loop of an assembly text without loops inside it: of all such loops the
one with most lines that name an instruction.

    inner_loop.py INSTRUCTION FILE
"""

import re
import sys

instruction = re.compile(r"\s" + re.escape(sys.argv[1]) + r"\b")
with open(sys.argv[2]) as text:
    lines = text.read().splitlines()

label = re.compile(r"(\.\w+):")
places = {}
best = []
for place, line in enumerate(lines):
    if begins := label.match(line):
        places[begins[1]] = place
        continue
    for name in re.findall(r"\.\w+$", line):
        if name not in places:
            continue
        # From its label to the jump back.
        body = lines[places[name] + 1 : place + 1]
        if any(label.match(inner) for inner in body):
            continue
        count = lambda loop: sum(bool(instruction.search(inner)) for inner in loop)
        if count(body) > count(best):
            best = body
if not best:
    sys.exit(f"{sys.argv[2]}: no innermost loop has '{sys.argv[1]}'")
print("\n".join(best))
