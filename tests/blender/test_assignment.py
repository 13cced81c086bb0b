# SPDX-License-Identifier: GPL-3.0-or-later
"""New weights put in among old ones, by hand."""

from __future__ import annotations

import addon
import numpy as np
import pytest

# The weights are float32.
TOLERANCE = 1e-7

ALL = [True, True, True]
NONE = [False, False, False]


@pytest.mark.parametrize(
    ("old", "new", "chosen", "locked", "expected"),
    [
        # Everything new.
        ([0.2, 0.8, 0.0], [0.0, 0.5, 0.5], ALL, NONE, [0.0, 0.5, 0.5]),
        # A vertex that gets nothing loses what it had of the chosen ones.
        ([0.2, 0.8, 0.0], [0.0, 0.0, 0.0], ALL, NONE, [0.0, 0.0, 0.0]),
        ([0.2, 0.8, 0.0], [0.0, 0.0, 0.0], [True, False, False], NONE, [0.0, 0.8, 0.0]),
        # The locked one keeps 0.2; the others share the rest as the new weights say.
        ([0.2, 0.8, 0.0], [0.5, 0.25, 0.25], ALL, [True, False, False], [0.2, 0.4, 0.4]),
        # The locked ones leave nothing.
        ([1.0, 0.0, 0.0], [0.0, 0.5, 0.5], ALL, [True, False, False], [1.0, 0.0, 0.0]),
        # Of one that is chosen, the others get out of the way in proportion.
        ([0.2, 0.6, 0.2], [0.6, 0.1, 0.3], [True, False, False], NONE, [0.6, 0.3, 0.1]),
        # There is no other.
        ([1.0, 0.0, 0.0], [0.6, 0.4, 0.0], [True, False, False], NONE, [1.0, 0.0, 0.0]),
        # One chosen, one locked.
        ([0.5, 0.5, 0.0], [0.8, 0.1, 0.1], [True, False, False], [False, True, False], [0.5, 0.5, 0.0]),
        ([0.2, 0.5, 0.3], [0.4, 0.3, 0.3], [True, False, False], [False, True, False], [0.4, 0.5, 0.1]),
    ],
)
def test_assign(
    old: list[float], new: list[float], chosen: list[bool], locked: list[bool], expected: list[float]
) -> None:
    assign = addon.module("core.assignment").assign
    result = assign(np.array([old], np.float32), np.array([new], np.float32), np.array(chosen), np.array(locked))
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, [expected], atol=TOLERANCE)
