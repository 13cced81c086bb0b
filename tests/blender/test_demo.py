# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo shows what it promises: the arm collapses, keeps its volume, and has its twist spread."""

from __future__ import annotations

import bpy
import numpy as np
import rigs
from mathutils import Vector


def test_demo() -> None:
    assert bpy.ops.sbs.demo() == {"FINISHED"}
    linear = next(item for item in bpy.data.objects if item.name == "Woman, Linear Blend")
    spherical = next(item for item in bpy.data.objects if item.name == "Woman, Spherical Blend")
    spread = next(item for item in bpy.data.objects if item.name == "Woman, Spread Twist")
    assert len(linear.data.vertices) == len(spherical.data.vertices) == len(spread.data.vertices) > 10_000
    assert bpy.context.scene.frame_current == 40
    # Names over heads.
    for item in (linear, spherical, spread):
        (label,) = [other for other in bpy.data.objects if other.type == "FONT" and other.data.body in item.name]
        top = max((item.matrix_world @ Vector(corner)).z for corner in item.bound_box)
        assert top < label.location.z < top + 0.3
        assert abs(label.location.x - item.parent.location.x) < 0.1

    arm = [linear.vertex_groups["LeftArm"].index, linear.vertex_groups["LeftForeArm"].index]
    shared = np.array(
        [
            all(any(e.group == group and e.weight > 0.3 for e in vertex.groups) for group in arm)
            for vertex in linear.data.vertices
        ]
    )
    elbow = linear.parent.data.bones["LeftForeArm"].head_local
    axis = (linear.parent.data.bones["LeftHand"].head_local - elbow).normalized()

    def distances(item: bpy.types.Object) -> np.ndarray:
        """Of the vertices of the elbow from the axis of the forearm, which does not move."""
        out = rigs.evaluated(item)[shared] - np.array(elbow)
        return np.linalg.norm(out - np.outer(out @ np.array(axis), axis), axis=1)

    rest = rigs.positions(linear.data)[shared] - np.array(elbow)
    at_rest = np.linalg.norm(rest - np.outer(rest @ np.array(axis), axis), axis=1).mean()
    # Halfway between 0 and 170 degrees, linear blending leaves cos 85 degrees, 9 %, of the distance.
    assert distances(linear).mean() < 0.5 * at_rest
    assert distances(spherical).mean() > 0.9 * at_rest

    # At the elbow the skin follows the upper arm, and along the forearm it turns ever more.
    assert not spherical.sbs.spread_twist and spread.sbs.spread_twist and spread.sbs.scope == "RIG"
    ticked = [bone.name for bone in spread.sbs.armature.pose.bones if bone.sbs_twist]
    assert len(ticked) == 8 and {"LeftArm", "LeftForeArm", "RightUpLeg"} <= set(ticked)
    assert not any(bone.sbs_twist for bone in spherical.sbs.armature.pose.bones)
    hand = np.array(linear.parent.data.bones["LeftHand"].head_local)
    places = (rigs.positions(linear.data) - np.array(elbow)) @ np.array(axis) / np.linalg.norm(hand - np.array(elbow))
    forearm = np.array(
        [any(e.group == arm[1] and e.weight > 0.95 for e in vertex.groups) for vertex in linear.data.vertices]
    )
    ring = forearm & (places > 0.2) & (places < 0.8)
    assert ring.sum() > 50
    before = rigs.positions(linear.data)[ring] - np.array(elbow)
    after = rigs.evaluated(spread)[ring] - np.array(elbow)
    across = [points - np.outer(points @ np.array(axis), axis) for points in (before, after)]
    cosines = np.einsum("vx,vx->v", *across) / np.prod([np.linalg.norm(each, axis=1) for each in across], axis=0)
    # Weights are not all of the forearm, and joints are linear by half.
    np.testing.assert_allclose(np.degrees(np.arccos(cosines)), 170.0 * places[ring], atol=8.0)


def test_demo_twice_and_undone_by_deleting() -> None:
    assert bpy.ops.sbs.demo() == {"FINISHED"}
    assert bpy.ops.sbs.demo() == {"FINISHED"}
    bpy.ops.object.select_all(action="DESELECT")
    for item in list(bpy.context.scene.objects):
        bpy.data.objects.remove(item)
    bpy.ops.outliner.orphans_purge(do_recursive=True)
    assert [item.name for item in bpy.data.objects] == []
