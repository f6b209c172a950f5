"""An operator by itself, as a program: what eager calls of operators run that no function of the
library does.

The first call of an operator with new sizes compiles a program for them. Where others come, a
second program takes any size in their place; sizes that were equal have to stay so.
"""

import operator
import threading

import torch
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

from .._error import Error
from .importer import Unsupported
from .importer.memory import dense_order

_lock = threading.Lock()
# What was called just so, and what differs in sizes alone.
_programs, _families = {}, {}


def _graph(op, arguments, is_open):
    """A graph of one call, with fake tensors; the sizes that `is_open` names are symbols."""
    mode = FakeTensorMode(shape_env=ShapeEnv())
    graph, given, vals = torch.fx.Graph(), [], []
    for i, argument in enumerate(arguments):
        if not isinstance(argument, torch.Tensor):
            given.append(argument)
            vals.append(argument)
            continue
        dims = [
            DimDynamic.DUCK if (i, d) in is_open else DimDynamic.STATIC
            for d in range(argument.dim())
        ]
        val = mode.from_tensor(
            argument, source=ConstantSource(f"x{i}"),
            symbolic_context=StatelessSymbolicContext(dynamic_sizes=dims),
        )
        node = graph.placeholder(f"x{i}")
        node.meta["val"] = val
        given.append(node)
        vals.append(val)
    call = graph.call_function(op, tuple(given))
    with mode:
        call.meta["val"] = op(*vals)
    results = [call]
    if isinstance(call.meta["val"], (tuple, list)):
        results = []
        for i, val in enumerate(call.meta["val"]):
            results.append(graph.call_function(operator.getitem, (call, i)))
            results[-1].meta["val"] = val
    graph.output(tuple(results))
    return torch.fx.GraphModule(torch.nn.Module(), graph)


def _pattern(gm):
    """The sizes of the graph's arguments: numbers, and the names of symbols."""
    return [
        [s if isinstance(s, int) else str(s.node.expr) for s in n.meta["val"].shape]
        for n in gm.graph.nodes
        if n.op == "placeholder"
    ]


def _fits(pattern, tensors):
    bound = {}
    for sizes, tensor in zip(pattern, tensors):
        for wanted, size in zip(sizes, tensor.shape):
            if isinstance(wanted, str):
                # 0 and 1 are special to torch.
                wanted = bound.setdefault(wanted, size) if size > 1 else None
            if wanted != size:
                return False
    return True


def _compile(op, arguments, tensors):
    from .backend import Compiled, Options

    places = [i for i, a in enumerate(arguments) if isinstance(a, torch.Tensor)]
    family = (
        op,
        *(
            (a.dtype, a.device, tuple(dense_order(a)))
            if isinstance(a, torch.Tensor) else str(a)
            for a in arguments
        ),
    )
    known, seen = _families.setdefault(family, ([], []))
    for pattern, program in known:
        if _fits(pattern, tensors):
            return program
    shapes = [tuple(t.shape) for t in tensors]
    seen.append(shapes)
    is_open = {
        (places[i], d)
        for i, shape in enumerate(shapes)
        for d, size in enumerate(shape)
        if size > 1 and any(other[i][d] != size for other in seen)
    }
    try:
        gm = _graph(op, arguments, is_open)
        program = Compiled(gm, (), tensors[0].device, Options())
    except (Error, Unsupported):
        if not is_open:
            raise
        # Not for any number of heads or channels, say: then for each by itself.
        gm = _graph(op, arguments, ())
        program = Compiled(gm, (), tensors[0].device, Options())
    known.append((_pattern(gm), program))
    return program


def run(op, *arguments):
    """The operator's result, or a tuple of its results."""
    arguments = [
        a.contiguous() if isinstance(a, torch.Tensor) and dense_order(a) is None else a
        for a in arguments
    ]
    tensors = [a for a in arguments if isinstance(a, torch.Tensor)]
    key = (
        op,
        *(
            (a.shape, a.stride(), a.dtype, a.device)
            if isinstance(a, torch.Tensor)
            else tuple(a) if isinstance(a, list) else a
            for a in arguments
        ),
    )
    program = _programs.get(key)
    if program is None:
        with _lock:
            program = _programs[key] = _compile(op, arguments, tensors)
    results = program(*tensors)
    return results[0] if len(results) == 1 else results
