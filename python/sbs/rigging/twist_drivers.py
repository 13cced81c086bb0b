# SPDX-License-Identifier: MIT
"""How twist joints follow a pose: extras of their nodes. docs/engines.md has the fields and the formula."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

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
        names = content.get("parent"), content.get("child")
        sizes = {"parent_rest": 4, "child_rest": 4, "axis": 3}
        vectors = {name: _unit_vector(content.get(name), size) for name, size in sizes.items()}
        share = content.get("share")
        named = all(name is None or isinstance(name, str) for name in names)
        if not named or None in vectors.values() or type(share) not in (int, float) or not 0.0 <= share <= 1.0:
            return None
        parent_rest, child_rest, axis = (vectors[name] or () for name in sizes)
        return cls(node, names[0], parent_rest, names[1], child_rest, axis, float(share))


def _unit_vector(content: Any, size: int) -> Numbers | None:
    if not isinstance(content, list) or len(content) != size or any(type(x) not in (int, float) for x in content):
        return None
    try:
        numbers = tuple(float(x) for x in content)
    except OverflowError:
        return None
    return numbers if abs(math.hypot(*numbers) - 1.0) < 1e-3 else None
