# SPDX-License-Identifier: GPL-3.0-or-later
"""Human bodies: muscles fitted by the names of bones, and the demos."""

from __future__ import annotations

import math

import addon
import bpy
import expected
import numpy as np
import pytest
import rigify_human
import rigs
from mathutils import Quaternion, Vector
from muscled import list_of, muscle_of, state, without
from objects import Character, MeshObject, armature_object, current_layer, current_scene, mesh_named


@pytest.fixture
def woman() -> Character:
    mesh, armature = addon.module("demo.woman").woman()
    armature.scale = (0.1, 0.1, 0.1)
    current_layer().update()
    rigs.bind(mesh, armature)
    return mesh, armature


def test_muscles_of_a_human_body(woman: Character) -> None:
    mesh, armature = woman
    rigs.select([mesh])
    assert addon.ops.fit_muscles() == {"FINISHED"}
    assert len(armature.sbs.muscles) == 18
    assert {muscle.name for muscle in list_of(armature)} >= {"Biceps.L", "Calf.R", "Forearm Flexors.L"}
    assert not state(mesh).muscles.problems
    bone = armature.pose.bones[muscle_of(armature, "Biceps.L").insertion.parent_bone]
    bone.rotation_mode = "QUATERNION"
    axis = bone.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, -1.0, 0.0))
    bone.rotation_quaternion = Quaternion(axis, math.radians(90.0))
    current_layer().update()
    found = addon.module("muscles.panel").state_of(armature, armature.sbs.muscles.find("Biceps.L"))
    assert found.growth > 1.05 and found.volume == pytest.approx(1.0, abs=1e-6)
    moved = np.linalg.norm(rigs.evaluated(mesh) - without(mesh), axis=1)
    assert 0.02 < moved.max() < 0.5  # in decimeters
    assert np.count_nonzero(moved > 1e-4) < 0.1 * len(moved)
    # Again, they are placed anew, and no object is left over.
    objects = len(bpy.data.objects)
    assert addon.ops.fit_muscles() == {"FINISHED"}
    assert len(bpy.data.objects) == objects and len(armature.sbs.muscles) == 18


def test_fitted_anew_after_some_were_deleted(woman: Character) -> None:
    """In a step of its own: undo first takes back the fit, then the deletion."""
    mesh, armature = woman
    mesh_name = mesh.name
    rigs.select([mesh])
    assert addon.ops.fit_muscles() == {"FINISHED"}
    bone = armature.pose.bones["LeftForeArm"]
    bone.rotation_mode = "QUATERNION"
    bone.rotation_quaternion = Quaternion((0.0, 0.0, 1.0), math.radians(60.0))
    current_layer().update()
    wanted, objects = rigs.evaluated(mesh), len(bpy.data.objects)
    deleted = [muscle_of(armature, "Biceps.L").belly, muscle_of(armature, "Calf.R").insertion]
    rigs.select(deleted)
    bpy.ops.ed.undo_push(message="Start")
    assert bpy.ops.object.delete("EXEC_DEFAULT", True) == {"FINISHED"}
    rigs.select([mesh])
    assert np.abs(rigs.evaluated(mesh) - wanted).max() > 1e-3
    assert len(state(mesh).muscles.problems) == 1
    assert addon.ops.fit_muscles("EXEC_DEFAULT", True) == {"FINISHED"}
    assert not state(mesh).muscles.problems
    assert len(bpy.data.objects) == objects and len(armature.sbs.muscles) == 18
    np.testing.assert_allclose(rigs.evaluated(mesh), wanted, atol=1e-5)
    for problems in (1, 0):
        bpy.ops.ed.undo()
        mesh = mesh_named(mesh_name)
        assert len(state(mesh).muscles.problems) == problems
    np.testing.assert_allclose(rigs.evaluated(mesh), wanted, atol=1e-5)


def test_a_rig_of_rigify() -> None:
    """Points of muscles move with its bones that deform, not with its controls, by which it is posed."""
    body, rigify = rigify_human.make()
    rigs.bind(body, rigify)
    assert addon.ops.fit_muscles() == {"FINISHED"}
    muscles = list_of(rigify)
    assert len(muscles) == 18
    handles = [getattr(muscle, part) for muscle in muscles for part in ("origin", "via", "second_via", "insertion")]
    bones = {handle.parent_bone for handle in handles if handle is not None}
    assert bones and all(bone.startswith("DEF-") for bone in bones)
    current_layer().update()
    # Balls along bones are no chest and no buttocks.
    without_room = {muscles[row].name.partition(".")[0] for row in state(body).muscles.problems}
    assert without_room <= {"Pectoral", "Gluteus"}
    biceps = rigify.sbs.muscles.find("Biceps.L")
    rest = addon.module("muscles.panel").state_of(rigify, biceps)
    assert rest.growth == pytest.approx(1.0, abs=1e-3)
    rigify_human.bend_elbow(rigify, 100.0)
    current_layer().update()
    found = addon.module("muscles.panel").state_of(rigify, biceps)
    assert found.growth > 1.05 and found.volume == pytest.approx(1.0, abs=1e-6)
    moved = np.linalg.norm(rigs.evaluated(body) - without(body), axis=1)
    assert 0.001 < moved.max() < 0.05
    assert np.count_nonzero(moved > 1e-5) < 0.2 * len(moved)


def test_a_body_without_names_is_refused() -> None:
    _, armature = rigs.make_bound()
    with pytest.raises(RuntimeError, match="'hips'"):
        addon.ops.fit_muscles()
    assert not len(armature.sbs.muscles)


def test_muscle_demo() -> None:
    assert addon.ops.muscle_demo() == {"FINISHED"}
    spherical, muscled = mesh_named("Woman, Spherical Blend"), mesh_named("Woman, With Muscles")
    armature, without_any = armature_object(muscled.sbs.armature), armature_object(spherical.sbs.armature)
    assert len(armature.sbs.muscles) == 18 and not len(without_any.sbs.muscles)
    assert not state(muscled).muscles.problems
    names = [muscle.name for muscle in list_of(armature)]
    biceps = addon.module("muscles.panel").state_of(armature, names.index("Biceps.L"))
    assert biceps.growth > 1.15 and biceps.volume == pytest.approx(1.0, abs=1e-6)
    moved = np.linalg.norm(rigs.evaluated(muscled) - rigs.evaluated(spherical), axis=1)
    assert moved.max() > 0.05  # in decimeters
    current_scene().frame_set(1)
    np.testing.assert_allclose(rigs.evaluated(muscled), rigs.evaluated(spherical), atol=1e-4)


def test_demo() -> None:
    assert addon.ops.demo() == {"FINISHED"}
    linear = mesh_named("Woman, Linear Blend")
    spherical = mesh_named("Woman, Spherical Blend")
    spread = mesh_named("Woman, Spread Twist")
    assert len(linear.data.vertices) == len(spherical.data.vertices) == len(spread.data.vertices) > 10_000
    assert current_scene().frame_current == 40
    found = expected.read(linear, armature_object(linear.parent))
    names = [bone.name for bone in found.bones]
    arm = found.weights[:, [names.index(name) for name in ("LeftArm", "LeftForeArm")]]
    shared = (arm > 0.3).all(axis=1)
    bones = armature_object(linear.parent).data.bones
    elbow, hand = (np.array(bones[name].head_local) for name in ("LeftForeArm", "LeftHand"))
    axis = (hand - elbow) / np.linalg.norm(hand - elbow)

    def distances(item: MeshObject) -> np.ndarray:
        out = rigs.evaluated(item)[shared] - elbow
        distances: np.ndarray = np.linalg.norm(out - np.outer(out @ axis, axis), axis=1)
        return distances

    rest = rigs.positions(linear.data)[shared] - elbow
    at_rest = np.linalg.norm(rest - np.outer(rest @ axis, axis), axis=1).mean()
    # Halfway between 0 and 170 degrees, linear blending leaves cos 85 degrees, 9 %, of the distance.
    assert distances(linear).mean() < 0.5 * at_rest
    assert distances(spherical).mean() > 0.9 * at_rest

    # At the elbow the skin follows the upper arm, and along the forearm it turns ever more.
    assert not spherical.sbs.spread_twist and spread.sbs.spread_twist and spread.sbs.scope == "RIG"
    ticked = [bone.name for bone in armature_object(spread.sbs.armature).pose.bones if bone.sbs_twist]
    assert len(ticked) == 8 and {"LeftArm", "LeftForeArm", "RightUpLeg"} <= set(ticked)
    assert not any(bone.sbs_twist for bone in armature_object(spherical.sbs.armature).pose.bones)
    places = (rigs.positions(linear.data) - elbow) @ axis / np.linalg.norm(hand - elbow)
    ring = (arm[:, 1] > 0.95) & (places > 0.2) & (places < 0.8)
    assert ring.sum() > 50
    before = rigs.positions(linear.data)[ring] - elbow
    after = rigs.evaluated(spread)[ring] - elbow
    across = [points - np.outer(points @ axis, axis) for points in (before, after)]
    cosines = np.einsum("vx,vx->v", *across) / np.prod([np.linalg.norm(each, axis=1) for each in across], axis=0)
    # Weights are not all of the forearm, and joints are linear by half.
    np.testing.assert_allclose(np.degrees(np.arccos(cosines)), 170.0 * places[ring], atol=8.0)


def test_demo_twice_and_undone_by_deleting() -> None:
    assert addon.ops.demo() == {"FINISHED"}
    assert addon.ops.demo() == {"FINISHED"}
    bpy.ops.object.select_all(action="DESELECT")
    for item in list(current_scene().objects):
        bpy.data.objects.remove(item)
    bpy.ops.outliner.orphans_purge(do_recursive=True)
    assert [item.name for item in bpy.data.objects] == []
