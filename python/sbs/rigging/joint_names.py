# SPDX-License-Identifier: MIT
"""Names of the joints of people in different programs, by which a motion finds the joints of another skeleton."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

__all__ = ["body_parts", "canonical", "matched"]

# In lower case and without separators of words. CMU's motion capture and Mixamo, MakeHuman's default rig, Biped and
# Unreal, Rigify, Quaternius. Mixamo has one spine more than CMU.
_CENTRAL = {
    "hips": ("hips", "hip", "pelvis", "root"),
    "lower back": ("lowerback", "spine05", "abdomen"),
    "spine": ("spine", "spine03", "torso"),
    "chest": ("spine2", "spine1", "spine01", "chest"),
    "neck": ("neck", "neck01"),
    "upper neck": ("neck1", "neck02"),
    "head": ("head",),
}
_SIDED = {
    "hip joint": ("hipjoint", "pelvis"),
    "shoulder": ("shoulder", "clavicle", "collar"),
    "upper arm": ("arm", "upperarm", "upperarm01", "uparm"),
    "forearm": ("forearm", "lowerarm", "lowerarm01"),
    "hand": ("hand", "wrist"),
    "thigh": ("upleg", "upperleg", "upperleg01", "thigh"),
    "shin": ("leg", "lowerleg", "lowerleg01", "calf", "shin", "lowleg"),
    "foot": ("foot", "ankle"),
    "toes": ("toebase", "toe", "toes", "ball", "toe11"),
}
# Rigify numbers all from the hips to the head; its spine is not that of other programs.
_RIGIFY_SPINE = {
    "spine": "hips",
    "spine001": "lower back",
    "spine002": "spine",
    "spine003": "chest",
    "spine004": "neck",
    "spine005": "upper neck",
    "spine006": "head",
}
# The part, and how far behind in its list the name stands: a joint "hips" goes before one "root".
_PART_OF = {alias: (part, rank) for part, names in _CENTRAL.items() for rank, alias in enumerate(names)}
_SIDED_PART_OF = {alias: (part, rank) for part, names in _SIDED.items() for rank, alias in enumerate(names)}

_PREFIX = re.compile(r"^.*[:|]|^bip0*1[ _]?", re.IGNORECASE)
# In a generated rig of Rigify, of the bones that deform: they go before controls of the same part.
_DEFORMS = "DEF-"
_SIDE = re.compile(
    r"^(?P<word>(?i:left|right))[ _.-]?(?P<a>.+)$|^(?P<letter>[lrLR])[ _.-](?P<b>.+)$|^(?P<capital>[LR])(?P<c>[A-Z].*)$"
    r"|^(?P<d>.+)[ _.-](?P<end>(?i:l|r|left|right))$"
)


def canonical(name: str) -> str | None:
    """The part of the body that a joint is by its name, such as ``"left forearm"``; None if it is not known."""
    found = _part(name, _is_rigify([name]))
    return None if found is None else found[0]


def _is_rigify(names: Iterable[str]) -> bool:
    """Whether spines are numbered as Rigify does, by all names of a skeleton."""
    names = [_PREFIX.sub("", name) for name in names]
    return any(name.startswith(_DEFORMS) for name in names) or {"spine", "spine001", "spine003"} <= set(
        map(_plain, names)
    )


def _part(name: str, is_rigify: bool) -> tuple[str, int] | None:
    """The part that a name says, and its rank: the less, the better it says so."""
    bare = _PREFIX.sub("", name)
    if bare.startswith(_DEFORMS):
        found = _part(bare[len(_DEFORMS) :], is_rigify)
        return None if found is None else (found[0], found[1] - 1000)
    if is_rigify and _plain(bare) in _RIGIFY_SPINE:
        return _RIGIFY_SPINE[_plain(bare)], 0
    return _bare_part(bare)


def _bare_part(bare: str) -> tuple[str, int] | None:
    found = _SIDE.match(bare)
    if found is not None:
        side = next(found[key] for key in ("word", "letter", "capital", "end") if found[key])[0].lower()
        part = _SIDED_PART_OF.get(_plain(next(found[key] for key in "abcd" if found[key])))
        if part is not None:
            return f"{'left' if side == 'l' else 'right'} {part[0]}", part[1]
    return _PART_OF.get(_plain(bare))


def _plain(name: str) -> str:
    return re.sub(r"[ _.-]", "", name).lower()


def matched(
    sources: Sequence[str], targets: Sequence[str], names: Mapping[str, str] | None = None
) -> list[tuple[int, int]]:
    """Which joints of two skeletons are the same, by number.

    Parameters
    ----------
    sources, targets : sequence of str
        Names of joints.
    names : mapping, optional
        Targets by sources, in place of the known names; others are left out.

    Returns
    -------
    list of (source, target)
        Each source and each target once. Without `names`, joints of one name, and of the rest the first that are the
        same part of the body.

    Raises
    ------
    ValueError
        If `names` has one that is not there, or a target twice.
    """
    source_numbers, target_numbers = _numbers(sources), _numbers(targets)
    if names is not None:
        pairs: dict[int, int] = {}
        for source, target in names.items():
            if source not in source_numbers:
                raise ValueError(f"names: the motion has no joint {source!r}; it has: {', '.join(sources)}")
            if target not in target_numbers:
                raise ValueError(f"names: the character has no joint {target!r}; it has: {', '.join(targets)}")
            if target_numbers[target] in pairs:
                raise ValueError(f"names: joint {target!r} of the character is named twice")
            pairs[target_numbers[target]] = source_numbers[source]
        return sorted((source, target) for target, source in pairs.items())
    same = {source: target_numbers[name] for name, source in source_numbers.items() if name in target_numbers}
    source_parts, target_parts = _parts(sources, set(same)), _parts(targets, set(same.values()))
    same |= {source: target_parts[part] for part, source in source_parts.items() if part in target_parts}
    return sorted(same.items())


def body_parts(names: Sequence[str]) -> dict[str, int]:
    """The joint for each part of the body that names tell, such as ``"left forearm"``: its number."""
    return _parts(names, set())


def _numbers(names: Iterable[str]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for number, name in enumerate(names):
        numbers.setdefault(name, number)
    return numbers


def _parts(names: Sequence[str], taken: set[int]) -> dict[str, int]:
    """The joint for each part of the body, the first of those whose name says it best; but none that is taken."""
    found: dict[str, tuple[int, int]] = {}
    is_rigify = _is_rigify(names)
    for number, name in enumerate(names):
        part = _part(name, is_rigify)
        if part is not None:
            found[part[0]] = min(found.get(part[0], (part[1], number)), (part[1], number))
    return {part: number for part, (_, number) in found.items() if number not in taken}
