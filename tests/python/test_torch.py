# SPDX-License-Identifier: MIT
"""`sbs.torch` by PyTorch's own check of gradients. Where PyTorch is not installed, nothing is tested."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from meshes import skin_arguments, skinning_matrices

import sbs
from sbs.options import Center, Method

torch = pytest.importorskip("torch")

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
    from sbs.torch import deform

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


def test_frames_are_those_of_single_calls() -> None:
    from sbs.torch import deform

    skin = make_skin()
    matrices, rest, *_ = tensors(skin, frames=3)
    many = deform(skin, matrices, rest_positions=rest)
    assert many.shape == (3, 5, 3)
    for frame in range(3):
        expected = skin.deform(matrices[frame].detach().numpy())
        assert np.array_equal(many[frame].detach().numpy(), expected)
    many.square().sum().backward()
    assert matrices.grad.shape == matrices.shape


def test_learns_a_pose() -> None:
    """Gradient descent by the gradient finds matrices that bring a mesh where another pose has it."""
    from sbs.torch import deform

    skin = make_skin()
    target = torch.tensor(skin.deform(skinning_matrices(5, seed=4), method="linear"))
    matrices = torch.tensor(skinning_matrices(5, seed=3), requires_grad=True)
    optimizer = torch.optim.Adam([matrices], lr=0.05)
    for _ in range(200):
        optimizer.zero_grad()
        loss = (deform(skin, matrices, method="linear") - target).square().sum()
        loss.backward()
        optimizer.step()
    assert loss.item() < 1e-3
