# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks of transformers without attention: two products, or three with a gate (SwiGLU, Shazeer 2020, arXiv:2002.05202), residual, norm."""

from fills import BIAS, DATA, POSITIVE, weights

GELU_FULL = dict(width=4096, inner=16384)
GELU_SMALL = dict(width=32, inner=96)
SWIGLU_FULL = dict(width=4096, inner=11008)
SWIGLU_SMALL = dict(width=32, inner=88)


def gelu_mlp(b, options, batch):
    """layer_norm(x + down(gelu(up(x)))), with biases; a batch of tokens."""
    width, inner = options["width"], options["inner"]
    x = b.input("tokens", (batch, width), DATA)

    def linear(value, name, inputs, outputs):
        return b.linear(value, b.weight(f"{name}_w", (outputs, inputs), weights(inputs)),
                        b.weight(f"{name}_b", (outputs,), BIAS))

    grown = b.gelu(linear(x, "up", width, inner))
    total = b.add(linear(grown, "down", inner, width), x)
    return [b.layer_norm(total, b.weight("norm_scale", (width,), POSITIVE), b.weight("norm_bias", (width,), BIAS))]


def swiglu_mlp(b, options, batch):
    """rms_norm(x + down(silu(gate(x)) * up(x))), without biases; a batch of tokens."""
    width, inner = options["width"], options["inner"]
    x = b.input("tokens", (batch, width), DATA)
    gate = b.silu(b.linear(x, b.weight("gate_w", (inner, width), weights(width))))
    grown = b.mul(gate, b.linear(x, b.weight("up_w", (inner, width), weights(width))))
    total = b.add(b.linear(grown, b.weight("down_w", (width, inner), weights(inner))), x)
    return [b.rms_norm(total, b.weight("norm_scale", (width,), POSITIVE))]
