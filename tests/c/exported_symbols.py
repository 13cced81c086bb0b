# SPDX-License-Identifier: MIT
"""Check that a shared library exports what it should and nothing else.

With ``--header`` these are the functions that the headers declare with ``SBS_API``; with ``--only``, the names given.
Libraries of macOS, and the import libraries of DLLs, need nm of LLVM.
"""

import argparse
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))

from exports import declared_functions

# What every library of macOS has.
OF_THE_LINKER = {"__dso_handle", "_mh_dylib_header"}


def exported_symbols(nm: str, library: Path) -> set[str]:
    """Names that a shared library defines for others, whatever their kind; of a DLL, by its import library."""
    which = ["--dynamic"] if ".so" in library.suffixes else ["--extern-only"]
    command = [nm, *which, "--defined-only", "--format=posix", str(library)]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    listed = [words for line in listing.splitlines() if len(words := line.split()) > 1]
    if library.suffix in (".a", ".lib"):
        return {name for name, kind, *_ in listed if kind == "T"}  # the rest tells of the DLL
    names = {name.partition("@")[0] for name, *_ in listed}
    if library.suffix == ".dylib":
        return {name.removeprefix("_") for name in names} - OF_THE_LINKER
    return names


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nm")
    parser.add_argument("library", type=Path)
    expected = parser.add_mutually_exclusive_group(required=True)
    expected.add_argument("--header", nargs="+", type=Path)
    expected.add_argument("--only", nargs="+")
    arguments = parser.parse_args()

    wanted = set(arguments.only or []).union(*map(declared_functions, arguments.header or []))
    found = exported_symbols(arguments.nm, arguments.library)
    for name in sorted(wanted - found):
        print(f"{arguments.library.name} does not export {name}")
    for name in sorted(found - wanted):
        print(f"{arguments.library.name} exports {name}, which is not public")
    print(f"{len(found)} names exported, {len(wanted)} expected")
    return int(found != wanted or not wanted)


if __name__ == "__main__":
    sys.exit(main())
