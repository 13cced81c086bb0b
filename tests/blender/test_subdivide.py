# SPDX-License-Identifier: GPL-3.0-or-later
"""Finer faces near selected bones."""

from __future__ import annotations

import addon
import bpy
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, deformed, error
from objects import Character


@pytest.fixture
def character() -> Character:
    """A bound tube with texture coordinates, and its posed armature, of which one bone is selected."""
    armature, tube = rigs.make_armature(), rigs.make_tube()
    tube.data.uv_layers.new(name="UV")
    for loop in tube.data.loops:
        place = tube.data.vertices[loop.vertex_index].co
        tube.data.uv_layers["UV"].data[loop.index].uv = (place.x, place.z)
    rigs.bind(tube, armature)
    rigs.turn(armature)
    rigs.select([tube])
    rigs.select_bones(armature, "B1")
    return tube, armature


def area(mesh: bpy.types.Mesh) -> float:
    return sum(face.area for face in mesh.polygons)


@pytest.mark.parametrize("levels", [1, 2])
def test_near_one_bone(character: Character, levels: int) -> None:
    tube, armature = character
    mesh = tube.data
    heaviest = [max(vertex.groups, key=lambda entry: entry.weight).group for vertex in mesh.vertices]
    near = [face for face in mesh.polygons if all(heaviest[vertex] == 1 for vertex in face.vertices)]
    rows = len(near) // rigs.RING
    old, faces, size = len(mesh.vertices), len(mesh.polygons), area(mesh)
    assert addon.ops.subdivide_near_bones(levels=levels, where="BONE") == {"FINISHED"}
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
        place = mesh.vertices[loop.vertex_index].co
        assert mesh.uv_layers["UV"].data[loop.index].uv[:] == pytest.approx((place.x, place.z), abs=1e-6)
    assert error(rigs.evaluated(tube), deformed(tube, armature)) < TOLERANCE
    assert len(rigs.evaluated(tube)) == len(mesh.vertices)


@pytest.mark.parametrize("scheme", ["1:4", "1:3"])
def test_both_sides_of_a_joint(character: Character, scheme: str) -> None:
    """Around the head of B1, at z = 1, as much on one side as on the other; nothing near its tail."""
    tube, armature = character
    old = len(tube.data.vertices)
    assert addon.ops.subdivide_near_bones(scheme=scheme) == {"FINISHED"}
    new = np.array([vertex.co.z for vertex in tube.data.vertices])[old:]
    assert new.min() < 0.7 and 1.4 < new.max() < 1.8
    if scheme == "1:3":
        # One in the middle of every face, with weights and texture coordinates between.
        assert {len(face.vertices) for face in tube.data.polygons} == {3, 4}
        weights = rigs.weights(tube)
        for vertex in list(tube.data.vertices)[old:]:
            corners = {
                other
                for face in tube.data.polygons
                if vertex.index in face.vertices
                for other in face.vertices
                if other != vertex.index
            }
            mean = np.mean([weights[corner] for corner in corners], axis=0)
            np.testing.assert_allclose(weights[vertex.index], mean, atol=1e-6)
    for loop in tube.data.loops:
        place = tube.data.vertices[loop.vertex_index].co
        assert tube.data.uv_layers["UV"].data[loop.index].uv[:] == pytest.approx((place.x, place.z), abs=1e-6)
    assert error(rigs.evaluated(tube), deformed(tube, armature)) < TOLERANCE


def test_attachment_is_that_of_bones_blending(character: Character) -> None:
    """The same vertices that the method itself would bend with the bone, with a bone between that does not deform."""
    tube, armature = character
    subdivide = addon.module("subdivide.operators")
    mesh = addon.module("interface.rigged").RiggedMesh(tube, armature)
    belongs = subdivide.attachment(mesh)
    heights = np.array([vertex.co.z for vertex in tube.data.vertices])
    # Bones are 1 long and the limb about 0.45 thick: a joint bends up to half of a bone from it.
    assert set(belongs[(heights > 0.6) & (heights < 1.4)]) == {1}
    assert set(belongs[(heights > 1.6) & (heights < 2.4)]) == {2}
    armature.data.bones["B1"].use_deform = False
    belongs = subdivide.attachment(addon.module("interface.rigged").RiggedMesh(tube, armature))
    assert belongs.max() == 2, "the three bones that are left"


def test_nothing_selected(character: Character) -> None:
    tube, armature = character
    rigs.select_bones(armature)
    with pytest.raises(RuntimeError, match="No bone of Rig"):
        addon.ops.subdivide_near_bones()
    rigs.select_bones(armature, "B3")
    tube.vertex_groups["B3"].remove(range(len(tube.data.vertices)))
    assert addon.ops.subdivide_near_bones(where="BONE") == {"CANCELLED"}
