# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking: the deformed vertices of a range of frames, as point caches with Mesh Cache modifiers, or as shape keys.

The result of our modifier and of those before it is baked; modifiers after it work on the baked vertices as before. Our
modifier is then hidden. To get it back, delete the bake and show it again.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import library
from ...settings import libraries
from ...settings.given import evaluated, scene_of, view_layer_of
from ...settings.properties import settings_of
from ...settings.typed import block_of_key, mesh_of
from .. import curves, reading
from ..live import flesh, live, methods, states, twists
from ..stack import stack, subject
from . import portable

_CACHE_NAME = "SBS Bake"
_KEY_PREFIX = "SBS Frame "
# On shape keys: the names of keys that baking muted, because their effect is baked.
_MUTED = "sbs_muted_keys"


def modifier_of(item: bpy.types.Object) -> bpy.types.NodesModifier | None:
    """Our modifier on an object, live or portable."""
    return stack.find(item) or portable.find(item)


def armature_of(item: bpy.types.Object) -> bpy.types.Object | None:
    """The armature by which our modifier deforms an object."""
    return settings_of(item).armature if stack.find(item) is not None else portable.armature_of(item)


def _own(item: bpy.types.Object) -> bpy.types.NodesModifier:
    """Our modifier on an object; a ValueError says that it has none."""
    modifier = modifier_of(item)
    if modifier is None:
        raise ValueError(f"{item.name} is not deformed by spherical blend skinning")
    return modifier


def is_baked(item: bpy.types.Object) -> bool:
    """Whether an object shows its bake in place of our modifier."""
    own = modifier_of(item)
    if own is None or own.show_viewport:
        return False
    return has_cache(item) or any(key.name.startswith(_KEY_PREFIX) and not key.mute for key in _keys(item))


def has_cache(item: bpy.types.Object) -> bool:
    """Whether an object shows a point cache."""
    cache: bpy.types.Modifier | None = item.modifiers.get(_CACHE_NAME)
    return cache is not None and cache.type == "MESH_CACHE" and cache.show_viewport


def frame_range(start: int, end: int, step: int) -> range:
    """The frames to bake. Raises ValueError if there are none."""
    if step < 1:
        raise ValueError(f"a step of {step} frames")
    if end < start:
        raise ValueError(f"the last frame, {end}, is before the first, {start}")
    return range(start, end + 1, step)


@dataclass
class _Shown:
    """An object with our modifier, and the modifiers that it showed before baking."""

    item: bpy.types.Object
    own: bpy.types.NodesModifier
    modifiers: list[tuple[bpy.types.Modifier, bool]]

    def restore(self) -> None:
        """Show exactly these again."""
        for modifier, shown in self.modifiers:
            modifier.show_viewport = shown


class Bake(ABC):
    """Reads the vertices of all objects, one frame in each step of the iteration.

    As a context manager it restores the scene, also after an error. `finish` puts the result to use; without it,
    nothing changes and no file is left. A ValueError says which object cannot be baked, and why.
    """

    def __init__(self, context: bpy.types.Context, items: Sequence[bpy.types.Object], frames: range) -> None:
        if not items:
            raise ValueError("no object to bake")
        self.items = list(items)
        self.frames = frames
        self._scene = scene_of(context)
        self._view_layer = view_layer_of(context)
        for item in self.items:
            self._check(item, _own(item))

    def _check(self, item: bpy.types.Object, modifier: bpy.types.NodesModifier) -> None:
        """Raise a ValueError if an object with our modifier cannot be baked."""
        if item.library is not None:
            raise ValueError(f"{item.name} belongs to a library; make a library override of it")
        if item.mode == "EDIT":
            raise ValueError(f"{item.name} is in Edit Mode")
        if subject.renders_differ(item, modifier):
            raise ValueError(f"{item.name}: modifiers before give other vertices in renders than in the viewport")

    def __enter__(self) -> Self:
        methods.show_linear(False)
        # The result does not depend on earlier frames.
        states.forget_twists()
        twists.stride = float(self.frames.step)
        flesh.stays = True
        # Make handlers know of earlier edits.
        depsgraph = evaluated(self._view_layer)
        for item in self.items:
            if stack.find(item) is not None:
                live.update(item, depsgraph, wait=True)
        self._frame = self._scene.frame_current_final
        self._shown: list[_Shown] = []
        for item in self.items:
            own = _own(item)
            self._shown.append(_Shown(item, own, [(modifier, modifier.show_viewport) for modifier in item.modifiers]))
            place = list(item.modifiers).index(own)
            own.show_viewport = True
            for modifier in list(item.modifiers)[place + 1 :]:
                modifier.show_viewport = False
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        twists.stride = 1.0
        flesh.stays = False
        for shown in self._shown:
            shown.restore()
        self._discard()
        whole = int(self._frame // 1.0)
        self._scene.frame_set(whole, subframe=self._frame - whole)

    def __iter__(self) -> Iterator[int]:
        """Bake frame after frame; yield the number of each when it is done."""
        for frame in self.frames:
            self._scene.frame_set(frame)
            # This evaluates what handlers changed. It is always the dependency graph of the view layer.
            depsgraph = evaluated(self._view_layer)
            for item in self.items:
                self._take(item, reading.positions(mesh_of(item.evaluated_get(depsgraph))))
            yield frame

    @abstractmethod
    def _take(self, item: bpy.types.Object, positions: NDArray[np.float32]) -> None:
        """Keep the vertices of an object in the next frame."""

    @abstractmethod
    def _discard(self) -> None:
        """Remove everything that was not finished."""

    def finish(self) -> None:
        """Put the bake to use; all frames must be done."""
        for shown in self._shown:
            shown.restore()
            self._apply(shown.item, shown.own)
            shown.own.show_viewport = shown.own.show_render = False
        self._shown = []

    @abstractmethod
    def _apply(self, item: bpy.types.Object, own: bpy.types.NodesModifier) -> None:
        """Put the bake of an object with our modifier to use."""


class PointCacheBake(Bake):
    """Bakes each object to a PC2 file, which a Mesh Cache modifier in the place of ours reads.

    The folder is made if needed. As usual in Blender, ``//`` is that of the .blend file.
    """

    def __init__(
        self, context: bpy.types.Context, items: Sequence[bpy.types.Object], frames: range, folder: str
    ) -> None:
        super().__init__(context, items, frames)
        if folder.startswith("//") and not bpy.data.filepath:
            raise ValueError("Save the file first, or choose a folder that is not relative to it")
        self._folder = folder
        self._files: dict[bpy.types.Object, _CacheFile] = {}
        self._paths = self._file_names()

    def _file_names(self) -> dict[bpy.types.Object, Path]:
        """A file name for each object, all different."""
        folder = Path(bpy.path.abspath(self._folder))
        paths: dict[bpy.types.Object, Path] = {}
        for item in self.items:
            stem = name = bpy.path.clean_name(item.name)
            number = 1
            while folder / f"{name}.pc2" in paths.values():
                number += 1
                name = f"{stem}_{number}"
            paths[item] = folder / f"{name}.pc2"
        return paths

    def _take(self, item: bpy.types.Object, positions: NDArray[np.float32]) -> None:
        file = self._files.get(item)
        if file is None:
            file = self._files[item] = _CacheFile(self._paths[item], self.frames, len(positions))
        if len(positions) != file.vertex_count:
            raise ValueError(f"{item.name} has {len(positions)} vertices, and {file.vertex_count} before")
        file.append(positions)

    def _discard(self) -> None:
        for file in self._files.values():
            file.discard()

    def _apply(self, item: bpy.types.Object, own: bpy.types.NodesModifier) -> None:
        self._files.pop(item).finish()
        modifier: bpy.types.Modifier | None = item.modifiers.get(_CACHE_NAME)
        if not isinstance(modifier, bpy.types.MeshCacheModifier):
            modifier = cast("bpy.types.MeshCacheModifier", item.modifiers.new(_CACHE_NAME, "MESH_CACHE"))
        place = list(item.modifiers).index(own)
        behind = list(item.modifiers).index(modifier) > place
        stack.move(item, modifier, place + 1 if behind else place)
        modifier.cache_format = "PC2"
        path = str(self._paths[item])
        modifier.filepath = bpy.path.relpath(path) if self._folder.startswith("//") else path
        modifier.time_mode = "FRAME"
        modifier.play_mode = "SCENE"
        # The modifier shows the sample of frame * scale - start.
        modifier.frame_start = self.frames.start / self.frames.step
        modifier.frame_scale = 1.0 / self.frames.step
        modifier.interpolation = "LINEAR"
        modifier.deform_mode = "OVERWRITE"
        modifier.show_viewport = modifier.show_render = True


class _CacheFile:
    """A PC2 file that appears, or replaces an old one, when it is complete."""

    def __init__(self, path: Path, frames: range, vertex_count: int) -> None:
        caches = library.load("formats.caches")
        self.vertex_count = vertex_count
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        # In the folder of the final file: renaming is safe only on the same file system.
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
        no_triangles = np.empty((0, 3), np.int32)
        # Frames per second are not in this format.
        content = caches.Frames(frames, 1.0, vertex_count, np.dtype(np.float32), no_triangles)
        self._cache: Any = caches.PC2(self._temporary, content)
        self._cache.__enter__()

    def append(self, positions: NDArray[np.float32]) -> None:
        """Write the vertices (V, 3) of the next frame."""
        self._cache.append(positions[None], None)

    def finish(self) -> None:
        """Give the file its name."""
        self._close()
        self._temporary.replace(self._path)

    def discard(self) -> None:
        """Remove the unfinished file; an old one with the same name is unchanged."""
        self._close()
        self._temporary.unlink(missing_ok=True)

    def _close(self) -> None:
        self._cache.__exit__(None, None, None)


class ShapeKeyBake(Bake):
    """Bakes each object to shape keys of its mesh, one for each frame, with keyed values: 1 in its frame, else 0.

    They are for export to formats without point caches. Other shape keys are muted, because they are baked as well.
    """

    def __init__(self, context: bpy.types.Context, items: Sequence[bpy.types.Object], frames: range) -> None:
        super().__init__(context, items, frames)
        self._positions: dict[bpy.types.Object, list[NDArray[np.float32]]] = {item: [] for item in self.items}

    def _check(self, item: bpy.types.Object, modifier: bpy.types.NodesModifier) -> None:
        super()._check(item, modifier)
        before = stack.before(item, modifier)
        if before:
            raise ValueError(f"{item.name}: shape keys come first, so {before[0].name} would work on them twice")
        mesh = mesh_of(item)
        if reason := libraries.hindrance([item]):
            raise ValueError(reason)
        if mesh.users > 1:
            raise ValueError(f"{item.name} shares its mesh: make it single-user for shape keys of its own")
        if mesh.shape_keys is not None and not mesh.shape_keys.use_relative:
            raise ValueError(f"{item.name} has absolute shape keys: bake it to a point cache")

    def __enter__(self) -> Self:
        super().__enter__()
        # An earlier bake is replaced, and the keys that it muted are active again.
        self._mutes = [(key, key.mute) for item in self.items for key in _keys(item)]
        for item in self.items:
            present = mesh_of(item).shape_keys
            muted = list(present.get(_MUTED, ())) if present is not None else []
            for key in _keys(item):
                if key.name.startswith(_KEY_PREFIX):
                    key.mute = True
                elif key.name in muted:
                    key.mute = False
        return self

    def _take(self, item: bpy.types.Object, positions: NDArray[np.float32]) -> None:
        if len(positions) != len(mesh_of(item).vertices):
            raise ValueError(f"{item.name} has {len(positions)} vertices, and its mesh {len(mesh_of(item).vertices)}")
        self._positions[item].append(positions)

    def _discard(self) -> None:
        for key, mute in self._mutes:
            key.mute = mute
        self._mutes = []

    def finish(self) -> None:
        # Keys are removed and added now, so remembered keys are not valid any more.
        self._mutes = []
        super().finish()

    def _apply(self, item: bpy.types.Object, _own: bpy.types.NodesModifier) -> None:
        for key in _keys(item):
            if key.name.startswith(_KEY_PREFIX):
                _remove_keyframes(with_basis(item), f'key_blocks["{key.name}"].value')
                item.shape_key_remove(key)
        keys = with_basis(item)
        keys[_MUTED] = [key.name for key in keys.key_blocks[1:] if not key.mute]
        for key in keys.key_blocks[1:]:
            key.mute = True
        first, last, step = self.frames[0], self.frames[-1], self.frames.step
        for frame, positions in zip(self.frames, self._positions.pop(item), strict=False):
            key = item.shape_key_add(name=f"{_KEY_PREFIX}{frame}", from_mix=False)
            key.data.foreach_set("co", positions.reshape(-1))
            for at in (frame - step, frame, frame + step):
                if first <= at <= last:
                    key.value = 1.0 if at == frame else 0.0
                    key.keyframe_insert("value", frame=at)
        for curve in _curves(keys):
            if curve.data_path.startswith(f'key_blocks["{_KEY_PREFIX}'):
                for point in curve.keyframe_points:
                    point.interpolation = "LINEAR"


def _keys(item: bpy.types.Object) -> list[bpy.types.ShapeKey]:
    """The shape keys of an object behind the first, to which they are relative."""
    present = mesh_of(item).shape_keys
    return list(present.key_blocks[1:]) if present is not None else []


def with_basis(item: bpy.types.Object) -> bpy.types.Key:
    """The shape keys of a mesh object, which gets a first one if it has none."""
    present = mesh_of(item).shape_keys
    return present if present is not None else block_of_key(item.shape_key_add(name="Basis", from_mix=False))


def _curves(block: bpy.types.ID) -> list[bpy.types.FCurve]:
    """The animation curves of a data-block."""
    return [curve for found in curves.collections(block) for curve in found]


def _remove_keyframes(block: bpy.types.ID, data_path: str) -> None:
    """Delete the animation curve of a property, if there is one."""
    for found in curves.collections(block):
        curve = found.find(data_path)
        if curve is not None:
            found.remove(curve)
