# SPDX-License-Identifier: MIT
"""Every method on poses that real clips seldom show, held against the reference."""

import functools

import numpy as np
import pytest
import tolerances
from reference import CENTERS, METHODS, ROTATIONS, WEIGHTED_DAMPING, Pose, length, rotation_matrix, transform
from subject import Subject

from sbs.options import Center, Method, Rotation

VERTICES, JOINTS, INFLUENCES = 150, 7, 5

Dtype = np.dtype[np.float32 | np.float64]
DOUBLE: Dtype = np.dtype(np.float64)
SINGLE: Dtype = np.dtype(np.float32)
DTYPES = [DOUBLE, SINGLE]
THOROUGH = pytest.mark.thorough


@functools.cache
def cloud(dtype: Dtype) -> Subject:
    """Bind vertices in a cube of side 2 to one to five of seven joints each, in some 60 joint sets."""
    generator = np.random.default_rng(1)
    starts = generator.integers(0, JOINTS, VERTICES)
    counts = generator.integers(1, INFLUENCES + 1, VERTICES)
    steps = generator.integers(1, 3, VERTICES)
    columns = np.arange(INFLUENCES)
    return Subject(
        generator.uniform(-1, 1, (VERTICES, 3)),
        (starts[:, None] + steps[:, None] * columns) % JOINTS,
        generator.uniform(0.05, 1, (VERTICES, INFLUENCES)) * (columns < counts[:, None]),
        dtype,
        rest_normals=generator.normal(size=(VERTICES, 3)),
        parents=np.arange(-1, JOINTS - 1),
        joint_positions=generator.uniform(-1, 1, (JOINTS, 3)),
        centers=generator.uniform(-1, 1, (VERTICES, 3)),
    )


def turns(angle: float, seed: int = 2) -> np.ndarray:
    """Rotations (J, 3, 3) by up to about `angle`, in radians, from a common one."""
    generator = np.random.default_rng(seed)
    axes = generator.uniform(-1, 1, (JOINTS, 3))
    common = rotation_matrix(generator.normal(size=4))
    quaternions = np.column_stack([np.cos(angle * np.ones(JOINTS) / 2), np.sin(angle / 2) * axes])
    return np.stack([common @ rotation_matrix(q) for q in quaternions])


def shifts(seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, (JOINTS, 3))


def matrices(linear: np.ndarray, translations: np.ndarray) -> np.ndarray:
    """Put (J, 3, 4) together from its 3x3 parts and translations, either of which may be one for all joints."""
    result = np.empty((JOINTS, 3, 4))
    result[:, :, :3] = linear
    result[:, :, 3] = translations
    return result


def turned_about(points: np.ndarray, linear: np.ndarray) -> np.ndarray:
    """Matrices (J, 3, 4) that leave a point each where it is."""
    return matrices(linear, points - np.einsum("...rc,...c->...r", linear, points))


def coaxial(slide: float, tilt: float = 0) -> np.ndarray:
    """Turn all joints about one axis, or axes that differ by `tilt`, and move them apart by `slide`."""
    angles = np.linspace(0, 2.5, JOINTS)
    axes = np.array([0.6, 0, 0.8]) + tilt * shifts(seed=5)
    rotations = np.stack(
        [rotation_matrix(np.r_[np.cos(a / 2), np.sin(a / 2) * axis]) for a, axis in zip(angles, axes, strict=True)]
    )
    result: np.ndarray = turned_about(np.array([0.3, 0.2, -0.1]), rotations)
    result[:, :, 3] += slide * shifts()
    return result


def stretches(largest: float, seed: int = 4) -> np.ndarray:
    """Symmetric positive matrices (J, 3, 3) with eigenvalues between 1 / largest and largest."""
    generator = np.random.default_rng(seed)
    axes = turns(2.0, seed + 1)
    values = largest ** generator.uniform(-1, 1, (JOINTS, 3))
    result: np.ndarray = np.einsum("jab,jb,jcb->jac", axes, values, axes)
    return result


def some(even: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Take even joints from one pose, the others from another."""
    return np.where(np.arange(JOINTS)[:, None, None] % 2 == 0, even, others)


IDENTITY = matrices(np.eye(3), np.zeros(3))
FLAT = np.diag([1.0, 1, 0])  # scaled to nothing along z
MIRROR = np.diag([-1.0, 1, 1])

RIGID: dict[str, np.ndarray] = {
    "identity": IDENTITY,
    "equal": matrices(turns(0), np.array([1.0, 2, 3])),
    "equal rotations": matrices(turns(0), shifts()),
    "large angles": matrices(turns(2.5), shifts()),
    "held together": turned_about(np.array([0.1, -0.4, 0.2]), turns(1.5)),
    "coaxial": coaxial(0.0),
    "coaxial, sliding": coaxial(0.1),
    **{f"coaxial to {tilt:g}, sliding": coaxial(0.1, tilt) for tilt in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)},
    "coincident pairs": matrices(turns(1.5), shifts())[np.arange(JOINTS) // 2],
    "half identity": some(IDENTITY, matrices(turns(1.5), shifts())),
    # The smaller the relative rotations, the farther away the centers: up to 2,500 sizes of the mesh, at 1e-4.
    **{f"angles of {angle:g}": matrices(turns(angle), shifts()) for angle in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-7)},
    # |A^T A - I| is 0.9e-5: rigid still.
    "almost rigid": matrices(turns(1.0) * (1 + 0.9e-5 / (2 * np.sqrt(3))), shifts()),
}
# By name: the matrices, and how much they scale at most.
SCALED: dict[str, tuple[np.ndarray, float]] = {
    "barely scaled": (matrices(turns(1.0) * (1 + 1.1e-5 / (2 * np.sqrt(3))), shifts()), 1),
    "scaled": (matrices(turns(1.5) * np.linspace(0.5, 2, JOINTS)[:, None, None], shifts()), 2),
    "stretched and sheared": (matrices(turns(1.5) @ stretches(3.0), shifts()), 3),
    "some stretched": (some(matrices(turns(1.5) @ stretches(3.0), shifts()), matrices(turns(1.5), shifts())), 3),
    "some stretched, equal rotations": (matrices(some(turns(0) @ stretches(3.0), turns(0)), shifts()), 3),
    "all tiny": (matrices(turns(1.5) * 1e-4, shifts()), 1),
    "all large": (matrices(turns(1.5) * 1e4, shifts()), 1e4),
    "mirrored": (matrices(MIRROR @ turns(1.5), shifts()), 1),
    "mirrored and stretched": (matrices(MIRROR @ turns(1.5) @ stretches(3.0), shifts()), 3),
    "some flat": (some(matrices(turns(1.5) @ FLAT, shifts()), matrices(turns(1.5), shifts())), 1),
    "all flat": (matrices(turns(1.5) @ FLAT, shifts()), 1),
}
DISTANCES = [pytest.param(1_000, marks=THOROUGH), 10_000]


def check(subject: Subject, pose: Pose, method: Method, scale: float = 1, *, center: float = 0) -> None:
    """Compare within the shares of the size, and `center` times the reach of the centers."""
    size = scale * subject.mesh.size
    if not all(joint.rigid for joint in pose.joints) and method == "spherical":
        # Where v' = Q S (v - c) + sum w_i C_i c blends stretches apart from rotations, a far center matters in full.
        size += subject.reach(pose)
    bound = tolerances.share(subject.dtype, method) * size + center * subject.reach(pose)
    assert subject.check(pose, method, bound=bound) == 0


@pytest.mark.parametrize("name", RIGID)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rigid_joints(name: str, method: Method, dtype: Dtype) -> None:
    subject = cloud(dtype)
    check(subject, subject.pose(RIGID[name].astype(dtype)), method)


@pytest.mark.parametrize("name", SCALED)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_joints_that_are_not_rigid(name: str, method: Method, dtype: Dtype) -> None:
    subject = cloud(dtype)
    values, scale = SCALED[name]
    check(subject, subject.pose(values.astype(dtype)), method, scale)


def weighted_center_loss(pose: Pose, dtype: Dtype) -> float:
    """Return what weighted centers cost where damping decides: eps |f| / (2 sqrt(damping)), f how joints differ."""
    apart = [
        length(
            transform(pose.joints[joint].matrix, vertex) - transform(pose.joints[next(iter(influences))].matrix, vertex)
        )
        for vertex, influences in zip(pose.mesh.rest_positions, pose.mesh.influences, strict=True)
        for joint in influences
    ]
    return float(np.finfo(dtype).eps * max(apart) / (2 * np.sqrt(WEIGHTED_DAMPING)))


@pytest.mark.parametrize("name", [*RIGID, *SCALED])
@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("rotation", ROTATIONS)
@pytest.mark.parametrize("dtype", [DOUBLE, pytest.param(SINGLE, marks=THOROUGH)], ids=str)
def test_rotations_and_centers(name: str, rotation: Rotation, center: Center, dtype: Dtype) -> None:
    subject = cloud(dtype)
    values, scale = SCALED[name] if name in SCALED else (RIGID[name], 1)
    pose = subject.pose(values.astype(dtype), rotation=rotation, center=center)
    bound = tolerances.share(dtype, "spherical") * scale * subject.mesh.size
    if not all(joint.rigid for joint in pose.joints):
        bound += tolerances.share(dtype, "spherical") * subject.reach(pose)
    if center == "weighted":
        bound += weighted_center_loss(pose, dtype)
    assert subject.check(pose, "spherical", range(0, VERTICES, 8), bound=bound) == 0


SCALES = [1e-3, 100, 1e4]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("others", [None, 1, 30])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_weighted_centers_of_scaled_joints(scale: float, others: int | None, dtype: Dtype) -> None:
    """All joints scaled alike, or every second one by something else."""
    subject = cloud(dtype)
    values = scale * matrices(turns(1.5), shifts())
    if others is not None:
        values = some(values, others * matrices(turns(1.5), shifts()))
    pose = subject.pose(values.astype(dtype), center="weighted")
    bound = tolerances.share(dtype, "spherical") * (max(scale, others or 0) * subject.mesh.size + subject.reach(pose))
    bound += weighted_center_loss(pose, dtype)
    assert subject.check(pose, "spherical", range(0, VERTICES, 8), bound=bound) == 0


@pytest.mark.parametrize("name", RIGID)
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("method", METHODS)
def test_a_scene_far_away(name: str, distance: int, dtype: Dtype, method: Method) -> None:
    # Matrices are double, whatever the skin is.
    subject = cloud(dtype)
    far = RIGID[name] + matrices(np.zeros((3, 3)), distance * np.array([1, -0.5, 0.25]))
    check(subject, subject.pose(far), method)


@pytest.mark.parametrize("name", RIGID)
@pytest.mark.parametrize("distance", DISTANCES)
def test_a_scene_far_away_in_single_precision_matrices(name: str, distance: int) -> None:
    subject = cloud(SINGLE)
    far = RIGID[name] + matrices(np.zeros((3, 3)), distance * np.array([1, -0.5, 0.25]))
    check(subject, subject.pose(far.astype(np.float32)), "spherical")


@pytest.mark.parametrize("name", [*RIGID, *SCALED])
@pytest.mark.parametrize("rcond", [pytest.param(1e-6, marks=THOROUGH), 1e-3, pytest.param(0.5, marks=THOROUGH)])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_truncated_singular_values(name: str, rcond: float, dtype: Dtype) -> None:
    subject = cloud(dtype)
    values, scale = SCALED[name] if name in SCALED else (RIGID[name], 1)
    check(subject, subject.pose(values, rcond=rcond), "spherical", scale, center=tolerances.CENTER)


@pytest.mark.parametrize("name", [*RIGID, *SCALED])
@pytest.mark.parametrize(
    "damping", [1e-14, pytest.param(1e-8, marks=THOROUGH), pytest.param(1e-2, marks=THOROUGH), 1e3]
)
def test_damping(name: str, damping: float) -> None:
    subject = cloud(DOUBLE)
    values, scale = SCALED[name] if name in SCALED else (RIGID[name], 1)
    check(subject, subject.pose(values, damping=damping), "spherical", scale, center=tolerances.CENTER)


@pytest.mark.parametrize("name", [*RIGID, *SCALED])
def test_reports(name: str) -> None:
    subject = cloud(DOUBLE)
    values = SCALED[name][0] if name in SCALED else RIGID[name]
    pose = subject.pose(values)
    report = subject.skin.pose_report(values)
    assert report.solves == pose.solves
    assert report.nonrigid_joints == sum(not joint.rigid for joint in pose.joints)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [[0.0, 0, 0], [1.0, 0, 0], [-1.0, 1, 1]], ids=["point", "line", "mirror"])
def test_some_joints_that_have_no_rotation_in_common_are_finite(
    method: Method, dtype: Dtype, scale: list[float]
) -> None:
    values = some(matrices(turns(1.5) @ np.diag(scale), shifts()), matrices(turns(1.5), shifts()))
    for deformed in cloud(dtype).skin.deform(values, method=method, normals=True):
        assert np.isfinite(deformed).all()
