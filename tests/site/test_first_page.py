# SPDX-License-Identifier: MIT
"""The character of the first page: WebAssembly gives the results of the C library here."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pygltflib
import pytest
from browsing import Visit
from numpy.typing import NDArray
from playwright.sync_api import Page

import sbs

DATA = Path(__file__).parents[1] / "data"
METHODS: tuple[Any, ...] = ("LBS", "smooth twist", "SBS", "DQS", "optimized", "twist")

POSITIONS = """([method, bend, twist]) => {
  const page = window.sbsPage;
  page.controls.method.value = method;
  page.controls.bend.value = bend;
  page.controls.twist.value = twist;
  const frame = page.deform();
  return [BYTES(frame.positions), BYTES(frame.normals), BYTES(page.matrices)];
}"""
CHARACTER = """() => {
  const { positions, normals, joints, weights, parents, bind, influences } = window.sbsPage.character;
  return { influences, positions: BYTES(positions), normals: BYTES(normals), joints: BYTES(joints),
           weights: BYTES(weights), parents: BYTES(parents), bind: BYTES(bind) };
}"""
BYTES = """(function (array) {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  let text = "";
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text);
})"""


def ask(page: Page, script: str, argument: Any = None) -> Any:
    return page.evaluate(script.replace("BYTES", BYTES), argument)


def array(text: str, dtype: str, *shape: int) -> NDArray[Any]:
    return np.frombuffer(base64.b64decode(text), dtype).reshape(shape)


def opened(visit: Visit) -> Page:
    page = visit.open("index.html")
    page.wait_for_selector("#try[data-state=ready]")
    return page


def loaded(page: Page) -> dict[str, Any]:
    """The arrays of the page's character."""
    found = ask(page, CHARACTER)
    k = found["influences"]
    return {
        "rest_positions": array(found["positions"], "<f4", -1, 3),
        "rest_normals": array(found["normals"], "<f4", -1, 3),
        "joint_indices": array(found["joints"], "<i4", -1, k),
        "joint_weights": array(found["weights"], "<f4", -1, k),
        "parents": array(found["parents"], "<i4", -1),
        "joint_positions": array(found["bind"], "<f8", -1, 3),
    }


def expected(character: sbs.Character, method: Any, matrices: NDArray[np.float64], limbs: Any = None) -> Any:
    """Positions and normals by the library as it is here."""
    twist = sbs.limb_twist(character, limbs)
    if method == "smooth twist":
        skin = character.twisted_skin(twist, optimized=True)
        amount = sbs.twist_amounts(character, twist)
        return skin.deform(matrices, center="optimized", amount=amount, normals=True)
    if method == "twist":
        return character.twisted_skin(twist).deform(matrices, center="weighted", normals=True)
    if method == "optimized":
        return character.optimized_skin().deform(matrices, center="optimized", normals=True)
    return character.skin.deform(matrices, method=method, normals=True)


def test_opens_in_the_default_of_the_addon(visit: Visit) -> None:
    page = opened(visit)
    assert page.text_content(".try-methods label:has(:checked)") == "smooth twist"
    assert (page.input_value("input[name=bend]"), page.input_value("input[name=twist]")) == ("60", "150")


@pytest.mark.parametrize("sample", sbs.samples.NAMES)
def test_positions_are_those_of_the_library(visit: Visit, sample: str) -> None:
    page = opened(visit)
    page.select_option("select[name=sample]", sample)
    character = sbs.samples.load(sample)
    page.wait_for_function(f"window.sbsPage.character.vertexCount === {len(character.mesh.positions)}")
    arrays = loaded(page)
    np.testing.assert_array_equal(arrays["rest_positions"], character.mesh.positions)
    np.testing.assert_array_equal(arrays["parents"], character.skeleton.parents)
    np.testing.assert_allclose(arrays["joint_positions"], character.skeleton.joint_positions, atol=1e-6)
    # The bound of sbs.h for float32 and weighted centers: 1e-6 of the size; and both round.
    tolerance = 2e-6 * np.ptp(character.mesh.positions, axis=0).max()
    for bend, twist in ((0, 0), (0, 150), (90, 0), (-60, -120)):
        for number, method in enumerate(METHODS):
            found, normals, matrices = ask(page, POSITIONS, [number, bend, twist])
            pose = array(matrices, "<f8", -1, 3, 4)
            want, want_normals = expected(character, method, pose)
            np.testing.assert_allclose(array(found, "<f4", -1, 3), want, rtol=0, atol=tolerance, err_msg=method)
            # The normal of a triangle that is folded flat hangs on the last bit: all but a few.
            off = np.linalg.norm(array(normals, "<f4", -1, 3) - want_normals, axis=1)
            assert np.quantile(off, 0.999) < 1e-3, method


def test_a_file_of_ones_own(visit: Visit) -> None:
    page = opened(visit)
    page.set_input_files("input[name=file]", DATA / "Fox.glb")
    fox = sbs.load(DATA / "Fox.glb")
    page.wait_for_function(f"window.sbsPage.character.vertexCount === {len(fox.mesh.positions)}")
    fox = fox.with_mesh(replace(fox.mesh, normals=loaded(page)["rest_normals"]))  # which the file lacks
    joint = page.eval_on_selector("select[name=joint]", "select => select.selectedOptions[0].text")
    for number, method in enumerate(METHODS):
        found, _, matrices = ask(page, POSITIONS, [number, 70, 40])
        want, _ = expected(fox, method, array(matrices, "<f8", -1, 3, 4), [joint])
        size = np.ptp(want, axis=0).max()
        np.testing.assert_allclose(array(found, "<f4", -1, 3), want, rtol=0, atol=2e-6 * size, err_msg=method)


# A turn by 90 degrees about x, and a movement.
OTHER_SPACE = np.array([[1.0, 0, 0, 3], [0, 0, -1, 0.5], [0, 1, 0, -2], [0, 0, 0, 1]])


def with_more_skins(path: Path, output: Path) -> int:
    """Write a file with its mesh three times, and how many vertices that are.

    The second has a skin that lists the joints the other way round and is bound in another space, the third one whose
    joint is none of the skeleton, with vertices that have no weight. None looks other than the first.
    """
    file = pygltflib.GLTF2.load_binary(str(path))
    data = bytearray(file.binary_blob())

    def values(number: int) -> NDArray[np.float32]:
        accessor = file.accessors[number]
        begin = file.bufferViews[accessor.bufferView].byteOffset
        width = {"VEC3": 3, "VEC4": 4, "MAT4": 16}[accessor.type]
        return np.frombuffer(bytes(data), "<f4", accessor.count * width, begin).reshape(-1, width)

    def add(rows: NDArray[Any], kind: str, component: int) -> int:
        packed = np.ascontiguousarray(rows).tobytes()
        view = pygltflib.BufferView(buffer=0, byteOffset=len(data), byteLength=len(packed))
        data.extend(packed)
        file.bufferViews.append(view)
        number = len(file.bufferViews) - 1
        file.accessors.append(
            pygltflib.Accessor(bufferView=number, componentType=component, count=len(rows), type=kind)
        )
        return len(file.accessors) - 1

    def use(attributes: pygltflib.Attributes, joints: list[int], matrices: NDArray[np.float64]) -> None:
        columns = matrices.transpose(0, 2, 1).reshape(-1, 16).astype("<f4")
        inverse = add(columns, "MAT4", pygltflib.FLOAT)
        file.skins.append(pygltflib.Skin(joints=joints, inverseBindMatrices=inverse))
        indices = file.meshes[0].primitives[0].indices
        primitive = pygltflib.Primitive(attributes=attributes, indices=indices)
        file.meshes.append(pygltflib.Mesh(primitives=[primitive]))
        file.nodes.append(pygltflib.Node(mesh=len(file.meshes) - 1, skin=len(file.skins) - 1))

    first = file.meshes[0].primitives[0].attributes
    positions = values(first.POSITION).astype(float)
    joints = file.skins[0].joints
    matrices = values(file.skins[0].inverseBindMatrices).reshape(-1, 4, 4).transpose(0, 2, 1).astype(float)
    count = len(positions)
    begin = file.bufferViews[file.accessors[first.JOINTS_0].bufferView].byteOffset
    rows = np.frombuffer(bytes(data), np.uint8, 4 * count, begin).reshape(-1, 4)

    elsewhere = positions @ OTHER_SPACE[:3, :3].T + OTHER_SPACE[:3, 3]
    others = pygltflib.Attributes(
        POSITION=add(elsewhere.astype("<f4"), "VEC3", pygltflib.FLOAT),
        JOINTS_0=add(len(joints) - 1 - rows, "VEC4", pygltflib.UNSIGNED_BYTE),
        WEIGHTS_0=first.WEIGHTS_0,
    )
    use(others, joints[::-1], matrices[::-1] @ np.linalg.inv(OTHER_SPACE))

    file.nodes.append(pygltflib.Node(name="another", scale=[2.0] * 3, rotation=[0.0, 0.0, 0.6, 0.8]))
    still = pygltflib.Attributes(
        POSITION=first.POSITION,
        JOINTS_0=add(np.zeros((count, 4), np.uint8), "VEC4", pygltflib.UNSIGNED_BYTE),
        WEIGHTS_0=add(np.zeros((count, 4), "<f4"), "VEC4", pygltflib.FLOAT),
    )
    use(still, [len(file.nodes) - 1], np.eye(4)[None])
    file.buffers[0].byteLength = len(data)
    file.set_binary_blob(bytes(data))
    file.save_binary(str(output))
    return 3 * count


def test_all_skins_of_a_file(visit: Visit, tmp_path: Path) -> None:
    count = with_more_skins(DATA / "arm.glb", tmp_path / "three.glb")
    page = opened(visit)
    page.set_input_files("input[name=file]", tmp_path / "three.glb")
    page.wait_for_function(f"window.sbsPage.character.vertexCount === {count}")
    for bend in (0, 80):
        found, _, _ = ask(page, POSITIONS, [0, bend, 0])
        first, second, third = array(found, "<f4", 3, -1, 3)
        # Each is stored as float32 in its own space, of a size of about 10 in the scene.
        np.testing.assert_allclose(second, first, rtol=0, atol=1e-5)
    # A vertex without weight goes with the joint: from the space of the mesh by a turn and a scale of 2.
    mesh = loaded(page)["rest_positions"][-len(third) :].astype(float)
    lengths = np.linalg.norm(np.diff(third, axis=0), axis=1) / np.linalg.norm(np.diff(mesh, axis=0), axis=1)
    np.testing.assert_allclose(lengths, 2, rtol=1e-6)
    names = page.eval_on_selector_all("select[name=joint] option", "all => all.map(option => option.text)")
    assert sorted(names) == ["another", "elbow", "shoulder"]


def test_a_file_is_seen_as_a_whole(visit: Visit) -> None:
    page = opened(visit)
    page.set_input_files("input[name=file]", DATA / "Rat.glb")
    rat = sbs.load(DATA / "Rat.glb")
    page.wait_for_function(f"window.sbsPage.character.vertexCount === {len(rat.mesh.positions)}")
    assert page.input_value("input[name=twist]") == page.input_value("input[name=bend]") == "0"
    positions = rat.skin.deform(rat.rest_matrices, method="linear")
    center, radius = page.evaluate("[window.sbsPage.view.center, window.sbsPage.view.radius]")
    low, high = positions.min(axis=0), positions.max(axis=0)
    np.testing.assert_allclose(center, (low + high) / 2, atol=1e-5 * radius)
    assert radius == pytest.approx(np.linalg.norm(high - low) / 2, rel=1e-5)
    page.select_option("select[name=joint]", index=4)
    assert page.evaluate("window.sbsPage.view.radius") < radius
    page.click("button[name=all]")
    assert page.evaluate("window.sbsPage.view.radius") == pytest.approx(radius)


def test_meshes_without_a_skin_are_told(visit: Visit, tmp_path: Path) -> None:
    file = pygltflib.GLTF2.load_binary(str(DATA / "arm.glb"))
    file.nodes.append(pygltflib.Node(mesh=0))
    file.save_binary(str(tmp_path / "sword.glb"))
    page = opened(visit)
    page.set_input_files("input[name=file]", tmp_path / "sword.glb")
    page.wait_for_function("document.querySelector('.try-status').textContent.includes('left out')")
    assert (page.text_content(".try-status") or "").endswith("; left out: 1 mesh without a skin")


def test_a_file_is_dropped(visit: Visit) -> None:
    page = opened(visit)
    text = base64.b64encode((DATA / "arm.glb").read_bytes()).decode()
    page.evaluate(
        """text => {
          const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
          const data = new DataTransfer();
          data.items.add(new File([bytes], "arm.glb"));
          document.querySelector("#try").dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
        }""",
        text,
    )
    count = len(sbs.load(DATA / "arm.glb").mesh.positions)
    page.wait_for_function(f"window.sbsPage.character.vertexCount === {count}")
    assert page.eval_on_selector("select[name=sample]", "select => select.selectedOptions[0].text") == "arm.glb"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"glTF", "This is no GLB file."),
        (b"x" * 100, "This is no GLB file."),
        ((DATA / "Fox.glb").read_bytes()[:3000], "The GLB file ends too early."),
    ],
)
def test_a_bad_file_is_refused_in_words(visit: Visit, tmp_path: Path, content: bytes, said: str) -> None:
    page = opened(visit)
    (tmp_path / "bad.glb").write_bytes(content)
    page.set_input_files("input[name=file]", tmp_path / "bad.glb")
    page.wait_for_selector("#try[data-state=failed]")
    assert page.text_content(".try-status") == said
    assert page.evaluate("window.sbsPage.character.vertexCount") == 13380


def shown(page: Page) -> bytes:
    """The picture, once it is drawn."""
    page.wait_for_function("!window.sbsPage.waiting")
    return bytes(page.locator("#try canvas").screenshot())


def test_what_can_be_clicked_draws(visit: Visit) -> None:
    """The picture changes with the method, with the sliders and with the colors."""
    page = opened(visit)
    seen = set()
    page.locator(".try-methods span").nth(0).click()
    seen.add(shown(page))
    page.locator("input[name=areas]").check()
    seen.add(shown(page))
    page.locator("input[name=twist]").fill("20")
    seen.add(shown(page))
    page.locator("input[name=bend]").fill("80")
    seen.add(shown(page))
    assert len(seen) == 4
    assert "13,380 vertices deformed in" in (page.text_content(".try-status") or "")
