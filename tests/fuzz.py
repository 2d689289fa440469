"""Fuzzing for as long as one likes: `make fuzz SECONDS=600` runs it under AddressSanitizer and UBSan.

Model files are mutated, with size and checksum put right so that the mutations get past them; what is still
valid must be written back as it was read, and is run on random frames of random layouts. Each case follows
from its number alone. A crash, an error other than ModelFormatError, a case of more than SLOW seconds, or
one whose loading takes more memory than four files and a megabyte ends the run, and the command that repeats
it is printed.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cascade.detector import Detector
from cascade.model import Model, ModelFormatError
from tests.hostile.test_model_bytes import SAMPLES, TINY, sealed, sections

SLOW = 20.0  # seconds; the sanitizers are slow, a hang is slower
GOLDEN = [path.read_bytes() for path in sorted(Path(__file__).parent.glob("golden/*.cascade"))]
SEEDS = [*SAMPLES.values(), *TINY.values(), *GOLDEN]
ODD = (0, 1, 2, 127, 128, 254, 255)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0, help="where to begin")
    parser.add_argument("--case", type=int, help="run this case only")
    parser.add_argument("--log", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.case is not None:
        print(f"case {given.case}: {run(given.case)}")
        return 0
    if given.log:
        work(given.seed, given.seconds, given.log)
        return 0
    return watch(given.seed, given.seconds)


def watch(seed: int, seconds: float) -> int:
    """Run the cases in another process, and say which one broke it."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "case")
        python = [sys.executable, *(["-P"] if sys.flags.safe_path else [])]
        command = [*python, "-m", "tests.fuzz", "--seed", str(seed), "--seconds", str(seconds)]
        try:
            done = subprocess.run([*command, "--log", str(log)], timeout=seconds + 10 * SLOW).returncode
        except subprocess.TimeoutExpired:
            done = -1
        if done:
            case = log.read_text() if log.exists() else "?"
            print(f"fuzz: broke at case {case}; to repeat: python -m tests.fuzz --case {case}")
        return int(done != 0)


def work(seed: int, seconds: float, log: Path) -> None:
    ends, told, case, seen = time.monotonic() + seconds, 0.0, seed, dict.fromkeys(("valid", "refused"), 0)
    while time.monotonic() < ends:
        log.write_text(str(case))
        started = time.monotonic()
        seen[run(case)] += 1
        if time.monotonic() - started > SLOW:
            sys.exit(f"fuzz: case {case} took {time.monotonic() - started:.0f} s")
        case += 1
        if time.monotonic() - told > 10:
            told = time.monotonic()
            print(f"fuzz: {case - seed} cases, {seen['valid']} valid, {ends - told:.0f} s left", flush=True)
    print(f"fuzz: {case - seed} cases, {seen['valid']} valid, none broke")


def run(case: int) -> str:
    """One case: "valid" or "refused"."""
    chance = random.Random(case)
    data = sealed(mutated(bytearray(chance.choice(SEEDS)), chance))
    tracemalloc.start()
    try:
        model = Model.from_bytes(data)
    except ModelFormatError:
        return "refused"
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak <= 4 * len(data) + (1 << 20), f"loading {len(data)} bytes took {peak}"
    assert model.to_bytes() == data
    detector = Detector(
        model, chance.choice([1, 2, 3]), per_octave=chance.choice([1, 3, 8]), exact=chance.random() < 0.3,
        stride=chance.choice([1, 1, 2, 5]), neighbours=chance.choice([None, None, 2]),
    )  # fmt: skip
    found = detector.detect(
        frame(chance), min_size=chance.choice([None, None, 1, 9, 40]), threshold=chance.choice([0.0, 0.5])
    )
    assert np.isfinite(found.xyxy).all()
    return "valid"


def mutated(data: bytearray, chance: random.Random) -> bytes:
    """Some bytes changed, mostly in one section; rarely something moved, doubled or dropped."""
    start, part = chance.choice(list(sections(bytes(data)).values()))
    for _ in range(chance.choice([1, 1, 1, 2, 3, 8])):
        at = start + chance.randrange(len(part))
        flipped = data[at] ^ 1 << chance.randrange(8)
        data[at] = chance.choice([flipped, chance.randrange(256), chance.choice(ODD)])
    if chance.random() < 0.1:
        at, length = chance.randrange(len(data)), chance.randrange(1, 9)
        data[at : at + chance.choice([0, length])] = chance.randbytes(chance.choice([0, length]))
    return bytes(data) if len(data) >= 20 else bytes(20)


def frame(chance: random.Random) -> NDArray[np.uint8]:
    """Noise, flat or stripes, grey or colour, of any strides."""
    height, width = (chance.choice([chance.randrange(8), chance.randrange(70), 120]) for _ in range(2))
    noise = np.frombuffer(chance.randbytes(2 * height * width * 3), np.uint8).reshape(2, height, width, 3)[1]
    stripes = noise[:1, ::-1].repeat(height, 0)
    made = chance.choice([noise, noise & 1, noise * 0 + 255, stripes, noise[::-1, ::-1]])
    made = chance.choice([made, made[..., 0], np.asfortranarray(made), made[..., :1], made[::2, ::3]])
    return made


if __name__ == "__main__":
    sys.exit(main())
