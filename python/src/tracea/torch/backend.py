"""The backend of torch.compile. torch loads this module when it is first asked for.

Options: fallback "eager" or "error" (an operation that Tracea does not compile is an error);
cuda_graphs (each part is launched as one graph); compile_only (programs get into the cache, and eager
runs); target, fuse, threads and require_proof as in `tracea.compile`.
"""

import torch

from .. import _native
from .._error import Error, Status
from ..program import compile as compile_module
from . import report
from .allocator import use_caching_allocator
from .composites import keep_composites
from .importer import CONVERTERS, Unsupported, import_graph
from .mutations import WrittenBack
from .partition import is_counted, partition

# What draws numbers stays eager's: its generator decides.
_RANDOM = ("native_dropout", "bernoulli", "rand_like", "randn_like", "uniform", "normal_functional")


def decompositions(table=None):
    """Core ATen's, or the table's, of what no converter is for: what Tracea has whole stays whole."""
    from torch._decomp import core_aten_decompositions

    return {
        op: function
        for op, function in (core_aten_decompositions() if table is None else table).items()
        if op._schema.name.removeprefix("aten::") not in (*CONVERTERS, *_RANDOM)
    }


class Options:
    def __init__(
        self, fallback="eager", cuda_graphs=False, compile_only=False, target=None, fuse="safe",
        threads=0, require_proof=False,
    ):
        if fallback not in ("eager", "error"):
            raise Error(
                f"fallback: expected 'eager' or 'error', found '{fallback}'", Status.INVALID_PARAMS
            )
        self.fallback, self.target = fallback, target
        self.cuda_graphs, self.compile_only = bool(cuda_graphs), bool(compile_only)
        self.compile = {"fuse": fuse, "threads": threads, "require_proof": require_proof}

    def target_of(self, device):
        if self.target is not None:
            return self.target
        return "cpu" if device.type == "cpu" else f"cuda:{device.index or 0}"


class Compiled(torch.nn.Module):
    """A program in the place of a part of a graph."""

    def __init__(self, gm, constants, device, options):
        super().__init__()
        target = options.target_of(device)
        imported = import_graph(gm.graph, constants, target=target)
        self.text = imported.text
        self.program = compile_module(imported.text, target=target, **options.compile)
        if options.compile_only:
            return
        is_cuda = device.type == "cuda"
        if is_cuda:
            use_caching_allocator()
        self.stream = None
        if is_cuda and options.cuda_graphs:
            self.stream = torch.cuda.Stream(device)
        self.runner = _native.Runner(
            self.program._native, "main", device.index or 0 if is_cuda else -1,
            graph=self.stream is not None,
        )
        self.inputs = [(position, order) for _, position, order in imported.inputs]
        self.constants = imported.constants
        self.given, self.versions = [], []
        self.outputs = imported.outputs
        results = [at for kind, at, *_ in self.outputs if kind == "result"]
        self.single = len(results) == 1
        # Without tensors that would say so, results are to be torch's all the same.
        self.made = None
        if not self.inputs and not self.constants:
            self.made = [
                (tuple(map(int, shape)), dtype, device) for shape, dtype in imported.results
            ]
        # Nothing to be done but to take the results as they are.
        self.plain = all(
            kind == "result" and order is None and strides is None
            for kind, _, order, strides in self.outputs
        ) and results == list(range(len(results)))

    def _bind(self, args):
        """Constants whose address or contents are others than before."""
        given = [args[position] for _, position, _ in self.constants]
        versions = [t._version for t in given]
        if not self.given:
            changed = range(len(given))
        else:
            changed = [
                i for i, (a, b) in enumerate(zip(given, self.given))
                if a is not b or versions[i] != self.versions[i]
            ]
        for i in changed:
            number, _, order = self.constants[i]
            tensor = given[i].detach()
            self.runner.bind(number, tensor if order is None else tensor.permute(order))
        self.given, self.versions = given, versions

    def forward(self, *args):
        if self.constants:
            given, old = self.constants, self.given
            if (
                not old
                or any(args[c[1]] is not t for c, t in zip(given, old))
                or [t._version for t in old] != self.versions
            ):
                self._bind(args)
        tensors = [
            args[position] if order is None else args[position].permute(order)
            for position, order in self.inputs
        ]
        if self.stream is None:
            results = self._run(tensors)
        else:
            # The default stream cannot be recorded. All that this one does comes behind what the
            # caller's did before, so that memory may go from the one to the other and back.
            current = torch.cuda.current_stream(self.stream.device)
            self.stream.wait_stream(current)
            with torch.cuda.stream(self.stream):
                results = self._run(tensors)
            current.wait_stream(self.stream)
        if self.plain:
            return (results,) if self.single else results
        if self.single:
            results = (results,)
        return tuple(self._output(args, results, *output) for output in self.outputs)

    def _run(self, tensors):
        if self.made is None:
            return self.runner(*tensors)
        into = [torch.empty(s, dtype=t, device=d) for s, t, d in self.made]
        return self.runner.run_into(into)

    @staticmethod
    def _output(args, results, kind, at, order, strides):
        if kind == "input":
            if at is None:
                return None
            return args[at] if order is None else args[at].permute(order)
        result = results[at]
        if order is not None:
            return result.permute(order)
        if strides is None:
            return result
        shape, strides = result.shape, [int(s) for s in strides]
        # Dimensions that are repeated are there once.
        for dim, (size, stride) in enumerate(zip(shape, strides)):
            if stride == 0 and size > 1:
                result = result.narrow(dim, 0, 1)
        into = torch.empty_strided(result.shape, strides, dtype=result.dtype, device=result.device)
        return into.copy_(result).expand(shape)


def _static_inputs(example_inputs):
    """The placeholders that are parameters and buffers."""
    context = torch._guards.TracingContext.try_get()
    metadata = context.fw_metadata if context is not None else None
    positions = metadata.static_input_indices if metadata is not None else ()
    return {p for p in positions or () if p < len(example_inputs)}


def _device_of(gm):
    for node in gm.graph.nodes:
        val = node.meta.get("val")
        for v in val if isinstance(val, (tuple, list)) else [val]:
            if isinstance(v, torch.Tensor):
                return v.device
    return torch.device("cpu")


def _returns_one(gm):
    output = next(n for n in gm.graph.nodes if n.op == "output")
    return not isinstance(output.args[0], (tuple, list))


class _One(torch.nn.Module):
    """The only result of a part that gives no tuple."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, *args):
        return self.inner(*args)[0]


def compile_graph(gm, example_inputs, options, kind):
    from functorch.compile import make_boxed_func

    device = _device_of(gm)
    report.count("graphs" if kind != "backward" else "graphs.backward")
    written = WrittenBack(gm)
    # What is compiled for elsewhere may be traced on any device.
    if device.type not in ("cpu", "cuda") and not options.compile_only:
        fused, names, outside = gm, [], [("graph", f"the device {device}")]
    else:
        fused, names, outside = partition(gm, device)
    static = _static_inputs(example_inputs) if kind == "inference" else set()
    positions = {
        n.name: i for i, n in enumerate(n for n in fused.graph.nodes if n.op == "placeholder")
    }
    for name in names:
        part = fused.get_submodule(name)
        call = next(n for n in fused.graph.nodes if n.op == "call_module" and n.target == name)
        constants = {i for i, a in enumerate(call.args) if positions.get(a.name) in static}
        inside = sum(map(is_counted, part.graph.nodes))
        try:
            compiled = Compiled(part, constants, device, options)
        except (Error, Unsupported) as error:
            outside += [(n.name, f"compilation: {error}") for n in part.graph.nodes if is_counted(n)]
            continue
        report.count("partitions")
        report.count("ops.compiled", inside)
        if not options.compile_only:
            setattr(fused, name, _One(compiled) if _returns_one(part) else compiled)
    for name, reason in outside:
        report.fell_back(name, reason)
    report.count("ops.fallback", len(outside))
    if outside and options.fallback == "error":
        listed = "; ".join(sorted({f"{name}: {reason}" for name, reason in outside}))
        raise Error(f"not compiled, and fallback='error': {listed}", Status.UNSUPPORTED_CONFIG)
    fused.recompile()
    return make_boxed_func(written.wrap(_direct(fused) or fused.forward))


def _direct(fused):
    """The one program that a graph consists of, where nothing else is to be done."""
    nodes = list(fused.graph.nodes)
    inputs = [n for n in nodes if n.op == "placeholder"]
    calls = [n for n in nodes if n.op not in ("placeholder", "output")]
    if len(calls) == 1 and calls[0].op == "call_module" and list(calls[0].args) == inputs:
        module = fused.get_submodule(calls[0].target)
        results = nodes[-1].args[0]
        if isinstance(module, _One) and list(results) == [calls[0]]:
            return module.inner.forward
    return None


def backend(gm, example_inputs, *, options=None, mode=None, **named):
    """torch.compile(model, backend="tracea")."""
    from torch._dynamo.backends.common import aot_autograd

    chosen = Options(**(options or {}), **named)
    keep_composites(gm)

    def compiler(kind):
        return lambda graph, inputs: compile_graph(graph, inputs, chosen, kind)

    return aot_autograd(
        fw_compiler=compiler("forward"),
        bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"),
        decompositions=decompositions(),
        keep_inference_input_mutations=True,
    )(gm, example_inputs)
