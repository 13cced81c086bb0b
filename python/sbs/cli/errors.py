# SPDX-License-Identifier: MIT
"""Errors and warnings on the command line: one line, no traceback."""

from __future__ import annotations

import warnings
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
            except click.ClickException as error:
                error.message = presentable(error.message)  # type: ignore[misc]  # before anybody has seen it
                raise
            except BrokenPipeError:
                raise  # click handles a closed pipe
            except OSError as error:
                said = f"{error.filename}: {error.strerror}" if error.filename else str(error)
                raise Refusal(presentable(said)) from error
            except (ValueError, MemoryError, LinAlgError, MissingExtraError) as error:
                raise Refusal(presentable(" ".join(str(error).split())) or type(error).__name__) from error


class _Shown:
    """Shows warnings; once where a file and the character made of it have the same ones."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def __call__(self, message: Warning | str, *_: Any, **__: Any) -> None:
        text = str(message)
        if not any(known == text or known.endswith(f": {text}") for known in self._known):
            self._known.add(text)
            say(f"Warning: {text}", err=True)
