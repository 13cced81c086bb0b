# SPDX-License-Identifier: MIT
"""The command line, called in this process as users call it."""

from __future__ import annotations

from click.testing import CliRunner, Result

from sbs.cli import main

__all__ = ["refuse", "run", "succeed"]


def run(*arguments: object, stdin: bytes | None = None) -> Result:
    """The result of a command: its output, and its exit code."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)


def succeed(*arguments: object, stdin: bytes | None = None) -> str:
    """The output of a command that has to succeed."""
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def refuse(*arguments: object) -> str:
    """The line in which a command says why it refuses, without a traceback."""
    result = run(*arguments)
    assert result.exit_code == 2, (result.output, result.exception)
    assert isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    return result.output.splitlines()[-1]
