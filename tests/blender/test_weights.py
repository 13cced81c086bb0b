# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators of the Weights menu against the package, and by hand."""

from __future__ import annotations

from types import ModuleType

import addon
import bpy
import numpy as np
import pytest
import rigs
from expected import assert_right
from objects import (
    Character,
    MeshObject,
    armature_named,
    armature_object,
    current_layer,
    current_scene,
    mesh_object,
    new_mesh,
)

# Blender keeps weights in float32.
TOLERANCE = 1e-6

BONES = 4


@pytest.fixture
def weights() -> ModuleType:
    module: ModuleType = addon.module("core.library").load("weights")
    return module


@pytest.fixture
def tube() -> MeshObject:
    armature = rigs.make_armature()
    mesh = rigs.make_tube()
    mesh.modifiers.new("Armature", "ARMATURE").object = armature
    rigs.select([mesh])
    return mesh


def selected(item: MeshObject) -> list[int]:
    return [vertex.index for vertex in item.data.vertices if vertex.select]


def test_smooth(tube: MeshObject, weights: ModuleType) -> None:
    before = weights.from_dense(rigs.weights(tube))
    expected = weights.smooth(
        rigs.positions(tube.data), rigs.triangles(tube.data), *before, iterations=3, strength=0.7, limit=BONES
    )
    assert addon.ops.smooth_weights(iterations=3, strength=0.7) == {"FINISHED"}
    np.testing.assert_allclose(rigs.weights(tube), weights.to_dense(*expected, BONES), atol=TOLERANCE)


@pytest.mark.parametrize("operator", ["smooth_weights", "spherical_weights"])
def test_what_is_locked_or_masked_stays(tube: MeshObject, operator: str) -> None:
    before = rigs.weights(tube)
    tube.vertex_groups["B2"].lock_weight = True
    chosen = np.arange(300, 400)
    addon.module("interface.rigged").select_vertices(tube, chosen)
    tube.data.use_paint_mask_vertex = True
    assert getattr(addon.ops, operator)() == {"FINISHED"}
    after = rigs.weights(tube)
    others = np.setdiff1d(np.arange(len(before)), chosen)
    np.testing.assert_array_equal(after[others], before[others])
    np.testing.assert_array_equal(after[:, 2], before[:, 2])
    assert (after[chosen] != before[chosen]).any()


def test_weights_for_spherical_blending(tube: MeshObject, weights: ModuleType) -> None:
    bones = tube.modifiers["Armature"].object.data.bones
    expected = weights.widen(
        rigs.positions(tube.data),
        rigs.triangles(tube.data),
        *weights.from_dense(rigs.weights(tube)),
        [bone.head_local for bone in bones],
        [bone.tail_local for bone in bones],
        reach=0.3,
    )
    before = rigs.weights(tube)
    assert addon.ops.spherical_weights(reach=0.3) == {"FINISHED"}
    after = rigs.weights(tube)
    np.testing.assert_allclose(after, weights.to_dense(*expected, BONES), atol=TOLERANCE)
    assert (after != before).any()


@pytest.mark.parametrize("set_quality", [True, False])
def test_weights_for_spherical_blending_come_with_their_settings(set_quality: bool) -> None:
    """From an armature, for all meshes that it moves, of which two share their data."""
    armature = rigs.make_armature()
    one, other, twin = (rigs.make_tube(name=name) for name in ("One", "Other", "Twin"))
    twin.data = other.data
    for mesh in (one, other, twin):
        mesh.modifiers.new("Armature", "ARMATURE").object = armature
    current_layer().update()
    rigs.select([one, other, twin])
    assert addon.ops.bind() == {"FINISHED"}
    armature.sbs.preset = "SPEED"
    other.sbs.preset = "GAME"  # for itself
    before = rigs.weights(one)
    rigs.select([armature])
    bpy.ops.object.mode_set(mode="POSE")
    current_layer().update()
    assert addon.ops.spherical_weights(set_quality=set_quality) == {"FINISHED"}
    assert (rigs.weights(one) != before).any()
    np.testing.assert_array_equal(rigs.weights(other), rigs.weights(one))
    presets, across = (("QUALITY",) * 3, 0.5) if set_quality else (("SPEED", "GAME", "SPEED"), 0.35)
    assert tuple(item.sbs.preset for item in (armature, other, twin)) == presets
    assert [item.sbs.twist_across for item in (one, other, twin)] == pytest.approx([across] * 3)


def test_weights_for_spherical_blending_of_what_is_not_bound(tube: MeshObject) -> None:
    assert addon.ops.spherical_weights() == {"FINISHED"}
    assert not tube.sbs.is_property_set("twist_across")


@pytest.fixture
def cross() -> MeshObject:
    """A strip from x = -2 to 2 whose sides have other vertices, with a bone on each side; only the left is weighted."""
    data = bpy.data.armatures.new("Rig")
    armature = armature_object(bpy.data.objects.new("Rig", data))
    current_scene().collection.objects.link(armature)
    with rigs.editing(armature):
        for name, head, tail in (
            ("hip", (0, 0, -1), (0, 0, 0)),
            ("arm.L", (0, 0, 0), (2, 0, 0)),
            ("arm.R", (0, 0, 0), (-2, 0, 0)),
        ):
            bone = data.edit_bones.new(name)
            bone.head, bone.tail = head, tail

    places = [-2.0, -1.5, -0.5, 0.0, 1.0, 2.0]
    points = [(x, y, 0.0) for x in places for y in (0.0, 1.0)]
    mesh = bpy.data.meshes.new("Strip")
    mesh.from_pydata(points, [], [(2 * i, 2 * i + 2, 2 * i + 3, 2 * i + 1) for i in range(len(places) - 1)])
    item = mesh_object(bpy.data.objects.new("Strip", mesh))
    current_scene().collection.objects.link(item)
    item.modifiers.new("Armature", "ARMATURE").object = armature
    for name in ("hip", "arm.L", "arm.R"):
        item.vertex_groups.new(name=name)
    for vertex, (x, _, _) in enumerate(points):
        share = max(0.0, min(1.0, x / 2.0))
        for name, weight in (("arm.L", share), ("hip", 1.0 - share)):
            if weight > 0.0:
                item.vertex_groups[name].add([vertex], weight, "REPLACE")
    rigs.select([item])
    return item


def test_mirror_of_sides_that_differ(cross: MeshObject) -> None:
    assert addon.ops.mirror_weights(axis="X", source="POSITIVE") == {"FINISHED"}
    for vertex in cross.data.vertices:
        found = {cross.vertex_groups[element.group].name: element.weight for element in vertex.groups}
        x = vertex.co.x
        side = "arm.L" if x > 0 else "arm.R"
        expected = {name: share for name, share in ((side, abs(x) / 2), ("hip", 1 - abs(x) / 2)) if share > 0}
        assert found == pytest.approx(expected, abs=TOLERANCE)


def test_mirror_selects_what_finds_no_partner(cross: MeshObject) -> None:
    cross.data.vertices[0].co.z = 1.0
    cross.data.update()
    assert addon.ops.mirror_weights(axis="X", source="POSITIVE", tolerance=0.05) == {"FINISHED"}
    assert selected(cross) == [0]
    assert [cross.vertex_groups[element.group].name for element in cross.data.vertices[0].groups] == ["hip"]


def test_mirror_tells_bones_without_another_side(cross: MeshObject, capfd: pytest.CaptureFixture[str]) -> None:
    armature = armature_named("Rig")
    data = armature.data
    with rigs.editing(armature):
        for name, x in (("arm.L", 1.0), ("arm.R", -1.0)):
            data.edit_bones[name].head.x = x
    data.bones["arm.R"].name = "tail"
    rigs.select([cross])
    assert addon.ops.mirror_weights(axis="X", source="POSITIVE") == {"FINISHED"}
    assert "no other side: " not in capfd.readouterr().out  # by place
    data.bones["tail"].use_deform = False
    assert addon.ops.mirror_weights(axis="X", source="POSITIVE") == {"FINISHED"}
    assert "no other side: arm.L" in capfd.readouterr().out


def test_check_selects_bad_vertices(tube: MeshObject) -> None:
    bpy.ops.object.vertex_group_normalize_all(group_select_mode="ALL", lock_active=False)
    assert addon.ops.check_weights() == {"FINISHED"}
    assert selected(tube) == []
    for group in tube.vertex_groups:
        group.remove([5])
    tube.vertex_groups["B0"].add([17], 0.5, "REPLACE")
    assert addon.ops.check_weights() == {"FINISHED"}
    assert selected(tube) == [5, 17]
    shared = np.flatnonzero((rigs.weights(tube) > 0).sum(axis=1) > 1)
    assert addon.ops.check_weights(limit=1) == {"FINISHED"}
    assert selected(tube) == sorted({5, 17, *shared.tolist()})


def test_transfer(tube: MeshObject, weights: ModuleType) -> None:
    bpy.ops.object.vertex_group_normalize_all(group_select_mode="ALL", lock_active=False)
    other = rigs.make_tube(rows=30, name="Other")
    other.vertex_groups.clear()
    other.location = (0.02, 0.0, 0.0)
    rigs.select([tube, other])
    expected = weights.transfer(
        rigs.positions(tube.data),
        rigs.triangles(tube.data),
        *weights.from_dense(rigs.weights(tube)),
        rigs.positions(other.data) + np.array([0.02, 0.0, 0.0]),
    )
    current_layer().update()
    assert addon.ops.transfer_weights() == {"FINISHED"}
    dense = weights.to_dense(expected.joint_indices, expected.joint_weights, BONES)
    # Between float32 vertices a nearest point may lie on either of two triangles that share an edge.
    np.testing.assert_allclose(rigs.weights(other), dense, atol=1e-4)


def test_transfer_leaves_what_is_far(tube: MeshObject) -> None:
    other = rigs.make_tube(name="Other")
    before = rigs.weights(other)
    other.location = (5.0, 0.0, 0.0)
    rigs.select([tube, other])
    current_layer().update()
    assert addon.ops.transfer_weights(max_distance=1.0) == {"FINISHED"}
    np.testing.assert_array_equal(rigs.weights(other), before)


def test_heat_copes_with_a_loose_island(tube: MeshObject) -> None:
    count = len(tube.data.vertices)
    button = [(0.7, 0.0, 0.5), (0.75, 0.0, 0.5), (0.7, 0.05, 0.5)]
    mesh = new_mesh("Loose")
    faces = [tuple(polygon.vertices) for polygon in tube.data.polygons]
    mesh.from_pydata([*rigs.positions(tube.data).tolist(), *button], [], [*faces, (count, count + 1, count + 2)])
    tube.vertex_groups.clear()
    tube.data = mesh
    assert addon.ops.heat_weights() == {"FINISHED"}
    found = rigs.weights(tube)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=TOLERANCE)
    # The button lies beside the first bone.
    assert (found[count:].argmax(axis=1) == 0).all()


def test_heat(tube: MeshObject, weights: ModuleType) -> None:
    armature = tube.modifiers["Armature"].object
    heads, tails = (
        np.array([getattr(bone, end) for bone in armature.data.bones]) for end in ("head_local", "tail_local")
    )
    wanted = weights.heat_weights(
        rigs.positions(tube.data).astype("f4"), rigs.triangles(tube.data), heads, tails, limit=4
    )
    assert addon.ops.heat_weights() == {"FINISHED"}
    dense = weights.to_dense(wanted.joint_indices, wanted.joint_weights, BONES)
    np.testing.assert_allclose(rigs.weights(tube), dense, atol=TOLERANCE)


@pytest.fixture
def character() -> Character:
    """A bound tube with texture coordinates, and its posed armature, of which one bone is selected."""
    tube, armature = rigs.make_character()
    tube.data.uv_layers.new(name="UV")
    for loop in tube.data.loops:
        place = tube.data.vertices[loop.vertex_index].co
        tube.data.uv_layers["UV"].data[loop.index].uv = (place.x, place.z)
    rigs.select([tube])
    rigs.select_bones(armature, "B1")
    return tube, armature


def assert_texture_stays(mesh: bpy.types.Mesh) -> None:
    for loop in mesh.loops:
        place = mesh.vertices[loop.vertex_index].co
        assert mesh.uv_layers["UV"].data[loop.index].uv[:] == pytest.approx((place.x, place.z), abs=1e-6)


@pytest.mark.parametrize("levels", [1, 2])
def test_near_one_bone(character: Character, levels: int) -> None:
    tube, armature = character
    mesh = tube.data
    heaviest = [max(vertex.groups, key=lambda entry: entry.weight).group for vertex in mesh.vertices]
    near = [face for face in mesh.polygons if all(heaviest[vertex] == 1 for vertex in face.vertices)]
    rows = len(near) // rigs.RING
    old, faces, size = len(mesh.vertices), len(mesh.polygons), sum(face.area for face in mesh.polygons)
    assert addon.ops.subdivide_near_bones(levels=levels, where="BONE") == {"FINISHED"}
    parts = 2**levels
    # Rings and columns of a tube: all that lie between old ones.
    assert len(mesh.vertices) - old == rigs.RING * ((rows * parts + 1) * parts - (rows + 1))
    assert len(mesh.polygons) - faces == len(near) * (parts**2 - 1)
    assert sum(face.area for face in mesh.polygons) == pytest.approx(size, rel=1e-6)
    # Every edge has two faces, but for those of the open ends.
    uses = np.bincount([loop.edge_index for loop in mesh.loops])
    assert sorted(set(uses.tolist())) == [1, 2]
    assert np.count_nonzero(uses == 1) == 2 * rigs.RING
    assert_texture_stays(mesh)
    assert_right(tube, armature)
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
    assert_texture_stays(tube.data)
    assert_right(tube, armature)


def test_nothing_selected(character: Character) -> None:
    tube, armature = character
    rigs.select_bones(armature)
    with pytest.raises(RuntimeError, match="Rig"):
        addon.ops.subdivide_near_bones()
    rigs.select_bones(armature, "B3")
    tube.vertex_groups["B3"].remove(range(len(tube.data.vertices)))
    assert addon.ops.subdivide_near_bones(where="BONE") == {"CANCELLED"}


@pytest.mark.parametrize(
    ("chosen", "locked", "new", "expected"),
    [
        # The locked one keeps 0.2; the others share the rest as the new weights say.
        ("012", "0", [0.5, 0.25, 0.25], [0.2, 0.4, 0.4]),
        # Of one that is chosen, the others get out of the way in proportion, or stay if it gets nothing.
        ("0", "", [0.6, 0.1, 0.3], [0.6, 0.3, 0.1]),
        ("1", "", [0.0, 0.0, 0.0], [0.2, 0.0, 0.2]),
        ("0", "1", [0.4, 0.3, 0.3], [0.4, 0.6, 0.0]),
    ],
)
def test_new_weights_among_old_ones(chosen: str, locked: str, new: list[float], expected: list[float]) -> None:
    """Known answers, of a vertex that has 0.2, 0.6 and 0.2."""
    masks = [np.array([str(number) in which for number in range(3)]) for which in (chosen, locked)]
    old = np.array([[0.2, 0.6, 0.2]], np.float32)
    found = addon.module("core.assignment").assign(old, np.array([new], np.float32), *masks)
    np.testing.assert_allclose(found, [expected], atol=1e-7)
