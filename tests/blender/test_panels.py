# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels and menus in every state, drawn into a layout that knows what Blender's knows, for modules have no window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import addon
import bpy
import muscled
import pytest
import rigs
from objects import Family, current_layer

LAYOUT: Any = bpy.types.UILayout.bl_rna
ICONS = LAYOUT.functions["label"].parameters["icon"].enum_items

#: About as many letters as stand in a line of the sidebar at its default width; a label has an icon, too.
LETTERS = 30


class Layout:
    """What a draw function calls, checked: names of properties, operators, icons and options, and how long labels are.

    Attributes
    ----------
    drawn : list of str
        Texts and names in order.
    """

    def __init__(self, drawn: list[str] | None = None) -> None:
        self.drawn = [] if drawn is None else drawn

    def _inner(self, **options: Any) -> Layout:
        assert options.keys() <= {"align", "heading"}
        return Layout(self.drawn)

    row = column = box = split = menu_pie = _inner

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
    """The options of an operator that is drawn."""

    def __init__(self, kind: Any) -> None:
        object.__setattr__(self, "kind", kind)

    def __setattr__(self, name: str, value: Any) -> None:
        known = self.kind.properties[name]
        assert known.type != "ENUM" or value in known.enum_items, (name, value)


def draw(name: str) -> list[str]:
    """What a panel or menu draws; nothing if it is not to be seen."""
    kind = getattr(bpy.types, name)
    if getattr(kind, "bl_context", "") == "posemode" and bpy.context.mode != "POSE":
        # So Blender itself has it.
        return []
    if hasattr(kind, "poll") and not kind.poll(bpy.context):
        return []
    layout = Layout()
    kind.draw(SimpleNamespace(layout=layout), bpy.context)
    return layout.drawn


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
    assert draw("SBS_PT_sidebar") == ["Replace Armature", "Bind All 3 Meshes"]
    assert draw("SBS_PT_sidebar") == draw("SBS_PT_modifier")
    assert not draw("SBS_PT_sidebar_advanced")
    tubes[0].modifiers["Armature"].use_vertex_groups = False
    tubes[0].modifiers["Armature"].use_bone_envelopes = True
    assert "Replace, Capsules" in draw("SBS_PT_sidebar")
    tubes[0].modifiers.clear()
    assert draw("SBS_PT_sidebar")[:3] == ["Bind", "Bind, Heat Weights", "Bind, Capsule Weights"]
    rigs.select([armature])
    assert draw("SBS_PT_sidebar") == ["Part1", "Part2", "Bind All Meshes"]
    for tube in tubes:
        tube.modifiers.clear()
    assert draw("SBS_PT_sidebar")[0].startswith("No mesh is moved")


@pytest.mark.parametrize("mode", ["OBJECT", "POSE"])
def test_rig(character: Family, mode: Literal["OBJECT", "POSE"]) -> None:
    """All its meshes, one method for them, and whether weights are missing."""
    armature, tubes = character
    rigs.select(tubes[:2])
    addon.ops.bind()
    rigs.select([armature])
    bpy.ops.object.mode_set(mode=mode)
    drawn = draw("SBS_PT_sidebar")
    for text in ("Part0", "Part1", "Part2", "Bind All Meshes", "QUALITY", "SPEED", "GAME", "Rebind", "Unbind"):
        assert text in drawn
    assert draw("SBS_PT_sidebar_advanced") == ["method", "rotation", "center", "influence_limit"]
    addon.ops.bind(all_meshes=True)
    assert "Bind All Meshes" not in draw("SBS_PT_sidebar")
    tubes[1].sbs.method = "LINEAR"
    assert "Apply to All Meshes" in draw("SBS_PT_sidebar")
    assert addon.ops.share_settings() == {"FINISHED"}
    assert tubes[1].sbs.method == "SPHERICAL"
    assert "Apply to All Meshes" not in draw("SBS_PT_sidebar")
    tubes[1].vertex_groups.clear()
    addon.ops.rebind(all_meshes=True)
    assert any(text.startswith("Without weights") for text in draw("SBS_PT_sidebar"))
    assert draw("SBS_MT_pie")
    bpy.ops.object.mode_set(mode="OBJECT")


def test_many_meshes(character: Family) -> None:
    armature, _ = character
    for number in range(10):
        rigs.make_tube(rows=3, name=f"More{number}").modifiers.new("Armature", "ARMATURE").object = armature
    rigs.select([armature])
    drawn = draw("SBS_PT_sidebar")
    assert "and 5 more" in drawn and len(drawn) == 10


def test_mesh(character: Family) -> None:
    armature, tubes = character
    addon.ops.bind()
    drawn = draw("SBS_PT_sidebar")
    assert drawn[:4] == ["object", "QUALITY", "SPEED", "GAME"]
    assert {"Make Portable", "Bake...", "Rebind", "Unbind", "show_viewport", "show_render"} <= set(drawn)
    assert "scope" not in drawn, "the only mesh that is bound"
    addon.ops.bind(all_meshes=True)
    assert "scope" in draw("SBS_PT_sidebar") and "Apply to All Meshes" not in draw("SBS_PT_sidebar")
    tubes[0].sbs.preset = "GAME"
    assert "Apply to All Meshes" in draw("SBS_PT_sidebar")
    armature.sbs.method = "BONES_BLENDING"
    armature.sbs.blended_bones = "MARKED"
    rigs.select(tubes[1:2])
    bones = ["blended_bones", "Mark Selected", "Unmark Selected", "bones_profile", "zone_scale"]
    assert draw("SBS_PT_sidebar_advanced")[-5:] == bones
    tubes[1].sbs.armature = None
    current_layer().update()
    assert "No armature" in draw("SBS_PT_sidebar")


def test_weights_are_offered(character: Family) -> None:
    tube = character[1][0]
    tube.vertex_groups.clear()
    addon.ops.bind()
    assert {"Heat Weights", "Capsule Weights"} <= set(draw("SBS_PT_sidebar"))
    addon.ops.automatic_weights()
    assert "Heat Weights" not in draw("SBS_PT_sidebar")


@pytest.mark.parametrize("place", ["sidebar", "modifier"])
def test_spread_twist(character: Family, place: str) -> None:
    armature, tubes = character
    panel = f"SBS_PT_{place}_twist"
    addon.ops.bind(all_meshes=True)
    tubes[0].sbs.scope = "RIG"
    assert draw(panel) == [], "what it is about is drawn when it is switched on"
    armature.sbs.spread_twist = True
    drawn = draw(panel)
    assert drawn[:4] == ["sbs_twist", "B1", "sbs_twist", "B2"]
    assert " ".join(drawn[4:6]).startswith("B1: a limb, ")
    assert {"twist_all_bones", "Find Again", "twist_profile", "twist_across", "twist_follow"} <= set(drawn)
    armature.sbs.twist_all_bones = True
    assert draw(panel).count("sbs_twist") == 4
    armature.sbs.twist_row = 0
    for bone in armature.pose.bones:
        bone.sbs_twist = False
    words = " ".join(draw(panel))
    assert "No bone is ticked, so" in words and "B0: a root:" in words
    armature.sbs.method = "BONES_BLENDING"
    assert draw(panel) == []
    armature.sbs.method = "SPHERICAL"
    # Of an armature, the same.
    rigs.select([armature])
    assert draw(panel)
    armature.sbs.twist_found = False
    assert "Find Limbs" in draw(panel)


@pytest.mark.blender(since=(5, 1))
def test_portable(character: Family) -> None:
    armature = character[0]
    addon.ops.make_portable()
    assert {"Portable, moved by Rig", "Update", "Make Live"} <= set(draw("SBS_PT_sidebar"))
    rigs.select([armature])
    assert "Part0" in draw("SBS_PT_sidebar")


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
    """Of a bone that no mesh blends, the panel says so in lines that fit."""
    armature, _tubes = character
    rigs.select([armature])
    bpy.ops.object.mode_set(mode="POSE")
    armature.data.bones.active = armature.data.bones[0]
    drawn = draw("SBS_PT_zones")
    assert "No mesh blends it with its parent" in " ".join(drawn)
    assert drawn[:5] == ["show_zones", "Fit Zones", armature.data.bones[0].name, "bones_blending", "own_zone"]


def test_muscles(character: Family) -> None:
    armature, tubes = character
    assert draw("SBS_PT_sidebar_muscles") == ["Fit Muscles", "Add Muscle"]
    rigs.select([armature])
    bpy.ops.object.mode_set(mode="POSE")
    armature.data.bones.active = armature.data.bones["B2"]
    rigs.select_bones(armature, "B1", "B2")
    assert addon.ops.add_muscle() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert "No bound mesh covers it" in " ".join(draw("SBS_PT_sidebar_muscles"))
    rigs.select(tubes[:1])
    addon.ops.bind()
    current_layer().update()
    drawn = draw("SBS_PT_sidebar_muscles")
    assert drawn[:3] == ["use_muscles", "use", "name"] and "activation" in drawn
    assert {"Volume kept: 100.0 %", "Radius: 100 % of rest", "Origin", "Insertion", "Belly"} <= set(drawn)
    assert "radii" not in drawn and "Via" not in drawn and "Add Via Point" in drawn
    muscles: list[Any] = list(armature.sbs.muscles)
    (muscle,) = muscles
    muscle.profile = "RADII"
    assert "radii" in draw("SBS_PT_sidebar_muscles")
    muscle.most_growth = 1.0
    muscle.activation = 1.0
    current_layer().update()
    assert "It may not grow further" in " ".join(draw("SBS_PT_sidebar_muscles"))
    # Of a belly and a handle the panel is that of their armature.
    for part in (muscle.belly, muscle.origin):
        rigs.select([part])
        assert "activation" in draw("SBS_PT_sidebar_muscles")
        assert not draw("SBS_PT_sidebar") and not draw("SBS_PT_modifier")
    muscle.radius = 10.0
    current_layer().update()
    assert "radius is too large" in " ".join(draw("SBS_PT_sidebar_muscles"))
    muscle.use = False
    current_layer().update()
    assert "Not in use" in draw("SBS_PT_sidebar_muscles")


@pytest.fixture
def with_muscle(character: Family) -> Family:
    """One muscle, and the first of three meshes bound."""
    muscled.add(character[0])
    addon.ops.bind()
    current_layer().update()
    return character


def test_muscles_of_meshes_that_are_not_bound(with_muscle: Family) -> None:
    """Whether such a mesh covers muscles is no choice yet."""
    _, tubes = with_muscle
    assert "use_muscles" in draw("SBS_PT_sidebar_muscles")
    rigs.select(tubes[1:2])
    drawn = draw("SBS_PT_sidebar_muscles")
    assert "use_muscles" not in drawn and "activation" in drawn
    assert "Once it is bound, this mesh covers muscles" in " ".join(drawn)


@pytest.mark.blender(since=(5, 1))
def test_muscles_of_portable_meshes(with_muscle: Family) -> None:
    _, tubes = with_muscle
    tubes[0].sbs.use_muscles = False
    current_layer().update()
    addon.ops.make_portable()
    drawn = draw("SBS_PT_sidebar_muscles")
    assert "use_muscles" not in drawn and "A portable mesh covers no muscles" in " ".join(drawn)


@pytest.mark.parametrize("target", ["POINT_CACHE", "SHAPE_KEYS"])
def test_baked(with_muscle: Family, tmp_path: Path, target: str) -> None:
    """The panels say that a mesh is baked, and of a muscle nothing that was of the last frame."""
    armature, tubes = with_muscle
    words = "Baked: to change it, delete the bake and press Viewport"
    panels = ("SBS_PT_sidebar", "SBS_PT_modifier", "SBS_PT_sidebar_muscles")
    assert not any(words in " ".join(draw(panel)) for panel in panels)
    assert "Volume kept: 100.0 %" in draw("SBS_PT_sidebar_muscles")
    options = {"use_scene_range": False, "frame_start": 1, "frame_end": 2, "directory": str(tmp_path)}
    assert addon.ops.bake(target=target, **options) == {"FINISHED"}
    current_layer().update()
    for panel in panels:
        assert words in " ".join(draw(panel)), panel
    rigs.select([armature])
    drawn = " ".join(draw("SBS_PT_sidebar_muscles"))
    assert "Part0 is baked: what changes here does not show" in drawn and "Volume kept" not in drawn
    # Another mesh that is not baked knows volumes again.
    rigs.select(tubes[1:2])
    addon.ops.bind()
    current_layer().update()
    drawn = " ".join(draw("SBS_PT_sidebar_muscles"))
    assert "Volume kept: 100.0 %" in drawn and "baked" not in drawn
    # And so does this one, once the bake is deleted.
    if target == "SHAPE_KEYS":
        tubes[0].shape_key_clear()
    else:
        tubes[0].modifiers.remove(tubes[0].modifiers["SBS Bake"])
    next(modifier for modifier in tubes[0].modifiers if modifier.type == "NODES").show_viewport = True
    current_layer().update()
    rigs.select(tubes[:1])
    for panel in panels:
        assert words not in " ".join(draw(panel)), panel


def test_deleted_muscles(character: Family) -> None:
    """Muscles deleted as objects are not drawn, though undo may restore them."""
    armature, _tubes = character
    for name in ("Flexor.L", "Extensor.L"):
        muscled.add(armature, name)
    current_layer().update()
    rigs.select([muscled.muscle_of(armature, 1).insertion])
    bpy.ops.object.delete()
    rigs.select([armature])
    current_layer().update()
    drawn = draw("SBS_PT_sidebar_muscles")
    assert drawn.count("name") == 2 and "Insertion" not in drawn and {"Origin", "Belly"} <= set(drawn)
    rigs.select([muscled.muscle_of(armature, 1).belly])
    bpy.ops.object.delete()
    rigs.select([armature])
    current_layer().update()
    drawn = draw("SBS_PT_sidebar_muscles")
    assert drawn.count("name") == 1 and "activation" not in drawn
    armature.sbs.muscle_row = 0
    assert "activation" in draw("SBS_PT_sidebar_muscles")
    rigs.select([muscled.muscle_of(armature, 0).belly])
    bpy.ops.object.delete()
    rigs.select([armature])
    current_layer().update()
    assert draw("SBS_PT_sidebar_muscles") == ["Fit Muscles", "Add Muscle"]
