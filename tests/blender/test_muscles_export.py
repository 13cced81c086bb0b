# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters with muscles leave Blender: baked they bring the skin that covers them, else they leave muscles here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import addon
import bpy
import numpy as np
import pytest
import rigs
from expected import error, in_world
from muscled import add, bend, covered, make_character, muscle_of, without
from objects import Character, MeshObject, current_layer, current_scene, mesh_objects

import exports
from exports import Shapes

# Exporters' own, which are not what this is about.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.usefixtures("importer_of_old_blender"),
]

FRAMES = (1, 4, 7)

# A share of the size of the mesh: files have vertices in single precision, of other spaces.
EXACT = 2e-5


def fbx(path: Path, **options: object) -> None:
    more = {"bake_anim_simplify_factor": 0.0, "add_leaf_bones": False, **options}
    assert bpy.ops.export_scene.fbx(filepath=f"{path}.fbx", **more) == {"FINISHED"}  # type: ignore[arg-type]


def gltf(path: Path, **options: object) -> None:
    assert bpy.ops.export_scene.gltf(filepath=f"{path}.glb", **options) == {"FINISHED"}  # type: ignore[arg-type]


def usd(path: Path, **options: object) -> None:
    assert addon.ops.export_usd(filepath=f"{path}.usdc", export_animation=True, **options) == {"FINISHED"}


def usd_of_blender(path: Path, **options: object) -> None:
    """Blender's own entry, which writes the vertices of each frame."""
    more: Any = {"export_animation": True, **options}
    assert bpy.ops.wm.usd_export(filepath=f"{path}.usdc", **more) == {"FINISHED"}


def come_back(path: Path) -> list[bpy.types.Object]:
    """The objects of the file that was written."""
    (found,) = path.parent.glob(f"{path.name}.*")
    return exports.come_back(found)


def twin_of(tube: MeshObject, found: list[bpy.types.Object]) -> MeshObject:
    """The mesh that came back."""
    (twin,) = (item for item in mesh_objects(found) if len(item.data.vertices) == len(tube.data.vertices))
    return twin


@pytest.fixture
def character() -> Character:
    """A tube that bends, with a muscle that becomes tense; smooth, so that no format splits its vertices."""
    tube, armature = make_character()
    tube.data.polygons.foreach_set("use_smooth", [True] * len(tube.data.polygons))
    tube.parent = armature
    scene = current_scene()
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    for frame, degrees, value in ((FRAMES[0], 0.0, 0.0), (FRAMES[-1], 70.0, 1.0)):
        bend(armature, degrees)
        armature.pose.bones["B2"].keyframe_insert("rotation_quaternion", frame=frame)
        muscle_of(armature, 0).activation = value
        muscle_of(armature, 0).keyframe_insert("activation", frame=frame)
    scene.frame_set(FRAMES[-1])
    current_layer().update()
    assert error(rigs.evaluated(tube), without(tube)) > 1e-3
    return tube, armature


def shapes(item: MeshObject) -> Shapes:
    return exports.by_frame(item, FRAMES)


def assert_alike(found: Shapes, wanted: Shapes) -> None:
    exports.assert_alike(found, wanted, EXACT)


@pytest.mark.parametrize("target", ["POINT_CACHE", "SHAPE_KEYS"])
def test_bakes_have_them(character: Character, tmp_path: Path, target: str) -> None:
    tube, armature = character
    wanted = {}
    for frame in FRAMES:
        current_scene().frame_set(frame)
        current_layer().update()
        wanted[frame] = covered(tube, armature)
    rigs.select([tube])
    assert addon.ops.bake(target=target, directory=str(tmp_path)) == {"FINISHED"}
    # Without rig and muscles.
    armature.sbs.muscles.clear()
    for frame in FRAMES:
        current_scene().frame_set(frame)
        current_layer().update()
        assert error(rigs.evaluated(tube), wanted[frame]) < EXACT


@pytest.mark.blender(since=(4, 1))
def test_blenders_own_usd_has_vertices_of_each_frame(character: Character, tmp_path: Path) -> None:
    tube, _ = character
    wanted = shapes(tube)
    usd_of_blender(tmp_path / "out")
    assert_alike(shapes(twin_of(tube, come_back(tmp_path / "out"))), wanted)


@pytest.mark.parametrize("write", [fbx, gltf, pytest.param(usd, marks=pytest.mark.blender(since=(4, 1)))])
def test_skins_have_none(character: Character, tmp_path: Path, write: Any) -> None:
    """An engine gets the skin as without muscles, and no bellies or handles; here they stay."""
    tube, armature = character
    tube.sbs.use_muscles = False
    tube.sbs.method = "LINEAR"
    wanted = shapes(tube)
    tube.sbs.use_muscles = True
    tube.sbs.method = "SPHERICAL"
    shown = shapes(tube)
    muscle = muscle_of(armature, 0)
    muscle.belly.hide_set(True)
    muscle.via.select_set(True)
    current_layer().objects.active = muscle.origin
    collections = [item.users_collection for item in (muscle.belly, muscle.via, muscle.origin)]
    write(tmp_path / "out")
    assert [item.users_collection for item in (muscle.belly, muscle.via, muscle.origin)] == collections
    assert muscle.belly.hide_get() and muscle.via.select_get() and current_layer().objects.active == muscle.origin
    assert_alike(shapes(tube), shown)
    assert len(armature.sbs.muscles) == 1 and muscle_of(armature, 0).belly is not None
    found = come_back(tmp_path / "out")
    assert_alike(shapes(twin_of(tube, found)), wanted)
    names = {item.name.partition(".")[0] for item in found}
    assert not {name for name in names if name.startswith(("Flexor", "Muscle"))}


def test_what_is_seen_without_bones(character: Character, tmp_path: Path) -> None:
    """Who exports no armatures wants the mesh as it is shown: with muscles."""
    tube, _ = character
    current_scene().frame_set(FRAMES[-1])
    shown = in_world(tube)
    fbx(tmp_path / "fbx", object_types={"MESH"}, bake_anim=False)
    gltf(tmp_path / "gltf", export_skins=False, export_current_frame=True, export_apply=True)
    for name in ("fbx", "gltf"):
        found = come_back(tmp_path / name)
        assert error(in_world(twin_of(tube, found)), shown) < EXACT
        assert not [item.name for item in found if item.name.startswith("Flexor")]
        bpy.data.batch_remove(found)


def test_a_picture_of_a_moment(character: Character, tmp_path: Path) -> None:
    """OBJ: the shown shape."""
    tube, armature = character
    add(armature, "Extensor.L", side=-0.2)
    current_layer().update()
    shown = in_world(tube)
    path = tmp_path / "out.obj"
    rigs.select([tube])
    assert bpy.ops.wm.obj_export(filepath=str(path), export_selected_objects=True) == {"FINISHED"}
    lines = [line.split()[1:4] for line in path.read_text().splitlines() if line.startswith("v ")]
    x, y, z = np.array(lines, float).T
    # Six digits are written; in the file y is upward.
    np.testing.assert_allclose(np.stack([x, -z, y], axis=1), shown, atol=2e-6)


SUFFIXES = {"alembic": "abc", "collada": "dae", "obj": "obj", "ply": "ply", "stl": "stl", "usd": "usda"}


@pytest.mark.parametrize("kind", [kind for kind in SUFFIXES if f"{kind}_export" in dir(bpy.ops.wm)])
def test_bellies_are_not_in_what_views_show(character: Character, tmp_path: Path, kind: str) -> None:
    """Bellies are to look at: an export of shown objects has the character, and no belly stays hidden."""
    _, armature = character
    belly = muscle_of(armature, 0).belly
    options = {"evaluation_mode": "VIEWPORT"} if kind in ("alembic", "usd") else {}
    operator = getattr(bpy.ops.wm, f"{kind}_export")
    assert operator.poll()
    sizes = []
    for hides in (False, True):
        belly.hide_viewport = hides
        path = tmp_path / f"{hides}.{SUFFIXES[kind]}"
        assert operator(filepath=str(path), **options) == {"FINISHED"}
        assert belly.hide_viewport == hides
        sizes.append(path.stat().st_size)
        if kind in ("obj", "collada"):
            assert belly.name not in path.read_text()
    # Some formats note the time, or the name of the file. Collada writes equal normals once, and old Blender's threads
    # round them differently each time.
    assert sizes[0] == pytest.approx(sizes[1], abs=2000 if kind == "collada" else 64)


@pytest.mark.blender(before=(4, 0))
@pytest.mark.parametrize("name", ["export_mesh.ply", "export_mesh.stl", "export_scene.obj", "export_scene.x3d"])
def test_exporters_in_python_of_old_blender(character: Character, tmp_path: Path, name: str) -> None:
    tube, armature = character
    module, _, kind = name.partition(".")
    path = tmp_path / f"out.{kind}"
    assert getattr(getattr(bpy.ops, module), kind)(filepath=str(path)) == {"FINISHED"}
    content = path.read_bytes()
    faces = len(tube.data.polygons)
    if kind == "stl":
        # Two triangles for each face, which take 50 bytes each.
        assert len(content) == 84 + 50 * 2 * faces
    elif kind == "ply":
        assert f"element face {faces}\n".encode() in content
    else:
        assert muscle_of(armature, 0).belly.name.encode() not in content
