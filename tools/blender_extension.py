# SPDX-License-Identifier: MIT
"""The Blender add-on as two archives, each with the project's wheel inside.

The extension, for Blender 4.2 and later, contains the wheel and a manifest that names it. The legacy add-on, for older
versions, contains the unpacked wheel beside its own modules, because these versions cannot install wheels.
"""

import argparse
import re
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
ADDON = ROOT / "blender_addon" / "spherical_blend_skinning"
MANIFEST = "blender_manifest.toml"

# Blender's name of a platform, by the begin and the end of a wheel's platform tag.
PLATFORMS = {
    ("linux", "x86_64"): "linux-x64",
    ("manylinux", "x86_64"): "linux-x64",
    ("linux", "aarch64"): "linux-arm64",
    ("manylinux", "aarch64"): "linux-arm64",
    ("macosx", "arm64"): "macos-arm64",
    ("macosx", "x86_64"): "macos-x64",
    ("win", "amd64"): "windows-x64",
    ("win", "arm64"): "windows-arm64",
}

# All members have the oldest date that a zip can store, so that equal contents give equal archives.
EPOCH = (1980, 1, 1, 0, 0, 0)


def build(wheel: Path, output: Path, *, legacy: bool = True) -> list[Path]:
    """Write the extension and, unless that is not wanted, the legacy add-on, around a wheel, into a folder.

    Raises
    ------
    ValueError
        If the wheel is of another project, another version or an unknown platform.
    """
    name, version, *_, tag = wheel.stem.split("-")
    manifest = tomllib.loads((ADDON / MANIFEST).read_text(encoding="utf-8"))
    if (name, version) != (manifest["id"], manifest["version"]):
        raise ValueError(f"{wheel.name} is not of {manifest['id']} {manifest['version']}, which {MANIFEST} is of")
    platform = platform_of(tag)

    output.mkdir(parents=True, exist_ok=True)
    stem = f"{name}-{version}-{platform.replace('-', '_')}"
    archives = [output / f"{stem}.zip"]
    write(archives[0], extension_members(wheel, platform))
    if legacy:
        archives.append(output / f"{stem}-legacy.zip")
        write(archives[1], legacy_members(wheel, manifest["id"]))
    return archives


def platform_of(tag: str) -> str:
    """Blender's name of the platform tag of a wheel, such as ``linux_x86_64``."""
    for (beginning, end), platform in PLATFORMS.items():
        if re.fullmatch(f"{beginning}_(.*_)?{end}", tag.split(".")[0]):
            return platform
    raise ValueError(f"Blender has no name for the platform {tag!r}")


def extension_members(wheel: Path, platform: str) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the extension's files."""
    inside = f"wheels/{wheel.name}"
    manifest = (ADDON / MANIFEST).read_text(encoding="utf-8")
    keys, table, rest = manifest.partition("\n[permissions]")
    added = f'platforms = ["{platform}"]\nwheels = ["./{inside}"]\n'
    yield MANIFEST, (keys + added + table + rest).encode()
    yield inside, wheel.read_bytes()
    yield from sources()


def legacy_members(wheel: Path, folder: str) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the legacy add-on's files: a package that holds the package of the wheel."""
    for name, content in sources():
        yield f"{folder}/{name}", content
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            path = PurePosixPath(name)
            if path.parts[0] == "sbs":
                yield f"{folder}/{path}", archive.read(name)
            elif "licenses" in path.parts:
                yield f"{folder}/sbs/licenses/{path.name}", archive.read(name)


def sources() -> Iterator[tuple[str, bytes]]:
    """Names and contents of the add-on's own files, without the manifest."""
    for path in ADDON.rglob("*"):
        if path.is_file() and path.name != MANIFEST and "__pycache__" not in path.parts:
            yield path.relative_to(ADDON).as_posix(), path.read_bytes()


def write(archive: Path, members: Iterator[tuple[str, bytes]]) -> None:
    """Write a zip; an existing one is replaced at the end."""
    unfinished = archive.with_suffix(".part")
    try:
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as file:
            for name, content in sorted(members):
                file.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)
        unfinished.replace(archive)
    finally:
        unfinished.unlink(missing_ok=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheels", type=Path, nargs="+", metavar="wheel")
    parser.add_argument("--no-legacy", action="store_true", help="extensions alone")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="folder for the archives (dist)")
    arguments = parser.parse_args()
    for wheel in arguments.wheels:
        for archive in build(wheel, arguments.output, legacy=not arguments.no_legacy):
            print(archive)


if __name__ == "__main__":
    main()
