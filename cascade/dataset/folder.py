"""Folder: the data folder that a user gave, what lies in it, and what turned out to be wrong with it.

Readers go through it for every path, so that nothing outside is ever opened, whatever annotation files or
links say.
"""

import os
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from cascade.dataset.headers import suffixes
from cascade.dataset.images import ImageError, image_size, read_file
from cascade.dataset.numbers import number

# Pictures that are not read are looked at all the same, to be named.
PICTURES = (*suffixes(), ".gif", ".heic", ".heif", ".avif", ".jp2")
MOST_ENTRIES = 5_000_000
DEEPEST = 12  # folders within folders
WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
PART_WORDS = {
    "train": "train", "training": "train", "trn": "train",
    "val": "valid", "valid": "valid", "validation": "valid", "dev": "valid",
    "test": "test", "testing": "test",
}  # fmt: skip


class Problem(NamedTuple):
    """What is wrong with a file, and what to do about it."""

    path: Path
    sentence: str


class DatasetError(ValueError):
    """The data cannot be read at all."""


class Folder:
    """A data folder; `only` is the annotation file to read, if the user named one."""

    def __init__(self, root: Path, only: Path | None = None) -> None:
        self.root = root
        self.only = only
        self.problems: list[Problem] = []
        self.declared: dict[Path, tuple[int, int]] = {}  # sizes of pictures, as annotations say
        self._real = os.path.realpath(root)

    def report(self, path: Path, sentence: str) -> None:
        self.problems.append(Problem(path, sentence))

    @cached_property
    def files(self) -> tuple[str, ...]:
        """Everything but plain folders, relative to the root, in a fixed order; links are not followed."""
        return tuple(sorted(self._walk()))

    def _walk(self) -> Iterator[str]:
        waiting = [("", 0)]
        entries = 0
        while waiting:
            folder, depth = waiting.pop()
            try:
                found = list(os.scandir(self.root / folder))
            except OSError as error:
                self.report(self.root / folder, f"cannot be listed: {error.strerror}")
                continue
            entries += len(found)
            if entries > MOST_ENTRIES:
                raise DatasetError(f"{self.root}: holds more than {MOST_ENTRIES} files; give fewer")
            for entry in found:
                name = f"{folder}{entry.name}"
                if not entry.is_dir(follow_symlinks=False) or name.lower().endswith(PICTURES):
                    yield name
                elif depth == DEEPEST:
                    self.report(Path(entry.path), f"lies {DEEPEST} folders deep and is left out")
                elif not entry.name.startswith("."):
                    waiting.append((f"{name}/", depth + 1))

    def pictures(self, under: str = "") -> list[str]:
        """What is named like a picture, also what turns out not to be one."""
        return [name for name in self.files if name.startswith(under) and name.lower().endswith(PICTURES)]

    @cached_property
    def by_stem(self) -> dict[str, list[str]]:
        """Pictures by their name without folder and ending."""
        found: dict[str, list[str]] = {}
        for name in self.pictures():
            found.setdefault(PurePosixPath(name).stem, []).append(name)
        return found

    def declare(self, path: Path, width: object, height: object) -> None:
        """Note the size that an annotation gives a picture; 0 or nothing is no statement."""
        try:
            size = int(number(width)), int(number(height))
        except ValueError:
            return
        if min(size) > 0:
            self.declared[path] = size

    def annotations(self, *endings: str, deepest: int = 2) -> list[str]:
        """Files with such endings, a few folders deep; or the one that the user named."""
        if self.only is not None:
            name = self.only.relative_to(self.root).as_posix()
            return [name] if name.lower().endswith(endings) else []
        return [name for name in self.files if name.lower().endswith(endings) and name.count("/") < deepest]

    def inside(self, path: Path) -> bool:
        """Whether a path, links followed, stays within the folder."""
        try:
            real = os.path.realpath(path)
        except (OSError, ValueError):
            return False
        return real == self._real or real.startswith(self._real.rstrip(os.sep) + os.sep)

    def find(self, name: str, bases: Iterable[str] = ("",)) -> Path | None:
        """The file that an annotation means: within a base, or from the folder above, as it was run there."""
        candidates = [name, name.replace("\\", "/")] if "\\" in name else [name]
        for text in candidates:
            if "\0" in text or len(text) > 4096:
                continue
            places = [self.root / base / text for base in bases] + [self.root.parent / text]
            for place in places:
                path = Path(os.path.normpath(place))
                if self.inside(path) and os.path.lexists(path):
                    return path
        return None

    def missing(self, name: str) -> str:
        """The sentence for a picture that `find` did not find."""
        shown = name if len(name) < 200 else name[:200] + "..."
        if name.startswith(("/", "\\")) or ".." in name or name[1:2] == ":":
            return f"names {shown!r}, which leaves the data folder: write a path relative to it"
        return f"names {shown!r}, which is not in the data folder: add the picture or delete the entry"

    def size(self, path: Path) -> tuple[int, int] | None:
        """Width and height of a picture; None, and a problem reported, if it is none."""
        try:
            if not path.is_symlink() or self.inside(path):
                return image_size(path)
            raise ImageError(path, "is a link that leads out of the data folder: copy the picture into it")
        except ImageError as error:
            self.report(path, error.sentence)
            return None

    def text(self, name: str, most: int) -> str:
        """An annotation file as text; DatasetError if it is none."""
        try:
            return self.bytes(name, most).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            where = f"{self.root / name}: is not UTF-8 text at byte {error.start}"
            raise DatasetError(f"{where}: save it as UTF-8") from None

    def bytes(self, name: str, most: int, first: int | None = None) -> bytes:
        path = self.root / name
        if not self.inside(path):
            raise DatasetError(f"{path}: is a link that leads out of the data folder: copy the file into it")
        try:
            return read_file(path, most, first)
        except ImageError as error:
            raise DatasetError(str(error)) from None


def words(name: str) -> list[str]:
    """The words of a name, in small letters: TrainImages/pos-1 has train, images, pos."""
    return [word.lower() for word in WORDS.findall(name)]


def part_of(*names: str) -> str:
    """The part by the words of names; the first name that says it decides, train if none does."""
    for name in names:
        for word in reversed(words(name)):
            if word in PART_WORDS:
                return PART_WORDS[word]
    return "train"
