# SPDX-License-Identifier: GPL-3.0-or-later
"""Many random operations on many characters: nothing is raised, nothing is left, no edit and no sculpt is lost.

``pytest tests/blender/test_random_operations.py --operations=20000 --seed=1`` is a long session; CI has one of 300 with
a seed of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain as joined
from pathlib import Path
from typing import Any, TypeVar

import addon
import bpy
import limbs
import numpy as np
import pytest
import rigs
import sculpts
from bpy.app.handlers import persistent
from expected import TOLERANCE, Floats, error, move
from mathutils import Matrix, Quaternion
from objects import (
    ArmatureObject,
    MeshObject,
    active_object,
    armature_object,
    current_layer,
    current_scene,
    mesh_named,
    mesh_object,
    mesh_objects,
)
from test_correctives_edits import edit

VERSION = bpy.app.version[:2]
OPERATIONS = 75
CHECK_EVERY = 25
MOST_CHARACTERS = 5
FEWEST_VERTICES = 100

#: The deeds of an artist, and how often each is done.
CHANCES = """
change_frame 8 pose 10 rename 3 duplicate 2 delete 1 undo 4 redo 2 edit 2 toggle 4 paint 6 bind_again 1 reload 0.5
delete_carrier 1 move 4 animate 2 move_vertices 4 add_or_mix_shape 3 change_bone 2 simulate 1 script 1 switch_addon 0.3
spread 4 delete_rig 1.5 choose_rig 2 bend_bone 4 decimate 2 share_mesh 2 sculpt 10 solve_again 8 mirror_correctives 2
go_to_corrective 2 remove_corrective 2 draft 0.3 override 0.7 delete_vertices 2 merge_vertices 1 separate 1 join 1
delete_bone 1 join_rigs 0.5 edit_groups 1 edit_keys 2 apply_transform 1
"""

HANDLERS = [name for name in dir(bpy.app.handlers) if name.endswith(("_pre", "_post", "_complete", "_cancel"))]


_Item = TypeVar("_Item")


def rig_of(item: MeshObject) -> ArmatureObject:
    return armature_object(item.sbs.armature)


def is_own(item: bpy.types.Object) -> bool:
    """Whether an object is neither linked nor a library override."""
    return item.library is None and item.override_library is None


@persistent  # type: ignore[untyped-decorator]  # the stubs have no type for it
def edit_in_each_frame(scene: bpy.types.Scene, *_arguments: object) -> None:
    """A script of the artist's."""
    # Blender knows the weights behind a Decimate only when all scripts have ended.
    decimated = {item.data for item in scene.objects if "DECIMATE" in {modifier.type for modifier in item.modifiers}}
    for item in scene.objects:
        if item.type == "MESH" and item.vertex_groups and is_own(item) and item.data not in decimated:
            item.vertex_groups[0].add([3, 30], 0.5 + 0.4 * np.sin(scene.frame_current), "REPLACE")
        elif item.type == "ARMATURE" and len(armature_object(item).pose.bones) > 1:
            # Blender makes the pose of joined armatures later.
            armature_object(item).pose.bones[1].location.x = 0.01 * scene.frame_current


class Session:
    """An artist who does anything at random."""

    def __init__(self, seed: int, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.random = np.random.default_rng(seed)
        self.path = str(folder / "session.blend")
        self.library = folder / "library.blend"
        self.capfd = capfd
        self.checked = 0  #: How many times a corrective was where its artist left it
        called = joined.from_iterable(getattr(bpy.app.handlers, name) for name in HANDLERS)
        self.handlers = [handler for handler in called if handler.__module__.startswith(addon.name())]
        names, numbers = CHANCES.split()[::2], CHANCES.split()[1::2]
        self.deeds: list[Callable[[], None]] = [getattr(self, name) for name in names]
        chances = np.array(numbers, np.float64)
        if VERSION < (4, 0):
            # In Blender 3.4 meshes were seen to be out of date hundreds of operations after these, in some sessions.
            chances[[self.deeds.index(self.bend_bone), self.deeds.index(self.decimate)]] = 0.0
        self.chances = chances / chances.sum()

    def act(self) -> str:
        deed = self.deeds[self.random.choice(len(self.deeds), p=self.chances)]
        deed()
        # An edit is evaluated now or by the next deed.
        evaluate = self.any_of([self.update, self.change_frame, self.next_frame, self.wait])
        evaluate()
        if deed not in (self.undo, self.redo, self.reload):
            bpy.ops.ed.undo_push(message=deed.__name__)
        self.heard()
        self.look_around()
        return f"{deed.__name__}, {evaluate.__name__}"

    def heard(self) -> str:
        """The words of Blender and the add-on since the last time; there is no traceback among them."""
        heard = "".join(self.capfd.readouterr())
        assert "Traceback" not in heard, heard
        return heard

    def ask(self, operator: Callable[..., object], **options: Any) -> str:
        """The words of an operator that did its work; empty if it refused to, with words."""
        self.heard()
        try:
            operator(**options)
        except RuntimeError as refusal:
            assert "Traceback" not in str(refusal), refusal
            return ""
        return self.heard() or "Done"

    def bound(self) -> list[MeshObject]:
        return [item for item in mesh_objects(current_scene().objects) if item.sbs.bound]

    def meshes(self) -> list[MeshObject]:
        return [item for item in self.bound() if item.sbs.armature is not None]

    def own(self) -> list[MeshObject]:
        return list(filter(is_own, self.bound()))

    def any_mesh(self) -> MeshObject:
        """A mesh of this file, with a rig of this file."""
        found = [item for item in self.own() if item.sbs.armature is not None]
        if not found:
            found = [self.any_of(self.own())]
            found[0].sbs.armature = self.some_rig()
        return self.any_of(found)

    def some_mesh(self) -> MeshObject:
        """A mesh of this file, or the library override of one."""
        return self.any_of(self.meshes() or [self.any_mesh()])

    def some_rig(self) -> ArmatureObject:
        there = [armature_object(item) for item in current_scene().objects if item.type == "ARMATURE"]
        there = list(filter(is_own, there))
        return self.any_of(there) if there and self.random.random() < 0.7 else rigs.make_armature()

    def any_of(self, items: Sequence[_Item]) -> _Item:
        return items[int(self.random.integers(len(items)))]

    def change_frame(self) -> None:
        current_scene().frame_set(int(self.random.integers(1, 30)), subframe=float(self.random.choice([0.0, 0.5])))

    def update(self) -> None:
        current_layer().update()

    def wait(self) -> None:
        """Leave an edit unevaluated."""

    def next_frame(self) -> None:
        scene = current_scene()
        scene.frame_set(scene.frame_current + 1)

    def animate(self) -> None:
        rigs.animate(rig_of(self.any_mesh()))

    def move_vertices(self) -> None:
        item = self.any_mesh()
        item.data.vertices.foreach_set("co", (rigs.positions(item.data) * self.random.uniform(0.9, 1.1, 3)).ravel())
        item.data.update()

    def add_or_mix_shape(self) -> None:
        item = self.any_mesh()
        if item.data.shape_keys is None or "Wide" not in item.data.shape_keys.key_blocks:
            key = rigs.add_shape(item, (1.3, 0.8, 1.0), 0.0)
            key.keyframe_insert("value", frame=1)
        item.data.shape_keys.key_blocks["Wide"].value = self.random.random()
        if self.random.random() < 0.5:
            item.data.shape_keys.key_blocks["Wide"].keyframe_insert("value", frame=int(self.random.integers(2, 30)))
        elif item.data.shape_keys.animation_data is not None:
            # The drivers of correctives stay.
            item.data.shape_keys.animation_data.action = None

    def change_bone(self) -> None:
        # One is left that deforms.
        bone = self.any_of(list(rig_of(self.any_mesh()).data.bones)[1:])
        bone.use_deform = not bone.use_deform

    def simulate(self) -> None:
        """Have poses be known before a frame is evaluated, or no more."""
        sheet: MeshObject | None = bpy.data.objects.get("Sheet")
        if sheet is None:
            sheet = mesh_object(bpy.data.objects.new("Sheet", bpy.data.meshes.new("Sheet")))
            sheet.data.from_pydata([(9, 0, 0), (10, 0, 0), (10, 1, 0), (9, 1, 0)], [], [(0, 1, 2, 3)])
            current_scene().collection.objects.link(sheet)
            sheet.modifiers.new("Cloth", "CLOTH")
        else:
            bpy.data.objects.remove(sheet)

    def script(self) -> None:
        """Have a script edit in each frame, or no more."""
        handlers = bpy.app.handlers.frame_change_post
        if edit_in_each_frame in handlers:
            handlers.remove(edit_in_each_frame)
        else:
            handlers.append(edit_in_each_frame)

    def switch_addon(self) -> None:
        addon.disable(wheels=False)
        current_scene().frame_set(int(self.random.integers(1, 30)))
        addon.enable(wheels=False)

    def pose(self) -> None:
        armature = rig_of(self.some_mesh())
        armature.animation_data_clear()
        rigs.turn(armature, seed=int(self.random.integers(1000)))

    def move(self) -> None:
        mesh = self.some_mesh()
        item = self.any_of([mesh, rig_of(mesh)])
        item.location = self.random.normal(size=3).tolist()
        item.rotation_euler = self.random.normal(size=3).tolist()
        item.scale = self.random.uniform(0.5, 2.0, 3).tolist()

    def rename(self) -> None:
        item = self.any_mesh()
        number = self.random.integers(100)
        armature = rig_of(item)
        bones = [self.any_of(list(armature.data.bones)) for _ in range(2)]
        target: Any = self.any_of([item, item.data, armature, armature.data, *bones])
        target.name = f"Name {number}"
        if target in bones and self.random.random() < 0.5:
            # Sides are known by names.
            bones[0].name, bones[1].name = f"Name {number}.L", f"Name {number}.R"

    def duplicate(self) -> None:
        if len(self.meshes()) < MOST_CHARACTERS:
            item = self.any_mesh()
            rigs.select([item, rig_of(item)] if self.random.random() < 0.7 else [item])
            bpy.ops.object.duplicate(linked=bool(self.random.random() < 0.4))

    def delete(self) -> None:
        if len(self.own()) > 1:
            bpy.data.objects.remove(self.any_of(self.bound()))

    def delete_rig(self) -> None:
        armature = rig_of(self.any_mesh())
        if armature.hide_viewport or self.random.random() < 0.3:
            bpy.data.objects.remove(armature)
        else:
            name = armature.name
            rigs.select([armature])
            bpy.ops.object.delete(use_global=bool(self.random.random() < 0.5))
            assert not [item for item in bpy.data.objects if item.name == name and item.library is None]

    def choose_rig(self) -> None:
        """For a mesh that lost its own, if there is one."""
        lost = [item for item in self.own() if item.sbs.armature is None]
        self.any_of(lost or self.own()).sbs.armature = self.some_rig()

    def bend_bone(self) -> None:
        armature = rig_of(self.any_mesh())
        bone = self.any_of(list(armature.pose.bones))
        if bone.bone.bbone_segments == 1 or self.random.random() < 0.5:
            bone.bone.bbone_segments = int(self.random.integers(2, 5))
            bone.bbone_curveinx, bone.bbone_curveoutz = self.random.uniform(-0.4, 0.4, 2).tolist()
        else:
            bone.bone.bbone_segments = 1

    def decimate(self) -> None:
        item = self.any_mesh()
        found = [modifier for modifier in item.modifiers if modifier.type == "DECIMATE"]
        if found and self.random.random() < 0.5:
            item.modifiers.remove(found[0])
            return
        decimate = found[0] if found else item.modifiers.new("Decimate", "DECIMATE")
        decimate.ratio = float(self.random.uniform(0.4, 1.0))
        rigs.put_first(item, decimate)

    def share_mesh(self) -> None:
        item, other = self.any_of(self.own()), self.any_of(self.own())
        item.data = other.data if item.data.users == 1 else item.data.copy()

    def sculpt(self) -> None:
        """Sculpt in the pose, and accept it or not, if Blender and the add-on let one."""
        item = self.some_mesh()
        armature = rig_of(item)
        if self.random.random() < 0.7:
            self.bend_one(armature)
        known = sculpts.find(item)
        number = self.any_of(known).number if known and self.random.random() < 0.3 else ""
        rigs.select([item])
        current_layer().update()
        # Read while the mesh is shown: Blender does not evaluate a hidden rig for a hidden mesh.
        to_armature = sculpts.to_armature(item, armature)
        if not self.ask(addon.ops.sculpt_corrective, number=number):
            return
        surface = mesh_object(active_object())
        pose = sculpts.pose_of(armature)
        if self.random.random() < 0.7:
            bpy.ops.object.mode_set(mode="OBJECT")
        before, after = self.stroke(surface)
        wanted = np.where((before != after).any(axis=1), 2.0, 1.0)
        places = move(to_armature, after)
        # Not yet weights, which Accept does not see if they were changed while the mesh was hidden.
        meanwhile = [self.change_frame, self.next_frame, self.pose, self.move, self.rename, self.save_and_open]
        if self.random.random() < 0.4:
            bpy.ops.object.mode_set(mode="OBJECT")
            self.any_of(meanwhile)()
        state: Any = current_scene()
        surface, item = (mesh_object(state["sbs_sculpt"][name]) for name in ("surface", "item"))
        rigs.select([item])
        assert not self.ask(addon.ops.sculpt_corrective)  # one at a time
        rigs.select([surface])
        if self.random.random() < 0.1:
            bpy.data.objects.remove(surface)
            current_layer().update()
            assert item.visible_get()
            return
        if self.random.random() < 0.8:
            words = self.ask(addon.ops.accept_corrective)
            if words:
                self.keep(item, pose, places, wanted, words, number)
                return
            rigs.select([surface])
        assert self.ask(addon.ops.cancel_corrective)

    def bend_one(self, armature: ArmatureObject) -> None:
        """A pose of one bone, mostly alone."""
        armature.animation_data_clear()
        bones = list(armature.pose.bones)
        if self.random.random() < 0.8:
            for bone in bones:
                bone.matrix_basis = Matrix()
        angle, axis = self.random.uniform(0.4, 2.0), self.random.normal(size=3) * [1.0, 0.1, 1.0]
        self.any_of(bones).rotation_quaternion = Quaternion(axis.tolist(), angle)

    def stroke(self, surface: MeshObject) -> tuple[Floats, Floats]:
        """Move vertices about one of them; where all were and are."""
        before = rigs.positions(surface.data)
        middle = before[int(self.random.integers(len(before)))]
        size = float(np.ptp(before, axis=0).max())
        share = np.maximum(0.0, 1.0 - np.linalg.norm(before - middle, axis=1) / (size * self.random.uniform(0.05, 0.3)))
        moved = before + share[:, None] * self.random.normal(size=3) * 0.05 * size
        surface.data.vertices.foreach_set("co", moved.astype(np.float32).ravel())
        surface.data.update()
        return before, rigs.positions(surface.data)

    def keep(
        self, item: MeshObject, pose: dict[str, list[float]], places: Floats, wanted: Floats, words: str, number: str
    ) -> None:
        """Keep a sculpt that has been accepted: the newest corrective, or the one that has the number."""
        found = sculpts.find(item)
        corrective = next((each for each in found if each.number == number), found[-1])
        near, missed = re.search(r"met within ([-+.\de]+) of", words), re.search(r"(\d+) vertices are crushed", words)
        assert near is not None
        sculpt = sculpts.Sculpt(places, wanted, float(near[1]), int(missed[1]) if missed else 0)
        former = [kept.number for kept in sculpts.left(item.data) if kept.key == corrective.key.name]
        sculpts.keep(item, corrective, pose, sculpt, former[0] if former else "")

    def solve_again(self) -> None:
        item = self.some_mesh()
        rigs.select([item])
        for corrective in sculpts.find(item):
            words = self.ask(addon.ops.solve_correctives, number=corrective.number)
            kept = next((each for each in sculpts.left(item.data) if each.key == corrective.key.name), None)
            if words and kept is not None:
                places, wanted = kept.read(item.data)
                self.keep(item, kept.pose, places, np.where(wanted == 2.0, 2.0, 0.0), words, corrective.number)

    def mirror_correctives(self) -> None:
        item = self.some_mesh()
        rigs.select([item])
        known = sculpts.find(item)
        words = self.ask(addon.ops.mirror_corrective, number=self.any_of(known).number) if known else ""
        mirrored = {each.key.name for each in sculpts.find(item) if not each.has_target}
        for kept in sculpts.left(item.data):
            if words and kept.key in mirrored:
                assert f"{kept.key} was sculpted" in words, "a mirror image has taken its place without a word"
                self.forget(item, kept.key)

    def forget(self, item: MeshObject, key: str) -> None:
        for kept in sculpts.left(item.data):
            if kept.key == key:
                sculpts.forget(item.data, kept.number)

    def go_to_corrective(self) -> None:
        item = self.some_mesh()
        rigs.select([item])
        known = sculpts.find(item)
        if known:
            self.ask(addon.ops.go_to_corrective, number=self.any_of(known).number)

    def remove_corrective(self) -> None:
        item = self.some_mesh()
        rigs.select([item])
        known = sculpts.find(item)
        if known:
            corrective = self.any_of(known)
            key = corrective.key.name
            if self.ask(addon.ops.remove_corrective, number=corrective.number):
                self.forget(item, key)

    def draft(self) -> None:
        """Draft for the present pose, with the names of a limb, by which hinges are found."""
        armature = rig_of(self.any_mesh())
        for bone, name in zip(list(armature.data.bones)[:4], limbs.NAMES, strict=False):
            bone.name = name
        self.bend_one(armature)
        rigs.select([armature])
        self.ask(addon.ops.draft_correctives)

    def override(self) -> None:
        """A character of a library, as an override."""
        overridden = [item for item in self.bound() if item.override_library is not None]
        if len(self.meshes()) < MOST_CHARACTERS and not overridden:
            rigs.override_character(self.library)
            # Only overrides stay in the scene.
            children = current_scene().collection.children
            for collection in [each for each in children if each.library is not None]:
                children.unlink(collection)

    def delete_vertices(self) -> None:
        item = self.any_mesh()
        places = rigs.positions(item.data)
        chosen = self.random.random(len(places)) < self.random.choice([0.01, 0.1])
        if self.random.random() < 0.5:
            axis = self.random.normal(size=3)
            chosen = places @ axis > np.quantile(places @ axis, self.random.uniform(0.8, 1.0))
        if len(places) - chosen.sum() >= FEWEST_VERTICES:
            edit(item, chosen, lambda: bpy.ops.mesh.delete(type="VERT"))

    def merge_vertices(self) -> None:
        item = self.any_mesh()
        if len(item.data.vertices) > 2 * FEWEST_VERTICES:
            threshold = float(self.random.choice([0.0001, 0.02, 0.1]))
            edit(item, np.ones(len(item.data.vertices), bool), lambda: bpy.ops.mesh.remove_doubles(threshold=threshold))

    def separate(self) -> None:
        item = self.any_mesh()
        places = rigs.positions(item.data)
        chosen = places[:, 2] > np.median(places[:, 2])
        if len(self.meshes()) < MOST_CHARACTERS and min(chosen.sum(), (~chosen).sum()) >= FEWEST_VERTICES:
            edit(item, chosen, lambda: bpy.ops.mesh.separate(type="SELECTED"))

    def join(self) -> None:
        item, other = self.any_mesh(), self.any_mesh()
        if item == other:
            other = rigs.make_tube(name="Other", rows=5)
        if item.data == other.data:
            return
        joined = [each._replace(joined=True) for each in sculpts.left(other.data)]
        kept = {each.number: each for each in [*joined, *sculpts.left(item.data)]}
        rigs.select([item, other])
        assert bpy.ops.object.join() == {"FINISHED"}
        sculpts.write(item.data, list(kept.values()))

    def delete_bone(self) -> None:
        armature = rig_of(self.any_mesh())
        # A bone that deforms is left, and the script moves the second.
        bones = [bone.name for bone in list(armature.data.bones)[1:]]
        if len(bones) > 2 and not armature.hide_viewport:
            with rigs.editing(armature):
                armature.data.edit_bones.remove(armature.data.edit_bones[self.any_of(bones)])
            self.evaluate_drivers()

    def join_rigs(self) -> None:
        found = [armature_object(item) for item in current_scene().objects if item.type == "ARMATURE"]
        found = [item for item in found if is_own(item) and not item.hide_viewport]
        # A third object of their data would be left without bones.
        if len(found) > 1 and not any(item.data.users > 1 for item in found[:2]):
            rigs.select(found[:2])
            assert bpy.ops.object.join() == {"FINISHED"}
            self.evaluate_drivers()

    def evaluate_drivers(self) -> None:
        """Have drivers see that their bones are gone, which Blender by itself lets them see one update late."""
        current_layer().update()
        for item in self.bound():
            item.update_tag()

    def edit_groups(self) -> None:
        item = self.any_mesh()
        group = self.any_of(list(item.vertex_groups))
        if len(item.vertex_groups) > 3 and self.random.random() < 0.5:
            item.vertex_groups.remove(group)
        else:
            group.name = f"Name {self.random.integers(100)}"
        item.data.update()

    def edit_keys(self) -> None:
        """Rename or delete a shape key."""
        item = self.any_mesh()
        keys = [] if item.data.shape_keys is None else list(item.data.shape_keys.key_blocks)[1:]
        if not keys:
            return
        key = self.any_of(keys)
        if self.random.random() < 0.5:
            self.forget(item, key.name)
            rigs.select([item])
            item.active_shape_key_index = keys.index(key) + 1
            # A key that is removed by a script, and has a driver, makes Blender crash.
            bpy.ops.object.shape_key_remove()
            return
        former, key.name = key.name, f'Sculpt "{self.random.integers(100)}"'
        kept = sculpts.left(item.data)
        sculpts.write(item.data, [each._replace(key=key.name) if each.key == former else each for each in kept])

    def apply_transform(self) -> None:
        """Apply the scale of the mesh, the rig or both, as far as Blender lets one."""
        item = self.any_mesh()
        items: list[Any] = self.any_of([[item], [rig_of(item)], [item, rig_of(item)]])
        if not any(each.data.users > 1 or each.hide_viewport for each in items):
            rigs.select(items)
            full = bool(self.random.random() < 0.3)
            bpy.ops.object.transform_apply(location=full, rotation=full, scale=True)

    def undo(self) -> None:
        if bpy.ops.ed.undo.poll():  # type: ignore[call-arg]
            bpy.ops.ed.undo()
            self.cancel_sculpt()

    def redo(self) -> None:
        if bpy.ops.ed.redo.poll():  # type: ignore[call-arg]
            bpy.ops.ed.redo()
            self.cancel_sculpt()

    def cancel_sculpt(self) -> None:
        """Leave the sculpt that was open before the step that was undone, if one was."""
        if "sbs_sculpt" in dict(current_scene().items()):
            assert self.ask(addon.ops.cancel_corrective)

    def edit(self) -> None:
        item = self.any_mesh()
        with rigs.editing(item):
            bpy.ops.mesh.select_all(action="SELECT")
            if len(item.data.vertices) < 2000 and self.random.random() < 0.3:
                bpy.ops.mesh.subdivide()
            else:
                bpy.ops.transform.resize(value=(1.02, 1.01, 1.0))

    def toggle(self) -> None:
        item = self.some_mesh()
        if self.random.random() < 0.5:
            item.sbs.method = self.any_of(["SPHERICAL", "LINEAR", "DUAL_QUATERNION", "BONES_BLENDING"])
        modifier = next(modifier for modifier in item.modifiers if modifier.type == "NODES")
        modifier.show_viewport = not modifier.show_viewport
        current_layer().update()
        modifier.show_viewport = True
        armature = rig_of(item)
        armature.hide_viewport = not armature.hide_viewport
        current_layer().update()

    def spread(self) -> None:
        item = self.any_mesh()
        item.sbs.spread_twist = self.random.random() < 0.7
        item.sbs.twist_profile = self.any_of(["LINEAR", "SMOOTH"])
        item.sbs.twist_across = float(self.any_of([0.5, 0.75, 1.0]))
        bone = self.any_of(list(rig_of(item).pose.bones))
        bone.sbs_twist = not bone.sbs_twist

    def paint(self) -> None:
        item = self.any_mesh()
        group = self.any_of(list(item.vertex_groups))
        vertices = self.random.integers(len(item.data.vertices), size=20).tolist()
        group.add(vertices, float(self.random.random()), self.any_of(["REPLACE", "ADD"]))
        item.data.update()

    def bind_again(self) -> None:
        item = self.any_mesh()
        rigs.select([item])
        armature = rig_of(item)
        addon.ops.unbind()
        rigs.bind(item, armature)

    def reload(self) -> None:
        self.save_and_open()
        bpy.ops.ed.undo_push(message="Reload")

    def save_and_open(self) -> None:
        """In the file, all is shown as it was."""
        current_scene().frame_set(current_scene().frame_current)
        current_layer().update()
        before = {item.name: rigs.evaluated(item) for item in self.meshes()}
        bpy.ops.wm.save_as_mainfile(filepath=self.path)
        bpy.ops.wm.open_mainfile(filepath=self.path)
        current_layer().update()
        for name, points in before.items():
            assert error(rigs.evaluated(mesh_named(name)), points) < TOLERANCE, f"{name} was another when it was opened"

    def delete_carrier(self) -> None:
        carriers = [item for item in bpy.data.objects if item.get("sbs_carrier") is not None and item.library is None]
        bpy.data.objects.remove(self.any_of(carriers))

    def check(self) -> None:
        """All is shown as if it were bound only now; that this is right, other tests show."""
        current_layer().update()
        found = {item: rigs.evaluated(item) for item in self.bound()}
        addon.module("engine.live.states").forget()
        for item in found:
            item.update_tag()
        for _ in range(2):
            current_layer().update()
        for item, points in found.items():
            assert error(points, rigs.evaluated(item)) < TOLERANCE, f"{item.name} was not up to date"
        self.count()
        for item in found:
            self.check_correctives(item)
        current_layer().update()
        for item, points in found.items():
            assert error(points, rigs.evaluated(item)) < TOLERANCE, f"{item.name} is not as before it was looked at"

    def check_correctives(self, item: MeshObject) -> None:
        """Each corrective is as its artist left it, or listed as broken."""
        if item.sbs.armature is None:
            return
        broken = sculpts.broken(item)
        found = {each.key.name: each for each in sculpts.find(item)}
        for kept in sculpts.left(item.data):
            if not (kept.read(item.data)[1] == 2.0).any():
                # All that was sculpted is elsewhere.
                continue
            # Of a mesh that was joined, it may not be known which shape key it was.
            is_told = kept.joined and any("joined" in reason for reason in broken.values())
            if kept.key not in broken and not is_told:
                assert kept.key in found, f"{kept.key} of {item.name} is neither there nor listed"
                self.checked += kept.check(item, found[kept.key])

    def look_around(self) -> None:
        """Nothing is hidden, and nothing is left of a sculpt."""
        assert not [item.name for item in current_scene().objects if item.hide_get()]
        assert not [item.name for item in current_scene().objects if ", posed" in item.name]

    def count(self) -> None:
        """There is no handler, carrier or probe more than is needed."""
        called = joined.from_iterable(getattr(bpy.app.handlers, name) for name in HANDLERS)
        ours = [handler for handler in called if handler.__module__.startswith(addon.name())]
        assert sorted(handler.__name__ for handler in ours) == sorted(handler.__name__ for handler in self.handlers)
        here = list(filter(is_own, bpy.data.objects))
        assert len([item for item in here if item.get("sbs_carrier") is not None]) == len(self.bound())
        rigs_hidden = {rig_of(item) for item in self.meshes() if rig_of(item).hide_viewport}
        assert len([item for item in here if item.get("sbs_pose_probe") is not None]) <= len(rigs_hidden)


def make_library(session: Session) -> None:
    """A library with a character that has a corrective."""
    tube, armature = rigs.make_bound(rows=21)
    armature.pose.bones[2].rotation_quaternion = Quaternion((1.0, 0.0, 0.0), 1.2)
    rigs.select([tube])
    assert session.ask(addon.ops.sculpt_corrective)
    pose = sculpts.pose_of(armature)
    bpy.ops.object.mode_set(mode="OBJECT")
    before, after = session.stroke(mesh_object(active_object()))
    words = session.ask(addon.ops.accept_corrective, bone="B2")
    session.keep(tube, pose, after, np.where((before != after).any(axis=1), 2.0, 1.0), words, "")
    rigs.save_library(session.library)


def test_random_operations(pytestconfig: pytest.Config, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    seed = pytestconfig.getoption("seed")
    seed = 10 * VERSION[0] + VERSION[1] if seed is None else seed
    session = Session(seed, tmp_path, capfd)
    make_library(session)
    rigs.animate(rigs.make_bound(rows=21)[1])
    bpy.ops.ed.undo_push(message="Start")
    operations = pytestconfig.getoption("operations") or OPERATIONS
    done: list[str] = []
    try:
        for number in range(operations):
            done.append(session.act())
            if number % CHECK_EVERY == 0:
                session.check()
    except Exception as failure:
        raise AssertionError(f"seed {seed}, after {number + 1}: {done[-CHECK_EVERY:]}") from failure
    finally:
        if edit_in_each_frame in bpy.app.handlers.frame_change_post:
            bpy.app.handlers.frame_change_post.remove(edit_in_each_frame)
    for item in list(current_scene().objects):
        if item.type == "MESH":
            bpy.data.objects.remove(item)
    current_layer().update()
    bpy.ops.wm.save_as_mainfile(filepath=session.path)
    left = [item.name for item in bpy.data.objects if item.type == "MESH" and is_own(item)]
    assert not left
    assert session.checked or operations < 1000
