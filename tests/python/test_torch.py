# SPDX-License-Identifier: MIT
"""`sbs.torch` by PyTorch's own check of gradients. conftest.py leaves this file out where PyTorch is not installed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from meshes import skin_arguments, skinning_matrices
from test_owned import MATRICES, arguments, scribble

import sbs
from sbs.correctives import Shapes
from sbs.options import Center, Method
from sbs.torch import deform

FORMULAS: list[tuple[Method, Center]] = [
    ("linear", "joint_set"),
    ("spherical", "joint_set"),
    ("spherical", "weighted"),
    ("dual_quaternion", "joint_set"),
]


def tensors(skin: sbs.Skin, frames: int = 0) -> list[Any]:
    matrices = skinning_matrices(*(frames,) * bool(frames), 5)
    matrices[..., :3, :3] = np.einsum("...ij,jk", matrices[..., :3, :3], np.diag([1.0, 1.1, 0.9]))  # not rigid
    arrays = (matrices[..., :3, :], skin.rest_positions, skin.joint_weights, np.full(skin.vertex_count, 0.4))
    return [torch.tensor(np.array(array), requires_grad=True) for array in arrays]


def make_skin() -> sbs.Skin:
    return sbs.Skin(**skin_arguments(5, 5, 3, normals=True))


@pytest.mark.parametrize(("method", "center"), FORMULAS)
def test_gradcheck(method: Method, center: Center) -> None:
    skin = make_skin()
    options: dict[str, Any] = {"method": method} if center == "joint_set" else {"method": method, "center": center}

    def function(matrices: Any, rest: Any, weights: Any, amount: Any) -> Any:
        return deform(
            skin,
            matrices,
            rest_positions=rest,
            joint_weights=weights,
            amount=amount,
            base="dual_quaternion",
            normals=True,
            **options,
        )

    assert torch.autograd.gradcheck(function, tensors(skin), eps=1e-6, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("batch", [(0,), (1,), (2, 3), (2, 0, 3)])
@pytest.mark.parametrize("normals", [False, True])
def test_any_batch_axes(batch: tuple[int, ...], normals: Any) -> None:
    """Results of a batch are those of single calls, and so are gradients, also of no frames at all."""
    skin = make_skin()
    matrices, rest, weights, amount = tensors(skin, frames=6)
    matrices = matrices.detach()[: math.prod(batch)].requires_grad_()
    batched = matrices.detach().reshape(*batch, 5, 3, 4).requires_grad_()
    result = deform(skin, batched, rest_positions=rest, joint_weights=weights, amount=amount, normals=normals)
    parts = result if normals else (result,)
    assert all(part.shape == (*batch, 5, 3) for part in parts)
    for number, frame in enumerate(np.ndindex(*batch)):
        expected = skin.deform(matrices[number].detach().numpy(), amount=np.full(5, 0.4), normals=normals)
        for part, one in zip(parts, expected if normals else (expected,), strict=True):
            assert np.array_equal(part[frame].detach().numpy(), one)
    sum(part.square().sum() for part in parts).backward()
    grads = [tensor.grad.clone() for tensor in (rest, weights, amount)]
    for tensor in (rest, weights, amount):
        tensor.grad = None
    for number in range(len(matrices)):
        one = deform(skin, matrices[number], rest_positions=rest, joint_weights=weights, amount=amount, normals=normals)
        sum(part.square().sum() for part in (one if normals else (one,))).backward()
    if len(matrices):  # the same sums, in another order
        torch.testing.assert_close(batched.grad.reshape(matrices.shape), matrices.grad)
        torch.testing.assert_close(grads, [tensor.grad for tensor in (rest, weights, amount)])
    else:
        assert not any(grad.any() for grad in grads)


def test_batches_of_shapes_and_poses_are_broadcast() -> None:
    """Two bodies in three poses: shapes (2, 1, V, 3) and matrices (3, J, 3, 4)."""
    skin = make_skin()
    matrices, rest, *_ = tensors(skin, frames=3)
    shapes = torch.stack([rest.detach(), 2 * rest.detach()])[:, None].requires_grad_()
    result = deform(skin, matrices, rest_positions=shapes)
    assert result.shape == (2, 3, 5, 3)
    for body, pose in np.ndindex(2, 3):
        expected = skin.deform(matrices[pose].detach().numpy(), rest_positions=shapes[body, 0].detach().numpy())
        assert np.array_equal(result[body, pose].detach().numpy(), expected)
    result.sum().backward()
    assert shapes.grad.shape == (2, 1, 5, 3)
    assert matrices.grad.shape == matrices.shape
    many = deform(skin, matrices[0], rest_positions=shapes[:, 0])
    assert torch.equal(many, result[:, 0])


@pytest.mark.parametrize("skin_type", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_results_have_the_type_of_the_tensors(skin_type: Any, kind: Any) -> None:
    skin = sbs.Skin(**skin_arguments(5, 5, 3, skin_type))
    matrices = torch.eye(4, dtype=kind).repeat(5, 1, 1).requires_grad_()
    result = deform(skin, matrices)
    assert result.dtype == kind
    result.sum().backward()
    assert matrices.grad.dtype == kind
    assert deform(skin, matrices, rest_positions=torch.zeros(5, 3, dtype=torch.float32)).dtype == (
        torch.promote_types(kind, torch.float32)
    )
    assert deform(skin, torch.eye(4, dtype=torch.int64).repeat(5, 1, 1)).dtype == torch.float32


def test_learned_weights_need_not_sum_to_one() -> None:
    """Warnings are errors here: of a sum there is none, of a dropped weight one."""
    skin = make_skin()
    matrices, _, weights, _ = tensors(skin)
    doubled = (2 * weights.detach()).requires_grad_()
    torch.testing.assert_close(deform(skin, matrices, joint_weights=doubled), deform(skin, matrices))
    with torch.no_grad():
        doubled[0, 0] = -1
    with pytest.warns(sbs.WeightWarning, match="5 vertices: 1 with negative weights \\(dropped\\)$"):
        deform(skin, matrices, joint_weights=doubled)


def test_bad_input_names_what_is_wrong() -> None:
    skin = make_skin()
    matrices, rest, weights, amount = (tensor.detach() for tensor in tensors(skin))
    batches = {"skinning_matrices": matrices.expand(2, 5, 3, 4), "rest_positions": rest.expand(3, 5, 3)}
    bad: list[tuple[str, dict[str, Any]]] = [
        ("skinning_matrices", {"skinning_matrices": matrices.numpy()}),
        ("rest_positions", {"rest_positions": rest.numpy()}),
        ("joint_weights", {"joint_weights": [[1.0]]}),
        ("amount", {"amount": 0.5}),
        (r"skinning_matrices.*\(3, 4\)", {"skinning_matrices": matrices[0]}),
        (r"skinning_matrices.*\(2, 4, 3, 4\)", {"skinning_matrices": matrices[:4].expand(2, 4, 3, 4)}),
        (r"rest_positions.*\(4, 3\)", {"rest_positions": rest[:4]}),
        (r"joint_weights.*\(5,\)", {"joint_weights": weights[:, 0]}),
        ("amount", {"amount": amount[:3]}),
        (r"skinning_matrices \(2,\) and rest_positions \(3,\)", batches),
    ]
    for message, given in bad:
        with pytest.raises((TypeError, ValueError), match=message):
            deform(skin, **{"skinning_matrices": matrices, **given})
    shapes = Shapes(skin, [([0, 3], np.ones((2, 3)))])
    for message, given in (
        ("shape_weights has no effect", {"shapes": None}),
        ("shapes needs shape_weights", {"shape_weights": None}),
        ("shape_weights", {"shape_weights": torch.zeros(3)}),
        ("shape_deltas", {"shape_deltas": torch.zeros(3, 3)}),
    ):
        with pytest.raises(ValueError, match=message):
            deform(skin, matrices, **{"shapes": shapes, "shape_weights": torch.ones(1), **given})


def test_a_skin_owns_what_it_was_made_from() -> None:
    given = arguments()
    skin = sbs.Skin(**given)
    before = deform(skin, torch.tensor(MATRICES)).numpy()
    scribble(given)
    np.testing.assert_array_equal(deform(skin, torch.tensor(MATRICES)).numpy(), before)


def test_shapes_are_learned() -> None:
    """Weights of each frame and deltas have gradients; the result is that of the skin with shapes."""
    skin = make_skin()
    shapes = Shapes(skin, [([0, 3], np.ones((2, 3))), ([3], [[0.0, 1.0, 0.0]])])
    matrices, rest, *_ = tensors(skin, frames=2)
    weights = torch.tensor([[0.5, -1.0], [0.25, 2.0]], dtype=torch.float64, requires_grad=True)
    deltas = torch.tensor(shapes.deltas, requires_grad=True)
    found = deform(skin, matrices, shapes=shapes, shape_weights=weights)
    given = {"shapes": shapes, "shape_weights": weights.detach().numpy()}
    expected = skin.deform_many(matrices.detach().numpy(), **given)
    np.testing.assert_allclose(found.detach().numpy(), expected, atol=1e-6)

    def function(matrices: Any, rest: Any, weights: Any, deltas: Any) -> Any:
        return deform(
            skin,
            matrices,
            rest_positions=rest,
            shapes=shapes,
            shape_weights=weights,
            shape_deltas=deltas,
            method="linear",
        )

    assert torch.autograd.gradcheck(function, (matrices, rest, weights, deltas), eps=1e-6, atol=1e-5, rtol=1e-4)
