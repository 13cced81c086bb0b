# SPDX-License-Identifier: MIT
"""Find the bones to spread twists along: limbs, but no short or central bones, or bones that the rig divides itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..rigging.bones import bone_radii, bone_segments
from ..rigging.skeleton import Skeleton, upward
from ..rigging.triangle_mesh import Mesh
from ..skinning.influences import tidy
from ..skinning.twist import FRAMES, Twist

__all__ = ["TwistBone", "limb_twist", "twist_amounts", "twist_bones"]

Floats = NDArray[np.float64]

RADII = 2.0
"""How many radii of its limb a bone is long at least: on a shorter one there is nothing to spread a twist along."""

AT_THE_TAIL = 0.1
"""How far from the tail the child may be, as a share of the bone: rigs put joints where they like."""

SMALL = 0.25
"""A bone below this share of the longest is too small to be seen to twist: a finger of a human, a toe, a short neck."""

STRAIGHT, HARDLY_BENT = np.cos(np.radians(10)), np.cos(np.radians(45))
"""Joints of one name but for numbers divide a limb if their bones are in line at bind; where the name is that of one
part of a limb, it may bend there."""

PARTS = ("upper", "lower", "fore", "thigh", "shin", "calf")
TRUNK = re.compile("spine|back|torso|chest|abdomen|belly|body|waist|hips?|pelvis|root|trunk|rib|ribcage")
ENDS = re.compile(
    "head|jaw|eye|ear|hair|breast|tongue|lip|lid|brow|foot|ankle|hand|wrist|palm|ball|heel|shoulder|clavicle"
    "|collar|scapula|wing"
)
LIMBS = re.compile("legs?|arms?|thigh|shin|calf|shank")
"""A back leg is no part of the back."""

TOES = re.compile("toes?|metatarsal")
FINGERS = re.compile("fingers?|thumb|index|middle|ring|pinky|pinkie|little|digit|phalanx|metacarpal")
CHAINS = re.compile("tails?|necks?")
"""Chains, which bend at each of their joints, although these may have one name but for numbers and lie in line."""

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


class Skinned(Protocol):
    """A mesh with the skeleton that moves it, such as `Character`."""

    @property
    def mesh(self) -> Mesh: ...
    @property
    def skeleton(self) -> Skeleton: ...


@dataclass(frozen=True)
class TwistBone:
    """A joint, and whether a twist is spread along its bone.

    Attributes
    ----------
    joint : int
    name : str
    child : int
        The joint at the tail whose own twist is spread along this bone, too; -1 if there is none, or if the child's
        twist is spread along its own bone.
    spread : bool
        Whether a twist is spread along it.
    reason : str
        Why, or why not.
    """

    joint: int
    name: str
    child: int
    spread: bool
    reason: str


@dataclass(frozen=True, eq=False)
class _Bones:
    """The bones of all joints.

    Attributes
    ----------
    skeleton : Skeleton
    heads, tails : (J, 3) ndarray
        A tail is the position of the child there, or the end from `sbs.weights.bone_segments`.
    lengths : (J,) ndarray
    children : list of J lists of int
        Children that have weight, or children that do.
    """

    skeleton: Skeleton
    heads: Floats
    tails: Floats
    lengths: Floats
    children: list[list[int]]


@dataclass(frozen=True, eq=False)
class _Limbs:
    """The bones of all joints, with measures of their weights.

    Attributes
    ----------
    bones : _Bones
    radii : (J,) ndarray
        As of `bone_radii`.
    weights : (J,) ndarray
        The sum of each joint's weights.
    """

    bones: _Bones
    radii: Floats
    weights: Floats


def twist_bones(character: Skinned, joints: Iterable[str | int] | None = None) -> tuple[TwistBone, ...]:
    """Find the bones along which a twist should be spread.

    A limb bone has its parent's joint at its head, one child at its tail and vertices that follow it, and is longer
    than about two radii of its limb and a quarter of the longest limb bone. So the fingers of a hand alone are limbs,
    and those of a human are not. Hands, feet, shoulders, toes and the trunk are not limbs; nor are bones of arms and
    legs that the rig divides itself, by joints for twist or roll or by more than one joint in line. English names show
    most of that; otherwise the positions and the tree of the joints do.

    Parameters
    ----------
    character : Character
    joints : iterable of str or int, optional
        Names or numbers of the joints to use in place of the found ones. Only bones that no twist can be spread
        along are refused.

    Returns
    -------
    tuple of TwistBone
        For each joint of the skeleton, in its order.

    Raises
    ------
    KeyError, IndexError
        If there is no such joint.
    ValueError
        If one of `joints` is given twice, is a root, or has no bone of any length.

    Examples
    --------
    >>> import sbs
    >>> woman = sbs.samples.load("woman")
    >>> [bone.name for bone in sbs.twist_bones(woman) if bone.spread][:4]
    ['LeftArm', 'LeftForeArm', 'LeftUpLeg', 'LeftLeg']
    """
    limbs = _measure(character)
    if joints is not None:
        return _without_shared_twists(_as_told(limbs.bones, character.skeleton.indices(joints)))
    lengths = limbs.bones.lengths
    found = [_judge_alone(limbs, joint) for joint in range(len(lengths))]
    longest = max((length for joint, length in enumerate(lengths) if _may_be_limb(limbs.bones, joint)), default=0.0)
    found = [
        replace(bone, spread=False, reason=f"small beside the longest limb: {lengths[bone.joint] / longest:.0%}")
        if bone.spread and lengths[bone.joint] < SMALL * longest
        else bone
        for bone in found
    ]
    # Fingers hang on a forearm, and make no trunk of it.
    trunk = _with_two_limbs_below(
        character.skeleton, [bone.joint for bone in found if bone.spread and not _is_finger(bone.name)]
    )
    return _without_shared_twists(
        replace(bone, spread=False, reason="trunk: more than one limb hangs on it") if bone.joint in trunk else bone
        for bone in found
    )


def limb_twist(
    character: Skinned,
    joints: Iterable[str | int] | None = None,
    *,
    frames: int = FRAMES,
    smooth: bool = False,
) -> Twist:
    """The bones to spread the twists of a character's limbs along, for ``Skin(..., twist=)``.

    Parameters
    ----------
    character : Character
    joints : iterable of str or int, optional
        As of `twist_bones`.
    frames, smooth
        As of `Twist`.

    Returns
    -------
    Twist
        Of no bones if the character has no limbs.

    Raises
    ------
    KeyError, IndexError, ValueError
        As `twist_bones` and `Twist`.
    """
    measured = _measure(character).bones
    bones = [bone for bone in twist_bones(character, joints) if bone.spread]
    numbers = np.array([bone.joint for bone in bones], np.intp)
    return Twist(
        numbers,
        measured.heads[numbers],
        measured.tails[numbers],
        parents=character.skeleton.parents[numbers],
        joint_count=len(character.skeleton),
        children=[bone.child for bone in bones],
        frames=frames,
        smooth=smooth,
    )


ACROSS = 0.35
"""How much spherical blending there is across joints: docs/twist.md compares amounts."""

ELSEWHERE = 1 / 3
"""A vertex with so much of its weight on other joints than its limb's is all across joints."""


def twist_amounts(character: Skinned, twist: Twist | None = None, across: float = ACROSS) -> Floats:
    """Amounts (V,) for ``Skin.deform(..., amount=)``: limbs spherical along their bones, joints less.

    Along a bone, spherical blending keeps the radius of a twisted limb; across joints it bulges if weights were painted
    for linear blending. With these amounts a twisted skin about optimized centers has *smooth twist*. Let w be the
    largest share that one limb has in the weights of a vertex. Its amount is

        1 - (1 - across) min(3 (1 - w), 1)

    So vertices that follow one limb get 1, those where joints meet `across`, and those in between an amount in between.
    A limb is a bone that a twist is spread along, or all joints by which the rig divides an arm, a leg or a part of one
    itself, because vertices between these are along it. On a character that has neither, all vertices get `across`,
    which makes no difference to those of one joint.

    Parameters
    ----------
    character : Character
    twist : Twist, optional
        The skin's twist, if it has one.
    across : float
        Between 0, all of the base, and 1.

    Raises
    ------
    ValueError
        If `across` is not between 0 and 1.

    Examples
    --------
    >>> import sbs
    >>> hand = sbs.samples.load("hand")
    >>> float(sbs.twist_amounts(hand).max())
    0.35
    """
    mesh = character.mesh
    moving = np.zeros(len(character.skeleton), np.bool_)
    moving[mesh.joint_indices[mesh.joint_weights > 0]] = True
    limbs = limbs_of_joints(character.skeleton, moving, () if twist is None else twist.joints)
    return amounts_across(mesh.joint_indices, mesh.joint_weights, limbs, across)


def amounts_across(
    joint_indices: ArrayLike, joint_weights: ArrayLike, limbs: NDArray[np.intp], across: float
) -> Floats:
    """The amounts of `twist_amounts` by influences (V, K) and the limb of each joint (J,), as of `limbs_of_joints`."""
    if not 0 <= across <= 1:
        raise ValueError(f"across is {across}; it must be between 0 and 1")
    influences = tidy(joint_indices, joint_weights)
    limb = limbs[influences.joint_indices]
    shares = np.where(limb >= 0, influences.joint_weights, 0.0)
    largest = np.max([np.where(limb == one[:, None], shares, 0.0).sum(axis=1) for one in limb.T], axis=0)
    return np.asarray(1 - (1 - across) * np.minimum((1 - largest) / ELSEWHERE, 1))


def limbs_of_joints(skeleton: Skeleton, moving: NDArray[np.bool_], spread: ArrayLike = ()) -> NDArray[np.intp]:
    """The limb (J,) along which each joint moves vertices: the number of one of its joints, or -1 for none.

    Parameters
    ----------
    skeleton : Skeleton
    moving : (J,) ndarray of bool
        Which joints have weights.
    spread : array_like of int
        The joints of bones that twists are spread along. Of others, the joints that divide a limb belong to it.
    """
    bones = _bones(skeleton, moving)
    found = np.arange(len(skeleton))
    belongs = np.zeros(len(skeleton), np.bool_)
    belongs[np.asarray(spread, np.intp)] = True
    for joint in range(len(skeleton)):
        for part in _other_parts(bones, joint):
            found[found == found[part]] = found[joint]
            belongs[[joint, part]] = True
    return np.where(belongs, found, -1)


def _other_parts(bones: _Bones, joint: int) -> Iterator[int]:
    """Joints of the rig that move other parts of the same arm or leg: for twist, or below the joint and in line."""
    names = bones.skeleton.names
    if _no_limb_by_name(names[joint]) or _is_finger(names[joint]):
        return
    is_part = any(part in stem(names[joint]) for part in PARTS)
    is_limb = is_part or any(LIMBS.fullmatch(word) for word in words(names[joint]))
    # Joints of a face lie on each other's bones, too.
    yield from (other for other in _below_within(bones, joint) if is_limb or is_twisting(names[other]))
    child = _child_at_tail(bones, joint)
    if child >= 0 and is_part and _go_on_in_line(bones, joint, child):
        yield child


def _without_shared_twists(bones: Iterable[TwistBone]) -> tuple[TwistBone, ...]:
    """Spread each twist only once: along the joint's own bone if that is a limb, else along its parent's."""
    found = tuple(bones)
    limbs = {bone.joint for bone in found if bone.spread}
    return tuple(replace(bone, child=-1) if bone.child in limbs or not bone.spread else bone for bone in found)


def _measure(character: Skinned) -> _Limbs:
    influences = tidy(character.mesh.joint_indices, character.mesh.joint_weights)
    joints, shares = influences.joint_indices, np.asarray(influences.joint_weights, np.float64)
    count = len(character.skeleton)
    weights = np.bincount(joints.reshape(-1), shares.reshape(-1), count).astype(np.float64)
    bones = _bones(character.skeleton, weights > 0)
    positions = np.asarray(character.mesh.positions, np.float64)
    return _Limbs(bones, bone_radii(positions, influences, bones.heads, bones.tails), weights)


def _bones(skeleton: Skeleton, moving: NDArray[np.bool_]) -> _Bones:
    """The bones of a skeleton of which some joints (J,) have weights."""
    children = _children_that_move_something(skeleton, moving)
    heads, tails = bone_segments(skeleton)
    for joint, under in enumerate(children):
        # Joints that move nothing, such as handles and sockets, do not determine where a bone ends.
        if len(under) == 1:
            tails[joint] = heads[under[0]]
    return _Bones(skeleton, heads, tails, np.linalg.norm(tails - heads, axis=1), children)


def _children_that_move_something(skeleton: Skeleton, moving: NDArray[np.bool_]) -> list[list[int]]:
    moving = moving.copy()
    children: list[list[int]] = [[] for _ in range(len(skeleton))]
    for joint in reversed(skeleton.order.tolist()):
        parent = int(skeleton.parents[joint])
        if moving[joint] and parent >= 0:
            moving[parent] = True
            children[parent].insert(0, joint)
    return children


def words(name: str) -> list[str]:
    """The words of a joint's name in lower case: "LeftForeArm.001" has left, fore and arm."""
    return [word.lower() for word in WORD.findall(name)]


def is_twisting(name: str) -> bool:
    """Whether a joint is for twist alone, by its name."""
    return "twist" in name.lower() or "roll" in words(name)


def _is_finger(name: str) -> bool:
    """Whether a joint is one of a finger, by its name."""
    in_name = words(name)
    return any(FINGERS.fullmatch(word) for word in in_name) and not any(TOES.fullmatch(word) for word in in_name)


def _may_be_limb(bones: _Bones, joint: int) -> bool:
    """Whether a bone is a limb, or one that is short or that the rig divides, by its children and its name."""
    is_inner = bones.skeleton.parents[joint] >= 0 and bool(bones.children[joint])
    return is_inner and not _no_limb_by_name(bones.skeleton.names[joint])


def _judge_alone(limbs: _Limbs, joint: int) -> TwistBone:
    """Judge a joint by itself; checks that need all joints come later."""
    name = limbs.bones.skeleton.names[joint]
    child = _child_at_tail(limbs.bones, joint)
    refused = next(_reasons_against(limbs, joint, child), None)
    why = refused or f"{'a finger' if _is_finger(name) else 'a limb'}, {_in_radii(limbs, joint):.1f} radii long"
    return TwistBone(joint, name, child, refused is None, why)


def _no_limb_by_name(name: str) -> str:
    """The kind of a joint that is no limb or finger by its name; empty if the name does not say."""
    if _is_finger(name):
        return ""
    in_name = words(name)
    is_limb = any(LIMBS.fullmatch(word) for word in in_name)
    for kind, what in ((TOES, "a toe"), (TRUNK, "trunk"), (ENDS, "no limb")):
        named = [word for word in in_name if kind.fullmatch(word) and not (word == "back" and is_limb)]
        if named:
            return f"{what}, by its name: {named[0]!r}"
    return ""


def _reasons_against(limbs: _Limbs, joint: int, child: int) -> Iterator[str]:
    bones = limbs.bones
    skeleton, name = bones.skeleton, bones.skeleton.names[joint]
    parent = int(skeleton.parents[joint])
    if not limbs.weights[joint] > 0 or np.isnan(limbs.radii[joint]):
        yield "no vertex follows it most"
    if parent < 0:
        yield "a root: there is nothing that it twists against"
    if is_twisting(name):
        yield "a twist joint, by its name"
    if by_name := _no_limb_by_name(name):
        yield by_name
    for other in _below_within(bones, joint):
        yield f"the rig divides it: {skeleton.names[other]!r}"
    if child < 0:
        yield f"{len(bones.children[joint])} joints at its end, where a limb has one"
    is_chain = _is_finger(name) or any(CHAINS.fullmatch(word) for word in words(name))
    for other in () if is_chain else (parent, child):
        if other >= 0 and _go_on_in_line(bones, joint, other):
            yield f"the rig divides the limb: {skeleton.names[other]!r} is in line with it"
    if not bones.lengths[joint] > RADII * limbs.radii[joint]:
        yield f"short: {_in_radii(limbs, joint):.1f} radii of its limb"


def _in_radii(limbs: _Limbs, joint: int) -> float:
    """How long a bone is, in radii of its limb."""
    radius = float(limbs.radii[joint])
    return float(limbs.bones.lengths[joint]) / radius if radius > 0 else np.inf


def _child_at_tail(bones: _Bones, joint: int) -> int:
    """The only child with weight that is not a twist joint, if it is at the end of the bone; else -1."""
    plain = [child for child in bones.children[joint] if not is_twisting(bones.skeleton.names[child])]
    if len(plain) != 1:
        return -1
    apart = np.linalg.norm(bones.heads[plain[0]] - bones.tails[joint])
    return plain[0] if apart <= AT_THE_TAIL * bones.lengths[joint] else -1


def _below_within(bones: _Bones, joint: int) -> Iterator[int]:
    """Joints of the rig that twist this bone: children with such names, and joints on the bone between its ends.

    Twist joints are often siblings: those of a forearm may be children of the upper arm that lie on the forearm's bone.
    """
    skeleton = bones.skeleton
    parent = int(skeleton.parents[joint])
    near = [*bones.children[joint], *(bones.children[parent] if parent >= 0 else ())]
    farthest = max(
        (child for child in bones.children[joint]),
        key=lambda child: float(np.linalg.norm(bones.heads[child] - bones.heads[joint])),
        default=-1,
    )
    if farthest < 0:
        return
    bone = bones.heads[farthest] - bones.heads[joint]
    length = float(np.linalg.norm(bone))
    for other in near:
        if other in (joint, farthest) or length == 0:
            continue
        offset = bones.heads[other] - bones.heads[joint]
        along = float(offset @ bone) / length**2
        on_line = np.linalg.norm(offset - along * bone) < AT_THE_TAIL * length
        inside = AT_THE_TAIL < along < 1 - AT_THE_TAIL
        is_named = other in bones.children[joint] and is_twisting(skeleton.names[other])
        if is_named or (on_line and inside):
            yield other


def _go_on_in_line(bones: _Bones, joint: int, other: int) -> bool:
    """Whether two joints have the same name apart from numbers, and their bones the same direction."""
    stems = [stem(name) for name in bones.skeleton.names]
    one = stems[joint]
    # If most joints have such a name, as joints without names have, it means nothing.
    if one != stems[other] or 2 * stems.count(one) > len(stems):
        return False
    lines = [bones.tails[each] - bones.heads[each] for each in (joint, other)]
    cosine = float(lines[0] @ lines[1]) / max(float(bones.lengths[joint] * bones.lengths[other]), 1e-300)
    return bool(cosine > (HARDLY_BENT if any(part in one for part in PARTS) else STRAIGHT))


def stem(name: str) -> str:
    """The letters of a name, which are the same for upperleg01.L and upperleg02.L."""
    return re.sub(r"[^a-z]+", "", name.lower())


def _with_two_limbs_below(skeleton: Skeleton, limbs: list[int]) -> set[int]:
    """Which limbs have two other limbs below them, neither of which is below the other."""
    above = {limb: set(upward(skeleton, limb)[1:]) for limb in limbs}
    return {
        limb
        for limb in limbs
        for one in limbs
        for other in limbs
        if limb in above[one] & above[other] and one != other and one not in above[other] and other not in above[one]
    }


def _as_told(bones: _Bones, chosen: list[int]) -> Iterator[TwistBone]:
    for joint in chosen:
        name = bones.skeleton.names[joint]
        if chosen.count(joint) > 1:
            raise ValueError(f"joints: {name!r} is there more than once")
        if bones.skeleton.parents[joint] < 0:
            raise ValueError(f"joints: {name!r} is a root, there is nothing that it twists against")
        if not bones.lengths[joint] > 0:
            raise ValueError(f"joints: {name!r} has no bone: head and tail are at one place")
    for joint, name in enumerate(bones.skeleton.names):
        told = joint in chosen
        yield TwistBone(joint, name, _child_at_tail(bones, joint), told, "named" if told else "not named")
