# SPDX-License-Identifier: MIT
"""Drafted correctives: which joints are drafted, what drafts do to a bent knee and to fingers, errors."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from surfaces import chain
from surfaces import tube as tube_surface

import sbs
from sbs import _core
from sbs.correctives import Correctives, draft, draft_all
from sbs.correctives.bends import find_groups
from sbs.correctives.draft import find_hinges
from sbs.correctives.drivers import find_coordinates
from sbs.correctives.patches import Surface
from sbs.options import AnyFloats
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


def test_drafts_are_for_the_method_of_the_file() -> None:
    """By which `Character.deform` deforms: so it meets the targets."""
    woman = replace(sbs.samples.load("woman"), options={"method": "dual_quaternion"})
    drafted = draft(woman, ["LeftLeg"])
    for each in drafted:
        assert each.target is not None
        posed = woman.deform(each.target.skinning_matrices, correctives=drafted)[each.target.vertices]
        missed = np.linalg.norm(posed - each.target.positions, axis=1)
        assert np.quantile(missed, 0.99) < 1e-4 * diagonal(woman.mesh.positions)


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


@cache
def ball() -> sbs.Character:
    """A tube of two bones whose joint has a second child, so that it is no hinge."""
    positions, triangles = tube_surface(rings=25, sides=12)
    heads, _ = chain(2)
    bind = np.tile(np.eye(4), (3, 1, 1))
    bind[:, :3, 3] = [*heads, heads[1] + [1.0, 0.0, 0.0]]
    share = np.clip((positions[:, 0] - 2.4) / 1.2, 0, 1)
    joints = np.tile(np.array([0, 1], np.int32), (len(positions), 1))
    mesh = sbs.Mesh(positions, triangles, joints, np.stack([1 - share, share], axis=1))
    return sbs.Character.from_mesh(mesh, sbs.Skeleton([-1, 0, 1], bind))


def swelling(matrices: Floats, positions: AnyFloats) -> AnyFloats:
    """Skin that is moved outward near the joint, the more, the more it is bent."""
    near = np.exp(-((ball().mesh.positions[:, 0] - 3.0) ** 2))
    outward = ball().mesh.positions * [0.0, 0.1, 0.1] @ matrices[0, :3, :3].T
    found: AnyFloats = positions + near[:, None] * np.linalg.norm(matrices[1, :3, :3] - np.eye(3)) * outward
    return found


def around(axis: tuple[float, float, float], degrees: float) -> Floats:
    return ball().skinning_matrices(turned(ball().skeleton, 1, axis, degrees))


def error_at(pose: Floats, correctives: Correctives | None) -> float:
    skin = ball().skin
    plain = skin.deform(pose)
    return float(np.linalg.norm(skin.deform(pose, correctives=correctives) - swelling(pose, plain)))


def test_a_ball_is_drafted_in_all_directions() -> None:
    found = draft_all(ball(), relax=swelling, skin=ball().skin, error=0.0)
    assert found.error < 0.2 * found.error_before
    axes = np.stack([each.coordinates[0] for each in found.correctives])
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    assert np.linalg.matrix_rank(axes, tol=0.5) == 2
    assert axes @ axes[0] == pytest.approx(np.round(axes @ axes[0]), abs=1e-6)  # four directions, at right angles
    assert abs(axes[:, 0]).max() < 1e-6  # none is a twist
    for axis in ((0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0.7, 0.7)):
        pose = around(axis, 60)
        assert error_at(pose, found.correctives) < 0.5 * error_at(pose, None)


def test_a_control_at_the_place_of_its_parent_is_not_drafted() -> None:
    """As in rigs of Rigify, whose controls become joints: it has no bone, so no direction to bend in."""
    positions, triangles = tube_surface(rings=25, sides=12)
    middle = positions[:, 0].mean()
    bind = np.tile(np.eye(4), (4, 1, 1))
    bind[:, 0, 3] = middle + np.array([0.0, 0.0, 1.5, -1.5])
    skeleton = sbs.Skeleton([-1, 0, 0, 0], bind, names=["root", "control", "left", "right"])
    right, left = (np.clip(0.5 + side * (positions[:, 0] - middle), 0, 1) for side in (-1, 1))
    shares = np.stack([0.5 - np.abs(left - 0.5), left, right], axis=1)
    shares /= shares.sum(axis=1, keepdims=True)
    mesh = sbs.Mesh(positions, triangles, np.tile(np.array([1, 2, 3], np.int32), (len(positions), 1)), shares)
    character = sbs.Character.from_mesh(mesh, skeleton)
    found = draft_all(character, relax=lambda matrices, posed: 1.01 * posed, skin=character.skin)
    assert {each.name.split()[0] for each in found.correctives} == {"left", "right"}
    with pytest.raises(ValueError, match="control"):
        draft_all(character, ["control"], skin=character.skin)


def test_shapes_that_are_missed_least_are_left_out() -> None:
    many, few, some = (
        draft_all(ball(), relax=swelling, skin=ball().skin, **options)
        for options in ({"error": 0.0}, {"shapes": 3}, {"error": 0.5})
    )
    assert len(few.correctives) == 3
    assert len(few.correctives) <= len(some.correctives) < len(many.correctives)
    assert many.error < some.error <= 0.55 * some.error_before  # the share is kept to before shapes are refined
    assert some.error < few.error < few.error_before


def test_drafts_of_all_joints_are_solved_again() -> None:
    """Targets are those of the shapes that were refined, so `solve` finds these."""
    skin = ball().skin
    found = draft_all(ball(), relax=swelling, skin=skin, error=0.0).correctives
    again = found.copy()
    again.solve(skin)
    pose = around((0, 1, 0), 70)
    moved = np.abs(skin.deform(pose, correctives=found) - skin.deform(pose)).max()
    assert moved > 0
    # Solving takes the weights of other shapes into account as well as can be, and drops what rounding makes.
    assert np.abs(skin.deform(pose, correctives=found) - skin.deform(pose, correctives=again)).max() < 0.01 * moved


def test_drafts_meet_animations() -> None:
    """In a fist all joints are bent at once, which no drafted pose is."""
    hand = sbs.samples.load("hand")
    skin, fist = hand.skin, hand.animations[0]
    near = hand.mesh.positions - hand.skeleton.joint_positions.mean(axis=0)

    def swell(matrices: Floats, positions: AnyFloats) -> AnyFloats:
        parents = np.maximum(hand.skeleton.parents, 0)
        turns = np.linalg.norm(matrices[:, :, :3] - matrices[parents][:, :, :3], axis=(1, 2)).sum()
        found: AnyFloats = positions + 0.02 * turns * near @ matrices[0, :, :3].T
        return found

    found = draft_all(hand, relax=swell, skin=skin)
    pose = fist.skinning_matrices([0.9 * fist.duration])[0]
    plain = skin.deform(pose)
    goal = swell(pose[:, :3], plain)
    assert np.linalg.norm(skin.deform(pose, correctives=found.correctives) - goal) < 0.5 * np.linalg.norm(plain - goal)


def test_errors_of_drafts_of_all_joints() -> None:
    with pytest.raises(ValueError, match="shapes and error"):
        draft_all(ball(), shapes=3, error=0.1)
    with pytest.raises(ValueError, match="shapes must be at least 1, not 0"):
        draft_all(ball(), shapes=0)
    with pytest.raises(ValueError, match="error must be"):
        draft_all(ball(), error=1.0)
    with pytest.raises(ValueError, match=r"relax must return .*\(302, 3\)"):
        draft_all(ball(), relax=lambda matrices, positions: positions[1:])
    with pytest.raises(KeyError):
        draft_all(ball(), ["none such"])
