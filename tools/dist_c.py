# SPDX-License-Identifier: MIT
"""Archives of the C library, one for each platform, into ``dist``: ``make dist-c``.

Each has the shared and the static library, OpenBLAS, headers, sbs.pc, a package of CMake, the example with its build
files, and licences, and works wherever it is unpacked. All are cross-built by zig, that for this machine as well, so
that they run on systems that are older than it.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import cross_build
import release
from cross_build import ROOT, TARGETS

# All members bear the oldest date that a zip can hold, so that equal contents give equal archives.
DATE = (1980, 1, 1, 0, 0, 0)
SECONDS = 315532800

OPTIONS = ["-Dlapack=bundled", "-Dtests=false", "-Dpkgconfig.relocatable=true", "-Dlicensedir=share/licenses/sbs"]
FOLDERS = ["--libdir=lib", "--bindir=bin", "--includedir=include", "--datadir=share"]


def install(target: str, build: Path, stage: Path, name: str) -> Path:
    """Build the library for a target, and install it below a folder; returns its prefix there."""
    cross_build.configure(target, build, [*OPTIONS, *FOLDERS, f"--prefix=/{name}"])
    cross_build.compile_all(target, build)
    cross_build.install(target, build, stage, "devel,runtime")
    prefix = stage / name
    shutil.copy(ROOT / "package" / "README.md", prefix)
    shutil.copy(ROOT / "LICENSE", prefix / "share" / "licenses" / "sbs")
    if target.startswith("windows"):
        # What Visual Studio calls it.
        shutil.copy(prefix / "lib" / "libsbs.dll.a", prefix / "lib" / "sbs.lib")
    return prefix


def write_zip(prefix: Path, archive: Path) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(path for path in prefix.rglob("*") if path.is_file()):
            member = zipfile.ZipInfo(path.relative_to(prefix.parent).as_posix(), DATE)
            file.writestr(member, path.read_bytes(), zipfile.ZIP_DEFLATED)


def write_tar(prefix: Path, archive: Path) -> None:
    """A compressed archive, with links as such."""

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        member.mtime = SECONDS
        return member

    with tarfile.open(archive, "w:xz") as file:
        for path in sorted(prefix.rglob("*")):
            file.add(path, path.relative_to(prefix.parent), recursive=False, filter=plain)


def build(target: str, folder: Path, output: Path) -> Path:
    """Make the archive of a target.

    Parameters
    ----------
    target : str
        One of `cross_build.TARGETS`.
    folder : Path
        To build in.
    output : Path
        For the archive; made if need be.

    Returns
    -------
    Path
        The archive.

    Raises
    ------
    subprocess.CalledProcessError
        If pip or meson fails.
    """
    windows = target.startswith("windows")
    name = f"libsbs-{release.versions()['meson.build']}-{target}"
    archive = output / f"{name}.{'zip' if windows else 'tar.xz'}"
    output.mkdir(parents=True, exist_ok=True)
    unfinished = archive.with_name(f"{archive.name}.part")
    with tempfile.TemporaryDirectory() as stage:
        prefix = install(target, folder, Path(stage), name)
        try:
            (write_zip if windows else write_tar)(prefix, unfinished)
            unfinished.replace(archive)
        finally:
            unfinished.unlink(missing_ok=True)
    return archive


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(TARGETS)}; all if none is named")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="folder for the archives (dist)")
    arguments = parser.parse_args()
    if unknown := set(arguments.targets) - set(TARGETS):
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    try:
        for target in arguments.targets or TARGETS:
            archive = build(target, ROOT / "build" / "dist-c" / target, arguments.output)
            print(f"{archive}  {archive.stat().st_size / 1e6:.1f} MB", flush=True)
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)


if __name__ == "__main__":
    main()
