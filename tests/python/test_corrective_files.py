# SPDX-License-Identifier: MIT
"""Files of correctives: round trips, the schema, and errors in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import sbs
from sbs import correctives
from sbs.correctives import Correctives

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "correctives.schema.json").read_text(encoding="utf-8"))
BIND = np.tile(np.eye(4), (3, 1, 1))
BIND[:, 0, 3] = [0.0, 1.0, 2.0]
SKELETON = sbs.Skeleton([-1, 0, 1], BIND, ["a", "b", "c"])
SKIN = sbs.Skin(np.eye(3), [[0, 1]] * 3, [[0.5, 0.5]] * 3, joint_count=3, rest_normals=np.eye(3))


def turned(joint: int, angle: float) -> np.ndarray:
    matrices = np.tile(np.eye(4), (3, 1, 1))
    matrices[joint:, :3, :3] = sbs.rotations.matrices_from_axis_angle([0.0, 0.0, 1.0], angle)
    return matrices


def made() -> Correctives:
    """Two poses of one driver around one of another, with and without a target, and one that is not solved."""
    made = Correctives(SKELETON)
    target = SKIN.deform(turned(1, 1.0))
    target[0, 2] += 0.5
    made.add(turned(1, 1.0), target, joints=["b"], name="b 1")
    shape = ([2], [[0.0, 0.25, 0.0]], [[0.0, 1.0, 0.0]])
    made.add_shape(shape, [[0, 0, 1.0], [0, 0, 0.5]], joints=["b", "c"], part="both")
    made.solve(SKIN)
    made.add(turned(1, 0.5), np.ones((3, 3)), joints=["b"], name='"ä"')
    made.add(turned(0, 0.5), np.ones((3, 3)), joints=["a"], vertices=[1], name="root")
    return made


def test_round_trip(tmp_path: Path) -> None:
    path, given = tmp_path / "arm.json", made()
    correctives.write(path, given)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["arm.json", "arm.npz"]
    jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), SCHEMA)
    found = correctives.read(path, SKELETON)
    assert found.names == given.names == ("b 1", "b 57", '"ä"', "root")
    for one, other in zip(found, given, strict=True):
        assert one.driver == other.driver
        np.testing.assert_array_equal(one.coordinates, other.coordinates)
        for ours, theirs in ((one.shape, other.shape), (one.target, other.target)):
            assert (ours is None) == (theirs is None)
            for name in ("vertices", "deltas", "normal_deltas", "positions", "skinning_matrices"):
                left, right = getattr(ours, name, None), getattr(theirs, name, None)
                assert (left is None) == (right is None)
                np.testing.assert_array_equal(np.asarray(left), np.asarray(right))
    matrices = np.stack([turned(1, 0.8), turned(2, 0.4)])
    np.testing.assert_array_equal(found.weights(matrices), given.weights(matrices))
    assert (
        SKIN.deform(matrices[0], correctives=found).tobytes() == SKIN.deform(matrices[0], correctives=given).tobytes()
    )
    assert found.solve(SKIN)["root"].vertices.tolist() == [1]


def written(tmp_path: Path, change: Any) -> Path:
    path = tmp_path / "arm.json"
    correctives.write(path, made())
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="else"), '"format"'),
        (lambda d: d.update(version=2), "newer version: 2"),
        (lambda d: d.update(version="1"), '"version"'),
        (lambda d: d.update(more=1), "'more'"),
        (lambda d: d.update(arrays="../arm.npz"), '"arrays"'),
        (lambda d: d.update(pose_drivers=[]), "must be a list of at least one"),
        (lambda d: d["pose_drivers"][0].pop("part"), r"pose_drivers\[0\] has no 'part'"),
        (lambda d: d["pose_drivers"][0].update(part="bend"), '"part"'),
        (lambda d: d["pose_drivers"][0].update(source_bones=[]), '"source_bones"'),
        (lambda d: d["pose_drivers"][0].update(eval_space_bones=[]), "as long as"),
        (lambda d: d["pose_drivers"][0].update(eval_space_bones=[1]), "must be names or null"),
        (lambda d: d["pose_drivers"][1].update(twist_axes=[[1, 0, 0]]), "must be a list of 2 lists of 3 numbers"),
        (lambda d: d["pose_drivers"][1].update(pose_targets=[]), "at least one pose"),
        (lambda d: d["pose_drivers"][0]["pose_targets"][1].update(array=5), '"array" must number all poses'),
        (lambda d: d["pose_drivers"][0]["pose_targets"][1].update(array=-1), '"array" must be an integer'),
        (lambda d: d["pose_drivers"][0]["pose_targets"][0].update(driven_name=1), '"driven_name"'),
        (lambda d: d["pose_drivers"][0]["pose_targets"][0].update(driven_name="root"), "'root'"),
        (lambda d: d["pose_drivers"][0]["pose_targets"][0].update(target_rotations=[[1, 0]]), "1 lists of 3 numbers"),
        (lambda d: d["pose_drivers"][0]["pose_targets"][0].update(target_rotations=[[0, 0, 0]]), "too near the rest"),
    ],
)
def test_what_is_wrong(tmp_path: Path, change: Any, message: str) -> None:
    path = written(tmp_path, change)
    with pytest.raises(ValueError, match=message):
        correctives.read(path, SKELETON)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("vertices_0", None, "there is no vertices_0"),
        ("vertices_0", np.zeros(2), "vertices_0 is float64"),
        ("deltas_0", np.zeros((7, 3)), r"deltas_0 is float64 \(7, 3\)"),
        ("deltas_1", np.full((1, 3), np.nan), "deltas_1 is not finite"),
        ("skinning_matrices_3", np.zeros((2, 3, 4)), "skinning_matrices_3 is"),
        ("target_positions_3", np.zeros((2, 3)), "target_positions_3 is"),
    ],
)
def test_what_is_wrong_in_arrays(tmp_path: Path, name: str, array: np.ndarray | None, message: str) -> None:
    correctives.write(tmp_path / "arm.json", made())
    with np.load(tmp_path / "arm.npz") as archive:
        arrays: dict[str, Any] = {key: archive[key] for key in archive.files if key != name}
    if array is not None:
        arrays[name] = array
    np.savez(tmp_path / "arm.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        correctives.read(tmp_path / "arm.json", SKELETON)


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    path = tmp_path / "arm.json"
    with pytest.raises(ValueError, match="there are no correctives"):
        correctives.write(path, Correctives(SKELETON))
    with pytest.raises(ValueError, match=r"arm\.npz"):
        correctives.write(tmp_path / "arm.npz", made())
    correctives.write(path, made())
    with pytest.raises(KeyError, match="no joint is named 'b'"):
        correctives.read(path, sbs.Skeleton([-1, 0, 1], SKELETON.bind_matrices, ["a", "x", "c"]))
    (tmp_path / "arm.npz").write_bytes(b"PK\x03\x04 and no archive")
    with pytest.raises(ValueError, match="no NumPy archive"):
        correctives.read(path, SKELETON)
    (tmp_path / "arm.npz").unlink()
    with pytest.raises(FileNotFoundError):
        correctives.read(path, SKELETON)
