# SPDX-License-Identifier: GPL-3.0-or-later
"""The live engine: Blender shows a bound mesh as the library deforms it, wherever an artist takes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import addon
import bpy
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, assert_right, deformed, error
from objects import (
    ArmatureObject,
    Character,
    MeshObject,
    armature_object,
    current_layer,
    current_scene,
    library,
    mesh_object,
)


@pytest.mark.parametrize("method", ["spherical", "dual_quaternion", "linear", "rigid"])
def test_pose(method: str) -> None:
    tube, armature = rigs.make_child()
    tube.sbs.method = method.upper()
    rigs.turn(armature)
    assert_right(tube, armature, method)
    rigs.turn(armature, seed=2)
    assert_right(tube, armature, method)


@pytest.mark.parametrize(
    ("rotation", "center"), [("average", "joint_set"), ("qlerp", "weighted"), ("average", "weighted")]
)
def test_rotations_and_centers(rotation: str, center: str) -> None:
    tube, armature = rigs.make_child()
    rigs.turn(armature)
    usual = rigs.evaluated(tube)
    tube.sbs.rotation, tube.sbs.center = rotation.upper(), center.upper()
    assert_right(tube, armature, rotation=rotation, center=center)
    assert error(rigs.evaluated(tube), usual) > 1e-4
    rigs.turn(armature, seed=5)
    tube.scale = (1.0, 2.0, 1.0)
    assert_right(tube, armature, rotation=rotation, center=center)
    # Other methods know nothing of it.
    tube.sbs.method = "LINEAR"
    assert_right(tube, armature, method="linear")


def test_frames() -> None:
    tube, armature = rigs.make_child()
    rigs.animate(armature)
    scene = current_scene()
    for moment in (2, 3, 19, 7, 6, 6.25, 6.75, 40, 1):
        scene.frame_set(int(moment), subframe=moment % 1)
        assert_right(tube, armature)


def test_objects_anywhere() -> None:
    tube, armature = rigs.make_child()
    rigs.turn(armature)
    armature.location = (1.0, -2.0, 0.5)
    armature.rotation_euler = (0.3, 1.0, -0.2)
    armature.scale = (2.0, 2.0, 2.0)
    assert_right(tube, armature)
    tube.location = (0.1, 0.2, 0.3)
    tube.rotation_euler = (0.0, 0.1, 0.4)
    for scale in ((1.0, 1.0, 1.0), (1.5, 0.7, -1.2), (1.2, 0.7, 1.2)):
        tube.scale = scale
        assert_right(tube, armature)
    armature.scale = (1.0, 3.0, -2.0)
    assert_right(tube, armature)


@pytest.mark.parametrize("inherit", ["FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"])
def test_bones_with_scale(inherit: Any) -> None:
    tube, armature = rigs.make_child()
    rigs.turn(armature)
    for bone in armature.data.bones:
        bone.inherit_scale = inherit
    armature.pose.bones["B1"].scale = (1.5, 0.8, 1.2)
    armature.pose.bones["B2"].scale = (0.7, 0.7, 2.0)
    assert_right(tube, armature)
    tube.sbs.method = "LINEAR"
    armature.pose.bones["B2"].scale = (1.0, 1.0, -1.0)
    assert_right(tube, armature, "linear")


def test_object_deleted_as_another_comes() -> None:
    tube, _ = rigs.make_child()
    other, armature = rigs.make_child()
    scene = current_scene()
    registry = addon.module("engine.live.registry")
    assert set(registry.bound_objects()) == {tube, other}
    count = len(bpy.data.objects)
    bpy.data.objects.remove(tube)
    bpy.data.objects.new("Empty", None)
    assert len(bpy.data.objects) == count
    scene.frame_set(scene.frame_current + 1)
    assert registry.bound_objects() == [other]
    rigs.turn(armature)
    assert_right(other, armature)


def like_the_armature_modifier(tube: MeshObject, armature: ArmatureObject) -> float:
    """The largest distance of our linear blending from an Armature modifier's on the same mesh."""
    current_layer().update()
    twin = mesh_object(bpy.data.objects.new("Twin", tube.data))
    current_scene().collection.objects.link(twin)
    for group in tube.vertex_groups:
        if group.name not in twin.vertex_groups:
            twin.vertex_groups.new(name=group.name)
    twin.matrix_world = tube.matrix_world
    twin.modifiers.new("Armature", "ARMATURE").object = armature
    tube.sbs.method = "LINEAR"
    current_layer().update()
    difference = error(rigs.evaluated(tube), rigs.evaluated(twin))
    bpy.data.objects.remove(twin)
    return difference


def test_view_layers(character: Character) -> None:
    tube, armature = character
    rigs.animate(armature)
    scene = current_scene()
    first, second = scene.view_layers[0], scene.view_layers.new("Second")
    for frame, layer in ((3, first), (9, second), (14, first), (15, second)):
        scene.frame_set(frame)
        layer.update()
        assert error(rigs.evaluated(tube, layer.depsgraph), deformed(tube, armature)) < TOLERANCE


def test_object_of_another_view_layer(character: Character) -> None:
    tube, armature = character
    scene = current_scene()
    only_second = bpy.data.collections.new("Only in the second")
    scene.collection.children.link(only_second)
    only_second.objects.link(tube)
    scene.collection.objects.unlink(tube)
    second = scene.view_layers.new("Second")
    current_layer().layer_collection.children[only_second.name].exclude = True
    rigs.animate(armature)
    for frame in (3, 12):
        scene.frame_set(frame)
        wanted = deformed(tube, armature)
        assert error(rigs.evaluated(tube, second.depsgraph), wanted) < TOLERANCE
    assert len([item for item in bpy.data.objects if item.get("sbs_carrier") is not None]) == 1


def test_other_scene(character: Character) -> None:
    tube, armature = character
    other = bpy.data.scenes.new("Other")
    for item in character:
        other.collection.objects.link(item)
    window = bpy.context.window
    assert window is not None
    window.scene = other
    for seed in (8, 9):
        rigs.turn(armature, seed=seed)
        assert_right(tube, armature)


def link(path: Path, kind: str, name: str) -> Any:
    """A data-block of the present file, saved there and linked into a new one."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    rigs.close()
    with library(str(path), link=True) as (_source, target):
        setattr(target, kind, [name])
    return getattr(target, kind)[0]


def test_linked_mesh(tmp_path: Path) -> None:
    rigs.make_tube()
    mesh = link(tmp_path / "mesh.blend", "meshes", "Tube")
    armature = rigs.make_armature()
    tube = mesh_object(bpy.data.objects.new("Tube", mesh))
    current_scene().collection.objects.link(tube)
    for bone in armature.data.bones:
        if bone.name not in tube.vertex_groups:
            tube.vertex_groups.new(name=bone.name)
    rigs.bind(tube, armature)
    for seed in (1, 2):
        rigs.turn(armature, seed=seed)
        assert_right(tube, armature)
    assert error(rigs.evaluated(tube), rigs.positions(mesh)) > 0.01


def test_linked_armature_data(tmp_path: Path) -> None:
    rigs.make_armature()
    data = link(tmp_path / "rig.blend", "armatures", "Rig")
    armature = armature_object(bpy.data.objects.new("Local", data))
    current_scene().collection.objects.link(armature)
    current_layer().update()
    tube = rigs.make_tube()
    rigs.bind(tube, armature)
    for bone in armature.pose.bones:
        bone.rotation_mode = "QUATERNION"
    rigs.turn(armature)
    assert_right(tube, armature)


def test_two_rigs_on_one_mesh(character: Character) -> None:
    tube, armature = character
    other_armature = rigs.make_armature(name="Other")
    other = tube.copy()
    current_scene().collection.objects.link(other)
    other.sbs.armature = other_armature
    rigs.turn(other_armature, seed=5)
    assert other.data == tube.data
    assert_right(tube, armature)
    assert_right(other, other_armature)
    assert error(rigs.evaluated(tube), rigs.evaluated(other)) > 0.01


def test_bendy_bones(character: Character) -> None:
    """Also such that rest bent."""
    tube, armature = character
    for name, segments, curve in (("B1", 6, 0.3), ("B2", 4, -0.2)):
        bone = armature.data.bones[name]
        bone.bbone_segments = segments
        bone.bbone_curveinx, bone.bbone_curveoutz, bone.bbone_rollin = curve, -curve, curve
    armature.data.display_type = "BBONE"
    armature.pose.bones["B1"].bbone_curveinz = 0.5
    armature.pose.bones["B2"].bbone_scaleout = (1.3, 1.0, 0.8)
    assert like_the_armature_modifier(tube, armature) < TOLERANCE
    armature.pose.bones["B2"].bbone_rollout = 1.0
    tube.location = (0.0, 0.1, 0.5)
    assert like_the_armature_modifier(tube, armature) < TOLERANCE
    armature.data.bones["B1"].bbone_segments = 7
    assert like_the_armature_modifier(tube, armature) < TOLERANCE
    # Where a vertex is along a bone depends on shape keys.
    key = rigs.add_shape(tube, (1.2, 1.0, 1.3), 0.0)
    for value in (0.4, 1.0):
        key.value = value
        assert like_the_armature_modifier(tube, armature) < TOLERANCE


@pytest.mark.applies("bbone_mapping_mode" in bpy.types.Bone.bl_rna.properties)
def test_bendy_bones_mapped_along_their_curve(character: Character) -> None:
    tube, armature = character
    for name, segments, curve in (("B1", 8, 0.6), ("B2", 3, -0.4)):
        bone = armature.data.bones[name]
        bone.bbone_segments = segments
        bone.bbone_curveinx = curve
        bone.bbone_curveoutz = 0.5 * curve
    armature.pose.bones["B1"].bbone_curveinz = 0.5
    current_layer().update()
    straight = rigs.evaluated(tube)
    for name in ("B1", "B2"):
        armature.data.bones[name].bbone_mapping_mode = "CURVED"
    assert error(rigs.evaluated(tube), straight) > 0.001
    assert like_the_armature_modifier(tube, armature) < TOLERANCE

    # Another curve at rest, and other weights.
    armature.data.bones["B1"].bbone_curveoutx = 0.8
    assert like_the_armature_modifier(tube, armature) < TOLERANCE
    tube.vertex_groups["B1"].add(range(0, len(tube.data.vertices), 3), 0.5, "REPLACE")
    tube.data.update()
    assert like_the_armature_modifier(tube, armature) < TOLERANCE

    armature.data.bones["B1"].bbone_mapping_mode = "STRAIGHT"
    assert like_the_armature_modifier(tube, armature) < TOLERANCE


def test_rig_replaced_by_one_of_other_bones(character: Character) -> None:
    tube, armature = character
    armature.data = rigs.make_armature(bones=6, name="Six").data
    current_layer().update()
    for bone in armature.pose.bones:
        bone.rotation_mode = "QUATERNION"
    rigs.turn(armature, seed=2)
    assert_right(tube, armature)


@pytest.mark.parametrize("simulates", [False, True])
def test_another_rig_or_segments_and_a_change_of_frame(character: Character, simulates: bool) -> None:
    """A change of frame says nothing of edits that nobody has asked for before."""
    tube, armature = character
    if simulates:
        sheet = rigs.make_tube(rows=2, name="Sheet")
        sheet.modifiers.new("Cloth", "CLOTH")
    other = rigs.make_armature(name="Other")
    for rig in (armature, other):
        bone = rig.pose.bones["B1"]
        bone.bbone_curveinx = 0.5
        rigs.turn(rig, seed=5)
    armature.data.bones["B1"].bbone_segments = 4
    current_scene().frame_set(2)
    assert like_the_armature_modifier(tube, armature) < TOLERANCE
    tube.sbs.armature = other
    current_scene().frame_set(3)
    assert like_the_armature_modifier(tube, other) < TOLERANCE
    other.data.bones["B2"].bbone_segments = 3
    current_scene().frame_set(4)
    other.data.bones["B2"].bbone_segments = 1
    current_scene().frame_set(5)
    assert like_the_armature_modifier(tube, other) < TOLERANCE


def test_renamed_rig_is_still_followed(character: Character) -> None:
    tube, armature = character
    assert_right(tube, armature)
    armature.name = "Zed"
    armature.data.name = "Zed"
    current_layer().update()
    armature.pose.bones["B2"].rotation_quaternion = (0.5, 0.5, -0.5, 0.5)
    assert_right(tube, armature)


def test_far_from_the_origin(character: Character) -> None:
    tube, armature = character
    for item in (tube, armature):
        item.location = (1000.0, -500.0, 200.0)
    # The transforms of objects have single precision: 1000 is known to 6e-5, of a mesh of size 4 that is 1.5e-5 and,
    # by two of them, twice as much.
    assert error(rigs.evaluated(tube), deformed(tube, armature)) < TOLERANCE + 3e-5


def test_no_vertices_and_no_bones() -> None:
    tube, armature = rigs.make_bound()
    states = addon.module("engine.live.states")
    for bone in armature.data.bones:
        bone.use_deform = False
    current_layer().update()
    assert states.state_of(tube).problem == "the armature has no bone that deforms"
    for bone in armature.data.bones:
        bone.use_deform = True
    rigs.turn(armature)
    assert_right(tube, armature)
    tube.data.clear_geometry()
    current_layer().update()
    assert states.state_of(tube).problem == "the mesh has no vertices"


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_of_the_preferences(character: Character, monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    asked: list[int | None] = []
    deform = addon.module("core.binding").Binding.deform

    def spy(self: object, *arguments: object, **options: Any) -> Any:
        asked.append(options.get("threads", arguments[-1]))
        return deform(self, *arguments, **options)

    monkeypatch.setattr(addon.module("core.binding").Binding, "deform", spy)
    for chosen in (threads, 0):
        addon.preferences().threads = chosen
        rigs.turn(character[1], seed=9 + chosen)
        assert_right(*character)
    assert (asked[0], asked[-1]) == (threads, None)


def test_segments_that_blender_has_not_evaluated_are_refused_with_words() -> None:
    """As for a moment after armatures with bones that bend were joined or undone."""
    _, armature = rigs.make_bound()
    armature.data.bones["B2"].bbone_segments = 4
    with pytest.raises(ValueError, match="B2"):
        addon.module("engine.reading").segment_moves(armature, np.array([2]))
