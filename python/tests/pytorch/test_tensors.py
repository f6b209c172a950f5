"""tracea.ops and programs on torch's tensors."""

import threading

import pytest
import torch
import torch.nn.functional as F

import tracea
from tracea import ops


def near(found, expected, tolerance=1e-5):
    torch.testing.assert_close(found.double(), expected.double(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_types(dtype):
    a, b = torch.randn(8, 16).to(dtype), torch.randn(16, 8).to(dtype)
    found = ops.gemm(a, b)
    assert isinstance(found, torch.Tensor) and found.dtype == dtype
    near(found, a.double() @ b.double(), {torch.bfloat16: 0.05, torch.float16: 0.01}.get(dtype, 1e-5))


def test_views_are_taken_as_they_are():
    a, b = torch.randn(3, 20, 6), torch.randn(5, 6)
    near(ops.gemm(a[:, ::2], b.t()), a[:, ::2] @ b.t())
    near(ops.linear(a.transpose(0, 1), b), F.linear(a.transpose(0, 1), b))


def test_channels_last():
    x = torch.randn(2, 4, 6, 6).to(memory_format=torch.channels_last)
    w = torch.randn(8, 4, 3, 3)
    found = ops.conv2d(x, w, padding=1)
    expected = F.conv2d(x, w, padding=1)
    near(found, expected, 1e-4)
    assert found.stride() == expected.stride()


def test_gradients_of_the_native_functions():
    x, w = torch.randn(4, 5, requires_grad=True), torch.randn(3, 5, requires_grad=True)
    ops.linear(x, w, epilogue="silu").square().sum().backward()
    found = x.grad, w.grad
    x.grad = w.grad = None
    F.silu(F.linear(x, w)).square().sum().backward()
    near(found[0], x.grad)
    near(found[1], w.grad)
    with pytest.raises(tracea.Error, match="out: expected none where a gradient is asked for"):
        ops.linear(x, w, out=torch.empty(4, 3))
    with torch.no_grad():
        assert not ops.linear(x, w).requires_grad


def test_parameters_and_bound_constants():
    graph = tracea.Graph()
    x, w = graph.input("x", (None, 6)), graph.input("w", (6, 5), constant=True)
    graph.output(x @ w)
    program, w, x = graph.compile(), torch.nn.Parameter(torch.randn(6, 5)), torch.randn(3, 6)
    near(program.bind(w=w)(x), x @ w)
    near(program.runner()(x), x @ w)


def test_bad_tensors():
    a = torch.ones(2, 2)
    with pytest.raises((RuntimeError, TypeError)):
        ops.gemm(a, torch.ones(2, 2, device="meta"))
    with pytest.raises((RuntimeError, TypeError)):
        ops.gemm(a, torch.ones(2, 2).to_sparse())
    with pytest.raises(tracea.Error, match="b: expected elements of a type that Tracea has, found torch.complex64"):
        ops.gemm(a, torch.ones(2, 2, dtype=torch.complex64))


def test_launch_takes_microseconds():
    import timeit

    a, b, c = (torch.randn(8, 8) for _ in range(3))
    ops.gemm(a, b, out=c)
    best = min(timeit.repeat(lambda: ops.gemm(a, b, out=c), number=2000, repeat=15)) / 2000
    # 3 us on an idle machine; others may be at work on this one.
    assert best < 15e-6


def test_threads():
    a, b, wrong = torch.randn(16, 16), torch.randn(16, 16), []
    expected = a @ b

    def work():
        for _ in range(50):
            if not torch.allclose(ops.gemm(a, b), expected, atol=1e-4):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert not wrong
