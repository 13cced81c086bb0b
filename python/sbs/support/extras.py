# SPDX-License-Identifier: MIT
"""Optional packages, loaded when they are first needed."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["MissingExtraError", "load"]

INSTALL = {
    "pictures": "mitsuba pillow",
    "plots": "matplotlib",
    "USD files": "usd-core",
    "FBX files": "ufbx",
    "pages in the browser": "viser",
    "clusters": "distributed",
    "tensors": "torch",
}


class MissingExtraError(ImportError):
    """An optional package is not installed, or does not load."""


def load(module: str, package: str, purpose: str = "pictures") -> Any:
    """Import a module of an optional package.

    Raises
    ------
    MissingExtraError
        If it is not installed, or does not load.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        message = f"{purpose} need {package}, which is not installed: pip install {INSTALL[purpose]}"
        raise MissingExtraError(message, name=package) from error
    except Exception as error:  # Dr.Jit, for one, turns a shared library that is missing into a NameError.
        reason = error.__context__ or error
        raise MissingExtraError(f"{purpose} need {package}, which does not load: {reason}", name=package) from error
