"""docs/Python.md says what happens."""

import pytest

from pages import run_page


def test_python_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_page("Python.md") >= 5


def test_what_is_shown_is_compared(tmp_path, monkeypatch):
    import pages

    (tmp_path / "docs").mkdir()
    (tmp_path / "test").symlink_to(pages.ROOT / "test")
    (tmp_path / "docs" / "Page.md").write_text("```python\nprint(1)\n```\n```text\n2\n```\n")
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    with pytest.raises(AssertionError, match="shown and not printed:\n2"):
        run_page("Page.md")


