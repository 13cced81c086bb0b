# SPDX-License-Identifier: GPL-3.0-or-later
"""Ours and the Armature modifier that stepped back, in the artist's hands: whichever is shown deforms."""

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
from objects import Character, MeshObject, armature_named, current_layer, current_scene, mesh_named


@pytest.fixture
def character() -> Character:
    return rigs.make_replaced()


def seconds(tube: MeshObject) -> list[str]:
    """The modifiers that the panel says deform the mesh as well."""
    stack = addon.module("engine.stack.stack")
    return [modifier.name for modifier in stack.deforming_too(tube, stack.find(tube))]


def test_shown_again(character: Character) -> None:
    """A modifier that the artist shows stays shown; the panel says at once that the mesh is deformed twice."""
    tube, _armature = character
    modifier = tube.modifiers["Armature"]
    modifier.show_viewport = True
    current_layer().update()
    # Another rig does not deform it a second time.
    tube.modifiers.new("Face", "ARMATURE").object = rigs.make_armature(name="Face")
    assert modifier.show_viewport
    assert seconds(tube) == []
    modifier.use_vertex_groups = True
    current_layer().update()
    assert modifier.show_viewport and modifier.use_vertex_groups
    assert seconds(tube) == ["Armature"]
    modifier.show_viewport = False
    assert seconds(tube) == []
    modifier.show_render = True
    assert seconds(tube) == ["Armature"]


@pytest.mark.parametrize("keep", [False, True], ids=["in place of the modifier", "besides"])
@pytest.mark.parametrize(
    "is_portable", [False, pytest.param(True, marks=pytest.mark.blender(since=(5, 1)))], ids=["live", "portable"]
)
def test_apply_as_shape_key(character: Character, keep: bool, is_portable: bool) -> None:
    tube, armature = character
    smooth = tube.modifiers.new("Smooth", "SMOOTH")
    wanted = deformed(tube, armature)
    names = [modifier.name for modifier in tube.modifiers]
    rigs.select([tube])
    if is_portable:
        assert addon.ops.make_portable() == {"FINISHED"}
    assert addon.ops.apply_as_shape_key(keep_modifier=keep) == {"FINISHED"}
    basis, key = tube.data.shape_keys.key_blocks
    assert (basis.name, key.name, key.value) == ("Basis", "Spherical Blend Skinning", 0.0)
    found = np.array([point.co for point in key.data])
    assert error(found, wanted) < TOLERANCE
    assert smooth.show_viewport
    assert [modifier.name for modifier in tube.modifiers] == (names if keep else ["Smooth"])
    current_layer().update()
    if not keep:
        smooth.show_viewport = False
        key.value = 1.0
        assert error(rigs.evaluated(tube), wanted) < TOLERANCE
        assert tube.sbs.armature is None
        # The armature is in the collection and its user no more.
        assert [item.name for item in bpy.data.objects] == ["Rig", "Tube"]


def test_shape_keys_are_in_it(character: Character) -> None:
    """As with Blender's own, the new key has the effect of the others."""
    tube, armature = character
    fat = rigs.add_shape(tube, (1.5, 1.5, 1.0), 0.5)
    rest = rigs.positions(tube.data) * (1.25, 1.25, 1.0)
    wanted = deformed(tube, armature, rest=rest)
    rigs.select([tube])
    assert addon.ops.apply_as_shape_key() == {"FINISHED"}
    key = tube.data.shape_keys.key_blocks[-1]
    assert error(np.array([point.co for point in key.data]), wanted) < TOLERANCE
    assert fat.value == 0.5


@pytest.mark.parametrize("why", ["mesh", "Displace"])
def test_no_shape_key(character: Character, why: str) -> None:
    tube, _armature = character
    if why == "mesh":
        bpy.data.objects.new("Twin", tube.data)
    else:
        rigs.put_first(tube, tube.modifiers.new("Displace", "DISPLACE"))
    rigs.select([tube])
    with pytest.raises(RuntimeError, match=why):
        addon.ops.apply_as_shape_key()
    assert tube.data.shape_keys is None and tube.sbs.bound


KINDS = [pytest.param(False, id="live"), pytest.param(True, id="portable", marks=pytest.mark.blender(since=(5, 1)))]


def both(tube: MeshObject) -> list[Any]:
    return [next(modifier for modifier in tube.modifiers if modifier.type == kind) for kind in ("NODES", "ARMATURE")]


def show(tube: MeshObject, ours: bool, theirs: bool, update: bool = True) -> None:
    for modifier, shown in zip(both(tube), (ours, theirs), strict=True):
        modifier.show_viewport = shown
    if update:
        current_layer().update()


def is_deformed(tube: MeshObject, method: str = "spherical") -> bool:
    armature = armature_named("Rig")
    wanted = deformed(tube, armature, method) if method else rigs.positions(tube.data)
    return error(rigs.evaluated(tube), wanted) < TOLERANCE


@pytest.mark.parametrize("is_portable", KINDS)
def test_whichever_is_shown_deforms(character: Character, is_portable: bool) -> None:
    tube, armature = character
    if is_portable:
        rigs.select([tube])
        assert addon.ops.make_portable() == {"FINISHED"}
    for seed in (1, 2):
        rigs.turn(armature, seed=seed)
        for ours, theirs, method in (
            (True, True, "spherical"),
            (False, True, "linear"),
            (True, True, "spherical"),
            (True, False, "spherical"),
            (False, True, "linear"),
            (False, False, ""),
        ):
            show(tube, ours, theirs)
            assert is_deformed(tube, method), (ours, theirs)
    # Hidden it must not have vertex groups: Blender would evaluate the mesh twice.
    assert not both(tube)[1].use_vertex_groups


def test_before_a_change_of_frame(character: Character) -> None:
    tube, armature = character
    rigs.animate(armature)
    show(tube, False, True, update=False)
    current_scene().frame_set(5)
    assert is_deformed(tube, "linear")
    show(tube, True, True, update=False)
    current_scene().frame_set(7)
    assert is_deformed(tube)


def test_undo(character: Character) -> None:
    tube, _ = character
    bpy.ops.ed.undo_push(message="Bound")
    for ours in (False, True):
        show(tube, ours, True)
        bpy.ops.ed.undo_push(message="Icons")
    for step, method in (("undo", "linear"), ("undo", "spherical"), ("redo", "linear"), ("redo", "spherical")):
        getattr(bpy.ops.ed, step)()
        current_layer().update()
        assert is_deformed(mesh_named("Tube"), method)


def test_unbind_brings_back_what_was(character: Character) -> None:
    tube, _ = character
    show(tube, False, True)
    rigs.select([tube])
    assert addon.ops.unbind() == {"FINISHED"}
    (modifier,) = tube.modifiers
    assert (modifier.type, modifier.show_viewport, modifier.use_vertex_groups) == ("ARMATURE", True, True)
    assert addon.ops.bind() == {"FINISHED"}
    assert is_deformed(tube)
    show(tube, True, True)
    assert is_deformed(tube)


def test_painted_while_ours_is_hidden(character: Character) -> None:
    tube, _ = character
    rigs.select([tube])
    show(tube, False, False)
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    current_layer().update()
    assert is_deformed(tube, "linear")
    show(tube, True, True)
    assert is_deformed(tube)
    show(tube, False, True)
    bpy.ops.object.mode_set(mode="OBJECT")
    current_layer().update()
    assert not both(tube)[1].show_viewport
    assert is_deformed(tube, "")


def test_a_bake_is_not_deformed_too(character: Character, tmp_path: Path) -> None:
    tube, _ = character
    rigs.select([tube])
    options = {"use_scene_range": False, "frame_start": 1, "frame_end": 1}
    assert addon.ops.bake(directory=str(tmp_path), **options) == {"FINISHED"}
    both(tube)[1].show_viewport = True
    current_layer().update()
    assert is_deformed(tube)


def test_a_file_of_an_earlier_version(character: Character, tmp_path: Path) -> None:
    tube, _ = character
    addon.disable(wheels=False)
    show(tube, False, True)
    assert is_deformed(tube, "")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    addon.enable(wheels=False)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
    tube = mesh_named("Tube")
    tube.update_tag()
    current_layer().update()
    assert is_deformed(tube, "linear")


def test_renders(character: Character, tmp_path: Path) -> None:
    """Modifiers shown in renders count there, whatever the viewport shows, and though none was evaluated before."""
    tube, _ = character
    scene = renders.make_scene(range(1, 2), 48)

    def picture() -> renders.Picture:
        return renders.still(scene, tmp_path / "picture.exr")

    pictures = {}
    for method in ("SPHERICAL", "LINEAR"):
        tube.sbs.method = method
        pictures[method] = picture()
    assert renders.share_that_differs(pictures["LINEAR"], pictures["SPHERICAL"]) > 0.01
    tube.sbs.method = "SPHERICAL"
    ours, theirs = both(tube)
    for in_view, in_render in ((True, False), (False, False), (False, True), (True, True)):
        ours.show_viewport, ours.show_render = in_view, in_render
        theirs.show_viewport = theirs.show_render = True
        renders.assert_same(picture(), pictures["SPHERICAL" if in_render else "LINEAR"])
        assert is_deformed(tube, "spherical" if in_view else "linear")
