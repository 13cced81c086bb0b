# SPDX-License-Identifier: MIT
"""`sbs.torch`: deformation as a function that PyTorch differentiates."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from ..support.callers import warn
from ..support.extras import load
from .blending import other_base
from .gradients import Differentiable
from .options import Center, Method, MethodOptions
from .reports import WeightWarning
from .shapes import Shapes
from .skin import Skin

torch: Any = load("torch", "torch", "tensors")

if TYPE_CHECKING:
    from torch import Tensor
else:
    Tensor = torch.Tensor

__all__ = ["deform"]


class TensorOptions(TypedDict, total=False):
    """Options of `deform` that are those of `Skin.deform`."""

    method: Method
    center: Center
    damping: float
    base: Method | MethodOptions | None
    threads: int | None


@overload
def deform(
    skin: Skin,
    skinning_matrices: Tensor,
    *,
    rest_positions: Tensor | None = None,
    joint_weights: Tensor | None = None,
    amount: Tensor | None = None,
    shapes: Shapes | None = None,
    shape_weights: Tensor | None = None,
    shape_deltas: Tensor | None = None,
    normals: Literal[False] = False,
    **options: Unpack[TensorOptions],
) -> Tensor: ...
@overload
def deform(
    skin: Skin,
    skinning_matrices: Tensor,
    *,
    rest_positions: Tensor | None = None,
    joint_weights: Tensor | None = None,
    amount: Tensor | None = None,
    shapes: Shapes | None = None,
    shape_weights: Tensor | None = None,
    shape_deltas: Tensor | None = None,
    normals: Literal[True],
    **options: Unpack[TensorOptions],
) -> tuple[Tensor, Tensor]: ...
def deform(
    skin: Skin,
    skinning_matrices: Tensor,
    *,
    rest_positions: Tensor | None = None,
    joint_weights: Tensor | None = None,
    amount: Tensor | None = None,
    shapes: Shapes | None = None,
    shape_weights: Tensor | None = None,
    shape_deltas: Tensor | None = None,
    normals: bool = False,
    **options: Unpack[TensorOptions],
) -> Tensor | tuple[Tensor, Tensor]:
    """Deform a mesh by tensors, differentiably.

    Parameters
    ----------
    skin : Skin
        It has the arguments that are not given below, and the type of the computation: float64 for `gradcheck`.
    skinning_matrices : (..., J, 4, 4) or (..., J, 3, 4) tensor
        Any number of batch axes, also none, of any length, also 0.
    rest_positions : (..., V, 3) tensor, optional
        Other rest positions, such as a template with blend shapes makes. Their batch axes and those of the matrices are
        broadcast against each other.
    joint_weights : (V, K) tensor, optional
        Other weights of the skin's `joint_indices`, which are normalized. The skin is bound anew by every call.
    amount : (V,) tensor, optional
        How much of the method each vertex gets; see `Skin.deform`.
    shapes : sbs.correctives.Shapes, optional
        Shapes that are added to the rest positions. They change no normals here.
    shape_weights : (..., S) tensor, optional
        How much there is of each, with batch axes as those of `rest_positions`.
    shape_deltas : (M, 3) tensor, optional
        The offsets that they add to `Shapes.vertices`, in place of `Shapes.deltas`.
    normals : bool
        Whether to return normals, too.
    method, center, damping, base, threads
        As of `Skin.deform`. There is no gradient of ``rotation="average"`` and of `rcond`, so these are no options.

    Returns
    -------
    (..., V, 3) tensor, or two of them with normals
        On the device of the matrices. Their type is that of the tensors, promoted by PyTorch's rules.

    Raises
    ------
    ValueError, TypeError
        As `Skin.deform`, and for arguments that are not tensors, such as NumPy arrays.

    Warns
    -----
    WeightWarning
        If weights that are NaN, infinite or negative were dropped.

    Examples
    --------
    A pose that brings a point where it should be, by gradient descent::

        matrices = torch.eye(4, dtype=torch.float64).repeat(2, 1, 1).requires_grad_()
        loss = (sbs.torch.deform(skin, matrices) - target).square().sum()
        loss.backward()
    """
    given = {
        "skinning_matrices": skinning_matrices,
        "rest_positions": rest_positions,
        "joint_weights": joint_weights,
        "amount": amount,
        "shape_weights": shape_weights,
        "shape_deltas": shape_deltas,
    }
    for name, tensor in given.items():
        if not isinstance(tensor, torch.Tensor) and (tensor is not None or name == "skinning_matrices"):
            raise TypeError(f"{name} must be a tensor, not {type(tensor).__name__}; torch.as_tensor makes one")
    base = other_base({**options, "amount": amount})
    if amount is not None and base is not None:
        _check_shape("amount", amount, (skin.vertex_count,))
        if not bool(((amount >= 0) & (amount <= 1)).all()):
            raise ValueError("amount must be between 0 and 1")
        beside = {name: given[name] for name in given if name not in ("skinning_matrices", "amount")}
        beside |= {"shapes": shapes, "normals": normals, "threads": options.get("threads")}
        method = {name: value for name, value in options.items() if name not in ("base", "threads")}
        ours, others = (deform(skin, skinning_matrices, **beside, **call) for call in (method, base))
        if not normals:
            return _mix(ours, others, amount)
        turned = torch.nn.functional.normalize(_mix(ours[1], others[1], amount), dim=-1)
        return _mix(ours[0], others[0], amount), turned
    count = skin.joint_count
    _check_shape("skinning_matrices", skinning_matrices, (count, 4, 4), (count, 3, 4))
    batch = skinning_matrices.shape[:-3]
    shape = _shaped(skin, rest_positions, shapes, shape_weights, shape_deltas)
    if shape is not None:
        _check_shape("rest_positions", shape, (skin.vertex_count, 3))
        batch = _broadcast(batch, shape.shape[:-2])
        if shape.dim() > 2:
            shape = shape.expand(*batch, -1, -1).reshape(math.prod(batch), *shape.shape[-2:])
    frames = skinning_matrices.expand(*batch, -1, -1, -1).reshape(math.prod(batch), *skinning_matrices.shape[-3:])
    bound = skin if joint_weights is None else _with_weights(skin, joint_weights)
    kind = reduce(torch.promote_types, (tensor.dtype for tensor in given.values() if tensor is not None))
    kind = kind if kind.is_floating_point else torch.get_default_dtype()
    results = _Deform.apply(bound, normals, options, kind, frames, shape, joint_weights, amount)
    positions, *moved = (result.reshape(*batch, *result.shape[1:]) for result in results)
    return (positions, *moved) if normals else positions


def _mix(ours: Tensor, others: Tensor, amount: Tensor) -> Tensor:
    """So much of the results of a method, the rest of another's."""
    return torch.lerp(others, ours, amount[:, None].to(ours))


def _shaped(
    skin: Skin, rest_positions: Any, shapes: Shapes | None, shape_weights: Any, shape_deltas: Any
) -> Tensor | None:
    """Rest positions with shapes; None: those of the skin."""
    if shapes is None:
        for name, tensor in (("shape_weights", shape_weights), ("shape_deltas", shape_deltas)):
            if tensor is not None:
                raise ValueError(f"{name} has no effect without shapes")
        return rest_positions
    if shape_weights is None:
        raise ValueError("shapes needs shape_weights")
    _check_shape("shape_weights", shape_weights, (len(shapes),))
    place = {"device": shape_weights.device}
    vertices = torch.as_tensor(shapes.vertices, dtype=torch.long, **place)
    if shape_deltas is None:
        shape_deltas = torch.as_tensor(shapes.deltas.astype(skin.dtype), **place)
    _check_shape("shape_deltas", shape_deltas, (len(vertices), 3))
    if rest_positions is None:
        rest_positions = torch.as_tensor(np.array(skin.rest_positions), **place)
    _check_shape("rest_positions", rest_positions, (skin.vertex_count, 3))
    added = shape_weights[..., torch.as_tensor(shapes.shape_of_vertex, **place), None] * shape_deltas
    _broadcast(shape_weights.shape[:-1], rest_positions.shape[:-2])
    everywhere = added.new_zeros((*added.shape[:-2], skin.vertex_count, 3))
    return rest_positions + everywhere.index_add(-2, vertices, added)


def _check_shape(name: str, tensor: Tensor, *expected: tuple[int, ...]) -> None:
    """Refuse a tensor whose last axes are none of these."""
    if all(tuple(tensor.shape[-len(axes) :]) != axes for axes in expected):
        shapes = " or ".join(f"(..., {', '.join(map(str, axes))})" for axes in expected)
        raise ValueError(f"{name} has shape {tuple(tensor.shape)}, expected {shapes}")


def _broadcast(matrices: tuple[int, ...], rest_positions: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return tuple(torch.broadcast_shapes(matrices, rest_positions))
    except RuntimeError:
        raise ValueError(
            f"batches of skinning_matrices {tuple(matrices)} and rest_positions {tuple(rest_positions)} do not go "
            "together"
        ) from None


def _with_weights(skin: Skin, joint_weights: Tensor) -> Skin:
    """The skin with weights that are learned: no warning of their sums, which nothing holds at 1."""
    if joint_weights.shape != skin.joint_weights.shape:
        raise ValueError(
            f"joint_weights has shape {tuple(joint_weights.shape)}, expected {tuple(skin.joint_weights.shape)}"
        )
    bound = skin.quietly(**{**skin._arguments(), "joint_weights": _array(joint_weights)})
    dropped = replace(bound.weight_report, unweighted=0, off_sum=0, duplicate=0)
    if str(dropped):
        warn(dropped.warning(bound.vertex_count), WeightWarning)
    return bound


def _array(tensor: Any) -> Any:
    if tensor is None:
        return None
    known = tensor.float() if tensor.dtype == torch.bfloat16 else tensor  # which NumPy does not know
    return known.detach().cpu().numpy()


class _Deform(torch.autograd.Function):  # type: ignore[misc]  # of Any: torch is loaded when it is there
    """All frames. Tensors come last: matrices (F, J, 4, 4), rest positions (V, 3) or (F, V, 3), weights, amount."""

    @staticmethod
    def forward(ctx: Any, skin: Any, normals: bool, options: Any, kind: Any, *tensors: Any) -> Any:
        ctx.skin, ctx.normals, ctx.options = skin, normals, dict(options)
        ctx.save_for_backward(*tensors)
        matrices, rest_positions, _, amount = map(_array, tensors)
        results = [np.empty((len(matrices), skin.vertex_count, 3), skin.dtype) for _ in range(1 + normals)]
        if rest_positions is None:
            out = dict(zip(("out", "out_normals"), results, strict=False))
            skin.deform_many(matrices, amount=amount, normals=normals, **out, **options)
        for frame, shape in enumerate(() if rest_positions is None else _shapes(rest_positions, len(matrices))):
            out = {name: array[frame] for name, array in zip(("out", "out_normals"), results, strict=False)}
            skin.deform(matrices[frame], rest_positions=shape, amount=amount, normals=normals, **out, **options)
        return tuple(torch.from_numpy(array).to(dtype=kind, device=tensors[0].device) for array in results)

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]  # torch may not be there
    def backward(ctx: Any, *upstream: Any) -> Any:
        tensors = ctx.saved_tensors
        matrices, rest_positions, _, amount = map(_array, tensors)
        positions, normals = map(_array, upstream if ctx.normals else (*upstream, None))
        names: tuple[Differentiable, ...] = ("skinning_matrices", "rest_positions", "joint_weights", "amount")
        needed = ctx.needs_input_grad[4:]
        wanted = tuple(name for name, need in zip(names, needed, strict=True) if need)
        found = {name: np.zeros(tensor.shape) for name, tensor in zip(names, tensors, strict=True) if name in wanted}
        for frame, shape in enumerate(_shapes(rest_positions, len(matrices))):
            gradients = ctx.skin.deform_vjp(
                matrices[frame],
                positions[frame],
                None if normals is None else normals[frame],
                wanted=wanted,
                amount=amount,
                rest_positions=shape,
                **ctx.options,
            )
            for name, total in found.items():
                if name == "skinning_matrices":
                    total[frame, :, :3] = gradients.skinning_matrices  # the last row is (0, 0, 0, 1)
                elif name == "rest_positions" and total.ndim == 3:
                    total[frame] = gradients.rest_positions
                else:
                    total += getattr(gradients, name)
        given = (
            torch.from_numpy(found[name]).to(dtype=tensor.dtype, device=tensor.device) if name in found else None
            for name, tensor in zip(names, tensors, strict=True)
        )
        return None, None, None, None, *given


def _shapes(rest_positions: NDArray[Any] | None, count: int) -> Iterable[NDArray[Any] | None]:
    """The rest positions of each frame: its own, or those of all."""
    return rest_positions if rest_positions is not None and rest_positions.ndim == 3 else repeat(rest_positions, count)
