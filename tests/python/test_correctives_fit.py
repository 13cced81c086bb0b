# SPDX-License-Identifier: MIT
"""Correctives fitted to sequences: those that made a sequence are found again; held-out frames; what cannot be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_correctives import X, around, pose, sculpted, size, woman

from sbs import correctives
from sbs.correctives import Correctives

RANDOM = np.random.default_rng(6)
BENDS = RANDOM.uniform(0, 110, (32, 2))
FRAMES = np.stack([pose(LeftLeg=(knee, X), RightLeg=(other, X)) for knee, other in BENDS])


def sequence() -> tuple[Correctives, np.ndarray]:
    """Frames of the woman with two sculpts that her left knee drives, and one that her right knee does."""
    skin, made = woman().skin, Correctives(woman().skeleton)
    for joint, angle in (("LeftLeg", 50.0), ("LeftLeg", 105.0), ("RightLeg", 100.0)):
        bent = pose(**{joint: (angle, X)})
        made.add(bent, sculpted(skin.deform(bent), joint, seed=int(angle)), joints=[joint])
    made.solve(skin)
    return made, skin.deform_many(FRAMES, correctives=made)


def test_what_made_a_sequence_is_found() -> None:
    """To a fifth of the error before: poses are frames, not the sculpted ones. Shapes are sparse."""
    made, positions = sequence()
    found = correctives.fit(woman().skeleton, woman().skin, FRAMES, positions, ["LeftLeg", "RightLeg", "Neck"], poses=6)
    assert found.error < 0.1 * found.error_before
    assert found.held_out_error < 0.2 * found.held_out_error_before
    near = {joint: set(around(joint).tolist()) for joint in ("LeftLeg", "RightLeg")}
    assert {each.driver.joints[0] for each in found.correctives} == {"LeftLeg", "RightLeg"}
    for each in found.correctives:
        assert each.shape is not None
        assert set(each.shape.vertices.tolist()) <= near["LeftLeg"] | near["RightLeg"]
    with_all = woman().skin.deform_many(FRAMES, correctives=found.correctives)
    assert np.sqrt(np.mean(np.sum((with_all - positions) ** 2, axis=2))) / size() < 0.2 * found.error_before
    assert len(made) == 3


def test_nothing_is_found_in_noise() -> None:
    """Frames that are held out gain nothing, so no pose is taken."""
    noise = RANDOM.normal(scale=1e-3 * size(), size=(len(FRAMES), woman().skin.vertex_count, 3))
    positions = woman().skin.deform_many(FRAMES) + noise
    found = correctives.fit(woman().skeleton, woman().skin, FRAMES, positions, ["LeftLeg"])
    assert len(found.correctives) == 0
    assert found.error == found.error_before


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"positions": np.zeros((3, 4, 3))}, ValueError, r"positions has shape \(3, 4, 3\), expected \(32, 13380, 3\)"),
        ({"held_out": 40}, ValueError, "there are 32 frames, of which every 40 is to be held out"),
        ({"poses": 0}, ValueError, "poses must be at least 1"),
        ({"joints": ["nobody"]}, KeyError, "no joint is named 'nobody'"),
    ],
)
def test_what_cannot_be_fitted(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    given: dict[str, Any] = {
        "skinning_matrices": FRAMES,
        "positions": np.zeros((len(FRAMES), woman().skin.vertex_count, 3)),
        "joints": ["LeftLeg"],
        **changes,
    }
    with pytest.raises(error, match=message):
        correctives.fit(woman().skeleton, woman().skin, **given)
