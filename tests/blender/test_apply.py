# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply Location, Rotation and Scale: in world space a mesh looks as it did before."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, Floats, error, in_world
from mathutils import Euler, Vector
from muscled import assert_right, bend, make_character, muscle_of
from objects import ArmatureObject, Character, MeshObject, armature_named, current_layer, mesh_named

WHICH = {"rig": ["Rig"], "mesh": ["Tube"], "both": ["Rig", "Tube"], "both, mesh first": ["Tube", "Rig"]}


@pytest.fixture
def character() -> Character:
    """One with a muscle, a handle of which was moved by hand, at a place of its own, the mesh at another."""
    tube, armature = make_character()
    muscle_of(armature, 0).via.location.x += 0.05
    tube.parent = armature
    armature.location, armature.rotation_euler = Vector((1.0, 2.0, 3.0)), Euler((0.3, 0.2, 0.5))
    armature.scale = Vector((2.5, 2.5, 2.5))
    tube.location, tube.rotation_euler = Vector((0.1, 0.0, -0.1)), Euler((0.0, 0.1, 0.2))
    tube.scale = Vector((0.9, 0.9, 0.9))
    current_layer().update()
    return tube, armature


def apply(names: list[str], **what: bool) -> None:
    rigs.select([bpy.data.objects[name] for name in names])
    options = {"location": False, "rotation": False, "scale": False, **what}
    assert bpy.ops.object.transform_apply("EXEC_DEFAULT", True, **options) == {"FINISHED"}
    current_layer().update()


def bare(tube: MeshObject) -> Floats:
    tube.sbs.use_muscles = False
    found = in_world(tube)
    tube.sbs.use_muscles = True
    return found


@pytest.mark.parametrize("which", WHICH)
@pytest.mark.parametrize("what", ["location", "rotation", "scale", "all"])
def test_muscles(character: Character, which: str, what: str) -> None:
    tube, armature = character
    poses = (70.0, 30.0)
    wanted = []
    for degrees in poses:
        bend(armature, degrees)
        wanted.append(in_world(tube))
    assert error(bare(tube), wanted[-1]) > 1e-3, "the muscle has an effect"
    wholes = ("location", "rotation", "scale")
    apply(WHICH[which], **dict.fromkeys(wholes if what == "all" else (what,), True))
    for degrees, shape in zip(poses, wanted, strict=True):
        bend(armature, degrees)
        assert error(in_world(tube), shape) < TOLERANCE
    # A second time there is nothing to do.
    apply(WHICH[which], scale=True)
    assert error(in_world(tube), wanted[-1]) < TOLERANCE


def handles(armature: ArmatureObject) -> Floats:
    current_layer().update()
    muscle = muscle_of(armature, 0)
    return np.array([handle.matrix_world.translation for handle in (muscle.origin, muscle.via, muscle.insertion)])


def test_handles_and_belly_stay(character: Character) -> None:
    _tube, armature = character
    belly = muscle_of(armature, 0).belly
    places, shape = handles(armature), in_world(belly)
    apply(["Rig"], scale=True)
    np.testing.assert_allclose(handles(armature), places, atol=1e-5)
    assert error(in_world(belly), shape) < TOLERANCE
    muscle_of(armature, 0).via.location.x += 0.02
    moved = handles(armature)
    armature.scale = Vector((0.5, 0.5, 0.5))
    apply(["Rig"], scale=True)
    np.testing.assert_allclose(
        handles(armature)[1] - armature.location, 0.5 * (moved[1] - armature.location), atol=1e-5
    )


def add_bones(armature: ArmatureObject, *ends: tuple[float, float, float]) -> None:
    """More bones, from the head of the third one to these places, one after another."""
    with rigs.editing(armature):
        head = (0.0, 0.0, 2.0)
        for end in ends:
            bone = armature.data.edit_bones.new("Side")
            bone.head, bone.tail = head, end
            head = end


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.4), (1.3, 0.8, 1.0), (-1.0, 1.0, 1.0)])
@pytest.mark.parametrize("which", WHICH)
def test_scales_that_differ(character: Character, which: str, scale: tuple[float, float, float]) -> None:
    """Bones become longer by different factors, and turn; handles stay where they were at rest."""
    tube, armature = character
    add_bones(armature, (1.0, 0.0, 2.0), (0.0, 1.0, 2.5))
    bend(armature, 0.0)
    # Blender has no shears: a mesh that is turned has another shape once the scale of its parent is applied.
    tube.rotation_euler = Euler()
    armature.scale = Vector(scale)
    places, shape, radius = handles(armature), in_world(tube), muscle_of(armature, 0).radius
    apply(WHICH[which], scale=True)
    np.testing.assert_allclose(handles(armature), places, atol=1e-5)
    assert error(in_world(tube), shape) < TOLERANCE
    if armature.scale == Vector((1.0, 1.0, 1.0)):
        assert muscle_of(armature, 0).radius == pytest.approx(abs(np.prod(scale)) ** (1 / 3) * radius, rel=1e-5)
    bend(armature)
    assert_right(tube, armature)


def test_large_scale_of_a_short_bone(character: Character) -> None:
    """As in files from elsewhere: its length, of float32 ends far away, becomes longer by more or less than others'."""
    tube, armature = character
    add_bones(armature, (10.0, 10.0, 10.0), (10.0, 10.0, 10.003))
    origin = muscle_of(armature, 0).origin
    place = origin.matrix_world.copy()
    origin.parent_bone = armature.data.bones[-1].name
    current_layer().update()
    origin.matrix_world = place
    armature.scale = Vector((137.0, 137.0, 137.0))
    wanted = in_world(tube)
    apply(["Rig", "Tube"], scale=True)
    assert error(in_world(tube), wanted) < TOLERANCE


def test_undo_and_redo(character: Character) -> None:
    tube, armature = character
    wanted, radius = in_world(tube), muscle_of(armature, 0).radius
    bpy.ops.ed.undo_push(message="Start")
    apply(["Rig", "Tube"], scale=True)
    for _ in range(2):
        armature = armature_named("Rig")
        assert error(in_world(mesh_named("Tube")), wanted) < TOLERANCE
        assert muscle_of(armature, 0).radius == pytest.approx(2.5 * radius, rel=1e-6)
        bpy.ops.ed.undo()
        armature = armature_named("Rig")
        assert error(in_world(mesh_named("Tube")), wanted) < TOLERANCE
        assert muscle_of(armature, 0).radius == pytest.approx(radius, rel=1e-6)
        bpy.ops.ed.redo()
    assert error(in_world(mesh_named("Tube")), wanted) < TOLERANCE


def test_one_bone_made_longer(character: Character) -> None:
    """That is an edit of the bone: handles are its children, and radii stay."""
    _tube, armature = character
    radius, via = muscle_of(armature, 0).radius, muscle_of(armature, 0).via.location.copy()
    with rigs.editing(armature):
        armature.data.edit_bones["B3"].tail.z += 1.0
        armature.data.edit_bones["B2"].tail.z += 0.5
    current_layer().update()
    assert muscle_of(armature, 0).radius == radius and muscle_of(armature, 0).via.location == via


@pytest.mark.parametrize("factor", [2.5, 0.4])
def test_zones(factor: float) -> None:
    tube, armature = rigs.make_bound()
    tube.sbs.method = "BONES_BLENDING"
    zones = {"B1": (-0.3, 0.1), "B2": (0.2, 0.9), "B3": (-0.9, -0.2)}
    for name, (start, end) in zones.items():
        bone = armature.data.bones[name].sbs
        bone.t_max = 2.0
        bone.t_min, bone.t_max = start, end
        bone.own_zone = True
    tube.parent = armature
    armature.scale = Vector((factor, factor, factor))
    rigs.turn(armature)
    wanted = in_world(tube)
    apply(["Rig", "Tube"], scale=True)
    assert error(in_world(tube), wanted) < TOLERANCE
    for name, zone in zones.items():
        bone = armature.data.bones[name].sbs
        assert (bone.t_min, bone.t_max) == pytest.approx(tuple(factor * end for end in zone), rel=1e-6)


def test_no_custom_properties(character: Character) -> None:
    _tube, armature = character
    armature.data.bones["B1"].sbs.own_zone = True
    apply(["Rig", "Tube"], scale=True)
    armature.data.bones["B1"].sbs.own_zone = False
    current_layer().update()
    # Up to Blender 4.5, groups of settings are among them.
    assert {*armature.keys(), *armature.data.keys()} <= {"sbs"}


@pytest.mark.parametrize("center", ["JOINT_SET", "WEIGHTED", "OPTIMIZED"])
def test_centers_and_twists(center: str) -> None:
    armature, tube = rigs.make_armature(), rigs.make_tube(rows=21)
    rigs.bind(tube, armature, center=center)
    tube.sbs.spread_twist = True
    tube.parent = armature
    armature.scale = Vector((2.0, 2.0, 2.0))
    rigs.turn(armature)
    wanted = in_world(tube)
    apply(["Rig", "Tube"], scale=True)
    assert error(in_world(tube), wanted) < TOLERANCE
    assert rigs.state_of(tube).problem == ""
