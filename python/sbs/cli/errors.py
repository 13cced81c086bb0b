# SPDX-License-Identifier: MIT
"""Errors and warnings on the command line: one line, no traceback."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from .._core import LinAlgError
from ..quality.picture import MissingExtraError
from .terminal import presentable, say, speak_any_alphabet


class Refusal(click.ClickException):
    """An error that the user can correct."""

    exit_code = 2


class Commands(click.Group):
    """A group of commands that turns errors of the library into one line and exit status 2, and warnings into lines."""

    def invoke(self, context: click.Context) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _Shown()
            speak_any_alphabet()
            try:
                return super().invoke(context)
            except BrokenPipeError:
                raise  # click handles a closed pipe
            except click.ClickException as error:
                error.message = presentable(error.message)  # type: ignore[misc]  # before anybody has seen it
                raise
            except OF_USERS as error:
                raise refusal(error) from error


OF_USERS = (OSError, ValueError, MemoryError, LinAlgError, MissingExtraError)
"""Errors of the library that the user can correct."""


def refusal(error: Exception) -> Refusal:
    """Such an error in one line."""
    if isinstance(error, OSError):
        return Refusal(presentable(f"{error.filename}: {error.strerror}" if error.filename else str(error)))
    return Refusal(presentable(" ".join(str(error).split())) or type(error).__name__)


class Batch:
    """Several files, of which others are done before the error of one ends the command."""

    def __init__(self, count: int) -> None:
        self._is_one = count == 1
        self._failed: list[click.ClickException] = []

    @contextmanager
    def each(self, file: Path) -> Iterator[None]:
        """Keep the error of one of several files for the end."""
        try:
            yield
        except BrokenPipeError:
            raise
        except (click.ClickException, *OF_USERS) as error:
            if self._is_one:
                raise
            found = error if isinstance(error, click.ClickException) else refusal(error)
            if str(file) not in found.message:
                found.message = f"{file}: {found.message}"  # type: ignore[misc]  # before anybody has seen it
            self._failed.append(found)

    def end(self) -> None:
        """Raise the last error, and show those before."""
        for error in self._failed[:-1]:
            say(f"Error: {presentable(error.format_message())}", err=True)
        for error in self._failed[-1:]:
            raise error


class _Shown:
    """Shows warnings; once where a file and the character made of it have the same ones."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def __call__(self, message: Warning | str, *_: Any, **__: Any) -> None:
        text = str(message)
        if not any(known == text or known.endswith(f": {text}") for known in self._known):
            self._known.add(text)
            say(f"Warning: {text}", err=True)
