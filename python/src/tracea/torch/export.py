"""Programs ahead of time, of what torch.export gives."""

import torch
from torch.export.graph_signature import InputKind, OutputKind

from .._error import Error, Status
from ..program import compile as compile_module
from .backend import decompositions
from .importer import Unsupported, import_graph, operation, refusal

_STATE = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)


def _tensor(exported, spec):
    if spec.kind == InputKind.CONSTANT_TENSOR:
        return exported.constants[spec.target]
    if spec.target in exported.state_dict:
        return exported.state_dict[spec.target]
    return exported.constants[spec.target]


def export_text(exported, *, embed=True):
    """The module of an exported program, as text; see `compile_exported`."""
    exported = exported.run_decompositions(decompositions(torch.export.default_decompositions()))
    signature = exported.graph_signature
    for spec in signature.output_specs:
        if spec.kind != OutputKind.USER_OUTPUT:
            raise Error(
                f"exported: expected a program without side effects, found that '{spec.target}' is "
                "written", Status.UNSUPPORTED_CONFIG,
            )
    graph = exported.graph_module.graph
    wrong = sorted({
        f"{operation(n) or n.target}: {reason}"
        for n in graph.nodes
        if n.op == "call_function" and isinstance(n.meta.get("val"), (torch.Tensor, tuple, list))
        and (reason := refusal(n)) is not None
    })
    if wrong:
        raise Error("exported: " + "; ".join(wrong), Status.UNSUPPORTED_CONFIG)
    contents, names, constants = {}, {}, []
    for position, spec in enumerate(signature.input_specs):
        if spec.kind not in _STATE:
            names[position] = spec.arg.name
        elif embed:
            contents[position] = _tensor(exported, spec).detach()
        else:
            names[position] = spec.target
            constants.append(position)
    try:
        return import_graph(
            graph, constants, contents=contents, names=names, row_major=True,
            ranges=exported.range_constraints,
        ).text
    except Unsupported as reason:
        raise Error(f"exported: {reason}", Status.UNSUPPORTED_CONFIG) from reason


def compile_exported(exported, *, embed=True, **options):
    """A program of a torch.export.ExportedProgram, which runs without Python: save it, and load it
    with tracea_program_load or tracea-run.

    Its arguments and results are row-major and named as the exported ones. With `embed` the weights
    are in the program; else they are constant arguments under their names in the state_dict, which
    `Program.bind` takes. Other options are those of `tracea.compile`; `target` names any machine.
    """
    return compile_module(export_text(exported, embed=embed), **options)
