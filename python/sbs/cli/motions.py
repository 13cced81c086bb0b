# SPDX-License-Identifier: MIT
"""Motions from other files: which of their joints move which of a character's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import click

from ..characters.character import Character
from ..rigging.motion import Motion
from .tables import print_table
from .terminal import say


def read_joint_map(path: Path) -> dict[str, str]:
    """Names of joints by others, from a JSON file."""
    try:
        names = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"{path}: {error}", param_hint="--joint-map") from error
    if not isinstance(names, dict) or not all(isinstance(name, str) for name in names.values()):
        raise click.BadParameter(f"{path}: an object of names by names is needed", param_hint="--joint-map")
    return names


def show_matches(motion: Motion, character: Character, names: Mapping[str, str] | None) -> None:
    """A table of the joints of a motion and of those of a character that they move, and how many move none."""
    matches = motion.matches(character, names)
    print_table(("motion", "character"), [(name, matches.get(name, "")) for name in motion.names], left=2)
    others = len(motion.names) - len(matches)
    say(f"{motion.name}: {len(matches)} of {len(motion.names)} joints move those of {character.name}, {others} none")
