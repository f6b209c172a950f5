"""torch.func.vmap over Tracea's operators against a loop over the batch."""

import warnings

import pytest
import torch

from tracea.torch import gradients, ops

r = torch.randn
EXACT = ("none", "exact")
CONV = ([1, 1], [1] * 4, [1, 1], 1, "nchw", "relu", "exact")
# operator, arguments, the dimension of each that is the batch
SAMPLES = {
    "softmax": (ops._softmax, (r(3, 4, 5), 0), (1, None)),
    "log_softmax": (ops._log_softmax, (r(3, 4, 5), -1), (0, None)),
    "layer_norm": (ops._layer_norm, (r(3, 4, 5), r(5), r(5), 1e-5), (1, None, None, None)),
    "layer_norm of weights": (ops._layer_norm, (r(4, 5), r(3, 5), None, 1e-5), (None, 0, None, None)),
    "rms_norm": (ops._rms_norm, (r(3, 4, 5), r(5), 1e-5), (0, None, None)),
    "gemm": (ops._gemm, (r(3, 4, 5), r(5, 6), r(6), None, False, False, 1.0, *EXACT), (0, *(None,) * 8)),
    "gemm of both": (ops._gemm, (r(3, 4, 5), r(6, 5, 3), None, r(4, 6), False, True, 0.5, *EXACT),
                     (0, 2, *(None,) * 7)),
    "gemm of a residual": (ops._gemm, (r(4, 5), r(5, 6), None, r(3, 4, 6), False, False, 1.0, *EXACT),
                           (None, None, None, 0, *(None,) * 5)),
    "gemm of biases": (ops._gemm, (r(4, 5), r(5, 6), r(3, 6), None, False, False, 1.0, *EXACT),
                       (None, None, 0, *(None,) * 6)),
    "linear": (ops._linear, (r(3, 4, 5), r(6, 5), r(6), None, *EXACT), (0, *(None,) * 5)),
    "linear of a residual": (ops._linear, (r(3, 4, 5), r(6, 5), None, r(4, 6), *EXACT), (0, *(None,) * 5)),
    "linear of weights": (ops._linear, (r(4, 5), r(3, 6, 5), None, None, *EXACT), (None, 0, *(None,) * 4)),
    "conv2d": (ops._conv2d, (r(2, 3, 4, 5, 5), r(6, 4, 3, 3), r(6), None, *CONV), (1, *(None,) * 10)),
    "conv2d of weights": (ops._conv2d, (r(2, 4, 5, 5), r(3, 6, 4, 3, 3), None, None, *CONV),
                          (None, 0, *(None,) * 9)),
    "attention": (ops._attention, (r(3, 2, 4, 5, 8), r(3, 2, 4, 5, 8), r(3, 2, 4, 5, 8), True, -1, -1, None,
                                   "exact"), (0, 0, 0, *(None,) * 5)),
    "attention of queries": (ops._attention, (r(3, 2, 4, 5, 8), r(2, 4, 5, 8), r(2, 4, 5, 8), True, -1, -1,
                                              None, "exact"), (0, *(None,) * 7)),
    "sdpa": (ops._sdpa, (r(2, 3, 4, 5, 8), r(2, 3, 4, 5, 8), r(2, 3, 4, 5, 8), None, True, None, False),
             (1, 1, 1, *(None,) * 4)),
    "sdpa with sums": (ops._sdpa_with_sums, (r(2, 3, 4, 5, 8), r(2, 3, 4, 5, 8), r(2, 3, 4, 5, 8), True, None,
                                             False), (1, 1, 1, None, None, None)),
    "sdpa with sums, of queries": (ops._sdpa_with_sums, (r(3, 2, 4, 5, 8), r(2, 4, 5, 8), r(2, 4, 5, 8), True,
                                                         None, False), (0, *(None,) * 5)),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_rules(name):
    op, arguments, dims = SAMPLES[name]
    size = next(a.shape[d] for a, d in zip(arguments, dims) if d is not None)
    each = [
        op(*(a if d is None else a.select(d, i) for a, d in zip(arguments, dims))) for i in range(size)
    ]
    several = isinstance(each[0], tuple)
    expected = tuple(map(torch.stack, zip(*each))) if several else torch.stack(each)
    with warnings.catch_warnings():
        # torch warns of an operator without a rule.
        warnings.simplefilter("error")
        found = torch.func.vmap(op, in_dims=dims)(*arguments)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def test_every_operator_of_a_forward_has_a_rule():
    assert {SAMPLES[name][0]._name for name in SAMPLES} == {
        op._name for op in ops.ALL if op not in gradients.ALL
    }
