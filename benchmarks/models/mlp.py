# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A quantized perceptron: products of i8, scales of the columns, ReLU, rounding and clamping; its last layer gives f32."""

from fills import LEVELS, quantized_bias, quantized_scale

FULL = dict(inputs=1024, width=4096, layers=4, classes=1000)
SMALL = dict(inputs=48, width=64, layers=3, classes=10)


def mlp(b, options, batch):
    x = b.input("features", (batch, options["inputs"]), LEVELS, "i8")
    for layer in range(options["layers"]):
        last = layer == options["layers"] - 1
        inputs, outputs = x.shape[1], options["classes"] if last else options["width"]
        x = b.quantized_linear(
            x, b.weight(f"l{layer}_w", (outputs, inputs), LEVELS, "i8"),
            b.weight(f"l{layer}_b", (outputs,), quantized_bias(inputs), "i32"),
            b.weight(f"l{layer}_s", (outputs,), quantized_scale(inputs), "f32"),
            activate=not last, result="f32" if last else "i8")
    return [x]
