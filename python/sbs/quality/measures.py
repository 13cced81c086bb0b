# SPDX-License-Identifier: MIT
"""What a deformed mesh is measured by. docs/quality.md tells it with pictures.

All measures are numbers without a unit. They don't change when the deformed mesh is moved as a whole, nor when mesh and
skeleton are scaled together, nor by the order of vertices and triangles.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .surface import Floats, Indices, RestSurface, Triangles, frames

LOW, HIGH = 0.01, 0.99
"""Shares of the surface: measures tell what one hundredth of it is below and above, beside the extremes."""


def area_ratios(surface: RestSurface, positions: Floats) -> Floats:
    """The area of each triangle (T,) over that at rest."""
    a, b, c = np.moveaxis(positions[surface.triangles], 1, 0)
    return np.asarray(np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2 / surface.areas)


def edge_ratios(surface: RestSurface, positions: Floats) -> Floats:
    """The length of each edge (E,) over that at rest."""
    return np.asarray(np.linalg.norm(np.diff(positions[surface.edges], axis=1)[:, 0], axis=1) / surface.edge_lengths)


def tears(surface: RestSurface, positions: Floats) -> Floats:
    """How much the deformation breaks at each edge between two triangles, (P,).

    On each triangle the deformation has a gradient. A tear is the difference of the gradients at both sides of an edge,
    by its largest singular value: the second difference of the positions across the edge, per length of what was
    there at rest, in the direction in which it is largest. On a straight tube it is |x[i-1] - 2 x[i] + x[i+1]| / h of
    rings at a distance h. Of a mesh that is moved, turned or scaled as a whole it is 0; of one that is bent by an angle
    at an edge, 2 sin(angle / 2); where one ring is pulled away from the next by a distance d, d / h.
    """
    gradients = frames(positions, surface.triangles) @ surface.inverse_frames
    jumps = gradients[surface.neighbors[:, 0]] - gradients[surface.neighbors[:, 1]]
    # Along the edge both gradients agree, so that a jump has two singular values; their squares are the eigenvalues of
    # J^T J, and known by its trace and its norm.
    squares = np.swapaxes(jumps, 1, 2) @ jumps
    trace = np.einsum("pii->p", squares)
    norm = np.einsum("pij,pij->p", squares, squares)
    return np.asarray(np.sqrt((trace + np.sqrt(np.maximum(2 * norm - trace**2, 0))) / 2))


LEAST_STRETCH = 0.1
"""Singular values below this count as this in the surface energy, or one triangle that vanishes would outweigh all."""


def surface_energies(surface: RestSurface, positions: Floats) -> Floats:
    """s1^2 + s2^2 + 1 / s1^2 + 1 / s2^2 - 4 of each triangle (T,).

    s1 and s2 are the singular values of the deformation's gradient in the plane of the triangle. 0 where it is moved
    and turned only, and as much for a stretch by s as for a squash by 1 / s (the symmetric Dirichlet energy: Smith, J.
    and Schaefer, S. 2015. Bijective Parameterization with Free Boundaries. ACM Transactions on Graphics 34(4)).
    """
    rest, posed = (_gram(points, surface.triangles) for points in (surface.positions, positions))
    area = _determinant(rest)
    # Eigenvalues of rest^-1 posed, by their sum and their product.
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
    """How much the surface is folded otherwise than at rest: the sum of 3 l^2 / (A1 + A2) (angle - angle at rest)^2.

    Over the edges inside, of the length l and between triangles of the areas A1 and A2 at rest (Grinspun, E., Hirani,
    A. N., Desbrun, M. and Schroeder, P. 2003. Discrete Shells. SCA '03). Like the integral of a squared curvature over
    a surface, it has no unit; a finer mesh leaves it as it is where the surface is smooth, and makes it larger at a
    crease.
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
    """The distance of each point (N, 3) to the nearest of its segments, (N, K, 3) and (N, K, 3); NaN is no segment."""
    along = tails - heads
    lengths = np.einsum("nkx,nkx->nk", along, along)
    to_point = points[:, None] - heads
    share = np.einsum("nkx,nkx->nk", to_point, along) / np.where(lengths > 0, lengths, 1)
    apart = to_point - np.clip(share, 0, 1)[..., None] * along
    squares = np.einsum("nkx,nkx->nk", apart, apart)
    return np.asarray(np.sqrt(np.fmin.reduce(squares, axis=1)))


def weighted_quantiles(values: NDArray[np.float64], weights: Floats, shares: tuple[float, ...]) -> Floats:
    """The values (S,) that such shares of the weight are below."""
    order = np.argsort(values)
    sums = np.cumsum(weights[order])
    # Where a share is met exactly, as in regular meshes, rounding shall not choose.
    places = np.searchsorted(sums, np.asarray(shares) * sums[-1] * (1 - 1e-9))
    return np.asarray(values[order[np.minimum(places, len(values) - 1)]])


def second_differences(path: Floats, size: float) -> Floats:
    """How far each point is from going on evenly: (S - 2, N) of a path (S, N, 3), as shares of `size`."""
    return np.asarray(np.linalg.norm(path[2:] - 2 * path[1:-1] + path[:-2], axis=2) / size)


def jumps(path: Floats, size: float) -> Floats:
    """How much longer a step is than the one before and the one after together: (S - 3, N), as shares of `size`.

    0 wherever a path is smooth or has a corner, as at the keys of an animation, where its second difference is not 0.
    A point that jumps has about the length of its jump, however fine the steps are.
    """
    steps = np.linalg.norm(np.diff(path, axis=0), axis=2) / size
    return np.asarray(np.maximum(steps[1:-1] - steps[:-2] - steps[2:], 0))


def pair_areas(surface: RestSurface) -> Floats:
    """The area that each pair of neighbors (P,) stands for."""
    return np.asarray(surface.areas[surface.neighbors].sum(axis=1) / 3)


def triangle_joints(heaviest: Indices, triangles: NDArray[np.integer]) -> Indices:
    """The joint of each triangle (T,): that of most of its corners, of three different ones the middle number.

    `heaviest` (W,) are the joints of the vertices, -1 for none.
    """
    return np.asarray(np.sort(heaviest[triangles], axis=1)[:, 1])
