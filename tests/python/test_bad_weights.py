# SPDX-License-Identifier: MIT
"""Weights that are NaN, infinite or negative are dropped by all that takes weights, as a skin drops them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import succeed
from numpy.typing import NDArray

import sbs
from sbs import _core, muscles, weights
from sbs.view.shape import Surface

BAD = (np.nan, np.inf, -np.inf, -0.25)


@pytest.fixture(scope="module")
def woman() -> sbs.Character:
    return sbs.samples.load("woman")


def with_bad(woman: sbs.Character, values: tuple[float, ...]) -> sbs.Character:
    """The woman with these weights in turn: beside others in some vertices, and in place of all in others."""
    found = np.array(woman.mesh.joint_weights)
    found[::7, 1] = np.resize(values, len(found[::7]))
    found[3::11] = np.resize(values, len(found[3::11]))[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sbs.WeightWarning)
        return woman.with_weights(woman.mesh.joint_indices, found)


def pose(character: sbs.Character) -> NDArray[np.float64]:
    turns = np.random.default_rng(1).uniform(-0.5, 0.5, (len(character.skeleton), 3))
    return character.skinning_matrices(turns)


def brushed(character: sbs.Character) -> Any:
    mesh = character.mesh
    brush = weights.Brush(
        mesh.positions, mesh.triangles, mesh.joint_indices, mesh.joint_weights, names=character.skeleton.names
    )
    stroke = brush.dab(mesh.positions[700], "LeftForeArm", radius=0.1)
    drag = brush.drag(700, mesh.positions[700] + 0.02, character.skin, pose(character), radius=0.1)
    return [*stroke.new, *drag.new, *brush.influences()]


def covered(character: sbs.Character) -> Any:
    skin, matrices = character.skin, pose(character)
    positions = np.array(skin.deform(matrices))
    muscles.bind(character, muscles.fit(character)).apply(positions, matrices)
    return [positions]


def examples(character: sbs.Character) -> tuple[Any, ...]:
    """Rest positions, examples, matrices and influences of some vertices; none of these without a weight."""
    mesh, rows = character.mesh, slice(0, 300)
    matrices = np.stack([character.rest_matrices, pose(character)])
    shown = sbs.samples.load("woman").skin.deform_many(matrices, method="linear")[:, rows]
    return mesh.positions[rows], shown, matrices, mesh.joint_indices[rows], mesh.joint_weights[rows]


def influences(character: sbs.Character) -> tuple[Any, Any]:
    return character.mesh.joint_indices, character.mesh.joint_weights


def surface(character: sbs.Character) -> tuple[Any, Any]:
    return character.mesh.positions, character.mesh.triangles


TOOLS: dict[str, Callable[[sbs.Character], Any]] = {
    "normalize": lambda c: weights.normalize(*influences(c)),
    "limit": lambda c: weights.limit(*influences(c), 2),
    "limit, not normalized": lambda c: weights.limit(*influences(c), 2, normalize=False),
    "prune": lambda c: weights.prune(*influences(c), 0.1),
    "smooth": lambda c: weights.smooth(*surface(c), *influences(c)),
    "tidy": lambda c: weights.tidy(*influences(c)),
    "transfer": lambda c: weights.transfer(*surface(c), *influences(c), c.mesh.positions[:100] + 0.01),
    "mirror": lambda c: weights.mirror(
        *surface(c), *influences(c), weights.mirror_joints(c.skeleton.names, c.skeleton.joint_positions).joints
    ),
    "Brush": brushed,
    "muscles": covered,
    "optimized_centers": lambda c: [c.optimized_centers()],
    "bones_blending": lambda c: [
        sbs.bones_blending(c.skeleton, c.mesh.positions, influences=influences(c), joints=["LeftForeArm"]).joint_weights
    ],
    "twist": lambda c: [c.twisted_skin(sbs.limb_twist(c)).deform(pose(c))],
    "twist joints": lambda c: c.with_twist_joints(sbs.limb_twist(c)).skin.influences(),
    "fit_matrices": lambda c: weights.fit_matrices(*examples(c), sweeps=2),
    "fit_centers": lambda c: _core.fit_centers(*examples(c)),
    "gradient": lambda c: [c.skin.deform_vjp(pose(c), np.ones((len(c.mesh.positions), 3))).skinning_matrices],
    "colors of the page": lambda c: [Surface(c).weights(c.skeleton.index("LeftForeArm"))],
    "scene": lambda c: [c.scene_matrix],
}


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.filterwarnings("ignore::sbs.WeightWarning")
def test_tools_drop_what_a_skin_drops(woman: sbs.Character, tool: str) -> None:
    """To the last bit as if they were 0."""
    found, expected = (TOOLS[tool](with_bad(woman, values)) for values in (BAD, (0.0,)))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_muscles_of_a_file_with_bad_weights(woman: sbs.Character, tmp_path: Path) -> None:
    """On the command line, beside the warning that weights were repaired."""
    path = tmp_path / "woman.glb"
    mesh = woman.mesh
    woman.save(path)
    data = path.read_bytes()
    stored = np.ascontiguousarray(mesh.joint_weights[:, :4], np.float32).tobytes()
    assert data.count(stored) == 1
    bad = np.array(mesh.joint_weights[:, :4], np.float32)
    bad[500:520] = np.nan
    path.write_bytes(data.replace(stored, bad.tobytes()))
    arguments = ["deform", str(path), "--joint", "LeftForeArm", "--rotate", "bend:60", "--muscles", "fit"]
    assert "20 with NaN" in succeed(*arguments, "-o", tmp_path / "posed.obj")
