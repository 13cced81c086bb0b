# SPDX-License-Identifier: MIT
"""The code on pages of the site runs: on the woman and the hand that come with the package."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from commands import succeed
from marks import computes
from snippets import DOCS, ROOT, blocks, commands, text

import sbs
from sbs.cli import main
from sbs.rigging.triangle_mesh import area_weighted_normals

# Of a Dask cluster, whose test is tests/python/test_cluster.py.
FARM = "tcp://farm"
# For Blender's Python, whose test is tests/blender/test_package_files.py.
BLENDER = "import bpy"
# Pages whose commands run. Those of other pages are much the same.
COMMANDS = ["bones_blending", "engines", "formats", "muscles", "start", "weights"]
ALL_COMMANDS = pytest.param("commands", marks=pytest.mark.thorough)

HAS_TORCH = importlib.util.find_spec("torch") is not None

WALK = (
    """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT LeftForeArm
  {
    OFFSET 1 4 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 1 0 0
    }
  }
}
MOTION
Frames: 500
Frame Time: 0.0333333
"""
    + "0 0 0 0 0 0 30 20 10\n" * 500
)

# So that a test takes seconds.
QUICK = {
    "bench": ["--vertices", "600", "--rounds", "1"],
    "compare": ["--width", "200", "--samples", "1"],
    "curvature": ["--steps", "2"],
    "demo": ["--width", "200", "--samples", "1", "--rounds", "1"],
    "linear": ["--rate", "2", "--joints", "4"],
    "quality": ["--frames", "4", "--rate", "8", "--time-limit", "1"],
    "weights": ["--width", "200", "--samples", "1"],
}


def turning(character: sbs.Character, joint: str, names: list[str], seconds: float) -> sbs.Character:
    """A character with animations of these names, that turn a joint."""
    local = np.tile(np.eye(3), (2, len(character.skeleton), 1, 1))
    local[1, character.skeleton.index(joint)] = sbs.rotations.matrices_from_axis_angle([1, 0, 0], 1.0)
    matrices = character.skinning_matrices(local)
    turns = tuple(sbs.Animation.from_skinning_matrices(name, [0.0, seconds], matrices, character.rig) for name in names)
    return sbs.Character(character.name, character.mesh, character.skeleton, character.rig, sbs.Animations(turns))


def dressed(character: sbs.Character) -> sbs.Character:
    """The character as three meshes: hair and boots are a triangle each, at the head and at a foot."""
    mesh, joints = character.mesh, [character.skeleton.index(name) for name in ("Head", "LeftFoot")]
    corners = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]])
    places = np.concatenate([character.skeleton.joint_positions[joint] + corners for joint in joints])
    count, width = len(mesh.positions), mesh.joint_indices.shape[1]
    weights = np.zeros((6, width), mesh.joint_weights.dtype)
    weights[:, 0] = 1
    indices = np.zeros((6, width), np.int32)
    indices[:, 0] = np.repeat(joints, 3)
    parts = [sbs.MeshPart("Body", range(count)), sbs.MeshPart("Hair", range(count, count + 3)),
             sbs.MeshPart("Boots", range(count + 3, count + 6))]  # fmt: skip
    whole = sbs.Mesh(
        np.concatenate([mesh.positions, places.astype(mesh.positions.dtype)]),
        np.concatenate([mesh.triangles, np.arange(count, count + 6, dtype=np.int32).reshape(2, 3)]),
        np.concatenate([mesh.joint_indices, indices]),
        np.concatenate([mesh.joint_weights, weights]),
        parts=tuple(parts),
    )
    return sbs.Character(character.name, whole, character.skeleton, character.rig, character.animations)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """The files that the pages speak of; formats are known by the content of a file."""
    sbs.samples.copy(tmp_path)
    page = request.node.name
    # The page on files speaks of frame 250.
    seconds = 11 if "formats" in page else 0.5
    woman = sbs.samples.load("woman")
    for animations, name in ((["run"], "hero.glb"), (["Run", "Talk", "run"], "hero.fbx")):
        hero = turning(dressed(woman) if name == "hero.fbx" else woman, "LeftForeArm", animations, seconds)
        hero.save(tmp_path / "other.glb")
        shutil.move(tmp_path / "other.glb", tmp_path / name)
    has_limbs = "twist" in page or "bones" in page
    shutil.copy(tmp_path / ("hero.glb" if has_limbs else "hand.glb"), tmp_path / "character.glb")
    for name in ("a.glb", "b.glb"):
        shutil.copy(tmp_path / "hero.glb", tmp_path / name)
    (tmp_path / "walk.bvh").write_text(WALK)
    (tmp_path / "names.json").write_text('{"Hips": "Hips", "LeftForeArm": "LeftForeArm"}')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(page: str) -> tuple[dict[str, Any], str]:
    """Run the Python of a page, one block after the other; its names, and its output."""
    names: dict[str, Any] = {}
    unable = (FARM, BLENDER) if HAS_TORCH else (FARM, BLENDER, "torch")
    with contextlib.redirect_stdout(io.StringIO()) as output:
        for block in blocks(text(page), "python"):
            if not any(word in block for word in unable):
                exec(block, names)  # as a reader would paste it
    return names, output.getvalue()


def test_python_of_start(folder: Path) -> None:
    names, output = run("start.md")
    assert float(output) == pytest.approx(0.25, abs=0.005)
    assert names["frames"].shape == (25, 1360, 3)
    assert sbs.load("four.glb").skin.max_influences == 4


def test_python_of_python(folder: Path) -> None:
    names, output = run("python.md")
    radii = {method: float(radius) for method, radius in (line.split() for line in output.splitlines())}
    assert radii["linear"] == pytest.approx(np.cos(np.radians(85)), rel=1e-9)
    assert radii["spherical"] == pytest.approx(1, rel=1e-9)
    assert radii["dual_quaternion"] == pytest.approx(1, rel=1e-9)
    assert names["frames"].shape == (25, 1360, 3)
    np.testing.assert_allclose(names["back"], names["skin"].rest_positions, atol=1e-12)
    assert (folder / "copy.glb").exists()
    arm = sbs.load("arm.glb")
    assert arm.animations["twist"].duration == 1
    outward = area_weighted_normals(arm.mesh.positions, arm.mesh.triangles) * arm.mesh.positions * [0, 1, 1]
    assert outward.sum(axis=1).min() > 0.9
    assert sbs.load("limited.glb").skin.max_influences == 2


def test_python_of_formats(folder: Path) -> None:
    names, _ = run("formats.md")
    assert isinstance(names["walk"], sbs.Animation)
    assert (folder / "run.pc2").stat().st_size == 32 + 241 * (13380 + 6) * 12


def test_python_of_twist(folder: Path) -> None:
    names, _ = run("twist.md")
    assert names["positions"].shape == (13380, 3)
    assert names["paths"].shape == (24, 13380, 3)


def test_python_of_bones_blending(folder: Path) -> None:
    names, _ = run("bones_blending.md")
    assert names["positions"].shape == (13380, 3)
    np.testing.assert_array_equal(names["finer"].positions, names["colors"])


def test_python_of_correctives(folder: Path) -> None:
    names, _ = run("correctives.md")
    assert names["same"].names == ("knee",)
    np.testing.assert_allclose(names["positions"][100], names["sculpted"][100], atol=1e-3)


def test_python_of_weights(folder: Path) -> None:
    _, output = run("weights.md")
    for said in re.findall(r"^print\(.*\)  # (\w.*)$", text("weights.md"), flags=re.MULTILINE):
        assert said == "numbers of vertices" or said in output
    assert (folder / "capsules.json").exists()
    assert sbs.load("weighted.glb").skin.max_influences == 4


@pytest.mark.thorough
def test_python_of_fitting(folder: Path) -> None:
    names, _ = run("fitting.md")
    gradient = names["gradient"]
    assert gradient.joint_weights.shape == (1, 2)
    assert gradient.skinning_matrices.shape == (2, 3, 4)
    assert names["fitted"].joint_weights.shape == (np.count_nonzero(names["near"]), 4)
    assert names["fitted"].errors.max() < 1e-2  # of dual quaternions by spherical skinning; she is 16.7 tall
    if HAS_TORCH:
        model, still = names["body"], [names["torch"].zeros(2, 1, 3), names["torch"].zeros(2, 3, 31, 3)]
        at_rest = model(*still).numpy()
        assert at_rest.shape == (2, 3, 13380, 3)
        np.testing.assert_allclose(at_rest, np.broadcast_to(names["rest"], at_rest.shape), atol=1e-5)  # float32
        joints = (names["regressor"] @ names["template"]).numpy()
        np.testing.assert_allclose(joints, names["woman"].skeleton.joint_positions, atol=1e-4)  # float32
        assert names["after"] < 0.05 * names["before"]


@computes
@pytest.mark.usefixtures("device")
def test_python_of_gpu(folder: Path) -> None:
    names, _ = run("gpu.md")
    wanted = names["woman"].skin.deform_many(names["matrices"], center="weighted")
    size = float(np.linalg.norm(np.ptp(names["woman"].skin.rest_positions, axis=0)))
    np.testing.assert_allclose(names["positions"], wanted, atol=1e-6 * size)  # test_gpu.py holds it against float64
    assert names["shape"] == (50, *wanted.shape[1:])


def test_python_of_quality(folder: Path) -> None:
    _, output = run("quality.md")
    assert output == "92.8%\n"


@pytest.mark.parametrize("page", [*COMMANDS, ALL_COMMANDS])
def test_the_commands(page: str, folder: Path) -> None:
    for arguments in commands(text(f"{page}.md")):
        if FARM in " ".join(arguments) or "--gpu" in arguments or arguments[0] == "view":
            continue
        extra = list(QUICK.get(arguments[0], []))
        if (arguments[0] == "weights" and "--show" not in arguments) or (
            arguments[0] == "compare" and "-o" not in arguments
        ):
            extra = []
        if arguments[0] == "quality" and "-o" in arguments:
            extra += ["--width", "200", "--samples", "1", "--methods", "LBS,SBS"]
        if arguments[0] == "bench":
            arguments = ["bench"]  # of its own scene, which may be made smaller
        succeed(*arguments, *extra)


def test_options_on_all_pages_exist() -> None:
    for page in DOCS.glob("*.md"):
        for arguments in commands(text(page.name)):
            command: Any = main
            while isinstance(command, click.Group):
                name, *arguments = arguments
                command = command.commands[name]
            options = {option for parameter in command.params for option in parameter.opts}
            used = {word.partition("=")[0] for word in arguments if re.match("--?[a-z]", word)}
            assert used <= options | {"--no-browser"}, f"{page.name}: {' '.join(arguments)}"


def test_the_program_compiles_without_a_warning(tmp_path: Path) -> None:
    """.ci/run sees its output, with the library installed."""
    (source,) = blocks(text("c.md"), "c")
    (tmp_path / "program.c").write_text(source, encoding="utf-8")
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{ROOT / 'csrc' / 'include'}"]
    subprocess.run([*command, "program.c"], cwd=tmp_path, check=True)


def test_every_header_is_shown() -> None:
    headers = {f"sbs/{path.name}" for path in (ROOT / "csrc" / "include" / "sbs").iterdir()}
    assert set(re.findall(r"c-header:: (\S+)", text("c-api.md"))) == headers
