# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations of benchmarks/models/text.py by PyTorch's own: a reference in float64, and a peer.

Images have their channels last: the transposition to PyTorch's order of
dimensions is a view, of memory that its channels-last kernels take.
"""

import torch
import torch.nn.functional as F

TYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "f64": torch.float64,
         "i8": torch.int8, "i32": torch.int32, "i64": torch.int64}


def make_inputs(arguments, seed, device):
    """Tensors as the fills of their arguments say."""
    generator = torch.Generator(device=device).manual_seed(seed)
    found = []
    for argument in arguments:
        kind, number = argument.fill
        shape, element = tuple(argument.shape), TYPES[argument.element]
        if kind in ("below", "around"):
            low = 0 if kind == "below" else -number
            found.append(torch.randint(low, number, shape, generator=generator, device=device, dtype=element))
            continue
        values = (1 + torch.rand(shape, generator=generator, device=device)) * 2.0 ** number
        if kind == "signed":
            values *= torch.randint(0, 2, shape, generator=generator, device=device) * 2 - 1
        found.append(values.to(element))
    return found


def widened(inputs):
    """Floats in float64."""
    return [tensor.double() if tensor.is_floating_point() else tensor for tensor in inputs]


class Eager:
    """A backend whose arguments are `inputs`, in the order in which a model asks for them."""

    def __init__(self, inputs):
        self.inputs = iter(inputs)

    def input(self, name, shape, fill, element=None):
        return next(self.inputs)

    weight = input

    def relu(self, x):
        return F.relu(x)

    def gelu(self, x):
        return F.gelu(x)

    def gelu_tanh(self, x):
        return F.gelu(x, approximate="tanh")

    def silu(self, x):
        return F.silu(x)

    def add(self, x, y):
        return x + y

    def mul(self, x, y):
        return x * y

    def conv2d(self, x, weight, bias=None, stride=1, pad=0):
        out = F.conv2d(x.permute(0, 3, 1, 2), weight.permute(0, 3, 1, 2), bias, stride, pad)
        return out.permute(0, 2, 3, 1)

    def linear(self, x, weight, bias=None):
        return F.linear(x, weight, bias)

    def quantized_linear(self, x, weight, bias, scale, activate=True, result="i8"):
        # cuBLAS wants more than 16 rows and multiples of 8; float64 holds the sums exactly.
        if x.is_cuda and x.shape[0] > 16 and x.shape[1] % 8 == 0 and weight.shape[0] % 8 == 0:
            total = torch._int_mm(x, weight.t())
        else:
            total = (x.double() @ weight.double().t()).to(torch.int32)
        value = (total + bias).to(scale.dtype) * scale
        if activate:
            value = F.relu(value)
        if result == "i8":
            value = value.round().clamp(-128, 127).to(torch.int8)
        return value

    def attention(self, q, k, v, causal=False):
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)

    def batch_norm(self, x, scale, bias, mean, variance, epsilon=1e-5):
        out = F.batch_norm(x.permute(0, 3, 1, 2), mean, variance, scale, bias, training=False, eps=epsilon)
        return out.permute(0, 2, 3, 1)

    def layer_norm(self, x, scale, bias, epsilon=1e-5):
        return F.layer_norm(x, x.shape[-1:], scale, bias, epsilon)

    def rms_norm(self, x, scale, epsilon=1e-5):
        return F.rms_norm(x, x.shape[-1:], scale, epsilon)

    def group_norm(self, x, groups, scale, bias, epsilon=1e-5):
        return F.group_norm(x.permute(0, 3, 1, 2), groups, scale, bias, epsilon).permute(0, 2, 3, 1)

    def max_pool(self, x, size, stride, pad):
        return F.max_pool2d(x.permute(0, 3, 1, 2), size, stride, pad).permute(0, 2, 3, 1)

    def mean_pixels(self, x):
        return x.mean((1, 2))

    def flatten(self, x, first, last):
        return x.flatten(first, last)

    def unflatten(self, x, axis, extents):
        return x.unflatten(axis, extents)

    def transpose(self, x, order):
        return x.permute(order)

    def slice(self, x, axis, begin, extent):
        return x.narrow(axis, begin, extent)

    def concat(self, axis, *values):
        return torch.cat(values, axis)

    def broadcast_batch(self, x, batch):
        return x.expand(batch, *x.shape)

    def upsample(self, x):
        return F.interpolate(x.permute(0, 3, 1, 2), scale_factor=2).permute(0, 2, 3, 1)

    def embedding(self, table, tokens):
        return F.embedding(tokens, table)
