# SPDX-License-Identifier: GPL-3.0-or-later
"""Small pictures of characters by Cycles for the tests, and point caches with shapes that they expect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import addon
import bpy
import numpy as np
from expected import Floats
from numpy.typing import NDArray
from objects import MeshObject, current_layer, current_scene

Picture = NDArray[np.float32]


def make_scene(frames: range, pixels: int, motion_blur: bool = False) -> bpy.types.Scene:
    """A camera and a light for pictures of the tube from the side, so many pixels wide and high."""
    scene = current_scene()
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    camera.location = (0.0, -12.0, 2.0)
    camera.rotation_euler = (np.pi / 2, 0.0, 0.0)
    scene.camera = camera
    light = bpy.data.objects.new("Light", bpy.data.lights.new("Light", "SUN"))
    scene.collection.objects.link(light)
    light.rotation_euler = (0.9, 0.3, 0.0)
    scene.render.engine = "CYCLES"  # type: ignore[assignment]  # the stubs know engines that are no add-ons alone
    cycles: Any = scene.cycles
    cycles.device = "CPU"
    cycles.samples = 4
    cycles.use_denoising = False
    cycles.max_bounces = 1
    scene.render.resolution_x = scene.render.resolution_y = pixels
    scene.render.use_motion_blur = motion_blur
    scene.render.motion_blur_shutter = 1.0
    scene.render.threads_mode = "FIXED"
    scene.render.threads = 1
    scene.render.image_settings.file_format = "OPEN_EXR"
    scene.render.image_settings.color_depth = "32"
    scene.frame_start, scene.frame_end, scene.frame_step = frames[0], frames[-1], frames.step
    return scene


def read(path: Path) -> Picture:
    image = bpy.data.images.load(str(path))
    values: Any = image.pixels
    pixels = np.empty(len(values), np.float32)
    values.foreach_get(pixels)
    bpy.data.images.remove(image)
    return pixels


def still(scene: bpy.types.Scene, path: Path) -> Picture:
    """The picture of the present frame, in a file."""
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
    return read(path)


def animation(scene: bpy.types.Scene, folder: Path, name: str, frames: Iterable[int]) -> list[Picture]:
    """The pictures of some of the scene's frames, all of which are rendered to files of a name."""
    scene.render.filepath = str(folder / f"{name}-####.exr")
    bpy.ops.render.render(animation=True)
    return [read(folder / f"{name}-{frame:04}.exr") for frame in frames]


def share_that_differs(found: Picture, wanted: Picture) -> float:
    assert wanted.std() > 0.05, "there must be something to see"
    return float((np.abs(found - wanted) > 1e-3).mean())


def assert_same(found: Picture, wanted: Picture) -> None:
    """Pictures of vertices that differ in their last bits: a ray that grazes an edge may go the other way."""
    assert share_that_differs(found, wanted) < 2e-3


def show_in_between(
    scene: bpy.types.Scene, item: MeshObject, path: Path, frames: tuple[int, int], positions: Callable[[], Floats]
) -> None:
    """Have a mesh show the result of `positions` at each moment that Cycles asks for, by a Mesh Cache."""
    start, step = frames[0] - 1, 0.5
    moments = np.arange(start, frames[1] + 1.0 + step, step)

    def shapes() -> Iterator[Floats]:
        for moment in moments:
            scene.frame_set(int(moment), subframe=float(moment % 1.0))
            current_layer().update()
            yield positions()

    # Samples are numbered; which moments they are of, the modifier says.
    write_cache(path, range(len(moments)), shapes())
    modifier = item.modifiers.new("Reference", "MESH_CACHE")
    modifier.cache_format, modifier.filepath = "PC2", str(path)
    modifier.frame_start, modifier.frame_scale = start / step, 1.0 / step


def write_cache(path: Path, numbers: range, shapes: Iterable[NDArray[np.float64]]) -> None:
    """Write shapes (V, 3) to a PC2 file, one for each number, by the package that the add-on uses."""
    caches = addon.module("core.library").load("formats.caches")
    first, *others = shapes
    no_triangles = np.empty((0, 3), np.int32)
    content = caches.Frames(numbers, 1.0, len(first), first.dtype, no_triangles)
    with caches.PC2(path, content) as cache:
        for shape in (first, *others):
            cache.append(shape[None], None)
