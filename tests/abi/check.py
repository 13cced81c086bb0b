# SPDX-License-Identifier: MIT
"""Holds the ABI of a shared library against that of the last release, by abidiff (Debian: abigail-tools)."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

USAGE = """\
    check.py LIBRARY                     fails where what was compiled against the release would not run on it,
                                         unless it has another soname
    check.py --release LIBRARY VERSION   writes the file of a release; the library has debug information (-g)
"""

HERE = Path(__file__).parent
HEADERS = HERE.parent.parent / "csrc" / "include" / "sbs"


def soname(text: str) -> str:
    """The soname that the ABI of a library has noted."""
    return text.split("soname='", 1)[1].split("'", 1)[0]


def describe(library: str) -> str:
    """The public ABI of a library, with nothing of where it was built."""
    command = ["abidw", "--headers-dir", str(HEADERS), "--drop-private-types", "--exported-interfaces-only"]
    command += ["--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-write-default-sizes", library]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def private_types() -> str:
    """What abidiff need not look at: structures that headers only name.

    abidw leaves those out, too, but not where a private header has the name of a public one, by which it tells them.
    """
    text = "".join(header.read_text() for header in sorted(HEADERS.glob("*.h")))
    named = re.findall(r"^typedef struct (\w+) \1;", text, re.MULTILINE)
    return "".join(f"[suppress_type]\n  name = {name}\n" for name in named)


def check(library: str) -> int:
    """Print the changes; 1 if some are no additions, under the same soname."""
    described = describe(library)
    (release,) = HERE.glob("libsbs-*.abi")
    with tempfile.TemporaryDirectory() as folder:
        now, private = Path(folder) / "now.abi", Path(folder) / "private.suppr"
        now.write_text(described)
        private.write_text(private_types())
        # A member that moves is a change like any other to abidiff, a new enumerator is none.
        command = ["abidiff", "--no-show-locs", "--suppressions", str(private), str(release), str(now)]
        subprocess.run(command, check=False)
        changed = subprocess.run([*command, "--no-added-syms"], check=False, stdout=subprocess.DEVNULL).returncode
    if changed and soname(release.read_text()) == soname(described):
        print(f"Incompatible with {release.stem}: a change that needs another soname")
        return 1
    print(f"Compatible with {release.stem}, or of another soname")
    return 0


def write_release(library: str, version: str) -> int:
    """Make a library's ABI the one that others are held against."""
    described = describe(library)
    for old in HERE.glob("libsbs-*.abi"):
        old.unlink()
    (HERE / f"libsbs-{version}.abi").write_text(described)
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--release":
        sys.exit(write_release(sys.argv[2], sys.argv[3]))
    if len(sys.argv) != 2:
        sys.exit(USAGE)
    sys.exit(check(sys.argv[1]))
