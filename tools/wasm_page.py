# SPDX-License-Identifier: MIT
"""Build the parts of the site's first page: libsbs as WebAssembly with docs/try/page.c, and the shipped characters.

    python tools/wasm_page.py build/page

The C library is built without LAPACK and without float64, by the clang of ziglang. Needs the packages of
tools/cross/requirements.txt, and nothing of the system.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from cross_build import CROSS, ROOT, run_meson

CHARACTERS = ROOT / "python" / "sbs" / "characters" / "data"

OPTIONS = [
    "-Dlapack=none",
    "-Dfloat64=false",
    "-Dtests=false",
    "-Ddefault_library=static",
    "-Dc_args=['-g0', '-msimd128']",
]
# A module that is called from outside, with the names that the page calls alone.
LINK = ["-mexec-model=reactor", "-Wl,--strip-all", "-Wl,--gc-sections"]


def build_library(build: Path) -> Path:
    """The static library."""
    if not (build / "build.ninja").exists():
        files = [f"--cross-file={CROSS / name}" for name in ("wasm.ini", "zig.ini")]
        run_meson(None, "setup", str(build), *files, *OPTIONS)
    run_meson(None, "compile", "-C", str(build))
    return build / "csrc" / "libsbs.a"


def link(library: Path, module: Path) -> None:
    """The module: docs/try/page.c with the functions of the library that it calls."""
    compiler = [sys.executable, "-m", "ziglang", "cc", "-target", "wasm32-wasi", "-msimd128", "-O2", "-g0"]
    source = ROOT / "docs" / "try" / "page.c"
    include = f"-I{ROOT / 'csrc' / 'include'}"
    subprocess.run([*compiler, *LINK, include, str(source), str(library), "-o", str(module)], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="receives _static/try, beside the site's own")
    folder = parser.parse_args().folder / "_static" / "try"
    folder.mkdir(parents=True, exist_ok=True)
    link(build_library(ROOT / "build" / "wasm"), folder / "sbs.wasm")
    for name in ("woman.glb", "hand.glb"):
        shutil.copy(CHARACTERS / name, folder)


if __name__ == "__main__":
    main()
