"""Run every benchmark, write build/bench.json and print what was measured against what was asked."""

import argparse
import json
import os
import time
from pathlib import Path

from cascade.checkpoint import write_atomically
from tests.bench import bench_curves, bench_detect, bench_export, bench_interrupt, bench_quickboost

TOPICS = {
    "quickboost": bench_quickboost,
    "interrupt": bench_interrupt,
    "detect": bench_detect,
    "export": bench_export,
    "curves": bench_curves,
}
BUSY = 0.5  # other processes running, on average over a minute


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("topics", nargs="*", metavar="TOPIC",
                        help=f"what to run, of {', '.join(TOPICS)}; all if left out")  # fmt: skip
    parser.add_argument("--out", type=Path, default=Path("build"), metavar="DIR",
                        help="where bench.json and bench/*.png go (default: %(default)s)")  # fmt: skip
    options = parser.parse_args()
    if unknown := set(options.topics) - set(TOPICS):
        parser.error(f"no topic {', '.join(sorted(unknown))}; there is: {', '.join(TOPICS)}")
    warn_if_busy()
    pictures = options.out / "bench"
    pictures.mkdir(parents=True, exist_ok=True)
    results: dict[str, float] = {}
    targets: dict[str, tuple[float, float]] = {}
    for topic in options.topics or TOPICS:
        started = time.perf_counter()
        results |= TOPICS[topic].run(pictures)
        targets |= TOPICS[topic].TARGETS
        print(f"bench: {topic} took {time.perf_counter() - started:.0f} s", flush=True)
    write_atomically(options.out / "bench.json", (json.dumps(results, indent=2) + "\n").encode())
    print(render(results, targets))


def warn_if_busy() -> None:
    """Times mean little, and those of several threads nothing, where others use the cores too."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if load > BUSY:
        print(f"bench: the machine is busy (load {load:.1f}); do not trust these times", flush=True)


def render(results: dict[str, float], targets: dict[str, tuple[float, float]]) -> str:
    """A table; a target whose aim is below its least is one to stay under."""
    width = max(map(len, results))
    lines = [f"{'name':<{width}}  measured  at least     aim"]
    for name, value in sorted(results.items(), key=lambda item: item[0] not in targets):
        line = f"{name:<{width}}  {value:8.4g}"
        if name in targets:
            least, aim = targets[name]
            sign = 1 if aim > least else -1
            verdict = (sign * value >= sign * least) + (sign * value >= sign * aim)
            bound = f"{least:g}" if sign > 0 else f"<= {least:g}"
            line += f"  {bound:>8}  {aim:6g}  {('MISSED', 'met', 'aim met')[verdict]}"
        lines.append(line)
    return "\n".join(lines)


if __name__ == "__main__":
    main()
