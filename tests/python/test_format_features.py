# SPDX-License-Identifier: MIT
"""The table of formats by features in docs/formats.md: each of its cells by a file."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fbx_builder import TICKS, cuff, curve, node, numbers, shape, transform, tube
from gltf_builder import arm
from pmx_builder import QDEF, elbow

import sbs
from sbs.rigging.animation import Track
from sbs.rigging.content import FileWarning

pytest.importorskip("ufbx")
pytest.importorskip("pxr")
from pxr import Usd, UsdGeom, UsdSkel

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"


def heard(action: Callable[[], Any]) -> tuple[Any, str]:
    """The result, and all warnings about files in one text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FileWarning)
        result = action()
    return result, " ".join(str(each.message) for each in caught)


def original(folder: Path) -> sbs.Character:
    """The arm with all features: a node above it turns, the elbow jumps, a shot of 25 frames a second, two meshes."""
    builder = arm()
    pivot = builder.node(children=[0], name="pivot")
    primitives = [dict(each) for each in builder.json["meshes"][0]["primitives"]]
    builder.node(name="sleeve", mesh=builder.mesh(*primitives), skin=0)
    turn = [[0, 0, 0, 1], [0, 0, 0.6, 0.8]]
    builder.animation((pivot, "rotation", [0.0, 2.0], turn))
    builder.animation((1, "rotation", [0.0, 1.0, 2.0], [*turn, turn[0]]), interpolation="STEP")
    builder.json["materials"] = [{"name": "cloth"}]
    builder.json["meshes"][0]["primitives"][0]["material"] = 0
    hero = sbs.load(builder.save(folder / "arm.glb"))
    count = hero.skin.vertex_count
    driver = sbs.ShapeDriver(("elbow",), ("shoulder",), ((1.0, 0.0, 0.0),), "swing", np.array([[0.0, 0.0, 1.0]]))
    mesh = replace(
        hero.mesh,
        normals=np.tile([0.0, 0.0, 1.0], (count, 1)),
        tangents=np.tile([1.0, 0.0, 0.0, 1.0], (count, 1)),
        uvs=np.tile([0.25, 0.5], (count, 1)),
        shapes=(sbs.BlendShape("bulge", np.array([3], np.int32), np.array([[0.0, 1.0, 0.0]]), driver=driver),),
        parts=tuple(replace(part, shapes=range(number == 0)) for number, part in enumerate(hero.mesh.parts)),
    )
    weights = Track("weights", "LINEAR", np.array([0]), np.array([0.0, 2.0]), np.array([[[0.0]], [[1.0]]]))
    clips = [replace(clip, start=4.0, rate=25.0, shape_tracks=(weights,)) for clip in hero.animations]
    return replace(hero, mesh=mesh, animations=sbs.Animations(clips))


def pose(character: sbs.Character, clip: int, time: float) -> np.ndarray:
    return character.skin.deform(character.animations[clip].skinning_matrices(time), method="linear")


def same(found: Any, expected: Any) -> bool:
    """Within the precision of float32 for a size of 5; samples between keys are as near as a share of it."""
    return found is not None and np.allclose(found, expected, rtol=0, atol=2e-3)


CHECKS: dict[str, Callable[[sbs.Character, sbs.Character], bool]] = {
    "steps and jumps of keys": lambda old, new: same(pose(new, 1, 0.99), pose(old, 1, 0.99)),
    "motion of joints": lambda old, new: same(pose(new, 1, 0.5), pose(old, 1, 0.5)),
    "moving nodes above joints": lambda old, new: same(pose(new, 0, 0.7), pose(old, 0, 0.7)),
    "start and rate of a shot": lambda old, new: (new.animations[0].start, new.animations[0].rate) == (4, 25),
    "normals": lambda old, new: same(new.mesh.normals, old.mesh.normals),
    "tangents": lambda old, new: same(new.mesh.tangents, old.mesh.tangents),
    "texture coordinates": lambda old, new: same(new.mesh.uvs, old.mesh.uvs),
    "blend shapes": lambda old, new: [shape.name for shape in new.mesh.shapes] == ["bulge"],
    "their weights in animations": lambda old, new: same(new.shape_motion(new.animations[0]).weights(1.0), [0.5]),
    "their pose drivers": lambda old, new: new.mesh.shapes[0].driver is not None,
    "several meshes": lambda old, new: len(new.mesh.parts) == 2,
}


@pytest.fixture(scope="module")
def table() -> dict[tuple[str, str], str]:
    text = PAGE.read_text(encoding="utf-8")
    (found,) = re.findall(r"^\| feature \|.*?\n(?=\n)", text, re.DOTALL | re.MULTILINE)
    heading, _, *rows = found.splitlines()
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in (heading, *rows)]
    return {(row[0], name): cell for row in cells[1:] for name, cell in zip(cells[0][1:], row[1:], strict=True)}


def written(
    path: Path, old: sbs.Character, check: Callable[[sbs.Character, sbs.Character], bool], about: str = "otherwise"
) -> str:
    """Whether a feature comes back from a file, or the warnings have a word about it."""
    told = heard(lambda: old.save(path))[1]
    if check(old, sbs.load(path)):
        return "read, written"
    return "told" if about in told else "no"


def opened(path: Path, data: str | bytes, check: Callable[[sbs.Character], bool], about: str = "") -> str:
    """Whether a feature is read from a file, or the warnings have a word about it."""
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    character, told = heard(lambda: sbs.load(path))
    if check(character):
        return "read"
    return "told" if about and about in told else "no"


def with_layer(text: str, kind: str, name: str, columns: int, each: str = "ByVertice", seam: bool = False) -> str:
    """The tube with numbers of its vertices, or of its corners, which differ at a seam."""
    count = 36 if each == "ByVertice" else 132
    rows = np.tile(np.eye(columns)[0], (count, 1))
    rows[:seam] += 0.5
    head = 'Geometry: 1, "Geometry::tube", "Mesh" {\n'
    layer = f'MappingInformationType: "{each}"\nReferenceInformationType: "Direct"\n{name}: {numbers(rows)}'
    return text.replace(head, f'{head}LayerElement{kind}: 0 {{\nVersion: 101\nName: ""\n{layer}\n}}\n')


def of_fbx(path: Path) -> dict[str, str]:
    bulge = shape([[1, 0, 0]], [4], [25.0, 75.0])
    between = (
        bulge[0]
        .replace(numbers([100.0]), numbers([50.0, 100.0]))
        .replace(
            "Geometry: 42",
            node(
                "Geometry", 45, "Geometry::half", "Shape", f"Indexes: {numbers([4])}\nVertices: {numbers([0.5, 0, 0])}"
            )
            + "Geometry: 42",
        )
    )
    spin = "".join(
        [
            node("Model", 60, "Model::pivot", "Null", transform()),
            node("AnimationCurveNode", 61, "AnimCurveNode::R", "", ""),
            node("AnimationCurve", 62, "AnimCurve::", "", curve([0.0, 90.0])),
        ]
    )
    spin_links = ['"OO",60,0', '"OO",61,101', '"OP",61,60,"Lcl Rotation"', '"OP",62,61,"d|Z"']
    turned = tube(more=(spin, spin_links)).replace('"OO",11,0', '"OO",11,60')
    late = tube().replace(numbers([0, TICKS]), numbers([2 * TICKS, 3 * TICKS]))
    late = late.replace(f'"LocalStop", "KTime", "Time", "",{TICKS}', f'"LocalStop", "KTime", "Time", "",{3 * TICKS}')
    late = late.replace('"LocalStart", "KTime", "Time", "",0', f'"LocalStart", "KTime", "Time", "",{2 * TICKS}')
    stepped = tube().replace(numbers([4]), numbers([2]))
    path.write_text(tube())
    still = sbs.load(path)
    around = sbs.rotations.matrices_from_axis_angle([0, 1, 0], 90, degrees=True)
    bind = np.eye(4)
    bind[:3, 3], bind[:3, :3] = (1, 2, 5), [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    cloth = node("Material", 70, "Material::cloth", "", "Version: 102")
    return {
        "units and upward axis": opened(
            path, tube(unit=1.0), lambda new: same(100 * new.mesh.positions, still.mesh.positions)
        ),
        "motion of joints": opened(path, tube(), lambda new: not same(pose(new, 0, 0.5), pose(new, 0, 0.0))),
        "steps and jumps of keys": opened(path, stepped, lambda new: same(pose(new, 0, 0.99), pose(new, 0, 0.0))),
        "moving nodes above joints": opened(
            path, turned, lambda new: same(pose(new, 0, 1.0), pose(still, 0, 1.0) @ around.T)
        ),
        "start and rate of a shot": opened(
            path, late, lambda new: (new.animations[0].start, new.animations[0].rate) == (2, 24)
        ),
        "normals": opened(
            path,
            with_layer(tube(), "Normal", "Normals", 3),
            lambda new: same(np.ptp(np.array(new.mesh.normals), axis=0), 0.0),
        ),
        "tangents": opened(
            path, with_layer(tube(), "Tangent", "Tangents", 3), lambda new: new.mesh.tangents is not None
        ),
        "texture coordinates": opened(
            path, with_layer(tube(), "UV", "UV", 2), lambda new: same(new.mesh.uvs, [[1, 0]] * 36)
        ),
        "texture coordinates of corners": opened(
            path,
            with_layer(tube(), "UV", "UV", 2, "ByPolygonVertex", True),
            lambda new: new.mesh.uvs is not None,
            "seams",
        ),
        "blend shapes": opened(
            path, tube(more=bulge), lambda new: [each.name for each in new.mesh.shapes] == ["bulge"]
        ),
        "their weights in animations": opened(
            path, tube(more=bulge), lambda new: same(new.shape_motion(new.animations[0]).weights(1.0), [0.75])
        ),
        "shapes in between": opened(
            path, tube(more=(between, [*bulge[1], '"OO",45,41'])), lambda new: len(new.mesh.shapes) == 2, "in between"
        ),
        "dual quaternions": opened(
            path, tube("DualQuaternion"), lambda new: new.options == {"method": "dual_quaternion"}
        ),
        "several meshes": opened(path, tube(more=cuff(bind)), lambda new: len(new.mesh.parts) == 2),
        "materials and all else": opened(path, tube(more=(cloth, ['"OO",70,10'])), lambda new: False, "material"),
    }


def of_pmx(path: Path) -> dict[str, str]:
    plain, doubled = elbow(), elbow(sdef=False)
    for vertex in doubled.vertices:
        weight = [*vertex.weights, 1.0][0]
        vertex.kind, vertex.bones = QDEF, [*vertex.bones, 0, 0, 0][:4]
        vertex.weights = [weight, 1 - weight, 0, 0]
    data = plain.to_bytes()
    return {
        "normals": opened(path, data, lambda new: same(new.mesh.normals, [[0, 0, 1]] * len(plain.vertices))),
        "texture coordinates": opened(path, data, lambda new: same(new.mesh.uvs, [[0.25, 0.75]] * len(plain.vertices))),
        "blend shapes": opened(path, data[:-4] + b"\7\0\0\0", lambda new: len(new.mesh.shapes) == 7, "7 morphs"),
        "dual quaternions": opened(path, doubled.to_bytes(), lambda new: new.options["method"] == "dual_quaternion"),
        "spherical blending": opened(path, data, lambda new: new.options["method"] == "spherical"),
        "materials and all else": opened(path, data, lambda new: False, "materials"),
    }


def of_bvh(path: Path) -> dict[str, str]:
    path.write_text(
        "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n"
        "MOTION\nFrames: 2\nFrame Time: 0.5\n0\n90\n"
    )
    motion = sbs.load_motion(path)
    return {"motion of joints": "read" if motion.duration == 0.5 else "no"}


def of_usd(path: Path, old: sbs.Character) -> dict[str, str]:
    cells = {name: written(path, old, check) for name, check in CHECKS.items()}
    sizes = old.mesh.positions.max(axis=0)

    def changed(change: Callable[[Usd.Stage], object], check: Callable[[sbs.Character], bool], about: str = "") -> str:
        old.save(path)
        stage = Usd.Stage.Open(str(path))
        change(stage)
        stage.Export(str(path.with_name("changed.usda")))
        return opened(path.with_name("again.usda"), path.with_name("changed.usda").read_text(), check, about)

    def upright(stage: Usd.Stage) -> None:
        UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
        UsdGeom.SetStageMetersPerUnit(stage, 0.01)

    def seam(stage: Usd.Stage) -> None:
        for mesh in (prim for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)):
            primvar = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("st")
            primvar.SetInterpolation("faceVarying")
            primvar.Set([(0.0, 0.0)] * 6)

    def half(stage: Usd.Stage) -> None:
        for prim in stage.Traverse():
            if prim.IsA(UsdSkel.BlendShape):
                UsdSkel.BlendShape(prim).CreateInbetween("half").SetWeight(0.5)

    cells["units and upward axis"] = changed(
        upright, lambda new: same(new.mesh.positions.max(axis=0)[0], sizes[0] / 100)
    )
    cells["texture coordinates of corners"] = changed(seam, lambda new: new.mesh.uvs is not None, "corners")
    cells["shapes in between"] = changed(half, lambda new: len(new.mesh.shapes) == 2, "in between")
    return cells


@pytest.mark.parametrize("column", ["glTF", "USD", "FBX", "PMX", "BVH"])
def test_cells(tmp_path: Path, table: dict[tuple[str, str], str], column: str) -> None:
    expected = {name: cell for (name, of_format), cell in table.items() if of_format == column and cell != "-"}
    if column in ("glTF", "USD"):
        old = original(tmp_path)
        suffix = ".glb" if column == "glTF" else ".usdc"
        path = tmp_path / f"hero{suffix}"
        found = (
            of_usd(path, old)
            if column == "USD"
            else {name: written(path, old, check) for name, check in CHECKS.items()}
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            spherical = replace(old, source=None).for_engine("three")
        dual = replace(old, options={"method": "dual_quaternion"})
        found["dual quaternions"] = written(path, dual, lambda old, new: new.options == old.options)
        found["spherical blending"] = written(path, spherical, lambda _, new: new.options.get("method") == "spherical")
        kept = sbs.load(tmp_path / "arm.glb")
        found["materials and all else"] = written(path, kept, lambda *_: b"cloth" in path.read_bytes())
    else:
        found = {"FBX": of_fbx, "PMX": of_pmx, "BVH": of_bvh}[column](tmp_path / f"hero.{column.lower()}")
    assert found == expected
