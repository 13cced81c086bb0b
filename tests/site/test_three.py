# SPDX-License-Identifier: MIT
"""`engines/three` in three.js, which has to draw meshes as the library deforms them.

three.js is r180, which ``make build/three/index.js`` takes from the wheel of NiceGUI; both have the MIT licence.
"""

from __future__ import annotations

import base64
import io
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from PIL import Image
from playwright.sync_api import Browser, Page, Route

import sbs
from sbs import rotations

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / "tests" / "python"), str(ROOT / "tools")]
import characters  # noqa: E402

from three_page import names_module  # noqa: E402

PACKAGE = ROOT / "engines" / "three"
THREE = ROOT / "build" / "three" / "index.js"
HERE = Path(__file__).parent
ADDRESS = "http://three.test/"
PAGE = """<!doctype html><script type="importmap">{"imports": {
  "three": "/three.js",
  "three/addons/loaders/GLTFLoader.js": "/bundle.js",
  "three-spherical-skinning": "/package/index.js",
  "three-spherical-skinning/": "/package/"
}}</script>"""
CENTERS = ("joint_set", "optimized", "weighted")
STEP = 97  # from a picked vertex to the next

pytestmark = pytest.mark.skipif(not THREE.exists(), reason="make build/three/index.js gets three.js")


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """A page that can import the package, and three_scene.js as `window.scene`."""

    def answer(route: Route) -> None:
        name = route.request.url.removeprefix(ADDRESS)
        if not name:
            route.fulfill(body=PAGE, content_type="text/html")
        elif name == "three.js":
            route.fulfill(body=names_module(THREE, "/bundle.js"), content_type="text/javascript")
        else:
            path = THREE if name == "bundle.js" else PACKAGE / name[8:] if name.startswith("package/") else HERE / name
            route.fulfill(path=path, content_type="text/javascript")

    page = browser.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type in ("error", "warning") else None)
    page.route("**/*", answer)
    page.goto(ADDRESS)
    page.evaluate("async () => { window.scene = await import('/three_scene.js'); }")
    yield page
    page.close()
    assert [fault for fault in faults if "favicon" not in fault] == []


def encode(array: ArrayLike, kind: type = np.float32) -> str:
    return base64.b64encode(np.ascontiguousarray(array, kind).tobytes()).decode()


def decode(values: list[str], width: int) -> NDArray[np.float64]:
    """The values of each vertex, of one draw call after the other."""
    found = [np.frombuffer(base64.b64decode(each), np.float32).reshape(-1, width) for each in values]
    return np.concatenate(found).astype(np.float64)


def square(matrices: np.ndarray) -> NDArray[np.float64]:
    """Matrices (..., 4, 4)."""
    whole = np.zeros((*matrices.shape[:-2], 4, 4))
    whole[..., :3, :] = matrices[..., :3, :]
    whole[..., 3, 3] = 1
    return whole


def columns(array: ArrayLike) -> list[Any]:
    """An attribute as three_scene.js takes it."""
    return [encode(array), np.shape(array)[1]]


def arrays(skin: sbs.Skin, amount: ArrayLike = 1.0) -> dict[str, Any]:
    """A skin as three_scene.js builds it, of eight influences; for optimized centers if it has any."""
    assert skin.rest_normals is not None
    bound = skin.bound_influences(8)
    joints, weights = bound.joint_indices, bound.joint_weights
    first = weights[:, :4].sum(axis=1, keepdims=True)
    attributes = {
        "position": columns(skin.rest_positions),
        "normal": columns(skin.rest_normals),
        "skinIndex": columns(joints[:, :4]),
        "skinWeight": columns(weights[:, :4] / np.where(first > 0, first, 1)),  # as GLTFLoader makes them
    }
    if weights[:, 4:].any():
        attributes |= {"joints_1": columns(joints[:, 4:]), "weights_1": columns(weights[:, 4:])}
    if skin.centers is not None:
        attributes["_sbs_center"] = columns(np.c_[skin.centers, np.broadcast_to(amount, len(joints))])
    return {"joints": skin.joint_count, "attributes": attributes}


Vertices = tuple[np.ndarray, np.ndarray]  # positions and normals


@dataclass
class Errors:
    """The largest differences of some frames from the expected ones; lengths by the size of the character."""

    positions: float = 0.0
    normals: float = 0.0
    shadow: float = 0.0  # of clip positions
    picked: float = 0.0

    def check(self, positions: float = 6e-7) -> None:
        assert self.positions <= positions
        assert self.normals <= 5e-7
        assert self.shadow <= 1e-6
        assert self.picked <= 3e-7


def compare(frames: list[Any], expected: list[Vertices], size: float, counts: list[int] | None = None) -> Errors:
    """Frames of scene.frames, of meshes with so many vertices, which are drawn by three at a time."""
    errors = Errors()
    for frame, (positions, normals) in zip(frames, expected, strict=True):
        counts = counts or [len(positions)]
        starts = np.cumsum([0, *counts[:-1]])
        rows = np.concatenate([start + np.arange(count // 3 * 3) for start, count in zip(starts, counts, strict=True)])
        picks = np.concatenate([start + np.arange(0, count, STEP) for start, count in zip(starts, counts, strict=True)])
        drawn = decode(frame["drawn"]["vViewPosition,vNormal"], 6)
        clip = np.c_[positions, np.ones(len(positions))] @ np.reshape(frame["sun"], (4, 4))
        shadow = decode(frame["drawn"]["gl_Position"], 4) - clip[rows]
        picked = np.array(frame["picked"]) - positions[picks]
        errors = Errors(
            max(errors.positions, np.linalg.norm(-drawn[:, :3] - positions[rows], axis=1).max() / size),
            max(errors.normals, np.linalg.norm(drawn[:, 3:] - normals[rows], axis=1).max()),
            max(errors.shadow, np.abs(shadow).max() / np.abs(clip).max()),
            max(errors.picked, np.linalg.norm(picked, axis=1).max() / size),
        )
    return errors


def draw(page: Page, **given: Any) -> list[Any]:
    return page.evaluate("given => scene.frames(given)", given)  # type: ignore[no-any-return] # JSON


def diagonal(positions: np.ndarray) -> float:
    return float(np.linalg.norm(np.ptp(positions, axis=0)))


def options_of(center: str | None) -> Any:
    return {"center": center} if center else {"method": "linear"}


@pytest.mark.parametrize("name", characters.NAMES)
def test_characters(page: Page, name: str) -> None:
    """Positions are as near as those of three.js itself, by its linear blending of as many influences."""
    character = characters.load(name)
    rest = character.rest_positions.astype(np.float32)
    normals = character.rest_normals.astype(np.float32)
    bound = sbs.Skin.quietly(rest, character.joint_indices, character.joint_weights).bound_influences(8)
    joints, weights = bound.joint_indices, bound.joint_weights
    more: Any = {"parents": character.parents, "joint_positions": character.joint_positions}
    drawn = sbs.Skin.quietly(rest, joints, weights, rest_normals=normals, **more)
    exact = sbs.Skin.quietly(rest.astype(float), joints, weights, rest_normals=normals.astype(float), **more)
    poses = list(character.poses())
    poses = [poses[i] for i in np.linspace(0, len(poses) - 1, 3).astype(int)]
    matrices = np.array([character.clips[clip].skinning_matrices(frame) for clip, frame in poses])

    def errors(center: str | None) -> Errors:
        expected = [exact.deform(each, normals=True, **options_of(center)) for each in matrices]
        frames = draw(page, arrays=arrays(drawn), matrices=encode(square(matrices), np.float64), center=center)
        return compare(frames, expected, diagonal(rest))

    linear = errors(None).positions if not weights[:, 4:].any() else 1.5e-7
    for center in ("joint_set", "weighted"):
        errors(center).check(positions=min(6e-7, 4 * linear))


def with_turns(woman: sbs.Character) -> sbs.Character:
    """With an animation that turns all joints, some far and about their bones."""
    random = np.random.default_rng(1)
    local = np.tile(np.eye(3), (3, len(woman.skeleton), 1, 1))
    turns = 0.3 * random.standard_normal((len(woman.skeleton), 3))
    local[1] = rotations.matrices_from_rotation_vectors(turns)
    for joint, turn in {"LeftForeArm": (2.4, 0, 0), "LeftHand": (0, 0, 2.4), "LeftLeg": (2.0, 0, 0)}.items():
        local[2, woman.skeleton.index(joint)] = rotations.matrices_from_rotation_vectors(np.array(turn, float))
    clip = sbs.Animation.from_skinning_matrices("turns", [0.0, 1.0, 2.0], woman.skinning_matrices(local), woman.rig)
    return sbs.Character(woman.name, woman.mesh, woman.skeleton, woman.rig, sbs.Animations((clip,)))


@pytest.mark.parametrize("name", ["hand", "woman", "Rat"])
def test_files(page: Page, tmp_path: Path, name: str) -> None:
    """GLB files through GLTFLoader and AnimationMixer, by all kinds of centers; smooth twist is that of `for_engine`.

    Twist joints follow the pose, also between keys; in three.js alone they have the keys.
    """
    source = sbs.load(ROOT / "tests" / "data" / "Rat.glb") if name == "Rat" else sbs.samples.load(name)
    if name == "woman":
        source = with_turns(source)
    path = tmp_path / "web.glb"
    source.for_engine("three").save(path)
    made = sbs.load(path)
    mesh, clip = made.mesh, made.animations[0]
    assert mesh.normals is not None
    exact = sbs.Skin.quietly(
        np.float64(mesh.positions),
        mesh.joint_indices,
        mesh.joint_weights,
        parents=made.skeleton.parents,
        joint_positions=made.skeleton.joint_positions,
        rest_normals=np.float64(mesh.normals),
        centers=mesh.centers,
    )
    times = np.linspace(0, clip.duration, 5, endpoint=False).tolist()
    counts = [part.count for part in made.source.parts]  # type: ignore[attr-defined]
    given = {"file": encode(bytearray(path.read_bytes()), np.uint8), "clip": clip.name, "times": times}
    keyed = clip.skinning_matrices(times)
    following = sbs.limb_twist(source).pose(keyed[:, : len(source.skeleton)])

    def errors(center: str | None, options: Any) -> Errors:
        matrices = following if center else keyed
        expected = [exact.deform(each, normals=True, **options) for each in matrices]
        return compare(draw(page, **given, center=center), expected, diagonal(mesh.positions), counts)

    linear = errors(None, options_of(None)).positions if not mesh.joint_weights[:, 4:].any() else 1.5e-7
    for center in CENTERS:
        options = made.options if center == "optimized" else options_of(center)
        errors(center, options).check(positions=min(6e-7, 4 * linear))


@dataclass
class Hand:
    """The hand in three poses of its clip, with amounts of spherical blending for optimized centers."""

    drawn: sbs.Skin
    exact: sbs.Skin
    matrices: np.ndarray
    amount: np.ndarray

    def deform(self, center: str | None, matrices: np.ndarray | None = None, **more: Any) -> list[Vertices]:
        options = options_of(center) | ({"amount": self.amount} if center == "optimized" else {}) | more
        poses = self.matrices if matrices is None else matrices
        return [self.exact.deform(each, normals=True, **options) for each in poses]

    @property
    def size(self) -> float:
        return diagonal(self.drawn.rest_positions)

    def draw(self, page: Page, center: str | None, matrices: np.ndarray | None = None, **more: Any) -> list[Any]:
        poses = encode(square(self.matrices if matrices is None else matrices), np.float64)
        return draw(page, **{"arrays": arrays(self.drawn, self.amount), "center": center, "matrices": poses} | more)


def with_normals(skin: sbs.Skin, normals: np.ndarray) -> sbs.Skin:
    """The skin in float64 with other normals, and centers in float32 as files have them."""
    return sbs.Skin(
        np.float64(skin.rest_positions),
        skin.joint_indices,
        skin.joint_weights,
        parents=skin.parents,
        joint_positions=skin.joint_positions,
        rest_normals=normals.astype(float),
        centers=np.asarray(skin.centers, np.float32),
    )


@pytest.fixture(scope="module")
def hand() -> Hand:
    character = sbs.samples.load("hand")
    drawn = character.optimized_skin()
    exact = with_normals(drawn, np.asarray(drawn.rest_normals))
    amount = np.random.default_rng(0).uniform(0, 1, drawn.vertex_count).astype(np.float32)
    return Hand(drawn, exact, character.animations["fist"].skinning_matrices([0.3, 0.7, 0.95]), amount)


@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("scale", [0.01, -1.0])
def test_moved_scenes(page: Page, hand: Hand, center: str, scale: float) -> None:
    """A scene that is turned, moved, and made small, or mirrored."""
    around = np.eye(4)
    around[:3, :3] = scale * rotations.matrices_from_rotation_vectors(np.array([0.4, -1.0, 2.0]))
    around[:3, 3] = np.array([0.1, -0.2, 0.3]) * abs(scale)
    expected = [
        (positions @ around[:3, :3].T + around[:3, 3], normals @ around[:3, :3].T / abs(scale))
        for positions, normals in hand.deform(center)
    ]
    frames = hand.draw(page, center, around @ square(hand.matrices), around=around.ravel().tolist())
    compare(frames, expected, abs(scale) * hand.size).check()


@pytest.mark.parametrize("center", CENTERS)
def test_morph_targets(page: Page, hand: Hand, center: str) -> None:
    rest = hand.drawn.rest_positions
    deltas = np.float32(0.02 * np.sin(200 * rest[:, [1, 2, 0]]))
    given = arrays(hand.drawn, hand.amount) | {"morph": columns(deltas)}
    expected = hand.deform(center, rest_positions=np.float64(rest) + 0.5 * deltas)
    compare(hand.draw(page, center, arrays=given), expected, hand.size).check()


@pytest.mark.parametrize("center", CENTERS)
def test_tangents(page: Page, hand: Hand, center: str) -> None:
    """They turn as normals do; here they are the normals of a skin of their own."""
    tangents = np.roll(np.asarray(hand.drawn.rest_normals), 1, axis=1)
    given = arrays(hand.drawn, hand.amount)
    given["attributes"]["tangent"] = columns(np.c_[tangents, np.ones(len(tangents))])
    hand = replace(hand, exact=with_normals(hand.exact, tangents))
    expected = hand.deform(center)
    for frame, (_, turned) in zip(hand.draw(page, center, arrays=given), expected, strict=True):
        drawn = decode(frame["drawn"]["vViewPosition,vNormal,vTangent"], 9)[:, 6:]
        assert np.linalg.norm(drawn - turned[: len(drawn)], axis=1).max() <= 5e-7


@pytest.mark.parametrize("center", CENTERS)
def test_shadows_of_point_lights(page: Page, hand: Hand, center: str) -> None:
    """They are drawn in six directions."""
    frames = hand.draw(page, center, light="PointLight")
    for frame, (positions, _) in zip(frames, hand.deform(center), strict=True):
        shadows = frame["drawn"]["vWorldPosition"]
        assert len(shadows) == 6
        for each in shadows:
            drawn = decode([each], 3)
            assert np.linalg.norm(drawn - positions[: len(drawn)], axis=1).max() <= 6e-7 * hand.size


@pytest.mark.parametrize("center", ["optimized", "weighted"])
@pytest.mark.parametrize("stretched", [False, True])
def test_scaled_joints(page: Page, hand: Hand, center: str, stretched: bool) -> None:
    """Joints that are scaled differently, and blend spherically; of stretched ones weighted centers have positions."""
    hand = replace(hand, amount=np.ones(len(hand.amount)))
    random = np.random.default_rng(3)
    scales = random.uniform(0.8, 1.25, (hand.matrices.shape[1], 3 if stretched else 1)) * np.ones(3)
    about = square(np.tile(np.eye(3, 4), (len(scales), 1, 1)))
    about[:, :3, :3] *= scales[:, :, None]
    places = np.asarray(hand.drawn.joint_positions)
    about[:, :3, 3] = places - scales * places
    matrices = square(hand.matrices) @ about
    errors = compare(hand.draw(page, center, matrices), hand.deform(center, matrices), hand.size)
    assert errors.picked <= 3e-7 or center == "optimized"
    if not stretched:
        errors.check()
    elif center == "weighted":
        assert errors.positions <= 6e-7


def test_any_order_of_influences(page: Page, hand: Hand) -> None:
    """Equal weights, heavy ones last, more than four; and vertices without weights, which stay where they are."""
    random = np.random.default_rng(5)
    rest = hand.drawn.rest_positions
    joints = np.array([random.choice(hand.drawn.joint_count, 8, replace=False) for _ in rest])
    weights = random.choice([0, 1, 1, 2, 5], (len(rest), 8)) / 64
    weights[:, 7] += 0.1
    weights[0] = 0
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1e-9)
    given = arrays(hand.drawn)
    first = weights[:, :4].sum(axis=1, keepdims=True)
    given["attributes"] |= {
        "skinIndex": columns(joints[:, :4]),
        "skinWeight": columns(weights[:, :4] / np.where(first > 0, first, 1)),
        "joints_1": columns(joints[:, 4:]),
        "weights_1": columns(weights[:, 4:]),
    }
    more: Any = {"parents": hand.drawn.parents, "joint_positions": hand.drawn.joint_positions}
    normals = np.asarray(hand.drawn.rest_normals, float)
    exact = sbs.Skin.quietly(rest.astype(float), joints, weights.astype(np.float32), rest_normals=normals, **more)
    for center in ("joint_set", "weighted"):
        expected = [exact.deform(each, normals=True, center=center) for each in hand.matrices]
        compare(hand.draw(page, center, arrays=given), expected, hand.size).check(positions=1e-6)


@pytest.mark.parametrize("angle", [1.0, 1e-2, 1e-3, 1e-4])
def test_random_joints(page: Page, angle: float) -> None:
    """Joints that are turned little and moved far have centers far away."""
    random = np.random.default_rng(0)
    rest = random.uniform(-1, 1, (510, 3)).astype(np.float32)
    normals = (rest / np.linalg.norm(rest, axis=1, keepdims=True)).astype(np.float32)
    joints = np.tile(np.arange(4), (len(rest), 1))
    weights = random.dirichlet(np.ones(4), len(rest)).astype(np.float32)
    drawn = sbs.Skin(rest, joints, weights, rest_normals=normals)
    exact = sbs.Skin(rest.astype(float), joints, weights, rest_normals=normals.astype(float))
    matrices = np.tile(np.eye(3, 4), (8, 4, 1, 1))
    matrices[..., :3] = rotations.matrices_from_rotation_vectors(angle * random.standard_normal((8, 4, 3)))
    matrices[..., 3] = 0.1 * random.standard_normal((8, 4, 3))
    for center in ("joint_set", "weighted"):
        expected = [exact.deform(each, normals=True, center=center) for each in matrices]
        frames = draw(page, arrays=arrays(drawn), matrices=encode(square(matrices), np.float64), center=center)
        compare(frames, expected, diagonal(rest)).check(positions=2e-7 if center == "joint_set" else 6e-7)


# Two meshes of one geometry and one material on one skeleton, and how they are drawn before and after.
UNDO = """async ([arrays, pose, center]) => {
  const { THREE, build, pose: setPose, draw, sphericalSkinning, linearSkinning, centerOf } = scene;
  const { scene: root, meshes: [mesh] } = build(arrays);
  const other = mesh.clone();
  other.castShadow = true;
  other.frustumCulled = false;
  other.renderOrder = 1;
  root.add(other);
  other.bind(mesh.skeleton, other.bindMatrix);
  setPose(mesh, scene.floats(pose));
  const state = () => [mesh.material, mesh.geometry, mesh.customDepthMaterial, mesh.customDistanceMaterial,
    mesh.applyBoneTransform, mesh.skeleton.update, mesh.skeleton.computeBoneTexture, ...Object.keys(mesh)];
  const box = () => (mesh.computeBoundingBox(), mesh.boundingBox.clone());
  const before = state(), linear = draw(root), linearBox = box();
  for (const each of [center, "weighted", center]) sphericalSkinning(mesh, { center: centerOf(each) });
  const one = draw(root), sphericalBox = box();
  sphericalSkinning(other, { center: centerOf(center) });
  const shared = other.material === mesh.material && other.geometry === mesh.geometry;
  const both = draw(root);
  linearSkinning(other);
  const again = draw(root);
  linearSkinning(mesh);
  linearSkinning(mesh);
  const after = state();
  return {
    linear, one, both, again, shared, undone: draw(root),
    same: before.length === after.length && before.every((value, i) => value === after[i]),
    boxes: [linearBox, sphericalBox, box()].map(({ min, max }) => [min.toArray(), max.toArray()]),
  };
}"""


@pytest.mark.parametrize("center", CENTERS)
def test_two_meshes_and_undo(page: Page, hand: Hand, center: str) -> None:
    """A linear mesh with the same material, geometry and skeleton is drawn as before, and so is one after undo."""
    pose = encode(square(hand.matrices[0]), np.float64)
    found = page.evaluate(UNDO, [arrays(hand.drawn, hand.amount), pose, center])
    main = "vViewPosition,vNormal"
    assert found["one"][main][1] == found["linear"][main][0]
    assert found["one"]["gl_Position"][1] == found["linear"]["gl_Position"][0]
    assert found["shared"]
    assert found["both"][main] == found["one"][main][:1] * 2
    assert found["both"]["gl_Position"] == found["one"]["gl_Position"][:1] * 2
    assert found["again"] == found["one"]
    assert found["undone"] == found["linear"]
    assert found["same"]
    (expected, _), (linear, _) = hand.deform(center)[0], hand.deform(None)[0]
    size = len(expected) // 3 * 3
    drawn = decode(found["one"][main][:1], 6)
    assert np.linalg.norm(-drawn[:, :3] - expected[:size], axis=1).max() <= 6e-7 * hand.size
    for box, positions in zip(found["boxes"], (linear, expected, linear), strict=True):
        np.testing.assert_allclose(box, [positions.min(axis=0), positions.max(axis=0)], atol=6e-7 * hand.size)


OTHERS = """([arrays]) => {
  const { THREE, build, sphericalSkinning, linearSkinning } = scene;
  const { meshes: [mesh] } = build(arrays);
  sphericalSkinning(mesh);
  const material = (mesh.material = new THREE.MeshPhongMaterial());
  const geometry = (mesh.geometry = mesh.geometry.clone());
  sphericalSkinning(mesh);
  const copied = mesh.material !== material && mesh.material.isMeshPhongMaterial;
  linearSkinning(mesh);
  return copied && mesh.material === material && mesh.geometry === geometry;
}"""


def test_another_material(page: Page, hand: Hand) -> None:
    """Changes of a mesh in the meantime stay."""
    assert page.evaluate(OTHERS, [arrays(hand.drawn)])


# A scene copied by SkeletonUtils.clone of three.js, drawn in another pose; `told`: the package knows of the copy.
CLONE = """async ([arrays, poses, center, told]) => {
  const { THREE, build, stage, pose, draw, sphericalSkinning, linearSkinning, centerOf } = scene;
  const { meshes: [source] } = build(arrays);
  sphericalSkinning(source, { center: centerOf(center) });
  const copy = source.clone();
  const { boneInverses } = source.skeleton;
  copy.bind(new THREE.Skeleton(copy.children.filter((child) => child.isBone), boneInverses), source.bindMatrix);
  const { scene: root } = stage(copy, {});
  const [first, second] = poses.map(scene.floats);
  pose(source, first);
  pose(copy, second);
  if (told) sphericalSkinning(copy, { center: centerOf(center) });
  const before = copy.material;
  const frames = [draw(root), draw(root)];
  const shared = copy.material === source.material && before === copy.material;
  linearSkinning(copy);
  return { frames, shared, linear: draw(root) };
}"""


@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("told", [True, False])
def test_copies(page: Page, hand: Hand, center: str, told: bool) -> None:
    """Copies with skeletons of their own; one that was not given to the package gets its shadow in the second frame."""
    poses = [encode(square(each), np.float64) for each in hand.matrices[:2]]
    found = page.evaluate(CLONE, [arrays(hand.drawn, hand.amount), poses, center, told])
    (expected, _), (linear, _) = hand.deform(center)[1], hand.deform(None)[1]
    size = len(expected) // 3 * 3
    for frame in found["frames"]:
        drawn = decode(frame["vViewPosition,vNormal"], 6)
        assert np.linalg.norm(-drawn[:, :3] - expected[:size], axis=1).max() <= 6e-7 * hand.size
    shadows = [frame["gl_Position"] for frame in found["frames"]]
    assert (shadows[0] == shadows[1]) == told
    assert found["shared"]
    drawn = decode(found["linear"]["vViewPosition,vNormal"], 6)
    assert np.linalg.norm(-drawn[:, :3] - linear[:size], axis=1).max() <= 6e-7 * hand.size


ERRORS = """([arrays]) => {
  const { THREE, build, sphericalSkinning } = scene;
  const make = (change) => {
    const { meshes: [mesh] } = build(arrays);
    change(mesh);
    return mesh;
  };
  const remove = (...names) => (mesh) => names.forEach((name) => mesh.geometry.deleteAttribute(name));
  const cases = [
    [new THREE.Mesh()], [new THREE.InstancedMesh(undefined, undefined, 1)], [undefined], [new THREE.SkinnedMesh()],
    [make(() => {}), "nearest"], [make(remove("_sbs_center")), "optimized"], [make(remove("skinWeight"))],
    [make((mesh) => mesh.geometry.setAttribute("joints_2", mesh.geometry.attributes.skinIndex))],
    [make((mesh) => (mesh.material.isNodeMaterial = true))],
  ];
  const messages = cases.map(([mesh, center]) => {
    const before = mesh?.material;
    try {
      sphericalSkinning(mesh, { center });
    } catch (error) {
      return mesh?.material === before && mesh?.customDepthMaterial === undefined && error.message;
    }
  });
  const { material } = sphericalSkinning(make(() => {}));
  for (const call of [() => material.onBeforeRender({ isWebGPURenderer: true }),
                      () => material.onBeforeCompile({ vertexShader: "void main() {}" })]) {
    try {
      call();
    } catch (error) {
      messages.push(error.message);
    }
  }
  return messages;
}"""


def test_errors(page: Page, hand: Hand) -> None:
    """Where it cannot, it says so, and leaves the mesh as it was."""
    messages = page.evaluate(ERRORS, [arrays(hand.drawn)])
    wanted = ["SkinnedMesh"] * 3 + ["skeleton", '"nearest"', "_SBS_CENTER", "skinWeight", "eight", "node materials"]
    for message, part in zip(messages, [*wanted, "WebGLRenderer", "skinning_pars_vertex"], strict=True):
        assert part in message


def test_rays(page: Page, hand: Hand) -> None:
    """A ray hits the triangle of posed vertices that it aims at."""
    found = page.evaluate(RAYS, [arrays(hand.drawn, hand.amount), encode(square(hand.matrices[1]), np.float64)])
    expected, _ = hand.deform("optimized")[1]
    for first, point in found:
        middle = expected[first : first + 3].mean(axis=0)
        assert np.linalg.norm(point - middle) <= 1e-6 * hand.size


# Rays to the middle of triangles of three vertices that follow each other, from near in front of them.
RAYS = """([arrays, pose]) => {
  const { THREE, build, pose: setPose, sphericalSkinning } = scene;
  const { meshes: [mesh] } = build(arrays);
  setPose(mesh, scene.floats(pose));
  mesh.material.side = THREE.DoubleSide;
  sphericalSkinning(mesh);
  const found = [];
  for (let first = 0; first < 300; first += 30) {
    const corners = [0, 1, 2].map((k) => mesh.localToWorld(mesh.getVertexPosition(first + k, new THREE.Vector3())));
    const triangle = new THREE.Triangle(...corners), normal = triangle.getNormal(new THREE.Vector3());
    const middle = triangle.getMidpoint(new THREE.Vector3());
    const ray = new THREE.Raycaster(middle.clone().addScaledVector(normal, 1e-4), normal.clone().negate());
    const [hit] = ray.intersectObject(mesh).filter(({ face }) => face.a === first);
    found.push([first, hit.point.toArray()]);
  }
  return found;
}"""


def test_page_of_readme(browser: Browser, tmp_path: Path) -> None:
    """The page of the README shows a character, by addresses that are answered here."""
    text = (PACKAGE / "README.md").read_text(encoding="utf-8")
    (html,) = re.findall(r"```html\n(.*?)```", text, re.DOTALL)
    (_, hero) = sbs.samples.copy(tmp_path)
    bundle = "https://cdn.jsdelivr.net/bundle.js"

    def answer(route: Route) -> None:
        name = route.request.url.removeprefix(ADDRESS)
        kind = "text/javascript"
        if not name:
            route.fulfill(body=html, content_type="text/html")
        elif name == "hero.glb":
            route.fulfill(path=hero)
        elif name.startswith("three-spherical-skinning/"):
            route.fulfill(path=PACKAGE / name.partition("/")[2], content_type=kind)
        elif name.endswith("npm/three@0.180.0/build/three.module.js"):
            route.fulfill(body=names_module(THREE, bundle), content_type=kind)
        elif name == bundle:
            route.fulfill(path=THREE, content_type=kind)
        else:
            route.fulfill(body=f'export {{ GLTFLoader, OrbitControls }} from "{bundle}";', content_type=kind)

    own = browser.new_page(viewport={"width": 300, "height": 300})
    faults: list[str] = []
    own.on("pageerror", lambda error: faults.append(str(error)))
    own.route("**/*", answer)
    own.goto(ADDRESS)
    own.wait_for_selector("canvas")
    own.wait_for_timeout(500)
    picture = np.asarray(Image.open(io.BytesIO(own.screenshot())).convert("RGB"))
    own.close()
    assert faults == []
    assert np.ptp(picture[100:200, 100:200].reshape(-1, 3), axis=0).max() > 30


MATERIALS = """([arrays, pose, center]) => {
  const { THREE, build, pose: setPose, draw, sphericalSkinning, centerOf } = scene;
  const names = ["Basic", "Lambert", "Phong", "Toon", "Matcap", "Normal", "Standard", "Physical"];
  return names.map((name) => {
    const { scene: root, meshes: [mesh] } = build(arrays);
    setPose(mesh, scene.floats(pose));
    const material = new THREE[`Mesh${name}Material`]();
    let compiled = 0;
    mesh.castShadow = false;
    material.onBeforeCompile = () => compiled++;
    mesh.material = [material, new THREE.MeshBasicMaterial()];
    mesh.geometry.addGroup(0, Infinity, 0);
    sphericalSkinning(mesh, { center: centerOf(center) });
    const { "vViewPosition,vNormal": view, gl_Position: clip } = draw(root);
    return { name, compiled, view, clip, projection: scene.camera.projectionMatrix.toArray() };
  });
}"""


@pytest.mark.parametrize("center", CENTERS)
def test_materials(page: Page, hand: Hand, center: str) -> None:
    """All that are built in, in a list of materials, whose own changes of shaders are made."""
    pose = encode(square(hand.matrices[0]), np.float64)
    expected, _ = hand.deform(center)[0]
    for found in page.evaluate(MATERIALS, [arrays(hand.drawn, hand.amount), pose, center]):
        assert found["compiled"] == 1
        if found["name"] == "Standard":
            errors = decode(found["view"], 6)[:, :3] + expected[:-1]
        else:
            clip = np.c_[expected, np.ones(len(expected))] @ np.reshape(found["projection"], (4, 4))
            errors = decode(found["clip"], 4) - clip[:-1]
        assert np.linalg.norm(errors, axis=1).max() <= 6e-7 * hand.size
        assert len(errors) == 1359


def imported(name: str) -> dict[str, str]:
    """The text of a module of the package, and of all that it imports."""
    text = (PACKAGE / name).read_text(encoding="utf-8")
    found = {name: text}
    for other in re.findall(r'from "\./(.*?)"', text):
        found |= imported(other)
    return found


def test_package() -> None:
    """All modules are imported but joint sets and drivers, which are apart, and all files that it exports are there."""
    apart = {"joint-set.js", "pose-drivers.js"}
    assert imported("index.js").keys() | apart == {path.name for path in PACKAGE.glob("*.js")}
    package = json.loads((PACKAGE / "package.json").read_text(encoding="utf-8"))
    for entry in package["exports"].values():
        assert (PACKAGE / entry["default"]).exists()
        assert (PACKAGE / entry["types"]).exists()
