# SPDX-License-Identifier: MIT
"""Give the project another version: ``python tools/release.py 0.3.0``.

The version is in ``meson.build``, which the library and the Python package take it from. There are copies in ``sbs.h``
for compilers, two in the add-on for Blender, two that tell CMake which versions a program is for, and one in the
package for three.js. This writes all of them, and the date of the release in ``CHANGELOG.md``. Without a version it
checks that all agree.
"""

import argparse
import datetime
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ADDON = "blender_addon/spherical_blend_skinning"
FIND_PACKAGE = r"^find_package\(sbs (\d+)\.(\d+) REQUIRED\)$"

# Files with a version: a pattern whose groups are its numbers, the last of which may be missing, or all of it.
PLACES = {
    "meson.build": r"^  version: '([\d.]+)',$",
    "csrc/include/sbs/sbs.h": r"MAJOR (\d+)\n#define SBS_VERSION_MINOR (\d+)\n#define SBS_VERSION_PATCH (\d+)$",
    f"{ADDON}/blender_manifest.toml": r'^version = "([\d.]+)"$',
    f"{ADDON}/__init__.py": r'^    "version": \((\d+), (\d+), (\d+)\),$',
    "docs/c.md": FIND_PACKAGE,
    "csrc/examples/CMakeLists.txt": FIND_PACKAGE,
    "engines/three/package.json": r'^  "version": "([\d.]+)",$',
}
UNRELEASED = "## Unreleased\n"


def find(text: str, place: str) -> re.Match[str]:
    """The only version in the text of a file."""
    found = list(re.finditer(PLACES[place], text, re.MULTILINE))
    if len(found) != 1:
        sys.exit(f"{place}: {len(found)} versions like {PLACES[place]}")
    return found[0]


def versions(root: Path = ROOT) -> dict[str, str]:
    """The version in each file."""
    return {place: ".".join(find((root / place).read_text(encoding="utf-8"), place).groups()) for place in PLACES}


def agree(found: dict[str, str]) -> bool:
    """Whether all files have the version of ``meson.build``, or its first two numbers."""
    whole = found["meson.build"]
    return all(version in (whole, whole.rpartition(".")[0]) for version in found.values())


def write(version: str, date: str, root: Path = ROOT) -> None:
    """Write a version to all files, and the date of the release to the changelog."""
    for place in PLACES:
        path = root / place
        text = path.read_text(encoding="utf-8")
        match = find(text, place)
        numbers = [version] if len(match.groups()) == 1 else version.split(".")
        for group in reversed(range(len(match.groups()))):
            start, end = match.span(group + 1)
            text = text[:start] + numbers[group] + text[end:]
        path.write_text(text, encoding="utf-8")
    changelog = root / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    if text.count(UNRELEASED) != 1:
        sys.exit(f"CHANGELOG.md has no part {UNRELEASED.strip()!r} to become {version}")
    changelog.write_text(text.replace(UNRELEASED, f"{UNRELEASED}\n## {version} ({date})\n"), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", nargs="?")
    arguments = parser.parse_args()
    if arguments.version:
        if not re.fullmatch(r"\d+\.\d+\.\d+", arguments.version):
            sys.exit(f"{arguments.version} is no version like 0.2.0")
        write(arguments.version, datetime.date.today().isoformat())
    found = versions()
    if not agree(found):
        sys.exit("Versions differ: " + ", ".join(f"{place} has {version}" for place, version in found.items()))
    print(found["meson.build"])


if __name__ == "__main__":
    main()
