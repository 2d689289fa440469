"""How many threads to use."""

import os

MOST = 1024


def thread_count(threads: int | None) -> int:
    """How many threads to use: None or 0 means all cores this process may run on."""
    if threads is None or threads == 0:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int) or not 0 <= threads <= MOST:
        raise ValueError(f"threads must be a whole number up to {MOST}, 0 for all cores, got {threads!r}")
    return threads
