"""Says how many kernels a manifest has, how often they are launched, and what is proved."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    manifest = json.load(file)
kernels = manifest["kernels"]
steps = sum(len(entry["steps"]) for entry in manifest["entries"])
proofs = sum(len(kernel["certificates"]) for kernel in kernels)
names = ", ".join(f"{kernel['name']} of {kernel['op']}" for kernel in kernels)
print(f"{len(kernels)} kernels, {steps} steps, {proofs} certificates: {names}")
