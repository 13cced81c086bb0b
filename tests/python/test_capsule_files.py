# SPDX-License-Identifier: MIT
"""Capsules as JSON: a written file is read again and fits the schema, and no other is taken for one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import capsule_reference
import jsonschema
import numpy as np
import pytest

from sbs import weights
from sbs.weights.capsules import Falloff

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "capsules.schema.json").read_text(encoding="utf-8"))

FIELDS = ("heads", "tails", "inner_radii", "outer_radii", "multipliers", "enabled")


def document(**changes: Any) -> dict[str, Any]:
    """A good document of two capsules; changes are made to the second."""
    capsules = [
        {"name": "arm", "head": [0, 0, 0], "tail": [1, 0, 0], "inner_radii": [0.1, 0.2], "outer_radii": [0.3, 0.4]},
        {"name": "hand", "head": [1, 0, 0], "tail": [2, 0, 0], "inner_radii": [0, 0], "outer_radii": [1, 1]},
    ]
    capsules[1].update(changes)
    return {"format": "sbs-capsules", "version": 1, "capsules": capsules}


def without(key: str) -> dict[str, Any]:
    content = document()
    del content["capsules"][1][key]
    return content


def read(path: Path, content: Any) -> weights.Capsules:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return weights.Capsules.from_json(path)


@pytest.mark.parametrize("names", [None, ["upper arm.L", "Ärmel", '"quoted"', "\u2028", "", "🦴"]])
def test_read_as_written(tmp_path: Path, names: list[str] | None) -> None:
    rng = np.random.default_rng(0)
    given = capsule_reference.random_capsules(rng, 6)
    given["heads"][0] = [5e-324, -0.0, 1.7976931348623157e308]
    given |= {"multipliers": rng.random(6), "enabled": rng.random(6) < 0.5}
    written = weights.Capsules(**given, names=names)
    path = tmp_path / "capsules.json"
    written.to_json(path)
    found = weights.Capsules.from_json(str(path))
    for field in FIELDS:
        assert getattr(found, field).tobytes() == getattr(written, field).tobytes()
    assert found.names == (None if names is None else tuple(names))
    jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), SCHEMA)


def test_falloffs(tmp_path: Path) -> None:
    """A file says version 2 only where an older reader would miss something."""
    rng = np.random.default_rng(0)
    given = capsule_reference.random_capsules(rng, 3)
    path = tmp_path / "capsules.json"
    cases: list[tuple[tuple[Falloff | None, ...] | None, int]] = [
        ((None, "smooth", "quadratic"), 2),
        ((None, None, None), 1),
        (None, 1),
    ]
    for falloffs, version in cases:
        capsules = weights.Capsules(**given, falloffs=falloffs)
        capsules.to_json(path)
        written = json.loads(path.read_text(encoding="utf-8"))
        assert written["version"] == version
        jsonschema.validate(written, SCHEMA)
        assert weights.Capsules.from_json(path).falloffs == (falloffs if version == 2 else None)


def test_defaults(tmp_path: Path) -> None:
    jsonschema.validate(document(), SCHEMA)
    capsules = read(tmp_path / "a.json", document())
    np.testing.assert_array_equal(capsules.multipliers, [1, 1])
    np.testing.assert_array_equal(capsules.enabled, [True, True])
    assert capsules.names == ("arm", "hand")


def test_writing_leaves_nothing_half_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    capsules = read(tmp_path / "a.json", document())
    before = (tmp_path / "a.json").read_bytes()

    def fail(*_: Any) -> None:
        raise OSError("no room")

    monkeypatch.setattr(os, "replace", fail)
    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="no room"):
        capsules.to_json(tmp_path / "a.json")
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json").read_bytes() == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "Expecting value"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "no file of capsules"),
        ({"asset": {"version": "2.0"}}, "no file of capsules"),
        *[(document() | {"version": version}, "version") for version in (3, 0, "1", True)],
        (document(falloff="smooth"), r"capsules\[1\]: .*'falloff'"),
        (document(falloff="steep") | {"version": 2}, r"falloffs\[1\]"),
        (document(falloff=1) | {"version": 2}, r"capsules\[1\]: 'falloff'"),
        (document() | {"capsules": []}, '"capsules"'),
        (document() | {"capsules": {}}, '"capsules"'),
        (document() | {"units": "m"}, "'units'"),
        (document() | {"capsules": [1]}, r"capsules\[0\]"),
        (document(head=[1, 0]), r"capsules\[1\]: 'head'"),
        *[(document(tail=[1, 0, number]), r"capsules\[1\]: 'tail'") for number in ("0", True, 10**400)],
        (document(inner_radii=1), r"capsules\[1\]: 'inner_radii'"),
        (document(radius=1), r"capsules\[1\]: .*'radius'"),
        (document(multiplier="1"), r"capsules\[1\]: 'multiplier'"),
        (document(enabled=1), r"capsules\[1\]: 'enabled'"),
        (document(name=1), r"capsules\[1\]: 'name'"),
        (json.dumps(document(head=[float("nan"), 0, 0])), "NaN"),
        (json.dumps(document(multiplier=float("-inf"))), "-Infinity"),
        (document(name="arm"), r"names\[1\] = 'arm'"),
        (document(inner_radii=[2, 0]), r"inner_radii\[1, 0\] is 2.0"),
        *[(without(key), rf"capsules\[1\] has no '{key}'") for key in ("head", "tail", "inner_radii", "outer_radii")],
        (without("name"), r"capsules\[1\] has no name"),
    ],
)
def test_bad_files(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(ValueError, match=rf"capsules\.json: .*{message}"):
        read(tmp_path / "capsules.json", content)


def test_no_text_and_no_file(tmp_path: Path) -> None:
    (tmp_path / "capsules.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileNotFoundError):
        weights.Capsules.from_json(tmp_path / "none.json")
    with pytest.raises(ValueError, match=r"capsules\.json"):
        weights.Capsules.from_json(tmp_path / "capsules.json")
