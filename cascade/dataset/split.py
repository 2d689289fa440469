"""A validation part, split off by picture."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from cascade.dataset.sample import Sample
from cascade.dataset.survey import survey


def split(
    samples: Sequence[Sample], share: float = 0.2, seed: int = 0, digests: Sequence[bytes] | None = None
) -> list[Sample]:
    """The same samples, about a share of train moved to valid; as they are if there is a valid part.

    The pixels decide, not names or order: copies of a picture stay on one side. Pictures with and without
    objects are split alike. `digests` are those of a preflight report; without them every picture is decoded.
    """
    if not 0.0 < share < 1.0:
        raise ValueError(f"share must be between 0 and 1, got {share!r}")
    if any(sample.part == "valid" for sample in samples):
        return list(samples)
    if digests is None:
        digests = [seen.digest for seen in survey(samples)]
    if len(digests) != len(samples):
        raise ValueError(f"expected {len(samples)} digests, one a sample, got {len(digests)}")
    groups: dict[bytes, list[int]] = {}
    for i, (sample, digest) in enumerate(zip(samples, digests, strict=True)):
        if sample.part == "train":
            groups.setdefault(digest or sample.name.encode("utf-8", "surrogateescape"), []).append(i)
    moved: set[int] = set()
    for shows in (True, False):
        alike = {
            key: group for key, group in groups.items()
            if any(_shows_object(samples[i]) for i in group) == shows
        }  # fmt: skip
        moved |= _chosen(alike, share, seed)
    return [replace(sample, part="valid") if i in moved else sample for i, sample in enumerate(samples)]


def _shows_object(sample: Sample) -> bool:
    return any(not box.ignore for box in sample.boxes)


def _chosen(groups: dict[bytes, list[int]], share: float, seed: int) -> set[int]:
    """Whole groups, shuffled by the seed, until the share is reached; something stays to train on."""

    def place(key: bytes) -> bytes:
        return hashlib.sha256(b"%d:" % seed + key).digest()

    wanted = share * sum(map(len, groups.values()))
    chosen: set[int] = set()
    for key in sorted(groups, key=place)[: len(groups) - 1]:
        if len(chosen) >= wanted:
            break
        chosen.update(groups[key])
    return chosen
