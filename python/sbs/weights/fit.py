# SPDX-License-Identifier: MIT
"""Weights fitted to examples: what a mesh should look like in some poses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..rigging.triangle_mesh import diagonal
from ..skinning.influences import InfluencesAndMore
from ..skinning.options import DAMPING, Center, Method, method_name, refuse_idle
from ..skinning.twist import Twist
from .fit_parts import fit_parts
from .influences import to_dense

__all__ = ["FittedWeights", "fit"]

Floats = NDArray[np.float64]

CENTER_ROUNDS = 4
"""How often centers and weights are fitted in turns."""

SMOOTHING_ROUNDS = 4
"""How often weights are fitted again, drawn to the means of their neighbors."""


class FittedWeights(InfluencesAndMore):
    """Influences, and how near they come to the examples.

    Attributes
    ----------
    joint_indices : (V, K) int32 ndarray
    joint_weights : (V, K) float64 ndarray
        As in `Influences`.
    errors : (V,) float64 ndarray
        The root of the mean square, over frames, of each vertex's distance from its examples.
    centers : (V, 3) float64 ndarray or None
        Optimized centers, given or fitted.
    """

    errors: Floats
    centers: Floats | None


def fit(
    rest_positions: ArrayLike,
    posed: ArrayLike,
    skinning_matrices: ArrayLike,
    *,
    method: Method = "spherical",
    center: Center = "weighted",
    centers: ArrayLike | None = None,
    fit_centers: bool = False,
    twist: Twist | None = None,
    twists: ArrayLike | None = None,
    damping: float = DAMPING,
    influences: int = 4,
    allowed: ArrayLike | None = None,
    initial: tuple[ArrayLike, ArrayLike] | None = None,
    smoothness: float = 0.0,
    triangles: ArrayLike | None = None,
    progress: Callable[[float], object] | None = None,
    threads: int | None = None,
    scheduler: Any = None,
) -> FittedWeights:
    """Fit weights to examples, such as a sculpted or simulated sequence.

    Each vertex gets the weights with which `method` comes nearest to its examples, by least squares over all frames.
    Of linear blending that is found exactly, and then again for the heaviest joints alone. Other methods go on from
    there by Gauss-Newton steps, which end at a best choice near by; where that does not meet the examples and joints
    are turned far against each other, they begin again with each of the nearest joints as the heaviest. In the end
    joints are exchanged for others as long as that comes nearer. Vertices at one point whose examples are the same get
    equal weights, if they have the same in `initial`.

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
        For ``center="optimized"``; kept as they are, or with `fit_centers` where these begin.
    fit_centers : bool
        Whether centers are fitted, too, in turns with the weights. Without `centers` they begin at the vertices, and
        weights as they are about weighted centers.
    twist, twists : optional
        The twist of the skin that the weights are for, and its angles (F, B, 2); see `Skin.deform_many`.
    damping : float
        Of rotation centers; see `Skin.deform`.
    influences : int
        K, the most joints of a vertex.
    allowed : (V, J) array_like of bool, optional
        Which joints each vertex may use; one at least. By default all.
    initial : pair of (V, N) array_like, optional
        Joint indices and weights, such as `Influences`, that each vertex also begins with: at most as many as
        `influences` that are not 0, of as many joints. It keeps them if nothing is found that comes nearer, so no
        vertex ends farther off; with `smoothness`, that is so of the fit that is then smoothed. A vertex without any
        begins as if none were given.
    smoothness : float
        How alike the weights of neighbors are made. A weight that is 1 off the mean of the neighbors' is as bad as a
        vertex that is so far off its examples, as a share of the mesh's size (the diagonal of its box). It takes some
        times as long; 0.05 to 0.3 is of use where examples have noise.
    triangles : (T, 3) array_like of int, optional
        Of the surface, for `smoothness`. Vertices at one point count as one.
    progress : callable, optional
        Called now and then with the fraction of the work that is done. An exception that it raises ends the call.
    threads : int, optional
        The most threads. The result does not depend on it, not even in a bit.
    scheduler : str or distributed.Client, optional
        Fit on the workers of this Dask cluster, such as ``"tcp://farm:8786"``, in place of this machine.

    Returns
    -------
    FittedWeights

    Raises
    ------
    ValueError
        If shapes disagree, an array is empty, a number is not finite or beyond 1e30, an option has no effect, an
        initial weight is negative or of a joint that the vertex may not have, or the address of the scheduler is
        malformed.
    TypeError
        If an array does not hold real numbers.
    MissingExtraError
        If there is a scheduler, but Dask's `distributed` is not installed.
    OSError
        If no scheduler or no worker answers.

    Examples
    --------
    The weights of a mesh, from its deformations:

    >>> import numpy as np
    >>> import sbs
    >>> rest = np.array([[0.0, 1.0, 0.0]])
    >>> turns = sbs.rotations.matrices_from_axis_angle([1, 0, 0], [[0, 40], [0, 80]], degrees=True)
    >>> matrices = np.concatenate([turns, np.zeros((2, 2, 3, 1))], axis=3)
    >>> posed = sbs.Skin(rest, [[0, 1]], [[0.75, 0.25]]).deform_many(matrices, center="weighted")
    >>> sbs.weights.fit(rest, posed, matrices, influences=2).joint_weights.round(6)
    array([[0.75, 0.25]])
    """
    spherical = method_name(method) == "spherical"
    if not spherical and center != "weighted":
        raise ValueError(f"center has no effect on method={method!r}, but on 'spherical' alone")
    refuse_idle(method, {"damping": damping, **({"center": center} if spherical else {})})
    if not (spherical and center == "optimized"):
        for name, is_given in (("centers", centers is not None), ("fit_centers", fit_centers)):
            if is_given:
                raise ValueError(f"{name} has no effect but on spherical skinning with center='optimized'")
    if not 0 <= smoothness <= 1e6:  # where the examples have long had no say
        raise ValueError(f"smoothness is {smoothness}; it must be between 0 and 1e6")
    if (triangles is None) != (smoothness == 0):
        raise ValueError("smoothness needs triangles" if smoothness else "triangles has no effect without smoothness")
    if twists is not None and twist is None:
        raise ValueError("twists has no effect without twist")
    if threads is not None and scheduler is not None:
        raise ValueError("threads has no effect beside scheduler, whose workers have one for each task")
    rest, shown = np.asarray(rest_positions), np.asarray(posed)
    options: dict[str, Any] = {"method": method_name(method), "center": center, "damping": damping}
    matrices = np.asarray(skinning_matrices)
    given = None if centers is None else np.array(centers, np.float64)
    usable = None if allowed is None else np.asarray(allowed)
    first_indices, first_weights = (None, None) if initial is None else map(np.asarray, initial)
    first_options = {**options, "center": "weighted"} if fit_centers and given is None else options
    # Parts are fitted one after the other: messages name places in the whole.
    _core.check_fit(
        rest,
        shown,
        matrices,
        centers=given,
        allowed=usable,
        initial_indices=first_indices,
        initial_weights=first_weights,
        influences=influences,
        twist=None if twist is None else twist._core,
        twists=twists,
        **first_options,
    )
    neighbors = None if triangles is None else _Neighbors(rest, triangles)
    runs = 1 + (CENTER_ROUNDS if fit_centers else 0) + (SMOOTHING_ROUNDS if smoothness else 0)
    finished = 0

    def solve(
        about: dict[str, Any],
        at: Floats | None,
        start: tuple[NDArray[Any] | None, NDArray[Any] | None] = (None, None),
        toward: Floats | None = None,
    ) -> FittedWeights:
        nonlocal finished

        def tell(share: float) -> None:
            if progress is not None:
                progress(min(1.0, (finished + share) / runs))

        found = fit_parts(
            {
                "rest_positions": rest,
                "centers": at,
                "allowed": usable,
                "toward": toward,
                "initial_indices": start[0],
                "initial_weights": start[1],
            },
            shown,
            matrices,
            {"influences": influences, "twist": twist, "twists": twists, **about},
            threads=threads,
            scheduler=scheduler,
            progress=None if progress is None else tell,
        )
        finished += 1
        return FittedWeights(*found, at)

    found = solve(first_options, given, (first_indices, first_weights))
    for _ in range(CENTER_ROUNDS if fit_centers else 0):
        given, _ = _core.fit_centers(
            rest,
            shown,
            matrices,
            *found,
            centers=given,
            twist=None if twist is None else twist._core,
            twists=twists,
            threads=threads,
        )
        found = solve(options, given, (found.joint_indices, found.joint_weights))
    for _ in range(SMOOTHING_ROUNDS if neighbors is not None else 0):
        assert neighbors is not None
        toward = neighbors.average(to_dense(*found, matrices.shape[1]))
        pull = (smoothness * diagonal(rest)) ** 2
        found = solve({**options, "pull": pull}, given, toward=toward)
    return found


class _Neighbors:
    """Who shares an edge with whom, on the welded surface."""

    def __init__(self, rest: NDArray[Any], triangles: ArrayLike) -> None:
        self._point = _core.weld(rest)
        self._offsets, self._neighbors = _core.adjacency(triangles, self._point)

    def average(self, weights: Floats) -> Floats:
        """The means (V, J) of neighbors' weights; of a vertex without neighbors its own."""
        counts = np.diff(self._offsets)
        means = weights.copy()
        some = np.flatnonzero(counts)
        if len(some):
            means[some] = np.add.reduceat(weights[self._neighbors], self._offsets[some]) / counts[some, None]
        return means[self._point]
