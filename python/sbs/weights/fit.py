# SPDX-License-Identifier: MIT
"""Weights fitted to examples: what a mesh should look like in some poses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..influences import Influences
from ..options import DAMPING, Center, Method, method_name, refuse_idle

__all__ = ["FittedWeights", "fit"]

CHUNKS = 50
"""Into how many parts the mesh is divided, between which progress is told."""


class FittedWeights(Influences):
    """Influences, and how near they come to the examples.

    Attributes
    ----------
    joint_indices : (V, K) int32 ndarray
    joint_weights : (V, K) float64 ndarray
        As in `Influences`.
    errors : (V,) float64 ndarray
        The root of the mean square, over frames, of each vertex's distance from its examples.
    """

    errors: NDArray[np.float64]

    def __new__(
        cls, joint_indices: NDArray[np.int32], joint_weights: NDArray[np.float64], errors: NDArray[np.float64]
    ) -> Self:
        """Influences with their errors."""
        made = super().__new__(cls, joint_indices, joint_weights)
        made.errors = errors
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        """For copies and pickles."""
        return (*self, self.errors)


def fit(
    rest_positions: ArrayLike,
    posed: ArrayLike,
    skinning_matrices: ArrayLike,
    *,
    method: Method = "spherical",
    center: Center = "weighted",
    centers: ArrayLike | None = None,
    damping: float = DAMPING,
    influences: int = 4,
    progress: Callable[[float], object] | None = None,
    threads: int | None = None,
) -> FittedWeights:
    """Fit weights to examples, such as a sculpted or simulated sequence.

    Each vertex gets the weights with which `method` comes nearest to its examples, by least squares over all frames.
    Of linear blending that is found exactly, and then again for the heaviest joints alone. Other methods go on from
    there by Gauss-Newton steps, which end at a best choice near by. Vertices at one point whose examples are the same
    get equal weights.

    Weights are determined only where joints move apart: of joints that move a vertex alike in all frames any share
    gives the same. So frames should bend and twist every joint.

    Parameters
    ----------
    rest_positions : (V, 3) array_like
    posed : (F, V, 3) array_like
        The examples: where vertices are in each frame.
    skinning_matrices : (F, J, 4, 4) or (F, J, 3, 4) array_like
        Of the same frames.
    method : {"spherical", "linear", "dual_quaternion"}, or "SBS", "LBS", "DQS"
    center : {"weighted", "joint_set", "optimized"}
        Of spherical skinning; see `Skin.deform`. About the center of a joint set each vertex is fitted as if it were
        alone in its set: so errors are a little larger where joints hardly turn against each other.
    centers : (V, 3) array_like, optional
        For ``center="optimized"``, and kept as they are.
    damping : float
        Of rotation centers; see `Skin.deform`.
    influences : int
        K, the most joints of a vertex.
    progress : callable, optional
        Called now and then with the fraction of the work that is done. An exception that it raises ends the call.
    threads : int, optional
        The most threads. The result does not depend on it, not even in a bit.

    Returns
    -------
    FittedWeights

    Raises
    ------
    ValueError
        If shapes disagree, an array is empty, a number is not finite, or an option has no effect.
    TypeError
        If an array does not hold real numbers.

    Examples
    --------
    The weights of a mesh from what they make of it:

    >>> import numpy as np
    >>> import sbs
    >>> rest = np.array([[0.0, 1.0, 0.0]])
    >>> turns = sbs.rotations.matrices_from_axis_angle([1, 0, 0], [[0, 40], [0, 80]], degrees=True)
    >>> matrices = np.concatenate([turns, np.zeros((2, 2, 3, 1))], axis=3)
    >>> posed = sbs.Skin(rest, [[0, 1]], [[0.75, 0.25]]).deform_many(matrices, center="weighted")
    >>> sbs.weights.fit(rest, posed, matrices, influences=2).joint_weights.round(6)
    array([[0.75, 0.25]])
    """
    options: dict[str, Any] = {"center": center, "damping": damping}
    spherical = method_name(method) == "spherical"
    if not spherical and center != "weighted":
        raise ValueError(f"center has no effect on method={method!r}, but on 'spherical' alone")
    refuse_idle(method, {"damping": damping, **({"center": center} if spherical else {})})
    if centers is not None and not (spherical and center == "optimized"):
        raise ValueError("centers has no effect but on spherical skinning with center='optimized'")
    rest = np.asarray(rest_positions)
    shown = np.asarray(posed)
    if rest.ndim != 2 or shown.ndim != 3 or not len(rest) or shown.shape[1] != len(rest):
        # the core knows the words for it
        _core.fit_weights(rest, shown, skinning_matrices, method=method_name(method), centers=centers, **options)
    matrices = np.asarray(skinning_matrices)
    given = None if centers is None else np.asarray(centers, np.float64)
    if given is not None and given.shape != rest.shape:
        raise ValueError(f"centers has shape {given.shape}, expected {rest.shape}")
    size = -(-len(rest) // CHUNKS)
    parts = []
    for first in range(0, len(rest), size):
        part = slice(first, first + size)
        parts.append(
            _core.fit_weights(
                rest[part],
                shown[:, part],
                matrices,
                method=method_name(method),
                centers=None if given is None else given[part],
                influences=influences,
                threads=threads,
                **options,
            )
        )
        if progress is not None:
            progress(min(1.0, (first + size) / len(rest)))
    joint_indices, joint_weights, errors = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return FittedWeights(joint_indices, joint_weights, errors)
