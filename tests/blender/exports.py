# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that Blender's exporters write of characters, and what its importers make of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
from expected import Floats, error, in_world
from objects import MeshObject, current_scene

#: The vertices of an object in the world, by frames.
Shapes = dict[int, Floats]

_IMPORTERS: dict[str, Any] = {
    ".fbx": lambda path: bpy.ops.import_scene.fbx(filepath=path),
    ".glb": lambda path: bpy.ops.import_scene.gltf(filepath=path),
    ".usdc": lambda path: bpy.ops.wm.usd_import(filepath=path),
}


def come_back(path: Path) -> list[bpy.types.Object]:
    """The objects of a file."""
    before = set(bpy.data.objects)
    _IMPORTERS[path.suffix](str(path))
    return [item for item in bpy.data.objects if item not in before]


def by_frame(item: MeshObject, frames: Sequence[int]) -> Shapes:
    """The vertices of an object in some frames; the scene is in the same frame afterwards."""
    before = current_scene().frame_current
    found = {}
    for frame in frames:
        current_scene().frame_set(frame)
        found[frame] = in_world(item)
    current_scene().frame_set(before)
    return found


def assert_alike(found: Shapes, wanted: Shapes, tolerance: float) -> None:
    assert found.keys() == wanted.keys()
    for frame, shape in wanted.items():
        assert error(found[frame], shape) < tolerance, frame
