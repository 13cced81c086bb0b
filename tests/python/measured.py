# SPDX-License-Identifier: MIT
"""Comparisons of what `sbs.quality.Gauge` measures."""

from __future__ import annotations

import pytest

from sbs.quality.gauge import Statistics


def close(statistics: Statistics, **expected: float) -> None:
    assert {name: statistics[name] for name in expected} == pytest.approx(expected, rel=1e-12, abs=1e-12)


def agree(one: dict[str, Statistics], other: dict[str, Statistics], *, rtol: float) -> None:
    assert one.keys() == other.keys()
    for measure in one:
        assert one[measure] == pytest.approx(other[measure], rel=rtol, abs=1e-9), measure
