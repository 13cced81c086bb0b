# SPDX-License-Identifier: MIT
"""The package as it is installed: its version, its files, and its names."""

import importlib
import importlib.metadata
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import release
import sbs

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = Path(sbs.__file__).parent


def test_version_is_the_same_everywhere() -> None:
    found = release.versions()
    version = found["meson.build"]
    assert release.agree(found)
    assert sbs.__version__ == version
    assert importlib.metadata.version("spherical-blend-skinning") == version


def test_wheels_bring_every_module() -> None:
    """In a checkout a module that the list of meson does not name is found all the same."""
    listed = re.findall(r"'(sbs/[^']+\.pyi?)'", (ROOT / "python/meson.build").read_text())
    found = [path for path in (ROOT / "python/sbs").rglob("*.py*") if path.suffix in {".py", ".pyi"}]
    assert sorted(listed) == sorted(path.relative_to(ROOT / "python").as_posix() for path in found)


def test_actions_are_pinned_by_commit() -> None:
    """A tag can be moved by whoever has the account of an action."""
    used = [
        line
        for path in (ROOT / ".github" / "workflows").iterdir()
        for line in path.read_text().splitlines()
        if "uses:" in line
    ]
    assert used
    assert [line for line in used if not re.search(r"uses: [\w/-]+@[0-9a-f]{40} # v[0-9.]+$", line)] == []


def test_build_tools_of_a_release_are_pinned_by_hash() -> None:
    """All that pip installs in the workflow, and all that building the source archive needs without isolation."""
    workflow = (ROOT / ".github/workflows/release.yml").read_text()
    installs = re.findall(r"pip install.*|pipx.*", workflow)
    pinned = "pip install --require-hashes --no-deps --requirement .github/requirements.txt"
    assert set(installs) == {pinned}
    assert re.findall(r"-m build.*", workflow) == ["-m build --sdist --no-isolation"]
    lines = [line for line in (ROOT / ".github/requirements.txt").read_text().splitlines() if line[0] != "#"]
    found = dict(line.split("==") for line in lines)
    assert [line for line in found.values() if not re.fullmatch(r"[0-9.]+ --hash=sha256:[0-9a-f]{64}", line)] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert {re.split("[>=]", needed)[0] for needed in project["build-system"]["requires"]} <= set(found)
    assert {"auditwheel", "build", "lief"} <= set(found)


def test_every_source_file_is_installed() -> None:
    sources = (ROOT / "python/sbs").rglob("*")
    names = {
        path.relative_to(ROOT / "python/sbs")
        for path in sources
        if path.is_file() and "__pycache__" not in path.parts and ".so" not in path.suffixes
    }
    assert Path("py.typed") in names
    assert sorted(name for name in names if not (INSTALLED / name).is_file()) == []


PUBLIC = ("sbs", "sbs.formats", "sbs.mesh", "sbs.muscles", "sbs.quality", "sbs.weights")


@pytest.mark.parametrize("name", PUBLIC)
def test_dir_shows_what_is_public(name: str) -> None:
    module = importlib.import_module(name)
    assert dir(module) == sorted(module.__all__)
    assert [each for each in dir(module) if not hasattr(module, each)] == []


def test_public_modules_are_on_the_page_of_the_api() -> None:
    """All can be reached from `sbs` but `sbs.torch`, which is imported where PyTorch is."""
    page = (ROOT / "docs" / "python-api.md").read_text(encoding="utf-8")
    shown = re.findall(r"automodule:: sbs\.([a-z]+)", page)
    modules = [each for each in sbs.__all__ if inspect.ismodule(getattr(sbs, each))]
    assert sorted(shown) == sorted([*modules, "torch"])


def test_help_shows_the_options_of_centers() -> None:
    """Those of a character's methods are those of the function, and so are the defaults, but those of twisted skins."""
    parameters = inspect.signature(sbs.optimized_centers).parameters.values()
    options = [each for each in parameters if each.kind == each.KEYWORD_ONLY and not each.name.startswith("twist")]
    assert options[0].name == "sigma"
    for method in (sbs.Character.optimized_centers, sbs.Character.optimized_skin):
        assert [*inspect.signature(method).parameters.values()][1:] == options
    options[0] = options[0].replace(default=1.0)
    assert [*inspect.signature(sbs.Character.twisted_skin).parameters.values()][3:] == options


def test_importing_loads_no_renderer_and_no_file_format() -> None:
    """Who only deforms waits for NumPy alone."""
    code = "import sys, sbs; print(*sorted({'PIL', 'click', 'mitsuba', 'rich', 'sbs.formats.gltf'} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert loaded.split() == []


def test_build_info_names_what_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    info = sbs.build_info()
    assert info["version"] == sbs.__version__
    assert info["instruction_set"] in info["instruction_sets"]
    assert info["instruction_sets"][-1] in ("baseline", "plain")  # plain code only where there are no vectors
    assert info["lapack"] in ("system", "none")
    for name in info["instruction_sets"]:
        monkeypatch.setenv("SBS_ISA", name)
        assert sbs.build_info()["instruction_set"] == name
        assert sbs.Skin([[0.0, 0.0, 0.0]], [[0]], [[1.0]]).instruction_set == name
    monkeypatch.setenv("SBS_ISA", "unheard-of")
    assert sbs.build_info()["instruction_set"] == info["instruction_sets"][0]
