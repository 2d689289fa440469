"""How many threads to use."""

import os


def thread_count(threads: int | None) -> int:
    """How many threads to use: None or 0 means all cores this process may run on."""
    if threads is None or threads == 0:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 0:
        raise ValueError(f"threads must be a whole number, 0 for all cores, got {threads!r}")
    return threads
