# SPDX-License-Identifier: MIT
"""What a deformed mesh is measured by. docs/quality.md tells it with pictures.

All measures are numbers without a unit. They don't change when the deformed mesh is moved as a whole, nor when mesh and
skeleton are scaled together, nor by the order of vertices and triangles.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .surface import Floats, Indices, RestSurface, frames

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
