# SPDX-License-Identifier: MIT
"""Every method on real characters, held against the reference."""

import functools

import characters
import numpy as np
import pytest
from reference import CENTERS, METHODS, ROTATIONS, Pose
from subject import Subject, assert_within

from sbs.options import Center, Method, Rotation

SAMPLE = 400  # vertices a frame, and one of every joint set and heaviest joint

# A frame of each character in which joints are far apart, or nearly parallel.
HARD = [
    ("hand_webxr", "fist", 29),
    ("hand_webxr", "wave", 35),
    ("arnaud_ozz", "atlas", 125),
    ("rat_quaternius", "Rat_Run", 5),
    ("wolf_quaternius", "Gallop_Jump", 11),
    ("knight_kaykit", "Cheer", 41),
    ("woman_makehuman_cmu", "cmu_01_01", 3),
    ("woman_makehuman_default", "benchmark", 30),
]
POSES = [
    pytest.param(name, clip, frame, marks=[] if (name, clip, frame) in HARD else pytest.mark.thorough)
    for name in characters.NAMES
    for clip, frame in characters.load(name).poses()
]
Dtype = np.dtype[np.float32 | np.float64]
DTYPES: list[Dtype] = [np.dtype(np.float64), np.dtype(np.float32)]
DOUBLE, SINGLE = DTYPES

# How many vertices of a frame may be skipped because a rounding error decides about them; none in all other frames. No
# sign is ever decided by |(q_p, q_i)| < 1e-6. In face_units most joints stand still to within a rounding error of their
# float32 clip: for a few pairs of double matrices that is as much as the trivial rule for centers allows.
MOST_SKIPPED = {("face_units", DOUBLE): 7}


@functools.cache
def subject(name: str, dtype: Dtype, rounded: Dtype = DOUBLE) -> Subject:
    """A character bound in `dtype`, its numbers rounded to another before."""
    character = characters.load(name)
    return Subject(
        character.rest_positions.astype(rounded),
        character.joint_indices,
        character.joint_weights.astype(rounded),
        dtype,
        rest_normals=character.rest_normals.astype(rounded),
        parents=character.parents,
        joint_positions=character.joint_positions,
        centers=vertex_centers(name),
    )


def vertex_centers(name: str) -> np.ndarray:
    """Somewhere between the joints that move a vertex, (V, 3)."""
    character = characters.load(name)
    weights = character.joint_weights / character.joint_weights.sum(axis=1, keepdims=True)
    centers: np.ndarray = np.einsum("vk,vkx->vx", weights, character.joint_positions[character.joint_indices])
    return centers


@functools.cache
def pose(name: str, clip: str, frame: int, dtype: Dtype) -> Pose:
    matrices = characters.load(name).clips[clip].skinning_matrices(frame)
    return subject(name, dtype).pose(matrices.astype(dtype))


@functools.cache
def sample(name: str) -> list[int]:
    """One vertex of every joint set and heaviest joint, and others at random."""
    mesh = subject(name, DOUBLE).mesh
    blocks: dict[tuple[tuple[int, ...], int], list[int]] = {}
    for vertex in np.random.default_rng(2005).permutation(len(mesh.influences)).tolist():
        blocks.setdefault((tuple(mesh.influences[vertex]), mesh.pivot(vertex)), []).append(vertex)
    first = [vertices[0] for vertices in blocks.values()]
    others = [vertex for vertices in blocks.values() for vertex in vertices[1:]]
    return first + others[: max(0, SAMPLE - len(first))]


@pytest.mark.parametrize(("name", "clip", "frame"), POSES)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_positions_and_normals(name: str, clip: str, frame: int, method: Method, dtype: Dtype) -> None:
    skipped = subject(name, dtype).check(pose(name, clip, frame, dtype), method, sample(name))
    assert skipped <= MOST_SKIPPED.get((clip, dtype), 0)


# Of hard frames alone, for the reference takes long for averages.
@pytest.mark.parametrize(("name", "clip", "frame"), HARD)
@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("rotation", ROTATIONS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rotations_and_centers(
    name: str, clip: str, frame: int, rotation: Rotation, center: Center, dtype: Dtype
) -> None:
    bound = subject(name, dtype)
    matrices = characters.load(name).clips[clip].skinning_matrices(frame).astype(dtype)
    chosen = sample(name)
    skipped = bound.check(
        bound.pose(matrices, rotation=rotation, center=center), "spherical", chosen[:: 1 + len(chosen) // 30]
    )
    assert skipped == 0


@pytest.mark.parametrize(("name", "clip", "frame"), POSES)
@pytest.mark.parametrize(("dtype", "rcond"), [(SINGLE, None), (SINGLE, 1e-3), (DOUBLE, 1e-3)], ids=str)
def test_double_matrices(name: str, clip: str, frame: int, dtype: Dtype, rcond: float | None) -> None:
    """Of a skin in single precision, too, and with truncated singular values."""
    bound = subject(name, dtype)
    matrices = characters.load(name).clips[clip].skinning_matrices(frame)
    skipped = bound.check(bound.pose(matrices, rcond=rcond), "spherical", sample(name))
    assert skipped <= MOST_SKIPPED.get((clip, DOUBLE), 0)


@pytest.mark.parametrize(("name", "clip", "frame"), POSES)
def test_rotation_centers_and_the_report(name: str, clip: str, frame: int) -> None:
    bound, prepared = subject(name, DOUBLE), pose(name, clip, frame, DOUBLE)
    centers = bound.skin.rotation_centers(prepared.skinning_matrices)
    assert centers.dtype == np.float64
    expected = np.array([prepared.center(joint_set) for joint_set in bound.skin.joint_sets])
    # Damping leaves directions in which the equations say nothing but 1e-4 of their weight: there, rounding errors of
    # 2e-16 grow by 1e8. They move no vertex, as the tests of positions show.
    assert_within(centers, expected, 1e-8 * bound.mesh.size, "center")

    sets = bound.mesh.set_vertices
    report = bound.skin.pose_report(prepared.skinning_matrices)
    nontrivial = sum(len(joints) > 1 and bound.mesh.pair_child(joints) is None for joints in sets)
    assert report.nontrivial_joint_sets == nontrivial == bound.skin.nontrivial_joint_set_count
    assert (report.solves, report.nonrigid_joints) == (prepared.solves, 0)


@pytest.mark.parametrize("name", characters.NAMES)
def test_joint_sets(name: str) -> None:
    bound = subject(name, DOUBLE)
    assert bound.skin.joint_sets == sorted(bound.mesh.set_vertices)
    vertex_sets = [bound.skin.joint_sets[number] for number in bound.skin.joint_set_of_vertex]
    assert vertex_sets == [tuple(influences) for influences in bound.mesh.influences]
