"""What a graph writes into its arguments, at its end.

Running moments and counters are small and many: a copy of each is a launch of its own, which takes
longer than to compute them. They are copied together, behind the graph.
"""

import torch


def _may_be_argument(node):
    """Whether the node is an argument, or may lie in the memory of one, which a copy before has
    changed: what a view is of is its first argument."""
    while node.op == "call_function" and (
        not isinstance(node.target, torch._ops.OpOverload) or node.target.is_view
    ):
        node = node.args[0]
    return node.op == "placeholder"


class WrittenBack:
    """Copies into arguments, taken out of a graph: what is copied becomes results of it."""

    def __init__(self, gm):
        placeholders = {n: i for i, n in enumerate(gm.graph.find_nodes(op="placeholder"))}
        copies = [
            n
            for n in gm.graph.find_nodes(op="call_function", target=torch.ops.aten.copy_.default)
            if n.args[0] in placeholders
        ]
        self.places = [placeholders[n.args[0]] for n in copies]
        sources = [n.args[1] for n in copies]
        output = next(iter(gm.graph.find_nodes(op="output")))
        # Where one copy needs what another one leaves, all stay as they are.
        if (
            any(n.users for n in copies)
            or any(map(_may_be_argument, sources))
            or len(set(self.places)) != len(self.places)
            or not isinstance(output.args[0], (tuple, list))
        ):
            self.places = []
        if not self.places:
            return
        for node in copies:
            gm.graph.erase_node(node)
        output.args = ((*output.args[0], *sources),)
        gm.recompile()
        # Several at a time are of one type.
        groups = {}
        for i, source in enumerate(sources):
            groups.setdefault(source.meta["val"].dtype, []).append(i)
        self.groups = list(groups.values())

    def wrap(self, function):
        """`function`, of the graph as it is now, with the copies behind it."""
        count = len(self.places)
        if count == 0:
            return function

        def run(*args):
            results = function(*args)
            values = results[-count:]
            for group in self.groups:
                torch._foreach_copy_(
                    [args[self.places[i]] for i in group], [values[i] for i in group]
                )
            return results[:-count]

        return run
