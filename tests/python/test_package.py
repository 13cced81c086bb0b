# SPDX-License-Identifier: MIT
"""The package as it is installed: its version, its files, and what it exports."""

import importlib.metadata
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import release
import sbs

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = Path(sbs.__file__).parent


def test_version_is_the_same_everywhere() -> None:
    (version,) = set(release.versions().values())
    assert sbs.__version__ == version
    assert importlib.metadata.version("spherical-blend-skinning") == version


def test_a_release_has_one_version_and_a_date(tmp_path: Path) -> None:
    for place in [*release.PLACES, "CHANGELOG.md"]:
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / place, tmp_path / place)
    before = (tmp_path / "CHANGELOG.md").read_text()
    release.write("12.3.45", "2031-02-03", tmp_path)
    assert set(release.versions(tmp_path).values()) == {"12.3.45"}
    after = (tmp_path / "CHANGELOG.md").read_text()
    assert after == before.replace("## Unreleased\n", "## Unreleased\n\n## 12.3.45 (2031-02-03)\n")
    # Nothing else has changed.
    release.write(sbs.__version__, "2031-02-04", tmp_path)
    for place in release.PLACES:
        assert (tmp_path / place).read_text() == (ROOT / place).read_text()


def test_every_source_file_is_installed() -> None:
    sources = (ROOT / "python/sbs").rglob("*")
    names = {
        path.relative_to(ROOT / "python/sbs")
        for path in sources
        if path.is_file() and "__pycache__" not in path.parts and ".so" not in path.suffixes
    }
    assert Path("py.typed") in names
    assert sorted(name for name in names if not (INSTALLED / name).is_file()) == []


def test_exported_names_exist() -> None:
    assert [name for name in sbs.__all__ if not hasattr(sbs, name)] == []


def test_importing_loads_no_renderer_and_no_file_format() -> None:
    """Who only deforms waits for NumPy alone."""
    code = "import sys, sbs; print(*sorted({'PIL', 'click', 'mitsuba', 'pygltflib', 'rich'} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert loaded.split() == []


def test_build_info_names_what_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    info = sbs.build_info()
    assert info["version"] == sbs.__version__
    assert info["instruction_set"] in info["instruction_sets"]
    assert info["instruction_sets"][-1] in ("baseline", "plain")  # plain code only where there are no vectors
    assert info["lapack"] in ("bundled", "system", "none")
    for name in info["instruction_sets"]:
        monkeypatch.setenv("SBS_ISA", name)
        assert sbs.build_info()["instruction_set"] == name
        assert sbs.Skin([[0.0, 0.0, 0.0]], [[0]], [[1.0]]).instruction_set == name
    monkeypatch.setenv("SBS_ISA", "unheard-of")
    assert sbs.build_info()["instruction_set"] == info["instruction_sets"][0]
