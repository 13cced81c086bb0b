# SPDX-License-Identifier: MIT
"""Ctrl-C within long calls of the C library.

Python runs the handlers of signals between its own instructions only: a call within which handlers run must check for
signals itself, and ends if a handler raises.
"""

from __future__ import annotations

import faulthandler
import signal
import threading
from collections.abc import Iterator
from types import FrameType, FunctionType

import numpy as np
import pytest

import sbs
from sbs import _core
from sbs.weights.subdivision import Scheme

SIDE = 40
JOINTS = 16
INTERVAL = 0.0005  # seconds between signals: input that takes three of them is small
PATIENCE = 300  # seconds, after which a hanging test is ended, with a traceback

pytestmark = pytest.mark.applies(
    hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread(),
    reason="signals need POSIX and the main thread",
)


class Sheet:
    """A sheet of quads with random influences, of ``SIDE`` by ``times * SIDE`` vertices."""

    def __init__(self, times: int = 1) -> None:
        rows, columns = SIDE * times, SIDE
        x, y = np.meshgrid(np.arange(columns, dtype=float), np.arange(rows, dtype=float))
        self.positions = np.stack([x, y, np.sin(x + y)], axis=-1).reshape(-1, 3)
        first = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
        quads = [[first, first + 1, first + columns], [first + 1, first + columns + 1, first + columns]]
        self.triangles = np.concatenate([np.stack(corners, axis=1) for corners in quads]).astype(np.int32)
        rng = np.random.default_rng(5)
        self.joints = ((rng.integers(0, JOINTS, (len(x.ravel()), 1)) + np.array([0, 3, 7, 12])) % JOINTS).astype(
            np.int32
        )
        self.weights = rng.random((len(self.positions), 4))
        self.weights /= self.weights.sum(axis=1, keepdims=True)

    @property
    def influences(self) -> tuple[np.ndarray, np.ndarray]:
        """Joints and weights."""
        return self.joints, self.weights


@pytest.fixture(autouse=True)
def watched() -> Iterator[None]:
    """End a test that hangs, and put the handlers back."""
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    before = signal.getsignal(signal.SIGALRM)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
    faulthandler.cancel_dump_traceback_later()


def capsules() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, None, None, None]:
    ends = np.random.default_rng(2).uniform(0, SIDE, (2, 400, 3))
    return ends[0], ends[1], np.full((400, 2), 1.0), np.full((400, 2), 60.0), None, None, None


def matrices(frames: int) -> np.ndarray:
    axes = np.random.default_rng(3).normal(size=(frames, JOINTS, 3))
    made = np.zeros((frames, JOINTS, 3, 4))
    made[..., :3] = sbs.rotations.matrices_from_axis_angle(axes, np.full((frames, JOINTS), 0.5))
    return made


def smooth(times: int) -> object:
    sheet = Sheet()
    return _core.smooth_weights(*sheet.influences, sheet.positions, sheet.triangles, iterations=20 * times)


def clean(times: int) -> object:
    return _core.clean_weights(*Sheet(times).influences, limit=2)


def bind(times: int) -> object:
    sheet = Sheet(times)
    return _core.Skin(sheet.positions, *sheet.influences)


def deform(times: int) -> object:
    sheet = Sheet()
    return _core.Skin(sheet.positions, *sheet.influences).deform_many(
        matrices(20 * times), rotation="average", threads=1
    )


def deform_by_all(times: int) -> object:
    sheet = Sheet()
    return _core.Skin(sheet.positions, *sheet.influences).deform_many(matrices(20 * times), rotation="average")


def divide(times: int) -> object:
    sheet = Sheet(times)
    chosen = np.ones(len(sheet.triangles), bool)
    return _core.subdivide(sheet.positions, sheet.triangles, np.arange(len(sheet.positions)), chosen, levels=2)


def curvature(times: int) -> object:
    sheet = Sheet(times)
    return _core.curvature(sheet.positions, sheet.triangles, np.arange(len(sheet.positions)))


def weigh(times: int) -> object:
    return _core.capsule_weights(Sheet(times).positions, *capsules(), limit=4)


def nearest(times: int) -> object:
    sheet = Sheet(times)
    return _core.nearest_on_surface(sheet.positions, sheet.triangles, sheet.positions + np.array([0.3, 0.2, 5.0]))


def blocked(times: int) -> object:
    sheet = Sheet(times)
    ends = sheet.positions[::-1] + np.array([0.0, 0.0, 3.0])
    return _core.segments_blocked(sheet.positions, sheet.triangles, sheet.positions, ends)


def crossing(times: int) -> object:
    sheet = Sheet(times)
    return _core.triangles_crossing(sheet.positions, sheet.triangles)


def centers(times: int) -> object:
    sheet = Sheet(times)
    return _core.optimized_centers(sheet.positions, sheet.triangles, *sheet.influences)


def heat(times: int) -> object:
    sheet = Sheet(times)
    heads = np.linspace([0, 0, 0], [SIDE, 0, 0], JOINTS)
    return _core.heat_weights(sheet.positions, sheet.triangles, heads, heads + np.array([0, SIDE * times, 0]))


def paint(times: int) -> object:
    sheet = Sheet()
    brush = _core.Brush(sheet.positions, sheet.triangles, *sheet.influences, limit=8)
    return brush.stroke(np.full((times, 3), SIDE / 2.0), 3, radius=SIDE, mode="smooth", distance="surface")


def spread_twist(times: int) -> object:
    """Many bones: frames that take long need no more memory."""
    joints = np.arange(1, JOINTS - 1)
    heads = np.zeros((len(joints), 3))
    twist = _core.Twist(JOINTS, joints, joints - 1, joints + 1, heads, heads + np.array([1.0, 0, 0]))
    return twist.angles(matrices(20 * times), True, None)


def measure(times: int) -> object:
    """Many muscles, for the same reason."""
    count = 100
    points = np.zeros((count, 4, 3))
    points[:, 1, 0] = 1.0
    numbers = np.tile([0.1, 0.2, 0.2, 1.0, 0.0, 2.0, 0.1], (count, 1))
    ends = np.arange(2, 2 * count + 1, 2)
    none = np.zeros(count, int)
    joints, counts, thin = np.tile([0, 1, 0, 0], (count, 1)), none + 2, np.tile([0.0, 1, 0], (count, 1))
    muscles = _core.Muscles(
        JOINTS, joints, points, counts, numbers, thin, none, np.ones(2 * count), ends, none[:0], none
    )
    return muscles.measure(matrices(20 * times), None)


CALLS = [smooth, clean, bind, deform, deform_by_all, divide, curvature, weigh, nearest, blocked, crossing]
CALLS += [centers, heat, paint, spread_twist, measure]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_handlers_run_within_the_call(call: FunctionType) -> None:
    """In ever longer calls, until a handler has run three times at one instruction, which is one call."""
    places: list[int] = []

    def handler(number: int, frame: FrameType | None) -> None:
        assert frame is not None
        if frame.f_code is call.__code__:
            places.append(frame.f_lasti)

    signal.signal(signal.SIGALRM, handler)
    for power in range(15):
        places.clear()
        signal.setitimer(signal.ITIMER_REAL, INTERVAL, INTERVAL)
        call(2**power)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if any(places.count(place) >= 3 for place in places):
            return
    pytest.fail("no handler ran within the call")


def interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("after", [0.1, 0.3])
def test_ctrl_c_ends_what_would_take_days(after: float) -> None:
    sheet = Sheet()
    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, after)
    with pytest.raises(KeyboardInterrupt):
        _core.smooth_weights(*sheet.influences, sheet.positions, sheet.triangles, iterations=2**31 - 1, strength=1.0)


def test_a_stroke_that_ends_so_leaves_the_weights_as_they_were() -> None:
    sheet = Sheet()
    brush = _core.Brush(sheet.positions, sheet.triangles, *sheet.influences, limit=8)
    before = brush.influences()
    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    dabs = np.random.default_rng(1).uniform(0, SIDE, (300_000, 3))
    with pytest.raises(KeyboardInterrupt):
        brush.stroke(dabs, 3, radius=SIDE, strength=0.5)
    for now, then in zip(brush.influences(), before, strict=True):
        np.testing.assert_array_equal(now, then)
    vertices, *_ = brush.stroke([[SIDE / 2, SIDE / 2, 0.0]], 3, radius=4.0)
    assert len(vertices)


def test_a_handler_may_use_the_library() -> None:
    """Even the same functions; the call that it came into goes on, and can be interrupted still."""
    sheet = Sheet()
    seen = []

    def handler(number: int, frame: FrameType | None) -> None:
        seen.append(len(_core.weld(sheet.positions)))
        if len(seen) == 3:
            raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    with pytest.raises(KeyboardInterrupt):
        _core.smooth_weights(*sheet.influences, sheet.positions, sheet.triangles, iterations=2**31 - 1, strength=1.0)
    assert seen == [len(sheet.positions)] * 3


@pytest.mark.parametrize("scheme", ["1:3", "1:4"])
def test_levels_without_end(scheme: Scheme) -> None:
    """Where nothing is chosen nothing changes; where something is there would be more parts than numbers for them."""
    sheet = Sheet()
    chosen = np.zeros(len(sheet.triangles), bool)
    representatives = np.arange(len(sheet.positions))
    mesh = sheet.positions, sheet.triangles, representatives
    parents, _, triangles, _ = _core.subdivide(*mesh, chosen, scheme=scheme, levels=2**31 - 1)
    assert len(parents) == 0
    np.testing.assert_array_equal(triangles, sheet.triangles)
    chosen[0] = True
    with pytest.raises(ValueError, match="levels"):
        _core.subdivide(*mesh, chosen, scheme=scheme, levels=2**31 - 1)
