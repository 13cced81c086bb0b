# SPDX-License-Identifier: GPL-3.0-or-later
"""A sculpt that is open: undo and redo, another one, exporters, and its surface deleted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import addon
import bpy
import pytest
import rigs
from expected import Floats, error, in_world
from objects import MeshObject, active_object, current_layer, mesh_named
from test_correctives import MET, begin_sculpt, bent, left_over, straight, surface


def begin() -> tuple[MeshObject, Floats]:
    """A tube whose surface is sculpted, in Sculpt Mode, with strokes to undo; where it is to be."""
    tube, _ = bent()
    bpy.ops.ed.undo_push(message="Bent")
    _, wanted = begin_sculpt(tube)
    bpy.ops.object.mode_set(mode="SCULPT")
    bpy.ops.ed.undo_push(message="Sculpt Corrective")
    stroke()
    return tube, wanted


def stroke() -> None:
    """A step of undo in Sculpt Mode, as brushes leave it."""
    flood: Any = bpy.ops.paint.mask_flood_fill
    assert flood("EXEC_DEFAULT", True, mode="VALUE", value=0.0) == {"FINISHED"}


def by_artist(operator: Any, **options: Any) -> None:
    """Call an operator so that it can be undone."""
    assert operator("EXEC_DEFAULT", True, **options) == {"FINISHED"}


def check_open(wanted: Floats) -> None:
    """Whether the surface is there as it was sculpted, in the place of the mesh, which has no shape key."""
    assert active_object() == surface() and surface().mode == "SCULPT"
    assert error(in_world(surface()), wanted) < 1e-6
    tube = mesh_named("Tube")
    assert tube.hide_get() and tube.mode == "OBJECT" and tube.data.shape_keys is None


def check_accepted(wanted: Floats) -> None:
    tube = mesh_named("Tube")
    current_layer().update()
    assert not left_over() and not tube.hide_get() and tube.mode == "OBJECT"
    assert error(in_world(tube), wanted) < MET[False]


def test_accept_is_undone_in_one_step() -> None:
    _tube, wanted = begin()
    by_artist(addon.ops.accept_corrective, bone="B2")
    check_accepted(wanted)
    for _ in range(2):
        bpy.ops.ed.undo()
        check_open(wanted)
        bpy.ops.ed.redo()
        check_accepted(wanted)
    bpy.ops.ed.undo()
    by_artist(addon.ops.accept_corrective, bone="B2")
    check_accepted(wanted)


def test_cancel_is_undone_in_one_step() -> None:
    tube, wanted = begin()
    by_artist(addon.ops.cancel_corrective)
    assert not left_over() and not tube.hide_get()
    bpy.ops.ed.undo()
    check_open(wanted)
    bpy.ops.ed.redo()
    assert not left_over() and not mesh_named("Tube").hide_get()


def test_begun_from_strokes_on_the_rest_mesh() -> None:
    tube, _ = bent()
    rigs.select([tube])
    bpy.ops.ed.undo_push(message="Bent")
    by_artist(bpy.ops.object.mode_set, mode="SCULPT")
    stroke()
    by_artist(addon.ops.sculpt_corrective)
    assert tube.hide_get()
    bpy.ops.ed.undo()
    tube = mesh_named("Tube")
    assert not left_over() and not tube.hide_get() and tube.mode == "SCULPT"


def test_refused_in_sculpt_mode() -> None:
    tube, armature = straight()
    rigs.select([tube])
    addon.ops.sculpt_corrective()
    with pytest.raises(RuntimeError, match="Nothing was sculpted"):
        addon.ops.accept_corrective()
    assert surface().mode == "SCULPT" and tube.hide_get() and armature.mode == "OBJECT"


def test_no_second_one() -> None:
    tube, armature = bent()
    other = rigs.make_tube(name="Other")
    rigs.bind(other, armature)
    begin_sculpt(tube)
    rigs.select([other])
    with pytest.raises(RuntimeError, match="the sculpt of Tube in Scene"):
        addon.ops.sculpt_corrective()
    assert addon.ops.cancel_corrective() == {"FINISHED"}
    rigs.select([other])
    assert addon.ops.sculpt_corrective() == {"FINISHED"}
    assert left_over() == ["Other, posed"]


def test_accepted_while_the_rig_is_active() -> None:
    tube, armature = bent()
    _, wanted = begin_sculpt(tube)
    rigs.select([armature])
    bpy.ops.object.mode_set(mode="POSE")
    assert addon.ops.accept_corrective(bone="B2") == {"FINISHED"}
    check_accepted(wanted)


def test_not_baked_meanwhile(tmp_path: Path) -> None:
    tube, armature = bent()
    begin_sculpt(tube)
    rigs.select([armature])
    with pytest.raises(RuntimeError, match="the sculpt of Tube"):
        addon.ops.bake(directory=str(tmp_path))
    assert not list(tmp_path.iterdir())


# -------------------------------------------------------------------------------------------------- something deleted


@pytest.mark.parametrize("delete", [bpy.ops.object.delete, lambda: bpy.data.objects.remove(active_object())])
def test_surface_deleted(delete: Callable[[], object]) -> None:
    tube, wanted = begin()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.ed.undo_push(message="Object Mode")
    delete()
    current_layer().update()
    bpy.ops.ed.undo_push(message="Delete")
    assert not left_over() and not tube.hide_get()
    rigs.select([tube])
    assert addon.ops.sculpt_corrective() == {"FINISHED"}
    bpy.ops.ed.undo()
    assert error(in_world(surface()), wanted) < 1e-6 and mesh_named("Tube").hide_get()
    assert addon.ops.accept_corrective(bone="B2") == {"FINISHED"}
    check_accepted(wanted)


def test_mesh_deleted() -> None:
    tube, _ = begin()
    bpy.data.objects.remove(tube)
    current_layer().update()
    assert left_over(), "it is an object as any other"
    with pytest.raises(RuntimeError, match="poll"):
        addon.ops.cancel_corrective()


# ---------------------------------------------------------------------------------------------------------- exporters

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def export(path: Path) -> bytes:
    """A file of the whole scene by an artist's exporter."""
    kind = path.suffix[1:]
    calls: Any = {
        "fbx": bpy.ops.export_scene.fbx,
        "gltf": bpy.ops.export_scene.gltf,
        "obj": bpy.ops.wm.obj_export,
        "usda": bpy.ops.wm.usd_export,
    }
    options = {"export_format": "GLTF_SEPARATE"} if kind == "gltf" else {}
    assert calls[kind](filepath=str(path), **options) == {"FINISHED"}
    return path.read_bytes()


# Debian's Blender has no USD.
HAS_USD = pytest.mark.applies("usd_export" in dir(bpy.ops.wm))


@pytest.mark.parametrize("kind", ["gltf", "fbx", "obj", pytest.param("usda", marks=HAS_USD)])
def test_exported_meanwhile(kind: str, tmp_path: Path) -> None:
    _tube, wanted = begin()
    found = export(tmp_path / f"file.{kind}")
    assert b"posed" not in found and b"Tube" in found
    check_open(wanted)
    assert addon.ops.accept_corrective(bone="B2") == {"FINISHED"}
    check_accepted(wanted)


@pytest.mark.blender(since=(4, 1))
def test_exported_with_skins_meanwhile(tmp_path: Path) -> None:
    _tube, wanted = begin()
    assert addon.ops.export_usd(filepath=str(tmp_path / "file.usda")) == {"FINISHED"}
    found = (tmp_path / "file.usda").read_bytes()
    assert b"posed" not in found and b"Tube" in found
    check_open(wanted)


def test_saved_while_open(tmp_path: Path) -> None:
    _tube, wanted = begin()
    rigs.reopen(tmp_path / "open.blend")
    assert addon.ops.accept_corrective(bone="B2") == {"FINISHED"}
    check_accepted(wanted)


def test_not_begun_where_the_mesh_is_not_deformed() -> None:
    """The shapes would be solved for a mesh that does not move."""
    tube, armature = bent()
    armature.data.bones["B1"].bbone_segments = 3
    tube.sbs.method = "BONES_BLENDING"
    current_layer().update()
    with pytest.raises(RuntimeError, match=r"Tube is not deformed: .* B1 has some"):
        addon.ops.sculpt_corrective()
    assert not left_over() and not tube.hide_get()
