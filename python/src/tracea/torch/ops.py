"""tracea.ops as operators of torch: `torch.ops.tracea.*`, with fake kernels and gradients.

What torch.compile, autograd and torch.export see. The functions here have the arguments of
`tracea.ops`; those call them where a gradient is asked for.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from .. import ops as native
from . import gradients
from .define import define, like, like_image
from .gradients import sum_to, through_epilogue

def _differentiable(op, backward, *, result=False, tensors=1):
    """Registers a backward: backward(ctx, grad, tensors …, rest …) gives the gradients of the
    operator's first arguments, `tensors` in number. With `result`, the operator's result is the
    last of those tensors."""

    def setup(ctx, inputs, output):
        kept = [*inputs[:tensors], output] if result else inputs[:tensors]
        ctx.save_for_backward(*kept)
        ctx.rest = inputs[tensors:]

    def run(ctx, grad):
        found = backward(ctx, grad, *ctx.saved_tensors, *ctx.rest)
        return (*found, *(None for _ in ctx.rest))

    op.register_autograd(run, setup_context=setup)
    return op


def _product_type(a):
    return torch.int32 if a.dtype == torch.int8 else a.dtype


# ---- gemm


@define("gemm")
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
    return like(a, (*batch.shape[:-2], m, n), _product_type(a))


def _mT(x, transposed):
    return x.mT if transposed else x


def _matmul(a, b, alpha=1.0):
    """By our kernel; views of transposed factors are read as they lie."""
    return _gemm(a, b, None, None, False, False, alpha, "none", "exact")


def _gemm_backward(
    ctx, grad, a, b, bias, residual, y, transpose_a, transpose_b, alpha, epilogue, precision
):
    def sums():
        return _gemm(a, b, bias, residual, transpose_a, transpose_b, alpha, "none", precision)

    grad = through_epilogue(epilogue, grad, y, sums)
    left, right = _mT(a, transpose_a), _mT(b, transpose_b)
    needs = ctx.needs_input_grad
    by_a = by_b = None
    if needs[0]:
        by_a = _mT(sum_to(_matmul(grad, right.mT, alpha), left), transpose_a)
    if needs[1]:
        if b.dim() < grad.dim():
            # One factor of all products of the batch: rows are rows.
            by_b = _matmul(
                left.reshape(-1, left.shape[-1]).mT, grad.reshape(-1, grad.shape[-1]), alpha
            )
        else:
            by_b = _matmul(left.mT, grad, alpha)
        by_b = _mT(sum_to(by_b, right), transpose_b)
    return (
        by_a, by_b, sum_to(grad, bias) if needs[2] else None,
        sum_to(grad, residual) if needs[3] else None,
    )


_differentiable(_gemm, _gemm_backward, result=True, tensors=4)


def gemm(
    a, b, bias=None, *, residual=None, transpose_a=False, transpose_b=False, alpha=1.0,
    epilogue=None, precision=None,
):
    return _gemm(
        a, b, bias, residual, transpose_a, transpose_b, float(alpha), epilogue or "none",
        precision or "exact",
    )


# ---- linear


@define("linear")
def _linear(
    x: Tensor, weight: Tensor, bias: Tensor | None, residual: Tensor | None, epilogue: str,
    precision: str,
) -> Tensor:
    return native.linear(
        x, weight, bias, residual=residual, epilogue=epilogue, precision=precision
    )


@_linear.register_fake
def _(x, weight, bias, residual, epilogue, precision):
    return like(x, (*x.shape[:-1], weight.shape[0]), _product_type(x))


def _linear_backward(ctx, grad, x, weight, bias, residual, y, epilogue, precision):
    grad = through_epilogue(
        epilogue, grad, y, lambda: _linear(x, weight, bias, residual, "none", precision)
    )
    needs = ctx.needs_input_grad
    rows = grad.reshape(-1, grad.shape[-1])
    return (
        _matmul(rows, weight).reshape(x.shape) if needs[0] else None,
        _matmul(rows.mT, x.reshape(-1, x.shape[-1])) if needs[1] else None,
        sum_to(grad, bias) if needs[2] else None,
        grad if needs[3] else None,
    )


_differentiable(_linear, _linear_backward, result=True, tensors=4)


def linear(x, weight, bias=None, *, residual=None, epilogue=None, precision=None):
    return _linear(x, weight, bias, residual, epilogue or "none", precision or "exact")


# ---- conv2d


@define("conv2d")
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
    n, k = x.shape[0], weight.shape[0]
    shape = (n, *size, k) if layout == "nhwc" else (n, k, *size)
    return like_image(x, shape, layout, (x, weight), _product_type(x))


def _conv2d_backward(
    ctx, grad, x, weight, bias, residual, y, stride, padding, dilation, groups, layout, epilogue,
    precision,
):
    numbers = (stride, padding, dilation, groups, layout)
    grad = through_epilogue(
        epilogue, grad, y,
        lambda: _conv2d(x, weight, bias, residual, *numbers, "none", precision),
    )
    needs = ctx.needs_input_grad
    channels = 1 if layout == "nchw" else 3
    return (
        gradients.conv2d_dgrad(grad, weight, x.shape[1:], *numbers, precision) if needs[0] else None,
        gradients.conv2d_wgrad(x, grad, weight.shape, *numbers, precision) if needs[1] else None,
        grad.sum([i for i in range(4) if i != channels]) if needs[2] else None,
        grad if needs[3] else None,
    )


_differentiable(_conv2d, _conv2d_backward, result=True, tensors=4)


# Each of the three is linear in both of its tensors, and has the other two as derivatives.


def _dgrad_backward(ctx, found, grad, weight, shape, *numbers):
    *geometry, precision = numbers
    needs = ctx.needs_input_grad
    return (
        _conv2d(found, weight, None, None, *geometry, "none", precision) if needs[0] else None,
        gradients.conv2d_wgrad(found, grad, weight.shape, *numbers) if needs[1] else None,
    )


def _wgrad_backward(ctx, found, x, grad, shape, *numbers):
    *geometry, precision = numbers
    needs = ctx.needs_input_grad
    return (
        gradients.conv2d_dgrad(grad, found, x.shape[1:], *numbers) if needs[0] else None,
        _conv2d(x, found, None, None, *geometry, "none", precision) if needs[1] else None,
    )


_differentiable(gradients.conv2d_dgrad, _dgrad_backward, tensors=2)
_differentiable(gradients.conv2d_wgrad, _wgrad_backward, tensors=2)


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


def _gradient_numbers(stride, padding, dilation, groups, layout, taps, precision):
    dilation = _pair(dilation)
    taps = taps[1:3] if layout == "nhwc" else taps[2:]
    return (
        _pair(stride), _pads(padding, dilation, taps), dilation, groups, layout,
        precision or "exact",
    )


def conv2d_dgrad(
    grad, weight, shape, stride=1, padding=0, dilation=1, groups=1, *, layout="nchw",
    precision=None,
):
    numbers = _gradient_numbers(stride, padding, dilation, groups, layout, weight.shape, precision)
    return gradients.conv2d_dgrad(grad, weight, list(shape[1:]), *numbers)


def conv2d_wgrad(
    x, grad, shape, stride=1, padding=0, dilation=1, groups=1, *, layout="nchw", precision=None
):
    numbers = _gradient_numbers(stride, padding, dilation, groups, layout, shape, precision)
    return gradients.conv2d_wgrad(x, grad, list(shape), *numbers)


# ---- attention


@define("attention")
def _attention(
    q: Tensor, k: Tensor, v: Tensor, causal: bool, left: int, right: int, scale: float | None,
    precision: str,
) -> Tensor:
    return native.attention(
        q, k, v, causal=causal, window=(left, right), scale=scale, precision=precision
    )


@_attention.register_fake
def _(q, k, v, causal, left, right, scale, precision):
    return like(q, (*q.shape[:-1], v.shape[-1]))


def _attention_backward(ctx, grad, q, k, v, causal, left, right, scale, precision):
    return gradients.attention_backward(grad, q, k, v, None, causal, left, right, scale)


_differentiable(_attention, _attention_backward, tensors=3)


def attention(q, k, v, *, causal=False, window=None, scale=None, precision=None):
    left, right = (-1, -1) if window is None else window
    return _attention(q, k, v, causal, left, right, scale, precision or "exact")


@define("sdpa")
def _sdpa(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool, scale: float | None,
    gqa: bool,
) -> Tensor:
    """torch's scaled_dot_product_attention: what compiled graphs hold in its place."""
    return _sdpa_reference(q, k, v, mask, causal, scale, gqa).contiguous()


@_sdpa.register_fake
def _(q, k, v, mask, causal, scale, gqa):
    return like(q, (*q.shape[:-1], v.shape[-1]))


def _sdpa_reference(q, k, v, mask, causal, scale, gqa):
    return F.scaled_dot_product_attention(
        q, k, v, mask, is_causal=causal, scale=scale, enable_gqa=gqa
    )


def _sdpa_backward(ctx, grad, q, k, v, mask, causal, scale, gqa):
    if mask is None or not ctx.needs_input_grad[3]:
        return *gradients.attention_backward(grad, q, k, v, mask, causal, -1, -1, scale), None
    # By a mask that learns: torch's operators, from the forward's inputs.
    with torch.enable_grad():
        leaves = [x.detach().requires_grad_() for x in (q, k, v, mask)]
        return torch.autograd.grad(_sdpa_reference(*leaves, causal, scale, gqa), leaves, grad)


_differentiable(_sdpa, _sdpa_backward, tensors=4)


@define("sdpa_with_sums")
def _sdpa_with_sums(
    q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float | None, gqa: bool
) -> tuple[Tensor, Tensor]:
    """The same without a mask, and the logarithms of each query's sum of exponentials, from which
    the gradients make the weights again. Heads of the result lie behind queries, as what follows
    wants to see them."""
    key = k.repeat_interleave(q.shape[1] // k.shape[1], 1) if gqa else k
    scores = q.float() @ key.float().mT * (q.shape[-1] ** -0.5 if scale is None else scale)
    if causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril()
        scores = scores.masked_fill(~seen, float("-inf"))
    y = _sdpa_reference(q, k, v, None, causal, scale, gqa)
    return y.transpose(1, 2).contiguous().transpose(1, 2), scores.logsumexp(-1)


@_sdpa_with_sums.register_fake
def _(q, k, v, causal, scale, gqa):
    b, h, i, _ = q.shape
    return like(q, (b, i, h, v.shape[-1])).transpose(1, 2), like(q, (b, h, i), torch.float32)


def _keep_sums(ctx, inputs, output):
    q, k, v, ctx.causal, ctx.scale, _ = inputs
    ctx.save_for_backward(q, k, v, *output)
    ctx.mark_non_differentiable(output[1])


def _sdpa_with_sums_backward(ctx, grad, _):
    found = gradients.attention_gradients(grad, *ctx.saved_tensors, ctx.causal, -1, -1, ctx.scale)
    return *found, None, None, None


_sdpa_with_sums.register_autograd(_sdpa_with_sums_backward, setup_context=_keep_sums)


# ---- rows


def _row_op(name, native_function, backward):
    @define(name)
    def op(x: Tensor, dim: int) -> Tensor:
        return native_function(x, dim)

    op.register_fake(lambda x, dim: like(x, x.shape))
    return _differentiable(op, lambda ctx, grad, x, y, dim: (backward(grad, y, dim),), result=True)


_softmax = _row_op("softmax", native.softmax, gradients.softmax_backward)
_log_softmax = _row_op("log_softmax", native.log_softmax, gradients.log_softmax_backward)


def softmax(x, dim=-1):
    return _softmax(x, dim)


def log_softmax(x, dim=-1):
    return _log_softmax(x, dim)


@define("layer_norm")
def _layer_norm(x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float) -> Tensor:
    return native.layer_norm(x, weight, bias, eps)


@_layer_norm.register_fake
def _(x, weight, bias, eps):
    return like(x, x.shape)


def _layer_norm_backward(ctx, grad, x, weight, bias, eps):
    shaped = weight if weight is not None else bias
    found = gradients.layer_norm_backward(
        grad, x, weight, eps, 1 if shaped is None else shaped.dim()
    )
    return [g if needed else None for g, needed in zip(found, ctx.needs_input_grad)]


_differentiable(_layer_norm, _layer_norm_backward, tensors=3)


def layer_norm(x, weight=None, bias=None, eps=1e-5):
    return _layer_norm(x, weight, bias, eps)


@define("rms_norm")
def _rms_norm(x: Tensor, weight: Tensor | None, eps: float) -> Tensor:
    return native.rms_norm(x, weight, eps)


@_rms_norm.register_fake
def _(x, weight, eps):
    return like(x, x.shape)


def _rms_norm_backward(ctx, grad, x, weight, eps):
    found = gradients.rms_norm_backward(grad, x, weight, eps, 1 if weight is None else weight.dim())
    return [g if needed else None for g, needed in zip(found, ctx.needs_input_grad)]


_differentiable(_rms_norm, _rms_norm_backward, tensors=2)


def rms_norm(x, weight=None, eps=1e-5):
    return _rms_norm(x, weight, eps)


ALL = (
    _gemm, _linear, _conv2d, _attention, _sdpa, _sdpa_with_sums, _softmax, _log_softmax, _layer_norm, _rms_norm,
    *gradients.ALL,
)


