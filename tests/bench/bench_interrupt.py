"""How long Ctrl-C takes to be heard while trees are grown on a large table, by either search."""

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np

from cascade.boosting import boost
from cascade.settings import Settings

SAMPLES, FEATURES = 20000, 4000
TRIALS = 12
TARGETS = {"interrupt_ms": (100.0, 50.0)}  # at most


def run(pictures: Path) -> dict[str, float]:
    """The longest of several, in milliseconds."""
    random = np.random.default_rng(0)
    table = random.integers(0, 256, (FEATURES, SAMPLES), dtype=np.uint8)
    labels = np.where(table[:5].sum(axis=0) + random.integers(0, 800, SAMPLES) > 1040, 1, -1)
    delays = []
    for trial in range(TRIALS):
        search = ("quick", "exhaustive")[trial % 2]
        delays.append(delay(table, labels, search, random.uniform(0.05, 0.6)))
    return {"interrupt_ms": 1000 * max(delays)}


def delay(table, labels, search: str, after: float) -> float:
    """Seconds from the signal to the exception."""
    sent = []

    def send() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, send)
    timer.start()
    try:
        boost(table, labels, Settings(rounds=10**6, depth=8, search=search), threads=2)
    except KeyboardInterrupt:
        return time.perf_counter() - sent[0]
    raise RuntimeError("training ended before it was interrupted")
