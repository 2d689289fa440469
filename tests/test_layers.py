"""Imports go one way: L0 <- L1 <- L2 <- {run, train} <- L4 <- tools, and running never imports training."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = {
    "L0": {"version", "layout", "threads", "_ext"},
    "L1": {
        "trees", "channels", "powerlaw", "features", "haar", "binning", "checkpoint", "sigmoid", "boxes",
        "suppression", "shipped",
    },
    "L2": {"model", "modelfile"},
    "L3r": {"pyramid", "detector", "export"},
    "L3t": {
        "settings", "samples", "subsets", "heavy", "quickboost", "leaves", "ebboost", "rounds", "resume",
        "boosting", "dataset",
    },
    "L4": {
        "classifier", "tabular", "margins", "recipe", "template", "jitter", "sampling", "mining",
        "softcascade", "calibration", "trainingfile", "training", "evaluation", "work",
        "reporting", "report", "runfolder",
    },
    "tools": {"tools"},
    "top": {"__init__", "__main__"},
}
# What each layer may import besides itself.
BELOW = {
    "L0": set(),
    "L1": {"L0"},
    "L2": {"L0", "L1"},
    "L3r": {"L0", "L1", "L2"},
    "L3t": {"L0", "L1", "L2"},
    "L4": {"L0", "L1", "L2", "L3r", "L3t"},
    "tools": {"L0", "L1", "L2", "L3r", "L3t", "L4", "top"},
    "top": {"L0", "L1", "L2", "L3r", "L3t", "L4"},
}
PACKAGES = {"dataset", "export", "reporting"}  # packages within cascade, each one name in the table above
FILES = [
    *sorted((ROOT / "cascade").glob("*.py")),
    *(file for package in sorted(PACKAGES) for file in sorted((ROOT / "cascade" / package).rglob("*.py"))),
    *sorted((ROOT / "tools").glob("*.py")),
]


def module_of(file: Path) -> str:
    """The name in the table of layers that a file goes by."""
    place = file.relative_to(ROOT).parts
    return "tools" if place[0] == "tools" else Path(place[1]).stem


def layer_of(module: str) -> str:
    return next(layer for layer, modules in LAYERS.items() if module in modules)


def imports(file: Path) -> set[str]:
    """The parts of cascade that a file imports, anywhere in it."""
    names = {name.split(".")[1] for name in imported_names(file) if name.startswith("cascade.")}
    return names - {"__version__"}


def imported_names(file: Path) -> set[str]:
    """The full names that a file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file.name}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        found.update(names)
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_imports_go_down(file):
    mine = layer_of(module_of(file))
    for module in imports(file):
        theirs = layer_of(module)
        assert theirs == mine or theirs in BELOW[mine], f"{file.name} imports {module}"


def test_no_cycles_within_a_layer():
    graph = {file.stem: imports(file) for file in FILES if file.parent.name == "cascade"}
    check_no_cycles(graph)


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_no_cycles_within_a_package(package):
    names = {}
    for file in FILES:
        if module_of(file) == package:
            parts = file.relative_to(ROOT).with_suffix("").parts
            names[".".join(part for part in parts if part != "__init__")] = file
    graph = {
        name: {other for other in names for found in imported_names(file)
               if found == other or (found.rpartition(".")[0] == other and found not in names)}
        for name, file in names.items()
    }  # fmt: skip
    check_no_cycles(graph)


def check_no_cycles(graph: dict[str, set[str]]) -> None:
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path, module))
        if module not in done:
            for other in graph.get(module, ()):
                visit(other, (*path, module))
            done.add(module)

    for module in graph:
        visit(module, ())


def test_nothing_runs_foreign_code():
    """No pickle, eval or the like anywhere in the package."""
    banned = {"pickle", "marshal", "shelve", "joblib", "dill"}
    for file in FILES:
        tree = ast.parse(file.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name for alias in node.names} | {getattr(node, "module", None)}
                assert not names & banned, file
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"eval", "exec"}, file
