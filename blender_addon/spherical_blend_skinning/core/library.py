# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python package sbs, which does the computations: an installed wheel, or inside of the legacy add-on."""

from __future__ import annotations

import importlib
import importlib.util
import platform
import sys
from types import ModuleType

#: The package of the add-on, whatever Blender calls it.
ADDON = __package__.rpartition(".")[0]

#: The packages that sbs and the add-on need.
MINIMUM_PYTHON = (3, 11)

# Why modules of the add-on itself could not be loaded.
_defect = ""


class LibraryError(ImportError):
    """The package sbs cannot be used; the message says why, for the preferences."""


def load(part: str = "") -> ModuleType:
    """The package sbs, or a module of it such as ``"weights"``, which not every use of the add-on needs.

    Raises LibraryError if it is missing, or built for another Blender.
    """
    try:
        bundled = importlib.util.find_spec(".sbs", ADDON) is not None
        package = importlib.import_module(".sbs", ADDON) if bundled else importlib.import_module("sbs")
        return importlib.import_module(f".{part}", package.__name__) if part else package
    except Exception as error:
        raise LibraryError(explain(error)) from error


def explain(error: Exception) -> str:
    """Why a module could not be loaded, for the artist. A broken module can raise any error."""
    if sys.version_info < MINIMUM_PYTHON:
        needed = ".".join(map(str, MINIMUM_PYTHON))
        return f"It needs Python {needed} or later, and this Blender has {platform.python_version()}"
    if isinstance(error, ModuleNotFoundError) and error.name == "numpy":
        return "NumPy is missing in the Python of this Blender"
    if isinstance(error, ModuleNotFoundError) and error.name == "sbs":
        return "The wheel with the package sbs is missing; install the add-on again"
    return f"Install the add-on again: {error or type(error).__name__} (Python {platform.python_version()})"


def found_defect(error: Exception | None) -> None:
    """Remember whether the add-on itself can be loaded."""
    global _defect
    _defect = explain(error) if error is not None else ""


def problem() -> str:
    """Why the package sbs, or the add-on, cannot be used; empty if both can."""
    if _defect:
        return _defect
    try:
        load()
    except LibraryError as error:
        return str(error)
    return ""
