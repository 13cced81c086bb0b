# SPDX-License-Identifier: MIT
"""Output on the terminal, which may contain names from files."""

from __future__ import annotations

import io
import sys

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from ..support.text import plain
from .streams import is_output_claimed, with_streams_named


def say(*lines: object, err: bool = False) -> None:
    """Print lines with all characters visible, and without control characters.

    They go to the standard error also if something else has the standard output for itself.
    """
    for line in lines:
        click.echo(presentable(str(line)), err=err or is_output_claimed())


def presentable(text: str) -> str:
    """Text with all characters visible, and streams by their names."""
    return plain(with_streams_named(text))


def speak_any_alphabet() -> None:
    """Make the standard streams escape characters that their encoding lacks, so that printing never fails halfway."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def progress_bar() -> Progress:
    """A bar of the work done and the time left, if the output is a terminal."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
