# SPDX-License-Identifier: MIT
"""Centers that are kept in a file: found again, and never taken for what they are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_centers import soup

import sbs
from sbs import _core
from sbs.skinning import centers_files


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one whenever centers are computed."""
    calls: list[int] = []
    compute = _core.optimized_centers

    def counted(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        return compute(*args, **kwargs)

    monkeypatch.setattr(_core, "optimized_centers", counted)
    return calls


def test_the_second_time_reads(tmp_path: Path, count: list[int]) -> None:
    path = tmp_path / "kept.centers"
    first = sbs.optimized_centers(*soup(), cache=path)
    again = sbs.optimized_centers(*soup(), cache=str(path))
    assert len(count) == 1
    np.testing.assert_array_equal(again, first)
    assert again.flags.writeable
    np.testing.assert_array_equal(first, sbs.optimized_centers(*soup()))
    positions, triangles, indices, weights = soup()  # the type of the same numbers is irrelevant
    sbs.optimized_centers(positions, triangles.astype(np.int32), indices.tolist(), weights, cache=path)
    assert len(count) == 2
    assert [file.name for file in tmp_path.iterdir()] == ["kept.centers"]


@pytest.mark.parametrize("changed", range(7))
def test_other_inputs_are_computed_anew(changed: int, tmp_path: Path, count: list[int]) -> None:
    arguments = list(soup())
    numbers = [0.1, 0.1, 1e-2]

    def centers(cache: Path | None = None) -> np.ndarray:
        sigma, refinement, tolerance = numbers
        return sbs.optimized_centers(*arguments, sigma=sigma, refinement=refinement, tolerance=tolerance, cache=cache)

    centers(cache=tmp_path / "kept")
    if changed < 4:
        first = arguments[changed][10, 0]
        arguments[changed][10, 0] = first + 1 if changed in (1, 2) and first < 5 else first / 2
    else:
        numbers[changed - 4] = 0.2
    expected = centers()
    for _ in range(2):
        np.testing.assert_array_equal(centers(tmp_path / "kept"), expected)
    assert len(count) == 3  # for the file, the expected centers, the file again


def damaged() -> dict[str, Any]:
    header, digest = centers_files.HEADER, centers_files.DIGEST

    def changed_at(place: int) -> Any:
        return lambda data: data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]

    def not_a_number(data: bytes) -> bytes:
        content = np.full((60, 3), np.nan).tobytes()
        return centers_files.header_of(data[24 : 24 + digest], content) + content

    return {
        "empty": lambda data: b"",
        "cut in its first bytes": lambda data: data[:5],
        "cut in its header": lambda data: data[:40],
        "without centers": lambda data: data[:header],
        "cut short": lambda data: data[:-1],
        "too long": lambda data: data + b"\0",
        "of another version": changed_at(16),
        "of other inputs": changed_at(24),
        "with another checksum": changed_at(24 + digest),
        "with a wrong bit": changed_at(header + 100),
        "with no numbers": not_a_number,
    }


@pytest.mark.parametrize("damage", damaged())
def test_damaged_files_are_written_anew(damage: str, tmp_path: Path, count: list[int]) -> None:
    path = tmp_path / "kept"
    first = sbs.optimized_centers(*soup(), cache=path)
    whole = path.read_bytes()
    path.write_bytes(damaged()[damage](whole))
    np.testing.assert_array_equal(sbs.optimized_centers(*soup(), cache=path), first)
    assert len(count) == 2
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    "content", [b"glTF\2\0\0\0", b"\x93NUMPY", b"PK\3\4" + bytes(2000), b"sbs.weights" + bytes(80)]
)
def test_other_files_are_left_alone(content: bytes, tmp_path: Path, count: list[int]) -> None:
    path = tmp_path / "character.glb"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"character\.glb"):
        sbs.optimized_centers(*soup(), cache=path)
    assert path.read_bytes() == content
    assert not count


def test_a_cancelled_computation_leaves_no_file(tmp_path: Path) -> None:
    def stop(fraction: float) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        sbs.optimized_centers(*soup(), cache=tmp_path / "kept", progress=stop)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        sbs.optimized_centers(*soup(), cache=tmp_path / "nowhere" / "kept")
    assert not list(tmp_path.iterdir())
