# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels and the pie menu, clicked at, and after a file was opened."""

from __future__ import annotations

import scenes
from session import Session, changed


def test_a_file_is_opened(character: Session) -> None:
    """The panel tells that a mesh is bound before any edit."""
    blender = character
    scenes.bind(blender)
    blender.run(
        "path = folder + '/opened.blend'\n"
        "bpy.ops.wm.save_as_mainfile(filepath=path)\n"
        "bpy.ops.wm.open_mainfile(filepath=path, load_ui=False)",
        folder=str(blender.folder),
    )
    blender.wait_for("addon.module('engine.live.states').state_of(bpy.data.objects['Tube']) is not None")
    scenes.assert_right(blender)


def test_pie(character: Session) -> None:
    blender = character
    scenes.bind(blender, center="OPTIMIZED")
    blender.move((500, 400))
    blender.key("ctrl+shift+d")
    scenes.pause()
    blender.screenshot("pie")
    # To the west.
    blender.click((400, 400))
    blender.wait_for("bpy.data.objects['Tube'].sbs.preset == 'SPEED'")


def test_panels(character: Session) -> None:
    blender = character
    scenes.bind(blender)
    sidebar = scenes.open_tab(blender)
    with_panel = blender.settled("sidebar", sidebar)
    assert with_panel.std() > 10

    scenes.open_panel(blender, "Advanced")
    blender.click(blender.find_button("bpy.ops.sbs.unbind", sidebar))
    blender.wait_for(f"not {scenes.IS_BOUND}")
    assert changed(with_panel, blender.settled("sidebar unbound", sidebar)) > 0.05

    scenes.bind(blender)
    # The editor offers the tab once it has seen the object.
    blender.settled()
    blender.run("next(a for a in window.screen.areas if a.type == 'PROPERTIES').spaces.active.context = 'MODIFIER'")
    properties = blender.region("WINDOW", "PROPERTIES")
    closed = blender.settled("modifier panel closed", properties)
    # The panel stands under the button for new modifiers.
    blender.click((properties[0] + 80, properties[1] + 92))
    assert changed(closed, blender.settled("modifier panel", properties)) > 0.05
