"""A model as JSON that a person can read, and back again without loss.

    {"format": "cascade-model", "version": 1, "name": "face", ..., "trees": [
      {"nodes": [[plane, x, y, threshold], ...], "leaf": [...], "reject": -12},
      ...]}

Nodes of rect and haar models are [rectangle, threshold]. A tree without `reject` or `accept` has no check
after it. JSON is untrusted input, as model files are: whatever is wrong with it is a JsonError in words.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cascade.detector import node_bytes
from cascade.model import NEVER_ACCEPT, NEVER_REJECT, Model
from cascade.modelfile import FieldError
from cascade.sigmoid import Sigmoid

FORMAT, VERSION = "cascade-model", 1
MOST = 40 << 20  # bytes: the text of the largest model is shorter
PLAIN = (
    "name", "kind", "channels", "cell", "smooth", "normalise", "window", "box", "lambdas", "reject_shift",
    "border", "score_unit", "classes", "metadata",
)  # fmt: skip
OPTIONAL = frozenset({"sigmoid", "rectangles"})


class JsonError(ValueError):
    """The text is not a model in JSON."""


def to_json(model: Model) -> str:
    """The text, a line for each tree and each rectangle."""
    head: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    head |= {field: getattr(model, field) for field in PLAIN}
    head["metadata"] = dict(model.metadata)
    if model.sigmoid is not None:
        head["sigmoid"] = {"slope": model.sigmoid.slope, "intercept": model.sigmoid.intercept}
    head["accepts"] = model.accept is not None
    lines = [f" {_text(key)}: {_text(value)}" for key, value in head.items()]
    if len(model.rectangles):
        lines.append(_listed("rectangles", model.rectangles.tolist()))
    lines.append(_listed("trees", _trees(model)))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _listed(key: str, items: list[Any]) -> str:
    return f" {_text(key)}: [\n" + ",\n".join(f"  {_text(item)}" for item in items) + "\n ]"


def _trees(model: Model) -> list[dict[str, Any]]:
    shape = *model.feature.shape, -1
    if model.kind == "cell":
        x, y, plane, threshold = node_bytes(model).T
        nodes = np.stack([plane, x, y, threshold], axis=-1).reshape(shape)
    else:
        nodes = np.stack([model.feature.astype(np.int64), model.threshold], axis=-1)
    trees: list[dict[str, Any]] = []
    for t, (rows, leaf) in enumerate(zip(nodes.tolist(), model.leaf.tolist(), strict=True)):
        tree = {"nodes": rows, "leaf": leaf}
        if model.reject[t] != NEVER_REJECT:
            tree["reject"] = int(model.reject[t])
        if model.accept is not None and model.accept[t] != NEVER_ACCEPT:
            tree["accept"] = int(model.accept[t])
        trees.append(tree)
    return trees


def read(path: Path) -> Model:
    """The model of a JSON file."""
    with Path(path).open("rb") as file:
        data = file.read(MOST + 1)
    try:
        return from_json(data)
    except JsonError as error:
        raise JsonError(f"{path}: {error}") from None


def from_json(data: bytes | str) -> Model:
    """The model of a text that `to_json` could have written."""
    if len(data) > MOST:
        raise JsonError(f"expected at most {MOST} bytes, got more")
    try:
        return Model(**_fields(_parsed(data)))
    except FieldError as error:
        raise JsonError(str(error)) from None
    except RecursionError:
        raise JsonError("expected a model, got lists in lists without end") from None


def _parsed(data: bytes | str) -> dict[str, Any]:
    try:
        fields = json.loads(data, object_pairs_hook=_object, parse_constant=_refused)
    except UnicodeDecodeError as error:
        raise JsonError(f"expected UTF-8, got {error.reason} at byte {error.start}") from None
    except JsonError:
        raise
    except ValueError as error:
        raise JsonError(f"expected a model in JSON: {error}") from None
    if not isinstance(fields, dict) or fields.get("format") != FORMAT or fields.get("version") != VERSION:
        raise JsonError(f'expected an object with "format": "{FORMAT}" and "version": {VERSION}')
    return fields


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise JsonError(f"expected every key once, got {[key for key, _ in pairs]!r:.80}")
    return found


def _refused(constant: str) -> None:
    raise JsonError(f"expected finite numbers, got {constant}")


def _fields(given: dict[str, Any]) -> dict[str, Any]:
    """The fields of a Model; those that are numbers and texts are checked there."""
    _check_keys("the model", given, {"format", "version", "accepts", "trees", *PLAIN}, OPTIONAL)
    fields = {field: given[field] for field in PLAIN}
    for field in ("window", "box", "lambdas", "classes"):
        if not isinstance(given[field], list):
            raise JsonError(f"expected a list as {field}, got {given[field]!r:.80}")
        fields[field] = tuple(given[field])
    if "sigmoid" in given:
        _check_keys("sigmoid", given["sigmoid"], {"slope", "intercept"})
        fields["sigmoid"] = Sigmoid(**given["sigmoid"])
    if not isinstance(given["accepts"], bool):
        raise JsonError(f"expected true or false as accepts, got {given['accepts']!r:.80}")
    fields["rectangles"] = _whole("rectangles", given.get("rectangles", []))
    trees = given["trees"]
    if not isinstance(trees, list) or not trees:
        raise JsonError(f"expected a list of trees, got {trees!r:.80}")
    optional = frozenset({"reject", "accept"} if given["accepts"] else {"reject"})
    for t, tree in enumerate(trees):
        _check_keys(f"tree {t}", tree, {"nodes", "leaf"}, optional)
    fields["leaf"] = _whole("leaf", [tree["leaf"] for tree in trees])
    fields["reject"] = _whole("reject", [tree.get("reject", NEVER_REJECT) for tree in trees])
    if given["accepts"]:
        fields["accept"] = _whole("accept", [tree.get("accept", NEVER_ACCEPT) for tree in trees])
    fields["feature"], fields["threshold"] = _features(given, trees)
    return fields


def _features(given: Mapping[str, Any], trees: list[Any]) -> tuple[Any, Any]:
    """Feature and threshold of every node."""
    nodes = _whole("nodes", [tree["nodes"] for tree in trees])
    parts = 4 if given["kind"] == "cell" else 2
    table = np.array(nodes, object)
    if table.ndim != 3 or table.shape[2] != parts:
        raise JsonError(f"expected nodes of {parts} numbers, as many in each tree")
    if parts == 2:
        return table[..., 0].tolist(), table[..., 1].tolist()
    sides = given["window"]
    if len(sides) != 2 or not all(isinstance(side, int) and 0 < side < 256 for side in sides):
        raise JsonError(f"expected a window of two sides from 1 to 255, got {sides!r:.80}")
    plane, x, y, threshold = np.moveaxis(table, 2, 0)
    outside = (x < 0) | (x >= sides[0]) | (y < 0) | (y >= sides[1]) | (plane < 0)
    if outside.any():
        node = table[outside][0].tolist()
        raise JsonError(f"expected nodes [plane, x, y, threshold] in the window, got {node}")
    return ((plane * sides[1] + y) * sides[0] + x).tolist(), threshold.tolist()


def _check_keys(what: str, given: Any, needed: set[str], optional: frozenset[str] = frozenset()) -> None:
    if not isinstance(given, dict) or not needed <= set(given) <= needed | optional:
        keys = sorted(given) if isinstance(given, dict) else given
        raise JsonError(f"expected {what} to have {', '.join(sorted(needed))}, got {keys!r:.200}")


def _whole(field: str, value: Any) -> Any:
    """Lists of whole numbers, alike in shape, within 64 bits."""
    if isinstance(value, list):
        lengths = {len(item) if isinstance(item, list) else -1 for item in value}
        if len(lengths) > 1:
            raise JsonError(f"expected lists of one length in {field}, got {sorted(lengths)!r:.80}")
        for item in value:
            _whole(field, item)
    elif type(value) is not int or (abs(value) >= 2**31 and value != -(2**31)):
        raise JsonError(f"expected whole numbers of 32 bits in {field}, got {value!r:.80}")
    return value
