"""Whatever the bytes are: a model that is written back as it was read, or a ModelFormatError."""

import itertools
import struct
import tracemalloc
import zlib
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascade import modelfile
from cascade.model import Model, ModelFormatError
from cascade.sigmoid import Sigmoid
from tests.test_model import KINDS, example, models

RULES = {"magic", "version", "size", "checksum", "sections", "limits", "text", "indices", "values"}
SAMPLES = {
    kind: example(kind, name="a", classes=("b", "c"), metadata={"d": "e", "f": ""}, accept=[9, -9],
                  sigmoid=Sigmoid(1.0, -0.0)).to_bytes()
    for kind in KINDS
}  # fmt: skip
TINY = {
    kind: example(kind, name="a", classes=("b",), metadata={}, feature=[[1]], threshold=[[7]], leaf=[[1, -1]],
                  reject=[0]).to_bytes()
    for kind in KINDS
}  # fmt: skip


def with_checksum(data: bytes) -> bytes:
    """The same bytes, with the checksum that belongs to them."""
    return data[:-4] + struct.pack("<I", zlib.crc32(data[:-4]))


def sealed(data: bytes) -> bytes:
    """The same bytes, with the size and the checksum that belong to them."""
    return with_checksum(data[:12] + struct.pack("<I", len(data)) + data[16:])


def outcome(data: bytes) -> str:
    """The rule that the bytes break, or "valid"; any other error is a bug."""
    try:
        model = Model.from_bytes(data)
    except ModelFormatError as refused:
        error = refused
    else:
        assert model.to_bytes() == data
        return "valid"
    assert error.rule in RULES
    assert 0 <= error.offset <= len(data)
    assert 0 < len(str(error)) < 400
    assert str(error).isprintable()
    return error.rule


def sections(data: bytes) -> dict[str, tuple[int, bytes]]:
    """Where each section begins, and all its bytes."""
    found = {}
    at = 16
    while at < len(data) - 4:
        size = 8 + struct.unpack_from("<I", data, at + 4)[0]
        found[data[at : at + 4].decode()] = at, data[at : at + size]
        at += size
    return found


def rebuilt(data: bytes, parts: list[bytes]) -> bytes:
    return sealed(data[:16] + b"".join(parts) + bytes(4))


@pytest.mark.parametrize("kind", KINDS)
def test_every_truncation_is_refused(kind):
    data = SAMPLES[kind]
    for cut in range(len(data)):
        assert outcome(data[:cut]) in {"magic", "size"}
        if cut >= 20:
            assert outcome(sealed(data[:cut])) == "sections"


@pytest.mark.parametrize("kind", KINDS)
def test_every_changed_byte_is_refused(kind):
    good = SAMPLES[kind]
    data = bytearray(good)
    for at in range(len(data)):
        for value in range(256):
            if value != good[at]:
                data[at] = value
                with pytest.raises(ModelFormatError):
                    modelfile.unpack(data)
        data[at] = good[at]
    assert outcome(bytes(data)) == "valid"


@pytest.mark.parametrize("kind", KINDS)
def test_every_changed_byte_with_the_checksum_put_right(kind):
    good = TINY[kind]
    seen = Counter()
    data = bytearray(good)
    for at in range(len(data) - 4):
        for value in range(256):
            if value != good[at]:
                data[at] = value
                seen[outcome(with_checksum(bytes(data)))] += 1
        data[at] = good[at]
    assert set(seen) == RULES - {"checksum"} | {"valid"}


@pytest.mark.parametrize("kind", KINDS)
def test_every_inserted_and_every_missing_byte(kind):
    data = SAMPLES[kind]
    for at in range(len(data) + 1):
        for byte in (b"\0", b"\1", b"a", b"\xff"):
            longer = data[:at] + byte + data[at:]
            assert outcome(longer) in {"magic", "version", "values", "size"}
            assert outcome(sealed(longer)) != "valid"
        if at < len(data):
            assert outcome(sealed(data[:at] + data[at + 1 :])) != "valid"


@pytest.mark.parametrize("extra", [b"\0", b"\n", b"PK\5\6" + bytes(18), SAMPLES["cell"]])
def test_trailing_bytes_are_refused(extra):
    data = SAMPLES["cell"]
    assert outcome(data + extra) == "size"
    assert outcome(sealed(data + extra)) == "sections"
    assert outcome(sealed(data[:-4] + extra + data[-4:])) == "sections"
    assert outcome(extra + data) in {"magic", "size"}


@pytest.mark.parametrize("kind", KINDS)
def test_sections_come_once_and_in_order(kind):
    data = SAMPLES[kind]
    parts = [part for _, part in sections(data).values()]
    assert rebuilt(data, parts) == data
    for i in range(len(parts)):
        assert outcome(rebuilt(data, parts[:i] + parts[i + 1 :])) == "sections"
        for j in range(len(parts) + 1):
            assert outcome(rebuilt(data, parts[:j] + [parts[i]] + parts[j:])) == "sections"
        assert outcome(rebuilt(data, parts[:i] + [b"MORE" + bytes(4)] + parts[i:])) == "sections"
    for i, j in itertools.combinations(range(len(parts)), 2):
        swapped = parts.copy()
        swapped[i], swapped[j] = parts[j], parts[i]
        assert outcome(rebuilt(data, swapped)) == "sections"


@pytest.mark.parametrize("kind", KINDS)
def test_lengths_that_lie_are_refused(kind):
    data = SAMPLES[kind]
    edges = [0, 1, 2**15, 2**16, 2**31, 2**32]
    lies = {edge + step for edge in edges for step in (-9, -8, -4, -2, -1, 0, 1) if 0 <= edge + step < 2**32}
    for at in [12, *(start + 4 for start, _ in sections(data).values())]:
        (true,) = struct.unpack_from("<I", data, at)
        for lie in (lies | {true - 1, true + 1, true + 8, true + 2**31, 2**32 - at, len(data)}) - {true}:
            if 0 <= lie < 2**32:
                changed = data[:at] + struct.pack("<I", lie) + data[at + 4 :]
                assert outcome(with_checksum(changed)) in {"size", "sections", "text"}


@pytest.mark.parametrize("kind", KINDS)
def test_counts_that_lie_are_refused(kind):
    """Depth, trees, rectangles, classes and metadata entries: every combination of extremes."""
    data = SAMPLES[kind]
    true = struct.unpack_from("<B2H2B", data, 31)
    some = (0, 1, 2, 8, 9, 255), (0, 1, 2, 4096, 4097, 65535), (0, 2, 65535), (0, 1, 2, 255), (0, 2, 255)
    for counts in itertools.product(*some):
        changed = data[:31] + struct.pack("<B2H2B", *counts) + data[38:]
        assert (outcome(with_checksum(changed)) == "valid") == (counts == true)


NAN, INFINITY = struct.pack("<d", float("nan")), struct.pack("<d", float("inf"))


@pytest.mark.parametrize(
    ("kind", "section", "at", "new", "blamed", "rule", "words"),  # both places count from the content
    [
        ("cell", "HEAD", 0, b"\3", 0, "values", "kind must be 0 to 2, got 3"),
        ("cell", "HEAD", 1, b"\2", 1, "values", "channels must be 0 to 1, got 2"),
        ("haar", "HEAD", 1, b"\1", 1, "values", "channels must be grey, got 'colour'"),
        ("cell", "HEAD", 2, b"\3", 2, "values", "cell must be 2 or 4, got 3"),
        ("haar", "HEAD", 2, b"\2", 2, "values", "cell must be 1, got 2"),
        ("cell", "HEAD", 3, b"\2", 3, "values", "smooth must be"),
        ("haar", "HEAD", 4, b"\1", 4, "values", "normalise must be"),
        ("cell", "HEAD", 5, b"\xff\xff", 5, "limits", "window must have at most 65535 cells"),
        ("cell", "HEAD", 6, b"\0", 6, "values", "window must be a whole number, 1 to 255, got 0"),
        ("cell", "HEAD", 7, b"\x09", 7, "limits", "depth must be 1 to 8, got 9"),
        ("cell", "HEAD", 8, b"\1\x10", 8, "limits", "trees must be 1 to 4096, got 4097"),
        ("cell", "HEAD", 12, b"\0", 12, "limits", "number of classes must be 1 to 255, got 0"),
        ("cell", "HEAD", 14, b"\x10", 14, "values", "reject_shift must be"),
        ("cell", "HEAD", 15, b"\x81", 15, "values", "border must be a whole number, 0 to 128, got 129"),
        ("cell", "HEAD", 16, NAN, 16, "values", "score_unit must be a finite number, got nan"),
        ("cell", "HEAD", 16, INFINITY, 16, "values", "score_unit must be a finite number, got inf"),
        ("cell", "HEAD", 16, bytes(8), 16, "values", "score_unit must be above 0"),
        ("cell", "HEAD", 28, b"\xff\xff\xff\x7f", 28, "values", "box must have a size"),
        ("cell", "HEAD", 44, b"\1\0\4\0", 44, "values", "lambdas must be"),
        ("cell", "TEXT", 0, b"\xff", 0, "text", "name runs past the end of TEXT"),
        ("cell", "TEXT", 0, b"\0", 1, "text", "classes runs past the end of TEXT"),
        ("cell", "TEXT", 1, b"\x1b", 0, "text", "name must have no control characters"),
        ("cell", "TEXT", 3, b"\xff", 3, "text", "classes must be UTF-8: invalid start byte"),
        ("cell", "TEXT", 5, b"b", 4, "text", "classes must differ, got 'b' twice"),
        ("cell", "TEXT", 7, b"D", 6, "text", "metadata keys must be made of a-z"),
        ("cell", "TEXT", 7, b"z", 10, "text", "metadata keys must rise, got 'z' before 'f'"),
        ("cell", "TEXT", 7, b"f", 10, "text", "metadata keys must rise, got 'f' before 'f'"),
        ("cell", "TEXT", 11, b"F", 10, "text", "metadata keys must rise, got 'd' before 'F'"),
        ("cell", "TEXT", 12, b"\1", 12, "text", "metadata runs past the end of TEXT"),
        ("rect", "RECT", 5, b"\x08", 5, "indices", r"plane below 8, got \[8, 1, 2, 2, 1\] as number 1"),
        ("rect", "RECT", 7, b"\x03", 5, "indices", "lie in the window"),
        ("rect", "RECT", 8, b"\xff", 5, "indices", "lie in the window"),
        ("rect", "RECT", 9, b"\0", 5, "indices", "lie in the window"),
        ("haar", "RECT", 15, b"\2", 15, "indices", "lie in the window"),
        ("haar", "RECT", 19, b"\0", 15, "values", "weights of -128 to 127 other than 0"),
        ("haar", "RECT", 29, b"\1", 15, "indices", "lie in the window"),
        ("cell", "FEAT", 2, b"\x48\0", 2, "indices", "feature must be one of the 72 cells .*, got 72"),
        ("rect", "FEAT", 2, b"\2\0", 2, "indices", "feature must be one of the 2 rectangles, got 2"),
        ("haar", "FEAT", 2, b"\xff\xff", 2, "indices", "feature must be one of the 2 rectangles, got 65535"),
        ("cell", "LEAF", -4, b"\7", 7, "sections", "REJE was expected, got "),
        ("cell", "LEAF", -4, b"\xff", -4, "sections", "LEAF has a length of 255, beyond the end"),
        ("cell", "REJE", -8, b"r", -8, "sections", "REJE was expected, got b'rEJE'"),
        ("cell", "ACCE", 0, b"\xfd\xff", 0, "values", "accept must be above reject, got -3 and -3"),
        ("cell", "SIGM", 0, NAN, 0, "values", "sigmoid must be a finite number"),
        ("cell", "SIGM", 8, INFINITY, 0, "values", "sigmoid must be a finite number"),
        ("cell", "SIGM", -4, b"\x0f", 15, "sections", "SIGM is the last section, 1 bytes follow it"),
    ],
)
def test_errors_say_where_and_why(kind, section, at, new, blamed, rule, words):
    data = SAMPLES[kind]
    content = sections(data)[section][0] + 8
    place = content + at
    with pytest.raises(ModelFormatError, match=words) as caught:
        Model.from_bytes(with_checksum(data[:place] + new + data[place + len(new) :]))
    assert (caught.value.rule, caught.value.offset - content) == (rule, blamed)
    assert str(caught.value) == f"{caught.value.reason} (byte {caught.value.offset})"


@pytest.mark.parametrize("section", ["HEAD", *modelfile.ARRAYS, "SIGM"])
@pytest.mark.parametrize("change", [-1, 1])
def test_sections_of_wrong_length_are_refused(section, change):
    """Lengths that are consistent in themselves, but not what the head asks for."""
    data = SAMPLES["rect"]
    at, part = sections(data)[section]
    content = (part[8:] + b"\0")[: len(part) - 8 + change]
    part = part[:4] + struct.pack("<I", len(content)) + content
    parts = [part if name == section else old for name, (_, old) in sections(data).items()]
    expected = f"{section} must have a length of {len(content) - change}, got {len(content)}"
    with pytest.raises(ModelFormatError, match=expected) as caught:
        Model.from_bytes(rebuilt(data, parts))
    assert (caught.value.rule, caught.value.offset) == ("sections", at + 4)


def test_text_must_be_used_up():
    data = SAMPLES["rect"]
    parts = {name: part for name, (_, part) in sections(data).items()}
    content = parts["TEXT"][8:] + bytes(3)
    parts["TEXT"] = b"TEXT" + struct.pack("<I", len(content)) + content
    with pytest.raises(ModelFormatError, match="TEXT has 3 bytes too many") as caught:
        Model.from_bytes(rebuilt(data, list(parts.values())))
    assert caught.value.rule == "text"


def test_the_frame_is_checked():
    data = SAMPLES["cell"]
    size = len(data)
    for changed, offset, rule, words in (
        (data[:10] + b"\1" + data[11:], 10, "values", "reserved must be 0, got 1"),
        (data[:10] + b"\0\1" + data[12:], 10, "values", "reserved must be 0, got 256"),
        (data + b"\0", 12, "size", f"given as {size}, the file has {size + 1} bytes: it has bytes too many"),
        (data[:-1], 12, "size", f"given as {size}, the file has {size - 1} bytes: it is cut short"),
        (data[:15] + b"\5" + data[16:], 12, "size", "size must be at most 67108864 bytes, got 8388"),
        (data[:19], 19, "size", "size is 19 bytes: the file is cut short"),
        (data[:-1] + bytes([data[-1] ^ 1]), size - 4, "checksum", "the file is damaged"),
    ):
        with pytest.raises(ModelFormatError, match=words) as caught:
            Model.from_bytes(changed)
        assert (caught.value.offset, caught.value.rule) == (offset, rule)


@pytest.mark.parametrize("version", [0, 2, 255, 65535])
def test_other_versions_are_refused(version):
    data = SAMPLES["cell"]
    changed = with_checksum(data[:8] + struct.pack("<H", version) + data[10:])
    with pytest.raises(ModelFormatError, match=f"version is {version}, this cascade reads 1"):
        Model.from_bytes(changed)


def test_a_feature_must_lie_in_a_smaller_window_too():
    data = example(feature=[[0], [71]]).to_bytes()
    assert outcome(data) == "valid"
    assert outcome(with_checksum(data[:29] + b"\2" + data[30:])) == "indices"
    assert outcome(with_checksum(data[:30] + b"\2" + data[31:])) == "indices"


@given(st.binary(max_size=300))
def test_random_bytes(data):
    assert outcome(data) != "valid"
    assert outcome(modelfile.MAGIC + data) != "valid"
    assert outcome(sealed(modelfile.MAGIC + struct.pack("<HHI", 1, 0, 0) + data + bytes(4))) != "valid"


@given(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(modelfile.SECTIONS), st.binary(max_size=60)))
def test_sections_of_random_bytes(kind, contents):
    data = SAMPLES[kind]
    parts = {name: part for name, (_, part) in sections(data).items()}
    for name, content in contents.items():
        parts[name] = name.encode() + struct.pack("<I", len(content)) + content
    outcome(rebuilt(data, list(parts.values())))


@given(models(deepest=2), st.data())
def test_random_changes_of_random_models(model, draw):
    data = bytearray(model.to_bytes())
    for _ in range(draw.draw(st.integers(1, 6))):
        at = draw.draw(st.integers(0, len(data) - 1))
        data[at] = draw.draw(st.integers(0, 255))
    outcome(bytes(data))
    outcome(with_checksum(bytes(data)))
    outcome(sealed(bytes(data)))


@given(st.sampled_from(KINDS), st.binary(max_size=120))
def test_random_bytes_in_place_of_the_head_and_text(kind, data):
    good = SAMPLES[kind]
    outcome(with_checksum(good[:24] + data + good[24 + len(data) :]))


def peak_of(read, source) -> int:
    """The most memory in use while reading, in bytes."""
    tracemalloc.start()
    try:
        read(source)
    except ModelFormatError:
        pass
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return peak


def test_lies_allocate_nothing():
    """Small files that claim to be large, in every count and length."""
    for kind in KINDS:
        data = SAMPLES[kind]
        places = [(12, "<I"), (31, "<B"), (32, "<H"), (34, "<H"), (36, "<B"), (37, "<B")]
        places += [(start + 4, "<I") for start, _ in sections(data).values()]
        for at, code in places:
            size = struct.calcsize(code)
            for value in (256**size - 1, 256**size // 2, 8, 4096 % 256**size):
                changed = data[:at] + struct.pack(code, value) + data[at + size :]
                assert peak_of(Model.from_bytes, with_checksum(changed)) < 100_000


def large(what: str) -> Model:
    """A model near the limits, in which one part outweighs all others."""
    ones = np.ones((4096, 255), int)
    deep = {"feature": ones, "threshold": ones, "leaf": np.ones((4096, 256), int), "reject": ones[:, 0]}
    haar = np.tile([[0, 0, 2, 2, -1], [1, 0, 1, 2, 2], [0, 0, 1, 1, 1]], (65535, 1, 1))
    if what == "trees":
        return example("cell", **deep)
    if what == "trees and haar":
        return example("haar", **deep, rectangles=haar)
    if what == "haar":
        return example("haar", rectangles=haar)
    if what == "rect":
        return example("rect", rectangles=np.tile([1, 1, 1, 2, 2], (65535, 1)))
    wide = "\U0001f600" + "x" * 248  # four bytes a letter in memory, one in the file
    words = [f"{i:03}" for i in range(255)]
    return example(classes=[word + wide for word in words], metadata=dict.fromkeys(words, wide))


@pytest.mark.parametrize("what", ["trees", "trees and haar", "haar", "rect", "words"])
def test_memory_stays_near_the_size_of_the_file(what, tmp_path):
    path = tmp_path / "large.cascade"
    large(what).save(path)
    data = path.read_bytes()
    limit = 4 * len(data) + (1 << 20)
    last = sections(data)["REJE"][0] - 8
    broken = with_checksum(data[:last] + b"\xff" * 8 + data[last + 8 :])
    assert peak_of(Model.load, path) <= limit
    assert peak_of(Model.from_bytes, data) <= limit - len(data)
    assert peak_of(Model.from_bytes, broken) <= limit - len(data)
