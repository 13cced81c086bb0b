# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python package sbs, which does the numbers: an installed wheel, or inside of the legacy add-on."""

from __future__ import annotations

import importlib
import importlib.util
import platform
from types import ModuleType


class LibraryError(ImportError):
    """The package sbs cannot be used; the message says why, in words for the preferences."""


def load() -> ModuleType:
    """The package sbs.

    Raises
    ------
    LibraryError
        If it is missing, or not made for this Blender.
    """
    bundled = importlib.util.find_spec(".sbs", __package__) is not None
    try:
        return importlib.import_module(".sbs", __package__) if bundled else importlib.import_module("sbs")
    except ModuleNotFoundError as error:
        if error.name in ("sbs", "numpy"):
            raise LibraryError(f"the Python package {error.name} is missing; install the add-on again") from error
        raise LibraryError(f"{error}; this Blender has Python {platform.python_version()}") from error
    except ImportError as error:
        raise LibraryError(f"{error}; this Blender has Python {platform.python_version()}") from error


def load_weights() -> ModuleType:
    """The package sbs.weights, which not every use of the add-on needs.

    Raises
    ------
    LibraryError
        As `load`.
    """
    return importlib.import_module(".weights", load().__name__)


def problem() -> str:
    """Why the package sbs cannot be used, or nothing if it can."""
    try:
        load()
    except LibraryError as error:
        return str(error)
    return ""
