"""From a graph of ATen operations to a module.

`refusal(node)` says why an operation cannot be imported: it imports the node by itself, so that
nothing is said twice. `import_graph` imports a graph.
"""

import torch

from .module import TYPES, Module, Unsupported, Value, size_of
from .registry import CONVERTERS
from . import movement, own, pointwise, products, rows  # noqa: F401  (they register their functions)

MAX_RANK = 8


class Importer:
    """What converters work with: the module, and the values of nodes."""

    def __init__(self, module):
        self.module, self.values = module, {}

    def name(self, node):
        return operation(node)

    def value(self, node):
        if node not in self.values:
            raise Unsupported("an operand that is no tensor")
        return self.values[node]

    def size(self, value):
        if isinstance(value, torch.fx.Node):
            value = value.meta["val"]
        if not isinstance(value, (int, torch.SymInt)):
            raise Unsupported("a size that is no int")
        return size_of(value)

    def shape(self, val):
        return [size_of(s) for s in val.shape]

    def at_least(self, size, bound):
        """Whether a symbolic size is known to be so large; adds no guard."""
        if not isinstance(size, torch.SymInt) or not isinstance(bound, int):
            return False
        known = size.node.shape_env.bound_sympy(size.node.expr)
        return bool(known.lower >= bound)

    def results(self, node, first, others):
        """Several results, of which all but the first are written when they are used."""
        used = {u.args[1] for u in node.users if operation(u) == "getitem" and u.users}
        if used <= {0}:
            return [first]
        return [first, *others()]

    def convert(self, node):
        name = operation(node)
        if name == "getitem":
            self.values[node] = self.values[node.args[0]][node.args[1]]
            return
        function = CONVERTERS.get(name)
        if function is None:
            raise Unsupported("no importer")
        try:
            self.values[node] = function(self, node, *node.args, **node.kwargs)
        except (TypeError, KeyError, IndexError, AttributeError) as error:
            # Overloads with arguments that no converter has.
            raise Unsupported(f"arguments: {error}") from error


def operation(node):
    """The operation's name without its overload; "" where it is none of ours."""
    target = node.target
    if isinstance(target, torch._ops.OpOverload):
        if target.namespace == "tracea":
            return f"tracea.{target._opname}"
        if target.namespace in ("aten", "prims"):
            return target._opname
        return ""
    return "getitem" if getattr(target, "__name__", "") == "getitem" else ""


def _vals(node):
    val = node.meta.get("val")
    return [v for v in (val if isinstance(val, (tuple, list)) else [val]) if isinstance(v, torch.Tensor)]


def _check_tensor(val):
    if val.dtype not in TYPES:
        raise Unsupported(f"elements of type {val.dtype}")
    if val.dim() > MAX_RANK:
        raise Unsupported(f"{val.dim()} dimensions")
    if val.layout is not torch.strided:
        raise Unsupported(f"the layout {val.layout}")


def refusal(node):
    """Why the node cannot be imported; None where it can."""
    if operation(node) == "getitem":
        return refusal(node.args[0])
    module = Module()
    module.knows_all = True
    importer = Importer(module)
    try:
        if not _vals(node):
            raise Unsupported("no tensor as result")
        for val in _vals(node):
            _check_tensor(val)
        for operand in node.all_input_nodes:
            if operation(operand) == "getitem" or isinstance(operand.meta.get("val"), torch.Tensor):
                val = operand.meta["val"]
                _check_tensor(val)
                importer.values[operand] = Value("%x", importer.shape(val), TYPES[val.dtype])
        importer.convert(node)
    except Unsupported as reason:
        return str(reason)
    return None


def memory_order(val):
    """The dimensions in the order of their memory, outermost first, where the tensor is dense; None
    where it has gaps or repetitions."""
    strides = [size_of(s) for s in val.stride()]
    sizes = [size_of(s) for s in val.shape]
    if any(not isinstance(s, int) for s in strides + sizes):
        # Strides of open sizes: symbols are taken for large, by their hints.
        strides = [s if isinstance(s, int) else s_.node.hint for s, s_ in zip(strides, val.stride())]
        sizes = [s if isinstance(s, int) else s_.node.hint for s, s_ in zip(sizes, val.shape)]
        if any(s is None for s in strides + sizes):
            return None
    keys, before = [], float("inf")
    for size, stride in zip(sizes, strides):
        before = before if size == 1 else stride
        keys.append(before)
    order = sorted(range(len(sizes)), key=lambda i: -keys[i])
    inside = 1
    for i in reversed(order):
        if sizes[i] != 1 and strides[i] != inside:
            return None
        inside *= sizes[i]
    return order


class Imported:
    """The text of a module, and how a call's tensors are passed.

    inputs: for each argument of the module the position among the graph's placeholders, and the
    order of its dimensions in memory where that is not row-major. outputs: for each output of the
    graph the number of a result, the order of its dimensions in memory, or strides with gaps that it
    is to have; or a placeholder's position.
    """

    def __init__(self, text, inputs, constants, outputs, results):
        self.text, self.inputs, self.constants, self.outputs = text, inputs, constants, outputs
        # What the results are like, in the order of their memory.
        self.results = results


def import_graph(graph, constants=()):
    """Imports a graph whose operations `refusal` has nothing against. `constants`: the positions of
    placeholders that keep their contents."""
    module = Module()
    importer = Importer(module)
    inputs, constant_inputs, outputs, results, position = [], [], [], [], -1
    placeholders = {}
    for node in graph.nodes:
        if node.op == "placeholder":
            position += 1
            placeholders[node] = position
            val = node.meta["val"]
            if not isinstance(val, torch.Tensor) or not node.users:
                continue
            _check_tensor(val)
            shape = importer.shape(val)
            order = memory_order(val)
            if order == list(range(len(shape))) or order is None:
                order = None
            stored = shape if order is None else [shape[i] for i in order]
            constant = position in constants
            value = module.argument(stored, TYPES[val.dtype], constant=constant)
            if order is not None:
                value = module.transpose(value, [order.index(i) for i in range(len(order))])
            importer.values[node] = value
            (constant_inputs if constant else inputs).append((len(module.arguments) - 1, position, order))
        elif node.op == "call_function":
            if not isinstance(node.meta.get("val"), (torch.Tensor, tuple, list)):
                continue
            importer.convert(node)
        elif node.op == "output":
            for result in node.args[0] if isinstance(node.args[0], (tuple, list)) else [node.args[0]]:
                if not isinstance(result, torch.fx.Node) or result in placeholders:
                    outputs.append(("input", placeholders.get(result), None, None))
                    continue
                value, val = importer.value(result), result.meta["val"]
                order = memory_order(val)
                if order is not None and order != list(range(value.rank)):
                    value = module.transpose(value, order)
                    inverse = [order.index(i) for i in range(len(order))]
                    outputs.append(("result", len(module.results), inverse, None))
                else:
                    strides = None if order is not None else val.stride()
                    outputs.append(("result", len(module.results), None, strides))
                module.results.append(value)
                results.append(val if order is None else val.permute(order))
        else:
            raise Unsupported(f"a node of kind {node.op}")
    return Imported(module.text(), inputs, constant_inputs, outputs, results)
