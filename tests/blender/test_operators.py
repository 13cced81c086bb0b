# SPDX-License-Identifier: GPL-3.0-or-later
"""Every operator behaves as Blender's own do: it says what it is for, why it cannot work, and what it did."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import addon
import bpy
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, deformed, error
from objects import Character, active_object, armature_named, current_layer, mesh_object

# Those that read the file alone.
CHANGE_NOTHING = {"compare_with_linear", "export_capsules", "export_usd"}


def names() -> list[str]:
    return dir(addon.ops)


@pytest.fixture
def character() -> Character:
    """A tube with an Armature modifier, active, and its armature."""
    armature = rigs.make_armature()
    tube = rigs.make_tube()
    tube.modifiers.new("Armature", "ARMATURE").object = armature
    rigs.turn(armature)
    rigs.select([tube])
    return tube, armature


def test_undo() -> None:
    for name in names():
        options: set[str] = getattr(getattr(bpy.types, f"SBS_OT_{name}"), "bl_options", set())
        assert name in CHANGE_NOTHING or {"REGISTER", "UNDO"} <= options, name


def test_each_says_why_it_cannot_work() -> None:
    for name in names():
        operator = getattr(addon.ops, name)
        if name in ("demo", "muscle_demo"):
            rigs.make_armature()
            bpy.ops.object.mode_set(mode="EDIT")
        assert not operator.poll(), name
        # Blender's own words, where an operator gives none, are "failed, context is incorrect".
        with pytest.raises(RuntimeError, match=r"poll\(\) (?!failed, context is incorrect)[A-Z]\w+ "):
            operator()
        if name in ("demo", "muscle_demo"):
            bpy.ops.object.mode_set(mode="OBJECT")
            bpy.data.objects.remove(active_object())


def mark_bones(_folder: Path) -> None:
    rigs.select_bones(armature_named("Rig"), "B1")
    addon.ops.mark_bones()


def fit_zones(_folder: Path) -> None:
    addon.ops.bind()
    tube: Any = active_object()
    tube.sbs.method = "BONES_BLENDING"
    current_layer().update()
    addon.ops.fit_zones()


def set_bone_amounts(_folder: Path) -> None:
    rigs.select([armature_named("Rig")])
    bpy.ops.object.mode_set(mode="POSE")
    rigs.select_bones(armature_named("Rig"), "B1")
    addon.ops.set_bone_amounts()


def subdivide_near_bones(_folder: Path) -> None:
    rigs.select_bones(armature_named("Rig"), "B1")
    addon.ops.subdivide_near_bones()


def transfer_weights(_folder: Path) -> None:
    rigs.select([active_object(), rigs.make_tube(name="Other")])
    addon.ops.transfer_weights()


def drag_vertex(_folder: Path) -> None:
    addon.ops.bind()
    current_layer().update()
    addon.ops.drag_vertex(vertex=200, offset=(0.1, 0.1, 0.1), radius=0.5)


def add_muscle(_folder: Path) -> None:
    armature = armature_named("Rig")
    rigs.select([armature])
    bpy.ops.object.mode_set(mode="POSE")
    armature.data.bones.active = armature.data.bones["B2"]
    rigs.select_bones(armature, "B1", "B2")
    addon.ops.add_muscle()


def remove_muscle(folder: Path) -> None:
    add_muscle(folder)
    addon.ops.remove_muscle()


def add_via_point(folder: Path) -> None:
    add_muscle(folder)
    addon.ops.add_via_point()


def select_muscle(folder: Path) -> None:
    add_muscle(folder)
    addon.ops.select_muscle(part="origin")


def sculpt_corrective(_folder: Path) -> object:
    addon.ops.bind()
    return addon.ops.sculpt_corrective()


def accept_corrective(folder: Path, bone: str = "B2") -> object:
    sculpt_corrective(folder)
    bpy.ops.object.mode_set(mode="OBJECT")
    mesh_object(active_object()).data.vertices[300].co.x += 0.1
    return addon.ops.accept_corrective(bone=bone)


def draft_correctives(_folder: Path) -> object:
    addon.ops.bind()
    return addon.ops.draft_correctives()


def mirror_corrective(folder: Path) -> object:
    bones = armature_named("Rig").data.bones
    bones["B1"].name, bones["B2"].name = "Bone.R", "Bone.L"
    accept_corrective(folder, "Bone.L")
    return addon.ops.mirror_corrective()


DEEDS: dict[str, Callable[[Path], object]] = {
    "bind": lambda _: addon.ops.bind(),
    "rebind": lambda _: (addon.ops.bind(), addon.ops.rebind()),
    "unbind": lambda _: (addon.ops.bind(), addon.ops.unbind()),
    "bake": lambda folder: (addon.ops.bind(), addon.ops.bake(directory=str(folder), **RANGE)),
    "make_portable": lambda _: addon.ops.make_portable(),
    "make_live": lambda _: (addon.ops.make_portable(), addon.ops.make_live()),
    "compare_with_linear": lambda _: (addon.ops.bind(), addon.ops.compare_with_linear()),
    "demo": lambda _: addon.ops.demo(),
    "assign_from_capsules": lambda _: addon.ops.assign_from_capsules(),
    "fit_capsules": lambda _: addon.ops.fit_capsules(),
    "export_capsules": lambda folder: addon.ops.export_capsules(filepath=str(folder / "capsules.json")),
    "apply_as_shape_key": lambda _: (addon.ops.bind(), addon.ops.apply_as_shape_key()),
    "export_usd": lambda folder: (addon.ops.bind(), addon.ops.export_usd(filepath=str(folder / "out.usdc"))),
    "import_capsules": lambda folder: (
        addon.ops.export_capsules(filepath=str(folder / "capsules.json")),
        addon.ops.import_capsules(filepath=str(folder / "capsules.json")),
    ),
    "smooth_weights": lambda _: addon.ops.smooth_weights(),
    "spherical_weights": lambda _: addon.ops.spherical_weights(),
    "mirror_weights": lambda _: addon.ops.mirror_weights(),
    "check_weights": lambda _: addon.ops.check_weights(),
    "heat_weights": lambda _: addon.ops.heat_weights(),
    "automatic_weights": lambda _: addon.ops.automatic_weights(),
    "find_limbs": lambda _: (addon.ops.bind(), addon.ops.find_limbs()),
    "share_settings": lambda _: (addon.ops.bind(), addon.ops.share_settings()),
    "mark_bones": mark_bones,
    "fit_zones": fit_zones,
    "set_bone_amounts": set_bone_amounts,
    "subdivide_near_bones": subdivide_near_bones,
    "transfer_weights": transfer_weights,
    "drag_vertex": drag_vertex,
    "sculpt_corrective": sculpt_corrective,
    "cancel_corrective": lambda folder: (sculpt_corrective(folder), addon.ops.cancel_corrective()),
    "accept_corrective": accept_corrective,
    "draft_correctives": draft_correctives,
    "go_to_corrective": lambda folder: (accept_corrective(folder), addon.ops.go_to_corrective()),
    "mirror_corrective": mirror_corrective,
    "solve_correctives": lambda folder: (accept_corrective(folder), addon.ops.solve_correctives()),
    "remove_corrective": lambda folder: (accept_corrective(folder), addon.ops.remove_corrective()),
    "muscle_demo": lambda _: addon.ops.muscle_demo(),
    "fit_muscles": lambda _: (addon.ops.muscle_demo(), addon.ops.fit_muscles()),
    "add_muscle": add_muscle,
    "remove_muscle": remove_muscle,
    "add_via_point": add_via_point,
    "select_muscle": select_muscle,
    "mirror_muscle": lambda _: (addon.ops.muscle_demo(), addon.ops.mirror_muscle()),
}
RANGE: dict[str, Any] = {"use_scene_range": False, "frame_start": 1, "frame_end": 3}
# Nodes that read bones, and USD files that have some.
SINCE = {"make_portable": (5, 1), "make_live": (5, 1), "export_usd": (4, 1)}
NEED_NO_LIBRARY = {
    "accept_corrective",
    "cancel_corrective",
    "compare_with_linear",
    "export_capsules",
    "export_usd",
    "import_capsules",
    "make_live",
    "mark_bones",
    "set_bone_amounts",
    "share_settings",
    "transfer_weights",
    "unbind",
}


def test_each_is_tried() -> None:
    absent = {"export_usd"} if bpy.app.version < SINCE["export_usd"] else set()
    assert set(DEEDS) - absent == set(names())


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.blender(since=SINCE.get(name, (0,)))) for name in DEEDS]
)
def test_each_reports_counts(
    name: str, character: Character, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    DEEDS[name](tmp_path)
    reports = re.findall(r"^(?:Info|Warning): (.*)", capfd.readouterr().out, re.MULTILINE)
    assert reports and re.search(r"\d", reports[-1]), reports


def test_without_the_library(character: Character, monkeypatch: pytest.MonkeyPatch) -> None:
    """All but removing refuses, with the reason, and panels show that."""
    library = addon.module("core.library")

    def fail() -> None:
        raise library.LibraryError("The wheel is missing")

    addon.ops.bind()
    monkeypatch.setattr(library, "load", fail)
    for name in sorted(set(names()) - NEED_NO_LIBRARY):
        if name == "make_portable" and bpy.app.version < (5, 1, 0):
            continue
        with pytest.raises(RuntimeError, match="The wheel is missing"):
            getattr(addon.ops, name)()
    assert addon.ops.unbind() == {"FINISHED"}


def in_use() -> list[str]:
    """Data-blocks that a saved file would have."""
    blocks = (*bpy.data.objects, *bpy.data.meshes, *bpy.data.node_groups)
    return sorted(block.name for block in blocks if block.users)


@pytest.mark.blender(since=(5, 1))
@pytest.mark.parametrize("removed", [False, True], ids=["", "the Armature modifier was removed"])
def test_unbind_what_is_portable(character: Character, removed: bool) -> None:
    tube, armature = character
    before = in_use()
    tube.sbs.center = "JOINT_SET"
    assert addon.ops.make_portable() == {"FINISHED"}
    if removed:
        tube.modifiers.remove(next(modifier for modifier in tube.modifiers if modifier.type == "ARMATURE"))
    assert error(rigs.evaluated(tube), deformed(tube, armature)) < TOLERANCE
    assert addon.ops.unbind() == {"FINISHED"}
    assert [modifier.type for modifier in tube.modifiers] == ["ARMATURE"]
    assert tube.modifiers[0].show_viewport and tube.modifiers[0].use_vertex_groups
    assert in_use() == before
    twin = rigs.make_tube(name="Twin")
    twin.modifiers.new("Armature", "ARMATURE").object = armature
    np.testing.assert_array_equal(rigs.evaluated(tube), rigs.evaluated(twin))
