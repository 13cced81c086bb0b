# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag Vertex without a pointer: the mesh that is shown goes where it was dragged, and nothing else is lost."""

from __future__ import annotations

from collections.abc import Callable

import addon
import limbs
import numpy as np
import pytest
import rigs
from numpy.typing import NDArray
from objects import MeshObject, armature_object, current_layer

# float32 positions of a mesh of size 4, and weights.
TOLERANCE = 2e-5


@pytest.fixture
def tube() -> MeshObject:
    """A bound tube in a pose, active; by weighted centers, with nothing beside."""
    armature, item = rigs.make_armature(), rigs.make_tube()
    rigs.turn(armature, angle=0.8)
    rigs.bind(item, armature, "WEIGHTED")
    rigs.select([item])
    current_layer().update()
    return item


def weights_of(item: MeshObject) -> list[list[tuple[int, float]]]:
    return [sorted((element.group, element.weight) for element in vertex.groups) for vertex in item.data.vertices]


def goal_of(item: MeshObject, vertex: int, share: float = 0.6) -> NDArray[np.float32]:
    """A point that its bones can take a vertex to: part of the way on the arc or patch."""
    patch = addon.module("drag.session").begin(item, vertex).patch()
    start = rigs.evaluated(item)[vertex]
    goal: NDArray[np.float32] = patch.points[int(share * len(patch.points))] - start
    return goal


def drag(item: MeshObject, vertex: int, offset: NDArray[np.float32], **options: object) -> set[str]:
    result: set[str] = addon.ops.drag_vertex(vertex=vertex, offset=tuple(offset.tolist()), **options)
    current_layer().update()
    return result


MIDDLE = 20 * rigs.RING + 3


@pytest.mark.parametrize("center", ["WEIGHTED", "JOINT_SET"])
@pytest.mark.parametrize("method", ["SPHERICAL", "LINEAR", "DUAL_QUATERNION"])
def test_the_mesh_that_is_shown_gets_there(tube: MeshObject, method: str, center: str) -> None:
    tube.sbs.method, tube.sbs.center = method, center
    before, offset = rigs.evaluated(tube), goal_of(tube, MIDDLE)
    assert np.linalg.norm(offset) > 1e-2
    assert drag(tube, MIDDLE, offset, radius=0.3) == {"FINISHED"}
    after = rigs.evaluated(tube)
    np.testing.assert_allclose(after[MIDDLE], before[MIDDLE] + offset, atol=TOLERANCE)
    moved = np.linalg.norm(after - before, axis=1)
    far = np.linalg.norm(rigs.positions(tube.data) - rigs.positions(tube.data)[MIDDLE], axis=1) > 0.3 + 1e-6
    assert moved[far].max() < TOLERANCE
    assert np.count_nonzero(moved > 1e-3) > 1


def test_about_optimized_centers(tube: MeshObject) -> None:
    """They depend on weights: in a window they stay while a vertex is dragged, here they are found anew at once."""
    tube.sbs.center = "OPTIMIZED"
    current_layer().update()
    session = addon.module("drag.session").begin(tube, MIDDLE)
    offset = goal_of(tube, MIDDLE)
    binding = rigs.state_of(tube).binding
    session.drag(offset, addon.module("core.dragging").Reach(0.3))
    weighted = addon.module("engine.reading").vertex_weights(tube)
    surface = addon.module("core.rest").BoundMesh(binding.surface.positions, weighted, binding.surface.groups)
    given = addon.module("core.binding").Given(binding.rig, surface, binding._to_rig)
    after = binding.rebound(given)
    method = addon.module("core.method").Method("spherical", "qlerp", "optimized")
    state = rigs.state_of(tube)
    shown = after.space.to_mesh(after.deform(state.skinning_matrices, method))
    np.testing.assert_allclose(shown[MIDDLE], session.start + offset, atol=TOLERANCE)


@pytest.mark.parametrize("has_keys", [False, True])
def test_a_twist_that_is_spread(has_keys: bool) -> None:
    item, armature = limbs.make()
    rigs.bind(item, armature, "WEIGHTED")
    if has_keys:
        item.shape_key_add(name="Basis")
        key = item.shape_key_add(name="Up")
        for point in key.data:
            point.co.z += 0.3
        key.value = 1.0
    item.sbs.spread_twist = True
    item.sbs.twist_across = 1.0  # else the amount of the method depends on weights
    rigs.turn(armature)
    bone = armature.pose.bones["ForeArm"]
    bent = bone.rotation_quaternion.copy()
    limbs.twist(armature, "ForeArm", 120.0)
    bone.rotation_quaternion = bent @ bone.rotation_quaternion
    rigs.select([item])
    before, offset = rigs.evaluated(item), goal_of(item, MIDDLE)
    assert np.linalg.norm(offset) > 1e-3
    drag(item, MIDDLE, offset, radius=0.1)
    np.testing.assert_allclose(rigs.evaluated(item)[MIDDLE], before[MIDDLE] + offset, atol=TOLERANCE)


@pytest.mark.parametrize("amount", [0.4, 1.0])
def test_in_part_and_at_another_size(tube: MeshObject, amount: float) -> None:
    """The mesh has a space of its own, which is scaled unevenly in the armature's space."""
    tube.sbs.amount = amount
    tube.scale, tube.location = (2.0, 1.0, 0.5), (0.3, 0.2, 0.1)
    before, offset = rigs.evaluated(tube), goal_of(tube, MIDDLE)
    drag(tube, MIDDLE, offset, radius=0.3)
    np.testing.assert_allclose(rigs.evaluated(tube)[MIDDLE], before[MIDDLE] + offset, atol=4 * TOLERANCE)


def test_locked_groups_and_others_keep_their_weights(tube: MeshObject) -> None:
    other = tube.vertex_groups.new(name="Cloth")
    other.add([MIDDLE], 0.25, "REPLACE")
    tube.vertex_groups["B1"].lock_weight = True
    current_layer().update()
    before = weights_of(tube)
    drag(tube, MIDDLE, np.array([0.1, 0.1, 0.1], np.float32), radius=0.5)
    after = weights_of(tube)
    assert after != before
    for kept in (other.index, tube.vertex_groups["B1"].index):
        assert [dict(row).get(kept) for row in after] == [dict(row).get(kept) for row in before]


def test_cancelling_restores_every_bit(tube: MeshObject) -> None:
    tube.vertex_groups["B3"].add([MIDDLE], 0.0, "REPLACE")  # a member without weight
    current_layer().update()
    before = weights_of(tube)
    session = addon.module("drag.session").begin(tube, MIDDLE)
    reach = addon.module("core.dragging").Reach(0.5)
    for step in (0.1, 0.2, 0.05):
        session.drag(np.full(3, step, np.float32), reach)
        assert weights_of(tube) != before
    session.cancel()
    assert weights_of(tube) == before


def test_a_drag_does_not_depend_on_its_way(tube: MeshObject) -> None:
    reach = addon.module("core.dragging").Reach(0.5)
    found = []
    for way in ([0.1], [0.4, -0.3, 0.1]):
        session = addon.module("drag.session").begin(tube, MIDDLE)
        for step in way:
            session.drag(np.full(3, step, np.float32), reach)
        found.append(weights_of(tube))
        session.cancel()
    assert found[0] == found[1]


def test_selected_bones_may_be_got(tube: MeshObject) -> None:
    rigs.select_bones(armature_object(tube.sbs.armature), "B0", "B3")
    end = 2 * rigs.RING + 1
    had = {element.group for element in tube.data.vertices[end].groups}
    state = rigs.state_of(tube)
    place = rigs.positions(tube.data)[end]
    far = state.skinning_matrices[3][:3, :3] @ place + state.skinning_matrices[3][:3, 3]
    offset = 0.2 * (far - rigs.evaluated(tube)[end])
    drag(tube, end, offset, radius=0.2, selected_bones=True)
    got = {element.group for element in tube.data.vertices[end].groups}
    assert got - had <= {tube.vertex_groups["B3"].index}
    assert got - had


def test_mirror(tube: MeshObject) -> None:
    """A rest pose that is its own mirror image, of a tube with bones in the middle: both sides alike."""
    tube.data.use_mirror_x = True
    current_layer().update()
    drag(tube, MIDDLE, np.array([0.1, 0.1, 0.05], np.float32), radius=0.2)
    weights = weights_of(tube)
    places = rigs.positions(tube.data)
    image = np.linalg.norm(places[:, None] * [-1, 1, 1] - places[None], axis=2).argmin(axis=1)
    for vertex in (MIDDLE, MIDDLE + 1, MIDDLE + rigs.RING):
        one, other = weights[vertex], weights[int(image[vertex])]
        assert [group for group, _ in one] == [group for group, _ in other]
        np.testing.assert_allclose([w for _, w in one], [w for _, w in other], atol=1e-5)  # float32 places


@pytest.mark.parametrize(
    "change",
    [
        lambda item: setattr(item.sbs, "method", "RIGID"),
        lambda item: setattr(item.sbs, "rotation", "AVERAGE"),
        lambda item: setattr(item.sbs.armature.data.bones["B1"], "bbone_segments", 4),
    ],
    ids=["method", "rotation", "bendy bone"],
)
def test_what_cannot_be_dragged(tube: MeshObject, change: Callable[[MeshObject], None]) -> None:
    change(tube)
    current_layer().update()
    before = weights_of(tube)
    with pytest.raises(RuntimeError):
        addon.ops.drag_vertex(vertex=MIDDLE, offset=(0.1, 0, 0), radius=0.2)
    assert weights_of(tube) == before


def test_a_vertex_that_is_not_there(tube: MeshObject) -> None:
    with pytest.raises(RuntimeError, match="99999"):
        addon.ops.drag_vertex(vertex=99999, offset=(0.1, 0, 0), radius=0.2)
