# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on's deformers: a skin and its options, and two of them blended by an amount."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import sbs
from sbs.options import MethodOptions

sys.path.append(str(Path(__file__).resolve().parents[2] / "blender_addon"))

from spherical_blend_skinning.core.deformer import Pose, SkinDeformer, Undeformed, deform_blended

RNG = np.random.default_rng(7)
REST = RNG.normal(size=(50, 3)).astype(np.float32)
WEIGHTS = np.stack([RNG.random(50), RNG.random(50)], axis=1)
MATRICES = sbs.rigging.affine.from_linear(sbs.rotations.matrices_from_axis_angle([[1, 0, 0], [0, 1, 1]], [0.3, 2.0]))
AMOUNTS = np.linspace(0, 1, 50, dtype=np.float32)
LINEAR: MethodOptions = {"method": "linear"}
DUAL: MethodOptions = {"method": "dual_quaternion"}


@pytest.fixture
def skin() -> sbs.Skin:
    with pytest.warns(sbs.WeightWarning):
        return sbs.Skin(REST, np.tile([0, 1], (50, 1)), WEIGHTS)


def test_two_methods_of_one_skin_are_blended_by_it(skin: sbs.Skin) -> None:
    found = deform_blended(SkinDeformer(skin, DUAL), SkinDeformer(skin, LINEAR), AMOUNTS, Pose(MATRICES), 1)
    np.testing.assert_array_equal(found, skin.deform(MATRICES, amount=AMOUNTS, base="linear", **DUAL))


def test_of_two_skins_each_vertex_has_its_amount(skin: sbs.Skin) -> None:
    other = sbs.Skin(REST, np.ones((50, 1), int), np.ones((50, 1)), joint_count=2)
    found = deform_blended(SkinDeformer(skin, DUAL), SkinDeformer(other, LINEAR), AMOUNTS, Pose(MATRICES), 1)
    first, second = skin.deform(MATRICES, **DUAL), other.deform(MATRICES, **LINEAR)
    expected = AMOUNTS[:, None] * first.astype(float) + (1 - AMOUNTS[:, None]) * second
    # float32: two roundings of numbers of the size of the mesh
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-7 * np.abs(expected).max())
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found[0], second[0])


def test_the_undeformed_mesh_is_where_it_is(skin: sbs.Skin) -> None:
    found = deform_blended(SkinDeformer(skin, LINEAR), Undeformed(REST), AMOUNTS, Pose(MATRICES), None)
    np.testing.assert_array_equal(found[0], REST[0])
    np.testing.assert_allclose(found[-1], skin.deform(MATRICES, **LINEAR)[-1], rtol=0, atol=1e-6)  # float32
