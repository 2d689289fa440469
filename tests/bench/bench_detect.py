"""How many frames a second, beside OpenCV 4.14's cascades, on photos that come with scikit-image.

OpenCV 4.14 runs in an environment of its own under build/, for the newest OpenCV has no cascades. All look
for faces from the same size up in the same photos; ours has to make its own grey levels.
"""

import json
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from statistics import median

import cv2
import numpy as np
from numpy.typing import NDArray
from skimage import data

from cascade.channels import grey
from cascade.detector import Detector
from cascade.model import Model

TURNS, REPEATS = 5, 8
PHOTOS = ("astronaut", "coffee", "chelsea", "rocket", "camera", "retina")
SIZES = {"vga": ((640, 480), 40), "1080p": ((1920, 1080), 80)}
TARGETS = {
    "detect_vga_fps": (250.0, 700.0),
    "detect_vs_opencv_haar": (15.0, 40.0),
    "detect_vs_opencv_lbp": (5.0, 12.0),
    "detect_1080p_fps": (60.0, 150.0),
    "detect_threads": (1.6, 1.9),
    "detect_1080p_memory_mb": (60.0, 30.0),  # at most
}
OPENCV = """
import json, sys, time
import cv2, numpy as np
cv2.setNumThreads(1)
frames, repeats, lbp = np.load(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
files = {"haar": cv2.data.haarcascades + "haarcascade_frontalface_alt2.xml", "lbp": lbp}
cascades = {name: cv2.CascadeClassifier(file) for name, file in files.items()}
for line in sys.stdin:
    times = []
    for frame in frames:
        cascades[line.strip()].detectMultiScale(frame, scaleFactor=1.1, minSize=(40, 40))
        started = time.perf_counter()
        for _ in range(repeats):
            cascades[line.strip()].detectMultiScale(frame, scaleFactor=1.1, minSize=(40, 40))
        times.append((time.perf_counter() - started) / repeats)
    print(json.dumps(times), flush=True)
"""
MEMORY = """
import sys
import numpy as np
from pathlib import Path
from cascade.detector import Detector
from cascade.model import Model

def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024

detector, frame = Detector(Model.load(sys.argv[1])), np.load(sys.argv[2])
before = peak()
detector.detect(frame, min_size=80)
print(peak() - before)
"""


def run(pictures: Path) -> dict[str, float]:
    """Every figure of the topic by name."""
    model = Model.load("face")
    frames = {name: photos(*size) for name, (size, _) in SIZES.items()}
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder, "frames.npy"), np.array([grey(frame) for frame in frames["vga"]]))
        np.save(Path(folder, "large.npy"), frames["1080p"][0])
        model.save(Path(folder, "model.cascade"))
        results = timings(model, frames, Path(folder))
        if Path("/proc/self/status").exists():
            files = [str(Path(folder, name)) for name in ("model.cascade", "large.npy")]
            done = subprocess.run([sys.executable, "-c", MEMORY, *files], check=True, capture_output=True)
            results["detect_1080p_memory_mb"] = float(done.stdout)
    return results | work(model, frames["vga"])


def photos(width: int, height: int) -> list[NDArray[np.uint8]]:
    """Colour photos, scaled to one size."""
    frames = []
    for name in PHOTOS:
        photo = getattr(data, name)()
        photo = photo[..., ::-1] if photo.ndim == 3 else np.stack([photo] * 3, axis=-1)
        frames.append(cv2.resize(np.ascontiguousarray(photo), (width, height), interpolation=cv2.INTER_AREA))
    return frames


def timings(model: Model, frames: dict[str, list[NDArray[np.uint8]]], folder: Path) -> dict[str, float]:
    """Seconds a frame in turns, and the ratios between them."""
    one, two = Detector(model), Detector(model, threads=2)
    times: dict[str, list[float]] = {}
    lbp = (Path(data.__file__).parent / "lbpcascade_frontalface_opencv.xml").read_text()
    # One name in scikit-image's copy is misspelt, which its own reader does not mind but OpenCV's does.
    (folder / "lbp.xml").write_text(lbp.replace("featuhreParams", "featureParams"))
    files = [str(folder / "frames.npy"), str(REPEATS), str(folder / "lbp.xml")]
    command = [str(opencv()), "-c", OPENCV, *files]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        for turn in range(TURNS):
            say(f"timing, turn {turn + 1} of {TURNS}")
            for name, (_, least) in SIZES.items():
                times.setdefault(name, []).append(ours(one, frames[name], least))
            times.setdefault("threads", []).append(ours(two, frames["vga"], 40))
            for name in ("haar", "lbp"):
                print(name, file=other.stdin, flush=True)
                times.setdefault(name, []).append(float(np.mean(json.loads(other.stdout.readline()))))
        other.stdin.close()
    ratios = {name: median(a / b for a, b in zip(times[name], times["vga"], strict=True)) for name in times}
    return {
        "detect_vga_fps": 1 / median(times["vga"]),
        "detect_1080p_fps": 1 / median(times["1080p"]),
        "detect_vs_opencv_haar": ratios["haar"],
        "detect_vs_opencv_lbp": ratios["lbp"],
        "detect_threads": 1 / ratios["threads"],
        "opencv_haar_ms": 1000 * median(times["haar"]),
        "opencv_lbp_ms": 1000 * median(times["lbp"]),
    }


def ours(detector: Detector, frames: list[NDArray[np.uint8]], least: int) -> float:
    """Mean seconds a frame, colour conversion and suppression included."""
    for frame in frames:
        detector.detect(frame, min_size=least)
    started = time.perf_counter()
    for _ in range(REPEATS):
        for frame in frames:
            detector.detect(frame, min_size=least)
    return (time.perf_counter() - started) / REPEATS / len(frames)


def work(model: Model, frames: list[NDArray[np.uint8]]) -> dict[str, float]:
    """What is done for a frame: windows, and trees for each of them."""
    detector = Detector(model)
    stats = [detector.statistics(frame, min_size=40) for frame in frames * REPEATS]
    windows, seconds = sum(stat.windows for stat in stats), sum(sum(stat.seconds.values()) for stat in stats)
    return {
        "detect_windows_per_second": windows / seconds,
        "detect_windows": float(stats[0].windows),
        "detect_trees_per_window": float(np.mean([stat.trees / stat.windows for stat in stats])),
    } | {
        f"detect_ms_{name}": 1000 * median(stat.seconds[name] for stat in stats)
        for name in stats[0].seconds
    }


def opencv() -> Path:
    """The interpreter of an environment with OpenCV 4.14."""
    folder = Path("build/opencv4")
    python = folder / "bin" / "python"
    if not (folder / ".ready").exists():
        say("installing OpenCV 4.14 in build/opencv4")
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "opencv-python-headless>=4.14,<5"], check=True)
        (folder / ".ready").touch()
    return python


def say(text: str) -> None:
    print(f"bench: detect: {text}", flush=True)
