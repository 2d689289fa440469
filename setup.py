"""Builds the kernels of cython_ext/ into cascade/_ext/; everything else is in pyproject.toml.

CASCADE_DEBUG=1 builds with bounds checks and without optimisation, CASCADE_SANITIZE=1 for AddressSanitizer
and UBSan (see `make sanitize`).
"""

import os
import subprocess
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

DEBUG = os.environ.get("CASCADE_DEBUG") == "1"
SANITIZE = os.environ.get("CASCADE_SANITIZE") == "1"
SHARED = "cascade._ext._shared"  # Cython's own code for memoryviews, once instead of in every kernel
BUILD = Path("build/cython-debug" if DEBUG else "build/cython")
HEADERS = [str(path) for folder in ("cython_ext", "cascade/runtime") for path in Path(folder).glob("*.h")]
KERNELS = sorted(path.stem for path in Path("cython_ext").glob("*.pyx"))


class BuildKernels(build_ext):
    def build_extensions(self) -> None:
        self.force = True  # a change of mode must never leave a stale kernel behind
        flags = ["-O0", "-g"] if DEBUG else ["-O3"]
        flags += ["-std=gnu99", "-ffp-contract=off", "-fno-trapping-math", "-Wno-unused-function", "-pthread"]
        links = ["-pthread", "-lm"]
        if SANITIZE:  # Python's own flags make signed overflow defined, which would hide it
            links.append("-fsanitize=address,undefined")
            flags += [*links, "-O1", "-g", "-fno-wrapv", "-fno-sanitize-recover=undefined"]
        for extension in self.extensions:
            extension.extra_compile_args = flags
            extension.extra_link_args = links
        super().build_extensions()


def shared_extension() -> Extension:
    """The module that the kernels' common code is in; Cython writes its source."""
    source = BUILD / "_shared.c"
    source.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-m", "cython", f"--generate-shared={source}"], check=True)
    return Extension(SHARED, [str(source)])


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
    ext_modules=[shared_extension()]
    + cythonize(
        [
            Extension(
                f"cascade._ext.{name}",
                [f"cython_ext/{name}.pyx"],
                depends=HEADERS,
                include_dirs=["cython_ext"],
            )
            for name in KERNELS
        ],
        compiler_directives=directives,
        build_dir=str(BUILD),
        shared_utility_qualified_name=SHARED,
    ),
    cmdclass={"build_ext": BuildKernels},
)
