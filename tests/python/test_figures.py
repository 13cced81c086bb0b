# SPDX-License-Identifier: MIT
"""What docs/figures.md says of the paper's figures holds of what is drawn."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pages.figures import angles, arc, centered
from sbs.samples import load as load_sample

DOCS = Path(__file__).parents[2] / "docs"


def test_figure_1_is_a_segment_and_an_arc() -> None:
    linear, spherical, elbow = arc(120)
    np.testing.assert_allclose(linear[[0, -1]], spherical[[0, -1]], rtol=1e-15)
    along = linear[-1] - linear[0]
    assert np.abs(np.cross(linear - linear[0], along)).max() < 1e-12
    distances = np.linalg.norm(spherical - elbow, axis=1)
    np.testing.assert_allclose(distances, distances[0], rtol=1e-12)
    assert np.linalg.norm(linear - elbow, axis=1).min() == pytest.approx(distances[0] / 2)  # the cosine of 60 degrees


def test_figure_3_keeps_the_elbow_where_it_is() -> None:
    """About the shoulder, which the two joints take apart, the elbow drifts."""
    woman = load_sample("woman")
    elbow = woman.skeleton.joint_positions[woman.skeleton.index("LeftForeArm")]
    vertex = int(np.linalg.norm(woman.mesh.positions - elbow, axis=1).argmin())
    radius = np.linalg.norm(woman.mesh.positions[vertex] - elbow)
    shoulder = woman.skeleton.joint_positions[woman.skeleton.index("LeftArm")]
    left, right = (centered(woman, "LeftForeArm", center) for center in (elbow, shoulder))
    for ours, others in zip(left, right, strict=True):
        assert np.linalg.norm(ours[vertex] - elbow) == pytest.approx(radius, rel=1e-4)
        drift = np.linalg.norm(others[vertex] - ours[vertex])
        if ours is left[0] or ours is left[-1]:
            assert drift < 1e-4  # both columns begin and end alike
        else:
            assert drift > 0.2


def test_figure_4_has_the_extremes_that_the_paper_names() -> None:
    worst = 0.5 + np.sqrt(1 / np.pi - 0.25)
    shares = np.linspace(0, 1, 1001)
    alpha, beta = angles(shares)
    assert np.degrees(np.subtract(*angles(np.array(worst)))) == pytest.approx(4.07, abs=0.01)
    assert np.abs(alpha - beta).max() <= np.subtract(*angles(np.array(worst)))


def test_the_pictures_are_there_and_one_moves() -> None:
    text = (DOCS / "figures.md").read_text(encoding="utf-8")
    links = re.findall(r"!\[.*\]\((.+)\)", text)
    assert len(links) == 8
    for link in links:
        with Image.open(DOCS / link) as picture:
            assert picture.width >= 500
            assert (getattr(picture, "n_frames", 1) > 10) == (link == "images/twisting.png")
