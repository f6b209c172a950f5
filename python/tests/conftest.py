import os
import tempfile

import pytest

# Programs of the tests are theirs alone; set before the library looks.
_cache = tempfile.TemporaryDirectory(prefix="tracea-pytest-")
os.environ["TRACEA_CACHE_DIR"] = _cache.name


def pytest_terminal_summary(terminalreporter):
    """The line that the project's scripts count by."""
    count = {name: len(terminalreporter.stats.get(name, [])) for name in (
        "passed", "xfailed", "failed", "error", "skipped")}
    terminalreporter.write_line(
        f"{count['passed'] + count['xfailed']} passed, {count['failed'] + count['error']} failed, "
        f"{count['skipped']} skipped"
    )


@pytest.fixture
def rng():
    import numpy

    return numpy.random.default_rng(7)
