# SPDX-License-Identifier: MIT
"""Files of correctives: round trips, the schema, and errors in them."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import sbs
from sbs import correctives
from sbs.correctives import Correctives
from sbs.support import files, json_files

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
    assert [each.made_for for each in given] == ["method='spherical'", None, None, None]
    assert found.names == given.names == ("b 1", "b 57", '"ä"', "root")
    for one, other in zip(found, given, strict=True):
        assert one.driver == other.driver
        assert one.made_for == other.made_for
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


def edited(folder: Path, change: Any) -> Path:
    path = folder / "arm.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def archived(folder: Path, change: Any) -> None:
    with np.load(folder / "arm.npz") as archive:
        arrays = dict(archive)
    change(arrays)
    np.savez(folder / "arm.npz", **arrays)


def written(tmp_path: Path, change: Any) -> Path:
    correctives.write(tmp_path / "arm.json", made())
    return edited(tmp_path, change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="else"), '"format"'),
        (lambda d: d.update(version=2), "newer version: 2"),
        (lambda d: d.update(version="1"), '"version"'),
        (lambda d: d.update(more=1), "'more'"),
        (lambda d: d.update(arrays="../arm.npz"), '"arrays"'),
        (lambda d: d.update(arrays="a\0.npz"), '"arrays" must be the name'),
        (lambda d: d.update(arrays="\ud800.npz"), '"arrays" must be the name'),
        (lambda d: d.update(arrays_sha256=None), '"arrays_sha256"'),
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
        (lambda d: d["pose_drivers"][0]["pose_targets"][0].update(made_for=1), '"made_for"'),
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

    def change(arrays: dict[str, Any]) -> None:
        arrays.pop(name)
        if array is not None:
            arrays[name] = array

    archived(tmp_path, change)
    digest = hashlib.sha256((tmp_path / "arm.npz").read_bytes()).hexdigest()
    edited(tmp_path, lambda document: document.update(arrays_sha256=digest))
    with pytest.raises(ValueError, match=message):
        correctives.read(tmp_path / "arm.json", SKELETON)


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    path = tmp_path / "arm.json"
    with pytest.raises(ValueError, match="there are no correctives"):
        correctives.write(path, Correctives(SKELETON))
    with pytest.raises(ValueError, match=r"arm\.npz"):
        correctives.write(tmp_path / "arm.npz", made())
    for name in ("a\udc80.json", "a\0.json"):
        with pytest.raises(ValueError, match="a file name of valid text"):
            correctives.write(tmp_path / name, made())
    correctives.write(path, made())
    with pytest.raises(KeyError, match="no joint is named 'b'"):
        correctives.read(path, sbs.Skeleton([-1, 0, 1], SKELETON.bind_matrices, ["a", "x", "c"]))
    (tmp_path / "arm.npz").write_bytes(b"PK\x03\x04 and no archive")
    with pytest.raises(ValueError, match="no NumPy archive"):
        correctives.read(path, SKELETON)
    (tmp_path / "arm.npz").unlink()
    with pytest.raises(FileNotFoundError):
        correctives.read(path, SKELETON)


# ------------------------------------------------------------------------------------------------------------ one pair


def numbered(number: int) -> Correctives:
    """One corrective whose name and whose shape tell the same number."""
    made = Correctives(SKELETON)
    made.add_shape(([0], [[float(number), 0.0, 0.0]]), [0, 0, 1.0], joints=["b"], name=str(number))
    return made


def number_in(path: Path) -> int | None:
    """The number of the correctives in a file; None if the pair is refused, in words that name both files."""
    try:
        (found,) = correctives.read(path, SKELETON)
    except ValueError as error:
        assert str(path) in str(error)
        assert str(path.with_suffix(".npz")) in str(error)
        assert "not written together" in str(error)
        return None
    assert found.shape is not None
    assert found.name == str(int(found.shape.deltas[0, 0]))
    return int(found.name)


def without_digest(path: Path) -> None:
    """Make a pair as earlier versions wrote it."""
    edited(path.parent, lambda document: document.pop("arrays_sha256", None))
    archived(path.parent, lambda arrays: arrays.pop("poses", None))


@pytest.fixture(params=["with digest", "of earlier versions"])
def old(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A pair of the number 1."""
    path = tmp_path / "arm.json"
    correctives.write(path, numbered(1))
    if request.param == "of earlier versions":
        without_digest(path)
    assert number_in(path) == 1
    return path


def test_a_reader_between_the_steps_of_a_writer(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []

    def rename(temporary: Path, target: Path) -> None:
        found.append(number_in(old))
        temporary.replace(target)
        found.append(number_in(old))

    monkeypatch.setattr(files, "_rename", rename)
    correctives.write(old, numbered(2))
    assert found == [1, None, None, 2]


def test_a_writer_between_the_steps_of_a_reader(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(path: Path, content: Callable[[Any], Any]) -> Any:
        found = unchanged(path, content)
        correctives.write(old, numbered(2))
        return found

    unchanged = json_files.read
    monkeypatch.setattr(json_files, "read", read)
    assert number_in(old) is None
    monkeypatch.undo()
    assert number_in(old) == 2


def test_a_writer_and_a_reader_at_once(tmp_path: Path) -> None:
    path, errors = tmp_path / "arm.json", []

    def write() -> None:
        try:
            for number in range(100):
                correctives.write(path, numbered(number % 2))
        except Exception as error:
            errors.append(error)

    correctives.write(path, numbered(0))
    writer = threading.Thread(target=write)
    writer.start()
    while writer.is_alive():
        number_in(path)
    writer.join()
    assert errors == []
    assert number_in(path) == 1


def test_the_second_replacement_fails(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rename(temporary: Path, target: Path) -> None:
        if target == old:
            raise OSError("the disk is gone")
        temporary.replace(target)

    monkeypatch.setattr(files, "_rename", rename)
    with pytest.raises(OSError, match="the disk is gone"):
        correctives.write(old, numbered(2))
    assert number_in(old) is None
    assert sorted(each.name for each in old.parent.iterdir()) == ["arm.json", "arm.npz"]
    monkeypatch.undo()
    correctives.write(old, numbered(3))
    assert number_in(old) == 3


@pytest.mark.parametrize("method", ["write_text", "write_bytes"])
def test_a_full_disk_leaves_the_old_pair(old: Path, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, method, fail)
    with pytest.raises(OSError, match="No space left"):
        correctives.write(old, numbered(2))
    monkeypatch.undo()
    assert number_in(old) == 1


def test_names_may_be_edited_by_hand(tmp_path: Path) -> None:
    path = written(tmp_path, lambda document: document["pose_drivers"][0]["pose_targets"][0].update(driven_name="x"))
    assert correctives.read(path, SKELETON).names[0] == "x"


@pytest.mark.parametrize("kind", ["arrays", "more arrays", "text", "empty", "an array", "of another JSON file"])
def test_foreign_files_are_not_replaced(tmp_path: Path, kind: str) -> None:
    path, foreign = tmp_path / "arm.json", tmp_path / "arm.npz"
    if kind == "arrays":
        np.savez(foreign, positions=np.eye(3))
    elif kind == "more arrays":
        correctives.write(path, numbered(1))
        archived(tmp_path, lambda arrays: arrays.update(positions=np.eye(3)))
    elif kind == "an array":
        with foreign.open("wb") as file:
            np.save(file, np.eye(3))
    elif kind == "of another JSON file":
        correctives.write(tmp_path / "arm.txt", numbered(1))
    else:
        foreign.write_text("mine" if kind == "text" else "")
    before = {each: each.read_bytes() for each in tmp_path.iterdir()}
    with pytest.raises(ValueError, match=r"arm\.npz has no arrays of arm\.json"):
        correctives.write(path, numbered(2))
    assert {each: each.read_bytes() for each in tmp_path.iterdir()} == before
