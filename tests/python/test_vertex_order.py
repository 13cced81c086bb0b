# SPDX-License-Identifier: MIT
"""No bit of a vertex depends on the order of vertices."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meshes import Precision
from reference import rotation_matrix

import sbs
from sbs.options import MethodOptions

METHODS: list[MethodOptions] = [
    {"method": "rigid"},
    {"method": "linear"},
    {"method": "dual_quaternion"},
    {"method": "spherical"},
    {"rotation": "average"},
    {"center": "weighted"},
    {"center": "optimized"},
]
PRECISIONS: list[Precision] = [np.float32, np.float64]

several = settings(max_examples=60)


@dataclass
class Scene:
    """A random mesh, some vertices of no joint and some their own centers, and a random pose."""

    arguments: dict[str, Any]
    matrices: np.ndarray  # (J, 3, 4)

    def bind(self, order: Any = slice(None), **changes: Any) -> sbs.Skin:
        """The skin with its vertices in an order."""
        arguments = {name: array[order] for name, array in (self.arguments | changes).items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sbs.WeightWarning)
            return sbs.Skin(**arguments, joint_count=len(self.matrices))


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    vertices, joints, width = draw(st.integers(1, 600)), draw(st.integers(1, 8)), draw(st.integers(1, 5))
    positions = generator.normal(size=(vertices, 3)).astype(draw(st.sampled_from(PRECISIONS)))
    centers = np.where(generator.random((vertices, 1)) < 0.2, positions, generator.normal(size=(vertices, 3)))
    weights = generator.choice([0, 0, 0.1, 0.3, 1 / 3, 2], (vertices, width))
    matrices = np.empty((joints, 3, 4))
    matrices[:, :, :3] = [rotation_matrix(q) for q in generator.normal(size=(joints, 4))]
    matrices[:, :, 3] = generator.normal(size=(joints, 3))
    if draw(st.booleans()):
        matrices[0, :, :3] *= generator.uniform(-2, 2, 3)
    return Scene(
        {
            "rest_positions": positions,
            "rest_normals": generator.normal(size=(vertices, 3)),
            "joint_indices": generator.integers(joints, size=(vertices, width)),
            "joint_weights": weights,
            "centers": centers,
        },
        matrices,
    )


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and np.ascontiguousarray(a).tobytes() == b.tobytes()


def any_order(scene: Scene, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(len(scene.arguments["rest_positions"]))


@several
@given(scenes(), st.sampled_from(METHODS), st.sampled_from([1, 4]), st.integers(0, 2**32 - 1))
def test_no_bit_depends_on_the_order(scene: Scene, method: MethodOptions, threads: int, seed: int) -> None:
    skin, order = scene.bind(), any_order(scene, seed)
    ordered = scene.bind(order)
    expected, expected_normals = skin.deform(scene.matrices, **method, normals=True, threads=1)
    found, found_normals = ordered.deform(scene.matrices, **method, normals=True, threads=threads)
    assert same_bits(expected[order], found)
    assert same_bits(expected_normals[order], found_normals)
    alone = skin.deform(scene.matrices, **method, threads=1)
    assert same_bits(alone[order], ordered.deform(scene.matrices, **method, threads=threads))
    back = skin.inverse_deform(expected, scene.matrices, **method, return_singular=True)[0]
    assert same_bits(back[order], ordered.inverse_deform(found, scene.matrices, **method, return_singular=True)[0])


@several
@given(scenes(), st.integers(0, 2**32 - 1))
def test_amounts_in_the_order(scene: Scene, seed: int) -> None:
    skin, order = scene.bind(), any_order(scene, seed)
    amounts = np.random.default_rng(seed).choice([0, 0, 0.5, 1, 1], len(order))
    expected = skin.deform(scene.matrices, amount=amounts)
    assert same_bits(expected[order], scene.bind(order).deform(scene.matrices, amount=amounts[order]))


@several
@given(scenes(), st.integers(0, 2**32 - 1))
def test_updates_in_the_order(scene: Scene, seed: int) -> None:
    generator = np.random.default_rng(seed)
    order = any_order(scene, seed)
    vertices = np.flatnonzero(generator.random(len(order)) < 0.1)
    indices, weights = (scene.arguments[name][order] for name in ("joint_indices", "joint_weights"))
    weights = weights.copy()
    weights[vertices] = generator.choice([0, 0.5, 1], weights[vertices].shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sbs.WeightWarning)
        updated = scene.bind(order).update_weights(indices[vertices], weights[vertices], vertices=vertices)
    changed = np.empty_like(weights)
    changed[order] = weights
    expected = scene.bind(joint_weights=changed).deform(scene.matrices)
    assert same_bits(expected[order], updated.deform(scene.matrices, threads=1))
    assert same_bits(expected[order], updated.deform(scene.matrices, threads=4))


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("normals", [False, True])
def test_frames_of_a_large_mesh_by_threads(dtype: Precision, normals: Literal[False, True]) -> None:
    """Chunks of blocks that threads share, and frames one after the other: no thread writes into another's."""
    generator = np.random.default_rng(8)
    count = 40_000
    scene = Scene(
        {
            "rest_positions": generator.normal(size=(count, 3)).astype(dtype),
            "rest_normals": generator.normal(size=(count, 3)),
            "joint_indices": generator.integers(30, size=(count, 3)),
            "joint_weights": generator.choice([0, 0, 1, 2], (count, 3)),
        },
        np.empty((30, 3, 4)),
    )
    matrices = np.empty((3, 30, 3, 4))
    matrices[..., :3] = [[rotation_matrix(q) for q in generator.normal(size=(30, 4))] for _ in range(3)]
    matrices[..., 3] = generator.normal(size=(3, 30, 3))
    skin, order = scene.bind(), any_order(scene, 9)
    expected = skin.deform_many(matrices, normals=normals, threads=1)
    found = scene.bind(order).deform_many(matrices, normals=normals, threads=4)
    for one, other in zip(*((result if normals else (result,)) for result in (expected, found)), strict=True):
        assert same_bits(np.asarray(one)[:, order], np.asarray(other))


# ------------------------------------------------------------------------------------------------------------- meshes


def test_what_is_deprecated_still_works() -> None:
    mesh = sbs.Mesh(
        positions=np.arange(9.0).reshape(3, 3),
        triangles=np.array([[0, 1, 2]], np.int32),
        joint_indices=np.array([[0], [1], [2]], np.int32),
        joint_weights=np.ones((3, 1)),
        shapes=(sbs.BlendShape("smile", np.array([2, 1], np.int32), np.array([[0.5, 0, 0], [0, 0.5, 0]])),),
    )
    with pytest.warns(DeprecationWarning, match="no order of vertices is faster"):
        moved = mesh.reordered([2, 0, 1])
    np.testing.assert_array_equal(moved.positions, mesh.positions[[2, 0, 1]])
    np.testing.assert_array_equal(moved.triangles, [[1, 2, 0]])
    np.testing.assert_array_equal(moved.shapes[0].vertices, [0, 2])
    skin = sbs.Skin(mesh.positions, mesh.joint_indices, mesh.joint_weights, joint_count=3)
    with pytest.warns(DeprecationWarning, match="no order of vertices is faster"):
        np.testing.assert_array_equal(skin.vertex_order, [0, 1, 2])
