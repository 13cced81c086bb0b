# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders: pictures of a bound mesh are those of a mesh that has its shape by other means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import addon
import bpy
import numpy as np
import pytest
import renders
import rigs
from expected import Floats, assert_right, deformed
from muscled import add, bend, covered, make_character, muscle_of, without
from objects import ArmatureObject, Character, MeshObject, current_layer, current_scene, mesh_named, new_mesh
from renders import Picture, animation, assert_same, share_that_differs, still

FRAMES = range(4, 7)


@pytest.fixture
def scene() -> bpy.types.Scene:
    return renders.make_scene(FRAMES, pixels=48, motion_blur=True)


def make_twins() -> tuple[MeshObject, MeshObject, ArmatureObject]:
    tube, twin, armature = rigs.make_twins()
    twin.hide_render = True
    return tube, twin, armature


def show_alone(shown: MeshObject, hidden: MeshObject) -> None:
    shown.hide_render, hidden.hide_render = False, True


def assert_all_same(found: list[Picture], wanted: list[Picture]) -> None:
    for one, other in zip(found, wanted, strict=True):
        assert_same(one, other)


def render_both(scene: bpy.types.Scene, folder: Path, tube: MeshObject, twin: MeshObject) -> list[Picture]:
    """Render the frames of either alone, which must be alike, to files of these names; return those of the twin."""
    show_alone(tube, twin)
    ours = animation(scene, folder, "ours", FRAMES)
    show_alone(twin, tube)
    theirs = animation(scene, folder, "theirs", FRAMES)
    assert_all_same(ours, theirs)
    return theirs


def test_animation(scene: bpy.types.Scene, tmp_path: Path) -> None:
    tube, twin, armature = make_twins()
    pictures = render_both(scene, tmp_path, tube, twin)
    assert np.abs(pictures[0] - pictures[1]).max() > 0.1, "the pose must change"
    assert_right(tube, armature, "linear")


def test_cloth_that_is_in_no_cache(scene: bpy.types.Scene, tmp_path: Path) -> None:
    tube, twin, _ = make_twins()
    scene.frame_start = 1
    scene.render.use_motion_blur = False
    for item in (tube, twin):
        item.vertex_groups.new(name="Pin").add(list(range(300)), 1.0, "REPLACE")
        item.modifiers.new("Cloth", "CLOTH").settings.vertex_group_mass = "Pin"
    pictures = []
    for name, shown, hidden in (("ours", tube, twin), ("theirs", twin, tube)):
        show_alone(shown, hidden)
        shown.hide_viewport, hidden.hide_viewport = False, True
        pictures.append(animation(scene, tmp_path, name, FRAMES))
    assert_all_same(*pictures)


def test_rendered_straight_from_a_file(scene: bpy.types.Scene, tmp_path: Path) -> None:
    tube, twin, _ = make_twins()
    show_alone(twin, tube)
    theirs = animation(scene, tmp_path, "theirs", FRAMES)
    show_alone(tube, twin)
    rigs.reopen(tmp_path / "shot.blend")
    assert_all_same(animation(current_scene(), tmp_path, "ours", FRAMES), theirs)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("SUBSURF", {"levels": 0, "render_levels": 2}),
        ("MIRROR", {"show_viewport": False, "use_axis": (False, True, False)}),
    ],
)
def test_other_vertices_in_renders(scene: bpy.types.Scene, tmp_path: Path, kind: str, settings: dict[str, Any]) -> None:
    tube, twin, armature = make_twins()
    for item in (tube, twin):
        modifier = item.modifiers.new("Before", kind)
        for name, value in settings.items():
            setattr(modifier, name, value)
        rigs.put_first(item, modifier)
        for vertex in item.data.vertices:
            vertex.co.y += 0.45
    pictures = []
    for name, shown, hidden in (("ours", tube, twin), ("theirs", twin, tube), ("ours again", tube, twin)):
        show_alone(shown, hidden)
        pictures.append(animation(scene, tmp_path, name, FRAMES))
        assert_right(tube, armature, "linear")
    ours, theirs, again = pictures
    assert_all_same(ours, theirs)
    assert_all_same(again, theirs)


def test_motion_blur_of_spherical_blending(scene: bpy.types.Scene, tmp_path: Path) -> None:
    """Against the shapes by the library at each moment that Cycles asks for, in a Mesh Cache."""
    tube, twin, armature = make_twins()
    tube.sbs.method = "SPHERICAL"
    armature.location = (0.2, 0.0, 0.1)
    twin.modifiers.clear()
    ends = (FRAMES[0], FRAMES[-1])
    renders.show_in_between(scene, twin, tmp_path / "reference.pc2", ends, lambda: deformed(tube, armature))
    pictures = render_both(scene, tmp_path, tube, twin)
    scene.render.use_motion_blur = False
    sharp = animation(scene, tmp_path, "sharp", FRAMES)
    assert np.abs(sharp[0] - pictures[0]).max() > 0.1, "there must be blur"


def test_view_layers_and_a_hidden_rig(scene: bpy.types.Scene, tmp_path: Path) -> None:
    """Two view layers of one picture, each with a mesh of its own, by a rig that is not rendered."""
    tube, twin, armature = make_twins()
    armature.hide_render = True
    layers = {}
    for item in (tube, twin):
        item.hide_render = False
        collection = bpy.data.collections.new(item.name)
        scene.collection.children.link(collection)
        collection.objects.link(item)
        scene.collection.objects.unlink(item)
    for number, item in enumerate((tube, twin)):
        layer = scene.view_layers[0] if number == 0 else scene.view_layers.new("Second")
        layer.name = item.name
        for child in layer.layer_collection.children:
            child.exclude = child.name != item.name
        layers[item.name] = layer
    for _ in range(2):
        current_layer().update()
    pictures = {}
    for name in ("Tube", "Twin"):
        for layer in scene.view_layers:
            layer.use = layer.name == name
        pictures[name] = animation(scene, tmp_path, name, FRAMES)
    assert_all_same(pictures["Tube"], pictures["Twin"])
    # Both at once: the picture is that of the first layer, rendered beside the other's.
    for layer in scene.view_layers:
        layer.use = True
    assert_all_same(animation(scene, tmp_path, "both", FRAMES), pictures["Twin"])


def test_amount_that_is_keyed(scene: bpy.types.Scene, tmp_path: Path) -> None:
    """From the undeformed mesh to a pose while the shutter is open, beside a shape key that goes the same way."""
    armature, tube, twin = rigs.make_armature(), rigs.make_tube(), rigs.make_tube(name="Twin")
    rigs.bind(tube, armature)
    rigs.turn(armature)
    twin.shape_key_add(name="Basis")
    key = twin.shape_key_add(name="Posed")
    key.data.foreach_set("co", deformed(tube, armature).astype(np.float32).ravel())
    tube.sbs.amount_method = "NONE"
    edit: Any = bpy.context.preferences and bpy.context.preferences.edit
    edit.keyframe_new_interpolation_type = "LINEAR"
    for frame in (FRAMES[0], FRAMES[-1]):
        tube.sbs.amount = key.value = float(frame == FRAMES[-1])
        tube.keyframe_insert("sbs.amount", frame=frame)
        key.keyframe_insert("value", frame=frame)
    scene.frame_set(5)
    assert 0.3 < tube.sbs.amount < 0.7
    show_alone(tube, twin)
    ours = still(scene, tmp_path / "ours.exr")
    show_alone(twin, tube)
    theirs = still(scene, tmp_path / "theirs.exr")
    assert_same(ours, theirs)
    current_scene().render.use_motion_blur = False
    assert np.abs(still(scene, tmp_path / "sharp.exr") - theirs).max() > 0.1, "there must be motion"


def test_comparison_is_not_rendered(scene: bpy.types.Scene, tmp_path: Path) -> None:
    """A render while a view shows linear blending instead of the chosen method."""
    tube, armature = rigs.make_bound()
    rigs.turn(armature, angle=2.0)
    scene.render.use_motion_blur = False
    show = addon.module("comparison.operators")._update
    pictures: list[Picture] = []
    for method, shown in (("SPHERICAL", False), ("SPHERICAL", True), ("LINEAR", False)):
        tube.sbs.method = method
        show(shown=shown)
        current_layer().update()
        pictures.append(still(scene, tmp_path / "still.exr"))
    usual, while_compared, linear = pictures
    assert_same(while_compared, usual)
    assert np.abs(linear - usual).max() > 0.1, "it must make a difference"


MUSCLE_FRAMES = range(1, 8, 3)


@pytest.fixture
def small_scene() -> bpy.types.Scene:
    return renders.make_scene(MUSCLE_FRAMES, pixels=64)


@pytest.fixture
def muscular() -> Character:
    """A tube that bends, with a muscle that is tense by keys, and one that is by a driver."""
    tube, armature = make_character()
    second = add(armature, "Extensor.L", side=-0.2)
    second.contraction = 0.4
    second.driver_add("activation").driver.expression = "frame / 7"
    for frame, degrees, value in ((MUSCLE_FRAMES[0], 0.0, 0.0), (MUSCLE_FRAMES[-1], 70.0, 1.0)):
        bend(armature, degrees)
        armature.pose.bones["B2"].keyframe_insert("rotation_quaternion", frame=frame)
        muscle_of(armature, 0).activation = value
        muscle_of(armature, 0).keyframe_insert("activation", frame=frame)
    return tube, armature


def statue(tube: MeshObject, positions: Floats) -> MeshObject:
    mesh = new_mesh("Statue")
    faces = [tuple(polygon.vertices) for polygon in tube.data.polygons]
    mesh.from_pydata(positions.tolist(), [], faces)
    item = bpy.data.objects.new("Statue", mesh)
    current_scene().collection.objects.link(item)
    return mesh_named(item.name)


def pictures_of_statues(scene: bpy.types.Scene, folder: Path, tube: MeshObject, rig: ArmatureObject) -> list[Any]:
    found = []
    tube.hide_render = True
    for frame in MUSCLE_FRAMES:
        scene.frame_set(frame)
        current_layer().update()
        shapes = covered(tube, rig), without(tube)
        pictures = []
        for number, shape in enumerate(shapes):
            item = statue(tube, shape)
            pictures.append(still(scene, folder / f"statue-{frame}-{number}.exr"))
            bpy.data.objects.remove(item)
        found.append(pictures)
    tube.hide_render = False
    return found


def assert_seen(ours: list[Picture], statues: list[Any]) -> None:
    for found, (wanted, _) in zip(ours, statues, strict=True):
        assert_same(found, wanted)
    assert share_that_differs(ours[-1], statues[-1][1]) > 0.01, "muscles must be seen"


@pytest.mark.parametrize("is_from_file", [False, True], ids=["open", "from a file"])
def test_muscles_in_an_animation(
    small_scene: bpy.types.Scene, muscular: Character, tmp_path: Path, is_from_file: bool
) -> None:
    tube, armature = muscular
    scene = small_scene
    statues = pictures_of_statues(scene, tmp_path, tube, armature)
    # Handles and bellies are hidden, as an artist hides them before a render.
    for layer in current_layer().layer_collection.children:
        layer.exclude = True
    scene.frame_set(4)
    if is_from_file:
        rigs.reopen(tmp_path / "shot.blend")
    assert_seen(renders.animation(current_scene(), tmp_path, "ours", MUSCLE_FRAMES), statues)


def test_handles_and_bellies_are_not_seen(small_scene: bpy.types.Scene, muscular: Character, tmp_path: Path) -> None:
    tube, armature = muscular
    scene = small_scene
    tube.hide_render = True
    add(armature, "Large.L", side=0.3, radius=0.1)
    scene.frame_set(4)
    assert np.ptp(still(scene, tmp_path / "nothing.exr").reshape(-1, 4)[:, 0]) < 1e-6


def test_muscles_with_motion_blur(small_scene: bpy.types.Scene, muscular: Character, tmp_path: Path) -> None:
    """Against the shapes by the library at each moment that Cycles asks for, in a Mesh Cache."""
    tube, armature = muscular
    scene = small_scene
    cached = statue(tube, covered(tube, armature))
    ends = (MUSCLE_FRAMES[1], MUSCLE_FRAMES[1])
    renders.show_in_between(scene, cached, tmp_path / "reference.pc2", ends, lambda: covered(tube, armature))
    scene.frame_set(MUSCLE_FRAMES[1])
    current_layer().update()
    scene.render.use_motion_blur = True
    cached.hide_render = True
    ours = still(scene, tmp_path / "ours.exr")
    tube.hide_render, cached.hide_render = True, False
    assert_same(ours, still(scene, tmp_path / "theirs.exr"))
