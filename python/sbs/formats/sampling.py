# SPDX-License-Identifier: MIT
"""When to sample an animation for a file whose joints are linear between samples."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..rigging.animation import Animation, slerp
from ..rigging.rig import Floats, compose, decompose_frames

__all__ = ["sample"]

JUST_BEFORE = 1e-6
"""Seconds before a step or a jump, at which the value before it is sampled."""

PRECISION = 1e-4
"""Of the size: by so much joints may be elsewhere between two samples."""

ROUNDS = 12
"""The most times that intervals are halved."""

MOST = 1 << 20
"""Matrices that few keys may become; more keys may become four times as many. Else a few whose tangents have no measure
would take gigabytes."""


def sample(animation: Animation, local: Callable[[Floats], Floats], size: float) -> tuple[Floats, Floats]:
    """Times (F,), ascending from 0 on, and the matrices there: at all keys, and between as often as these need.

    Joints are linear between keys where the tracks are theirs and linear. They are not where nodes between or above
    joints turn, or tracks are cubic.

    Parameters
    ----------
    animation : Animation
    local : callable
        From times (F,) to matrices (F, J, 4, 4) of joints to their parents.
    size : float
        Of the mesh.
    """
    times = _find_keys(animation)
    matrices = local(times)
    tracks = (*animation.tracks, *animation.shape_tracks)
    is_cubic = any(track.interpolation == "CUBICSPLINE" for track in tracks)
    if len(times) < 2 or (
        not is_cubic and all(np.isin(track.nodes, animation.rig.joints).all() for track in animation.tracks)
    ):
        return times, matrices
    intervals = np.arange(len(times) - 1)
    most = max(MOST, 4 * len(times) * matrices.shape[1])
    for _ in range(ROUNDS):
        start, end = times[intervals], times[intervals + 1]
        middle = (start + end) / 2.0
        there = local(middle)
        differs = _differs(matrices[intervals], there, matrices[intervals + 1], size)
        differs |= _weights_differ(animation, start, middle, end)
        differs &= end - start > 4.0 * JUST_BEFORE
        halved = intervals[differs]
        if not len(halved) or (len(times) + len(halved)) * matrices.shape[1] > most:
            break
        times = np.insert(times, halved + 1, middle[differs])
        matrices = np.insert(matrices, halved + 1, there[differs], axis=0)
        first = halved + np.arange(len(halved))  # each is moved by the samples before it
        intervals = np.sort(np.concatenate([first, first + 1]))
    return times, matrices


def _find_keys(animation: Animation) -> Floats:
    """The times of all keys, and those just before steps and jumps."""
    times = [np.zeros(1)]
    for track in (*animation.tracks, *animation.shape_tracks):
        jumps = track.times[1:] if track.interpolation == "STEP" else track.times[1:][np.diff(track.times) <= 0.0]
        times += [track.times, np.maximum(jumps - JUST_BEFORE, 0.0)]
    return np.unique(np.concatenate(times))


def _differs(start: Floats, middle: Floats, end: Floats, size: float) -> NDArray[np.bool_]:
    """Whether joints (F,) are not where they are by interpolation."""
    translations, quaternions, scales = decompose_frames(np.stack([start, end]))
    half = np.full(quaternions.shape[1:-1], 0.5)
    between = compose(translations.mean(axis=0), slerp(quaternions[0], quaternions[1], half), scales.mean(axis=0))
    turned = np.linalg.norm((between - middle)[..., :3, :3], axis=(-2, -1)) * size
    moved = np.linalg.norm((between - middle)[..., :3, 3], axis=-1)
    return np.asarray(np.maximum(turned, moved).max(axis=1) > PRECISION * size)


def _weights_differ(animation: Animation, start: Floats, middle: Floats, end: Floats) -> NDArray[np.bool_]:
    """The same for weights of shapes."""
    differs = np.zeros(len(start), bool)
    for track in animation.shape_tracks:
        between = (track.sample(start) + track.sample(end)) / 2.0
        differs |= np.abs(between - track.sample(middle)).max(axis=(1, 2)) > PRECISION
    return differs
