"""Devices under emulation: processors of other kinds, and Cortex-M boards."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from cascade.export import c
from cascade.export.names import prefix
from tests.export import device

HERE = Path(__file__).parent / "board"
# The compiler of a processor, and what runs its programs.
PROCESSORS = {
    "aarch64": ("aarch64-linux-gnu-gcc", "qemu-aarch64-static"),
    "armhf": ("arm-linux-gnueabihf-gcc", "qemu-arm-static"),
    "s390x": ("s390x-linux-gnu-gcc", "qemu-s390x-static"),  # big-endian
}
BOARDS = {
    "m3": ("mps2-an385", ["-mcpu=cortex-m3", "-mfloat-abi=soft"]),
    "m4": ("mps2-an386", ["-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"]),
    "m7": ("mps2-an500", ["-mcpu=cortex-m7", "-mfpu=fpv5-d16", "-mfloat-abi=hard"]),
}
ARM = "arm-none-eabi-"
FIND = """#include "@.h"
int find(const uint8_t *frame, int width, int height, void *memory, size_t bytes, cascade_found *found);
int find(const uint8_t *frame, int width, int height, void *memory, size_t bytes, cascade_found *found) {
    return cascade_find(&@_model, &@_search, frame, CASCADE_GREY, width, height, memory, bytes, found);
}
"""


def tool(name: str, *arguments: str) -> list[str]:
    """What one of the binary utilities says, line by line."""
    ran = subprocess.run([ARM + name, *arguments], capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()


@dataclass(frozen=True)
class Board:
    name: str

    @property
    def compiler(self) -> list[str]:
        return [f"{ARM}gcc", "-mthumb", *BOARDS[self.name][1]]

    def object(self, folder: Path, exported: device.Exported) -> Path:
        """One model and one function that runs it, compiled for size."""
        name = prefix(exported.model.name)
        for file, text in c.sources(exported.model, exported.search).items():
            (folder / file).write_text(text)
        (folder / "find.c").write_text(FIND.replace("@", name))
        return device.build(folder, [*self.compiler, "-Os", "-c"], "find.o", "find.c")

    def flash(self, folder: Path, exported: device.Exported) -> tuple[int, int]:
        """Bytes of code, and of tables."""
        sizes = tool("size", "-A", str(self.object(folder, exported)))
        found = {line.split()[0]: int(line.split()[1]) for line in sizes if line.startswith(".")}
        assert not found[".data"]
        assert not found[".bss"]
        return found[".text"], sum(size for name, size in found.items() if name.startswith(".rodata"))

    def links(self, folder: Path, exported: device.Exported) -> tuple[set[str], set[str]]:
        """Names of what can be written to, and of what libraries must have."""
        symbols = [line.split() for line in tool("nm", str(self.object(folder, exported)))]
        written = {name for *_, kind, name in symbols if kind in "bBdDcC"}
        return written, {name for *_, kind, name in symbols if kind == "U"}

    def build(self, folder: Path, level: str) -> Path:
        """The harness as a program of this board."""
        link = ["--specs=rdimon.specs", "-T", str(HERE / "mps2.ld"), str(HERE / "startup.c")]
        options = ["-DBOARD", level, "-Wl,--gc-sections", "-ffunction-sections", "-Wl,--no-warn-rwx-segments"]
        return device.build(folder, [*self.compiler, *options, *link], f"{self.name}{level}.elf")

    def run(self, folder: Path, program: Path, *, counting: bool = False) -> list[str]:
        """What it prints; when counting, a tick of the timer is 40 instructions."""
        command = ["qemu-system-arm", "-M", BOARDS[self.name][0], "-nographic", "-monitor", "none"]
        command += ["-serial", "none", "-semihosting-config", "enable=on,target=native"]
        command += ["-kernel", str(program)]
        if counting:
            command += ["-icount", "shift=0"]
        return device.run(folder, command, stdin=subprocess.DEVNULL)


def run_processor(folder: Path, name: str, level: str) -> list[str]:
    """Compile for another processor, and run there."""
    compiler, emulator = PROCESSORS[name]
    program = device.build(folder, [compiler, "-static", level], f"{name}{level}")
    return device.run(folder, [emulator, str(program)])
