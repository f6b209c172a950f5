"""The operators that torch knows: opcheck, and results and gradients against torch's own."""

import pytest
import torch
import torch.nn.functional as F

import tracea
from tracea.torch import gradients, ops, programs

ACTIVATIONS = {
    "none": lambda x: x,
    "relu": torch.relu,
    "relu6": F.relu6,
    "silu": F.silu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
}


def gemm(a, b, bias, residual, transpose_a, transpose_b, alpha, epilogue, precision):
    y = alpha * ((a.mT if transpose_a else a) @ (b.mT if transpose_b else b))
    for added in (bias, residual):
        y = y if added is None else y + added
    return ACTIVATIONS[epilogue](y)


def linear(x, weight, bias, residual, epilogue, precision):
    y = F.linear(x, weight, bias)
    return ACTIVATIONS[epilogue](y if residual is None else y + residual)


def conv2d(x, weight, bias, residual, stride, padding, dilation, groups, layout, epilogue, precision):
    if layout == "nhwc":
        x, weight = x.permute(0, 3, 1, 2), weight.permute(0, 3, 1, 2)
    x = F.pad(x, (padding[1], padding[3], padding[0], padding[2]))
    y = F.conv2d(x, weight, bias, stride, 0, dilation, groups)
    y = y.permute(0, 2, 3, 1) if layout == "nhwc" else y
    return ACTIVATIONS[epilogue](y if residual is None else y + residual)


def attention(q, k, v, causal, left, right, scale, precision):
    i, j = q.shape[2], k.shape[2]
    at, keys = torch.arange(i)[:, None] + (j - i), torch.arange(j)[None]
    seen = keys <= at if causal else torch.ones(i, j, dtype=torch.bool)
    seen = seen & (keys >= at - left) if left >= 0 else seen
    seen = seen & (keys <= at + right) if right >= 0 else seen
    return F.scaled_dot_product_attention(q, k, v, seen, scale=scale, enable_gqa=q.shape[1] != k.shape[1])


def sdpa(q, k, v, mask, causal, scale, gqa):
    return F.scaled_dot_product_attention(
        q, k, v, mask, is_causal=causal, scale=scale, enable_gqa=gqa)


def layer_norm(x, weight, bias, eps):
    shaped = weight if weight is not None else bias
    return F.layer_norm(x, x.shape[-1:] if shaped is None else shaped.shape, weight, bias, eps)


def rms_norm(x, weight, eps):
    return F.rms_norm(x, x.shape[-1:] if weight is None else weight.shape, weight, eps)


def r(*shape):
    return torch.randn(*shape, requires_grad=True)


def p(*shape):
    return torch.randn(*shape)


def last(*shape):
    return torch.randn(*shape).to(memory_format=torch.channels_last).requires_grad_()


HALF = torch.zeros(5, 7).masked_fill(torch.rand(5, 7, generator=torch.Generator().manual_seed(1)) < 0.4, float("-inf"))
SEEN = torch.rand(5, 7, generator=torch.Generator().manual_seed(2)) < 0.5
SEEN[2] = False

SAMPLES = [
    (ops._gemm, lambda: (r(3, 4), r(4, 5), r(5), None, False, False, 1.0, "relu", "exact")),
    (ops._gemm, lambda: (r(2, 4, 3), r(5, 4), None, r(2, 3, 5), True, True, 0.5, "none", "exact")),
    (ops._linear, lambda: (r(2, 3, 4), r(5, 4), r(5), None, "gelu", "exact")),
    (ops._conv2d, lambda: (r(2, 4, 7, 7), r(6, 2, 3, 3), r(6), None, [1, 2], [1, 0, 1, 2], [1, 1], 2,
                           "nchw", "silu", "exact")),
    (ops._conv2d, lambda: (last(2, 4, 7, 7), r(6, 4, 3, 3), None, None, [1, 1], [1] * 4, [1, 1], 1,
                           "nchw", "none", "exact")),
    (ops._conv2d, lambda: (r(2, 7, 7, 4), r(6, 3, 3, 4), None, None, [2, 2], [1] * 4, [2, 2], 1,
                           "nhwc", "none", "exact")),
    (ops._attention, lambda: (r(1, 4, 5, 8), r(1, 2, 7, 8), r(1, 2, 7, 8), True, -1, -1, None, "exact")),
    (ops._attention, lambda: (r(1, 2, 5, 8), r(1, 2, 5, 8), r(1, 2, 5, 8), False, 2, 1, 0.3, "exact")),
    (ops._sdpa, lambda: (r(1, 2, 5, 8), r(1, 2, 5, 8), r(1, 2, 5, 8), None, True, None, False)),
    (ops._sdpa_with_sums, lambda: (r(1, 4, 5, 8), r(1, 2, 7, 8), r(1, 2, 7, 6), False, 0.3, True)),
    (ops._sdpa_with_sums, lambda: (r(1, 2, 5, 8), r(1, 2, 5, 8), r(1, 2, 5, 8), True, None, False)),
    (ops._softmax, lambda: (r(3, 4, 5), 1)),
    (ops._log_softmax, lambda: (r(3, 4, 5), -1)),
    (ops._layer_norm, lambda: (r(3, 4, 5), r(5), r(5), 1e-5)),
    (ops._rms_norm, lambda: (r(3, 4, 5), r(5), 1e-5)),
    # Shared and absent factors, other functions, odd sizes.
    (ops._gemm, lambda: (r(2, 3, 4), r(4, 5), r(5), None, False, False, 2.0, "gelu", "exact")),
    (ops._gemm, lambda: (r(3, 4), r(2, 4, 5), None, None, False, False, 1.0, "tanh", "exact")),
    (ops._gemm, lambda: (r(7, 1), r(1, 3), None, r(7, 3), False, False, 1.0, "sigmoid", "exact")),
    (ops._linear, lambda: (r(4), r(5, 4), None, r(5), "relu6", "exact")),
    (ops._linear, lambda: (r(6, 4), r(5, 4), r(5), None, "gelu_tanh", "exact")),
    (ops._conv2d, lambda: (r(2, 4, 6, 5), r(4, 1, 3, 2), r(4), r(2, 4, 4, 2), [1, 2], [0, 0, 0, 0], [1, 1],
                           4, "nchw", "relu", "exact")),
    (ops._attention, lambda: (r(2, 4, 5, 8), r(2, 2, 7, 8), r(2, 2, 7, 6), True, 3, -1, 0.5, "exact")),
    (ops._sdpa, lambda: (r(1, 4, 5, 8), r(1, 2, 7, 8), r(1, 2, 7, 8), SEEN, False, None, True)),
    (ops._sdpa, lambda: (r(1, 2, 5, 8), r(1, 2, 7, 8), r(1, 2, 7, 8), HALF, False, 0.3, False)),
    (ops._sdpa, lambda: (r(1, 2, 5, 8), r(1, 2, 7, 8), r(1, 2, 7, 8), r(5, 7), False, None, False)),
    (ops._layer_norm, lambda: (r(3, 4, 5), r(4, 5), None, 1e-3)),
    (ops._layer_norm, lambda: (r(7, 5), None, None, 1e-5)),
    (ops._rms_norm, lambda: (r(3, 4, 5), None, 1e-3)),
]
REFERENCES = {
    "gemm": gemm,
    "linear": linear,
    "conv2d": conv2d,
    "attention": attention,
    "sdpa": sdpa,
    "sdpa_with_sums": lambda q, k, v, causal, scale, gqa: sdpa(q, k, v, None, causal, scale, gqa),
    "softmax": torch.softmax,
    "log_softmax": torch.log_softmax,
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
}
# Their results are gradients of what is above; here it is how torch sees them.
BACKWARD = [
    (gradients.conv2d_dgrad, lambda: (p(2, 6, 7, 4), p(6, 2, 3, 3), [4, 7, 7], [1, 2], [1, 0, 1, 2], [1, 1], 2,
                                      "nchw")),
    (gradients.conv2d_wgrad, lambda: (p(2, 4, 7, 7), p(2, 6, 7, 4), [6, 2, 3, 3], [1, 2], [1, 0, 1, 2], [1, 1],
                                      2, "nchw")),
    (gradients.conv2d_dgrad, lambda: (last(2, 6, 7, 7), p(6, 4, 3, 3), [4, 7, 7], [1, 1], [1] * 4, [1, 1], 1,
                                      "nchw")),
    (gradients.conv2d_wgrad, lambda: (p(2, 7, 7, 4), r(2, 7, 7, 6), [6, 3, 3, 4], [1, 1], [1] * 4, [1, 1], 1,
                                      "nhwc")),
    (gradients.softmax_backward, lambda: (p(3, 4), p(3, 4), 0)),
    (gradients.log_softmax_backward, lambda: (p(3, 4), p(3, 4), 1)),
    (gradients.layer_norm_backward, lambda: (p(3, 4), p(3, 4), None, 1e-5, 1)),
    (gradients.rms_norm_backward, lambda: (p(3, 4), p(3, 4), p(4), 1e-5, 1)),
    (gradients.attention_backward, lambda: (p(1, 4, 5, 8), p(1, 4, 5, 8), p(1, 2, 7, 8), p(1, 2, 7, 8), None,
                                            True, -1, -1, None)),
    (gradients.attention_gradients, lambda: (p(1, 4, 5, 6), p(1, 4, 5, 8), p(1, 2, 7, 8), p(1, 2, 7, 6),
                                             p(1, 4, 5, 6), p(1, 4, 5), True, 3, -1, 0.5)),
]


def label(samples):
    return [f"{op._name}-{i}" for i, (op, _) in enumerate(samples)]


names = label(SAMPLES)


def test_every_operator_has_a_sample():
    assert {op._name for op, _ in SAMPLES + BACKWARD} == {op._name for op in ops.ALL}


@pytest.mark.parametrize("op, sample", BACKWARD, ids=label(BACKWARD))
def test_opcheck_of_gradients(op, sample):
    results = torch.library.opcheck(op, sample())
    assert set(results.values()) == {"SUCCESS"}


@pytest.mark.parametrize("op, sample", SAMPLES, ids=names)
def test_opcheck(op, sample):
    results = torch.library.opcheck(op, sample())
    assert set(results.values()) == {"SUCCESS"}


def widened(a):
    if not isinstance(a, torch.Tensor) or not a.is_floating_point():
        return a
    return a.detach().double().requires_grad_(a.requires_grad)


@pytest.mark.parametrize("op, sample", SAMPLES, ids=names)
def test_against_torch(op, sample):
    arguments = sample()
    leaves = [a for a in arguments if isinstance(a, torch.Tensor)]
    reference = REFERENCES[op._name]
    wide = [widened(a) for a in arguments]
    found, expected = op(*arguments), reference(*wide)
    found = found[0] if isinstance(found, tuple) else found
    torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-4)
    grad = torch.randn_like(found)
    leaves = [x for x in leaves if x.requires_grad]
    found = torch.autograd.grad(found, leaves, grad)
    expected = torch.autograd.grad(expected, [w for w, a in zip(wide, arguments) if isinstance(a, torch.Tensor) and a.requires_grad], grad.double())
    for a, b in zip(found, expected):
        torch.testing.assert_close(a.double(), b, rtol=1e-3, atol=1e-4)


def test_compiled_by_another_backend():
    x, w = torch.randn(4, 5), torch.randn(3, 5)
    compiled = torch.compile(lambda x, w: ops.linear(x, w) * 2, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x, w), F.linear(x, w) * 2)


def test_gradients_of_any_size_are_two_programs():
    """The second program of an operator takes any number of rows."""
    programs._programs.clear()
    programs._families.clear()
    op = torch.ops.tracea.softmax_backward.default
    for rows in (3, 5, 7, 2, 1):
        y = torch.softmax(torch.randn(rows, 6), 1)
        grad = torch.randn(rows, 6)
        found = programs.run(op, grad, y, 1)
        torch.testing.assert_close(found, torch._softmax_backward_data(grad, y, 1, torch.float32))
    (known, _), = programs._families.values()
    # A single row is a size that symbols do not stand for.
    assert [p for p, _ in known] == [[[3, 6]] * 2, [["s0", 6]] * 2, [[1, 6]] * 2] or len(known) == 3


def test_gradients_are_programs_of_ours():
    x, w = torch.randn(3, 6, requires_grad=True), torch.randn(6, requires_grad=True)
    programs._programs.clear()
    tracea.ops.layer_norm(x, w).square().sum().backward()
    assert [key[0] for key in programs._programs] == [torch.ops.tracea.layer_norm_backward.default]


def d(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


SECOND = {
    "gemm": lambda a, b, c: ops.gemm(a, b, c, epilogue="silu", alpha=0.5),
    "gemm of a batch": lambda a, b, c: ops.gemm(a.expand(2, 3, 4), b, c, epilogue="tanh"),
    "linear": lambda a, b, c: ops.linear(a, b.mT, c, epilogue="gelu"),
}


@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives_of_products(name):
    given = (d(3, 4), d(4, 5), d(5))
    assert torch.autograd.gradcheck(SECOND[name], given)
    assert torch.autograd.gradgradcheck(SECOND[name], given)


@pytest.mark.parametrize("numbers, layout", [
    ((1, 1, 1, 1), "nchw"), (((1, 2), (0, 1, 1, 0), 1, 2), "nchw"), ((2, 1, 2, 1), "nhwc"),
])
def test_second_derivatives_of_convolutions(numbers, layout):
    x, w = d(2, 4, 5, 4), d(4, 4 // numbers[-1], 3, 2)
    if layout == "nhwc":
        x, w = (a.detach().permute(0, 2, 3, 1).contiguous().requires_grad_() for a in (x, w))

    def function(x, w, bias):
        return ops.conv2d(x, w, bias, *numbers, layout=layout, epilogue="silu")

    assert torch.autograd.gradcheck(function, (x, w, d(4)))
    assert torch.autograd.gradgradcheck(function, (x, w, d(4)))


def test_derivatives_of_gradients():
    """tracea.ops gives torch's operators where a gradient is asked for."""
    grad, x, w = d(1, 3, 4, 4), d(1, 2, 4, 4), d(3, 2, 3, 3)
    assert torch.autograd.gradcheck(
        lambda g, w: tracea.ops.conv2d_dgrad(g, w, (1, 2, 4, 4), padding=1), (grad, w))
    assert torch.autograd.gradcheck(
        lambda x, g: tracea.ops.conv2d_wgrad(x, g, (3, 2, 3, 3), padding="same"), (x, grad))


ONCE = {
    "softmax_backward": lambda x: ops.softmax(x),
    "log_softmax_backward": lambda x: ops.log_softmax(x),
    "layer_norm_backward": lambda x: ops.layer_norm(x),
    "rms_norm_backward": lambda x: ops.rms_norm(x),
    "attention_gradients": lambda x: torch.ops.tracea.sdpa_with_sums(
        x[None, None], x[None, None], x[None, None], True, None, False)[0],
    "attention_backward": lambda x: ops.attention(x[None, None], x[None, None], x[None, None]),
}


@pytest.mark.parametrize("name", ONCE)
def test_what_has_no_second_derivative_says_so(name):
    x = r(3, 4)
    first, = torch.autograd.grad(ONCE[name](x).square().sum(), x, create_graph=True)
    with pytest.raises(tracea.Error, match=f"tracea::{name}: expected a first derivative") as error:
        torch.autograd.grad(first.sum(), x)
    assert error.value.status == tracea.Status.UNSUPPORTED_CONFIG


def test_repeated_gradients():
    """What a sum gives to its operands has strides of 0."""
    x, w = r(2, 4, 5, 5), r(3, 4, 3, 3)
    ops.conv2d(x, w).sum().backward()
    found = x.grad, w.grad
    x.grad = w.grad = None
    F.conv2d(x, w).sum().backward()
    for a, b in zip(found, (x.grad, w.grad)):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)
