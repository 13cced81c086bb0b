# SPDX-License-Identifier: MIT
"""FBX files beside ufbx itself, which skins what it evaluates: the same in each way of skinning."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from fbx_builder import TICKS, cuff, numbers, shape, transform, tube

import sbs
from sbs.rigging.content import FileError, FileWarning
from sbs.support.extras import MissingExtraError

pytest.importorskip("ufbx")

# In a process of its own, which keeps whatever it has seen: see sbs.formats.fbx.
PEER = """
import os, sys
import numpy as np
import ufbx
kept = []
def keep(thing):
    kept.append(thing)
    return thing
scene = keep(ufbx.load_file(
    sys.argv[1], target_axes=ufbx.axes_right_handed_y_up, target_unit_meters=1.0, load_external_files=False))
stack = keep(keep(scene.anim_stacks)[int(sys.argv[2])])
frames = []
for seconds in map(float, sys.argv[4:]):
    evaluated = keep(scene.evaluate(keep(stack.anim), stack.time_begin + seconds, evaluate_skinning=True))
    meshes = keep(evaluated.meshes)
    parts = []
    for index in range(len(meshes)):
        mesh = keep(meshes[index])
        if len(keep(mesh.skin_deformers)):
            values = keep(keep(mesh.skinned_position).values)
            points = np.array([tuple(values[number]) for number in range(len(values))])
            if mesh.skinned_is_local:
                matrix = keep(keep(mesh.instances)[0]).geometry_to_world
                points = points @ np.array([matrix.c0, matrix.c1, matrix.c2]) + np.array(matrix.c3)
            parts.append(points)
    frames.append(np.concatenate(parts))
np.save(sys.argv[3], np.array(frames))
os._exit(0)
"""


def skinned(path: Path, stack: int, times: list[float]) -> np.ndarray:
    """Positions (F, V, 3) in the scene by ufbx."""
    output = path.with_suffix(".npy")
    subprocess.run([sys.executable, "-c", PEER, str(path), str(stack), str(output), *map(str, times)], check=True)
    positions: np.ndarray = np.load(output)
    return positions


def written(folder: Path, text: str) -> Path:
    path = folder / "tube.fbx"
    path.write_text(text)
    return path


@pytest.mark.parametrize("method", ["Linear", "DualQuaternion", "Blend"])
def test_each_way_of_skinning(tmp_path: Path, method: str) -> None:
    path = written(tmp_path, tube(method))
    character = sbs.load(path)
    assert character.skeleton.names == ("hip", "knee")
    assert character.skeleton.parents.tolist() == [-1, 0]
    assert [animation.name for animation in character.animations] == ["bend", "turn"]
    assert len(character.mesh.triangles) == 66
    expected_options = {"Linear": {}, "DualQuaternion": {"method"}, "Blend": {"method", "amount", "base"}}
    assert set(character.options) == set(expected_options[method])
    options = {"method": "linear"} | character.options
    times = [0, 0.25, 0.5, 1]  # frames of the 24 a second that the file says
    for number, animation in enumerate(character.animations):
        assert animation.duration == pytest.approx(1)
        found = character.skin.deform_many(animation.skinning_matrices(times), **options)
        expected = skinned(path, number, times)
        # float32, for a size of 6.
        np.testing.assert_allclose(found, expected, atol=4e-6)


@pytest.mark.parametrize(("share", "expected"), [(0, {}), (1, {"method": "dual_quaternion"})])
def test_a_blend_that_is_one_of_its_two_methods(tmp_path: Path, share: int, expected: dict[str, str]) -> None:
    """As 3ds Max writes every skin, with weights of 0."""
    text = re.sub(r"(BlendWeights: \*36 {\n a: )[^\n]*", rf"\g<1>{','.join([str(share)] * 36)}", tube("Blend"))
    assert sbs.load(written(tmp_path, text)).options == expected


def test_a_bone_whose_scale_the_bones_below_do_not_inherit(tmp_path: Path) -> None:
    """As Maya's joints with scale compensation: ufbx puts the scale on a nameless node, beside the bones below."""
    hip, knee = transform((1, 2, 3), (0, 10, 0)), transform((0, 0, 2), (20, 0, 90))
    text = tube().replace(hip, transform((1, 2, 3), (0, 10, 0), (1.5, 1, 0.5)))
    path = written(tmp_path, text.replace(knee, knee.replace("\n}", '\nP: "InheritType", "enum", "", "",2\n}')))
    character = sbs.load(path)
    skeleton = character.skeleton
    assert skeleton.names == ("hip", "hip_2", "knee")
    assert skeleton.parents.tolist() == [-1, 0, 0]
    moved = skeleton.skinning_matrices(skeleton.forward(sbs.poses.turned(skeleton, "hip", [1, 0, 0], 30)))
    np.testing.assert_allclose(moved, moved[[0, 0, 0]], atol=1e-12)  # the whole leg turns with the hip
    times = [0, 0.25, 1]
    frames = character.skin.deform_many(character.animations["bend"].skinning_matrices(times), method="linear")
    np.testing.assert_allclose(frames, skinned(path, 0, times), atol=1e-6 * np.ptp(frames))  # ufbx has float32


@pytest.mark.parametrize("ticks", [0, TICKS // 2])
def test_a_take_without_a_length_lasts_as_long_as_its_keys(tmp_path: Path, ticks: int) -> None:
    """Cinema 4D writes LocalStart = LocalStop = 0; the keys go from 0 to 1 s."""
    ends = f'"LocalStart", "KTime", "Time", "",{ticks}\nP: "LocalStop", "KTime", "Time", "",{ticks}'
    text = re.sub('"LocalStart", "KTime", "Time", "",0\nP: "LocalStop", "KTime", "Time", "",[0-9]+', ends, tube())
    told, usual = sbs.load(written(tmp_path, text)).animations, sbs.load(written(tmp_path, tube())).animations
    assert [clip.duration for clip in told] == [1.0, 1.0]
    for clip, expected in zip(told, usual, strict=True):
        times = [0.0, 0.3, 1.0]
        np.testing.assert_array_equal(clip.skinning_matrices(times), expected.skinning_matrices(times))


def test_steps_stay_steps(tmp_path: Path) -> None:
    """Between two frames, too: the first motion holds 0 degrees until .51 s, then 75."""
    text = tube()
    old = f"KeyTime: {numbers([0, TICKS])}"
    new = f"KeyTime: {numbers([0, TICKS * 51 // 100])}"
    assert old in text
    path = written(tmp_path, text.replace(old, new, 1).replace(numbers([4]), numbers([2]), 1))
    hero = sbs.load(path)
    times = [0.0, 0.5, 0.509, 0.511, 0.52, 0.9]
    found = hero.skin.deform_many(hero.animations["bend"].skinning_matrices(times), method="linear")
    np.testing.assert_allclose(found, skinned(path, 0, times), atol=4e-6)
    assert np.abs(found[2] - found[3]).max() > 0.5


@pytest.mark.parametrize(("up", "unit"), [(1, 100.0), (2, 1.0)])
def test_axes_and_units(tmp_path: Path, up: int, unit: float) -> None:
    """Upward is y and a unit a meter, whatever the file has: centimeters, and z or y upward."""
    usual, other = (sbs.load(written(tmp_path, text)) for text in (tube(), tube(up=up, unit=unit)))
    upright = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]]) if up == 1 else np.eye(3)
    expected, found = (
        each.skin.deform(each.animations[0].skinning_matrices(0.5), method="linear") for each in (usual, other)
    )
    np.testing.assert_allclose(found @ upright.T, expected * unit / 100, atol=2e-6)


def test_what_is_left_out_is_told(tmp_path: Path) -> None:
    hat = """Objects: {
Model: 30, "Model::hat", "Mesh" {
}
Geometry: 31, "Geometry::hat", "Mesh" {
Vertices: *9 {
 a: 0,0,0,1,0,0,0,1,0
}
PolygonVertexIndex: *3 {
 a: 0,1,-3
}
}
"""
    links = 'Connections: {\nC: "OO",30,0\nC: "OO",31,30\n'
    text = tube().replace("Connections: {\n", links, 1).replace("Objects: {\n", hat, 1)
    # a cache of points in another folder, that the file names, is not opened
    cache = 'Cache: 40, "Cache::x", "" {\nProperties70: {\n'
    cache += 'P: "CacheAbsoluteFileName", "KString", "", "", "/etc/passwd"\n}\n}\n'
    path = written(tmp_path, text.replace("Objects: {\n", "Objects: {\n" + cache, 1))
    with pytest.warns(FileWarning, match="hat"):
        assert sbs.load(path, skin=0).skin.vertex_count == 36
    with pytest.raises(FileError, match="no skin 1"):
        sbs.load(path, skin=1)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('C: "OO",20,1\n', "", "no mesh is skinned"),
        ('Deformer: 20, "Deformer::skin", "Skin"', 'Deformer: 20, "Deformer::skin", "Shape"', "no mesh is skinned"),
        ("Objects: {", "Objects: {{{", "damaged: "),
    ],
)
def test_damaged_files(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = written(tmp_path, tube().replace(old, new, 1))
    with pytest.raises(FileError, match=f"{re.escape(path.name)}.*{message}"):
        sbs.load(path)
    circle = written(tmp_path, tube(parents=(1, 0)))  # of bones: read or refused, but no endless one
    with contextlib.suppress(FileError):
        assert sbs.load(circle).skin.vertex_count == 36


def test_without_the_package_it_says_which(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, tube())
    monkeypatch.setitem(sys.modules, "ufbx", None)
    with pytest.raises(MissingExtraError, match="pip install ufbx"):
        sbs.load(path)


def test_blend_shapes(tmp_path: Path) -> None:
    """Offsets are in the file's units and axes, and weights in percent; the second motion leaves them at rest."""
    offsets = [[1, 0, 0], [0, 2, 0], [0, 0, 3]]
    more = shape(offsets, [4, 9, 20], [25.0, 75.0])
    hero = sbs.load(written(tmp_path, tube(more=more)))
    plain = sbs.load(written(tmp_path, tube()))
    np.testing.assert_array_equal(hero.mesh.positions, plain.mesh.positions)
    (bulge,) = hero.mesh.shapes
    assert (bulge.name, bulge.weight) == ("bulge", 0.25)
    bend = hero.shape_motion(hero.animations["bend"])
    # Keys are float32; between them the rate of the file counts, and linear keys stay linear.
    np.testing.assert_allclose(bend.weights([0.0, 0.5, 1.0])[:, 0], [0.25, 0.5, 0.75], rtol=0, atol=1e-3)
    np.testing.assert_allclose(hero.shape_motion(hero.animations["turn"]).weights(0.5), [0.25])
    expected = np.zeros((36, 3))
    expected[[4, 9, 20]] = offsets
    found = bend.rest_positions(1.0) - hero.mesh.positions
    lengths = np.linalg.norm(found, axis=1)
    np.testing.assert_allclose(lengths, 0.75 * np.linalg.norm(expected, axis=1), rtol=0, atol=1e-5)
    # Along the tube's own axes, which its triangles show.
    along = hero.mesh.positions[8] - hero.mesh.positions[4]
    np.testing.assert_allclose(found[20], 0.75 * 3 * along / np.linalg.norm(along), rtol=0, atol=1e-5)


@pytest.mark.parametrize("turned", [False, True])
def test_several_meshes(tmp_path: Path, turned: bool) -> None:
    """The cuff binds the knee where the tube does, or in another pose: then it has a joint of its own."""
    bind = np.eye(4)
    bind[:3, 3], bind[:3, :3] = (1, 2, 5), [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    if turned:
        bind[:3, :3] = np.eye(3)
    path = written(tmp_path, tube(more=cuff(bind)))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        hero = sbs.load(path)
    assert ["cuff binds 1 bones in another pose" in str(warning.message) for warning in told] == [True] * turned
    assert hero.parts.names == ("tube", "cuff")
    assert hero.skeleton.names == (("hip", "knee", "knee_2") if turned else ("hip", "knee"))
    for stack, name in enumerate(("bend", "turn")):
        times = [0.0, 0.25, 1.0]
        matrices = hero.animations[name].skinning_matrices(times)
        # By ufbx itself; float32 keys.
        found = hero.skin.deform_many(matrices, method="linear")
        np.testing.assert_allclose(found, skinned(path, stack, times), rtol=0, atol=2e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = sbs.load(path, mesh="cuff")
    np.testing.assert_allclose(alone.skin.deform(matrices[2]), found[2, 36:], rtol=0, atol=1e-5)
