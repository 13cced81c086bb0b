# SPDX-License-Identifier: MIT
"""What the pages of the site show, runs: on the woman and the hand that come with the package."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from snippets import DOCS, ROOT, blocks, commands, text

import sbs
from sbs.cli import main

HERE = {
    "commands.md",
    "engines.md",
    "formats.md",
    "gallery.md",
    "muscles.md",
    "performance.md",
    "python.md",
    "start.md",
}
# Of a Dask cluster, whose test is tests/python/test_cluster.py.
FARM = "tcp://farm"
# For Blender's Python, whose test is tests/blender/test_caches.py.
BLENDER = "import bpy"
# Those that have a test of their own, test_NAME_docs.py.
ELSEWHERE = {
    "bones_blending.md",
    "correctives.md",
    "fitting.md",
    "gpu.md",
    "quality.md",
    "tutorial.md",
    "twist.md",
    "weights.md",
}

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
    """The files that the pages speak of; formats are known by what is in a file."""
    sbs.samples.copy(tmp_path)
    shutil.copy(tmp_path / "hand.glb", tmp_path / "character.glb")
    # The page on files speaks of frame 250.
    seconds = 11 if "formats" in request.node.name else 0.5
    woman = sbs.samples.load("woman")
    for animations, name in ((["run"], "hero.glb"), (["Run", "Talk", "run"], "hero.fbx")):
        hero = turning(dressed(woman) if name == "hero.fbx" else woman, "LeftForeArm", animations, seconds)
        hero.save(tmp_path / "other.glb")
        shutil.move(tmp_path / "other.glb", tmp_path / name)
    for name in ("a.glb", "b.glb"):
        shutil.copy(tmp_path / "hero.glb", tmp_path / name)
    (tmp_path / "walk.bvh").write_text(WALK)
    (tmp_path / "names.json").write_text('{"Hips": "Hips", "LeftForeArm": "LeftForeArm"}')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(page: str) -> tuple[dict[str, Any], str]:
    """Run the Python of a page, one block after the other; its names, and what it printed."""
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()) as output:
        for block in blocks(text(page), "python"):
            if FARM not in block and BLENDER not in block:
                exec(block, names)  # what a reader would paste
    return names, output.getvalue()


def test_all_pages_with_snippets_are_tested() -> None:
    shown = {page.name for page in DOCS.glob("*.md") if blocks(text(page.name), "python") or commands(text(page.name))}
    assert shown <= HERE | ELSEWHERE | {"view.md"}  # a page that stays open: test_view.py
    for page in ELSEWHERE:
        assert (Path(__file__).parent / f"test_{page.removesuffix('.md')}_docs.py").exists()


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
    assert sbs.load("limited.glb").skin.max_influences == 2


def test_python_of_formats(folder: Path) -> None:
    names, _ = run("formats.md")
    assert isinstance(names["walk"], sbs.Animation)
    assert (folder / "run.pc2").stat().st_size == 32 + 241 * (13380 + 6) * 12


@pytest.mark.parametrize("page", sorted(HERE - {"gallery.md", "performance.md", "python.md"}))
def test_the_commands(page: str, folder: Path) -> None:
    for arguments in commands(text(page)):
        if FARM in " ".join(arguments) or "--gpu" in arguments or arguments[0] == "view":
            continue
        extra = list(QUICK.get(arguments[0], []))
        if arguments[0] == "quality" and "-o" in arguments:
            extra += ["--width", "200", "--samples", "1", "--methods", "LBS,SBS"]
        if arguments[0] == "bench":
            arguments = ["bench"]  # of its own scene, which may be made smaller
        result = CliRunner().invoke(main, [*arguments, *extra])
        assert result.exit_code == 0, f"{' '.join(arguments)}: {result.output}"


def test_the_gallery_is_made_by_commands_that_run() -> None:
    """They are those of other pages, but for where they write."""

    def without_output(arguments: list[str]) -> list[str]:
        return [word for word in arguments if not word.endswith(".png")]

    run = [without_output(each) for page in HERE | ELSEWHERE if page != "gallery.md" for each in commands(text(page))]
    made = [without_output(arguments) for arguments in commands(text("gallery.md"))]
    assert len(made) == 3
    assert [arguments for arguments in made if arguments not in run] == []


def test_the_program_compiles_without_a_warning(tmp_path: Path) -> None:
    """What it prints is seen by .ci/run, with the library installed."""
    (source,) = blocks(text("c.md"), "c")
    (tmp_path / "program.c").write_text(source, encoding="utf-8")
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{ROOT / 'csrc' / 'include'}"]
    subprocess.run([*command, "program.c"], cwd=tmp_path, check=True)


def test_every_header_is_shown() -> None:
    headers = {f"sbs/{path.name}" for path in (ROOT / "csrc" / "include" / "sbs").iterdir()}
    assert set(re.findall(r"c-header:: (\S+)", text("c-api.md"))) == headers


def test_every_page_is_in_the_navigation() -> None:
    """Sphinx warns of others, too, but the site is built more rarely."""
    listed = set(re.findall(r"^([\w-]+)$", text("index.md"), flags=re.MULTILINE))
    assert {page.stem for page in DOCS.glob("*.md")} - {"index"} == listed
