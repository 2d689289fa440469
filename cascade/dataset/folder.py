"""Folder: the data folder that a user gave, what lies in it, and what turned out to be wrong with it.

Readers go through it for every path, so that nothing outside is ever opened, whatever annotation files or
links say.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from cascade.dataset.headers import suffixes
from cascade.dataset.images import ImageError, image_size, read_file
from cascade.dataset.numbers import number, shortened

# Pictures that are not read are looked at all the same, to be named.
PICTURES = (*suffixes(), ".gif", ".heic", ".heif", ".avif", ".jp2")
MOST_ENTRIES = 5_000_000
MOST_ANNOTATION = 1 << 28  # bytes of an annotation file, of any format
DEEPEST = 12  # folders within folders
WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
PART_WORDS = {
    "train": "train", "training": "train",
    "val": "valid", "valid": "valid", "validation": "valid",
    "test": "test", "testing": "test",
}  # fmt: skip


class Problem(NamedTuple):
    """What is wrong with a file, and what to do about it."""

    path: Path
    sentence: str


class DatasetError(ValueError):
    """Data that cannot be read at all."""

    def __init__(self, path: Path, sentence: str) -> None:
        super().__init__(f"{path}: {sentence}")
        self.path = path
        self.sentence = sentence


class Folder:
    """A data folder; `only` is the annotation file to read, if the user named one."""

    def __init__(self, root: Path, only: Path | None = None) -> None:
        self.root = root
        self.only = only
        self.problems: list[Problem] = []
        self.unreadable: list[Problem] = []  # those of pictures
        self._sizes: dict[Path, tuple[int, int] | None] = {}
        self.declared: dict[Path, tuple[int, int]] = {}  # sizes of pictures, as annotations say
        self._real = os.path.realpath(root)

    def report(self, path: Path, sentence: str) -> None:
        self.problems.append(Problem(path, sentence))

    @contextmanager
    def reporting(self, name: str, where: str = "", loss: str = "it is left out") -> Iterator[None]:
        """Whatever is wrong with an annotation, or with one entry of it, is reported, and reading goes on."""
        try:
            yield
        except DatasetError as error:
            self.report(error.path, f"{error.sentence}; {loss}")
        except ValueError as error:
            self.report(self.root / name, f"{where}{error}; {loss}")

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
                raise DatasetError(self.root, f"holds more than {MOST_ENTRIES} files: give a smaller folder")
            for entry in found:
                name = f"{folder}{entry.name}"
                if entry.name.startswith((".", "__MACOSX")):
                    continue  # what systems leave behind
                if name.lower().endswith(PICTURES) or not entry.is_dir():
                    yield name
                elif entry.is_symlink():
                    what = "is a link to a folder, which is not followed: move the folder here"
                    self.report(Path(entry.path), what)
                elif depth == DEEPEST:
                    self.report(Path(entry.path), f"lies {DEEPEST} folders deep and is left out")
                else:
                    waiting.append((f"{name}/", depth + 1))

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.files)

    def has(self, name: str) -> bool:
        """Whether there is a file of this name, relative to the root."""
        return name in self._names

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
        """What an annotation means: a place within a base; or from the folder above, where tools were run."""
        if not name or "\0" in name or len(name) > 4096:
            return None
        name = name.replace("\\", "/")
        for place in [*(self.root / base / name for base in bases), self.root.parent / name]:
            path = Path(os.path.normpath(place))
            if self.inside(path) and os.path.lexists(path):
                return path
        return None

    def picture(self, name: str, bases: Iterable[str] = ("",)) -> Path:
        """The picture that an annotation means, also by its bare name if there is only one of that name.

        Paths were often written on another machine. ValueError if there is no such picture.
        """
        found = self.find(name, bases)
        if found is not None:
            return found
        place = PurePosixPath(name.replace("\\", "/"))
        if ".." not in place.parts:
            same = [one for one in self.by_stem.get(place.stem, ()) if PurePosixPath(one).name == place.name]
            if len(same) == 1:
                return self.root / same[0]
        if place.is_absolute() or ".." in place.parts or name[1:2] == ":":
            raise ValueError(f"names {shortened(name)}, which leaves the data folder: write a path within it")
        raise ValueError(f"names {shortened(name)}, which is not there: add the picture or delete the entry")

    def size(self, path: Path) -> tuple[int, int] | None:
        """Width and height of a picture; None, and a problem reported, if it is none."""
        if path not in self._sizes:
            try:
                if path.is_symlink() and not self.inside(path):
                    raise ImageError(path, "is a link that leads out of the data folder: copy the picture")
                self._sizes[path] = image_size(path)
            except ImageError as error:
                self.report(path, error.sentence)
                self.unreadable.append(self.problems[-1])
                self._sizes[path] = None
        return self._sizes[path]

    def text(self, name: str, most: int) -> str:
        """An annotation file as text; DatasetError if it is none."""
        try:
            return self.raw(name, most).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            reason = f"is not UTF-8 text at byte {error.start}: save it as UTF-8"
            raise DatasetError(self.root / name, reason) from None

    def raw(self, name: str, most: int, first: int | None = None) -> bytes:
        path = self.root / name
        if not self.inside(path):
            raise DatasetError(path, "is a link that leads out of the data folder: copy the file into it")
        try:
            return read_file(path, most, first)
        except ImageError as error:
            raise DatasetError(path, error.sentence) from None

    def start(self, name: str) -> bytes:
        """The first bytes of an annotation file, to see what it is; none if it cannot be read."""
        try:
            return self.raw(name, MOST_ANNOTATION, 1 << 16)
        except DatasetError:
            return b""


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
