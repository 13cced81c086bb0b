# SPDX-License-Identifier: MIT
"""Files of muscles: round trips, the schema, and errors in them."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import sbs
from sbs import muscles

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "muscles.schema.json").read_text(encoding="utf-8"))

FLAT = muscles.Muscle(
    name="a flat one",
    joints=("Hips", "Spine"),
    points=((0.0, 0.0, 0.0), (1.0, 2.0, 3.0)),
    radius=0.5,
    reach=0.25,
    side="left",
    tendons=(0.1, 0.2),
    profile=(0.2, 1.0, 0.3),
    flattening=2.0,
    thin_direction=(0.0, 0.0, 1.0),
    thin_joint="Spine",
    contraction=0.3,
    most_growth=1.5,
    covered=("Hips",),
)


def test_round_trip(tmp_path: Path) -> None:
    placed = (*muscles.fit(sbs.samples.load("woman")), FLAT)
    path = tmp_path / "muscles.json"
    muscles.write(path, placed)
    assert muscles.read(path) == placed
    jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), SCHEMA)


def test_defaults_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "muscles.json"
    muscles.write(path, [muscles.Muscle("one", ("a", "b"), ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)), 0.5, 0.25)])
    (entry,) = json.loads(path.read_text(encoding="utf-8"))["muscles"]
    assert entry.keys() == {"name", "path", "radius", "reach"}


def document(**changes: Any) -> dict[str, Any]:
    entry = {
        "name": "one",
        "path": [{"joint": "a", "point": [0, 0, 0]}, {"joint": "b", "point": [1, 0, 0]}],
        "radius": 0.5,
        "reach": 0.25,
        **changes,
    }
    kept = {key: value for key, value in entry.items() if value is not None}
    return {"format": "sbs-muscles", "version": 1, "muscles": [kept]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], '"format"'),
        ({"format": "sbs-muscles", "version": 2, "muscles": []}, "version: 2"),
        ({"format": "sbs-muscles", "version": "1"}, '"version"'),
        ({"format": "sbs-muscles", "version": 1, "muscles": []}, '"muscles"'),
        ({**document(), "more": 1}, "'more'"),
        (document(radius=None), r"muscles\[0\].*'radius'"),
        (document(radius="thick"), r"muscles\[0\]: 'radius'"),
        (document(radius=True), r"muscles\[0\]: 'radius'"),
        (document(side="top"), r"muscles\[0\]: 'side'"),
        (document(path=[{"joint": "a"}]), r"muscles\[0\].path\[0\].*'point'"),
        (document(path=[{"joint": "a", "point": [0, 0]}]), r"muscles\[0\].path\[0\]: 'point'"),
        (document(path=3), r"muscles\[0\]: 'path'"),
        (document(tendons=[1]), r"muscles\[0\]: 'tendons'"),
        (document(color="red"), r"muscles\[0\].*'color'"),
        (document(covered=[1]), r"muscles\[0\]: 'covered'"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, content: Any, message: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"bad\.json: .*{message}"):
        muscles.read(path)
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(content)


@pytest.mark.parametrize("text", ["", "{", "NaN", '{"format": Infinity}', "[" * 100_000])
def test_no_json(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"bad\.json"):
        muscles.read(path)


def test_numbers_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "muscles.json"
    with pytest.raises(ValueError, match="Out of range float"):
        muscles.write(path, [muscles.Muscle("one", ("a", "b"), ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)), float("nan"), 0.25)])
    assert not path.exists()


def test_integers_that_numpy_has_no_type_for(tmp_path: Path) -> None:
    """JSON knows no difference between 1e21 and the same in digits."""
    path = tmp_path / "muscles.json"
    large = 10**21
    path.write_text(json.dumps(document(reach=large, path=[{"joint": "a", "point": [0, -large, 0]}] * 2)))
    (muscle,) = muscles.read(path)
    assert (muscle.reach, muscle.points[0]) == (1e21, (0.0, -1e21, 0.0))
    assert type(muscle.reach) is float
    woman = sbs.samples.load("woman")
    placed = muscles.fit(woman)
    muscles.write(path, placed)
    content = json.loads(path.read_text())
    content["muscles"][0]["radius"] = large
    path.write_text(json.dumps(content))
    (first, *_) = muscles.read(path)
    with contextlib.suppress(ValueError):  # that it is too large for the mesh; what the C library says of 1e21
        muscles.bind(woman, [first])
    content["muscles"][0]["radius"] = 10**400
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="'radius' must be a number"):
        muscles.read(path)
