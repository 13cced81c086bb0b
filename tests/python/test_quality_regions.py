# SPDX-License-Identifier: MIT
"""Which part of a surface measures are taken over, and how its parts count."""

from __future__ import annotations

from typing import Unpack

import numpy as np
import pytest
from numpy.typing import ArrayLike
from solids import arm, turned

import sbs
import sbs.quality
from sbs.options import DeformOptions
from sbs.quality import Gauge, measures

REST = np.tile(np.eye(4), (3, 1, 1))


def test_quantiles_count_by_weight() -> None:
    values, weights = np.array([3.0, 1.0, 2.0]), np.array([1.0, 98.0, 1.0])
    np.testing.assert_array_equal(measures.weighted_quantiles(values, weights, (0, 0.5, 0.985, 1)), [1, 1, 2, 3])


def test_hundredths_are_of_what_deforms() -> None:
    """Ever longer upper arms take part in the extremes, not in the hundredths."""
    character = arm()
    gauge = Gauge(character)
    matrices = turned(character, "fore", [1, 0, 0], 90)
    deforming = character.mesh.positions[gauge.region(matrices, []), 0]
    assert np.abs(deforming).max() < 1
    assert gauge.region(REST, []).all()
    measured = gauge.measure(matrices, character.skin.deform(matrices, method="linear"))
    assert measured["thickness"]["low"] < 0.72
    assert measured["thickness"]["largest"] == pytest.approx(1, rel=1e-12)


def moved_elsewhere(character: sbs.Character) -> tuple[np.ndarray, np.ndarray]:
    """A method that squeezes a ring of the upper arm to a quarter, where the joints' weights blend nothing."""
    points = np.array(character.mesh.positions)
    ring = np.abs(points[:, 0] + 2) < 0.25
    points[ring, 1:] /= 4
    return points, ring


def test_a_method_that_deforms_elsewhere_is_measured_there() -> None:
    character = arm()
    gauge = Gauge(character)
    matrices = turned(character, "fore", [1, 0, 0], 1)
    points, ring = moved_elsewhere(character)
    points = np.where(ring[:, None], points, character.skin.deform(matrices, method="linear"))
    region = gauge.region(matrices, [points])
    assert region[ring].all()
    assert gauge.measure(matrices, points)["thickness"]["low"] == pytest.approx(0.25, rel=1e-9)


def test_hundredths_are_of_one_region_for_all_methods() -> None:
    """Beside one that moves the whole upper arm, hundredths of the others are of that, too; alone they are not."""
    character = arm()
    matrices = turned(character, "fore", [1, 0, 0], 170)

    class Elsewhere:
        def deform(self, _: ArrayLike, /, **_options: Unpack[DeformOptions]) -> np.ndarray:
            points = np.asarray(character.skin.deform(matrices, method="linear"))
            return np.where(points[:, :1] < -1, points + np.array([0, 0.1, 0]), points)

        def deform_many(self, many: ArrayLike, /, **_options: Unpack[DeformOptions]) -> np.ndarray:
            return np.stack([self.deform(each) for each in np.asarray(many)])

    class Named(sbs.quality.NamedMethod):
        def skin(self, _: sbs.Character) -> Elsewhere:
            return Elsewhere()

    motion = sbs.quality.MeasuredMotion("twist", ("",), matrices[None])
    linear = sbs.quality.chosen(["LBS"])
    alone = sbs.quality.evaluate(character, [motion], linear).results["twist", "LBS"]
    beside = sbs.quality.evaluate(character, [motion], linear | {"other": Named("other", {})})
    assert 1.2 * alone.value("edge", "low") < beside.results["twist", "LBS"].value("edge", "low")
    assert alone.value("thickness", "smallest") == beside.results["twist", "LBS"].value("thickness", "smallest")
    gauge = Gauge(character)
    shapes = [character.skin.deform(matrices, method="linear"), Elsewhere().deform(matrices)]
    assert np.count_nonzero(gauge.region(matrices, shapes)) > np.count_nonzero(gauge.region(matrices, shapes[:1]))
