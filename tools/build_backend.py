# SPDX-License-Identifier: MIT
"""meson-python, with corrected tags and licences of wheels.

The extension uses only the limited API of CPython 3.11, so that one wheel works for 3.11 and all later versions.
meson-python tags it with the version that builds it. It takes the licences of the sources for the licences of the
wheel, too, which has OpenBLAS in it.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import mesonpy
from mesonpy import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

from wheel_licences import tell_licences

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]

PYTHON_TAG = "cp311"


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, str | list[str]] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build the wheel (PEP 517) and return its file name."""
    wheel = Path(wheel_directory, mesonpy.build_wheel(wheel_directory, config_settings, metadata_directory))
    with tempfile.TemporaryDirectory() as folder:
        _wheel("unpack", str(wheel), f"--dest={folder}")
        (contents,) = Path(folder).iterdir()
        tell_licences(contents)
        _wheel("pack", str(contents), f"--dest-dir={wheel_directory}")
    if f"-{PYTHON_TAG}-" in wheel.name:
        return wheel.name
    return _wheel("tags", "--remove", "--python-tag", PYTHON_TAG, str(wheel)).strip()


def _wheel(*arguments: str) -> str:
    command = [sys.executable, "-m", "wheel", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
