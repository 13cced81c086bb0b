# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape of a mesh without its animated shape keys, which is the same in all frames."""

from __future__ import annotations

from typing import NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...settings.typed import animation_of, mesh_of
from .. import curves, reading
from . import stack


class Key(NamedTuple):
    """A shape key and its value."""

    name: str
    value: float  #: 0 if it is off, or animated
    is_animated: bool  #: Whether keys or a driver change the value


def moving_keys(item: bpy.types.Object, modifier: bpy.types.Modifier) -> tuple[Key, ...]:
    """The shape keys of an object.

    None if no key is animated, or if something else than keys moves vertices before a modifier.
    """
    keys = mesh_of(item).shape_keys
    data = animation_of(keys) if keys is not None else None
    if keys is None or data is None or not keys.use_relative or item.show_only_shape_key:
        return ()
    if stack.before(item, modifier) or any(block.vertex_group for block in keys.key_blocks):
        return ()
    animated = {curve.data_path for found in (*curves.collections(keys), data.drivers) for curve in found}
    in_tracks = len(data.nla_tracks) > 0
    found = []
    for block in keys.key_blocks:
        path = f'key_blocks["{bpy.utils.escape_identifier(block.name)}"].value'
        is_animated = in_tracks or path in animated
        found.append(Key(block.name, 0.0 if is_animated or block.mute else block.value, is_animated))
    return tuple(found) if any(key.is_animated for key in found) else ()


def positions(item: bpy.types.Object, keys: tuple[Key, ...]) -> NDArray[np.float32]:
    """The vertices (V, 3) of an object with those of its shape keys that are not animated."""
    mesh = mesh_of(item)
    blocks = mesh.shape_keys.key_blocks  # type: ignore[union-attr]  # it has those of `keys`
    found = reading.positions(mesh).astype(np.float64)
    for key in keys:
        block = blocks[key.name]
        if key.value != 0.0 and block.relative_key != block:
            found += key.value * (reading.key_points(block) - reading.key_points(block.relative_key))
    return found.astype(np.float32)
