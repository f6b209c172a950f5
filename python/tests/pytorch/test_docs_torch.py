"""docs/PyTorch.md and docs/Migrating.md say what happens."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from pages import run_page  # noqa: E402


def test_pytorch_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_page("PyTorch.md") >= 5


def test_migrating_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_page("Migrating.md") == 3
