# SPDX-License-Identifier: MIT
"""The module in `engines` finds the weights that the library has, and three.js shows the sculpt.

three.js is r180, which ``make build/three/index.js`` takes from the wheel of NiceGUI; both have the MIT licence.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pygltflib
import pytest
from playwright.sync_api import Browser, Page, Route

import sbs
from sbs.correctives import Correctives, Part, as_blend_shapes
from sbs.correctives.drivers import find_coordinates, find_driver

ROOT = Path(__file__).parents[2]
THREE = ROOT / "build" / "three" / "index.js"
ADDRESS = "http://engines.test/"
FILES = {"pose-drivers.js": ROOT / "engines" / "three" / "pose-drivers.js", "three.js": THREE}


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """An empty page that can import the modules."""

    def answer(route: Route) -> None:
        name = route.request.url.removeprefix(ADDRESS)
        if name in FILES:
            route.fulfill(path=FILES[name], content_type="text/javascript")
        else:
            route.fulfill(body="<!doctype html>", content_type="text/html")

    page = browser.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.route("**/*", answer)
    page.goto(ADDRESS)
    yield page
    page.close()
    assert faults == []


def correctives(character: sbs.Character) -> Correctives:
    """Shapes of one vertex in poses of the clip: several in one direction, several joints, twists, and a root."""
    skeleton, clip = character.skeleton, character.animations[0]
    children = [joint for joint in skeleton.order.tolist() if skeleton.parents[joint] >= 0]
    drivers: list[tuple[list[int], Part, int]] = [
        ([children[2]], "swing", 3),
        ([children[4]], "twist", 1),
        ([children[5]], "both", 2),
        (children[6:9], "swing", 2),
        ([int(skeleton.order[0])], "both", 1),
    ]
    made = Correctives(skeleton)
    for joints, part, count in drivers:
        driver = find_driver(skeleton, joints, part)
        for number in range(count):
            coordinates = find_coordinates(skeleton, driver, clip.skinning_matrices(6.0 * max(number, 1) - 1.0))
            shape = (np.array([number]), np.ones((1, 3), np.float32))
            # The first two are of the same frame.
            share = 0.5 if count > 1 and not number else 1.0
            made.add_shape(shape, share * coordinates, joints=joints, part=part, name=f"shape {len(made)}")
    return made


def moved_freely(character: sbs.Character) -> sbs.Character:
    """With a clip in which every node is turned anywhere, and back again."""
    random = np.random.default_rng(8)
    free = np.flatnonzero(~character.rig.has_matrix)
    keys = character.rig.quaternions[free] + 0.2 * random.standard_normal((20, len(free), 4))
    keys[::2] = character.rig.quaternions[free]
    keys /= np.linalg.norm(keys, axis=-1, keepdims=True)
    track = sbs.rigging.animation.Track("rotation", "LINEAR", free, np.arange(20.0), keys)
    return replace(character, animations=sbs.Animations([sbs.Animation("freely", (track,), character.rig)]))


WEIGHTS = """async ([extras, nodes, joints, frames]) => {
  const { PoseDrivers } = await import("./pose-drivers.js");
  const bones = nodes.map(() => ({ quaternion: {}, parent: null }));
  nodes.forEach((node, number) => node.children.forEach((child) => (bones[child].parent = bones[number])));
  const dictionary = Object.fromEntries(extras.targetNames.map((name, number) => [name, number]));
  const mesh = {
    skeleton: { bones: joints.map((joint) => bones[joint]) },
    userData: extras,
    morphTargetDictionary: dictionary,
    morphTargetInfluences: extras.targetNames.map(() => 0),
  };
  const drivers = new PoseDrivers(mesh);
  return frames.map((frame) => {
    frame.forEach((rotation, number) => (bones[number].quaternion.toArray = () => rotation));
    drivers.update();
    return [...mesh.morphTargetInfluences];
  });
}"""


@pytest.mark.parametrize("name", ["hand", "rat"])
def test_weights_are_those_of_the_library(page: Page, tmp_path: Path, name: str) -> None:
    """Within 1e-5: the file has inverse bind matrices and rotations in float32."""
    loaded = sbs.samples.load("hand") if name == "hand" else sbs.load(ROOT / "tests" / "data" / "Rat.glb")
    character = moved_freely(loaded)
    made = correctives(character)
    path = tmp_path / "character.glb"
    # Without its source the nodes of the file are those of the rig.
    replace(as_blend_shapes(character, made, fps=1), source=None).save(path)
    gltf = pygltflib.GLTF2().load(str(path))
    extras = next(mesh.extras for mesh in gltf.meshes if mesh.extras)
    nodes = [{"children": node.children or []} for node in gltf.nodes[: len(character.rig.names)]]
    times = np.arange(0, 19, 0.25)
    rotations = np.tile(np.roll(character.rig.quaternions, -1, axis=1), (len(times), 1, 1))
    (track,) = character.animations[0].tracks
    rotations[:, track.nodes] = np.roll(track.sample(times), -1, axis=2)
    found = page.evaluate(WEIGHTS, [extras, nodes, gltf.skins[0].joints, rotations.tolist()])
    wanted = made.weights(character.animations[0].skinning_matrices(times))
    assert np.abs(wanted).max(axis=0).min() > 0.4
    np.testing.assert_allclose(found, wanted[:, [made.names.index(name) for name in extras["targetNames"]]], atol=1e-5)


IN_THREE = """async ([text, times]) => {
  const { THREE, GLTFLoader } = await import("./three.js");
  const { PoseDrivers } = await import("./pose-drivers.js");
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const gltf = await new GLTFLoader().parseAsync(bytes.buffer, "");
  let mesh;
  gltf.scene.traverse((object) => { if (object.isSkinnedMesh) mesh = object; });
  const drivers = new PoseDrivers(mesh);
  const mixer = new THREE.AnimationMixer(gltf.scene);
  mixer.clipAction(gltf.animations[0]).setLoop(THREE.LoopOnce).play().clampWhenFinished = true;
  const positions = () => {
    gltf.scene.updateMatrixWorld(true);
    return Array.from({ length: mesh.geometry.attributes.position.count }, (_, vertex) =>
      mesh.localToWorld(mesh.getVertexPosition(vertex, new THREE.Vector3())).toArray());
  };
  return times.map((time) => {
    mixer.setTime(time);
    const keys = [...mesh.morphTargetInfluences], baked = positions();
    mesh.morphTargetInfluences.fill(0);
    drivers.update();
    return { keys, baked, weights: [...mesh.morphTargetInfluences], driven: positions() };
  });
}"""


@pytest.mark.skipif(not THREE.exists(), reason="make build/three/index.js gets three.js")
def test_three_js_shows_the_sculpt(page: Page, tmp_path: Path) -> None:
    """By keys of the clip and by drivers, within 1e-6 of the size: the file is in float32, as three's matrices are not.

    Between keys, 60 a second, weights are not quite linear.
    """
    hand = sbs.samples.load("hand")
    clip = hand.animations["fist"]
    joints = [f"index-finger-phalanx-{which}" for which in ("proximal", "intermediate", "distal")]
    made = Correctives(hand.skeleton)
    pose = clip.skinning_matrices(0.5)
    sculpted = hand.skin.deform(pose, method="linear")
    finger = np.isin(hand.mesh.joint_indices[:, 0], hand.skeleton.indices(joints))
    sculpted[finger] += np.float32(0.002) * np.sin(300 * hand.mesh.positions[finger])
    made.add(pose, sculpted, joints=joints, name="curl")
    made.solve(hand.skin, triangles=hand.mesh.triangles, method="linear")
    path = tmp_path / "hand.glb"
    as_blend_shapes(hand, made).save(path)
    times = [0.5, 0.21]
    at_pose, between = page.evaluate(IN_THREE, [base64.b64encode(path.read_bytes()).decode(), times])
    size = np.linalg.norm(np.ptp(hand.mesh.positions, axis=0))
    for found in (at_pose["baked"], at_pose["driven"]):
        assert np.linalg.norm(np.array(found) - sculpted, axis=1).max() < 1e-6 * size
    np.testing.assert_allclose(at_pose["weights"], [1.0], atol=1e-6)
    moment = clip.skinning_matrices(times[1])
    np.testing.assert_allclose(between["weights"], made.weights(moment), atol=1e-5)
    np.testing.assert_allclose(between["keys"], made.weights(moment), atol=1e-3)
    wanted = hand.skin.deform(moment, method="linear", correctives=made)
    assert np.linalg.norm(np.array(between["driven"]) - wanted, axis=1).max() < 1e-6 * size


HOSTILE = """async (drivers) => {
  const { PoseDrivers } = await import("./pose-drivers.js");
  return drivers.map((json) => {
    const mesh = {
      skeleton: { bones: [{}, {}] },
      userData: { pose_drivers: [json] },
      morphTargetDictionary: { shape: 0, other: 1 },
      morphTargetInfluences: [0, 0],
    };
    try {
      new PoseDrivers(mesh);
    } catch (error) {
      return error.message;
    }
    return "";
  });
}"""


def test_hostile_drivers(page: Page) -> None:
    """Extras of files that no writer makes are refused, as `sbs_drivers_new` refuses them."""

    def pose(*turn: float, name: str = "shape") -> dict[str, object]:
        return {"driven_name": name, "target_rotations": [turn]}

    good: dict[str, object] = {
        "source_joints": [1],
        "eval_space_joints": [0],
        "rest_rotations": [[0, 0, 0, 1]],
        "twist_axes": [[0, 1, 0]],
        "part": "swing",
        "pose_targets": [pose(1, 0, 0), pose(0, 0, 1, name="other")],
    }
    cases: dict[str, dict[str, object]] = {
        "there are 2 joints": {"source_joints": [2]},
        "source_joints": {"source_joints": [-1]},
        "eval_space_joints": {"eval_space_joints": [1]},
        "rest_rotations": {"rest_rotations": [[0, 0, 0, 0]]},
        "twist_axes": {"twist_axes": [[0, 0, 0]]},
        "part": {"part": "__proto__"},
        "rest pose": {"pose_targets": [pose(0, 0, 0)]},
        "another one": {"pose_targets": [pose(1, 0, 0), pose(1, 0, 0.0005, name="other")]},
        "__proto__": {"pose_targets": [pose(1, 0, 0, name="__proto__")]},
        "target_rotations": {"pose_targets": [pose(1, 0)]},
        "1024": {"pose_targets": [pose(1 + k, 0, 0) for k in range(1025)]},
    }
    accepted, *messages = page.evaluate(HOSTILE, [good, *(good | case for case in cases.values())])
    assert accepted == ""
    for part, message in zip(cases, messages, strict=True):
        assert part in message
