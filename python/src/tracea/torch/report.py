"""What ran where, and why."""

import collections
import threading

_lock = threading.Lock()
_counts = collections.Counter()
_reasons = collections.Counter()


def count(name, by=1):
    with _lock:
        _counts[name] += by
    # Beside the counters that torch prints and resets.
    from torch._dynamo.utils import counters

    counters["tracea"][name] += by


def fell_back(operation, reason):
    """An operation that eager does."""
    with _lock:
        _reasons[(operation, reason)] += 1


class Report:
    """Counters of `torch.compile(backend="tracea")` and of the convolutions taken over.

    counts: graphs, partitions, ops.compiled, ops.fallback, conv2d.compiled, conv2d.fallback, …;
    reasons: (operation, why) and how often.
    """

    def __init__(self, counts, reasons):
        self.counts, self.reasons = counts, reasons

    @property
    def hit_rate(self):
        """The part of the operations that Tracea compiled."""
        compiled, fallback = self.counts.get("ops.compiled", 0), self.counts.get("ops.fallback", 0)
        return compiled / (compiled + fallback) if compiled + fallback else 1.0

    def __str__(self):
        lines = [f"{name:20} {value}" for name, value in sorted(self.counts.items())]
        lines.append(f"{'hit rate':20} {100 * self.hit_rate:.1f} %")
        lines += [
            f"  eager: {operation}: {reason} ({times} times)"
            for (operation, reason), times in sorted(self.reasons.items())
        ]
        return "\n".join(lines)

    __repr__ = __str__


def report():
    """What has been compiled and what has fallen back since the last `reset`."""
    with _lock:
        return Report(dict(_counts), dict(_reasons))


def reset():
    with _lock:
        _counts.clear()
        _reasons.clear()
