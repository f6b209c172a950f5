# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ResNet-50 (He et al. 2015, arXiv:1512.03385; the stride is that of the 3x3 convolution), batch norm folded or not."""

from fills import BIAS, DATA, POSITIVE, weights

FULL = dict(size=224, width=64, blocks=(3, 4, 6, 3), classes=1000, folded=0)
SMALL = dict(size=32, width=8, blocks=(1, 1), classes=10, folded=0)


def resnet(b, options, batch):
    count = 0

    def conv_norm(x, channels, size, stride, activate=True):
        nonlocal count
        name, count = f"c{count}", count + 1
        inputs = x.shape[3]
        filters = b.weight(f"{name}_w", (channels, size, size, inputs), weights(size * size * inputs))
        pad = size // 2
        if options["folded"]:
            x = b.conv2d(x, filters, b.weight(f"{name}_b", (channels,), BIAS), stride, pad)
        else:
            x = b.conv2d(x, filters, None, stride, pad)
            x = b.batch_norm(x, *(b.weight(f"{name}_{part}", (channels,), fill, "f32") for part, fill in
                                  (("scale", POSITIVE), ("bias", BIAS), ("mean", BIAS), ("variance", POSITIVE))))
        return b.relu(x) if activate else x

    def bottleneck(x, width, stride):
        out = conv_norm(x, width, 1, 1)
        out = conv_norm(out, width, 3, stride)
        out = conv_norm(out, 4 * width, 1, 1, activate=False)
        if stride != 1 or x.shape[3] != 4 * width:
            x = conv_norm(x, 4 * width, 1, stride, activate=False)
        return b.relu(b.add(out, x))

    x = b.input("images", (batch, options["size"], options["size"], 3), DATA)
    x = conv_norm(x, options["width"], 7, 2)
    x = b.max_pool(x, 3, 2, 1)
    for stage, blocks in enumerate(options["blocks"]):
        for block in range(blocks):
            x = bottleneck(x, options["width"] << stage, 2 if stage and not block else 1)
    x = b.mean_pixels(x)
    inputs = x.shape[1]
    return [b.linear(x, b.weight("head_w", (options["classes"], inputs), weights(inputs)),
                     b.weight("head_b", (options["classes"],), BIAS))]
