# SPDX-License-Identifier: GPL-3.0-or-later
"""Many random operations on many characters: nothing is raised, nothing is left, and all stays right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from expected import TOLERANCE, bones_blended, deformed, error

# Whatever the version of Blender, the same handlers do the work: one is tried at length, all with numbers of their own.
VERSION = bpy.app.version[:2]
OPERATIONS = 2000 if VERSION == (4, 5) else 500
CHECK_EVERY = 25
MOST_CHARACTERS = 5


class Session:
    """An artist who does anything at random."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.random = np.random.default_rng(seed)
        self.path = str(folder / "session.blend")
        self.deeds: list[Callable[[], None]] = [
            self.change_frame,
            self.pose,
            self.rename,
            self.duplicate,
            self.delete,
            self.undo,
            self.redo,
            self.edit,
            self.toggle,
            self.paint,
            self.bind_again,
            self.reload,
            self.delete_carrier,
            self.move,
        ]
        chances = np.array([8, 10, 3, 2, 1, 4, 2, 2, 4, 6, 1, 0.5, 1, 4])
        self.chances = chances / chances.sum()

    def act(self) -> str:
        deed = self.deeds[self.random.choice(len(self.deeds), p=self.chances)]
        deed()
        bpy.context.view_layer.update()
        if deed not in (self.undo, self.redo, self.reload):
            bpy.ops.ed.undo_push(message=deed.__name__)
        return deed.__name__

    def meshes(self) -> list[bpy.types.Object]:
        return [item for item in bpy.context.scene.objects if item.type == "MESH"]

    def any_mesh(self) -> bpy.types.Object:
        return self.any_of(self.meshes())

    def any_of(self, items: list) -> object:
        return items[self.random.integers(len(items))]

    def change_frame(self) -> None:
        bpy.context.scene.frame_set(int(self.random.integers(1, 30)), subframe=float(self.random.choice([0.0, 0.5])))

    def pose(self) -> None:
        armature = self.any_mesh().sbs.armature
        armature.animation_data_clear()
        rigs.turn(armature, seed=int(self.random.integers(1000)))

    def move(self) -> None:
        item = self.any_mesh()
        item = self.any_of([item, item.sbs.armature])
        item.location = self.random.normal(size=3)
        item.rotation_euler = self.random.normal(size=3)
        item.scale = self.random.uniform(0.5, 2.0, 3)

    def rename(self) -> None:
        item = self.any_mesh()
        number = self.random.integers(100)
        armature = item.sbs.armature
        target = self.any_of([item, item.data, armature, armature.data, self.any_of(list(armature.data.bones))])
        target.name = f"Name {number}"

    def duplicate(self) -> None:
        if len(self.meshes()) < MOST_CHARACTERS:
            item = self.any_mesh()
            rigs.select([item, item.sbs.armature] if self.random.random() < 0.7 else [item])
            bpy.ops.object.duplicate(linked=bool(self.random.random() < 0.4))

    def delete(self) -> None:
        if len(self.meshes()) > 1:
            bpy.data.objects.remove(self.any_mesh())

    def undo(self) -> None:
        if bpy.ops.ed.undo.poll():
            bpy.ops.ed.undo()

    def redo(self) -> None:
        if bpy.ops.ed.redo.poll():
            bpy.ops.ed.redo()

    def edit(self) -> None:
        item = self.any_mesh()
        rigs.select([item])
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_all(action="SELECT")
        if len(item.data.vertices) < 2000 and self.random.random() < 0.3:
            bpy.ops.mesh.subdivide()
        else:
            bpy.ops.transform.resize(value=(1.02, 1.01, 1.0))
        bpy.ops.object.mode_set(mode="OBJECT")

    def toggle(self) -> None:
        item = self.any_mesh()
        item.sbs.method = self.any_of(["SPHERICAL", "LINEAR", "DUAL_QUATERNION", "BONES_BLENDING"])
        modifier = next(modifier for modifier in item.modifiers if modifier.type == "NODES")
        modifier.show_viewport = not modifier.show_viewport
        bpy.context.view_layer.update()
        modifier.show_viewport = True
        armature = item.sbs.armature
        armature.hide_viewport = not armature.hide_viewport
        bpy.context.view_layer.update()

    def paint(self) -> None:
        item = self.any_mesh()
        group = self.any_of(list(item.vertex_groups))
        vertices = self.random.integers(len(item.data.vertices), size=20).tolist()
        group.add(vertices, float(self.random.random()), self.any_of(["REPLACE", "ADD"]))
        item.data.update()

    def bind_again(self) -> None:
        item = self.any_mesh()
        rigs.select([item])
        armature = item.sbs.armature
        bpy.ops.sbs.unbind()
        rigs.bind(item, armature)

    def reload(self) -> None:
        bpy.ops.wm.save_as_mainfile(filepath=self.path)
        bpy.ops.wm.open_mainfile(filepath=self.path)
        bpy.ops.ed.undo_push(message="Reload")

    def delete_carrier(self) -> None:
        carriers = [item for item in bpy.data.objects if "sbs_carrier" in item]
        bpy.data.objects.remove(self.any_of(carriers))

    def check(self) -> None:
        # A rig that was hidden just now is posed from the next update on.
        for _ in range(2):
            bpy.context.view_layer.update()
        meshes = self.meshes()
        for item in meshes:
            armature, method = item.sbs.armature, item.sbs.method
            blended = method == "BONES_BLENDING"
            wanted = bones_blended(item, armature) if blended else deformed(item, armature, method.lower())
            assert error(rigs.evaluated(item), wanted) < TOLERANCE, item.name
        assert len([item for item in bpy.data.objects if "sbs_carrier" in item]) == len(meshes)
        rigs_hidden = {item.sbs.armature for item in meshes if item.sbs.armature.hide_viewport}
        assert len([item for item in bpy.data.objects if "sbs_pose_probe" in item]) <= len(rigs_hidden)


@pytest.mark.parametrize("seed", [10 * VERSION[0] + VERSION[1]])
def test_random_operations(seed: int, tmp_path: Path) -> None:
    armature = rigs.make_armature()
    tube = rigs.make_tube(rows=21)
    rigs.bind(tube, armature)
    rigs.animate(armature)
    bpy.ops.ed.undo_push(message="Start")
    session = Session(seed, tmp_path)
    done: list[str] = []
    for number in range(OPERATIONS):
        done.append(session.act())
        if number % CHECK_EVERY == 0:
            try:
                session.check()
            except AssertionError as failure:
                raise AssertionError(f"after {done[-CHECK_EVERY:]}") from failure
    for item in session.meshes():
        bpy.data.objects.remove(item)
    bpy.context.view_layer.update()
    left = [item.name for item in bpy.data.objects if item.type == "MESH"]
    assert not left
