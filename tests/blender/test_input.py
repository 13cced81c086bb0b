# SPDX-License-Identifier: GPL-3.0-or-later
"""Input of the modifier: shape keys and modifiers before it; and modifiers after it."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, deformed, error
from objects import ArmatureObject, MeshObject, current_layer, current_scene, mesh_object


@pytest.fixture
def tube() -> MeshObject:
    return rigs.make_tube()


@pytest.fixture
def armature() -> ArmatureObject:
    return rigs.make_armature()


def input_mesh(item: MeshObject) -> bpy.types.Mesh:
    """The mesh that comes to the first of our and all later modifiers, which are off meanwhile."""
    names = [modifier.name for modifier in item.modifiers]
    start = next(i for i, modifier in enumerate(item.modifiers) if modifier.type == "NODES")
    shown = {name: item.modifiers[name].show_viewport for name in names[start:]}
    for name in shown:
        item.modifiers[name].show_viewport = False
    depsgraph = bpy.context.evaluated_depsgraph_get()
    mesh = bpy.data.meshes.new_from_object(
        item.evaluated_get(depsgraph), preserve_all_data_layers=True, depsgraph=depsgraph
    )
    for name, value in shown.items():
        item.modifiers[name].show_viewport = value
    return mesh


def assert_right(tube: MeshObject, armature: ArmatureObject) -> None:
    mesh = input_mesh(tube)
    found = rigs.evaluated(tube)
    wanted = deformed(tube, armature, mesh=mesh)
    assert error(found, wanted) < TOLERANCE
    assert error(rigs.positions(mesh), wanted) > 0.01, "the pose must move the mesh"


def add_shape_key(tube: MeshObject) -> Any:
    return rigs.add_shape(tube, (1.5, 1.4, 1.0), 0.0)


def test_animated_shape_key(tube: MeshObject, armature: ArmatureObject) -> None:
    key = add_shape_key(tube)
    for frame, value in ((1, 0.0), (20, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    rigs.bind(tube, armature)
    rigs.animate(armature)
    for frame in (2, 9, 10, 20, 5):
        current_scene().frame_set(frame)
        found = rigs.evaluated(tube)
        assert error(found, deformed(tube, armature, mesh=input_mesh(tube))) < TOLERANCE


def test_vertices_that_move_bind_nothing_anew(tube: MeshObject, armature: ArmatureObject) -> None:
    key = add_shape_key(tube)
    rigs.bind(tube, armature)
    tube.sbs.amount = 0.5
    rigs.animate(armature)
    for frame, value in ((1, 0.0), (20, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    current_scene().frame_set(1)
    state = rigs.state_of(tube)
    skin, amount = state.binding.skin, state.amounts.amount
    for frame in (9, 14, 20):
        current_scene().frame_set(frame)
        found = rigs.evaluated(tube)
        assert error(found, deformed(tube, armature, mesh=input_mesh(tube), amount=0.5)) < TOLERANCE
        assert error(found, deformed(tube, armature, amount=0.5)) > 0.01, "the key must move the mesh"
        assert rigs.state_of(tube).binding.skin is skin
        assert rigs.state_of(tube).amounts.amount is amount


def test_lattice_before(tube: MeshObject, armature: ArmatureObject) -> None:
    data = bpy.data.lattices.new("Lattice")
    lattice = bpy.data.objects.new("Lattice", data)
    current_scene().collection.objects.link(lattice)
    lattice.scale = (4.0, 4.0, 10.0)
    tube.modifiers.new("Lattice", "LATTICE").object = lattice
    rigs.bind(tube, armature)
    rigs.turn(armature)
    data.points[0].co_deform = (-1.0, -1.0, -0.2)
    assert_right(tube, armature)
    lattice.scale = (3.0, 4.0, 8.0)
    assert_right(tube, armature)


@pytest.mark.parametrize(
    ("kind", "setting", "value"),
    [("MIRROR", "use_axis", (False, True, False)), ("SUBSURF", "levels", 2), ("SOLIDIFY", "thickness", 0.2)],
)
def test_other_vertices_before(
    tube: MeshObject, armature: ArmatureObject, kind: str, setting: str, value: object
) -> None:
    """A modifier that is put before ours takes effect at once, in one update."""
    rigs.bind(tube, armature)
    rigs.turn(armature)
    assert_right(tube, armature)
    modifier = tube.modifiers.new("Before", kind)
    rigs.put_first(tube, modifier)
    assert_right(tube, armature)
    assert not rigs.state_of(tube).problem
    setattr(modifier, setting, value)
    assert_right(tube, armature)
    modifier.show_viewport = False
    assert_right(tube, armature)
    tube.modifiers.remove(modifier)
    assert_right(tube, armature)


def test_as_many_other_vertices_in_each_frame(tube: MeshObject, armature: ArmatureObject) -> None:
    """Which vertices Decimate leaves depends on where they are; so the weights of those left do."""
    key = add_shape_key(tube)
    random = np.random.default_rng(1)
    key.data.foreach_set("co", (rigs.positions(tube.data) + random.normal(scale=0.03, size=(656, 3))).ravel())
    tube.modifiers.new("Decimate", "DECIMATE").ratio = 0.5
    rigs.bind(tube, armature)
    rigs.turn(armature)
    for frame, value in ((1, 0.0), (10, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    counts = []
    for frame in (1, 4, 7, 10, 5):
        current_scene().frame_set(frame)
        # Before anything is asked: switching modifiers off has all read anew.
        found = rigs.evaluated(tube)
        assert error(found, deformed(tube, armature, mesh=input_mesh(tube))) < TOLERANCE
        counts.append(len(found))
    assert len(set(counts)) < len(counts), "else their number would tell"


def test_modifiers_after(tube: MeshObject, armature: ArmatureObject) -> None:
    rigs.bind(tube, armature)
    tube.modifiers.new("Subdivision", "SUBSURF")
    rigs.turn(armature)
    twin = bpy.data.meshes.new("Twin")
    twin.from_pydata(deformed(tube, armature).tolist(), [], [list(face.vertices) for face in tube.data.polygons])
    other = mesh_object(bpy.data.objects.new("Twin", twin))
    current_scene().collection.objects.link(other)
    other.modifiers.new("Subdivision", "SUBSURF")
    assert error(rigs.evaluated(tube), rigs.evaluated(other)) < TOLERANCE


@pytest.mark.parametrize(
    ("kind", "settings"), [("SUBSURF", {"levels": 1}), ("SOLIDIFY", {}), ("MIRROR", {"use_axis": (False, False, True)})]
)
def test_shape_key_before_and_other_vertices_after(
    tube: MeshObject, armature: ArmatureObject, kind: str, settings: dict[str, Any]
) -> None:
    key = add_shape_key(tube)
    rigs.bind(tube, armature)
    after = tube.modifiers.new("After", kind)
    for name, value in settings.items():
        setattr(after, name, value)
    rigs.turn(armature)
    key.value = 0.8
    with_after = rigs.evaluated(tube)
    after.show_viewport = False
    assert_right(tube, armature)
    after.show_viewport = True
    assert error(rigs.evaluated(tube), with_after) == 0.0


def test_limit(tube: MeshObject, armature: ArmatureObject) -> None:
    rigs.bind(tube, armature)
    rigs.turn(armature)
    all_of_them = rigs.evaluated(tube)
    tube.sbs.influence_limit = 2
    found = rigs.evaluated(tube)
    assert error(found, deformed(tube, armature, limit=2)) < TOLERANCE
    assert error(found, all_of_them) > 1e-3


def test_unweighted_vertices_stay(tube: MeshObject, armature: ArmatureObject) -> None:
    for group in tube.vertex_groups:
        group.remove(list(range(50)))
    rigs.bind(tube, armature)
    rigs.turn(armature)
    armature.location.x = 3.0
    assert_right(tube, armature)
    assert np.abs(rigs.evaluated(tube)[:50] - rigs.positions(tube.data)[:50]).max() < TOLERANCE


def test_edit_mode(tube: MeshObject, armature: ArmatureObject) -> None:
    rigs.bind(tube, armature)
    rigs.turn(armature)
    assert_right(tube, armature)
    with rigs.editing(tube):
        bpy.ops.mesh.select_all(action="SELECT")
        rigs.turn(armature, seed=5)
        current_layer().update()
        extrude: Any = bpy.ops.mesh.extrude_region_move
        extrude(TRANSFORM_OT_translate={"value": (0.1, 0.0, 0.0)})
        current_layer().update()
    assert_right(tube, armature)


def test_edit_mode_of_the_armature(tube: MeshObject, armature: ArmatureObject) -> None:
    rigs.bind(tube, armature)
    rigs.turn(armature)
    with rigs.editing(armature):
        current_layer().update()
        armature.data.edit_bones["B2"].tail.x += 0.3
        bone = armature.data.edit_bones.new("Extra")
        bone.tail = (0.0, 0.0, -1.0)
    assert_right(tube, armature)


def test_weight_paint(tube: MeshObject, armature: ArmatureObject) -> None:
    rigs.bind(tube, armature)
    rigs.turn(armature)
    assert_right(tube, armature)
    modifier = tube.modifiers["Armature"]
    assert not modifier.show_viewport
    rigs.select([tube])
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    current_layer().update()
    assert modifier.show_viewport
    tube.vertex_groups["B1"].add(list(range(200, 300)), 0.9, "REPLACE")
    tube.data.update()
    assert_right(tube, armature)
    bpy.ops.object.mode_set(mode="OBJECT")
    current_layer().update()
    assert not modifier.show_viewport
    assert_right(tube, armature)


def test_selecting_and_switching_mode_bind_nothing_anew(tube: MeshObject, armature: ArmatureObject) -> None:
    rigs.bind(tube, armature)
    rigs.turn(armature)
    assert_right(tube, armature)
    binding = rigs.state_of(tube).binding
    for mode in ("WEIGHT_PAINT", "OBJECT", "EDIT", "OBJECT"):
        rigs.select([tube])
        bpy.ops.object.mode_set(mode=mode)
        current_layer().update()
    rigs.select([armature])
    current_layer().update()
    rigs.turn(armature, seed=4)
    assert_right(tube, armature)
    assert rigs.state_of(tube).binding is binding
