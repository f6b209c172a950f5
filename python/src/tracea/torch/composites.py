"""Keeps attention and RMS norms whole.

Which operations of ATen they become depends on device, type, mask and context. They are replaced in
Dynamo's graph, before AOTAutograd takes them apart, by operators that stay as they are.
"""

import operator

import torch
import torch.nn.functional as F

from . import ops  # noqa: F401  (defines the operators)
from .importer.memory import dense_order


def _attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
               enable_gqa=False):
    if dropout_p:
        return None
    val = query.meta.get("example_value")
    if val is None or val.dim() != 4:
        return None
    if attn_mask is None and _keeps_sums(query, key, value, is_causal):
        # They are kept for the backward, which would copy what has gaps once more.
        query, key, value = (_without_gaps(x) for x in (query, key, value))
        arguments = (query, key, value, bool(is_causal), scale, bool(enable_gqa))
        return torch.ops.tracea.sdpa_with_sums.default, arguments, 0
    arguments = (query, key, value, attn_mask, bool(is_causal), scale, bool(enable_gqa))
    return torch.ops.tracea.sdpa.default, arguments


def _without_gaps(x):
    if dense_order(x.meta["example_value"]) is not None:
        return x
    return x.graph.call_method("contiguous", (x,))


def _keeps_sums(query, key, value, causal):
    """Whether gradients are asked for of what there are kernels for that keep no scores."""
    q, k, v = (x.meta["example_value"] for x in (query, key, value))
    is_wanted = torch.is_grad_enabled() and any(x.requires_grad for x in (q, k, v))
    is_served = q.device.type != "cpu" and q.dtype in (torch.float16, torch.bfloat16)
    sizes = (q.shape[2], k.shape[2])
    is_square = all(isinstance(size, int) for size in sizes) and sizes[0] == sizes[1]
    return is_wanted and is_served and (is_square or not causal)


def _rms_norm(input, normalized_shape, weight=None, eps=None):  # noqa: A002  (torch's names)
    val = input.meta.get("example_value")
    if val is None or not val.is_floating_point():
        return None
    if weight is None and len(normalized_shape) != 1:
        return None
    eps = torch.finfo(val.dtype).eps if eps is None else eps
    if weight is not None and weight.meta["example_value"].dtype != val.dtype:
        return None
    return torch.ops.tracea.rms_norm.default, (input, weight, float(eps))


_REPLACED = {F.scaled_dot_product_attention: _attention, F.rms_norm: _rms_norm}


def keep_composites(gm):
    """How many calls were replaced."""
    replaced = 0
    for node in list(gm.graph.nodes):
        if node.op != "call_function":
            continue
        build = _REPLACED.get(node.target) if callable(node.target) else None
        try:
            with gm.graph.inserting_before(node):
                found = build and build(*node.args, **node.kwargs)
        except (TypeError, AttributeError):  # arguments that are no nodes
            found = None
        if not found:
            continue
        with gm.graph.inserting_before(node):
            new = gm.graph.call_function(*found[:2])
            # One of several results.
            if len(found) > 2:
                new = gm.graph.call_function(operator.getitem, (new, found[2]))
        new.meta = dict(node.meta)
        node.replace_all_uses_with(new)
        gm.graph.erase_node(node)
        replaced += 1
    if replaced:
        gm.recompile()
    return replaced
