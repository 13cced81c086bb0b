# SPDX-License-Identifier: MIT
"""Characters from USD: UsdSkel's skeletons, skinned meshes and animations, by usd-core, in a process of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rigging import affine
from ..rigging.content import CharacterContent, FileError, SkinnedMesh, Wanted
from ..rigging.rig import Floats, decompose, decompose_frames
from ..rigging.shapes import BlendShape
from ..rigging.triangle_mesh import area_weighted_normals
from ..support.extras import load
from ..support.files import lies_beside
from .apart import allow, read_apart
from .gltf.meshes import join
from .polygons import fans
from .scene import Clip, Nodes, Scene, to_content

__all__ = ["NEEDS", "read", "scene"]

NEEDS = "pxr.UsdSkel", "usd-core", "USD files"

_MOST_LAYERS = 1000

# The most frames of a skeleton that moves as a whole.
_MOST_FRAMES = 100_000

# The most prims that more memory is allowed for.
_MOST_PRIMS = 1 << 17


def read(path: Path, wanted: Wanted) -> CharacterContent:
    """See `sbs.load`; `skin` counts the skeletons that skin a mesh, in the order of the stage."""
    load(*NEEDS)
    return to_content(path, read_apart(__name__, path, wanted))


def scene(path: Path, wanted: Wanted) -> Scene:
    """The scene of a file, read in this process. Raises FileError, whose message does not name the file."""
    from pxr import Tf, Usd, UsdGeom, UsdSkel, Work

    Work.SetConcurrencyLimit(1)
    try:
        _look_at_layers(path)
        stage = Usd.Stage.Open(str(path))
        for layer in stage.GetUsedLayers():
            if not layer.anonymous and not _is_beside(layer.realPath, path):
                raise FileError(f"opens {layer.realPath[:200]!r}: only files in its folder are read")
        for prim in stage.TraverseAll():
            if prim.HasAuthoredMetadata("clips"):  # which would read values from any file
                raise FileError(f"{prim.GetPath()} has value clips, which cannot be read; flatten the stage")
        cache = UsdSkel.Cache()
        found: list[tuple[Any, list[Any]]] = []
        hidden: list[str] = []
        for prim in stage.Traverse(Usd.TraverseInstanceProxies()):
            if not prim.IsA(UsdSkel.Root):
                continue
            root = UsdSkel.Root(prim)
            cache.Populate(root, Usd.TraverseInstanceProxies())
            for binding in cache.ComputeSkelBindings(root, Usd.TraverseInstanceProxies()):
                meshes = [query for query in binding.GetSkinningTargets() if query.GetPrim().IsA(UsdGeom.Mesh)]
                targets = [query for query in meshes if _is_shown(query.GetPrim())]
                hidden += [str(query.GetPrim().GetPath()) for query in meshes if query not in targets]
                if targets and not any(binding.GetSkeleton().GetPrim() == skeleton.GetPrim() for skeleton, _ in found):
                    found.append((binding.GetSkeleton(), targets))
        if not found:
            raise FileError("no mesh is bound to a skeleton (UsdSkel), so there is nothing to deform")
        if wanted.skin is not None and not 0 <= wanted.skin < len(found):
            raise FileError(f"there is no skin {wanted.skin}, the file has {len(found)}")
        sizes = [
            sum(
                len(UsdGeom.Mesh(query.GetPrim()).GetPointsAttr().Get(Usd.TimeCode.EarliestTime()) or [])
                for query in queries
            )
            for _, queries in found
        ]
        number = int(np.argmax(sizes)) if wanted.skin is None else wanted.skin
        if wanted.meshes and wanted.skin is None:
            names = [{_prim_name(query.GetPrim()) for query in queries} for _, queries in found]
            number = next((n for n in (number, *range(len(found))) if wanted.meshes[0] in names[n]), number)
        skeleton, targets = found[number]
        result = _read_scene(stage, cache.GetSkelQuery(skeleton), targets)
        if hidden:
            result.remarks.append(f"left out, as pictures do not show them: {', '.join(hidden)[:200]}")
        if wanted == Wanted() and len(found) > 1:
            others = ", ".join(str(other.GetPath()) for other, _ in found if other.GetPrim() != skeleton.GetPrim())
            result.remarks.append(
                f"left out, as another skeleton has more vertices (skin= or mesh= chooses): {others[:200]}"
            )
    except (Tf.ErrorException, RuntimeError) as error:
        raise FileError(f"damaged: {' '.join(str(error).split())[-300:]}") from None
    except TypeError as error:  # values of types that the schema does not have, which usd-core hands over as they are
        raise FileError(f"damaged: a value of another type than it should have: {error}") from None
    except UnicodeDecodeError as error:
        raise FileError(f"damaged: a name that is no text: {error.object[:200]!r}") from None
    return result


def _is_shown(prim: Any) -> bool:
    """Whether pictures show a mesh: it is no stand-in and no guide, and visible."""
    from pxr import Usd, UsdGeom

    mesh = UsdGeom.Imageable(prim)
    purpose, visibility = mesh.ComputePurpose(), mesh.ComputeVisibility(Usd.TimeCode.EarliestTime())
    return purpose not in (UsdGeom.Tokens.proxy, UsdGeom.Tokens.guide) and visibility != UsdGeom.Tokens.invisible


def _look_at_layers(path: Path) -> None:
    """Before they open, see that all layers that the file is composed of lie in its folder or below, and how large."""
    from pxr import Ar, Sdf

    layer = Sdf.Layer.FindOrOpen(str(path))
    if layer is None:
        raise FileError("no USD file, or a damaged one")
    waiting, known, files, left = [layer], {layer.identifier}, {path.resolve()}, _MOST_PRIMS
    while waiting:
        layer = waiting.pop()
        prims = min(_count_prims(layer), left)
        allow(0, prims)
        left -= prims
        for name in filter(None, layer.GetCompositionAssetDependencies()):
            if Sdf.VariableExpression.IsExpression(name):
                raise FileError(f"refers to a file by an expression, {name[:200]!r}; flatten the stage")
            identifier = Sdf.ComputeAssetPathRelativeToLayer(layer, name)
            asset = Sdf.Layer.SplitIdentifier(identifier)[0]
            found = Ar.GetResolver().Resolve(asset).GetPathString()
            if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", name) or not _is_beside(found or asset, path):
                raise FileError(f"refers to {name[:200]!r}: only files in its folder are read")
            if not found or identifier in known:  # the stage tells of a missing layer, which does no harm
                continue
            file = _outer_file(found, path)
            if not file.is_file():
                raise FileError(f"refers to {name[:200]!r}, which is no regular file")
            known.add(identifier)
            if len(known) > _MOST_LAYERS:
                raise FileError(f"refers to more than {_MOST_LAYERS} files")
            if file.resolve() not in files:
                files.add(file.resolve())
                allow(file.stat().st_size)
            other = Sdf.Layer.FindOrOpen(identifier)
            if other is not None:
                waiting.append(other)


def _count_prims(layer: Any) -> int:
    count = 0

    def see(path: Any) -> None:
        nonlocal count
        count += path.IsPrimPath()

    layer.Traverse(layer.pseudoRoot.path, see)
    return count


def _outer_file(resolved: str, path: Path) -> Path:
    """The file that a resolved path is of, perhaps that of a layer in a package."""
    from pxr import Ar

    outer: str = Ar.SplitPackageRelativePathOuter(resolved)[0]
    return path.parent / outer


def _is_beside(resolved: str, path: Path) -> bool:
    """Whether a resolved path is in the folder of a file."""
    return lies_beside(_outer_file(resolved, path), path)


def _matrices(matrices: Any) -> Floats:
    """USD's matrices for row vectors, as those for columns, (n, 4, 4)."""
    return np.array(matrices, dtype=np.float64).reshape(-1, 4, 4).transpose(0, 2, 1).copy()


def _quaternions(quaternions: Any) -> Floats:
    """(w, x, y, z) of USD's quaternions, (n, 4)."""
    rows = [(q.GetReal(), *q.GetImaginary()) for q in quaternions]
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


def _read_scene(stage: Any, query: Any, targets: list[Any]) -> Scene:
    from pxr import Usd

    skeleton = query.GetSkeleton()
    tokens = [str(token) for token in query.GetJointOrder()]
    if not tokens:
        raise FileError(f"{skeleton.GetPath()} has no joints")
    if not query.HasBindPose():
        raise FileError(f"{skeleton.GetPath()} has no bind transforms for its {len(tokens)} joints")
    bind = _matrices(query.GetJointWorldBindTransforms())
    rest = query.ComputeJointLocalTransforms(Usd.TimeCode.Default(), True) if query.HasRestPose() else None
    parents = np.array(query.GetTopology().GetParentIndices(), np.int32)
    if rest is None or len(rest) != len(tokens):
        local = np.linalg.inv(bind[parents]) @ bind
        local[parents < 0] = bind[parents < 0]
    else:
        local = _matrices(rest)
    # A node above the joints has the transform of the skeleton.
    above = _matrices_above(stage, skeleton, [Usd.TimeCode.EarliestTime()])
    for what, matrices in (("above the skeleton", above), ("at rest", local), ("at bind", bind)):
        if not np.isfinite(matrices).all() or np.any(np.linalg.det(matrices[:, :3, :3]) == 0.0):
            raise FileError(f"{skeleton.GetPath()}: a transform {what} is singular or not finite")
    translations, quaternions, scales = decompose(np.concatenate([above, local]))
    names = skeleton.GetJointNamesAttr().Get() or []
    joint_names = [str(name) for name in names] if len(names) == len(tokens) else [t.rpartition("/")[2] for t in tokens]
    remarks: list[str] = []
    surface = join([_surface(mesh, tokens, remarks).named(_prim_name(mesh.GetPrim())) for mesh in targets])
    shapes = [token for mesh in targets for token in _shape_tokens(mesh)]
    weights = _weights_at_rest(query.GetAnimQuery())
    weighted = [
        replace(shape, weight=weights.get(token, 0.0)) for shape, token in zip(surface.shapes, shapes, strict=True)
    ]
    duals = [str(mesh.GetSkinningMethod()) == "dualQuaternion" for mesh in targets]
    amount = np.repeat(np.array(duals, float), [len(part.vertices) for part in surface.parts])
    return Scene(
        nodes=Nodes(
            [skeleton.GetPrim().GetName(), *joint_names],
            np.concatenate([[-1], np.where(parents < 0, 0, parents + 1)]).astype(np.int32),
            translations,
            quaternions,
            scales,
        ),
        joints=np.arange(1, len(tokens) + 1),
        inverse_bind_matrices=affine.inverse(bind),
        surface=replace(surface, shapes=tuple(weighted)),
        clips=_clips(stage, query, tokens, shapes, remarks),
        remarks=remarks,
        method="dual_quaternion" if any(duals) else "linear",
        amount=None if all(duals) else amount,
        drivers=[_drivers(mesh) for mesh in targets],
    )


def _matrices_above(stage: Any, skeleton: Any, times: list[Any]) -> Floats:
    """From the space of a skeleton to meters with y upward, as in glTF, (F, 4, 4)."""
    from pxr import UsdGeom

    to_meters = np.eye(4)
    if UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.z:
        to_meters[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
    if UsdGeom.StageHasAuthoredMetersPerUnit(stage):  # else nobody knows: the default of USD is a centimeter
        unit = UsdGeom.GetStageMetersPerUnit(stage)
        if not 0.0 < unit < 1e30:
            raise FileError(f"{unit:g} meters per unit")
        to_meters[:3] *= unit
    place = UsdGeom.Xformable(skeleton.GetPrim())
    return to_meters @ _matrices([place.ComputeLocalToWorldTransform(time) for time in times])


def _codes_above(skeleton: Any) -> list[float]:
    """The time codes at which a skeleton is seen to move as a whole; none if it stands still.

    Between its samples it may turn by more than half a turn, so there is one at every whole number, too.
    """
    from pxr import UsdGeom

    codes: set[float] = set()
    prim = skeleton.GetPrim()
    while prim and not prim.IsPseudoRoot():
        if prim.IsA(UsdGeom.Xformable):
            codes.update(UsdGeom.Xformable(prim).GetTimeSamples())
        prim = prim.GetParent()
    if len(codes) < 2:
        return []
    first, last = np.ceil(min(codes)), np.floor(max(codes))
    if not last - first < _MOST_FRAMES:
        raise FileError(f"{skeleton.GetPath()} moves through {last - first:g} frames; at most {_MOST_FRAMES} are read")
    return sorted(codes.union(np.arange(first, last + 1.0).tolist()))


def _surface(query: Any, tokens: list[str], remarks: list[str]) -> SkinnedMesh:
    from pxr import Usd, UsdGeom

    prim = query.GetPrim()
    mesh, time = UsdGeom.Mesh(prim), Usd.TimeCode.EarliestTime()
    points = _points(mesh)
    counts = _integers(mesh.GetFaceVertexCountsAttr().Get(time))
    corners = _integers(mesh.GetFaceVertexIndicesAttr().Get(time))
    if counts.sum() != len(corners) or np.any(counts < 0):
        raise FileError(f"{prim.GetPath()}: {len(corners)} corners of faces, {counts.sum()} are needed")
    if corners.size and not (corners.min() >= 0 and corners.max() < len(points)):
        raise FileError(f"{prim.GetPath()}: a face names a point that is not there; there are {len(points)}")
    holes = _integers(mesh.GetHoleIndicesAttr().Get(time))
    if holes.size and not (holes.min() >= 0 and holes.max() < len(counts)):
        raise FileError(f"{prim.GetPath()}: a hole is no face; there are {len(counts)}")
    first = np.cumsum(counts) - counts
    shown = np.setdiff1d(np.arange(len(counts)), holes)
    triangles = corners[fans(first[shown], counts[shown])]
    if mesh.GetPointsAttr().ValueMightBeTimeVarying():
        remarks.append(f"{prim.GetPath()}: its points move below the skin; the first are taken")
    if str(mesh.GetOrientationAttr().Get()) == "leftHanded":
        triangles = triangles[:, ::-1]
    influences = query.ComputeVaryingJointInfluences(len(points), time)
    if influences is None or len(influences[0]) != len(influences[1]) or not len(points):
        raise FileError(f"{prim.GetPath()}: joint indices and weights do not fit its {len(points)} points")
    indices = np.array(influences[0], np.int64).reshape(len(points), -1)
    weights = np.array(influences[1], np.float64).reshape(len(points), -1)
    order = query.GetJointOrder()
    joints = tokens if order is None else [str(token) for token in order]
    number = {token: joint for joint, token in enumerate(tokens)}
    used = indices[weights != 0.0]
    if used.size and not (used.min() >= 0 and used.max() < len(joints)):
        raise FileError(f"{prim.GetPath()}: a joint index out of range for {len(joints)} joints")
    for joint in {joints[index] for index in np.unique(used)} - set(number):
        raise FileError(f"{prim.GetPath()}: joint {joint!r} is not in the skeleton")
    place = np.array([number.get(token, 0) for token in joints], np.int64)
    indices = place[np.where(weights != 0.0, indices, 0)]
    bind = _matrices([query.GetGeomBindTransform()])[0]
    primvar = UsdGeom.PrimvarsAPI(prim).GetPrimvar("normals")  # has precedence, as USD says
    if primvar and primvar.HasValue():
        normals = _point_values(primvar.ComputeFlattened(time), primvar.GetInterpolation(), len(points), 3)
    else:
        normals = _point_values(mesh.GetNormalsAttr().Get(time), mesh.GetNormalsInterpolation(), len(points), 3)
    if normals is None:
        normals = area_weighted_normals(points, triangles)
    primvar = UsdGeom.PrimvarsAPI(prim).FindPrimvarWithInheritance("st")
    uvs = None
    if primvar and primvar.HasValue():
        uvs = _point_values(primvar.ComputeFlattened(time), primvar.GetInterpolation(), len(points), 2)
        if uvs is None:
            remarks.append(f"{prim.GetPath()}: texture coordinates of corners, not of points, are left out")
    if not np.isfinite(bind).all() or np.linalg.det(bind[:3, :3]) == 0.0:
        raise FileError(f"{prim.GetPath()}: its geomBindTransform is singular")
    return SkinnedMesh(
        positions=points,
        triangles=triangles,
        joint_indices=indices,
        joint_weights=weights,
        normals=normals,
        uvs=uvs,
        shapes=tuple(_shapes(query, len(points), remarks)),
    ).moved(bind)


def _prim_name(prim: Any) -> str:
    """The display name of a prim; its identifier has no spaces and the like."""
    return str(prim.GetDisplayName() or prim.GetName())


def _shape_tokens(query: Any) -> list[str]:
    """The blend shapes of a mesh, as animations know them."""
    return [str(token) for token in query.GetBlendShapeOrder() or []]


def _drivers(query: Any) -> str:
    """The drivers of blend shapes that a mesh has as JSON, by the display names of these; null if it is damaged."""
    from pxr import UsdSkel

    prim = query.GetPrim()
    targets = UsdSkel.BindingAPI(prim).GetBlendShapeTargetsRel().GetTargets()
    names = {target.name: _prim_name(prim.GetStage().GetPrimAtPath(target)) for target in targets}
    try:
        content = json.loads(prim.GetCustomDataByKey("pose_drivers"))
        for driver in content:
            for pose in driver["pose_targets"]:
                pose["driven_name"] = names[pose["driven_name"]]
    except (KeyError, TypeError, ValueError, RecursionError):
        return "null"
    return json.dumps(content)


def _weights_at_rest(animation: Any) -> dict[str, float]:
    """The weights that the animation of a skeleton has for blend shapes at no time, by their names there."""
    from pxr import Usd, UsdSkel

    if not animation:
        return {}
    values = UsdSkel.Animation(animation.GetPrim()).GetBlendShapeWeightsAttr().Get(Usd.TimeCode.Default())
    names, weights = animation.GetBlendShapeOrder(), np.array([] if values is None else values, np.float64)
    if len(weights) != len(names):
        return {}
    return {str(name): weight for name, weight in zip(names, weights.tolist(), strict=True)}


def _shapes(query: Any, count: int, remarks: list[str]) -> Iterator[BlendShape]:
    from pxr import UsdSkel

    prim = query.GetPrim()
    names = _shape_tokens(query)
    targets = UsdSkel.BindingAPI(prim).GetBlendShapeTargetsRel().GetTargets()
    if len(names) != len(targets):
        raise FileError(f"{prim.GetPath()}: {len(names)} names for {len(targets)} blend shapes")
    for name, target in zip(names, targets, strict=True):
        shape = UsdSkel.BlendShape(prim.GetStage().GetPrimAtPath(target))
        if not shape:
            raise FileError(f"{prim.GetPath()}: {target} is no blend shape")
        values = shape.GetOffsetsAttr().Get()
        offsets = np.array([] if values is None else values, np.float64).reshape(-1, 3)
        chosen = shape.GetPointIndicesAttr().Get()
        vertices = np.arange(count) if not chosen else _integers(chosen)
        if len(offsets) != len(vertices) or len(np.unique(vertices)) != len(vertices):
            raise FileError(f"{target}: {len(offsets)} offsets for {len(vertices)} points, each once")
        if vertices.size and not (vertices.min() >= 0 and vertices.max() < count):
            raise FileError(f"{target}: a point index out of range for {count} points")
        values = shape.GetNormalOffsetsAttr().Get()
        normals = np.array([] if values is None else values, np.float64).reshape(-1, 3)
        if len(normals) not in (0, len(vertices)):
            raise FileError(f"{target}: {len(normals)} offsets of normals for {len(vertices)} points")
        if shape.GetInbetweens():
            remarks.append(f"{target}: shapes in between are left out")
        yield BlendShape(
            shape.GetPrim().GetDisplayName() or name,
            vertices.astype(np.int32),
            offsets,
            normals=normals if len(normals) else None,
        )


def _integers(values: Any) -> NDArray[np.int64]:
    return np.array([] if values is None else values, np.int64)


def _points(mesh: Any) -> Floats:
    """Points (V, 3) of a mesh, the first where they have time samples."""
    from pxr import Usd

    points = mesh.GetPointsAttr().Get(Usd.TimeCode.EarliestTime())
    return np.array([] if points is None else points, np.float64).reshape(-1, 3)


def _point_values(values: Any, interpolation: str, count: int, columns: int) -> Floats | None:
    """Values that each point has one of, (count, columns), or None."""
    if values is None or str(interpolation) not in ("vertex", "varying") or len(values) != count:
        return None
    return np.array(values, np.float64).reshape(count, columns)


def _clips(stage: Any, query: Any, tokens: list[str], shapes: list[str], remarks: list[str]) -> list[Clip]:
    """The animation that is bound to the skeleton, then all others that move its joints or blend shapes.

    A bound one of blend shapes alone that never change has their weights at rest, as Blender writes it, and is no clip.
    The motion of the skeleton as a whole is in all of them, or alone if there is none.
    """
    from pxr import Usd, UsdSkel

    bound, skeleton = query.GetAnimQuery(), query.GetSkeleton()
    prims = [bound.GetPrim()] if bound else []
    is_still = bool(bound) and not (len(bound.GetJointOrder()) or bound.GetBlendShapeWeightTimeSamples())
    prims += [
        prim for prim in stage.Traverse() if prim.IsA(UsdSkel.Animation) and not any(prim == other for other in prims)
    ]
    rate = stage.GetTimeCodesPerSecond()
    if not 0.0 < rate < 1e6:
        raise FileError(f"{rate:g} time codes per second")
    cache, above = UsdSkel.Cache(), _codes_above(skeleton)
    clips = []
    for prim in prims[1:] if is_still else prims:
        animation = cache.GetAnimQuery(UsdSkel.Animation(prim))
        made = _clip(prim, animation, tokens, shapes, above, remarks) if animation else None
        if made is not None:
            clips.append(made)
    if above and not clips:
        clips.append(
            Clip(_prim_name(skeleton.GetPrim()), np.array(above), np.zeros(0, np.int64), *_no_keys(len(above)))
        )
    for clip in clips:
        if above:
            matrices = _matrices_above(stage, skeleton, [Usd.TimeCode(code) for code in clip.times])
            if np.any(affine.are_singular(matrices)):
                raise FileError(f"{skeleton.GetPath()}: a transform above the skeleton is singular or not finite")
            translations, quaternions, scales = decompose_frames(matrices)
            clip.nodes = np.concatenate([[0], clip.nodes])
            clip.translations = np.concatenate([translations[:, None], clip.translations], axis=1)
            clip.quaternions = np.concatenate([quaternions[:, None], clip.quaternions], axis=1)
            clip.scales = np.concatenate([scales[:, None], clip.scales], axis=1)
        clip.start, clip.rate = float(clip.times[0] / rate), float(rate)
        clip.times = (clip.times - clip.times[0]) / rate
    return clips


def _no_keys(count: int) -> tuple[Floats, Floats, Floats]:
    return np.zeros((count, 0, 3)), np.zeros((count, 0, 4)), np.zeros((count, 0, 3))


def _clip(
    prim: Any, animation: Any, tokens: list[str], shapes: list[str], above: list[float], remarks: list[str]
) -> Clip | None:
    """An animation of some joints or blend shapes, at time codes; None if it has none of these, or is damaged."""
    from pxr import Usd

    number = {token: joint for joint, token in enumerate(tokens)}
    joints = [str(token) for token in animation.GetJointOrder()]
    known = [joint for joint, token in enumerate(joints) if token in number]
    order = [str(token) for token in animation.GetBlendShapeOrder()]
    place = {token: column for column, token in enumerate(order)}
    if not known and place.keys().isdisjoint(shapes):
        return None
    sampled = animation.GetJointTransformTimeSamples(), animation.GetBlendShapeWeightTimeSamples(), above
    codes = sorted({code for times in sampled for code in times}) or [0.0]
    weights = None
    if not place.keys().isdisjoint(shapes):
        rows = [animation.ComputeBlendShapeWeights(Usd.TimeCode(code)) for code in codes]
        if any(row is None or len(row) != len(order) for row in rows):
            remarks.append(f"{prim.GetPath()}: weights of blend shapes do not fit its {len(order)} blend shapes")
        else:
            found = np.array(rows, np.float64).reshape(len(codes), len(order))
            columns = [found[:, place[name]] if name in place else np.zeros(len(codes)) for name in shapes]
            weights = np.stack(columns, axis=1)
    samples = [animation.ComputeJointLocalTransformComponents(Usd.TimeCode(code)) for code in codes]
    if any(sample is None or any(len(part) != len(joints) for part in sample) for sample in samples):
        remarks.append(f"{prim.GetPath()} is left out: its samples do not fit its {len(joints)} joints")
        return None
    return Clip(
        _prim_name(prim),
        np.array(codes, np.float64),
        np.array([number[joints[joint]] + 1 for joint in known], np.int64),
        np.array([np.array(sample[0], np.float64)[known] for sample in samples]),
        np.array([_quaternions(sample[1])[known] for sample in samples]),
        np.array([np.array(sample[2], np.float64)[known] for sample in samples]),
        weights,
    )
