"""Forward and backward of torch.compile(backend="tracea") against eager."""

import copy
import sys

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import tracea
import tracea.torch.backend  # noqa: F401  (a module, beside the function of that name)
from models import BLOCKS, NETWORKS, ConvNet


def near(found, expected, tolerance=1e-4):
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)


def wide(x):
    return x.double() if x.is_floating_point() else x


def check(function, *arguments, parameters=(), tolerance=2e-3, hit_rate=1.0, reference=None, run=None):
    """Results and gradients by floating-point arguments and parameters agree with those of
    `reference` (eager, by default) in double precision."""
    run = run if run is not None else torch.compile(function, backend="tracea")
    leaves = [a.detach().requires_grad_(a.is_floating_point()) for a in arguments]
    expected_leaves = [
        wide(a.detach()).requires_grad_(a.is_floating_point()) for a in arguments
    ]
    given = [*(x for x in leaves if x.requires_grad), *parameters]
    reference = reference if reference is not None else function
    expected = reference(*expected_leaves)
    wanted = [x for x in expected_leaves if x.requires_grad]
    if isinstance(reference, nn.Module):
        wanted += list(reference.parameters())
    found = run(*leaves)
    grad = torch.randn_like(found)
    near(wide(found), expected, tolerance)
    for a, b in zip(
        torch.autograd.grad(found, given, grad),
        torch.autograd.grad(expected, wanted, grad.double()),
        strict=True,
    ):
        scale = max(1.0, b.abs().max().item())
        near(wide(a) / scale, b / scale, tolerance)
    report = tracea.torch.report()
    assert report.hit_rate >= hit_rate, report
    assert report.counts["graphs.backward"] >= 1
    return run


def check_model(model, arguments, **named):
    return check(
        model, *arguments, parameters=list(model.parameters()),
        reference=copy.deepcopy(model).double(), **named
    )


@pytest.mark.parametrize("name", [*BLOCKS, *NETWORKS])
def test_models(name):
    make, arguments = {**BLOCKS, **NETWORKS}[name]
    if name in NETWORKS:
        pytest.importorskip("torchvision")
    check_model(make().train(), arguments(4))


@pytest.mark.parametrize("name", BLOCKS)
def test_models_at_inference(name):
    """Batch norms by their running moments, with gradients."""
    make, arguments = BLOCKS[name]
    check_model(make().eval(), arguments(4))


def test_running_moments():
    model = ConvNet().train()
    other, x = copy.deepcopy(model), torch.randn(4, 3, 12, 12)
    compiled = torch.compile(model, backend="tracea")
    for _ in range(3):
        compiled(x)
        other(x)
    for a, b in zip(model.buffers(), other.buffers()):
        near(a, b)
    assert model.bn.num_batches_tracked == 3


@pytest.mark.parametrize("name", BLOCKS)
def test_any_batch_takes_two_compilations(name):
    make, arguments = BLOCKS[name]
    model, run = make().train(), None
    for n in (3, 5, 7, 2):
        run = check_model(model, arguments(n), hit_rate=0.8, run=run)
    counts = tracea.torch.report().counts
    assert counts["graphs"] <= 2 and counts["graphs.backward"] <= 2


def test_channels_last():
    model = ConvNet().train().to(memory_format=torch.channels_last)
    check_model(model, [torch.randn(2, 3, 12, 12).to(memory_format=torch.channels_last)])


def test_training_changes_weights():
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
    other, x = copy.deepcopy(model), torch.randn(16, 6)
    compiled = torch.compile(model, backend="tracea")
    for run, parameters in ((compiled, model.parameters()), (other, other.parameters())):
        optimizer = torch.optim.SGD(parameters, 0.1)
        for _ in range(4):
            optimizer.zero_grad()
            run(x).square().mean().backward()
            optimizer.step()
    for a, b in zip(model.parameters(), other.parameters()):
        near(a, b)
    assert tracea.torch.report().hit_rate == 1, tracea.torch.report()


def test_what_is_not_known_is_eagers():
    """A backward in parts: those of the operations around."""
    check(lambda x: F.silu(torch.cumprod(F.gelu(x), 1)), torch.randn(3, 5), hit_rate=0.3)
    reasons = tracea.torch.report().reasons
    assert ("cumprod", "no importer") in reasons


def test_autocast():
    model, x = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)), torch.randn(4, 8)
    other = copy.deepcopy(model)
    compiled = torch.compile(model, backend="tracea")
    for run in (compiled, other):
        with torch.autocast("cpu", torch.bfloat16):
            y = run(x)
        y.float().square().sum().backward()
    for a, b in zip(model.parameters(), other.parameters()):
        assert a.grad.dtype == torch.float32
        near(a.grad, b.grad, 5e-2)


X = torch.randn(3, 4, 6)
IMAGE = torch.randn(2, 4, 7, 5)
CONV = {
    "plain": dict(padding=1),
    "strided": dict(stride=2, padding=1),
    "dilated": dict(dilation=2, padding=2),
    "groups": dict(groups=2),
    "depthwise": dict(groups=4, padding=1, stride=(2, 1)),
}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", CONV)
def test_convolutions(name, bias):
    check_model(nn.Conv2d(4, 8, 3, bias=bias, **CONV[name]), [IMAGE])


@pytest.mark.parametrize("name", ["plain", "strided", "dilated", "groups"])
def test_transposed_convolutions(name):
    more = {"output_padding": 1} if name == "strided" else {}
    model = nn.ConvTranspose2d(4, 8, 3, **CONV[name], **more)
    check_model(model, [IMAGE])
    check_model(nn.ConvTranspose1d(4, 6, 3, stride=2), [X])


def test_one_dimension():
    check_model(nn.Conv1d(4, 8, 3, padding=1, stride=2), [X])


FUNCTIONS = {
    "relu": lambda x: F.relu(x) + F.relu6(4 * x) + F.hardtanh(x),
    "smooth": lambda x: F.silu(x) + F.gelu(x) + F.gelu(x, approximate="tanh") + F.mish(x),
    "hard": lambda x: F.hardswish(4 * x) + F.hardsigmoid(4 * x) + F.leaky_relu(x, 0.2),
    "exponential": lambda x: F.elu(x) + F.elu(x, 0.5) + F.selu(x) + F.celu(x, 2.0) + F.softplus(x) + F.softplus(x, 2.0, 1.0),
    "sigmoid": lambda x: torch.sigmoid(x) * torch.tanh(x),
    "softmax": lambda x: F.softmax(x, 1) * F.log_softmax(3 * x, -1),
    "layer_norm": lambda x: F.layer_norm(x, (4, 6)) * F.layer_norm(x, (6,), x[0, 0]),
    "rms_norm": lambda x: F.rms_norm(x, (6,)) * F.rms_norm(x, (6,), x[0, 0]),
    "group_norm": lambda x: F.group_norm(x, 2, x[0, :, 0], x[1, :, 1]),
    "batch_norm": lambda x: F.batch_norm(x, None, None, x[0, :, 0], x[1, :, 1], True),
    "instance_norm": lambda x: F.instance_norm(x),
    "slices": lambda x: x[1:, ::2].sum(0) * x[0, :2] + x[:, -1].select(1, -2)[0],
    "views": lambda x: x.transpose(0, 2).reshape(6, -1)[1:5, ::2] * 2,
    "cat": lambda x: torch.cat([x, x * x, x[:, :2]], 1) * torch.stack([x[0, 0], x[1, 1]], 1)[0, 0],
    "expand": lambda x: x[:, :1].expand(3, 4, 6) * x + x.mean(-1, keepdim=True),
    "arithmetic": lambda x: (x * 2 + x / 3 - 1).abs().sqrt() * (-x).exp() / (1 + x * x),
    "powers": lambda x: x**2 + x**3 + (x.abs() + 0.1) ** 0.5 + (x.abs() + 1).rsqrt() + torch.log(x.abs() + 1),
    "trigonometry": lambda x: x.sin() * x.cos() + torch.erf(x) + torch.expm1(x),
    "clamp": lambda x: x.clamp(-0.5, 0.5) + torch.where(x > 0, x, x * x) + torch.maximum(x, -x),
    "products": lambda x: x @ x.mT + torch.baddbmm(x @ x.mT, x, x.mT) + x[0] @ x[1].t(),
    "pools": lambda x: F.max_pool2d(x[None], 3, 2, 1) + F.avg_pool2d(x[None], 3, 2, 1) + F.max_pool2d(x[None], 2, 2),
    "adaptive": lambda x: F.adaptive_avg_pool2d(x[None], 1) * F.adaptive_avg_pool2d(x[None], (2, 3)),
    "upsample": lambda x: F.interpolate(x[None], scale_factor=2.0) ** 2,
    "pad": lambda x: F.pad(x, (1, 2, 0, 1), value=3.0) ** 2,
    "losses": lambda x: F.mse_loss(x, x.sin()) + F.smooth_l1_loss(x, x * x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    check(FUNCTIONS[name], X)


@pytest.mark.parametrize("name", ["smooth", "softmax", "layer_norm", "rms_norm", "expand", "products"])
def test_functions_of_open_sizes(name):
    run = torch.compile(FUNCTIONS[name], backend="tracea", dynamic=True)
    check(FUNCTIONS[name], X, run=run)


def test_maxima_of_equal_pixels_and_of_no_numbers():
    """The first of equals has the gradient; a border of -inf has none."""
    x = torch.tensor([[1.0, 1, 0], [1, 1, 0], [float("-inf"), 0, 0]]).expand(1, 2, 3, 3).clone()
    for kernel, stride, padding in ((2, 1, 0), (3, 2, 1), (2, 2, 1)):
        run = lambda x: F.max_pool2d(x, kernel, stride, padding).sum()  # noqa: E731
        found, expected = x.clone().requires_grad_(), x.clone().requires_grad_()
        torch.compile(run, backend="tracea")(found).backward()
        run(expected).backward()
        assert torch.equal(found.grad, expected.grad)
    places = torch.compile(lambda x: F.max_pool2d(x, 2, 1, 1, return_indices=True)[1], backend="tracea")
    assert torch.equal(places(x), F.max_pool2d(x, 2, 1, 1, return_indices=True)[1])
    assert tracea.torch.report().hit_rate == 1, tracea.torch.report()


@pytest.mark.parametrize(
    "mask", ["none", "causal", "bool", "float", "heads", "gqa", "gqa causal", "scale"]
)
def test_attention(mask):
    q, k, v = torch.randn(2, 4, 6, 8), torch.randn(2, 4, 9, 8), torch.randn(2, 4, 9, 8)
    options, mask_ = {}, None
    if "causal" in mask:
        k, v, options = k[:, :, :6], v[:, :, :6], {"is_causal": True}
    if mask == "bool":
        mask_ = torch.rand(6, 9) > 0.3
        mask_[2] = False
    elif mask == "float":
        mask_ = torch.randn(2, 1, 6, 9)
        mask_[0, 0, 1, 3:] = float("-inf")
    elif mask == "heads":
        mask_ = torch.randn(2, 4, 6, 9)
    elif mask.startswith("gqa"):
        k, v, options = k[:, :2], v[:, :2], {"enable_gqa": True, **options}
    elif mask == "scale":
        options = {"scale": 0.7}

    def run(q, k, v):
        m = mask_ if mask_ is None or mask_.dtype == torch.bool else mask_.to(q.dtype)
        return F.scaled_dot_product_attention(q, k, v, m, **options)

    check(run, q, k, v)


@pytest.mark.parametrize("mask", ["none", "causal", "gqa causal", "window"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_gradients_of_attention_that_keep_no_scores(mask, dtype, monkeypatch):
    """What graphs for GPUs ask for, here as loops of a CPU."""
    from tracea.torch.importer import attention

    backend, texts = sys.modules["tracea.torch.backend"], []
    original = backend.import_graph

    def kept(*given, **named):
        found = original(*given, **named)
        texts.append(found.text)
        return found

    monkeypatch.setattr(backend, "import_graph", kept)
    monkeypatch.setattr(attention, "_capability", lambda target: 90)
    tracea.torch.programs._programs.clear()
    tracea.torch.programs._families.clear()
    heads = 2 if "gqa" in mask else 4
    q, k, v = (
        torch.randn(2, n, 9, 8, dtype=dtype, requires_grad=True) for n in (4, heads, heads)
    )
    causal, gqa = "causal" in mask, "gqa" in mask

    def run(q, k, v):
        if mask == "window":
            return tracea.ops.attention(q, k, v, window=(3, 1))
        return torch.ops.tracea.sdpa_with_sums(q, k, v, causal, None, gqa)[0]

    grad = torch.randn(2, 4, 9, 8, dtype=dtype)
    found = torch.autograd.grad(torch.compile(run, backend="tracea")(q, k, v), (q, k, v), grad)
    wide = [x.detach().double().requires_grad_() for x in (q, k, v)]
    seen = None
    if mask == "window":
        at = torch.arange(9)
        seen = (at[None] >= at[:, None] - 3) & (at[None] <= at[:, None] + 1)
    y = F.scaled_dot_product_attention(*wide, seen, is_causal=causal, enable_gqa=gqa)
    for a, b in zip(found, torch.autograd.grad(y, wide, grad.double())):
        torch.testing.assert_close(a.double(), b, rtol=2e-2, atol=2e-2)
    text = "".join(texts)
    assert "tracea.attention_qgrad" in text and "tracea.attention_kvgrad" in text


def test_modules_that_call_attention_out_of_sight():
    """torch chooses the operation within nn.MultiheadAttention."""
    check_model(nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True), [torch.randn(2, 5, 16)])


def test_embedding():
    """Repeated tokens add up; padding has no gradient; very many places are eager's."""
    ids = torch.tensor([[1, 9, 0], [3, 1, 1]])
    check_model(nn.Sequential(nn.Embedding(10, 8, padding_idx=3), nn.Linear(8, 4)), [ids])
    torch._dynamo.reset()
    tracea.torch.reset()
    check_model(nn.Embedding(5000, 4), [torch.randint(0, 5000, (1000,))], hit_rate=0.4)
    assert ("embedding_dense_backward", "sums at very many places, or at an open number of them") in (
        tracea.torch.report().reasons)


def test_cross_entropy():
    target = torch.tensor([1, 0, 3])

    def run(x):
        return F.cross_entropy(x, target, label_smoothing=0.0)

    check(run, torch.randn(3, 5), hit_rate=0.5)


def test_weights_that_are_kept_for_the_backward_are_not_copied(monkeypatch):
    """Also transposed: views of what was given, as the backward reads them."""
    backend, made = sys.modules["tracea.torch.backend"], []
    original = backend.import_graph

    def kept(*given, **named):
        made.append(original(*given, **named))
        return made[-1]

    monkeypatch.setattr(backend, "import_graph", kept)
    model = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 3))
    check_model(model, [torch.randn(5, 6)])
    forward = made[0].outputs
    assert any(kind == "input" and order == [1, 0] for kind, _, order, _ in forward), forward
    # No result of the forward is as large as a weight that it was given.
    assert all(list(map(int, shape)) not in ([6, 8], [8, 6]) for shape, _ in made[0].results)


def test_views_of_arguments_among_results():
    def function(x, w):
        return x.transpose(1, 2), (x @ w).relu(), w.permute(2, 0, 1).transpose(0, 1), x.transpose(0, -1) * 2

    for dynamic in (False, True):
        compiled = torch.compile(function, backend="tracea", dynamic=dynamic)
        for n in (3, 4):
            x, w = torch.randn(n, 4, 5), torch.randn(n, 5, 6)
            for found, expected in zip(compiled(x, w), function(x, w), strict=True):
                assert found.stride() == expected.stride()
                near(found, expected)


def test_batch_norm_takes_two_sums(monkeypatch):
    """That by its weight and that by its bias, which the gradient by its input takes as well."""
    backend = sys.modules["tracea.torch.backend"]
    texts, compile_module = [], backend.compile_module

    def record(text, **named):
        texts.append(text)
        return compile_module(text, **named)

    monkeypatch.setattr(backend, "compile_module", record)
    norm = torch.nn.BatchNorm2d(5)
    x = torch.randn(3, 5, 7, 6, requires_grad=True)
    torch._dynamo.reset()
    torch.compile(norm, backend="tracea")(x).square().sum().backward()
    assert len(texts) == 2
    assert texts[1].count('"reduction", "parallel", "reduction", "reduction"') == 2


def batch_norm_results(run, x, grad, dtype):
    """Result, running moments and gradient of a batch norm in training, wide."""
    norm = nn.BatchNorm1d(x.shape[1]).to(dtype) if x.dim() < 4 else nn.BatchNorm2d(x.shape[1]).to(dtype)
    x = x.to(dtype, copy=True).requires_grad_()
    y = run(norm)(x)
    y.backward(grad.to(dtype))
    return [v.detach().double() for v in (y, norm.running_mean, norm.running_var, x.grad)]


def compiled_norm(norm):
    return torch.compile(norm, backend="tracea")


@pytest.mark.parametrize("shape", [(3, 5, 7, 6), (37, 13), (2, 3, 5), (1, 1, 1, 2), (16, 4, 32, 31)])
@pytest.mark.parametrize("offset", [0, 3, 100, 1e4])
def test_moments_of_a_batch_are_exact(shape, offset):
    """Also where the mean is much larger than what the numbers differ by, about as exact as eager's,
    which a CPU sums in double precision; and twice the same."""
    if offset == 1e4 and shape == (1, 1, 1, 2):
        pytest.skip("two numbers that are no more exact than their difference")
    means = offset * torch.randn(shape[1], dtype=torch.float64)
    x = (torch.randn(shape, dtype=torch.float64) + means.view(-1, *[1] * (len(shape) - 2))).float()
    grad = torch.randn(shape)
    expected = batch_norm_results(lambda n: n, x, grad, torch.float64)
    eager = batch_norm_results(lambda n: n, x, grad, torch.float32)
    torch._dynamo.reset()
    found = batch_norm_results(compiled_norm, x, grad, torch.float32)
    for f, e, wanted in zip(found, eager, expected):
        scale = max(wanted.abs().max().item(), 1)
        error, theirs = (f - wanted).abs().max().item(), (e - wanted).abs().max().item()
        assert error <= 4 * theirs + 64 * torch.finfo(torch.float32).eps * scale, (error, theirs)
    again = batch_norm_results(compiled_norm, x, grad, torch.float32)
    assert all(torch.equal(a, b) for a, b in zip(found, again))


def test_moments_of_a_batch_with_stray_numbers():
    """A number far from all others, at any of the places that are looked at first; what is no number
    stays in its channel."""
    for place in ((0, 0, 0), (2, 3, 3), (3, 6, 6), (1, 2, 3)):
        x = torch.randn(4, 3, 7, 7)
        x[place[0], 1, place[1], place[2]] = 1e4
        grad = torch.randn(x.shape)
        expected = batch_norm_results(lambda n: n, x, grad, torch.float64)
        for f, wanted in zip(batch_norm_results(compiled_norm, x, grad, torch.float32), expected):
            near(f, wanted, 1e-5 * max(1, wanted.abs().max().item()))
        for stray in (float("nan"), float("inf"), float("-inf")):
            x[place[0], 1, place[1], place[2]] = stray
            eager = batch_norm_results(lambda n: n, x, grad, torch.float32)
            for f, e in zip(batch_norm_results(compiled_norm, x, grad, torch.float32), eager):
                channels = [0, 2]
                f, e = (v if v.dim() == 1 else v.transpose(0, 1) for v in (f, e))
                near(f[channels], e[channels])
                assert not f[1].isfinite().any() or e[1].isfinite().any()


def test_moments_of_batches_of_any_size():
    norm = nn.BatchNorm2d(5)
    run = torch.compile(norm, backend="tracea", dynamic=True)
    for n in (3, 2, 8):
        x = torch.randn(n, 5, 3, n + 4) + 50
        expected = F.batch_norm(x.double(), None, None, None, None, True)
        near(run(x).double(), expected)
