# SPDX-License-Identifier: MIT
"""Signatures as help shows them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

__all__ = ["with_keywords"]

_Call = TypeVar("_Call", bound=Callable[..., Any])


def with_keywords(parameters: Iterable[inspect.Parameter]) -> Callable[[_Call], _Call]:
    """Let help show these parameters of a function that takes them as `**options`."""
    keywords = list(parameters)

    def shown(call: _Call) -> _Call:
        signature = inspect.signature(call)
        own = [each for each in signature.parameters.values() if each.kind != each.VAR_KEYWORD]
        vars(call)["__signature__"] = signature.replace(parameters=[*own, *keywords])
        return call

    return shown
