"""Which function imports which operation of ATen."""

import torch

from .module import Unsupported

CONVERTERS = {}


def converts(*names):
    """function(importer, node, *args, **kwargs) gives a Value, or a list of those."""

    def register(function):
        for name in names:
            CONVERTERS[name] = function
        return function

    return register


def is_node(value):
    """A tensor's node, not one of a size."""
    return isinstance(value, torch.fx.Node) and isinstance(value.meta.get("val"), torch.Tensor)


def number(value):
    """A number that is known now."""
    if isinstance(value, torch.fx.Node):
        value = value.meta.get("val")
    if isinstance(value, torch.SymInt):
        expression = value.node.expr
        if expression.is_Integer:
            return int(expression)
    if not isinstance(value, (bool, int, float)):
        raise Unsupported("a number that only the run knows")
    return value
