# SPDX-License-Identifier: MIT
"""Deformation as a function that PyTorch differentiates (extra ``torch``): to learn shapes, weights and poses.

All work is done by the C library on the processor: tensors on another device are copied there and back. Gradients are
those of `Skin.deform_vjp`, of first order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

import numpy as np

from .extras import load
from .gradients import Differentiable
from .options import Center, Method, MethodOptions
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
    normals: bool = False,
    **options: Unpack[TensorOptions],
) -> Tensor | tuple[Tensor, Tensor]:
    """Deform a mesh by tensors, differentiably.

    Parameters
    ----------
    skin : Skin
        What is no tensor below is taken from it, and so is the type of the computation: float64 for `gradcheck`.
    skinning_matrices : (J, 4, 4), (J, 3, 4), (F, J, 4, 4) or (F, J, 3, 4) tensor
    rest_positions : (V, 3) or (F, V, 3) tensor, optional
        Other rest positions, such as a template with blend shapes makes.
    joint_weights : (V, K) tensor, optional
        Other weights of the skin's `joint_indices`, which are normalized. The skin is bound anew by every call.
    amount : (V,) tensor, optional
        How much of the method each vertex gets; see `Skin.deform`.
    normals : bool
        Whether to return normals, too.
    method, center, damping, base, threads
        As of `Skin.deform`. There is no gradient of ``rotation="average"`` and of `rcond`, so these are no options.

    Returns
    -------
    (V, 3) or (F, V, 3) tensor, or two of them with normals
        Of the skin's type, on the device of the matrices.

    Raises
    ------
    ValueError, TypeError
        As `Skin.deform`.

    Examples
    --------
    A pose that brings a point where it should be, by gradient descent::

        matrices = torch.eye(4, dtype=torch.float64).repeat(2, 1, 1).requires_grad_()
        loss = (sbs.torch.deform(skin, matrices) - target).square().sum()
        loss.backward()
    """
    bound = skin
    if joint_weights is not None:
        bound = skin.update_weights(skin.joint_indices, _array(joint_weights))
    single = skinning_matrices.dim() == 3
    frames = skinning_matrices[None] if single else skinning_matrices
    if skinning_matrices.dim() not in (3, 4):
        raise ValueError(f"skinning_matrices has shape {tuple(skinning_matrices.shape)}, expected ([F,] J, 4, 4)")
    shapes = [None] * len(frames) if rest_positions is None else _by_frame(rest_positions, len(frames))
    results = [
        _Deform.apply(bound, normals, options, matrices, shape, joint_weights, amount)
        for matrices, shape in zip(frames, shapes, strict=True)
    ]
    positions = torch.stack([result[0] for result in results])
    moved = torch.stack([result[1] for result in results]) if normals else None
    if single:
        return (positions[0], moved[0]) if moved is not None else positions[0]
    return (positions, moved) if moved is not None else positions


def _by_frame(rest_positions: Tensor, count: int) -> list[Tensor]:
    if rest_positions.dim() == 2:
        return [rest_positions] * count
    if rest_positions.dim() != 3 or len(rest_positions) != count:
        raise ValueError(f"rest_positions has shape {tuple(rest_positions.shape)}, expected (V, 3) or ({count}, V, 3)")
    return list(rest_positions)


def _array(tensor: Any) -> Any:
    return None if tensor is None else tensor.detach().cpu().numpy()


class _Deform(torch.autograd.Function):  # type: ignore[misc]  # of Any: torch is loaded when it is there
    """One frame. Tensors come last: matrices, rest positions, weights, amount."""

    @staticmethod
    def forward(ctx: Any, skin: Skin, normals: bool, options: Any, *tensors: Any) -> Any:
        matrices, rest_positions, _, amount = map(_array, tensors)
        ctx.skin, ctx.normals, ctx.options = skin, normals, dict(options)
        ctx.save_for_backward(*tensors)
        results = skin.deform(matrices, rest_positions=rest_positions, amount=amount, normals=normals, **options)
        device = tensors[0].device
        made = results if normals else (results,)
        return tuple(torch.from_numpy(np.ascontiguousarray(array)).to(device) for array in made)

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]  # torch may not be there
    def backward(ctx: Any, *upstream: Any) -> Any:
        tensors = ctx.saved_tensors
        matrices, rest_positions, _, amount = map(_array, tensors)
        names: tuple[Differentiable, ...] = ("skinning_matrices", "rest_positions", "joint_weights", "amount")
        needed = ctx.needs_input_grad[3:]
        gradients = ctx.skin.deform_vjp(
            matrices,
            _array(upstream[0]),
            _array(upstream[1]) if ctx.normals else None,
            wanted=tuple(name for name, need in zip(names, needed, strict=True) if need),
            amount=amount,
            rest_positions=rest_positions,
            **ctx.options,
        )
        found = [None if not need else getattr(gradients, name) for name, need in zip(names, needed, strict=True)]
        if needed[0] and matrices.shape[1] == 4:  # the last row is (0, 0, 0, 1)
            found[0] = np.concatenate([found[0], np.zeros((len(matrices), 1, 4))], axis=1)
        given = [
            None if array is None else torch.from_numpy(array).to(dtype=tensor.dtype, device=tensor.device)
            for array, tensor in zip(found, tensors, strict=True)
        ]
        return None, None, None, *given
