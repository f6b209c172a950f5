"""Compiled programs."""

import json
import os

from . import _native
from ._error import Error, Status
from ._progress import working


def _device_number(device) -> int:
    if isinstance(device, int):
        return device
    name = str(device)
    if name in ("cpu", "host"):
        return -1
    kind, _, number = name.partition(":")
    if kind == "cuda" and (not number or number.isdigit()):
        return int(number or 0)
    raise Error(
        f"device: expected 'cpu', 'cuda' or 'cuda:N', found '{name}'", Status.INVALID_PARAMS
    )


class Program:
    """Code for one kind of machine, called with tensors.

    A call takes all arguments of the entry, or, once its constants are bound,
    all others, and gives its result, or a tuple of them. Any number of threads
    may call it.
    """

    def __init__(self, native, *, device=None):
        self._native = native
        self._entries = native.entries()
        self._explained = None
        self._device = device
        self._runners = {}

    @property
    def entries(self) -> list:
        """The names of its functions."""
        return list(self._entries)

    @property
    def target(self) -> dict:
        return self.explain()["target"]

    def explain(self) -> dict:
        """Its kernels with their variants and proofs, and, where this process compiled it, the
        compiler's decisions with their reasons."""
        if self._explained is None:
            self._explained = json.loads(self._native.explain())
        return self._explained

    def _default_device(self):
        if self._device is not None:
            return _device_number(self._device)
        return -1 if self.target["kind"] == "cpu" else 0

    def runner(
        self, entry=None, *, device=None, streams=1, graph=False, max_workspace=0, shared=True
    ):
        """An entry on a device: called as the program is, without its choosing.

        `graph` launches runs that come again as one CUDA graph, `streams` spreads their steps over
        so many streams, `max_workspace` limits their temporary memory in bytes. Constants are bound
        to a runner; with `shared` the same arguments give the same one.
        """
        if entry is None:
            if len(self._entries) != 1:
                raise Error(
                    f"entry: expected one of {self._entries}, found none", Status.INVALID_PARAMS
                )
            entry = self._entries[0]
        number = self._default_device() if device is None else _device_number(device)
        key = (entry, number, streams, graph, max_workspace)
        runner = self._runners.get(key) if shared else None
        if runner is None:
            runner = _native.Runner(
                self._native, entry, number, streams=streams, graph=graph, max_workspace=max_workspace
            )
            if shared:
                runner = self._runners.setdefault(key, runner)
        return runner

    def __call__(self, *tensors, out=None, entry=None):
        runner = self._runners.get(entry)
        if runner is None:
            runner = self._runners[entry] = self.runner(entry)
        return runner(*tensors) if out is None else runner.run_into(out, *tensors)

    def bind(self, constants=None, /, *, entry=None, **named):
        """Gives constants, by name or number; calls then leave all of them out. What depends on
        them alone is computed once: bind them again when their contents have changed."""
        runner = self._runners.get(entry)
        if runner is None:
            runner = self._runners[entry] = self.runner(entry)
        for which, tensor in {**(constants or {}), **named}.items():
            runner.bind(which, tensor)
        return self

    def inputs(self, entry=None) -> list:
        """The arguments of an entry: name, dtype, shape (None is any size), constant, scalar."""
        return self.runner(entry).inputs()

    def save(self, path) -> None:
        """Writes the program file, which `load` and the C interface read."""
        self._native.save(os.fspath(path))

    def to_bytes(self) -> bytes:
        return self._native.to_bytes()

    def __reduce__(self):
        return _from_bytes, (self.to_bytes(), self._device)

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        explained = self.explain()
        target = explained["target"]
        entries = ", ".join(
            f"{e['name']}({', '.join(_type_text(i) for i in e['inputs'])})"
            for e in explained["entries"]
        )
        return (
            f"<tracea.Program for {target['name'] or target['arch'] or target['kind']}: {entries}; "
            f"{len(explained['kernels'])} kernels>"
        )


def _type_text(value):
    shape = "x".join("?" if s is None or s < 0 else str(s) for s in value.get("shape", []))
    return f"{value['type']}[{shape}]"


def _from_bytes(content, device=None):
    return Program(_native.load_bytes(content), device=device)


def compile(
    module,
    *,
    target="cpu",
    entry=None,
    fuse="safe",
    threads=0,
    require_proof=False,
    cache=True,
) -> Program:
    """Compiles a module: MLIR as text or bytecode, or the path of a file with it.

    target: "cpu", "cuda", "cuda:1", or a name of the target tables such as "sm_90a".
    fuse: "none", "safe" or "all". `require_proof` makes a kernel that lacks a proof an error.
    """
    if isinstance(module, str) and "\n" not in module and "{" not in module:
        module = os.path.expanduser(module)
    elif isinstance(module, str):
        module = module.encode()
    if not isinstance(module, (bytes, bytearray, memoryview)):
        try:
            with open(module, "rb") as file:
                module = file.read()
        except OSError as error:
            raise Error(f"module: {error}", Status.IO_ERROR) from error
    with working(f"Compiling for {target}"):
        native = _native.compile(
            bytes(module),
            target=target,
            entry=entry,
            fuse=fuse,
            threads=threads,
            require_proof=require_proof,
            cache=cache,
        )
    return Program(native, device=target if str(target).startswith("cuda") else None)


def load(path, *, device=None) -> Program:
    """Reads a program file (.tracea). Its code gets all rights of this process."""
    return Program(_native.load(os.fspath(path)), device=device)
