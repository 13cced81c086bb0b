# SPDX-License-Identifier: MIT
"""`engines/three` in three.js, which has to draw what the library deforms.

three.js is r180, which ``make build/three/index.js`` takes from the wheel of NiceGUI; both have the MIT licence.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Browser, Page, Route

import sbs

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "python"))
import characters  # noqa: E402

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

pytestmark = pytest.mark.skipif(not THREE.exists(), reason="make build/three/index.js gets three.js")


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """A page that can import the package, and three_scene.js as `window.scene`."""

    def answer(route: Route) -> None:
        name = route.request.url.removeprefix(ADDRESS)
        if not name:
            route.fulfill(body=PAGE, content_type="text/html")
        elif name == "three.js":
            body = f'import {{ THREE }} from "/bundle.js";\nexport const {{ {", ".join(names)} }} = THREE;\n'
            route.fulfill(body=body, content_type="text/javascript")
        else:
            path = THREE if name == "bundle.js" else PACKAGE / name[8:] if name.startswith("package/") else HERE / name
            route.fulfill(path=path, content_type="text/javascript")

    page = browser.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type in ("error", "warning") else None)
    page.route("**/*", answer)
    page.goto(ADDRESS)
    # The bundle exports "three" as one object.
    names = page.evaluate("async () => Object.keys((await import('/bundle.js')).THREE)")
    page.evaluate("async () => { window.scene = await import('/three_scene.js'); }")
    yield page
    page.close()
    assert [fault for fault in faults if "favicon" not in fault] == []


def encode(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


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


def arrays(skin: sbs.Skin, amount: Any = 1.0) -> dict[str, Any]:
    """A skin as three_scene.js builds it, of eight influences; for optimized centers if it has any."""
    bound = skin.bound_influences(8)
    joints, weights = bound.joint_indices, bound.joint_weights
    attributes = {
        "position": skin.rest_positions,
        "normal": skin.rest_normals,
        "skinIndex": joints[:, :4],
        "skinWeight": weights[:, :4] / weights[:, :4].sum(axis=1, keepdims=True),  # as GLTFLoader makes them
    }
    if weights[:, 4:].any():
        attributes |= {"joints_1": joints[:, 4:], "weights_1": weights[:, 4:]}
    if skin.has_centers:
        attributes["_sbs_center"] = np.c_[skin.centers, np.broadcast_to(amount, len(joints))]
    return {
        "joints": skin.joint_count,
        "attributes": {
            name: [encode(np.asarray(data, np.float32)), data.shape[1]] for name, data in attributes.items()
        },
    }


def check(frames: list[Any], expected: list[tuple[np.ndarray, np.ndarray]], size: float) -> list[float]:
    """The largest errors of positions, normals, clip positions of the shadow, and picked positions."""
    worst = np.zeros(4)
    for frame, (positions, normals) in zip(frames, expected, strict=True):
        drawn = decode(frame["drawn"]["vViewPosition,vNormal"], 6)
        count = len(drawn)
        worst[0] = max(worst[0], np.linalg.norm(-drawn[:, :3] - positions[:count], axis=1).max() / size)
        worst[1] = max(worst[1], np.linalg.norm(drawn[:, 3:] - normals[:count], axis=1).max())
        clip = np.c_[positions, np.ones(len(positions))] @ np.reshape(frame["sun"], (4, 4))
        shadow = decode(frame["drawn"]["gl_Position"], 4)
        worst[2] = max(worst[2], np.abs(shadow - clip[:count]).max() / np.abs(clip).max())
        picked = np.array(frame["picked"])
        worst[3] = max(worst[3], np.linalg.norm(picked - positions[::97], axis=1).max() / size)
    return worst.tolist()


def pair(make: Any) -> tuple[sbs.Skin, sbs.Skin]:
    """A skin in float32, and in float64 of the same numbers."""
    return make(np.float32), make(np.float64)


@pytest.mark.parametrize("name", characters.NAMES)
def test_characters(page: Page, name: str) -> None:
    """Positions are as near as those of three.js itself, by its linear blending of as many influences.

    Weighted centers are not bound to that: a few vertices, whose joints turn about nearly one axis, have equations that
    float32 can hardly tell from singular ones.
    """
    character = characters.load(name)
    rest, normals = np.float32(character.rest_positions), np.float32(character.rest_normals)
    bound = sbs.Skin.quietly(rest, character.joint_indices, character.joint_weights).bound_influences(8)
    joints, weights = bound.joint_indices, bound.joint_weights
    more: Any = {"parents": character.parents, "joint_positions": character.joint_positions}
    drawn, exact = pair(
        lambda kind: sbs.Skin.quietly(rest.astype(kind), joints, weights, rest_normals=normals.astype(kind), **more)
    )
    poses = list(character.poses())
    poses = [poses[i] for i in np.linspace(0, len(poses) - 1, 3).astype(int)]
    matrices = np.array([character.clips[clip].skinning_matrices(frame) for clip, frame in poses])
    given = {"arrays": arrays(drawn), "matrices": encode(square(matrices))}
    size = float(np.linalg.norm(np.ptp(rest, axis=0)))

    def errors(center: str | None) -> list[float]:
        frames = page.evaluate("given => scene.frames(given)", given | {"center": center})
        options: Any = {"center": center} if center else {"method": "linear"}
        return check(frames, [exact.deform(each, normals=True, **options) for each in matrices], size)

    linear = errors(None)[0] if not weights[:, 4:].any() else 1.5e-7
    for center in ("joint_set", "weighted"):
        positions, turned, shadow, picked = errors(center)
        assert positions <= (6e-7 if center == "weighted" else min(6e-7, 4 * linear))
        assert turned <= 5e-7
        assert shadow <= 1e-6
        assert picked <= 3e-7


@pytest.mark.parametrize("name", ["hand", "Rat"])
def test_converted_files(page: Page, tmp_path: Path, name: str) -> None:
    """Files of `for_engine`, through GLTFLoader and AnimationMixer, are drawn as the library deforms them."""
    path = tmp_path / "web.glb"
    source = sbs.samples.load(name) if name == "hand" else sbs.load(ROOT / "tests" / "data" / f"{name}.glb")
    source.for_engine("three").save(path)
    made = sbs.load(path)
    mesh, clip = made.mesh, made.animations[0]
    assert mesh.normals is not None
    exact = sbs.Skin.quietly(
        np.float64(mesh.positions),
        mesh.joint_indices,
        mesh.joint_weights,
        joint_count=len(made.skeleton),
        rest_normals=np.float64(mesh.normals),
        centers=mesh.centers,
    )
    times = np.linspace(0, clip.duration, 5, endpoint=False).tolist()
    file = base64.b64encode(path.read_bytes()).decode()
    given = {"file": file, "clip": clip.name, "times": times, "center": "optimized"}
    frames = page.evaluate("given => scene.frames(given)", given)
    # Each primitive is drawn by three vertices at a time.
    parts = made.source.parts  # type: ignore[attr-defined]
    rows = np.concatenate([part.first + np.arange(part.count // 3 * 3) for part in parts])
    size = float(np.linalg.norm(np.ptp(mesh.positions, axis=0)))
    for time, frame in zip(times, frames, strict=True):
        positions, normals = exact.deform(clip.skinning_matrices(time), normals=True, **made.options)
        drawn = decode(frame["drawn"]["vViewPosition,vNormal"], 6)
        assert np.linalg.norm(-drawn[:, :3] - positions[rows], axis=1).max() <= 3e-7 * size
        assert np.linalg.norm(drawn[:, 3:] - normals[rows], axis=1).max() <= 5e-7
