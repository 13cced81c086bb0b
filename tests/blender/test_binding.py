# SPDX-License-Identifier: GPL-3.0-or-later
"""Bindings that follow edits by the shortest way are those that are made anew."""

from __future__ import annotations

from typing import Any

import addon
import numpy as np
import pytest

VERTICES = 400
BONES = 4
PLACE = np.eye(4)


@pytest.fixture
def binding() -> Any:
    """A rig of four bones on a row, one of which moves nothing, and random weights of the others."""
    return make(weights_of(seed=1))


def core() -> Any:
    return addon.module("core.binding")


def rest() -> Any:
    return addon.module("core.rest")


def weights_of(seed: int) -> Any:
    random = np.random.default_rng(seed)
    groups = np.tile(np.arange(2, dtype=np.int32), (VERTICES, 1))
    return addon.module("core.influences").VertexWeights(groups, random.uniform(0.1, 1.0, (VERTICES, 2)).astype("f4"))


def rig_of(segments: tuple[int, ...] = (1,) * BONES) -> Any:
    rests = np.tile(np.eye(4), (BONES, 1, 1))
    rests[:, 1, 3] = np.arange(BONES)
    names = tuple(f"B{bone}" for bone in range(BONES))
    return rest().RestBones(
        names=names,
        deforms=np.ones(BONES, bool),
        rests=rests,
        lengths=np.ones(BONES),
        segments=np.array(segments, np.int32),
        parents=np.arange(-1, BONES - 1, dtype=np.int32),
        marked=np.zeros(BONES, bool),
        zones=np.full((BONES, 2), np.nan),
    )


def make(weights: Any, rig: Any | None = None) -> Any:
    positions = np.random.default_rng(0).normal(size=(VERTICES, 3)).astype(np.float32)
    surface = rest().BoundMesh(positions, weights, ("B0", "B1", "B2", "Other"))
    return core().Binding(addon.module("core.library").load(), core().Given(rig or rig_of(), surface, PLACE))


def posed(binding: Any) -> np.ndarray:
    pose = binding.rig.rests.copy()
    pose[1, :3, :3] = [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]
    pose[0, 0, 3] = 0.5
    moves = [np.tile(np.eye(4), (count + 1, 1, 1)) for count in binding.segments if count > 1]
    method = addon.module("core.method").Method()
    deformed: np.ndarray = binding.deform(binding.skinning_matrices(pose, PLACE, moves), method)
    return deformed


def rebound(binding: Any, weights: Any) -> Any:
    surface = rest().BoundMesh(binding.surface.positions, weights, binding.surface.groups)
    return binding.rebound(core().Given(binding.rig, surface, PLACE))


def test_nothing_changed(binding: Any) -> None:
    equal = weights_of(seed=1)
    assert rebound(binding, equal) is binding
    surface = rest().BoundMesh(binding.surface.positions.copy(), equal, binding.surface.groups)
    assert binding.rebound(core().Given(rig_of(), surface, PLACE.copy())) is binding


def test_bones_that_bend_hold_for_one_place() -> None:
    binding = make(weights_of(seed=1), rig_of((1, 5, 1, 1)))

    def at(place: np.ndarray) -> Any:
        return binding.rebound(core().Given(binding.rig, binding.surface, place))

    # What rounding to float32 makes of it is the same place.
    assert at(PLACE + np.random.default_rng(2).uniform(-1e-7, 1e-7, (4, 4))) is binding
    moved = PLACE.copy()
    moved[1, 3] = 0.01
    assert at(moved) is not binding


@pytest.mark.parametrize("segments", [(1, 1, 1, 1), (1, 5, 1, 1)], ids=["straight", "bendy"])
def test_weights_of_some_vertices(monkeypatch: pytest.MonkeyPatch, segments: tuple[int, ...]) -> None:
    binding = make(weights_of(seed=1), rig_of(segments))
    weights = weights_of(seed=1)
    weights.weights[30:50] = weights_of(seed=2).weights[30:50]
    wanted = posed(make(weights, rig_of(segments)))
    monkeypatch.setattr(core(), "Binding", None)  # nothing is bound anew
    found = rebound(binding, weights)
    assert found is not binding
    assert np.array_equal(posed(found), wanted)
    assert not np.array_equal(wanted, posed(binding))


def test_more_groups_at_a_vertex(binding: Any) -> None:
    old = weights_of(seed=1)
    groups, weights = (np.pad(part, ((0, 0), (0, 1))) for part in (old.groups, old.weights))
    groups[:, 2] = -1
    groups[7, 2], weights[7, 2] = 3, 0.9
    wider = addon.module("core.influences").VertexWeights(groups, weights)
    assert wider.differing(old).tolist() == old.differing(wider).tolist() == [7]
    # That group belongs to no bone.
    assert np.array_equal(posed(rebound(binding, wider)), posed(binding))


def test_bone_that_moved_nothing(binding: Any) -> None:
    weights = weights_of(seed=1)
    weights.groups[10, 1] = 2
    assert binding.bones.tolist() == [0, 1]
    found = rebound(binding, weights)
    assert found.bones.tolist() == [0, 1, 2]
    assert np.array_equal(posed(found), posed(make(weights)))


def test_positions_then_weights(binding: Any) -> None:
    surface = rest().BoundMesh(2.0 * binding.surface.positions, binding.surface.weights, binding.surface.groups)
    larger = binding.rebound(core().Given(binding.rig, surface, PLACE))
    weights = weights_of(seed=1)
    weights.weights[:5] = 0.25
    found = posed(rebound(larger, weights))
    anew = core().Binding(
        addon.module("core.library").load(),
        core().Given(rig_of(), rest().BoundMesh(surface.positions, weights, surface.groups), PLACE),
    )
    assert np.array_equal(found, posed(anew))


def test_inverse() -> None:
    inverse = addon.module("core.matrices").inverse
    random = np.random.default_rng(3)
    matrices = np.tile(np.eye(4), (50, 1, 1))
    matrices[:, :3] = random.normal(size=(50, 3, 4)) * 10.0 ** random.integers(-3, 4, (50, 3, 1))
    # Well-conditioned but for their scales: rounding errors times 1e6 are left.
    assert np.allclose(inverse(matrices) @ matrices, np.eye(4), rtol=0.0, atol=1e-7)
    assert np.array_equal(inverse(matrices[0]), inverse(matrices)[0])
    flat = np.diag([2.0, 0.0, 4.0, 1.0])
    flat[:3, 3] = (1.0, 2.0, 3.0)
    wanted = np.array([[0.5, 0, 0, -0.5], [0, 0, 0, 0], [0, 0, 0.25, -0.75], [0, 0, 0, 1]])
    assert np.allclose(inverse(flat), wanted)
    assert np.array_equal(inverse(np.diag([0.0, 0.0, 0.0, 1.0])), np.diag([0.0, 0.0, 0.0, 1.0]))
