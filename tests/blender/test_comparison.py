# SPDX-License-Identifier: GPL-3.0-or-later
"""Differences from linear blending; drawing them needs a window, where other tests look at them."""

from __future__ import annotations

from pathlib import Path

import addon
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, deformed, error
from objects import Character, current_layer


@pytest.mark.parametrize("method", ["SPHERICAL", "DUAL_QUATERNION", "BONES_BLENDING", "LINEAR"])
def test_difference(character: Character, method: str) -> None:
    tube, armature = character
    tube.sbs.method = method
    tube.sbs.amount = 0.7
    tube.location = (0.1, 0.0, 0.2)
    shown = rigs.evaluated(tube)
    found = addon.module("comparison.difference").find(tube)
    linear = deformed(tube, armature, method="linear")
    assert error(found.shown, shown) < TOLERANCE
    assert error(found.linear, linear) < TOLERANCE
    np.testing.assert_allclose(found.distances, np.linalg.norm(shown - linear, axis=1), atol=1e-5)
    assert (found.distances.max() > 0.01) == (method != "LINEAR")


def test_no_difference_of_what_is_not_deformed(character: Character) -> None:
    tube, _armature = character
    find = addon.module("comparison.difference").find
    assert find(rigs.make_tube(name="Other")) is None
    tube.sbs.armature = None
    current_layer().update()
    assert find(tube) is None


def test_shown_in_its_place(character: Character, tmp_path: Path) -> None:
    """As while the key is held: views show linear blending, a bake is of the chosen method."""
    tube, armature = character
    tube.sbs.amount = 0.5
    attributes = set(tube.data.attributes.keys())
    ours = rigs.evaluated(tube)
    show = addon.module("comparison.operators")._update
    show(shown=True)
    assert error(rigs.evaluated(tube), deformed(tube, armature, method="linear")) < TOLERANCE
    rigs.turn(armature, seed=3)
    assert error(rigs.evaluated(tube), deformed(tube, armature, method="linear")) < TOLERANCE
    rigs.turn(armature)

    assert set(tube.data.attributes.keys()) == attributes

    rigs.select([tube])
    frames = {"use_scene_range": False, "frame_start": 1, "frame_end": 2}
    assert addon.ops.bake(directory=str(tmp_path / "cache"), **frames) == {"FINISHED"}
    assert error(rigs.evaluated(tube), ours) < TOLERANCE


def test_colors() -> None:
    colors = addon.module("comparison.overlay").heat_colors(np.array([0.0, 1.0, 0.5, 0.25, 9.0]), 1.0)
    np.testing.assert_allclose(colors[:, :3], [(0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 1, 1), (1, 0, 0)], atol=1e-6)
    np.testing.assert_allclose(addon.module("comparison.overlay").heat_colors(np.zeros(2), 0.0)[:, 2], 1.0)
