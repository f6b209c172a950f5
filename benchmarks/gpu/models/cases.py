# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which models are compiled and measured, at which sizes."""

import collections
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../models"))
from models import MODELS, configure, write  # noqa: E402

Case = collections.namedtuple("Case", "name model dtype batch dynamic settings")

CASES = [
    Case("resnet50_bf16", "resnet50", "bf16", 32, False, ()),
    Case("resnet50_bf16_n1", "resnet50", "bf16", 1, False, ()),
    Case("resnet50_bf16_n128", "resnet50", "bf16", 128, False, ()),
    Case("resnet50_bf16_folded", "resnet50", "bf16", 32, False, ("folded=1",)),
    Case("resnet50_bf16_any_batch", "resnet50", "bf16", 32, True, ("folded=1",)),
    Case("resnet50_f32", "resnet50", "f32", 8, False, ()),
    Case("vit_bf16", "vit", "bf16", 32, False, ()),
    Case("vit_bf16_any_batch", "vit", "bf16", 32, True, ("layers=2",)),
    Case("vit_f32", "vit", "f32", 8, False, ("layers=2",)),
    Case("gpt2_bf16", "gpt2", "bf16", 8, False, ()),
    Case("gpt2_bf16_any_batch", "gpt2", "bf16", 8, True, ()),
    Case("gpt2_f32", "gpt2", "f32", 2, False, ()),
    Case("unet_bf16", "unet", "bf16", 4, False, ()),
    Case("unet_f32", "unet", "f32", 1, False, ()),
    Case("gelu_mlp_bf16", "gelu_mlp", "bf16", 4096, False, ()),
    Case("swiglu_mlp_bf16", "swiglu_mlp", "bf16", 4096, False, ()),
    Case("gelu_mlp_bf16_small", "gelu_mlp", "bf16", 512, False, ("width=1024", "inner=4096")),
    Case("swiglu_mlp_bf16_small", "swiglu_mlp", "bf16", 512, False, ("width=1024", "inner=2816")),
    Case("mlp_i8", "mlp", "i8", 256, False, ()),
    Case("mlp_i8_any_batch", "mlp", "i8", 256, True, ()),
]


def options_of(case):
    return configure(case.model, settings=case.settings)


def module(case):
    """The text of a case and its arguments, the first extent of the first one given."""
    return write(case.model, options_of(case), case.batch, case.dtype, case.dynamic)


def evaluate(case, backend):
    """The results of a case by another backend than text."""
    return MODELS[case.model].function(backend, options_of(case), case.batch)
