# SPDX-License-Identifier: MIT
"""The functions that the C library exports: its headers declare them with ``SBS_API``.

As a program it writes them as a module definition file, which lists the exports of a DLL for linkers on Windows.
"""

import argparse
import re
from pathlib import Path


def declared_functions(header: Path) -> set[str]:
    """Names of the functions that a header declares with ``SBS_API``."""
    text = re.sub(r"/\*.*?\*/|^\s*#[^\n]*", "", header.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return set(re.findall(r"\bSBS_API\b[^;(]*?(\w+)\s*\(", text))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("headers", type=Path, nargs="+")
    arguments = parser.parse_args()
    names = sorted(set().union(*map(declared_functions, arguments.headers)))
    arguments.output.write_text("".join(f"{line}\n" for line in ["EXPORTS", *names]), encoding="ascii")


if __name__ == "__main__":
    main()
