# SPDX-License-Identifier: MIT
"""Drafted correctives: which joints are drafted, what drafts do to a bent knee and to fingers, errors."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import sbs
from sbs import _core
from sbs.correctives import Correctives, draft
from sbs.correctives.bends import find_groups
from sbs.correctives.draft import find_hinges
from sbs.correctives.drivers import find_coordinates
from sbs.correctives.patches import Surface
from sbs.poses import turned
from sbs.quality import Gauge
from sbs.quality.measures import bending_energy
from sbs.rigging.triangle_mesh import area_weighted_normals, diagonal

Floats = NDArray[np.float64]
DATA = Path(__file__).resolve().parents[1] / "data"


@cache
def knee() -> Correctives:
    return draft(sbs.samples.load("woman"), ["LeftLeg"], skin=sbs.samples.load("woman").skin)


def bent(degrees: float) -> Floats:
    woman = sbs.samples.load("woman")
    return woman.skinning_matrices(turned(woman.skeleton, "LeftLeg", (1, 0, 0), -degrees))


@pytest.mark.parametrize(
    ("name", "hinges", "others"),
    [
        ("woman", "LeftForeArm RightForeArm LeftLeg RightLeg LeftToeBase", "Hips Spine LeftArm LeftUpLeg Head"),
        ("Fox.glb", "b_LeftForeArm_010 b_LeftLeg02_016 b_LeftFoot01_017", "b_Spine01_02 b_Neck_04 b_LeftUpperArm_09"),
        ("Rat.glb", "FrontLowLeg.L BackLowLeg.R", ""),
    ],
)
def test_hinges(name: str, hinges: str, others: str) -> None:
    """By names where these tell, such as those of short legs, and else by the tree: the hock of a fox."""
    character = sbs.load(DATA / name) if "." in name else sbs.samples.load(name)
    names = {character.skeleton.names[joint] for joint in find_hinges(Surface(character))}
    assert set(hinges.split()) <= names
    assert set(others.split()) <= set(character.skeleton.names) - names


def test_a_foot_that_hangs_on_a_leg_is_carried() -> None:
    """The rig has its feet below the root, to be reached by inverse kinematics."""
    rat = sbs.load(DATA / "Rat.glb")
    surface = Surface(rat)
    leg, foot, root = (rat.skeleton.index(name) for name in ("BackLowLeg.L", "BackFoot.L", "root"))
    assert surface.parents[foot] == root
    assert set(np.flatnonzero(surface.below(leg))) == {leg, foot}
    assert np.array_equal(surface.tails[leg], surface.joints[foot])
    assert set(np.flatnonzero(surface.below(foot))) == {foot}


@pytest.mark.parametrize("degrees", [60, 120])
def test_a_knee_is_better(degrees: float) -> None:
    woman = sbs.samples.load("woman")
    gauge, pose = Gauge(woman), bent(degrees)
    plain, drafted = (
        np.asarray(woman.skin.deform(pose, correctives=correctives), np.float64)[gauge.surface.kept]
        for correctives in (None, knee())
    )
    assert gauge.surface_energy(drafted) < 0.6 * gauge.surface_energy(plain)
    assert bending_energy(gauge.surface, drafted) < bending_energy(gauge.surface, plain)


def test_targets_are_met_and_solved_again() -> None:
    skin = sbs.samples.load("woman").skin
    size = diagonal(skin.rest_positions)
    again = knee().copy()
    again.solve(skin, method="linear")
    for each in knee():
        assert each.target is not None
        assert each.target.vertices is not None
        goal = each.target.positions
        pose = each.target.skinning_matrices
        for posed in (skin.deform(pose, correctives=knee()), skin.deform(pose, method="linear", correctives=again)):
            missed = np.linalg.norm(posed[each.target.vertices] - goal, axis=1)
            assert np.quantile(missed, 0.99) < 1e-4 * size


def test_all_else_stays() -> None:
    woman = sbs.samples.load("woman")
    moved = np.unique(np.concatenate([each.shape.vertices for each in knee() if each.shape is not None]))
    assert len(moved) < 0.1 * woman.skin.vertex_count
    others = np.setdiff1d(np.arange(woman.skin.vertex_count), moved)
    assert np.array_equal(woman.skin.deform(bent(90), correctives=knee())[others], woman.skin.deform(bent(90))[others])
    rest = np.tile(np.eye(4), (len(woman.skeleton), 1, 1))
    assert np.array_equal(woman.skin.deform(rest, correctives=knee()), woman.skin.deform(rest))


def test_joints_bend_where_animations_do() -> None:
    """Each finger about its own axis: in the last moment of the fist a pose is as near as a cosine of 0.98."""
    hand = sbs.samples.load("hand")
    fist = hand.animations[0]
    names = [f"{finger}-finger-phalanx-proximal" for finger in ("index", "middle", "ring", "pinky")]
    told: list[float] = []
    found = draft(hand, names, progress=told.append)
    assert (told[0], told[-1]) == (0, 1)
    assert told == sorted(told)
    surface = Surface(hand)
    groups = [{hand.skeleton.names[joint] for joint in group} for group in find_groups(surface, find_hinges(surface))]
    assert set(names) in groups  # they bend together
    assert all(len(group) == 1 for group in groups if group != set(names))
    assert [each.name for each in found if each.driver.joints == (names[3],)] == [
        f"{names[3]} {degrees}" for degrees in (45, 90, 130)
    ]
    for each in found:
        swing = find_coordinates(hand.skeleton, each.driver, fist.skinning_matrices([fist.duration])[0])[0]
        axis = each.coordinates[0] / np.linalg.norm(each.coordinates[0])
        assert swing @ axis > 0.98 * np.linalg.norm(swing)


def test_errors() -> None:
    hand = sbs.samples.load("hand")
    with pytest.raises(ValueError, match="is a root"):
        draft(hand, [int(np.flatnonzero(hand.skeleton.parents < 0)[0])])
    with pytest.raises(KeyError):
        draft(hand, ["none such"])
    with pytest.raises(ValueError, match="method has no effect without skin"):
        draft(hand, method="linear")

    def stop(done: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        draft(hand, progress=stop)


def booted() -> tuple[sbs.Character, NDArray[np.intp], NDArray[np.int32]]:
    """The woman in a boot up to the knee, a mesh of its own; the vertices of skin in it, and the boot's triangles."""
    woman = sbs.samples.load("woman")
    mesh, joint = woman.mesh, woman.skeleton.index("LeftLeg")
    positions, triangles = np.asarray(mesh.positions, np.float64), mesh.triangles
    knee, ankle = woman.skeleton.joint_positions[[joint, woman.skeleton.index("LeftFoot")]]
    along = (positions - knee) @ (ankle - knee) / ((ankle - knee) @ (ankle - knee))
    is_shin = (along > 0.2) & (along < 0.6) & (np.linalg.norm(positions - knee, axis=1) < np.linalg.norm(ankle - knee))
    chosen = triangles[is_shin[triangles].all(axis=1)]
    covered, corners = np.unique(chosen, return_inverse=True)
    apart = 0.003 * diagonal(positions)
    boot = positions[covered] + apart * area_weighted_normals(positions, triangles)[covered]
    boot_triangles = corners.reshape(-1, 3).astype(np.int32) + len(positions)
    joined = sbs.Mesh(
        np.concatenate([positions, boot]),
        np.concatenate([triangles, boot_triangles]),
        np.concatenate([mesh.joint_indices, mesh.joint_indices[covered]]),
        np.concatenate([mesh.joint_weights, mesh.joint_weights[covered]]),
    )
    return sbs.Character.from_mesh(joined, woman.skeleton), covered, boot_triangles


def test_a_boot_covers_the_leg() -> None:
    character, covered, boot = booted()
    skin = character.skin
    found = draft(character, ["LeftLeg"], skin=skin)
    assert len(found) > 2
    for each in found:
        assert each.target is not None
        posed = np.asarray(skin.deform(each.target.skinning_matrices, correctives=found), np.float64)
        nearest, shares, distances = _core.nearest_on_surface(posed, boot, posed[covered])
        corners = posed[boot[nearest]]
        outward = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        beyond = np.einsum("vx,vx->v", posed[covered] - np.einsum("vc,vcx->vx", shares, corners), outward) > 0
        assert not (beyond & (distances > 1e-4 * diagonal(posed))).any(), each.name
