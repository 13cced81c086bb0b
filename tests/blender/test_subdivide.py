# SPDX-License-Identifier: GPL-3.0-or-later
"""Finer faces near selected bones."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, deformed, error


@pytest.fixture
def character() -> tuple[bpy.types.Object, bpy.types.Object]:
    """A bound tube with texture coordinates, and its posed armature, of which one bone is selected."""
    armature, tube = rigs.make_armature(), rigs.make_tube()
    tube.data.uv_layers.new(name="UV")
    for loop in tube.data.loops:
        x, _, z = tube.data.vertices[loop.vertex_index].co
        tube.data.uv_layers["UV"].data[loop.index].uv = (x, z)
    rigs.bind(tube, armature)
    rigs.turn(armature)
    rigs.select([tube])
    rigs.select_bones(armature, "B1")
    return tube, armature


def area(mesh: bpy.types.Mesh) -> float:
    return sum(face.area for face in mesh.polygons)


@pytest.mark.parametrize("levels", [1, 2])
def test_near_one_bone(character: tuple[bpy.types.Object, bpy.types.Object], levels: int) -> None:
    tube, armature = character
    mesh = tube.data
    heaviest = [max(vertex.groups, key=lambda entry: entry.weight).group for vertex in mesh.vertices]
    near = [face for face in mesh.polygons if all(heaviest[vertex] == 1 for vertex in face.vertices)]
    rows = len(near) // rigs.RING
    old, faces, size = len(mesh.vertices), len(mesh.polygons), area(mesh)
    assert bpy.ops.sbs.subdivide_near_bones(levels=levels) == {"FINISHED"}
    parts = 2**levels
    # Rings and columns of a tube: all that lie between old ones.
    assert len(mesh.vertices) - old == rigs.RING * ((rows * parts + 1) * parts - (rows + 1))
    assert len(mesh.polygons) - faces == len(near) * (parts**2 - 1)
    assert area(mesh) == pytest.approx(size, rel=1e-6)
    # Every edge has two faces, but for those of the open ends.
    uses = np.bincount([loop.edge_index for loop in mesh.loops])
    assert sorted(set(uses.tolist())) == [1, 2]
    assert np.count_nonzero(uses == 1) == 2 * rigs.RING
    for loop in mesh.loops:
        x, _, z = mesh.vertices[loop.vertex_index].co
        assert mesh.uv_layers["UV"].data[loop.index].uv[:] == pytest.approx((x, z), abs=1e-6)
    assert error(rigs.evaluated(tube), deformed(tube, armature)) < TOLERANCE
    assert len(rigs.evaluated(tube)) == len(mesh.vertices)


def test_nothing_selected(character: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    tube, armature = character
    rigs.select_bones(armature)
    with pytest.raises(RuntimeError, match="No bone of Rig"):
        bpy.ops.sbs.subdivide_near_bones()
    rigs.select_bones(armature, "B3")
    tube.vertex_groups["B3"].remove(range(len(tube.data.vertices)))
    assert bpy.ops.sbs.subdivide_near_bones() == {"CANCELLED"}


def test_undo(character: tuple[bpy.types.Object, bpy.types.Object]) -> None:
    count = len(character[0].data.vertices)
    bpy.ops.ed.undo_push(message="Start")
    assert bpy.ops.sbs.subdivide_near_bones("EXEC_DEFAULT", True) == {"FINISHED"}
    assert len(bpy.data.objects["Tube"].data.vertices) > count
    bpy.ops.ed.undo()
    tube, armature = bpy.data.objects["Tube"], bpy.data.objects["Rig"]
    assert len(tube.data.vertices) == count
    assert error(rigs.evaluated(tube), deformed(tube, armature)) < TOLERANCE
