# SPDX-License-Identifier: MIT
"""Measures of a deformed mesh. docs/quality.md explains them with pictures.

All measures are numbers without a unit. They do not change when the deformed mesh is moved as a whole, when mesh and
skeleton are scaled together, or when vertices and triangles are reordered.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .caps import triangle_areas
from .surface import Floats, Indices, RestSurface, Triangles, frames

LOW, HIGH = 0.01, 0.99
"""Shares of the surface: besides the extremes, measures have percentiles that leave out a hundredth of it."""


def area_ratios(surface: RestSurface, positions: Floats) -> Floats:
    """The area of each triangle (T,) divided by that at rest."""
    return triangle_areas(positions, surface.triangles) / surface.areas


def crossing(surface: RestSurface, positions: Floats) -> NDArray[np.bool_]:
    """Which triangles (T,) cross another that has no vertex at the same point at rest."""
    return _core.triangles_crossing(positions, surface.triangles, representatives=surface.representatives)


def edge_ratios(surface: RestSurface, positions: Floats) -> Floats:
    """The length of each edge (E,) divided by that at rest."""
    return np.asarray(np.linalg.norm(np.diff(positions[surface.edges], axis=1)[:, 0], axis=1) / surface.edge_lengths)


def tears(surface: RestSurface, positions: Floats) -> Floats:
    """How much the deformation changes across each edge between two triangles, (P,).

    The deformation has a gradient on each triangle. A tear is the largest singular value of the difference of the
    gradients at both sides of an edge: the second difference of the positions across the edge, per length at rest, in
    the direction in which it is largest. On a straight tube with rings at a distance h it is
    |x[i-1] - 2 x[i] + x[i+1]| / h. It is 0 for a mesh that is moved, turned or scaled as a whole; 2 sin(angle / 2) for
    one that is bent by an angle at an edge; and d / h where a ring is pulled away from the next by a distance d.
    """
    gradients = frames(positions, surface.triangles) @ surface.inverse_frames
    jumps = gradients[surface.neighbors[:, 0]] - gradients[surface.neighbors[:, 1]]
    # Along the edge both gradients agree, so the difference J has two singular values. Their squares are eigenvalues of
    # J^T J, which follow from its trace and its norm.
    squares = np.swapaxes(jumps, 1, 2) @ jumps
    trace = np.einsum("pii->p", squares)
    norm = np.einsum("pij,pij->p", squares, squares)
    return np.asarray(np.sqrt((trace + np.sqrt(np.maximum(2 * norm - trace**2, 0))) / 2))


LEAST_STRETCH = 0.1
"""Singular values below this count as this in the surface energy, or one triangle that vanishes would outweigh all."""


def surface_energies(surface: RestSurface, positions: Floats) -> Floats:
    """s1^2 + s2^2 + 1 / s1^2 + 1 / s2^2 - 4 of each triangle (T,).

    s1 and s2 are the singular values of the deformation's gradient in the plane of the triangle. It is 0 if the
    triangle is only moved and turned, and the same for a stretch by s as for one by 1 / s (the symmetric Dirichlet
    energy: Smith, J. and Schaefer, S. 2015. Bijective Parameterization with Free Boundaries. ACM Transactions on
    Graphics 34(4)).
    """
    rest, posed = (_gram(points, surface.triangles) for points in (surface.positions, positions))
    area = _determinant(rest)
    # From the sum and the product of the eigenvalues of rest^-1 posed.
    half = (rest[2] * posed[0] - 2 * rest[1] * posed[1] + rest[0] * posed[2]) / (2 * area)
    root = np.sqrt(np.maximum(half**2 - _determinant(posed) / area, 0))
    squares = np.stack([half - root, half + root])
    return np.asarray((np.maximum(squares, 0) + 1 / np.maximum(squares, LEAST_STRETCH**2)).sum(axis=0) - 4)


def _gram(positions: Floats, triangles: Triangles) -> tuple[Floats, Floats, Floats]:
    """Products of two sides a and b of each triangle: a a, a b and b b."""
    corner, one, other = np.moveaxis(positions[triangles], 1, 0)
    a, b = one - corner, other - corner
    return np.einsum("tx,tx->t", a, a), np.einsum("tx,tx->t", a, b), np.einsum("tx,tx->t", b, b)


def _determinant(gram: tuple[Floats, Floats, Floats]) -> Floats:
    return gram[0] * gram[2] - gram[1] ** 2


def bending_energy(surface: RestSurface, positions: Floats) -> float:
    """How much the folding of the surface differs from rest: the sum of 3 l^2 / (A1 + A2) (angle - angle at rest)^2.

    The sum is over edges between two triangles, l the length of the edge and A1 and A2 the areas of the triangles at
    rest (Grinspun, E., Hirani, A. N., Desbrun, M. and Schroeder, P. 2003. Discrete Shells. SCA '03). Like the integral
    of a squared curvature over a surface it has no unit. On a finer mesh it is the same where the surface is smooth,
    and larger at a crease.
    """
    edges = np.diff(surface.positions[surface.neighbor_edges], axis=1)[:, 0]
    stiffness = 3 * np.einsum("px,px->p", edges, edges) / surface.areas[surface.neighbors].sum(axis=1)
    turned = fold_angles(surface, positions) - fold_angles(surface, surface.positions)
    shortest = np.remainder(turned + np.pi, 2 * np.pi) - np.pi
    return float(stiffness @ shortest**2)


def fold_angles(surface: RestSurface, positions: Floats) -> Floats:
    """The signed angle (P,) between the normals at both sides of each edge; 0 beside a triangle without area."""
    a, b, c = np.moveaxis(positions[surface.triangles], 1, 0)
    one, other = np.moveaxis(np.cross(b - a, c - a)[surface.neighbors], 1, 0)
    along = np.diff(positions[surface.neighbor_edges], axis=1)[:, 0]
    lengths = np.linalg.norm(along, axis=1)
    across = np.einsum("px,px->p", np.cross(one, other), along) / np.where(lengths > 0, lengths, 1)
    return np.asarray(np.arctan2(across, np.einsum("px,px->p", one, other)))


def bone_distances(points: Floats, heads: Floats, tails: Floats) -> Floats:
    """The distance of each point (N, 3) to the nearest of its segments, (N, K, 3) and (N, K, 3); NaN: no segment."""
    along = tails - heads
    lengths = np.einsum("nkx,nkx->nk", along, along)
    to_point = points[:, None] - heads
    share = np.einsum("nkx,nkx->nk", to_point, along) / np.where(lengths > 0, lengths, 1)
    apart = to_point - np.clip(share, 0, 1)[..., None] * along
    squares = np.einsum("nkx,nkx->nk", apart, apart)
    return np.asarray(np.sqrt(np.fmin.reduce(squares, axis=1)))


def second_differences(path: Floats, size: float) -> Floats:
    """Second differences (S - 2, N) of paths (S, N, 3), as shares of `size`: 0 for points that move evenly."""
    return np.asarray(np.linalg.norm(path[2:] - 2 * path[1:-1] + path[:-2], axis=2) / size)


def jumps(path: Floats, size: float) -> Floats:
    """How much longer a step is than the ones before and after together: (S - 3, N), as shares of `size`.

    It is 0 where a path is smooth, and also at a corner, as at the keys of an animation, where second differences are
    not 0. For a point that jumps it is about the length of the jump, even with very short steps.
    """
    steps = np.linalg.norm(np.diff(path, axis=0), axis=2) / size
    return np.asarray(np.maximum(steps[1:-1] - steps[:-2] - steps[2:], 0))


def pair_areas(surface: RestSurface) -> Floats:
    """The area that belongs to each pair of neighbors (P,)."""
    return np.asarray(surface.areas[surface.neighbors].sum(axis=1) / 3)


def triangle_joints(heaviest: Indices, triangles: NDArray[np.integer]) -> Indices:
    """The joint of each triangle (T,): that of most of its corners, or the middle number if all three differ.

    `heaviest` (W,) are the joints of the vertices, -1 for none.
    """
    return np.asarray(np.sort(heaviest[triangles], axis=1)[:, 1])
