# SPDX-License-Identifier: MIT
"""The licences in the metadata of a wheel: of the sources, and of the libraries that are in it."""

from pathlib import Path

BUNDLED = "BSD-3-Clause AND BSD-3-Clause-Open-MPI AND GPL-3.0-or-later WITH GCC-exception-3.1"
"""Of OpenBLAS, LAPACK and libgfortran."""

TEXT = "scipy-openblas32.txt"
"""The file that has their texts."""


def tell_licences(contents: Path) -> None:
    """Put the licences of bundled libraries into the metadata of a wheel, whose contents are in a folder.

    A build with the LAPACK of the system has none.
    """
    text = contents / "sbs" / "licenses" / TEXT
    if not text.exists():
        return
    (metadata,) = contents.glob("*.dist-info/METADATA")
    lines = metadata.read_text(encoding="utf-8").split("\n")
    (number,) = (number for number, line in enumerate(lines) if line.startswith("License-Expression: "))
    lines[number : number + 1] = [f"{lines[number]} AND {BUNDLED}", f"License-File: {TEXT}"]
    metadata.write_text("\n".join(lines), encoding="utf-8", newline="\n")
    text.replace(metadata.parent / "licenses" / TEXT)
    text.parent.rmdir()
