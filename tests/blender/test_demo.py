# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo shows what it promises: the arm collapses, keeps its volume, and has its twist spread."""

from __future__ import annotations

import addon
import bpy
import numpy as np
import rigs
from mathutils import Vector
from objects import MeshObject, armature_object, current_scene, mesh_named


def test_demo() -> None:
    assert addon.ops.demo() == {"FINISHED"}
    linear = mesh_named("Woman, Linear Blend")
    spherical = mesh_named("Woman, Spherical Blend")
    spread = mesh_named("Woman, Spread Twist")
    assert len(linear.data.vertices) == len(spherical.data.vertices) == len(spread.data.vertices) > 10_000
    assert current_scene().frame_current == 40
    # Names over heads.
    for item in (linear, spherical, spread):
        (label,) = [
            other
            for other in bpy.data.objects
            if isinstance(other.data, bpy.types.TextCurve) and other.data.body in item.name
        ]
        top = max((item.matrix_world @ Vector(corner)).z for corner in item.bound_box)
        assert top < label.location.z < top + 0.3
        assert abs(label.location.x - armature_object(item.parent).location.x) < 0.1

    arm = [linear.vertex_groups["LeftArm"].index, linear.vertex_groups["LeftForeArm"].index]
    shared = np.array(
        [
            all(any(e.group == group and e.weight > 0.3 for e in vertex.groups) for group in arm)
            for vertex in linear.data.vertices
        ]
    )
    bones = armature_object(linear.parent).data.bones
    elbow, hand = (np.array(bones[name].head_local) for name in ("LeftForeArm", "LeftHand"))
    axis = (hand - elbow) / np.linalg.norm(hand - elbow)

    def distances(item: MeshObject) -> np.ndarray:
        """Of the vertices of the elbow from the axis of the forearm, which does not move."""
        out = rigs.evaluated(item)[shared] - elbow
        found: np.ndarray = np.linalg.norm(out - np.outer(out @ axis, axis), axis=1)
        return found

    rest = rigs.positions(linear.data)[shared] - elbow
    at_rest = np.linalg.norm(rest - np.outer(rest @ axis, axis), axis=1).mean()
    # Halfway between 0 and 170 degrees, linear blending leaves cos 85 degrees, 9 %, of the distance.
    assert distances(linear).mean() < 0.5 * at_rest
    assert distances(spherical).mean() > 0.9 * at_rest

    # At the elbow the skin follows the upper arm, and along the forearm it turns ever more.
    assert not spherical.sbs.spread_twist and spread.sbs.spread_twist and spread.sbs.scope == "RIG"
    ticked = [bone.name for bone in armature_object(spread.sbs.armature).pose.bones if bone.sbs_twist]
    assert len(ticked) == 8 and {"LeftArm", "LeftForeArm", "RightUpLeg"} <= set(ticked)
    assert not any(bone.sbs_twist for bone in armature_object(spherical.sbs.armature).pose.bones)
    places = (rigs.positions(linear.data) - elbow) @ axis / np.linalg.norm(hand - elbow)
    forearm = np.array(
        [any(e.group == arm[1] and e.weight > 0.95 for e in vertex.groups) for vertex in linear.data.vertices]
    )
    ring = forearm & (places > 0.2) & (places < 0.8)
    assert ring.sum() > 50
    before = rigs.positions(linear.data)[ring] - elbow
    after = rigs.evaluated(spread)[ring] - elbow
    across = [points - np.outer(points @ axis, axis) for points in (before, after)]
    cosines = np.einsum("vx,vx->v", *across) / np.prod([np.linalg.norm(each, axis=1) for each in across], axis=0)
    # Weights are not all of the forearm, and joints are linear by half.
    np.testing.assert_allclose(np.degrees(np.arccos(cosines)), 170.0 * places[ring], atol=8.0)


def test_demo_twice_and_undone_by_deleting() -> None:
    assert addon.ops.demo() == {"FINISHED"}
    assert addon.ops.demo() == {"FINISHED"}
    bpy.ops.object.select_all(action="DESELECT")
    for item in list(current_scene().objects):
        bpy.data.objects.remove(item)
    bpy.ops.outliner.orphans_purge(do_recursive=True)
    assert [item.name for item in bpy.data.objects] == []
