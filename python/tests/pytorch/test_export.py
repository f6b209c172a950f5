"""torch.export, compiled ahead of time, and run without Python."""

import os
import pathlib
import shutil
import subprocess

import numpy
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import tracea
from models import Block, ConvNet, Llama

ROOT = pathlib.Path(__file__).resolve().parents[3]
N = torch.export.Dim("n", min=1, max=1024)


def exported(model, *arguments, dynamic=False):
    shapes = ({0: N}, *({} for _ in arguments[1:])) if dynamic else None
    return torch.export.export(model.eval(), arguments, dynamic_shapes=shapes)


def near(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("embed", [True, False])
@pytest.mark.parametrize("dynamic", [True, False])
def test_programs(embed, dynamic):
    model, x = ConvNet(), torch.randn(3, 3, 12, 12)
    program = tracea.torch.compile_exported(exported(model, x, dynamic=dynamic), embed=embed)
    names = [i["name"] for i in program.inputs()]
    if embed:
        assert names == ["x"]
    else:
        assert "conv.weight" in names and "bn.running_mean" in names
        program.bind({k: v for k, v in model.state_dict().items() if k in names})
    with torch.no_grad():
        near(program(x), model(x))
        for n in (1, 7) if dynamic else ():
            x = torch.randn(n, 3, 12, 12)
            near(program(x), model(x))


@pytest.mark.parametrize("make", [Block, Llama])
def test_attention_and_norms_stay_whole(make):
    model, x = make(), torch.randn(2, 7, 32)
    text = tracea.torch.export_text(exported(model, x))
    assert "tracea.attention" in text
    assert ("tracea.rms_norm" if make is Llama else "tracea.layer_norm") in text
    with torch.no_grad():
        near(tracea.compile(text)(x), model(x))


def test_another_machine():
    program = tracea.torch.compile_exported(exported(ConvNet(), torch.randn(1, 3, 12, 12)), target="sm_90a")
    assert program.target["kind"] == "cuda"


def test_layouts_are_those_that_are_named():
    model = ConvNet().to(memory_format=torch.channels_last)
    x = torch.randn(2, 3, 12, 12).to(memory_format=torch.channels_last)
    program = tracea.torch.compile_exported(exported(nn.Sequential(model.conv), x))
    with torch.no_grad():
        near(program(x.contiguous()), model.conv(x).contiguous())


def test_what_cannot_be_exported_says_why():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(2))

        def forward(self, x):
            self.count.add_(1)
            return x + self.count

    class Sorter(nn.Module):
        def forward(self, x):
            return torch.sort(F.relu(x))[0]

    with pytest.raises(tracea.Error, match="without side effects, found that 'count' is written"):
        tracea.torch.compile_exported(exported(Counter(), torch.ones(2)))
    with pytest.raises(tracea.Error, match="sort: no importer"):
        tracea.torch.compile_exported(exported(Sorter(), torch.ones(2)))


def test_run_from_cpp(tmp_path):
    """examples/c/exported.cpp, which links the runtime alone."""
    compiler = shutil.which("c++")
    prefix = pathlib.Path(os.environ.get("TRACEA_PREFIX", ROOT / "build" / "dev"))
    if compiler is None or not (prefix / "lib" / "libtracea-runtime.so").exists():
        pytest.skip("no C++ compiler, or no build of the runtime")
    model, x = ConvNet(), torch.randn(5, 3, 12, 12)
    program = tracea.torch.compile_exported(exported(model, torch.randn(3, 3, 12, 12), dynamic=True))
    program.save(tmp_path / "convnet.tracea")
    subprocess.run(
        [compiler, "-std=c++17", "-I", ROOT / "include", ROOT / "examples" / "c" / "exported.cpp",
         "-o", tmp_path / "exported", "-L", prefix / "lib", "-ltracea-runtime",
         f"-Wl,-rpath,{prefix / 'lib'}"], check=True)
    x.numpy().tofile(tmp_path / "x.bin")
    ran = subprocess.run(
        [tmp_path / "exported", tmp_path / "convnet.tracea", tmp_path / "x.bin", "5,3,12,12",
         tmp_path / "y.bin"], check=True, capture_output=True, text=True,
        env={"PATH": os.environ["PATH"], "TRACEA_COMPILER_LIBRARY": "/nonexistent"})
    assert ran.stdout.startswith("main: 5x4"), ran.stdout
    found = torch.from_numpy(numpy.fromfile(tmp_path / "y.bin", numpy.float32)).view(5, 4)
    with torch.no_grad():
        near(found, model(x))
