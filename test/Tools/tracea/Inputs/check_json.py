# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_json.py EXPRESSION...: reads one JSON object `j` from stdin; every
expression must be true of it."""

import json
import sys

j = json.loads(sys.stdin.read())
for expression in sys.argv[1:]:
    if not eval(expression):
        sys.exit(f"not so: {expression}\n{json.dumps(j, indent=2)}")
