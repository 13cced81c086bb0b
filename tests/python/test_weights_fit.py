# SPDX-License-Identifier: MIT
"""Weights fitted to examples: with centers, alike along the surface, and by the workers of a cluster."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import sbs
from sbs import rotations, weights
from sbs.cli import main
from sbs.options import Center, Method

JOINTS, INFLUENCES, FRAMES = 12, 4, 20
FORMULAS: list[tuple[Method, Center]] = [
    ("linear", "weighted"),
    ("spherical", "weighted"),
    ("spherical", "joint_set"),
    ("spherical", "optimized"),
    ("dual_quaternion", "weighted"),
]


def poses(rng: np.random.Generator, frames: int = FRAMES, joints: int = JOINTS, most: float = 0.8) -> np.ndarray:
    """Rigid matrices (F, J, 3, 4), turned by up to so much."""
    shape = (frames, joints)
    turns = rotations.matrices_from_axis_angle(rng.normal(size=(*shape, 3)), rng.uniform(0, most, shape))
    return np.concatenate([turns, 0.3 * rng.normal(size=(*shape, 3, 1))], axis=3)


def method_options(method: Method, center: Center) -> dict[str, Any]:
    return {"method": method, "center": center} if method == "spherical" else {"method": method}


def twist_of_three() -> sbs.Twist:
    """Bones of three joints across the mesh; vertices are also beyond their ends."""
    heads = np.random.default_rng(5).normal(size=(3, 3))
    return sbs.Twist([1, 4, 7], heads, -heads, parents=[0, 3, 6], children=[2, -1, 8], joint_count=JOINTS)


@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize(("method", "center"), FORMULAS)
def test_known_weights_are_found(method: Method, center: Center, spread: bool) -> None:
    """From their own deformations: 20 poses and 4 influences. The mesh's size is about 8."""
    rng = np.random.default_rng(3)
    rest = rng.normal(size=(120, 3))
    indices = np.argsort(rng.random((120, JOINTS)))[:, :INFLUENCES]
    given = rng.random((120, INFLUENCES)) + 0.2
    given[:20, 1:] = 0  # of one joint
    given[20:40, 2:] = 0
    given /= given.sum(axis=1, keepdims=True)
    centers = rest + 0.3 * rng.normal(size=rest.shape)
    twist = twist_of_three() if spread else None
    skin = sbs.Skin(rest, indices, given, joint_count=JOINTS, centers=centers, twist=twist)
    matrices = poses(rng)
    options = method_options(method, center)
    posed = skin.deform_many(matrices, **options)
    if center == "optimized":
        options["centers"] = centers
    found = weights.fit(rest, posed, matrices, twist=twist, **options)
    options.pop("centers", None)
    again = skin.update_weights(*found).deform_many(matrices, **options)
    assert np.abs(again - posed).max() <= 1e-5 * 8
    assert found.errors.max() <= 1e-5 * 8
    expected = weights.to_dense(indices, given, JOINTS)
    np.testing.assert_allclose(weights.to_dense(*found, JOINTS), expected, rtol=0, atol=1e-3)
    assert (np.diff(found.joint_weights, axis=1) <= 0).all()
    np.testing.assert_allclose(found.joint_weights.sum(axis=1), 1, rtol=1e-14)


def test_joints_with_little_weight_are_found() -> None:
    """Their sets have other centers than those without them."""
    rng = np.random.default_rng(8)
    rest, matrices = rng.normal(size=(60, 3)), poses(rng, joints=25)
    indices = np.argsort(rng.random((60, 25)))[:, :INFLUENCES]
    given = rng.dirichlet([9, 5, 2, 0.1], 60)
    skin = sbs.Skin(rest, indices, given, joint_count=25)
    found = weights.fit(rest, skin.deform_many(matrices, center="joint_set"), matrices, center="joint_set")
    assert (found.errors <= 1e-6 * 8).mean() >= 0.98


def test_joints_as_heavy_as_others_are_found() -> None:
    """The signs of quaternions are those relative to the heaviest joint, of two that are about as heavy."""
    hand = sbs.samples.load("hand")
    rng = np.random.default_rng(0)
    joints = len(hand.skeleton)
    rest = hand.mesh.positions[rng.choice(len(hand.mesh.positions), 300, replace=False)].astype(np.float64)
    indices = np.stack([rng.permutation(joints)[:INFLUENCES] for _ in rest])
    given = rng.dirichlet(np.ones(INFLUENCES), 300)
    matrices = hand.skinning_matrices(rotation_vectors=rng.uniform(-0.8, 0.8, (20, joints, 3)))
    posed = sbs.Skin(rest, indices, given, joint_count=joints).deform_many(matrices, method="DQS")
    found = weights.fit(rest, posed, matrices, method="DQS")
    assert found.errors.max() <= 1e-6 * np.linalg.norm(np.ptp(rest, axis=0))


def test_given_twists_are_those_of_the_examples() -> None:
    """Weights, in parts as at once, and centers."""
    rng = np.random.default_rng(4)
    rest, twist, matrices = rng.normal(size=(60, 3)), twist_of_three(), poses(rng)
    indices = np.argsort(rng.random((60, JOINTS)))[:, :3]
    skin = sbs.Skin(rest, indices, rng.dirichlet([2, 2, 2], 60), joint_count=JOINTS, centers=rest + 0.2, twist=twist)
    twists = rng.uniform(-3, 3, (FRAMES, 3, 2))
    posed = skin.deform_many(matrices, twists=twists, center="weighted")
    found = weights.fit(rest, posed, matrices, twist=twist, twists=twists)
    again = skin.update_weights(*found).deform_many(matrices, twists=twists, center="weighted")
    assert np.abs(again - posed).max() <= 1e-5 * 8
    without = weights.fit(rest, posed, matrices, twist=twist)
    assert without.errors.mean() > 0.01
    told: list[float] = []
    in_parts = weights.fit(rest, posed, matrices, twist=twist, twists=twists, progress=told.append)
    np.testing.assert_array_equal(in_parts.joint_weights, found.joint_weights)

    posed = skin.deform_many(matrices, twists=twists, center="optimized")
    core = twist._core
    centers, errors = rest, np.empty(0)
    for _ in range(6):  # each is drawn a little to where it begins
        centers, errors = sbs._core.fit_centers(
            rest, posed, matrices, indices, skin.joint_weights, centers=centers, twist=core, twists=twists
        )
    assert errors.max() < 1e-5 * 8


def test_linear_weights_are_the_best() -> None:
    """No pair of joints, with any shares, comes nearer than the found weights of four joints."""
    rng = np.random.default_rng(0)
    rest, matrices = rng.normal(size=(30, 3)), poses(rng, 6, 4)
    posed = rng.normal(size=(6, 30, 3))  # which no weights make
    found = weights.fit(rest, posed, matrices, method="linear", influences=4)
    moved = np.einsum("fjab,vb->vjfa", matrices[..., :3], rest) + matrices[None, ..., 3].transpose(0, 2, 1, 3)
    target = posed.transpose(1, 0, 2)
    share = np.linspace(0, 1, 201)[:, None, None]
    for vertex in range(30):
        for a, b in combinations(range(4), 2):
            left = share * moved[vertex, a] + (1 - share) * moved[vertex, b] - target[vertex]
            assert found.errors[vertex] <= np.sqrt(np.square(left).sum(axis=(1, 2)).min() / 6) + 1e-12


@pytest.mark.parametrize(("method", "center"), FORMULAS[1:])
def test_no_worse_than_where_it_began(method: Method, center: Center) -> None:
    """On examples that no weights make: the errors are those of the weights, and nowhere above those of one joint."""
    rng = np.random.default_rng(1)
    rest, matrices = rng.normal(size=(40, 3)), poses(rng, 8, 6)
    skin = sbs.Skin(rest, np.zeros((40, 1), int), np.ones((40, 1)), joint_count=6, centers=rest)
    posed = skin.deform_many(matrices) + 0.3 * rng.normal(size=(8, 40, 3))
    options = method_options(method, center)
    found = weights.fit(rest, posed, matrices, centers=rest if center == "optimized" else None, **options)
    left = skin.update_weights(*found).deform_many(matrices, **options) - posed
    errors = np.sqrt(np.square(left).sum(axis=2).mean(axis=0))
    # vertices of one set share the point that undetermined centers are drawn to
    np.testing.assert_allclose(found.errors, errors, rtol=0, atol=1e-6)
    alone = np.sqrt(np.square(skin.deform_many(matrices) - posed).sum(axis=2).mean(axis=0))
    assert (found.errors <= alone + 1e-12).mean() > 0.9
    for joints, shares in zip(found.joint_indices, found.joint_weights, strict=True):
        assert len(set(joints[shares > 0])) == np.count_nonzero(shares)


def test_threads_and_parts_change_no_bit() -> None:
    rng = np.random.default_rng(2)
    rest, matrices = rng.normal(size=(300, 3)), poses(rng, 5, 8)
    posed = rng.normal(size=(5, 300, 3))
    first = weights.fit(rest, posed, matrices, threads=1)
    second = weights.fit(rest, posed, matrices, threads=4)
    alone = weights.fit(rest[7:8], posed[:, 7:8], matrices)
    for name in ("joint_indices", "joint_weights", "errors"):
        a, b, c = (getattr(fitted, name) for fitted in (first, second, alone))
        assert np.array_equal(a, b)
        assert np.array_equal(a[7:8], c)


def test_progress_and_its_exceptions() -> None:
    rng = np.random.default_rng(4)
    rest, matrices = rng.normal(size=(120, 3)), poses(rng, 3, 3)
    posed = rng.normal(size=(3, 120, 3))
    told: list[float] = []
    weights.fit(rest, posed, matrices, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1

    class EnoughError(Exception):
        pass

    def enough(_: float) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        weights.fit(rest, posed, matrices, progress=enough)


def test_bad_input() -> None:
    rest, posed, matrices = np.zeros((4, 3)), np.zeros((2, 4, 3)), np.tile(np.eye(4), (2, 3, 1, 1))
    bad = posed.copy()
    bad[1, 2, 0] = np.nan
    large = matrices.copy()
    large[1, 2, 0] = 1e200
    limb = sbs.Twist([1], [[0.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]], parents=[0], joint_count=3)
    for message, arguments, options in (
        (r"rest_positions has shape \(4, 3\), posed \(2, 3, 3\)", (rest, posed[:, :3], matrices), {}),
        ("skinning_matrices", (rest, posed, matrices[:1]), {}),
        ("posed has shape", (rest, posed[0], matrices), {}),
        ("is nan", (rest, bad, matrices), {}),
        (r"skinning_matrices\[1, 2, 0, 0\] = 1e\+200 is too large", (rest, posed, large), {}),
        ("posed.* is too large", (rest, posed + 1e31, matrices), {}),
        ("centers has no effect", (rest, posed, matrices), {"centers": rest}),
        ("optimized", (rest, posed, matrices), {"center": "optimized"}),
        ("center has no effect", (rest, posed, matrices), {"method": "linear", "center": "joint_set"}),
        ("method", (rest, posed, matrices), {"method": "rigid"}),
        ("influences", (rest, posed, matrices), {"influences": 0}),
        ("twists has no effect without twist", (rest, posed, matrices), {"twists": np.zeros((2, 1, 2))}),
        (r"expected \(2, 12, 4, 4\)", (rest, posed, matrices), {"twist": twist_of_three()}),
        (r"twists\[1, 0, 1\] is nan", (rest, posed, matrices), {"twist": limb, "twists": [[[0, 0]], [[0, np.nan]]]}),
        (r"twists \(1, 1, 2\)", (rest, posed, matrices), {"twist": limb, "twists": [[[0, 0]]]}),
        ("empty", (rest, posed[:0], matrices[:0]), {}),
    ):
        with pytest.raises(ValueError, match=message):
            weights.fit(*arguments, **options)


def test_the_command(tmp_path: Path) -> None:
    rest, triangles = tube(9, 6)
    share = 1 / (1 + np.exp(-3 * rest[:, 0]))
    indices = np.tile(np.array([0, 1], np.int32), (len(rest), 1))
    mesh = sbs.Mesh(rest.astype(np.float32), triangles, indices, np.stack([1 - share, share], axis=1))
    limb = sbs.Character.from_mesh(mesh, sbs.Skeleton([-1, 0], [np.eye(4)] * 2))
    limb.save(tmp_path / "limb.glb")
    matrices = bending(6)
    posed = limb.skin.deform_many(matrices, center="weighted")
    np.savez(tmp_path / "poses.npz", posed=posed, skinning_matrices=matrices)

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(main, ["weights", str(tmp_path / "limb.glb"), *arguments])
        assert "Traceback" not in result.output
        return f"{result.exit_code} {result.output}"

    output = run("--fit", str(tmp_path / "poses.npz"), "-o", str(tmp_path / "out.glb"))
    assert output.startswith("0 fit: 6 frames, error ")
    fitted = sbs.load(tmp_path / "out.glb").skin.deform_many(matrices, center="weighted")
    # a few vertices end at other weights that are nearly as good, a thousandth of the size away
    size = np.linalg.norm(np.ptp(rest, axis=0))
    assert np.sqrt(np.square(fitted - posed).sum(axis=2).mean()) < 2e-4 * size
    np.savez(tmp_path / "other.npz", posed=posed)
    assert "skinning_matrices" in run("--fit", str(tmp_path / "other.npz"), "-o", str(tmp_path / "x.glb"))
    smooth = run("--fit", str(tmp_path / "poses.npz"), "--fit-smoothness", "0.1", "-o", str(tmp_path / "out.glb"))
    assert smooth.startswith("0 fit: 6 frames, error ")
    assert smooth != output
    assert "--fit" in run("--scheduler", "tcp://nowhere:1", "--heat", "-o", str(tmp_path / "x.glb"))
    assert "--fit" in run("--fit-method", "LBS", "--heat", "-o", str(tmp_path / "x.glb"))


def test_the_command_begins_with_the_weights_of_the_file_and_spreads_twists(tmp_path: Path) -> None:
    """What it writes is what the library finds."""
    sbs.samples.copy(tmp_path)
    woman = sbs.load(tmp_path / "woman.glb")
    twist, rng = sbs.limb_twist(woman), np.random.default_rng(2)
    matrices = woman.skinning_matrices(rotation_vectors=rng.uniform(-0.5, 0.5, (2, len(woman.skeleton), 3)))
    posed = woman.twisted_skin(twist).deform_many(matrices, center="weighted")
    np.savez(tmp_path / "poses.npz", posed=posed, skinning_matrices=matrices)

    def run(*options: str) -> str:
        arguments = ["weights", str(tmp_path / "woman.glb"), *options, "-o", str(tmp_path / "out.glb")]
        return CliRunner().invoke(main, arguments).output

    shown = run("--fit", str(tmp_path / "poses.npz"), "--initial", "--twist", "auto", "--limit", "8")
    assert "error 0.000% of the size, at most 0.000%" in shown
    given = woman.skin.influences()
    found = weights.fit(woman.mesh.positions, posed, matrices, twist=twist, influences=8, initial=given)
    written = sbs.load(tmp_path / "out.glb").skin.influences()
    expected = weights.to_dense(*found, len(woman.skeleton))
    np.testing.assert_allclose(weights.to_dense(*written, len(woman.skeleton)), expected, rtol=0, atol=1e-6)
    assert "--initial needs --fit" in run("--initial", "--heat")
    assert "--twist needs --fit" in run("--twist", "auto", "--heat")


@pytest.mark.parametrize(("method", "center"), FORMULAS)
def test_initial_weights_are_never_left_for_worse(method: Method, center: Center) -> None:
    """On examples that no weights make, from any weights; and weights that meet the examples stay."""
    rng = np.random.default_rng(5)
    rest, matrices = rng.normal(size=(60, 3)), poses(rng, 8, 6)
    indices = np.argsort(rng.random((60, 6)))[:, :3]
    given = rng.dirichlet(np.ones(3), 60)
    options = method_options(method, center)
    centers: dict[str, Any] = {"centers": rest} if center == "optimized" else {}

    def moved() -> np.ndarray:
        """By the given weights: each vertex alone in its joint set, as it is fitted."""
        parts = [slice(vertex, vertex + 1) for vertex in range(60)]
        skins = [sbs.Skin(rest[v], indices[v], given[v], joint_count=6, centers=rest[v]) for v in parts]
        return np.concatenate([skin.deform_many(matrices, **options) for skin in skins], axis=1)

    posed = rng.normal(size=(8, 60, 3))
    found = weights.fit(rest, posed, matrices, initial=(indices, given), influences=3, **centers, **options)
    before = np.sqrt(np.square(moved() - posed).sum(axis=2).mean(axis=0))
    assert (found.errors <= before * (1 + 1e-12)).all()
    again = weights.fit(rest, posed, matrices, initial=found, influences=3, **centers, **options)
    assert (again.errors <= found.errors * (1 + 1e-15)).all()
    kept = weights.fit(rest, moved(), matrices, initial=(indices, given), influences=3, **centers, **options)
    assert kept.errors.max() <= 1e-13 * 8
    dense = weights.to_dense(indices, given, 6)
    np.testing.assert_allclose(weights.to_dense(*kept, 6), dense, rtol=0, atol=1e-12)


def test_initial_weights_that_are_wrong() -> None:
    rest, posed, matrices = np.zeros((2, 3)), np.zeros((1, 2, 3)), np.tile(np.eye(4), (1, 3, 1, 1))
    cases: list[tuple[str, Any, Any, dict[str, Any]]] = [
        (r"initial_weights\[1, 0\] is nan", [[0], [0]], [[1.0], [np.nan]], {}),
        (r"initial_weights\[0, 0\] is -1.0", [[0], [0]], [[-1.0], [1.0]], {}),
        (r"initial_indices\[1, 0\] = 3", [[0], [3]], [[1.0], [1.0]], {}),
        ("initial_weights", [[0], [0]], [[1.0]], {}),
        ("initial_indices", [[0]], [[1.0]], {}),
        (r"initial_indices\[0, 1\].*influences", [[0, 1]] * 2, [[0.5, 0.5]] * 2, {"influences": 1}),
        (r"initial_indices\[0, 1\].*once", [[1, 1]] * 2, [[0.5, 0.5]] * 2, {}),
        (r"initial_indices\[0, 0\]", [[2], [0]], [[1.0], [1.0]], {"allowed": [[True, True, False]] * 2}),
    ]
    for message, indices, given, options in cases:
        with pytest.raises(ValueError, match=message):
            weights.fit(rest, posed, matrices, initial=(indices, given), **{"influences": 2, **options})


@pytest.mark.parametrize("in_parts", [False, True])
def test_what_is_wrong_is_told_by_its_place_in_the_whole(in_parts: bool) -> None:
    """Not in the part of the mesh that is fitted at a time."""
    rest, matrices = np.zeros((200, 3)), np.tile(np.eye(4), (3, 2, 1, 1))
    posed = np.zeros((3, 200, 3))
    progress = (lambda share: None) if in_parts else None
    with pytest.raises(ValueError, match=r"allowed\[150\] must be true"):
        weights.fit(rest, posed, matrices, allowed=np.arange(400).reshape(200, 2) // 2 != 150, progress=progress)
    posed[2, 150, 1] = np.nan
    with pytest.raises(ValueError, match=r"posed\[2, 150, 1\] is nan"):
        weights.fit(rest, posed, matrices, progress=progress)


def test_a_vertex_without_initial_weights_begins_as_any() -> None:
    rng = np.random.default_rng(2)
    rest, matrices = rng.normal(size=(2, 3)), poses(rng, 6, 3)
    posed = rng.normal(size=(6, 2, 3))
    found = weights.fit(rest, posed, matrices, initial=([[0], [0]], [[1.0], [0.0]]))
    plain = weights.fit(rest, posed, matrices)
    np.testing.assert_array_equal(found.joint_weights[1], plain.joint_weights[1])


# ---------------------------------------------------------------------------------------- centers, smoothness, clusters


def tube(rings: int = 25, sides: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Positions and triangles of a tube along x from -2 to 2, with a seam: the first column again."""
    x, angle = np.meshgrid(np.linspace(-2, 2, rings), np.linspace(0, 2 * np.pi, sides + 1), indexing="ij")
    points = np.stack([x, np.cos(angle), np.sin(angle)], axis=-1)
    points[:, -1] = points[:, 0]
    a = (np.arange(rings - 1)[:, None] * (sides + 1) + np.arange(sides)).reshape(-1)
    b, c, d = a + 1, a + sides + 1, a + sides + 2
    return points.reshape(-1, 3), np.concatenate([np.stack([a, c, b], 1), np.stack([b, c, d], 1)]).astype(np.int32)


def bending(frames: int, joints: int = 2) -> np.ndarray:
    """Matrices (F, J, 3, 4) of a chain along x from 0, each bent by up to 80 degrees against the one before."""
    rng = np.random.default_rng(8)
    made = np.tile(np.eye(4), (frames, joints, 1, 1))
    for joint in range(1, joints):
        turn = np.eye(4)
        turn = np.tile(turn, (frames, 1, 1))
        turn[:, :3, :3] = sbs.rotations.matrices_from_axis_angle(
            rng.normal(size=(frames, 3)), rng.uniform(-80, 80, frames), degrees=True
        )
        made[:, joint] = made[:, joint - 1] @ turn
    return made[..., :3, :]


def test_centers_are_found_with_the_weights() -> None:
    """Examples about centers of rotation that are off the vertices: both come back as far as the examples tell."""
    rng = np.random.default_rng(1)
    rest, matrices = rng.normal(size=(60, 3)), poses(rng, 20, 4)
    indices = np.argsort(rng.random((60, 4)))[:, :2]
    shares = rng.uniform(0.25, 0.75, (60, 1))
    centers = rest + rng.normal(size=rest.shape)
    skin = sbs.Skin(rest, indices, np.hstack([shares, 1 - shares]), joint_count=4, centers=centers)
    posed = skin.deform_many(matrices, center="optimized")
    found = weights.fit(rest, posed, matrices, center="optimized", fit_centers=True, influences=2)
    assert found.centers is not None
    again = sbs.Skin(rest, *found, joint_count=4, centers=found.centers).deform_many(matrices, center="optimized")
    left = np.sqrt(np.square(again - posed).sum(axis=2).mean(axis=0))
    np.testing.assert_allclose(found.errors, left, atol=1e-9)
    about_vertices = weights.fit(rest, posed, matrices, center="weighted", influences=2)
    assert (found.errors <= about_vertices.errors + 1e-12).mean() > 0.95
    assert np.median(found.errors) < 1e-3  # of a size of about 8
    assert np.median(found.errors) < 0.02 * np.median(about_vertices.errors)
    other = pickle.loads(pickle.dumps(found))
    assert np.array_equal(other.centers, found.centers)


def test_centers_of_known_weights_are_the_solution() -> None:
    """Against NumPy's least squares of what the skin makes of centers, which is linear in them."""
    rng = np.random.default_rng(2)
    rest, matrices = rng.normal(size=(10, 3)), poses(rng, 9, 3)
    indices, shares = np.tile([0, 1, 2], (10, 1)), rng.dirichlet([1, 1, 1], 10)
    posed = rng.normal(size=(9, 10, 3))
    start = rest + 1.0

    def moved(centers: np.ndarray) -> np.ndarray:
        skin = sbs.Skin(rest, indices, shares, centers=centers)
        return np.asarray(skin.deform_many(matrices, center="optimized"))

    found, errors = sbs._core.fit_centers(rest, posed, matrices, indices, shares, centers=start)
    here = moved(start)
    by = np.stack([moved(start + step) - here for step in np.eye(3)], axis=-1)  # (F, V, 3, 3)
    for vertex in range(10):
        rows = np.concatenate([by[:, vertex].reshape(-1, 3), np.sqrt(1e-4 * 9) * np.eye(3)])
        right = np.concatenate([(posed - here)[:, vertex].reshape(-1), np.zeros(3)])
        expected = start[vertex] + np.linalg.lstsq(rows, right, rcond=None)[0]
        np.testing.assert_allclose(found[vertex], expected, atol=1e-8)
    left = np.sqrt(np.square(moved(found) - posed).sum(axis=2).mean(axis=0))
    np.testing.assert_allclose(errors, left, atol=1e-9)


@pytest.mark.parametrize("method", ["linear", "spherical"])
def test_smooth_weights_of_noisy_examples(method: Any) -> None:
    """Noise of the examples becomes noise of the weights; with neighbors alike they are nearer to the true ones."""
    rest, triangles = tube()
    rest_size = float(np.linalg.norm(np.ptp(rest, axis=0)))
    share = 1 / (1 + np.exp(-3 * rest[:, 0]))
    truth = np.stack([1 - share, share], axis=1)
    matrices = bending(6)
    skin = sbs.Skin(rest, np.tile([0, 1], (len(rest), 1)), truth)
    options: dict[str, Any] = {"center": "weighted"} if method == "spherical" else {}
    exact = skin.deform_many(matrices, method=method, **options)
    posed = exact + np.random.default_rng(3).normal(0, 0.01 * rest_size, exact.shape)
    posed[:, 12::13] = posed[:, 0::13]  # the seam stays closed

    def off(**more: Any) -> float:
        found = weights.fit(rest, posed, matrices, method=method, influences=2, **more)
        dense = weights.to_dense(*found, 2)
        np.testing.assert_array_equal(dense[12::13], dense[0::13])
        return float(np.sqrt(np.square(dense - truth).mean()))

    assert off(smoothness=0.3, triangles=triangles) < 0.7 * off()


def test_a_little_smoothness_leaves_good_examples_alone() -> None:
    rest, triangles = tube()
    share = 1 / (1 + np.exp(-3 * rest[:, 0]))
    matrices = bending(8)
    skin = sbs.Skin(rest, np.tile([0, 1], (len(rest), 1)), np.stack([1 - share, share], axis=1))
    posed = skin.deform_many(matrices, center="weighted")
    told: list[float] = []
    found = weights.fit(rest, posed, matrices, influences=2, smoothness=1e-3, triangles=triangles, progress=told.append)
    assert found.errors.max() < 1e-4 * 5
    assert told == sorted(told)
    assert told[-1] == 1


def test_bad_options() -> None:
    rest, triangles = tube(4, 3)
    matrices = bending(2)
    posed = np.tile(rest, (2, 1, 1))
    for message, options in (
        ("smoothness is -1", {"smoothness": -1.0, "triangles": triangles}),
        ("smoothness is 1e\\+200", {"smoothness": 1e200, "triangles": triangles}),
        ("smoothness needs triangles", {"smoothness": 0.1}),
        ("triangles has no effect without smoothness", {"triangles": triangles}),
        ("fit_centers has no effect", {"fit_centers": True}),
        ("threads has no effect beside scheduler", {"threads": 1, "scheduler": "tcp://nowhere:1"}),
        ("out of range", {"smoothness": 0.1, "triangles": [[0, 1, 99]]}),
    ):
        with pytest.raises(ValueError, match=message):
            weights.fit(rest, posed, matrices, **options)


@pytest.fixture(scope="module")
def workers() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


def test_a_cluster_finds_the_same_to_the_last_bit(workers: Any) -> None:
    """With all that is given for each vertex, by an address and by a client."""
    distributed = pytest.importorskip("distributed")
    rng = np.random.default_rng(4)
    rest, triangles = tube(9, 6)
    matrices = bending(5, 3)
    posed = np.tile(rest, (5, 1, 1)) + rng.normal(size=(5, len(rest), 3))
    allowed = rng.random((len(rest), 3)) < 0.7
    allowed[:, 0] = True
    options: dict[str, Any] = {
        "center": "optimized",
        "centers": rest + 0.5,
        "allowed": allowed,
        "twist": sbs.Twist([1], [[-1.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]], parents=[0], joint_count=3),
        "twists": rng.normal(size=(5, 1, 2)),
        "smoothness": 0.1,
        "triangles": triangles,
    }
    here = weights.fit(rest, posed, matrices, **options)
    told: list[float] = []
    there = weights.fit(rest, posed, matrices, scheduler=workers.scheduler_address, progress=told.append, **options)
    with distributed.Client(workers, set_as_default=False) as client:
        again = weights.fit(rest, posed, matrices, scheduler=client, **options)
    for found in (there, again):
        for name in ("joint_indices", "joint_weights", "errors"):
            assert np.array_equal(getattr(found, name), getattr(here, name))
    assert told == sorted(told)
    assert told[-1] == 1
