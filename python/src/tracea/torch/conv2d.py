"""nn.Conv2d by Tracea: the class patched, or a subclass."""

import contextlib
import threading

import torch
from torch import nn

from . import report
from .ops import conv2d as _operator

_lock = threading.RLock()
_depth = 0
_original = nn.Conv2d.__dict__["_conv_forward"]
# Dynamo guards it: what was compiled under another value is compiled anew, not run.
_enabled = False
_DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)


def _why_not(module, x, weight):
    """Why eager does a call; None where Tracea does."""
    if module.padding_mode != "zeros":
        return f"padding_mode {module.padding_mode}"
    if x.dim() != 4:
        return f"{x.dim()} dimensions"
    if x.dtype not in _DTYPES or x.dtype != weight.dtype:
        return f"{x.dtype} with {weight.dtype}"
    if type(weight) not in (nn.Parameter, torch.Tensor):
        return f"a weight of type {type(weight).__name__}"
    if x.device.type not in ("cpu", "cuda") or x.device != weight.device:
        return f"the device {x.device}"
    if torch.is_autocast_enabled(x.device.type):
        return "autocast"
    return None


def _call(module, x, weight, bias, fallback):
    reason = _why_not(module, x, weight)
    if not torch.compiler.is_compiling():
        report.count("conv2d.fallback" if reason else "conv2d.compiled")
        if reason:
            report.fell_back("Conv2d", reason)
    if reason:
        return fallback(module, x, weight, bias)
    return _operator(
        x, weight, bias, module.stride, module.padding, module.dilation, module.groups
    )


def _forward(self, x, weight, bias):
    if not _enabled or type(self) is not nn.Conv2d:
        return _original(self, x, weight, bias)
    return _call(self, x, weight, bias, _original)


def patch_conv2d():
    """Lets Tracea compute all nn.Conv2d of this process, those that exist and those to come.

    Calls nest with `unpatch_conv2d`. What Tracea does not take falls back, with a reason in
    `tracea.torch.report()`."""
    global _depth, _enabled
    with _lock:
        if nn.Conv2d.__dict__["_conv_forward"] not in (_original, _forward):
            raise RuntimeError("somebody else has patched nn.Conv2d")
        nn.Conv2d._conv_forward = _forward
        _depth += 1
        _enabled = True


def unpatch_conv2d():
    """Undoes one `patch_conv2d`. The function stays in place and reads a flag, so that functions
    compiled under the patch notice that it has ended."""
    global _depth, _enabled
    with _lock:
        if _depth == 0:
            raise RuntimeError("unpatch_conv2d without patch_conv2d")
        _depth -= 1
        _enabled = _depth > 0


@contextlib.contextmanager
def patched_conv2d():
    """`patch_conv2d` for a block."""
    patch_conv2d()
    try:
        yield
    finally:
        unpatch_conv2d()


class TraceaConv2d(nn.Conv2d):
    """nn.Conv2d computed by Tracea: the same arguments and state_dict."""

    def _conv_forward(self, x, weight, bias):
        return _call(self, x, weight, bias, _original)

    @classmethod
    def convert(cls, model):
        """Makes all nn.Conv2d of a model TraceaConv2d, in place: parameters stay the same objects.
        Returns the model."""
        for module in model.modules():
            if type(module) is nn.Conv2d:
                module.__class__ = cls
        return model
