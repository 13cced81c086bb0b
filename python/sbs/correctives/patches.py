# SPDX-License-Identifier: MIT
"""Patches of skin around joints, which `sbs/relaxation.h` relaxes in a pose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..characters.character import Character
from ..characters.limbs import is_twisting, stem, twist_bones, words
from ..rigging.bones import bone_segments
from ..rigging.joint_names import canonical
from ..support.vectors import unit

__all__ = ["BALL", "FEWEST", "HINGE", "Factors", "Patch", "Surface"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]


class Factors(TypedDict):
    """The factors of the energy."""

    bending: float
    volume: float
    crease: float
    thinner: float
    thicker: float


HINGE = Factors(bending=0.0013, volume=30.0, crease=75.0, thinner=3.0, thicker=60.0)

BALL = Factors(bending=0.003, volume=0.0, crease=0.0, thinner=1.0, thicker=10.0)
"""Where the bone above is no limb, as at a shoulder: there is no tube with a volume, and no plane between two limbs."""

SHARED = 0.02
"""Vertices belong to the core of a joint if it moves them by more than this, and by less than all but this."""

FEWEST = 6
"""Joints with fewer vertices in their core are left out."""

REACH = 2.5
"""How far a patch goes beyond the core, in radii of the joint: so much of the skin can make room."""

REACH_OF_TRUNK = 1.0

FARTHEST = 0.9
"""Where a piece is free as a whole, vertices that are farther than this share of the farthest hold it."""

OWN = 0.99
"""The least weight of a free vertex on the joint, its descendants, parent and grandparent."""

SAME_WEIGHT = 1e-4
"""Vertices at one point whose weights differ by more are of two bodies that touch."""

HINGES = re.compile("lowerarm|forearm|elbow|lowerleg|lowleg|shin|calf|knee")
NO_HINGE = re.compile("spine|torso|chest|abdomen|belly|body|waist|hips?|pelvis|head|neck|shoulder|clavicle|nub")
"""Names of joints that are hinges, and words in names of joints that are none."""

CARRIED, LEFT = 0.25, 1.0
"""Clothes that are nearer to the skin than the first, in radii of the joint, go where it goes; beyond the second they
stay."""

IN_COMMON = 0.5
"""Clothes follow the skin below wholly if both have at least this much weight on the same joints."""

SPILL, SPILL_RADII = 0.05, 0.7
"""How much of a delta goes to siblings that do not move a vertex, and how near they have to be."""


class Surface:
    """The surface of a character at rest, without seams, and its joints.

    Attributes
    ----------
    positions : (W, 3) ndarray
    kept : (W,) ndarray
        One vertex of the mesh for each vertex of the surface.
    numbers : (V,) ndarray
        The vertex of the surface that each vertex of the mesh is.
    triangles : (T, 3) ndarray
    weights : (W, J) ndarray
    heads, tails, bones : (J, 3) ndarray
        Of each joint; `bones` are directions.
    """

    def __init__(self, character: Character) -> None:
        mesh, skeleton = character.mesh, character.skeleton
        indices, shares = _core.tidy_weights(mesh.joint_indices, np.asarray(mesh.joint_weights, np.float64))[:2]
        dense = np.zeros((len(mesh.positions), len(skeleton)))
        np.add.at(dense, (np.arange(len(dense))[:, None], indices), shares)
        alike = np.column_stack([_core.weld(mesh.positions), np.round(dense / SAME_WEIGHT)])
        _, self.kept, numbers = np.unique(alike, axis=0, return_index=True, return_inverse=True)
        self.numbers = numbers.reshape(-1)
        self.positions = np.asarray(mesh.positions, np.float64)[self.kept]
        self.triangles = self.numbers[mesh.triangles]
        self.weights = dense[self.kept]
        self.parents = np.asarray(skeleton.parents)
        self.joints = np.asarray(skeleton.joint_positions, np.float64)
        self.heads, self.tails = bone_segments(skeleton)
        for joint in np.setdiff1d(np.arange(len(skeleton)), self.parents):
            ends = self.joints[self._hanging(int(joint))]
            if len(ends):
                self.tails[joint] = ends[np.linalg.norm(ends - self.heads[joint], axis=1).argmin()]
        self.bones = unit(self.tails - self.heads)
        self.edges = np.unique(np.sort(self.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)
        self.lengths = np.linalg.norm(np.diff(self.positions[self.edges], axis=1)[:, 0], axis=1)
        self._moved: dict[int, Floats] = {}
        self.names = skeleton.names
        self._limbs = {bone.joint for bone in twist_bones(character) if bone.spread}

    def below(self, joint: int) -> Flags:
        """Which joints (J,) a joint carries along, itself included."""
        found = self._with_children(np.arange(len(self.parents)) == joint)
        return found | self._with_children(self._hanging(joint))

    def _hanging(self, joint: int) -> Flags:
        """Which joints (J,) share skin with joints below a joint, and with no others, not even their parents.

        Such are feet and hands that rigs put elsewhere in the tree, for inverse kinematics.
        """
        found = self._with_children(np.arange(len(self.parents)) == joint)
        above = np.zeros_like(found)
        while (joint := int(self.parents[joint])) >= 0:
            above[joint] = True
        held = self._connected(above, ~found)
        if not self._share_skin[np.ix_(found, held)].any():
            return np.zeros_like(found)
        alone = ~self._share_skin[np.arange(len(found)), self.parents]
        return self._connected(found, ~held) & ~found & alone

    def _with_children(self, start: Flags) -> Flags:
        """Joints (J,) and all below them in the tree."""
        found = start
        while True:
            more: Flags = found | ((self.parents >= 0) & found[self.parents])
            if np.array_equal(more, found):
                return found
            found = more

    def _connected(self, start: Flags, allowed: Flags) -> Flags:
        """Joints (J,) and all that skin connects with them, by way of allowed joints."""
        found = start
        while True:
            more: Flags = found | (self._share_skin[found].any(axis=0) & allowed)
            if np.array_equal(more, found):
                return found
            found = more

    @cached_property
    def _share_skin(self) -> Flags:
        """Which joints (J, J) move vertices together."""
        moves = (self.weights > SHARED).astype(np.float32)
        together: Flags = moves.T @ moves > 2
        return together

    def moved(self, joint: int) -> Floats:
        """How much of each vertex (W,) a joint and those below it move."""
        if joint not in self._moved:
            self._moved[joint] = self.weights[:, self.below(joint)].sum(axis=1)
        return self._moved[joint]

    def core(self, joint: int) -> Flags:
        """The vertices (W,) that a joint moves in part, or whose neighbors it moves otherwise."""
        moved = self.moved(joint)
        found: Flags = (moved > SHARED) & (moved < 1 - SHARED)
        jumps = np.abs(np.diff(moved[self.edges], axis=1)[:, 0]) > SHARED
        found[self.edges[jumps].reshape(-1)] = True
        return found

    def radius(self, joint: int, core: Flags) -> float:
        """How far the vertices of its core (W,) are from a joint."""
        return float(np.median(np.linalg.norm(self.positions[core] - self.joints[joint], axis=1)))

    def shares(self, joints: Sequence[int], size: float) -> Floats:
        """How much (W, n) of a delta goes to each of some joints, whose radius is `size`."""
        far = np.stack([np.linalg.norm(self.positions - self.joints[joint], axis=1) for joint in joints], axis=1)
        found = np.stack([self.moved(joint) for joint in joints], axis=1)
        found = found + SPILL * np.exp(-((far / (SPILL_RADII * size)) ** 2)) + 1e-9
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def within(self, start: Flags, limit: float) -> Flags:
        """The vertices (W,) within a way along edges."""
        ways = np.where(start, 0.0, np.inf)
        while True:
            near = np.flatnonzero((ways[self.edges] < limit).any(axis=1))
            a, b, length = self.edges[near, 0], self.edges[near, 1], self.lengths[near]
            before = ways.copy()
            np.minimum.at(ways, b, before[a] + length)
            np.minimum.at(ways, a, before[b] + length)
            ways[ways > limit] = np.inf
            if np.array_equal(ways, before):
                return np.isfinite(ways)

    def held(self, free: Flags, joints: Sequence[int]) -> Flags:
        """Vertices (W,) without the farthest from joints of pieces that are free as a whole, which would drift."""
        found = free.copy()
        joined = self.joints[[*joints]].mean(axis=0)
        for piece in np.unique(self.pieces[free]):
            members = np.flatnonzero(self.pieces == piece)
            if free[members].all():
                far = np.linalg.norm(self.positions[members] - joined, axis=1)
                found[members[far > FARTHEST * far.max()]] = False
        return found

    @cached_property
    def pieces(self) -> Indices:
        """The connected piece of each vertex (W,)."""
        return np.asarray(_core.islands(self.triangles.astype(np.int32), len(self.positions)), np.intp)

    def is_limb(self, joint: int) -> bool:
        """Whether the bone of a joint is longer than two radii of its limb."""
        own = self.weights[:, joint] > 0.5
        length = float(np.linalg.norm(self.tails[joint] - self.heads[joint]))
        if np.count_nonzero(own) < FEWEST or length == 0:
            return False
        far = _distances(self.positions[own], self.heads[joint], self.tails[joint])
        return length > 2 * float(np.median(far))

    def is_hinge(self, joint: int) -> bool:
        """Whether a joint is between two bones of one limb, as an elbow, or of a finger.

        Names tell, if they are English, and else the tree of the joints and the lengths of bones.
        """
        parent, name = int(self.parents[joint]), self.names[joint]
        if parent < 0 or is_twisting(name) or any(NO_HINGE.fullmatch(word) for word in words(name)):
            return False
        if np.count_nonzero(self.core(joint)) < FEWEST:
            return False
        part = canonical(name) or ""
        if part.endswith(("upper arm", "thigh")):
            return False
        if part.endswith(("forearm", "shin")) or HINGES.search(stem(name)):
            return True
        is_alone = bool((self.parents == parent).sum() == 1)
        return is_alone and (parent in self._limbs or self.is_limb(parent))

    def is_trunk(self, joint: int) -> bool:
        return bool((self.parents == joint).sum() > 1)


def _distances(points: Floats, head: Floats, tail: Floats) -> Floats:
    """How far points (N, 3) are from a bone."""
    along = tail - head
    at = np.clip((points - head) @ along / max(float(along @ along), 1e-300), 0, 1)
    return np.asarray(np.linalg.norm(points - head - at[:, None] * along, axis=1))


@dataclass(frozen=True, eq=False)
class Patch:
    """The free skin around a joint, or around siblings that share skin.

    Attributes
    ----------
    surface : Surface
    joints : tuple of int
    free : (W,) ndarray of bool
    size : float
        The radius of the joint.
    shares : (W, n) ndarray
        How much of a delta goes to each of the joints.
    """

    surface: Surface
    joints: tuple[int, ...]
    free: Flags
    size: float
    shares: Floats

    @classmethod
    def around(cls, surface: Surface, joints: Sequence[int]) -> Patch | None:
        """The patch of joints; None if they share hardly a vertex with the joints above."""
        allowed = np.zeros(len(surface.parents), np.bool_)
        for joint in joints:
            allowed |= surface.below(joint)
            above = int(surface.parents[joint])
            for _ in range(2):
                if above >= 0:
                    allowed[above] = True
                    above = int(surface.parents[above])
        own = surface.weights[:, allowed].sum(axis=1) > OWN
        near, radii = np.zeros_like(own), []
        for joint in joints:
            core = surface.core(joint) & own
            if np.count_nonzero(core) < FEWEST:
                return None
            radii.append(surface.radius(joint, core))
            near |= surface.within(core, radii[-1] * (REACH_OF_TRUNK if surface.is_trunk(joint) else REACH))
        free = surface.held(near & own, joints)
        size = float(np.mean(radii))
        if np.count_nonzero(free) < FEWEST or not size > 0:
            return None
        return cls(surface, tuple(joints), free, size, surface.shares(joints, size))

    @cached_property
    def vertices(self) -> Indices:
        """The vertices (N,) of the surface that take part."""
        inner = self.free[self.surface.triangles].any(axis=1)
        used = self.free.copy()
        used[self.surface.triangles[inner].reshape(-1)] = True
        # triangles beside these matter for angles
        beside = used[self.surface.triangles].sum(axis=1) > 1
        used[self.surface.triangles[beside].reshape(-1)] = True
        return np.flatnonzero(used)

    @cached_property
    def _faces(self) -> tuple[NDArray[np.int32], Flags]:
        """Triangles (T, 3) of the patch, of its vertices, and which of them (T,) have a free one."""
        place = np.full(len(self.surface.positions), -1)
        place[self.vertices] = np.arange(len(self.vertices))
        chosen = (place[self.surface.triangles] >= 0).all(axis=1)
        faces = self.surface.triangles[chosen]
        return place[faces].astype(np.int32), np.asarray(self.free[faces].any(axis=1))

    @cached_property
    def _nearest(self) -> Indices:
        """Which of the joints has the most of each vertex (N,)."""
        return np.asarray(self.shares[self.vertices].argmax(axis=1))

    def relax(self, matrices: Floats, positions: Floats, factors: Factors) -> Floats:
        """The positions (W, 3) of the surface in a pose (J, 3, 4), relaxed."""
        surface, vertices = self.surface, self.vertices
        rest, posed = surface.positions[vertices], positions[vertices]
        faces, inner = self._faces
        planes, bones, distances = self._limits(matrices, rest, posed)
        parts, apexes, rest_apexes = self._parts(matrices)
        wholes = np.zeros(len(apexes))
        np.add.at(wholes, parts[inner], _cones(rest, faces[inner], rest_apexes[parts[inner]]))
        wholes += self._caps(rest, rest_apexes)
        held = self._caps(posed, apexes)
        has_volume = wholes.sum() > 0
        wholes = np.where(np.abs(wholes) > 0.05 * np.abs(wholes).sum(), wholes, 0.0)
        found = positions.copy()
        found[vertices] = _core.relax(
            rest,
            posed,
            faces,
            self.free[vertices],
            self.size,
            triangle_parts=parts,
            apexes=apexes,
            rest_volumes=wholes,
            held_volumes=held,
            planes=planes,
            bones=bones,
            vertex_bones=np.stack([2 * self._nearest, 2 * self._nearest + 1], axis=1),
            distances=distances,
            bending=factors["bending"] / len(self.joints),
            volume=factors["volume"] if has_volume else 0.0,
            crease=factors["crease"],
            thinner=factors["thinner"],
            thicker=factors["thicker"],
        )[0]
        return found

    def carry(self, posed: Floats, relaxed: Floats) -> Floats:
        """Where the surface (W, 3) is in a pose if clothes follow the skin, whose free vertices are relaxed."""
        moves = np.where(self.free[:, None], relaxed - posed, 0.0)
        for vertices, corners, barycentric, factors in self._layers:
            carried = np.einsum("vc,vcx->vx", barycentric, moves[corners])
            moves[vertices] += factors[:, None] * (carried - moves[vertices])
        return np.asarray(posed + moves)

    @cached_property
    def reached(self) -> Flags:
        """The vertices (W,) that relaxing moves: free ones, and those of clothes at the skin."""
        found = self.free.copy()
        for vertices, corners, _barycentric, factors in self._layers:
            found[vertices] |= found[corners].any(axis=1) & (factors > 0)
        return found

    @cached_property
    def _layers(self) -> list[tuple[Indices, Indices, Floats, Floats]]:
        """For each layer its vertices (N,), where the layers under it are nearest to them, and how far they follow.

        The largest piece that bends is relaxed by itself. Other pieces that bend, as trousers do, follow it where they
        are near, one after the other, and then pieces that do not, as boots. The nearest place is given by the corners
        (N, 3) of a triangle and barycentric coordinates (N, 3).
        """
        surface, found = self.surface, []
        # The joints below bend with the skin above them.
        below = [surface.below(joint) for joint in self.joints]
        weights = np.column_stack([*map(surface.moved, self.joints), surface.weights[:, ~np.logical_or.reduce(below)]])
        corners = surface.positions[surface.triangles]
        areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        piece_of = surface.pieces[surface.triangles[:, 0]]
        areas = np.bincount(piece_of, areas * self.free[surface.triangles].all(axis=1), surface.pieces.max() + 1)
        core = np.logical_or.reduce([surface.core(joint) for joint in self.joints]) & self.free
        bending = np.flatnonzero(np.bincount(surface.pieces[core], minlength=len(areas)) >= FEWEST)
        bending = bending[np.argsort(-areas[bending], kind="stable")]
        others = np.setdiff1d(np.arange(len(areas)), bending)
        for number, pieces in enumerate([*bending[1:, None], others], 1):
            under = surface.triangles[np.isin(piece_of, bending[:number])]
            vertices = np.flatnonzero(np.isin(surface.pieces, pieces))
            if not len(under):
                continue
            nearest, barycentric, distances = _core.nearest_on_surface(
                surface.positions, under.astype(np.int32), surface.positions[vertices]
            )
            fading = np.clip((LEFT - distances / self.size) / (LEFT - CARRIED), 0, 1)
            near = fading > 0
            vertices, barycentric, fading = vertices[near], barycentric[near], fading[near]
            places = under[nearest[near]]
            skin = np.einsum("vc,vcj->vj", barycentric, weights[places])
            alike = np.minimum(skin, weights[vertices]).sum(axis=1)
            factors = np.minimum(alike / IN_COMMON, 1) * fading**2 * (3 - 2 * fading)
            found.append((vertices, places, barycentric, factors))
        return found

    def _limits(self, matrices: Floats, rest: Floats, posed: Floats) -> tuple[Floats, Floats, Floats]:
        """Planes (N, 4) between the two limbs of a joint, bones (2 n, 2, 3) in the pose, and distances (N,) at rest."""
        surface, size = self.surface, self.size
        planes = np.zeros((len(rest), 4))
        bones = np.empty((2 * len(self.joints), 2, 3))
        distances = np.full(len(rest), np.inf)
        for number, joint in enumerate(self.joints):
            parent, mine = int(surface.parents[joint]), self._nearest == number
            apex = _moved(matrices[joint], surface.joints[joint])
            along, above = surface.bones[joint], surface.joints[joint] - surface.joints[parent]
            above = unit(above)
            if above @ along < 0.5:
                above = along
            own, others = matrices[joint, :, :3] @ along, matrices[parent, :, :3] @ above
            between = (own + others) / max(float(np.linalg.norm(own + others)), 1e-9)
            at_rest = (rest - surface.joints[joint]) @ (above + along) / np.linalg.norm(above + along)
            inward = own - others
            if np.linalg.norm(inward) >= 0.3:
                inner = (posed - apex) @ inward / np.linalg.norm(inward) > -0.1 * size
                chosen = mine & (np.abs(at_rest) > 0.02 * size) & inner
                planes[chosen, :3] = np.sign(at_rest[chosen, None]) * between
                planes[chosen, 3] = -np.sign(at_rest[chosen]) * (between @ apex)
            for place, one in enumerate((parent, joint)):
                head, tail = surface.heads[one], surface.joints[joint] if one == parent else surface.tails[one]
                bones[2 * number + place] = _moved(matrices[one], head), _moved(matrices[one], tail)
                distances[mine] = np.minimum(distances[mine], _distances(rest[mine], head, tail))
        return planes, bones, np.where(distances > 0.25 * np.median(distances), distances, 0.0)

    def _parts(self, matrices: Floats) -> tuple[NDArray[np.int32], Floats, Floats]:
        """The part (T,) of each triangle, and the apexes (P, 3) of parts in the pose and at rest.

        A joint divides the skin into a moved and an unmoved part; siblings have one for all, as theirs are not closed.
        """
        surface, faces = self.surface, self._faces[0]
        at_rest = surface.joints[list(self.joints)]
        posed = np.stack([_moved(matrices[joint], surface.joints[joint]) for joint in self.joints])
        if len(self.joints) > 1:
            return np.zeros(len(faces), np.int32), posed.mean(axis=0)[None], at_rest.mean(axis=0)[None]
        parts = (self._sides[faces].sum(axis=1) > 1).astype(np.int32)
        return parts, np.repeat(posed, 2, axis=0), np.repeat(at_rest, 2, axis=0)

    @cached_property
    def _sides(self) -> Indices:
        """Which part each vertex (N,) is of."""
        if len(self.joints) > 1:
            return np.zeros(len(self.vertices), np.intp)
        return (self.surface.moved(self.joints[0])[self.vertices] > 0.5).astype(np.intp)

    @cached_property
    def _rims(self) -> list[Indices]:
        """The sides (E, 2) at each end of the patch, from corner to corner as their triangles turn."""
        faces, inner = self._faces
        sides = faces[inner][:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2).astype(np.intp)
        count = len(self.vertices)
        alone = sides[~np.isin(sides[:, 0] * count + sides[:, 1], sides[:, 1] * count + sides[:, 0])]
        if not len(alone):
            return []
        islands = _core.islands(np.concatenate([alone, alone[:, 1:]], axis=1), count)[alone[:, 0]]
        return [alone[islands == island] for island in np.unique(islands)]

    def _caps(self, positions: Floats, apexes: Floats) -> Floats:
        """The volumes (P,) of fans over the ends of the patch."""
        found = np.zeros(len(apexes))
        for rim in self._rims:
            corners = np.unique(rim)
            part = int(self._sides[corners].mean() > 0.5)
            middle = positions[corners].mean(axis=0) - apexes[part]
            around = positions[rim] - apexes[part]
            found[part] += float((np.cross(around[:, 1], around[:, 0]) @ middle).sum()) / 6
        return found


def _cones(positions: Floats, triangles: NDArray[np.int32], apexes: Floats) -> Floats:
    """The volumes (T,) of tetrahedra from apexes (T, 3)."""
    a, b, c = (positions[triangles[:, corner]] - apexes for corner in range(3))
    return np.asarray(np.einsum("ti,ti->t", a, np.cross(b, c)) / 6)


def _moved(matrix: Floats, point: Floats) -> Floats:
    moved: Floats = matrix[:3, :3] @ point + matrix[:3, 3]
    return moved
