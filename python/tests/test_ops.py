"""tracea.ops on NumPy's arrays, against float64."""

import threading

import numpy as np
import pytest

import tracea
from tracea import ops

ACTIVATIONS = {
    "none": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "gelu_tanh": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
}


def near(found, expected, tolerance=1e-5):
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def wide(x):
    return np.asarray(x, np.float64)


@pytest.mark.parametrize("epilogue", ACTIVATIONS)
def test_gemm(rng, epilogue):
    a, b = rng.standard_normal((9, 5), "f"), rng.standard_normal((5, 7), "f")
    bias, residual = rng.standard_normal(7, "f"), rng.standard_normal((9, 7), "f")
    found = ops.gemm(a, b, bias, residual=residual, alpha=0.5, epilogue=epilogue)
    assert isinstance(found, np.ndarray) and found.dtype == np.float32
    near(found, ACTIVATIONS[epilogue](0.5 * wide(a) @ b + bias + residual))


def test_gemm_transposed_and_batched(rng):
    a, b = rng.standard_normal((2, 3, 5, 9), "f"), rng.standard_normal((7, 5), "f")
    near(ops.gemm(a, b, transpose_a=True, transpose_b=True), wide(a).swapaxes(-1, -2) @ b.T)
    near(ops.gemm(a.swapaxes(-1, -2), b.T), wide(a).swapaxes(-1, -2) @ b.T)


def test_gemm_int8(rng):
    a = rng.integers(-100, 100, (4, 6), np.int8)
    b = rng.integers(-100, 100, (6, 3), np.int8)
    found = ops.gemm(a, b)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, a.astype(int) @ b)


def test_out_is_written_and_returned(rng):
    a, b = rng.standard_normal((4, 6), "f"), rng.standard_normal((6, 3), "f")
    whole = np.full((4, 6), 5, "f")
    part = whole[:, 1:4]
    assert ops.gemm(a, b, out=part) is part
    near(part, wide(a) @ b)
    assert (whole[:, [0, 4, 5]] == 5).all()


@pytest.mark.parametrize("shape", [(5,), (4, 5), (2, 3, 5), (2, 3, 4, 5), (0, 5)])
def test_linear(rng, shape):
    x, w = rng.standard_normal(shape, "f"), rng.standard_normal((7, 5), "f")
    bias = rng.standard_normal(7, "f")
    near(ops.linear(x, w, bias, epilogue="relu"), np.maximum(wide(x) @ w.T + bias, 0))


def test_linear_of_rows_apart(rng):
    x, w = rng.standard_normal((4, 6, 5), "f"), rng.standard_normal((3, 5), "f")
    near(ops.linear(x[:, ::2], w), wide(x[:, ::2]) @ w.T)
    near(ops.linear(x.transpose(1, 0, 2), w), wide(x.transpose(1, 0, 2)) @ w.T)


def convolve(x, w, stride, pads, dilation, groups):
    x = np.pad(wide(x), ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    n, c, h, wide_ = x.shape
    k, cg, r, s = w.shape
    p = (h - dilation * (r - 1) - 1) // stride + 1
    q = (wide_ - dilation * (s - 1) - 1) // stride + 1
    out = np.zeros((n, k, p, q))
    for i in range(r):
        for j in range(s):
            top, left = i * dilation, j * dilation
            part = x[:, :, top : top + (p - 1) * stride + 1 : stride,
                     left : left + (q - 1) * stride + 1 : stride]
            for g in range(groups):
                ks = slice(g * k // groups, (g + 1) * k // groups)
                out[:, ks] += np.einsum("ncpq,kc->nkpq", part[:, g * cg : (g + 1) * cg], w[ks, :, i, j])
    return out


@pytest.mark.parametrize("groups", [1, 2, 6])
@pytest.mark.parametrize("stride,padding,dilation", [(1, 1, 1), (2, (0, 2), 1), (1, (0, 1, 2, 3), 2)])
def test_conv2d(rng, stride, padding, dilation, groups):
    x = rng.standard_normal((2, 6, 9, 8), "f")
    w, bias = rng.standard_normal((12, 6 // groups, 3, 3), "f"), rng.standard_normal(12, "f")
    pads = (padding,) * 4 if isinstance(padding, int) else padding if len(padding) == 4 else padding * 2
    expected = convolve(x, w, stride, pads, dilation, groups) + bias[:, None, None]
    near(ops.conv2d(x, w, bias, stride, padding, dilation, groups), expected, 1e-4)
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    found = ops.conv2d(last.transpose(0, 3, 1, 2), w, bias, stride, padding, dilation, groups)
    near(found, expected, 1e-4)
    assert found.transpose(0, 2, 3, 1).flags.c_contiguous
    found = ops.conv2d(last, np.ascontiguousarray(w.transpose(0, 2, 3, 1)), bias, stride, padding,
                       dilation, groups, layout="nhwc")
    near(found, expected.transpose(0, 2, 3, 1), 1e-4)


def gradients_of_convolve(x, w, grad, *numbers):
    """Of a function that is linear in each of its arguments: by a basis of them."""
    def by(argument, function):
        found = np.zeros(argument.shape)
        for i in np.ndindex(argument.shape):
            unit = np.zeros(argument.shape)
            unit[i] = 1
            found[i] = (function(unit) * grad).sum()
        return found

    return by(x, lambda x: convolve(x, w, *numbers)), by(w, lambda w: convolve(x, w, *numbers))


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("stride,padding,dilation", [(1, 1, 1), (2, (0, 2), 1), (1, (0, 1, 2, 3), 2)])
def test_conv2d_gradients(rng, stride, padding, dilation, groups):
    x, w = rng.standard_normal((2, 2, 6, 5), "f"), rng.standard_normal((4, 2 // groups, 3, 2), "f")
    pads = (padding,) * 4 if isinstance(padding, int) else padding if len(padding) == 4 else padding * 2
    numbers = (stride, pads, dilation, groups)
    grad = rng.standard_normal(convolve(x, w, *numbers).shape, "f")
    by_x, by_w = gradients_of_convolve(x, w, grad, *numbers)
    numbers = (stride, padding, dilation, groups)
    near(ops.conv2d_dgrad(grad, w, x.shape, *numbers), by_x, 1e-4)
    near(ops.conv2d_wgrad(x, grad, w.shape, *numbers), by_w, 1e-4)

    def last(a):
        return np.ascontiguousarray(a.transpose(0, 2, 3, 1))

    # Channels innermost in memory stay there, under whichever name.
    found = ops.conv2d_dgrad(last(grad).transpose(0, 3, 1, 2), w, x.shape, *numbers)
    near(found, by_x, 1e-4)
    assert found.transpose(0, 2, 3, 1).flags.c_contiguous
    out = np.empty(last(w).shape, "f")
    found = ops.conv2d_wgrad(last(x), last(grad), out.shape, *numbers, layout="nhwc", out=out)
    assert found is out
    near(found, last(by_w), 1e-4)


def test_conv2d_gradients_same(rng):
    x, w = rng.standard_normal((1, 2, 5, 4), "f"), rng.standard_normal((3, 2, 4, 3), "f")
    grad = rng.standard_normal((1, 3, 5, 4), "f")
    by_x, by_w = gradients_of_convolve(x, w, grad, 1, (1, 1, 2, 1), 1, 1)
    near(ops.conv2d_dgrad(grad, w, x.shape, padding="same"), by_x, 1e-4)
    near(ops.conv2d_wgrad(x, grad, w.shape, padding="same"), by_w, 1e-4)


def test_conv2d_same(rng):
    x, w = rng.standard_normal((1, 2, 7, 7), "f"), rng.standard_normal((3, 2, 4, 3), "f")
    near(ops.conv2d(x, w, padding="same"), convolve(x, w, 1, (1, 1, 2, 1), 1, 1), 1e-4)
    with pytest.raises(tracea.Error, match="'same' needs strides of 1"):
        ops.conv2d(x, w, padding="same", stride=2)


@pytest.mark.parametrize("causal", [False, True])
def test_attention(rng, causal):
    q = rng.standard_normal((2, 4, 5, 8), "f")
    k, v = rng.standard_normal((2, 2, 7, 8), "f"), rng.standard_normal((2, 2, 7, 6), "f")
    scores = wide(q) @ wide(k).repeat(2, 1).swapaxes(-1, -2) * 0.3
    if causal:
        scores = np.where(np.tri(5, 7, 2, bool), scores, -np.inf)
    peak = scores.max(-1, keepdims=True)
    weights = np.exp(scores - peak)
    total = weights.sum(-1, keepdims=True)
    found, lse = ops.attention(q, k, v, causal=causal, scale=0.3, return_lse=True)
    near(found, weights / total @ v.repeat(2, 1))
    near(lse, (np.log(total) + peak)[..., 0])


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_softmax(rng, dim):
    x = 50 * rng.standard_normal((3, 4, 5), "f")
    e = np.exp(wide(x) - x.max(dim, keepdims=True))
    e /= e.sum(dim, keepdims=True)
    near(ops.softmax(x, dim), e)
    near(ops.log_softmax(x, dim), wide(x) - x.max(dim, keepdims=True)
         - np.log(np.exp(wide(x) - x.max(dim, keepdims=True)).sum(dim, keepdims=True)), 1e-4)


def test_norms(rng):
    x, w, b = (rng.standard_normal(s, "f") for s in [(3, 4, 6), (4, 6), (4, 6)])
    centred = wide(x) - wide(x).mean((1, 2), keepdims=True)
    near(ops.layer_norm(x, w, b), centred / np.sqrt((centred**2).mean((1, 2), keepdims=True) + 1e-5) * w + b)
    near(ops.rms_norm(x, eps=1e-3), x / np.sqrt((wide(x) ** 2).mean(-1, keepdims=True) + 1e-3))


def test_grouped_gemm(rng):
    a, b = rng.standard_normal((6, 4), "f"), rng.standard_normal((3, 4, 5), "f")
    found = ops.grouped_gemm(a, b, np.array([2, 2, 5], "i4"))
    near(found, np.concatenate([wide(a[:2]) @ b[0], wide(a[2:5]) @ b[2], np.zeros((1, 5))]))


def test_half_and_double(rng):
    a, b = rng.standard_normal((8, 8)), rng.standard_normal((8, 8))
    near(ops.gemm(a, b), a @ b, 1e-13)
    found = ops.gemm(a.astype("f2"), b.astype("f2"))
    assert found.dtype == np.float16
    near(wide(found), wide(a.astype("f2")) @ wide(b.astype("f2")), 1e-2)


def test_later_sizes_share_a_program(rng):
    w = rng.standard_normal((11, 13), "f")
    before = ops.counters()
    for rows in (3, 4, 5, 6, 7):
        x = rng.standard_normal((rows, 13), "f")
        near(ops.linear(x, w), wide(x) @ w.T)
    after = ops.counters()
    assert after["compiled"] - before["compiled"] == 2
    assert after["openExtents"] - before["openExtents"] == 1


def test_threads(rng):
    a, b = rng.standard_normal((32, 32), "f"), rng.standard_normal((32, 32), "f")
    expected, wrong = wide(a) @ b, []

    def work():
        for _ in range(50):
            if not np.allclose(ops.gemm(a, b), expected, atol=1e-4):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert not wrong


A, B = np.ones((4, 5), "f"), np.ones((5, 6), "f")
GRAD, FILTER = np.ones((1, 4, 3, 3), "f"), np.ones((4, 3, 3, 3), "f")


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: ops.gemm(A, B[:3]), tracea.Error, r"b: expected k = 5 as a has.*found f32\[3, 6\]"),
        (lambda: ops.gemm(A, [1]), TypeError, "b: expected a tensor, found list"),
        (lambda: ops.gemm(A, None), TypeError, "incompatible function arguments"),
        (lambda: ops.gemm(A[0], B), tracea.Error, "a: expected at least 2 dimensions, found 1"),
        (lambda: ops.gemm(A, B.astype("f8")), tracea.Error, "b: expected"),
        (lambda: ops.gemm(A, B.astype("c8")), tracea.Error, "b: expected elements of a type"),
        (lambda: ops.gemm(A[::-1], B), tracea.Error, "a: .*stride"),
        (lambda: ops.gemm(A, B, epilogue="swish"), tracea.Error, "epilogue: expected one of 'none'"),
        (lambda: ops.gemm(A, B, precision="fast"), tracea.Error, "precision: expected one of"),
        (lambda: ops.gemm(A, B, out=np.empty((4, 5), "f")), tracea.Error, "out: expected"),
        (lambda: ops.gemm(np.eye(4, dtype="f"), A, out=A), tracea.Error, "out: expected memory of its own"),
        (lambda: ops.gemm(np.ones((1,) * 9, "f"), B), tracea.Error, "a: expected at most 8 dimensions"),
        (lambda: ops.linear(A, B[0]), tracea.Error, "weight: expected 2 dimensions"),
        (lambda: ops.conv2d(A, B), tracea.Error, "x: expected 4 dimensions, found 2"),
        (lambda: ops.conv2d(np.ones((1, 3, 5, 5), "f"), np.ones((4, 2, 3, 3), "f")), tracea.Error, "w: expected 3 channels"),
        (lambda: ops.conv2d(np.ones((1, 3, 2, 2), "f"), np.ones((4, 3, 3, 3), "f")), tracea.Error, "w: expected a filter within"),
        (lambda: ops.conv2d(np.ones((1, 3, 5, 5), "f"), np.ones((4, 3, 3, 3), "f"), stride=0), tracea.Error, "stride_h: expected"),
        (lambda: ops.conv2d(np.ones((1, 3, 5, 5), "f"), np.ones((4, 3, 3, 3), "f"), stride=-1), tracea.Error, "stride: expected a number"),
        (lambda: ops.conv2d(np.ones((1, 3, 5, 5), "f"), np.ones((4, 3, 3, 3), "f"), padding="sane"), tracea.Error, "padding: expected"),
        (lambda: ops.conv2d(np.ones((1, 3, 5, 5), "f"), np.ones((4, 3, 3, 3), "f"), groups=0), tracea.Error, "groups: expected"),
        (lambda: ops.conv2d_dgrad(GRAD, FILTER, (1, 3, 5)), tracea.Error, "shape: expected 4 sizes, found 3"),
        (lambda: ops.conv2d_dgrad(GRAD, FILTER, (1, 3, 5, -5)), tracea.Error, "shape: expected sizes of at least 0"),
        (lambda: ops.conv2d_dgrad(GRAD, FILTER, (1, 3, 6, 5)), tracea.Error, r"grad: expected f32\[1, 4, 4, 3\]"),
        (lambda: ops.conv2d_dgrad(GRAD, FILTER, (1, 3, 5, 5), out=GRAD), tracea.Error, "out: expected `shape`"),
        (lambda: ops.conv2d_dgrad(A, FILTER, (1, 3, 5, 5)), tracea.Error, "grad: expected 4 dimensions, found 2"),
        (lambda: ops.conv2d_wgrad(GRAD, GRAD, (4, 3, 1, 1)), tracea.Error, "out: expected 4 channels, x's 4 by 1 groups"),
        (lambda: ops.softmax(A, 2), tracea.Error, "dim: expected a number from -2 to 1, found 2"),
        (lambda: ops.layer_norm(A, np.ones(4, "f")), tracea.Error, "scale: expected"),
        (lambda: ops.attention(A, A, A), tracea.Error, "q: expected 4 dimensions"),
        (lambda: ops.attention(*[np.ones((1, 1, 2, 4), "f")] * 3, scale=-1.0), tracea.Error, "scale: expected"),
    ],
)
def test_bad_calls(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_read_only_arrays(rng):
    a, b = np.ones((2, 3), "f"), np.ones((3, 2), "f")
    a.flags.writeable = b.flags.writeable = False
    near(ops.gemm(a, b), wide(a) @ b)
    out = np.empty((2, 2), "f")
    out.flags.writeable = False
    with pytest.raises(TypeError, match="out: expected a tensor that can be written to"):
        ops.gemm(a, b, out=out)
