# SPDX-License-Identifier: MIT
"""The packages that only pictures and plots need, loaded when the first is made."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

INSTALL = {"pictures": "mitsuba pillow", "plots": "matplotlib"}


class MissingExtraError(ImportError):
    """A package that draws pictures is not installed, or does not load."""


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


def load_mitsuba() -> Any:
    """Mitsuba 3, in the variant that needs no LLVM.

    Raises
    ------
    MissingExtraError
        If it is not installed, or does not load.
    """
    with silent_stderr():
        mitsuba = load("mitsuba", "mitsuba")
    mitsuba.set_variant("scalar_rgb")
    mitsuba.set_log_level(mitsuba.LogLevel.Error)
    return mitsuba


@contextmanager
def silent_stderr() -> Iterator[None]:
    """Nothing gets to file descriptor 2, where Mitsuba says at import that it found no LLVM."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
