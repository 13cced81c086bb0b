# SPDX-License-Identifier: MIT
"""Build wheels for all machines that the project supports, on one.

    python tools/cross_wheels.py
    python tools/cross_wheels.py windows-x64 -Dtests=true    # and the C tests, in build/cross/windows-x64/build

meson builds each extension as tools/cross_build.py sets it up, and installs the contents of a wheel. Its metadata
is written here as by meson-python, which can't build for other systems: it runs the tools of its own.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from packaging.version import Version
from pyproject_metadata import StandardMetadata

import build_backend
import cross_build
from cross_build import FOLDER, ROOT, TARGETS

# The options of meson-python, beside those of pyproject.toml.
OPTIONS = ("-Dbuildtype=release", "-Db_ndebug=if-release", "-Dpython.bytecompile=-1")


def build(name: str, output: Path, options: Sequence[str]) -> Path:
    """Build the wheel of one of `TARGETS` into a folder, with more options for meson than every wheel has."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    tree = FOLDER / name / "build"
    cross_build.configure(name, tree, [*project["tool"]["meson-python"]["args"]["setup"], *OPTIONS, *options])
    cross_build.compile_all(name, tree)
    with tempfile.TemporaryDirectory() as folder:
        cross_build.install(name, tree, Path(folder, "installed"), "python-runtime")
        (package,) = Path(folder, "installed").rglob("site-packages/sbs")
        contents = Path(folder, "contents")
        # An import library, by which others would link an extension of Windows, is for no one.
        shutil.copytree(package, contents / "sbs", ignore=shutil.ignore_patterns("*.a"))
        write_metadata(contents, project, TARGETS[name].tag)
        pack = [sys.executable, "-m", "wheel", "pack", str(contents), f"--dest-dir={folder}"]
        subprocess.run(pack, check=True, stdout=subprocess.DEVNULL)
        (wheel,) = Path(folder).glob("*.whl")
        return Path(shutil.move(wheel, output / wheel.name))


def write_metadata(contents: Path, project: dict[str, Any], platform: str) -> None:
    """Write the folder in which a wheel tells of itself; its version is that of meson.build."""
    introspect = [sys.executable, "-m", "mesonbuild.mesonmain", "introspect", "--projectinfo", "meson.build"]
    found = subprocess.run(introspect, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout
    metadata = StandardMetadata.from_pyproject(project, ROOT)
    metadata.version = Version(json.loads(found)["version"])
    metadata.dynamic.remove("version")

    folder = contents / f"{metadata.canonical_name.replace('-', '_')}-{metadata.version}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_bytes(bytes(metadata.as_rfc822()))
    tag = f"{build_backend.PYTHON_TAG}-abi3-{platform}"
    (folder / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: meson\nRoot-Is-Purelib: false\nTag: {tag}\n")
    scripts = "".join(f"{name} = {target}\n" for name, target in metadata.scripts.items())
    (folder / "entry_points.txt").write_text(f"[console_scripts]\n{scripts}\n")
    for file in metadata.license_files or []:
        (folder / "licenses" / file.parent).mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, folder / "licenses" / file)


if __name__ == "__main__":
    cross_build.for_each_target(__doc__, "wheels", build)
