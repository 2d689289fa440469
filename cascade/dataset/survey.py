"""Survey: every picture decoded once, in threads, and what is left of it in a few bytes."""

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import NamedTuple

from cascade.dataset.images import ImageError
from cascade.dataset.sample import Sample
from cascade.threads import thread_count

CHUNK = 256  # samples handed out at once; each thread holds one picture


class Seen(NamedTuple):
    """What was seen of a picture; an error and nothing else if it cannot be read."""

    digest: bytes = b""  # of its pixels: the same for the same picture in another file or format
    width: int = 0
    height: int = 0
    grey: bool = False
    error: str | None = None


def look(sample: Sample) -> Seen:
    """Decode one picture."""
    try:
        image = sample.read()
    except ImageError as error:
        return Seen(error=error.sentence)
    pixels = hashlib.blake2b(repr(image.shape).encode(), digest_size=16)
    pixels.update(image.data)
    return Seen(pixels.digest(), image.shape[1], image.shape[0], image.ndim == 2)


def survey(samples: Sequence[Sample], threads: int = 0) -> Iterator[Seen]:
    """All pictures in their order, whatever the number of threads."""
    waiting = iter(samples)
    with ThreadPoolExecutor(thread_count(threads)) as pool:
        while chunk := list(islice(waiting, CHUNK)):
            yield from pool.map(look, chunk)
