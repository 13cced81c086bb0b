# SPDX-License-Identifier: MIT
"""What is said on the terminal, names from files and of files among it."""

from __future__ import annotations

import io
import sys

import click

from ..text import plain


def say(*lines: object, err: bool = False) -> None:
    """Print lines, in each of which every character shows and none does anything else."""
    for line in lines:
        click.echo(plain(str(line)), err=err)


def speak_any_alphabet() -> None:
    """Let the standard streams escape what their encoding lacks, in place of failing half-way."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
