# SPDX-License-Identifier: MIT
"""Animations: tracks of keys that move the nodes of a rig."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, SupportsIndex, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..support.names import nearest_name
from ..support.owned import own
from . import affine
from .rig import Floats, Rig, compose, decompose_frames

TrackPath = Literal["translation", "rotation", "scale", "weights"]
Interpolation = Literal["LINEAR", "STEP", "CUBICSPLINE"]

NEAR_END = 0.0005
"""Seconds by which a frame may be after the end of its clip: files round times, to float32 or to a few digits."""

_MOST_FRAMES = 1_000_000

_STILL = 1e-6
"""A property that never differs from the rest pose by more than this, relative to its size, gets no track."""


def last_frame(duration: float, fps: float) -> int:
    """The last frame of a clip: the nearest to its end, or the one before if that is more than `NEAR_END` after it."""
    last = round(duration * fps)
    return last if last / fps - duration <= NEAR_END else last - 1


def slerp(start: Floats, end: Floats, fraction: Floats) -> Floats:
    """Spherical linear interpolation along the shorter arc.

    Shoemake, K. 1985. Animating Rotation with Quaternion Curves. SIGGRAPH '85.

    Parameters
    ----------
    start, end : (..., 4) ndarray
        Unit quaternions.
    fraction : (...) ndarray
        0 at start, 1 at end.
    """
    end = np.where(np.sum(start * end, axis=-1, keepdims=True) < 0.0, -end, end)
    # The arc tangent is exact at small angles, where the arc cosine of the dot product loses half of its digits.
    angle = 2.0 * np.arctan2(np.linalg.norm(end - start, axis=-1), np.linalg.norm(end + start, axis=-1))
    sine = np.sin(angle)
    safe = np.where(sine == 0.0, 1.0, sine)
    weight_start = np.where(sine == 0.0, 1.0 - fraction, np.sin((1.0 - fraction) * angle) / safe)
    weight_end = np.where(sine == 0.0, fraction, np.sin(fraction * angle) / safe)
    return weight_start[..., None] * start + weight_end[..., None] * end


@dataclass(frozen=True, eq=False)
class Track:
    """Keys of one property of several nodes, at the same times.

    Attributes
    ----------
    path : "translation", "rotation", "scale" or "weights"
    interpolation : "LINEAR", "STEP" or "CUBICSPLINE"
        As glTF 2.0 defines them (appendix C): LINEAR rotations go by slerp.
    nodes : (C,) intp ndarray
        The nodes that move; of weights the blend shapes.
    times : (K,) float64 ndarray
        Seconds, not decreasing.
    values : (K, C, n) float64 ndarray
        A key for each time and node; n is 4 for rotations, quaternions (w, x, y, z), 1 for
        weights, else 3. For CUBICSPLINE
        (K, 3, C, n): in-tangent, value, out-tangent, tangents per second.
    """

    path: TrackPath
    interpolation: Interpolation
    nodes: NDArray[np.intp]
    times: Floats
    values: Floats

    def __post_init__(self) -> None:
        own(self, "nodes", "times", "values")

    def sample(self, times: Floats) -> Floats:
        """Values (F, C, n) at times (F,), clamped to the first and the last key; rotations are unit quaternions."""
        if len(self.times) == 1:
            keys = self.values[:, 1] if self.interpolation == "CUBICSPLINE" else self.values
            samples = np.repeat(keys, len(times), axis=0)
        else:
            samples = self._interpolate(np.clip(times, self.times[0], self.times[-1]))
        if self.path == "rotation":
            samples /= np.linalg.norm(samples, axis=-1, keepdims=True)
        return samples

    def _interpolate(self, times: Floats) -> Floats:
        later = np.searchsorted(self.times, times, side="right")
        if self.interpolation == "STEP":
            return self.values[np.maximum(later - 1, 0)]
        after = np.clip(later, 1, len(self.times) - 1)
        before = after - 1
        duration = self.times[after] - self.times[before]
        fraction = np.where(duration > 0.0, times - self.times[before], 1.0) / np.where(duration > 0.0, duration, 1.0)
        if self.interpolation == "CUBICSPLINE":
            return self._cubic(before, after, fraction[:, None, None], duration[:, None, None])
        if self.path == "rotation":
            return slerp(self.values[before], self.values[after], np.repeat(fraction[:, None], len(self.nodes), axis=1))
        fraction = fraction[:, None, None]
        return (1.0 - fraction) * self.values[before] + fraction * self.values[after]

    def _cubic(self, before: NDArray[np.intp], after: NDArray[np.intp], u: Floats, duration: Floats) -> Floats:
        """Cubic Hermite spline, glTF 2.0 appendix C.5."""
        in_tangent, value, out_tangent = self.values[:, 0], self.values[:, 1], self.values[:, 2]
        return (
            (2.0 * u**3 - 3.0 * u**2 + 1.0) * value[before]
            + duration * (u**3 - 2.0 * u**2 + u) * out_tangent[before]
            + (3.0 * u**2 - 2.0 * u**3) * value[after]
            + duration * (u**3 - u**2) * in_tangent[after]
        )


@dataclass(frozen=True, eq=False, repr=False)
class Animation:
    """A motion of a rig.

    Attributes
    ----------
    name : str
    tracks : tuple of Track
    rig : Rig
        Its nodes are moved by the tracks; nodes without a track keep their rest transform.
    shape_tracks : tuple of Track
        Weights of the blend shapes of the mesh: see `Character.shape_motion`.
    start : float
        Seconds in the time of its file at which it begins, as shots in USD do; its own time is 0 there.
    rate : float
        Frames a second of its file.
    """

    name: str
    tracks: tuple[Track, ...]
    rig: Rig
    shape_tracks: tuple[Track, ...] = ()
    start: float = 0.0
    rate: float = 24.0

    def __repr__(self) -> str:
        return f"<sbs.Animation {self.name!r}, {self.duration:g} s>"

    @property
    def duration(self) -> float:
        """Time of the last key, seconds; the first frame is at 0."""
        return max((float(track.times[-1]) for track in (*self.tracks, *self.shape_tracks)), default=0.0)

    def frames(self, fps: float) -> range:
        """The numbers of all its frames; frame n is at ``n / fps`` seconds.

        They begin with 0 and end with ``round(duration * fps)``, the frame nearest to the end. If that is more than
        half a millisecond after the end, they end with the one before. Files round times, glTF to float32, so a clip
        may end a little before the frame that it was made to end with.

        Raises
        ------
        ValueError
            If the rate is not positive and finite, or there are more than 1,000,000 frames.
        """
        if not 0.0 < fps < np.inf:
            raise ValueError(f"fps is {fps}; it must be positive and finite")
        if not self.duration * fps < _MOST_FRAMES - 0.5:
            raise ValueError(f"{self.duration:g} s at {fps:g} frames a second are more than {_MOST_FRAMES:,} frames")
        return range(last_frame(self.duration, fps) + 1)

    def first_frame(self, fps: float) -> int:
        """The number in the time of its file, in which caches count, of frame 0."""
        return round(self.start * fps)

    def skinning_matrices(self, times: ArrayLike) -> Floats:
        """Skinning matrices at one time or several, bind space to scene.

        Parameters
        ----------
        times : float or (F,) array_like
            Seconds; before the first key and after the last, a track keeps that key.

        Returns
        -------
        (J, 4, 4) or (F, J, 4, 4) float64 ndarray

        Raises
        ------
        ValueError
            If `times` is not finite or has more than one axis.
        """
        seconds = np.asarray(times, dtype=np.float64)
        if seconds.ndim > 1:
            raise ValueError(f"times has shape {seconds.shape}, a number or (F,) is needed")
        if not np.isfinite(seconds).all():
            raise ValueError("times must be finite")
        matrices = self.rig.skinning_matrices(self._local_matrices(np.atleast_1d(seconds)))
        return matrices if seconds.ndim else matrices[0]

    def _local_matrices(self, times: Floats) -> Floats:
        rig = self.rig
        local_matrices = np.repeat(rig.local_matrices[None], len(times), axis=0)
        if not self.tracks:
            return local_matrices
        moved = np.unique(np.concatenate([track.nodes for track in self.tracks]))
        properties = {
            "translation": np.repeat(rig.translations[None, moved], len(times), axis=0),
            "rotation": np.repeat(rig.quaternions[None, moved], len(times), axis=0),
            "scale": np.repeat(rig.scales[None, moved], len(times), axis=0),
        }
        for track in self.tracks:
            properties[track.path][:, np.searchsorted(moved, track.nodes)] = track.sample(times)
        local_matrices[:, moved] = compose(properties["translation"], properties["rotation"], properties["scale"])
        return local_matrices

    @classmethod
    def from_skinning_matrices(cls, name: str, times: ArrayLike, skinning_matrices: ArrayLike, rig: Rig) -> Animation:
        """An animation through given skinning matrices, linear in between.

        If all of it is the rest pose, the first joint has keys that hold it, so that the length is kept.

        Parameters
        ----------
        name : str
        times : (F,) array_like
            Seconds, ascending.
        skinning_matrices : (F, J, 4, 4) array_like
            Bind space to scene, without shear between a joint and its parent.
        rig : Rig
            None of its joints is sheared. Nodes that are no joints stay as they are.

        Raises
        ------
        ValueError
            If the rig has a sheared joint, or shapes disagree.
        """
        seconds = np.asarray(times, dtype=np.float64)
        matrices = np.asarray(skinning_matrices, dtype=np.float64)
        joint_count = len(rig.joints)
        for node in rig.joints[rig.has_matrix[rig.joints]][:1]:
            raise ValueError(f"joint {rig.names[node]!r} of the rig is given by a matrix, which cannot be animated")
        if seconds.ndim != 1 or matrices.shape != (len(seconds), joint_count, 4, 4):
            raise ValueError(
                f"skinning_matrices has shape {matrices.shape}, times {seconds.shape}; "
                f"(F, {joint_count}, 4, 4) and (F,) are needed"
            )
        local_matrices = rig.local_from_joints(matrices @ affine.inverse(rig.inverse_bind_matrices))
        tracks = make_tracks(seconds, local_matrices, rig)
        if not tracks and len(seconds):
            node, ends = rig.joints[:1], seconds[[0, -1]] if len(seconds) > 1 else seconds
            tracks = (Track("rotation", "LINEAR", node, ends, np.repeat(rig.quaternions[node][None], len(ends), 0)),)
        return cls(name, tracks, rig)


def make_tracks(times: Floats, local_matrices: Floats, rig: Rig, first: int = 0) -> tuple[Track, ...]:
    """Linear tracks of the nodes of a rig from the first on, through their matrices (F, n, 4, 4) at times (F,).

    Only of nodes and properties that move.
    """
    rest = {"translation": rig.translations, "rotation": rig.quaternions, "scale": rig.scales}
    size = {"translation": float(np.abs(rig.translations).max()), "rotation": 1.0, "scale": 1.0}
    tracks = []
    paths: tuple[TrackPath, ...] = ("translation", "rotation", "scale")
    for path, values in zip(paths, decompose_frames(local_matrices), strict=True):
        most = np.abs(values - rest[path][first:]).max(axis=(0, 2), initial=0.0)
        moved = np.flatnonzero((most > _STILL * size[path]) & ~rig.has_matrix[first:])
        if len(moved):
            tracks.append(Track(path, "LINEAR", first + moved, times, np.ascontiguousarray(values[:, moved])))
    return tuple(tracks)


class Animations(tuple[Animation, ...]):
    """Animations in their order, which can also be looked up by name.

    A key is the name of an animation, or the end of a name that no other shares: files often put the name of an object
    in front, as in ``"Armature|Run"``. An end begins after one of ``| : / . _ -`` or a space.

    Raises
    ------
    KeyError
        By ``animations[name]``, if no animation has that name, or the names of several end in it.

    Examples
    --------
    >>> import sbs
    >>> hand = sbs.samples.load("hand")
    >>> hand.animations["fist"]
    <sbs.Animation 'fist', 1 s>
    """

    __slots__ = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all."""
        return tuple(animation.name for animation in self)

    @overload
    def __getitem__(self, key: str | SupportsIndex) -> Animation: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Animation, ...]: ...
    def __getitem__(self, key: str | SupportsIndex | slice) -> Animation | tuple[Animation, ...]:
        if not isinstance(key, str):
            return super().__getitem__(key)
        found = self._named(key)
        if len(found) == 1:
            return found[0]
        if found:
            raise KeyError(f"{key!r} may be any of: {', '.join(animation.name for animation in found)}")
        listed = ", ".join(self.names) or "none"
        raise KeyError(f"no animation is named {key!r}; there are: {listed}{nearest_name(key, self.names)}")

    def __contains__(self, key: object) -> bool:
        return len(self._named(key)) == 1 if isinstance(key, str) else super().__contains__(key)

    def _named(self, name: str) -> list[Animation]:
        """The first animation with exactly this name, or else all whose names end in it."""
        exact = [animation for animation in self if animation.name == name]
        ends = tuple(f"{mark}{name}" for mark in "|:/._- ")
        return exact[:1] or [animation for animation in self if name and animation.name.endswith(ends)]
