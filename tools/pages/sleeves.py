# SPDX-License-Identifier: MIT
"""A cloth-like simulation to make examples: limbs in tight sleeves.

Macklin, M., Müller, M. and Chentanez, N. 2016. XPBD: Position-Based Simulation of Compliant Constrained Dynamics.
MIG '16. Constraints are averaged at each vertex in place of being solved in turn, and nothing has inertia.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sbs.characters.character import Character
from sbs.quality.surface import make_surface
from sbs.weights import bone_segments

Floats = NDArray[np.float64]

STEPS, ITERATIONS = 10, 30
"""Poses on the way from rest to each pose, and relaxations in each of them."""

BENDING = 0.2
"""How stiff springs across an edge are, relative to springs along edges."""

RELAXATION = 1.5

LEAST = 0.01
"""The weight of a limb from which a vertex is free."""


class Sleeves:
    """The surface of a character as springs: vertices of limbs are free, all others follow their heaviest joint.

    A vertex that follows a limb most stays as far from the bone of its limb as it is at rest, or farther, as cloth over
    a capsule does.
    """

    def __init__(self, character: Character, limbs: NDArray[np.intp]) -> None:
        self.character = character
        mesh = character.mesh
        influences = character.skin.influences()
        surface = make_surface(mesh.positions, mesh.triangles, influences.joint_indices, influences.joint_weights)
        self.surface_vertex, self.rest = surface.surface_vertex, np.asarray(surface.positions, np.float64)
        self.joint = influences.joint_indices[surface.kept, 0]
        of_limbs = np.isin(influences.joint_indices, limbs) & (influences.joint_weights > LEAST)
        self.free = np.asarray(of_limbs.any(axis=1))[surface.kept]
        self.covered = np.isin(self.joint, limbs)
        self.heads, self.tails = bone_segments(character.skeleton)
        self.radii = np.linalg.norm(self.rest - self._nearest(self.rest, self.heads, self.tails), axis=1)
        triangles = surface.whole.triangles
        edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        opposite = triangles[:, [2, 0, 1]].reshape(-1)
        order = np.lexsort((edges[:, 1], edges[:, 0]))
        edges, opposite = edges[order], opposite[order]
        twice = np.flatnonzero((edges[1:] == edges[:-1]).all(axis=1))
        across = np.stack([opposite[twice], opposite[twice + 1]], axis=1)
        springs = np.concatenate([np.unique(edges, axis=0), across])
        stiffness = np.repeat([1.0, BENDING], [len(springs) - len(across), len(across)])
        kept = self.free[springs].any(axis=1) & (springs[:, 0] != springs[:, 1])
        self.springs, self.stiffness = springs[kept], stiffness[kept]
        self.lengths = np.linalg.norm(self.rest[self.springs[:, 0]] - self.rest[self.springs[:, 1]], axis=1)
        count, rows = len(self.rest), np.arange(len(self.springs))
        signs = (np.ones(len(rows)), -np.ones(len(rows)))
        places = (np.tile(rows, 2), self.springs.T.reshape(-1))
        self.difference = sparse.csr_array((np.concatenate(signs), places), shape=(len(rows), count))
        # of a spring with one pinned end the free one takes all of the correction
        ends = self.free[self.springs].sum(axis=1)
        self.share = self.stiffness / np.maximum(ends, 1)
        load = np.abs(self.difference).T @ self.stiffness
        self.scatter = sparse.csr_array(
            sparse.diags_array(self.free * RELAXATION / np.maximum(load, 1)) @ self.difference.T
        )

    def _nearest(self, points: Floats, heads: Floats, tails: Floats) -> Floats:
        """The point of its joint's bone that is nearest to each point (..., W, 3)."""
        start, along = heads[..., self.joint, :], (tails - heads)[..., self.joint, :]
        square = np.maximum(np.square(along).sum(axis=-1), 1e-30)
        share = np.clip(((points - start) * along).sum(axis=-1) / square, 0, 1)
        return np.asarray(start + share[..., None] * along)

    def pose(self, rotation_vectors: Floats) -> Floats:
        """Positions (V, 3) in a pose (J, 3), reached from rest in steps."""
        points, before = self.rest, np.tile(np.eye(4), (len(rotation_vectors), 1, 1))
        for step in range(1, STEPS + 1):
            after = self.character.skinning_matrices(rotation_vectors=rotation_vectors * step / STEPS)
            change = (after @ np.linalg.inv(before))[self.joint]
            points = np.einsum("wxy,wy->wx", change[:, :3, :3], points) + change[:, :3, 3]
            pinned = after[self.joint][~self.free]
            points[~self.free] = np.einsum("wxy,wy->wx", pinned[:, :3, :3], self.rest[~self.free]) + pinned[:, :3, 3]
            ends = (np.einsum("jxy,jy->jx", after[:, :3, :3], at) + after[:, :3, 3] for at in (self.heads, self.tails))
            points = self._relaxed(points, *ends)
            before = after
        return np.asarray(points[self.surface_vertex])

    def _relaxed(self, points: Floats, heads: Floats, tails: Floats) -> Floats:
        for _ in range(ITERATIONS):
            along = self.difference @ points
            length = np.linalg.norm(along, axis=1)
            pull = self.share * (self.lengths / np.maximum(length, 1e-12) - 1)
            points = points + self.scatter @ (pull[:, None] * along)
            center = self._nearest(points, heads, tails)
            away = points - center
            distance = np.linalg.norm(away, axis=1)
            inside = self.covered & (distance < self.radii)
            outward = away[inside] * (self.radii[inside] / np.maximum(distance[inside], 1e-12))[:, None]
            points[inside] = center[inside] + outward
        return points
