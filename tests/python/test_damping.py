# SPDX-License-Identifier: MIT
"""What truncated singular values do to a pose: the center that is nearest to the mean of the vertices."""

from __future__ import annotations

import numpy as np
import pytest

import sbs
from sbs import rotations


def test_rcond_takes_the_center_nearest_to_the_mean() -> None:
    """The paper takes that of the least norm, which depends on where the origin is."""
    rest = np.array([[3.0, 1, 5], [3.0, -1, 7]])
    skin = sbs.Skin(rest, [[0, 1]] * 2, [[0.5, 0.5]] * 2)
    matrices = np.stack([np.eye(4)] * 2)
    matrices[1, :3, :3] = rotations.matrices_from_axis_angle([0, 0, 1], 1.0)  # any point of the z axis is a center
    centers = skin.rotation_centers(matrices, rcond=1e-3)
    np.testing.assert_allclose(centers, [[0, 0, 6]], atol=1e-12)


@pytest.mark.parametrize(("angle", "dropped"), [(0.9e-5, True), (1.1e-5, False)])
def test_rcond_has_a_cut_off_besides(angle: float, dropped: bool) -> None:
    """Singular values up to 1e-5 are dropped whatever rcond is, so that the center stays where the mean is."""
    skin = sbs.Skin([[0.0, 0.0, 0.0]], [[0, 1]], [[0.5, 0.5]])
    matrices = np.stack([np.eye(4)] * 2)
    matrices[1, :3, :3] = rotations.matrices_from_axis_angle([0, 0, 1], angle)
    matrices[1, 0, 3] = 1
    (center,) = skin.rotation_centers(matrices, rcond=1e-9)
    assert (np.linalg.norm(center) == 0) == dropped
