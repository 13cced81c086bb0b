# SPDX-License-Identifier: MIT
"""Reports and warnings about skins and poses."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["PoseReport", "SingularVertexWarning", "WeightReport", "WeightWarning", "counted"]


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number of things in words, such as ``"1 vertex"``."""
    return f"{number} {one if number == 1 else many or one + 's'}"


class WeightWarning(UserWarning):
    """The weights of some vertices were repaired when a skin was made."""


class SingularVertexWarning(UserWarning):
    """A deformation could not be undone for some vertices, which joints have flattened."""

    @staticmethod
    def message(singular: NDArray[np.bool_]) -> str:
        """The text about a mesh, of which some vertices, (V,), are singular."""
        vertices = counted(len(singular), "vertex", "vertices")
        return (
            f"{np.count_nonzero(singular)} of {vertices} can't be undone, as their joints have crushed them, and get "
            f"their rest position; the first is vertex {np.argmax(singular)}"
        )


@dataclass(frozen=True)
class WeightReport:
    """How many vertices were repaired when a skin was made. A vertex counts in every kind that applies to it.

    Attributes
    ----------
    nan, infinite, negative : int
        Vertices with such weights: dropped.
    unweighted : int
        Vertices with no positive weight left: they stay at their rest position, whatever the pose.
    off_sum : int
        Vertices whose sum of weights is off 1 by more than 1e-3: divided by their sum, as all are.
    duplicate : int
        Vertices with the same joint more than once, with positive weights: the weights are added.
    """

    nan: int
    infinite: int
    negative: int
    unweighted: int
    off_sum: int
    duplicate: int

    def warning(self, vertex_count: int) -> str:
        """The text of a `WeightWarning` about a mesh of so many vertices."""
        return f"weights were repaired, of {vertex_count} vertices: {self}"

    def __str__(self) -> str:
        nouns = {
            "nan": "NaN weights (dropped)",
            "infinite": "infinite weights (dropped)",
            "negative": "negative weights (dropped)",
            "unweighted": "no weights (they will not move)",
            "off_sum": "weights that do not sum to 1 (normalized)",
            "duplicate": "a joint more than once (merged)",
        }
        return ", ".join(f"{count} with {nouns[kind]}" for kind, count in asdict(self).items() if count)


@dataclass(frozen=True)
class PoseReport:
    """How much work a pose is, counted as in Table 2 of Kavan and Zara 2005.

    Attributes
    ----------
    nontrivial_joint_sets : int
        Joint sets of two or more joints that are not a joint and its parent.
    solves : int
        Least-squares solves for rotation centers: for those sets, and for a joint and its parent that come apart.
    nonrigid_joints : int
        Joints whose matrix is not a rotation and a translation.
    """

    nontrivial_joint_sets: int
    solves: int
    nonrigid_joints: int
