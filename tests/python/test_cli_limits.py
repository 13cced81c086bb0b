# SPDX-License-Identifier: MIT
"""Command lines that ask for nothing, for the impossible or for too much: a line that says so, and no traceback."""

import io
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
from commands import refuse
from gltf_builder import arm

import sbs

ARM = Path(__file__).parents[1] / "data" / "arm.glb"


def test_an_animation_that_lasts_for_ages(tmp_path: Path) -> None:
    builder = arm()
    builder.animation((1, "rotation", [0, 1e30], [[0, 0, 0, 1]] * 2), name="age")
    path = builder.save(tmp_path / "arm.glb")
    assert "1,000,000" in refuse("quality", path)
    assert "1,000,000" in refuse("deform", path, "--animation", "age", "--fps", "24", "-o", tmp_path / "x.npy")


def npy(header: str, data: bytes = b"") -> bytes:
    text = header.encode("latin-1").ljust(128 - 11) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


def zipped(cut: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.npy", bytes(500))
    return file.getvalue()[: -cut or None]


AMOUNTS = {
    "empty": b"",
    "text": b"0.5 0.5",
    "a zip": zipped(0),
    "a broken zip": zipped(30),
    "parentheses": npy("(" * 5000),
    "a shape of 26 digits": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (12345678901234567890123456,)}"),
    "a negative shape": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-4,)}", bytes(32)),
    "more than there is": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (400000000000,)}", bytes(32)),
    "none of far too much": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 9999999999999999999)}"),
    "objects": npy("{'descr': '|O', 'fortran_order': False, 'shape': (4,)}", bytes(32)),
    "another version": b"\x93NUMPY\x09\x00" + bytes(100),
    "cut off": b"\x93NUMPY\x01",
    "no Python": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4,)"),
    "a dtype that is none": npy("{'descr': 'zzz', 'fortran_order': False, 'shape': (4,)}", bytes(32)),
    "nul": npy("\0" * 50),
}


@pytest.mark.parametrize("name", AMOUNTS)
def test_amounts_that_are_none(tmp_path: Path, name: str) -> None:
    path = tmp_path / "amount.npy"
    path.write_bytes(AMOUNTS[name])
    message = refuse("deform", ARM, "--amount", path, "-o", tmp_path / "x.obj")
    assert "amount.npy" in message or "shape (0" in message
    assert not (tmp_path / "x.obj").exists()
    assert "no NPY file" in refuse("deform", ARM, "--amount", "/dev/zero", "-o", tmp_path / "x.obj")


@pytest.mark.parametrize("suffix", [".obj", ".ply", ".npy", ".pc2"])
@pytest.mark.parametrize(("key", "value"), [("scale", [1e30] * 3), ("translation", [3e38, 0, 0])])
def test_what_float32_cannot_hold_is_not_written(tmp_path: Path, suffix: str, key: str, value: list[float]) -> None:
    builder = arm()
    for node in builder.json["nodes"][:2]:
        node[key] = value
    builder.animation((1, "rotation", [0, 1], [[0, 0, 0, 1]] * 2), name="still")
    path = builder.save(tmp_path / "arm.glb")
    assert np.isfinite(sbs.load(path).rest_matrices).all()
    frames = ("--animation", "still", "--fps", "2") if suffix == ".pc2" else ()
    message = refuse("deform", path, "--method", "linear", *frames, "-o", tmp_path / f"x{suffix}")
    assert re.search(r"vertex \d .*is not finite", message)
    assert [file.name for file in tmp_path.iterdir()] == ["arm.glb"]
