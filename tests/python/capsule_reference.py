# SPDX-License-Identifier: MIT
"""Capsule weights as the formula says, joint by joint and without any short cut: what the library is held against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NotRequired, TypedDict

import numpy as np

FALLOFFS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear": lambda x: 1 - x,
    "smooth": lambda x: 1 - (3 * x**2 - 2 * x**3),
    "quadratic": lambda x: 1 - 2 * x + x**2,
}


class CapsuleArrays(TypedDict):
    """Keyword arguments of `sbs.weights.Capsules`."""

    heads: np.ndarray
    tails: np.ndarray
    inner_radii: np.ndarray
    outer_radii: np.ndarray
    multipliers: NotRequired[np.ndarray]
    enabled: NotRequired[np.ndarray]


KEYS: tuple[Literal["heads", "tails", "inner_radii", "outer_radii"], ...] = (
    "heads",
    "tails",
    "inner_radii",
    "outer_radii",
)


@dataclass(frozen=True)
class Shape:
    """Where points are in a set of capsules; (V, J) each."""

    distances: np.ndarray
    inner: np.ndarray  # radii at the nearest points of the bones
    outer: np.ndarray


def measure(points: np.ndarray, capsules: CapsuleArrays) -> Shape:
    """Distances from the bones, and the radii there."""
    columns = []
    for head, tail, inner, outer in zip(*(capsules[key] for key in KEYS), strict=True):
        axis = tail - head
        u = np.zeros(len(points))
        if axis.any():
            u = np.clip((points - head) @ axis / (axis @ axis), 0, 1)
        nearest = np.outer(1 - u, head) + np.outer(u, tail)
        columns.append(
            (
                np.linalg.norm(points - nearest, axis=1),
                (1 - u) * inner[0] + u * inner[1],
                (1 - u) * outer[0] + u * outer[1],
            )
        )
    return Shape(*np.moveaxis(np.array(columns), 0, 2))


def dense_weights(
    points: np.ndarray,
    capsules: CapsuleArrays,
    *,
    falloff: str | Sequence[str] = "linear",
    outside: str = "nearest",
) -> np.ndarray:
    """Weights (V, J) of points that lie on no bone; with one fall-off for all capsules, or one for each."""
    shape = measure(points, capsules)
    multipliers = capsules.get("multipliers", np.ones(shape.distances.shape[1]))
    on = capsules.get("enabled", np.ones(shape.distances.shape[1], bool)) & (multipliers > 0)
    with np.errstate(all="ignore"):
        x = (shape.distances - shape.inner) / (shape.outer - shape.inner)
        falloffs = [falloff] * x.shape[1] if isinstance(falloff, str) else falloff
        fallen = np.stack([FALLOFFS[own](column) for own, column in zip(falloffs, np.clip(x, 0, 1).T, strict=True)], 1)
        f = np.where(shape.distances <= shape.inner, 1, fallen)
        f = np.where((shape.distances >= shape.outer) & (shape.distances > shape.inner), 0, f)
    k = np.where(on, multipliers * f / shape.distances, 0)
    sums = k.sum(axis=1, keepdims=True)
    weights = k / np.where(sums > 0, sums, 1)
    if outside == "nearest":
        lost = np.flatnonzero(sums[:, 0] == 0)
        gaps = np.where(on, shape.distances - shape.outer, np.inf)
        weights[lost, gaps[lost].argmin(axis=1)] = 1
    return weights


def random_capsules(rng: np.random.Generator, count: int, *, radius: float = 0.5) -> CapsuleArrays:
    """Bones in the unit cube with tapered radii, inner ones smaller than outer ones."""
    heads = rng.uniform(-1, 1, (count, 3))
    outer = rng.uniform(0.4, 1, (count, 2)) * radius
    return {
        "heads": heads,
        "tails": heads + rng.uniform(-0.5, 0.5, (count, 3)),
        "inner_radii": outer * rng.uniform(0.1, 0.7, (count, 2)),
        "outer_radii": outer,
    }
