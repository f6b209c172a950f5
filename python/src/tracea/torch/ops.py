"""tracea.ops as operators of torch: `torch.ops.tracea.*`, with fake kernels and gradients.

What torch.compile, autograd and torch.export see. The functions here have the arguments of
`tracea.ops`; those call them where a gradient is asked for.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from .. import ops as native

_ACTIVATIONS = {
    "none": lambda x: x,
    "relu": torch.relu,
    "relu6": F.relu6,
    "silu": F.silu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
}


def _gradients(function, inputs, grad):
    """Gradients of what `function` computes with torch's operators, for a backward that starts
    from the forward's inputs."""
    with torch.enable_grad():
        leaves = [None if x is None else x.detach().requires_grad_(x.is_floating_point()) for x in inputs]
        result = function(*leaves)
        wanted = [x for x in leaves if x is not None and x.requires_grad]
        found = iter(torch.autograd.grad(result, wanted, grad, allow_unused=True))
    return [next(found) if x is not None and x.requires_grad else None for x in leaves]


def _differentiable(op, reference, num_tensors):
    """Registers a backward: `reference` has the operator's arguments and uses torch's operators."""

    def setup(ctx, inputs, output):
        ctx.save_for_backward(*inputs[:num_tensors])
        ctx.rest = inputs[num_tensors:]

    def backward(ctx, grad):
        found = _gradients(lambda *x: reference(*x, *ctx.rest), ctx.saved_tensors, grad)
        return (*found, *(None for _ in ctx.rest))

    op.register_autograd(backward, setup_context=setup)
    return op


def _define(name):
    return torch.library.custom_op(f"tracea::{name}", mutates_args=())


def _like(x, shape, dtype=None):
    return torch.empty(shape, dtype=dtype or x.dtype, device=x.device)


def _product_type(a):
    return torch.int32 if a.dtype == torch.int8 else a.dtype


# ---- gemm


@_define("gemm")
def _gemm(
    a: Tensor, b: Tensor, bias: Tensor | None, residual: Tensor | None, transpose_a: bool,
    transpose_b: bool, alpha: float, epilogue: str, precision: str,
) -> Tensor:
    return native.gemm(
        a, b, bias, residual=residual, transpose_a=transpose_a, transpose_b=transpose_b,
        alpha=alpha, epilogue=epilogue, precision=precision,
    )


@_gemm.register_fake
def _(a, b, bias, residual, transpose_a, transpose_b, alpha, epilogue, precision):
    batch = a if a.dim() >= b.dim() else b
    m, n = a.shape[-1 if transpose_a else -2], b.shape[-2 if transpose_b else -1]
    return _like(a, (*batch.shape[:-2], m, n), _product_type(a))


def _gemm_reference(a, b, bias, residual, transpose_a, transpose_b, alpha, epilogue, precision):
    y = (a.mT if transpose_a else a) @ (b.mT if transpose_b else b)
    if alpha != 1:
        y = y * alpha
    for added in (bias, residual):
        if added is not None:
            y = y + added
    return _ACTIVATIONS[epilogue](y)


_differentiable(_gemm, _gemm_reference, 4)


def gemm(
    a, b, bias=None, *, residual=None, transpose_a=False, transpose_b=False, alpha=1.0,
    epilogue=None, precision=None,
):
    return _gemm(
        a, b, bias, residual, transpose_a, transpose_b, float(alpha), epilogue or "none",
        precision or "exact",
    )


# ---- linear


@_define("linear")
def _linear(
    x: Tensor, weight: Tensor, bias: Tensor | None, residual: Tensor | None, epilogue: str,
    precision: str,
) -> Tensor:
    return native.linear(
        x, weight, bias, residual=residual, epilogue=epilogue, precision=precision
    )


@_linear.register_fake
def _(x, weight, bias, residual, epilogue, precision):
    return _like(x, (*x.shape[:-1], weight.shape[0]), _product_type(x))


def _linear_reference(x, weight, bias, residual, epilogue, precision):
    y = F.linear(x, weight, bias)
    return _ACTIVATIONS[epilogue](y if residual is None else y + residual)


_differentiable(_linear, _linear_reference, 4)


def linear(x, weight, bias=None, *, residual=None, epilogue=None, precision=None):
    return _linear(x, weight, bias, residual, epilogue or "none", precision or "exact")


# ---- conv2d


def _is_last(x):
    """As the native function sees it: channels innermost, and not row-major as well."""
    return (
        x.dim() == 4
        and not x.is_contiguous()
        and x.is_contiguous(memory_format=torch.channels_last)
    )


@_define("conv2d")
def _conv2d(
    x: Tensor, weight: Tensor, bias: Tensor | None, residual: Tensor | None, stride: list[int],
    padding: list[int], dilation: list[int], groups: int, layout: str, epilogue: str,
    precision: str,
) -> Tensor:
    return native.conv2d(
        x, weight, bias, stride, padding, dilation, groups, layout=layout, residual=residual,
        epilogue=epilogue, precision=precision,
    )


@_conv2d.register_fake
def _(x, weight, bias, residual, stride, padding, dilation, groups, layout, epilogue, precision):
    h = 2 if layout == "nchw" else 1
    size = [
        (x.shape[h + i] + padding[i] + padding[i + 2] - dilation[i] * (weight.shape[h + i] - 1) - 1)
        // stride[i]
        + 1
        for i in range(2)
    ]
    n, k, dtype = x.shape[0], weight.shape[0], _product_type(x)
    if layout == "nhwc":
        return _like(x, (n, *size, k), dtype)
    if _is_last(x) or _is_last(weight):
        return _like(x, (n, *size, k), dtype).permute(0, 3, 1, 2)
    return _like(x, (n, k, *size), dtype)


def _conv2d_reference(
    x, weight, bias, residual, stride, padding, dilation, groups, layout, epilogue, precision
):
    last = layout == "nhwc"
    if last:
        x, weight = x.permute(0, 3, 1, 2), weight.permute(0, 3, 1, 2)
    if padding[:2] != padding[2:]:
        x = F.pad(x, (padding[1], padding[3], padding[0], padding[2]))
        padding = [0, 0]
    y = F.conv2d(x, weight, bias, stride, padding[:2], dilation, groups)
    if last:
        y = y.permute(0, 2, 3, 1)
    return _ACTIVATIONS[epilogue](y if residual is None else y + residual)


_differentiable(_conv2d, _conv2d_reference, 4)


def _pair(value):
    return [value, value] if isinstance(value, int) else [value[0], value[-1]]


def _pads(padding, dilation, taps):
    if padding == "valid":
        return [0, 0, 0, 0]
    if padding == "same":
        total = [d * (t - 1) for d, t in zip(dilation, taps)]
        return [t // 2 for t in total] + [t - t // 2 for t in total]
    if not isinstance(padding, int) and len(padding) == 4:
        return list(padding)
    return _pair(padding) * 2


def conv2d(
    x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, *, layout="nchw",
    residual=None, epilogue=None, precision=None,
):
    dilation = _pair(dilation)
    taps = weight.shape[1:3] if layout == "nhwc" else weight.shape[2:]
    return _conv2d(
        x, weight, bias, residual, _pair(stride), _pads(padding, dilation, taps), dilation, groups,
        layout, epilogue or "none", precision or "exact",
    )


# ---- attention


def _visible(i, j, causal, left, right, device):
    """Which keys a query sees, or None for all."""
    if not causal and left < 0 and right < 0:
        return None
    at = torch.arange(i, device=device)[:, None] + (j - i)
    keys = torch.arange(j, device=device)[None]
    seen = keys <= at if causal else torch.ones((i, j), dtype=torch.bool, device=device)
    if left >= 0:
        seen = seen & (keys >= at - left)
    return seen & (keys <= at + right) if right >= 0 else seen


@_define("attention")
def _attention(
    q: Tensor, k: Tensor, v: Tensor, causal: bool, left: int, right: int, scale: float | None,
    precision: str,
) -> Tensor:
    return native.attention(
        q, k, v, causal=causal, window=(left, right), scale=scale, precision=precision
    )


@_attention.register_fake
def _(q, k, v, causal, left, right, scale, precision):
    return _like(q, (*q.shape[:-1], v.shape[-1]))


def _attention_reference(q, k, v, causal, left, right, scale, precision):
    seen = _visible(q.shape[2], k.shape[2], causal, left, right, q.device)
    return F.scaled_dot_product_attention(
        q, k, v, seen, scale=scale, enable_gqa=bool(q.shape[1] != k.shape[1])
    )


_differentiable(_attention, _attention_reference, 3)


def attention(q, k, v, *, causal=False, window=None, scale=None, precision=None):
    left, right = (-1, -1) if window is None else window
    return _attention(q, k, v, causal, left, right, scale, precision or "exact")


@_define("sdpa")
def _sdpa(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool, scale: float | None,
    gqa: bool,
) -> Tensor:
    """torch's scaled_dot_product_attention: what compiled graphs hold in its place."""
    return _sdpa_reference(q, k, v, mask, causal, scale, gqa).contiguous()


@_sdpa.register_fake
def _(q, k, v, mask, causal, scale, gqa):
    return _like(q, (*q.shape[:-1], v.shape[-1]))


def _sdpa_reference(q, k, v, mask, causal, scale, gqa):
    return F.scaled_dot_product_attention(
        q, k, v, mask, is_causal=causal, scale=scale, enable_gqa=gqa
    )


_differentiable(_sdpa, _sdpa_reference, 4)


# ---- rows


def _row_op(name, native_function, reference):
    @_define(name)
    def op(x: Tensor, dim: int) -> Tensor:
        return native_function(x, dim)

    op.register_fake(lambda x, dim: _like(x, x.shape))
    return _differentiable(op, reference, 1)


_softmax = _row_op("softmax", native.softmax, lambda x, dim: torch.softmax(x, dim))
_log_softmax = _row_op("log_softmax", native.log_softmax, lambda x, dim: torch.log_softmax(x, dim))


def softmax(x, dim=-1):
    return _softmax(x, dim)


def log_softmax(x, dim=-1):
    return _log_softmax(x, dim)


@_define("layer_norm")
def _layer_norm(x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float) -> Tensor:
    return native.layer_norm(x, weight, bias, eps)


@_layer_norm.register_fake
def _(x, weight, bias, eps):
    return _like(x, x.shape)


def _layer_norm_reference(x, weight, bias, eps):
    shaped = weight if weight is not None else bias
    return F.layer_norm(x, x.shape[-1:] if shaped is None else shaped.shape, weight, bias, eps)


_differentiable(_layer_norm, _layer_norm_reference, 3)


def layer_norm(x, weight=None, bias=None, eps=1e-5):
    return _layer_norm(x, weight, bias, eps)


@_define("rms_norm")
def _rms_norm(x: Tensor, weight: Tensor | None, eps: float) -> Tensor:
    return native.rms_norm(x, weight, eps)


@_rms_norm.register_fake
def _(x, weight, eps):
    return _like(x, x.shape)


def _rms_norm_reference(x, weight, eps):
    return F.rms_norm(x, x.shape[-1:] if weight is None else weight.shape, weight, eps)


_differentiable(_rms_norm, _rms_norm_reference, 2)


def rms_norm(x, weight=None, eps=1e-5):
    return _rms_norm(x, weight, eps)


ALL = (_gemm, _linear, _conv2d, _attention, _sdpa, _softmax, _log_softmax, _layer_norm, _rms_norm)


