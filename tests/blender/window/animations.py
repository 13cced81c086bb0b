# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the animations of docs/blender.md, in Blender 3.4 as it comes.

python tests/blender/window/animations.py dist/...-legacy.zip docs/images
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scenes
from PIL import Image
from session import Picture, Point, Session

# Milliseconds of a frame, and of the last before it begins anew.
_FRAME, _LAST = 80, 900
_COLORS = 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archive", type=Path, help="the legacy archive of the add-on")
    parser.add_argument("output", type=Path, help="folder of the animations")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Session(arguments.archive, Path(folder)) as blender:
        for name, take in ANIMATIONS.items():
            path = arguments.output / f"blender-{name}.gif"
            save(list(take(blender)), path)
            print(path, path.stat().st_size)


def save(frames: list[Picture], path: Path) -> None:
    """Write an animation in the colors of all of its frames, which screenshots have few of."""
    assert any(not np.array_equal(frame, frames[0]) for frame in frames), f"{path} would not move"
    images = [Image.fromarray(np.ascontiguousarray(frame)) for frame in frames]
    palette = Image.fromarray(np.concatenate(frames)).quantize(_COLORS, dither=Image.Dither.NONE)
    images = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    durations = [_FRAME] * (len(images) - 1) + [_LAST]
    images[0].save(path, save_all=True, append_images=images[1:], duration=durations, loop=0, optimize=True)


def forearm(blender: Session) -> Iterator[Picture]:
    """The demo: the same forearm turned there and back, by all that it compares."""
    scenes.make_demo(blender)
    left, top, right, bottom = blender.region("WINDOW")
    first, last = blender.get("[bpy.context.scene.frame_start, bpy.context.scene.frame_end]")
    for frame in np.linspace(first, last, 20):
        blender.run("bpy.context.scene.frame_set(frame)", frame=round(frame))
        yield _seen(blender, (left + 130, top + 130, right - 130, bottom - 250))
    blender.run("area.spaces.active.overlay.show_overlays = True\nbpy.context.scene.frame_set(1)")


def capsule(blender: Session) -> Iterator[Picture]:
    """The handle of an outer capsule dragged out, with weights that follow."""
    scenes.make_character(blender)
    scenes.bind(blender)
    scenes.pose_mode(blender, "B2")
    blender.run(
        "bpy.ops.sbs.fit_capsules()\n"
        "armature = bpy.data.objects['Rig'].data\n"
        "armature.sbs.live = True\n"
        "bpy.ops.sbs.assign_from_capsules()\n"
        "area.spaces.active.show_region_ui = False\n"
        "bpy.ops.ed.undo_push(message='Live')\n"
    )
    start, end = scenes.handle_of(blender)
    far = start[0] + 3 * (end[0] - start[0]), start[1] + 3 * (end[1] - start[1])
    yield from _held(blender, _line(start, far, 12))


def paint(blender: Session) -> Iterator[Picture]:
    """A stroke in Weight Paint; the mesh follows."""
    scenes.make_character(blender)
    scenes.bind(blender)
    blender.run("area.spaces.active.show_region_ui = False")
    scenes.weight_paint(blender, "B3")
    middle = blender.project((0.2, -0.5, 1.6))
    up, down = (middle[0] + 30, middle[1] - 60), (middle[0] - 10, middle[1] + 50)
    yield from _held(blender, [*_line(middle, up, 6), *_line(up, down, 6)])


def _line(start: Point, end: Point, steps: int) -> list[Point]:
    """Points on the way from one to another."""
    return [(round(x), round(y)) for x, y in np.linspace(start, end, steps)]


def _held(blender: Session, path: list[Point]) -> Iterator[Picture]:
    """Pictures before, and while a button is held down along a path."""
    box = (280, 100, 830, 640)
    blender.move(path[0])
    yield blender.settled(box=box)
    with blender.dragging(path[:1]):
        for point in path:
            blender.move(point)
            yield _seen(blender, box)


def _seen(blender: Session, box: tuple[int, int, int, int]) -> Picture:
    """A part of the screen as it is now."""
    blender.run("bpy.ops.wm.redraw_timer(type='DRAW_WIN_SWAP', iterations=1)")
    return blender.screenshot(box=box)


# The demo comes last, since it changes the range of frames.
ANIMATIONS = {"capsule": capsule, "paint": paint, "forearm": forearm}


if __name__ == "__main__":
    main()
