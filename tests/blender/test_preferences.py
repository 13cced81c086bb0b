# SPDX-License-Identifier: GPL-3.0-or-later
"""What the add-on does without preferences, and what their page says."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import addon
import bpy
import pytest
import rigs
from expected import TOLERANCE, deformed, error


@pytest.fixture
def for_this_session() -> Iterator[None]:
    """As ``blender --addons`` and scripts of farms switch add-ons on."""
    addon.disable(wheels=False)
    addon.enable(wheels=False, default_set=False)
    everything = bpy.context.preferences
    assert everything is not None and addon.name() not in everything.addons
    yield
    addon.disable(wheels=False)
    addon.enable(wheels=False)


def test_without_preferences(for_this_session: None) -> None:
    armature, tube = rigs.make_armature(), rigs.make_tube()
    rigs.select([tube, armature])
    assert addon.ops.bind() == {"FINISHED"}
    assert tube.sbs.center == "OPTIMIZED" and tube.sbs.spread_twist
    tube.sbs.center = "JOINT_SET"
    tube.sbs.spread_twist = False
    rigs.turn(armature)
    assert error(rigs.evaluated(tube), deformed(tube, armature)) < TOLERANCE


class Page:
    """Takes down the texts that are drawn."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def label(self, text: str = "", **_options: object) -> None:
        self.texts.append(text)

    def prop(self, *_arguments: object, **_options: object) -> None:
        pass

    def column(self, **_options: object) -> Page:
        return self


def test_page() -> None:
    """Lines of words, not what Python prints of a dictionary."""
    page = Page()
    own = addon.module("settings.preferences").SBS_AP_preferences
    own.draw(SimpleNamespace(layout=page), bpy.context)
    version = addon.module("core.library").load().__version__
    assert f"Library {version}" in page.texts
    assert any(text.startswith("Instruction set: ") for text in page.texts)
    assert not [text for text in page.texts if set(text) & set("{}'")]
