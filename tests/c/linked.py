# SPDX-License-Identifier: MIT
"""Build the example against the installed C library, by its Makefile or CMakeLists.txt, run it and check its numbers.

The library is that of a build of meson, which is installed into a temporary folder for it, or an archive of
``make dist-c``, also one for another system. For the static library the shared one is taken away.
"""

import argparse
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

# The radius of the tube, which linear blending makes a circle's chord of: an angle of 170 degrees, cut in halves.
RADIUS = 0.25
EXPECTED = {
    "rigid": RADIUS,
    "linear": RADIUS * math.cos(math.radians(85)),
    "spherical": RADIUS,
    "dual quaternion": RADIUS,
}
PRINTED = 0.5e-4  # four digits are


def run(*command: str | Path, **variables: str | Path) -> str:
    """What a program prints, with variables of its environment."""
    environment = os.environ | {name: str(value) for name, value in variables.items()}
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{shlex.join(map(str, command))}: {done.stdout}\nended with {done.returncode}")
    return done.stdout


def install(build: Path, folder: Path) -> Path:
    """Install what meson has built; returns the prefix, which is not the one that was built for."""
    run(
        sys.executable,
        "-m",
        "mesonbuild.mesonmain",
        "install",
        "--no-rebuild",
        "--quiet",
        "-C",
        build,
        "--destdir",
        folder,
    )
    (package,) = folder.rglob("sbs-config.cmake")
    libraries = next(parent for parent in package.parents if any(parent.glob("libsbs.*")))
    return next(parent for parent in libraries.parents if (parent / "include" / "sbs").is_dir())


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack an archive; returns its one folder."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as file:
            file.extractall(folder)
    else:
        with tarfile.open(archive) as file:
            file.extractall(folder, filter="data")
    (prefix,) = folder.iterdir()
    return prefix


def leave_the_static(prefix: Path) -> None:
    """Take the shared library away."""
    for path in prefix.rglob("*"):
        if re.fullmatch(r"libsbs\.(so.*|.*dylib|dll\.a)|(lib)?sbs.*\.dll|sbs\.lib", path.name):
            path.unlink()


def build_by_make(example: Path, prefix: Path, compiler: list[str], static: bool) -> Path:
    """By pkg-config, which is told where what it finds is by where the file is."""
    (package,) = prefix.rglob("sbs.pc")
    own = ["PKG_CONFIG=pkg-config --define-prefix"] if not package.read_text().startswith("prefix=${pcfiledir}") else []
    # --define-prefix takes two folders above the file for the prefix; a folder of the architecture is one more.
    if own and package.parents[2] != prefix:
        own = [f"PKG_CONFIG=pkg-config --define-variable=prefix={prefix}"]
    search = f"{package.parent}{os.pathsep}{os.environ.get('PKG_CONFIG_PATH', '')}"
    made: list[str | Path] = [
        "make",
        "--quiet",
        "-C",
        example,
        f"CC={shlex.join(compiler)}",
        "CFLAGS=-Wall -Wextra -Werror",
        *own,
    ]
    run(*made, *(["STATIC=1"] if static else []), PKG_CONFIG_PATH=search)
    return next(path for path in (example / "deform", example / "deform.exe") if path.exists())


def build_by_cmake(example: Path, prefix: Path, compiler: list[str], static: bool, system: str | None) -> Path:
    settings = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_C_COMPILER": ";".join(compiler),
        "CMAKE_C_FLAGS": "-Wall -Wextra -Werror",
        "CMAKE_PREFIX_PATH": prefix,
        "STATIC": "ON" if static else "OFF",
    }
    if system:
        settings |= {"CMAKE_SYSTEM_NAME": system, "CMAKE_FIND_ROOT_PATH": prefix}
    build = example / "build"
    run("cmake", "-S", example, "-B", build, *(f"-D{name}={value}" for name, value in settings.items()))
    run("cmake", "--build", build)
    return next(path for path in (build / "deform", build / "deform.exe") if path.exists())


def check(printed: str) -> None:
    """Hold the numbers that the example prints against what they are by hand."""
    found = {
        name.strip(): float(radius) for name, radius in re.findall(r"^(.+?) +smallest radius ([\d.]+)", printed, re.M)
    }
    if found.keys() != EXPECTED.keys() or any(abs(found[name] - EXPECTED[name]) > PRINTED for name in EXPECTED):
        sys.exit(f"The example prints\n{printed}\ninstead of {EXPECTED}")
    print(printed, end="")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool", choices=["pkg-config", "cmake"])
    parser.add_argument("kind", choices=["shared", "static"])
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--build", type=Path, help="a build folder of meson")
    source.add_argument("--archive", type=Path, help="what make dist-c has made")
    parser.add_argument("--only-link", action="store_true", help="do not run what nothing here can run")
    parser.add_argument("--runner", type=shlex.split, default=[], help="what runs programs of the system, as wine")
    parser.add_argument("--system", help="CMake's name of a system that is not this one")
    parser.add_argument("--compiler", type=shlex.split, default=["cc"])
    arguments = parser.parse_args()

    static = arguments.kind == "static"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "where it is" if arguments.tool == "cmake" else "there")  # make knows no names with spaces
        prefix = install(arguments.build, folder) if arguments.build else unpack(arguments.archive, folder)
        if static:
            leave_the_static(prefix)
        example = Path(name, "example")
        shutil.copytree(next(prefix.rglob("doc/sbs/example")), example)
        if arguments.tool == "cmake":
            program = build_by_cmake(example, prefix, arguments.compiler, static, arguments.system)
        else:
            program = build_by_make(example, prefix, arguments.compiler, static)
        if arguments.only_link:
            return
        libraries = [str(next(prefix.rglob("libsbs.*")).parent), os.environ.get("LD_LIBRARY_PATH", "")]
        dlls = f"Z:{prefix / 'bin'}".replace("/", "\\")
        check(run(*arguments.runner, program, LD_LIBRARY_PATH=os.pathsep.join(filter(None, libraries)), WINEPATH=dlls))


if __name__ == "__main__":
    main()
