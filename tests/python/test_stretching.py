# SPDX-License-Identifier: MIT
"""Joints that stretch, shear, mirror or collapse: results stay near linear blending, exact and continuous."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import TypedDict

import characters
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meshes import Precision, skin_arguments

import sbs
from sbs import rotations
from sbs.options import Center, MethodOptions, Rotation


class CentersAndRotations(TypedDict):
    """Options of spherical blending."""

    center: Center
    rotation: Rotation


CHARACTERS = ["hand_webxr", "arnaud_ozz", "wolf_quaternius", "knight_kaykit"]
STRETCHES = [0.001, 0.01, 0.027, 0.09, 0.27, 0.5]
POSES = 10
DTYPES = [np.float64, np.float32]

SPHERICAL: list[CentersAndRotations] = [
    {"center": "joint_set", "rotation": "qlerp"},
    {"center": "joint_set", "rotation": "average"},
    {"center": "weighted", "rotation": "qlerp"},
    {"center": "weighted", "rotation": "average"},
]
METHODS: list[MethodOptions] = [
    *(MethodOptions(center=options["center"], rotation=options["rotation"]) for options in SPHERICAL),
    {"method": "dual_quaternion"},
]


@functools.cache
def bound_skin(name: str, dtype: type) -> sbs.Skin:
    """Every third vertex of a character."""
    character = characters.load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sbs.WeightWarning)
        return sbs.Skin(
            character.rest_positions[::3].astype(dtype),
            character.joint_indices[::3],
            character.joint_weights[::3].astype(dtype),
            parents=character.parents,
            joint_positions=character.joint_positions,
        )


def mesh_size(skin: sbs.Skin) -> float:
    return float(np.linalg.norm(np.ptp(skin.rest_positions.astype(np.float64), axis=0)))


def turned_by(name: str, seed: int, most_degrees: float = 40) -> np.ndarray:
    """Rigid matrices (J, 4, 4): every joint turned about where it sits."""
    character = characters.load(name)
    generator = np.random.default_rng(seed)
    bind = np.tile(np.eye(4), (len(character.parents), 1, 1))
    bind[:, :3, 3] = character.joint_positions
    skeleton = sbs.Skeleton(character.parents, bind)
    axes = generator.normal(size=(len(bind), 3))
    degrees = generator.uniform(-most_degrees, most_degrees, len(bind))
    local = rotations.matrices_from_axis_angle(axes, degrees, degrees=True)
    return skeleton.skinning_matrices(skeleton.forward(local))


def stretched(name: str, seed: int, most: float) -> np.ndarray:
    """The same, the columns of each joint scaled by 1 to 1 + most: joints do not stay where they meet."""
    matrices = turned_by(name, seed)
    matrices[:, :3, :3] *= 1 + most * np.random.default_rng(1000 + seed).random((len(matrices), 1, 3))
    return matrices


def farthest(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(a.astype(np.float64) - b, axis=1).max())


@pytest.mark.parametrize("name", CHARACTERS)
@pytest.mark.parametrize("most", STRETCHES)
def test_no_farther_from_linear_than_dual_quaternions(name: str, most: float) -> None:
    """Rotation methods part from linear blending by how joints turn: as far as dual quaternions do, or nearly.

    Centers that were fixed points of the stretched joints themselves threw vertices of the hand by twice its size.
    """
    skin = bound_skin(name, np.float64)
    apart = np.zeros((len(SPHERICAL), POSES))
    dual_quaternion_distances = np.zeros(POSES)
    for seed in range(POSES):
        matrices = stretched(name, seed, most)
        linear = skin.deform(matrices, method="linear")
        dual_quaternion_distances[seed] = farthest(skin.deform(matrices, method="dual_quaternion"), linear)
        apart[:, seed] = [farthest(skin.deform(matrices, **options), linear) for options in SPHERICAL]
    assert (apart <= 2 * dual_quaternion_distances).all()


@pytest.mark.parametrize("options", SPHERICAL, ids=str)
@pytest.mark.parametrize("name", CHARACTERS)
def test_continuous_where_joints_begin_to_stretch(name: str, options: CentersAndRotations) -> None:
    """Also where |A^T A - I| passes 1e-5, up to which a joint is rigid."""
    skin, size = bound_skin(name, np.float64), mesh_size(bound_skin(name, np.float64))
    rigid = skin.deform(turned_by(name, 1), **options)
    for most in (1e-7, 1e-6, 2e-6, 4e-6, 8e-6, 2e-5, 1e-4, 1e-3):
        # Vertices and joints are within a few sizes of the origin, which columns are scaled about.
        assert farthest(skin.deform(stretched(name, 1, most), **options), rigid) <= 10 * most * size


def arm(angle: float, scales: tuple[float, float, float], slide: float = 0) -> tuple[sbs.Skin, np.ndarray, np.ndarray]:
    """A vertex ring above the elbow at the origin; the forearm scaled, turned about z by degrees, and slid along y."""
    around = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    rest = np.stack([0 * around + 0.1, np.cos(around), np.sin(around)], axis=1)
    weights = np.tile([0.5, 0.5], (12, 1))
    skin = sbs.Skin(
        rest, np.tile([0, 1], (12, 1)), weights, parents=[-1, 0], joint_positions=np.array([[-3.0, 0, 0], [0, 0, 0]])
    )
    matrices = np.tile(np.eye(4), (2, 1, 1))
    matrices[1, :3, :3] = rotations.matrices_from_axis_angle([0, 0, 1], angle, degrees=True) @ np.diag(scales)
    matrices[1, 1, 3] = slide
    return skin, rest, matrices


@pytest.mark.parametrize("angle", [0, 1e-3, 30, 90, 170])
def test_a_stretched_joint_turns_about_where_it_sits(angle: float) -> None:
    """By hand: blended stretch, then half the angle; nothing jumps where the joint begins to slide."""
    skin, rest, matrices = arm(angle, (1.5, 1.5, 0.7))
    half = rotations.matrices_from_axis_angle([0, 0, 1], angle / 2, degrees=True)
    expected = rest @ (half @ np.diag([1.25, 1.25, 0.85])).T
    np.testing.assert_allclose(skin.deform(matrices), expected, rtol=0, atol=1e-15 * 8)
    assert skin.pose_report(matrices).solves == 0
    for slide in (1e-15, 1e-14, 1e-12, 1e-9, 1e-6, 1e-3):
        _, _, slid = arm(angle, (1.5, 1.5, 0.7), slide)
        np.testing.assert_allclose(skin.deform(slid), expected, rtol=0, atol=2 * slide + 1e-14)


@pytest.mark.parametrize("distance", [10, 1000])
@pytest.mark.parametrize("options", METHODS, ids=str)
def test_where_the_origin_is_does_not_matter(distance: int, options: MethodOptions) -> None:
    """Mesh, joints and what they move about, all shifted alike."""
    shift = distance * np.array([1.0, -0.5, 0.25])
    arguments = skin_arguments(60, 5, 4)
    matrices = np.tile(np.eye(4), (5, 1, 1))
    generator = np.random.default_rng(2)
    matrices[:, :3, :] = generator.normal(size=(5, 3, 4))
    expected = sbs.Skin(**arguments).deform(matrices, **options)
    arguments["rest_positions"] = arguments["rest_positions"] + shift
    arguments["joint_positions"] = arguments["joint_positions"] + shift
    matrices[:, :3, 3] -= matrices[:, :3, :3] @ shift
    # Damped directions grow what coordinates lose by up to 1 / (2 sqrt(1e-8)).
    found = sbs.Skin(**arguments).deform(matrices, **options)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15 * distance * 1e4)


# ------------------------------------------------------------------------------------------------------- any matrices

KINDS = ["normal", "rotation", "stretch", "shear", "mirror", "flat", "line", "point", "tiny", "huge", "nearly rigid"]


def linear_part(kind: str, generator: np.random.Generator) -> np.ndarray:
    """Return a 3x3 matrix of some kind."""
    turn = rotations.matrices_from_quaternions(generator.normal(size=4))
    makers: dict[str, Callable[[], np.ndarray]] = {
        "normal": lambda: generator.normal(size=(3, 3)),
        "rotation": lambda: turn,
        "stretch": lambda: turn @ np.diag(10 ** generator.uniform(-2, 2, 3)),
        "shear": lambda: turn @ (np.eye(3) + np.triu(generator.normal(size=(3, 3)), 1)),
        "mirror": lambda: turn @ np.diag([-1.0, 1, 1]) * generator.uniform(0.5, 2),
        "flat": lambda: turn @ np.diag([1.0, generator.uniform(0.5, 2), 10 ** generator.uniform(-18, -2)]),
        "line": lambda: turn @ np.diag([1.0, 0, 10 ** generator.uniform(-18, -2)]),
        "point": lambda: np.zeros((3, 3)),
        "tiny": lambda: turn * 10 ** generator.uniform(-30, -3),
        "huge": lambda: turn * 10 ** generator.uniform(3, 15),
        "nearly rigid": lambda: turn @ (np.eye(3) + generator.normal(size=(3, 3)) * 10 ** generator.uniform(-9, -3)),
    }
    return makers[kind]()


@settings(max_examples=400)
@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.sampled_from(KINDS), min_size=2, max_size=6),
    st.sampled_from(SPHERICAL),
    st.sampled_from(DTYPES),
    st.booleans(),
    st.floats(-9, 0),
)
def test_any_affine_matrices_give_what_is_near_linear_blending(
    seed: int, kinds: list[str], options: CentersAndRotations, dtype: Precision, placed: bool, exponent: float
) -> None:
    """Nearly equal rotations, too: all turn from a common one by up to 10**exponent radians, or by anything."""
    generator = np.random.default_rng(seed)
    joints = len(kinds)
    arguments = skin_arguments(30, joints, int(generator.integers(1, min(joints, 4) + 1)), dtype, seed=seed)
    if not placed:
        del arguments["joint_positions"], arguments["parents"]
    matrices = np.tile(np.eye(4), (joints, 1, 1))
    matrices[:, :3, 3] = generator.normal(size=(joints, 3))
    common = rotations.matrices_from_quaternions(generator.normal(size=4))
    for joint, kind in enumerate(kinds):
        matrices[joint, :3, :3] = linear_part(kind, generator)
        if seed % 2:
            matrices[joint, :3, :3] = common @ (
                linear_part("nearly rigid", generator)
                + 10**exponent * generator.normal(size=(3, 3)) * generator.integers(0, 2)
            )
    skin = sbs.Skin(**arguments, joint_count=joints)
    linear = skin.deform(matrices, method="linear").astype(np.float64)
    found = skin.deform(matrices, **options).astype(np.float64)
    assert np.isfinite(found).all()
    # How far a vertex, with what its joints stretch about, can go: f is within the mesh or where the joints sit.
    reach = np.linalg.norm(arguments["rest_positions"], axis=1).max()
    if placed:
        reach = max(reach, np.linalg.norm(arguments["joint_positions"], axis=1).max())
    most = (
        2 * reach * np.linalg.norm(matrices[:, :3, :3], axis=(1, 2)).max()
        + np.linalg.norm(matrices[:, :3, 3], axis=1).max()
    )
    assert farthest(found, linear) <= 4 * most


@settings(max_examples=100)
@given(
    st.integers(0, 2**32 - 1), st.lists(st.sampled_from(KINDS[:9]), min_size=3, max_size=6), st.sampled_from(SPHERICAL)
)
def test_normals_of_any_matrices_are_unit_or_zero(seed: int, kinds: list[str], options: CentersAndRotations) -> None:
    generator = np.random.default_rng(seed)
    matrices = np.tile(np.eye(4), (len(kinds), 1, 1))
    for joint, kind in enumerate(kinds):
        matrices[joint, :3, :3] = linear_part(kind, generator)
    skin = sbs.Skin(**skin_arguments(30, len(kinds), 3, seed=seed, normals=True))
    _, normals = skin.deform(matrices, normals=True, **options)
    lengths = np.linalg.norm(normals, axis=1)
    assert ((np.abs(lengths - 1) < 1e-12) | (lengths == 0)).all()
