# SPDX-License-Identifier: MIT
"""Optional packages, loaded when they are first needed."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["MissingExtraError", "load", "silent_stderr"]

INSTALL = {
    "pictures": "mitsuba pillow",
    "plots": "matplotlib",
    "USD files": "usd-core",
    "FBX files": "ufbx",
    "pages in the browser": "viser",
    "clusters": "distributed",
    "tensors": "torch",
    "graphics processors": "wgpu",
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


@contextmanager
def silent_stderr() -> Iterator[None]:
    """Nothing gets to file descriptor 2.

    Mitsuba says there at import that it found no LLVM, and wgpu that it found no window.
    """
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
