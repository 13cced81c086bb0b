# SPDX-License-Identifier: MIT
"""The order of vertices: what a skin asks for, and that no bit of a vertex depends on it."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import dataclass, fields
from importlib import resources
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


@several
@given(scenes())
def test_an_order_has_every_vertex_once(scene: Scene) -> None:
    skin = scene.bind()
    order = skin.vertex_order
    assert order.dtype == np.int32
    assert not order.flags.writeable
    np.testing.assert_array_equal(np.sort(order), np.arange(skin.vertex_count))
    # Vertices of a set stand together; those that are their own centers apart from the others.
    sets = skin.joint_set_of_vertex[order]
    assert np.count_nonzero(np.diff(sets)) + 1 <= 2 * sum(1 + len(joints) for joints in skin.joint_sets)


@several
@given(scenes())
def test_a_skin_in_its_order_asks_for_no_other(scene: Scene) -> None:
    ordered = scene.bind(scene.bind().vertex_order)
    np.testing.assert_array_equal(ordered.vertex_order, np.arange(ordered.vertex_count))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ordered)).vertex_order, ordered.vertex_order)


@several
@given(scenes(), st.sampled_from(METHODS), st.sampled_from([1, 4]), st.randoms(use_true_random=False), st.booleans())
def test_no_bit_depends_on_the_order(
    scene: Scene, method: MethodOptions, threads: int, random: Any, is_random: bool
) -> None:
    skin = scene.bind()
    order = np.asarray(skin.vertex_order)
    if is_random:
        order = np.array(random.sample(range(len(order)), len(order)))
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
    skin = scene.bind()
    order = skin.vertex_order
    amounts = np.random.default_rng(seed).choice([0, 0, 0.5, 1, 1], len(order))
    expected = skin.deform(scene.matrices, amount=amounts)
    assert same_bits(expected[order], scene.bind(order).deform(scene.matrices, amount=amounts[order]))


@several
@given(scenes(), st.integers(0, 2**32 - 1))
def test_updates_in_the_order(scene: Scene, seed: int) -> None:
    """Weights of some vertices: blocks that stood in the order stand in another then."""
    generator = np.random.default_rng(seed)
    order = scene.bind().vertex_order
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
    """Chunks of blocks that threads share, and frames one after the other: nobody writes into what is another's."""
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
    skin = scene.bind()
    order = skin.vertex_order
    expected = skin.deform_many(matrices, normals=normals, threads=1)
    found = scene.bind(order).deform_many(matrices, normals=normals, threads=4)
    for one, other in zip(*((result if normals else (result,)) for result in (expected, found)), strict=True):
        assert same_bits(np.asarray(one)[:, order], np.asarray(other))


# ------------------------------------------------------------------------------------------------------------- meshes


@pytest.fixture(scope="module")
def hand() -> sbs.Character:
    with resources.as_file(resources.files("sbs.demo") / "data" / "hand.glb") as path:
        return sbs.load(path)


def test_a_character_in_the_order_of_its_skin(hand: sbs.Character) -> None:
    order = hand.skin.vertex_order
    ordered = hand.with_mesh(hand.mesh.reordered(order))
    matrices = hand.animations[0].skinning_matrices(0.5)
    deformed, expected = ordered.skin.deform(matrices), hand.skin.deform(matrices)
    assert same_bits(expected[order], deformed)
    # The corners of the triangles, whatever the numbers of the vertices.
    np.testing.assert_array_equal(deformed[ordered.mesh.triangles], expected[hand.mesh.triangles])
    np.testing.assert_array_equal(ordered.skin.vertex_order, np.arange(len(order)))


def test_a_reordered_mesh_has_all_arrays_in_the_order() -> None:
    mesh = sbs.Mesh(
        positions=np.arange(9.0).reshape(3, 3),
        triangles=np.array([[0, 1, 2]], np.int32),
        joint_indices=np.array([[0], [1], [2]], np.int32),
        joint_weights=np.array([[1.0], [2.0], [3.0]]),
        normals=np.arange(9.0).reshape(3, 3) + 10,
        uvs=np.arange(6.0).reshape(3, 2),
        centers=np.arange(9.0).reshape(3, 3) + 20,
        tangents=np.arange(12.0).reshape(3, 4),
        shapes=(sbs.BlendShape("smile", np.array([2, 1], np.int32), np.array([[0.5, 0, 0], [0, 0.5, 0]])),),
        parts=(sbs.MeshPart("face", range(3)),),
    )
    moved = mesh.reordered([2, 0, 1])
    assert moved.parts == (sbs.MeshPart("face", range(3), range(1)),)
    np.testing.assert_array_equal(moved.triangles, [[1, 2, 0]])
    assert moved.shapes[0].name == "smile"
    np.testing.assert_array_equal(moved.shapes[0].vertices, [0, 2])
    np.testing.assert_array_equal(moved.shapes[0].offsets, mesh.shapes[0].offsets)
    arrays = [field.name for field in fields(mesh) if field.name not in ("shapes", "parts")]
    for name in arrays:
        if name != "triangles":
            np.testing.assert_array_equal(getattr(moved, name), getattr(mesh, name)[[2, 0, 1]])
    back = moved.reordered([1, 2, 0])
    for name in arrays:
        np.testing.assert_array_equal(getattr(back, name), getattr(mesh, name))
    np.testing.assert_array_equal(back.shapes[0].vertices, mesh.shapes[0].vertices)
    bare = sbs.Mesh(mesh.positions, mesh.triangles, mesh.joint_indices, mesh.joint_weights).reordered([0, 2, 1])
    assert bare.normals is None
    assert bare.uvs is None
    assert bare.centers is None


@pytest.mark.parametrize(
    ("order", "error", "message"),
    [
        ([0, 1], ValueError, r"order has shape \(2,\), expected \(3,\)"),
        ([0.0, 1.0, 2.0], TypeError, "order must hold integers, not float64"),
        ([0, 1, 3], ValueError, r"order\[2\] = 3 is out of range for 3 vertices"),
        ([0, -1, 2], ValueError, r"order\[1\] = -1 is out of range for 3 vertices"),
        ([0, 2, 2], ValueError, "order does not have vertex 1"),
    ],
)
def test_orders_that_are_none(order: list[Any], error: type[Exception], message: str) -> None:
    mesh = sbs.Mesh(np.zeros((3, 3)), np.zeros((0, 3), np.int32), np.zeros((3, 1), np.int32), np.ones((3, 1)))
    with pytest.raises(error, match=f"^{message}$"):
        mesh.reordered(order)
