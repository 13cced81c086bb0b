# SPDX-License-Identifier: GPL-3.0-or-later
"""Correctives that have lost the bone that drove them: by deletions, by another rig, or as their mesh was joined.

Blender joins shape keys by their names, and leaves their drivers and records behind. The target of a corrective stays,
as it is in attributes of the mesh, and tells which shape key moves its vertices.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...settings.typed import mesh_of
from ..bake import shape_keys
from . import corrective_drivers, correctives, targets

# Vertices that a shape key moves by less, a share of the size, stay: edits of a mesh round them.
_STILL = 1e-6


class Broken(NamedTuple):
    """A corrective that the pose of its mesh does not drive."""

    number: str  #: Its number; that of a joined mesh is the name of its target
    key: bpy.types.ShapeKey
    reason: str  #: Why it is broken
    is_apart: bool  #: Whether its shape key is that of no other corrective


def find(item: bpy.types.Object) -> list[Broken]:
    """The broken correctives of a mesh object, without those whose shape keys were deleted."""
    mesh, keys = mesh_of(item), mesh_of(item).shape_keys
    if keys is None:
        return []
    driven, with_drivers = corrective_drivers.find(keys), corrective_drivers.driven_keys(keys)
    found, former = [], dict.fromkeys(targets.names(mesh), "")
    for number, record in correctives.records(keys).items():
        name = correctives.target_name(number, record)
        if number not in with_drivers:
            if name in former:
                former[name] = number
            continue
        former.pop(name, None)
        if number not in driven:
            reason = f"the bone {record.get('bone', '')} that drove it was deleted".replace("  ", " ")
            found.append(Broken(number, with_drivers[number], reason, True))
        elif reason := correctives.foreign_reason(item, driven[number].armature):
            found.append(Broken(number, with_drivers[number], reason, True))
    free = [block for block in keys.key_blocks if block not in with_drivers.values()]
    for name, number in former.items():
        vertices = targets.shares(mesh, name) > 0.0
        alone = next((block for block in free if _share(block, vertices) == 1.0), None)
        if alone is not None:
            free.remove(alone)
            reason = "its driver was deleted" if number else "its mesh was joined with another"
            found.append(Broken(number or name, alone, reason, True))
        elif not number:
            # Its shape key was joined with one of the same name, or has been edited.
            nearest = max(keys.key_blocks, key=partial(_share, vertices=vertices))
            if _share(nearest, vertices) > 0.0:
                reason = "a mesh that was joined with this one had a corrective here, which is lost"
                found.append(Broken(name, nearest, reason, False))
    return found


def _share(block: bpy.types.ShapeKey, vertices: NDArray[np.bool_]) -> float:
    """The share of the vertices that a shape key moves that are among some (V,); 0 if it moves none."""
    basis, deltas = shape_keys.basis_and_deltas(block)
    moved = np.linalg.norm(deltas, axis=1) > _STILL * np.linalg.norm(np.ptp(basis, axis=0))
    return float(np.mean(vertices[moved])) if moved.any() else 0.0


def remove(item: bpy.types.Object, broken: Broken) -> None:
    """Remove a broken corrective, with its shape key unless another corrective has it."""
    keys = mesh_of(item).shape_keys
    if keys is not None and broken.number in correctives.records(keys):
        correctives.forget(item, broken.number)
    else:
        targets.forget(mesh_of(item), broken.number)
    if broken.is_apart:
        item.shape_key_remove(broken.key)
