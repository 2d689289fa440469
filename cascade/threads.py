"""How many threads to use, and how to use them without their order showing."""

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

MOST = 1024

Item = TypeVar("Item")
Result = TypeVar("Result")


def thread_count(threads: int | None) -> int:
    """How many threads to use: None or 0 means all cores this process may run on."""
    if threads is None or threads == 0:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int) or not 0 <= threads <= MOST:
        raise ValueError(f"threads must be a whole number up to {MOST}, 0 for all cores, got {threads!r}")
    return threads


def ordered(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """Results in the order of the items, whatever the threads; only a few items are under way at a time."""
    if threads == 1:
        yield from map(work, items)
        return
    from concurrent.futures import ThreadPoolExecutor  # here, because it loads logging

    queue = iter(items)
    with ThreadPoolExecutor(threads) as pool:
        waiting = [pool.submit(work, item) for item in islice(queue, 2 * threads)]
        try:
            while waiting:
                result = waiting.pop(0).result()
                waiting += [pool.submit(work, item) for item in islice(queue, 1)]
                yield result
        finally:
            for task in waiting:
                task.cancel()
