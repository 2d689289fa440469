"""A model as a library for Arduino, PlatformIO and ESP-IDF: one zip that all three take."""

import io
import json
import zipfile

from cascade.export import c, golden
from cascade.export.names import prefix, remark
from cascade.export.search import Search
from cascade.export.sizes import ram_bytes
from cascade.export.template import filled
from cascade.model import Model
from cascade.version import VERSION

FRAMES = (96, 96), (160, 120), (240, 240), (320, 240)  # of usual cameras
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can say: same model, same bytes


def library(model: Model, search: Search) -> dict[str, str]:
    """The text of every file, by its path in the library."""
    name = prefix(model.name)
    texts = c.sources(model, search)
    words = _words(model, search, name)
    selftest = texts["selftest.h"].replace(f'#include "{name}.h"', f'#include "{name}_tables.h"')
    return {
        "library.properties": filled("library.properties", words),
        "library.json": _platformio(model, name),
        "idf_component.yml": f'version: "{VERSION}"\ndescription: {json.dumps(_sentence(model))}\n',
        "CMakeLists.txt": filled("CMakeLists.txt", words),
        "keywords.txt": filled("keywords.txt", words),
        **{f"src/{file}": texts[file] for file in c.RUNTIME},
        f"src/{name}.h": filled("library.h", words),
        f"src/{name}.c": filled("library.c", words),
        f"src/{name}_tables.h": texts[f"{name}.h"],
        f"src/{name}_selftest.h": selftest,
        f"src/{name}_selftest.c": filled("library_selftest.c", words),
        f"examples/{name}_find/{name}_find.ino": filled("sketch.ino", words),
    }


def archive(model: Model, texts: dict[str, str]) -> bytes:
    """The files as a zip with one folder."""
    data = io.BytesIO()
    folder = f"cascade_{prefix(model.name)}"
    with zipfile.ZipFile(data, "w") as file:
        for path, text in texts.items():
            entry = zipfile.ZipInfo(f"{folder}/{path}", EPOCH)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3  # whatever system writes it
            file.writestr(entry, text.encode())
    return data.getvalue()


def _words(model: Model, search: Search, name: str) -> dict[str, str]:
    width, height = golden.size(model, search)
    sizes = []
    for across, down in FRAMES:
        for kind, grey in (("RAM", True), ("COLOUR_RAM", False)):
            size = ram_bytes(model, search, across, down, grey=grey)
            sizes.append(f"#define {name.upper()}_{kind}_BYTES_{across}X{down} {size}")
    return {
        "name": name,
        "NAME": name.upper(),
        "title": remark(model.name),
        "class": remark(model.classes[0]),
        "version": VERSION,
        "trees": str(len(model)),
        "depth": str(model.depth),
        "ram": "\n".join(sizes),
        "selftest": str(width * height + ram_bytes(model, search, width, height)),
    }


def _sentence(model: Model) -> str:
    return f"Finds {remark(model.classes[0])} in frames of a camera, without floating point"


def _platformio(model: Model, name: str) -> str:
    facts = {
        "name": f"cascade_{name}", "version": VERSION, "description": _sentence(model), "frameworks": "*",
        "platforms": "*", "headers": f"{name}.h",
    }  # fmt: skip
    return json.dumps(facts, indent=2) + "\n"
