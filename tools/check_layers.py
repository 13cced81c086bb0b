# SPDX-License-Identifier: MIT
"""Check that the sources do not depend on each other in circles: ``python tools/check_layers.py``.

C folders include only those to their left in `C_LAYERS`, and C files include each other without circles. Python
modules, of the package and of the Blender add-on, import each other without circles, and so do their folders. Folders
of the package import only those to their left in `PACKAGE_LAYERS`; folders of the add-on those to their left in
`ADDON_LAYERS`, or other features, and inside of its engine those to their left in `ENGINE_LAYERS`; its core does not
use Blender.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CSRC = ROOT / "csrc"
ADDON = ROOT / "blender_addon" / "spherical_blend_skinning"
PACKAGE = ROOT / "python" / "sbs"
PYTHON = (PACKAGE, ADDON)

# The lowest first. Public headers are below all, the extension module for Python above.
# fmt: off
C_LAYERS = (
    "sbs", "base", "mesh", "twist", "skin", "pose", "correctives", "kernels", "deform", "gradient", "weights",
    "blending", "muscles", "flesh", "solve", "extension",
)
# fmt: on
# Folders that do not include others to their left, either.
C_SIDE_BY_SIDE = {
    "weights": {"deform", "gradient"},
    "blending": {"deform", "gradient"},
    "muscles": {"kernels", "deform", "gradient", "weights", "blending"},
    "flesh": {"kernels", "deform", "gradient", "weights", "blending", "muscles"},
    "solve": {"kernels", "deform", "gradient", "blending", "muscles", "flesh"},
}

# The lowest first. Folders that are not named are features; all of them are in the place of FEATURES.
FEATURES = "features"
ADDON_LAYERS = ("core", "settings", "engine", "interface", FEATURES, "registration", "__init__")
# Inside of its engine: folders, and modules outside of them.
ENGINE_LAYERS = (
    "identity",
    "curves",
    "reading",
    "nodes",
    "stack",
    "muscles",
    "live",
    "bake",
    "correctives",
    "handlers",
)
BLENDER = {"bl_operators", "bmesh", "bpy", "bpy_extras", "gpu", "gpu_extras", "mathutils"}

# The same for the package. Its own modules, which hand public names of its folders on, are FRONT together.
FRONT = "front"
# fmt: off
PACKAGE_LAYERS = (
    "_core", "support", "skinning", "rigging", "formats", "characters", "weights", "muscles", "correctives", "quality",
    "view", "cli", "__main__", FRONT,
)
# fmt: on

Edges = dict[str, set[str]]


def c_sources() -> Iterator[tuple[Path, str, str]]:
    """All C files with their folders in csrc and their texts."""
    for path in sorted(chain.from_iterable(CSRC.glob(f"*/**/*.{ending}") for ending in ("c", "h", "inc"))):
        folder = path.relative_to(CSRC).parts[0]
        if folder not in ("include", "examples"):
            yield path, folder, path.read_text(encoding="utf-8")


def check_c() -> Iterator[str]:
    """Includes that the order of C folders forbids."""
    rank = {name: number for number, name in enumerate(C_LAYERS)}
    sources = list(c_sources())
    for folder in sorted({folder for _, folder, _ in sources} - rank.keys()):
        yield f"csrc/{folder}: not in C_LAYERS"
    for path, folder, text in sources:
        for other in re.findall(r'^\s*#\s*include\s+["<]([a-z_]+)/', text, re.MULTILINE):
            above = rank.get(other, -1) > rank.get(folder, len(rank))
            if above or other in C_SIDE_BY_SIDE.get(folder, ()):
                yield f"{path.relative_to(ROOT)} includes {other}/, which stands beside or above {folder}/"


def c_files() -> Edges:
    """The files that each C file includes. A source and the header of its name count as one."""

    def unit(path: str) -> str:
        return re.sub(r"\.[ch]$", "", path)

    edges: Edges = {}
    for path, _, text in c_sources():
        name = unit(path.relative_to(CSRC).as_posix())
        included = re.findall(r'^\s*#\s*(?:include|define SBS_SOURCE)\s+"([^"]+)"', text, re.MULTILINE)
        edges.setdefault(name, set()).update({unit(other) for other in included} - {name})
    return edges


def imported(path: Path, package: Path) -> Iterator[str]:
    """The modules of its own package that a module imports as it runs, by their paths with dots."""
    inside = path.relative_to(package).parts[:-1]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        base = (*inside[: len(inside) - node.level + 1], *(node.module.split(".") if node.module else ()))
        for alias in node.names:
            target = package.joinpath(*base, alias.name)
            is_module = target.is_dir() or any(target.with_suffix(f".{ending}").exists() for ending in ("py", "pyi"))
            yield ".".join((*base, alias.name) if is_module else base)


def python_modules(package: Path) -> Edges:
    """The modules that each module imports. A package, which imports its own modules, does not count as one."""
    edges: Edges = {}
    for path in sorted(package.rglob("*.py")):
        name = ".".join(path.relative_to(package).with_suffix("").parts).removesuffix("__init__").rstrip(".")
        edges[name] = {other for other in imported(path, package) if other != name}
    return edges


def front_of(package: Path) -> set[str]:
    """The modules that are FRONT: of the package those in no folder, itself included, but ``python -m sbs``."""
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {"__main__"}
    return {name.removeprefix("__init__") for name in modules} if package == PACKAGE else set()


def python_folders(modules: Edges, front: Collection[str] = ()) -> Edges:
    """The same for folders, and for modules outside of folders; some of these are FRONT."""

    def place(name: str) -> str:
        return FRONT if name in front else name.partition(".")[0]

    edges: Edges = {}
    for name, others in modules.items():
        edges.setdefault(place(name), set()).update({place(other) for other in others} - {place(name)})
    return edges


def check_front() -> Iterator[str]:
    """Public modules of the package that have code of their own, where they should hand on that of a folder."""
    for name in sorted(front_of(PACKAGE) - {""}):
        body = ast.parse((PACKAGE / f"{name}.py").read_text(encoding="utf-8")).body
        if any(isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name != "__dir__" for node in body):
            yield f"{PACKAGE.name}: {name} has code of its own, which belongs in a folder"


def describe(folders: Edges) -> str:
    """How many folders there are, on how many floors above each other, and how many of them import another."""
    floors: dict[str, int] = {}
    for place in TopologicalSorter(folders).static_order():
        floors[place] = 1 + max((floors[other] for other in folders.get(place, ())), default=0)
    arrows = sum(len(others) for others in folders.values())
    return f"{len(floors)} rooms on {max(floors.values())} floors, {arrows} arrows"


def check_order(folders: Edges, layers: tuple[str, ...], name: str) -> Iterator[str]:
    """Imports that the order of the folders of a package, or of the add-on's engine, forbids."""
    rank = {place: number for number, place in enumerate(layers)}
    for place, others in folders.items():
        if place not in rank:
            yield f"{name}: {place} has no place in the order"
            continue
        for other in sorted(others & rank.keys()):
            if rank[other] > rank[place]:
                yield f"{name}: {place} imports {other or '__init__'}, which stands above it"


def of_engine(modules: Edges) -> Edges:
    """The modules of the add-on's engine, by their paths in it, and what they import of it."""

    def inside(names: Iterable[str]) -> dict[str, str]:
        return {name: name.removeprefix("engine.") for name in names if name.startswith("engine.")}

    return {name: set(inside(modules[module]).values()) for module, name in inside(modules).items()}


def check_addon(folders: Edges) -> Iterator[str]:
    """Imports that the order of the add-on's folders forbids."""

    def layer(place: str) -> str:
        # The add-on itself has no name.
        return place if place in ADDON_LAYERS else FEATURES if place else "__init__"

    for place, others in folders.items():
        for other in sorted(others):
            if ADDON_LAYERS.index(layer(other)) > ADDON_LAYERS.index(layer(place)):
                yield f"{ADDON.name}, {layer(place)}: {place} imports {other}, which stands above it"
    for path in sorted((ADDON / "core").rglob("*.py")):
        for name in sorted(outside(path) & BLENDER):
            yield f"{path.relative_to(ROOT)} imports {name}, but core/ knows no Blender"


def outside(path: Path) -> set[str]:
    """The packages beyond its own that a module imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def check_circle(edges: Edges, name: str) -> Iterator[str]:
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        yield f"{name}: {' -> '.join(unit or '__init__' for unit in reversed(error.args[1]))}"


def check_all() -> Iterable[str]:
    yield from check_c()
    yield from check_circle(c_files(), "csrc, files")
    yield from check_front()
    for package in PYTHON:
        modules = python_modules(package)
        yield from check_circle(modules, f"{package.name}, modules")
        folders = python_folders(modules, front_of(package))
        yield from check_circle(folders, f"{package.name}, folders")
        yield from check_addon(folders) if package == ADDON else check_order(folders, PACKAGE_LAYERS, package.name)
        yield from check_order(python_folders(of_engine(modules)), ENGINE_LAYERS, f"{package.name}, engine")


def main() -> None:
    found = list(check_all())
    if found:
        sys.exit("\n".join(found))
    print("no circles in csrc")
    for package in PYTHON:
        folders = python_folders(python_modules(package), front_of(package))
        print(f"none in {package.name}: {describe(folders)}")


if __name__ == "__main__":
    main()
