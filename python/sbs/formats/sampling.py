# SPDX-License-Identifier: MIT
"""When to sample an animation for a file whose joints are linear between samples."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..rigging.animation import Animation, slerp
from ..rigging.rig import Floats, compose, decompose_frames

__all__ = ["sample_times"]

JUST_BEFORE = 1e-6
"""Seconds before a step or a jump, at which the value before it is sampled."""

PRECISION = 1e-4
"""Of the size: by so much joints may be elsewhere between two samples."""

ROUNDS = 12
"""The most times that intervals are halved."""


def sample_times(animation: Animation, local: Callable[[Floats], Floats], size: float) -> Floats:
    """Ascending times (F,) from 0 on: all keys, and as many between as matrices of joints to their parents need.

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
    tracks = (*animation.tracks, *animation.shape_tracks)
    times = [np.zeros(1), *(track.times for track in tracks)]
    for track in tracks:
        jumps = track.times[1:] if track.interpolation == "STEP" else track.times[1:][np.diff(track.times) <= 0.0]
        times.append(np.maximum(jumps - JUST_BEFORE, 0.0))
    found = np.unique(np.concatenate(times))
    is_cubic = any(track.interpolation == "CUBICSPLINE" for track in tracks)
    joints = np.asarray(animation.rig.joints)
    if not is_cubic and all(np.isin(track.nodes, joints).all() for track in animation.tracks):
        return found
    bad = np.ones(len(found) - 1, bool)
    for _ in range(ROUNDS):
        places = np.flatnonzero(bad)
        if not len(places):
            break
        start, end = found[places], found[places + 1]
        middle = (start + end) / 2.0
        differs = _differs(local(start), local(middle), local(end), size)
        differs |= _weights_differ(animation, start, middle, end)
        differs &= end - start > 4.0 * JUST_BEFORE
        added = middle[differs]
        found = np.sort(np.concatenate([found, added]))
        bad = np.isin(found[:-1], np.concatenate([start[differs], added]))
    return found


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
