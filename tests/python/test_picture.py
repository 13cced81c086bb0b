# SPDX-License-Identifier: MIT
"""Pictures: the surface, the camera, the light and the sheet."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from marks import paints

from sbs.quality.picture import (
    Camera,
    MissingExtraError,
    Row,
    compose,
    portraits,
    render,
    smooth_surfaces,
    weight_colors,
)
from sbs.quality.picture.camera import FIELD_OF_VIEW, view_axes
from sbs.quality.picture.portraits import BLUE, CLAY
from sbs.quality.picture.subdivision import subdivide
from sbs.support.extras import load

OCTAHEDRON = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], float)
OCTAHEDRON_FACES = np.array(
    [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]], np.intp
)


def test_subdivision_by_hand() -> None:
    """Loop's masks on an octahedron: every vertex has 4 neighbors, every edge 2 triangles."""
    values, triangles = subdivide(OCTAHEDRON, OCTAHEDRON_FACES)
    assert values.shape == (6 + 12, 3)
    assert triangles.shape == (4 * 8, 3)
    # beta = (5/8 - (3/8 + cos(90 degrees) / 4)^2) / 4 = 31/256; the neighbors of (1, 0, 0) sum to zero.
    np.testing.assert_allclose(values[0], [1 - 4 * 31 / 256, 0, 0], rtol=1e-15)
    # The edge from (1,0,0) to (0,1,0): 3/8 of its ends, 1/8 of (0,0,1) and (0,0,-1).
    assert any(np.allclose(value, [0.375, 0.375, 0], atol=1e-15) for value in values[6:])


def test_subdivision_leaves_a_flat_sheet_flat_and_its_corners_fixed() -> None:
    x, y = (axis.ravel().astype(float) for axis in np.meshgrid(range(4), range(4)))
    sheet = np.stack([x, y, np.full(16, 2.0)], axis=1)
    cell = np.array([[0, 1, 5], [0, 5, 4]])
    triangles = np.concatenate([cell + row * 4 + column for row in range(3) for column in range(3)])
    values, finer = subdivide(sheet, triangles)
    np.testing.assert_allclose(values[:, 2], 2, rtol=1e-15)
    # Interior vertices have six neighbors, one opposite the other: they stay. So do edges of the rim.
    np.testing.assert_allclose(values[[5, 6, 9, 10, 1, 4]], sheet[[5, 6, 9, 10, 1, 4]], atol=1e-15)
    assert len(finer) == 4 * len(triangles)


def test_view_along_up_is_refused() -> None:
    with pytest.raises(ValueError, match="direction and up must not be parallel"):
        view_axes((0, 2, 0), (0, 1, 0))


@pytest.mark.parametrize("aspect", [0.5, 1.0, 2.0])
def test_framing_has_every_point_in_the_picture_and_one_at_its_edge(aspect: float) -> None:
    points = np.random.default_rng(1).normal(size=(200, 3)) * (1, 2, 5)
    camera = Camera.framing(points, (1, 1, 2), (0, 1, 0), aspect=aspect, margin=0)
    across, upward, nearer = ((points - camera.position) @ camera.axes.T).T
    slope = np.tan(np.radians(FIELD_OF_VIEW / 2))
    reach = np.maximum(np.abs(across / -nearer), aspect * np.abs(upward / -nearer)) / slope
    assert (nearer < 0).all()
    assert reach.max() == pytest.approx(1, rel=1e-12)


@paints
def test_picture_of_a_ball() -> None:
    """White around it, darker in it, brightest where the key light comes from: the upper left."""
    colors = np.full((6, 3), 0.4)
    (ball,) = smooth_surfaces([OCTAHEDRON], colors, OCTAHEDRON_FACES, steps=3)
    camera = Camera((0, 0, 0), (0, 0, 1), (0, 1, 0), width=2.0)
    picture = render(ball, camera, (60, 40), samples=16)
    assert picture.shape == (40, 60, 3)
    assert picture.dtype == np.uint8
    assert (picture[[0, 0, -1, -1], [0, -1, 0, -1]] == 255).all()
    assert picture[20, 30].mean() < 240
    assert picture[12:17, 22:27].mean() > picture[24:29, 34:39].mean() + 10
    np.testing.assert_array_equal(picture, render(ball, camera, (60, 40), samples=16))


@paints
def test_portraits_show_the_same_mesh_in_several_shapes() -> None:
    camera = Camera((0, 0, 0), (0, 0, 1), (0, 1, 0), width=4.0)
    small, large = portraits(
        OCTAHEDRON, OCTAHEDRON_FACES, [OCTAHEDRON, 2 * OCTAHEDRON], np.full((6, 3), 0.4), camera, (32, 32), samples=4
    )
    # Twice the size is four times the area, give or take the pixels of the outline.
    assert 3 < (large < 250).sum() / (small < 250).sum() < 5


def test_shapes_have_colors_of_their_own() -> None:
    shapes, colors = [OCTAHEDRON, 2 * OCTAHEDRON], np.array([np.zeros((6, 3)), np.ones((6, 3))])
    together = smooth_surfaces(shapes, colors, OCTAHEDRON_FACES)
    for made, shape, color in zip(together, shapes, colors, strict=True):
        (alone,) = smooth_surfaces([shape], color, OCTAHEDRON_FACES)
        for name in ("positions", "normals", "colors", "triangles"):
            np.testing.assert_array_equal(getattr(made, name), getattr(alone, name))


def test_colors_mix_by_weight_and_pass_over_bad_weights() -> None:
    indices = [[0, 1], [0, 1], [0, 1], [1, 0], [0, 1]]
    weights = np.array([[1, 0], [0, 1], [1, 1], [np.nan, 0.5], [0, 0]])
    colors = weight_colors(indices, weights, [1])
    np.testing.assert_allclose(colors, [CLAY, BLUE, (CLAY + BLUE) / 2, CLAY, CLAY])


def test_sheet_sets_pictures_side_by_side() -> None:
    red, green = (np.full((48, 72, 3), color, np.uint8) for color in ((255, 0, 0), (0, 128, 0)))
    sheet = np.asarray(compose([Row([red, green], ["one", "two"], "a caption")] * 2, ["left", "right"], "small print"))
    assert (sheet[0] == 255).all()
    assert (sheet == (255, 0, 0)).all(axis=-1).sum() == 2 * 48 * 72
    assert (sheet == (0, 128, 0)).all(axis=-1).sum() == 2 * 48 * 72
    columns = np.flatnonzero((sheet == (255, 0, 0)).all(axis=-1).any(axis=0))
    assert columns[-1] < np.flatnonzero((sheet == (0, 128, 0)).all(axis=-1).any(axis=0))[0]


@pytest.mark.parametrize(("module", "package"), [("mitsuba", "mitsuba"), ("PIL.Image", "pillow")])
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, module: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"pictures need {package}.*pip install mitsuba pillow"):
        if module == "mitsuba":
            (ball,) = smooth_surfaces([OCTAHEDRON], np.ones((6, 3)), OCTAHEDRON_FACES)
            render(ball, Camera((0, 0, 0), (0, 0, 1), (0, 1, 0), 2.0), (8, 8))
        else:
            compose([Row([np.zeros((8, 8, 3), np.uint8)], [""], "")], [""])


def test_a_package_that_does_not_load_is_named_with_the_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("raise OSError('libatomic.so.1: cannot open shared object file')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingExtraError, match=r"pictures need broken, which does not load: libatomic\.so\.1: cannot"):
        load("broken", "broken")
