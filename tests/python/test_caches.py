# SPDX-License-Identifier: MIT
"""Frames as caches: what the files hold, byte by byte, and that they are there whole or not at all."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import time
import tracemalloc
from importlib import resources
from pathlib import Path
from typing import Any, Unpack

import gltf_reference
import numpy as np
import pytest
from commands import succeed
from gltf_validity import check_validity

import sbs
from sbs.formats import bake, with_role
from sbs.formats.baking import make_frames
from sbs.formats.caches import NPZ
from sbs.options import MethodOptions

DATA = resources.files("sbs.characters") / "data"
SIGKILL = 9  # which Windows has no name for
HAND = str(DATA / "hand.glb")
SUFFIXES = [suffix for row in with_role("frames") for suffix in row.suffixes if not suffix.startswith(".usd")]


@pytest.fixture(scope="module")
def hand() -> sbs.Character:
    return sbs.load(HAND)


def expected(hand: sbs.Character, numbers: range, fps: float, **options: Unpack[MethodOptions]) -> np.ndarray:
    return hand.skin.deform_many(hand.animations[0].skinning_matrices(np.array(numbers) / fps), **options)


def read_pc2(data: bytes) -> tuple[float, float, np.ndarray]:
    """First frame, frames per sample and positions, by the format's description (3ds Max SDK, Point Cache 2)."""
    magic, version, points, start, rate, samples = struct.unpack_from("<12siiffi", data)
    assert (magic, version) == (b"POINTCACHE2\0", 1)
    assert len(data) == 32 + 12 * points * samples
    return start, rate, np.frombuffer(data, "<f4", offset=32).reshape(samples, points, 3)


def read_mdd(data: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Times and positions, all big-endian: frames, points, times, and the points of each frame."""
    frames, points = struct.unpack_from(">ii", data)
    assert len(data) == 8 + 4 * frames + 12 * frames * points
    times = np.frombuffer(data, ">f4", frames, 8)
    return times, np.frombuffer(data, ">f4", offset=8 + 4 * frames).reshape(frames, points, 3)


def test_glb_shows_each_frame_in_turn(hand: sbs.Character, tmp_path: Path) -> None:
    """By glTF's definition of morph targets: the mesh and its displacements by the weights at the time of a frame."""
    numbers = range(3, 15)
    path = tmp_path / "a.glb"
    bake(path, hand.skin, hand.animations[0], numbers, fps=24, triangles=hand.mesh.triangles)
    check_validity(path)
    scene = gltf_reference.Scene(path)

    def array(number: int) -> np.ndarray:
        return np.array(scene.accessor(number))

    (primitive,) = scene.json["meshes"][0]["primitives"]
    np.testing.assert_array_equal(array(primitive["indices"]).reshape(-1, 3), hand.mesh.triangles)
    (sampler,) = scene.json["animations"][0]["samplers"]
    np.testing.assert_allclose(array(sampler["input"])[:, 0], np.arange(12) / 24, rtol=1e-7)
    weights = array(sampler["output"]).reshape(12, 11)
    matrices = hand.animations[0].skinning_matrices(np.array(numbers) / 24)
    wanted = hand.skin.deform_many(matrices, normals=True)
    for name, frames in zip(("POSITION", "NORMAL"), wanted, strict=True):
        base = array(primitive["attributes"][name])
        targets = np.stack([array(target[name]) for target in primitive["targets"]])
        shown = base + np.einsum("ft,tvx->fvx", weights, targets)
        # Displacements are rounded to float32.
        np.testing.assert_allclose(shown, frames, atol=3e-7 * np.ptp(frames))


def test_a_glb_of_one_frame_and_of_too_many(hand: sbs.Character, tmp_path: Path) -> None:
    path = tmp_path / "a.glb"
    bake(path, hand.skin, hand.animations[0], range(1), triangles=hand.mesh.triangles)
    content = gltf_reference.Scene(path).json
    assert "animations" not in content
    assert "targets" not in content["meshes"][0]["primitives"][0]
    with pytest.raises(ValueError, match=r"5000 frames .* 4096"):
        bake(tmp_path / "b.glb", hand.skin, hand.animations[0], range(5000), triangles=hand.mesh.triangles)
    assert [file.name for file in tmp_path.iterdir()] == ["a.glb"]


@pytest.mark.parametrize("suffix", [".npz", ".glb", ".usdc"])
@pytest.mark.parametrize("triangles", [None, np.zeros((0, 3), np.int32)])
def test_a_mesh_needs_triangles(hand: sbs.Character, tmp_path: Path, suffix: str, triangles: Any) -> None:
    with pytest.raises(ValueError, match="triangles"):
        bake(tmp_path / f"a{suffix}", hand.skin, hand.animations[0], range(1), triangles=triangles)
    assert not list(tmp_path.iterdir())


def test_each_format(hand: sbs.Character, tmp_path: Path) -> None:
    """Double precision stays in NumPy's, and is rounded elsewhere."""
    numbers, clip, path = range(3, 8), hand.animations[0], tmp_path
    wanted = expected(hand, numbers, 24)
    for suffix in (".pc2", ".npy", ".npz"):
        bake(path / f"a{suffix}", hand.skin, clip, numbers, fps=24, triangles=hand.mesh.triangles)
    start, rate, positions = read_pc2((path / "a.pc2").read_bytes())
    assert (start, rate) == (3.0, 1.0)
    with np.load(path / "a.npz", allow_pickle=False) as archive:
        for found in (positions, np.load(path / "a.npy"), archive["positions"]):
            np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(archive["times"], np.array(numbers) / 24)
        np.testing.assert_array_equal(archive["triangles"], hand.mesh.triangles)
    bake(path / "a.mdd", hand.skin, clip, range(5), fps=10, method="linear")
    times, positions = read_mdd((path / "a.mdd").read_bytes())
    np.testing.assert_array_equal(times, np.array([0, 0.1, 0.2, 0.3, 0.4], np.float32))
    np.testing.assert_array_equal(positions, expected(hand, range(5), 10, method="linear"))

    mesh = hand.mesh
    double = sbs.Skin(mesh.positions.astype(np.float64), mesh.joint_indices, mesh.joint_weights)
    for suffix in (".npy", ".pc2"):
        bake(path / f"b{suffix}", double, clip, range(2))
    positions = np.load(path / "b.npy")
    assert positions.dtype == np.float64
    np.testing.assert_array_equal(read_pc2((path / "b.pc2").read_bytes())[2], positions.astype(np.float32))


def test_memory_does_not_grow_with_the_number_of_frames(hand: sbs.Character, tmp_path: Path) -> None:
    def peak(count: int) -> int:
        tracemalloc.start()
        try:
            bake(tmp_path / "a.pc2", hand.skin, hand.animations[0], range(count), fps=count)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(10)  # imports take memory, too
    few, many = peak(1500), peak(6000)  # 24 MB and 98 MB of positions
    assert many < 1.1 * few + 1e6


@pytest.mark.applies(Path("/dev/full").exists(), reason="devices")
def test_an_archive_that_can_not_be_begun_is_closed(hand: sbs.Character) -> None:
    """It would be closed when it is forgotten, and tell its error then."""
    frames = make_frames(hand.skin, range(3), 24.0, triangles=hand.mesh.triangles)
    with pytest.raises(OSError, match="space"), NPZ(Path("/dev/full"), frames):
        pass


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_nothing_is_left_of_what_fails(hand: sbs.Character, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"before")

    class StopError(Exception):
        pass

    def stop(done: int) -> None:
        raise StopError

    with pytest.raises(StopError):
        triangles = hand.mesh.triangles
        bake(path, hand.skin, hand.animations[0], range(2000), fps=2000, triangles=triangles, progress=stop)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_not_finite_is_not_written(
    hand: sbs.Character, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def falling(animation: sbs.Animation, times: np.ndarray) -> np.ndarray:
        matrices = np.tile(np.eye(4), (len(times), 25, 1, 1))
        matrices[np.isclose(times, 0.5), :, 0, 3] = 1e39
        return matrices

    monkeypatch.setattr(sbs.Animation, "skinning_matrices", falling)
    with pytest.raises(ValueError, match="vertex 0 in frame 12"):
        bake(tmp_path / "a.pc2", hand.skin, hand.animations[0], range(24), fps=24)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.applies(os.name != "nt", reason="there processes are ended without a word")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 1), (signal.SIGTERM, -15), (SIGKILL, -9)])
def test_an_interrupted_command_leaves_no_file_at_the_name(tmp_path: Path, number: int, status: int) -> None:
    """A run of minutes, ended in the middle. What SIGKILL leaves has another name, as nobody can tidy up after it."""
    path = tmp_path / "long.pc2"
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); import sbs.cli; sbs.cli.main()"
    )
    command = [sys.executable, "-c", code, "deform", HAND, "--animation", "fist", "--fps", "400000", "-o", str(path)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        while not [other for other in tmp_path.iterdir() if other.stat().st_size > 1 << 24]:
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(number)
        assert process.wait(60) == status
    finally:
        process.kill()
        process.wait()
    assert not path.exists()
    assert number == SIGKILL or not list(tmp_path.iterdir())


def test_the_command_streams_frames(hand: sbs.Character, tmp_path: Path) -> None:
    command = ("deform", HAND, "--animation", "fist", "--method", "SBS", "-o", tmp_path / "a.pc2", "--fps", 24)
    for text, numbers in (
        ("0:24", range(25)),
        ("5:9", range(5, 10)),
        (":3", range(4)),
        ("20:", range(20, 25)),
        ("7", range(7, 8)),
    ):
        assert f"{len(numbers)} frames of 1360 vertices" in succeed(*command, "--frames", text)
        start, _, positions = read_pc2((tmp_path / "a.pc2").read_bytes())
        assert start == numbers[0]
        np.testing.assert_array_equal(positions, expected(hand, numbers, 24))


@pytest.mark.parametrize(
    ("name", "numbers", "fps", "message"),
    [
        ("a.abc", range(3), 24, "'a.abc'"),
        ("a.pc2", range(3, 3), 24, "at least one frame"),
        ("a.pc2", range(0, 9, 2), 24, "a step of 1"),
        ("a.pc2", range(3), 0, "fps is 0"),
    ],
)
def test_bad_arguments(
    hand: sbs.Character, tmp_path: Path, name: str, numbers: range, fps: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        bake(tmp_path / name, hand.skin, hand.animations[0], numbers, fps=fps)
