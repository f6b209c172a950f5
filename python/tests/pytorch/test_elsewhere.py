"""benchmarks/torch for a GPU that is elsewhere: what is filled in is found without the compiler."""

import os
import pathlib
import subprocess
import sys

import tracea

HERE = pathlib.Path(__file__).resolve().parents[3] / "benchmarks" / "torch"
TIME = 1_700_000_000


def fill(cache, compiler):
    """Inference and training of a block; in a process of its own, whose device is none."""
    environment = {
        **os.environ, "TRACEA_CACHE_DIR": str(cache), "TRACEA_COMPILER_LIBRARY": str(compiler),
    }
    return subprocess.run(
        [sys.executable, HERE / "gpu_check.py", "--fill", "sm_90a"], env=environment, cwd=HERE,
        capture_output=True, text=True, timeout=300, check=True).stdout


def test_what_is_filled_in_is_found_without_the_compiler(tmp_path):
    library = pathlib.Path(tracea.__file__).parent / "libtracea.so"
    # Its name beside its libraries; what stands for it has its size and time.
    real, stub = tmp_path / "real" / "libtracea.so", tmp_path / "stub" / "libtracea.so"
    for path in (real, stub):
        path.parent.mkdir()
    real.write_bytes(library.read_bytes())
    stub.write_bytes(b"")
    os.truncate(stub, library.stat().st_size)
    for path in (real, stub):
        os.utime(path, (TIME, TIME))
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    assert "hit rate             100.0 %" in fill(cache, real)
    programs = sorted(p.name for p in cache.iterdir())
    assert len(programs) == 3
    assert "hit rate             100.0 %" in fill(cache, stub)
    assert sorted(p.name for p in cache.iterdir()) == programs
    # Without the programs there is nothing that could be run.
    empty = tmp_path / "empty"
    empty.mkdir(mode=0o700)
    assert "hit rate             0.0 %" in fill(empty, stub)


def test_training_is_a_gpus(tmp_path):
    """Norms of half precision keep moments in f32 there, and not on the CPU."""
    program = f"""
import os, sys, torch
sys.path.insert(0, {str(HERE)!r})
import gpu_graphs
from torch._dynamo.backends.common import aot_autograd

kinds = []
def show(gm, inputs):
    for node in gm.graph.nodes:
        if "native_layer_norm" in str(node.target) and "backward" not in str(node.target):
            kinds.append(str(node.meta["val"][1].dtype))
        if "silu_backward" in str(node.target):
            kinds.append("silu")
    return gm
backend = aot_autograd(fw_compiler=show, bw_compiler=show, decompositions={{}})
with gpu_graphs.fake_gpu(train=True) as device:
    x = torch.randn(4, 8, dtype=torch.bfloat16, device=device, requires_grad=True)
    f = lambda x: torch.nn.functional.silu(torch.nn.functional.layer_norm(x, (8,)))
    torch.compile(f, backend=backend)(x).sum().backward()
print(kinds, flush=True)
os._exit(0)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "['torch.float32', 'silu']", ran.stderr


def test_graphs_for_a_gpu_keep_no_scores():
    """The forward leaves the logarithms of its sums; of views with gaps it keeps copies without."""
    program = f"""
import os, sys, torch
import torch.nn.functional as F
sys.path.insert(0, {str(HERE)!r})
import gpu_graphs
import tracea.torch.backend

texts = []
sys.modules["tracea.torch.backend"].compile_module = lambda text, **named: texts.append(text)
with gpu_graphs.fake_gpu(train=True) as device:
    x = torch.randn(2, 16, 96, dtype=torch.bfloat16, device=device, requires_grad=True)
    def f(x):
        q, k, v = (y.unflatten(2, (2, 16)).transpose(1, 2) for y in x.split(32, 2))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
    options = {{"target": "sm_90a", "compile_only": True}}
    torch.compile(f, backend="tracea", options=options)(x).sum().backward()
forward, backward = texts
print("lse(" in forward, "tracea.attention causal" in forward, "tensor<2x2x16x16xbf16>, tensor<2x2x16x16xbf16>" in forward.split("return")[1])
print("attention_qgrad causal" in backward, "attention_kvgrad causal" in backward, "softmax" in backward, flush=True)
os._exit(0)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout.split() == ["True"] * 5 + ["False"], ran.stderr
