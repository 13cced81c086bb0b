# SPDX-License-Identifier: MIT
"""Correctives of one side on the other, and for linear blending."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_correctives import KNEE, METHODS, X, around, distance, pose, sculpted, size, skin_with_all, woman

import sbs
from sbs import correctives
from sbs.correctives import Correctives
from sbs.correctives.linear import pose_alone
from sbs.options import BlendOptions
from sbs.rigging.animation import Track

OPTIONS = BlendOptions(center="optimized", amount=0.6)
Y = (0.0, 1.0, 0.0)
FLIP = np.array([-1.0, 1.0, 1.0])


def knee(*, part: correctives.Part = "swing") -> Correctives:
    """A bump on a knee, of any part of its rotation."""
    skin = skin_with_all()
    made = Correctives(woman().skeleton)
    target = np.array(skin.deform(KNEE, **OPTIONS))
    center = woman().skeleton.joint_positions[woman().skeleton.index("LeftLeg")]
    offsets = np.linalg.norm(skin.rest_positions - center, axis=1) / (0.08 * size())
    target[:, 2] += (0.02 * size() * np.maximum(0, 1 - offsets) ** 2).astype(np.float32)
    made.add(KNEE, target, joints=["LeftLeg"], name="LeftLeg bent", part=part)
    made.solve(skin, triangles=woman().mesh.triangles, **OPTIONS)
    return made


@pytest.mark.parametrize("part", ["swing", "both"])
def test_mirror(part: correctives.Part) -> None:
    """The woman's legs are mirror images to a thousandth of her size; so is what a mirrored corrective does."""
    made, skin = knee(part=part), skin_with_all()
    (new,) = correctives.mirror(made, skin, woman().mesh.triangles, **OPTIONS)
    assert new.name == "RightLeg bent"
    assert new.driver.joints == ("RightLeg",)
    assert made.names == ("LeftLeg bent", "RightLeg bent")
    assert new.target is not None
    mirrored = new.target.skinning_matrices
    np.testing.assert_allclose(made.weights(np.stack([KNEE[:, :3], mirrored])), np.eye(2), atol=1e-6)
    one, two = made["LeftLeg bent"].shape, new.shape
    assert one is not None
    assert two is not None
    assert len(two.vertices) == pytest.approx(len(one.vertices), rel=0.1)
    assert two.normal_deltas is not None
    np.testing.assert_allclose(two.deltas.mean(axis=0) * FLIP, one.deltas.mean(axis=0), rtol=0.1)
    assert distance(skin.deform(mirrored, correctives=made, **OPTIONS)[two.vertices], new.target.positions) == 0
    # once more: it takes the place of the other
    correctives.mirror(made, skin, woman().mesh.triangles, **OPTIONS)
    assert made.names == ("LeftLeg bent", "RightLeg bent")
    (back,) = correctives.mirror(made, skin, woman().mesh.triangles, source="negative", **OPTIONS)
    assert back.name == "LeftLeg bent"
    np.testing.assert_allclose(back.coordinates, made["LeftLeg bent"].coordinates)
    assert made.solve(skin, **OPTIONS)["LeftLeg bent"].error < 1.6e-6


def test_mirror_by_name() -> None:
    """Named shapes, such as of joints in the middle; a shape without a target is mirrored with its rotation."""
    made = Correctives(woman().skeleton)
    vertices = around("Spine")[:5]
    made.add_shape((vertices, np.ones((5, 3))), [[0.1, 0.2, 0.3]], joints=["Spine"], name="aside")
    assert correctives.mirror(made, woman().skin, woman().mesh.triangles) == []
    (new,) = correctives.mirror(made, woman().skin, woman().mesh.triangles, ["aside"])
    assert new.name == "aside mirrored"
    np.testing.assert_allclose(new.coordinates, [[0.1, -0.2, -0.3]])
    assert new.target is None
    made.add(KNEE, woman().skin.deform(KNEE), joints=["LeftLeg"], name="left")
    with pytest.raises(ValueError, match="'left' is not solved"):
        correctives.mirror(made, woman().skin, woman().mesh.triangles)
    with pytest.raises(ValueError, match="source must be 'positive' or 'negative'"):
        correctives.mirror(made, woman().skin, woman().mesh.triangles, source="left")  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize("name", ["LBS", "SBS", "DQS", "optimized"])
def test_linear_blending_looks_like_it(name: str) -> None:
    """In the pose of a joint alone, also where nothing was sculpted; halfway, nearer than without."""
    skin, options = skin_with_all(), METHODS[name]
    made = Correctives(woman().skeleton)
    bent = {"LeftForeArm": pose(LeftForeArm=(90.0, Y)), "LeftLeg": pose(LeftLeg=(100.0, X))}
    for joint, each in bent.items():
        made.add(each, sculpted(skin.deform(each, **options), joint), joints=[joint], name=joint)
    made.solve(skin, **options)
    linear, solutions = correctives.to_linear(made, skin, woman().skin, tolerance=1e-6, **options)
    assert linear.names == ("LeftForeArm 1/2", "LeftForeArm", "LeftLeg 1/3", "LeftLeg 2/3", "LeftLeg")
    assert max(solution.error for solution in solutions.values()) < 1.6e-6
    for corrective in made:
        each = pose_alone(woman().skeleton, corrective.driver, corrective.coordinates)
        np.testing.assert_allclose(made.weights(each), np.array(made.names) == corrective.name, atol=1e-12)
        wanted = skin.deform(each, correctives=made, **options)
        assert distance(woman().skin.deform(each, method="linear", correctives=linear), wanted) < 1.6e-6
    half = pose_alone(woman().skeleton, made[1].driver, 0.7 * made[1].coordinates)
    wanted = skin.deform(half, correctives=made, **options)
    shown = woman().skin.deform(half, method="linear", correctives=linear)
    plain = woman().skin.deform(half, method="linear")
    error, before = (np.sqrt(np.mean((each - wanted) ** 2)) for each in (shown, plain))
    assert error < 0.12 * before
    with pytest.raises(ValueError, match="step must be positive"):
        correctives.to_linear(made, skin, woman().skin, step=0.0)


def moving(weights: np.ndarray) -> sbs.Character:
    """The woman with two shapes, whose weights (F, 2) change while a knee and an elbow bend."""
    steps = np.linspace(0, 1, 25)
    matrices = np.stack([pose(Hips=(0.0, X), LeftLeg=(90 * t, X), RightForeArm=(60 * t * t, Y)) for t in steps])
    animation = sbs.Animation.from_skinning_matrices("bend", steps, matrices, woman().rig)
    track = Track("weights", "LINEAR", np.array([0, 1]), steps, weights[:, :, None])
    shapes = tuple(sbs.BlendShape(name, np.array([7]), np.ones((1, 3), np.float32)) for name in ("knee", "smile"))
    mesh = replace(woman().mesh, shapes=shapes)
    return replace(
        woman(), mesh=mesh, animations=sbs.Animations([replace(animation, shape_tracks=(track,))]), source=None
    )


def test_shapes_of_a_file() -> None:
    """A shape that rises evenly with a knee is driven by it; one that comes and goes by nothing, unless told."""
    steps = np.linspace(0, 1, 25)
    character = moving(np.stack([0.5 * steps, np.sin(9 * steps) ** 2], axis=1))
    found = correctives.from_shapes(character)
    assert found.names == ("knee",)
    assert found["knee"].driver.joints == ("LeftLeg",)
    bent = np.stack([pose(Hips=(0.0, X), LeftLeg=(each, X)) for each in (90.0, 45.0)])
    np.testing.assert_allclose(found.weights(bent)[:, 0], [0.5, 0.25], atol=0.02)
    told = correctives.from_shapes(character, {"smile": ["Neck", "RightForeArm"]})
    assert told["smile"].driver.joints == ("Neck", "RightForeArm")
    assert len(correctives.from_shapes(woman())) == 0
    with pytest.raises(KeyError, match="no shape is named 'frown'"):
        correctives.from_shapes(character, {"frown": ["Head"]})
