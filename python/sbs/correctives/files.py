# SPDX-License-Identifier: MIT
"""Correctives as files: JSON for the poses, and a NumPy archive beside it for shapes and targets.

docs/correctives.schema.json is the schema of the first.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rigging.skeleton import Skeleton
from ..skinning.shapes import Shape
from ..support import json_files
from ..support.files import replacing
from ..support.json_files import is_number
from ..support.npz import read_arrays, read_names
from ..support.text import well_formed
from .correctives import Corrective, Correctives
from .drivers import PARTS, Driver
from .solving import Target

__all__ = ["read", "write"]

FORMAT = "sbs-correctives"
VERSION = 1

DIGEST = "arrays_sha256"
"""The key of the JSON file that ties it to its arrays; files of earlier versions have none."""

OWNER = "poses"
"""The array that names the JSON file."""

KINDS = ("vertices", "deltas", "normal_deltas", "skinning_matrices", "target_positions", "target_vertices")
ARRAY = re.compile(rf"(?:{'|'.join(KINDS)})_[0-9]+")

Arrays = dict[str, NDArray[Any]]


def write(path: str | os.PathLike[str], correctives: Correctives) -> None:
    """Write correctives to a JSON file, and their arrays to a file beside it whose name ends in ".npz".

    Both are complete before either replaces an old one, and a digest ties them, so that `read` finds the old pair or
    the new one. It refuses a mixture, as of a process that ended between the two replacements.

    Raises
    ------
    ValueError
        If there are none, the path ends in ".npz" or its name is no valid text, or the file beside it has anything but
        arrays of this JSON file.
    OSError
        If a file can't be written.
    """
    target = Path(path)
    if target.suffix.lower() == ".npz":
        raise ValueError(f"{target.name} is the file of the arrays: give that of the poses, such as {target.stem}.json")
    if not len(correctives):
        raise ValueError("there are no correctives")
    if not _is_text(target.name):
        raise ValueError(f"{target.name!r}: a file name of valid text is needed")
    arrays_path = target.with_suffix(".npz")
    owner = well_formed(target.name)
    _check_owner(arrays_path, owner)
    arrays: Arrays = {OWNER: np.array(owner)}
    drivers: dict[Driver, list[dict[str, Any]]] = {}
    for number, each in enumerate(correctives):
        arrays |= _arrays(number, each)
        entry = {
            "driven_name": well_formed(each.name),
            "array": number,
            "target_rotations": each.coordinates.tolist(),
        }
        if each.made_for is not None:
            entry["made_for"] = well_formed(each.made_for)
        drivers.setdefault(each.driver, []).append(entry)
    archive = io.BytesIO()
    np.savez_compressed(archive, allow_pickle=False, **arrays)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "arrays": arrays_path.name,
        DIGEST: _digest(archive.getvalue()),
        "pose_drivers": [
            {
                "source_bones": [well_formed(name) for name in driver.joints],
                "eval_space_bones": [None if name is None else well_formed(name) for name in driver.parents],
                "twist_axes": [list(axis) for axis in driver.axes],
                "part": driver.part,
                "pose_targets": poses,
            }
            for driver, poses in drivers.items()
        ],
    }
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, indent=2)
    with replacing(target) as new_poses, replacing(arrays_path) as new_arrays:
        new_poses.write_text(text + "\n", encoding="utf-8")
        new_arrays.write_bytes(archive.getvalue())


def _check_owner(path: Path, owner: str) -> None:
    """Refuse to replace a file that has anything but arrays of one JSON file."""
    if not path.is_file():
        return
    try:
        is_own = all(ARRAY.fullmatch(name) for name in read_names(path) - {OWNER})
        is_own = is_own and all(str(name) == owner for name in read_arrays(path, {OWNER}).values())
    except ValueError:
        is_own = False
    if not is_own:
        raise ValueError(f"{path} has no arrays of {owner}, and would be replaced: move it, or choose another name")


def _is_text(name: str) -> bool:
    """Whether a name has neither halves of surrogate pairs nor a zero byte, of which systems tell no file."""
    return "\0" not in name and well_formed(name) == name


def _digest(archive: bytes) -> str:
    return hashlib.sha256(archive).hexdigest()


def _arrays(number: int, corrective: Corrective) -> Arrays:
    found: Arrays = {}
    target, shape = corrective.target, corrective.shape
    if shape is not None:
        found |= {"vertices": shape.vertices, "deltas": shape.deltas}
        if shape.normal_deltas is not None:
            found["normal_deltas"] = shape.normal_deltas
    if target is not None:
        found |= {"skinning_matrices": target.skinning_matrices, "target_positions": target.positions}
        if target.vertices is not None:
            found["target_vertices"] = target.vertices
    return {f"{name}_{number}": array for name, array in found.items()}


def read(path: str | os.PathLike[str], skeleton: Skeleton) -> Correctives:
    """Read correctives from a JSON file and the file of arrays that it names, which is in the same folder.

    Parameters
    ----------
    path : str or path-like
    skeleton : Skeleton
        The skeleton of the character, with the joints that drive.

    Raises
    ------
    ValueError
        If it is no such file, of a newer version, or something in it is of a wrong kind. Messages say where. Or if the
        two files were not written together; the message names both.
    KeyError
        If the skeleton has no joint of a name.
    OSError
        If one of the files can't be read.
    """
    arrays_name, digest, entries = json_files.read(path, _content)
    arrays_path = Path(path).with_name(arrays_name)
    archive = arrays_path.read_bytes()
    names = {f"{kind}_{number}" for kind in KINDS for number, _ in entries}
    arrays = read_arrays(arrays_path, names | {OWNER}, archive)
    belongs = OWNER not in arrays if digest is None else digest == _digest(archive)
    if not belongs:
        raise ValueError(
            f"{os.fspath(path)} and {arrays_path} were not written together: read them again if they are being written,"
            " otherwise write both again"
        )
    result = Correctives(skeleton)
    for _, entry in entries:
        skeleton.indices([*entry["source_bones"], *filter(None, entry["eval_space_bones"])])  # raises KeyError
    in_order = sorted(entries, key=lambda numbered: numbered[0])
    try:
        result.insert(*(_corrective(number, entry, arrays, skeleton) for number, entry in in_order))
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None
    return result


def _content(document: Any) -> tuple[str, str | None, list[tuple[int, dict[str, Any]]]]:
    """The name of the file of arrays, its digest, and the poses, each with its number and the entries of its driver."""
    drivers = json_files.read_entries(
        document, kind=FORMAT, newest=VERSION, key="pose_drivers", others=("arrays", DIGEST)
    )
    name = document.get("arrays")
    if not isinstance(name, str) or not _is_text(name) or Path(name).name != name or "\\" in name or not name:
        raise ValueError(f'"arrays" must be the name of a file in the same folder, not {name!r}')
    digest = document.get(DIGEST)
    if DIGEST in document and not isinstance(digest, str):
        raise ValueError(f'"{DIGEST}" must be a string, not {digest!r}')
    found: list[tuple[int, dict[str, Any]]] = []
    for index, driver in enumerate(drivers):
        place = f"pose_drivers[{index}]"
        _check_driver(driver, place)
        for number, pose in enumerate(driver["pose_targets"]):
            _check_pose(pose, f"{place}.pose_targets[{number}]", len(driver["source_bones"]))
            found.append((pose["array"], {**driver, **pose}))
    numbers = sorted(number for number, _ in found)
    if numbers != list(range(len(numbers))):
        raise ValueError('"array" must number all poses from 0 on')
    return name, digest, found


def _check_driver(driver: Any, place: str) -> None:
    _check_keys(driver, place, {"source_bones", "eval_space_bones", "twist_axes", "part", "pose_targets"})
    joints = driver["source_bones"]
    if not isinstance(joints, list) or not joints or not all(isinstance(joint, str) for joint in joints):
        raise ValueError(f'{place}: "source_bones" must be a list of names')
    against = driver["eval_space_bones"]
    if not isinstance(against, list) or len(against) != len(joints):
        raise ValueError(f'{place}: "eval_space_bones" must be a list as long as "source_bones"')
    if not all(joint is None or isinstance(joint, str) for joint in against):
        raise ValueError(f'{place}: "eval_space_bones" must be names or null')
    if not _are_vectors(driver["twist_axes"], len(joints)):
        raise ValueError(f'{place}: "twist_axes" must be a list of {len(joints)} lists of 3 numbers')
    if driver["part"] not in PARTS:
        raise ValueError(f'{place}: "part" must be one of {", ".join(PARTS)}')
    if not isinstance(driver["pose_targets"], list) or not driver["pose_targets"]:
        raise ValueError(f'{place}: "pose_targets" must be a list of at least one pose')


def _check_pose(pose: Any, place: str, joint_count: int) -> None:
    _check_keys(pose, place, {"driven_name", "array", "target_rotations"}, {"made_for"})
    for name in ("driven_name", "made_for"):
        if not isinstance(pose.get(name, ""), str):
            raise ValueError(f'{place}: "{name}" must be a string')
    if type(pose["array"]) is not int or pose["array"] < 0:
        raise ValueError(f'{place}: "array" must be an integer from 0 on')
    if not _are_vectors(pose["target_rotations"], joint_count):
        raise ValueError(f'{place}: "target_rotations" must be a list of {joint_count} lists of 3 numbers')


def _check_keys(entry: Any, place: str, keys: set[str], others: Collection[str] = ()) -> None:
    if not isinstance(entry, dict):
        raise ValueError(f"{place} must be an object")
    for key in sorted(keys - entry.keys()):
        raise ValueError(f"{place} has no {key!r}")
    for key in sorted(entry.keys() - keys - {*others}):
        raise ValueError(f"{place}: unknown key {key!r}")


def _are_vectors(value: Any, count: int) -> bool:
    return (
        isinstance(value, list)
        and len(value) == count
        and all(isinstance(row, list) and len(row) == 3 and all(map(is_number, row)) for row in value)
    )


def _corrective(number: int, entry: dict[str, Any], arrays: Arrays, skeleton: Skeleton) -> Corrective:
    def array(name: str) -> NDArray[Any] | None:
        return arrays.get(f"{name}_{number}")

    def needed(name: str, *shape: int) -> NDArray[Any]:
        found = array(name)
        if found is None:
            raise ValueError(f"there is no {name}_{number}")
        kind = "iu" if name.endswith("vertices") else "f"
        if (
            found.dtype.kind not in kind
            or found.ndim != len(shape)
            or any(wanted not in (-1, length) for wanted, length in zip(shape, found.shape, strict=True))
        ):
            raise ValueError(f"{name}_{number} is {found.dtype} {found.shape}")
        if kind == "f" and not np.isfinite(found).all():
            raise ValueError(f"{name}_{number} is not finite")
        return found

    driver = Driver(
        tuple(entry["source_bones"]),
        tuple(entry["eval_space_bones"]),
        tuple((float(x), float(y), float(z)) for x, y, z in entry["twist_axes"]),
        entry["part"],
    )
    shape = target = None
    if array("deltas") is not None:
        vertices = needed("vertices", -1)
        normals = None if array("normal_deltas") is None else needed("normal_deltas", len(vertices), 3)
        shape = Shape(vertices, needed("deltas", len(vertices), 3), normals)
    if array("skinning_matrices") is not None:
        chosen = None if array("target_vertices") is None else needed("target_vertices", -1).astype(np.int32)
        target = Target(
            needed("skinning_matrices", len(skeleton), 3, 4),
            chosen,
            needed("target_positions", -1 if chosen is None else len(chosen), 3),
        )
    coordinates = np.array(entry["target_rotations"], np.float64)
    name, made_for = well_formed(entry["driven_name"]), entry.get("made_for")
    return Corrective(name, driver, coordinates, target, shape, made_for)
