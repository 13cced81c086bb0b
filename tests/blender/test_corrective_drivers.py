# SPDX-License-Identifier: GPL-3.0-or-later
"""Drivers of correctives have the weights of the library, for bones along their limbs and across them."""

from __future__ import annotations

from typing import Any

import addon
import bpy
import limbs
import numpy as np
import pytest
import rigs
from expected import Floats, error, in_world
from mathutils import Quaternion, Vector
from objects import ArmatureObject, Character, MeshObject, current_layer


def correctives() -> Any:
    return addon.module("engine.correctives.correctives")


def lay_across(armature: ArmatureObject, tail: tuple[float, float, float] = (0.2, 0.1, 0.03)) -> None:
    """Bones lie across the limb, as those of FBX by its default import: the next one begins beside their tail."""
    with rigs.editing(armature):
        for bone in armature.data.edit_bones:
            bone.use_connect = False
        for bone in armature.data.edit_bones:
            bone.tail = bone.head + Vector(tail)


def make(*, across: bool) -> Character:
    armature, tube = rigs.make_armature(), rigs.make_tube(rows=9)
    if across:
        lay_across(armature)
    rigs.bind(tube, armature)
    current_layer().update()
    return tube, armature


def turn(armature: ArmatureObject, rotation: Quaternion, bone: str = "B2") -> None:
    armature.pose.bones[bone].rotation_mode = "QUATERNION"
    armature.pose.bones[bone].rotation_quaternion = rotation
    current_layer().update()


def of_vector(vector: Floats) -> Quaternion:
    return Quaternion(Vector(vector.tolist()), float(np.linalg.norm(vector)))


def put(tube: MeshObject, armature: ArmatureObject, swing: Floats, bone: str = "B2") -> Any:
    deltas = np.zeros((len(tube.data.vertices), 3))
    return correctives().put(tube, armature, bone, tuple(swing.tolist()), "key", deltas)


def sculpt(tube: MeshObject) -> None:
    rigs.select([tube])
    assert addon.ops.sculpt_corrective() == {"FINISHED"}
    surface: Any = bpy.context.object
    bpy.ops.object.mode_set(mode="OBJECT")
    surface.data.vertices[len(surface.data.vertices) // 2].co.z += 0.1
    assert addon.ops.accept_corrective() == {"FINISHED"}
    current_layer().update()


def values(tube: MeshObject) -> list[float]:
    keys: Any = tube.data.shape_keys.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return [key.value for key in keys.key_blocks[1:]]


def library_weights(armature: ArmatureObject, swings: list[Floats], bone: str = "B2") -> Floats:
    """Of the poses with these swings, vectors in the axes of the bone, in the present pose."""
    sbs: Any = addon.module("core.library").load("correctives")
    skeleton = addon.module("interface.character").from_rig(armature).skeleton
    made = sbs.Correctives(skeleton)
    turned = np.array(armature.data.bones[bone].matrix_local.to_3x3())
    for number, swing in enumerate(swings):
        made.add_shape((np.array([0]), np.ones((1, 3))), [turned @ swing], joints=[bone], name=str(number))
    pose = addon.module("correctives.drafting")._pose(armature, current_layer())
    found: Floats = made.weights(pose)
    return found


@pytest.mark.parametrize("across", [False, True], ids=["along", "across"])
@pytest.mark.parametrize("count", [1, 2, 3, 5, 12])
def test_weights_are_those_of_the_library(count: int, across: bool) -> None:
    """At random rotations, at poses and at rest, of random poses, some of them near each other."""
    tube, armature = make(across=across)
    random = np.random.default_rng(count)
    made = [put(tube, armature, of_random(random))]
    while len(made) < count:
        near = np.array(made[-1].swing) + 0.3 * random.standard_normal(3)
        made.append(put(tube, armature, near if len(made) % 2 else of_random(random)))
    swings = [np.array(each.swing) for each in correctives().find(tube)]
    assert len(swings) == count
    for swing in [*swings, np.zeros(3), *(of_random(random) for _ in range(12))]:
        twist = Quaternion(made[0].axis, random.uniform(-1.0, 1.0))
        turn(armature, of_vector(swing) @ twist)
        np.testing.assert_allclose(values(tube), library_weights(armature, swings), atol=2e-5)
    for curve in tube.data.animation_data.drivers:
        assert curve.driver.is_simple_expression and curve.driver.is_valid and len(curve.driver.expression) < 256


def of_random(random: np.random.Generator) -> Floats:
    vector = random.standard_normal(3)
    return np.asarray(vector * random.uniform(0.3, 2.5) / np.linalg.norm(vector))


def test_both_ways_and_many() -> None:
    """Poses on opposite sides, in several directions, up to the most that a bone drives."""
    tube, armature = make(across=False)
    angles = np.radians([45.0, 90.0, 130.0, 150.0])
    for direction in ([1, 0, 0], [-1, 0, 0], [0, 0, 1], [0, 0, -1]):
        for angle in angles:
            put(tube, armature, angle * np.array(direction, float))
    swings = [np.array(each.swing) for each in correctives().find(tube)]
    for swing in [*swings, *(of_random(np.random.default_rng(seed)) for seed in range(10))]:
        turn(armature, of_vector(swing))
        np.testing.assert_allclose(values(tube), library_weights(armature, swings), atol=2e-5)
    for curve in tube.data.animation_data.drivers:
        assert curve.driver.is_simple_expression and curve.driver.is_valid and len(curve.driver.expression) < 256
    with pytest.raises(ValueError, match="16 correctives"):
        put(tube, armature, np.array([1.0, 0.0, 1.0]))


def test_a_limb_whose_bones_lie_across() -> None:
    """A bend about the y axis of a bone is a swing of the limb; about the limb it is none."""
    armature, tube = rigs.make_armature(), rigs.make_tube(rows=33)
    lay_across(armature, (0.3, 0.0, 0.0))
    rigs.bind(tube, armature)
    turn(armature, Quaternion((0.0, 1.0, 0.0), 1.5))
    sculpt(tube)
    (made,) = correctives().find(tube)
    assert made.bone == "B2" and round(made.degrees) == 86
    np.testing.assert_allclose(values(tube), [1.0], atol=1e-6)
    turn(armature, Quaternion(made.axis, 1.5))
    np.testing.assert_allclose(values(tube), [0.0], atol=1e-6)
    assert addon.ops.go_to_corrective(number=made.number) == {"FINISHED"}
    current_layer().update()
    np.testing.assert_allclose(values(tube), [1.0], atol=1e-6)


def test_drafted_across() -> None:
    tube, armature = limbs.make(rows=33)
    lay_across(armature, (0.3, 0.0, 0.0))
    rigs.bind(tube, armature)
    turn(armature, Quaternion((0.0, 1.0, 0.0), np.radians(90.0)), "ForeArm")
    rigs.select([armature])
    assert addon.ops.draft_correctives() == {"FINISHED"}
    current_layer().update()
    names = [key.name for key in tube.data.shape_keys.key_blocks[1:]]
    assert names == ["ForeArm 45", "ForeArm 90", "ForeArm 130"]
    np.testing.assert_allclose(values(tube), [0.0, 1.0, 0.0], atol=1e-4)


def test_refused_drafts_are_told_with_their_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not each is too near a pose that has a corrective."""
    tube, armature = limbs.make(rows=33)
    rigs.bind(tube, armature)
    turn(armature, Quaternion((1.0, 0.0, 0.0), np.radians(90.0)), "ForeArm")
    put(tube, armature, np.array([np.radians(45.0), 0.0, 0.0]), "ForeArm")
    drafting, add = addon.module("correctives.drafting"), correctives().add

    def add_some(item: Any, armature: Any, bone: str, name: str, *others: Any) -> Any:
        if name == "ForeArm 130":
            raise ValueError("Something else")
        return add(item, armature, bone, name, *others)

    monkeypatch.setattr(correctives(), "add", add_some)
    made = drafting.draft(armature, current_layer(), lambda _share: None)
    assert made.keys == 1
    assert made.left.pop("Something else") == ["ForeArm 130"]
    ((reason, names),) = made.left.items()
    assert "this pose" in reason and names == ["ForeArm 45"]


def with_former_drivers(tube: MeshObject, armature: ArmatureObject) -> None:
    """Make the one corrective of a mesh as earlier versions had it: its swing against the bone, and one expression."""
    keys: Any = tube.data.shape_keys
    record = keys["sbs_correctives"]["1"]
    x, _, z = record["swing"]
    del record["axis"]
    record["swing"] = (x, z)
    mesh: Any = tube.data
    for curve in list(mesh.animation_data.drivers):
        name = curve.data_path[2:-2]
        mesh.driver_remove(curve.data_path)
        del mesh[name]
    mesh["sbs_corrective_1"] = 0.0
    driver = mesh.driver_add('["sbs_corrective_1"]').driver
    variable = driver.variables.new()
    variable.name, variable.type = "a", "TRANSFORMS"
    target = variable.targets[0]
    target.id, target.bone_target = armature, "B2"
    target.transform_type, target.rotation_mode, target.transform_space = "ROT_W", "SWING_TWIST_Y", "LOCAL_SPACE"
    driver.expression = "min(a,1.5)"
    driver = keys.key_blocks[1].driver_add("value").driver
    while driver.variables:
        driver.variables.remove(driver.variables[0])
    variable = driver.variables.new()
    variable.name, variable.type = "f0", "SINGLE_PROP"
    variable.targets[0].id_type, variable.targets[0].id = "MESH", mesh
    variable.targets[0].data_path = '["sbs_corrective_1"]'
    driver.expression = "+0.6666667*f0"


def test_drivers_of_earlier_versions_go_on_working() -> None:
    """They are found, and exact in their pose; with another corrective of the bone they get the present formula."""
    tube, armature = make(across=False)
    put(tube, armature, np.array([1.5, 0.0, 0.0]))
    with_former_drivers(tube, armature)
    turn(armature, Quaternion((1.0, 0.0, 0.0), 1.5))
    (former,) = correctives().find(tube)
    assert former.bone == "B2" and former.swing == pytest.approx((1.5, 0.0, 0.0))
    np.testing.assert_allclose(values(tube), [1.0], atol=1e-6)
    put(tube, armature, np.array([0.7, 0.0, 0.3]))
    current_layer().update()
    np.testing.assert_allclose(values(tube), [1.0, 0.0], atol=1e-6)
    turn(armature, Quaternion((1.0, 0.0, 0.0), 1.0))
    swings = [np.array(each.swing) for each in correctives().find(tube)]
    np.testing.assert_allclose(values(tube), library_weights(armature, swings), atol=2e-5)


def test_solving_again_brings_the_present_formula() -> None:
    tube, armature = make(across=False)
    turn(armature, Quaternion((1.0, 0.0, 0.0), 1.5))
    sculpt(tube)
    wanted = in_world(tube)
    with_former_drivers(tube, armature)
    assert addon.ops.solve_correctives() == {"FINISHED"}
    assert len(tube.data.animation_data.drivers) == 3
    assert error(in_world(tube), wanted) < 1.6e-6
    turn(armature, Quaternion((1.0, 0.0, 0.0), 1.0))
    np.testing.assert_allclose(values(tube), library_weights(armature, [np.array([1.5, 0.0, 0.0])]), atol=2e-5)
