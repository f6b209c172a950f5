"""The machine, and what the compiler decides for it."""

import dataclasses
import html
import json

from . import _native
from .program import _device_number


@dataclasses.dataclass(frozen=True)
class Decision:
    """Something that the compiler chose or found, and why."""

    kind: str
    category: str
    name: str
    text: str
    line: int = 0

    def __str__(self):
        return f"{self.name}: {self.text}"


class Plan:
    """A compiled graph and the decisions behind it. Called with the graph's inputs."""

    def __init__(self, program):
        self.program = program
        explained = program.explain()
        self.decisions = [
            Decision(d["kind"], d["category"], d["name"], d["text"], d.get("line", 0))
            for d in explained.get("decisions", [])
        ]
        self.kernels = explained["kernels"]

    def __call__(self, *tensors, out=None):
        return self.program(*tensors, out=out)

    def about(self, name) -> list:
        """The decisions whose name or category holds `name`."""
        return [d for d in self.decisions if name in d.name or name in d.category]

    def __str__(self):
        lines = []
        for kernel in self.kernels:
            proofs = ", ".join(sorted({p["check"] for p in kernel["proofs"]})) or "none"
            what = kernel["variant"] or "plain loops"
            lines.append(f"{kernel['name']}: {kernel['op'] or 'loops'} by {what}; proofs: {proofs}")
            lines += [f"  open: {o['check']}: {o['reason']}" for o in kernel["open"]]
        lines += [f"  {decision}" for decision in self.decisions]
        return "\n".join(lines)

    def __repr__(self):
        return f"<tracea.Plan: {len(self.kernels)} kernels, {len(self.decisions)} decisions>"

    def _repr_html_(self):
        return _table(
            ("kernel", "operation", "variant", "proofs"),
            [
                (
                    k["name"],
                    k["op"],
                    k["variant"] or "plain loops",
                    ", ".join(sorted({p["check"] for p in k["proofs"]})),
                )
                for k in self.kernels
            ],
        ) + _table(("decision", "why"), [(d.name, d.text) for d in self.decisions])


class Context:
    """A device of this machine, as the compiler sees it."""

    def __init__(self, device="cpu"):
        self.device_id = _device_number(device)
        self._info = json.loads(_native.device_describe(self.device_id))

    @staticmethod
    def devices() -> list:
        """The contexts of all devices that can be opened, the CPU first."""
        from ._error import Error

        found = [Context()]
        for number in range(64):
            try:
                found.append(Context(number))
            except Error:
                break
        return found

    @property
    def target(self) -> str:
        """What `tracea.compile` calls the device."""
        return "cpu" if self.device_id < 0 else f"cuda:{self.device_id}"

    @property
    def kind(self) -> str:
        return self._info["kind"]

    @property
    def name(self) -> str:
        return self._info["name"]

    @property
    def arch(self) -> str:
        return self._info["arch"]

    @property
    def parallelism(self) -> int:
        """Threads of a CPU, multiprocessors of a GPU."""
        return self._info["parallelism"]

    @property
    def features(self) -> list:
        return list(self._info["features"])

    def optimize_graph(
        self, graph, *, fuse="safe", threads=0, require_proof=False, cache=False
    ) -> Plan:
        """Compiles a `Graph` for this device. Reasons are known to the process that compiles:
        `cache` takes a program that is there already, without them."""
        return Plan(
            graph.compile(
                target=self.target,
                fuse=fuse,
                threads=threads,
                require_proof=require_proof,
                cache=cache,
            )
        )

    def compile(self, module, **options):
        """`tracea.compile` for this device."""
        from .program import compile

        return compile(module, target=self.target, **options)

    def synchronize(self) -> None:
        """Waits until nothing runs on the device."""
        _native.device_synchronize(self.device_id)

    def _rows(self):
        unit = "threads" if self.device_id < 0 else "multiprocessors"
        return [
            ("device", self.target),
            ("name", self.name),
            ("architecture", self.arch),
            (unit, str(self.parallelism)),
            ("features", " ".join(self.features)),
        ]

    def __str__(self):
        return "\n".join(f"{name:15} {value}" for name, value in self._rows() if value)

    def __repr__(self):
        return f"<tracea.Context {self.target}: {self.name}>"

    def _repr_html_(self):
        return _table(("Tracea", ""), [row for row in self._rows() if row[1]])


def _table(head, rows):
    def cells(tag, row):
        return "".join(f"<{tag}>{html.escape(str(c))}</{tag}>" for c in row)

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<table><thead><tr>{cells('th', head)}</tr></thead><tbody>{body}</tbody></table>"
