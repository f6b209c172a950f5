"""torch's own samples (OpInfo) of operations that Tracea claims, compiled against eager.

A few samples of each, those with odd arguments among them. What an operation does not take in some
sample is eager's; that an operation is never Tracea's is a failure.
"""

import itertools

import pytest
import torch

import tracea

pytest.importorskip("expecttest")
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

CLAIMED = (
    "abs", "add", "addmm", "amax", "baddbmm", "bmm", "cat", "clamp", "div", "exp", "gather", "index_select",
    "log_softmax", "mean", "mm", "mul", "neg", "pow", "rsqrt", "sigmoid", "softmax", "sub", "sum", "tanh",
    "where", "nn.functional.avg_pool2d", "nn.functional.conv2d", "nn.functional.conv_transpose2d",
    "nn.functional.elu", "nn.functional.embedding", "nn.functional.gelu", "nn.functional.group_norm",
    "nn.functional.hardswish", "nn.functional.layer_norm", "nn.functional.leaky_relu",
    "nn.functional.linear", "nn.functional.max_pool2d", "nn.functional.pad", "nn.functional.relu",
    "nn.functional.rms_norm", "nn.functional.silu", "nn.functional.softplus",
)
INFOS = {}
for info in op_db:
    name = info.name if not info.variant_test_name else None
    if info.name == "nn.functional.pad" and info.variant_test_name == "constant":
        name = info.name
    if info.name in ("softmax", "log_softmax") and not info.variant_test_name:
        name = info.name
    if info.name == "div" and info.variant_test_name == "no_rounding_mode":
        name = info.name
    if name in CLAIMED:
        INFOS.setdefault(name, info)
# So many samples of each, spread over the list.
SAMPLES = 4


def tensors_of(value):
    values = value if isinstance(value, (tuple, list)) else [value]
    return [v for v in values if isinstance(v, torch.Tensor)]


def spread(samples):
    samples = [
        s for s in itertools.islice(samples, 64)
        # Dropout draws numbers of its own.
        if not s.kwargs.get("dropout_p")
    ]
    step = max(1, len(samples) // SAMPLES)
    return samples[::step][:SAMPLES]


def test_all_that_are_claimed_have_samples():
    assert set(INFOS) == set(CLAIMED)


@pytest.mark.parametrize("name", CLAIMED)
def test_samples(name):
    info = INFOS[name]
    torch.manual_seed(0)
    for sample in spread(info.sample_inputs("cpu", torch.float32, requires_grad=False)):
        torch._dynamo.reset()

        def run(*arguments, sample=sample):
            return info.op(*arguments, **sample.kwargs)

        arguments = (sample.input, *sample.args)
        with torch.no_grad():
            found = torch.compile(run, backend="tracea", dynamic=False)(*arguments)
            expected = run(*arguments)
        for a, b in zip(tensors_of(found), tensors_of(expected), strict=True):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4, equal_nan=True)
            assert a.stride() == b.stride() or a.numel() <= 1
    assert tracea.torch.report().counts.get("ops.compiled", 0) > 0, tracea.torch.report()
