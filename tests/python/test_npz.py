# SPDX-License-Identifier: MIT
"""NumPy archives that are built to cost much: sizes come from headers, and only arrays that are asked for are read."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sbs
from sbs import correctives
from sbs.cli.errors import Refusal
from sbs.cli.how_to_fit import read_examples
from sbs.support.npz import read_arrays, read_names

SKELETON = sbs.Skeleton([-1], [np.eye(4)], ["a"])


def header(shape: tuple[int, ...], dtype: str = "<f8") -> bytes:
    """The beginning of an array of NumPy."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue()


def archive(path: Path, /, **members: Any) -> Path:
    """Bytes as they are, and arrays, as members of a compressed archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            buffer = io.BytesIO()
            if not isinstance(content, bytes):
                np.save(buffer, content)
            file.writestr(f"{name}.npy", content if isinstance(content, bytes) else buffer.getvalue())
    return path


def written(folder: Path) -> Path:
    made = correctives.Correctives(SKELETON)
    made.add_shape(([0], [[1.0, 0.0, 0.0]]), [0, 0, 1.0], joints=["a"], name="x")
    path = folder / "a.json"
    correctives.write(path, made)
    document = json.loads(path.read_text(encoding="utf-8"))
    del document["arrays_sha256"]
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.mark.parametrize("huge", [header((10_000_000, 3)), header((2**32, 2**32)), header((), "<U99999999")])
def test_arrays_that_say_they_are_huge_are_refused(tmp_path: Path, huge: bytes) -> None:
    path = written(tmp_path)
    archive(tmp_path / "a.npz", vertices_0=np.zeros(1, np.int32), deltas_0=huge)
    with pytest.raises(ValueError, match=r"a\.npz.*more memory"):
        correctives.read(path, SKELETON)
    archive(tmp_path / "b.npz", posed=huge, skinning_matrices=np.zeros((1, 1, 4, 4)))
    with pytest.raises(Refusal, match=r"b\.npz.*more memory"):
        read_examples(tmp_path / "b.npz", 1)


def test_long_headers_are_not_read(tmp_path: Path) -> None:
    """A header of version 2 may be as long as 4 GB."""
    version_2 = b"\x93NUMPY\x02\x00" + (2**27).to_bytes(4, "little") + b" " * 2**27
    path = archive(tmp_path / "a.npz", wanted=version_2)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="version"):
            read_arrays(path, {"wanted"})
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_arrays_of_other_names_are_not_read(tmp_path: Path) -> None:
    path = written(tmp_path)
    zeros = np.zeros(5_000_000)
    with np.load(tmp_path / "a.npz") as own:
        arrays = {name: own[name] for name in own.files if name != "poses"}
    archive(tmp_path / "a.npz", **arrays, deltas_7=zeros, others=zeros)
    examples = {"posed": np.zeros((1, 2, 3)), "skinning_matrices": np.zeros((1, 1, 4, 4))}
    archive(tmp_path / "b.npz", **examples, others=zeros)
    tracemalloc.start()
    try:
        assert len(correctives.read(path, SKELETON)) == 1
        assert read_examples(tmp_path / "b.npz", 1)[0].shape == (1, 2, 3)
        with pytest.raises(ValueError, match="would be replaced"):
            correctives.write(path, correctives.read(path, SKELETON))
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", [np.zeros(1, object), b"no array", header((2,)) + b"short", header((-1, 2))])
def test_no_arrays(tmp_path: Path, kind: Any) -> None:
    path = tmp_path / "a.npz"
    if isinstance(kind, bytes):
        archive(path, wanted=kind)
    else:
        np.savez(path, wanted=kind)
    with pytest.raises(ValueError, match=r"a\.npz"):
        read_arrays(path, {"wanted"})


@pytest.mark.parametrize("is_newer", [False, True])
def test_no_archive(tmp_path: Path, is_newer: bool) -> None:
    path = archive(tmp_path / "a.npz", wanted=np.zeros(1))
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\1\2") + 6] = 255  # the version that is needed to extract a member
    path.write_bytes(data if is_newer else b"PK\x03\x04 and no archive")
    with pytest.raises(ValueError, match="no NumPy archive"):
        read_arrays(path, {"wanted"})
    with pytest.raises(ValueError, match="no NumPy archive"):
        read_names(path)
