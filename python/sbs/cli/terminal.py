# SPDX-License-Identifier: MIT
"""Output on the terminal, which may contain names from files."""

from __future__ import annotations

import io
import sys

import click

from ..text import plain


def say(*lines: object, err: bool = False) -> None:
    """Print lines with all characters visible, and without control characters."""
    for line in lines:
        click.echo(plain(str(line)), err=err)


def speak_any_alphabet() -> None:
    """Make the standard streams escape characters that their encoding lacks, so that printing never fails halfway."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
