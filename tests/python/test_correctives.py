# SPDX-License-Identifier: MIT
"""Correctives of the woman: sculpted knees met by every method, mirrored, made linear, and fitted to sequences."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sbs
from sbs import muscles, rotations
from sbs.correctives import Correctives, Part, Shape
from sbs.correctives.linear import pose_alone
from sbs.options import BlendOptions
from sbs.rigging.animation import Track
from sbs.rigging.triangle_mesh import diagonal

Floats = NDArray[np.float64]

METHODS: dict[str, BlendOptions] = {
    "rigid": {"method": "rigid"},
    "LBS": {"method": "linear"},
    "SBS": {},
    "average": {"rotation": "average"},
    "weighted": {"center": "weighted"},
    "optimized": {"center": "optimized"},
    "rcond": {"rcond": 1e-3},
    "DQS": {"method": "dual_quaternion"},
}


@cache
def woman() -> sbs.Character:
    return sbs.samples.load("woman")


@cache
def skin_with_all() -> sbs.Skin:
    """With centers and a twist."""
    return woman().twisted_skin(sbs.limb_twist(woman()), optimized=True)


@cache
def size() -> float:
    return diagonal(woman().mesh.positions)


def pose(**degrees: tuple[float, tuple[float, float, float]]) -> Floats:
    """Skinning matrices of joints that are turned about axes of the bind space, all in a pose of the hips."""
    skeleton = woman().skeleton
    local = np.tile(np.eye(3), (len(skeleton), 1, 1))
    for joint, (angle, axis) in {"Hips": (20.0, (0.0, 1.0, 0.3)), **degrees}.items():
        number = skeleton.index(joint)
        frame = np.asarray(skeleton.bind_matrices[number])[:3, :3]
        local[number] = frame.T @ rotations.matrices_from_axis_angle(axis, angle, degrees=True) @ frame
    return skeleton.skinning_matrices(skeleton.forward(local))


X = (1.0, 0.0, 0.0)
KNEE = pose(LeftLeg=(100.0, X), LeftUpLeg=(-70.0, X), RightArm=(40.0, (0.3, 1.0, 1.0)), RightForeArm=(30.0, X))


def around(joint: str, radius: float = 0.05) -> NDArray[np.intp]:
    """Vertices around a joint, up to a share of the size away."""
    center = woman().skeleton.joint_positions[woman().skeleton.index(joint)]
    return np.flatnonzero(np.linalg.norm(woman().mesh.positions - center, axis=1) < radius * size())


def sculpted(posed: np.ndarray, joint: str, *, seed: int = 3) -> np.ndarray:
    """The mesh in a pose, moved around a joint by up to a hundredth of its size."""
    vertices = around(joint)
    moved = np.array(posed)
    random = np.random.default_rng(seed).uniform(-1, 1, (len(vertices), 3))
    moved[vertices] += (random * 0.01 * size()).astype(posed.dtype)
    return moved


def distance(found: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.linalg.norm(found.astype(np.float64) - wanted, axis=1).max()) / size()


@pytest.mark.parametrize(
    ("name", "amount"),
    [*((name, None) for name in METHODS), *((name, 0.6) for name in METHODS if name not in ("rigid", "LBS"))],
)
def test_a_sculpt_is_met(name: str, amount: float | None) -> None:
    """By every method, alone and in part, with a spread twist. The rest keeps its bits."""
    skin, options = skin_with_all(), METHODS[name]
    if amount is not None:
        options = {**options, "amount": amount}
    plain = skin.deform(KNEE, **options)
    target = sculpted(plain, "LeftLeg")
    correctives = Correctives(woman().skeleton)
    correctives.add(KNEE, target, joints=["LeftLeg"], name="knee")
    assert correctives.weights(KNEE) == pytest.approx([1.0])
    (solution,) = correctives.solve(skin, **options).values()
    shaped = skin.deform(KNEE, correctives=correctives, **options)
    met = np.setdiff1d(np.arange(len(target)), solution.unreached)
    assert distance(shaped[met], target[met]) < 1.6e-6
    assert solution.error < 1.6e-6
    assert len(solution.unreached) < 0.02 * len(around("LeftLeg"))
    np.testing.assert_array_equal(np.union1d(solution.vertices, solution.unreached), around("LeftLeg"))
    rest = np.setdiff1d(np.arange(len(target)), around("LeftLeg"))
    assert shaped[rest].tobytes() == plain[rest].tobytes()
    assert skin.deform(pose(), correctives=correctives, **options).tobytes() == skin.deform(pose(), **options).tobytes()
    back = skin.inverse_deform(shaped, KNEE, correctives=correctives, return_singular=True, **options)[0]
    assert distance(back[met], skin.rest_positions[met]) < 1e-4
    if name == "SBS":  # the target is kept, and only sculpted vertices move
        assert correctives.solve(woman().skin, method="linear")["knee"].error < 1.6e-6
        again = woman().skin.deform(KNEE, method="linear", correctives=correctives)
        assert distance(again[around("LeftLeg")], target[around("LeftLeg")]) < 1.6e-6
        assert again[rest].tobytes() == woman().skin.deform(KNEE, method="linear")[rest].tobytes()


def test_with_muscles() -> None:
    """The muscles' move is undone. No vertex comes nearer to a muscle than its skin is: unreached ones are told."""
    cover = muscles.bind(woman(), muscles.fit(woman()))

    def after(positions: np.ndarray, matrices: np.ndarray) -> np.ndarray:
        cover.apply(positions, matrices)
        return positions

    skin, options = skin_with_all(), BlendOptions(center="optimized", amount=0.6)
    target = sculpted(after(skin.deform(KNEE, **options), KNEE), "LeftLeg")
    correctives = Correctives(woman().skeleton)
    correctives.add(KNEE, target, joints=["LeftLeg"])
    (solution,) = correctives.solve(skin, after=after, **options).values()
    shaped = after(skin.deform(KNEE, correctives=correctives, **options), KNEE)
    met = np.setdiff1d(np.arange(len(target)), solution.unreached)
    assert distance(shaped[met], target[met]) < 1e-4
    assert solution.error < 1e-4
    assert 0 < len(solution.unreached) < 0.2 * len(around("LeftLeg"))


def test_neighbors_do_not_add_twice() -> None:
    """A pose where another shape acts gets the missing offsets; two joints that bend alike share theirs."""
    skin = skin_with_all()
    skeleton = woman().skeleton
    both = pose(LeftLeg=(100.0, X), LeftUpLeg=(-50.0, X))
    hip = pose(LeftUpLeg=(-100.0, X))
    correctives = Correctives(skeleton)
    at_hip = sculpted(skin.deform(hip), "LeftUpLeg")
    correctives.add(hip, at_hip, joints=["LeftUpLeg"], name="hip")
    at_knee = sculpted(sculpted(skin.deform(both), "LeftUpLeg", seed=4), "LeftLeg", seed=5)
    correctives.add(both, at_knee, joints=["LeftLeg"], name="knee")
    for solution in correctives.solve(skin).values():
        assert solution.error < 1.6e-6
    assert correctives.weights(both)[0] == pytest.approx(0.5, abs=0.05)
    assert distance(skin.deform(both, correctives=correctives), at_knee) < 1.6e-6
    assert distance(skin.deform(hip, correctives=correctives), at_hip) < 1.6e-6

    alike = Correctives(skeleton)
    for joint in ("LeftLeg", "LeftUpLeg"):
        alike.add(both, at_knee, joints=[joint], name=joint)
    alike.solve(skin)
    assert distance(skin.deform(both, correctives=alike), at_knee) < 1.6e-6
    one, other = (corrective.shape for corrective in alike)
    assert one is not None
    assert other is not None
    np.testing.assert_allclose(one.deltas, other.deltas, atol=1e-6 * size())


def test_several_joints_and_in_betweens() -> None:
    """Joints that bend together have a shape together; poses in one direction fade into each other."""
    skin = woman().skin
    poses = [pose(LeftLeg=(angle, X), LeftUpLeg=(-angle / 2, X)) for angle in (50.0, 100.0)]
    correctives = Correctives(woman().skeleton)
    targets = [sculpted(skin.deform(each), "LeftLeg", seed=seed) for seed, each in enumerate(poses)]
    for each, target in zip(poses, targets, strict=True):
        correctives.add(each, target, joints=["LeftUpLeg", "LeftLeg"])
    assert correctives.names == ("LeftUpLeg 25", "LeftUpLeg 50")
    correctives.solve(skin)
    for each, target in zip(poses, targets, strict=True):
        assert distance(skin.deform(each, correctives=correctives), target) < 1.6e-6
    between = pose(LeftLeg=(75.0, X), LeftUpLeg=(-37.5, X))
    np.testing.assert_allclose(correctives.weights(between), [0.5, 0.5], atol=0.03)
    alone = pose(LeftLeg=(100.0, X))
    assert 0.5 < correctives.weights(alone).sum() < 1


def test_nothing_jumps() -> None:
    """Along 1,000 steps of 0.14 degrees, no second difference is beyond 3 times that without, no step 10 times."""
    skin, options = skin_with_all(), BlendOptions(amount=0.5)
    correctives = Correctives(woman().skeleton)
    bent = [pose(LeftLeg=(angle, X)) for angle in (60.0, 120.0)]
    vertices = around("LeftLeg")
    for angle, each in zip((60.0, 120.0), bent, strict=True):
        target = np.array(skin.deform(each, **options))
        target[vertices] += 1e-4 * angle * size() * np.sin(np.arange(len(vertices)))[:, None]
        correctives.add(each, target, joints=["LeftLeg"], vertices=vertices)
    correctives.solve(skin, **options)
    steps = np.linspace(0, 1, 1001)
    matrices = np.stack(
        [pose(LeftLeg=(140 * t, X), LeftUpLeg=(-90 * np.sin(3 * t), X), LeftFoot=(30 * t, X)) for t in steps]
    )
    found = [
        np.concatenate(
            [
                skin.deform_many(part, correctives=each, **options)[:, vertices].astype(np.float64)
                for part in np.array_split(matrices, 20)
            ]
        )
        for each in (None, correctives)
    ]
    for order, most in ((2, 3.0), (1, 10.0)):
        plain, shaped = (float(np.linalg.norm(np.diff(each, order, axis=0), axis=-1).max()) for each in found)
        assert shaped < most * plain


def test_normals_follow() -> None:
    """Those of a shape are those of its surface: a plane that turns rigidly gets a bump."""
    x, y = (each.reshape(-1) for each in np.meshgrid(np.arange(9.0), np.arange(9.0)))
    rest = np.stack([x, y, np.zeros(81)], axis=1)
    corners = np.flatnonzero((x < 8) & (y < 8))
    triangles = np.concatenate(
        [np.stack([corners, corners + 1, corners + 10], 1), np.stack([corners, corners + 10, corners + 9], 1)]
    )
    skeleton = sbs.Skeleton([-1, 0], np.tile(np.eye(4), (2, 1, 1)), ["root", "child"])
    skin = sbs.Skin(
        rest, np.ones((81, 1), int), np.ones((81, 1)), rest_normals=np.tile([0.0, 0.0, 1.0], (81, 1)), joint_count=2
    )
    turn = rotations.matrices_from_axis_angle([1.0, 0.0, 0.0], 1.0)
    matrices = np.tile(np.eye(4), (2, 1, 1))
    matrices[1, :3, :3] = turn
    bump = rest + np.stack([np.zeros(81), np.zeros(81), np.maximum(0, 1 - np.hypot(x - 4, y - 4) / 3)], axis=1)
    correctives = Correctives(skeleton)
    correctives.add(matrices, bump @ turn.T, joints=["child"], part="both")
    correctives.solve(skin, triangles=triangles)
    a, b, c = (bump[triangles[:, corner]] for corner in range(3))
    expected = np.zeros((81, 3))
    np.add.at(expected, triangles, np.cross(b - a, c - a)[:, None])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    normals = skin.deform(matrices, normals=True, correctives=correctives)[1]
    np.testing.assert_allclose(normals, expected @ turn.T, atol=1e-3)  # less is dropped
    assert skin.deform(matrices, correctives=correctives).shape == (81, 3)


def test_a_vertex_that_nothing_can_move_is_told_and_left() -> None:
    """Half a turn by linear blending crushes a vertex between two joints to their axis."""
    skeleton = sbs.Skeleton([-1, 0], np.tile(np.eye(4), (2, 1, 1)), ["root", "child"])
    skin = sbs.Skin([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [3.0, 0, 0]], [[0, 1]] * 3, [[0.5, 0.5], [0.0, 1.0], [0.0, 1.0]])
    matrices = np.stack([np.eye(4), np.diag([1.0, -1.0, -1.0, 1.0])])
    correctives = Correctives(skeleton)
    target = skin.deform(matrices, method="linear")
    target[:, 1] += 0.5
    correctives.add(matrices, target, joints=["child"], name="half", part="both")
    with pytest.warns(sbs.SingularVertexWarning, match="1 of 3 vertices"):
        solution = correctives.solve(skin, method="linear")["half"]
    assert solution.unreached.tolist() == [0]
    assert solution.vertices.tolist() == [1, 2]
    assert solution.error < 1e-12


# ------------------------------------------------------------------------------------------------------------- changes


def made() -> Correctives:
    correctives = Correctives(woman().skeleton)
    bent = pose(LeftLeg=(100.0, X))
    correctives.add(bent, woman().skin.deform(bent), joints=["LeftLeg"], name="one")
    shape = (np.array([4, 2]), np.array([[0.0, 0.0, 1.0], [0.0, 1e-3, 0.0]]))
    correctives.add_shape(shape, [[0.0, 0.5, 0.0]], joints="RightArm", name="other")
    return correctives


def test_names() -> None:
    correctives = made()
    correctives.rename("one", "knee")
    assert correctives.names == ("knee", "other")
    assert correctives["knee"] is correctives[0]
    copy = correctives.copy()
    copy.remove("knee")
    assert (len(copy), len(correctives), "knee" in copy, "knee" in correctives) == (1, 2, False, True)
    assert "knee" in repr(correctives["knee"])
    assert "knee, other" in repr(correctives)
    copy.remove("other")
    assert copy.weights(KNEE).shape == (0,)
    assert copy.solve(woman().skin) == {}
    assert woman().skin.deform(KNEE, correctives=copy).tobytes() == woman().skin.deform(KNEE).tobytes()
    with pytest.raises(KeyError, match="'kneee'; did you mean 'knee'"):
        correctives["kneee"]
    with pytest.raises(ValueError, match="there is a corrective 'other'"):
        correctives.rename("knee", "other")


def test_given_shapes_stay_as_they_are() -> None:
    correctives = made()
    assert [*correctives.solve(woman().skin)] == ["one"]
    shape = correctives["other"].shape
    assert shape is not None
    assert shape.vertices.tolist() == [4, 2]
    correctives.prune(0.5 * 1e-3 / size(), woman().skin)
    assert len(correctives["other"].shape or Shape(np.empty(0), np.empty(0)).vertices) >= 1
    correctives.prune(2e-3 / size(), woman().skin)
    pruned = correctives["other"].shape
    assert pruned is not None
    assert pruned.vertices.tolist() == [4]


# -------------------------------------------------------------- one side on the other, linear blending, shapes of files


OPTIONS = BlendOptions(center="optimized", amount=0.6)
Y = (0.0, 1.0, 0.0)
FLIP = np.array([-1.0, 1.0, 1.0])


def bumpy_knee(*, part: Part = "swing") -> Correctives:
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


def test_another_method_than_they_were_made_for_is_told_once() -> None:
    """With both; not by the same in other words, and not of shapes that nothing is known of."""
    skin, made = skin_with_all(), bumpy_knee()
    known = made["LeftLeg bent"].made_for
    assert known is not None
    amounts = np.full(skin.vertex_count, 0.6, np.float32)
    skin.deform(KNEE, correctives=made, method="SBS", center="optimized", base="LBS", amount=amounts)
    optimized = woman().optimized_skin()
    others: list[tuple[sbs.Skin, BlendOptions]] = [
        (skin, {"method": "linear"}),
        (skin, {**OPTIONS, "amount": 0.3}),
        (skin, {**OPTIONS, "base": "DQS"}),
        (optimized, OPTIONS),
    ]
    for used, options in others:
        shapes = made.copy()
        with pytest.warns(UserWarning, match=re.escape(f"made for {known}, and is used with ")) as told:
            used.deform_many(KNEE[None], correctives=shapes, **options)
        assert len(told) == 1
        used.deform_many(KNEE[None], correctives=shapes, **options)
    (image,) = sbs.correctives.mirror(made, skin, woman().mesh.triangles, **OPTIONS)
    assert image.made_for == known
    made.solve(optimized, **OPTIONS)
    optimized.deform(KNEE, correctives=made, **OPTIONS)
    for each in [*made]:
        made.exchange(replace(each, made_for=None))
    skin.deform(KNEE, correctives=made, method="linear")
    wrong: Any = {"center": ["weighted"]}
    with pytest.raises(TypeError, match="center must be a str"):
        skin.deform(KNEE, correctives=made, **wrong)


@pytest.mark.parametrize("part", ["swing", "both"])
def test_mirror(part: Part) -> None:
    """The woman's legs are mirror images to a thousandth of her size; so is what a mirrored corrective does."""
    made, skin = bumpy_knee(part=part), skin_with_all()
    (new,) = sbs.correctives.mirror(made, skin, woman().mesh.triangles, **OPTIONS)
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
    sbs.correctives.mirror(made, skin, woman().mesh.triangles, **OPTIONS)
    assert made.names == ("LeftLeg bent", "RightLeg bent")
    (back,) = sbs.correctives.mirror(made, skin, woman().mesh.triangles, source="negative", **OPTIONS)
    assert back.name == "LeftLeg bent"
    np.testing.assert_allclose(back.coordinates, made["LeftLeg bent"].coordinates)
    assert made.solve(skin, **OPTIONS)["LeftLeg bent"].error < 1.6e-6


def test_joints_without_another_side_are_told() -> None:
    binds = np.tile(np.eye(4), (3, 1, 1))
    binds[:, 0, 3] = 0, 1, -1
    binds[2, 1, 3] = 0.5
    skeleton = sbs.Skeleton([-1, 0, 0], binds, ["root", "arm", "tail"])
    skin = sbs.Skin(np.eye(3), [[0]] * 3, [[1.0]] * 3, joint_count=3)
    made = Correctives(skeleton)
    made.add_shape(([0], [[0.0, 0.5, 0.0]]), [0, 0, 1.0], joints=["arm"], name="arm")
    with pytest.warns(UserWarning, match="no other side: arm, tail"):
        sbs.correctives.mirror(made, skin, np.array([[0, 1, 2]]))


def test_mirror_by_name() -> None:
    """Named shapes, such as of joints in the middle; a shape without a target is mirrored with its rotation."""
    made = Correctives(woman().skeleton)
    vertices = around("Spine")[:5]
    made.add_shape((vertices, np.ones((5, 3))), [[0.1, 0.2, 0.3]], joints=["Spine"], name="aside")
    assert sbs.correctives.mirror(made, woman().skin, woman().mesh.triangles) == []
    (new,) = sbs.correctives.mirror(made, woman().skin, woman().mesh.triangles, ["aside"])
    assert new.name == "aside mirrored"
    np.testing.assert_allclose(new.coordinates, [[0.1, -0.2, -0.3]])
    assert new.target is None
    made.add(KNEE, woman().skin.deform(KNEE), joints=["LeftLeg"], name="left")
    for source, message in (("positive", "'left' is not solved"), ("left", "source")):
        with pytest.raises(ValueError, match=message):
            sbs.correctives.mirror(made, woman().skin, woman().mesh.triangles, source=source)  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize("name", ["LBS", "SBS", "DQS", "optimized"])
def test_linear_blending_looks_like_it(name: str) -> None:
    """In the pose of a joint alone, also where nothing was sculpted; halfway, nearer than without."""
    skin, options = skin_with_all(), METHODS[name]
    made = Correctives(woman().skeleton)
    bent = {"LeftForeArm": pose(LeftForeArm=(90.0, Y)), "LeftLeg": pose(LeftLeg=(100.0, X))}
    for joint, each in bent.items():
        made.add(each, sculpted(skin.deform(each, **options), joint), joints=[joint], name=joint)
    made.solve(skin, **options)
    linear, solutions = sbs.correctives.to_linear(made, skin, woman().skin, tolerance=1e-6, **options)
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
    with pytest.raises(ValueError, match="step"):
        sbs.correctives.to_linear(made, skin, woman().skin, step=0.0)


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
    found = sbs.correctives.from_shapes(character)
    assert found.names == ("knee",)
    assert found["knee"].driver.joints == ("LeftLeg",)
    bent = np.stack([pose(Hips=(0.0, X), LeftLeg=(each, X)) for each in (90.0, 45.0)])
    np.testing.assert_allclose(found.weights(bent)[:, 0], [0.5, 0.25], atol=0.02)
    told = sbs.correctives.from_shapes(character, {"smile": ["Neck", "RightForeArm"]})
    assert told["smile"].driver.joints == ("Neck", "RightForeArm")
    assert len(sbs.correctives.from_shapes(woman())) == 0
    with pytest.raises(KeyError, match="no shape is named 'frown'"):
        sbs.correctives.from_shapes(character, {"frown": ["Head"]})


# -------------------------------------------------------------------------------------------------- fitted to sequences


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
    found = sbs.correctives.fit(
        woman().skeleton, woman().skin, FRAMES, positions, ["LeftLeg", "RightLeg", "Neck"], poses=6
    )
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
    found = sbs.correctives.fit(woman().skeleton, woman().skin, FRAMES, positions, ["LeftLeg"])
    assert len(found.correctives) == 0
    assert found.error == found.error_before


# --------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"name": "one"}, ValueError, "'one'"),
        ({"joints": ["nobody"]}, KeyError, "nobody"),
        ({"joints": []}, ValueError, "joints is empty"),
        ({"part": "bend"}, ValueError, "part"),
        ({"name": "again", "skinning_matrices": pose(LeftLeg=(100.05, X))}, ValueError, "the pose of 'again'"),
        ({"skinning_matrices": pose()}, ValueError, "too near the rest pose"),
        ({"skinning_matrices": pose()[:5]}, ValueError, r"skinning_matrices has shape \(5, 4, 4\)"),
        ({"skinning_matrices": np.eye(4)}, ValueError, r"skinning_matrices has shape \(4, 4\)"),
        ({"posed": np.zeros((4, 2))}, ValueError, r"posed has shape \(4, 2\)"),
        ({"posed": np.full((4, 3), np.nan)}, ValueError, r"posed\[0\]"),
        ({"posed": np.full((4, 3), "a")}, TypeError, "posed"),
        ({"vertices": [20_000]}, IndexError, "out of bounds"),
    ],
)
def test_what_cannot_be_added(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    correctives = made()
    given: dict[str, Any] = {"skinning_matrices": pose(LeftLeg=(60.0, X)), "posed": woman().mesh.positions}
    with pytest.raises(error, match=message):
        correctives.add(**{**given, "joints": ["LeftLeg"], **changes})
    assert correctives.names == ("one", "other")


def test_what_cannot_be_solved_or_fitted() -> None:
    correctives, skin = made(), woman().skin
    other = sbs.Skin(np.zeros((3, 3)), [[0]] * 3, [[1.0]] * 3, joint_count=31)
    with pytest.raises(ValueError, match="a target has 13380 vertices, the skin 3"):
        correctives.solve(other)
    with pytest.raises(ValueError, match="twists has no effect"):
        correctives.solve(skin_with_all(), twists=np.zeros((8, 2)))
    with pytest.raises(ValueError, match="tolerance"):
        correctives.solve(skin, tolerance=-1.0)
    with pytest.raises(ValueError, match="give one or the other"):
        skin.deform(KNEE, correctives=correctives, shape_weights=[1.0])
    still = np.zeros((len(FRAMES), skin.vertex_count, 3))
    cases: list[tuple[np.ndarray, str, dict[str, Any], type[Exception], str]] = [
        (np.zeros((3, 4, 3)), "LeftLeg", {}, ValueError, r"positions has shape \(3, 4, 3\)"),
        (still, "LeftLeg", {"held_out": 40}, ValueError, "32 frames, of which every 40"),
        (still, "LeftLeg", {"poses": 0}, ValueError, "poses"),
        (still, "nobody", {}, KeyError, "'nobody'"),
    ]
    for positions, joint, options, error, message in cases:
        with pytest.raises(error, match=message):
            sbs.correctives.fit(woman().skeleton, skin, FRAMES, positions, [joint], **options)
