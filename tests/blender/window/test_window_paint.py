# SPDX-License-Identifier: GPL-3.0-or-later
"""Weight Paint and Sculpt Mode, also while an animation plays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import scenes
from session import Point, Session, changed, wait_until


def test_paint(character: Session) -> None:
    blender = character
    scenes.bind(blender)
    scenes.weight_paint(blender, "B3")
    view = blender.region("WINDOW")
    before, weights_before = blender.settled("paint before", view), np.array(scenes.weights(blender))
    shape = scenes.shape(blender)

    middle = blender.project((0.2, -0.5, 1.6))
    blender.drag([middle, (middle[0] + 30, middle[1] - 60), (middle[0] - 10, middle[1] + 10)])
    wait_until(lambda: not np.array_equal(scenes.weights(blender), weights_before), "weights change")
    painted = np.array(scenes.weights(blender))
    assert (painted - weights_before)[:, 3].max() > 0.1
    scenes.assert_right(blender)
    assert scenes.shape(blender) != shape
    blender.move(scenes.EMPTY)
    assert changed(before, blender.settled("paint after", view)) > 0.01

    blender.key("ctrl+z")
    wait_until(lambda: np.array_equal(scenes.weights(blender), weights_before), "undo")
    assert scenes.shape(blender) == shape
    scenes.assert_right(blender)


@contextmanager
def playing(blender: Session) -> Iterator[list[Point]]:
    """The animation plays within the context, to its end, and the mesh is right after it.

    Yields
    ------
    list of Point
        A stroke where the tube is whatever the frame.
    """
    blender.move(scenes.EMPTY)
    blender.key("space")
    blender.wait_for("bpy.context.screen.is_animation_playing")
    x, y = blender.project((0.0, -0.5, 0.5))
    yield [(x, y), (x + 25, y - 30), (x - 10, y + 10)]
    assert blender.get("bpy.context.screen.is_animation_playing")
    blender.move(scenes.EMPTY)
    blender.key("space")
    blender.wait_for("not bpy.context.screen.is_animation_playing")
    scenes.assert_right(blender)


def test_paint_while_it_plays(character: Session) -> None:
    """Frames go on while the button is held, and none is of the weights from before."""
    blender = character
    scenes.play(blender)
    scenes.weight_paint(blender, "B3")
    weights_before = np.array(scenes.weights(blender))
    with playing(blender) as stroke:
        with blender.dragging(stroke):
            wait_until(lambda: not np.array_equal(scenes.weights(blender), weights_before), "weights change")
            scenes.wait_for_another_frame(blender)
            scenes.assert_right(blender)
        scenes.assert_right(blender)
        assert (np.array(scenes.weights(blender)) - weights_before)[:, 3].max() > 0.1


def test_sculpt_while_it_plays(character: Session) -> None:
    blender = character
    scenes.play(blender)
    blender.run("import rigs\nrigs.select([bpy.data.objects['Tube']])\nbpy.ops.object.mode_set(mode='SCULPT')")
    blender.run("bpy.context.scene.tool_settings.unified_paint_settings.size = 60")
    rest = "import rigs\nresult = rigs.positions(bpy.data.objects['Tube'].data).tolist()"
    before = np.array(blender.run(rest))
    with playing(blender) as stroke:
        blender.drag(stroke)
        wait_until(lambda: np.abs(np.array(blender.run(rest)) - before).max() > 1e-3, "the mesh at rest changes")
        scenes.wait_for_another_frame(blender)
        scenes.assert_right(blender)
