# SPDX-License-Identifier: MIT
"""docs/formats.md: its table is that of the package, and its figures of spherical deformation are computed again."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from pmx_builder import SDEF, elbow

import sbs
from sbs.formats import FORMATS, pmx, sdef

TEXT = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
ROLES = ("read", "motion", "write", "write_pose", "frames")
ENDINGS = {"OBJ, PLY": {".obj", ".ply"}}


def test_the_table() -> None:
    told: dict[str, list[bool]] = {}
    extras: dict[str, str | None] = {}
    for line in re.findall(r"^\| (?!format)[^-].*\|$", TEXT, re.MULTILINE):
        name, *cells, extra = (cell.strip() for cell in line.strip("|").split("|"))
        for suffix in set(re.findall(r"`(\.\w+)`", name)) or ENDINGS[name]:
            told[suffix], extras[suffix] = [cell == "yes" for cell in cells], extra.strip("`") or None
    rows = {suffix: row for row in FORMATS for suffix in row.suffixes}
    assert told == {suffix: [getattr(row, role) is not None for role in ROLES] for suffix, row in rows.items()}
    assert extras == {suffix: row.extra for suffix, row in rows.items()}


def test_how_far_spherical_deformation_is_off(tmp_path: Path) -> None:
    model = elbow(length=61, around=48)
    for vertex in model.vertices:
        if vertex.kind == SDEF:
            vertex.points = [[0, 0, 0], [-1, 0, 0], [1, 0, 0]]
    path = tmp_path / "arm.pmx"
    path.write_bytes(model.to_bytes())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arm = sbs.load(path)
    parsed = pmx.parse(path)
    figures = {"ours": [], "linear": []}  # type: dict[str, list[float]]
    for axis in ([0, 0, 1], [1, 0, 0]):
        for degrees in (45, 90, 135):
            turns = sbs.rotations.matrices_from_axis_angle(axis, [0, degrees], degrees=True)
            matrices = arm.skinning_matrices(turns)
            ours = arm.skin.deform(matrices, **arm.options)
            exact = ours + sdef.correction(parsed, matrices)
            for name, other in (("ours", ours), ("linear", arm.skin.deform(matrices, method="linear"))):
                figures[name].append(float(np.linalg.norm(exact - other, axis=1).max()))
    paragraph = " ".join(TEXT[TEXT.index("On an arm of radius 1") : TEXT.index("## Motions")].split())
    numbers = [float(number) for number in re.findall(r"\d\.\d\d", paragraph)]
    assert numbers == pytest.approx([*figures["ours"][:3], *figures["linear"]], abs=0.0051)
    assert figures["ours"][3:] == pytest.approx([0, 0, 0], abs=1e-6)
