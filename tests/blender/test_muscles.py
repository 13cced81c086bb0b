# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscles: as the library covers them, whatever an artist does to them; their bellies, and files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import addon
import bpy
import muscled
import numpy as np
import pytest
import rigs
from expected import error
from mathutils import Vector
from muscled import EXACT, add, assert_right, bend, covered, engine, list_of, muscle_of, state, uncovered, without
from objects import (
    Character,
    armature_named,
    armature_object,
    current_layer,
    current_scene,
    library,
    mesh_named,
    mesh_object,
)


@pytest.fixture
def character() -> Character:
    return muscled.make_character()


def test_skin_covers_a_muscle_as_the_library_has_it(character: Character) -> None:
    tube, armature = character
    found = assert_right(tube, armature)
    moved = np.linalg.norm(found - without(tube), axis=1)
    assert moved.max() > 0.005 and np.count_nonzero(moved > 1e-5) < 0.3 * len(moved)


def test_nothing_moves_at_rest(character: Character) -> None:
    tube, armature = character
    bend(armature, 0.0)
    np.testing.assert_allclose(rigs.evaluated(tube), rigs.positions(tube.data), atol=1e-6)


@pytest.mark.parametrize(
    "numbers",
    [
        {"radius": 0.15},
        {"reach": 0.3},
        {"profile": "RADII", "radii": (0.2, 0.5, 0.8, 1.0, 0.9, 0.5, 0.1)},
        {"tendon_at_origin": 0.2, "tendon_at_insertion": 0.25},
        {"most_growth": 1.01},
        {"flattening": 1.5},
        {"contraction": 0.4, "activation": 0.7},
    ],
    ids=lambda numbers: next(iter(numbers)),
)
def test_each_number(character: Character, numbers: dict[str, Any]) -> None:
    tube, armature = character
    before = rigs.evaluated(tube)
    for name, value in numbers.items():
        setattr(muscle_of(armature, 0), name, value)
    assert error(assert_right(tube, armature), before) > 1e-4


def test_handles_are_moved_by_blenders_own_tools(character: Character) -> None:
    tube, armature = character
    muscle = muscle_of(armature, 0)
    # In the rest pose a handle is where its point is.
    bend(armature, 0.0)
    current_layer().update()
    np.testing.assert_allclose(muscle.insertion.matrix_world.translation, (0.2, 0.0, 2.6), atol=1e-6)
    bend(armature)
    before = rigs.evaluated(tube)
    rigs.select([muscle.insertion])
    bpy.ops.transform.translate(value=(0.0, 0.05, 0.1))
    assert error(assert_right(tube, armature), before) > 1e-4
    # Another bone.
    muscle.via.parent_bone = "B2"
    assert_right(tube, armature)
    # Without the via point.
    bpy.data.objects.remove(muscle.via)
    assert_right(tube, armature)


def test_places_of_mesh_and_rig(character: Character) -> None:
    tube, armature = character
    armature.location, armature.rotation_euler, armature.scale = (1, 2, 3), (0.3, 0.2, 0.1), (2, 2, 2)
    tube.location, tube.scale, tube.rotation_euler = (1, 2, 3), (2, 2, 2), (0.3, 0.2, 0.1)
    assert_right(tube, armature)
    # Sheared between them.
    tube.scale = (2.0, 2.0, 2.2)
    assert_right(tube, armature)


def test_a_rig_scaled_as_a_whole(character: Character) -> None:
    tube, armature = character
    found = rigs.evaluated(tube)
    armature.pose.bones["B0"].scale = (1.5, 1.5, 1.5)
    np.testing.assert_allclose(rigs.evaluated(tube), 1.5 * found, atol=2e-5)


def test_activation_is_keyed_and_driven(character: Character, tmp_path: Path) -> None:
    tube, armature = character
    muscle = muscle_of(armature, 0)
    for frame, value in ((1, 0.0), (11, 1.0)):
        muscle.activation = value
        assert muscle.keyframe_insert("activation", frame=frame)
    scene = current_scene()
    shapes = []
    for frame in (1, 6, 11):
        scene.frame_set(frame)
        shapes.append(assert_right(tube, armature))
    assert error(shapes[0], shapes[1]) > 1e-4 and error(shapes[1], shapes[2]) > 1e-4
    armature.animation_data_clear()
    driver = muscle.driver_add("activation").driver
    driver.expression = "frame / 10"
    scene.frame_set(6)
    current_layer().update()
    assert muscle.activation == pytest.approx(0.6)
    wanted = assert_right(tube, armature)
    # Also where handles and bellies are hidden.
    for layer in current_layer().layer_collection.children:
        layer.exclude = True
    scene.frame_set(3)
    assert error(rigs.evaluated(tube), wanted) > 1e-4
    scene.frame_set(6)
    np.testing.assert_array_equal(rigs.evaluated(tube), wanted)


def test_removing_keeps_the_keys_of_others(character: Character) -> None:
    tube, armature = character
    second = add(armature, "Extensor.L", side=-0.2)
    second.activation = 0.25
    second.keyframe_insert("activation", frame=1)
    armature.sbs.muscle_row = 0
    rigs.select([tube])
    objects = len(bpy.data.objects)
    assert addon.ops.remove_muscle() == {"FINISHED"}
    assert len(bpy.data.objects) == objects - 4
    current_scene().frame_set(1)
    assert [muscle.name for muscle in list_of(armature)] == ["Extensor.L"]
    assert muscle_of(armature, 0).activation == 0.25
    assert_right(tube, armature)
    second = muscle_of(armature, 0)
    second.driver_add("activation")
    assert addon.ops.remove_muscle() == {"FINISHED"}
    assert armature.animation_data is not None and not armature.animation_data.drivers
    assert_right(tube, armature)


def test_bellies_show_the_muscle(character: Character) -> None:
    tube, armature = character
    current_layer().update()
    belly = muscle_of(armature, 0).belly
    assert belly.parent == armature and belly.hide_render
    points = rigs.evaluated(belly)
    posed = armature.pose.bones
    origin = posed["B1"].matrix @ posed["B1"].bone.matrix_local.inverted() @ Vector((0.2, 0.0, 1.2))
    # The belly begins after a tendon of a tenth of the path.
    assert 0.02 < np.linalg.norm(points[:12].mean(axis=0) - origin) < 0.25
    first = np.ptp(points, axis=0)
    muscle_of(armature, 0).activation = 1.0
    current_layer().update()
    assert not np.allclose(np.ptp(rigs.evaluated(belly), axis=0), first, atol=1e-3)
    # It is no mesh of the character.
    rigs.select([armature])
    assert belly not in addon.module("interface.rigged").moved_by(armature, current_layer())
    rigs.select([belly, armature])
    assert addon.module("interface.selection").meshes(bpy.context, all_meshes=True) == [tube]


def test_mirror(character: Character) -> None:
    tube, armature = character
    muscled.name_sides(armature)
    rigs.select([tube])
    with pytest.raises(RuntimeError, match=r"Upper\.R"):
        addon.ops.mirror_muscle()
    muscled.add_right_side(armature)
    assert addon.ops.mirror_muscle() == {"FINISHED"}
    other = muscle_of(armature, "Flexor.R")
    assert other.insertion.parent_bone == "Lower.R"
    armature.data.pose_position = "REST"
    current_layer().update()
    np.testing.assert_allclose(other.insertion.matrix_world.translation, (-0.2, 0.0, 2.6), atol=1e-6)
    assert other.radius == muscle_of(armature, "Flexor.L").radius
    # Again, it is placed anew.
    assert addon.ops.mirror_muscle() == {"FINISHED"}
    assert len(armature.sbs.muscles) == 2


def test_added_between_bones() -> None:
    tube, armature = rigs.make_bound()
    rigs.select([armature])
    bpy.ops.object.mode_set(mode="POSE")
    armature.data.bones.active = armature.data.bones["B2"]
    rigs.select_bones(armature, "B1", "B2")
    assert addon.ops.add_muscle() == {"FINISHED"}
    assert addon.ops.add_via_point() == {"FINISHED"}
    assert addon.ops.add_via_point() == {"FINISHED"}
    (muscle,) = list_of(armature)
    handles = (muscle.origin, muscle.via, muscle.second_via, muscle.insertion)
    assert [handle.parent_bone for handle in handles] == ["B1", "B1", "B1", "B2"]
    with pytest.raises(RuntimeError, match="4"):
        addon.ops.add_via_point()
    bend(armature)
    current_layer().update()
    assert not state(tube).muscles.problems
    assert addon.ops.select_muscle(part="insertion") == {"FINISHED"}
    assert bpy.context.object == muscle.insertion and bpy.context.mode == "OBJECT"


def at_one_place(muscle: Any) -> None:
    muscle.via = None
    muscle.insertion.parent_bone = muscle.origin.parent_bone
    muscle.insertion.location = muscle.origin.location


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda muscle: setattr(muscle, "radius", 1.0), "radius"),
        (lambda muscle: setattr(muscle, "radius", 0.0), "radius"),
        (lambda muscle: setattr(muscle, "tendon_at_origin", 0.9), "tendons"),
        (lambda muscle: setattr(muscle, "insertion", None), "insertion"),
        (lambda muscle: setattr(muscle.origin, "parent_type", "OBJECT"), "Rig"),
        (lambda muscle: setattr(muscle.origin, "parent_bone", "elbow"), "Rig"),
        (lambda muscle: muscle.origin.constraints.new("COPY_LOCATION"), "handles"),
        (lambda muscle: muscle.origin.keyframe_insert("location"), "handles"),
        (at_one_place, "insertion"),
    ],
)
def test_what_is_wrong_is_told(character: Character, change: Any, words: str) -> None:
    tube, armature = character
    other = add(armature, "Extensor.L", side=-0.2)
    change(muscle_of(armature, 0))
    muscle_of(armature, 0).tendon_at_insertion = 0.2
    current_layer().update()
    problem = addon.module("muscles.panel").problem_of
    assert words in problem(armature, 0)
    assert problem(armature, 1) == ""
    # The other one is still covered, and the mesh deformed.
    muscle_of(armature, 0).use = False
    found = assert_right(tube, armature)
    assert problem(armature, 0) == ""
    other.use = False
    assert error(found, assert_right(tube, armature)) > 1e-4


def test_the_panel_knows_volumes(character: Character) -> None:
    _, armature = character
    current_layer().update()
    found = addon.module("muscles.panel").state_of(armature, 0)
    assert found.volume == pytest.approx(1.0, abs=1e-6) and found.growth > 1.02 and not found.is_limited
    muscle_of(armature, 0).most_growth = 1.01
    current_layer().update()
    found = addon.module("muscles.panel").state_of(armature, 0)
    assert found.is_limited and found.volume < 0.99 and found.growth == pytest.approx(1.01)


def test_shape_keys_move_skin_before(character: Character) -> None:
    tube, armature = character
    key = rigs.add_shape(tube, (1.2, 1.2, 1.0))
    rest = rigs.positions(tube.data)
    other = rest * (1.2, 1.2, 1.0)
    for value in (1.0, 0.5):
        key.value = value
        assert_right(tube, armature, rest + value * (other - rest))


@pytest.mark.parametrize("method", ["SPHERICAL", "BONES_BLENDING"])
def test_animated_shape_keys_bind_once(character: Character, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """Muscles are bound to the mesh with the keys that stay; their bulge is added to the shape by the moving keys."""
    tube, armature = character
    rigs.add_shape(tube, (1.2, 1.2, 1.0), 0.7, "Fat")
    moving = rigs.add_shape(tube, (0.5, 0.6, 1.0), 0.0, "Thin")
    for frame, value in ((1, 0.0), (5, 1.0)):
        moving.value = value
        moving.keyframe_insert("value", frame=frame)
    tube.sbs.method = method
    rest = rigs.positions(tube.data)
    still, change = rest * (1.14, 1.14, 1.0), rest * (-0.5, -0.4, 0.0)
    current_scene().frame_set(2)
    current_layer().update()
    found: list[int] = []
    make = addon.module("core.muscles").Cover

    def bind(*arguments: Any) -> Any:
        found.append(1)
        return make(*arguments)

    monkeypatch.setattr(engine("muscles.muscles"), "Cover", bind)
    frames = (3, 5, 4)
    shapes = {}
    for frame in frames:
        bend(armature, 12.0 * frame)
        current_scene().frame_set(frame)
        current_layer().update()
        shapes[frame] = rigs.evaluated(tube)
    # Where the mesh is thin it is inside of the muscle, which is not left out.
    assert not found and not state(tube).muscles.problems
    for frame in frames if method == "SPHERICAL" else ():
        bend(armature, 12.0 * frame)
        current_scene().frame_set(frame)
        bulge = covered(tube, armature, still) - uncovered(tube, armature, still)
        assert np.abs(bulge).max() > 0.005
        wanted = uncovered(tube, armature, still + moving.value * change) + bulge
        assert error(shapes[frame], wanted) < 2.0 * EXACT
    # An edit of the mesh is seen.
    found.clear()
    for vertex in tube.data.vertices:
        vertex.co.y *= 1.1
    for point in tube.data.shape_keys.key_blocks[0].data:
        point.co.y *= 1.1
    tube.data.update()
    current_layer().update()
    assert found


def test_edits_that_come_with_a_change_of_frame(character: Character) -> None:
    tube, armature = character
    current_layer().update()
    edits: tuple[Callable[[Any], None], ...] = (
        lambda muscle: setattr(muscle, "radius", 0.08),
        lambda muscle: setattr(muscle.insertion.location, "x", muscle.insertion.location.x + 0.03),
        lambda muscle: setattr(muscle, "use", False),
    )
    for frame, edit in enumerate(edits, start=2):
        before = rigs.evaluated(tube)
        edit(muscle_of(armature, 0))
        current_scene().frame_set(frame)
        found = rigs.evaluated(tube)
        assert error(found, before) > 1e-4
        assert error(found, covered(tube, armature)) < EXACT


def test_linear_comparison_shows_no_muscles(character: Character) -> None:
    tube, _ = character
    engine("live.methods").show_linear(True)
    try:
        tube.update_tag()
        current_layer().update()
        shown = rigs.evaluated(tube)
    finally:
        engine("live.methods").show_linear(False)
    tube.sbs.use_muscles = False
    tube.sbs.method = "LINEAR"
    current_layer().update()
    np.testing.assert_allclose(shown, rigs.evaluated(tube), atol=1e-6)


@pytest.fixture
def moving() -> Character:
    tube, armature = muscled.make_character()
    for frame in (1, 9):
        bend(armature, 8.0 * frame)
        armature.pose.bones["B2"].keyframe_insert("rotation_quaternion", frame=frame)
    current_scene().frame_set(1)
    return tube, armature


def shape(belly: Any) -> np.ndarray:
    return rigs.positions(belly.data)


def hide_by_eye(belly: Any, hidden: bool) -> None:
    belly.hide_set(hidden)


def hide_in_viewports(belly: Any, hidden: bool) -> None:
    belly.hide_viewport = hidden


def exclude(belly: Any, hidden: bool) -> None:
    layers = current_layer().layer_collection.children
    next(layer for layer in layers if belly.name in layer.collection.objects).exclude = hidden


@pytest.mark.parametrize("hide", [hide_by_eye, hide_in_viewports, exclude])
def test_hidden_ones_wait_until_they_are_shown(moving: Character, hide: Callable[[Any, bool], None]) -> None:
    _, armature = moving
    muscled.add(armature, "Extensor.L", side=-0.2)
    belly, second = (muscle_of(armature, row).belly for row in (0, 1))
    current_scene().frame_set(6)
    wanted = shape(belly)
    current_scene().frame_set(1)
    before, of_second = shape(belly), shape(second)
    assert np.abs(wanted - before).max() > 0.05
    hide(belly, True)
    current_layer().update()
    current_scene().frame_set(4)
    current_scene().frame_set(6)
    np.testing.assert_array_equal(shape(belly), before)
    assert hide is exclude or np.abs(shape(second) - of_second).max() > 0.01
    # Without another pose.
    hide(belly, False)
    current_layer().update()
    np.testing.assert_array_equal(shape(belly), wanted)
    np.testing.assert_array_equal(rigs.evaluated(belly), wanted)
    current_scene().frame_set(1)
    np.testing.assert_array_equal(shape(belly), before)


def follow(belly: Any) -> bpy.types.Object:
    """A plane that lies on a belly."""
    mesh = bpy.data.meshes.new("Follower")
    mesh.from_pydata([(1.0, 0.0, 2.0), (1.0, 0.1, 2.0), (1.0, 0.0, 2.1)], [], [(0, 1, 2)])
    item = bpy.data.objects.new("Follower", mesh)
    current_scene().collection.objects.link(item)
    modifier: Any = item.modifiers.new("Shrinkwrap", "SHRINKWRAP")
    modifier.target = belly
    return item


def test_hidden_ones_that_others_use_do_not_wait(moving: Character) -> None:
    _, armature = moving
    belly = muscle_of(armature, 0).belly
    current_scene().frame_set(6)
    wanted = shape(belly)
    current_scene().frame_set(1)
    belly.hide_set(True)
    current_layer().update()
    current_scene().frame_set(2)
    user = follow(belly)
    current_layer().update()
    current_scene().frame_set(6)
    np.testing.assert_array_equal(shape(belly), wanted)
    # Nothing follows it any more.
    bpy.data.objects.remove(user)
    current_layer().update()
    current_scene().frame_set(1)
    np.testing.assert_array_equal(shape(belly), wanted)


def test_undo_of_bellies(moving: Character) -> None:
    """Undo brings back bellies of an earlier pose."""
    _, armature = moving
    rigs.select([armature])
    name = muscle_of(armature, 0).belly.name
    bpy.ops.ed.undo_push(message="Start")
    current_scene().frame_set(6)
    wanted = shape(mesh_named(name))
    bpy.ops.ed.undo_push(message="Frame")
    for _ in range(2):
        bpy.ops.ed.undo()
        current_scene().frame_set(6)
        np.testing.assert_array_equal(shape(mesh_named(name)), wanted)
        bpy.ops.ed.redo()


def test_saved_and_loaded(character: Character, tmp_path: Path) -> None:
    tube, armature = character
    muscle_of(armature, 0).activation = 0.5
    wanted = assert_right(tube, armature)
    tube, armature = rigs.reopen(tmp_path / "file.blend")
    np.testing.assert_allclose(rigs.evaluated(tube), wanted, atol=1e-6)
    bend(armature, 30.0)
    assert_right(tube, armature)


def test_appended(character: Character, tmp_path: Path) -> None:
    tube, armature = character
    wanted = assert_right(tube, armature)
    rigs.save_library(tmp_path / "library.blend")
    rigs.from_library(tmp_path / "library.blend", link=False)
    tube, armature = mesh_named("Tube"), armature_named("Rig")
    np.testing.assert_allclose(rigs.evaluated(tube), wanted, atol=1e-6)
    bend(armature, 40.0)
    muscle_of(armature, 0).insertion.location.x += 0.02
    assert_right(tube, armature)
    muscle_of(armature, 0).activation = 0.5
    assert_right(tube, armature)


def test_appended_by_the_mesh_alone(character: Character, tmp_path: Path) -> None:
    """Objects that others refer to come along, though into no collection of the scene: handles and bellies, too."""
    tube, armature = character
    wanted = assert_right(tube, armature)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.append(filename="Tube", directory=str(tmp_path / "library.blend" / "Object") + "/")
    current_layer().update()
    tube, armature = mesh_named("Tube"), armature_named("Rig")
    assert len(armature.sbs.muscles) == 1
    np.testing.assert_allclose(rigs.evaluated(tube), wanted, atol=1e-6)
    bend(armature, 40.0)
    assert_right(tube, armature)


def test_linked_without_override(character: Character, tmp_path: Path) -> None:
    """It stays as it was saved, and operators say so."""
    tube, armature = character
    wanted = assert_right(tube, armature)
    rigs.save_library(tmp_path / "library.blend")
    rigs.from_library(tmp_path / "library.blend", link=True)
    tube, armature = mesh_named("Tube"), armature_named("Rig")
    np.testing.assert_allclose(rigs.evaluated(tube), wanted, atol=1e-6)
    rigs.select([armature])
    assert addon.ops.fit_muscles.poll() is False
    with pytest.raises(RuntimeError, match="Rig belongs to a library"):
        addon.ops.remove_muscle()
    assert len(armature.sbs.muscles) == 1


def test_a_mesh_of_this_file_on_a_linked_armature(character: Character, tmp_path: Path) -> None:
    tube, armature = character
    wanted = assert_right(tube, armature)
    rigs.save_library(tmp_path / "library.blend")
    rigs.from_library(tmp_path / "library.blend", link=True)
    linked = armature_named("Rig")
    tube = rigs.make_tube(rows=81, name="Coat")
    rigs.bind(tube, linked)
    current_layer().update()
    assert not state(tube).muscles.problems
    np.testing.assert_allclose(rigs.evaluated(tube), wanted, atol=1e-6)
    assert_right(tube, linked)


def reopened(folder: Path) -> Character:
    """The override, once the file has been saved and opened."""
    rigs.reopen(folder / "shot.blend")
    current_layer().update()
    return rigs.overridden()


def test_a_plain_override_has_activations(character: Character, tmp_path: Path) -> None:
    tube, armature = muscled.make_override(tmp_path / "library.blend", fully_editable=False)
    before = assert_right(tube, armature)
    muscle_of(armature, 0).activation = 0.8
    after = assert_right(tube, armature)
    assert error(after, before) > 1e-4
    np.testing.assert_allclose(rigs.evaluated(reopened(tmp_path)[0]), after, atol=1e-5)


def test_everything_of_an_override_can_be_edited(character: Character, tmp_path: Path) -> None:
    tube, armature = muscled.make_override(tmp_path / "library.blend")
    before = assert_right(tube, armature)
    muscle = muscle_of(armature, 0)
    # Bellies of a library stay as they were saved; handles are moved.
    assert muscle.insertion.override_library is not None
    muscle.insertion.location.x += 0.05
    after = assert_right(tube, armature)
    assert error(after, before) > 1e-4
    muscle.radius = 0.1
    before, after = after, assert_right(tube, armature)
    assert error(after, before) > 1e-4
    muscle.activation = 0.6
    muscle.keyframe_insert("activation", frame=1)
    after = assert_right(tube, armature)
    np.testing.assert_allclose(rigs.evaluated(reopened(tmp_path)[0]), after, atol=1e-5)


def test_muscles_are_added_to_an_override(character: Character, tmp_path: Path) -> None:
    tube, armature = muscled.make_override(tmp_path / "library.blend")
    before = assert_right(tube, armature)
    rigs.select([armature])
    with pytest.raises(RuntimeError, match=r"Flexor\.L"):
        addon.ops.remove_muscle()
    np.testing.assert_array_equal(rigs.evaluated(tube), before)
    assert addon.ops.add_via_point() == {"FINISHED"}
    with_via = assert_right(tube, armature)
    add(armature, "Extensor.L", side=-0.2)
    with_both = assert_right(tube, armature)
    assert error(with_both, with_via) > 1e-4
    tube, armature = reopened(tmp_path)
    assert [muscle.name for muscle in list_of(armature)] == ["Flexor.L", "Extensor.L"]
    np.testing.assert_allclose(rigs.evaluated(tube), with_both, atol=1e-5)
    rigs.select([armature])
    armature.sbs.muscle_row = 1
    assert addon.ops.remove_muscle() == {"FINISHED"}
    np.testing.assert_allclose(assert_right(tube, armature), with_via, atol=1e-5)
    muscle_of(armature, 0).use = False
    assert error(assert_right(tube, armature), with_via) > 1e-4


def test_a_belly_of_an_override_is_deleted(character: Character, tmp_path: Path) -> None:
    tube, armature = muscled.make_override(tmp_path / "library.blend")
    before = assert_right(tube, armature)
    bpy.data.objects.remove(muscle_of(armature, 0).belly)
    for _ in range(2):
        current_layer().update()
    after = assert_right(tube, armature)
    assert error(after, before) > 1e-4
    # The muscle is the library's, so it can only be switched off.
    tube, armature = reopened(tmp_path)
    assert [muscle.use for muscle in list_of(armature)] == [False]
    assert error(assert_right(tube, armature), after) < muscled.EXACT


def test_an_override_of_mesh_and_armature_alone(character: Character, tmp_path: Path) -> None:
    """Handles of the library cannot be moved, so local handles take their place."""
    rigs.save_library(tmp_path / "library.blend")
    with library(tmp_path / "library.blend", link=True) as (_, to):
        to.objects = ["Tube", "Rig"]
    tube, armature = mesh_object(to.objects[0].override_create()), armature_object(to.objects[1].override_create())
    for item in (armature, tube):
        current_scene().collection.objects.link(item)
    tube.sbs.armature = armature
    for _ in range(2):
        current_layer().update()
    for bone in armature.pose.bones:
        bone.rotation_mode = "QUATERNION"
    bend(armature, 40.0)
    before = assert_right(tube, armature)
    assert not state(tube).muscles.problems
    muscle_of(armature, 0).insertion.location.x += 0.05
    assert error(assert_right(tube, armature), before) > 1e-4


def test_deleted_armature(character: Character) -> None:
    """The mesh rests, as by Blender's own modifier; once undo has brought the armature back all is as before."""
    tube, armature = character
    wanted = assert_right(tube, armature)
    rigs.select([armature])
    bpy.ops.ed.undo_push(message="Start")
    assert bpy.ops.object.delete("EXEC_DEFAULT", True) == {"FINISHED"}
    for _ in range(2):
        current_layer().update()
    np.testing.assert_array_equal(rigs.evaluated(tube), rigs.positions(tube.data))
    tube, armature = rigs.undo()
    np.testing.assert_allclose(assert_right(tube, armature), wanted, atol=1e-6)
    assert muscle_of(armature, 0).belly.users_collection and muscle_of(armature, 0).via.users_collection
    bpy.data.objects.remove(armature)
    current_layer().update()
    assert "armature" in state(tube).problem
