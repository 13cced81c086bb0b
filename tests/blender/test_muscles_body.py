# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscles of a human body: fitted by the names of bones, and demonstrated."""

from __future__ import annotations

import math

import addon
import bpy
import numpy as np
import pytest
import rigify_human
import rigs
from mathutils import Quaternion, Vector
from muscled import list_of, muscle_of, state, without
from objects import ArmatureObject, Character, armature_object, current_layer, current_scene, mesh_named


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
    assert list(state(mesh).muscles.problems.values()) == [
        "It has no insertion: choose an object that is a child of a bone"
    ]
    assert addon.ops.fit_muscles("EXEC_DEFAULT", True) == {"FINISHED"}
    assert not state(mesh).muscles.problems
    assert len(bpy.data.objects) == objects and len(armature.sbs.muscles) == 18
    np.testing.assert_allclose(rigs.evaluated(mesh), wanted, atol=1e-5)
    bpy.ops.ed.undo()
    mesh = mesh_named(mesh_name)
    assert len(state(mesh).muscles.problems) == 1
    bpy.ops.ed.undo()
    mesh = mesh_named(mesh_name)
    assert not state(mesh).muscles.problems and len(state(mesh).muscles.cover.shapes) == 18
    np.testing.assert_allclose(rigs.evaluated(mesh), wanted, atol=1e-5)


@pytest.fixture
def rigify() -> ArmatureObject:
    return rigify_human.generate()


def test_a_rig_of_rigify(rigify: ArmatureObject) -> None:
    """Points of muscles move with its bones that deform, not with its controls, by which it is posed."""
    body = rigify_human.flesh(rigify)
    rigs.select([rigify, body])
    assert bpy.ops.object.parent_set(type="ARMATURE_AUTO") == {"FINISHED"}
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
    armature, tube = rigs.make_armature(), rigs.make_tube()
    rigs.bind(tube, armature)
    with pytest.raises(RuntimeError, match="no joint is known as 'hips', 'chest', 'neck'"):
        addon.ops.fit_muscles()
    assert not len(armature.sbs.muscles)


def test_demo() -> None:
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
