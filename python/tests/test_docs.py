"""docs/Python.md, docs/Migrating.md and docs/C.md say what happens."""

import os
import pathlib
import shutil
import subprocess

import pytest

from pages import ROOT, programs_of_page, run_page


def test_python_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_page("Python.md") >= 5


def test_migrating_page_without_torch(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("import torch", "torch.", "nn.")
    assert run_page("Migrating.md", without=words) >= 1


@pytest.mark.parametrize("page", ["Migrating.md", "C.md"])
def test_page_in_cpp(tmp_path, page):
    compiler = shutil.which("c++")
    prefix = pathlib.Path(os.environ.get("TRACEA_PREFIX", ROOT / "build" / "dev"))
    if compiler is None or not (prefix / "lib" / "libtracea-runtime.so").exists():
        pytest.skip("no C++ compiler, or no build of the libraries")
    programs = programs_of_page(page)
    assert programs
    for source, printed in programs:
        (tmp_path / "program.cpp").write_text(source)
        subprocess.run(
            [compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "include",
             "program.cpp", "-o", "program", "-L", prefix / "lib", "-ltracea-runtime",
             f"-Wl,-rpath,{prefix / 'lib'}"], cwd=tmp_path, check=True)
        ran = subprocess.run([tmp_path / "program"], check=True, capture_output=True, text=True)
        assert ran.stdout.split() == printed.split()


def test_what_is_shown_is_compared(tmp_path, monkeypatch):
    import pages

    (tmp_path / "docs").mkdir()
    (tmp_path / "test").symlink_to(pages.ROOT / "test")
    (tmp_path / "docs" / "Page.md").write_text("```python\nprint(1)\n```\n```text\n2\n```\n")
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    with pytest.raises(AssertionError, match="shown and not printed:\n2"):
        run_page("Page.md")


