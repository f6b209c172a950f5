"""Which part of a graph is whose."""

from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from .importer import operation, refusal

# What only renames elements: a partition of nothing else would add copies.
_VIEWS = {
    "view", "_unsafe_view", "reshape", "squeeze", "unsqueeze", "permute", "t", "transpose",
    "expand", "slice", "select", "split", "split_with_sizes", "unbind", "alias", "detach",
    "getitem", "lift_fresh_copy",
}


VIEWS_ALONE = "views alone"


class Support(OperatorSupportBase):
    def __init__(self, graph, device):
        super().__init__()
        self.device, self.reasons = device, {}
        for node in graph.nodes:
            if node.op == "call_function":
                self.reasons[node] = self._why_not(node)

    def _why_not(self, node):
        if operation(node) == "getitem" and node.args[0] in self.reasons:
            return self.reasons[node.args[0]]
        vals = node.meta.get("val")
        for val in vals if isinstance(vals, (tuple, list)) else [vals]:
            if hasattr(val, "device") and val.device != self.device:
                return f"its device is {val.device}, the graph's is {self.device}"
        for operand in node.all_input_nodes:
            val = operand.meta.get("val")
            if hasattr(val, "device") and val.device != self.device:
                return f"an operand's device is {val.device}, the graph's is {self.device}"
        return refusal(node)

    def is_node_supported(self, modules, node):
        return node.op == "call_function" and self.reasons.get(node, "") is None


def is_work(node):
    return node.op == "call_function" and operation(node) not in _VIEWS


def is_counted(node):
    """Whether the node is an operation, not a size or the end of a tuple."""
    if node.op != "call_function" or operation(node) == "getitem":
        return False
    val = node.meta.get("val")
    return hasattr(val, "dtype") or isinstance(val, (tuple, list))


def partition(gm, device):
    """Puts what can be imported into submodules `fused_N`; gives the graph, their names, and the
    reason of each operation that stays outside."""
    support = Support(gm.graph, device)
    partitioner = CapabilityBasedPartitioner(gm, support, allows_single_node_partition=True)
    parts = []
    for part in partitioner.propose_partitions():
        if any(is_work(node) for node in part.nodes):
            parts.append(part)
        else:
            # No copies are made of what eager does for nothing.
            for node in part.nodes:
                support.reasons[node] = VIEWS_ALONE
    outside = [(operation(n) or str(n.target), r) for n, r in support.reasons.items()
               if r not in (None, VIEWS_ALONE) and is_counted(n)]
    fused = partitioner.fuse_partitions(parts)
    names = [
        n.target for n in fused.graph.nodes if n.op == "call_module" and n.target.startswith("fused_")
    ]
    return fused, names, outside
