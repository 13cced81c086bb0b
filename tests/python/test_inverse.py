# SPDX-License-Identifier: MIT
"""Deformations undone."""

import warnings
from typing import Any, Unpack

import characters
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meshes import Precision, SkinArguments, skin_arguments, skinning_matrices

import sbs
from sbs import rotations
from sbs.options import Center, Method, MethodOptions, Rotation

METHODS: list[Method] = ["rigid", "linear", "spherical", "dual_quaternion"]
ROTATIONS: list[Rotation] = ["qlerp", "average"]
CENTERS: list[Center] = ["joint_set", "weighted", "optimized"]
DTYPES: list[Precision] = [np.float32, np.float64]
VERTICES, JOINTS = 300, 6

# Shares of the mesh's size, for vertices that are turned and not squeezed. The deformation itself loses 2e-7 (see
# tolerances.py), the posed position half an ulp, and solving for the rest position as much again.
BOUND = {np.float32: 1e-6, np.float64: 1e-12}
POSES = [(name, clip, frame) for name in characters.NAMES for clip, frame in characters.load(name).poses()]


def bind(*, centers: np.ndarray | None = None, **arguments: Unpack[SkinArguments]) -> sbs.Skin:
    """A skin of weights as they are: that some are repaired is no news here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sbs.WeightWarning)
        return sbs.Skin(**arguments, centers=centers)


def mesh_size(positions: np.ndarray) -> float:
    """Diagonal of the box around positions and the origin."""
    return float(np.linalg.norm(np.ptp(np.vstack([positions, np.zeros(3)]).astype(np.float64), axis=0)))


def linear_maps(skin: sbs.Skin, matrices: np.ndarray) -> np.ndarray:
    """A (V, 3, 3) of linear blend skinning, in double."""
    weights = skin.joint_weights.astype(np.float64)
    weights = weights / weights.sum(axis=1, keepdims=True)
    maps: np.ndarray = np.einsum("vk,vkij->vij", weights, matrices[skin.joint_indices, :3, :3])
    return maps


def condition(maps: np.ndarray) -> np.ndarray:
    """|A| |A^-1| in Frobenius norms, (V,)."""
    values = np.linalg.svd(maps, compute_uv=False)
    with np.errstate(divide="ignore"):
        numbers: np.ndarray = np.linalg.norm(values, axis=1) * np.linalg.norm(1 / values, axis=1)
        return numbers


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("name", "clip", "frame"), POSES[::3])
def test_real_characters_come_back(name: str, clip: str, frame: int, method: Method, dtype: Precision) -> None:
    character = characters.load(name)
    skin = bind(
        rest_positions=character.rest_positions.astype(dtype),
        joint_indices=character.joint_indices,
        joint_weights=character.joint_weights,
        parents=character.parents,
        joint_positions=character.joint_positions,
    )
    matrices = character.clips[clip].skinning_matrices(frame)
    posed = skin.deform(matrices, method=method)
    rest, singular = skin.inverse_deform(posed, matrices, method=method, return_singular=True)
    assert rest.dtype == dtype
    error = np.abs(rest.astype(np.float64) - skin.rest_positions).max(axis=1)
    bound = np.full(len(rest), BOUND[dtype])
    if method == "linear":  # it squeezes, and where it does the rounding of the posed position weighs more
        bound *= np.maximum(1, condition(linear_maps(skin, matrices)) / 3)
        bound[singular] = np.inf
    else:
        assert not singular.any()
    # the posed character may stand far from the origin: half an ulp of its positions is lost, in each direction
    bound = bound * mesh_size(skin.rest_positions) + 2 * np.spacing(np.abs(posed).max().astype(dtype))
    assert (error <= bound).all()


def random_joints(
    generator: np.random.Generator, count: int, most_angle: float, stretches: list[np.ndarray]
) -> np.ndarray:
    """Matrices (J, 4, 4) that turn by up to an angle, each times one of the stretches."""
    axes = generator.normal(size=(count, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    half = generator.uniform(0, most_angle, count)[:, None] / 2
    matrices = np.tile(np.eye(4), (count, 1, 1))
    turns = rotations.matrices_from_quaternions(np.hstack([np.cos(half), np.sin(half) * axes]))
    matrices[:, :3, :3] = turns @ np.array([stretches[i] for i in generator.integers(len(stretches), size=count)])
    matrices[:, :3, 3] = generator.normal(size=(count, 3))
    return matrices


SHEAR = np.array([[1, 0.4, 0], [0, 1, 0], [0, -0.3, 1]])
RIGS = {
    "rigid": [np.eye(3)],
    "scaled": [np.eye(3), np.diag([2, 1, 0.7]), 1.5 * np.eye(3)],
    "sheared": [np.eye(3), SHEAR, SHEAR.T],
    "mirrored": [-np.eye(3), np.diag([-2, -1, -0.7])],
}


WAYS: list[MethodOptions] = [{"method": method} for method in METHODS]
WAYS += [{"rotation": rotation, "center": center} for rotation in ROTATIONS for center in CENTERS]


@settings(max_examples=100)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(sorted(RIGS)),
    st.sampled_from(WAYS),
    st.sampled_from(DTYPES),
    st.integers(1, 6),
    st.booleans(),
)
def test_rest_positions_come_back(
    seed: int, rig: str, way: MethodOptions, dtype: Precision, influences: int, blend: bool
) -> None:
    generator = np.random.default_rng(seed)
    arguments = skin_arguments(VERTICES, JOINTS, influences, dtype, seed=seed)
    arguments["joint_weights"][::7] = 0  # unweighted vertices
    skin = bind(**arguments, centers=arguments["rest_positions"] + 0.5)
    matrices = random_joints(generator, JOINTS, 0.8, RIGS[rig])
    method = way.get("method", "spherical")
    options: dict[str, Any] = {**way}
    if blend and method != "rigid":
        options |= {"amount": generator.random(VERTICES), "base": "spherical" if method == "linear" else "linear"}
    rest = skin.inverse_deform(skin.deform(matrices, **options), matrices, **options)
    # turned by less than 0.8 against each other and stretched by 2 or so, no vertex is squeezed by more than 10;
    # weighted centers lose up to 1e-6 in float32 (tolerances.py), on the way there and on the way back
    bound = (40 if way.get("center") == "weighted" else 10) * BOUND[dtype] * mesh_size(skin.rest_positions)
    assert np.abs(rest.astype(np.float64) - skin.rest_positions).max() <= bound


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from(DTYPES))
def test_singular_vertices_are_those_of_the_rule(seed: int, dtype: Precision) -> None:
    """Joints that flatten by any power of ten, and linear blending, whose A is known here."""
    generator = np.random.default_rng(seed)
    skin = sbs.Skin(**skin_arguments(VERTICES, JOINTS, int(generator.integers(1, 3)), dtype, seed=seed))
    least = 10.0 ** generator.uniform(-17, 0)
    flat = [np.diag([1, 1, least]), np.diag([1, least, least]), np.eye(3)]
    matrices = random_joints(generator, JOINTS, np.pi, flat)
    posed = skin.deform(matrices, method="linear")
    rest, singular = skin.inverse_deform(posed, matrices, method="linear", return_singular=True)

    maps, eps, size = linear_maps(skin, matrices), np.finfo(dtype).eps, mesh_size(skin.rest_positions)
    norms = np.linalg.norm(maps, axis=(1, 2))
    with np.errstate(divide="ignore"):
        inverse_norms = np.linalg.norm(1 / np.linalg.svd(maps, compute_uv=False), axis=1)
    moved = eps * (np.linalg.norm(posed, axis=1) + norms * size) * inverse_norms / (size / 1000)
    flatness = 16 * eps * norms**3 / np.abs(np.linalg.det(maps)).clip(1e-300)
    surely, surely_not = (moved > 2) | (flatness > 4), (moved < 0.5) & (flatness < 0.25)
    assert singular[surely].all()
    assert not singular[surely_not].any()
    error = np.abs(rest.astype(np.float64) - skin.rest_positions)
    assert error[singular].max(initial=0) <= eps * size  # they have their rest position, to one rounding
    assert error[~singular].max(initial=0) <= 4e-3 * size  # what the rule allows, times a few roundings


def test_singular_vertices_are_warned_of() -> None:
    skin, matrices = sbs.Skin(**skin_arguments(VERTICES, JOINTS, 1)), skinning_matrices(JOINTS)
    matrices[2, :3, :3] = 0
    crushed = skin.joint_indices[:, 0] == 2
    posed = skin.deform(matrices)
    first = int(np.argmax(crushed))
    message = rf"{crushed.sum()} of {VERTICES} vertices can't be undone, .*; the first is vertex {first}"
    with pytest.warns(sbs.SingularVertexWarning, match=message):
        rest = skin.inverse_deform(posed, matrices)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again, singular = skin.inverse_deform(posed, matrices, return_singular=True)
    assert singular.dtype == bool
    np.testing.assert_array_equal(singular, crushed)
    np.testing.assert_array_equal(again, rest)
    np.testing.assert_allclose(rest, skin.rest_positions, atol=1e-13)


@pytest.mark.parametrize("method", METHODS)
def test_a_sculpted_pose_becomes_a_shape(method: Method) -> None:
    """Offsets on the posed mesh come back as offsets at rest, linear in each vertex and in no other."""
    skin, matrices = sbs.Skin(**skin_arguments(VERTICES, JOINTS, 3)), skinning_matrices(JOINTS)
    posed = skin.deform(matrices, method=method)
    offsets = np.random.default_rng(3).normal(size=posed.shape)
    offsets[::2] = 0
    rest, singular = skin.inverse_deform(posed + offsets, matrices, method=method, return_singular=True)
    twice, _ = skin.inverse_deform(posed + 2 * offsets, matrices, method=method, return_singular=True)
    fine = ~singular
    moved = (rest - skin.rest_positions)[fine]
    np.testing.assert_allclose((twice - skin.rest_positions)[fine], 2 * moved, atol=1e-9 * np.abs(moved).max())
    assert np.abs(moved[(offsets[fine] == 0).all(axis=1)]).max() < 1e-9
    if method in ("spherical", "dual_quaternion"):  # of rigid joints: a rotation, which keeps lengths
        np.testing.assert_allclose(
            np.linalg.norm(moved, axis=1), np.linalg.norm(offsets[fine], axis=1), rtol=1e-9, atol=1e-11
        )


def test_threads_types_and_layouts() -> None:
    skin, matrices = sbs.Skin(**skin_arguments(20_000, JOINTS, 4, np.float32)), skinning_matrices(JOINTS)
    posed = skin.deform(matrices)
    expected, expected_singular = skin.inverse_deform(posed, matrices, return_singular=True, threads=1)
    for same in (posed.astype(np.float64), np.asfortranarray(posed), np.repeat(posed, 2, axis=0)[::2]):
        for threads in (1, 2, None):
            rest, singular = skin.inverse_deform(same, matrices, return_singular=True, threads=threads)
            assert rest.tobytes() == expected.tobytes()
            assert singular.tobytes() == expected_singular.tobytes()
    out = np.empty_like(posed)
    assert skin.inverse_deform(posed, matrices, out=out) is out
    assert out.tobytes() == expected.tobytes()
    assert skin.inverse_deform(posed, matrices, out=posed) is posed
    assert posed.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"posed_positions": np.zeros((VERTICES, 2))}, "posed_positions"),
        ({"posed_positions": np.zeros((7, 3))}, r"posed_positions.*\(7, 3\)"),
        ({"posed_positions": np.full((VERTICES, 3), np.nan)}, r"posed_positions\[0, 0\] is nan"),
        ({"skinning_matrices": np.zeros((2, 4, 4))}, "skinning_matrices"),
        ({"skinning_matrices": np.full((JOINTS, 3, 4), np.inf)}, r"skinning_matrices\[0, 0, 0\] is inf"),
        ({"method": "cubic"}, "method"),
        ({"rcond": 0.0}, "rcond"),
        ({"amount": 2}, r"amount\[0\]"),
        ({"out": np.zeros((VERTICES, 3), np.float32)}, "out"),
    ],
)
def test_bad_values(changes: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"posed_positions": np.zeros((VERTICES, 3)), "skinning_matrices": skinning_matrices(JOINTS)}
    with pytest.raises(ValueError, match=message):
        sbs.Skin(**skin_arguments(VERTICES, JOINTS)).inverse_deform(**{**given, **changes})


def test_outputs_that_overlap_in_part() -> None:
    skin, matrices = sbs.Skin(**skin_arguments(VERTICES, JOINTS)), skinning_matrices(JOINTS)
    memory = np.zeros((VERTICES + 1, 3))
    with pytest.raises(ValueError, match="out shares memory with posed_positions"):
        skin.inverse_deform(memory[1:], matrices, out=memory[:-1])
    with pytest.raises(ValueError, match="out must be writeable"):
        skin.inverse_deform(memory[1:], matrices, out=skin._core.rest_positions.base)
    with pytest.raises(TypeError, match="posed_positions must hold real numbers"):
        skin.inverse_deform(memory[1:].astype(complex), matrices)
