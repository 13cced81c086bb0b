# SPDX-License-Identifier: MIT
"""The compute shader for Godot, run on Vulkan on the numbers that Godot holds of an imported file."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from gltf_reference import Scene, opened
from gltf_validity import check_content
from marks import computes
from numpy.typing import NDArray
from snippets import blocks, text
from solids import turned
from test_gpu import NORMALS, POSITIONS, farthest

import sbs

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "engines" / "godot"
SHADER = FOLDER / "spherical.glsl"

sys.path.insert(0, str(ROOT / "tools"))
import shaders  # noqa: E402  # from tools

needs_glslang = pytest.mark.skipif(shutil.which("glslangValidator") is None, reason="Debian: glslang-tools")


def of_script(name: str) -> int:
    """A constant of the script that runs the shader."""
    script = (FOLDER / "spherical_skinning.gd").read_text(encoding="utf-8")
    return int(re.findall(rf"^const {name} := (\d+)$", script, flags=re.MULTILINE)[0])


def test_the_shader_has_square_matrices_alone_and_the_numbers_of_the_script() -> None:
    code = shaders.without_comments(SHADER.read_text(encoding="utf-8"))
    assert set(re.findall(r"\bmat\d\w*", code)) == {"mat4"}
    assert f"COLUMNS = {of_script('COLUMNS')};" in code
    assert f"local_size_x = {of_script('GROUP')}," in code


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """SPIR-V of the shader, without the line that Godot takes off."""
    kind, code = SHADER.read_text(encoding="utf-8").split("\n", 1)
    assert kind == "#[compute]"
    source = tmp_path_factory.mktemp("godot") / "spherical.comp"
    source.write_text(code, encoding="utf-8")
    made = source.with_suffix(".spv")
    found = subprocess.run(["glslangValidator", "-V", source, "-o", made], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout
    return made.read_bytes()


class Surface(NamedTuple):
    """A surface as `spherical_skinning.gd` uploads it."""

    vertices: NDArray[np.float32]  # (V, 16): position, normal, tangent, CUSTOM0
    bones: NDArray[np.int32]
    weights: NDArray[np.float32]


def converted(character: sbs.Character, path: Path) -> Scene:
    """A file with centers in texture coordinates, by the lines of the manual."""
    character.save(path)
    lines: dict[str, Any] = {}
    (block,) = (each for each in blocks(text("engines.md"), "python") if "def with_coordinates" in each)
    exec(block, lines)
    path.write_bytes(lines["with_coordinates"](path.read_bytes()))
    check_content(*opened(path))
    return Scene(path)


def imported(scene: Scene) -> Surface:
    """The first surface: vertices of triangles, coordinates as CUSTOM0, weights in 16 bits, rounded down."""
    primitive = scene.json["meshes"][0]["primitives"][0]
    used = np.unique(scene.accessor(primitive["indices"]))

    def joined(*names: str) -> NDArray[Any]:
        return np.hstack([np.array(scene.accessor(primitive["attributes"][name]))[used] for name in names])

    weights = (np.floor(joined("WEIGHTS_0", "WEIGHTS_1") * 65535) / 65535).astype(np.float32)
    weights[:, 0] = 1.0 - weights[:, 1:].sum(axis=1)
    normals = joined("NORMAL")
    tangents = np.cross(normals, [0.6, 0.0, 0.8])
    nothing = np.zeros((len(used), 1))
    parts = [joined("POSITION"), nothing, normals, nothing, tangents, nothing, joined("TEXCOORD_2", "TEXCOORD_3")]
    return Surface(np.hstack(parts).astype(np.float32), joined("JOINTS_0", "JOINTS_1").astype(np.int32), weights)


def run(device: Any, module: bytes, surface: Surface, palette: NDArray[np.float32]) -> NDArray[np.float32]:
    """Positions, normals and tangents (3, V, 3)."""
    count, influences = surface.bones.shape
    columns = of_script("COLUMNS")
    arrays = [np.array([count, influences], np.uint32), *surface, palette]
    buffers = [device.create_buffer_with_data(data=np.ascontiguousarray(each), usage="STORAGE") for each in arrays]
    size = (3 * columns, -(-count // columns), 1)
    image = device.create_texture(size=size, format="rgba32float", usage="STORAGE_BINDING | COPY_SRC")
    entries = [{"binding": binding, "resource": {"buffer": each}} for binding, each in enumerate(buffers)]
    entries.append({"binding": len(buffers), "resource": image.create_view()})
    pipeline = device.create_compute_pipeline(
        layout="auto", compute={"module": device.create_shader_module(code=module), "entry_point": "main"}
    )
    encoder = device.create_command_encoder()
    work = encoder.begin_compute_pass()
    work.set_pipeline(pipeline)
    work.set_bind_group(0, device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries))
    work.dispatch_workgroups(-(-count // of_script("GROUP")))
    work.end()
    device.queue.submit([encoder.finish()])
    layout = {"bytes_per_row": 16 * size[0], "rows_per_image": size[1]}
    texels = np.frombuffer(device.queue.read_texture({"texture": image}, layout, size), np.float32)
    return np.moveaxis(texels.reshape(-1, 3, 4)[:count, :, :3], 1, 0)


@computes
@needs_glslang
@pytest.mark.parametrize("name", sbs.samples.NAMES)
def test_moves_as_the_library_does(name: str, device: Any, module: bytes, tmp_path: Path) -> None:
    character = sbs.samples.load(name).for_engine("three")
    surface = imported(converted(character, tmp_path / "made.glb"))
    position, normal, tangent, center = np.split(surface.vertices.astype(float), 4, axis=1)
    amount = center[:, 3]
    assert 0.0 < amount.mean() < 1.0
    skins = [
        sbs.Skin.quietly(
            position[:, :3],
            surface.bones,
            surface.weights.astype(float),
            rest_normals=directions[:, :3],
            centers=center[:, :3],
        )
        for directions in (normal, tangent)
    ]
    size = np.linalg.norm(np.ptp(position[:, :3], axis=0))
    for joint in character.skeleton.names[3::12]:
        matrices = turned(character, joint, [1.0, 0.3, 0.2], 70.0)
        # Transforms of Godot have float32.
        palette = skins[0].pose_palette(matrices.astype(np.float32)[None]).joints[0]
        moved, normals, tangents = run(device, module, surface, palette)
        wanted, directions = skins[0].deform(matrices, normals=True, center="optimized", amount=amount)
        _, others = skins[1].deform(matrices, normals=True, center="optimized", amount=amount)
        assert farthest(moved, wanted) < POSITIONS * size
        assert farthest(normals, directions) < NORMALS
        assert farthest(tangents, others) < NORMALS
