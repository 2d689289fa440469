"""Faces and other things, 25 x 25 pixels, from pictures that come with scikit-image: no download.

    windows, labels = face_windows(5000, 12000, seed=0)
    windows, labels = face_windows(1000, 4000, seed=0, part="test")

The training part and the test part share no face and no photo, so that nothing leaks between them.
A seed gives the same windows each time; another release of OpenCV may round a few pixels otherwise.
"""

from types import ModuleType

import cv2
import numpy as np
from numpy.typing import NDArray

SIDE = 25
# The first hundred pictures of `lfw_subset` are faces. The others are not used: some show one too.
FACES = {"train": range(0, 70), "test": range(70, 100)}
PHOTOS = {
    "train": (
        "brick", "camera", "cell", "clock", "coffee", "coins", "grass", "hubble_deep_field",
        "immunohistochemistry", "moon", "page", "retina",
    ),
    "test": ("chelsea", "gravel", "rocket", "stereo_motorcycle", "text"),
}  # fmt: skip

# How far a face is moved about, so that a few faces stand for many.
ANGLE = 10.0  # degrees, either way
SCALE = (0.9, 1.2)
SHIFT = 1.5  # pixels, either way
CONTRAST = (0.5, 1.3)
BRIGHTNESS = 40.0  # grey levels, either way
NOISE = 6.0  # grey levels, at most


def face_windows(
    positives: int, negatives: int, seed: int, part: str = "train"
) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
    """Grey windows (n, 25, 25) and their labels: first faces, +1, then patches of photos, -1."""
    if part not in FACES:
        raise ValueError(f"part must be one of {', '.join(FACES)}, got {part!r}")
    if positives < 0 or negatives < 0:
        raise ValueError(f"expected counts of at least 0, got {positives} and {negatives}")
    data = _pictures()
    random = np.random.default_rng([seed, list(FACES).index(part)])
    faces = _faces(data, part)
    windows = np.concatenate([_jitter(faces, positives, random), _cut(photos(part), negatives, random)])
    labels = np.repeat(np.array([1, -1], np.int8), [positives, negatives])
    return windows, labels


def photos(part: str = "train") -> list[NDArray[np.uint8]]:
    """The photos of a part, grey; none shows a face."""
    data = _pictures()
    return [_grey(getattr(data, name)()) for name in PHOTOS[part]]


def mean_face() -> NDArray[np.float32]:
    """The mean of the training part's faces as they come, to draw features over."""
    return np.asarray(_faces(_pictures(), "train").mean(axis=0))


def _faces(data: ModuleType, part: str) -> NDArray[np.float32]:
    return np.asarray(data.lfw_subset()[FACES[part]] * 255, np.float32)


def _pictures() -> ModuleType:
    try:
        from skimage import data
    except ImportError as error:
        raise ModuleNotFoundError(
            "the faces and photos come with scikit-image, which is not installed; "
            "try: pip install scikit-image"
        ) from error
    module: ModuleType = data
    return module


def _grey(photo: NDArray[np.uint8] | tuple[NDArray[np.uint8], ...]) -> NDArray[np.uint8]:
    """One grey picture; of a stereo pair, the left one."""
    image = photo[0] if isinstance(photo, tuple) else photo
    return np.asarray(image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), np.uint8)


def _jitter(faces: NDArray[np.float32], count: int, random: np.random.Generator) -> NDArray[np.uint8]:
    """Faces drawn again and again, each time turned, scaled, shifted, mirrored and lit anew."""
    angle = np.radians(random.uniform(-ANGLE, ANGLE, count))
    scale = random.uniform(*SCALE, count)
    shift = random.uniform(-SHIFT, SHIFT, (count, 2))
    mirror = random.choice([-1.0, 1.0], count)
    cos, sin = scale * np.cos(angle), scale * np.sin(angle)
    turn = np.array([[cos * mirror, -sin], [sin * mirror, cos]]).transpose(2, 0, 1)
    middle = np.full(2, (SIDE - 1) / 2)
    matrices = np.concatenate([turn, (middle + shift - turn @ middle)[..., None]], axis=2)
    windows = np.empty((count, SIDE, SIDE), np.float32)
    for i, face in enumerate(random.integers(0, len(faces), count)):
        windows[i] = cv2.warpAffine(faces[face], matrices[i], (SIDE, SIDE), borderMode=cv2.BORDER_REFLECT_101)
    return _relight(windows, random)


def _relight(windows: NDArray[np.float32], random: np.random.Generator) -> NDArray[np.uint8]:
    """Another contrast, brightness and noise for each window."""
    shape = (len(windows), 1, 1)
    mean = windows.mean(axis=(1, 2), keepdims=True)
    light = mean + random.uniform(-BRIGHTNESS, BRIGHTNESS, shape)
    noise = random.uniform(0, NOISE, shape) * random.standard_normal(windows.shape, np.float32)
    lit = (windows - mean) * random.uniform(*CONTRAST, shape) + light + noise
    return np.asarray(np.rint(lit).clip(0, 255), np.uint8)


def _cut(photos: list[NDArray[np.uint8]], count: int, random: np.random.Generator) -> NDArray[np.uint8]:
    """Square patches of 25 pixels up to half a photo, small ones as often as large ones."""
    windows = np.empty((count, SIDE, SIDE), np.uint8)
    for i, which in enumerate(random.integers(0, len(photos), count)):
        photo = photos[which]
        side = int(SIDE * (min(photo.shape) / (2 * SIDE)) ** random.uniform())
        y, x = (int(random.integers(0, length - side + 1)) for length in photo.shape)
        patch = photo[y : y + side, x : x + side]
        if random.uniform() < 0.5:
            patch = np.ascontiguousarray(patch[:, ::-1])
        windows[i] = cv2.resize(patch, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    return windows
