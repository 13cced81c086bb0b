# SPDX-License-Identifier: MIT
"""What a skin that spreads twists has beside its core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..options import AnyFloats
from .gradients import DeformGradients, Differentiable
from .influences import Influences, with_rows
from .twist import Twist

__all__ = ["Twisted"]


@dataclass(frozen=True, eq=False)
class Twisted:
    """A twist, and what its skin was given: the core of such a skin has the frames as joints, too.

    Attributes
    ----------
    twist : Twist
    joint_indices, joint_weights : (V, K) ndarray, read-only
    parents : (J,) ndarray or None, read-only
    joint_positions : (J, 3) ndarray or None, read-only
    """

    twist: Twist
    joint_indices: NDArray[np.int32]
    joint_weights: AnyFloats
    parents: NDArray[np.int32] | None
    joint_positions: NDArray[np.float64] | None

    @classmethod
    def bind(cls, arguments: dict[str, Any], twist: Twist, *, strict: bool) -> tuple[_core.Skin, Twisted]:
        """The core of a skin, and what was given for it.

        Parameters
        ----------
        arguments : dict
            Those of `_core.Skin`, without the frames.
        twist : Twist
        strict : bool
            As in `Skin`.

        Raises
        ------
        ValueError, TypeError
            As `Skin`; messages know the arguments by their names and places.
        """
        count = arguments.get("joint_count")
        if count is not None and count != twist.joint_count:
            raise ValueError(f"twist is of {twist.joint_count} joints, where there are {count}")
        arguments = {**arguments, "joint_count": twist.joint_count}
        _core.check_skin(**arguments, strict=strict)
        parents, places = arguments.get("parents"), arguments.get("joint_positions")
        return _core.Skin(**twist.skin_arguments(arguments)), cls(
            twist,
            _core.owned(arguments["joint_indices"], "joint_indices", np.int32),
            _owned_weights(arguments["joint_weights"]),
            None if parents is None else _core.owned(parents, "parents", np.int32),
            None if places is None else _core.owned(places, "joint_positions", np.float64),
        )

    def pose(self, matrices: ArrayLike, twists: ArrayLike | None, *, many: bool) -> NDArray[np.float64]:
        """The matrices of all joints of the core, in one pose or in `many`.

        Raises
        ------
        ValueError
            If a shape is wrong, or a number not finite.
        """
        given = np.asarray(matrices)
        if given.ndim != (4 if many else 3):
            expected = "(F, J, 4, 4) or (F, J, 3, 4)" if many else "(J, 4, 4) or (J, 3, 4)"
            raise ValueError(f"skinning_matrices has shape {given.shape}, expected {expected}")
        return self.twist.pose(given, twists)

    def needed(self, wanted: tuple[Differentiable, ...]) -> tuple[Differentiable, ...]:
        """By what the core has to be differentiated for what is wanted of the skin."""
        by_weights = {"rest_positions", "joint_weights", "twist_shares"} & {*wanted}
        by_matrices = {"skinning_matrices", "twists"} & {*wanted}
        also: list[Differentiable] = ["joint_weights"] if by_weights else []
        also += ["skinning_matrices"] if by_matrices else []
        return (*(name for name in wanted if name not in ("twists", "twist_shares")), *also)

    def gradients(
        self,
        of_core: DeformGradients,
        wanted: tuple[Differentiable, ...],
        matrices: ArrayLike,
        twists: ArrayLike | None,
        rest_positions: AnyFloats,
        *,
        moved: bool,
    ) -> DeformGradients:
        """The gradients of the skin, from those of its core by what `needed` has.

        Parameters
        ----------
        of_core : DeformGradients
        wanted : tuple of str
        matrices, twists
            Those of the pose, as given.
        rest_positions : (V, 3) ndarray
            Those that the skin was made from.
        moved : bool
            Whether the vertices were elsewhere, which leaves the shares as they are.

        Raises
        ------
        ValueError
            If a shape is wrong, or a number not finite.
        """
        by: dict[str, Any] = {name: getattr(of_core, name) for name in ("rest_normals", "centers", "amount")}
        if of_core.joint_weights is not None:
            weights, shares, positions = self.twist._core.influences_gradient(
                rest_positions, self.joint_indices, self.joint_weights, of_core.joint_weights
            )
            dtype = of_core.joint_weights.dtype
            by["joint_weights"] = weights.astype(dtype, copy=False)
            by["twist_shares"] = shares
            if of_core.rest_positions is not None:
                by["rest_positions"] = (
                    of_core.rest_positions if moved else of_core.rest_positions + positions.astype(dtype)
                )
        if of_core.skinning_matrices is not None:
            by["skinning_matrices"], by["twists"] = self.twist._core.pose_gradient(
                np.asarray(matrices)[None], twists, of_core.skinning_matrices
            )
        return DeformGradients(**{name: by.get(name) if name in wanted else None for name in get_args(Differentiable)})

    def jacobian(self, vertex: int, of_core: NDArray[np.float64], rest_positions: AnyFloats) -> NDArray[np.float64]:
        """The derivative (3, K) of a vertex by its weights, from that (3, 2 K) by those of the core."""
        rows = np.full(3, vertex)
        found = self.twist._core.influences_gradient(
            rest_positions[rows], self.joint_indices[rows], self.joint_weights[rows], of_core
        )
        return found[0]

    def update(
        self,
        core: _core.Skin,
        chosen: NDArray[np.int32],
        joint_indices: ArrayLike,
        joint_weights: ArrayLike,
        *,
        strict: bool,
    ) -> tuple[_core.Skin, Twisted]:
        """The core with other influences at some vertices, and what was then given.

        Raises
        ------
        ValueError, TypeError
            As `Skin`.
        """
        rest = core.rest_positions[chosen]
        indices, weights = np.asarray(joint_indices), _owned_weights(joint_weights)
        if len(chosen):
            _core.check_skin(rest, indices, weights, joint_count=self.twist.joint_count, strict=strict)
        updated = core.update(chosen, *self.twist.influences(rest, indices, weights))
        held = Influences(
            self.joint_indices, self.joint_weights.astype(np.result_type(self.joint_weights, weights), copy=False)
        )
        both = with_rows(held, chosen, (indices, weights))
        return updated, Twisted(
            self.twist,
            _core.owned(both[0], "joint_indices", np.int32),
            _owned_weights(both[1]),
            self.parents,
            self.joint_positions,
        )


def _owned_weights(weights: ArrayLike) -> Any:
    single = np.asarray(weights).dtype in (np.float16, np.float32)
    return _core.owned(weights, "joint_weights", np.float32 if single else np.float64)
