"""Builds the kernels of cython_ext/ into cascade/_ext/; everything else is in pyproject.toml.

CASCADE_DEBUG=1       bounds checks in the kernels, no optimisation.
CASCADE_NO_OPENMP=1   leave OpenMP out; results are the same, only slower.
CASCADE_NEED_OPENMP=1 fail when OpenMP is missing instead of going on with one thread.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

DEBUG = os.environ.get("CASCADE_DEBUG") == "1"
KERNELS = sorted(path.stem for path in Path("cython_ext").glob("*.pyx"))
SHARED = "cascade._ext._shared"  # Cython's own utility code, once instead of once a kernel
OPENMP_PROBE = """
#include <omp.h>
int main(void) { return omp_get_max_threads() < 1; }
"""


def openmp_works(compiler: list[str]) -> bool:
    """Whether a small OpenMP program compiles, links and runs."""
    if os.environ.get("CASCADE_NO_OPENMP") == "1":
        return False
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "probe.c"), Path(folder, "probe")
        source.write_text(OPENMP_PROBE)
        try:
            command = [*compiler, "-fopenmp", str(source), "-o", str(program)]
            subprocess.run(command, check=True, capture_output=True)
            subprocess.run([str(program)], check=True)
        except (OSError, subprocess.CalledProcessError):
            return False
    return True


class BuildKernels(build_ext):
    def build_extensions(self) -> None:
        self.force = True  # a change of mode must never leave a stale kernel behind
        flags = ["-O0", "-g"] if DEBUG else ["-O3"]
        flags += ["-std=c99", "-ffp-contract=off", "-Wno-unused-function"]
        links: list[str] = []
        if openmp_works([self.compiler.compiler[0]]):
            flags.append("-fopenmp")
            links.append("-fopenmp")
        elif os.environ.get("CASCADE_NEED_OPENMP") == "1":
            raise SystemExit("setup: OpenMP does not work with this compiler")
        else:
            print("setup: no OpenMP; kernels will use one thread", file=sys.stderr)
        for extension in self.extensions:
            extension.extra_compile_args = flags
            extension.extra_link_args = links
        super().build_extensions()


directives = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": False,
    "nonecheck": False,
    "cdivision": True,
    "freethreading_compatible": True,
}

setup(
    ext_modules=cythonize(
        [
            Extension(
                f"cascade._ext.{name}",
                [f"cython_ext/{name}.pyx"],
                depends=[str(path) for path in Path("cython_ext").glob("*.h")],
                include_dirs=["cython_ext"],
            )
            for name in KERNELS
        ],
        compiler_directives=directives,
        build_dir="build/cython-debug" if DEBUG else "build/cython",
    ),
    cmdclass={"build_ext": BuildKernels},
)
