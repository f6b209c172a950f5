# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transformers: ViT (Dosovitskiy et al. 2020, arXiv:2010.11929) and GPT-2 (Radford et al. 2019)."""

from fills import BIAS, DATA, POSITIVE, SMALL_DATA, tokens_below, weights

VIT_FULL = dict(size=224, patch=16, width=768, heads=12, layers=12, classes=1000)
VIT_SMALL = dict(size=32, patch=16, width=32, heads=2, layers=2, classes=10)
GPT2_FULL = dict(rows=1024, words=50257, width=768, heads=12, layers=1)
GPT2_SMALL = dict(rows=20, words=101, width=32, heads=2, layers=1)


def _norm(b, x, name):
    width = x.shape[-1]
    return b.layer_norm(x, b.weight(f"{name}_scale", (width,), POSITIVE), b.weight(f"{name}_bias", (width,), BIAS))


def _linear(b, x, name, outputs):
    inputs = x.shape[-1]
    return b.linear(x, b.weight(f"{name}_w", (outputs, inputs), weights(inputs)),
                    b.weight(f"{name}_b", (outputs,), BIAS))


def _block(b, x, name, heads, activation, causal):
    """x + attention(norm(x)), then x + mlp(norm(x)); x is [n, t, c]."""
    n, t, c = x.shape

    def head(joined, index):
        part = b.unflatten(b.slice(joined, 2, index * c, c), 2, (heads, c // heads))
        return b.transpose(part, (0, 2, 1, 3))

    joined = _linear(b, b.flatten(_norm(b, x, f"{name}_norm1"), 0, 1), f"{name}_qkv", 3 * c)
    joined = b.unflatten(joined, 0, (n, t))
    mixed = b.attention(*(head(joined, i) for i in range(3)), causal=causal)
    mixed = b.flatten(b.flatten(b.transpose(mixed, (0, 2, 1, 3)), 2, 3), 0, 1)
    flat = b.add(_linear(b, mixed, f"{name}_out", c), b.flatten(x, 0, 1))
    inner = activation(_linear(b, _norm(b, flat, f"{name}_norm2"), f"{name}_up", 4 * c))
    flat = b.add(_linear(b, inner, f"{name}_down", c), flat)
    return b.unflatten(flat, 0, (n, t))


def vit(b, options, batch):
    size, patch, width = options["size"], options["patch"], options["width"]
    x = b.input("images", (batch, size, size, 3), DATA)
    x = b.conv2d(x, b.weight("patches_w", (width, patch, patch, 3), weights(patch * patch * 3)),
                 b.weight("patches_b", (width,), BIAS), stride=patch)
    x = b.flatten(x, 1, 2)
    first = b.broadcast_batch(b.weight("first", (1, width), SMALL_DATA), x.shape[0])
    x = b.concat(1, first, x)
    x = b.add(x, b.weight("positions", tuple(x.shape[1:]), SMALL_DATA))
    for layer in range(options["layers"]):
        x = _block(b, x, f"l{layer}", options["heads"], b.gelu, causal=False)
    x = _norm(b, x, "norm")
    x = b.flatten(b.slice(x, 1, 0, 1), 1, 2)
    return [_linear(b, x, "head", options["classes"])]


def gpt2(b, options, batch):
    rows, width = options["rows"], options["width"]
    tokens = b.input("tokens", (batch, rows), tokens_below(options["words"]), "i64")
    table = b.weight("words", (options["words"], width), SMALL_DATA)
    x = b.add(b.embedding(table, tokens), b.weight("positions", (rows, width), SMALL_DATA))
    for layer in range(options["layers"]):
        x = _block(b, x, f"l{layer}", options["heads"], b.gelu_tanh, causal=True)
    return [_norm(b, x, "norm")]
