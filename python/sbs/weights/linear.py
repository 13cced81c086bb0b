# SPDX-License-Identifier: MIT
"""`sbs.linear`: weights and helper joints by which linear blending comes close to another method."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..characters.character import Character
from ..characters.limbs import limb_twist
from ..characters.motions import made_poses
from ..rigging import affine
from ..rigging.animation import Animation, Animations, slerp
from ..rigging.helper_joints import animation_with_helpers, free_names, moments, rig_with_helpers, to_nodes
from ..rigging.parts import source_with_nodes
from ..rigging.rig import Rig, compose, decompose
from ..rigging.triangle_mesh import Mesh, diagonal
from ..skinning.influences import Influences, tidy, with_rows
from ..skinning.options import BlendOptions
from ..skinning.skin import Skin
from .decompose import Decomposition, fit_matrices, with_more_joints
from .tools import limit

__all__ = ["LinearCharacter", "LinearError", "near_joints", "to_linear"]

Floats = NDArray[np.float64]

JOINTS_OF_A_LIMB = 2
FEWEST_JOINTS = 16

FITTED_FRAMES, FEWEST_OF_A_CLIP = 96, 6
"""Frames of all clips together that are fitted, and of each clip at least."""

MEASURED_FRAMES = 48
"""The most frames of a clip that the error is taken of, beside those fitted: half way between keys."""

FRAMES_AT_ONCE = 32
"""So many frames of helpers are found at a time, which bounds memory."""

UNSEEN = 1e-5
"""As a share of the size of the mesh: an error that nobody sees."""

SWEEPS = 30
"""Turns over the helpers in a frame of an animation, whose weights stay."""


@dataclass(frozen=True)
class LinearError:
    """How far linear blending is from its target in some frames, as shares of the size of the mesh.

    The size is the diagonal of the box around the mesh at rest.

    Attributes
    ----------
    name : str
        Of the animation, or "made poses".
    fitted : bool
        Whether weights were fitted to these frames; else they are held out, half way between keys of helpers.
    frames : int
    before : float
        The root of the mean square of linear blending with the weights and joints of the character.
    mean : float
        The same with the fitted ones.
    most : float
        The largest of any vertex.
    """

    name: str
    fitted: bool
    frames: int
    before: float
    mean: float
    most: float


@dataclass(frozen=True, eq=False)
class LinearCharacter:
    """A character for linear blending, and its errors.

    Attributes
    ----------
    character : Character
        With helper joints behind its own, and fitted weights.
    errors : tuple of LinearError
        For each animation of frames that were fitted, and of others; then for made poses.
    """

    character: Character
    errors: tuple[LinearError, ...]


def to_linear(
    character: Character,
    joints: int | None = None,
    *,
    skin: Skin | None = None,
    influences: int = 4,
    rate: float = 30.0,
    progress: Callable[[float], object] | None = None,
    **options: Unpack[BlendOptions],
) -> LinearCharacter:
    """Weights and helper joints with which linear blending comes near to another method.

    They are fitted to frames of all animations and to made poses: each joint bent and twisted. How far off they are in
    a clip counts relative to how far linear blending is. Where a clip would end farther off than that, some vertices
    get their own weights back, of at most so many `influences`, until none is farther off than with these alone, or
    than 1e-5 of the size, which nobody sees. Helpers come where the error is largest. In animations they get keys, so
    that any engine with linear blending shows them; poses that an engine makes itself don't move helpers, other than
    along with the joint that each is a child of.

    Parameters
    ----------
    character : Character
    joints : int, optional
        How many helpers; by default two for each limb, and at least 16.
    skin : Skin, optional
        The skin to come near to, of the same mesh and joints; by default that of the character with the twists of its
        limbs spread, ``character.twisted_skin(sbs.limb_twist(character))``.
    influences : int
        The most joints of a vertex.
    rate : float
        How many keys a second helpers get at least. They also get one at each key of the animation.
    progress : callable, optional
        Called now and then with the fraction of the work that is done. An exception that it raises ends the call.
    **options
        As of `Skin.deform`; by default ``center="weighted"``.

    Returns
    -------
    LinearCharacter
        Its ``character.save("engine.glb")`` writes it. Other content of the character's file is not kept.

    Raises
    ------
    ValueError
        If a count is out of range, the rate is not positive and finite, or the skin is of another mesh; or for options
        that `Skin.deform` refuses.

    Warns
    -----
    UserWarning
        If a joint with helpers has scales along its axes that differ by more than rounding.
    """
    count = _helper_count(character) if joints is None else joints
    if count < 0:
        raise ValueError(f"joints is {joints}; it must be at least 0")
    if not 0 < rate < np.inf:
        raise ValueError(f"rate is {rate}; it must be positive and finite")
    shown = _Shown(character, _skin(character) if skin is None else skin, options or BlendOptions(center="weighted"))
    clips = [_Clip.sample(animation, rate, len(character.animations)) for animation in character.animations]
    made = made_poses(character).poses
    frames = [(clip.matrices(clip.fitted), clip.twists(shown, clip.fitted)) for clip in clips if len(clip.times)]
    frames.append((made, None))
    matrices = np.concatenate([each for each, _ in frames])
    parts = [shown.positions(each, twists) for each, twists in frames]
    posed = np.concatenate(parts)

    def half(done: float) -> None:
        if progress is not None:
            progress(0.5 * done)

    found = with_more_joints(
        shown.rest,
        posed,
        matrices,
        count,
        influences=influences,
        allowed=near_joints(character),
        frame_scales=_frame_scales(character.skin, [each for each, _ in frames], parts, shown.size),
        progress=half,
    )
    return _Made(shown, found, clips, len(made), posed, influences).linear(progress)


def _frame_scales(skin: Skin, matrices: list[Floats], posed: list[Floats], size: float) -> Floats:
    """How often distances count in each frame (F,): relative to how far off linear blending is in the clip.

    The last of the matrices and positions are made poses, in which it is far off. They count relative to the geometric
    mean of that and of how far off it is in all clips.
    """
    squares = np.array(
        [
            np.square(skin.deform_many(each, method="linear") - seen).sum(axis=2).mean()
            for each, seen in zip(matrices, posed, strict=True)
        ]
    )
    squares = np.maximum(squares, (UNSEEN * size) ** 2)
    counts = [len(each) for each in posed]
    if len(squares) > 1:
        squares[-1] = np.sqrt(squares[-1] * np.average(squares[:-1], weights=counts[:-1]))
    scales = np.repeat(1 / np.sqrt(squares), counts)
    return np.asarray(scales / np.sqrt(np.square(scales).mean()))


def near_joints(character: Character) -> NDArray[np.bool_]:
    """Which joints (V, J) a vertex has, or their parents or children: none bleed into other limbs."""
    indices, weights = tidy(character.mesh.joint_indices, character.mesh.joint_weights)
    parents = character.skeleton.parents
    has = np.zeros((len(indices), len(parents)), bool)
    has[np.arange(len(indices))[:, None], indices] |= weights > 0
    has[~has.any(axis=1)] = True
    near = has.copy()
    for joint, parent in enumerate(parents):
        if parent >= 0:
            near[:, joint] |= has[:, parent]
            near[:, parent] |= has[:, joint]
    return near


def _helper_count(character: Character) -> int:
    return max(FEWEST_JOINTS, JOINTS_OF_A_LIMB * limb_twist(character).bone_count)


def _skin(character: Character) -> Skin:
    return character.twisted_skin(limb_twist(character))


class _Shown:
    """The target: a skin and its options."""

    def __init__(self, character: Character, skin: Skin, options: BlendOptions) -> None:
        if skin.vertex_count != len(character.mesh.positions) or skin.joint_count != len(character.skeleton):
            raise ValueError(
                f"skin has {skin.vertex_count} vertices and {skin.joint_count} joints, the character "
                f"{len(character.mesh.positions)} and {len(character.skeleton)}"
            )
        self.character, self.skin, self.options = character, skin, options
        self.rest = np.asarray(character.mesh.positions, np.float64)
        self.size = diagonal(self.rest)

    def positions(self, matrices: Floats, twists: Floats | None) -> Floats:
        """(F, V, 3); twists of clips are followed beyond half a turn, which one pose alone does not tell."""
        options: BlendOptions = {**self.options}
        if twists is not None:
            options["twists"] = twists
        return np.asarray(self.skin.deform_many(matrices, **options), np.float64)


@dataclass(frozen=True, eq=False)
class _Clip:
    """An animation, at the keys of helpers and half way between these."""

    animation: Animation
    times: Floats  # (2 M - 1,) keys at even places, between them the moments that are held out
    fitted: NDArray[np.intp]  # (N,) keys, as places

    @classmethod
    def sample(cls, animation: Animation, rate: float, count: int) -> _Clip:
        keys = moments(animation, rate)
        if not len(keys):
            return cls(animation, keys, np.empty(0, np.intp))
        times = np.empty(2 * len(keys) - 1)
        times[::2], times[1::2] = keys, (keys[1:] + keys[:-1]) / 2
        share = max(FEWEST_OF_A_CLIP, FITTED_FRAMES // count)
        return cls(animation, times, 2 * _spread(len(keys), share))

    @property
    def keys(self) -> NDArray[np.intp]:
        return np.arange(0, len(self.times), 2)

    @property
    def held_out(self) -> NDArray[np.intp]:
        return 1 + 2 * _spread(len(self.times) // 2, MEASURED_FRAMES)

    def matrices(self, places: NDArray[np.intp]) -> Floats:
        return self.animation.skinning_matrices(self.times[places])

    def twists(self, shown: _Shown, places: NDArray[np.intp]) -> Floats | None:
        if shown.skin.twist is None:
            return None
        followed = shown.skin.twist.angles(self.animation.skinning_matrices(self.times), follow=True)
        return np.asarray(followed[places])


def _spread(count: int, most: int) -> NDArray[np.intp]:
    """At most so many of a count of things, evenly, with the first and the last."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.intp)) if count else np.empty(0, int)


class _Made:
    """Fitted weights and helpers, on their way into a character."""

    def __init__(
        self,
        shown: _Shown,
        found: Decomposition,
        clips: list[_Clip],
        made_count: int,
        posed: Floats,
        most_influences: int,
    ) -> None:
        self.shown, self.found, self.clips = shown, found, clips
        self.joints = len(shown.character.skeleton)
        self.owners = found.owners[self.joints :].astype(np.intp)
        self.fixed = np.arange(self.joints + len(self.owners)) < self.joints
        self.made_count, self.posed = made_count, posed
        self.weights = Influences(*found)
        mesh = shown.character.mesh
        own = limit(*tidy(mesh.joint_indices, mesh.joint_weights), most_influences)
        lost = own.joint_weights.max(axis=1) == 0
        self.own = with_rows(own, lost, (self.weights.joint_indices[lost], self.weights.joint_weights[lost]))

    def linear(self, progress: Callable[[float], object] | None) -> LinearCharacter:
        character = self.shown.character
        names = free_names(character.skeleton, character.rig, self._wanted_names())
        rest = character.rig.rest_matrices[None]
        helpers = self._helpers(rest, self.shown.positions(rest, None), np.tile(np.eye(4), (1, len(self.owners), 1, 1)))
        skeleton, rig = rig_with_helpers(
            character.skeleton, character.rig, self.owners, names, self._local(helpers, rest)[0]
        )
        animations, first = [], 0
        for number, clip in enumerate(self.clips):
            relative = self._relative(first, first + len(clip.fitted))
            first += len(clip.fitted)
            animations.append(self._animation(clip, rig, relative))
            if progress is not None:
                progress(0.5 + 0.5 * (number + 1) / len(self.clips))
        made = Character(
            character.name,
            self._mesh(self.weights),
            skeleton,
            rig,
            Animations(animations),
            source=source_with_nodes(character.source, character.rig, rig),
        )
        measured = list(self._measure(made))
        given_back = _given_back(measured, self.shown.rest, self.shown.size)
        own = self.own.joint_indices[given_back], self.own.joint_weights[given_back]
        weights = with_rows(self.weights, given_back, own)
        errors = tuple(each.error(given_back, self.shown.size) for each in measured)
        return LinearCharacter(made.with_mesh(self._mesh(weights)), errors)

    def _mesh(self, influences: Influences) -> Mesh:
        indices, weights = influences
        mesh = self.shown.character.mesh
        return replace(mesh, joint_indices=indices, joint_weights=weights.astype(np.float32), centers=None)

    def _wanted_names(self) -> Iterator[str]:
        counts: dict[int, int] = {}
        for owner in self.owners.tolist():
            counts[owner] = counts.get(owner, -1) + 1
            yield f"{self.shown.character.skeleton.names[owner]}_helper_{counts[owner]}"

    def _relative(self, begin: int, end: int) -> Floats:
        """Helpers (F, H, 4, 4) of fitted frames, as movements before those of their owners."""
        matrices = self.found.skinning_matrices[begin:end]
        return np.asarray(affine.inverse(matrices[:, self.owners]) @ matrices[:, self.joints :])

    def _helpers(self, matrices: Floats, posed: Floats, relative: Floats) -> Floats:
        """Matrices (F, H, 4, 4) of helpers with the weights that were found, from where they begin."""
        if not len(self.owners):
            return relative
        start = np.concatenate([matrices, matrices[:, self.owners] @ relative], axis=1)
        found, _ = fit_matrices(self.shown.rest, posed, start, *self.weights, fixed=self.fixed, sweeps=SWEEPS)
        return found[:, self.joints :]

    def _local(self, helpers: Floats, matrices: Floats) -> Floats:
        relative = affine.inverse(matrices[:, self.owners]) @ helpers
        character = self.shown.character
        return to_nodes(relative, character.rig, self.owners, character.skeleton.names, "where it gets a helper")

    def _animation(self, clip: _Clip, rig: Rig, relative: Floats) -> Animation:
        """The animation with keys for helpers, each found from where it is in the fitted frames before and after."""
        if not len(clip.times):
            return animation_with_helpers(clip.animation, rig, clip.times, np.empty((0, 0, 4, 4)))
        local = []
        for first in range(0, len(clip.keys), FRAMES_AT_ONCE):
            places = clip.keys[first : first + FRAMES_AT_ONCE]
            matrices = clip.matrices(places)
            posed = self.shown.positions(matrices, clip.twists(self.shown, places))
            start = _between(clip.times[clip.fitted], relative, clip.times[places])
            local.append(self._local(self._helpers(matrices, posed, start), matrices))
        return animation_with_helpers(clip.animation, rig, clip.times[clip.keys], np.concatenate(local))

    def _measure(self, made: Character) -> Iterator[_Measured]:
        """How far vertices are off in each clip, in frames that were fitted and in others, and in made poses."""
        own = made.with_mesh(self._mesh(self.own)).skin
        first = 0
        for clip, animation in zip(self.clips, made.animations, strict=True):
            for fitted, places in ((True, clip.fitted), (False, clip.held_out)):
                if not len(places):
                    continue
                matrices = clip.matrices(places)
                if fitted:
                    posed = self.posed[first : first + len(places)]
                    first += len(places)
                else:
                    posed = self.shown.positions(matrices, clip.twists(self.shown, places))
                all_matrices = animation.skinning_matrices(clip.times[places])
                yield self._measured(animation.name, fitted, matrices, all_matrices, posed, made, own)
        poses = self.found.skinning_matrices[-self.made_count :]
        posed = self.posed[-self.made_count :]
        yield self._measured("made poses", True, poses[:, : self.joints], poses, posed, made, own)

    def _measured(
        self, name: str, fitted: bool, matrices: Floats, all_matrices: Floats, posed: Floats, made: Character, own: Skin
    ) -> _Measured:
        before, after, given_back = (
            np.square(skin.deform_many(given, method="linear") - posed).sum(axis=2)
            for skin, given in ((self.shown.character.skin, matrices), (made.skin, all_matrices), (own, all_matrices))
        )
        sums = before.sum(axis=0), after.sum(axis=0), given_back.sum(axis=0)
        return _Measured(name, fitted, len(posed), *sums, after.max(axis=0), given_back.max(axis=0))


@dataclass(frozen=True, eq=False)
class _Measured:
    """How far each vertex (V,) is from its target in some frames: squares, summed over the frames and the largest.

    They are of the character (before), of the fitted one (after), and of this with a vertex's own weights (given back).
    """

    name: str
    fitted: bool
    frames: int
    before: Floats
    after: Floats
    given_back: Floats
    most_after: Floats
    most_given_back: Floats

    def error(self, given_back: NDArray[np.bool_], size: float) -> LinearError:
        """With the own weights of some vertices (V,)."""
        count = self.frames * len(self.before)
        squares = (
            self.before.sum() / count,
            np.where(given_back, self.given_back, self.after).sum() / count,
            np.where(given_back, self.most_given_back, self.most_after).max(),
        )
        return LinearError(self.name, self.fitted, self.frames, *(float(np.sqrt(square)) / size for square in squares))


def _given_back(measured: list[_Measured], rest: Floats, size: float) -> NDArray[np.bool_]:
    """The vertices (V,) that get their own weights back, so that no clip is farther off than with these, or `UNSEEN`.

    Vertices come first whose own weights help worse clips most for the loss of others. Vertices at one place go
    together.
    """
    places = _core.weld(rest)
    unseen = (UNSEEN * size) ** 2 * len(rest)
    allowed = np.array([max(each.before.sum(), each.given_back.sum(), unseen * each.frames) for each in measured])
    # The gain of clips by each place, as shares of the distance that they may be off: (C, V)
    gains = np.zeros((len(measured), len(rest)))
    for gain, each, most in zip(gains, measured, allowed, strict=True):
        np.add.at(gain, places, (each.after - each.given_back) / most)
    excess = np.array([each.after.sum() for each in measured]) / allowed - 1
    chosen = np.zeros(len(rest), bool)
    while True:
        left = excess - gains[:, chosen].sum(axis=1)
        worse = left > 0
        gained = np.where(chosen, 0, gains[worse].sum(axis=0))
        candidates = np.flatnonzero(gained > 0)
        if not worse.any() or not len(candidates):
            return np.asarray(chosen[places])
        lost = -gains[~worse].sum(axis=0)
        order = candidates[np.argsort(lost[candidates] / gained[candidates], kind="stable")]
        enough = (np.cumsum(gains[worse][:, order], axis=1) >= left[worse, None]).all(axis=0)
        chosen[order[: int(np.argmax(enough)) + 1 if enough.any() else len(order)]] = True


def _between(times: Floats, matrices: Floats, moments: Floats) -> Floats:
    """Matrices (M, H, 4, 4) at some moments, between those (F, H, 4, 4) of ascending times."""
    after = np.clip(np.searchsorted(times, moments), 1, max(len(times) - 1, 1))
    before, after = after - 1, np.minimum(after, len(times) - 1)
    span = times[after] - times[before]
    share = np.clip(np.where(span > 0, (moments - times[before]) / np.where(span > 0, span, 1), 0), 0, 1)[:, None]
    parts = decompose(matrices)
    translations, scales = (
        (1 - share[..., None]) * values[before] + share[..., None] * values[after] for values in (parts[0], parts[2])
    )
    quaternions = slerp(parts[1][before], parts[1][after], np.broadcast_to(share, translations.shape[:2]))
    return compose(translations, quaternions, scales)
