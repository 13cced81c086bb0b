# SPDX-License-Identifier: MIT
"""Which bones a twist is spread along: on rigs as they come, and on small ones that are made for one reason each."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import ANY

import numpy as np
import pytest
from numpy.typing import NDArray
from solids import arm, tube

import sbs
from sbs.samples import load as load_sample

DATA = Path(__file__).parents[1] / "data"
SIDES = ("Left", "Right")
HUMAN = {f"{side}{part}" for side in SIDES for part in ("Arm", "ForeArm", "UpLeg", "Leg")}


Floats = NDArray[np.float64]
Joints = list[tuple[str, str | None, tuple[float, float, float]]]


def spread(bones: tuple[sbs.TwistBone, ...]) -> set[str]:
    return {bone.name for bone in bones if bone.spread}


def reasons(bones: tuple[sbs.TwistBone, ...]) -> dict[str, str]:
    return {bone.name: bone.reason for bone in bones}


# ---------------------------------------------------------------------------------------------------- rigs as they come


def test_a_woman_has_arms_and_legs() -> None:
    bones = sbs.twist_bones(load_sample("woman"))
    assert spread(bones) == HUMAN
    assert [bone.joint for bone in bones] == list(range(len(bones)))
    why = reasons(bones)
    assert why["LeftForeArm"].startswith("a limb, ")
    assert why["Spine1"] == "trunk, by its name: 'spine'"
    assert why["LThumb"] == "0 joints at its end, where a limb has one"
    assert why["LeftToeBase"] == "a toe, by its name: 'toe'"
    assert why["LeftFoot"] == "no limb, by its name: 'foot'"
    assert why["Hips"].startswith("a root")


def test_a_twist_is_spread_along_one_bone() -> None:
    """That of the forearm along the forearm, so not along the upper arm, too; that of the hand along the forearm."""
    woman = load_sample("woman")
    bones = {bone.name: bone for bone in sbs.twist_bones(woman)}
    assert bones["LeftArm"].child == -1
    assert woman.skeleton.names[bones["LeftForeArm"].child] == "LeftHand"
    assert woman.skeleton.names[bones["LeftLeg"].child] == "LeftFoot"
    assert {bone.child for bone in bones.values() if not bone.spread} == {-1}


def test_fingers_but_for_their_tips() -> None:
    """Of the hand all that is longer than two radii: not the thumb's metacarpal."""
    hand = load_sample("hand")
    bones = sbs.twist_bones(hand)
    fingers = {f"{finger}-finger-phalanx" for finger in ("index", "middle", "ring", "pinky")}
    metacarpals = {finger.replace("phalanx", "metacarpal") for finger in fingers}
    parts = {f"{finger}-{part}" for finger in fingers for part in ("proximal", "intermediate")}
    assert spread(bones) == metacarpals | parts | {"thumb-phalanx-proximal"}
    why = reasons(bones)
    assert why["index-finger-phalanx-proximal"] == "a finger, 4.2 radii long"
    assert why["thumb-metacarpal"] == "short: 1.9 radii of its limb"
    # Each twist once: that of the tip along the bone before it.
    children = {bone.name: bone.child for bone in bones}
    assert children["index-finger-phalanx-proximal"] == -1
    assert hand.skeleton.names[children["index-finger-phalanx-intermediate"]] == "index-finger-phalanx-distal"


def test_limbs_are_found_without_names() -> None:
    """Then a foot that is as long as two radii is one, too; no finger, no spine and no head."""
    woman = load_sample("woman")
    names = woman.skeleton.names
    plain = sbs.Skeleton(woman.skeleton.parents, woman.skeleton.bind_matrices)
    bones = sbs.twist_bones(sbs.Character.from_mesh(woman.mesh, plain))
    found = {names[bone.joint] for bone in bones if bone.spread}
    assert found >= HUMAN
    assert found - HUMAN <= {f"{side}{part}" for side in SIDES for part in ("Foot", "Shoulder")}


def test_animals() -> None:
    """Names that are the same but for numbers divide no leg that bends, and no tail; IK feet are no limbs."""
    fox = sbs.twist_bones(sbs.load(DATA / "Fox.glb"))
    assert spread(fox) >= {"b_LeftLeg01_015", "b_LeftLeg02_016", "b_RightForeArm_07"}
    assert {name for name in spread(fox) if "Tail" in name} == {"b_Tail02_013"}
    assert not [name for name in spread(fox) if "Spine" in name or "Foot" in name]
    rat = sbs.twist_bones(sbs.load(DATA / "Rat.glb"))
    assert {name for name in spread(rat) if "Tail" in name} == {f"Tail{number}" for number in range(2, 7)}
    assert reasons(rat)["Tail7"] == "0 joints at its end, where a limb has one"


# ------------------------------------------------------------------------------------------------------ one reason each


def rig(joints: Joints, radius: float = 0.3) -> sbs.Character:
    """Joints by name, parent and place, and around each bone that goes to a child a tube that follows it."""
    names = [name for name, _, _ in joints]
    parents = [-1 if parent is None else names.index(parent) for _, parent, _ in joints]
    places = np.array([place for _, _, place in joints], float)
    bind = np.tile(np.eye(4), (len(joints), 1, 1))
    bind[:, :3, 3] = places
    points, triangles, owners, count = [], [], [], 0
    for joint, parent in enumerate(parents):
        if parent < 0 or not np.linalg.norm(places[joint] - places[parent]) > 0:
            continue
        line = places[joint] - places[parent]
        ring, faces = tube(rings=8, sides=12, length=1.0, radius=1.0)
        across = np.linalg.svd(line[None])[2][1:]
        shape = (ring[:, :1] + 0.5) * line + radius * (ring[:, 1:2] * across[0] + ring[:, 2:] * across[1])
        points.append(places[parent] + shape)
        triangles.append(faces + count)
        owners += [parent] * len(ring)
        count += len(ring)
    for joint in range(len(joints)):  # so that each joint moves something
        points.append(places[joint] + np.array([[0, 0, 0], [1e-3, 0, 0], [0, 1e-3, 0]]))
        triangles.append(np.array([[0, 1, 2]], np.int32) + count)
        owners += [joint] * 3
        count += 3
    mesh = sbs.Mesh(
        np.concatenate(points),
        np.concatenate(triangles).astype(np.int32),
        np.array(owners, np.int32)[:, None],
        np.ones((count, 1)),
    )
    return sbs.Character.from_mesh(mesh, sbs.Skeleton(parents, bind, names=names))


LIMB: Joints = [
    ("a", None, (0, 0, 0)),
    ("b", "a", (1, 0, 0)),
    ("c", "b", (4, 0, 0)),
    ("d", "c", (4, 0.5, 0)),
]


def called(name: str) -> Joints:
    """The limb, whose bone `b` has another name."""
    return [(name if joint == "b" else joint, name if above == "b" else above, place) for joint, above, place in LIMB]


def in_line(one: str, two: str) -> Joints:
    """Two joints in one line, then one that bends."""
    return [LIMB[0], (one, "a", (1, 0, 0)), (two, one, (4, 0, 0)), ("c", two, (7, 0, 0)), ("d", "c", (7, 0.5, 0))]


@pytest.mark.parametrize("name", ["BackUpLeg.L", "Back_Leg_R", "neck_01", "Tail"])
def test_back_legs_long_necks_and_tails(name: str) -> None:
    """A back leg is no back, and a long bone that bends at its end can twist whatever its name is."""
    assert spread(sbs.twist_bones(rig(called(name)))) == {name}


@pytest.mark.parametrize(
    ("joints", "radius", "expected"),
    [
        (LIMB, 0.3, {"b": "a limb, 10.0 radii long"}),
        (LIMB, 1.6, {"b": "short: 1.9 radii of its limb"}),
        (called("Tail"), 1.6, {"Tail": "short: 1.9 radii of its limb"}),
        (called("LowerBack"), 0.3, {"LowerBack": "trunk, by its name: 'back'"}),
        (LIMB[:3], 0.3, {"c": "0 joints at its end, where a limb has one"}),
        (
            [*LIMB, ("c2", "b", (4.0, 0.2, 0.0)), ("c3", "b", (4.0, -0.2, 0.0))],
            0.3,
            {"b": "3 joints at its end, where a limb has one"},
        ),
        # On the bone between its ends, whatever it is called.
        *(
            ([*LIMB, ("helper", above, (2.5, 0, 0))], 0.3, {"b": "the rig divides it: 'helper'"})
            for above in ("a", "b")
        ),
        (
            [*LIMB, ("f", "a", (0, 1, 0)), ("g", "f", (0, 1.5, 0)), ("h", "g", (0, 1.5, 0.5))],
            0.1,
            {"f": "small beside the longest limb: 17%"},
        ),
        *(
            (
                in_line(one, two),
                0.3,
                {
                    one: f"the rig divides the limb: {two!r} is in line with it",
                    two: f"the rig divides the limb: {one!r} is in line with it",
                },
            )
            for one, two in (("DEF-upper_arm.L", "DEF-upper_arm.L.001"), ("thigh01", "thigh02"), ("part1", "part2"))
        ),
        # They bend at each of their joints.
        *(
            (in_line(one, two), 0.3, {one: ANY, two: ANY})
            for one, two in (("Tail1", "Tail2"), ("neck_01", "neck_02"), ("f_index.01.L", "f_index.02.L"))
        ),
    ],
)
def test_one_reason_each(joints: Joints, radius: float, expected: dict[str, Any]) -> None:
    """Any reason stands for a bone that a twist is spread along."""
    bones = sbs.twist_bones(rig(joints, radius))
    assert {name: reasons(bones)[name] for name in expected} == expected
    limbs = {name for name, reason in expected.items() if reason is ANY or reason.startswith("a limb")}
    assert spread(bones) & expected.keys() == limbs


@pytest.mark.parametrize("name", ["b_twist_01", "LowerArmTwist", "uparmtwist", "b_roll.L"])
def test_twist_joints_by_name(name: str) -> None:
    """Where they stand does not matter: at the head, as in many engines, too."""
    for place in ((1.0, 0.0, 0.0), (2.5, 0.0, 0.0)):
        bones = sbs.twist_bones(rig([*LIMB, (name, "b", place)]))
        assert reasons(bones)["b"] == f"the rig divides it: {name!r}"
        assert reasons(bones)[name] == "a twist joint, by its name"


@pytest.mark.parametrize(("length", "found"), [(0.5, set()), (1.0, {"index0", "index1", "ring0", "ring1"})])
def test_fingers_beside_a_forearm(length: float, found: set[str]) -> None:
    """It is no trunk for that they hang on it, and they are limbs if they are a quarter as long."""
    joints: Joints = [*LIMB[:2], ("Hand", "b", (4, 0, 0))]
    for number, name in enumerate(("index", "ring", "toe", "lip")):
        for part in range(3):
            above = f"{name}{part - 1}" if part else "Hand"
            joints.append((f"{name}{part}", above, (4.5 + length * part, 0.5 * number - 1, 0)))
    bones = sbs.twist_bones(rig(joints, radius=0.1))
    assert spread(bones) == {"b"} | found


def test_a_leg_of_numbers_that_bends_is_two_limbs() -> None:
    joints: Joints = [LIMB[0], ("x1", "a", (1, 0, 0)), ("x2", "x1", (4, 0, 0)), ("c", "x2", (6.5, 1.5, 0))]
    assert spread(sbs.twist_bones(rig([*joints, ("d", "c", (7, 1.5, 0))]))) == {"x1", "x2"}


def test_what_limbs_hang_on_is_trunk() -> None:
    """By the tree alone: a long bone at whose end, after another joint, two limbs begin."""
    joints: Joints = [("root", None, (0, -1, 0)), ("s", "root", (0, 0, 0)), ("t", "s", (0, 4, 0))]
    for side in (-1, 1):
        joints += [
            (f"p{side}", "t", (side, 4, 0)),
            (f"q{side}", f"p{side}", (side * 4, 4, 0)),
            (f"r{side}", f"q{side}", (side * 4, 4.5, 0)),
        ]
    bones = sbs.twist_bones(rig(joints))
    assert spread(bones) == {"p-1", "p1"}
    assert reasons(bones)["s"] == "trunk: more than one limb hangs on it"


def test_joints_that_move_nothing_do_not_count() -> None:
    """The hand of the arm has no weights, and its forearm is the last that has."""
    why = reasons(sbs.twist_bones(arm()))
    assert why["hand"] == "no vertex follows it most"
    assert why["fore"] == "0 joints at its end, where a limb has one"


# ------------------------------------------------------------------------------------------------ amounts across joints


def amounts(joints: Joints, *shares: dict[str, float], spread: tuple[str, ...] = ()) -> Floats:
    """What `twist_amounts` gives vertices of these shares of joints, with 0.25 across joints."""
    character = rig(joints)
    names = character.skeleton.names
    weights = np.array([[share.get(name, 0.0) for name in names] for share in shares])
    weights = np.concatenate([weights, np.eye(len(names))])  # so that each joint moves something
    mesh = sbs.Mesh(
        np.zeros((len(weights), 3)),
        np.empty((0, 3), np.int32),
        np.broadcast_to(np.arange(len(names), dtype=np.int32), weights.shape),
        weights,
    )
    other = sbs.Character.from_mesh(mesh, character.skeleton)
    found = sbs.twist_amounts(other, sbs.limb_twist(other, spread), 0.25)
    if not spread:
        np.testing.assert_array_equal(sbs.twist_amounts(other, across=0.25), found)
    return found[: len(shares)]


def test_amounts_without_limbs_are_those_across_joints() -> None:
    hand = load_sample("hand")
    np.testing.assert_allclose(sbs.twist_amounts(hand), 0.35, atol=1e-12)
    none = sbs.limb_twist(hand, [])
    np.testing.assert_allclose(sbs.twist_amounts(hand, none, 0.5), 0.5, atol=1e-12)


RIGIFY: Joints = [
    ("DEF-shoulder.L", None, (0, 0, 0)),
    ("DEF-upper_arm.L", "DEF-shoulder.L", (1, 0, 0)),
    ("DEF-upper_arm.L.001", "DEF-upper_arm.L", (3, 0, 0)),
    ("DEF-forearm.L", "DEF-upper_arm.L.001", (5, 0, 0)),
    ("DEF-forearm.L.001", "DEF-forearm.L", (7, 0, 0)),
    ("DEF-hand.L", "DEF-forearm.L.001", (9, 0, 0)),
]


UPPER, LOWER, FORE, WRIST = (name for name, _, _ in RIGIFY[1:5])


@pytest.mark.parametrize(
    ("joints", "spread", "shares", "expected"),
    [
        (
            RIGIFY,
            (),
            [
                *({UPPER: 0.5, LOWER: 0.5}, {FORE: 0.3, WRIST: 0.7}, {LOWER: 0.5, FORE: 0.5}, {LOWER: 0.8, FORE: 0.2}),
                *({UPPER: 0.4, LOWER: 0.5, FORE: 0.1}, {"DEF-shoulder.L": 0.5, UPPER: 0.5}),
                {WRIST: 0.4, "DEF-hand.L": 0.6},
            ],
            [1, 1, 0.25, 0.55, 0.775, 0.25, 0.25],
        ),
        (RIGIFY, (UPPER,), [{UPPER: 0.5, LOWER: 0.5}, {LOWER: 0.5, FORE: 0.5}], [1, 0.25]),
        *(
            (
                [*LIMB, ("b_twist", "b", place)],
                (),
                [{"b": 0.5, "b_twist": 0.5}, {"b": 0.25, "b_twist": 0.25, "c": 0.5}],
                [1, 0.25],
            )
            for place in ((1.0, 0.0, 0.0), (2.5, 0.0, 0.0))
        ),
        # They bend at each of their joints, although these are in line and have one name.
        *(
            (in_line(f"{name}1", f"{name}2")[:4], (), [{f"{name}1": 0.5, f"{name}2": 0.5}, {f"{name}2": 1}], 0.25)
            for name in ("Tail", "finger_index", "Spine")
        ),
    ],
)
def test_amounts(joints: Joints, spread: tuple[str, ...], shares: list[dict[str, float]], expected: Any) -> None:
    """Between parts of a limb a vertex is along it: by hand, 1 - 0.75 min(3 (1 - w), 1) for the share w of a limb."""
    np.testing.assert_allclose(amounts(joints, *shares, spread=spread), expected, atol=1e-12)


# --------------------------------------------------------------------------------------------------------- named joints


def test_named_joints_are_taken() -> None:
    bones = sbs.twist_bones(arm(), ["fore"])
    assert spread(bones) == {"fore"}
    assert reasons(bones) == {"upper": "not named", "fore": "named", "hand": "not named"}
    assert spread(sbs.twist_bones(arm(), [1])) == {"fore"}
    assert spread(sbs.twist_bones(load_sample("woman"), [])) == set()


def test_what_can_not_be_spread_along_is_refused() -> None:
    skeleton = sbs.Skeleton([-1, 0], np.tile(np.eye(4), (2, 1, 1)), names=["a", "b"])
    without = sbs.Character.from_mesh(arm(rings=5, sides=4).mesh, skeleton)
    cases: list[tuple[sbs.Character, list[str | int], str]] = [
        (arm(), ["elbow"], "'elbow'"),
        (arm(), ["fore", 1], "'fore' is there more than once"),
        (arm(), ["upper"], "'upper' is a root"),
        (without, ["b"], "'b' has no bone"),
    ]
    for character, joints, reason in cases:
        with pytest.raises((KeyError, ValueError), match=reason):
            sbs.twist_bones(character, joints)
