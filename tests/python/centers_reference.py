# SPDX-License-Identifier: MIT
"""Optimized centers of rotation from their definition (Le and Hodgins 2016): every vertex against all of the surface.

Nothing here is fast, and nothing is shared with the library.
"""

from __future__ import annotations

import numpy as np

REFINEMENT = 0.1  # triangles are split until weights differ by at most this along every edge


def dense_weights(joint_indices: np.ndarray, joint_weights: np.ndarray) -> np.ndarray:
    """A matrix (V, J) with rows of sum 1, or 0; only positive weights count."""
    indices, weights = np.asarray(joint_indices), np.asarray(joint_weights, np.float64)
    good = np.where(np.isfinite(weights) & (weights > 0), weights, 0.0)
    dense = np.zeros((len(indices), indices.max() + 1))
    np.add.at(dense, (np.arange(len(indices))[:, None], indices), good)
    sums = dense.sum(axis=1, keepdims=True)
    return np.divide(dense, sums, out=np.zeros_like(dense), where=sums > 0)


def barycentric_parts(parts: int) -> np.ndarray:
    """Barycentric coordinates (parts^2, 3) of the centroids of the parts that a triangle is cut into."""
    thirds = [
        (i + shift, j + shift, 3 * parts - i - j - 2 * shift)
        for shift in (1, 2)
        for i in range(0, 3 * parts, 3)
        for j in range(0, 3 * parts - i, 3)
        if 3 * parts - i - j - 2 * shift > 0
    ]
    assert len(thirds) == parts * parts
    return np.array(thirds) / (3 * parts)


def samples(
    positions: np.ndarray, triangles: np.ndarray, weights: np.ndarray, refinement: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Areas (N,), places (N, 3) and weights (N, J) of all parts of all triangles."""
    areas, places, shares = [], [], []
    for corners in triangles:
        (a, b, c), ends = positions[corners], weights[corners]
        apart = max(np.linalg.norm(ends[i] - ends[i - 1]) for i in range(3))
        parts = max(1, int(np.ceil(apart / refinement)))
        barycentric = barycentric_parts(parts)
        areas.append(np.full(parts * parts, np.linalg.norm(np.cross(b - a, c - a)) / 2 / parts**2))
        places.append(barycentric @ positions[corners])
        shares.append(barycentric @ ends)
    return np.concatenate(areas), np.concatenate(places), np.concatenate(shares)


def similarities(row: np.ndarray, others: np.ndarray, sigma: float) -> np.ndarray:
    """s(W_p, W_v) (N,) of a row of weights (J,) and others (N, J), over all ordered pairs of joints."""
    total = np.zeros(len(others))
    joints = np.flatnonzero(row)
    for j in joints:
        for k in joints:
            if j != k:
                difference = row[j] * others[:, k] - row[k] * others[:, j]
                product = row[j] * row[k] * others[:, j] * others[:, k]
                total += product * np.exp(-(difference**2) / sigma**2)
    return total


def optimized_centers(
    positions: np.ndarray,
    triangles: np.ndarray,
    joint_indices: np.ndarray,
    joint_weights: np.ndarray,
    *,
    sigma: float = 0.1,
    refinement: float = REFINEMENT,
    vertices: np.ndarray | None = None,
) -> np.ndarray:
    """Centers (V, 3), or those of some vertices; the rest position where nothing is similar."""
    positions, triangles = np.asarray(positions, np.float64), np.asarray(triangles)
    weights = dense_weights(joint_indices, joint_weights)
    areas, places, shares = samples(positions, triangles, weights, refinement)
    chosen = np.arange(len(positions)) if vertices is None else vertices
    centers = positions[chosen].copy()
    for row, vertex in enumerate(chosen):
        mass = areas * similarities(weights[vertex], shares, sigma)
        if mass.sum() > 0:
            centers[row] = mass @ places / mass.sum()
    return centers
