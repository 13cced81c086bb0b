# SPDX-License-Identifier: MIT
"""`engines/three` where no clip has keys for twist joints: they follow the bones."""

# ruff: noqa: F811 # fixtures are imported

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page
from test_three import THREE, compare, diagonal, encode, page, square  # noqa: F401 # fixtures

import sbs
from sbs import rotations
from sbs.poses import axes, turned

pytestmark = pytest.mark.skipif(not THREE.exists(), reason="make build/three/index.js gets three.js")

BONE = "LeftForeArm"


def turned_about_bone(skeleton: sbs.Skeleton, name: str, degrees: float) -> Any:
    """T(j) of all joints, one of which is turned about the forearm."""
    _, along = axes(skeleton, skeleton.index(BONE))
    return turned(skeleton, name, along, degrees)


def clip_of(woman: sbs.Character, name: str, degrees: float) -> sbs.Character:
    """With a clip of two seconds that turns a joint about the forearm evenly."""
    steps = np.linspace(0, degrees, 11)
    local = np.stack([turned_about_bone(woman.skeleton, name, each) for each in steps])
    matrices = woman.skinning_matrices(local)
    clip = sbs.Animation.from_skinning_matrices("turn", np.linspace(0, 2, 11), matrices, woman.rig)
    return replace(woman, animations=sbs.Animations([clip]))


class Twisted:
    """A character for the shader in a file, its twist, and the skin of the numbers of the file in float64."""

    def __init__(self, source: sbs.Character, path: Path) -> None:
        source.for_engine("three").save(path)
        self.file = encode(bytearray(path.read_bytes()), np.uint8)
        self.twist = sbs.limb_twist(source)
        self.source = source
        self.made = sbs.load(path)
        mesh = self.made.mesh
        assert mesh.normals is not None
        self.exact = sbs.Skin.quietly(
            np.float64(mesh.positions),
            mesh.joint_indices,
            mesh.joint_weights,
            parents=self.made.skeleton.parents,
            joint_positions=self.made.skeleton.joint_positions,
            rest_normals=np.float64(mesh.normals),
            centers=mesh.centers,
        )

    def expected(self, matrices: np.ndarray, twists: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Smooth twist of the library, by matrices of the skeleton without twist joints."""
        return self.exact.deform(self.twist.pose(matrices, twists), normals=True, **self.made.options)

    def check(self, frames: list[Any], expected: list[tuple[np.ndarray, np.ndarray]]) -> None:
        compare(frames, expected, diagonal(self.made.mesh.positions)).check(positions=6e-7)


@pytest.fixture(scope="module")
def woman(tmp_path_factory: pytest.TempPathFactory) -> Twisted:
    return Twisted(
        replace(sbs.samples.load("woman"), animations=sbs.Animations()), tmp_path_factory.mktemp("w") / "w.glb"
    )


# Bones turned by code alone.
POSED = """async ([file, turns]) => {
  const { load, draw, pick, sphericalSkinning, THREE } = scene;
  const { scene: root, meshes, sun } = await load(file);
  meshes.forEach((mesh) => sphericalSkinning(mesh));
  for (const [name, rotation] of Object.entries(turns)) {
    root.getObjectByName(name).quaternion.multiply(new THREE.Quaternion(...rotation));
  }
  const drawn = draw(root);
  const { projectionMatrix, matrixWorldInverse } = sun.shadow.camera;
  return [{ drawn, picked: pick(meshes, 97), sun: projectionMatrix.clone().multiply(matrixWorldInverse).toArray() }];
}"""


@pytest.mark.parametrize("degrees", [170.0, -120.0])
@pytest.mark.parametrize("name", ["LeftHand", "LeftForeArm"])
def test_a_wrist_turned_by_code(page: Page, woman: Twisted, name: str, degrees: float) -> None:
    skeleton = woman.source.skeleton
    local = turned_about_bone(skeleton, name, degrees)
    w, x, y, z = rotations.quaternions_from_matrices(local[skeleton.index(name)]).tolist()
    matrices = woman.source.skinning_matrices(local)
    expected = woman.expected(matrices)
    woman.check(page.evaluate(POSED, [woman.file, {name: [x, y, z, w]}]), [expected])
    # The file rounds positions, weights and centers to float32, as in tests/python/test_engine_files.py.
    size = diagonal(woman.made.mesh.positions)
    np.testing.assert_allclose(expected[0], woman.source.deform(matrices), atol=2e-6 * size)


# A clip at some times, as it is or without its keys for twist joints; rotations of these before and after a draw.
PLAYED = """async ([file, times, keyed]) => {
  const { load, draw, pick, sphericalSkinning } = scene;
  const { scene: root, meshes, sun, mixer, gltf } = await load(file);
  meshes.forEach((mesh) => sphericalSkinning(mesh));
  const [clip] = gltf.animations;
  if (!keyed) clip.tracks = clip.tracks.filter(({ name }) => !/_twist_/.test(name));
  mixer.clipAction(clip).play();
  const joints = meshes[0].skeleton.bones.filter(({ name }) => /_twist_/.test(name));
  const rotations = () => joints.map(({ quaternion }) => quaternion.toArray());
  return times.map((time) => {
    mixer.setTime(time);
    const before = rotations(), drawn = draw(root), after = rotations();
    const { projectionMatrix, matrixWorldInverse } = sun.shadow.camera;
    const light = projectionMatrix.clone().multiply(matrixWorldInverse).toArray();
    return { drawn, picked: pick(meshes, 97), sun: light, before, after };
  });
}"""
KEYS = [0.0, 0.4, 34 / 30, 1.8]  # times of keys, 30 a second


@pytest.fixture(scope="module")
def waving(tmp_path_factory: pytest.TempPathFactory) -> Twisted:
    return Twisted(clip_of(sbs.samples.load("woman"), "LeftHand", 170), tmp_path_factory.mktemp("waving") / "web.glb")


def test_a_clip_without_keys_for_twist_joints(page: Page, waving: Twisted) -> None:
    matrices = waving.made.animations[0].skinning_matrices(KEYS)[:, : len(waving.source.skeleton)]
    frames = page.evaluate(PLAYED, [waving.file, KEYS, False])
    waving.check(frames, [waving.expected(each) for each in matrices])


def test_drivers_agree_with_keys(page: Page, waving: Twisted) -> None:
    """Within 1e-6: the file has keys, rotations and inverse bind matrices in float32."""
    before, after = (
        np.array([frame[name] for frame in page.evaluate(PLAYED, [waving.file, KEYS, True])])
        for name in ("before", "after")
    )
    assert np.abs(before[-1] - before[0]).max() > 0.5
    signs = np.sign(np.sum(before * after, axis=-1, keepdims=True))
    np.testing.assert_allclose(signs * after, before, atol=1e-6)


def test_keys_beyond_half_a_turn_stay(page: Page, tmp_path: Path) -> None:
    """At keys and between them, there and back again."""
    spinning = Twisted(clip_of(sbs.samples.load("woman"), "LeftHand", 250), tmp_path / "web.glb")
    times = [0.3, 1.2, 1.75, 1.99, 1.41, 0.1, 1.8]
    matrices = spinning.made.animations[0].skinning_matrices(times)
    expected = [spinning.exact.deform(each, normals=True, **spinning.made.options) for each in matrices]
    frames = page.evaluate(PLAYED, [spinning.file, times, True])
    beyond = [number for number, time in enumerate(times) if time * 125 > 180]
    spinning.check([frames[number] for number in beyond], [expected[number] for number in beyond])


LINEAR = """async ([file, name, rotation]) => {
  const { load, THREE, TwistDrivers } = scene;
  const { scene: root, meshes: [mesh] } = await load(file);
  const drivers = new TwistDrivers(mesh);
  root.getObjectByName(name).quaternion.multiply(new THREE.Quaternion(...rotation));
  drivers.update();
  root.updateMatrixWorld();
  const { bones, boneInverses } = mesh.skeleton;
  return bones.map(({ matrixWorld }, i) => matrixWorld.clone().multiply(boneInverses[i]).transpose().toArray());
}"""


def test_meshes_that_blend_linearly(page: Page, tmp_path: Path) -> None:
    """As the manual has it: the drivers alone, once a frame."""
    source = replace(sbs.samples.load("woman"), animations=sbs.Animations(), source=None)
    twist = sbs.limb_twist(source, frames=6)
    source.with_twist_joints(twist).save(tmp_path / "web.glb")
    local = turned_about_bone(source.skeleton, "LeftHand", 170)
    w, x, y, z = rotations.quaternions_from_matrices(local[source.skeleton.index("LeftHand")]).tolist()
    file = encode(bytearray((tmp_path / "web.glb").read_bytes()), np.uint8)
    found = np.reshape(page.evaluate(LINEAR, [file, "LeftHand", [x, y, z, w]]), (-1, 4, 4))
    # Transforms of nodes and inverse bind matrices are float32, of a character 1.7 high.
    np.testing.assert_allclose(found, square(twist.pose(source.skinning_matrices(local))), atol=5e-6)


HOSTILE = """async ([file, change]) => {
  const { load, draw, sphericalSkinning, TwistDrivers } = scene;
  const { scene: root, meshes: [mesh] } = await load(file);
  const { userData } = mesh.skeleton.bones.find((bone) => bone.userData.sbs_twist);
  userData.sbs_twist = change && { ...userData.sbs_twist, ...change };
  let error;
  try {
    new TwistDrivers(mesh);
  } catch ({ message }) {
    error = message;
  }
  const warnings = [], { warn } = console;
  console.warn = (text) => warnings.push(text);
  sphericalSkinning(mesh);
  draw(root);
  console.warn = warn;
  return [error, warnings];
}"""


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (None, "object"),
        ({"parent": "nobody"}, "nobody"),
        ({"parent": "LeftHand"}, "LeftHand"),  # below
        ({"child": "__proto__"}, "__proto__"),
        ({"child": 3}, "names"),
        ({"parent_rest": [0, 0, 0, 0]}, "parent_rest"),
        ({"child_rest": {"length": 4}}, "child_rest"),
        ({"axis": [0, 1e308, 0]}, "axis"),
        ({"axis": [0, 1]}, "axis"),
        ({"share": "1"}, "share"),
        ({"share": -1}, "share"),
    ],
)
def test_damaged_extras(page: Page, woman: Twisted, change: dict[str, Any] | None, named: str) -> None:
    """An error of the drivers; the package says so, and draws the mesh without them."""
    error, (warning,) = page.evaluate(HOSTILE, [woman.file, change])
    assert "sbs_twist" in error and named in error
    assert error in warning
