# SPDX-License-Identifier: MIT
"""The contract of ``_core.relax``; what it finds is tested in C (tests/c/test_relaxation.c)."""

import numpy as np
import pytest

from sbs import _core

REST = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.3]])
TRIANGLES = [[0, 1, 2], [1, 3, 2]]
FREE = np.array([False, False, False, True])


def test_a_corner_goes_back() -> None:
    posed = REST.copy()
    posed[3] = [0.2, 0.1, 1]
    relaxed, before, after, iterations = _core.relax(REST, posed, TRIANGLES, FREE, 1.0)
    assert np.array_equal(relaxed[:3], REST[:3])
    assert np.linalg.norm(relaxed[3] - REST[3]) < 5e-3
    assert after < 1e-2 < before
    assert 1 < iterations <= 150


def test_faults_are_named() -> None:
    with pytest.raises(ValueError, match="size must be a finite number above 0"):
        _core.relax(REST, REST, TRIANGLES, FREE, 0.0)
    with pytest.raises(ValueError, match="thicker must be finite and at least 0, not -1"):
        _core.relax(REST, REST, TRIANGLES, FREE, 1.0, thicker=-1.0)
    with pytest.raises(ValueError, match=r"triangles\[1, 1\] = 3 is out of range for 3 vertices"):
        _core.relax(REST[:3], REST[:3], TRIANGLES, FREE[:3], 1.0)
    with pytest.raises(ValueError, match="apexes and rest_volumes go together"):
        _core.relax(REST, REST, TRIANGLES, FREE, 1.0, rest_volumes=[1.0])
    with pytest.raises(ValueError, match="bones, vertex_bones and distances go together"):
        _core.relax(REST, REST, TRIANGLES, FREE, 1.0, distances=np.ones(4))
