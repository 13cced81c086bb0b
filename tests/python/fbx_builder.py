# SPDX-License-Identifier: MIT
"""Builds small FBX files as text; shares nothing with the code that is tested."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

TICKS = 46186158000
"""Units of time per second."""


def numbers(values: Any) -> str:
    flat = np.ravel(values).tolist()
    return f"*{len(flat)} {{\n a: {','.join(map(repr, flat))}\n}}"


def node(kind: str, number: int, name: str, sub: str, body: str) -> str:
    return f'{kind}: {number}, "{name}", "{sub}" {{\n{body}\n}}\n'


def transform(
    translation: Sequence[float] = (0, 0, 0), rotation: Sequence[float] = (0, 0, 0), scale: Any = (1, 1, 1)
) -> str:
    lines = [
        f'P: "Lcl {what}", "Lcl {what}", "", "A",{",".join(map(repr, values))}'
        for what, values in (("Translation", translation), ("Rotation", rotation), ("Scaling", scale))
    ]
    return "Version: 232\nProperties70: {\n" + "\n".join(lines) + "\n}"


def curve(values: Sequence[float]) -> str:
    """From one value to another within a second."""
    return (
        f"KeyVer: 4009\nKeyTime: {numbers([0, TICKS])}\nKeyValueFloat: {numbers(values)}\n"
        f"KeyAttrFlags: {numbers([4])}\nKeyAttrDataFloat: {numbers([0.0] * 4)}\nKeyAttrRefCount: {numbers([2])}"
    )


def mesh(points: Any, corners: Any) -> str:
    return f"Vertices: {numbers(points)}\nPolygonVertexIndex: {numbers(corners)}"


def cluster(indices: Any, weights: Any, to_bone: np.ndarray, bind: np.ndarray) -> str:
    body = f"Indexes: {numbers(indices)}\nWeights: {numbers(weights)}\n"
    return f"{body}Transform: {numbers(to_bone.T)}\nTransformLink: {numbers(bind.T)}"


def shape(offsets: Any, vertices: Sequence[int], percents: Sequence[float]) -> tuple[str, list[str]]:
    """A blend shape of the tube whose weight the first motion moves, in percent, and its connections."""
    channel = f"Version: 100\nDeformPercent: {percents[0]}\nFullWeights: {numbers([100.0])}"
    moved = f"Version: 100\nIndexes: {numbers(list(vertices))}\nVertices: {numbers(offsets)}"
    objects = [
        node("Deformer", 40, "Deformer::shapes", "BlendShape", "Version: 100"),
        node("Deformer", 41, "SubDeformer::bulge", "BlendShapeChannel", channel),
        node("Geometry", 42, "Geometry::bulge", "Shape", moved),
        node("AnimationCurveNode", 43, "AnimCurveNode::DeformPercent", "", ""),
        node("AnimationCurve", 44, "AnimCurve::", "", curve(percents)),
    ]
    links = ['"OO",40,1', '"OO",41,40', '"OO",42,41', '"OO",43,101', '"OP",43,41,"DeformPercent"']
    return "".join(objects), [*links, '"OP",44,43,"d|DeformPercent"']


def cuff(bind: np.ndarray) -> tuple[str, list[str]]:
    """A triangle around the knee alone, which is bound so (joint to world), and its connections; for `more`."""
    points = np.array([[2.0, 2, 5], [1, 3, 5], [0, 2, 5.5]])
    body = cluster(range(3), [1.0, 1.0, 1.0], np.linalg.inv(bind), bind)
    objects = [
        node("Geometry", 50, "Geometry::", "Mesh", mesh(points, [0, 1, ~2])),
        node("Model", 51, "Model::cuff", "Mesh", transform((0, 0, 0))),
        node("Deformer", 52, "Deformer::skin", "Skin", 'Version: 101\nSkinningType: "Linear"'),
        node("Deformer", 53, "SubDeformer::cluster", "Cluster", body),
    ]
    return "".join(objects), ['"OO",51,0', '"OO",50,51', '"OO",52,50', '"OO",53,52', '"OO",12,53']


def tube(
    method: str = "Linear",
    *,
    up: int = 2,
    unit: float = 100,
    parents: Sequence[int] = (-1, 0),
    more: tuple[str, list[str]] = ("", []),
) -> str:
    """A tube along z of quads and a polygon on two bones, bound away from where the file has it, and two motions.

    `method` is the file's name of the way of skinning; with ``"Blend"`` a share of dual quaternions grows along it.
    `more` are further objects and their connections.
    """
    heights = np.linspace(0, 4, 9)
    points = np.array([(x, y, z) for z in heights for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1))])
    faces = [
        [4 * ring + side, 4 * ring + (side + 1) % 4, 4 * ring + 4 + (side + 1) % 4, ~(4 * ring + 4 + side)]
        for ring in range(8)
        for side in range(4)
    ]
    corners = [*np.ravel(faces).tolist(), 0, 3, 2, ~1]
    weight = np.clip(points[:, 2] / 2 - 0.5, 0, 1)
    mesh_bind = np.eye(4)
    mesh_bind[:3, 3] = 1, 2, 3
    binds = np.tile(np.eye(4), (2, 1, 1))
    binds[0, :3, 3], binds[1, :3, 3] = (1, 2, 3), (1, 2, 5)
    binds[1, :3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    objects = [
        node("Geometry", 1, "Geometry::tube", "Mesh", mesh(points, corners)),
        node("Model", 10, "Model::tube", "Mesh", transform((5, 0, 0))),
        node("Model", 11, "Model::hip", "LimbNode", transform((1, 2, 3), (0, 10, 0))),
        node("Model", 12, "Model::knee", "LimbNode", transform((0, 0, 2), (20, 0, 90), (1, 1, 1))),
    ]
    blend = ""
    if method == "Blend":
        blend = f"\nIndexes: {numbers(range(len(points)))}\nBlendWeights: {numbers(points[:, 2] / 4)}"
    objects.append(node("Deformer", 20, "Deformer::skin", "Skin", f'Version: 101\nSkinningType: "{method}"{blend}'))
    for bone, shares in enumerate((1 - weight, weight)):
        used = np.flatnonzero(shares)
        to_bone = np.linalg.inv(binds[bone]) @ mesh_bind
        body = cluster(used, shares[used], to_bone, binds[bone])
        objects.append(node("Deformer", 21 + bone, "SubDeformer::cluster", "Cluster", body))
    links = ['"OO",10,0', '"OO",1,10', '"OO",20,1', '"OO",21,20', '"OO",22,20', '"OO",11,21', '"OO",12,22']
    links += [f'"OO",{11 + bone},{0 if parent < 0 else 11 + parent}' for bone, parent in enumerate(parents)]
    for stack, (name, degrees) in enumerate((("bend", 75), ("turn", -140))):
        first = 100 * (stack + 1)
        end = f'P: "LocalStart", "KTime", "Time", "",0\nP: "LocalStop", "KTime", "Time", "",{TICKS}'
        objects += [
            node("AnimationStack", first, f"AnimStack::{name}", "", f"Properties70: {{\n{end}\n}}"),
            node("AnimationLayer", first + 1, "AnimLayer::base", "", ""),
            node("AnimationCurveNode", first + 2, "AnimCurveNode::R", "", ""),
            node("AnimationCurve", first + 3, "AnimCurve::", "", curve([0.0, float(degrees)])),
        ]
        links += [f'"OO",{first + 1},{first}', f'"OO",{first + 2},{first + 1}', f'"OP",{first + 2},12,"Lcl Rotation"']
        links.append(f'"OP",{first + 3},{first + 2},"d|{"XZ"[stack]}"')
    objects.append(more[0])
    links += more[1]
    settings = [("UpAxis", up), ("UpAxisSign", 1), ("FrontAxis", 1), ("FrontAxisSign", -1), ("CoordAxis", 0)]
    if up == 1:
        settings[2:4] = [("FrontAxis", 2), ("FrontAxisSign", 1)]
    lines = [f'P: "{name}", "int", "Integer", "",{value}' for name, value in [*settings, ("CoordAxisSign", 1)]]
    lines += [f'P: "UnitScaleFactor", "double", "Number", "",{unit!r}', 'P: "TimeMode", "enum", "", "",11']
    return (
        "; FBX 7.4.0 project file\nFBXHeaderExtension: {\nFBXHeaderVersion: 1003\nFBXVersion: 7400\n}\n"
        "GlobalSettings: {\nVersion: 1000\nProperties70: {\n" + "\n".join(lines) + "\n}\n}\n"
        "Objects: {\n" + "".join(objects) + "}\nConnections: {\n" + "".join(f"C: {link}\n" for link in links) + "}\n"
    )
