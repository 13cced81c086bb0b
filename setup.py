# SPDX-License-Identifier: MIT
"""A front for people and tools that expect a setup.py; the build itself is meson.build, installation is pip's.

``python setup.py build_ext --inplace`` builds sbs._core into python/sbs, to be used with ``PYTHONPATH=python``.
``python setup.py blender_extension`` builds the Blender add-on into dist: an extension, and an archive for Blender 3.4;
with ``--all``, the extensions of all platforms that ``make wheels`` has built wheels for.
"""

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent
BUILD = ROOT / "build" / "setup"


def run_meson(*arguments: str) -> None:
    """Run the meson of this Python, with the programs that were installed beside it (ninja)."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    command = [sys.executable, "-m", "mesonbuild.mesonmain", *arguments]
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "PATH": path})


def build_ext(inplace: bool) -> None:
    """Build the Python extension; with ``inplace``, put it and the libraries it needs into python/sbs."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)
    if importlib.util.find_spec("mesonbuild") is None:
        needed = " ".join(f"'{requirement}'" for requirement in project["build-system"]["requires"])
        sys.exit(f"meson is missing; install what the build needs: {sys.executable} -m pip install {needed}")

    options = project["tool"]["meson-python"]["args"]["setup"]
    run_meson("setup", *(["--reconfigure"] if BUILD.exists() else []), *options, str(BUILD))
    run_meson("compile", "-C", str(BUILD))
    if not inplace:
        return
    with tempfile.TemporaryDirectory() as staging:
        run_meson("install", "-C", str(BUILD), "--quiet", "--tags=python-runtime", f"--destdir={staging}")
        for library in Path(staging).rglob("sbs/*.so*"):
            # Removed first: a process may have the old one loaded.
            target = ROOT / "python" / "sbs" / library.name
            target.unlink(missing_ok=True)
            shutil.copy2(library, target)
            print(target.relative_to(ROOT))


def blender_extension(wheel: Path | None) -> None:
    """Build the archives of the Blender add-on into dist, with a wheel that is there already or a new one."""
    with tempfile.TemporaryDirectory() as built:
        if wheel is None:
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
            subprocess.run([*pip, "wheel", "--quiet", "--no-deps", f"--wheel-dir={built}", str(ROOT)], check=True)
            (wheel,) = Path(built).glob("*.whl")
        subprocess.run([sys.executable, str(ROOT / "tools" / "blender_extension.py"), str(wheel)], check=True)


def all_extensions(folder: Path) -> None:
    """Build the extension of each platform into dist, around the wheels in a folder."""
    sys.path.insert(0, str(ROOT / "tools"))
    import cross_build

    wheels = []
    for name, target in cross_build.TARGETS.items():
        found = sorted(folder.glob(f"*-{target.tag}.whl"))
        if len(found) != 1:
            sys.exit(f"{folder} has {len(found)} wheels for {name} and should have one; run: make wheels")
        wheels += found
    tool = [sys.executable, str(ROOT / "tools" / "blender_extension.py"), "--no-legacy"]
    subprocess.run([*tool, *map(str, wheels)], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build_ext", help="build the Python extension")
    build.add_argument("--inplace", "-i", action="store_true", help="put it into python/sbs")
    blender = commands.add_parser("blender_extension", help="build the Blender add-on into dist")
    source = blender.add_mutually_exclusive_group()
    source.add_argument("--wheel", type=Path, help="take this wheel instead of building one")
    source.add_argument("--all", action="store_true", help="extensions of all platforms, from the wheels in dist")
    arguments = parser.parse_args()
    try:
        if arguments.command == "build_ext":
            build_ext(arguments.inplace)
        elif arguments.all:
            all_extensions(ROOT / "dist")
        else:
            blender_extension(arguments.wheel)
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)


if __name__ == "__main__":
    main()
