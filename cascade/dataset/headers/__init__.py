"""What the head of a picture file says, read before anything is decoded: one file a kind of picture.

Each kind has `looks(data)`, whether a file starts like one; `head(data)`, its size, from the first bytes; and
`check_whole(data)`, which finds files that are cut short and that decoders take without a word. All raise
ValueError with a sentence about the file.
"""

from types import ModuleType

from cascade.dataset.headers import bmp, jpeg, png, pnm, tiff, webp
from cascade.dataset.headers.head import Head, Short

__all__ = ["KINDS", "Head", "Short", "kind_of", "suffixes"]

KINDS: dict[str, ModuleType] = {
    "JPEG": jpeg, "PNG": png, "BMP": bmp, "PGM or PPM": pnm, "TIFF": tiff, "WebP": webp,
}  # fmt: skip

# What else a file named like a picture turns out to be.
OTHERS = (
    (b"GIF8", "a GIF picture"), (b"%PDF", "a PDF document"), (b"PK\x03\x04", "a ZIP archive"),
    (b"\x00\x00\x00", "a video, or a HEIC or AVIF picture"), (b"<", "HTML, XML or SVG, maybe an error page"),
    (b"{", "JSON"), (b"version https://git-lfs", "a Git LFS pointer: fetch the picture with git lfs pull"),
)  # fmt: skip


def suffixes() -> tuple[str, ...]:
    """How the names of picture files end."""
    return tuple(suffix for kind in KINDS.values() for suffix in kind.SUFFIXES)


def kind_of(data: bytes, suffix: str) -> ModuleType:
    """The kind of picture that the bytes are, if the name does not say otherwise."""
    name = next((name for name, kind in KINDS.items() if kind.looks(data)), None)
    if name is None:
        raise ValueError(_stranger(data))
    kind = KINDS[name]
    if suffix.lower() in suffixes() and suffix.lower() not in kind.SUFFIXES:
        right = kind.SUFFIXES[0]
        raise ValueError(f"holds a {name} picture, but its name ends in {suffix}: rename it to {right}")
    return kind


def _stranger(data: bytes) -> str:
    if not data:
        return "the file is empty"
    if not any(data):
        return "holds nothing but zero bytes"
    looks = next((looks for start, looks in OTHERS if data.lstrip().startswith(start)), None)
    if looks is None and all(byte >= 32 or byte in b"\t\r\n" for byte in data[:256]):
        looks = "text"
    what = "none that is known" if looks is None else looks
    return f"is not a picture of a kind that is read ({', '.join(KINDS)}), but {what}"
