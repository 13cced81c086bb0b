# SPDX-License-Identifier: MIT
"""The frames of a clip: as many of every file of the same clip, whatever its key times were rounded to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import refuse, succeed
from fbx_builder import TICKS, tube
from gltf_builder import arm

import sbs
from sbs.cli.muscles import frames as muscle_frames
from sbs.quality import clip
from sbs.rigging.animation import Track
from sbs.rigging.helper_joints import moments

DATA = Path(__file__).parents[1] / "data"


HAND = sbs.samples.load("hand")


def clip_lasting(duration: float) -> sbs.Animation:
    """A clip whose last key is there."""
    track = Track("translation", "LINEAR", np.array([0]), np.array([duration]), np.zeros((1, 1, 3)))
    return sbs.Animation("clip", (track,), HAND.rig)


@pytest.mark.parametrize("made", [24, 25, 30, 60])
def test_a_clip_has_the_frames_it_was_made_of(made: int) -> None:
    """Up to a minute, at the rate it was made for and at its multiples; its times are float32."""
    for count in range(0, 60 * made + 1, 7):
        animation = clip_lasting(float(np.float32(count / made)))
        for times in (1, 2, 5):
            assert animation.frames(times * made) == range(times * count + 1)


@pytest.mark.parametrize(
    ("duration", "fps", "last"),
    [
        (0.0, 24, 0),
        (0.02, 24, 0),
        (0.9583333, 24, 23),  # 23 / 24, rounded to seven digits
        (0.958, 24, 23),  # to milliseconds: 0.33 ms before the frame
        (0.957, 24, 22),  # 1.33 ms before it
        (0.9996, 24, 24),
        (0.9993, 24, 23),
        (0.99949, 1e6, 999490),  # frames closer than half a millisecond end with the nearest
        (1.0, 23.976, 23),
    ],
)
def test_the_rule_by_hand(duration: float, fps: float, last: int) -> None:
    assert clip_lasting(duration).frames(fps) == range(last + 1)


@pytest.mark.parametrize(
    ("duration", "fps", "message"),
    [
        *[(1.0, fps, "fps is") for fps in (0, -24, np.nan, np.inf)],
        *[(duration, fps, "1,000,000") for duration, fps in ((1.0, 1e6), (1e30, 1e300), (1e30, 24))],
    ],
)
def test_no_rates_and_too_many_frames(duration: float, fps: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        clip_lasting(duration).frames(fps)


@pytest.fixture(scope="module")
def same(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A clip of 24 frames at 24 a second as FBX, and as what that becomes."""
    pytest.importorskip("ufbx")
    pytest.importorskip("pxr")
    folder = tmp_path_factory.mktemp("same")
    fbx = folder / "tube.fbx"
    fbx.write_text(tube().replace(str(TICKS), str(TICKS // 24 * 23)))
    character = sbs.load(fbx)
    paths = [folder / name for name in ("tube.glb", "tube.usdc")]
    for path in paths:
        character.save(path)
    return [fbx, *paths]


@pytest.mark.parametrize("number", range(3), ids=["fbx", "glb", "usdc"])
def test_each_format_of_the_same_clip(same: list[Path], tmp_path: Path, number: int) -> None:
    path, output = same[number], tmp_path / "frames.npy"
    if path.suffix == ".usdc":  # programs cut digits behind the point
        pxr: Any = pytest.importorskip("pxr.Usd")
        assert pxr.Stage.Open(str(path)).GetEndTimeCode() == 23.0
    whole = "--animation", "bend", "--fps", 24, "-o", output
    assert "24 frames" in succeed("deform", path, *whole)
    wanted = np.load(output)
    assert len(wanted) == 24
    assert "0:24 is not within 0:23" in refuse("deform", path, *whole, "--frames", "0:24")
    assert len(clip(sbs.load(path).animations["bend"], rate=24).paths[0]) == 24
    # The time of the last frame, as people write it.
    succeed("deform", path, "--animation", "bend", "--time", "0.9584", "-o", output)
    # The tube is 4 long; USD stores rotations in single precision, scales in half.
    np.testing.assert_allclose(np.load(output), wanted[-1], atol=1e-5)


def test_fbx_gets_one_key_for_a_frame(tmp_path: Path) -> None:
    """It ends a tenth of a millisecond behind its last frame, or in the middle between two, which then gets a key."""
    pytest.importorskip("ufbx")
    path = tmp_path / "tube.fbx"
    for ticks, last, keys in ((TICKS // 24 * 23 + TICKS // 10_000, 23, 24), (TICKS // 48 * 47, 23, 25)):
        path.write_text(tube().replace(str(TICKS), str(ticks)))
        animation = sbs.load(path).animations["bend"]
        assert animation.frames(24) == range(last + 1)
        assert len(animation.tracks[0].times) == keys


def test_a_clip_that_begins_late_keeps_its_time_in_usd(tmp_path: Path) -> None:
    """Its first key is at a second: until then it stands still."""
    pytest.importorskip("pxr")
    builder = arm()
    half = [0, 0, np.sin(np.pi / 8), np.cos(np.pi / 8)]
    builder.animation((1, "rotation", [1, 2], [[0, 0, 0, 1], half]), name="wave")
    character = sbs.load(builder.save(tmp_path / "arm.glb"))
    character.save(tmp_path / "arm.usda")
    again = sbs.load(tmp_path / "arm.usda")
    assert again.animations[0].frames(24) == character.animations[0].frames(24) == range(49)
    times = np.arange(49) / 24
    np.testing.assert_allclose(
        again.animations[0].skinning_matrices(times), character.animations[0].skinning_matrices(times), atol=1e-6
    )


def test_muscles_are_measured_in_all_frames() -> None:
    """The pose at bind, and the frames of each clip."""
    fox = sbs.load(DATA / "Fox.glb")
    matrices = muscle_frames(fox)
    assert len(matrices) == 1 + 83 + 18 + 28  # of 3.4166667, 0.7083333 and 1.1583333 s
    np.testing.assert_array_equal(matrices[-1], fox.animations[-1].skinning_matrices(27 / 24))


def test_keys_of_float32_are_not_doubled() -> None:
    """Keys thirty times a second are enough for thirty a second."""
    times = (np.arange(1801) / 30).astype(np.float32).astype(float)
    track = Track("translation", "LINEAR", np.array([0]), times, np.zeros((1801, 1, 3)))
    np.testing.assert_array_equal(moments(sbs.Animation("long", (track,), HAND.rig), 30.0), times)
