"""Gradients of Tracea's operators, by its kernels.

The operators `torch.ops.tracea.*_backward` and the two gradients of convolutions stay whole in
graphs. Called by themselves, the latter are functions of the library; the others are programs of
one operation.
"""

import torch
from torch import Tensor

from .. import ops as native
from .._error import Error, Status
from . import programs
from .define import define, like, like_image
from .importer.memory import dense_order

aten = torch.ops.aten


def _program(name, *arguments):
    return programs.run(getattr(torch.ops.tracea, name).default, *arguments)


# ---- the operators


def _dense(x):
    """Gradients are often repeated, which GPUs do not take."""
    return x if dense_order(x) is not None else x.contiguous()


@define("conv2d_dgrad")
def conv2d_dgrad(
    grad: Tensor, weight: Tensor, shape: list[int], stride: list[int], padding: list[int],
    dilation: list[int], groups: int, layout: str, precision: str = "exact",
) -> Tensor:
    """The gradient of a convolution by its image, each of which has the shape `shape`."""
    return native.conv2d_dgrad(
        _dense(grad), weight, (grad.shape[0], *shape), stride, padding, dilation, groups,
        layout=layout, precision=precision,
    )


@conv2d_dgrad.register_fake
def _(grad, weight, shape, stride, padding, dilation, groups, layout, precision="exact"):
    return like_image(grad, (grad.shape[0], *shape), layout, (grad, weight))


@define("conv2d_wgrad")
def conv2d_wgrad(
    x: Tensor, grad: Tensor, shape: list[int], stride: list[int], padding: list[int],
    dilation: list[int], groups: int, layout: str, precision: str = "exact",
) -> Tensor:
    """The gradient of a convolution by its filter, which has the shape `shape`."""
    return native.conv2d_wgrad(
        x, _dense(grad), shape, stride, padding, dilation, groups, layout=layout,
        precision=precision,
    )


@conv2d_wgrad.register_fake
def _(x, grad, shape, stride, padding, dilation, groups, layout, precision="exact"):
    return like_image(x, shape, layout, (x, grad))


@define("softmax_backward")
def softmax_backward(grad: Tensor, y: Tensor, dim: int) -> Tensor:
    return _program("softmax_backward", grad, y, dim)


@define("log_softmax_backward")
def log_softmax_backward(grad: Tensor, y: Tensor, dim: int) -> Tensor:
    return _program("log_softmax_backward", grad, y, dim)


for _op in (softmax_backward, log_softmax_backward):
    _op.register_fake(lambda grad, y, dim: like(y, y.shape))


@define("layer_norm_backward")
def layer_norm_backward(
    grad: Tensor, x: Tensor, weight: Tensor | None, eps: float, count: int
) -> tuple[Tensor, Tensor, Tensor]:
    """By x, weight and bias; the last `count` dimensions are normalized."""
    return _program("layer_norm_backward", grad, x, weight, eps, count)


@layer_norm_backward.register_fake
def _(grad, x, weight, eps, count):
    shape = x.shape[x.dim() - count :]
    return like(x, x.shape), like(x, shape), like(x, shape)


@define("rms_norm_backward")
def rms_norm_backward(
    grad: Tensor, x: Tensor, weight: Tensor | None, eps: float, count: int
) -> tuple[Tensor, Tensor]:
    """By x and weight."""
    return _program("rms_norm_backward", grad, x, weight, eps, count)


@rms_norm_backward.register_fake
def _(grad, x, weight, eps, count):
    return like(x, x.shape), like(x, x.shape[x.dim() - count :])


@define("attention_backward")
def attention_backward(
    grad: Tensor, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool, left: int,
    right: int, scale: float | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """By q, k and v. The weights are computed anew: they are not kept from the forward."""
    return _program("attention_backward", grad, q, k, v, mask, causal, left, right, scale)


@attention_backward.register_fake
def _(grad, q, k, v, mask, causal, left, right, scale):
    return like(q, q.shape), like(k, k.shape), like(v, v.shape)


@define("attention_gradients")
def attention_gradients(
    grad: Tensor, q: Tensor, k: Tensor, v: Tensor, y: Tensor, sums: Tensor, causal: bool, left: int,
    right: int, scale: float | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The same, from the forward's result y and the logarithms of its sums of exponentials."""
    return _program("attention_gradients", grad, q, k, v, y, sums, causal, left, right, scale)


@attention_gradients.register_fake
def _(grad, q, k, v, y, sums, causal, left, right, scale):
    return like(q, q.shape), like(k, k.shape), like(v, v.shape)


ALL = (
    conv2d_dgrad, conv2d_wgrad, softmax_backward, log_softmax_backward, layer_norm_backward,
    rms_norm_backward, attention_backward, attention_gradients,
)


def _has_no_derivative(op):
    def refuse(ctx, *grads):
        raise Error(
            f"tracea::{op._name}: expected a first derivative, found a second one, which this "
            "operator does not have; torch's own operators do",
            Status.UNSUPPORTED_CONFIG,
        )

    op.register_autograd(refuse)


for _op in ALL:
    if _op not in (conv2d_dgrad, conv2d_wgrad):
        _has_no_derivative(_op)


# ---- what the forward's operators register

def _by_silu(g, z):
    if not torch.is_grad_enabled():
        return aten.silu_backward(g, z)
    # Of operations that have derivatives themselves, for second ones.
    s = torch.sigmoid(z)
    return g * s * (1 + z * (1 - s))


# function(gradient, result) or, where `from_sum`, function(gradient, sum before the function)
_BY_RESULT = {
    "none": lambda g, y: g,
    "relu": lambda g, y: aten.threshold_backward(g, y, 0),
    "relu6": lambda g, y: aten.hardtanh_backward(g, y, 0, 6),
    "sigmoid": lambda g, y: aten.sigmoid_backward(g, y),
    "tanh": lambda g, y: aten.tanh_backward(g, y),
}
_BY_SUM = {
    "silu": _by_silu,
    "gelu": lambda g, z: aten.gelu_backward(g, z),
    "gelu_tanh": lambda g, z: aten.gelu_backward(g, z, approximate="tanh"),
}


def through_epilogue(epilogue, grad, y, sum_again):
    """The gradient of the sum that an epilogue's function was applied to; `sum_again()` is it."""
    if epilogue in _BY_RESULT:
        return _BY_RESULT[epilogue](grad, y)
    return _BY_SUM[epilogue](grad, sum_again())


def sum_to(grad, x):
    """The gradient of what was repeated to the gradient's shape."""
    if x is None or grad.shape == x.shape:
        return grad
    return grad.sum_to_size(x.shape)
