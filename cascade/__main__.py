"""The command `cascade`, also `python -m cascade`."""

import os
import sys
from importlib import import_module

from cascade.version import VERSION

# One line a command; its module in tools/ is imported only when it is called.
COMMANDS = {
    "check": "look through a data folder before training on it",
    "train": "a detector from a folder of pictures",
    "calibrate": "set how early a model rejects, and what its scores mean",
    "evaluate": "how good a model is on labelled pictures",
    "models": "list the models that come with cascade",
    "export": "write a model as C for a device, or as JSON",
    "demo": "train on faces from scikit-image and show what quick search saves",
}

USAGE = """usage: cascade COMMAND [options]

Train, run and ship real-time object detectors on plain CPUs and microcontrollers.

commands:
{commands}

options:
  -h, --help  show this text; `cascade COMMAND --help` tells more about one command
  --version   show the version
"""


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit code: 0 done, 2 bad use, 130 interrupted, 141 output closed."""
    arguments = sys.argv[1:] if argv is None else argv
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(usage(), end="")
        return 0 if arguments else 2
    if arguments[0] == "--version":
        print(f"cascade {VERSION}")
        return 0
    command, *rest = arguments
    if command not in COMMANDS:
        print(f"cascade: no command {command!r}; there is: {', '.join(COMMANDS)}", file=sys.stderr)
        return 2
    try:
        return int(import_module(f"cascade.tools.{command}").main(rest))
    except BrokenPipeError:  # whoever read our output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        print("\ncascade: interrupted", file=sys.stderr)
        return 130


def usage() -> str:
    width = max(map(len, COMMANDS))
    lines = (f"  {name:<{width}}  {text}" for name, text in COMMANDS.items())
    return USAGE.format(commands="\n".join(lines))


if __name__ == "__main__":
    sys.exit(main())
