# SPDX-License-Identifier: MIT
"""Gradients of deformations: held against central differences of the deformation itself, in double.

With steps of 1e-6 a difference of positions of size 1 is off by some 1e-10 from rounding, and by 1e-12 times the third
derivative. So 1e-6 of the largest entry leaves room for derivatives of some thousands, near special poses.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, get_args

import characters
import numpy as np
import pytest
from meshes import skin_arguments, skinning_matrices

import sbs
from sbs import rotations
from sbs.options import Center, Method
from sbs.skinning.gradients import Differentiable

STEP = 1e-6
TOLERANCE = 1e-6

# Methods, with their centers.
FORMULAS: list[tuple[Method, Center]] = [
    ("rigid", "joint_set"),
    ("linear", "joint_set"),
    ("spherical", "joint_set"),
    ("spherical", "weighted"),
    ("spherical", "optimized"),
    ("dual_quaternion", "joint_set"),
]
NAMES: tuple[Differentiable, ...] = get_args(Differentiable)[:6]  # the others are of twists


class Scene:
    """A random mesh in a random pose, and a random loss that is linear in the deformed positions and normals."""

    def __init__(self, seed: int, *, influences: int = 3, stretched: bool = False, most: float = 1.5) -> None:
        rng = np.random.default_rng(seed)
        arguments: dict[str, Any] = {**skin_arguments(12, 5, influences, seed=seed, normals=True)}
        arguments["joint_weights"] = rng.random((12, influences)) + 0.05
        arguments["joint_weights"][:2, 1:] = 0  # of one joint
        arguments["centers"] = arguments["rest_positions"] + 0.3 * rng.normal(size=(12, 3))
        arguments["centers"][4] = arguments["rest_positions"][4]  # its own center
        self.matrices = np.zeros((5, 3, 4))
        self.matrices[:, :, :3] = rotations.matrices_from_axis_angle(rng.normal(size=(5, 3)), rng.uniform(0.2, most, 5))
        self.matrices[:, :, 3] = 0.3 * rng.normal(size=(5, 3))
        if stretched:
            shear = 0.2 * rng.normal(size=(2, 3, 3))
            self.matrices[::4, :, :3] @= np.eye(3) + shear + shear.transpose(0, 2, 1)
        self.arguments = arguments
        self.grad_positions = rng.normal(size=(12, 3))
        self.grad_normals = rng.normal(size=(12, 3))
        self.amount = rng.uniform(0.1, 0.9, 12)

    def skin(self) -> sbs.Skin:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sbs.WeightWarning)
            return sbs.Skin(**self.arguments)

    def array(self, name: Differentiable) -> np.ndarray:
        if name == "skinning_matrices":
            return self.matrices
        return self.amount if name == "amount" else np.asarray(self.arguments[name])

    def loss(self, **options: Any) -> float:
        if "amount" in options:
            options["amount"] = self.amount
        positions, normals = self.skin().deform(self.matrices, normals=True, **options)
        return float((positions * self.grad_positions).sum() + (normals * self.grad_normals).sum())

    def difference(self, name: Differentiable, at: tuple[int, ...], **options: Any) -> float:
        """The central difference of the loss by one number."""
        changed = [self.array(name)]
        if name == "rest_positions" and at[0] == 4:  # a vertex that is its own center stays so
            changed.append(self.arguments["centers"])
        values = []
        for sign in (1, -1):
            before = [array[at] for array in changed]
            for array in changed:
                array[at] += sign * STEP
            values.append(self.loss(**options))
            for array, value in zip(changed, before, strict=True):
                array[at] = value
        return (values[0] - values[1]) / (2 * STEP)

    def gradients(self, **options: Any) -> sbs.DeformGradients:
        wanted = NAMES if "amount" in options else NAMES[:-1]
        if "amount" in options:
            options["amount"] = self.amount
        return self.skin().deform_vjp(self.matrices, self.grad_positions, self.grad_normals, wanted=wanted, **options)


def compare(scene: Scene, gradients: sbs.DeformGradients, names: Iterable[Differentiable], **options: Any) -> None:
    """Hold gradients against differences; zero weights have none, and vertex 4 is its own center."""
    for name in names:
        found = getattr(gradients, name)
        expected = np.zeros_like(found)
        is_own = name == "centers" or (name == "rest_positions" and "twist" in scene.arguments)
        for at in np.ndindex(found.shape):
            if name == "joint_weights" and scene.arguments["joint_weights"][at] == 0:
                continue
            if name == "centers" and options.get("center") != "optimized":
                continue  # not read
            if is_own and at[0] == 4:
                expected[at] = found[at] if name == "rest_positions" else 0
                continue
            expected[at] = scene.difference(name, at, **options)
        np.testing.assert_allclose(
            found, expected, rtol=0, atol=TOLERANCE * max(1, np.abs(expected).max()), err_msg=name
        )


def check(scene: Scene, **options: Any) -> None:
    names = NAMES if "amount" in options else NAMES[:-1]
    compare(scene, scene.gradients(**options), names, **options)


def method_options(method: Method, center: Center) -> dict[str, Any]:
    return {"method": method} if center == "joint_set" else {"method": method, "center": center}


@pytest.mark.parametrize("stretched", [False, True])
@pytest.mark.parametrize("influences", [1, 2, 5])
@pytest.mark.parametrize(("method", "center"), FORMULAS)
def test_equals_differences(method: Method, center: Center, influences: int, stretched: bool) -> None:
    check(Scene(7, influences=influences, stretched=stretched), **method_options(method, center))


@pytest.mark.parametrize("most", [2.5, 3.1])
@pytest.mark.parametrize(("method", "center"), FORMULAS[2:])
def test_joints_more_than_a_right_angle_apart(method: Method, center: Center, most: float) -> None:
    """The signs of quaternions depend on the heaviest joint of each vertex."""
    check(Scene(3, influences=4, most=most), **method_options(method, center))


def test_amounts_blend_gradients() -> None:
    check(Scene(5), amount=True)
    check(Scene(6, stretched=True), amount=True, center="weighted")
    check(Scene(7), amount=True, center="optimized")
    check(Scene(8, stretched=True), amount=True, method="dual_quaternion")
    check(Scene(9), amount=True, method="linear", base="dual_quaternion")


def test_rest_pose_has_the_gradient_of_linear_blending() -> None:
    """In the rest pose every method moves a vertex, to first order, as linear blending does about the same turns."""
    scene = Scene(2)
    scene.matrices = np.tile(np.eye(4), (5, 1, 1))[:, :3]
    linear = scene.skin().deform_vjp(scene.matrices, scene.grad_positions, method="linear")
    for method, center in FORMULAS[2:]:
        gradients = scene.skin().deform_vjp(scene.matrices, scene.grad_positions, **method_options(method, center))
        assert linear.skinning_matrices is not None and gradients.skinning_matrices is not None
        expected = linear.skinning_matrices.copy()
        turns = expected[:, :, :3]
        expected[:, :, :3] = (turns - turns.transpose(0, 2, 1)) / 2  # rigid joints don't stretch
        np.testing.assert_allclose(gradients.skinning_matrices, expected, rtol=0, atol=1e-12)
        assert gradients.rest_positions is not None
        np.testing.assert_allclose(gradients.rest_positions, scene.grad_positions, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", characters.NAMES[:3])
@pytest.mark.parametrize(("method", "center"), [formula for formula in FORMULAS if formula[1] != "optimized"])
def test_float32_on_characters(name: str, method: Method, center: Center) -> None:
    """Within 1e-3 of the gradients in double, relative to the largest.

    Centers of joints that are nearly parallel and slide against each other move far for little: one over the angle, by
    which rounding of float32 grows too. Elsewhere the error is some 1e-6.
    """
    character = characters.load(name)
    clip, frame = list(character.poses())[-1]
    matrices = character.clips[clip].skinning_matrices(frame)
    rng = np.random.default_rng(0)
    upstream = rng.normal(size=character.rest_positions.shape)
    found = []
    for dtype in (np.float32, np.float64):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sbs.WeightWarning)
            skin = sbs.Skin(
                character.rest_positions.astype(dtype),
                character.joint_indices,
                character.joint_weights,
                parents=character.parents,
                joint_positions=character.joint_positions,
            )
        found.append(skin.deform_vjp(matrices, upstream, **method_options(method, center)))
    for field in ("rest_positions", "joint_weights", "skinning_matrices"):
        single, double = (getattr(gradients, field) for gradients in found)
        scale = np.abs(double).max() or 1  # of rigid skinning, nothing depends on weights
        np.testing.assert_allclose(single / scale, double / scale, rtol=0, atol=1e-3, err_msg=field)


@pytest.mark.parametrize(("method", "center"), [formula for formula in FORMULAS if formula[1] != "optimized"])
def test_threads_change_no_bit(method: Method, center: Center) -> None:
    arguments = skin_arguments(30000, 40, dtype=np.float32)
    skin = sbs.Skin(**arguments)
    upstream = np.random.default_rng(0).normal(size=(30000, 3))
    matrices = skinning_matrices(40)
    results = [
        skin.deform_vjp(matrices, upstream, threads=threads, **method_options(method, center)) for threads in (1, 4)
    ]
    for field in ("rest_positions", "joint_weights", "skinning_matrices"):
        first, second = (getattr(result, field) for result in results)
        assert np.array_equal(first, second)


def test_columns_as_they_were_given() -> None:
    """Joints that occur twice, padding, and any order: each column has the gradient of its joint."""
    rest = [[1.0, 2.0, 3.0]]
    matrices = skinning_matrices(3)
    upstream = [[0.3, -1.0, 2.0]]
    plain = sbs.Skin(rest, [[0, 2]], [[0.25, 0.75]], joint_count=3).deform_vjp(matrices, upstream).joint_weights
    with pytest.warns(sbs.WeightWarning):
        skin = sbs.Skin(rest, [[2, 0, 1, 2]], [[0.5, 0.25, 0.0, 0.25]])
    other = skin.deform_vjp(matrices, upstream).joint_weights
    assert plain is not None and other is not None
    np.testing.assert_allclose(other, [[plain[0, 1], plain[0, 0], 0, plain[0, 1]]], rtol=1e-14)


@pytest.mark.parametrize("stretched", [False, True])
@pytest.mark.parametrize(("method", "center"), FORMULAS)
def test_jacobians_are_rows_of_the_product(method: Method, center: Center, stretched: bool) -> None:
    """Of every vertex: of one joint, of several, its own center; and of two methods blended by amounts."""
    scene = Scene(13, stretched=stretched)
    skin = scene.skin()
    amounts = [scene.amount] if method in ("spherical", "dual_quaternion") else []
    for options in (
        method_options(method, center),
        *({**method_options(method, center), "amount": a} for a in amounts),
    ):
        rows = []
        for axis in range(3):
            upstream = np.zeros((12, 3))
            upstream[:, axis] = 1
            rows.append(skin.deform_vjp(scene.matrices, upstream, wanted=("joint_weights",), **options).joint_weights)
        for vertex in range(12):
            found = skin._core.weight_jacobian(vertex, scene.matrices, **options)  # which takes amounts
            expected = [row[vertex] for row in rows if row is not None]
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)  # the same sums by other lanes


def test_other_rest_positions() -> None:
    scene = Scene(9)
    skin = scene.skin()
    moved = scene.arguments["rest_positions"] + 0.1
    found = skin.deform_vjp(scene.matrices, scene.grad_positions, rest_positions=moved, center="optimized")
    scene.arguments["rest_positions"] = moved
    scene.arguments["centers"][4] = moved[4]
    expected = scene.skin().deform_vjp(scene.matrices, scene.grad_positions, center="optimized")
    for field in ("rest_positions", "joint_weights", "skinning_matrices"):
        np.testing.assert_allclose(getattr(found, field), getattr(expected, field), rtol=0, atol=1e-12)


@pytest.mark.parametrize("spread", [False, True])
def test_other_rest_positions_move_neither_centroids_nor_shares_of_twists(spread: bool) -> None:
    """About centers of joint sets: by differences of the positions of the call."""
    scene = TwistScene(9, stretched=False, smooth=False, told=False) if spread else Scene(9)
    skin, moved = scene.skin(), scene.arguments["rest_positions"] + 0.1
    found = skin.deform_vjp(scene.matrices, scene.grad_positions, rest_positions=moved, wanted=("rest_positions",))
    assert found.rest_positions is not None
    for at in np.ndindex(moved.shape):
        values = []
        for sign in (1, -1):
            other = moved.copy()
            other[at] += sign * STEP
            values.append((skin.deform(scene.matrices, rest_positions=other) * scene.grad_positions).sum())
        assert found.rest_positions[at] == pytest.approx((values[0] - values[1]) / (2 * STEP), abs=TOLERANCE)


def test_unweighted_vertices_stay() -> None:
    with pytest.warns(sbs.WeightWarning):
        skin = sbs.Skin(np.ones((1, 3)), [[0]], [[0.0]], rest_normals=[[0.0, 0.0, 2.0]])
    upstream = np.array([[1.0, 2.0, 3.0]])
    found = skin.deform_vjp(skinning_matrices(1), upstream, upstream, wanted=NAMES[:-1])
    assert found.rest_positions is not None and found.rest_normals is not None
    assert np.array_equal(found.rest_positions, upstream)
    np.testing.assert_allclose(found.rest_normals, [[0.5, 1.0, 0.0]], atol=1e-15)  # a normal twice as long as 1
    assert not np.any(found.joint_weights)
    assert not np.any(found.skinning_matrices)


def test_bad_input() -> None:
    scene = Scene(0)
    skin = scene.skin()
    g = scene.grad_positions
    for message, arguments, options in (
        ("needs grad_positions or grad_normals", (), {}),
        ("grad_positions has shape", (g[:, :2],), {}),
        ("grad_positions has shape", (g[1:],), {}),
        ("no gradient of rotation='average'", (g,), {"rotation": "average"}),
        ("methods are blended with 'linear' here", (g,), {"amount": 0.5, "base": "dual_quaternion"}),
        ("'weight' is none of", (g,), {"wanted": ("weight",)}),
        ("'amount' needs an amount", (g,), {"wanted": ("amount",)}),
        ("damping has no effect", (g,), {"method": "linear", "damping": 1e-3}),
        ("twists", (g,), {"wanted": ("twists",)}),
    ):
        with pytest.raises(ValueError, match=message):
            skin.deform_vjp(scene.matrices, *arguments, **options)
    without = sbs.Skin([[0.0, 0.0, 0.0]], [[0]], [[1.0]])
    with pytest.raises(ValueError, match="rest_normals"):
        without.deform_vjp(np.eye(4)[None], None, [[0.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match="centers"):
        without.deform_vjp(np.eye(4)[None], [[0.0, 0.0, 1.0]], center="optimized")


# --------------------------------------------------------------------------------------------------------------- twist


class TwistScene(Scene):
    """The same with the twists of two joints spread along their bones: from one end to the other, and beyond."""

    def __init__(self, seed: int, *, stretched: bool, smooth: bool, told: bool, apart: bool = False) -> None:
        super().__init__(seed, stretched=stretched, most=1.2)
        rng = np.random.default_rng(seed + 100)
        heads = np.array([[-1.5, 0.1, -0.2], [0.3, -1.2, 0.1]])
        self.arguments["twist"] = sbs.Twist(
            [1, 3], heads, -heads, parents=[0, 2], children=[2, -1], joint_count=5, smooth=smooth
        )
        self.twists = rng.uniform(-1, 1, (2, 2)) if told else None
        if apart:
            self.arguments["twist_positions"] = rng.normal(size=self.arguments["rest_positions"].shape)

    def loss(self, **options: Any) -> float:
        positions = self.skin().deform(self.matrices, twists=self.twists, **options)
        return float((positions * self.grad_positions).sum())

    def array(self, name: Differentiable) -> np.ndarray:
        if name == "twists":
            assert self.twists is not None
            return self.twists
        return super().array(name)

    def differentiated(self, *wanted: Differentiable, **options: Any) -> sbs.DeformGradients:
        return self.skin().deform_vjp(self.matrices, self.grad_positions, wanted=wanted, twists=self.twists, **options)


@pytest.mark.parametrize(("told", "apart"), [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("stretched", [False, True])
@pytest.mark.parametrize(("method", "center"), FORMULAS[1:4])
def test_twists_equal_differences(method: Method, center: Center, stretched: bool, told: bool, apart: bool) -> None:
    """Where other positions tell where along bones vertices are (`apart`), rest positions move nothing along them."""
    scene = TwistScene(21, stretched=stretched, smooth=stretched != told, told=told, apart=apart)
    options = method_options(method, center)
    names: list[Differentiable] = ["rest_positions", "joint_weights", "skinning_matrices"]
    names += ["twists"] if told else []
    gradients = scene.differentiated(*names, **options)
    assert gradients.twist_shares is None
    compare(scene, gradients, names, **options)


@pytest.mark.parametrize(("method", "center"), FORMULAS[1:4])
def test_shares_of_a_twist_equal_differences(method: Method, center: Center) -> None:
    """Against the core of a skin whose shares are told, between the frames."""
    scene = TwistScene(22, stretched=False, smooth=False, told=False)
    twist, rest = scene.arguments["twist"], scene.arguments["rest_positions"]
    indices, weights = scene.arguments["joint_indices"], scene.arguments["joint_weights"]
    options = method_options(method, center)
    skin = scene.skin()
    bones = np.stack([twist.heads, twist.tails], axis=1)
    shares = np.zeros(indices.shape)
    for joint, (head, tail) in zip(twist.joints, bones, strict=True):
        along = (rest - head) @ (tail - head) / ((tail - head) @ (tail - head))
        shares[indices == joint] = np.broadcast_to(np.clip(along, 0, 1)[:, None], indices.shape)[indices == joint]

    def loss() -> float:
        joints, shared = twist._core.influences(rest, indices, weights, shares)
        core = type(skin._core)(rest, joints, shared, joint_count=twist._core.joint_count)
        return float(np.sum(np.asarray(core.deform(twist.pose(scene.matrices), **options)) * scene.grad_positions))

    found = scene.differentiated("twist_shares", **options).twist_shares
    assert found is not None
    between = np.isin(indices, twist.joints) & (weights > 0) & (shares > STEP) & (shares < 1 - STEP)
    assert between.sum() > 3
    for at in zip(*np.nonzero(between), strict=True):
        values = []
        for sign in (1, -1):
            shares[at] += sign * STEP
            values.append(loss())
            shares[at] -= sign * STEP
        expected = (values[0] - values[1]) / (2 * STEP)
        assert abs(found[at] - expected) <= TOLERANCE * max(1, abs(expected))
    assert not found[~np.isin(indices, twist.joints)].any()


@pytest.mark.parametrize("seed", [14, 28])
def test_vertices_of_one_bone_with_twist(seed: int) -> None:
    """Two frames of a bone have all of such a vertex, which turns about the joint that both carry along.

    Where the bone's matrix stretches, the gradient is that by a center that is solved, which follows the stretch.
    """
    rng = np.random.default_rng(seed)
    head = rng.uniform(-1, 1, 3)
    twist = sbs.Twist([1], head[None], (head + rng.normal(size=3))[None], parents=[0], children=[-1], joint_count=2)
    rest = head + rng.uniform(-1, 1, (6, 3))
    arguments: dict[str, Any] = {"joint_indices": [[1]] * 6, "joint_weights": [[1.0]] * 6, "joint_count": 2}
    joints: dict[str, Any] = {"parents": [-1, 0], "joint_positions": np.stack([head - 1, head])}
    about_joints = sbs.Skin(rest, **arguments, **joints, twist=twist)
    about_solved = sbs.Skin(rest, **arguments, twist=twist)
    matrices = np.zeros((2, 3, 4))
    matrices[:, :, :3] = rotations.matrices_from_axis_angle(rng.normal(size=(2, 3)), rng.uniform(0.2, 2, 2))
    matrices[:, :, 3] = 0.5 * rng.normal(size=(2, 3))
    upstream = rng.normal(size=(6, 3))
    found = about_joints.deform_vjp(matrices, upstream).skinning_matrices
    assert found is not None
    for axis in np.ndindex(3, 4):
        entry = np.zeros((3, 4))
        entry[axis] = 1
        inner = entry[:, :3]
        for skin, change in (
            (about_joints, np.c_[inner - inner.T, entry[:, 3]]),  # turned or moved
            (about_solved, np.c_[inner + inner.T, np.zeros(3)]),  # stretched
        ):
            direction = np.zeros((2, 3, 4))
            direction[1] = np.c_[matrices[1, :, :3] @ change[:, :3], change[:, 3]]
            moved = (skin.deform(matrices + sign * STEP * direction) for sign in (1, -1))
            plus, minus = (float((positions * upstream).sum()) for positions in moved)
            slope = float((found * direction).sum())
            assert abs((plus - minus) / (2 * STEP) - slope) < TOLERANCE * max(1, np.abs(found).max())


def test_jacobian_of_a_vertex_with_twist() -> None:
    scene = TwistScene(23, stretched=False, smooth=False, told=False)
    jacobian = scene.skin().weight_jacobian(6, scene.matrices)
    scene.grad_positions[:] = 0
    for axis in range(3):
        scene.grad_positions[6] = np.eye(3)[axis]
        found = scene.differentiated("joint_weights").joint_weights
        assert found is not None
        np.testing.assert_allclose(jacobian[axis], found[6], rtol=0, atol=1e-12)
    with pytest.raises(IndexError):
        scene.skin().weight_jacobian(12, scene.matrices)
