# SPDX-License-Identifier: GPL-3.0-or-later
"""Twists beyond half a turn, which continue from the frame before."""

from __future__ import annotations

import math
from pathlib import Path

import addon
import limbs
import numpy as np
import pytest
import rigs
from limbs import assert_spread
from objects import ArmatureObject, Character, current_layer, current_scene


@pytest.fixture
def character() -> Character:
    return limbs.bound()


@pytest.fixture
def straight() -> Character:
    return limbs.bound_at_rest()


# Degrees from frame to frame. No two joints of a limb are then ever half a turn apart, where rounding would decide
# which way they are blended.
STEP = 19.0


def wind(armature: ArmatureObject, frames: int = 21) -> None:
    """Turn the forearm by `STEP` in each frame."""
    bone = armature.pose.bones["ForeArm"]
    bone.rotation_mode = "AXIS_ANGLE"
    for frame in (1, frames):
        bone.rotation_axis_angle = (math.radians(STEP * (frame - 1)), 0.0, 1.0, 0.0)
        bone.keyframe_insert("rotation_axis_angle", frame=frame)
    for curve in addon.module("engine.curves").collections(armature):
        for path in curve:
            for point in path.keyframe_points:
                point.interpolation = "LINEAR"


def own(degrees: float) -> np.ndarray:
    """Twists of both limbs where the forearm alone is turned."""
    return np.radians([[0.0, 0.0], [degrees, 0.0]])


@pytest.fixture
def winding(character: Character) -> Character:
    tube, armature = character
    for bone in armature.pose.bones:
        bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    tube.sbs.twist_follow = True
    wind(armature)
    return tube, armature


def test_twists_go_on_from_frame_to_frame(winding: Character) -> None:
    tube, armature = winding
    for frame in range(1, 22):
        current_scene().frame_set(frame)
        assert_spread(tube, armature, twists=own(STEP * (frame - 1)), frames=8)
    # And back; in parts of frames, as motion blur does.
    for moment in np.arange(21.0, 1.0, -0.75).tolist():
        current_scene().frame_set(int(moment), subframe=moment % 1.0)
        assert_spread(tube, armature, twists=own(STEP * (moment - 1)), frames=8)


def test_nothing_jumps(straight: Character) -> None:
    """No vertex moves more than the bone turns it; without history some do."""
    tube, armature = straight
    wind(armature)

    def largest_step() -> float:
        shapes = []
        for frame in range(1, 22):
            current_scene().frame_set(frame)
            shapes.append(rigs.evaluated(tube))
        return float(np.linalg.norm(np.diff(shapes, axis=0), axis=2).max())

    # Half a unit about its axis, and a bit more where rotations are blended linearly and normalized.
    assert largest_step() > 0.5
    tube.sbs.twist_follow = True
    assert largest_step() < 1.05 * 0.5 * math.radians(STEP)


def test_a_jump_has_no_history(winding: Character) -> None:
    tube, armature = winding
    current_scene().frame_set(1)
    current_scene().frame_set(16)
    assert_spread(tube, armature, twists=own(15 * STEP - 360.0), frames=8)
    current_scene().frame_set(17)
    assert_spread(tube, armature, twists=own(16 * STEP - 360.0), frames=8)
    # Rendering every third frame is none.
    current_scene().frame_step = 3
    for frame in (1, 4, 7, 10, 13):
        current_scene().frame_set(frame)
    assert_spread(tube, armature, twists=own(12 * STEP), frames=8)


def test_edits_in_a_frame_continue_the_frame_before(winding: Character) -> None:
    tube, armature = winding
    for frame in range(1, 17):
        current_scene().frame_set(frame)
    bone = armature.pose.bones["ForeArm"]
    for degrees in (330.0, 120.0, 450.0):
        bone.rotation_axis_angle[0] = math.radians(degrees)
        # The one nearest to that of frame 15.
        current_layer().update()
        nearest = degrees + 360.0 * round((14 * STEP - degrees) / 360.0)
        assert_spread(tube, armature, twists=own(nearest), frames=8)


def test_without_history_the_short_way(winding: Character) -> None:
    tube, armature = winding
    tube.sbs.twist_follow = False
    for frame in range(1, 13):
        current_scene().frame_set(frame)
    assert_spread(tube, armature, twists=own(11 * STEP - 360.0))
    assert_spread(tube, armature)


def test_painting_forgets_no_history(winding: Character) -> None:
    tube, armature = winding
    for frame in range(1, 13):
        current_scene().frame_set(frame)
    tube.vertex_groups["ForeArm"].add(list(range(200, 330)), 0.9, "REPLACE")
    tube.data.update()
    assert_spread(tube, armature, twists=own(11 * STEP), frames=8)
    armature.pose.bones["UpperArm"].sbs_twist = False
    assert_spread(tube, armature, "ForeArm", twists=own(11 * STEP - 360.0)[1:], frames=8)


@pytest.mark.parametrize("step", [1, 4])
def test_bake_goes_on_from_frame_to_frame(winding: Character, tmp_path: Path, step: int) -> None:
    tube, armature = winding
    current_scene().frame_set(7)
    rigs.select([tube])
    assert addon.ops.bake(
        directory=str(tmp_path), use_scene_range=False, frame_start=1, frame_end=21, frame_step=step
    ) == {"FINISHED"}
    for frame in (17, 21, 1, 9):
        current_scene().frame_set(frame)
        assert_spread(tube, armature, twists=own(STEP * (frame - 1)), frames=8)
