# SPDX-License-Identifier: MIT
"""The archives of the Blender add-on; that Blender takes them, tests/blender shows."""

import ast
import importlib.util
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
ADDON = ROOT / "blender_addon" / "spherical_blend_skinning"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("blender_extension", ROOT / "tools" / "blender_extension.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def manifest() -> dict[str, object]:
    return tomllib.loads((ADDON / "blender_manifest.toml").read_text())


def make_wheel(folder: Path, version: object, platform: str = "linux_x86_64") -> Path:
    """A wheel by name and layout, with one module and one licence."""
    wheel = folder / f"spherical_blend_skinning-{version}-cp311-abi3-{platform}.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("sbs/__init__.py", "number = 1\n")
        archive.writestr(f"spherical_blend_skinning-{version}.dist-info/licenses/LICENSE", "MIT\n")
        archive.writestr(f"spherical_blend_skinning-{version}.dist-info/RECORD", "")
    return wheel


def test_versions_agree(manifest: dict[str, object]) -> None:
    module = ast.parse((ADDON / "__init__.py").read_text())
    (info,) = (
        ast.literal_eval(node.value)
        for node in module.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "bl_info"
    )
    assert ".".join(map(str, info["version"])) == manifest["version"]
    assert f"  version: '{manifest['version']}',\n" in (ROOT / "meson.build").read_text()
    assert info["name"] == manifest["name"]


def test_extension_names_the_wheel_inside(tool: ModuleType, manifest: dict[str, object], tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, manifest["version"])
    extension, _ = tool.build(wheel, tmp_path / "dist")
    with zipfile.ZipFile(extension) as archive:
        written = tomllib.loads(archive.read("blender_manifest.toml").decode())
        assert archive.read(f"wheels/{wheel.name}") == wheel.read_bytes()
        assert {"__init__.py", "LICENSE", "registration.py"} <= set(archive.namelist())
        assert not [name for name in archive.namelist() if "__pycache__" in name]
    assert written == {**manifest, "platforms": ["linux-x64"], "wheels": [f"./wheels/{wheel.name}"]}
    again, _ = tool.build(wheel, tmp_path / "again")
    assert again.read_bytes() == extension.read_bytes()


def test_legacy_add_on_holds_the_unpacked_wheel(tool: ModuleType, manifest: dict[str, object], tmp_path: Path) -> None:
    _, legacy = tool.build(make_wheel(tmp_path, manifest["version"]), tmp_path / "dist")
    with zipfile.ZipFile(legacy) as archive:
        names = set(archive.namelist())
        assert archive.read("spherical_blend_skinning/sbs/__init__.py") == b"number = 1\n"
    assert {f"spherical_blend_skinning/{name}" for name in ("__init__.py", "sbs/licenses/LICENSE")} <= names
    assert {name.split("/")[0] for name in names} == {"spherical_blend_skinning"}
    assert "spherical_blend_skinning/blender_manifest.toml" not in names


def test_one_extension_for_each_wheel(manifest: dict[str, object], tmp_path: Path) -> None:
    tags = ("manylinux_2_17_x86_64.manylinux2014_x86_64", "macosx_11_0_arm64", "win_amd64")
    wheels = [make_wheel(tmp_path, manifest["version"], tag) for tag in tags]
    tool = ROOT / "tools" / "blender_extension.py"
    subprocess.run([sys.executable, tool, "--no-legacy", "--output", tmp_path / "dist", *wheels], check=True)
    found = {}
    for path in (tmp_path / "dist").iterdir():
        with zipfile.ZipFile(path) as archive:
            written = tomllib.loads(archive.read("blender_manifest.toml").decode())
        found[path.name.removeprefix(f"spherical_blend_skinning-{manifest['version']}-")] = written["platforms"]
    assert found == {
        "linux_x64.zip": ["linux-x64"],
        "macos_arm64.zip": ["macos-arm64"],
        "windows_x64.zip": ["windows-x64"],
    }


def test_wheels_that_do_not_fit(tool: ModuleType, manifest: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"0\.0\.1"):
        tool.build(make_wheel(tmp_path, "0.0.1"), tmp_path / "dist")
    with pytest.raises(ValueError, match="haiku_x86_64"):
        tool.build(make_wheel(tmp_path, manifest["version"], "haiku_x86_64"), tmp_path / "dist")
    assert not (tmp_path / "dist").exists()
