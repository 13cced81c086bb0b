# SPDX-License-Identifier: MIT
"""The same deformations by another library: UsdSkel of OpenUSD (the usd-core package)."""

import characters
import numpy as np
import pytest
from pxr import Gf, UsdSkel, Vt
from subject import assert_within

import sbs
from sbs.options import Method

# UsdSkel works in float32: a few of its roundings, 6e-8 each, in numbers of the size of the mesh, and in unit normals.
TOLERANCE = 1e-6

METHODS = {"linear": "classicLinear", "dual_quaternion": "dualQuaternion"}
POSES = [(name, clip, frame) for name in characters.NAMES for clip, frame in characters.load(name).poses()]


def deform_by_usd(skin: sbs.Skin, matrices: np.ndarray, method: str) -> tuple[np.ndarray, np.ndarray]:
    """Positions and normals by UsdSkel, which has row vectors: its matrices are transposed."""
    influences = (
        Vt.IntArray.FromNumpy(skin.joint_indices.ravel()),
        Vt.FloatArray.FromNumpy(skin.joint_weights.ravel()),
        skin.joint_indices.shape[1],
    )
    points = Vt.Vec3fArray.FromNumpy(skin.rest_positions.copy())
    transforms = Vt.Matrix4dArray.FromNumpy(np.ascontiguousarray(matrices.swapaxes(1, 2)))
    assert UsdSkel.SkinPoints(METHODS[method], Gf.Matrix4d(1), transforms, *influences, points)

    assert skin.rest_normals is not None
    normals = Vt.Vec3fArray.FromNumpy(skin.rest_normals.copy())
    inverses = np.linalg.inv(matrices[:, :3, :3])  # normals go by the inverse transposed, here transposed once more
    transforms = Vt.Matrix3dArray.FromNumpy(np.ascontiguousarray(inverses))
    assert UsdSkel.SkinNormals(METHODS[method], Gf.Matrix3d(1), transforms, *influences, normals)
    return np.array(points), np.array(normals)


def bind(name: str) -> sbs.Skin:
    """Bind a character in float32, with weights normalized, as UsdSkel expects them."""
    character = characters.load(name)
    weights = character.joint_weights.astype(np.float64)
    weights /= weights.sum(axis=1, keepdims=True)
    return sbs.Skin(
        character.rest_positions.astype(np.float32),
        character.joint_indices,
        weights.astype(np.float32),
        rest_normals=character.rest_normals.astype(np.float32),
        joint_count=len(character.parents),
    )


@pytest.mark.parametrize(("name", "clip", "frame"), POSES)
@pytest.mark.parametrize("method", METHODS)
def test_usd(name: str, clip: str, frame: int, method: Method) -> None:
    skin = bind(name)
    rigid = characters.load(name).clips[clip].skinning_matrices(frame)
    matrices = np.concatenate([rigid, np.tile([[[0.0, 0, 0, 1]]], (len(rigid), 1, 1))], axis=1)
    positions, normals = skin.deform(matrices, method=method, normals=True)
    expected_positions, expected_normals = deform_by_usd(skin, matrices, method)
    size = float(np.linalg.norm(np.ptp(skin.rest_positions.astype(np.float64), axis=0)))
    assert_within(positions, expected_positions, TOLERANCE * size, "position")
    assert_within(normals, expected_normals, TOLERANCE, "normal")
