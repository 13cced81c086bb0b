# SPDX-License-Identifier: GPL-3.0-or-later
"""Optimized centers: the default of newly bound meshes, kept in files, found anew beside an artist's work."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import addon
import bpy
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, assert_right, error, kept_centers
from objects import ArmatureObject, Character, MeshObject, armature_named, current_layer, mesh_named, new_mesh

# The package that the add-on itself uses, which in a built archive may be its own.
sbs = addon.module("core.library").load()


@pytest.fixture
def character() -> Character:
    """A tube of triangles and quadrilaterals, and its posed armature; it is not bound."""
    armature, tube = rigs.make_armature(), rigs.make_tube()
    rigs.turn(armature)
    return tube, armature


@pytest.fixture
def at_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where an artist is at work: nobody waits for centers."""
    monkeypatch.setattr(addon.module("engine.live.live"), "must_not_wait", lambda _depsgraph: False)
    monkeypatch.setattr(addon.module("engine.live.centers"), "PAUSE", 0.05)


def centers_of(tube: MeshObject) -> np.ndarray:
    found = kept_centers(tube)
    assert found is not None
    return found


def wanted_centers(tube: MeshObject) -> np.ndarray:
    weights = rigs.weights(tube)
    everyone = np.broadcast_to(np.arange(4), weights.shape)
    found: np.ndarray = sbs.optimized_centers(
        rigs.positions(tube.data), rigs.triangles(tube.data), everyone, weights.astype(np.float64)
    )
    return found


def wait_for_centers() -> None:
    """As Blender's timer does, look until all centers are found; a window would then be drawn."""
    deadline = time.monotonic() + 60.0
    while addon.module("engine.handlers").look_for_centers() is not None:
        assert time.monotonic() < deadline, "the search does not end"
        time.sleep(0.01)
    current_layer().update()


def paint(tube: MeshObject, first: int = 200) -> None:
    tube.vertex_groups["B1"].add(list(range(first, first + 200)), 0.9, "REPLACE")
    tube.data.update()
    current_layer().update()


def assert_optimized(tube: MeshObject, armature: ArmatureObject) -> None:
    """The mesh turns about the centers of its weights as they are."""
    current_layer().update()
    np.testing.assert_allclose(centers_of(tube), wanted_centers(tube), atol=1e-6)
    assert_right(tube, armature, center="optimized", centers=wanted_centers(tube))


def test_are_the_default_of_what_is_bound_anew(character: Character) -> None:
    tube, armature = character
    # A file from before has none chosen, and keeps the old default.
    assert tube.sbs.center == "JOINT_SET"
    rigs.select([tube, armature])
    assert addon.ops.bind() == {"FINISHED"}
    assert tube.sbs.center == "OPTIMIZED"
    assert_optimized(tube, armature)
    # A chosen center stays, whether bound then or not.
    tube.sbs.center = "WEIGHTED"
    assert addon.ops.unbind() == addon.ops.bind() == {"FINISHED"}
    assert tube.sbs.center == "WEIGHTED"


@pytest.mark.parametrize(
    ("engine", "center", "wanted"),
    [
        ("LIVE", "WEIGHTED", "WEIGHTED"),
        ("PORTABLE", "OPTIMIZED", "OPTIMIZED"),
        ("PORTABLE", "JOINT_SET", "JOINT_SET"),
        ("PORTABLE", "WEIGHTED", "OPTIMIZED"),
    ],
)
def test_preferences(character: Character, engine: str, center: str, wanted: str) -> None:
    tube, armature = character
    preferences = addon.preferences()
    preferences.center = center
    preferences.engine = engine
    rigs.select([tube, armature])
    assert addon.ops.bind() == {"FINISHED"}
    assert tube.sbs.center == wanted
    is_portable = engine == "PORTABLE" and bpy.app.version >= (5, 1, 0)
    assert (addon.module("engine.bake.portable").find(tube) is not None) == is_portable
    assert (addon.module("engine.stack.stack").find(tube) is None) == is_portable == (not tube.sbs.bound)


@pytest.mark.blender(since=(5, 1))
def test_made_portable_without_being_bound(character: Character) -> None:
    tube, armature = character
    tube.parent = armature
    rigs.select([tube])
    wanted = wanted_centers(tube)
    assert addon.ops.make_portable() == {"FINISHED"}
    assert_right(tube, armature, center="optimized", centers=wanted)


def test_follow_weights_and_vertices(character: Character) -> None:
    tube, armature = character
    rigs.bind(tube, armature, center="OPTIMIZED")
    before = centers_of(tube)
    paint(tube)
    assert np.abs(centers_of(tube) - before).max() > 0.01
    assert_optimized(tube, armature)
    for vertex in tube.data.vertices:
        vertex.co.x *= 1.5
    tube.data.update()
    assert_optimized(tube, armature)
    tube.data = rigs.make_tube(rows=30, name="Other").data
    assert_optimized(tube, armature)


def test_do_not_follow_shape_keys(character: Character) -> None:
    tube, armature = character
    rigs.bind(tube, armature, center="OPTIMIZED")
    wanted = wanted_centers(tube)
    key = rigs.add_shape(tube, (1.5, 1.5, 1.5))
    rest = rigs.positions(tube.data)
    rigs.select([tube])
    for value in (1.0, 0.5):
        key.value = value
        for _ in range(2):
            moved = rest * (1.0 + 0.5 * value)
            assert_right(tube, armature, center="optimized", centers=wanted, rest=moved)
            assert addon.ops.rebind() == {"FINISHED"}


def test_are_saved(character: Character, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tube, armature = character
    rigs.bind(tube, armature, center="OPTIMIZED")
    centers = centers_of(tube)
    monkeypatch.delattr(addon.module("core.binding").Binding, "optimized_centers")
    tube, armature = rigs.reopen(tmp_path / "file.blend")
    rigs.turn(armature, seed=4)
    assert_right(tube, armature, center="optimized", centers=centers)


def test_weighted_ones_where_faces_are_unknown(character: Character) -> None:
    tube, armature = character
    rigs.bind(tube, armature, center="OPTIMIZED")
    modifier = tube.modifiers.new("Mirror", "MIRROR")
    rigs.put_first(tube, modifier)
    current_layer().update()
    assert rigs.state_of(tube).problem == ""
    assert rigs.state_of(tube).centers.note
    shape = rigs.evaluated(tube)
    tube.sbs.center = "WEIGHTED"
    assert error(rigs.evaluated(tube), shape) < TOLERANCE
    tube.modifiers.remove(modifier)
    tube.sbs.center = "OPTIMIZED"
    assert_optimized(tube, armature)
    # Nor are there any without faces.
    points = new_mesh("Points")
    points.from_pydata(rigs.positions(tube.data).tolist(), [], [])
    tube.data = points
    for name in ("B1", "B2"):
        tube.vertex_groups.new(name=name).add(list(range(100)), 0.5, "REPLACE")
    assert_right(tube, armature, center="weighted")


@pytest.mark.usefixtures("at_a_window")
def test_nobody_waits(character: Character) -> None:
    tube, armature = character
    rigs.bind(tube, armature, center="OPTIMIZED")
    assert kept_centers(tube) is None
    assert rigs.state_of(tube).centers.note
    assert_right(tube, armature, center="weighted")
    wait_for_centers()
    assert_optimized(tube, armature)
    assert rigs.state_of(tube).centers.note == ""


@pytest.mark.usefixtures("at_a_window")
def test_painting_goes_on_with_those_of_before(character: Character) -> None:
    tube, armature = character
    rigs.bind(tube, armature, center="OPTIMIZED")
    wait_for_centers()
    before = centers_of(tube)
    for first in (100, 200, 300):
        paint(tube, first)
        addon.module("engine.handlers").look_for_centers()
        assert_right(tube, armature, center="optimized", centers=before)
    assert rigs.state_of(tube).centers.are_awaited
    wait_for_centers()
    assert np.abs(centers_of(tube) - before).max() > 0.01
    assert_optimized(tube, armature)


@pytest.mark.usefixtures("at_a_window")
def test_what_changes_during_a_search_is_in_its_outcome(character: Character) -> None:
    tube, armature = character
    rigs.bind(tube, armature, center="OPTIMIZED")
    assert addon.module("engine.handlers").look_for_centers() is not None
    paint(tube)
    wait_for_centers()
    assert_optimized(tube, armature)
    # Nothing is looked for that is not shown.
    paint(tube, 300)
    tube.sbs.method = "LINEAR"
    current_layer().update()
    assert addon.module("engine.handlers").look_for_centers() is None
    tube.sbs.method = "SPHERICAL"
    current_layer().update()
    wait_for_centers()
    assert_optimized(tube, armature)


@pytest.mark.usefixtures("at_a_window")
def test_undo(character: Character) -> None:
    tube, armature = character
    rigs.bind(tube, armature, center="OPTIMIZED")
    wait_for_centers()
    bpy.ops.ed.undo_push(message="Start")
    before = centers_of(tube)
    paint(tube)
    bpy.ops.ed.undo_push(message="Paint")
    wait_for_centers()
    bpy.ops.ed.undo()
    current_layer().update()
    wait_for_centers()
    tube, armature = mesh_named("Tube"), armature_named("Rig")
    np.testing.assert_allclose(centers_of(tube), before, atol=1e-6)
    assert_optimized(tube, armature)


def test_a_file_knows_that_weights_are_others(
    character: Character, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tube, armature = character
    rigs.bind(tube, armature, center="OPTIMIZED")
    before = centers_of(tube)
    with monkeypatch.context() as patch:
        patch.setattr(addon.module("engine.live.live"), "must_not_wait", lambda _depsgraph: False)
        paint(tube)
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
        assert np.array_equal(centers_of(tube), before)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
    tube, armature = mesh_named("Tube"), armature_named("Rig")
    rigs.turn(armature, seed=4)
    assert_optimized(tube, armature)


@pytest.mark.usefixtures("at_a_window")
def test_bakes_wait(character: Character, tmp_path: Path) -> None:
    tube, armature = character
    rigs.bind(tube, armature, center="OPTIMIZED")
    rigs.select([tube])
    assert addon.ops.bake(directory=str(tmp_path), use_scene_range=False, frame_start=1, frame_end=1) == {"FINISHED"}
    assert_right(tube, armature, center="optimized", centers=wanted_centers(tube))


@pytest.mark.usefixtures("at_a_window")
def test_no_thread_is_left(character: Character) -> None:
    tube, armature = character
    rigs.bind(tube, armature, center="OPTIMIZED")
    for _ in range(3):
        paint(tube)
        time.sleep(0.06)
        addon.module("engine.handlers").look_for_centers()
    addon.disable()
    assert not [thread for thread in threading.enumerate() if thread.name == "SBS centers"]
    addon.enable()
    current_layer().update()
    wait_for_centers()
    assert_optimized(tube, armature)
