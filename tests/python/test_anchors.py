# SPDX-License-Identifier: MIT
"""Known answers of Delta Mush and Direct Delta Mush, which pages of the documentation measure."""

from __future__ import annotations

import numpy as np
import pytest
from solids import arm, taken_apart, turned

import sbs
from pages.delta_mush import ANCHORS
from sbs.quality.methods import Deformer


@pytest.fixture(scope="module", params=list(ANCHORS))
def anchor(request: pytest.FixtureRequest) -> Deformer:
    """The method, bound to an arm. All is float64; tolerances are some roundings of a smoothing."""
    return ANCHORS[request.param].skin(arm(rings=31, sides=16))


def test_the_rest_pose_stays_and_moves_as_a_whole(anchor: Deformer) -> None:
    character = arm(rings=31, sides=16)
    move = np.eye(4)
    move[:3, :3] = sbs.rotations.matrices_from_axis_angle([1, 2, 3], 2.0)
    move[:3, 3] = 3, -4, 5
    rest = character.mesh.positions
    still = np.tile(np.eye(4), (3, 1, 1))
    np.testing.assert_allclose(anchor.deform(still), rest, atol=1e-12)
    np.testing.assert_allclose(anchor.deform(move @ still), rest @ move[:3, :3].T + move[:3, 3], atol=1e-12)


def test_seams_stay_closed() -> None:
    """A mesh whose triangles have corners of their own deforms as the same mesh without seams."""
    character = arm(rings=15, sides=8)
    apart = taken_apart(character)
    corners = character.mesh.triangles.reshape(-1)
    matrices = turned(character, "fore", [1, 1, 0], 80)
    for method in ANCHORS.values():
        whole = method.skin(character).deform(matrices)
        cut = method.skin(apart).deform(matrices)
        # The edge that a tangent follows may be another one of the same vertex: not so for Direct Delta Mush.
        assert np.abs(cut - whole[corners]).max() < (1e-9 if "Direct" in method.label else 0.05)
