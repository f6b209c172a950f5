"""From a graph of ATen operations to a module.

`refusal(node)` says why an operation cannot be imported: it imports the node by itself, so that
nothing is said twice. `import_graph` imports a graph.
"""

import torch

from .memory import dense_order
from .module import TYPES, Module, Unsupported, Value, size_of
from .registry import CONVERTERS
from . import (  # noqa: F401  (they register their functions)
    convolutions,
    gradients,
    movement,
    own,
    pointwise,
    pooling,
    products,
    rows,
    scatter,
)

MAX_RANK = 8


def _least(size, ranges=None):
    """What a size is known to be at least; adds no guard."""
    if not isinstance(size, torch.SymInt):
        return size
    if ranges is not None:
        known = ranges.get(size.node.expr)
        return int(known.lower) if known is not None and known.lower.is_Integer else 0
    lower = size.node.shape_env.bound_sympy(size.node.expr).lower
    return int(lower) if lower.is_Integer else 0


class Importer:
    """What converters work with: the module, the values of nodes, and the target where it is known,
    as the compiler takes it."""

    def __init__(self, module, target=None):
        self.module, self.values, self.target = module, {}, target

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
        """Whether a symbolic size is known to be so large."""
        return isinstance(bound, int) and _least(size) >= bound

    def used(self, node):
        """The numbers of those results of a node with several that something reads."""
        return {u.args[1] for u in node.users if operation(u) == "getitem" and u.users}

    def results(self, node, first, others):
        """Several results, of which all but the first are written when they are used."""
        return [first] if self.used(node) <= {0} else [first, *others()]

    def pick(self, node, *makers):
        """Several results, each of which is written when it is used."""
        used = self.used(node)
        return [make() if i in used else None for i, make in enumerate(makers)]

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
        except (TypeError, KeyError, IndexError, AttributeError, ArithmeticError) as error:
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


def _permuted_input(node, placeholders):
    """The position of the placeholder that a node is a view of, and the order that its dimensions
    have there; None where the node is anything else."""
    if node.op != "call_function":
        return None
    order = list(range(node.meta["val"].dim()))
    while node not in placeholders:
        rank, name = len(order), operation(node)
        if name == "t":
            inner = list(range(rank))[::-1]
        elif name == "permute":
            inner = [d % rank for d in node.args[1]]
        elif name == "transpose":
            inner = list(range(rank))
            a, b = node.args[1] % rank, node.args[2] % rank
            inner[a], inner[b] = b, a
        else:
            return None
        order, node = [inner[d] for d in order], node.args[0]
    return placeholders[node], order


class Imported:
    """The text of a module, and how a call's tensors are passed.

    inputs: for each argument of the module the position among the graph's placeholders, and the
    order of its dimensions in memory where that is not row-major. outputs: for each output of the
    graph the number of a result, the order of its dimensions in memory, or strides with gaps that it
    is to have; or a placeholder's position and, where its dimensions are in another order, that.
    """

    def __init__(self, text, inputs, constants, outputs, results):
        self.text, self.inputs, self.constants, self.outputs = text, inputs, constants, outputs
        # The sizes of each result, in the order of its memory, and its type.
        self.results = results


def import_graph(
    graph, constants=(), *, contents=None, names=None, row_major=False, ranges=None, target=None
):
    """Imports a graph whose operations `refusal` has nothing against. `constants`: the positions of
    placeholders that keep their contents; `contents`: tensors by positions, which become part of the
    module; `names`: what arguments are called; `ranges`: of symbols, where others than those that the
    graph was traced with are promised; `target`: what the module is for, which may decide what
    operations become. With `row_major`, arguments and results are so, whatever the
    strides of the graph's."""
    module = Module()
    importer = Importer(module, target)
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
            if contents and position in contents:
                importer.values[node] = module.constant(contents[position])
                continue
            shape = importer.shape(val)
            order = None if row_major else dense_order(val)
            if order == list(range(len(shape))):
                order = None
            stored = shape if order is None else [shape[i] for i in order]
            constant = position in constants
            least = [_least(val.shape[i], ranges) for i in order or range(len(shape))]
            value = module.argument(
                stored, TYPES[val.dtype], constant=constant, least=least,
                name=(names or {}).get(position),
            )
            if order is not None:
                value = module.transpose(value, [order.index(i) for i in range(len(order))])
            importer.values[node] = value
            (constant_inputs if constant else inputs).append((len(module.arguments) - 1, position, order))
        elif node.op == "call_function":
            if not isinstance(node.meta.get("val"), (torch.Tensor, tuple, list)):
                continue
            importer.convert(node)
        elif node.op == "output":
            wanted = node.args[0] if isinstance(node.args[0], (tuple, list)) else [node.args[0]]
            # A weight that is kept for the backward as it is transposed is no result.
            views = {
                r: None if row_major else _permuted_input(r, placeholders)
                for r in wanted if isinstance(r, torch.fx.Node) and r not in placeholders
            }
            if all(view is not None for view in views.values()):
                views = {}
            for result in wanted:
                if not isinstance(result, torch.fx.Node) or result in placeholders:
                    outputs.append(("input", placeholders.get(result), None, None))
                    continue
                if views.get(result) is not None:
                    outputs.append(("input", *views[result], None))
                    continue
                value, val = importer.value(result), result.meta["val"]
                order = list(range(value.rank)) if row_major else dense_order(val)
                if order is not None and order != list(range(value.rank)):
                    value = module.transpose(value, order)
                    inverse = [order.index(i) for i in range(len(order))]
                    outputs.append(("result", len(module.results), inverse, None))
                else:
                    strides = None if order is not None else val.stride()
                    outputs.append(("result", len(module.results), None, strides))
                module.results.append(value)
                results.append(([val.shape[i] for i in order or range(val.dim())], val.dtype))
        else:
            raise Unsupported(f"a node of kind {node.op}")
    return Imported(module.text(), inputs, constant_inputs, outputs, results)
