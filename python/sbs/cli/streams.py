# SPDX-License-Identifier: MIT
"""``-`` in place of a file: the standard input, and the standard output, which one thing at a time is written to."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

__all__ = ["InputFile", "OutputFile", "claim_output", "is_output_claimed", "piped_output", "with_streams_named"]

# Keys of the `meta` of a context: the file read from the standard input, the option that has the standard output, and
# the names of streams by the files that stand for them.
_READ, _CLAIMED, _NAMES = "sbs.input", "sbs.output", "sbs.names"

# Suffixes of files that a terminal can show.
_TEXT = (".csv", ".json", ".svg")


class InputFile(click.Path):
    """A file that is there, or ``-`` for the standard input."""

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, allow_dash=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Its path; input of a pipe is kept in a file until the command ends."""
        path = super().convert(value, param, ctx)
        if path != "-" or ctx is None or ctx.resilient_parsing:
            return Path(os.fsdecode(path))
        if _READ in ctx.meta:
            raise click.UsageError("the standard input is one file, and - is given twice", ctx)
        ctx.meta[_READ] = piped = _stand_in(ctx, "stdin", "standard input")
        with piped.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        return piped


class OutputFile(click.Path):
    """A file to write, or ``-`` for the standard output.

    Parameters
    ----------
    suffixes : str
        Endings of its name; any if there is none.
    piped : str or function of a context, optional
        The suffix of a file that goes to the standard output; the first of `suffixes` by default.
    """

    def __init__(self, *suffixes: str, piped: str | Callable[[click.Context], str] | None = None) -> None:
        super().__init__(dir_okay=False, allow_dash=True)
        self.suffixes = suffixes
        self.piped: str | Callable[[click.Context], str] = piped or suffixes[0]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Its path; output for a pipe is kept in a file until the command ends."""
        if str(value) == "-" and ctx is not None and not ctx.resilient_parsing:
            suffix = self.piped if isinstance(self.piped, str) else self.piped(ctx)
            return piped_output(ctx, param, suffix)
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if self.suffixes and path.suffix.lower() not in self.suffixes:
            self.fail(f"{path.name!r} does not end in {' or '.join(self.suffixes)}", param, ctx)
        return path


def piped_output(ctx: click.Context, param: click.Parameter | None, suffix: str) -> Path:
    """A file to write to, which is copied to the standard output when the command ends, if it is there then."""
    if suffix not in _TEXT and sys.stdout.isatty():
        raise click.BadParameter(f"a terminal does not show {suffix[1:].upper()}: name a file", ctx, param)
    claim_output(ctx, f"{param.opts[-1]} -" if param is not None else "-")
    piped = _stand_in(ctx, f"stdout{suffix}", "standard output")

    def hand_over() -> None:
        if piped.exists():
            with piped.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
                sys.stdout.buffer.flush()

    ctx.call_on_close(hand_over)
    return piped


def claim_output(ctx: click.Context, option: str) -> None:
    """Keep the standard output for one option: all messages go to the standard error."""
    other = ctx.meta.setdefault(_CLAIMED, option)
    if other != option:
        raise click.UsageError(f"{other} and {option} would both be written to the standard output", ctx)


def is_output_claimed() -> bool:
    """Whether one thing alone is written to the standard output."""
    context = click.get_current_context(silent=True)
    return context is not None and _CLAIMED in context.meta


def with_streams_named(text: str) -> str:
    """The text with the names of streams in place of those of the files that stand for them."""
    context = click.get_current_context(silent=True)
    for path, name in (context.meta.get(_NAMES, {}) if context is not None else {}).items():
        text = text.replace(path, name)
    return text


def _stand_in(ctx: click.Context, name: str, called: str) -> Path:
    """A file that stands for a stream, in a folder that is removed when the command ends."""
    folder = tempfile.mkdtemp(prefix="sbs-")
    # The context of a command whose options are refused is never closed.
    ctx.find_root().call_on_close(lambda: shutil.rmtree(folder, ignore_errors=True))
    path = Path(folder, name)
    ctx.meta.setdefault(_NAMES, {})[str(path)] = called
    return path
