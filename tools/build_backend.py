# SPDX-License-Identifier: MIT
"""meson-python, with corrected tags of wheels.

The extension uses only the limited API of CPython 3.11, so that one wheel works for 3.11 and all later versions.
meson-python tags it with the version that builds it.
"""

import subprocess
import sys
from pathlib import Path

import mesonpy
from mesonpy import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

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
    if f"-{PYTHON_TAG}-" in wheel.name:
        return wheel.name
    command = [sys.executable, "-m", "wheel", "tags", "--remove", "--python-tag", PYTHON_TAG, str(wheel)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
