# SPDX-License-Identifier: GPL-3.0-or-later
"""Sculpts while the pose changes, and correctives that are solved again after edits of the mesh and the rig."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import addon
import bpy
import numpy as np
import pytest
import rigs
from expected import Floats, error, in_world
from mathutils import Matrix
from numpy.typing import NDArray
from objects import ArmatureObject, Character, MeshObject, current_layer, current_scene, mesh_object
from test_correctives import MET, add_goal, begin_sculpt, bend, bent, points, sculpt, straight

# ------------------------------------------------------------------------------------------- the pose of a sculpt


def test_accepted_after_the_pose_changed() -> None:
    tube, armature = bent()
    _, wanted = begin_sculpt(tube)
    bend(armature, 20.0)
    other: Any = armature.pose.bones["B1"]
    other.rotation_mode, other.rotation_euler = "XYZ", (0.0, 7.0, 0.0)
    assert addon.ops.accept_corrective(bone="B2") == {"FINISHED"}
    assert tube.data.shape_keys.key_blocks[-1].name == "B2 80"
    assert list(other.rotation_euler) == [0.0, 7.0, 0.0]
    other.rotation_euler = (0.0, 0.0, 0.0)
    bend(armature, 80.0)
    assert error(in_world(tube), wanted) < MET[False]


def test_accepted_in_another_frame() -> None:
    tube, armature = straight()
    for frame, degrees in ((1, 80.0), (20, 10.0)):
        bend(armature, degrees)
        armature.pose.bones["B2"].keyframe_insert("rotation_quaternion", frame=frame)
    current_scene().frame_set(1)
    _, wanted = begin_sculpt(tube)
    current_scene().frame_set(20)
    assert addon.ops.accept_corrective(bone="B2") == {"FINISHED"}
    assert armature.pose.bones["B2"].rotation_quaternion.angle == pytest.approx(np.radians(10.0), abs=1e-5)
    current_scene().frame_set(1)
    assert error(in_world(tube), wanted) < MET[False]


def test_accepted_only_where_goals_are_as_they_were() -> None:
    tube, armature = straight()
    goal = add_goal(armature)
    goal.location = there = (0.6, 0.9, 1.2)
    bend(armature, 30.0)
    _, wanted = begin_sculpt(tube)
    goal.location = (0.0, 0.0, 10.0)
    current_layer().update()
    with pytest.raises(RuntimeError, match=r"Tube is not as it was .* frame 1"):
        addon.ops.accept_corrective()
    assert tube.data.shape_keys is None
    goal.location = there
    assert addon.ops.accept_corrective() == {"FINISHED"}
    assert error(in_world(tube), wanted) < MET[False]


# ------------------------------------------------------------------------------------------------ edits of the mesh


def delete(tube: MeshObject, chosen: NDArray[np.bool_]) -> None:
    edit(tube, chosen, lambda: bpy.ops.mesh.delete(type="VERT"))


def edit(tube: MeshObject, chosen: NDArray[np.bool_], operator: Callable[[], object]) -> None:
    """Edit chosen vertices."""
    with rigs.editing(tube):
        bpy.ops.mesh.select_mode(type="VERT")
        bpy.ops.mesh.select_all(action="DESELECT")
        bpy.ops.object.mode_set(mode="OBJECT")
        tube.data.vertices.foreach_set("select", chosen)
        bpy.ops.object.mode_set(mode="EDIT")
        operator()
    current_layer().update()


def sculpted_tube(prepare: Callable[[MeshObject, ArmatureObject], object] = lambda *_: None) -> tuple[Any, ...]:
    """A tube with a corrective, its armature, its vertices at rest, and where those are to be that were sculpted."""
    tube, armature = straight()
    prepare(tube, armature)
    bend(armature, 80.0)
    before, wanted = sculpt(tube, bone="B2")
    wanted[np.linalg.norm(wanted - before, axis=1) < 1e-6] = np.nan
    return tube, armature, rigs.positions(tube.data), wanted


def solve_elsewhere(tube: MeshObject, armature: ArmatureObject, shown: float = 80.0) -> None:
    """Solve again after another pose; the pose of the corrective is shown then."""
    bend(armature, 10.0)
    rigs.select([tube])
    assert addon.ops.solve_correctives() == {"FINISHED"}
    bend(armature, shown)


def check_met(tube: MeshObject, rest: Floats, wanted: Floats, least: int = 10) -> None:
    """Whether the vertices that were sculpted are where they are to be; they are found by their places at rest."""
    distances = np.linalg.norm(rigs.positions(tube.data)[:, None] - rest, axis=2)
    former = np.argmin(distances, axis=1)
    known = ~np.isnan(wanted[former]).any(axis=1) & (distances.min(axis=1) < 1e-6)
    assert known.sum() >= least
    assert error(in_world(tube)[known], wanted[former][known]) < 2 * MET[False]


def refused(tube: MeshObject, reason: str) -> None:
    key = tube.data.shape_keys.key_blocks["B2 80"]
    before = points(key)
    rigs.select([tube])
    with pytest.raises(RuntimeError, match=f"B2 80 is as it was: .*{reason}"):
        addon.ops.solve_correctives()
    np.testing.assert_array_equal(points(key), before)


def test_a_vertex_deleted() -> None:
    tube, armature, rest, wanted = sculpted_tube()
    delete(tube, np.arange(len(rest)) == 3)
    assert len(tube.data.vertices) == len(rest) - 1
    solve_elsewhere(tube, armature)
    check_met(tube, rest, wanted)


def test_half_of_the_mesh_deleted() -> None:
    tube, armature, rest, wanted = sculpted_tube()
    delete(tube, rest[:, 2] > 2.0)
    solve_elsewhere(tube, armature)
    check_met(tube, rest, wanted)


def test_merged_by_distance() -> None:
    def prepare(tube: MeshObject, _armature: ArmatureObject) -> None:
        for vertex in (2, 20, 40):
            tube.data.vertices[vertex].co = tube.data.vertices[vertex + 1].co

    tube, armature, rest, wanted = sculpted_tube(prepare)
    edit(tube, np.ones(len(rest), bool), bpy.ops.mesh.remove_doubles)
    assert len(tube.data.vertices) == len(rest) - 3
    solve_elsewhere(tube, armature)
    check_met(tube, rest, wanted)


def test_separated() -> None:
    tube, armature, rest, wanted = sculpted_tube()
    edit(tube, rest[:, 2] < 2.0, lambda: bpy.ops.mesh.separate(type="SELECTED"))
    (part,) = (mesh_object(item) for item in bpy.data.objects if item.type == "MESH" and item.name == "Tube.001")
    for item in (tube, part):
        solve_elsewhere(item, armature)
        check_met(item, rest, wanted)


def test_subdivided() -> None:
    tube, armature, rest, wanted = sculpted_tube()
    edit(tube, np.ones(len(rest), bool), lambda: bpy.ops.mesh.subdivide(number_cuts=1))
    solve_elsewhere(tube, armature)
    check_met(tube, rest, wanted)


def test_joined() -> None:
    tube, armature, rest, wanted = sculpted_tube()
    other = rigs.make_tube(name="Other", rows=5)
    other.location.x = 2.0
    rigs.select([tube, other])
    assert bpy.ops.object.join() == {"FINISHED"}
    current_layer().update()
    solve_elsewhere(tube, armature)
    check_met(tube, rest, wanted)
    moved = np.linalg.norm(points(tube.data.shape_keys.key_blocks["B2 80"]) - rigs.positions(tube.data), axis=1)
    assert moved[len(rest) :].max() == 0.0


def test_joined_with_a_corrective_of_another_pose() -> None:
    """The numbers of correctives are those of a mesh, so their targets need names of their own."""
    tube, armature, rest, wanted = sculpted_tube()
    other = rigs.make_tube(name="Other")
    other.location.x = 2.0
    rigs.bind(other, armature)
    bend(armature, 0.0)
    bend(armature, 60.0, "B3")
    sculpt(other, bone="B3", key_name="other")
    rigs.select([tube, other])
    assert bpy.ops.object.join() == {"FINISHED"}
    bend(armature, 0.0, "B3")
    assert [(each.key.name, "joined" in each.reason) for each in listed_as_broken(tube)] == [("other", True)]
    before = points(tube.data.shape_keys.key_blocks["B2 80"])
    solve_elsewhere(tube, armature)
    check_met(tube, rest, wanted)
    np.testing.assert_allclose(points(tube.data.shape_keys.key_blocks["B2 80"]), before, atol=1e-5)
    remove_broken(tube)
    assert [key.name for key in tube.data.shape_keys.key_blocks] == ["Basis", "B2 80"]
    check_met(tube, rest, wanted)


def test_joined_with_a_corrective_of_the_same_name() -> None:
    tube, armature, rest, wanted = sculpted_tube()
    other = rigs.make_tube(name="Other")
    other.location.x = 2.0
    rigs.bind(other, armature)
    bend(armature, 0.0)
    bend(armature, 60.0, "B3")
    sculpt(other, bone="B3", key_name="B2 80")
    rigs.select([tube, other])
    assert bpy.ops.object.join() == {"FINISHED"}
    assert [(each.key.name, "joined" in each.reason) for each in listed_as_broken(tube)] == [("B2 80", True)]
    remove_broken(tube)
    assert not listed_as_broken(tube)
    bend(armature, 0.0, "B3")
    solve_elsewhere(tube, armature)
    check_met(tube, rest, wanted)


def share(tube: MeshObject) -> None:
    rigs.select([tube])
    assert bpy.ops.object.duplicate(linked=True) == {"FINISHED"}


def decimate(tube: MeshObject) -> None:
    modifier = tube.modifiers.new("Decimate", "DECIMATE")
    modifier.ratio = 0.5
    rigs.put_first(tube, modifier)


@pytest.mark.parametrize(("deed", "reason"), [(share, "shares its mesh"), (decimate, "Decimate makes")])
def test_refused_for_the_mesh(deed: Callable[[MeshObject], None], reason: str) -> None:
    tube, armature, *_ = sculpted_tube()
    deed(tube)
    bend(armature, 10.0)
    refused(tube, reason)


def shrink(*items: bpy.types.Object) -> None:
    """Give objects a scale of 0.01 that changes nothing that is seen."""
    for item in items:
        data: Any = item.data
        data.transform(Matrix.Scale(100.0, 4))
        item.scale = (0.01, 0.01, 0.01)
    current_layer().update()


def apply_scale(*items: bpy.types.Object) -> None:
    rigs.select(items)
    assert bpy.ops.object.transform_apply(location=False, rotation=False, scale=True) == {"FINISHED"}
    current_layer().update()


def test_scale_of_the_mesh_applied() -> None:
    tube, armature, _rest, wanted = sculpted_tube(lambda tube, _armature: shrink(tube))
    apply_scale(tube)
    assert tube.scale[0] == 1.0
    solve_elsewhere(tube, armature)
    check_met(tube, rigs.positions(tube.data), wanted)


def test_scale_of_the_armature_applied() -> None:
    tube, armature, *_ = sculpted_tube(shrink)
    apply_scale(tube, armature)
    assert tube.scale[0] == armature.scale[0] == 1.0
    refused(tube, "Tube or Rig was scaled")


# ------------------------------------------------------------------------------------------------- edits of the rig


def posed_twice() -> tuple[Character, Floats]:
    """A corrective of one bone, in a pose of two."""
    tube, armature = straight()
    bend(armature, 25.0, "B1")
    bend(armature, 80.0)
    _, wanted = sculpt(tube, bone="B2")
    return (tube, armature), wanted


def test_another_posed_bone_renamed() -> None:
    (tube, armature), wanted = posed_twice()
    armature.data.bones["B1"].name = "Hips"
    current_layer().update()
    refused(tube, "Rig has no B1")
    armature.data.bones["Hips"].name = "B1"
    current_layer().update()
    solve_elsewhere(tube, armature)
    assert error(in_world(tube), wanted) < MET[False]


def test_the_driving_bone_renamed() -> None:
    (tube, armature), wanted = posed_twice()
    armature.data.bones["B2"].name = "Elbow"
    current_layer().update()
    bend(armature, 10.0, "Elbow")
    rigs.select([tube])
    assert addon.ops.solve_correctives() == {"FINISHED"}
    bend(armature, 80.0, "Elbow")
    assert error(in_world(tube), wanted) < MET[False]


def test_one_refused_does_not_keep_others_from_being_solved() -> None:
    (tube, armature), _wanted = posed_twice()
    bend(armature, 0.0, "B1")
    bend(armature, 40.0)
    _, wanted = sculpt(tube, bone="B2", key_name="half")
    armature.data.bones["B1"].name = "Hips"
    current_layer().update()
    solve_elsewhere(tube, armature, 40.0)
    assert error(in_world(tube), wanted) < 2 * MET[False]


def test_driven_by_a_joined_armature() -> None:
    tube, armature = bent()
    sculpt(tube, bone="B2")
    other = rigs.make_armature(name="Other")
    rigs.select([other, armature])
    assert bpy.ops.object.join() == {"FINISHED"}
    current_layer().update()
    own = addon.module("engine.correctives.correctives")
    assert [(each.armature, each.bone) for each in own.find(tube)] == [(other, "B2.001")]


def test_solving_again_is_offered_where_weights_changed(tmp_path: Path) -> None:
    tube, armature, rest, wanted = sculpted_tube()
    find = addon.module("engine.correctives.correctives").find_outdated
    assert not find(tube)
    tube.vertex_groups["B2"].add(list(range(200, 400)), 0.2, "ADD")
    current_layer().update()
    assert [each.key.name for each in find(tube)] == ["B2 80"]
    solve_elsewhere(tube, armature)
    assert not find(tube)
    check_met(tube, rest, wanted)
    tube, armature = rigs.reopen(tmp_path / "tube.blend")
    assert not find(tube)


# ----------------------------------------------------------------------------------------------------------- broken


def listed_as_broken(tube: MeshObject) -> list[Any]:
    found: list[Any] = addon.module("engine.correctives.broken").find(tube)
    return found


def remove_broken(tube: MeshObject) -> None:
    """Remove all that are listed, by the button."""
    rigs.select([tube])
    for each in [each.number for each in listed_as_broken(tube)]:
        assert addon.ops.remove_corrective(number=each) == {"FINISHED"}


def delete_bone(armature: ArmatureObject) -> None:
    with rigs.editing(armature):
        armature.data.edit_bones.remove(armature.data.edit_bones["B2"])


def delete_driver(tube: MeshObject) -> None:
    tube.data.shape_keys.key_blocks["B2 80"].driver_remove("value")


@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        (lambda _tube, armature: delete_bone(armature), "B2"),
        (lambda _tube, armature: bpy.data.objects.remove(armature), "B2"),
        (lambda tube, _armature: delete_driver(tube), "driver"),
        (lambda tube, _armature: setattr(tube.sbs, "armature", rigs.make_armature(name="New")), "New"),
    ],
)
def test_broken_ones_are_listed_until_they_are_removed(
    deed: Callable[[MeshObject, ArmatureObject], object], reason: str
) -> None:
    tube, armature, *_ = sculpted_tube()
    tube.shape_key_add(name="Smile")
    assert not listed_as_broken(tube)
    deed(tube, armature)
    current_layer().update()
    (found,) = listed_as_broken(tube)
    assert found.key.name == "B2 80" and reason in found.reason
    remove_broken(tube)
    assert not listed_as_broken(tube)
    assert [key.name for key in tube.data.shape_keys.key_blocks] == ["Basis", "Smile"]
    assert not [name for name in dict(tube.data.attributes.items()) if "sbs_target" in name]


def test_of_another_rig_is_neither_solved_nor_sculpted() -> None:
    tube, armature, *_ = sculpted_tube()
    key = tube.data.shape_keys.key_blocks["B2 80"]
    before = points(key)
    tube.sbs.armature = rigs.make_armature(name="New")
    bend(armature, 0.0)
    rigs.select([tube])
    for operator in (addon.ops.solve_correctives, addon.ops.sculpt_corrective):
        with pytest.raises(RuntimeError, match="Rig drives it, and New deforms Tube"):
            operator(number="1")
    np.testing.assert_array_equal(points(key), before)


# -------------------------------------------------------------------------------------------- files of earlier versions


def as_before(tube: MeshObject) -> None:
    """Keep the target of the corrective as earlier versions did, by numbers of vertices."""
    targets = addon.module("engine.correctives.targets")
    (found,) = addon.module("engine.correctives.correctives").find(tube)
    record: Any = tube.data.shape_keys["sbs_correctives"][found.number]
    vertices, places = targets.read(tube, found.armature, record["target_name"])
    targets.forget(tube.data, record["target_name"])
    del record["bone"], record["target_name"]
    record["vertices"], record["target"] = vertices.tolist(), places.reshape(-1).tolist()


def test_of_an_earlier_version() -> None:
    tube, armature, rest, wanted = sculpted_tube()
    as_before(tube)
    solve_elsewhere(tube, armature)
    check_met(tube, rest, wanted)


@pytest.mark.parametrize("height", [0.05, 3.0])
def test_of_an_earlier_version_with_other_vertices(height: float) -> None:
    tube, _armature, rest, _wanted = sculpted_tube()
    as_before(tube)
    delete(tube, rest[:, 2] < height)
    refused(tube, "Tube has other vertices")
