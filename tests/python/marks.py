# SPDX-License-Identifier: MIT
"""Marks for tests that not every platform has what they are about; conftest.py says how they work."""

import importlib.util

import pytest

paints = pytest.mark.applies(importlib.util.find_spec("mitsuba") is not None, reason="pictures need mitsuba")
computes = pytest.mark.applies(importlib.util.find_spec("wgpu") is not None, reason="graphics processors need wgpu")
