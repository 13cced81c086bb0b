# SPDX-License-Identifier: MIT
"""Properties of every mesh, every pose and every method."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import pytest
import tolerances
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from meshes import Precision
from reference import REAL, rotation_matrix
from subject import assert_within

import sbs
from sbs.options import MethodOptions

ROTATING: list[MethodOptions] = [
    {"method": "spherical"},
    {"method": "dual_quaternion"},
    {"rotation": "average"},
    {"center": "weighted"},
    {"center": "optimized"},
    {"rotation": "average", "center": "weighted"},
    {"rotation": "average", "center": "optimized"},
]
METHODS: list[MethodOptions] = [{"method": "rigid"}, {"method": "linear"}, *ROTATING]
DTYPES: list[Precision] = [np.float64, np.float32]

METHOD = st.sampled_from(METHODS)
DTYPE = st.sampled_from(DTYPES)
SEED = st.integers(0, 2**32 - 1)

thorough = settings(max_examples=60)


@dataclass
class Scene:
    """A random mesh and a random rigid pose of its joints."""

    rest_positions: np.ndarray  # (V, 3)
    rest_normals: np.ndarray  # (V, 3)
    joint_indices: np.ndarray  # (V, K), with duplicates
    joint_weights: np.ndarray  # (V, K), some zero, not normalized
    quaternions: np.ndarray  # (J, 4), unit
    translations: np.ndarray  # (J, 3)

    @property
    def size(self) -> float:
        return float(np.linalg.norm(np.ptp(self.rest_positions.astype(np.float64), axis=0)))

    def matrices(self) -> np.ndarray:
        rotations = np.stack([rotation_matrix(q) for q in self.quaternions])
        return np.concatenate([rotations, self.translations[:, :, None]], axis=2)

    def bind(self, **changes: np.ndarray) -> sbs.Skin:
        arguments: dict[str, Any] = {
            "rest_positions": self.rest_positions,
            "joint_indices": self.joint_indices,
            "joint_weights": self.joint_weights,
            "rest_normals": self.rest_normals,
            "centers": np.roll(self.rest_positions, 1, axis=0),
            "joint_count": len(self.quaternions),
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sbs.WeightWarning)
            return sbs.Skin(**(arguments | changes))


@st.composite
def scenes(draw: st.DrawFn, most_influences: int = 9) -> Scene:
    generator = np.random.default_rng(draw(SEED))
    dtype = draw(DTYPE)
    vertices, joints, width = draw(st.integers(2, 100)), draw(st.integers(1, 6)), draw(st.integers(1, most_influences))
    # Weights of which many are equal, some are zero, and few are round.
    weights = generator.choice([0, 0.1, 0.1, 0.3, 1 / 3, 0.7, np.pi], (vertices, width))
    quaternions = generator.normal(size=(joints, 4))
    positions = generator.uniform(-1, 1, (vertices, 3))
    positions[:2] = [[-1, -1, -1], [1, 1, 1]]  # two corners of the cube: no mesh is small against its coordinates
    return Scene(
        positions.astype(dtype),
        generator.normal(size=(vertices, 3)).astype(dtype),
        generator.integers(0, joints, (vertices, width), dtype=np.int32),
        weights.astype(dtype),
        quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True),
        generator.uniform(-1, 1, (joints, 3)),
    )


def same_bits(one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...]) -> bool:
    return all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))


def apply(matrices: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Move points (V, 3) by a matrix (3, 4) or one each (V, 3, 4), in extended precision."""
    matrices = matrices.astype(REAL)
    moved: np.ndarray = np.einsum("...rc,...c->...r", matrices[..., :3], points.astype(REAL)) + matrices[..., 3]
    return moved


def rounding(scene: Scene, expected: np.ndarray) -> np.ndarray:
    """Four eps of the size, and half a unit in the last place of the result."""
    dtype = scene.rest_positions.dtype
    return 4 * float(np.finfo(dtype).eps) * scene.size + tolerances.half_ulp(expected, dtype)


# -------------------------------------------------------------------------------------------------- equal bit for bit


@thorough
@given(scenes(), METHOD, SEED)
def test_the_order_of_influences_changes_no_bit(scene: Scene, method: MethodOptions, seed: int) -> None:
    columns = np.broadcast_to(np.arange(scene.joint_indices.shape[1]), scene.joint_indices.shape)
    order = np.random.default_rng(seed).permuted(columns, axis=1)
    shuffled = scene.bind(
        joint_indices=np.take_along_axis(scene.joint_indices, order, axis=1),
        joint_weights=np.take_along_axis(scene.joint_weights, order, axis=1),
    )
    matrices = scene.matrices()
    expected = scene.bind().deform(matrices, **method, normals=True)
    assert same_bits(shuffled.deform(matrices, **method, normals=True), expected)


@thorough
@given(scenes(), METHOD, SEED, st.integers(1, 5))
def test_influences_without_weight_change_no_bit(scene: Scene, method: MethodOptions, seed: int, count: int) -> None:
    generator = np.random.default_rng(seed)
    vertices = len(scene.joint_indices)
    joints = generator.integers(0, len(scene.quaternions), (vertices, count), dtype=np.int32)
    place = generator.integers(0, scene.joint_indices.shape[1] + 1)
    nothing = np.zeros((vertices, count), dtype=scene.joint_weights.dtype)
    padded = scene.bind(
        joint_indices=np.insert(scene.joint_indices, [place], joints, axis=1),
        joint_weights=np.insert(scene.joint_weights, [place], nothing, axis=1),
    )
    matrices = scene.matrices()
    expected = scene.bind().deform(matrices, **method, normals=True)
    assert same_bits(padded.deform(matrices, **method, normals=True), expected)


@thorough
@given(scenes(), METHOD, SEED)
def test_bad_weights_count_as_none(scene: Scene, method: MethodOptions, seed: int) -> None:
    generator = np.random.default_rng(seed)
    bad = generator.choice([np.nan, np.inf, -np.inf, -0.5, -0.0], scene.joint_weights.shape)
    spoilt = generator.random(scene.joint_weights.shape) < 0.2
    matrices = scene.matrices()
    one = scene.bind(joint_weights=np.where(spoilt, bad, scene.joint_weights).astype(scene.joint_weights.dtype))
    other = scene.bind(joint_weights=np.where(spoilt, 0, scene.joint_weights).astype(scene.joint_weights.dtype))
    expected = other.deform(matrices, **method, normals=True)
    assert same_bits(one.deform(matrices, **method, normals=True), expected)


@thorough
@given(scenes(), METHOD, st.integers(0, 4), SEED, st.sampled_from([1, 2, 3, None]))
def test_many_frames_are_each_one_frame(
    scene: Scene, method: MethodOptions, frames: int, seed: int, threads: int | None
) -> None:
    generator = np.random.default_rng(seed)
    matrices = np.stack([scene.matrices()] * frames) if frames else np.empty((0, len(scene.quaternions), 3, 4))
    matrices[..., 3] += generator.normal(size=matrices.shape[:-1])
    skin = scene.bind()
    together = skin.deform_many(matrices, **method, normals=True, threads=threads)
    for frame in range(frames):
        one = skin.deform(matrices[frame], **method, normals=True)
        assert same_bits((together[0][frame], together[1][frame]), one)


# ------------------------------------------------------------------------------------------------ equal up to rounding


@thorough
@given(scenes(), METHOD)
def test_the_rest_pose_gives_the_rest_positions(scene: Scene, method: MethodOptions) -> None:
    identity = np.tile(np.eye(4), (len(scene.quaternions), 1, 1))
    positions, normals = scene.bind().deform(identity, **method, normals=True)
    assert_within(positions, scene.rest_positions.astype(REAL), rounding(scene, scene.rest_positions), "position")
    expected = scene.rest_normals / np.linalg.norm(scene.rest_normals, axis=1, keepdims=True)
    assert_within(normals, expected.astype(REAL), tolerances.NORMALS[expected.dtype], "normal")


@thorough
@given(scenes(), METHOD)
def test_unweighted_vertices_stay(scene: Scene, method: MethodOptions) -> None:
    scene.joint_weights[::2] = 0
    positions = scene.bind().deform(scene.matrices(), **method)
    assert positions[::2].tobytes() == scene.rest_positions[::2].tobytes()


@thorough
@given(scenes(most_influences=1), METHOD)
def test_one_influence_moves_rigidly(scene: Scene, method: MethodOptions) -> None:
    scene.joint_weights[:] = 1
    expected = apply(scene.matrices()[scene.joint_indices[:, 0]], scene.rest_positions)
    positions = scene.bind().deform(scene.matrices(), **method)
    assert_within(positions, expected, rounding(scene, expected), "position")


@thorough
@given(scenes(), st.sampled_from(METHODS[1:]))
def test_equal_rotations_blend_linearly(scene: Scene, method: MethodOptions) -> None:
    scene.quaternions[:] = scene.quaternions[0]
    weights = scene.joint_weights.astype(REAL)
    unweighted = weights.sum(axis=1) == 0
    weights /= np.where(unweighted, 1, weights.sum(axis=1))[:, None]
    moved = apply(scene.matrices()[scene.joint_indices], scene.rest_positions[:, None])
    expected = np.einsum("vk,vkr->vr", weights, moved)
    expected[unweighted] = scene.rest_positions[unweighted]
    positions = scene.bind().deform(scene.matrices(), **method)
    assert_within(positions, expected, rounding(scene, expected), "position")


@thorough
@given(scenes(), METHOD, SEED, st.sampled_from([0, 1, 1_000, 10_000]))
def test_a_rigid_motion_of_the_scene_commutes(scene: Scene, method: MethodOptions, seed: int, distance: int) -> None:
    dots = np.abs(scene.quaternions @ scene.quaternions.T)
    assume(dots.min() > tolerances.SIGN_MARGIN)
    generator = np.random.default_rng(seed)
    direction = generator.normal(size=3)
    motion = np.empty((3, 4))
    motion[:, :3] = rotation_matrix(generator.normal(size=4))
    motion[:, 3] = distance * direction / np.linalg.norm(direction)
    matrices = scene.matrices()
    moved = np.empty_like(matrices)  # double, whatever the skin is
    moved[:, :, :3] = motion[:, :3] @ matrices[:, :, :3]
    moved[:, :, 3] = apply(motion, matrices[:, :, 3])

    skin = scene.bind()
    positions, normals = skin.deform(moved, **method, normals=True)
    still, still_normals = skin.deform(matrices, **method, normals=True)
    weighted = skin.joint_set_of_vertex >= int(skin.unweighted_vertex_count > 0)
    expected = apply(motion, still)
    # Twice what a position may be off, what rounding took from it at home and takes from it far away, and what rounding
    # takes from the translations far away: a few units in the last place of double.
    dtype = scene.rest_positions.dtype
    # Where the joints move a vertex to places far apart, a weighted center in float32 is four times as far off.
    share = tolerances.share(dtype, "linear") * (4 if method.get("center") == "weighted" else 1)
    bound = 2 * share * scene.size + tolerances.half_ulp(expected, dtype)
    bound += np.sqrt(3) * tolerances.half_ulp(np.abs(still).max(), dtype) + 16 * np.spacing(float(distance))
    assert_within(positions[weighted], expected[weighted], bound[weighted], "position")

    if method in ROTATING:  # linear ones can cancel, and then point anywhere
        turned = still_normals.astype(REAL) @ motion[:, :3].T
        assert_within(normals[weighted], turned[weighted], 2 * tolerances.NORMALS[dtype], "normal")


# ---------------------------------------------------------------------------------------------------------- continuous


def sweep_through_coaxial_joints() -> tuple[np.ndarray, np.ndarray]:
    """Turn three joints about axes that come together, coincide and part again.

    Returns
    -------
    (F, 3, 3, 4) ndarray
        Skinning matrices. Their axes miss one another, so that there is no point that all joints move alike.
    (F,) ndarray
        The tilt of the third axis, in radians, from -0.02 to 0.02; denser towards 0, in steps down to 1e-7, for damping
        takes over at tilts of 1e-4.
    """
    end = np.arcsinh(0.02 / 2e-5)
    tilts = 2e-5 * np.sinh(np.linspace(-end, end, 2401))
    matrices = np.empty((len(tilts), 3, 3, 4))
    for frame, tilt in zip(matrices, tilts, strict=True):
        axes = [(0.0, 0, 1), (0.0, 0, 1), (np.sin(tilt), 0, np.cos(tilt))]
        points = [(0.0, 0, 0), (0.02, 0.01, 0), (0.0, 0.02, 0.03)]
        for joint, (axis, angle, point) in enumerate(zip(axes, (0.2, 1.0, 1.9), points, strict=True)):
            turn = rotation_matrix(np.r_[np.cos(angle / 2), np.sin(angle / 2) * np.array(axis)])
            frame[joint] = np.column_stack([turn, point - turn @ point])
    return matrices, tilts


@pytest.mark.parametrize("dtype", DTYPES)
def test_positions_are_continuous_where_joints_become_coaxial(dtype: Precision) -> None:
    generator = np.random.default_rng(8)
    rest = generator.uniform(-1, 1, (200, 3)).astype(dtype)
    skin = sbs.Skin(rest, np.tile([0, 1, 2], (200, 1)), generator.dirichlet([1, 1, 1], 200).astype(dtype))
    size = np.linalg.norm(np.ptp(rest.astype(np.float64), axis=0))
    matrices, tilts = sweep_through_coaxial_joints()
    assert tilts[len(tilts) // 2] == 0

    def largest_step(**options: Unpack[MethodOptions]) -> float:
        positions = skin.deform_many(matrices, **options).astype(np.float64)
        return float(np.abs(np.diff(positions, axis=0)).max() / size)

    assert largest_step() < 1e-4
    assert largest_step(rcond=1e-3) > 1e-4, "the sweep does not reach what it is there for"
