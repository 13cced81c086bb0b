# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels and menus in every state, drawn into a layout that checks as Blender's does, for modules have no window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import addon
import bpy
import muscled
import numpy as np
import pytest
import rigs
from objects import Family, current_layer, current_scene

LAYOUT: Any = bpy.types.UILayout.bl_rna
ICONS = LAYOUT.functions["label"].parameters["icon"].enum_items

#: About as many letters as stand in a line of the sidebar at its default width; a label has an icon, too.
LETTERS = 30


#: The buttons that make bent joints better, in order.
NEXT = ["Weights for Spherical Blending", "Draft Correctives", "Sculpt Corrective"]


class Layout:
    """Checks the calls of a draw function: names of properties, operators, icons and options, and the length of labels.

    Attributes
    ----------
    drawn : list of str
        Texts and names in order.
    """

    def __init__(self, drawn: list[str] | None = None) -> None:
        self.drawn = [] if drawn is None else drawn

    def _inner(self, **options: Any) -> Layout:
        assert options.keys() <= {"align", "heading", "row_major", "columns", "even_columns"}
        return Layout(self.drawn)

    row = column = box = split = grid_flow = menu_pie = _inner

    def separator(self) -> None:
        pass

    def label(self, *, text: str, icon: str = "NONE") -> None:
        assert icon in ICONS
        assert len(text) <= LETTERS - 7, text
        self.drawn.append(text)

    def prop(self, data: Any, name: str, *, text: str | None = None, icon: str = "NONE", **options: Any) -> None:
        assert options.keys() <= {"toggle", "emboss", "expand", "slider", "invert_checkbox"}
        assert icon in ICONS
        assert name in data.bl_rna.properties, (data, name)
        self.drawn.append(name)

    def prop_enum(self, data: Any, name: str, value: str) -> None:
        assert value in data.bl_rna.properties[name].enum_items
        self.drawn.append(value)

    def prop_search(self, data: Any, name: str, other: Any, collection: str, *, text: str) -> None:
        assert name in data.bl_rna.properties and collection in other.bl_rna.properties
        self.drawn.append(name)

    def operator(self, name: str, *, text: str = "", icon: str = "NONE", depress: bool = False) -> SimpleNamespace:
        category, identifier = name.split(".")
        kind = getattr(getattr(bpy.ops, category), identifier).get_rna_type()
        assert icon in ICONS
        assert category != "sbs" or len(text or kind.name) <= LETTERS
        self.drawn.append(text or kind.name)
        return Options(kind)

    def template_list(
        self, kind: str, _name: str, data: Any, name: str, owner: Any, index: str, *, rows: int, sort_lock: bool
    ) -> None:
        """The rows that the list shows, each drawn by it."""
        assert name in data.bl_rna.properties and index in owner.bl_rna.properties and rows > 0 and sort_lock
        cls = getattr(bpy.types, kind)
        drawer = SimpleNamespace(bitflag_filter_item=1, filter_name="")
        for item, is_shown in zip(
            getattr(data, name), cls.filter_items(drawer, bpy.context, data, name)[0], strict=True
        ):
            if is_shown:
                cls.draw_item(drawer, bpy.context, self, data, item, 0, owner, index, 0, 0)

    def menu(self, name: str) -> None:
        self.drawn.append(getattr(bpy.types, name).bl_label)


class Options(SimpleNamespace):
    def __init__(self, kind: Any) -> None:
        object.__setattr__(self, "kind", kind)

    def __setattr__(self, name: str, value: Any) -> None:
        known = self.kind.properties[name]
        assert known.type != "ENUM" or value in known.enum_items, (name, value)


def draw(name: str) -> list[str]:
    kind = getattr(bpy.types, name)
    if parent := getattr(kind, "bl_parent_id", ""):
        above = getattr(bpy.types, parent)
        if not above.poll(bpy.context):
            # So Blender itself has it.
            return []
    if hasattr(kind, "poll") and not kind.poll(bpy.context):
        return []
    layout = Layout()
    kind.draw(SimpleNamespace(layout=layout), bpy.context)
    return layout.drawn


def description(name: str, **options: str) -> str:
    """The tip of an operator's button."""
    category, identifier = name.split(".")
    kind: Any = getattr(bpy.types, f"{category.upper()}_OT_{identifier}")
    text: str = kind.description(bpy.context, SimpleNamespace(**options))
    return text


def names() -> Iterator[str]:
    for name in sorted(dir(bpy.types)):
        if name.startswith(("SBS_PT_", "SBS_MT_")):
            yield name


@pytest.fixture
def character() -> Family:
    armature = rigs.make_armature()
    tubes = [rigs.make_tube(rows=9, name=f"Part{number}") for number in range(3)]
    for tube in tubes:
        tube.modifiers.new("Armature", "ARMATURE").object = armature
    current_layer().update()
    rigs.select(tubes[:1])
    return armature, tubes


def test_without_anything() -> None:
    assert not any(draw(name) for name in names() if name != "SBS_MT_parent")


def test_unbound(character: Family) -> None:
    armature, tubes = character
    assert draw("SBS_PT_sidebar") == draw("SBS_PT_modifier") == ["Bind", "Bind All 3 Meshes"]
    assert "modifier Armature," in description("sbs.bind", modifier="Armature")
    assert not draw("SBS_PT_sidebar_advanced")
    tubes[0].modifiers.new("Second", "ARMATURE").object = armature
    assert draw("SBS_PT_sidebar")[:2] == ["Bind, Armature", "Bind, Second"]
    tubes[0].modifiers.remove(tubes[0].modifiers["Second"])
    tubes[0].modifiers["Armature"].use_vertex_groups = False
    tubes[0].modifiers["Armature"].use_bone_envelopes = True
    assert "Bind, Capsule Weights" in draw("SBS_PT_sidebar")
    tubes[0].modifiers.clear()
    assert draw("SBS_PT_sidebar")[:3] == ["Bind", "Bind, Heat Weights", "Bind, Capsule Weights"]
    rigs.select([armature])
    assert draw("SBS_PT_sidebar") == ["Bind All Meshes"] and draw("SBS_PT_meshes") == ["Part1", "Part2"]
    for tube in tubes:
        tube.modifiers.clear()
    assert draw("SBS_PT_sidebar")[-1] == "Bind"


def test_after_an_import(character: Family) -> None:
    """The root of an import is active: the selected meshes can be bound all the same."""
    _, tubes = character
    root: Any = bpy.data.objects.new("Root", None)
    current_scene().collection.objects.link(root)
    rigs.select([root])
    assert not draw("SBS_PT_sidebar")
    rigs.select([root, *tubes])
    assert draw("SBS_PT_sidebar")[-1] == "Bind"
    addon.ops.bind()
    assert draw("SBS_PT_sidebar")[-3:] == NEXT, "of the armature, which is active"


@pytest.mark.parametrize("mode", ["OBJECT", "POSE"])
def test_rig(character: Family, mode: Literal["OBJECT", "POSE"]) -> None:
    armature, tubes = character
    rigs.select(tubes[:2])
    addon.ops.bind()
    rigs.select([armature])
    bpy.ops.object.mode_set(mode=mode)
    drawn = draw("SBS_PT_sidebar")
    assert drawn == ["Bind All Meshes", "QUALITY", "SPEED", "GAME", *NEXT]
    assert {"Part0", "Part1", "Part2", "show_viewport"} <= set(draw("SBS_PT_meshes"))
    settings = ["method", "rotation", "center", "influence_limit"]
    assert draw("SBS_PT_sidebar_advanced") == [*settings, "Refresh", "Unbind"]
    assert draw("SBS_PT_sidebar_hand_on") == ["Make Portable", "Bake..."]
    addon.ops.bind(all_meshes=True)
    assert "Bind All Meshes" not in draw("SBS_PT_sidebar")
    tubes[1].sbs.method = "LINEAR"
    assert "Apply to All Meshes" in draw("SBS_PT_sidebar")
    assert addon.ops.share_settings() == {"FINISHED"}
    before = draw("SBS_PT_sidebar")
    assert "Apply to All Meshes" not in before
    tubes[1].vertex_groups.clear()
    addon.ops.rebind(all_meshes=True)
    assert len(draw("SBS_PT_sidebar")) > len(before), "weights are missing"
    assert draw("SBS_MT_pie")
    bpy.ops.object.mode_set(mode="OBJECT")


def test_mesh(character: Family) -> None:
    armature, tubes = character
    addon.ops.bind()
    drawn = draw("SBS_PT_sidebar")
    assert drawn == ["QUALITY", "SPEED", "GAME", *NEXT]
    advanced = draw("SBS_PT_sidebar_advanced")
    assert advanced[0] == "object" and advanced[-4:] == ["show_viewport", "show_render", "Refresh", "Unbind"]
    assert {"amount", "amount_method", "amount_group", "amount_invert"} <= set(advanced)
    assert "scope" not in drawn, "the only mesh that is bound"
    addon.ops.bind(all_meshes=True)
    assert "scope" in draw("SBS_PT_sidebar") and "Apply to All Meshes" not in draw("SBS_PT_sidebar")
    tubes[0].sbs.preset = "GAME"
    assert "Apply to All Meshes" in draw("SBS_PT_sidebar")
    armature.sbs.method = "BONES_BLENDING"
    armature.sbs.blended_bones = "MARKED"
    rigs.select(tubes[1:2])
    assert {"blended_bones", "Mark Selected", "bones_profile", "zone_scale"} <= set(draw("SBS_PT_sidebar_advanced"))
    tubes[1].vertex_groups.clear()
    addon.ops.rebind()
    assert {"Heat Weights", "Capsule Weights"} <= set(draw("SBS_PT_sidebar"))
    addon.ops.automatic_weights()
    assert "Heat Weights" not in draw("SBS_PT_sidebar")
    tubes[1].sbs.armature = None
    current_layer().update()
    assert "No armature" in draw("SBS_PT_sidebar")


def test_sculpt(character: Family) -> None:
    """While a corrective is sculpted, only the buttons that end it are drawn."""
    addon.ops.bind()
    addon.ops.sculpt_corrective()
    panels = {name: draw(name) for name in names() if "_PT_" in name}
    assert {name: drawn for name, drawn in panels.items() if drawn} == {"SBS_PT_sculpt": ["Accept", "Cancel"]}
    addon.ops.cancel_corrective()
    assert not draw("SBS_PT_sculpt") and draw("SBS_PT_sidebar")[-3:] == NEXT


def test_correctives(character: Family) -> None:
    """The list has correctives alone, and the buttons are of the chosen one."""
    armature, tubes = character
    panel = "SBS_PT_correctives"
    addon.ops.bind()
    assert not draw(panel)
    tubes[0].shape_key_add(name="Basis")
    tubes[0].shape_key_add(name="Smile")
    deltas = np.ones((len(tubes[0].data.vertices), 3))
    for bone in ("B1", "B2"):
        addon.module("engine.correctives.correctives").put(tubes[0], armature, bone, (0.8, 0.0, 0.0), bone, deltas)
    rows = ["mute", "name"] * 2
    buttons = ["value", "Go to Pose", "Edit", "Mirror", "Remove", "Solve Again"]
    assert draw(panel) == [*rows, "B1, 46°", *buttons]
    tubes[0].sbs.corrective_row = 3
    assert draw(panel) == [*rows, "B2, 46°", *buttons]


def test_broken_correctives() -> None:
    tube, armature = rigs.make_bound()
    addon.module("engine.correctives.correctives").put(
        tube, armature, "B2", (1.0, 0.0, 0.0), "Bent", np.full((len(tube.data.vertices), 3), 0.01)
    )
    current_layer().update()
    assert not draw("SBS_PT_broken_correctives")
    bpy.data.objects.remove(armature)
    current_layer().update()
    drawn = draw("SBS_PT_broken_correctives")
    assert drawn[:2] == ["name", "Remove Corrective"] and len(drawn) > 2
    assert addon.ops.remove_corrective(number="1") == {"FINISHED"}
    assert not draw("SBS_PT_broken_correctives")


@pytest.mark.parametrize("place", ["sidebar", "modifier"])
def test_spread_twist(character: Family, place: str) -> None:
    armature, tubes = character
    panel = f"SBS_PT_{place}_twist"
    addon.ops.bind(all_meshes=True)
    tubes[0].sbs.scope = "RIG"
    assert draw(panel) == [], "what it is about is drawn when it is switched on"
    armature.sbs.spread_twist = True
    drawn = draw(panel)
    assert drawn[:5] == ["twist_all_bones", "sbs_twist", "B1", "sbs_twist", "B2"]
    assert {"Find Limbs Again", "twist_profile", "twist_across", "twist_follow"} <= set(drawn)
    armature.sbs.twist_all_bones = True
    assert draw(panel).count("sbs_twist") == 4
    armature.sbs.twist_row = 0
    for bone in armature.pose.bones:
        bone.sbs_twist = False
    assert "B0: " in " ".join(draw(panel)), "the reason of the chosen row"
    armature.sbs.method = "BONES_BLENDING"
    assert draw(panel) == []
    armature.sbs.method = "SPHERICAL"
    # Of an armature, the same in the sidebar.
    rigs.select([armature])
    assert draw("SBS_PT_sidebar_twist")
    armature.sbs.twist_found = False
    assert "Find Limbs" in draw("SBS_PT_sidebar_twist")


@pytest.mark.blender(since=(5, 1))
def test_portable(character: Family) -> None:
    armature = character[0]
    addon.ops.make_portable()
    assert {"Update", "Use Add-on Again"} <= set(draw("SBS_PT_sidebar"))
    assert draw("SBS_PT_sidebar_advanced") == ["show_viewport", "show_render", "Unbind"]
    rigs.select([armature])
    assert "Part0" in draw("SBS_PT_meshes")


def test_set_parent(character: Family) -> None:
    """Ours opens where it has something to add, with all that Blender's own has there."""
    armature, tubes = character
    assert not draw("SBS_MT_set_parent"), "no armature is active"
    rigs.select([armature, *tubes])
    drawn = [text.strip() for text in draw("SBS_MT_set_parent")]
    assert drawn.index("Object") < drawn.index("Armature Deform") < drawn.index("Spherical Blend Skinning")
    assert drawn[-2:] == ["With Heat Weights", "With Capsule Weights"]
    bpy.ops.object.mode_set(mode="POSE")
    assert not draw("SBS_MT_set_parent")
    bpy.ops.object.mode_set(mode="OBJECT")


def test_zones(character: Family) -> None:
    armature, _tubes = character
    rigs.select([armature])
    bpy.ops.object.mode_set(mode="POSE")
    armature.data.bones.active = armature.data.bones[0]
    drawn = draw("SBS_PT_zones")
    assert drawn[:5] == ["show_zones", "Fit Bends", armature.data.bones[0].name, "bones_blending", "own_zone"]


def test_muscles(character: Family) -> None:
    armature, _tubes = character
    panel = "SBS_PT_sidebar_muscles"
    assert draw(panel) == ["Fit Muscles", "Add Muscle"]
    muscle = muscled.add(armature)
    unbound = draw(panel)
    assert "use_muscles" not in unbound and "activation" in unbound
    addon.ops.bind()
    current_layer().update()
    drawn = draw(panel)
    assert drawn[:3] == ["use_muscles", "use", "name"] and "activation" in drawn and "radii" not in drawn
    assert {"Volume kept: 100.0 %", "Radius: 100 % of rest", "Origin", "Via", "Insertion", "Belly"} <= set(drawn)
    muscle.profile = "RADII"
    assert "radii" in draw(panel)
    # Of a belly and a handle the panel is that of their armature.
    for part in (muscle.belly, muscle.origin):
        rigs.select([part])
        assert "activation" in draw(panel)
        assert not draw("SBS_PT_sidebar") and not draw("SBS_PT_modifier")
    muscle.radius = 10.0
    current_layer().update()
    assert "radius" in " ".join(draw(panel)), "what is wrong"
    muscle.use = False
    current_layer().update()
    assert "Not in use" in draw(panel)


@pytest.fixture
def with_muscle(character: Family) -> Family:
    muscled.add(character[0])
    addon.ops.bind()
    current_layer().update()
    return character


@pytest.mark.blender(since=(5, 1))
def test_muscles_of_portable_meshes(with_muscle: Family) -> None:
    with_muscle[1][0].sbs.use_muscles = False
    current_layer().update()
    addon.ops.make_portable()
    assert "use_muscles" not in draw("SBS_PT_sidebar_muscles")


@pytest.mark.parametrize("target", ["POINT_CACHE", "SHAPE_KEYS"])
def test_baked(with_muscle: Family, tmp_path: Path, target: str) -> None:
    """The panels say that a mesh is baked, and of a muscle nothing that was of the last frame."""
    armature, tubes = with_muscle
    panels = ("SBS_PT_sidebar", "SBS_PT_modifier", "SBS_PT_sidebar_muscles")

    def are_baked() -> list[bool]:
        current_layer().update()
        return ["Baked: " in " ".join(draw(panel)) for panel in panels]

    assert not any(are_baked()) and "Volume kept: 100.0 %" in draw("SBS_PT_sidebar_muscles")
    options = {"use_scene_range": False, "frame_start": 1, "frame_end": 2, "directory": str(tmp_path)}
    assert addon.ops.bake(target=target, **options) == {"FINISHED"}
    assert all(are_baked())
    rigs.select([armature])
    drawn = " ".join(draw("SBS_PT_sidebar_muscles"))
    assert "Part0 is baked" in drawn and "Volume kept" not in drawn
    # Another mesh that is not baked knows volumes again.
    rigs.select(tubes[1:2])
    addon.ops.bind()
    assert not any(are_baked()) and "Volume kept: 100.0 %" in draw("SBS_PT_sidebar_muscles")
    # And so does this one, once the bake is deleted.
    if target == "SHAPE_KEYS":
        tubes[0].shape_key_clear()
    else:
        tubes[0].modifiers.remove(tubes[0].modifiers["SBS Bake"])
    next(modifier for modifier in tubes[0].modifiers if modifier.type == "NODES").show_viewport = True
    rigs.select(tubes[:1])
    assert not any(are_baked())


def test_deleted_muscles(character: Family) -> None:
    armature, _tubes = character
    for name in ("Flexor.L", "Extensor.L"):
        muscled.add(armature, name)
    current_layer().update()
    for row, part, names in ((1, "insertion", 2), (1, "belly", 1), (0, "belly", 0)):
        rigs.select([getattr(muscled.muscle_of(armature, row), part)])
        bpy.ops.object.delete()
        rigs.select([armature])
        current_layer().update()
        assert draw("SBS_PT_sidebar_muscles").count("name") == names
