"""Runs the Python that a Markdown page shows and compares what it prints.

Blocks marked `python` run one after the other in one namespace. A block marked `text` right behind
one is what that prints, compared as test/Docs/check_doc.py compares: token by token, "…" standing for
anything.
"""

import contextlib
import importlib.util
import io
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def _checker():
    path = ROOT / "test" / "Docs" / "check_doc.py"
    spec = importlib.util.spec_from_file_location("check_doc", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_page(name, without=()):
    """The number of outputs that were compared. Blocks with a word of `without` are left out."""
    checker = _checker()
    blocks = checker.fences((ROOT / "docs" / name).read_text(encoding="utf-8"))
    namespace, compared = {"__name__": "__page__"}, 0
    for block, following in zip(blocks, blocks[1:] + [None]):
        if block is None or block.language != "python":
            continue
        if any(word in line for word in without for line in block.lines):
            continue
        printed = io.StringIO()
        source = "\n" * block.line + "\n".join(block.lines)
        with contextlib.redirect_stdout(printed):
            exec(compile(source, f"docs/{name}", "exec"), namespace)
        if following is not None and following.language == "text":
            compared += 1
            missing = checker.compare("\n".join(following.lines), printed.getvalue())
            assert missing is None, (
                f"docs/{name}:{block.line}: shown and not printed:\n{missing}\n--- printed:\n"
                + printed.getvalue()
            )
    return compared


def programs_of_page(name):
    """The page's C++ programs, and what each is to print."""
    checker = _checker()
    blocks = checker.fences((ROOT / "docs" / name).read_text(encoding="utf-8"))
    return [
        ("\n".join(block.lines), "\n".join(following.lines))
        for block, following in zip(blocks, blocks[1:])
        if block is not None and block.language == "cpp" and following is not None
        and following.language == "text"
    ]
