# SPDX-License-Identifier: MIT
"""PMX files: every way of weighting, and spherical deformation beside MikuMikuDance's own formula."""

from __future__ import annotations

import struct
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from pmx_builder import BDEF1, BDEF2, BDEF4, QDEF, SDEF, Pmx, Vertex, elbow

import sbs
from sbs.cli import main
from sbs.formats import pmx, sdef
from sbs.rigging.content import FileError, FileWarning


def loaded(model: Pmx, folder: Path) -> sbs.Character:
    path = folder / "model.pmx"
    path.write_bytes(model.to_bytes())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FileWarning)
        return sbs.load(path)


def mixed(**options: Any) -> Pmx:
    vertices = [
        Vertex([1, 2, 3], BDEF1, [2]),
        Vertex([4, 5, 6], BDEF2, [0, 1], [0.25]),
        Vertex([7, 8, 9], BDEF4, [0, 1, 2, -1], [0.5, 0.25, 0.25, 0]),
        Vertex([1, 1, 1], SDEF, [2, 1], [0.75], [[1, 2, 3], [4, 5, 6], [7, 8, 9]]),
        Vertex([2, 2, 2], QDEF, [2, 1, 0, 0], [0.5, 0.5, 0, 0]),
    ]
    bones = [("a", 2, (1, 2, 3)), ("b", 0, (4, 4, 4)), ("c", -1, (0, 0, 1))]
    return Pmx(vertices, [[0, 1, 2], [2, 3, 4]], bones, **options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"utf8": True, "version": 2.1},
        {"bone_size": 2, "vertex_size": 4},
        {"bone_size": 4, "vertex_size": 1, "more_uvs": 4},
        {"flags": {0: (1, b""), 1: (0x100 | 0x400, bytes(5 + 12)), 2: (0x800 | 0x2000, bytes(28))}},
        {"flags": {0: (0x20, b"\1" + bytes(8) + struct.pack("<i", 2) + b"\0\0" + b"\1\1" + bytes(24))}},
    ],
)
def test_every_way_of_weighting(tmp_path: Path, options: dict[str, object]) -> None:
    character = loaded(mixed(**options), tmp_path)
    mesh = character.mesh
    np.testing.assert_array_equal(mesh.positions, [[1, 2, -3], [4, 5, -6], [7, 8, -9], [1, 1, -1], [2, 2, -2]])
    np.testing.assert_array_equal(mesh.triangles, [[2, 1, 0], [4, 3, 2]])
    assert mesh.normals is not None
    np.testing.assert_array_equal(mesh.normals, [[0, 0, 1]] * 5)
    weights = np.zeros((5, 3))
    np.add.at(weights, (np.arange(5)[:, None], mesh.joint_indices), mesh.joint_weights)
    expected = [[0, 0, 1], [0.25, 0.75, 0], [0.5, 0.25, 0.25], [0, 0.25, 0.75], [0, 0.5, 0.5]]
    np.testing.assert_array_equal(weights, expected)
    assert character.skeleton.names == ("a", "b", "c")
    assert character.skeleton.parents.tolist() == [2, 0, -1]
    np.testing.assert_array_equal(character.skeleton.joint_positions, [[1, 2, -3], [4, 4, -4], [0, 0, -1]])
    np.testing.assert_allclose(character.rest_matrices, [np.eye(4)] * 3, atol=1e-15)
    assert mesh.centers is not None
    np.testing.assert_array_equal(mesh.centers, [*mesh.positions[:3], [1, 2, -3], mesh.positions[4]])


def as_mikumikudance(model: Pmx, vertex: Vertex, matrices: np.ndarray) -> np.ndarray:
    """A vertex by the formulas as they are known of MikuMikuDance, one at a time, in a right-handed system."""
    mirror = np.array([1, 1, -1])
    v = np.append(np.array(vertex.position, np.float32) * mirror, 1)
    if vertex.kind != SDEF:
        weights = [1] if vertex.kind == BDEF1 else [vertex.weights[0], 1 - vertex.weights[0]]
        return np.asarray(
            np.sum([w * (matrices[bone] @ v)[:3] for w, bone in zip(weights, vertex.bones, strict=True)], axis=0)
        )
    w0 = float(np.float32(vertex.weights[0]))
    w1 = 1 - w0
    c, r0, r1 = np.array(vertex.points, np.float32).astype(float) * mirror
    rw = r0 * w0 + r1 * w1
    r0, r1 = c + r0 - rw, c + r1 - rw
    corrected = (c + r0) / 2, (c + r1) / 2
    m0, m1 = (matrices[bone] for bone in vertex.bones)
    # The first rotation, and a share of the turn from it to the second.
    turn = sbs.rotations.rotation_vectors_from_matrices(m0[:3, :3].T @ m1[:3, :3])
    q = m0[:3, :3] @ sbs.rotations.matrices_from_rotation_vectors(w1 * turn)
    moved = w0 * (m0 @ np.append(corrected[0], 1)) + w1 * (m1 @ np.append(corrected[1], 1))
    return np.asarray(q @ (v[:3] - c) + moved[:3])


@pytest.mark.parametrize("seed", range(3))
def test_spherical_deformation(tmp_path: Path, seed: int) -> None:
    """Ours and the correction of R0 and R1 are as in MikuMikuDance; without SDEF, linear blending."""
    model = elbow()
    character = loaded(model, tmp_path)
    assert character.options == {"method": "spherical", "rotation": "average", "center": "optimized"}
    rng = np.random.default_rng(seed)
    turns = sbs.rotations.matrices_from_rotation_vectors(rng.normal(size=(2, 3)))
    matrices = character.skinning_matrices(turns)
    expected = np.array([as_mikumikudance(model, vertex, matrices) for vertex in model.vertices])
    ours = character.skin.deform(matrices, **character.options)
    added = sdef.correction(pmx.parse(tmp_path / "model.pmx"), matrices)
    # float32, for a mesh of size 6.
    np.testing.assert_allclose(ours + added, expected, atol=4e-6)
    is_sdef = np.array([vertex.kind == SDEF for vertex in model.vertices])
    assert np.abs(added[is_sdef]).max() > 1e-3
    np.testing.assert_array_equal(added[~is_sdef], 0)


def test_a_model_without_it_is_blended_linearly(tmp_path: Path) -> None:
    model = elbow(sdef=False)
    character = loaded(model, tmp_path)
    assert character.options == {}
    assert character.mesh.centers is None
    matrices = character.skinning_matrices(sbs.rotations.matrices_from_rotation_vectors([[0.1, 0.2, 0.3], [1.5, 0, 0]]))
    expected = np.array([as_mikumikudance(model, vertex, matrices) for vertex in model.vertices])
    np.testing.assert_allclose(character.skin.deform(matrices, method="linear"), expected, atol=4e-6)


@pytest.mark.parametrize("among_others", [False, True])
def test_dual_quaternions(tmp_path: Path, among_others: bool) -> None:
    """QDEF vertices go by dual quaternions, and others stay linear."""
    model = elbow(sdef=False)
    for vertex in model.vertices[: len(model.vertices) // 2 if among_others else None]:
        vertex.kind, vertex.bones = QDEF, [*vertex.bones, 0, 0, 0][:4]
        weights = vertex.weights or [1.0]
        vertex.weights = [weights[0], 1 - weights[0], 0, 0]
    character = loaded(model, tmp_path)
    assert character.options["method"] == "dual_quaternion"
    matrices = character.skinning_matrices(sbs.rotations.matrices_from_rotation_vectors([[0.1, 0.2, 0.3], [1.5, 0, 0]]))
    is_qdef = np.array([vertex.kind == QDEF for vertex in model.vertices])
    expected = np.where(
        is_qdef[:, None],
        character.skin.deform(matrices, method="dual_quaternion"),
        character.skin.deform(matrices, method="linear"),
    )
    # float32, for a mesh of size 6.
    np.testing.assert_allclose(character.skin.deform(matrices, **character.options), expected, atol=4e-6)


def test_dual_quaternions_beside_spherical_deformation_are_told(tmp_path: Path) -> None:
    path = tmp_path / "model.pmx"
    path.write_bytes(mixed().to_bytes())
    with pytest.warns(FileWarning) as told:
        assert sbs.load(path).options["method"] == "spherical"
    assert any("1 vertices with QDEF" in str(warning.message) for warning in told)


def test_what_is_left_out_is_told(tmp_path: Path) -> None:
    path = tmp_path / "model.pmx"
    path.write_bytes(elbow().to_bytes()[:-4] + struct.pack("<i", 7))
    with pytest.warns(FileWarning) as told:
        sbs.load(path)
    assert ["materials are left out" in str(told[0].message), "7 morphs" in str(told[1].message)] == [True, True]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 1.0}, "version 1 of PMX"),
        ({"bones": [("a", 1, (0, 0, 0)), ("b", 0, (0, 0, 0))]}, "parents of 'a' run in a circle"),
        ({"bones": [("a", 9, (0, 0, 0)), ("b", 0, (0, 0, 0))]}, "the parent of bone 0 is 9"),
        ({"bones": []}, "no bones"),
        ({"bones": [("a", -1, (0, 0, 0))]}, "hangs on bone 1, but there are 1 bones"),
        ({"bones": [("a", -1, (0, 0, np.inf)), ("b", 0, (0, 0, 0))]}, "heads of number 0 are not finite"),
        ({"triangles": [[0, 1, 999]]}, "corner 2 is vertex 999"),
        ({"triangles": []}, "no triangles"),
    ],
)
def test_damaged_files(tmp_path: Path, change: dict[str, object], message: str) -> None:
    model = elbow()
    for name, value in change.items():
        setattr(model, name, value)
    with pytest.raises(FileError, match=message) as told:
        loaded(model, tmp_path)
    assert "model.pmx" in str(told.value)


def test_signaling_nan(tmp_path: Path) -> None:
    """NumPy warns where it makes doubles of them."""
    data = elbow().to_bytes()
    place = data.index(struct.pack("<i", 104)) + 4  # the first position
    path = tmp_path / "model.pmx"
    path.write_bytes(data[:place] + struct.pack("<I", 0x7FA00000) + data[place + 4 :])
    with pytest.raises(FileError, match="not finite"):
        sbs.load(path)


def test_huge_counts_cost_nothing(tmp_path: Path) -> None:
    data = bytearray(elbow().to_bytes())
    place = data.index(struct.pack("<i", 104))  # the number of vertices
    data[place : place + 4] = struct.pack("<i", 2**31 - 1)
    path = tmp_path / "model.pmx"
    path.write_bytes(data)
    with pytest.raises(FileError, match="2147483647 vertices"):
        sbs.load(path)
    path.write_bytes(elbow().to_bytes())
    with pytest.raises(FileError, match="skin 1"):
        sbs.load(path, skin=1)


def test_the_command_deforms_as_the_file_says(tmp_path: Path) -> None:
    (tmp_path / "model.pmx").write_bytes(elbow().to_bytes())
    motion = tmp_path / "bend.bvh"
    motion.write_text(
        "HIERARCHY\nROOT a\n{\nOFFSET -3 0 0\nCHANNELS 1 Xrotation\n"
        "JOINT b\n{\nOFFSET 3 0 0\nCHANNELS 1 Zrotation\n}\n}\n"
        "MOTION\nFrames: 1\nFrame Time: 1\n0 90\n"
    )
    names = tmp_path / "names.json"
    names.write_text('{"a": "上腕", "b": "ひじ"}')
    command = ["deform", str(tmp_path / "model.pmx"), "--motion", str(motion), "--joint-map", str(names)]
    character = loaded(elbow(), tmp_path)
    matrices = sbs.load_motion(motion).onto(character, {"a": "上腕", "b": "ひじ"}).skinning_matrices(0)
    for options, expected in (
        ([], character.skin.deform(matrices, **character.options)),
        (["--method", "linear"], character.skin.deform(matrices, method="linear")),
        (["--method", "spherical"], character.skin.deform(matrices)),
    ):
        result = CliRunner().invoke(main, [*command, *options, "-o", str(tmp_path / "a.npy")])
        assert result.exit_code == 0, result.output
        np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), expected)
