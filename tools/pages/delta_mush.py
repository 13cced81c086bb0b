# SPDX-License-Identifier: MIT
"""Delta Mush and Direct Delta Mush, to be measured beside the methods of the package.

Both smooth the motion of joints over the surface, which no method of the package does. They are written to be right
rather than fast.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse import linalg

from sbs.characters.character import Character
from sbs.options import DeformOptions
from sbs.quality.methods import Deformer, NamedMethod
from sbs.quality.surface import RestSurface, make_surface

Floats = NDArray[np.float64]

ITERATIONS, STEP = 20, 0.5
STRENGTH, POWER = 5.0, 4
NEGLIGIBLE = 1e-4
"""An influence of Direct Delta Mush of less weight is dropped, or every vertex would have all joints."""

UPPER = np.triu_indices(4)
TO_FULL = np.array([[0, 1, 2, 3], [1, 4, 5, 6], [2, 5, 7, 8], [3, 6, 8, 9]])
"""The places of the elements of a symmetric matrix (4, 4) among the elements of its upper triangle."""


class Smoothed:
    """A method that smooths over the welded surface of a mesh: seams do not open."""

    def __init__(self, character: Character) -> None:
        mesh = character.mesh
        influences = character.skin.influences()
        self.surface = make_surface(mesh.positions, mesh.triangles, influences.joint_indices, influences.joint_weights)
        self.rest = self.surface.positions
        self.weights = np.zeros((len(self.rest), len(character.skeleton)))
        kept = self.surface.kept
        rows = np.arange(len(kept))[:, None]
        np.add.at(self.weights, (rows, influences.joint_indices[kept]), influences.joint_weights[kept])

    def deform(self, skinning_matrices: ArrayLike, /, **_options: Unpack[DeformOptions]) -> Floats:
        """Positions (V, 3) of a pose (J, 4, 4)."""
        return self.pose(np.asarray(skinning_matrices, np.float64))[self.surface.surface_vertex]

    def deform_many(self, skinning_matrices: ArrayLike, /, **options: Unpack[DeformOptions]) -> Floats:
        """Positions (F, V, 3) of several."""
        return np.stack([self.deform(matrices, **options) for matrices in np.asarray(skinning_matrices)])

    def pose(self, matrices: Floats) -> Floats:
        """Positions (W, 3) of the surface, here by linear blending; vertices without weights stay."""
        blended = np.einsum("wj,jxy->wxy", self.weights, matrices[:, :3])
        posed = np.einsum("wxy,wy->wx", blended[..., :3], self.rest) + blended[..., 3]
        return np.where(self.weights.max(axis=1, keepdims=True, initial=0) > 0, posed, self.rest)


def laplacian(surface: RestSurface) -> sparse.csr_array:
    """(W, W): a vertex less the mean of its neighbors over edges; 0 for a vertex without any."""
    count = len(surface.positions)
    sides = surface.whole.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    sides = np.concatenate([sides, sides[:, ::-1]])
    ones = np.ones(len(sides))
    adjacent = sparse.coo_array((ones, (sides[:, 0], sides[:, 1])), shape=(count, count)).tocsr()
    adjacent.setdiag(0)
    adjacent.eliminate_zeros()
    adjacent.data[:] = 1
    degrees = np.asarray(adjacent.sum(axis=1)).reshape(-1)
    used = sparse.diags_array((degrees > 0).astype(float))
    return sparse.csr_array(used - sparse.diags_array(1 / np.maximum(degrees, 1)) @ adjacent)


class DeltaMush(Smoothed):
    """Linear blending, smoothed, with the detail that smoothing takes away put back.

    Mancewicz, J., Derksen, M. L., Rijpkema, H. and Wilson, C. A. 2014. Delta Mush: Smoothing Deformations While
    Preserving Detail. DigiPro '14. Detail is kept in frames of the normal and an edge of the smoothed surface.
    """

    def __init__(self, character: Character) -> None:
        super().__init__(character)
        self.step = sparse.csr_array(sparse.eye_array(len(self.rest)) - STEP * laplacian(self.surface))
        faces = self.surface.whole.triangles
        self.toward = np.arange(len(self.rest))
        self.toward[faces.reshape(-1)] = np.roll(faces, -1, axis=1).reshape(-1)
        smooth = self.smoothed(self.rest)
        self.detail = np.einsum("wxk,wx->wk", self.frames(smooth), self.rest - smooth)

    def smoothed(self, points: Floats) -> Floats:
        for _ in range(ITERATIONS):
            points = np.asarray(self.step @ points)
        return points

    def frames(self, points: Floats) -> Floats:
        """A normal, a tangent and their cross product, (W, 3, 3), in columns."""
        faces = self.surface.whole.triangles
        a, b, c = points[faces.T]
        around = np.repeat(np.cross(b - a, c - a), 3, axis=0)
        sums = [np.bincount(faces.reshape(-1), axis, len(points)) for axis in around.T]
        normals = unit(np.stack(sums, axis=1))
        tangents = points[self.toward] - points
        tangents = unit(tangents - normals * np.einsum("wx,wx->w", tangents, normals)[:, None])
        return np.stack([normals, tangents, np.cross(normals, tangents)], axis=2)

    def pose(self, matrices: Floats) -> Floats:
        smooth = self.smoothed(super().pose(matrices))
        return np.asarray(smooth + np.einsum("wxk,wk->wx", self.frames(smooth), self.detail))


class DirectDeltaMush(Smoothed):
    """The same without iterations in a pose: joints move moments of the surface around a vertex.

    Le, B. H. and Lewis, J. P. 2019. Direct Delta Mush Skinning and Variants. ACM Transactions on Graphics 38(4). Each
    influence has a symmetric matrix (4, 4), the smoothed w u u^T of homogeneous rest positions u; translations and
    rotations are smoothed alike, by (I + STRENGTH L)^-POWER.
    """

    def __init__(self, character: Character) -> None:
        super().__init__(character)
        count = len(self.rest)
        # About the middle, where the products have the fewest digits to lose.
        self.middle = self.rest.mean(axis=0)
        points = np.concatenate([self.rest - self.middle, np.ones((count, 1))], axis=1)
        products = points[:, UPPER[0]] * points[:, UPPER[1]]
        solve = linalg.splu(sparse.csc_array(sparse.eye_array(count) + STRENGTH * laplacian(self.surface))).solve
        blocks, total = [], np.zeros((count, 10))
        for weights in self.weights.T:
            moments = weights[:, None] * products
            for _ in range(POWER if weights.any() else 0):
                moments = solve(moments)
            moments[moments[:, 9] < NEGLIGIBLE] = 0
            total += moments
            blocks.append(moments)
        scale = 1 / np.where(total[:, 9] > 0, total[:, 9], 1)
        self.mean = total[:, [3, 6, 8]] * scale[:, None]
        self.moved = np.asarray(total[:, 9] > 0)
        # Rows are columns of the sums over joints, so that one product does a pose.
        full = [sparse.csr_array((block * scale[:, None])[:, TO_FULL].reshape(count * 4, 4)) for block in blocks]
        self.moments = sparse.csr_array(sparse.hstack(full))

    def pose(self, matrices: Floats) -> Floats:
        joints = matrices[:, :3].copy()
        joints[..., 3] += joints[..., :3] @ self.middle
        sums = (self.moments @ joints.transpose(0, 2, 1).reshape(-1, 3)).reshape(-1, 4, 3)
        moved = sums[:, 3]
        covariance = sums[:, :3].transpose(0, 2, 1) - moved[:, :, None] * self.mean[:, None, :]
        left, _, right = np.linalg.svd(covariance)
        left[..., 2] *= np.sign(np.linalg.det(left @ right))[:, None]
        offset = (self.rest - self.middle) - self.mean
        posed = np.einsum("wxy,wyz,wz->wx", left, right, offset) + moved
        return np.where(self.moved[:, None], posed, self.rest)


def unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1))


@dataclass(frozen=True)
class Anchor(NamedMethod):
    """A method that isn't in the package."""

    make: Callable[[Character], Deformer]  # binds it to a character

    def skin(self, character: Character) -> Deformer:
        return self.make(character)


ANCHORS: dict[str, NamedMethod] = {
    "LBS + Delta Mush": Anchor("LBS and Delta Mush", {}, DeltaMush),
    "Direct Delta Mush": Anchor("Direct Delta Mush", {}, DirectDeltaMush),
}
