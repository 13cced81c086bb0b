# SPDX-License-Identifier: MIT
"""Names of the joints of people in different programs, by which a motion finds the joints of another skeleton."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

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
# Where elbows are named in place of upper arms, as by Biovision and SMPL, joints are called as in anatomy: the shoulder
# is where the upper arm begins.
_ANATOMY = {
    "shoulder": "upper arm",
    "elbow": "forearm",
    "wrist": "hand",
    "hip": "thigh",
    "knee": "shin",
    "ankle": "foot",
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


class _Scheme(NamedTuple):
    """How a skeleton names its joints, by all their names."""

    is_rigify: bool
    """Spines are numbered as Rigify does."""
    is_anatomy: bool
    """See `_ANATOMY`."""


def canonical(name: str) -> str | None:
    """The part of the body that a joint is by its name, such as ``"left forearm"``; None if it is not known."""
    found = _part(name, _scheme([name]))
    return None if found is None else found[0]


def _scheme(names: Iterable[str]) -> _Scheme:
    names = [_PREFIX.sub("", name) for name in names]
    is_rigify = any(name.startswith(_DEFORMS) for name in names) or {"spine", "spine001", "spine003"} <= set(
        map(_plain, names)
    )
    sided = {bare for _, bare in map(_sided, names)}
    return _Scheme(is_rigify, "elbow" in sided and sided.isdisjoint(_SIDED["upper arm"]))


def _part(name: str, scheme: _Scheme) -> tuple[str, int] | None:
    """The part that a name says, and its rank: the less, the better it says so."""
    bare = _PREFIX.sub("", name)
    if bare.startswith(_DEFORMS):
        found = _part(bare[len(_DEFORMS) :], scheme)
        return None if found is None else (found[0], found[1] - 1000)
    if scheme.is_rigify and _plain(bare) in _RIGIFY_SPINE:
        return _RIGIFY_SPINE[_plain(bare)], 0
    side, rest = _sided(bare)
    part = _SIDED_PART_OF.get(rest) if side else None
    if side and scheme.is_anatomy and rest in _ANATOMY:
        part = _ANATOMY[rest], -1
    return _PART_OF.get(_plain(bare)) if part is None else (f"{side} {part[0]}", part[1])


def _sided(bare: str) -> tuple[str, str]:
    """The side that a name says, ``"left"``, ``"right"`` or none, and the rest of it, in lower case."""
    found = _SIDE.match(bare)
    if found is None:
        return "", ""
    side = next(found[key] for key in ("word", "letter", "capital", "end") if found[key])[0].lower()
    return "left" if side == "l" else "right", _plain(next(found[key] for key in "abcd" if found[key]))


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
        Each source and each target once. Without `names`, joints of one name, unless only one skeleton has names as in
        anatomy, and of the rest the first that are the same part of the body.

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
    differ = _scheme(sources).is_anatomy != _scheme(targets).is_anatomy
    same = {
        source: target_numbers[name]
        for name, source in source_numbers.items()
        if name in target_numbers and not (differ and _sided(_PREFIX.sub("", name))[1] in _ANATOMY)
    }
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
    scheme = _scheme(names)
    for number, name in enumerate(names):
        part = _part(name, scheme)
        if part is not None:
            found[part[0]] = min(found.get(part[0], (part[1], number)), (part[1], number))
    return {part: number for part, (_, number) in found.items() if number not in taken}
