# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes and exports, from their dialogs to their files."""

from __future__ import annotations

import scenes
from session import Session, wait_until


def test_bake_with_progress(character: Session) -> None:
    blender = character
    scenes.bind(blender)
    blender.run(
        "scene = bpy.context.scene\n"
        "scene.frame_start, scene.frame_end = 1, 5000\n"
        "import rigs\n"
        "rigs.select([bpy.data.objects['Tube']])\n"
    )
    folder = blender.folder / "bake"
    caches = "[modifier.name for modifier in bpy.data.objects['Tube'].modifiers if modifier.type == 'MESH_CACHE']"
    sidebar = scenes.open_tab(blender)
    scenes.open_panel(blender, "Bake or Make Portable")
    button = blender.find_button("bpy.ops.sbs.bake", sidebar)
    blender.run(
        "bpy.context.window_manager.operator_properties_last('sbs.bake').directory = folder", folder=str(folder)
    )

    blender.click(button)
    scenes.pause()
    blender.screenshot("bake")
    blender.key("Return")
    blender.wait_for("bpy.context.scene.frame_current > 5")
    blender.screenshot("bake progress")
    blender.key("Escape")
    blender.wait_for("bpy.context.scene.frame_current == 1")
    assert not blender.get(caches)
    assert not list(folder.glob("*"))

    blender.run("bpy.context.scene.frame_end = 4\nbpy.ops.ed.undo_push(message='Few frames')")
    blender.click(button)
    scenes.pause()
    blender.key("Return")
    blender.wait_for(caches)
    assert [path.name for path in folder.glob("*")] == ["Tube.pc2"]
    scenes.assert_right(blender)

    # Every other frame, by the panel of the last operation; and the same once more.
    size = (folder / "Tube.pc2").stat().st_size
    blender.move(scenes.EMPTY)
    blender.key("F9")
    scenes.pause()
    blender.screenshot("bake again")
    blender.click(scenes.STEP_OF_BAKE)
    wait_until(lambda: (folder / "Tube.pc2").stat().st_size < 0.6 * size, "half of the frames are baked")
    blender.wait_for(caches)
    blender.move((scenes.EMPTY[0], 200))
    blender.key("Escape", "shift+r")
    for _ in range(2):
        scenes.pause()
        blender.wait_for(caches)
        blender.key("ctrl+z")
    blender.wait_for(f"not {caches}")
    scenes.assert_right(blender)


def test_export_by_the_menu(character: Session) -> None:
    """The FBX exporter writes the skin, and leaves the character bound; so does Esc in its dialog, and undo."""
    blender = character
    scenes.bind(blender)
    blender.run("bpy.ops.ed.undo_push(message='Bound')")
    path = blender.folder / "by the menu.fbx"
    modifiers = (
        "[[modifier.name, modifier.show_viewport, modifier.show_render, getattr(modifier, 'use_vertex_groups', None)]"
        " for modifier in bpy.data.objects['Tube'].modifiers]"
    )
    before = blender.get(modifiers)
    for key in ("Escape", "Return"):
        blender.run(
            "bpy.context.window_manager.operator_properties_last('export_scene.fbx').filepath = path", path=str(path)
        )
        scenes.open_export_dialog(blender)
        blender.screenshot("export dialog")
        blender.key(key)
        blender.wait_for("len(bpy.context.window_manager.windows) == 1")
        scenes.pause()
        assert path.exists() == (key == "Return")
        assert blender.get(modifiers) == before
    scenes.assert_right(blender)
    # What the exporter itself calls one step.
    blender.move(scenes.EMPTY)
    blender.key("ctrl+z")
    scenes.pause()
    assert blender.get(modifiers) == before
    scenes.assert_right(blender)
    assert blender.run(
        "items = set(bpy.data.objects)\n"
        "bpy.ops.import_scene.fbx(filepath=path)\n"
        "twin = next(item for item in bpy.data.objects if item not in items and item.type == 'MESH')\n"
        "result = [len(twin.vertex_groups), [modifier.type for modifier in twin.modifiers]]",
        path=str(path),
    ) == [4, ["ARMATURE"]]


def test_bellies_are_hidden_while_a_file_is_chosen(character: Session) -> None:
    """Only the character is shown meanwhile; exporters in C tell nobody when they begin."""
    blender = character
    blender.run("bpy.ops.sbs.muscle_demo()")
    hidden = "[item.hide_viewport for item in bpy.data.objects if item.get('sbs_muscle') and item.type == 'MESH']"
    assert blender.get(hidden) and not any(blender.get(hidden))
    path = blender.folder / "dialog.obj"
    for key in ("Escape", "Return"):
        blender.run("bpy.ops.wm.obj_export('INVOKE_DEFAULT', filepath=path)", path=str(path))
        blender.wait_for(f"all({hidden})")
        scenes.pause()
        blender.screenshot("obj dialog")
        blender.key(key)
        blender.wait_for(f"not any({hidden})")
        assert path.exists() == (key == "Return")
    names = {line.split()[1] for line in path.read_text().splitlines() if line.startswith("o ")}
    bellies = blender.get("[item.name for item in bpy.data.objects if item.get('sbs_muscle') and item.type == 'MESH']")
    assert names and not names & set(bellies)
