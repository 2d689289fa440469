"""The public names: each is there, and importing the package loads next to nothing."""

import subprocess
import sys

import pytest

import cascade


@pytest.mark.parametrize("name", cascade.__all__)
def test_public_names(name):
    assert getattr(cascade, name) is not None
    assert name in dir(cascade)


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        cascade.nonsense  # noqa: B018


def test_import_is_light():
    code = "import sys, cascade; print(sorted(m for m in sys.modules if m.startswith('cascade')))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "['cascade', 'cascade.version']"
