# SPDX-License-Identifier: GPL-3.0-or-later
"""Carrier objects: meshes in no collection that bring deformed positions to a modifier, one for each deformed object.

The only user of a carrier is an input of its modifier, so it is saved with the file and removed with the modifier. It
does not know its object: a duplicate of a deformed object shares the carrier until it gets its own.
"""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.place import CenterSource
from ...settings.typed import has_key, mesh_of, values_of
from .. import reading
from ..nodes.live_group import POSITION

_MARK = "sbs_carrier"
# The attribute with rotation centers of vertices.
_CENTER = "sbs_center"
# The source of the centers.
_DIGEST = "sbs_center_digest"
_PLACE = "sbs_center_place"


def new(name: str) -> bpy.types.Object:
    """A carrier without vertices, for the object with that name."""
    mesh = bpy.data.meshes.new(f"SBS {name}")
    carrier = bpy.data.objects.new(f"SBS {name}", mesh)
    carrier[_MARK] = True
    return carrier


def is_carrier(item: bpy.types.Object) -> bool:
    """Whether an object is a carrier."""
    return has_key(item, _MARK)


def is_writable(carrier: bpy.types.Object) -> bool:
    """Whether a carrier is of this file: data of a library cannot be written."""
    mesh = mesh_of(carrier)
    return not (carrier.library or carrier.override_library or mesh.library or mesh.override_library)


def count(carrier: bpy.types.Object) -> int:
    """For how many vertices a carrier is made."""
    return len(mesh_of(carrier).vertices)


def resize(carrier: bpy.types.Object, vertex_count: int) -> None:
    """Make a carrier for so many vertices."""
    mesh = mesh_of(carrier)
    mesh.clear_geometry()
    mesh.vertices.add(vertex_count)
    mesh.update_tag()


def write(carrier: bpy.types.Object, positions: NDArray[np.float32]) -> None:
    """Bring positions (V, 3) to the modifier; the carrier must be of that size."""
    mesh = mesh_of(carrier)
    reading.write_vectors(mesh, POSITION, positions)
    # Without it Blender 3.4 shows the frame before.
    mesh.update_tag()


def positions(carrier: bpy.types.Object) -> NDArray[np.float32] | None:
    """The positions (V, 3) that a carrier brings to the modifier; None if it has got none yet."""
    return reading.vectors(mesh_of(carrier), POSITION)


def keeps_centers(carrier: bpy.types.Object, vertex_count: int) -> bool:
    """Whether a carrier keeps rotation centers of so many vertices for the file."""
    attribute: bpy.types.Attribute | None = mesh_of(carrier).attributes.get(_CENTER)
    return attribute is not None and len(values_of(attribute)) == vertex_count


def centers(carrier: bpy.types.Object, vertex_count: int) -> NDArray[np.float32] | None:
    """The rotation centers, (V, 3), in a carrier; None if there are none for that many vertices."""
    found = reading.vectors(mesh_of(carrier), _CENTER)
    return found if found is not None and len(found) == vertex_count else None


def center_source(carrier: bpy.types.Object) -> CenterSource | None:
    """The source of the centers in a carrier; None if a file of an earlier version does not say."""
    if not (has_key(carrier, _DIGEST) and has_key(carrier, _PLACE)):
        return None
    return CenterSource(str(carrier[_DIGEST]), np.array(carrier[_PLACE], np.float64).reshape(4, 4))


def keep_centers(carrier: bpy.types.Object, found: NDArray[np.floating], source: CenterSource) -> None:
    """Store rotation centers (V, 3), found from a source, in a carrier with V vertices."""
    reading.write_vectors(mesh_of(carrier), _CENTER, found)
    carrier[_DIGEST] = source.digest
    carrier[_PLACE] = source.place.reshape(-1).tolist()


def remove_centers(carrier: bpy.types.Object) -> None:
    """Remove the rotation centers of a carrier."""
    attributes = mesh_of(carrier).attributes
    attribute: bpy.types.Attribute | None = attributes.get(_CENTER)
    if attribute is not None:
        attributes.remove(attribute)


def remove(carrier: bpy.types.Object) -> None:
    """Delete a carrier and its mesh."""
    mesh = mesh_of(carrier)
    bpy.data.objects.remove(carrier)
    if mesh.users == 0:
        bpy.data.meshes.remove(mesh)
