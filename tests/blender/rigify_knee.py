# SPDX-License-Identifier: GPL-3.0-or-later
"""Bend the knee of a Rigify human in Blender, for tools/draw.py to draw.

    PYTHONPATH=python BLENDER_PYTHON tests/blender/rigify_knee.py knee.npz

BLENDER_PYTHON is one that has Blender as a module. The file has the left leg around the knee at rest, its triangles,
and its shapes: linear, and spherical with *At Joints* 1 and 0.35.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import bpy
import numpy as np

# isort: split
# Blender's modules, which these need, are found once it is loaded.
import addon
import rigify_human
import rigs
from objects import ArmatureObject, MeshObject

SHAPES = (("LINEAR", 1.0), ("SPHERICAL", 1.0), ("SPHERICAL", 0.35))
REACH = 0.42  # meters around the knee: the leg from the hip to the ankle


def bound() -> tuple[MeshObject, ArmatureObject]:
    """A Rigify human with a smooth body and Blender's automatic weights."""
    rig = rigify_human.generate(is_whole=True)
    body = rigify_human.flesh(rig, balls=40, voxel=0.01)
    smooth = body.modifiers.new("Smooth", "SMOOTH")
    assert isinstance(smooth, bpy.types.SmoothModifier)
    smooth.iterations = 20
    bpy.ops.object.modifier_apply(modifier=smooth.name)
    rigs.select([rig, body])
    assert bpy.ops.object.parent_set(type="ARMATURE_AUTO") == {"FINISHED"}
    rigs.bind(body, rig)
    body.sbs.spread_twist = True
    return body, rig


def main(path: Path) -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    addon.provide(None)
    addon.enable()
    body, rig = bound()
    rest = rigs.positions(body.data)
    rigify_human.bend_knee(rig, 110.0)
    shapes = []
    for body.sbs.method, body.sbs.twist_across in SHAPES:
        shapes.append(rigs.evaluated(body))
    body.data.calc_loop_triangles()
    triangles = np.array([triangle.vertices for triangle in body.data.loop_triangles], np.int32)
    knee = np.array(rig.data.bones["DEF-shin.L"].head_local)
    shown = (np.linalg.norm(rest - knee, axis=1) < REACH) & (rest[:, 0] > 0.02)
    triangles = triangles[shown[triangles].all(axis=1)]
    kept, corners = np.unique(triangles, return_inverse=True)
    np.savez_compressed(
        path, knee=knee, rest=rest[kept], triangles=corners.reshape(-1, 3), shapes=np.stack(shapes)[:, kept]
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
    os._exit(0)  # at exit Blender as a module can hang: run_in_blender.py
