# SPDX-License-Identifier: GPL-3.0-or-later
"""Every operator that changes data is one step of undo, after which a bound mesh is again what it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import addon
import bpy
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, deformed, error
from objects import MeshObject, armature_named, current_layer, mesh_named, mesh_objects

# Each with its options, on a bound mesh in Object Mode.
OPERATORS: dict[str, dict[str, Any]] = {
    "assign_from_capsules": {},
    "fit_capsules": {},
    "smooth_weights": {"iterations": 5},
    "spherical_weights": {},
    "mirror_weights": {"axis": "X"},
    "heat_weights": {},
    "check_weights": {"limit": 1},
    "transfer_weights": {},
    "unbind": {},
    "rebind": {},
    "make_portable": {},
    "subdivide_near_bones": {},
    "drag_vertex": {"vertex": 323, "offset": (0.1, 0.1, 0.1), "radius": 0.4},
}


def run(name: str, **options: Any) -> None:
    """Run an operator with an undo step, as from a menu."""
    assert getattr(addon.ops, name)("EXEC_DEFAULT", True, **options) == {"FINISHED"}
    current_layer().update()


def tube() -> MeshObject:
    return mesh_named("Tube")


def state() -> dict[str, Any]:
    """What the operators may change."""
    armature = armature_named("Rig")
    return {
        "weights": {
            item.name: [
                sorted((item.vertex_groups[entry.group].name, entry.weight) for entry in vertex.groups)
                for vertex in item.data.vertices
            ]
            for item in mesh_objects(bpy.data.objects)
            if item.name in ("Tube", "Other")
        },
        "radii": [(bone.head_radius, bone.tail_radius, bone.envelope_distance) for bone in armature.data.bones],
        "modifiers": [(modifier.name, modifier.type, modifier.show_viewport) for modifier in tube().modifiers],
        "groups": sorted(tree.name for tree in bpy.data.node_groups),
        "selected": [vertex.select for vertex in tube().data.vertices],
        "bound": tube().sbs.bound,
        "settings": (tube().sbs.preset, tube().sbs.twist_across),
    }


def assert_deformed() -> None:
    wanted = deformed(tube(), armature_named("Rig"))
    assert error(rigs.evaluated(tube()), wanted) < TOLERANCE
    assert error(rigs.positions(tube().data), wanted) > 0.01


@pytest.fixture
def character() -> None:
    """A bound tube, another mesh to transfer weights to, and an undo step."""
    armature, item = rigs.make_armature(), rigs.make_tube()
    # One side is heavier, for the mirror.
    item.vertex_groups["B1"].add([i for i, v in enumerate(item.data.vertices) if v.co.x > 0.1], 0.2, "ADD")
    other = rigs.make_tube(rows=11, name="Other")
    other.vertex_groups.clear()
    rigs.bind(item, armature)
    rigs.turn(armature)
    rigs.select([item, other])
    rigs.select_bones(armature, "B1")
    for part in (item.data.vertices, item.data.polygons):  # Blender 5.0 crashes where edges are set
        part.foreach_set("select", np.zeros(len(part), bool))
    current_layer().update()
    bpy.ops.ed.undo_push(message="Start")


@pytest.mark.usefixtures("character")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.blender(since=(5, 1)) if name == "make_portable" else ())
        for name in OPERATORS
    ],
)
def test_undo_and_redo(name: str) -> None:
    if name != "transfer_weights":
        bpy.data.objects["Other"].select_set(False)
        bpy.ops.ed.undo_push(message="Start of one")
    before = state()
    assert_deformed()
    run(name, **OPERATORS[name])
    after = state()
    shape = rigs.evaluated(tube())
    if name != "rebind":
        assert after != before, "the operator must change something"
    bpy.ops.ed.undo()
    assert state() == before
    assert_deformed()
    bpy.ops.ed.redo()
    assert state() == after
    assert error(rigs.evaluated(tube()), shape) < TOLERANCE


@pytest.mark.usefixtures("character")
def test_capsules_from_a_file(tmp_path: Path) -> None:
    path = str(tmp_path / "capsules.json")
    assert addon.ops.export_capsules(filepath=path) == {"FINISHED"}
    for bone in armature_named("Rig").data.bones:
        bone.envelope_distance *= 2.0
    bpy.ops.ed.undo_push(message="Twice as wide")
    before = state()
    run("import_capsules", filepath=path)
    after = state()
    distances = [np.array(moment["radii"])[:, 2] for moment in (before, after)]
    assert np.allclose(distances[0], 2.0 * distances[1])
    bpy.ops.ed.undo()
    assert state() == before
    bpy.ops.ed.redo()
    assert state() == after


@pytest.mark.usefixtures("character")
def test_several_steps() -> None:
    states = [state()]
    for name in ("smooth_weights", "assign_from_capsules", "mirror_weights", "unbind"):
        run(name)
        states.append(state())
    for wanted in reversed(states[:-1]):
        bpy.ops.ed.undo()
        assert state() == wanted
        assert_deformed()
    for wanted in states[1:-1]:
        bpy.ops.ed.redo()
        assert state() == wanted
        assert_deformed()
