"""The command line's front: help, version, unknown commands, and that commands load only what they need."""

import subprocess
import sys

import pytest

from cascade.__main__ import COMMANDS, main
from cascade.version import VERSION


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_lists_every_command(flag, capsys):
    assert main([flag]) == 0
    text = capsys.readouterr().out
    assert all(f"\n  {name} " in text for name in COMMANDS)


def test_no_command_shows_help_and_is_bad_use(capsys):
    assert main([]) == 2
    assert "usage" in capsys.readouterr().out


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"cascade {VERSION}\n"


def test_unknown_command_says_what_there_is(capsys):
    assert main(["trian"]) == 2
    assert "demo" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    assert "usage: cascade" in capsys.readouterr().out


def test_version_and_the_package_load_nothing_heavy():
    code = (
        "import sys; from cascade.__main__ import main; main(['--version']); import cascade;"
        "print([m for m in ('cv2', 'sklearn', 'matplotlib', 'skimage') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.splitlines() == [f"cascade {VERSION}", "[]"]
