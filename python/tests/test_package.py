"""The package as such: imports, errors, the machine, the command line."""

import json
import pickle
import subprocess
import sys

import pytest

import tracea


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_imports_neither_numpy_nor_torch():
    assert run("import sys, tracea; print('numpy' in sys.modules, 'torch' in sys.modules)") == (
        "False False"
    )


def test_imports_quickly():
    """What takes the time is counted, not the time: how busy the machine is has
    no say. An import of 40 ms loads 56 modules, and the runtime without the compiler."""
    code = """
import sys
before = set(sys.modules)
import tracea
print(len(set(sys.modules) - before), open('/proc/self/maps').read())
"""
    modules, loaded = run(code).split(" ", 1)
    assert int(modules) < 75
    assert "libtracea-runtime.so" in loaded
    assert not any(name in loaded for name in ("libtracea.so", "libLLVM", "libMLIR"))


def test_version():
    from tracea import _native

    assert tracea.__version__ == _native.version()
    assert _native.abi_version() >= 1


def test_error_has_a_status_and_pickles():
    with pytest.raises(tracea.Error, match="nosuch.mlir") as caught:
        tracea.compile("nosuch.mlir")
    assert caught.value.status is tracea.Status.IO_ERROR
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.status is tracea.Status.IO_ERROR and str(again) == str(caught.value)


def test_unknown_attribute():
    with pytest.raises(AttributeError, match="nosuch"):
        tracea.nosuch


def test_context_prints():
    context = tracea.Context()
    assert context.kind == "cpu" and context.target == "cpu" and context.parallelism >= 1
    assert context.name in str(context) and context.name in repr(context)
    page = context._repr_html_()
    assert page.startswith("<table>") and context.name in page
    assert context.device_id == tracea.Context.devices()[0].device_id


@pytest.mark.parametrize("device", ["tpu", "cuda:x", "cuda:-1"])
def test_context_of_no_device(device):
    with pytest.raises(tracea.Error, match="device: expected 'cpu', 'cuda' or 'cuda:N'"):
        tracea.Context(device)


def test_context_of_absent_gpu():
    with pytest.raises(tracea.Error) as caught:
        tracea.Context("cuda:63")
    assert caught.value.status is tracea.Status.CUDA_ERROR


MODULE = """
func.func @main(%a: tensor<4x3xf32>, %b: tensor<3x2xf32>) -> tensor<4x2xf32> {
  %e = tensor.empty() : tensor<4x2xf32>
  %r = tracea.gemm ins(%a, %b : tensor<4x3xf32>, tensor<3x2xf32>) outs(%e : tensor<4x2xf32>)
  return %r : tensor<4x2xf32>
}
"""


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "tracea", *arguments], capture_output=True, text=True
    )


def test_command_line(tmp_path):
    source, program = tmp_path / "m.mlir", tmp_path / "m.tracea"
    source.write_text(MODULE)
    assert command("--version").stdout.strip() == tracea.__version__
    assert "cpu" in command("devices").stdout
    done = command("compile", str(source), "-o", str(program))
    assert done.returncode == 0, done.stderr
    assert "main(f32[4x3], f32[3x2])" in done.stdout
    assert json.loads(command("explain", "--json", str(program)).stdout)["kernels"]
    assert "schedule-selected" in command("explain", str(source)).stdout
    failed = command("compile", str(tmp_path / "nosuch.mlir"))
    assert failed.returncode == 1 and failed.stderr.startswith("tracea: error: module:")
