# SPDX-License-Identifier: GPL-3.0-or-later
"""The built archive: its imports are its own, and an incomplete or broken one says so while Blender starts.

Each broken archive is installed, and looked at, by a Blender of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import addon
import bpy
import pytest

Change = Callable[[str, bytes], "bytes | None"]

# Run by the other Blender; prints the texts that the artist sees.
_LOOK = """
import json, sys
from pathlib import Path
sys.path[:0] = [{tests!r}]
import bpy, addon

class Layout:
    '''Takes down the texts that a page of preferences draws.'''

    def __init__(self):
        self.texts = []

    def label(self, text="", **_):
        self.texts.append(text)

    def prop(self, *_, **__):
        pass

    def __getattr__(self, name):
        return lambda **_: self

addon.provide(Path({archive!r}))
enabled = addon.enable()
page = addon.preferences()
drawing = type("Page", (), {{"layout": Layout()}})()
type(page).draw(drawing, bpy.context)
mesh = bpy.data.objects.new("Mesh", bpy.data.meshes.new("Mesh"))
bpy.context.scene.collection.objects.link(mesh)
bpy.context.view_layer.objects.active = mesh
bpy.context.view_layer.update()
can_bind = "bind" in dir(addon.ops) and addon.ops.bind.poll()
left = None
for _ in range(2):
    addon.disable()
    left = [name for name in dir(bpy.types) if name.startswith("SBS_")]
    addon.enable()
print("SEEN", json.dumps({{"texts": drawing.layout.texts, "can_bind": can_bind, "left": left}}))
sys.stdout.flush()
"""


def look_at(archive: Path, folder: Path) -> dict[str, Any]:
    """Install an archive in a new Blender; the texts of its preferences, and whether it can bind."""
    script = folder / "look.py"
    script.write_text(_LOOK.format(tests=str(Path(__file__).parent), archive=str(archive)))
    user = folder / "user"
    environment = os.environ | {"BLENDER_USER_RESOURCES": str(user), "PYTHONPATH": ""}
    for kind in ("CONFIG", "SCRIPTS", "DATAFILES"):
        # Blender 3.4 has no place for all of them.
        environment[f"BLENDER_USER_{kind}"] = str(user / kind.lower())
        (user / kind.lower()).mkdir(parents=True)
    if bpy.app.binary_path:
        command = [bpy.app.binary_path, "--background", "--factory-startup", "--python-exit-code", "1", "--python"]
    else:
        command = [sys.executable]
    done = subprocess.run([*command, str(script)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("SEEN "))
    seen: dict[str, Any] = json.loads(line.removeprefix("SEEN "))
    return seen


@pytest.fixture
def archive(pytestconfig: pytest.Config) -> Path:
    path: Path = pytestconfig.getoption("--archive")
    return path.resolve()


def changed(archive: Path, folder: Path, change: Change) -> Path:
    """A copy of an archive whose members a function has changed, or taken out."""
    result = folder / archive.name
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(result, "w") as new:
        for name in old.namelist():
            content = change(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
    return result


def in_library(change: Change) -> Change:
    """The same change of the files of the package sbs, be they in the wheel or unpacked."""

    def apply(name: str, content: bytes) -> bytes | None:
        if not name.endswith(".whl"):
            return change(name, content) if "/sbs/" in f"/{name}" else content
        wheel = Path(os.environ["PYTEST_TEMPORARY"]) / Path(name).name
        wheel.write_bytes(content)
        (wheel.parent / "new").mkdir()
        return changed(wheel, wheel.parent / "new", change).read_bytes()

    return apply


def test_the_library_is_its_own() -> None:
    library = Path(addon.module("core.library").load().__file__)
    user = os.environ.get("BLENDER_USER_RESOURCES") or os.environ["BLENDER_USER_SCRIPTS"]
    assert Path(user).resolve() in library.resolve().parents


def test_whole(archive: Path, tmp_path: Path) -> None:
    seen = look_at(archive, tmp_path)
    assert seen["can_bind"] and not seen["left"]
    assert any(text.startswith("Library ") for text in seen["texts"])


def without_library(name: str, content: bytes) -> bytes | None:
    """Without the wheel: not even the manifest knows of it."""
    if name == "blender_manifest.toml":
        return b"\n".join(line for line in content.splitlines() if not line.startswith(b"wheels"))
    return None if name.endswith(".whl") or "/sbs/" in name else content


def for_another_python(name: str, content: bytes) -> bytes | None:
    """The extension module has a name that only Python 3.9 looks for."""
    return None if name.endswith("sbs/_core.abi3.so") else content


def cut_short(name: str, content: bytes) -> bytes:
    """Within the first header: a file cut later kills any program that loads it."""
    return content[:32] if name.endswith("sbs/_core.abi3.so") else content


def without_a_module(name: str, content: bytes) -> bytes | None:
    return None if name.endswith("engine/live/live.py") else content


def with_a_syntax_of_the_future(name: str, content: bytes) -> bytes:
    return b"?" + content if name.endswith("core/binding.py") else content


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (without_library, "The wheel with the package sbs is missing"),
        (in_library(for_another_python), "_core"),
        (in_library(cut_short), "file too short"),
        (without_a_module, "live"),
        (with_a_syntax_of_the_future, "invalid syntax"),
    ],
    ids=["no wheel", "another Python", "cut short", "no module", "syntax"],
)
def test_broken(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Change, reason: str) -> None:
    monkeypatch.setenv("PYTEST_TEMPORARY", str(tmp_path))
    (tmp_path / "archive").mkdir()
    seen = look_at(changed(archive, tmp_path / "archive", change), tmp_path)
    assert "Spherical Blend Skinning cannot deform anything" in seen["texts"]
    assert any(reason in text for text in seen["texts"]), seen
    assert not seen["can_bind"] and not seen["left"]


def test_what_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    explain = addon.module("core.library").explain
    assert "NumPy" in explain(ModuleNotFoundError("No module named 'numpy'", name="numpy"))
    monkeypatch.setattr(sys, "version_info", (3, 10, 8, "final", 0))
    assert "3.11" in explain(ImportError("cannot import name 'Self'"))
