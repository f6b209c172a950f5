"""Whole models and blocks of the benchmark, with random weights: name, constructor, arguments.

Sizes are those that people run with one image or one sequence on a CPU (`cpu`), and with a batch on a
GPU (`cuda`).
"""

import importlib.util
import pathlib
import sys

import torch


def _blocks():
    """Those of the tests."""
    path = pathlib.Path(__file__).resolve().parents[2] / "python" / "tests" / "pytorch" / "models.py"
    spec = importlib.util.spec_from_file_location("tracea_test_models", path)
    module = importlib.util.module_from_spec(spec)
    # Dynamo looks for classes where they say that they are from.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


blocks = _blocks()


def _vision(name, **named):
    def make():
        import torchvision

        model = getattr(torchvision.models, name)(**named)
        # As trained networks have it, and recipes begin: branches beside residuals are small. With all
        # of them at 1 the gradients of random weights are chaotic, eager's in bf16 wrong by more than
        # they are.
        for module in model.modules():
            last = getattr(module, "bn3", getattr(module, "bn2", None))
            if isinstance(last, torch.nn.BatchNorm2d):
                torch.nn.init.constant_(last.weight, 0.2)
        return model

    return make


class Stack(torch.nn.Module):
    """Layers one after the other: a language model without its vocabulary."""

    def __init__(self, make, count):
        super().__init__()
        self.layers = torch.nn.ModuleList(make() for _ in range(count))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def _images(cpu, cuda):
    return lambda device: (torch.randn(*(cpu if device == "cpu" else cuda)),)


# name: (constructor, arguments by device)
MODELS = {
    "resnet18": (_vision("resnet18"), _images((1, 3, 224, 224), (32, 3, 224, 224))),
    "resnet50": (_vision("resnet50"), _images((1, 3, 224, 224), (32, 3, 224, 224))),
    "mobilenet_v3": (_vision("mobilenet_v3_large", dropout=0.0), _images((1, 3, 224, 224), (32, 3, 224, 224))),
    "vit": (
        lambda: Stack(lambda: blocks.Block(192, 3, causal=False), 6),
        _images((1, 197, 192), (32, 197, 192)),
    ),
    "gpt2": (
        lambda: Stack(lambda: blocks.Block(768, 12), 2),
        _images((1, 256, 768), (8, 1024, 768)),
    ),
    "bert": (
        lambda: blocks.Bert(384, 2000, heads=6, places=512),
        lambda device: (torch.randint(0, 2000, (1, 128) if device == "cpu" else (16, 512)),),
    ),
    "unet": (
        lambda: blocks.UNetBlock(64),
        lambda device: (
            torch.randn(*((1, 64, 64, 64) if device == "cpu" else (8, 64, 64, 64))),
            torch.randn(1 if device == "cpu" else 8, 8),
        ),
    ),
    "llama": (
        lambda: Stack(lambda: blocks.Llama(512, 8, 4), 2),
        _images((1, 256, 512), (8, 1024, 512)),
    ),
}


def build(make, device, dtype):
    """Made where it is to be, which fake tensors need."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device(device):
            return make()
    finally:
        torch.set_default_dtype(before)
