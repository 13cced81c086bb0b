# SPDX-License-Identifier: MIT
"""Check that a shared library has full RELRO, a stack protector and a stack that is not executable.

What FORTIFY checks leaves a trace only where the compiler can't tell that a copy fits: now it can for all.
"""

import argparse
import subprocess
import sys
from pathlib import Path


def read(readelf: str, option: str, library: Path) -> list[list[str]]:
    """Words of the lines that readelf prints."""
    command = [readelf, "--wide", option, str(library)]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [line.split() for line in listing.splitlines()]


def missing(readelf: str, library: Path) -> list[str]:
    """Name what the library was built without."""
    segments = {line[0]: line for line in read(readelf, "--program-headers", library) if line}
    dynamic = {word for line in read(readelf, "--dynamic", library) for word in line}
    called = {
        line[-1].partition("@")[0] if "(" not in line[-1] else line[-2].partition("@")[0]
        for line in read(readelf, "--dyn-syms", library)
        if "UND" in line and line[-1] != "UND"
    }
    has = {
        "RELRO": "GNU_RELRO" in segments,
        "immediate binding, without which RELRO leaves a table open": bool(dynamic & {"BIND_NOW", "NOW"}),
        "a stack that is not executable": "GNU_STACK" in segments and "RWE" not in segments["GNU_STACK"],
        "stack protector": "__stack_chk_fail" in called,
    }
    return [name for name, there in has.items() if not there]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readelf")
    parser.add_argument("library", type=Path)
    arguments = parser.parse_args()

    found = missing(arguments.readelf, arguments.library)
    for name in found:
        print(f"{arguments.library.name} lacks {name}")
    print(f"{arguments.library.name} is {'not ' if found else ''}hardened")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
