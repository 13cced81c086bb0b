# SPDX-License-Identifier: MIT
"""Set up a build for another machine: meson with zig's clang, and the packages of that machine from PyPI.

    python tools/cross_build.py windows-x64 build/windows

is ``meson setup build/windows`` for 64-bit Windows. `TARGETS` has the machines, tools/cross their
cross files. Needs the packages of tools/cross/requirements.txt, and nothing of the system.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CROSS = ROOT / "tools" / "cross"


@dataclass(frozen=True)
class Target:
    """A machine that wheels are built for."""

    tag: str  # the platform of our wheel
    accepted: tuple[str, ...]  # platforms of others' wheels that work there, the best first


def _linux(machine: str) -> tuple[str, tuple[str, ...]]:
    return f"manylinux_2_28_{machine}", tuple(f"manylinux_2_{n}_{machine}" for n in (28, 27, 17))


NUMPY = "2.4.6"  # for its headers


# By the names that Blender has for them.
TARGETS = {
    "linux-x64": Target(*_linux("x86_64")),
    "linux-arm64": Target(*_linux("aarch64")),
    "macos-x64": Target("macosx_11_0_x86_64", ("macosx_11_0_x86_64", "macosx_10_13_x86_64", "macosx_10_9_x86_64")),
    "macos-arm64": Target("macosx_11_0_arm64", ("macosx_11_0_arm64",)),
    "windows-x64": Target("win_amd64", ("win_amd64",)),
}

FOLDER = ROOT / "build" / "cross"


def configure(name: str, build: Path, options: Sequence[str] = ()) -> None:
    """Run meson's setup for one of `TARGETS`, with some options, anew if the folder is there.

    The packages and headers of the target go to build/cross.
    """
    packages, python = prepare(name)
    machine = FOLDER / name / "python.ini"
    machine.write_text(f"[properties]\npython = '{python.as_posix()}'\n", encoding="utf-8")
    files = [f"--cross-file={file}" for file in (CROSS / f"{name}.ini", CROSS / "zig.ini", machine)]
    again = ["--wipe"] if (build / "meson-private").exists() else []
    run_meson(packages, "setup", *again, str(build), *files, "-Dlapack=none", *options)


def compile_all(name: str, build: Path) -> None:
    """Build the folder that `configure` has set up."""
    run_meson(FOLDER / name / "packages", "compile", "-C", str(build))


def install(name: str, build: Path, destination: Path, tags: str) -> None:
    """Install the parts with these tags of meson's below a folder."""
    where = (f"--tags={tags}", f"--destdir={destination}")
    run_meson(FOLDER / name / "packages", "install", "-C", str(build), "--no-rebuild", "--quiet", *where)


def run_meson(packages: Path | None, *arguments: str) -> None:
    """Run meson with the programs beside this Python; it finds the packages of the target in a folder."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    environment = {**os.environ, "PATH": path} | ({"PYTHONPATH": str(packages)} if packages else {})
    command = [sys.executable, "-m", "mesonbuild.mesonmain", *arguments]
    subprocess.run(command, check=True, cwd=ROOT, env=environment)


def prepare(name: str) -> tuple[Path, Path]:
    """Folders with the packages of a target and with the headers of Python for it, made unless they are there."""
    packages, python = FOLDER / name / "packages", FOLDER / name / "python"
    target = TARGETS[name]
    wanted = [f"numpy=={NUMPY}"]
    made_of = packages / "made_of.txt"
    if not made_of.exists() or made_of.read_text(encoding="utf-8").split() != wanted:
        shutil.rmtree(packages, ignore_errors=True)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
        which = ["--only-binary=:all:", "--implementation=cp", "--python-version=3.11"]
        which += [f"--platform={platform}" for platform in target.accepted]
        subprocess.run([*pip, *which, f"--target={packages}", *wanted], check=True)
        made_of.write_text("\n".join(wanted), encoding="utf-8")
    shutil.rmtree(python, ignore_errors=True)
    copy_headers(python / "include")
    if name.startswith("windows"):
        make_import_library(python / "include", python / "python3.lib")
    return packages, python


def copy_headers(folder: Path) -> None:
    """Python's headers, which are the same everywhere but for pyconfig.h."""
    shutil.copytree(sysconfig.get_path("include"), folder, ignore=shutil.ignore_patterns("numpy", "pyconfig*.h"))
    shutil.copy(CROSS / "pyconfig.h", folder)


def make_import_library(include: Path, library: Path) -> None:
    """The import library of python3.dll: all that the headers declare of the limited API of CPython 3.11."""
    zig = [sys.executable, "-m", "ziglang"]
    preprocess = [*zig, "cc", "-target", "x86_64-windows-gnu", f"-I{include}", "-E", "-P", "-x", "c", "-"]
    names = set()
    for lengths in ("", "#define PY_SSIZE_T_CLEAN\n"):  # which gives some functions other names
        source = f"#define Py_LIMITED_API 0x030b0000\n{lengths}#include <Python.h>\n"
        text = subprocess.run(preprocess, input=source, check=True, stdout=subprocess.PIPE, text=True).stdout
        for declaration in re.findall(r"dllimport\b[^;]*;", text):
            names.update(re.findall(r"\b(_?Py\w*)\s*[(\[;]", declaration)[:1])
    definition = library.with_suffix(".def")
    lines = ["LIBRARY python3.dll", "EXPORTS", *sorted(names)]
    definition.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
    subprocess.run([*zig, "dlltool", "-m", "i386:x86-64", "-d", str(definition), "-l", str(library)], check=True)


def for_each_target(doc: str, product: str, make: Callable[[str, Path, list[str]], Path]) -> None:
    """The command of a tool that makes a file for each target: by its name, a folder, and options for meson."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(TARGETS)}; all if none is named")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help=f"folder for the {product} (dist)")
    arguments, options = parser.parse_known_args()
    if unknown := set(arguments.targets) - set(TARGETS):
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    arguments.output.mkdir(parents=True, exist_ok=True)
    try:
        for target in arguments.targets or TARGETS:
            made = make(target, arguments.output, options)
            print(f"{made}  {made.stat().st_size / 1e6:.1f} MB", flush=True)
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("build", type=Path)
    arguments, options = parser.parse_known_args()
    try:
        configure(arguments.target, arguments.build, options)
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)


if __name__ == "__main__":
    main()
