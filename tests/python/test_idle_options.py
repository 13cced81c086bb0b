# SPDX-License-Identifier: MIT
"""Options that would have no effect are errors, for who gave them expects one."""

from typing import Any

import numpy as np
import pytest

import sbs
from sbs import weights
from sbs.options import BlendOptions


@pytest.fixture(scope="module")
def skin() -> sbs.Skin:
    rest = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    return sbs.Skin(rest, [[0, 1]] * 3, [[0.5, 0.5]] * 3, centers=np.zeros((3, 3)))


MATRICES = np.stack([np.eye(4), np.diag([1.0, -1.0, -1.0, 1.0])])

IDLE: dict[str, BlendOptions] = {
    "base": {"base": "rigid"},
    "base, by options": {"base": {"method": "spherical"}},
    "rotation of linear": {"method": "linear", "rotation": "average"},
    "center of linear": {"method": "linear", "center": "weighted"},
    "center of dual quaternions": {"method": "dual_quaternion", "center": "optimized"},
    "damping of rigid": {"method": "rigid", "damping": 1e-6},
    "rcond of linear": {"method": "linear", "rcond": 1e-3},
    "rcond of weighted centers": {"center": "weighted", "rcond": 1e-3},
    "rcond of optimized centers": {"center": "optimized", "rcond": 1e-3},
    "damping of optimized centers": {"center": "optimized", "damping": 1e-6},
    "damping in place of which rcond is": {"damping": 1e-6, "rcond": 1e-3},
    "rotation of a linear base": {"amount": 0.5, "base": {"method": "linear", "rotation": "average"}},
    "rcond of a weighted base": {"amount": 0.5, "base": {"center": "weighted", "rcond": 1e-3}},
}
USED: list[BlendOptions] = [
    {},
    {"method": "linear", "rotation": "qlerp", "center": "joint_set", "damping": 1e-8, "rcond": None, "base": None},
    {"rotation": "average", "center": "weighted", "damping": 1e-5},
    {"center": "optimized"},
    {"rcond": 1e-3},
    {"amount": 0.5},
    {"amount": 0.5, "base": "rigid"},
    {"amount": 0.5, "base": {"method": "spherical", "rcond": 1e-3}, "method": "linear"},
]


@pytest.mark.parametrize("case", IDLE)
def test_options_of_deformation(skin: sbs.Skin, case: str) -> None:
    option, options = case.replace(",", "").split()[0], IDLE[case]
    with pytest.raises(ValueError, match=f"{option} has no effect"):
        skin.deform(MATRICES, **options)
    with pytest.raises(ValueError, match=f"{option} has no effect"):
        skin.deform_many(MATRICES[None], **options)
    with pytest.raises(ValueError, match=f"{option} has no effect"):
        skin.inverse_deform(skin.rest_positions, MATRICES, **options)


@pytest.mark.parametrize("options", USED, ids=repr)
def test_options_that_are_used_or_are_the_default(skin: sbs.Skin, options: BlendOptions) -> None:
    positions = skin.deform(MATRICES, **options)
    assert np.array_equal(skin.deform_many(MATRICES[None], **options)[0], positions)


def test_centers_by_damping_or_by_rcond(skin: sbs.Skin) -> None:
    for measure in (skin.rotation_centers, skin.pose_report):
        with pytest.raises(ValueError, match="damping"):
            measure(MATRICES, damping=1e-6, rcond=1e-3)


def test_no_bone_of_a_joint_without_a_parent() -> None:
    binds = np.tile(np.eye(4), (3, 1, 1))
    binds[1, 0, 3], binds[2, 0, 3] = 1, 2
    skeleton = sbs.Skeleton([-1, 0, 1], binds, names=["root", "elbow", "wrist"])
    points = np.random.default_rng(1).normal(size=(20, 3))
    with pytest.raises(ValueError, match="'root' has no parent"):
        sbs.bones_blending(skeleton, points, joints=["elbow", "root"])
    sbs.bones_blending(skeleton, points, joints=["elbow"])
    sbs.bones_blending(skeleton, points)


@pytest.mark.parametrize("option", [{"axis": "y"}, {"position": 1.0}, {"tolerance": 0.5}, {"parents": [-1, -1]}])
def test_no_mirror_without_positions(option: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(option))):
        weights.mirror_joints(["arm.L", "arm.R"], **option)
    weights.mirror_joints(["arm.L", "arm.R"], np.zeros((2, 3)), **option)
