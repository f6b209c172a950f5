"""nn.Conv2d taken over."""

import copy
import io
import pickle

import pytest
import torch
from torch import nn

import tracea


def near(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def counts():
    found = tracea.torch.report().counts
    return found.get("conv2d.compiled", 0), found.get("conv2d.fallback", 0)


LAYERS = {
    "plain": lambda: nn.Conv2d(4, 8, 3),
    "groups": lambda: nn.Conv2d(4, 8, 3, groups=2, padding=1),
    "dilation": lambda: nn.Conv2d(4, 8, 3, dilation=2, stride=2),
    "same": lambda: nn.Conv2d(4, 8, (3, 4), padding="same"),
    "double": lambda: nn.Conv2d(4, 8, 3, bias=False).double(),
    "half": lambda: nn.Conv2d(4, 8, 3).bfloat16(),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_are_ours(name):
    layer = LAYERS[name]()
    x = torch.randn(2, 4, 9, 9).to(layer.weight.dtype)
    expected = layer(x)
    with tracea.patched_conv2d():
        found = layer(x)
        last = layer(x.to(memory_format=torch.channels_last)[:, :, ::2])
    tolerance = 0.05 if name == "half" else 1e-4
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(last, layer(x[:, :, ::2]), rtol=tolerance, atol=tolerance)
    assert counts() == (2, 0)


def test_what_is_not_ours():
    with tracea.patched_conv2d():
        nn.Conv2d(4, 8, 3, padding_mode="reflect", padding=1)(torch.randn(1, 4, 5, 5))
        nn.Conv2d(4, 8, 3)(torch.randn(4, 5, 5))
    assert counts() == (0, 2)
    assert ("Conv2d", "padding_mode reflect") in tracea.torch.report().reasons
    assert ("Conv2d", "3 dimensions") in tracea.torch.report().reasons


def test_gradients():
    layer, x = nn.Conv2d(3, 6, 3, padding=1, groups=3), torch.randn(2, 3, 7, 7, requires_grad=True)
    wanted = [x, *layer.parameters()]
    expected = torch.autograd.grad(layer(x).square().sum(), wanted)
    with tracea.patched_conv2d():
        found = torch.autograd.grad(layer(x).square().sum(), wanted)
    for a, b in zip(found, expected):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-3)


def test_patches_nest_and_end():
    layer, x = nn.Conv2d(3, 4, 3), torch.randn(1, 3, 5, 5)
    tracea.patch_conv2d()
    with tracea.patched_conv2d():
        layer(x)
    layer(x)
    tracea.unpatch_conv2d()
    layer(x)
    assert counts() == (2, 0)
    with pytest.raises(RuntimeError, match="unpatch_conv2d without patch_conv2d"):
        tracea.unpatch_conv2d()


def test_compiled_functions_notice_both_edges():
    layer, x, graphs = nn.Conv2d(3, 4, 3), torch.randn(1, 3, 5, 5), []

    def backend(gm, inputs):
        graphs.append(any("tracea" in str(n.target) for n in gm.graph.nodes))
        return gm.forward

    tracea.patch_conv2d()  # the function is in place from here on
    tracea.unpatch_conv2d()
    compiled, expected = torch.compile(layer, backend=backend), layer(x)
    near(compiled(x), expected)
    with tracea.patched_conv2d():
        near(compiled(x), expected)
    near(compiled(x), expected)
    assert graphs == [False, True]


def test_module():
    layer = tracea.TraceaConv2d(3, 4, 3, padding=1)
    plain = nn.Conv2d(3, 4, 3, padding=1)
    plain.load_state_dict(layer.state_dict())
    x = torch.randn(2, 3, 6, 6)
    near(layer(x), plain(x))
    assert isinstance(layer, nn.Conv2d) and list(layer.state_dict()) == ["weight", "bias"]
    near(pickle.loads(pickle.dumps(layer))(x), plain(x))
    near(copy.deepcopy(layer)(x), plain(x))
    stream = io.BytesIO()
    torch.save(layer.state_dict(), stream)
    stream.seek(0)
    plain.load_state_dict(torch.load(stream, weights_only=True))


def test_conversion_keeps_parameters():
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Sequential(nn.Conv2d(4, 4, 1), nn.ReLU()))
    x, before = torch.randn(1, 3, 6, 6), [id(p) for p in model.parameters()]
    expected = model(x)
    assert tracea.TraceaConv2d.convert(model) is model
    near(model(x), expected)
    assert [id(p) for p in model.parameters()] == before and counts() == (2, 0)


def test_with_the_backend():
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()).eval()
    x = torch.randn(1, 3, 6, 6)
    with tracea.patched_conv2d(), torch.no_grad():
        near(torch.compile(model, backend="tracea")(x), model(x))
    assert tracea.torch.report().hit_rate == 1, tracea.torch.report()
