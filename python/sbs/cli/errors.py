# SPDX-License-Identifier: MIT
"""Errors and warnings as a command line says them: one line, no traceback."""

from __future__ import annotations

import warnings
from typing import Any

import click

from .. import LinAlgError
from ..picture import MissingExtraError


class Refusal(click.ClickException):
    """What the user can put right."""

    exit_code = 2


class Commands(click.Group):
    """A group of commands whose library errors become one line and exit status 2, and whose warnings one line each."""

    def invoke(self, context: click.Context) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = show_warning
            try:
                return super().invoke(context)
            except BrokenPipeError:
                raise  # click knows that nobody reads on
            except OSError as error:
                raise Refusal(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error
            except (ValueError, MemoryError, LinAlgError, MissingExtraError) as error:
                raise Refusal(" ".join(str(error).split()) or type(error).__name__) from error


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"Warning: {message}", err=True)
