# SPDX-License-Identifier: GPL-3.0-or-later
"""Linked characters and library overrides: operators refuse changes that no file would keep; others work."""

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
from expected import TOLERANCE, assert_right, error
from objects import (
    ArmatureObject,
    Character,
    MeshObject,
    armature_named,
    character_of,
    current_layer,
    current_scene,
    mesh_named,
)

#: Operators that change a mesh, its weights or its shape keys.
CHANGE_A_MESH = {
    "accept_corrective",
    "apply_as_shape_key",
    "assign_from_capsules",
    "automatic_weights",
    "draft_correctives",
    "drag_vertex",
    "heat_weights",
    "mirror_corrective",
    "mirror_weights",
    "remove_corrective",
    "sculpt_corrective",
    "smooth_weights",
    "solve_correctives",
    "spherical_weights",
    "subdivide_near_bones",
    "transfer_weights",
}
#: Operators that change the bones of an armature.
CHANGE_AN_ARMATURE = {"fit_capsules", "fit_zones", "import_capsules", "mark_bones"}
#: Operators whose options decide.
MAY_CHANGE_A_MESH: dict[str, dict[str, Any]] = {"bake": {"target": "SHAPE_KEYS"}, "bind": {"weights": "HEAT"}}
#: Operators that work on an override: they change objects, their modifiers and poses, or nothing, or make new objects.
WORK = {
    "add_muscle",
    "add_via_point",
    "bake",
    "bind",
    "cancel_corrective",
    "check_weights",
    "compare_with_linear",
    "demo",
    "export_capsules",
    "export_usd",
    "find_limbs",
    "fit_muscles",
    "go_to_corrective",
    "make_live",
    "make_portable",
    "mirror_muscle",
    "muscle_demo",
    "rebind",
    "remove_muscle",
    "select_muscle",
    "set_bone_amounts",
    "share_settings",
    "unbind",
}


def make_library(path: Path, character: Callable[[], Character] = rigs.make_character) -> None:
    """Save a character with a corrective and one more mesh, as a library, and close it."""
    tube, armature = character()
    current_layer().update()
    addon.module("engine.correctives.correctives").put(
        tube, armature, "B2", (1.0, 0.0, 0.0), "Bent.L", np.full((len(tube.data.vertices), 3), 0.01)
    )
    other = rigs.make_tube(name="Other", rows=11)
    other.parent = armature
    rigs.save_library(path)


def linked(path: Path) -> Character:
    rigs.from_library(path, link=True)
    return mesh_named("Tube"), armature_named("Rig")


def overridden(path: Path) -> Character:
    return rigs.override_character(path)


def overridden_with_its_data(path: Path) -> Character:
    """Mesh and armature are overrides, too: Blender lets them change until the file is opened again."""
    tube, armature = rigs.override_character(path)
    for data in (tube.data, armature.data):
        data.override_create(remap_local_usages=True)
    current_layer().update()
    assert tube.data.override_library and armature.data.override_library
    return tube, armature


OVERRIDES = (overridden, overridden_with_its_data)
WAYS = (linked, *OVERRIDES)
Way = Callable[[Path], Character]


def test_each_operator_is_listed() -> None:
    assert set(dir(addon.ops)) | {"export_usd"} == CHANGE_A_MESH | CHANGE_AN_ARMATURE | WORK
    assert set(MAY_CHANGE_A_MESH) < WORK


@pytest.mark.parametrize("way", WAYS)
def test_what_changes_a_mesh_is_refused(way: Way, tmp_path: Path) -> None:
    make_library(tmp_path / "library.blend")
    tube, _ = way(tmp_path / "library.blend")
    other = next(item for item in current_scene().objects if item.name == "Other")
    for name in sorted(CHANGE_A_MESH - {"accept_corrective"}):
        rigs.select([tube, other] if name == "transfer_weights" else [tube])
        refused = "Other" if name == "transfer_weights" else "Tube"
        with pytest.raises(RuntimeError, match=rf"{refused} belongs to a library.* local: Object > Relations"):
            getattr(addon.ops, name)()


@pytest.mark.parametrize("way", WAYS)
def test_what_changes_an_armature_is_refused(way: Way, tmp_path: Path) -> None:
    make_library(tmp_path / "library.blend")
    tube, armature = way(tmp_path / "library.blend")
    tube.sbs.method = "BONES_BLENDING"
    current_layer().update()
    rigs.select([tube])
    rigs.select_bones(armature, "B1")
    for name in sorted(CHANGE_AN_ARMATURE):
        with pytest.raises(RuntimeError, match=r"Rig belongs to a library.* local: Object > Relations"):
            getattr(addon.ops, name)()


@pytest.mark.parametrize("is_library", [False, True])
def test_handles_are_shown_for_bones_of_this_file(is_library: bool, tmp_path: Path) -> None:
    make_library(tmp_path / "library.blend")
    tube, armature = overridden(tmp_path / "library.blend")
    if not is_library:
        armature.data.make_local()
    tube.sbs.method = "BONES_BLENDING"
    armature.data.sbs.show_capsules = armature.data.sbs.show_zones = True
    prepare("set_bone_amounts", tube, armature)
    current_layer().update()
    for path, name in (("capsules.handles", "SBS_GGT_capsule"), ("blending.handles", "SBS_GGT_zone")):
        assert getattr(addon.module(path), name).poll(bpy.context) is not is_library


@pytest.mark.parametrize("way", WAYS)
def test_options_that_change_a_mesh_are_refused(way: Way, tmp_path: Path) -> None:
    make_library(tmp_path / "library.blend")
    tube, _ = way(tmp_path / "library.blend")
    rigs.select([tube])
    for name, options in MAY_CHANGE_A_MESH.items():
        with pytest.raises(RuntimeError, match="Tube belongs to a library"):
            getattr(addon.ops, name)(**options)


def of_this_file() -> Character:
    here = [item for item in current_scene().objects if not (item.library or item.override_library)]
    return character_of(item for item in here if item.name != "Other")


@pytest.mark.parametrize("way", OVERRIDES)
def test_made_local_as_it_is_told(way: Way, tmp_path: Path) -> None:
    make_library(tmp_path / "library.blend")
    tube, armature = way(tmp_path / "library.blend")
    rigs.turn(armature)
    current_layer().update()
    before = rigs.evaluated(tube)
    # Blender 3.4 makes no armature local without the meshes that it moves.
    rigs.select([tube, *(item for item in current_scene().objects if item.override_library)])
    assert bpy.ops.object.make_local(type="SELECT_OBDATA") == {"FINISHED"}
    current_layer().update()
    tube, armature = of_this_file()
    assert error(rigs.evaluated(tube), before) < TOLERANCE
    rigs.select([tube])
    assert addon.ops.spherical_weights() == {"FINISHED"}
    assert addon.ops.fit_capsules() == {"FINISHED"}
    assert addon.ops.remove_corrective() == {"FINISHED"}
    weights, radii = rigs.weights(tube), [bone.tail_radius for bone in armature.data.bones]
    rigs.reopen(tmp_path / "shot.blend")
    tube, armature = of_this_file()
    np.testing.assert_array_equal(rigs.weights(tube), weights)
    assert [bone.tail_radius for bone in armature.data.bones] == radii
    assert [key.name for key in tube.data.shape_keys.key_blocks] == ["Basis"]


def prepare(name: str, tube: MeshObject, armature: ArmatureObject) -> None:
    """Bring about the state in which an operator can work."""
    rigs.select([tube])
    if name == "bind":
        assert addon.ops.unbind() == {"FINISHED"}
        rigs.select([tube, armature])
    elif name == "make_live":
        assert addon.ops.make_portable() == {"FINISHED"}
    elif name in ("add_muscle", "set_bone_amounts"):
        rigs.select([armature])
        bpy.ops.object.mode_set(mode="POSE")
        armature.data.bones.active = armature.data.bones["B2"]
        rigs.select_bones(armature, "B2")


#: Options of operators that work, and why some refuse for other reasons.
OPTIONS: dict[str, dict[str, Any]] = {
    "bake": {"directory": "//cache"},
    "export_capsules": {"filepath": "capsules.json"},
    "export_usd": {"filepath": "scene.usdc"},
}
SINCE = {"export_usd": (4, 1), "make_live": (5, 1), "make_portable": (5, 1)}
REFUSED = {
    "cancel_corrective": "Nothing is sculpted",
    "fit_muscles": "no joint is known as 'hips'",
    "remove_muscle": "is of a library, so it can only be switched off",
}


@pytest.mark.parametrize("way", OVERRIDES)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.blender(since=SINCE.get(name, (0,)))) for name in sorted(WORK)]
)
def test_others_work(name: str, way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    has_muscles = "muscle" in name or name == "add_via_point"
    make_library(tmp_path / "library.blend", muscled.make_character if has_muscles else rigs.make_character)
    tube, armature = way(tmp_path / "library.blend")
    current_scene().frame_end = 2
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    monkeypatch.chdir(tmp_path)
    prepare(name, tube, armature)
    operator = getattr(addon.ops, name)
    if name in REFUSED:
        with pytest.raises(RuntimeError, match=REFUSED[name]):
            operator()
    else:
        assert operator(**OPTIONS.get(name, {})) == {"FINISHED"}


def test_weights_changed_in_the_library(tmp_path: Path) -> None:
    library, shot = str(tmp_path / "library.blend"), str(tmp_path / "shot.blend")
    rigs.make_character()
    rigs.save_library(tmp_path / "library.blend")
    rigs.turn(overridden(tmp_path / "library.blend")[1])
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    bpy.ops.wm.open_mainfile(filepath=library)
    mesh_named("Tube").vertex_groups["B1"].add(range(100, 300), 0.9, "REPLACE")
    bpy.ops.wm.save_as_mainfile(filepath=library)
    bpy.ops.wm.open_mainfile(filepath=shot)
    assert_right(*rigs.overridden())
