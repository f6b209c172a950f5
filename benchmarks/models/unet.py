# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two levels of a U-Net as diffusion models have it (Ho et al. 2020, arXiv:2006.11239): residual blocks
of group norm, SiLU and convolution, one level down and up again, and the skip joined."""

from fills import BIAS, DATA, POSITIVE, weights

FULL = dict(size=64, width=320, groups=32)
SMALL = dict(size=8, width=16, groups=4)


def unet(b, options, batch):
    width = options["width"]
    count = 0

    def conv(x, channels, size, stride=1):
        nonlocal count
        name, count = f"c{count}", count + 1
        inputs = x.shape[3]
        return b.conv2d(x, b.weight(f"{name}_w", (channels, size, size, inputs), weights(size * size * inputs)),
                        b.weight(f"{name}_b", (channels,), BIAS), stride, size // 2)

    def norm_silu(x):
        nonlocal count
        name, count = f"n{count}", count + 1
        channels = x.shape[3]
        return b.silu(b.group_norm(x, options["groups"], b.weight(f"{name}_scale", (channels,), POSITIVE),
                                   b.weight(f"{name}_bias", (channels,), BIAS)))

    def residual(x, channels):
        out = conv(norm_silu(x), channels, 3)
        out = conv(norm_silu(out), channels, 3)
        return b.add(out, x if x.shape[3] == channels else conv(x, channels, 1))

    x = b.input("images", (batch, options["size"], options["size"], width), DATA)
    skip = residual(x, width)
    x = residual(conv(skip, width, 3, stride=2), 2 * width)
    x = conv(b.upsample(x), 2 * width, 3)
    return [residual(b.concat(3, x, skip), width)]
