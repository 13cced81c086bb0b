# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones along which twists are spread: what `sbs.Twist` needs to know of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .matrices import Floats
from .rest import RestBones

# How far from the tail the child may be that a limb ends with, as a share of its length; as in the package sbs.
_AT_THE_TAIL = 0.1


@dataclass(frozen=True)
class Spread:
    """The artist's choice of bones, and how their twists are spread."""

    ticked: NDArray[np.bool_]  #: (B,): the chosen bones of the pose
    #: (B,): those after which a vertex group of some mesh of the rig is named: others do not end a limb
    weighted: NDArray[np.bool_]
    options: dict[str, Any]  #: Of `sbs.Twist`: ``smooth`` and ``frames``

    def same_as(self, other: Spread | None) -> bool:
        """Whether both spread the same twists in the same way."""
        return self is other or (
            other is not None
            and self.options == other.options
            and np.array_equal(self.ticked, other.ticked)
            and np.array_equal(self.weighted, other.weighted)
        )


@dataclass(frozen=True)
class Limb:
    """A bone along which twists are spread. Bones are numbers in the pose."""

    bone: int
    parent: int  #: The nearest ancestor that deforms, which the bone's own twist is relative to; -1 if there is none
    #: The bone at the tail whose twist is spread along this one; -1 if there is none, or if its own bone is a limb
    child: int
    #: (3,): in armature space
    head: Floats
    tail: Floats

    @property
    def axis(self) -> Floats:
        """The direction of the bone, of length 1."""
        along = self.tail - self.head
        return np.asarray(along / np.linalg.norm(along))


def limbs(rig: RestBones, spread: Spread) -> tuple[Limb, ...]:
    """The chosen bones that can be limbs: they deform, do not bend, and have a twist of their own or of a child.

    Each twist is spread once: along the bone's own limb if there is one, else along its parent.
    """
    parents = rig.deforming_parents()
    chosen = np.flatnonzero(spread.ticked & rig.deforms & (rig.segments == 1)).tolist()
    moving = _with_ancestors(spread.weighted & rig.deforms, parents)
    found = []
    for bone in chosen:
        tail, child = _end(rig, bone, np.flatnonzero((parents == bone) & moving).tolist())
        if child in chosen:
            child = -1
        if parents[bone] >= 0 or child >= 0:
            found.append(Limb(bone, int(parents[bone]), child, rig.rests[bone, :3, 3], tail))
    return tuple(found)


def _end(rig: RestBones, bone: int, children: list[int]) -> tuple[Floats, int]:
    """Where a bone ends, and the child that is there, or -1.

    The bones of imported rigs point anywhere, so an only child is a better end than the tail.
    """
    heads = rig.rests[:, :3, 3]
    if len(children) == 1 and not np.allclose(heads[children[0]], heads[bone], rtol=0.0, atol=1e-6 * rig.lengths[bone]):
        return heads[children[0]], children[0]
    tail = heads[bone] + rig.rests[bone, :3, 1] * rig.lengths[bone]
    near = [
        child for child in children if np.linalg.norm(heads[child] - tail) <= _AT_THE_TAIL * float(rig.lengths[bone])
    ]
    return tail, near[0] if len(near) == 1 else -1


def _with_ancestors(bones: NDArray[np.bool_], parents: NDArray[np.int32]) -> NDArray[np.bool_]:
    """These bones, and all bones that they hang on."""
    found = bones.copy()
    while (above := parents[found & (parents >= 0)]).size and not found[above].all():
        found[above] = True
    return found
