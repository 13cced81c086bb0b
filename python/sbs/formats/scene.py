# SPDX-License-Identifier: MIT
"""Scenes of other programs in plain arrays, as readers find them, and the characters made of these."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rigging import affine
from ..rigging.animation import Animation, Animations, Track, TrackPath
from ..rigging.content import CharacterContent, FileError, SkinnedMesh, bind_skeleton, to_scene, weighted_joints
from ..rigging.rig import Floats, Rig, compose
from ..rigging.shape_drivers import driven_shapes
from ..rigging.shapes import BlendShape
from ..rigging.trees import CircleError, find_depths
from ..rigging.triangle_mesh import MeshPart
from ..skinning.options import BlendOptions
from ..support.text import well_formed

__all__ = ["Clip", "Nodes", "Scene", "make_rig", "to_content"]

# Beyond it caches cannot count frames.
_LAST_FRAME = 2**31


@dataclass
class Nodes:
    """A tree of transforms, in any order.

    Attributes
    ----------
    names : list of N str
    parents : (N,) int32 ndarray
        -1 for roots.
    translations, scales : (N, 3) ndarray
    quaternions : (N, 4) ndarray
        Unit quaternions (w, x, y, z).
    """

    names: list[str]
    parents: NDArray[np.int32]
    translations: Floats
    quaternions: Floats
    scales: Floats


@dataclass
class Clip:
    """Samples of some nodes, between which each property is linear.

    Attributes
    ----------
    name : str
    times : (F,) ndarray
        Seconds.
    nodes : (C,) int64 ndarray
    translations, scales : (F, C, 3) ndarray
    quaternions : (F, C, 4) ndarray
    shape_weights : (F, S) ndarray, optional
        Of all blend shapes.
    start, rate : float
        See `Animation`.
    """

    name: str
    times: Floats
    nodes: NDArray[np.int64]
    translations: Floats
    quaternions: Floats
    scales: Floats
    shape_weights: Floats | None = None
    start: float = 0.0
    rate: float = 24.0


@dataclass
class Scene:
    """A skinned mesh and its nodes.

    Attributes
    ----------
    nodes : Nodes
    joints : (J,) int64 ndarray
        Their nodes.
    inverse_bind_matrices : (J, 4, 4) ndarray
    surface : SkinnedMesh
    clips : list of Clip
    remarks : list of str
    method : str
        ``"linear"`` or ``"dual_quaternion"``.
    amount : (V,) ndarray or None
        How much of it each vertex gets, in place of linear blending.
    drivers : list of str
        For each part of the surface its drivers of shapes as JSON, or none at all.
    """

    nodes: Nodes
    joints: NDArray[np.int64]
    inverse_bind_matrices: Floats
    surface: SkinnedMesh
    clips: list[Clip] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    method: str = "linear"
    amount: Floats | None = None
    drivers: list[str] = field(default_factory=list)

    def to_bytes(self) -> bytes:
        """For another process: arrays as NumPy's archive, which runs no code when it is read."""
        arrays: dict[str, NDArray[Any]] = {}
        words = json.dumps(_encode(self, arrays)).encode()
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, words=np.frombuffer(words, np.uint8), **arrays)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Scene:
        """The inverse of `to_bytes`."""
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
        found = _decode(json.loads(arrays.pop("words").tobytes()), arrays)
        if not isinstance(found, cls):
            raise ValueError(f"{type(found).__name__} is no scene")
        return found


_TYPES = {kind.__name__: kind for kind in (Nodes, Clip, Scene, SkinnedMesh, BlendShape, MeshPart)}


def _encode(thing: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    """A thing as JSON with the keys of arrays, which are put aside."""
    if isinstance(thing, np.ndarray):
        key = f"array{len(arrays)}"
        arrays[key] = thing
        return {"array": key}
    if isinstance(thing, range):
        return {"type": "range", "ends": [thing.start, thing.stop]}
    if isinstance(thing, list | tuple):
        return [_encode(member, arrays) for member in thing]
    if is_dataclass(thing):
        return {"type": type(thing).__name__} | {name: _encode(value, arrays) for name, value in vars(thing).items()}
    return thing


def _decode(told: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    """The inverse of `_encode`; lists become tuples."""
    if isinstance(told, list):
        return tuple(_decode(member, arrays) for member in told)
    if not isinstance(told, dict):
        return told
    if "array" in told:
        return arrays[told["array"]]
    if told["type"] == "range":
        return range(*told["ends"])
    return _TYPES[told["type"]](**{name: _decode(value, arrays) for name, value in told.items() if name != "type"})


def make_rig(
    path: Path, nodes: Nodes, joints: NDArray[np.int64], inverse_bind_matrices: Floats
) -> tuple[Rig, NDArray[np.intp]]:
    """The rig of nodes, parents before children, and the number in it of each node, (N,).

    Raises
    ------
    FileError
        If parents run in a circle.
    """
    count = len(nodes.parents)
    try:
        order = np.argsort(find_depths(nodes.parents.tolist()), kind="stable")
    except CircleError as error:
        raise FileError(f"{path}: the parents of {nodes.names[error.node]!r} run in a circle") from None
    number = np.empty(count, np.intp)
    number[order] = np.arange(count)
    parents = nodes.parents[order]
    translations, quaternions, scales = nodes.translations[order], nodes.quaternions[order], nodes.scales[order]
    rig = Rig(
        names=tuple(well_formed(nodes.names[node]) for node in order),
        parents=np.where(parents < 0, -1, number[parents]).astype(np.int32),
        translations=translations,
        quaternions=quaternions,
        scales=scales,
        local_matrices=compose(translations, quaternions, scales),
        has_matrix=np.zeros(count, bool),
        joints=number[joints],
        inverse_bind_matrices=inverse_bind_matrices,
    )
    return rig, number


def to_content(path: Path, scene: Scene) -> CharacterContent:
    """The character of a scene.

    Raises
    ------
    FileError
        If there is none, or the scene is damaged.
    """
    _check(path, scene)
    weighted = weighted_joints(scene.surface, len(scene.joints))
    inverse_bind_matrices = scene.inverse_bind_matrices.copy()
    singular = affine.are_singular(inverse_bind_matrices)
    names = scene.nodes.names
    for joint in np.flatnonzero(singular & weighted)[:1]:
        raise FileError(f"{path}: the inverse bind matrix of joint {names[scene.joints[joint]]!r} is singular")
    inverse_bind_matrices[singular] = np.eye(4)
    with np.errstate(over="ignore", invalid="ignore"):
        rig, number = make_rig(path, scene.nodes, scene.joints, inverse_bind_matrices)
        if not np.isfinite(rig.rest_matrices).all():
            raise FileError(f"{path}: transforms of nodes are too large")
        surface, rig, _ = to_scene(scene.surface, rig, weighted)
        if scene.drivers:
            surface = replace(surface, shapes=driven_shapes(surface, [*map(json.loads, scene.drivers)], rig))
        try:
            skeleton = bind_skeleton(rig)
        except ValueError as error:
            raise FileError(f"{path}: {error}") from None
        animations = [_animation(path, clip, rig, number) for clip in scene.clips]
    options = BlendOptions()
    if scene.method == "dual_quaternion":
        options["method"] = "dual_quaternion"
        if scene.amount is not None:
            options |= {"amount": scene.amount, "base": "linear"}
    return CharacterContent(
        surface=surface,
        skeleton=skeleton,
        rig=rig,
        animations=Animations(animations),
        remarks=[well_formed(remark) for remark in scene.remarks],
        options=options,
    )


def _check(path: Path, scene: Scene) -> None:
    """See that arrays fit together and numbers are finite: files may say anything."""
    surface, nodes = scene.surface, scene.nodes
    node_count, joint_count, vertex_count = len(nodes.names), len(scene.joints), len(surface.positions)
    if not (joint_count and vertex_count and len(surface.triangles)):
        raise FileError(f"{path}: no skin on a mesh, so there is nothing to deform")
    numbers = {"rest positions": surface.positions, "inverse bind matrices": scene.inverse_bind_matrices}
    numbers["weights of shapes at rest"] = np.array([shape.weight for shape in surface.shapes])
    numbers |= {"translations": nodes.translations, "rotations": nodes.quaternions, "scales": nodes.scales}
    numbers |= {f"keys of {clip.name!r}": clip.quaternions for clip in scene.clips}
    numbers |= {f"offsets of shape {shape.name!r}": shape.offsets for shape in surface.shapes}
    numbers |= {
        f"normals of shape {shape.name!r}": shape.normals for shape in surface.shapes if shape.normals is not None
    }
    for clip in scene.clips:
        if clip.shape_weights is not None:
            numbers[f"weights of shapes in {clip.name!r}"] = clip.shape_weights
            if clip.shape_weights.shape != (len(clip.times), len(surface.shapes)):
                raise FileError(f"{path}: {clip.name!r} has weights of {clip.shape_weights.shape[1:]} shapes")
    for what, array in numbers.items():
        if not np.isfinite(array).all():
            raise FileError(f"{path}: {what} are not finite")
    indices = {
        "a triangle names vertex": (surface.triangles, vertex_count),
        "a weight names joint": (surface.joint_indices, joint_count),
        "a joint is node": (scene.joints, node_count),
    } | {f"shape {shape.name!r} names vertex": (shape.vertices, vertex_count) for shape in surface.shapes}
    for what, (used, count) in indices.items():
        if used.size and not (used.min() >= 0 and used.max() < count):
            wrong = used.min() if used.min() < 0 else used.max()
            raise FileError(f"{path}: {what} {wrong}, but there are {count}")
    if len(np.unique(scene.joints)) != joint_count:
        raise FileError(f"{path}: a node is a joint twice")
    if not np.all((nodes.parents >= -1) & (nodes.parents < node_count)):
        raise FileError(f"{path}: the parent of a node is out of range")
    # The last row of an affine matrix that was inverted may miss by rounding.
    last_row = np.abs(scene.inverse_bind_matrices[:, 3] - [0.0, 0.0, 0.0, 1.0])
    if last_row.max() > 1e-6:
        raise FileError(
            f"{path}: the last row of inverse bind matrix {int(last_row.max(axis=1).argmax())} is no affine one"
        )
    scene.inverse_bind_matrices[:, 3] = [0.0, 0.0, 0.0, 1.0]
    for array in (nodes.quaternions, *(clip.quaternions for clip in scene.clips)):
        length = np.linalg.norm(array, axis=-1, keepdims=True)
        if array.size and not length.min() > 1e-30:
            raise FileError(f"{path}: a quaternion of length 0")
        array /= length


def _animation(path: Path, clip: Clip, rig: Rig, number: NDArray[np.intp]) -> Animation:
    if not abs(clip.start * clip.rate) < _LAST_FRAME:
        raise FileError(f"{path}: animation {clip.name!r} begins at frame {clip.start * clip.rate:g}")
    if not len(clip.times) or not (np.isfinite(clip.times).all() and np.all(np.diff(clip.times) >= 0.0)):
        raise FileError(f"{path}: times of animation {clip.name!r} do not ascend")
    for what, array in (("translations", clip.translations), ("scales", clip.scales)):
        if not np.isfinite(array).all():
            raise FileError(f"{path}: {what} of animation {clip.name!r} are not finite")
    nodes = number[clip.nodes]
    paths: dict[TrackPath, Floats] = {
        "translation": clip.translations,
        "rotation": clip.quaternions,
        "scale": clip.scales,
    }
    tracks = tuple(Track(what, "LINEAR", nodes, clip.times, values) for what, values in paths.items() if len(nodes))
    shape_tracks: tuple[Track, ...] = ()
    if clip.shape_weights is not None and clip.shape_weights.size:
        shapes = np.arange(clip.shape_weights.shape[1])
        shape_tracks = (Track("weights", "LINEAR", shapes, clip.times, clip.shape_weights[..., None]),)
    return Animation(well_formed(clip.name), tracks, rig, shape_tracks, clip.start, clip.rate)
