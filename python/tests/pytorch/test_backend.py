"""torch.compile(backend="tracea") against eager."""

import copy
import threading

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import tracea
from models import BLOCKS, Block, ConvNet


def near(found, expected, tolerance=1e-4):
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)


def check(function, *arguments, hit_rate=1.0, tolerance=1e-4, **options):
    """Compiled and eager agree, also in strides; gives the compiled function."""
    compiled = torch.compile(function, backend="tracea", options=options or None)
    with torch.no_grad():
        found, expected = compiled(*arguments), function(*arguments)
    assert type(found) is type(expected)
    pairs = zip(found, expected) if isinstance(found, (tuple, list)) else [(found, expected)]
    for a, b in pairs:
        near(a, b, tolerance)
        assert a.stride() == b.stride() and a.dtype == b.dtype
    report = tracea.torch.report()
    assert report.hit_rate >= hit_rate, report
    assert report.counts["graphs"] >= 1
    return compiled


@pytest.mark.parametrize("name", BLOCKS)
def test_models(name):
    make, arguments = BLOCKS[name]
    check(make().eval(), *arguments(2))


@pytest.mark.parametrize("name", BLOCKS)
def test_any_batch_takes_two_compilations(name):
    make, arguments = BLOCKS[name]
    model = make().eval()
    compiled = torch.compile(model, backend="tracea")
    with torch.no_grad():
        for n in (3, 5, 7, 2, 11):
            given = arguments(n)
            near(compiled(*given), model(*given))
    report = tracea.torch.report()
    assert report.counts["graphs"] <= 2 and report.hit_rate == 1, report


def test_weights_written_in_place_are_seen():
    model, x = nn.Sequential(nn.Linear(6, 5), nn.ReLU()).eval(), torch.randn(3, 6)
    compiled = torch.compile(model, backend="tracea")
    with torch.no_grad():
        near(compiled(x), model(x))
        model[0].weight.mul_(2)
        near(compiled(x), model(x))
        model.load_state_dict({k: torch.randn_like(v) for k, v in model.state_dict().items()})
        near(compiled(x), model(x))
    assert tracea.torch.report().counts["graphs"] == 1


def test_channels_last():
    model = ConvNet().eval().to(memory_format=torch.channels_last)
    x = torch.randn(2, 3, 12, 12).to(memory_format=torch.channels_last)
    check(model, x)
    check(lambda x: F.relu(x) + 1, x)
    check(lambda x: (x.flatten(1), x.permute(0, 2, 3, 1) * 2), x)


def test_what_is_not_supported_goes_to_eager():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 4)

        def forward(self, x):
            return self.b(torch.cumprod(F.gelu(self.a(x)), 1)).sort(-1)[0]

    x = torch.randn(3, 8)
    check(Net(), x, hit_rate=0.5)
    report = tracea.torch.report()
    assert ("cumprod", "no importer") in report.reasons and ("sort", "no importer") in report.reasons
    assert report.counts["ops.fallback"] == 2 and report.counts["partitions"] == 2
    assert "cumprod: no importer" in str(report)
    assert torch._dynamo.utils.counters["tracea"]["ops.fallback"] == 2
    torch._dynamo.reset()
    with pytest.raises(Exception, match="fallback='error': cumprod: no importer; sort"):
        torch.compile(Net(), backend="tracea", options={"fallback": "error"})(x)


def test_options_are_checked():
    with pytest.raises(Exception, match="fallback: expected 'eager' or 'error', found 'no'"):
        torch.compile(nn.Linear(2, 2), backend="tracea", options={"fallback": "no"})(torch.ones(1, 2))
    check(nn.Linear(2, 2), torch.ones(1, 2), fallback="error", fuse="all", require_proof=True)


@pytest.mark.parametrize(
    "mask", ["none", "causal", "bool", "float", "heads", "gqa", "scale"]
)
def test_attention(mask):
    q, k, v = torch.randn(2, 4, 6, 8), torch.randn(2, 4, 9, 8), torch.randn(2, 4, 9, 8)
    options = {}
    if mask == "causal":
        k, v, options = k[:, :, :6], v[:, :, :6], {"is_causal": True}
    elif mask == "bool":
        seen = torch.rand(6, 9) > 0.3
        seen[2] = False
        options = {"attn_mask": seen}
    elif mask == "float":
        options = {"attn_mask": torch.randn(2, 1, 6, 9)}
        options["attn_mask"][0, 0, 1, 3:] = float("-inf")
    elif mask == "heads":
        options = {"attn_mask": torch.randn(2, 4, 6, 9)}
    elif mask == "gqa":
        k, v, options = k[:, :2], v[:, :2], {"enable_gqa": True}
    elif mask == "scale":
        options = {"scale": 0.7}
    check(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **options), q, k, v)


X = torch.randn(3, 4, 6)


def written(x):
    """Through a view of all of its memory, in another order."""
    y = x.clone()
    y.as_strided((6, 12), (1, 6)).copy_(torch.arange(12))
    y.as_strided((12, 6), (6, 1)).mul_(x.reshape(12, 6))
    return y


FUNCTIONS = {
    "arithmetic": lambda x: (x * 2 + x / 3 - 1).abs().sqrt() * (-x).exp() / (1 + x * x),
    "functions": lambda x: x.sin() + x.cos() + torch.erf(x) + x.tanh() + torch.log(x.abs() + 1),
    "activations": lambda x: F.hardswish(x) + F.hardsigmoid(x) + F.elu(x) + F.leaky_relu(x, 0.1)
    + F.softplus(x) + F.mish(x) + F.relu6(x) + F.hardtanh(x),
    "powers": lambda x: x**2 + x**3 + (x.abs() + 0.1) ** 0.5 + (x.abs() + 1) ** -1.5 + (x.abs() + 1).rsqrt(),
    "compare": lambda x: torch.where(x > 0, x, -1.0) * (x < 0.5) + torch.where(x == x, 1.0, x),
    "clamp": lambda x: x.clamp(-0.5, 0.5) + x.clamp(min=0.1) + torch.maximum(x, -x),
    "views": lambda x: x.transpose(0, 2).reshape(6, -1)[1:5, ::2].unsqueeze(0) + 1,
    "select": lambda x: x[1] + x[:, -1:].squeeze(1)[1] + x.select(1, -2)[0],
    "split": lambda x: x.split([1, 3], 1)[1] * x.chunk(2, 2)[0].sum() + x.unbind(0)[1][1:],
    "cat": lambda x: torch.cat([x, x + 1, x[:, :2]], 1) * torch.stack([x[0, 0], x[1, 1]], 1)[0, 0],
    "pad": lambda x: F.pad(x, (1, 2, 0, 1), value=3.0) * 2,
    "expand": lambda x: x[:, :1].expand(3, 4, 6) * x + x.sum(-1, keepdim=True).expand(-1, -1, 6),
    "reductions": lambda x: x.sum(1) + x.mean((0, 1)) + x.amax(1) - x.amin(dim=(0, 1)),
    "softmax": lambda x: F.softmax(x, 1) + F.log_softmax(x * 30, -1),
    "norms": lambda x: F.layer_norm(x, (4, 6)) + F.rms_norm(x, (6,)) + F.group_norm(x, 2),
    "products": lambda x: x @ x.mT + torch.baddbmm(x @ x.mT, x, x.mT) + x[0] @ x[1].t(),
    "addmm": lambda x: torch.addmm(x[0] @ x[1].t(), x[0], x[2].t(), alpha=0.5) + F.linear(x[0], x[1]),
    "index": lambda x: x[:, torch.tensor([3, 0, -1])] + x[torch.tensor([[0], [2], [1]]), torch.tensor([1, 0, 1])]
    + x.roll(1, 1)[:, :3],
    "gather": lambda x: x.gather(1, torch.tensor([0, 3, 1]).view(3, 1, 1).expand(3, 2, 6)) * 2,
    "arange": lambda x: x + torch.arange(6) + torch.arange(1, 7, dtype=torch.float32) + torch.full((6,), 2.0),
    "cumsum": lambda x: x.cumsum(1) + (x > 0).cumsum(-1) + (x * 9).int().cumsum(0),
    "casts": lambda x: (x.half() + 1).float() + x.double().mul(3).float() + (x > 0).float(),
    "halves": lambda x: F.layer_norm(x.bfloat16(), (6,)).softmax(-1).sum(0).float(),
    "conv1d": lambda x: F.conv1d(x, x[:, :, :3].clone(), padding=1),
    "pools": lambda x: F.max_pool2d(x[None], 3, 2, 1) + F.avg_pool2d(x[None], 3, 2, 1),
    "strided": lambda x: x.as_strided((4, 3), (1, 8), 2) + x.as_strided((4, 3), (3, 1), 6)
    + x.as_strided((4, 3), (5, 2)) + x.as_strided((1, 3), (0, 4), 3),
    "written": lambda x: written(x),
    "signs": lambda x: torch.sign(x) + torch.sgn(x - x.clamp(0)) + F.celu(x, 2.0) + x.masked_fill(x > 0.5, 2.0),
    "cut": lambda x: F.pad(x, (-1, 2, 1, -1), value=3.0) * 2,
    "adaptive": lambda x: F.adaptive_avg_pool2d(x[None], (2, 3)),
    "transposed": lambda x: F.conv_transpose2d(x[None], x[:, :2, :2, None].expand(3, 2, 2, 2), stride=2, groups=1,
                                               output_padding=1),
    "integers": lambda x: (x * 10).long() + torch.arange(6) * 3,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    tolerance = 2e-2 if name in ("halves", "casts") else 1e-4
    check(FUNCTIONS[name], X, tolerance=tolerance)


@pytest.mark.parametrize("name", ["views", "split", "reductions", "softmax", "norms", "products", "pad", "cat", "expand"])
def test_functions_of_open_sizes(name):
    """Every size but the first of all may be any number."""
    compiled = torch.compile(FUNCTIONS[name], backend="tracea", dynamic=True)
    with torch.no_grad():
        for x in (X, torch.randn(3, 4, 6)):
            near(compiled(x), FUNCTIONS[name](x))
    assert tracea.torch.report().hit_rate == 1, tracea.torch.report()


def test_own_operators_are_compiled():
    from tracea.torch import ops

    x, w = torch.randn(2, 4, 6, 6), torch.randn(8, 2, 3, 3)
    added = torch.randn(2, 8, 6, 3)

    def run(x):
        y = ops.conv2d(x, w, None, (1, 2), (1, 0, 1, 2), 1, 2, epilogue="gelu", residual=added)
        y = ops.layer_norm(y) + ops.rms_norm(y) + ops.softmax(y, 1) + ops.log_softmax(y)
        z = ops.linear(y, y[0, 0], epilogue="tanh")
        return z + ops.gemm(y, y, transpose_b=True, alpha=0.5, residual=z), ops.attention(
            y, y, y, causal=True, scale=0.2)

    check(run, x)


def test_embedding():
    model = nn.Sequential(nn.Embedding(10, 8), nn.Linear(8, 4)).eval()
    check(model, torch.tensor([[1, 9, 0], [3, 3, 7]]))


def test_outputs_that_are_inputs_or_views():
    check(lambda x: (x, x.t(), x * 2, None or x + 1), torch.randn(3, 4), hit_rate=0)
    model, x = nn.Linear(4, 4), torch.randn(3, 4)

    def in_place(x):
        y = x.clone()
        y[:, 0] = 2
        return y.add_(1)

    check(in_place, x, hit_rate=0)
    buffer = torch.zeros(4)

    def mutates(x):
        buffer.add_(1)
        return model(x) + buffer

    compiled = torch.compile(mutates, backend="tracea")
    with torch.no_grad():
        compiled(x)
        near(compiled(x), model(x) + 2)
    near(buffer, torch.full((4,), 2.0))


def test_as_strided_of_other_memory():
    """What a view leaves out is not in the graph."""
    check(lambda x: x[1:].as_strided((2, 2), (1, 2), 0) * 2, X, hit_rate=0)
    assert tracea.torch.report().counts["ops.compiled"] >= 1


def test_cuda_graphs_mean_nothing_on_a_cpu():
    check(ConvNet().eval(), torch.randn(2, 3, 12, 12), cuda_graphs=True)


def test_programs_for_a_machine_that_is_elsewhere(tmp_path):
    """Fake tensors fill the cache with what real ones look for."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    before = tracea.cache_directory()
    tracea.set_cache_directory(tmp_path)
    try:
        with FakeTensorMode():
            model, x = Block().train(), torch.randn(2, 7, 32)
            compiled = torch.compile(model, backend="tracea", options={"compile_only": True})
            compiled(x).sum().backward()
        filled = sorted(tmp_path.iterdir())
        assert len(filled) == 2 and tracea.torch.report().hit_rate == 1
        torch._dynamo.reset()
        model, x = Block().train(), torch.randn(2, 7, 32)
        torch.compile(model, backend="tracea")(x).sum().backward()
        assert sorted(tmp_path.iterdir()) == filled
        with FakeTensorMode(), torch.device("cuda"):
            model, x = ConvNet().eval(), torch.randn(2, 3, 12, 12)
            options = {"compile_only": True, "target": "sm_90a", "fallback": "error"}
            with torch.no_grad():
                torch.compile(model, backend="tracea", options=options)(x)
        assert len(list(tmp_path.iterdir())) == 3
    finally:
        tracea.set_cache_directory(before)


def test_pickling():
    """A compiled model is pickled as what it was made of, and compiled again."""
    import io

    model, x = ConvNet().eval(), torch.randn(2, 3, 12, 12)
    compiled, stream = torch.compile(model, backend="tracea"), io.BytesIO()
    with torch.no_grad():
        expected = compiled(x)
        torch.save(compiled, stream)
        stream.seek(0)
        near(torch.load(stream, weights_only=False)(x), expected)


def test_autocast():
    model, x = nn.Sequential(nn.Linear(8, 8), nn.ReLU()).eval(), torch.randn(4, 8)
    with torch.autocast("cpu", torch.bfloat16):
        check(model, x, tolerance=2e-2)


def test_threads_and_copies():
    model = ConvNet().eval()
    compiled, x = torch.compile(model, backend="tracea"), torch.randn(2, 3, 12, 12)
    with torch.no_grad():
        expected = model(x)
        compiled(x)
        near(copy.deepcopy(compiled)(x), expected)
    wrong = []

    def work():
        with torch.no_grad():
            for _ in range(20):
                if not torch.allclose(compiled(x), expected, atol=1e-4):
                    wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(2)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert not wrong


def test_backend_is_listed():
    assert "tracea" in torch._dynamo.list_backends()


def test_resnet18():
    models = pytest.importorskip("torchvision.models")
    check(models.resnet18().eval(), torch.randn(2, 3, 64, 64))
    assert tracea.torch.report().counts["partitions"] == 1


def test_vision_transformer():
    timm = pytest.importorskip("timm")
    model = timm.create_model("vit_tiny_patch16_224", img_size=64, depth=2).eval()
    check(model, torch.randn(2, 3, 64, 64))


def test_gpt2():
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(n_layer=2, n_embd=32, n_head=4, vocab_size=50, n_positions=32,
                                     bos_token_id=0, eos_token_id=0)
    model = transformers.GPT2LMHeadModel(config).eval()
    check(lambda ids: model(ids, use_cache=False).logits, torch.randint(0, 50, (2, 9)))


class Buffers(nn.Module):
    """Buffers of several types, two that change places, and one that is written twice."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.tensor(0))
        self.register_buffer("left", torch.arange(4.0))
        self.register_buffer("right", -torch.arange(4.0))
        self.register_buffer("narrow", torch.zeros(2, 4, dtype=torch.bfloat16))

    def forward(self, x):
        self.count.add_(1)
        left = self.left.clone()
        self.left.copy_(self.right)
        self.right.copy_(left)
        self.narrow.add_(x[:2].detach().to(torch.bfloat16))
        self.narrow.mul_(2)
        return x * self.left + self.narrow.float().sum(0)


def test_arguments_that_are_written(monkeypatch):
    """Together, behind the program: a copy for each type, in training and without gradients."""
    copies, together = [], torch._foreach_copy_

    def count(into, values, *given):
        copies.append(len(into))
        return together(into, values, *given)

    for training in (True, False):
        found, expected = Buffers(), Buffers()
        compiled = torch.compile(found, backend="tracea")
        for _ in range(3):
            x = torch.randn(3, 4)
            a, b = (x.clone().requires_grad_(training) for _ in range(2))
            with torch.set_grad_enabled(training), monkeypatch.context() as patched:
                patched.setattr(torch, "_foreach_copy_", count)
                y, z = compiled(a), expected(b)
            near(y, z)
            for u, v in zip(found.buffers(), expected.buffers()):
                near(u, v)
            if training:
                y.sum().backward()
                z.sum().backward()
                near(a.grad, b.grad)
        assert sorted(copies) == [1] * 6 + [2] * 3, copies
        copies.clear()


def test_copies_that_need_one_another_stay():
    from tracea.torch.mutations import WrittenBack

    aten = torch.ops.aten
    for is_view, count in ((False, 2), (True, 0)):
        graph = torch.fx.Graph()
        a, b = graph.placeholder("a"), graph.placeholder("b")
        new = graph.call_function(aten.add.Tensor, (a, b))
        other = graph.call_function(aten.t.default if is_view else aten.neg.default, (a,))
        graph.call_function(aten.copy_.default, (a, new))
        graph.call_function(aten.copy_.default, (b, other))
        graph.output((new,))
        for node in (new, other):
            node.meta["val"] = torch.empty(2, 2)
        gm = torch.fx.GraphModule(nn.Module(), graph)
        written = WrittenBack(gm)
        assert len(written.places) == count
        x, y = torch.randn(2, 2), torch.randn(2, 2)
        found, expected = [x.clone(), y.clone()], x + y
        assert torch.equal(written.wrap(gm)(*found)[0], expected)
        assert torch.equal(found[0], expected)
        assert torch.equal(found[1], expected.t() if is_view else -x)
