# SPDX-License-Identifier: MIT
"""The skin: a mesh that is bound to its joints, and the methods that deform it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal, Self, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..support.callers import warn
from ..support.markup import table
from .blending import blend, other_base
from .gradients import DeformGradients, Differentiable, refuse_indifferentiable, wanted_bits
from .influences import Influences, tidy
from .options import (
    DAMPING,
    AnyFloats,
    Center,
    DeformOptions,
    InverseOptions,
    Method,
    MethodOptions,
    PosedShapes,
    Rotation,
    core_options,
    method_name,
    refuse_idle,
    with_deform_options,
)
from .palette import BoundInfluences, Palette
from .reports import PoseReport, SingularVertexWarning, WeightReport, WeightWarning, counted
from .shapes import Shapes
from .twist import Twist

__all__ = ["Skin"]

# The arguments that a skin is made from, which are attributes of it, too.
_ARGUMENTS = (
    "rest_positions",
    "joint_indices",
    "joint_weights",
    "joint_count",
    "parents",
    "joint_positions",
    "rest_normals",
    "centers",
    "twist",
    "twist_positions",
)


class Skin:
    """A mesh that is bound to its joints. Immutable, so any number of threads may deform with it at once.

    It owns its arrays, which are read-only. Arguments are copied, unless they are read-only, too, as are the arrays
    of a `Mesh` and of other skins; these are shared.

    Parameters
    ----------
    rest_positions : (V, 3) array_like
        Undeformed vertices, in the space in which the mesh was bound. The type, float32 or float64, is that of the
        computation and of all results; integers become float64.
    joint_indices : (V, K) array_like of int
        The joints that influence each vertex; pad with index 0 and weight 0.
    joint_weights : (V, K) array_like
        Their weights, in any order; normalized to a sum of 1.
    joint_count : int, optional
        J. By default the length of `parents` or `joint_positions`, else the largest index plus one.
    parents : (J,) array_like of int, optional
        Parent of each joint, -1 for a root. With `joint_positions` it saves work: the rotation center of a joint and
        its parent is then just the position of the joint.
    joint_positions : (J, 3) array_like, optional
        Where the joints are at bind, in the space of the mesh.
    rest_normals : (V, 3) array_like, optional
        Normals at rest, of any length; needed for ``deform(..., normals=True)``.
    centers : (V, 3) array_like, optional
        The centers that ``deform(..., center="optimized")`` rotates vertices about, in the space of the rest positions.
        A vertex that is its own center is blended linearly, and so is its normal.
    twist : Twist, optional
        The bones along which the twists of limbs are spread, see `sbs.limb_twist`. Then joints of the skeleton are
        given everywhere, and each bone has a few more inside, its frames: they count in `joint_sets` and
        their statistics, and `centers` must have been found with them (`Character.twisted_skin`).
    twist_positions : (V, 3) array_like, optional
        Where the vertices are along the bones of the twist, such as before blend shapes move them. By default the rest
        positions.
    strict : bool
        Whether weights that need repair are a ValueError. By default they are repaired, with a `WeightWarning`.

    Raises
    ------
    ValueError
        If shapes disagree, an array is empty, an index or a parent is out of range, parents run in a circle, a number
        is NaN or infinite, or weights need repair with `strict`.
    TypeError
        If an array holds neither real numbers nor, for indices, integers.

    Warns
    -----
    WeightWarning
        If weights were repaired; it counts the vertices.

    Examples
    --------
    Two joints share a point equally, and one of them turns by 180 degrees about x. Linear blending collapses the point
    to the axis; spherical blending keeps its distance.

    >>> import numpy as np
    >>> import sbs
    >>> skin = sbs.Skin([[0.0, 1.0, 0.0]], [[0, 1]], [[0.5, 0.5]])
    >>> skin
    <sbs.Skin 1 vertex (float64), 2 joints, 1 joint set (1 non-trivial), up to 2 influences>
    >>> matrices = np.stack([np.eye(4), np.diag([1.0, -1.0, -1.0, 1.0])])
    >>> round(float(np.linalg.norm(skin.deform(matrices, method="linear"))), 6)
    0.0
    >>> round(float(np.linalg.norm(skin.deform(matrices))), 6)
    1.0
    """

    def __init__(
        self,
        rest_positions: ArrayLike,
        joint_indices: ArrayLike,
        joint_weights: ArrayLike,
        *,
        joint_count: int | None = None,
        parents: ArrayLike | None = None,
        joint_positions: ArrayLike | None = None,
        rest_normals: ArrayLike | None = None,
        centers: ArrayLike | None = None,
        twist: Twist | None = None,
        twist_positions: ArrayLike | None = None,
        strict: bool = False,
    ) -> None:
        given = locals()
        self._make({name: given[name] for name in _ARGUMENTS}, strict)
        self._warn_of_repairs()

    def _make(self, arguments: dict[str, Any], strict: bool = False) -> None:
        self._twist: Twist | None = arguments.get("twist")
        twist = None if self._twist is None else self._twist._core
        self._core = _core.Skin(**{**arguments, "twist": twist}, strict=strict)

    @classmethod
    def quietly(cls, *args: Any, **kwargs: Any) -> Self:
        """A skin of weights that were warned of before; arguments as those of the class."""
        skin = cls.__new__(cls)
        skin._make({**dict(zip(_ARGUMENTS, args, strict=False)), **kwargs})
        return skin

    def _warn_of_repairs(self) -> None:
        if any(self._core.weight_report):
            warn(self.weight_report.warning(self.vertex_count), WeightWarning)

    # ---------------------------------------------------------------------------------------------- attributes

    @property
    def rest_positions(self) -> AnyFloats:
        """Undeformed vertices, (V, 3), read-only."""
        return self._core.rest_positions

    @property
    def rest_normals(self) -> AnyFloats | None:
        """Normals at rest, (V, 3), read-only, or None."""
        return self._core.rest_normals

    @property
    def joint_indices(self) -> NDArray[np.int32]:
        """The joints that influence each vertex, (V, K), read-only, as given."""
        return self._core.joint_indices

    @property
    def joint_weights(self) -> AnyFloats:
        """Their weights, (V, K), read-only, as given: not normalized."""
        return self._core.joint_weights

    def influences(self) -> Influences:
        """The influences as the skin uses them, repaired: see `sbs.weights.tidy`."""
        return tidy(self.joint_indices, self.joint_weights)

    @property
    def parents(self) -> NDArray[np.int32] | None:
        """Parent of each joint, (J,), -1 for a root, read-only, or None."""
        return self._core.parents

    @property
    def joint_positions(self) -> NDArray[np.float64] | None:
        """Where the joints are at bind, (J, 3), read-only, or None."""
        return self._core.joint_positions

    @property
    def centers(self) -> NDArray[np.float64] | None:
        """Rotation centers of the vertices, (V, 3), read-only, or None."""
        return self._core.centers

    @property
    def twist(self) -> Twist | None:
        """Bones along which a twist is spread, or None."""
        return self._twist

    @property
    def twist_positions(self) -> AnyFloats | None:
        """Where the vertices are along bones of the twist, (V, 3), read-only, or None: the rest positions."""
        return self._core.twist_positions

    @property
    def vertex_count(self) -> int:
        """V, the number of vertices."""
        return self._core.vertex_count

    @property
    def joint_count(self) -> int:
        """J, the number of joints."""
        return self._core.joint_count

    @property
    def dtype(self) -> np.dtype[np.float32 | np.float64]:
        """The type of the rest positions and of all resulting positions and normals."""
        return self._core.rest_positions.dtype

    @property
    def has_normals(self) -> bool:
        """Whether the skin was made with rest normals."""
        return self._core.rest_normals is not None

    @property
    def has_centers(self) -> bool:
        """Whether the skin was made with rotation centers for its vertices."""
        return self._core.centers is not None

    @property
    def joint_sets(self) -> list[tuple[int, ...]]:
        """The distinct sets of joints that influence some vertex: N tuples in lexicographic order, each ascending.

        The set of unweighted vertices is empty and comes first.
        """
        offsets, joints, _ = self._core.joint_sets()
        return [tuple(joints[begin:end].tolist()) for begin, end in pairwise(offsets)]

    @property
    def joint_set_of_vertex(self) -> NDArray[np.int32]:
        """The number of each vertex's joint set, (V,), a new array."""
        return self._core.joint_sets()[2]

    @property
    def vertex_order(self) -> NDArray[np.int32]:
        """Deprecated: a skin goes through its vertices as they come, and no order is faster. 0, 1, 2, ..."""
        warn("Skin.vertex_order is deprecated: no order of vertices is faster than another", DeprecationWarning)
        return np.arange(self.vertex_count, dtype=np.int32)

    @property
    def nontrivial_joint_set_count(self) -> int:
        """How many sets have more than one joint and are not a joint and its parent."""
        return self._core.nontrivial_joint_set_count

    @property
    def max_influences(self) -> int:
        """The size of the largest joint set: the most joints that influence one vertex."""
        return self._core.max_influences

    @property
    def unweighted_vertex_count(self) -> int:
        """How many vertices no joint influences; they stay at their rest position."""
        return self._core.unweighted_vertex_count

    @property
    def weight_report(self) -> WeightReport:
        """How many vertices were repaired, by kind."""
        return WeightReport(*self._core.weight_report)

    @property
    def instruction_set(self) -> str:
        """The instruction set that the skin uses, such as ``"avx2"``."""
        return self._core.instruction_set

    # -------------------------------------------------------------------------------------------------------- deforming

    @overload
    def deform(
        self,
        skinning_matrices: ArrayLike,
        *,
        rest_positions: ArrayLike | None = None,
        normals: Literal[False] = False,
        **options: Unpack[DeformOptions],
    ) -> AnyFloats: ...
    @overload
    def deform(
        self,
        skinning_matrices: ArrayLike,
        *,
        rest_positions: ArrayLike | None = None,
        normals: Literal[True],
        **options: Unpack[DeformOptions],
    ) -> tuple[AnyFloats, AnyFloats]: ...
    @overload
    def deform(
        self,
        skinning_matrices: ArrayLike,
        *,
        rest_positions: ArrayLike | None = None,
        normals: bool,
        **options: Unpack[DeformOptions],
    ) -> AnyFloats | tuple[AnyFloats, AnyFloats]: ...
    @with_deform_options(DeformOptions)
    def deform(
        self,
        skinning_matrices: ArrayLike,
        *,
        rest_positions: ArrayLike | None = None,
        normals: bool = False,
        **options: Unpack[DeformOptions],
    ) -> AnyFloats | tuple[AnyFloats, AnyFloats]:
        """Deform the mesh by the skinning matrices of one frame.

        By default as Kavan and Zara did in 2005, about the centers of joint sets: arrays have no limbs that could be
        found. `Character.deform` has *smooth twist*.

        Parameters
        ----------
        skinning_matrices : (J, 4, 4) or (J, 3, 4) array_like
            Pose matrix times inverse bind matrix of each joint, for column vectors: translations in the last column.
            float32 or float64 for either type of skin. Joints may scale and shear. Then centers are found from their
            rotations and from where they move the joints' own positions, so the skin should have `joint_positions`.
        method : {"spherical", "linear", "dual_quaternion", "rigid"}, or "SBS", "LBS", "DQS" for the first three
            Spherical blend skinning (Kavan and Zara 2005), linear blend skinning, dual quaternion skinning (Kavan et
            al. 2007), or each vertex by its heaviest joint alone.
        rotation : {"qlerp", "average"}
            How ``"spherical"`` blends rotations: quaternions linearly, normalized (eqs. 4 to 6), or by their spherical
            weighted average (Buss and Fillmore 2001), which for two is spherical linear interpolation, up to 8.15
            degrees from the other. The average of three or more takes some 20 times as long.
        center : {"joint_set", "weighted", "optimized"}
            Where ``"spherical"`` puts the rotation center: one for each joint set, the point that its joints move most
            alike (section 4); one for each vertex, where joints count by their weights, so that the mesh does not tear
            between joint sets; or the `centers` that the skin was made with.
        damping : float
            How strongly that point is drawn to the mean of the set's vertices, or for ``"weighted"`` to the vertex,
            which makes the point unique. No unit. ``"weighted"`` uses at least 1e-6. This moves a vertex by at most
            sqrt(damping) / 16 of the translation between two joints, by default 6e-6 of it. That is where they turn
            against each other by sqrt(damping), 1e-4 radians; from 1 degree on it is less than 1e-7.
        rcond : float, optional
            Between 0 and 1: the truncated singular value decomposition of the paper in place of damping, without
            singular values up to `rcond` times the largest. The center jumps where a singular value crosses that limit;
            1e-3 is a good value. For centers of joint sets only. A whole frame takes 8 to 18 times as long (``python -m
            benchmarks rcond``). It differs from the paper in two points: singular values up to 1e-5 are always dropped,
            where the paper names no limit; and of several best points it takes the one nearest to the mean of the
            vertices, not to the origin, so that the result does not depend on where the origin is.
        amount : (V,) array_like or float, optional
            How much of this method each vertex gets, between 0 and 1, the rest being `base`: positions and normals of
            the two are blended. By default this method alone.
        base : str or dict, optional
            The method where `amount` is 0: its name, or its options, such as ``{"method": "spherical", "rcond":
            1e-3}``. By default ``"linear"``. With another, the mesh is deformed twice.
        rest_positions : (V, 3) array_like, optional
            Rest positions in place of the skin's, as the blend shapes of a pose make them. Normals, weights and
            `centers` stay, and so do places along the bones of a `twist`.
        twists : (B, 2) array_like, optional
            Of a skin that spreads them, the twists of its bones, in place of the twists that the matrices have, the
            short way round: see `TwistTracker`.
        correctives : sbs.correctives.Correctives, optional
            Shapes that the pose drives, which are added to the rest pose before it is deformed. A warning
            tells if they were made for another method.
        shapes : sbs.correctives.Shapes, optional
            Shapes of this skin, in place of `correctives`; added to `rest_positions`. A vertex that no shape changes
            keeps its bits.
        shape_weights : (S,) array_like, optional
            How much there is of each of `shapes`.
        normals : bool
            Whether to return normals too; the skin must have been made with rest normals.
        out, out_normals : (V, 3) ndarray, optional
            Arrays for the results: writeable, C-contiguous, of the skin's type, sharing no memory with any input.
        threads : int, optional
            The most threads. The result does not depend on it, not even in a bit.

        Returns
        -------
        positions : (V, 3) ndarray
            Of the skin's type; `out` if given.
        normals : (V, 3) ndarray
            Only with ``normals=True``; unit vectors, or zero where the rest normal is zero.

        Raises
        ------
        ValueError
            If a shape is wrong, a matrix contains NaN or infinity, a last row is not (0, 0, 0, 1), an option is out of
            its range, unknown or has no effect with the others, or an output array cannot be used.
        TypeError
            If matrices are not real numbers, or an output is not an array.
        LinAlgError
            If a singular value decomposition does not converge (only with `rcond`, or for singular matrices).

        Notes
        -----
        The global interpreter lock is released during the computation.
        """
        base = other_base(options)
        if base is not None:
            at_rest = partial(self.deform, skinning_matrices, rest_positions=rest_positions)
            shaped = self._with_shapes(options, skinning_matrices)
            return blend(at_rest, shaped, base, self.vertex_count, normals)
        chosen = self._core_options(options, skinning_matrices)
        return self._core.deform(skinning_matrices, rest_positions=rest_positions, normals=normals, **chosen)

    @overload
    def deform_many(
        self, skinning_matrices: ArrayLike, *, normals: Literal[False] = False, **options: Unpack[DeformOptions]
    ) -> AnyFloats: ...
    @overload
    def deform_many(
        self, skinning_matrices: ArrayLike, *, normals: Literal[True], **options: Unpack[DeformOptions]
    ) -> tuple[AnyFloats, AnyFloats]: ...
    @overload
    def deform_many(
        self, skinning_matrices: ArrayLike, *, normals: bool, **options: Unpack[DeformOptions]
    ) -> AnyFloats | tuple[AnyFloats, AnyFloats]: ...
    @with_deform_options(DeformOptions)
    def deform_many(
        self, skinning_matrices: ArrayLike, *, normals: bool = False, **options: Unpack[DeformOptions]
    ) -> AnyFloats | tuple[AnyFloats, AnyFloats]:
        """Deform the mesh by the skinning matrices of several frames. Results equal those of `deform`, bit for bit.

        Parameters
        ----------
        skinning_matrices : (F, J, 4, 4) or (F, J, 3, 4) array_like
            The matrices of every frame; F may be 0.
        twists : (F, B, 2) array_like, optional
            As in `deform`; ``twist.angles(skinning_matrices, follow=True)`` are those of a motion beyond half a turn.
        shape_weights : (F, S) array_like, optional
            Of `shapes`, in every frame.
        method, rotation, center, damping, rcond, amount, base, correctives, shapes, normals, threads
            As in `deform`.
        out, out_normals : (F, V, 3) ndarray, optional
            As in `deform`. After Ctrl-C they hold some of the frames.

        Returns
        -------
        positions : (F, V, 3) ndarray
        normals : (F, V, 3) ndarray
            Only with ``normals=True``.

        Raises
        ------
        ValueError, TypeError, LinAlgError
            As `deform`. All matrices are checked before anything is written.
        """
        base = other_base(options)
        if base is not None:
            shaped = self._with_shapes(options, skinning_matrices)
            return blend(partial(self.deform_many, skinning_matrices), shaped, base, self.vertex_count, normals)
        chosen = self._core_options(options, skinning_matrices)
        return self._core.deform_many(skinning_matrices, normals=normals, **chosen)

    @overload
    def inverse_deform(
        self,
        posed_positions: ArrayLike,
        skinning_matrices: ArrayLike,
        *,
        return_singular: Literal[False] = False,
        **options: Unpack[InverseOptions],
    ) -> AnyFloats: ...
    @overload
    def inverse_deform(
        self,
        posed_positions: ArrayLike,
        skinning_matrices: ArrayLike,
        *,
        return_singular: Literal[True],
        **options: Unpack[InverseOptions],
    ) -> tuple[AnyFloats, NDArray[np.bool_]]: ...
    @overload
    def inverse_deform(
        self,
        posed_positions: ArrayLike,
        skinning_matrices: ArrayLike,
        *,
        return_singular: bool,
        **options: Unpack[InverseOptions],
    ) -> AnyFloats | tuple[AnyFloats, NDArray[np.bool_]]: ...
    @with_deform_options(InverseOptions)
    def inverse_deform(
        self,
        posed_positions: ArrayLike,
        skinning_matrices: ArrayLike,
        *,
        return_singular: bool = False,
        **options: Unpack[InverseOptions],
    ) -> AnyFloats | tuple[AnyFloats, NDArray[np.bool_]]:
        """Undo a deformation: the rest positions of a posed mesh.

        For given weights every method moves a vertex by an affine map, and this inverts it. So the result of `deform`
        with the same matrices and options becomes the rest position again, and a shape that was sculpted on the posed
        mesh becomes a shape of the mesh at rest.

        Parameters
        ----------
        posed_positions : (V, 3) array_like
            The posed mesh, in the order of its vertices; cast to the skin's type.
        skinning_matrices : (J, 4, 4) or (J, 3, 4) array_like
            The pose.
        method, rotation, center, damping, rcond, amount, base, twists, correctives, shapes, shape_weights
            As in the deformation; see `deform`. Of two methods one has to be linear. Shapes are taken away again.
        return_singular : bool
            Whether to also return which vertices have no inverse, instead of warning of them.
        out : (V, 3) ndarray, optional
            An array for the result: writeable, C-contiguous, of the skin's type, sharing no memory with any input; or
            `posed_positions` itself.
        threads : int, optional
            The most threads. The result does not depend on it, not even in a bit.

        Returns
        -------
        positions : (V, 3) ndarray
            Of the skin's type; `out` if given.
        singular : (V,) ndarray of bool
            Only with ``return_singular=True``: the vertices that have no inverse, because their joints flatten space to
            a plane, a line or a point, or so nearly that rounding could move the result by a thousandth of the mesh's
            size. They get the rest position of the skin.

        Raises
        ------
        ValueError, TypeError, LinAlgError
            As `deform`, and for posed positions that are NaN or infinite.

        Warns
        -----
        SingularVertexWarning
            If there are such vertices, unless they are returned.

        Notes
        -----
        Where a vertex is squeezed about equally in all directions, rest positions are exact to 1e-6 of the mesh's size
        in float32, and to 1e-12 in float64; elsewhere the error grows with the ratio of the largest to the least scale.

        Examples
        --------
        >>> import numpy as np
        >>> import sbs
        >>> skin = sbs.Skin([[0.0, 1.0, 0.0]], [[0, 1]], [[0.5, 0.5]])
        >>> matrices = np.stack([np.eye(4), np.diag([1.0, -1.0, -1.0, 1.0])])
        >>> skin.inverse_deform(skin.deform(matrices), matrices).round(6) + 0.0
        array([[0., 1., 0.]])
        """
        chosen = self._core_options(options, skinning_matrices)
        positions, singular = self._core.inverse_deform(posed_positions, skinning_matrices, **chosen)
        if return_singular:
            return positions, singular
        if singular.any():
            warn(SingularVertexWarning.message(singular), SingularVertexWarning)
        return positions

    def _core_options(self, options: Mapping[str, Any], skinning_matrices: ArrayLike) -> dict[str, Any]:
        """Options as the core takes them."""
        chosen = core_options(self._with_shapes(options, skinning_matrices), self.vertex_count)
        chosen.pop("correctives", None)
        if chosen.get("shapes") is not None:
            chosen["shapes"] = chosen["shapes"]._core
        return chosen

    def _with_shapes(self, options: Mapping[str, Any], skinning_matrices: ArrayLike) -> Mapping[str, Any]:
        """Options with the shapes that correctives have in a pose, in place of these."""
        correctives = options.get("correctives")
        if correctives is None:
            return options
        if options.get("shapes") is not None or options.get("shape_weights") is not None:
            raise ValueError("correctives have shapes and shape_weights of their own: give one or the other")
        correctives.check(self, options)
        found: dict[str, Any] = {**options, "correctives": None, "shapes": correctives.shapes(self)}
        if found["shapes"] is not None:
            found["shape_weights"] = correctives.weights(skinning_matrices)
        return found

    def deform_vjp(
        self,
        skinning_matrices: ArrayLike,
        grad_positions: ArrayLike | None = None,
        grad_normals: ArrayLike | None = None,
        *,
        wanted: tuple[Differentiable, ...] = ("rest_positions", "joint_weights", "skinning_matrices"),
        method: Method = "spherical",
        rotation: Rotation = "qlerp",
        center: Center = "joint_set",
        damping: float = DAMPING,
        amount: ArrayLike | None = None,
        base: Method | MethodOptions | None = None,
        rest_positions: ArrayLike | None = None,
        twists: ArrayLike | None = None,
        correctives: PosedShapes | None = None,
        shapes: Shapes | None = None,
        shape_weights: ArrayLike | None = None,
        threads: int | None = None,
    ) -> DeformGradients:
        """Differentiate a deformation: from the gradient of a loss by its results to that by its input.

        In the words of automatic differentiation this is the product of a vector and the Jacobian of `deform`. It is
        exact, not by differences: solutions of least squares, such as rotation centers, are differentiated
        implicitly. `sbs.torch` makes a function of PyTorch of it.

        Parameters
        ----------
        skinning_matrices : (J, 4, 4) or (J, 3, 4) array_like
            The pose.
        grad_positions, grad_normals : (V, 3) array_like, optional
            The gradient of the loss by the deformed positions and normals; at least one of them. NaN spreads.
        wanted : tuple of str
            The arguments to differentiate by: "rest_positions", "rest_normals", "joint_weights", "skinning_matrices",
            "centers" (other than zero with ``center="optimized"`` alone) and "amount"; of a skin with twist also
            "twists" and "twist_shares", which are where along its bone each influence is; with shapes also
            "shape_weights", "shaped_positions" and "shaped_normals". Weights that correctives find are not
            differentiated by the pose. Without the argument `rest_positions` the gradient by "rest_positions" is that
            of a skin made anew of them: its shares of twists (unless `twist_positions` hold these) and means of joint
            sets move, too. With it, the gradient is by the argument of `deform`, which holds both.
        method, rotation, center, damping, amount, base, rest_positions, twists, correctives, shapes, shape_weights
            As in the deformation; see `deform`. There is no gradient of ``rotation="average"``, of `rcond`, nor of
            two methods of which none is linear. Without `twists` they follow from the matrices, and so they do in the
            gradient by these.
        threads : int, optional
            The most threads. The result does not depend on it, not even in a bit.

        Returns
        -------
        DeformGradients

        Raises
        ------
        ValueError, TypeError
            As `deform`, and for options without a gradient.

        Notes
        -----
        The weights are those given to the skin, which normalizes them. A weight of 0 has gradient 0, because the
        vertex would belong to another joint set if it grew. A rigid joint acts by the nearest rotation of its matrix,
        so the spherical and dual quaternion methods have no gradient in the directions that stretch it.

        Examples
        --------
        In which direction does the matrix of a joint move a point upward?

        >>> import numpy as np
        >>> import sbs
        >>> skin = sbs.Skin([[1.0, 0.0, 0.0]], [[0]], [[1.0]])
        >>> gradient = skin.deform_vjp(np.eye(4)[None], [[0.0, 1.0, 0.0]], method="linear")
        >>> gradient.skinning_matrices[0]
        array([[0., 0., 0., 0.],
               [1., 0., 0., 1.],
               [0., 0., 0., 0.]])
        """
        if grad_positions is None and grad_normals is None:
            raise ValueError("deform_vjp needs grad_positions or grad_normals")
        for name in ("twists", "twist_shares"):
            if name in wanted and self._twist is None:
                raise ValueError(f"wanted: {name!r} needs a skin that was made with twist")
        refuse_indifferentiable(rotation)
        if "amount" in wanted and amount is None:
            raise ValueError("wanted: 'amount' needs an amount")
        for name in ("shape_weights", "shaped_positions", "shaped_normals"):
            if name in wanted and shapes is None and correctives is None:
                raise ValueError(f"wanted: {name!r} needs shapes or correctives")
        options: DeformOptions = {"method": method, "rotation": rotation, "center": center, "damping": damping}
        options |= {"amount": amount, "base": base, "twists": twists, "threads": threads}
        options |= {"correctives": correctives, "shapes": shapes, "shape_weights": shape_weights}
        found = self._core.deform_vjp(
            grad_positions,
            grad_normals,
            skinning_matrices,
            wanted=wanted_bits(tuple(wanted)),
            rest_positions=rest_positions,
            **self._core_options(options, skinning_matrices),
        )
        gradients = DeformGradients(*found)
        if gradients.amount is not None and method_name(method) == "linear":  # so much less of the base
            return replace(gradients, amount=-gradients.amount)
        return gradients

    def weight_jacobian(
        self,
        vertex: int,
        skinning_matrices: ArrayLike,
        *,
        method: Method = "spherical",
        center: Center = "joint_set",
        damping: float = DAMPING,
    ) -> NDArray[np.float64]:
        """How a vertex moves with each of its weights.

        Parameters
        ----------
        vertex : int
        skinning_matrices : (J, 4, 4) or (J, 3, 4) array_like
        method, center, damping
            As of `deform`.

        Returns
        -------
        (3, K) ndarray of float64
            The derivative of its position by the weights as they were given; 0 for weights of 0. Only that vertex is
            computed.

        Raises
        ------
        ValueError, TypeError
            As `deform_vjp`.
        IndexError
            If the vertex is out of range.

        Examples
        --------
        >>> import numpy as np
        >>> import sbs
        >>> skin = sbs.Skin([[1.0, 0.0, 0.0]], [[0, 1]], [[0.5, 0.5]])
        >>> matrices = np.tile(np.eye(4), (2, 1, 1))
        >>> matrices[1, 1, 3] = 4.0
        >>> skin.weight_jacobian(0, matrices)
        array([[ 0.,  0.],
               [-2.,  2.],
               [ 0.,  0.]])
        """
        refuse_idle(method, {"center": center, "damping": damping})
        return self._core.weight_jacobian(
            vertex, skinning_matrices, method=method_name(method), center=center, damping=damping
        )

    def rotation_centers(
        self, skinning_matrices: ArrayLike, *, damping: float = DAMPING, rcond: float | None = None
    ) -> NDArray[np.float64]:
        """The rotation centers that ``deform(..., method="spherical")`` uses in a pose.

        Parameters
        ----------
        skinning_matrices : (J, 4, 4) or (J, 3, 4) array_like
        damping, rcond
            As in `deform`.

        Returns
        -------
        (N, 3) ndarray of float64
            One for each of `joint_sets`, in the space of the rest positions. A set of fewer than two joints needs none
            and gets the mean rest position of its vertices.

        Raises
        ------
        ValueError, TypeError, LinAlgError
            As `deform`.
        """
        refuse_idle("spherical", {"damping": damping, "rcond": rcond})
        return self._core.rotation_centers(skinning_matrices, damping=damping, rcond=rcond)[0]

    def pose_report(
        self, skinning_matrices: ArrayLike, *, damping: float = DAMPING, rcond: float | None = None
    ) -> PoseReport:
        """How much work spherical blend skinning has in a pose.

        Parameters
        ----------
        skinning_matrices : (J, 4, 4) or (J, 3, 4) array_like
        damping, rcond
            As in `deform`.

        Returns
        -------
        PoseReport

        Raises
        ------
        ValueError, TypeError, LinAlgError
            As `deform`.
        """
        refuse_idle("spherical", {"damping": damping, "rcond": rcond})
        return PoseReport(*self._core.rotation_centers(skinning_matrices, damping=damping, rcond=rcond)[1])

    # --------------------------------------------------------------------------------------------------------- shaders

    def bound_influences(self, width: int | None = None) -> BoundInfluences:
        """The influences that the skin blends, as shaders take them: repaired, heaviest first, with those of a twist.

        Parameters
        ----------
        width : int, optional
            W, how many there is room for: of a vertex that has more, the lightest are lost. By default there is room
            for all.

        Returns
        -------
        BoundInfluences
            In float32.

        Raises
        ------
        ValueError
            If `width` is less than 1.
        """
        return BoundInfluences(*self._core.bound_influences(max(self.max_influences, 1) if width is None else width))

    def pose_palette(
        self,
        skinning_matrices: ArrayLike,
        *,
        method: Method = "spherical",
        centers: bool = False,
        damping: float = DAMPING,
        rcond: float | None = None,
        twists: ArrayLike | None = None,
        threads: int | None = None,
    ) -> Palette:
        """Poses for shaders, prepared in float64: the page *deformer.md*, *In a shader*, has the shader.

        Parameters
        ----------
        skinning_matrices : (F, J, 4, 4) or (F, J, 3, 4) array_like
        method : {"linear", "spherical"}, optional
            As in the shader. Linear blending takes matrices as they are, spherical blending the nearest rotations
            of joints that are rigid but for rounding.
        centers : bool, optional
            Whether rotation centers of joint sets are wanted, of spherical blending.
        damping, rcond, twists, threads
            As in `deform_many`.

        Returns
        -------
        Palette

        Raises
        ------
        ValueError, TypeError, LinAlgError
            As `deform_many`; also if centers are not wanted, and an option of theirs is given.
        """
        refuse_idle("spherical", {"damping": damping, "rcond": rcond})
        if method_name(method) not in ("linear", "spherical"):
            raise ValueError(f"method={method!r} is for no shader: 'linear' and 'spherical' are")
        if centers and method_name(method) == "linear":
            raise ValueError("centers has no effect on method='linear'")
        if not centers and (damping != DAMPING or rcond is not None):
            raise ValueError("damping and rcond have no effect without centers=True")
        joints, found, counts = self._core.pose_palette(
            skinning_matrices,
            method=method_name(method),
            centers=centers,
            damping=damping,
            rcond=rcond,
            twists=twists,
            threads=threads,
        )
        return Palette(joints, found, *counts)

    # ----------------------------------------------------------------------------------------------------- new from old

    def update_weights(
        self,
        joint_indices: ArrayLike,
        joint_weights: ArrayLike,
        *,
        vertices: ArrayLike | None = None,
        strict: bool = False,
    ) -> Self:
        """The same mesh with other weights, as a new skin that deforms as a new `Skin`, bit for bit.

        With `vertices`, influences of others are copied, which takes a fraction of the time: fast enough to follow the
        strokes of a brush.

        Parameters
        ----------
        joint_indices, joint_weights : (M, K) array_like
            The new influences, of all vertices or of those in `vertices`. K need not be that of this skin.
        vertices : (M,) array_like of int or (V,) array_like of bool, optional
            The vertices that change; if one occurs several times, its last row counts.
        strict : bool
            As in `Skin`.

        Returns
        -------
        Skin
            Of the class of this one; attributes that a subclass has added are kept.

        Raises
        ------
        ValueError, TypeError
            As `Skin`; positions in messages are those in the arrays given.
        IndexError
            If a vertex is out of range.

        Warns
        -----
        WeightWarning
            As `Skin`; it counts all vertices.
        """
        updated = type(self).__new__(type(self))
        updated.__dict__.update(self.__dict__)
        if vertices is None:
            new = {"joint_indices": joint_indices, "joint_weights": joint_weights}
            updated._make({**self._arguments(), **new}, strict)
        else:
            updated._core = self._core.update(self._chosen(vertices), joint_indices, joint_weights, strict=strict)
        updated._warn_of_repairs()
        return updated

    def with_normals(self, rest_normals: ArrayLike | None) -> Self:
        """The same skin with other rest normals, or with none.

        Parameters
        ----------
        rest_normals : (V, 3) array_like or None
            Of any length.

        Returns
        -------
        Skin
            Of the class of this one.

        Raises
        ------
        ValueError, TypeError
            As `Skin`.
        """
        return type(self).quietly(**{**self._arguments(), "rest_normals": rest_normals})

    def _chosen(self, vertices: ArrayLike) -> NDArray[np.int32]:
        return np.asarray(np.arange(self.vertex_count, dtype=np.int32)[np.asarray(vertices)])

    def __repr__(self) -> str:
        sets = len(self.joint_sets)
        return (
            f"<sbs.Skin {counted(self.vertex_count, 'vertex', 'vertices')} ({self.dtype}), "
            f"{counted(self.joint_count, 'joint')}, {counted(sets, 'joint set')} "
            f"({self.nontrivial_joint_set_count} non-trivial), up to {counted(self.max_influences, 'influence')}>"
        )

    def _repr_html_(self) -> str:
        has = (self.has_normals, self.has_centers, self.twist is not None)
        rows = {
            "vertices": f"{self.vertex_count}, of which {self.unweighted_vertex_count} have no weights",
            "type": self.dtype,
            "joints": self.joint_count,
            "joint sets": f"{len(self.joint_sets)}, of which {self.nontrivial_joint_set_count} are non-trivial",
            "influences": f"up to {self.max_influences}",
            "normals, centers, twist": ", ".join("yes" if each else "no" for each in has),
        }
        return table("sbs.Skin", rows)

    def __copy__(self) -> Skin:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self._arguments())

    def _arguments(self) -> dict[str, Any]:
        """The arguments that the skin was made from."""
        return {name: getattr(self, name) for name in _ARGUMENTS}


def _restore(cls: type[Skin], arguments: dict[str, Any]) -> Skin:
    """The skin of a pickle. Warnings about its weights were given when it was first made."""
    return cls.quietly(**arguments)
