"""Programs and graphs."""

import copy
import io
import os
import pickle
import signal
import sys
import threading
import time

import numpy as np
import pytest

import tracea

MODULE = """
func.func @main(%x: tensor<?x4xf32> {tracea.name = "x"},
                %w: tensor<4x3xf32> {tracea.name = "w", tracea.constant}) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %r = tracea.gemm ins(%x, %w : tensor<?x4xf32>, tensor<4x3xf32>) outs(%e : tensor<?x3xf32>)
  return %r : tensor<?x3xf32>
}
"""


def near(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.fixture(scope="module")
def program():
    return tracea.compile(MODULE)


def test_compile_and_call(program, rng):
    w = rng.standard_normal((4, 3), "f")
    for rows in (1, 5, 2, 0):
        x = rng.standard_normal((rows, 4), "f")
        near(program(x, w), x @ w)
    out = np.empty((5, 3), "f")
    x = rng.standard_normal((5, 4), "f")
    assert program(x, w, out=out) is out
    near(out, x @ w)
    assert program.inputs()[0]["shape"] == (None, 4) and program.inputs()[1]["constant"]
    assert "main(f32[?x4], f32[4x3])" in repr(program)


def test_bound_constants(rng):
    program = tracea.compile(MODULE)
    w, x = rng.standard_normal((4, 3), "f"), rng.standard_normal((6, 4), "f")
    with pytest.raises(tracea.Error, match="expected 2 tensors, or, once its 1 constants are bound, 1; found 1"):
        program(x)
    program.bind(w=w)
    near(program(x), x @ w)
    near(program(x[:2]), x[:2] @ w)
    program.bind({1: 2 * w})
    near(program(x), x @ (2 * w))
    with pytest.raises(tracea.Error, match="expected a constant argument"):
        program.bind(x=x)
    with pytest.raises(tracea.Error, match="expected one of the inputs 'x', 'w', found 'z'"):
        program.bind(z=x)


def test_program_from_threads(program, rng):
    w, wrong = rng.standard_normal((4, 3), "f"), []

    def work(rows):
        x = np.full((rows, 4), rows, "f")
        for _ in range(50):
            if not np.allclose(program(x, w), x @ w, rtol=1e-4):
                wrong.append(rows)

    threads = [threading.Thread(target=work, args=(i + 1,)) for i in range(16)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert not wrong


def test_files_and_pickles(program, tmp_path, rng):
    x, w = rng.standard_normal((2, 4), "f"), rng.standard_normal((4, 3), "f")
    program.save(tmp_path / "p.tracea")
    for other in (
        tracea.load(tmp_path / "p.tracea"),
        pickle.loads(pickle.dumps(program)),
        copy.deepcopy(program),
    ):
        near(other(x, w), x @ w)
    source = tmp_path / "m.mlir"
    source.write_text(MODULE)
    for module in (str(source), source, MODULE.encode()):
        near(tracea.compile(module)(x, w), x @ w)


def test_cross_compilation():
    program = tracea.compile(MODULE, target="sm_90a")
    assert program.target["kind"] == "cuda"
    with pytest.raises(tracea.Error):
        program(np.ones((2, 4), "f"), np.ones((4, 3), "f"))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: tracea.compile("module {"), "expected operation|custom op|expected"),
        (lambda: tracea.compile(MODULE, target="sm_0"), "sm_0"),
        (lambda: tracea.compile(MODULE, fuse="some"), "fuse: expected 'none', 'safe' or 'all'"),
        (lambda: tracea.compile(MODULE, entry="other"), "other"),
        (lambda: tracea.load("nosuch.tracea"), "nosuch.tracea"),
        (lambda: tracea.compile(MODULE)(), "expected 2 tensors"),
        (lambda: tracea.compile(MODULE)(np.ones((2, 5), "f"), np.ones((4, 3), "f")), "x"),
        (lambda: tracea.compile(MODULE)(np.ones((2, 4)), np.ones((4, 3), "f")), "x"),
        (lambda: tracea.compile(MODULE).runner("other"), "entry: expected one of 'main', found 'other'"),
    ],
)
def test_bad_programs(call, message):
    with pytest.raises(tracea.Error, match=message):
        call()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_may_go_on_on_the_cpu(program, rng):
    """Its runs are its own thread's, and what it compiles is its own."""
    x, w = rng.standard_normal((300, 4), "f"), rng.standard_normal((4, 3), "f")
    expected = program(x, w)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        fine = np.array_equal(program(x, w), expected)
        fine = fine and np.allclose(tracea.ops.gemm(x[:7], w), expected[:7], atol=1e-5)
        os._exit(0 if fine else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(program(x, w), expected)


def test_progress_is_for_terminals(monkeypatch):
    pytest.importorskip("rich")
    from tracea import _progress

    class Stream(io.StringIO):
        terminal = True

        def isatty(self):
            return self.terminal

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(_progress, "_DELAY", 0.0)
    for terminal, wanted, shown in ((True, "1", True), (True, "0", False), (False, "1", False)):
        stream = Stream()
        stream.terminal = terminal
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("TRACEA_PROGRESS", wanted)
        with _progress.working("Compiling for nothing"):
            with _progress.working("another at a time"):
                time.sleep(0.3)
        assert ("Compiling for nothing" in stream.getvalue()) == shown
        assert "another" not in stream.getvalue()


def test_graph_of_sizes(rng):
    graph = tracea.Graph()
    graph.add_gemm(m=6, n=5, k=4, bias=True, epilogue="relu")
    plan = tracea.Context().optimize_graph(graph)
    a, b, bias = rng.standard_normal((6, 4), "f"), rng.standard_normal((4, 5), "f"), rng.standard_normal(5, "f")
    near(plan(a, b, bias), np.maximum(a @ b + bias, 0))
    (chosen,) = plan.about("schedule-selected")
    assert chosen.text.startswith("tracea.gemm: takes")
    assert "proofs: banks, coverage" in str(plan) and "<table>" in plan._repr_html_()


def test_graph_of_values(rng):
    graph = tracea.Graph()
    x = graph.input("x", (None, 3, 8, 8))
    w = graph.input("w", (4, 3, 3, 3), constant=True)
    y = graph.add_conv2d(x, w, padding="same", epilogue="relu")
    z = graph.add_softmax(graph.reshape(y, (-1, 64)))
    flat = graph.reshape(y, (-1, 64))
    graph.output(z, graph.unary("tanh", flat) * flat - flat / flat)
    program = graph.compile()
    data, weights = rng.random((2, 3, 8, 8), "f"), rng.random((4, 3, 3, 3), "f")
    found, other = program.bind(w=weights)(data)
    y = tracea.ops.conv2d(data, weights, padding=1, epilogue="relu").reshape(-1, 64)
    near(found, tracea.ops.softmax(y))
    near(other, np.tanh(y) * y - 1)


def test_graph_of_a_block(rng):
    graph = tracea.Graph()
    q, k, v = (graph.input(n, (1, 2, 5, 4)) for n in "qkv")
    y = graph.add_layer_norm(graph.add_attention(q, k, v, causal=True))
    graph.output(graph.transpose(graph.add_rms_norm(y), (0, 2, 1, 3)))
    data = [rng.standard_normal((1, 2, 5, 4), "f") for _ in range(3)]
    expected = tracea.ops.rms_norm(tracea.ops.layer_norm(tracea.ops.attention(*data, causal=True)))
    near(graph.compile()(*data), expected.transpose(0, 2, 1, 3))


def test_bad_graphs():
    graph, other = tracea.Graph(), tracea.Graph()
    a = graph.input("a", (2, 3))
    with pytest.raises(TypeError, match="m, k; k is missing"):
        graph.add_gemm(m=2, n=3)
    with pytest.raises(TypeError, match="b: expected a value of this graph, found a value of another"):
        graph.add_gemm(a, other.input("b", (3, 2)))
    with pytest.raises(TypeError, match="b: expected a value of this graph, found int"):
        a + 1
    with pytest.raises(tracea.Error, match="expected k = 3"):
        a @ a
    with pytest.raises(tracea.Error, match="function: expected one of 'relu'"):
        graph.unary("swish", a)
    with pytest.raises(tracea.Error, match="dtype: expected one of float32"):
        graph.input("c", (1,), "complex64")
    with pytest.raises(tracea.Error):
        tracea.Graph().compile()
