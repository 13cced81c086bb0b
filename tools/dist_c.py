# SPDX-License-Identifier: MIT
"""Archives of the C library, one for each platform, into ``dist``: ``make dist-c``.

Each has the shared and the static library, headers, sbs.pc, a package of CMake, the example with its build
files, and licences, and works wherever it is unpacked. All are cross-built by zig, that for this machine as well, so
that they run on systems that are older than it.
"""

from __future__ import annotations

import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import cross_build
import release
from cross_build import ROOT

# All members bear the oldest date that a zip can hold, so that equal contents give equal archives.
DATE = (1980, 1, 1, 0, 0, 0)
SECONDS = 315532800

OPTIONS = ["-Dtests=false", "-Dpkgconfig.relocatable=true", "-Dlicensedir=share/licenses/sbs"]
FOLDERS = ["--libdir=lib", "--bindir=bin", "--includedir=include", "--datadir=share"]


def install(target: str, build: Path, stage: Path, name: str, options: Sequence[str]) -> Path:
    """Build the library for a target, and install it below a folder; returns its prefix there."""
    cross_build.configure(target, build, [*OPTIONS, *FOLDERS, f"--prefix=/{name}", *options])
    cross_build.compile_all(target, build)
    cross_build.install(target, build, stage, "devel,runtime")
    prefix = stage / name
    shutil.copy(ROOT / "package" / "README.md", prefix)
    shutil.copy(ROOT / "LICENSE", prefix / "share" / "licenses" / "sbs")
    if target.startswith("windows"):
        # The name in Visual Studio.
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


def build(target: str, output: Path, options: Sequence[str]) -> Path:
    """Make the archive of one of `TARGETS` in a folder, with more options for meson."""
    windows = target.startswith("windows")
    name = f"libsbs-{release.versions()['meson.build']}-{target}"
    archive = output / f"{name}.{'zip' if windows else 'tar.xz'}"
    unfinished = archive.with_name(f"{archive.name}.part")
    with tempfile.TemporaryDirectory() as stage:
        prefix = install(target, ROOT / "build" / "dist-c" / target, Path(stage), name, options)
        try:
            (write_zip if windows else write_tar)(prefix, unfinished)
            unfinished.replace(archive)
        finally:
            unfinished.unlink(missing_ok=True)
    return archive


if __name__ == "__main__":
    cross_build.for_each_target(__doc__, "archives", build)
