"""The operators that torch knows: opcheck, and gradients against torch's own."""

import pytest
import torch
import torch.nn.functional as F

from tracea.torch import ops


def r(*shape):
    return torch.randn(*shape, requires_grad=True)


def last(*shape):
    return torch.randn(*shape).to(memory_format=torch.channels_last).requires_grad_()


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
    (ops._softmax, lambda: (r(3, 4, 5), 1)),
    (ops._log_softmax, lambda: (r(3, 4, 5), -1)),
    (ops._layer_norm, lambda: (r(3, 4, 5), r(5), r(5), 1e-5)),
    (ops._rms_norm, lambda: (r(3, 4, 5), r(5), 1e-5)),
]
REFERENCES = {
    "gemm": ops._gemm_reference,
    "linear": ops._linear_reference,
    "conv2d": ops._conv2d_reference,
    "attention": ops._attention_reference,
    "sdpa": ops._sdpa_reference,
    "softmax": torch.softmax,
    "log_softmax": torch.log_softmax,
    "layer_norm": ops._layer_norm_reference,
    "rms_norm": ops._rms_norm_reference,
}
names = [f"{op._opname if hasattr(op, '_opname') else op._name}-{i}" for i, (op, _) in enumerate(SAMPLES)]


def test_every_operator_has_a_sample():
    assert {op._name for op, _ in SAMPLES} == {op._name for op in ops.ALL}


@pytest.mark.parametrize("op, sample", SAMPLES, ids=names)
def test_opcheck(op, sample):
    results = torch.library.opcheck(op, sample())
    assert set(results.values()) == {"SUCCESS"}


@pytest.mark.parametrize("op, sample", SAMPLES, ids=names)
def test_against_torch(op, sample):
    arguments = sample()
    leaves = [a for a in arguments if isinstance(a, torch.Tensor)]
    reference = REFERENCES[op._name]
    wide = [a.detach().double().requires_grad_() if isinstance(a, torch.Tensor) else a for a in arguments]
    found, expected = op(*arguments), reference(*wide)
    torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-4)
    grad = torch.randn_like(found)
    found = torch.autograd.grad(found, leaves, grad)
    expected = torch.autograd.grad(expected, [a for a in wide if isinstance(a, torch.Tensor)], grad.double())
    for a, b in zip(found, expected):
        torch.testing.assert_close(a.double(), b, rtol=1e-3, atol=1e-4)


def test_compiled_by_another_backend():
    x, w = torch.randn(4, 5), torch.randn(3, 5)
    compiled = torch.compile(lambda x, w: ops.linear(x, w) * 2, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x, w), F.linear(x, w) * 2)
