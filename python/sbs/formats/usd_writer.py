# SPDX-License-Identifier: MIT
"""Characters as UsdSkel assets, and frames as time samples of points, by usd-core."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rigging.animation import NEAR_END, Animation
from ..rigging.content import bind_skeleton, unique_names
from ..rigging.helper_joints import with_joint_for_unweighted
from ..rigging.rig import Floats, Rig, decompose_frames
from ..rigging.shape_drivers import pose_drivers
from ..rigging.shapes import ShapeMotion
from ..rigging.triangle_mesh import Mesh, diagonal, triangles_within
from ..skinning.influences import tidy
from ..skinning.options import BlendOptions
from ..support.extras import load
from ..support.files import replacing
from .caches import Cache, Rows
from .lost_method import tell_lost_method
from .sampling import sample

__all__ = ["USD", "write"]

NEEDS = "pxr.UsdSkel", "usd-core", "USD files"


def _load_pxr(*names: str) -> Any:
    """Modules of usd-core; one alone by itself."""
    found = [load(f"pxr.{name}", *NEEDS[1:]) for name in names]
    return found if len(found) > 1 else found[0]


@contextmanager
def _system_errors() -> Iterator[None]:
    """Turn the errors of pxr about a full or a lost disk into those of the system."""
    try:
        yield
    except _load_pxr("Tf").ErrorException as error:
        said = str(error)
        number = next((number for number in sorted(errno.errorcode) if os.strerror(number) in said), None)
        if number is None:
            raise OSError(errno.EIO, " ".join(said.split())[-300:]) from None
        raise OSError(number, os.strerror(number)) from None


class USD(Cache):
    """A mesh whose points, normals and extent have a time sample for each frame."""

    normals = True
    has_faces = True

    def __enter__(self) -> USD:
        usd_geom = _load_pxr("UsdGeom")
        self._stage = _new_stage(self.path)
        frames = self.frames
        self._stage.SetTimeCodesPerSecond(frames.fps)
        self._stage.SetStartTimeCode(frames.first + frames.numbers[0])
        self._stage.SetEndTimeCode(frames.first + frames.numbers[-1])
        self._meshes = []
        self._next = 0
        if len(frames.parts) <= 1:
            self._meshes.append(_Points(self._stage, "/mesh", range(frames.vertex_count), frames.triangles))
            self._stage.SetDefaultPrim(self._stage.GetPrimAtPath("/mesh"))
            return self
        root = usd_geom.Xform.Define(self._stage, "/character")
        self._stage.SetDefaultPrim(root.GetPrim())
        for part, identifier in zip(frames.parts, _identifiers([part.name for part in frames.parts]), strict=True):
            triangles = triangles_within(frames.triangles, part.vertices)
            self._meshes.append(_Points(self._stage, f"/character/{identifier}", part.vertices, triangles))
            _keep_name(self._stage.GetPrimAtPath(f"/character/{identifier}"), part.name)
        return self

    def append(self, positions: Rows, normals: Rows | None) -> None:
        for row, points in enumerate(positions):
            code = float(self.frames.first + self.frames.numbers[self._next])
            self._next += 1
            for mesh in self._meshes:
                mesh.put(points, None if normals is None else normals[row], code)
        # Saved samples leave memory.
        with _system_errors():
            self._stage.GetRootLayer().Save()

    def __exit__(self, *failure: Any) -> bool | None:
        self._meshes = []
        self._stage = None
        return super().__exit__(*failure)


class _Points:
    """A mesh that gets time samples."""

    def __init__(self, stage: Any, path: str, vertices: range, triangles: NDArray[np.int32]) -> None:
        mesh = _load_pxr("UsdGeom").Mesh.Define(stage, path)
        _put_faces(mesh, triangles)
        self._rows = slice(vertices.start, vertices.stop)
        self._points, self._extent = mesh.CreatePointsAttr(), mesh.CreateExtentAttr()
        self._mesh = mesh
        self._normals: Any = None

    def put(self, points: Rows, normals: Rows | None, code: float) -> None:
        """The positions and normals of all vertices (V, 3) at a time code."""
        own = points[self._rows]
        self._points.Set(_vectors(own), code)
        if len(own):
            self._extent.Set(_vectors([own.min(axis=0), own.max(axis=0)]), code)
        if normals is None:
            return
        if self._normals is None:
            self._normals = self._mesh.CreateNormalsAttr()
            self._mesh.SetNormalsInterpolation("vertex")
        self._normals.Set(_vectors(normals[self._rows]), code)


def _identifiers(names: Sequence[str]) -> list[str]:
    """Names that USD allows, each once."""
    valid = _load_pxr("Tf").MakeValidIdentifier
    return unique_names([valid(name or "mesh") for name in names])


def _keep_name(prim: Any, name: str) -> None:
    """Keep a name that is no identifier as the display name of a prim."""
    if name != prim.GetName():
        prim.SetDisplayName(name)


def _new_stage(path: Path) -> Any:
    """A stage on a new layer, whose file need not be there: a unit is a meter and y is upward, as in glTF."""
    sdf, usd, usd_geom = _load_pxr("Sdf", "Usd", "UsdGeom")
    layer = sdf.Layer.CreateNew(str(path))
    stage = usd.Stage.Open(layer)
    usd_geom.SetStageUpAxis(stage, usd_geom.Tokens.y)
    usd_geom.SetStageMetersPerUnit(stage, 1.0)
    return stage


def _single(array: Any) -> NDArray[np.float32]:
    return np.ascontiguousarray(array, dtype=np.float32)


def _vectors(rows: Any) -> Any:
    return _load_pxr("Vt").Vec3fArray.FromNumpy(_single(rows))


def _put_faces(mesh: Any, triangles: NDArray[np.int32]) -> None:
    vt = _load_pxr("Vt")
    mesh.CreateFaceVertexCountsAttr(vt.IntArray.FromNumpy(np.full(len(triangles), 3, np.int32)))
    mesh.CreateFaceVertexIndicesAttr(vt.IntArray.FromNumpy(np.ascontiguousarray(triangles, np.int32).ravel()))
    mesh.CreateSubdivisionSchemeAttr("none")
    mesh.CreateDoubleSidedAttr(True)


def write(
    path: Path,
    name: str,
    mesh: Mesh,
    rig: Rig,
    animations: Sequence[Animation],
    *,
    weights: str = "float32",
    source: object = None,
    options: BlendOptions | None = None,
) -> None:
    """Writes a character as a UsdSkel asset: a SkelRoot with a skeleton, its animations and the mesh.

    Joints that a file has other nodes between or above are written as they are in the scene. The first animation is
    bound and gives the stage its time; all of them hang below the skeleton.

    Raises
    ------
    ValueError
        If `weights` is not "float32": USD has floating-point weights alone.
    """
    if weights != "float32":
        raise ValueError(f"weights is {weights!r}, but USD has 'float32' alone")
    load(*NEEDS)
    with replacing(path) as temporary, _system_errors():
        stage = _new_stage(temporary)
        options = options or {}
        amount = options.get("amount")
        dual = np.full(len(mesh.positions), options.get("method") == "dual_quaternion", float)
        dual *= 1.0 if amount is None else amount
        _fill(stage, name, *with_joint_for_unweighted(mesh, rig, animations), dual)
        stage.GetRootLayer().Save()
        del stage
    shares = [dual[part.vertices] for part in mesh.parts] or [dual]
    if options.get("method") != "dual_quaternion" or not all(np.ptp(s) == 0.0 and s[0] in (0.0, 1.0) for s in shares):
        tell_lost_method(path, options)


def _fill(stage: Any, name: str, mesh: Mesh, rig: Rig, animations: Sequence[Animation], dual: Floats) -> None:
    tf, usd_skel, vt = _load_pxr("Tf", "UsdSkel", "Vt")
    rate = animations[0].rate if animations else 24.0
    stage.SetTimeCodesPerSecond(rate)
    root = usd_skel.Root.Define(stage, f"/{tf.MakeValidIdentifier(name or 'character')}")
    stage.SetDefaultPrim(root.GetPrim())
    _keep_name(root.GetPrim(), name)
    joints = _Joints(rig, tf.MakeValidIdentifier)

    skeleton = usd_skel.Skeleton.Define(stage, root.GetPath().AppendChild("skeleton"))
    skeleton.CreateJointsAttr(vt.TokenArray(joints.tokens))
    skeleton.CreateJointNamesAttr(vt.TokenArray(joints.names))
    skeleton.CreateBindTransformsAttr(_row_matrices(joints.bind))
    skeleton.CreateRestTransformsAttr(_row_matrices(joints.local(rig.rest_matrices)))
    binding = usd_skel.BindingAPI.Apply(skeleton.GetPrim())
    tokens = _identifiers([shape.name for shape in mesh.shapes])
    animation_names = unique_names([tf.MakeValidIdentifier(animation.name or "animation") for animation in animations])
    for number, animation in enumerate(animations):
        place = skeleton.GetPath().AppendChild(animation_names[number])
        prim = usd_skel.Animation.Define(stage, place)
        _keep_name(prim.GetPrim(), animation.name)
        _put_animation(prim, animation, joints, tokens, mesh, rate)
        if number == 0:
            binding.CreateAnimationSourceRel().SetTargets([place])
            start, end = animation.start * rate, (animation.start + animation.duration) * rate
            stage.SetStartTimeCode(start)
            # Programs cut the rest from a frame that float32 put before a whole number.
            stage.SetEndTimeCode(round(end) if abs(round(end) - end) <= NEAR_END * rate else end)

    if not animations and any(shape.weight for shape in mesh.shapes):
        place = skeleton.GetPath().AppendChild("rest")
        _put_weights(usd_skel.Animation.Define(stage, place), tokens, mesh)
        binding.CreateAnimationSourceRel().SetTargets([place])

    # "skeleton" is the name of another prim there.
    mesh_names = _identifiers(["skeleton", *([part.name for part in mesh.parts] or ["mesh"])])[1:]
    for number, mesh_name in enumerate(mesh_names):
        part, own, share = mesh, tokens, dual
        if len(mesh.parts) > 1:
            share = dual[mesh.parts[number].vertices]
            part = mesh.of_parts([number])
            own = [tokens[shape] for shape in mesh.parts[number].shapes if shape < len(tokens)]
        place = root.GetPath().AppendChild(mesh_name)
        _put_mesh(stage, place, part, rig, skeleton, joints, own)
        if share.mean() > 0.5:  # USD has no blend
            skinned = usd_skel.BindingAPI(stage.GetPrimAtPath(place))
            skinned.CreateSkinningMethodAttr(usd_skel.Tokens.dualQuaternion)
        if mesh.parts:
            _keep_name(stage.GetPrimAtPath(place), mesh.parts[number].name)


def _put_mesh(stage: Any, path: Any, mesh: Mesh, rig: Rig, skeleton: Any, joints: _Joints, tokens: list[str]) -> None:
    """Writes a mesh on the skeleton, with its blend shapes, which animations know by `tokens`."""
    sdf, usd_geom, usd_skel, vt = _load_pxr("Sdf", "UsdGeom", "UsdSkel", "Vt")
    surface = usd_geom.Mesh.Define(stage, path)
    _put_faces(surface, mesh.triangles)
    surface.CreatePointsAttr(_vectors(mesh.positions))
    extent = [mesh.positions.min(axis=0), mesh.positions.max(axis=0)]
    surface.CreateExtentAttr(vt.Vec3fArray.FromNumpy(_single(extent)))
    if mesh.normals is not None:
        surface.CreateNormalsAttr(_vectors(mesh.normals))
        surface.SetNormalsInterpolation("vertex")
    if mesh.uvs is not None:
        primvar = usd_geom.PrimvarsAPI(surface).CreatePrimvar("st", sdf.ValueTypeNames.TexCoord2fArray, "vertex")
        primvar.Set(vt.Vec2fArray.FromNumpy(_single(mesh.uvs)))
    indices, shares = tidy(mesh.joint_indices, mesh.joint_weights)
    skinned = usd_skel.BindingAPI.Apply(surface.GetPrim())
    skinned.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
    width = indices.shape[1]
    skinned.CreateJointIndicesPrimvar(False, width).Set(
        vt.IntArray.FromNumpy(np.ascontiguousarray(joints.place[indices], np.int32).ravel())
    )
    skinned.CreateJointWeightsPrimvar(False, width).Set(vt.FloatArray.FromNumpy(_single(shares).ravel()))
    skinned.CreateGeomBindTransformAttr(_row_matrices(np.eye(4)[None])[0])
    if not tokens:
        return
    targets = []
    for token, shape in zip(tokens, mesh.shapes, strict=True):
        prim = usd_skel.BlendShape.Define(stage, path.AppendChild(token))
        # Without point indices, there would be one offset for each point.
        offsets, points = (shape.offsets, shape.vertices) if len(shape.vertices) else (np.zeros((1, 3)), np.zeros(1))
        prim.CreateOffsetsAttr(_vectors(offsets))
        if shape.normals is not None and len(shape.vertices):
            prim.CreateNormalOffsetsAttr(_vectors(shape.normals))
        prim.CreatePointIndicesAttr(vt.IntArray.FromNumpy(np.ascontiguousarray(points, np.int32)))
        _keep_name(prim.GetPrim(), shape.name)
        targets.append(prim.GetPath())
    drivers = pose_drivers(rig, mesh.shapes, tokens, joints.place)
    if drivers:
        surface.GetPrim().SetCustomDataByKey("pose_drivers", json.dumps(drivers))
    skinned.CreateBlendShapesAttr(vt.TokenArray(tokens))
    skinned.CreateBlendShapeTargetsRel().SetTargets(targets)


class _Joints:
    """The joints of a rig as USD has them, each by the path of names that leads to it: parents first.

    Where they are so already, they keep their numbers, by which poses are given.
    """

    def __init__(self, rig: Rig, valid: Any) -> None:
        skeleton = bind_skeleton(rig)
        numbers = np.arange(len(skeleton))
        self.order = numbers if (skeleton.parents < numbers).all() else np.asarray(skeleton.order)
        self.place = np.empty(len(self.order), np.intp)  # in the file, of each joint
        self.place[self.order] = np.arange(len(self.order))
        self.parents = np.where(skeleton.parents[self.order] < 0, -1, self.place[skeleton.parents[self.order]])
        self.names = [skeleton.names[joint] for joint in self.order]
        self.bind = np.asarray(skeleton.bind_matrices)[self.order]
        self.tokens: list[str] = []
        below: dict[int, set[str]] = {}
        for name, parent in zip(self.names, self.parents.tolist(), strict=True):
            taken = below.setdefault(parent, set())
            bare = token = valid(name)
            number = 2
            while token in taken:
                token, number = f"{bare}_{number}", number + 1
            taken.add(token)
            self.tokens.append(token if parent < 0 else f"{self.tokens[parent]}/{token}")

    def local(self, skinning_matrices: Floats) -> Floats:
        """Joint to the joint above (..., J, 4, 4), in the order of the file, from skinning matrices (..., J, 4, 4)."""
        pose = skinning_matrices[..., self.order, :, :] @ self.bind
        children = np.flatnonzero(self.parents >= 0)
        local: Floats = pose.copy()
        local[..., children, :, :] = np.linalg.inv(pose[..., self.parents[children], :, :]) @ pose[..., children, :, :]
        return local


def _row_matrices(matrices: Floats) -> Any:
    """USD's matrices, for row vectors."""
    vt = _load_pxr("Vt")
    return vt.Matrix4dArray.FromNumpy(np.ascontiguousarray(matrices.transpose(0, 2, 1), np.float64))


def _put_weights(prim: Any, tokens: list[str], mesh: Mesh) -> Any:
    """Write the weights at rest of blend shapes into an animation; returns their attribute."""
    vt = _load_pxr("Vt")
    prim.CreateBlendShapesAttr(vt.TokenArray(tokens))
    return prim.CreateBlendShapeWeightsAttr(vt.FloatArray([shape.weight for shape in mesh.shapes]))


def _put_animation(
    prim: Any, animation: Animation, joints: _Joints, tokens: list[str], mesh: Mesh, rate: float
) -> None:
    gf, vt = _load_pxr("Gf", "Vt")
    prim.CreateJointsAttr(vt.TokenArray(joints.tokens))

    def local(times: Floats) -> Floats:
        return joints.local(animation.skinning_matrices(times))

    times, matrices = sample(animation, local, diagonal(mesh.positions))
    translations, quaternions, scales = decompose_frames(matrices)
    attributes = prim.CreateTranslationsAttr(), prim.CreateRotationsAttr(), prim.CreateScalesAttr()
    weights = None
    if tokens:
        weights = _put_weights(prim, tokens, mesh)
        shares = _single(ShapeMotion(mesh.positions, mesh.shapes, animation.shape_tracks).weights(times))
    for frame, seconds in enumerate(times):
        code = float((animation.start + seconds) * rate)
        if weights is not None:
            weights.Set(vt.FloatArray.FromNumpy(shares[frame]), code)
        attributes[0].Set(_vectors(translations[frame]), code)
        attributes[1].Set(vt.QuatfArray([gf.Quatf(*map(float, q)) for q in quaternions[frame]]), code)
        attributes[2].Set(vt.Vec3hArray([gf.Vec3h(*map(float, s)) for s in scales[frame]]), code)
