#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a model as an MLIR module: models.py NAME [--small] [--dtype T] [--batch N | --dynamic] [--set KEY=VALUE...]

    models.py resnet50 --dtype bf16 --set folded=1 -o resnet50.mlir
    models.py vit --small --inputs DIR -o vit.mlir

Weights are arguments, which are constant. --small takes widths for tests, --set an option of the
model's own (--list says which there are). --inputs also writes a .npy file for
each argument, the same for the same --seed, DIR/00-NAME.npy and so on, and
prints the options that `tracea run` takes for them.
"""

import argparse
import collections
import os
import sys

import feedforward
import inputs
import mlp
import resnet
import transformer
import unet
from text import Text

Model = collections.namedtuple("Model", "function full small batch dtypes")
FLOATS = ("f32", "bf16", "f16")
MODELS = {
    "resnet50": Model(resnet.resnet, resnet.FULL, resnet.SMALL, 32, FLOATS),
    "vit": Model(transformer.vit, transformer.VIT_FULL, transformer.VIT_SMALL, 32, FLOATS),
    "gpt2": Model(transformer.gpt2, transformer.GPT2_FULL, transformer.GPT2_SMALL, 8, FLOATS),
    "unet": Model(unet.unet, unet.FULL, unet.SMALL, 4, FLOATS),
    "gelu_mlp": Model(feedforward.gelu_mlp, feedforward.GELU_FULL, feedforward.GELU_SMALL, 4096, FLOATS),
    "swiglu_mlp": Model(feedforward.swiglu_mlp, feedforward.SWIGLU_FULL, feedforward.SWIGLU_SMALL, 4096, FLOATS),
    "mlp": Model(mlp.mlp, mlp.FULL, mlp.SMALL, 256, ("i8",)),
}


def parse_value(text):
    return tuple(map(int, text.split(","))) if "," in text else int(text)


def configure(name, small=False, settings=()):
    """The options of a model, with KEY=VALUE for those that are given."""
    model = MODELS[name]
    options = dict(model.small if small else model.full)
    for setting in settings:
        key, _, value = setting.partition("=")
        if key not in options:
            raise ValueError(f"{name} has no option '{key}'; expected one of {', '.join(options)}")
        options[key] = parse_value(value)
    return options


def write(name, options, batch, dtype, dynamic=False):
    """The text of a model and its arguments."""
    text = Text("f32" if dtype == "i8" else dtype, dynamic)
    results = MODELS[name].function(text, options, batch)
    return text.module(results), text.arguments


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", choices=MODELS)
    parser.add_argument("--list", action="store_true", help="models and their options")
    parser.add_argument("--small", action="store_true", help="widths for tests")
    parser.add_argument("--dtype", help="element type of weights and activations")
    parser.add_argument("--batch", type=int)
    parser.add_argument("--dynamic", action="store_true", help="the batch is known to the run alone")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--inputs", metavar="DIR", help="also write the arguments")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", default="-", metavar="FILE")
    options = parser.parse_args()
    if options.list:
        for name, model in MODELS.items():
            print(f"{name}: batch {model.batch}, {' '.join(model.dtypes)}; "
                  + ", ".join(f"{key}={value}" for key, value in model.full.items()))
        return 0
    if not options.name:
        parser.error("expected a model's name, or --list")
    model = MODELS[options.name]
    dtype = options.dtype or model.dtypes[0]
    if dtype not in model.dtypes:
        parser.error(f"{options.name} has no type '{dtype}'; expected one of {', '.join(model.dtypes)}")
    try:
        configured = configure(options.name, options.small, options.set)
    except ValueError as error:
        parser.error(str(error))
    batch = options.batch or (2 if options.small else model.batch)
    module, arguments = write(options.name, configured, batch, dtype, options.dynamic)
    if options.o == "-":
        sys.stdout.write(module)
    else:
        with open(options.o, "w") as file:
            file.write(module)
    if options.inputs:
        os.makedirs(options.inputs, exist_ok=True)
        files = inputs.write(options.inputs, arguments, options.seed)
        print(" ".join(f"--input {path}" for path in files), file=sys.stdout if options.o != "-" else sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
