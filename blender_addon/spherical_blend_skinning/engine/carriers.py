# SPDX-License-Identifier: GPL-3.0-or-later
"""Carrier objects: meshes in no collection that bring deformed positions to a modifier, one for each deformed object.

The only user of a carrier is an input of its modifier, so it is saved with the file and goes with the modifier. It does
not know whose it is: a duplicate of a deformed object has the same carrier until it is given its own.
"""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from .live_group import POSITION

__all__ = ["count", "is_carrier", "is_writable", "new", "remove", "resize", "write"]

_MARK = "sbs_carrier"


def new(name: str) -> bpy.types.Object:
    """A carrier without vertices, for the object of that name."""
    mesh = bpy.data.meshes.new(f"SBS {name}")
    carrier = bpy.data.objects.new(f"SBS {name}", mesh)
    carrier[_MARK] = True
    return carrier


def is_carrier(item: bpy.types.Object) -> bool:
    """Whether an object is a carrier."""
    return _MARK in item


def is_writable(carrier: bpy.types.Object) -> bool:
    """Whether a carrier is of this file: data of a library cannot be written."""
    return not (carrier.library or carrier.override_library or carrier.data.library or carrier.data.override_library)


def count(carrier: bpy.types.Object) -> int:
    """For how many vertices a carrier is made."""
    return len(carrier.data.vertices)


def resize(carrier: bpy.types.Object, vertex_count: int) -> None:
    """Make a carrier for so many vertices."""
    mesh = carrier.data
    mesh.clear_geometry()
    mesh.vertices.add(vertex_count)


def write(carrier: bpy.types.Object, positions: NDArray[np.float32]) -> None:
    """Bring positions (V, 3) to the modifier; the carrier must be of that size."""
    mesh = carrier.data
    attribute = mesh.attributes.get(POSITION)
    if attribute is None:
        attribute = mesh.attributes.new(POSITION, "FLOAT_VECTOR", "POINT")
    attribute.data.foreach_set("vector", positions.reshape(-1))
    # Without it Blender 3.4 shows the frame before.
    mesh.update_tag()


def remove(carrier: bpy.types.Object) -> None:
    """Delete a carrier and its mesh."""
    mesh = carrier.data
    bpy.data.objects.remove(carrier)
    if mesh.users == 0:
        bpy.data.meshes.remove(mesh)
