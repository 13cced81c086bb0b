# SPDX-License-Identifier: MIT
"""The brush: by hand, against every vertex one by one, and that strokes can be undone to the last bit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbs import weights
from sbs.weights import Brush, Influences, Stroke
from sbs.weights.brush import Axis, Distance, Falloff, Mode

MODES: tuple[Mode, ...] = ("add", "subtract", "replace", "scale", "smooth")
FALLOFFS: dict[Falloff, Callable[[np.ndarray], np.ndarray]] = {
    "constant": lambda x: np.ones_like(x),
    "linear": lambda x: 1 - x,
    "smooth": lambda x: 1 - 3 * x**2 + 2 * x**3,
    "sphere": lambda x: np.sqrt(1 - x**2),
    "quadratic": lambda x: (1 - x) ** 2,
}
JOINTS = 5

# A few operations on weights and shares of at most 1.
ROUNDING = 1e-14


def line(count: int = 11) -> tuple[np.ndarray, np.ndarray]:
    """Points along x from 0 to 1, connected by triangles without area."""
    positions = np.zeros((count, 3))
    positions[:, 0] = np.linspace(0, 1, count)
    first = np.arange(count - 1)
    return positions, np.stack([first, first + 1, first], axis=1)


def brush_on(positions: np.ndarray, triangles: Any, joints: Any = None, **options: Any) -> Brush:
    """A brush on a mesh of joint 0, or the joints given."""
    joints = np.zeros((len(positions), 1), int) if joints is None else joints
    return Brush(positions, triangles, joints, np.ones(np.shape(joints)), joint_count=JOINTS, **options)


def dense(brush: Brush) -> np.ndarray:
    return weights.to_dense(*brush.influences(), brush.joint_count)


def random_brush(seed: int = 0, vertices: int = 200, limit: int | None = None, *, normalized: bool = True) -> Brush:
    """Scattered points in the cube from -1 to 1, some of them twice, with random triangles and weights."""
    rng = np.random.default_rng(seed)
    positions = rng.uniform(-1, 1, (vertices, 3))
    positions[vertices // 2 :: 7] = positions[: len(positions[vertices // 2 :: 7])]
    _, copies = np.unique(positions, axis=0, return_inverse=True)
    indices = np.argsort(rng.random((vertices, JOINTS)))[:, :3][copies.ravel()]
    given_weights = (rng.random((vertices, 3)) * (rng.random((vertices, 3)) < 0.7))[copies.ravel()]
    pair = weights.normalize(indices, given_weights) if normalized else (indices, given_weights)
    return Brush(positions, rng.integers(0, vertices, (300, 3)), *pair, joint_count=JOINTS, limit=limit)


# --------------------------------------------------------------------------------------------------------- what it does


@pytest.mark.parametrize("falloff", FALLOFFS)
def test_falloff(falloff: Falloff) -> None:
    positions, triangles = line()
    brush = brush_on(positions, triangles)
    stroke = brush.dab([0, 0, 0], 1, radius=0.8, strength=0.5, falloff=falloff)
    distance = positions[:, 0]
    expected = np.where(distance <= 0.8, 0.5 * FALLOFFS[falloff](np.minimum(distance / 0.8, 1)), 0)
    np.testing.assert_allclose(dense(brush)[:, 1], expected, atol=ROUNDING)
    np.testing.assert_allclose(dense(brush)[:, 0], 1 - expected, atol=ROUNDING)
    assert sorted(stroke.vertices) == np.flatnonzero(expected > 0).tolist()


@pytest.mark.parametrize(
    ("mode", "value", "expected"),
    [("add", 1, 0.75), ("subtract", 1, 0.25), ("replace", 1, 0.625), ("replace", 0.2, 0.425), ("scale", 2, 0.625),
     ("scale", 0, 0.375), ("scale", 1e6, 1.0)],
)  # fmt: skip
def test_modes(mode: Mode, value: float, expected: float) -> None:
    brush = Brush([[0, 0, 0]], np.zeros((0, 3), int), [[0, 1]], [[0.5, 0.5]])
    brush.dab([0, 0, 0], 1, radius=1, mode=mode, strength=0.25, value=value)
    np.testing.assert_allclose(dense(brush), [[1 - expected, expected]], atol=ROUNDING)


def test_smooth_takes_the_mean_of_the_neighbors() -> None:
    positions, triangles = line(5)
    brush = brush_on(positions, triangles, [[0], [0], [1], [1], [1]])
    stroke = brush.dab([0.5, 0, 0], 1, radius=0.3, mode="smooth", strength=0.5, falloff="constant", normalize=False)
    np.testing.assert_allclose(dense(brush)[:, 1], [0, 0.25, 0.75, 1, 1], atol=ROUNDING)
    brush.undo(stroke)
    brush.dab([0.5, 0, 0], 1, radius=0.3, mode="smooth", strength=0.5, falloff="constant")
    np.testing.assert_allclose(dense(brush)[:, 1], [0, 0.25, 1, 1, 1], atol=ROUNDING)  # the third has no other joint


def test_others_share_what_is_left() -> None:
    brush = Brush([[0, 0, 0]], np.zeros((0, 3), int), [[0, 1, 2]], [[0.6, 0.3, 0.1]])
    brush.dab([0, 0, 0], 2, radius=1, mode="replace", value=0.4)
    np.testing.assert_allclose(dense(brush), [[0.4, 0.2, 0.4]], atol=ROUNDING)
    brush.dab([0, 0, 0], 2, radius=1, mode="replace", value=0.7, normalize=False)
    np.testing.assert_allclose(dense(brush), [[0.4, 0.2, 0.7]], atol=ROUNDING)


def test_locked_joints() -> None:
    brush = Brush([[0, 0, 0]], np.zeros((0, 3), int), [[0, 1, 2]], [[0.5, 0.3, 0.2]])
    brush.dab([0, 0, 0], 2, radius=1, mode="replace", value=0.4, locked=[0])
    np.testing.assert_allclose(dense(brush), [[0.5, 0.1, 0.4]], atol=ROUNDING)
    brush.dab([0, 0, 0], 2, radius=1, mode="replace", value=0.9, locked=[True, False, False])
    np.testing.assert_allclose(dense(brush), [[0.5, 0.0, 0.5]], atol=ROUNDING)
    assert dense(brush)[0, 0] == 0.5
    assert not len(brush.dab([0, 0, 0], 2, radius=1, mode="subtract", strength=0.3, locked=[0]).vertices)  # no taker
    assert not len(brush.dab([0, 0, 0], 2, radius=1, strength=0.3, locked=[2]).vertices)


def test_lightest_influence_makes_room() -> None:
    brush = Brush([[0, 0, 0]], np.zeros((0, 3), int), [[0, 1, 2]], [[0.6, 0.3, 0.1]], joint_count=5, limit=3)
    assert repr(brush) == "<sbs.weights.Brush on 1 vertices, 5 joints, limit 3>"
    brush.dab([0, 0, 0], 4, radius=1, mode="replace", value=0.1)
    np.testing.assert_allclose(dense(brush), [[0.6, 0.3, 0, 0, 0.1]], atol=ROUNDING)
    brush.dab([0, 0, 0], 2, radius=1, mode="replace", value=0.25, locked=[1, 4])
    np.testing.assert_allclose(dense(brush), [[0, 0.3, 0.6, 0, 0.1]], atol=ROUNDING)
    assert not len(brush.dab([0, 0, 0], 3, radius=1, mode="replace", value=0.5, locked=[1, 2, 4]).vertices)


def test_seams_stay_equal() -> None:
    positions = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    brush = brush_on(positions, [[0, 1, 2], [3, 4, 5]])
    stroke = brush.dab([1, 0, 0], 1, radius=0.5, strength=0.5)
    assert sorted(stroke.vertices) == [1, 3]
    brush.dab([0.2, 0.9, 0], None, radius=2, mode="smooth", strength=0.7)
    for array in brush.influences():
        np.testing.assert_array_equal(array[[1, 2]], array[[3, 5]])


# ------------------------------------------------------------------------------------------------------------- distance


def shortest_ways(positions: np.ndarray, triangles: np.ndarray, start: int) -> np.ndarray:
    """Floyd and Warshall's algorithm, over vertices at one point as one."""
    ways = np.where((positions[:, None] == positions).all(axis=2), 0.0, np.inf)
    for a, b in triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2):
        ways[a, b] = ways[b, a] = np.linalg.norm(positions[a] - positions[b])
    for middle in range(len(positions)):
        ways = np.minimum(ways, ways[:, middle, None] + ways[middle])
    row: np.ndarray = ways[start]
    return row


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("distance", ["space", "surface"])
def test_reach_against_every_vertex(seed: int, distance: Distance) -> None:
    rng = np.random.default_rng(seed)
    positions = rng.uniform(-1, 1, (60, 3))
    positions[50:] = positions[:10]
    triangles = rng.integers(0, 60, (60, 3))
    for radius in (0.3, 0.8, 2.0, 5.0):
        center = rng.uniform(-1, 1, 3)
        brush = brush_on(positions, triangles)
        brush.dab(center, 1, radius=radius, falloff="linear", distance=distance)
        away = np.linalg.norm(positions - center, axis=1)
        if distance == "surface":
            start = int(np.argmin(away))
            away = away[start] + shortest_ways(positions, triangles, start) if away[start] <= radius else away
        np.testing.assert_allclose(dense(brush)[:, 1], np.maximum(1 - away / radius, 0), atol=ROUNDING)


# --------------------------------------------------------------------------------------------------------------- mirror


def test_mirrored_dabs() -> None:
    positions = np.array([[-1.0, 0, 0], [1.0, 0, 0], [3.0, 0, 0]])
    brush = brush_on(positions, np.zeros((0, 3), int))
    stroke = brush.dab([1, 0, 0], 1, radius=0.5, strength=0.5, mirror="x", mirror_joints=[0, 2, 1, 3, 4])
    assert sorted(stroke.vertices) == [0, 1]
    np.testing.assert_allclose(dense(brush)[:, :3], [[0.5, 0.0, 0.5], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]], atol=ROUNDING)
    stroke = brush.dab([1, 0, 0], 3, radius=0.5, strength=0.5, mirror="x", mirror_position=2.0)
    assert sorted(stroke.vertices) == [1, 2]
    np.testing.assert_allclose(dense(brush)[:, 3], [0, 0.5, 0.5], atol=ROUNDING)


@pytest.mark.parametrize("axis", ["x", "y", "z"])
@pytest.mark.parametrize("mode", MODES)
def test_mirrored_strokes_are_symmetric(axis: Axis, mode: Mode) -> None:
    """Also where the two dabs of a stroke overlap, at the mirror."""
    rng = np.random.default_rng(4)
    half = rng.uniform(0, 1, (40, 3))
    flip = np.where(np.arange(3) == "xyz".index(axis), -1.0, 1.0)
    positions, first = np.vstack([half, half * flip]), rng.integers(0, 40, (60, 3))
    swap = np.array([0, 2, 1, 4, 3])
    joints = rng.integers(0, JOINTS, (40, 1))
    brush = brush_on(positions, np.vstack([first, first + 40]), np.vstack([joints, swap[joints]]))
    for joint in (1, 0, 4):
        brush.stroke(
            rng.uniform(0, 1, (5, 3)), joint, radius=0.7, strength=0.4, mode=mode, mirror=axis, mirror_joints=swap
        )
    painted = dense(brush)
    np.testing.assert_allclose(painted[40:], painted[:40, swap], atol=ROUNDING)
    assert np.ptp(painted[:40], axis=0).max() > 0.1


# ----------------------------------------------------------------------------------------------------- undo and strokes

strokes = st.fixed_dictionaries(
    {
        "centers": st.lists(st.tuples(*[st.floats(-1.2, 1.2)] * 3), min_size=1, max_size=4),
        "joint": st.integers(0, JOINTS - 1),
        "radius": st.floats(0.05, 2.0),
        "mode": st.sampled_from(MODES),
        "strength": st.floats(0.0, 1.0),
        "value": st.floats(0.0, 1.0),
        "falloff": st.sampled_from(list(FALLOFFS)),
        "distance": st.sampled_from(["space", "surface"]),
        "locked": st.one_of(st.none(), st.lists(st.integers(0, JOINTS - 1))),
        "normalize": st.booleans(),
        "mirror": st.sampled_from([None, "x", "y", "z"]),
        "mirror_joints": st.one_of(st.none(), st.permutations(range(JOINTS))),
    }
)


def vertex_rows(pair: Influences, vertices: np.ndarray) -> Influences:
    return Influences(pair.joint_indices[vertices], pair.joint_weights[vertices])


def assert_same_bits(a: Influences, b: Influences) -> None:
    assert a.joint_indices.tobytes() == b.joint_indices.tobytes()
    assert a.joint_weights.tobytes() == b.joint_weights.tobytes()


@given(st.integers(0, 3), st.lists(strokes, min_size=1, max_size=4), st.sampled_from([None, 3]), st.booleans())
def test_any_strokes(seed: int, drawn: list[dict[str, Any]], limit: int | None, normalized: bool) -> None:
    brush = random_brush(seed, limit=limit, normalized=normalized)
    states, done = [brush.influences()], []
    for options in drawn:
        stroke = brush.stroke(**options)
        before, after = states[-1], brush.influences()
        changed = (before.joint_indices != after.joint_indices) | (before.joint_weights != after.joint_weights)
        assert sorted(stroke.vertices) == np.flatnonzero(changed.any(axis=1)).tolist()
        for pair, ours in ((stroke.old, before), (stroke.new, after)):
            assert_same_bits(pair, vertex_rows(ours, stroke.vertices))
        check_rows(before, after, options, stroke)
        states.append(after)
        done.append(stroke)

    joined = done[0]
    for stroke in done[1:]:
        joined = joined.then(stroke)
    brush.undo(joined)
    assert_same_bits(brush.influences(), states[0])
    brush.redo(joined)
    assert_same_bits(brush.influences(), states[-1])
    for stroke, state in zip(done[::-1], states[-2::-1], strict=True):
        brush.undo(stroke)
        assert_same_bits(brush.influences(), state)
    for stroke, state in zip(done, states[1:], strict=True):
        brush.redo(stroke)
        assert_same_bits(brush.influences(), state)


def check_rows(before: Influences, after: Influences, options: dict[str, Any], stroke: Stroke) -> None:
    """Weights are in order and none is negative, locked ones are as they were, and sums are 1 where they should be."""
    joints, values = after
    assert np.isfinite(values).all()
    assert (values >= 0).all()
    assert not joints[values == 0].any()
    assert (np.diff(values, axis=1) <= 0).all()
    old, new = weights.to_dense(*before, JOINTS), weights.to_dense(*after, JOINTS)
    locked = options["locked"] or []
    np.testing.assert_array_equal(new[:, locked], old[:, locked])
    if options["normalize"]:
        rows = new[stroke.vertices]
        sums, held = rows.sum(axis=1), rows[:, list(set(locked))].sum(axis=1)
        assert (np.abs(sums - np.maximum(held, 1)) <= ROUNDING)[sums > held].all()


def test_one_thread_at_a_time() -> None:
    """Threads that come too early are told so; the others' strokes are whole."""
    brush = random_brush(vertices=3000)
    done: list[Stroke | RuntimeError] = []

    def paint(joint: int) -> None:
        rng = np.random.default_rng(joint)
        for _ in range(20):
            try:
                done.append(brush.stroke(rng.uniform(-1, 1, (20, 3)), joint, radius=0.5, strength=0.1))
            except RuntimeError as error:
                assert "in use by another thread" in str(error)
                done.append(error)

    threads = [threading.Thread(target=paint, args=(joint,)) for joint in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 80
    np.testing.assert_allclose(dense(brush).sum(axis=1)[dense(brush).any(axis=1)], 1, atol=ROUNDING)


# ------------------------------------------------------------------------------------------------------------ bad input

MESH: dict[str, Any] = {
    "positions": np.eye(3),
    "triangles": [[0, 1, 2]],
    "joint_indices": [[0]] * 3,
    "joint_weights": [[1.0]] * 3,
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"positions": np.eye(4)}, r"positions has shape \(4, 4\)"),
        ({"positions": np.eye(3)[:2]}, r"positions has shape \(2, 3\)"),
        ({"positions": np.diag([1, 2, np.nan])}, r"positions\[2, 2\] is nan"),
        ({"triangles": [[0, 1]]}, r"triangles has shape \(1, 2\)"),
        ({"triangles": [[0, 1, 3]]}, r"triangles\[0, 2\] = 3"),
        ({"joint_indices": [0, 0, 0]}, r"joint_indices has shape \(3,\)"),
        ({"joint_weights": [[1.0]] * 2}, r"joint_weights \(2, 1\)"),
        ({"joint_count": 0}, "joint_count"),
        ({"joint_indices": [[0], [2], [0]], "joint_count": 2}, r"joint_indices\[1, 0\] = 2"),
        ({"limit": 0}, "limit"),
        ({"joint_indices": [[0, 0]] * 3, "joint_weights": [[1, 0]] * 3, "limit": 1}, "limit must be at least 2"),
        ({name: np.asarray(array)[:0] for name, array in MESH.items()}, "must not be empty"),
    ],
)
def test_meshes_that_cannot_be_painted(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Brush(**{**MESH, **changes})


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"centers": [0, 0, 0]}, ValueError, r"centers has shape \(3,\)"),
        ({"centers": [[0, 0]]}, ValueError, r"centers has shape \(1, 2\)"),
        ({"centers": [[0, 0, 0], [0, np.inf, 0]]}, ValueError, r"centers\[1, 1\] is inf"),
        *[({"joint": number}, ValueError, f"joint = {number}") for number in (1, -1, 2**40)],
        ({"joint": 0.0}, TypeError, "joint"),
        ({"joint": None}, ValueError, "joint"),
        *[({"radius": number}, ValueError, "radius") for number in (0, np.nan, np.inf)],
        ({"radius": "1"}, TypeError, "radius"),
        ({"strength": 2}, ValueError, "strength"),
        ({"value": 2, "mode": "replace"}, ValueError, "value"),
        ({"value": -1, "mode": "scale"}, ValueError, "value"),
        *[({name: "soft"}, ValueError, name) for name in ("mode", "falloff", "distance", "mirror")],
        ({"locked": [1]}, ValueError, r"locked\[0\] = 1"),
        ({"mirror": 0}, TypeError, "mirror"),
        ({"mirror_position": np.nan}, ValueError, "mirror_position"),
        ({"mirror_joints": [0, 1]}, ValueError, r"mirror_joints has shape \(2,\)"),
        ({"mirror_joints": [4]}, ValueError, r"mirror_joints\[0\] = 4"),
    ],
)
def test_strokes_that_cannot_be_made(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    brush = Brush(**MESH)
    before = brush.influences()
    with pytest.raises(error, match=message):
        brush.stroke(**{"centers": [[0, 0, 0]], "joint": 0, "radius": 1.0, **changes})
    with pytest.raises(ValueError, match=r"center has shape \(1, 3\)"):
        brush.dab([[0, 0, 0]], 0, radius=1.0)
    brush.undo(brush.stroke(np.zeros((0, 3)), 0, radius=1))
    assert_same_bits(brush.influences(), before)


def test_strokes_of_another_brush() -> None:
    brush, other = Brush(**MESH), random_brush()
    stroke = other.dab([0, 0, 0], 3, radius=3)
    before = brush.influences()
    with pytest.raises(ValueError, match="out of range"):
        brush.undo(stroke)
    narrow = Brush(**MESH, limit=2)
    with pytest.raises(ValueError, match=r"joint_indices has shape \(\d+, 4\)"):
        narrow.undo(stroke)
    assert_same_bits(brush.influences(), before)
