# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders: pictures of a bound mesh are those of a mesh that the Armature modifier deforms, by the same method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import addon
import bpy
import numpy as np
import pytest
import renders
import rigs
from expected import TOLERANCE, deformed, error
from objects import ArmatureObject, MeshObject, current_layer, current_scene, mesh_named
from renders import Picture, assert_same, read

FRAMES = range(4, 7)


@pytest.fixture
def scene() -> bpy.types.Scene:
    return renders.make_scene(FRAMES, pixels=48, motion_blur=True)


def make_twins() -> tuple[MeshObject, MeshObject, ArmatureObject]:
    """A bound tube, one with an Armature modifier that is not rendered, and their animated armature."""
    armature = rigs.make_armature()
    rigs.animate(armature)
    tube, twin = rigs.make_tube(), rigs.make_tube(name="Twin")
    rigs.bind(tube, armature)
    tube.sbs.method = "LINEAR"
    twin.modifiers.new("Armature", "ARMATURE").object = armature
    twin.hide_render = True
    return tube, twin, armature


def render_both(scene: bpy.types.Scene, folder: Path, tube: MeshObject, twin: MeshObject) -> list[Picture]:
    """Render the frames of either alone, which must be alike, to files of these names; return those of the twin."""
    pictures = {}
    for name in ("ours", "theirs"):
        tube.hide_render, twin.hide_render = name != "ours", name == "ours"
        scene.render.filepath = str(folder / f"{name}-####.exr")
        bpy.ops.render.render(animation=True)
        pictures[name] = [read(folder / f"{name}-{frame:04}.exr") for frame in FRAMES]
    for ours, theirs in zip(pictures["ours"], pictures["theirs"], strict=True):
        assert_same(ours, theirs)
    return pictures["theirs"]


def test_animation(scene: bpy.types.Scene, tmp_path: Path) -> None:
    tube, twin, armature = make_twins()
    pictures = render_both(scene, tmp_path, tube, twin)
    assert np.abs(pictures[0] - pictures[1]).max() > 0.1, "the pose must change"
    assert error(rigs.evaluated(tube), deformed(tube, armature, "linear")) < TOLERANCE


def test_still_picture(scene: bpy.types.Scene, tmp_path: Path) -> None:
    tube, twin, armature = make_twins()
    scene.frame_set(5)
    pictures = {}
    for name in ("ours", "theirs"):
        tube.hide_render, twin.hide_render = name != "ours", name == "ours"
        scene.render.filepath = str(tmp_path / f"{name}.exr")
        bpy.ops.render.render(write_still=True)
        pictures[name] = read(tmp_path / f"{name}.exr")
        assert error(rigs.evaluated(tube), deformed(tube, armature, "linear")) < TOLERANCE
    assert_same(pictures["ours"], pictures["theirs"])


def test_cloth_that_is_in_no_cache(scene: bpy.types.Scene, tmp_path: Path) -> None:
    tube, twin, _ = make_twins()
    scene.frame_start = 1
    scene.render.use_motion_blur = False
    for item in (tube, twin):
        item.vertex_groups.new(name="Pin").add(list(range(300)), 1.0, "REPLACE")
        item.modifiers.new("Cloth", "CLOTH").settings.vertex_group_mass = "Pin"
    pictures = {}
    for name in ("ours", "theirs"):
        tube.hide_render, twin.hide_render = name != "ours", name == "ours"
        tube.hide_viewport, twin.hide_viewport = tube.hide_render, twin.hide_render
        scene.render.filepath = str(tmp_path / f"{name}-####.exr")
        bpy.ops.render.render(animation=True)
        pictures[name] = [read(tmp_path / f"{name}-{frame:04}.exr") for frame in FRAMES]
    for ours, theirs in zip(pictures["ours"], pictures["theirs"], strict=True):
        assert_same(ours, theirs)


def test_rendered_straight_from_a_file(scene: bpy.types.Scene, tmp_path: Path) -> None:
    make_twins()
    mesh_named("Twin").hide_render = False
    mesh_named("Tube").hide_render = True
    scene.render.filepath = str(tmp_path / "theirs-####.exr")
    bpy.ops.render.render(animation=True)
    mesh_named("Twin").hide_render = True
    mesh_named("Tube").hide_render = False
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=False, use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    current_scene().render.filepath = str(tmp_path / "ours-####.exr")
    bpy.ops.render.render(animation=True)
    for frame in FRAMES:
        assert_same(read(tmp_path / f"ours-{frame:04}.exr"), read(tmp_path / f"theirs-{frame:04}.exr"))


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
        move_up(item, modifier)
        for vertex in item.data.vertices:
            vertex.co.y += 0.45
    pictures = {}
    for name in ("ours", "theirs", "ours again"):
        tube.hide_render, twin.hide_render = "ours" not in name, "ours" in name
        scene.render.filepath = str(tmp_path / f"{name}-####.exr")
        bpy.ops.render.render(animation=True)
        pictures[name] = [read(tmp_path / f"{name}-{frame:04}.exr") for frame in FRAMES]
        assert error(rigs.evaluated(tube), deformed(tube, armature, "linear")) < TOLERANCE
    for name in ("ours", "ours again"):
        for ours, theirs in zip(pictures[name], pictures["theirs"], strict=True):
            assert_same(ours, theirs)


def test_motion_blur_of_spherical_blending(scene: bpy.types.Scene, tmp_path: Path) -> None:
    """Against what the library says at each moment that Cycles asks for, in a Mesh Cache."""
    tube, twin, armature = make_twins()
    tube.sbs.method = "SPHERICAL"
    armature.location = (0.2, 0.0, 0.1)
    twin.modifiers.clear()
    ends = (FRAMES[0], FRAMES[-1])
    renders.show_in_between(scene, twin, tmp_path / "reference.pc2", ends, lambda: deformed(tube, armature))
    pictures = render_both(scene, tmp_path, tube, twin)
    scene.render.use_motion_blur = False
    bpy.ops.render.render(animation=True)
    sharp = read(tmp_path / f"theirs-{FRAMES[0]:04}.exr")
    assert np.abs(sharp - pictures[0]).max() > 0.1, "there must be blur"


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
        scene.render.filepath = str(tmp_path / f"{name}-####.exr")
        bpy.ops.render.render(animation=True)
        pictures[name] = [read(tmp_path / f"{name}-{frame:04}.exr") for frame in FRAMES]
    for ours, theirs in zip(pictures["Tube"], pictures["Twin"], strict=True):
        assert_same(ours, theirs)
    # Both at once: the picture is that of the first layer, rendered beside the other's.
    for layer in scene.view_layers:
        layer.use = True
    scene.render.filepath = str(tmp_path / "both-####.exr")
    bpy.ops.render.render(animation=True)
    for frame, theirs in zip(FRAMES, pictures["Twin"], strict=True):
        assert_same(read(tmp_path / f"both-{frame:04}.exr"), theirs)


def move_up(item: MeshObject, modifier: bpy.types.Modifier) -> None:
    """Put a modifier first."""
    with bpy.context.temp_override(object=item, active_object=item):
        bpy.ops.object.modifier_move_to_index(modifier=modifier.name, index=0)


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
    pictures = {}
    for name in ("ours", "theirs"):
        tube.hide_render, twin.hide_render = name != "ours", name == "ours"
        scene.render.filepath = str(tmp_path / f"{name}.exr")
        bpy.ops.render.render(write_still=True)
        pictures[name] = read(tmp_path / f"{name}.exr")
    assert_same(pictures["ours"], pictures["theirs"])
    current_scene().render.use_motion_blur = False
    bpy.ops.render.render(write_still=True)
    sharp = read(tmp_path / "theirs.exr")
    assert np.abs(sharp - pictures["theirs"]).max() > 0.1, "there must be motion"


def test_comparison_is_not_rendered(scene: bpy.types.Scene, tmp_path: Path) -> None:
    """A render while a view shows linear blending in the place of what is chosen."""
    armature, tube = rigs.make_armature(), rigs.make_tube()
    rigs.bind(tube, armature)
    rigs.turn(armature, angle=2.0)
    scene.render.use_motion_blur = False
    show = addon.module("comparison.operators")._update
    pictures: list[Picture] = []
    for method, shown in (("SPHERICAL", False), ("SPHERICAL", True), ("LINEAR", False)):
        tube.sbs.method = method
        show(shown=shown)
        current_layer().update()
        scene.render.filepath = str(tmp_path / f"{len(pictures)}.exr")
        bpy.ops.render.render(write_still=True)
        pictures.append(read(tmp_path / f"{len(pictures)}.exr"))
    usual, while_compared, linear = pictures
    assert_same(while_compared, usual)
    assert np.abs(linear - usual).max() > 0.1, "it must make a difference"
