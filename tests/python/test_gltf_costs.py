# SPDX-License-Identifier: MIT
"""Small files that are built to cost much cost what their size warrants, or are refused in words.

A reader that is quadratic again takes minutes here.
"""

import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path

import costly_files
import numpy as np
import pytest
from gltf_reference import opened

import sbs
from sbs.formats.gltf.unused import drop_unused
from sbs.gltf import FileError


def load(path: Path) -> sbs.Character:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sbs.load(path)


def test_many_buffers_of_one_file_are_one(tmp_path: Path) -> None:
    path = costly_files.shared_file_buffers(tmp_path)
    load(path)  # imports take memory, too
    tracemalloc.start()
    try:
        load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * 20_000_000


def test_many_images_of_one_file_are_one(tmp_path: Path) -> None:
    character = load(costly_files.shared_file_images(tmp_path))
    tracemalloc.start()
    try:
        character.save(tmp_path / "copy.glb")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (tmp_path / "copy.glb").stat().st_size < 5_100_000
    assert peak < 5 * 5_000_000  # the file, the buffer as it grows, and the copy


def test_rows_that_overlap_are_not_written_one_by_one(tmp_path: Path) -> None:
    content, data = opened(costly_files.overlapping_rows(tmp_path))
    assert len(drop_unused(content, bytearray(data))) <= len(data)


def test_a_primitive_for_each_of_many_nodes(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="asks for more memory"):
        load(costly_files.primitives_times_nodes(tmp_path))


def test_many_sets_of_influences(tmp_path: Path) -> None:
    character = load(costly_files.influence_sets(tmp_path))
    assert character.mesh.joint_indices.shape == (4, 12_000)
    character.save(tmp_path / "copy.glb")
    assert load(tmp_path / "copy.glb").skin.joint_sets == character.skin.joint_sets


def test_many_joints_of_one_name(tmp_path: Path) -> None:
    names = load(costly_files.equally_named_joints(tmp_path)).skeleton.names
    assert names[:3] == ("bone", "bone_2", "bone_3")
    assert names[-1] == "bone_20000"


@pytest.mark.parametrize("build", [costly_files.joints_in_a_row, costly_files.joints_side_by_side])
def test_many_joints(tmp_path: Path, build: Callable[[Path, int], Path]) -> None:
    character = load(build(tmp_path, 20_000))
    assert character.skin.joint_count == 20_000
    character.save(tmp_path / "copy.glb")
    assert np.array_equal(load(tmp_path / "copy.glb").skeleton.parents, character.skeleton.parents)


@pytest.mark.parametrize(
    ("build", "vertices", "joints"),
    [
        (costly_files.shared_space_skins, 4, 2),
        (costly_files.other_joint_skins, 4 * 3001, 3002),
        (costly_files.other_space_skins, 4 * 3001, 3002),  # the elbow of each
    ],
)
def test_many_skins(tmp_path: Path, build: Callable[[Path], Path], vertices: int, joints: int) -> None:
    character = load(build(tmp_path))
    assert (character.skin.vertex_count, character.skin.joint_count) == (vertices, joints)


def test_joints_in_many_poses(tmp_path: Path) -> None:
    """Skins that share matrices, so that a small file would become joints without end."""
    with pytest.raises(ValueError, match=r"skins\[\d+\]: asks for more memory"):
        load(costly_files.shifted_matrix_skins(tmp_path))


@pytest.mark.parametrize("build", [costly_files.channels, costly_files.animations])
def test_many_channels(tmp_path: Path, build: Callable[[Path, int], Path]) -> None:
    animations = load(build(tmp_path, 10_000)).animations
    assert sum(len(track.nodes) for animation in animations for track in animation.tracks) == 10_000


def test_channels_of_many_clips(tmp_path: Path) -> None:
    character = load(costly_files.crowd(tmp_path, joints=20, clips=5))
    for animation in character.animations:
        tracks = {track.path: track for track in animation.tracks}
        assert tracks["translation"].values.shape == (30, 20, 3)
        np.testing.assert_allclose(tracks["rotation"].values[3, 7], [0.8, 0, 0, 0.6], atol=1e-7)
