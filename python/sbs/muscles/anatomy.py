# SPDX-License-Identifier: MIT
"""Muscles of a human body, placed by the names of joints and the thickness of flesh around their bones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..characters.character import Character
from ..rigging.joint_names import body_parts
from ..rigging.skeleton import upward
from ..skinning.influences import share_of
from .cover import between
from .muscle import Muscle, as_point

__all__ = ["fit"]

Floats = NDArray[np.float64]

FILL = 0.8
"""The share of the space between a muscle's path and the nearest skin that its belly takes; the rest is fat."""

THICKEST = 0.25
"""The largest radius of a belly as a share of its length: people's are below. Where short limbs have room for more, the
point of a belly that is nearest to the skin would not be the only one."""

SAMPLES = 48
"""Places along a path where the nearest skin is looked for."""

SECTOR = 0.75
"""Skin lies in a direction from a bone if the cosine to it is at least this, about 40 degrees to each side."""


class Place(NamedTuple):
    """A point of a muscle's path.

    It moves with the part `joint` of the body, and lies beside the bone of the part `bone`, from its joint to the next:
    `along` is where along the bone, 0 to 1, `side` the direction from it (see `_Side.direction`), `depth` how far, as a
    share of the flesh in that direction.
    """

    joint: str
    bone: str
    along: float
    side: str
    depth: float


class Plan(NamedTuple):
    """How a muscle lies in a body of any size: its tendons, as shares of the path, and the path."""

    tendons: tuple[float, float]
    path: tuple[Place, ...]


# A part without a side is in the middle of the body. Directions "flexor" and "extensor" are where the joint at the
# bone's end bends to, and away from it.
PLANS = {
    "biceps": Plan(
        (0.10, 0.16),
        (
            Place("upper arm", "upper arm", 0.10, "flexor", 0.45),
            Place("upper arm", "upper arm", 0.62, "flexor", 0.62),
            Place("forearm", "forearm", 0.12, "flexor", 0.20),
        ),
    ),
    "triceps": Plan(
        (0.05, 0.22),
        (
            Place("upper arm", "upper arm", 0.12, "extensor", 0.45),
            Place("upper arm", "upper arm", 0.58, "extensor", 0.60),
            Place("forearm", "forearm", 0.02, "extensor", 0.50),
        ),
    ),
    "deltoid": Plan(
        (0.02, 0.15),
        (
            Place("shoulder", "upper arm", 0.02, "lateral", 0.55),
            Place("upper arm", "upper arm", 0.24, "lateral", 0.72),
            Place("upper arm", "upper arm", 0.50, "lateral", 0.45),
        ),
    ),
    "pectoral": Plan(
        (0.05, 0.15),
        (
            Place("chest", "chest", 0.35, "front", 0.80),
            Place("chest", "shoulder", 0.55, "front", 0.75),
            Place("upper arm", "upper arm", 0.08, "front", 0.35),
        ),
    ),
    "forearm flexors": Plan(
        (0.04, 0.35),
        (
            Place("upper arm", "upper arm", 0.94, "flexor", 0.35),
            Place("forearm", "forearm", 0.34, "flexor", 0.60),
            Place("hand", "forearm", 0.98, "flexor", 0.40),
        ),
    ),
    "gluteus": Plan(
        (0.02, 0.08),
        (
            Place("hips", "thigh", -0.20, "extensor", 0.55),
            Place("hips", "thigh", -0.02, "extensor", 0.62),
            Place("thigh", "thigh", 0.14, "extensor", 0.40),
        ),
    ),
    "quadriceps": Plan(
        (0.06, 0.22),
        (
            Place("thigh", "thigh", 0.08, "extension", 0.50),
            Place("thigh", "thigh", 0.50, "extension", 0.62),
            Place("thigh", "thigh", 0.98, "extension", 0.60),
            Place("shin", "shin", 0.06, "extension", 0.60),
        ),
    ),
    "hamstrings": Plan(
        (0.06, 0.20),
        (
            Place("thigh", "thigh", 0.12, "extensor", 0.50),
            Place("thigh", "thigh", 0.55, "extensor", 0.60),
            Place("shin", "shin", 0.08, "extensor", 0.45),
        ),
    ),
    "calf": Plan(
        (0.04, 0.38),
        (
            Place("thigh", "thigh", 0.96, "extensor", 0.40),
            Place("shin", "shin", 0.32, "extensor", 0.66),
            Place("foot", "shin", 0.96, "extensor", 0.50),
        ),
    ),
}

# Where a bone ends, if not at the only child of its joint.
BONE_ENDS = {
    "shoulder": "upper arm",
    "upper arm": "forearm",
    "forearm": "hand",
    "thigh": "shin",
    "shin": "foot",
    "chest": "neck",
}
CENTRAL = ("hips", "chest", "neck")
SIDED = ("shoulder", "upper arm", "forearm", "hand", "thigh", "shin", "foot")
PARTS = (*CENTRAL, *(f"{side} {part}" for side in ("left", "right") for part in SIDED))
STAND_INS = {"neck": ("upper neck", "head"), "chest": ("spine", "lower back")}


class _Body:
    """A character in the pose at bind: where joints are, which way the body faces, and how thick flesh is."""

    def __init__(self, character: Character, joints: Mapping[str, str | int]) -> None:
        self.skeleton = character.skeleton
        self.heads = np.asarray(character.skeleton.joint_positions, np.float64)
        self.positions = np.asarray(character.mesh.positions, np.float64)
        self.indices, self.weights = character.skin.influences()
        self.parts = self._find_parts(joints)
        missing = [part for part in PARTS if part not in self.parts]
        if missing:
            raise ValueError(
                f"no joint is known as {', '.join(map(repr, missing))} by its name: muscles are placed in bodies whose "
                "joints are named as those of people, or by joints= that says which they are"
            )
        self.up = _unit(self.head("neck") - self.head("hips"))
        across = self.head("left upper arm") - self.head("right upper arm")
        self.left = _unit(across - across @ self.up * self.up)
        self.front = np.cross(self.left, self.up)

    def _find_parts(self, told: Mapping[str, str | int]) -> dict[str, int]:
        """The joints of parts, as told or by their names. For some parts others may stand in."""
        unknown = [part for part in told if part not in PARTS]
        if unknown:
            raise ValueError(f"joints: {unknown[0]!r} is no part of a body; there are: {', '.join(PARTS)}")
        found = {
            **body_parts(self.skeleton.names),
            **dict(zip(told, self.skeleton.indices(told.values()), strict=True)),
        }
        for part, others in STAND_INS.items():
            other = next((other for other in others if other in found), None)
            if part not in found and other is not None:
                found[part] = found[other]
        if "hips" in found and "hips" not in told:
            found["hips"] = self._thigh_bearer(found)
        for side in ("left", "right"):
            arm = found.get(f"{side} upper arm", -1)
            if arm >= 0 and self.skeleton.parents[arm] >= 0:
                found.setdefault(f"{side} shoulder", int(self.skeleton.parents[arm]))
        return found

    def _thigh_bearer(self, found: Mapping[str, int]) -> int:
        """The joint with the most skin, from the one that is named as the hips to the one that both thighs hang on.

        In rigs of Biped the first is a root that may stay behind.
        """
        named, sides = found["hips"], [found[part] for part in ("left thigh", "right thigh") if part in found]
        if len(sides) < 2:
            return named
        others = upward(self.skeleton, sides[1])
        shared = [joint for joint in upward(self.skeleton, sides[0]) if joint in others and joint not in sides]
        if named not in shared:
            return named
        skin = np.bincount(self.indices.ravel(), self.weights.ravel(), minlength=len(self.skeleton))
        return max(shared[: shared.index(named) + 1], key=lambda joint: float(skin[joint]))

    def head(self, part: str) -> Floats:
        return np.asarray(self.heads[self.parts[part]])

    def flesh_following(self, joints: Sequence[int]) -> Floats:
        """The skin (N, 3) that follows some joints by half or more."""
        share = share_of(self.indices, self.weights, joints)
        return np.asarray(self.positions[share >= 0.5])


def _unit(vector: Floats) -> Floats:
    length = float(np.linalg.norm(vector))
    if not length > 0:
        raise ValueError("two joints of the body are at one place")
    return np.asarray(vector / length)


def _across(vector: Floats, axis: Floats) -> Floats:
    return np.asarray(vector - vector @ axis * axis)


@dataclass(frozen=True)
class _Side:
    """One side of a body."""

    body: _Body
    side: str

    def part(self, part: str) -> str:
        return part if part in CENTRAL else f"{self.side} {part}"

    def bone(self, part: str) -> tuple[Floats, Floats]:
        """Where the bone of a part begins, and from there to its end."""
        head = self.body.head(self.part(part))
        return head, self.body.head(self.part(BONE_ENDS[part])) - head

    def direction(self, part: str, name: str) -> Floats:
        """A direction from a bone, at right angles to it."""
        body = self.body
        axis = _unit(self.bone(part)[1])
        outward = body.left if self.side == "left" else -body.left
        if name == "lateral":
            # From an arm at the side of the body outwards, from one that is stretched out upwards.
            wanted = outward + body.up
        elif name in ("front", "extension"):
            wanted = body.front
        elif part in ("thigh", "shin"):
            wanted = -body.front
        else:
            wanted = self._bend() if name == "flexor" else -self._bend()
        return _unit(_across(wanted, axis))

    def _bend(self) -> Floats:
        """Where the hand goes if the elbow bends: where it is already, or to the front if the arm is straight."""
        upper, lower = self.bone("upper arm")[1], self.bone("forearm")[1]
        bent = _across(lower, _unit(upper))
        is_bent = np.linalg.norm(bent) > 0.08 * np.linalg.norm(lower)
        return np.asarray(bent if is_bent else self.body.front)

    def thickness(self, part: str, along: float, direction: Floats) -> float:
        """How far the skin is from a place beside a bone, in a direction."""
        start, bone = self.bone(part)
        length = float(np.linalg.norm(bone))
        axis, at = bone / length, start + along * bone
        number = self.body.parts[self.part(part)]
        parents = self.body.skeleton.parents
        near = [number, int(parents[number]), *np.flatnonzero(parents == number).tolist()]
        offsets = self.body.flesh_following([joint for joint in near if joint >= 0]) - at
        lengthwise = offsets @ axis
        sideways = offsets - lengthwise[:, None] * axis
        away = np.linalg.norm(sideways, axis=1)
        facing = sideways @ direction >= SECTOR * away
        for width in (0.06, 0.12, 0.25, 0.5):
            found = away[facing & (np.abs(lengthwise) <= width * length)]
            if len(found):
                return float(np.median(found))
        raise ValueError(f"no skin is found beside joint {self.body.skeleton.names[number]!r}")

    def point(self, place: Place) -> Floats:
        start, bone = self.bone(place.bone)
        direction = self.direction(place.bone, place.side)
        away = place.depth * self.thickness(place.bone, place.along, direction)
        return np.asarray(start + place.along * bone + away * direction)


def fit(character: Character, *, joints: Mapping[str, str | int] | None = None) -> tuple[Muscle, ...]:
    """Place the muscles of a human body: nine on each side.

    Biceps, triceps, deltoid, pectoral, forearm flexors, gluteus, quadriceps, hamstrings and calf, each named with its
    side. Joints are found by their names, as those of Rigify, MakeHuman, Mixamo and others; bellies are within the
    mesh, as thick as the flesh around the bones allows. They are a beginning: change the attributes of `Muscle`.

    Parameters
    ----------
    character : Character
        In a pose at bind with straight legs, and arms stretched out or hanging.
    joints : mapping of str to str or int, optional
        The joints of parts of the body, such as ``{"left forearm": "Bone.012"}``, where their names do not tell.

    Raises
    ------
    ValueError
        If the name of no joint says that it is a part that muscles need, or a muscle has no room in the mesh.
    KeyError
        If the character has no joint of a name.
    """
    body = _Body(character, joints or {})
    return tuple(_muscles(body))


def _muscles(body: _Body) -> Iterator[Muscle]:
    for side in ("left", "right"):
        for name, plan in PLANS.items():
            yield _placed(_Side(body, side), f"{name} {side}", plan)


def _placed(side: _Side, name: str, plan: Plan) -> Muscle:
    body, names = side.body, side.body.skeleton.names
    points = np.array([side.point(place) for place in plan.path])
    joints = [body.parts[side.part(place.joint)] for place in plan.path]
    covered = between(body.skeleton, joints)
    room, nearest = _room(points, body.flesh_following(covered), plan.tendons)
    if not room > 0:
        raise ValueError(f"muscle {name!r} has no room within the mesh")
    radius = min(FILL * room, THICKEST * _belly_length(points, plan.tendons))
    return Muscle(
        name=name,
        side=side.side,
        joints=tuple(names[joint] for joint in joints),
        points=tuple(map(as_point, points)),
        radius=radius,
        reach=2 * (nearest - radius) + radius,
        tendons=plan.tendons,
        covered=tuple(names[joint] for joint in covered),
    )


def _room(points: Floats, skin: Floats, tendons: tuple[float, float]) -> tuple[float, float]:
    """The radius of a spindle that touches the skin, and how far skin is from the middle of its belly."""
    shares = (np.arange(SAMPLES) + 0.5) / SAMPLES
    centers = _bezier(points, tendons[0] + shares * (1 - sum(tendons)))
    distances = np.sqrt(((skin[:, None, :] - centers) ** 2).sum(axis=2)).min(axis=0, initial=np.inf)
    within = (shares > 0.1) & (shares < 0.9)
    spindle = (4 * shares * (1 - shares)) ** 1.5
    room = float((distances[within] / spindle[within]).min())
    return (room, float(distances[SAMPLES // 2])) if np.isfinite(room) else (0.0, 0.0)


def _belly_length(points: Floats, tendons: tuple[float, float]) -> float:
    """The length of the path between tendons."""
    steps = np.diff(_bezier(points, np.linspace(0, 1, SAMPLES + 1)), axis=0)
    return float(np.linalg.norm(steps, axis=1).sum()) * (1 - sum(tendons))


def _bezier(points: Floats, x: Floats) -> Floats:
    """Points (N, 3) of the Bezier curve of some points."""
    rows = np.broadcast_to(points, (len(x), *points.shape))
    while rows.shape[1] > 1:
        rows = rows[:, :-1] + x[:, None, None] * (rows[:, 1:] - rows[:, :-1])
    return np.asarray(rows[:, 0])
