# SPDX-License-Identifier: MIT
"""Motions with their own skeleton, and how to transfer them to the skeletons of characters."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..support.callers import warn
from ..support.markup import listed, table
from ..support.owned import own
from .animation import Animation
from .joint_names import matched
from .rig import Floats, Rig
from .skeleton import Skeleton

__all__ = ["Motion"]

# Bones shorter than this, relative to the size of their skeleton, have no direction.
_NO_BONE = 1e-6

# Directions whose second singular value is at most this, relative to the first, do not determine the rotation about
# their line.
_ONE_LINE = 1e-6


class Rigged(Protocol):
    """The parts of a `Character` that a motion needs."""

    @property
    def name(self) -> str: ...
    @property
    def skeleton(self) -> Skeleton: ...
    @property
    def rig(self) -> Rig: ...
    @property
    def scene_matrix(self) -> Floats: ...


@dataclass(frozen=True, eq=False, repr=False)
class Motion:
    """How the joints of a skeleton turn over time, without a mesh.

    At rest no joint is turned: its axes are those of the scene.

    Attributes
    ----------
    name : str
    names : tuple of J str
    parents : (J,) int32 ndarray
        Of each joint, -1 for a root; always less than the joint's own number.
    offsets : (J, 3) float64 ndarray
        The position of a joint at rest, relative to its parent.
    times : (F,) float64 ndarray
        Seconds.
    rotations : (F, J, 3, 3) float64 ndarray
        Of each joint, in the axes of its parent.
    translations : (F, J, 3) float64 ndarray
        Its position, in the axes of its parent.
    """

    name: str
    names: tuple[str, ...]
    parents: NDArray[np.int32]
    offsets: Floats
    times: Floats
    rotations: Floats
    translations: Floats

    def __post_init__(self) -> None:
        own(self, "parents", "offsets", "times", "rotations", "translations")

    def __repr__(self) -> str:
        frames = len(self.times)
        return f"<sbs.Motion {self.name!r}, joints: {len(self.names)}, frames: {frames}, {self.duration:g} s>"

    def _repr_html_(self) -> str:
        rows = {"frames": f"{len(self.times)}, {self.duration:g} s", "joints": listed(self.names)}
        return table(f"sbs.Motion {self.name!r}", rows)

    @property
    def duration(self) -> float:
        """Time of the last frame, seconds."""
        return float(self.times[-1])

    def rest_positions(self) -> Floats:
        """Where the joints are at rest, (J, 3)."""
        positions = self.offsets.copy()
        for joint, parent in enumerate(self.parents.tolist()):
            if parent >= 0:
                positions[joint] += positions[parent]
        return positions

    def turned(self) -> tuple[Floats, Floats]:
        """Rotations (F, J, 3, 3) of the joints in the scene, and where they are, (F, J, 3)."""
        rotations, positions = self.rotations.copy(), self.translations.copy()
        for joint, parent in enumerate(self.parents.tolist()):
            if parent >= 0:
                positions[:, joint] = (
                    positions[:, parent] + (rotations[:, parent] @ positions[:, joint, :, None])[..., 0]
                )
                rotations[:, joint] = rotations[:, parent] @ rotations[:, joint]
        return rotations, positions

    def matches(self, character: Rigged, names: Mapping[str, str] | None = None) -> dict[str, str]:
        """The joints of a character that the motion moves in `onto`, by name.

        Parameters
        ----------
        character : Character
        names : mapping of str to str, optional
            As for `onto`. A result may be changed and given here.

        Returns
        -------
        dict of str to str
            Joints of the character by those of the motion, in the order of the motion. Others move nothing.

        Raises
        ------
        ValueError
            If `names` has one that does not exist, or a joint of the character twice.

        Examples
        --------
        >>> import numpy as np
        >>> import sbs
        >>> still = np.tile(np.eye(3), (1, 2, 1, 1))
        >>> nod = sbs.Motion("nod", ("Neck1", "tail"), [-1, 0], np.eye(2, 3), np.zeros(1), still, np.eye(2, 3)[None])
        >>> nod.matches(sbs.samples.load("woman"))
        {'Neck1': 'Neck1'}
        """
        targets = character.skeleton.names
        return {self.names[source]: targets[target] for source, target in matched(self.names, targets, names)}

    def onto(self, character: Rigged, names: Mapping[str, str] | None = None) -> Animation:
        """The same motion for a character.

        Bones point in the directions of the motion's bones, even if the rest poses differ: if one skeleton rests with
        its arms out and the other with its arms down, that difference is removed first. Twist is kept. Joints that are
        not in the motion follow their parents. The root moves as far as that of the motion from its rest position (or,
        if that is the origin, from its first frame), scaled to the size of the character.

        Parameters
        ----------
        character : Character
            The directions that are forward and up are found from the positions of its joints.
        names : mapping of str to str, optional
            The joints of the character by those of the motion, ``--joint-map`` on the command line; others are left
            out. By default joints match that have the same name, or names for the same part of the body: those of CMU,
            Mixamo, MakeHuman and some others are known. A UserWarning says if these are less than half of the joints of
            the smaller skeleton.

        Returns
        -------
        Animation
            Of the character's rig.

        Raises
        ------
        ValueError
            If fewer than two joints match, or `names` has one that does not exist.
        """
        skeleton, rig = character.skeleton, character.rig
        pairs = np.array(matched(self.names, skeleton.names, names), dtype=np.intp).reshape(-1, 2)
        if len(pairs) < 2:
            raise ValueError(
                f"the motion {self.name!r} and the character {character.name!r} have {len(pairs)} joints in common; "
                f"names= (--joint-map) maps those of the motion ({', '.join(self.names[:40])}) to the character's"
            )
        if names is None and 2 * len(pairs) < min(len(self.names), len(skeleton)):
            warn(
                f"only {len(pairs)} of the {len(self.names)} joints of the motion {self.name!r} move any of the "
                f"{len(skeleton)} of the character {character.name!r}; names= (--joint-map) tells which move which",
                UserWarning,
            )
        sources = np.full(len(skeleton), -1, np.intp)
        sources[pairs[:, 1]] = pairs[:, 0]
        rest = self.rest_positions()
        bind = np.asarray(skeleton.bind_matrices)
        view, scale = _alignment(rest[pairs[:, 0]], bind[pairs[:, 1], :3, 3])
        rotations, positions = self.turned()
        # A turn D of the motion's joint is W D W^T in the character's space; before it, the character's bones are laid
        # along those of the motion.
        parents, order = np.asarray(skeleton.parents), [int(joint) for joint in skeleton.order]
        above = _known_above(parents, order, sources >= 0)
        laid = _laid(above, order, sources, bind[:, :3, 3], rest @ view.T)
        pose = np.empty((len(self.times), len(skeleton), 4, 4))
        local_bind = np.asarray(skeleton.local_bind_matrices)
        for joint in order:
            parent, source = int(parents[joint]), int(sources[joint])
            pose[:, joint] = bind[joint] if parent < 0 else pose[:, parent] @ local_bind[joint]
            if source < 0:
                continue
            pose[:, joint, :3, :3] = view @ rotations[:, source] @ view.T @ laid[joint] @ bind[joint, :3, :3]
            if above[joint] < 0:
                reference = rest[source] if np.any(rest[source]) else positions[0, source]
                pose[:, joint, :3, 3] = bind[joint, :3, 3] + scale * (positions[:, source] - reference) @ view.T
        skinning_matrices = character.scene_matrix @ pose @ np.asarray(skeleton.inverse_bind_matrices)
        return Animation.from_skinning_matrices(self.name, self.times, skinning_matrices, rig)


def _known_above(parents: NDArray[np.int32], order: Sequence[int], known: NDArray[np.bool_]) -> NDArray[np.intp]:
    """For each joint (J,) the nearest one above it that is in the motion, or -1."""
    above = np.full(len(parents), -1, np.intp)
    for joint in order:
        parent = parents[joint]
        if parent >= 0:
            above[joint] = parent if known[parent] else above[parent]
    return above


def _alignment(sources: Floats, targets: Floats) -> tuple[Floats, float]:
    """The rotation (3, 3) by quarter turns that fits points best to others, and the ratio of their sizes.

    Programs differ by quarter turns in the axes that are up and forward. A closer fit would tilt a character whose arms
    hang lower.
    """
    sources = sources - sources.mean(axis=0)
    targets = targets - targets.mean(axis=0)
    product = targets.T @ sources
    best, most = np.eye(3), -np.inf
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1.0, -1.0), repeat=3):
            turn = np.zeros((3, 3))
            turn[range(3), order] = signs
            fit = float(np.sum(turn * product))
            if np.linalg.det(turn) > 0.0 and fit > most * (1.0 + 1e-9) + 1e-300:
                best, most = turn, fit
    size = float(np.linalg.norm(sources))
    return best, float(np.linalg.norm(targets)) / size if size > 0.0 else 1.0


def _laid(
    above: NDArray[np.intp], order: Sequence[int], sources: NDArray[np.intp], bind: Floats, rest: Floats
) -> Floats:
    """For each joint the least rotation (J, 3, 3) that aligns its bones at bind with those of the motion at rest.

    A bone leads to the next joints below that are in the motion. If there is none, the rotation of the bone above is
    used, as for a hand below a forearm.
    """
    result = np.tile(np.eye(3), (len(above), 1, 1))
    size = max(float(np.ptp(bind, axis=0).max()), 1e-300)
    below: dict[int, list[int]] = {}
    for joint in order:
        if sources[joint] >= 0 and above[joint] >= 0:
            below.setdefault(int(above[joint]), []).append(joint)
    for joint in order:
        if sources[joint] < 0:
            continue
        children = below.get(joint, [])
        bones, wanted = bind[children] - bind[joint], rest[sources[children]] - rest[sources[joint]]
        lengths, wanted_lengths = np.linalg.norm(bones, axis=1), np.linalg.norm(wanted, axis=1)
        long = (lengths > _NO_BONE * size) & (wanted_lengths > 0.0)
        if long.any():
            result[joint] = _best(bones[long] / lengths[long, None], wanted[long] / wanted_lengths[long, None])
        elif above[joint] >= 0:
            result[joint] = result[above[joint]]
    return result


def _between(start: Floats, end: Floats) -> Floats:
    """The least rotation (3, 3) of one unit vector to another; about any axis across them if they are opposite."""
    cosine = float(start @ end)
    if cosine < -1.0 + 1e-12:
        axis = np.cross(start, np.eye(3)[int(np.argmin(np.abs(start)))])
        axis /= np.linalg.norm(axis)
        return 2.0 * np.outer(axis, axis) - np.eye(3)
    cross = np.cross(start, end)
    skew = np.array([[0.0, -cross[2], cross[1]], [cross[2], 0.0, -cross[0]], [-cross[1], cross[0], 0.0]])
    return np.asarray(np.eye(3) + skew + skew @ skew / (1.0 + cosine))


def _best(starts: Floats, ends: Floats) -> Floats:
    """The rotation (3, 3) that fits unit vectors (n, 3) best to others.

    Kabsch, W. 1976. A solution for the best rotation to relate two sets of vectors. Acta Crystallographica A32.
    """
    left, values, right = np.linalg.svd(ends.T @ starts)
    if values[1] <= _ONE_LINE * values[0]:  # of one bone, or of several on one line
        return _between(starts[0], ends[0])
    sign = np.array([1.0, 1.0, np.sign(np.linalg.det(left @ right))])
    return np.asarray((left * sign) @ right)
