# SPDX-License-Identifier: MIT
"""How twist joints follow a pose: extras of their nodes. docs/engines.md has the fields and the formula."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, TypeGuard

from ..support.text import well_formed

__all__ = ["EXTRAS", "TwistDriver"]

EXTRAS = "sbs_twist"
"""The key in the extras of a node."""

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class TwistDriver:
    """The rotation of one twist joint by twists of the bone that its node is a child of.

    Attributes
    ----------
    node : int
        The twist joint's, in its rig.
    parent, child : str or None
        The nodes between which and the bone twists are found, above and below it; None: there is no such twist.
    parent_rest : (4,) tuple
        The rotation of the bone relative to the parent at bind, (x, y, z, w) as in glTF.
    child_rest : (4,) tuple
        That of the child relative to the bone.
    axis : (3,) tuple
        The direction of the bone in its own space, of length 1.
    share : float
        Of the child's twist; the joint takes back 1 - share of the bone's own.
    """

    node: int
    parent: str | None
    parent_rest: Numbers
    child: str | None
    child_rest: Numbers
    axis: Numbers
    share: float

    def extras(self) -> dict[str, Any]:
        """The content of `EXTRAS`."""
        content = asdict(self)
        del content["node"]
        return {name: well_formed(value) if isinstance(value, str) else value for name, value in content.items()}

    @classmethod
    def read(cls, node: int, extras: Any) -> TwistDriver | None:
        """The inverse, from all extras of a node; None if there is no driver, or a damaged one."""
        content = extras.get(EXTRAS) if isinstance(extras, dict) else None
        if not isinstance(content, dict):
            return None
        parent, child, share = (content.get(name) for name in ("parent", "child", "share"))
        rests = _unit_vector(content.get("parent_rest"), 4), _unit_vector(content.get("child_rest"), 4)
        axis = _unit_vector(content.get("axis"), 3)
        named = all(name is None or isinstance(name, str) for name in (parent, child))
        if not named or None in rests or axis is None or not _is_number(share) or not 0.0 <= share <= 1.0:
            return None
        return cls(node, parent, rests[0] or (), child, rests[1] or (), axis, float(share))


def _is_number(content: Any) -> TypeGuard[float]:
    return type(content) in (int, float)


def _unit_vector(content: Any, size: int) -> Numbers | None:
    if not isinstance(content, list) or len(content) != size or not all(map(_is_number, content)):
        return None
    try:
        numbers = tuple(float(x) for x in content)
    except OverflowError:
        return None
    return numbers if abs(math.hypot(*numbers) - 1.0) < 1e-3 else None
