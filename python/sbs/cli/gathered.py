# SPDX-License-Identifier: MIT
"""Options that belong together, given to a command as one argument."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields
from typing import Any

__all__ = ["Decorator", "gathered"]

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def gathered(argument: str, kind: type[Any], *options: Decorator) -> Decorator:
    """Add options to a command, which gets the values of all of them as one argument.

    Parameters
    ----------
    argument : str
        The name of the argument.
    kind : type
        A dataclass with a field for the parameter of each option. It may have more fields, with defaults, so that a
        command can leave options out.
    *options : decorators
        In the order of the help text.
    """
    names = [field.name for field in fields(kind)]

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def called(*arguments: Any, **values: Any) -> Any:
            chosen = {name: values.pop(name) for name in names if name in values}
            return command(*arguments, **values, **{argument: kind(**chosen)})

        decorated: Callable[..., Any] = called
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return add
