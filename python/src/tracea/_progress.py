"""What takes long says so: on a terminal, where rich is installed."""

import contextlib
import os
import sys
import threading

# Nothing is shown of what is over before.
_DELAY = 0.5
_lock = threading.Lock()


@contextlib.contextmanager
def working(text):
    """Shows `text` and how long it has taken, beside what the `with` block does. TRACEA_PROGRESS=0
    shows nothing."""
    wanted = os.environ.get("TRACEA_PROGRESS", "1") != "0" and sys.stderr.isatty()
    # One at a time has the line: others, of other threads, go without.
    if not wanted or not _lock.acquire(blocking=False):
        yield
        return
    try:
        with _shown(text):
            yield
    finally:
        _lock.release()


@contextlib.contextmanager
def _shown(text):
    try:
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    except ImportError:
        yield
        return
    progress = Progress(
        SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(),
        console=Console(file=sys.stderr), transient=True,
    )
    progress.add_task(text, total=None)
    timer = threading.Timer(_DELAY, progress.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        progress.stop()
