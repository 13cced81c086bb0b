# SPDX-License-Identifier: MIT
"""Completion by a shell: joints and animations of the file that was named before."""

from __future__ import annotations

import warnings
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from ..characters.character import Character
from ..characters.loading import load


def _character(context: click.Context) -> Character | None:
    """The character of the file on the command line; None if there is none yet that can be read."""
    # Without a value for the option that is completed, click leaves the other arguments where they are.
    given = [context.params.get("file"), *(context.params.get("files") or ()), *context.args]
    file = next((Path(each) for each in given if each is not None and Path(each).is_file()), None)
    if file is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return load(file)
    except (ValueError, OSError, ImportError, MemoryError):
        return None  # the command says why when it runs


def _items(names: tuple[str, ...], incomplete: str) -> list[CompletionItem]:
    begun = incomplete.lower()
    return [CompletionItem(name) for name in names if name.lower().startswith(begun)]


def complete_joints(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The joints whose names begin so, in upper or lower case."""
    character = _character(context)
    return [] if character is None else _items(character.skeleton.names, incomplete)


def complete_animations(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The animations whose names begin so, or end in a name that does."""
    character = _character(context)
    if character is None:
        return []
    ends = tuple(name.rpartition("|")[2] for name in character.animations.names)
    return _items(character.animations.names, incomplete) or _items(ends, incomplete)
