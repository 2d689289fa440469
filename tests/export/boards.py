"""Devices under emulation: processors of other kinds, and Cortex-M boards."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

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
ARM = "arm-none-eabi-gcc"


@dataclass(frozen=True)
class Board:
    name: str

    @property
    def compiler(self) -> list[str]:
        return [ARM, "-mthumb", *BOARDS[self.name][1]]

    def build(self, folder: Path, level: str) -> Path:
        """The harness as a program of this board."""
        link = ["--specs=rdimon.specs", "-T", str(HERE / "mps2.ld"), str(HERE / "startup.c")]
        options = ["-DBOARD", level, "-Wl,--gc-sections", "-ffunction-sections", "-Wl,--no-warn-rwx-segments"]
        return device.build(folder, [*self.compiler, *options, *link], f"{self.name}{level}.elf")

    def run(self, folder: Path, program: Path, *, counting: bool = False) -> list[str]:
        """What it prints; when counting, a tick of the timer is 40 instructions."""
        command = ["qemu-system-arm", "-M", BOARDS[self.name][0], "-nographic", "-monitor", "none"]
        command += ["-serial", "none", "-semihosting-config", "enable=on,target=native", "-kernel", str(program)]
        if counting:
            command += ["-icount", "shift=0"]
        return device.run(folder, command, stdin=subprocess.DEVNULL)


def run_processor(folder: Path, name: str, level: str) -> list[str]:
    """Compile for another processor, and run there."""
    compiler, emulator = PROCESSORS[name]
    program = device.build(folder, [compiler, "-static", level], f"{name}{level}")
    return device.run(folder, [emulator, str(program)])
